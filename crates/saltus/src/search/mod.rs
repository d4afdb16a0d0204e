//! Searches over parameters of a model: each value of the function costs a run.
//!
//! | question | method |
//! |---|---|
//! | one parameter between two ends meets one target | [`bracket`]: false position with bisection |
//! | several parameters meet as many targets, or as nearly as possible more of them | [`least_squares`] |
//! | what makes an expression smallest | [`simplex`]: no derivatives, within bounds |
//!
//! All of them get a function that may fail: a run that ends early says nothing about its neighbours.

pub mod bracket;
pub mod least_squares;
pub mod simplex;

pub use bracket::{Found, NotFound, find};

/// A parameter that is searched for.
#[derive(Clone, PartialEq, Debug)]
pub struct Unknown {
    pub name: String,
    pub start: f64,
    /// Infinite where there is none.
    pub min: f64,
    pub max: f64,
}

impl Unknown {
    /// What counts as one: the distance of the bounds, or the size of the start value.
    pub fn scale(&self) -> f64 {
        let width = self.max - self.min;
        let size = if width.is_finite() && width > 0.0 { 0.25 * width } else { self.start.abs() };
        if size > 0.0 { size } else { 1.0 }
    }

    fn clamp(&self, value: f64) -> f64 {
        value.max(self.min).min(self.max)
    }
}

/// How a search ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Minimum {
    pub parameters: Vec<f64>,
    /// The value of the objective: the sum of squares for least squares.
    pub value: f64,
    pub runs: usize,
    pub end: End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The targets are met, or nothing better is near.
    Converged,
    /// The limit on the number of runs came first.
    MostRuns,
    /// It was interrupted.
    Stopped,
}

/// Why a function has no value.
#[derive(Clone, PartialEq, Debug)]
pub enum NoValue {
    /// The run failed; another point may do.
    Failed(String),
    /// No more runs, please.
    Stopped,
}
