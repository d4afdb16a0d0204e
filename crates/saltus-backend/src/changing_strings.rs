//! String variables that change become variables of an enumeration, and comparisons of other Strings become calls.
//!
//! ```text
//! String s(start = "idle");                      enumeration of "busy", "idle"      s(start = idle)
//! when c then s = "busy"; end when;       ⇒      when c then s = busy; end when;
//! y = if s == "busy" then 1 else 0;              y = if s == busy then 1 else 0;
//! t = String(n);                                 b = $compare1(n);
//! b = t == "3";
//! ```
//!
//! In: a flat model. Out: the same model in which a String variable is left only where it may hold a text that is not written in the
//! model, such as `String(n)`; what one equation determines is written where it is used. The literals are in the order of the texts, so that comparisons mean the same. Where a text is needed – in a
//! message, as an argument – the literal is turned back into it. (Specification: sections 3.5 and 4.9.4.)

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::uses::{for_each_expr_of_algorithm, for_each_expr_of_equation};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Causality, EnumId, EnumType, Equation, EquationKind, Expr, ExprKind, FlatModel,
    Function, Statement, StatementKind, Type, VarId, Variability,
};

use crate::outline::comparison;
use crate::state_machines::build::{binary, choose, expressions_of_equation, expressions_of_statement};

/// More texts than this are not an enumeration.
const MOST_TEXTS: usize = 1000;
/// Definitions in definitions, and the size of all that are written where they are used.
const MOST_DEFINITIONS: u32 = 10;
const MOST_NODES: usize = 100_000;

/// The model with numbers in place of changing Strings; `None` if it has nothing of the kind.
pub fn rewrite_strings(model: &FlatModel) -> Option<FlatModel> {
    let finite = finite_variables(model);
    let definitions = definitions(model, &finite);
    if finite.is_empty() && definitions.is_empty() && !compares_strings(model) {
        return None;
    }
    let texts = texts_of(model, &finite);
    if texts.len() > MOST_TEXTS {
        return None;
    }
    let mut changed = model.clone();
    let functions = Vec::new();
    let mut rewriter = Rewriter { model, finite, definitions, n_inside: 0, n_nodes: 0, texts, id: None, functions };
    if !rewriter.finite.is_empty() {
        let literals = rewriter.texts.iter().map(|t| t.to_string()).collect();
        rewriter.id = Some(changed.enumerations.push(EnumType { name: "String".into(), literals }));
    }
    for (id, variable) in changed.variables.iter_mut() {
        if rewriter.finite.contains(&id) {
            variable.ty.base = rewriter.base();
            // The number of a text means nothing to the reader of a result.
            variable.hide_result = true;
            let start = variable.attributes.start.take();
            let start = start.unwrap_or_else(|| Expr::string("", variable.span));
            variable.attributes.start = Some(rewriter.literal_of(start));
            variable.binding = variable.binding.take().map(|e| rewriter.literal_of(e));
        } else if !rewriter.definitions.contains_key(&id) {
            variable.binding.iter_mut().for_each(|e| rewriter.called(e));
        }
    }
    for equation in changed.equations.iter_mut().chain(&mut changed.initial_equations) {
        rewriter.equation(equation);
    }
    for algorithm in changed.algorithms.iter_mut().chain(&mut changed.initial_algorithms) {
        algorithm.statements.iter_mut().for_each(|s| rewriter.statement(s));
    }
    let is_unchanged = rewriter.finite.is_empty() && rewriter.functions.is_empty() && rewriter.n_nodes == 0;
    rewriter.functions.into_iter().for_each(|f| {
        changed.functions.push(f);
    });
    (!is_unchanged).then_some(changed)
}

fn compares_strings(model: &FlatModel) -> bool {
    let mut found = false;
    let mut visit = |e: &Expr| {
        e.walk(&mut |e| {
            found |=
                matches!(&e.kind, ExprKind::Binary(op, left, _) if op.is_boolean() && left.ty.base == BaseType::String);
        });
    };
    model.variables.values().flat_map(|v| &v.binding).for_each(&mut visit);
    let equations = model.equations.iter().chain(&model.initial_equations);
    equations.for_each(|equation| for_each_expr_of_equation(equation, &mut visit));
    found
}

