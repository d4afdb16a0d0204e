//! Quantised states on systems whose solutions are known.

use saltus_numerics::{Dependency, Liqss2, Longest, QuantisedSystem, Tolerances, TrialFailure};

/// `f(i, t, q)`.
struct Plain<F>(F);

impl<F: FnMut(usize, f64, &[f64]) -> f64> QuantisedSystem for Plain<F> {
    fn rate(&mut self, i: usize, t: f64, q: &[f64]) -> Result<f64, TrialFailure> {
        let rate = (self.0)(i, t, q);
        if rate.is_nan() { Err(TrialFailure) } else { Ok(rate) }
    }
}

fn affine(states: &[u32]) -> Dependency {
    Dependency { states: states.to_vec(), has_time: false, is_affine: true }
}

fn curved(states: &[u32]) -> Dependency {
    Dependency { is_affine: false, ..affine(states) }
}

const LONGEST: Longest = Longest { line: f64::INFINITY, look: 0.1 };

/// Runs to `end`; `see` gets the time and the states after each step. The number of steps.
fn run(
    f: impl FnMut(usize, f64, &[f64]) -> f64,
    dependencies: Vec<Dependency>,
    tolerance: f64,
    x: &[f64],
    end: f64,
    mut see: impl FnMut(f64, &[f64]),
) -> (u64, Vec<f64>) {
    let n = x.len();
    let tolerances = Tolerances { relative: tolerance, absolute: vec![tolerance; n], unbounded: vec![] };
    let mut method = Liqss2::new(tolerances, LONGEST, dependencies);
    let mut system = Plain(f);
    method.start(&mut system, 0.0, x).expect("it can be evaluated");
    let values = |method: &Liqss2, t: f64| (0..n).map(|i| method.value(i, t)).collect::<Vec<f64>>();
    while method.next_time() <= end {
        method.step(&mut system).expect("it can be evaluated");
        assert!(method.statistics().steps < 2_000_000, "stuck at {}", method.time());
        see(method.time(), &values(&method, method.time()));
    }
    (method.statistics().steps, values(&method, end))
}

/// The largest error of a run, at all its steps.
fn worst(
    f: impl FnMut(usize, f64, &[f64]) -> f64,
    dependencies: Vec<Dependency>,
    tolerance: f64,
    x: &[f64],
    end: f64,
    exact: impl Fn(f64) -> Vec<f64>,
) -> (u64, f64) {
    let mut worst = 0.0f64;
    let (steps, _) = run(f, dependencies, tolerance, x, end, |t, x| {
        for (x, y) in x.iter().zip(exact(t)) {
            worst = worst.max((x - y).abs());
        }
    });
    (steps, worst)
}

/// exp(-t): the error of a stable linear state is at most |a|/|a| = 1 quantum (Kofman's bound), the steps grow like 1/√ΔQ.
#[test]
fn a_decay_is_off_by_a_quantum_at_most() {
    let mut last = 0;
    for tolerance in [1e-3, 1e-4, 1e-5, 1e-6] {
        for dependency in [affine(&[0]), curved(&[0])] {
            let (steps, error) = worst(|_, _, q| -q[0], vec![dependency], tolerance, &[1.0], 5.0, |t| vec![(-t).exp()]);
            assert!(error <= 1.01 * tolerance, "{tolerance}: {error}");
            assert!(steps < (3.0 / tolerance.sqrt()) as u64 + 10, "{tolerance}: {steps}");
            last = steps;
        }
    }
    assert!(last > 300);
}

/// x = cos(t), v = -sin(t). Over one period the error is bounded by the quanta times ∫|exp(A·s)| ds, here 2·4 quanta.
#[test]
fn the_error_of_an_oscillator_is_proportional_to_the_quantum() {
    let f = |i: usize, _: f64, q: &[f64]| if i == 0 { q[1] } else { -q[0] };
    let period = std::f64::consts::TAU;
    for tolerance in [1e-3, 1e-4, 1e-5, 1e-6] {
        let exact = |t: f64| vec![t.cos(), -t.sin()];
        let (_, error) = worst(f, vec![affine(&[1]), affine(&[0])], tolerance, &[1.0, 0.0], period, exact);
        assert!(error <= 8.0 * tolerance, "{tolerance}: {error}");
    }
}

/// ẋ₁ = 0.01·x₂, ẋ₂ = -100·x₁ - 100·x₂ + 2020 from (0, 20), the stiff example of the literature: eigenvalues -0.01 and -99.99.
#[test]
fn stiff_states_take_few_steps() {
    let f = |i: usize, _: f64, q: &[f64]| if i == 0 { 0.01 * q[1] } else { -100.0 * q[0] - 100.0 * q[1] + 2020.0 };
    // Equilibrium (20.2, 0); eigenvectors (1, λ/0.01).
    let root = (1e4f64 - 4.0).sqrt();
    let (fast, slow) = (0.5 * (-100.0 - root), 0.5 * (-100.0 + root));
    // c₁ + c₂ = -20.2, (c₁·fast + c₂·slow)/0.01 = 20
    let c1 = (0.2 + 20.2 * slow) / (fast - slow);
    let c2 = -20.2 - c1;
    let exact = |t: f64| {
        let (a, b) = (c1 * (fast * t).exp(), c2 * (slow * t).exp());
        vec![20.2 + a + b, (a * fast + b * slow) / 0.01]
    };
    let end = 500.0;
    let mut errors = Vec::new();
    for tolerance in [1e-2, 1e-3, 1e-4] {
        let (steps, error) = worst(f, vec![affine(&[1]), affine(&[0, 1])], tolerance, &[0.0, 20.0], end, exact);
        // An explicit method needs at least 500·100/2 = 25 000 steps.
        assert!(steps < 6_000, "{tolerance}: {steps}");
        errors.push(error);
        assert!(error < 60.0 * tolerance, "{tolerance}: {error}");
    }
    assert!(errors[2] < 0.1 * errors[0], "{errors:?}");
}

