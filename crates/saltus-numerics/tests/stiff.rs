//! Stiff problems with published or closed-form solutions, for every implicit method and the automatic choice.

mod problems;

use problems::{
    Brusselator, METHODS, Oscillator, ProtheroRobinson, Robertson, STIFF_METHODS, VanDerPol, advance, integrator,
    relative_error, run, uniform,
};
use saltus_numerics::{Automatic, Eval, FixedStep, FixedStepMethod, Integrator, OdeSystem, Tolerances};

fn robertson_tolerances(relative: f64) -> Tolerances {
    // absolute ones follow the magnitudes of the species: x₂ stays below 4e-5 and x₁ falls to 2e-8
    Tolerances { relative, absolute: vec![1e-2 * relative, 1e-6 * relative, 1e-2 * relative], unbounded: vec![] }
}

#[test]
fn robertson_meets_the_published_values() {
    // t = 40 and 4e5: CVODE with rtol 1e-12, as printed by the Java port in MIPAV (the CVODE example program prints the
    // same to the 3 digits of its rtol 1e-4). t = 1e11: test set for IVP solvers, Bari/CWI, problem ROBER.
    let at_40 = [0.715827068745404, 9.185534765344522e-6, 0.28416374572813036];
    let at_4e5 = [0.004938274376153642, 1.98499403707653e-8, 0.9950617019719638];
    let at_1e11 = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.999999979166505];
    for method in STIFF_METHODS {
        for has_jacobian in [true, false] {
            let mut system = Robertson { has_jacobian };
            let mut solver = integrator(method, robertson_tolerances(1e-8), f64::INFINITY);
            solver.restart(&mut system, 0.0, &[1.0, 0.0, 0.0]).unwrap();
            for (t, reference, most) in [(40.0, at_40, 1e-7), (4e5, at_4e5, 5e-7), (1e11, at_1e11, 1e-2)] {
                advance(solver.as_mut(), &mut system, t);
                let error = relative_error(solver.states(), &reference);
                assert!(error < most, "{method}, jacobian {has_jacobian}, t = {t}: error {error:e}");
                // the mass is a linear invariant, which every method here conserves
                let mass: f64 = solver.states().iter().sum();
                assert!((mass - 1.0).abs() < 1e-9, "{method}, jacobian {has_jacobian}, t = {t}: mass {mass}");
            }
        }
    }
}

#[test]
fn the_stiff_methods_need_few_steps_for_robertson() {
    // to t = 1e6, rtol 1e-6: 222, 131, 431, 150 steps when written, and a quarter more
    for (method, most) in [("rodas4", 280), ("rodas5p", 165), ("bdf", 540), ("automatic", 190)] {
        let mut solver = integrator(method, robertson_tolerances(1e-6), f64::INFINITY);
        run(solver.as_mut(), &mut Robertson { has_jacobian: true }, &[1.0, 0.0, 0.0], 1e6);
        let steps = solver.statistics().steps;
        assert!(steps < most, "{method}: {steps} steps");
    }
}

#[test]
fn van_der_pol_meets_the_published_values() {
    // test set for IVP solvers, problem VDPOL: ε = 1e-6 (μ = 1000), t = 2, computed with RADAU at 1.1e-18
    let reference = [1.706167732170483, -0.8928097010247975];
    for (method, most) in [("rodas4", 1e-5), ("rodas5p", 1e-5), ("bdf", 2e-4), ("automatic", 1e-5)] {
        let mut solver = integrator(method, uniform(2, 1e-6), f64::INFINITY);
        run(solver.as_mut(), &mut VanDerPol { epsilon: 1e-6 }, &[2.0, 0.0], 2.0);
        let error = relative_error(solver.states(), &reference);
        assert!(error < most, "{method}: error {error:e}, {:?}", solver.statistics());
    }
}

