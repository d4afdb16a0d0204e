//! Continuous states, fixed or chosen while the simulation runs.

use saltus_base::Span;

use crate::SlotId;

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct State {
    pub value: SlotId,
    pub derivative: SlotId,
    /// Scales the absolute tolerance.
    pub nominal: f64,
    /// It may grow without bound: only its absolute error counts.
    pub unbounded: bool,
}

/// N candidates with K constraints between them: N - K of the candidates are states, which ones is decided by the driver.
///
/// ```text
/// x^2 + y^2 = 1     candidates x, y     state s = x or y     coefficients of the constraint: 2 * x, 2 * y
/// ```
///
/// The candidates are solved from the constraints and from `s = candidate(choice)`. A candidate may stop being a state while
/// the constraints can be solved for those that are not states: while their columns of coefficients are regular.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct StateSet {
    /// The same choice for velocities and positions, highest derivatives first.
    pub levels: Vec<StateSetLevel>,
    /// For each state the number of its candidate, from 1; set by the driver.
    pub choice: Vec<SlotId>,
    /// For each candidate: how much it is wanted as a state; one is ordinary.
    pub weights: Vec<f64>,
    /// For each candidate the typical magnitude.
    pub nominals: Vec<f64>,
    pub n_constraints: usize,
    /// Constraint, candidate and the slot of the coefficient after the selection section; others are zero.
    pub coefficients: Vec<(u32, u32, SlotId)>,
    /// The first constraint.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct StateSetLevel {
    /// As many as candidates without constraints.
    pub states: Vec<SlotId>,
    pub candidates: Vec<SlotId>,
}
