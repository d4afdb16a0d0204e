//! Execute statements on values: the bodies of functions and algorithm sections.
//!
//! ```text
//! y := x;                                 y: if x < 0 then -x else x
//! if x < 0 then y := -x; end if;    ⇒
//! for i in 1:2 loop s := s + i; end for;  s: s + 1 + 2
//! ```
//!
//! Both branches of an `if` whose condition is not known are executed and what they leave is merged. A `return` or `break`
//! under such a condition makes everything after it conditional. Loops are unrolled; a `while` must have a condition that
//! is known each time. (Specification: section 11.2.)

use std::collections::BTreeMap;
use std::rc::Rc;

use saltus_base::{Index, Span};
use saltus_flat::{Expr, ExprKind, Statement, StatementKind, Subscript, VarId};
use saltus_program::BinaryFn;

use super::declared_sizes::fits;
use super::value::{Template, Value};
use super::without_value::Used;
use super::{Lowered, Lowering};
use crate::dag::NodeId;
use crate::tuning::work::MOST_ITERATIONS;

/// What statements change.
#[derive(Clone)]
pub struct State {
    pub locals: Vec<Option<Value>>,
    /// Variables that the algorithm assigns.
    pub variables: BTreeMap<VarId, Value>,
    /// Those of them that are Strings with numbers in them.
    pub texts: BTreeMap<VarId, Rc<Template>>,
    /// Conditions under which a `return` or `break` has been executed.
    pub returned: NodeId,
    pub broken: NodeId,
    /// Conditions under which locals have been assigned, of those that are not certain to have been.
    pub uncertain: BTreeMap<usize, NodeId>,
    /// An assertion has ended this way.
    pub is_dead: bool,
}

impl State {
    pub fn new(n_locals: usize, no: NodeId) -> State {
        State {
            locals: vec![None; n_locals],
            variables: BTreeMap::new(),
            texts: BTreeMap::new(),
            returned: no,
            broken: no,
            uncertain: BTreeMap::new(),
            is_dead: false,
        }
    }

    /// Sets a local and gives what it was.
    pub fn set_local(&mut self, local: usize, value: Option<Value>) -> Option<Value> {
        self.uncertain.remove(&local);
        if self.locals.len() <= local {
            self.locals.resize(local + 1, None);
        }
        std::mem::replace(&mut self.locals[local], value)
    }
}

/// One step from a variable to a part of it.
enum Step<'a> {
    Subscripts(&'a [Subscript]),
    Field(usize),
}

