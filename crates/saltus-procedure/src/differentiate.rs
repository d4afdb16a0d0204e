//! Derivatives of functions, by differentiating their bodies.
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
//! In: functions, and which derivative is wanted. Out: [`derivative_of`] the function that the `derivative` annotation of first
//! order describes, [`partial_derivative`] the function with the same inputs whose results are derived by one of them. Each
//! assignment is preceded by that of the derivative; decisions and loops stay as they are, so that the derivative is that of the
//! branch that is taken. A record has its derivative in a record of the same type, in which fields that are not Real keep their
//! values. Functions that are called are differentiated as well, unless an annotation names their derivative. External functions
//! without one, and functions as arguments, are left out.

use saltus_base::{IdVec, Index as _, Span};
use saltus_flat::build::{add, binary, div, mul, negate, sub};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Expr, ExprKind, FlatModel, Function, FunctionDerivative, FunctionId, Local, LocalId,
    Purity, RecordId, ReductionOp, Statement, StatementKind, Subscript, Type, UnaryOp,
};

/// Records in records deeper than this are a cycle.
const MOST_RECORD_LEVELS: u32 = 50;

/// Where functions are found, and where those that are made go.
pub trait Functions {
    fn function(&mut self, id: FunctionId) -> Option<Function>;

    /// The derivative of first order that was made for a function before.
    fn made_derivative(&self, of: FunctionId) -> Option<FunctionId>;

    /// Keeps the derivative of first order of a function.
    fn add_derivative(&mut self, of: FunctionId, derivative: Function) -> FunctionId;

    /// Puts the finished function in place of the one that was added.
    fn replace(&mut self, id: FunctionId, function: Function);

    fn field_types(&self, record: RecordId) -> Option<Vec<Type>>;
}

impl Functions for FlatModel {
    fn function(&mut self, id: FunctionId) -> Option<Function> {
        self.functions.get(id).cloned()
    }

    fn made_derivative(&self, _: FunctionId) -> Option<FunctionId> {
        // They are found among the annotations.
        None
    }

    fn add_derivative(&mut self, of: FunctionId, derivative: Function) -> FunctionId {
        let function = self.functions.push(derivative);
        let entry = FunctionDerivative { function, order: 1, no_derivative: Vec::new(), zero_derivative: Vec::new() };
        self.functions[of].derivatives.push(entry);
        function
    }

    fn replace(&mut self, id: FunctionId, function: Function) {
        self.functions[id] = function;
    }

    fn field_types(&self, record: RecordId) -> Option<Vec<Type>> {
        Some(self.records.get(record)?.fields.iter().map(|field| field.ty.clone()).collect())
    }
}

/// The derivative function of first order, made if there is none.
pub fn derivative_of(functions: &mut dyn Functions, id: FunctionId, levels: u32) -> Result<FunctionId, NotWritten> {
    let function = functions.function(id).ok_or(NotWritten { span: Span::nowhere() })?;
    let not_written = NotWritten { span: function.span };
    let takes_all =
        |d: &&FunctionDerivative| d.order == 1 && d.no_derivative.is_empty() && d.zero_derivative.is_empty();
    if let Some(derivative) = function.derivatives.iter().find(takes_all) {
        return Ok(derivative.function);
    }
    if let Some(made) = functions.made_derivative(id) {
        return Ok(made);
    }
    if function.external.is_some() || function.is_record_constructor || function.purity == Purity::Impure {
        return Err(not_written);
    }
    let levels = levels.checked_sub(1).ok_or(not_written)?;
    let differentiation = Differentiation::new(functions, &function, levels, None)?;
    // It is there before it is finished, for functions that call themselves.
    let signature = differentiation.with_body(Vec::new());
    let made = differentiation.functions.add_derivative(id, signature);
    let derivative = differentiation.function()?;
    functions.replace(made, derivative);
    Ok(made)
}

/// The function with the same inputs whose results are the derivatives of the results by the input `by`, a scalar Real. Results
/// must be Real.
pub fn partial_derivative(
    functions: &mut dyn Functions,
    function: &Function,
    by: LocalId,
    levels: u32,
) -> Result<Function, NotWritten> {
    Differentiation::new(functions, function, levels, Some(by))?.function()
}

