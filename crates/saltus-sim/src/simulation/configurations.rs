//! Another configuration: the program that fits the positions of the switches, entered at an event.
//!
//! In: an event that has been settled in the old configuration, with switches in other positions than its program was made for. Out:
//! the run goes on in the configuration of the new positions, with values that fulfil its constraints.
//!
//! The values before are carried over, variable by variable; the section `entry` finds what jumps; an event is settled. Where
//! that moves switches again, the next configuration is entered ([`search`](super::search)).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use saltus_base::{Index, Span};
use saltus_program::{Activation, Key, ModelFunctions, Moment, SimProgram, SlotKind, Switch, read};

use super::Simulation;
use super::arriving::state_of;
use super::search::Entered;
use crate::catalogue::Catalogue;
use crate::constants::{MOST_CONFIGURATIONS, MOST_PARKED_SLOTS};
use crate::crossing::CrossingSearch;
use crate::error::{Failure, SimErrorKind};
use crate::event;
use crate::integration;
use crate::masking::Masking;
use crate::options::ZenoPolicy;
use crate::proof::{Ahead, Prover};
use crate::record::EventKind;
use crate::selection::Selection;
use crate::structure::Structure;
use crate::trajectory::Column;
use crate::translation::{NOWHERE, constants, mapping, present, renumbered, shown};

/// Makes programs for configurations.
pub trait Configurations: Send {
    /// A new instance for these positions of the switches. Others may have turned out to change the structure in this one; they are
    /// then in positions of its own choice. Why not, otherwise.
    fn instance(&mut self, key: &Key) -> Result<Box<dyn ModelFunctions>, Unmade>;

    /// Takes an instance back that a run does not need any more.
    fn take_back(&mut self, _key: Key, _instance: Box<dyn ModelFunctions>) {}
}

/// Why there is no program for a configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Unmade {
    pub why: String,
    pub hints: Vec<String>,
    pub span: Span,
}

/// Everything that belongs to a program, while another one is in use.
pub(super) struct Parked {
    instance: Box<dyn ModelFunctions>,
    structure: Structure,
    masking: Masking,
    prover: Prover,
    bound_prover: Prover,
    catalogue: Catalogue,
    selection: Selection,
    /// External objects are made once.
    has_objects: bool,
    /// When it was left, in changes of the configuration.
    left_at: u64,
}

impl Parked {
    fn n_slots(&self) -> usize {
        self.instance.program().memory.slots.len()
    }
}

/// The configurations of a run.
#[derive(Default)]
pub(super) struct Known {
    maker: Option<Box<dyn Configurations>>,
    parked: BTreeMap<Key, Parked>,
    /// Slots of all that are parked.
    n_slots: usize,
    n_changes: u64,
    pub home: Option<Home>,
    passages: Vec<Passage>,
    /// Positions of candidates that have been tried in the key, in vain.
    pub given_up: BTreeSet<Key>,
    /// A configuration that an event has entered already, and from where.
    pub entered: Option<(Key, Left, Entered)>,
    /// The values that the last jump has led to, for a witness.
    pub jumped_to: Option<Vec<f64>>,
}

/// Where values go from one configuration to another one.
struct Passage {
    from: Arc<SimProgram>,
    to: Arc<SimProgram>,
    /// For each slot of `to` the one of `from` that is the same.
    same: Vec<usize>,
    /// The same without what the equations of `to` make constant.
    places: Vec<usize>,
}

/// Passages that are kept: those of a few configurations that alternate.
const MOST_PASSAGES: usize = 12;

/// The program that the run was given: callers and results know its slots.
pub(super) struct Home {
    key: Key,
    pub program: Arc<SimProgram>,
}

impl Known {
    pub fn has_maker(&self) -> bool {
        self.maker.is_some()
    }

    fn take(&mut self, key: &Key) -> Option<Parked> {
        let parked = self.parked.remove(key)?;
        self.n_slots -= parked.n_slots();
        Some(parked)
    }

    /// Keeps what belongs to a program; what was not used for longest makes room.
    fn park(&mut self, key: Key, parked: Parked) {
        self.n_changes += 1;
        self.n_slots += parked.n_slots();
        self.parked.insert(key, Parked { left_at: self.n_changes, ..parked });
        while self.parked.len() > MOST_CONFIGURATIONS || self.n_slots > MOST_PARKED_SLOTS {
            let home = self.home.as_ref().map(|home| &home.key);
            let others = self.parked.iter().filter(|(key, p)| Some(*key) != home && p.left_at != self.n_changes);
            let Some(unused) = others.min_by_key(|(_, p)| p.left_at).map(|(key, _)| key.clone()) else { break };
            self.take(&unused);
        }
    }

