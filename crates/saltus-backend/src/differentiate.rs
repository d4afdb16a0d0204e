//! Derivatives of equations with respect to time.
//!
//! A function that is called rather than written out is differentiated by its `derivative` annotation (specification
//! 12.7.1) or by the derivative that [`crate::derivative_functions`] has written; without one the equation cannot be
//! differentiated and the message names the function.

use saltus_base::Diagnostic;
use saltus_flat::FlatModel;
use saltus_program::{SlotId, SlotKind};

use crate::dag::{CallId, Dag, Derivative, NodeId, NotDifferentiable, Rules};
use crate::diagnostics;
use crate::lower::derivatives::{By, derivative_of_call};
use crate::system::{ScalarEquation, System};

/// The equation between the derivatives of both sides.
pub fn time_derivative(
    model: &FlatModel,
    system: &mut System,
    equation: &ScalarEquation,
) -> Result<ScalarEquation, Box<Diagnostic>> {
    let slots = continuous_slots(system, equation);
    let derivatives: Vec<(SlotId, NodeId)> = slots
        .into_iter()
        .map(|slot| {
            let derivative = system.derivative(slot);
            (slot, system.load(derivative))
        })
        .collect();
    let mut dag = std::mem::take(&mut system.dag);
    let mut rules = TimeRules { model, system, derivatives };
    let sides = dag.differentiate_all(&[equation.left, equation.right], &mut rules);
    system.dag = dag;
    let sides = sides.map_err(|e| Box::new(not_differentiable(system, equation, e)))?;
    let mut side = |k: usize| sides[k].unwrap_or_else(|| system.dag.constant(0.0));
    let (left, right) = (side(0), side(1));
    Ok(ScalarEquation {
        left,
        right,
        target: None,
        initially: None,
        is_real: true,
        span: equation.span,
        linearized: equation.linearized,
    })
}

fn not_differentiable(system: &mut System, equation: &ScalarEquation, error: NotDifferentiable) -> Diagnostic {
    if let Some(callable) = system.calls.callables.get(error.function) {
        system.calls.underived.push(callable.function);
    }
    diagnostics::not_differentiable(system.callable_name(error.function), equation.span)
}

/// Everything in the equation that changes between events, `time` aside.
fn continuous_slots(system: &System, equation: &ScalarEquation) -> Vec<SlotId> {
    let changes = |slot: &SlotId| {
        matches!(system.slots[*slot].kind, SlotKind::State | SlotKind::Derivative | SlotKind::Algebraic)
    };
    system.dag.loads(&[equation.left, equation.right]).into_iter().filter(changes).collect()
}

struct TimeRules<'a> {
    model: &'a FlatModel,
    /// Its graph is the one being differentiated, and absent meanwhile.
    system: &'a mut System,
    derivatives: Vec<(SlotId, NodeId)>,
}

impl Rules for TimeRules<'_> {
    fn slot(&mut self, dag: &mut Dag, slot: SlotId) -> Option<NodeId> {
        if slot == self.system.time {
            return Some(dag.constant(1.0));
        }
        self.derivatives.iter().find(|(s, _)| *s == slot).map(|(_, d)| *d)
    }

    fn call(&mut self, dag: &mut Dag, call: CallId, result: u32, d_arguments: &[Derivative]) -> Derivative {
        differentiate_call(self.model, self.system, dag, call, result, d_arguments, By::Time)
    }
}

/// The partial derivatives of calls, slots being independent of each other.
pub struct CallRules<'a> {
    pub model: &'a FlatModel,
    /// Its graph is the one being differentiated, and absent meanwhile.
    pub system: &'a mut System,
}

impl Rules for CallRules<'_> {
    fn slot(&mut self, _: &mut Dag, _: SlotId) -> Option<NodeId> {
        None
    }

    fn call(&mut self, dag: &mut Dag, call: CallId, result: u32, d_arguments: &[Derivative]) -> Derivative {
        differentiate_call(self.model, self.system, dag, call, result, d_arguments, By::Slot)
    }
}

fn differentiate_call(
    model: &FlatModel,
    system: &mut System,
    dag: &mut Dag,
    call: CallId,
    result: u32,
    d_arguments: &[Derivative],
    by: By,
) -> Derivative {
    std::mem::swap(dag, &mut system.dag);
    let results = derivative_of_call(model, system, call, d_arguments, by);
    std::mem::swap(dag, &mut system.dag);
    match results.as_ref().and_then(|r| r.get(result as usize)) {
        Some(&derivative) => Ok(Some(derivative)),
        None => Err(NotDifferentiable::new(dag, call, result)),
    }
}
