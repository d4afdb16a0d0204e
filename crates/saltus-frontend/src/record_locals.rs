//! Records in functions: the fields of a record take the values of its modification and of its class
//! (specification 12.4.4); for an input these are what a call without that argument means.
//!
//! ```text
//! output Complex c(re = a, im = b);    ⇒    output Complex c = Complex(a, b)
//! protected R r(x = 1);                ⇒    r.x := 1, where the other fields of R have no value
//! protected R r(n = m);                ⇒    r.n := m; r.x := fill(0, m), where R has Real x[n]
//! input R r[2](x = {1, 2});            ⇒    input R r[2] = {R(x = 1), R(x = 2)}
//! ```

use saltus_eval::{Value, to_expr};
use saltus_flat::{self as flat, BaseType, Dim, Expr, ExprKind, FunctionId, LocalId, StatementKind, Type};
use saltus_typing as typing;

use crate::Front;
use crate::component::{positions, unravel};
use crate::diagnostics as d;
use crate::instance::CompId;
use crate::modifier::ModRef;
use crate::reference::nest;

/// Arrays of records up to this size have defaults.
const MOST_WRITTEN_OUT: u64 = 10_000;

impl<'a> Front<'a> {
    /// The value of a record without one of its own, where every field has a value; of an array the records one by one, or the same
    /// in each place where their number is not known yet.
    pub fn record_default(&mut self, comp: CompId, local: LocalId) -> Option<Expr> {
        let ty = self.local_type_of(local);
        if !matches!(ty.base, BaseType::Record(_)) {
            return None;
        }
        if ty.is_scalar() {
            return self.element_default(comp, &[]);
        }
        let declared = &self.tree[comp].declared;
        let (span, scope, clause) = (declared.span, declared.scope, declared.clause);
        let slot = self.lookup_class(scope, &clause.type_name)?;
        // The values of an array class, as `record T = R[3](x = {1, 2, 3})`, belong to its elements, not to each.
        if !self.class_subscripts(slot).is_empty() {
            return None;
        }
        let sizes: Option<Vec<u64>> = ty.dims.iter().map(|d| d.known()).collect();
        let Some(sizes) = sizes else { return self.equal_records(comp, &ty) };
        let n = sizes.iter().try_fold(1u64, |n, &size| n.checked_mul(size)).filter(|&n| n <= MOST_WRITTEN_OUT)?;
        let mut values = Vec::with_capacity(n as usize);
        for position in 0..n {
            let index: Vec<u32> = unravel(position, &sizes).into_iter().map(|i| i as u32).collect();
            let value = self.element_default(comp, &index)?;
            values.push(typing::convert(self, value, &Type::scalar(ty.base), typing::Place::Equation));
        }
        values.iter().all(|v| !v.is_error()).then(|| nest(values, &sizes, &ty, span))
    }

    /// `fill(R(…), n)`, if the modification says the same of each element.
    fn equal_records(&mut self, comp: CompId, ty: &Type) -> Option<Expr> {
        let modifier = self.tree[comp].modifier.clone();
        if modifier.is_some_and(|m| m.subs.iter().any(|(_, sub)| !sub.is_each)) {
            return None;
        }
        let mut arguments = vec![self.element_default(comp, &[])?];
        for size in self.local_sizes(comp) {
            arguments.push(size?);
        }
        Some(Expr::builtin(flat::Builtin::Fill, arguments, ty.clone(), self.tree[comp].declared.span))
    }

