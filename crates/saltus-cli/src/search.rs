//! `saltus search [FILE…] CLASS --vary p=a:b --target x=v`: the parameter that makes a last value meet a target.

use saltus::diagnostics;
use saltus::pipeline::{Options, Stage};
use saltus::search::{self, NotFound};
use saltus::sweep::{Axis, Method, Study, overrides, typical};
use saltus_results::Kept;

use crate::experiment::{ExperimentArguments, RunArguments};
use crate::numbers::{finite, positive};
use crate::target::Target;
use crate::{Exit, Screen, progress};

const EXAMPLES: &str = "\
Examples:
  saltus search Saltus.Examples.E1997.BoundaryValue --vary w0=-3:-1 --target phi=-1.5707963267948966
  saltus search Ball.mo --vary v0=1:20 --target range=10 --within 1e-6

The last value of the variable must be above the target at one end and below it at the other. The model is compiled once.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// The parameter and the ends between which to search: name=first:last.
    #[arg(long, value_name = "NAME=A:B", value_parser = ends)]
    vary: Axis,
    /// The variable and what its last value shall be.
    #[arg(long = "target", value_name = "NAME=VALUE", value_parser = aim)]
    aim: (String, f64),
    /// How close the value must come to the target; otherwise a billionth of it.
    #[arg(long, value_name = "DIFFERENCE", allow_negative_numbers = true, value_parser = positive)]
    within: Option<f64>,
    #[command(flatten)]
    experiment: ExperimentArguments,
    #[command(flatten)]
    run: RunArguments,
    /// Print the parameter and nothing else.
    #[arg(long)]
    quiet: bool,
}

fn ends(text: &str) -> Result<Axis, String> {
    match Axis::parse(&format!("{text}:2")) {
        Ok(axis) if axis.values.len() == 2 && axis.values[0] != axis.values[1] => Ok(axis),
        _ => Err("expected name=first:last with two different numbers".to_owned()),
    }
}

fn aim(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected name=value")?;
    let number = finite(value).map_err(|why| format!("{why}, found `{}`", value.trim()))?;
    Ok((name.trim().to_owned(), number))
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    arguments.target.protect(&[], &[], screen)?;
    let axes = [arguments.vary.clone()];
    let (variable, target) = (&arguments.aim.0, arguments.aim.1);
    let mut options = Options::until(Stage::Compile);
    options.experiment = arguments.experiment.experiment(Some(&arguments.run), screen)?;
    options.experiment.kept = Kept::only(&[], [variable.to_owned()]);
    options.engine = arguments.run.engine.into();
    let common = arguments.target.set(screen)?;
    let set = overrides(&common, &axes, &typical(&axes));
    let run = arguments.target.run_with(options.clone(), set, screen)?;
    let Some(model) = run.outcome.model.as_ref().filter(|_| !run.outcome.has_errors()) else {
        return Ok(Exit::ModelError);
    };
    arguments.experiment.check(&options.experiment, model, screen)?;
    arguments.target.refuse_to_vary(model, &[axes[0].name.clone()], screen)?;
    if let Err(unknown) = model.variable(variable) {
        return Err(screen.fail(&diagnostics::unknown_signal(variable, unknown.similar.as_deref())));
    }
    let open = || arguments.target.open_class();
    let stop = progress::interrupt_flag();
    let (experiment, engine) = (&options.experiment, options.engine);
    let study = Study {
        model,
        permissions: arguments.target.permissions(),
        start: &run.start,
        axes: &axes,
        experiment,
        engine,
        overrides: &common,
        open: &open,
        jobs: 1,
        stop: &stop,
    };
    let within = arguments.within.unwrap_or(1e-9 * target.abs().max(1e-3));
    let (result, method) = study.one_by_one(|simulate| {
        search::find([axes[0].values[0], axes[0].values[1]], target, within, &mut |parameter| {
            let trajectory = simulate(&[parameter])?;
            trajectory.last(variable).ok_or_else(|| format!("no value of `{variable}`"))
        })
    });
    let name = &axes[0].name;
    let found = result.map_err(|why| {
        screen.fail(&match why {
            NotFound::NotBetween(ends) => diagnostics::target_not_between(name, variable, target, ends),
            NotFound::Jump { parameter, values } => {
                diagnostics::target_jumped(name, variable, target, parameter, values)
            }
            NotFound::Failed { parameter, why } => diagnostics::runs_failed(1, &format!("{name} = {parameter}"), &why),
        });
        Exit::RunTimeFailure
    })?;
    if arguments.quiet {
        screen.say(&format!("{}", found.parameter));
        return Ok(Exit::Success);
    }
    screen.say(&format!("{name} = {}: {variable} = {}", found.parameter, found.value));
    let how = match method {
        Method::CompiledOnce => "compiled once".to_owned(),
        Method::CompiledEach { why } => format!("compiled for each run: {why}"),
    };
    screen.say(&format!("{} runs, {how}", found.runs));
    Ok(Exit::Success)
}
