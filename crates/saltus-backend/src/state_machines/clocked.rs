//! Which state machines have to do with clocks, though their states use no operators of clocks themselves.
//!
//! Variables that occur in one equation are on one clock, or on none; operators that convert between clocks and continuous time
//! separate them. A machine whose states or conditions share a variable with something clocked is clocked. (Specification: section 16.7.3.)

use std::collections::BTreeSet;

use saltus_base::Index;
use saltus_flat::count::component_of;
use saltus_flat::uses::{for_each_expr_of_algorithm, for_each_expr_of_equation};
use saltus_flat::{BaseType, Builtin, EquationKind, Expr, ExprKind, FlatModel, VarId, Variability};
use saltus_graph::{Sign, SignedUnionFind};

use super::collect::{Machines, is_machine_call};

/// Does a machine share variables with clocked equations, or count ticks?
pub fn touches_clocks(model: &FlatModel, machines: &Machines, k: usize) -> bool {
    let mut groups = Groups::new(model);
    for (id, variable) in model.variables.iter() {
        if let Some(binding) = &variable.binding {
            groups.add(&[binding], &[id]);
        }
    }
    for equation in &model.equations {
        if matches!(&equation.kind, EquationKind::Call(call) if is_machine_call(call)) {
            continue;
        }
        let mut expressions = Vec::new();
        for_each_expr_of_equation(equation, &mut |e| expressions.push(e.clone()));
        groups.add(&expressions.iter().collect::<Vec<_>>(), &[]);
    }
    for algorithm in &model.algorithms {
        let mut expressions = Vec::new();
        for_each_expr_of_algorithm(algorithm, &mut |e| expressions.push(e.clone()));
        groups.add(&expressions.iter().collect::<Vec<_>>(), &[]);
    }
    let machine = &machines.machines[k];
    let conditions: Vec<&Expr> = machine.transitions.iter().map(|t| &t.condition).collect();
    let is_own = |id: &VarId| {
        let component = component_of(&model.variables[*id].name);
        machine.states.iter().any(|state| saltus_flat::configuration::is_inside(component, state))
    };
    let own: Vec<VarId> = model.variables.iter().map(|(id, _)| id).filter(is_own).collect();
    let mut counts_ticks = false;
    for condition in &conditions {
        let is_ticks = |e: &Expr| matches!(&e.kind, ExprKind::Builtin { function: Builtin::TicksInState, .. });
        condition.walk(&mut |e| counts_ticks |= is_ticks(e));
    }
    let root = groups.add(&conditions, &own);
    counts_ticks || root.is_some_and(|member| groups.is_clocked(member))
}

/// Variables that are on one clock or on none.
struct Groups<'a> {
    model: &'a FlatModel,
    together: SignedUnionFind,
    clocked: BTreeSet<usize>,
}

impl<'a> Groups<'a> {
    fn new(model: &'a FlatModel) -> Groups<'a> {
        Groups { model, together: SignedUnionFind::new(model.variables.len()), clocked: BTreeSet::new() }
    }

    /// Puts the variables of an equation into one group; one of them.
    fn add(&mut self, expressions: &[&Expr], others: &[VarId]) -> Option<usize> {
        let mut found = Occurring { variables: others.iter().map(|id| id.index()).collect(), is_clocked: false };
        expressions.iter().for_each(|e| found.look(e));
        let is_known = |k: usize| self.model.variables[VarId::from_usize(k)].variability <= Variability::Parameter;
        found.variables.retain(|&k| !is_known(k));
        let (&first, rest) = found.variables.split_first()?;
        for &other in rest {
            // Signs do not matter here, so that nothing contradicts.
            let _ = self.together.unite(first, other, Sign::Plus);
        }
        if found.is_clocked {
            self.clocked.insert(first);
        }
        Some(first)
    }

    fn is_clocked(&self, member: usize) -> bool {
        let root = self.together.find(member).0;
        self.clocked.iter().any(|&k| self.together.find(k).0 == root)
    }
}

struct Occurring {
    variables: Vec<usize>,
    is_clocked: bool,
}

impl Occurring {
    fn look(&mut self, e: &Expr) {
        use Builtin::{
            BackSample, FirstTick, Interval, NoClock, Previous, Sample, ShiftSample, SubSample, SuperSample,
        };
        match &e.kind {
            ExprKind::Var(id) => self.variables.push(id.index()),
            ExprKind::Builtin { function, arguments } => {
                let is_of_clock = |e: &Expr| e.ty.base == BaseType::Clock;
                // What is sampled is outside of the clock, what is held inside.
                let converts = *function == Sample && arguments.iter().any(is_of_clock)
                    || matches!(function, SubSample | SuperSample | ShiftSample | BackSample | NoClock);
                self.is_clocked |= converts || matches!(function, Previous | FirstTick | Interval);
                if !converts && *function != Builtin::Hold {
                    arguments.iter().for_each(|e| self.look(e));
                }
            }
            _ => {
                self.is_clocked |= e.ty.base == BaseType::Clock;
                e.for_each_child(&mut |child| self.look(child));
            }
        }
    }
}
