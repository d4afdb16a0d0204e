//! Models and states that travel: compiled here, run there; stopped in one process, continued in another.

mod common;

use common::{Scratch, model, run, saltus, stderr};

/// An input, a parameter that can be changed, one that cannot, and one that follows from another.
const PLANT: &str = "model Plant
  parameter Real k(min = 0) = 2;
  parameter Integer n = 2;
  final parameter Real kk = 2*k;
  input Real u(start = 0);
  input Boolean on(start = true);
  Real x(start = 1, fixed = true);
  Real z[n] = fill(x, n);
  discrete Integer edges(start = 0, fixed = true);
  output Real y = kk*x;
equation
  der(x) = if on then u - k*x else 0;
  when change(on) then
    edges = pre(edges) + 1;
  end when;
  annotation(experiment(StopTime = 2));
end Plant;
";

/// The last value of a signal in a CSV file.
fn last(csv: &str, name: &str) -> f64 {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').map(|n| n.trim_matches('"')).collect();
    let column = names.iter().position(|n| *n == name).unwrap_or_else(|| panic!("no {name} in {names:?}"));
    lines.last().unwrap().split(',').nth(column).unwrap().parse().unwrap()
}

#[test]
fn a_compiled_model_runs_without_its_source() {
    let dir = Scratch::new("travel_compiled");
    let source = dir.file("Plant.mo", PLANT);
    let compiled = dir.path("plant.saltus");
    run(&["compile", &source, "--output", &compiled, "--quiet"], 0);
    let (direct, again) = (dir.path("direct.csv"), dir.path("again.csv"));
    run(&["simulate", &source, "--output", &direct, "--quiet"], 0);
    std::fs::remove_file(&source).unwrap();
    run(&["simulate", &compiled, "--output", &again, "--quiet"], 0);
    assert_eq!(dir.read("direct.csv"), dir.read("again.csv"));
    // x = exp(-k*t)
    run(&["simulate", &compiled, "--set", "k=3", "-o", &again, "--quiet"], 0);
    assert!((last(&dir.read("again.csv"), "x") - (-6.0f64).exp()).abs() < 1e-6);
    let (said, _) = run(&["linearize", &compiled], 0);
    assert!(said.contains("-2"), "{said}");
}

#[test]
fn what_cannot_be_set_in_a_compiled_model_says_why() {
    let dir = Scratch::new("travel_set");
    let source = dir.file("Plant.mo", PLANT);
    let compiled = dir.path("plant.saltus");
    run(&["compile", &source, "--output", &compiled, "--quiet"], 0);
    let output = dir.file("old.csv", "old");
    for (set, expected) in [
        ("K=1", "the model has no variable `K`; did you mean `k`?"),
        ("n=3", "the structure of the model depends on its value"),
        ("kk=3", "it is final"),
        ("y=3", "it is neither a parameter nor an input"),
        ("x=3", "it is neither a parameter nor an input"),
        ("k=-1", "it must be at least 0"),
        ("k=nan", "expected a finite number"),
        ("k=two", "expected a number"),
        ("on=1", "expected true or false"),
    ] {
        let (_, said) = run(&["simulate", &compiled, "--set", set, "--output", &output, "--quiet"], 1);
        assert!(said.contains(expected), "{set}: {said}");
        assert_eq!(dir.read("old.csv"), "old", "{set}");
    }
}

/// Every kind of parameter in one sum.
const KINDS: &str = "model Kinds
  type E = enumeration(one, two, three);
  parameter Real a[3] = {1, 2, 3};
  parameter Integer m[2, 2] = {{1, 2}, {3, 4}};
  parameter Boolean b[2] = {false, false};
  parameter E e[2] = {E.one, E.one};
  parameter String s = \"a\";
  parameter Integer n = 2;
  parameter Real c[2] = 2*a[1:2];
  Real z[n] = fill(time, n);
  Real y = sum(a) + 10*sum(m) + (if b[2] then 1000 else 0) + 10000*Integer(e[2]);
