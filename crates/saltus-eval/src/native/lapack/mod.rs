//! Functions of LAPACK by name, as `Modelica.Math.Matrices.LAPACK` calls them. Arguments are in FORTRAN order; leading
//! dimensions and workspaces are ignored because Modelica arrays know their sizes. Why not on a library: docs/design/dependencies.md.

mod complex;
mod dense;
mod eigen;
mod pencil;
mod solve;
mod spectral;
#[cfg(test)]
mod spectral_tests;
mod sylvester;
#[cfg(test)]
mod tests;

use dense::Dense;

use super::arguments::{integer, integers, real, reals, string, value, write};
use super::{NativeContext, NativeError, NativeFunction, NativeResult};
use crate::Value;
use crate::array::Items;

/// Name and implementation, by what they are about.
pub(super) const TABLES: &[&[(&str, NativeFunction)]] = &[EQUATIONS, solve::TABLE, spectral::TABLE, pencil::TABLE];

const EQUATIONS: &[(&str, NativeFunction)] = &[
    ("dgesv", dgesv),
    ("dgetrf", dgetrf),
    ("dgetrs", dgetrs),
    ("dgetri", dgetri),
    ("dgecon", dgecon),
    ("dlange", dlange),
    ("dgtsv", dgtsv),
    ("dgbsv", dgbsv),
    ("dpotrf", dpotrf),
    ("dgeqrf", dgeqrf),
    ("dgeqp3", |_, a| pivoted_qr(a, 8)),
    ("dgeqpf", |_, a| pivoted_qr(a, 7)),
    ("dorgqr", dorgqr),
    ("dormqr", dormqr),
    ("dgels", dgels),
    ("dgelsy", |_, a| minimum_norm(a, 12)),
    ("dgelsx", |_, a| minimum_norm(a, 11)),
    ("dgglse", dgglse),
    ("dgesvd", |_, a| singular_values(a, 2, 13)),
    ("dgesdd", |_, a| singular_values(a, 1, 13)),
];

/// Operations are cubic; larger matrices are not for compile time.
const MOST_ROWS: usize = 500;

/// A matrix argument; a vector is a matrix with one column.
fn matrix(args: &[Value], position: usize) -> NativeResult<Dense> {
    let items = reals(args, position)?;
    let (rows, columns) = match value(args, position)?.dims() {
        [] => (1, 1),
        &[n] => (n, 1),
        &[m, n] => (m, n),
        _ => return Err("a matrix was expected".into()),
    };
    if rows > MOST_ROWS || columns > MOST_ROWS {
        return Err(format!("a matrix of {rows}×{columns} is too large at compile time").into());
    }
    Dense::from_items(rows, columns, items).ok_or_else(|| "a matrix was expected".into())
}

fn square(args: &[Value], position: usize) -> NativeResult<Dense> {
    let a = matrix(args, position)?;
    if a.rows == a.columns { Ok(a) } else { Err("a square matrix was expected".into()) }
}

/// Right-hand sides with as many rows as the matrix.
fn right_side(args: &[Value], position: usize, rows: usize) -> NativeResult<Dense> {
    let b = matrix(args, position)?;
    if b.rows == rows {
        Ok(b)
    } else {
        Err(format!("the right-hand side has {} rows instead of {rows}", b.rows).into())
    }
}

/// Writes a matrix back with the dimensions that the argument had.
fn put(args: &mut [Value], position: usize, m: Dense) -> NativeResult<()> {
    let dims = value(args, position)?.dims().to_vec();
    let new_dims = match dims.len() {
        1 if m.columns == 1 => vec![m.rows],
        _ => vec![m.rows, m.columns],
    };
    let written = Value::from_parts(new_dims, Items::Real(m.into_items()));
    write(args, position, written.ok_or("sizes disagree")?)
}

fn put_info(args: &mut [Value], position: usize, info: usize) -> NativeResult {
    write(args, position, Value::Integer(info as i64))?;
    Ok(None)
}

/// FORTRAN pivots count from 1.
fn put_pivots(args: &mut [Value], position: usize, pivots: &[usize]) -> NativeResult<()> {
    write(args, position, Value::integers(pivots.iter().map(|&p| p as i64 + 1).collect()))
}

