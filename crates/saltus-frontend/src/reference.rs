//! Component references: `a.b[2].c` to a typed expression (specification 5.3, 10.5).
//!
//! ```text
//! x          leaf            ⇒  Var(x)
//! r.v        r is Resistor[3] ⇒ {r[1].v, r[2].v, r[3].v}
//! r[2].v                      ⇒  Var(r[2].v)
//! c          c is a record   ⇒  Record(c.re, c.im)
//! M.pi       a constant      ⇒  3.14…
//! ```

use saltus_base::{Name, Span};
use saltus_eval::{Value, to_expr};
use saltus_flat::{self as flat, BaseType, Dim, Expr, ExprKind, Type};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::component::MOST_INSTANCES;
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member};
use crate::modifier::merge;
use crate::types::Sizes;

/// What an iteration variable stands for.
#[derive(Clone, Debug)]
pub enum Iterated {
    /// The loop is unrolled; this is the value in the present round.
    Value(Value, Type),
    /// The loop stays a loop.
    Local(flat::LocalId, Type),
}

/// The index of one dimension of an array of components.
pub enum Pick {
    At(u64),
    List(Vec<u64>),
    /// Only known at run time.
    Dynamic(Expr),
}

/// Constant arrays up to this size are written out where they are used.
const MOST_INLINE: u64 = 16;

impl<'a> Front<'a> {
    pub fn reference(&mut self, scope: InstId, reference: &'a ast::ComponentRef) -> Expr {
        let Some(first) = reference.parts.first() else { return Expr::error(reference.span) };
        if !reference.is_global
            && let Some(iterated) = self.iterator(first.name.name)
        {
            return self.iterated(scope, iterated, reference);
        }
        let found = if reference.is_global {
            self.member(self.tree.root, first.name.name)
        } else {
            self.lookup_name(scope, first.name.name)
        };
        match found {
            Some(Member::Component(comp)) if !reference.is_global && self.is_foreign_variable(scope, comp) => {
                let declared = self.tree[comp].declared.span;
                self.report(d::enclosing_variable(self.text(first.name.name), first.name.span, declared));
                Expr::error(reference.span)
            }
            Some(member) => self.member_expr(scope, member, reference, 0),
            None if reference.parts.len() == 1 && first.name.name == self.words.time => self.time(reference),
            None if self.is_explained(scope, first.name.name) => Expr::error(reference.span),
            None if self.lacks_library(first.name.name, reference.parts.len(), first.name.span) => {
                Expr::error(reference.span)
            }
            None => {
                let name = self.text(first.name.name);
                let nearest = self.nearest_name(scope, name, true);
                let scope_name = self.scope_name(scope);
                self.report(d::name_not_found(name, &scope_name, nearest.as_deref(), first.name.span));
                Expr::error(reference.span)
            }
        }
    }

    fn time(&mut self, reference: &'a ast::ComponentRef) -> Expr {
        let span = reference.span;
        let is_in_function = self.functions.current.is_some_and(|f| !self.functions[f].is_record_constructor);
        if is_in_function {
            self.report(d::time_in_function(span));
            return Expr::error(span);
        }
        let n_subscripts = reference.parts[0].subscripts.len();
        if n_subscripts > 0 {
            self.report(d::too_many_subscripts("time", n_subscripts, 0, span));
            return Expr::error(span);
        }
        Expr::new(ExprKind::Time, Type::REAL, span)
    }

    /// A variable of an enclosing class, of which only constants are visible (specification 5.3.1).
    fn is_foreign_variable(&mut self, scope: InstId, comp: CompId) -> bool {
        let c = &self.tree[comp];
        c.prefixes.variability != Some(ast::Variability::Constant)
            && c.local.is_none()
            && self.member(scope, self.tree[comp].name) != Some(Member::Component(comp))
    }

    pub fn iterator(&self, name: Name) -> Option<Iterated> {
        self.context.iterator(name)
    }

    fn iterated(&mut self, scope: InstId, iterated: Iterated, reference: &'a ast::ComponentRef) -> Expr {
        let mut expr = match iterated {
            Iterated::Value(value, ty) => to_expr(&value, &ty, reference.span),
            Iterated::Local(local, ty) => Expr::new(ExprKind::Local(local), ty, reference.span),
        };
        expr = self.subscripted(scope, expr, &reference.parts[0].subscripts, reference.span);
        self.access_fields(scope, expr, &reference.parts[1..], reference.span)
    }

