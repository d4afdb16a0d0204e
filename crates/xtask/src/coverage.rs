//! `saltus check` and `saltus explain` on every model with published reference results, each in a process of its own.
//!
//! In: a library directory and a checkout of the reference results (only `creation.txt` and file names are read).
//! Out: `docs/coverage.md`, and with `--out` one JSON object a model. A run is *ok* when the process exits with 0
//! within the limits of time and memory and reports as many equations as unknowns. A model that is ok *sorts* when the back
//! end makes a program of it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::report;

#[derive(clap::Args)]
pub struct Options {
    /// The directory that contains the library packages.
    #[arg(long)]
    pub library: PathBuf,
    /// A checkout of the reference results.
    #[arg(long)]
    pub reference: Option<PathBuf>,
    /// Run only the models named in this file, one a line.
    #[arg(long)]
    pub list: Option<PathBuf>,
    /// Run only models whose name contains this text.
    #[arg(long, default_value = "")]
    pub filter: String,
    /// Write one JSON object a model to this file.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Where the report goes; with --list or --filter it is written only if given.
    #[arg(long)]
    pub report: Option<PathBuf>,
    /// The program to run instead of a fresh release build.
    #[arg(long)]
    pub saltus: Option<PathBuf>,
    /// Processes at a time.
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Seconds a model may take.
    #[arg(long, default_value_t = 10.0)]
    pub time_limit: f64,
    /// Megabytes a model may take.
    #[arg(long, default_value_t = 1000)]
    pub memory_limit: u64,
}

/// Address space the process may reserve without touching it: the stack of its main thread and malloc arenas.
const RESERVED_MEGABYTES: u64 = 700;

/// What became of one model.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub model: String,
    pub ok: bool,
    /// First error line, or why the process ended; empty when ok.
    pub reason: String,
    /// Source position of the first error.
    pub place: String,
    pub seconds: f64,
    pub peak_megabytes: Option<f64>,
    pub equations: Option<u64>,
    /// The back end makes a program of it; none if it was not asked.
    pub sorts: Option<bool>,
    /// Why it does not sort.
    pub sort_reason: String,
}

impl Outcome {
    pub fn to_json(&self) -> Value {
        json!({
            "model": self.model, "ok": self.ok, "reason": self.reason, "place": self.place,
            "seconds": (self.seconds * 1e4).round() / 1e4, "peak_megabytes": self.peak_megabytes,
            "equations": self.equations, "sorts": self.sorts, "sort_reason": self.sort_reason,
        })
    }
}

pub fn run(root: &Path, options: &Options) -> Result<()> {
    let models = models(options)?;
    if models.is_empty() {
        bail!("no model to run: expected directories with a .csv below --reference, or a --list");
    }
    let saltus = match &options.saltus {
        Some(path) => path.clone(),
        None => build(root)?,
    };
    let scratch = std::env::temp_dir().join(format!("saltus-coverage-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let outcomes = run_all(&models, &saltus, options, &scratch);
    fs::remove_dir_all(&scratch)?;
    let outcomes = outcomes?;
    if let Some(path) = &options.out {
        let lines: String = outcomes.iter().map(|o| format!("{}\n", o.to_json())).collect();
        fs::write(path, lines)?;
    }
    print!("{}", report::summary(&outcomes));
    let is_complete = options.list.is_none() && options.filter.is_empty();
    let target = options.report.clone().or(is_complete.then(|| root.join("docs/coverage.md")));
    if let Some(path) = target {
        fs::write(&path, report::markdown(&outcomes, options))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

fn models(options: &Options) -> Result<Vec<String>> {
    let mut names = Vec::new();
    if let Some(list) = &options.list {
        let text = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
        names.extend(text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).map(String::from));
    } else if let Some(reference) = &options.reference {
        collect_models(reference, reference, &mut names)?;
    }
    names.retain(|name| name.contains(&options.filter));
    names.sort();
    Ok(names)
}

/// A directory with a `.csv` file is a reference result; `creation.txt` names its model, or else the path does.
fn collect_models(root: &Path, dir: &Path, names: &mut Vec<String>) -> Result<()> {
    let mut has_csv = false;
    let mut creation = None;
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != ".git" {
                collect_models(root, &path, names)?;
            }
        } else if entry.file_name() == "creation.txt" {
            creation = Some(path);
        } else if path.extension().is_some_and(|e| e == "csv") {
            has_csv = true;
        }
    }
    if has_csv {
        let log = creation.map(fs::read).transpose()?;
        let named = log.and_then(|log| model_name(&String::from_utf8_lossy(&log)));
        names.extend(named.or_else(|| path_name(root, dir)));
    }
    Ok(())
}

/// `A/B/C` below the root holds the results of `A.B.C`.
fn path_name(root: &Path, dir: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = dir.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("."))
}

