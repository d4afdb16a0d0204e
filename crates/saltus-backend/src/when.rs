//! Lower `when`-equations to assignments that are guarded by the edge of their condition.
//!
//! ```text
//! when c then                       c1 := c
//!   n = pre(n) + 1;         ⇒       n  := if c1 and not pre(c1) then pre(n) + 1 else pre(n)
//!   reinit(v, -v);                  reinit of v: active := c1 and not pre(c1), value := -v
//! end when;
//! ```
//!
//! A vector condition is active if one of its elements becomes true; a branch is active only if no earlier one is. In the
//! initial system a branch is active only if `initial()` is its condition or an element of it; an active `reinit` then is
//! an initial equation. (Specification: sections 8.3.5, 8.3.6 and 8.6.)

use std::collections::BTreeMap;

use saltus_base::Span;
use saltus_flat::{Equation, EquationKind, Expr, ExprKind};
use saltus_program::{Reinit, SlotId, SlotKind, SlotType, Termination};

use crate::dag::NodeId;
use crate::diagnostics;
use crate::lower::{Lowering, Reported};
use crate::system::ScalarEquation;

/// When a part of a `when` is active: at events, and in the initial system.
#[derive(Clone, Copy)]
struct Guard {
    at_event: NodeId,
    initially: NodeId,
}

/// The values a `when` may give its variables, in order of priority.
type Choices = BTreeMap<SlotId, Vec<(Guard, NodeId, Span)>>;

