//! `saltus run`: phases, variations, searches, recorded numbers, tables, and what is said about mistakes.

mod common;

use common::{Scratch, run};
use saltus_results::{Format, Results};

const PENDULUM: &str = include_str!("study/LoopingPendulum.mo");
const DECAY: &str = "model Decay
  parameter Real k = 1, a = 1;
  Real x(start = a, fixed = true);
equation
  der(x) = -k*x;
  assert(k < 5, \"too fast\");
end Decay;
";

fn json(dir: &Scratch, name: &str) -> serde_json::Value {
    serde_json::from_str(&dir.read(name)).expect("a JSON file")
}

/// Rows of a CSV file without its head.
fn rows(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect()
}

fn study(dir: &Scratch, text: &str) -> String {
    dir.file("study.toml", text)
}

/// A thousand pendulums leave their circles and come back. The flight from angle φ₁ with speed w₁ on a circle of radius 1 lasts
/// 4 w₁ sin φ₁/g: the parabola that osculates the circle in its first point meets it again there.
#[test]
fn a_fleet_of_a_thousand_pendulums_needs_two_compilations() {
    let dir = Scratch::new("study_fleet");
    dir.file("LoopingPendulum.mo", PENDULUM);
    let path = study(
        &dir,
        "[model]\nfiles = ['LoopingPendulum.mo']\nclass = 'LoopingPendulum'\n[experiment]\ntolerance = 1e-12\nintervals = 10\n\
         [vary.parameters]\nw0 = { from = 4.7, to = 6.8, number = 1000 }\n\
         [record]\nflight = 'event(flight -> circle).time - event(circle -> flight).time'\n\
         w1 = 'event(circle -> flight).pre(circle.w)'\nphi1 = 'event(circle -> flight).pre(circle.phi)'\n\
         [output]\ntable = 'fleet.csv'\nreport = 'fleet.json'\n",
    );
    run(&["run", &path, "--quiet"], 0);
    let report = json(&dir, "fleet.json");
    assert_eq!((report["ok"].as_u64(), report["failed"].as_u64()), (Some(1000), Some(0)));
    assert_eq!(report["compilations"].as_u64(), Some(2));
    assert!(dir.read("fleet.csv").starts_with("\"run\",\"w0\",\"ok\",\"flight\",\"w1\",\"phi1\"\n"));
    let all = rows(&dir.read("fleet.csv"));
    assert_eq!(all.len(), 1000);
    for row in &all {
        let [_, w0, _, flight, w1, phi1] = row[..] else { panic!("{row:?}") };
        let law = 4.0 * w1 * phi1.sin() / 9.81;
        assert!((flight - law).abs() <= 1e-9 * law, "{row:?}: {law}");
        // Energy and the slack rope, closed form: w1² = w0² - 2g(1 - cos φ1) and w1² = -g cos φ1.
        let cosine = -(w0 * w0 - 2.0 * 9.81) / (3.0 * 9.81);
        assert!((phi1.cos() - cosine).abs() < 1e-9 && (w1 * w1 + 9.81 * cosine).abs() < 1e-8, "{row:?}");
    }
}

/// The results do not depend on the number of threads.
#[test]
fn threads_change_nothing() {
    let dir = Scratch::new("study_threads");
    dir.file("Decay.mo", DECAY);
    let text = |table: &str| {
        format!(
            "[model]\nfiles = ['Decay.mo']\n[vary]\nmethod = 'samples'\nnumber = 300\nseed = 7\n\
             parameters.k = {{ from = 0.1, to = 4 }}\nparameters.a = {{ mean = 1, deviation = 0.1 }}\n\
             [record]\nx = 'x'\nmean = 'mean(x)'\n[output]\ntable = '{table}'\n"
        )
    };
    for (jobs, table) in [("1", "one.csv"), ("3", "three.csv")] {
        run(&["run", &study(&dir, &text(table)), "--quiet", "--jobs", jobs], 0);
    }
    assert_eq!(dir.read("one.csv"), dir.read("three.csv"));
    for row in rows(&dir.read("one.csv")) {
        let [_, k, a, _, x, mean] = row[..] else { panic!("{row:?}") };
        // Closed form: a exp(-k), and its mean a (1 - exp(-k))/k.
        assert!((x - a * (-k).exp()).abs() < 1e-5 && (mean - a * (1.0 - (-k).exp()) / k).abs() < 1e-5, "{row:?}");
    }
}

#[test]
fn a_run_that_fails_does_not_disturb_the_others() {
    let dir = Scratch::new("study_failures");
    dir.file("Decay.mo", DECAY);
    let path = study(
        &dir,
        "[model]\nfiles = ['Decay.mo']\n[vary.parameters]\nk = [6, 1, 7, 2]\n[record]\nx = 'x'\n[output]\ntable = 't.csv'\n",
    );
    let (said, complained) = run(&["run", &path], 3);
    assert!(said.contains("4 runs") && said.contains("2 failed"), "{said}");
    assert!(complained.contains("run 0 with k = 6 failed: ") && complained.contains("too fast"), "{complained}");
    assert!(complained.contains("run 2 with k = 7"), "{complained}");
    let all = rows(&dir.read("t.csv"));
    assert_eq!(all.iter().map(|r| r[2]).collect::<Vec<_>>(), [0.0, 1.0, 0.0, 1.0]);
    assert!(all[0][3].is_nan() && (all[1][3] - (-1.0f64).exp()).abs() < 1e-5);
}

/// The pot of the thesis: 2000 W up to 363.15 K, 200 W down to 353.15 K, up again. C Ṫ = P - G (T - T₀) gives
/// t = C/G ln((P/G - T_a)/(P/G - T_b)) from T_a to T_b above T₀.
#[test]
fn phases_go_on_from_the_last_state() {
    let dir = Scratch::new("study_phases");
    dir.file(
        "Pot.mo",
        "model Pot parameter Real P = 2000, C = 8400, G = 8, T0 = 293.15; Real T(start = T0, fixed = true); \
         equation C*der(T) = P - G*(T - T0); annotation(experiment(StopTime = 2000)); end Pot;\n",
    );
    let path = study(
        &dir,
        "[model]\nfiles = ['Pot.mo']\n[experiment]\ntolerance = 1e-10\n\
         [[phase]]\nuntil = 'T > 363.15'\n\
         [[phase]]\nvalues = { P = '0.1*P' }\nsolver = 'rodas'\nuntil = 'T < 353.15'\n\
         [[phase]]\nvalues = { P = 2000 }\nuntil = 'T > 363.15'\n\
         [[phase]]\nduration = 10\nvalues = { T = 300 }\n\
         [record]\nT = 'T'\nP = 'P'\nhottest = 'max(T)'\n[output]\nreport = 'pot.json'\ntrajectories = 'pot.csv'\n",
    );
    run(&["run", &path, "--quiet"], 0);
    let report = json(&dir, "pot.json");
    let ends: Vec<f64> = report["phase_ends"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
    let time = |p: f64, from: f64, to: f64| 8400.0 / 8.0 * ((p / 8.0 - from) / (p / 8.0 - to)).ln();
    let first = time(2000.0, 0.0, 70.0);
    let second = first + time(200.0, 70.0, 60.0);
    let third = second + time(2000.0, 60.0, 70.0);
    for (end, expected) in ends.iter().zip([first, second, third, third + 10.0]) {
        assert!((end - expected).abs() < 1e-5, "{end} instead of {expected}");
    }
    // The last phase begins at 300 K: 6.85 K and 250 K above T₀ decay to each other.
    let last = 293.15 + 250.0 + (6.85 - 250.0) * (-8.0 / 8400.0 * 10.0f64).exp();
    assert!((report["values"]["T"].as_f64().unwrap() - last).abs() < 1e-6, "{report}");
    assert!((report["values"]["hottest"].as_f64().unwrap() - 363.15).abs() < 1e-6, "{report}");
    // One table without a gap, in which time does not go back.
    let times: Vec<f64> = rows(&dir.read("pot.csv")).iter().map(|r| r[0]).collect();
    assert!(times.windows(2).all(|t| t[0] <= t[1]) && times.len() > 1500);
}

#[test]
fn a_phase_whose_event_does_not_come_says_so() {
    let dir = Scratch::new("study_no_event");
    dir.file("Decay.mo", DECAY);
    let path = study(&dir, "[model]\nfiles = ['Decay.mo']\n[[phase]]\nname = 'wait'\nuntil = 'x < -1'\n");
    let (_, said) = run(&["run", &path], 3);
    assert!(said.contains("phase `wait`: `(x < -1)` did not happen until time 1"), "{said}");
}

/// x(1) = a exp(-k) and the mean of x: two unknowns, two targets. k = 2, a = 3 is what the targets were made of.
#[test]
fn several_parameters_meet_several_targets() {
    let dir = Scratch::new("study_search");
    dir.file("Decay.mo", DECAY);
    let (x, mean) = (3.0 * (-2.0f64).exp(), 3.0 * (1.0 - (-2.0f64).exp()) / 2.0);
    let targets = format!("targets = {{ x = {x}, 'mean(x)' = {mean} }}\n");
    let head = "[model]\nfiles = ['Decay.mo']\n[experiment]\ntolerance = 1e-11\n";
    let unknowns = "parameters.k = { start = 1, min = 0.1, max = 4.5 }\nparameters.a = { start = 1 }\n";
    let path =
        study(&dir, &format!("{head}[search]\n{unknowns}{targets}tolerance = 1e-8\n[output]\nreport = 'r.json'\n"));
    run(&["run", &path, "--quiet"], 0);
    let found = json(&dir, "r.json");
    assert!((found["values"]["k"].as_f64().unwrap() - 2.0).abs() < 1e-6, "{found}");
    assert!((found["values"]["a"].as_f64().unwrap() - 3.0).abs() < 1e-6, "{found}");
    // Least squares: three targets that contradict each other; the best constant a for x(0) = 1, 2 and 6 is their mean.
    let path = study(
        &dir,
        &format!(
            "{head}[search]\nparameters.a = {{ start = 1 }}\ntargets = {{ 'at(x, 0)' = 1, 'at(x, 0) + 0' = 2, 'a' = 6 }}\n\
                  [output]\nreport = 'r.json'\n"
        ),
    );
    run(&["run", &path, "--quiet"], 0);
    let found = json(&dir, "r.json");
    // Residuals count relative to their targets: Σ (a/t - 1)² is smallest at Σ 1/t over Σ 1/t².
    let best = (1.0 + 1.0 / 2.0 + 1.0 / 6.0) / (1.0 + 1.0 / 4.0 + 1.0 / 36.0);
    assert!((found["values"]["a"].as_f64().unwrap() - best).abs() < 1e-6, "{found}");
    // Nothing meets this.
    let path = study(&dir, &format!("{head}[search]\nparameters.a = {{ start = 1 }}\ntargets = {{ 'x^2' = -1 }}\n"));
    let (_, said) = run(&["run", &path], 3);
    assert!(said.contains("no values meet the targets") && said.contains("study.toml:5:1"), "{said}");
}

/// A search at each point of a variation: which start value gives x(1) = 1 for each k? a = exp(k).
#[test]
fn there_is_a_search_at_each_point() {
    let dir = Scratch::new("study_curve");
    dir.file("Decay.mo", DECAY);
    let path = study(
        &dir,
        "[model]\nfiles = ['Decay.mo']\n[experiment]\ntolerance = 1e-11\n[vary.parameters]\nk = [0.5, 1, 2]\n\
         [search]\nparameters.a = { min = 0.1, max = 20 }\ntargets = { x = 1 }\n[output]\ntable = 't.csv'\n",
    );
    run(&["run", &path, "--quiet"], 0);
    for row in rows(&dir.read("t.csv")) {
        let [_, k, _, a] = row[..] else { panic!("{row:?}") };
        assert!((a - f64::exp(k)).abs() < 1e-7 * a, "{row:?}");
    }
}

/// (x(1) - 0.5)² + (a - 2)² is smallest where both vanish: a = 2, k = ln 4.
#[test]
fn an_optimum_within_bounds() {
    let dir = Scratch::new("study_optimum");
    dir.file("Decay.mo", DECAY);
    let path = study(
        &dir,
        "[model]\nfiles = ['Decay.mo']\n[experiment]\ntolerance = 1e-10\n[optimize]\nminimize = '(x - 0.5)^2 + (a - 2)^2'\n\
         parameters.k = { min = 0.1, max = 4 }\nparameters.a = { min = 0.1, max = 9 }\n[output]\nreport = 'r.json'\n",
    );
    run(&["run", &path, "--quiet"], 0);
    let found = json(&dir, "r.json");
    assert!((found["values"]["k"].as_f64().unwrap() - 4.0f64.ln()).abs() < 1e-4, "{found}");
    assert!((found["values"]["a"].as_f64().unwrap() - 2.0).abs() < 1e-4, "{found}");
}

#[test]
fn mistakes_have_line_column_and_advice() {
    let dir = Scratch::new("study_mistakes");
    dir.file("Decay.mo", DECAY);
    let model = "[model]\nfiles = ['Decay.mo']\n";
    let cases = [
        ("[experiment]\nstoptime = 2\n", "E0061", "study.toml:4:1", "did you mean `stop-time`?"),
        (
            "[experiment]\nstop-time = '2'\n",
            "E0062",
            "study.toml:4:13",
            "expected a number for `stop-time`, found the text \"2\"",
        ),
        ("[experiment]\nsolver = 'dopri'\n", "E0062", "study.toml:4:10", "did you mean `dopri5`?"),
        ("[experiment]\ntolerance = 2\n", "E0064", "study.toml:4:13", "between 0 and 1"),
        ("[record]\ny = 'max(xx)'\n", "E0065", "study.toml:4:5", "the model has no variable `xx`"),
        ("[record]\ny = 'max(x'\n", "E0063", "study.toml:4:", "expected `)`, found the end"),
        ("[record]\ny = 'event(x < 3).time'\n", "E0064", "study.toml:4:5", "no relation"),
        ("[record]\ny = 'event(a -> b).time'\n", "E0065", "study.toml:4:5", "state of a machine `a`"),
        ("[vary.parameters]\nk = []\n", "E0064", "study.toml:4:5", "at least one value"),
        ("[vary.parameters]\nk = { from = 1, to = 2, number = 0 }\n", "E0064", "study.toml:4:5", "at least one value"),
        (
            "[vary.parameters]\nk = { from = 1, too = 2, number = 3 }\n",
            "E0061",
            "study.toml:4:17",
            "did you mean `to`?",
        ),
        ("[vary]\n", "E0064", "study.toml:3:1", "expected `parameters`"),
        ("[vary.parameters]\nkk = [1]\n", "E0065", "study.toml:4:1", "parameter `kk`"),
        ("[values]\nb = 1\n", "E0065", "study.toml:4:1", "parameter `b`"),
        ("[search]\nparameters.k = { start = 1 }\n", "E0064", "study.toml:3:1", "at least 1 targets"),
        (
            "[search]\nparameters.k = { min = 3, max = 1 }\ntargets = { x = 1 }\n",
            "E0064",
            "study.toml:4:16",
            "less than",
        ),
        ("[[phase]]\nvalues = { y = 1 }\n", "E0065", "study.toml:4:12", "no variable `y`"),
        ("[[plot]]\nfile = 'a.pdf'\n", "E0064", "study.toml:4:8", ".svg"),
        ("[[plot]]\nfile = 'a.svg'\nx = 'k'\ny = ['z']\n", "E0065", "study.toml:3:1", "column of the table `k`"),
        ("[output\n", "E0060", "study.toml:3:", "cannot be read"),
    ];
    for (text, code, place, message) in cases {
        let (_, said) = run(&["run", &study(&dir, &format!("{model}{text}"))], 2);
        assert!(said.contains(code) && said.contains(place) && said.contains(message), "{text}\n{said}");
    }
    let (_, said) = run(&["run", &study(&dir, "")], 2);
    assert!(said.contains("expected a table `model`"), "{said}");
    run(&["run", &dir.path("nothing.toml")], 1);
    run(&["run"], 2);
}

#[test]
fn the_schema_knows_every_key() {
    let (text, _) = run(&["run", "--schema"], 0);
    let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"]["phase"]["items"]["properties"]["until"]["description"].is_string());
    assert_eq!(schema["properties"]["experiment"]["properties"]["solver"]["enum"][1], "dopri5");
}

/// Which state is active, what has no value, and the bands in a picture.
#[test]
fn results_have_modes_and_gaps() {
    let dir = Scratch::new("study_modes");
    let model = dir.file("LoopingPendulum.mo", PENDULUM);
    for name in ["r.csv", "r.parquet", "r.mat"] {
        run(&["simulate", &model, "LoopingPendulum", "--quiet", "--output", &dir.path(name)], 0);
        let bytes = std::fs::read(dir.path(name)).unwrap();
        let table = Results::read(&bytes, Format::of(std::path::Path::new(name)).unwrap(), "r").unwrap();
        let (mode, x) = (table.values("mode").unwrap(), table.values("flight.x").unwrap());
        for ((t, mode), x) in table.times.iter().zip(mode.iter()).zip(x.iter()) {
            // Times of the two transitions by the closed form, see META.
            let expected = if *t < 0.4844 || *t > 1.2761 { 1.0 } else { 2.0 };
            let is_near = (t - 0.484466).abs() < 1e-4 || (t - 1.276024).abs() < 1e-4;
            assert!(is_near || *mode == expected, "{name} at {t}: {mode}");
            assert_eq!(x.is_nan(), *mode == 1.0, "{name} at {t}");
        }
    }
    run(&["plot", &dir.path("r.parquet"), "circle.phi", "--output", &dir.path("r.svg")], 0);
    let picture = dir.read("r.svg");
    assert!(picture.contains(">circle</text>") && picture.contains(">flight</text>"), "{picture}");
    run(&["plot", &dir.path("r.parquet"), "circle.phi", "--output", &dir.path("r.html")], 0);
    assert!(dir.read("r.html").contains("\"stretches\":[{\"name\":\"mode\""));
    let (said, _) = run(&["explain", &model, "LoopingPendulum", "--configurations"], 0);
    for line in ["configurations visited (2), programs compiled (2)", "  2  flight: 4 states, index 1", "segments (3)"]
    {
        assert!(said.contains(line), "{said}");
    }
}
