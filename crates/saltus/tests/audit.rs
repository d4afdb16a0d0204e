//! Every equation of every model below `testdata/simulate` and of every example of the shipped library holds as it is written, at
//! every output point and event; and a number that is wrong is found, wherever it is.
//!
//! Where the numbers come from: there are none. A solution is what fulfils the equations.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use saltus::audit::{Report, Settings};
use saltus::pipeline::{self, Client, Options, Stage};
use saltus::{Model, Session, guard};
use saltus_audit::{Auditor, Layout};
use saltus_base::{Diagnostic, Index};
use saltus_library::{ClassId, MemoryFiles};
use saltus_sim::{Jump, Moment, Simulation, Witness};
use saltus_syntax::ast::ClassKind;

/// The audit of a run; `None` if there is no program.
fn audited(session: &Session, class: ClassId) -> Option<Report> {
    audited_with(session, class, Settings::default())
}

fn audited_with(session: &Session, class: ClassId, settings: Settings) -> Option<Report> {
    let options = Options { audit: Some(settings), ..Options::until(Stage::Simulate) };
    pipeline::run(session, class, &options).audit
}

fn problems(name: &str, session: &Session, report: &Report) -> Vec<String> {
    let place =
        |f: &saltus::audit::Finding| session.with_sources(|sources| sources.location(f.span)).unwrap_or_default();
    let said = |f: &saltus::audit::Finding| saltus::diagnostics::unsatisfied(f).message;
    report.violations().iter().map(|f| format!("{name} {}: {}", place(f), said(f))).collect()
}

#[test]
fn all_models_fulfil_their_equations() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/simulate");
    let mut files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "mo"));
    files.sort();
    let judged = guard::on_large_stack(|| {
        let (mut found, mut n_audited) = (Vec::new(), 0);
        for file in &files {
            let mut session = Session::new(Box::new(saltus_library::DiskFiles));
            session.load_file(file);
            let Some(&class) = session.own_classes().last() else { continue };
            let Some(report) = audited(&session, class) else { continue };
            n_audited += report.n_audited;
            let name = file.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            found.extend(problems(&name, &session, &report));
        }
        (found, n_audited)
    });
    let (found, n_audited) = judged.unwrap_or_else(|internal| panic!("{}", internal.message));
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(n_audited > 200, "only {n_audited} equations were audited");
}

#[test]
fn all_examples_fulfil_their_equations() {
    let judged = guard::on_large_stack(|| {
        let session = Session::on_disk();
        let (mut found, mut n_audited) = (Vec::new(), 0);
        for (name, class) in examples(&session) {
            let Some(report) = audited(&session, class) else { continue };
            n_audited += report.n_audited;
            found.extend(problems(&name, &session, &report));
        }
        (found, n_audited)
    });
    let (found, n_audited) = judged.unwrap_or_else(|internal| panic!("{}", internal.message));
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(n_audited > 2000, "only {n_audited} equations were audited");
}

/// Models of the shipped library.
fn examples(session: &Session) -> Vec<(String, ClassId)> {
    let library = session.library();
    let packages = library.children(library.find("Saltus.Examples").expect("the package of examples"));
    let classes = packages.into_iter().flat_map(|package| library.children(package));
    let is_model =
        |class: &ClassId| library.definition(*class).is_some_and(|d| d.kind == ClassKind::Model && !d.is_partial);
    classes.filter(is_model).map(|class| (library.qualified_name(class), class)).collect()
}

/// What is shown to an auditor instead of the numbers of the simulation.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    /// Points of this kind.
    At(Moment),
    /// Where a configuration is entered: the values before or after, or an impulse.
    JumpFrom,
    JumpTo,
    Impulse,
}

struct Liar {
    auditor: Arc<Mutex<Auditor>>,
    slot: usize,
    add: f64,
    lie: Lie,
}

