//! Holds the directional derivatives of a program against differences of it.
//!
//! In: a program and settings of a run. Out: at some accepted points of the run, along a random direction of states, inputs and
//! time each, how far the derivatives of all continuous variables are from extrapolated central differences. Differences see
//! a kink (`noEvent`, `abs`) that lies within their step; where their own error estimate is too large, or where differences to
//! both sides are not the same, nothing is said.

use std::sync::Arc;
use std::time::{Duration, Instant};

use saltus_base::Index;
use saltus_program::{Activation, DerivativeStatistics, ModelFunctions, SimProgram, SlotId, SlotKind, Status};
use saltus_sim::{Options, SimError, Simulation};

/// Points of a run that are looked at.
const N_POINTS: u64 = 20;
/// The largest relative step of differences, and how often it is halved.
const LARGEST_STEP: f64 = 1e-2;
const N_STEPS: usize = 11;
/// Relative error of a derivative that counts as exact.
pub const TOLERANCE: f64 = 1e-6;
/// Of differences only those are believed that seem to be this good.
const BELIEVED: f64 = 1e-7;
/// What is left of terms that cancel each other, as a part of the largest derivative.
const ROUNDING: f64 = 1e-11;
/// Relative accuracy of a value: nonlinear loops are solved up to that.
const LOOP_NOISE: f64 = 2e-12;
/// What cancellation may leave in a value, as a part of the largest one of the model.
const CANCELLATION: f64 = 1e-15;
/// Differences to both sides that are further apart than this show a kink.
const KINK: f64 = 1e-2;
/// Part of the time span that counts as one.
const TIME_SCALE: f64 = 0.1;

/// What was found at all points of a run.
#[derive(Clone, Default, Debug)]
pub struct Comparison {
    pub points: u64,
    /// Points without directional derivatives, and why at the first of them.
    pub without: u64,
    pub without_because: Option<(Status, f64)>,
    /// Derivatives that were compared, and those where differences are not to be believed.
    pub compared: u64,
    pub unclear: u64,
    /// Largest relative error, with the name of the variable and the time.
    pub worst: f64,
    pub worst_at: Option<(String, f64)>,
    /// Derivatives beyond the tolerance.
    pub wrong: u64,
    pub statistics: DerivativeStatistics,
}

