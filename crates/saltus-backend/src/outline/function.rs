//! A part of an algorithm as a function: variables of the model become inputs and outputs.
//!
//! ```text
//! for i in 1:n loop                function $part
//!   s := s + x[i]*pre(k);            input Real s0;  input Integer n;  input Real x[3];  input Integer pre_k;
//! end for;                  ⇒        output Real s = s0;
//!                                  algorithm
//!                                    for i in 1:n loop s := s + x[i]*pre_k; end for;
//! ```
//!
//! What only the simulation knows – `time`, `pre(x)`, `der(x)`, `initial()` – is an input too. So is what makes events and is
//! evaluated exactly once, as `integer(5*time)` in `for i in 1:integer(5*time) loop`: the model evaluates it, and makes them.

use std::collections::BTreeMap;

use saltus_base::{IdVec, Span};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Expr, ExprKind, FlatModel, Function, Local, LocalId, Purity, Statement, StatementKind,
    Type, UnaryOp, VarId,
};

use super::events::Search;
use crate::lower::assigned_variables;

/// A function and what it is called with.
pub struct Made {
    pub function: Function,
    pub arguments: Vec<Expr>,
    /// Expressions of the part that are arguments, so that the model makes their events.
    pub lifted: Vec<*const Expr>,
}

pub struct Writer<'m> {
    model: &'m FlatModel,
    /// Name of the component, which local variables do not repeat.
    component: &'m str,
    locals: IdVec<LocalId, Local>,
    /// Locals with the arguments that they get.
    inputs: Vec<(LocalId, Expr)>,
    variables: BTreeMap<VarId, LocalId>,
    iterators: BTreeMap<LocalId, LocalId>,
    /// Iteration variables of loops inside, as the model numbers them.
    bound: Vec<LocalId>,
    /// In order.
    assigned: Vec<VarId>,
    is_impure: bool,
    /// The present expression is evaluated exactly once, before anything is assigned.
    is_once: bool,
    search: Search<'m>,
    /// Expressions of the model that have become inputs because they make events.
    lifted: Vec<*const Expr>,
}

