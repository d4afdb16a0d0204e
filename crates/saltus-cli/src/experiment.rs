//! Options about a run: time span, output points, tolerance, method.

use saltus::pipeline::{Engine, Experiment, Output};
use saltus::{Model, diagnostics};
use saltus_base::Diagnostic;
use saltus_results::Kept;
use saltus_sim::{EventSearch, MixedMethod, Solver, ZenoPolicy};

use crate::numbers::{finite, part, positive};
use crate::{Exit, Screen};

#[derive(clap::Args)]
pub struct ExperimentArguments {
    /// Seconds; otherwise from the experiment annotation, or 0.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = finite)]
    pub start_time: Option<f64>,
    /// Seconds; otherwise from the experiment annotation, or one second after the start.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = finite)]
    pub stop_time: Option<f64>,
    /// Number of equal parts of the time span between output points; 500 otherwise.
    #[arg(long, value_name = "N", conflicts_with = "interval", value_parser = clap::value_parser!(u32).range(1..))]
    pub intervals: Option<u32>,
    /// Seconds between output points.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub interval: Option<f64>,
    /// Relative tolerance of the integration; otherwise from the experiment annotation, or 1e-6.
    #[arg(long, allow_negative_numbers = true, value_parser = part)]
    pub tolerance: Option<f64>,
    /// Integration method: chosen automatically, explicit (dopri5, dop853), stiff (rodas, bdf), one state at a time
    /// for large networks that switch (liqss2), or with a fixed step (euler, rk4, implicit-euler).
    #[arg(long, value_name = "METHOD", value_parser = solvers(), default_value = "auto")]
    pub solver: String,
}

/// Options that only a single run has.
#[derive(clap::Args)]
pub struct RunArguments {
    /// Longest step of the integration.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub max_step: Option<f64>,
    /// Write a row at the end of each step of the integration too, not only at output points and events.
    #[arg(long)]
    pub step_rows: bool,
    /// Step of the methods without error control; otherwise the output interval.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub fixed_step: Option<f64>,
    /// What to do where events accumulate or alternate without progress: slide along the threshold where that is
    /// possible and stop otherwise (auto, slide), stop with a diagnosis, or go on.
    #[arg(long, value_name = "POLICY", value_parser = policies(), default_value = "auto")]
    pub on_zeno: String,
    /// How changes of relations are found in steps of the integration: by looks at points (fast), or by enclosing them over the whole
    /// step, so that none is missed, for a part of what the steps cost (proved) or at any cost (exhaustive). Those of time alone are
    /// always found ahead.
    #[arg(long, value_name = "SEARCH", value_parser = searches(), default_value = "proved")]
    pub events: String,
    /// How relations in algebraic loops are found: by one method after the other, or by one alone.
    #[arg(long, value_name = "METHOD", value_parser = mixed_methods(), default_value = "auto")]
    pub mixed: String,
    /// How equations are evaluated; the results are the same.
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t = EngineName::Auto)]
    pub engine: EngineName,
}

fn solvers() -> clap::builder::PossibleValuesParser {
    Solver::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().into()
}

fn policies() -> clap::builder::PossibleValuesParser {
    ZenoPolicy::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().into()
}

fn searches() -> clap::builder::PossibleValuesParser {
    EventSearch::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().into()
}

fn mixed_methods() -> clap::builder::PossibleValuesParser {
    MixedMethod::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().into()
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineName {
    /// Compile what runs often.
    Auto,
    /// Compile everything that may run often, from the start.
    Jit,
    /// Compile nothing.
    Interp,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Auto => Engine::Auto,
            EngineName::Jit => Engine::Jit,
            EngineName::Interp => Engine::Interpreter,
        }
    }
}

impl ExperimentArguments {
    /// Refuses options that do not fit to each other or to the experiment of the model.
    pub fn check(&self, experiment: &Experiment, model: &Model, screen: &Screen) -> Result<(), Exit> {
        let idle = model.idle_patterns(&experiment.kept);
        let mut wrong: Vec<Diagnostic> = idle.iter().map(diagnostics::nothing_kept).collect();
        wrong.extend(experiment.mistake(&experiment.settings(model.program())));
        wrong.iter().for_each(|wrong| {
            screen.fail(wrong);
        });
        if wrong.is_empty() { Ok(()) } else { Err(Exit::Usage) }
    }

    /// What the pipeline needs; `Err` if the times are in the wrong order.
    pub fn experiment(&self, run: Option<&RunArguments>, screen: &Screen) -> Result<Experiment, Exit> {
        if let (Some(start), Some(stop)) = (self.start_time, self.stop_time)
            && start > stop
        {
            screen.fail(&diagnostics::backwards(start, stop));
            return Err(Exit::Usage);
        }
        let by_number = self.intervals.map(Output::Intervals);
        Ok(Experiment {
            start_time: self.start_time,
            stop_time: self.stop_time,
            output: by_number.or(self.interval.map(Output::Interval)),
            step_rows: run.is_some_and(|r| r.step_rows),
            tolerance: self.tolerance,
            solver: Solver::from_name(&self.solver).unwrap_or_default(),
            max_step: run.and_then(|r| r.max_step),
            fixed_step: run.and_then(|r| r.fixed_step),
            on_zeno: run.and_then(|r| ZenoPolicy::from_name(&r.on_zeno)).unwrap_or_default(),
            events: run.and_then(|r| EventSearch::from_name(&r.events)).unwrap_or_default(),
            mixed: run.and_then(|r| MixedMethod::from_name(&r.mixed)).unwrap_or_default(),
            time_limit: None,
            kept: Kept::default(),
        })
    }
}
