//! Real Schur forms put in order, and the Sylvester equation on which that rests.
//!
//! ```text
//! T = [1 5]   selected: the second eigenvalue   ⇒   T = [2 *]   and Z turned along, so that Z*T*Z' stays
//!     [0 2]                                             [0 1]
//! ```
//!
//! Neighbouring diagonal blocks change places by an orthogonal transformation that a small Sylvester equation gives (Bai and
//! Demmel, *On swapping diagonal blocks in real Schur form*, 1993).

use saltus_numerics::diagonal_blocks;

use super::dense::{self, Dense};

/// Sizes of the diagonal blocks of a quasi-triangular matrix, with their first rows.
fn blocks(t: &Dense) -> Vec<(usize, usize)> {
    diagonal_blocks(t.rows, t.items())
}

/// One term of the equation: a quasi-triangular matrix, perhaps transposed.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    pub matrix: &'a Dense,
    pub is_transposed: bool,
}

impl Factor<'_> {
    fn at(&self, i: usize, j: usize) -> f64 {
        if self.is_transposed { self.matrix[(j, i)] } else { self.matrix[(i, j)] }
    }
}

/// Solves `A*X + sign*X*B = C` in place of `c`; false if `A` and `-sign*B` have an eigenvalue in common (up to rounding),
/// and then the solution is that of a slightly different equation.
pub fn sylvester(a: Factor, b: Factor, sign: f64, c: &mut Dense) -> bool {
    let (mut rows, mut columns) = (blocks(a.matrix), blocks(b.matrix));
    // What is solved later must not be needed earlier.
    if !a.is_transposed {
        rows.reverse();
    }
    if b.is_transposed {
        columns.reverse();
    }
    let tiny = f64::EPSILON * (a.matrix.norm_1() + b.matrix.norm_1()).max(f64::MIN_POSITIVE);
    let mut is_regular = true;
    for (done_columns, &(j, nj)) in columns.iter().enumerate() {
        for (done_rows, &(i, ni)) in rows.iter().enumerate() {
            let mut right = vec![0.0; ni * nj];
            for r in 0..ni {
                for s in 0..nj {
                    let above: f64 = rows[..done_rows]
                        .iter()
                        .flat_map(|&(k, n)| k..k + n)
                        .map(|k| a.at(i + r, k) * c[(k, j + s)])
                        .sum();
                    let beside: f64 = columns[..done_columns]
                        .iter()
                        .flat_map(|&(k, n)| k..k + n)
                        .map(|k| c[(i + r, k)] * b.at(k, j + s))
                        .sum();
                    right[r * nj + s] = c[(i + r, j + s)] - above - sign * beside;
                }
            }
            let (x, regular) = small_system(a, b, sign, (i, ni), (j, nj), right, tiny);
            is_regular &= regular;
            for r in 0..ni {
                for s in 0..nj {
                    c[(i + r, j + s)] = x[(r * nj + s, 0)];
                }
            }
        }
    }
    is_regular
}

/// The equation of two diagonal blocks, as a linear system of at most four unknowns.
fn small_system(
    a: Factor,
    b: Factor,
    sign: f64,
    (i, ni): (usize, usize),
    (j, nj): (usize, usize),
    right: Vec<f64>,
    tiny: f64,
) -> (Dense, bool) {
    let n = ni * nj;
    let mut system = Dense::zeros(n, n);
    for r in 0..ni {
        for s in 0..nj {
            for k in 0..ni {
                system[(r * nj + s, k * nj + s)] += a.at(i + r, i + k);
            }
            for k in 0..nj {
                system[(r * nj + s, r * nj + k)] += sign * b.at(j + k, j + s);
            }
        }
    }
    let (pivots, _) = dense::lu(&mut system);
    let mut is_regular = true;
    for k in 0..n {
        if system[(k, k)].abs() < tiny {
            system[(k, k)] = tiny;
            is_regular = false;
        }
    }
    let mut x = Dense::zeros(n, 1);
    for (k, value) in right.into_iter().enumerate() {
        x[(k, 0)] = value;
    }
    dense::lu_solve(&system, &pivots, &mut x, false);
    (x, is_regular)
}

