//! Instructions of procedures: each reads and writes scalars at fixed places of a frame or of the constants.
//!
//! ```text
//! while abs(y*y - x) > eps loop          0  mul   [2] := [1] * [1]
//!   y := (y + x/y)/2;                    1  sub   [2] := [2] - [0]
//! end while;                             …
//!                                        5  again 0
//! ```
//!
//! Integers, Booleans and enumeration values are held as `f64`. An Integer is exact up to 2^53; beyond that, and wherever
//! the evaluator would report an error, an instruction is in trouble: it has no result and the call ends.

pub use saltus_program::LARGEST_INTEGER;
use saltus_program::{BinaryFn, UnaryFn};

const CONSTANT: u32 = 1 << 31;

/// Where a scalar is: at an offset of the frame, or in the table of constants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct At(u32);

impl At {
    /// Of instructions that have no such operand.
    pub const NOWHERE: At = At(u32::MAX);

    pub fn frame(offset: u32) -> At {
        At(offset & !CONSTANT)
    }

    pub fn constant(position: u32) -> At {
        At(position | CONSTANT)
    }

    pub fn is_constant(self) -> bool {
        self.0 & CONSTANT != 0
    }

    /// Offset in the frame, or position among the constants.
    pub fn position(self) -> usize {
        (self.0 & !CONSTANT) as usize
    }

    /// The scalar `n` places after this one.
    pub fn plus(self, n: u32) -> At {
        At((self.0 & CONSTANT) | (self.0.wrapping_add(n) & !CONSTANT))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// A built-in function, which is in trouble outside of its domain.
    Function(UnaryFn),
    /// A function of the C library, which is in trouble where it is undefined.
    Foreign(UnaryFn),
    ForeignAcosh,
    ForeignCbrt,
    NegateInteger,
    /// `sign(x)`, an Integer
    Sign,
    /// `integer(x)`
    Floor,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// Reals (relations, `and`, `or`: any type); `Div`, `Pow`, `IntDiv`, `Mod`, `Rem` may be in trouble.
    Function(BinaryFn),
    AddInteger,
    SubInteger,
    MulInteger,
    DivInteger,
    ModInteger,
    RemInteger,
    ForeignPow,
    ForeignMod,
    ForeignHypot,
}

/// What an instruction does with `to`, `a`, `b` and `n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Add,
    Sub,
    Mul,
    /// to := a
    Move,
    /// `n` scalars from `a` on
    Copy,
    Unary(Unary),
    Binary(Binary),
    /// A subscript: to := (a - 1) * b, where `b` is a number rather than a place; in trouble unless 1 ≤ a ≤ n.
    Subscript,
    /// `n` scalars: to := place `a` moved by the value of `b`
    Load,
    /// `n` scalars: place `to` moved by the value of `b` := a
    Store,
    /// Goes on at `n`.
    Jump,
    /// Goes on at `n`, and counts as a round of a loop.
    Again,
    JumpIf,
    JumpUnless,
    /// Makes call number `n` of the procedure.
    Call,
    Return,
    /// The evaluator fails as well if `n` is not 0.
    Trouble,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Instruction {
    pub op: Op,
    pub to: At,
    pub a: At,
    pub b: At,
    pub n: u32,
}

/// A function for certain shapes of its arguments.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Procedure {
    pub code: Vec<Instruction>,
    pub calls: Vec<CallSite>,
    /// Scalars of its frame.
    pub frame: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CallSite {
    pub procedure: usize,
    pub arguments: Vec<Transfer>,
    pub results: Vec<Transfer>,
}

/// Scalars that go to or come from the frame of the called procedure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transfer {
    pub here: At,
    /// Offset in the frame of the called procedure.
    pub there: u32,
    pub n: u32,
}

/// An Integer result; the sum with 0 is never -0.
fn integer(x: f64) -> Option<f64> {
    (x.abs() <= LARGEST_INTEGER).then_some(x + 0.0)
}

impl Unary {
    /// `None` if in trouble.
    #[inline]
    pub fn apply(self, x: f64) -> Option<f64> {
        let undefined = |y: f64| y.is_nan() && !x.is_nan();
        match self {
            Unary::Function(f) => f.is_defined(x).then(|| f.apply(x)),
            Unary::Foreign(f) => Some(f.apply(x)).filter(|&y| !undefined(y)),
            Unary::ForeignAcosh => Some(x.acosh()).filter(|&y| !undefined(y)),
            Unary::ForeignCbrt => Some(x.cbrt()).filter(|&y| !undefined(y)),
            Unary::NegateInteger => Some(0.0 - x),
            // An Integer has no place for what is not a number.
            Unary::Sign => (!x.is_nan()).then(|| UnaryFn::Sign.apply(x) + 0.0),
            Unary::Floor => integer(x.floor()),
        }
    }
}

impl Binary {
    /// `None` if in trouble.
    #[inline]
    pub fn apply(self, a: f64, b: f64) -> Option<f64> {
        let undefined = |y: f64| y.is_nan() && !a.is_nan() && !b.is_nan();
        match self {
            Binary::Function(f) => f.is_defined(a, b).then(|| f.apply(a, b)),
            Binary::AddInteger => integer(a + b),
            Binary::SubInteger => integer(a - b),
            Binary::MulInteger => integer(a * b),
            Binary::DivInteger | Binary::ModInteger | Binary::RemInteger => self.quotient(a as i64, b as i64),
            Binary::ForeignPow => Some(BinaryFn::Pow.apply(a, b)).filter(|&y| !undefined(y)),
            Binary::ForeignMod => Some(a % b).filter(|&y| !undefined(y)),
            Binary::ForeignHypot => Some(a.hypot(b)),
        }
    }

    /// `div` truncates, `rem` has the sign of the dividend, `mod` that of the divisor.
    fn quotient(self, i: i64, j: i64) -> Option<f64> {
        let remainder = i.checked_rem(j)?;
        let result = match self {
            Binary::DivInteger => i.checked_div(j)?,
            Binary::ModInteger if remainder != 0 && (remainder < 0) != (j < 0) => remainder + j,
            _ => remainder,
        };
        Some(result as f64)
    }
}
