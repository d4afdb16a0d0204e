//! The `saltus` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(saltus_cli::run_program(std::env::args_os()))
}