impl<'m> Writer<'m> {
    pub fn new(model: &'m FlatModel, component: &'m str, is_discrete: &'m dyn Fn(VarId) -> bool) -> Writer<'m> {
        Writer {
            model,
            component,
            locals: IdVec::new(),
            inputs: Vec::new(),
            variables: BTreeMap::new(),
            iterators: BTreeMap::new(),
            bound: Vec::new(),
            assigned: Vec::new(),
            is_impure: false,
            is_once: true,
            search: Search { model, is_discrete, lifted: &[] },
            lifted: Vec::new(),
        }
    }

    /// `None` if something in it belongs to the simulation and cannot be in a function, or if it would have no result.
    pub fn statement(mut self, statement: &Statement) -> Option<Made> {
        let assigned = assigned_variables(self.model, std::slice::from_ref(statement));
        let mut outputs = Vec::with_capacity(assigned.len());
        for &id in assigned.keys() {
            let variable = self.model.variables.get(id)?;
            let before = Expr::new(ExprKind::Var(id), variable.ty.clone(), statement.span);
            let name = self.name_of(id);
            let input = self.input(format!("{name} before"), before);
            let default = Some(Expr::new(ExprKind::Local(input), variable.ty.clone(), statement.span));
            let output = self.declare(name, variable.ty.clone(), default, statement.span);
            self.variables.insert(id, output);
            self.assigned.push(id);
            outputs.push(output);
        }
        let body = self.statements(std::slice::from_ref(statement))?;
        (!outputs.is_empty()).then(|| self.made(outputs, body, statement.span))
    }

    pub fn expression(mut self, e: &Expr) -> Option<Made> {
        let value = self.expr(e)?;
        let output = self.declare("result".to_owned(), e.ty.clone(), None, e.span);
        let target = Expr::new(ExprKind::Local(output), e.ty.clone(), e.span);
        let body = vec![Statement { kind: StatementKind::Assign { target, value }, span: e.span }];
        Some(self.made(vec![output], body, e.span))
    }

    fn made(self, outputs: Vec<LocalId>, body: Vec<Statement>, span: Span) -> Made {
        let (inputs, arguments) = self.inputs.into_iter().unzip();
        let function = Function {
            name: String::new(),
            locals: self.locals,
            inputs,
            outputs,
            body,
            external: None,
            purity: if self.is_impure { Purity::Impure } else { Purity::Pure },
            is_record_constructor: false,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            inline: false,
            late_inline: false,
            inline_after_index_reduction: false,
            smooth_order: None,
            generate_events: false,
            span,
        };
        Made { function, arguments, lifted: self.lifted }
    }

    fn name_of(&self, id: VarId) -> String {
        let name = self.model.variables.get(id).map_or("", |v| v.name.as_str());
        let inside = name.strip_prefix(self.component).and_then(|rest| rest.strip_prefix('.'));
        inside.unwrap_or(name).to_owned()
    }

    fn declare(&mut self, name: String, ty: Type, default: Option<Expr>, span: Span) -> LocalId {
        let sizes = vec![None; ty.rank()];
        self.locals.push(Local { name, ty, sizes, default, span })
    }

    fn input(&mut self, name: String, argument: Expr) -> LocalId {
        let local = self.declare(name, argument.ty.clone(), None, argument.span);
        self.inputs.push((local, argument));
        local
    }

    /// The same expression of the model is one input.
    fn input_of(&mut self, name: String, argument: Expr) -> LocalId {
        match self.inputs.iter().find(|(_, a)| a.kind == argument.kind) {
            Some(&(local, _)) => local,
            None => self.input(name, argument),
        }
    }

    fn bind(&mut self, iterator: LocalId) -> Option<LocalId> {
        let declared = self.model.iterators.get(iterator)?;
        let local = self.declare(declared.name.clone(), declared.ty.clone(), None, declared.span);
        self.iterators.insert(iterator, local);
        self.bound.push(iterator);
        Some(local)
    }

    fn statements(&mut self, statements: &[Statement]) -> Option<Vec<Statement>> {
        statements.iter().map(|s| Some(Statement { kind: self.kind(&s.kind)?, span: s.span })).collect()
    }

    /// With what is evaluated not at all or several times.
    fn not_once<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_once, false);
        let result = act(self);
        self.is_once = before;
        result
    }

    fn kind(&mut self, kind: &StatementKind) -> Option<StatementKind> {
        Some(match kind {
            StatementKind::Assign { target, value } => {
                StatementKind::Assign { target: self.expr(target)?, value: self.expr(value)? }
            }
            StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: branches
                    .iter()
                    .map(|(c, body)| Some((self.expr(c)?, self.statements(body)?)))
                    .collect::<Option<_>>()?,
                otherwise: self.statements(otherwise)?,
            },
            StatementKind::For { local, range, body } => {
                let range = self.expr(range)?;
                let local = self.bind(*local)?;
                StatementKind::For { local, range, body: self.not_once(|w| w.statements(body))? }
            }
            StatementKind::While { condition, body } => self.not_once(|w| {
                Some(StatementKind::While { condition: w.expr(condition)?, body: w.statements(body)? })
            })?,
            StatementKind::Assert { condition, message, level } => StatementKind::Assert {
                condition: self.expr(condition)?,
                message: self.expr(message)?,
                level: match level {
                    Some(level) => Some(self.expr(level)?),
                    None => None,
                },
            },
            StatementKind::Call(call) => StatementKind::Call(self.expr(call)?),
            StatementKind::Break => StatementKind::Break,
            StatementKind::When { .. }
            | StatementKind::Reinit { .. }
            | StatementKind::Terminate { .. }
            | StatementKind::Return => return None,
        })
    }

    fn expr(&mut self, e: &Expr) -> Option<Expr> {
        let local = |id: LocalId| Some(Expr::new(ExprKind::Local(id), e.ty.clone(), e.span));
        if self.is_once && e.ty.is_scalar() && self.search.makes_event(e) {
            self.lifted.push(e);
            let name = format!("event{}", self.inputs.len() + 1);
            return local(self.input_of(name, e.clone()));
        }
        match &e.kind {
            ExprKind::Var(id) => {
                let known = self.variables.get(id).copied();
                let found = known.unwrap_or_else(|| self.input(self.name_of(*id), e.clone()));
                self.variables.insert(*id, found);
                local(found)
            }
            ExprKind::Local(id) => {
                let known = self.iterators.get(id).copied();
                let name = self.model.iterators.get(*id)?.name.clone();
                let found = known.unwrap_or_else(|| self.input(name, e.clone()));
                self.iterators.insert(*id, found);
                local(found)
            }
            ExprKind::Time => local(self.input_of("time".to_owned(), e.clone())),
            ExprKind::Builtin { function, arguments } => self.builtin(*function, arguments, e),
            ExprKind::Reduction { op, body, iterators } => {
                let mut bound = Vec::with_capacity(iterators.len());
                for (k, i) in iterators.iter().enumerate() {
                    let range = if k == 0 { self.expr(&i.range) } else { self.not_once(|w| w.expr(&i.range)) }?;
                    bound.push(saltus_flat::Iterator { local: self.bind(i.local)?, range });
                }
                let body = Box::new(self.not_once(|w| w.expr(body))?);
                Some(Expr::new(ExprKind::Reduction { op: *op, body, iterators: bound }, e.ty.clone(), e.span))
            }
            ExprKind::Call { function, .. } => {
                self.is_impure |= self.model.functions.get(*function)?.purity == Purity::Impure;
                self.children(e)
            }
            ExprKind::CallLocal { .. } | ExprKind::Error => None,
            ExprKind::If { condition, then, otherwise } => {
                let condition = Box::new(self.expr(condition)?);
                let then = Box::new(self.not_once(|w| w.expr(then))?);
                let otherwise = Box::new(self.not_once(|w| w.expr(otherwise))?);
                Some(Expr::new(ExprKind::If { condition, then, otherwise }, e.ty.clone(), e.span))
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let left = Box::new(self.expr(left)?);
                let right = Box::new(self.not_once(|w| w.expr(right))?);
                Some(Expr::new(ExprKind::Binary(*op, left, right), e.ty.clone(), e.span))
            }
            _ => self.children(e),
        }
    }

    fn children(&mut self, e: &Expr) -> Option<Expr> {
        let mut originals = Vec::new();
        e.for_each_child(&mut |child| originals.push(child));
        let mut originals = originals.into_iter();
        let mut copy = e.clone();
        let mut is_possible = true;
        copy.for_each_child_mut(&mut |child| match originals.next().and_then(|original| self.expr(original)) {
            Some(new) => *child = new,
            None => is_possible = false,
        });
        is_possible.then_some(copy)
    }

    fn builtin(&mut self, function: Builtin, arguments: &[Expr], e: &Expr) -> Option<Expr> {
        use Builtin as B;
        match (function, arguments) {
            // What stands inside makes no events in a function anyway.
            (B::NoEvent, [inner]) => self.not_once(|w| w.expr(inner)),
            (B::Smooth, _) => self.not_once(|w| w.children(e)),
            (B::Pre, [of]) => self.before(of),
            (B::Edge, [of]) => {
                let (now, before) = (self.expr(of)?, self.before(of)?);
                let not = Expr::new(ExprKind::Unary(UnaryOp::Not, Box::new(before)), e.ty.clone(), e.span);
                Some(Expr::new(ExprKind::Binary(BinaryOp::And, Box::new(now), Box::new(not)), e.ty.clone(), e.span))
            }
            (B::Change, [of]) => {
                let (now, before) = (self.expr(of)?, self.before(of)?);
                let kind = ExprKind::Binary(BinaryOp::NotEqual, Box::new(now), Box::new(before));
                Some(Expr::new(kind, e.ty.clone(), e.span))
            }
            (B::Reinit | B::Assert | B::Terminate | B::Clock | B::Transition | B::InitialState, _) => None,
            _ if belongs_to_simulation(function) => {
                let name = format!("{}{}", function.name(), self.inputs.len() + 1);
                let local = self.is_free(e).then(|| self.input_of(name, e.clone()))?;
                Some(Expr::new(ExprKind::Local(local), e.ty.clone(), e.span))
            }
            _ => self.children(e),
        }
    }

    /// `pre(x[i])` is an element of the input `pre(x)`.
    fn before(&mut self, of: &Expr) -> Option<Expr> {
        match &of.kind {
            ExprKind::Var(id) => {
                let before = Expr::builtin(Builtin::Pre, vec![of.clone()], of.ty.clone(), of.span);
                let local = self.input_of(format!("pre({})", self.name_of(*id)), before);
                Some(Expr::new(ExprKind::Local(local), of.ty.clone(), of.span))
            }
            ExprKind::Index { base, subscripts } => {
                let base = Box::new(self.before(base)?);
                let subscripts = subscripts
                    .iter()
                    .map(|s| {
                        use saltus_flat::Subscript as S;
                        Some(match s {
                            S::Index(e) => S::Index(self.expr(e)?),
                            S::Slice(e) => S::Slice(self.expr(e)?),
                            S::All => S::All,
                        })
                    })
                    .collect::<Option<_>>()?;
                Some(Expr::new(ExprKind::Index { base, subscripts }, of.ty.clone(), of.span))
            }
            _ => None,
        }
    }

    /// Does it depend on nothing that changes inside of the part?
    fn is_free(&self, e: &Expr) -> bool {
        let mut is_free = e.ty.base != BaseType::Clock;
        e.walk(&mut |part| match &part.kind {
            ExprKind::Local(id) => is_free &= !self.bound.contains(id),
            ExprKind::Var(id) => is_free &= !self.assigned.contains(id),
            _ => {}
        });
        is_free
    }
}

/// Operators that functions do not have.
fn belongs_to_simulation(function: Builtin) -> bool {
    use Builtin as B;
    matches!(
        function,
        B::Der
            | B::Delay
            | B::SpatialDistribution
            | B::Homotopy
            | B::SemiLinear
            | B::InStream
            | B::ActualStream
            | B::Cardinality
            | B::GetInstanceName
            | B::Initial
            | B::Terminal
            | B::Sample
            | B::Previous
            | B::Hold
            | B::SubSample
            | B::SuperSample
            | B::ShiftSample
            | B::BackSample
            | B::NoClock
            | B::FirstTick
            | B::Interval
            | B::ActiveState
            | B::TicksInState
            | B::TimeInState
            | B::Excursion
    )
}
