//! A model near a point: der(x) = A x + B u, y = C x + D u.
//!
//! In: a program and a time. Out: matrices, names and values of states, inputs and outputs, and the eigenvalues of A. The model
//! is simulated up to that time; then each state and input is moved a little to both sides, with relations frozen.

use saltus_numerics::eigenvalues;
use saltus_program::{Activation, Causality, ModelFunctions, SimProgram, SlotId};
use saltus_sim::{Options, SimError, Simulation};

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
}

/// Linearizes at the stop time of `options`.
pub fn linearize(instance: Box<dyn ModelFunctions>, options: &Options) -> Result<Linearization, SimError> {
    let mut simulation = Simulation::new(instance, options.clone());
    simulation.initialise()?;
    simulation.advance_to(options.stop_time)?;
    let (program, time) = (simulation.program().clone(), simulation.time());
    simulation.examine(|functions| at_point(&program, functions, time))
}

/// Linearizes at the point at which the model has been evaluated.
fn at_point(program: &SimProgram, functions: &mut dyn ModelFunctions, time: f64) -> Linearization {
    let with = |causality: Causality| -> Vec<(String, SlotId)> {
        let all = program.variables.iter().filter(|v| v.causality == causality);
        all.map(|v| (v.name.clone(), v.slot)).collect()
    };
    let (inputs, outputs) = (with(Causality::Input), with(Causality::Output));
    let state_slots: Vec<SlotId> = program.states.iter().map(|s| s.value).collect();
    let derivative_slots: Vec<SlotId> = program.states.iter().map(|s| s.derivative).collect();
    let output_slots: Vec<SlotId> = outputs.iter().map(|o| o.1).collect();
    let nominal = |i: usize| program.states.get(i).map_or(1.0, |s| s.nominal.abs());
    let base = functions.snapshot();
    let mut columns = |slots: &[SlotId], nominal: &dyn Fn(usize) -> f64| {
        let mut found = (Vec::new(), Vec::new());
        for (i, &slot) in slots.iter().enumerate() {
            let value = base.get(saltus_base::Index::index(slot)).copied().unwrap_or(0.0);
            let step = STEP * value.abs().max(nominal(i)).max(1e-10);
            let mut at = |value: f64| {
                functions.restore(&base);
                functions.set(slot, value);
                for activation in [Activation::Derivatives, Activation::Crossings, Activation::Outputs] {
                    let _ = functions.eval(activation);
                }
                let read = |slots: &[SlotId]| slots.iter().map(|&s| functions.get(s)).collect::<Vec<f64>>();
                (read(&derivative_slots), read(&output_slots))
            };
            let (plus, minus) = (at(value + step), at(value - step));
            let width = (value + step) - (value - step);
            let quotient = |p: &[f64], m: &[f64]| p.iter().zip(m).map(|(p, m)| (p - m) / width).collect::<Vec<f64>>();
            found.0.push(quotient(&plus.0, &minus.0));
            found.1.push(quotient(&plus.1, &minus.1));
        }
        found
    };
    let (a, c) = columns(&state_slots, &nominal);
    let (b, d) = columns(&inputs.iter().map(|i| i.1).collect::<Vec<_>>(), &|_| 1.0);
    functions.restore(&base);
    let valued = |named: &[(String, SlotId)]| named.iter().map(|(n, s)| (n.clone(), functions.get(*s))).collect();
    let states: Vec<(String, SlotId)> = state_slots.iter().map(|&s| (program.slot_name(s).to_owned(), s)).collect();
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
    }
}

/// Rows of a matrix that is given by its columns.
fn transposed(columns: &[Vec<f64>], n_rows: usize) -> Vec<Vec<f64>> {
    (0..n_rows).map(|r| columns.iter().map(|c| c.get(r).copied().unwrap_or(f64::NAN)).collect()).collect()
}
