//! What a class may contain, as far as its text alone tells: specialised classes (specification 4.7), functions (12.2),
//! external objects (12.9.7), operators (14), enumerations (4.9.5) and imports (13.2).
//!
//! ```text
//! connector C                      error[E0287]: the connector `C` cannot have equations
//!   Real v;
//! equation
//!   v = 0;
//! end C;
//! ```
//!
//! Each class is looked at once, when it is opened for the first time.

use saltus_base::{Name, Span};
use saltus_library::ClassId;
use saltus_syntax::ast::{self, ClassKind};

use crate::Front;
use crate::annotation::argument;
use crate::diagnostics as d;
use crate::lookup::{elements, imports};

/// Attributes of enumeration types.
const ENUMERATION_ATTRIBUTES: [&str; 5] = ["quantity", "min", "max", "start", "fixed"];

impl<'a> Front<'a> {
    pub fn check_class(&mut self, class: ClassId, definition: &'a ast::ClassDef) {
        if !self.checks.checked_classes.insert(class) || self.types.builtin_classes.contains_key(&class) {
            return;
        }
        self.check_annotation_places(definition);
        match &definition.body {
            ast::ClassBody::Enumeration(body) => self.check_literals(body),
            ast::ClassBody::Long(body) => {
                self.check_sections(class, definition.kind, body);
                self.check_declarations(class, definition.kind, body);
                self.check_external_object(class, definition, body);
                if imports(body).next().is_some() {
                    self.imports.classes.push(class);
                }
                // Reading the names of the classes in it finds the ones that are declared twice.
                self.library.child(class, self.words.constructor);
            }
            _ => {}
        }
    }

    fn check_literals(&mut self, body: &ast::EnumerationBody) {
        let mut seen: Vec<ast::Ident> = Vec::new();
        for literal in body.literals.iter().flatten() {
            let text = self.text(literal.name.name);
            if let Some(first) = seen.iter().find(|l| l.name == literal.name.name) {
                self.report_always(d::literal_twice(text, literal.name.span, first.span));
            } else if ENUMERATION_ATTRIBUTES.contains(&text) {
                self.report_always(d::literal_is_attribute(text, literal.name.span));
            }
            seen.push(literal.name);
        }
    }

    fn check_sections(&mut self, class: ClassId, kind: ClassKind, body: &'a ast::LongClass) {
        let name = self.library.qualified_name(class);
        let only_declares = only_declares(kind);
        let is_function = is_function_kind(kind);
        for section in &body.sections {
            match section {
                ast::Section::Equations { keyword, equations, .. } if only_declares && !equations.is_empty() => {
                    self.report_always(d::section_not_allowed("equations", kind_word(kind), &name, *keyword));
                }
                ast::Section::Algorithm { keyword, .. } if only_declares => {
                    self.report_always(d::section_not_allowed("an algorithm", kind_word(kind), &name, *keyword));
                }
                ast::Section::Algorithm { is_initial: true, keyword, .. } if is_function => {
                    self.report_always(d::initial_algorithm_in_function(*keyword));
                }
                ast::Section::Elements { visibility: ast::Visibility::Protected, keyword: Some(keyword), elements }
                    if only_public(kind) && !elements.is_empty() =>
                {
                    self.report_always(d::section_not_allowed("protected elements", kind_word(kind), &name, *keyword));
                }
                _ => {}
            }
        }
        if let Some(external) = &body.external
            && !is_function
        {
            self.report_always(d::external_outside_function(kind_word(kind), &name, external.span));
        }
    }

    fn check_declarations(&mut self, class: ClassId, kind: ClassKind, body: &'a ast::LongClass) {
        for section in &body.sections {
            let ast::Section::Elements { visibility, elements, .. } = section else { continue };
            let is_protected = *visibility == ast::Visibility::Protected;
            for element in elements {
                match &element.kind {
                    ast::ElementKind::Components(clause) => {
                        for component in &clause.components {
                            self.check_declaration(class, kind, clause, component, is_protected);
                        }
                    }
                    ast::ElementKind::Class(inner)
                        if !matches!(kind, ClassKind::OperatorRecord | ClassKind::Operator)
                            && matches!(inner.class.kind, ClassKind::Operator | ClassKind::OperatorFunction) =>
                    {
                        let name = self.text(inner.class.name.name);
                        let word = kind_word(inner.class.kind);
                        self.report_always(d::operator_outside_record(word, name, inner.class.name.span));
                    }
                    ast::ElementKind::Class(inner)
                        if kind == ClassKind::OperatorRecord
                            && matches!(inner.class.kind, ClassKind::Operator | ClassKind::OperatorFunction)
                            && !inner.class.is_encapsulated
                            && matches!(inner.class.body, ast::ClassBody::Long(_)) =>
                    {
                        let name = self.text(inner.class.name.name);
                        self.report_always(d::operator_not_encapsulated(name, inner.class.name.span));
                    }
                    _ => {}
                }
            }
        }
    }

