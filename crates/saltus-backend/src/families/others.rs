//! What the equations that are no families say about elements, as far as it matters for families.

use std::collections::BTreeSet;

use saltus_flat::assigned::{Assigned, assigned_in_when};
use saltus_flat::family;
use saltus_flat::uses::{for_each_expr_of_algorithm, for_each_expr_of_equation};
use saltus_flat::{
    BaseType, Builtin, Equation, EquationKind, Expr, ExprKind, FlatModel, Subscript, VarId, Variability, count,
};

use super::elementwise::structural_value;
use super::read::{Family, Source};

/// An element, or all elements of a variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mention {
    pub variable: VarId,
    pub is_derivative: bool,
    pub position: Option<usize>,
}

/// What an equation, a declaration or an algorithm may determine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// One of the unknowns in it.
    Row,
    /// Any number of them.
    Touches,
    /// None.
    Reads,
}

pub struct Other {
    pub role: Role,
    pub mentions: Vec<Mention>,
}

pub struct Others {
    pub items: Vec<Other>,
    /// Variables that something else determines, or looks at in a way that only scalars have.
    pub excluded: BTreeSet<VarId>,
    /// Elements in `der`, with their positions.
    pub differentiated: Vec<(VarId, usize)>,
}

impl Others {
    pub fn new(model: &FlatModel, families: &[Family]) -> Others {
        let own: BTreeSet<Source> = families.iter().map(|family| family.source).collect();
        let mut reader = Reader {
            model,
            others: Others { items: Vec::new(), excluded: assigned_in_when(model), differentiated: Vec::new() },
            mentions: Vec::new(),
            is_one_real: true,
        };
        for (k, equation) in model.equations.iter().enumerate() {
            if !own.contains(&Source::Equation(k)) {
                for_each_expr_of_equation(equation, &mut |e| reader.look_at(e));
                let role = reader.role_of(equation);
                reader.finish(role);
            }
        }
        for equation in &model.initial_equations {
            for_each_expr_of_equation(equation, &mut |e| reader.look_at(e));
            reader.finish(Role::Reads);
        }
        for (id, variable) in model.variables.iter() {
            for (_, e) in variable.attributes.iter() {
                reader.look_at(e);
            }
            reader.finish(Role::Reads);
            let Some(binding) = variable.binding.as_ref().filter(|_| !own.contains(&Source::Binding(id))) else {
                continue;
            };
            reader.look_at(binding);
            // A parameter determines nothing else.
            let role = match variable.ty.is_scalar() && variable.ty.base == BaseType::Real {
                _ if variable.variability <= Variability::Parameter => Role::Reads,
                true => Role::Row,
                false => Role::Touches,
            };
            reader.mentions.push(Mention { variable: id, is_derivative: false, position: None });
            reader.finish(role);
        }
        let mut assigned = Assigned::default();
        for (k, algorithm) in model.algorithms.iter().chain(&model.initial_algorithms).enumerate() {
            assigned.add_statements(model, &algorithm.statements);
            for_each_expr_of_algorithm(algorithm, &mut |e| reader.look_at(e));
            reader.finish(if k < model.algorithms.len() { Role::Touches } else { Role::Reads });
        }
        let mut others = reader.others;
        others.excluded.extend(model.variables.iter().map(|(id, _)| id).filter(|&id| assigned.contains(id)));
        others
    }
}

struct Reader<'m> {
    model: &'m FlatModel,
    others: Others,
    mentions: Vec<Mention>,
    /// Nothing discrete has been mentioned.
    is_one_real: bool,
}

impl Reader<'_> {
    fn role_of(&self, equation: &Equation) -> Role {
        match &equation.kind {
            EquationKind::Equality { left, .. } if left.ty.is_scalar() && left.ty.base == BaseType::Real => Role::Row,
            EquationKind::Equality { .. } | EquationKind::If { .. } | EquationKind::Call(_) => Role::Touches,
            // They determine what is discrete, which no family does.
            EquationKind::When { .. } => Role::Reads,
            EquationKind::Assert { .. } | EquationKind::Terminate { .. } | EquationKind::Reinit { .. } => Role::Reads,
        }
    }

    fn finish(&mut self, role: Role) {
        let mentions = std::mem::take(&mut self.mentions);
        let is_one_real = std::mem::replace(&mut self.is_one_real, true);
        let role = if role == Role::Row && !is_one_real { Role::Touches } else { role };
        if !mentions.is_empty() {
            self.others.items.push(Other { role, mentions });
        }
    }

    fn look_at(&mut self, e: &Expr) {
        use Builtin::{Change, Delay, Der, Edge, Pre, Previous, Reinit, Sample, SpatialDistribution};
        match &e.kind {
            ExprKind::Var(id) => self.mention(*id, None),
            ExprKind::Index { base, subscripts } => {
                match (self.element(e), &base.kind) {
                    (Some((id, position)), _) => self.mention(id, Some(position)),
                    (None, ExprKind::Var(id)) => self.mention(*id, None),
                    _ => self.look_at(base),
                }
                for subscript in subscripts {
                    if let Subscript::Index(e) | Subscript::Slice(e) = subscript {
                        self.look_at(e);
                    }
                }
            }
            ExprKind::Builtin { function: Der, arguments } => match arguments.first().and_then(|a| self.element(a)) {
                Some((id, position)) => {
                    self.others.differentiated.push((id, position));
                    self.mentions.push(Mention { variable: id, is_derivative: true, position: Some(position) });
                }
                None => {
                    self.is_one_real = false;
                    arguments.iter().for_each(|a| self.exclude(a));
                }
            },
            ExprKind::Builtin { function, arguments } => {
                let is_special =
                    matches!(function, Change | Delay | Edge | Pre | Previous | Reinit | Sample | SpatialDistribution);
                if is_special {
                    arguments.iter().for_each(|a| self.exclude(a));
                }
                arguments.iter().for_each(|a| self.look_at(a));
            }
            _ => e.for_each_child(&mut |child| self.look_at(child)),
        }
    }

    fn mention(&mut self, variable: VarId, position: Option<usize>) {
        let declared = &self.model.variables[variable];
        let is_discrete = declared.ty.base != BaseType::Real || declared.variability == Variability::Discrete;
        if is_discrete && count::is_unknown(declared) {
            self.is_one_real = false;
        }
        self.mentions.push(Mention { variable, is_derivative: false, position });
    }

    fn exclude(&mut self, e: &Expr) {
        e.walk(&mut |e| self.others.excluded.extend(if let ExprKind::Var(id) = e.kind { Some(id) } else { None }));
        self.look_at(e);
    }

    /// One element of an array, or a scalar, if it is known which.
    fn element(&self, e: &Expr) -> Option<(VarId, usize)> {
        if let ExprKind::Var(variable) = e.kind {
            return e.ty.is_scalar().then_some((variable, 0));
        }
        let ExprKind::Index { base, subscripts } = &e.kind else { return None };
        let ExprKind::Var(variable) = base.kind else { return None };
        if subscripts.len() != base.ty.rank() {
            return None;
        }
        let mut position: i64 = 0;
        for (subscript, size) in subscripts.iter().zip(&base.ty.dims) {
            let Subscript::Index(e) = subscript else { return None };
            let at = family::affine(e, &[], &mut |e| structural_value(self.model, e))?.constant;
            let size = size.known()? as i64;
            if !(1..=size).contains(&at) {
                return None;
            }
            position = position * size + at - 1;
        }
        Some((variable, position as usize))
    }
}
