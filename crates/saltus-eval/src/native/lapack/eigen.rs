//! Eigenvalues and eigenvectors of a general real matrix: Hessenberg form by Householder reflections, real Schur form
//! by Francis' double-shift QR steps (Golub and Van Loan, *Matrix Computations*, chapter 7), eigenvectors by
//! substitution from the bottom.

use super::complex::Complex;
use super::dense::Dense;
use super::sylvester::{blocks, standardise};

/// `A = Z*T*Z'` with orthogonal `Z` and `T` block upper triangular: 1×1 blocks, and 2×2 blocks with complex pairs.
pub struct Schur {
    pub t: Dense,
    pub z: Dense,
    /// Real and imaginary parts of the eigenvalues in the order of the diagonal; of a pair the positive one first.
    pub real: Vec<f64>,
    pub imaginary: Vec<f64>,
}

const MOST_ITERATIONS: usize = 60;

/// `None` if the iteration does not converge.
pub fn schur(a: &Dense) -> Option<Schur> {
    let n = a.rows;
    let (mut t, mut z) = hessenberg(a);
    let mut high = n;
    let mut iterations = 0;
    while high > 0 {
        let low = active_block(&mut t, high);
        if high - low == 1 {
            high -= 1;
            iterations = 0;
        } else if high - low == 2 {
            split_block(&mut t, &mut z, low);
            high -= 2;
            iterations = 0;
        } else {
            iterations += 1;
            if iterations > MOST_ITERATIONS {
                return None;
            }
            double_step(&mut t, &mut z, low, high, iterations % 10 == 0);
        }
    }
    for (k, size) in blocks(&t) {
        if size == 2 {
            standardise(&mut t, &mut z, k);
        }
    }
    Some(Schur::of_parts(t, z))
}

impl Schur {
    /// With the eigenvalues of a block upper triangular matrix.
    pub fn of_parts(t: Dense, z: Dense) -> Schur {
        let n = t.rows;
        let (mut real, mut imaginary) = (vec![0.0; n], vec![0.0; n]);
        for (k, size) in blocks(&t) {
            if size == 2 {
                let (mean, square) = pair(&t, k);
                (real[k], real[k + 1]) = (mean, mean);
                let imag = (-square).max(0.0).sqrt();
                (imaginary[k], imaginary[k + 1]) = (imag, -imag);
            } else {
                real[k] = t[(k, k)];
            }
        }
        Schur { t, z, real, imaginary }
    }
}

/// Mean of the eigenvalues of the 2×2 block at `k`, and the square of half their difference.
fn pair(t: &Dense, k: usize) -> (f64, f64) {
    let half = (t[(k, k)] - t[(k + 1, k + 1)]) / 2.0;
    ((t[(k, k)] + t[(k + 1, k + 1)]) / 2.0, half * half + t[(k, k + 1)] * t[(k + 1, k)])
}

fn hessenberg(a: &Dense) -> (Dense, Dense) {
    let n = a.rows;
    let (mut h, mut z) = (a.clone(), Dense::identity(n));
    for k in 0..n.saturating_sub(2) {
        let column: Vec<f64> = (k + 1..n).map(|i| h[(i, k)]).collect();
        let Some(v) = reflector(&column) else { continue };
        reflect_rows(&mut h, &v, k + 1, k, n);
        reflect_columns(&mut h, &v, k + 1, n);
        reflect_columns(&mut z, &v, k + 1, n);
        for i in k + 2..n {
            h[(i, k)] = 0.0;
        }
    }
    (h, z)
}

/// The unit vector `v` for which `I - 2*v*v'` maps `x` to a multiple of the first unit vector; `None` if it is one.
fn reflector(x: &[f64]) -> Option<Vec<f64>> {
    let norm = x.iter().fold(0.0f64, |s, a| s.hypot(*a));
    if x.iter().skip(1).all(|&a| a == 0.0) {
        return None;
    }
    let mut v = x.to_vec();
    let first = v.first_mut()?;
    *first += if *first < 0.0 { -norm } else { norm };
    let length = v.iter().fold(0.0f64, |s, a| s.hypot(*a));
    v.iter_mut().for_each(|a| *a /= length);
    Some(v)
}

