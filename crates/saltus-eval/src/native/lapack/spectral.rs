//! LAPACK's functions about eigenvalues of one matrix: Hessenberg and Schur forms, eigenvectors, the order of eigenvalues.
//!
//! `dgehrd`, `dorghr` and `dhseqr` one after the other give what `dgees` gives at once: `A = Z*T*Z'`.

use saltus_numerics::balance;

use super::dense::{self, Dense};
use super::sylvester::{Factor, reorder, sylvester};
use super::{eigen, matrix, option, put, put_info, square};
use crate::Value;
use crate::native::arguments::{booleans, integer, reals, write};
use crate::native::{NativeContext, NativeFunction, NativeResult};

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("dgeev", dgeev),
    ("dgeevx", dgeevx),
    ("dgees", dgees),
    ("dgehrd", dgehrd),
    ("dorghr", dorghr),
    ("dormhr", dormhr),
    ("dhseqr", dhseqr),
    ("dtrevc", dtrevc),
    ("dtrsen", dtrsen),
    ("dtrsyl", dtrsyl),
];

/// jobvl, jobvr, n, A, lda, wr, wi, VL, ldvl, VR, ldvr, work, lwork, info
fn dgeev(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (left, right) = (option(args, 0)? == 'V', option(args, 1)? == 'V');
    let a = square(args, 3)?;
    let Some(schur) = eigen::schur(&a) else { return put_info(args, 13, a.rows) };
    if right {
        put(args, 9, eigen::eigenvectors(&schur))?;
    }
    if left {
        put(args, 7, eigen::left_eigenvectors(&schur))?;
    }
    write(args, 5, Value::reals(schur.real))?;
    write(args, 6, Value::reals(schur.imaginary))?;
    put_info(args, 13, 0)
}

/// balanc, jobvl, jobvr, sense, n, A, lda, wr, wi, VL, ldvl, VR, ldvr, ilo, ihi, scale, abnrm, rconde, rcondv, work, lwork,
/// iwork, info
fn dgeevx(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let is_scaled = matches!(option(args, 0)?, 'S' | 'B');
    let sense = option(args, 3)?;
    if matches!(sense, 'V' | 'B') {
        return Err("condition numbers of eigenvectors are not available".into());
    }
    let mut a = square(args, 5)?;
    let n = a.rows;
    let scale = if is_scaled { balance(n, a.items_mut()) } else { vec![1.0; n] };
    let norm = a.norm_1();
    let Some(schur) = eigen::schur(&a) else { return put_info(args, 22, n) };
    let (mut right, mut left) = (eigen::eigenvectors(&schur), eigen::left_eigenvectors(&schur));
    if sense == 'E' {
        write(args, 17, Value::reals(eigen::conditions(&schur, &left, &right)))?;
    }
    // Eigenvectors of the balanced matrix are D⁻¹ times those of the matrix, from the left D times.
    for (i, factor) in scale.iter().enumerate() {
        (0..n).for_each(|j| right[(i, j)] *= factor);
        (0..n).for_each(|j| left[(i, j)] /= factor);
    }
    for (position, job, mut vectors) in [(9, 1, left), (11, 2, right)] {
        if option(args, job)? == 'V' {
            eigen::normalise_columns(&mut vectors, &schur.imaginary);
            put(args, position, vectors)?;
        }
    }
    write(args, 7, Value::reals(schur.real))?;
    write(args, 8, Value::reals(schur.imaginary))?;
    write(args, 13, Value::Integer(1))?;
    write(args, 14, Value::Integer(n as i64))?;
    write(args, 15, Value::reals(scale))?;
    write(args, 16, Value::Real(norm))?;
    put(args, 5, schur.t)?;
    put_info(args, 22, 0)
}

/// jobvs, sort, select, n, A, lda, sdim, wr, wi, VS, ldvs, work, lwork, bwork, info
fn dgees(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let a = square(args, 4)?;
    let Some(schur) = eigen::schur(&a) else { return put_info(args, 14, a.rows) };
    put(args, 4, schur.t)?;
    write(args, 6, Value::Integer(0))?;
    write(args, 7, Value::reals(schur.real))?;
    write(args, 8, Value::reals(schur.imaginary))?;
    if option(args, 0)? == 'V' {
        put(args, 9, schur.z)?;
    }
    put_info(args, 14, 0)
}

/// The part `low..high` (from 0, without the end) of a matrix of `n` rows that is not triangular yet, from `ilo`, `ihi`.
fn range(args: &[Value], position: usize, n: usize) -> NativeResult<(usize, usize)> {
    let (low, high) = (integer(args, position)?, integer(args, position + 1)?);
    let low = usize::try_from(low - 1).ok().filter(|&low| low < n.max(1));
    let high = usize::try_from(high).ok().filter(|&high| high <= n);
    low.zip(high).filter(|(low, high)| n == 0 || low < high).ok_or_else(|| "wrong `ilo` or `ihi`".into())
}

