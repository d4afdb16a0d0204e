//! Newton's method on the hard cases that models are known for. Expected values are closed forms or are checked by
//! insertion.

use saltus_numerics::{
    Eval, Matrix, NewtonError, NewtonOptions, NewtonReport, NewtonSolver, NonlinearSystem, Residual, Sparsity,
    TrialFailure,
};

fn solve(
    f: impl FnMut(&[f64], &mut [f64]) -> Eval,
    x: &mut [f64],
    nominal: &[f64],
) -> Result<NewtonReport, NewtonError> {
    NewtonSolver::new(x.len(), NewtonOptions::default()).solve(&mut Residual(f), x, nominal)
}

/// Current balance at a diode behind a resistor of 1 kΩ: 1e-12·(exp(v/0.025) − 1) = (5 − v)/1000.
fn diode(x: &[f64], r: &mut [f64]) -> Eval {
    r[0] = 1e-12 * ((x[0] / 0.025).exp() - 1.0) - (5.0 - x[0]) / 1000.0;
    Ok(())
}

#[test]
fn a_diode_is_solved_from_bad_guesses() {
    for start in [0.0, 5.0, -100.0, 10.0, 0.55] {
        let mut x = [start];
        let report = solve(diode, &mut x, &[1.0]).unwrap_or_else(|e| panic!("from {start}: {e:?}"));
        let mut r = [0.0];
        diode(&x, &mut r).unwrap();
        // 1e-10 V at the slope 4.4 mA / 25 mV of the diode, and as much again
        assert!(r[0].abs() < 4e-11, "from {start}: v = {}, residual {}", x[0], r[0]);
        assert!(report.evaluations < 120, "from {start}: {report:?}");
    }
}

#[test]
fn a_root_near_the_end_of_its_domain_is_found() {
    // √x = 1e-4, hence x = 1e-8; Newton's first trial point from 1 is negative
    let root = |x: &[f64], r: &mut [f64]| {
        if x[0] < 0.0 {
            return Err(TrialFailure);
        }
        r[0] = x[0].sqrt() - 1e-4;
        Ok(())
    };
    let mut x = [1.0];
    solve(root, &mut x, &[1.0]).unwrap();
    assert!((x[0] - 1e-8).abs() < 1e-9, "{x:?}");
    // and where the failure shows as a number that is none
    let mut x = [2.0];
    solve(
        |x, r| {
            r[0] = x[0].ln() + 10.0;
            Ok(())
        },
        &mut x,
        &[1e-4],
    )
    .unwrap();
    assert!((x[0] / (-10f64).exp() - 1.0).abs() < 1e-6, "{x:?}");
}

#[test]
fn kinks_do_not_stop_the_iteration() {
    // |x| + x/2 = 3 has the solutions 2 and −6
    for start in [0.0, 7.0, -0.1, 1e-9] {
        let mut x = [start];
        solve(
            |x, r| {
                r[0] = x[0].abs() + 0.5 * x[0] - 3.0;
                Ok(())
            },
            &mut x,
            &[1.0],
        )
        .unwrap();
        assert!((x[0] - 2.0).abs() < 1e-9 || (x[0] + 6.0).abs() < 1e-9, "from {start}: {x:?}");
    }
    // flow through an orifice: m·|m| = 1e-6·p, p = 4 from its start value 0, where the derivative vanishes
    let mut x = [0.0];
    solve(
        |x, r| {
            r[0] = x[0] * x[0].abs() - 4e-6;
            Ok(())
        },
        &mut x,
        &[1.0],
    )
    .unwrap();
    assert!((x[0] - 2e-3).abs() < 1e-9, "{x:?}");
}