    fn check_declaration(
        &mut self,
        class: ClassId,
        kind: ClassKind,
        clause: &'a ast::ComponentClause,
        component: &'a ast::Component,
        is_protected: bool,
    ) {
        let (name, span) = (self.text(component.name.name), component.name.span);
        let is_constant = clause.variability == Some(ast::Variability::Constant);
        if component.name.name == self.words.time {
            self.report_always(d::reserved_name(name, span));
        }
        if kind == ClassKind::Package && !is_constant && !clause.prefixes.is_redeclare {
            self.report_always(d::package_variable(name, &self.library.qualified_name(class), span));
        }
        let prefixes = &clause.prefixes;
        let has_prefix =
            clause.direction.is_some() || clause.connection.is_some() || prefixes.is_inner || prefixes.is_outer;
        let is_record = matches!(kind, ClassKind::Record | ClassKind::OperatorRecord);
        if is_record && has_prefix {
            self.report_always(d::record_prefix(name, &self.library.qualified_name(class), span));
        }
        self.check_annotation(component.comment.annotation.as_ref());
        self.check_annotated_once(name, clause.constrained_by.as_ref(), &component.comment, span);
        self.check_connector_sizing(clause, component);
        if kind == ClassKind::ExpandableConnector && clause.connection == Some(ast::Connection::Flow) {
            self.report_always(d::expandable_flow(name, span));
        }
        let may_stream = matches!(kind, ClassKind::Connector | ClassKind::ExpandableConnector | ClassKind::Class);
        if clause.connection == Some(ast::Connection::Stream) && !may_stream && !is_record {
            self.report_always(d::stream_outside_connector(name, span));
        }
        if let Some(condition) = component.condition.as_ref().filter(|_| clause.prefixes.is_redeclare) {
            self.report_always(d::redeclare_condition(name, condition.span));
        }
        if is_function_kind(kind) {
            if clause.prefixes.is_inner || clause.prefixes.is_outer {
                self.report_always(d::function_inner_outer(name, span));
            }
            match clause.direction {
                Some(_) if is_protected => self.report_always(d::protected_formal_parameter(name, span)),
                None if !is_protected && !is_constant && !clause.prefixes.is_redeclare => {
                    self.report_always(d::public_function_variable(name, span));
                }
                _ => {}
            }
        }
    }

    /// An annotation contains values, and nothing that belongs to declarations (specification 18.2).
    fn check_annotation(&mut self, annotation: Option<&'a ast::Annotation>) {
        for argument in annotation.iter().flat_map(|a| &a.modification.arguments) {
            let wrong = match argument {
                ast::Argument::Modification(m) if m.is_final || m.is_each => m.span,
                ast::Argument::Redeclaration(r) => r.span,
                _ => continue,
            };
            self.report_always(d::annotation_prefix(wrong));
        }
    }

    /// What stands behind the constraining type is about the whole declaration (specification 7.3.2.1).
    fn check_annotated_once(
        &mut self,
        name: &str,
        constraint: Option<&ast::ConstrainedBy>,
        own: &ast::Annotated,
        span: Span,
    ) {
        let Some(constraint) = constraint else { return };
        let other = &constraint.comment;
        let has_both_texts = !own.description.parts.is_empty() && !other.description.parts.is_empty();
        if has_both_texts || own.annotation.is_some() && other.annotation.is_some() {
            self.report_always(d::annotated_twice(name, span, constraint.span));
        }
    }

    /// A parameter that counts connections is a scalar Integer (specification 18.10.1).
    fn check_connector_sizing(&mut self, clause: &'a ast::ComponentClause, component: &'a ast::Component) {
        let Some(annotation) = component.comment.annotation.as_ref() else { return };
        let Some(dialog) = argument(&annotation.modification, self.words.dialog) else { return };
        let Some(class) = dialog.modification.as_ref().and_then(|m| m.class.as_ref()) else { return };
        let is_sized = argument(class, self.words.connector_sizing)
            .and_then(|m| m.modification.as_ref()?.value.as_ref()?.expr.as_ref())
            .is_some_and(|e| matches!(e.kind, ast::ExprKind::Boolean(true)));
        let is_real = matches!(clause.type_name.parts.as_slice(), [part] if ["Real", "Boolean", "String"].contains(&self.text(part.name)));
        let is_array = !component.subscripts.is_empty() || !clause.subscripts.is_empty();
        let is_fixed = matches!(clause.variability, Some(ast::Variability::Parameter | ast::Variability::Constant));
        if is_sized && (is_real || is_array || !is_fixed) {
            self.report_always(d::connector_sizing(self.text(component.name.name), component.name.span));
        }
    }