fn pivots(args: &[Value], position: usize, n: usize) -> NativeResult<Vec<usize>> {
    integers(args, position)?
        .into_iter()
        .map(|p| usize::try_from(p - 1).ok().filter(|&p| p < n))
        .collect::<Option<Vec<_>>>()
        .filter(|p| p.len() == n)
        .ok_or_else(|| "the pivots do not belong to the matrix".into())
}

fn option(args: &[Value], position: usize) -> NativeResult<char> {
    Ok(string(args, position)?.chars().next().map_or('N', |c| c.to_ascii_uppercase()))
}

/// n, nrhs, A, lda, ipiv, B, ldb, info
fn dgesv(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let mut a = square(args, 2)?;
    let mut b = right_side(args, 5, a.rows)?;
    let (pivots, info) = dense::lu(&mut a);
    if info == 0 {
        dense::lu_solve(&a, &pivots, &mut b, false);
    }
    put(args, 2, a)?;
    put_pivots(args, 4, &pivots)?;
    put(args, 5, b)?;
    put_info(args, 7, info)
}

/// m, n, A, lda, ipiv, info
fn dgetrf(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let mut a = matrix(args, 2)?;
    let (pivots, info) = dense::lu(&mut a);
    put(args, 2, a)?;
    put_pivots(args, 4, &pivots)?;
    put_info(args, 5, info)
}

/// trans, n, nrhs, LU, lda, ipiv, B, ldb, info
fn dgetrs(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let transposed = option(args, 0)? != 'N';
    let a = square(args, 3)?;
    let pivots = pivots(args, 5, a.rows)?;
    let mut b = right_side(args, 6, a.rows)?;
    dense::lu_solve(&a, &pivots, &mut b, transposed);
    put(args, 6, b)?;
    put_info(args, 8, 0)
}

/// n, LU, lda, ipiv, work, lwork, info
fn dgetri(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let a = square(args, 1)?;
    let pivots = pivots(args, 3, a.rows)?;
    if let Some(k) = (0..a.rows).find(|&k| a[(k, k)] == 0.0) {
        return put_info(args, 6, k + 1);
    }
    let mut inverse = Dense::identity(a.rows);
    dense::lu_solve(&a, &pivots, &mut inverse, false);
    put(args, 1, inverse)?;
    put_info(args, 6, 0)
}

/// norm, n, LU, lda, anorm, rcond, work, iwork, info; the norm of the inverse does not depend on row exchanges for the
/// 1-norm (columns are permuted) nor for the infinity norm.
fn dgecon(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let infinity = option(args, 0)? == 'I';
    let a = square(args, 2)?;
    let norm = real(args, 4)?;
    let mut rcond = if a.rows == 0 { 1.0 } else { 0.0 };
    if a.rows > 0 && norm != 0.0 && (0..a.rows).all(|k| a[(k, k)] != 0.0) {
        let mut inverse = Dense::identity(a.rows);
        dense::lu_solve(&a, &[], &mut inverse, false);
        let inverse_norm = if infinity { inverse.transposed().norm_1() } else { inverse.norm_1() };
        rcond = 1.0 / (norm * inverse_norm);
    }
    write(args, 5, Value::Real(rcond))?;
    put_info(args, 8, 0)
}

/// norm, m, n, A, lda, work
fn dlange(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let a = matrix(args, 3)?;
    Ok(Some(Value::Real(match option(args, 0)? {
        '1' | 'O' => a.norm_1(),
        'I' => a.transposed().norm_1(),
        'F' | 'E' => a.into_items().iter().fold(0.0f64, |s, x| s.hypot(*x)),
        'M' => a.into_items().iter().fold(0.0f64, |s, x| s.max(x.abs())),
        other => return Err(NativeError::Failed(format!("`{other}` is not a norm"))),
    })))
}

/// n, nrhs, DL, D, DU, B, ldb, info
fn dgtsv(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (lower, diagonal, upper) = (reals(args, 2)?, reals(args, 3)?, reals(args, 4)?);
    let n = diagonal.len();
    if lower.len() + 1 < n || upper.len() + 1 < n || n > MOST_ROWS {
        return Err("the diagonals do not fit together".into());
    }
    let mut a = Dense::zeros(n, n);
    for i in 0..n {
        a[(i, i)] = diagonal[i];
        if i + 1 < n {
            a[(i + 1, i)] = lower[i];
            a[(i, i + 1)] = upper[i];
        }
    }
    let mut b = right_side(args, 5, n)?;
    let info = dense::solve_band(a, 1, 1, &mut b);
    put(args, 5, b)?;
    put_info(args, 7, info)
}

