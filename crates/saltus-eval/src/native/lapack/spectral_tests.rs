//! Tests of eigenvalues, their order and matrix pencils, by residuals (`A*Z - Z*T`, `A*x - λ*B*x`) and known results.

use super::dense::Dense;
use super::eigen;
use super::tests::{back, distance, example, int, native_with_result, value};
use crate::tests::{World, native_with};
use crate::{Items, Value};

fn text(text: &str) -> Value {
    Value::string(text)
}

fn zeros(n: usize) -> Value {
    Value::reals(vec![0.0; n])
}

/// Calls a function and gives the arguments it has written.
fn call(name: &str, arguments: &[Value], written: &[usize]) -> Vec<Value> {
    native_with_result(native_with(&mut World::default(), name, arguments, written))
}

fn numbers(v: &Value) -> Vec<f64> {
    v.to_reals().expect("reals")
}

#[test]
fn hessenberg_and_schur_form_step_by_step() {
    for n in [1, 2, 3, 6] {
        let a = example(n, n, 40 + n as u64);
        let reduced = call(
            "dgehrd",
            &[int(n), int(1), int(n), value(&a), int(n), zeros(n - 1), zeros(3), int(3), int(0)],
            &[3, 5],
        );
        let (packed, taus) = (back(&reduced[0]), reduced[1].clone());
        let arguments = [int(n), int(1), int(n), value(&packed), int(n), taus.clone(), zeros(3), int(3), int(0)];
        let q = back(&call("dorghr", &arguments, &[3])[0]);
        let mut h = packed.clone();
        for i in 2..n {
            (0..i - 1).for_each(|j| h[(i, j)] = 0.0);
        }
        assert!(distance(&q.times(&h).times(&q.transposed()), &a) < 1e-13, "n = {n}");
        // H = Q'*A*Q, by the function that multiplies.
        let multiply = |side: &str, trans: &str, c: &Dense| {
            let arguments = [
                text(side),
                text(trans),
                int(n),
                int(n),
                int(1),
                int(n),
                value(&packed),
                int(n),
                taus.clone(),
                value(c),
                int(n),
                zeros(1),
                int(1),
                int(0),
            ];
            back(&call("dormhr", &arguments, &[9])[0])
        };
        assert!(distance(&multiply("R", "N", &multiply("L", "T", &a)), &h) < 1e-13, "n = {n}");
        let arguments = [
            text("S"),
            text("V"),
            int(n),
            int(1),
            int(n),
            value(&packed),
            int(n),
            zeros(n),
            zeros(n),
            value(&q),
            int(n),
            zeros(1),
            int(1),
            int(0),
        ];
        let results = call("dhseqr", &arguments, &[5, 9, 13]);
        let (t, z) = (back(&results[0]), back(&results[1]));
        assert!(distance(&z.times(&t).times(&z.transposed()), &a) < 1e-12, "n = {n}");
        assert_eq!(results[2], Value::Integer(0));
    }
}

#[test]
fn eigenvalues_only_of_a_hessenberg_matrix() {
    // Companion matrix of x² - 3x + 2 = (x-1)(x-2).
    let h = Dense::from_items(2, 2, vec![3.0, -2.0, 1.0, 0.0]).expect("matrix");
    let arguments = [
        text("E"),
        text("N"),
        int(2),
        int(1),
        int(2),
        value(&h),
        int(2),
        zeros(2),
        zeros(2),
        value(&h),
        int(2),
        zeros(6),
        int(6),
        int(0),
    ];
    let results = call("dhseqr", &arguments, &[5, 7, 8]);
    assert_eq!(back(&results[0]), h, "only eigenvalues were asked for");
    let mut real = numbers(&results[1]);
    real.sort_by(f64::total_cmp);
    assert!((real[0] - 1.0).abs() < 1e-14 && (real[1] - 2.0).abs() < 1e-14);
    assert_eq!(numbers(&results[2]), [0.0, 0.0]);
}

