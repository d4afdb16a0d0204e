//! The model as the integrators see it, and which integrator is used.

use saltus_numerics::{
    Automatic, Bdf, DormandPrince, FixedStep, FixedStepMethod, Judged, Method, OdeSystem, Order, Rosenbrock,
    RosenbrockMethod, Sparsity, Tolerances, TrialFailure,
};
use saltus_program::{Activation, ModelFunctions, SimProgram, SlotId, Status};

use crate::constants::{FEWEST_LOOKS, FEWEST_STEPS, LOOKS_IN_A_STEP, MOST_TIMED_LOOKS};
use crate::costs::StepMeter;
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
    /// What the last call has left in the model.
    done: Done,
    seeds: Vec<(SlotId, f64)>,
    /// Who wants to know what keeps steps short.
    pub meter: Option<&'a mut StepMeter>,
    pub looks: Option<Looks<'a>>,
}

/// What becomes of a step after it is made.
pub(crate) struct Looks<'a> {
    /// Nobody asks for states inside of steps before this time.
    pub from: f64,
    pub loops_at_end: &'a mut LoopsAtEnd,
}

/// Unknowns of loops where the last step of the integrator ends.
///
/// Rows lie before that, and evaluating them leads loops back. Of a loop with several solutions, as a trigger has, the one at the
/// end of the step need not be the one that Newton's method finds from a row.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct LoopsAtEnd {
    pub time: Option<f64>,
    pub values: Vec<f64>,
}

impl LoopsAtEnd {
    /// What the model has now, at `t`.
    pub fn keep(&mut self, t: f64, functions: &dyn ModelFunctions, structure: &Structure) {
        self.time = Some(t);
        self.values.clear();
        self.values.extend(structure.unknowns.iter().map(|&slot| functions.get(slot)));
    }
}

/// How far the model has been evaluated at a point.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Done {
    Nothing,
    Derivatives {
        t: f64,
    },
    /// Directional derivatives are at hand.
    Linearised {
        t: f64,
    },
}

impl<'a> Rhs<'a> {
    /// For a step from the present point; `starts` is storage.
    pub fn new(functions: &'a mut dyn ModelFunctions, structure: &'a Structure, starts: &'a mut Vec<f64>) -> Self {
        starts.clear();
        starts.extend(structure.unknowns.iter().map(|&slot| functions.get(slot)));
        let done = Done::Nothing;
        Rhs { functions, structure, status: Status::Ok, starts, done, seeds: Vec::new(), meter: None, looks: None }
    }

    /// Prepares directional derivatives at a point; false if there are none.
    fn linearise(&mut self, t: f64, x: &[f64]) -> bool {
        if self.structure.jumps.are_active(self.functions.memory()) {
            return false;
        }
        let is_at = |functions: &dyn ModelFunctions| {
            functions
                .program()
                .states
                .iter()
                .zip(x)
                .all(|(state, x)| functions.get(state.value).to_bits() == x.to_bits())
        };
        if self.done != (Done::Derivatives { t }) || !is_at(self.functions) {
            self.functions.set_continuous(t, x);
            if !self.functions.eval(Activation::Derivatives).is_ok() {
                return false;
            }
        }
        let is_ready = self.functions.linearise(&self.structure.derivatives).is_ok();
        self.done = if is_ready { Done::Linearised { t } } else { Done::Nothing };
        is_ready
    }

    /// The columns of the Jacobian, a group at a time: hands on the group and the sum of its columns. False if there are none.
    fn exact_jacobian(&mut self, t: f64, x: &[f64], mut take: impl FnMut(&[usize], &[f64])) -> bool {
        if !self.linearise(t, x) {
            return false;
        }
        let structure = self.structure;
        let mut sum = vec![0.0; x.len()];
        for group in structure.groups() {
            let states = &self.functions.program().states;
            self.seeds.clear();
            self.seeds.extend(group.iter().filter_map(|&j| Some((states.get(j)?.value, 1.0))));
            if !self.functions.directional(&self.seeds, &mut sum).is_ok() {
                return false;
            }
            take(group, &sum);
        }
        true
    }
}