/// The String variables that change and hold nothing but texts of the model.
fn finite_variables(model: &FlatModel) -> BTreeSet<VarId> {
    let is_candidate = |id: &VarId| {
        let v = &model.variables[*id];
        v.ty.base == BaseType::String && v.variability > Variability::Parameter && v.causality != Causality::Input
    };
    let mut finite: BTreeSet<VarId> = model.variables.iter().map(|(id, _)| id).filter(is_candidate).collect();
    if finite.is_empty() {
        return finite;
    }
    for id in finite.clone() {
        let start = &model.variables[id].attributes.start;
        if start.as_ref().is_some_and(|e| !e.is_literal()) {
            finite.remove(&id);
        }
    }
    loop {
        let before = finite.len();
        each_pair(model, &mut |left, right| {
            if !(is_finite(&finite, left) && is_finite(&finite, right)) {
                remove(&mut finite, left);
                remove(&mut finite, right);
            }
        });
        if finite.len() == before {
            return finite;
        }
    }
}

/// What one equation determines of the other String variables.
fn definitions(model: &FlatModel, finite: &BTreeSet<VarId>) -> BTreeMap<VarId, Expr> {
    let is_other = |id: &VarId| {
        let v = &model.variables[*id];
        v.ty.base == BaseType::String && v.variability > Variability::Parameter && !finite.contains(id)
    };
    let mut found = BTreeMap::new();
    for (id, variable) in model.variables.iter().filter(|(id, _)| is_other(id)) {
        if let Some(binding) = &variable.binding {
            found.insert(id, binding.clone());
        }
    }
    for equation in &model.equations {
        if let EquationKind::Equality { left, right } = &equation.kind
            && let ExprKind::Var(id) = &left.kind
            && is_other(id)
        {
            found.entry(*id).or_insert_with(|| right.clone());
        }
    }
    found
}

/// Takes out the variables that an expression is the value of.
fn remove(finite: &mut BTreeSet<VarId>, e: &Expr) {
    match &e.kind {
        ExprKind::Var(id) => {
            finite.remove(id);
        }
        ExprKind::Index { base, .. } | ExprKind::Field { base, .. } => remove(finite, base),
        ExprKind::If { then, otherwise, .. } => {
            remove(finite, then);
            remove(finite, otherwise);
        }
        ExprKind::Tuple(items) => items.iter().flatten().for_each(|item| remove(finite, item)),
        ExprKind::Array(items) | ExprKind::Record(items) => items.iter().for_each(|item| remove(finite, item)),
        ExprKind::Builtin { arguments, .. } => arguments.iter().for_each(|item| remove(finite, item)),
        _ => {}
    }
}

/// Is the String one of the texts of the model, whatever happens?
fn is_finite(finite: &BTreeSet<VarId>, e: &Expr) -> bool {
    match &e.kind {
        ExprKind::String(_) => true,
        ExprKind::Var(id) => finite.contains(id),
        ExprKind::Index { base, .. } => is_finite(finite, base),
        ExprKind::Array(items) => items.iter().all(|item| is_finite(finite, item)),
        ExprKind::If { then, otherwise, .. } => is_finite(finite, then) && is_finite(finite, otherwise),
        ExprKind::Builtin { function: Builtin::Pre | Builtin::Previous | Builtin::NoEvent, arguments } => {
            arguments.iter().all(|a| is_finite(finite, a))
        }
        _ => false,
    }
}

/// Is it one of the texts, and not always the same?
fn varies(finite: &BTreeSet<VarId>, e: &Expr) -> bool {
    if e.ty.base != BaseType::String || !is_finite(finite, e) {
        return false;
    }
    let mut found = false;
    e.walk(&mut |e| found |= matches!(&e.kind, ExprKind::Var(id) if finite.contains(id)));
    found
}

/// Calls `visit` on both sides of whatever gives Strings, alone or in a record, their values.
fn each_pair<'m>(model: &'m FlatModel, visit: &mut dyn FnMut(&Expr, &'m Expr)) {
    for (id, variable) in model.variables.iter() {
        if let Some(binding) = variable.binding.as_ref().filter(|_| variable.ty.base == BaseType::String) {
            visit(&Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span), binding);
        }
    }
    model.equations.iter().chain(&model.initial_equations).for_each(|e| pairs_of_equation(e, visit));
    let algorithms = model.algorithms.iter().chain(&model.initial_algorithms);
    algorithms.for_each(|a| a.statements.iter().for_each(|s| pairs_of_statement(s, visit)));
}

