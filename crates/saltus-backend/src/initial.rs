//! Build and sort the initial system.
//!
//! In: the event system, initial equations, start values. Out: assignments that compute all variables at the start.
//!
//! Unknowns are the states as well. `pre` of a discrete variable is its start value, `pre` of a continuous one its own
//! value. `fixed = true` and initial equations must hold; what is still missing is taken from start values of states.
//! (Specification: section 8.6.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::FlatModel;
use saltus_graph::Matching;
use saltus_program::{InitialCheck, SlotId, SlotKind, SlotType};

use crate::blocks::{Step, sort_into_blocks};
use crate::dag::{Node, NodeId};
use crate::describe::equation_text;
use crate::diagnostics;
use crate::element_order;
use crate::guesses::{guess_between_loops, order_guesses, without_new_objects};
use crate::sort::{extend_by_quality, report_real_equation};
use crate::start_choice::starts_first;
use crate::state_sets::{is_choice, is_chosen_state};
use crate::structure::{Solvability, Structure};
use crate::system::{Assignment, ScalarEquation, System, event_unknowns};

/// The sorted initial system.
#[derive(Default)]
pub struct Initial {
    /// What the unknowns begin with, and values of `pre`.
    pub guesses: Vec<Step>,
    pub steps: Vec<Step>,
    /// The same with the parameter of `homotopy` as a known variable; empty if the model does not use that.
    pub homotopy: Vec<Step>,
    pub decisions: Vec<Decision>,
    /// Other start values could have been taken for the missing conditions: not just those of all states that have none.
    pub has_choice: bool,
}

/// How the initial system came to have as many equations as unknowns.
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// `fixed = true`
    Fixed { slot: SlotId, value: NodeId, span: Span },
    /// A condition was missing.
    Taken { slot: SlotId, value: NodeId, is_given: bool, span: Span },
    /// The other equations determine its variables already: it is not solved for but checked.
    Surplus { left: NodeId, right: NodeId, span: Span },
}

/// Which initial system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As the equations say.
    Actual,
    /// With the parameter of `homotopy` as a known variable, for a solution that starts from simplified equations. The
    /// present values of all variables are the first guesses.
    Homotopy,
}

/// The initial system with the parameter of `homotopy`, if the model uses that and it has a structure.
pub fn sort_simplified(system: &mut System) -> Vec<Step> {
    if system.introduced.lambda.is_none() {
        return Vec::new();
    }
    // Its errors are those of the actual system, which reports them.
    let mut diagnostics = Diagnostics::new();
    let sorted = sort_initial(system, Form::Homotopy, &mut diagnostics);
    if diagnostics.has_errors() { Vec::new() } else { sorted.steps }
}

