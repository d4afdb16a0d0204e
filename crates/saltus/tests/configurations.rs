//! Models whose structure changes: what jumps, by which impulse, and what is refused. The trajectories are in `testdata/simulate`; numbers here are
//! momentum, charge and flux before and after.

use saltus::Session;
use saltus::pipeline::{self, Options, Outcome, Stage};
use saltus_sim::{EventKind, EventRecord};

fn run(text: &str) -> Outcome {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(None).expect("one model");
    pipeline::run(&session, class, &Options::until(Stage::Simulate))
}

/// The events at which the structure changed.
fn changes(text: &str) -> Vec<EventRecord> {
    let outcome = run(text);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(messages.is_empty(), "{messages:?}");
    let events = outcome.trajectory.expect("a trajectory").events;
    events.into_iter().filter(|e| e.kind == EventKind::Configuration).collect()
}

fn error(text: &str) -> String {
    let outcome = run(text);
    let error = outcome.diagnostics.iter().find(|d| d.code.0 == "E0901");
    error.expect("an error of the run").message.clone()
}

/// The impulse of a variable, as the record says it.
fn impulse(event: &EventRecord, name: &str) -> Option<f64> {
    let note = event.note.as_deref()?;
    let (_, rest) = note.split_once(&format!("impulse of {name}: "))?;
    rest.split(';').next()?.trim().parse().ok()
}

#[test]
fn a_clutch_that_locks_conserves_momentum() {
    let text = "model M
      Real w1(start = 11, fixed = true), w2(start = 2, fixed = true), tau;
      Boolean locked = time >= 0.5;
    equation
      1*der(w1) = -tau;
      3*der(w2) = tau;
      if locked then w1 = w2; else tau = 0; end if;
    end M;";
    let events = changes(text);
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!(event.time, 0.5);
    // (1*11 + 3*2)/4 = 4.25, and 3*(4.25 - 2).
    let impulse = impulse(event, "tau").expect("an impulse");
    assert!((impulse - 6.75).abs() < 1e-12, "{impulse}");
    let w1 = event.changes.iter().find(|c| &*c.variable == "w1").expect("w1 jumps");
    assert!((w1.before - 11.0).abs() < 1e-12 && (w1.after - 4.25).abs() < 1e-12, "{w1:?}");
    assert!(event.note.as_deref().is_some_and(|note| note.contains("2 → 1 states")), "{:?}", event.note);
}

#[test]
fn a_switch_that_opens_a_coil_takes_its_flux() {
    let text = "model M
      Real i(start = 0, fixed = true), u;
      Boolean open = time >= 1;
    equation
      1 = i + der(i) + u;
      0 = if open then i else u;
      annotation(experiment(StopTime = 2, Tolerance = 1e-10));
    end M;";
    let events = changes(text);
    let impulse = impulse(&events[0], "u").expect("an impulse");
    assert!((impulse - (1.0 - (-1.0f64).exp())).abs() < 1e-9, "{impulse}");
}

/// Current that would have to flow backwards through a diode shows in the sign of its impulse: the diode takes over the current
/// of the coil without a jump.
#[test]
fn the_sign_of_an_impulse_decides_about_a_diode() {
    let text = "model M
      Real i(start = 1, fixed = true), u, iSwitch, iDiode, s;
      Boolean open = time >= 0.5;
      Boolean off = s < 0;
    equation
      // The coil is shorted by the switch or by the diode.
      der(i) = -u;
      i = iSwitch + iDiode;
      0 = if open then iSwitch else u;
      -u = if off then s else 0;
      iDiode = if off then 0 else s;
    end M;";
    let outcome = run(text);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{messages:?}");
    let trajectory = outcome.trajectory.expect("a trajectory");
    let i = trajectory.last("i").expect("a row");
    assert!((i - 1.0).abs() < 1e-12, "{i}");
}

#[test]
fn positions_cannot_jump() {
    // The rope would have to be 1 long where the mass is 0.9 away.
    let text = "model M
      Real x(start = 0.5, fixed = true), v(start = 1, fixed = true), F;
      Boolean taut(start = false, fixed = true);
    equation
      der(x) = v;
      der(v) = -F;
      when x > 0.9 then taut = true; end when;
      if taut then x = 1; else F = 0; end if;
    end M;";
    let message = error(text);
    assert!(message.contains("at time 0.4") && message.contains("`0 = x - 1` does not hold there"), "{message}");
}

#[test]
fn impulses_that_are_not_linear_are_refused() {
    let text = "model M
      Real v(start = 1, fixed = true), F;
      Boolean stop = time >= 0.5;
    equation
      der(v) = -F - F^3;
      if stop then v = 0; else F = 0; end if;
    end M;";
    let message = error(text);
    assert!(message.contains("do not determine its impulses; a `reinit` must say what jumps"), "{message}");
}

/// Each of the programs is compiled once, however often it is entered.
#[test]
fn programs_are_compiled_once() {
    let text = "model M
      Real i(start = 0, fixed = true), u;
      Boolean open = sin(100*time) > 0;
    equation
      1 = i + der(i) + u;
      0 = if open then i else u;
      annotation(experiment(StopTime = 3));
    end M;";
    // It becomes true after the start, and changes 95 times up to 300/π.
    assert_eq!(changes(text).len(), 96);
}