#[test]
fn pascals_and_kilograms_per_second_are_balanced() {
    // p − 1e5 = 1e9·m and m = 1e-8·√(2e5 − p): with s = √(2e5 − p): 1e5 − s² = 10·s, s = −5 + √(25 + 1e5)
    let pipe = |x: &[f64], r: &mut [f64]| {
        if x[0] > 2e5 {
            return Err(TrialFailure);
        }
        r[0] = x[0] - 1e5 - 1e9 * x[1];
        r[1] = x[1] - 1e-8 * (2e5 - x[0]).sqrt();
        Ok(())
    };
    let s = -5.0 + (25.0f64 + 1e5).sqrt();
    let mut x = [0.0, 0.0];
    solve(pipe, &mut x, &[1e5, 1e-6]).unwrap();
    assert!((x[0] / (2e5 - s * s) - 1.0).abs() < 1e-9 && (x[1] / (1e-8 * s) - 1.0).abs() < 1e-9, "{x:?}");
}

#[test]
fn a_singular_start_is_left() {
    // x² = 4 from the start value 0; Rosenbrock's valley as equations from a point with a singular Jacobian
    let mut x = [0.0];
    solve(
        |x, r| {
            r[0] = x[0] * x[0] - 4.0;
            Ok(())
        },
        &mut x,
        &[1.0],
    )
    .unwrap();
    assert!((x[0].abs() - 2.0).abs() < 1e-9);
    let mut x = [-1.2, 1.0];
    let valley = |x: &[f64], r: &mut [f64]| {
        r[0] = 10.0 * (x[1] - x[0] * x[0]);
        r[1] = 1.0 - x[0];
        Ok(())
    };
    solve(valley, &mut x, &[1.0, 1.0]).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-9 && (x[1] - 1.0).abs() < 1e-9);
}

#[test]
fn a_singular_but_consistent_system_ends_near_its_start() {
    // x + y = 2 twice: nothing decides between them
    let mut x = [5.0, 1.0];
    let twice = |x: &[f64], r: &mut [f64]| {
        r.fill(x[0] + x[1] - 2.0);
        Ok(())
    };
    solve(twice, &mut x, &[1.0, 1.0]).unwrap();
    assert!((x[0] + x[1] - 2.0).abs() < 1e-8 && x.iter().all(|v| v.abs() < 10.0), "{x:?}");
}

#[test]
fn equations_that_leave_a_variable_open_are_solved_beside_nonlinear_ones() {
    // The two ends of a line without current: u = v and v = u, and elsewhere i² = 2, with a current that is 0.
    let mut x = [0.3, 0.3 + 1e-9, 1.0, 1e-3];
    let floating = |x: &[f64], r: &mut [f64]| {
        r[0] = (x[0] - x[1]) / 3.0;
        r[1] = (x[1] - x[0]) / 7.0 + x[3];
        r[2] = x[2] * x[2] - 2.0;
        r[3] = x[3];
        Ok(())
    };
    solve(floating, &mut x, &[1.0; 4]).unwrap();
    assert!((x[0] - x[1]).abs() < 1e-9 && x[0].abs() < 10.0, "{x:?}");
    assert!((x[2] - 2f64.sqrt()).abs() < 1e-9 && x[3].abs() < 1e-12, "{x:?}");
}

/// The derivative of cos is 0 at 0. The roots are odd multiples of π/2, and those on either side are the nearest.
#[test]
fn the_root_beside_a_singular_start_is_found() {
    let mut x = [0.0];
    let cosine = |x: &[f64], r: &mut [f64]| {
        r[0] = x[0].cos();
        Ok(())
    };
    solve(cosine, &mut x, &[1.0]).unwrap();
    assert!((x[0].abs() - std::f64::consts::FRAC_PI_2).abs() < 1e-12, "{x:?}");
}

#[test]
fn no_solution_is_an_error_of_bounded_cost() {
    let mut x = [3.0];
    let nothing = solve(
        |x, r| {
            r[0] = x[0] * x[0] + 1.0;
            Ok(())
        },
        &mut x,
        &[1.0],
    );
    assert!(
        matches!(nothing, Err(NewtonError::Stagnated(r) | NewtonError::TooManyIterations(r)) if r.evaluations < 5_000)
    );
    let undefined = solve(|_, _| Err(TrialFailure), &mut [0.0], &[1.0]);
    assert_eq!(undefined, Err(NewtonError::StartFails));
}

