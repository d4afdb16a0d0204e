//! Simulations that fail, through the program: the message has time, equation, source line and the values involved, the
//! exit code is 3, and what was computed until then is in the result file.

mod common;

use common::{Scratch, run, saltus, stderr, stdout};
use saltus_results::{Format, Results};

/// Runs a model that fails; its message, and the times of the rows that were written.
fn fails(name: &str, text: &str) -> (String, Vec<f64>) {
    let dir = Scratch::new(&format!("fails_{name}"));
    let path = dir.file("M.mo", text);
    let (_, said) = run(&["simulate", &path, "--quiet", "--output", &dir.path("r.csv")], 3);
    // Without rows there is no file.
    let written = std::fs::read(dir.path("r.csv")).unwrap_or_default();
    let times = Results::read(&written, Format::Csv, "r.csv").map_or(Vec::new(), |results| results.times);
    (said, times)
}

/// All of these are part of the message.
#[track_caller]
fn says(said: &str, parts: &[&str]) {
    assert_eq!(said.matches("error[E0901]").count(), 1, "{said}");
    for part in parts {
        assert!(said.contains(part), "`{part}` is missing in\n{said}");
    }
}

#[test]
fn a_division_by_zero() {
    let text = "model M\n  Real y;\nequation\n  y = 1/(time - 0.5);\nend M;\n";
    let (said, times) = fails("division", text);
    // 0.5 is an output point, where the divisor is exactly zero.
    says(&said, &["at time 0.5:", "y is not a finite number", "division by zero", "`time - 0.5` is 0"]);
    says(&said, &["M.mo:4:3", "4 |   y = 1/(time - 0.5);", "note: time = 0.5"]);
    assert_eq!(times.last(), Some(&0.5));
}

#[test]
fn a_division_by_a_parameter_that_is_zero() {
    let text =
        "model M\n  parameter Real p = 0;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x/p;\nend M;\n";
    let (said, times) = fails("parameter", text);
    says(&said, &["at time 0:", "der(x) is not a finite number in the initial system", "division by zero"]);
    says(&said, &["M.mo:5:3", "`p` is 0", "p = 0"]);
    assert!(times.is_empty());
}

#[test]
fn a_logarithm_of_a_negative_number() {
    let text = "model M\n  Real x(start = 1, fixed = true), y(start = 0, fixed = true);\nequation\n  der(x) = -1;\n  \
                der(y) = log(x - 0.5);\nend M;\n";
    let (said, times) = fails("logarithm", text);
    // x - 0.5 = 0.5 - t
    says(
        &said,
        &["at time 0.5", "der(y) is not a finite number", "logarithm of", "`x - 0.5` is", "M.mo:5:3", "x = 0.5"],
    );
    assert!(times.last().is_some_and(|t| (t - 0.5).abs() < 0.01), "{:?}", times.last());
}

#[test]
fn a_failed_assertion() {
    let text = "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -1;\n  \
                assert(x > 0.5, \"only \" + String(x, significantDigits = 3) + \" left\");\nend M;\n";
    let (said, times) = fails("assertion", text);
    // x = 1 - t; the instant in which it begins to be violated is found like that of other relations
    says(&said, &["at time 0.5", "assertion failed: only 0.5 left", "M.mo:5:3", "`x > 0.5` is false with x = "]);
    assert!(times.last().is_some_and(|&t| (t - 0.5).abs() < 1e-9), "{:?}", times.last());
}

/// A model that calls `f(x) = 2*x`, which is for positive `x`.
fn fails_in_function(name: &str, model: &str) -> (String, Vec<f64>) {
    let function = "function f\n  input Real x;\n  output Real y;\nalgorithm\n  \
                    assert(x > 0, \"not positive: \" + String(x));\n  y := 2*x;\nend f;\n";
    fails(name, &format!("{function}model M\n{model}end M;\n"))
}