/// Applies the reflection to rows `row..` in the columns `from..to`.
fn reflect_rows(m: &mut Dense, v: &[f64], row: usize, from: usize, to: usize) {
    for j in from..to {
        let dot: f64 = v.iter().enumerate().map(|(i, x)| x * m[(row + i, j)]).sum();
        for (i, x) in v.iter().enumerate() {
            m[(row + i, j)] -= 2.0 * dot * x;
        }
    }
}

/// Applies the reflection to columns `column..` in the rows `..to`.
fn reflect_columns(m: &mut Dense, v: &[f64], column: usize, to: usize) {
    for i in 0..to {
        let dot: f64 = v.iter().enumerate().map(|(j, x)| x * m[(i, column + j)]).sum();
        for (j, x) in v.iter().enumerate() {
            m[(i, column + j)] -= 2.0 * dot * x;
        }
    }
}

/// Start of the unreduced block that ends before `high`; negligible subdiagonal entries become zero.
fn active_block(t: &mut Dense, high: usize) -> usize {
    let scale_of_all = t.norm_1();
    let mut low = high - 1;
    while low > 0 {
        let mut scale = t[(low - 1, low - 1)].abs() + t[(low, low)].abs();
        if scale == 0.0 {
            scale = scale_of_all;
        }
        if t[(low, low - 1)].abs() <= f64::EPSILON * scale {
            t[(low, low - 1)] = 0.0;
            break;
        }
        low -= 1;
    }
    low
}

/// Makes a 2×2 block with real eigenvalues triangular.
fn split_block(t: &mut Dense, z: &mut Dense, k: usize) {
    let (mean, square) = pair(t, k);
    if square < 0.0 {
        return;
    }
    let half = (t[(k, k)] - t[(k + 1, k + 1)]) / 2.0;
    let root = square.sqrt();
    let eigenvalue = mean + if half < 0.0 { -root } else { root };
    // An eigenvector becomes the first direction.
    let (x, y) = (eigenvalue - t[(k + 1, k + 1)], t[(k + 1, k)]);
    let Some(v) = reflector(&[x, y]) else { return };
    let n = t.rows;
    reflect_rows(t, &v, k, 0, n);
    reflect_columns(t, &v, k, n);
    reflect_columns(z, &v, k, n);
    t[(k + 1, k)] = 0.0;
}

/// One implicit double-shift step on the block `low..high` (at least 3×3).
fn double_step(t: &mut Dense, z: &mut Dense, low: usize, high: usize, exceptional: bool) {
    let n = t.rows;
    let (m, l) = (high - 1, high - 2);
    let (mut trace, mut determinant) = (t[(l, l)] + t[(m, m)], t[(l, l)] * t[(m, m)] - t[(l, m)] * t[(m, l)]);
    if exceptional {
        // An arbitrary shift breaks cycles.
        let s = t[(m, l)].abs() + t[(l, high - 3)].abs();
        (trace, determinant) = (1.5 * s, s * s);
    }
    let first = t[(low, low)];
    let mut start = vec![
        first * first + t[(low, low + 1)] * t[(low + 1, low)] - trace * first + determinant,
        t[(low + 1, low)] * (first + t[(low + 1, low + 1)] - trace),
        t[(low + 1, low)] * t[(low + 2, low + 1)],
    ];
    for k in low..high - 1 {
        let size = start.len();
        if let Some(v) = reflector(&start) {
            reflect_rows(t, &v, k, 0, n);
            reflect_columns(t, &v, k, n);
            reflect_columns(z, &v, k, n);
        }
        if k > low {
            for i in 1..size {
                t[(k + i, k - 1)] = 0.0;
            }
        }
        let last = (k + 4).min(high);
        start = (k + 1..last).map(|i| t[(i, k)]).collect();
    }
}

