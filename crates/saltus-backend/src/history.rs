//! Lower the operators that need more than the present values: `delay`, `spatialDistribution` and `homotopy`.
//!
//! ```text
//! y = delay(u, 1)            input := u (with the crossing functions)       y = output, initially y = u
//! y = homotopy(a, s)         h = a, in the simplified initial system        h = λ a + (1 - λ) s
//! ```
//!
//! The driver keeps the past of `input` and sets `output` before each evaluation. What is piecewise constant, although it
//! was not declared so, is found once everything is sorted ([`find_piecewise_constant_delays`]): its jumps arrive as time
//! events, and no step has to be as short as the delay.
//! (Specification: sections 3.7.4.1 delay, 3.7.4.2 spatialDistribution, 3.7.4.4 homotopy.)

use std::collections::BTreeSet;

use saltus_base::Span;
use saltus_flat::Expr;
use saltus_program::{BinaryFn, Delay, SlotId, SlotKind, SlotType, Transport};

use crate::blocks::Step;
use crate::dag::NodeId;
use crate::describe::full_text_of;
use crate::lower::function_assertions::Made;
use crate::lower::value::Value;
use crate::lower::{Lowered, Lowering};
use crate::system::{Assignment, ScalarEquation, System, slot_type};

/// Marks fixed delays whose input changes at events only, by the continuous order.
///
/// ```text
/// Real x = if b then 1 else 0;  Real y = delay(x, 1);  Real z = delay(y, 1);     y and z are piecewise constant
/// ```
pub fn find_piecewise_constant_delays(system: &mut System, continuous: &[Step]) {
    let is_candidate = |d: &Delay| d.is_fixed && !d.is_discrete;
    if !system.history.delays.iter().any(is_candidate) {
        return;
    }
    // All of them, until it turns out that one is not.
    let mut constant: Vec<bool> = system.history.delays.iter().map(|d| d.is_discrete || is_candidate(d)).collect();
    loop {
        let delays = || system.history.delays.iter().zip(&constant);
        let mut changing: BTreeSet<SlotId> = delays().filter(|(_, c)| !**c).map(|(d, _)| d.output).collect();
        let driven: BTreeSet<SlotId> = system.history.delays.iter().map(|d| d.output).collect();
        let computed: BTreeSet<SlotId> = continuous.iter().flat_map(|s| s.slots()).collect();
        let is_moving = |slot: SlotId, changing: &BTreeSet<SlotId>| {
            let is_given = !driven.contains(&slot) && !computed.contains(&slot);
            changing.contains(&slot) || is_given && system.slots[slot].kind.is_continuous()
        };
        for step in continuous {
            let loads = system.dag.loads(&step.nodes());
            if matches!(step, Step::Loop(_)) || loads.iter().any(|&s| is_moving(s, &changing)) {
                changing.extend(step.slots());
            }
        }
        let moves = |d: &Delay| {
            let input = system.events.crossings.iter().find(|a| a.slot == d.input);
            input.is_none_or(|a| system.dag.loads(&[a.node]).iter().any(|&s| is_moving(s, &changing)))
        };
        let still: Vec<bool> = delays().map(|(d, &c)| c && (d.is_discrete || !moves(d))).collect();
        if still == constant {
            break;
        }
        constant = still;
    }
    for (delay, is_constant) in system.history.delays.iter_mut().zip(constant) {
        delay.is_discrete |= is_constant;
    }
}