#[test]
fn assertions_of_functions_count_in_when_clauses() {
    let when = "when time > 0.5 then d = f(0.2 - time); end when;\n";
    for (name, section) in [("when", "equation"), ("when statement", "algorithm")] {
        let body = if section == "algorithm" { when.replace("d =", "d :=") } else { when.to_owned() };
        let model = format!("  discrete Real d(start = 1, fixed = true);\n{section}\n  {body}");
        let (said, times) = fails_in_function(name, &model);
        says(&said, &["at time 0.5", "assertion failed: not positive: -0.3", "calls `f`"]);
        assert!(times.last().is_some_and(|t| (t - 0.5).abs() < 1e-9), "{:?}", times.last());
    }
}

#[test]
fn assertions_of_functions_count_at_the_start() {
    let states = "  parameter Real p = -1;\n  Real x;\n";
    let models = [
        ("initial equation", format!("{states}initial equation\n  x = f(p);\nequation\n  der(x) = 1;\n")),
        ("initial algorithm", format!("{states}initial algorithm\n  x := f(p);\nequation\n  der(x) = 1;\n")),
        ("binding", "  parameter Real p = -1;\n  parameter Real q = f(p);\n  Real x = q*time;\n".to_owned()),
        ("initial()", "  discrete Real x;\nequation\n  when initial() then x = f(time - 1); end when;\n".to_owned()),
    ];
    for (name, model) in models {
        let (said, times) = fails_in_function(name, &model);
        says(&said, &["at time 0:", "assertion failed: not positive: -1", "calls `f`"]);
        assert!(times.len() <= 1, "{name}: {times:?}");
    }
}

#[test]
fn assertions_of_initial_sections_count_at_the_start_only() {
    for (name, section) in [("section equation", "initial equation"), ("section algorithm", "initial algorithm")] {
        let text = |most: f64| {
            format!(
                "model M\n  Real x(start = 1, fixed = true);\n{section}\n  \
                 assert(x < {most:?}, \"too high: \" + String(x));\nequation\n  der(x) = 1;\nend M;\n"
            )
        };
        let (said, _) = fails(name, &text(0.5));
        says(&said, &["at time 0:", "assertion failed: too high: 1", "M.mo:4:3"]);
        // x = 1 + t exceeds 1.5 later.
        let dir = Scratch::new(&format!("holds_{name}"));
        run(&["simulate", &dir.file("M.mo", text(1.5)), "--quiet"], 0);
    }
}

#[test]
fn a_loop_that_becomes_singular() {
    let text = "model M\n  Real x, y, s(start = 1, fixed = true), a;\nequation\n  der(s) = -1;\n  \
                a = if s > 0.5 then 2 else 1;\n  x + y = 1;\n  a*x + y = time;\nend M;\n";
    let (said, times) = fails("singular", text);
    says(&said, &["at time 0.5", "a linear loop", "the equations contradict each other", "unknown x = -0."]);
    says(
        &said,
        &["6 |   x + y = 1;", "belongs to the loop", "7 |   a*x + y = time;", "left minus right side: 5.000e-1"],
    );
    assert!(times.last().is_some_and(|t| (t - 0.5).abs() < 1e-9), "{:?}", times.last());
}

#[test]
fn a_nonlinear_loop_that_loses_its_solution() {
    // x² + y² = 1 and x y = t have real solutions up to t = 1/2
    let text =
        "model M\n  Real x(start = 1, min = 0, nominal = 2), y;\nequation\n  x^2 + y^2 = 1;\n  x*y = time;\nend M;\n";
    let (said, times) = fails("nonlinear", text);
    says(&said, &["at time 0.50", "a nonlinear loop of 2 equations has no solution", "(start 1, nominal 2, min 0)"]);
    says(
        &said,
        &["4 |   x^2 + y^2 = 1;", "5 |   x*y = time;", "unknown x = 0.70", "unknown y = 0.70", "hint: give the"],
    );
    assert_eq!(times.last(), Some(&0.5));
}

#[test]
fn a_start_without_solution_says_what_was_tried() {
    // x y = 3/4 does not meet the unit circle; from x = 1, y = 0.5 the hyperbola moves from 1/2, where it touches it.
    let text = "model M\n  Real x(start = 1), y(start = 0.5);\nequation\n  x^2 + y^2 = 1;\n  x*y = 0.75;\nend M;\n";
    let (said, _) = fails("tried", text);
    says(&said, &["at time 0:", "a nonlinear loop of 2 equations", "tried: Newton's method from 12 starts, and paths"]);
    says(&said, &[" % of the way"]);
}