/// n, ilo, ihi, A, lda, tau, work, lwork, info: the Hessenberg form, with the reflectors below it.
fn dgehrd(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let mut a = square(args, 3)?;
    let n = a.rows;
    let (low, high) = range(args, 1, n)?;
    let mut taus = vec![0.0; n.saturating_sub(1)];
    for k in low..high.saturating_sub(1) {
        let tail = (k + 2..high).fold(0.0f64, |norm, i| norm.hypot(a[(i, k)]));
        if tail == 0.0 {
            continue;
        }
        let alpha = a[(k + 1, k)];
        let beta = -alpha.signum() * alpha.hypot(tail);
        let tau = (beta - alpha) / beta;
        let v: Vec<f64> = (k + 1..high).map(|i| if i == k + 1 { 1.0 } else { a[(i, k)] / (alpha - beta) }).collect();
        for i in 0..high {
            let dot: f64 = v.iter().enumerate().map(|(j, x)| x * a[(i, k + 1 + j)]).sum();
            v.iter().enumerate().for_each(|(j, x)| a[(i, k + 1 + j)] -= tau * dot * x);
        }
        for j in k + 1..n {
            let dot: f64 = v.iter().enumerate().map(|(i, x)| x * a[(k + 1 + i, j)]).sum();
            v.iter().enumerate().for_each(|(i, x)| a[(k + 1 + i, j)] -= tau * dot * x);
        }
        a[(k + 1, k)] = beta;
        (k + 2..high).for_each(|i| a[(i, k)] = v[i - k - 1]);
        taus[k] = tau;
    }
    put(args, 3, a)?;
    write(args, 5, Value::reals(taus))?;
    put_info(args, 8, 0)
}

/// The orthogonal matrix of the reflectors that `dgehrd` leaves below the Hessenberg form.
fn hessenberg_q(packed: &Dense, taus: &[f64], (low, high): (usize, usize)) -> NativeResult<Dense> {
    let n = packed.rows;
    if taus.len() + 1 != n.max(1) {
        return Err("the number of reflectors does not fit the matrix".into());
    }
    // One row further up they are those of a QR factorisation.
    let mut shifted = Dense::zeros(n.saturating_sub(1), n.saturating_sub(1));
    for k in low..high.saturating_sub(1) {
        (k + 2..high).for_each(|i| shifted[(i - 1, k)] = packed[(i, k)]);
    }
    let taus: Vec<f64> =
        taus.iter().enumerate().map(|(k, &tau)| if k >= low && k + 1 < high { tau } else { 0.0 }).collect();
    let inner = dense::q_of(&shifted, &taus);
    let mut q = Dense::identity(n);
    for i in 1..n {
        (1..n).for_each(|j| q[(i, j)] = inner[(i - 1, j - 1)]);
    }
    Ok(q)
}

/// n, ilo, ihi, A, lda, tau, work, lwork, info
fn dorghr(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let packed = square(args, 3)?;
    let q = hessenberg_q(&packed, &reals(args, 5)?, range(args, 1, packed.rows)?)?;
    put(args, 3, q)?;
    put_info(args, 8, 0)
}

/// side, trans, m, n, ilo, ihi, A, lda, tau, C, ldc, work, lwork, info
fn dormhr(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let is_left = option(args, 0)? == 'L';
    let is_transposed = option(args, 1)? != 'N';
    let packed = square(args, 6)?;
    let q = hessenberg_q(&packed, &reals(args, 8)?, range(args, 4, packed.rows)?)?;
    let q = if is_transposed { q.transposed() } else { q };
    let c = matrix(args, 9)?;
    if packed.rows != if is_left { c.rows } else { c.columns } {
        return Err("sizes disagree".into());
    }
    put(args, 9, if is_left { q.times(&c) } else { c.times(&q) })?;
    put_info(args, 13, 0)
}

/// job, compz, n, ilo, ihi, H, ldh, wr, wi, Z, ldz, work, lwork, info
fn dhseqr(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let mut h = square(args, 5)?;
    let n = h.rows;
    // What stands below the subdiagonal is not part of the matrix.
    for i in 2..n {
        (0..i - 1).for_each(|j| h[(i, j)] = 0.0);
    }
    let Some(schur) = eigen::schur(&h) else { return put_info(args, 13, n) };
    match option(args, 1)? {
        'I' => put(args, 9, schur.z)?,
        'V' => {
            let z = matrix(args, 9)?;
            if z.columns != n {
                return Err("sizes disagree".into());
            }
            put(args, 9, z.times(&schur.z))?;
        }
        _ => {}
    }
    if option(args, 0)? == 'S' {
        put(args, 5, schur.t)?;
    }
    write(args, 7, Value::reals(schur.real))?;
    write(args, 8, Value::reals(schur.imaginary))?;
    put_info(args, 13, 0)
}

