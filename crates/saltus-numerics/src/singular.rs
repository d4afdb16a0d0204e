//! Singular values and vectors of a dense matrix by one-sided Jacobi rotations (Hestenes, 1958), which find also small singular
//! values to high relative accuracy.
//!
//! In: a matrix, row by row. Out: `A = U·Σ·Vᵀ` with square orthogonal `U` and `V`.

use crate::tuning::decompositions::{IN_THE_SPAN, MOST_JACOBI_SWEEPS};

/// `A = U·Σ·Vᵀ`; the columns of `u` and `v` are the singular vectors, both stored row by row.
#[derive(Clone, Debug)]
pub struct SingularValues {
    /// Decreasing; as many as the smaller of the two sizes.
    pub sigma: Vec<f64>,
    pub u: Vec<f64>,
    pub v: Vec<f64>,
}

/// The singular values of the matrix `a` of `rows` times `columns`.
pub fn singular_values(rows: usize, columns: usize, a: &[f64]) -> SingularValues {
    if rows < columns {
        let SingularValues { sigma, u, v } = singular_values(columns, rows, &transposed(rows, columns, a));
        return SingularValues { sigma, u: v, v: u };
    }
    let (m, n) = (rows, columns);
    // Columns as rows: rotations and products run along the memory.
    let (mut w, mut v) = (transposed(m, n, a), identity(n));
    for _ in 0..MOST_JACOBI_SWEEPS {
        let mut has_rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                has_rotated |= orthogonalise(&mut w, &mut v, (m, n), p, q);
            }
        }
        if !has_rotated {
            break;
        }
    }
    let line = |matrix: &[f64], size: usize, j: usize| matrix[j * size..(j + 1) * size].to_vec();
    let norm = |j: usize| w[j * m..(j + 1) * m].iter().fold(0.0f64, |s, x| s.hypot(*x));
    let mut order: Vec<(f64, usize)> = (0..n).map(|j| (norm(j), j)).collect();
    order.sort_by(|x, y| y.0.total_cmp(&x.0));
    let tiny = order.first().map_or(0.0, |largest| largest.0) * f64::EPSILON * m as f64;
    let mut left: Vec<Vec<f64>> = Vec::with_capacity(m);
    let mut right = Vec::with_capacity(n * n);
    for &(s, j) in &order {
        right.extend(line(&v, n, j));
        if s > tiny {
            left.push(line(&w, m, j).iter().map(|x| x / s).collect());
        }
    }
    complete_basis(&mut left, m);
    SingularValues {
        sigma: order.iter().map(|s| s.0).collect(),
        u: transposed(m, m, &left.concat()),
        v: transposed(n, n, &right),
    }
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|k| f64::from(k / n == k % n)).collect()
}

fn transposed(rows: usize, columns: usize, a: &[f64]) -> Vec<f64> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| a[i * columns + j])).collect()
}

/// Eight sums side by side: one alone would wait for every addition.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let mut sums = [0.0; SUMS];
    let (xs, ys) = (x.chunks_exact(SUMS), y.chunks_exact(SUMS));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in xs.zip(ys) {
        (0..SUMS).for_each(|k| sums[k] += a[k] * b[k]);
    }
    sums.iter().sum::<f64>() + rest
}

/// Turns rows `p` and `q` of `w` until they are orthogonal, and those of `v` along; false if they were.
fn orthogonalise(w: &mut [f64], v: &mut [f64], (m, n): (usize, usize), p: usize, q: usize) -> bool {
    let (x, y) = (&w[p * m..(p + 1) * m], &w[q * m..(q + 1) * m]);
    let (alpha, beta, gamma) = (dot(x, x), dot(y, y), dot(x, y));
    // Not for numbers that are not finite either: no rotation makes them orthogonal.
    let is_done = gamma.abs() <= f64::EPSILON * (alpha * beta).sqrt() || gamma == 0.0 || !gamma.is_finite();
    if is_done {
        return false;
    }
    let zeta: f64 = (beta - alpha) / (2.0 * gamma);
    let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = c * t;
    for (matrix, size) in [(w, m), (v, n)] {
        let (head, tail) = matrix.split_at_mut(q * size);
        for (x, y) in head[p * size..(p + 1) * size].iter_mut().zip(&mut tail[..size]) {
            (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
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
        if norm > IN_THE_SPAN {
            x.iter_mut().for_each(|a| *a /= norm);
            columns.push(x);
        }
    }
}
