//! Holds the directional derivatives of a program against differences of it.
//!
//! In: a program and settings of a run. Out: at some accepted points of the run, along a random direction of states, inputs and
//! time each, how far the derivatives of all continuous variables are from extrapolated differences ([`limits`]). Differences
//! see a kink (`noEvent`, `abs`) that lies within their step: where those to both sides have different limits, the derivative
//! must be one of them. Where their own error estimate is too large, nothing is said.

use std::sync::Arc;
use std::time::Duration;

use saltus_base::Index;
use saltus_program::{Activation, DerivativeStatistics, ModelFunctions, SimProgram, SlotId, SlotKind, Status};
use saltus_sim::{Options, SimError, Simulation};

use crate::watchdog::Watchdog;

mod limits;

use limits::{Difference, N_STEPS, Verdict, step};
pub use limits::{Limit, Limits, TOLERANCE};

/// Points of a run that are looked at.
const N_POINTS: u64 = 20;
/// What is left of terms that cancel each other, as a part of the largest derivative.
const ROUNDING: f64 = 1e-11;
/// Relative accuracy of a value: nonlinear loops are solved up to that.
const LOOP_NOISE: f64 = 2e-12;
/// What cancellation may leave in a value, as a part of the largest one of the model.
const CANCELLATION: f64 = 1e-15;
/// How far beside a point a suspicious derivative is looked at again, and its relative change by distance that is not a curvature.
const BESIDE: [f64; 4] = [1e-8, 1e-7, 1e-6, 1e-5];
const STEEP: f64 = 100.0;
/// Part of the time span that counts as one.
const TIME_SCALE: f64 = 0.1;

/// What was found at all points of a run.
#[derive(Clone, Default, Debug)]
pub struct Comparison {
    pub points: u64,
    /// Points on a slide along a threshold: nothing is derived there.
    pub sliding: u64,
    /// Points without directional derivatives, and why at the first of them.
    pub without: u64,
    pub without_because: Option<(Status, f64)>,
    /// Derivatives that were compared, those of them that are the derivatives of one side of a kink (or as uncertain as the
    /// rounding of operands makes them), and those where differences are not to be believed.
    pub compared: u64,
    pub kinks: u64,
    pub unclear: u64,
    /// Largest relative error, with the name of the variable and the time.
    pub worst: f64,
    pub worst_at: Option<(String, f64)>,
    /// Derivatives beyond the tolerance.
    pub wrong: Vec<Entry>,
    pub statistics: DerivativeStatistics,
}

/// A derivative of a variable at a time, and what differences say.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: String,
    pub time: f64,
    pub exact: f64,
    pub limits: Limits,
}

/// Runs a simulation twice: to count its steps, then to compare after some of them. A run that takes longer than the limit, or
/// fails, counts as far as it came. In each configuration its own program is compared; the statistics are those of the first one.
/// `seed` chooses the points and directions.
pub fn compare(begin: &dyn Fn() -> Simulation, limit: Duration, seed: u64) -> Comparison {
    let mut n = 0;
    let _ = each_step(&mut begin(), limit, &mut |_| n += 1_u32);
    let mut numbers = Numbers::new(seed);
    let mut chosen: Vec<u64> = (0..N_POINTS).map(|_| (numbers.next() * f64::from(n)) as u64).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let mut simulation = begin();
    let mut probe = Probe::new(simulation.program(), simulation.options(), numbers);
    let mut number = 0;
    let _ = each_step(&mut simulation, limit, &mut |simulation| {
        if chosen.binary_search(&number).is_ok() && simulation.is_sliding() {
            probe.found.sliding += 1;
        } else if chosen.binary_search(&number).is_ok() {
            let _ = simulation.examine(|functions| probe.look(functions));
        }
        number += 1;
    });
    Comparison { statistics: simulation.into_instance().derivative_statistics(), ..probe.found }
}

/// Runs to the end, with a look after the start and after each step and event.
fn each_step(
    simulation: &mut Simulation,
    limit: Duration,
    look: &mut dyn FnMut(&mut Simulation),
) -> Result<(), SimError> {
    let watchdog = Watchdog::new(limit);
    simulation.initialise()?;
    look(simulation);
    let stop = simulation.options().stop_time;
    while !simulation.is_over() && !watchdog.is_late() {
        simulation.advance(stop)?;
        look(simulation);
    }
    Ok(())
}

/// Numbers in 0 … 1 without pattern, the same in every run.
struct Numbers(u64);

/// Values after a step to the right and to the left.
type Sides = (Vec<f64>, Vec<f64>);

