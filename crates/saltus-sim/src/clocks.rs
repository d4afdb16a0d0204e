//! Ticks of clocks: which clocked partitions are evaluated at an event, each once and before everything else.
//!
//! In: memory with the left limits. Out: the same with new values of the clocked variables whose clocks tick. Periodic and
//! interval clocks tick in the first round of an event; an event clock ticks after the round in which its condition has
//! become true, on the values of that round, and another round follows. (Specification: sections 16.3, 16.5.1 and 16.10.)

use saltus_clocks::Rational;
use saltus_program::{Activation, Activity, BaseClock, BasePartition, ModelFunctions, SimProgram, SubClock};

use crate::error::{Failure, SimErrorKind};
use crate::event::eval;

/// Brings all clocks to the start of the simulation.
pub(crate) fn reset(program: &SimProgram, functions: &mut dyn ModelFunctions, t: f64) -> Result<(), Failure> {
    for partition in &program.clocks.base_partitions {
        if let BaseClock::Period { interval } = partition.clock {
            check_interval(partition, functions.get(interval), t)?;
        }
        partition.reset(functions, t);
    }
    Ok(())
}

fn check_interval(partition: &BasePartition, interval: f64, t: f64) -> Result<(), Failure> {
    if interval > 0.0 && interval.is_finite() && t + interval > t {
        return Ok(());
    }
    Err(Failure::new(t, SimErrorKind::BadClock { interval }).at(partition.span))
}

/// Evaluates the partitions with a clock that is due at `t`.
pub(crate) fn tick_timed(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    start: f64,
    t: f64,
) -> Result<(), Failure> {
    for partition in &program.clocks.base_partitions {
        if partition.sub_clocks.iter().all(|c| functions.get(c.next) > t) {
            continue;
        }
        let active: Vec<bool> = partition.sub_clocks.iter().map(|c| functions.get(c.next) <= t).collect();
        execute(partition, functions, &active, t)?;
        schedule(partition, functions, &active, start, t)?;
    }
    Ok(())
}

/// The conditions of event clocks before a round; before the first one of all they are false.
pub(crate) fn conditions(program: &SimProgram, functions: &dyn ModelFunctions, is_start: bool) -> Vec<bool> {
    let conditions = program.clocks.base_partitions.iter().filter_map(condition);
    conditions.map(|slot| !is_start && functions.get(slot) != 0.0).collect()
}

fn condition(partition: &BasePartition) -> Option<saltus_program::SlotId> {
    match partition.clock {
        BaseClock::Events { condition, .. } => Some(condition),
        _ => None,
    }
}

/// Evaluates the partitions of event clocks whose condition has become true in this round; true if there are any.
pub(crate) fn tick_risen(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    t: f64,
    before: &[bool],
) -> Result<bool, Failure> {
    let mut any = false;
    let partitions = program.clocks.base_partitions.iter().filter_map(|p| condition(p).map(|slot| (p, slot)));
    for ((partition, slot), &was_true) in partitions.zip(before) {
        if was_true || functions.get(slot) == 0.0 {
            continue;
        }
        any = true;
        let tick = functions.get(partition.base_tick) + 1.0;
        functions.set(partition.base_tick, tick);
        let now = Rational::integer(tick as i64);
        let active: Vec<bool> = partition.sub_clocks.iter().map(|c| c.phase(functions) == Some(now)).collect();
        execute(partition, functions, &active, t)?;
    }
    Ok(any)
}

