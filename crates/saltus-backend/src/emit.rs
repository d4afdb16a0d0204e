//! Turn sorted steps into the sections of a program.
//!
//! In: the system and its orders. Out: a [`SimProgram`]. The continuous order is divided into what the derivatives need,
//! what the crossing functions need beyond that, and the rest.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use saltus_base::{IdVec, Index};
use saltus_flat::{Attributes, Expr, FlatModel, Function, FunctionId, Variability};
use saltus_procedure::Procedure;
use saltus_program::{
    Assign, Block, Clocks, Events, Experiment, History, Jacobian, Loop, Memory, Op, Original, Repeat, Routines,
    Section, Sections, SimProgram, SlotId, SlotKind, State, StateSet, StateSetLevel, Unknown,
};

use crate::alias::Aliases;
use crate::blocks::{LoopStep, Step};
use crate::bounds::find_bounds;
use crate::clocks::emit::base_partition;
use crate::clocks::partition::Base;
use crate::clocks::solve::ClockedOrder;
use crate::coder::Coder;
use crate::dag::{FastMap, NodeId};
use crate::derivative_callables::{Functions, add_derivatives};
use crate::emit_variables::{literal, value_of, variables};
use crate::families::{FamilyStep, Place};
use crate::guards::respect_guards;
use crate::initial::Initial;
use crate::magnitudes::{USUAL, scale_of_operands};
use crate::share::group_by_calls;
use crate::sort::Orders;
use crate::state_sets::SetLevel;
use crate::states::Preferences;
use crate::system::{Assignment, System};
use crate::tuning::form::MOST_ORIGINAL;

pub fn emit(
    model: &FlatModel,
    mut system: System,
    aliases: &Aliases,
    parameters_sorted: &[Assignment],
    initial: &Initial,
    orders: &Orders,
    clocked: &[(Base, ClockedOrder)],
) -> SimProgram {
    let scales = Scales::read(model, &system, aliases);
    give_relations_nominal_values(&mut system, &scales);
    let coefficients: Vec<Assignment> = system.state_sets.iter().flat_map(|set| set.coefficients.clone()).collect();
    let mut divided = divide_continuous(&system, &orders.continuous, &coefficients);
    let Divided { crossing_steps, output_steps, .. } = &mut divided;
    let assign = |a: &Assignment| Step::Assign(a.clone());
    crossing_steps.extend(system.events.crossings.iter().map(assign));
    output_steps.extend(system.checks.conditions.iter().chain(&system.checks.shown_values).map(assign));
    let (bounds, distances) = find_bounds(&mut system, &|slot| scales.given(slot));
    output_steps.extend(distances.iter().map(assign));
    let computed: HashSet<SlotId> =
        orders.continuous.iter().filter_map(|step| step.assignment()).map(|a| a.slot).collect();
    output_steps.extend(negated_aliases(&mut system, aliases, &computed));
    let parameters: Vec<Step> = parameters_sorted.iter().map(assign).collect();
    let Divided { derivative_steps, crossing_steps, output_steps } = &mut divided;
    let mut event_steps = orders.events.clone();
    respect_guards(&mut system, [derivative_steps, crossing_steps, output_steps, &mut event_steps]);
    let Divided { derivative_steps, crossing_steps, output_steps } = divided;

    let mut clocked_sections = Vec::new();
    let mut base_partitions = Vec::new();
    for (base, order) in clocked {
        let mut section = |system: &mut System, steps: &[Step]| section(system, &scales, steps);
        base_partitions.push(base_partition(&mut system, base, order, &mut clocked_sections, &mut section));
    }
    let section = |steps: &[Step]| section(&system, &scales, steps);
    let sections = Sections {
        parameters: section(&parameters),
        guesses: section(&initial.guesses),
        initial: section(&initial.steps),
        homotopy: section(&initial.homotopy),
        events: section(&event_steps),
        derivatives: section(&derivative_steps),
        crossings: section(&crossing_steps),
        outputs: section(&output_steps),
        selection: section(&coefficients.iter().map(assign).collect::<Vec<Step>>()),
        entry: section(&orders.entry),
        arrival: section(&orders.arrival),
    };
    let derivative_modes = sections.derivatives.loads_of(&|s| {
        // What comes from outside may jump at an event, as a delayed signal does.
        matches!(
            system.slots[s].kind,
            SlotKind::Discrete | SlotKind::Clocked | SlotKind::Pre | SlotKind::Flag | SlotKind::Input
        )
    });
    let structural = structural_parameters(model, &system, parameters_sorted);
    let mut callables = std::mem::take(&mut system.calls.callables);
    let mut functions = Functions::new(&model.functions, system.memo.texts.len());
    add_derivatives(model, &mut functions, &mut callables);
    let procedures = procedures(model, &system, functions.into_made());
    SimProgram {
        name: model.name.clone(),
        variables: variables(model, &system, aliases),
        states: states(&system, &scales),
        state_sets: state_sets(&system, &scales),
        sections,
        memory: Memory {
            slots: system.slots,
            time: system.time,
            initial: system.initial,
            terminal: system.terminal,
            pre: system.pre_of.iter().map(|(&variable, &pre)| (variable, pre)).collect(),
            input_derivatives: system.introduced.input_derivatives.into_iter().collect(),
            structural,
        },
        events: Events {
            relations: system.events.relations,
            time_events: system.events.time_events,
            samples: system.events.samples,
            reinits: system.events.reinits,
            assertions: system.checks.assertions,
            bounds,
            terminations: system.events.terminations,
            initial_checks: system.checks.initial,
            derivative_modes,
        },
        clocks: Clocks { base_partitions, sections: clocked_sections },
        history: History { delays: system.history.delays, transports: system.history.transports },
        routines: Routines {
            callables,
            procedures,
            records: model.records.clone(),
            enumerations: model.enumerations.clone(),
        },
        experiment: Experiment {
            start_time: model.experiment.start_time,
            stop_time: model.experiment.stop_time,
            interval: model.experiment.interval,
            tolerance: model.experiment.tolerance,
        },
        configuration: None,
    }
}

