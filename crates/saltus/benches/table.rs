//! `cargo bench -p saltus`: one table of what matters, beside a stored baseline.
//!
//! ```text
//! cargo bench -p saltus                      measure and compare with benches/baseline.json
//! cargo bench -p saltus -- --save            measure and store
//! MSL=path cargo bench -p saltus             also models of the Modelica Standard Library
//! ```
//!
//! Each number is the best of several runs: what the machine can do, not what else it was doing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use saltus::pipeline::{self, Engine, Options, Outcome, Stage};
use saltus::{Permissions, Session};
use saltus_base::{FileId, Index, Interner};
use saltus_library::MemoryFiles;
use saltus_program::Activation;
use saltus_sim::trajectory::Statistics;
use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    method: &'static str,
    /// Is a larger number better?
    is_rate: bool,
}

fn main() {
    let baseline_file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/baseline.json");
    let baseline: BTreeMap<String, f64> = std::fs::read_to_string(&baseline_file)
        .ok()
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
        .and_then(|v| v.as_object().map(|o| o.iter().filter_map(|(k, v)| Some((k.clone(), v.as_f64()?))).collect()))
        .unwrap_or_default();
    let mut rows = Vec::new();
    cold_starts(&mut rows);
    parsing(&mut rows);
    compiling(&mut rows);
    derivatives(&mut rows);
    events(&mut rows);
    changes(&mut rows);
    print(&rows, &baseline);
    if std::env::args().any(|a| a == "--save") {
        let all: serde_json::Map<String, Value> = rows.iter().map(|r| (r.name.clone(), json!(r.value))).collect();
        let text = format!("{:#}\n", Value::Object(all));
        std::fs::write(&baseline_file, text).unwrap_or_else(|error| eprintln!("{}: {error}", baseline_file.display()));
    }
}

/// The shortest of several runs.
fn best(n: u32, mut work: impl FnMut()) -> Duration {
    let once = |_| {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    (0..n).map(once).min().unwrap_or_default()
}

/// Process start to written result.
fn cold_starts(rows: &mut Vec<Row>) {
    let data = |name: &str| PathBuf::from(ROOT).join("testdata/simulate").join(name).display().to_string();
    let mut models =
        vec![("bouncing ball", vec![data("BouncingBall.mo")]), ("rectifier", vec![data("IdealRectifier.mo")])];
    if let Ok(library) = std::env::var("MSL") {
        let named = |class: &str| vec![class.to_owned(), "--library".to_owned(), library.clone()];
        models.push(("CoupledClutches", named("Modelica.Mechanics.Rotational.Examples.CoupledClutches")));
        models.push(("FullRobot", named("Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot")));
    }
    let Some(program) = build_program() else {
        eprintln!("the program does not build: no cold starts");
        return;
    };
    let dir = std::env::temp_dir();
    let (output, stats) = (dir.join("saltus-bench.csv"), dir.join("saltus-bench.json"));
    for (name, arguments) in models {
        let run = || {
            let mut command = Command::new(&program);
            command.arg("simulate").args(&arguments).arg("--quiet").arg("--output").arg(&output);
            command.arg("--stats").arg(&stats).env_remove("MODELICAPATH").output()
        };
        let is_good = run().is_ok_and(|o| o.status.success());
        if !is_good {
            continue;
        }
        let time = best(5, || drop(run()));
        let memory = std::fs::read_to_string(&stats).ok().and_then(|t| serde_json::from_str::<Value>(&t).ok());
        let memory = memory.and_then(|v| v["peak_memory_bytes"].as_f64());
        let method = "process start to written result";
        let unit = "ms";
        rows.push(Row { name: format!("cold start: {name}"), value: ms(time), unit, method, is_rate: false });
        if let Some(bytes) = memory {
            let name = format!("peak memory: {name}");
            rows.push(Row { name, value: bytes / 1e6, unit: "MB", method: "of that process", is_rate: false });
        }
    }
}

/// The program of this checkout, built as for users.
fn build_program() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--package", "saltus-cli"]).current_dir(ROOT);
    let is_built = build.status().is_ok_and(|status| status.success());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from(ROOT).join("target"), PathBuf::from);
    is_built.then(|| target.join("release").join("saltus"))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A chain of masses and springs: 2n states, in arrays.
