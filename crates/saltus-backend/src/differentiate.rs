//! Derivatives of equations with respect to time.
//!
//! A function that is called rather than written out is differentiated by its `derivative` annotation (specification
//! 12.7.1); without one the equation cannot be differentiated and the message names the function.

use saltus_base::Diagnostic;
use saltus_program::{SlotId, SlotKind};

use crate::dag::{CallId, Dag, NodeId, NotDifferentiable, Rules};
use crate::diagnostics;
use crate::system::{ScalarEquation, System};

/// The equation between the derivatives of both sides.
pub fn time_derivative(system: &mut System, equation: &ScalarEquation) -> Result<ScalarEquation, Diagnostic> {
    let slots = continuous_slots(system, equation);
    let derivatives: Vec<(SlotId, NodeId)> = slots
        .into_iter()
        .map(|slot| {
            let derivative = system.derivative(slot);
            (slot, system.load(derivative))
        })
        .collect();
    let mut dag = std::mem::take(&mut system.dag);
    let mut rules = TimeRules { time: system.time, derivatives };
    let sides = dag.differentiate_all(&[equation.left, equation.right], &mut rules);
    system.dag = dag;
    let sides = sides.map_err(|e| not_differentiable(system, equation, e))?;
    let mut side = |k: usize| sides[k].unwrap_or_else(|| system.dag.constant(0.0));
    let (left, right) = (side(0), side(1));
    Ok(ScalarEquation { left, right, target: None, initially: None, is_real: true, span: equation.span })
}

fn not_differentiable(system: &System, equation: &ScalarEquation, error: NotDifferentiable) -> Diagnostic {
    diagnostics::not_differentiable(system.callable_name(error.function), equation.span)
}

/// Everything in the equation that changes between events, `time` aside.
fn continuous_slots(system: &System, equation: &ScalarEquation) -> Vec<SlotId> {
    let changes = |slot: &SlotId| {
        matches!(system.slots[*slot].kind, SlotKind::State | SlotKind::Derivative | SlotKind::Algebraic)
    };
    system.dag.loads(&[equation.left, equation.right]).into_iter().filter(changes).collect()
}

struct TimeRules {
    time: SlotId,
    /// In order of the slots.
    derivatives: Vec<(SlotId, NodeId)>,
}

impl Rules for TimeRules {
    fn slot(&mut self, dag: &mut Dag, slot: SlotId) -> Option<NodeId> {
        if slot == self.time {
            return Some(dag.constant(1.0));
        }
        self.derivatives.iter().find(|(s, _)| *s == slot).map(|(_, d)| *d)
    }

    fn call(
        &mut self,
        dag: &mut Dag,
        call: CallId,
        result: u32,
        _d_arguments: &[Option<NodeId>],
    ) -> Result<Option<NodeId>, NotDifferentiable> {
        Err(NotDifferentiable::new(dag, call, result))
    }
}
