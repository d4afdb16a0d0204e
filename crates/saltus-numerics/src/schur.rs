//! Real Schur form and eigenvalues of a dense matrix: Hessenberg form by Householder reflections, then Francis' double-shift QR
//! steps (Golub and Van Loan, *Matrix Computations*, chapter 7).
//!
//! In: a square matrix, row by row. Out: `A = Z·T·Zᵀ` with orthogonal `Z` and `T` block upper triangular – 1×1 blocks, and
//! 2×2 blocks of complex pairs –, or the eigenvalues alone, for which the matrix is balanced first.

use crate::balance::balance;
use crate::tuning::decompositions::{EXCEPTIONAL_STEP, MOST_QR_STEPS};

/// `A = Z·T·Zᵀ`, both row by row.
#[derive(Clone, Debug)]
pub struct Schur {
    pub t: Vec<f64>,
    pub z: Vec<f64>,
}

/// The Schur form of the n×n matrix `a`; `None` if an entry is not finite or the iteration fails.
pub fn schur(n: usize, a: &[f64]) -> Option<Schur> {
    let mut iteration = Iteration::begin(n, a, true)?;
    iteration.run()?;
    let z = (0..n * n).map(|k| iteration.z_transposed[k % n * n + k / n]).collect();
    Some(Schur { t: iteration.t, z })
}

/// The eigenvalues of the n×n matrix `a` as real and imaginary part, by decreasing real part, of a pair the positive
/// imaginary part first; `None` if an entry is not finite or the iteration fails.
pub fn eigenvalues(n: usize, a: &[f64]) -> Option<Vec<(f64, f64)>> {
    let mut balanced = a.to_vec();
    if a.len() == n * n {
        balance(n, &mut balanced);
    }
    let mut iteration = Iteration::begin(n, &balanced, false)?;
    iteration.run()?;
    let mut values = eigenvalues_of_blocks(n, &iteration.t);
    values.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    Some(values)
}

/// First row and size of the diagonal blocks of a block upper triangular matrix.
pub fn diagonal_blocks(n: usize, t: &[f64]) -> Vec<(usize, usize)> {
    let (mut all, mut k) = (Vec::new(), 0);
    while k < n {
        let size = if k + 1 < n && t[(k + 1) * n + k] != 0.0 { 2 } else { 1 };
        all.push((k, size));
        k += size;
    }
    all
}

/// The eigenvalues of a block upper triangular matrix in the order of its diagonal; of a pair the positive one first.
pub fn eigenvalues_of_blocks(n: usize, t: &[f64]) -> Vec<(f64, f64)> {
    let mut values = Vec::with_capacity(n);
    for (k, size) in diagonal_blocks(n, t) {
        if size == 1 {
            values.push((t[k * n + k], 0.0));
            continue;
        }
        let (mean, square) = pair(n, t, k);
        let imaginary = (-square).max(0.0).sqrt();
        values.extend([(mean, imaginary), (mean, -imaginary)]);
    }
    values
}

/// Mean of the eigenvalues of the 2×2 block at `k`, and the square of half their difference.
fn pair(n: usize, t: &[f64], k: usize) -> (f64, f64) {
    let (a, b, c, d) = (t[k * n + k], t[k * n + k + 1], t[(k + 1) * n + k], t[(k + 1) * n + k + 1]);
    let half = (a - d) / 2.0;
    ((a + d) / 2.0, half * half + b * c)
}

/// The matrix on its way to the Schur form.
struct Iteration {
    n: usize,
    t: Vec<f64>,
    /// `Zᵀ`, so that reflections run along the memory. Empty if only the eigenvalues are wanted; then only the blocks of `t`
    /// are kept up to date.
    z_transposed: Vec<f64>,
    norm: f64,
    work: Vec<f64>,
}

impl Iteration {
    fn begin(n: usize, a: &[f64], wants_vectors: bool) -> Option<Iteration> {
        if a.len() != n * n || a.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let z_transposed =
            if wants_vectors { (0..n * n).map(|k| f64::from(k / n == k % n)).collect() } else { Vec::new() };
        let norm = a.iter().fold(0.0f64, |largest, v| largest.max(v.abs())) * n as f64;
        Some(Iteration { n, t: a.to_vec(), z_transposed, norm, work: vec![0.0; n] })
    }

