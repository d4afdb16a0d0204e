//! Records made from components of models, blocks and connectors (specification 12.6.1).
//!
//! ```text
//! model M  Real x; Real y;  end M;      record R  Real y;  end R;
//! M m;  M a[2];
//! R r = R(m);                           ⇒  R(y = m.y)
//! R s[2] = R(a);                        ⇒  {R(y = a[1].y), R(y = a[2].y)}
//! ```
//!
//! The argument is a single reference to a component that is not a value by itself. While it is typed, the record is the *cast* of the
//! context: where a value is wanted of such a component, a record of its public elements is made.

use saltus_base::Span;
use saltus_flat::{BaseType, Dim, Expr, FunctionId, Type};
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member, SlotId};
use crate::reference::nest;

impl<'a> Front<'a> {
    /// `R(m)` for a component `m` that is not a record; `None` for every other call of a constructor.
    pub fn record_cast(&mut self, scope: InstId, record: SlotId, call: &'a ast::Call) -> Option<Expr> {
        let [argument] = call.arguments.as_slice() else { return None };
        let ast::ExprKind::Ref(reference) = &argument.kind else { return None };
        if !call.named.is_empty() || !call.iterators.is_empty() || reference.is_global {
            return None;
        }
        let first = reference.parts.first()?;
        if self.iterator(first.name.name).is_some() {
            return None;
        }
        let comp = self.component_of_part(scope, reference, reference.parts.len() - 1)?;
        if self.tree[self.tree[comp].owner].function.is_some() {
            return None;
        }
        let CompKind::Class(class) = self.comp_kind(comp) else { return None };
        if self.is_record(class.slot) {
            return None;
        }
        let around = self.context.cast.replace(record);
        let value = self.reference(scope, reference);
        self.context.cast = around;
        Some(value)
    }

    /// The record that is made of one instance.
    pub fn cast_instance(&mut self, record: SlotId, inst: InstId, span: Span) -> Expr {
        self.expand(inst);
        let constructor = self.function_of(record);
        let mut arguments = vec![None; self.functions[constructor].inputs.len()];
        for k in self.settable_inputs(constructor) {
            let input = self.functions[constructor].inputs[k];
            let text = self.functions[constructor].locals[input].name.clone();
            let Some(comp) = self.public_component(inst, &text) else { continue };
            if self.tree[comp].declared.condition.is_some() {
                self.report(d::cast_of_conditional(&self.comp_name(comp), span, self.tree[comp].declared.span));
                return Expr::error(span);
            }
            arguments[k] = Some(self.cast_component(constructor, k, comp, span));
        }
        self.typed_call(constructor, arguments, span)
    }

    fn public_component(&mut self, inst: InstId, name: &str) -> Option<CompId> {
        let components = self.tree[inst].members.components.clone();
        let found = components.into_iter().find(|&comp| self.text(self.tree[comp].name) == name)?;
        let name = self.tree[found].name;
        match self.member(inst, name)? {
            Member::Component(comp) if !self.tree[comp].prefixes.is_protected => Some(self.actual(comp)),
            _ => None,
        }
    }

    /// The argument for a field: the component itself, or a record made of it in turn.
    fn cast_component(&mut self, constructor: FunctionId, field: usize, comp: CompId, span: Span) -> Expr {
        let class = match self.comp_kind(comp) {
            CompKind::Class(class) if !self.is_record(class.slot) => class,
            _ => return self.whole_component(comp, span),
        };
        let Some(record) = self.class_of_field(constructor, field) else {
            return self.whole_component(comp, span);
        };
        let dims = self.comp_dims(comp);
        let values: Vec<Expr> =
            class.elements.iter().map(|&element| self.cast_instance(record, element, span)).collect();
        if values.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        match self.cast_type(record, dims.iter().map(|&n| Dim::Known(n)).collect()) {
            Some(ty) => nest(values, &dims, &ty, span),
            None => Expr::error(span),
        }
    }

    /// An array of records of the class.
    pub fn cast_type(&mut self, record: SlotId, dims: Vec<Dim>) -> Option<Type> {
        self.record_of_slot(record, None).map(|id| Type::array(BaseType::Record(id), dims))
    }

    /// The class of a field of a record.
    fn class_of_field(&mut self, constructor: FunctionId, field: usize) -> Option<SlotId> {
        let entry = &self.functions[constructor];
        let local = entry.inputs[field];
        let comp = entry.components.iter().copied().find(|&c| self.tree[c].local == Some(local))?;
        let (scope, clause) = (self.tree[comp].declared.scope, self.tree[comp].declared.clause);
        let slot = self.lookup_class(scope, &clause.type_name)?;
        self.is_record(slot).then_some(slot)
    }
}
