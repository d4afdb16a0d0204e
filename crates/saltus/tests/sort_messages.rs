//! What is said about models that cannot be sorted or started: message, place and what is decided instead.

use saltus::pipeline::{self, Options, Outcome, Stage};
use saltus::{Session, explain};
use saltus_library::MemoryFiles;

fn run(text: &str, stage: Stage) -> (Outcome, String) {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(None).unwrap();
    let mut options = Options::until(stage);
    options.describe = true;
    let outcome = pipeline::run(&session, class, &options);
    let listing = outcome.description.as_ref().map(|d| session.with_sources(|s| explain::listing("M", d, s, None)));
    (outcome, listing.unwrap_or_default())
}

/// Code, message and marked source text of every error.
fn errors(text: &str, stage: Stage) -> Vec<(&'static str, String, String)> {
    let (outcome, _) = run(text, stage);
    let marked = |span: saltus_base::Span| text.get(span.start as usize..span.end as usize).unwrap_or("").to_owned();
    let errors = outcome.diagnostics.iter().filter(|d| d.severity == saltus_base::Severity::Error);
    errors.map(|d| (d.code.0, d.message.clone(), d.span.map_or(String::new(), marked))).collect()
}

#[test]
fn when_clauses_that_wait_for_each_other_are_rejected() {
    let text = "model M
  Boolean a = time > 1, b = time > 2;
  Real x(start = 0), y(start = 0);
equation
  when a then x = y + 1; end when;
  when b then y = x + 1; end when;
end M;";
    let found = errors(text, Stage::Compile);
    let message = "`x` and `y` are computed from each other in when-clauses with different conditions";
    assert_eq!(found, [("E0804", message.to_owned(), "x = y + 1".to_owned())]);
    let (outcome, _) = run(text, Stage::Compile);
    let labels: Vec<&str> = outcome.diagnostics.iter().flat_map(|d| &d.labels).map(|l| l.text.as_str()).collect();
    assert_eq!(labels, ["when a: determines `x`, needs `y`", "when b: determines `y`, needs `x`"]);
    // With one condition it is a loop that exists at events only.
    assert!(errors(&text.replace("when b", "when a").replace("y = x + 1", "y = 2 * x"), Stage::Compile).is_empty());
}

#[test]
fn the_whole_way_around_a_deadlock_is_shown() {
    let text = "model M
  Real x(start = 0), y(start = 0), z, w;
equation
  when sample(0, 1) then x = w + 1; end when;
  z = 2 * x;
  when time > 0.5 then y = z + time; end when;
  w = y - 3;
end M;";
    let (outcome, _) = run(text, Stage::Compile);
    let deadlock = outcome.diagnostics.iter().find(|d| d.code.0 == "E0804").expect("a deadlock");
    let marked = |span: saltus_base::Span| &text[span.start as usize..span.end as usize];
    let way: Vec<(&str, &str)> = deadlock.labels.iter().map(|l| (marked(l.span), l.text.as_str())).collect();
    let expected = [
        ("x = w + 1", "when sample(0.0, 1.0): determines `x`, needs `w`"),
        ("w = y - 3", "always: determines `w`, needs `y`"),
        ("y = z + time", "when time > 0.5: determines `y`, needs `z`"),
        ("z = 2 * x", "always: determines `z`, needs `x`"),
    ];
    let start = way.iter().position(|part| *part == expected[0]).expect("the first clause");
    let from_there: Vec<_> = way.iter().cycle().skip(start).take(way.len()).copied().collect();
    assert_eq!(from_there, expected);
}

#[test]
fn what_only_numbers_tell_is_said_when_the_simulation_gets_there() {
    // With k = 1 the matrix {{1, 1}, {k, 1}} is singular; no entry vanishes.
    let text = "model M
  Real x, y;
  Integer k = if time < 0.5 then 2 else 1;
equation
  x + y = 3;
  k * x + y = 4;
end M;";
    let (outcome, _) = run(text, Stage::Simulate);
    assert!(!outcome.diagnostics.iter().any(|d| d.code.0 == "W0818"));
    let error = outcome.diagnostics.iter().find(|d| d.code.0 == "E0901").expect("an error at run time");
    assert!(error.message.contains("at time 0.5: the index changes when k = 1: "), "{}", error.message);
}