fn pairs_of_equation<'m>(equation: &'m Equation, visit: &mut dyn FnMut(&Expr, &'m Expr)) {
    match &equation.kind {
        EquationKind::Equality { left, right } => pair(left, right, visit),
        EquationKind::If { branches, otherwise } => {
            let all = branches.iter().flat_map(|(_, body)| body).chain(otherwise);
            all.for_each(|e| pairs_of_equation(e, visit));
        }
        EquationKind::When { branches } => {
            branches.iter().flat_map(|(_, body)| body).for_each(|e| pairs_of_equation(e, visit));
        }
        _ => {}
    }
}

fn pairs_of_statement<'m>(statement: &'m Statement, visit: &mut dyn FnMut(&Expr, &'m Expr)) {
    match &statement.kind {
        StatementKind::Assign { target, value } => pair(target, value, visit),
        StatementKind::If { branches, otherwise } => {
            let all = branches.iter().flat_map(|(_, body)| body).chain(otherwise);
            all.for_each(|s| pairs_of_statement(s, visit));
        }
        StatementKind::When { branches } => {
            branches.iter().flat_map(|(_, body)| body).for_each(|s| pairs_of_statement(s, visit));
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
            body.iter().for_each(|s| pairs_of_statement(s, visit));
        }
        _ => {}
    }
}

fn pair<'m>(left: &'m Expr, right: &'m Expr, visit: &mut dyn FnMut(&Expr, &'m Expr)) {
    let is_composed = |e: &Expr| matches!(e.ty.base, BaseType::Record(_));
    match (&left.kind, &right.kind) {
        (ExprKind::Record(a), ExprKind::Record(b)) | (ExprKind::Array(a), ExprKind::Array(b))
            if is_composed(left) && a.len() == b.len() =>
        {
            a.iter().zip(b).for_each(|(a, b)| pair(a, b, visit));
        }
        _ if left.ty.base == BaseType::String || is_composed(left) || matches!(left.kind, ExprKind::Tuple(_)) => {
            visit(left, right);
        }
        _ => {}
    }
}

/// The texts that finite variables may hold, in order.
fn texts_of(model: &FlatModel, finite: &BTreeSet<VarId>) -> BTreeSet<Arc<str>> {
    let mut texts = BTreeSet::new();
    let mut add = |e: &Expr| {
        e.walk(&mut |e| {
            if let ExprKind::String(text) = &e.kind {
                texts.insert(text.clone());
            }
        });
    };
    for &id in finite {
        match &model.variables[id].attributes.start {
            Some(start) => add(start),
            None => add(&Expr::string("", Span::nowhere())),
        }
    }
    if !finite.is_empty() {
        each_pair(model, &mut |left, right| {
            if is_finite(finite, left) && is_finite(finite, right) {
                add(left);
                add(right);
            }
        });
        let mut visit = |e: &Expr| {
            e.walk(&mut |e| {
                if varies(finite, e) {
                    add(e);
                }
            });
        };
        model.variables.values().flat_map(|v| &v.binding).for_each(&mut visit);
        let equations = model.equations.iter().chain(&model.initial_equations);
        equations.for_each(|equation| for_each_expr_of_equation(equation, &mut visit));
        let algorithms = model.algorithms.iter().chain(&model.initial_algorithms);
        algorithms.for_each(|algorithm| for_each_expr_of_algorithm(algorithm, &mut visit));
    }
    texts
}

struct Rewriter<'m> {
    model: &'m FlatModel,
    finite: BTreeSet<VarId>,
    definitions: BTreeMap<VarId, Expr>,
    /// How many definitions are around the present expression, and the size of all that have been written so far.
    n_inside: u32,
    n_nodes: usize,
    texts: BTreeSet<Arc<str>>,
    id: Option<EnumId>,
    functions: Vec<Function>,
}