    /// Where values go from `from` to `to`.
    fn passage(&mut self, from: &Arc<SimProgram>, to: &Arc<SimProgram>) -> &Passage {
        let is_known = |p: &Passage| Arc::ptr_eq(&p.from, from) && Arc::ptr_eq(&p.to, to);
        let at = self.passages.iter().position(is_known).unwrap_or_else(|| {
            let same = mapping(from, to);
            let mut places = same.clone();
            let constants = constants(to);
            places.iter_mut().zip(constants).filter(|(_, is_constant)| *is_constant).for_each(|(p, _)| *p = NOWHERE);
            if self.passages.len() == MOST_PASSAGES {
                self.passages.remove(0);
            }
            self.passages.push(Passage { from: from.clone(), to: to.clone(), same, places });
            self.passages.len() - 1
        });
        &self.passages[at]
    }

    /// The instance that the run was given, if another one is in use.
    pub fn take_home(&mut self) -> Option<Box<dyn ModelFunctions>> {
        let home = self.home.as_ref()?;
        self.parked.remove(&home.key).map(|parked| parked.instance)
    }

    /// Gives all other instances to whoever made them.
    pub fn give_back(mut self, present: Option<(Key, Box<dyn ModelFunctions>)>) {
        let Some(maker) = &mut self.maker else { return };
        let parked = self.parked.into_iter().map(|(key, parked)| (key, parked.instance));
        parked.chain(present).for_each(|(key, instance)| maker.take_back(key, instance));
    }
}

/// Values before, by slot of the program they belong to.
#[derive(Clone)]
pub(super) struct Left {
    pub program: Arc<SimProgram>,
    pub memory: Vec<f64>,
}

impl Left {
    pub fn key(&self) -> Key {
        self.program.configuration.as_ref().map_or_else(Key::default, |c| c.key())
    }

    /// Discrete variables of the model.
    pub fn discrete_values(&self) -> Vec<f64> {
        let slots = &self.program.memory.slots;
        let is_discrete =
            |slot| slots.get(slot).is_some_and(|s| matches!(s.kind, SlotKind::Discrete | SlotKind::Clocked));
        let all = self.program.variables.iter().filter(|v| !v.is_hidden && is_discrete(v.slot));
        all.map(|v| read(&self.memory, v.slot)).collect()
    }

    /// Discrete variables that keep their values from event to event, and states.
    pub fn remembered_values(&self) -> Vec<f64> {
        self.program.memory.pre.iter().map(|&(variable, _)| read(&self.memory, variable)).collect()
    }

    /// Positions of switches that nothing that is solved for at an instant moves.
    pub fn given_positions(&self) -> impl Iterator<Item = (String, bool)> {
        let switches = self.program.configuration.iter().flat_map(|c| &c.switches);
        switches.filter(|s| !s.is_moved).map(|s| (s.text.clone(), read(&self.memory, s.condition) != 0.0))
    }
}

impl Simulation {
    /// Who makes the programs of other configurations.
    pub fn set_configurations(&mut self, maker: Box<dyn Configurations>) {
        self.known.maker = Some(maker);
        let program = self.program.clone();
        self.catalogue.change_places(|place| present(&program, place));
        self.known.home = Some(Home { key: self.key(), program });
        self.show_present_slots();
    }

    /// Which slots a witness, if there is one, knows.
    pub(super) fn show_present_slots(&mut self) {
        if let Some(home) = self.known.home.as_ref().filter(|_| self.model.has_witness()) {
            let shown = shown(&self.program, &home.program);
            self.model.set_shown(shown);
        }
    }