/// `T := Q'*T*Q` and `Z := Z*Q`, where `q` acts on the rows and columns from `first` on.
fn turn(t: &mut Dense, z: &mut Dense, q: &Dense, first: usize) {
    let m = q.rows;
    for j in 0..t.columns {
        let old: Vec<f64> = (0..m).map(|i| t[(first + i, j)]).collect();
        for i in 0..m {
            t[(first + i, j)] = (0..m).map(|k| q[(k, i)] * old[k]).sum();
        }
    }
    for matrix in [t, z] {
        for i in 0..matrix.rows {
            let old: Vec<f64> = (0..m).map(|j| matrix[(i, first + j)]).collect();
            for j in 0..m {
                matrix[(i, first + j)] = (0..m).map(|k| old[k] * q[(k, j)]).sum();
            }
        }
    }
}

/// Gives a 2×2 block with a complex pair equal diagonal entries, the form that LAPACK gives.
fn standardise(t: &mut Dense, z: &mut Dense, k: usize) {
    let (a, b, c, d) = (t[(k, k)], t[(k, k + 1)], t[(k + 1, k)], t[(k + 1, k + 1)]);
    if a == d {
        return;
    }
    let angle = 0.5 * (d - a).atan2(b + c);
    let (sin, cos) = angle.sin_cos();
    let mut q = Dense::zeros(2, 2);
    (q[(0, 0)], q[(0, 1)], q[(1, 0)], q[(1, 1)]) = (cos, -sin, sin, cos);
    turn(t, z, &q, k);
    let mean = (t[(k, k)] + t[(k + 1, k + 1)]) / 2.0;
    (t[(k, k)], t[(k + 1, k + 1)]) = (mean, mean);
}

/// Exchanges the blocks of `p` and `q` rows that follow each other from row `first` on.
fn swap(t: &mut Dense, z: &mut Dense, first: usize, p: usize, q: usize) -> bool {
    let part = |t: &Dense, row: usize, column: usize, rows: usize, columns: usize| {
        let mut m = Dense::zeros(rows, columns);
        for i in 0..rows {
            for j in 0..columns {
                m[(i, j)] = t[(first + row + i, first + column + j)];
            }
        }
        m
    };
    let (upper, lower) = (part(t, 0, 0, p, p), part(t, p, p, q, q));
    let mut x = part(t, 0, p, p, q);
    let straight = |matrix| Factor { matrix, is_transposed: false };
    if !sylvester(straight(&upper), straight(&lower), -1.0, &mut x) {
        return false;
    }
    // The columns of [-X; I] span what belongs to the lower block.
    let mut packed = Dense::zeros(p + q, q);
    for j in 0..q {
        (0..p).for_each(|i| packed[(i, j)] = -x[(i, j)]);
        packed[(p + j, j)] = 1.0;
    }
    let (taus, _) = dense::qr(&mut packed, false);
    turn(t, z, &dense::q_of(&packed, &taus), first);
    for i in q..p + q {
        (0..q).for_each(|j| t[(first + i, first + j)] = 0.0);
    }
    for (row, size) in [(first, q), (first + q, p)] {
        if size == 2 {
            standardise(t, z, row);
        }
    }
    true
}

/// Moves the selected eigenvalues to the front, each group in its own order; of a complex pair one is enough. Gives their
/// number, or `None` if two eigenvalues are too close to change places.
pub fn reorder(t: &mut Dense, z: &mut Dense, select: &[bool]) -> Option<usize> {
    let chosen = |k: usize, size: usize| (k..k + size).any(|i| select.get(i) == Some(&true));
    let mut order: Vec<(usize, bool)> = blocks(t).iter().map(|&(k, size)| (size, chosen(k, size))).collect();
    let mut n_front = 0;
    for position in 0..order.len() {
        if !order[position].1 {
            continue;
        }
        for at in (n_front..position).rev() {
            let first = order[..at].iter().map(|b| b.0).sum();
            if !swap(t, z, first, order[at].0, order[at + 1].0) {
                return None;
            }
            order.swap(at, at + 1);
        }
        n_front += 1;
    }
    Some(order[..n_front].iter().map(|b| b.0).sum())
}
