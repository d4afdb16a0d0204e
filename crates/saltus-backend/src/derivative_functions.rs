//! Derivatives of functions that have no `derivative` annotation, by differentiating their bodies.
//!
//! ```text
//! function f                             function f_der
//!   input Real x;  output Real y;          input Real x, der_x;  output Real der_y;  protected Real y;
//! algorithm                         ⇒    algorithm
//!   y := 1;                                der_y := 0;  y := 1;
//!   while y < x loop                       while y < x loop
//!     y := y*x;                              der_y := der_y*x + y*der_x;  y := y*x;
//!   end while;                             end while;
//! end f;                                 end f_der;
//! ```
//!
//! In: a model and the functions whose derivatives are wanted. Out: the model with derivative functions of first order, also of
//! the functions that those call. Each assignment is preceded by that of the derivative; decisions and loops stay as they
//! are, so that the derivative is that of the branch that is taken. Records, external functions and functions as arguments
//! are left out.

use crate::tuning::work::MOST_DIFFERENTIATED_LEVELS;
use saltus_base::{IdVec, Index as _, Span};
use saltus_flat::build::{add, binary, div, mul, negate, sub};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Expr, ExprKind, FlatModel, Function, FunctionDerivative, FunctionId, Local, LocalId,
    Purity, ReductionOp, Statement, StatementKind, Subscript, Type, UnaryOp,
};

/// The model with derivatives of these functions; `None` if not all of them can be differentiated.
pub fn with_derivatives(model: &FlatModel, functions: &[FunctionId]) -> Option<FlatModel> {
    let mut extended = model.clone();
    for &function in functions {
        derivative_of(&mut extended, function, MOST_DIFFERENTIATED_LEVELS)?;
    }
    (!functions.is_empty()).then_some(extended)
}

/// The derivative function of first order, made if there is none.
fn derivative_of(model: &mut FlatModel, id: FunctionId, levels: u32) -> Option<FunctionId> {
    let levels = levels.checked_sub(1)?;
    let function = model.functions.get(id)?.clone();
    let takes_all =
        |d: &&FunctionDerivative| d.order == 1 && d.no_derivative.is_empty() && d.zero_derivative.is_empty();
    if let Some(derivative) = function.derivatives.iter().find(takes_all) {
        return Some(derivative.function);
    }
    if function.external.is_some() || function.is_record_constructor || function.purity == Purity::Impure {
        return None;
    }
    let derivative = Differentiation::new(model, &function, levels)?.function()?;
    let made = model.functions.push(derivative);
    let entry = FunctionDerivative { function: made, order: 1, no_derivative: Vec::new(), zero_derivative: Vec::new() };
    model.functions[id].derivatives.push(entry);
    Some(made)
}

/// The derivative of an expression, `None` if it is zero. An error if it cannot be written.
type Derivative = Result<Option<Expr>, NotWritten>;

struct NotWritten;

struct Differentiation<'m> {
    model: &'m mut FlatModel,
    function: &'m Function,
    levels: u32,
    locals: IdVec<LocalId, Local>,
    /// By local of the function.
    derivatives: Vec<Option<LocalId>>,
}

impl<'m> Differentiation<'m> {
    fn new(model: &'m mut FlatModel, function: &'m Function, levels: u32) -> Option<Self> {
        let mut locals = function.locals.clone();
        let mut derivatives = Vec::with_capacity(locals.len());
        for (_, local) in function.locals.iter() {
            derivatives.push(match local.ty.base {
                BaseType::Real => {
                    let name = format!("der_{}", local.name);
                    Some(locals.push(Local { name, default: None, ..local.clone() }))
                }
                BaseType::Record(_) | BaseType::Function | BaseType::ExternalObject(_) => return None,
                _ => None,
            });
        }
        Some(Differentiation { model, function, levels, locals, derivatives })
    }

