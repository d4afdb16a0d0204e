//! Damped Newton iteration for `r(x) = 0`, made for the algebraic loops of a model.
//!
//! In: a [`NonlinearSystem`], a guess and nominal values. Out: a solution and what it cost, or why there is none.
//!
//! - Variables are measured by `max(nominal, |x|)`, equations by their largest Jacobian entry in these units: 1e5 Pa and
//!   1e-3 kg/s weigh the same, and a residual is about as large as the error of the variables.
//! - A step is shortened until the residual decreases (Armijo) and can be evaluated, and lengthened where it decreases too
//!   slowly: far out on an exponential characteristic, plain Newton steps all have the same small length.
//! - Where the Jacobian is singular, a regularised step is made; where that leads nowhere (`x² = 4` from its start
//!   value 0), the guess is moved a little.
//! - A point is also a solution if the Jacobian is singular there but every equation holds: what nothing determines stays as it is.
//! - A variable that is much smaller than its nominal value is brought to the same relative accuracy by a few more steps:
//!   what is left of its error is noise in everything that depends on it.
//! - A variable far below its nominal value makes any residual of a steep equation look small (`log(x) = 0` at x = 1e-300). So a
//!   point is a solution only if the residuals are small beside the terms of their equations, `|∂r/∂x|·|x|` or those that the
//!   system tells, or if the equations do what the Jacobian says: a step brings the residuals down, or a longer one changes them
//!   in proportion.
//! - The factors of one call serve the next: with a good guess a solution costs two or three evaluations and no Jacobian.
//!   Call [`NewtonSolver::forget_jacobian`] when the equations have changed their form.

use crate::integrator::{Eval, TrialFailure};
use crate::lu::{DenseLu, Singular, reciprocal_power_of_two};
use crate::matrix::Matrix;
use crate::rank::RankRevealingLu;
use crate::tuning::newton::*;

/// Equations `r(x) = 0`, as many as variables.
pub trait NonlinearSystem {
    /// Writes the residuals at `x`; a failure makes the step shorter.
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval;

    /// Gives variables that equations state explicitly (`v = sqrt(x^2 + y^2)`) the values that follow from the others. The Newton step of the whole
    /// system is then that of the system without them, whose steps leave no domain that only their linearisation does: `v` is never negative.
    fn settle(&mut self, _x: &mut [f64]) {}

    /// Writes for each equation how large it is without cancellation, the sum of the magnitudes of its terms at `x`, or returns
    /// false: then that is not known.
    fn terms(&mut self, _x: &[f64], _sizes: &mut [f64]) -> bool {
        false
    }

    /// Writes the values of `∂r/∂x`, all others being zero already, or returns false: then differences are taken.
    fn jacobian(&mut self, _x: &[f64], _jacobian: &mut Matrix) -> bool {
        false
    }
}

/// A function as a system without a Jacobian of its own.
pub struct Residual<F>(pub F);

impl<F: FnMut(&[f64], &mut [f64]) -> Eval> NonlinearSystem for Residual<F> {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
        (self.0)(x, r)
    }
}

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct NewtonOptions {
    /// For the last step and for the residual, in units of the variables' size.
    pub tolerance: f64,
    pub max_iterations: u32,
    /// Try the factors of the last call first.
    pub reuse_jacobian: bool,
    /// Factor the Jacobian in units of the variables, and where these do not determine a step, in units of their present values: a voltage of 1e-15
    /// beside one of 1 is then not taken for nothing.
    pub scale_columns: bool,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        NewtonOptions { tolerance: 1e-10, max_iterations: 100, reuse_jacobian: true, scale_columns: false }
    }
}

/// Cost and quality of a solution.
#[derive(Clone, Copy, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct NewtonReport {
    pub iterations: u32,
    pub evaluations: u32,
    pub jacobians: u32,
    /// Largest change of a variable that was still outstanding, in units of its size.
    pub step_norm: f64,
    /// Largest residual, in the same units.
    pub residual_norm: f64,
    /// The tolerance was out of reach of rounding; the solution is as good as it gets.
    pub is_limited_by_rounding: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NewtonError {
    /// The residual cannot be evaluated at the guess.
    StartFails,
    /// The Jacobian cannot be evaluated at a point where the residual can.
    JacobianFails(NewtonReport),
    /// No step decreases the residual: a minimum that is not a solution, or a discontinuity.
    Stagnated(NewtonReport),
    TooManyIterations(NewtonReport),
}