#[test]
fn an_arbitrarily_stiff_linear_problem_follows_the_cosine() {
    for method in STIFF_METHODS {
        for lambda in [-1e3, -1e6, -1e9] {
            let mut solver = integrator(method, uniform(1, 1e-6), f64::INFINITY);
            run(solver.as_mut(), &mut ProtheroRobinson { lambda }, &[1.0], 10.0);
            let error = (solver.states()[0] - 10f64.cos()).abs();
            assert!(error < 3e-6, "{method}, λ = {lambda:e}: error {error:e}");
            let steps = solver.statistics().steps;
            assert!(steps < 500, "{method}, λ = {lambda:e}: {steps} steps");
        }
    }
    // also off the solution: the fast transient has to be resolved and then forgotten
    for method in STIFF_METHODS {
        let mut solver = integrator(method, uniform(1, 1e-6), f64::INFINITY);
        run(solver.as_mut(), &mut ProtheroRobinson { lambda: -1e6 }, &[7.0], 1.0);
        let error = (solver.states()[0] - 1f64.cos()).abs();
        assert!(error < 3e-6, "{method}: error {error:e}");
    }
}

#[test]
fn energy_and_phase_of_an_oscillator_drift_within_the_tolerance() {
    // 100 radians; energy (x² + v²)/2 = ½ and phase 100 from the closed form
    for (method, most) in [
        ("dormand-prince", 1e-4),
        ("dormand-prince-8", 1e-4),
        ("rodas4", 1e-4),
        ("rodas5p", 1e-5),
        ("bdf", 1e-3),
        ("automatic", 1e-4),
    ] {
        let mut solver = integrator(method, uniform(2, 1e-6), f64::INFINITY);
        run(solver.as_mut(), &mut Oscillator { omega: 1.0 }, &[1.0, 0.0], 100.0);
        let x = solver.states();
        let energy = 0.5 * (x[0] * x[0] + x[1] * x[1]);
        let phase = (x[0] * 100f64.sin() + x[1] * 100f64.cos()).abs();
        assert!((energy - 0.5).abs() < most, "{method}: energy {energy}");
        assert!(phase < most, "{method}: phase error {phase:e}");
    }
}

#[test]
fn the_brusselator_is_the_same_for_all_methods_and_storages() {
    // reference: Dormand–Prince at 1e-10, which needs no Jacobian and no linear algebra
    let n = 50;
    let start = Brusselator::start(n);
    let mut reference = integrator("dormand-prince", uniform(2 * n, 1e-10), f64::INFINITY);
    run(reference.as_mut(), &mut Brusselator::new(n, false), &start, 10.0);
    for method in METHODS {
        for is_sparse in [true, false] {
            let mut solver = integrator(method, uniform(2 * n, 1e-6), f64::INFINITY);
            run(solver.as_mut(), &mut Brusselator::new(n, is_sparse), &start, 10.0);
            let error = relative_error(solver.states(), reference.states());
            assert!(error < 3e-5, "{method}, sparse {is_sparse}: {error:e}");
        }
    }
}

#[test]
fn sparsity_saves_evaluations() {
    let n = 100;
    let start = Brusselator::start(n);
    let cost = |is_sparse| {
        let mut solver = integrator("rodas5p", uniform(2 * n, 1e-6), f64::INFINITY);
        run(solver.as_mut(), &mut Brusselator::new(n, is_sparse), &start, 1.0);
        solver.statistics().evaluations
    };
    // one Jacobian costs 200 evaluations, or as many as there are groups: 4 to 6 for this pattern
    let (sparse, dense) = (cost(true), cost(false));
    assert!(10 * sparse < dense, "{sparse} and {dense} evaluations");
}

/// ẋ = a·sin t − sign x, which the integrator is not told of: x comes to rest at 0 until the push exceeds the friction.
struct DryFriction {
    push: f64,
}

impl OdeSystem for DryFriction {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        let sign = if x[0] == 0.0 { 0.0 } else { x[0].signum() };
        dx[0] = self.push * t.sin() - sign;
        Ok(())
    }
}

#[test]
fn dry_friction_without_events_is_slid_along() {
    // At rest from before t = 0.4 on, for |0.5·sin t| < 1; with 1.5·sin t from t₀ = asin(1/1.5) on x = 1.5·(cos t₀ − cos t) − (t − t₀).
    let begins: f64 = (1.0f64 / 1.5).asin();
    let moved = 1.5 * (begins.cos() - 1.5f64.cos()) - (1.5 - begins);
    for tolerance in [1e-4, 1e-6, 1e-8] {
        for (push, start, end, x) in [(0.0, 1.0, 30.0, 0.0), (0.5, 0.3, 30.0, 0.0), (1.5, 0.1, 1.5, moved)] {
            let mut solver = integrator("bdf", uniform(1, tolerance), f64::INFINITY);
            run(solver.as_mut(), &mut DryFriction { push }, &[start], end);
            let (error, cost) = ((solver.states()[0] - x).abs(), solver.statistics());
            assert!(error < 100.0 * tolerance, "{push}, {tolerance}: {error:e}");
            assert!(cost.steps < 2_000 && cost.rejected < 1_500, "{push}, {tolerance}: {cost:?}");
        }
    }
}