pub fn sort_initial(system: &mut System, form: Form, diagnostics: &mut Diagnostics) -> Initial {
    let mut unknowns = event_unknowns(system);
    unknowns.extend(system.derivative_of.keys().copied().filter(|s| system.slots[*s].kind == SlotKind::State));
    unknowns.extend(system.parameters.free.iter().copied());
    unknowns.extend(discrete_pre(system).into_iter().map(|(_, pre)| pre));
    // The states of sets follow from their candidates.
    unknowns.retain(|&slot| !is_chosen_state(system, slot));
    unknowns.sort_unstable();
    unknowns.dedup();
    let mut equations = initial_form(system, form);
    let n_model = equations.len();
    add_once(&mut equations, &system.initial_equations);
    let n_given = equations.len();
    equations.extend(fixed_starts(system));
    equations.extend(starts_of_pre(system, true).into_iter().map(|(e, _)| e));
    let n_required = equations.len();
    let (mut optional, [n_wanted, n_states]) = optional_starts(system);
    // A value before the start is given, not computed from what follows: it comes before guesses of algebraic variables.
    let before = starts_of_pre(system, false);
    let n_memory = n_states + before.len();
    optional.splice(n_states..n_states, before);
    equations.extend(optional.iter().map(|(e, _)| e.clone()));
    let structure = Structure::new(system, &equations, &unknowns);
    let mut matching = Matching::new(equations.len(), unknowns.len());
    for end in [n_model, n_given, n_required] {
        extend_by_quality(&mut matching, &structure, &equations, &|row| row < end);
    }
    // Group by group, so that the most wanted start values are taken first.
    let groups = [n_wanted, n_states, n_memory, optional.len()].map(|n| n_required + n);
    let take = |matching: &mut Matching, first: &BTreeSet<SlotId>| {
        let is_first = |row: usize| row >= n_required && first.contains(&optional[row - n_required].1);
        extend_by_quality(matching, &structure, &equations, &is_first);
        for end in groups {
            if matching.size() < unknowns.len() {
                extend_by_quality(matching, &structure, &equations, &|row| row < end);
            }
        }
    };
    let required = matching.clone();
    take(&mut matching, &BTreeSet::new());
    if !system.state_sets.is_empty() {
        let follows = |slot: SlotId| {
            let row = unknowns.binary_search(&slot).ok().and_then(|column| matching.row_of_column[column]);
            row.is_some_and(|row| row < n_model)
        };
        let first = starts_first(system, &follows);
        if !first.is_empty() {
            matching = required;
            take(&mut matching, &first);
        }
    }
    for row in (0..n_model).filter(|&r| matching.column_of_row[r].is_none()) {
        let rows = matching.rows_competing_with(&structure.edges(Solvability::No), row);
        let spans: Vec<Span> = rows.iter().map(|&r| equations[r].span).collect();
        diagnostics.push(diagnostics::too_many_initial_equations(equations[row].span, &spans));
    }
    for row in (n_model..n_given).filter(|&r| matching.column_of_row[r].is_none()) {
        report_real_equation(system, &structure, &equations, &unknowns, row, diagnostics);
    }
    let free = matching.free_columns();
    if !free.is_empty() {
        let names: Vec<String> = free.iter().map(|&c| system.name(unknowns[c]).into_owned()).collect();
        diagnostics.push(diagnostics::initially_undetermined(&names));
    }
    if diagnostics.has_errors() {
        return Initial::default();
    }
    let is_taken = |row: usize| matching.column_of_row[row].is_some();
    let mut decisions: Vec<Decision> =
        (n_given..n_required).filter(|&r| is_taken(r)).filter_map(|r| fixed(system, &equations[r])).collect();
    // Values before the start are taken whenever nothing gives them.
    let is_choice = |k: usize| match k {
        _ if k < n_states => !is_taken(n_required + k),
        _ => k >= n_memory && is_taken(n_required + k),
    };
    let has_choice = !system.state_sets.is_empty() || (0..optional.len()).any(is_choice);
    let taken = optional.iter().enumerate().filter(|(k, _)| is_taken(n_required + k));
    decisions.extend(taken.map(|(_, (equation, slot))| taken_start(system, equation, *slot)));
    let surplus: Vec<&ScalarEquation> =
        (n_model..n_required).filter(|&r| !is_taken(r)).map(|r| &equations[r]).collect();
    decisions.extend(surplus.iter().map(|e| Decision::Surplus { left: e.left, right: e.right, span: e.span }));
    let mut checks: Vec<Assignment> = Vec::new();
    let mut guesses: Vec<Step> = Vec::new();
    if form == Form::Actual {
        checks.extend(surplus.iter().flat_map(|e| add_check(system, e)));
    }
    let before = if form == Form::Actual { initial_pre_values(system) } else { Vec::new() };
    let mut steps = sort_into_blocks(system, &equations, &unknowns, &structure, &matching, diagnostics);
    if form == Form::Actual {
        guesses.extend(without_new_objects(system, before, &steps).into_iter().map(Step::Assign));
        let first = first_guesses(system);
        guesses.extend(order_guesses(system, first.clone(), &steps));
        guess_between_loops(system, &first, &mut steps);
    }
    steps.extend(checks.into_iter().map(Step::Assign));
    // What the driver keeps begins with its initial value.
    let inputs = system.events.crossings.iter().filter(|a| system.history.inputs.contains(&a.slot));
    steps.extend(inputs.cloned().map(Step::Assign));
    Initial { guesses, steps, homotopy: Vec::new(), decisions, has_choice }
}

/// Adds the conditions that are not there yet: a base class and one derived from it may both say `x = y`, and an equation that is
/// matched twice leaves a singular loop and another variable without its own.
fn add_once(equations: &mut Vec<ScalarEquation>, conditions: &[ScalarEquation]) {
    let sides = |e: &ScalarEquation| (e.left.min(e.right), e.left.max(e.right));
    let mut known: BTreeSet<(NodeId, NodeId)> = equations.iter().map(sides).collect();
    equations.extend(conditions.iter().filter(|e| known.insert(sides(e))).cloned());
}

