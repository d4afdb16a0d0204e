//! What a profile says about models whose costs are known by construction. Nothing here depends on how fast the machine is: counts are compared,
//! and times by a clock that goes on by a microsecond each time it is read, and by two after its calibration: what is not counted
//! is one of them, so that whatever is measured by itself takes a microsecond.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use saltus::pipeline::{self, Engine, Options, Outcome, Stage};
use saltus::{Profile, Session};
use saltus_library::MemoryFiles;
use saltus_program::{Stopwatch, WallClock};

/// More readings than it takes to find out how long a reading takes.
const CALIBRATION: u64 = 1_000;

#[derive(Default)]
struct Ticking(AtomicU64);

impl WallClock for Ticking {
    fn now(&self) -> Duration {
        let n = self.0.fetch_add(1, Ordering::Relaxed);
        Duration::from_micros(n + n.saturating_sub(CALIBRATION))
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
  der(x) = -x/(1 + z);
  y + sin(y) + y^3 = x;
  z = f(x);
end M;
";
    for engine in ENGINES {
        let (profile, listing) = profile(text, engine);
        let of_loop = profile.blocks.iter().find(|b| b.solved.is_some() && b.variables.contains(&"y".to_owned()));
        let of_loop = of_loop.unwrap_or_else(|| panic!("{listing}"));
        // `x` decays, so that the loop has another solution at each of the 500 rows behind the start.
        assert!(of_loop.iterations >= 500, "{listing}");
        // The equation `y + sin(y) + y^3 = x`; a line of the listing only where it takes a part of the time that is worth one.
        assert_eq!(text[..of_loop.span.start as usize].lines().count(), 16, "{listing}");
        let functions: Vec<&str> = profile.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(functions, ["M.f"], "{listing}");
        assert!(profile.functions[0].cost.count >= 100 && listing.contains("M.mo:17"), "{listing}");
        let shares: Duration = profile.activities.iter().map(|(_, spent)| spent.cost.time).sum();
        assert_eq!(shares, profile.total);
    }
}

/// Nothing moves: `x = 1` for ever, and a loop that starts at its solution takes no iteration. So a hundred times as many rows are as
/// many more solutions, and no more iterations.
#[test]
fn a_loop_that_starts_at_its_solution_takes_no_iteration() {
    let of_rows = |n: u32, engine| {
        let text = format!(
            "model M Real x(start = 1, fixed = true); Real y(start = 1); equation der(x) = 1 - x; y + sin(y) + y^3 = x;
            annotation(experiment(StopTime = 1, Interval = {})); end M;",
            1.0 / f64::from(n)
        );
        let (profile, listing) = profile(&text, engine);
        let found = profile.blocks.into_iter().find(|b| b.solved.is_some()).unwrap_or_else(|| panic!("{listing}"));
        (found.cost.count, found.iterations)
    };
    for engine in ENGINES {
        let ((few, at_first), (many, later)) = (of_rows(10, engine), of_rows(1_000, engine));
        assert_eq!(many - few, 990);
        assert!(at_first > 0 && later == at_first, "{at_first} and {later} iterations");
    }
}

/// Linear loops of two take one iteration a solution, also where machine code solves both among other equations; all together are
/// what the run counts.
#[test]
fn each_loop_has_its_own_iterations() {
    let text = "model M
      Real x(start = 1, fixed = true), a, b, c, d, y(start = 1);
      equation der(x) = -x; a + x*b = 1; b - x*a = 2; c + x*d = sin(x); d - x*c = a; y + sin(y) + y^3 = x + c; end M;";
    for engine in ENGINES {
        let (outcome, listing) = run(text, engine, true);
        let (profile, trajectory) = (outcome.profile.expect("it was asked for"), outcome.trajectory.expect("it ran"));
        let loops: Vec<_> = profile.blocks.iter().filter_map(|b| Some((b.solved?.is_linear, b))).collect();
        assert_eq!(loops.iter().map(|(is_linear, _)| is_linear).filter(|is| **is).count(), 2, "{listing}");
        for (_, of_loop) in loops.iter().filter(|(is_linear, _)| *is_linear) {
            assert_eq!(of_loop.iterations, of_loop.cost.count, "{listing}");
        }
        let all: u64 = profile.blocks.iter().map(|b| b.iterations).sum();
        assert_eq!(all, trajectory.statistics.loops.newton_iterations, "{listing}");
    }
}

/// What is measured by itself is no estimate: everything that is interpreted; in machine code a loop that cannot be written out.
#[test]
fn estimates_are_marked() {
    let text = "model M Real x(start = 1, fixed = true), y(start = 1), z, u; equation
      der(x) = cos(time) - x; z = sin(x) + x; u = exp(z) + x; y + sin(y) + y^3 = x;
      annotation(experiment(StopTime = 100, Interval = 0.01)); end M;";
    for engine in ENGINES {
        let (profile, listing) = profile(text, engine);
        let of = |name: &str| profile.blocks.iter().find(|b| b.variables.iter().any(|v| v == name)).unwrap();
        let is_machine_code = engine == Engine::Jit;
        assert_eq!((of("z").is_estimated(), of("y").is_estimated()), (is_machine_code, false), "{listing}");
        assert_eq!(listing.contains("≈"), is_machine_code, "{listing}");
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