impl Numbers {
    fn new(seed: u64) -> Self {
        // The generator must not begin at zero.
        Numbers(0x2545_f491_4f6c_dd1d ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Compares at points.
struct Probe {
    program: Arc<SimProgram>,
    wanted: Vec<SlotId>,
    /// Inputs by which derivatives are taken.
    inputs: Vec<SlotId>,
    /// What counts as one of time.
    time_scale: f64,
    numbers: Numbers,
    found: Comparison,
}

/// A direction of time, states and inputs.
struct Direction {
    time: f64,
    states: Vec<f64>,
    inputs: Vec<f64>,
}

const SECTIONS: [Activation; 3] = [Activation::Derivatives, Activation::Crossings, Activation::Outputs];

fn eval_all(functions: &mut dyn ModelFunctions) -> bool {
    SECTIONS.into_iter().all(|section| functions.eval(section).is_ok())
}

impl Probe {
    fn new(program: &Arc<SimProgram>, options: &Options, numbers: Numbers) -> Self {
        let mut probe = Probe {
            program: program.clone(),
            wanted: Vec::new(),
            inputs: Vec::new(),
            time_scale: TIME_SCALE * (options.stop_time - options.start_time),
            numbers,
            found: Comparison::default(),
        };
        probe.enter(program);
        probe
    }

    /// Looks at the variables of a program from now on.
    fn enter(&mut self, program: &Arc<SimProgram>) {
        let is_continuous = |slot: SlotId| {
            let kind = program.memory.slots.get(slot).map(|s| s.kind);
            matches!(kind, Some(SlotKind::Algebraic | SlotKind::Derivative))
        };
        let variables = program.variables.iter().map(|v| v.slot).filter(|&slot| is_continuous(slot));
        self.wanted = program.states.iter().map(|s| s.derivative).chain(variables).collect();
        self.wanted.sort_unstable();
        self.wanted.dedup();
        let inputs = program.memory.slots.iter().filter(|(_, s)| s.kind == SlotKind::Input);
        self.inputs = inputs.map(|(id, _)| id).collect();
        self.program = program.clone();
    }

    fn look(&mut self, functions: &mut dyn ModelFunctions) {
        if !Arc::ptr_eq(functions.program(), &self.program) {
            self.enter(&functions.program().clone());
        }
        if eval_all(functions) {
            let base = functions.snapshot();
            self.compare_at(functions, &base);
        }
    }

    /// A random direction, in units of the magnitudes of values.
    fn direction(&mut self, base: &[f64]) -> Direction {
        let mut part = |slot: SlotId, nominal: f64| {
            let value = base.get(slot.index()).copied().unwrap_or(0.0);
            let magnitude = value.abs().max(nominal.abs());
            let unit = if magnitude.is_finite() && magnitude > 0.0 { magnitude } else { 1.0 };
            unit * (2.0 * self.numbers.next() - 1.0)
        };
        let states = self.program.states.iter().map(|s| part(s.value, s.nominal)).collect();
        let inputs = self.inputs.iter().map(|&slot| part(slot, 1.0)).collect();
        Direction { states, inputs, time: self.time_scale * (2.0 * self.numbers.next() - 1.0) }
    }

    fn compare_at(&mut self, functions: &mut dyn ModelFunctions, base: &[f64]) {
        self.found.points += 1;
        let now = base.get(self.program.memory.time.index()).copied().unwrap_or(0.0);
        let direction = self.direction(base);
        let exact = match self.derivatives(functions, &direction) {
            Ok(exact) => exact,
            Err(status) => {
                self.found.without += 1;
                self.found.without_because.get_or_insert((status, now));
                return;
            }
        };
        let limits = self.limits(functions, base, &direction);
        let rounding = rounding(&exact);
        let mut suspect = Vec::new();
        for (i, (&exact, limits)) in exact.iter().zip(&limits).enumerate() {
            if (exact - limits.central.value).abs() <= rounding {
                self.found.compared += 1;
                continue;
            }
            match limits.judge(exact) {
                Verdict::Unclear => self.found.unclear += 1,
                Verdict::Side => self.count_kink(),
                Verdict::Right(relative) => self.count(i, relative, now),
                Verdict::Wrong(relative) => suspect.push((i, relative)),
            }
        }
        if suspect.is_empty() {
            return;
        }
        let beside = self.beside(functions, base, &direction);
        for (i, relative) in suspect {
            let limit = limits[i].central.value;
            if beside.iter().any(|(h, beside)| jumps(exact[i], beside[i], limit, *h)) {
                self.count_kink();
                continue;
            }
            self.count(i, relative, now);
            let name = self.program.memory.slot_name(self.wanted[i]).into_owned();
            self.found.wrong.push(Entry { name, time: now, exact: exact[i], limits: limits[i] });
        }
        functions.restore(base);
    }

    fn count_kink(&mut self) {
        self.found.kinks += 1;
        self.found.compared += 1;
    }

    fn count(&mut self, i: usize, relative: f64, time: f64) {
        self.found.compared += 1;
        if relative > self.found.worst {
            self.found.worst = relative;
            self.found.worst_at = Some((self.program.memory.slot_name(self.wanted[i]).into_owned(), time));
        }
    }

    /// Derivatives along a direction at the present point.
    fn derivatives(&self, functions: &mut dyn ModelFunctions, direction: &Direction) -> Result<Vec<f64>, Status> {
        let states = self.program.states.iter().map(|s| s.value).zip(direction.states.iter().copied());
        let inputs = self.inputs.iter().copied().zip(direction.inputs.iter().copied());
        let seeds: Vec<(SlotId, f64)> =
            states.chain(inputs).chain([(self.program.memory.time, direction.time)]).collect();
        let mut exact = vec![0.0; self.wanted.len()];
        let mut status = functions.linearise(&self.wanted);
        if status.is_ok() {
            status = functions.directional(&seeds, &mut exact);
        }
        if status.is_ok() { Ok(exact) } else { Err(status) }
    }

    /// What differences about a point say of each wanted value.
    fn limits(&self, functions: &mut dyn ModelFunctions, base: &[f64], direction: &Direction) -> Vec<Limits> {
        let mut moved = |h: f64| self.moved(functions, base, direction, h);
        let sides: Vec<Option<Sides>> = (0..N_STEPS).map(|k| Some((moved(step(k))?, moved(-step(k))?))).collect();
        let value = |slot: SlotId| base.get(slot.index()).copied().unwrap_or(0.0);
        let largest = self.wanted.iter().fold(0.0_f64, |most, &slot| most.max(value(slot).abs()));
        let limits = self.wanted.iter().enumerate().map(|(i, &slot)| {
            let here = value(slot);
            let quotient = |(k, both): (usize, &Option<Sides>)| {
                both.as_ref().map(|(after, before)| Difference::new(after[i], here, before[i], step(k)))
            };
            let column: Vec<Option<Difference>> = sides.iter().enumerate().map(quotient).collect();
            Limits::of(&column, LOOP_NOISE * here.abs() + CANCELLATION * largest)
        });
        limits.collect()
    }

    /// Derivatives at points close by on the direction, with their distances.
    fn beside(&self, functions: &mut dyn ModelFunctions, base: &[f64], direction: &Direction) -> Vec<(f64, Vec<f64>)> {
        let mut at = |h: f64| {
            self.moved(functions, base, direction, h)?;
            Some((h.abs(), self.derivatives(functions, direction).ok()?))
        };
        BESIDE.into_iter().flat_map(|h| [h, -h]).filter_map(&mut at).collect()
    }

    /// The wanted values at a point of the direction.
    fn moved(
        &self,
        functions: &mut dyn ModelFunctions,
        base: &[f64],
        direction: &Direction,
        h: f64,
    ) -> Option<Vec<f64>> {
        functions.restore(base);
        let value = |slot: SlotId| base.get(slot.index()).copied().unwrap_or(0.0);
        let states = self.program.states.iter().zip(&direction.states);
        let x: Vec<f64> = states.map(|(state, part)| value(state.value) + h * part).collect();
        functions.set_continuous(value(self.program.memory.time) + h * direction.time, &x);
        for (&slot, part) in self.inputs.iter().zip(&direction.inputs) {
            let present = functions.get(slot);
            functions.set(slot, present + h * part);
        }
        eval_all(functions).then(|| self.wanted.iter().map(|&slot| functions.get(slot)).collect())
    }
}

/// Does a derivative change between two points so suddenly, and so far, that what differences found lies between? Then the
/// points are on two sides of a kink, or the derivative depends on the rounding of its operands (flow through a closed pipe,
/// `if m_flow > 0`). Where it is computed by a wrong rule, it is as wrong at a point close by.
fn jumps(here: f64, beside: f64, limit: f64, h: f64) -> bool {
    let size = here.abs().max(beside.abs()).max(limit.abs());
    let (least, most) = (here.min(beside), here.max(beside));
    let is_between = limit >= least - TOLERANCE * size && limit <= most + TOLERANCE * size;
    is_between && most - least > STEEP * h * size
}

/// How large zero may be among derivatives.
fn rounding(derivatives: &[f64]) -> f64 {
    ROUNDING * derivatives.iter().fold(0.0_f64, |most, d| most.max(d.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derivative_that_is_wrong_close_by_as_well_is_no_jump() {
        // 2 % off here and there; right there; curvature of a function with f''/f' = 10
        assert!(!jumps(1.02, 1.02, 1.0, 1e-8));
        assert!(jumps(1.02, 1.0, 1.0, 1e-8));
        assert!(!jumps(1.00001, 1.0, 1.000002, 1e-6));
    }
}
