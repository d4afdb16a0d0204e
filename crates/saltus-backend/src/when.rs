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
use saltus_flat::{Confidence, Equation, EquationKind, Expr, ExprKind};
use saltus_program::{BinaryFn, Reinit, SlotId, SlotKind, SlotType, Termination};

use crate::dag::NodeId;
use crate::diagnostics;
use crate::initial_reinits::InitialReinit;
use crate::lower::function_assertions::{Made, Times};
use crate::lower::value::Value;
use crate::lower::without_value::Used;
use crate::lower::{Lowered, Lowering};
use crate::system::{ScalarEquation, Start};

/// When a part of a `when` is active: at events, and in the initial system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    pub at_event: NodeId,
    pub initially: NodeId,
}

/// The values a `when` may give its variables, in order of priority.
type Choices = BTreeMap<SlotId, Vec<(Guard, NodeId, Span)>>;

impl<'a> Lowering<'a, '_> {
    pub fn when(&mut self, branches: &'a [(Expr, Vec<Equation>)], span: Span) -> Lowered<()> {
        if let [(condition, body)] = branches
            && condition.ty.base == saltus_flat::BaseType::Clock
        {
            return self.clocked_when(condition, body);
        }
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
    pub fn activation(&mut self, condition: &'a Expr) -> Lowered<Guard> {
        if condition.ty.base != saltus_flat::BaseType::Boolean {
            return Err(diagnostics::clocks::when_with_clock(condition.span).into());
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
            // What never changes never becomes true.
            if self.is_parametric(node) {
                continue;
            }
            let slot = self.condition_slot(node, text, condition.span);
            let edge = self.edge_node(slot);
            guard.at_event = self.system.dag.binary(BinaryFn::Or, guard.at_event, edge);
        }
        Ok(guard)
    }

    /// A Boolean variable with the value of the condition, so that it has a `pre` value.
    pub fn condition_slot(&mut self, node: NodeId, text: String, span: Span) -> SlotId {
        if let Some(&slot) = self.system.introduced.conditions.get(&node) {
            return slot;
        }
        let slot = self.system.add_discrete(format!("when {text}"), SlotType::Boolean, node, None, span);
        self.system.introduced.conditions.insert(node, slot);
        slot
    }

    fn when_body(&mut self, body: &'a [Equation], guard: Guard, choices: &mut Choices) -> Lowered<()> {
        let initial = self.system.load(self.system.initial);
        let active = self.system.dag.select(initial, guard.initially, guard.at_event);
        self.acting(active, |l| l.making(Made::InWhen(guard), |l| l.active_body(body, guard, choices)))
    }

    fn active_body(&mut self, body: &'a [Equation], guard: Guard, choices: &mut Choices) -> Lowered<()> {
        for equation in body {
            let span = equation.span;
            match &equation.kind {
                EquationKind::Equality { left, right } => self.when_equality(left, right, guard, choices, span)?,
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
                EquationKind::Terminate { message } => self.termination(message, guard, span),
                EquationKind::Assert { condition, message, level } => {
                    self.event_assertion(condition, message, level.as_ref(), guard, span)?;
                }
                EquationKind::When { .. } => return self.unsupported("a when in a when", span),
                EquationKind::Call(call) => self.call_for_effect(call)?,
            }
        }
        Ok(())
    }

    fn when_equality(
        &mut self,
        left: &'a Expr,
        right: &'a Expr,
        guard: Guard,
        choices: &mut Choices,
        span: Span,
    ) -> Lowered<()> {
        let ExprKind::Tuple(items) = &left.kind else {
            let value = self.value(right)?;
            return self.choose(left, &value, guard, choices, span);
        };
        self.used = Used::Targets(items);
        let results = self.results(right)?;
        for (item, value) in items.iter().zip(results.iter()) {
            if let Some(item) = item {
                self.choose(item, value, guard, choices, span)?;
            }
        }
        Ok(())
    }

    fn choose(
        &mut self,
        left: &'a Expr,
        value: &Value,
        guard: Guard,
        choices: &mut Choices,
        span: Span,
    ) -> Lowered<()> {
        let Some(targets) = self.element_slots(left)? else { return Err(diagnostics::when_left_side(span).into()) };
        for (slot, value) in targets.into_iter().zip(value.scalars()) {
            if !matches!(self.system.slots[slot].kind, SlotKind::Discrete | SlotKind::Clocked) {
                return Err(diagnostics::when_left_side(span).into());
            }
            choices.entry(slot).or_default().push((guard, value, span));
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
        self.system.equations.push(ScalarEquation { left, right, target, initially, is_real, span, linearized: None });
    }

    fn when_reinit(&mut self, state: &'a Expr, value: &'a Expr, guard: Guard, span: Span) -> Lowered<()> {
        let values = self.scalars(value)?;
        // In an algorithm the state may have been assigned; `reinit` is about the variable.
        let assigned = std::mem::take(&mut self.state.variables);
        let slots = self.slots(state, "reinit of an expression");
        self.state.variables = assigned;
        for (slot, value) in slots?.into_iter().zip(values) {
            let number = self.system.events.reinits.len() + 1;
            let (zero, no) = (self.system.dag.constant(0.0), self.system.dag.boolean(false));
            // While inactive the value may be anything, also not a number.
            let guarded = self.system.dag.select(guard.at_event, value, zero);
            let name = format!("reinit {number} of {}", self.system.name(slot));
            let active = self.system.add_discrete(name.clone(), SlotType::Boolean, guard.at_event, Some(no), span);
            let value_slot =
                self.system.add_discrete(format!("value of {name}"), SlotType::Real, guarded, Some(zero), span);
            self.system.events.reinits.push(Reinit { state: slot, active, value: value_slot, span });
            self.initial_reinit(slot, value, guard, span);
        }
        Ok(())
    }

    /// An active `reinit` is an initial equation, made when all are known ([`initial_reinits`](crate::initial_reinits)).
    fn initial_reinit(&mut self, slot: SlotId, value: NodeId, guard: Guard, span: Span) {
        let reinit = InitialReinit { state: slot, guard: guard.initially, value, span };
        self.system.introduced.initial_reinits.push(reinit);
    }

    pub fn termination(&mut self, message: &'a Expr, guard: Guard, span: Span) {
        let wording = self.wording(message);
        let number = self.system.events.terminations.len() + 1;
        let Guard { at_event, initially } = guard;
        let name = format!("terminate {number}");
        let active = self.system.add_discrete(name, SlotType::Boolean, at_event, Some(initially), span);
        // The message is worded after the event, in whose last round it is not active any more.
        let decider = if wording.has_numbers() {
            let slot = self.system.add_slot(format!("terminate {number} asked"), SlotKind::Discrete, SlotType::Boolean);
            let before = self.pre_node(slot);
            let asked = self.system.dag.binary(BinaryFn::Or, before, at_event);
            self.kept_outcome(slot, false, asked, initially, span);
            slot
        } else {
            active
        };
        let message = self.message(wording, decider, true);
        self.system.events.terminations.push(Termination { active, message, span });
    }

    /// An assertion that is checked at events, or at the start.
    pub fn event_assertion(
        &mut self,
        condition: &'a Expr,
        message: &'a Expr,
        level: Option<&'a Expr>,
        guard: Guard,
        span: Span,
    ) -> Lowered<()> {
        let Ok(condition) = self.literally(|l| l.condition(condition)) else { return Ok(()) };
        let holds = self.kept_condition(condition, guard, span);
        self.add_assertion(holds, message, level, span);
        Ok(())
    }

    /// Whether a condition has held so far whenever the guard was active. It is kept, since it is read after the event.
    pub fn kept_condition(&mut self, condition: NodeId, guard: Guard, span: Span) -> NodeId {
        let (at_event, initially) = (self.implies(guard.at_event, condition), self.implies(guard.initially, condition));
        let is_true = |node| self.system.dag.value(node).is_some_and(|v| v != 0.0);
        if is_true(at_event) && is_true(initially) {
            return at_event;
        }
        let number = self.system.checks.assertions.len() + 1;
        let slot = self.system.add_slot(format!("holds {number}"), SlotKind::Discrete, SlotType::Boolean);
        let before = self.pre_node(slot);
        let right = self.system.dag.and(before, at_event);
        self.kept_outcome(slot, true, right, initially, span);
        self.system.load(slot)
    }

    /// A Boolean that has its start value until an event, and then what `right` makes of its value before.
    fn kept_outcome(&mut self, slot: SlotId, start: bool, right: NodeId, initially: NodeId, span: Span) {
        let first = self.system.dag.boolean(start);
        self.system.slots[slot].initial = f64::from(u8::from(start));
        self.system
            .starts
            .insert(slot, Start { value: first, is_fixed: true, confidence: Confidence::default(), span });
        let left = self.system.load(slot);
        let (target, initially) = (Some(slot), Some(initially));
        self.system.equations.push(ScalarEquation {
            left,
            right,
            target,
            initially,
            is_real: false,
            span,
            linearized: None,
        });
    }

    /// `assert` in a function that is executed is checked by its callers; in algorithms it is checked here.
    pub fn assert_statement(
        &mut self,
        condition: &'a Expr,
        message: &'a Expr,
        level: Option<&'a Expr>,
        span: Span,
    ) -> Lowered<()> {
        if self.function.is_some() {
            return self.assert_in_function(condition, message, level, span);
        }
        match self.times() {
            None => Ok(()),
            Some(Times::Always) => self.assertion(condition, message, level, self.path, span),
            Some(Times::Active(guard)) => {
                let here = Guard { at_event: self.path, initially: self.path };
                let guard = self.both(guard, here);
                self.event_assertion(condition, message, level, guard, span)
            }
        }
    }

    pub fn terminate_statement(&mut self, message: &'a Expr, span: Span) -> Lowered<()> {
        if self.function.is_some() {
            return self.unsupported("terminate in a function", span);
        }
        let at_event = if self.is_initial { self.system.dag.boolean(false) } else { self.path };
        self.termination(message, Guard { at_event, initially: self.path }, span);
        Ok(())
    }

    pub fn reinit_statement(&mut self, state: &'a Expr, value: &'a Expr, span: Span) -> Lowered<()> {
        if self.function.is_some() {
            return self.broken("reinit in a function", span);
        }
        let no = self.system.dag.boolean(false);
        if !self.is_initial {
            return self.when_reinit(state, value, Guard { at_event: self.path, initially: no }, span);
        }
        let values = self.scalars(value)?;
        let slots = self.slots(state, "reinit of an expression")?;
        let guard = Guard { at_event: no, initially: self.path };
        slots.into_iter().zip(values).for_each(|(slot, value)| self.initial_reinit(slot, value, guard, span));
        Ok(())
    }
}

/// Source text of the elements of a vector condition.
fn element_texts(lowering: &Lowering<'_, '_>, condition: &Expr, n: usize) -> Vec<String> {
    match &condition.kind {
        ExprKind::Array(items) if items.len() == n => items.iter().map(|e| lowering.text_of(e)).collect(),
        _ => vec![lowering.text_of(condition); n],
    }
}
