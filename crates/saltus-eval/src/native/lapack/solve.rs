//! LAPACK's and BLAS' solvers beyond the plain ones: with error bounds, and with a triangular matrix.

use super::dense::{self, Dense};
use super::{matrix, option, pivots, put, put_info, put_pivots, right_side, square};
use crate::Value;
use crate::native::arguments::{real, write};
use crate::native::{NativeContext, NativeFunction, NativeResult};

pub(super) const TABLE: &[(&str, NativeFunction)] = &[("dgesvx", dgesvx), ("dtrsm", dtrsm)];

/// fact, trans, n, nrhs, A, lda, AF, ldaf, ipiv, equed, R, C, B, ldb, X, ldx, rcond, ferr, berr, work, iwork, info. The
/// matrix is not equilibrated.
fn dgesvx(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let is_transposed = option(args, 1)? != 'N';
    let a = square(args, 4)?;
    let b = right_side(args, 12, a.rows)?;
    let mut factors = a.clone();
    let (order, info) = if option(args, 0)? == 'F' {
        factors = square(args, 6)?;
        (pivots(args, 8, a.rows)?, 0)
    } else {
        dense::lu(&mut factors)
    };
    write(args, 9, Value::string("N"))?;
    if info > 0 {
        write(args, 16, Value::Real(0.0))?;
        return put_info(args, 21, info);
    }
    let mut inverse = Dense::identity(a.rows);
    dense::lu_solve(&factors, &order, &mut inverse, is_transposed);
    let op = if is_transposed { a.transposed() } else { a };
    let mut x = b.clone();
    dense::lu_solve(&factors, &order, &mut x, is_transposed);
    // One step of iterative refinement.
    let mut correction = residual(&op, &x, &b);
    dense::lu_solve(&factors, &order, &mut correction, is_transposed);
    for i in 0..x.rows {
        (0..x.columns).for_each(|j| x[(i, j)] += correction[(i, j)]);
    }
    let (forward, backward) = bounds(&op, &inverse, &x, &b);
    let rcond = if op.rows == 0 { 1.0 } else { 1.0 / (op.norm_1() * inverse.norm_1()) };
    put(args, 6, factors)?;
    put_pivots(args, 8, &order)?;
    put(args, 14, x)?;
    write(args, 16, Value::Real(rcond))?;
    write(args, 17, Value::reals(forward))?;
    write(args, 18, Value::reals(backward))?;
    put_info(args, 21, if rcond < f64::EPSILON { op.rows + 1 } else { 0 })
}

fn residual(a: &Dense, x: &Dense, b: &Dense) -> Dense {
    let mut r = a.times(x);
    for i in 0..r.rows {
        (0..r.columns).for_each(|j| r[(i, j)] = b[(i, j)] - r[(i, j)]);
    }
    r
}

/// For each right-hand side the bound of the relative error of the solution, and the smallest relative change of `A` and
/// `b` that makes it exact.
fn bounds(a: &Dense, inverse: &Dense, x: &Dense, b: &Dense) -> (Vec<f64>, Vec<f64>) {
    let n = a.rows;
    let r = residual(a, x, b);
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    for j in 0..x.columns {
        let sizes: Vec<f64> =
            (0..n).map(|i| b[(i, j)].abs() + (0..n).map(|k| (a[(i, k)] * x[(k, j)]).abs()).sum::<f64>()).collect();
        let quotient = |i: usize| if r[(i, j)] == 0.0 { 0.0 } else { r[(i, j)].abs() / sizes[i] };
        backward.push((0..n).map(quotient).fold(0.0, f64::max));
        let rounding = (n + 1) as f64 * f64::EPSILON;
        let error =
            |i: usize| -> f64 { (0..n).map(|k| inverse[(i, k)].abs() * (r[(k, j)].abs() + rounding * sizes[k])).sum() };
        let largest = (0..n).map(|i| x[(i, j)].abs()).fold(0.0, f64::max);
        let worst = (0..n).map(error).fold(0.0, f64::max);
        forward.push(if largest == 0.0 { worst } else { worst / largest });
    }
    (forward, backward)
}

/// side, uplo, transa, diag, m, n, alpha, A, lda, B, ldb: `op(A)*X = alpha*B` or `X*op(A) = alpha*B`, X in place of B
fn dtrsm(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let is_left = option(args, 0)? == 'L';
    let is_upper = option(args, 1)? == 'U';
    let is_transposed = option(args, 2)? != 'N';
    let has_unit_diagonal = option(args, 3)? == 'U';
    let alpha = real(args, 6)?;
    let (a, b) = (square(args, 7)?, matrix(args, 9)?);
    // X*op(A) = B is op(A)'*X' = B'.
    let mut x = if is_left { b } else { b.transposed() };
    if x.rows != a.rows {
        return Err("sizes disagree".into());
    }
    let n = a.rows;
    let flips = is_transposed == is_left;
    let at = |i: usize, j: usize| if flips { a[(j, i)] } else { a[(i, j)] };
    let is_upper = is_upper != flips;
    for c in 0..x.columns {
        for step in 0..n {
            let i = if is_upper { n - 1 - step } else { step };
            let known = if is_upper { i + 1..n } else { 0..i };
            let sum: f64 = known.map(|k| at(i, k) * x[(k, c)]).sum();
            let value = alpha * x[(i, c)] - sum;
            x[(i, c)] = if has_unit_diagonal { value } else { value / at(i, i) };
        }
    }
    put(args, 9, if is_left { x } else { x.transposed() })?;
    Ok(None)
}
