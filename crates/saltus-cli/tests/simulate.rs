//! `saltus simulate`: each option does what its help says.

mod common;

use common::{DECAY, Scratch, model, run, saltus, stderr, stdout};
use saltus_results::{Format, Results, Source};

fn read(dir: &Scratch, name: &str) -> Results {
    let path = dir.0.join(name);
    let format = Format::of(&path).unwrap();
    Results::read(&std::fs::read(&path).unwrap(), format, name).unwrap()
}

#[test]
fn simulate_writes_the_kept_variables() {
    let dir = Scratch::new("simulate");
    let path = dir.file("Decay.mo", DECAY);
    let keep = dir.file("keep.txt", "x\n");
    let result = dir.0.join("result.csv");
    let output = saltus(&[
        "simulate",
        &path,
        "--stop-time",
        "2",
        "--intervals",
        "4",
        "--keep-file",
        &keep,
        "--quiet",
        "--output",
        &result.display().to_string(),
    ]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""), "{}", stderr(&output));
    let text = std::fs::read_to_string(&result).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("\"time\",\"x\""));
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect();
    let times: Vec<f64> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(times, [0.0, 0.5, 1.0, 1.5, 2.0]);
    // Closed form: exp(-t).
    assert!(rows.iter().all(|row| (row[1] - (-row[0]).exp()).abs() < 1e-5), "{rows:?}");
}

