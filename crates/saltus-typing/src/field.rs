//! Fields of record values: `(r).x`.
//!
//! On an array of records the result is the array of that field: `c.im : Real[2]`; there is none where the field has another size
//! in each record. The field of a record constructor is taken at once. Specification: "Member Access Operator", "Slice Operation".

use saltus_base::Span;
use saltus_flat::{BaseType, Expr, ExprKind};

use crate::Context;
use crate::array::array;
use crate::diagnostics as d;
use crate::operators::fail;
use crate::shape::{map_in_place, merge_dims, sizes_agree};

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
    take_field(cx, base, position, name, span)
}

/// The array of one member of several elements, which must have one size (specification 10.6.9); `text` is how the slice reads.
pub fn slice(cx: &mut dyn Context, items: Vec<Expr>, text: &str, span: Span) -> Expr {
    let sizes = items.iter().filter(|item| !item.is_error()).map(|item| &item.ty.dims);
    if let Some((first, other)) = sizes.clone().zip(sizes.skip(1)).find(|(a, b)| merge_dims(a, b).is_none()) {
        let diagnostic = d::ragged_slice(text, first, other, span);
        return fail(cx, diagnostic, span);
    }
    array(cx, items, span)
}

/// The array that an index chooses from which is not known before the simulation: all elements must have the same sizes in all their parts.
pub fn choice(cx: &mut dyn Context, items: Vec<Expr>, text: &str, span: Span) -> Expr {
    if items.windows(2).any(|pair| !sizes_agree(&pair[0], &pair[1])) {
        let diagnostic = d::ragged_choice(text, span);
        return fail(cx, diagnostic, span);
    }
    array(cx, items, span)
}

fn take_field(cx: &mut dyn Context, mut base: Expr, position: usize, name: &str, span: Span) -> Expr {
    let BaseType::Record(id) = base.ty.base else {
        return Expr::error(span);
    };
    let Some(declared) = cx.record_type(id).fields.get(position).map(|f| f.ty.clone()) else {
        return Expr::error(span);
    };
    let ty = declared.with_outer(&base.ty.dims);
    match base.kind {
        ExprKind::Record(mut fields) if position < fields.len() => fields.swap_remove(position),
        ExprKind::Array(ref mut items) if items.is_empty() => Expr { kind: base.kind, ty, span },
        ExprKind::Array(mut items) => {
            map_in_place(&mut items, &mut |item| take_field(cx, item, position, name, span));
            slice(cx, items, &format!("(…).{name}"), span)
        }
        _ => Expr::new(ExprKind::Field { base: Box::new(base), field: position as u32 }, ty, span),
    }
}