/// side, howmny, select, n, T, ldt, VL, ldvl, VR, ldvr, mm, m, work, info: the largest component of each vector is 1.
fn dtrevc(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (side, how_many) = (option(args, 0)?, option(args, 1)?);
    if how_many == 'S' {
        return Err("eigenvectors are computed all together only".into());
    }
    let t = square(args, 4)?;
    let n = t.rows;
    for (position, is_right, is_wanted) in [(6, false, side != 'R'), (8, true, side != 'L')] {
        if !is_wanted {
            continue;
        }
        let z = if how_many == 'B' { square(args, position)? } else { Dense::identity(n) };
        if z.rows != n {
            return Err("sizes disagree".into());
        }
        let schur = eigen::Schur::of_parts(t.clone(), z);
        let mut vectors = if is_right { eigen::eigenvectors(&schur) } else { eigen::left_eigenvectors(&schur) };
        eigen::scale_to_largest(&mut vectors, &schur.imaginary);
        put(args, position, vectors)?;
    }
    write(args, 11, Value::Integer(n as i64))?;
    put_info(args, 13, 0)
}

/// job, compq, select, n, T, ldt, Q, ldq, wr, wi, m, s, sep, work, lwork, iwork, liwork, info
fn dtrsen(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let job = option(args, 0)?;
    let select = booleans(args, 2)?;
    let mut t = square(args, 4)?;
    let n = t.rows;
    let is_turned = option(args, 1)? == 'V';
    let mut q = if is_turned { matrix(args, 6)? } else { Dense::identity(n) };
    if q.columns != n || select.len() != n {
        return Err("sizes disagree".into());
    }
    let Some(m) = reorder(&mut t, &mut q, &select) else { return put_info(args, 17, 1) };
    if job != 'N' {
        let (s, sep) = separation(&t, m)?;
        write(args, 11, Value::Real(s))?;
        write(args, 12, Value::Real(sep))?;
    }
    let schur = eigen::Schur::of_parts(t, q);
    put(args, 4, schur.t)?;
    if is_turned {
        put(args, 6, schur.z)?;
    }
    write(args, 8, Value::reals(schur.real))?;
    write(args, 9, Value::reals(schur.imaginary))?;
    write(args, 10, Value::Integer(m as i64))?;
    put_info(args, 17, 0)
}

/// Reciprocal condition numbers of the mean of the first `m` eigenvalues and of their invariant subspace: the second is one
/// over the 1-norm of the inverse of `X ↦ T11*X - X*T22`.
fn separation(t: &Dense, m: usize) -> NativeResult<(f64, f64)> {
    const MOST_UNKNOWNS: usize = 400;
    let rest = t.rows - m;
    if m == 0 || rest == 0 {
        return Ok((1.0, t.norm_1()));
    }
    if m * rest > MOST_UNKNOWNS {
        return Err("the matrix is too large for a condition number".into());
    }
    let part = |row: usize, column: usize, rows: usize, columns: usize| {
        let mut part = Dense::zeros(rows, columns);
        for i in 0..rows {
            (0..columns).for_each(|j| part[(i, j)] = t[(row + i, column + j)]);
        }
        part
    };
    let (first, second) = (part(0, 0, m, m), part(m, m, rest, rest));
    let straight = |matrix| Factor { matrix, is_transposed: false };
    let mut x = part(0, m, m, rest);
    sylvester(straight(&first), straight(&second), -1.0, &mut x);
    let norm = x.into_items().iter().fold(0.0f64, |s, v| s.hypot(*v));
    let mut largest = 0.0f64;
    for i in 0..m {
        for j in 0..rest {
            let mut unit = Dense::zeros(m, rest);
            unit[(i, j)] = 1.0;
            sylvester(straight(&first), straight(&second), -1.0, &mut unit);
            largest = largest.max(unit.into_items().iter().map(|v| v.abs()).sum());
        }
    }
    Ok((1.0 / 1.0f64.hypot(norm), if largest == 0.0 { 0.0 } else { 1.0 / largest }))
}

/// trana, tranb, isgn, m, n, A, lda, B, ldb, C, ldc, scale, info: `op(A)*X + isgn*X*op(B) = scale*C`
fn dtrsyl(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (a, b) = (square(args, 5)?, square(args, 7)?);
    let mut c = matrix(args, 9)?;
    if (c.rows, c.columns) != (a.rows, b.rows) {
        return Err("sizes disagree".into());
    }
    let a = Factor { matrix: &a, is_transposed: option(args, 0)? != 'N' };
    let b = Factor { matrix: &b, is_transposed: option(args, 1)? != 'N' };
    let is_regular = sylvester(a, b, if integer(args, 2)? < 0 { -1.0 } else { 1.0 }, &mut c);
    put(args, 9, c)?;
    write(args, 11, Value::Real(1.0))?;
    put_info(args, 12, usize::from(!is_regular))
}
