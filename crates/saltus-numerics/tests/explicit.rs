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

/// An oscillator of which somebody looks at the inside of steps that end behind a time.
struct Watched {
    from: f64,
}

impl OdeSystem for Watched {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        Oscillator { omega: 3.0 }.derivatives(t, x, dx)
    }

    fn looks_inside(&mut self, end: f64) -> bool {
        end > self.from
    }
}

#[test]
fn the_inside_of_a_step_costs_stages_only_where_somebody_looks() {
    let cost = |from: f64| cost("dormand-prince-8", &mut Watched { from }, 1e-9, f64::INFINITY, 20.0);
    let ((never, ends), (always, same)) = (cost(f64::INFINITY), cost(f64::NEG_INFINITY));
    assert_eq!((never.steps, ends), (always.steps, same), "looking changes nothing");
    assert_eq!(always.evaluations - never.evaluations, 3 * always.steps);
    // One step alone is extended, and it is as accurate inside as at its end.
    let mut system = Watched { from: 5.0 };
    let mut solver = integrator("dormand-prince-8", uniform(2, 1e-9), f64::INFINITY);
    solver.restart(&mut system, 0.0, &[1.0, 0.0]).unwrap();
    while solver.time() <= 5.0 {
        solver.step(&mut system, 20.0).unwrap();
    }
    let mut x = [0.0; 2];
    let middle = 0.5 * (solver.step_start() + solver.time());
    solver.interpolate(middle, &mut x);
    assert!((x[0] - (3.0 * middle).cos()).abs() < 1e-7, "{}", x[0] - (3.0 * middle).cos());
}
