//! The stages of the back end: a model is lowered, reduced and sorted.
//!
//! ```text
//! FlatModel ──lower──► LoweredSystem ──reduce──► ReducedSystem ──complete──► SortedSystem ──emit──► SimProgram
//! ```
//!
//! In: a [`FlatModel`]. Out: a [`SortedSystem`], in which everything is matched, reduced, sorted and torn, and from which [`SortedSystem::emit`] makes the program and
//! [`SortedSystem::describe`] a description for people. Both read what the passes of [`sort`] have found; nothing is found
//! twice.

use saltus_base::{Diagnostics, Span};
use saltus_flat::{FlatModel, FunctionId};
use saltus_program::{Configuration, Key, SimProgram, SlotId, SlotKind};

use crate::alias::Aliases;
use crate::blocks::Step;
use crate::changing_strings::rewrite_strings;
use crate::clocks::partition::Base;
use crate::clocks::solve::ClockedOrder;
use crate::configure::Fixed;
use crate::derivative_functions::with_derivatives;
use crate::entry::{EntryOrder, sort_entry};
use crate::families::{Families, weave};
use crate::hidden_constraints::Combination;
use crate::index_changes::IndexChanges;
use crate::initial::{Decision, Initial};
use crate::linearize;
use crate::lower::effects::check_loops;
use crate::lower::stated_derivatives::write_out_stated;
use crate::machine_entry::sort_machine_entry;
use crate::outline::{Outlined, outline};
use crate::reduce_index::Reduced;
use crate::sort::{Orders, sort_equations};
use crate::states::Preferences;
use crate::system::{Assignment, Rates, System, event_unknowns};
use crate::tuning::work::{MOST_COMBINATIONS, MOST_REWRITINGS, MOST_STATE_CHOICES};
use crate::wanted_states::wanted_states;
use crate::{
    alias, clocks, configure, decide, diagnostics, emit, equations, families, hidden_constraints, history,
    index_changes, initial, jacobian, parameters, reduce_index, small_loops, state_machines, states, system,
    wanted_states,
};

pub struct SortedSystem {
    /// Warnings of the passes.
    pub warnings: Diagnostics,
    /// The model that was sorted, where that is not the one that was given: without its state machines and changing Strings, with
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
    /// One more than the most times that an equation was differentiated.
    pub(crate) index: u32,
    /// Conditions that change the index, by text, with positions in which they do not; their warnings are in
    /// [`SortedSystem::warnings`].
    pub switches: Vec<(String, bool)>,
    /// The configuration, if it is one of several.
    pub configuration: Option<Configuration>,
}

/// Sorts a model as if its structure never changed.
pub fn sort(model: &FlatModel) -> Result<SortedSystem, Diagnostics> {
    sort_in(model, &Key::default())
}

/// The same with all families of equations as scalar equations, for those who want to see each.
pub fn sort_scalars(model: &FlatModel) -> Result<SortedSystem, Diagnostics> {
    sort_as(model, &Key::default(), Form::Scalars)
}

/// Sorts a model for one position of its switches. Derivatives of functions are written where the reduction of the index misses them,
/// and variables that shall be states become such where that is possible. Families of equations stay families as far as possible.
pub fn sort_in(model: &FlatModel, key: &Key) -> Result<SortedSystem, Diagnostics> {
    if key.0.is_empty()
        && families::may_have(model)
        && let Ok(sorted) = sort_as(model, key, Form::Families)
    {
        return Ok(sorted);
    }
    sort_as(model, key, Form::Scalars)
}

/// What families of equations become.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Scalars,
    /// Loops, or the model cannot be sorted.
    Families,
}