algorithm
  when time > 2 then
    assert(false, s);
  end when;
end Kinds;
";

#[test]
fn arrays_of_a_compiled_model_are_set_as_in_its_source() {
    let dir = Scratch::new("travel_arrays");
    let source = dir.file("Kinds.mo", KINDS);
    let (compiled, output) = (dir.path("kinds.saltus"), dir.path("out.csv"));
    run(&["compile", &source, "-o", &compiled, "--quiet"], 0);
    // y = sum(a) + 10*sum(m) + 1000*b[2] + 10000*e[2]
    for (set, expected) in [
        ("a={4, 5.5, 6}", 10115.5),
        ("m={{1,1},{1,-1}}", 10026.0),
        ("b={false, true}", 11106.0),
        ("e={Kinds.E.two, Kinds.E.three}", 30106.0),
    ] {
        for model in [&source, &compiled] {
            run(&["simulate", model, "--set", set, "-o", &output, "--quiet"], 0);
            assert_eq!(last(&dir.read("out.csv"), "y"), expected, "{set}");
        }
    }
    let both = ["simulate", &compiled, "--set", "a={4, 5, 6}", "--set", "a[2]=0", "-o", &output, "--quiet"];
    run(&both, 0);
    assert_eq!(last(&dir.read("out.csv"), "y"), 10110.0);
    for (set, expected) in [
        ("a={1, 2}", "expected an array of 3 elements"),
        ("a=7", "expected an array of 3 elements"),
        ("m={1, 2}", "expected an array of 2 × 2 elements"),
        ("m={1.5, 2}", "expected an array of 2 × 2 elements"),
        ("m={{1.5, 1}, {1, 1}}", "`m[1,1]` cannot be set to `1.5`: expected an Integer"),
        ("b={true, 1}", "`b[2]` cannot be set to `1`: expected true or false"),
        ("e={E.one, E.four}", "`e[2]` cannot be set to `E.four`: expected the name of a literal"),
        ("c={1, 2}", "`c[1]` cannot be set to `1`: it is computed by the model"),
        ("z={1, 2}", "`z[1]` cannot be set to `1`: it is neither a parameter nor an input"),
        ("s=\"b\"", "texts are part of the compiled model"),
        ("n=3", "the structure of the model depends on its value"),
    ] {
        let (_, said) = run(&["simulate", &compiled, "--set", set, "--quiet"], 1);
        assert!(said.contains(expected), "{set}: {said}");
    }
}

#[test]
fn damaged_and_foreign_files_are_errors() {
    let dir = Scratch::new("travel_damaged");
    let source = dir.file("Plant.mo", PLANT);
    let compiled = dir.path("plant.saltus");
    run(&["compile", &source, "-o", &compiled, "--quiet"], 0);
    let bytes = std::fs::read(&compiled).unwrap();
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    for (name, content, expected) in [
        ("short.saltus", &bytes[..bytes.len() - 7], "its end is missing"),
        ("changed.saltus", &changed, "its checksum is wrong"),
        ("zip.saltus", &b"PK\x03\x04 and more"[..], "it is not a compiled model"),
        ("empty.saltus", &[], "it is not a compiled model"),
    ] {
        let path = dir.file(name, content);
        let (_, said) = run(&["simulate", &path, "--quiet"], 1);
        assert!(said.contains("E0082") && said.contains(expected), "{name}: {said}");
    }
    let other = dir.file("Other.mo", "model Other Real x(start = 1, fixed = true); equation der(x) = x; end Other;");
    let state = dir.path("other.state");
    run(&["simulate", &other, "--save-state", &state, "--quiet"], 0);
    let (_, said) = run(&["simulate", &compiled, "--resume", &state, "--quiet"], 1);
    assert!(said.contains("E0081") && said.contains("`Other`"), "{said}");
    let (_, said) = run(&["simulate", &compiled, "--resume", &compiled, "--quiet"], 1);
    assert!(said.contains("it is a compiled model, not the state of a simulation"), "{said}");
}

