//! The unit of an expression, and the first place in it where units do not agree.
//!
//! Literals and variables without a unit may have any unit, and so has a product with one of them. `der(x)` has the
//! unit of `x` per second.

use std::rc::Rc;

use saltus_base::{Diagnostic, Index};
use saltus_flat::{BinaryOp, Builtin, Expr, ExprKind, FlatModel, ReductionOp, UnaryOp};

use super::messages;
use super::unit::Unit;
use crate::variability::is_ordered_relation;

/// Expressions deeper than this are not looked into; the result is "any unit".
const DEEPEST: u32 = 200;

/// A unit that an expression is known to have.
#[derive(Clone, Debug)]
pub struct Inferred {
    pub unit: Unit,
    /// As declared, where a declaration gives it directly.
    declared: Option<Rc<str>>,
    /// A declaration stands behind it; from `time` alone nothing is concluded.
    pub is_certain: bool,
}

impl Inferred {
    pub fn declared(unit: Unit, text: Rc<str>) -> Inferred {
        Inferred { unit, declared: Some(text), is_certain: true }
    }

    pub fn text(&self) -> String {
        self.declared.as_ref().map_or_else(|| self.unit.text(), |t| t.to_string())
    }
}

/// Infers units in one equation.
pub struct Inference<'a> {
    pub model: &'a FlatModel,
    /// By number of the variable.
    pub units: &'a [Option<Inferred>],
    /// The first disagreement.
    pub found: Option<Diagnostic>,
}

