//! The array constructor `{a, b, …}`.
//!
//! `{1, 2.5} : Real[2]`, `{{1, 2}, {3, 4}} : Integer[2, 2]`. Records whose fields differ in size are of one type, which leaves these
//! sizes open: `{R(x = {1, 2}), R(x = {1, 2, 3})}`. Specification: "Vector, Matrix and Array Constructors", "Type Compatible
//! Expressions".

use saltus_base::Span;
use saltus_flat::{BaseType, Dim, Expr, ExprKind, Type};

use crate::Context;
use crate::diagnostics as d;
use crate::operators::{fail, has_value};
use crate::shape::{cast, common_element, map_in_place, merge_dims};

/// `{elements}`: all of one type and size after conversion; one more dimension in front.
pub fn array(cx: &mut dyn Context, mut elements: Vec<Expr>, span: Span) -> Expr {
    if elements.is_empty() {
        return fail(cx, d::empty_array_constructor("{}", span), span);
    }
    let Some((base, dims)) = common_type(cx, &elements) else {
        return Expr::error(span);
    };
    if elements.iter().any(|e| e.ty.base != base) {
        map_in_place(&mut elements, &mut |e| cast(cx, e, base));
    }
    let ty = Type::array(base, dims).with_outer(&[Dim::Known(elements.len() as u64)]);
    Expr::new(ExprKind::Array(elements), ty, span)
}

/// The type all elements can be converted to; the first misfit is reported, errors are passed over in silence.
pub(crate) fn common_type(cx: &mut dyn Context, elements: &[Expr]) -> Option<(BaseType, Vec<Dim>)> {
    if elements.iter().any(Expr::is_error) {
        return None;
    }
    let mut ty: Option<Type> = None;
    for (i, element) in elements.iter().enumerate() {
        if !has_value(cx, element) {
            return None;
        }
        ty = Some(match ty {
            None => element.ty.clone(),
            // The usual element of a long literal changes nothing.
            Some(ty) if ty == element.ty => ty,
            Some(ty) => {
                let Some(base) = common_element(cx, ty.base, element.ty.base) else {
                    let diagnostic = d::elements_differ(cx, &ty, element, i + 1);
                    cx.report(diagnostic);
                    return None;
                };
                let Some(dims) = merge_dims(&ty.dims, &element.ty.dims) else {
                    let diagnostic = d::element_sizes_differ(cx, &ty, element, i + 1);
                    cx.report(diagnostic);
                    return None;
                };
                Type::array(base, dims)
            }
        });
    }
    ty.map(|ty| (ty.base, ty.dims))
}
