//! `saltus explain [FILE…] CLASS`: how the equations were sorted, block by block.

use std::path::PathBuf;
use std::time::Instant;

use saltus::pipeline::{Engine, Experiment, Options, Stage};
use saltus::{Simulation, diagnostics, explain};

use crate::target::{Run, Target};
use crate::write::write;
use crate::{Exit, Screen, progress};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus explain Circuit.mo\n  saltus explain Circuit.mo --html circuit.html\n  saltus explain Clutch.mo --configurations\n  saltus explain Clutch.mo --profile"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Write a page with pictures of the incidence matrices to this file instead of printing.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Simulate, and show the configurations that the model goes through instead: what decides about its structure, the states and the
    /// index of each, and when.
    #[arg(long, conflicts_with = "html")]
    configurations: bool,
    /// Simulate, and say with each block which part of the run went into it.
    #[arg(long, conflicts_with = "configurations")]
    profile: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    arguments.target.protect(&[arguments.html.as_ref()], &[], screen)?;
    let mut options = Options::until(if arguments.profile { Stage::Simulate } else { Stage::Compile });
    options.describe = true;
    options.profile = arguments.profile;
    let run = arguments.target.run(options, screen)?;
    if arguments.configurations {
        return configurations(arguments, &run, screen);
    }
    let started = Instant::now();
    if let Some(description) = &run.outcome.description {
        let (name, profile) = (&run.class_name, run.outcome.profile.as_ref());
        let page = run.session.with_sources(|sources| match (&arguments.html, arguments.json) {
            (Some(_), _) => explain::page(name, description, sources, profile),
            (None, true) => format!("{}\n", explain::to_json(name, description, sources, profile)),
            (None, false) => explain::listing(name, description, sources, profile),
        });
        match &arguments.html {
            Some(path) => write(path, &page, screen)?,
            None => screen.print(&page),
        }
    }
    arguments.target.report_cost(&run, &[("print", started.elapsed())], screen)?;
    Ok(if run.outcome.has_errors() { Exit::ModelError } else { Exit::Success })
}

fn configurations(arguments: &Arguments, run: &Run, screen: &Screen) -> Result<Exit, Exit> {
    let Some(model) = run.outcome.model.as_ref().filter(|_| !run.outcome.has_errors()) else {
        return Ok(Exit::ModelError);
    };
    let mut simulation =
        Simulation::with(model.clone(), &Experiment::default(), Engine::Auto, arguments.target.permissions());
    simulation.stop_when(progress::interrupt_flag());
    let (visited, ended) = explain::configurations::visit(model, &mut simulation);
    match arguments.json {
        true => screen.print(&format!("{}\n", visited.to_json())),
        false => screen.print(&visited.listing(&model.sources())),
    }
    match ended {
        Ok(()) => Ok(Exit::Success),
        Err(error) => {
            screen.show(&diagnostics::simulation_failed(&error), &model.sources());
            Ok(Exit::RunTimeFailure)
        }
    }
}