#[test]
fn a_run_goes_on_in_another_process() {
    let dir = Scratch::new("travel_resume");
    for name in ["BouncingBall.mo", "IdealRectifier.mo", "CartesianPendulum.mo", "Delays.mo"] {
        let file = model(name);
        let (whole, first, second) = (dir.path("whole.csv"), dir.path("first.csv"), dir.path("second.csv"));
        let state = dir.path("run.state");
        let stop = ["--start-time", "0", "--stop-time", "1", "--interval", "0.0625"];
        let with = |more: &[&str]| {
            let arguments: Vec<&str> = [&["simulate", &file], &stop[..], more, &["--quiet"]].concat();
            run(&arguments, 0);
        };
        with(&["--output", &whole]);
        // Stopped by the time span: steps end at 0.5, so that results agree to the tolerance only.
        run(
            &[
                "simulate",
                &file,
                "--stop-time",
                "0.5",
                "--interval",
                "0.0625",
                "-o",
                &first,
                "--save-state",
                &state,
                "--quiet",
            ],
            0,
        );
        with(&["--resume", &state, "--output", &second]);
        let (whole, second) = (dir.read("whole.csv"), dir.read("second.csv"));
        let (a, b) = (whole.lines().last().unwrap(), second.lines().last().unwrap());
        for (a, b) in a.split(',').zip(b.split(',')) {
            let (a, b): (f64, f64) = (a.parse().unwrap(), b.parse().unwrap());
            assert!((a - b).abs() <= 1e-3 * a.abs().max(1.0), "{name}: {a} and {b}");
        }
        let first_time = second.lines().nth(1).unwrap().split(',').next().unwrap().parse::<f64>().unwrap();
        assert!(first_time > 0.5 - 1e-9, "{name} begins again at {first_time}");
    }
}

/// Two processes write, bit by bit, what one writes: rows and events. The structure of the last four models changes on the way.
#[test]
fn a_pause_leaves_no_trace() {
    let dir = Scratch::new("travel_pause");
    let changing = [
        ("BuckWithPauses.mo", "0.0042"),
        ("LoopingPendulum.mo", "0.8"),
        ("SecondClutchLocks.mo", "1"),
        ("LinearisedAgain.mo", "0.5"),
    ];
    for (name, pause) in [("BouncingBall.mo", "0.7"), ("Delays.mo", "0.456789")].into_iter().chain(changing) {
        let file = model(name);
        let files = |part: &str| (dir.path(&format!("{part}.csv")), dir.path(&format!("{part}.jsonl")));
        let [whole, first, second] = ["whole", "first", "second"].map(files);
        let state = dir.path("run.state");
        let with = |(rows, events): &(String, String), more: &[&str]| {
            run(&[&["simulate", &file, "--quiet", "-o", rows, "--event-log", events], more].concat(), 0);
        };
        with(&whole, &[]);
        with(&first, &["--pause-at", pause, "--save-state", &state]);
        with(&second, &["--resume", &state]);
        let read = |path: &String| std::fs::read_to_string(path).unwrap();
        let rest = read(&second.0);
        let rows = read(&first.0) + rest.split_once('\n').unwrap().1;
        assert_eq!(rows, read(&whole.0), "{name}");
        assert_eq!(read(&first.1) + &read(&second.1), read(&whole.1), "{name}");
    }
}

