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
      u = if off then s else 0;
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

const STORE: &str = "model Store Real x(start = 1, fixed = true); equation der(x) = 0; end Store;
    model Open Real x; equation der(x) = 0; end Open;";

fn machine(body: &str) -> String {
    format!("model M {STORE} {body} end M;")
}

/// Both regions read what was before: the values change places.
#[test]
fn regions_that_fire_together_read_values_before() {
    let text = machine(
        "Store a1(x(start = 1)), a2(x(start = 0)), b1(x(start = 2)), b2(x(start = 0));
    equation
      initialState(a1); initialState(b1);
      transition(a1, a2, time >= 0.5); transition(b1, b2, time >= 0.5);
      when activeState(a2) then reinit(a2.x, pre(b1.x)); end when;
      when activeState(b2) then reinit(b2.x, pre(a1.x)); end when;",
    );
    let outcome = run(&text);
    assert!(!outcome.has_errors());
    let trajectory = outcome.trajectory.expect("a trajectory");
    assert_eq!((trajectory.last("a2.x"), trajectory.last("b2.x")), (Some(2.0), Some(1.0)));
    assert!(trajectory.last("a1.x").is_some_and(f64::is_nan), "a1 is not active any more");
}

#[test]
fn what_is_wrong_with_entries_is_said() {
    let cases = [
        (
            "Store a, b; equation initialState(a); transition(a, b, time >= 0.5); transition(b, a, time >= 0.5);",
            "E0901",
            "no configuration agrees with its own switches",
        ),
        (
            "Store a, b; equation initialState(a); transition(a, b, time >= 0.5);
            when activeState(b) then reinit(b.x, 1); end when; when activeState(b) then reinit(b.x, 2); end when;",
            "E0901",
            "two entry equations give b.x a value",
        ),
        (
            "Store a; Open b; equation initialState(a); transition(a, b, time >= 0.5);",
            "E0901",
            "nothing says which value b.x has where activeState(b) becomes true",
        ),
        (
            "Store a, b; Real y = b.x; equation initialState(a); transition(a, b, time >= 0.5);",
            "E0857",
            "b.x has no value while activeState(b) is false",
        ),
    ];
    for (body, code, expected) in cases {
        let outcome = run(&machine(body));
        let found = outcome.diagnostics.iter().find(|d| d.code.0 == code);
        let found = found.unwrap_or_else(|| panic!("{expected} is not said"));
        assert!(found.message.contains(expected), "{}", found.message);
        assert!(found.span.is_some(), "{expected}: no position");
    }
}

/// `reset` gives start values, without it a state goes on with what it had; a transition to itself enters again.
#[test]
fn states_begin_again_or_go_on() {
    let largest = |option: &str| {
        let text = format!(
            "model M
          model Ramp Real x(start = 0, fixed = true); equation der(x) = 1; end Ramp;
          Ramp a, b;
        equation
          initialState(a);
          transition(a, b, timeInState() >= 0.25{option});
          transition(b, a, timeInState() >= 0.25{option});
        end M;"
        );
        let series = run(&text).trajectory.expect("a trajectory").series("a.x").expect("a.x");
        series.iter().map(|(_, x)| *x).filter(|x| !x.is_nan()).fold(0.0, f64::max)
    };
    // a is active for twice 0.25 before 1.
    assert!((largest(", reset = false") - 0.5).abs() < 1e-6);
    assert!((largest("") - 0.25).abs() < 1e-6);
    let again = "model M
        model Ramp Real x(start = 0, fixed = true); equation der(x) = 1; end Ramp;
        Ramp a;
      equation
        initialState(a);
        transition(a, a, a.x >= 0.3);
      end M;";
    // Entered at 0.3, 0.6 and 0.9.
    let last = run(again).trajectory.expect("a trajectory").last("a.x").expect("a value");
    assert!((last - 0.1).abs() < 1e-6, "{last}");
}

