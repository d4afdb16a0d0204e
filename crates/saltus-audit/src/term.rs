//! A side of an equation with the size of what it is made of.
//!
//! ```text
//! a*(b - c)  at a = 2, b = 1e6, c = 1e6     ⇒   value 0, size 4e6: the numbers that cancel each other are that large
//! ```
//!
//! The size is the value of the same expression with absolute values and plus signs. A residual is compared with it: rounding
//! leaves 1e-16 of it, and a residual of the same size means that the equation does not hold at all.

use std::sync::Arc;

use saltus_eval::{EvalError, EvalResult, Items, Value};
use saltus_flat::{BaseType, BinaryOp, Builtin, Expr, ExprKind, UnaryOp, VarId};
use saltus_procedure::{Expression, lower_expression};

use crate::balance;
use crate::world::World;

#[derive(Debug)]
pub(crate) enum Term {
    Number(f64),
    Variable(VarId, saltus_base::Span),
    /// An element of a variable, or anything else that is evaluated as a whole; the variable whose accuracy it has.
    Code(Arc<Expression>, Option<VarId>),
    /// The result of a function, all of whose elements have the size of the largest.
    Vector(Arc<Expression>),
    /// Minus where the flag is set.
    Sum(Vec<(bool, Term)>),
    Product(Box<Term>, Box<Term>),
    Quotient(Box<Term>, Box<Term>),
    MatrixProduct(Box<Term>, Box<Term>),
    Choice(Vec<(Arc<Expression>, Term)>, Box<Term>),
    Array(Vec<Term>),
    /// `sum(v)`
    Total(Box<Term>),
}

/// Values in row-major order, each with its size; a scalar has no dimensions.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Amount {
    pub dims: Vec<usize>,
    pub items: Vec<(f64, f64)>,
}

impl Amount {
    fn one(value: f64, size: f64) -> Amount {
        Amount { dims: Vec::new(), items: vec![(value, size)] }
    }

    /// Elementwise; a scalar is spread over an array.
    fn zip(self, other: Amount, work: impl Fn((f64, f64), (f64, f64)) -> (f64, f64)) -> EvalResult<Amount> {
        match (self.dims.is_empty(), other.dims.is_empty()) {
            (true, _) => {
                let a = self.items[0];
                Ok(Amount { dims: other.dims, items: other.items.into_iter().map(|b| work(a, b)).collect() })
            }
            (false, true) => {
                let b = other.items[0];
                Ok(Amount { dims: self.dims, items: self.items.into_iter().map(|a| work(a, b)).collect() })
            }
            _ if self.dims != other.dims => {
                Err(EvalError::not_constant(saltus_base::Span::nowhere(), "an operation on arrays of different sizes"))
            }
            _ => {
                let items = self.items.into_iter().zip(other.items).map(|(a, b)| work(a, b)).collect();
                Ok(Amount { dims: self.dims, items })
            }
        }
    }
}

impl Term {
    /// The term of a rewritten Real or Integer expression.
    pub fn of(expr: &Expr) -> Term {
        match &expr.kind {
            ExprKind::Real(x) => Term::Number(*x),
            ExprKind::Integer(i) => Term::Number(*i as f64),
            ExprKind::Var(id) => Term::Variable(*id, expr.span),
            ExprKind::Index { base, .. } => {
                let root = if let ExprKind::Var(id) = base.kind { Some(id) } else { None };
                Term::Code(Arc::new(lower_expression(expr)), root)
            }
            ExprKind::Cast(inner) if inner.ty.base == BaseType::Integer => Term::of(inner),
            ExprKind::Unary(UnaryOp::Negate, inner) => Term::Sum(vec![(true, Term::of(inner))]),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => Term::sum(expr),
            ExprKind::Binary(BinaryOp::Mul, a, b) => Term::Product(Box::new(Term::of(a)), Box::new(Term::of(b))),
            ExprKind::Binary(BinaryOp::Div, a, b) => Term::Quotient(Box::new(Term::of(a)), Box::new(Term::of(b))),
            ExprKind::Binary(BinaryOp::MatMul, a, b) => {
                Term::MatrixProduct(Box::new(Term::of(a)), Box::new(Term::of(b)))
            }
            ExprKind::If { .. } => Term::choice(expr),
            ExprKind::Array(items) if !items.is_empty() => Term::Array(items.iter().map(Term::of).collect()),
            ExprKind::Builtin { function: Builtin::Sum, arguments } if arguments.len() == 1 => {
                Term::Total(Box::new(Term::of(&arguments[0])))
            }
            ExprKind::Call { .. } => Term::Vector(Arc::new(lower_expression(expr))),
            _ => Term::Code(Arc::new(lower_expression(expr)), None),
        }
    }

