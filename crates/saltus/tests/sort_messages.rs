//! What is said about models that cannot be sorted or started: message, place and what is decided instead.

use saltus::pipeline::{self, Options, Outcome, Stage};
use saltus::{Session, explain};
use saltus_library::MemoryFiles;

fn run(text: &str, stage: Stage) -> (Outcome, String) {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.load_text("M.mo", text);
    let class = session.class(None).unwrap();
    let mut options = Options::until(stage);
    options.describe = true;
    let outcome = pipeline::run(&session, class, &options);
    let listing = outcome.description.as_ref().map(|d| session.with_sources(|s| explain::listing("M", d, s)));
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
    // With one condition it is a loop that exists at events only.
    assert!(errors(&text.replace("when b", "when a").replace("y = x + 1", "y = 2 * x"), Stage::Compile).is_empty());
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
