//! Modification environments: what the surroundings of an element say about it.
//!
//! ```text
//! Resistor r[3](each T = 300, R = {1, 2, 3})   ⇒   on `r`:  T ↦ 300 (each), R ↦ {1, 2, 3}
//!                                                  on `r[2]`: T ↦ 300,      R ↦ {1, 2, 3}[2]
//! ```
//!
//! A [`Mod`] is immutable and shared. An expression in it is not typed before its value is needed; until then it
//! is the syntax tree together with the instance in whose scope it was written. Outer modifications win over inner
//! ones ([`merge`]). Specification chapter 7.

use std::rc::Rc;

use saltus_base::{Name, Span};
use saltus_flat::{Expr, ExprKind, LocalId, Type};
use saltus_library::ClassId;
use saltus_syntax::ast;

use crate::instance::InstId;

pub type ModRef<'a> = Option<Rc<Mod<'a>>>;

#[derive(Clone, Debug)]
pub struct Mod<'a> {
    pub value: Option<ModValue<'a>>,
    /// Replacements of the element, innermost first.
    pub redeclares: Vec<Redeclare<'a>>,
    pub subs: Vec<(Name, Rc<Mod<'a>>)>,
    pub is_each: bool,
    pub is_final: bool,
    /// `break name`: the element is removed.
    pub is_deselected: bool,
    /// `break connect(a, b)`: these connections are removed.
    pub deselected_connections: Vec<Deselected<'a>>,
    pub span: Span,
}

/// A connection that a base class has and the class that extends it does not want.
#[derive(Clone, Copy, Debug)]
pub struct Deselected<'a> {
    pub from: &'a ast::ComponentRef,
    pub to: &'a ast::ComponentRef,
    pub span: Span,
}

/// Which element of an array of components, in one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// Counts from 1.
    At(u32),
    /// Each of an array whose elements are alike, by the iterator that stands for it.
    Each(LocalId),
}

impl Position {
    pub fn subscript(self, span: Span) -> Expr {
        match self {
            Position::At(i) => Expr::integer(i64::from(i), span),
            Position::Each(local) => Expr::new(ExprKind::Local(local), Type::INTEGER, span),
        }
    }
}

/// The right-hand side of `name = value`.
#[derive(Clone, Debug)]
pub struct ModValue<'a> {
    pub expr: ModExpr<'a>,
    /// Positions inside the arrays of components that lie between the modification and the element.
    pub indices: Vec<Position>,
    /// Comes from further outside than the value of the record it belongs to.
    pub beats_binding: bool,
    /// Stands in the place of a value that was given further inside.
    pub replaces_value: bool,
    /// Holds for each element of an array also if `each` is missing.
    pub may_be_each: bool,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum ModExpr<'a> {
    /// An expression in the scope of the instance where it was written.
    Ast(&'a ast::Expr, InstId),
    /// `= break`: no value.
    Break,
}

#[derive(Clone, Debug)]
pub enum Redeclare<'a> {
    Class {
        class: ClassId,
        scope: InstId,
        span: Span,
        constrained_by: Option<&'a ast::ConstrainedBy>,
    },
    Component {
        clause: &'a ast::ComponentClause,
        component: &'a ast::Component,
        scope: InstId,
        span: Span,
        /// `redeclare replaceable`: it may be redeclared again.
        is_replaceable: bool,
        constrained_by: Option<&'a ast::ConstrainedBy>,
        /// Positions inside the arrays of components that lie between the redeclaration and the element.
        indices: Vec<Position>,
    },
}

impl<'a> Mod<'a> {
    pub fn empty(span: Span) -> Mod<'a> {
        Mod {
            value: None,
            redeclares: Vec::new(),
            subs: Vec::new(),
            is_each: false,
            is_final: false,
            is_deselected: false,
            deselected_connections: Vec::new(),
            span,
        }
    }

    pub fn is_empty(&self) -> bool {
        !self.says_something() && self.deselected_connections.is_empty()
    }

    /// Whether it changes the element that it is about.
    pub fn says_something(&self) -> bool {
        self.value.is_some() || !self.redeclares.is_empty() || !self.subs.is_empty() || self.is_deselected
    }

    pub fn sub(&self, name: Name) -> ModRef<'a> {
        self.subs.iter().find(|(n, _)| *n == name).map(|(_, m)| m.clone())
    }

    /// The same modification without its redeclarations: what remains once they have been carried out.
    pub fn without_redeclares(self: &Rc<Self>) -> ModRef<'a> {
        if self.redeclares.is_empty() {
            return Some(self.clone());
        }
        let rest = Mod { redeclares: Vec::new(), ..(**self).clone() };
        (!rest.is_empty()).then(|| Rc::new(rest))
    }

    /// Only the parts below the element, not its own value.
    pub fn without_value(self: &Rc<Self>) -> ModRef<'a> {
        if self.value.is_none() {
            return Some(self.clone());
        }
        let rest = Mod { value: None, ..(**self).clone() };
        (!rest.is_empty()).then(|| Rc::new(rest))
    }

    /// Only the value of the element, not the parts below it.
    pub fn value_alone(&self) -> ModRef<'a> {
        self.value.as_ref()?;
        Some(Rc::new(Mod { value: self.value.clone(), is_each: self.is_each, ..Mod::empty(self.span) }))
    }

    /// The modification of the element at position `index` of an array of components.
    pub fn at_index(self: &Rc<Self>, index: &[Position]) -> Rc<Mod<'a>> {
        if index.is_empty() {
            return self.clone();
        }
        Rc::new(Mod {
            value: self.value.as_ref().map(|v| v.at_index(index)),
            redeclares: self.redeclares.iter().map(|r| r.at_index(index)).collect(),
            subs: self.subs.iter().map(|(n, m)| (*n, if m.is_each { m.clone() } else { m.at_index(index) })).collect(),
            deselected_connections: self.deselected_connections.clone(),
            ..**self
        })
    }

    /// The same for values of a redeclaration: one that has no element for `index` holds for each.
    pub fn redeclared_at(self: &Rc<Self>, index: &[Position]) -> Rc<Mod<'a>> {
        let marked = self.with_each_optional();
        marked.at_index(index)
    }

    fn with_each_optional(self: &Rc<Self>) -> Rc<Mod<'a>> {
        let value = self.value.clone().map(|v| ModValue { may_be_each: true, ..v });
        let subs = self.subs.iter().map(|(n, m)| (*n, m.with_each_optional())).collect();
        Rc::new(Mod { value, subs, ..(**self).clone() })
    }

    fn beating_binding(self: &Rc<Self>) -> Rc<Mod<'a>> {
        let value = self.value.clone().map(|v| ModValue { beats_binding: true, ..v });
        let subs = self.subs.iter().map(|(n, m)| (*n, m.beating_binding())).collect();
        let deselected_connections = self.deselected_connections.clone();
        Rc::new(Mod { value, subs, redeclares: self.redeclares.clone(), deselected_connections, ..**self })
    }
}

