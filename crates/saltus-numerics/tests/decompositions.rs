//! Eigenvalues, Schur forms and singular values, judged by closed forms and by residuals (`A − Z·T·Zᵀ`, `A − U·Σ·Vᵀ`), which
//! must be small against the matrix.

use saltus_numerics::{Schur, SingularValues, balance, eigenvalues, schur, singular_values};

/// Entries between -1 and 1 from a linear congruence.
fn example(rows: usize, columns: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    };
    (0..rows * columns).map(|_| next()).collect()
}

fn transposed(rows: usize, columns: usize, a: &[f64]) -> Vec<f64> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| a[i * columns + j])).collect()
}

fn product(rows: usize, inner: usize, columns: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let entry = |i: usize, j: usize| (0..inner).map(|k| a[i * inner + k] * b[k * columns + j]).sum();
    (0..rows * columns).map(|k| entry(k / columns, k % columns)).collect()
}

#[track_caller]
fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(worst < tolerance, "{worst:e}");
}

#[track_caller]
fn assert_orthogonal(n: usize, q: &[f64]) {
    let identity: Vec<f64> = (0..n * n).map(|k| f64::from(k / n == k % n)).collect();
    assert_close(&product(n, n, n, &transposed(n, n, q), q), &identity, 1e-13);
}

/// The eigenvalues, in any order.
#[track_caller]
fn assert_eigenvalues(n: usize, a: &[f64], expected: &[(f64, f64)], tolerance: f64) {
    let found = eigenvalues(n, a).expect("converges");
    assert_eq!(found.len(), expected.len());
    for e in expected {
        let nearest = found.iter().map(|f| (f.0 - e.0).hypot(f.1 - e.1)).fold(f64::INFINITY, f64::min);
        assert!(nearest < tolerance, "{e:?} not among {found:?}");
    }
}

#[test]
fn eigenvalues_come_by_decreasing_real_part() {
    assert_eq!(eigenvalues(0, &[]), Some(vec![]));
    assert_eq!(eigenvalues(1, &[3.0]), Some(vec![(3.0, 0.0)]));
    // Closed form: ±i, the positive one first.
    assert_eq!(eigenvalues(2, &[0.0, 1.0, -1.0, 0.0]), Some(vec![(0.0, 1.0), (0.0, -1.0)]));
    // Triangular: the diagonal.
    let a = [1.0, 5.0, 6.0, 0.0, 2.0, 7.0, 0.0, 0.0, -3.0];
    assert_eq!(eigenvalues(3, &a), Some(vec![(2.0, 0.0), (1.0, 0.0), (-3.0, 0.0)]));
}

#[test]
fn what_is_not_a_matrix_of_numbers_is_refused() {
    assert_eq!(eigenvalues(2, &[f64::NAN, 0.0, 0.0, 1.0]), None);
    assert_eq!(eigenvalues(2, &[1.0]), None);
    assert!(schur(2, &[1.0, 0.0, f64::INFINITY, 1.0]).is_none());
}

#[test]
fn the_roots_of_a_polynomial_are_those_of_its_companion_matrix() {
    // (x - 1)(x - 2)(x - 3)(x - 4) = x^4 - 10 x^3 + 35 x^2 - 50 x + 24
    let a = [10.0, -35.0, 50.0, -24.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    assert_eigenvalues(4, &a, &[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)], 1e-10);
}

#[test]
fn a_chain_of_springs_has_the_eigenvalues_of_the_sine() {
    // The tridiagonal matrix (1, -2, 1) of size n: -4 sin²(kπ/(2(n + 1))).
    for n in [40, 100] {
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => -2.0,
            1 => 1.0,
            _ => 0.0,
        };
        let a: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let angle = |k: usize| k as f64 * std::f64::consts::PI / (2.0 * (n + 1) as f64);
        let expected: Vec<(f64, f64)> = (1..=n).map(|k| (-4.0 * angle(k).sin().powi(2), 0.0)).collect();
        assert_eigenvalues(n, &a, &expected, 1e-12);
    }
}

