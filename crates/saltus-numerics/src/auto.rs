//! The default integrator: explicit as long as that works, implicit where the system turns out to be stiff, and back.
//!
//! In: any [`OdeSystem`]. Out: steps of Dormand–Prince, of a Rosenbrock method (few states, or sparse) or of BDF (many states,
//! derivatives that come out of an iteration, or a Rosenbrock method that makes no progress). Stiffness shows as `h·|λ|` at
//! the bound of the explicit method's stability domain for many steps (Hairer, Wanner: *Solving Ordinary Differential
//! Equations II*, section IV.2), or as steps that cannot be made at all. Each return to the explicit method has to be
//! earned by more steps than the last one. Stiffness that does not show (the states oscillate about a kink, or evaluations
//! fail ahead of an explicit step) is found by trial: after many explicit steps the implicit method gets its chance, and
//! leaves again if its steps are not longer.

use crate::bdf::Bdf;
use crate::dormand_prince::DormandPrince;
use crate::integrator::{Integrator, OdeSystem, Statistics, StepResult, Tolerances};
use crate::interpolant::Interpolant;
use crate::linear_solver::is_worth_sparse;
use crate::rosenbrock::{Rosenbrock, RosenbrockMethod};
use crate::tuning::automatic::*;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
enum Stiff {
    Rosenbrock(Box<Rosenbrock>),
    Bdf(Box<Bdf>),
}

impl Stiff {
    fn new(system: &dyn OdeSystem, tolerances: Tolerances, max_step: f64) -> Self {
        let n = tolerances.absolute.len();
        let is_sparse = system.sparsity().is_some_and(is_worth_sparse);
        // A Rosenbrock method needs the exact Jacobian, BDF only a good one.
        let is_small = n <= MOST_STATES_DENSE || (is_sparse && n <= MOST_STATES_SPARSE);
        if is_small && !system.is_iterative() {
            let method = RosenbrockMethod::default();
            Stiff::Rosenbrock(Box::new(Rosenbrock::new(method, tolerances, max_step)))
        } else {
            Stiff::Bdf(Box::new(Bdf::new(tolerances, max_step)))
        }
    }

    fn integrator(&self) -> &dyn Integrator {
        match self {
            Stiff::Rosenbrock(r) => r.as_ref(),
            Stiff::Bdf(b) => b.as_ref(),
        }
    }

    fn integrator_mut(&mut self) -> &mut dyn Integrator {
        match self {
            Stiff::Rosenbrock(r) => r.as_mut(),
            Stiff::Bdf(b) => b.as_mut(),
        }
    }

    fn stiffness(&mut self) -> f64 {
        match self {
            Stiff::Rosenbrock(r) => r.stiffness(),
            Stiff::Bdf(b) => b.stiffness(),
        }
    }
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Automatic {
    explicit: DormandPrince,
    /// Made when it is needed for the first time.
    stiff: Option<Stiff>,
    tolerances: Tolerances,
    max_step: f64,
    is_stiff: bool,
    /// The other method is to make the next step.
    wants_switch: bool,
    suspicious: u32,
    unsuspicious: u32,
    /// Logarithm of the mean of `h·|λ|` of explicit steps.
    mean: f64,
    probation: u32,
    /// Steps of the implicit method since the last restart.
    run: u32,
    /// Steps of the explicit method since it last took over, and how many it may make.
    explicit_run: u64,
    patience: u64,
    /// Of a Rosenbrock method that has been replaced.
    retired: Statistics,
    switches: u64,
    /// Copy of the states for the change of methods.
    x: Vec<f64>,
}

impl Automatic {
    /// `max_step` may be infinite.
    pub fn new(tolerances: Tolerances, max_step: f64) -> Self {
        let n = tolerances.absolute.len();
        Automatic {
            explicit: DormandPrince::new(tolerances.clone(), max_step),
            stiff: None,
            tolerances,
            max_step,
            is_stiff: false,
            wants_switch: false,
            suspicious: 0,
            unsuspicious: 0,
            mean: 0.0,
            probation: FIRST_PROBATION,
            run: 0,
            explicit_run: 0,
            patience: FIRST_PATIENCE,
            retired: Statistics::default(),
            switches: 0,
            x: vec![0.0; n],
        }
    }

    /// Does the implicit method make the steps at present?
    pub fn is_stiff(&self) -> bool {
        self.is_stiff
    }

    fn active(&self) -> &dyn Integrator {
        match &self.stiff {
            Some(stiff) if self.is_stiff => stiff.integrator(),
            _ => &self.explicit,
        }
    }

    fn active_mut(&mut self) -> &mut dyn Integrator {
        match &mut self.stiff {
            Some(stiff) if self.is_stiff => stiff.integrator_mut(),
            _ => &mut self.explicit,
        }
    }

