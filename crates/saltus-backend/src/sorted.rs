//! The sorted system: what the back end knows when everything is matched, reduced, sorted and torn, and before it is code.
//!
//! In: a [`FlatModel`]. Out: a [`SortedSystem`], from which [`SortedSystem::emit`] makes the program and
//! [`SortedSystem::describe`] a description for people. Both read what the passes of [`sort`] have found; nothing is found
//! twice.

use saltus_base::Diagnostics;
use saltus_flat::{FlatModel, FunctionId};
use saltus_program::{SimProgram, SlotId};

use crate::alias::Aliases;
use crate::blocks::Step;
use crate::clocks::partition::Base;
use crate::clocks::solve::ClockedOrder;
use crate::derivative_functions::with_derivatives;
use crate::initial::Initial;
use crate::lower::effects::check_loops;
use crate::sort::{Orders, sort_equations};
use crate::states::Preferences;
use crate::system::{Assignment, System, event_unknowns};
use crate::{
    alias, clocks, decide, emit, equations, history, index_changes, initial, jacobian, parameters, reduce_index,
    small_loops, state_machines, states, system,
};

pub struct SortedSystem {
    /// Warnings of the passes.
    pub warnings: Diagnostics,
    /// The model that was sorted, where that is not the one that was given: without its state machines, with
    /// derivatives of functions.
    pub(crate) rewritten: Option<FlatModel>,
    pub(crate) system: System,
    pub(crate) aliases: Aliases,
    /// Assignments of dependent parameters, in order.
    pub(crate) parameters: Vec<Assignment>,
    pub(crate) initial: Initial,
    pub(crate) orders: Orders,
    /// Base-partitions of clocked equations.
    pub(crate) clocked: Vec<(Base, ClockedOrder)>,
    pub(crate) preferences: Preferences,
    /// Variables that the model differentiates, ascending.
    pub(crate) differentiated: Vec<SlotId>,
    /// Scalar equations and unknowns before aliases were eliminated, after that, and after the reduction of the index.
    pub(crate) sizes: [(usize, usize); 3],
}

/// Derivatives of functions that are written for a model, each time of all that are missing.
const MOST_DERIVATIVES: u32 = 10;

/// Sorts a model. Derivatives of functions are written where the reduction of the index misses them.
pub fn sort(model: &FlatModel) -> Result<SortedSystem, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut rewritten = state_machines::rewrite_state_machines(model, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    for _ in 0..MOST_DERIVATIVES {
        let present = rewritten.as_ref().unwrap_or(model);
        let mut underived = Vec::new();
        let sorted = sort_rewritten(present, &mut underived);
        match with_derivatives(present, &underived) {
            Some(extended) if sorted.is_err() => rewritten = Some(extended),
            _ => return sorted.map(|sorted| SortedSystem { rewritten, ..sorted }),
        }
    }
    sort_rewritten(rewritten.as_ref().unwrap_or(model), &mut Vec::new()).map(|s| SortedSystem { rewritten, ..s })
}

/// The passes of the back end, in order. If the reduction of the index fails because functions have no derivatives, these
/// are added to `underived`.
fn sort_rewritten(model: &FlatModel, underived: &mut Vec<FunctionId>) -> Result<SortedSystem, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut system = system::declare_variables(model);
    let clocking = clocks::survey::survey(model);
    if let Some(clocking) = &clocking {
        clocks::survey::mark_clocked(&mut system, clocking);
    }
    parameters::lower_parameters(model, &mut system, &mut diagnostics);
    parameters::lower_start_values(model, &mut system, &mut diagnostics);
    equations::lower_equations(model, clocking.as_ref(), &mut system, &mut diagnostics);
    equations::check_reinits(&system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    let scalar = size(&system);
    if clocking.is_some() {
        clocks::partition::partition(&mut system, &mut diagnostics);
        stop_on_errors(&mut diagnostics)?;
    }
    decide::decide_structure(model, &mut system, &mut diagnostics);
    let aliases = alias::eliminate_aliases(&mut system);
    let mut clocked = clocks::solve::solve_all(model, &mut system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    let (without_aliases, differentiated) = (size(&system), system.derivative_of.keys().copied().collect());
    let preferences = states::Preferences::read(model, &system, &aliases);
    reduce_index::reduce_index(model, &mut system, &preferences, &mut diagnostics);
    underived.append(&mut system.underived);
    stop_on_errors(&mut diagnostics)?;
    let reduced = size(&system);
    let mut orders = sort_equations(&mut system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    history::find_piecewise_constant_delays(&mut system, &orders.continuous);
    index_changes::find_index_changes(&mut system, &orders.events, &mut diagnostics);
    let before_ticks = clocks::emit::start_values(&mut system, &clocked);
    let mut initial = initial::sort_initial(&mut system, initial::Form::Actual, &mut diagnostics);
    initial.steps.splice(0..0, before_ticks);
    let parameters = parameters::sort_parameters(&mut system, &mut diagnostics);
    check_loops(&system, &orders.events, &mut diagnostics);
    check_loops(&system, &initial.steps, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    initial.homotopy = initial::sort_simplified(&mut system);
    for steps in [&mut orders.events, &mut orders.continuous, &mut initial.steps, &mut initial.homotopy] {
        jacobian::build_jacobians(model, &mut system, &mut *steps);
        small_loops::solve_small_loops(&mut system, steps);
    }
    for (_, order) in &mut clocked {
        let mut steps: Vec<&mut Step> = order.steps.iter_mut().chain(&mut order.first).map(|(_, step)| step).collect();
        jacobian::build_jacobians(model, &mut system, steps.iter_mut().map(|step| &mut **step));
        small_loops::solve_small_loops(&mut system, steps);
    }
    let sizes = [scalar, without_aliases, reduced];
    Ok(SortedSystem {
        warnings: diagnostics,
        rewritten: None,
        system,
        aliases,
        clocked,
        parameters,
        initial,
        orders,
        preferences,
        differentiated,
        sizes,
    })
}

impl SortedSystem {
    /// The program that computes it. `model` must be the one that was sorted.
    pub fn emit(self, model: &FlatModel) -> SimProgram {
        let model = self.rewritten.as_ref().unwrap_or(model);
        emit::emit(model, self.system, &self.aliases, &self.parameters, &self.initial, &self.orders, &self.clocked)
    }
}

fn size(system: &System) -> (usize, usize) {
    (system.equations.len(), event_unknowns(system).len())
}

/// Later passes rely on what earlier ones have found.
fn stop_on_errors(diagnostics: &mut Diagnostics) -> Result<(), Diagnostics> {
    if diagnostics.has_errors() { Err(std::mem::take(diagnostics)) } else { Ok(()) }
}