/// The derivative of an expression, `None` if it is zero. An error if it cannot be written.
type Derivative = Result<Option<Expr>, NotWritten>;

/// What cannot be differentiated.
#[derive(Clone, Copy, Debug)]
pub struct NotWritten {
    pub span: Span,
}

struct Differentiation<'m> {
    functions: &'m mut dyn Functions,
    function: &'m Function,
    levels: u32,
    /// The only input that changes, and that by 1; without it all do, by inputs that are added.
    by: Option<LocalId>,
    locals: IdVec<LocalId, Local>,
    /// By local of the function.
    derivatives: Vec<Option<LocalId>>,
}

impl<'m> Differentiation<'m> {
    fn new(
        functions: &'m mut dyn Functions,
        function: &'m Function,
        levels: u32,
        by: Option<LocalId>,
    ) -> Result<Self, NotWritten> {
        let mut locals = function.locals.clone();
        let mut derivatives = Vec::with_capacity(locals.len());
        for (id, local) in function.locals.iter() {
            if by.is_some() && function.inputs.contains(&id) {
                derivatives.push(None);
                continue;
            }
            if matches!(local.ty.base, BaseType::Function | BaseType::ExternalObject(_)) {
                return Err(NotWritten { span: local.span });
            }
            derivatives.push(has_reals(functions, local.ty.base, 0).then(|| {
                let name = format!("der_{}", local.name);
                locals.push(Local { name, default: None, ..local.clone() })
            }));
        }
        Ok(Differentiation { functions, function, levels, by, locals, derivatives })
    }

    /// The derivative with this body, which may be empty at first.
    fn with_body(&self, body: Vec<Statement>) -> Function {
        let function = self.function;
        let of = |ids: &[LocalId]| -> Vec<LocalId> { ids.iter().filter_map(|l| self.derivatives[l.index()]).collect() };
        let d_inputs = of(&function.inputs);
        Function {
            name: format!("{}_der", function.name),
            inputs: function.inputs.iter().copied().chain(d_inputs).collect(),
            outputs: of(&function.outputs),
            body,
            locals: self.locals.clone(),
            derivatives: Vec::new(),
            inverses: Vec::new(),
            smooth_order: None,
            ..function.clone()
        }
    }

    fn function(mut self) -> Result<Function, NotWritten> {
        let function = self.function;
        self.forget_iterators(&function.body);
        for (id, local) in function.locals.iter() {
            let Some(derivative) = self.derivatives[id.index()] else { continue };
            if let Some(value) = local.default.as_ref().filter(|_| !function.inputs.contains(&id)) {
                let d_value = self.expression(value)?;
                self.locals[derivative].default = Some(self.or_zero(d_value, value)?);
            }
        }
        let body = self.statements(&function.body)?;
        Ok(self.with_body(body))
    }

