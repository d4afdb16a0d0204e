//! Initialisation and event iteration: evaluate in rounds until nothing changes.
//!
//! In: a model whose memory holds the left limits. Out: the same memory with the right limits. First due clocked
//! partitions are evaluated, on left limits ([`clocks`]). First round only: samples are true. Each round: relations literal, all equations in event order, pending `reinit`s, `pre := value`. (Specification:
//! section 8.6 and appendix B.)

use saltus_base::{Index, Span};
use saltus_program::{
    Activation, Block, Details, EvalFailure, Held, ModelFunctions, Moment, Relation, RelationId, Round, Sample,
    SimProgram, SlotId, Status, blame, read,
};

use crate::Options;
use crate::clocks;
use crate::constants::{
    INITIAL_CONTRADICTION, MOST_FLIPS, MOST_INITIAL_ROUNDS, MOST_PROVISIONAL_ROUNDS, SMALLEST_HOMOTOPY_STEP,
    TIME_EVENT_ULPS,
};
use crate::cycle::Cycle;
use crate::error::{Failure, SimErrorKind};
use crate::model::Model;
use crate::selection::Selection;

/// Fails at an accepted point.
pub(crate) fn check(
    functions: &dyn ModelFunctions,
    t: f64,
    status: Status,
    activation: Activation,
) -> Result<(), Failure> {
    if status.is_ok() {
        return Ok(());
    }
    let during = match activation {
        Activation::Parameters => "when parameters are computed",
        Activation::Guesses | Activation::Initial => "in the initial system",
        Activation::Homotopy => "in the simplified initial system",
        Activation::Events => "at an event",
        Activation::Entry | Activation::Arrival => "where another configuration is entered",
        Activation::Clocked(_) => "at a clock tick",
        Activation::Derivatives | Activation::Crossings | Activation::Outputs | Activation::Selection => {
            "during integration"
        }
    };
    Err(failure_of(functions, t, status, activation, during))
}

/// The failure that a status stands for, with the equation it comes from.
pub(crate) fn failure_of(
    functions: &dyn ModelFunctions,
    t: f64,
    status: Status,
    activation: Activation,
    during: &'static str,
) -> Failure {
    let Status::NotANumber(slot) = status else {
        let unknown = || EvalFailure::new("an evaluation failed", Span::nowhere());
        let EvalFailure { message, span, details, is_unsolved } = functions.last_failure().unwrap_or_else(unknown);
        let kind = SimErrorKind::CannotEvaluate { message, during, is_unsolved };
        return Failure::new(t, kind).at(span).with(details);
    };
    not_a_number(functions.program(), functions.memory(), functions.blocks(activation), slot, t, during)
}

/// A variable without a finite value, and what made it so if the memory tells.
pub(crate) fn not_a_number(
    program: &SimProgram,
    memory: &[f64],
    blocks: &[Block],
    slot: SlotId,
    t: f64,
    during: &'static str,
) -> Failure {
    let variable = program.memory.slot_name(slot).into_owned();
    let Some(blame) = blame(program, memory, blocks.iter(), slot) else {
        let block = blocks.iter().find(|b| b.stores(slot));
        let span = block.map_or(Span::nowhere(), Block::span);
        return Failure::new(t, SimErrorKind::NotANumber { variable, during, why: None }).at(span);
    };
    let notes = match blame.values(program, memory) {
        values if values.is_empty() => Vec::new(),
        values => vec![values.join(", ")],
    };
    let is_subscript = blame.is_subscript;
    let kind = SimErrorKind::NotANumber { variable, during, why: Some(blame.what) };
    let failure = Failure::new(t, kind).at(blame.span).with(Details { labels: Vec::new(), notes });
    Failure { is_subscript, ..failure }
}

pub(crate) fn eval(functions: &mut dyn ModelFunctions, t: f64, activation: Activation) -> Result<(), Failure> {
    let status = functions.eval(activation);
    check(functions, t, status, activation)
}

/// All continuous variables at the present time and states, relations frozen.
pub(crate) fn eval_continuous(functions: &mut dyn ModelFunctions, t: f64) -> Result<(), Failure> {
    for activation in [Activation::Derivatives, Activation::Crossings, Activation::Outputs] {
        eval(functions, t, activation)?;
    }
    Ok(())
}

