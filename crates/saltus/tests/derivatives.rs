//! Directional derivatives of every model below `testdata/simulate` and of every example of the shipped library are the limits
//! of differences, at random points of their runs along random directions.
//!
//! Where the numbers come from: extrapolated central differences of the same program, see [`saltus::derivatives`].

use std::path::Path;
use std::time::Duration;

use saltus::derivatives::{Comparison, compare};
use saltus::pipeline::{self, Engine, Experiment, Options, Stage};
use saltus::{Session, guard};
use saltus_library::ClassId;
use saltus_program::Stopwatch;
use saltus_sim::Simulation;
use saltus_syntax::ast::ClassKind;

/// Models whose run is cut short are compared as far as they come.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// `None` if there is no program of it, or if its derivatives depend on the past: there differences are taken.
fn compared(session: &Session, class: ClassId) -> Option<Comparison> {
    let outcome = pipeline::run(session, class, &Options::until(Stage::Compile));
    let model = outcome.model.filter(|_| !outcome.diagnostics.has_errors())?;
    let program = model.program();
    if !program.history.transports.is_empty() || program.history.delays.iter().any(|d| !d.is_fixed) {
        return None;
    }
    let settings = Experiment::default().settings(program);
    let begin = || {
        let mut simulation =
            Simulation::new(model.instance(Engine::Interpreter, session.permissions()), settings.clone());
        if let Some(maker) = model.configurations(Engine::Interpreter, session.permissions(), &Stopwatch::default()) {
            simulation.set_configurations(maker);
        }
        simulation
    };
    Some(compare(&begin, TIME_LIMIT, 0))
}

/// What is wrong with the derivatives of a model.
fn problem(name: &str, found: &Comparison) -> Option<String> {
    let what = if !found.wrong.is_empty() {
        format!(
            "{} of {} derivatives are wrong, worst {:e} {:?}",
            found.wrong.len(),
            found.compared,
            found.worst,
            found.worst_at
        )
    } else if found.without > 0 {
        format!("no derivative at {} of {} points: {:?}", found.without, found.points, found.without_because)
    } else if found.statistics.difference_calls > 0 {
        format!("differences of {}", found.statistics.difference_functions.join(", "))
    } else {
        return None;
    };
    Some(format!("{name}: {what}"))
}

#[test]
fn derivatives_of_models_are_limits_of_differences() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/simulate");
    let mut files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "mo"));
    files.sort();
    let judged = guard::on_large_stack(|| {
        let mut problems = Vec::new();
        let mut n_compared = 0;
        for file in &files {
            let mut session = Session::new(Box::new(saltus_library::DiskFiles));
            session.load_file(file);
            let Some(&class) = session.own_classes().last() else { continue };
            let Some(found) = compared(&session, class) else { continue };
            n_compared += found.compared;
            let name = file.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            // Parts of algorithms that are called, and functions of texts and of records whose sizes differ, are differentiated by
            // differences.
            let by_differences = ["BoundsThatChange", "ChangingStrings", "RaggedRecords"].contains(&name.as_str());
            if by_differences && found.wrong.is_empty() && found.without == 0 {
                continue;
            }
            problems.extend(problem(&name, &found));
        }
        (problems, n_compared)
    });
    let (problems, n_compared) = judged.unwrap_or_else(|internal| panic!("{}", internal.message));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_compared > 1000, "only {n_compared} derivatives were compared");
}

#[test]
fn derivatives_of_examples_are_limits_of_differences() {
    let judged = guard::on_large_stack(|| {
        let session = Session::on_disk();
        let mut problems = Vec::new();
        let mut n_compared = 0;
        for (name, class) in examples(&session) {
            let Some(found) = compared(&session, class) else { continue };
            n_compared += found.compared;
            problems.extend(problem(&name, &found));
        }
        (problems, n_compared)
    });
    let (problems, n_compared) = judged.unwrap_or_else(|internal| panic!("{}", internal.message));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_compared > 5000, "only {n_compared} derivatives were compared");
}

/// A table object, its value and its slope, as the standard library declares them.
const TABLE: &str = "
  class Table
    extends ExternalObject;
    function constructor
      input String tableName; input String fileName; input Real table[:, :]; input Integer columns[:];
      input Integer smoothness; input Integer extrapolation; output Table id;
      external \"C\" id = ModelicaStandardTables_CombiTable1D_init2(fileName, tableName, table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, extrapolation, false);
    end constructor;
    function destructor
      input Table id;
      external \"C\" ModelicaStandardTables_CombiTable1D_close(id);
    end destructor;
  end Table;
  pure function slope
    input Table id; input Integer column; input Real u; input Real der_u; output Real der_y;
    external \"C\" der_y = ModelicaStandardTables_CombiTable1D_getDerValue(id, column, u, der_u);
  end slope;
  parameter Table table = Table(\"NoName\", \"NoName\", [0, 0; 1, 1; 2, 4; 3, 9], {2}, 1, 2);
";

/// `der(x) = value(table, 1, x)` with this declaration of `value`.
fn table_model(value: &str) -> String {
    format!(
        "model M {TABLE} {value} Real x(start = 1.25, fixed = true); equation der(x) = value(table, 1, x);
         annotation(experiment(StopTime = 0.1)); end M;"
    )
}

fn comparison_of(text: &str) -> Comparison {
    let judged = guard::on_large_stack(|| {
        let mut session = Session::new(Box::new(saltus_library::DiskFiles));
        session.set_text("M.mo", text);
        let class = *session.own_classes().last().expect("a model");
        compared(&session, class).expect("a program")
    });
    judged.unwrap_or_else(|internal| panic!("{}", internal.message))
}

#[test]
fn tables_are_differentiated_by_their_annotation_or_natively() {
    let external = "external \"C\" y = ModelicaStandardTables_CombiTable1D_getValue(id, column, u);";
    let inputs = "input Table id; input Integer column; input Real u; output Real y;";
    let annotation = "annotation(derivative(noDerivative = id, noDerivative = column) = slope);";
    for annotation in [annotation, ""] {
        let value = format!("pure function value {inputs} {external} {annotation} end value;");
        let found = comparison_of(&table_model(&value));
        assert_eq!(
            (found.wrong.len(), found.without, found.statistics.difference_calls),
            (0, 0, 0),
            "{annotation} {found:?}"
        );
        assert!(found.compared > 0);
    }
}

#[test]
fn what_has_no_derivative_is_left_to_differences_of_that_call() {
    let found = comparison_of(
        "model M
          function f
            input Real x; output Real y;
          protected
            String s;
          algorithm
            s := String(x);
            y := if s == \"0\" then 0 else x*x;
          end f;
          Real x(start = 1, fixed = true);
        equation
          der(x) = -f(x);
          annotation(experiment(StopTime = 1));
        end M;",
    );
    assert_eq!((found.wrong.len(), found.without), (0, 0), "{found:?}");
    assert!(found.statistics.difference_calls > 0);
    assert_eq!(found.statistics.difference_functions, ["M.f"]);
}

/// All models of `Saltus.Examples`, with their names.
fn examples(session: &Session) -> Vec<(String, ClassId)> {
    let library = session.library();
    let packages = library.children(library.find("Saltus.Examples").expect("the package of examples"));
    let classes = packages.into_iter().flat_map(|package| library.children(package));
    let is_model =
        |class: &ClassId| library.definition(*class).is_some_and(|d| d.kind == ClassKind::Model && !d.is_partial);
    classes.filter(is_model).map(|class| (library.qualified_name(class), class)).collect()
}
