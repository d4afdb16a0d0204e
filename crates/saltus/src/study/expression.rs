//! Expressions of a study: what is recorded of a run, what a search aims at, where a phase ends.
//!
//! ```text
//! w                                   the last value of w
//! max(abs(phi)), min, mean, integral  over the whole run; argmax, argmin: the times
//! at(x, 0.5)                          at a time
//! event(circle -> flight).time        of a transition of a state machine
//! event(h < 0, 3).pre(v)              the value of v before the third time that h < 0 became true; .v after it
//! count(h < 0)                        how often
//! ```
//!
//! In: a text. Out: an [`Expr`], or what is wrong and where in the text ([`super::parse`]).

use std::fmt;

pub use super::parse::{parse, parse_event};

#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    Number(f64),
    Name(String),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
    /// Over the whole run.
    Over(Over, Box<Expr>),
    At(Box<Expr>, f64),
    Event {
        event: Event,
        what: What,
    },
    Count(Pattern),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    Minus,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    Abs,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Exp,
    Log,
    Min,
    Max,
}

impl Function {
    pub(super) const NAMES: [(&'static str, Function, usize); 13] = [
        ("abs", Function::Abs, 1),
        ("sqrt", Function::Sqrt, 1),
        ("sin", Function::Sin, 1),
        ("cos", Function::Cos, 1),
        ("tan", Function::Tan, 1),
        ("asin", Function::Asin, 1),
        ("acos", Function::Acos, 1),
        ("atan", Function::Atan, 1),
        ("atan2", Function::Atan2, 2),
        ("exp", Function::Exp, 1),
        ("log", Function::Log, 1),
        ("min", Function::Min, 2),
        ("max", Function::Max, 2),
    ];
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    Min,
    Max,
    Mean,
    Integral,
    ArgMin,
    ArgMax,
}

impl Over {
    pub(super) const NAMES: [(&'static str, Over); 6] = [
        ("min", Over::Min),
        ("max", Over::Max),
        ("mean", Over::Mean),
        ("integral", Over::Integral),
        ("argmin", Over::ArgMin),
        ("argmax", Over::ArgMax),
    ];
}

/// The n-th event of a kind, from 1; negative numbers count from the last.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    pub pattern: Pattern,
    pub number: i64,
}

/// Which events are meant.
#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// A state machine goes from one state to another.
    Transition { from: String, to: String },
    /// A relation becomes true.
    Relation(Relation),
    /// A Boolean variable becomes this.
    Variable { name: String, value: bool },
    /// A variable changes in an event.
    Change(String),
}

/// `left < right`, whether or not they may be equal.
#[derive(Clone, PartialEq, Debug)]
pub struct Relation {
    pub left: Box<Expr>,
    pub right: Box<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum What {
    Time,
    /// A value after the event.
    After(Box<Expr>),
    /// A value before it.
    Before(Box<Expr>),
}

/// What is wrong, from the given byte of the text on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    pub message: String,
    pub at: usize,
}

impl Relation {
    /// A relation as it is written, or its opposite.
    pub fn of(e: &Expr, value: bool) -> Option<Relation> {
        let Expr::Binary(op, left, right) = e else { return None };
        let is_less = match op {
            Binary::Less | Binary::LessEqual => value,
            Binary::Greater | Binary::GreaterEqual => !value,
            _ => return None,
        };
        let (left, right) = if is_less { (left, right) } else { (right, left) };
        Some(Relation { left: left.clone(), right: right.clone() })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Pattern::Transition { from, to } => write!(f, "{from} -> {to}"),
            Pattern::Relation(r) => write!(f, "{} < {}", r.left, r.right),
            Pattern::Variable { name, value: true } => f.write_str(name),
            Pattern::Variable { name, value: false } => write!(f, "not {name}"),
            Pattern::Change(name) => write!(f, "change({name})"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Expr::Number(value) => write!(f, "{value}"),
            Expr::Name(name) => f.write_str(name),
            Expr::Unary(Unary::Minus, e) => write!(f, "-{e}"),
            Expr::Unary(Unary::Not, e) => write!(f, "not {e}"),
            Expr::Binary(op, a, b) => write!(f, "({a} {} {b})", op.name()),
            Expr::Call(function, arguments) => {
                let name = Function::NAMES.iter().find(|(_, g, _)| g == function).map_or("?", |(n, ..)| n);
                let arguments: Vec<String> = arguments.iter().map(Expr::to_string).collect();
                write!(f, "{name}({})", arguments.join(", "))
            }
            Expr::Over(over, e) => {
                let name = Over::NAMES.iter().find(|(_, o)| o == over).map_or("?", |(n, _)| n);
                write!(f, "{name}({e})")
            }
            Expr::At(e, t) => write!(f, "at({e}, {t})"),
            Expr::Count(pattern) => write!(f, "count({pattern})"),
            Expr::Event { event: Event { pattern, number }, what } => {
                let number = if *number == 1 { String::new() } else { format!(", {number}") };
                write!(f, "event({pattern}{number})")?;
                match what {
                    What::Time => f.write_str(".time"),
                    What::After(e) => write!(f, ".{e}"),
                    What::Before(e) => write!(f, ".pre({e})"),
                }
            }
        }
    }
}

impl Binary {
    fn name(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Power => "^",
            Binary::Less => "<",
            Binary::LessEqual => "<=",
            Binary::Greater => ">",
            Binary::GreaterEqual => ">=",
            Binary::And => "and",
            Binary::Or => "or",
        }
    }
}