/// Largest entry of `A*x - λ*B*x` over all eigenvectors in the columns of `v`, with λ = (re + i*im)/beta.
fn worst_residual(a: &Dense, b: &Dense, re: &[f64], im: &[f64], beta: &[f64], v: &Dense) -> f64 {
    let (av, bv) = (a.times(v), b.times(v));
    let (mut worst, mut k) = (0.0f64, 0);
    while k < re.len() {
        for i in 0..a.rows {
            if im[k] == 0.0 {
                worst = worst.max((beta[k] * av[(i, k)] - re[k] * bv[(i, k)]).abs());
            } else {
                let real = beta[k] * av[(i, k)] - re[k] * bv[(i, k)] + im[k] * bv[(i, k + 1)];
                let imaginary = beta[k] * av[(i, k + 1)] - re[k] * bv[(i, k + 1)] - im[k] * bv[(i, k)];
                worst = worst.max(real.abs()).max(imaginary.abs());
            }
        }
        k += if im[k] == 0.0 { 1 } else { 2 };
    }
    worst
}

/// From `u'*A = λ*u'`: the transposed matrix has `u` for the conjugate λ.
fn conjugated(im: &[f64]) -> Vec<f64> {
    im.iter().map(|x| -x).collect()
}

#[test]
fn left_and_right_eigenvectors() {
    for n in [2, 3, 5, 8] {
        let a = example(n, n, 60 + n as u64);
        let identity = Dense::identity(n);
        let schur = eigen::schur(&a).expect("converges");
        let ones = vec![1.0; n];
        let (left, right) = (eigen::left_eigenvectors(&schur), eigen::eigenvectors(&schur));
        let (re, im) = (&schur.real, &schur.imaginary);
        assert!(worst_residual(&a, &identity, re, im, &ones, &right) < 1e-12, "n = {n}");
        assert!(worst_residual(&a.transposed(), &identity, re, &conjugated(im), &ones, &left) < 1e-12, "n = {n}");
    }
}

#[test]
fn balanced_eigenvectors_and_conditions() {
    // A badly scaled matrix; trace 3, determinant 2 - 1 = 1: λ = (3 ± √5)/2.
    let a = Dense::from_items(2, 2, vec![1.0, 1e6, 1e-6, 2.0]).expect("matrix");
    let mut arguments = vec![text("B"), text("V"), text("V"), text("E"), int(2), value(&a), int(2), zeros(2), zeros(2)];
    arguments.extend([value(&a), int(2), value(&a), int(2), int(0), int(0), zeros(2), Value::Real(0.0), zeros(2)]);
    arguments.extend([zeros(2), zeros(1), int(1), Value::integers(vec![0]), int(9)]);
    let results = call("dgeevx", &arguments, &[7, 8, 9, 11, 17, 22]);
    let (re, im) = (numbers(&results[0]), numbers(&results[1]));
    let mut sorted = re.clone();
    sorted.sort_by(f64::total_cmp);
    let root = 5f64.sqrt();
    assert!((sorted[0] - (3.0 - root) / 2.0).abs() < 1e-12 && (sorted[1] - (3.0 + root) / 2.0).abs() < 1e-12);
    let identity = Dense::identity(2);
    assert!(worst_residual(&a, &identity, &re, &im, &[1.0; 2], &back(&results[3])) < 1e-9);
    assert!(worst_residual(&a.transposed(), &identity, &re, &im, &[1.0; 2], &back(&results[2])) < 1e-9);
    // Balanced the matrix is symmetric up to a factor near 1, so its eigenvalues are well conditioned.
    assert!(numbers(&results[4]).iter().all(|s| *s > 0.99));
    assert_eq!(results[5], Value::Integer(0));
}

#[test]
fn triangular_eigenvectors_are_turned_back() {
    let a = example(5, 5, 77);
    let schur = eigen::schur(&a).expect("converges");
    let z = value(&schur.z);
    let select = Value::from_parts(vec![5], Items::Boolean(vec![false; 5])).expect("vector");
    let mut arguments = vec![text("B"), text("B"), select, int(5), value(&schur.t), int(5), z.clone(), int(5), z];
    arguments.extend([int(5), int(5), int(0), zeros(15), int(0)]);
    let results = call("dtrevc", &arguments, &[6, 8]);
    let (re, im, ones) = (&schur.real, &schur.imaginary, [1.0; 5]);
    let identity = Dense::identity(5);
    assert!(worst_residual(&a, &identity, re, im, &ones, &back(&results[1])) < 1e-12);
    assert!(worst_residual(&a.transposed(), &identity, re, &conjugated(im), &ones, &back(&results[0])) < 1e-12);
    let largest = back(&results[1]).into_items().iter().fold(0.0f64, |s, x| s.max(x.abs()));
    assert!(largest <= 1.0 + 1e-14);
}

