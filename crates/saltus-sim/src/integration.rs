//! The model as the integrators see it, and which integrator is used.

use saltus_numerics::{
    Automatic, Bdf, DormandPrince, FixedStep, FixedStepMethod, Method, OdeSystem, Rosenbrock, RosenbrockMethod,
    Sparsity, Tolerances, TrialFailure,
};
use saltus_program::{Activation, ModelFunctions, SimProgram, Status};

use crate::options::{Options, Solver};
use crate::structure::Structure;

/// Derivatives at trial points.
pub(crate) struct Rhs<'a> {
    pub functions: &'a mut dyn ModelFunctions,
    pub structure: &'a Structure,
    /// Of the last evaluation.
    pub status: Status,
    /// Unknowns of loops at the start of the step.
    starts: &'a mut Vec<f64>,
}

impl<'a> Rhs<'a> {
    /// For a step from the present point; `starts` is storage.
    pub fn new(functions: &'a mut dyn ModelFunctions, structure: &'a Structure, starts: &'a mut Vec<f64>) -> Self {
        starts.clear();
        starts.extend(structure.unknowns.iter().map(|&slot| functions.get(slot)));
        Rhs { functions, structure, status: Status::Ok, starts }
    }
}

impl OdeSystem for Rhs<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), TrialFailure> {
        self.functions.set_continuous(t, x);
        self.status = self.functions.eval(Activation::Derivatives);
        if !self.status.is_ok() {
            return Err(TrialFailure);
        }
        self.functions.get_derivatives(dx);
        Ok(())
    }

    fn time_derivative(&mut self, _: f64, _: &[f64], dt: &mut [f64]) -> bool {
        if self.structure.is_autonomous {
            dt.fill(0.0);
        }
        self.structure.is_autonomous
    }

    fn is_iterative(&self) -> bool {
        !self.structure.unknowns.is_empty()
    }

    /// Where a loop has several solutions, a point that lies too far ahead may have found another one.
    fn reject(&mut self) {
        for (&slot, &start) in self.structure.unknowns.iter().zip(self.starts.iter()) {
            self.functions.set(slot, start);
        }
        self.functions.reject();
    }

    fn sparsity(&self) -> Option<&Sparsity> {
        self.structure.sparsity.as_ref()
    }
}

/// Relations of states alone: a step has few looks at them, however well it follows the states.
const FEWEST_STEPS: f64 = 20.0;
/// What depends on time alone is seen by no error estimate: between two looks at it lies at most an output interval,
/// within these parts of the time span.
const FEWEST_LOOKS: f64 = 50.0;
const MOST_LOOKS: f64 = 1000.0;
/// Looks are cheaper than steps, yet what is looked at on dense output should not lag behind the states.
const LOOKS_IN_A_STEP: f64 = 4.0;

fn look_interval(options: &Options) -> f64 {
    let span = options.time_span();
    options.interval.max(span / MOST_LOOKS).min(span / FEWEST_LOOKS)
}

/// The longest time between two looks at the crossing functions.
pub(crate) fn longest_look(options: &Options, structure: &Structure) -> f64 {
    if structure.crossings_see_time { look_interval(options) } else { f64::INFINITY }
}

/// What is kept for later is not part of the error estimate either.
fn has_smooth_history(program: &SimProgram) -> bool {
    program.delays.iter().any(|d| !d.is_discrete) || !program.transports.is_empty()
}

pub(crate) fn longest_step(program: &SimProgram, options: &Options, structure: &Structure) -> f64 {
    match options.max_step {
        Some(h) => h,
        None if has_smooth_history(program) => look_interval(options),
        None if structure.crossings_see_time => LOOKS_IN_A_STEP * look_interval(options),
        None if !program.relations.is_empty() => options.time_span() / FEWEST_STEPS,
        None => f64::INFINITY,
    }
}

pub(crate) fn choose(program: &SimProgram, options: &Options, structure: &Structure) -> Method {
    let nominal = |x: f64| if x.is_finite() && x != 0.0 { x.abs() } else { 1.0 };
    let absolute = program.states.iter().map(|s| options.tolerance * nominal(s.nominal)).collect();
    let tolerances = Tolerances { relative: options.tolerance, absolute };
    let longest = longest_step(program, options, structure);
    let fixed = |method, tolerances| {
        let h = options.fixed_step.unwrap_or(options.interval);
        Method::FixedStep(Box::new(FixedStep::new(method, tolerances, if h > 0.0 { h } else { 1.0 })))
    };
    match options.solver {
        Solver::Auto => Method::Automatic(Box::new(Automatic::new(tolerances, longest))),
        Solver::DormandPrince => Method::DormandPrince(Box::new(DormandPrince::new(tolerances, longest))),
        Solver::Rodas => Method::Rosenbrock(Box::new(Rosenbrock::new(RosenbrockMethod::Rodas5P, tolerances, longest))),
        Solver::Bdf => Method::Bdf(Box::new(Bdf::new(tolerances, longest))),
        Solver::Euler => fixed(FixedStepMethod::ExplicitEuler, tolerances),
        Solver::RungeKutta4 => fixed(FixedStepMethod::RungeKutta4, tolerances),
        Solver::ImplicitEuler => fixed(FixedStepMethod::ImplicitEuler, tolerances),
    }
}