#[test]
fn inconsistent_start_values() {
    let text = "model M\n  Real x(start = 1, fixed = true);\n  Real y(start = 3, fixed = true);\nequation\n  der(x) = -x;\n  \
                y = 2*x;\nend M;\n";
    let (said, times) = fails("inconsistent", text);
    says(&said, &["at time 0:", "contradict each other", "`y = 3`, whose sides are 2 and 3", "M.mo:3:29"]);
    assert!(times.is_empty());
}

#[test]
fn a_step_size_at_its_minimum() {
    // x = 1/(1 - t)
    let text = "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = x^2;\n  \
                annotation(experiment(StopTime = 2));\nend M;\n";
    let (said, times) = fails("pole", text);
    says(&said, &["at time 1.0", "no step is small enough", "x changes ever faster", "M.mo:4:3", "its derivative is"]);
    assert!(times.last().is_some_and(|t| *t > 0.99 && *t < 1.01), "{:?}", times.last());
}

#[test]
fn an_assertion_of_a_called_function_names_the_function_and_the_caller() {
    // A loop whose end depends on a value is not written out: the function is called.
    let text = "model M\n  function f\n    input Real x;\n    output Real y = 0;\n  algorithm\n    while y < x loop\n      \
                y := y + 1;\n    end while;\n    assert(y < 3, \"too many\");\n  end f;\n  Real z;\nequation\n  \
                z = f(4*time);\nend M;\n";
    let (said, times) = fails("called", text);
    // f(u) = ceil(u) reaches 3 behind u = 2, at t = 0.5
    says(
        &said,
        &["at time 0.50", "in `M.f`", "too many", "M.mo:13:3", "13 |   z = f(4*time);", "9 |     assert(y < 3"],
    );
    assert!(times.last().is_some_and(|t| (t - 0.5).abs() < 0.01), "{:?}", times.last());
}

