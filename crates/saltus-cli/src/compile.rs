//! `saltus compile [FILE…] [CLASS] -o MODEL.saltus`: a model that runs without its sources.

use std::path::PathBuf;

use saltus::diagnostics;
use saltus::pipeline::{Options, Stage};

use crate::target::{MODEL_EXTENSION, Target};
use crate::write::write_bytes;
use crate::{Exit, Screen};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus compile Motors.Drive --library libraries --output drive.saltus\n  saltus simulate drive.saltus --set k=3"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// The file to write; otherwise the name of the class with the extension .saltus.
    #[arg(long, short, value_name = "FILE", value_parser = model_file)]
    output: Option<PathBuf>,
    /// Print nothing but messages.
    #[arg(long)]
    quiet: bool,
}

fn model_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_model = path.extension().is_some_and(|e| e == MODEL_EXTENSION);
    if is_model { Ok(path) } else { Err(format!("expected a file name that ends in .{MODEL_EXTENSION}")) }
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    if let Some(name) = arguments.target.compiled() {
        return Err(screen.fail(&diagnostics::compiled_stands_alone(name)));
    }
    arguments.target.protect(&[arguments.output.as_ref()], &[], screen)?;
    let run = arguments.target.run(Options::until(Stage::Compile), screen)?;
    let Some(model) = run.outcome.model.as_ref().filter(|_| !run.outcome.has_errors()) else {
        return Ok(Exit::ModelError);
    };
    let path = arguments.output.clone().unwrap_or_else(|| format!("{}.{MODEL_EXTENSION}", model.name()).into());
    let bytes =
        model.to_bytes().map_err(|why| screen.fail(&diagnostics::bad_file(&path.display().to_string(), &why)))?;
    write_bytes(&path, &bytes, screen)?;
    if !arguments.quiet {
        screen.say(&format!("{}: {} variables, {} bytes", path.display(), model.variables().len(), bytes.len()));
    }
    arguments.target.report_cost(&run, &[], screen)?;
    Ok(Exit::Success)
}
