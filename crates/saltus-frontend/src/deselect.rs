//! `extends A(break c, break connect(a, b))`: components and connections that a class does not take over from its base.
//!
//! ```text
//! model B extends A(break r); end B;      B has neither `r` nor the connections of A that name it
//! ```
//!
//! Only models, blocks and connectors can be removed. Everything else that names a removed component is a mistake, found
//! when its name is looked up.

use saltus_base::Span;
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{InstId, Member};
use crate::modifier::{Deselected, Mod};

impl<'a> Front<'a> {
    /// Whether the modification of an instance takes a component away.
    pub fn deselects(&mut self, inst: InstId, modifier: Option<&Mod<'a>>, clause: &'a ast::ComponentClause) -> bool {
        let Some(modifier) = modifier.filter(|m| m.is_deselected) else { return false };
        let Some(slot) = self.lookup_class(inst, &clause.type_name) else { return true };
        let of_type = self.slot_instance(slot);
        let kind = match self.simple_type(slot) {
            Some(_) => ast::ClassKind::Type,
            None => self.defining_class(of_type).1,
        };
        let is_removable = matches!(
            kind,
            ast::ClassKind::Model
                | ast::ClassKind::Block
                | ast::ClassKind::Class
                | ast::ClassKind::Connector
                | ast::ClassKind::ExpandableConnector
        );
        if !is_removable {
            let name = self.source_text(modifier.span);
            self.report(d::deselects_no_component(&name, modifier.span));
        }
        true
    }

    /// `break x` in the `extends` of `base`: there is a component `x` that it removed.
    pub fn check_deselected(&mut self, base: InstId, modifier: &Mod<'a>) {
        for (name, sub) in modifier.subs.iter().filter(|(_, m)| m.is_deselected) {
            if self.has_deselected(base, *name) {
                continue;
            }
            let text = self.text(*name);
            match self.member(base, *name) {
                Some(Member::Class(_)) => self.report(d::deselects_no_component(text, sub.span)),
                _ if self.tree[base].members.is_incomplete => {}
                _ => {
                    let class = self.library.qualified_name(self.tree[base].class);
                    let nearest = self.nearest_name(base, text, false);
                    self.report(d::no_such_element(text, &class, nearest.as_deref(), sub.span));
                }
            }
        }
    }

    fn has_deselected(&self, inst: InstId, name: saltus_base::Name) -> bool {
        let i = &self.tree[inst];
        i.members.deselected.contains(&name) || i.members.bases.iter().any(|&base| self.has_deselected(base, name))
    }

    /// Whether a connection written in `inst` is not taken over by the class that extends it.
    pub fn is_deselected_connection(
        &mut self,
        inst: InstId,
        from: &'a ast::ComponentRef,
        to: &'a ast::ComponentRef,
    ) -> bool {
        let names_removed = [from, to]
            .into_iter()
            .any(|r| r.parts.first().is_some_and(|p| self.has_deselected(self.outermost(inst), p.name.name)));
        if names_removed {
            return true;
        }
        let Some(modifier) = self.tree[inst].modifier.clone() else { return false };
        let mut is_deselected = false;
        for Deselected { from: f, to: t, span } in &modifier.deselected_connections {
            let (f, t) = (self.source_text(f.span), self.source_text(t.span));
            let (a, b) = (self.source_text(from.span), self.source_text(to.span));
            if (f == a && t == b) || (f == b && t == a) {
                self.checks.found_deselected.insert(*span);
                is_deselected = true;
            }
        }
        is_deselected
    }

    /// Every `break connect` must have found its connection.
    pub fn check_deselected_connections(&mut self) {
        for Deselected { from, to, span } in std::mem::take(&mut self.checks.deselected_connections) {
            if !self.checks.found_deselected.contains(&span) {
                let (from, to) = (self.source_text(from.span), self.source_text(to.span));
                self.report(d::deselects_no_connection(&from, &to, span));
            }
        }
    }

    /// The instance that a base belongs to.
    pub fn outermost(&self, inst: InstId) -> InstId {
        let mut at = inst;
        while let Some(derived) = self.tree[at].derived {
            at = derived;
        }
        at
    }

    /// The text of the source at a place, without white space.
    pub fn source_text(&self, span: Span) -> String {
        self.library.with_sources(|sources| sources.slice(span).split_whitespace().collect())
    }
}