    fn run(&mut self) -> Option<()> {
        self.reduce_to_hessenberg();
        let (mut high, mut steps) = (self.n, 0);
        while high > 0 {
            let low = self.active_block(high);
            match high - low {
                1 => (high, steps) = (low, 0),
                2 => {
                    self.split_block(low);
                    (high, steps) = (low, 0);
                }
                _ => {
                    steps += 1;
                    if steps > MOST_QR_STEPS {
                        return None;
                    }
                    self.double_step(low, high, steps % EXCEPTIONAL_STEP == 0);
                }
            }
        }
        Some(())
    }

    fn reduce_to_hessenberg(&mut self) {
        let n = self.n;
        for k in 0..n.saturating_sub(2) {
            let mut v: Vec<f64> = (k + 1..n).map(|i| self.t[i * n + k]).collect();
            if !make_reflector(&mut v) {
                continue;
            }
            reflect_rows(&mut self.t, n, &v, k + 1, (k, n), &mut self.work);
            reflect_columns(&mut self.t, n, &v, k + 1, (0, n));
            if !self.z_transposed.is_empty() {
                reflect_rows(&mut self.z_transposed, n, &v, k + 1, (0, n), &mut self.work);
            }
            (k + 2..n).for_each(|i| self.t[i * n + k] = 0.0);
        }
    }

    /// Start of the unreduced block that ends before `high`; a negligible subdiagonal entry becomes zero.
    fn active_block(&mut self, high: usize) -> usize {
        let n = self.n;
        for low in (1..high).rev() {
            let around = self.t[(low - 1) * n + low - 1].abs() + self.t[low * n + low].abs();
            let scale = if around == 0.0 { self.norm } else { around };
            let below = &mut self.t[low * n + low - 1];
            if below.abs() <= f64::EPSILON * scale {
                *below = 0.0;
                return low;
            }
        }
        0
    }

    /// Applies a reflection of few rows and columns from `k` on, as far as the block `low..high` is concerned or all of `T`.
    fn reflect(&mut self, v: &[f64], k: usize, low: usize, high: usize) {
        let n = self.n;
        let is_complete = !self.z_transposed.is_empty();
        let (from, to) = if is_complete { (0, n) } else { (low, high) };
        reflect_rows(&mut self.t, n, v, k, (k.saturating_sub(1).max(low), to), &mut self.work);
        // Below these rows there are zeros.
        reflect_columns(&mut self.t, n, v, k, (from, (k + v.len() + 1).min(high)));
        if is_complete {
            reflect_rows(&mut self.z_transposed, n, v, k, (0, n), &mut self.work);
        }
    }

    /// Makes a 2×2 block with real eigenvalues triangular, and gives one with a complex pair equal diagonal entries.
    fn split_block(&mut self, k: usize) {
        let n = self.n;
        let (mean, square) = pair(n, &self.t, k);
        let (a, b, c, d) =
            (self.t[k * n + k], self.t[k * n + k + 1], self.t[(k + 1) * n + k], self.t[(k + 1) * n + k + 1]);
        if square < 0.0 {
            if a != d {
                let (sine, cosine) = (0.5 * (d - a).atan2(b + c)).sin_cos();
                self.rotate(k, cosine, sine);
                (self.t[k * n + k], self.t[(k + 1) * n + k + 1]) = (mean, mean);
            }
            return;
        }
        let root = square.sqrt();
        let eigenvalue = mean + if a < d { -root } else { root };
        // An eigenvector becomes the first direction.
        let mut v = vec![eigenvalue - d, c];
        if make_reflector(&mut v) {
            self.reflect(&v, k, k, k + 2);
        }
        self.t[(k + 1) * n + k] = 0.0;
    }

    /// Turns the directions `k` and `k + 1`.
    fn rotate(&mut self, k: usize, cosine: f64, sine: f64) {
        let n = self.n;
        let is_complete = !self.z_transposed.is_empty();
        let (from, to) = if is_complete { (0, n) } else { (k, k + 2) };
        let rows = |m: &mut [f64], from: usize, to: usize| {
            let (upper, lower) = m[k * n..(k + 2) * n].split_at_mut(n);
            for (x, y) in upper[from..to].iter_mut().zip(&mut lower[from..to]) {
                (*x, *y) = (cosine * *x + sine * *y, cosine * *y - sine * *x);
            }
        };
        rows(&mut self.t, k, to);
        for row in self.t[from * n..(k + 2) * n].chunks_exact_mut(n) {
            (row[k], row[k + 1]) = (cosine * row[k] + sine * row[k + 1], cosine * row[k + 1] - sine * row[k]);
        }
        if is_complete {
            rows(&mut self.z_transposed, 0, n);
        }
    }

