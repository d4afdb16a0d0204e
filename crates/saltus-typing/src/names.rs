//! Types and expressions as text for messages: `Real[3, :]`, `Library.Types.Init`, `x[2] + 1`.

use saltus_base::Index;
use saltus_flat::{BaseType, BinaryOp, Dim, Expr, ExprKind, Subscript, Type, UnaryOp};

use crate::Context;

/// The type as one would write it: `Real[3, :]`; enumerations and records by their name.
pub fn type_name(cx: &dyn Context, ty: &Type) -> String {
    let base = match ty.base {
        BaseType::Real => "Real".to_string(),
        BaseType::Integer => "Integer".to_string(),
        BaseType::Boolean => "Boolean".to_string(),
        BaseType::String => "String".to_string(),
        BaseType::Enumeration(id) => cx.enum_type(id).name.clone(),
        BaseType::Record(id) => cx.record_type(id).name.clone(),
        BaseType::Clock => "Clock".to_string(),
        BaseType::ExternalObject(_) => "external object".to_string(),
        BaseType::Function => "function".to_string(),
        BaseType::Unit => "no value".to_string(),
        BaseType::Error => "unknown type".to_string(),
    };
    if ty.is_scalar() { base } else { format!("{base}{}", dims_text(&ty.dims)) }
}

/// `3` or `:`
pub(crate) fn size_text(size: Dim) -> String {
    size.known().map_or(":".to_string(), |n| n.to_string())
}

/// `[3, :]`
pub(crate) fn dims_text(dims: &[Dim]) -> String {
    let sizes: Vec<String> = dims.iter().copied().map(size_text).collect();
    format!("[{}]", sizes.join(", "))
}

/// `scalar`, `vector`, `matrix`, `4-dimensional array`
pub(crate) fn rank_text(rank: usize) -> String {
    match rank {
        0 => "scalar".to_string(),
        1 => "vector".to_string(),
        2 => "matrix".to_string(),
        n => format!("{n}-dimensional array"),
    }
}

pub(crate) fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Text of an expression without names of variables, which only the caller knows: enough for literals and operators.
pub(crate) fn brief_text(expr: &Expr) -> String {
    let text = write_expr(expr, 4);
    if text.chars().count() > 60 { "…".to_string() } else { text }
}

fn write_expr(expr: &Expr, depth: usize) -> String {
    if depth == 0 {
        return "…".to_string();
    }
    let inner = |e: &Expr| write_expr(e, depth - 1);
    let list = |items: &[Expr]| items.iter().take(5).map(inner).collect::<Vec<_>>().join(", ");
    match &expr.kind {
        ExprKind::Real(value) => format!("{value:?}"),
        ExprKind::Integer(value) => value.to_string(),
        ExprKind::Boolean(value) => value.to_string(),
        ExprKind::String(value) => format!("\"{value}\""),
        ExprKind::EnumLiteral(_, ordinal) => format!("#{ordinal}"),
        ExprKind::Var(id) => format!("variable {}", id.index()),
        ExprKind::Local(id) => format!("local {}", id.index()),
        ExprKind::Time => "time".to_string(),
        ExprKind::Index { base, subscripts } => {
            let texts = subscripts.iter().map(|s| match s {
                Subscript::Index(e) | Subscript::Slice(e) => inner(e),
                Subscript::All => ":".to_string(),
            });
            format!("{}[{}]", inner(base), texts.collect::<Vec<_>>().join(", "))
        }
        ExprKind::Field { base, field } => format!("{}.#{field}", inner(base)),
        ExprKind::Array(items) if items.len() <= 5 => format!("{{{}}}", list(items)),
        ExprKind::Range { start, step: None, stop } => format!("{} : {}", inner(start), inner(stop)),
        ExprKind::Unary(UnaryOp::Negate, e) => format!("-{}", inner(e)),
        ExprKind::Unary(UnaryOp::Not, e) => format!("not {}", inner(e)),
        ExprKind::Binary(op, left, right) => {
            let operand = |e: &Expr| match e.kind {
                ExprKind::Binary(..) | ExprKind::If { .. } => format!("({})", inner(e)),
                _ => inner(e),
            };
            format!("{} {} {}", operand(left), operator_text(*op), operand(right))
        }
        ExprKind::Builtin { function, arguments } if arguments.len() <= 5 => {
            format!("{}({})", function.name(), list(arguments))
        }
        ExprKind::Cast(e) => inner(e),
        _ => "…".to_string(),
    }
}

fn operator_text(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul | BinaryOp::MatMul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Pow | BinaryOp::MatPow => "^",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "<>",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}