    /// `a - b + c …`; chains are as long as users make them.
    fn sum(expr: &Expr) -> Term {
        let (mut terms, mut current) = (Vec::new(), expr);
        while let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) = &current.kind {
            terms.push((*op == BinaryOp::Sub, Term::of(right)));
            current = left;
        }
        terms.push((false, Term::of(current)));
        terms.reverse();
        Term::Sum(terms)
    }

    fn choice(expr: &Expr) -> Term {
        let (mut branches, mut current) = (Vec::new(), expr);
        while let ExprKind::If { condition, then, otherwise } = &current.kind {
            branches.push((Arc::new(lower_expression(condition)), Term::of(then)));
            current = otherwise;
        }
        Term::Choice(branches, Box::new(Term::of(current)))
    }

    pub fn evaluate(&self, world: &mut World) -> EvalResult<Amount> {
        match self {
            Term::Number(x) => Ok(Amount::one(*x, x.abs())),
            Term::Variable(id, span) => {
                let noise = world.noise(*id);
                amount(world.value(*id, *span)?, noise)
            }
            Term::Code(code, root) => {
                let noise = root.map_or(0.0, |id| world.noise(id));
                amount(world.evaluate(code)?, noise)
            }
            Term::Vector(code) => {
                let mut found = amount(world.evaluate(code)?, 0.0)?;
                let largest = found.items.iter().fold(0.0, |most: f64, (_, size)| most.max(*size));
                found.items.iter_mut().for_each(|item| item.1 = largest);
                Ok(found)
            }
            Term::Sum(terms) => {
                let mut total: Option<Amount> = None;
                for (is_negative, term) in terms {
                    let mut next = term.evaluate(world)?;
                    if *is_negative {
                        next.items.iter_mut().for_each(|item| item.0 = -item.0);
                    }
                    total = Some(match total {
                        None => next,
                        Some(total) => total.zip(next, |a, b| (a.0 + b.0, a.1 + b.1))?,
                    });
                }
                Ok(total.unwrap_or(Amount::one(0.0, 0.0)))
            }
            Term::Product(a, b) => a.evaluate(world)?.zip(b.evaluate(world)?, |a, b| (a.0 * b.0, a.1 * b.1)),
            Term::Quotient(a, b) => {
                // The error of a divisor counts as much as it changes the quotient.
                a.evaluate(world)?.zip(b.evaluate(world)?, |a, b| (a.0 / b.0, a.1 * b.1 / (b.0 * b.0)))
            }
            Term::MatrixProduct(a, b) => matrix_product(&a.evaluate(world)?, &b.evaluate(world)?),
            Term::Choice(branches, otherwise) => {
                for (condition, then) in branches {
                    if balance::is_true(condition, world)? {
                        return then.evaluate(world);
                    }
                }
                otherwise.evaluate(world)
            }
            Term::Array(elements) => {
                let mut all = Amount { dims: Vec::new(), items: Vec::new() };
                for element in elements {
                    let next = element.evaluate(world)?;
                    all.dims = next.dims;
                    all.items.extend(next.items);
                }
                all.dims.insert(0, elements.len());
                Ok(all)
            }
            Term::Total(of) => {
                let all = of.evaluate(world)?;
                let (value, size) = all.items.iter().fold((0.0, 0.0), |sum, item| (sum.0 + item.0, sum.1 + item.1));
                Ok(Amount::one(value, size))
            }
        }
    }
}

/// A number or an array of numbers, known to within `noise` whatever its value.
fn amount(value: Value, noise: f64) -> EvalResult<Amount> {
    let sized = |x: f64| (x, x.abs() + noise);
    Ok(match &value {
        Value::Real(x) => Amount { dims: Vec::new(), items: vec![sized(*x)] },
        Value::Array(a) => {
            let items = match a.items() {
                Items::Real(items) => Some(items.iter().map(|&x| sized(x)).collect()),
                other => other.to_reals().map(|all| all.into_iter().map(sized).collect()),
            };
            Amount { dims: a.dims().to_vec(), items: items.ok_or_else(no_number)? }
        }
        other => Amount { dims: Vec::new(), items: vec![sized(other.as_real().ok_or_else(no_number)?)] },
    })
}

fn no_number() -> EvalError {
    EvalError::not_constant(saltus_base::Span::nowhere(), "something that is not a number")
}

/// vector·vector (scalar), matrix·vector, vector·matrix, matrix·matrix
fn matrix_product(a: &Amount, b: &Amount) -> EvalResult<Amount> {
    let (rows, inner) = match *a.dims {
        [n] => (1, n),
        [m, n] => (m, n),
        _ => return Err(no_number()),
    };
    let columns = match *b.dims {
        [n] if n == inner => 1,
        [n, m] if n == inner => m,
        _ => return Err(no_number()),
    };
    let mut items = Vec::with_capacity(rows * columns);
    for i in 0..rows {
        for j in 0..columns {
            let products = (0..inner).map(|k| (a.items[i * inner + k], b.items[k * columns + j]));
            items.push(products.fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x.0 * y.0, sum.1 + x.1 * y.1)));
        }
    }
    let dims = match (a.dims.len(), b.dims.len()) {
        (1, 1) => Vec::new(),
        (1, _) => vec![columns],
        (_, 1) => vec![rows],
        _ => vec![rows, columns],
    };
    Ok(Amount { dims, items })
}
