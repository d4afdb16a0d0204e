//! Eigenvalues and eigenvectors of two matrices: `A*x = λ*B*x`, each λ as a quotient `alpha/beta` that may be infinite.
//!
//! `A` becomes a Hessenberg and `B` a triangular matrix, then shifted QZ steps make both triangular (Moler and Stewart, *An
//! algorithm for generalized matrix eigenvalue problems*, 1973), here in complex numbers with one shift at a time.

use super::complex::{Complex, ComplexMatrix, rotation};
use super::dense::{self, Dense};
use super::{option, put, put_info, square};
use crate::Value;
use crate::native::arguments::{integer, write};
use crate::native::{NativeContext, NativeFunction, NativeResult};

pub(super) const TABLE: &[(&str, NativeFunction)] =
    &[("dggev", dggev), ("dgegv", dggev), ("dggevx", dggevx), ("dhgeqz", dhgeqz)];

const MOST_ITERATIONS: usize = 60;

/// `A = Q*S*Z'` and `B = Q*T*Z'` with unitary `Q`, `Z` and triangular `S`, `T`.
pub struct Triangular {
    s: ComplexMatrix,
    t: ComplexMatrix,
    /// The conjugate transposed of `Q`.
    q: ComplexMatrix,
    z: ComplexMatrix,
}

impl Triangular {
    fn rows(&mut self, i: usize, turn: (Complex, Complex)) {
        for m in [&mut self.s, &mut self.t, &mut self.q] {
            m.turn_rows(i, i + 1, turn);
        }
    }

    fn columns(&mut self, j: usize, turn: (Complex, Complex)) {
        for m in [&mut self.s, &mut self.t, &mut self.z] {
            m.turn_columns(j, j + 1, turn);
        }
    }

    /// Makes `T[j+1, j]` zero.
    fn clear_below(&mut self, j: usize) {
        let turn = rotation(self.t[(j + 1, j + 1)], self.t[(j + 1, j)]);
        self.columns(j, turn);
        self.t[(j + 1, j)] = Complex::ZERO;
    }

    /// `A` to Hessenberg form, `B` to triangular form.
    fn hessenberg(a: &Dense, b: &Dense) -> Triangular {
        let n = a.rows;
        let mut packed = b.clone();
        let (taus, _) = dense::qr(&mut packed, false);
        let q = dense::q_of(&packed, &taus).transposed();
        for i in 0..n {
            (0..i).for_each(|j| packed[(i, j)] = 0.0);
        }
        let mut all = Triangular {
            s: ComplexMatrix::of_real(&q.times(a)),
            t: ComplexMatrix::of_real(&packed),
            q: ComplexMatrix::of_real(&q),
            z: ComplexMatrix::of_real(&Dense::identity(n)),
        };
        for k in 0..n.saturating_sub(2) {
            for i in (k + 1..n - 1).rev() {
                let turn = rotation(all.s[(i, k)], all.s[(i + 1, k)]);
                all.rows(i, turn);
                all.s[(i + 1, k)] = Complex::ZERO;
                all.clear_below(i);
            }
        }
        all
    }

    /// Both triangular; `None` if the iteration does not converge.
    pub fn of(a: &Dense, b: &Dense) -> Option<Triangular> {
        let mut all = Triangular::hessenberg(a, b);
        let (small_s, small_t) = (f64::EPSILON * all.s.norm(), f64::EPSILON * all.t.norm());
        let mut high = a.rows;
        let mut iterations = 0;
        while high > 1 {
            let low = all.active_block(high, small_s);
            if high - low == 1 {
                high -= 1;
                iterations = 0;
                continue;
            }
            iterations += 1;
            if iterations > MOST_ITERATIONS {
                return None;
            }
            match (low..high).rev().find(|&k| all.t[(k, k)].size() <= small_t) {
                Some(k) => all.chase_zero(k, low, high),
                None => all.step(low, high, iterations % 10 == 0),
            }
        }
        Some(all)
    }

    /// Start of the unreduced block that ends before `high`; negligible subdiagonal entries become zero.
    fn active_block(&mut self, high: usize, small: f64) -> usize {
        let mut low = high - 1;
        while low > 0 && self.s[(low, low - 1)].size() > small {
            low -= 1;
        }
        if low > 0 {
            self.s[(low, low - 1)] = Complex::ZERO;
        }
        low
    }