impl Witness for Liar {
    fn see(&mut self, moment: Moment, memory: &[f64]) {
        let mut memory = memory.to_vec();
        if Lie::At(moment) == self.lie {
            memory[self.slot] += self.add;
        }
        self.auditor.lock().unwrap().see(moment, &memory);
    }

    fn jumped(&mut self, jump: &Jump) {
        let (mut before, mut after) = (jump.before.clone(), jump.after.clone());
        let mut impulses = jump.impulses.clone();
        match self.lie {
            Lie::At(_) => {}
            Lie::JumpFrom => before[self.slot] += self.add,
            Lie::JumpTo => after[self.slot] += self.add,
            Lie::Impulse => impulses.iter_mut().filter(|(of, _)| *of == self.slot).for_each(|(_, i)| *i += self.add),
        }
        self.auditor.lock().unwrap().jumped(&before, &after, &impulses);
    }
}

struct Liars<'a> {
    variable: &'a str,
    add: f64,
    lie: Lie,
    flat: Arc<saltus_flat::FlatModel>,
    layout: Layout,
    auditor: Option<Arc<Mutex<Auditor>>>,
}

impl Client for Liars<'_> {
    fn prepare(&mut self, model: &Arc<Model>, simulation: &mut Simulation) -> Result<(), Diagnostic> {
        let options = saltus_audit::Options::default();
        let auditor = Auditor::new(self.flat.clone(), model.program(), &self.layout, options);
        let auditor = Arc::new(Mutex::new(auditor));
        let slot = model.variable(self.variable).expect("a variable").slot.index();
        simulation.set_witness(Box::new(Liar { auditor: auditor.clone(), slot, add: self.add, lie: self.lie }));
        self.auditor = Some(auditor);
        Ok(())
    }
}

/// The lines of the equations that do not hold where `variable` is larger by `add` at these moments.
fn lines(text: &str, variable: &str, add: f64, when: Moment) -> Vec<usize> {
    told(text, variable, add, Lie::At(when)).0
}

/// The lines of the equations that do not hold for what an auditor was told, and how many entries it has seen.
fn told(text: &str, variable: &str, add: f64, lie: Lie) -> (Vec<usize>, u64) {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(None).expect("there is one model");
    let options = Options { audit: Some(Settings::default()), ..Options::until(Stage::Simulate) };
    let compiled = pipeline::run(&session, class, &Options { stop_after: Stage::Compile, ..options.clone() });
    let messages: Vec<&str> = compiled.diagnostics.iter().map(|d| d.message.as_str()).collect();
    let flat = compiled.flat.clone().unwrap_or_else(|| panic!("{messages:?}"));
    let layout = compiled.layout.clone();
    let mut client = Liars { variable, add, lie, flat, layout, auditor: None };
    let model = compiled.model.unwrap_or_else(|| panic!("{messages:?}"));
    let plain = Options { audit: None, ..options };
    pipeline::simulate_model(model, session.permissions(), &plain, &mut client);
    let report = client.auditor.expect("a run").lock().unwrap().report();
    let line = |span| {
        let location = session.with_sources(|sources| sources.location(span)).unwrap_or_default();
        location.split(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0)
    };
    let mut lines: Vec<usize> = report.violations().iter().map(|f| line(f.span)).collect();
    lines.sort_unstable();
    (lines, report.entries)
}

const MODEL: &str = "model M
  parameter Real k = 2;
  parameter Real twice = 2*k;
  Real x(start = 1, fixed = true);
  Real y, z[2], u;
  Boolean high;
  discrete Integer n(start = 0, fixed = true);
  Real w;
equation
  der(x) = -k*x + y;
  y - 0.1 = sin(time) - 1e-9*z[1];
  z = {x - y, twice*x};
  if x > 0.5 then
    u = 1;
  else
    u = 2 + x;
  end if;
  high = x > 0.6;
  when {sample(0.25, 0.25), not high} then
    n = pre(n) + 1;
  end when;