const FUNCTIONS: &str = "model M
  function f
    input Real x;
    output Real y;
  algorithm
    assert(x > 0.5, \"f needs more than \" + String(x));
    y := sqrt(x);
  end f;
  function g
    input Real x;
    output Real y;
  algorithm
    if x > 0 then
      y := 2*f(x);
    else
      y := 0;
    end if;
  end g;
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -1;
  y = EXPRESSION;
end M;
";

#[test]
fn an_assertion_of_an_executed_function_names_itself_and_its_callers() {
    let (said, times) = fails("executed", &FUNCTIONS.replace("EXPRESSION", "g(x)"));
    // x = 1 - t
    says(&said, &["at time 0.500", "assertion failed: f needs more than 0.499", "M.mo:6:5", "x = 0.499"]);
    says(&said, &["14 |       y := 2*f(x);", "calls `M.f`", "22 |   y = g(x);", "calls `M.g`"]);
    assert!(times.last().is_some_and(|&t| t > 0.5 && t < 0.501), "{:?}", times.last());
    // A second call of the same value in another place has a condition of its own.
    let both = "(if x > 0.6 then f(x) else 0) + noEvent(if x > 0.4 then f(x) else 0)";
    let (said, _) = fails("executed_twice", &FUNCTIONS.replace("EXPRESSION", both));
    says(&said, &["at time 0.500", "x > 0.4"]);
}

#[test]
fn an_assertion_of_a_function_in_a_branch_that_is_not_taken_does_not_count() {
    let dir = Scratch::new("not_taken");
    for (i, guarded) in ["if x > 0.6 then f(x) else 0", "noEvent(if x > 0.6 then g(x) else 1)"].iter().enumerate() {
        let path = dir.file(&format!("M{i}.mo"), FUNCTIONS.replace("EXPRESSION", guarded));
        run(&["simulate", &path, "--quiet"], 0);
    }
}

#[test]
fn a_warning_is_given_once_with_its_time_and_line() {
    let dir = Scratch::new("warning");
    let text = "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -1;\n  \
                assert(x > 0.5, \"only \" + String(x), AssertionLevel.warning);\nend M;\n";
    let (_, said) = run(&["simulate", &dir.file("M.mo", text), "--quiet"], 0);
    assert_eq!(said.matches("warning[W0902]").count(), 1, "{said}");
    assert!(said.contains("violated at time 0.5: only 0.5") && said.contains("M.mo:5:3"), "{said}");
    // A run that fails later says what it warned of before.
    let text = text.replace("end M;", "  assert(x > 0.2, \"empty\");\nend M;");
    let (said, _) = fails("warned", &text);
    assert!(said.contains("W0902") && said.contains("E0901"), "{said}");
}

#[test]
fn terminate_is_success_and_says_why() {
    let dir = Scratch::new("terminate");
    let text = "model M\n  Real x(start = 1, fixed = true);\n  discrete Real last(start = 0, fixed = true);\nequation\n  \
                der(x) = -1;\n  when x < 0.5 then\n    terminate(\"level \" + String(x, significantDigits = 2));\n  \
                end when;\n  when terminal() then\n    last = time;\n  end when;\nend M;\n";
    let (said, complained) = run(&["simulate", &dir.file("M.mo", text), "--output", &dir.path("r.csv")], 0);
    assert!(said.contains("level 0.5") && complained.is_empty(), "{said}{complained}");
    let results = Results::read(&std::fs::read(dir.path("r.csv")).unwrap(), Format::Csv, "r.csv").unwrap();
    let end = *results.times.last().unwrap();
    assert!((end - 0.5).abs() < 1e-9);
    // terminal() is true there, and at no time before.
    let last = results.values("last").unwrap();
    assert_eq!(last.last(), Some(&end));
    assert!(last[..last.len() - 1].iter().all(|x| *x == 0.0), "{last:?}");
}

#[test]
#[cfg(unix)]
fn an_interrupt_keeps_what_was_computed() {
    if common::is_ignored("-INT") {
        return;
    }
    let dir = Scratch::new("interrupted");
    let text = "model M\n  Real x(start = 1, fixed = true), y(start = 0, fixed = true);\nequation\n  der(x) = y;\n  \
                der(y) = -1e4*x;\n  annotation(experiment(StopTime = 1e7, Interval = 1));\nend M;\n";
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["simulate", &dir.file("M.mo", text), "--quiet", "--output", &dir.path("r.csv")])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    if !killed.is_ok_and(|s| s.success()) {
        // No such command here: nothing to test.
        let _ = child.kill().and_then(|()| child.wait());
        return;
    }
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("the simulation failed at time") && said.contains("interrupted"), "{said}");
    let results = Results::read(&std::fs::read(dir.path("r.csv")).unwrap(), Format::Csv, "r.csv").unwrap();
    // x = cos(100 t) at every row that was reached
    assert!(!results.times.is_empty());
    assert_eq!(results.values("x").unwrap()[0], 1.0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_said() {
    // Writing to /dev/full fails as a full disk does.
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let dir = Scratch::new("full");
    for name in ["r.csv", "r.mat", "r.parquet"] {
        std::os::unix::fs::symlink("/dev/full", dir.path(name)).unwrap();
        let path = dir.file("M.mo", common::DECAY);
        let output = saltus(&["simulate", &path, "--quiet", "--output", &dir.path(name)]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{name}: {said}{}", stdout(&output));
        assert!(said.contains("error[E0095]") && said.contains(name) && said.contains("No space left"), "{said}");
    }
}

/// Subscripts that leave an array during the run: the line, the subscript and the size are named, whatever executes it.
#[test]
fn a_subscript_outside_of_an_array() {
    let index = "Integer i = if time > 0.5 then 6 else 2;";
    let function = |body: &str| {
        let head = "function f\n    input Integer i;\n    output Real y;\n  protected\n    Real a[3];\n  algorithm\n";
        format!("model M\n  {head}    a := zeros(3);\n    {body}\n  end f;\n  {index}\n  Real y = f(i);\nend M;\n")
    };
    let cases = [
        // In an algorithm, where the write would be lost.
        (format!("model M\n  {index}\n  Real a[3];\nalgorithm\n  a := zeros(3);\n  a[i] := 1;\nend M;\n"), "M.mo:6:3"),
        // In a when.
        (
            "model M\n  discrete Real a[3](each start = 0, each fixed = true);\n  Integer i(start = 1, fixed = true);\n\
             algorithm\n  when time > 0.25 then\n    i := 6;\n  end when;\n  when time > 0.5 then\n    a[i] := 1;\n  \
             end when;\nend M;\n"
                .to_owned(),
            "M.mo:9:5",
        ),
        // In an equation: of Reals, of Booleans, below a relation.
        (format!("model M\n  {index}\n  Real a[3] = {{1, 2, 3}};\n  Real y = a[i];\nend M;\n"), "M.mo:4:"),
        (format!("model M\n  {index}\n  Boolean a[3] = {{true, time > 1, false}};\n  Boolean y = a[i];\nend M;\n"), "M.mo:4:"),
        (format!("model M\n  {index}\n  Real a[3] = {{1, 2, 3}}*time;\n  Real y = if a[i] > 0 then 1 else 0;\nend M;\n"), "M.mo:4:"),
        // In functions.
        (function("a[i] := 1; y := sum(a);"), "M.mo:9:5"),
        (function("y := a[i];"), "M.mo:9:10"),
        (function("y := 0; while i > y + 5 loop y := y + 1; end while; a[i] := 1; y := sum(a);"), "M.mo:9:"),
    ];
    for (number, (text, place)) in cases.iter().enumerate() {
        let (said, times) = fails(&format!("subscript{number}"), text);
        says(&said, &["at time 0.5", "subscript 6", "1 to 3", place]);
        assert!(times.last().is_some_and(|t| (t - 0.5).abs() < 0.01), "{text}: {:?}", times.last());
    }
}

/// What a condition excludes is not an error.
#[test]
fn a_subscript_that_is_not_reached() {
    let dir = Scratch::new("subscript_not_reached");
    let text = "model M\n  Real a[3] = {1, 2, 3}*time;\n  Integer i = if time > 0.5 then 6 else 2;\n  \
                Real y = if i <= 3 then a[i] else 0;\n  parameter Integer k[3] = {1, 2, 3};\n  Boolean b = i <= 3 and k[i] == 2;\n  \
                discrete Real w(start = 0, fixed = true);\nalgorithm\n  \
                when time > 0.7 then\n    if i <= 3 then\n      w := a[i];\n    end if;\n  end when;\nend M;\n";
    run(&["simulate", &dir.file("M.mo", text), "--quiet", "--output", &dir.path("r.csv")], 0);
}

/// 3·10^n leaves ±2^53 ≈ 9.007e15 at n = 16, which is at 0.16 s.
#[test]
fn an_integer_that_overflows() {
    let text = "model M\n  Integer n(start = 3, fixed = true);\nequation\n  when sample(0.01, 0.01) then\n    \
                n = pre(n)*10;\n  end when;\nend M;\n";
    let (said, _) = fails("integer", text);
    says(&said, &["at time 0.16", "Integer overflow: `pre(n) * 10`", "2^53", "M.mo:5:9"]);
}

/// What an expression has on the way to its value is exact as well: 1103515245·1250496027 is 1.4e18.
#[test]
fn an_integer_that_overflows_inside_an_expression() {
    for call in ["mod(1103515245*pre(n) + 12345, 2147483648)", "next(pre(n))"] {
        let text = format!(
            "model M\n  function next\n    input Integer n;\n    output Integer m;\n  algorithm\n    m := mod(1103515245*n + 12345, 2147483648);\n  \
             end next;\n  Integer n(start = 42, fixed = true);\nequation\n  when sample(0.1, 0.1) then\n    n = {call};\n  end when;\nend M;\n"
        );
        let (said, _) = fails("integer-inside", &text);
        says(&said, &["at time 0.2", "Integer overflow: `", "1103515245 * ", "2^53"]);
    }
}

/// Sizes that only the run knows.
#[test]
fn an_array_of_another_size() {
    let text = "model M\n  function f\n    input Integer n;\n    output Real y;\n  protected\n    Real a[:];\n    Real b[3];\n  \
                algorithm\n    a := fill(1.0, n);\n    b := a;\n    y := sum(b);\n  end f;\n  \
                Real y = f(if time > 0.5 then 5 else 3);\nend M;\n";
    let (said, _) = fails("size", text);
    says(&said, &["at time 0.5", "size 5", "3", "M.mo:10:5"]);
}

/// An open switch in the way of a current, however small: nothing of the nominal value 1 A hides it.
#[test]
fn a_current_that_has_nowhere_to_go() {
    for current in ["1", "1e-8", "1e-11"] {
        let text = format!(
            "model M\n  Real v, i;\n  Boolean open = time > 0.5;\nequation\n  i = {current};\n  \
             0 = if open then i else v - 1;\nend M;\n"
        );
        let (said, _) = fails("contradiction", &text);
        says(&said, &["at time 0.5", "cannot be entered", "the equations do not determine v", "M.mo:6:3"]);
    }
}

/// The line is that of the subscript, not of the algorithm that uses the value.
#[test]
fn a_subscript_in_an_algorithm_is_found_where_it_stands() {
    let text = "model M\n  parameter Real ratio[3] = {4, 2, 1};\n  Integer gear = 1 + integer(4*time);\n  Real w;\nalgorithm\n  \
                w := 100/ratio[gear];\nend M;\n";
    let (said, _) = fails("gears", text);
    says(&said, &["at time 0.75", "the subscript 4 is outside 1 to 3", "M.mo:6:12"]);
}

#[test]
fn a_loop_of_an_algorithm_that_is_called() {
    let text = |body: &str| {
        format!(
            "model M\n  Real x[3] = {{1, 2, 3}}*time;\n  Integer n = integer(10*time);\n  Real s(start = 0);\n  Real y[3];\n\
             algorithm\n  s := 0;\n  y := x;\n{body}\nend M;\n"
        )
    };
    let subscript = "  for i in 1:n loop\n    s := s + x[i];\n  end for;";
    let (said, times) = fails("called_subscript", &text(subscript));
    // n becomes 4 at 0.4.
    says(
        &said,
        &["at time 0.4", "subscript 4 is out of range in dimension 1", "M.mo:10:14", "10 |     s := s + x[i];"],
    );
    assert!(times.last().is_some_and(|t| (t - 0.4).abs() < 1e-9), "{:?}", times.last());
    let section = "  s := sum(x[n - 1:n]) + sum(x[1:n - 1]);";
    let (said, _) = fails("called_section", &text(section));
    says(&said, &["at time 0", "M.mo:9:"]);
    let size = "  if n > 2 then y := ones(n - 1); end if;";
    let (said, _) = fails("called_size", &text(size));
    says(&said, &["at time 0.3", "dimension 1 of `y` has size 2, its declaration says 3", "M.mo:9:"]);
    let assertion = "  for i in 1:n loop\n    assert(i < 3, \"round \" + String(i) + \" of \" + String(n));\n    s := s + 1;\n  end for;";
    let (said, _) = fails("called_assertion", &text(assertion));
    says(&said, &["at time 0.3", "assertion failed: round 3 of 3", "10 |     assert(i < 3"]);
}

#[test]
fn a_denominator_that_is_multiplied_out_and_zero() {
    // x = 2*y and x + y = 0 leave x = y = 0, where the quotient has no value.
    let text = "model M\n  Real x(start = 1), y(start = 1);\nequation\n  x/y = 2;\n  x + y = if time < 0.5 then 3 else 0;\nend M;\n";
    let (said, times) = fails("multiplied_out", text);
    says(&said, &["at time 0.5", "M.mo:4:"]);
    assert!(times.last().is_some_and(|t| (t - 0.5).abs() < 1e-9), "{:?}", times.last());
}
