//! `saltus test [DIR|FILE|CLASS]…`: every model with an experiment, compared with references.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use saltus::suite::{self, Status, Suite, Verdict};
use saltus::{Session, diagnostics};
use saltus_library::ClassId;
use saltus_results::Tube;
use serde_json::{Value, json};

use crate::progress::{self, Bar};
use crate::summary::duration;
use crate::{Exit, Screen, files, report, target};

const EXAMPLES: &str = "\
Examples:
  saltus test MyLibrary                                   all models of a package with an experiment annotation
  saltus test MyLibrary --reference results --report report.html
  saltus test Motors.Examples --library libraries --reference results --save today.jsonl
  saltus test MyLibrary --reference results --baseline main.jsonl

The reference of P.Examples.Ball is P/Examples/Ball/*.csv, P/Examples/Ball.csv or P.Examples.Ball.csv below the directory (.mat and
.parquet as well). Exit code: 0 if every model runs and agrees, else 1; with --baseline 1 only if something got worse.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Directories, files or classes whose models are run.
    #[arg(required = true, value_name = "DIR|FILE|CLASS")]
    names: Vec<String>,
    /// A directory that contains packages, or a package; searched before MODELICAPATH.
    #[arg(long, value_name = "DIR")]
    library: Vec<PathBuf>,
    /// Compare with the results in this directory.
    #[arg(long, value_name = "DIR")]
    reference: Option<PathBuf>,
    /// Half the width of the tube, as a part of a signal's size and of the time span.
    #[arg(long, value_name = "PART", default_value_t = 2e-3)]
    tube: f64,
    /// Run only models whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write a page with all results and pictures of the differences.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write one JSON object a model, for a later --baseline.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Say what changed since an earlier --save.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Give a simulation up after this time on the wall.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    time_limit: f64,
    /// Threads; otherwise as many as there are cores.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Print no progress and only the last line.
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let baseline = arguments.baseline.as_deref().map(|path| read_baseline(path, screen)).transpose()?;
    let paths: Vec<PathBuf> = arguments.names.iter().map(PathBuf::from).filter(|p| p.exists()).collect();
    let sources = Sources::of(&paths, &arguments.library, screen)?;
    let session = sources.open();
    let mut roots = sources.roots(&session);
    for name in arguments.names.iter().filter(|n| !Path::new(n).exists()) {
        roots.push(session.class(Some(name)).map_err(|error| screen.fail(&error))?);
    }
    let mut classes = suite::experiments(session.library(), &roots);
    if let Some(text) = &arguments.filter {
        classes.retain(|c| c.contains(text.as_str()));
    }
    drop(session);
    if classes.is_empty() {
        return Err(screen.fail(&diagnostics::no_experiments()));
    }
    let jobs = arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    let stop = progress::interrupt_flag();
    let suite = Suite {
        open: &|| sources.open(),
        reference: arguments.reference.as_deref(),
        tube: Tube { relative: arguments.tube, ..Tube::default() },
        time_limit: Some(Duration::from_secs_f64(arguments.time_limit.clamp(1e-3, 1e9))),
        jobs,
        stop: &stop,
    };
    let bar = Mutex::new(Bar::new(!arguments.quiet && !screen.json));
    let show = |done: usize| {
        if let Ok(mut bar) = bar.try_lock() {
            bar.show_count(done, classes.len(), "models");
        }
    };
    let started = Instant::now();
    let verdicts = suite.run(&classes, &show);
    drop(bar);
    let took = started.elapsed();
    let changes = baseline.map(|old| changes(&old, &verdicts));
    if !arguments.quiet {
        describe(&verdicts, changes.as_deref(), screen);
    }
    if let Some(path) = &arguments.save {
        let lines: String = verdicts.iter().map(|v| format!("{}\n", to_json(v))).collect();
        target::write(path, &lines, screen)?;
    }
    if let Some(path) = &arguments.report {
        let page = report::page(&verdicts, changes.as_deref(), suite.tube, took);
        target::write(path, &page, screen)?;
    }
    screen.say(&format!("{} in {}", counts(&verdicts), duration(took)));
    let is_good = match &changes {
        Some(changes) => !changes.iter().any(|c| c.is_worse()),
        None => verdicts.iter().all(|v| v.status.is_good()),
    };
    Ok(if is_good { Exit::Success } else { Exit::ModelError })
}

/// What every thread loads.
struct Sources {
    libraries: Vec<PathBuf>,
    files: Vec<PathBuf>,
    /// Names of packages that are directories.
    packages: Vec<String>,
}

impl Sources {
    fn of(paths: &[PathBuf], libraries: &[PathBuf], screen: &Screen) -> Result<Sources, Exit> {
        let mut sources = Sources { libraries: libraries.to_vec(), files: Vec::new(), packages: Vec::new() };
        for path in paths {
            let is_package = path.join("package.mo").is_file();
            match path.canonicalize().ok().filter(|_| is_package) {
                Some(full) => {
                    let name = full.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
                    // A directory may be named with its version, `Library 1.0`.
                    sources.packages.push(name.split(' ').next().unwrap_or("").to_owned());
                    sources.libraries.push(path.clone());
                }
                None => {
                    let found = files::modelica_files(std::slice::from_ref(path));
                    sources.files.extend(found.map_err(|error| screen.fail(&error))?);
                }
            }
        }
        Ok(sources)
    }

    fn open(&self) -> Session {
        let mut session = Session::on_disk();
        self.libraries.iter().for_each(|dir| session.add_library(dir));
        if let Some(path) = std::env::var_os("MODELICAPATH") {
            session.add_modelica_path(&path.to_string_lossy());
        }
        self.files.iter().for_each(|file| session.load_file(file));
        session
    }

    fn roots(&self, session: &Session) -> Vec<ClassId> {
        let packages = self.packages.iter().filter_map(|name| session.library().find(name));
        session.own_classes().iter().copied().chain(packages).collect()
    }
}

/// A model whose status is not what it was.
pub struct Change {
    pub class: String,
    pub before: Status,
    pub now: Status,
}

impl Change {
    pub fn is_worse(&self) -> bool {
        self.now < self.before
    }
}

fn read_baseline(path: &Path, screen: &Screen) -> Result<HashMap<String, Status>, Exit> {
    let text = files::read(path).map_err(|error| screen.fail(&error))?;
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some((value["model"].as_str()?.to_owned(), Status::from_name(value["status"].as_str()?)?))
    };
    Ok(text.lines().filter_map(line).collect())
}

fn changes(old: &HashMap<String, Status>, verdicts: &[Verdict]) -> Vec<Change> {
    let change = |v: &Verdict| {
        let before = *old.get(&v.class)?;
        (before != v.status).then(|| Change { class: v.class.clone(), before, now: v.status })
    };
    verdicts.iter().filter_map(change).collect()
}

fn to_json(verdict: &Verdict) -> Value {
    json!({
        "model": verdict.class,
        "status": verdict.status.name(),
        "seconds": (verdict.time.as_secs_f64() * 1e3).round() / 1e3,
        "message": verdict.message,
    })
}

pub fn counts(verdicts: &[Verdict]) -> String {
    let mut parts = vec![format!("{} models", verdicts.len())];
    for status in Status::ALL {
        let n = verdicts.iter().filter(|v| v.status == status).count();
        if n > 0 {
            parts.push(format!("{n} {}", status.name()));
        }
    }
    parts.join(", ")
}

/// A table of the packages, then what is not good, then what changed.
fn describe(verdicts: &[Verdict], changes: Option<&[Change]>, screen: &Screen) {
    let mut packages: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for verdict in verdicts {
        let package = verdict.class.rsplit_once('.').map_or("", |(package, _)| package);
        let place = Status::ALL.iter().position(|s| *s == verdict.status).unwrap_or(0);
        packages.entry(package).or_default()[place] += 1;
    }
    let width = packages.keys().map(|p| p.chars().count()).max().unwrap_or(0).max(7);
    let head: Vec<String> = Status::ALL.iter().map(|s| format!("{:>9}", s.name())).collect();
    screen.say(&format!("{:width$} {}", "package", head.join(" ")));
    for (package, counts) in &packages {
        let cells: Vec<String> =
            counts.iter().map(|n| if *n == 0 { format!("{:>9}", "·") } else { format!("{n:>9}") }).collect();
        screen.say(&format!("{package:width$} {}", cells.join(" ")));
    }
    for verdict in verdicts.iter().filter(|v| !v.status.is_good()) {
        let message = verdict.message.as_deref().unwrap_or("");
        screen.say(&format!("{:9} {}: {message}", verdict.status.name(), verdict.class));
    }
    for change in changes.unwrap_or_default() {
        let word = if change.is_worse() { "WORSE" } else { "better" };
        screen.say(&format!("{word:6} {}: {} before, {} now", change.class, change.before.name(), change.now.name()));
    }
}
