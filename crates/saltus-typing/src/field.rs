//! Fields of record values: `(r).x`.
//!
//! On an array of records the result is the array of that field: `c.im : Real[2]`. The field of a record constructor is
//! taken at once. Specification: "Member Access Operator", "Slice Operation".

use saltus_base::Span;
use saltus_flat::{BaseType, Expr, ExprKind};

use crate::Context;
use crate::diagnostics as d;
use crate::operators::fail;
use crate::shape::map_in_place;

pub fn field(cx: &mut dyn Context, base: Expr, name: &str, span: Span) -> Expr {
    if base.is_error() {
        return Expr::error(span);
    }
    let BaseType::Record(id) = base.ty.base else {
        let diagnostic = d::field_of_non_record(cx, &base, name, span);
        return fail(cx, diagnostic, span);
    };
    let record = cx.record_type(id);
    let Some(position) = record.fields.iter().position(|f| f.name == name) else {
        let names: Vec<String> = record.fields.iter().map(|f| f.name.clone()).collect();
        let diagnostic = d::no_such_field(cx, &base.ty, name, &names, span);
        return fail(cx, diagnostic, span);
    };
    take_field(cx, base, position, span)
}

fn take_field(cx: &dyn Context, mut base: Expr, position: usize, span: Span) -> Expr {
    let BaseType::Record(id) = base.ty.base else {
        return Expr::error(span);
    };
    let Some(declared) = cx.record_type(id).fields.get(position).map(|f| f.ty.clone()) else {
        return Expr::error(span);
    };
    let ty = declared.with_outer(&base.ty.dims);
    match base.kind {
        ExprKind::Record(mut fields) if position < fields.len() => fields.swap_remove(position),
        ExprKind::Array(ref mut items) => {
            map_in_place(items, &mut |item| take_field(cx, item, position, span));
            Expr { kind: base.kind, ty, span }
        }
        _ => Expr::new(ExprKind::Field { base: Box::new(base), field: position as u32 }, ty, span),
    }
}