    fn function(mut self) -> Option<Function> {
        let function = self.function;
        for (id, local) in function.locals.iter() {
            let Some(derivative) = self.derivatives[id.index()] else { continue };
            if let Some(value) = local.default.as_ref().filter(|_| !function.inputs.contains(&id)) {
                let d_value = self.expression(value).ok()?;
                self.locals[derivative].default = Some(d_value.unwrap_or_else(|| zero_like(value)));
            }
        }
        let body = self.statements(&function.body).ok()?;
        let of = |ids: &[LocalId]| -> Vec<LocalId> { ids.iter().filter_map(|l| self.derivatives[l.index()]).collect() };
        let (d_inputs, outputs) = (of(&function.inputs), of(&function.outputs));
        Some(Function {
            name: format!("{}_der", function.name),
            inputs: function.inputs.iter().copied().chain(d_inputs).collect(),
            outputs,
            body,
            locals: self.locals,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            smooth_order: None,
            ..function.clone()
        })
    }

    fn statements(&mut self, body: &[Statement]) -> Result<Vec<Statement>, NotWritten> {
        let mut written = Vec::with_capacity(2 * body.len());
        for statement in body {
            let span = statement.span;
            let kind = match &statement.kind {
                StatementKind::Assign { target, value } => {
                    if let Some((target, value)) = self.assignment(target, value)? {
                        written.push(Statement { kind: StatementKind::Assign { target, value }, span });
                    }
                    statement.kind.clone()
                }
                StatementKind::If { branches, otherwise } => {
                    let branches = branches.iter().map(|(c, body)| Ok((c.clone(), self.statements(body)?)));
                    let branches = branches.collect::<Result<_, NotWritten>>()?;
                    StatementKind::If { branches, otherwise: self.statements(otherwise)? }
                }
                StatementKind::For { local, range, body } => {
                    self.expect_discrete(range)?;
                    StatementKind::For { local: *local, range: range.clone(), body: self.statements(body)? }
                }
                StatementKind::While { condition, body } => {
                    StatementKind::While { condition: condition.clone(), body: self.statements(body)? }
                }
                StatementKind::When { .. } | StatementKind::Reinit { .. } => return Err(NotWritten),
                other => other.clone(),
            };
            written.push(Statement { kind, span });
        }
        Ok(written)
    }

    /// What is iterated over must not depend on Reals that change.
    fn expect_discrete(&mut self, range: &Expr) -> Result<(), NotWritten> {
        match self.expression(range)? {
            None => Ok(()),
            Some(_) => Err(NotWritten),
        }
    }

    /// The assignment of the derivative, if the target has one.
    fn assignment(&mut self, target: &Expr, value: &Expr) -> Result<Option<(Expr, Expr)>, NotWritten> {
        let ExprKind::Tuple(targets) = &target.kind else {
            let Some(d_target) = self.target(target)? else { return Ok(None) };
            let d_value = self.expression(value)?.unwrap_or_else(|| zero_like(value));
            return Ok(Some((d_target, d_value)));
        };
        let ExprKind::Call { function, arguments } = &value.kind else { return Err(NotWritten) };
        // The derivative function returns the derivatives of those results that are Real.
        let outputs = self.model.functions.get(*function).ok_or(NotWritten)?;
        let is_real = |id: &LocalId| outputs.locals.get(*id).is_some_and(|l| l.ty.base == BaseType::Real);
        let real: Vec<bool> = outputs.outputs.iter().map(is_real).collect();
        let mut d_targets = Vec::new();
        for (target, _) in targets.iter().zip(real).filter(|(_, is_real)| *is_real) {
            d_targets.push(match target {
                Some(target) => self.target(target)?,
                None => None,
            });
        }
        if d_targets.iter().all(Option::is_none) {
            return Ok(None);
        }
        let ty = value.ty.clone();
        let d_value = self.call(*function, arguments, ty, value.span, true)?.ok_or(NotWritten)?;
        Ok(Some((Expr { kind: ExprKind::Tuple(d_targets), ..target.clone() }, d_value)))
    }

