//! `cargo xtask derivatives`: directional derivatives of library models against differences, each model in a process of its own.
//!
//! In: a library directory and names of models. Out: one line a model, as `crates/saltus/examples/derivatives.rs` writes it, and
//! how many agree, how many do not, in how many a call is differentiated by differences.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

#[derive(clap::Args)]
pub struct Options {
    /// The directory that contains the library packages.
    #[arg(long)]
    library: PathBuf,
    /// A file with names of models, one a line.
    #[arg(long)]
    list: Option<PathBuf>,
    /// Names of models.
    models: Vec<String>,
    /// The program to run instead of a fresh release build of the example `derivatives`.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Seconds a model may take.
    #[arg(long, default_value_t = 120.0)]
    time_limit: f64,
}

pub fn run(root: &Path, options: &Options) -> Result<()> {
    let mut models = options.models.clone();
    if let Some(list) = &options.list {
        let text = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
        models.extend(text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).map(String::from));
    }
    if models.is_empty() {
        bail!("no model to run: expected names or a --list");
    }
    let program = match &options.program {
        Some(path) => path.clone(),
        None => build(root)?,
    };
    let lines: Vec<String> = models.iter().map(|model| compare(&program, model, options)).collect::<Result<_>>()?;
    let count = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    println!(
        "{} models: {} agree, {} do not, {} have points without derivatives, {} use differences of calls, {} did not run",
        lines.len(),
        count(": ok;"),
        count(": WRONG;"),
        count(": without;"),
        count("; differences of"),
        lines.iter().filter(|line| !line.contains(" points, ")).count(),
    );
    Ok(())
}

fn build(root: &Path) -> Result<PathBuf> {
    let arguments = ["build", "--release", "--package", "saltus", "--example", "derivatives"];
    let built = Command::new("cargo").args(arguments).current_dir(root).status()?;
    if !built.success() {
        bail!("the build failed");
    }
    Ok(root.join("target/release/examples/derivatives"))
}

/// Runs one model and prints its line.
fn compare(program: &Path, model: &str, options: &Options) -> Result<String> {
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(["--time-limit", &(options.time_limit / 3.0).to_string(), "--library"])
        .arg(&options.library)
        .arg(model)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let has_ended = loop {
        if child.try_wait()?.is_some() {
            break true;
        }
        if started.elapsed().as_secs_f64() > options.time_limit {
            child.kill()?;
            break false;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = match text.lines().last() {
        Some(line) if has_ended => line.to_owned(),
        _ if has_ended => format!("{model}: ended without a word"),
        _ => format!("{model}: stopped after the time limit"),
    };
    println!("{line}");
    Ok(line)
}
