//! The value of one field of a record that a constructor call makes, without the others.
//!
//! ```text
//! parameter R r = R(n = 3, x = y);        r.n is 3, whatever `y` is like
//! parameter Integer n = r.n;
//! parameter Real y[n] = ones(n);          its size is needed before `R(n = 3, x = y)` has a type
//! ```
//!
//! Elsewhere the value of a whole record is typed at once, so that a mistake in it is found at its place. Where a size is being found that is a
//! circle in the text and none in the values: only the argument of the field is looked at then (specification 10.1: a size depends on what its
//! expression depends on).

use saltus_flat as flat;
use saltus_syntax::ast;

use crate::Front;
use crate::instance::{CompId, InstId, Member, Memo};
use crate::modifier::ModExpr;

/// Records inside of records that are looked through.
const MOST_LEVELS: u32 = 50;

impl<'a> Front<'a> {
    /// The argument that gives a field its value, if the whole record cannot or need not be typed now.
    pub fn value_of_argument(&mut self, field: CompId, record: CompId) -> Option<flat::Expr> {
        let is_being_found = matches!(self.tree[record].memo.written, Memo::InProgress);
        if !is_being_found && self.sizes.so_far.is_empty() {
            return None;
        }
        let (value, scope) = self.written_argument(field, 0)?;
        let mark = self.messages.mark();
        let typed = self.isolated(|front| front.expression(scope, value));
        if typed.is_error() {
            // The value as a whole tells what is wrong.
            self.messages.take_back(mark);
            return None;
        }
        self.sizes.taken_apart.push(record);
        Some(typed)
    }

    /// The text that gives a component its value.
    fn written_argument(&mut self, comp: CompId, level: u32) -> Option<(&'a ast::Expr, InstId)> {
        if level > MOST_LEVELS {
            return None;
        }
        let own = self.tree[comp].modifier.as_ref().and_then(|m| m.value.clone());
        let around = self.tree[self.tree[comp].owner].owner;
        match around.filter(|&record| self.has_value(record) && !own.as_ref().is_some_and(|v| v.beats_binding)) {
            Some(record) => {
                if !self.comp_subscripts(record).is_empty() {
                    return None;
                }
                let (value, scope) = self.written_argument(record, level + 1)?;
                self.argument_of_field(value, scope, self.tree[comp].name)
            }
            None => match own? {
                value if value.indices.is_empty() => match value.expr {
                    ModExpr::Ast(expr, scope) => Some((expr, scope)),
                    ModExpr::Break => None,
                },
                _ => None,
            },
        }
    }

    /// `e2` of `R(x = e1, y = e2)` for the field `y`.
    fn argument_of_field(
        &mut self,
        value: &'a ast::Expr,
        scope: InstId,
        field: saltus_base::Name,
    ) -> Option<(&'a ast::Expr, InstId)> {
        let ast::ExprKind::Call(call) = &value.kind else { return None };
        if !call.iterators.is_empty() {
            return None;
        }
        let Some(Member::Class(slot)) = self.lookup_reference_class(scope, &call.name) else { return None };
        let inst = self.slot_instance(slot);
        if self.simple_type(slot).is_some() || self.defining_class(inst).1 != ast::ClassKind::Record {
            return None;
        }
        if let Some(named) = call.named.iter().find(|n| n.name.name == field) {
            return Some((&named.value, scope));
        }
        let constructor = self.function_of(slot);
        let text = self.text(field);
        let inputs = self.settable_inputs(constructor);
        let entry = &self.functions[constructor];
        let k = inputs.iter().position(|&k| entry.locals[entry.inputs[k]].name == text)?;
        Some((call.arguments.get(k)?, scope))
    }

    /// Types the records of which only single fields have been looked at, for the mistakes in the rest.
    pub fn check_taken_apart(&mut self) {
        for record in std::mem::take(&mut self.sizes.taken_apart) {
            self.comp_binding(record);
        }
    }
}