fn sort_as(model: &FlatModel, key: &Key, form: Form) -> Result<SortedSystem, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let fixed = state_machines::continuous::fix_states(model, key, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    let rewritten = state_machines::rewrite_state_machines(fixed.as_ref().unwrap_or(model), &mut diagnostics);
    let rewritten = rewritten.or(fixed);
    stop_on_errors(&mut diagnostics)?;
    let rewritten = rewrite_strings(rewritten.as_ref().unwrap_or(model)).or(rewritten);
    let mut warnings = diagnostics;
    let mut rates = Rates::default();
    let (rewritten, reduced) = reduce_with_functions(model, rewritten, key, form, &[], &mut rates, &mut warnings)?;
    let present = rewritten.as_ref().unwrap_or(model);
    let mut wanted = wanted_states(&reduced.system, &reduced.preferences, &reduced.orders.continuous);
    for _ in 0..MOST_STATE_CHOICES {
        if wanted.is_empty() {
            break;
        }
        let (mut own_rates, mut unheard) = (rates.clone(), Diagnostics::new());
        let again = reduce_with_functions(present, None, key, form, &wanted, &mut own_rates, &mut unheard);
        let Ok((further, with_them)) = again else { break };
        let n_before = wanted.len();
        wanted.retain(|&slot| with_them.system.slots[slot].kind == SlotKind::State);
        // What did not become a state need not have been differentiated.
        if wanted.len() < n_before {
            continue;
        }
        let sorted = complete(further.as_ref().unwrap_or(present), with_them);
        if let Ok(sorted) = sorted {
            return Ok(SortedSystem { rewritten: further.or(rewritten), ..sorted.with_warnings(warnings) });
        }
        break;
    }
    complete(present, reduced).map(|sorted| SortedSystem { rewritten, ..sorted.with_warnings(warnings) })
}

/// Lowers the model and reduces the index, with functions of parts of algorithms that must be called, and derivatives of functions
/// as far as they are missing; the model with them, if any.
fn reduce_with_functions(
    model: &FlatModel,
    mut rewritten: Option<FlatModel>,
    key: &Key,
    form: Form,
    wanted: &[SlotId],
    rates: &mut Rates,
    warnings: &mut Diagnostics,
) -> Result<(Option<FlatModel>, ReducedSystem), Diagnostics> {
    let mut sums = Sums::default();
    for _ in 0..MOST_REWRITINGS {
        let present = rewritten.as_ref().unwrap_or(model);
        let lowered = match lower(present, rates, form) {
            Ok(lowered) => lowered,
            Err(Unlowered::Parts(parts)) => {
                let extended = outline(present, &parts, warnings);
                rewritten = Some(extended);
                continue;
            }
            Err(Unlowered::Errors(errors)) => return Err(errors),
        };
        let mut underived = Underived { functions: Vec::new(), rates: rates.clone() };
        let reduced = match reduce(present, lowered, key, wanted, &mut sums, &mut underived) {
            Ok(reduced) => Ok(reduced),
            Err(Unreduced::Hidden) => continue,
            Err(Unreduced::Errors(errors)) => Err(errors),
        };
        match with_derivatives(present, &underived.functions) {
            Some(extended) if reduced.is_err() => rewritten = Some(extended),
            None if reduced.is_err() && underived.rates != *rates && underived.functions.is_empty() => {
                *rates = underived.rates;
            }
            _ if reduced.is_err() && sums.give_up() => {}
            _ => return reduced.map(|reduced| (rewritten, reduced)),
        }
    }
    let present = rewritten.as_ref().unwrap_or(model);
    let lowered = match lower(present, rates, form) {
        Ok(lowered) => lowered,
        Err(Unlowered::Errors(errors)) => return Err(errors),
        Err(Unlowered::Parts(parts)) => {
            let span = parts.first().map_or(Span::nowhere(), Outlined::span);
            let mut errors = Diagnostics::new();
            errors.push(diagnostics::not_supported("an algorithm in which so many parts depend on each other", span));
            return Err(errors);
        }
    };
    sums.give_up();
    let mut underived = Underived { functions: Vec::new(), rates: rates.clone() };
    match reduce(present, lowered, key, wanted, &mut sums, &mut underived) {
        Ok(reduced) => Ok((rewritten, reduced)),
        Err(Unreduced::Errors(errors)) => Err(errors),
        Err(Unreduced::Hidden) => Err(Diagnostics::new()),
    }
}