/// Without exceptional shifts the iteration turns such a matrix in circles.
#[test]
fn a_cyclic_permutation_has_the_roots_of_unity() {
    for n in [3, 4, 5, 8, 16, 64] {
        let a: Vec<f64> = (0..n * n).map(|k| f64::from(k / n == (k % n + 1) % n)).collect();
        let root = |k: usize| (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
        let expected: Vec<(f64, f64)> = (0..n).map(root).map(|(sine, cosine)| (cosine, sine)).collect();
        assert_eigenvalues(n, &a, &expected, 1e-13);
    }
}

#[test]
fn units_do_not_cost_digits() {
    // A decaying rotation, -1 ± i, with its two states 1e9 apart.
    assert_eigenvalues(2, &[-1.0, 1e9, -1e-9, -1.0], &[(-1.0, 1.0), (-1.0, -1.0)], 1e-14);
    // Companion matrix of (x + 1)(x + 2)(x + 3) = x^3 + 6 x^2 + 11 x + 6 with states of the scales 1, 1e8 and 1e-8.
    let (scale, companion) = ([1.0, 1e8, 1e-8], [-6.0, -11.0, -6.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let a: Vec<f64> = (0..9).map(|k| companion[k] * scale[k / 3] / scale[k % 3]).collect();
    assert_eigenvalues(3, &a, &[(-1.0, 0.0), (-2.0, 0.0), (-3.0, 0.0)], 1e-12);
}

#[test]
fn balancing_is_a_similarity_without_rounding() {
    let n = 5;
    let original: Vec<f64> =
        example(n, n, 3).iter().enumerate().map(|(k, x)| x * 10f64.powi((k / n) as i32 * 3)).collect();
    let mut balanced = original.clone();
    let scale = balance(n, &mut balanced);
    assert!(scale.iter().any(|&s| s != 1.0) && scale.iter().all(|s| s.log2().fract() == 0.0));
    let back: Vec<f64> = (0..n * n).map(|k| balanced[k] * scale[k / n] / scale[k % n]).collect();
    assert_eq!(back, original);
}

#[test]
fn schur_forms_reproduce_the_matrix() {
    for n in [1, 2, 3, 5, 8, 20, 90] {
        let a = example(n, n, 14 + n as u64);
        let Schur { t, z } = schur(n, &a).expect("converges");
        assert_orthogonal(n, &z);
        let back = product(n, n, n, &product(n, n, n, &z, &t), &transposed(n, n, &z));
        assert_close(&back, &a, 1e-12);
        for i in 1..n {
            assert!((0..i - 1).all(|j| t[i * n + j] == 0.0), "below the blocks");
            // A 2×2 block stands alone and has a complex pair: equal diagonal, opposite signs beside it.
            if t[i * n + i - 1] != 0.0 {
                let (above, below) = (t[(i - 1) * n + i], t[i * n + i - 1]);
                assert!(above * below < 0.0 && t[i * n + i] == t[(i - 1) * n + i - 1], "n = {n}, row {i}");
                assert!(i < 2 || t[(i - 1) * n + i - 2] == 0.0);
            }
        }
    }
}

#[test]
fn singular_values_of_all_shapes() {
    for (m, n) in [(5, 3), (3, 5), (4, 4), (1, 3), (40, 30), (0, 2)] {
        let a = example(m, n, 6);
        let SingularValues { sigma, u, v } = singular_values(m, n, &a);
        assert!(sigma.len() == m.min(n) && sigma.windows(2).all(|w| w[0] >= w[1]));
        assert_orthogonal(m, &u);
        assert_orthogonal(n, &v);
        let middle: Vec<f64> = (0..m * n).map(|k| if k / n == k % n { sigma[k / n] } else { 0.0 }).collect();
        let back = product(m, n, n, &product(m, m, n, &u, &middle), &transposed(n, n, &v));
        assert_close(&back, &a, 1e-13);
    }
    // diag(3, -4) has the singular values 4 and 3; a matrix of rank 1, (1, 2)ᵀ·(2, 1), has 5 and 0.
    assert_close(&singular_values(2, 2, &[3.0, 0.0, 0.0, -4.0]).sigma, &[4.0, 3.0], 1e-14);
    assert_close(&singular_values(2, 2, &[2.0, 1.0, 4.0, 2.0]).sigma, &[5.0, 0.0], 1e-14);
}

/// The singular values of [[1, 1], [0, δ]] multiply to δ and their squares add to 2 + δ²: the small one is δ/√2 to 1 part in δ².
#[test]
fn small_singular_values_are_accurate() {
    let delta = 1e-12;
    let sigma = singular_values(2, 2, &[1.0, 1.0, 0.0, delta]).sigma;
    assert!((sigma[1] / (delta / 2f64.sqrt()) - 1.0).abs() < 1e-3, "{sigma:?}");
}
