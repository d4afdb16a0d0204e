//! State machines (specification, chapter 17) as ordinary clocked equations.
//!
//! ```text
//! initialState(a);                              active(a) = machine.activeState == 1;
//! transition(a, b, a.x > 3, immediate=false);   machine.delayed = if machine.nextState == 1 and a.x > 3 then 1 else 0; …
//! // in block a:                        ⇒
//! x = previous(x) + 1;                          a.x = if active(a) then (if reset(a) then start else previous(a.x)) + 1
//!                                                     else previous(a.x);
//! ```
//!
//! In: a flat model with `transition` and `initialState`. Out: the same model without them. [`collect`] finds machines and
//! the states they are in; [`machine`] writes the equations of the specification's semantics for each machine; [`guard`]
//! makes the equations of a state hold only while it is active. Nothing after this pass knows of state machines.

pub mod build;
mod clocked;
mod collect;
pub mod continuous;
mod guard;
mod links;
mod machine;
mod modes;
mod origins;

use saltus_base::Diagnostics;
use saltus_flat::{Builtin, EquationKind, Expr, ExprKind, FlatModel, Origin};

use collect::Machines;
pub use collect::state_name;

/// The model without state machines; `None` if it has none.
pub fn rewrite_state_machines(model: &FlatModel, diagnostics: &mut Diagnostics) -> Option<FlatModel> {
    let is_call = |kind: &EquationKind| match kind {
        EquationKind::Call(call) => collect::is_machine_call(call),
        _ => false,
    };
    if !model.equations.iter().any(|e| is_call(&e.kind)) {
        return None;
    }
    let mut model = model.clone();
    unite_inner_outer(&mut model);
    hold_merged(&mut model);
    let machines = Machines::collect(&model, diagnostics);
    let calls = std::mem::take(&mut model.equations);
    model.equations = calls.into_iter().filter(|e| !is_call(&e.kind)).collect();
    let mut names = machine::declare(&mut model, &machines);
    guard::guard_states(&mut model, &machines, &mut names, diagnostics);
    machine::add_equations(&mut model, &machines, &mut names, diagnostics);
    Some(model)
}

/// A signal with sources in several states keeps its value while none of them is active (specification 17.3.6).
fn hold_merged(model: &mut FlatModel) {
    for equation in model.equations.iter_mut().filter(|e| e.origin == Origin::Connection) {
        if let EquationKind::Equality { left, right } = &mut equation.kind {
            hold_otherwise(right, left);
        }
    }
}

fn hold_otherwise(e: &mut Expr, signal: &Expr) {
    let ExprKind::If { condition, otherwise, .. } = &mut e.kind else { return };
    if !matches!(&condition.kind, ExprKind::Builtin { function: Builtin::ActiveState, .. }) {
        return;
    }
    match &otherwise.kind {
        ExprKind::If { .. } => hold_otherwise(otherwise, signal),
        _ => **otherwise = build::previous(signal.clone()),
    }
}

/// An `inner outer` variable of a state is the variable outside: what its own states assign is assigned there.
fn unite_inner_outer(model: &mut FlatModel) {
    if model.inner_outer.is_empty() {
        return;
    }
    let pairs = model.inner_outer.clone();
    let resolve = |mut id| {
        // Chains are as long as states are nested; a bound protects against circles.
        for _ in 0..=pairs.len() {
            match pairs.iter().find(|(inner, _)| *inner == id) {
                Some(&(_, outer)) => id = outer,
                None => break,
            }
        }
        id
    };
    build::for_each_expression(model, &mut |e| {
        build::rewrite(e, &mut |e| {
            if let ExprKind::Var(id) = &mut e.kind {
                *id = resolve(*id);
            }
        });
    });
    for (inner, outer) in &pairs {
        // The variable inside shows what the one outside is.
        let variable = &model.variables[*inner];
        let (ty, span) = (variable.ty.clone(), variable.span);
        let value = saltus_flat::Expr::new(ExprKind::Var(resolve(*outer)), ty, span);
        model.variables[*inner].binding = Some(value);
    }
}
