//! Common types of two expressions and the casts that bring an expression to one (specification: "Type Compatible
//! Expressions", "Standard Type Coercion").
//!
//! A record is converted field by field. Where source and target differ in nothing but their identity, and where an
//! array of records has an unknown size, the result is a `Cast` to the target record: fields are then taken by name.

use std::mem;

use saltus_flat::{BaseType, Dim, Expr, ExprKind, RecordId, Type};

use crate::Context;
use crate::subscripts::{SubscriptArgument, index};

/// Sizes that fit both, preferring known ones; `None` where the ranks or two known sizes differ.
pub(crate) fn merge_dims(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    if a.len() != b.len() {
        return None;
    }
    a.iter().zip(b).map(|(&x, &y)| x.fits(y).then_some(if x == Dim::Unknown { y } else { x })).collect()
}

/// The type both can be converted to, sizes aside.
pub(crate) fn common_base(cx: &dyn Context, a: BaseType, b: BaseType) -> Option<BaseType> {
    if base_fits(cx, a, b) {
        Some(b)
    } else if base_fits(cx, b, a) {
        Some(a)
    } else {
        None
    }
}

/// Whether a value of base type `from` may stand where `to` is wanted.
pub(crate) fn base_fits(cx: &dyn Context, from: BaseType, to: BaseType) -> bool {
    match (from, to) {
        (BaseType::Integer, BaseType::Real) => true,
        (BaseType::Error, _) | (_, BaseType::Error) => true,
        (BaseType::Enumeration(a), BaseType::Enumeration(b)) => {
            a == b || cx.enum_type(a).literals == cx.enum_type(b).literals
        }
        (BaseType::Record(a), BaseType::Record(b)) => record_fits(cx, a, b),
        _ => from == to,
    }
}

fn record_fits(cx: &dyn Context, from: RecordId, to: RecordId) -> bool {
    if from == to {
        return true;
    }
    let (from, to) = (cx.record_type(from), cx.record_type(to));
    from.fields.len() == to.fields.len()
        && to.fields.iter().all(|wanted| {
            from.fields.iter().find(|f| f.name == wanted.name).is_some_and(|given| {
                merge_dims(&given.ty.dims, &wanted.ty.dims).is_some() && base_fits(cx, given.ty.base, wanted.ty.base)
            })
        })
}

/// Two records with the same fields in the same order: only their identity differs.
fn same_layout(cx: &dyn Context, a: BaseType, b: BaseType) -> bool {
    match (a, b) {
        (BaseType::Record(x), BaseType::Record(y)) => {
            x == y || {
                let (x, y) = (cx.record_type(x), cx.record_type(y));
                x.fields.len() == y.fields.len()
                    && x.fields.iter().zip(&y.fields).all(|(f, g)| {
                        f.name == g.name && f.ty.dims == g.ty.dims && same_layout(cx, f.ty.base, g.ty.base)
                    })
            }
        }
        _ => a == b,
    }
}

/// `expr` with base type `to`, which it fits.
pub(crate) fn cast(cx: &mut dyn Context, expr: Expr, to: BaseType) -> Expr {
    match (expr.ty.base, to) {
        (from, to) if from == to => expr,
        (BaseType::Integer, BaseType::Real) => to_real(expr),
        (BaseType::Enumeration(_), BaseType::Enumeration(_)) => retag_enumeration(expr, to),
        (BaseType::Record(from), BaseType::Record(id)) => cast_record(cx, expr, from, id),
        _ => expr,
    }
}

/// Integer to Real, pushed into array constructors so that literals stay literals.
pub(crate) fn to_real(mut expr: Expr) -> Expr {
    match &mut expr.kind {
        ExprKind::Array(items) if expr.ty.base == BaseType::Integer => {
            map_in_place(items, &mut to_real);
            expr.ty.base = BaseType::Real;
            expr
        }
        _ => expr.to_real(),
    }
}

/// Two enumerations with the same literals are one type; literals take the other identity, the rest is a `Cast`.
fn retag_enumeration(mut expr: Expr, to: BaseType) -> Expr {
    match (&mut expr.kind, to) {
        (ExprKind::EnumLiteral(id, _), BaseType::Enumeration(target)) => *id = target,
        (ExprKind::Array(items), _) => map_in_place(items, &mut |item| retag_enumeration(item, to)),
        _ => return cast_node(expr, to),
    }
    expr.ty.base = to;
    expr
}

fn cast_node(expr: Expr, to: BaseType) -> Expr {
    let (ty, span) = (Type::array(to, expr.ty.dims.clone()), expr.span);
    Expr::new(ExprKind::Cast(Box::new(expr)), ty, span)
}

pub(crate) fn map_in_place(items: &mut [Expr], map: &mut dyn FnMut(Expr) -> Expr) {
    for item in items {
        let span = item.span;
        *item = map(mem::replace(item, Expr::error(span)));
    }
}

fn cast_record(cx: &mut dyn Context, mut expr: Expr, from: RecordId, to: RecordId) -> Expr {
    let base = BaseType::Record(to);
    match expr.kind {
        ExprKind::Array(ref mut items) => {
            map_in_place(items, &mut |item| cast(cx, item, base));
            expr.ty.base = base;
            return expr;
        }
        ExprKind::Record(items) => return cast_fields(cx, items, from, to, expr.span),
        _ => {}
    }
    if same_layout(cx, BaseType::Record(from), base) {
        return cast_node(expr, base);
    }
    match expr.ty.dims.first() {
        None => {
            let fields = cx.record_type(from).fields.clone();
            let parts = fields.into_iter().enumerate().map(|(i, field)| {
                let kind = ExprKind::Field { base: Box::new(expr.clone()), field: i as u32 };
                Expr::new(kind, field.ty, expr.span)
            });
            cast_fields(cx, parts.collect(), from, to, expr.span)
        }
        Some(Dim::Known(n)) => {
            let (n, span) = (*n as i64, expr.span);
            let ty = Type::array(base, expr.ty.dims.clone());
            let mut items = Vec::new();
            for i in 1..=n {
                let subscript = SubscriptArgument::Expr(Expr::integer(i, span));
                let element = index(cx, expr.clone(), vec![subscript], span);
                items.push(cast(cx, element, base));
            }
            Expr::new(ExprKind::Array(items), ty, span)
        }
        Some(Dim::Unknown) => cast_node(expr, base),
    }
}

/// A record of type `to` from the fields of one of type `from`, by name.
fn cast_fields(cx: &mut dyn Context, parts: Vec<Expr>, from: RecordId, to: RecordId, span: saltus_base::Span) -> Expr {
    let (from, target) = (cx.record_type(from), cx.record_type(to));
    let mut parts: Vec<Option<Expr>> = parts.into_iter().map(Some).collect();
    let mut fields = Vec::with_capacity(parts.len());
    for wanted in &target.fields {
        let position = from.fields.iter().position(|f| f.name == wanted.name);
        let part = position.and_then(|p| parts.get_mut(p)).and_then(Option::take);
        fields.push(match part {
            Some(part) => cast(cx, part, wanted.ty.base),
            None => Expr::error(span),
        });
    }
    Expr::new(ExprKind::Record(fields), Type::scalar(BaseType::Record(to)), span)
}

/// Whether an iteration variable or a function's variable occurs: then a size may be unknown until run time.
pub(crate) fn mentions_local(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Local(_)));
    found
}
