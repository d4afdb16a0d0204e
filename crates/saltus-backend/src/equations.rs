//! Lower equations: each becomes scalar equations on the graph.
//!
//! In: bindings, equations, algorithms and their initial forms. Out: [`ScalarEquation`]s. An `if`-equation becomes one
//! conditional equation for each position; equations with the same left-hand side go together:
//!
//! ```text
//! if c then x = 1; else x = y; end if;       ⇒   x = if c then 1 else y
//! if c then a = b; else d = e; end if;       ⇒   0 = if c then a - b else d - e
//! ```
//!
//! (Specification: section 8.3.)

use std::collections::HashMap;

use saltus_base::{Diagnostics, Index, Span};
use saltus_flat::configuration::is_inside;
use saltus_flat::count::component_of;
use saltus_flat::{BaseType, EntryEquation, Equation, EquationKind, Expr, ExprKind, FlatModel, VarId, Variability};
use saltus_program::{BinaryFn, SlotId, SlotKind};

use crate::clocks::survey::{self, ClockSurvey, Clocking, Item};
use crate::dag::NodeId;
use crate::diagnostics;
use crate::families::Families;
use crate::families::read::Source;
use crate::lower::effects;
use crate::lower::function_assertions::{Made, Times};
use crate::lower::value::Value;
use crate::lower::without_value::Used;
use crate::lower::{Lowered, Lowering};
use crate::outline::Outlined;
use crate::parameters;
use crate::system::{EntryCondition, ScalarEquation, System};
use crate::when::Guard;

/// `clocking` says which equations belong to clocked partitions, if there are any. Returns parts of algorithms that must be called
/// before the system can be used.
pub fn lower_equations<'m>(
    model: &'m FlatModel,
    clocking: Option<&ClockSurvey>,
    system: &mut System,
    diagnostics: &mut Diagnostics,
) -> Vec<Outlined<'m>> {
    Families::lower_left(model, system);
    let mut lowering = Lowering::new(model, system, diagnostics);
    // What could not be lowered has been reported; the other equations are still looked at.
    for (number, item) in survey::items(model).into_iter().enumerate() {
        let left = match item {
            Item::Equation(k) => lowering.system.families.left(Source::Equation(k)),
            Item::Binding(id) => lowering.system.families.left(Source::Binding(id)),
            Item::Algorithm(_) => None,
        };
        if let Some(left) = left {
            lowering.system.equations.extend(left);
            continue;
        }
        let clocking = clocking.and_then(|c| c.items.get(number)).copied().unwrap_or(Clocking::Unclocked);
        let n_before = lowering.system.equations.len();
        let n_slots = lowering.system.slots.len();
        let result = match clocking {
            Clocking::Unclocked => lowering.item(item),
            Clocking::Clocked => lowering.clocked_item(item, number),
            Clocking::Mixed => lowering.mixed_item(item, number),
        };
        lowering.note(result);
        if let Some(state) = model.active_states.as_ref().and_then(|active| active.state_around(component(model, item)))
        {
            let known = lowering.system.introduced.conditions.values();
            let new: Vec<SlotId> = known.copied().filter(|slot| slot.index() >= n_slots).collect();
            lowering.system.state_conditions.extend(new.into_iter().map(|slot| (state, slot)));
        }
        if let Some(state) = linearized_around(model, item) {
            let new = lowering.system.equations.iter_mut().skip(n_before);
            new.filter(|e| e.is_real).for_each(|e| e.linearized = Some(state));
        }
    }
    let outside = std::mem::take(&mut lowering.system.clocks.outside);
    lowering.system.equations.extend(outside);
    lowering.is_literal = true;
    for equation in &model.initial_equations {
        lowering.is_initial = true;
        let n_before = lowering.system.initial_equations.len();
        let result = lowering.acting_always(|l| l.equation(equation));
        lowering.note(result);
        lowering.is_initial = false;
        lowering.holds_at_entry(&equation.component, n_before);
    }
    for algorithm in &model.initial_algorithms {
        let n_before = lowering.system.initial_equations.len();
        let result = lowering.initial_algorithm(algorithm);
        lowering.note(result);
        lowering.holds_at_entry(&algorithm.component, n_before);
    }
    for entry in model.active_states.iter().flat_map(|active| &active.entries) {
        let result = lowering.entry(entry);
        lowering.note(result);
    }
    lowering.add_initial_reinits();
    let parts = std::mem::take(&mut lowering.parts);
    effects::add_void_calls(system);
    parameters::release_dependents(system);
    parts
}