/// The connection to a state vanishes with it: nothing turns the shaft any more.
#[test]
fn connections_vanish_with_their_state() {
    let text = "model M
        connector Flange Real phi; flow Real tau; end Flange;
        model Inertia Flange f; Real w(start = 0, fixed = true); equation der(f.phi) = w; der(w) = f.tau; end Inertia;
        model Motor Flange f; equation f.tau = -2; end Motor;
        model Off end Off;
        Inertia j(f(phi(start = 0, fixed = true)));
        Motor motor;
        Off off;
      equation
        initialState(motor);
        transition(motor, off, time >= 0.5);
        connect(motor.f, j.f);
      end M;";
    let outcome = run(text);
    let trajectory = outcome.trajectory.expect("a trajectory");
    let last = |name: &str| trajectory.last(name).expect("a value");
    assert!((last("j.w") - 1.0).abs() < 1e-9 && last("j.f.tau") == 0.0, "{} {}", last("j.w"), last("j.f.tau"));
    assert!((last("j.f.phi") - 0.75).abs() < 1e-9, "{}", last("j.f.phi"));
}

fn last(text: &str, name: &str) -> f64 {
    let outcome = run(text);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{messages:?}");
    outcome.trajectory.expect("a trajectory").last(name).expect("a value")
}

/// A clutch locks in a model that contains a state machine besides.
#[test]
fn impulses_do_not_mind_machines() {
    let text = "model M
      model Z Real z(start = 0, fixed = true); equation der(z) = 1; end Z;
      Real w1(start = 11, fixed = true), w2(start = 2, fixed = true), tau;
      Z a, b;
    equation
      der(w1) = -tau;
      3*der(w2) = tau;
      if time > 0.5 then w1 = w2; else tau = 0; end if;
      initialState(a);
      transition(a, b, a.z > 0.3);
    end M;";
    assert!((last(text, "w1") - 4.25).abs() < 1e-12);
}

/// What is outside of states goes on when one is entered, whatever equals it inside.
#[test]
fn variables_outside_of_states_go_on() {
    let text = "model M
      model S input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end S;
      Real T(start = 4, fixed = true);
      S s(u = T), w(u = T);
    equation
      der(T) = -1;
      initialState(s);
      transition(s, w, T < 3);
      annotation(experiment(StopTime = 2));
    end M;";
    assert!((last(text, "T") - 2.0).abs() < 1e-9);
}

/// A state that has not been active before begins with its start values also without `reset`; one that is entered anew, with the
/// start values of its discrete variables.
#[test]
fn entered_states_begin_with_start_values() {
    let first = "model M
      model A Real x(start = 0, fixed = true); equation der(x) = 1; end A;
      model B Real x(start = 5, fixed = true); equation der(x) = -1; end B;
      A a;
      B b;
    equation
      initialState(a);
      transition(a, b, a.x >= 0.5, reset = false);
    end M;";
    assert!((last(first, "b.x") - 4.5).abs() < 1e-6);
    let anew = "model M
      model A
        Real x(start = 0, fixed = true);
        Integer n(start = 0);
      equation
        der(x) = 1;
        when x >= 0.1 then n = pre(n) + 1; end when;
      end A;
      A a, b;
    equation
      initialState(a);
      transition(a, b, a.x >= 0.3);
      transition(b, a, b.x >= 0.3);
      annotation(experiment(StopTime = 0.95));
    end M;";
    // b counts to 1 in its first visit, from 0.3 to 0.6, and begins anew at 0.9.
    assert_eq!(last(anew, "b.n"), 0.0);
}

/// What is entered and what goes on contradict each other.
#[test]
fn an_entry_that_contradicts_what_goes_on_is_refused() {
    let text = "model M
      connector F Real w; flow Real t; end F;
      model J parameter Real I = 1; parameter Real w0 = 0; F f; Real w(start = w0, fixed = true);
        equation f.w = w; I*der(w) = f.t; end J;
      model Off end Off;
      J j(I = 1, w0 = 5), l(I = 3, w0 = 2);
      Off off;
    equation
      initialState(off);
      transition(off, l, time >= 0.5);
      connect(j.f, l.f);
    end M;";
    let message = error(text);
    assert!(message.contains("does not hold there") && message.contains("cannot jump"), "{message}");
}

