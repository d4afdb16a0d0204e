//! `saltus plot RESULT [NAME…]`: signals over time as a picture, a page or on the terminal.

use std::path::PathBuf;

use crate::{Exit, Screen, chart};

const EXAMPLES: &str = "\
Examples:
  saltus plot ball.mat h v                    on the terminal
  saltus plot ball.mat h v --output ball.svg  a picture; .png and .html (zoom, cursor) as well
  saltus plot robot.parquet 'axis?.motor.*'   `*` and `?` stand for any characters and for one

Signals with the same unit share a panel. Thin lines mark events.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A file of results: .csv, .mat or .parquet.
    result: PathBuf,
    /// Signals, or patterns of signals; the first few otherwise.
    names: Vec<String>,
    /// Draw into this file: .svg, .png or .html.
    #[arg(long, short, value_name = "FILE", value_parser = chart::picture_file)]
    output: Option<PathBuf>,
    /// The line above the picture; otherwise the name of the file.
    #[arg(long)]
    title: Option<String>,
    /// Do not mark events.
    #[arg(long)]
    no_events: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let results = chart::read_results(&arguments.result, screen)?;
    let mut picture = chart::chart(&results, &arguments.names, !arguments.no_events, screen)?;
    if let Some(title) = &arguments.title {
        picture.title = title.clone();
    }
    chart::draw(&picture, arguments.output.as_deref(), screen)?;
    Ok(Exit::Success)
}