/// Two unknowns determine all others one after the other, with errors that grow by more than two from one to the next: nothing is left of
/// them after sixty, so that all variables are solved for together. The linear loop of this kind is `testdata/simulate/LongChainsInALoop.mo`.
#[test]
fn a_loop_that_rounding_makes_worthless_is_solved_for_all_of_its_variables() {
    let text = "model M
  parameter Integer n = 60;
  Real x[n], s[n], q[n];
equation
  s[1] = x[1];
  q[n] = s[n];
  for i in 2:n loop
    s[i] = s[i - 1] + x[i];
    q[i - 1] = q[i] + s[i - 1];
  end for;
  for i in 1:n loop
    x[i] + q[i] + 0.1*sin(q[i]) = sin(i);
  end for;
end M;";
    let (outcome, _) = run(text, Stage::Simulate);
    assert!(!outcome.has_errors(), "{:?}", outcome.diagnostics);
    let trajectory = outcome.trajectory.expect("a result");
    let at = |name: &str, i: usize| trajectory.last(&format!("{name}[{i}]")).expect("a variable");
    let mut residuals = vec![at("s", 1) - at("x", 1), at("q", 60) - at("s", 60)];
    for i in 2..=60 {
        residuals.push(at("s", i) - at("s", i - 1) - at("x", i));
        residuals.push(at("q", i - 1) - at("q", i) - at("s", i - 1));
    }
    residuals.extend((1..=60).map(|i| at("x", i) + at("q", i) + 0.1 * at("q", i).sin() - (i as f64).sin()));
    assert!(residuals.iter().all(|r| r.abs() < 1e-12), "{residuals:?}");
}

#[test]
fn a_variable_has_one_when_clause() {
    let text = "model M
  Real x(start = 0);
equation
  when time > 1 then x = 1; end when;
  when time > 2 then x = 2; end when;
end M;";
    let found = errors(text, Stage::Check);
    assert_eq!((found[0].0, found[0].1.as_str()), ("E0401", "`x` is assigned in two when-clauses"));
}

#[test]
fn a_singular_model_names_equations_variables_and_component() {
    let text = "model M
  model Part Real a, b; equation a + b = 1; a - b = 2; 2*a + 3*b = time; end Part;
  model Other Real x, y; equation x + y = 3; end Other;
  Part p;
  Other o;
end M;";
    let found = errors(text, Stage::Compile);
    assert_eq!((found.len(), found[0].0), (1, "E0813"));
    assert!(found[0].1.starts_with("structurally singular: 3 equations contain only 2 unknowns ("), "{}", found[0].1);
    assert!(found[0].1.contains("p.a") && found[0].1.contains("p.b"), "{}", found[0].1);
    let (outcome, _) = run(text, Stage::Compile);
    let warning = outcome.diagnostics.iter().find(|d| d.code.0 == "W0452").expect("what lacks an equation");
    assert!(warning.message.contains("nothing determines `o.x` and `o.y`"), "{}", warning.message);
    assert!(warning.hints.iter().any(|h| h.contains("component `o`")), "{:?}", warning.hints);
}

#[test]
fn a_surplus_initial_condition_must_hold() {
    let text = "model M
  Real x(start = 1, fixed = true), y(start = 3, fixed = true);
equation
  y = 2 * x;
  der(x) = -x;
end M;";
    let found = errors(text, Stage::Simulate);
    assert_eq!(found.len(), 1);
    let contradiction = "too many initial conditions, and they contradict each other";
    assert!(found[0].0 == "E0901" && found[0].1.contains(contradiction), "{}", found[0].1);
    // 2 * 1 = 2: nothing contradicts
    let (outcome, listing) = run(&text.replace("start = 3", "start = 2"), Stage::Simulate);
    assert!(!outcome.has_errors());
    assert!(listing.contains("one condition too many, checked at the start"), "{listing}");
}

#[test]
fn missing_initial_conditions_are_reported_with_how_they_were_found() {
    let text = "model M
  parameter Real q(fixed = false);
  Real x(start = 1), y;
equation
  der(x) = -x;
  der(y) = x;
end M;";
    let (outcome, listing) = run(text, Stage::Compile);
    assert!(!outcome.has_errors());
    assert!(listing.contains("x starts at 1: its start value was taken"), "{listing}");
    assert!(listing.contains("y starts at 0: has no start value, the default was taken"), "{listing}");
    assert!(listing.contains("q starts at 0: has no start value, the default was taken"), "{listing}");
}

/// Code and message of every warning.
fn warnings(text: &str) -> Vec<(&'static str, String)> {
    let (outcome, _) = run(text, Stage::Compile);
    let warnings = outcome.diagnostics.iter().filter(|d| d.severity == saltus_base::Severity::Warning);
    warnings.map(|d| (d.code.0, d.message.clone())).collect()
}