#[test]
fn all_engines_write_the_same_file() {
    let dir = Scratch::new("engines");
    let path = dir.file("Decay.mo", DECAY);
    let written = |engine: &str| {
        let result = dir.0.join(format!("{engine}.csv")).display().to_string();
        let output = saltus(&["simulate", &path, "--engine", engine, "--stop-time", "50", "--output", &result]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        std::fs::read_to_string(&result).unwrap()
    };
    let interpreted = written("interp");
    assert_eq!(written("jit"), interpreted);
    assert_eq!(written("auto"), interpreted);
    assert_eq!(saltus(&["simulate", &path, "--engine", "other"]).status.code(), Some(2));
}

#[test]
fn a_failed_assertion_exits_with_3() {
    let dir = Scratch::new("run_time_failure");
    let text = "model A\n  Real x = time;\nequation\n  assert(x < 0.5, \"too far\");\nend A;\n";
    let output = saltus(&["simulate", &dir.file("A.mo", text)]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("error[E0901]: the simulation failed at time 0.5"), "{}", stderr(&output));
    assert!(stderr(&output).contains("too far"));
}

#[test]
fn all_formats_hold_the_same_values() {
    let dir = Scratch::new("formats");
    let files = ["ball.csv", "ball.mat", "ball.parquet"];
    for file in files {
        run(&["simulate", &model("BouncingBall"), "--quiet", "--output", &dir.path(file)], 0);
    }
    let [csv, mat, parquet] = files.map(|file| read(&dir, file));
    for name in ["h", "v", "n", "der(h)"] {
        assert_eq!(csv.values(name), mat.values(name), "{name}");
        assert_eq!(csv.values(name), parquet.values(name), "{name}");
    }
    // Two rows for each of the impacts, from the closed form: sqrt(2*h/g) and (1 + 2*e) times that.
    let impact = (2.0f64 / 9.81).sqrt();
    for at in [impact, impact * 2.4] {
        assert!(csv.event_times().iter().any(|t| (t - at).abs() < 1e-6), "{at}: {:?}", csv.event_times());
    }
    for results in [&mat, &parquet] {
        let height = results.signal("h").unwrap();
        assert_eq!((height.unit.as_str(), height.description.as_str()), ("m", "Height above the ground"));
        assert_eq!(results.signal("e").map(|s| s.source), Some(Source::Constant(0.7)));
    }
}

#[test]
fn an_unknown_format_is_wrong_usage() {
    let (_, said) = run(&["simulate", &model("Decay"), "--output", "result.xls"], 2);
    assert!(said.contains(".csv, .mat, .parquet"), "{said}");
}

#[test]
fn time_span_and_output_points_are_chosen() {
    let dir = Scratch::new("time_span");
    let times = |options: &[&str]| {
        let file = dir.path("r.csv");
        let path = dir.file("Decay.mo", DECAY);
        run(&[&["simulate", &path, "--quiet", "--output", &file], options].concat(), 0);
        read(&dir, "r.csv").times
    };
    assert_eq!(times(&[]).len(), 501);
    assert_eq!(times(&["--start-time", "-1", "--stop-time", "1", "--interval", "0.5"]), [-1.0, -0.5, 0.0, 0.5, 1.0]);
    assert_eq!(times(&["--intervals", "2"]), [0.0, 0.5, 1.0]);
    for wrong in [
        &["--intervals", "0"][..],
        &["--interval", "-1"],
        &["--tolerance", "2"],
        &["--max-step", "0"],
        &["--fixed-step", "nan"],
        &["--start-time", "2", "--stop-time", "1"],
        &["--intervals", "2", "--interval", "1"],
    ] {
        run(&[&["simulate", &model("Decay")], wrong].concat(), 2);
    }
}

/// Closed form of the decay: exp(-1) at time 1.
fn error_at_one(dir: &Scratch, options: &[&str]) -> f64 {
    let path = dir.file("Decay.mo", DECAY);
    run(&[&["simulate", &path, "--quiet", "--output", &dir.path("r.csv")], options].concat(), 0);
    let results = read(dir, "r.csv");
    (results.values("x").unwrap().last().unwrap() - (-1.0f64).exp()).abs()
}

#[test]
fn tolerance_solver_and_steps_change_the_error() {
    let dir = Scratch::new("accuracy");
    assert!(error_at_one(&dir, &["--tolerance", "1e-10"]) < 1e-9);
    // (1 - h)^(1/h) for h = 0.1 is 0.3486784401: forward Euler.
    let euler = error_at_one(&dir, &["--solver", "euler", "--fixed-step", "0.1"]);
    assert!((euler - (0.9f64.powi(10) - (-1.0f64).exp()).abs()).abs() < 1e-12, "{euler}");
    for solver in ["auto", "dopri5", "dop853", "rodas", "bdf", "rk4", "implicit-euler"] {
        let error = error_at_one(&dir, &["--solver", solver, "--fixed-step", "0.001"]);
        assert!(error < 1e-3, "{solver}: {error}");
    }
    let (_, said) = run(&["simulate", &model("Decay"), "--solver", "rodsa"], 2);
    assert!(said.contains("rodas"), "{said}");
}

#[test]
fn a_longest_step_makes_more_steps() {
    let dir = Scratch::new("max_step");
    let steps = |options: &[&str]| {
        run(&[&["simulate", &model("Decay"), "--quiet", "--stats", &dir.path("s.json")], options].concat(), 0);
        let stats: serde_json::Value = serde_json::from_str(&dir.read("s.json")).unwrap();
        stats["steps"].as_u64().unwrap()
    };
    assert!(steps(&["--max-step", "0.01", "--stop-time", "1"]) >= 100);
    assert!(steps(&["--stop-time", "1"]) < 100);
}

#[test]
fn parameters_are_set_and_misspelt_ones_suggested() {
    let dir = Scratch::new("set");
    run(
        &[
            "simulate",
            &model("BouncingBall"),
            "--set",
            "e=0",
            "--set",
            "h.start=2",
            "--stop-time",
            "0.1",
            "--quiet",
            "--output",
            &dir.path("r.mat"),
        ],
        0,
    );
    let results = read(&dir, "r.mat");
    assert_eq!(results.signal("e").map(|s| s.source), Some(Source::Constant(0.0)));
    assert_eq!(results.values("h").unwrap()[0], 2.0);
    let (_, said) = run(&["simulate", &model("BouncingBall"), "--set", "ee=0"], 1);
    assert!(said.contains("did you mean `e`?"), "{said}");
    run(&["simulate", &model("BouncingBall"), "--set", "e"], 2);
}

#[test]
fn patterns_choose_signals() {
    let dir = Scratch::new("keep");
    let (ball, output) = (model("BouncingBall"), dir.path("r.csv"));
    let arguments = ["simulate", &ball, "--keep", "der(?)", "--quiet", "--output", &output];
    assert_eq!(run(&arguments, 0).1, "");
    let results = read(&dir, "r.csv");
    let names: Vec<&str> = results.signals.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["der(h)", "der(v)"]);
}

