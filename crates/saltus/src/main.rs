//! The `saltus` program.

mod cli;

use std::process::ExitCode;

use clap::Parser;
use saltus::guard;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let screen = cli.screen();
    guard::remember_panics();
    let exit = guard::on_large_stack(|| cli.run(&screen)).unwrap_or_else(|error| screen.fail(&error));
    ExitCode::from(exit as u8)
}