    /// `base.part[i].part`: fields of record values.
    pub fn access_fields(&mut self, scope: InstId, base: Expr, parts: &'a [ast::RefPart], span: Span) -> Expr {
        let mut expr = base;
        for part in parts {
            let name = self.text(part.name.name);
            self.record_field(&expr, part.name);
            expr = typing::field(self, expr, name, span);
            expr = self.subscripted(scope, expr, &part.subscripts, span);
        }
        expr
    }

    /// The value of the part `at` of a reference, which is `member`, and of the parts behind it.
    fn member_expr(&mut self, scope: InstId, member: Member, reference: &'a ast::ComponentRef, at: usize) -> Expr {
        match member {
            Member::Component(comp) => self.component_expr(scope, comp, &reference.parts[at..], reference.span),
            Member::Class(slot) => {
                self.record(reference.parts[at].name.span, member);
                if !reference.parts[at].subscripts.is_empty() {
                    let name = self.ref_text(reference);
                    let given = reference.parts[at].subscripts.len();
                    self.report(d::too_many_subscripts(&name, given, 0, reference.span));
                    return Expr::error(reference.span);
                }
                let Some(next) = reference.parts.get(at + 1) else {
                    if self.is_function(slot) {
                        let function = self.function_of(slot);
                        let kind = ExprKind::FunctionRef { function, bound: Vec::new() };
                        return Expr::new(kind, Type::scalar(BaseType::Function), reference.span);
                    }
                    let class = self.library.qualified_name(self.tree[slot].class);
                    self.report(d::class_as_value(&class, reference.span));
                    return Expr::error(reference.span);
                };
                if let Some(simple) = self.simple_type(slot)
                    && let BaseType::Enumeration(id) = simple.base
                {
                    return self.enum_literal(id, next, reference.span);
                }
                let inst = self.slot_instance(slot);
                let found = self.member(inst, next.name.name);
                if let Some(found) = found {
                    self.check_visible_through(scope, slot, found, &next.name);
                    let text = self.ref_text(reference);
                    self.check_inside_complete(scope, slot, &text, reference.span);
                }
                match found {
                    Some(Member::Component(comp)) if !self.is_constant_of_class(comp) => {
                        let class = self.library.qualified_name(self.tree[slot].class);
                        let (name, declared) = (self.text(next.name.name), self.tree[comp].declared.span);
                        self.report(d::variable_of_class(name, &class, next.name.span, declared));
                        Expr::error(reference.span)
                    }
                    Some(found) => self.member_expr(scope, found, reference, at + 1),
                    None if self.tree[inst].members.is_incomplete => Expr::error(reference.span),
                    None => {
                        let name = self.text(next.name.name);
                        let class = self.library.qualified_name(self.tree[slot].class);
                        let nearest = self.nearest_name(inst, name, false);
                        let diagnostic = d::no_member(name, &class, nearest.as_deref(), next.name.span);
                        let old = format!("{class}.{name}");
                        let new = self.converter(&class).and_then(|converter| converter.class(&old));
                        self.report(match new {
                            Some(new) => d::renamed(diagnostic, &old, &new),
                            None => diagnostic,
                        });
                        Expr::error(reference.span)
                    }
                }
            }
        }
    }

    /// Whether a component that is named through its class has a value there.
    fn is_constant_of_class(&self, comp: CompId) -> bool {
        let c = &self.tree[comp];
        c.prefixes.variability == Some(ast::Variability::Constant) || c.local.is_some() || c.declared.is_inner
    }

    fn enum_literal(&mut self, id: flat::EnumId, part: &ast::RefPart, span: Span) -> Expr {
        let name = self.text(part.name.name);
        if !part.subscripts.is_empty() {
            self.report(d::too_many_subscripts(name, part.subscripts.len(), 0, span));
            return Expr::error(span);
        }
        let ty = self.types.enums[id].clone();
        match ty.literals.iter().position(|l| l == name) {
            Some(k) => {
                self.record_literal(part.name.span, id, part.name.name);
                Expr::new(ExprKind::EnumLiteral(id, k as u32 + 1), Type::scalar(BaseType::Enumeration(id)), span)
            }
            None => {
                self.report(d::no_literal(name, &ty.name, &ty.literals, part.name.span));
                Expr::error(span)
            }
        }
    }

