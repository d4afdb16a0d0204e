//! What rounding leaves of the residuals of a large linear loop.
//!
//! Residuals are measured by the terms that an entry of the matrix and an unknown make. In a torn loop the variables between
//! the unknowns may be larger than these, and cancel: then no step makes the residuals as small as they are expected to be, and a second
//! step, with another evaluation of the equations, is in vain every time.
//!
//! In: the residuals before and after second steps. Out: is a second step worth it? What is learned is looked at again from time to time.

/// A second step that leaves more than this part of the residuals has found rounding.
const IN_VAIN: f64 = 0.5;
/// Rounding differs from point to point by such a factor.
const SCATTER: f64 = 4.0;
/// Larger residuals are never taken for rounding; a hundredth of what solves a system at all.
const MOST_ROUNDING: f64 = 1e-10;
/// So many solutions do without a second step before one is made again.
const TRUSTED_SOLUTIONS: u32 = 64;

/// Of a sequence of similar systems.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Rounding {
    /// The largest residual, relative to its terms, that is taken for rounding.
    level: f64,
    /// Solutions in a row that were believed for it.
    believed: u32,
}

impl Rounding {
    pub fn explains(&mut self, residual: f64) -> bool {
        let is_explained = residual <= self.level && self.believed < TRUSTED_SOLUTIONS;
        self.believed = if is_explained { self.believed + 1 } else { 0 };
        is_explained
    }

    /// Residuals before and after a second step, relative to their terms.
    pub fn learn(&mut self, before: f64, after: f64) {
        let is_in_vain = after > IN_VAIN * before;
        self.level = if is_in_vain { (SCATTER * before).min(MOST_ROUNDING) } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_second_step_leaves_is_rounding_for_a_while() {
        let mut rounding = Rounding::default();
        assert!(!rounding.explains(3e-14));
        rounding.learn(3e-14, 5e-14);
        let n = (0..1_000).take_while(|_| rounding.explains(2e-14)).count();
        assert_eq!(n, TRUSTED_SOLUTIONS as usize);
        // Looked at again, and believed again.
        rounding.learn(2e-14, 2e-14);
        assert!(rounding.explains(2e-14) && !rounding.explains(1e-12));
    }

    #[test]
    fn a_second_step_that_helps_is_made_again() {
        let mut rounding = Rounding::default();
        rounding.learn(3e-14, 5e-14);
        rounding.learn(3e-14, 1e-16);
        assert!(!rounding.explains(3e-14));
        // What is larger than any rounding is not believed, whatever steps do.
        rounding.learn(1e-9, 1e-9);
        assert!(!rounding.explains(1e-9) && rounding.explains(1e-10));
    }
}
