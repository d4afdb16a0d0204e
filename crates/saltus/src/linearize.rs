//! A model near a point: der(x) = A x + B u, y = C x + D u.
//!
//! In: a program and a time. Out: matrices, names and values of states, inputs and outputs, and the eigenvalues of A. The model
//! is simulated up to that time; then it is differentiated by each state and input, with relations frozen. Where that is
//! impossible the state or input is moved a little to both sides.

use saltus_numerics::eigenvalues;
use saltus_program::{Activation, Causality, ModelFunctions, SimProgram, SlotId};
use saltus_sim::{SimError, Simulation};

/// Step of the difference quotients relative to the value: the third root of the rounding error.
const STEP: f64 = 6.055e-6;

#[derive(Clone, PartialEq, Debug)]
pub struct Linearization {
    pub time: f64,
    /// Names and values.
    pub states: Vec<(String, f64)>,
    pub inputs: Vec<(String, f64)>,
    pub outputs: Vec<(String, f64)>,
    /// Row by row.
    pub a: Vec<Vec<f64>>,
    pub b: Vec<Vec<f64>>,
    pub c: Vec<Vec<f64>>,
    pub d: Vec<Vec<f64>>,
    /// Real and imaginary parts; `None` if they could not be found.
    pub eigenvalues: Option<Vec<(f64, f64)>>,
    /// Columns of the matrices that were taken by differences, for want of exact derivatives.
    pub n_differences: usize,
}

/// Linearizes at the stop time of a simulation that has not begun.
pub fn linearize(mut simulation: Simulation) -> Result<Linearization, SimError> {
    simulation.initialise()?;
    let stop_time = simulation.options().stop_time;
    simulation.advance_to(stop_time)?;
    linearize_here(&mut simulation)
}

/// Linearizes where a simulation is, in the configuration that it is in.
pub fn linearize_here(simulation: &mut Simulation) -> Result<Linearization, SimError> {
    let (program, time) = (simulation.program().clone(), simulation.time());
    simulation.examine(|functions| at_point(&program, functions, time))
}

/// Derivatives of `wanted` along a direction at the point at which the model has been evaluated: `seeds` are states and inputs with
/// their parts in it. Where they cannot be differentiated, by differences.
pub fn directional(functions: &mut dyn ModelFunctions, wanted: &[SlotId], seeds: &[(SlotId, f64)]) -> Vec<f64> {
    let base = functions.snapshot();
    let mut columns = Columns::new(functions, base, wanted);
    let mut sum = vec![0.0; wanted.len()];
    if columns.is_linearised && columns.functions.directional(seeds, &mut sum).is_ok() {
        return sum;
    }
    sum.fill(0.0);
    for &(slot, part) in seeds.iter().filter(|(_, part)| *part != 0.0) {
        let column = columns.by(slot, 1.0);
        sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += part * value);
    }
    sum
}

/// Linearizes at the point at which the model has been evaluated.
fn at_point(program: &SimProgram, functions: &mut dyn ModelFunctions, time: f64) -> Linearization {
    let with = |causality: Causality| -> Vec<(String, SlotId)> {
        let all = program.variables.iter().filter(|v| v.causality == causality);
        all.map(|v| (v.name().into_owned(), v.slot)).collect()
    };
    let (inputs, outputs) = (with(Causality::Input), with(Causality::Output));
    let state_slots: Vec<SlotId> = program.states.iter().map(|s| s.value).collect();
    let derivative_slots: Vec<SlotId> = program.states.iter().map(|s| s.derivative).collect();
    let output_slots: Vec<SlotId> = outputs.iter().map(|o| o.1).collect();
    let wanted: Vec<SlotId> = derivative_slots.iter().chain(&output_slots).copied().collect();
    let base = functions.snapshot();
    let mut columns = Columns::new(functions, base, &wanted);
    let nominal = |i: usize| program.states.get(i).map_or(1.0, |s| s.nominal.abs());
    let n_derivatives = derivative_slots.len();
    let mut split = |slots: &[SlotId], nominal: &dyn Fn(usize) -> f64| -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let all = slots.iter().enumerate().map(|(i, &slot)| columns.by(slot, nominal(i)));
        all.map(|mut column| (column.drain(..n_derivatives).collect(), column)).unzip()
    };
    let (a, c) = split(&state_slots, &nominal);
    let (b, d) = split(&inputs.iter().map(|i| i.1).collect::<Vec<_>>(), &|_| 1.0);
    let (n_differences, base) = (columns.n_differences, columns.base);
    functions.restore(&base);
    let valued = |named: &[(String, SlotId)]| named.iter().map(|(n, s)| (n.clone(), functions.get(*s))).collect();
    let states: Vec<(String, SlotId)> =
        state_slots.iter().map(|&s| (program.memory.slot_name(s).into_owned(), s)).collect();
    let (n, m) = (states.len(), outputs.len());
    let a = transposed(&a, n);
    Linearization {
        time,
        states: valued(&states),
        inputs: valued(&inputs),
        outputs: valued(&outputs),
        eigenvalues: eigenvalues(n, &a.concat()),
        a,
        b: transposed(&b, n),
        c: transposed(&c, m),
        d: transposed(&d, m),
        n_differences,
    }
}

/// Derivatives of all wanted slots at one point.
struct Columns<'a> {
    functions: &'a mut dyn ModelFunctions,
    base: Vec<f64>,
    wanted: &'a [SlotId],
    is_linearised: bool,
    n_differences: usize,
}

const SECTIONS: [Activation; 3] = [Activation::Derivatives, Activation::Crossings, Activation::Outputs];

impl<'a> Columns<'a> {
    fn new(functions: &'a mut dyn ModelFunctions, base: Vec<f64>, wanted: &'a [SlotId]) -> Self {
        let is_evaluated = SECTIONS.into_iter().all(|section| functions.eval(section).is_ok());
        let is_linearised = is_evaluated && functions.linearise(wanted).is_ok();
        Columns { functions, base, wanted, is_linearised, n_differences: 0 }
    }

    /// The derivatives by a slot.
    fn by(&mut self, slot: SlotId, nominal: f64) -> Vec<f64> {
        let mut column = vec![0.0; self.wanted.len()];
        if self.is_linearised && self.functions.directional(&[(slot, 1.0)], &mut column).is_ok() {
            return column;
        }
        self.n_differences += 1;
        let value = self.base.get(saltus_base::Index::index(slot)).copied().unwrap_or(0.0);
        let step = STEP * value.abs().max(nominal).max(1e-10);
        let (plus, minus) = (self.at(slot, value + step), self.at(slot, value - step));
        let width = (value + step) - (value - step);
        plus.iter().zip(&minus).map(|(p, m)| (p - m) / width).collect()
    }

    fn at(&mut self, slot: SlotId, value: f64) -> Vec<f64> {
        self.functions.restore(&self.base);
        self.functions.set(slot, value);
        for section in SECTIONS {
            let _ = self.functions.eval(section);
        }
        self.wanted.iter().map(|&slot| self.functions.get(slot)).collect()
    }
}

/// Rows of a matrix that is given by its columns.
fn transposed(columns: &[Vec<f64>], n_rows: usize) -> Vec<Vec<f64>> {
    (0..n_rows).map(|r| columns.iter().map(|c| c.get(r).copied().unwrap_or(f64::NAN)).collect()).collect()
}
