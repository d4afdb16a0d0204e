//! The program `saltus` as a function, for those who bring a process of their own: the binary, and the script of the Python package.

mod audit;
mod chart;
mod check;
mod commands;
mod compare;
mod compile;
mod convert;
mod doc;
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
mod info;
mod inputs;
mod keep;
mod linearize;
mod list;
mod lsp;
mod new;
mod numbers;
mod parse;
mod plot;
mod progress;
mod real_time;
mod report;
mod run;
mod screen;
mod search;
mod shell;
mod simulate;
mod studio;
mod summary;
mod sweep;
mod system_clock;
mod target;
mod test;
mod watch;
mod write;

use std::ffi::OsString;

use clap::Parser;
use saltus::guard;

use commands::{Cli, Exit};
use screen::Screen;

pub use system_clock::stopwatch;

/// Does what the words of a command line say, the name of the program first; gives its exit code.
pub fn run_program(words: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(said) => {
            // Help and versions go to the standard output. Who closes it early does not want them.
            let _ = said.print();
            return said.exit_code() as u8;
        }
    };
    let screen = cli.screen();
    guard::remember_panics();
    let exit = guard::on_large_stack(|| cli.run(&screen)).unwrap_or_else(|error| screen.fail(&error));
    screen.finish(exit) as u8
}
