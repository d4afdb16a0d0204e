//! Dense matrices and the factorisations that the LAPACK functions are made of. Written for clarity: sizes at compile
//! time are small.

use std::ops::{Index, IndexMut};

/// A matrix in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub struct Dense {
    pub rows: usize,
    pub columns: usize,
    items: Vec<f64>,
}

impl Index<(usize, usize)> for Dense {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.items[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Dense {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.items[i * self.columns + j]
    }
}

impl Dense {
    pub fn zeros(rows: usize, columns: usize) -> Dense {
        Dense { rows, columns, items: vec![0.0; rows * columns] }
    }

    pub fn identity(n: usize) -> Dense {
        let mut m = Dense::zeros(n, n);
        for i in 0..n {
            m[(i, i)] = 1.0;
        }
        m
    }

    /// `None` if the number of items does not fit.
    pub fn from_items(rows: usize, columns: usize, items: Vec<f64>) -> Option<Dense> {
        (rows.checked_mul(columns)? == items.len()).then_some(Dense { rows, columns, items })
    }

    pub fn into_items(self) -> Vec<f64> {
        self.items
    }

    pub fn transposed(&self) -> Dense {
        let mut t = Dense::zeros(self.columns, self.rows);
        for i in 0..self.rows {
            for j in 0..self.columns {
                t[(j, i)] = self[(i, j)];
            }
        }
        t
    }

    /// `self * other`; the inner sizes must agree.
    pub fn times(&self, other: &Dense) -> Dense {
        let mut product = Dense::zeros(self.rows, other.columns);
        for i in 0..self.rows {
            for k in 0..self.columns {
                let x = self[(i, k)];
                for j in 0..other.columns {
                    product[(i, j)] += x * other[(k, j)];
                }
            }
        }
        product
    }

    pub fn swap_rows(&mut self, a: usize, b: usize) {
        for j in 0..self.columns {
            self.items.swap(a * self.columns + j, b * self.columns + j);
        }
    }

    /// Largest column sum of absolute values.
    pub fn norm_1(&self) -> f64 {
        (0..self.columns).map(|j| (0..self.rows).map(|i| self[(i, j)].abs()).sum()).fold(0.0, f64::max)
    }
}

/// LU factorisation with row exchanges, in place. Gives the row that each step was exchanged with (from 0), and the
/// number (from 1) of the first zero pivot or 0.
pub fn lu(a: &mut Dense) -> (Vec<usize>, usize) {
    let n = a.rows.min(a.columns);
    let (mut pivots, mut info) = (Vec::with_capacity(n), 0);
    for k in 0..n {
        let p = (k..a.rows).fold(k, |best, i| if a[(i, k)].abs() > a[(best, k)].abs() { i } else { best });
        pivots.push(p);
        if a[(p, k)] == 0.0 {
            if info == 0 {
                info = k + 1;
            }
            continue;
        }
        a.swap_rows(k, p);
        for i in k + 1..a.rows {
            a[(i, k)] /= a[(k, k)];
            let factor = a[(i, k)];
            for j in k + 1..a.columns {
                a[(i, j)] -= factor * a[(k, j)];
            }
        }
    }
    (pivots, info)
}

/// Solves `P*L*U*X = B` in place of `B`, or with `transposed` the transposed system.
pub fn lu_solve(lu: &Dense, pivots: &[usize], b: &mut Dense, transposed: bool) {
    let n = lu.rows;
    if transposed {
        for c in 0..b.columns {
            for i in 0..n {
                let sum: f64 = (0..i).map(|j| lu[(j, i)] * b[(j, c)]).sum();
                b[(i, c)] = (b[(i, c)] - sum) / lu[(i, i)];
            }
            for i in (0..n).rev() {
                let sum: f64 = (i + 1..n).map(|j| lu[(j, i)] * b[(j, c)]).sum();
                b[(i, c)] -= sum;
            }
        }
        for (k, &p) in pivots.iter().enumerate().rev() {
            b.swap_rows(k, p);
        }
        return;
    }
    for (k, &p) in pivots.iter().enumerate() {
        b.swap_rows(k, p);
    }
    for c in 0..b.columns {
        for i in 0..n {
            let sum: f64 = (0..i).map(|j| lu[(i, j)] * b[(j, c)]).sum();
            b[(i, c)] -= sum;
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|j| lu[(i, j)] * b[(j, c)]).sum();
            b[(i, c)] = (b[(i, c)] - sum) / lu[(i, i)];
        }
    }
}

