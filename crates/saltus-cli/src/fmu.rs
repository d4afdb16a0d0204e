//! `saltus fmu check` and `saltus fmu simulate`: an FMU by itself.

use std::path::{Path, PathBuf};

use saltus::diagnostics;
use saltus_base::Severity;
use saltus_fmi::Opened;

use crate::{Exit, Screen, simulate};

const EXAMPLES: &str = "\
Examples:
  saltus fmu check Drive.fmu                      every rule of the standard that it breaks
  saltus fmu check Drive.fmu --allow-external     also whether its declared dependencies are true
  saltus fmu simulate Drive.fmu --allow-external --set k=2 -o drive.csv";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Report every rule of the standard that an FMU breaks.
    Check(CheckArguments),
    /// Simulate an FMU with the solvers and results of `saltus simulate`.
    Simulate(Box<simulate::Arguments>),
}

#[derive(clap::Args)]
pub struct CheckArguments {
    /// The FMU.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also run the FMU: whether its declared dependencies are true.
    #[arg(long)]
    allow_external: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    match &arguments.command {
        Command::Check(arguments) => check(arguments, screen),
        Command::Simulate(arguments) => simulate::run(arguments, screen),
    }
}

/// Opens an FMU, or says why that is not possible.
pub fn open(path: &Path, screen: &Screen) -> Result<(Opened, Vec<u8>), Exit> {
    let shown = path.display().to_string();
    let bytes =
        std::fs::read(path).map_err(|error| screen.fail(&diagnostics::unreadable(&shown, &error.to_string())))?;
    match saltus_fmi::open(&shown, &bytes) {
        Ok(opened) => Ok((opened, bytes)),
        Err(unreadable) => {
            screen.show(&unreadable.diagnostic, &unreadable.sources);
            Err(Exit::ModelError)
        }
    }
}

fn check(arguments: &CheckArguments, screen: &Screen) -> Result<Exit, Exit> {
    let (opened, bytes) = open(&arguments.file, screen)?;
    let mut findings = opened.check();
    let sources = opened.sources.clone();
    let summary = format!(
        "{}  FMI {}, {} variables",
        opened.document.model.model_name,
        opened.document.model.version.text(),
        opened.document.model.variables.len()
    );
    if arguments.allow_external && !findings.has_errors() {
        findings.extend(saltus::fmu::probe(opened, bytes));
    }
    screen.show_all(&findings, &sources);
    let count = |severity| findings.iter().filter(|d| d.severity == severity).count();
    screen.say(&format!("{summary}: {} errors, {} warnings", count(Severity::Error), count(Severity::Warning)));
    Ok(if findings.has_errors() { Exit::ModelError } else { Exit::Success })
}
