//! Bringing a value to the type of the place it is put.
//!
//! `Real x = 1` becomes `x = 1.0`; `Integer i = 1.5` and `Real x[3] = {1, 2}` are errors. Integers become Real,
//! enumerations must have the same literals, records the same field names with types that fit, sizes must agree where
//! they are known. Specification: "Type Compatible Expressions", "Standard Type Coercion".

use saltus_flat::{BaseType, Expr, Type};

use crate::diagnostics as d;
use crate::operators::fail;
use crate::shape::{base_fits, cast, merge_dims, sizes_agree};
use crate::{Context, Place};

/// `value` as a `target`; sizes that the target does not know come from the value.
pub fn convert(cx: &mut dyn Context, value: Expr, target: &Type, place: Place) -> Expr {
    if value.is_error() || target.is_error() {
        return value;
    }
    let span = value.span;
    if !base_fits(cx, value.ty.base, target.base) {
        let diagnostic = match place {
            Place::Condition { .. } if *target == Type::BOOLEAN => d::condition_not_boolean(cx, place, &value),
            _ => d::type_mismatch(cx, place, &value, target),
        };
        return fail(cx, diagnostic, span);
    }
    if value.ty.rank() != target.rank() {
        let diagnostic = match (place, value.ty.base) {
            (Place::Condition { .. }, BaseType::Boolean) => d::condition_not_boolean(cx, place, &value),
            _ => d::rank_mismatch(cx, place, &value, target),
        };
        return fail(cx, diagnostic, span);
    }
    if merge_dims(&value.ty.dims, &target.dims).is_none() {
        let diagnostic = d::size_mismatch(cx, place, &value, target);
        return fail(cx, diagnostic, span);
    }
    cast(cx, value, target.base)
}

/// Reports parts of a value that do not have the sizes of those of its target, which their type does not tell.
pub fn check_parts(cx: &mut dyn Context, target: &Expr, value: &Expr, place: Place) -> bool {
    let fits = sizes_agree(target, value);
    if !fits {
        let diagnostic = d::size_mismatch(cx, place, value, &target.ty);
        cx.report(diagnostic);
    }
    fits
}
