//! Straight-line code in single-assignment form: each operation defines one value, later ones use it.
//!
//! Both operands of a `Select` are evaluated, but a call may have a condition under which it is made; operations never trap, they yield NaN. A NaN that is stored shows at the
//! block that stored it.

use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::Builtin;

use crate::{CallableId, SlotId};

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

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum UnaryFn {
    Negate,
    Not,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Sqrt,
    Abs,
    Sign,
    Floor,
    Ceil,
    /// Inverses of `sinh` and `tanh`, which solving an equation for an argument needs.
    Asinh,
    Atanh,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum BinaryFn {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    /// `div(a, b)`: the quotient without its fraction.
    IntDiv,
    /// `mod(a, b) = a - floor(a / b) * b`
    Mod,
    /// `rem(a, b) = a - div(a, b) * b`
    Rem,
    Min,
    Max,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
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
    /// All code of the block.
    pub fn codes(&self) -> Vec<&Code> {
        match self {
            Block::Assign(assign) => vec![&assign.code],
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
            Block::Loop(l) => l.body.span,
        }
    }

    /// The slots the block defines.
    pub fn stored(&self) -> Vec<SlotId> {
        match self {
            Block::Assign(assign) => assign.stores.iter().map(|s| s.1).collect(),
            Block::Loop(l) => {
                let discrete = l.discrete.iter().flat_map(|d| &d.stores);
                let computed = l.body.stores.iter().chain(discrete).map(|s| s.1);
                l.unknowns.iter().map(|u| u.slot).chain(computed).collect()
            }
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
        let ops = self.blocks.iter().flat_map(|b| b.codes()).flat_map(|c| &c.ops);
        let mut slots: Vec<SlotId> = ops.filter_map(|op| if let Op::Load(s) = op { Some(*s) } else { None }).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

impl UnaryFn {
    /// The function of one number that a built-in function of the language is.
    pub fn elementary(function: Builtin) -> Option<UnaryFn> {
        Some(match function {
            Builtin::Sin => UnaryFn::Sin,
            Builtin::Cos => UnaryFn::Cos,
            Builtin::Tan => UnaryFn::Tan,
            Builtin::Asin => UnaryFn::Asin,
            Builtin::Acos => UnaryFn::Acos,
            Builtin::Atan => UnaryFn::Atan,
            Builtin::Sinh => UnaryFn::Sinh,
            Builtin::Cosh => UnaryFn::Cosh,
            Builtin::Tanh => UnaryFn::Tanh,
            Builtin::Exp => UnaryFn::Exp,
            Builtin::Log => UnaryFn::Log,
            Builtin::Log10 => UnaryFn::Log10,
            Builtin::Sqrt => UnaryFn::Sqrt,
            Builtin::Abs => UnaryFn::Abs,
            Builtin::Sign => UnaryFn::Sign,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            UnaryFn::Negate => "-",
            UnaryFn::Not => "not ",
            UnaryFn::Sin => "sin",
            UnaryFn::Cos => "cos",
            UnaryFn::Tan => "tan",
            UnaryFn::Asin => "asin",
            UnaryFn::Acos => "acos",
            UnaryFn::Atan => "atan",
            UnaryFn::Sinh => "sinh",
            UnaryFn::Cosh => "cosh",
            UnaryFn::Tanh => "tanh",
            UnaryFn::Exp => "exp",
            UnaryFn::Log => "log",
            UnaryFn::Log10 => "log10",
            UnaryFn::Sqrt => "sqrt",
            UnaryFn::Abs => "abs",
            UnaryFn::Sign => "sign",
            UnaryFn::Floor => "floor",
            UnaryFn::Ceil => "ceil",
            UnaryFn::Asinh => "asinh",
            UnaryFn::Atanh => "atanh",
        }
    }

    /// The meaning; the compiled code must agree with it.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            UnaryFn::Negate => -x,
            UnaryFn::Not => truth(x == 0.0),
            UnaryFn::Sin => x.sin(),
            UnaryFn::Cos => x.cos(),
            UnaryFn::Tan => x.tan(),
            UnaryFn::Asin => x.asin(),
            UnaryFn::Acos => x.acos(),
            UnaryFn::Atan => x.atan(),
            UnaryFn::Sinh => x.sinh(),
            UnaryFn::Cosh => x.cosh(),
            UnaryFn::Tanh => x.tanh(),
            UnaryFn::Exp => x.exp(),
            UnaryFn::Log => x.ln(),
            UnaryFn::Log10 => x.log10(),
            UnaryFn::Sqrt => x.sqrt(),
            UnaryFn::Abs => x.abs(),
            UnaryFn::Sign => {
                if x > 0.0 {
                    1.0
                } else if x < 0.0 {
                    -1.0
                } else {
                    // zero, and NaN stays NaN
                    x * 0.0
                }
            }
            UnaryFn::Floor => x.floor(),
            UnaryFn::Ceil => x.ceil(),
            UnaryFn::Asinh => x.asinh(),
            UnaryFn::Atanh => x.atanh(),
        }
    }
}

impl BinaryFn {
    pub fn name(self) -> &'static str {
        match self {
            BinaryFn::Add => "+",
            BinaryFn::Sub => "-",
            BinaryFn::Mul => "*",
            BinaryFn::Div => "/",
            BinaryFn::Pow => "^",
            BinaryFn::Atan2 => "atan2",
            BinaryFn::IntDiv => "div",
            BinaryFn::Mod => "mod",
            BinaryFn::Rem => "rem",
            BinaryFn::Min => "min",
            BinaryFn::Max => "max",
            BinaryFn::Less => "<",
            BinaryFn::LessEqual => "<=",
            BinaryFn::Greater => ">",
            BinaryFn::GreaterEqual => ">=",
            BinaryFn::Equal => "==",
            BinaryFn::NotEqual => "<>",
            BinaryFn::And => "and",
            BinaryFn::Or => "or",
        }
    }

    /// The meaning; the compiled code must agree with it.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            BinaryFn::Add => a + b,
            BinaryFn::Sub => a - b,
            BinaryFn::Mul => a * b,
            BinaryFn::Div => a / b,
            BinaryFn::Pow => a.powf(b),
            BinaryFn::Atan2 => a.atan2(b),
            BinaryFn::IntDiv => (a / b).trunc(),
            BinaryFn::Mod => a - (a / b).floor() * b,
            BinaryFn::Rem => a - (a / b).trunc() * b,
            // Unlike f64::min these let a NaN through.
            BinaryFn::Min => {
                if a <= b || a.is_nan() {
                    a
                } else {
                    b
                }
            }
            BinaryFn::Max => {
                if a >= b || a.is_nan() {
                    a
                } else {
                    b
                }
            }
            BinaryFn::Less => truth(a < b),
            BinaryFn::LessEqual => truth(a <= b),
            BinaryFn::Greater => truth(a > b),
            BinaryFn::GreaterEqual => truth(a >= b),
            BinaryFn::Equal => truth(a == b),
            BinaryFn::NotEqual => truth(a != b),
            BinaryFn::And => truth(a != 0.0 && b != 0.0),
            BinaryFn::Or => truth(a != 0.0 || b != 0.0),
        }
    }
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_never_hidden() {
        assert!(BinaryFn::Min.apply(f64::NAN, 1.0).is_nan() && BinaryFn::Min.apply(1.0, f64::NAN).is_nan());
        assert!(BinaryFn::Max.apply(f64::NAN, 1.0).is_nan() && BinaryFn::Max.apply(1.0, f64::NAN).is_nan());
        assert!(UnaryFn::Sign.apply(f64::NAN).is_nan());
        assert_eq!(UnaryFn::Sign.apply(-2.0), -1.0);
    }

    #[test]
    fn quotients_and_remainders_of_negative_numbers() {
        // By the definitions: floor(-3 / 1.4) = floor(3 / -1.4) = -3, which div cuts to -2.
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found} is not {expected}");
        close(BinaryFn::Mod.apply(-3.0, 1.4), 1.2);
        close(BinaryFn::Mod.apply(3.0, -1.4), -1.2);
        close(BinaryFn::Rem.apply(-3.0, 1.4), -0.2);
        assert_eq!(BinaryFn::IntDiv.apply(-7.0, 2.0), -3.0);
        assert_eq!(UnaryFn::Ceil.apply(-1.5), -1.0);
    }
}