    /// The positions of the switches, if they are not those of the program.
    pub(super) fn other_key(&self) -> Option<Key> {
        let configuration = self.program.configuration.as_ref()?;
        let position = |s: &Switch| self.model.get(s.condition) != 0.0;
        let is_other = configuration.switches.iter().any(|s| position(s) != s.is_on);
        let is_again = configuration.regions.iter().any(|r| self.model.get(r.reenters) != 0.0);
        (is_other || is_again)
            .then(|| Key(configuration.switches.iter().map(|s| (s.text.clone(), position(s))).collect()))
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
            let hint = "check the initial equations and start values of what is active there";
            return Err(self.cannot_enter(t, "its initial system cannot be solved", hint));
        }
        Ok(())
    }

    /// After an event at `t`: enters the configurations that its switches ask for. If there is another one, whether anything has jumped
    /// on the way.
    pub(super) fn change_structure(&mut self, t: f64) -> Result<Option<bool>, Failure> {
        let (from, left, entered) = match self.known.entered.take() {
            Some(entered) => entered,
            None => {
                let Some(asked) = self.other_key() else { return Ok(None) };
                let left = self.left_here();
                let entered = self.find_configuration(t, asked, &left)?;
                (left.key(), left, entered)
            }
        };
        let method_before = integration::method(&left.program, &self.options);
        if let Some(events) = self.driver.zeno.count(t, &self.options) {
            return Err(self.chattering(t, &[], events));
        }
        self.model.remember_event(t);
        entered.shown.iter().for_each(|jump| self.model.show_jump(jump));
        self.model.show(Moment::After);
        self.driver.before = self.translated(&left);
        self.driver.left = self.at_home_from(&left);
        self.write_event_row(t)?;
        let causes = Vec::new();
        self.record(t, EventKind::Configuration, causes, 1, true)?;
        self.tell_structure(t);
        let jumped = !(entered.jumps.is_empty() && entered.states.is_empty());
        if let Some(event) = &mut self.work.event {
            event.changes.extend(entered.jumps);
        }
        let (n_before, n_after) = (left.program.states.len(), self.program.states.len());
        let mut note = format!("{}; {n_before} → {n_after} states", self.story(&from, &entered.states));
        for (name, impulse) in entered.impulses {
            note.push_str(&format!("; impulse of {name}: {impulse}"));
        }
        let method = integration::method(&self.program, &self.options);
        if method != method_before {
            note.push_str(&format!("; integrated by {} with tolerance {}", method.0.name(), method.1));
        }
        self.note_event(&note);
        self.tell_free(t);
        Ok(Some(jumped))
    }

    /// What has changed since a configuration, in words.
    fn story(&self, from: &Key, entered_last: &[String]) -> String {
        let Some(configuration) = &self.program.configuration else { return String::new() };
        let is_region = |k: usize| configuration.regions.iter().any(|r| r.switch == k);
        let (mut left, mut entered, mut other) = (Vec::new(), Vec::new(), Vec::new());
        for (k, switch) in configuration.switches.iter().enumerate() {
            let was_on = from.0.get(&switch.text).copied();
            let name = state_of(&switch.text);
            match (name.filter(|_| is_region(k)), was_on == Some(switch.is_on)) {
                (Some(name), false) if switch.is_on => entered.push(name),
                (Some(name), false) => left.push(name),
                (Some(name), true) if entered_last.contains(&switch.text) => {
                    left.push(name);
                    entered.push(name);
                }
                (Some(_), true) => {}
                (None, _) => other.push(format!("{}: {}", switch.text, switch.is_on)),
            }
        }
        if !(left.is_empty() && entered.is_empty()) {
            other.insert(0, format!("{} → {}", left.join(", "), entered.join(", ")));
        }
        other.join(", ")
    }

    /// The present values.
    pub(super) fn left_here(&self) -> Left {
        Left { program: self.program.clone(), memory: self.model.snapshot() }
    }

    /// Puts the program of a configuration in the place of the present one.
    pub(super) fn take_program_of(&mut self, t: f64, key: &Key) -> Result<(), Failure> {
        let next = match self.known.take(key) {
            Some(mut parked) => {
                // What its loops have learnt is not part of a saved state: a run that goes on elsewhere would not have it.
                if !parked.has_objects {
                    parked.instance.renew();
                }
                parked
            }
            None => self.make(t, key)?,
        };
        let own = self.key();
        let program = next.instance.program().clone();
        let home = self.known.home.as_ref().filter(|_| self.model.has_witness());
        let shown = home.map(|home| shown(&program, &home.program));
        self.leave_measured();
        self.leave_extents();
        let instance = self.model.exchange(next.instance, shown);
        let parked = Parked {
            instance,
            structure: std::mem::replace(&mut self.structure, next.structure),
            masking: std::mem::replace(&mut self.masking, next.masking),
            prover: std::mem::replace(&mut self.prover, next.prover),
            bound_prover: std::mem::replace(&mut self.bound_prover, next.bound_prover),
            catalogue: std::mem::replace(&mut self.catalogue, next.catalogue),
            selection: std::mem::replace(&mut self.selection, next.selection),
            has_objects: has_objects(&self.program),
            left_at: 0,
        };
        self.known.park(own, parked);
        let left = std::mem::replace(&mut self.program, program);
        self.enter_measured();
        let cost = self.driver.integrator.statistics();
        self.driver.earlier = self.driver.earlier + cost;
        self.driver.search = CrossingSearch::new(&self.program);
        self.driver.search.stops_at_zeno = self.options.on_zeno != ZenoPolicy::Continue;
        let relations = &self.program.events.relations;
        let mut ahead = Ahead::new(relations, &self.prover.tape);
        ahead.learn(relations, &self.driver.ahead, &left.events.relations);
        self.driver.ahead = ahead;
        self.driver.detection.resize_with(self.program.events.relations.len(), Default::default);
        self.driver.bounds.enter(&self.program, &self.bound_prover);
        self.driver.infinite.clear();
        self.work.x = vec![0.0; self.program.states.len()];
        self.view = None;
        self.driver.integrator = integration::choose(&self.program, &self.options, &self.structure);
        Ok(())
    }

    fn make(&mut self, t: f64, key: &Key) -> Result<Parked, Failure> {
        let fail = |Unmade { why, hints, span }| {
            Failure::new(t, SimErrorKind::CannotEnter { configuration: key.to_string(), why, hints }).at(span)
        };
        let Some(maker) = &mut self.known.maker else {
            let why = "there is nobody to compile it".to_owned();
            return Err(fail(Unmade { why, hints: Vec::new(), span: Span::nowhere() }));
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
            bound_prover: Prover::of_bounds(&program, self.model.inputs_vary()),
            catalogue: self.catalogue_of(&program),
            has_objects: has_objects(&program),
            selection: Selection::new(program),
            instance,
            left_at: 0,
        })
    }

    /// Rows have the same columns in all configurations; what one does not have has no value there.
    fn catalogue_of(&self, program: &SimProgram) -> Catalogue {
        let known: HashMap<Cow<str>, usize> = program.variables.iter().map(|v| (v.name(), v.slot.index())).collect();
        let columns = self.catalogue.columns(&self.program, &self.options.recorded).into_owned();
        let place = |column: &Column| known.get(column.name.as_str()).map_or(NOWHERE, |&slot| present(program, slot));
        let places = columns.iter().map(place).collect();
        Catalogue::new(program, &self.options.recorded).with_columns(columns, places)
    }

    /// The values before, as the present program numbers them.
    pub(super) fn translated(&mut self, left: &Left) -> Vec<f64> {
        let mut memory = self.program.memory.initial_memory();
        let passage = self.known.passage(&left.program, &self.program);
        for (to, from) in memory.iter_mut().zip(&passage.places) {
            if let Some(value) = left.memory.get(*from) {
                *to = *value;
            }
        }
        memory
    }

    /// The values before, as the program that the run was given numbers them.
    fn at_home_from(&mut self, left: &Left) -> Option<Vec<f64>> {
        let home = self.known.home.as_ref()?.program.clone();
        let same = &self.known.passage(&left.program, &home).same;
        Some(same.iter().map(|&from| left.memory.get(from).copied().unwrap_or(f64::NAN)).collect())
    }

    /// A memory of the present program, as the program that the run was given numbers it.
    pub(super) fn at_home(&self, memory: &[f64]) -> Vec<f64> {
        match &self.known.home {
            Some(home) if home.key != self.key() => renumbered(&self.program, memory, &home.program),
            _ => memory.to_vec(),
        }
    }

    pub(super) fn carry_over(&mut self, t: f64, left: &Left) -> Result<(), Failure> {
        let memory = self.translated(left);
        self.model.restore(&memory);
        // Makes the external objects of this instance, too.
        event::eval(&mut self.model, t, Activation::Parameters)?;
        self.selection.begin(&mut self.model, t)
    }

    pub(super) fn cannot_enter(&self, t: f64, why: &str, hint: &str) -> Failure {
        let (configuration, why, hints) = (self.key().to_string(), why.to_owned(), vec![hint.to_owned()]);
        let kind = SimErrorKind::CannotEnter { configuration, why, hints };
        let span = self.program.configuration.as_ref().and_then(|c| c.switches.first()).map(|s| s.span);
        Failure::new(t, kind).at(span.unwrap_or(Span::nowhere()))
    }

    pub(super) fn alternates(&self, t: f64, story: &str) -> Failure {
        let why = format!("no configuration agrees with its own switches; tried in turn: {story}");
        let hint = "conditions that lead back to where they came from at the same instant need a distance: two thresholds, or a time in between";
        self.cannot_enter(t, &why, hint)
    }
}

/// Does a program make external objects?
fn has_objects(program: &SimProgram) -> bool {
    program.routines.procedures.values().any(|p| p.external().is_some_and(|external| external.destructor.is_some()))
}
