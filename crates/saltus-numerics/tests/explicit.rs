//! The automatic choice between explicit methods of orders 5 and 8.

mod problems;

use problems::{Oscillator, integrator, run, uniform};
use saltus_numerics::{Eval, OdeSystem, Statistics};

/// What a run to `t_end` costs, and where it ends.
fn cost(method: &str, system: &mut dyn OdeSystem, tolerance: f64, max_step: f64, t_end: f64) -> (Statistics, Vec<f64>) {
    let mut solver = integrator(method, uniform(2, tolerance), max_step);
    run(solver.as_mut(), system, &[1.0, 0.0], t_end);
    (solver.statistics(), solver.states().to_vec())
}

#[test]
fn order_eight_takes_over_where_it_gets_farther() {
    let all = |method| cost(method, &mut Oscillator { omega: 3.0 }, 1e-9, f64::INFINITY, 600.0);
    let [(fifth, _), (eighth, _), (chosen, states)] = ["dormand-prince", "dormand-prince-8", "automatic"].map(all);
    assert!(eighth.evaluations < fifth.evaluations / 2, "{eighth:?} {fifth:?}");
    // Order 5 makes the first 300 steps.
    assert!(chosen.evaluations < eighth.evaluations + 2_500, "{chosen:?} {eighth:?}");
    assert_eq!(chosen.switches, 1);
    // closed form cos 3t
    assert!((states[0] - 1800f64.cos()).abs() < 1e-6, "{}", states[0] - 1800f64.cos());
}

#[test]
fn short_steps_are_left_to_order_five() {
    let all = |method| cost(method, &mut Oscillator { omega: 3.0 }, 1e-9, 1e-3, 4.0).0;
    let [fifth, chosen] = ["dormand-prince", "automatic"].map(all);
    assert_eq!((chosen.evaluations, chosen.switches), (fifth.evaluations, 0));
}

/// A body on a spring that pulls with another stiffness on each side.
struct Kinked;

impl OdeSystem for Kinked {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = x[1];
        dx[1] = if x[0] > 0.0 { -x[0] } else { -1e3 * x[0] };
        Ok(())
    }
}

#[test]
fn kinks_are_left_to_order_five() {
    let all = |method| cost(method, &mut Kinked, 1e-6, f64::INFINITY, 1000.0).0;
    let [fifth, eighth, chosen] = ["dormand-prince", "dormand-prince-8", "automatic"].map(all);
    let best = fifth.evaluations.min(eighth.evaluations);
    assert!(chosen.evaluations < best + best / 5, "{chosen:?} {fifth:?} {eighth:?}");
}