/// Before anything is run: an earlier result stays as it was.
#[test]
fn patterns_that_fit_nothing_are_refused() {
    let dir = Scratch::new("keep_nothing");
    let ball = model("BouncingBall");
    let (output, names) = (dir.file("r.csv", "earlier"), dir.file("names.txt", "v\nhh\ntime\n"));
    for arguments in [
        vec!["simulate", &ball, "--keep", "der(?)", "--keep", "hh", "--output", &output],
        vec!["sweep", &ball, "--vary", "e=0.6:0.8:3", "--keep", "hh", "--output", &output],
        vec!["simulate", &ball, "--keep-file", &names, "--output", &output],
        vec!["sweep", &ball, "--vary", "e=0.6:0.8:3", "--keep-file", &names, "--output", &output],
    ] {
        let (_, said) = run(&arguments, 2);
        assert!(said.starts_with("error[E0067]: expected variables that fit `hh`"), "{said}");
        assert!(said.contains("did you mean `h`?"), "{said}");
        assert_eq!(dir.read("r.csv"), "earlier");
    }
}

#[test]
fn a_parameter_that_is_asked_for_gets_a_column() {
    let dir = Scratch::new("keep_parameter");
    let arguments = ["simulate", &model("BouncingBall"), "--keep", "e", "--quiet", "--output", &dir.path("r.csv")];
    run(&arguments, 0);
    let table = dir.read("r.csv");
    assert!(table.starts_with("\"time\",\"e\"\n") && table.lines().count() > 2, "{table}");
}

#[test]
fn the_event_log_names_causes_and_lines() {
    let dir = Scratch::new("event_log");
    run(&["simulate", &model("BouncingBall"), "--quiet", "--event-log", &dir.path("e.jsonl")], 0);
    let events: Vec<serde_json::Value> =
        dir.read("e.jsonl").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let impact = events.iter().find(|e| e["cause"] == "h <= 0.0").unwrap();
    assert_eq!((&impact["kind"], &impact["line"]), (&"state".into(), &10.into()));
    assert!(impact["iterations"].as_u64().unwrap() >= 2);
    // Closed form: sqrt(2*h/g).
    assert!((impact["time"].as_f64().unwrap() - (2.0f64 / 9.81).sqrt()).abs() < 1e-6);
}

#[test]
fn stats_count_what_the_run_did() {
    let dir = Scratch::new("run_stats");
    run(&["simulate", &model("BouncingBall"), "--quiet", "--stats", &dir.path("s.json")], 0);
    let stats: serde_json::Value = serde_json::from_str(&dir.read("s.json")).unwrap();
    for key in [
        "steps",
        "rhs_evaluations",
        "jacobian_evaluations",
        "state_events",
        "time_events",
        "event_iterations",
        "states",
        "equations",
    ] {
        assert!(stats[key].is_u64(), "{key}: {stats}");
    }
    assert_eq!(stats["states"], 2);
    for stage in ["load", "flatten", "check", "sort", "emit", "simulate"] {
        assert!(stats["seconds"][stage].is_number(), "{stage}");
    }
    let (said, timing) = run(&["simulate", &model("BouncingBall"), "--quiet", "--timing"], 0);
    assert!(said.is_empty() && timing.contains("simulate") && timing.contains(" ms"), "{timing}");
}

#[test]
fn the_summary_shows_last_values_with_units() {
    let (said, _) = run(&["simulate", &model("BouncingBall")], 0);
    assert!(said.starts_with("BouncingBall  0 … 1.5 s in "), "{said}");
    assert!(said.contains("Height above the ground") && said.contains("0.0534024 m"), "{said}");
    let (said, complained) = run(&["simulate", &model("BouncingBall"), "--quiet"], 0);
    assert_eq!((said.as_str(), complained.as_str()), ("", ""));
}

#[test]
fn a_failed_run_keeps_what_it_has() {
    let dir = Scratch::new("partial");
    let text = "model A\n  Real x = time;\nequation\n  assert(x < 0.5, \"too far\");\nend A;\n";
    run(&["simulate", &dir.file("A.mo", text), "--output", &dir.path("r.csv")], 3);
    let last = read(&dir, "r.csv").times.last().copied().unwrap();
    assert!(last > 0.4 && last <= 0.51, "{last}");
}

#[test]
fn what_happens_to_accumulating_events_is_chosen() {
    // The ball comes to rest at sqrt(2*h/g)*(1 + e)/(1 - e) = 2.558 s.
    for policy in ["auto", "stop", "continue"] {
        let code = saltus(&["simulate", &model("BouncingBall"), "--stop-time", "2.7", "--on-zeno", policy, "--quiet"]);
        let expected = if policy == "continue" { [0, 0] } else { [0, 3] };
        assert!(expected.contains(&code.status.code().unwrap()), "{policy}: {}", stderr(&code));
    }
    run(&["simulate", &model("BouncingBall"), "--on-zeno", "panic"], 2);
}

