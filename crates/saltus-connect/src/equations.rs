//! The equations of connection sets (specification 9.2).
//!
//! ```text
//! potential   a = b; a = c;                    a: declared first
//! signal      gain.u = sine.y;                 the source on the right
//! parameter   assert(a.n == b.n, "…");
//! flow        a.i + b.i - p.i = 0;             − for outside connectors
//! stream      p.h_outflow = …;                 for outside connectors only
//! ```
//!
//! A set that stands for a box of them has one equation between array constructors in place of each of these.

use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::family::{Affine, Counter, affine_expr, spread};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Equation, EquationKind, Expr, ExprKind, Origin, Subscript, Type, UnaryOp, Variability,
};

use crate::check::source_role;
use crate::end::{reference, subscript_steps, subscripts, text, type_of};
use crate::fold::fold;
use crate::sets::{Connect, Folding, Member, Set};
use crate::{End, Face, Kind, StreamTable, Variables};

pub(crate) fn of_sets(
    sets: &[Set],
    connects: &[Connect],
    streams: &StreamTable,
    folding: Option<&Folding>,
    vars: &dyn Variables,
) -> Vec<Equation> {
    let mut generator = Generator { connects, vars, folding, equations: Vec::new() };
    for set in sets {
        let Some(first) = set.members.first() else { continue };
        if type_of(vars, first.end.var, first.end.element).n_elements() == Some(0) {
            continue;
        }
        match vars.kind(first.end.var) {
            Kind::Flow => generator.flow(set),
            Kind::Stream { .. } => generator.stream(set, streams),
            Kind::Potential if vars.variability(first.end.var) <= Variability::Parameter => generator.parameter(set),
            Kind::Potential => generator.potential(set),
        }
    }
    generator.equations
}

struct Generator<'a> {
    connects: &'a [Connect],
    vars: &'a dyn Variables,
    folding: Option<&'a Folding>,
    equations: Vec<Equation>,
}

