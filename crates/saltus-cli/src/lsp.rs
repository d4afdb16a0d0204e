//! `saltus lsp`: the language server, which an editor starts and talks to on the standard streams.

use std::path::PathBuf;

use saltus_lsp::Settings;

use crate::{Exit, Screen, system_clock};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus lsp                           started by an editor, see docs/book/editors.md\n  saltus lsp --library libraries       with a directory of packages"
)]
pub struct Arguments {
    /// A directory that contains packages, or a package; searched before MODELICAPATH.
    #[arg(long, value_name = "DIR")]
    library: Vec<PathBuf>,
    /// Talk on the standard streams, which is the only way and the default.
    #[arg(long)]
    stdio: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let _ = arguments.stdio;
    let settings = Settings {
        libraries: arguments.library.clone(),
        modelica_path: std::env::var("MODELICAPATH").ok(),
        stopwatch: system_clock::stopwatch(),
    };
    match saltus_lsp::serve(&settings, std::io::stdin(), std::io::stdout().lock()) {
        Ok(true) => Ok(Exit::Success),
        Ok(false) => Ok(Exit::ModelError),
        Err(error) => Err(screen.fail(&saltus::diagnostics::unwritable_output(&error.to_string()))),
    }
}