fn chain(n: usize) -> String {
    format!(
        "model Chain
          parameter Real c = 100, d = 0.1;
          Real x[{n}](each start = 1, each fixed = true), v[{n}](each start = 0, each fixed = true), f[{n} + 1];
        equation
          f[1] = -c*x[1];
          for i in 2:{n} loop
            f[i] = c*(x[i - 1] - x[i]);
          end for;
          f[{n} + 1] = 0;
          der(x) = v;
          for i in 1:{n} loop
            der(v[i]) = f[i] - f[i + 1] - d*v[i];
          end for;
        end Chain;"
    )
}

/// The same, each variable declared by itself: position, speed and force of a mass are neighbours.
fn written_out(n: usize) -> String {
    let mut text = String::from("model Chain\n  parameter Real c = 100, d = 0.1;\n");
    for i in 1..=n {
        text += &format!("  Real x{i}(start = {}, fixed = true), v{i}(start = 0, fixed = true), f{i};\n", i % 7);
    }
    text += "equation\n";
    for i in 1..=n {
        let left = if i == 1 { "0".to_owned() } else { format!("x{}", i - 1) };
        text += &format!("  f{i} = c*({left} - x{i});\n  der(x{i}) = v{i};\n");
        let right = if i == n { "0".to_owned() } else { format!("f{}", i + 1) };
        text += &format!("  der(v{i}) = f{i} - {right} - d*v{i};\n");
    }
    text + "end Chain;\n"
}

fn run(text: &str, stage: Stage) -> Outcome {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("Bench.mo", text);
    let Ok(class) = session.class(None) else { return Outcome::default() };
    pipeline::run(&session, class, &Options::until(stage))
}

fn parsing(rows: &mut Vec<Row>) {
    let text = written_out(5000);
    let time = best(5, || {
        let mut names = Interner::new();
        drop(saltus_syntax::parse(FileId::from_usize(0), &text, &mut names));
    });
    let value = text.len() as f64 / 1e6 / time.as_secs_f64();
    rows.push(Row {
        name: "parsing".into(),
        value,
        unit: "MB/s",
        method: "text of 15 000 equations to tree",
        is_rate: true,
    });
}

fn compiling(rows: &mut Vec<Row>) {
    let n = 3000;
    let text = written_out(n);
    let time = best(3, || drop(run(&text, Stage::Compile)));
    let value = 3.0 * n as f64 / time.as_secs_f64();
    let method = "9 000 equations, source to program";
    rows.push(Row { name: "compiling".into(), value, unit: "equations/s", method, is_rate: true });
}

/// The chain as somebody would write it in Rust.
fn by_hand(x: &[f64], dx: &mut [f64], c: f64, d: f64) {
    let n = x.len() / 2;
    let (position, speed) = x.split_at(n);
    let (dposition, dspeed) = dx.split_at_mut(n);
    let mut left_force = c * (0.0 - position[0]);
    for i in 0..n {
        let right_force = if i + 1 == n { 0.0 } else { c * (position[i] - position[i + 1]) };
        dposition[i] = speed[i];
        dspeed[i] = left_force - right_force - d * speed[i];
        left_force = right_force;
    }
}

/// Calls of the derivatives that are timed together.
const CALLS: u32 = 20_000;

