//! Constant folding without an environment: `if 2 > 1 then x + 2*3 else y ⇒ x + 6`.
//!
//! Only operations on literals are computed, and identities that hold for every floating-point number. What could fail
//! (`1/0`) or has an effect stays as it is; relations and event operators of non-literal parts are not touched. The
//! type of the expression never changes.

use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::{
    BinaryOp, Builtin, EnumId, EnumType, Expr, ExprKind, FunctionId, RecordId, RecordType, Subscript, Type, VarId,
};
use saltus_procedure::Procedure;

use crate::evaluator::Evaluator;
use crate::{Environment, EvalError, EvalResult, Limits, Value, to_expr};

/// Array results larger than this stay expressions, because `zeros(1000)` is shorter than its value.
const MOST_ELEMENTS: u64 = 256;

/// Folds all parts, inside out.
pub fn fold(mut expr: Expr) -> Expr {
    fold_in_place(&mut expr);
    expr
}

fn fold_in_place(expr: &mut Expr) {
    if expr.is_literal() {
        return;
    }
    expr.for_each_child_mut(&mut |child| fold_in_place(child));
    if let Some(folded) = simplify(expr).or_else(|| compute(expr)) {
        *expr = folded;
    }
}

/// The value of an operation on literals.
fn compute(expr: &Expr) -> Option<Expr> {
    let foldable = match &expr.kind {
        ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Cast(_)
        | ExprKind::Index { .. }
        | ExprKind::Field { .. } => true,
        ExprKind::Builtin { function, .. } => is_foldable(*function),
        _ => false,
    };
    let mut literal = foldable;
    expr.for_each_child(&mut |child| literal &= child.is_literal());
    if !literal {
        return None;
    }
    let limits = Limits { steps: 1_000_000, depth: 1, elements: MOST_ELEMENTS };
    let value = Evaluator::new(&mut Nothing, limits).evaluate(expr).ok()?;
    if value.n_elements() as u64 > MOST_ELEMENTS || matches!(&value, Value::Real(x) if !x.is_finite()) {
        return None;
    }
    let folded = to_expr(&value, &expr.ty, expr.span);
    (folded.ty.base == expr.ty.base && folded.ty.rank() == expr.ty.rank()).then_some(folded)
}

/// Builtins that depend on their arguments only, and not on names of enumeration literals.
fn is_foldable(function: Builtin) -> bool {
    use Builtin::*;
    matches!(
        function,
        Sin | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Atan2
            | Sinh
            | Cosh
            | Tanh
            | Exp
            | Log
            | Log10
            | Sqrt
            | Abs
            | Sign
            | Min
            | Max
            | Div
            | Mod
            | Rem
            | Ceil
            | Floor
            | Integer
            | ToInteger
            | NoEvent
            | Smooth
            | Homotopy
            | SemiLinear
            | Pre
            | Ndims
            | Size
            | Scalar
            | Vector
            | Matrix
            | Identity
            | Diagonal
            | Zeros
            | Ones
            | Fill
            | Linspace
            | Sum
            | Product
            | Transpose
            | OuterProduct
            | Symmetric
            | Cross
            | Skew
            | Cat
            | Promote
    )
}

/// Identities with parts that are not literal.
fn simplify(expr: &mut Expr) -> Option<Expr> {
    match &mut expr.kind {
        ExprKind::If { condition, then, otherwise } => match condition.kind {
            ExprKind::Boolean(true) => take(then, &expr.ty),
            ExprKind::Boolean(false) => take(otherwise, &expr.ty),
            _ => None,
        },
        ExprKind::Unary(op, operand) => match &mut operand.kind {
            ExprKind::Unary(inner, x) if inner == op => take(x, &expr.ty),
            _ => None,
        },
        ExprKind::Binary(op, left, right) => binary_identity(*op, left, right, &expr.ty),
        ExprKind::Builtin { function: Builtin::Size, arguments } => known_size(arguments, expr.span),
        ExprKind::Builtin { function: Builtin::Ndims, arguments } => {
            arguments.first().map(|a| Expr::integer(a.ty.rank() as i64, expr.span))
        }
        ExprKind::Index { base, subscripts } => element_of_constructor(base, subscripts, &expr.ty),
        ExprKind::Field { base, field } => match &mut base.kind {
            ExprKind::Record(fields) => fields.get_mut(*field as usize).and_then(|f| take(f, &expr.ty)),
            _ => None,
        },
        _ => None,
    }
}

