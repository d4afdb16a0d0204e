//! The implicit half of the automatic choice: a Rosenbrock method or BDF, whichever gets on.
//!
//! In: an [`OdeSystem`] that is stiff. Out: steps of a Rosenbrock method (few states, or sparse) or of BDF (many states, or
//! derivatives that come out of an iteration). Neither is always right. A Rosenbrock method needs the exact Jacobian, and
//! makes no progress without. BDF of an order above 2 is not stable along the imaginary axis: it follows, or even feeds, a
//! fast oscillation that nothing damps, with many steps a period, where an A-stable method passes over it. So the other method
//! takes over where one makes very many steps, and a Rosenbrock method where BDF cannot make one at all.

use crate::bdf::Bdf;
use crate::integrator::{Integrator, OdeSystem, Statistics, StepResult, Tolerances};
use crate::linear_solver::is_worth_sparse;
use crate::rosenbrock::{Rosenbrock, RosenbrockMethod};
use crate::tuning::automatic::*;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
enum Implicit {
    Rosenbrock(Box<Rosenbrock>),
    Bdf(Box<Bdf>),
}

/// A Rosenbrock method that has to show longer steps than BDF made.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Trial {
    steps: u32,
    /// Mean step of BDF before.
    step_of_bdf: f64,
    /// When the part of the trial began that counts: the first steps only find their size.
    counts_from: f64,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Stiff {
    method: Implicit,
    /// Is a factorisation every step affordable?
    is_small: bool,
    /// The Rosenbrock method has beaten BDF: it stays.
    is_settled: bool,
    /// Steps since the last restart.
    run: u32,
    /// Steps of BDF since it took over or was last compared, and how many it may make before that.
    bdf_run: u32,
    patience: u32,
    /// When the last steps of BDF before a comparison began.
    compared_from: f64,
    trial: Option<Trial>,
    /// Steps since BDF could not make a step and the other method took over.
    since_rescue: u32,
    tolerances: Tolerances,
    max_step: f64,
    /// Of methods that have been replaced.
    retired: Statistics,
    replacements: u64,
}

impl Stiff {
    pub fn new(system: &dyn OdeSystem, tolerances: Tolerances, max_step: f64) -> Self {
        let n = tolerances.absolute.len();
        let is_sparse = system.sparsity().is_some_and(is_worth_sparse);
        let is_small = n <= MOST_STATES_DENSE || (is_sparse && n <= MOST_STATES_SPARSE);
        // A Rosenbrock method needs the exact Jacobian, BDF only a good one.
        let method = if is_small && !system.is_iterative() {
            Implicit::rosenbrock(&tolerances, max_step)
        } else {
            Implicit::bdf(&tolerances, max_step)
        };
        Stiff {
            method,
            is_small,
            is_settled: false,
            run: 0,
            bdf_run: 0,
            patience: LONGEST_RUN,
            compared_from: 0.0,
            trial: None,
            since_rescue: u32::MAX,
            tolerances,
            max_step,
            retired: Statistics::default(),
            replacements: 0,
        }
    }

    pub fn integrator(&self) -> &dyn Integrator {
        match &self.method {
            Implicit::Rosenbrock(r) => r.as_ref(),
            Implicit::Bdf(b) => b.as_ref(),
        }
    }

    pub fn integrator_mut(&mut self) -> &mut dyn Integrator {
        match &mut self.method {
            Implicit::Rosenbrock(r) => r.as_mut(),
            Implicit::Bdf(b) => b.as_mut(),
        }
    }

    /// `h·|λ|` of the last step.
    pub fn stiffness(&mut self) -> f64 {
        match &mut self.method {
            Implicit::Rosenbrock(r) => r.stiffness(),
            Implicit::Bdf(b) => b.stiffness(),
        }
    }

    /// How often one method replaced the other.
    pub fn replacements(&self) -> u64 {
        self.replacements
    }

    /// The system starts anew: what a Rosenbrock method suffers from may be over.
    pub fn begin(&mut self) {
        self.run = 0;
    }

    pub fn set_tolerances(&mut self, relative: f64, absolute: &[f64]) {
        self.tolerances.relative = relative;
        self.tolerances.absolute.copy_from_slice(absolute);
        self.integrator_mut().set_tolerances(relative, absolute);
    }

    pub fn set_max_step(&mut self, max_step: f64) {
        self.max_step = max_step;
        self.integrator_mut().set_max_step(max_step);
    }

    pub fn statistics(&self) -> Statistics {
        self.integrator().statistics() + self.retired
    }

