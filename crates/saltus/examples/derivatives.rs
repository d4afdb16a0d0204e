//! Compares directional derivatives of models with differences: one line for each class.
//!
//! ```sh
//! cargo run --example derivatives -- [--library DIR] [--time-limit SECONDS] [--file FILE] [--seed N] CLASS…
//! ```

use std::path::PathBuf;
use std::time::Duration;

use saltus::derivatives::{Comparison, Entry, Limit, Limits, compare};
use saltus::pipeline::{self, Engine, Experiment, Options, Stage};
use saltus::{Session, guard};
use saltus_program::Stopwatch;
use saltus_sim::Simulation;

fn main() {
    if let Err(internal) = guard::on_large_stack(all) {
        println!("{}", internal.message);
    }
}

fn all() {
    let mut session = Session::on_disk();
    let mut classes = Vec::new();
    let mut time_limit = 60.0;
    let mut seed = 0;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--library" => session.add_library(&PathBuf::from(arguments.next().unwrap_or_default())),
            "--file" => session.load_file(&PathBuf::from(arguments.next().unwrap_or_default())),
            "--time-limit" => time_limit = arguments.next().and_then(|t| t.parse().ok()).unwrap_or(time_limit),
            "--seed" => seed = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(seed),
            _ => classes.push(argument),
        }
    }
    for class in &classes {
        match run(&session, class, time_limit, seed) {
            Ok(found) => {
                found.wrong.iter().for_each(|entry| println!("{}", wrong(entry)));
                println!("{}", line(class, &found));
            }
            Err(why) => println!("{class}: {why}"),
        }
    }
}

fn run(session: &Session, class: &str, time_limit: f64, seed: u64) -> Result<Comparison, String> {
    let id = session.class(Some(class)).map_err(|_| "no such class".to_owned())?;
    let outcome = pipeline::run(session, id, &Options::until(Stage::Compile));
    let model = outcome.model.ok_or("does not compile")?;
    let settings = Experiment::default().settings(model.program());
    let begin = || {
        let mut simulation = Simulation::new(model.instance(Engine::Auto, session.permissions()), settings.clone());
        if let Some(maker) = model.configurations(Engine::Auto, session.permissions(), &Stopwatch::default()) {
            simulation.set_configurations(maker);
        }
        simulation
    };
    Ok(compare(&begin, Duration::from_secs_f64(time_limit), seed))
}

fn wrong(entry: &Entry) -> String {
    let side = |limit: Limit| format!("{:.9e} ± {:.0e}", limit.value, limit.error);
    let Limits { central, right, left } = entry.limits;
    format!(
        "  {}, t = {}: {:.9e}, differences: {}, right {}, left {}",
        entry.name,
        entry.time,
        entry.exact,
        side(central),
        side(right),
        side(left)
    )
}

fn line(class: &str, found: &Comparison) -> String {
    let verdict = if !found.wrong.is_empty() {
        "WRONG"
    } else if found.without > 0 {
        "without"
    } else {
        "ok"
    };
    let at = found.worst_at.as_ref().map_or_else(String::new, |(name, t)| format!(" at {name}, t = {t}"));
    let differences = match found.statistics.difference_functions.as_slice() {
        [] => String::new(),
        functions => format!("; differences of {} calls: {}", found.statistics.difference_calls, functions.join(", ")),
    };
    let because = found.without_because.map_or_else(String::new, |(why, t)| format!(" ({why:?} at t = {t})"));
    format!(
        "{class}: {verdict}; {} points, {} without{because}; {} compared, {} of them at kinks, {} unclear, {} wrong; worst {:.1e}{at}{differences}",
        found.points,
        found.without,
        found.compared,
        found.kinks,
        found.unclear,
        found.wrong.len(),
        found.worst
    )
}
