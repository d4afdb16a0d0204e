//! Balancing: a diagonal similarity that makes rows and columns of similar size, so that units do not cost digits.
//!
//! ```text
//! [-1  1e9; -1e-9  -1]    →    [-1  1; -1  -1]
//! ```

use crate::tuning::decompositions::{LARGEST_EXPONENT, MOST_BALANCING_SWEEPS, WORTHWHILE};

/// `A := D⁻¹·A·D` for the n×n matrix `a`, with powers of two in the diagonal matrix `D`, which is returned. Nothing is
/// rounded, and the eigenvalues stay.
pub fn balance(n: usize, a: &mut [f64]) -> Vec<f64> {
    let mut scale = vec![1.0; n];
    for _ in 0..MOST_BALANCING_SWEEPS {
        let mut has_changed = false;
        for i in 0..n {
            let others = || (0..n).filter(move |&j| j != i);
            let column = others().fold(0.0f64, |s, j| s.hypot(a[j * n + i]));
            let row = others().fold(0.0f64, |s, j| s.hypot(a[i * n + j]));
            if column == 0.0 || row == 0.0 || !(column * row).is_finite() {
                continue;
            }
            let exponent = (0.5 * (row / column).log2()).round();
            let factor = exponent.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT).exp2();
            if column * factor + row / factor < WORTHWHILE * (column + row) {
                has_changed = true;
                scale[i] *= factor;
                (0..n).for_each(|j| a[i * n + j] /= factor);
                (0..n).for_each(|j| a[j * n + i] *= factor);
            }
        }
        if !has_changed {
            break;
        }
    }
    scale
}