    /// A zero on the diagonal of `T` belongs to an infinite eigenvalue: it is moved to the end of the block.
    fn chase_zero(&mut self, k: usize, low: usize, high: usize) {
        self.t[(k, k)] = Complex::ZERO;
        for j in k..high - 1 {
            let turn = rotation(self.t[(j, j + 1)], self.t[(j + 1, j + 1)]);
            self.rows(j, turn);
            self.t[(j + 1, j + 1)] = Complex::ZERO;
            if j > low {
                // The rotation has filled S[j+1, j-1].
                let turn = rotation(self.s[(j + 1, j)], self.s[(j + 1, j - 1)]);
                self.columns(j - 1, turn);
                self.s[(j + 1, j - 1)] = Complex::ZERO;
            }
        }
        let last = high - 1;
        let turn = rotation(self.s[(last, last)], self.s[(last, last - 1)]);
        self.columns(last - 1, turn);
        self.s[(last, last - 1)] = Complex::ZERO;
    }

    /// The eigenvalue of the last 2×2 block that is nearest to its last entry.
    fn shift(&self, high: usize) -> Complex {
        let (k, l) = (high - 2, high - 1);
        let (s, t) = (&self.s, &self.t);
        let (m11, m21) = (s[(k, k)].over(t[(k, k)]), s[(l, k)].over(t[(k, k)]));
        let u = t[(k, l)].over(t[(l, l)]);
        let m12 = s[(k, l)].over(t[(l, l)]).minus(u.times(m11));
        let m22 = s[(l, l)].over(t[(l, l)]).minus(u.times(m21));
        let mean = m11.plus(m22).scaled(0.5);
        let half = m11.minus(m22).scaled(0.5);
        let root = half.times(half).plus(m12.times(m21)).square_root();
        let (one, two) = (mean.plus(root), mean.minus(root));
        if one.minus(m22).size() < two.minus(m22).size() { one } else { two }
    }

    /// One step with a single shift on the block `low..high`.
    fn step(&mut self, low: usize, high: usize, is_exceptional: bool) {
        // An arbitrary shift breaks cycles.
        let shift = match is_exceptional {
            true => self.s[(high - 1, high - 2)].over(self.t[(high - 2, high - 2)]),
            false => self.shift(high),
        };
        let mut first = self.s[(low, low)].minus(shift.times(self.t[(low, low)]));
        let mut second = self.s[(low + 1, low)];
        for j in low..high - 1 {
            self.rows(j, rotation(first, second));
            if j > low {
                self.s[(j + 1, j - 1)] = Complex::ZERO;
            }
            self.clear_below(j);
            if j + 2 < high {
                (first, second) = (self.s[(j + 1, j)], self.s[(j + 2, j)]);
            }
        }
    }

    /// `alpha` and `beta` of each eigenvalue, `beta` not negative.
    fn eigenvalues(&self) -> Vec<(Complex, f64)> {
        let of = |k: usize| {
            let (alpha, beta) = (self.s[(k, k)], self.t[(k, k)]);
            match beta.size() {
                0.0 => (alpha, 0.0),
                size => (alpha.times(beta.conjugate()).scaled(1.0 / size), size),
            }
        };
        (0..self.s.n).map(of).collect()
    }

    /// The eigenvector number `k`, from the left or from the right.
    fn vector(&self, k: usize, is_left: bool) -> Vec<Complex> {
        let n = self.s.n;
        let (alpha, beta) = (self.s[(k, k)], self.t[(k, k)]);
        let entry = |i: usize, j: usize| beta.times(self.s[(i, j)]).minus(alpha.times(self.t[(i, j)]));
        let tiny = f64::EPSILON * (beta.size() * self.s.norm() + alpha.size() * self.t.norm()).max(f64::MIN_POSITIVE);
        let guard = |d: Complex| if d.size() < tiny { Complex::real(tiny) } else { d };
        let mut x = vec![Complex::ZERO; n];
        x[k] = Complex::real(1.0);
        if is_left {
            for i in k + 1..n {
                let sum = (k..i).fold(Complex::ZERO, |s, j| s.minus(entry(j, i).conjugate().times(x[j])));
                x[i] = sum.over(guard(entry(i, i)).conjugate());
            }
        } else {
            for i in (0..k).rev() {
                let sum = (i + 1..=k).fold(Complex::ZERO, |s, j| s.minus(entry(i, j).times(x[j])));
                x[i] = sum.over(guard(entry(i, i)));
            }
        }
        let back = |i: usize, j: usize| if is_left { self.q[(j, i)].conjugate() } else { self.z[(i, j)] };
        (0..n).map(|i| (0..n).fold(Complex::ZERO, |s, j| s.plus(back(i, j).times(x[j])))).collect()
    }
}

