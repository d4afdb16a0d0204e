//! Restrictions on redeclarations (specification 7.3.3), on the names of base classes (7.1.4) and on prefixes (4.4.2).
//!
//! Whether types agree is only known once everything is instantiated, so what has to be compared is noted while classes
//! are opened and looked at afterwards.

use std::collections::HashSet;

use saltus_base::{Name, Severity, Span};
use saltus_flat::{BaseType, Purity};
use saltus_library::ClassId;
use saltus_syntax::ast;

use crate::Front;
use crate::class_rules::kind_word;
use crate::diagnostics as d;
use crate::instance::{Comp, CompId, InstId, Member, Prefixes, SlotId};
use crate::lookup::elements;
use crate::modifier::ModRef;

/// A component that is not replaceable and was redeclared: legal if the type stays the same.
pub struct RedeclaredType<'a> {
    name: Name,
    original: (&'a ast::Path, InstId),
    new: (&'a ast::Path, InstId),
    span: Span,
    declared: Span,
}

/// A class that took the place of another.
pub struct RedeclaredClass<'a> {
    pub name: Name,
    pub new: SlotId,
    pub original: SlotId,
    pub constrained_by: Option<&'a ast::Path>,
    pub scope: InstId,
    pub span: Span,
}

/// A constraining type that a redeclaration puts in the place of another one.
pub struct NewConstraint<'a> {
    pub name: Name,
    pub old: Constraint<'a>,
    pub new: (&'a ast::Path, InstId),
    pub span: Span,
}

/// What an element must fit: the class of a constraining clause, or the one that it was declared with.
#[derive(Clone, Copy)]
pub enum Constraint<'a> {
    Named(&'a ast::Path, InstId),
    Declared(SlotId),
}

impl<'a> Constraint<'a> {
    pub fn new(named: Option<&'a ast::Path>, scope: InstId, declared: SlotId) -> Constraint<'a> {
        named.map_or(Constraint::Declared(declared), |path| Constraint::Named(path, scope))
    }
}

impl<'a> Front<'a> {
    pub fn check_redeclared_component(
        &mut self,
        comp: &Comp<'a>,
        clause: &'a ast::ComponentClause,
        component: &'a ast::Component,
        scope: InstId,
        span: Span,
    ) {
        let original = comp.declared.clause;
        let name = self.text(comp.name);
        if original.prefixes.is_final {
            self.report(d::modifies_final(span, comp.declared.span));
        }
        if original.variability == Some(ast::Variability::Constant) {
            self.report(d::redeclares_constant(name, span, comp.declared.span));
        } else if let Some((given, was)) = changed_prefix(clause, original) {
            self.report(d::redeclare_prefix(name, given, was, component.name.span, comp.declared.span));
        }
        let rank = |clause: &ast::ComponentClause, c: &ast::Component| c.subscripts.len() + clause.subscripts.len();
        let (given, was) = (rank(clause, component), rank(original, comp.declared.declaration));
        let is_same_type = self.path_text(&clause.type_name.parts) == self.path_text(&original.type_name.parts);
        if given > 0 && given != was && (was > 0 || is_same_type) {
            self.report(d::redeclared_rank(name, given, was, component.name.span, comp.declared.span));
        }
        if !comp.declared.is_replaceable && scope != comp.declared.scope && !clause.prefixes.is_redeclare {
            self.checks.redeclared_types.push(RedeclaredType {
                name: comp.name,
                original: (&original.type_name, comp.declared.scope),
                new: (&clause.type_name, scope),
                span,
                declared: comp.declared.span,
            });
        }
    }

    /// Compares what was redeclared with what it replaced.
    pub fn check_redeclarations(&mut self) {
        for r in std::mem::take(&mut self.checks.redeclared_types) {
            let original = self.lookup_class(r.original.1, r.original.0);
            let new = self.lookup_class(r.new.1, r.new.0);
            let (Some(original), Some(new)) = (original, new) else { continue };
            if self.tree[original].class != self.tree[new].class {
                self.report(d::not_replaceable(self.text(r.name), r.span, r.declared));
            }
        }
        let mut seen = HashSet::new();
        for r in std::mem::take(&mut self.checks.redeclared_classes) {
            if seen.insert((r.span, self.tree[r.original].class)) {
                self.check_redeclared_class(&r);
            }
        }
        for c in std::mem::take(&mut self.checks.new_constraints) {
            self.check_new_constraint(&c);
        }
    }