    /// The place of the derivative; `None` if the target is not Real.
    fn target(&self, target: &Expr) -> Result<Option<Expr>, NotWritten> {
        let kind = match &target.kind {
            ExprKind::Local(id) => match self.derivatives.get(id.index()).copied().flatten() {
                Some(derivative) => ExprKind::Local(derivative),
                None => return Ok(None),
            },
            ExprKind::Index { base, subscripts } => match self.target(base)? {
                Some(base) => ExprKind::Index { base: Box::new(base), subscripts: subscripts.clone() },
                None => return Ok(None),
            },
            _ => return Err(NotWritten),
        };
        Ok(Some(Expr { kind, ..target.clone() }))
    }

    fn expression(&mut self, e: &Expr) -> Derivative {
        if e.ty.base != BaseType::Real {
            return Ok(None);
        }
        let like = |kind: ExprKind| Expr { kind, ..e.clone() };
        Ok(match &e.kind {
            ExprKind::Real(_) | ExprKind::Cast(_) => None,
            ExprKind::Local(_) => self.target(e)?,
            ExprKind::Index { base, subscripts } => {
                for subscript in subscripts {
                    if let Subscript::Index(s) | Subscript::Slice(s) = subscript {
                        self.expect_discrete(s)?;
                    }
                }
                let base = self.expression(base)?;
                base.map(|base| like(ExprKind::Index { base: Box::new(base), subscripts: subscripts.clone() }))
            }
            ExprKind::Array(items) => {
                let d_items = items.iter().map(|item| self.expression(item)).collect::<Result<Vec<_>, _>>()?;
                if d_items.iter().all(Option::is_none) {
                    return Ok(None);
                }
                let filled = d_items.into_iter().zip(items).map(|(d, item)| d.unwrap_or_else(|| zero_like(item)));
                Some(like(ExprKind::Array(filled.collect())))
            }
            ExprKind::Unary(UnaryOp::Negate, x) => self.expression(x)?.map(negate),
            ExprKind::Binary(op, x, y) => self.binary(e, *op, x, y)?,
            ExprKind::If { condition, then, otherwise } => {
                let (a, b) = (self.expression(then)?, self.expression(otherwise)?);
                if a.is_none() && b.is_none() {
                    return Ok(None);
                }
                let (a, b) = (a.unwrap_or_else(|| zero_like(then)), b.unwrap_or_else(|| zero_like(otherwise)));
                Some(like(choose((**condition).clone(), a, b)))
            }
            ExprKind::Call { function, arguments } => self.call(*function, arguments, e.ty.clone(), e.span, false)?,
            ExprKind::Builtin { function, arguments } => self.builtin(e, *function, arguments)?,
            ExprKind::Reduction { op: op @ (ReductionOp::Sum | ReductionOp::Array), body, iterators } => {
                for iterator in iterators {
                    self.expect_discrete(&iterator.range)?;
                }
                let body = self.expression(body)?;
                body.map(|body| {
                    like(ExprKind::Reduction { op: *op, body: Box::new(body), iterators: iterators.clone() })
                })
            }
            _ => return Err(NotWritten),
        })
    }