    /// The value of a component with the subscripts of the first part, then the further parts inside it.
    pub fn component_expr(&mut self, scope: InstId, comp: CompId, parts: &'a [ast::RefPart], span: Span) -> Expr {
        self.record(parts[0].name.span, Member::Component(comp));
        let comp = self.actual(comp);
        if self.tree[self.tree[comp].owner].function.is_some() {
            return self.local_expr(scope, comp, parts, span);
        }
        if !self.is_present(comp) {
            let (name, declared) = (self.comp_name(comp), self.tree[comp].declared.span);
            let is_in_bus = self.tree[comp].declared.condition.is_none();
            self.report(match is_in_bus {
                true => d::bus_member_absent(&name, span, declared),
                false => d::absent_component(&name, span, declared),
            });
            return Expr::error(span);
        }
        match self.comp_kind(comp) {
            CompKind::Error => Expr::error(span),
            CompKind::Leaf(_) => {
                if let Some(next) = parts.get(1) {
                    let (name, inner) = (self.comp_name(comp), self.text(next.name.name));
                    self.report(d::no_member(inner, &name, None, next.name.span));
                    return Expr::error(span);
                }
                if !self.names_elements(comp, &parts[0].subscripts, span) {
                    return Expr::error(span);
                }
                let value = self.leaf_expr(comp, span);
                if !parts[0].subscripts.is_empty() {
                    self.check_index_types(scope, comp, &parts[0].subscripts);
                }
                let value = self.subscripted(scope, value, &parts[0].subscripts, span);
                self.check_bus_element(comp, &value, span);
                value
            }
            CompKind::Class(class) => {
                if !class.counters.is_empty() {
                    return self.template_expr(scope, comp, &class, parts, span);
                }
                let dims = self.comp_dims(comp);
                if dims.is_empty() && parts[0].subscripts.is_empty() {
                    return match class.elements.first() {
                        Some(&inst) => self.inside(scope, comp, inst, &parts[1..], span),
                        None => Expr::error(span),
                    };
                }
                let Some(picks) = self.picks(scope, comp, &dims, &parts[0].subscripts, span) else {
                    return Expr::error(span);
                };
                if class.elements.is_empty() {
                    return self.empty_array(comp, &picks, &parts[1..], span);
                }
                self.pick_elements(scope, comp, &class.elements, &dims, &picks, 0, 0, &parts[1..], span)
            }
        }
    }

    /// What lies behind an array of components of size zero: an empty array of the right type.
    fn empty_array(&mut self, comp: CompId, picks: &[Pick], rest: &'a [ast::RefPart], span: Span) -> Expr {
        let outer: Vec<Dim> = picks
            .iter()
            .filter_map(|p| match p {
                Pick::List(l) => Some(Dim::Known(l.len() as u64)),
                _ => None,
            })
            .collect();
        let CompKind::Class(class) = self.comp_kind(comp) else { return Expr::error(span) };
        let mut slot = class.slot;
        // No element is there to look into, but what its declaration redeclares says which types the members have.
        let mut modifier = self.tree[comp].modifier.clone();
        let mut dims = outer;
        for (k, part) in rest.iter().enumerate() {
            let inst = match modifier.filter(|m| m.says_something()) {
                Some(m) => {
                    let modifier = merge(&Some(m), &self.tree[slot].modifier);
                    self.tree.new_inst(slot, modifier, None)
                }
                None => self.slot_instance(slot),
            };
            self.expand(inst);
            let Some(Member::Component(inner)) = self.member(inst, part.name.name) else { return Expr::error(span) };
            let ty = self.local_type(inner, Sizes::Declared);
            if part.subscripts.is_empty() {
                dims.extend(ty.dims.iter().copied());
            }
            if k + 1 == rest.len() {
                return Expr::new(ExprKind::Array(Vec::new()), Type::array(ty.base, dims), span);
            }
            let (scope, clause) = (self.tree[inner].declared.scope, self.tree[inner].declared.clause);
            modifier = self.tree[inner].modifier.clone();
            match self.lookup_class(scope, &clause.type_name) {
                Some(inner) => slot = inner,
                None => return Expr::error(span),
            }
        }
        let slot = if self.is_record(slot) { slot } else { self.context.cast.unwrap_or(slot) };
        match self.cast_type(slot, dims) {
            Some(ty) => Expr::new(ExprKind::Array(Vec::new()), ty, span),
            None => Expr::error(span),
        }
    }