/// A delay outside of the limits that it has.
pub(crate) fn bad_delay(functions: &Model, t: f64) -> Option<Failure> {
    let (delay, most, span) = functions.bad_delay()?;
    Some(Failure::new(t, SimErrorKind::BadDelay { delay, most }).at(span))
}

/// Solves the initial system and settles the first event.
pub(crate) fn initialise(program: &SimProgram, functions: &mut Model, options: &Options) -> Result<Settled, Failure> {
    let t = options.start_time;
    functions.set(program.memory.time, t);
    functions.set(program.memory.initial, 1.0);
    functions.set(program.memory.terminal, 0.0);
    eval(functions, t, Activation::Parameters)?;
    // The start values of inputs are among the parameters.
    functions.begin_inputs(t);
    program.events.samples.iter().for_each(|sample| functions.set(sample.active, 0.0));
    clocks::reset(program, functions, t)?;
    solve_initial(program, functions, t)?;
    begin_samples(program, functions, t)?;
    let status = functions.commit();
    check(functions, t, status, Activation::Initial)?;
    functions.show(Moment::Initial);
    check_surplus(program, functions, t)?;
    // A `when initial()` is not active any more in the first event.
    let terminated = program.events.terminations.iter().position(|t| functions.get(t.active) != 0.0);
    if let Some(failure) = bad_delay(functions, t) {
        return Err(failure);
    }
    functions.begin_histories(t);
    functions.update_pre();
    functions.accept();
    functions.set(program.memory.initial, 0.0);
    Selection::new(functions.program().clone()).begin(functions, t)?;
    functions.show(Moment::Before);
    let settled = settle(program, functions, options, t)?;
    Ok(Settled { termination: terminated.or(settled.termination), ..settled })
}

/// Finds the first tick of each sample, once the initial system has said where it starts: that may be a parameter with
/// `fixed = false`.
fn begin_samples(program: &SimProgram, functions: &mut dyn ModelFunctions, t: f64) -> Result<(), Failure> {
    for sample in &program.events.samples {
        let (start, interval) = (functions.get(sample.start), functions.get(sample.interval));
        if !(interval > 0.0 && interval.is_finite() && start.is_finite()) {
            return Err(Failure::new(t, SimErrorKind::BadSample { interval }).at(sample.span));
        }
        functions.set(sample.tick, ((t - start) / interval).ceil().max(0.0));
    }
    Ok(())
}

/// Initial conditions that were not needed must hold all the same.
fn check_surplus(program: &SimProgram, functions: &dyn ModelFunctions, t: f64) -> Result<(), Failure> {
    for check in &program.events.initial_checks {
        let (left, right) = (functions.get(check.left), functions.get(check.right));
        let size = left.abs().max(right.abs()).max(1.0);
        let holds = (left - right).abs() <= INITIAL_CONTRADICTION * size;
        if !holds {
            let condition = check.text.clone();
            let kind = SimErrorKind::InitialContradiction { condition, left, right };
            return Err(Failure::new(t, kind).at(check.span));
        }
    }
    Ok(())
}

/// Solves the initial system from the start values, or, where the model has simplified equations, from a solution of these
/// (specification, section 3.7.4.4).
fn solve_initial(program: &SimProgram, functions: &mut dyn ModelFunctions, t: f64) -> Result<(), Failure> {
    let is_usable = !program.sections.homotopy.blocks.is_empty();
    let from_start_values = &[Activation::Guesses, Activation::Initial];
    let Some(lambda) = program.memory.homotopy().filter(|_| is_usable) else {
        return iterate_initial(program, functions, t, from_start_values);
    };
    eval(functions, t, Activation::Guesses)?;
    let followed = follow_homotopy(program, functions, t, lambda);
    if followed.is_ok() && iterate_initial(program, functions, t, &[Activation::Initial]).is_ok() {
        return Ok(());
    }
    functions.reject();
    let solved = iterate_initial(program, functions, t, from_start_values);
    solved.map_err(|failure| failure.after_homotopy(followed.err().flatten()))
}

