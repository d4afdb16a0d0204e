//! Eigenvectors of a general real matrix from its Schur form, by substitution from the bottom (Golub and Van Loan, *Matrix
//! Computations*, chapter 7).

use saltus_numerics::{diagonal_blocks, eigenvalues_of_blocks};

use super::complex::Complex;
use super::dense::Dense;

/// `A = Z*T*Z'` with orthogonal `Z` and `T` block upper triangular: 1×1 blocks, and 2×2 blocks with complex pairs.
pub struct Schur {
    pub t: Dense,
    pub z: Dense,
    /// Real and imaginary parts of the eigenvalues in the order of the diagonal; of a pair the positive one first.
    pub real: Vec<f64>,
    pub imaginary: Vec<f64>,
}

/// `None` if the iteration does not converge.
pub fn schur(a: &Dense) -> Option<Schur> {
    let n = a.rows;
    let found = saltus_numerics::schur(n, a.items())?;
    Some(Schur::of_parts(Dense::from_items(n, n, found.t)?, Dense::from_items(n, n, found.z)?))
}

impl Schur {
    /// With the eigenvalues of a block upper triangular matrix.
    pub fn of_parts(t: Dense, z: Dense) -> Schur {
        let (real, imaginary) = eigenvalues_of_blocks(t.rows, t.items()).into_iter().unzip();
        Schur { t, z, real, imaginary }
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
    for (k, size) in diagonal_blocks(n, schur.t.items()) {
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