algorithm
  w := 0;
  for i in 1:2 loop
    w := w + i*z[i];
  end for;
end M;
";

#[test]
fn right_numbers_fulfil_all_equations() {
    for when in [Moment::Initial, Moment::Between, Moment::Before, Moment::Round, Moment::After] {
        assert_eq!(lines(MODEL, "x", 0.0, when), [0; 0], "{when:?}");
    }
}

/// Which equations a variable is in can be read off the model: its lines count from 1.
#[test]
fn wrong_numbers_are_found_where_they_are() {
    let cases: &[(&str, f64, Moment, &[usize])] = &[
        ("y", 1e-4, Moment::Between, &[10, 11, 12]),
        ("z[2]", 1e-4, Moment::Before, &[12, 22]),
        ("z[1]", 1e-4, Moment::After, &[12, 22]),
        ("der(x)", 1e-4, Moment::Initial, &[10]),
        ("u", 1e-4, Moment::Between, &[14, 16]),
        ("w", 1e-4, Moment::Round, &[22]),
        ("n", 1.0, Moment::Round, &[19, 20]),
        ("twice", 1e-4, Moment::Initial, &[3, 12]),
        ("x", 1e-4, Moment::Initial, &[4, 10, 12]),
    ];
    for (variable, add, when, expected) in cases {
        assert_eq!(lines(MODEL, variable, *add, *when), *expected, "{variable} {when:?}");
    }
}

/// Small against the terms of its equation, and of the size of rounding: neither is a finding.
#[test]
fn rounding_is_no_finding() {
    assert_eq!(lines(MODEL, "y", 1e-12, Moment::Between), [0; 0]);
    let large = "model M Real a, b; equation a = 1e9 + time; a - b = 1e9; end M;";
    assert_eq!(lines(large, "b", 1e-6, Moment::Between), [0; 0]);
    assert_eq!(lines(large, "b", 1e4, Moment::Between), [1]);
}

/// A relation keeps its value until there is an event: 2.5 at time 0.5 without one is a finding.
#[test]
fn an_event_that_was_missed_is_found() {
    let text = "model M Real x(start = 0, fixed = true);\nBoolean b;\nequation der(x) = 1;\nb = x > 2; end M;";
    assert_eq!(lines(text, "x", 0.0, Moment::Between), [0; 0]);
    assert_eq!(lines(text, "x", 2.0, Moment::Between), [4]);
    // In the condition of a `when`.
    let text = "model M Real x(start = 0, fixed = true);\nInteger n(start = 0, fixed = true);\nequation der(x) = 1;
      when x > 2 then\nn = pre(n) + 1; end when; end M;";
    assert_eq!(lines(text, "x", 2.0, Moment::Between), [4]);
    // Nothing follows from `x > 2` while `b` is true.
    let text = "model M Real x(start = 0, fixed = true);\nBoolean b = time >= 0, c;\nequation der(x) = 1;\nc = b or x > 2; end M;";
    assert_eq!(lines(text, "x", 2.0, Moment::Between), [0; 0]);
}

/// A relation that an event has decided which was left out may be past its threshold, as far as relations may be.
#[test]
fn events_that_are_left_out_are_no_findings() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/simulate/SharedFriction.mo");
    let ticks =
        "Integer n(start = 0, fixed = true);\nequation\n  when sample(0.01, 0.01) then n = pre(n) + 1; end when;";
    let text = std::fs::read_to_string(file).unwrap().replace("\nequation\n", &format!("\n{ticks}\n"));
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("SharedFriction.mo", &text);
    let class = *session.own_classes().last().unwrap();
    let report = audited_with(&session, class, Settings { points: Some(50), ..Settings::default() }).unwrap();
    // 100 ticks: bursts of 12 events, the fourth and the sixth to eighth of which are left out
    assert!(report.skipped.1 > 0, "all events were audited");
    let found = problems("SharedFriction", &session, &report);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A root that ends at its own threshold is left by rounding before the event there: it is what it is on the threshold, and nothing else.
