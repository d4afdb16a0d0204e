//! `saltus check [FILE…] [CLASS]`: every mistake of a model, then whether its equations balance.

use saltus::pipeline::{Options, Stage};

use crate::target::Target;
use crate::{Exit, Screen};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus check Circuit.mo\n  saltus check Motors.Examples.Start --library libraries\n  saltus check Circuit.mo --hints"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let run = arguments.target.run(Options::until(Stage::Check), screen)?;
    if let Some(balance) = &run.outcome.balance {
        screen
            .say(&format!("Class {}: {} equations, {} unknowns", run.class_name, balance.equations, balance.unknowns));
    }
    arguments.target.report_cost(&run, &[], screen)?;
    Ok(if run.outcome.has_errors() { Exit::ModelError } else { Exit::Success })
}