/// The initial system with `pre(v) = v`: evaluated until the `pre` values it uses are those it computes.
fn iterate_initial(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    t: f64,
    activations: &[Activation],
) -> Result<(), Failure> {
    let blocks = activations.iter().flat_map(|&activation| functions.blocks(activation));
    let mut is_loaded = vec![false; program.memory.slots.len()];
    for slot in blocks.filter(|_| !program.memory.pre.is_empty()).flat_map(Block::loads) {
        if let Some(is_loaded) = is_loaded.get_mut(slot.index()) {
            *is_loaded = true;
        }
    }
    let is_used = |(_, pre): &&(SlotId, SlotId)| is_loaded.get(pre.index()) == Some(&true);
    let used: Vec<_> = program.memory.pre.iter().filter(is_used).copied().collect();
    for _ in 0..MOST_INITIAL_ROUNDS {
        activations.iter().try_for_each(|&activation| eval(functions, t, activation))?;
        let mut changed = false;
        for &(variable, pre) in &used {
            let value = functions.get(variable);
            changed |= functions.get(pre) != value;
            functions.set(pre, value);
        }
        if !changed {
            break;
        }
    }
    Ok(())
}

/// From the simplified initial system (λ = 0) to the actual one (λ = 1), each solution being the start of the next; in one step
/// if that is possible. On failure the largest λ for which there was a solution.
fn follow_homotopy(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    t: f64,
    lambda: SlotId,
) -> Result<(), Option<f64>> {
    functions.set(lambda, 0.0);
    if iterate_initial(program, functions, t, &[Activation::Homotopy]).is_err() {
        functions.set(lambda, 1.0);
        return Err(None);
    }
    functions.accept();
    let (mut reached, mut step) = (0.0f64, 1.0);
    while reached < 1.0 {
        let before = functions.snapshot();
        let next = (reached + step).min(1.0);
        functions.set(lambda, next);
        if iterate_initial(program, functions, t, &[Activation::Homotopy]).is_ok() {
            functions.accept();
            reached = next;
            step *= 2.0;
        } else {
            functions.restore(&before);
            step *= 0.25;
            if step < SMALLEST_HOMOTOPY_STEP {
                functions.set(lambda, 1.0);
                return Err(Some(reached));
            }
        }
    }
    Ok(())
}

/// What an event did.
pub(crate) struct Settled {
    pub rounds: usize,
    /// The position of an active `terminate`.
    pub termination: Option<usize>,
    pub flips: Flips,
}

/// Relations that changed, round by round: the number of the round, the relation, its value from then on.
pub(crate) type Flips = Vec<(usize, RelationId, bool)>;

/// Event rounds at time `t` until nothing changes.
pub(crate) fn settle(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    options: &Options,
    t: f64,
) -> Result<Settled, Failure> {
    clocks::tick_timed(program, functions, options.start_time, t)?;
    let ticked = activate_samples(program, functions, t);
    let holds = |memory: &[f64], r: &Relation| read(memory, r.memory) != 0.0;
    let memory = functions.memory();
    let mut known: Vec<bool> = program.events.relations.values().map(|r| holds(memory, r)).collect();
    let mut flips = Flips::new();
    let mut termination = None;
    let mut last = Round::default();
    let mut n_provisional = 0;
    let mut cycle = Cycle::default();
    for round in 1..=options.max_event_rounds.max(2) {
        // At the start a condition that holds has become true (the delayed `pre` of it is its start value, false).
        let is_start = round == 1 && t == options.start_time;
        let conditions = clocks::conditions(program, functions, is_start);
        last = match functions.event_round() {
            Ok(round) => round,
            Err(status) => {
                check(functions, t, status, Activation::Events)?;
                Round::default()
            }
        };
        n_provisional += u32::from(functions.is_provisional());
        if n_provisional > MOST_PROVISIONAL_ROUNDS {
            check(functions, t, Status::Failed, Activation::Events)?;
        }
        let memory = functions.memory();
        for ((id, relation), known) in program.events.relations.iter().zip(&mut known) {
            let value = holds(memory, relation);
            if value != *known && flips.len() < MOST_FLIPS {
                flips.push((round, id, value));
            }
            *known = value;
        }
        if !program.state_sets.is_empty() && !last.reinitialised.is_empty() {
            Selection::new(functions.program().clone()).reinitialise(functions, &last.reinitialised);
        }
        if termination.is_none() {
            termination = last.terminations.first().copied();
        }
        // Samples are true in the first round only, so a second one follows.
        let samples_end = round == 1 && ticked;
        if samples_end {
            program.events.samples.iter().for_each(|s| functions.set(s.active, 0.0));
        }
        // A clock that ticks because of this round is followed by another one.
        let clocks_tick = clocks::tick_risen(program, functions, t, &conditions)?;
        if last.is_settled() && !samples_end && !clocks_tick {
            functions.update_pre();
            eval_continuous(functions, t)?;
            functions.accept();
            return Ok(Settled { rounds: round, termination, flips });
        }
        if let Some(changing) = cycle.look(program, functions.memory(), round, &last) {
            return Err(does_not_settle(program, t, round, true, changing));
        }
    }
    let changing = last.changed.iter().chain(&last.reinitialised);
    Err(does_not_settle(program, t, options.max_event_rounds, false, changing))
}