/// Elements that are ideal by the values of their parameters: the equations of a switch are products with a factor that is zero.
#[test]
fn zeros_of_parameters_make_elements_ideal() {
    let text = "model M
      model Element
        parameter Real Ron = 1e-5, Goff = 1e-5;
        Real v, i, s;
        Boolean off;
      equation
        v = s*(if off then 1 else Ron);
        i = s*(if off then Goff else 1);
      end Element;
      Element switch(Ron = 0, Goff = 0), diode(Ron = 0, Goff = 0);
      Real i(start = 0, fixed = true);
    equation
      switch.off = time >= 1;
      diode.off = diode.s < 0;
      10 = switch.v - diode.v;
      -diode.v = der(i) + i;
      i = switch.i + diode.i;
      annotation(experiment(StopTime = 2, Tolerance = 1e-9));
    end M;";
    // 10(1 - exp(-1)) when the switch opens; the diode takes it over.
    let expected = 10.0 * (1.0 - (-1.0f64).exp()) * (-1.0f64).exp();
    let found = last(text, "i");
    assert!((found - expected).abs() < 1e-7, "{found}");
}

/// A coil that is switched off when its current is too large, and on again when it has none: each switch acts on what the other left.
#[test]
fn a_jump_may_undo_what_made_it() {
    let text = "model M
      Real i(start = 0, fixed = true), u;
      Boolean open = i > 0.5;
    equation
      1 = der(i) + u;
      0 = if open then i else u;
      annotation(experiment(StopTime = 1.2, Tolerance = 1e-9));
    end M;";
    // It grows by 1 a second, from 0 to 0.5, twice.
    let found = last(text, "i");
    assert!((found - 0.2).abs() < 1e-7, "{found}");
}

/// A number of a run, and what it must be.
struct Number {
    what: &'static str,
    found: f64,
    truth: f64,
}

/// Prints a model of the table: its numbers, how many programs were compiled, and the record of its changes.
fn report(name: &str, outcome: &Outcome, numbers: &[Number]) {
    let n_programs = outcome.model.as_ref().map_or(0, |model| model.n_programs());
    println!("{name}: {n_programs} programs");
    for Number { what, found, truth } in numbers {
        let error = (found - truth).abs() / truth.abs().max(1e-300);
        println!("  {what:<28} {found:>18.12} {truth:>18.12} {error:.1e}");
        assert!(error <= 1e-6, "{name}: {what}: {found}, not {truth}");
    }
    let events = &outcome.trajectory.as_ref().expect("a trajectory").events;
    for event in events.iter().filter(|e| e.kind == EventKind::Configuration).take(6) {
        println!("  at {:.12}: {}", event.time, event.note.as_deref().unwrap_or_default());
    }
}

fn times(outcome: &Outcome) -> Vec<f64> {
    let events = &outcome.trajectory.as_ref().expect("a trajectory").events;
    events.iter().filter(|e| e.kind == EventKind::Configuration).map(|e| e.time).collect()
}

fn example(name: &str) -> Outcome {
    let session = Session::on_disk();
    let class = session.class(Some(&format!("Saltus.Examples.Meta.{name}"))).expect("an example");
    pipeline::run(&session, class, &Options::until(Stage::Simulate))
}