impl Generator<'_> {
    fn potential(&mut self, set: &Set) {
        let sources: Vec<&Member> = set.members.iter().filter(|m| source_role(m.end, self.vars).is_some()).collect();
        if let [_, .., last] = sources[..] {
            return self.merge(set, &sources, last);
        }
        let Some(representative) = representative(set, self.vars) else { return };
        let Some(folding) = self.folding.filter(|f| set.dims.is_empty() && set.members.len() as u64 > f.fewest) else {
            for member in others(set, representative) {
                self.equal(set, representative, member);
            }
            return;
        };
        // Many elements of an array that all meet one connector.
        let pair = |member: &Member| {
            let members = vec![representative.clone(), member.clone()];
            Set { members, connect: set.connect, dims: Vec::new() }
        };
        for pair in fold(others(set, representative).map(pair), folding, self.vars) {
            if let [representative, member] = &pair.members[..] {
                self.equal(&pair, representative, member);
            }
        }
    }

    fn equal(&mut self, set: &Set, representative: &Member, member: &Member) {
        let (span, component) = self.place(member, set);
        let counters = self.counters(set);
        let first = self.reference(representative, &counters, span);
        let other = self.reference(member, &counters, span);
        let is_signal = source_role(representative.end, self.vars).is_some();
        let (left, right) = if is_signal { (other, first) } else { (first, other) };
        self.push_each(left, right, &counters, span, component);
    }

    /// The iterators of a set that stands for several.
    fn counters(&self, set: &Set) -> Vec<Counter> {
        let locals = self.folding.map_or(&[][..], |f| &f.iterators);
        set.dims.iter().zip(locals).map(|(&n, &local)| Counter { local, first: 1, step: 1, n }).collect()
    }

    /// A member, as it is for given values of the iterators of its set.
    fn reference(&self, member: &Member, counters: &[Counter], span: Span) -> Expr {
        let (var, ty) = (member.end.var, self.vars.ty(member.end.var));
        let Some(element) = member.end.element.filter(|_| !counters.is_empty()) else {
            return reference(self.vars, var, member.end.element, span);
        };
        let mut forms: Vec<Affine> =
            subscripts(ty, element).into_iter().map(|i| Affine { constant: i as i64, factors: Vec::new() }).collect();
        for &step in &member.steps {
            for (form, step) in forms.iter_mut().zip(subscript_steps(ty, element, step)) {
                form.constant -= step;
                form.factors.push(step);
            }
        }
        let subscripts = forms.iter().map(|form| Subscript::Index(affine_expr(form, counters, span))).collect();
        let whole = Expr::new(ExprKind::Var(var), ty.clone(), span);
        Expr::new(ExprKind::Index { base: Box::new(whole), subscripts }, Type::scalar(ty.base), span)
    }

    fn push_each(&mut self, left: Expr, right: Expr, counters: &[Counter], span: Span, component: Arc<str>) {
        let (left, right) = match counters {
            [] => (left, right),
            _ => (spread(left, counters, span), spread(right, counters, span)),
        };
        self.push(EquationKind::Equality { left, right }, span, component);
    }

    /// `u = if activeState(a) then a.y elseif activeState(b) then b.y else b.y`, for sources in states of a machine.
    fn merge(&mut self, set: &Set, sources: &[&Member], last: &Member) {
        for member in set.members.iter().filter(|m| source_role(m.end, self.vars).is_none()) {
            let (span, component) = self.place(member, set);
            let value = |end: End| reference(self.vars, end.var, end.element, span);
            let mut right = value(last.end);
            for source in sources.iter().rev() {
                let Some((_, state)) = self.vars.state(source.end.var) else { continue };
                let state = Expr::string(state, span);
                let condition = Expr::builtin(Builtin::ActiveState, vec![state], Type::BOOLEAN, span);
                let ty = right.ty.clone();
                let kind = ExprKind::If {
                    condition: Box::new(condition),
                    then: Box::new(value(source.end)),
                    otherwise: Box::new(right),
                };
                right = Expr::new(kind, ty, span);
            }
            let left = value(member.end);
            self.push(EquationKind::Equality { left, right }, span, component);
        }
    }

    fn parameter(&mut self, set: &Set) {
        let Some(representative) = representative(set, self.vars) else { return };
        for member in others(set, representative) {
            let (span, component) = self.place(member, set);
            // Relations are between scalars; a parameter array of unknown size does not exist in a model.
            let n = type_of(self.vars, member.end.var, member.end.element);
            let parts: Vec<Option<u64>> = match (member.end.element, n.n_elements()) {
                (None, Some(n)) if !self.vars.ty(member.end.var).is_scalar() => (0..n).map(Some).collect(),
                (element, _) => vec![element],
            };
            for part in parts {
                let pick = |end: End| End { element: part.filter(|_| end.element.is_none()).or(end.element), ..end };
                let (first, other) = (pick(representative.end), pick(member.end));
                let kind = self.equal_parameters(first, other, span);
                self.push(kind, span, component.clone());
            }
        }
    }

    fn equal_parameters(&self, first: End, other: End, span: Span) -> EquationKind {
        let message = format!(
            "the connected parameters {} and {} must have the same value",
            text(self.vars, first),
            text(self.vars, other)
        );
        let left = reference(self.vars, first.var, first.element, span);
        let right = reference(self.vars, other.var, other.element, span);
        let condition =
            Expr::new(ExprKind::Binary(BinaryOp::Equal, Box::new(left), Box::new(right)), Type::BOOLEAN, span);
        EquationKind::Assert { condition, message: Expr::string(&message, span), level: None }
    }

    fn flow(&mut self, set: &Set) {
        let Some(first) = set.members.first() else { return };
        let (span, component) = self.place(first, set);
        let ty = type_of(self.vars, first.end.var, first.end.element);
        let counters = self.counters(set);
        let terms: Vec<Term> = set
            .members
            .iter()
            .map(|m| Term {
                // The only member of a set is zero whatever its sign.
                is_negative: m.end.face == Face::Outside && set.members.len() > 1,
                value: self.reference(m, &counters, span),
            })
            .collect();
        let left = sum(terms, &ty, span);
        self.push_each(left, zero(&ty, span), &counters, span, component);
    }

    fn stream(&mut self, set: &Set, streams: &StreamTable) {
        for member in set.members.iter().filter(|m| m.end.face == Face::Outside) {
            let (span, component) = self.place(member, set);
            let Some(right) = streams.outflow(self.vars, member.end, span) else { continue };
            let left = reference(self.vars, member.end.var, member.end.element, span);
            self.push(EquationKind::Equality { left, right }, span, component);
        }
    }

    /// Where the equation that brings in `member` comes from.
    fn place(&self, member: &Member, set: &Set) -> (Span, Arc<str>) {
        match member.connect.or(set.connect).and_then(|i| self.connects.get(i as usize)) {
            Some(connect) => (connect.span, connect.component.clone()),
            None => (self.vars.span(member.end.var), "".into()),
        }
    }

    fn push(&mut self, kind: EquationKind, span: Span, component: Arc<str>) {
        self.equations.push(Equation { kind, origin: Origin::Connection, component, span });
    }
}

