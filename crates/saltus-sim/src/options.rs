//! What the user may choose about a simulation run.

use saltus_program::SimProgram;

#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    pub start_time: f64,
    pub stop_time: f64,
    /// Distance of output points.
    pub interval: f64,
    /// Relative tolerance; absolute tolerances are this times the nominal values.
    pub tolerance: f64,
    /// Longest step; `None` chooses.
    pub max_step: Option<f64>,
    /// Steps after which the run is given up.
    pub max_steps: u64,
    /// Rounds of one event after which the model is said not to settle.
    pub max_event_rounds: usize,
}

const DEFAULT_INTERVALS: f64 = 500.0;

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
            max_step: None,
            max_steps: 50_000_000,
            max_event_rounds: 200,
        }
    }

    /// Another time span in as many intervals as by default.
    pub fn with_times(mut self, start_time: f64, stop_time: f64) -> Self {
        self.start_time = start_time;
        self.stop_time = stop_time;
        self.interval = (stop_time - start_time) / DEFAULT_INTERVALS;
        self
    }

    /// Output points of the run; the last is the stop time.
    pub(crate) fn output_point(&self, k: u64) -> f64 {
        if k >= self.n_intervals() { self.stop_time } else { self.start_time + k as f64 * self.interval }
    }

    pub(crate) fn n_intervals(&self) -> u64 {
        let n = (self.stop_time - self.start_time) / self.interval;
        // A quotient just above an integer is a rounding error, not another interval.
        if n.is_finite() { (n - 1e-9).ceil().max(1.0) as u64 } else { 1 }
    }
}
