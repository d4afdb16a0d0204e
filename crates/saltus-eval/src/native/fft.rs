//! `ModelicaFFT_*` (package `Modelica.Math.FastFourierTransform`): amplitudes and phases of a sampled signal.
//!
//! In: an even number n of samples u. Out: for the frequencies k = 0 … n/2 amplitude and phase, in radians against a
//! cosine, of their share in the signal: those of 1/(n/2 + 1) · Σ u[j]·exp(−2πi·jk/n). The C library divides by the number
//! of frequencies, so that a tone appears with n/(n + 2) of its amplitude; results of other tools are compared with that.
//!
//! Method: decimation in time by the prime factors of n (Cooley and Tukey, Math. Comput. 19, 1965).

use std::f64::consts::TAU;

use super::arguments::{reals, value, write};
use super::{NativeContext, NativeFunction, NativeResult};
use crate::Value;

pub(super) const TABLE: &[(&str, NativeFunction)] = &[("ModelicaFFT_kiss_fftr", real_transform)];

const COMPUTED: i64 = 0;
const NOT_EVEN: i64 = 1;
const WRONG_WORK: i64 = 2;

#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn times(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    fn add(&mut self, other: Complex) {
        self.re += other.re;
        self.im += other.im;
    }
}

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
    let factors = prime_factors(n);
    let cost = (n as u64).saturating_mul(factors.iter().sum::<usize>() as u64);
    context.steps = context.steps.saturating_add(cost / 16);
    if cost > context.elements.saturating_mul(100) {
        return Err(format!("the transform of {n} samples, a multiple of a large prime, is too much work").into());
    }
    let roots: Vec<Complex> = (0..n)
        .map(|k| {
            let (sine, cosine) = (TAU * k as f64 / n as f64).sin_cos();
            Complex { re: cosine, im: -sine }
        })
        .collect();
    let mut spectrum = vec![Complex::default(); n];
    transform(&signal, 1, &mut spectrum, &factors, &roots);
    let half = spectrum.get(..n / 2 + 1).unwrap_or_default();
    let n_frequencies = half.len() as f64;
    write(args, 4, Value::reals(half.iter().map(|x| x.re.hypot(x.im) / n_frequencies).collect()))?;
    write(args, 5, Value::reals(half.iter().map(|x| x.im.atan2(x.re)).collect()))?;
    Ok(Some(Value::Integer(COMPUTED)))
}

fn prime_factors(mut n: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut p = 2;
    while p * p <= n {
        while n.is_multiple_of(p) {
            factors.push(p);
            n /= p;
        }
        p += 1;
    }
    if n > 1 {
        factors.push(n);
    }
    factors
}

/// The spectrum of every `stride`-th sample, from those of the `p` interleaved parts of these samples. There are as many
/// levels as prime factors.
fn transform(signal: &[f64], stride: usize, spectrum: &mut [Complex], factors: &[usize], roots: &[Complex]) {
    let Some((&p, rest)) = factors.split_first() else {
        if let (Some(slot), Some(&sample)) = (spectrum.first_mut(), signal.first()) {
            *slot = Complex { re: sample, im: 0.0 };
        }
        return;
    };
    let n = spectrum.len();
    let m = n / p;
    for (part, place) in spectrum.chunks_exact_mut(m).enumerate() {
        transform(signal.get(part * stride..).unwrap_or_default(), stride * p, place, rest, roots);
    }
    let root = |k: usize| roots.get(k % n * stride).copied().unwrap_or_default();
    let mut parts = vec![Complex::default(); p];
    for k in 0..m {
        for (part, slot) in parts.iter_mut().enumerate() {
            *slot = spectrum.get(part * m + k).copied().unwrap_or_default();
        }
        for q in 0..p {
            let mut sum = Complex::default();
            parts.iter().enumerate().for_each(|(part, &x)| sum.add(x.times(root(part * (k + q * m)))));
            if let Some(slot) = spectrum.get_mut(q * m + k) {
                *slot = sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spectrum(signal: &[f64]) -> Vec<Complex> {
        let n = signal.len();
        let angle = |k: usize| TAU * k as f64 / n as f64;
        let roots: Vec<Complex> = (0..n).map(|k| Complex { re: angle(k).cos(), im: -angle(k).sin() }).collect();
        let mut found = vec![Complex::default(); n];
        transform(signal, 1, &mut found, &prime_factors(n), &roots);
        found
    }

    /// 3·cos(2·θ) + sin(5·θ): only these two frequencies, with n/2 times their amplitudes.
    #[test]
    fn pure_tones_stand_alone() {
        for n in [12, 30, 64, 14] {
            let angle = |j: usize| TAU * j as f64 / n as f64;
            let signal: Vec<f64> = (0..n).map(|j| 3.0 * (2.0 * angle(j)).cos() + (5.0 * angle(j)).sin()).collect();
            let half = n as f64 / 2.0;
            for (k, x) in spectrum(&signal).iter().take(n / 2 + 1).enumerate() {
                let (re, im) = match k {
                    2 => (3.0 * half, 0.0),
                    5 => (0.0, -half),
                    _ => (0.0, 0.0),
                };
                assert!((x.re - re).abs() + (x.im - im).abs() < 1e-11, "n = {n}, k = {k}: {x:?}");
            }
        }
    }

    #[test]
    fn factors() {
        assert_eq!(prime_factors(360), [2, 2, 2, 3, 3, 5]);
        assert_eq!((prime_factors(1), prime_factors(14)), (vec![], vec![2, 7]));
    }
}