impl<'a> Lowering<'a, '_> {
    pub fn run(&mut self, statements: &'a [Statement]) -> Lowered<()> {
        for (i, statement) in statements.iter().enumerate() {
            self.check_budget(statement.span)?;
            self.statement(statement)?;
            let stop = self.has_stopped();
            match self.system.dag.value(stop) {
                Some(0.0) => {}
                Some(_) => return Ok(()),
                None => {
                    let rest = statements.get(i + 1..).unwrap_or(&[]);
                    return self.unless(stop, statement.span, |l| l.run(rest));
                }
            }
        }
        Ok(())
    }

    fn has_stopped(&mut self) -> NodeId {
        self.system.dag.binary(BinaryFn::Or, self.state.returned, self.state.broken)
    }

    /// Executes only where `stop` does not hold.
    fn unless(&mut self, stop: NodeId, span: Span, act: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        let before = self.state.clone();
        let no = self.system.dag.boolean(false);
        (self.state.returned, self.state.broken) = (no, no);
        let going_on = self.system.dag.not(stop);
        self.under(going_on, act)?;
        let after = std::mem::replace(&mut self.state, before.clone());
        self.state = self.merge(stop, before, after, span)?;
        Ok(())
    }

    /// With a condition added to the path.
    pub fn under<T>(&mut self, condition: NodeId, act: impl FnOnce(&mut Self) -> T) -> T {
        let path = self.system.dag.and(self.path, condition);
        let before = std::mem::replace(&mut self.path, path);
        let result = act(self);
        self.path = before;
        result
    }

    /// The state that is `a` where the condition holds, else `b`. What only one of them has set is taken from there.
    fn merge(&mut self, condition: NodeId, a: State, b: State, span: Span) -> Lowered<State> {
        let texts = self.merge_texts(condition, [&a, &b], span);
        let n = a.locals.len().max(b.locals.len());
        let uncertain = self.merge_uncertain(condition, &a, &b, n);
        let is_dead = a.is_dead && b.is_dead;
        let mut locals = Vec::with_capacity(n);
        let (mut left, mut right) = (a.locals.into_iter(), b.locals.into_iter());
        for _ in 0..n {
            locals.push(match (left.next().flatten(), right.next().flatten()) {
                (Some(x), Some(y)) => Some(self.select(condition, &x, &y, span)?),
                (x, y) => x.or(y),
            });
        }
        let mut variables = b.variables;
        for (id, x) in a.variables {
            let merged = match variables.get(&id) {
                Some(y) => self.select(condition, &x, y, span)?,
                None => x,
            };
            variables.insert(id, merged);
        }
        let returned = self.select_flag(condition, a.returned, b.returned);
        let broken = self.select_flag(condition, a.broken, b.broken);
        Ok(State { locals, variables, texts, returned, broken, uncertain, is_dead })
    }

    /// Conditions under which locals have values after two ways, of which one that an assertion ends does not count.
    fn merge_uncertain(&mut self, condition: NodeId, a: &State, b: &State, n: usize) -> BTreeMap<usize, NodeId> {
        let (yes, no) = (self.system.dag.boolean(true), self.system.dag.boolean(false));
        let has_value = |state: &State, local: usize| match state.locals.get(local) {
            _ if state.is_dead => None,
            Some(Some(_)) => Some(state.uncertain.get(&local).copied().unwrap_or(yes)),
            _ => Some(no),
        };
        let mut uncertain = BTreeMap::new();
        let is_set = |state: &State, local: usize| matches!(state.locals.get(local), Some(Some(_)));
        let n = if self.function.is_some() { n } else { 0 };
        for local in (0..n).filter(|&l| is_set(a, l) || is_set(b, l)) {
            let merged = match (has_value(a, local), has_value(b, local)) {
                (Some(x), Some(y)) if x == y => x,
                (Some(x), Some(y)) => self.select_flag(condition, x, y),
                (x, y) => x.or(y).unwrap_or(yes),
            };
            if merged != yes {
                uncertain.insert(local, merged);
            }
        }
        uncertain
    }

    /// A choice between conditions, as a condition.
    fn select_flag(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> NodeId {
        let dag = &mut self.system.dag;
        let not = dag.not(condition);
        let (here, there) = (dag.and(condition, a), dag.and(not, b));
        match (dag.value(a), dag.value(b)) {
            (Some(1.0), _) => dag.binary(BinaryFn::Or, condition, b),
            (_, Some(1.0)) => dag.binary(BinaryFn::Or, not, a),
            _ => dag.binary(BinaryFn::Or, here, there),
        }
    }

    fn statement(&mut self, statement: &'a Statement) -> Lowered<()> {
        let result = self.statement_of_kind(statement);
        result.or_else(|problem| self.outlined_statement(statement, problem))
    }

    fn statement_of_kind(&mut self, statement: &'a Statement) -> Lowered<()> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign { target, value } => self.assignment(target, value),
            StatementKind::If { branches, otherwise } => self.if_statement(branches, otherwise, span),
            StatementKind::For { local, range, body } => {
                let values = self.value(range)?.elements();
                self.for_statement(local.index(), values, body, span)
            }
            StatementKind::While { condition, body } => self.while_statement(condition, body, span),
            StatementKind::When { branches } => self.when_statement(branches, span),
            StatementKind::Break => {
                self.state.broken = self.system.dag.boolean(true);
                Ok(())
            }
            StatementKind::Return => {
                self.state.returned = self.system.dag.boolean(true);
                Ok(())
            }
            StatementKind::Assert { condition, message, level } => {
                self.assert_statement(condition, message, level.as_ref(), span)
            }
            StatementKind::Terminate { message } => self.terminate_statement(message, span),
            StatementKind::Reinit { state, value } => self.reinit_statement(state, value, span),
            StatementKind::Call(call) => self.call_statement(call),
        }
    }

    fn assignment(&mut self, target: &'a Expr, value: &'a Expr) -> Lowered<()> {
        let ExprKind::Tuple(targets) = &target.kind else {
            let text = self.assigned_text(target, value);
            let value = self.value(value)?;
            self.assign(target, value)?;
            if let Some((id, text)) = text {
                self.state.texts.insert(id, text);
            }
            return Ok(());
        };
        self.used = Used::Targets(targets);
        let results = self.results(value)?;
        for (target, value) in targets.iter().zip(results.iter()) {
            if let Some(target) = target {
                self.assign(target, value.clone())?;
            }
        }
        Ok(())
    }

    /// Gives a variable or a part of it its new value.
    pub fn assign(&mut self, target: &'a Expr, value: Value) -> Lowered<()> {
        match &target.kind {
            ExprKind::Local(id) => {
                let model = self.model;
                if let Some(function) = self.function.and_then(|f| model.functions.get(f)) {
                    self.check_declared_sizes(function, *id, &value, target.span)?;
                }
                self.state.set_local(id.index(), Some(value));
                Ok(())
            }
            ExprKind::Var(id) => {
                let model = self.model;
                if let Some(variable) = model.variables.get(*id) {
                    self.check_known_sizes(&variable.ty, &value, &variable.name, target.span)?;
                }
                self.state.variables.insert(*id, value);
                self.state.texts.remove(id);
                Ok(())
            }
            ExprKind::Record(items) => match &value {
                Value::Record(fields) => {
                    let fields = fields.clone();
                    items.iter().zip(fields.iter()).try_for_each(|(item, field)| self.assign(item, field.clone()))
                }
                _ => self.broken("an assignment of something else to a record", target.span),
            },
            ExprKind::Array(items) => {
                let n = items.len().max(1);
                let elements = value.elements();
                let inner = value.dims().get(1..).unwrap_or(&[]).to_vec();
                for (item, part) in items.iter().zip(elements.chunks((elements.len() / n).max(1))) {
                    match Value::assemble(inner.clone(), part.to_vec()) {
                        Some(part) => self.assign(item, part)?,
                        None => return self.broken("an assignment of another size", target.span),
                    }
                }
                Ok(())
            }
            ExprKind::Cast(inner) => self.assign(inner, value),
            ExprKind::Index { .. } | ExprKind::Field { .. } => {
                if !fits(&target.ty, &value) {
                    self.check_known_sizes(&target.ty, &value, &self.text_of(target), target.span)?;
                }
                self.assign_part(target, value)
            }
            _ => self.unsupported("this left-hand side of an assignment", target.span),
        }
    }

    fn assign_part(&mut self, target: &'a Expr, value: Value) -> Lowered<()> {
        let mut steps = Vec::new();
        let mut root = target;
        loop {
            root = match &root.kind {
                ExprKind::Index { base, subscripts } => {
                    steps.push(Step::Subscripts(subscripts));
                    base
                }
                ExprKind::Field { base, field } => {
                    steps.push(Step::Field(*field as usize));
                    base
                }
                _ => break,
            };
        }
        steps.reverse();
        // Subscripts may read the variable itself, so its place stays filled until they are known; the copy is dropped
        // before writing so that an array that nobody else holds is changed in place.
        match &root.kind {
            ExprKind::Local(id) => {
                let old = self.initialise_local(*id, root.span)?;
                let choices = self.first_choices(&old, &steps, target)?;
                self.state.set_local(id.index(), None);
                let new = self.replaced(old, &steps, choices, value, target)?;
                self.state.set_local(id.index(), Some(new));
                Ok(())
            }
            ExprKind::Var(id) => {
                let old = self.value(root)?;
                let choices = self.first_choices(&old, &steps, target)?;
                self.state.variables.remove(id);
                let new = self.replaced(old, &steps, choices, value, target)?;
                self.state.variables.insert(*id, new);
                Ok(())
            }
            // `r[i].x` of components is `{r[1].x, r[2].x}[i]`.
            ExprKind::Array(_) | ExprKind::Record(_) => {
                let old = self.value(root)?;
                let choices = self.first_choices(&old, &steps, target)?;
                let new = self.replaced(old, &steps, choices, value, target)?;
                self.assign(root, new)
            }
            _ => self.unsupported("this left-hand side of an assignment", target.span),
        }
    }

    fn first_choices(
        &mut self,
        old: &Value,
        steps: &[Step<'a>],
        access: &'a Expr,
    ) -> Lowered<Option<Vec<super::index::Choice>>> {
        match steps.first() {
            Some(Step::Subscripts(subscripts)) => self.choices(old.dims(), subscripts, access).map(Some),
            _ => Ok(None),
        }
    }

    /// `old` with the part that the steps lead to replaced.
    fn replaced(
        &mut self,
        old: Value,
        steps: &[Step<'a>],
        choices: Option<Vec<super::index::Choice>>,
        new: Value,
        access: &'a Expr,
    ) -> Lowered<Value> {
        let span = access.span;
        let Some((first, rest)) = steps.split_first() else { return Ok(new) };
        match first {
            Step::Subscripts(subscripts) => {
                let choices = match choices {
                    Some(choices) => choices,
                    None => self.choices(old.dims(), subscripts, access)?,
                };
                if rest.is_empty() {
                    return self.write(old, &choices, new, span);
                }
                let part = self.read(&old, &choices, span)?;
                let inner = self.first_choices(&part, rest, access)?;
                let part = self.replaced(part, rest, inner, new, access)?;
                self.write(old, &choices, part, span)
            }
            Step::Field(field) => match &old {
                Value::Record(fields) => {
                    let mut fields = fields.as_ref().clone();
                    let Some(place) = fields.get_mut(*field) else {
                        return self.broken("a field that the record does not have", span);
                    };
                    let inner = self.first_choices(place, rest, access)?;
                    *place = self.replaced(place.clone(), rest, inner, new, access)?;
                    Ok(Value::record(fields))
                }
                _ => self.unsupported("an assignment to a field of an array of records", span),
            },
        }
    }

    fn if_statement(
        &mut self,
        branches: &'a [(Expr, Vec<Statement>)],
        otherwise: &'a [Statement],
        span: Span,
    ) -> Lowered<()> {
        let Some(((condition, body), rest)) = branches.split_first() else { return self.run(otherwise) };
        let condition = self.condition(condition)?;
        match self.system.dag.value(condition) {
            Some(value) if value != 0.0 => return self.run(body),
            Some(_) => return self.if_statement(rest, otherwise, span),
            None => {}
        }
        self.branch(condition, span, |l| l.run(body), |l| l.if_statement(rest, otherwise, span))
    }

    /// Executes both and merges what they leave.
    pub fn branch(
        &mut self,
        condition: NodeId,
        span: Span,
        then: impl FnOnce(&mut Self) -> Lowered<()>,
        otherwise: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let before = self.state.clone();
        self.under(condition, then)?;
        let first = std::mem::replace(&mut self.state, before);
        let not = self.system.dag.not(condition);
        self.under(not, otherwise)?;
        let no = self.system.dag.boolean(false);
        let second = std::mem::replace(&mut self.state, State::new(0, no));
        self.state = self.merge(condition, first, second, span)?;
        Ok(())
    }

    fn for_statement(&mut self, local: usize, values: Vec<Value>, body: &'a [Statement], span: Span) -> Lowered<()> {
        let outer = self.state.set_local(local, None);
        for value in values {
            let set = move |l: &mut Self| {
                l.state.set_local(local, Some(value));
                l.run(body)
            };
            if !self.iteration(span, set)? {
                break;
            }
        }
        self.state.broken = self.system.dag.boolean(false);
        self.state.set_local(local, outer);
        Ok(())
    }

    /// One iteration of a loop, conditional if an earlier one may have left it. False if it certainly has.
    fn iteration(&mut self, span: Span, act: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<bool> {
        self.check_budget(span)?;
        let stop = self.has_stopped();
        match self.system.dag.value(stop) {
            Some(0.0) => act(self)?,
            Some(_) => return Ok(false),
            None => self.unless(stop, span, act)?,
        }
        Ok(true)
    }

    fn while_statement(&mut self, condition: &'a Expr, body: &'a [Statement], span: Span) -> Lowered<()> {
        for _ in 0..MOST_ITERATIONS {
            match self.constant(condition)? {
                Some(0.0) => {
                    self.state.broken = self.system.dag.boolean(false);
                    return Ok(());
                }
                Some(_) if self.iteration(span, |l| l.run(body))? => {}
                Some(_) => {
                    self.state.broken = self.system.dag.boolean(false);
                    return Ok(());
                }
                None => return self.unsupported("a while loop whose condition is not constant", span),
            }
        }
        self.unsupported("a while loop that runs so often", span)
    }

    /// In functions only effects would be left, and those belong to real calls.
    fn call_statement(&mut self, call: &'a Expr) -> Lowered<()> {
        if self.function.is_none() {
            return self.call_for_effect(call);
        }
        if self.has_effects(call) {
            return self.unsupported("a call for its effect in a function", call.span);
        }
        Ok(())
    }
}