fn does_not_settle<'a>(
    program: &SimProgram,
    t: f64,
    rounds: usize,
    is_cycle: bool,
    changing: impl IntoIterator<Item = &'a SlotId>,
) -> Failure {
    let mut changing: Vec<String> = changing.into_iter().map(|&s| program.memory.slot_name(s).into_owned()).collect();
    changing.sort();
    Failure::new(t, SimErrorKind::EventDoesNotSettle { rounds, is_cycle, changing })
}

/// The same with these relations held. Where that contradicts the rest they are as their equations say, rounding or not.
pub(crate) fn settle_held(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    options: &Options,
    t: f64,
    held: &[Held],
) -> Result<Settled, Failure> {
    let before = if held.is_empty() { Vec::new() } else { functions.snapshot() };
    functions.hold(held);
    let settled = settle(program, functions, options, t);
    functions.hold(&[]);
    let is_unsettled = |f: &Failure| matches!(f.kind, SimErrorKind::EventDoesNotSettle { .. });
    if held.is_empty() || !settled.as_ref().is_err_and(is_unsettled) {
        return settled;
    }
    functions.restore(&before);
    settle(program, functions, options, t)
}

/// Does the model look at `terminal()`?
pub(crate) fn asks_for_terminal(program: &SimProgram) -> bool {
    program.sections.events.reads(program.memory.terminal)
}

/// Sets the samples that tick at `t`; true if there are any.
fn activate_samples(program: &SimProgram, functions: &mut dyn ModelFunctions, t: f64) -> bool {
    let mut any = false;
    for sample in &program.events.samples {
        any |= activate_sample(sample, functions, t);
    }
    any
}

/// Activates a sample if it is due at `t`; its next tick is after that.
pub(crate) fn activate_sample(sample: &Sample, functions: &mut dyn ModelFunctions, t: f64) -> bool {
    let (start, interval, tick) =
        (functions.get(sample.start), functions.get(sample.interval), functions.get(sample.tick));
    if start + tick * interval > t {
        return false;
    }
    functions.set(sample.active, 1.0);
    // The next tick after t; intervals below the resolution of time skip ticks.
    let mut next = ((t - start) / interval).floor().max(tick) + 1.0;
    if start + (next - 1.0) * interval > t {
        next -= 1.0;
    }
    functions.set(sample.tick, next.max(tick + 1.0));
    true
}

/// Time events up to here are at the same time as one at `t`.
pub(crate) fn reach(t: f64) -> f64 {
    t + TIME_EVENT_ULPS * (t.abs().next_up() - t.abs())
}

/// The time of the next time event after `t`: keys that practically coincide are one event at the latest of them.
pub(crate) fn next_time_event(functions: &dyn ModelFunctions, t: f64) -> f64 {
    let first = functions.next_time_event(t);
    if first == f64::INFINITY {
        return first;
    }
    let reach = reach(first);
    let mut latest = first;
    loop {
        let next = functions.next_time_event(latest);
        // The largest number is a usual way to say never: nothing comes after it.
        if next > reach || next == f64::INFINITY {
            return latest;
        }
        latest = next;
    }
}