/// What had to be differentiated and could not be.
#[derive(Default)]
struct Underived {
    functions: Vec<FunctionId>,
    /// All delays whose derivatives are wanted.
    rates: Rates,
}

/// Constraints that no single equation states, as far as they are known, in the order in which they were found.
#[derive(Default)]
struct Sums {
    known: Vec<Combination>,
    is_given_up: bool,
}

impl Sums {
    /// The equations as they were will do; true if they have not been tried yet.
    fn give_up(&mut self) -> bool {
        let had_some = !self.known.is_empty();
        *self = Sums { known: Vec::new(), is_given_up: true };
        had_some
    }
}

/// Why the index could not be reduced.
enum Unreduced {
    Errors(Diagnostics),
    /// Constraints that no single equation states have been found.
    Hidden,
}

impl From<Diagnostics> for Unreduced {
    fn from(errors: Diagnostics) -> Self {
        Unreduced::Errors(errors)
    }
}

/// Why a model could not be lowered.
enum Unlowered<'m> {
    Errors(Diagnostics),
    /// Parts of algorithms must be called.
    Parts(Vec<Outlined<'m>>),
}

impl From<Diagnostics> for Unlowered<'_> {
    fn from(errors: Diagnostics) -> Self {
        Unlowered::Errors(errors)
    }
}

/// The equations of the model on scalars; those of clocked partitions are taken out.
struct LoweredSystem {
    diagnostics: Diagnostics,
    system: System,
    bases: Vec<Base>,
    /// Scalar equations and unknowns of the model, clocked ones included.
    size: (usize, usize),
    /// Slots of declared variables: the first ones.
    n_declared: usize,
}

/// A system without aliases, of index 1, whose states are chosen and whose equations are sorted.
struct ReducedSystem {
    diagnostics: Diagnostics,
    system: System,
    aliases: Aliases,
    orders: Orders,
    clocked: Vec<(Base, ClockedOrder)>,
    preferences: Preferences,
    differentiated: Vec<SlotId>,
    sizes: [(usize, usize); 3],
    index: u32,
    /// Slots that all configurations have.
    n_common: usize,
    /// The switches of the configuration and how its index was reduced, if the structure of the model changes.
    fixed: Option<(Fixed, Reduced)>,
    /// Values that are kept where states of machines are entered.
    kept: linearize::Kept,
}

/// The first stage: scalar equations on the graph.
fn lower<'m>(model: &'m FlatModel, rates: &Rates, form: Form) -> Result<LoweredSystem, Unlowered<'m>> {
    let mut diagnostics = Diagnostics::new();
    let mut system = system::declare_variables(model);
    system.history.wanted = rates.clone();
    let n_declared = system.slots.len();
    let clocking = clocks::survey::survey(model);
    if let Some(clocking) = &clocking {
        clocks::survey::mark_clocked(&mut system, clocking);
    } else if form == Form::Families {
        system.families = Families::cover(model, &mut system);
    }
    parameters::lower_parameters(model, &mut system, &mut diagnostics);
    parameters::lower_start_values(model, &mut system, &mut diagnostics);
    let parts = equations::lower_equations(model, clocking.as_ref(), &mut system, &mut diagnostics);
    equations::check_reinits(&system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    if !parts.is_empty() {
        return Err(Unlowered::Parts(parts));
    }
    let size = size(&system);
    let mut bases = Vec::new();
    if clocking.is_some() {
        bases = clocks::partition::partition(&mut system, &mut diagnostics);
        stop_on_errors(&mut diagnostics)?;
    }
    decide::decide_structure(model, &mut system, &mut diagnostics);
    Ok(LoweredSystem { diagnostics, system, bases, size, n_declared })
}