/// Moves a part out, if it can stand for an expression of this type.
fn take(part: &mut Expr, ty: &Type) -> Option<Expr> {
    if part.ty.base != ty.base || part.ty.rank() != ty.rank() {
        return None;
    }
    let span = part.span;
    Some(std::mem::replace(part, Expr::error(span)))
}

/// `x*1`, `x/1`, `x^1`, `x - 0`, and `and`, `or` with a literal. Not `x + 0`, which turns -0 into 0, and not `0*x`,
/// which is not 0 for an infinite `x`.
fn binary_identity(op: BinaryOp, left: &mut Expr, right: &mut Expr, ty: &Type) -> Option<Expr> {
    let keep_left = match op {
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow => is_number(right, 1.0),
        BinaryOp::Sub => is_number(right, 0.0),
        BinaryOp::And => is_boolean(right, true) || is_boolean(left, false),
        BinaryOp::Or => is_boolean(right, false) || is_boolean(left, true),
        _ => false,
    };
    let keep_right = match op {
        BinaryOp::Mul => is_number(left, 1.0),
        BinaryOp::And => is_boolean(left, true) || is_boolean(right, false),
        BinaryOp::Or => is_boolean(left, false) || is_boolean(right, true),
        _ => false,
    };
    if keep_left && let Some(left) = take(left, ty) {
        return Some(left);
    }
    if keep_right { take(right, ty) } else { None }
}

fn is_number(expr: &Expr, number: f64) -> bool {
    match expr.kind {
        // -0.0 == 0.0, but subtracting it turns -0 into 0.
        ExprKind::Real(x) => x == number && x.is_sign_positive(),
        ExprKind::Integer(i) => i as f64 == number,
        _ => false,
    }
}

fn is_boolean(expr: &Expr, value: bool) -> bool {
    expr.ty.is_scalar() && matches!(expr.kind, ExprKind::Boolean(b) if b == value)
}

/// A size that the type knows.
fn known_size(arguments: &[Expr], span: Span) -> Option<Expr> {
    let (array, dimension) = (arguments.first()?, arguments.get(1));
    let sizes: Vec<Option<i64>> = array.ty.dims.iter().map(|d| d.known().and_then(|n| i64::try_from(n).ok())).collect();
    match dimension {
        Some(Expr { kind: ExprKind::Integer(d), .. }) => {
            let position = usize::try_from(*d).ok()?.checked_sub(1)?;
            Some(Expr::integer((*sizes.get(position)?)?, span))
        }
        Some(_) => None,
        None => {
            let sizes = sizes.into_iter().collect::<Option<Vec<_>>>()?;
            Some(to_expr(&Value::integers(sizes), &Type::INTEGER, span))
        }
    }
}

/// `{a, b}[2]` is `b`.
fn element_of_constructor(base: &mut Expr, subscripts: &[Subscript], ty: &Type) -> Option<Expr> {
    let ExprKind::Array(items) = &mut base.kind else { return None };
    let [Subscript::Index(Expr { kind: ExprKind::Integer(i), .. })] = subscripts else { return None };
    let position = usize::try_from(*i).ok()?.checked_sub(1)?;
    take(items.get_mut(position)?, ty)
}

/// Nothing but literals has a value.
struct Nothing;

fn unavailable<T>(span: Span) -> EvalResult<T> {
    Err(EvalError::not_constant(span, "anything but a literal"))
}

impl Environment for Nothing {
    fn variable(&mut self, _: VarId, span: Span) -> EvalResult {
        unavailable(span)
    }
    fn procedure(&mut self, _: FunctionId) -> EvalResult<Arc<Procedure>> {
        unavailable(Span::nowhere())
    }
    fn record_type(&self, _: RecordId) -> Arc<RecordType> {
        Arc::new(RecordType { name: String::new(), fields: Vec::new() })
    }
    fn enum_type(&self, _: EnumId) -> Arc<EnumType> {
        Arc::new(EnumType { name: String::new(), literals: Vec::new() })
    }
    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{name}` is not available here"))
    }
    fn resolve_uri(&mut self, _: &str) -> Option<String> {
        None
    }
    fn instance_name(&self) -> String {
        String::new()
    }
}