#[test]
fn selected_eigenvalues_come_first() {
    for n in [2, 4, 7] {
        let a = example(n, n, 90 + n as u64);
        let schur = eigen::schur(&a).expect("converges");
        // The stable ones: a pair is selected as a whole.
        let selected: Vec<bool> = schur.real.iter().map(|x| *x < 0.0).collect();
        let n_stable = selected.iter().filter(|s| **s).count();
        let select = Value::from_parts(vec![n], Items::Boolean(selected)).expect("vector");
        let mut arguments =
            vec![text("B"), text("V"), select, int(n), value(&schur.t), int(n), value(&schur.z), int(n)];
        arguments.extend([zeros(n), zeros(n), int(0), Value::Real(0.0), Value::Real(0.0), zeros(1), int(1)]);
        arguments.extend([Value::integers(vec![0]), int(1), int(9)]);
        let results = call("dtrsen", &arguments, &[4, 6, 8, 10, 11, 12, 17]);
        let (t, q) = (back(&results[0]), back(&results[1]));
        assert!(distance(&q.times(&t).times(&q.transposed()), &a) < 1e-12, "n = {n}");
        assert!(distance(&q.transposed().times(&q), &Dense::identity(n)) < 1e-13);
        let re = numbers(&results[2]);
        assert_eq!(results[3], int(n_stable));
        assert!(re[..n_stable].iter().all(|x| *x < 0.0) && re[n_stable..].iter().all(|x| *x >= 0.0), "{re:?}");
        let s = results[4].as_real().expect("real");
        assert!(s > 0.0 && s <= 1.0);
        assert_eq!(results[6], Value::Integer(0));
    }
}

#[test]
fn sylvester_equations_with_all_options() {
    let (a, b) = (eigen::schur(&example(4, 4, 3)).expect("a").t, eigen::schur(&example(3, 3, 5)).expect("b").t);
    let c = example(4, 3, 8);
    for (trana, tranb, sign) in [("N", "N", 1), ("T", "N", -1), ("N", "T", 1), ("T", "T", -1)] {
        let mut arguments = vec![text(trana), text(tranb), Value::Integer(sign), int(4), int(3), value(&a), int(4)];
        arguments.extend([value(&b), int(3), value(&c), int(4), Value::Real(0.0), int(9)]);
        let results = call("dtrsyl", &arguments, &[9, 11, 12]);
        let x = back(&results[0]);
        let op = |m: &Dense, t: &str| if t == "N" { m.clone() } else { m.transposed() };
        let (left, right) = (op(&a, trana).times(&x), x.times(&op(&b, tranb)));
        let mut sum = Dense::zeros(4, 3);
        for i in 0..4 {
            (0..3).for_each(|j| sum[(i, j)] = left[(i, j)] + sign as f64 * right[(i, j)]);
        }
        assert!(distance(&sum, &c) < 1e-12, "{trana} {tranb} {sign}");
        assert_eq!(results[1..], [Value::Real(1.0), Value::Integer(0)]);
    }
    // A and -A have eigenvalues in common with sign +1 and B = -A.
    let one = Dense::from_items(1, 1, vec![2.0]).expect("a");
    let minus = Dense::from_items(1, 1, vec![-2.0]).expect("b");
    let mut arguments = vec![text("N"), text("N"), int(1), int(1), int(1), value(&one), int(1), value(&minus), int(1)];
    arguments.extend([value(&one), int(1), Value::Real(0.0), int(0)]);
    assert_eq!(call("dtrsyl", &arguments, &[12]), [Value::Integer(1)]);
}

fn generalised(a: &Dense, b: &Dense) -> Vec<Value> {
    let n = a.rows;
    let mut arguments =
        vec![text("V"), text("V"), int(n), value(a), int(n), value(b), int(n), zeros(n), zeros(n), zeros(n)];
    arguments.extend([value(a), int(n), value(a), int(n), zeros(1), int(1), int(9)]);
    call("dggev", &arguments, &[7, 8, 9, 10, 12, 16])
}

