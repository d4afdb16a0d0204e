//! The last attempt to solve a loop: from a start value along the path of solutions of simpler equations.
//!
//! ```text
//! r(x) − (1 − λ)·r(x₀) = 0       λ = 0: x₀ is a solution; λ = 1: the equations themselves
//! ```

use saltus_numerics::{Eval, Homotopy, Matrix, NonlinearSystem, follow};

use super::{Body, LoopRecord, Reals, Start, sparse_pattern};

/// Starts of paths, the most trusted first.
const STARTS: [Start; 4] = [Start::Declared, Start::Accepted, Start::Nominal, Start::Present];
/// Each point of a path factors a full matrix.
const MOST_UNKNOWNS: usize = 200;

struct FromStart<'s, 'b, 'm> {
    body: &'s mut Body<'m>,
    at_start: &'b [f64],
}

impl Homotopy for FromStart<'_, '_, '_> {
    fn residual(&mut self, lambda: f64, x: &[f64], r: &mut [f64]) -> Eval {
        self.body.residual(x, r)?;
        for (r, at_start) in r.iter_mut().zip(self.at_start) {
            *r -= (1.0 - lambda) * at_start;
        }
        Ok(())
    }

    fn jacobian(&mut self, _: f64, x: &[f64], jacobian: &mut Matrix) -> bool {
        self.body.jacobian(x, jacobian)
    }
}

impl Reals {
    /// Follows paths from several starts and solves from their ends; true if that found a solution.
    pub(super) fn continues(&mut self, body: &mut Body, record: &mut LoopRecord) -> bool {
        let n = self.x.len();
        n <= MOST_UNKNOWNS && STARTS.into_iter().any(|start| self.continues_from(start, body, record))
    }

    fn continues_from(&mut self, start: Start, body: &mut Body, record: &mut LoopRecord) -> bool {
        self.begin_at(start);
        let mut at_start = vec![0.0; self.x.len()];
        if body.residual(&self.x, &mut at_start).is_err() {
            return false;
        }
        let matrix = sparse_pattern(body.l).map_or_else(|| Matrix::dense(at_start.len()), |p| Matrix::sparse(&p));
        let mut path = FromStart { body: &mut *body, at_start: &at_start };
        let followed = follow(&mut path, matrix, &mut self.x, &self.nominal);
        self.newton.forget_jacobian();
        let reached = followed.map_or_else(|ends| ends.lambda, |_| 1.0);
        self.tried.furthest = Some(self.tried.furthest.map_or(reached, |furthest| furthest.max(reached)));
        followed.is_ok() && self.newton_from_here(body, record).is_ok()
    }
}