/// Both sides of a condition that is only checked.
fn add_check(system: &mut System, equation: &ScalarEquation) -> [Assignment; 2] {
    let text = equation_text(system, equation.left, equation.right, None);
    let mut side = |node: NodeId, name: &str| {
        let slot = system.add_slot(format!("{name} side of {text}"), SlotKind::Auxiliary, SlotType::Real);
        Assignment { slot, node, span: equation.span }
    };
    let sides = [side(equation.left, "left"), side(equation.right, "right")];
    let [left, right] = [sides[0].slot, sides[1].slot];
    system.checks.initial.push(InitialCheck { left, right, text, span: equation.span });
    sides
}

fn fixed(system: &System, equation: &ScalarEquation) -> Option<Decision> {
    match system.dag.node(equation.left) {
        Node::Load(slot) => Some(Decision::Fixed { slot, value: equation.right, span: equation.span }),
        _ => None,
    }
}

fn taken_start(system: &System, equation: &ScalarEquation, slot: SlotId) -> Decision {
    let is_given = system.starts.contains_key(&slot) || !equation.span.is_nowhere();
    Decision::Taken { slot, value: equation.right, is_given, span: equation.span }
}

/// Tells which start values were taken where conditions were missing.
pub fn warn_of_assumptions(model: &FlatModel, system: &System, decisions: &[Decision], diagnostics: &mut Diagnostics) {
    let is_told = |slot: SlotId| is_real_unknown(system.slots[slot].kind) || system.parameters.free.contains(&slot);
    let taken = decisions.iter().filter_map(|decision| match *decision {
        Decision::Taken { slot, is_given, .. } if is_told(slot) => {
            let is_state = system.derivative_of.contains_key(&slot);
            Some((u8::from(!is_given) + 2 * u8::from(!is_state), slot))
        }
        _ => None,
    });
    let taken: Vec<(u8, SlotId)> = taken.collect();
    let first = element_order::first_of(model, system, &taken, diagnostics::MOST_LISTED);
    let first: Vec<String> = first.into_iter().map(|slot| system.name(slot).into_owned()).collect();
    if !first.is_empty() {
        diagnostics.push(diagnostics::assumed_initial_conditions(&first, taken.len()));
    }
}

fn is_real_unknown(kind: SlotKind) -> bool {
    matches!(kind, SlotKind::State | SlotKind::Algebraic | SlotKind::Derivative)
}

/// `x := start` for every variable that may be iterated over, parameters with `fixed = false` among them.
fn first_guesses(system: &System) -> Vec<Assignment> {
    let free: BTreeSet<SlotId> = system.parameters.free.iter().copied().collect();
    system
        .starts
        .iter()
        .filter(|(slot, _)| is_real_unknown(system.slots[**slot].kind) || free.contains(slot))
        .map(|(&slot, start)| Assignment { slot, node: start.value, span: start.span })
        .collect()
}

/// The equations of the model as they hold initially.
fn initial_form(system: &mut System, form: Form) -> Vec<ScalarEquation> {
    // pre(x) of a continuous x is x.
    let continuous: BTreeMap<SlotId, SlotId> = system
        .pre_of
        .iter()
        .filter(|(variable, _)| system.slots[**variable].kind.is_continuous())
        .map(|(&variable, &pre)| (pre, variable))
        .collect();
    let mut values: BTreeMap<SlotId, NodeId> =
        continuous.into_iter().map(|(pre, variable)| (pre, system.load(variable))).collect();
    if let Some(lambda) = system.introduced.lambda.filter(|_| form == Form::Actual) {
        values.insert(lambda, system.dag.constant(1.0));
    }
    let replace = |slot: SlotId| values.get(&slot).copied();
    let mut equations = system.exact_equations();
    equations.retain(|equation| !is_choice(system, equation));
    for equation in &mut equations {
        if let Some(initially) = equation.initially {
            // A clause that is not active keeps the value before; either side may be given.
            let held = equation.target.and_then(|t| system.pre_of.get(&t).copied());
            if held.is_some_and(|pre| system.dag.node(initially) == Node::Load(pre)) {
                equation.target = None;
            }
            equation.right = initially;
        }
        equation.left = system.dag.substitute(equation.left, &replace);
        equation.right = system.dag.substitute(equation.right, &replace);
    }
    equations
}

/// `x = start` of continuous variables with `fixed = true`; discrete ones have it as `pre` value.
fn fixed_starts(system: &mut System) -> Vec<ScalarEquation> {
    let starts = system.starts.clone();
    let fixed = starts.into_iter().filter(|(_, start)| start.is_fixed);
    let continuous: Vec<_> = fixed.filter(|(slot, _)| is_real_unknown(system.slots[*slot].kind)).collect();
    continuous.into_iter().map(|(slot, start)| start_equation(system, slot, start.value, start.span)).collect()
}

