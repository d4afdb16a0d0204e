//! `saltus watch M`: checks a model again whenever one of its files changes, and runs it again if that is wanted.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use saltus::pipeline::{self, Options, Stage, Stoppable};
use saltus::{Session, results};
use saltus_program::State;

use crate::summary::{duration, short};
use crate::target::Target;
use crate::{Exit, Screen, progress, system_clock};

/// How often the files are looked at.
const PAUSE: Duration = Duration::from_millis(30);
/// States whose last values are shown.
const MOST_STATES: usize = 6;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus watch Ball.mo\n  saltus watch Ball.mo --simulate\n  saltus watch Motors.Examples.Start --library libraries"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Run the model, too, with its own experiment, and say where its states end.
    #[arg(long)]
    simulate: bool,
    /// End after so many checks.
    #[arg(long, value_name = "N", hide = true)]
    rounds: Option<usize>,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let Some((mut session, class)) = arguments.target.open_class() else {
        // Says what is wrong with the command line or the files.
        return arguments.target.run(Options::until(Stage::Check), screen).map(|_| Exit::ModelError);
    };
    let name = session.library().qualified_name(class);
    let mut n_rounds = 0;
    loop {
        let (mut is_right, files) = check(&session, &name, screen);
        if is_right && arguments.simulate {
            is_right = simulate(&session, &name, screen);
        }
        n_rounds += 1;
        if arguments.rounds.is_some_and(|rounds| n_rounds >= rounds) {
            return Ok(if is_right { Exit::Success } else { Exit::ModelError });
        }
        wait(&mut session, &files);
    }
}

/// Checks once; gives the files that the answer depends on.
fn check(session: &Session, name: &str, screen: &Screen) -> (bool, Vec<PathBuf>) {
    let started = Instant::now();
    let report = session.check(name);
    let files = report.flattening().map(|f| f.files().map(PathBuf::from).collect()).unwrap_or_default();
    if let Some(sources) = report.sources() {
        screen.show_all(&report.diagnostics, sources);
    }
    let verdict = match (&report.balance, report.has_errors()) {
        (_, true) => format!("{} errors", report.diagnostics.n_errors()),
        (Some(balance), false) => format!("{} equations, {} unknowns", balance.equations, balance.unknowns),
        (None, false) => "in order".to_owned(),
    };
    screen.say(&format!("Class {name}: {verdict} ({} ms)", started.elapsed().as_millis()));
    (!report.has_errors(), files)
}

/// Runs once, until Ctrl-C at the longest.
fn simulate(session: &Session, name: &str, screen: &Screen) -> bool {
    let Some(class) = session.library().find(name) else { return false };
    let options = Options { stopwatch: system_clock::stopwatch(), ..Options::until(Stage::Simulate) };
    let outcome = pipeline::run_with(session, class, &options, &mut Stoppable(progress::interrupt_flag()));
    session.with_sources(|sources| screen.show_all(&outcome.diagnostics, sources));
    if let (Some(trajectory), Some(program)) = (&outcome.trajectory, outcome.program()) {
        let table = results::of(program, trajectory, &|_| true);
        let last = |state: &State| {
            let name = program.memory.slot_name(state.value);
            let value = table.signal(&name).and_then(|signal| table.values_of(signal).last().copied())?;
            Some(format!("{name} = {}", short(value)))
        };
        let states: Vec<String> = program.states.iter().filter_map(last).take(MOST_STATES).collect();
        let took = outcome.timings.iter().find(|(stage, _)| *stage == "simulate").map(|(_, time)| *time);
        screen.say(&format!(
            "  until {} s in {}: {} steps, {} events; {}",
            short(table.times.last().copied().unwrap_or(f64::NAN)),
            duration(took.unwrap_or_default()),
            trajectory.statistics.steps,
            trajectory.statistics.events,
            states.join(", ")
        ));
    }
    !outcome.failed_at_run_time && !outcome.has_errors()
}

/// Waits until a file changes, and tells the session.
fn wait(session: &mut Session, files: &[PathBuf]) {
    let stamp = |path: &PathBuf| fs::metadata(path).and_then(|known| known.modified()).ok();
    let stamps: BTreeMap<&PathBuf, Option<SystemTime>> = files.iter().map(|path| (path, stamp(path))).collect();
    loop {
        std::thread::sleep(PAUSE);
        let changed: Vec<&&PathBuf> =
            stamps.iter().filter(|(path, was)| stamp(path) != **was).map(|(path, _)| path).collect();
        if !changed.is_empty() {
            changed.iter().for_each(|path| session.reload(path));
            return;
        }
    }
}