/// [`DryFriction`] beside a state that the iteration has to work for.
struct FrictionBeside {
    stiffness: f64,
}

impl OdeSystem for FrictionBeside {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = -self.stiffness * x[0].abs() * x[0] + 1.5 * (4.7 * t).cos() - x[0];
        let sign = if x[1] == 0.0 { 0.0 } else { x[1].signum() };
        dx[1] = 1.5 * t.sin() - sign;
        Ok(())
    }
}

#[test]
fn a_jump_of_one_state_is_not_hidden_by_others() {
    // The second state is that of the test above, up to t = 1.5.
    let begins: f64 = (1.0f64 / 1.5).asin();
    let moved = 1.5 * (begins.cos() - 1.5f64.cos()) - (1.5 - begins);
    for stiffness in [10.0, 1000.0] {
        for start in [-0.45, 0.6] {
            let mut solver = integrator("bdf", uniform(2, 1e-6), f64::INFINITY);
            run(solver.as_mut(), &mut FrictionBeside { stiffness }, &[start, 0.1], 1.5);
            let (error, cost) = ((solver.states()[1] - moved).abs(), solver.statistics());
            assert!(error < 1e-3, "{stiffness}, {start}: {error:e}, {cost:?}");
        }
    }
}

/// A body in free fall: a parabola, on which methods of order 2 make no error.
struct Falling;

impl OdeSystem for Falling {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx.copy_from_slice(&[x[1], -9.81]);
        Ok(())
    }
}

#[test]
fn errors_of_restarts_do_not_add_up() {
    // Height and speed after one second of a throw upwards with 5 m/s, however often an event elsewhere interrupts it. At order 1 each of the
    // restarts would be off by about 9.81/2·h², which is 5e-3 in all.
    for method in STIFF_METHODS {
        let mut solver = integrator(method, uniform(2, 1e-4), f64::INFINITY);
        solver.restart(&mut Falling, 0.0, &[0.0, 5.0]).unwrap();
        for k in 1..=1000 {
            advance(solver.as_mut(), &mut Falling, f64::from(k) / 1000.0);
            let x = solver.states().to_vec();
            solver.reinit(&mut Falling, f64::from(k) / 1000.0, &x).unwrap();
        }
        let x = solver.states();
        assert!((x[0] - (5.0 - 0.5 * 9.81)).abs() < 1e-12 && (x[1] - (5.0 - 9.81)).abs() < 1e-12, "{method}: {x:?}");
    }
}

/// Stiff up to t = 1, harmless afterwards: ẋ = λ(t)·(x − cos t) − sin t.
struct StiffForAWhile;

impl OdeSystem for StiffForAWhile {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        let lambda = if t < 1.0 { -1e5 } else { -1.0 };
        dx[0] = lambda * (x[0] - t.cos()) - t.sin();
        Ok(())
    }
}

#[test]
fn the_automatic_choice_goes_to_the_implicit_method_and_back() {
    let mut solver = Automatic::new(uniform(1, 1e-7), 0.1);
    solver.restart(&mut StiffForAWhile, 0.0, &[1.0]).unwrap();
    advance(&mut solver, &mut StiffForAWhile, 1.0);
    assert!(solver.is_stiff(), "{:?}", solver.statistics());
    let x = solver.states().to_vec();
    solver.reinit(&mut StiffForAWhile, 1.0, &x).unwrap();
    advance(&mut solver, &mut StiffForAWhile, 10.0);
    assert!(!solver.is_stiff());
    assert!((solver.states()[0] - 10f64.cos()).abs() < 1e-6);
    let cost = solver.statistics();
    assert!(cost.switches == 2 && cost.steps < 400, "{cost:?}");
}

/// A fast and well damped oscillator that follows a constant: ẍ + 2ζω·ẋ + ω²·(x − 1) = 0.
struct Damped {
    zeta: f64,
}

