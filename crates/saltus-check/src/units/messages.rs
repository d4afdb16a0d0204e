//! The wording of the unit messages.

use saltus_base::{Diagnostic, Span};
use saltus_flat::{Builtin, Expr, ExprKind, FlatModel};

use super::infer::Inferred;
use crate::diagnostics as codes;
use crate::text::text;

/// The message if two units do not agree. `whole` is shown where it says more than its place.
pub fn compare(
    model: &FlatModel,
    span: Span,
    what: &str,
    whole: Option<&Expr>,
    (left, a): (&Expr, &Inferred),
    (right, b): (&Expr, &Inferred),
) -> Option<Diagnostic> {
    if !(a.is_certain && b.is_certain) {
        return None;
    }
    let (a_text, b_text) = (a.text(), b.text());
    let (left_text, right_text) = (text(model, left), text(model, right));
    let place = whole.map_or_else(|| what.to_owned(), |w| format!("{what} `{}`", text(model, w)));
    let d = if !a.unit.same_dimension(b.unit) {
        let message = format!(
            "expected the same unit for {place}, found \"{a_text}\" for `{left_text}` and \"{b_text}\" for `{right_text}`"
        );
        Diagnostic::new(codes::UNIT_MISMATCH, span, message)
            .hint("check the expression, or correct the `unit` of a declaration")
    } else {
        let ratio = a.unit.ratio(b.unit)?;
        let message = format!(
            "expected the same unit for {place}, found \"{a_text}\" for `{left_text}` and \"{b_text}\" for \
             `{right_text}`, which differ by the factor {}",
            short(ratio)
        );
        Diagnostic::new(codes::UNIT_SCALE, span, message)
            .hint("units are not converted: declare SI units and use `displayUnit` for what is shown")
    };
    Some(d.label(left.span, format!("\"{a_text}\"")).label(right.span, format!("\"{b_text}\"")))
}

pub fn in_function(
    model: &FlatModel,
    function: Builtin,
    whole: &Expr,
    argument: &Expr,
    found: &Inferred,
) -> Diagnostic {
    let (function, shown, unit) = (function.name(), text(model, argument), found.text());
    Diagnostic::new(
        codes::UNIT_IN_FUNCTION,
        whole.span,
        format!("expected a number without unit in `{function}`, found `{shown}` with the unit \"{unit}\""),
    )
    .label(argument.span, format!("\"{unit}\""))
    .hint("divide it by a reference value with the same unit")
}

pub fn syntax(value: &Expr, found: &str, suggestion: Option<&str>) -> Diagnostic {
    let d = Diagnostic::new(
        codes::UNIT_SYNTAX,
        value.span,
        format!("expected a unit such as \"N.m\" or \"kg/(m.s2)\", found \"{found}\""),
    );
    match suggestion {
        Some(better) => {
            let d = d.hint(format!("write \"{better}\""));
            if matches!(value.kind, ExprKind::String(_)) { d.fix_by(&format!("\"{better}\"")) } else { d }
        }
        None => d.hint("factors are joined by `.`, exponents follow directly, and one `/` is allowed"),
    }
}

/// Six digits are enough for a factor.
fn short(value: f64) -> String {
    if !(1e-4..1e7).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let text = format!("{value:.7}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