/// Work space and the factors of the last Jacobian, for systems of one size.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct NewtonSolver {
    pub options: NewtonOptions,
    n: usize,
    jacobian: Matrix,
    /// Is it that of the present point?
    is_jacobian_of_here: bool,
    /// Normal equations of the regularised step; made when the first one is needed.
    normal: Option<(Vec<f64>, DenseLu)>,
    /// Weights of the residuals.
    weight: Vec<f64>,
    size: Vec<f64>,
    /// Like `size`, with a small part of the nominal value.
    own_size: Vec<f64>,
    /// Units of the columns that were factored; empty where these are 1.
    column_scale: Vec<f64>,
    /// Are there variables that the present factors keep where they are?
    is_pinned: bool,
    r: Vec<f64>,
    r_trial: Vec<f64>,
    step: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
    start: Vec<f64>,
    report: NewtonReport,
}

/// Why a point may be a solution all the same, or not.
#[derive(Clone, Copy, PartialEq)]
enum Doubt {
    /// Steps have brought the residuals down.
    Predicted,
    /// They have not, but that may be because the Jacobian is that of another point.
    Elsewhere,
}

/// What is known about the residuals at a point.
#[derive(Clone, Copy, PartialEq)]
enum Confirmation {
    /// Small for their equations, or rounding.
    Small,
    /// Neither.
    Open(Doubt),
    /// No step brings them down.
    Refuted,
}

/// What a search along the step came to.
#[derive(PartialEq)]
enum Search {
    FullStep,
    /// With a shorter or a longer step.
    OtherStep,
    NoDecrease,
}

impl NewtonSolver {
    pub fn new(n: usize, options: NewtonOptions) -> Self {
        Self::with_matrix(Matrix::dense(n), options)
    }

    /// For a Jacobian that is sparse, or not.
    pub fn with_matrix(jacobian: Matrix, options: NewtonOptions) -> Self {
        let n = jacobian.n();
        let vector = || vec![0.0; n];
        NewtonSolver {
            options,
            n,
            jacobian,
            is_jacobian_of_here: false,
            normal: None,
            weight: vector(),
            size: vector(),
            own_size: vector(),
            column_scale: Vec::new(),
            is_pinned: false,
            r: vector(),
            r_trial: vector(),
            step: vector(),
            trial: vector(),
            best: vector(),
            start: vector(),
            report: NewtonReport::default(),
        }
    }

    /// The next call computes a Jacobian before its first step.
    pub fn forget_jacobian(&mut self) {
        self.jacobian.invalidate();
    }

    /// The residuals at the last point that was accepted, which a last small step may have left since.
    pub fn residuals(&self) -> &[f64] {
        &self.r
    }

    /// Goes on from a solution as long as steps with the present factors halve the residuals: where equations are steep they may be large beside their terms though the
    /// variables are known to the tolerance. The residual need not have been evaluated at `x` last.
    pub fn refine(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) {
        for _ in 0..MOST_POLISHING {
            if !self.jacobian.is_factored() {
                return;
            }
            self.newton_step();
            let before = self.merit(&self.r);
            if self.try_factor(system, x, 1.0) > CONFIRMING_DECREASE * before {
                return;
            }
            self.accept_trial(x);
        }
    }