/// The continuous order by what needs its steps.
struct Divided {
    derivative_steps: Vec<Step>,
    /// What the crossing functions need beyond that.
    crossing_steps: Vec<Step>,
    output_steps: Vec<Step>,
}

fn divide_continuous(system: &System, order: &[Step], coefficients: &[Assignment]) -> Divided {
    let mut derivatives: Vec<SlotId> = system.derivative_of.values().copied().collect();
    derivatives.extend(system.dag.loads(&coefficients.iter().map(|a| a.node).collect::<Vec<_>>()));
    let asked_by_driver = asked_by_driver(system);
    let needed = |wanted| needed(system, order, wanted, &asked_by_driver);
    let for_derivatives = needed(derivatives);
    let crossing_nodes: Vec<NodeId> = system.events.crossings.iter().map(|a| a.node).collect();
    let mut crossings: Vec<SlotId> = system.dag.loads(&crossing_nodes);
    // Where a jump in a profile is depends on its position, whatever is made of what leaves.
    crossings.extend(system.history.transports.iter().map(|transport| transport.position));
    let for_crossings = needed(crossings);
    let (mut derivative_steps, mut crossing_steps, mut output_steps) = (Vec::new(), Vec::new(), Vec::new());
    for step in order {
        let is_in = |set: &[bool]| step.computes_any(set);
        if is_in(&for_derivatives) {
            derivative_steps.push(step.clone());
        } else if is_in(&for_crossings) {
            crossing_steps.push(step.clone());
        } else {
            output_steps.push(step.clone());
        }
    }
    Divided { derivative_steps, crossing_steps, output_steps }
}

/// The functions of the model, lowered, behind them the texts with holes, and functions that were made for derivatives.
fn procedures(model: &FlatModel, system: &System, made: Vec<Function>) -> IdVec<FunctionId, Arc<Procedure>> {
    let known = &system.memo.procedures;
    let lowered =
        |(id, function)| known.get(&id).cloned().unwrap_or_else(|| Arc::new(saltus_procedure::lower(function)));
    let made = made.iter().map(|function| Arc::new(saltus_procedure::lower(function)));
    model.functions.iter().map(lowered).chain(system.memo.texts.iter().cloned()).chain(made).collect()
}