/// Right eigenvectors as columns, each of length 1; of a complex pair the real and imaginary part of the first, with a
/// real largest component (the convention of LAPACK).
pub fn eigenvectors(schur: &Schur) -> Dense {
    let n = schur.t.rows;
    let mut vectors = Dense::zeros(n, n);
    let mut k = 0;
    while k < n {
        let imaginary = schur.imaginary[k];
        let x = triangular_vector(schur, k, imaginary != 0.0);
        let mut full: Vec<Complex> = (0..n)
            .map(|i| x.iter().enumerate().fold(Complex::ZERO, |s, (j, c)| s.plus(c.scaled(schur.z[(i, j)]))))
            .collect();
        normalise(&mut full);
        for (i, c) in full.iter().enumerate() {
            vectors[(i, k)] = c.re;
            if imaginary != 0.0 {
                vectors[(i, k + 1)] = c.im;
            }
        }
        k += if imaginary != 0.0 { 2 } else { 1 };
    }
    vectors
}

/// Left eigenvectors (`u'*A = λ*u'`, with `u'` conjugate transposed) in the form of [`eigenvectors`].
pub fn left_eigenvectors(schur: &Schur) -> Dense {
    // They are the right ones of the transposed, whose Schur form is the transposed one from the end to the beginning.
    let n = schur.t.rows;
    let (mut t, mut z) = (Dense::zeros(n, n), Dense::zeros(n, n));
    for i in 0..n {
        for j in 0..n {
            t[(i, j)] = schur.t[(n - 1 - j, n - 1 - i)];
            z[(i, j)] = schur.z[(i, n - 1 - j)];
        }
    }
    let turned = eigenvectors(&Schur::of_parts(t, z));
    let mut vectors = Dense::zeros(n, n);
    for (k, size) in blocks(&schur.t) {
        let from = n - k - size;
        for i in 0..n {
            vectors[(i, k)] = turned[(i, from)];
            if size == 2 {
                vectors[(i, k + 1)] = -turned[(i, from + 1)];
            }
        }
    }
    vectors
}

/// Columns of eigenvectors, real or as pairs of real and imaginary part.
fn columns(vectors: &Dense, imaginary: &[f64]) -> Vec<(usize, Vec<Complex>)> {
    let (mut all, mut k) = (Vec::new(), 0);
    while k < vectors.columns {
        let is_pair = imaginary[k] != 0.0 && k + 1 < vectors.columns;
        let im = |i: usize| if is_pair { vectors[(i, k + 1)] } else { 0.0 };
        all.push((k, (0..vectors.rows).map(|i| Complex { re: vectors[(i, k)], im: im(i) }).collect()));
        k += if is_pair { 2 } else { 1 };
    }
    all
}

fn replace_columns(vectors: &mut Dense, imaginary: &[f64], change: impl Fn(&mut [Complex])) {
    for (k, mut x) in columns(vectors, imaginary) {
        change(&mut x);
        for (i, c) in x.iter().enumerate() {
            vectors[(i, k)] = c.re;
            if imaginary[k] != 0.0 && k + 1 < vectors.columns {
                vectors[(i, k + 1)] = c.im;
            }
        }
    }
}

/// Each vector of length 1, its largest component real.
pub fn normalise_columns(vectors: &mut Dense, imaginary: &[f64]) {
    replace_columns(vectors, imaginary, normalise);
}

/// Each vector with 1 as the largest sum of the sizes of real and imaginary part.
pub fn scale_to_largest(vectors: &mut Dense, imaginary: &[f64]) {
    replace_columns(vectors, imaginary, |x| {
        let largest = x.iter().fold(0.0f64, |s, c| s.max(c.re.abs() + c.im.abs()));
        if largest > 0.0 {
            x.iter_mut().for_each(|c| *c = c.scaled(1.0 / largest));
        }
    });
}

