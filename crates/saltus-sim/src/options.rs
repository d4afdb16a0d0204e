//! What the user may choose about a simulation run.

use std::collections::BTreeSet;

use saltus_program::{MixedMethod, SimProgram};

#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    pub start_time: f64,
    pub stop_time: f64,
    /// Distance of output points.
    pub interval: f64,
    /// Relative tolerance; absolute tolerances are this times the nominal values.
    pub tolerance: f64,
    pub solver: Solver,
    /// Longest step; `None` chooses.
    pub max_step: Option<f64>,
    /// Step of the methods without error control; `None`: the distance of output points.
    pub fixed_step: Option<f64>,
    /// Most steps of a run.
    pub max_steps: u64,
    /// Rounds of one event after which the model is said not to settle.
    pub max_event_rounds: usize,
    pub on_zeno: ZenoPolicy,
    pub events: EventSearch,
    /// How relations and reals that depend on each other are made to agree.
    pub mixed: MixedMethod,
    /// Most memory for rows. Rows at events are left out when half of it is used; when all is used the run ends.
    pub max_result_bytes: usize,
    /// Write two rows at each event?
    pub event_rows: bool,
    /// Write a row at the end of each step?
    pub step_rows: bool,
    pub recorded: Recorded,
}

/// Variables whose values are in the rows.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Recorded {
    #[default]
    All,
    /// Those with these names.
    Only(BTreeSet<String>),
}

impl Recorded {
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Recorded::All => true,
            Recorded::Only(names) => names.contains(name),
        }
    }
}

/// The integration method.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum Solver {
    /// Explicit, or implicit where the model is stiff.
    #[default]
    Auto,
    /// Explicit Runge–Kutta method of order 5(4).
    DormandPrince,
    /// Explicit Runge–Kutta method of order 8, for smooth models and tight tolerances.
    DormandPrince8,
    /// Rosenbrock method of order 5(4), for stiff models with events.
    Rodas,
    /// Backward differentiation formulas, for large stiff models with few events.
    Bdf,
    /// Quantised states, one at a time, for large networks in which little happens at once.
    Liqss2,
    /// Forward Euler with a fixed step.
    Euler,
    /// The classical Runge–Kutta method with a fixed step.
    RungeKutta4,
    /// Backward Euler with a fixed step.
    ImplicitEuler,
}

impl Solver {
    /// As on a command line.
    pub const NAMES: [(&'static str, Solver); 9] = [
        ("auto", Solver::Auto),
        ("dopri5", Solver::DormandPrince),
        ("dop853", Solver::DormandPrince8),
        ("rodas", Solver::Rodas),
        ("bdf", Solver::Bdf),
        ("liqss2", Solver::Liqss2),
        ("euler", Solver::Euler),
        ("rk4", Solver::RungeKutta4),
        ("implicit-euler", Solver::ImplicitEuler),
    ];

    /// Does a shorter step give a more accurate result, and may steps be shorter than the user said?
    pub(crate) fn controls_error(self) -> bool {
        !matches!(self, Solver::Euler | Solver::RungeKutta4 | Solver::ImplicitEuler)
    }

    /// Can it be the method of one configuration of a model whose structure changes?
    pub fn fits_configurations(self) -> bool {
        self != Solver::Liqss2
    }

    /// As on a command line.
    pub fn name(self) -> &'static str {
        Solver::NAMES.iter().find(|(_, solver)| *solver == self).map_or("", |(name, _)| name)
    }

    pub fn from_name(name: &str) -> Option<Solver> {
        Solver::NAMES.iter().find(|(n, _)| *n == name).map(|(_, solver)| *solver)
    }
}

/// What to do where events accumulate (a bouncing ball comes to rest) or alternate without progress (chattering).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ZenoPolicy {
    /// Slide along the threshold where both sides point at it and no state jumps; otherwise stop.
    #[default]
    Auto,
    /// Stop and say why.
    Stop,
    /// Slide as soon as a relation that has just changed would change back at once; otherwise as `Auto`.
    Slide,
    /// Go on with relations held for a short while: may pass through a threshold.
    Continue,
}

impl ZenoPolicy {
    pub const NAMES: [(&'static str, ZenoPolicy); 4] = [
        ("auto", ZenoPolicy::Auto),
        ("stop", ZenoPolicy::Stop),
        ("slide", ZenoPolicy::Slide),
        ("continue", ZenoPolicy::Continue),
    ];

    pub fn from_name(name: &str) -> Option<ZenoPolicy> {
        ZenoPolicy::NAMES.iter().find(|(n, _)| *n == name).map(|(_, policy)| *policy)
    }
}

/// How relations that states move are searched for changes. Those of time alone are known ahead in either case.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum EventSearch {
    /// Look at points of each step, and closer where the values suggest it.
    Fast,
    /// Enclose the crossing functions over each step, at the cost of a part of the steps: no change is missed where that succeeds.
    #[default]
    Proved,
    /// The same at any cost.
    Exhaustive,
}