#[test]
fn generalised_eigenvalues_and_eigenvectors() {
    for n in [1, 2, 3, 5, 9] {
        let (a, b) = (example(n, n, 110 + n as u64), example(n, n, 120 + n as u64));
        let results = generalised(&a, &b);
        let (re, im, beta) = (numbers(&results[0]), numbers(&results[1]), numbers(&results[2]));
        assert!(worst_residual(&a, &b, &re, &im, &beta, &back(&results[4])) < 1e-12, "n = {n}");
        let (at, bt) = (a.transposed(), b.transposed());
        assert!(worst_residual(&at, &bt, &re, &conjugated(&im), &beta, &back(&results[3])) < 1e-12, "n = {n}");
        assert_eq!(results[5], Value::Integer(0));
        // Pairs stand together, the positive imaginary part first.
        for k in 0..n {
            let before = k > 0 && im[k - 1] > 0.0 && im[k - 1] == -im[k];
            assert!(im[k] >= 0.0 || before, "{im:?}");
        }
    }
}

#[test]
fn a_singular_second_matrix_has_infinite_eigenvalues() {
    // det(A - λ*B) = (1 - λ)*(3) for these: one eigenvalue 1, one infinite.
    let a = Dense::from_items(2, 2, vec![1.0, 2.0, 0.0, 3.0]).expect("a");
    let b = Dense::from_items(2, 2, vec![1.0, 5.0, 0.0, 0.0]).expect("b");
    let results = generalised(&a, &b);
    let (re, beta) = (numbers(&results[0]), numbers(&results[2]));
    let infinite = beta.iter().position(|x| x.abs() < 1e-15).expect("an infinite one");
    let finite = 1 - infinite;
    assert!((re[finite] / beta[finite] - 1.0).abs() < 1e-14);
    assert!(re[infinite].abs() > 0.1);
}

#[test]
fn conditions_of_a_diagonal_pencil() {
    // With B the identity and A = diag(1, 3) eigenvectors are unit vectors. Eigenvalues: √(λ² + 1). Separation: the smallest
    // singular value of {{a, -c}, {1, -1}} with the one eigenvalue a and the other c; its square is
    // (p - √(p² - 4*(a-c)²))/2 with p = a² + c² + 2.
    let a = Dense::from_items(2, 2, vec![1.0, 0.0, 0.0, 3.0]).expect("a");
    let b = Dense::identity(2);
    let mut arguments = vec![text("B"), text("V"), text("V"), text("B"), int(2), value(&a), int(2), value(&b), int(2)];
    arguments.extend([zeros(2), zeros(2), zeros(2), value(&a), int(2), value(&a), int(2), int(0), int(0), zeros(2)]);
    arguments.extend([zeros(2), Value::Real(0.0), Value::Real(0.0), zeros(2), zeros(2), zeros(1), int(1)]);
    arguments.extend([Value::integers(vec![0; 8]), Value::integers(vec![0; 2]), int(9)]);
    let results = call("dggevx", &arguments, &[9, 11, 22, 23, 28]);
    let (re, beta) = (numbers(&results[0]), numbers(&results[1]));
    let p: f64 = 12.0;
    let separation = ((p - (p * p - 16.0).sqrt()) / 2.0).sqrt();
    for k in 0..2 {
        let lambda = re[k] / beta[k];
        assert!((numbers(&results[2])[k] - lambda.hypot(1.0)).abs() < 1e-14);
        assert!((numbers(&results[3])[k] - separation).abs() < 1e-14, "{}", numbers(&results[3])[k]);
    }
    assert_eq!(results[4], Value::Integer(0));
}