    /// One implicit double-shift step on the block `low..high` (at least 3×3).
    fn double_step(&mut self, low: usize, high: usize, is_exceptional: bool) {
        let n = self.n;
        let at = |i: usize, j: usize| self.t[i * n + j];
        let (m, l) = (high - 1, high - 2);
        let (mut trace, mut determinant) = (at(l, l) + at(m, m), at(l, l) * at(m, m) - at(l, m) * at(m, l));
        if is_exceptional {
            let s = at(m, l).abs() + at(l, high - 3).abs();
            (trace, determinant) = (1.5 * s, s * s);
        }
        let first = at(low, low);
        let mut v = vec![
            first * first + at(low, low + 1) * at(low + 1, low) - trace * first + determinant,
            at(low + 1, low) * (first + at(low + 1, low + 1) - trace),
            at(low + 1, low) * at(low + 2, low + 1),
        ];
        for k in low..high - 1 {
            let size = v.len();
            if make_reflector(&mut v) {
                self.reflect(&v, k, low, high);
            }
            if k > low {
                (1..size).for_each(|i| self.t[(k + i) * n + k - 1] = 0.0);
            }
            v.clear();
            v.extend((k + 1..(k + 4).min(high)).map(|i| self.t[i * n + k]));
        }
    }
}

/// Replaces `x` by the unit vector `v` for which `I - 2·v·vᵀ` maps it to a multiple of the first unit vector; false if it
/// is one already.
fn make_reflector(x: &mut [f64]) -> bool {
    let scale = x.iter().fold(0.0f64, |largest, a| largest.max(a.abs()));
    let Some((first, rest)) = x.split_first_mut() else { return false };
    if rest.iter().all(|&a| a == 0.0) {
        return false;
    }
    *first /= scale;
    rest.iter_mut().for_each(|a| *a /= scale);
    let tail: f64 = rest.iter().map(|a| a * a).sum();
    let norm = (*first * *first + tail).sqrt();
    *first += if *first < 0.0 { -norm } else { norm };
    let length = (*first * *first + tail).sqrt();
    x.iter_mut().for_each(|a| *a /= length);
    true
}

/// Applies the reflection to rows `row..` in the columns of the range.
fn reflect_rows(m: &mut [f64], n: usize, v: &[f64], row: usize, (from, to): (usize, usize), work: &mut [f64]) {
    if let &[a, b, c] = v {
        let (first, rest) = m[row * n..(row + 3) * n].split_at_mut(n);
        let (second, third) = rest.split_at_mut(n);
        let rows = first[from..to].iter_mut().zip(&mut second[from..to]).zip(&mut third[from..to]);
        for ((x, y), z) in rows {
            let twice = 2.0 * (a * *x + b * *y + c * *z);
            (*x, *y, *z) = (*x - a * twice, *y - b * twice, *z - c * twice);
        }
        return;
    }
    let dots = &mut work[from..to];
    dots.fill(0.0);
    for (i, x) in v.iter().enumerate() {
        let line = &m[(row + i) * n + from..(row + i) * n + to];
        dots.iter_mut().zip(line).for_each(|(dot, a)| *dot += x * a);
    }
    for (i, x) in v.iter().enumerate() {
        let line = &mut m[(row + i) * n + from..(row + i) * n + to];
        dots.iter().zip(line).for_each(|(dot, a)| *a -= 2.0 * x * dot);
    }
}

/// Applies the reflection to columns `column..` in the rows of the range.
fn reflect_columns(m: &mut [f64], n: usize, v: &[f64], column: usize, (from, to): (usize, usize)) {
    let lines = m[from * n..to * n].chunks_exact_mut(n).map(|line| &mut line[column..column + v.len()]);
    if let &[a, b, c] = v {
        for line in lines {
            let [x, y, z] = line else { continue };
            let twice = 2.0 * (a * *x + b * *y + c * *z);
            (*x, *y, *z) = (*x - a * twice, *y - b * twice, *z - c * twice);
        }
        return;
    }
    for line in lines {
        let dot: f64 = v.iter().zip(&*line).map(|(x, a)| x * a).sum();
        line.iter_mut().zip(v).for_each(|(a, x)| *a -= 2.0 * dot * x);
    }
}
