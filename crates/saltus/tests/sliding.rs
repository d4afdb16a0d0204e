//! Sliding along several thresholds against models in which every jump is a ramp, and in every order of declarations.

use saltus::Session;
use saltus::pipeline::{self, Experiment, Options, Stage};
use saltus_sim::{Solver, Trajectory};

fn run(text: &str, stop: f64, solver: Solver, tolerance: f64) -> Trajectory {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(None).expect("one model");
    let mut options = Options::until(Stage::Simulate);
    options.experiment =
        Experiment { stop_time: Some(stop), tolerance: Some(tolerance), solver, ..Experiment::default() };
    let outcome = pipeline::run(&session, class, &options);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{messages:?}");
    outcome.trajectory.expect("a trajectory")
}

/// Variables that are zero somewhere, how each jump is written in terms of them, and equations. `q` collects what the signs do.
struct Case {
    name: &'static str,
    declarations: &'static str,
    /// The name of a sign and the function whose sign it is.
    signs: &'static [(&'static str, &'static str)],
    equations: &'static str,
    stop: f64,
    /// What `q` has grown by since `stop - 1`, from the closed form.
    growth: f64,
}

/// Eight cases with 2, 3 and 5 surfaces, each with its closed form. Where jumps add up, the mean signs w are those of the equivalent control: f + B·w = 0 (Utkin: *Sliding Modes in Control
/// and Optimization*, 1992), which is Filippov's solution (*Differential Equations with Discontinuous Righthand Sides*, 1988). Where they are multiplied, it
/// is the bilinear interpolation of Dieci and Lopez (*Numerische Mathematik* 117, 2011).
const CASES: [Case; 8] = [
    Case {
        name: "Coupled",
        declarations: "Real x(start = 0.5, fixed = true), y(start = 0.3, fixed = true), q(start = 0, fixed = true);",
        signs: &[("s", "x"), ("r", "y")],
        equations: "der(x) = 0.2*sin(time) + 0.3*r - s; der(y) = 0.4*cos(time) - 0.2*s - r; der(q) = s + 2*r;",
        stop: 4.0,
        // s + 2 r = (0.12 sin t + 0.92 cos t)/1.06, integrated from 3 to 4
        growth: -0.8174061964026337,
    },
    Case {
        name: "Product",
        declarations: "Real x(start = 0.5, fixed = true), y(start = 0.3, fixed = true), q(start = 0, fixed = true);",
        signs: &[("s", "x"), ("r", "y")],
        equations: "der(x) = -s + 0.5*r*s + 0.1*cos(time); der(y) = -r + 0.3*r*s + 0.2; der(q) = s + 2*r + s*r;",
        stop: 3.0,
        // r = 0.2/(1 - 0.3 s) and s (1 - 0.5 r) = c with c = 0.1 cos t: 0.3 s² - (0.9 + 0.3 c) s + c = 0, the smaller root; s + 2 r + s r integrated
        // from 2 to 3 by an adaptive quadrature (SciPy)
        growth: 0.28836927568770243,
    },
    Case {
        name: "Three",
        declarations: "Real x(start = 0.5, fixed = true), y(start = -0.3, fixed = true), z(start = 0.7, fixed = true), q(start = 0, fixed = true);",
        signs: &[("s", "x"), ("r", "y + 0.1*x"), ("u", "z")],
        equations: "der(x) = 0.2 - s - 0.2*r; der(y) = 0.3*sin(time) - r + 0.1*u; der(z) = -0.1 - u + 0.2*s; der(q) = s + 2*r + 4*u;",
        stop: 3.0,
        // r = (0.3 sin t - 0.006)/1.004, s + 2 r + 4 u = 1.64 r - 0.04, integrated from 2 to 3
        growth: 0.23140643899026406,
    },
    Case {
        name: "Sphere",
        declarations: "Real x(start = 1.5, fixed = true), y(start = 0, fixed = true), z(start = 0.2, fixed = true), q(start = 0, fixed = true);",
        signs: &[("s", "x^2 + y^2 + z^2 - 1"), ("r", "z - 0.5")],
        equations: "der(x) = -y - s*x; der(y) = x - s*y; der(z) = 0.3 + 0.1*x - 2*r - s*z; der(q) = s + 2*r;",
        stop: 3.0,
        // x = √0.75 cos t on the circle where both are zero, because s changes the length of (x, y) and not its angle. With z' = 0 there s = 0 and
        // 2 r = 0.3 + 0.1 x, integrated from 2 to 3
        growth: 0.23347388407352476,
    },
    Case {
        // Both relays drive each other through the four quadrants, each turn a 81st of the last. From (1, 0) the origin is reached after
        // 1/3 + 1/9 + 1/27 + … = 1/2; there both means are zero.
        name: "Spiral",
        declarations: "Real x(start = 1, fixed = true), y(start = 0, fixed = true), q(start = 0, fixed = true);",
        signs: &[("s", "x"), ("r", "y")],
        equations: "der(x) = -s + 2*r; der(y) = -2*s - r; der(q) = s + 2*r;",
        stop: 2.0,
        growth: 0.0,
    },
    Case {
        // w = (0.3, 0.3, -0.4, 0.1, 0.5) from the first to the last, each with half of the mean before it
        name: "FiveInARow",
        declarations: "Real x(start = 0.1, fixed = true), y(start = -0.2, fixed = true), z(start = 0.3, fixed = true), u(start = 0.2, fixed = true), v(start = -0.1, fixed = true), q(start = 0, fixed = true);",
        signs: &[("a", "x"), ("b", "y"), ("c", "z"), ("d", "u"), ("e", "v")],
        equations: "der(x) = 0.3 - a; der(y) = 0.15 + 0.5*a - b; der(z) = -0.55 + 0.5*b - c; der(u) = 0.3 + 0.5*c - d; der(v) = 0.45 + 0.5*d - e; der(q) = a + 2*b + 4*c + 8*d + 16*e;",
        stop: 4.0,
        // 0.3 + 0.6 - 1.6 + 0.8 + 8
        growth: 8.1,
    },
    Case {
        // f + B·w = 0 with w = (0.2, -0.3, 0.4)
        name: "Matrix",
        declarations: "Real x(start = 0.4, fixed = true), y(start = 0.2, fixed = true), z(start = -0.3, fixed = true), q(start = 0, fixed = true);",
        signs: &[("a", "x"), ("b", "y"), ("c", "z")],
        equations: "der(x) = 0.18 - a - 0.2*b - 0.1*c; der(y) = -0.16 - 0.3*a - b - 0.2*c; der(z) = 0.39 - 0.1*a - 0.1*b - c; der(q) = a + 2*b + 4*c;",
        stop: 3.0,
        // 0.2 - 0.6 + 1.6
        growth: 1.2,
    },
    Case {
        // Two masses on a belt, joined by a spring that is stretched until the first one slips; the friction of a mass at rest is the force on it.
        name: "FrictionPair",
        declarations: "Real v(start = 0.3, fixed = true), w(start = -0.2, fixed = true), d(start = 0.1, fixed = true), q(start = 0, fixed = true);",
        signs: &[("s", "v"), ("r", "w")],
        equations: "der(d) = w - v; der(v) = 2*d + 0.4 - s; der(w) = -2*d + 0.1 - r; der(q) = s + 2*r;",
        stop: 4.0,
        // d = 0.425 - 0.325 cos 2t - 0.25 sin 2t until w = 0 at 0.20354773293727657, then d = 0.3 + (d₁ - 0.3) cos √2t - v₁/√2 sin √2t until v = 0 after
        // another 0.34114102687829356; from there on both rest with d = -0.00752538371034435 and s + 2 r = 0.6 - 2 d
        growth: 0.6150507674206886,
    },
];