impl Rewriter<'_> {
    fn base(&self) -> BaseType {
        self.id.map_or(BaseType::String, BaseType::Enumeration)
    }

    fn literal(&self, k: usize, span: Span) -> Expr {
        match self.id {
            Some(id) => Expr::new(ExprKind::EnumLiteral(id, k as u32 + 1), Type::scalar(self.base()), span),
            None => Expr::error(span),
        }
    }

    fn equation(&mut self, equation: &mut Equation) {
        match &mut equation.kind {
            EquationKind::Equality { left, .. } if matches!(&left.kind, ExprKind::Var(id) if self.definitions.contains_key(id)) =>
                {}
            EquationKind::Equality { left, right } => {
                self.sides(left, right);
                [left, right].into_iter().for_each(|e| self.called(e));
            }
            EquationKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.called(condition);
                    body.iter_mut().for_each(|e| self.equation(e));
                }
                otherwise.iter_mut().for_each(|e| self.equation(e));
            }
            EquationKind::When { branches } => {
                for (condition, body) in branches {
                    self.called(condition);
                    body.iter_mut().for_each(|e| self.equation(e));
                }
            }
            _ => expressions_of_equation(equation, &mut |e| self.called(e)),
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        match &mut statement.kind {
            StatementKind::Assign { target, value } => {
                self.sides(target, value);
                [target, value].into_iter().for_each(|e| self.texts_in(e));
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.texts_in(condition);
                    body.iter_mut().for_each(|s| self.statement(s));
                }
                otherwise.iter_mut().for_each(|s| self.statement(s));
            }
            StatementKind::When { branches } => {
                for (condition, body) in branches {
                    self.texts_in(condition);
                    body.iter_mut().for_each(|s| self.statement(s));
                }
            }
            StatementKind::For { range: head, body, .. } | StatementKind::While { condition: head, body } => {
                self.texts_in(head);
                body.iter_mut().for_each(|s| self.statement(s));
            }
            _ => expressions_of_statement(statement, &mut |e| self.texts_in(e)),
        }
    }

    /// Both sides of what gives finite variables their values.
    fn sides(&mut self, left: &mut Expr, right: &mut Expr) {
        if left.ty.base == BaseType::String {
            if self.varies(left) || self.varies(right) {
                for side in [left, right] {
                    let span = side.span;
                    *side = self.literal_of(std::mem::replace(side, Expr::error(span)));
                }
            }
            return;
        }
        let is_composed = matches!(left.ty.base, BaseType::Record(_));
        if let (ExprKind::Record(a), ExprKind::Record(b)) | (ExprKind::Array(a), ExprKind::Array(b)) =
            (&mut left.kind, &mut right.kind)
            && is_composed
            && a.len() == b.len()
        {
            a.iter_mut().zip(b).for_each(|(a, b)| self.sides(a, b));
        }
    }

    fn varies(&self, e: &Expr) -> bool {
        varies(&self.finite, e)
    }

    /// A finite String as a literal of the enumeration.
    fn literal_of(&mut self, mut e: Expr) -> Expr {
        if let ExprKind::String(text) = &e.kind {
            let position = self.texts.iter().position(|t| t == text);
            return position.map_or(Expr::error(e.span), |k| self.literal(k, e.span));
        }
        match &mut e.kind {
            ExprKind::If { condition, then, otherwise } => {
                self.called(condition);
                for branch in [then, otherwise] {
                    let span = branch.span;
                    **branch = self.literal_of(std::mem::replace(branch, Expr::error(span)));
                }
            }
            ExprKind::Index { base, subscripts } => {
                let span = base.span;
                **base = self.literal_of(std::mem::replace(base, Expr::error(span)));
                for subscript in subscripts {
                    if let saltus_flat::Subscript::Index(i) | saltus_flat::Subscript::Slice(i) = subscript {
                        self.called(i);
                    }
                }
            }
            _ => e.for_each_child_mut(&mut |child| {
                let span = child.span;
                *child = self.literal_of(std::mem::replace(child, Expr::error(span)));
            }),
        }
        e.ty.base = self.base();
        e
    }

    /// A literal of the enumeration as its text.
    fn text_of(&self, literal: &Expr, span: Span, use_text: &mut dyn FnMut(Expr) -> Expr) -> Expr {
        let mut texts = self.texts.iter().enumerate().rev();
        let last = texts.next().map_or(Expr::string("", span), |(_, text)| Expr::string(text, span));
        let mut chosen = use_text(last);
        for (k, text) in texts {
            let is_it = binary(BinaryOp::Equal, literal.clone(), self.literal(k, span));
            chosen = choose(is_it, use_text(Expr::string(text, span)), chosen);
        }
        chosen
    }

    /// The value of a variable that one equation determines, unless that has become too much.
    fn definition(&mut self, id: VarId) -> Option<Expr> {
        if self.n_inside >= MOST_DEFINITIONS || self.n_nodes > MOST_NODES {
            return None;
        }
        let definition = self.definitions.get(&id)?.clone();
        definition.walk(&mut |_| self.n_nodes += 1);
        Some(definition)
    }

    /// Replaces what has become literals, wherever it is used.
    fn texts_in(&mut self, e: &mut Expr) {
        let span = e.span;
        if e.ty.is_scalar() && self.varies(e) {
            let literal = self.literal_of(std::mem::replace(e, Expr::error(span)));
            *e = self.text_of(&literal, span, &mut |text| text);
            return;
        }
        if let ExprKind::Var(id) = e.kind
            && let Some(definition) = self.definition(id)
        {
            *e = Expr { span, ..definition };
            self.n_inside += 1;
            self.texts_in(e);
            self.n_inside -= 1;
            return;
        }
        if let ExprKind::Builtin { function: Builtin::Pre | Builtin::Previous, .. } = &e.kind
            && e.ty.base == BaseType::String
        {
            return;
        }
        if let ExprKind::Builtin { function: Builtin::Change, arguments } = &mut e.kind
            && let [of] = arguments.as_mut_slice()
            && self.varies(of)
        {
            *of = self.literal_of(std::mem::replace(of, Expr::error(span)));
            return;
        }
        if let ExprKind::Binary(op, left, right) = &mut e.kind
            && op.is_boolean()
            && left.ty.base == BaseType::String
            && (self.varies(left) || self.varies(right))
        {
            let (op, ty) = (*op, e.ty.clone());
            let take = |side: &mut Expr| std::mem::replace(side, Expr::error(span));
            let (mut left, mut right) = (take(left), take(right));
            let is_listed = |r: &Self, side: &Expr| match &side.kind {
                ExprKind::String(text) => r.texts.contains(text),
                _ => r.varies(side),
            };
            if is_listed(self, &left) && is_listed(self, &right) {
                let (left, right) = (self.literal_of(left), self.literal_of(right));
                *e = Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span);
            } else if self.varies(&left) {
                self.texts_in(&mut right);
                let literal = self.literal_of(left);
                *e = self.text_of(&literal, span, &mut |text| binary(op, text, right.clone()));
            } else {
                self.texts_in(&mut left);
                let literal = self.literal_of(right);
                *e = self.text_of(&literal, span, &mut |text| binary(op, left.clone(), text));
            }
            return;
        }
        e.for_each_child_mut(&mut |child| self.texts_in(child));
    }

    /// The same where what cannot be compared otherwise is compared by a function: outside of algorithms, which see to that themselves.
    fn called(&mut self, e: &mut Expr) {
        self.texts_in(e);
        self.call_comparisons(e);
    }

    fn call_comparisons(&mut self, e: &mut Expr) {
        let is_comparison = matches!(&e.kind, ExprKind::Binary(op, left, _)
            if op.is_boolean() && left.ty.base == BaseType::String && e.ty.is_scalar());
        if is_comparison && self.changes(e) {
            let number = self.functions.len() + 1;
            if let Some((function, arguments)) = comparison(self.model, e) {
                use saltus_base::Index as _;
                let id = saltus_flat::FunctionId::from_usize(self.model.functions.len() + self.functions.len());
                let name = format!("{}.$compare{number}", self.model.name);
                self.functions.push(Function { name, ..function });
                e.kind = ExprKind::Call { function: id, arguments };
            }
            return;
        }
        e.for_each_child_mut(&mut |child| self.call_comparisons(child));
    }

    /// Does it depend on what the simulation changes?
    fn changes(&self, e: &Expr) -> bool {
        let mut found = false;
        e.walk(&mut |e| match &e.kind {
            ExprKind::Var(id) => {
                found |= self.model.variables.get(*id).is_some_and(|v| v.variability > Variability::Parameter)
            }
            ExprKind::Time => found = true,
            _ => {}
        });
        found
    }
}