#[test]
fn an_unknown_that_cancels_is_not_determined() {
    let text = "model M\n  Real x, y, z;\nequation\n  x = time;\n  y = x;\n  z + y = z + x;\nend M;";
    let found = errors(text, Stage::Compile);
    assert!(found.iter().any(|e| e.0 == "E0802" && e.2 == "z + y = z + x"), "{found:?}");
    assert!(found.iter().any(|e| e.0 == "E0802" && e.1 == "the equations do not determine z"), "{found:?}");
}

#[test]
fn parameters_without_values_are_listed_once() {
    let text = "model M
  parameter Real p, q[2], r = 2, s(start = 3), t(fixed = false);
  Real x = p + q[1] + r + s + t;
initial equation
  t = 4;
end M;";
    let message = "2 parameters have no value: p, q are 0 unless they are set";
    assert_eq!(warnings(text), [("W0820", message.to_owned())]);
}

#[test]
fn start_values_that_stand_for_missing_conditions_are_listed_once() {
    let text = "model M
  Real x(start = 1), y, z(start = 2, fixed = true);
equation
  der(x) = y;
  der(y) = -x;
  der(z) = 0;
end M;";
    let message = "2 initial conditions are missing: the start values of x, y are used";
    assert_eq!(warnings(text), [("W0819", message.to_owned())]);
    assert!(
        warnings(&text.replace("(start = 1), y", "(start = 1, fixed = true), y(start = 0, fixed = true)")).is_empty()
    );
}

#[test]
fn events_that_a_called_loop_does_not_make_are_said() {
    let warnings = |statements: &str| -> Vec<(&'static str, String)> {
        let text = format!(
            "model M\n  Real x = time;\n  Real r;\n  Integer n;\n  Integer k = integer(3*time);\nalgorithm\n  r := 0;\n  \
             n := 0;\n{statements}\nend M;"
        );
        let (outcome, _) = run(&text, Stage::Compile);
        assert!(outcome.model.is_some(), "{:?}", outcome.diagnostics);
        outcome.diagnostics.iter().map(|d| (d.code.0, d.message.clone())).collect()
    };
    let no_event = |relation: &str| {
        let message = format!("`{relation}` makes no events here: how often it is evaluated is known at run time only");
        ("W0822", message)
    };
    assert_eq!(warnings("  while r < x loop r := r + 0.1; end while;"), [no_event("r < x")]);
    assert_eq!(warnings("  while noEvent(r < x) loop r := r + 0.1; end while;"), []);
    // A discrete variable has events of its own.
    assert_eq!(warnings("  while noEvent(n < 10*x) loop n := n + 1; end while;"), []);
    assert_eq!(warnings("  while n < 10*x loop n := n + 1; end while;"), []);
    assert_eq!(warnings("  while r < x loop r := r + 0.1; n := n + 1; end while;"), [no_event("r < x")]);
    assert_eq!(warnings("  for i in 1:k loop if x > i then r := r + 1; end if; end for;"), [no_event("x > i")]);
    // A range is evaluated once, with its events.
    assert_eq!(warnings("  for i in 1:integer(5*x) loop n := n + 1; end for;"), []);
    assert_eq!(warnings("  for i in 1:(if x > 0.5 then 3 else 1) loop n := n + 1; end for;"), []);
    // What is discrete makes no events, what is around the loop makes its own.
    assert_eq!(warnings("  while n < k loop n := n + 1; end while;"), []);
    assert_eq!(warnings("  if x > 0.5 then for i in 1:k loop r := r + x; end for; end if;"), []);
    assert_eq!(warnings("  for i in 1:3 loop if x > i then r := r + 1; end if; end for;"), []);
}

#[test]
fn whether_a_reinit_is_an_initial_equation_must_not_depend_on_the_solution() {
    let text = "model M
  Real x(start = 3), y(start = 0, fixed = true);
equation
  der(x) = -x;
  der(y) = 1;
  when initial() then
    if y > 1 then
      reinit(x, 5);
    end if;
  end when;
end M;";
    let message =
        "whether this reinit gives x its initial value depends on a condition that is not known before the simulation";
    let found = errors(text, Stage::Compile);
    assert_eq!(found, [("E0950", message.to_owned(), "reinit(x, 5)".to_owned())]);
    // With one in each branch it is one in any case.
    let both = text.replace("    end if", "    else\n      reinit(x, 6);\n    end if");
    assert!(errors(&both, Stage::Compile).is_empty());
}