#[test]
fn mixed_loops_have_one_solution_by_any_method() {
    let dir = Scratch::new("mixed");
    let current = |method: &str| {
        let file = dir.path("r.csv");
        let arguments = ["--mixed", method, "--intervals", "300", "--quiet", "--output", &file];
        run(&[&["simulate", &model("IdealRectifier")], &arguments[..]].concat(), 0);
        read(&dir, "r.csv").values("i").unwrap().into_owned()
    };
    // Closed form at 0.25 s: sin(pi/2)/R.
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    for method in ["auto", "fixed-point", "restricted", "exhaustive", "pivot"] {
        assert!((largest(&current(method)) - 0.5).abs() < 1e-6, "{method}");
    }
    run(&["simulate", &model("IdealRectifier"), "--mixed", "guess"], 2);
}

/// Five output intervals; the steps of der(x) = cos(20*t) are shorter, and each row is on x = sin(20*t)/20.
#[test]
fn steps_can_have_rows_of_their_own() {
    let dir = Scratch::new("simulate_step_rows");
    let text = "model M Real x(start = 0, fixed = true); equation der(x) = cos(20*time); end M;";
    let (model, output) = (dir.file("M.mo", text), dir.path("M.csv"));
    let mut lengths = Vec::new();
    for options in [&["--step-rows"][..], &[]] {
        let given = ["simulate", &model, "--intervals", "5", "--output", &output, "--quiet"];
        run(&[&given[..], options].concat(), 0);
        let rows = dir.read("M.csv");
        let numbers = |line: &str| -> Vec<f64> { line.split(',').map(|cell| cell.parse().unwrap()).collect() };
        let rows: Vec<Vec<f64>> = rows.lines().skip(1).map(numbers).collect();
        assert!(rows.windows(2).all(|w| w[0][0] < w[1][0]), "{rows:?}");
        assert!(rows.iter().all(|row| (row[1] - (20.0 * row[0]).sin() / 20.0).abs() < 1e-5), "{rows:?}");
        lengths.push(rows.len());
    }
    assert!(lengths[0] > 10 && lengths[1] == 6, "{lengths:?}");
}

#[test]
fn a_run_says_what_is_too_small_for_its_nominal_values() {
    let dir = Scratch::new("small");
    let text = "model Small\n  Real x(start = 1e-12, fixed = true), y(start = 0);\nequation\n  der(x) = -x;\n  y + y^3 = 2*x;\n\
                  when y < 1e-13 then\n  end when;\nend Small;\n";
    let file = dir.file("Small.mo", text);
    let (summary, _) = run(&["simulate", &file], 0);
    let state = "1 state below the absolute tolerance all the time, and not accurate; give nominal values: x";
    assert!(summary.contains(state), "{summary}");
    let file = dir.file("Known.mo", text.replace("fixed = true", "fixed = true, nominal = 1e-12"));
    let (summary, _) = run(&["simulate", &file], 0);
    assert!(!summary.contains("give nominal values"), "{summary}");
}

#[test]
fn a_run_says_whether_a_crossing_may_have_been_missed() {
    let dir = Scratch::new("events");
    // Above 0.99 for 0.3 ms at a time, 16 times in a second; the states are slower by far.
    let text = "model Peaks\n  Real x(start = 0, fixed = true), y(start = 0);\n  discrete Integer n(start = 0, fixed = true);\n\
                equation\n  der(x) = 1;\n  y = delay(x, 0.01);\n  when sin(100*x) > 0.99 then\n    n = pre(n) + 1;\n  end when;\n\
                  when y > 0.5 then\n  end when;\nend Peaks;\n";
    let file = dir.file("Peaks.mo", text);
    let stats = dir.path("stats.json");
    let (summary, _) = run(&["simulate", &file, "--events", "proved", "--stats", &stats], 0);
    let counts = |summary: &str| summary.lines().any(|line| line.split_whitespace().eq(["n", "16"]));
    assert!(counts(&summary), "{summary}");
    assert!(summary.contains("1 of 2 relations only sampled in some steps: `y > 0.5` in "), "{summary}");
    let stats: serde_json::Value = serde_json::from_str(&dir.read("stats.json")).unwrap();
    let relations = stats["relations"].as_array().unwrap();
    let sampled = |text: &str| {
        let relation = relations.iter().find(|r| r["relation"] == text).unwrap();
        (relation["proved"].as_u64().unwrap() > 0, relation["sampled"].as_u64().unwrap() > 0)
    };
    assert_eq!(sampled("sin(100.0 * x) > 0.99"), (true, false), "{stats}");
    assert_eq!(sampled("y > 0.5"), (false, true), "{stats}");
    // Of time alone: known ahead, whatever is asked for.
    let file = dir.file("Timed.mo", text.replace("sin(100*x)", "sin(100*time)").replace("y > 0.5", "x*x > 0.25"));
    let (summary, _) = run(&["simulate", &file, "--events", "fast"], 0);
    assert!(counts(&summary) && summary.contains("1 relation looked at in points of each step"), "{summary}");
    let (summary, _) = run(&["simulate", &file, "--events", "proved"], 0);
    assert!(summary.contains("no crossing was missed: 2 relations proved over the whole run"), "{summary}");
    run(&["simulate", &file, "--events", "guessed"], 2);
}