/// Constants, structural parameters, those that decided about the structure, and all that these are computed from.
fn structural_parameters(model: &FlatModel, system: &System, parameters: &[Assignment]) -> Vec<SlotId> {
    let mut structural = system.memo.structural.clone();
    for (id, variable) in model.variables.iter() {
        if variable.is_structural || variable.variability == Variability::Constant {
            structural.extend(&system.elements[id]);
        }
    }
    // Each is computed from earlier ones.
    for assignment in parameters.iter().rev().filter(|a| system.slots[a.slot].kind == SlotKind::Parameter) {
        if structural.contains(&assignment.slot) {
            structural.extend(system.dag.loads(&[assignment.node]));
        }
    }
    structural.into_iter().collect()
}

/// The slots that must be computed for `wanted`, among steps in order of computation: by slot, whether it must be.
fn needed(
    system: &System,
    order: &[Step],
    wanted: Vec<SlotId>,
    asked_by_driver: &BTreeMap<SlotId, SlotId>,
) -> Vec<bool> {
    let mut is_wanted = vec![false; system.slots.len()];
    wanted.into_iter().for_each(|slot| is_wanted[slot.index()] = true);
    loop {
        for step in order.iter().rev() {
            if step.computes_any(&is_wanted) {
                step.each_load(&system.dag, &mut |slot| is_wanted[slot.index()] = true);
            }
        }
        // What the driver asks for may stand behind what needs it.
        let mut has_changed = false;
        for (output, &asked) in asked_by_driver {
            has_changed |= is_wanted[output.index()] && !std::mem::replace(&mut is_wanted[asked.index()], true);
        }
        if !has_changed {
            return is_wanted;
        }
    }
}

/// Outputs of the driver that it can compute only with this variable.
fn asked_by_driver(system: &System) -> BTreeMap<SlotId, SlotId> {
    let delays = system.history.delays.iter().filter(|d| !d.is_fixed).map(|d| (d.output, d.time));
    let transports = system.history.transports.iter().flat_map(|t| t.outputs.map(|output| (output, t.position)));
    delays.chain(transports).collect()
}

/// Variables that were replaced by the negative of another one still have a value to show, unless they are computed for others.
fn negated_aliases(system: &mut System, aliases: &Aliases, computed: &HashSet<SlotId>) -> Vec<Step> {
    let slots: Vec<SlotId> = aliases.iter().filter(|slot| !computed.contains(slot)).collect();
    let mut steps = Vec::new();
    for slot in slots {
        let alias = aliases.resolve(slot);
        if alias.is_negated {
            let value = system.load(alias.slot);
            let node = system.dag.negate(value);
            steps.push(Step::Assign(Assignment { slot, node, span: saltus_base::Span::nowhere() }));
        }
    }
    steps
}

/// The magnitude of the operands of a relation is at least their nominal value, or what usually occurs.
fn give_relations_nominal_values(system: &mut System, scales: &Scales) {
    let given = |slot: SlotId| scales.given(slot);
    let System { events, dag, slots, .. } = system;
    let mut scale_of: HashMap<SlotId, &mut Assignment> = events.crossings.iter_mut().map(|a| (a.slot, a)).collect();
    for (_, relation) in events.relations.iter_mut() {
        let Some(scale) = scale_of.get_mut(&relation.scale) else { continue };
        scale.node = scale_of_operands(dag, slots, &given, relation, scale.node);
    }
}

fn section(system: &System, scales: &Scales, steps: &[Step]) -> Section {
    let groups = group_by_calls(&system.dag, steps);
    Section { blocks: groups.iter().flat_map(|group| blocks(system, scales, group)).collect() }
}

/// One block; two for a loop that is solved already.
fn blocks(system: &System, scales: &Scales, group: &[&Step]) -> Vec<Block> {
    match group {
        [Step::Loop(LoopStep { solution: Some(solution), inner, .. })] => {
            let values = if solution.refined.is_empty() { &solution.values } else { &solution.refined };
            let parts = [values, inner].into_iter().filter(|part| !part.is_empty());
            parts.map(|part| Block::Assign(assign(system, part.iter()))).collect()
        }
        [Step::Family(family)] => vec![Block::from(repeat(system, family))],
        [Step::Loop(l)] => vec![Block::Loop(Arc::new(loop_block(system, scales, l)))],
        _ => vec![Block::Assign(assign(system, group.iter().filter_map(|step| step.assignment())))],
    }
}