/// x·exp(x) = p with its own derivative, counting calls.
struct Lambert {
    p: f64,
    jacobians: u32,
}

impl NonlinearSystem for Lambert {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
        r[0] = x[0] * x[0].exp() - self.p;
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], jacobian: &mut Matrix) -> bool {
        self.jacobians += 1;
        jacobian.values[0] = (1.0 + x[0]) * x[0].exp();
        true
    }
}

#[test]
fn warm_starts_need_no_new_jacobian() {
    let mut system = Lambert { p: std::f64::consts::E, jacobians: 0 };
    let mut solver = NewtonSolver::new(1, NewtonOptions::default());
    let mut x = [0.5];
    solver.solve(&mut system, &mut x, &[1.0]).unwrap();
    // x·exp(x) = e at x = 1
    assert!((x[0] - 1.0).abs() < 1e-10);
    let after_first = system.jacobians;
    let mut evaluations = 0;
    for _ in 0..20 {
        system.p *= 1.0001;
        evaluations += solver.solve(&mut system, &mut x, &[1.0]).unwrap().evaluations;
        assert!((x[0] * x[0].exp() / system.p - 1.0).abs() < 1e-9);
    }
    assert_eq!(system.jacobians, after_first);
    assert!(evaluations <= 100, "{evaluations}");
}

#[test]
fn quadratic_convergence_is_seen() {
    // √2: from 1.5 the errors 2.5e-3, 2.1e-6, 1.6e-12 of Heron's method need three steps
    let mut x = [1.5];
    let report = solve(
        |x, r| {
            r[0] = x[0] * x[0] - 2.0;
            Ok(())
        },
        &mut x,
        &[1.0],
    )
    .unwrap();
    assert!((x[0] - 2f64.sqrt()).abs() < 1e-11 && report.iterations <= 4, "{report:?}");
}

/// i = s·(exp(4 - 1e-4·i/s) - 1)
struct Diode {
    s: f64,
}

impl NonlinearSystem for Diode {
    fn residual(&mut self, i: &[f64], r: &mut [f64]) -> Eval {
        r[0] = i[0] - self.s * ((4.0 - 1e-4 * i[0] / self.s).exp() - 1.0);
        Ok(())
    }

    fn jacobian(&mut self, i: &[f64], jacobian: &mut Matrix) -> bool {
        jacobian.set_column(0, |_| 1.0 + 1e-4 * (4.0 - 1e-4 * i[0] / self.s).exp());
        true
    }
}

/// The current is s·53.3…, by fixed-point iteration, whatever s is: a residual that is small for a nominal value of 1 is not small for the equation.
#[test]
fn a_variable_is_found_however_small_it_is() {
    let mut exact = 0f64;
    (0..20).for_each(|_| exact = (4.0 - 1e-4 * exact).exp() - 1.0);
    for s in [1.0, 1e-9, 1e-12, 1e-15, 1e-18, 1e-30] {
        let mut solver = NewtonSolver::new(1, NewtonOptions::default());
        let mut i = [0.0];
        solver.solve(&mut Diode { s }, &mut i, &[1.0]).expect("a solution");
        assert!((i[0] / (s * exact) - 1.0).abs() < 1e-8, "{s}: {} instead of {}", i[0], s * exact);
    }
}

#[test]
fn variables_far_below_their_nominal_values_are_accurate() {
    // exp(x/1e-5) = p, with a nominal value of 1: x = 1e-5·ln p
    let options = NewtonOptions { tolerance: 1e-12, ..NewtonOptions::default() };
    let mut solver = NewtonSolver::new(1, options);
    let mut x = [0.0];
    for k in 0..100 {
        let p = 2.0 + 0.01 * f64::from(k);
        let mut system = Residual(|x: &[f64], r: &mut [f64]| {
            r[0] = (x[0] * 1e5).exp() - p;
            Ok(())
        });
        solver.solve(&mut system, &mut x, &[1.0]).expect("a solution");
        let exact = 1e-5 * p.ln();
        assert!((x[0] / exact - 1.0).abs() < 1e-10, "{p}: {} instead of {exact}", x[0]);
    }
}