    /// The value of `rest` inside one instance; of the whole record where nothing is left.
    pub fn inside(&mut self, scope: InstId, comp: CompId, inst: InstId, rest: &'a [ast::RefPart], span: Span) -> Expr {
        let Some(next) = rest.first() else { return self.record_value(comp, inst, span) };
        let found = self.member(inst, next.name.name);
        if let Some(found) = found {
            self.check_visible_in(comp, found, &next.name);
        }
        match found {
            Some(Member::Component(inner)) => self.component_expr(scope, inner, rest, span),
            Some(Member::Class(slot)) => {
                self.record(next.name.span, Member::Class(slot));
                // `component.Enumeration.literal`
                let Some(constant) = rest.get(1) else {
                    let class = self.library.qualified_name(self.tree[slot].class);
                    self.report(d::class_as_value(&class, span));
                    return Expr::error(span);
                };
                if let Some(BaseType::Enumeration(id)) = self.simple_type(slot).map(|s| s.base) {
                    return self.enum_literal(id, constant, span);
                }
                let inst = self.slot_instance(slot);
                match self.member(inst, constant.name.name) {
                    // Of the classes in a component only functions can be used (specification 5.3.2).
                    Some(Member::Component(_)) => {
                        let component = self.comp_name(comp);
                        let path: Vec<&str> = rest.iter().map(|part| self.text(part.name.name)).collect();
                        let path = format!("{component}.{}", path.join("."));
                        self.report(d::class_through_component(&path, &component, span));
                        Expr::error(span)
                    }
                    _ => {
                        let class = self.library.qualified_name(self.tree[slot].class);
                        self.report(d::no_member(self.text(constant.name.name), &class, None, constant.name.span));
                        Expr::error(span)
                    }
                }
            }
            None if self.tree[inst].members.is_incomplete => Expr::error(span),
            None => {
                let (name, inner) = (self.comp_name(comp), self.text(next.name.name));
                let nearest = self.nearest_name(inst, inner, false);
                self.report(d::no_member(inner, &name, nearest.as_deref(), next.name.span));
                Expr::error(span)
            }
        }
    }

    fn record_value(&mut self, comp: CompId, inst: InstId, span: Span) -> Expr {
        let CompKind::Class(class) = self.comp_kind(comp) else { return Expr::error(span) };
        let Some(id) = self.record_of_slot(class.slot, Some(inst)) else {
            if let Some(record) = self.context.cast {
                return self.cast_instance(record, inst, span);
            }
            let (name, of) = (self.comp_name(comp), self.library.qualified_name(self.tree[inst].class));
            self.report(d::not_a_value(&name, &of, span));
            return Expr::error(span);
        };
        let mut fields = Vec::new();
        for field in self.tree[inst].members.components.clone() {
            if self.is_present(field) {
                fields.push(self.whole_component(field, span));
            }
        }
        Expr::new(ExprKind::Record(fields), Type::scalar(BaseType::Record(id)), span)
    }

    /// A component without subscripts: variable, record, or array of records.
    pub fn whole_component(&mut self, comp: CompId, span: Span) -> Expr {
        let comp = self.actual(comp);
        match self.comp_kind(comp) {
            CompKind::Leaf(_) => self.leaf_expr(comp, span),
            CompKind::Error => Expr::error(span),
            CompKind::Class(class) => {
                if !class.counters.is_empty() {
                    self.refuse_templates();
                }
                let dims = self.comp_dims(comp);
                let ty = self.comp_type(comp);
                let element = Type::scalar(ty.base);
                let values = class.elements.iter().map(|&inst| {
                    let value = self.record_value(comp, inst, span);
                    typing::convert(self, value, &element, typing::Place::Equation)
                });
                let values: Vec<Expr> = values.collect();
                nest(values, &dims, &ty, span)
            }
        }
    }

    /// A leaf: its variable, or its value if it is a constant.
    fn leaf_expr(&mut self, comp: CompId, span: Span) -> Expr {
        let ty = self.comp_type(comp);
        let Some(var) = self.tree[comp].var else { return Expr::error(span) };
        if self.messages.without_value.contains(&comp) {
            return Expr::error(span);
        }
        let is_constant = self.tree[comp].prefixes.variability == Some(ast::Variability::Constant);
        if is_constant
            && ty.n_elements().is_some_and(|n| n <= MOST_INLINE)
            && let Some(value) = self.constant_value(comp)
        {
            return to_expr(&value, &ty, span);
        }
        self.of_this_element(comp, Expr::new(ExprKind::Var(var), ty, span))
    }

