//! Lower the operators of the synchronous language to ports and clock slots.
//!
//! ```text
//! y = 2 * sample(x, c)          ⇒   y = 2 * port;  the table of samples gets (port, x, c)
//! y = subSample(a + b, 3)       ⇒   y = port;  source = a + b;  the table of conversions gets (source, port, slower by 3)
//! c = subSample(Clock(1, 10))   ⇒   c = clock2;  the table of constructors gets clock1, that of conversions (clock1, clock2)
//! ```
//!
//! (Specification: sections 16.3 to 16.5 and 16.10.)

use saltus_base::Span;
use saltus_clocks::{ConversionKind, Rational};
use saltus_flat::{BaseType, Builtin, Confidence, Expr};
use saltus_program::{SlotId, SlotKind, SlotType};

use super::survey::{Item, is_whole, owners, variables_of};
use super::{ClockedEquation, Constructor, ConstructorKind, ConversionPort, Query, QueryPort, SamplePort};
use crate::dag::NodeId;
use crate::diagnostics;
use crate::lower::value::Value;
use crate::lower::{Lowered, Lowering};
use crate::system::{Assignment, ScalarEquation, Start, slot_type};

impl<'a> Lowering<'a, '_> {
    pub fn clock_operator(&mut self, e: &'a Expr, function: Builtin, arguments: &'a [Expr]) -> Lowered<Value> {
        match (function, arguments) {
            (Builtin::Sample, [u, rest @ ..]) => self.clocked_sample(e, u, rest.first()),
            (Builtin::Hold, [u]) => self.hold(u),
            (Builtin::Previous, [u]) => self.previous(u),
            (Builtin::Interval, arguments) => self.query(Query::Interval, arguments.first(), e.span),
            (Builtin::FirstTick, arguments) => self.query(Query::FirstTick, arguments.first(), e.span),
            (Builtin::Clock, arguments) => self.clock_constructor(e, arguments),
            (Builtin::NoClock, [u]) => self.conversion(e, u, ConversionKind::Unrelated),
            (Builtin::SubSample, [u, factor]) => {
                let factor = self.factor(factor)?;
                self.conversion(e, u, ConversionKind::Slower(factor))
            }
            (Builtin::SuperSample, [u, factor]) => {
                let factor = self.factor(factor)?;
                self.conversion(e, u, ConversionKind::Faster(factor))
            }
            (Builtin::ShiftSample | Builtin::BackSample, [u, counter, resolution]) => {
                let (counter, resolution) = (self.evaluable(counter)?, self.evaluable(resolution)?);
                let counter = if function == Builtin::BackSample { counter.checked_neg() } else { Some(counter) };
                match counter.and_then(|c| Rational::new(c, resolution)) {
                    Some(shift) => self.conversion(e, u, ConversionKind::Shifted(shift)),
                    None => Err(diagnostics::clocks::bad_number(self.text_of(e), e.span).into()),
                }
            }
            _ => self.broken("a clock operator with other arguments", e.span),
        }
    }

    /// Lowers something of the unclocked partition inside a clocked equation.
    fn unclocked<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let equations = std::mem::take(&mut self.system.equations);
        let was_active = std::mem::replace(&mut self.system.clocks.is_active, false);
        let was_literal = std::mem::replace(&mut self.is_literal, self.system.clocks.is_survey);
        let result = act(self);
        self.is_literal = was_literal;
        self.system.clocks.is_active = was_active;
        let new = std::mem::replace(&mut self.system.equations, equations);
        self.system.clocks.outside.extend(new);
        result
    }

    /// The value of an Integer expression that must be known at compile time.
    fn evaluable(&mut self, e: &'a Expr) -> Lowered<i64> {
        let value = self.folding(|l| l.literally(|l| l.constant(e)))?;
        self.mark_structural(e);
        match value {
            Some(value) if value.abs() <= i64::MAX as f64 && value.fract() == 0.0 => Ok(value as i64),
            _ => Err(diagnostics::clocks::not_evaluable(self.text_of(e), e.span).into()),
        }
    }

    /// A factor; 0 stands for "to be inferred".
    fn factor(&mut self, e: &'a Expr) -> Lowered<Option<Rational>> {
        match self.evaluable(e)? {
            0 => Ok(None),
            factor if factor > 0 => Ok(Some(Rational::integer(factor))),
            _ => Err(diagnostics::clocks::bad_number(self.text_of(e), e.span).into()),
        }
    }

    /// The slot of a clock expression.
    pub fn clock(&mut self, e: &'a Expr) -> Lowered<SlotId> {
        let node = self.scalar(e)?;
        match self.slot_of(node).filter(|s| self.system.clocks.clock_slots.contains(s)) {
            Some(slot) => Ok(slot),
            None => Err(diagnostics::clocks::no_clock(self.text_of(e), e.span).into()),
        }
    }

    fn new_clock(&mut self) -> SlotId {
        let number = self.system.clocks.clock_slots.len() + 1;
        let slot = self.system.add_slot(format!("clock {number}"), SlotKind::Flag, SlotType::Boolean);
        self.system.clocks.clock_slots.insert(slot);
        slot
    }

    fn port(&mut self, name: &str, ty: SlotType) -> SlotId {
        let number = self.system.slots.len();
        self.system.add_slot(format!("{name} {number}"), SlotKind::Clocked, ty)
    }

    fn clocked_sample(&mut self, e: &'a Expr, u: &'a Expr, clock: Option<&'a Expr>) -> Lowered<Value> {
        let clock = clock.map(|c| self.clock(c)).transpose()?;
        let Some(ty) = slot_type(u.ty.base) else { return self.unsupported("sample of such a value", e.span) };
        let value = self.unclocked(|l| {
            let value = l.value(u)?;
            l.map(&value, e.span, |l, node| l.unclocked_variable(node, ty, e.span))
        })?;
        self.map(&value, e.span, |l, value| {
            let port = l.port("sample", ty);
            l.system.clocks.samples.push(SamplePort { port, value, clock, span: e.span });
            l.system.load(port)
        })
    }

    /// A node as a variable of the unclocked partition, so that it has a left limit. What `hold` gives is the clocked variable, which
    /// may have changed at this very tick: `sample(hold(x))` is its value before.
    fn unclocked_variable(&mut self, node: NodeId, ty: SlotType, span: Span) -> NodeId {
        let is_unclocked = self.slot_of(node).is_some_and(|slot| self.system.slots[slot].kind != SlotKind::Clocked);
        if is_unclocked || self.is_parametric(node) {
            return node;
        }
        let name = format!("sampled {}", self.system.slots.len());
        if ty != SlotType::Real || !self.system.dag.is_continuous(node) {
            let slot = self.system.add_discrete(name, ty, node, None, span);
            return self.system.load(slot);
        }
        let slot = self.system.add_slot(name, SlotKind::Algebraic, ty);
        let left = self.system.load(slot);
        let equation =
            ScalarEquation { left, right: node, target: None, initially: None, is_real: true, span, linearized: None };
        self.system.equations.push(equation);
        left
    }

    /// The value of the last tick is what the variable's slot holds.
    fn hold(&mut self, u: &'a Expr) -> Lowered<Value> {
        let value = self.value(u)?;
        if !self.system.clocks.is_survey {
            return Ok(value);
        }
        let ty = slot_type(u.ty.base).unwrap_or(SlotType::Real);
        self.map(&value, u.span, |l, node| {
            if l.is_parametric(node) {
                return node;
            }
            let slot = l.system.add_slot("hold", SlotKind::Discrete, ty);
            l.system.load(slot)
        })
    }

    fn previous(&mut self, u: &'a Expr) -> Lowered<Value> {
        self.each_slot(
            u,
            |_, node| node,
            |l, slot| {
                if l.system.slots[slot].kind != SlotKind::Parameter {
                    l.system.clocks.previous.insert(slot);
                }
                l.pre_node(slot)
            },
        )
    }

    fn query(&mut self, query: Query, argument: Option<&'a Expr>, span: Span) -> Lowered<Value> {
        let argument = argument.map(|e| self.scalars(e)).transpose()?.unwrap_or_default();
        let (name, ty) = match query {
            Query::Interval => ("interval", SlotType::Real),
            Query::FirstTick => ("firstTick", SlotType::Boolean),
        };
        let port = self.port(name, ty);
        self.system.clocks.queries.push(QueryPort { port, query, argument, span });
        Ok(Value::Number(self.system.load(port)))
    }

    fn conversion(&mut self, e: &'a Expr, u: &'a Expr, kind: ConversionKind) -> Lowered<Value> {
        let text = self.text_of(e);
        if u.ty.base == BaseType::Clock {
            let source = self.clock(u)?;
            let port = self.new_clock();
            self.system.clocks.conversions.push(ConversionPort { port, source, kind, text, span: e.span });
            return Ok(Value::Number(self.system.load(port)));
        }
        let Some(ty) = slot_type(u.ty.base) else { return self.unsupported("clocked values of this type", e.span) };
        let value = self.value(u)?;
        self.map(&value, e.span, |l, node| {
            if l.is_parametric(node) {
                return node;
            }
            let source = l.source_variable(node, ty, e.span);
            let port = l.port("converted", ty);
            l.system.clocks.conversions.push(ConversionPort { port, source, kind, text: text.clone(), span: e.span });
            l.system.load(port)
        })
    }

    /// The argument of a conversion as a variable of its own partition.
    fn source_variable(&mut self, node: NodeId, ty: SlotType, span: Span) -> SlotId {
        let is_variable = |slot: &SlotId| self.system.slots[*slot].kind != SlotKind::Pre && !self.is_port(*slot);
        if let Some(slot) = self.slot_of(node).filter(is_variable) {
            return slot;
        }
        let slot = self.port("argument", ty);
        let left = self.system.load(slot);
        let is_real = ty == SlotType::Real;
        let equation =
            ScalarEquation { left, right: node, target: Some(slot), initially: None, is_real, span, linearized: None };
        self.system.equations.push(equation);
        slot
    }

    /// Is it the result of an operator, which is part of a partition only with an equation that uses it (specification 16.7.1)?
    fn is_port(&self, slot: SlotId) -> bool {
        let clocks = &self.system.clocks;
        clocks.conversions.iter().any(|c| c.port == slot)
            || clocks.samples.iter().any(|s| s.port == slot)
            || clocks.queries.iter().any(|q| q.port == slot)
    }

    fn clock_constructor(&mut self, e: &'a Expr, arguments: &'a [Expr]) -> Lowered<Value> {
        let kind = match arguments {
            [] => None,
            [c, method] if c.ty.base == BaseType::Clock => return self.solver_clock(e, c, method),
            [condition, start] if condition.ty.base == BaseType::Boolean => Some(self.event_clock(condition, start)?),
            [counter, resolution] => self.rational_clock(e, counter, resolution)?,
            [interval] => Some(self.interval_clock(interval)?),
            _ => return self.broken("a clock of another kind", e.span),
        };
        let clock = self.new_clock();
        if let Some(kind) = kind {
            let text = self.text_of(e);
            self.system.clocks.constructors.push(Constructor { clock, kind, text, span: e.span });
            if let ConstructorKind::Intervals { interval, .. } = kind {
                let node = self.system.load(interval);
                self.system.clocks.associations.push((vec![node], clock));
            }
        }
        Ok(Value::Number(self.system.load(clock)))
    }

    /// `Clock(c, method)` ticks with `c`, but is not part of its partition.
    fn solver_clock(&mut self, e: &'a Expr, c: &'a Expr, method: &'a Expr) -> Lowered<Value> {
        let source = self.clock(c)?;
        let text = self.text_of(e);
        let method = self.folding(|l| l.value(method))?;
        let Value::Text(Some(method)) = method else {
            return Err(diagnostics::clocks::not_evaluable(text, e.span).into());
        };
        let port = self.new_clock();
        let kind = ConversionKind::Same;
        self.system.clocks.conversions.push(ConversionPort { port, source, kind, text, span: e.span });
        if !method.is_empty() {
            self.system.clocks.solvers.push((port, method.to_string(), e.span));
        }
        Ok(Value::Number(self.system.load(port)))
    }

    fn rational_clock(
        &mut self,
        e: &'a Expr,
        counter: &'a Expr,
        resolution: &'a Expr,
    ) -> Lowered<Option<ConstructorKind>> {
        let resolution = self.evaluable(resolution)?;
        let known = self.folding(|l| l.literally(|l| l.constant(counter)))?;
        if known.is_none() {
            let interval = self.clocked_variable(counter)?;
            return Ok(Some(ConstructorKind::Intervals { interval, resolution: resolution as f64 }));
        }
        match self.evaluable(counter)? {
            0 => Ok(None),
            counter => match Rational::new(counter, resolution).filter(|r| !r.is_negative() && resolution > 0) {
                Some(interval) => Ok(Some(ConstructorKind::Rational(interval))),
                None => Err(diagnostics::clocks::bad_number(self.text_of(e), e.span).into()),
            },
        }
    }

    fn interval_clock(&mut self, interval: &'a Expr) -> Lowered<ConstructorKind> {
        let node = self.scalar(interval)?;
        if self.is_parametric(node) {
            let slot = self.parameter("interval", node, interval.span);
            return Ok(ConstructorKind::Period(slot));
        }
        Ok(ConstructorKind::Intervals { interval: self.clocked_variable(interval)?, resolution: 1.0 })
    }

    fn clocked_variable(&mut self, e: &'a Expr) -> Lowered<SlotId> {
        let node = self.scalar(e)?;
        match self.slot_of(node) {
            Some(slot) => Ok(slot),
            None => Err(diagnostics::clocks::no_variable(self.text_of(e), e.span).into()),
        }
    }

    fn event_clock(&mut self, condition: &'a Expr, start: &'a Expr) -> Lowered<ConstructorKind> {
        let text = self.text_of(condition);
        let slot = self.unclocked(|l| {
            let node = l.condition(condition)?;
            Lowered::Ok(l.condition_slot(node, text, condition.span))
        })?;
        let start_node = self.scalar(start)?;
        if !self.is_parametric(start_node) {
            return Err(diagnostics::clocks::not_evaluable(self.text_of(start), start.span).into());
        }
        let start_interval = self.parameter("start interval", start_node, start.span);
        Ok(ConstructorKind::Events { condition: slot, start_interval })
    }

    fn parameter(&mut self, name: &str, node: NodeId, span: Span) -> SlotId {
        let number = self.system.slots.len();
        let slot = self.system.add_slot(format!("{name} {number}"), SlotKind::Parameter, SlotType::Real);
        self.system.parameters.assignments.push(Assignment { slot, node, span });
        slot
    }

    /// The outcome of an assertion about clocked variables, which is computed at ticks.
    pub fn clocked_assertion(&mut self, holds: NodeId, span: Span) -> NodeId {
        let name = format!("holds {}", self.system.slots.len());
        let slot = self.system.add_discrete(name, SlotType::Boolean, holds, None, span);
        let yes = self.system.dag.boolean(true);
        self.system.slots[slot].initial = 1.0;
        self.system.starts.insert(slot, Start { value: yes, is_fixed: false, confidence: Confidence::default(), span });
        self.system.load(slot)
    }

    /// Lowers an item of a clocked partition: relations are literal, and whatever occurs in an equation as it is written belongs to its
    /// clock (specification 16.7).
    pub fn clocked_item(&mut self, item: Item, number: usize) -> Lowered<()> {
        let first = self.system.equations.len();
        self.system.clocks.is_active = true;
        self.system.dag.keep_loads(true);
        let result = self.literally(|l| l.item(item));
        self.system.dag.keep_loads(false);
        self.system.clocks.is_active = false;
        let whole = is_whole(self.model, item).then_some(number);
        let new = self.system.equations.split_off(first);
        self.system.clocks.equations.extend(new.into_iter().map(|equation| ClockedEquation { equation, whole }));
        result
    }

    /// Lowers an item of which some elements are clocked, once as either; each time the others are dropped.
    pub fn mixed_item(&mut self, item: Item, number: usize) -> Lowered<()> {
        let (first, first_reinit) = (self.system.clocks.equations.len(), self.system.events.reinits.len());
        self.clocked_item(item, number)?;
        let clocked = self.system.clocks.equations.split_off(first);
        let kept = clocked.into_iter().filter(|e| self.is_clocked_equation(&e.equation)).collect::<Vec<_>>();
        self.system.clocks.equations.extend(kept);
        self.keep_reinits(first_reinit, true);
        let (first, first_reinit) = (self.system.equations.len(), self.system.events.reinits.len());
        self.item(item)?;
        let unclocked = self.system.equations.split_off(first);
        let kept = unclocked.into_iter().filter(|e| !self.is_clocked_equation(e)).collect::<Vec<_>>();
        self.system.equations.extend(kept);
        self.keep_reinits(first_reinit, false);
        Ok(())
    }

    /// Of the `reinit`s from this one on, keeps those of clocked states, or those of others.
    fn keep_reinits(&mut self, first: usize, clocked: bool) {
        let new = self.system.events.reinits.split_off(first);
        for reinit in new {
            if (self.system.slots[reinit.state].kind == SlotKind::Clocked) == clocked {
                self.system.events.reinits.push(reinit);
            } else {
                // Nothing determines them, and nobody asks.
                for slot in [reinit.active, reinit.value] {
                    self.system.slots[slot].kind = SlotKind::Auxiliary;
                }
            }
        }
    }

    fn is_clocked_equation(&self, equation: &ScalarEquation) -> bool {
        // The value of a `reinit` may be a constant; it goes where the state is.
        let is_part = |slot: SlotId| self.system.events.reinits.iter().find(|r| [r.active, r.value].contains(&slot));
        if let Some(reinit) = equation.target.and_then(is_part) {
            return self.system.slots[reinit.state].kind == SlotKind::Clocked;
        }
        let owners = owners(self.system);
        let slots = variables_of(self.system, &owners, &[equation.left, equation.right]);
        slots
            .iter()
            .any(|s| self.system.slots[*s].kind == SlotKind::Clocked || self.system.clocks.clock_slots.contains(s))
    }
}