impl OdeSystem for Damped {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        let omega = 1e3;
        dx[0] = omega * x[1];
        dx[1] = -omega * (x[0] - 1.0) - 2.0 * self.zeta * omega * x[1];
        Ok(())
    }
}

#[test]
fn the_automatic_choice_notices_stiffness_of_damped_oscillations() {
    // At the edge of the domain the estimate of h·|λ| goes up and down with the oscillation: for ζ = 0.9 between 1.3 and 9.
    // Explicit steps to t = 10 would be some 3000.
    for zeta in [0.3, 0.5, 0.7, 0.9] {
        let mut solver = Automatic::new(uniform(2, 1e-6), f64::INFINITY);
        run(&mut solver, &mut Damped { zeta }, &[0.0, 0.0], 10.0);
        let cost = solver.statistics();
        assert!(solver.is_stiff() && cost.steps < 400, "{zeta}: {cost:?}");
        assert!((solver.states()[0] - 1.0).abs() < 1e-6);
    }
}

#[test]
fn implicit_euler_is_stable_with_a_step_of_any_size() {
    // explicit Euler would be unstable beyond h = 2e-6; the error is at most h/2·|ẍ|/|λ| = 5e-9 and what Newton leaves
    let mut solver = FixedStep::new(FixedStepMethod::ImplicitEuler, uniform(1, 1e-6), 0.01);
    run(&mut solver, &mut ProtheroRobinson { lambda: -1e6 }, &[1.0], 10.0);
    assert!((solver.states()[0] - 10f64.cos()).abs() < 1e-6);
    assert_eq!(solver.statistics().steps, 1000);
}

#[test]
fn the_automatic_choice_depends_on_size_and_sparsity() {
    // both start explicitly and turn stiff at once; BDF needs many steps and few Jacobians, Rosenbrock one a step
    let n = 75;
    let start = Brusselator::start(n);
    for is_sparse in [true, false] {
        let mut solver = Automatic::new(uniform(2 * n, 1e-6), f64::INFINITY);
        run(&mut solver, &mut Brusselator::new(n, is_sparse), &start, 10.0);
        let cost = solver.statistics();
        assert!(solver.is_stiff() && cost.switches == 1, "{cost:?}");
        assert_eq!(cost.jacobians > 30, is_sparse, "{cost:?}");
    }
}

/// The cosine with stiff neighbours, and a Jacobian that misses half of the coupling.
struct HalfTheJacobian;

impl OdeSystem for HalfTheJacobian {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = -1e6 * (x[0] - x[1] * x[1]) - 2.0 * x[1] * t.sin();
        dx[1] = -1e5 * (x[1] - t.cos()) - t.sin();
        Ok(())
    }

    fn jacobian(&mut self, _: f64, x: &[f64], jacobian: &mut [f64]) -> bool {
        jacobian.copy_from_slice(&[-1e6, x[1] * 1e6, 0.0, -0.7e5]);
        true
    }
}

#[test]
fn a_jacobian_that_is_not_exact_does_not_hold_up_the_automatic_choice() {
    let steps = |method: &str| {
        let mut solver = integrator(method, uniform(2, 1e-6), f64::INFINITY);
        run(solver.as_mut(), &mut HalfTheJacobian, &[1.0, 1.0], 3.0);
        let error = (solver.states()[1] - 3f64.cos()).abs();
        assert!(error < 1e-4, "{method}: error {error:e}");
        solver.statistics().steps
    };
    let (rosenbrock, bdf, automatic) = (steps("rodas5p"), steps("bdf"), steps("automatic"));
    assert!(rosenbrock > 5_000, "{rosenbrock}");
    assert!(automatic < 2_500 + 2 * bdf, "{automatic} and {bdf}");
}

/// The cosine with a stiff neighbour, and an oscillator that nothing damps; as if the derivatives came out of an iteration.
struct WithOscillator {
    omega: f64,
}

impl OdeSystem for WithOscillator {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = -1e7 * (x[0] - t.cos()) - t.sin();
        dx[1] = self.omega * x[2];
        dx[2] = -self.omega * x[1];
        Ok(())
    }

    fn is_iterative(&self) -> bool {
        true
    }
}