/// Runs an instance twice: to count its steps, then to compare after some of them. A run that takes longer than the limit, or
/// fails, counts as far as it came.
pub fn compare(instance: Box<dyn ModelFunctions>, options: &Options, limit: Duration) -> Comparison {
    let mut counting = Simulation::new(instance, options.clone());
    let mut n = 0;
    let _ = each_step(&mut counting, limit, &mut |_| n += 1_u32);
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let mut chosen: Vec<u64> = (0..N_POINTS).map(|_| (numbers.next() * f64::from(n)) as u64).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let mut instance = counting.into_instance();
    instance.renew();
    let mut probe = Probe::new(instance.program(), options);
    let mut simulation = Simulation::new(instance, options.clone());
    let mut number = 0;
    let _ = each_step(&mut simulation, limit, &mut |simulation| {
        if chosen.binary_search(&number).is_ok() {
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
    let started = Instant::now();
    simulation.initialise()?;
    look(simulation);
    let stop = simulation.options().stop_time;
    while !simulation.is_over() && started.elapsed() < limit {
        simulation.advance(stop)?;
        look(simulation);
    }
    Ok(())
}

/// Numbers in 0 … 1 without pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
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
    fn new(program: &Arc<SimProgram>, options: &Options) -> Self {
        let is_continuous = |slot: SlotId| {
            let kind = program.slots.get(slot).map(|s| s.kind);
            matches!(kind, Some(SlotKind::Algebraic | SlotKind::Derivative))
        };
        let variables = program.variables.iter().map(|v| v.slot).filter(|&slot| is_continuous(slot));
        let mut wanted: Vec<SlotId> = program.states.iter().map(|s| s.derivative).chain(variables).collect();
        wanted.sort_unstable();
        wanted.dedup();
        Probe {
            program: program.clone(),
            wanted,
            inputs: program.slots.iter().filter(|(_, s)| s.kind == SlotKind::Input).map(|(id, _)| id).collect(),
            time_scale: TIME_SCALE * (options.stop_time - options.start_time),
            numbers: Numbers(0x9e37_79b9_7f4a_7c15),
            found: Comparison::default(),
        }
    }

    fn look(&mut self, functions: &mut dyn ModelFunctions) {
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
        let value = |slot: SlotId| base.get(slot.index()).copied().unwrap_or(0.0);
        let now = value(self.program.time);
        let direction = self.direction(base);
        let states = self.program.states.iter().map(|s| s.value).zip(direction.states.iter().copied());
        let inputs = self.inputs.iter().copied().zip(direction.inputs.iter().copied());
        let seeds: Vec<(SlotId, f64)> = states.chain(inputs).chain([(self.program.time, direction.time)]).collect();
        let mut exact = vec![0.0; self.wanted.len()];
        let mut status = functions.linearise(&self.wanted);
        if status.is_ok() {
            status = functions.directional(&seeds, &mut exact);
        }
        if !status.is_ok() {
            self.found.without += 1;
            self.found.without_because.get_or_insert((status, now));
            return;
        }
        let mut moved = |h: f64| self.moved(functions, base, &direction, h);
        let sides: Vec<Option<(Vec<f64>, Vec<f64>)>> =
            (0..N_STEPS).map(|k| Some((moved(step(k))?, moved(-step(k))?))).collect();
        let wanted = self.wanted.clone();
        let largest = wanted.iter().fold(0.0_f64, |most, &slot| most.max(value(slot).abs()));
        let rounding = ROUNDING * exact.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
        for (i, &slot) in wanted.iter().enumerate() {
            let here = value(slot);
            let column: Vec<Option<Difference>> = sides
                .iter()
                .enumerate()
                .map(|(k, both)| {
                    both.as_ref().map(|(after, before)| Difference::new(after[i], here, before[i], step(k)))
                })
                .collect();
            let noise = LOOP_NOISE * here.abs() + CANCELLATION * largest;
            let (difference, error) = extrapolated(&column, noise);
            if (exact[i] - difference).abs() > rounding {
                self.judge(slot, exact[i], (difference, error), now);
            } else {
                self.found.compared += 1;
            }
        }
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
        functions.set_continuous(value(self.program.time) + h * direction.time, &x);
        for (&slot, part) in self.inputs.iter().zip(&direction.inputs) {
            let present = functions.get(slot);
            functions.set(slot, present + h * part);
        }
        eval_all(functions).then(|| self.wanted.iter().map(|&slot| functions.get(slot)).collect())
    }

    fn judge(&mut self, slot: SlotId, exact: f64, (difference, error): (f64, f64), time: f64) {
        let size = exact.abs().max(difference.abs());
        if size == 0.0 {
            return;
        }
        if error > BELIEVED * size {
            self.found.unclear += 1;
            return;
        }
        self.found.compared += 1;
        let relative = (exact - difference).abs() / size;
        if relative > TOLERANCE {
            self.found.wrong += 1;
        }
        if relative > self.found.worst {
            self.found.worst = relative;
            self.found.worst_at = Some((self.program.slot_name(slot).to_owned(), time));
        }
    }
}

fn step(k: usize) -> f64 {
    LARGEST_STEP / f64::from(1u32 << k)
}

/// Difference quotients to both sides.
#[derive(Clone, Copy)]
struct Difference {
    right: f64,
    left: f64,
}

impl Difference {
    fn new(after: f64, here: f64, before: f64, h: f64) -> Self {
        Difference { right: (after - here) / h, left: (here - before) / h }
    }

    fn mean(self) -> f64 {
        0.5 * (self.right + self.left)
    }
}

/// The limit of central differences of halved steps, of values with that noise, and an estimate of its error (Ridders 1982);
/// infinite at a kink.
fn extrapolated(quotients: &[Option<Difference>], noise: f64) -> (f64, f64) {
    let mut best = (0.0, f64::INFINITY);
    let mut last: Vec<f64> = Vec::new();
    let mut is_kink = false;
    for (i, quotient) in quotients.iter().enumerate() {
        let Some(quotient) = quotient else {
            last.clear();
            continue;
        };
        let (apart, size) = ((quotient.right - quotient.left).abs(), quotient.right.abs().max(quotient.left.abs()));
        is_kink = apart > KINK * size + 4.0 * noise / step(i);
        let mut row = vec![quotient.mean()];
        let mut factor = 4.0;
        for (k, before) in last.iter().enumerate() {
            let next = row[k] + (row[k] - before) / (factor - 1.0);
            let error = (next - row[k]).abs().max((next - before).abs()) + noise / step(i);
            if error < best.1 {
                best = (next, error);
            }
            row.push(next);
            factor *= 4.0;
        }
        last = row;
    }
    if is_kink { (best.0, f64::INFINITY) } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_extrapolated_to_their_limit() {
        // d/dx exp(x) at 1 is e
        let at = |h: f64| (1.0 + h).exp();
        let quotients: Vec<Option<Difference>> =
            (0..N_STEPS).map(|k| Some(Difference::new(at(step(k)), at(0.0), at(-step(k)), step(k)))).collect();
        let (limit, error) = extrapolated(&quotients, 1e-16);
        assert!((limit - std::f64::consts::E).abs() < 1e-11, "{limit}");
        assert!(error < 1e-9, "{error}");
    }

    #[test]
    fn at_a_kink_nothing_is_known() {
        // |x| at 0: central differences would say 0
        let quotients: Vec<Option<Difference>> =
            (0..N_STEPS).map(|k| Some(Difference::new(step(k), 0.0, step(k), step(k)))).collect();
        assert!(extrapolated(&quotients, 1e-16).1.is_infinite());
    }
}