fn derivatives(rows: &mut Vec<Row>) {
    let n = 200;
    let mut x: Vec<f64> = (0..2 * n).map(|i| i as f64).collect();
    let mut dx = vec![0.0; x.len()];
    let hand = best(5, || {
        for i in 0..CALLS {
            x[0] = f64::from(i);
            by_hand(std::hint::black_box(&x), &mut dx, std::hint::black_box(100.0), std::hint::black_box(0.1));
            std::hint::black_box(&dx);
        }
    });
    let rate = |time: Duration| f64::from(CALLS) / time.as_secs_f64();
    let row = |name: &str, value, method| Row { name: name.into(), value, unit: "calls/s", method, is_rate: true };
    rows.push(row("derivatives by hand", rate(hand), "400 states in Rust, vectorised by its compiler"));
    let models = [
        ("derivatives", chain(n), "the same in arrays, machine code, states written and read"),
        ("derivatives, written out", written_out(n), "the same without arrays"),
    ];
    for (name, text, method) in models {
        let Some(compiled) = time_of_calls(&text) else { continue };
        rows.push(row(name, rate(compiled), method));
        rows.push(Row {
            name: format!("{name}: time / by hand"),
            value: compiled.as_secs_f64() / hand.as_secs_f64(),
            unit: "times",
            method: "of one call",
            is_rate: false,
        });
    }
}

fn time_of_calls(text: &str) -> Option<Duration> {
    let outcome = run(text, Stage::Compile);
    let model = outcome.model.as_ref()?;
    let program = model.program();
    let mut functions = model.instance(Engine::Jit, Permissions::default());
    let _ = functions.eval(Activation::Parameters);
    let mut x: Vec<f64> = (0..program.states.len()).map(|i| i as f64).collect();
    let mut dx = vec![0.0; x.len()];
    Some(best(5, || {
        for i in 0..CALLS {
            x[0] = f64::from(i);
            functions.set_continuous(0.0, &x);
            let _ = functions.eval(Activation::Derivatives);
            functions.get_derivatives(&mut dx);
        }
    }))
}

fn events(rows: &mut Vec<Row>) {
    let text = "model Saw
        Real x(start = 0, fixed = true);
        discrete Integer n(start = 0, fixed = true);
      equation
        der(x) = 1;
        when x > 1 then reinit(x, 0); n = pre(n) + 1; end when;
        annotation(experiment(StopTime = 20000, Interval = 1000));
      end Saw;";
    rows.push(event_row("events", text, "state events that set a state", |t| t.state_events));
    let text = "model Timer
        discrete Real next(start = 1e-5, fixed = true);
        discrete Integer n(start = 0, fixed = true);
      equation
        when time >= pre(next) then next = pre(next) + 1e-5; n = pre(n) + 1; end when;
        annotation(experiment(StopTime = 1, Interval = 0.1));
      end Timer;";
    rows.push(event_row("time events", text, "100 000 events `time >= pre(next)`", |t| t.time_events));
    let text = "model Balls
        Real h[10](start = {1 + 0.1*i for i in 1:10}, each fixed = true), v[10](each start = 0, each fixed = true);
        discrete Integer k(start = 0, fixed = true);
      equation
        for i in 1:10 loop
          der(h[i]) = v[i];
          der(v[i]) = -9.81;
          when h[i] < 0 then reinit(v[i], -pre(v[i])); end when;
        end for;
        when sum(h) > 8 then k = pre(k) + 1; end when;
        annotation(experiment(StopTime = 300, Interval = 10));
      end Balls;";
    rows.push(event_row("events of ten balls", text, "eleven relations, two states jump at a time", |t| {
        t.state_events
    }));
    let text = "model Thermostats
        Real T[8](start = {17 + 0.1*i for i in 1:8}, each fixed = true);
        Boolean on[8](each start = true, each fixed = true);
      equation
        for i in 1:8 loop
          der(T[i]) = (if on[i] then 2 + 0.01*i else 0) - 0.1*(T[i] - 10);
          on[i] = T[i] < 19 or pre(on[i]) and T[i] < 21;
        end for;
        annotation(experiment(StopTime = 3000, Interval = 100));
      end Thermostats;";
    rows.push(event_row("events of thermostats", text, "sixteen relations, derivatives change", |t| t.state_events));
    let text = "model Sampled
        Real x(start = 1, fixed = true), v(start = 0, fixed = true);
        discrete Real u(start = 0, fixed = true);
        Boolean above = x > 0.5;
      equation
        der(x) = v;
        der(v) = u - x + sin(time);
        when sample(0, 0.01) then u = -2*x - v; end when;
        annotation(experiment(StopTime = 200, Interval = 1));
      end Sampled;";
    rows.push(event_row("samples", text, "a controller that samples two states", |t| t.time_events));
}