fn assign<'s>(system: &System, assignments: impl Iterator<Item = &'s Assignment> + Clone) -> Assign {
    let roots: Vec<NodeId> = assignments.clone().map(|a| a.node).collect();
    let span = assignments.clone().next().map_or(saltus_base::Span::nowhere(), |a| a.span);
    let coder = Coder::new(system, &roots);
    let stores = assignments.map(|a| (coder.value(a.node), a.slot)).collect();
    Assign { code: coder.code, stores, span }
}

fn repeat(system: &System, family: &FamilyStep) -> Repeat {
    let coder = Coder::new(system, &[family.node]);
    let value = coder.value(family.node);
    let mut code = coder.code;
    let mut strides = Vec::new();
    let moves = |place: &Place| place.strides.iter().map(|&stride| stride as i32).collect::<Vec<i32>>();
    for op in &mut code.ops {
        let Op::Load(slot) = op else { continue };
        match family.places.iter().find(|(own, _)| own == slot) {
            Some((_, place)) => {
                *slot = place.first;
                strides.push(moves(place));
            }
            None => strides.push(vec![0; family.sizes.len()]),
        }
    }
    strides.push(moves(&family.target));
    let first = Assign { code, stores: vec![(value, family.target.first)], span: family.span };
    Repeat { first, sizes: family.sizes.clone(), strides }
}

fn loop_block(system: &System, scales: &Scales, l: &LoopStep) -> Loop {
    let span = l.residuals.first().map(|r| r.1).or(l.discrete.first().map(|a| a.span));
    let span = span.unwrap_or(saltus_base::Span::nowhere());
    let roots: Vec<NodeId> = l.inner.iter().map(|a| a.node).chain(l.residuals.iter().map(|r| r.0)).collect();
    let coder = Coder::new(system, &roots);
    let stores = l.inner.iter().map(|a| (coder.value(a.node), a.slot)).collect();
    let residuals = l.residuals.iter().map(|r| coder.value(r.0)).collect();
    let body = Assign { code: coder.code, stores, span };
    let (jacobian, is_linear) = match &l.jacobian {
        Some(found) => {
            let roots: Vec<NodeId> = found.entries.iter().map(|e| e.2).collect();
            let coder = Coder::new(system, &roots);
            let entries = found.entries.iter().map(|&(r, c, node)| (r, c, coder.value(node))).collect();
            (Some(Jacobian { code: coder.code, entries, is_constant: found.is_constant }), found.is_linear)
        }
        None => (None, false),
    };
    let discrete = (!l.discrete.is_empty()).then(|| Assign { span, ..assign(system, l.discrete.iter()) });
    let unknowns = l.unknowns.iter().map(|&slot| scales.unknown(slot)).collect();
    let spans = l.residuals.iter().map(|r| r.1).chain(l.inner.iter().map(|a| a.span)).collect();
    let original = if is_linear { None } else { original(system, scales, l) };
    Loop { unknowns, body, residuals, spans, jacobian, is_linear, discrete, may_grow: l.may_grow, original }
}

/// The equations before some were solved for inner variables.
fn original(system: &System, scales: &Scales, l: &LoopStep) -> Option<Original> {
    let n = l.equations.len();
    if l.inner.is_empty() || n != l.unknowns.len() + l.inner.len() || n > MOST_ORIGINAL {
        return None;
    }
    let roots: Vec<NodeId> = l.equations.iter().map(|equation| equation.difference).collect();
    let coder = Coder::new(system, &roots);
    let residuals = roots.iter().map(|&root| coder.value(root)).collect();
    let inner = l.inner.iter().map(|a| scales.unknown(a.slot)).collect();
    Some(Original { code: coder.code, residuals, inner })
}