/// The eigenvalues of a real pencil: real ones, and pairs of which the one with positive imaginary part comes first.
#[derive(Default)]
struct Eigen {
    alpha_real: Vec<f64>,
    alpha_imaginary: Vec<f64>,
    beta: Vec<f64>,
    /// Which one of the complex form it is; `None` for the second of a pair.
    origin: Vec<Option<usize>>,
}

impl Eigen {
    fn of(form: &Triangular) -> Eigen {
        let all = form.eigenvalues();
        let scale = f64::EPSILON * form.s.norm() * 10.0;
        let mut is_taken = vec![false; all.len()];
        let mut eigen = Eigen::default();
        for k in 0..all.len() {
            if is_taken[k] {
                continue;
            }
            let (alpha, beta) = all[k];
            let value = |(alpha, beta): (Complex, f64)| alpha.scaled(1.0 / beta.max(f64::MIN_POSITIVE));
            let distance = |j: &usize| value(all[*j]).minus(value(all[k]).conjugate()).size();
            let is_real = alpha.im.abs() <= scale || beta == 0.0;
            let partner = (k + 1..all.len())
                .filter(|&j| !is_real && !is_taken[j] && all[j].0.im * alpha.im < 0.0)
                .min_by(|i, j| distance(i).total_cmp(&distance(j)));
            is_taken[k] = true;
            let Some(partner) = partner else {
                eigen.push(alpha.re, 0.0, beta, Some(k));
                continue;
            };
            is_taken[partner] = true;
            let first = if alpha.im > 0.0 { k } else { partner };
            let (alpha, beta) = all[first];
            eigen.push(alpha.re, alpha.im, beta, Some(first));
            eigen.push(alpha.re, -alpha.im, beta, None);
        }
        eigen
    }

    fn push(&mut self, real: f64, imaginary: f64, beta: f64, origin: Option<usize>) {
        self.alpha_real.push(real);
        self.alpha_imaginary.push(imaginary);
        self.beta.push(beta);
        self.origin.push(origin);
    }

    /// As columns; of a pair the real and the imaginary part of the first. The largest component of each is 1.
    fn vectors(&self, form: &Triangular, is_left: bool) -> Dense {
        let n = form.s.n;
        let mut columns = Dense::zeros(n, n);
        for (column, origin) in self.origin.iter().enumerate() {
            let Some(k) = *origin else { continue };
            let x = form.vector(k, is_left);
            let is_pair = self.alpha_imaginary[column] != 0.0;
            let largest = x.iter().fold(Complex::ZERO, |best, c| if c.size() > best.size() { *c } else { best });
            let sum = x.iter().fold(0.0f64, |s, c| s.max(c.re.abs() + c.im.abs()));
            for (i, c) in x.iter().enumerate() {
                if is_pair {
                    columns[(i, column)] = c.re / sum;
                    columns[(i, column + 1)] = c.im / sum;
                } else {
                    columns[(i, column)] = c.over(largest).re;
                }
            }
        }
        columns
    }
}

/// The leading part of two square arguments of the same size.
fn pencil(args: &[Value], first: usize, second: usize, size: usize) -> NativeResult<(Dense, Dense)> {
    let (a, b) = (square(args, first)?, square(args, second)?);
    let n = usize::try_from(integer(args, size)?).ok().filter(|&n| n <= a.rows && n <= b.rows);
    let n = n.ok_or("sizes disagree")?;
    let part = |m: &Dense| {
        let mut part = Dense::zeros(n, n);
        (0..n).for_each(|i| (0..n).for_each(|j| part[(i, j)] = m[(i, j)]));
        part
    };
    Ok((part(&a), part(&b)))
}