impl Case {
    fn text(&self, sign: impl Fn(&str) -> String) -> String {
        let signs: Vec<String> = self.signs.iter().map(|(name, of)| format!("Real {name} = {};", sign(of))).collect();
        format!(
            "model {} {} {} equation {} end {};",
            self.name,
            self.declarations,
            signs.join(" "),
            self.equations,
            self.name
        )
    }

    fn exact(&self, stop: f64) -> f64 {
        let text = self.text(|of| format!("if {of} > 0 then 1 else -1"));
        let trajectory = run(&text, stop, Solver::Auto, 1e-9);
        trajectory.last("q").expect("q")
    }

    /// Each sign is a ramp of this half-width.
    fn with_ramps(&self, width: f64) -> f64 {
        let text = self.text(|of| format!("noEvent(max(-1, min(1, ({of})/{width:e})))"));
        run(&text, self.stop, Solver::Rodas, 1e-9).last("q").expect("q")
    }
}

#[test]
fn slides_are_the_limit_of_ramps() {
    for case in &CASES {
        let exact = case.exact(case.stop);
        let (found, growth) = (exact - case.exact(case.stop - 1.0), case.growth);
        assert!((found - growth).abs() < 1e-7, "{}: {found} instead of {growth}", case.name);
        let errors: Vec<f64> = [1e-2, 1e-3, 1e-4].iter().map(|&w| (case.with_ramps(w) - exact).abs()).collect();
        println!(
            "{:12} {} surfaces: off the closed form by {:.1e}; ramps of half-width 1e-2, 1e-3, 1e-4 off by {:.2e}, {:.2e}, {:.2e}, orders {:.2}, {:.2}",
            case.name,
            case.signs.len(),
            (found - growth).abs(),
            errors[0],
            errors[1],
            errors[2],
            (errors[0] / errors[1]).log10(),
            (errors[1] / errors[2]).log10()
        );
        if errors.iter().all(|error| *error < 1e-7) {
            // What symmetric ramps do on one side of the point they undo on the other.
            continue;
        }
        // First order: a ramp of half the width is half as far from the slide.
        assert!(errors[2] < 1e-3, "{}: {errors:?}", case.name);
        assert!(errors[0] > 5.0 * errors[1] && errors[1] > 5.0 * errors[2], "{}: {errors:?}", case.name);
    }
}

