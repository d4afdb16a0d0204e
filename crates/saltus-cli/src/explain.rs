//! `saltus explain [FILE…] CLASS`: how the equations were sorted, block by block.

use std::path::PathBuf;
use std::time::Instant;

use saltus::explain;
use saltus::pipeline::{Options, Stage};

use crate::target::Target;
use crate::write::write;
use crate::{Exit, Screen};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  saltus explain Circuit.mo\n  saltus explain Circuit.mo --html circuit.html")]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Write a page with pictures of the incidence matrices to this file instead of printing.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    arguments.target.protect(&[arguments.html.as_ref()], &[], screen)?;
    let mut options = Options::until(Stage::Compile);
    options.describe = true;
    let run = arguments.target.run(options, screen)?;
    let started = Instant::now();
    if let Some(description) = &run.outcome.description {
        let name = &run.class_name;
        let page = run.session.with_sources(|sources| match (&arguments.html, arguments.json) {
            (Some(_), _) => explain::page(name, description, sources),
            (None, true) => format!("{}\n", explain::to_json(name, description, sources)),
            (None, false) => explain::listing(name, description, sources),
        });
        match &arguments.html {
            Some(path) => write(path, &page, screen)?,
            None => screen.print(&page),
        }
    }
    arguments.target.report_cost(&run, &[("print", started.elapsed())], screen)?;
    Ok(if run.outcome.has_errors() { Exit::ModelError } else { Exit::Success })
}