    fn local_expr(&mut self, scope: InstId, comp: CompId, parts: &'a [ast::RefPart], span: Span) -> Expr {
        let mut expr = match self.tree[comp].local {
            Some(local) => {
                let ty = self.local_type_of(local);
                Expr::new(ExprKind::Local(local), ty, span)
            }
            // A constant of the function, or a size that is being found before the locals exist.
            None => match self.constant_value(comp) {
                Some(value) => {
                    let ty = self.local_type(comp, Sizes::Declared);
                    to_expr(&value, &ty, span)
                }
                None => return Expr::new(ExprKind::Error, Type::ERROR, span),
            },
        };
        expr = self.subscripted(scope, expr, &parts[0].subscripts, span);
        self.access_fields(scope, expr, &parts[1..], span)
    }

    /// Applies written subscripts to a value; `end` inside them means the size of that value.
    pub fn subscripted(&mut self, scope: InstId, base: Expr, subscripts: &'a [ast::Subscript], span: Span) -> Expr {
        if subscripts.is_empty() || base.is_error() {
            return base;
        }
        let mut typed = Vec::with_capacity(subscripts.len());
        for (k, subscript) in subscripts.iter().enumerate() {
            let end = end_of(&base, k, span);
            self.context.ends.push(end);
            typed.push(self.subscript(scope, subscript));
            self.context.ends.pop();
        }
        let indexed = merged_index(typing::index(self, base, typed, span));
        if !self.is_within_sizes(&indexed) {
            return Expr::error(span);
        }
        self.constant_element(indexed)
    }

    /// Reports a subscript outside of the array where it is known for good: parameters that have decided a size keep their values.
    fn is_within_sizes(&mut self, indexed: &Expr) -> bool {
        let ExprKind::Index { base, subscripts } = &indexed.kind else { return true };
        let ExprKind::Var(var) = base.kind else { return true };
        for (k, (subscript, dim)) in subscripts.iter().zip(&base.ty.dims).enumerate() {
            let (flat::Subscript::Index(e), Some(size)) = (subscript, dim.known()) else { continue };
            let is_open = e.ty.base != BaseType::Integer || !e.ty.is_scalar() || matches!(e.kind, ExprKind::Integer(_));
            if is_open || !self.is_decided(e) {
                continue;
            }
            if let Some(Value::Integer(i)) = self.evaluate_quietly(e)
                && (i < 1 || i as u64 > size)
            {
                let name = self.comp_name(self.tree.vars[var]);
                self.report(d::subscript_range(&name, i, size, k + 1, e.span));
                return false;
            }
        }
        true
    }

    /// Whether all variables in an expression are structural parameters.
    fn is_decided(&self, expr: &Expr) -> bool {
        let mut is_decided = true;
        expr.walk(&mut |e| match e.kind {
            ExprKind::Var(var) => is_decided &= self.tree[self.tree.vars[var]].is_structural,
            ExprKind::Local(_) | ExprKind::Time => is_decided = false,
            _ => {}
        });
        is_decided
    }

    /// An element of a constant array is its value.
    fn constant_element(&mut self, expr: Expr) -> Expr {
        let ExprKind::Index { base, .. } = &expr.kind else { return expr };
        let ExprKind::Var(var) = base.kind else { return expr };
        let comp = self.tree.vars[var];
        if self.tree[comp].prefixes.variability != Some(ast::Variability::Constant)
            || expr.ty.n_elements().is_none_or(|n| n > MOST_INLINE)
        {
            return expr;
        }
        match self.evaluate_quietly(&expr) {
            Some(value) => to_expr(&value, &expr.ty, expr.span),
            None => expr,
        }
    }