fn states(system: &System, scales: &Scales) -> Vec<State> {
    let levels = || system.state_sets.iter().flat_map(|set| &set.levels);
    let state = |(&value, &derivative): (&SlotId, &SlotId)| {
        // A state of a set is measured by the most sensitive of its candidates.
        let level = levels().find(|level| level.states.contains(&value));
        let measures: Vec<Scale> = match level {
            Some(level) => level.candidates.iter().map(|&c| scales.of(c)).collect(),
            None => vec![scales.of(value)],
        };
        let nominal = measures.iter().map(|scale| scale.nominal()).fold(f64::INFINITY, f64::min);
        State { value, derivative, nominal, unbounded: measures.iter().any(|scale| scale.unbounded) }
    };
    system.derivative_of.iter().map(state).collect()
}

fn state_sets(system: &System, scales: &Scales) -> Vec<StateSet> {
    let level = |level: &SetLevel| StateSetLevel { states: level.states.clone(), candidates: level.candidates.clone() };
    let set = |set: &crate::state_sets::StateSet| StateSet {
        levels: set.levels.iter().skip(1).map(level).collect(),
        choice: set.which.clone(),
        weights: set.wishes.iter().map(|&wish| Preferences::weight(wish)).collect(),
        nominals: set
            .levels
            .last()
            .map_or(Vec::new(), |l| l.candidates.iter().map(|&c| scales.of(c).nominal()).collect()),
        n_constraints: set.n_constraints,
        coefficients: set.entries.clone(),
        span: set.coefficients.first().map_or(saltus_base::Span::nowhere(), |a| a.span),
    };
    system.state_sets.iter().map(set).collect()
}

#[derive(Clone, Copy)]
struct Scale {
    /// If it is given.
    nominal: Option<f64>,
    min: f64,
    max: f64,
    unbounded: bool,
}

/// Magnitudes and bounds of variables, where they are literal.
struct Scales {
    of: FastMap<SlotId, Scale>,
}

impl Scales {
    fn unknown(&self, slot: SlotId) -> Unknown {
        let scale = self.of(slot);
        Unknown { slot, nominal: scale.nominal(), min: scale.min, max: scale.max }
    }

    fn read(model: &FlatModel, system: &System, aliases: &Aliases) -> Scales {
        let mut of: FastMap<SlotId, Scale> = FastMap::default();
        for (id, variable) in model.variables.iter() {
            let Attributes { nominal, min, max, unbounded, .. } = &variable.attributes;
            if [nominal, min, max, unbounded].into_iter().all(Option::is_none) {
                continue;
            }
            let dims: Vec<u64> = variable.ty.dims.iter().filter_map(|d| d.known()).collect();
            for (k, &slot) in system.elements[id].iter().enumerate() {
                let attributes = &variable.attributes;
                let alias = aliases.resolve(slot);
                let number = |e: &Option<Expr>| e.as_ref().and_then(|e| literal(e, &dims, k));
                let scale = of.entry(alias.slot).or_insert(Scale::NONE);
                let nominal = attributes.nominal.as_ref().and_then(|e| value_of(model, e, &dims, k)).map(f64::abs);
                if let Some(nominal) = nominal.filter(|n| n.is_finite() && *n > 0.0) {
                    scale.nominal = Some(nominal);
                }
                scale.unbounded |= number(&attributes.unbounded) == Some(1.0);
                let (min, max) = bounds(attributes, &number, alias.is_negated);
                scale.min = scale.min.max(min);
                scale.max = scale.max.min(max);
            }
        }
        Scales { of }
    }

    /// The nominal value that a variable has been given.
    fn given(&self, slot: SlotId) -> Option<f64> {
        self.of.get(&slot).and_then(|scale| scale.nominal)
    }

    fn of(&self, slot: SlotId) -> Scale {
        self.of.get(&slot).copied().unwrap_or(Scale::NONE)
    }
}

impl Scale {
    fn nominal(self) -> f64 {
        self.nominal.unwrap_or(USUAL)
    }

    const NONE: Scale = Scale { nominal: None, min: f64::NEG_INFINITY, max: f64::INFINITY, unbounded: false };
}

fn bounds(attributes: &Attributes, number: &dyn Fn(&Option<Expr>) -> Option<f64>, is_negated: bool) -> (f64, f64) {
    let min = number(&attributes.min).unwrap_or(f64::NEG_INFINITY);
    let max = number(&attributes.max).unwrap_or(f64::INFINITY);
    if is_negated { (-max, -min) } else { (min, max) }
}