/// Evaluates the sub-partitions that are active at `t`.
fn execute(
    partition: &BasePartition,
    functions: &mut dyn ModelFunctions,
    active: &[bool],
    t: f64,
) -> Result<(), Failure> {
    let of_active = || partition.sub_clocks.iter().zip(active).filter(|(_, active)| **active).map(|(c, _)| c);
    for clock in of_active() {
        let interval = interval(partition, clock, functions, t);
        let is_first = functions.get(clock.tick) == 0.0;
        functions.set(clock.interval_value, interval);
        functions.set(clock.first_tick, f64::from(u8::from(is_first)));
    }
    let has_own_start = !partition.first_activities.is_empty();
    let is_first = |functions: &dyn ModelFunctions, k: usize| {
        has_own_start && partition.sub_clocks.get(k).is_some_and(|c| functions.get(c.tick) == 0.0)
    };
    let starting: Vec<bool> = (0..active.len()).map(|k| active[k] && is_first(functions, k)).collect();
    let going: Vec<bool> = active.iter().zip(&starting).map(|(&active, &starting)| active && !starting).collect();
    // Where some start and others go on, the two orders are not sorted among each other: evaluating them again brings
    // values across, and changes nothing else.
    let is_mixed = starting.contains(&true) && going.contains(&true);
    let n_passes = if is_mixed { partition.sub_clocks.len() } else { 1 };
    for _ in 0..n_passes {
        run(functions, &partition.first_activities, &starting, t)?;
        run(functions, &partition.activities, &going, t)?;
    }
    for clock in of_active() {
        for &(variable, previous) in &clock.previous {
            let value = functions.get(variable);
            functions.set(previous, value);
        }
        let tick = functions.get(clock.tick);
        functions.set(clock.tick, tick + 1.0);
        functions.set(clock.last, t);
    }
    functions.accept();
    Ok(())
}

fn run(functions: &mut dyn ModelFunctions, activities: &[Activity], wanted: &[bool], t: f64) -> Result<(), Failure> {
    for activity in activities.iter().filter(|a| wanted.get(a.sub_clock) == Some(&true)) {
        eval(functions, t, Activation::Clocked(activity.section))?;
    }
    Ok(())
}

/// The value of `interval()` at a tick.
fn interval(partition: &BasePartition, clock: &SubClock, functions: &dyn ModelFunctions, t: f64) -> f64 {
    let is_first = functions.get(clock.tick) == 0.0;
    let elapsed = t - functions.get(clock.last);
    let length = clock.interval.to_f64();
    match partition.clock {
        BaseClock::Seconds => length,
        BaseClock::Period { interval } => length * functions.get(interval),
        // Before the partition is evaluated the variable has its previous value.
        BaseClock::Intervals { interval, resolution } if is_first => length * functions.get(interval) / resolution,
        BaseClock::Intervals { .. } if clock.interval == Rational::ONE && clock.shift.is_integer() => {
            functions.get(partition.base_interval)
        }
        BaseClock::Events { start_interval, .. } if is_first => functions.get(start_interval),
        BaseClock::Intervals { .. } | BaseClock::Events { .. } => elapsed,
    }
}

/// When the clocks of a partition tick next.
fn schedule(
    partition: &BasePartition,
    functions: &mut dyn ModelFunctions,
    active: &[bool],
    start: f64,
    t: f64,
) -> Result<(), Failure> {
    if let BaseClock::Intervals { interval, resolution } = partition.clock {
        let tick = functions.get(partition.base_tick) + 1.0;
        // The clock itself, not one that ticks between its ticks.
        let is_tick = |c: &SubClock| {
            c.interval == Rational::ONE && c.shift == Rational::ZERO && functions.get(c.tick) == tick + 1.0
        };
        if partition.sub_clocks.iter().zip(active).any(|(c, active)| *active && is_tick(c)) {
            let length = functions.get(interval) / resolution;
            check_interval(partition, length, t)?;
            functions.set(partition.base_tick, tick);
            functions.set(partition.base_time, t);
            functions.set(partition.base_interval, length);
        }
    }
    for clock in &partition.sub_clocks {
        let next = partition.time_of_next(clock, functions, start);
        if next <= t {
            return Err(Failure::new(t, SimErrorKind::BadClock { interval: clock.interval.to_f64() }).at(clock.span));
        }
        functions.set(clock.next, next);
    }
    Ok(())
}