#[test]
fn the_order_of_declarations_does_not_matter() {
    // Two arrive at the same instant, and one later; every order of the equations and of the variables.
    let variables = ["x(start = 0.5, fixed = true)", "y(start = 0.5, fixed = true)", "z(start = 0.7, fixed = true)"];
    let sign = |of: &str| format!("(if {of} > 0 then 1 else -1)");
    let (s, r, u) = (sign("x"), sign("y"), sign("z"));
    let equations = [
        format!("der(x) = 0.2 - {s} - 0.3*{r}"),
        format!("der(y) = 0.2 - {r} - 0.3*{s}"),
        format!("der(z) = 0.1 - {u} + 0.2*{r}*{s}"),
    ];
    let mut found: Vec<(Vec<f64>, [f64; 3])> = Vec::new();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for backwards in [false, true] {
            let mut lines: Vec<&str> = order.iter().map(|&i| equations[i].as_str()).collect();
            if backwards {
                lines.reverse();
            }
            let declared: Vec<&str> = order.iter().map(|&i| variables[i]).collect();
            let text = format!("model Order Real {}; equation {}; end Order;", declared.join(", "), lines.join("; "));
            let trajectory = run(&text, 3.0, Solver::Auto, 1e-6);
            let last = ["x", "y", "z"].map(|name| trajectory.last(name).expect("a variable"));
            found.push((trajectory.events.iter().map(|e| e.time).collect(), last));
        }
    }
    for (times, last) in &found {
        assert_eq!(times.len(), found[0].0.len(), "{found:?}");
        assert!(times.iter().zip(&found[0].0).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        assert!(last.iter().all(|x| x.abs() < 1e-9), "all three rest at zero: {last:?}");
    }
}

#[test]
fn other_relations_that_are_zero_at_the_same_instant_are_not_slid_along() {
    // y follows x = t - 1 from t = 0.5/2.4 on, and both pass zero together at t = 1. Each counts from there: q = 2 (t - 1).
    let text = "model Passes
      Real x(start = -1, fixed = true), y(start = -0.5, fixed = true), q(start = 0, fixed = true);
      Real w = if y > x then 1 else -1;
    equation
      der(x) = 1;
      der(y) = 0.4 - 2*w;
      der(q) = (if x > 0 then 1 else 0) + (if y > 0 then 1 else 0);
    end Passes;";
    for solver in [Solver::Auto, Solver::Rodas, Solver::Bdf] {
        let trajectory = run(text, 3.0, solver, 1e-6);
        let q = trajectory.last("q").expect("q");
        assert!((q - 4.0).abs() < 1e-5, "{solver:?}: {q}");
    }
}