impl EventSearch {
    pub const NAMES: [(&'static str, EventSearch); 3] =
        [("fast", EventSearch::Fast), ("proved", EventSearch::Proved), ("exhaustive", EventSearch::Exhaustive)];

    pub fn is_proof(self) -> bool {
        self != EventSearch::Fast
    }

    pub fn from_name(name: &str) -> Option<EventSearch> {
        EventSearch::NAMES.iter().find(|(n, _)| *n == name).map(|(_, search)| *search)
    }
}

const DEFAULT_INTERVALS: f64 = 500.0;
/// Output points at most.
const MOST_INTERVALS: u64 = 100_000_000;

impl Options {
    /// What the model's `experiment` annotation asks for; otherwise from 0 to 1 in 500 intervals with tolerance 1e-6.
    pub fn new(program: &SimProgram) -> Self {
        let e = &program.experiment;
        let start_time = e.start_time.unwrap_or(0.0);
        let stop_time = e.stop_time.unwrap_or(start_time + 1.0);
        let interval = e.interval.filter(|i| *i > 0.0).unwrap_or((stop_time - start_time) / DEFAULT_INTERVALS);
        Options {
            start_time,
            stop_time,
            interval,
            tolerance: e.tolerance.unwrap_or(1e-6),
            solver: Solver::Auto,
            max_step: None,
            fixed_step: None,
            max_steps: 50_000_000,
            max_event_rounds: 10_000,
            on_zeno: ZenoPolicy::Auto,
            events: EventSearch::default(),
            mixed: MixedMethod::Auto,
            max_result_bytes: 2_000_000_000,
            event_rows: true,
            step_rows: false,
            recorded: Recorded::All,
        }
    }

    /// Another time span in as many intervals as by default.
    pub fn with_times(mut self, start_time: f64, stop_time: f64) -> Self {
        self.start_time = start_time;
        self.stop_time = stop_time;
        self.interval = (stop_time - start_time) / DEFAULT_INTERVALS;
        self
    }

    pub fn with_solver(mut self, solver: Solver) -> Self {
        self.solver = solver;
        self
    }

    /// Which option is impossible, if any.
    pub fn mistake(&self) -> Option<String> {
        let (start, stop, interval) = (self.start_time, self.stop_time, self.interval);
        if !(start.is_finite() && stop.is_finite()) {
            return Some(format!("the time span must be finite, found {start} to {stop}"));
        }
        if start > stop {
            return Some(format!("the stop time {stop} must not be before the start time {start}"));
        }
        if !(interval > 0.0 || start == stop) {
            return Some(format!("the output interval must be positive, found {interval:?}"));
        }
        if start < stop && self.n_intervals() > MOST_INTERVALS {
            let span = stop - start;
            return Some(format!(
                "the output interval {interval:?} is too small for the time span of {span:?}: more than {MOST_INTERVALS} points"
            ));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Some(format!("the tolerance must be between 0 and 1, found {}", self.tolerance));
        }
        let wrong = [self.max_step, self.fixed_step].into_iter().flatten().find(|&h| h <= 0.0 || h.is_nan());
        wrong.map(|h| format!("a step size must be positive, found {h}"))
    }

    /// Output points of the run; the last is the stop time.
    pub(crate) fn output_point(&self, k: u64) -> f64 {
        if k >= self.n_intervals() { self.stop_time } else { self.start_time + k as f64 * self.interval }
    }

    /// Number of the first output point after `t`.
    pub(crate) fn first_output_after(&self, t: f64) -> u64 {
        let about = ((t - self.start_time) / self.interval).floor();
        let mut k = if about.is_finite() && about > 1.0 { about as u64 - 1 } else { 1 };
        while k <= self.n_intervals() && self.output_point(k) <= t {
            k += 1;
        }
        k
    }

    /// Output points after the first.
    pub fn n_intervals(&self) -> u64 {
        let n = (self.stop_time - self.start_time) / self.interval;
        // A quotient just above an integer is a rounding error, not another interval.
        if n.is_finite() { (n - 1e-9).ceil().max(1.0) as u64 } else { 1 }
    }

    pub(crate) fn time_span(&self) -> f64 {
        self.stop_time - self.start_time
    }
}
