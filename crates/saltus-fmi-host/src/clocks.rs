//! The clocks of an instance of FMI 3.0: when the time-based ones tick next, and how often output clocks have ticked.
//!
//! ```text
//! constant, fixed, tunable   start + shift + k · interval
//! changing                   the interval is asked for after each tick
//! countdown                  the interval is asked for after each event; without a new one there is no tick
//! triggered                  whoever uses the component says when
//! ```
//!
//! Clocks that tick at one time do so by priority; the smallest number is the first. Specification: FMI 3.0, section 2.2.9.

use saltus_fmi::{Causality, IntervalVariability, ModelDescription, Type};
use serde::{Deserialize, Serialize};

use crate::error::HostResult;
use crate::instance::{Instance, Interval};

/// Smallest part of an interval by which ticks must differ to be two.
const SAME_TICK: f64 = 1e-9;

#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Clocks {
    timed: Vec<Timed>,
    /// Output clocks by index of variable, with their ticks so far.
    outputs: Vec<(usize, i64)>,
    /// Priorities of all input clocks by index of variable.
    priorities: Vec<(usize, u32)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timed {
    variable: usize,
    is_periodic: bool,
    /// The interval is part of the description.
    is_known: bool,
    /// A new interval may come at every event, not only after a tick.
    is_countdown: bool,
    shift: f64,
    interval: f64,
    /// First tick of the present interval, and ticks since then.
    from: f64,
    n: u64,
    next: f64,
}

impl Clocks {
    pub fn new(model: &ModelDescription) -> Clocks {
        use IntervalVariability as I;
        let mut clocks = Clocks::default();
        for (variable, v) in model.variables.iter().enumerate() {
            let declared = v.declared_type.as_deref().and_then(|name| model.type_definition(name));
            let Some(clock) = v.clock.as_ref().or(declared.and_then(|d| d.clock.as_ref())) else { continue };
            if v.kind != Type::Clock {
                continue;
            }
            if v.causality != Causality::Input {
                clocks.outputs.push((variable, 0));
                continue;
            }
            clocks.priorities.push((variable, clock.priority.unwrap_or(u32::MAX)));
            if clock.interval == I::Triggered {
                continue;
            }
            let per_second = clock.resolution.map(|r| r as f64);
            let counted = clock.interval_counter.zip(per_second).map(|(n, r)| n as f64 / r);
            let interval = clock.interval_decimal.or(counted);
            let shift = match per_second {
                Some(r) if clock.shift_counter > 0 => clock.shift_counter as f64 / r,
                _ => clock.shift_decimal,
            };
            clocks.timed.push(Timed {
                variable,
                is_periodic: matches!(clock.interval, I::Constant | I::Fixed | I::Tunable),
                is_known: interval.is_some(),
                is_countdown: clock.interval == I::Countdown,
                shift,
                interval: interval.unwrap_or(f64::INFINITY),
                from: 0.0,
                n: 0,
                next: f64::INFINITY,
            });
        }
        clocks
    }

    /// At the end of the initialisation: when clocks tick for the first time.
    pub fn begin(&mut self, instance: &mut Instance, start: f64) -> HostResult {
        for clock in &mut self.timed {
            if !clock.is_known && clock.is_periodic {
                (clock.interval, _) = instance.interval(clock.variable)?;
                clock.shift = instance.shift(clock.variable)?;
            }
            if clock.is_periodic {
                clock.from = start + clock.shift;
                (clock.n, clock.next) = (0, clock.from);
            } else {
                clock.ask(instance, start)?;
            }
        }
        Ok(())
    }

    /// Input clocks that tick now, in the order of their priorities.
    pub fn due(&self, time: f64, triggered: &[usize]) -> Vec<usize> {
        let is_due = |variable: usize| {
            let timed = self.timed.iter().find(|clock| clock.variable == variable);
            triggered.contains(&variable) || timed.is_some_and(|clock| clock.is_due(time))
        };
        let mut due: Vec<(u32, usize)> =
            self.priorities.iter().filter(|(v, _)| is_due(*v)).map(|&(v, priority)| (priority, v)).collect();
        due.sort();
        due.into_iter().map(|(_, variable)| variable).collect()
    }

    /// A clock has ticked: when it does so next.
    pub fn ticked(&mut self, instance: &mut Instance, variable: usize, time: f64) -> HostResult {
        let Some(clock) = self.timed.iter_mut().find(|clock| clock.variable == variable) else { return Ok(()) };
        clock.next = f64::INFINITY;
        if clock.is_periodic {
            clock.n += 1;
            clock.next = clock.from + clock.n as f64 * clock.interval;
        } else if !clock.is_countdown {
            clock.ask(instance, time)?;
        }
        Ok(())
    }

    /// After an event or an activation: countdowns that have begun, and output clocks that have ticked.
    pub fn look(&mut self, instance: &mut Instance, time: f64) -> HostResult {
        for clock in self.timed.iter_mut().filter(|clock| clock.is_countdown) {
            clock.ask(instance, time)?;
        }
        self.count(instance)
    }

    /// Output clocks that have ticked.
    pub fn count(&mut self, instance: &mut Instance) -> HostResult {
        for (variable, n) in &mut self.outputs {
            *n += i64::from(instance.has_ticked(*variable)?);
        }
        Ok(())
    }

    /// When the next tick is due.
    pub fn next(&self) -> f64 {
        self.timed.iter().map(|clock| clock.next).fold(f64::INFINITY, f64::min)
    }

    /// How often an output clock has ticked.
    pub fn ticks(&self, variable: usize) -> Option<i64> {
        self.outputs.iter().find(|(v, _)| *v == variable).map(|(_, n)| *n)
    }
}

impl Timed {
    fn is_due(&self, time: f64) -> bool {
        self.next <= time + SAME_TICK * if self.interval.is_finite() { self.interval } else { 0.0 }
    }

    /// A new interval from now on, if there is one.
    fn ask(&mut self, instance: &mut Instance, time: f64) -> HostResult {
        let (interval, what) = instance.interval(self.variable)?;
        match what {
            Interval::Changed => self.next = time + interval,
            Interval::Unchanged if !self.is_countdown => self.next = time + interval,
            Interval::Unchanged | Interval::NotYetKnown => {}
        }
        Ok(())
    }
}