/// Writes into the beginning of what is there.
fn put_vector(args: &mut [Value], position: usize, values: &[f64]) -> NativeResult<()> {
    let mut all = crate::native::arguments::reals(args, position)?;
    all.iter_mut().zip(values).for_each(|(old, new)| *old = *new);
    write(args, position, Value::reals(all))
}

fn put_part(args: &mut [Value], position: usize, part: &Dense) -> NativeResult<()> {
    let mut all = square(args, position)?;
    if all.rows < part.rows {
        return Err("sizes disagree".into());
    }
    (0..part.rows).for_each(|i| (0..part.rows).for_each(|j| all[(i, j)] = part[(i, j)]));
    put(args, position, all)
}

/// Eigenvalues to the three arguments from `first` on; `None` if there is no convergence.
fn solve(args: &mut [Value], a: &Dense, b: &Dense, first: usize) -> NativeResult<Option<(Triangular, Eigen)>> {
    let Some(form) = Triangular::of(a, b) else { return Ok(None) };
    let eigen = Eigen::of(&form);
    put_vector(args, first, &eigen.alpha_real)?;
    put_vector(args, first + 1, &eigen.alpha_imaginary)?;
    put_vector(args, first + 2, &eigen.beta)?;
    Ok(Some((form, eigen)))
}

/// jobvl, jobvr, n, A, lda, B, ldb, alphar, alphai, beta, VL, ldvl, VR, ldvr, work, lwork, info
fn dggev(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (a, b) = pencil(args, 3, 5, 2)?;
    let Some((form, eigen)) = solve(args, &a, &b, 7)? else { return put_info(args, 16, a.rows) };
    for (job, position) in [(0, 10), (1, 12)] {
        if option(args, job)? == 'V' {
            put_part(args, position, &eigen.vectors(&form, job == 0))?;
        }
    }
    put_info(args, 16, 0)
}

/// balanc, jobvl, jobvr, sense, n, A, lda, B, ldb, alphar, alphai, beta, VL, ldvl, VR, ldvr, ilo, ihi, lscale, rscale,
/// abnrm, bbnrm, rconde, rcondv, work, lwork, iwork, bwork, info. Balancing leaves the matrices as they are.
fn dggevx(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (a, b) = pencil(args, 5, 7, 4)?;
    let n = a.rows;
    let Some((form, eigen)) = solve(args, &a, &b, 9)? else { return put_info(args, 28, n) };
    for (job, position) in [(1, 12), (2, 14)] {
        if option(args, job)? == 'V' {
            put_part(args, position, &eigen.vectors(&form, job == 1))?;
        }
    }
    write(args, 16, Value::Integer(1))?;
    write(args, 17, Value::Integer(n as i64))?;
    write(args, 18, Value::reals(vec![1.0; n]))?;
    write(args, 19, Value::reals(vec![1.0; n]))?;
    write(args, 20, Value::Real(a.norm_1()))?;
    write(args, 21, Value::Real(b.norm_1()))?;
    let sense = option(args, 3)?;
    if matches!(sense, 'E' | 'B') {
        write(args, 22, Value::reals(conditions(&form, &eigen, &a, &b)))?;
    }
    if matches!(sense, 'V' | 'B') {
        write(args, 23, Value::reals(separations(&form, &eigen)?))?;
    }
    put_info(args, 28, 0)
}

/// Reciprocal condition numbers of the eigenvalues: `sqrt(|u'*A*v|² + |u'*B*v|²)/(|u|*|v|)`.
fn conditions(form: &Triangular, eigen: &Eigen, a: &Dense, b: &Dense) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::new();
    for origin in &eigen.origin {
        let Some(k) = *origin else {
            // The second of a pair is as sensitive as the first.
            all.push(all.last().copied().unwrap_or(0.0));
            continue;
        };
        let (u, v) = (form.vector(k, true), form.vector(k, false));
        let form_of = |m: &Dense| {
            let row = |i: usize| (0..v.len()).fold(Complex::ZERO, |s, j| s.plus(v[j].scaled(m[(i, j)])));
            (0..u.len()).fold(Complex::ZERO, |s, i| s.plus(u[i].conjugate().times(row(i)))).size()
        };
        let norm = |x: &[Complex]| x.iter().fold(0.0f64, |s, c| s.hypot(c.size()));
        all.push(form_of(a).hypot(form_of(b)) / (norm(&u) * norm(&v)));
    }
    all
}