/// Reciprocal condition numbers of the eigenvalues: the cosine of the angle between left and right eigenvector.
pub fn conditions(schur: &Schur, left: &Dense, right: &Dense) -> Vec<f64> {
    let mut all = vec![0.0; schur.real.len()];
    let pairs = columns(left, &schur.imaginary).into_iter().zip(columns(right, &schur.imaginary));
    for ((k, u), (_, v)) in pairs {
        let dot = u.iter().zip(&v).fold(Complex::ZERO, |s, (a, b)| s.plus(a.conjugate().times(*b)));
        all[k] = dot.size();
        if schur.imaginary[k] != 0.0 && k + 1 < all.len() {
            all[k + 1] = dot.size();
        }
    }
    all
}

/// Eigenvector of `T` for its eigenvalue at `k`, from the bottom up.
fn triangular_vector(schur: &Schur, k: usize, is_pair: bool) -> Vec<Complex> {
    let t = &schur.t;
    let lambda = Complex { re: schur.real[k], im: schur.imaginary[k] };
    let tiny = f64::EPSILON * t.norm_1().max(f64::MIN_POSITIVE);
    let mut x = vec![Complex::ZERO; k + if is_pair { 2 } else { 1 }];
    if is_pair {
        // (T - λ) restricted to the block annihilates this vector.
        x[k] = Complex { re: t[(k, k + 1)], im: 0.0 };
        x[k + 1] = Complex { re: lambda.re - t[(k, k)], im: lambda.im };
    } else {
        x[k] = Complex { re: 1.0, im: 0.0 };
    }
    let mut i = k;
    while i > 0 {
        let is_block = i >= 2 && t[(i - 1, i - 2)] != 0.0;
        let size = if is_block { 2 } else { 1 };
        let top = i - size;
        let right: Vec<Complex> =
            (top..i).map(|r| (i..x.len()).fold(Complex::ZERO, |s, j| s.minus(x[j].scaled(t[(r, j)])))).collect();
        let entry = |r: usize, c: usize| {
            let d = Complex { re: t[(r, c)], im: 0.0 };
            if r == c { d.minus(lambda) } else { d }
        };
        // Equal eigenvalues make the divisor zero; a tiny one gives a vector as good as the matrix allows.
        let guard = |d: Complex| if d.size() < tiny { Complex { re: tiny, im: 0.0 } } else { d };
        if is_block {
            let (a, b, c, d) = (entry(top, top), entry(top, top + 1), entry(top + 1, top), entry(top + 1, top + 1));
            let determinant = a.times(d).minus(b.times(c));
            let determinant =
                if determinant.size() < tiny * tiny { Complex { re: tiny * tiny, im: 0.0 } } else { determinant };
            x[top] = right[0].times(d).minus(b.times(right[1])).over(determinant);
            x[top + 1] = a.times(right[1]).minus(c.times(right[0])).over(determinant);
        } else {
            x[top] = right[0].over(guard(entry(top, top)));
        }
        // Keeps the numbers in range when the guard made them huge.
        let largest = x.iter().fold(0.0f64, |s, c| s.max(c.size()));
        if largest > 1e100 {
            x.iter_mut().for_each(|c| *c = c.scaled(1.0 / largest));
        }
        i = top;
    }
    x
}

fn normalise(x: &mut [Complex]) {
    let norm = x.iter().fold(0.0f64, |s, c| s.hypot(c.size()));
    let largest = x.iter().fold(Complex::ZERO, |best, c| if c.size() > best.size() { *c } else { best });
    if norm == 0.0 || largest.im == 0.0 {
        x.iter_mut().for_each(|c| *c = c.scaled(if norm == 0.0 { 1.0 } else { 1.0 / norm }));
        return;
    }
    let turn = Complex { re: largest.re, im: -largest.im }.scaled(1.0 / (largest.size() * norm));
    x.iter_mut().for_each(|c| *c = c.times(turn));
}
