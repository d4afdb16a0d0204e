//! What an instance has spent on the parts of its program, if that was measured.
//!
//! The time of a section is measured in the pieces in which it is evaluated: loops by themselves, assignments as machine code has
//! merged them. Merged assignments are straight lines of code, so their time is shared out by their operations.

use std::ops::AddAssign;
use std::time::Duration;

use saltus_base::Span;

use crate::{Activation, CallableId};

/// How often something was done, and how long that took altogether.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cost {
    pub count: u64,
    pub time: Duration,
}

impl Cost {
    pub fn once(time: Duration) -> Cost {
        Cost { count: 1, time }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.count += other.count;
        self.time += other.time;
    }
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct InstanceCosts {
    pub sections: Vec<SectionCosts>,
    /// What directional derivatives have cost, by the blocks that were differentiated.
    pub tangents: Vec<TangentCosts>,
    pub calls: Vec<CallCosts>,
}

impl InstanceCosts {
    /// Of all sections.
    pub fn time(&self) -> Duration {
        self.sections.iter().flat_map(|section| &section.blocks).map(|block| block.cost.time).sum()
    }
}

/// The blocks of a section, in their order.
#[derive(Clone, PartialEq, Debug)]
pub struct SectionCosts {
    pub activation: Activation,
    pub blocks: Vec<BlockCosts>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BlockCosts {
    /// Functions that the block calls are part of it.
    pub cost: Cost,
    /// The part of this time that was measured of several blocks together, and shared out among them by their operations.
    pub estimated: Duration,
    /// Iterations of Newton's method.
    pub iterations: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TangentCosts {
    pub span: Span,
    pub is_loop: bool,
    pub cost: Cost,
    /// As in [`BlockCosts`].
    pub estimated: Duration,
}

/// Calls of a function for one equation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallCosts {
    pub callable: CallableId,
    pub span: Span,
    /// Its derivative along a direction.
    pub is_derivative: bool,
    pub cost: Cost,
}
