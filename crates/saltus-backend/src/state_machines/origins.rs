//! Where states of continuous-time state machines were entered: what `excursion` measures from, and what linearised states are linear around.
//!
//! ```text
//! transition(p, p, excursion(p) > 0.1)      ⇒    excursion(p) = abs(p.x - entered(p.x, p));   transition(p, p, excursion(p) > 0.1)
//! ```
//!
//! In: a flat model and its states. Out: a variable for each value that must be known, the same in all configurations; they are set where the
//! state is entered, and at the start ([`linearize`](crate::linearize)).

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::Span;
use saltus_flat::configuration::is_inside;
use saltus_flat::count::component_of;
use saltus_flat::uses::{for_each_expr_of_algorithm, for_each_expr_of_equation};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Expr, ExprKind, FlatModel, MachineState, StateOrigin, Subscript, Type, VarId,
    Variability,
};

use super::build::{binary, var};
use super::collect::state_name;
use super::machine::declare_variable;

/// The values of a model that are remembered.
pub struct Origins {
    pub all: Vec<StateOrigin>,
    /// The variable `excursion(s)` of states of which it is asked.
    pub excursions: BTreeMap<usize, VarId>,
    /// States whose annotation says so.
    pub linearized: Vec<usize>,
}

impl Origins {
    pub fn declare(model: &mut FlatModel, states: &[MachineState]) -> Origins {
        let asked = asked(model);
        let is_linearized = |state: &MachineState| {
            model.components.iter().any(|c| c.treatment.is_linearized && &*c.name == state.name())
        };
        let linearized: Vec<usize> = (0..states.len()).filter(|&k| is_linearized(&states[k])).collect();
        let (mut all, mut excursions) = (Vec::new(), BTreeMap::new());
        for (k, state) in states.iter().enumerate() {
            let is_asked = asked.contains(state.name());
            if !is_asked && !linearized.contains(&k) {
                continue;
            }
            let found = Found::in_state(model, state.name());
            let values = if linearized.contains(&k) { found.all } else { found.differentiated.clone() };
            let wanted = values.into_iter().map(|id| (id, false));
            for (of, is_derivative) in wanted.chain(found.differentiated.into_iter().map(|id| (id, true))) {
                let value = declare_like(model, of, is_derivative, state);
                all.push(StateOrigin { state: k, of, is_derivative, value });
            }
            if is_asked {
                let name = format!("excursion({})", state.name());
                let zero = Expr::real(0.0, state.span);
                excursions.insert(k, declare_variable(model, name, BaseType::Real, zero, false, state.span));
            }
        }
        Origins { all, excursions, linearized }
    }

    /// How far a state is from where it was entered: the largest distance of a variable that it differentiates, in nominal values.
    pub fn distance(&self, model: &FlatModel, state: usize, span: Span) -> Expr {
        let own = self.all.iter().filter(|origin| origin.state == state && origin.is_derivative);
        let mut terms = Vec::new();
        for derivative in own {
            let value = self.all.iter().find(|o| o.state == state && o.of == derivative.of && !o.is_derivative);
            let Some(origin) = value else { continue };
            let nominal = model.variables[origin.of].attributes.nominal.clone();
            let n = model.variables[origin.of].ty.n_elements().unwrap_or(0);
            for k in 0..n {
                let difference =
                    binary(BinaryOp::Sub, element(model, origin.of, k, span), element(model, origin.value, k, span));
                let scaled = match &nominal {
                    Some(nominal) if nominal.ty.is_scalar() => binary(BinaryOp::Div, difference, nominal.clone()),
                    _ => difference,
                };
                terms.push(Expr::builtin(Builtin::Abs, vec![scaled], Type::REAL, span));
            }
        }
        let larger = |a, b| Expr::builtin(Builtin::Max, vec![a, b], Type::REAL, span);
        terms.into_iter().reduce(larger).unwrap_or_else(|| Expr::real(0.0, span))
    }
}

/// One element of a variable, in row-major order.
fn element(model: &FlatModel, id: VarId, position: u64, span: Span) -> Expr {
    let whole = var(model, id, span);
    let dims: Vec<u64> = whole.ty.dims.iter().filter_map(|d| d.known()).collect();
    if dims.is_empty() {
        return whole;
    }
    let (mut rest, mut subscripts) = (position, Vec::new());
    for size in dims.iter().rev().map(|size| (*size).max(1)) {
        subscripts.push(Subscript::Index(Expr::integer((rest % size + 1) as i64, span)));
        rest /= size;
    }
    subscripts.reverse();
    Expr::new(ExprKind::Index { base: Box::new(whole), subscripts }, Type::REAL, span)
}

/// The states of which `excursion` is asked.
fn asked(model: &FlatModel) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut look = |e: &Expr| {
        e.walk(&mut |e| {
            if let ExprKind::Builtin { function: Builtin::Excursion, arguments } = &e.kind {
                names.extend(arguments.first().and_then(state_name).map(str::to_owned));
            }
        });
    };
    model.variables.values().filter_map(|v| v.binding.as_ref()).for_each(&mut look);
    model.equations.iter().for_each(|e| for_each_expr_of_equation(e, &mut look));
    model.algorithms.iter().for_each(|a| for_each_expr_of_algorithm(a, &mut look));
    names
}

/// Continuous variables of the equations of a state.
#[derive(Default)]
struct Found {
    all: BTreeSet<VarId>,
    differentiated: BTreeSet<VarId>,
}

impl Found {
    fn in_state(model: &FlatModel, state: &str) -> Found {
        let mut found = Found::default();
        let is_continuous = |id: &VarId| {
            let variable = &model.variables[*id];
            variable.ty.base == BaseType::Real && variable.variability == Variability::Continuous
        };
        let mut look = |e: &Expr| e.walk(&mut |e| found.look(e));
        for (_, variable) in model.variables.iter().filter(|(_, v)| is_inside(component_of(&v.name), state)) {
            variable.binding.iter().for_each(&mut look);
        }
        let equations = model.equations.iter().filter(|e| is_inside(&e.component, state));
        equations.for_each(|e| for_each_expr_of_equation(e, &mut look));
        let algorithms = model.algorithms.iter().filter(|a| is_inside(&a.component, state));
        algorithms.for_each(|a| for_each_expr_of_algorithm(a, &mut look));
        found.all.extend(
            model
                .variables
                .iter()
                .map(|(id, _)| id)
                .filter(|&id| is_inside(component_of(&model.variables[id].name), state)),
        );
        found.all.retain(is_continuous);
        found.differentiated.retain(is_continuous);
        found
    }

    fn look(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(id) => {
                self.all.insert(*id);
            }
            ExprKind::Builtin { function: Builtin::Der, arguments } => {
                let mut of = arguments.first();
                while let Some(Expr { kind: ExprKind::Index { base, .. }, .. }) = of {
                    of = Some(base);
                }
                if let Some(Expr { kind: ExprKind::Var(id), .. }) = of {
                    self.differentiated.insert(*id);
                }
            }
            _ => {}
        }
    }
}

fn declare_like(model: &mut FlatModel, of: VarId, is_derivative: bool, state: &MachineState) -> VarId {
    let variable = &model.variables[of];
    let (ty, what) =
        (variable.ty.clone(), if is_derivative { format!("der({})", variable.name) } else { variable.name.clone() });
    let name = format!("entered({what}, {})", state.name());
    let value = declare_variable(model, name, BaseType::Real, Expr::real(0.0, state.span), true, state.span);
    model.variables[value].ty = ty;
    value
}
