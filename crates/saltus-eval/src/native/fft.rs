//! `ModelicaFFT_*` (package `Modelica.Math.FastFourierTransform`): amplitudes and phases of a sampled signal.
//!
//! In: an even number n of samples u. Out: for the frequencies k = 0 … n/2 amplitude and phase, in radians against a
//! cosine, of their share in the signal: those of 1/(n/2 + 1) · Σ u[j]·exp(−2πi·jk/n). The C library divides by the number
//! of frequencies, so that a tone appears with n/(n + 2) of its amplitude; results of other tools are compared with that.
//!
//! The transform itself is `realfft`'s, without vector instructions, so that the same samples give the same bits on every
//! machine.

use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

use super::arguments::{reals, value, write};
use super::{NativeContext, NativeFunction, NativeResult};
use crate::Value;

pub(super) const TABLE: &[(&str, NativeFunction)] = &[("ModelicaFFT_kiss_fftr", real_transform)];

const COMPUTED: i64 = 0;
const NOT_EVEN: i64 = 1;
const WRONG_WORK: i64 = 2;

/// Arguments: signal, its size, work, its size, amplitudes, phases.
fn real_transform(context: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let signal = reals(args, 0)?;
    let n = signal.len();
    if n == 0 || !n.is_multiple_of(2) {
        return Ok(Some(Value::Integer(NOT_EVEN)));
    }
    if value(args, 2)?.n_elements() < 3 * n + 2 * (n / 2 + 1) {
        return Ok(Some(Value::Integer(WRONG_WORK)));
    }
    let cost = (n as u64).saturating_mul(n.ilog2().into());
    context.steps = context.steps.saturating_add(cost / 16);
    let half = spectrum(signal)?;
    let n_frequencies = half.len() as f64;
    write(args, 4, Value::reals(half.iter().map(|x| x.re.hypot(x.im) / n_frequencies).collect()))?;
    write(args, 5, Value::reals(half.iter().map(|x| x.im.atan2(x.re)).collect()))?;
    Ok(Some(Value::Integer(COMPUTED)))
}

/// Σ u[j]·exp(−2πi·jk/n) for k = 0 … n/2.
fn spectrum(mut signal: Vec<f64>) -> NativeResult<Vec<Complex<f64>>> {
    let transform = RealFftPlanner::new().plan_fft_forward(signal.len());
    let mut spectrum = transform.make_output_vec();
    transform.process(&mut signal, &mut spectrum).map_err(|error| error.to_string())?;
    Ok(spectrum)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    fn check(signal: Vec<f64>, expected: impl Fn(usize) -> (f64, f64), tolerance: f64) {
        let n = signal.len();
        let found = spectrum(signal).expect("transform");
        assert_eq!(found.len(), n / 2 + 1);
        for (k, x) in found.iter().enumerate() {
            let (re, im) = expected(k);
            assert!((x.re - re).abs() + (x.im - im).abs() < tolerance, "n = {n}, k = {k}: {x}, not {re} + {im}i");
        }
    }

    /// 3·cos(2·θ) + sin(5·θ): only these two frequencies, with n/2 times their amplitudes.
    #[test]
    fn pure_tones_stand_alone() {
        for n in [12, 30, 64, 14, 2 * 499] {
            let angle = |j: usize| TAU * j as f64 / n as f64;
            let signal: Vec<f64> = (0..n).map(|j| 3.0 * (2.0 * angle(j)).cos() + (5.0 * angle(j)).sin()).collect();
            let half = n as f64 / 2.0;
            let expected = |k| match k {
                2 => (3.0 * half, 0.0),
                5 => (0.0, -half),
                _ => (0.0, 0.0),
            };
            check(signal, expected, 1e-12 * n as f64);
        }
    }

    /// u[j] = r^j is a geometric series: (1 − r^n)/(1 − r·w^k) with w = exp(−2πi/n).
    #[test]
    fn a_decay_has_the_sum_of_its_geometric_series() {
        let r: f64 = 0.9;
        for n in [2_i32, 4, 6, 26, 128, 2 * 97, 1000] {
            let top = 1.0 - r.powi(n);
            let expected = |k: usize| {
                let (sine, cosine) = (TAU * k as f64 / f64::from(n)).sin_cos();
                let (re, im) = (1.0 - r * cosine, r * sine);
                let square = re * re + im * im;
                (top * re / square, -top * im / square)
            };
            check((0..n).map(|j| r.powi(j)).collect(), expected, 1e-13 * f64::from(n));
        }
    }
}