#[test]
fn inputs_come_from_a_table() {
    let dir = Scratch::new("travel_inputs");
    let source = dir.file("Plant.mo", PLANT);
    let output = dir.path("out.csv");
    // u = t up to 1, then it jumps to 5; k = 0 makes x = 1 + ∫u = 1 + 0.5 + 5.
    let table = dir.file("in.csv", "time,u,on,other\n0,0,1,7\n1,1,1,7\n1,5,1,7\n2,5,1,7\n");
    run(&["simulate", &source, "--set", "k=0", "--input", &table, "-o", &output, "--quiet"], 0);
    assert!((last(&dir.read("out.csv"), "x") - 6.5).abs() < 1e-6, "{}", last(&dir.read("out.csv"), "x"));
    // Off from 0.5 to 1.5: an event at each change, and nothing moves in between.
    let table = dir.file("held.csv", "time,u,on\n0,1,1\n0.5,1,0\n1.5,1,1\n");
    run(&["simulate", &source, "--set", "k=0", "--input", &table, "-o", &output, "--quiet"], 0);
    let csv = dir.read("out.csv");
    assert!((last(&csv, "x") - 2.0).abs() < 1e-9 && last(&csv, "edges") == 2.0, "{csv}");
    // A held value by --set, for one input or for all.
    run(&["simulate", &source, "--set", "k=0", "--set", "u=12", "-o", &output, "--quiet"], 0);
    assert!((last(&dir.read("out.csv"), "x") - 25.0).abs() < 1e-9);
    let values = dir.file("values.txt", "// the bench\nk = 0\nu = 3 // volts\n");
    run(&["simulate", &source, "--set-file", &values, "-o", &output, "--quiet"], 0);
    assert!((last(&dir.read("out.csv"), "x") - 7.0).abs() < 1e-9);
}

#[test]
fn tables_that_cannot_be_inputs_are_errors_before_anything_is_written() {
    let dir = Scratch::new("travel_bad_inputs");
    let source = dir.file("Plant.mo", PLANT);
    let output = dir.file("old.csv", "old");
    for (table, expected) in [
        ("time,U,on\n0,0,1\n1,1,1\n", "expected a column `u`, found none; did you mean `U`?"),
        ("time,u,on\n0,0,1\n2,0,1\n1,1,1\n", "expected times that do not decrease"),
        ("time,u,on\n0,0,1\n1,nan,1\n", "expected a finite number in row 2 of column `u`"),
        ("time,u,on\n0,0,0.5\n1,1,1\n", "expected values of type Boolean in column `on`"),
    ] {
        let path = dir.file("in.csv", table);
        let (_, said) = run(&["simulate", &source, "--input", &path, "--output", &output, "--quiet"], 1);
        assert!(said.contains(expected), "{said}");
        assert_eq!(dir.read("old.csv"), "old");
    }
    let values = dir.file("values.txt", "k 3\n= 4\n");
    let said = stderr(&saltus(&["simulate", &source, "--set-file", &values, "--quiet"]));
    assert!(said.contains("line 1: expected `name = value`") && said.contains("line 2: expected a name"), "{said}");
}

#[test]
fn values_count_in_every_command_on_a_compiled_model() {
    let dir = Scratch::new("travel_commands");
    let source = dir.file("Plant.mo", PLANT);
    let compiled = dir.path("plant.saltus");
    run(&["compile", &source, "-o", &compiled, "--quiet"], 0);
    let output = dir.path("out.csv");
    // x = u/k + (1 - u/k)*exp(-k*t)
    run(&["simulate", &compiled, "--set", "u=6", "--set", "k=3", "-o", &output, "--quiet"], 0);
    assert!((last(&dir.read("out.csv"), "x") - (2.0 - (-6.0f64).exp())).abs() < 1e-6);
    run(&["sweep", &compiled, "--vary", "k=1,3", "--set", "u=6", "-o", &output, "--quiet"], 0);
    assert!((last(&dir.read("out.csv"), "x") - (2.0 - (-6.0f64).exp())).abs() < 1e-6);
    run(&["sweep", &compiled, "--vary", "u=0,6", "--set", "k=3", "-o", &output, "--quiet"], 0);
    assert!((last(&dir.read("out.csv"), "x") - (2.0 - (-6.0f64).exp())).abs() < 1e-6);
    let (said, _) = run(&["linearize", &compiled, "--set", "k=5"], 0);
    assert!(said.contains("-5"), "{said}");
    for arguments in [&["linearize", &compiled, "--set", "zz=1"][..], &["sweep", &compiled, "--vary", "zz=1,2"]] {
        let (_, said) = run(arguments, 1);
        assert!(said.contains("the model has no variable `zz`"), "{said}");
    }
    let (_, said) = run(&["simulate", &compiled, "Plant"], 1);
    assert!(said.contains("E0073"), "{said}");
    let (_, said) = run(&["compile", &compiled], 1);
    assert!(said.contains("E0073"), "{said}");
}