/// Start values that may be taken where conditions are missing: of states with a start value first, then of states
/// without one, then of other continuous variables with one, then of differentiated expressions.
fn optional_starts(system: &mut System) -> (Vec<(ScalarEquation, SlotId)>, [usize; 2]) {
    let states: Vec<SlotId> = states_and_candidates(system);
    let started: Vec<SlotId> = system.starts.iter().filter(|(_, s)| !s.is_fixed).map(|(&slot, _)| slot).collect();
    let given = |system: &System, slot: &SlotId| system.starts.contains_key(slot);
    let is_free = |system: &System, slot: &SlotId| !system.starts.get(slot).is_some_and(|s| s.is_fixed);
    let mut order: Vec<SlotId> = states.iter().copied().filter(|s| given(system, s) && is_free(system, s)).collect();
    let n_wanted = order.len();
    // The start value of `der(x*y)` follows from those of x and y, if there are any.
    let of_expressions: BTreeSet<SlotId> = system.introduced.differentiated.values().copied().collect();
    let is_open = |s: &SlotId| !given(system, s);
    order.extend(states.iter().copied().filter(|s| is_open(s) && !of_expressions.contains(s)));
    let n_states = order.len();
    let expressions: Vec<SlotId> =
        states.iter().copied().filter(|s| is_open(s) && of_expressions.contains(s)).collect();
    let is_state: BTreeSet<SlotId> = states.into_iter().collect();
    order.extend(started.into_iter().filter(|&s| {
        !is_state.contains(&s)
            && matches!(system.slots[s].kind, SlotKind::Algebraic | SlotKind::Derivative | SlotKind::Parameter)
    }));
    order.extend(expressions);
    order.extend(system.parameters.free.iter().copied().filter(|s| !given(system, s)));
    let mut equations = Vec::new();
    for slot in order {
        let (value, span) = match system.starts.get(&slot) {
            Some(start) => (start.value, start.span),
            None => (system.dag.constant(system.slots[slot].initial), Span::nowhere()),
        };
        equations.push((start_equation(system, slot, value, span), slot));
    }
    (equations, [n_wanted, n_states])
}

/// Variables whose start values count as those of states.
pub fn states_and_candidates(system: &System) -> Vec<SlotId> {
    let mut states: Vec<SlotId> = system.derivative_of.keys().copied().collect();
    states.retain(|&slot| !is_chosen_state(system, slot));
    for set in &system.state_sets {
        let mut order: Vec<usize> = (0..set.wishes.len()).collect();
        order.sort_by_key(|&k| std::cmp::Reverse(set.wishes[k]));
        for level in set.levels.iter().skip(1) {
            states.extend(order.iter().map(|&k| level.candidates[k]));
        }
    }
    states
}

fn start_equation(system: &mut System, slot: SlotId, value: NodeId, span: Span) -> ScalarEquation {
    let left = system.load(slot);
    let is_real = system.slots[slot].ty == SlotType::Real;
    ScalarEquation { left, right: value, target: None, initially: None, is_real, span, linearized: None }
}

/// Discrete variables whose value before the start is used, with the slot of that value.
fn discrete_pre(system: &System) -> Vec<(SlotId, SlotId)> {
    let pairs = system.pre_of.iter().filter(|(variable, _)| !system.slots[**variable].kind.is_continuous());
    pairs.map(|(&variable, &pre)| (variable, pre)).collect()
}

/// `pre(v) = start` of discrete variables, those with `fixed = true` or not.
fn starts_of_pre(system: &mut System, fixed: bool) -> Vec<(ScalarEquation, SlotId)> {
    let mut equations = Vec::new();
    for (variable, pre) in discrete_pre(system) {
        let (value, span, is_fixed) = match system.starts.get(&variable) {
            Some(start) => (start.value, start.span, start.is_fixed),
            None => (system.dag.constant(system.slots[variable].initial), Span::nowhere(), false),
        };
        if is_fixed == fixed {
            equations.push((start_equation(system, pre, value, span), pre));
        }
    }
    equations
}

/// `pre(v) := start` as a first guess where loops iterate over it.
fn initial_pre_values(system: &mut System) -> Vec<Assignment> {
    let mut all = starts_of_pre(system, true);
    all.extend(starts_of_pre(system, false));
    all.into_iter().map(|(e, slot)| Assignment { slot, node: e.right, span: e.span }).collect()
}
