//! Dense matrices and the factorisations that the LAPACK functions are made of, in LAPACK's packed storage. What needs an
//! iteration comes from `saltus-numerics`.

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

    fn row(&self, i: usize) -> &[f64] {
        &self.items[i * self.columns..(i + 1) * self.columns]
    }

    fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.items[i * self.columns..(i + 1) * self.columns]
    }

    /// Row by row.
    pub fn items(&self) -> &[f64] {
        &self.items
    }

    pub fn items_mut(&mut self) -> &mut [f64] {
        &mut self.items
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
        let (above, below) = a.items.split_at_mut((k + 1) * a.columns);
        let pivot_row = &above[k * a.columns..];
        for row in below.chunks_exact_mut(a.columns) {
            row[k] /= pivot_row[k];
            let factor = row[k];
            row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]).for_each(|(x, y)| *x -= factor * y);
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
            let mut norms = vec![0.0; n];
            (k..m).for_each(|i| norms.iter_mut().zip(a.row(i)).for_each(|(norm, x)| *norm += x * x));
            let best = (k..n).fold(k, |best, j| if norms[j] > norms[best] { j } else { best });
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
    let v: Vec<f64> = (k + 1..a.rows).map(|i| a[(i, k)]).collect();
    reflect(a, k, k + 1, &v, tau);
    tau
}

/// Applies `I - tau*v*v'` to the rows of `c` from `k` on, in its columns from `from` on; the first entry of `v`, a 1, is
/// left out. Runs along the rows, as they are stored.
fn reflect(c: &mut Dense, k: usize, from: usize, v: &[f64], tau: f64) {
    let mut sums = vec![0.0; c.columns - from];
    for (i, x) in v.iter().enumerate() {
        sums.iter_mut().zip(&c.row(k + 1 + i)[from..]).for_each(|(sum, y)| *sum += x * y);
    }
    let first = &mut c.row_mut(k)[from..];
    for (y, sum) in first.iter_mut().zip(&mut sums) {
        *sum += *y;
        *y -= tau * *sum;
    }
    for (i, x) in v.iter().enumerate() {
        let row = &mut c.row_mut(k + 1 + i)[from..];
        row.iter_mut().zip(&sums).for_each(|(y, sum)| *y -= tau * x * sum);
    }
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
        let v: Vec<f64> = (k + 1..c.rows).map(|i| packed[(i, k)]).collect();
        reflect(c, k, 0, &v, tau);
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

/// Singular values (decreasing), all left and all right singular vectors as columns.
pub fn svd(a: &Dense) -> (Vec<f64>, Dense, Dense) {
    let found = saltus_numerics::singular_values(a.rows, a.columns, &a.items);
    let square = |n: usize, items: Vec<f64>| Dense { rows: n, columns: n, items };
    (found.sigma, square(a.rows, found.u), square(a.columns, found.v))
}
