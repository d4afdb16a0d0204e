//! Common types of two expressions and the casts that bring an expression to one (specification: "Type Compatible
//! Expressions", "Standard Type Coercion").
//!
//! Records are converted field by field, by name: `S(x = r.x, n = r.n)`. Two enumerations with the same literals in the same
//! order are one type to the user; the flat model knows them apart, so a value goes by its ordinal from one to the other.

use std::mem;

use saltus_base::Span;
use saltus_flat::{
    BaseType, Builtin, Dim, Expr, ExprKind, Iterator, RecordField, RecordId, RecordType, ReductionOp, Type,
};

use crate::Context;
use crate::diagnostics;
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

/// The type of elements of one array: records may differ in the sizes of their fields, which are then not known (specification 6.7).
pub fn common_element(cx: &mut dyn Context, a: BaseType, b: BaseType) -> Option<BaseType> {
    if let (BaseType::Record(a), BaseType::Record(b)) = (a, b)
        && a != b
        && let Some(id) = common_record(cx, a, b)
    {
        return Some(BaseType::Record(id));
    }
    common_base(cx, a, b)
}

fn common_record(cx: &mut dyn Context, a: RecordId, b: RecordId) -> Option<RecordId> {
    let (left, right) = (cx.record_type(a), cx.record_type(b));
    if left.fields.len() != right.fields.len() {
        return None;
    }
    let mut fields = Vec::with_capacity(left.fields.len());
    for field in &left.fields {
        let other = right.fields.iter().find(|f| f.name == field.name)?;
        if field.ty.rank() != other.ty.rank() {
            return None;
        }
        let base = common_element(cx, field.ty.base, other.ty.base)?;
        let dims = field.ty.dims.iter().zip(&other.ty.dims);
        let dims: Vec<Dim> = dims.map(|(x, y)| if x == y { *x } else { Dim::Unknown }).collect();
        fields.push(RecordField { name: field.name.clone(), ty: Type::array(base, dims) });
    }
    cx.add_record_type(RecordType { name: left.name.clone(), fields }, a)
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
                let is_wrong = given.ty.is_error() || wanted.ty.is_error();
                is_wrong
                    || merge_dims(&given.ty.dims, &wanted.ty.dims).is_some()
                        && base_fits(cx, given.ty.base, wanted.ty.base)
            })
        })
}

/// `expr` with base type `to`, which it fits.
pub(crate) fn cast(cx: &mut dyn Context, expr: Expr, to: BaseType) -> Expr {
    match (expr.ty.base, to) {
        (from, to) if from == to => expr,
        (BaseType::Integer, BaseType::Real) => to_real(expr),
        (BaseType::Enumeration(_), BaseType::Enumeration(_)) => cast_enumeration(expr, to),
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

/// Literals take the other identity, other values go by their ordinal.
fn cast_enumeration(mut expr: Expr, to: BaseType) -> Expr {
    match (&mut expr.kind, to) {
        (ExprKind::EnumLiteral(id, _), BaseType::Enumeration(target)) => *id = target,
        (ExprKind::Array(items), _) => map_in_place(items, &mut |item| cast_enumeration(item, to)),
        _ => {
            let (dims, span) = (expr.ty.dims.clone(), expr.span);
            let integer = Type::array(BaseType::Integer, dims.clone());
            let ordinal = Expr::new(ExprKind::Cast(Box::new(expr)), integer, span);
            return Expr::builtin(Builtin::EnumFromInteger, vec![ordinal], Type::array(to, dims), span);
        }
    }
    expr.ty.base = to;
    expr
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
    if !expr.ty.is_scalar() {
        return map_elements(cx, expr, base, &mut |cx, element| cast(cx, element, base));
    }
    let fields = cx.record_type(from).fields.clone();
    let parts = fields.into_iter().enumerate().map(|(i, field)| {
        let kind = ExprKind::Field { base: Box::new(expr.clone()), field: i as u32 };
        Expr::new(kind, field.ty, expr.span)
    });
    cast_fields(cx, parts.collect(), from, to, expr.span)
}

/// Up to this many elements are written out one by one.
const MOST_WRITTEN_OUT: u64 = 64;

/// `map` applied to the elements of the first dimension, whose base type it makes `base`: `{map(e[1]), map(e[2])}`, or
/// `{map(e[i]) for i in 1:size(e, 1)}` for long arrays and those of unknown size.
pub(crate) fn map_elements(
    cx: &mut dyn Context,
    expr: Expr,
    base: BaseType,
    map: &mut dyn FnMut(&mut dyn Context, Expr) -> Expr,
) -> Expr {
    let (span, ty) = (expr.span, Type::array(base, expr.ty.dims.clone()));
    let element = |cx: &mut dyn Context, i: Expr, expr: Expr| index(cx, expr, vec![SubscriptArgument::Expr(i)], span);
    if let ExprKind::Array(mut items) = expr.kind {
        map_in_place(&mut items, &mut |item| map(cx, item));
        return Expr::new(ExprKind::Array(items), ty, span);
    }
    let size = ty.dims.first().copied().unwrap_or(Dim::Unknown);
    if let Some(n) = size.known().filter(|&n| n <= MOST_WRITTEN_OUT) {
        let mut items = Vec::new();
        for i in 1..=n as i64 {
            let item = element(cx, Expr::integer(i, span), expr.clone());
            items.push(map(cx, item));
        }
        return Expr::new(ExprKind::Array(items), ty, span);
    }
    let Some(local) = cx.fresh_iterator(span) else {
        let diagnostic = diagnostics::elements_cannot_be_converted(cx, &expr, base);
        cx.report(diagnostic);
        return Expr::error(span);
    };
    let stop = match size.known().and_then(|n| i64::try_from(n).ok()) {
        Some(n) => Expr::integer(n, span),
        None => Expr::builtin(Builtin::Size, vec![expr.clone(), Expr::integer(1, span)], Type::INTEGER, span),
    };
    let (start, stop) = (Box::new(Expr::integer(1, span)), Box::new(stop));
    let range = ExprKind::Range { start, step: None, stop };
    let range = Expr::new(range, Type::array(BaseType::Integer, [size]), span);
    let item = element(cx, Expr::new(ExprKind::Local(local), Type::INTEGER, span), expr);
    let body = Box::new(map(cx, item));
    Expr::new(
        ExprKind::Reduction { op: ReductionOp::Array, body, iterators: vec![Iterator { local, range }] },
        ty,
        span,
    )
}

/// A record of type `to` from the fields of one of type `from`, by name.
fn cast_fields(cx: &mut dyn Context, parts: Vec<Expr>, from: RecordId, to: RecordId, span: Span) -> Expr {
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

/// Whether two values that are written out have the same sizes in all their parts, as far as those are known: `{R({1, 2}), R({3})}` and
/// `{R({1}), R({2, 3})}` are of one type all the same.
pub(crate) fn sizes_agree(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Array(x), ExprKind::Array(y)) | (ExprKind::Record(x), ExprKind::Record(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| sizes_agree(x, y))
        }
        _ => a.is_error() || b.is_error() || merge_dims(&a.ty.dims, &b.ty.dims).is_some(),
    }
}

/// Whether an iteration variable or a function's variable occurs: then a size may be unknown until run time.
pub(crate) fn mentions_local(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Local(_)));
    found
}
