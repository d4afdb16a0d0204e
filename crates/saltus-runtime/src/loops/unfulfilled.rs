//! Equations of a loop that do not hold at what was accepted as its solution.
//!
//! ```modelica
//! y = tanh((x - 1)*1e18); x + y = 1.3;      // y is 0.3 where x is 3e-19 more than 1: no number is there, and x = 1 has y = 0
//! ```
//!
//! Newton's method ends where no number is nearer to the solution. Whether the equations hold there is another question, which costs an
//! interpretation of the body; so it is asked only if a residual is not small beside the variables, after some more steps, and ever less often if the answer is yes.

use saltus_base::Span;
use saltus_numerics::{NewtonError, NonlinearSystem};

use super::{Body, LoopWork, NoSolution, Reals};

/// Solutions of a loop that are looked at one after the other; after that the second, fourth, eighth, … of them.
const LOOKS_IN_A_ROW: u64 = 32;

/// What is known about a loop.
#[derive(Default)]
pub(super) struct Fulfilment {
    /// Solutions with a residual that might be too large.
    n_suspects: u64,
    /// The equation that does not hold at the last solution, and its residual as a part of its terms.
    at_last: Option<(usize, f64)>,
    /// That of an accepted point, until somebody asks.
    accepted: Option<(usize, f64)>,
    /// Nothing is looked at any more.
    is_told: bool,
}

impl Reals {
    /// Is a residual at the solution that has just been found not small beside the variables?
    pub(super) fn is_suspect(&mut self, body: &Body) -> bool {
        self.fulfilment.at_last = None;
        let negligible = body.negligible();
        self.residuals.iter().any(|r| r.abs() > negligible)
    }

    /// Makes residuals smaller that a steep loop has left though its unknowns are known to the tolerance.
    pub(super) fn refine(&mut self, body: &mut Body) -> Result<(), NoSolution> {
        self.newton.refine(body, &mut self.x);
        if !body.is_at(&self.x) {
            body.residual(&self.x, &mut self.residuals).map_err(|_| NoSolution::Newton(NewtonError::StartFails))?;
        }
        self.residuals.copy_from_slice(self.newton.residuals());
        Ok(())
    }

    /// Notes whether the equations hold there.
    pub(super) fn look_at_equations(&mut self, body: &mut Body) {
        let negligible = body.negligible();
        let known = &mut self.fulfilment;
        if known.is_told || self.residuals.iter().all(|r| r.abs() <= negligible) {
            return;
        }
        known.n_suspects += 1;
        if known.n_suspects <= LOOKS_IN_A_ROW || known.n_suspects.is_power_of_two() {
            known.at_last = body.unfulfilled(&mut self.residuals, negligible);
        }
    }
}

impl LoopWork {
    /// The point is part of the solution.
    pub(super) fn accept_equations(&mut self) {
        let known = &mut self.reals.fulfilment;
        if let Some(worst) = known.at_last.take() {
            (known.accepted, known.is_told) = (Some(worst), true);
        }
    }

    /// The first equation that did not hold at an accepted point, and its residual as a part of its terms; told once.
    pub fn take_unfulfilled(&mut self) -> Option<(Span, f64)> {
        let (row, part) = self.reals.fulfilment.accepted.take()?;
        Some((self.l.spans.get(row).copied().unwrap_or(self.l.body.span), part))
    }
}
