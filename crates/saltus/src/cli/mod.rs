//! The command line: arguments in, exit code out. One file a command.

mod chart;
mod check;
mod compare;
mod experiment;
mod explain;
mod files;
mod flatten;
mod format;
mod keep;
mod parse;
mod plot;
mod progress;
mod screen;
mod search;
mod simulate;
mod summary;
mod sweep;
mod target;

use clap::{Parser, Subcommand};

pub use screen::Screen;

/// What the process tells its caller; usage errors exit with 2 before any command runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    Success = 0,
    /// The model or a file is wrong.
    ModelError = 1,
    /// The options make no sense.
    Usage = 2,
    /// The model is right and its simulation failed.
    RunTimeFailure = 3,
}

#[derive(Parser)]
#[command(name = "saltus", version, about = "Modelica compiler and hybrid simulator")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print each diagnostic as one line of JSON.
    #[arg(long, global = true)]
    json_diagnostics: bool,
    /// Also print hints about unused and unconnected things.
    #[arg(long, global = true)]
    hints: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Parse files and directories and report every syntax error.
    Parse(parse::Arguments),
    /// Report every mistake of a model and whether its equations balance.
    Check(check::Arguments),
    /// Print the flat equations of a model.
    Flatten(flatten::Arguments),
    /// Show how the equations of a model were sorted, block by block.
    Explain(explain::Arguments),
    /// Simulate a model.
    Simulate(Box<simulate::Arguments>),
    /// Simulate a model for many values of its parameters.
    Sweep(Box<sweep::Arguments>),
    /// Search for the parameter that makes a last value meet a target.
    Search(Box<search::Arguments>),
    /// Draw signals of a result.
    Plot(plot::Arguments),
    /// Compare a result with a reference.
    Compare(compare::Arguments),
    /// Write files in the standard layout.
    Fmt(format::Arguments),
}

impl Cli {
    pub fn screen(&self) -> Screen {
        Screen::new(self.json_diagnostics, self.hints)
    }

    pub fn run(&self, screen: &Screen) -> Exit {
        let done = match &self.command {
            Command::Parse(arguments) => Ok(parse::run(arguments, screen)),
            Command::Check(arguments) => check::run(arguments, screen),
            Command::Flatten(arguments) => flatten::run(arguments, screen),
            Command::Explain(arguments) => explain::run(arguments, screen),
            Command::Simulate(arguments) => simulate::run(arguments, screen),
            Command::Sweep(arguments) => sweep::run(arguments, screen),
            Command::Search(arguments) => search::run(arguments, screen),
            Command::Plot(arguments) => plot::run(arguments, screen),
            Command::Compare(arguments) => compare::run(arguments, screen),
            Command::Fmt(arguments) => Ok(format::run(arguments, screen)),
        };
        done.unwrap_or_else(|exit| exit)
    }
}