#[test]
fn eight_thresholds_are_slid_along_at_once() {
    // Relays that know nothing of each other: x[i] rests at 0 with a mean sign of 0.05 i.
    let text = "model Eight
      Real x[8](start = {0.1*i for i in 1:8}, each fixed = true);
      Real u[8] = {if x[i] > 0 then 1 else -1 for i in 1:8};
    equation
      for i in 1:8 loop
        der(x[i]) = 0.05*i - u[i];
      end for;
    end Eight;";
    let trajectory = run(text, 3.0, Solver::Auto, 1e-6);
    for i in 1..=8 {
        let value = |name: &str| trajectory.last(&format!("{name}[{i}]")).expect("a variable");
        assert!(value("x").abs() < 1e-9, "x[{i}] = {}", value("x"));
        assert!((value("u") - 0.05 * f64::from(i)).abs() < 1e-8, "u[{i}] = {}", value("u"));
    }
    assert_eq!(trajectory.events.len(), 9, "the start and one event for each");
}

#[test]
fn rounding_does_not_decide_about_relations_at_their_thresholds() {
    // x = -1 + 2 sin t, which y follows, rises through zero four times in 20 s: at t = π/6 + 2πk.
    let text = "model Counts
      Real x(start = -1, fixed = true), y(start = -0.5, fixed = true);
      Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
      Real w = if y > x then 1 else -1;
    equation
      der(x) = 2*cos(time);
      der(y) = 0.1 - 4*w;
      when x > 0 then n = pre(n) + 1; end when;
      when y > 0 then m = pre(m) + 1; end when;
    end Counts;";
    for solver in [Solver::Auto, Solver::Rodas, Solver::Bdf] {
        let trajectory = run(text, 20.0, solver, 1e-6);
        let counts = ["n", "m"].map(|name| trajectory.last(name).expect("a count"));
        assert_eq!(counts, [4.0, 4.0], "{solver:?}");
    }
}

#[test]
fn thresholds_that_depend_on_each_other_are_slid_along_together() {
    // Three lines through one point of a plane. The first case rests there until x can leave along y = 0, where x + y > 0:
    // der(x) = 0.4 t - 1.5 > 0 from t = 3.75 on, so that x(5) = 0.2 (25 - 3.75²) - 1.5 · 1.25 = 0.3125. In the second one x leaves along
    // y = 0 with x - y > 0: der(x) = 0.5 t - 1.5, x(5) = 0.25 (25 - 9) - 1.5 · 2 = 1.
    let declared = |x: f64, y: f64| format!("Real x(start = {x}, fixed = true), y(start = {y}, fixed = true);");
    let sign = |of: &str| format!("(if {of} > 0 then 1 else -1)");
    let (a, b, sum, difference) = (sign("x"), sign("y"), sign("x + y"), sign("x - y"));
    let cases = [
        (declared(0.5, 0.3), format!("der(x) = 0.4*time - {a} - 0.5*{sum}; der(y) = 0.2 - {b} - 0.5*{sum};"), 0.3125),
        (
            declared(0.2, 0.1),
            format!("der(x) = 0.5*time - {a} - 0.5*{difference}; der(y) = 0.1 - {b} + 0.3*{difference};"),
            1.0,
        ),
    ];
    for (declarations, equations, wanted) in &cases {
        let text = format!("model Lines {declarations} equation {equations} end Lines;");
        for solver in [Solver::Auto, Solver::Rodas, Solver::Bdf] {
            let trajectory = run(&text, 5.0, solver, 1e-6);
            let x = trajectory.last("x").expect("x");
            assert!((x - wanted).abs() < 1e-5, "{solver:?}: {x}");
            assert!(trajectory.events.len() < 10, "{solver:?}: {} events", trajectory.events.len());
        }
    }
}

/// `n` relays with these right-hand sides.
fn relays(n: usize, equation: &str, more: &str) -> String {
    format!(
        "model Relays
          parameter Integer n = {n};
          Real x[n](start = {{0.01*i for i in 1:n}}, each fixed = true), q(start = 0, fixed = true);
          Real u[n] = {{if x[i] > 0 then 1 else -1 for i in 1:n}};
        equation
          for i in 1:n loop
            der(x[i]) = {equation};
          end for;
          der(q) = {more};
        end Relays;"
    )
}

#[test]
fn a_hundred_thresholds_are_slid_along_at_once() {
    // Each rests at 0 with a mean sign of 0.004 i.
    let trajectory = run(&relays(100, "0.004*i - u[i]", "sum(u)"), 4.0, Solver::Auto, 1e-6);
    let value = |name: &str, i: usize| trajectory.last(&format!("{name}[{i}]")).expect("a variable");
    for i in 1..=100 {
        assert!(value("x", i).abs() < 1e-9, "x[{i}] = {}", value("x", i));
        assert!((value("u", i) - 0.004 * i as f64).abs() < 1e-8, "u[{i}] = {}", value("u", i));
    }
    assert_eq!(trajectory.events.len(), 101, "the start and one event for each");
}

