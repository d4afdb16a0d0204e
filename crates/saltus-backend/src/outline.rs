//! Parts of algorithm sections that cannot be written out on scalars become functions that are called at run time.
//!
//! ```text
//! algorithm                                       algorithm
//!   while noEvent(r*r < x) loop            ⇒        r := $part1(r, x);
//!     r := r + 0.1;                                 y := $part2(u, n);
//!   end while;
//!   y := sum(u[1:n]);
//! ```
//!
//! In: a model and the parts of it that lowering could not write out: loops whose number of rounds is not known, assignments to
//! and expressions of array sections whose size is not known. Out: the model in which a call stands for each of them, and warnings about
//! events that such a part does not make. What a part reads is an input, what it assigns is an input and an output. The smallest part
//! is taken, so that relations around it still make events. (Specification: sections 11.1.2, 11.2.2, 11.2.3.)

mod events;
mod function;

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::assigned::assigned_in_when;
use saltus_flat::{
    Algorithm, Expr, ExprKind, FlatModel, Function, FunctionId, Local, Statement, StatementKind, Subscript, Type, VarId,
};

use crate::lower::assigned_variables;
use function::{Made, Writer};

/// What shall be called.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    Statement(&'a Statement),
    Expr(&'a Expr),
}

#[derive(Clone, Copy)]
pub struct Outlined<'a> {
    pub part: Part<'a>,
    /// Relations make no events there anyway.
    pub is_literal: bool,
}

impl Outlined<'_> {
    pub fn span(&self) -> Span {
        match self.part {
            Part::Statement(statement) => statement.span,
            Part::Expr(e) => e.span,
        }
    }
}

/// Can the statement be a function?
pub fn is_possible_statement(model: &FlatModel, statement: &Statement) -> bool {
    let is_kind = matches!(
        statement.kind,
        StatementKind::Assign { .. } | StatementKind::For { .. } | StatementKind::While { .. }
    );
    is_kind && Writer::new(model, "", &|_| false).statement(statement).is_some()
}

/// Can the expression be the result of a function?
pub fn is_possible_expression(model: &FlatModel, e: &Expr) -> bool {
    e.ty.n_elements().is_some() && Writer::new(model, "", &|_| false).expression(e).is_some()
}

/// A function that compares Strings, and what it is called with.
pub fn comparison(model: &FlatModel, e: &Expr) -> Option<(Function, Vec<Expr>)> {
    let made = Writer::new(model, "", &|_| false).expression(e)?;
    Some((made.function, made.arguments))
}

/// The model with calls of functions in place of these parts.
pub fn outline(model: &FlatModel, parts: &[Outlined<'_>], diagnostics: &mut Diagnostics) -> FlatModel {
    let changed = assigned_in_when(model);
    let mut outliner = Outliner {
        model,
        parts,
        extended: model.clone(),
        made: BTreeMap::new(),
        is_discrete: &|id| changed.contains(&id),
        diagnostics,
    };
    let algorithms: Vec<Algorithm> = model.algorithms.iter().map(|a| outliner.algorithm(a)).collect();
    let initial: Vec<Algorithm> = model.initial_algorithms.iter().map(|a| outliner.algorithm(a)).collect();
    FlatModel { algorithms, initial_algorithms: initial, ..outliner.extended }
}

struct Outliner<'m> {
    model: &'m FlatModel,
    parts: &'m [Outlined<'m>],
    extended: FlatModel,
    /// By their text: instances of one class share them.
    made: BTreeMap<String, FunctionId>,
    /// Is the variable assigned in a `when`?
    is_discrete: &'m dyn Fn(VarId) -> bool,
    diagnostics: &'m mut Diagnostics,
}