/// The component that an item belongs to.
fn component(model: &FlatModel, item: Item) -> &str {
    match item {
        Item::Binding(id) => component_of(&model.variables[id].name),
        Item::Equation(k) => &model.equations[k].component,
        Item::Algorithm(k) => &model.algorithms[k].component,
    }
}

/// The state of a machine that an item belongs to, if that is linearised.
fn linearized_around(model: &FlatModel, item: Item) -> Option<usize> {
    let active = model.active_states.as_ref().filter(|active| !active.linearized.is_empty())?;
    let state = active.linearized_around(component(model, item))?;
    let Item::Binding(id) = item else { return Some(state) };
    // What a modification gives an input from outside stays as it is.
    let is_outside = |id: VarId| {
        let variable = &model.variables[id];
        variable.variability > Variability::Parameter
            && !is_inside(component_of(&variable.name), active.states[state].name())
    };
    let mut is_given = false;
    let binding = model.variables[id].binding.as_ref()?;
    binding.walk(&mut |e| is_given |= matches!(e.kind, ExprKind::Var(id) if is_outside(id)));
    (!is_given).then_some(state)
}

/// `reinit` is for states only. Whether a variable is one is known after all equations have been seen.
pub fn check_reinits(system: &System, diagnostics: &mut Diagnostics) {
    // States of a clocked partition are told by their derivatives until the partition is sorted.
    let is_state = |slot: SlotId| match system.slots[slot].kind {
        SlotKind::State => true,
        SlotKind::Clocked => system.derivative_of.contains_key(&slot),
        _ => false,
    };
    for reinit in system.events.reinits.iter().filter(|r| !is_state(r.state)) {
        diagnostics.push(diagnostics::not_a_state(&system.name(reinit.state), reinit.span));
    }
}

/// One scalar equation of a branch.
struct Sides {
    left: NodeId,
    right: NodeId,
    is_real: bool,
    span: Span,
}