/// The quoted text behind `modelName =`.
fn model_name(creation: &str) -> Option<String> {
    let rest = creation.split_once("modelName")?.1.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    Some(rest.split_once('"')?.0.to_string())
}

pub fn build(root: &Path) -> Result<PathBuf> {
    let status = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["build", "--release", "--package", "saltus-cli"])
        .current_dir(root)
        .status()?;
    if !status.success() {
        bail!("the release build failed");
    }
    let this = std::env::current_exe()?;
    let target = this.ancestors().nth(2).context("xtask does not run from a target directory")?;
    Ok(target.join("release").join("saltus"))
}

fn run_all(models: &[String], saltus: &Path, options: &Options, scratch: &Path) -> Result<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let started = Instant::now();
    let failure = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1))
            .map(|worker| {
                let (next, done) = (&next, &done);
                scope.spawn(move || -> Result<()> {
                    let files = Scratch::new(scratch, worker);
                    while let Some(model) = models.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let outcome = run_one(model, saltus, options, &files)?;
                        let mut done = done.lock().unwrap_or_else(|e| e.into_inner());
                        done.push(outcome);
                        progress(&done, models.len(), started);
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().filter_map(|w| w.join().ok()?.err()).next()
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let mut outcomes = done.into_inner().unwrap_or_else(|e| e.into_inner());
    outcomes.sort_by(|a, b| a.model.cmp(&b.model));
    Ok(outcomes)
}

fn progress(done: &[Outcome], total: usize, started: Instant) {
    if done.len().is_multiple_of(100) {
        let n_ok = done.iter().filter(|o| o.ok).count();
        eprintln!("{}/{total} run, {n_ok} ok, {:.1} s", done.len(), started.elapsed().as_secs_f64());
    }
}

/// The files one worker uses for the output of its processes.
struct Scratch {
    stdout: PathBuf,
    stderr: PathBuf,
    stats: PathBuf,
}

impl Scratch {
    fn new(dir: &Path, worker: usize) -> Self {
        let file = |what: &str| dir.join(format!("{worker}.{what}"));
        Self { stdout: file("stdout"), stderr: file("stderr"), stats: file("stats") }
    }
}

/// How one process ended.
struct Ended {
    /// First error line, or why the process ended; empty if it succeeded.
    reason: String,
    place: String,
    seconds: f64,
    stats: Value,
}

fn run_one(model: &str, saltus: &Path, options: &Options, files: &Scratch) -> Result<Outcome> {
    let Ended { mut reason, mut place, seconds, stats } = run_process("check", model, saltus, options, files)?;
    let peak_megabytes = stats["peak_memory_bytes"].as_f64().map(|b| (b / 1e5).round() / 10.0);
    if reason.is_empty() && peak_megabytes.is_some_and(|m| m > options.memory_limit as f64) {
        reason = format!("over the memory limit of {} MB", options.memory_limit);
        place.clear();
    }
    if reason.is_empty() && (stats["equations"].is_null() || stats["equations"] != stats["unknowns"]) {
        reason = format!("not balanced: {} equations, {} unknowns", stats["equations"], stats["unknowns"]);
    }
    let ok = reason.is_empty();
    let sorted = if ok { Some(run_process("explain", model, saltus, options, files)?) } else { None };
    let (sorts, sort_reason) = match sorted {
        Some(ended) => (Some(ended.reason.is_empty()), ended.reason),
        None => (None, String::new()),
    };
    let equations = stats["equations"].as_u64();
    Ok(Outcome { model: model.into(), ok, reason, place, seconds, peak_megabytes, equations, sorts, sort_reason })
}

fn run_process(command: &str, model: &str, saltus: &Path, options: &Options, files: &Scratch) -> Result<Ended> {
    let _ = fs::remove_file(&files.stats);
    let limit = (options.memory_limit + RESERVED_MEGABYTES) * 1000;
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -c 0; ulimit -v {limit}; exec \"$0\" \"$@\""))
        .arg(saltus)
        .args([command, model, "--library"])
        .arg(&options.library)
        .arg("--stats")
        .arg(&files.stats)
        .stdin(Stdio::null())
        .stdout(File::create(&files.stdout)?)
        .stderr(File::create(&files.stderr)?)
        .spawn()
        .with_context(|| format!("cannot start {}", saltus.display()))?;
    let started = Instant::now();
    let status = wait(&mut child, Duration::from_secs_f64(options.time_limit))?;
    let seconds = started.elapsed().as_secs_f64();
    let stderr = String::from_utf8_lossy(&fs::read(&files.stderr)?).into_owned();
    let stats: Value = fs::read(&files.stats).ok().and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or(Value::Null);
    let (reason, place) = match status {
        None => (format!("over the time limit of {} s", options.time_limit), String::new()),
        Some(status) if status.success() => Default::default(),
        Some(status) => first_error(&stderr, status),
    };
    let library = options.library.display().to_string();
    Ok(Ended { reason: reason.replace(&library, "LIBRARY"), place: place.replace(&library, "LIBRARY"), seconds, stats })
}

/// Waits at most `limit`; `None` when the process had to be ended.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The first error message and its place in what the process printed.
fn first_error(stderr: &str, status: ExitStatus) -> (String, String) {
    let mut lines = stderr.lines();
    let by_bug = ["memory allocation of", "has overflowed its stack", "panicked at"];
    if let Some(line) = stderr.lines().find(|l| by_bug.iter().any(|b| l.contains(b))) {
        return (line.trim().to_string(), String::new());
    }
    if let Some(line) = lines.by_ref().find(|l| l.starts_with("error")) {
        let arrow = lines.next().and_then(|l| l.trim_start().strip_prefix("--> "));
        return (line.to_string(), arrow.unwrap_or("").to_string());
    }
    let last = stderr.lines().last().unwrap_or("");
    (format!("{status}: {last}").trim_end_matches(": ").to_string(), String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_name_is_found_in_the_creation_log() {
        let text = "[ResultCreationLog]\nmodelName=\"Modelica.Blocks.Examples.A\"\n\nStopTime=6";
        assert_eq!(model_name(text).as_deref(), Some("Modelica.Blocks.Examples.A"));
        assert_eq!(model_name("modelName = \"B\""), Some("B".into()));
        assert_eq!(model_name("StopTime=6"), None);
    }

    #[test]
    fn without_a_log_the_path_is_the_name() {
        let name = path_name(Path::new("ref"), Path::new("ref/ModelicaTest/Math/A"));
        assert_eq!(name.as_deref(), Some("ModelicaTest.Math.A"));
    }

    #[test]
    fn the_first_error_has_a_place() {
        let text = "warning[W0701]: w\n --> a.mo:1:1\nerror[E0201]: no `x`\n --> b.mo:2:3\n  |\n";
        let (reason, place) = first_error(text, ExitStatus::default());
        assert_eq!((reason.as_str(), place.as_str()), ("error[E0201]: no `x`", "b.mo:2:3"));
    }
}
