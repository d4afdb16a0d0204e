//! Saltus beside other simulators, in one run: `cargo xtask bench-peers`.
//!
//! In: the models of `testdata/peers.txt`, this program, and other programs as command lines. Out: `docs/benchmarks.md`, between its
//! markers: wall time from process start to written result of each program as a multiple of ours. Seconds depend on the machine, ratios of
//! one run much less. Each model is run by all programs in turn, several times, and the fastest run of each counts, so
//! that what else the machine does strikes all of them alike. A program that is not installed, or fails, has no number.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

#[derive(clap::Args)]
pub struct Options {
    /// The program to measure, a release build.
    #[arg(long)]
    pub saltus: PathBuf,
    /// The standard library, for models that need it.
    #[arg(long)]
    pub library: Option<PathBuf>,
    /// Another program: `NAME=COMMAND`, run by `sh` in a directory of its own; `{class}`, `{file}` and `{library}` are replaced.
    #[arg(long, value_name = "NAME=COMMAND")]
    pub peer: Vec<String>,
    /// Runs of each model by each program.
    #[arg(long, default_value_t = 3)]
    pub repeat: u32,
    /// Print the table instead of writing the page.
    #[arg(long)]
    pub print: bool,
}

const PAGE: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- bench-peers -->";
const END: &str = "<!-- end of bench-peers -->";

/// A line of the list: a class, and the file that it is in unless it is in the library.
struct Model {
    class: String,
    file: Option<PathBuf>,
}

struct Program {
    name: String,
    command: String,
}

pub fn run(root: &Path, options: &Options) -> Result<()> {
    let programs = programs(options)?;
    let models = models(root, options)?;
    let work = std::env::temp_dir().join(format!("saltus-peers-{}", std::process::id()));
    let measured = measure_all(&models, &programs, options, &work);
    fs::remove_dir_all(&work).ok();
    let table = table(&models, &programs, &measured?);
    if options.print {
        print!("{table}");
        return Ok(());
    }
    let page = root.join(PAGE);
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read {PAGE}"))?;
    fs::write(&page, between_markers(&text, &table)?).with_context(|| format!("cannot write {PAGE}"))
}

/// Ours first.
fn programs(options: &Options) -> Result<Vec<Program>> {
    let saltus = fs::canonicalize(&options.saltus).context("cannot find the program to measure")?;
    let ours = format!("{} simulate {{file}} {{class}} --library {{library}} --quiet -o result.mat", saltus.display());
    let mut programs = vec![Program { name: "Saltus".into(), command: ours }];
    for peer in &options.peer {
        let Some((name, command)) = peer.split_once('=') else { bail!("expected NAME=COMMAND, found {peer}") };
        programs.push(Program { name: name.trim().into(), command: command.trim().into() });
    }
    Ok(programs)
}

fn models(root: &Path, options: &Options) -> Result<Vec<Model>> {
    let list = fs::read_to_string(root.join("testdata/peers.txt")).context("cannot read testdata/peers.txt")?;
    let lines = list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let models = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let class = words.next()?.to_owned();
        let file = words.next().map(|file| root.join(file));
        (file.is_some() || options.library.is_some()).then_some(Model { class, file })
    });
    Ok(models.collect())
}

/// Seconds of the fastest run, by model and program.
fn measure_all(
    models: &[Model],
    programs: &[Program],
    options: &Options,
    work: &Path,
) -> Result<Vec<Vec<Option<f64>>>> {
    let mut all = Vec::new();
    for model in models {
        let mut best: Vec<Option<f64>> = vec![None; programs.len()];
        for _ in 0..options.repeat.max(1) {
            for (best, program) in best.iter_mut().zip(programs) {
                let took = measure(&program.command_for(model, options)?, work)?;
                *best = [*best, took].into_iter().flatten().reduce(f64::min);
            }
        }
        eprintln!("{}: {best:.3?} s", model.class);
        all.push(best);
    }
    Ok(all)
}

impl Program {
    fn command_for(&self, model: &Model, options: &Options) -> Result<String> {
        let library = options.library.as_deref().unwrap_or(Path::new("."));
        let library = fs::canonicalize(library).context("cannot find the library")?;
        let file = model.file.as_ref().map_or(String::new(), |file| file.display().to_string());
        let command = self.command.replace("{class}", &model.class).replace("{file}", &file);
        Ok(command.replace("{library}", &library.display().to_string()))
    }
}

/// Seconds of one run in an empty directory; none if it fails.
fn measure(command: &str, work: &Path) -> Result<Option<f64>> {
    fs::remove_dir_all(work).ok();
    fs::create_dir_all(work)?;
    let started = Instant::now();
    let status = Command::new("sh")
        .args(["-c", command])
        .current_dir(work)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("cannot start sh")?;
    Ok(status.success().then(|| started.elapsed().as_secs_f64()))
}

/// Multiples of our time.
fn table(models: &[Model], programs: &[Program], measured: &[Vec<Option<f64>>]) -> String {
    let names: Vec<&str> = programs.iter().skip(1).map(|program| program.name.as_str()).collect();
    let mut text = format!("| model | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for (model, seconds) in models.iter().zip(measured) {
        let ratio = |peer: &Option<f64>| match (seconds.first(), peer) {
            (Some(Some(ours)), Some(theirs)) => format!("{:.1}", theirs / ours),
            _ => "–".into(),
        };
        let ratios: Vec<String> = seconds.iter().skip(1).map(ratio).collect();
        text += &format!("| `{}` | {} |\n", model.class, ratios.join(" | "));
    }
    text
}

fn between_markers(page: &str, table: &str) -> Result<String> {
    let (Some(begin), Some(end)) = (page.find(BEGIN), page.find(END)) else {
        bail!("{PAGE} has no place for the table: expected {BEGIN} and {END}")
    };
    Ok(format!("{}\n\n{table}\n{}", &page[..begin + BEGIN.len()], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_multiples_of_ours_and_failures_have_none() {
        let models = [Model { class: "A".into(), file: None }, Model { class: "B".into(), file: None }];
        let programs = ["Saltus", "Other"].map(|name| Program { name: name.into(), command: String::new() });
        let measured = [vec![Some(0.5), Some(1.0)], vec![Some(0.5), None]];
        let table = table(&models, &programs, &measured);
        assert_eq!(table, "| model | Other |\n|---|---|\n| `A` | 2.0 |\n| `B` | – |\n");
        let page = format!("before {BEGIN} old {END} after");
        assert_eq!(between_markers(&page, "new\n").unwrap(), format!("before {BEGIN}\n\nnew\n\n{END} after"));
        assert!(between_markers("no markers", "new").is_err());
    }

    #[test]
    fn a_failing_program_has_no_time() {
        let work = std::env::temp_dir().join(format!("saltus-peers-test-{}", std::process::id()));
        assert!(measure("exit 0", &work).unwrap().is_some() && measure("exit 3", &work).unwrap().is_none());
        fs::remove_dir_all(work).unwrap();
    }
}
