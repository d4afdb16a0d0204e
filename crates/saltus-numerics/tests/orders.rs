//! Measured orders of convergence, at the steps and between them, by halving a fixed step size. The formulas of the
//! multistep method are measured one by one in its own module.

mod problems;

use problems::{Nonlinear, integrator, uniform};
use saltus_numerics::{FixedStep, FixedStepMethod, Integrator};

/// Largest errors at the ends of `n` steps from 0 to 2, and at 7 points inside each.
fn errors(solver: &mut dyn Integrator, n: u32) -> (f64, f64) {
    let distance = |x: &[f64], t| {
        let exact = Nonlinear::exact(t);
        x.iter().zip(exact).fold(0f64, |m, (a, b)| m.max((a - b).abs()))
    };
    solver.restart(&mut Nonlinear, 0.0, &Nonlinear::exact(0.0)).unwrap();
    solver.propose_step_size(2.0 / f64::from(n));
    let (mut at_ends, mut between, mut x) = (0f64, 0f64, [0.0; 2]);
    while solver.time() < 2.0 {
        solver.step(&mut Nonlinear, 2.0).unwrap();
        at_ends = at_ends.max(distance(solver.states(), solver.time()));
        let (start, h) = (solver.step_start(), solver.time() - solver.step_start());
        for i in 1..8 {
            let t = start + h * f64::from(i) / 8.0;
            solver.interpolate(t, &mut x);
            between = between.max(distance(&x, t));
        }
    }
    assert_eq!(solver.statistics().steps, u64::from(n), "the step size was to be fixed");
    (at_ends, between)
}

fn assert_orders(name: &str, make: impl Fn(f64) -> Box<dyn Integrator>, n: u32, order: f64, order_between: f64) {
    let (coarse, coarse_between) = errors(make(2.0 / f64::from(n)).as_mut(), n);
    let (fine, fine_between) = errors(make(1.0 / f64::from(n)).as_mut(), 2 * n);
    let measured = (coarse / fine).log2();
    assert!((measured - order).abs() < 0.3, "{name}: order {measured}, expected {order} ({coarse:e}, {fine:e})");
    let between = (coarse_between / fine_between).log2();
    assert!((between - order_between).abs() < 0.3, "{name}: order between steps {between}, expected {order_between}");
}

#[test]
fn one_step_methods_have_their_order() {
    // No error is ever too large for a tolerance of 1e9, and max_step makes all steps equal (a power of two, so that
    // their sum is exact). Between steps a method of
    // order p with an extension of order q has the error of the smaller of h^p and h^(q + 1).
    let adaptive = |method: &'static str| move |h| integrator(method, uniform(2, 1e9), h);
    assert_orders("Dormand–Prince", adaptive("dormand-prince"), 64, 5.0, 5.0);
    assert_orders("Dormand–Prince of order 8", adaptive("dormand-prince-8"), 16, 8.0, 8.0);
    assert_orders("RODAS", adaptive("rodas4"), 32, 4.0, 4.0);
    assert_orders("Rodas5P", adaptive("rodas5p"), 32, 5.0, 5.0);
}

#[test]
fn fixed_step_methods_have_their_order() {
    let fixed = |method| move |h| -> Box<dyn Integrator> { Box::new(FixedStep::new(method, uniform(2, 1e-8), h)) };
    assert_orders("explicit Euler", fixed(FixedStepMethod::ExplicitEuler), 200, 1.0, 1.0);
    assert_orders("Runge–Kutta", fixed(FixedStepMethod::RungeKutta4), 100, 4.0, 4.0);
    assert_orders("implicit Euler", fixed(FixedStepMethod::ImplicitEuler), 200, 1.0, 1.0);
}

#[test]
fn fixed_steps_stay_on_their_grid() {
    // 1000 steps of 0.001 end at 1 without drift; a limit off the grid costs one more step
    let mut solver = FixedStep::new(FixedStepMethod::ExplicitEuler, uniform(2, 1e-6), 1e-3);
    solver.restart(&mut Nonlinear, 0.0, &[1.0, 1.0]).unwrap();
    while solver.time() < 0.4995 {
        solver.step(&mut Nonlinear, 0.4995).unwrap();
    }
    while solver.time() < 1.0 {
        solver.step(&mut Nonlinear, 1.0).unwrap();
    }
    assert_eq!(solver.statistics().steps, 1001);
    assert_eq!(solver.time(), 1.0);
}