    /// `Real x[E]` for an enumeration `E` is indexed by its literals only (specification 10.5).
    fn check_index_types(&mut self, scope: InstId, comp: CompId, subscripts: &'a [ast::Subscript]) {
        let Some(wanted) = self.sizes.index_types(comp).map(<[_]>::to_vec) else { return };
        for (subscript, wanted) in subscripts.iter().zip(wanted) {
            let (ast::Subscript::Expr(e), Some(wanted)) = (subscript, wanted) else { continue };
            let mark = self.messages.mark();
            let given = self.expression(scope, e);
            self.messages.take_back(mark);
            if !given.is_error() && given.ty.base != wanted && given.ty.is_scalar() {
                let (ty, name) = (Type::scalar(wanted), self.comp_name(comp));
                typing::convert(self, given, &ty, typing::Place::Subscript { variable: &name });
            }
        }
    }

    fn subscript(&mut self, scope: InstId, subscript: &'a ast::Subscript) -> typing::SubscriptArgument {
        match subscript {
            ast::Subscript::Colon(span) => typing::SubscriptArgument::All(*span),
            ast::Subscript::Expr(e) => typing::SubscriptArgument::Expr(self.expression(scope, e)),
        }
    }

    /// Which elements of an array of components the subscripts mean; missing ones mean all.
    pub fn picks(
        &mut self,
        scope: InstId,
        comp: CompId,
        dims: &[u64],
        subscripts: &'a [ast::Subscript],
        span: Span,
    ) -> Option<Vec<Pick>> {
        if subscripts.len() > dims.len() {
            let name = self.comp_name(comp);
            self.report(d::too_many_subscripts(&name, subscripts.len(), dims.len(), span));
            return None;
        }
        let mut picks = Vec::with_capacity(dims.len());
        for (k, &size) in dims.iter().enumerate() {
            let Some(ast::Subscript::Expr(e)) = subscripts.get(k) else {
                if size > MOST_INSTANCES {
                    let name = self.comp_name(comp);
                    self.report(d::too_many_instances(&name, size, span));
                    return None;
                }
                picks.push(Pick::List((1..=size).collect()));
                continue;
            };
            self.context.ends.push(Expr::integer(size as i64, e.span));
            let typed = self.expression(scope, e);
            self.context.ends.pop();
            if typed.is_error() {
                return None;
            }
            let pick = match self.evaluate_index(&typed) {
                Some(Value::Array(list)) => Pick::List(index_list(&Value::Array(list))?),
                Some(value) => Pick::At(index_of(&value)?),
                None => Pick::Dynamic(typed),
            };
            let out_of_range = match &pick {
                Pick::At(i) => (*i < 1 || *i > size).then_some(*i),
                Pick::List(l) => l.iter().copied().find(|i| *i < 1 || *i > size),
                Pick::Dynamic(_) => None,
            };
            if let Some(i) = out_of_range {
                let name = self.comp_name(comp);
                self.report(d::subscript_range(&name, i as i64, size, k + 1, e.span));
                return None;
            }
            picks.push(pick);
        }
        Some(picks)
    }

    /// Walks the picked elements dimension by dimension.
    fn pick_elements(
        &mut self,
        scope: InstId,
        comp: CompId,
        elements: &[InstId],
        dims: &[u64],
        picks: &[Pick],
        k: usize,
        offset: u64,
        rest: &'a [ast::RefPart],
        span: Span,
    ) -> Expr {
        let Some(pick) = picks.get(k) else {
            return match elements.get(offset as usize) {
                Some(&inst) => self.inside(scope, comp, inst, rest, span),
                None => Expr::error(span),
            };
        };
        let at = |front: &mut Self, i: u64| {
            front.pick_elements(scope, comp, elements, dims, picks, k + 1, offset * dims[k] + i - 1, rest, span)
        };
        match pick {
            Pick::At(i) => at(self, *i),
            Pick::List(list) => {
                let items = list.iter().map(|&i| at(self, i)).collect();
                if rest.is_empty() {
                    return typing::array(self, items, span);
                }
                let text = self.member_text(comp, rest);
                typing::slice(self, items, &text, span)
            }
            Pick::Dynamic(index) => {
                let items = (1..=dims[k]).map(|i| at(self, i)).collect();
                let text = self.member_text(comp, rest);
                let all = typing::choice(self, items, &text, span);
                if all.is_error() {
                    return all;
                }
                self.index_by(all, vec![index.clone()], span)
            }
        }
    }

    /// `r.x` for the member `x` of the elements of `r`.
    fn member_text(&self, comp: CompId, rest: &[ast::RefPart]) -> String {
        rest.iter().fold(self.comp_name(comp), |text, part| text + "." + self.text(part.name.name))
    }

