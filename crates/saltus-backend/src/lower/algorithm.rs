//! Algorithm sections: executed on values, each variable that is assigned gets one equation.
//!
//! ```text
//! algorithm                              y = if when(c) then pre(y) + 1 else pre(y)
//!   y := pre(y);                   ⇒     z = 2 * (that)
//!   when c then y := y + 1; end when;
//!   z := 2 * y;
//! ```
//!
//! Before its first assignment a discrete variable has its `pre` value, a continuous one its start value. An algorithm
//! with a `when` is executed a second time as it acts in the initial system. (Specification: section 11.1.2.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::Span;
use saltus_flat::assigned::{constant_slice, constant_subscript};
use saltus_flat::{Algorithm, Expr, ExprKind, FlatModel, Statement, StatementKind, Subscript, VarId};
use saltus_program::{SlotId, SlotKind, SlotType};

use super::function_assertions::Made;
use super::statements::State;
use super::value::Value;
use super::{Lowered, Lowering};
use crate::system::ScalarEquation;

/// Row-major positions that are assigned; `None` for all.
pub type Assigned = BTreeMap<VarId, Option<BTreeSet<usize>>>;

/// Scalars with their values.
type Scalars = Vec<(SlotId, crate::dag::NodeId, Span)>;

/// The variables that statements assign.
pub fn assigned_variables(model: &FlatModel, statements: &[Statement]) -> Assigned {
    let mut assigned = Assigned::new();
    collect(model, statements, &mut assigned);
    assigned
}

fn collect(model: &FlatModel, statements: &[Statement], assigned: &mut Assigned) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { target, .. } => collect_target(model, target, assigned),
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| collect(model, body, assigned));
                collect(model, otherwise, assigned);
            }
            StatementKind::When { branches } => {
                branches.iter().for_each(|(_, body)| collect(model, body, assigned));
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => collect(model, body, assigned),
            _ => {}
        }
    }
}

fn collect_target(model: &FlatModel, target: &Expr, assigned: &mut Assigned) {
    match &target.kind {
        ExprKind::Var(id) => {
            assigned.insert(*id, None);
        }
        ExprKind::Index { base, subscripts } => match &base.kind {
            ExprKind::Var(id) => match selected_elements(model, *id, subscripts) {
                Some(elements) => {
                    let entry = assigned.entry(*id).or_insert_with(|| Some(BTreeSet::new()));
                    if let Some(set) = entry {
                        set.extend(elements);
                    }
                }
                None => {
                    assigned.insert(*id, None);
                }
            },
            _ => collect_target(model, base, assigned),
        },
        ExprKind::Field { base, .. } | ExprKind::Cast(base) => collect_target(model, base, assigned),
        ExprKind::Tuple(items) => items.iter().flatten().for_each(|item| collect_target(model, item, assigned)),
        ExprKind::Array(items) | ExprKind::Record(items) => {
            items.iter().for_each(|item| collect_target(model, item, assigned));
        }
        _ => {}
    }
}

fn selected_elements(model: &FlatModel, id: VarId, subscripts: &[Subscript]) -> Option<Vec<usize>> {
    let mut positions = vec![0usize];
    for (i, dim) in model.variables.get(id)?.ty.dims.iter().enumerate() {
        let size = usize::try_from(dim.known()?).ok()?;
        let chosen: Vec<usize> = match subscripts.get(i) {
            None | Some(Subscript::All) => (1..=size).collect(),
            Some(Subscript::Index(e)) => vec![usize::try_from(constant_subscript(e)?).ok()?],
            Some(Subscript::Slice(e)) => constant_slice(e)?.into_iter().map(|k| k as usize).collect(),
        };
        if chosen.iter().any(|&k| k < 1 || k > size) {
            return None;
        }
        positions = positions.iter().flat_map(|p| chosen.iter().map(move |k| p * size + k - 1)).collect();
    }
    Some(positions)
}

