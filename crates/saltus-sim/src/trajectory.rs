//! Results: values over time, the record of events, and how the run ended.

use saltus_base::Span;
use saltus_program::{LoopStatistics, SlotType};

use crate::record::EventRecord;
use crate::rows::Rows;

/// A run; one segment for each stretch with the same variables.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Trajectory {
    pub segments: Vec<Segment>,
    /// Constants and parameters with their values.
    pub parameters: Vec<(String, f64)>,
    pub events: Vec<EventRecord>,
    /// Violations of assertions of level warning, and other remarks.
    pub warnings: Vec<Warning>,
    /// What was done that the model does not say, as sliding along a threshold; each once.
    pub notes: Vec<(f64, String)>,
    pub statistics: Statistics,
    /// How changes of each relation were found.
    pub detection: Vec<RelationDetection>,
    /// States that stayed below their absolute tolerances: not one digit of them is known.
    pub below_tolerance: Vec<String>,
    /// States that stayed so small beside their absolute tolerances that two digits of them are not known, though one is.
    pub of_one_digit: Vec<String>,
    /// Functions that could be differentiated by differences only.
    pub difference_functions: Vec<String>,
    pub end: End,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    pub kind: WarningKind,
    pub time: f64,
    pub message: String,
    /// The assertion, or an equation without solution.
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum WarningKind {
    /// An assertion of level warning does not hold.
    Assertion,
    /// Neither does this one, and further violations of it are not told.
    LastViolation,
    /// A threshold was passed at which the model should have been turned back; its relation is the message.
    Tunnel,
    /// The solution of the equations ended and another one was found.
    Jump,
    /// The equations of the start leave a variable open; its name is the message.
    Undetermined,
    /// An equation of a loop does not hold where no number is nearer to a solution; the message is how far its sides are apart.
    Unfulfilled,
    /// Nothing determines a variable of an ideal element that has no effect beside others; its name is the message.
    Free,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Segment {
    pub variables: Vec<Column>,
    pub times: Vec<f64>,
    pub rows: Rows,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    pub name: String,
    pub ty: SlotType,
    /// Where its value is in a row; variables that are always equal share one.
    pub place: usize,
}

#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum End {
    #[default]
    StopTime,
    /// `terminate(message)`
    Terminated { message: String },
}

/// How changes of a relation were found.
#[derive(Clone, PartialEq, Debug)]
pub struct RelationDetection {
    /// As in the source: `h < 0.0`.
    pub relation: String,
    pub span: Span,
    /// Time alone moves it: its changes are found ahead of the integration. Then searches are counted, else steps.
    pub is_time_alone: bool,
    /// How often it was proved that no change was missed.
    pub proved: u64,
    /// How often it was looked at in points only.
    pub sampled: u64,
    /// What counts as rounding for its nominal value, or for 1, is much beside the values that it has had: when it has changed, or whether, is not known exactly.
    pub is_coarse: bool,
}

/// What the run cost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Statistics {
    pub steps: u64,
    pub rejected_steps: u64,
    /// Of the right-hand side by the integrator, those for Jacobians included.
    pub derivative_evaluations: u64,
    pub jacobian_evaluations: u64,
    /// Of these: taken by differences of the whole model.
    pub difference_jacobians: u64,
    /// Calls of functions inside of exact Jacobians that were differentiated by differences.
    pub difference_calls: u64,
    pub factorisations: u64,
    pub crossing_evaluations: u64,
    /// All events, also those that the record had no room for.
    pub events: u64,
    pub state_events: u64,
    pub time_events: u64,
    /// Rounds of all events.
    pub event_iterations: u64,
    pub restarts: u64,
    /// Changes between explicit and implicit method.
    pub method_switches: u64,
    pub loops: LoopStatistics,
}

impl Segment {
    /// The values at a place over time.
    pub fn at(&self, place: usize) -> Vec<f64> {
        self.rows.at(place)
    }

    /// The values of the last row, by variable.
    pub fn last_row(&self) -> Option<Vec<f64>> {
        self.times.last()?;
        Some(self.variables.iter().map(|c| self.rows.last(c.place).unwrap_or(f64::NAN)).collect())
    }
}

impl Trajectory {
    /// All values of a variable over time, as (time, value).
    pub fn series(&self, name: &str) -> Option<Vec<(f64, f64)>> {
        let mut found = None;
        for segment in &self.segments {
            if let Some(column) = segment.variables.iter().find(|c| c.name == name) {
                let rows = segment.times.iter().copied().zip(segment.at(column.place));
                found.get_or_insert_with(Vec::new).extend(rows);
            }
        }
        found
    }

    /// The last value of a variable.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.series(name)?.last().map(|&(_, value)| value)
    }
}