    /// Solves from the guess in `x`, which holds the solution afterwards, or else the last point. `nominal` has
    /// the usual magnitude of each variable. The residual was last evaluated at a point not far from `x`, not always at
    /// `x` itself.
    pub fn solve(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        nominal: &[f64],
    ) -> Result<NewtonReport, NewtonError> {
        self.report = NewtonReport::default();
        self.is_jacobian_of_here = false;
        if self.n == 0 {
            return Ok(self.report);
        }
        self.measure(x, nominal);
        self.evaluate(system, x).map_err(|_| NewtonError::StartFails)?;
        std::mem::swap(&mut self.r, &mut self.r_trial);
        if self.options.reuse_jacobian && self.jacobian.is_factored() {
            self.start.copy_from_slice(x);
            if self.solve_with_old_factors(system, x) {
                // Who enters with a solution leaves with the same one.
                if self.report.iterations > 0 {
                    self.polish(system, x);
                }
                if self.confirm(system, x) == Confirmation::Small {
                    return Ok(self.report);
                }
            }
            x.copy_from_slice(&self.start);
            self.measure(x, nominal);
            self.evaluate(system, x).map_err(|_| NewtonError::StartFails)?;
            std::mem::swap(&mut self.r, &mut self.r_trial);
        }
        self.solve_damped(system, x, nominal)
    }

    fn solve_damped(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        nominal: &[f64],
    ) -> Result<NewtonReport, NewtonError> {
        let mut nudges = NUDGES.iter();
        let mut flat = LONGEST_STEP;
        let mut doubt = None;
        let mut does_as_predicted = false;
        loop {
            if self.r.iter().all(|&r| r == 0.0) {
                (self.report.residual_norm, self.report.step_norm) = (0.0, 0.0);
                return Ok(self.report);
            }
            self.measure(x, nominal);
            self.evaluate_jacobian(system, x).map_err(|_| NewtonError::JacobianFails(self.report))?;
            let mut is_regular = self.factor();
            if is_regular {
                self.newton_step();
                if doubt.is_some() && self.is_small_beside_slopes(x) {
                    return Ok(self.report);
                }
            }
            // What is left of the residuals is nothing in units of nominal values, but not all variables are determined in these.
            let is_blind = !is_regular || self.report.residual_norm <= self.options.tolerance && !self.is_converged();
            if is_blind && self.options.scale_columns {
                is_regular = self.factor_in_present_units(x, nominal);
            }
            if is_regular && doubt.is_none() && self.is_converged() {
                self.polish(system, x);
                if self.is_confirmed(system, x, &mut doubt) {
                    return Ok(self.report);
                }
                // The steps have led away from where the Jacobian is known.
                if doubt.is_some() && self.report.iterations < self.options.max_iterations {
                    self.report.iterations += 1;
                    continue;
                }
            }
            if self.report.iterations >= self.options.max_iterations {
                // A double root at 0 is approached for ever.
                let is_approached = doubt == Some(Doubt::Predicted) || doubt.is_some() && does_as_predicted;
                if is_approached || is_regular && self.is_rounding(system, x) {
                    return Ok(self.limited_by_rounding());
                }
                return Err(NewtonError::TooManyIterations(self.report));
            }
            self.report.iterations += 1;
            let is_close = is_regular && self.report.step_norm <= self.rounding_limit();
            let before = self.merit(&self.r);
            let searched = if is_regular { self.search(system, x, flat) } else { Search::NoDecrease };
            flat = LONGEST_STEP;
            does_as_predicted = searched == Search::FullStep && self.merit(&self.r) <= CONFIRMING_DECREASE * before;
            if searched == Search::FullStep && doubt.is_none() {
                // After a quick full step its factors can tell whether another one is needed.
                let before = self.report.step_norm;
                self.newton_step();
                if self.is_converged() && self.report.step_norm <= QUICK * before {
                    self.polish(system, x);
                    if self.is_confirmed(system, x, &mut doubt) {
                        return Ok(self.report);
                    }
                }
            }
            if searched != Search::NoDecrease {
                continue;
            }
            // An equation that is almost flat leaves its variable uncertain: only the residual can tell.
            let is_confirmed = is_close && self.confirm(system, x) != Confirmation::Refuted;
            if is_confirmed || doubt == Some(Doubt::Predicted) || is_regular && self.is_rounding(system, x) {
                return Ok(self.limited_by_rounding());
            }
            if self.is_solved_but_for_free_variables(system, x) {
                return Ok(self.limited_by_rounding());
            }
            if self.regularised_step(system, x) != Search::NoDecrease {
                continue;
            }
            let nudged = nudges.next().is_some_and(|&by| self.nudge(system, x, by));
            if !nudged {
                return Err(NewtonError::Stagnated(self.report));
            }
            flat = SHORT;
        }
    }

