//! Operators that need values of the past.

use saltus_base::Span;

use crate::SlotId;

#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct History {
    pub delays: Vec<Delay>,
    pub transports: Vec<Transport>,
}

/// `delay(expr, delayTime)`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Delay {
    /// Holds `expr` after the crossing section and after the initial sections.
    pub input: SlotId,
    /// Holds `delayTime`: a parameter if the delay is fixed, else a variable.
    pub time: SlotId,
    /// Set by the driver.
    pub output: SlotId,
    /// A parameter that holds `delayMax`.
    pub most: Option<SlotId>,
    pub is_fixed: bool,
    /// `expr` changes at events only, whatever its declared variability.
    pub is_discrete: bool,
    /// `expr` is the derivative of what another delay keeps: before the start that was constant, and this is zero.
    pub is_rate: bool,
    pub span: Span,
}

/// `spatialDistribution(in0, in1, x, positiveVelocity, …)`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Transport {
    /// Hold `in0` and `in1` after the crossing section.
    pub inputs: [SlotId; 2],
    /// Holds `x`.
    pub position: SlotId,
    /// Holds `positiveVelocity` after the crossing section.
    pub is_positive: SlotId,
    /// What arrives at 0 and at 1; set by the driver.
    pub outputs: [SlotId; 2],
    /// Points and values at the start.
    pub profile: Vec<(SlotId, SlotId)>,
    pub span: Span,
}