impl Outliner<'_> {
    fn algorithm(&mut self, algorithm: &Algorithm) -> Algorithm {
        let statements = self.statements(&algorithm.statements, &algorithm.component);
        Algorithm { statements, ..algorithm.clone() }
    }

    fn writer<'w>(&'w self, component: &'w str) -> Writer<'w> {
        Writer::new(self.model, component, self.is_discrete)
    }

    fn statements(&mut self, statements: &[Statement], component: &str) -> Vec<Statement> {
        let mut all = Vec::with_capacity(statements.len());
        for statement in statements {
            let found = self.parts.iter().find(|o| matches!(o.part, Part::Statement(s) if std::ptr::eq(s, statement)));
            let made = found.and_then(|_| self.writer(component).statement(statement));
            match (found, made) {
                (Some(outlined), Some(made)) => {
                    let watched = match outlined.is_literal {
                        true => BTreeSet::new(),
                        false => events::watched_variables(
                            self.model,
                            statement,
                            self.is_discrete,
                            &made.lifted,
                            self.diagnostics,
                        ),
                    };
                    self.call_statement(statement, made, &watched, &mut all);
                }
                _ => all.push(Statement { kind: self.kind(&statement.kind, component), span: statement.span }),
            }
        }
        all
    }

    fn kind(&mut self, kind: &StatementKind, component: &str) -> StatementKind {
        let mut branches = |branches: &[(Expr, Vec<Statement>)]| -> Vec<(Expr, Vec<Statement>)> {
            branches.iter().map(|(c, body)| (self.expr(c, component), self.statements(body, component))).collect()
        };
        match kind {
            StatementKind::If { branches: all, otherwise } => {
                let all = branches(all);
                StatementKind::If { branches: all, otherwise: self.statements(otherwise, component) }
            }
            StatementKind::When { branches: all } => StatementKind::When { branches: branches(all) },
            StatementKind::For { local, range, body } => StatementKind::For {
                local: *local,
                range: self.expr(range, component),
                body: self.statements(body, component),
            },
            StatementKind::While { condition, body } => StatementKind::While {
                condition: self.expr(condition, component),
                body: self.statements(body, component),
            },
            StatementKind::Assign { target, value } => {
                StatementKind::Assign { target: self.expr(target, component), value: self.expr(value, component) }
            }
            StatementKind::Assert { condition, message, level } => StatementKind::Assert {
                condition: self.expr(condition, component),
                message: self.expr(message, component),
                level: level.clone(),
            },
            StatementKind::Terminate { message } => StatementKind::Terminate { message: self.expr(message, component) },
            StatementKind::Reinit { state, value } => {
                StatementKind::Reinit { state: self.expr(state, component), value: self.expr(value, component) }
            }
            StatementKind::Call(call) => StatementKind::Call(self.expr(call, component)),
            StatementKind::Break | StatementKind::Return => kind.clone(),
        }
    }

    /// The expression with its parts replaced, outside in.
    fn expr(&mut self, e: &Expr, component: &str) -> Expr {
        let found = self.parts.iter().find(|o| matches!(o.part, Part::Expr(p) if std::ptr::eq(p, e)));
        if let Some(outlined) = found
            && let Some(made) = self.writer(component).expression(e)
        {
            if !outlined.is_literal {
                events::warn_of_expression(self.model, e, self.is_discrete, &made.lifted, self.diagnostics);
            }
            let (function, arguments) = self.add(made);
            return Expr::new(ExprKind::Call { function, arguments }, e.ty.clone(), e.span);
        }
        let mut children = Vec::new();
        e.for_each_child(&mut |child| children.push(child));
        let mut children = children.into_iter();
        let mut copy = e.clone();
        copy.for_each_child_mut(&mut |child| {
            if let Some(original) = children.next() {
                *child = self.expr(original, component);
            }
        });
        copy
    }

    fn add(&mut self, made: Made) -> (FunctionId, Vec<Expr>) {
        let key = format!("{:?}", made.function);
        let (functions, model) = (&mut self.extended.functions, self.model);
        let id = *self.made.entry(key).or_insert_with(|| {
            let number = functions.len() - model.functions.len() + 1;
            functions.push(Function { name: format!("{}.$part{number}", model.name), ..made.function })
        });
        (id, made.arguments)
    }

    /// `(x, y) := part(…)`. Elements that the statement does not assign may belong to somebody else: there the result goes through a
    /// temporary, of which the others are taken. So does that of a variable whose changes must be watched.
    fn call_statement(
        &mut self,
        statement: &Statement,
        made: Made,
        watched: &BTreeSet<VarId>,
        all: &mut Vec<Statement>,
    ) {
        let span = statement.span;
        let assigned = assigned_variables(self.model, std::slice::from_ref(statement));
        let (function, arguments) = self.add(made);
        let mut targets = Vec::with_capacity(assigned.len());
        let mut copies = Vec::new();
        for (&id, elements) in &assigned {
            let ty = self.model.variables[id].ty.clone();
            let variable = Expr::new(ExprKind::Var(id), ty.clone(), span);
            let is_watched = watched.contains(&id);
            let elements = match elements {
                None if !is_watched => {
                    targets.push(variable);
                    continue;
                }
                None => (0..ty.n_elements().unwrap_or(0) as usize).collect(),
                Some(elements) => elements.clone(),
            };
            let (name, sizes) = (self.model.variables[id].name.clone(), vec![None; ty.rank()]);
            let local = self.extended.iterators.push(Local { name, ty: ty.clone(), sizes, default: None, span });
            let temporary = Expr::new(ExprKind::Local(local), ty.clone(), span);
            for position in elements {
                let (target, value) = (element(&variable, position), element(&temporary, position));
                let value = if is_watched { events::with_event(self.model, &value) } else { value };
                copies.push(Statement { kind: StatementKind::Assign { target, value }, span });
            }
            targets.push(temporary);
        }
        let ty = targets.first().map_or(Type::UNIT, |t| t.ty.clone());
        let value = Expr::new(ExprKind::Call { function, arguments }, ty.clone(), span);
        let target = match <[Expr; 1]>::try_from(targets) {
            Ok([target]) => target,
            Err(targets) => Expr::new(ExprKind::Tuple(targets.into_iter().map(Some).collect()), ty, span),
        };
        all.push(Statement { kind: StatementKind::Assign { target, value }, span });
        all.extend(copies);
    }
}

/// `base[i, j]` of the row-major position.
fn element(base: &Expr, position: usize) -> Expr {
    let mut rest = position as u64;
    let mut subscripts = Vec::with_capacity(base.ty.rank());
    for dim in base.ty.dims.iter().rev() {
        let size = dim.known().unwrap_or(1).max(1);
        subscripts.push(Subscript::Index(Expr::integer((rest % size + 1) as i64, base.span)));
        rest /= size;
    }
    subscripts.reverse();
    if subscripts.is_empty() {
        return base.clone();
    }
    let ty = base.ty.element(base.ty.rank());
    Expr::new(ExprKind::Index { base: Box::new(base.clone()), subscripts }, ty, base.span)
}