    fn limited_by_rounding(&mut self) -> NewtonReport {
        self.report.is_limited_by_rounding = true;
        self.report
    }

    /// A step so small that only rounding can keep the residual from decreasing.
    fn rounding_limit(&self) -> f64 {
        (ROUNDING_TOLERANCES * self.options.tolerance).clamp(ROUNDING_BOUNDS.0, ROUNDING_BOUNDS.1)
    }

    fn measure(&mut self, x: &[f64], nominal: &[f64]) {
        for (i, (x, nominal)) in x.iter().zip(nominal).enumerate() {
            let at_least = |part: f64| x.abs().max(part * nominal.abs()).max(f64::MIN_POSITIVE);
            (self.size[i], self.own_size[i]) = (at_least(1.0), at_least(SMALL));
        }
    }

    /// Residuals at `x` into `r_trial`.
    fn evaluate(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Eval {
        self.report.evaluations += 1;
        system.residual(x, &mut self.r_trial)?;
        if self.r_trial.iter().all(|r| r.is_finite()) { Ok(()) } else { Err(TrialFailure) }
    }

    fn evaluate_jacobian(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Eval {
        self.report.jacobians += 1;
        self.is_jacobian_of_here = true;
        self.jacobian.values.fill(0.0);
        if !system.jacobian(x, &mut self.jacobian) {
            for group in self.jacobian.column_groups() {
                self.difference_columns(system, x, &group)?;
            }
        }
        if self.weigh_rows() { Ok(()) } else { Err(TrialFailure) }
    }

    /// Measures the equations by their largest entries; false where the Jacobian is not made of numbers.
    fn weigh_rows(&mut self) -> bool {
        let (weight, size) = (&mut self.weight, &self.size);
        weight.fill(0.0);
        let mut is_number = true;
        self.jacobian.for_each(|row, column, value| {
            is_number &= !value.is_nan();
            weight[row] = weight[row].max((value * size[column]).abs());
        });
        for largest in weight {
            is_number &= largest.is_finite();
            *largest = if *largest > 0.0 { 1.0 / *largest } else { 1.0 };
        }
        is_number
    }

    /// Columns that share no row, by one evaluation; one by one where that fails.
    fn difference_columns(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], group: &[usize]) -> Eval {
        if let [j] = *group {
            return self.difference_column(system, x, j);
        }
        let old: Vec<f64> = group.iter().map(|&j| x[j]).collect();
        for &j in group {
            x[j] += f64::EPSILON.sqrt() * self.size[j].copysign(x[j]);
        }
        let evaluated = self.evaluate(system, x);
        let moved: Vec<f64> =
            group.iter().zip(&old).map(|(&j, old)| std::mem::replace(&mut x[j], *old) - old).collect();
        if evaluated.is_err() {
            return group.iter().try_for_each(|&j| self.difference_column(system, x, j));
        }
        let (after, before) = (&self.r_trial, &self.r);
        for (&j, h) in group.iter().zip(moved) {
            self.jacobian.set_column(j, |i| (after[i] - before[i]) / h);
        }
        Ok(())
    }

    fn difference_column(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], j: usize) -> Eval {
        let old = x[j];
        // Away from zero first: there the residual is more likely to be defined.
        let towards = if old < 0.0 { -1.0 } else { 1.0 };
        for by in [towards, -towards, SHORT_DIFFERENCE * towards] {
            x[j] = old + by * f64::EPSILON.sqrt() * self.size[j];
            let h = x[j] - old;
            let evaluated = self.evaluate(system, x);
            x[j] = old;
            if evaluated.is_ok() {
                let (after, before) = (&self.r_trial, &self.r);
                self.jacobian.set_column(j, |i| (after[i] - before[i]) / h);
                return Ok(());
            }
        }
        Err(TrialFailure)
    }

    /// Factors the Jacobian; false if it is singular.
    fn factor(&mut self) -> bool {
        self.is_pinned = false;
        if !self.options.scale_columns {
            return self.jacobian.factor().is_ok();
        }
        // Powers of two, so that nothing is rounded.
        self.column_scale.clear();
        self.column_scale.extend(self.size.iter().map(|size| 1.0 / reciprocal_power_of_two(*size)));
        let values = self.jacobian.values.clone();
        self.jacobian.scale_columns(&self.column_scale);
        let is_regular = self.factor_with_pins();
        self.jacobian.values = values;
        is_regular
    }