#[test]
fn roots_are_on_their_thresholds_up_to_rounding() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/simulate/EmptiesByRoot.mo");
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(lines(&text, "h", 0.0, Moment::Before), [0; 0]);
    for (variable, add) in [("der(h)", 1e-3), ("h", -1e-3)] {
        let mut found = lines(&text, variable, add, Moment::Before);
        found.dedup();
        assert_eq!(found, [6], "{variable}");
    }
}

/// The start value of what a `when` assigns is its value before the start, also if it is not declared discrete.
#[test]
fn a_fixed_start_of_a_held_value_is_its_value_before() {
    let text = "model M Real y(start = 0, fixed = true);\nequation\nwhen {initial(), sample(0.5, 0.5)} then\n\
                y = 1 + time; end when; end M;";
    assert_eq!(lines(text, "y", 0.0, Moment::Between), [0; 0]);
    assert_eq!(lines(text, "y", 0.1, Moment::Initial), [4]);
}

/// What the audit leaves out it says.
#[test]
fn what_is_not_audited_is_listed() {
    let text = "model M
      Real x = time, y = delay(x, 0.1), d;
      Real c(start = 0);
    equation
      d = der(x*x);
      when Clock(0.1) then
        c = previous(c) + 1;
      end when;
    end M;";
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(None).expect("there is one model");
    let report = audited(&session, class).expect("a run");
    let reasons: BTreeMap<&str, usize> = report.not_audited.iter().map(|g| (g.reason.as_str(), g.n)).collect();
    let expected = [("`delay`", 1), ("it belongs to a clock", 2), ("the derivative of an expression", 1)];
    assert_eq!(reasons, BTreeMap::from(expected));
    assert_eq!((report.n_audited, report.n_equations), (1, 5));
}

struct Moments(Arc<Mutex<Vec<Moment>>>);

impl Witness for Moments {
    fn see(&mut self, moment: Moment, _: &[f64]) {
        self.0.lock().unwrap().push(moment);
    }
}

impl Client for Moments {
    fn prepare(&mut self, _: &Arc<Model>, simulation: &mut Simulation) -> Result<(), Diagnostic> {
        simulation.set_witness(Box::new(Moments(self.0.clone())));
        Ok(())
    }
}

/// Before a slide begins, the regions around its thresholds are settled on trial: rounds outside of an event would be taken for what
/// relations were before the next one.
#[test]
fn trials_are_not_shown() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/simulate/SlidesCoupled.mo");
    let mut session = Session::new(Box::new(saltus_library::DiskFiles));
    session.load_file(&file);
    let class = *session.own_classes().last().unwrap();
    let options = Options::until(Stage::Simulate);
    let compiled = pipeline::run(&session, class, &Options { stop_after: Stage::Compile, ..options.clone() });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let model = compiled.model.expect("the model compiles");
    pipeline::simulate_model(model, session.permissions(), &options, &mut Moments(seen.clone()));
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&Moment::Sliding), "no slide");
    for pair in seen.windows(2) {
        if pair[1] == Moment::RoundBegins {
            let is_event = matches!(pair[0], Moment::Before | Moment::Round);
            assert!(is_event, "a round follows {:?}", pair[0]);
        }
    }
}

/// A clutch locks two inertias through a gear; the power that it takes is infinite as well.
const CLUTCH: &str = "model M
  parameter Real J1 = 1, J2 = 3, n = 2;
  Real w1(start = 11, fixed = true), w2(start = 2, fixed = true), w3;
  Real tau, load, power;
  Boolean locked = time >= 0.5;
equation
  J1*der(w1) = -tau - 0.1*w1;
  J2*der(w2) = n*load;
  w3 = n*w2;
  load = 1.5*tau;
  power = tau*w1;
  if locked then
    w1 = w3;
  else
    tau = 0;
  end if;