/// n, kl, ku, nrhs, AB, ldab, ipiv, B, ldb, info; `AB[kl+ku+1+i-j, j]` is `A[i, j]`.
fn dgbsv(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let band = matrix(args, 4)?;
    let n = band.columns;
    let size = |position: usize| -> NativeResult<usize> {
        usize::try_from(integer(args, position)?).ok().filter(|&k| k <= n).ok_or_else(|| "wrong band width".into())
    };
    let (lower, upper) = (size(1)?, size(2)?);
    if band.rows < 2 * lower + upper + 1 {
        return Err("the band matrix has too few rows".into());
    }
    let mut a = Dense::zeros(n, n);
    for j in 0..n {
        for i in j.saturating_sub(upper)..(j + lower + 1).min(n) {
            a[(i, j)] = band[(lower + upper + i - j, j)];
        }
    }
    let mut b = right_side(args, 7, n)?;
    let info = dense::solve_band(a, lower, upper, &mut b);
    put(args, 7, b)?;
    put_info(args, 9, info)
}

/// uplo, n, A, lda, info
fn dpotrf(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let upper = option(args, 0)? == 'U';
    let mut a = square(args, 2)?;
    let info = dense::cholesky(&mut a, upper);
    put(args, 2, a)?;
    put_info(args, 4, info)
}

/// m, n, A, lda, tau, work, lwork, info
fn dgeqrf(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let mut a = matrix(args, 2)?;
    let (taus, _) = dense::qr(&mut a, false);
    put(args, 2, a)?;
    write(args, 4, Value::reals(taus))?;
    put_info(args, 7, 0)
}

/// m, n, A, lda, jpvt, tau, …, info at `info`
fn pivoted_qr(args: &mut [Value], info: usize) -> NativeResult {
    let mut a = matrix(args, 2)?;
    let (taus, order) = dense::qr(&mut a, true);
    put(args, 2, a)?;
    put_pivots(args, 4, &order)?;
    write(args, 5, Value::reals(taus))?;
    put_info(args, info, 0)
}

fn reflectors(args: &[Value], packed: &Dense, position: usize) -> NativeResult<Vec<f64>> {
    let taus = reals(args, position)?;
    if taus.len() <= packed.rows.min(packed.columns) { Ok(taus) } else { Err("too many reflectors".into()) }
}

/// m, n, k, A, lda, tau, work, lwork, info: the first n columns of Q.
fn dorgqr(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let packed = matrix(args, 3)?;
    let q = dense::q_of(&packed, &reflectors(args, &packed, 5)?);
    if packed.columns > packed.rows {
        return Err("Q has more columns than rows".into());
    }
    let mut first = Dense::zeros(packed.rows, packed.columns);
    for i in 0..packed.rows {
        for j in 0..packed.columns {
            first[(i, j)] = q[(i, j)];
        }
    }
    put(args, 3, first)?;
    put_info(args, 8, 0)
}

/// side, trans, m, n, k, A, lda, tau, C, ldc, work, lwork, info
fn dormqr(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let left = option(args, 0)? == 'L';
    let transposed = option(args, 1)? != 'N';
    let packed = matrix(args, 5)?;
    let taus = reflectors(args, &packed, 7)?;
    let c = matrix(args, 8)?;
    if packed.rows != if left { c.rows } else { c.columns } {
        return Err("sizes disagree".into());
    }
    // C*Q is the transposed of Q'*C'.
    let mut product = if left { c } else { c.transposed() };
    dense::apply_q(&packed, &taus, &mut product, transposed == left);
    put(args, 8, if left { product } else { product.transposed() })?;
    put_info(args, 12, 0)
}

/// trans, m, n, nrhs, A, lda, B, ldb, work, lwork, info: full rank is assumed.
fn dgels(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let a = matrix(args, 4)?;
    let a = if option(args, 0)? == 'N' { a } else { a.transposed() };
    let b = right_side(args, 6, a.rows.max(a.columns))?;
    let (x, rank) = least_squares(&a, &b, f64::EPSILON);
    let full = a.rows.min(a.columns);
    put(args, 6, x)?;
    put_info(args, 10, if rank < full { rank + 1 } else { 0 })
}