/// Gaussian elimination with row exchanges that touches the band only; solution in place of `B`. Gives the number (from
/// 1) of a zero pivot or 0.
pub fn solve_band(mut a: Dense, lower: usize, upper: usize, b: &mut Dense) -> usize {
    let n = a.rows;
    for k in 0..n {
        let below = (k + lower + 1).min(n);
        let right = (k + lower + upper + 1).min(n);
        let p = (k..below).fold(k, |best, i| if a[(i, k)].abs() > a[(best, k)].abs() { i } else { best });
        if a[(p, k)] == 0.0 {
            return k + 1;
        }
        if p != k {
            for j in k..right {
                let (x, y) = (a[(k, j)], a[(p, j)]);
                (a[(k, j)], a[(p, j)]) = (y, x);
            }
            b.swap_rows(k, p);
        }
        for i in k + 1..below {
            let factor = a[(i, k)] / a[(k, k)];
            for j in k..right {
                a[(i, j)] -= factor * a[(k, j)];
            }
            for c in 0..b.columns {
                b[(i, c)] -= factor * b[(k, c)];
            }
        }
    }
    for c in 0..b.columns {
        for i in (0..n).rev() {
            let right = (i + lower + upper + 1).min(n);
            let sum: f64 = (i + 1..right).map(|j| a[(i, j)] * b[(j, c)]).sum();
            b[(i, c)] = (b[(i, c)] - sum) / a[(i, i)];
        }
    }
    0
}

/// Householder QR in LAPACK's packed form: R above, the reflectors `I - tau*v*v'` (first entry of `v` is 1) below.
/// With `pivot` columns are exchanged by decreasing norm; the permutation counts from 0.
pub fn qr(a: &mut Dense, pivot: bool) -> (Vec<f64>, Vec<usize>) {
    let (m, n) = (a.rows, a.columns);
    let mut order: Vec<usize> = (0..n).collect();
    let mut taus = Vec::with_capacity(m.min(n));
    for k in 0..m.min(n) {
        if pivot {
            let norm = |j: usize| (k..m).map(|i| a[(i, j)].powi(2)).sum::<f64>();
            let best = (k..n).fold(k, |best, j| if norm(j) > norm(best) { j } else { best });
            if best != k {
                order.swap(k, best);
                for i in 0..m {
                    let (x, y) = (a[(i, k)], a[(i, best)]);
                    (a[(i, k)], a[(i, best)]) = (y, x);
                }
            }
        }
        taus.push(reflect_column(a, k));
    }
    (taus, order)
}

/// One step of the factorisation: eliminates below the diagonal of column `k`.
fn reflect_column(a: &mut Dense, k: usize) -> f64 {
    let tail = (k + 1..a.rows).fold(0.0f64, |norm, i| norm.hypot(a[(i, k)]));
    if tail == 0.0 {
        return 0.0;
    }
    let alpha = a[(k, k)];
    let beta = -alpha.signum() * alpha.hypot(tail);
    let tau = (beta - alpha) / beta;
    for i in k + 1..a.rows {
        a[(i, k)] /= alpha - beta;
    }
    a[(k, k)] = beta;
    for j in k + 1..a.columns {
        let sum: f64 = a[(k, j)] + (k + 1..a.rows).map(|i| a[(i, k)] * a[(i, j)]).sum::<f64>();
        a[(k, j)] -= tau * sum;
        for i in k + 1..a.rows {
            let v = a[(i, k)];
            a[(i, j)] -= tau * v * sum;
        }
    }
    tau
}

/// The orthogonal factor of a packed QR, with all `rows` columns.
pub fn q_of(packed: &Dense, taus: &[f64]) -> Dense {
    let mut q = Dense::identity(packed.rows);
    apply_q(packed, taus, &mut q, false);
    q
}

/// `C := Q*C`, or with `transposed` `Q'*C`.
pub fn apply_q(packed: &Dense, taus: &[f64], c: &mut Dense, transposed: bool) {
    let apply = |k: usize, tau: f64, c: &mut Dense| {
        for j in 0..c.columns {
            let sum: f64 = c[(k, j)] + (k + 1..c.rows).map(|i| packed[(i, k)] * c[(i, j)]).sum::<f64>();
            c[(k, j)] -= tau * sum;
            for i in k + 1..c.rows {
                c[(i, j)] -= tau * packed[(i, k)] * sum;
            }
        }
    };
    if transposed {
        for (k, &tau) in taus.iter().enumerate() {
            apply(k, tau, c);
        }
    } else {
        for (k, &tau) in taus.iter().enumerate().rev() {
            apply(k, tau, c);
        }
    }
}

