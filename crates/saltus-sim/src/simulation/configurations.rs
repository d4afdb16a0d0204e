//! Another configuration: the program that fits the positions of the switches, entered at an event.
//!
//! In: an event that has been settled in the old configuration, with switches in other positions than its program was made for. Out:
//! the run goes on in the configuration of the new positions, with values that fulfil its constraints.
//!
//! The values before are carried over, variable by variable; the section `entry` finds what jumps; an event is settled. Where
//! that moves switches again, the next configuration is entered: from the same values before if nothing has jumped, since then the
//! first one was only a candidate.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use saltus_base::{Index, Span};
use saltus_program::{Activation, Constraint, Key, ModelFunctions, Moment, Relation, SimProgram, Slot, SlotId, Switch};

use super::Simulation;
use crate::catalogue::Catalogue;
use crate::constants::{
    ENTRY_BAND, ENTRY_CONTRADICTION, ENTRY_CONVERGED, ENTRY_LOOK, LEAST_JUMP, MOST_CONFIGURATIONS, MOST_ENTRY_ROUNDS,
};
use crate::crossing::CrossingSearch;
use crate::error::{Failure, SimErrorKind};
use crate::event;
use crate::integration;
use crate::masking::Masking;
use crate::options::ZenoPolicy;
use crate::proof::{Ahead, Prover};
use crate::record::{Change, EventKind};
use crate::selection::Selection;
use crate::structure::Structure;

/// Makes programs for configurations.
pub trait Configurations: Send {
    /// A new instance for these positions of the switches. Others may have turned out to change the structure in this one; they are
    /// then in positions of its own choice. Why not, otherwise.
    fn instance(&mut self, key: &Key) -> Result<Box<dyn ModelFunctions>, String>;
}

/// Everything that belongs to a program, while another one is in use.
pub(super) struct Parked {
    instance: Box<dyn ModelFunctions>,
    structure: Structure,
    masking: Masking,
    prover: Prover,
    catalogue: Catalogue,
    selection: Selection,
}

/// The configurations of a run.
#[derive(Default)]
pub(super) struct Known {
    maker: Option<Box<dyn Configurations>>,
    parked: BTreeMap<Key, Parked>,
    home: Option<Home>,
}

/// The program that the run was given: callers and results know its slots.
struct Home {
    key: Key,
    program: Arc<SimProgram>,
    /// Slots of a row of results.
    places: Vec<usize>,
}

impl Known {
    /// The instance that the run was given, if another one is in use.
    pub fn take_home(&mut self) -> Option<Box<dyn ModelFunctions>> {
        let home = self.home.as_ref()?;
        self.parked.remove(&home.key).map(|parked| parked.instance)
    }
}

/// Values before, by slot of the program they belong to.
struct Left {
    program: Arc<SimProgram>,
    memory: Vec<f64>,
}

impl Simulation {
    /// Who makes the programs of other configurations.
    pub fn set_configurations(&mut self, maker: Box<dyn Configurations>) {
        self.known.maker = Some(maker);
        let (program, places) = (self.program.clone(), self.catalogue.places.clone());
        self.known.home = Some(Home { key: self.key(), program, places });
    }

    /// The positions of the switches, if they are not those of the program.
    pub(super) fn other_key(&self) -> Option<Key> {
        let configuration = self.program.configuration.as_ref()?;
        let position = |s: &Switch| self.model.get(s.condition) != 0.0;
        let is_other = configuration.switches.iter().any(|s| position(s) != s.is_on);
        is_other.then(|| Key(configuration.switches.iter().map(|s| (s.text.clone(), position(s))).collect()))
    }

    /// The configuration of the present program.
    pub(super) fn key(&self) -> Key {
        self.program.configuration.as_ref().map_or_else(Key::default, |c| c.key())
    }

    /// Before the start: another program for the positions that the initial system has found.
    pub(super) fn begin_in(&mut self, key: &Key) -> Result<(), Failure> {
        let t = self.options.start_time;
        self.take_program_of(t, key)?;
        if self.program.configuration.as_ref().is_some_and(|c| !c.can_start) {
            return Err(self.cannot_enter(t, "its initial system cannot be solved"));
        }
        self.driver.integrator = integration::choose(&self.program, &self.options, &self.structure);
        Ok(())
    }

