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

/// A condition at the start lets an initial equation divide by zero, in every choice that is tried.
#[test]
fn a_start_that_leads_back_to_itself_ends() {
    let text = "model M
      Real u(start = 2), w(start = 0);
      Real p, q, lambda;
    initial equation
      w = 0;
      der(u) = 0;
    equation
      u^2 + w^2 = 4;
      der(w) = q + cos(time);
      der(u) = p + cos(time);
      der(p) = -lambda*u;
      der(q) = -lambda*w;
    end M;";
    assert!(error(text).contains("division by zero"), "{}", error(text));
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

/// A rigid clutch that locks and opens a thousand times, beside the same behaviour written with `if` and `reinit`, by hand from the balance of
/// momentum: (w1 + 3 w2)/4 where it locks.
#[test]
fn a_thousand_changes_take_two_programs() {
    let model = |equations: &str| {
        format!(
            "model M
      Real w1(start = 1, fixed = true), w2(start = 0, fixed = true), tau;
      discrete Boolean locked(start = false, fixed = true);
      discrete Real next(start = 1, fixed = true);
    equation
      when time >= pre(next) then next = pre(next) + 1; locked = not pre(locked); end when;
      {equations}
      annotation(experiment(StopTime = 1000.5, Interval = 1000, Tolerance = 1e-9));
    end M;"
        )
    };
    let rigid =
        run(&model("der(w1) = 1 - w1 - tau; 3*der(w2) = tau - w2; if locked then w1 = w2; else tau = 0; end if;"));
    let by_hand = run(&model(
        "der(w1) = if locked then (1 - w1 - w2)/4 else 1 - w1; der(w2) = if locked then der(w1) else -w2/3;
      tau = 1 - w1 - der(w1);
      when locked then reinit(w1, (w1 + 3*w2)/4); reinit(w2, (w1 + 3*w2)/4); end when;",
    ));
    assert_eq!(rigid.model.as_ref().map(|m| m.n_programs()), Some(2));
    let entries = |outcome: &Outcome| {
        let events = outcome.trajectory.as_ref().expect("a run").events.iter();
        events.filter(|e| e.kind == EventKind::Configuration).count()
    };
    assert_eq!((entries(&rigid), entries(&by_hand)), (1000, 0));
    for name in ["w1", "w2", "tau"] {
        let last = |outcome: &Outcome| outcome.trajectory.as_ref().expect("a run").last(name).expect(name);
        assert!((last(&rigid) - last(&by_hand)).abs() < 1e-7, "{name}: {} and {}", last(&rigid), last(&by_hand));
    }
}

/// Initial equations of a state hold where it is entered; entry equations come before them, fixed start values too; where the state goes on with
/// its last values they do not hold.
#[test]
fn initial_equations_hold_where_a_state_is_entered() {
    let model = |state: &str, more: &str| {
        format!(
            "model M
      model A Real x(start = 0, fixed = true); equation der(x) = 1; end A;
      model S {state} end S;
      A a; S s;
    equation
      initialState(a); transition(a, s, a.x >= 1);
      {more}
      annotation(experiment(StopTime = 1.5, Tolerance = 1e-9));
    end M;"
        )
    };
    // Steady state at u = 3 + t, then x - (u/2 - 1/4) falls by exp(-2t).
    let steady = model("Real x; Real u = 3 + time; equation der(x) = u - 2*x; initial equation der(x) = 0;", "");
    assert!((last(&steady, "s.x") - (4.5 / 2.0 - 0.25 + 0.25 * (-1.0f64).exp())).abs() < 1e-7);
    // x + y = 4, x - y = 2: a rotation from (3, 1).
    let rotation = "Real x, y; equation der(x) = y; der(y) = -x; initial equation x + y = 4; x - y = 2;";
    assert!((last(&model(rotation, ""), "s.x") - (3.0 * 0.5f64.cos() + 0.5f64.sin())).abs() < 1e-7);
    // Stronger than a start value that is not fixed, weaker than an entry equation.
    let decays = "Real x(start = 7); equation der(x) = -x; initial equation x = 3;";
    assert!((last(&model(decays, ""), "s.x") - 3.0 * (-0.5f64).exp()).abs() < 1e-7);
    let entry = "when activeState(s) then reinit(s.x, 9*pre(a.x)); end when;";
    assert!((last(&model(decays, entry), "s.x") - 9.0 * (-0.5f64).exp()).abs() < 1e-7);
    let algorithm = "Real x; Integer n; equation der(x) = -x; when x < 0 then n = 1; end when;
        initial algorithm x := 3; n := 5;";
    assert!((last(&model(algorithm, ""), "s.x") - 3.0 * (-0.5f64).exp()).abs() < 1e-7);
    assert_eq!(last(&model(algorithm, ""), "s.n"), 5.0);
    // One of two variables is still open, and an equation too many contradicts.
    let open = "Real x, y; equation der(x) = y; der(y) = -x; initial equation x = 4;";
    assert!(error(&model(open, "")).contains("nothing says which value s.y has"), "{}", error(&model(open, "")));
    let twice = "Real x; equation der(x) = -x; initial equation x = 4; x^2 = 9;";
    assert!(error(&model(twice, "")).contains("contradicts"), "{}", error(&model(twice, "")));
    // Back with its last value.
    let back = "model M
      model A Real x(start = 0, fixed = true); equation der(x) = 1; end A;
      model S Real x; equation der(x) = -x; initial equation x = 3; end S;
      A a; S s;
    equation
      initialState(s); transition(s, a, timeInState() >= 1); transition(a, s, a.x >= 1, reset = false);
      annotation(experiment(StopTime = 2.5, Tolerance = 1e-9));
    end M;";
    assert!((last(back, "s.x") - 3.0 * (-1.5f64).exp()).abs() < 1e-7);
}

/// Of two solutions of the equations of an entered state the one next to its start values is taken; where something goes on, the one next to
/// what it was.
#[test]
fn the_solution_next_to_what_is_known_is_taken() {
    let pendulum = |start: &str| {
        format!(
            "model M
      model A Real x(start = 0, fixed = true); equation der(x) = 1; end A;
      model P Real x, y({start}), vx, vy, F;
        equation der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1; end P;
      A a; P p;
    equation
      initialState(a); transition(a, p, a.x >= 0.5);
      when activeState(p) then reinit(p.x, 0.6); reinit(p.vx, 0); end when;
      annotation(experiment(StopTime = 0.50001));
    end M;"
        )
    };
    for start in [-0.8, 0.8] {
        let y = last(&pendulum(&format!("start = {start}")), "p.y");
        // It has begun to move, by g t² or less.
        assert!((y - 0.8f64.copysign(start)).abs() < 1e-8, "{start}: {y}");
    }
    for x in [-1.5, 1.5] {
        let text = format!(
            "model M Real x(start = {x}, fixed = true), f;
             equation der(x) = f; if time < 0.4 then f = {x}/1.5; else x^2 = 4; end if; end M;"
        );
        assert!((last(&text, "x") - 2.0f64.copysign(x)).abs() < 1e-9);
    }
}

/// `noEvent` promises that nothing is lost without an event; where the structure changes there is one all the same. Closed forms: t, then 3 - t; a
/// clutch that locks at w1 = 5.
#[test]
fn conditions_without_events_change_the_structure_too() {
    let ramp = "model M Real x(start = 0, fixed = true);
        equation if noEvent(time < 0.5) then der(x) = 1; else x = 3 - time; end if; end M;";
    assert!((last(ramp, "x") - 2.0).abs() < 1e-9);
    let clutch = "model M Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau;
        Real low(start = 10, fixed = true);
        equation der(low) = -low; der(w1) = -tau; der(w2) = tau;
        if noEvent(low > 5) then tau = 0; else w1 = w2; end if; end M;";
    let events = changes(clutch);
    assert_eq!(events.len(), 1);
    assert!((events[0].time - 2.0f64.ln()).abs() < 1e-6 && (last(clutch, "w1") - 5.0).abs() < 1e-9);
}

/// Two ideal switches in parallel, closed at the same time, share the current in any way; when both are open the coil's current is zero.
#[test]
fn what_was_tried_in_vain_is_tried_again_in_other_positions() {
    let text = "model M
      Real i(start = 0, fixed = true), i1, i2, u, s1, s2;
      Boolean a = time < 0.5, b = time >= 0.3 and time < 1;
    equation
      1 = u + der(i); i = i1 + i2;
      u = if a then 0 else s1; i1 = if a then s1 else 0;
      u = if b then 0 else s2; i2 = if b then s2 else 0;
      annotation(experiment(StopTime = 1.5));
    end M;";
    assert!(last(text, "i").abs() < 1e-12);
    // While both are closed, they share the current in any proportion.
    let outcome = run(text);
    let codes: Vec<&str> = outcome.diagnostics.iter().map(|d| d.code.0).collect();
    assert_eq!(codes, ["W0908"]);
    // By hand: i = t up to 1.
    let events = outcome.trajectory.expect("a run").events;
    let jump = events.iter().flat_map(|e| &e.changes).find(|c| &*c.variable == "i").expect("a jump");
    assert!((jump.before - 1.0).abs() < 1e-9 && jump.after == 0.0, "{jump:?}");
}

/// A bridge of six ideal diodes behind three coils. By SciPy (1e-12), in pieces: between the rails p and n, whose distance is the load's
/// voltage, u - L der(i) is p, n, or in between without current; a piece ends where a current does or where another diode begins.
#[test]
fn a_late_event_is_not_an_impulse() {
    let text = |stop: f64, tolerance: f64| {
        format!(
            "connector P Real v; flow Real i; end P;
    partial model Two P p, n; Real v, i; equation v = p.v - n.v; i = p.i; p.i + n.i = 0; end Two;
    model Source extends Two; input Real u; equation v = u; end Source;
    model Coil extends Two; equation 0.01*der(i) = v; end Coil;
    model Load extends Two; equation v = i; end Load;
    model Diode extends Two; Real s; Boolean off;
      equation off = s < 0; v = if off then s else 0; i = if off then 0 else s; end Diode;
    model Ground P p; equation p.v = 0; end Ground;
    model M
      constant Real w = 6.283185307179586;
      Source s[3](u = {{sin(w*time), sin(w*time - w/3), sin(w*time + w/3)}});
      Coil l[3]; Diode up[3], down[3]; Load r; Ground g;
    equation
      for k in 1:3 loop
        connect(s[k].n, g.p); connect(s[k].p, l[k].p);
        connect(l[k].n, up[k].p); connect(up[k].n, r.p);
        connect(r.n, down[k].p); connect(down[k].n, l[k].n);
      end for;
      annotation(experiment(StopTime = {stop}, Tolerance = {tolerance}));
    end M;"
        )
    };
    let expected = [
        (0.1, [0.05746956343483591, -1.5170344869324754, 1.4595649234976402]),
        (0.35, [1.6345146069594165, 0.0, -1.6345146069594163]),
        (0.77, [-1.518191310633722, 1.4368193289775189, 0.08137198165620345]),
    ];
    // A current that ends does so with a slope of zero at the next configuration, where rounding decides which way it seems to go.
    for (tolerance, (time, currents)) in [1e-9, 1e-10, 1e-11].into_iter().flat_map(|t| expected.map(|e| (t, e))) {
        let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
        session.set_text("M.mo", &text(time, tolerance));
        let class = session.class(Some("M")).expect("a model");
        let outcome = pipeline::run(&session, class, &Options::until(Stage::Simulate));
        let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(!outcome.has_errors(), "{time} with {tolerance}: {messages:?}");
        let trajectory = outcome.trajectory.expect("a run");
        for (k, expected) in currents.into_iter().enumerate() {
            let found = trajectory.last(&format!("l[{}].i", k + 1)).expect("a current");
            assert!((found - expected).abs() < 1e-6, "{time} with {tolerance}: {found} instead of {expected}");
        }
    }
}

/// The index is the same with both ratios of a gear, but what goes on contradicts the other one: w1 + w2 = 5 is kept.
#[test]
fn another_constraint_lets_states_jump_too() {
    let text = "model M
      Real w1(start = 0, fixed = true), w2(start = 5, fixed = true), f;
      Integer m = if time < 0.25 then 1 elseif time < 0.5 then 2 else 3;
    equation
      der(w1) = f; der(w2) = -f;
      if m == 1 then f = 1; elseif m == 2 then w1 = w2; else w1 = 2*w2; end if;
    end M;";
    let events = changes(text);
    assert_eq!(events.len(), 2);
    assert!((last(text, "w1") - 10.0 / 3.0).abs() < 1e-9 && (last(text, "w2") - 5.0 / 3.0).abs() < 1e-9);
}

/// Each condition leaves the unknown in some branch; two of them together take it out. By hand: 3 and 0 meet at 1.5, then 2:1, then stay.
#[test]
fn branches_of_branches_change_the_structure() {
    let text = "model M
      Real a(start = 1, fixed = true), b(start = 2, fixed = true), f, g;
    equation
      der(a) = f; der(b) = g;
      if time < 1 then f = -g; g = 1; elseif time < 2 then a = b; f = -g;
      else if time < 2.5 then a = 2*b; f = -g; else f = 0; g = 0; end if; end if;
      annotation(experiment(StopTime = 3));
    end M;";
    assert!((last(text, "a") - 2.0).abs() < 1e-9 && (last(text, "b") - 1.0).abs() < 1e-9);
}

/// What a run says and where it ends, with a method and an audit.
fn audited(text: &str, solver: saltus_sim::Solver) -> Outcome {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(Some("M")).expect("a model");
    let mut options = Options::until(Stage::Simulate);
    options.experiment.solver = solver;
    options.audit = Some(saltus::audit::Settings::default());
    pipeline::run(&session, class, &options)
}

const SOLVERS: [saltus_sim::Solver; 4] =
    [saltus_sim::Solver::Auto, saltus_sim::Solver::DormandPrince, saltus_sim::Solver::Rodas, saltus_sim::Solver::Bdf];

/// One of two elements that do the same has any part of the current or voltage: one value is taken, and that is said. By hand: the capacitor is
/// empty from 0.3 on and charged again from 0.8 on, whichever of the switches carries its current.
#[test]
fn elements_without_effect_beside_others_are_told() {
    let parallel = "model M
      Real u(start = 1, fixed = true), i, i1, i2;
      Boolean a = time < 0.3 or time > 0.8, b = time < 0.5 or time > 0.7;
    equation
      der(u) = i; i + i1 + i2 = 1 - u;
      0 = if a then i1 else u; 0 = if b then i2 else u;
    end M;";
    let in_series = "model M
      Real i(start = 0, fixed = true), u, u1, u2;
      Boolean a = time >= 0.3 and time <= 0.8, b = time >= 0.5 and time <= 0.7;
    equation
      der(i) = u; u + u1 + u2 = 1 - i;
      0 = if a then i else u1; 0 = if b then i else u2;
    end M;";
    let without_states = "model M
      Real i, u1, u2;
      Boolean a = time > 0.3, b = time > 0.6;
    equation
      0 = if a then i else u1; 0 = if b then i else u2;
      1 = 2*i + u1 + u2;
    end M;";
    let no_end = "model M
      Real i, u;
      Boolean a = time > 0.3;
    equation
      i = 0; 0 = if a then i else u;
    end M;";
    let after = 1.0 - (-0.2f64).exp();
    for (text, variable, expected, free) in [
        (parallel, "u", after, "i2"),
        (in_series, "i", after, "u2"),
        (without_states, "i", 0.0, "u2"),
        (no_end, "i", 0.0, "u"),
    ] {
        for solver in SOLVERS {
            let outcome = audited(text, solver);
            let said: Vec<(&str, &str)> = outcome.diagnostics.iter().map(|d| (d.code.0, d.message.as_str())).collect();
            let [("W0908", message)] = said[..] else { panic!("{solver:?} of {variable}: {said:?}") };
            assert!(message.contains(&format!("nothing determines `{free}`")), "{message}");
            let found = outcome.trajectory.expect("a run").last(variable).expect("a variable");
            assert!((found - expected).abs() < 1e-5, "{solver:?}: {variable} = {found}");
        }
    }
}

/// A switch that time holds open is open, whatever else is tried at the instant at which another one closes: no current flows through it that would
/// empty the capacitor. Both diodes block or carry nothing, so that the resistor alone discharges it: -exp(-t).
#[test]
fn nothing_jumps_through_an_open_switch() {
    let text = "model M
      Real u(start = -1, fixed = true), i, iS, iO, v, u1, u2, s1, s2, i1, i2;
      Boolean open = time < 0.25 or time >= 0.5, off1 = s1 < 0, off2 = s2 < 0;
      Boolean other = time <= 2;
    equation
      der(u) = i;
      0 = if open then iS else u - v; 0 = if other then iO else v;
      i + u + iS - i2 = 0; iS = i1 + i2 + iO;
      v = u1; u1 = if off1 then s1 else 0; i1 = if off1 then 0 else s1;
      v - u = u2; u2 = if off2 then s2 else 0; i2 = if off2 then 0 else s2;
      annotation(experiment(StopTime = 1, Tolerance = 1e-9));
    end M;";
    for solver in SOLVERS {
        let outcome = audited(text, solver);
        let errors: Vec<&str> =
            outcome.diagnostics.iter().filter(|d| d.code.0.starts_with('E')).map(|d| d.message.as_str()).collect();
        assert!(errors.is_empty(), "{solver:?}: {errors:?}");
        let found = outcome.trajectory.expect("a run").last("u").expect("a voltage");
        assert!((found + (-1.0f64).exp()).abs() < 1e-7, "{solver:?}: {found}");
    }
}

/// A bridge of ideal diodes with a capacitor: while all of them block, nothing says where the capacitor is between the poles of the source. By SciPy
/// (1e-10): der(u) = max(0, (|2 sin t| - u)/0.1) - u/10.
#[test]
fn a_bridge_may_block_on_both_sides() {
    let text = "connector P Real v; flow Real i; end P;
    partial model Two P p, n; Real v, i; equation v = p.v - n.v; i = p.i; p.i + n.i = 0; end Two;
    model Source extends Two; equation v = 2*sin(time) + 0.1*i; end Source;
    model Load extends Two(v(start = 0, fixed = true)); equation der(v) = i - v/10; end Load;
    model Diode extends Two; Real s; Boolean off;
      equation off = s < 0; v = if off then s else 0; i = if off then 0 else s; end Diode;
    model Ground P p; equation p.v = 0; end Ground;
    model M
      Source s; Load c; Diode a, b, d, e; Ground g;
    equation
      connect(s.n, g.p); connect(s.p, a.p); connect(a.n, c.p); connect(c.n, d.p); connect(d.n, g.p);
      connect(b.p, g.p); connect(b.n, c.p); connect(c.n, e.p); connect(e.n, s.p);
      annotation(experiment(StopTime = 10, Tolerance = 1e-9));
    end M;";
    for solver in SOLVERS {
        let outcome = audited(text, solver);
        let errors: Vec<&str> =
            outcome.diagnostics.iter().filter(|d| d.code.0.starts_with('E')).map(|d| d.message.as_str()).collect();
        assert!(errors.is_empty(), "{solver:?}: {errors:?}");
        let found = outcome.trajectory.expect("a run").last("c.v").expect("a voltage");
        assert!((found - 1.613796491681609).abs() < 1e-7, "{solver:?}: {found}");
    }
}

/// The diode is in series with a coil, whose current cannot jump; what rounding leaves of its impulse when a switch empties three capacitors says
/// nothing. By an implicit Euler method (2.5e-4 s, extrapolated), which finds the diode by trial: the current of the coil in the end.
#[test]
fn an_impulse_of_rounding_errors_decides_nothing() {
    let text = "connector P Real v; flow Real i; end P;
    partial model Two P p, n; Real u, i; equation u = p.v - n.v; i = p.i; p.i + n.i = 0; end Two;
    model C extends Two; parameter Real C = 1; equation C*der(u) = i; end C;
    model L extends Two; equation 0.5*der(i) = u; end L;
    model V extends Two; equation u = 5*sin(5*time) + i; end V;
    model D extends Two; parameter Real Ron = 0, Goff = 0; Real s; Boolean off;
      equation off = s < 0; u = s*(if off then 1 else Ron); i = s*(if off then Goff else 1); end D;
    model S extends Two; Boolean open = not (time > 0.15 and time < 0.75); equation 0 = if open then i else u; end S;
    model G P p; equation p.v = 0; end G;
    model M
      L e0; D e1; C e2(C = 0.5); L e3; C e4(C = 0.5); C e5; S e6; L e7; C e8(C = 0.1); C e9; V e10; G g;
    equation
      connect(e0.n, e1.p); connect(e0.n, e4.n); connect(e0.n, e7.n); connect(e0.n, g.p);
      connect(e1.n, e2.n); connect(e1.n, e5.n); connect(e1.n, e6.n); connect(e1.n, e8.p); connect(e1.n, e10.n);
      connect(e2.p, e3.p); connect(e2.p, e5.p); connect(e2.p, e6.p); connect(e2.p, e8.n); connect(e2.p, e9.p);
      connect(e2.p, e10.p); connect(e3.n, e7.p); connect(e3.n, e9.n);
      annotation(experiment(StopTime = 2, Tolerance = 1e-8));
    end M;";
    let outcome = audited(text, saltus_sim::Solver::Auto);
    let errors: Vec<&str> =
        outcome.diagnostics.iter().filter(|d| d.code.0.starts_with('E')).map(|d| d.message.as_str()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let found = outcome.trajectory.expect("a run").last("e7.i").expect("a current");
    assert!((found - 0.202618).abs() < 2e-6, "{found}");
}
