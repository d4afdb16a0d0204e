//! How a simulation can fail. Always with the time, names and what was computed until then.

use std::fmt;

use saltus_base::Span;

use saltus_program::Details;

use crate::Trajectory;

#[derive(Clone, PartialEq, Debug)]
pub struct SimError {
    pub time: f64,
    pub kind: SimErrorKind,
    /// The equation, relation or declaration it is about.
    pub span: Span,
    /// Other equations and the values that took part.
    pub details: Box<Details>,
    /// Results up to the failure.
    pub partial: Box<Trajectory>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum SimErrorKind {
    /// Times, interval or tolerance that make no sense.
    BadOptions {
        what: String,
    },
    /// The model cannot be simulated by quantised states.
    NotQuantised {
        why: String,
    },
    /// A variable got a value that is not a number.
    NotANumber {
        variable: String,
        during: &'static str,
        /// As in `division by zero in ...`.
        why: Option<String>,
    },
    /// A loop without solution, or a function that failed.
    CannotEvaluate {
        message: String,
        during: &'static str,
        /// It is a loop.
        is_unsolved: bool,
    },
    /// No step is small enough for the tolerance; the state that changes fastest.
    StepTooSmall {
        state: String,
    },
    TooManySteps {
        most: u64,
    },
    /// An event did not settle: these variables change in every round, or go back and forth.
    EventDoesNotSettle {
        rounds: usize,
        is_cycle: bool,
        changing: Vec<String>,
    },
    /// Events at which states jump follow each other faster than time can resolve.
    Zeno {
        relation: String,
        /// Where they accumulate, if their intervals shrink like a geometric series.
        accumulation: Option<f64>,
    },
    /// Very many events in a very short time.
    Chattering {
        events: u64,
        relation: String,
        /// What alternates, as in `x > 0.0 = false or true`.
        modes: Vec<String>,
    },
    /// Many steps in which no state has moved by more than rounding, near this threshold.
    Stuck {
        steps: u64,
        relation: String,
    },
    /// More thresholds than can be slid along together.
    TooManyThresholds {
        relations: String,
    },
    AssertionFailed {
        message: String,
    },
    /// An Integer beyond those that a `f64` holds exactly.
    IntegerOverflow {
        variable: String,
        value: f64,
    },
    /// An initial condition that was not needed does not hold.
    InitialContradiction {
        condition: String,
        left: f64,
        right: f64,
    },
    /// A configuration of a model whose structure changes cannot be compiled or entered.
    CannotEnter {
        configuration: String,
        why: String,
        hints: Vec<String>,
    },
    /// The time that the user allowed is over.
    TimeLimit {
        seconds: f64,
    },
    /// The results fill the memory that the user allowed.
    ResultsTooLarge {
        bytes: usize,
    },
    /// The rows or events cannot be written.
    CannotRecord {
        why: String,
    },
    /// A value cannot be set.
    CannotSet {
        why: String,
    },
    /// The caller interrupted the run.
    Interrupted,
    /// `delay(expr, delayTime, delayMax)` needs a delay that is neither negative nor longer than `delayMax`.
    BadDelay {
        delay: f64,
        most: Option<f64>,
    },
    /// `sample(start, interval)` needs a positive interval.
    BadSample {
        interval: f64,
    },
    /// The interval of a clock is not positive, or too small for the resolution of time.
    BadClock {
        interval: f64,
    },
}

impl fmt::Display for SimErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimErrorKind::BadOptions { what } => write!(f, "{what}"),
            SimErrorKind::NotANumber { variable, during, why } => {
                write!(f, "{variable} is not a finite number {during}")?;
                why.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))
            }
            SimErrorKind::CannotEvaluate { message, during, .. } => write!(f, "{message} ({during})"),
            SimErrorKind::StepTooSmall { state } => {
                write!(f, "no step is small enough for the tolerance")?;
                let is_named = !state.is_empty();
                if is_named { write!(f, ": {state} changes ever faster, as at a singularity") } else { Ok(()) }
            }
            SimErrorKind::NotQuantised { why } => write!(f, "the solver liqss2 cannot simulate this model: {why}"),
            SimErrorKind::TooManySteps { most } => write!(f, "stopped after the limit of {most} steps"),
            SimErrorKind::EventDoesNotSettle { rounds, is_cycle, changing } => {
                let what = if *is_cycle { "rounds these go back and forth" } else { "rounds still changing" };
                write!(f, "the event does not settle: after {rounds} {what}: {}", changing.join(", "))
            }
            SimErrorKind::Zeno { relation, accumulation } => {
                write!(f, "events of `{relation}` accumulate")?;
                if let Some(t) = accumulation {
                    write!(f, " at time {t}")?;
                }
                write!(f, ": they follow each other faster than time can resolve")
            }
            SimErrorKind::Chattering { events, relation, modes } => {
                write!(f, "chattering: {events} events with practically no progress, the last one of `{relation}`")?;
                if modes.is_empty() { Ok(()) } else { write!(f, "; alternating: {}", modes.join(", ")) }
            }
            SimErrorKind::CannotEnter { configuration, why, .. } => {
                write!(f, "the configuration with {configuration} cannot be entered: {why}")
            }
            SimErrorKind::TimeLimit { seconds } => write!(f, "stopped after the time limit of {seconds} s"),
            SimErrorKind::ResultsTooLarge { bytes } => write!(f, "the results need more than {bytes} bytes"),
            SimErrorKind::CannotRecord { why } => write!(f, "{why}"),
            SimErrorKind::CannotSet { why } => write!(f, "{why}"),
            SimErrorKind::Interrupted => write!(f, "interrupted"),
            SimErrorKind::Stuck { steps, relation } => write!(
                f,
                "in {steps} steps no state has moved by more than a hundred-billionth of itself: steps become too short near the threshold of `{relation}`, as where a root reaches zero"
            ),
            SimErrorKind::TooManyThresholds { relations } => write!(
                f,
                "{relations} change back and forth at the same time and influence each other: they cannot be slid along together"
            ),
            SimErrorKind::AssertionFailed { message } => write!(f, "assertion failed: {message}"),
            SimErrorKind::IntegerOverflow { variable, value } => {
                write!(f, "Integer overflow: {variable} is {value:e}, beyond ±2^53, up to which Integers are exact")
            }
            SimErrorKind::InitialContradiction { condition, left, right } => {
                write!(
                    f,
                    "too many initial conditions, and they contradict each other: the others determine the variables \
                     of `{condition}`, whose sides are {left} and {right}"
                )
            }
            SimErrorKind::BadDelay { delay, most: Some(most) } if *delay >= 0.0 => {
                write!(f, "a delay of {delay}: it must not be longer than {most}, its `delayMax`")
            }
            SimErrorKind::BadDelay { delay, .. } => write!(f, "a delay of {delay}: it must not be negative"),
            SimErrorKind::BadSample { interval } => {
                write!(f, "sample with the interval {interval}: it must be positive")
            }
            SimErrorKind::BadClock { interval } => {
                write!(
                    f,
                    "a clock with the interval {interval} s: it must be positive, and time must be able to advance by it"
                )
            }
        }
    }
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at time {}: {}", self.time, self.kind)
    }
}

