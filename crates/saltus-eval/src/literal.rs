//! Values back as literal expressions: `Value::Array {1, 2}` of type `Real[2]` ⇒ `{1.0, 2.0}`.

use saltus_base::Span;
use saltus_flat::{BaseType, Dim, Expr, ExprKind, Type};

use crate::Value;

/// A literal of this value; Integers become Real literals where `ty` is Real. Functions and external objects have no
/// literal and become error expressions.
pub fn to_expr(value: &Value, ty: &Type, span: Span) -> Expr {
    match value {
        Value::Real(x) => Expr::real(*x, span),
        Value::Integer(i) => match ty.base {
            BaseType::Real => Expr::real(*i as f64, span),
            _ => Expr::integer(*i, span),
        },
        Value::Boolean(b) => Expr::boolean(*b, span),
        Value::String(s) => Expr::new(ExprKind::String(s.clone()), Type::STRING, span),
        Value::Enum(id, ordinal) => {
            Expr::new(ExprKind::EnumLiteral(*id, *ordinal), Type::scalar(BaseType::Enumeration(*id)), span)
        }
        Value::Record(id, fields) => {
            let fields = fields.iter().map(|f| to_expr(f, &Type::scalar(f.base_type()), span)).collect();
            Expr::new(ExprKind::Record(fields), Type::scalar(BaseType::Record(*id)), span)
        }
        Value::Array(a) => {
            let base = match (ty.base, value.base_type()) {
                (BaseType::Real, BaseType::Integer) => BaseType::Real,
                (_, found) => found,
            };
            let element = Type::scalar(base);
            let n = a.dims().first().copied().unwrap_or(0);
            let items = (0..n).filter_map(|i| a.block(i, 1)).map(|v| to_expr(&v, &element, span)).collect();
            let dims: Vec<Dim> = a.dims().iter().map(|&d| Dim::Known(d as u64)).collect();
            Expr::new(ExprKind::Array(items), Type::array(base, dims), span)
        }
        Value::Function(_) | Value::Object(_) => Expr::error(span),
    }
}