    fn binary(&mut self, e: &Expr, op: BinaryOp, x: &Expr, y: &Expr) -> Derivative {
        let (dx, dy) = (self.expression(x)?, self.expression(y)?);
        let like = |x: Expr, y: Expr| Expr { kind: ExprKind::Binary(op, Box::new(x), Box::new(y)), ..e.clone() };
        let spread = |d: Expr, of: &Expr| if of.ty.dims == e.ty.dims { d } else { add(zero_like(e), d) };
        Ok(match (op, dx, dy) {
            (_, None, None) => None,
            (BinaryOp::Add | BinaryOp::Sub, Some(dx), Some(dy)) => Some(like(dx, dy)),
            (BinaryOp::Add | BinaryOp::Sub, Some(dx), None) => Some(spread(dx, x)),
            (BinaryOp::Add, None, Some(dy)) => Some(spread(dy, y)),
            (BinaryOp::Sub, None, Some(dy)) => Some(spread(negate(dy), y)),
            (BinaryOp::Mul | BinaryOp::MatMul, dx, dy) => {
                let left = dx.map(|dx| like(dx, y.clone()));
                let right = dy.map(|dy| like(x.clone(), dy));
                sum(left, right)
            }
            (BinaryOp::Div, dx, dy) => {
                // x'/y - (x/y)·y'/y
                let left = dx.map(|dx| like(dx, y.clone()));
                let right = dy.map(|dy| like(mul(e.clone(), dy), y.clone()));
                sum(left, right.map(negate))
            }
            (BinaryOp::Pow, Some(dx), None) => {
                // y·x^(y - 1)·x'
                let one = Expr::real(1.0, e.span);
                let power = like(x.clone(), sub(y.clone().to_real(), one));
                Some(mul(mul(y.clone().to_real(), power), dx))
            }
            (BinaryOp::Pow, dx, Some(dy)) if e.ty.dims.is_empty() => {
                // x^y·(y'·log(x) + y·x'/x)
                let log = Expr::builtin(Builtin::Log, vec![x.clone()], Type::REAL, e.span);
                let by_exponent = Some(mul(dy, log));
                let by_base = dx.map(|dx| div(mul(y.clone(), dx), x.clone()));
                sum(by_exponent, by_base).map(|inner| mul(e.clone(), inner))
            }
            _ => return Err(NotWritten),
        })
    }

    /// The derivative of a call; with `must_call` also if no argument changes.
    fn call(&mut self, function: FunctionId, arguments: &[Expr], ty: Type, span: Span, must_call: bool) -> Derivative {
        let inputs = self.model.functions.get(function).ok_or(NotWritten)?;
        let is_real = |id: &LocalId| inputs.locals.get(*id).is_some_and(|l| l.ty.base == BaseType::Real);
        let real: Vec<bool> = inputs.inputs.iter().map(is_real).collect();
        let mut all = arguments.to_vec();
        let mut has_changing = false;
        for (argument, _) in arguments.iter().zip(real).filter(|(_, is_real)| *is_real) {
            let derivative = self.expression(argument)?;
            has_changing |= derivative.is_some();
            all.push(derivative.unwrap_or_else(|| zero_like(argument)));
        }
        if !has_changing && !must_call {
            return Ok(None);
        }
        let function = derivative_of(self.model, function, self.levels).ok_or(NotWritten)?;
        Ok(Some(Expr::new(ExprKind::Call { function, arguments: all }, ty, span)))
    }

