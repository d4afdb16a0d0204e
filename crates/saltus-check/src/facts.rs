//! What the rules want to know about each variable, gathered in one pass over the model.
//!
//! For `der(x) = q; when x > 1 then q = 2; end when;` it finds that `x` has a derivative and that `q` is discrete
//! although it is not declared so (specification 4.5.1, 3.8.5).

use saltus_base::{IdVec, Index};
use saltus_flat::{BaseType, Builtin, Equation, EquationKind, Expr, ExprKind, FlatModel, VarId, Variability};

use crate::targets;
use crate::walk;

/// Facts about one variable.
#[derive(Clone, Copy, Default, Debug)]
pub struct VariableFacts {
    /// Assigned in the body of a `when`.
    pub in_when: bool,
    /// `der` is applied to it somewhere.
    pub has_derivative: bool,
    /// How many references there are, its own attributes and binding included.
    pub n_references: u32,
}

/// Facts about the model.
#[derive(Debug, Default)]
pub struct Facts {
    variables: IdVec<VarId, VariableFacts>,
    /// Clocks occur: what is discrete follows from clock inference, which is not repeated here.
    pub uses_clocks: bool,
    /// `transition` occurs: variables may be assigned in several states.
    pub uses_state_machines: bool,
    /// Which built-in functions occur, one bit each.
    builtins: u128,
}

impl Facts {
    pub fn gather(model: &FlatModel) -> Facts {
        let mut facts = Facts {
            variables: model.variables.values().map(|_| VariableFacts::default()).collect(),
            uses_clocks: model.variables.values().any(|v| v.ty.base == BaseType::Clock),
            uses_state_machines: uses_state_machines(model),
            builtins: 0,
        };
        facts.uses_clocks |= facts.uses_state_machines;
        walk::for_each_root(model, &mut |root, _| {
            walk::for_each_part(root, &mut |part| facts.see(part));
        });
        facts.mark_when_targets(model, &model.equations, false);
        for algorithm in &model.algorithms {
            let mut assigned = Vec::new();
            targets::assigned(model, &algorithm.statements, false, &mut assigned);
            for (target, in_when) in assigned {
                facts.update(target.variable, |v| v.in_when |= in_when);
            }
        }
        facts
    }

    pub fn of(&self, variable: VarId) -> VariableFacts {
        self.variables.get(variable).copied().unwrap_or_default()
    }

    /// Whether one of these occurs, so that a rule about them need not look further.
    pub fn uses_any(&self, functions: &[Builtin]) -> bool {
        functions.iter().any(|&f| self.builtins & bit(f) != 0)
    }

    fn update(&mut self, variable: VarId, change: impl FnOnce(&mut VariableFacts)) {
        if variable.index() < self.variables.len() {
            change(&mut self.variables[variable]);
        }
    }

    fn see(&mut self, part: &Expr) {
        if part.ty.base == BaseType::Clock {
            self.uses_clocks = true;
        }
        match &part.kind {
            ExprKind::Var(variable) => self.update(*variable, |v| v.n_references = v.n_references.saturating_add(1)),
            ExprKind::Builtin { function, arguments } => {
                self.builtins |= bit(*function);
                match function {
                    Builtin::Der => arguments.iter().for_each(|a| self.see_differentiated(a)),
                    Builtin::Previous | Builtin::Hold | Builtin::SubSample | Builtin::SuperSample => {
                        self.uses_clocks = true;
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// `der(x)` makes `x` a candidate for a state, and so does `der(2*x)`.
    fn see_differentiated(&mut self, argument: &Expr) {
        walk::for_each_part_while(argument, &mut |part| match &part.kind {
            ExprKind::Var(variable) => {
                self.update(*variable, |v| v.has_derivative = true);
                false
            }
            _ => true,
        });
    }

    fn mark_when_targets(&mut self, model: &FlatModel, list: &[Equation], in_when: bool) {
        for equation in list {
            match &equation.kind {
                EquationKind::Equality { left, .. } if in_when => {
                    let mut found = Vec::new();
                    targets::collect(model, left, &mut found);
                    found.iter().for_each(|t| self.update(t.variable, |v| v.in_when = true));
                }
                EquationKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.mark_when_targets(model, body, in_when));
                    self.mark_when_targets(model, otherwise, in_when);
                }
                EquationKind::When { branches } => {
                    branches.iter().for_each(|(_, body)| self.mark_when_targets(model, body, true));
                }
                _ => {}
            }
        }
    }
}

/// The bit of a function; functions beyond the last bit share it.
fn bit(function: Builtin) -> u128 {
    1 << (function as u32).min(127)
}

/// Whether the equations define a state machine.
pub fn uses_state_machines(model: &FlatModel) -> bool {
    model.equations.iter().any(|e| match &e.kind {
        EquationKind::Call(call) => {
            matches!(call.kind, ExprKind::Builtin { function: Builtin::Transition | Builtin::InitialState, .. })
        }
        _ => false,
    })
}

/// The model with its facts: what each rule is given.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub model: &'a FlatModel,
    pub facts: &'a Facts,
}

impl<'a> Context<'a> {
    /// The name of a variable as the user knows it.
    pub fn name(&self, variable: VarId) -> &'a str {
        self.model.variables.get(variable).map_or("?", |v| v.name.as_str())
    }

    /// A constant or parameter.
    pub fn is_parameter(&self, variable: VarId) -> bool {
        self.model.variables.get(variable).is_some_and(|v| v.variability <= Variability::Parameter)
    }

    /// Changes at events only, or never: not Real, declared `discrete`, assigned in a `when`, a parameter.
    pub fn is_discrete_time(&self, variable: VarId) -> bool {
        let Some(declared) = self.model.variables.get(variable) else { return true };
        declared.variability <= Variability::Discrete
            || !matches!(declared.ty.base, BaseType::Real | BaseType::Record(_))
            || self.facts.of(variable).in_when
    }
}