impl OdeSystem for Rhs<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), TrialFailure> {
        self.functions.set_continuous(t, x);
        self.done = Done::Nothing;
        self.status = self.functions.eval(Activation::Derivatives);
        if !self.status.is_ok() {
            return Err(TrialFailure);
        }
        self.done = Done::Derivatives { t };
        self.functions.get_derivatives(dx);
        Ok(())
    }

    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut [f64]) -> bool {
        let n = x.len();
        jacobian.fill(0.0);
        let structure = self.structure;
        self.exact_jacobian(t, x, |group, sum| {
            for &column in group {
                structure.rows(column).for_each(|row| jacobian[row * n + column] = sum[row]);
            }
        })
    }

    fn sparse_jacobian(&mut self, t: f64, x: &[f64], values: &mut [f64]) -> bool {
        let Some(pattern) = self.structure.sparsity.as_ref() else { return false };
        if values.len() != pattern.n_entries() {
            return false;
        }
        // Groups are of the same pattern: no two of their columns share a row.
        self.exact_jacobian(t, x, |group, sum| {
            for &column in group {
                for k in pattern.range(column) {
                    values[k] = sum[pattern.rows()[k]];
                }
            }
        })
    }

    fn time_derivative(&mut self, t: f64, x: &[f64], dt: &mut [f64]) -> bool {
        if self.structure.is_autonomous {
            dt.fill(0.0);
            return true;
        }
        let is_ready = self.done == (Done::Linearised { t }) || self.linearise(t, x);
        let time = self.functions.program().memory.time;
        is_ready && self.functions.directional(&[(time, 1.0)], dt).is_ok()
    }

    fn is_iterative(&self) -> bool {
        !self.structure.unknowns.is_empty()
    }

    /// Where a loop has several solutions, a point that lies too far ahead may have found another one.
    fn reject(&mut self) {
        self.done = Done::Nothing;
        for (&slot, &start) in self.structure.unknowns.iter().zip(self.starts.iter()) {
            self.functions.set(slot, start);
        }
        self.functions.reject();
    }

    fn judge(&mut self, judged: &Judged) {
        if let Some(meter) = &mut self.meter {
            meter.judge(judged);
        }
    }

    fn looks_inside(&mut self, end: f64) -> bool {
        let Some(Looks { from, loops_at_end }) = &mut self.looks else { return true };
        let looks = *from < end;
        // A method that goes on to evaluate the inside leaves the end.
        if looks {
            loops_at_end.keep(end, &*self.functions, self.structure);
        }
        looks
    }

    fn sparsity(&self) -> Option<&Sparsity> {
        self.structure.sparsity.as_ref()
    }
}

pub(crate) fn look_interval(options: &Options) -> f64 {
    let span = options.time_span();
    options.interval.max(span / MOST_TIMED_LOOKS).min(span / FEWEST_LOOKS)
}

/// The longest time between two looks at the crossing functions.
pub(crate) fn longest_look(options: &Options, structure: &Structure) -> f64 {
    if structure.crossings_see_time { look_interval(options) } else { f64::INFINITY }
}

/// What is kept for later is not part of the error estimate either.
fn has_smooth_history(program: &SimProgram) -> bool {
    program.history.delays.iter().any(|d| !d.is_discrete) || !program.history.transports.is_empty()
}

pub(crate) fn longest_step(program: &SimProgram, options: &Options, structure: &Structure) -> f64 {
    match options.max_step {
        Some(h) => h,
        None if has_smooth_history(program) => look_interval(options),
        None if structure.crossings_see_time => LOOKS_IN_A_STEP * look_interval(options),
        None if !program.events.relations.is_empty() => options.time_span() / FEWEST_STEPS,
        None => f64::INFINITY,
    }
}

/// Method and tolerance of a configuration: a method that was asked for holds for all of them.
pub(crate) fn method(program: &SimProgram, options: &Options) -> (Solver, f64) {
    let wish = program.configuration.as_ref().map(|c| &c.integration);
    let solver = wish.and_then(|w| w.solver.as_deref()).and_then(Solver::from_name);
    let solver = solver.filter(|_| options.solver == Solver::Auto).unwrap_or(options.solver);
    (solver, wish.and_then(|w| w.tolerance).unwrap_or(options.tolerance))
}

pub(crate) fn choose(program: &SimProgram, options: &Options, structure: &Structure) -> Method {
    let nominal = |x: f64| if x.is_finite() && x != 0.0 { x.abs() } else { 1.0 };
    let (solver, tolerance) = method(program, options);
    let absolute = program.states.iter().map(|s| tolerance * nominal(s.nominal)).collect();
    let unbounded = program.states.iter().map(|s| s.unbounded).collect();
    let tolerances = Tolerances { relative: tolerance, absolute, unbounded };
    let longest = longest_step(program, options, structure);
    let fixed = |method, tolerances| {
        let h = options.fixed_step.unwrap_or(options.interval);
        Method::FixedStep(Box::new(FixedStep::new(method, tolerances, if h > 0.0 { h } else { 1.0 })))
    };
    let explicit = |order, tolerances| Method::DormandPrince(Box::new(DormandPrince::new(order, tolerances, longest)));
    match solver {
        // Quantised states need no integrator.
        Solver::Auto | Solver::Liqss2 => Method::Automatic(Box::new(Automatic::new(tolerances, longest))),
        Solver::DormandPrince => explicit(Order::Fifth, tolerances),
        Solver::DormandPrince8 => explicit(Order::Eighth, tolerances),
        Solver::Rodas => Method::Rosenbrock(Box::new(Rosenbrock::new(RosenbrockMethod::Rodas5P, tolerances, longest))),
        Solver::Bdf => Method::Bdf(Box::new(Bdf::new(tolerances, longest))),
        Solver::Euler => fixed(FixedStepMethod::ExplicitEuler, tolerances),
        Solver::RungeKutta4 => fixed(FixedStepMethod::RungeKutta4, tolerances),
        Solver::ImplicitEuler => fixed(FixedStepMethod::ImplicitEuler, tolerances),
    }
}