/// The source of a signal, else the member declared first.
fn representative<'a>(set: &'a Set, vars: &dyn Variables) -> Option<&'a Member> {
    set.members.iter().find(|m| source_role(m.end, vars).is_some()).or(set.members.first())
}

/// The members other than `representative`, each variable once: seen from both sides it is still the same variable.
fn others<'a>(set: &'a Set, representative: &'a Member) -> impl Iterator<Item = &'a Member> {
    let same = |a: &Member, b: &Member| (a.end.var, a.end.element) == (b.end.var, b.end.element);
    let members = &set.members;
    members
        .iter()
        .enumerate()
        .filter(move |(i, m)| !same(m, representative) && (*i == 0 || !same(&members[i - 1], m)))
        .map(|(_, m)| m)
}

pub(crate) struct Term {
    pub is_negative: bool,
    pub value: Expr,
}

/// Longer sums are built as a balanced tree, so that the depth of expressions stays small.
const LONGEST_CHAIN: usize = 32;

/// The sum of terms of the same type; zero for none.
pub(crate) fn sum(mut terms: Vec<Term>, ty: &Type, span: Span) -> Expr {
    if terms.len() > LONGEST_CHAIN {
        let rest = terms.split_off(terms.len() / 2);
        let (left, right) = (sum(terms, ty, span), sum(rest, ty, span));
        return binary(BinaryOp::Add, left, right, ty.clone(), span);
    }
    let total = terms.into_iter().fold(None, |total: Option<Expr>, term| {
        Some(match (total, term.is_negative) {
            (None, false) => term.value,
            (None, true) => Expr::new(ExprKind::Unary(UnaryOp::Negate, Box::new(term.value)), ty.clone(), span),
            (Some(total), is_negative) => {
                let op = if is_negative { BinaryOp::Sub } else { BinaryOp::Add };
                binary(op, total, term.value, ty.clone(), span)
            }
        })
    });
    total.unwrap_or_else(|| zero(ty, span))
}

pub(crate) fn binary(op: BinaryOp, left: Expr, right: Expr, ty: Type, span: Span) -> Expr {
    Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
}

/// Zero of a numeric type: `0`, or `fill(0, n, …)`.
pub(crate) fn zero(ty: &Type, span: Span) -> Expr {
    let element = match ty.base {
        BaseType::Integer => Expr::integer(0, span),
        _ => Expr::real(0.0, span),
    };
    if ty.is_scalar() {
        return element;
    }
    let sizes = ty.dims.iter().map(|d| Expr::integer(d.known().unwrap_or(0) as i64, span));
    Expr::builtin(Builtin::Fill, std::iter::once(element).chain(sizes).collect(), ty.clone(), span)
}