#[test]
fn an_undamped_oscillation_does_not_hold_up_the_automatic_choice() {
    let steps = |method: &str| {
        let mut solver = integrator(method, uniform(3, 1e-4), f64::INFINITY);
        run(solver.as_mut(), &mut WithOscillator { omega: 3e3 }, &[1.0, 3e-4, 0.0], 3.0);
        let error = (solver.states()[0] - 3f64.cos()).abs();
        assert!(error < 1e-3, "{method}: error {error:e}");
        solver.statistics().steps
    };
    let (bdf, automatic) = (steps("bdf"), steps("automatic"));
    // The 1400 periods cost BDF a dozen steps each; the Rosenbrock method passes over them once they are small.
    assert!(bdf > 12_000 && automatic < 6_000, "{bdf} and {automatic}");
}

/// x follows the cosine with a time constant far below the resolution of time at t = 2; as if it came out of an iteration.
struct Immediate;

impl OdeSystem for Immediate {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = (t.cos() - x[0]) / 2e-16;
        Ok(())
    }

    fn is_iterative(&self) -> bool {
        true
    }
}

#[test]
fn a_transient_shorter_than_time_can_tell_is_passed() {
    let mut solver = Automatic::new(uniform(1, 1e-4), f64::INFINITY);
    solver.restart(&mut Immediate, 2.0, &[0.0]).unwrap();
    advance(&mut solver, &mut Immediate, 3.0);
    assert!((solver.states()[0] - 3f64.cos()).abs() < 1e-3, "{:?}", solver.states());
    assert!(solver.statistics().steps < 1000, "{:?}", solver.statistics());
}

/// ẋ = x², which ends at t = 1 from x = 1, with a stiff neighbour.
struct StiffPole;

impl OdeSystem for StiffPole {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = x[0] * x[0];
        dx[1] = -1e6 * (x[1] - t.cos()) - t.sin();
        Ok(())
    }
}

#[test]
fn a_pole_ends_the_automatic_choice() {
    let mut solver = Automatic::new(uniform(2, 1e-6), f64::INFINITY);
    solver.restart(&mut StiffPole, 0.0, &[1.0, 1.0]).unwrap();
    let mut steps = 0;
    while solver.step(&mut StiffPole, 2.0).is_ok() {
        steps += 1;
        assert!(steps < 5_000, "at {}", solver.time());
    }
    assert!((solver.time() - 1.0).abs() < 1e-4, "{}", solver.time());
}

/// A tank between two turbulent valves: ẋ = −k·root(x − cos t), with root(d) ≈ sign(d)·√|d| smoothed below 1e-8. Its slope at
/// the balance is k/√1e-8, far away from it the states run to and fro.
struct SteepRoot;

impl OdeSystem for SteepRoot {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        let d = x[0] - t.cos();
        dx[0] = -1e5 * d / (d * d + 1e-16).powf(0.25);
        Ok(())
    }
}

#[test]
fn stiffness_that_does_not_show_is_found_out_by_trial() {
    let mut solver = Automatic::new(uniform(1, 1e-6), f64::INFINITY);
    run(&mut solver, &mut SteepRoot, &[1.0], 3.0);
    let cost = solver.statistics();
    // x lags by (sin t / k)² < 1e-10
    assert!((solver.states()[0] - 3f64.cos()).abs() < 1e-5, "{:?}", solver.states());
    // at least 1e9·3/3.3 for the explicit method alone
    assert!(solver.is_stiff() && cost.steps < 50_000, "{cost:?}");
}

/// The cosine with a right-hand side that scatters, as if it came out of an iteration.
struct Noisy;

impl OdeSystem for Noisy {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        let scatter = (x[0].to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / f64::from(1 << 24);
        dx[0] = -1e6 * (x[0] - t.cos()) - t.sin() + 0.05 * scatter;
        Ok(())
    }

    fn jacobian(&mut self, _: f64, _: &[f64], jacobian: &mut [f64]) -> bool {
        jacobian[0] = -1e6;
        true
    }
}

#[test]
fn noise_below_the_tolerance_does_not_stop_bdf() {
    let mut solver = integrator("bdf", uniform(1, 1e-6), f64::INFINITY);
    run(solver.as_mut(), &mut Noisy, &[1.0], 20.0);
    let cost = solver.statistics();
    assert!((solver.states()[0] - 20f64.cos()).abs() < 1e-5, "{:?}", solver.states());
    // the scatter moves x by 0.05/1e6, a twentieth of the tolerance
    assert!(cost.rejected * 5 < cost.steps && cost.steps < 2_000, "{cost:?}");
}
