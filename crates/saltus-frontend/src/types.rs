//! From classes to types: built-in types behind short definitions, enumerations, records (specification 4.9, 6.4).

use std::rc::Rc;

use saltus_flat::{BaseType, Dim, EnumId, EnumType, Expr, ExprKind, RecordField, RecordId, RecordType, Type};
use saltus_library::ClassId;
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::annotation::class_annotation;
use crate::instance::{ClassComp, CompId, CompKind, InstId, Member, Memo, SimpleType, SlotId};
use crate::lookup::elements;
use crate::modifier::merge;

/// Short definitions of short definitions that are followed to find the dimensions of a class.
const MOST_SHORT_CLASSES: usize = 100;

/// Final fields whose values are final fields that are followed to see whether a size can be modified.
const MOST_FINAL: u32 = 20;

/// Which sizes of its fields the type of a record has, where those are given by other fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// Those that a modification can change are open: an argument may have any.
    Open,
    /// Those of the declaration.
    Declared,
}

/// Records of one class whose fields are being found at the same time.
const MOST_NESTED_RECORDS: usize = 10;

impl<'a> Front<'a> {
    /// The built-in type a class amounts to, or `None` for classes with components.
    pub fn simple_type(&mut self, slot: SlotId) -> Option<Rc<SimpleType<'a>>> {
        match &self.tree[slot].simple {
            Memo::Known(simple) => return simple.clone(),
            Memo::InProgress => return None,
            Memo::Unknown => {}
        }
        self.tree[slot].simple = Memo::InProgress;
        let simple = self.find_simple_type(slot);
        self.tree[slot].simple = Memo::Known(simple.clone());
        simple
    }

    fn find_simple_type(&mut self, slot: SlotId) -> Option<Rc<SimpleType<'a>>> {
        let (class, definition, scope) = (self.tree[slot].class, self.tree[slot].definition, self.tree[slot].scope);
        let is_connector = definition.kind == ast::ClassKind::Connector;
        let own = self.tree[slot].modifier.clone();
        let constraint = self.tree[slot].constraint.clone();
        self.check_class(class, definition);
        if let Some(&base) = self.types.builtin_classes.get(&class) {
            return Some(Rc::new(simple(base, is_connector)));
        }
        match &definition.body {
            ast::ClassBody::Enumeration(body) => {
                let id = self.enum_of_class(class, body);
                Some(Rc::new(SimpleType { modifier: own, ..simple(BaseType::Enumeration(id), is_connector) }))
            }
            ast::ClassBody::Short(short) => {
                let base = self.lookup_class(scope, &short.base)?;
                let inner = self.simple_type(base)?;
                let written = short.modification.as_ref().map(|m| self.class_modifier(m, scope));
                self.check_final(&written, &inner.modifier);
                let mut subscripts: Vec<_> = short.subscripts.iter().map(|s| (s, scope)).collect();
                subscripts.extend(inner.subscripts.iter().copied());
                Some(Rc::new(SimpleType {
                    base: inner.base,
                    subscripts,
                    modifier: merge(&own, &merge(&merge(&written, &constraint), &inner.modifier)),
                    direction: short.direction.or(inner.direction),
                    variability: short.variability.or(inner.variability),
                    connection: short.connection.or(inner.connection),
                    is_connector: is_connector || inner.is_connector,
                    equality_constraint: inner.equality_constraint,
                    is_difference: self.difference_in(class_annotation(definition)).or(inner.is_difference),
                }))
            }
            ast::ClassBody::Long(body) => self.simple_long_type(slot, definition, body, is_connector),
            ast::ClassBody::Derivative { .. } => None,
        }
    }

    /// Array dimensions of a class, outermost first, each with its scope: `record T = X[3]` has one.
    pub fn class_subscripts(&mut self, slot: SlotId) -> Vec<(&'a ast::Subscript, InstId)> {
        if let Some(simple) = self.simple_type(slot) {
            return simple.subscripts.clone();
        }
        let mut subscripts = Vec::new();
        let mut at = slot;
        for _ in 0..MOST_SHORT_CLASSES {
            let (definition, scope) = (self.tree[at].definition, self.tree[at].scope);
            let ast::ClassBody::Short(short) = &definition.body else { break };
            subscripts.extend(short.subscripts.iter().map(|s| (s, scope)));
            let Some(base) = self.lookup_class(scope, &short.base) else { break };
            at = base;
        }
        subscripts
    }

    /// `connector C = input Record;`
    pub fn class_direction(&mut self, slot: SlotId) -> Option<ast::Direction> {
        let mut at = slot;
        for _ in 0..MOST_SHORT_CLASSES {
            let (definition, scope) = (self.tree[at].definition, self.tree[at].scope);
            let ast::ClassBody::Short(short) = &definition.body else { break };
            if short.direction.is_some() {
                return short.direction;
            }
            at = self.lookup_class(scope, &short.base)?;
        }
        None
    }

    /// `type T extends Real(…); end T;` and classes that extend `ExternalObject`.
    fn simple_long_type(
        &mut self,
        slot: SlotId,
        definition: &'a ast::ClassDef,
        body: &'a ast::LongClass,
        is_connector: bool,
    ) -> Option<Rc<SimpleType<'a>>> {
        if !matches!(definition.kind, ast::ClassKind::Type | ast::ClassKind::Connector | ast::ClassKind::Class) {
            return None;
        }
        let mut base = None;
        for element in elements(body) {
            match &element.kind {
                ast::ElementKind::Extends(e) if base.is_none() => base = Some(e),
                ast::ElementKind::Components(_) | ast::ElementKind::Extends(_) => return None,
                _ => {}
            }
        }
        let extends = base?;
        let scope = self.tree[slot].scope;
        let first = extends.base.parts.first()?;
        self.lookup_name(scope, first.name)?;
        let base = self.lookup_class(scope, &extends.base)?;
        if Some(self.tree[base].class) == self.types.external_object {
            let constructor = self.words.constructor;
            let inst = self.slot_instance(slot);
            let Some(Member::Class(constructor)) = self.member(inst, constructor) else { return None };
            let function = self.reserve_function(constructor);
            let object = Some(Rc::new(simple(BaseType::ExternalObject(function), false)));
            self.tree[slot].simple = Memo::Known(object.clone());
            self.function_of(constructor);
            return object;
        }
        let inner = self.simple_type(base)?;
        let written = extends.modification.as_ref().map(|m| self.class_modifier(m, scope));
        let own = self.tree[slot].modifier.clone();
        Some(Rc::new(SimpleType {
            base: inner.base,
            subscripts: inner.subscripts.clone(),
            modifier: merge(&own, &merge(&written, &inner.modifier)),
            direction: inner.direction,
            variability: inner.variability,
            connection: inner.connection,
            is_connector: is_connector || inner.is_connector,
            equality_constraint: self.own_equality_constraint(slot).or(inner.equality_constraint),
            is_difference: self.difference_in(class_annotation(definition)).or(inner.is_difference),
        }))
    }

    fn own_equality_constraint(&mut self, slot: SlotId) -> Option<SlotId> {
        let name = self.words.equality_constraint;
        self.library.child(self.tree[slot].class, name)?;
        let inst = self.slot_instance(slot);
        match self.member(inst, name) {
            Some(Member::Class(constraint)) => Some(constraint),
            _ => None,
        }
    }

    pub fn enum_of_class(&mut self, class: ClassId, body: &ast::EnumerationBody) -> EnumId {
        if let Some(id) = self.types.enum_of(class) {
            return id;
        }
        let name = self.library.qualified_name(class);
        let literals = body.literals.iter().flatten().map(|l| self.text(l.name.name).to_owned()).collect();
        self.types.add_enum(class, EnumType { name, literals }, body.literals.is_none())
    }

    /// The record type of a class; `inst` is an actual instance where there is one, whose sizes are known.
    pub fn record_of_slot(&mut self, slot: SlotId, inst: Option<InstId>) -> Option<RecordId> {
        let actual = inst.is_some();
        let inst = inst.unwrap_or_else(|| self.slot_instance(slot));
        self.expand(inst);
        let (class, kind) = self.defining_class(inst);
        if !matches!(kind, ast::ClassKind::Record | ast::ClassKind::OperatorRecord) {
            return None;
        }
        if let Some(id) = self.types.record_of(inst) {
            return Some(id);
        }
        // The sizes of a record may be those of another of the same class; a record in itself never ends.
        let n_open = self.types.open_records.iter().filter(|(c, _)| *c == class).count();
        if n_open > MOST_NESTED_RECORDS || self.types.open_records.contains(&(class, inst)) {
            let name = self.library.qualified_name(class);
            let span = self.tree[inst].definition.map_or(saltus_base::Span::nowhere(), |c| c.name.span);
            self.report(crate::diagnostics::recursive_instantiation(&name, &name, span));
            return None;
        }
        self.types.open_records.push((class, inst));
        let mut fields = Vec::new();
        for comp in self.tree[inst].members.components.clone() {
            if actual && !self.is_present(comp) {
                continue;
            }
            let ty = if actual { self.comp_type(comp) } else { self.local_type(comp, Sizes::Open) };
            fields.push(RecordField { name: self.text(self.tree[comp].name).to_owned(), ty });
        }
        self.types.open_records.pop();
        let record = RecordType { name: self.library.qualified_name(class), fields };
        Some(self.types.add_record(inst, slot, record))
    }

    /// The type of all elements of a component; what differs from one to the other is open in it.
    pub fn record_of_elements(&mut self, class: &ClassComp) -> Option<BaseType> {
        let mut common = self.record_of_slot(class.slot, class.elements.first().copied())?;
        for &element in class.elements.iter().skip(1) {
            let id = self.record_of_slot(class.slot, Some(element))?;
            if id == common {
                continue;
            }
            // Elements that have other fields do not fit; whoever needs the whole array says so.
            if let Some(BaseType::Record(id)) =
                typing::common_element(self, BaseType::Record(common), BaseType::Record(id))
            {
                common = id;
            }
        }
        Some(BaseType::Record(common))
    }

    /// The class with a body that an instance gets its members from: short definitions are looked through.
    pub fn defining_class(&mut self, inst: InstId) -> (ClassId, ast::ClassKind) {
        let mut at = inst;
        loop {
            self.expand(at);
            let i = &self.tree[at];
            let Some(definition) = i.definition else { return (i.class, ast::ClassKind::Package) };
            match (&definition.body, i.members.bases.first()) {
                (ast::ClassBody::Short(_), Some(&base)) => at = base,
                _ => return (i.class, definition.kind),
            }
        }
    }

    /// The type of a component where sizes may remain open: in functions and in records as such.
    pub fn local_type(&mut self, comp: CompId, sizes: Sizes) -> Type {
        let (scope, clause) = (self.tree[comp].declared.scope, self.tree[comp].declared.clause);
        let Some(slot) = self.lookup_class(scope, &clause.type_name) else { return Type::ERROR };
        let (base, of_type) = match self.simple_type(slot) {
            Some(simple) => (simple.base, simple.subscripts.clone()),
            None if self.is_function(slot) => (BaseType::Function, Vec::new()),
            None => match self.local_record(comp, slot, sizes) {
                Some(id) => (BaseType::Record(id), self.class_subscripts(slot)),
                None if self.is_record(slot) => return Type::ERROR,
                None => {
                    let class = self.library.qualified_name(self.tree[slot].class);
                    let span = clause.type_name.span;
                    self.report(crate::diagnostics::not_a_function_type(&class, span));
                    return Type::ERROR;
                }
            },
        };
        let c = &self.tree[comp];
        let mut subscripts: Vec<_> =
            c.declared.declaration.subscripts.iter().chain(&c.declared.clause.subscripts).map(|s| (s, scope)).collect();
        subscripts.extend(of_type);
        let dims = subscripts.into_iter().map(|(s, scope)| self.local_dim(s, scope, sizes)).collect::<Vec<_>>();
        Type::array(base, dims)
    }

    /// The record type of a local; one with sizes of its own has those of its modification, as far as they are known.
    fn local_record(&mut self, comp: CompId, slot: SlotId, sizes: Sizes) -> Option<RecordId> {
        let open = self.record_of_slot(slot, None)?;
        if sizes == Sizes::Open || !self.has_open_sizes(open) {
            return Some(open);
        }
        let modifier = self.tree[comp].modifier.as_ref().and_then(|m| m.without_value());
        let is_array = !self.comp_subscripts(comp).is_empty() || !self.class_subscripts(slot).is_empty();
        if is_array && modifier.as_ref().is_some_and(|m| m.subs.iter().any(|(_, sub)| !sub.is_each)) {
            return Some(open);
        }
        let modifier = merge(&modifier, &self.tree[slot].modifier);
        let inst = self.tree.new_inst(slot, modifier, None);
        self.expand(inst);
        let mut fields = Vec::new();
        for field in self.tree[inst].members.components.clone() {
            let ty = self.local_type(field, sizes);
            fields.push(RecordField { name: self.text(self.tree[field].name).to_owned(), ty });
        }
        let name = self.types.records[open].name.clone();
        Some(self.types.add_record(inst, slot, RecordType { name, fields }))
    }

    fn has_open_sizes(&self, record: RecordId) -> bool {
        self.types.records[record].fields.iter().any(|field| {
            field.ty.dims.contains(&Dim::Unknown)
                || matches!(field.ty.base, BaseType::Record(inner) if self.has_open_sizes(inner))
        })
    }

    fn local_dim(&mut self, subscript: &'a ast::Subscript, scope: InstId, sizes: Sizes) -> Dim {
        let ast::Subscript::Expr(expr) = subscript else { return Dim::Unknown };
        if let Some(size) = self.type_as_size(scope, expr) {
            return Dim::Known(size);
        }
        let mark = self.messages.mark();
        let typed = self.isolated(|front| front.expression(scope, expr));
        if sizes == Sizes::Open && self.can_be_modified(&typed, 0) {
            return Dim::Unknown;
        }
        match self.evaluate_quietly(&typed) {
            Some(saltus_eval::Value::Integer(n)) if n >= 0 => Dim::Known(n as u64),
            _ => {
                self.messages.take_back(mark);
                Dim::Unknown
            }
        }
    }

    /// Whether the fields in an expression are such that records of one class can have several values of it.
    fn can_be_modified(&mut self, expr: &Expr, depth: u32) -> bool {
        let mut fields = Vec::new();
        expr.walk(&mut |e| {
            if let ExprKind::Var(var) = e.kind {
                fields.push(self.tree.vars[var]);
            }
        });
        fields.into_iter().any(|field| {
            let prefixes = self.tree[field].prefixes;
            if prefixes.variability == Some(ast::Variability::Constant) {
                return false;
            }
            let value = if prefixes.is_final && depth < MOST_FINAL { self.comp_binding(field) } else { None };
            value.is_none_or(|value| self.can_be_modified(&value, depth + 1))
        })
    }

    pub fn is_record(&mut self, slot: SlotId) -> bool {
        let inst = self.slot_instance(slot);
        matches!(self.defining_class(inst).1, ast::ClassKind::Record | ast::ClassKind::OperatorRecord)
    }

    pub fn is_function(&mut self, slot: SlotId) -> bool {
        matches!(self.tree[slot].definition.kind, ast::ClassKind::Function | ast::ClassKind::OperatorFunction)
    }

    /// The instances of a component that are not leaves; empty for leaves.
    pub fn comp_elements(&mut self, comp: CompId) -> Vec<InstId> {
        match self.comp_kind(comp) {
            CompKind::Class(class) => class.elements.clone(),
            _ => Vec::new(),
        }
    }
}

fn simple<'a>(base: BaseType, is_connector: bool) -> SimpleType<'a> {
    SimpleType {
        base,
        subscripts: Vec::new(),
        modifier: None,
        direction: None,
        variability: None,
        connection: None,
        is_connector,
        equality_constraint: None,
        is_difference: None,
    }
}