    /// A name that is used must not be imported twice with different meanings.
    pub fn check_imports_of(&mut self, name: Name, body: &'a ast::LongClass) {
        let mut seen: Vec<(String, Span)> = Vec::new();
        for import in imports(body) {
            let path = self.path_text(&import.path.parts);
            let brought: Vec<(Name, String, Span)> = match &import.kind {
                ast::ImportKind::Qualified => {
                    import.path.parts.last().map(|p| (p.name, path, import.path.span)).into_iter().collect()
                }
                ast::ImportKind::Renamed(alias) => vec![(alias.name, path, alias.span)],
                ast::ImportKind::Some(names) => {
                    names.iter().map(|n| (n.name, format!("{path}.{}", self.text(n.name)), n.span)).collect()
                }
                ast::ImportKind::All => Vec::new(),
            };
            for (_, target, span) in brought.into_iter().filter(|(n, _, _)| *n == name) {
                if let Some((_, first)) = seen.iter().find(|(t, _)| *t != target) {
                    self.report_always(d::import_conflict(self.text(name), span, *first));
                }
                seen.push((target, span));
            }
        }
    }

    /// A class that extends `ExternalObject` has a constructor and a destructor and nothing else.
    fn check_external_object(&mut self, class: ClassId, definition: &'a ast::ClassDef, body: &'a ast::LongClass) {
        let external_object = self.words.external_object;
        let is_object = |e: &ast::Element| {
            matches!(&e.kind, ast::ElementKind::Extends(x)
                if matches!(x.base.parts.as_slice(), [part] if part.name == external_object))
        };
        if !elements(body).any(is_object) {
            return;
        }
        let name = self.library.qualified_name(class);
        let wanted = [self.words.constructor, self.words.destructor];
        let mut found = Vec::new();
        for element in elements(body).filter(|e| !is_object(e)) {
            match &element.kind {
                ast::ElementKind::Class(inner) if wanted.contains(&inner.class.name.name) => {
                    let ident = inner.class.name;
                    found.push(ident.name);
                    if !is_function_kind(inner.class.kind) {
                        self.report_always(d::external_object_element(self.text(ident.name), &name, ident.span));
                    } else if inner.prefixes.is_replaceable {
                        self.report_always(d::external_object_replaceable(self.text(ident.name), ident.span));
                    }
                }
                ast::ElementKind::Class(inner) => {
                    let ident = inner.class.name;
                    self.report_always(d::external_object_element(self.text(ident.name), &name, ident.span));
                }
                ast::ElementKind::Components(clause) => {
                    for component in &clause.components {
                        let text = self.text(component.name.name);
                        self.report_always(d::external_object_element(text, &name, component.name.span));
                    }
                }
                ast::ElementKind::Extends(_) | ast::ElementKind::Import(_) | ast::ElementKind::Error => {}
            }
        }
        for missing in wanted.into_iter().filter(|w| !found.contains(w)) {
            self.report_always(d::external_object_lacks(self.text(missing), &name, definition.name.span));
        }
    }
}

pub fn is_function_kind(kind: ClassKind) -> bool {
    matches!(kind, ClassKind::Function | ClassKind::OperatorFunction)
}

/// Classes without behaviour.
fn only_declares(kind: ClassKind) -> bool {
    only_public(kind) || matches!(kind, ClassKind::Package | ClassKind::Operator)
}

/// Classes all of whose elements are public.
fn only_public(kind: ClassKind) -> bool {
    matches!(
        kind,
        ClassKind::Connector
            | ClassKind::ExpandableConnector
            | ClassKind::Record
            | ClassKind::OperatorRecord
            | ClassKind::Type
    )
}

/// How a kind of class is called in messages.
pub fn kind_word(kind: ClassKind) -> &'static str {
    match kind {
        ClassKind::Class => "class",
        ClassKind::Model => "model",
        ClassKind::Block => "block",
        ClassKind::Connector => "connector",
        ClassKind::ExpandableConnector => "expandable connector",
        ClassKind::Record => "record",
        ClassKind::OperatorRecord => "operator record",
        ClassKind::Type => "type",
        ClassKind::Package => "package",
        ClassKind::Function => "function",
        ClassKind::OperatorFunction => "operator function",
        ClassKind::Operator => "operator",
    }
}
