//! `saltus search [FILE…] CLASS --vary p=a:b --target x=v`: parameters with which values of a run meet targets.

use std::sync::atomic::AtomicUsize;

use saltus::diagnostics;
use saltus::pipeline::{Options, Stage};
use saltus::search::Unknown;
use saltus::study::{
    Aim, Axis, Failure, Goal, Method, Prepared, Recorded, Runner, Study, Target as Aimed, Wanted, Worker, expression,
    overrides,
};
use saltus_base::{SourceMap, Span};

use crate::experiment::{ExperimentArguments, RunArguments};
use crate::numbers::{finite, positive};
use crate::target::Target;
use crate::{Exit, Screen, progress};

const EXAMPLES: &str = "\
Examples:
  saltus search Saltus.Examples.E1997.BoundaryValue --vary w0=-3:-1 --target phi=-1.5707963267948966
  saltus search Ball.mo --vary v0=1:20 --target range=10 --within 1e-6
  saltus search Ball.mo --vary v0=1:20 --vary angle=0.1:1.4 --target range=10 --target 'max(h)=3'

A target is a variable (its last value) or an expression as in a study: max(x), event(h < 0).time. With one parameter the value must be
above the target at one end and below it at the other. Several parameters need as many targets; the search begins in the middle.
The model is compiled once.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// A parameter and the ends between which to search: name=first:last.
    #[arg(long, value_name = "NAME=A:B", required = true, value_parser = ends)]
    vary: Vec<Axis>,
    /// A variable and what its last value shall be, or an expression and its value.
    #[arg(long = "target", value_name = "NAME=VALUE", required = true, value_parser = aim)]
    aims: Vec<(String, f64)>,
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
    let (name, value) = text.rsplit_once('=').ok_or("expected name=value")?;
    let number = finite(value).map_err(|why| format!("{why}, found `{}`", value.trim()))?;
    expression::parse(name).map_err(|mistake| format!("`{}`: {}", name.trim(), mistake.message))?;
    Ok((name.trim().to_owned(), number))
}

impl Arguments {
    /// The same as the file of a study would say.
    fn study(&self) -> Study {
        let unknown = |axis: &Axis| {
            let (min, max) = (axis.values[0].min(axis.values[1]), axis.values[0].max(axis.values[1]));
            Unknown { name: axis.name.clone(), start: 0.5 * (min + max), min, max }
        };
        let span = Span::nowhere();
        let parsed = |(text, value): &(String, f64)| {
            let within = self.within.unwrap_or(1e-9 * value.abs().max(1e-3));
            Some(Aimed { text: text.clone(), expression: expression::parse(text).ok()?, value: *value, within, span })
        };
        let targets: Vec<Aimed> = self.aims.iter().filter_map(parsed).collect();
        let record = |t: &Aimed| Recorded { name: t.text.clone(), expression: t.expression.clone(), span };
        Study {
            record: targets.iter().map(record).collect(),
            goal: Some(Goal {
                unknowns: self.vary.iter().map(unknown).collect(),
                aim: Aim::Targets(targets),
                tolerance: 1e-9,
                most_runs: MOST_RUNS,
                span,
            }),
            ..Study::default()
        }
    }
}

/// Limit on the number of runs of a search for several parameters.
const MOST_RUNS: usize = 500;

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    arguments.target.protect(&[], &[], screen)?;
    if arguments.aims.len() < arguments.vary.len() {
        screen.fail(&diagnostics::bad_study(Span::nowhere(), "expected at least as many --target as --vary", ""));
        return Err(Exit::Usage);
    }
    let names: Vec<String> = arguments.vary.iter().map(|axis| axis.name.clone()).collect();
    let mut options = Options::until(Stage::Compile);
    options.experiment = arguments.experiment.experiment(Some(&arguments.run), screen)?;
    options.engine = arguments.run.engine.into();
    let common = arguments.target.set(screen)?;
    let typical: Vec<f64> =
        arguments.vary.iter().map(|a| if a.values[1] == 0.0 { a.values[0] } else { a.values[1] }).collect();
    let run = arguments.target.run_with(options.clone(), overrides(&common, &names, &typical), screen)?;
    let Some(model) = run.outcome.model.as_ref().filter(|_| !run.outcome.has_errors()) else {
        return Ok(Exit::ModelError);
    };
    arguments.experiment.check(&options.experiment, model, screen)?;
    arguments.target.refuse_to_vary(model, &names, screen)?;
    let prepared = Prepared::new(&arguments.study(), model).map_err(|wrong| {
        wrong.iter().for_each(|d| screen.show(d, &SourceMap::new()));
        Exit::ModelError
    })?;
    options.experiment.kept = prepared.kept(None);
    let open = || arguments.target.open_class();
    let runner = Runner {
        model,
        permissions: arguments.target.permissions(),
        names: &names,
        experiment: &options.experiment,
        phases: &prepared.phases,
        watch: &prepared.watch,
        engine: options.engine,
        start: &run.start,
        overrides: &common,
        open: &open,
        stop: &progress::interrupt_flag(),
        n_recompiled: &AtomicUsize::new(0),
        progress: &|| (),
    };
    let tried = prepared.perform(&runner, &mut Worker::default(), &[], Wanted::default()).map_err(|failure| {
        screen.fail(&match failure {
            Failure::Said(said) => *said,
            failure => diagnostics::not_found(Span::nowhere(), &failure.to_string()),
        });
        Exit::RunTimeFailure
    })?;
    if arguments.quiet {
        tried.found.iter().for_each(|value| screen.say(&value.to_string()));
        return Ok(Exit::Success);
    }
    let found: Vec<String> = names.iter().zip(&tried.found).map(|(name, value)| format!("{name} = {value}")).collect();
    let values = arguments.aims.iter().zip(&tried.ran.values);
    let values: Vec<String> = values.map(|((text, _), value)| format!("{text} = {value}")).collect();
    screen.say(&format!("{}: {}", found.join(", "), values.join(", ")));
    let how = match runner.method() {
        Method::CompiledOnce => "compiled once".to_owned(),
        Method::CompiledEach { why } => format!("compiled for each run: {why}"),
    };
    screen.say(&format!("{} runs, {how}", tried.n_runs));
    Ok(Exit::Success)
}