#[test]
fn a_resumed_run_has_the_grid_and_the_method_of_its_own_options() {
    let dir = Scratch::new("travel_grid");
    let file = dir.file("M.mo", "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
    let (state, output) = (dir.path("half.state"), dir.path("out.csv"));
    run(&["simulate", &file, "--interval", "0.01", "--save-state", &state, "--quiet"], 0);
    for (options, n_rows) in
        [(&["--interval", "0.005"][..], 200), (&["--intervals", "8"], 4), (&["--solver", "rk4"], 250)]
    {
        let resume = ["simulate", &file, "--resume", &state, "--stop-time", "2", "-o", &output, "--quiet"];
        run(&[&resume[..], options].concat(), 0);
        let csv = dir.read("out.csv");
        let times: Vec<f64> = csv.lines().skip(1).map(|l| l.split(',').next().unwrap().parse().unwrap()).collect();
        assert_eq!(times.len(), n_rows, "{options:?}");
        assert!(times[0] > 1.0 && *times.last().unwrap() == 2.0, "{options:?}: {times:?}");
        assert!((last(&csv, "x") - (-2.0f64).exp()).abs() < 1e-6, "{options:?}");
    }
    let (_, said) = run(&["simulate", &file, "--resume", &state, "--stop-time", "0.5"], 1);
    assert!(said.contains("it was saved at 1 s, after the stop time"), "{said}");
    let (_, said) = run(&["simulate", &file, "--save-state", &file, "--quiet"], 2);
    assert!(said.contains("E0076") && dir.read("M.mo").starts_with("model M"), "{said}");
}

#[test]
fn a_table_for_a_model_without_inputs_is_an_error() {
    let dir = Scratch::new("travel_no_inputs");
    let file = dir.file("M.mo", "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
    let table = dir.file("in.csv", "time,u\n0,1\n1,1\n");
    let (_, said) = run(&["simulate", &file, "--input", &table, "--quiet"], 1);
    assert!(said.contains("the model has no input that could take its values"), "{said}");
}

#[test]
fn what_was_used_while_compiling_cannot_be_set_later() {
    let dir = Scratch::new("travel_structural");
    let text = "model M
  parameter Integer f = 2;
  parameter Real limit = 10;
  parameter Real free(fixed = false, start = 1);
  Real u(start = 0), v;
initial equation
  free = 3;
equation
  u = previous(u) + 1 + 0*interval(Clock(1, 10));
  v = subSample(u, f);
  assert(time < limit, \"limit \" + String(limit) + \" exceeded\");
end M;
";
    let source = dir.file("M.mo", text);
    let compiled = dir.path("m.saltus");
    run(&["compile", &source, "-o", &compiled, "--quiet"], 0);
    let (_, said) = run(&["simulate", &compiled, "--set", "f=3", "--quiet"], 1);
    assert!(said.contains("the structure of the model depends on its value"), "{said}");
    let (_, said) = run(&["simulate", &compiled, "--set", "free=4", "--quiet"], 1);
    assert!(said.contains("it is computed by the model"), "{said}");
    // A message shows the values of the run.
    let (_, said) = run(&["simulate", &compiled, "--set", "limit=0.5", "--quiet"], 3);
    assert!(said.contains("limit 0.5 exceeded"), "{said}");
}
