//! Clocked partitions: which sections are evaluated at the ticks of which clock.
//!
//! ```text
//! u = sample(x, Clock(1, 10));         sub-clock 0 ticks at 0, 1/10, …:   u := x; y := 2 * u
//! y = 2 * u;                     ⇒     sub-clock 1 ticks at 0, 3/10, …:   z := y
//! z = subSample(y, 3);
//! ```
//!
//! A base-partition is evaluated at most once in an event, before the other equations: the activities of those sub-clocks
//! that tick, in order. Between ticks clocked variables keep their values. (Specification: chapter 16.)

use saltus_base::Span;
use saltus_clocks::Rational;

use crate::{ModelFunctions, Section, SlotId};

/// Parts of the model that are evaluated at the ticks of clocks.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Clocks {
    pub base_partitions: Vec<BasePartition>,
    /// What their activities refer to.
    pub sections: Vec<Section>,
}

/// Partitions that are executed together because values flow between them without delay.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct BasePartition {
    pub clock: BaseClock,
    pub sub_clocks: Vec<SubClock>,
    /// Sections of sub-clocks in order of computation.
    pub activities: Vec<Activity>,
    /// The same for a sub-clock's first tick, where that is another computation (initial conditions of discretised
    /// equations); otherwise empty.
    pub first_activities: Vec<Activity>,
    /// Number of the last tick of the base-clock (-1 before the first), its time, and the interval to the next one. For
    /// clocks whose intervals are found during the simulation.
    pub base_tick: SlotId,
    pub base_time: SlotId,
    pub base_interval: SlotId,
    pub span: Span,
}

/// In what the ticks of the sub-clocks are counted.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum BaseClock {
    /// Seconds.
    Seconds,
    /// Intervals of the same length, which a parameter holds.
    Period { interval: SlotId },
    /// Intervals that are computed at each tick: the slot's value divided by the resolution.
    Intervals { interval: SlotId, resolution: f64 },
    /// Events at which the condition becomes true.
    Events { condition: SlotId, start_interval: SlotId },
}

/// A clock of a base-partition: ticks number k = 0, 1, … are at `shift + k * interval`.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct SubClock {
    pub shift: Rational,
    pub interval: Rational,
    /// Number of the next tick.
    pub tick: SlotId,
    /// Time of the next tick, infinite while it is not known.
    pub next: SlotId,
    /// Time of the last tick.
    pub last: SlotId,
    /// The value of `interval()`.
    pub interval_value: SlotId,
    /// The value of `firstTick()`.
    pub first_tick: SlotId,
    /// Variables and the slots of their `previous` values.
    pub previous: Vec<(SlotId, SlotId)>,
    /// For messages: `Clock(1, 10)`.
    pub text: String,
    pub span: Span,
}

/// A section (by position in `SimProgram::clocked_sections`) with the sub-clock at whose ticks it is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Activity {
    pub sub_clock: usize,
    pub section: u32,
}

impl BasePartition {
    /// Brings all counters to the start.
    pub fn reset(&self, functions: &mut dyn ModelFunctions, start: f64) {
        functions.set(self.base_tick, -1.0);
        functions.set(self.base_time, start);
        functions.set(self.base_interval, 0.0);
        for sub_clock in &self.sub_clocks {
            functions.set(sub_clock.tick, 0.0);
            functions.set(sub_clock.last, start);
            let next = self.time_of_next(sub_clock, functions, start);
            functions.set(sub_clock.next, next);
        }
    }

    /// When the sub-clock ticks next, as far as that is known.
    pub fn time_of_next(&self, sub_clock: &SubClock, functions: &dyn ModelFunctions, start: f64) -> f64 {
        let Some(phase) = sub_clock.phase(functions) else { return f64::INFINITY };
        match self.clock {
            BaseClock::Seconds => start + phase.to_f64(),
            BaseClock::Period { interval } => start + phase.to_f64() * functions.get(interval),
            BaseClock::Events { .. } => f64::INFINITY,
            BaseClock::Intervals { .. } => {
                let (tick, time) = (functions.get(self.base_tick), functions.get(self.base_time));
                let ahead = phase.checked_sub(Rational::integer(tick as i64)).filter(|a| *a <= Rational::ONE);
                match ahead {
                    // Before the first tick only that one is known.
                    Some(Rational::ONE) if tick < 0.0 => time,
                    Some(ahead) if tick >= 0.0 => time + ahead.to_f64() * functions.get(self.base_interval),
                    _ => f64::INFINITY,
                }
            }
        }
    }
}

impl SubClock {
    /// The next tick, counted in units of the base-clock; `None` beyond all numbers.
    pub fn phase(&self, functions: &dyn ModelFunctions) -> Option<Rational> {
        self.shift.checked_add(self.interval.checked_mul(Rational::integer(functions.get(self.tick) as i64))?)
    }
}