    /// Keeps variables where they are that the equations do not determine: an entry of their column that is next to nothing becomes so large that what
    /// is left of the residuals does not move them.
    fn factor_with_pins(&mut self) -> bool {
        let mut pinned: Vec<usize> = Vec::new();
        loop {
            let Err(Singular { column, .. }) = self.jacobian.factor() else {
                self.is_pinned = !pinned.is_empty();
                return true;
            };
            let mut least: Option<(usize, f64)> = None;
            let weight = &self.weight;
            self.jacobian.for_each(|row, c, value| {
                let size = (value * weight[row]).abs();
                if c == column && !pinned.contains(&row) && least.is_none_or(|(_, least)| size < least) {
                    least = Some((row, size));
                }
            });
            let place = least.filter(|_| pinned.len() < MOST_PINS).map(|(row, _)| row);
            let Some(at) = place.and_then(|row| self.jacobian.position(row, column)) else { return false };
            let row = place.unwrap_or_default();
            self.jacobian.values[at] = PIN / self.weight[row];
            pinned.push(row);
        }
    }

    /// The same, and the Newton step, in units of the present values.
    fn factor_in_present_units(&mut self, x: &[f64], nominal: &[f64]) -> bool {
        for (size, (x, nominal)) in self.size.iter_mut().zip(x.iter().zip(nominal)) {
            *size = x.abs().max(SMALLEST_UNIT * nominal.abs()).max(f64::MIN_POSITIVE);
        }
        let is_regular = self.weigh_rows() && self.factor();
        if is_regular {
            self.newton_step();
        }
        is_regular
    }

    /// Newton step from `r` into `step`; its norm and that of the residual into the report.
    fn newton_step(&mut self) {
        self.step.copy_from_slice(&self.r);
        self.jacobian.solve(&mut self.step);
        self.step.iter_mut().zip(&self.column_scale).for_each(|(step, scale)| *step *= scale);
        let mut largest = 0f64;
        for (step, size) in self.step.iter_mut().zip(&self.size) {
            *step = -*step;
            let scaled = step.abs() / size;
            largest = if scaled.is_nan() { f64::INFINITY } else { largest.max(scaled) };
        }
        self.report.step_norm = largest;
        self.report.residual_norm = self.r.iter().zip(&self.weight).fold(0f64, |m, (r, w)| m.max((r * w).abs()));
    }

    fn is_converged(&self) -> bool {
        let NewtonReport { step_norm, residual_norm, .. } = self.report;
        !self.is_pinned && step_norm <= self.options.tolerance && residual_norm <= self.options.tolerance
    }

    /// The outstanding step, measured by the variables' own values.
    fn own_step_norm(&self) -> f64 {
        self.step.iter().zip(&self.own_size).fold(0.0, |m, (step, size)| m.max(step.abs() / size))
    }

    /// Makes more steps with the present factors as long as they are long for variables much below their nominal values, and
    /// get shorter.
    fn polish(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) {
        let mut before = f64::INFINITY;
        for _ in 0..MOST_POLISHING {
            let outstanding = self.own_step_norm();
            let helps = outstanding > self.options.tolerance && outstanding < WORST_CONTRACTION * before;
            let worst = POLISHED * self.merit(&self.r);
            if !helps || self.try_factor(system, x, 1.0) > worst {
                return;
            }
            before = outstanding;
            self.accept_trial(x);
            self.report.iterations += 1;
            self.newton_step();
        }
    }