    /// What loops run over does not change, so their variables do not either.
    fn forget_iterators(&mut self, body: &[Statement]) {
        for statement in body {
            match &statement.kind {
                StatementKind::For { local, body, .. } => {
                    self.forget(*local);
                    self.forget_iterators(body);
                }
                StatementKind::While { body, .. } => self.forget_iterators(body),
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.forget_iterators(body));
                    self.forget_iterators(otherwise);
                }
                _ => {}
            }
        }
    }

    fn forget(&mut self, iterator: LocalId) {
        if let Some(derivative) = self.derivatives.get_mut(iterator.index()) {
            *derivative = None;
        }
    }

    /// A derivative, or zero with the shape of the value.
    fn or_zero(&self, derivative: Option<Expr>, value: &Expr) -> Result<Expr, NotWritten> {
        match derivative {
            Some(derivative) => Ok(derivative),
            None => self.zero_like(value, 0),
        }
    }

    /// Zero with the shape of a value; fields of records that are not Real keep theirs.
    fn zero_like(&self, value: &Expr, depth: u32) -> Result<Expr, NotWritten> {
        let not_written = NotWritten { span: value.span };
        match value.ty.base {
            BaseType::Real => Ok(zero(value)),
            BaseType::Record(record) if value.ty.dims.is_empty() && depth < MOST_RECORD_LEVELS => {
                let types = self.functions.field_types(record).ok_or(not_written)?;
                let field = |(k, ty): (usize, Type)| {
                    let kind = ExprKind::Field { base: Box::new(value.clone()), field: k as u32 };
                    let field = Expr::new(kind, ty, value.span);
                    if has_reals(self.functions, field.ty.base, 0) {
                        self.zero_like(&field, depth + 1)
                    } else {
                        Ok(field)
                    }
                };
                let fields = types.into_iter().enumerate().map(field).collect::<Result<_, NotWritten>>()?;
                Ok(Expr { kind: ExprKind::Record(fields), ..value.clone() })
            }
            _ => Err(not_written),
        }
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
                StatementKind::When { .. } | StatementKind::Reinit { .. } => return Err(NotWritten { span }),
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
            Some(_) => Err(NotWritten { span: range.span }),
        }
    }

    /// The assignment of the derivative, if the target has one.
    fn assignment(&mut self, target: &Expr, value: &Expr) -> Result<Option<(Expr, Expr)>, NotWritten> {
        let ExprKind::Tuple(targets) = &target.kind else {
            let Some(d_target) = self.target(target)? else { return Ok(None) };
            let d_value = self.expression(value)?;
            return Ok(Some((d_target, self.or_zero(d_value, value)?)));
        };
        let not_written = NotWritten { span: value.span };
        let ExprKind::Call { function, arguments } = &value.kind else { return Err(not_written) };
        // The derivative function returns the derivatives of those results that are Real.
        let called = self.functions.function(*function).ok_or(not_written)?;
        let real = self.have_reals(&called, &called.outputs);
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
        let d_value = self.call(*function, arguments, ty, value.span, true)?.ok_or(not_written)?;
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
            ExprKind::Field { base, field } if has_reals(self.functions, target.ty.base, 0) => {
                match self.target(base)? {
                    Some(base) => ExprKind::Field { base: Box::new(base), field: *field },
                    None => return Ok(None),
                }
            }
            ExprKind::Field { .. } => return Ok(None),
            _ => return Err(NotWritten { span: target.span }),
        };
        Ok(Some(Expr { kind, ..target.clone() }))
    }

    fn expression(&mut self, e: &Expr) -> Derivative {
        if !has_reals(self.functions, e.ty.base, 0) {
            return Ok(None);
        }
        let like = |kind: ExprKind| Expr { kind, ..e.clone() };
        Ok(match &e.kind {
            ExprKind::Real(_) | ExprKind::Cast(_) => None,
            ExprKind::Local(local) if self.by == Some(*local) => Some(Expr::real(1.0, e.span)),
            ExprKind::Local(_) => self.target(e)?,
            ExprKind::Field { base, field } => {
                let base = self.expression(base)?;
                base.map(|base| like(ExprKind::Field { base: Box::new(base), field: *field }))
            }
            ExprKind::Record(fields) => self.changed_parts(fields)?.map(|fields| like(ExprKind::Record(fields))),
            ExprKind::Index { base, subscripts } => {
                for subscript in subscripts {
                    if let Subscript::Index(s) | Subscript::Slice(s) = subscript {
                        self.expect_discrete(s)?;
                    }
                }
                let base = self.expression(base)?;
                base.map(|base| like(ExprKind::Index { base: Box::new(base), subscripts: subscripts.clone() }))
            }
            ExprKind::Array(items) => self.changed_parts(items)?.map(|items| like(ExprKind::Array(items))),
            ExprKind::Unary(UnaryOp::Negate, x) => self.expression(x)?.map(negate),
            ExprKind::Binary(op, x, y) => self.binary(e, *op, x, y)?,
            ExprKind::If { condition, then, otherwise } => {
                let (a, b) = (self.expression(then)?, self.expression(otherwise)?);
                if a.is_none() && b.is_none() {
                    return Ok(None);
                }
                let (a, b) = (self.or_zero(a, then)?, self.or_zero(b, otherwise)?);
                Some(like(choose((**condition).clone(), a, b)))
            }
            ExprKind::Call { function, arguments } => self.call(*function, arguments, e.ty.clone(), e.span, false)?,
            ExprKind::Builtin { function, arguments } => self.builtin(e, *function, arguments)?,
            ExprKind::Reduction { op: op @ (ReductionOp::Sum | ReductionOp::Array), body, iterators } => {
                for iterator in iterators {
                    self.expect_discrete(&iterator.range)?;
                    self.forget(iterator.local);
                }
                let body = self.expression(body)?;
                body.map(|body| {
                    like(ExprKind::Reduction { op: *op, body: Box::new(body), iterators: iterators.clone() })
                })
            }
            _ => return Err(NotWritten { span: e.span }),
        })
    }

    /// The derivatives of what an array or a record is made of, `None` if all are zero; parts that are not Real stay.
    fn changed_parts(&mut self, parts: &[Expr]) -> Result<Option<Vec<Expr>>, NotWritten> {
        let derivatives = parts.iter().map(|part| self.expression(part)).collect::<Result<Vec<_>, _>>()?;
        if derivatives.iter().all(Option::is_none) {
            return Ok(None);
        }
        let filled =
            derivatives.into_iter().zip(parts).map(|(d, part)| match has_reals(self.functions, part.ty.base, 0) {
                true => self.or_zero(d, part),
                false => Ok(part.clone()),
            });
        filled.collect::<Result<_, NotWritten>>().map(Some)
    }

    /// Which of these locals of another function have derivatives.
    fn have_reals(&self, of: &Function, locals: &[LocalId]) -> Vec<bool> {
        let has = |id: &LocalId| of.locals.get(*id).is_some_and(|l| has_reals(self.functions, l.ty.base, 0));
        locals.iter().map(has).collect()
    }

    fn binary(&mut self, e: &Expr, op: BinaryOp, x: &Expr, y: &Expr) -> Derivative {
        let (dx, dy) = (self.expression(x)?, self.expression(y)?);
        let like = |x: Expr, y: Expr| Expr { kind: ExprKind::Binary(op, Box::new(x), Box::new(y)), ..e.clone() };
        let spread = |d: Expr, of: &Expr| if of.ty.dims == e.ty.dims { d } else { add(zero(e), d) };
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
            (BinaryOp::Pow, Some(dx), None) => match literal(y) {
                // A constant less by one is written as such: repeated derivatives of powers end.
                Some(0.0) => None,
                Some(1.0) => Some(dx),
                Some(exponent) => {
                    let real = |x: f64| Expr::real(x, e.span);
                    Some(mul(mul(real(exponent), like(x.clone(), real(exponent - 1.0))), dx))
                }
                // y·x^(y - 1)·x'
                None => {
                    let one = Expr::real(1.0, e.span);
                    let power = like(x.clone(), sub(y.clone().to_real(), one));
                    Some(mul(mul(y.clone().to_real(), power), dx))
                }
            },
            (BinaryOp::Pow, dx, Some(dy)) if e.ty.dims.is_empty() => {
                // x^y·(y'·log(x) + y·x'/x)
                let log = Expr::builtin(Builtin::Log, vec![x.clone()], Type::REAL, e.span);
                let by_exponent = Some(mul(dy, log));
                let by_base = dx.map(|dx| div(mul(y.clone(), dx), x.clone()));
                sum(by_exponent, by_base).map(|inner| mul(e.clone(), inner))
            }
            _ => return Err(NotWritten { span: e.span }),
        })
    }

    /// The derivative of a call; with `must_call` also if no argument changes.
    fn call(&mut self, function: FunctionId, arguments: &[Expr], ty: Type, span: Span, must_call: bool) -> Derivative {
        let called = self.functions.function(function).ok_or(NotWritten { span })?;
        if called.is_record_constructor {
            let changed = self.changed_parts(arguments)?;
            return Ok(changed.map(|arguments| Expr::new(ExprKind::Call { function, arguments }, ty, span)));
        }
        let real = self.have_reals(&called, &called.inputs);
        let mut all = arguments.to_vec();
        let mut has_changing = false;
        for (argument, _) in arguments.iter().zip(real).filter(|(_, is_real)| *is_real) {
            let derivative = self.expression(argument)?;
            has_changing |= derivative.is_some();
            all.push(self.or_zero(derivative, argument)?);
        }
        if !has_changing && !must_call {
            return Ok(None);
        }
        let function = derivative_of(self.functions, function, self.levels)?;
        Ok(Some(Expr::new(ExprKind::Call { function, arguments: all }, ty, span)))
    }

    fn builtin(&mut self, e: &Expr, function: Builtin, arguments: &[Expr]) -> Derivative {
        use Builtin::{
            Abs, Acos, Asin, Atan, Atan2, Cat, Ceil, Cos, Cosh, Cross, Diagonal, Div, Exp, Fill, Floor, Homotopy,
            Identity, Linspace, Log, Log10, Matrix, Max, Min, Mod, NoEvent, Ones, OuterProduct, Promote, Rem, Scalar,
            Sign, Sin, Sinh, Skew, Smooth, Sqrt, Sum, Symmetric, Tan, Tanh, Transpose, Vector, Zeros,
        };
        let not_written = NotWritten { span: e.span };
        let like = |arguments: Vec<Expr>| Expr { kind: ExprKind::Builtin { function, arguments }, ..e.clone() };
        let mut d = arguments.iter().map(|a| self.expression(a)).collect::<Result<Vec<_>, _>>()?;
        if d.iter().all(Option::is_none) || matches!(function, Zeros | Ones | Identity | Floor | Ceil | Div | Sign) {
            return Ok(None);
        }
        Ok(Some(match (function, arguments) {
            (Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Exp | Log | Log10 | Sqrt | Abs, [x]) => {
                let Some(Some(dx)) = d.pop() else { return Ok(None) };
                if !e.ty.dims.is_empty() {
                    return Err(not_written);
                }
                elementary(e, function, x, dx)
            }
            (Atan2, [y, x]) => {
                let square = add(mul(x.clone(), x.clone()), mul(y.clone(), y.clone()));
                let (dx, dy) = (d.pop().flatten(), d.pop().flatten());
                let above = sum(dy.map(|dy| mul(dy, x.clone())), dx.map(|dx| negate(mul(dx, y.clone()))));
                above.map(|above| div(above, square)).ok_or(not_written)?
            }
            (Min | Max, [x, y]) => {
                let op = if function == Min { BinaryOp::LessEqual } else { BinaryOp::GreaterEqual };
                let (dy, dx) = (d.pop().flatten(), d.pop().flatten());
                let is_x = binary(op, x.clone(), y.clone());
                let (dx, dy) = (dx.unwrap_or_else(|| zero(x)), dy.unwrap_or_else(|| zero(y)));
                Expr { kind: choose(is_x, dx, dy), ..e.clone() }
            }
            // Between the jumps of the whole part.
            (Mod | Rem, [_, _]) if d[1].is_none() => d.swap_remove(0).ok_or(not_written)?,
            (Smooth, [_, _]) => d.swap_remove(1).ok_or(not_written)?,
            (NoEvent, [_]) => like(vec![d.pop().flatten().ok_or(not_written)?]),
            // Linear in all that changes.
            (
                Sum | Transpose | Scalar | Vector | Matrix | Diagonal | Skew | Symmetric | Promote | Cat | Fill
                | Linspace | Homotopy,
                _,
            ) => {
                let changed = |(d, a): (Option<Expr>, &Expr)| match a.ty.base {
                    BaseType::Real => d.unwrap_or_else(|| zero(a)),
                    _ => a.clone(),
                };
                like(d.into_iter().zip(arguments).map(changed).collect())
            }
            (Cross | OuterProduct, [x, y]) => {
                let (dy, dx) = (d.pop().flatten(), d.pop().flatten());
                let left = dx.map(|dx| like(vec![dx, y.clone()]));
                sum(left, dy.map(|dy| like(vec![x.clone(), dy]))).ok_or(not_written)?
            }
            _ => return Err(not_written),
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

/// Does a type have a derivative?
fn has_reals(functions: &dyn Functions, base: BaseType, depth: u32) -> bool {
    match base {
        BaseType::Real => true,
        BaseType::Record(record) if depth < MOST_RECORD_LEVELS => {
            let types = functions.field_types(record).unwrap_or_default();
            types.iter().any(|ty| has_reals(functions, ty.base, depth + 1))
        }
        _ => false,
    }
}

/// The number that an expression is written as.
fn literal(e: &Expr) -> Option<f64> {
    match &e.kind {
        ExprKind::Real(x) => Some(*x),
        ExprKind::Integer(n) => Some(*n as f64),
        ExprKind::Cast(inner) => literal(inner),
        ExprKind::Unary(UnaryOp::Negate, inner) => literal(inner).map(|x| -x),
        _ => None,
    }
}

/// Zero with the shape of a Real value.
fn zero(value: &Expr) -> Expr {
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