    /// After an event at `t`: enters the configurations that its switches ask for; true if there is another one.
    pub(super) fn change_structure(&mut self, t: f64) -> Result<bool, Failure> {
        let Some(mut key) = self.other_key() else { return Ok(false) };
        let (first, n_states) = (self.program.clone(), self.program.states.len());
        let settled = self.model.snapshot();
        let mut left = Left { program: first.clone(), memory: settled.clone() };
        let mut tried = vec![self.key()];
        let (mut impulses, mut jumps) = (Vec::new(), Vec::new());
        loop {
            if tried.contains(&key) {
                return Err(self.alternates(t, &tried));
            }
            tried.push(key.clone());
            self.take_program_of(t, &key)?;
            self.carry_over(t, &left)?;
            let jumped = self.find_jumps(t)?;
            if jumped && let Some(other) = self.key_by_impulses() {
                key = other;
                continue;
            }
            if jumped {
                impulses.extend(self.impulses());
                jumps.extend(self.jumps());
            }
            self.settle_entry(t)?;
            let Some(next) = self.other_key() else { break };
            if jumped {
                left = Left { program: self.program.clone(), memory: self.model.snapshot() };
                tried = vec![key];
            }
            key = next;
        }
        self.model.remember_event(t);
        self.model.show(Moment::After);
        self.driver.before = self.translated(&Left { program: first, memory: settled });
        self.write_event_row(t)?;
        let causes = Vec::new();
        self.record(t, EventKind::Configuration, causes, 1, true)?;
        if let Some(event) = &mut self.work.event {
            event.changes.extend(jumps);
        }
        let mut note = format!("{}; {} → {} states", self.key(), n_states, self.program.states.len());
        for (name, impulse) in impulses {
            note.push_str(&format!("; impulse of {name}: {impulse}"));
        }
        self.note_event(&note);
        self.driver.integrator = integration::choose(&self.program, &self.options, &self.structure);
        Ok(true)
    }

    /// Puts the program of a configuration in the place of the present one.
    pub(super) fn take_program_of(&mut self, t: f64, key: &Key) -> Result<(), Failure> {
        let next = match self.known.parked.remove(key) {
            Some(parked) => parked,
            None => self.make(t, key)?,
        };
        let own = self.key();
        let program = next.instance.program().clone();
        let home = self.known.home.as_ref().filter(|home| home.key != *key);
        let instance = self.model.exchange(next.instance, home.map(|home| mapping(&program, &home.program)));
        let parked = Parked {
            instance,
            structure: std::mem::replace(&mut self.structure, next.structure),
            masking: std::mem::replace(&mut self.masking, next.masking),
            prover: std::mem::replace(&mut self.prover, next.prover),
            catalogue: std::mem::replace(&mut self.catalogue, next.catalogue),
            selection: std::mem::replace(&mut self.selection, next.selection),
        };
        if self.known.parked.len() >= MOST_CONFIGURATIONS {
            let home = self.known.home.as_ref().map(|home| &home.key);
            let unused = self.known.parked.keys().find(|key| Some(*key) != home).cloned();
            unused.and_then(|key| self.known.parked.remove(&key));
        }
        self.known.parked.insert(own, parked);
        self.program = program;
        let cost = self.driver.integrator.statistics();
        self.driver.earlier = self.driver.earlier + cost;
        self.driver.search = CrossingSearch::new(&self.program);
        self.driver.search.stops_at_zeno = self.options.on_zeno != ZenoPolicy::Continue;
        self.driver.ahead = Ahead::new(&self.program, &self.prover.tape);
        self.driver.detection.resize_with(self.program.events.relations.len(), Default::default);
        self.driver.infinite.clear();
        self.work.x = vec![0.0; self.program.states.len()];
        self.view = None;
        self.driver.integrator = integration::choose(&self.program, &self.options, &self.structure);
        Ok(())
    }

    fn make(&mut self, t: f64, key: &Key) -> Result<Parked, Failure> {
        let fail = |why: String| {
            Failure::new(t, SimErrorKind::CannotEnter { configuration: key.to_string(), why }).at(Span::nowhere())
        };
        let Some(maker) = &mut self.known.maker else {
            return Err(fail("there is nobody to compile it".to_owned()));
        };
        let mut instance = maker.instance(key).map_err(fail)?;
        instance.set_stop(self.stop.clone());
        instance.set_mixed_method(self.options.mixed);
        let program = instance.program().clone();
        let prover = Prover::new(&program, self.model.inputs_vary());
        Ok(Parked {
            structure: Structure::of(&program, self.model.inputs_vary(), &prover.tape),
            masking: Masking::new(&program),
            prover,
            catalogue: self.catalogue_of(&program),
            selection: Selection::new(program),
            instance,
        })
    }