/// s·g + 0.1·A·(s/A)³ = b in units from 1 to 1e-18, with a nominal value of 1 in all of them: what is left of the residual is a small part of the terms, wherever the
/// iteration comes from. Guesses, factors and slopes g change from call to call, as they do after events.
#[test]
fn solutions_are_as_accurate_in_all_units() {
    struct Cubic {
        unit: f64,
        slope: f64,
        right: f64,
    }
    impl NonlinearSystem for Cubic {
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
            r[0] = x[0] * self.slope + 0.1 * self.unit * (x[0] / self.unit).powi(3) - self.right;
            Ok(())
        }
        fn terms(&mut self, x: &[f64], sizes: &mut [f64]) -> bool {
            sizes[0] =
                (x[0] * self.slope).abs() + 0.1 * self.unit * (x[0] / self.unit).abs().powi(3) + self.right.abs();
            true
        }
        fn jacobian(&mut self, x: &[f64], jacobian: &mut Matrix) -> bool {
            jacobian.values[0] = self.slope + 0.3 * (x[0] / self.unit).powi(2);
            true
        }
    }
    for exponent in 0..=36 {
        let unit = 10f64.powf(-0.5 * f64::from(exponent));
        let options = NewtonOptions { tolerance: 1e-12, ..NewtonOptions::default() };
        let mut solver = NewtonSolver::new(1, options);
        let (mut x, mut seed) = ([0.0], 1u64);
        for k in 0..5_000 {
            // A linear congruential generator (Knuth), and a sine that moves slowly.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = (seed >> 11) as f64 / (1u64 << 53) as f64;
            let slope = if seed >> 40 & 63 < 32 { 1.0 } else { 1e-3 };
            let right = if k % 1000 < 900 { unit * (0.01 * f64::from(k)).sin() } else { unit * (4.0 * random - 2.0) };
            let mut system = Cubic { unit, slope, right };
            let outcome = solver.solve(&mut system, &mut x, &[1.0]);
            let (mut r, mut size) = ([0.0], [0.0]);
            system.residual(&x, &mut r).map(|()| system.terms(&x, &mut size)).expect("numbers");
            assert!(
                outcome.is_ok() && r[0].abs() <= 1e-9 * size[0],
                "{k} in {unit:e}: {} of {}, {outcome:?} for {slope}, {right:e}",
                r[0],
                size[0]
            );
        }
    }
}

#[test]
fn a_steep_equation_is_not_solved_by_a_tiny_step() {
    // log(x/2) = 0.1: x = 2·exp(0.1). At 1e-300 the Newton step is 1e-297, far below any tolerance.
    let steep = |x: &[f64], r: &mut [f64]| {
        r[0] = (x[0] / 2.0).ln() - 0.1;
        Ok(())
    };
    struct Steep<F>(F);
    impl<F: FnMut(&[f64], &mut [f64]) -> Eval> NonlinearSystem for Steep<F> {
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
            if x[0] > 0.0 { (self.0)(x, r) } else { Err(TrialFailure) }
        }
        fn jacobian(&mut self, x: &[f64], jacobian: &mut Matrix) -> bool {
            jacobian.values[0] = 1.0 / x[0];
            true
        }
    }
    let mut x = [1e-300];
    let outcome = NewtonSolver::new(1, NewtonOptions::default()).solve(&mut Steep(steep), &mut x, &[1.0]);
    assert!(outcome.is_err() || (x[0] - 2.0 * 0.1f64.exp()).abs() < 1e-9, "{outcome:?} at {x:?}");
    // |x| + 1e-11 = 0 has no solution, however small the step to the other side is.
    let mut x = [1.0];
    let outcome = solve(
        |x, r| {
            r[0] = x[0].abs() + 1e-11;
            Ok(())
        },
        &mut x,
        &[1.0],
    );
    assert!(outcome.is_err(), "{outcome:?} at {x:?}");
}

