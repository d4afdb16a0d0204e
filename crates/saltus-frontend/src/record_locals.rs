//! Records in functions: the fields of a record take the values of its modification and of its class
//! (specification 12.4.4); for an input these are what a call without that argument means.
//!
//! ```text
//! output Complex c(re = a, im = b);    ⇒    output Complex c = Complex(a, b)
//! protected R r(x = 1);                ⇒    r.x := 1, where the other fields of R have no value
//! ```

use saltus_flat::{self as flat, BaseType, Expr, ExprKind, FunctionId, LocalId, StatementKind};
use saltus_typing as typing;

use crate::Front;
use crate::instance::CompId;

impl Front<'_> {
    /// The value of a record without one of its own, where every field has a value.
    pub fn record_default(&mut self, comp: CompId, local: LocalId) -> Option<Expr> {
        let (constructor, arguments) = self.modified_fields(comp, local)?;
        let inputs = self.functions[constructor].inputs.clone();
        let span = self.tree[comp].declared.span;
        for (&input, argument) in inputs.iter().zip(&arguments) {
            if argument.is_none() && self.local_default(constructor, input).is_none() {
                return None;
            }
        }
        let value = self.typed_call(constructor, arguments, span);
        (!value.is_error()).then_some(value)
    }

    /// Assignments of the modified fields of records that have no value as a whole.
    pub fn assign_modified_fields(&mut self, function: FunctionId, body: &mut Vec<flat::Statement>) {
        for comp in self.functions[function].components.clone() {
            let Some(local) = self.tree[comp].local else { continue };
            if self.functions[function].locals[local].default.is_some() || self.is_input(local) {
                continue;
            }
            let Some((_, arguments)) = self.modified_fields(comp, local) else { continue };
            let (ty, span) = (self.local_type_of(local), self.tree[comp].declared.span);
            let BaseType::Record(id) = ty.base else { continue };
            for (field, value) in self.types.records[id].clone().fields.iter().zip(arguments) {
                let Some(value) = value else { continue };
                let whole = Expr::new(ExprKind::Local(local), ty.clone(), span);
                let target = typing::field(self, whole, &field.name, span);
                body.push(flat::Statement { kind: StatementKind::Assign { target, value }, span });
            }
        }
    }

    /// The constructor of a record local and the values that its declaration gives to the fields.
    fn modified_fields(&mut self, comp: CompId, local: LocalId) -> Option<(FunctionId, Vec<Option<Expr>>)> {
        let ty = self.local_type_of(local);
        let c = &self.tree[comp];
        let (scope, clause, modifier) = (c.declared.scope, c.declared.clause, c.modifier.clone());
        if !matches!(ty.base, BaseType::Record(_)) || ty.rank() > 0 {
            return None;
        }
        let slot = self.lookup_class(scope, &clause.type_name)?;
        let constructor = self.function_of(slot);
        let inputs = self.functions[constructor].inputs.clone();
        let mut arguments = Vec::with_capacity(inputs.len());
        for input in inputs {
            let (name, ty) = {
                let field = &self.functions[constructor].locals[input];
                (field.name.clone(), field.ty.clone())
            };
            let name_id = self.library.intern(&name);
            let value = modifier.as_ref().and_then(|m| m.sub(name_id)).and_then(|m| m.value.clone());
            arguments.push(
                value
                    .and_then(|v| self.mod_value(&v, ty.rank()))
                    .map(|e| typing::convert(self, e, &ty, typing::Place::Binding { variable: &name })),
            );
        }
        Some((constructor, arguments))
    }
}
