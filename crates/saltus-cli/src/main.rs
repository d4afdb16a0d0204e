//! The `saltus` program.

mod audit;
mod chart;
mod check;
mod commands;
mod compare;
mod compile;
mod convert;
mod estimate;
mod experiment;
mod explain;
mod export;
mod files;
mod flatten;
mod fleet;
mod fmu;
mod format;
mod import;
mod inputs;
mod keep;
mod linearize;
mod numbers;
mod parse;
mod plot;
mod progress;
mod report;
mod run;
mod screen;
mod search;
mod shell;
mod simulate;
mod summary;
mod sweep;
mod system_clock;
mod target;
mod test;
mod write;

use std::process::ExitCode;

use clap::Parser;
use saltus::guard;

use commands::{Cli, Exit};
use screen::Screen;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let screen = cli.screen();
    guard::remember_panics();
    let exit = guard::on_large_stack(|| cli.run(&screen)).unwrap_or_else(|error| screen.fail(&error));
    ExitCode::from(screen.finish(exit) as u8)
}