impl Inference<'_> {
    pub fn infer(&mut self, expr: &Expr) -> Option<Inferred> {
        self.expression(expr, 0)
    }

    fn expression(&mut self, expr: &Expr, depth: u32) -> Option<Inferred> {
        if depth > DEEPEST || self.found.is_some() {
            return None;
        }
        let depth = depth + 1;
        match &expr.kind {
            ExprKind::Var(id) => self.units.get(id.index()).cloned().flatten(),
            ExprKind::Time => Some(Inferred { unit: Unit::SECOND, declared: Some("s".into()), is_certain: false }),
            ExprKind::Index { base, .. } => self.expression(base, depth),
            ExprKind::Unary(UnaryOp::Negate, inner) | ExprKind::Cast(inner) => self.expression(inner, depth),
            ExprKind::Binary(op, left, right) => self.binary(*op, expr, left, right, depth),
            ExprKind::If { condition, then, otherwise } => {
                self.expression(condition, depth);
                let (a, b) = (self.expression(then, depth), self.expression(otherwise, depth));
                self.agree(expr, "the branches of", (then, a), (otherwise, b))
            }
            ExprKind::Builtin { function, arguments } => self.builtin(*function, expr, arguments, depth),
            ExprKind::Array(items) => self.array(items, depth),
            ExprKind::Reduction { op, body, .. } => {
                let unit = self.expression(body, depth);
                unit.filter(|_| !matches!(op, ReductionOp::Product))
            }
            _ => {
                expr.for_each_child(&mut |child| {
                    self.expression(child, depth);
                });
                None
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, whole: &Expr, left: &Expr, right: &Expr, depth: u32) -> Option<Inferred> {
        let a = self.expression(left, depth);
        if op == BinaryOp::Pow {
            self.expression(right, depth);
            let (numerator, denominator) = exponent(right)?;
            return a.and_then(|a| derived(a.unit.power(numerator, denominator)?, a.is_certain));
        }
        let b = self.expression(right, depth);
        match op {
            BinaryOp::Add | BinaryOp::Sub => self.agree(whole, "the operands of", (left, a), (right, b)),
            BinaryOp::Mul | BinaryOp::MatMul => product(a?, b?, Unit::times),
            BinaryOp::Div => product(a?, b?, Unit::per),
            BinaryOp::Equal | BinaryOp::NotEqual => {
                self.agree(whole, "the operands of", (left, a), (right, b));
                None
            }
            op if is_ordered_relation(op) => {
                self.agree(whole, "the operands of", (left, a), (right, b));
                None
            }
            _ => None,
        }
    }

    /// What is added, compared or chosen between must agree; the result has the unit of the part that has one.
    pub fn agree(
        &mut self,
        whole: &Expr,
        what: &str,
        (left, a): (&Expr, Option<Inferred>),
        (right, b): (&Expr, Option<Inferred>),
    ) -> Option<Inferred> {
        if let (Some(a), Some(b)) = (&a, &b)
            && self.found.is_none()
        {
            self.found = messages::compare(self.model, whole.span, what, Some(whole), (left, a), (right, b));
        }
        match (a, b) {
            (Some(a), Some(b)) if !a.is_certain => Some(b),
            (Some(a), _) => Some(a),
            (None, b) => b,
        }
    }

    /// Elements may have different units (a state vector); the array has one if all agree.
    fn array(&mut self, items: &[Expr], depth: u32) -> Option<Inferred> {
        let units: Vec<Option<Inferred>> = items.iter().map(|i| self.expression(i, depth)).collect();
        let first = units.first()?.clone()?;
        let same = |u: &Option<Inferred>| u.as_ref().is_some_and(|u| u.unit == first.unit);
        units.iter().all(same).then_some(first)
    }

    fn builtin(&mut self, function: Builtin, whole: &Expr, arguments: &[Expr], depth: u32) -> Option<Inferred> {
        use Builtin::*;
        let mut units: Vec<Option<Inferred>> = arguments.iter().map(|a| self.expression(a, depth)).collect();
        let mut take = |i: usize| units.get_mut(i).and_then(Option::take);
        match function {
            Der => {
                let x = take(0)?;
                derived(x.unit.per(Unit::SECOND)?, x.is_certain)
            }
            Sqrt => {
                let x = take(0)?;
                derived(x.unit.power(1, 2)?, x.is_certain)
            }
            Sin | Cos | Tan | Asin | Acos | Sinh | Cosh | Tanh | Exp | Log | Log10 | Atan => {
                self.dimensionless(function, whole, arguments.first()?, take(0)?);
                None
            }
            Atan2 => {
                let (a, b) = (take(0), take(1));
                let [y, x] = arguments else { return None };
                self.agree(whole, "the arguments of", (y, a), (x, b));
                None
            }
            Min | Max if arguments.len() == 2 => {
                let (a, b) = (take(0), take(1));
                self.agree(whole, "the arguments of", (&arguments[0], a), (&arguments[1], b))
            }
            Smooth => take(1),
            Cross | OuterProduct => product(take(0)?, take(1)?, Unit::times),
            Abs | Min | Max | NoEvent | Pre | Previous | Hold | Delay | Homotopy | Sum | Transpose | Vector
            | Matrix | Scalar | Diagonal | Symmetric | Skew | Fill | Promote | InStream | ActualStream => take(0),
            _ => None,
        }
    }

    fn dimensionless(&mut self, function: Builtin, whole: &Expr, argument: &Expr, found: Inferred) {
        if self.found.is_none() && found.is_certain && !found.unit.is_dimensionless() {
            self.found = Some(messages::in_function(self.model, function, whole, argument, &found));
        }
    }
}

fn derived(unit: Unit, is_certain: bool) -> Option<Inferred> {
    Some(Inferred { unit, declared: None, is_certain })
}

fn product(a: Inferred, b: Inferred, combine: fn(Unit, Unit) -> Option<Unit>) -> Option<Inferred> {
    derived(combine(a.unit, b.unit)?, a.is_certain || b.is_certain)
}

/// A literal exponent as a fraction.
fn exponent(expr: &Expr) -> Option<(i32, i32)> {
    match &expr.kind {
        ExprKind::Integer(value) => Some((i32::try_from(*value).ok()?, 1)),
        ExprKind::Real(value) => [1, 2, 3, 4].into_iter().find_map(|denominator| {
            let numerator = value * f64::from(denominator);
            let is_whole = (numerator - numerator.round()).abs() < 1e-9 && numerator.abs() < 1000.0;
            is_whole.then_some((numerator.round() as i32, denominator))
        }),
        ExprKind::Cast(inner) => exponent(inner),
        ExprKind::Unary(UnaryOp::Negate, inner) => match inner.kind {
            ExprKind::Integer(_) | ExprKind::Real(_) => exponent(inner).map(|(n, d)| (-n, d)),
            _ => None,
        },
        _ => None,
    }
}
