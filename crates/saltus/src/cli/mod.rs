//! The command line: arguments in, exit code out. One file a command.

mod files;
mod format;
mod parse;
mod screen;

use clap::{Parser, Subcommand};

pub use screen::Screen;

/// What the process tells its caller; usage errors exit with 2 before any command runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    Success = 0,
    /// The model or a file is wrong.
    ModelError = 1,
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
    /// Write files in the standard layout.
    Fmt(format::Arguments),
}

impl Cli {
    pub fn screen(&self) -> Screen {
        Screen::new(self.json_diagnostics, self.hints)
    }

    pub fn run(&self, screen: &Screen) -> Exit {
        match &self.command {
            Command::Parse(arguments) => parse::run(arguments, screen),
            Command::Fmt(arguments) => format::run(arguments, screen),
        }
    }
}