#[test]
fn eigenvalues_of_a_triangular_pencil() {
    // Quotients of the diagonals: 1/2, 6/3.
    let h = Dense::from_items(2, 2, vec![1.0, 4.0, 0.0, 6.0]).expect("h");
    let t = Dense::from_items(2, 2, vec![2.0, 5.0, 0.0, 3.0]).expect("t");
    let mut arguments = vec![text("E"), text("N"), text("N"), int(2), int(1), int(2), value(&h), int(2), value(&t)];
    arguments.extend([
        int(2),
        zeros(2),
        zeros(2),
        zeros(2),
        zeros(1),
        int(1),
        zeros(1),
        int(1),
        zeros(1),
        int(1),
        int(9),
    ]);
    let results = call("dhgeqz", &arguments, &[10, 11, 12, 19]);
    let (re, beta) = (numbers(&results[0]), numbers(&results[2]));
    let mut all: Vec<f64> = re.iter().zip(&beta).map(|(a, b)| a / b).collect();
    all.sort_by(f64::total_cmp);
    assert!((all[0] - 0.5).abs() < 1e-14 && (all[1] - 2.0).abs() < 1e-14);
    assert_eq!(results[3], Value::Integer(0));
}

#[test]
fn expert_solver_gives_bounds() {
    let (a, b) = (example(5, 5, 31), example(5, 2, 32));
    for trans in ["N", "T"] {
        let mut arguments = vec![text("N"), text(trans), int(5), int(2), value(&a), int(5), value(&a), int(5)];
        arguments.extend([Value::integers(vec![0; 5]), text(" "), zeros(5), zeros(5), value(&b), int(5), value(&b)]);
        arguments.extend([int(5), Value::Real(0.0), zeros(2), zeros(2), zeros(1), Value::integers(vec![0]), int(9)]);
        let results = call("dgesvx", &arguments, &[14, 16, 17, 18, 21]);
        let op = if trans == "N" { a.clone() } else { a.transposed() };
        assert!(distance(&op.times(&back(&results[0])), &b) < 1e-13);
        let rcond = results[1].as_real().expect("real");
        assert!(rcond > 1e-4 && rcond < 1.0);
        assert!(numbers(&results[2]).iter().all(|e| *e < 1e-10) && numbers(&results[3]).iter().all(|e| *e < 1e-15));
        assert_eq!(results[4], Value::Integer(0));
    }
    // The third row is the sum of the first two.
    let singular = Dense::from_items(3, 3, vec![1., 2., 3., 4., 5., 6., 5., 7., 9.]).expect("matrix");
    let right = Dense::from_items(3, 1, vec![1.0; 3]).expect("b");
    let mut arguments = vec![text("N"), text("N"), int(3), int(1), value(&singular), int(3), value(&singular), int(3)];
    arguments.extend([
        Value::integers(vec![0; 3]),
        text(" "),
        zeros(3),
        zeros(3),
        value(&right),
        int(3),
        value(&right),
    ]);
    arguments.extend([int(3), Value::Real(0.0), zeros(1), zeros(1), zeros(1), Value::integers(vec![0]), int(0)]);
    assert_ne!(call("dgesvx", &arguments, &[21]), [Value::Integer(0)]);
}

#[test]
fn triangular_systems_from_both_sides() {
    let full = example(3, 3, 44);
    let b = example(3, 3, 45);
    for side in ["L", "R"] {
        for uplo in ["U", "L"] {
            for trans in ["N", "T"] {
                for diag in ["N", "U"] {
                    let mut a = Dense::zeros(3, 3);
                    for i in 0..3 {
                        for j in 0..3 {
                            let is_in = if uplo == "U" { i <= j } else { i >= j };
                            a[(i, j)] = if i == j && diag == "U" {
                                1.0
                            } else if is_in {
                                full[(i, j)]
                            } else {
                                0.0
                            };
                        }
                    }
                    // The other triangle and a unit diagonal must not be read: pass the full matrix.
                    let mut arguments = vec![text(side), text(uplo), text(trans), text(diag), int(3), int(3)];
                    arguments.extend([Value::Real(2.0), value(&full), int(3), value(&b), int(3)]);
                    let x = back(&call("dtrsm", &arguments, &[9])[0]);
                    let op = if trans == "N" { a } else { a.transposed() };
                    let product = if side == "L" { op.times(&x) } else { x.times(&op) };
                    let mut twice = b.clone();
                    (0..3).for_each(|i| (0..3).for_each(|j| twice[(i, j)] *= 2.0));
                    assert!(distance(&product, &twice) < 1e-11, "{side}{uplo}{trans}{diag}");
                }
            }
        }
    }
}