    /// One step, by the method that is expected to get on.
    pub fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        self.choose(system)?;
        let mut stepped = self.integrator_mut().step(system, limit);
        if stepped.is_err() && self.may_be_rescued() {
            let refused = self.clone();
            if self.rescue(system, limit).is_ok() {
                stepped = Ok(());
            } else {
                *self = refused;
            }
        }
        self.since_rescue = self.since_rescue.saturating_add(1);
        stepped
    }

    /// BDF rejects any step over a transient that is shorter than the resolution of time, for its prediction is far off. Where
    /// the model cannot be evaluated there is nothing to be rescued: its solution may end there.
    fn may_be_rescued(&self) -> bool {
        let is_inaccurate = matches!(&self.method, Implicit::Bdf(bdf) if bdf.is_evaluated());
        is_inaccurate && self.is_small && self.since_rescue >= STEPS_BETWEEN_RESCUES
    }

    /// A Rosenbrock method makes the step that BDF could not make; the sizes of that say nothing.
    fn rescue(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        self.since_rescue = 0;
        self.trial = None;
        let h = FIRST_OF_RESCUE * (limit - self.integrator().time());
        self.replace(system, h)?;
        self.integrator_mut().step(system, limit)
    }

    /// Hands over to the other method where that is due.
    fn choose(&mut self, system: &mut dyn OdeSystem) -> StepResult {
        self.run = self.run.saturating_add(1);
        if let Some(trial) = &mut self.trial {
            trial.steps += 1;
            let (steps, t) = (trial.steps, self.integrator().time());
            return self.judge(system, steps, t);
        }
        match self.method {
            Implicit::Rosenbrock(_) if self.run > LONGEST_RUN && !self.is_settled => {
                self.replace(system, self.integrator().next_step_size())
            }
            Implicit::Bdf(_) if self.is_small => self.watch_bdf(system),
            _ => Ok(()),
        }
    }

    fn watch_bdf(&mut self, system: &mut dyn OdeSystem) -> StepResult {
        self.bdf_run += 1;
        let t = self.integrator().time();
        if self.bdf_run == self.patience - TRIAL_STEPS {
            self.compared_from = t;
        }
        if self.bdf_run < self.patience {
            return Ok(());
        }
        let step_of_bdf = (t - self.compared_from) / f64::from(TRIAL_STEPS);
        self.patience = self.patience.saturating_mul(2);
        self.replace(system, self.integrator().next_step_size())?;
        self.trial = Some(Trial { steps: 0, step_of_bdf, counts_from: t });
        Ok(())
    }

    /// Does the Rosenbrock method on trial make up for the cost of its steps?
    fn judge(&mut self, system: &mut dyn OdeSystem, steps: u32, t: f64) -> StepResult {
        let Some(trial) = &mut self.trial else { return Ok(()) };
        if steps == TRIAL_STEPS / 2 {
            trial.counts_from = t;
        }
        if steps < TRIAL_STEPS {
            return Ok(());
        }
        let step = (t - trial.counts_from) / f64::from(TRIAL_STEPS - TRIAL_STEPS / 2);
        self.is_settled = step >= WORTH_A_JACOBIAN * trial.step_of_bdf;
        self.trial = None;
        if self.is_settled { Ok(()) } else { self.replace(system, self.integrator().next_step_size()) }
    }

    /// The other method goes on from here, with a step of about this size.
    fn replace(&mut self, system: &mut dyn OdeSystem, h: f64) -> StepResult {
        let new = match self.method {
            Implicit::Rosenbrock(_) => Implicit::bdf(&self.tolerances, self.max_step),
            Implicit::Bdf(_) => Implicit::rosenbrock(&self.tolerances, self.max_step),
        };
        let old = self.integrator();
        let (t, x) = (old.time(), old.states().to_vec());
        self.retired = self.retired + old.statistics();
        self.method = new;
        self.replacements += 1;
        self.bdf_run = 0;
        let new = self.integrator_mut();
        new.propose_step_size(h);
        new.reinit(system, t, &x)
    }
}

impl Implicit {
    fn rosenbrock(tolerances: &Tolerances, max_step: f64) -> Self {
        let method = RosenbrockMethod::default();
        Implicit::Rosenbrock(Box::new(Rosenbrock::new(method, tolerances.clone(), max_step)))
    }

    fn bdf(tolerances: &Tolerances, max_step: f64) -> Self {
        Implicit::Bdf(Box::new(Bdf::new(tolerances.clone(), max_step)))
    }
}
