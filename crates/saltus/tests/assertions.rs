//! Assertions and `terminate` are crossings: they are noticed in the instant in which a condition becomes false, however short it is.

use std::f64::consts::TAU;

use saltus::Session;
use saltus::pipeline::{self, Experiment, Options, Outcome, Output, Stage};
use saltus_sim::{EventSearch, Trajectory};

const SEARCHES: [EventSearch; 2] = [EventSearch::Fast, EventSearch::Proved];

/// Few rows: no assertion is noticed by chance.
fn run(text: &str, stop: f64, events: EventSearch) -> Outcome {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(None).expect("one model");
    let mut options = Options::until(Stage::Simulate);
    options.experiment = Experiment {
        stop_time: Some(stop),
        tolerance: Some(1e-10),
        output: Some(Output::Intervals(3)),
        events,
        ..Experiment::default()
    };
    pipeline::run(&session, class, &options)
}

/// The time and the last two rows of a run that an assertion ends.
fn violation(text: &str, stop: f64, events: EventSearch) -> (f64, Trajectory) {
    let outcome = run(text, stop, events);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(messages.iter().any(|m| m.contains("assertion failed: violated")), "{messages:?} in\n{text}");
    let trajectory = outcome.trajectory.expect("what was found until then");
    let end = *trajectory.segments.last().and_then(|s| s.times.last()).expect("a row");
    (end, trajectory)
}

fn ends_at(model: &str, stop: f64, exact: f64) {
    for events in SEARCHES {
        let (end, trajectory) = violation(model, stop, events);
        assert!((end - exact).abs() <= 1e-9 * exact, "{end} instead of {exact} with {events:?} in\n{model}");
        let times = &trajectory.segments[0].times;
        let before = times[times.len() - 2];
        assert!(before <= end && end - before < 1e-12 * end, "a row just before {end}, not at {before}");
        assert_eq!(trajectory.statistics.events, 1, "only that at the start");
    }
}

/// Times at which a run without errors warns.
fn warned(text: &str, stop: f64, events: EventSearch) -> (Vec<f64>, Trajectory) {
    let outcome = run(text, stop, events);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{messages:?} in\n{text}");
    let trajectory = outcome.trajectory.expect("a trajectory");
    (trajectory.warnings.iter().map(|w| w.time).collect(), trajectory)
}

fn assert_times(found: &[f64], exact: &[f64]) {
    assert_eq!(found.len(), exact.len(), "{found:?} instead of {exact:?}");
    for (found, exact) in found.iter().zip(exact) {
        assert!((found - exact).abs() <= 1e-9 * exact.abs(), "{found} instead of {exact}");
    }
}