/// m, n, nrhs, A, lda, B, ldb, jpvt, rcond, rank, …, info at `info`: minimum norm also for deficient rank.
fn minimum_norm(args: &mut [Value], info: usize) -> NativeResult {
    let a = matrix(args, 3)?;
    let b = right_side(args, 5, a.rows.max(a.columns))?;
    let (x, rank) = least_squares(&a, &b, real(args, 8)?.max(f64::EPSILON));
    put(args, 5, x)?;
    write(args, 9, Value::Integer(rank as i64))?;
    put_info(args, info, 0)
}

/// The shortest `x` that minimises `|A*x - b|`, in the first rows of the result (which has as many as `b`), and the
/// rank: the number of singular values above `rcond` times the largest.
fn least_squares(a: &Dense, b: &Dense, rcond: f64) -> (Dense, usize) {
    let (sigma, u, v) = dense::svd(a);
    let threshold = sigma.first().copied().unwrap_or(0.0) * rcond;
    let rank = sigma.iter().filter(|&&s| s > threshold).count();
    let mut x = Dense::zeros(b.rows, b.columns);
    for c in 0..b.columns {
        for (k, s) in sigma.iter().enumerate().take(rank) {
            let dot: f64 = (0..a.rows).map(|i| u[(i, k)] * b[(i, c)]).sum();
            for i in 0..a.columns {
                x[(i, c)] += dot / s * v[(i, k)];
            }
        }
    }
    (x, rank)
}

/// m, n, p, A, lda, B, ldb, c, d, x, work, lwork, info: minimises `|A*x - c|` subject to `B*x = d`.
fn dgglse(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (a, b) = (matrix(args, 3)?, matrix(args, 5)?);
    let (m, n, p) = (a.rows, a.columns, b.rows);
    if b.columns != n || p > n || n > m + p {
        return Err("sizes disagree".into());
    }
    let (c, d) = (right_side(args, 7, m)?, right_side(args, 8, p)?);
    // x = Q1*y + Q2*z, where B' = Q1*R fixes y and z is free.
    let mut packed = b.transposed();
    let (taus, _) = dense::qr(&mut packed, false);
    let q = dense::q_of(&packed, &taus);
    let mut x = Dense::zeros(n, 1);
    let mut y = vec![0.0; p];
    for i in 0..p {
        if packed[(i, i)] == 0.0 {
            return put_info(args, 12, 1);
        }
        let sum: f64 = (0..i).map(|k| packed[(k, i)] * y[k]).sum();
        y[i] = (d[(i, 0)] - sum) / packed[(i, i)];
        for r in 0..n {
            x[(r, 0)] += q[(r, i)] * y[i];
        }
    }
    let mut free = Dense::zeros(n, n - p);
    for r in 0..n {
        for k in p..n {
            free[(r, k - p)] = q[(r, k)];
        }
    }
    let offset = a.times(&x);
    let reduced = a.times(&free);
    let mut rest = Dense::zeros(m.max(n - p), 1);
    for r in 0..m {
        rest[(r, 0)] = c[(r, 0)] - offset[(r, 0)];
    }
    let (z, rank) = least_squares(&reduced, &rest, f64::EPSILON);
    for r in 0..n {
        x[(r, 0)] += (0..n - p).map(|k| free[(r, k)] * z[(k, 0)]).sum::<f64>();
    }
    put(args, 9, x)?;
    put_info(args, 12, if rank < n - p { 2 } else { 0 })
}

/// [jobu,] jobvt, m, n, A, lda, sigma, U, ldu, VT, ldvt, …, info; `m` stands at position `first`.
fn singular_values(args: &mut [Value], first: usize, info: usize) -> NativeResult {
    let vectors = option(args, 0)? != 'N';
    let a = matrix(args, first + 2)?;
    let (sigma, u, v) = dense::svd(&a);
    write(args, first + 4, Value::reals(sigma))?;
    if vectors {
        put(args, first + 5, u)?;
        put(args, first + 7, v.transposed())?;
    }
    put_info(args, info, 0)
}
