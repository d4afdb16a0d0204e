//! The commands: arguments in, exit code out. One file a command.

use clap::{Parser, Subcommand};

use crate::Screen;
use crate::{
    check, compare, compile, convert, doc, explain, export, flatten, fmu, format, import, info, linearize, list, lsp,
    new, parse, plot, run, search, shell, simulate, studio, sweep, test, watch,
};

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

const EXAMPLES: &str = "\
Examples:
  saltus simulate BouncingBall.mo --plot=h      run a model and draw a signal
  saltus check Circuit.mo                       what is wrong with a model
  saltus test MyLibrary --reference results     run a whole library
  saltus COMMAND --help                         options and examples of a command

Exit codes: 0 success, 1 the model is wrong, 2 wrong usage, 3 the simulation failed.";

#[derive(Parser)]
#[command(name = "saltus", version, about = "Modelica compiler and hybrid simulator", after_help = EXAMPLES)]
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
    /// Check a model again whenever one of its files changes.
    Watch(watch::Arguments),
    /// Print the flat equations of a model.
    Flatten(flatten::Arguments),
    /// Show how the equations of a model were sorted, block by block.
    Explain(explain::Arguments),
    /// Compile a model into a file that can be simulated without its sources.
    Compile(compile::Arguments),
    /// Make a functional mock-up unit (FMI) of a model, for other simulators.
    Export(export::Arguments),
    /// Simulate a model.
    Simulate(Box<simulate::Arguments>),
    /// Simulate a model for many values of its parameters.
    Sweep(Box<sweep::Arguments>),
    /// Search for parameters with which values of a run meet targets.
    Search(Box<search::Arguments>),
    /// Do what the file of a study asks for: phases, variations, searches, tables and pictures.
    Run(run::Arguments),
    /// Draw signals of a result.
    Plot(plot::Arguments),
    /// Compare a result with a reference.
    Compare(compare::Arguments),
    /// Run every model of a library and compare it with references.
    Test(Box<test::Arguments>),
    /// Linearize a model: matrices and eigenvalues.
    Linearize(linearize::Arguments),
    /// Write files in the standard layout.
    Fmt(format::Arguments),
    /// List the classes of a package.
    List(list::Arguments),
    /// Show what a class offers: parameters, connectors, variables, documentation.
    Info(info::Arguments),
    /// Write the documentation of packages as a site: icons, diagrams, members, search.
    Doc(doc::Arguments),
    /// Make a package to begin with.
    New(new::Arguments),
    /// Open the studio in a browser: library, text, runs, plots, events.
    Studio(studio::Arguments),
    /// Serve an editor: completion, hover, rename, checks while typing.
    Lsp(lsp::Arguments),
    /// Rewrite sources for the version of a library that is loaded.
    Convert(convert::Arguments),
    /// Show what is in an FMU and write a model that makes a component of it.
    Import(import::Arguments),
    /// Check or simulate an FMU by itself.
    Fmu(fmu::Arguments),
    /// Print a completion script for a shell.
    Completion(shell::CompletionArguments),
    /// Print the manual page.
    Man(shell::ManArguments),
}

impl Cli {
    pub fn screen(&self) -> Screen {
        Screen::new(self.json_diagnostics, self.hints)
    }

    pub fn run(&self, screen: &Screen) -> Exit {
        let done = match &self.command {
            Command::Parse(arguments) => Ok(parse::run(arguments, screen)),
            Command::Check(arguments) => check::run(arguments, screen),
            Command::Watch(arguments) => watch::run(arguments, screen),
            Command::List(arguments) => list::run(arguments, screen),
            Command::Info(arguments) => info::run(arguments, screen),
            Command::Doc(arguments) => doc::run(arguments, screen),
            Command::New(arguments) => new::run(arguments, screen),
            Command::Studio(arguments) => studio::run(arguments, screen),
            Command::Lsp(arguments) => lsp::run(arguments, screen),
            Command::Flatten(arguments) => flatten::run(arguments, screen),
            Command::Explain(arguments) => explain::run(arguments, screen),
            Command::Compile(arguments) => compile::run(arguments, screen),
            Command::Export(arguments) => export::run(arguments, screen),
            Command::Simulate(arguments) => simulate::run(arguments, screen),
            Command::Sweep(arguments) => sweep::run(arguments, screen),
            Command::Search(arguments) => search::run(arguments, screen),
            Command::Run(arguments) => run::run(arguments, screen),
            Command::Plot(arguments) => plot::run(arguments, screen),
            Command::Compare(arguments) => compare::run(arguments, screen),
            Command::Test(arguments) => test::run(arguments, screen),
            Command::Linearize(arguments) => linearize::run(arguments, screen),
            Command::Fmt(arguments) => Ok(format::run(arguments, screen)),
            Command::Convert(arguments) => convert::run(arguments, screen),
            Command::Import(arguments) => import::run(arguments, screen),
            Command::Fmu(arguments) => fmu::run(arguments, screen),
            Command::Completion(arguments) => Ok(shell::completion(arguments, screen)),
            Command::Man(arguments) => shell::man(arguments, screen),
        };
        done.unwrap_or_else(|exit| exit)
    }
}