    /// Rows have the same columns in all configurations; what one does not have has no value there.
    fn catalogue_of(&self, program: &SimProgram) -> Catalogue {
        let own = Catalogue::new(program, &self.options.recorded);
        let Some(home) = &self.known.home else { return own };
        let mapped = mapping(program, &home.program);
        let places = home.places.iter().map(|&place| mapped.get(place).copied().unwrap_or(NOWHERE)).collect();
        Catalogue { columns: self.catalogue.columns.clone(), places, ..own }
    }

    /// The values before, as the present program numbers them.
    fn translated(&self, left: &Left) -> Vec<f64> {
        let mut memory = self.program.memory.initial_memory();
        for (to, from) in memory.iter_mut().zip(mapping(&left.program, &self.program)) {
            *to = left.memory.get(from).copied().unwrap_or(*to);
        }
        memory
    }

    /// A memory of the present program, as the program that the run was given numbers it.
    pub(super) fn at_home(&self, memory: &[f64]) -> Vec<f64> {
        match &self.known.home {
            Some(home) if home.key != self.key() => {
                let mapped = mapping(&self.program, &home.program).into_iter();
                mapped.map(|from| memory.get(from).copied().unwrap_or(f64::NAN)).collect()
            }
            _ => memory.to_vec(),
        }
    }

    fn carry_over(&mut self, t: f64, left: &Left) -> Result<(), Failure> {
        let memory = self.translated(left);
        self.model.restore(&memory);
        // Makes the external objects of this instance, too.
        event::eval(&mut self.model, t, Activation::Parameters)?;
        self.selection.begin(&mut self.model, t)
    }

    /// Finds what jumps; true if something does.
    fn find_jumps(&mut self, t: f64) -> Result<bool, Failure> {
        let program = self.program.clone();
        let Some(entry) = program.configuration.as_ref().map(|c| &c.entry) else { return Ok(false) };
        for &(variable, left) in &entry.jumps {
            self.model.set(left, self.model.get(variable));
        }
        let has_steps = !program.sections.entry.blocks.is_empty();
        for round in 0..MOST_ENTRY_ROUNDS {
            let before: Vec<f64> = entry.jumps.iter().map(|&(variable, _)| self.model.get(variable)).collect();
            if has_steps {
                event::eval(&mut self.model, t, Activation::Entry)?;
                // Afterwards they are fulfilled, by values that follow from others.
                if round == 0 {
                    self.check_constraints(t, &entry.constraints)?;
                }
                self.selection.begin(&mut self.model, t)?;
            }
            let after: Vec<f64> = entry.jumps.iter().map(|&(variable, _)| self.model.get(variable)).collect();
            event::eval_continuous(&mut self.model, t)?;
            let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= ENTRY_CONVERGED * a.abs().max(b.abs());
            if before.iter().zip(&after).all(is_same) {
                break;
            }
        }
        let jumped = entry.jumps.iter().any(|&(x, left)| is_jump(self.model.get(left), self.model.get(x)));
        match entry.undetermined {
            Some(span) if jumped || !has_steps => {
                let why = "the equations do not determine its impulses; a `reinit` must say what jumps";
                Err(self.cannot_enter(t, why).at(span))
            }
            _ => Ok(jumped),
        }
    }

    /// What cannot jump must fulfil its constraints already.
    fn check_constraints(&self, t: f64, constraints: &[Constraint]) -> Result<(), Failure> {
        for check in constraints {
            let (left, right) = (self.model.get(check.left), self.model.get(check.right));
            if (left - right).abs() > ENTRY_CONTRADICTION * self.model.get(check.size) {
                let why =
                    format!("`{}` does not hold there ({left} and {right}), and what is in it cannot jump", check.text);
                return Err(self.cannot_enter(t, &why).at(check.span));
            }
        }
        Ok(())
    }

    /// The positions that impulses ask for, if they are others.
    fn key_by_impulses(&self) -> Option<Key> {
        let configuration = self.program.configuration.as_ref()?;
        let pairs = || configuration.switches.iter().zip(&configuration.entry.positions);
        let position = |slot: &SlotId| self.model.get(*slot) != 0.0;
        let is_other = pairs().any(|(switch, slot)| position(slot) != switch.is_on);
        is_other.then(|| Key(pairs().map(|(switch, slot)| (switch.text.clone(), position(slot))).collect()))
    }