    /// Whoever relies on the old constraining type finds what it promised (specification 7.3.2).
    fn check_new_constraint(&mut self, c: &NewConstraint<'a>) {
        let old = match c.old {
            Constraint::Named(path, scope) => self.lookup_class(scope, path),
            Constraint::Declared(slot) => Some(slot),
        };
        let (Some(old), Some(new)) = (old, self.lookup_class(c.new.1, c.new.0)) else { return };
        if let Some(lacks) = self.first_missing(old, new) {
            let names = [new, old].map(|slot| self.library.qualified_name(self.tree[slot].class));
            let (name, lacks) = (self.text(c.name), self.text(lacks));
            self.report_once(d::wider_constraint(name, &names[0], &names[1], lacks, c.span));
        }
    }

    fn check_redeclared_class(&mut self, r: &RedeclaredClass<'a>) {
        let constraining = match r.constrained_by {
            Some(path) => self.lookup_class(r.scope, path),
            None => Some(r.original),
        };
        let Some(constraining) = constraining.filter(|&c| self.tree[c].class != self.tree[r.new].class) else {
            return;
        };
        let name = self.text(r.name);
        match (self.simple_type(constraining), self.simple_type(r.new)) {
            (Some(wanted), Some(given)) => {
                let are_objects = [given.base, wanted.base].map(|b| matches!(b, BaseType::ExternalObject(_)));
                if are_objects == [true, true] {
                    let instances = [constraining, r.new].map(|slot| self.slot_instance(slot));
                    self.check_same_value_class(name, instances, r.span);
                } else if !self.types.is_subtype(given.base, wanted.base) {
                    let (given, wanted) = (self.types.base_text(given.base), self.types.base_text(wanted.base));
                    self.report(d::wrong_type_replacement(name, &given, &wanted, r.span));
                }
            }
            (Some(wanted), None) => {
                let given = format!("`{}`", self.library.qualified_name(self.tree[r.new].class));
                let wanted = self.types.base_text(wanted.base);
                self.report(d::wrong_type_replacement(name, &given, &wanted, r.span));
            }
            (None, _) => self.check_promised_elements(name, constraining, r.new, r.span),
        }
    }

    /// The new class has every public component of the constraining one, and means the same kind of value.
    fn check_promised_elements(&mut self, name: &str, constraining: SlotId, new: SlotId, span: Span) {
        let instances = [constraining, new].map(|slot| self.slot_instance(slot));
        if self.check_same_value_class(name, instances, span) {
            return;
        }
        if let Some(lacks) = self.first_missing(constraining, new) {
            let [base, class] = [constraining, new].map(|slot| self.library.qualified_name(self.tree[slot].class));
            self.report(d::wrong_replacement(name, &class, &base, self.text(lacks), span));
            return;
        }
        if !self.check_promised_types(name, instances, span) && self.is_function(constraining) && self.is_function(new)
        {
            let [promised, given] = [constraining, new].map(|slot| self.function_of(slot));
            if self.functions[given].purity == Purity::Impure && self.functions[promised].purity == Purity::Pure {
                let class = self.library.qualified_name(self.tree[new].class);
                self.report(d::impure_replacement(name, &class, span));
            }
        }
    }

    /// Reports an element of a replacement that is something else than was promised.
    pub fn check_promised_types(&mut self, name: &str, [promised, given]: [InstId; 2], span: Span) -> bool {
        let Some(found) = self.first_mismatch(promised, given) else { return false };
        let classes = [given, promised].map(|inst| self.library.qualified_name(self.tree[inst].class));
        let what = [&found.element, &found.given, &found.wanted].map(String::as_str);
        self.report(d::incompatible_replacement(name, classes.each_ref().map(String::as_str), what, span));
        true
    }

    /// The first public component of one class that another does not have.
    fn first_missing(&mut self, promised: SlotId, given: SlotId) -> Option<Name> {
        let (promised, given) = (self.slot_instance(promised), self.slot_instance(given));
        self.expand(promised);
        self.expand(given);
        if self.tree[given].members.is_incomplete {
            return None;
        }
        let promised: Vec<Name> = self.tree[promised]
            .members
            .components
            .iter()
            .map(|&c| &self.tree[c])
            .filter(|c| !c.declared.is_hidden && c.declared.condition.is_none())
            .map(|c| c.name)
            .collect();
        promised.into_iter().find(|&name| self.member(given, name).is_none())
    }

    /// Reports an operator record or external object, or something else, that becomes another one: their operations belong to
    /// the class (specification 6.4).
    pub fn check_same_value_class(&mut self, name: &str, [promised, given]: [InstId; 2], span: Span) -> bool {
        let [wanted, found] = [promised, given].map(|inst| {
            self.expand(inst);
            self.value_class(inst)
        });
        if wanted == found || self.tree[given].members.is_incomplete {
            return false;
        }
        let names = [promised, given].map(|inst| self.library.qualified_name(self.tree[inst].class));
        let what = match (wanted, found) {
            (Some((_, what)), _) => what,
            _ => "record",
        };
        self.report(d::other_kind_of_value(name, what, &names[0], &names[1], span));
        true
    }