impl Lowering<'_> {
    pub fn when(&mut self, branches: &[(Expr, Vec<Equation>)], span: Span) -> Result<(), Reported> {
        let mut free = self.always();
        let mut choices = Choices::new();
        for (condition, body) in branches {
            let active = self.activation(condition)?;
            let guard = self.both(free, active);
            self.literally(|l| l.when_body(body, guard, &mut choices))?;
            free = self.without(free, active);
        }
        for (slot, values) in choices {
            self.when_assignment(slot, &values, span);
        }
        Ok(())
    }

    fn always(&mut self) -> Guard {
        let yes = self.system.dag.boolean(true);
        Guard { at_event: yes, initially: yes }
    }

    fn both(&mut self, a: Guard, b: Guard) -> Guard {
        let dag = &mut self.system.dag;
        Guard { at_event: dag.and(a.at_event, b.at_event), initially: dag.and(a.initially, b.initially) }
    }

    fn without(&mut self, a: Guard, b: Guard) -> Guard {
        let dag = &mut self.system.dag;
        let no = Guard { at_event: dag.not(b.at_event), initially: dag.not(b.initially) };
        self.both(a, no)
    }

    /// When the condition of a branch makes it active.
    fn activation(&mut self, condition: &Expr) -> Result<Guard, Reported> {
        if condition.ty.base != saltus_flat::BaseType::Boolean {
            return self.unsupported("when with a clock", condition.span);
        }
        let elements = self.scalars(condition)?;
        let texts = element_texts(self, condition, elements.len());
        let initial = self.system.load(self.system.initial);
        let no = self.system.dag.boolean(false);
        let mut guard = Guard { at_event: no, initially: no };
        for (node, text) in elements.into_iter().zip(texts) {
            if node == initial {
                guard.initially = self.system.dag.boolean(true);
                continue;
            }
            let slot = self.condition_slot(node, text, condition.span);
            let edge = self.edge_node(slot);
            guard.at_event = self.system.dag.binary(saltus_program::BinaryFn::Or, guard.at_event, edge);
        }
        Ok(guard)
    }

    /// A Boolean variable with the value of the condition, so that it has a `pre` value.
    fn condition_slot(&mut self, node: NodeId, text: String, span: Span) -> SlotId {
        if let Some(&slot) = self.system.condition_memory.get(&node) {
            return slot;
        }
        let slot = self.system.add_discrete(format!("when {text}"), SlotType::Boolean, node, None, span);
        self.system.condition_memory.insert(node, slot);
        slot
    }

    fn when_body(&mut self, body: &[Equation], guard: Guard, choices: &mut Choices) -> Result<(), Reported> {
        for equation in body {
            let span = equation.span;
            match &equation.kind {
                EquationKind::Equality { left, right } => {
                    let (targets, values) = (self.scalars(left)?, self.scalars(right)?);
                    for (target, value) in targets.into_iter().zip(values) {
                        let slot = self.slot_of(target).filter(|&s| self.system.slots[s].kind == SlotKind::Discrete);
                        let Some(slot) = slot else { return self.report(diagnostics::when_left_side(span)) };
                        choices.entry(slot).or_default().push((guard, value, span));
                    }
                }
                EquationKind::If { branches, otherwise } => {
                    let mut free = guard;
                    for (condition, body) in branches {
                        let condition = self.condition(condition)?;
                        let here = Guard { at_event: condition, initially: condition };
                        let active = self.both(free, here);
                        self.when_body(body, active, choices)?;
                        free = self.without(free, here);
                    }
                    self.when_body(otherwise, free, choices)?;
                }
                EquationKind::Reinit { state, value } => self.when_reinit(state, value, guard, span)?,
                EquationKind::Terminate { message } => self.when_terminate(message, guard, span),
                EquationKind::Assert { .. } => return self.unsupported("assert in a when", span),
                EquationKind::When { .. } => return self.unsupported("a when in a when", span),
                EquationKind::Call(_) => return self.unsupported("calls for their effect", span),
            }
        }
        Ok(())
    }

    fn when_assignment(&mut self, slot: SlotId, values: &[(Guard, NodeId, Span)], span: Span) {
        let hold = self.pre_node(slot);
        let (mut right, mut initially) = (hold, hold);
        for &(guard, value, _) in values.iter().rev() {
            right = self.system.dag.select(guard.at_event, value, right);
            initially = self.system.dag.select(guard.initially, value, initially);
        }
        let left = self.system.load(slot);
        let span = values.first().map_or(span, |v| v.2);
        let is_real = self.system.slots[slot].ty == SlotType::Real;
        let (target, initially) = (Some(slot), Some(initially));
        self.system.equations.push(ScalarEquation { left, right, target, initially, is_real, span });
    }

    fn when_reinit(&mut self, state: &Expr, value: &Expr, guard: Guard, span: Span) -> Result<(), Reported> {
        let (slots, values) = (self.slots(state, "reinit of an expression")?, self.scalars(value)?);
        for (slot, value) in slots.into_iter().zip(values) {
            let number = self.system.reinits.len() + 1;
            let (zero, no) = (self.system.dag.constant(0.0), self.system.dag.boolean(false));
            // While inactive the value may be anything, also not a number.
            let guarded = self.system.dag.select(guard.at_event, value, zero);
            let name = format!("reinit {number} of {}", self.system.name(slot));
            let active = self.system.add_discrete(name.clone(), SlotType::Boolean, guard.at_event, Some(no), span);
            let value_slot =
                self.system.add_discrete(format!("value of {name}"), SlotType::Real, guarded, Some(zero), span);
            self.system.reinits.push(Reinit { state: slot, active, value: value_slot, span });
            match self.system.dag.value(guard.initially) {
                Some(0.0) => {}
                Some(_) => {
                    let left = self.system.load(slot);
                    let equation =
                        ScalarEquation { left, right: value, target: None, initially: None, is_real: true, span };
                    self.system.initial_equations.push(equation);
                }
                None => return self.unsupported("a conditional reinit in a when with initial()", span),
            }
        }
        Ok(())
    }

    fn when_terminate(&mut self, message: &Expr, guard: Guard, span: Span) {
        let text = match &message.kind {
            ExprKind::String(text) => text.to_string(),
            _ => saltus_flat::print_expr(&saltus_flat::ModelNames::new(self.model), message),
        };
        let number = self.system.terminations.len() + 1;
        let no = self.system.dag.boolean(false);
        let active =
            self.system.add_discrete(format!("terminate {number}"), SlotType::Boolean, guard.at_event, Some(no), span);
        self.system.terminations.push(Termination { active, message: text, span });
    }
}

/// Source text of the elements of a vector condition.
fn element_texts(lowering: &Lowering<'_>, condition: &Expr, n: usize) -> Vec<String> {
    let names = saltus_flat::ModelNames::new(lowering.model);
    match &condition.kind {
        ExprKind::Array(items) if items.len() == n => {
            items.iter().map(|e| saltus_flat::print_expr(&names, e)).collect()
        }
        _ => vec![saltus_flat::print_expr(&names, condition); n],
    }
}
