//! Modifications, redeclarations and annotations.

use saltus_base::Span;

use super::Parser;
use crate::ast::{
    Annotated, Annotation, Argument, ClassModification, ComponentClause, ConstrainedBy, ElementModification,
    ElementPrefixes, ElementRedeclaration, Modification, ModificationValue, Path, RedeclarationKind,
};
use crate::token::Kind;

impl Parser<'_> {
    /// `"description" annotation(…)`, both optional.
    pub(super) fn annotated(&mut self) -> Annotated {
        Annotated { description: self.description(), annotation: self.annotation() }
    }

    pub(super) fn annotation(&mut self) -> Option<Annotation> {
        if !self.is(Kind::Annotation) {
            return None;
        }
        let start = self.span();
        self.at += 1;
        let modification = match self.class_modification() {
            Some(modification) => modification,
            None => {
                self.expected("`(`");
                ClassModification { arguments: Vec::new(), span: self.behind_previous() }
            }
        };
        Some(Annotation { modification, span: self.since(start) })
    }

    /// `(…)`, or nothing.
    pub(super) fn class_modification(&mut self) -> Option<ClassModification> {
        if !self.is(Kind::LeftParen) {
            return None;
        }
        let start = self.span();
        let height = std::mem::take(&mut self.height);
        let arguments = self.nested(Self::arguments).unwrap_or_default();
        self.height = height;
        Some(ClassModification { arguments, span: self.since(start) })
    }

    fn arguments(&mut self) -> Vec<Argument> {
        let open = self.bump();
        let mut arguments = Vec::new();
        if self.eat(Kind::RightParen) {
            return arguments;
        }
        loop {
            let argument = self.argument();
            arguments.push(argument);
            if !self.next_in_list(open) {
                break;
            }
        }
        self.close(open);
        arguments
    }

    fn argument(&mut self) -> Argument {
        let start = self.span();
        let mut prefixes = ArgumentPrefixes::default();
        loop {
            match self.kind() {
                Kind::Redeclare => prefixes.is_redeclare = true,
                Kind::Each => prefixes.is_each = true,
                Kind::Final => prefixes.is_final = true,
                Kind::Replaceable => prefixes.is_replaceable = true,
                Kind::Break if prefixes.is_empty() => return self.break_argument(start),
                _ => break,
            }
            self.at += 1;
        }
        if prefixes.is_redeclare || prefixes.is_replaceable {
            return Argument::Redeclaration(Box::new(self.redeclaration(start, prefixes)));
        }
        let is_named = self.is(Kind::Ident) || self.kind().is_keyword() && self.kind_at(1) == Kind::Equals;
        if !is_named {
            self.expected("a modification such as `name = value`");
            self.skip_in_list();
            return Argument::Error(self.since(start));
        }
        let name_start = self.span();
        let parts = self.name("the name of an element");
        let name = Path { is_global: false, parts, span: self.since(name_start) };
        let modification = self.modification();
        let description = self.description();
        Argument::Modification(ElementModification {
            is_each: prefixes.is_each,
            is_final: prefixes.is_final,
            name,
            modification,
            description,
            span: self.since(start),
        })
    }

    /// `break x` or `break connect(a, b)`
    fn break_argument(&mut self, start: Span) -> Argument {
        self.at += 1;
        if self.is(Kind::Connect) {
            let (from, to) = self.connect();
            return Argument::BreakConnect { from, to, span: self.since(start) };
        }
        Argument::BreakElement(self.ident("a name or `connect` behind `break`"))
    }

    fn redeclaration(&mut self, start: Span, prefixes: ArgumentPrefixes) -> ElementRedeclaration {
        let kind = if self.begins_class() {
            RedeclarationKind::Class(self.class_definition())
        } else {
            RedeclarationKind::Component(self.single_component())
        };
        ElementRedeclaration {
            is_redeclare: prefixes.is_redeclare,
            is_each: prefixes.is_each,
            is_final: prefixes.is_final,
            is_replaceable: prefixes.is_replaceable,
            kind,
            constrained_by: self.constrained_by(),
            span: self.since(start),
        }
    }

    fn single_component(&mut self) -> ComponentClause {
        let mut clause = self.component_type(ElementPrefixes::default());
        clause.components.push(self.component());
        clause
    }

    /// `constrainedby Base(…)`. Modelica 2 wrote `extends`; on a new line that is an element of its own.
    pub(super) fn constrained_by(&mut self) -> Option<ConstrainedBy> {
        let start = self.span();
        if self.is(Kind::Extends) && !self.on_new_line() && !self.recovering {
            self.remark(crate::diagnostics::extends_as_constraint(start));
        } else if !self.is(Kind::Constrainedby) {
            return None;
        }
        self.at += 1;
        let base = self.path("the name of a class");
        let modification = self.class_modification();
        let comment = self.annotated();
        Some(ConstrainedBy { base, modification, comment, span: self.since(start) })
    }

    /// `(…)`, `= e`, `:= e` or `(…) = e`, or nothing.
    pub(super) fn modification(&mut self) -> Option<Modification> {
        if !matches!(self.kind(), Kind::LeftParen | Kind::Equals | Kind::Assign | Kind::EqualEqual) {
            return None;
        }
        let start = self.span();
        let class = self.class_modification();
        let value = match self.kind() {
            Kind::Equals | Kind::Assign => Some(self.modification_value()),
            Kind::EqualEqual => {
                self.remark(crate::diagnostics::comparison_as_modification(self.span()));
                Some(self.modification_value())
            }
            _ => None,
        };
        Some(Modification { class, value, span: self.since(start) })
    }

    fn modification_value(&mut self) -> ModificationValue {
        let is_assignment = self.bump().kind == Kind::Assign;
        if self.eat(Kind::Break) {
            return ModificationValue { is_assignment, expr: None };
        }
        self.height = 0;
        ModificationValue { is_assignment, expr: Some(self.expression()) }
    }
}

#[derive(Clone, Copy, Default)]
struct ArgumentPrefixes {
    is_redeclare: bool,
    is_each: bool,
    is_final: bool,
    is_replaceable: bool,
}

impl ArgumentPrefixes {
    fn is_empty(self) -> bool {
        !(self.is_redeclare || self.is_each || self.is_final || self.is_replaceable)
    }
}