#[test]
fn real_time_waits_for_the_clock_and_counts_steps() {
    let dir = Scratch::new("real_time");
    let path = dir.file("Decay.mo", DECAY);
    let with = |more: &[&str]| {
        let mut arguments = vec!["simulate", path.as_str(), "--stop-time", "0.2", "--fixed-step", "0.01"];
        arguments.extend(more);
        let started = std::time::Instant::now();
        let output = saltus(&arguments);
        (output.status.code(), stdout(&output), stderr(&output), started.elapsed().as_secs_f64())
    };
    let (code, said, _, took) = with(&["--solver", "rk4", "--real-time"]);
    assert_eq!(code, Some(0));
    // 20 steps; the last one is not waited for.
    assert!(said.contains("real time: 19 steps, ") && took >= 0.19, "{took}: {said}");
    let (code, said, _, took) = with(&["--solver", "euler", "--real-time=0.5"]);
    assert!(code == Some(0) && said.contains("longest step") && took >= 0.38, "{took}: {said}");
    // A step of variable size may take any time.
    let (code, _, said, _) = with(&["--real-time"]);
    assert!(code == Some(2) && said.contains("a method with a fixed step"), "{code:?}: {said}");
}

#[test]
fn a_profile_names_the_lines_that_took_the_time() {
    let (dir, ball) = (Scratch::new("profile"), model("BouncingBall"));
    let (said, _) = run(&["simulate", &ball, "--profile"], 0);
    assert!(said.contains("profile of BouncingBall") && said.contains("BouncingBall.mo:10"), "{said}");
    let path = dir.path("profile.json");
    run(&["simulate", &ball, "--profile", &path, "--quiet"], 0);
    assert!(dir.read("profile.json").contains("\"BouncingBall\""));
    let (said, _) = run(&["explain", &ball, "--profile"], 0);
    assert!(said.contains(" %"), "{said}");
}

#[test]
fn loops_over_arrays_give_the_bytes_of_scalars() {
    let dir = Scratch::new("scalars");
    let text = "model Rod
      Real T[100](each start = 1, each fixed = true);
    equation
      der(T[1]) = -T[1];
      for i in 2:100 loop der(T[i]) = 5*(T[i - 1] - T[i]); end for;
    end Rod;";
    let file = dir.file("Rod.mo", text);
    let tables = ["loops.csv", "scalars.csv"].map(|name| dir.path(name));
    run(&["simulate", &file, "--output", &tables[0]], 0);
    run(&["simulate", &file, "--scalars", "--output", &tables[1]], 0);
    let [loops, scalars] = tables.map(|table| std::fs::read(table).unwrap());
    assert!(loops == scalars && !loops.is_empty());
}

#[test]
fn parts_that_share_nothing_run_apart() {
    let dir = Scratch::new("apart");
    let two = "model Two Real x(start = 1, fixed = true), y(start = 1, fixed = true); \
               equation der(x) = -x; der(y) = -2*y; end Two;";
    let (file, table) = (dir.file("Two.mo", two), dir.path("two.csv"));
    run(&["simulate", &file, "--apart", "--stop-time", "1", "--intervals", "1", "--output", &table], 0);
    let read = read(&dir, "two.csv");
    // Closed forms: exp(-t) and exp(-2 t).
    for (name, expected) in [("x", (-1.0f64).exp()), ("y", (-2.0f64).exp())] {
        let found = *read.values(name).unwrap().last().unwrap();
        assert!((found - expected).abs() < 1e-5, "{name} = {found}, not {expected}");
    }
    let (_, said) = run(&["simulate", &model("BouncingBall"), "--apart"], 0);
    assert!(said.contains("W0907"), "{said}");
}