#[test]
fn thresholds_are_left_one_by_one() {
    // All come to their thresholds. From t = 1/c with c = 0.05 i on a relay cannot hold x[i] any more, which is c t²/2 - t + 1/(2 c) then.
    let trajectory = run(&relays(20, "0.05*i*time - u[i]", "0"), 4.0, Solver::Auto, 1e-6);
    for i in 1..=20 {
        let (c, x) = (0.05 * f64::from(i), trajectory.last(&format!("x[{i}]")).expect("a variable"));
        let wanted = if c * 4.0 > 1.0 { 0.5 * c * 16.0 - 4.0 + 0.5 / c } else { 0.0 };
        assert!((x - wanted).abs() < 1e-5, "x[{i}] = {x} instead of {wanted}");
    }
}

#[test]
fn two_relays_that_spiral_into_their_thresholds_end_there() {
    // The quadrants of a turn take 1/3, 1/9, 1/27 and 1/81 of where it begins: q = (-1/3 - 3/9 + 1/27 + 3/81)·81/80 = -0.6 at t = 1/2, and stays.
    let spiral = CASES.iter().find(|case| case.name == "Spiral").expect("a case");
    for stop in [0.5, 1.0, 3.0] {
        let found = spiral.exact(stop);
        assert!((found + 0.6).abs() < 1e-6, "{found} at {stop}");
    }
}

#[test]
fn tanks_become_level_with_all_methods() {
    // What flows through the roots of the differences is conserved: all end at the mean of the levels, weighted by the areas 1, 0.5 and 2, or 1.17 and 1.4.
    let flow = |a: &str, b: &str| format!("(if {a} > {b} then sqrt({a} - {b}) else -sqrt({b} - {a}))");
    let three = format!(
        "model Three Real x(start = 1.78, fixed = true), y(start = 2.41, fixed = true), z(start = 0.3, fixed = true), q = {}, r = 0.7*{};
         equation der(x) = -q; der(y) = (q - r)/0.5; der(z) = r/2; end Three;",
        flow("x", "y"),
        flow("y", "z")
    );
    let two = format!(
        "model Two Real x(start = 1.14, fixed = true), y(start = 2.97, fixed = true), q = 0.38*{};
         equation der(x) = -q/1.17; der(y) = q/1.4; end Two;",
        flow("x", "y")
    );
    for solver in [Solver::Auto, Solver::DormandPrince, Solver::Rodas, Solver::Bdf] {
        for tolerance in [1e-6, 1e-9] {
            let level = run(&three, 20.0, solver, tolerance).last("y").expect("y");
            assert!((level - 3.585 / 3.5).abs() < 1e-5, "{solver:?} {tolerance:e}: {level}");
            let level = run(&two, 20.0, solver, tolerance).last("y").expect("y");
            assert!((level - (1.17 * 1.14 + 1.4 * 2.97) / 2.57).abs() < 1e-5, "{solver:?} {tolerance:e}: {level}");
        }
    }
}

/// A spiral from both sides of the unit circle, along which the model turns at one radian a second. A method of several steps begins anew whenever the states are moved back to
/// the circle: that must not happen after every step.
#[test]
fn slides_along_curves_take_few_steps_with_all_methods() {
    let text = "model Circle Real x(start = 2, fixed = true), y(start = 0, fixed = true);
      equation der(x) = -y - x*(if x^2 + y^2 > 1 then 1 else -1); der(y) = x - y*(if x^2 + y^2 > 1 then 1 else -1); end Circle;";
    for solver in [Solver::Auto, Solver::DormandPrince, Solver::Rodas, Solver::Bdf] {
        for tolerance in [1e-6, 1e-9] {
            let trajectory = run(text, 5.0, solver, tolerance);
            for (name, exact) in [("x", 5f64.cos()), ("y", 5f64.sin())] {
                let (_, found) = *trajectory.series(name).expect("a signal").last().expect("rows");
                assert!((found - exact).abs() < 1e3 * tolerance, "{solver:?}: {name} is {found} instead of {exact}");
            }
            let n = trajectory.statistics.steps;
            assert!(n < 3_000, "{solver:?} with {tolerance:e}: {n} steps");
        }
    }
}
