//! Studies: what to do with a model, written in a file.
//!
//! In: the text of a TOML file ([`read`]), a compiled model. Out: the numbers that the file asks for, of one run, of a sequence of
//! runs that go on from each other, of thousands of variations, or of a search; tables and trajectories go out as they are made.
//!
//! ```text
//! text ──read──► Study ──Prepared::new──► Prepared ──for_all, perform──► Tried, Tried, …
//! ```
//!
//! A *point* is one combination of varied parameters. At each there is a *task*: a run, a search for a root or least squares
//! ([`crate::search`]), or an optimisation. A run consists of *phases*; each goes on from the state of the last one, as the thesis of 1997 has
//! it in its "extended experiment". Points are shared out among threads and delivered in their order, a bounded number of them at a time.

pub mod expression;
mod items;
mod parse;
mod phases;
pub mod read;
mod runs;
pub mod schema;
mod sinks;
mod task;
pub mod variation;
pub mod watch;

use std::path::PathBuf;

use saltus_base::{SourceMap, Span};

use crate::pipeline::{Engine, Experiment};
use crate::search::Unknown;

pub use expression::{Event, Expr, Mistake, Pattern};
pub use phases::{PreparedPhase, Ran};
pub use read::read;
pub use runs::{Failure, Method, Open, Runner, Wanted, Worker, for_all, overrides};
pub use task::{LinearizePrepared, Objective, Prepared, Task, Trial, Tried};
pub use variation::{Axis, MOST_POINTS, Points, Variation};

/// A study as it is written.
#[derive(Clone, Default)]
pub struct Study {
    pub title: String,
    pub model: ModelChoice,
    /// Values for all runs, as Modelica expressions.
    pub values: Vec<(String, String)>,
    /// Where parameters are named.
    pub places: Vec<(String, Span)>,
    pub experiment: Experiment,
    pub engine: Engine,
    pub jobs: Option<usize>,
    pub phases: Vec<Phase>,
    pub variation: Option<Variation>,
    pub goal: Option<Goal>,
    pub linearizations: Vec<LinearizeAt>,
    /// Names and expressions.
    pub record: Vec<Recorded>,
    pub output: Output,
    pub plots: Vec<Plot>,
    /// The file, for messages.
    pub sources: SourceMap,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct ModelChoice {
    pub class: Option<String>,
    pub files: Vec<PathBuf>,
    pub libraries: Vec<PathBuf>,
    pub allow_io: bool,
    pub allow_external: bool,
}

/// A part of a run with settings of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    pub name: String,
    pub until: Until,
    /// The latest end of one that waits for an event.
    pub stop_time: Option<f64>,
    /// What replaces the settings of the study.
    pub settings: Vec<(String, Setting)>,
    pub values: Vec<Change>,
    pub span: Span,
}

/// A setting of an experiment, as it is written.
#[derive(Clone, PartialEq, Debug)]
pub enum Setting {
    Number(f64),
    Text(String),
}

/// What a phase changes where it begins.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    pub name: String,
    pub value: Value,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Number(f64),
    /// The name of a literal, or an expression of the values before.
    Text(String, Option<Expr>),
}

#[derive(Clone, PartialEq, Default, Debug)]
pub enum Until {
    /// The stop time of the experiment.
    #[default]
    Stop,
    Time(f64),
    Duration(f64),
    Event(Event),
    Condition(Expr),
}

/// What is searched for.
#[derive(Clone, PartialEq, Debug)]
pub struct Goal {
    pub unknowns: Vec<Unknown>,
    pub aim: Aim,
    /// Of an optimisation: of the parameters, relative to their scales.
    pub tolerance: f64,
    pub most_runs: usize,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Aim {
    /// Expressions and what they shall be.
    Targets(Vec<Target>),
    Smallest {
        objective: Expr,
        text: String,
        is_largest: bool,
        span: Span,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    pub text: String,
    pub expression: Expr,
    pub value: f64,
    /// How close is close enough.
    pub within: f64,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct LinearizeAt {
    pub place: LinearizePlace,
    pub file: Option<PathBuf>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum LinearizePlace {
    Times(Vec<f64>),
    /// After each such event; with a number only after that one.
    Event(Event),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    pub name: String,
    pub expression: Expr,
    pub span: Span,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Output {
    pub table: Option<PathBuf>,
    pub trajectories: Option<PathBuf>,
    pub variables: Vec<String>,
    pub events: Option<PathBuf>,
    pub report: Option<PathBuf>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Plot {
    pub file: PathBuf,
    pub title: Option<String>,
    pub y: Vec<String>,
    pub x: Option<String>,
    pub span: Span,
}
