//! Protected elements: used and modified inside their class only (specification 4.1), and partial classes: nothing is
//! used from inside them (5.3.2).

use saltus_base::Span;
use saltus_library::ClassId;
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, InstId, Member, SlotId};
use crate::modifier::Mod;

impl<'a> Front<'a> {
    fn is_hidden(&self, member: Member) -> bool {
        match member {
            Member::Component(comp) => self.tree[comp].declared.is_hidden,
            Member::Class(slot) => self.tree[slot].is_protected || self.tree[self.tree[slot].scope].is_protected_base,
        }
    }

    fn declared_at(&self, member: Member) -> Span {
        match member {
            Member::Component(comp) => self.tree[comp].declared.span,
            Member::Class(slot) => self.tree[slot].definition.name.span,
        }
    }

    /// `component.member`.
    pub fn check_visible_in(&mut self, component: CompId, member: Member, name: &ast::Ident) {
        if self.is_hidden(member) {
            let of = self.comp_name(component);
            let declared = self.declared_at(member);
            self.report_always(d::protected_access(self.text(name.name), &of, name.span, declared));
        }
    }

    /// `Class.member`, written in `scope`; inside of the class everything is visible.
    pub fn check_visible_through(&mut self, scope: InstId, slot: SlotId, member: Member, name: &ast::Ident) {
        let class = self.tree[slot].class;
        if self.is_hidden(member) && !self.lies_in(scope, class) {
            let of = self.library.qualified_name(class);
            let declared = self.declared_at(member);
            self.report_always(d::protected_access(self.text(name.name), &of, name.span, declared));
        }
    }

    /// Whether a scope is the class, one that extends it, or lexically inside of one of these.
    fn lies_in(&self, scope: InstId, class: ClassId) -> bool {
        let mut at = scope;
        loop {
            if self.has_base(self.outermost(at), class) {
                return true;
            }
            if at == self.tree.root {
                return false;
            }
            at = self.tree[at].scope;
        }
    }

    fn has_base(&self, inst: InstId, class: ClassId) -> bool {
        let i = &self.tree[inst];
        i.class == class || i.members.bases.iter().any(|&base| self.has_base(base, class))
    }

    /// Modifications of a component reach its public elements only.
    pub fn check_modified_visible(&mut self, inst: InstId, modifier: &Mod<'a>) {
        for (name, sub) in &modifier.subs {
            let Some(member) = self.member(inst, *name).filter(|&m| self.is_hidden(m)) else { continue };
            let class = self.library.qualified_name(self.tree[inst].class);
            let declared = self.declared_at(member);
            self.report_always(d::protected_modification(self.text(*name), &class, sub.span, declared));
        }
    }

    /// A class that is partial for good: nothing can redeclare it with a complete one. Reports a use from inside it.
    pub fn check_inside_complete(&mut self, scope: InstId, slot: SlotId, path: &str, span: Span) {
        let s = &self.tree[slot];
        let (class, definition) = (s.class, s.definition);
        if definition.is_partial && !s.is_replaceable && !self.request.allow_partial && !self.lies_in(scope, class) {
            let name = self.library.qualified_name(class);
            self.report_always(d::inside_partial(path, &name, span, definition.name.span));
        }
    }
}
