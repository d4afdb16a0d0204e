//! Start values that can be set without compiling.
//!
//! ```modelica
//! Real x(start = 1, fixed = true);   ⇒   parameter Real x.start = 1;
//!                                        Real x(start = x.start, fixed = true);
//! ```
//!
//! In: a flat model. Out: the same model with a hidden parameter for each fixed literal start value of a continuous variable. The name
//! is free: a variable of a built-in type has no components.

use saltus_flat::{
    Attributes, BaseType, Causality, Dim, Expr, ExprKind, FlatModel, Prefix, VarId, Variability, Variable,
};

/// The name of the parameter for the start value of a scalar: `a.x[2]` has `a.x.start[2]`.
pub fn name_of_start(variable: &str) -> String {
    match variable.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((base, index)) => format!("{base}.start[{index}]"),
        None => format!("{variable}.start"),
    }
}

pub fn with_settable_starts(model: &FlatModel) -> FlatModel {
    let mut model = model.clone();
    let found: Vec<(VarId, Expr)> =
        model.variables.iter().filter_map(|(id, variable)| Some((id, settable(variable)?))).collect();
    for (id, value) in found {
        let variable = &model.variables[id];
        let (ty, span) = (variable.ty.clone(), variable.span);
        let parameter = Variable {
            name: format!("{}.start", variable.name),
            ty: ty.clone(),
            variability: Variability::Parameter,
            causality: Causality::Local,
            prefix: Prefix::None,
            attributes: Attributes {
                unit: variable.attributes.unit.clone(),
                is_difference: variable.attributes.is_difference,
                ..Attributes::default()
            },
            binding: Some(value),
            description: String::new(),
            is_protected: variable.is_protected,
            hide_result: true,
            is_structural: false,
            is_final: false,
            span,
        };
        let parameter = model.variables.push(parameter);
        model.variables[id].attributes.start = Some(Expr::new(ExprKind::Var(parameter), ty, span));
    }
    model
}

/// The start value as an expression of the type of the variable, if it is a fixed literal.
fn settable(variable: &Variable) -> Option<Expr> {
    let is_continuous = variable.variability == Variability::Continuous && variable.causality != Causality::Input;
    if variable.ty.base != BaseType::Real || !is_continuous || variable.binding.is_some() {
        return None;
    }
    let start = variable.attributes.start.as_ref().filter(|start| start.is_literal())?;
    if !is_true(variable.attributes.fixed.as_ref()?) {
        return None;
    }
    match (&variable.ty.dims[..], &start.ty.dims[..]) {
        ([], []) => Some(start.clone().to_real()),
        ([Dim::Known(n)], []) => {
            let items = vec![start.clone().to_real(); usize::try_from(*n).ok()?];
            Some(Expr::new(ExprKind::Array(items), variable.ty.clone(), start.span))
        }
        (own, given) if own == given && start.ty.base == BaseType::Real => Some(start.clone()),
        _ => None,
    }
}

fn is_true(fixed: &Expr) -> bool {
    match &fixed.kind {
        ExprKind::Boolean(value) => *value,
        ExprKind::Array(items) => items.iter().all(is_true),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::name_of_start;

    #[test]
    fn names_of_elements() {
        assert_eq!(name_of_start("a[2].x"), "a[2].x.start");
        assert_eq!(name_of_start("a.x[2,3]"), "a.x.start[2,3]");
    }
}
