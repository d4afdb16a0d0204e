//! What `explain` says about small circuits, and that everything sorted keeps its rules.

use std::path::{Path, PathBuf};

use saltus::pipeline::{self, Options, Stage};
use saltus::{Session, explain};
use saltus_backend::describe::{BlockKind, BlockNote, Description, Order, Reals};

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path)
}

fn describe(path: &Path) -> (Description, String, String, serde_json::Value) {
    let mut session = Session::on_disk();
    session.load_file(path);
    let class = session.class(None).unwrap();
    let mut options = Options::until(Stage::Compile);
    options.describe = true;
    let outcome = pipeline::run(&session, class, &options);
    assert!(!outcome.has_errors(), "{path:?}: {:?}", outcome.diagnostics);
    let description = outcome.description.unwrap();
    let (text, page, json) = session.with_sources(|sources| {
        let text = explain::listing("M", &description, sources, None);
        (text, explain::page("M", &description, sources, None), explain::to_json("M", &description, sources, None))
    });
    (description, text, page, json)
}

/// The only loop of an order.
fn the_loop(order: &Order) -> &BlockNote {
    let loops: Vec<&BlockNote> = order.blocks.iter().filter(|b| b.kind != BlockKind::Assignment).collect();
    assert_eq!(loops.len(), 1, "{loops:?}");
    loops[0]
}

fn texts(block: &BlockNote) -> Vec<&str> {
    block.equations.iter().map(|e| e.text.as_str()).collect()
}

#[test]
fn the_switch_equation_stays_in_its_loop_and_has_a_coefficient_in_both_positions() {
    let (description, text, ..) = describe(&testdata("explain/SwitchCircuit.mo"));
    let found = the_loop(&description.continuous);
    assert_eq!(found.kind, BlockKind::Loop { reals: Reals::Linear, is_mixed: false });
    assert!(texts(found).contains(&"0 = if open then iSw else uSw"), "{:?}", texts(found));
    assert_eq!((found.equations.len(), found.torn.len()), (4, 1));
    // Neither branch is zero: the loop is solved for both positions, without a matrix.
    let solution = found.solution.join("; ");
    assert_eq!(solution, "va := -(if open then I0 else -vc) / (if open then -1 / R1 else 1)");
    assert!(text.contains("solved: "), "{text}");
    assert!(text.contains("residual 0 = if open then iSw else uSw"), "{text}");
    assert!(text.contains("SwitchCircuit.mo:16"), "{text}");
    assert_eq!((description.state_events.len(), description.time_events.len()), (0, 4));
    assert_eq!(description.states[0].name, "vc");
    assert!(text.contains("vc starts at 0: fixed"), "{text}");
}

#[test]
fn the_rectifier_is_a_mixed_loop_at_events_and_a_linear_one_between() {
    let (description, _, page, json) = describe(&testdata("explain/Rectifier.mo"));
    assert_eq!(the_loop(&description.continuous).kind, BlockKind::Loop { reals: Reals::Linear, is_mixed: false });
    let at_events = the_loop(&description.events);
    assert_eq!(at_events.kind, BlockKind::Loop { reals: Reals::Linear, is_mixed: true });
    assert!(texts(at_events).contains(&"0 = if open then i else uD"));
    assert!(texts(at_events).contains(&"[open] = uD <= 0.0 and not i > 0.0"), "{:?}", texts(at_events));
    assert_eq!(description.state_events.len(), 2);
    assert!(page.contains("<svg") && page.contains("class='mixed'"));
    let kinds: Vec<&str> =
        json["events"]["blocks"].as_array().unwrap().iter().map(|b| b["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|k| k.starts_with("mixed")).count(), 1, "{kinds:?}");
}

#[test]
fn a_variable_that_no_equation_can_be_solved_for_is_iterated_over() {
    let (description, ..) = describe(&testdata("explain/DiodeByParameter.mo"));
    // Both equations of the diode have a branch without s, so that neither gives it; everything else follows from it.
    for order in [&description.continuous, &description.events, &description.initial] {
        assert_eq!(the_loop(order).torn, ["s"]);
    }
}

#[test]
fn a_pendulum_and_a_slider_crank_keep_two_states_of_a_set() {
    for (file, others) in [("simulate/CartesianPendulum.mo", &["phi", "w"][..]), ("simulate/SliderCrank.mo", &[])] {
        let (description, ..) = describe(&testdata(file));
        let states: Vec<&str> = description.states.iter().map(|s| s.name.as_str()).collect();
        let own: Vec<&str> = states.into_iter().filter(|name| !others.contains(name)).collect();
        assert_eq!(own, ["der(state 1 of set 1)", "state 1 of set 1"], "{file}");
    }
}

/// The rules of each stage; false if the model is not meant to be sorted.
fn keeps_the_rules(session: &Session, class: saltus_library::ClassId, name: &str) -> bool {
    let outcome = pipeline::run(session, class, &Options::until(Stage::Check));
    let Some(model) = outcome.flat.as_ref().filter(|_| !outcome.has_errors()) else { return false };
    assert_eq!(saltus_flat::verify(model), Ok(()), "{name}");
    let Ok(sorted) = saltus_backend::sort(model) else { return false };
    assert_eq!(sorted.verify(), Ok(()), "{name}");
    assert_eq!(saltus_program::verify(&sorted.emit(model)), Ok(()), "{name}");
    true
}

/// The files of a directory and below it, in order.
fn models_below(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    let (dirs, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.into_iter().partition(|path| path.is_dir());
    let models = files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "mo"));
    models.chain(dirs.iter().flat_map(|dir| models_below(dir))).collect()
}

#[test]
fn every_model_of_the_suite_keeps_the_rules_of_each_stage() {
    let mut n = 0;
    for path in ["simulate", "explain"].iter().flat_map(|dir| models_below(&testdata(dir))) {
        let mut session = Session::on_disk();
        session.load_file(&path);
        let Ok(class) = session.class(None) else { continue };
        n += usize::from(keeps_the_rules(&session, class, &path.to_string_lossy()));
    }
    assert!(n >= 25, "only {n} models were sorted");
}

#[test]
fn every_example_keeps_the_rules_of_each_stage() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/Saltus/Examples");
    let session = Session::on_disk();
    let mut n = 0;
    for path in models_below(&examples) {
        let inside = path.strip_prefix(&examples).unwrap().with_extension("");
        let name = format!("Saltus.Examples.{}", inside.to_string_lossy().replace('/', "."));
        let Ok(class) = session.class(Some(&name)) else { continue };
        n += usize::from(keeps_the_rules(&session, class, &name));
    }
    assert!(n >= 40, "only {n} examples were sorted");
}

/// Without a Jacobian each iteration variable costs an evaluation: also a large loop has as few as possible.
#[test]
fn a_large_loop_that_calls_functions_is_torn() {
    let (description, ..) = describe(&testdata("explain/LargeLoopWithCalls.mo"));
    let found = the_loop(&description.continuous);
    assert_eq!((found.equations.len(), found.torn.len()), (500, 1));
}