#[test]
fn what_rounding_leaves_of_a_residual_is_a_solution() {
    // x − (a − b) with a and b around 1e5 that are summed in another order each time: x = 0 up to 1e-11.
    let mut is_odd = false;
    let mut x = [1e-3];
    solve(
        |x, r| {
            is_odd = !is_odd;
            r[0] = x[0] - if is_odd { 1.5e-11 } else { -1.5e-11 };
            Ok(())
        },
        &mut x,
        &[1.0],
    )
    .unwrap();
    assert!(x[0].abs() < 4e-11, "{x:?}");
}

#[test]
fn what_cancellation_leaves_of_a_residual_is_a_solution() {
    // 1e-6·(exp(x/0.04) − 1) + 1e-9·x = 0: x = 0. Below 1e-17 the bracket is 0 and the slope of 2.5e-5 is not seen any more.
    struct Diode;
    impl NonlinearSystem for Diode {
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
            r[0] = 1e-6 * ((x[0] / 0.04).exp() - 1.0) + 1e-9 * x[0];
            Ok(())
        }
        fn terms(&mut self, x: &[f64], sizes: &mut [f64]) -> bool {
            sizes[0] = 1e-6 * ((x[0] / 0.04).exp() + 1.0) + 1e-9 * x[0].abs();
            true
        }
        fn jacobian(&mut self, x: &[f64], jacobian: &mut Matrix) -> bool {
            jacobian.values[0] = 1e-6 / 0.04 * (x[0] / 0.04).exp() + 1e-9;
            true
        }
    }
    let mut x = [4e-69];
    NewtonSolver::new(1, NewtonOptions::default()).solve(&mut Diode, &mut x, &[1.0]).unwrap();
    assert!(x[0].abs() < 1e-16, "{x:?}");
}

#[test]
fn a_variable_of_an_almost_flat_equation_is_as_good_as_rounding_lets_it() {
    // (1e6 + 1e-10·x) − 1e6 = 3e-10: x = 3. The left side is a multiple of 2⁻³³ = 1.16e-10, so that no x has a residual below 4e-11.
    struct Flat;
    impl NonlinearSystem for Flat {
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
            r[0] = (1e6 + 1e-10 * x[0]) - 1e6 - 3e-10;
            Ok(())
        }
        fn terms(&mut self, x: &[f64], sizes: &mut [f64]) -> bool {
            sizes[0] = 2e6 + 1e-10 * x[0].abs() + 3e-10;
            true
        }
        fn jacobian(&mut self, _: &[f64], jacobian: &mut Matrix) -> bool {
            jacobian.values[0] = 1e-10;
            true
        }
    }
    let mut x = [0.0];
    let report = NewtonSolver::new(1, NewtonOptions::default()).solve(&mut Flat, &mut x, &[1.0]).unwrap();
    assert!(report.is_limited_by_rounding && (x[0] - 3.0).abs() < 1.2, "{x:?} {report:?}");
}

#[test]
fn columns_of_a_sparse_system_are_differenced_together() {
    // x[i]² + x[i + 1] = 6, x[n - 1] = 2: all are 2. Of a bidiagonal matrix every other column has rows of its own.
    const N: usize = 40;
    let chain = |x: &[f64], r: &mut [f64]| {
        for i in 0..N {
            r[i] = if i + 1 < N { x[i] * x[i] + x[i + 1] - 6.0 } else { x[i] - 2.0 };
        }
        Ok(())
    };
    let pattern = Sparsity::from_entries(N, (0..N).flat_map(|i| [(i, i), (i, (i + 1).min(N - 1))]));
    let mut x = [1.0; N];
    let mut solver = NewtonSolver::with_matrix(Matrix::sparse(&pattern), NewtonOptions::default());
    let report = solver.solve(&mut Residual(chain), &mut x, &[1.0; N]).unwrap();
    assert!(x.iter().all(|x| (x - 2.0).abs() < 1e-9), "{x:?}");
    assert!(report.evaluations < 2 * report.jacobians + 30, "{report:?}");
}

