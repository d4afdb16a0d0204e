//! `saltus watch M`: checks a model again whenever one of its files changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use saltus::Session;

use crate::target::Target;
use crate::{Exit, Screen};

/// How often the files are looked at.
const PAUSE: Duration = Duration::from_millis(30);

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  saltus watch Ball.mo\n  saltus watch Motors.Examples.Start --library libraries")]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// End after so many checks.
    #[arg(long, value_name = "N", hide = true)]
    rounds: Option<usize>,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let Some((mut session, class)) = arguments.target.open_class() else {
        // Says what is wrong with the command line or the files.
        return arguments
            .target
            .run(saltus::pipeline::Options::until(saltus::pipeline::Stage::Check), screen)
            .map(|_| Exit::ModelError);
    };
    let name = session.library().qualified_name(class);
    let mut n_rounds = 0;
    loop {
        let (is_right, files) = check(&session, &name, screen);
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
