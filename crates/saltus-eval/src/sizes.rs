//! Sizes that declarations state, and what they depend on.

use saltus_base::{Diagnostic, Span};
use saltus_flat::{Builtin, Dim, Expr, ExprKind, Type};
use saltus_procedure::{Code, Op, Operand, Procedure, Step};

use crate::{EvalResult, diagnostics};

/// The sizes that a type knows are those of the value.
pub(crate) fn check_known_sizes(
    ty: &Type,
    dims: &[usize],
    span: Span,
    name: impl FnOnce() -> String,
) -> EvalResult<()> {
    let differs = |(size, found): (&Dim, &usize)| size.known().is_some_and(|n| n != *found as u64);
    match ty.dims.iter().zip(dims).position(differs) {
        Some(d) => {
            let expected = ty.dims.get(d).and_then(|n| n.known()).unwrap_or(0);
            let found = dims.get(d).copied().unwrap_or(0);
            Err(diagnostics::size_expected(span, &name(), d, expected as i64, found).into())
        }
        None => Ok(()),
    }
}

/// Does the size that a declaration states depend on the value of a scalar variable, as in `input Real x[n]`, rather than on sizes alone, as
/// in `input Real x[size(y, 1)]`?
pub fn names_number(size: &Expr) -> bool {
    let mut found = false;
    match &size.kind {
        ExprKind::Local(_) => found = size.ty.is_scalar(),
        ExprKind::Builtin { function: Builtin::Size | Builtin::Ndims, .. } => {}
        _ => size.for_each_child(&mut |child| found |= names_number(child)),
    }
    found
}

/// [`names_number`] of a size in a procedure.
pub(crate) fn code_names_number(procedure: &Procedure, size: &Code) -> bool {
    let is_scalar = |operand: &Operand| match operand {
        Operand::Local(local) => procedure.local(*local).is_some_and(|l| l.ty.is_scalar()),
        _ => false,
    };
    let reads = |step: &Step| match step {
        Step::Compute { op: Op::Unary(_, a) | Op::Cast(_, a) | Op::Copy(a), .. } => is_scalar(a),
        Step::Compute { op: Op::Binary(_, a, b), .. } => is_scalar(a) || is_scalar(b),
        Step::Compute { op: Op::Builtin { arguments, .. }, .. } => arguments.iter().any(|a| is_scalar(&a.value)),
        Step::Compute { op: Op::Size { .. } | Op::Literal(_), .. } => false,
        _ => true,
    };
    is_scalar(&size.value) || size.block.iter().any(reads)
}

/// Does it say that a value has another size than its place, or that there is none? Whoever executes the function finds that.
pub fn is_mistake(diagnostic: &Diagnostic) -> bool {
    [diagnostics::SIZE_MISMATCH, diagnostics::WITHOUT_VALUE].contains(&diagnostic.code)
}

/// Does it say that an array is not as long as an argument states, or has no value?
pub fn is_array_warning(diagnostic: &Diagnostic) -> bool {
    [diagnostics::SIZE_WARNING, diagnostics::ARRAY_WITHOUT_VALUE].contains(&diagnostic.code)
}