/// The second stage: aliases, index and order. If the reduction of the index fails because functions or delays have no derivatives,
/// these are added to `underived`. The slots `wanted` are candidates for states in addition to those that are
/// differentiated.
fn reduce(
    model: &FlatModel,
    lowered: LoweredSystem,
    key: &Key,
    wanted: &[SlotId],
    sums: &mut Sums,
    underived: &mut Underived,
) -> Result<ReducedSystem, Unreduced> {
    let LoweredSystem { mut diagnostics, mut system, mut bases, size: scalar, n_declared } = lowered;
    let aliases = alias::eliminate_aliases(&mut system, &mut bases, model.active_states.as_deref());
    let clocked = clocks::solve::solve_all(model, &mut system, bases, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    let active = model.active_states.as_deref();
    let is_configured = !key.0.is_empty() || active.is_some();
    // Models with state machines of continuous time have other equations in each configuration, and no more in common than what is declared.
    let n_common = if active.is_some() { n_declared } else { system.slots.len() };
    let fixed = is_configured.then(|| configure::fix_switches(&mut system, key, active, &aliases));
    let (without_aliases, differentiated) = (size(&system), system.derivative_of.keys().copied().collect());
    let preferences = states::Preferences::read(model, &mut system, &aliases);
    wanted_states::introduce(&mut system, wanted);
    hidden_constraints::apply(&mut system, &sums.known);
    let mut hidden = Vec::new();
    let wanted = (!sums.is_given_up && sums.known.len() < MOST_COMBINATIONS).then_some(&mut hidden);
    let reduced = reduce_index::reduce_index(model, &mut system, &preferences, wanted, &mut diagnostics);
    if !hidden.is_empty() {
        sums.known.append(&mut hidden);
        return Err(Unreduced::Hidden);
    }
    underived.functions.append(&mut system.calls.underived);
    let rates = std::mem::replace(&mut underived.rates, system.history.wanted.clone());
    if underived.rates != rates {
        diagnostics.push(diagnostics::no_derivative("delay", Span::nowhere()));
    }
    stop_on_errors(&mut diagnostics)?;
    for slot in system.introduced.input_derivatives.keys() {
        if let Some((id, _)) = system.elements.iter().find(|(_, slots)| slots.contains(slot)) {
            diagnostics.push(diagnostics::differentiated_input(&system.name(*slot), model.variables[id].span));
        }
    }
    write_out_stated(model, &mut system);
    let kept = linearize::linearize(model, &mut system, &aliases, &mut diagnostics);
    underived.functions.append(&mut system.calls.underived);
    stop_on_errors(&mut diagnostics)?;
    let sizes = [scalar, without_aliases, size(&system)];
    let orders = sort_equations(&mut system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    let index = reduced.as_ref().map_or(1, index_of);
    let fixed = fixed.zip(reduced);
    Ok(ReducedSystem {
        diagnostics,
        system,
        aliases,
        orders,
        clocked,
        preferences,
        differentiated,
        sizes,
        index,
        n_common,
        fixed,
        kept,
    })
}

fn index_of(reduced: &Reduced) -> u32 {
    1 + reduced.reduction.differentiations.iter().copied().max().unwrap_or(0) as u32
}

/// The third stage: the start, the parameters, and what is solved together.
fn complete(model: &FlatModel, reduced: ReducedSystem) -> Result<SortedSystem, Diagnostics> {
    let ReducedSystem {
        mut diagnostics,
        mut system,
        aliases,
        mut orders,
        mut clocked,
        preferences,
        differentiated,
        sizes,
        index,
        n_common,
        fixed,
        kept,
    } = reduced;
    history::find_piecewise_constant_delays(&mut system, &orders.continuous);
    let IndexChanges { switches: mut found, candidates } =
        index_changes::find_index_changes(&mut system, &orders.events, &mut diagnostics);
    let before_ticks = clocks::emit::start_values(&mut system, &clocked);
    let mut at_start = Diagnostics::new();
    let mut initial = initial::sort_initial(&mut system, initial::Form::Actual, &mut at_start);
    // A configuration in which a run never begins needs no start.
    let can_start = !at_start.has_errors();
    if fixed.is_none() || can_start {
        diagnostics.extend(at_start);
    }
    initial.guesses.splice(0..0, before_ticks);
    linearize::keep_at_start(&mut system, &kept, &mut initial.steps);
    let (candidates, positions) = configure::add_candidates(&mut system, &candidates);
    orders.events.extend(positions.iter().cloned().map(Step::Assign));
    initial.steps.extend(positions.into_iter().map(Step::Assign));
    let is_candidate = fixed.is_none() && !candidates.is_empty();
    let mut configuration = is_candidate.then(|| Configuration {
        n_common,
        can_start: true,
        candidates: candidates.clone(),
        ..Default::default()
    });
    if let Some((Fixed { switches, regions, free }, reduced)) = fixed {
        let EntryOrder { steps, mut entry } = sort_entry(model, &mut system, &aliases, &reduced, &switches);
        orders.entry = steps;
        if switches.len() > regions.len() {
            found.extend(index_changes::switches_of_constraints(&system, &reduced));
        }
        if let Some(active) = model.active_states.as_deref() {
            let arrival = sort_machine_entry(&mut system, active, &aliases, &mut diagnostics);
            orders.arrival = arrival.steps;
            linearize::keep_at_entry(&mut system, active, &aliases, &kept, &mut orders.arrival);
            entry.arrivals = arrival.entry.constraints;
        }
        let (doubts, absent) = (configure::doubts(model, &mut system), configure::absent(model, &system));
        let integration = configure::integration(model);
        let index = index_of(&reduced);
        let machines = model.active_states.as_ref().map_or_else(Vec::new, |active| active.machines.clone());
        configuration = Some(Configuration {
            switches,
            candidates,
            n_common,
            index,
            can_start,
            entry,
            regions,
            free,
            machines,
            doubts,
            absent,
            integration,
        });
    }
    let mut switches = found;
    let states = model.active_states.iter().flat_map(|active| &active.states);
    switches.extend(states.map(|state| (state.text.clone(), state.is_active)));
    if !system.families.is_empty() {
        let is_simple = switches.is_empty() && configuration.is_none();
        let kept = is_simple.then(|| keep_families(model, &mut system, &aliases, &mut initial, &mut orders)).flatten();
        kept.ok_or_else(families::not_kept)?;
    }
    initial::warn_of_assumptions(model, &system, &initial.decisions, &mut diagnostics);
    let parameters = parameters::sort_parameters(&mut system, &mut diagnostics);
    check_loops(&system, &orders.events, &mut diagnostics);
    check_loops(&system, &initial.steps, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    initial.homotopy = initial::sort_simplified(&mut system);
    let orders_of_reals = [
        &mut orders.events,
        &mut orders.continuous,
        &mut initial.steps,
        &mut initial.homotopy,
        &mut orders.entry,
        &mut orders.arrival,
    ];
    for steps in orders_of_reals {
        jacobian::build_jacobians(model, &mut system, &mut *steps);
        small_loops::solve_small_loops(&mut system, steps);
    }
    for (_, order) in &mut clocked {
        let mut steps: Vec<&mut Step> = order.steps.iter_mut().chain(&mut order.first).map(|(_, step)| step).collect();
        jacobian::build_jacobians(model, &mut system, steps.iter_mut().map(|step| &mut **step));
        small_loops::solve_small_loops(&mut system, steps);
    }
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
        index,
        switches,
        configuration,
    })
}

/// Puts families among the other steps; `None` if that is not possible.
fn keep_families(
    model: &FlatModel,
    system: &mut System,
    aliases: &Aliases,
    initial: &mut Initial,
    orders: &mut Orders,
) -> Option<()> {
    let families = std::mem::take(&mut system.families);
    if families.are_disturbed(model, system) || families::has_what_needs_scalars(system) {
        return None;
    }
    let lowered = families.lower(model, system, aliases)?;
    families.uncover(system);
    let copies = weave::copies(system, aliases, &lowered.steps);
    let steps: Vec<Step> = weave::steps(lowered.steps).into_iter().chain(copies).collect();
    for order in [&mut orders.events, &mut orders.continuous] {
        *order = weave::weave(system, std::mem::take(order), steps.clone())?;
    }
    let starts = weave::steps(lowered.starts).into_iter().chain(lowered.scalar_starts.into_iter().map(Step::Assign));
    let at_start = starts.chain(steps).collect();
    initial.steps = weave::weave(system, std::mem::take(&mut initial.steps), at_start)?;
    initial.decisions.extend(lowered.decisions);
    // As of scalars: states with a start value first.
    initial.decisions.sort_by_key(|decision| match decision {
        Decision::Fixed { .. } => (0, false, None),
        Decision::Taken { slot, is_given, .. } if system.derivative_of.contains_key(slot) => {
            (1, !is_given, Some(*slot))
        }
        Decision::Taken { .. } => (2, false, None),
        Decision::Surplus { .. } => (3, false, None),
    });
    Some(())
}

impl SortedSystem {
    fn with_warnings(mut self, warnings: Diagnostics) -> SortedSystem {
        self.warnings.extend(warnings);
        self
    }

    /// Variables that are the negative of another, with that one: their slots are written last, for those who look at them.
    pub fn negatives(&self) -> Vec<(SlotId, SlotId)> {
        let of = |slot: SlotId| Some(self.aliases.resolve(slot)).filter(|a| a.is_negated).map(|a| (slot, a.slot));
        self.system.elements.values().flatten().filter_map(|&slot| of(slot)).collect()
    }

    /// The derivatives of all variables of the model that the program computes: of states, of what was a candidate for a state, and
    /// of what equals one of these.
    pub fn derivatives(&self) -> Vec<Derivative> {
        let (system, aliases) = (&self.system, &self.aliases);
        let of = |slot: SlotId| {
            let variable = aliases.resolve(slot);
            let known = system.derivative_of.get(&variable.slot);
            let derivative = aliases.resolve(*known.or_else(|| system.introduced.given_up.get(&variable.slot))?);
            let is_negated = variable.is_negated ^ derivative.is_negated;
            // The negative of another variable has a slot of its own.
            let shown = if variable.is_negated { slot } else { variable.slot };
            Some(Derivative { variable: shown, slot: derivative.slot, is_negated })
        };
        system.elements.values().flatten().filter_map(|&slot| of(slot)).collect()
    }

    /// Whether other start values could have been taken where initial conditions are missing.
    pub fn chooses_starts(&self) -> bool {
        self.initial.has_choice
    }

    /// The program that computes it. `model` must be the one that was sorted.
    pub fn emit(self, model: &FlatModel) -> SimProgram {
        let model = self.rewritten.as_ref().unwrap_or(model);
        let mut program =
            emit::emit(model, self.system, &self.aliases, &self.parameters, &self.initial, &self.orders, &self.clocked);
        program.configuration = self.configuration.map(Box::new);
        crate::emit_variables::add_modes(&mut program);
        program
    }
}

/// Which slot has the derivative of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Derivative {
    /// As in the table of variables.
    pub variable: SlotId,
    pub slot: SlotId,
    pub is_negated: bool,
}

fn size(system: &System) -> (usize, usize) {
    (system.equations.len(), event_unknowns(system).len())
}

/// Later passes rely on what earlier ones have found.
fn stop_on_errors(diagnostics: &mut Diagnostics) -> Result<(), Diagnostics> {
    if diagnostics.has_errors() { Err(std::mem::take(diagnostics)) } else { Ok(()) }
}