    /// The class that defines the operations of an operator record or an external object.
    fn value_class(&self, inst: InstId) -> Option<(ClassId, &'static str)> {
        let bases = &self.tree[inst].members.bases;
        if let Some(found) = bases.iter().find_map(|&base| self.value_class(base)) {
            return Some(found);
        }
        let class = self.tree[inst].class;
        if bases.iter().any(|&base| Some(self.tree[base].class) == self.types.external_object) {
            return Some((class, "external object"));
        }
        let definition = self.tree[inst].definition?;
        (definition.kind == ast::ClassKind::OperatorRecord).then_some((class, "operator record"))
    }

    /// An element is redeclared in the `extends` clause or in the body, not in both.
    pub fn check_redeclared_once(&mut self, own: &ModRef<'a>, redeclared: &ModRef<'a>) {
        let (Some(own), Some(redeclared)) = (own, redeclared) else { return };
        for (name, second) in &redeclared.subs {
            if let Some((_, first)) = own.subs.iter().find(|(n, m)| n == name && !m.redeclares.is_empty()) {
                self.report(d::modified_twice(self.text(*name), second.span, first.span));
            }
        }
    }

    /// A class of the body and an inherited one of the same name must be identical.
    pub fn check_inherited_classes(&mut self, inst: InstId, body: &'a ast::LongClass) {
        for element in elements(body) {
            let ast::ElementKind::Class(own) = &element.kind else { continue };
            let name = own.class.name;
            if own.prefixes.is_redeclare {
                continue;
            }
            for base in self.tree[inst].members.bases.clone() {
                let Some(inherited) = self.inherited_class(base, name.name) else { continue };
                if !std::ptr::eq(inherited, &own.class) && !self.is_same_text(inherited, &own.class) {
                    let class = self.library.qualified_name(self.tree[inst].class);
                    let text = self.text(name.name);
                    self.report_always(d::duplicate_differs(text, &class, name.span, inherited.name.span));
                }
            }
        }
    }

    /// Descriptions and annotations of short definitions do not matter.
    fn is_same_text(&self, a: &ast::ClassDef, b: &ast::ClassDef) -> bool {
        match (&a.body, &b.body) {
            (ast::ClassBody::Short(x), ast::ClassBody::Short(y)) => {
                let modification = |s: &ast::ShortClass| s.modification.as_ref().map(|m| self.source_text(m.span));
                a.kind == b.kind
                    && self.source_text(x.base.span) == self.source_text(y.base.span)
                    && modification(x) == modification(y)
                    && x.subscripts.len() == y.subscripts.len()
            }
            _ => self.source_text(a.span) == self.source_text(b.span),
        }
    }

    fn inherited_class(&self, inst: InstId, name: Name) -> Option<&'a ast::ClassDef> {
        let own = self.library.child(self.tree[inst].class, name).and_then(|c| self.library.definition(c));
        own.or_else(|| self.tree[inst].members.bases.iter().find_map(|&base| self.inherited_class(base, name)))
    }

    /// The first part of the name of a base class must mean the same once the bases have been inherited.
    pub fn check_base_names(&mut self, inst: InstId, body: &'a ast::LongClass) {
        for element in elements(body) {
            let ast::ElementKind::Extends(extends) = &element.kind else { continue };
            let Some(first) = extends.base.parts.first().filter(|_| !extends.base.is_global) else { continue };
            if self.library.child(self.tree[inst].class, first.name).is_some() {
                continue;
            }
            let Some(inherited) = self.tree[inst]
                .members
                .bases
                .clone()
                .into_iter()
                .find_map(|base| self.inherited_class(base, first.name))
            else {
                continue;
            };
            let found = self.lookup_base_name(inst, first.name);
            if let Some(Member::Class(slot)) = found
                && !std::ptr::eq(self.tree[slot].definition, inherited)
            {
                self.report_always(d::base_name_inherited(self.text(first.name), first.span, inherited.name.span));
            }
        }
    }

    /// Prefixes belong to variables, records and connectors; a model or block has none (specification 4.4.2.2).
    pub fn check_type_prefix(&mut self, comp: CompId, kind: ast::ClassKind) {
        let clause = self.tree[comp].declared.clause;
        let prefix = clause.connection.map(connection_word).or(clause.direction.map(direction_word));
        let prefix = prefix.or(clause.variability.map(variability_word));
        if let (Some(prefix), ast::ClassKind::Model | ast::ClassKind::Block) = (prefix, kind) {
            let (name, span) = (self.text(self.tree[comp].name), self.tree[comp].declared.span);
            let diagnostic = d::prefix_of_model(prefix, name, kind_word(kind), span);
            let is_clear = clause.connection.is_none() && clause.direction.is_none();
            self.report_once(if is_clear { diagnostic.severity(Severity::Warning) } else { diagnostic });
        }
    }