impl<'a> Redeclare<'a> {
    fn at_index(&self, index: &[Position]) -> Redeclare<'a> {
        let mut redeclare = self.clone();
        if let Redeclare::Component { indices, .. } = &mut redeclare {
            indices.extend_from_slice(index);
        }
        redeclare
    }
}

impl<'a> ModValue<'a> {
    pub fn at_index(&self, index: &[Position]) -> ModValue<'a> {
        let mut value = self.clone();
        value.indices.extend_from_slice(index);
        value
    }
}

/// `outer` over `inner`.
pub fn merge<'a>(outer: &ModRef<'a>, inner: &ModRef<'a>) -> ModRef<'a> {
    match (outer, inner) {
        (None, m) | (m, None) => m.clone(),
        (Some(outer), Some(inner)) => Some(merge_both(outer, inner)),
    }
}

fn merge_both<'a>(outer: &Rc<Mod<'a>>, inner: &Rc<Mod<'a>>) -> Rc<Mod<'a>> {
    if inner.is_empty() && !inner.is_final {
        return outer.clone();
    }
    if outer.is_empty() && !outer.is_final {
        return inner.clone();
    }
    let inner = &without_redeclared(inner, &outer.redeclares);
    let outer_beats = inner.value.is_some() && outer.value.is_none();
    let mut subs = inner.subs.clone();
    for (name, from_outer) in &outer.subs {
        let from_outer = if outer_beats { from_outer.beating_binding() } else { from_outer.clone() };
        match subs.iter_mut().find(|(n, _)| n == name) {
            Some((_, slot)) => *slot = merge_both(&from_outer, slot),
            None => subs.push((*name, from_outer)),
        }
    }
    let mut redeclares = inner.redeclares.clone();
    redeclares.extend_from_slice(&outer.redeclares);
    let mut deselected_connections = inner.deselected_connections.clone();
    deselected_connections.extend_from_slice(&outer.deselected_connections);
    Rc::new(Mod {
        value: merge_values(outer.value.as_ref(), inner.value.as_ref()),
        redeclares,
        subs,
        is_each: outer.is_each,
        is_final: outer.is_final || inner.is_final,
        is_deselected: outer.is_deselected || inner.is_deselected,
        deselected_connections,
        span: outer.span,
    })
}

/// A modification without what a redeclaration from further outside says anew: `redeclare T x(a = 1) = y` beats the value
/// that somebody nearer gave to `x`, and to its `a`.
fn without_redeclared<'a>(inner: &Rc<Mod<'a>>, redeclares: &[Redeclare<'a>]) -> Rc<Mod<'a>> {
    let Some(Redeclare::Component { component, .. }) = redeclares.last() else { return inner.clone() };
    let Some(new) = &component.modification else { return inner.clone() };
    without_given(inner, new)
}

fn without_given<'a>(inner: &Rc<Mod<'a>>, new: &ast::Modification) -> Rc<Mod<'a>> {
    let mut rest = (**inner).clone();
    if new.value.is_some() {
        rest.value = None;
    }
    for argument in new.class.iter().flat_map(|c| &c.arguments) {
        let ast::Argument::Modification(element) = argument else { continue };
        let ([name], Some(modification)) = (element.name.parts.as_slice(), &element.modification) else { continue };
        if let Some((_, sub)) = rest.subs.iter_mut().find(|(n, _)| *n == name.name) {
            *sub = without_given(sub, modification);
        }
    }
    Rc::new(rest)
}

fn merge_values<'a>(outer: Option<&ModValue<'a>>, inner: Option<&ModValue<'a>>) -> Option<ModValue<'a>> {
    match (outer, inner) {
        (Some(outer), Some(inner)) => {
            let replaces_value = inner.replaces_value || matches!(inner.expr, ModExpr::Ast(..));
            Some(ModValue { replaces_value, ..outer.clone() })
        }
        (value, None) | (None, value) => value.cloned(),
    }
}

/// A final element that an outer modification tries to change: the place of the attempt and of the `final`.
pub fn final_violation<'a>(outer: &ModRef<'a>, inner: &ModRef<'a>) -> Option<(Span, Span)> {
    let (Some(outer), Some(inner)) = (outer, inner) else { return None };
    if inner.is_final && outer.says_something() {
        return Some((outer.span, inner.span));
    }
    outer.subs.iter().find_map(|(name, m)| final_violation(&Some(m.clone()), &inner.sub(*name)))
}