/// Cholesky factor in place of one triangle; gives the order (from 1) of the minor that is not positive, or 0.
pub fn cholesky(a: &mut Dense, upper: bool) -> usize {
    let n = a.rows;
    let at = |i: usize, j: usize| if upper { (j, i) } else { (i, j) };
    for j in 0..n {
        let sum: f64 = (0..j).map(|k| a[at(j, k)].powi(2)).sum();
        let d = a[(j, j)] - sum;
        if d.is_nan() || d <= 0.0 {
            return j + 1;
        }
        a[(j, j)] = d.sqrt();
        for i in j + 1..n {
            let sum: f64 = (0..j).map(|k| a[at(i, k)] * a[at(j, k)]).sum();
            a[at(i, j)] = (a[at(i, j)] - sum) / a[(j, j)];
        }
    }
    0
}

/// Singular values (decreasing), all left and all right singular vectors (columns) by one-sided Jacobi rotations.
pub fn svd(a: &Dense) -> (Vec<f64>, Dense, Dense) {
    if a.rows < a.columns {
        let (sigma, u, v) = svd(&a.transposed());
        return (sigma, v, u);
    }
    let (m, n) = (a.rows, a.columns);
    let (mut w, mut v) = (a.clone(), Dense::identity(n));
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                rotated |= orthogonalise(&mut w, &mut v, p, q);
            }
        }
        if !rotated {
            break;
        }
    }
    let norm = |j: usize| (0..m).fold(0.0f64, |s, i| s.hypot(w[(i, j)]));
    let mut order: Vec<(f64, usize)> = (0..n).map(|j| (norm(j), j)).collect();
    order.sort_by(|x, y| y.0.total_cmp(&x.0));
    let sigma: Vec<f64> = order.iter().map(|s| s.0).collect();
    let mut right = Dense::zeros(n, n);
    let mut left: Vec<Vec<f64>> = Vec::with_capacity(m);
    let tiny = sigma.first().copied().unwrap_or(0.0) * f64::EPSILON * m as f64;
    for (k, &(s, j)) in order.iter().enumerate() {
        for i in 0..n {
            right[(i, k)] = v[(i, j)];
        }
        if s > tiny {
            left.push((0..m).map(|i| w[(i, j)] / s).collect());
        }
    }
    complete_basis(&mut left, m);
    let mut u = Dense::zeros(m, m);
    for (j, column) in left.iter().enumerate() {
        for (i, &x) in column.iter().enumerate() {
            u[(i, j)] = x;
        }
    }
    (sigma, u, right)
}

/// Rotates columns `p` and `q` of `w` until they are orthogonal; false if they were.
fn orthogonalise(w: &mut Dense, v: &mut Dense, p: usize, q: usize) -> bool {
    let (mut alpha, mut beta, mut gamma) = (0.0, 0.0, 0.0);
    for i in 0..w.rows {
        alpha += w[(i, p)].powi(2);
        beta += w[(i, q)].powi(2);
        gamma += w[(i, p)] * w[(i, q)];
    }
    if gamma.abs() <= f64::EPSILON * (alpha * beta).sqrt() || gamma == 0.0 {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * gamma);
    let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = c * t;
    for matrix in [w, v] {
        for i in 0..matrix.rows {
            let (x, y) = (matrix[(i, p)], matrix[(i, q)]);
            matrix[(i, p)] = c * x - s * y;
            matrix[(i, q)] = s * x + c * y;
        }
    }
    true
}

/// Adds unit vectors, made orthogonal to the rest, until there are `m`.
fn complete_basis(columns: &mut Vec<Vec<f64>>, m: usize) {
    for k in 0..m {
        if columns.len() >= m {
            break;
        }
        let mut x = vec![0.0; m];
        x[k] = 1.0;
        // Twice is enough for full accuracy.
        for _ in 0..2 {
            for column in columns.iter() {
                let dot: f64 = column.iter().zip(&x).map(|(a, b)| a * b).sum();
                x.iter_mut().zip(column).for_each(|(a, b)| *a -= dot * b);
            }
        }
        let norm = x.iter().fold(0.0f64, |s, a| s.hypot(*a));
        if norm > 1e-8 {
            x.iter_mut().for_each(|a| *a /= norm);
            columns.push(x);
        }
    }
}