    /// Only some kinds of classes can be derived from others (specification 7.1.3).
    pub fn check_base_kind(&mut self, inst: InstId, base: SlotId, span: Span) {
        use ast::ClassKind::{Block, Class, Model};
        let Some(definition) = self.tree[inst].definition else { return };
        let (kind, of_base) = (definition.kind, self.tree[base].definition.kind);
        if may_extend(kind, of_base) || self.types.builtin_classes.contains_key(&self.tree[base].class) {
            return;
        }
        let names = [self.tree[inst].class, self.tree[base].class].map(|class| self.library.qualified_name(class));
        let (words, is_icon) = ([kind_word(kind), kind_word(of_base)], is_icon(self.tree[base].definition));
        let is_loose = is_icon || kind == Class || (kind, of_base) == (Block, Model);
        let message = if is_loose { d::loose_base_kind } else { d::base_kind };
        self.report_once(message(&names[0], words[0], &names[1], words[1], span));
    }

    /// `input`, `output`, `flow` and `stream` hold for everything in a component and are not written again inside it.
    pub fn check_nested_prefixes(
        &mut self,
        inherited: Prefixes,
        clause: &'a ast::ComponentClause,
        declaration: &'a ast::Component,
    ) {
        let directions = inherited.direction.zip(clause.direction).map(|(o, i)| (direction_word(i), direction_word(o)));
        let connections =
            inherited.connection.zip(clause.connection).map(|(o, i)| (connection_word(i), connection_word(o)));
        if let Some((own, outer)) = directions.or(connections) {
            let name = self.text(declaration.name.name);
            self.report_once(d::nested_prefix(own, name, outer, declaration.name.span));
        }
    }

    /// An `outer` declaration stands for another one and has no modification of its own.
    pub fn check_outer_unmodified(&mut self, comp: &Comp<'a>, own: &ModRef<'a>, outside: &ModRef<'a>) {
        for modifier in [own, outside].into_iter().flatten().filter(|m| m.says_something()) {
            self.report(d::outer_modified(self.text(comp.name), modifier.span));
        }
    }
}

/// The table of section 7.1.3 of the specification.
fn may_extend(derived: ast::ClassKind, base: ast::ClassKind) -> bool {
    use ast::ClassKind::{Block, Class, Connector, Function, Model, OperatorFunction, OperatorRecord, Record, Type};
    let others: &[ast::ClassKind] = match derived {
        OperatorFunction => &[Function],
        Connector => &[Type, Record, OperatorRecord],
        Block => &[Record],
        Model => &[Record, Block],
        _ => &[],
    };
    derived == base || base == Class || others.contains(&base)
}

/// A class that consists of a description and pictures.
fn is_icon(definition: &ast::ClassDef) -> bool {
    match &definition.body {
        ast::ClassBody::Long(body) => {
            body.external.is_none()
                && body.sections.iter().all(|section| match section {
                    ast::Section::Elements { elements, .. } => elements.is_empty(),
                    _ => false,
                })
        }
        _ => false,
    }
}

/// A prefix of a redeclaration that contradicts the original one.
fn changed_prefix(new: &ast::ComponentClause, original: &ast::ComponentClause) -> Option<(&'static str, &'static str)> {
    if let (Some(given), Some(was)) = (new.connection, original.connection)
        && given != was
    {
        return Some((connection_word(given), connection_word(was)));
    }
    if let (Some(given), Some(was)) = (new.direction, original.direction)
        && given != was
    {
        return Some((direction_word(given), direction_word(was)));
    }
    if let (Some(given), Some(was)) = (new.variability, original.variability)
        && rank(given) > rank(was)
    {
        return Some((variability_word(given), variability_word(was)));
    }
    None
}

fn rank(variability: ast::Variability) -> u8 {
    match variability {
        ast::Variability::Constant => 0,
        ast::Variability::Parameter => 1,
        ast::Variability::Discrete => 2,
    }
}

fn variability_word(variability: ast::Variability) -> &'static str {
    match variability {
        ast::Variability::Constant => "constant",
        ast::Variability::Parameter => "parameter",
        ast::Variability::Discrete => "discrete",
    }
}

fn connection_word(connection: ast::Connection) -> &'static str {
    match connection {
        ast::Connection::Flow => "flow",
        ast::Connection::Stream => "stream",
    }
}

pub fn direction_word(direction: ast::Direction) -> &'static str {
    match direction {
        ast::Direction::Input => "input",
        ast::Direction::Output => "output",
    }
}