end M;
";

/// By hand: J1 Δw1 = -Λ and J2 Δw2 = 1.5 n Λ; each variable stands in the equations of these lines.
#[test]
fn impulses_balance_in_the_equations_as_written() {
    assert_eq!(told(CLUTCH, "w1", 0.0, Lie::JumpTo), (vec![], 1));
    // Each in the equations in which it stands.
    assert_eq!(told(CLUTCH, "tau", 1e-3, Lie::Impulse).0, [7, 10, 11]);
    assert_eq!(told(CLUTCH, "load", 1e-3, Lie::Impulse).0, [8, 10]);
    assert_eq!(told(CLUTCH, "power", 1e-3, Lie::Impulse).0, [11]);
    assert_eq!(told(CLUTCH, "w2", 1e-4, Lie::JumpFrom).0, [8]);
    assert_eq!(told(CLUTCH, "w2", 1e-4, Lie::JumpTo).0, [8]);
    // The coefficient of the power is the speed after the jump.
    assert_eq!(told(CLUTCH, "w1", 1e-4, Lie::JumpTo).0, [7, 11]);
}

/// In arrays, and in equations of a branch: three capacitors joined by switches.
#[test]
fn impulses_balance_in_arrays_and_branches() {
    let text = "model M
  parameter Real C[3] = {1, 2, 3};
  Real v[3](start = {6, 0, 3}, each fixed = true), i[3];
  Real vn, total = sum(i);
equation
  C .* der(v) = i;
  for k in 1:3 loop
    if time < 0.25*k then
      i[k] = 0;
    else
      v[k] = vn;
    end if;
  end for;
  if time < 0.25 then vn = 1; else total = 0; end if;
end M;
";
    // At 0.25 nothing contradicts: the node takes the voltage of the first one.
    assert_eq!(told(text, "v[1]", 0.0, Lie::JumpTo), (vec![], 2));
    assert_eq!(told(text, "v[2]", 1e-4, Lie::JumpTo).0, [6]);
    assert_eq!(told(text, "i[2]", 1e-3, Lie::Impulse).0, [4, 6]);
}

/// What is not a jump is not taken for one: a variable that a `reinit` sets where the structure changes.
#[test]
fn a_reinit_is_not_an_impulse() {
    let text = "model M
  Real w1(start = 4, fixed = true), w2(start = 0, fixed = true), tau;
  Boolean locked(start = false, fixed = true);
equation
  der(w1) = -tau;
  3*der(w2) = tau;
  when time >= 0.5 then
    locked = true;
    reinit(w1, 8);
  end when;
  if locked then w1 = w2; else tau = 0; end if;
end M;
";
    assert_eq!(told(text, "w1", 0.0, Lie::JumpTo), (vec![], 1));
    assert_eq!(told(text, "w1", 1e-4, Lie::JumpFrom).0, [5]);
}

/// y = 0.3·exp(-t) is between two numbers of x, whatever the solver does: without an audit the run must say that an equation does not hold, once. A slope that numbers
/// can follow is fine.
#[test]
fn a_loop_that_is_steeper_than_numbers_are_close_is_told_of() {
    for (slope, expected) in [("1e18", vec!["W0909"]), ("1e5", vec![])] {
        let text = format!(
            "model M Real x(start = 0.5), y, s(start = 0.3, fixed = true); equation y = tanh((x - 1)*{slope}); x + y = 1 + s; der(s) = -s; end M;"
        );
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        session.set_text("Test.mo", text.as_str());
        let class = session.class(None).expect("one model");
        let outcome = pipeline::run(&session, class, &Options::until(Stage::Simulate));
        let codes: Vec<_> = outcome.diagnostics.iter().map(|d| d.code.0).collect();
        assert_eq!(codes, expected, "{slope}");
    }
}