    /// Variables that have jumped.
    fn jumps(&self) -> Vec<Change> {
        let Some(configuration) = &self.program.configuration else { return Vec::new() };
        let change = |&(variable, left): &(SlotId, SlotId)| {
            let (before, after) = (self.model.get(left), self.model.get(variable));
            let is_jump = is_jump(before, after);
            is_jump.then(|| Change { variable: self.program.memory.slot_name(variable).into(), before, after })
        };
        configuration.entry.jumps.iter().filter_map(change).collect()
    }

    /// Impulses that are not zero, with the names of their variables.
    fn impulses(&self) -> Vec<(String, f64)> {
        let Some(configuration) = &self.program.configuration else { return Vec::new() };
        let all = configuration.entry.impulses.iter();
        let named = all.map(|&(of, slot)| (self.program.memory.slot_name(of).to_owned(), self.model.get(slot)));
        named.filter(|(_, impulse)| *impulse != 0.0).collect()
    }

    /// The event in the new configuration. Relations at their thresholds are decided by where the motion in this configuration leads:
    /// the event is settled a little ahead on the tangent.
    fn settle_entry(&mut self, t: f64) -> Result<(), Failure> {
        event::eval_continuous(&mut self.model, t)?;
        // What relations were belongs to the configuration before.
        self.model.show(Moment::Sliding);
        let is_near = |r: &Relation| self.model.get(r.crossing).abs() <= ENTRY_BAND * self.model.get(r.scale);
        if self.program.events.relations.values().any(is_near) && self.settle_ahead(t)? {
            return Ok(());
        }
        event::settle(&self.program, &mut self.model, &self.options, t)?;
        Ok(())
    }

    /// False if something other than relations would change.
    fn settle_ahead(&mut self, t: f64) -> Result<bool, Failure> {
        let n = self.program.states.len();
        let (mut here, mut slopes, mut settled) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.model.get_states(&mut here);
        self.model.get_derivatives(&mut slopes);
        let now = self.model.snapshot();
        let ahead = ENTRY_LOOK * self.options.time_span();
        let there: Vec<f64> = here.iter().zip(&slopes).map(|(x, dx)| x + ahead * dx).collect();
        self.model.set_continuous(t, &there);
        let is_settled = event::settle(&self.program, &mut self.model, &self.options, t).is_ok();
        self.model.get_states(&mut settled);
        if !is_settled || settled != there {
            self.model.restore(&now);
            return Ok(false);
        }
        self.model.set_continuous(t, &here);
        event::eval_continuous(&mut self.model, t)?;
        self.model.update_pre();
        self.model.accept();
        Ok(true)
    }

    fn cannot_enter(&self, t: f64, why: &str) -> Failure {
        let kind = SimErrorKind::CannotEnter { configuration: self.key().to_string(), why: why.to_owned() };
        let span = self.program.configuration.as_ref().and_then(|c| c.switches.first()).map(|s| s.span);
        Failure::new(t, kind).at(span.unwrap_or(Span::nowhere()))
    }

    pub(super) fn alternates(&self, t: f64, tried: &[Key]) -> Failure {
        let tried: Vec<String> = tried.iter().map(|key| format!("({key})")).collect();
        self.cannot_enter(
            t,
            &format!("no configuration agrees with its own switches; tried in turn: {}", tried.join(" → ")),
        )
    }
}

fn is_jump(before: f64, after: f64) -> bool {
    (after - before).abs() > LEAST_JUMP * after.abs().max(before.abs()).max(LEAST_JUMP)
}

/// A slot that a program does not have.
const NOWHERE: usize = usize::MAX;

/// For each slot of `to` the one of `from` that is the same.
fn mapping(from: &SimProgram, to: &SimProgram) -> Vec<usize> {
    let n_common = to.configuration.as_ref().map_or(0, |c| c.n_common);
    let others = from.memory.slots.iter().skip(n_common);
    let named: HashMap<&str, usize> = others.map(|(id, slot)| (slot.name.as_str(), id.index())).collect();
    let of = |(id, slot): (SlotId, &Slot)| match id.index() < n_common {
        true => id.index(),
        false => named.get(slot.name.as_str()).copied().unwrap_or(NOWHERE),
    };
    to.memory.slots.iter().map(of).collect()
}
