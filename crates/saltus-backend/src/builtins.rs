//! Lower the built-in functions and operators of expressions.
//!
//! Event-generating functions become memories with crossings: `floor(x)` is the memory m of the last event and the
//! relations `x < m` and `x >= m + 1`; `div`, `mod`, `rem`, `ceil`, `integer` are made of it.
//! (Specification: sections 3.7.2 numeric functions, 3.7.5 event-related operators, 10.3 array functions.)

use saltus_base::Span;
use saltus_flat::{Builtin, Expr};
use saltus_program::{BinaryFn, RelationOp, Sample, SlotId, SlotKind, SlotType, UnaryFn};

use crate::dag::NodeId;
use crate::diagnostics;
use crate::lower::operators::{greatest, least};
use crate::lower::value::Value;
use crate::lower::{Lowered, Lowering};
use crate::system::{Assignment, ScalarEquation};

impl<'a> Lowering<'a, '_> {
    pub fn builtin(&mut self, e: &'a Expr, function: Builtin, arguments: &'a [Expr]) -> Lowered<Value> {
        if let (Some(function), [x]) = (UnaryFn::elementary(function), arguments) {
            let x = self.value(x)?;
            return self.map(&x, e.span, |l, x| l.system.dag.unary(function, x));
        }
        match (function, arguments) {
            (Builtin::Atan2, [a, b]) => self.pairwise(BinaryFn::Atan2, a, b, e.span),
            (Builtin::Min, [a, b]) => self.pairwise(BinaryFn::Min, a, b, e.span),
            (Builtin::Max, [a, b]) => self.pairwise(BinaryFn::Max, a, b, e.span),
            (Builtin::Min, [a]) => self.fold(BinaryFn::Min, greatest(e.ty.base, self.model), a),
            (Builtin::Max, [a]) => self.fold(BinaryFn::Max, least(e.ty.base), a),
            (Builtin::Sum, [a]) => self.fold(BinaryFn::Add, 0.0, a),
            (Builtin::Product, [a]) => self.fold(BinaryFn::Mul, 1.0, a),
            (Builtin::Floor | Builtin::Integer, [x]) => self.each(x, e, |s, x, text, span| s.floor(x, text, span)),
            (Builtin::Ceil, [x]) => self.each(x, e, |s, x, text, span| s.ceil(x, text, span)),
            (Builtin::Div, [a, b]) => self.each_pair(a, b, e, |s, a, b, text, span| s.div(a, b, text, span)),
            (Builtin::Mod, [a, b]) => self.each_pair(a, b, e, |s, a, b, text, span| {
                let q = s.system.dag.binary(BinaryFn::Div, a, b);
                let whole = s.floor(q, text, span);
                s.remainder(a, b, whole)
            }),
            (Builtin::Rem, [a, b]) => self.each_pair(a, b, e, |s, a, b, text, span| {
                let whole = s.div(a, b, text, span);
                s.remainder(a, b, whole)
            }),
            (Builtin::ToInteger | Builtin::EnumFromInteger, [x]) => self.value(x),
            (Builtin::Pure, [_]) => match self.results(e)?.first() {
                Some(first) => Ok(first.clone()),
                None => self.broken("the value of a function without results", e.span),
            },
            (Builtin::ToString, [x, options @ ..]) => self.string_of(e, x, options),
            (Builtin::NoEvent, [x]) | (Builtin::Smooth, [_, x]) => self.literally(|s| s.value(x)),
            (Builtin::Homotopy, [actual, simplified]) => self.homotopy(actual, simplified, e.span),
            (Builtin::SemiLinear, [x, up, down]) => self.semi_linear(x, up, down, e),
            (Builtin::Der, [x]) => self.derivatives(x),
            (Builtin::Pre, [x]) => self.pre_values(x),
            (Builtin::Edge, [x]) => self.edge(x),
            (Builtin::Change, [x]) => self.change(x),
            (Builtin::Initial, []) => Ok(Value::Number(self.system.load(self.system.initial))),
            (Builtin::Terminal, []) => Ok(Value::Number(self.system.load(self.system.terminal))),
            (Builtin::Sample, [start, interval]) if interval.ty.is_numeric() => self.sample(start, interval, e.span),
            (Builtin::GetInstanceName, []) => Ok(Value::text(&self.model.name)),
            (Builtin::Delay, [x, time, ..]) => self.delay(e, x, time),
            (Builtin::SpatialDistribution, _) => {
                let first = self.spatial_distribution(e, arguments)?.into_iter().next();
                first.map_or_else(|| self.broken("a call without results", e.span), Ok)
            }
            (Builtin::Excursion, _) => {
                let name = arguments.first().and_then(crate::state_machines::state_name).unwrap_or_default();
                Err(diagnostics::machines::not_a_state(name, e.span).into())
            }
            _ if is_state_machine(function) => self.unsupported("state machines", e.span),
            _ if is_clocked(function) => self.clock_operator(e, function, arguments),
            _ => self.array_builtin(e, function, arguments),
        }
    }

    /// The text of a value, if that is constant.
    fn string_of(&mut self, e: &'a Expr, x: &'a Expr, options: &'a [Expr]) -> Lowered<Value> {
        let mut arguments = Vec::with_capacity(1 + options.len());
        for argument in std::iter::once(x).chain(options) {
            let value = self.value(argument)?;
            match self.literal(&value, argument) {
                Some(literal) => arguments.push(literal),
                None => return Ok(Value::Text(None)),
            }
        }
        let call = Expr::builtin(Builtin::ToString, arguments, e.ty.clone(), e.span);
        Ok(self.evaluated(&call).unwrap_or(Value::Text(None)))
    }

    fn pairwise(&mut self, function: BinaryFn, a: &'a Expr, b: &'a Expr, span: Span) -> Lowered<Value> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        self.zip(&a, &b, span, |l, a, b| l.system.dag.binary(function, a, b))
    }

    fn fold(&mut self, function: BinaryFn, neutral: f64, a: &'a Expr) -> Lowered<Value> {
        let values = self.scalars(a)?;
        let all = values.into_iter().reduce(|a, b| self.system.dag.binary(function, a, b));
        Ok(Value::Number(all.unwrap_or_else(|| self.system.dag.constant(neutral))))
    }

    fn each(&mut self, x: &'a Expr, e: &'a Expr, act: fn(&mut Self, NodeId, &str, Span) -> NodeId) -> Lowered<Value> {
        let text = self.event_text(e);
        let x = self.value(x)?;
        self.map(&x, e.span, |l, x| act(l, x, &text, e.span))
    }

    fn each_pair(
        &mut self,
        a: &'a Expr,
        b: &'a Expr,
        e: &'a Expr,
        act: fn(&mut Self, NodeId, NodeId, &str, Span) -> NodeId,
    ) -> Lowered<Value> {
        let text = self.event_text(e);
        let (a, b) = (self.value(a)?, self.value(b)?);
        self.zip(&a, &b, e.span, |l, a, b| act(l, a, b, &text, e.span))
    }

    /// The text by which events of an expression are known.
    fn event_text(&self, e: &Expr) -> String {
        if self.is_literal { String::new() } else { self.text_of(e) }
    }

    fn floor(&mut self, x: NodeId, text: &str, span: Span) -> NodeId {
        let literal = self.system.dag.unary(UnaryFn::Floor, x);
        if self.is_literal || !self.system.dag.is_continuous(x) {
            return literal;
        }
        if let Some(&memory) = self.system.introduced.floors.get(&x) {
            return self.system.load(memory);
        }
        let memory = self.system.add_discrete(format!("floor in {text}"), SlotType::Real, literal, None, span);
        self.system.introduced.floors.insert(x, memory);
        let low = self.system.load(memory);
        let one = self.system.dag.constant(1.0);
        let high = self.system.dag.binary(BinaryFn::Add, low, one);
        self.relation_of(RelationOp::Less, x, low, format!("{text} decreases"), span);
        self.relation_of(RelationOp::GreaterEqual, x, high, format!("{text} increases"), span);
        low
    }

    fn ceil(&mut self, x: NodeId, text: &str, span: Span) -> NodeId {
        let negative = self.system.dag.negate(x);
        let floor = self.floor(negative, text, span);
        self.system.dag.negate(floor)
    }

    /// The quotient rounded towards zero.
    fn div(&mut self, a: NodeId, b: NodeId, text: &str, span: Span) -> NodeId {
        let q = self.system.dag.binary(BinaryFn::Div, a, b);
        let zero = self.system.dag.constant(0.0);
        let is_positive = self.relation_of(RelationOp::GreaterEqual, q, zero, format!("sign in {text}"), span);
        let (down, up) = (self.floor(q, text, span), self.ceil(q, text, span));
        self.system.dag.select(is_positive, down, up)
    }

    /// `a - whole * b`
    fn remainder(&mut self, a: NodeId, b: NodeId, whole: NodeId) -> NodeId {
        let product = self.system.dag.binary(BinaryFn::Mul, whole, b);
        self.system.dag.binary(BinaryFn::Sub, a, product)
    }

    /// `smooth(0, if x >= 0 then up*x else down*x)`: no event.
    fn semi_linear(&mut self, x: &'a Expr, up: &'a Expr, down: &'a Expr, e: &'a Expr) -> Lowered<Value> {
        let (x, up, down) = (self.value(x)?, self.value(up)?, self.value(down)?);
        let dims = [&x, &up, &down].into_iter().map(Value::dims).find(|d| !d.is_empty()).unwrap_or(&[]).to_vec();
        let n = dims.iter().product();
        let at = |v: &Value, i: usize| v.number().or_else(|| v.scalars().get(i).copied());
        let mut items = Vec::with_capacity(n);
        for i in 0..n {
            let (Some(x), Some(up), Some(down)) = (at(&x, i), at(&up, i), at(&down, i)) else {
                return self.broken("semiLinear of arrays of different sizes", e.span);
            };
            let zero = self.system.dag.constant(0.0);
            let is_positive = self.system.dag.binary(BinaryFn::GreaterEqual, x, zero);
            let slope = self.system.dag.select(is_positive, up, down);
            items.push(self.system.dag.binary(BinaryFn::Mul, x, slope));
        }
        Ok(Value::numbers(dims, items))
    }

    /// The slots of a whole variable or elements of one.
    pub fn slots(&mut self, x: &'a Expr, what: &str) -> Lowered<Vec<SlotId>> {
        match self.element_slots(x)? {
            Some(slots) => Ok(slots),
            None => self.unsupported(what, x.span),
        }
    }

    /// The slots of elements; parameters that subscripts are made of count as constant. `None` if it is something else.
    pub fn element_slots(&mut self, x: &'a Expr) -> Lowered<Option<Vec<SlotId>>> {
        let nodes = self.scalars(x)?;
        let slots: Option<Vec<SlotId>> = nodes.iter().map(|&n| self.slot_of(n)).collect();
        if slots.is_some() {
            return Ok(slots);
        }
        let nodes = self.folding(|l| l.scalars(x))?;
        let slots: Option<Vec<SlotId>> = nodes.iter().map(|&n| self.slot_of(n)).collect();
        if slots.is_some() {
            self.mark_structural(x);
        }
        Ok(slots)
    }

    fn derivatives(&mut self, x: &'a Expr) -> Lowered<Value> {
        let value = self.value(x)?;
        self.map(&value, x.span, |l, node| l.derivative_of(node, x.span))
    }

    fn derivative_of(&mut self, node: NodeId, span: Span) -> NodeId {
        if !self.system.dag.is_continuous(node) && !self.is_of_clocked(node) {
            return self.system.dag.constant(0.0);
        }
        let slot = match self.slot_of(node) {
            Some(slot) => match self.system.slots[slot].kind {
                SlotKind::Time => return self.system.dag.constant(1.0),
                SlotKind::State | SlotKind::Algebraic | SlotKind::Clocked => slot,
                _ => self.differentiated_variable(node, span),
            },
            None => self.differentiated_variable(node, span),
        };
        let derivative = self.system.derivative(slot);
        self.system.load(derivative)
    }

    /// Does a node depend on variables of a clocked partition, in an equation of that partition?
    fn is_of_clocked(&self, node: NodeId) -> bool {
        (self.system.clocks.is_active || self.is_initial)
            && self.system.dag.loads(&[node]).iter().any(|&s| self.system.slots[s].kind == SlotKind::Clocked)
    }

    /// A variable that is equal to an expression, so that it has a derivative.
    fn differentiated_variable(&mut self, node: NodeId, span: Span) -> SlotId {
        if let Some(&slot) = self.system.introduced.differentiated.get(&node) {
            return slot;
        }
        let number = self.system.introduced.differentiated.len() + 1;
        let slot = self.system.add_slot(format!("differentiated {number}"), SlotKind::Algebraic, SlotType::Real);
        let left = self.system.load(slot);
        let equation =
            ScalarEquation { left, right: node, target: None, initially: None, is_real: true, span, linearized: None };
        self.system.equations.push(equation);
        self.system.introduced.differentiated.insert(node, slot);
        slot
    }

    /// Applies a function to the variables that an argument consists of; a constant has none.
    pub fn each_slot(
        &mut self,
        x: &'a Expr,
        of_constant: impl Fn(&mut Self, NodeId) -> NodeId,
        of_slot: impl Fn(&mut Self, SlotId) -> NodeId,
    ) -> Lowered<Value> {
        // An algorithm may have assigned the variable already; `pre` and the like are about the variable.
        let assigned = std::mem::take(&mut self.state.variables);
        let value = self.value(x);
        self.state.variables = assigned;
        let value = value?;
        let is_variable = |l: &Self, n: NodeId| l.slot_of(n).is_some() || l.is_parametric(n);
        if !value.scalars().iter().all(|&n| is_variable(self, n)) {
            return self.unsupported("pre(), edge() or change() of an expression", x.span);
        }
        self.map(&value, x.span, |l, node| match l.slot_of(node) {
            Some(slot) => of_slot(l, slot),
            None => of_constant(l, node),
        })
    }

    fn pre_values(&mut self, x: &'a Expr) -> Lowered<Value> {
        self.each_slot(x, |_, node| node, |l, slot| l.pre_node(slot))
    }

    /// `pre(slot)`; parameters are their own.
    pub fn pre_node(&mut self, slot: SlotId) -> NodeId {
        if self.system.slots[slot].kind == SlotKind::Parameter {
            return self.system.load(slot);
        }
        let pre = self.system.pre(slot);
        self.system.load(pre)
    }

    fn edge(&mut self, x: &'a Expr) -> Lowered<Value> {
        self.each_slot(x, |l, _| l.system.dag.boolean(false), |l, slot| l.edge_node(slot))
    }

    /// `slot and not pre(slot)`
    pub fn edge_node(&mut self, slot: SlotId) -> NodeId {
        let (now, before) = (self.system.load(slot), self.pre_node(slot));
        let was_false = self.system.dag.not(before);
        self.system.dag.and(now, was_false)
    }

    fn change(&mut self, x: &'a Expr) -> Lowered<Value> {
        let differs = |l: &mut Self, slot| {
            let (now, before) = (l.system.load(slot), l.pre_node(slot));
            l.system.dag.binary(BinaryFn::NotEqual, now, before)
        };
        self.each_slot(x, |l, _| l.system.dag.boolean(false), differs)
    }

    fn sample(&mut self, start: &'a Expr, interval: &'a Expr, span: Span) -> Lowered<Value> {
        let (start, interval) = (self.scalar(start)?, self.scalar(interval)?);
        if let Some(&active) = self.system.introduced.samples.get(&(start, interval)) {
            return Ok(Value::Number(self.system.load(active)));
        }
        if !self.is_parametric(start) || !self.is_parametric(interval) {
            return self.unsupported("sample() with arguments that are not parameters", span);
        }
        let number = self.system.events.samples.len() + 1;
        let mut argument = |name: &str, node: NodeId| {
            let slot = self.system.add_slot(format!("{name} {number}"), SlotKind::Parameter, SlotType::Real);
            self.system.parameters.assignments.push(Assignment { slot, node, span });
            slot
        };
        let (start_slot, interval_slot) = (argument("sample start", start), argument("sample interval", interval));
        let active = self.system.add_slot(format!("sample {number}"), SlotKind::Flag, SlotType::Boolean);
        let tick = self.system.add_slot(format!("tick {number}"), SlotKind::Flag, SlotType::Integer);
        self.system.events.samples.push(Sample { start: start_slot, interval: interval_slot, active, tick, span });
        self.system.introduced.samples.insert((start, interval), active);
        Ok(Value::Number(self.system.load(active)))
    }
}

/// Operators of the synchronous language and of state machines (chapters 16 and 17).
pub fn is_clocked(function: Builtin) -> bool {
    matches!(
        function,
        Builtin::Clock
            | Builtin::Sample
            | Builtin::Previous
            | Builtin::Hold
            | Builtin::SubSample
            | Builtin::SuperSample
            | Builtin::ShiftSample
            | Builtin::BackSample
            | Builtin::NoClock
            | Builtin::FirstTick
            | Builtin::Interval
    ) || is_state_machine(function)
}

fn is_state_machine(function: Builtin) -> bool {
    matches!(
        function,
        Builtin::Transition
            | Builtin::InitialState
            | Builtin::ActiveState
            | Builtin::TicksInState
            | Builtin::TimeInState
            | Builtin::Excursion
    )
}