    /// One element of an array of records, or the only record.
    fn element_default(&mut self, comp: CompId, index: &[u32]) -> Option<Expr> {
        let (constructor, arguments) = self.modified_fields(comp, index)?;
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
            let (ty, span) = (self.local_type_of(local), self.tree[comp].declared.span);
            let BaseType::Record(id) = ty.base else { continue };
            if !ty.is_scalar() {
                continue;
            }
            let Some((constructor, arguments)) = self.modified_fields(comp, &[]) else { continue };
            for (k, field) in self.types.records[id].clone().fields.iter().enumerate() {
                let value = arguments.get(k).cloned().flatten();
                let Some(value) = value.or_else(|| self.sized_field(constructor, k, &field.ty, &arguments)) else {
                    continue;
                };
                let whole = Expr::new(ExprKind::Local(local), ty.clone(), span);
                let target = typing::field(self, whole, &field.name, span);
                body.push(flat::Statement { kind: StatementKind::Assign { target, value }, span });
            }
        }
    }

    /// Zeros for a field whose size the declaration of the record leaves to the function.
    fn sized_field(
        &mut self,
        constructor: FunctionId,
        k: usize,
        ty: &Type,
        arguments: &[Option<Expr>],
    ) -> Option<Expr> {
        if !ty.dims.contains(&Dim::Unknown) {
            return None;
        }
        let input = *self.functions[constructor].inputs.get(k)?;
        let component = self.functions[constructor].components.iter().copied();
        let comp = component.into_iter().find(|&c| self.tree[c].local == Some(input))?;
        let span = self.tree[comp].declared.span;
        let value = Value::default_scalar(ty.base)?;
        let mut fill = vec![to_expr(&value, &Type::scalar(ty.base), span)];
        for size in self.in_function(constructor, |front| front.local_sizes(comp)) {
            fill.push(self.substitute(constructor, &size?, arguments)?);
        }
        Some(Expr::builtin(flat::Builtin::Fill, fill, ty.clone(), span))
    }

    /// The constructor of a record local and the values that its declaration gives to the fields of the element at `index`.
    fn modified_fields(&mut self, comp: CompId, index: &[u32]) -> Option<(FunctionId, Vec<Option<Expr>>)> {
        let modifier = self.tree[comp].modifier.as_ref().map(|m| m.at_index(&positions(index)));
        self.fields_of_modifier(comp, &modifier)
    }

    /// The same for the modification of a record inside of a record.
    fn fields_of_modifier(&mut self, comp: CompId, modifier: &ModRef<'a>) -> Option<(FunctionId, Vec<Option<Expr>>)> {
        let (scope, clause) = (self.tree[comp].declared.scope, self.tree[comp].declared.clause);
        let slot = self.lookup_class(scope, &clause.type_name)?;
        let constructor = self.function_of(slot);
        let fields: Vec<CompId> = self.functions[constructor].components.clone();
        let mut arguments = Vec::with_capacity(fields.len());
        for &field in &fields {
            let value = self.modifier_of(field, modifier).and_then(|m| m.value.clone());
            arguments.push(value.and_then(|value| {
                self.field_value(constructor, field, |front, ty| front.mod_value(&value, ty.rank()))
            }));
        }
        for (k, &field) in fields.iter().enumerate() {
            let given = self.modifier_of(field, modifier).filter(|m| m.value.is_none() && !m.subs.is_empty());
            if let Some(given) = given.filter(|_| matches!(self.comp_base(constructor, field), BaseType::Record(_))) {
                let others = arguments.clone();
                arguments[k] = self.field_value(constructor, field, |front, ty| {
                    front.modified_record(constructor, field, ty, &Some(given), &others)
                });
            }
        }
        Some((constructor, arguments))
    }

    fn modifier_of(&self, field: CompId, modifier: &ModRef<'a>) -> ModRef<'a> {
        modifier.as_ref().and_then(|m| m.sub(self.tree[field].name))
    }

    fn comp_base(&self, constructor: FunctionId, field: CompId) -> BaseType {
        let local = self.tree[field].local.and_then(|local| self.functions[constructor].locals.get(local));
        local.map_or(BaseType::Error, |local| local.ty.base)
    }

    /// A value for the field of a record, brought to its type.
    fn field_value(
        &mut self,
        constructor: FunctionId,
        field: CompId,
        value: impl FnOnce(&mut Self, &Type) -> Option<Expr>,
    ) -> Option<Expr> {
        let local = self.functions[constructor].locals.get(self.tree[field].local?)?;
        let (name, ty) = (local.name.clone(), local.ty.clone());
        let value = value(self, &ty)?;
        Some(typing::convert(self, value, &ty, typing::Place::Binding { variable: &name }))
    }

    /// `q` of `R r(q(x = 1))`: what the class of `r` says about `q` holds where the modification says nothing. `others` are the fields
    /// of `r` that are known.
    fn modified_record(
        &mut self,
        outer: FunctionId,
        field: CompId,
        ty: &Type,
        modifier: &ModRef<'a>,
        others: &[Option<Expr>],
    ) -> Option<Expr> {
        let declared = self.tree[field].modifier.clone();
        let span = self.tree[field].declared.span;
        if !ty.is_scalar() || declared.as_ref().is_some_and(|m| m.value.is_some()) {
            let given = modifier.as_ref().filter(|m| m.subs.iter().any(|(_, sub)| sub.value.is_some()));
            if let Some(given) = given {
                self.report_once(d::modified_part_of_record(self.text(self.tree[field].name), given.span, span));
            }
            return None;
        }
        let (_, declared) = self.in_function(outer, |front| front.fields_of_modifier(field, &declared))?;
        let (constructor, mut arguments) = self.fields_of_modifier(field, modifier)?;
        for (argument, declared) in arguments.iter_mut().zip(declared) {
            if argument.is_none() {
                *argument = declared.and_then(|e| self.substitute(outer, &e, others));
            }
        }
        let value = self.typed_call(constructor, arguments, span);
        (!value.is_error()).then_some(value)
    }
}