/// The numbers of the design, all by closed forms or quadratures of their own (see the tests of the examples), with the number of programs.
#[test]
fn numbers_of_the_design() {
    let number = |what, found, truth| Number { what, found, truth };
    let value = |outcome: &Outcome, name: &str, time: f64, after: bool| {
        let series = outcome.trajectory.as_ref().expect("a trajectory").series(name).expect("a variable");
        let mut here = series.into_iter().filter(|(t, x)| *t == time && !x.is_nan());
        if after { here.next_back() } else { here.next() }.expect("a row").1
    };
    let pendulum = example("LoopingPendulum");
    let [leaves, returns] = times(&pendulum)[..] else { panic!("two changes") };
    report(
        "looping pendulum",
        &pendulum,
        &[
            number("leaves at the angle", value(&pendulum, "circle.phi", leaves, false), 2.161053768847),
            number("leaves at", leaves, 0.484466131711),
            number("flight", returns - leaves, 0.791557457601),
            number("returns with the angle", value(&pendulum, "circle.phi", returns, true), -0.199975999362),
            number("returns with the velocity", value(&pendulum, "circle.w", returns, true), -0.117720815560),
        ],
    );
    assert_eq!(pendulum.model.as_ref().map(|m| m.n_programs()), Some(2));
    let ball = example("BallMicroscopic");
    let contacts = times(&ball);
    let speeds = [0, 1].map(|k| value(&ball, "ball.v", contacts[k], true));
    report(
        "ball with contact",
        &ball,
        &[
            number("contact at", contacts[0], 0.440090807051),
            number("it lasts", contacts[1] - contacts[0], 0.031879336411),
            number("ratio of speeds", -speeds[1] / speeds[0], 0.968159665679),
        ],
    );
    let pot = example("CookingPot");
    let switching = times(&pot);
    report(
        "cooking pot",
        &pot,
        &[
            number("hot", switching[0], 344.929270),
            number("cool", switching[1] - switching[0], 263.880150),
            number("hot again", switching[2] - switching[1], 56.770582),
        ],
    );
    let linear = example("RepeatedLinearisation");
    let again = times(&linear);
    report(
        "repeated linearisation",
        &linear,
        &[
            number("first", again[0], 0.111571776),
            number("second", again[1], 0.251190902),
            number("third", again[2], 0.430992198),
        ],
    );
    let clutch = run("model M
      Real w1(start = 11, fixed = true), w2(start = 2, fixed = true), tau;
    equation
      der(w1) = -tau; 3*der(w2) = tau;
      if time >= 0.5 then w1 = w2; else tau = 0; end if;
    end M;");
    let record = clutch.trajectory.as_ref().expect("a trajectory").events.iter();
    let event = record.clone().find(|e| e.kind == EventKind::Configuration).expect("a change");
    let torque = impulse(event, "tau").expect("an impulse");
    let last =
        |outcome: &Outcome, name: &str| outcome.trajectory.as_ref().expect("a trajectory").last(name).expect("a value");
    report("clutch", &clutch, &[number("speed", last(&clutch, "w1"), 4.25), number("impulse", torque, 6.75)]);
    let capacitors = run("model M
      Real u1(start = 4, fixed = true), u2(start = 0, fixed = true), i;
    equation
      der(u1) = -i; 3*der(u2) = i;
      0 = if time >= 0.5 then u1 - u2 else i;
    end M;");
    report("capacitors", &capacitors, &[number("voltage", last(&capacitors, "u2"), 1.0)]);
    let coil = run("model M
      Real i(start = 0, fixed = true), u;
    equation
      1 = i + der(i) + u;
      0 = if time >= 1 then i else u;
      annotation(experiment(StopTime = 2, Tolerance = 1e-10));
    end M;");
    let record = coil.trajectory.as_ref().expect("a trajectory").events.iter();
    let event = record.clone().find(|e| e.kind == EventKind::Configuration).expect("a change");
    let flux = impulse(event, "u").expect("an impulse");
    report("coil", &coil, &[number("impulse of the voltage", flux, 1.0 - (-1.0f64).exp())]);
    assert_eq!(last(&coil, "i"), 0.0);
    let jump = run("model M
      Real x(start = 0, fixed = true);
    equation
      if time < 0.5 then der(x) = 10; else x = -5; end if;
    end M;");
    let before = value(&jump, "x", 0.5, false);
    report("jump", &jump, &[number("before", before, 5.0), number("after", last(&jump, "x"), -5.0)]);
}

/// What is wrong is said with a position and a hint.
#[test]
fn messages_have_positions_and_hints() {
    let cases = [
        "Store a, b; equation initialState(a); transition(a, b, time >= 0.5); transition(b, a, time >= 0.5);",
        "Store a; Open b; equation initialState(a); transition(a, b, time >= 0.5);",
        "Store a, b; Real y = b.x; equation initialState(a); transition(a, b, time >= 0.5);",
        "Store a, b; equation initialState(a); transition(a, b, time >= 0.5);
        when activeState(b) then reinit(b.x, 1); end when; when activeState(b) then reinit(b.x, 2); end when;",
    ];
    for body in cases {
        let outcome = run(&machine(body));
        let error = outcome.diagnostics.iter().find(|d| d.severity == saltus_base::Severity::Error).expect("an error");
        assert!(error.span.is_some_and(|span| !span.is_nowhere()), "{}: no position", error.message);
        assert!(!error.hints.is_empty(), "{}: no hint", error.message);
    }
}