impl std::error::Error for SimError {}

/// A failure before the partial results are attached.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Failure {
    pub time: f64,
    pub kind: SimErrorKind,
    pub span: Span,
    pub details: Box<Details>,
    /// A subscript is outside of its array: an assertion may know where.
    pub is_subscript: bool,
}

impl Failure {
    pub fn new(time: f64, kind: SimErrorKind) -> Self {
        Failure { time, kind, span: Span::nowhere(), details: Box::default(), is_subscript: false }
    }

    /// May a smaller step help?
    pub fn is_recoverable(&self) -> bool {
        matches!(self.kind, SimErrorKind::NotANumber { .. } | SimErrorKind::CannotEvaluate { .. })
    }

    /// Has an expression no value where it was evaluated, or does it get there in no step, as near the end of a root?
    pub fn is_at_an_end(&self) -> bool {
        self.is_recoverable() && !self.is_unsolved() || matches!(self.kind, SimErrorKind::StepTooSmall { .. })
    }

    /// Have the equations no solution near the last one?
    pub fn is_unsolved(&self) -> bool {
        matches!(self.kind, SimErrorKind::CannotEvaluate { is_unsolved: true, .. })
    }

    /// All starts have been tried: there is no other solution.
    pub fn after_all_starts(mut self) -> Self {
        if let SimErrorKind::CannotEvaluate { is_unsolved, .. } = &mut self.kind {
            *is_unsolved = false;
        }
        self
    }

    /// What was tried besides: continuation from the simplified equations, which had solutions up to this parameter.
    pub fn after_homotopy(mut self, reached: Option<f64>) -> Self {
        let tried = match reached {
            Some(lambda) => format!("; homotopy found solutions up to λ = {lambda:.4}, but not to 1"),
            None => "; homotopy found no solution of the simplified equations".to_owned(),
        };
        if let SimErrorKind::CannotEvaluate { message, .. } = &mut self.kind {
            message.push_str(&tried);
        }
        self
    }

    pub fn with(mut self, details: Details) -> Self {
        self.details = Box::new(details);
        self
    }

    pub fn at(mut self, span: Span) -> Self {
        self.span = span;
        self
    }
}
