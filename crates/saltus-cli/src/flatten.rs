//! `saltus flatten [FILE…] CLASS`: the flat model as text or JSON.

use std::path::PathBuf;
use std::time::Instant;

use saltus::pipeline::{Options, Stage};

use crate::target::Target;
use crate::write::write;
use crate::{Exit, Screen};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus flatten Circuit.mo\n  saltus flatten Circuit.mo --set R=5 --json --output circuit.json"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Print JSON instead of flat Modelica.
    #[arg(long)]
    json: bool,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    arguments.target.protect(&[arguments.output.as_ref()], &[], screen)?;
    let run = arguments.target.run(Options::until(Stage::Flatten), screen)?;
    let started = Instant::now();
    if let Some(model) = run.outcome.flat.as_ref().filter(|_| !run.outcome.has_errors()) {
        let text = if arguments.json { saltus_flat::to_json(model) + "\n" } else { saltus_flat::print(model) };
        match &arguments.output {
            Some(path) => write(path, &text, screen)?,
            None => screen.print(&text),
        }
    }
    arguments.target.report_cost(&run, &[("print", started.elapsed())], screen)?;
    Ok(if run.outcome.has_errors() { Exit::ModelError } else { Exit::Success })
}