impl<'a> Lowering<'a, '_> {
    pub fn binding_equation(&mut self, id: saltus_flat::VarId) -> Lowered<()> {
        let model = self.model;
        let variable = &model.variables[id];
        let Some(binding) = &variable.binding else { return Ok(()) };
        let slots = self.system.elements[id].clone();
        let values = self.making(Made::Always, |l| l.bound(variable, binding, slots.len()))?;
        let is_real = variable.ty.base == BaseType::Real;
        for (slot, right) in slots.into_iter().zip(values) {
            let left = self.system.load(slot);
            self.add(Sides { left, right, is_real, span: variable.span });
        }
        Ok(())
    }

    pub fn equation(&mut self, equation: &'a Equation) -> Lowered<()> {
        match &equation.kind {
            EquationKind::Equality { left, right } => {
                let sides = self.making(Made::Always, |l| l.sides(left, right, equation.span))?;
                sides.into_iter().for_each(|s| self.add(s));
                Ok(())
            }
            EquationKind::If { branches, otherwise } => {
                let yes = self.system.dag.boolean(true);
                let sides = self.making(Made::Always, |l| l.if_equation(branches, otherwise, yes, equation.span))?;
                sides.into_iter().for_each(|s| self.add(s));
                Ok(())
            }
            EquationKind::When { branches } => self.when(branches, equation.span),
            EquationKind::Assert { condition, message, level } => {
                let times = self.making(Made::Always, |l| l.times());
                if let Some(Times::Active(guard)) = times {
                    return self.event_assertion(condition, message, level.as_ref(), guard, equation.span);
                }
                let yes = self.system.dag.boolean(true);
                self.assertion(condition, message, level.as_ref(), yes, equation.span)
            }
            EquationKind::Terminate { message } => {
                let yes = self.system.dag.boolean(true);
                self.termination(message, Guard { at_event: yes, initially: yes }, equation.span);
                Ok(())
            }
            EquationKind::Reinit { .. } => self.unsupported("reinit outside a when", equation.span),
            EquationKind::Call(call) => self.call_for_effect(call),
        }
    }

    /// An equation for where a state of a machine is entered.
    fn entry(&mut self, entry: &'a EntryEquation) -> Lowered<()> {
        let sides = self.making(Made::Always, |l| l.sides(&entry.target, &entry.value, entry.span))?;
        for Sides { left, right, is_real, span } in sides {
            let equation =
                ScalarEquation { left, right, target: None, initially: None, is_real, span, linearized: None };
            self.system.entries.push(EntryCondition { state: entry.state, is_initial: false, equation });
        }
        Ok(())
    }

    /// Initial equations of a state of a machine, from this number on, hold where it is entered too.
    fn holds_at_entry(&mut self, component: &str, n_before: usize) {
        let Some(state) = self.model.active_states.as_ref().and_then(|active| active.state_around(component)) else {
            return;
        };
        let new = self.system.initial_equations.iter().skip(n_before).cloned();
        let conditions = new.map(|equation| EntryCondition { state, is_initial: true, equation });
        self.system.entries.extend(conditions);
    }

    fn sides(&mut self, left: &'a Expr, right: &'a Expr, span: Span) -> Lowered<Vec<Sides>> {
        let ExprKind::Tuple(items) = &left.kind else {
            let (a, b) = (self.value(left)?, self.value(right)?);
            return self.pair(&a, &b, left.ty.base, span);
        };
        self.used = Used::Targets(items);
        let results = self.results(right)?;
        let mut all = Vec::new();
        for (item, result) in items.iter().zip(results.iter()) {
            if let Some(item) = item {
                let left = self.value(item)?;
                all.extend(self.pair(&left, result, item.ty.base, span)?);
            }
        }
        Ok(all)
    }

    /// The scalar equations between two values.
    fn pair(&mut self, a: &Value, b: &Value, base: BaseType, span: Span) -> Lowered<Vec<Sides>> {
        let flags = self.real_scalars(a, base);
        let (left, right) = (a.scalars(), b.scalars());
        let is_empty = left.is_empty() && right.is_empty();
        if left.len() != right.len() || a.dims() != b.dims() && !is_empty {
            return Err(saltus_eval::sizes_disagree(span, a.dims(), b.dims()).into());
        }
        let sides = left.into_iter().zip(right).zip(flags);
        Ok(sides.map(|((left, right), is_real)| Sides { left, right, is_real, span }).collect())
    }

    fn add(&mut self, s: Sides) {
        let Sides { left, right, is_real, span } = s;
        let equation = ScalarEquation { left, right, target: None, initially: None, is_real, span, linearized: None };
        if self.is_initial {
            self.system.initial_equations.push(equation);
        } else {
            self.system.equations.push(equation);
        }
    }

    /// All scalar equations of an `if`, in order. `guard` is the condition under which the `if` itself is active.
    fn if_equation(
        &mut self,
        branches: &'a [(Expr, Vec<Equation>)],
        otherwise: &'a [Equation],
        guard: NodeId,
        span: Span,
    ) -> Lowered<Vec<Sides>> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.equations_of_branch(otherwise, guard);
        };
        // Which clock it is must be known at compile time.
        let node =
            if has_clocks(body) { self.folding(|l| l.condition(condition))? } else { self.condition(condition)? };
        match self.system.dag.value(node) {
            Some(value) if value != 0.0 => return self.equations_of_branch(body, guard),
            Some(_) => return self.if_equation(rest, otherwise, guard, span),
            None => {}
        }
        let (n_assertions, n_void_calls) = (self.system.checks.assertions.len(), self.system.calls.void.len());
        let result = self.both_branches(node, body, rest, otherwise, guard, span);
        let Err(problem) = result else { return result };
        // Branches that cannot be merged are legal if a parameter decides.
        let decided = self.folding(|l| l.constant(condition))?;
        self.system.checks.assertions.truncate(n_assertions);
        self.system.checks.conditions.truncate(n_assertions);
        self.system.calls.void.truncate(n_void_calls);
        match decided {
            Some(0.0) => self.if_equation(rest, otherwise, guard, span),
            Some(_) => self.equations_of_branch(body, guard),
            None => Err(problem),
        }
    }

    fn both_branches(
        &mut self,
        condition: NodeId,
        body: &'a [Equation],
        rest: &'a [(Expr, Vec<Equation>)],
        otherwise: &'a [Equation],
        guard: NodeId,
        span: Span,
    ) -> Lowered<Vec<Sides>> {
        let not = self.system.dag.not(condition);
        let (here, there) = (self.system.dag.and(guard, condition), self.system.dag.and(guard, not));
        let first = self.equations_of_branch(body, here)?;
        let other = self.if_equation(rest, otherwise, there, span)?;
        if first.len() != other.len() {
            return Err(diagnostics::unequal_branches(first.len(), other.len(), span).into());
        }
        Ok(partners(first, other).into_iter().map(|(a, b)| self.merge_sides(condition, a, b)).collect())
    }

    fn equations_of_branch(&mut self, body: &'a [Equation], guard: NodeId) -> Lowered<Vec<Sides>> {
        let is_certain = self.system.dag.value(guard).is_some_and(|g| g != 0.0);
        let mut all = Vec::new();
        for equation in body {
            let span = equation.span;
            match &equation.kind {
                EquationKind::Equality { left, right } => {
                    all.extend(self.in_branch(guard, true, |l| l.sides(left, right, span))?);
                }
                EquationKind::If { branches, otherwise } => {
                    all.extend(self.if_equation(branches, otherwise, guard, span)?);
                }
                EquationKind::Assert { condition, message, level } => {
                    self.assertion(condition, message, level.as_ref(), guard, span)?;
                }
                EquationKind::Terminate { message } => {
                    self.termination(message, Guard { at_event: guard, initially: guard }, span);
                }
                EquationKind::When { branches } if is_certain => self.when(branches, span)?,
                EquationKind::Call(call) => self.under(guard, |l| l.call_for_effect(call))?,
                _ => return self.unsupported("this equation inside an if", span),
            }
        }
        Ok(all)
    }

    /// The equations of a `when` with a clock are ordinary equations on that clock.
    pub fn clocked_when(&mut self, clock: &'a Expr, body: &'a [Equation]) -> Lowered<()> {
        let clock = self.clock(clock)?;
        let yes = self.system.dag.boolean(true);
        for sides in self.equations_of_branch(body, yes)? {
            self.system.clocks.associations.push((vec![sides.left, sides.right], clock));
            self.add(sides);
        }
        Ok(())
    }

    fn merge_sides(&mut self, condition: NodeId, a: Sides, b: Sides) -> Sides {
        let sides = |s: &Sides| Value::vector(vec![s.left, s.right]);
        match self.decision(condition, &sides(&a), &sides(&b)) {
            Some(true) => return a,
            Some(false) => return b,
            None => {}
        }
        let dag = &mut self.system.dag;
        let (is_real, span) = (a.is_real && b.is_real, a.span);
        if a.left == b.left || !is_real {
            let left = dag.select(condition, a.left, b.left);
            let right = dag.select(condition, a.right, b.right);
            return Sides { left, right, is_real, span };
        }
        let x = dag.binary(BinaryFn::Sub, a.left, a.right);
        let y = dag.binary(BinaryFn::Sub, b.left, b.right);
        Sides { left: dag.constant(0.0), right: dag.select(condition, x, y), is_real, span }
    }

    /// Checked literally at accepted points; generates no events.
    pub fn assertion(
        &mut self,
        condition: &'a Expr,
        message: &'a Expr,
        level: Option<&'a Expr>,
        guard: NodeId,
        span: Span,
    ) -> Lowered<()> {
        // An assertion about Strings that are not known cannot be checked.
        let Ok(condition) = self.literally(|l| l.condition(condition)) else { return Ok(()) };
        let mut holds = self.implies(guard, condition);
        if self.system.clocks.is_active && self.system.dag.value(holds).is_none() {
            holds = self.clocked_assertion(holds, span);
        }
        self.add_assertion(holds, message, level, span);
        Ok(())
    }

    /// AssertionLevel has the literals warning and error, in this order.
    pub fn is_warning(&mut self, level: Option<&'a Expr>) -> bool {
        level.and_then(|e| self.folding(|l| l.constant(e)).ok().flatten()) == Some(1.0)
    }

    pub fn add_assertion(&mut self, holds: NodeId, message: &'a Expr, level: Option<&'a Expr>, span: Span) {
        if self.system.dag.value(holds).is_some_and(|v| v != 0.0) {
            return;
        }
        let wording = self.wording(message);
        let is_warning = self.is_warning(level);
        self.checked(holds, wording, is_warning, span, Vec::new());
    }
}

fn has_clocks(body: &[Equation]) -> bool {
    body.iter().any(|e| matches!(&e.kind, EquationKind::Equality { left, .. } if left.ty.base == BaseType::Clock))
}

/// Equations of two branches that go together: first those with the same left-hand side, the others in order.
fn partners(first: Vec<Sides>, other: Vec<Sides>) -> Vec<(Sides, Sides)> {
    let mut places: HashMap<NodeId, usize> = HashMap::new();
    for (i, sides) in other.iter().enumerate().rev() {
        places.insert(sides.left, i);
    }
    let mut other: Vec<Option<Sides>> = other.into_iter().map(Some).collect();
    let mut partner: Vec<Option<Sides>> = Vec::with_capacity(first.len());
    for sides in &first {
        partner.push(places.remove(&sides.left).and_then(|i| other[i].take()));
    }
    let mut rest = other.into_iter().flatten();
    let pairs = first.into_iter().zip(partner);
    pairs.filter_map(|(a, b)| b.or_else(|| rest.next()).map(|b| (a, b))).collect()
}