/// A source of 1 V behind `j0.1` Ω, a short circuit of `(1 + j)*2.2e-16` Ω and a load whose current falls with the voltage: `vr, vi, fr, fi, lr, li, v, k`.
struct ShortCircuit;

impl NonlinearSystem for ShortCircuit {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
        let &[vr, vi, fr, fi, lr, li, v, k] = x else { return Err(TrialFailure) };
        let z = f64::EPSILON;
        r.copy_from_slice(&[
            1.0 - vr + 0.1 * (fi + li),
            -vi - 0.1 * (fr + lr),
            fr - (z * vr + z * vi) / (2.0 * z * z),
            fi - (z * vi - z * vr) / (2.0 * z * z),
            k * v - vr * lr - vi * li,
            -vi * lr + vr * li,
            v - vr.hypot(vi),
            k - v.powf(0.8),
        ]);
        if r.iter().all(|r| r.is_finite()) { Ok(()) } else { Err(TrialFailure) }
    }

    fn settle(&mut self, x: &mut [f64]) {
        x[6] = x[0].hypot(x[1]);
        x[7] = x[6].powf(0.8);
    }
}

#[test]
fn a_short_circuit_is_solved_in_units_of_what_was_found() {
    let options = NewtonOptions { tolerance: 1e-12, scale_columns: true, ..NewtonOptions::default() };
    let mut solver = NewtonSolver::new(8, options);
    let mut x = [0.9, -0.1, 0.0, 0.0, 1.0, 0.0, 0.9, 1.0];
    solver.solve(&mut ShortCircuit, &mut x, &[1.0; 8]).expect("in units of 1");
    let units = x.map(|x: f64| x.abs().max(f64::EPSILON));
    solver.solve(&mut ShortCircuit, &mut x, &units).expect("in units of what was found");
    // 1 V over j0.1 Ω is a current of -10j, and the voltage is that times the impedance: (1 - j)*2.2e-15. The load is a resistor, whose current
    // v^0.8 has the phase of the voltage.
    let v = 10.0 * f64::EPSILON;
    let load = (v * 2f64.sqrt()).powf(0.8) / 2f64.sqrt();
    for (x, expected) in [(x[0], v), (x[1], -v), (x[3], -10.0)] {
        assert!((x / expected - 1.0).abs() < 1e-9, "{x:e} for {expected:e}");
    }
    assert!((x[4] / load - 1.0).abs() < 1e-9 && (x[5] / load + 1.0).abs() < 1e-9, "{x:?} for {load:e}");
}

/// z² = 0 from 0.3: each step halves z, and none is small beside z itself. Steps that do as the Jacobian says are enough.
#[test]
fn a_double_root_at_zero_is_a_solution() {
    struct Square;
    impl NonlinearSystem for Square {
        fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Eval {
            r[0] = z[0] * z[0];
            Ok(())
        }

        fn jacobian(&mut self, z: &[f64], jacobian: &mut Matrix) -> bool {
            jacobian.set_column(0, |_| 2.0 * z[0]);
            true
        }
    }
    // Half as large with each step: 0.3·2⁻³⁹ < 1e-12.
    let mut solver = NewtonSolver::new(1, NewtonOptions { max_iterations: 100, ..NewtonOptions::default() });
    let mut z = [0.3];
    let report = solver.solve(&mut Square, &mut z, &[1.0]).expect("a solution");
    assert!(z[0].abs() < 1e-12, "{} after {report:?}", z[0]);
}
