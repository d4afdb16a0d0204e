//! An element that a class has twice, inherited or its own, must be the same both times (specification 7.1).
//!
//! ```text
//! model A Real x; end A;           model C extends A; Real x; end C;       one x
//!                                  model C extends A; Integer x; end C;    error[E0263]
//! ```

use std::rc::Rc;

use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, InstId};
use crate::modifier::{Mod, ModExpr, ModRef};

impl<'a> Front<'a> {
    pub fn check_duplicates(&mut self) {
        for (inst, first, second) in std::mem::take(&mut self.checks.duplicates) {
            self.check_same(inst, first, second);
        }
    }

    /// Two components of one name in `inst`; reports when they are not the same.
    fn check_same(&mut self, inst: InstId, first: CompId, second: CompId) {
        if self.is_same(first, second) {
            return;
        }
        let class = self.scope_name(inst);
        let (a, b) = (&self.tree[first], &self.tree[second]);
        let diagnostic = d::duplicate_differs(self.text(b.name), &class, b.declared.span, a.declared.span);
        self.report_once(diagnostic);
    }

    fn is_same(&mut self, first: CompId, second: CompId) -> bool {
        let (a, b) = (&self.tree[first], &self.tree[second]);
        let prefixes = |c: &crate::instance::Comp<'_>| {
            let p = &c.declared.clause.prefixes;
            (
                (c.declared.clause.variability, c.declared.clause.direction, c.declared.clause.connection),
                (p.is_final, p.is_inner, p.is_outer, p.is_replaceable, c.declared.is_hidden),
            )
        };
        if prefixes(a) != prefixes(b) {
            return false;
        }
        let (a_clause, b_clause) = (a.declared.clause, b.declared.clause);
        let (a_declaration, b_declaration) = (a.declared.declaration, b.declared.declaration);
        let (a_scope, b_scope) = (a.declared.scope, b.declared.scope);
        let (a_modifier, b_modifier) = (a.given.clone(), b.given.clone());
        if !std::ptr::eq(a_declaration, b_declaration) {
            let a_type = self.lookup_class(a_scope, &a_clause.type_name);
            let b_type = self.lookup_class(b_scope, &b_clause.type_name);
            let (Some(a_type), Some(b_type)) = (a_type, b_type) else { return true };
            if self.tree[a_type].class != self.tree[b_type].class {
                return false;
            }
            let sizes = |c: &'a ast::ComponentClause, d: &'a ast::Component| {
                d.subscripts.iter().chain(&c.subscripts).collect::<Vec<&'a ast::Subscript>>()
            };
            let (a_sizes, b_sizes) = (sizes(a_clause, a_declaration), sizes(b_clause, b_declaration));
            if a_sizes.len() != b_sizes.len() || a_sizes.iter().zip(&b_sizes).any(|(x, y)| !self.same_size(x, y)) {
                return false;
            }
            let condition = |d: &ast::Component| d.condition.as_ref().map(|c| self.source_text(c.span));
            if condition(a_declaration) != condition(b_declaration) {
                return false;
            }
        }
        self.same_modifier(&a_modifier, &b_modifier)
    }

    fn same_size(&self, a: &ast::Subscript, b: &ast::Subscript) -> bool {
        match (a, b) {
            (ast::Subscript::Colon(_), ast::Subscript::Colon(_)) => true,
            (ast::Subscript::Expr(a), ast::Subscript::Expr(b)) => self.source_text(a.span) == self.source_text(b.span),
            _ => false,
        }
    }

    fn same_modifier(&self, a: &ModRef<'a>, b: &ModRef<'a>) -> bool {
        match (a.as_ref().filter(|m| !m.is_empty()), b.as_ref().filter(|m| !m.is_empty())) {
            (None, None) => true,
            (Some(a), Some(b)) => Rc::ptr_eq(a, b) || self.same_mod(a, b),
            _ => false,
        }
    }

    fn same_mod(&self, a: &Mod<'a>, b: &Mod<'a>) -> bool {
        let same_value = match (&a.value, &b.value) {
            (None, None) => true,
            (Some(a), Some(b)) => match (a.expr, b.expr) {
                (ModExpr::Ast(x, _), ModExpr::Ast(y, _)) => {
                    std::ptr::eq(x, y) || self.source_text(x.span) == self.source_text(y.span)
                }
                (ModExpr::Break, ModExpr::Break) => true,
                _ => false,
            },
            _ => false,
        };
        same_value
            && a.redeclares.len() == b.redeclares.len()
            && a.subs.len() == b.subs.len()
            && a.subs.iter().all(|(name, x)| {
                b.subs.iter().any(|(n, y)| n == name && self.same_modifier(&Some(x.clone()), &Some(y.clone())))
            })
    }
}