/// Reciprocal condition numbers of the eigenvectors: how far each eigenvalue is from the others, as the smallest singular
/// value of `(R, L) ↦ (a*R - L*A, b*R - L*B)`, where `A` and `B` have the other eigenvalues.
fn separations(form: &Triangular, eigen: &Eigen) -> NativeResult<Vec<f64>> {
    const MOST_ROWS: usize = 50;
    let n = form.s.n;
    if n > MOST_ROWS {
        return Err("the matrices are too large for condition numbers of eigenvectors".into());
    }
    let mut all: Vec<f64> = Vec::new();
    for origin in &eigen.origin {
        let Some(k) = *origin else {
            all.push(all.last().copied().unwrap_or(0.0));
            continue;
        };
        let (mut s, mut t) = (form.s.clone(), form.t.clone());
        (0..k).rev().for_each(|i| exchange(&mut s, &mut t, i));
        let m = n - 1;
        // The complex matrix of the map as a real one of twice the size.
        let mut real = Dense::zeros(4 * m, 4 * m);
        let mut set = |i: usize, j: usize, c: Complex| {
            (real[(i, j)], real[(i + 2 * m, j + 2 * m)]) = (c.re, c.re);
            (real[(i, j + 2 * m)], real[(i + 2 * m, j)]) = (-c.im, c.im);
        };
        for i in 0..m {
            set(i, i, s[(0, 0)]);
            set(i + m, i, t[(0, 0)]);
            for j in 0..m {
                set(i, j + m, s[(j + 1, i + 1)].scaled(-1.0));
                set(i + m, j + m, t[(j + 1, i + 1)].scaled(-1.0));
            }
        }
        let alone = s[(0, 0)].size().hypot(t[(0, 0)].size());
        all.push(if m == 0 { alone } else { dense::svd(&real).0.last().copied().unwrap_or(0.0) });
    }
    Ok(all)
}

/// Exchanges the eigenvalues `i` and `i + 1` of a triangular pencil.
fn exchange(s: &mut ComplexMatrix, t: &mut ComplexMatrix, i: usize) {
    let (a, b) = (s[(i + 1, i + 1)], t[(i + 1, i + 1)]);
    let entry = |j: usize| b.times(s[(i, j)]).minus(a.times(t[(i, j)]));
    // The eigenvector of the second one in the 2×2 block becomes the first direction.
    let turn = rotation(entry(i + 1), entry(i));
    s.turn_columns(i, i + 1, turn);
    t.turn_columns(i, i + 1, turn);
    let pivot = if s[(i + 1, i)].size() > t[(i + 1, i)].size() { &*s } else { &*t };
    let turn = rotation(pivot[(i, i)], pivot[(i + 1, i)]);
    s.turn_rows(i, i + 1, turn);
    t.turn_rows(i, i + 1, turn);
    s[(i + 1, i)] = Complex::ZERO;
    t[(i + 1, i)] = Complex::ZERO;
}

/// job, compq, compz, n, ilo, ihi, H, ldh, T, ldt, alphar, alphai, beta, Q, ldq, Z, ldz, work, lwork, info
fn dhgeqz(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    if option(args, 0)? != 'E' {
        return Err("only eigenvalues are available, not the Schur form".into());
    }
    let (mut h, mut t) = pencil(args, 6, 8, 3)?;
    // What stands below is not part of the matrices.
    for i in 0..h.rows {
        (0..i.saturating_sub(1)).for_each(|j| h[(i, j)] = 0.0);
        (0..i).for_each(|j| t[(i, j)] = 0.0);
    }
    let info = if solve(args, &h, &t, 10)?.is_some() { 0 } else { h.rows };
    put_info(args, 19, info)
}
