//! Unknowns that a loop leaves open at its solution.
//!
//! ```text
//! (x - 1)*(y - 1) = 0, (x - 1)*(y - 2) = 0      x = 1, and every y fulfils the equations
//! x^2 + y^2 = 1, 2*x^2 + 2*y^2 = 2              every point of the circle does
//! x^2 = 0                                       singular as well, but x = 0 alone fulfils it
//! ```
//!
//! A singular Jacobian alone says little, so one unknown that it leaves open is moved, to both sides, and the others are solved for: if the
//! equations hold there too, they do not determine where the solution is.

use saltus_base::Span;
use saltus_numerics::{NonlinearSystem, RankRevealingLu};
use saltus_program::SimProgram;

use super::{Body, LARGEST_RANK, LoopWork};
use crate::machine::Machine;

/// How far away the points are, in units of nominal values or of the values themselves.
const DISTANCE: f64 = 1e-2;
/// Steps of the simplified Newton iteration to such a point; each gains two digits, since that is how far away it is.
const MOST_STEPS: u32 = 10;
/// Residuals up to this part of their terms are rounding errors. A double root leaves the square of the distance.
const ROUNDING: f64 = 1e-10;

impl LoopWork {
    /// The name of an unknown that may have any value near the present one, and an equation of the loop. Changes memory.
    pub fn undetermined(&mut self, machine: &mut Machine, program: &SimProgram) -> Option<(String, Span)> {
        let n = self.l.unknowns.len();
        if self.l.discrete.is_some() || n == 0 || n > LARGEST_RANK {
            return None;
        }
        let x: Vec<f64> = self.l.unknowns.iter().map(|u| machine.get(u.slot)).collect();
        if x.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let scale: Vec<f64> = x.iter().zip(&self.reals.nominal).map(|(x, nominal)| nominal.max(x.abs())).collect();
        let (matrix, row_sizes) = self.scaled_jacobian(machine, &scale)?;
        let mut lu = RankRevealingLu::new(n);
        if lu.factor(&matrix) == n {
            return None;
        }
        let &open = lu.free_variables().first()?;
        let right: Vec<f64> = (0..n).map(|row| -matrix[row * n + open]).collect();
        let mut direction = vec![0.0; n];
        lu.solve(&right, &mut direction);
        direction[open] = 1.0;
        let holds = [DISTANCE, -DISTANCE].into_iter().all(|distance| {
            let mut moved: Vec<f64> = (0..n).map(|i| x[i] + distance * scale[i] * direction[i]).collect();
            (0..MOST_STEPS).any(|_| {
                let Some(residuals) = self.residuals_at(machine, &moved) else { return false };
                let holds = residuals.iter().all(|(r, size)| r.abs() <= ROUNDING * size || *r == 0.0);
                let right: Vec<f64> = residuals.iter().zip(&row_sizes).map(|((r, _), size)| -r / size).collect();
                lu.solve(&right, &mut direction);
                direction[open] = 0.0;
                moved.iter_mut().zip(&direction).zip(&scale).for_each(|((x, d), scale)| *x += d * scale);
                holds
            })
        });
        let unknown = self.l.unknowns.get(open)?;
        holds.then(|| (program.memory.slot_name(unknown.slot).into_owned(), self.l.body.span))
    }

    /// Columns in units of the unknowns, rows in units of their largest entries, which are returned too.
    fn scaled_jacobian(&self, machine: &mut Machine, scale: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = scale.len();
        let jacobian = self.l.jacobian.as_ref()?;
        machine.run(&self.l.body.code, self.l.body.span);
        for &(id, slot) in &self.l.body.stores {
            let value = machine.value(id);
            machine.set(slot, value);
        }
        machine.run(&jacobian.code, self.l.body.span);
        let mut matrix = vec![0.0; n * n];
        for &(row, column, id) in &jacobian.entries {
            matrix[row as usize * n + column as usize] += machine.value(id) * scale[column as usize];
        }
        let mut sizes = Vec::with_capacity(n);
        for row in matrix.chunks_mut(n) {
            let largest = row.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            if !largest.is_finite() {
                return None;
            }
            let size = if largest > 0.0 { largest } else { 1.0 };
            row.iter_mut().for_each(|x| *x /= size);
            sizes.push(size);
        }
        Some((matrix, sizes))
    }

    /// Residuals at this point, with the sizes of their terms.
    fn residuals_at(&mut self, machine: &mut Machine, x: &[f64]) -> Option<Vec<(f64, f64)>> {
        let n = x.len();
        let (mut residuals, mut sizes) = (vec![0.0; n], vec![0.0; n]);
        let mut body = Body {
            machine,
            l: &self.l,
            native: None,
            used: &self.reals.used,
            scratch: &mut self.reals.scratch,
            positions: &self.reals.positions,
            differences: false,
            n_interpreted: 0,
        };
        let is_known = body.residual(x, &mut residuals).is_ok() && body.terms(x, &mut sizes);
        is_known.then(|| residuals.into_iter().zip(sizes).collect())
    }
}