impl<'a> Lowering<'a, '_> {
    pub fn delay(&mut self, e: &'a Expr, x: &'a Expr, time: &'a Expr) -> Lowered<Value> {
        if self.function.is_some() {
            return self.unsupported("delay() in a function", e.span);
        }
        let (x, time) = (self.value(x)?, self.value(time)?);
        let ty = slot_type(e.ty.base).unwrap_or(SlotType::Real);
        self.zip(&x, &time, e.span, |l, x, time| l.delayed(x, time, ty, e.span))
    }

    fn delayed(&mut self, x: NodeId, time: NodeId, ty: SlotType, span: Span) -> NodeId {
        if self.is_parametric(x) || self.system.dag.value(time) == Some(0.0) {
            return x;
        }
        let key = (x, time);
        if let Some(&slot) = self.system.introduced.delays.get(&key) {
            return self.system.load(slot);
        }
        let number = self.system.history.delays.len() + 1;
        let name = format!("delay {number}");
        let is_discrete = !self.system.dag.is_continuous(x);
        let delay_time = time;
        let (time, is_fixed) = self.known_to_driver(time, &format!("time of {name}"), span);
        // Other configurations of the model find its past by this name.
        let text = [x, delay_time].map(|node| full_text_of(self.system, node)).join(", ");
        let input = self.seen_by_driver(x, &format!("input of delay({text})"), span);
        let (output, delayed) = self.set_by_driver(x, &name, is_discrete, ty, span);
        self.system.history.delays.push(Delay { input, time, output, is_fixed, is_discrete, span });
        self.system.introduced.delays.insert(key, delayed);
        self.system.load(delayed)
    }

    /// A slot that the driver may read before the equations are evaluated: a parameter, or else a variable of its own.
    fn known_to_driver(&mut self, node: NodeId, name: &str, span: Span) -> (SlotId, bool) {
        if self.is_parametric(node) {
            let slot = self.system.add_slot(name, SlotKind::Parameter, SlotType::Real);
            self.system.parameters.assignments.push(Assignment { slot, node, span });
            return (slot, true);
        }
        let slot = self.system.add_slot(name, SlotKind::Algebraic, SlotType::Real);
        let left = self.system.load(slot);
        // Other values initially would be as good; what counts is that the variable stays.
        let initially = Some(node);
        self.system.equations.push(ScalarEquation {
            left,
            right: node,
            target: None,
            initially,
            is_real: true,
            span,
            linearized: None,
        });
        (slot, false)
    }

    /// A slot that is computed with the crossing functions.
    fn seen_by_driver(&mut self, node: NodeId, name: &str, span: Span) -> SlotId {
        let slot = self.system.add_slot(name, SlotKind::Auxiliary, SlotType::Real);
        self.system.events.crossings.push(Assignment { slot, node, span });
        self.system.history.inputs.push(slot);
        slot
    }

    /// A slot that the driver sets, and the variable that equals it except initially.
    fn set_by_driver(
        &mut self,
        initially: NodeId,
        name: &str,
        is_discrete: bool,
        ty: SlotType,
        span: Span,
    ) -> (SlotId, SlotId) {
        let kind = if is_discrete { SlotKind::Flag } else { SlotKind::Input };
        let output = self.system.add_slot(format!("output of {name}"), kind, ty);
        let value = self.system.load(output);
        if is_discrete {
            return (output, self.system.add_discrete(name.to_owned(), ty, value, Some(initially), span));
        }
        let slot = self.system.add_slot(name, SlotKind::Algebraic, SlotType::Real);
        let left = self.system.load(slot);
        let initially = Some(initially);
        self.system.equations.push(ScalarEquation {
            left,
            right: value,
            target: None,
            initially,
            is_real: true,
            span,
            linearized: None,
        });
        (output, slot)
    }

    /// Both results: what leaves at position 0 and at position 1.
    pub fn spatial_distribution(&mut self, e: &'a Expr, arguments: &'a [Expr]) -> Lowered<Vec<Value>> {
        let [in0, in1, x, positive, points, values] = arguments else {
            return self.broken("spatialDistribution with other arguments than six", e.span);
        };
        if self.function.is_some() {
            return self.unsupported("spatialDistribution() in a function", e.span);
        }
        let (in0, in1) = (self.scalar(in0)?, self.scalar(in1)?);
        let (x, positive) = (self.scalar(x)?, self.scalar(positive)?);
        let (points, values) = (self.scalars(points)?, self.scalars(values)?);
        if points.len() != values.len() || points.is_empty() {
            return self.broken("spatialDistribution with unequal numbers of points and values", e.span);
        }
        let name = format!("transport {}", self.system.history.transports.len() + 1);
        let slot_of = |l: &mut Self, node: NodeId, name: String| l.known_to_driver(node, &name, e.span);
        let mut profile = Vec::with_capacity(points.len());
        for (k, (&point, &value)) in points.iter().zip(&values).enumerate() {
            let (point, point_is_fixed) = slot_of(self, point, format!("point {} of {name}", k + 1));
            let (value, value_is_fixed) = slot_of(self, value, format!("value {} of {name}", k + 1));
            if !point_is_fixed || !value_is_fixed {
                return self.unsupported("spatialDistribution() from points that are not parameters", e.span);
            }
            profile.push((point, value));
        }
        let position = slot_of(self, x, format!("position of {name}")).0;
        let text = [in0, in1, x].map(|node| full_text_of(self.system, node)).join(", ");
        let is_positive = self.seen_by_driver(positive, &format!("direction of spatialDistribution({text})"), e.span);
        let inputs = [in0, in1].map(|node| self.seen_by_driver(node, &format!("input of {name}"), e.span));
        let [first, last] = [values[0], values[values.len() - 1]];
        let (out0, at0) = self.set_by_driver(first, &format!("{name} at 0"), false, SlotType::Real, e.span);
        let (out1, at1) = self.set_by_driver(last, &format!("{name} at 1"), false, SlotType::Real, e.span);
        let transport = Transport { inputs, position, is_positive, outputs: [out0, out1], profile, span: e.span };
        self.system.history.transports.push(transport);
        // What flows in is seen at once on its own side.
        let (at0, at1) = (self.system.load(at0), self.system.load(at1));
        let leaves0 = self.system.dag.select(positive, in0, at0);
        let leaves1 = self.system.dag.select(positive, at1, in1);
        Ok(vec![Value::Number(leaves0), Value::Number(leaves1)])
    }

    pub fn homotopy(&mut self, actual: &'a Expr, simplified: &'a Expr, span: Span) -> Lowered<Value> {
        let value = self.value(actual)?;
        // Inside of functions and where algorithms have assigned variables there is no equation of its own.
        let is_equation = self.function.is_none() && !self.is_literal && self.state.variables.is_empty();
        if !is_equation || !value.scalars().iter().any(|&n| self.system.dag.is_continuous(n)) {
            return Ok(value);
        }
        // A simplified part that cannot be lowered is none.
        let Ok(simplified) = self.making(Made::Sometimes, |l| l.value(simplified)) else { return Ok(value) };
        self.zip(&value, &simplified, span, |l, actual, simplified| l.blended(actual, simplified, span))
    }

    /// A variable that is `actual`, in the simplified initial system `λ·actual + (1 − λ)·simplified`.
    fn blended(&mut self, actual: NodeId, simplified: NodeId, span: Span) -> NodeId {
        if actual == simplified || !self.system.dag.is_continuous(actual) {
            return actual;
        }
        if let Some(&slot) = self.system.introduced.homotopies.get(&(actual, simplified)) {
            return self.system.load(slot);
        }
        let lambda = match self.system.introduced.lambda {
            Some(slot) => slot,
            None => {
                let slot = self.system.add_slot("homotopy", SlotKind::Homotopy, SlotType::Real);
                self.system.slots[slot].initial = 1.0;
                self.system.introduced.lambda = Some(slot);
                slot
            }
        };
        let (lambda, one) = (self.system.load(lambda), self.system.dag.constant(1.0));
        let dag = &mut self.system.dag;
        let rest = dag.binary(BinaryFn::Sub, one, lambda);
        let (a, s) = (dag.binary(BinaryFn::Mul, lambda, actual), dag.binary(BinaryFn::Mul, rest, simplified));
        let blend = dag.binary(BinaryFn::Add, a, s);
        // The actual part may be undefined where the simplified one starts, and the other way round.
        let (none, all) = (dag.constant(0.0), one);
        let (is_simple, is_actual) =
            (dag.binary(BinaryFn::LessEqual, lambda, none), dag.binary(BinaryFn::GreaterEqual, lambda, all));
        let below = dag.select(is_simple, simplified, blend);
        let blend = dag.select(is_actual, actual, below);
        let number = self.system.introduced.homotopies.len() + 1;
        let slot = self.system.add_slot(format!("homotopy {number}"), SlotKind::Algebraic, SlotType::Real);
        let left = self.system.load(slot);
        let initially = Some(blend);
        self.system.equations.push(ScalarEquation {
            left,
            right: actual,
            target: None,
            initially,
            is_real: true,
            span,
            linearized: None,
        });
        self.system.introduced.homotopies.insert((actual, simplified), slot);
        left
    }
}