#[test]
fn an_assertion_ends_the_run_in_the_instant_of_its_violation() {
    // x = 1 - t
    let text = "model M Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0.3, \"violated\"); end M;";
    ends_at(text, 4.0, 0.7);
    // two sides: x = 250 + 100 t leaves the interval at 1.5
    let text = "model M Real x(start = 250, fixed = true); equation der(x) = 100;
        assert(x >= 200 and x <= 400, \"violated\"); end M;";
    ends_at(text, 4.0, 1.5);
    // of an algebraic variable: y + y³ = t, y = 1/2 at 5/8
    let text = "model M Real x(start = 0, fixed = true); Real y; equation der(x) = 1; y + y^3 = x;
        assert(y < 0.5, \"violated\"); end M;";
    ends_at(text, 4.0, 0.625);
    // of time alone: asin(0.9999)/100
    let text = "model M Real y = sin(100*time); equation assert(y < 0.9999, \"violated\"); end M;";
    ends_at(text, 4.0, 0.9999f64.asin() / 100.0);
    // a guard that a relation decides: it has an event
    let text = "model M Real x(start = 0, fixed = true); equation der(x) = 1;
        if x > 0.7 then assert(x < 0.5, \"violated\"); end if; end M;";
    for events in SEARCHES {
        assert!((violation(text, 4.0, events).0 - 0.7).abs() < 1e-9);
    }
}

/// No variable has a nominal value: each bound is measured by the values that occur. All are polynomials, which the integrator follows exactly.
#[test]
fn violations_are_noticed_in_all_units() {
    for unit in ["1e-18", "1e-15", "1e-9", "1", "1e9"] {
        let model = |rest: &str| format!("model M constant Real A = {unit}; {rest} end M;");
        // x/A = 1 - t
        let falls = "Real x(start = A, fixed = true); equation der(x) = -A;";
        ends_at(&model(&format!("{falls} assert(x > 0, \"violated\");")), 4.0, 1.0);
        ends_at(&model(&format!("{falls} assert(x > 0.3*A, \"violated\");")), 4.0, 0.7);
        ends_at(&model(&format!("{falls} assert(x/2 + min(x, 3*A) > 0.6*A, \"violated\");")), 4.0, 0.6);
        // x/A = t - t²/2 from its threshold and back
        let flies = "Real x(start = 0, fixed = true), v(start = A, fixed = true); equation der(x) = v; der(v) = -A;";
        ends_at(&model(&format!("{flies} assert(x >= 0, \"violated\");")), 4.0, 2.0);
        // below its threshold for 2e-4 s
        let well = "assert((x - 0.5123*A)^2 > 1e-8*A^2, \"violated\");";
        ends_at(&model(&format!("{falls} {well}")), 4.0, 0.4876);
    }
}

#[test]
fn a_short_violation_is_found() {
    // (1 - t)² < 1e-5 for 6 ms
    let text = "model M Real x(start = 1, fixed = true), v(start = -2, fixed = true);
        equation der(x) = v; der(v) = 2; assert(x > 1e-5, \"violated\"); end M;";
    ends_at(text, 6.0, 1.0 - 1e-5f64.sqrt());
    // for 2 ms, which no state feels
    let text = "model M Real x(start = 0, fixed = true); equation der(x) = 1;
        assert(1e-6 - (x - 0.51234)^2 < 0, \"violated\"); end M;";
    ends_at(text, 4.0, 0.51234 - 1e-3);
}

#[test]
fn each_violation_of_a_warning_is_told_when_it_begins() {
    // sin(40 sin t) > 0.999 in 0..1.5: sin t = (asin 0.999 + 2πk)/40, rising only, for k = 0…6
    let text = "model M Real x(start = 0, fixed = true), v(start = 1, fixed = true);
        equation der(x) = v; der(v) = -x; assert(sin(40*x) < 0.999, \"violated\", AssertionLevel.warning); end M;";
    let exact: Vec<f64> = (0..7).map(|k| ((0.999f64.asin() + TAU * f64::from(k)) / 40.0).asin()).collect();
    let (found, trajectory) = warned(text, 1.5, EventSearch::Proved);
    assert_times(&found, &exact);
    assert!(trajectory.detection.iter().all(|r| r.sampled == 0 && r.proved > 0), "{:?}", trajectory.detection);
    // nothing happens: the integrator goes on as if nobody looked
    assert_eq!((trajectory.statistics.events, trajectory.statistics.restarts), (1, 1));
    // of time alone, also without proof of steps; after twenty the run says no more
    let text =
        "model M Real y = sin(100*time); equation assert(y < 0.9999, \"violated\", AssertionLevel.warning); end M;";
    let exact: Vec<f64> = (0..20).map(|k| (0.9999f64.asin() + TAU * f64::from(k)) / 100.0).collect();
    for events in SEARCHES {
        assert_times(&warned(text, 4.0, events).0, &exact);
    }
    let hints = run(text, 4.0, EventSearch::Fast).diagnostics.iter().flat_map(|d| d.hints.clone()).collect::<Vec<_>>();
    assert_eq!(hints, ["further violations of this assertion are not reported"]);
}

#[test]
fn what_an_event_puts_right_in_the_same_instant_is_not_a_violation() {
    // x < 1 is false at the instant of the event, before it
    let saw = "model M Real x(start = 0, fixed = true); equation der(x) = 1;
        when x >= 1 then reinit(x, 0); end when; assert(x < 1, \"violated\"); end M;";
    // the height is 0 up to rounding at each impact
    let ball =
        "model M Real h(start = 1, fixed = true), v(start = 0, fixed = true); equation der(h) = v; der(v) = -9.81;
        when h < 0 then reinit(v, -0.8*pre(v)); end when; assert(h >= 0, \"violated\"); end M;";
    for text in [saw, ball] {
        for events in SEARCHES {
            assert!(warned(text, 3.5, events).0.is_empty());
        }
    }
}

#[test]
fn conditions_at_rest_on_their_threshold_hold() {
    let text =
        "model M Real x(start = 0, fixed = true), y(start = 1, fixed = true); equation der(x) = -x; der(y) = -50*y;
        assert(x >= 0, \"violated\"); assert(y > 0, \"violated\"); end M;";
    for events in SEARCHES {
        assert!(warned(text, 4.0, events).0.is_empty());
    }
}

#[test]
fn terminate_in_an_if_ends_the_run_when_the_condition_becomes_true() {
    // exp(-t) = 1/2
    let text = "model M Real x(start = 1, fixed = true); equation der(x) = -x; if x < 0.5 then terminate(\"half\"); end if; end M;";
    for events in SEARCHES {
        let (_, trajectory) = warned(text, 4.0, events);
        let end = *trajectory.segments[0].times.last().expect("a row");
        assert!((end - 2f64.ln()).abs() < 1e-9, "{end}");
    }
}

#[test]
fn passing_a_threshold_where_bounces_accumulate_is_told() {
    // e = 0.7: √(2/g)·(1 + e)/(1 - e)
    let text =
        "model M Real h(start = 1, fixed = true), v(start = 0, fixed = true); equation der(h) = v; der(v) = -9.81;
        when h < 0 then reinit(v, -0.7*pre(v)); end when; end M;";
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(None).expect("one model");
    let mut options = Options::until(Stage::Simulate);
    options.experiment =
        Experiment { stop_time: Some(4.0), on_zeno: saltus_sim::ZenoPolicy::Continue, ..Experiment::default() };
    let outcome = pipeline::run(&session, class, &options);
    assert!(!outcome.has_errors());
    let told: Vec<_> = outcome.diagnostics.iter().filter(|d| d.code.0 == "W0905").collect();
    assert_eq!(told.len(), 1, "{:?}", outcome.diagnostics);
    assert!(told[0].message.contains("passes the threshold of `h < 0.0`"), "{}", told[0].message);
    let trajectory = outcome.trajectory.expect("a trajectory");
    let exact = (2.0f64 / 9.81).sqrt() * 1.7 / 0.3;
    assert!((trajectory.warnings[0].time - exact).abs() < 1e-5, "{:?}", trajectory.warnings);
}

/// `TInv` is `T`, up to what the loop that finds it leaves. A condition as fine as that changes at random; the run still ends.
#[test]
fn the_noise_of_a_loop_ends_in_a_failed_assertion() {
    let model = |most: f64| {
        format!(
            "model M Real T = 273.15 + 30*time, TInv(start = 290), p; function f input Real T; output Real p; algorithm \
             p := 611.657*exp(17.27*(T - 273.16)/(T - 35.86)); end f; \
             equation p = f(T); p = f(TInv); assert(abs(T - TInv) < {most}, \"violated\"); end M;"
        )
    };
    let ends = |most: f64, events| {
        let outcome = run(&model(most), 1.0, events);
        let is_violated = outcome.diagnostics.iter().any(|d| d.message.contains("assertion failed: violated"));
        assert_eq!(outcome.has_errors(), is_violated, "{:?}", outcome.diagnostics);
        !is_violated
    };
    for events in SEARCHES {
        (1..=12).for_each(|k| _ = ends(1e-11 * f64::from(k), events));
        assert!(ends(1e-6, events), "far above what loops leave");
    }
}