    fn switch(&mut self, system: &mut dyn OdeSystem) -> StepResult {
        if self.stiff.is_none() {
            self.stiff = Some(Stiff::new(system, self.tolerances.clone(), self.max_step));
        }
        let mut x = std::mem::take(&mut self.x);
        let old = self.active();
        let (t, h) = (old.time(), old.next_step_size());
        x.copy_from_slice(old.states());
        self.is_stiff = !self.is_stiff;
        self.wants_switch = false;
        self.suspicious = 0;
        self.unsuspicious = 0;
        self.explicit_run = 0;
        self.mean = 0.0;
        self.switches += 1;
        let new = self.active_mut();
        // A size that was right for one method is a good guess for the other, but not for BDF of order 1.
        new.propose_step_size(h);
        let started = new.reinit(system, t, &x);
        self.x = x;
        started
    }

    /// BDF replaces a Rosenbrock method, for good.
    fn replace_rosenbrock(&mut self, system: &mut dyn OdeSystem) -> StepResult {
        let Some(Stiff::Rosenbrock(old)) = &self.stiff else { return Ok(()) };
        let (t, h) = (old.time(), old.next_step_size());
        self.x.copy_from_slice(old.states());
        self.retired = old.statistics();
        self.switches += 1;
        let mut bdf = Bdf::new(self.tolerances.clone(), self.max_step);
        bdf.propose_step_size(h);
        let started = bdf.reinit(system, t, &self.x);
        self.stiff = Some(Stiff::Bdf(Box::new(bdf)));
        started
    }

    fn watch_explicit(&mut self) {
        let stiffness = self.explicit.stiffness();
        self.mean += MEAN_WEIGHT * (stiffness.max(f64::MIN_POSITIVE).ln().max(-1.0) - self.mean);
        if stiffness > STABILITY_BOUND || self.mean > MEAN_BOUND.ln() {
            self.unsuspicious = 0;
            self.suspicious += 1;
        } else {
            self.unsuspicious += 1;
            if self.unsuspicious >= REFUTING_STEPS {
                self.suspicious = 0;
            }
        }
        self.explicit_run += 1;
        // Without states there is nothing to be stiff.
        let is_trial = !self.x.is_empty() && self.explicit_run >= self.patience;
        if is_trial {
            self.patience = self.patience.saturating_mul(2);
        }
        self.wants_switch = is_trial || self.suspicious >= STIFF_STEPS;
    }

    fn watch_stiff(&mut self) {
        let suffices = self.stiff.as_mut().is_some_and(|s| s.stiffness() < EXPLICIT_SUFFICES);
        self.suspicious = if suffices { self.suspicious + 1 } else { 0 };
        self.wants_switch = self.suspicious >= self.probation;
        if self.wants_switch {
            self.probation = (2 * self.probation).min(LONGEST_PROBATION);
        }
    }
}

impl Integrator for Automatic {
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.run = 0;
        self.active_mut().restart(system, t, x)
    }

    fn reinit(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.run = 0;
        self.active_mut().reinit(system, t, x)
    }

    fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        if self.wants_switch {
            self.switch(system)?;
        } else if self.is_stiff && self.run >= LONGEST_RUN {
            self.replace_rosenbrock(system)?;
        }
        self.run = if self.is_stiff { self.run.saturating_add(1) } else { 0 };
        let mut stepped = self.active_mut().step(system, limit);
        if stepped.is_err() && !self.is_stiff {
            self.switch(system)?;
            stepped = self.active_mut().step(system, limit);
        }
        stepped?;
        if self.is_stiff {
            self.watch_stiff();
        } else {
            self.watch_explicit();
        }
        Ok(())
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        self.active().interpolate(t, x);
    }

    fn interpolant(&self, state: usize) -> Interpolant {
        self.active().interpolant(state)
    }

    fn step_start(&self) -> f64 {
        self.active().step_start()
    }

    fn time(&self) -> f64 {
        self.active().time()
    }

    fn states(&self) -> &[f64] {
        self.active().states()
    }

    fn derivatives(&self) -> &[f64] {
        self.active().derivatives()
    }

    fn next_step_size(&self) -> f64 {
        self.active().next_step_size()
    }

    fn propose_step_size(&mut self, h: f64) {
        self.active_mut().propose_step_size(h);
    }

    fn set_tolerances(&mut self, relative: f64, absolute: &[f64]) {
        self.explicit.set_tolerances(relative, absolute);
        self.tolerances.relative = relative;
        self.tolerances.absolute.copy_from_slice(absolute);
        if let Some(stiff) = &mut self.stiff {
            stiff.integrator_mut().set_tolerances(relative, absolute);
        }
    }

    fn set_max_step(&mut self, max_step: f64) {
        self.explicit.set_max_step(max_step);
        self.max_step = max_step;
        if let Some(stiff) = &mut self.stiff {
            stiff.integrator_mut().set_max_step(max_step);
        }
    }

    fn statistics(&self) -> Statistics {
        let stiff = self.stiff.as_ref().map(|s| s.integrator().statistics()).unwrap_or_default();
        let mut sum = self.explicit.statistics() + stiff + self.retired;
        sum.switches = self.switches;
        sum.restarts -= self.switches.min(sum.restarts);
        sum
    }
}
