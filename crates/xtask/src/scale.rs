//! How the cost of compiling grows with the size of a model: `cargo xtask scale`.
//!
//! In: the models of `testdata/scale`, whose parameter `n` sets their size. Out: a table of equations, seconds of each stage and
//! microseconds per equation from the flat model to the program, with their growth from one line to the next. Seconds are
//! those of a processor where the system tells, so that a busy machine does not matter much. The peak memory includes
//! the printed description.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

#[derive(clap::Args)]
pub struct Options {
    /// The program to measure, a release build.
    #[arg(long)]
    pub saltus: PathBuf,
    /// Runs of each model, of which the fastest counts.
    #[arg(long, default_value_t = 3)]
    pub repeat: u32,
}

/// File, class and the sizes that make about a thousand, ten thousand and a hundred thousand equations.
const MODELS: [(&str, &str, [u32; 3]); 2] =
    [("RcChain.mo", "RcChain.Chain", [83, 833, 8333]), ("DiodeGrid.mo", "DiodeGrid.Grid", [9, 27, 86])];

/// Stages from the flat model to the program.
const BACK_END: [&str; 2] = ["sort", "emit"];

pub fn run(root: &Path, options: &Options) -> Result<()> {
    println!(
        "{:16} {:>9} {:>9} {:>9} {:>9} {:>10} {:>7} {:>8}",
        "model", "equations", "flatten", "check", "back end", "µs/equation", "growth", "peak MB"
    );
    for (file, class, sizes) in MODELS {
        let mut before: Option<f64> = None;
        for n in sizes {
            let stats = measure(root, options, file, class, n)?;
            let seconds = |stage: &str| stage_seconds(&stats, stage).unwrap_or(f64::NAN);
            let back_end: f64 = BACK_END.iter().map(|stage| seconds(stage)).sum();
            let equations = stats["equations"].as_f64().unwrap_or(f64::NAN);
            let each = 1e6 * back_end / equations;
            let growth = before.map_or(String::new(), |b| format!("{:.2}", each / b));
            let peak = stats["peak_memory_bytes"].as_f64().unwrap_or(f64::NAN) / 1e6;
            println!(
                "{class:16} {equations:9} {:8.3}s {:8.3}s {back_end:8.3}s {each:10.2} {growth:>7} {peak:8.0}",
                seconds("flatten"),
                seconds("check")
            );
            before = Some(each);
        }
    }
    Ok(())
}

/// Seconds of a processor, or else by the clock.
fn stage_seconds(stats: &Value, stage: &str) -> Option<f64> {
    stats["processor_seconds"][stage].as_f64().or(stats["seconds"][stage].as_f64())
}

/// The statistics of the fastest run.
fn measure(root: &Path, options: &Options, file: &str, class: &str, n: u32) -> Result<Value> {
    let stats_file = std::env::temp_dir().join(format!("saltus-scale-{}.json", std::process::id()));
    let mut best: Option<(f64, Value)> = None;
    for _ in 0..options.repeat.max(1) {
        let status = Command::new(&options.saltus)
            .arg("explain")
            .arg(root.join("testdata/scale").join(file))
            .args([class, "--set", &format!("n={n}"), "--stats"])
            .arg(&stats_file)
            .stdout(Stdio::null())
            .status()
            .with_context(|| format!("cannot start {}", options.saltus.display()))?;
        if !status.success() {
            bail!("{class} with n = {n}: {status}");
        }
        let stats: Value = serde_json::from_slice(&fs::read(&stats_file)?)?;
        let cost: f64 = BACK_END.iter().filter_map(|stage| stage_seconds(&stats, stage)).sum();
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, stats));
        }
    }
    fs::remove_file(&stats_file)?;
    best.map(|(_, stats)| stats).context("nothing was run")
}
