//! Every model of the corpus against the list of what agreed before.
//!
//! In: the corpus beside the repository, a library and reference results of its models (`library.tar.xz`, `references.tar.xz`), and
//! `testdata/corpus/baseline.txt`. Out: a failure if a model is worse than its line in the list, or, with
//! `--audit`, if an equation does not hold and `testdata/corpus/audit.txt` does not say why. Without a corpus there is nothing to
//! do, and that is said.
//!
//! The work itself is done by `saltus test`: models with a reference are simulated with its settings and compared, the others
//! are checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::coverage::build;

#[derive(clap::Args)]
pub struct Options {
    /// The directory with the archives, instead of the one beside the repository.
    #[arg(long, value_name = "DIR")]
    packed: Option<PathBuf>,
    /// The program to run instead of a fresh release build.
    #[arg(long)]
    saltus: Option<PathBuf>,
    /// Run only models whose name contains this text.
    #[arg(long, value_name = "TEXT", conflicts_with = "update")]
    filter: Option<String>,
    /// Audit every simulation: fail at an equation that does not hold and is not in the list of those that are explained.
    #[arg(long)]
    audit: bool,
    /// Write the list anew instead of comparing with it.
    #[arg(long)]
    update: bool,
}

/// Where the archives are looked for, seen from the repository.
const PACKED: &str = "../shared/corpus";
const BASELINE: &str = "testdata/corpus/baseline.txt";
/// Findings of the audit that are explained.
const AUDIT: &str = "testdata/corpus/audit.txt";
const ARCHIVES: [&str; 2] = ["library", "references"];
/// The slowest model takes a fortieth of it: a verdict does not depend on what else the machine does.
const SECONDS_A_MODEL: &str = "600";

const HEAD: &str = "\
# What each model of the corpus comes to; written by `cargo xtask corpus --update`. A model with a reference is verified if it agrees
# with it, one without is checked. `cargo xtask corpus` fails if a model is worse than here.
";

pub fn run(root: &Path, options: &Options) -> Result<()> {
    let packed = options.packed.clone().unwrap_or_else(|| root.join(PACKED));
    if !ARCHIVES.iter().all(|name| archive(&packed, name).is_file()) {
        println!("corpus: skipped, {} holds no archives", packed.display());
        return Ok(());
    }
    let place = root.join("target/corpus");
    unpack(&packed, &place)?;
    let saltus = match &options.saltus {
        Some(path) => path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?,
        None => build(root)?,
    };
    let started = Instant::now();
    let (saved, baseline) = (place.join("now.txt"), root.join(BASELINE));
    let mut command = Command::new(saltus);
    command.arg("test").args(packages(&place.join("references"))?);
    command.arg("--library").arg(place.join("library")).arg("--reference").arg(place.join("references"));
    command.args(["--unreferenced", "check", "--time-limit", SECONDS_A_MODEL, "--save"]).arg(&saved);
    if options.audit {
        command.arg("--audit").arg("--audit-known").arg(root.join(AUDIT));
    }
    command.args(options.filter.iter().flat_map(|text| ["--filter", text]));
    if !options.update {
        command.arg("--baseline").arg(&baseline);
    }
    let _ = fs::remove_file(&saved);
    // A line for each of a thousand models would hide what went wrong.
    let log = place.join("log.txt");
    command.stderr(fs::File::create(&log)?);
    println!("corpus: each model is shown in {}", log.display());
    let status = command.current_dir(empty_directory(&place.join("work"))?).status()?;
    println!("corpus: {:.0} s", started.elapsed().as_secs_f64());
    if !status.success() {
        print_errors(&log)?;
    }
    if options.update {
        // Models that fail are no reason to stop here, but a list has to be there.
        let text = fs::read_to_string(&saved).context("saltus test wrote no list")?;
        fs::create_dir_all(baseline.parent().unwrap_or(root))?;
        fs::write(&baseline, format!("{HEAD}{text}"))?;
        println!("wrote {}", baseline.display());
    } else if !status.success() {
        bail!(
            "a model of the corpus is worse than in {BASELINE}, or an equation does not hold that is not in {AUDIT}: see the lines \
             with WORSE and AUDIT"
        );
    }
    Ok(())
}

/// The end of the log, and the models in it that ended with an internal error: what a report of CI needs.
fn print_errors(log: &Path) -> Result<()> {
    let text = fs::read_to_string(log)?;
    let lines: Vec<&str> = text.lines().collect();
    let internal = lines.iter().filter(|line| line.contains("E9999"));
    let end = lines.iter().skip(lines.len().saturating_sub(5));
    internal.chain(end).for_each(|line| println!("{line}"));
    Ok(())
}

fn archive(packed: &Path, name: &str) -> PathBuf {
    packed.join(format!("{name}.tar.xz"))
}

/// Unpacks all archives, unless that was done with the same ones before.
fn unpack(packed: &Path, place: &Path) -> Result<()> {
    let mut stamp = String::new();
    for name in ARCHIVES {
        let found = fs::metadata(archive(packed, name))?;
        let modified = found.modified()?.duration_since(UNIX_EPOCH)?.as_nanos();
        stamp.push_str(&format!("{name} {} {modified}\n", found.len()));
    }
    let stamp_file = place.join("stamp");
    if fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
        return Ok(());
    }
    empty_directory(place)?;
    for name in ARCHIVES {
        let path = archive(packed, name);
        let status = Command::new("tar").arg("-xJf").arg(&path).arg("-C").arg(place).status();
        if !status.is_ok_and(|s| s.success()) {
            bail!("cannot unpack {}: that takes tar and xz (package xz-utils)", path.display());
        }
    }
    fs::write(stamp_file, stamp)?;
    Ok(())
}

/// A directory with nothing in it: models write files where they run.
fn empty_directory(path: &Path) -> Result<&Path> {
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    fs::create_dir_all(path)?;
    Ok(path)
}

/// Packages that have references.
fn packages(references: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(references).with_context(|| format!("cannot read {}", references.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.extend(entry.file_name().into_string());
        }
    }
    names.sort();
    Ok(names)
}
