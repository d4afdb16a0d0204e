//! Which variables, and which elements of them, a left-hand side names.
//!
//! In: `x`, `x[2]`, `x[i]`, `(a, , b)`, `{a, b}`. Out: the variable and the [`Region`] of it, for each.

use saltus_base::Span;
use saltus_flat::{Expr, ExprKind, FlatModel, Statement, StatementKind, Subscript, VarId};

/// The part of an array that a reference names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Region {
    /// All of it, or a scalar.
    Whole,
    /// One element, counted from 0 in row-major order.
    Element(u64),
    /// A slice, or an element that is not known before run time.
    Some,
}

/// A reference on a left-hand side.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub variable: VarId,
    pub region: Region,
    pub span: Span,
}

/// Collects the references of a left-hand side. False if it contains something that is not a reference to a variable of
/// the model, such as `2*x` (iteration variables and locals count as none either).
pub fn collect(model: &FlatModel, left: &Expr, out: &mut Vec<Target>) -> bool {
    let mut only_references = true;
    let mut stack = vec![left];
    while let Some(part) = stack.pop() {
        match &part.kind {
            ExprKind::Tuple(items) => stack.extend(items.iter().flatten().rev()),
            ExprKind::Array(items) | ExprKind::Record(items) => stack.extend(items.iter().rev()),
            ExprKind::Error => {}
            _ => match reference(model, part) {
                Some(target) => out.push(target),
                None => only_references = false,
            },
        }
    }
    only_references
}

/// The variable and region that `x`, `x[2]` or `x[:]` names.
pub fn reference(model: &FlatModel, expr: &Expr) -> Option<Target> {
    match &expr.kind {
        ExprKind::Var(variable) => Some(Target { variable: *variable, region: Region::Whole, span: expr.span }),
        ExprKind::Index { base, subscripts } => {
            let ExprKind::Var(variable) = base.kind else { return None };
            let region = region_of(model, variable, subscripts);
            Some(Target { variable, region, span: expr.span })
        }
        ExprKind::Field { base, .. } => {
            let target = reference(model, base)?;
            Some(Target { region: Region::Some, span: expr.span, ..target })
        }
        _ => None,
    }
}

fn region_of(model: &FlatModel, variable: VarId, subscripts: &[Subscript]) -> Region {
    if subscripts.iter().all(|s| matches!(s, Subscript::All)) {
        return Region::Whole;
    }
    let Some(variable) = model.variables.get(variable) else { return Region::Some };
    if subscripts.len() != variable.ty.rank() {
        return Region::Some;
    }
    let mut position = 0u64;
    for (subscript, dim) in subscripts.iter().zip(&variable.ty.dims) {
        let (Some(at), Some(size)) = (literal_subscript(subscript), dim.known()) else { return Region::Some };
        if at == 0 || at > size {
            return Region::Some;
        }
        match position.checked_mul(size).and_then(|p| p.checked_add(at - 1)) {
            Some(p) => position = p,
            None => return Region::Some,
        }
    }
    Region::Element(position)
}

/// A subscript that is known now; counts from 1.
fn literal_subscript(subscript: &Subscript) -> Option<u64> {
    let Subscript::Index(at) = subscript else { return None };
    match at.kind {
        ExprKind::Integer(value) => u64::try_from(value).ok(),
        ExprKind::Boolean(value) => Some(u64::from(value) + 1),
        ExprKind::EnumLiteral(_, ordinal) => Some(u64::from(ordinal)),
        _ => None,
    }
}

/// The same for a statement, where an index may choose among components: `r[i].x` names a part of each.
fn collect_assigned(model: &FlatModel, target: &Expr, out: &mut Vec<Target>) {
    if let ExprKind::Tuple(items) = &target.kind {
        return items.iter().flatten().for_each(|item| collect_assigned(model, item, out));
    }
    let mut root = target;
    while let ExprKind::Index { base, .. } | ExprKind::Field { base, .. } = &root.kind {
        root = base;
    }
    if std::ptr::eq(root, target) || !matches!(root.kind, ExprKind::Array(_) | ExprKind::Record(_)) {
        collect(model, target, out);
        return;
    }
    let mut parts = Vec::new();
    collect(model, root, &mut parts);
    out.extend(parts.into_iter().map(|part| Target { region: Region::Some, span: target.span, ..part }));
}

/// What the statements of an algorithm assign, in order; `in_when` tells for each whether it stands in a `when`.
pub fn assigned(model: &FlatModel, list: &[Statement], in_when: bool, out: &mut Vec<(Target, bool)>) {
    for statement in list {
        match &statement.kind {
            StatementKind::Assign { target, .. } => {
                let mut targets = Vec::new();
                collect_assigned(model, target, &mut targets);
                out.extend(targets.into_iter().map(|t| (t, in_when)));
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| assigned(model, body, in_when, out));
                assigned(model, otherwise, in_when, out);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                assigned(model, body, in_when, out);
            }
            StatementKind::When { branches } => {
                branches.iter().for_each(|(_, body)| assigned(model, body, true, out));
            }
            _ => {}
        }
    }
}