/// A clutch that locks and opens 10 000 times: another structure each time, and the same behaviour by `if` and `reinit`.
fn changes(rows: &mut Vec<Row>) {
    let model = |equations: &str| {
        format!(
            "model Clutch
        Real w1(start = 1, fixed = true), w2(start = 0, fixed = true), tau;
        discrete Boolean locked(start = false, fixed = true);
        discrete Real next(start = 1, fixed = true);
      equation
        when time >= pre(next) then next = pre(next) + 1; locked = not pre(locked); end when;
        {equations}
        annotation(experiment(StopTime = 10000.5, Interval = 1000));
      end Clutch;"
        )
    };
    let rigid = "der(w1) = 1 - w1 - tau; 3*der(w2) = tau - w2; if locked then w1 = w2; else tau = 0; end if;";
    let by_hand = "der(w1) = if locked then (1 - w1 - w2)/4 else 1 - w1; der(w2) = if locked then der(w1) else -w2/3;
        tau = 1 - w1 - der(w1);
        when locked then reinit(w1, (w1 + 3*w2)/4); reinit(w2, (w1 + 3*w2)/4); end when;";
    let texts = [("changes of configuration", model(rigid)), ("the same by if and reinit", model(by_hand))];
    for (name, text) in texts {
        let time = best(3, || drop(run(&text, Stage::Simulate)));
        let outcome = run(&text, Stage::Simulate);
        let n_programs = outcome.model.as_ref().map_or(0, |model| model.n_programs());
        let method = if n_programs == 2 { "10 000 of a rigid clutch; 2 programs" } else { "one program" };
        let value = 1e6 * time.as_secs_f64() / 10_000.0;
        rows.push(Row { name: name.into(), value, unit: "µs", method, is_rate: false });
    }
}

fn event_row(name: &str, text: &str, method: &'static str, count: fn(&Statistics) -> u64) -> Row {
    let time = best(3, || drop(run(text, Stage::Simulate)));
    let n = run(text, Stage::Simulate).trajectory.map_or(0, |t| count(&t.statistics));
    Row { name: name.into(), value: n as f64 / time.as_secs_f64(), unit: "events/s", method, is_rate: true }
}

fn print(rows: &[Row], baseline: &BTreeMap<String, f64>) {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    println!("{} {}, {cores} cores, {}", std::env::consts::OS, std::env::consts::ARCH, processor());
    println!("{:34} {:>14} {:12} {:>10}  method", "", "now", "", "baseline");
    for Row { name, value, unit, method, is_rate } in rows {
        let change = match baseline.get(name) {
            Some(old) if *old > 0.0 => {
                let better = if *is_rate { value / old } else { old / value };
                format!("{:+.0} %", 100.0 * (better - 1.0))
            }
            _ => "–".to_owned(),
        };
        let value = if *value < 1000.0 { format!("{value:.1}") } else { format!("{value:.0}") };
        println!("{name:34} {value:>14} {unit:12} {change:>10}  {method}");
    }
    println!("(+ is better than the baseline)");
}

/// The name of the processor, where Linux tells.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("model name"));
    line.and_then(|l| l.split(':').nth(1)).map_or("unknown processor".to_owned(), |n| n.trim().to_owned())
}