    /// The class a reference means, or nothing (no message) if it is not a class.
    pub fn lookup_reference_class(&mut self, scope: InstId, reference: &ast::ComponentRef) -> Option<Member> {
        let (first, rest) = reference.parts.split_first()?;
        if self.iterator(first.name.name).is_some() {
            return None;
        }
        let mut found = if reference.is_global {
            self.member(self.tree.root, first.name.name)
        } else {
            self.lookup_name(scope, first.name.name)
        }?;
        self.record(first.name.span, found);
        for part in rest {
            let around = found;
            let inside = match around {
                Member::Class(slot) => self.slot_instance(slot),
                // The sizes of a local may depend on inputs, but its class says what is in it.
                Member::Component(comp) if self.tree[self.tree[comp].owner].function.is_some() => {
                    let (at, clause) = (self.tree[comp].declared.scope, self.tree[comp].declared.clause);
                    let slot = self.lookup_class(at, &clause.type_name)?;
                    if self.simple_type(slot).is_some() {
                        return None;
                    }
                    self.slot_instance(slot)
                }
                Member::Component(comp) => {
                    let comp = self.actual(comp);
                    match self.comp_kind(comp) {
                        CompKind::Class(class) => *class.elements.first()?,
                        _ => return None,
                    }
                }
            };
            found = self.member(inside, part.name.name)?;
            match around {
                Member::Class(slot) => self.check_visible_through(scope, slot, found, &part.name),
                Member::Component(comp) => self.check_visible_in(comp, found, &part.name),
            }
            self.record(part.name.span, found);
        }
        Some(found)
    }

    /// How a scope is called in messages.
    pub fn scope_name(&self, scope: InstId) -> String {
        let mut at = scope;
        while let Some(derived) = self.tree[at].derived {
            at = derived;
        }
        self.library.qualified_name(self.tree[at].class)
    }
}

/// `x[i][j]`, of an array in an array of components, as `x[i, j]`.
pub fn merged_index(e: Expr) -> Expr {
    let (ty, span) = (e.ty, e.span);
    let kind = match e.kind {
        ExprKind::Index { base, subscripts } => match *base {
            Expr { kind: ExprKind::Index { base, subscripts: outer }, .. }
                if outer.iter().all(|s| matches!(s, flat::Subscript::Index(_))) =>
            {
                ExprKind::Index { base, subscripts: outer.into_iter().chain(subscripts).collect() }
            }
            base => ExprKind::Index { base: Box::new(base), subscripts },
        },
        kind => kind,
    };
    Expr::new(kind, ty, span)
}

/// `end` as subscript `k` of `base`.
fn end_of(base: &Expr, k: usize, span: Span) -> Expr {
    match base.ty.dims.get(k) {
        Some(Dim::Known(n)) => Expr::integer(*n as i64, span),
        Some(Dim::Unknown) => {
            let arguments = vec![base.clone(), Expr::integer(k as i64 + 1, span)];
            Expr::builtin(flat::Builtin::Size, arguments, Type::INTEGER, span)
        }
        None => Expr::error(span),
    }
}

/// Row-major values as a nested array constructor of type `ty`.
pub fn nest(mut values: Vec<Expr>, dims: &[u64], ty: &Type, span: Span) -> Expr {
    let Some((_, inner)) = dims.split_first() else {
        return values.pop().unwrap_or_else(|| Expr::error(span));
    };
    let size: u64 = inner.iter().product();
    let element = ty.element(1);
    let items = if inner.is_empty() {
        values
    } else if size == 0 {
        (0..dims[0]).map(|_| nest(Vec::new(), inner, &element, span)).collect()
    } else {
        let mut rows = Vec::new();
        let mut values = values.into_iter().peekable();
        while values.peek().is_some() {
            let row = values.by_ref().take(size as usize).collect();
            rows.push(nest(row, inner, &element, span));
        }
        rows
    };
    Expr::new(ExprKind::Array(items), ty.clone(), span)
}

/// A subscript as a position: Integers count, Booleans and enumerations by their ordinal.
pub fn index_of(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(i) => Some(u64::try_from(*i).unwrap_or(0)),
        Value::Boolean(b) => Some(u64::from(*b) + 1),
        Value::Enum(_, k) => Some(u64::from(*k)),
        _ => None,
    }
}

pub fn index_list(value: &Value) -> Option<Vec<u64>> {
    value.elements().iter().map(index_of).collect()
}