/// ẋ = cos(t) alone: nothing but time moves.
#[test]
fn a_derivative_of_time_alone_is_looked_at_often_enough() {
    let dependency = Dependency { states: vec![], has_time: true, is_affine: false };
    for tolerance in [1e-3, 1e-5] {
        let (_, end) = run(|_, t, _| t.cos(), vec![dependency.clone()], tolerance, &[0.0], 10.0, |_, _| {});
        assert!((end[0] - 10f64.sin()).abs() < 20.0 * tolerance, "{tolerance}: {}", end[0]);
    }
    // Affine in time: t²/2, exactly.
    let dependency = Dependency { is_affine: true, ..dependency };
    let (_, end) = run(|_, t, _| t, vec![dependency], 1e-3, &[0.0], 10.0, |_, _| {});
    assert!((end[0] - 50.0).abs() < 1e-12);
}

/// The logistic equation ẋ = x·(1 - x), unstable at 0 and stable at 1: 1/(1 + 9·exp(-t)) from 0.1.
#[test]
fn a_curved_derivative_is_followed() {
    for tolerance in [1e-3, 1e-4, 1e-5] {
        let exact = |t: f64| vec![1.0 / (1.0 + 9.0 * (-t).exp())];
        let (_, error) = worst(|_, _, q| q[0] * (1.0 - q[0]), vec![curved(&[0])], tolerance, &[0.1], 12.0, exact);
        assert!(error <= 10.0 * tolerance, "{tolerance}: {error}");
    }
}

/// What is not connected with what happens is left alone: of 1 000 decays only one was disturbed, and only its derivative is computed again.
#[test]
fn what_happens_elsewhere_costs_nothing() {
    let n = 1_000;
    let count = std::cell::Cell::new(0);
    let f = |i: usize, _: f64, q: &[f64]| {
        count.set(count.get() + 1);
        -q[i]
    };
    let tolerances = Tolerances { relative: 1e-3, absolute: vec![1e-3; n], unbounded: vec![] };
    let mut method = Liqss2::new(tolerances, LONGEST, (0..n as u32).map(|i| curved(&[i])).collect());
    let mut system = Plain(f);
    method.start(&mut system, 0.0, &vec![0.0; n]).expect("it can be evaluated");
    assert_eq!(method.next_time(), f64::INFINITY, "all are at rest");
    count.set(0);
    method.settle(&mut system, 1.0, &[(500, 1.0)], &[]).expect("it can be evaluated");
    assert_eq!(method.moved(), [500]);
    while method.next_time() < 2.0 {
        method.step(&mut system).expect("it can be evaluated");
        assert_eq!(method.moved(), [500]);
    }
    assert!((method.value(500, 2.0) - (-1f64).exp()).abs() < 1e-3);
    assert!(count.get() < 200, "{} evaluations", count.get());
}

/// A state that is set, and a derivative that is another one from then on.
#[test]
fn states_and_derivatives_may_change_at_events() {
    let rate = std::cell::Cell::new(1.0);
    let tolerances = Tolerances { relative: 1e-4, absolute: vec![1e-4], unbounded: vec![] };
    let mut method = Liqss2::new(tolerances, LONGEST, vec![affine(&[])]);
    let mut system = Plain(|_: usize, _: f64, _: &[f64]| rate.get());
    method.start(&mut system, 0.0, &[0.0]).expect("it can be evaluated");
    assert_eq!(method.next_time(), f64::INFINITY, "a straight line needs no other one");
    rate.set(-2.0);
    method.settle(&mut system, 1.0, &[], &[0]).expect("it can be evaluated");
    assert!((method.value(0, 1.5) - 0.0).abs() < 1e-15);
    method.settle(&mut system, 2.0, &[(0, 7.0)], &[]).expect("it can be evaluated");
    assert!((method.value(0, 3.0) - 5.0).abs() < 1e-14);
}

#[test]
fn a_derivative_without_a_value_is_an_error() {
    let tolerances = Tolerances { relative: 1e-3, absolute: vec![1e-3], unbounded: vec![] };
    let mut method = Liqss2::new(tolerances, LONGEST, vec![curved(&[0])]);
    let mut system = Plain(|_: usize, _: f64, q: &[f64]| (1.0 - q[0]).sqrt().recip());
    assert!(method.start(&mut system, 0.0, &[2.0]).is_err());
}
