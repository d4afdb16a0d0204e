//! Straight-line code in single-assignment form: each operation defines one value, later ones use it.
//!
//! Both operands of a `Select` are evaluated, but a call may have a condition under which it is made; operations never trap, they yield NaN. A NaN that is stored shows at the
//! block that stored it.

use std::sync::Arc;

use saltus_base::Span;
use saltus_procedure::{BinaryFn, UnaryFn};

use crate::{CallableId, Repeat, SlotId};

/// Position of an operation in its [`Code`], which is the number of the value it defines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct ValueId(pub u32);

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Op {
    Const(f64),
    Load(SlotId),
    Unary(UnaryFn, ValueId),
    Binary(BinaryFn, ValueId, ValueId),
    /// condition, value if it is not zero, value otherwise
    Select(ValueId, ValueId, ValueId),
    /// Makes the call with this position in [`Code::calls`]; the value itself means nothing.
    Call(u32),
    /// A scalar result of a call made before: position of the call, number of the result.
    Result(u32, u32),
}

impl Op {
    /// The slot that the operation loads.
    pub fn loaded(&self) -> Option<SlotId> {
        if let Op::Load(slot) = self { Some(*slot) } else { None }
    }
}

/// A call of a function that is not written out as operations.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Call {
    pub callable: CallableId,
    /// The scalars of all numeric arguments, in order.
    pub arguments: Vec<ValueId>,
    /// While one of them does not hold nothing uses the results, and the call is not made.
    pub conditions: Vec<Condition>,
}

/// Holds if the value is a truth that `is` so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Condition {
    pub value: ValueId,
    pub is: bool,
}

impl Call {
    /// The values that the call needs.
    pub fn operands(&self) -> impl Iterator<Item = ValueId> {
        self.arguments.iter().copied().chain(self.conditions.iter().map(|c| c.value))
    }
}

#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Code {
    pub ops: Vec<Op>,
    pub calls: Vec<Call>,
}

/// One step of a section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Block {
    Assign(Assign),
    Loop(Arc<Loop>),
    Repeat(Arc<Repeat>),
}

/// Code with the slots it defines.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Assign {
    pub code: Code,
    pub stores: Vec<(ValueId, SlotId)>,
    /// The equation it came from.
    pub span: Span,
}

/// Equations that must be solved together: `0 = residuals(unknowns)`.
///
/// ```text
/// x + y = 3;  x * y = 2;     unknowns: y     body: x := 3 - y     residual: x * y - 2
/// ```
///
/// `body` reads the unknowns from their slots, stores the variables that follow from them (torn out of the loop), and
/// defines the residuals. The Jacobian is total: the torn variables are substituted. A *mixed* loop also determines
/// discrete variables (the memory of relations, Booleans): with these frozen the residuals are solved, then the
/// discrete part is evaluated, until both agree.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Loop {
    pub unknowns: Vec<Unknown>,
    pub body: Assign,
    /// As many as unknowns, values of `body`.
    pub residuals: Vec<ValueId>,
    /// Equation of each residual, then those that the body solves, in the order of its stores.
    pub spans: Vec<Span>,
    pub jacobian: Option<Jacobian>,
    /// The Jacobian does not depend on the unknowns: one Newton step is exact.
    pub is_linear: bool,
    /// The discrete variables of a mixed loop, evaluated after the reals; empty otherwise.
    pub discrete: Option<Assign>,
    /// Rounding errors may grow beyond all measure in the body: solutions are confirmed by the residuals as they are written.
    pub may_grow: bool,
    /// The equations before tearing, where they are not linear.
    pub original: Option<Original>,
}

/// The equations of a loop as they were before some were solved for the inner variables. These are unknowns here, so that each begins with a
/// start value of its own, and no inverse is taken.
///
/// ```text
/// y = x^2;  y + z = 2;  z = exp(x)     torn over y:  x := sqrt(y), which fails at y = -1     original:  y - x^2 is defined everywhere
/// ```
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Original {
    /// Reads the unknowns of the loop and the inner variables from their slots.
    pub code: Code,
    /// Left minus right sides, as many as unknowns and inner variables.
    pub residuals: Vec<ValueId>,
    /// The variables that the body of the loop stores.
    pub inner: Vec<Unknown>,
}

/// An iteration variable.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Unknown {
    pub slot: SlotId,
    /// Typical magnitude, for scaling.
    pub nominal: f64,
    pub min: f64,
    pub max: f64,
}

/// Partial derivatives of the residuals by the unknowns; entries that are not listed are zero.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Jacobian {
    pub code: Code,
    /// Row, column, value.
    pub entries: Vec<(u32, u32, ValueId)>,
    /// The entries are made of parameters.
    pub is_constant: bool,
}

impl Block {
    /// All code of the block but that of original equations, which only a loop without a solution evaluates. Of a [`Repeat`] that of
    /// its first element, whose loads stand for those of all.
    pub fn codes(&self) -> Vec<&Code> {
        match self {
            Block::Assign(assign) => vec![&assign.code],
            Block::Repeat(repeat) => vec![&repeat.first.code],
            Block::Loop(l) => {
                let discrete = l.discrete.as_ref().map(|d| &d.code);
                [Some(&l.body.code), l.jacobian.as_ref().map(|j| &j.code), discrete].into_iter().flatten().collect()
            }
        }
    }

    /// The equation the block came from; of a loop the first.
    pub fn span(&self) -> Span {
        match self {
            Block::Assign(assign) => assign.span,
            Block::Repeat(repeat) => repeat.first.span,
            Block::Loop(l) => l.body.span,
        }
    }

    /// The slots the block defines.
    pub fn stored(&self) -> Vec<SlotId> {
        match self {
            Block::Assign(assign) => assign.stores.iter().map(|s| s.1).collect(),
            Block::Repeat(repeat) => {
                let stores = repeat.slots().zip(&repeat.strides).skip(repeat.n_loads());
                stores.flat_map(|(slot, strides)| repeat.touched(slot, strides)).collect()
            }
            Block::Loop(l) => {
                let discrete = l.discrete.iter().flat_map(|d| &d.stores);
                let computed = l.body.stores.iter().chain(discrete).map(|s| s.1);
                l.unknowns.iter().map(|u| u.slot).chain(computed).collect()
            }
        }
    }

    /// Slots that the block reads, also those that it stores itself; not sorted.
    pub fn loads(&self) -> Box<dyn Iterator<Item = SlotId> + '_> {
        match self {
            Block::Repeat(repeat) => {
                let loads = repeat.slots().zip(&repeat.strides).take(repeat.n_loads());
                Box::new(loads.flat_map(|(slot, strides)| repeat.touched(slot, strides)))
            }
            _ => Box::new(self.codes().into_iter().flat_map(|c| &c.ops).filter_map(Op::loaded)),
        }
    }
}

/// Blocks in order of computation.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Section {
    pub blocks: Vec<Block>,
}

impl Section {
    /// Slots that are loaded, in order of their ids, each once.
    pub fn loads(&self) -> Vec<SlotId> {
        self.loads_of(&|_| true)
    }

    /// Those of them that are wanted.
    pub fn loads_of(&self, is_wanted: &dyn Fn(SlotId) -> bool) -> Vec<SlotId> {
        let loads = self.blocks.iter().flat_map(Block::loads);
        let mut slots: Vec<SlotId> = loads.filter(|&slot| is_wanted(slot)).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}