impl<'a> Lowering<'a, '_> {
    pub fn algorithm(&mut self, algorithm: &'a Algorithm) -> Lowered<()> {
        let assigned = assigned_variables(self.model, &algorithm.statements);
        let values = self.making(Made::InAlgorithm, |l| l.called_parts(algorithm, &assigned))?;
        let has_when = algorithm.statements.iter().any(contains_when);
        let initially = if has_when {
            self.is_initial = true;
            let values = self.making(Made::InAlgorithm, |l| l.called_parts(algorithm, &assigned));
            self.is_initial = false;
            Some(values?)
        } else {
            None
        };
        for (i, (slot, right, span)) in values.iter().enumerate() {
            let left = self.system.load(*slot);
            let is_real = self.system.slots[*slot].ty == SlotType::Real;
            let initially = initially.as_ref().and_then(|v| v.get(i)).map(|v| v.1);
            let target = Some(*slot);
            self.system.equations.push(ScalarEquation {
                left,
                right: *right,
                target,
                initially,
                is_real,
                span: *span,
                linearized: None,
            });
        }
        Ok(())
    }

    /// Each variable that an initial algorithm assigns gets an initial equation.
    pub fn initial_algorithm(&mut self, algorithm: &'a Algorithm) -> Lowered<()> {
        let assigned = assigned_variables(self.model, &algorithm.statements);
        self.is_initial = true;
        let values = self.acting_always(|l| l.making(Made::Always, |l| l.called_parts(algorithm, &assigned)));
        self.is_initial = false;
        for (slot, right, span) in values? {
            let left = self.system.load(slot);
            let is_real = self.system.slots[slot].ty == SlotType::Real;
            let equation =
                ScalarEquation { left, right, target: None, initially: None, is_real, span, linearized: None };
            self.system.initial_equations.push(equation);
        }
        Ok(())
    }

    /// The values of all assigned scalars. Parts that cannot be written out are left to the caller of all.
    fn called_parts(&mut self, algorithm: &'a Algorithm, assigned: &Assigned) -> Lowered<Scalars> {
        let (values, parts) = self.outlining(|l| l.execute_algorithm(algorithm, assigned));
        self.parts.extend(parts);
        values
    }

    /// The values of all assigned scalars, in order of the variables.
    fn execute_algorithm(&mut self, algorithm: &'a Algorithm, assigned: &Assigned) -> Lowered<Scalars> {
        let no = self.system.dag.boolean(false);
        let mut state = State::new(self.model.iterators.len(), no);
        for &id in assigned.keys() {
            state.variables.insert(id, self.value_before(id, algorithm.span)?);
        }
        let outer = std::mem::replace(&mut self.state, state);
        let result = self.in_order(|l| l.run(&algorithm.statements));
        let state = std::mem::replace(&mut self.state, outer);
        result?;
        let mut values = Vec::new();
        for (id, elements) in assigned {
            let Some(value) = state.variables.get(id) else { continue };
            let slots = self.system.elements[*id].clone();
            for (i, (slot, node)) in slots.into_iter().zip(value.scalars()).enumerate() {
                if elements.as_ref().is_none_or(|set| set.contains(&i)) {
                    values.push((slot, node, algorithm.span));
                }
            }
        }
        Ok(values)
    }

    /// What a variable is when the algorithm begins.
    fn value_before(&mut self, id: VarId, span: Span) -> Lowered<Value> {
        let model = self.model;
        let Some(variable) = model.variables.get(id) else { return self.broken("an unknown variable", span) };
        let dims: Vec<usize> = variable.ty.dims.iter().map(|d| d.known().unwrap_or(0) as usize).collect();
        let slots = self.system.elements[id].clone();
        if slots.is_empty() {
            return self.repeat(&Value::Text(None), dims, span);
        }
        let mut nodes = Vec::with_capacity(slots.len());
        for slot in slots {
            nodes.push(match self.system.slots[slot].kind {
                SlotKind::Discrete | SlotKind::Clocked => self.pre_node(slot),
                _ => match self.system.starts.get(&slot) {
                    Some(start) => start.value,
                    None => self.system.dag.constant(self.system.slots[slot].initial),
                },
            });
        }
        Ok(Value::numbers(dims, nodes))
    }

    /// `when` in an algorithm: an `if` on the edge of its condition.
    pub fn when_statement(&mut self, branches: &'a [(Expr, Vec<Statement>)], span: Span) -> Lowered<()> {
        if self.function.is_some() {
            return self.broken("a when in a function", span);
        }
        let Some(((condition, body), rest)) = branches.split_first() else { return Ok(()) };
        let guard = self.activation(condition)?;
        let active = if self.is_initial { guard.initially } else { guard.at_event };
        match self.system.dag.value(active) {
            Some(0.0) => return self.when_statement(rest, span),
            Some(_) => return self.acting_always(|l| l.literally(|l| l.run(body))),
            None => {}
        }
        self.branch(
            active,
            span,
            |l| l.acting_always(|l| l.literally(|l| l.run(body))),
            |l| l.when_statement(rest, span),
        )
    }
}

fn contains_when(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::When { .. } => true,
        StatementKind::If { branches, otherwise } => {
            branches.iter().flat_map(|b| &b.1).chain(otherwise).any(contains_when)
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => body.iter().any(contains_when),
        _ => false,
    }
}
