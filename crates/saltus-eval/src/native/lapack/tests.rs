//! Judged by residuals (`A*x - b`, `Q*R - A`, …), which must be small against the matrix; the matrices come from a
//! fixed multiplicative sequence.

use super::dense::{self, Dense};
use super::eigen;
use crate::tests::{World, native_with};
use crate::{Items, Value};

/// Entries between -1 and 1 from a linear congruence.
pub fn example(rows: usize, columns: usize, seed: u64) -> Dense {
    let mut state = seed;
    let items = (0..rows * columns)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
        })
        .collect();
    Dense::from_items(rows, columns, items).expect("sizes")
}

pub fn distance(a: &Dense, b: &Dense) -> f64 {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns));
    a.clone().into_items().iter().zip(b.clone().into_items()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

pub fn value(m: &Dense) -> Value {
    Value::from_parts(vec![m.rows, m.columns], Items::Real(m.clone().into_items())).expect("matrix")
}

pub fn back(v: &Value) -> Dense {
    let (rows, columns) = match *v.dims() {
        [m, n] => (m, n),
        [n] => (n, 1),
        _ => panic!("no matrix"),
    };
    Dense::from_items(rows, columns, v.to_reals().expect("reals")).expect("sizes")
}

pub fn int(i: usize) -> Value {
    Value::Integer(i as i64)
}

#[test]
fn dgesv_solves_and_reports_singular_matrices() {
    let (a, b) = (example(6, 6, 1), example(6, 2, 2));
    let solve = |a: &Dense| {
        let args = [int(6), int(2), value(a), int(6), Value::integers(vec![0; 6]), value(&b), int(6), int(0)];
        native_with(&mut World::default(), "dgesv", &args, &[2, 4, 5, 7])
    };
    let results = native_with_result(solve(&a));
    assert!(distance(&a.times(&back(&results[2])), &b) < 1e-13);
    assert_eq!(results[3], Value::Integer(0));
    let mut singular = a;
    for j in 0..6 {
        singular[(3, j)] = 2.0 * singular[(1, j)];
    }
    let results = native_with_result(solve(&singular));
    // A rounding error may hide the zero pivot; a huge solution or a report are both right, silence is not.
    let huge = back(&results[2]).into_items().iter().any(|x| x.abs() > 1e10);
    assert!(results[3] != Value::Integer(0) || huge);
}

pub fn native_with_result(result: crate::EvalResult<Vec<Value>>) -> Vec<Value> {
    result.expect("native call")
}

#[test]
fn factors_of_dgetrf_serve_dgetrs_and_dgetri() {
    let (a, b) = (example(5, 5, 3), example(5, 1, 4));
    let args = [int(5), int(5), value(&a), int(5), Value::integers(vec![0; 5]), int(0)];
    let factors = native_with_result(native_with(&mut World::default(), "dgetrf", &args, &[2, 4, 5]));
    let args =
        [Value::string("T"), int(5), int(1), factors[0].clone(), int(5), factors[1].clone(), value(&b), int(5), int(0)];
    let solved = native_with_result(native_with(&mut World::default(), "dgetrs", &args, &[6, 8]));
    assert!(distance(&a.transposed().times(&back(&solved[0])), &b) < 1e-13);
    let args = [int(5), factors[0].clone(), int(5), factors[1].clone(), Value::reals(vec![0.0; 5]), int(5), int(0)];
    let inverse = native_with_result(native_with(&mut World::default(), "dgetri", &args, &[1, 6]));
    assert!(distance(&a.times(&back(&inverse[0])), &Dense::identity(5)) < 1e-12);
}

#[test]
fn band_systems() {
    // -x'' with n = 4: tridiagonal (-1, 2, -1) and b = A*{1,2,3,4} = {0, 0, 0, 5}.
    let b = Value::reals(vec![0.0, 0.0, 0.0, 5.0]);
    let off = Value::reals(vec![-1.0; 3]);
    let args = [int(4), int(1), off.clone(), Value::reals(vec![2.0; 4]), off, b.clone(), int(4), int(0)];
    let results = native_with_result(native_with(&mut World::default(), "dgtsv", &args, &[5, 7]));
    let expected = Dense::from_items(4, 1, vec![1.0, 2.0, 3.0, 4.0]).expect("vector");
    assert!(distance(&back(&results[0]), &expected) < 1e-13);
    let rows = [[0.0; 4], [0.0, -1.0, -1.0, -1.0], [2.0; 4], [-1.0, -1.0, -1.0, 0.0]];
    let band = Dense::from_items(4, 4, rows.concat()).expect("band");
    let args = [int(4), int(1), int(1), int(1), value(&band), int(4), Value::integers(vec![0; 4]), b, int(4), int(0)];
    let results = native_with_result(native_with(&mut World::default(), "dgbsv", &args, &[4, 6, 7, 9]));
    assert!(distance(&back(&results[2]), &expected) < 1e-13);
}

#[test]
fn qr_factors_multiply_to_the_matrix() {
    for pivot in [false, true] {
        let a = example(6, 4, 5);
        let mut packed = a.clone();
        let (taus, order) = dense::qr(&mut packed, pivot);
        let q = dense::q_of(&packed, &taus);
        let mut r = Dense::zeros(6, 4);
        let mut permuted = Dense::zeros(6, 4);
        for i in 0..6 {
            for j in 0..4 {
                permuted[(i, j)] = a[(i, order[j])];
                if i <= j {
                    r[(i, j)] = packed[(i, j)];
                }
            }
        }
        assert!(distance(&q.times(&r), &permuted) < 1e-14);
        assert!(distance(&q.transposed().times(&q), &Dense::identity(6)) < 1e-14);
        if pivot {
            assert!((1..4).all(|k| r[(k, k)].abs() <= r[(k - 1, k - 1)].abs()));
        }
    }
}

#[test]
fn singular_value_decomposition_of_all_shapes() {
    for (m, n) in [(5, 3), (3, 5), (4, 4), (1, 3)] {
        let a = example(m, n, 6);
        let (sigma, u, v) = dense::svd(&a);
        let mut s = Dense::zeros(m, n);
        for (k, &x) in sigma.iter().enumerate() {
            s[(k, k)] = x;
        }
        assert!(distance(&u.times(&s).times(&v.transposed()), &a) < 1e-14);
        assert!(distance(&u.transposed().times(&u), &Dense::identity(m)) < 1e-14);
        assert!(distance(&v.transposed().times(&v), &Dense::identity(n)) < 1e-14);
        assert!(sigma.windows(2).all(|w| w[0] >= w[1]));
    }
}

#[test]
fn least_squares_residual_is_orthogonal_and_minimum_norm_for_deficient_rank() {
    let (a, b) = (example(6, 3, 7), example(6, 1, 8));
    let args = |a: &Dense, b: &Dense| {
        vec![
            int(6),
            int(3),
            int(1),
            value(a),
            int(6),
            value(b),
            int(6),
            Value::integers(vec![0; 3]),
            Value::Real(1e-12),
            int(0),
            Value::reals(vec![0.0; 20]),
            int(20),
            int(0),
        ]
    };
    let results = native_with_result(native_with(&mut World::default(), "dgelsy", &args(&a, &b), &[5, 9, 12]));
    let full = back(&results[0]);
    let x = Dense::from_items(3, 1, full.into_items()[..3].to_vec()).expect("solution");
    let mut residual = a.times(&x);
    for i in 0..6 {
        residual[(i, 0)] -= b[(i, 0)];
    }
    assert!(distance(&a.transposed().times(&residual), &Dense::zeros(3, 1)) < 1e-13);
    assert_eq!(results[1], Value::Integer(3));
    let mut deficient = a;
    for i in 0..6 {
        deficient[(i, 2)] = deficient[(i, 0)];
    }
    let results = native_with_result(native_with(&mut World::default(), "dgelsy", &args(&deficient, &b), &[5, 9, 12]));
    let x = back(&results[0]);
    // Equal columns share the load equally in the shortest solution.
    assert!((x[(0, 0)] - x[(2, 0)]).abs() < 1e-13);
    assert_eq!(results[1], Value::Integer(2));
}

#[test]
fn constrained_least_squares() {
    let (a, b) = (example(5, 4, 9), example(2, 4, 10));
    let (c, d) = (example(5, 1, 11), example(2, 1, 12));
    let zeros = |n: usize| Value::reals(vec![0.0; n]);
    let args = [
        int(5),
        int(4),
        int(2),
        value(&a),
        int(5),
        value(&b),
        int(2),
        value(&c),
        value(&d),
        zeros(4),
        zeros(9),
        int(9),
        int(0),
    ];
    let results = native_with_result(native_with(&mut World::default(), "dgglse", &args, &[9, 12]));
    let x = back(&results[0]);
    assert!(distance(&b.times(&x), &d) < 1e-13);
    // Optimality: the gradient A'(A*x - c) is a combination of the constraint rows.
    let mut residual = a.times(&x);
    for i in 0..5 {
        residual[(i, 0)] -= c[(i, 0)];
    }
    let gradient = a.transposed().times(&residual);
    let (multipliers, _) = super::least_squares(&b.transposed(), &gradient, 1e-14);
    let multipliers = Dense::from_items(2, 1, multipliers.into_items()[..2].to_vec()).expect("multipliers");
    assert!(distance(&b.transposed().times(&multipliers), &gradient) < 1e-12);
}

#[test]
fn cholesky_of_both_triangles() {
    let g = example(4, 4, 13);
    let mut a = g.transposed().times(&g);
    for i in 0..4 {
        a[(i, i)] += 1.0;
    }
    for upper in [true, false] {
        let mut f = a.clone();
        assert_eq!(dense::cholesky(&mut f, upper), 0);
        for i in 0..4 {
            for j in 0..4 {
                if (i > j) == upper && i != j {
                    f[(i, j)] = 0.0;
                }
            }
        }
        let product = if upper { f.transposed().times(&f) } else { f.times(&f.transposed()) };
        assert!(distance(&product, &a) < 1e-14);
    }
    assert_eq!(dense::cholesky(&mut Dense::zeros(2, 2), true), 1);
}

#[test]
fn schur_form_and_eigenvectors() {
    for n in [1, 2, 3, 5, 8, 20] {
        let a = example(n, n, 14 + n as u64);
        let schur = eigen::schur(&a).expect("converges");
        assert!(distance(&schur.z.times(&schur.t).times(&schur.z.transposed()), &a) < 1e-12, "n = {n}");
        let v = eigen::eigenvectors(&schur);
        let av = a.times(&v);
        let mut k = 0;
        while k < n {
            let (re, im) = (schur.real[k], schur.imaginary[k]);
            for i in 0..n {
                if im == 0.0 {
                    assert!((av[(i, k)] - re * v[(i, k)]).abs() < 1e-12, "n = {n}, real {k}");
                } else {
                    // A*(x + i*y) = (re + i*im)*(x + i*y)
                    let (x, y) = (v[(i, k)], v[(i, k + 1)]);
                    assert!((av[(i, k)] - (re * x - im * y)).abs() < 1e-12, "n = {n}, pair {k}");
                    assert!((av[(i, k + 1)] - (im * x + re * y)).abs() < 1e-12, "n = {n}, pair {k}");
                }
            }
            k += if im == 0.0 { 1 } else { 2 };
        }
    }
}

#[test]
fn eigenvalues_of_known_matrices() {
    // Companion matrix of (x-1)(x-2)(x-3) = x^3 - 6x^2 + 11x - 6.
    let a = Dense::from_items(3, 3, vec![6.0, -11.0, 6.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).expect("matrix");
    let mut real = eigen::schur(&a).expect("converges").real;
    real.sort_by(f64::total_cmp);
    for (x, expected) in real.iter().zip([1.0, 2.0, 3.0]) {
        assert!((x - expected).abs() < 1e-12);
    }
    // Rotation by 90 degrees: ±i. Through the FORTRAN interface, positive imaginary part first.
    let rotation = Dense::from_items(2, 2, vec![0.0, -1.0, 1.0, 0.0]).expect("matrix");
    let zeros = || Value::reals(vec![0.0; 2]);
    let args = [
        Value::string("N"),
        Value::string("V"),
        int(2),
        value(&rotation),
        int(2),
        zeros(),
        zeros(),
        Value::Real(0.0),
        int(1),
        value(&rotation),
        int(2),
        zeros(),
        int(24),
        int(0),
    ];
    let results = native_with_result(native_with(&mut World::default(), "dgeev", &args, &[3, 5, 6, 9, 13]));
    assert_eq!(results[1].to_reals(), Some(vec![0.0, 0.0]));
    let imaginary = results[2].to_reals().expect("reals");
    assert!((imaginary[0] - 1.0).abs() < 1e-15 && (imaginary[1] + 1.0).abs() < 1e-15);
}

#[test]
fn norms_and_condition() {
    let a = Dense::from_items(2, 2, vec![1.0, -2.0, 3.0, 4.0]).expect("matrix");
    let norm =
        |kind: &str| crate::tests::native("dlange", &[Value::string(kind), int(2), int(2), value(&a), int(2), int(0)]);
    assert_eq!(norm("1"), Ok(Value::Real(6.0)));
    assert_eq!(norm("I"), Ok(Value::Real(7.0)));
    assert_eq!(norm("M"), Ok(Value::Real(4.0)));
    // inverse = {{4, 2}, {-3, 1}}/10, its 1-norm is 0.7: rcond = 1/(6*0.7).
    let mut lu = a.clone();
    dense::lu(&mut lu);
    let args =
        [Value::string("1"), int(2), value(&lu), int(2), Value::Real(6.0), Value::Real(0.0), int(0), int(0), int(0)];
    let results = native_with_result(native_with(&mut World::default(), "dgecon", &args, &[5, 8]));
    assert!((results[0].as_real().expect("real") - 1.0 / 4.2).abs() < 1e-14);
}