    /// Is a point at which steps are short for the nominal values a solution? Where that is open the iteration goes on, with damped steps and Jacobians of its points, until
    /// residuals are small or no step brings them down.
    fn is_confirmed(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], doubt: &mut Option<Doubt>) -> bool {
        match self.confirm(system, x) {
            Confirmation::Small => return true,
            Confirmation::Open(why) => *doubt = Some(why),
            Confirmation::Refuted => {}
        }
        false
    }

    /// Are the residuals small for the equations themselves, whatever the nominal values? Expects the Newton step from `x`. Steps that bring them down are made: a
    /// variable of 1e-18 whose nominal value is 1 is not known before.
    fn confirm(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Confirmation {
        let mut is_as_predicted = false;
        for _ in 0..MOST_POLISHING {
            if self.is_small_beside_slopes(x) {
                return Confirmation::Small;
            }
            let before = self.merit(&self.r);
            if self.try_factor(system, x, 1.0) > CONFIRMING_DECREASE * before {
                // The Jacobian of another point predicts nothing: what looks as if it were linear may be an accident.
                let is_linear = self.is_jacobian_of_here && self.overshoots_as_predicted(system, x);
                let is_rounding = is_linear || self.is_rounding(system, x);
                return match is_as_predicted {
                    _ if is_rounding => Confirmation::Small,
                    true => Confirmation::Open(Doubt::Predicted),
                    false if !self.is_jacobian_of_here => Confirmation::Open(Doubt::Elsewhere),
                    false => Confirmation::Refuted,
                };
            }
            is_as_predicted = true;
            self.accept_trial(x);
            self.newton_step();
        }
        // Steps still bring them down, too slowly: the factors are not those of this point.
        match self.is_small_beside_slopes(x) {
            true => Confirmation::Small,
            false => Confirmation::Open(Doubt::Predicted),
        }
    }

    /// Is what the residuals have lost to cancellation all that is left of them? `exp(x) - 1` is 0 for small x, whatever its slope.
    fn is_rounding(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        system.terms(x, &mut self.r_trial)
            && self.r.iter().zip(&self.r_trial).all(|(r, terms)| r.abs() <= ROUNDING_OF_TERMS * terms)
    }

    /// Is the Jacobian singular, and is the point a solution all the same, one of many? The variables that nothing determines, such
    /// as the voltage of a line between open breakers, are where they are.
    fn is_solved_but_for_free_variables(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        let n = self.n;
        let residual_norm = self.r.iter().zip(&self.weight).fold(0f64, |m, (r, w)| m.max((r * w).abs()));
        if residual_norm > self.options.tolerance || self.jacobian.is_sparse() && n > LARGEST_NORMAL {
            return false;
        }
        let mut rank = RankRevealingLu::new(n);
        if rank.factor(&self.jacobian.to_dense()) == n {
            return false;
        }
        let negative: Vec<f64> = self.r.iter().map(|r| -r).collect();
        self.step.fill(0.0);
        rank.solve(&negative, &mut self.step);
        let step_norm = self.step.iter().zip(&self.size).fold(0f64, |m, (step, size)| m.max(step.abs() / size));
        // What is small in units of nominal values must be so for the equation itself, or go away with the step.
        let mut slopes = vec![0.0; n];
        self.jacobian.for_each(|row, column, value| slopes[row] += (value * x[column]).abs());
        let mut terms = vec![0.0; n];
        if !system.terms(x, &mut terms) {
            terms.fill(0.0);
        }
        if step_norm > self.options.tolerance || !self.try_factor(system, x, 1.0).is_finite() {
            return false;
        }
        (self.report.step_norm, self.report.residual_norm) = (step_norm, residual_norm);
        (0..n).all(|i| {
            let r = self.r[i].abs();
            r <= SMALL_RESIDUAL * slopes[i]
                || r <= ROUNDING_OF_TERMS * terms[i]
                || self.r_trial[i].abs() <= CONFIRMING_DECREASE * r
        })
    }

    fn is_small_beside_slopes(&mut self, x: &[f64]) -> bool {
        let terms = &mut self.r_trial;
        terms.fill(0.0);
        self.jacobian.for_each(|row, column, value| terms[row] += (value * x[column]).abs());
        let small = (CONFIRMED_TOLERANCES * self.options.tolerance).min(SMALL_RESIDUAL);
        self.r.iter().zip(terms).all(|(r, terms)| r.abs() <= small * *terms)
    }

    /// Where rounding is all that is left of the residuals no step brings them down, but one that is much longer overshoots as far as the Jacobian says.
    fn overshoots_as_predicted(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        let before = self.merit(&self.r);
        if !self.try_factor(system, x, OVERSHOOT).is_finite() {
            return false;
        }
        let predicted = (OVERSHOOT - 1.0) * before;
        self.r_trial.iter_mut().zip(&self.r).for_each(|(trial, r)| *trial += (OVERSHOOT - 1.0) * r);
        self.merit(&self.r_trial) <= CONFIRMING_DECREASE * predicted
    }

    /// Euclidean norm of the weighted residuals.
    fn merit(&self, r: &[f64]) -> f64 {
        let squares = r.iter().zip(&self.weight).map(|(r, w)| (r * w).powi(2)).sum::<f64>();
        if squares.is_normal() || squares.is_nan() {
            return squares.sqrt();
        }
        // Squares of very small or large numbers do not exist.
        let largest = r.iter().zip(&self.weight).fold(0f64, |m, (r, w)| m.max((r * w).abs()));
        if largest == 0.0 || !largest.is_finite() {
            return largest;
        }
        largest * r.iter().zip(&self.weight).map(|(r, w)| (r * w / largest).powi(2)).sum::<f64>().sqrt()
    }

    /// Merit at `x + factor·step`, whose residuals are then in `r_trial`; infinite where there are none.
    fn try_factor(&mut self, system: &mut dyn NonlinearSystem, x: &[f64], factor: f64) -> f64 {
        let mut trial = std::mem::take(&mut self.trial);
        for i in 0..self.n {
            trial[i] = x[i] + factor * self.step[i];
        }
        system.settle(&mut trial);
        let merit = if self.evaluate(system, &trial).is_ok() { self.merit(&self.r_trial) } else { f64::INFINITY };
        self.trial = trial;
        if merit.is_nan() { f64::INFINITY } else { merit }
    }

    /// Takes over the last trial point.
    fn accept_trial(&mut self, x: &mut [f64]) {
        x.copy_from_slice(&self.trial);
        std::mem::swap(&mut self.r, &mut self.r_trial);
        self.is_jacobian_of_here = false;
    }

    /// Goes along the Newton step as far as the residual decreases enough. Where the step is longer than `flat`, the tangent is almost
    /// flat and knows the direction only: there it goes outwards from a short step, so that it meets the nearest solution first.
    fn search(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], flat: f64) -> Search {
        let before = self.merit(&self.r);
        let short = SHORT / self.report.step_norm;
        if self.report.step_norm > flat && short > 0.0 {
            let after = self.try_factor(system, x, short);
            if after <= (1.0 - ARMIJO * short) * before {
                self.lengthen(system, x, short, after);
                return Search::OtherStep;
            }
        }
        let mut factor = (LONGEST_STEP / self.report.step_norm).min(1.0);
        while factor >= SHORTEST_STEP && factor.is_finite() {
            let after = self.try_factor(system, x, factor);
            if after <= (1.0 - ARMIJO * factor) * before {
                if factor == 1.0 && after > SLOW * before {
                    self.lengthen(system, x, 1.0, after);
                    return Search::OtherStep;
                }
                self.accept_trial(x);
                return if factor == 1.0 { Search::FullStep } else { Search::OtherStep };
            }
            // Minimum of the parabola through both merits with the slope of a Newton step.
            let ratio = before / (2.0 * (after - before + factor * before));
            factor *=
                if after.is_finite() { (factor * ratio).clamp(BACKTRACKING.0, BACKTRACKING.1) } else { AFTER_FAILURE };
        }
        Search::NoDecrease
    }

    /// The step with this factor, tried last, is acceptable: doubles it as long as that pays. Takes over the best point.
    fn lengthen(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], mut factor: f64, merit: f64) {
        let mut best_merit = merit;
        self.best.copy_from_slice(&self.trial);
        std::mem::swap(&mut self.r, &mut self.r_trial);
        for _ in 0..MOST_DOUBLINGS {
            factor *= 2.0;
            let merit = self.try_factor(system, x, factor);
            if merit > WORTH_DOUBLING * best_merit {
                break;
            }
            best_merit = merit;
            self.best.copy_from_slice(&self.trial);
            std::mem::swap(&mut self.r, &mut self.r_trial);
        }
        x.copy_from_slice(&self.best);
    }

    /// Solves `(JᵀJ + μ)·d = −Jᵀr` in scaled quantities, with growing μ until the residual decreases. Large sparse
    /// systems do without: the product is not sparse.
    fn regularised_step(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Search {
        let n = self.n;
        if self.jacobian.is_sparse() && n > LARGEST_NORMAL {
            return Search::NoDecrease;
        }
        let before = self.merit(&self.r);
        let (mut normal, mut lu) = self.normal.take().unwrap_or_else(|| (vec![0.0; n * n], DenseLu::new(n)));
        let downhill = self.normal_equations(&mut normal);
        let mut found = Search::NoDecrease;
        let diagonal: Vec<f64> = normal.iter().step_by(n + 1).copied().collect();
        let mut damping = DAMPING.0;
        while damping <= DAMPING.1 && found == Search::NoDecrease {
            normal.iter_mut().step_by(n + 1).zip(&diagonal).for_each(|(place, d)| *place = d + damping);
            self.step.copy_from_slice(&downhill);
            if lu.factor(&normal).is_ok() {
                lu.solve(&mut self.step);
                let longest = self.step.iter().fold(0f64, |m, s| m.max(s.abs()));
                for (step, size) in self.step.iter_mut().zip(&self.size) {
                    *step *= size;
                }
                let factor = (LONGEST_STEP / longest).min(1.0);
                if longest > 0.0 && self.try_factor(system, x, factor) <= (1.0 - ARMIJO) * before {
                    self.accept_trial(x);
                    found = Search::OtherStep;
                }
            }
            damping *= DAMPING_FACTOR;
        }
        self.normal = Some((normal, lu));
        found
    }

    /// `JᵀJ` and `−Jᵀr` in scaled quantities. Row by row, and of a row only what is not zero: there is little of it in large systems.
    fn normal_equations(&self, normal: &mut [f64]) -> Vec<f64> {
        let n = self.n;
        let mut downhill = vec![0.0; n];
        normal.fill(0.0);
        let mut entries: Vec<(usize, f64)> = Vec::new();
        for (i, row) in self.jacobian.to_dense().chunks_exact(n).enumerate() {
            entries.clear();
            let scaled = row.iter().zip(&self.size).enumerate().map(|(j, (a, size))| (j, a * self.weight[i] * size));
            entries.extend(scaled.filter(|(_, a)| *a != 0.0));
            for &(j, a) in &entries {
                downhill[j] -= a * self.weight[i] * self.r[i];
                entries.iter().for_each(|&(k, b)| normal[j * n + k] += a * b);
            }
        }
        downhill
    }

    /// Moves all variables by a part of their size, by different amounts so that no symmetry survives.
    fn nudge(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], by: f64) -> bool {
        for direction in [1.0, -1.0] {
            for j in 0..self.n {
                let uneven = 1.0 + UNEVENNESS * ((j * 7 % 11) as f64) / 11.0;
                self.step[j] = direction * by * uneven * self.size[j];
            }
            if self.try_factor(system, x, 1.0).is_finite() {
                self.accept_trial(x);
                return true;
            }
        }
        false
    }

    /// Simplified Newton iteration with the factors of an earlier call; false if it does not contract well.
    fn solve_with_old_factors(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
        self.newton_step();
        // A step this small is believed; any larger one has to prove that the factors still fit.
        if self.report.step_norm <= BELIEVED * self.options.tolerance && self.is_converged() {
            return true;
        }
        for _ in 0..REUSED_ITERATIONS {
            let before = self.report.step_norm;
            if before > LONGEST_STEP || !self.try_factor(system, x, 1.0).is_finite() {
                return false;
            }
            self.accept_trial(x);
            self.report.iterations += 1;
            self.newton_step();
            let contraction = self.report.step_norm / before;
            if self.is_converged()
                && (contraction <= WORST_CONTRACTION || self.report.step_norm <= ROUNDING_ULPS * f64::EPSILON)
            {
                return true;
            }
            if contraction > WORST_CONTRACTION || contraction.is_nan() {
                return false;
            }
        }
        false
    }
}