    fn builtin(&mut self, e: &Expr, function: Builtin, arguments: &[Expr]) -> Derivative {
        use Builtin::{
            Abs, Acos, Asin, Atan, Atan2, Cat, Ceil, Cos, Cosh, Cross, Diagonal, Div, Exp, Fill, Floor, Homotopy,
            Identity, Linspace, Log, Log10, Matrix, Max, Min, Mod, NoEvent, Ones, OuterProduct, Promote, Rem, Scalar,
            Sign, Sin, Sinh, Skew, Smooth, Sqrt, Sum, Symmetric, Tan, Tanh, Transpose, Vector, Zeros,
        };
        let like = |arguments: Vec<Expr>| Expr { kind: ExprKind::Builtin { function, arguments }, ..e.clone() };
        let mut d = arguments.iter().map(|a| self.expression(a)).collect::<Result<Vec<_>, _>>()?;
        if d.iter().all(Option::is_none) || matches!(function, Zeros | Ones | Identity | Floor | Ceil | Div | Sign) {
            return Ok(None);
        }
        Ok(Some(match (function, arguments) {
            (Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Exp | Log | Log10 | Sqrt | Abs, [x]) => {
                let Some(Some(dx)) = d.pop() else { return Ok(None) };
                if !e.ty.dims.is_empty() {
                    return Err(NotWritten);
                }
                elementary(e, function, x, dx)
            }
            (Atan2, [y, x]) => {
                let square = add(mul(x.clone(), x.clone()), mul(y.clone(), y.clone()));
                let (dx, dy) = (d.pop().flatten(), d.pop().flatten());
                let above = sum(dy.map(|dy| mul(dy, x.clone())), dx.map(|dx| negate(mul(dx, y.clone()))));
                above.map(|above| div(above, square)).ok_or(NotWritten)?
            }
            (Min | Max, [x, y]) => {
                let op = if function == Min { BinaryOp::LessEqual } else { BinaryOp::GreaterEqual };
                let (dy, dx) = (d.pop().flatten(), d.pop().flatten());
                let is_x = binary(op, x.clone(), y.clone());
                let (dx, dy) = (dx.unwrap_or_else(|| zero_like(x)), dy.unwrap_or_else(|| zero_like(y)));
                Expr { kind: choose(is_x, dx, dy), ..e.clone() }
            }
            // Between the jumps of the whole part.
            (Mod | Rem, [_, _]) if d[1].is_none() => d.swap_remove(0).ok_or(NotWritten)?,
            (Smooth, [_, _]) => d.swap_remove(1).ok_or(NotWritten)?,
            (NoEvent, [_]) => like(vec![d.pop().flatten().ok_or(NotWritten)?]),
            // Linear in all that changes.
            (
                Sum | Transpose | Scalar | Vector | Matrix | Diagonal | Skew | Symmetric | Promote | Cat | Fill
                | Linspace | Homotopy,
                _,
            ) => {
                let changed = |(d, a): (Option<Expr>, &Expr)| match a.ty.base {
                    BaseType::Real => d.unwrap_or_else(|| zero_like(a)),
                    _ => a.clone(),
                };
                like(d.into_iter().zip(arguments).map(changed).collect())
            }
            (Cross | OuterProduct, [x, y]) => {
                let (dy, dx) = (d.pop().flatten(), d.pop().flatten());
                let left = dx.map(|dx| like(vec![dx, y.clone()]));
                sum(left, dy.map(|dy| like(vec![x.clone(), dy]))).ok_or(NotWritten)?
            }
            _ => return Err(NotWritten),
        }))
    }
}

/// The derivative of `e`, which is an elementary function of a scalar.
fn elementary(e: &Expr, function: Builtin, x: &Expr, dx: Expr) -> Expr {
    let real = |v: f64| Expr::real(v, e.span);
    let of = |f: Builtin| Expr::builtin(f, vec![x.clone()], Type::REAL, e.span);
    let root = |inner: Expr| Expr::builtin(Builtin::Sqrt, vec![inner], Type::REAL, e.span);
    let square = || mul(x.clone(), x.clone());
    match function {
        Builtin::Sin => mul(of(Builtin::Cos), dx),
        Builtin::Cos => negate(mul(of(Builtin::Sin), dx)),
        Builtin::Tan => mul(add(real(1.0), mul(e.clone(), e.clone())), dx),
        Builtin::Asin => div(dx, root(sub(real(1.0), square()))),
        Builtin::Acos => negate(div(dx, root(sub(real(1.0), square())))),
        Builtin::Atan => div(dx, add(real(1.0), square())),
        Builtin::Sinh => mul(of(Builtin::Cosh), dx),
        Builtin::Cosh => mul(of(Builtin::Sinh), dx),
        Builtin::Tanh => mul(sub(real(1.0), mul(e.clone(), e.clone())), dx),
        Builtin::Exp => mul(e.clone(), dx),
        Builtin::Log => div(dx, x.clone()),
        Builtin::Log10 => div(dx, mul(x.clone(), real(std::f64::consts::LN_10))),
        Builtin::Sqrt => div(dx, mul(real(2.0), e.clone())),
        _ => {
            let is_positive = binary(BinaryOp::GreaterEqual, x.clone(), real(0.0));
            Expr { kind: choose(is_positive, dx.clone(), negate(dx)), ..e.clone() }
        }
    }
}

fn choose(condition: Expr, then: Expr, otherwise: Expr) -> ExprKind {
    ExprKind::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) }
}

/// Zero with the shape of a value.
fn zero_like(value: &Expr) -> Expr {
    let zero = Expr::real(0.0, value.span);
    if value.ty.dims.is_empty() {
        return zero;
    }
    mul(zero, value.clone().to_real())
}

fn sum(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (a, b) => a.or(b),
    }
}
