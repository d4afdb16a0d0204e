//! Event handling in the OpenModelica compiler and runtime system, 2005.

use crate::e1999::{height, impacts};
use crate::harness::{Run, all_close, close};

/// The paper finds the impacts to 5.2e-8 s; the closed form is met to rounding here.
pub fn bouncing_ball(run: &Run) {
    all_close("impacts", &run.jumps("v"), &impacts(1.0, 0.7, 2.5), 1e-11);
    run.follows("h", 1e-11, |t| height(1.0, 0.7, t));
    close("flying", run.last("flying"), 1.0, 0.0);
}

/// x = e^t until ln 2, then 2 e^(2(t - ln 2)); the whole chain is one event.
pub fn event_iteration(run: &Run) {
    let ln2 = std::f64::consts::LN_2;
    run.follows("x", 1e-5, |t| if t < ln2 { t.exp() } else { 2.0 * (2.0 * (t - ln2)).exp() });
    all_close("events", &run.events(), &[ln2], 1e-6);
    for variable in ["y", "z", "a", "h1", "h2"] {
        assert_eq!(run.jumps(variable), run.events(), "{variable}");
    }
    let event = run.trajectory().events.iter().find(|e| e.is_restart && e.time > 0.0).expect("an event");
    assert!(event.rounds >= 2, "the chain is iterated, found {} rounds", event.rounds);
}

/// The condition becomes true once, at 1 s. When x passes 3 at 1.5 s nothing restarts.
pub fn when_or(run: &Run) {
    run.follows("n", 0.0, |t| if t < 1.0 { 0.0 } else { 1.0 });
    run.follows("x", 1e-12, |t| 2.0 * t);
    assert!(!run.events().iter().any(|t| (t - 1.5).abs() < 0.1), "{:?}", run.events());
}
