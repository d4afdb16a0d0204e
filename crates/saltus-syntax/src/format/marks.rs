//! What the tree knows about the layout: which tokens begin a line, and at which indentation.

use saltus_base::Span;

use crate::ast::{
    Annotated, Annotation, Argument, ClassBody, ClassDef, ClassModification, ConstrainedBy, Element, ElementKind,
    Equation, EquationKind, Expr, ImportKind, LongClass, Modification, RedeclarationKind, Section, Statement,
    StatementKind, StoredDefinition,
};
use crate::token::{Kind, Token};

/// Layout of one token; the default is a token inside an item.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mark {
    /// Begins a line at this indentation.
    pub line: Option<u16>,
    /// Closes or divides a block (`end`, `else`, `equation`): comments before it may belong to the block.
    pub is_dedent: bool,
    /// `annotation`: begins a continuation line.
    pub is_annotation: bool,
    /// `(` of a modification, which may be broken into one argument a line.
    pub is_list: bool,
    /// `=` with spaces around it.
    pub is_spaced: bool,
    /// `=` of a declaration: the author's spaces stay.
    pub is_free: bool,
}

const STEP: u16 = 2;

pub(super) fn mark(tree: &StoredDefinition, tokens: &[Token]) -> Vec<Mark> {
    let mut marker = Marker { tokens, marks: vec![Mark::default(); tokens.len()] };
    if let Some(within) = &tree.within {
        marker.line(within.span, 0);
    }
    for definition in &tree.classes {
        let first = marker.index(definition.class.span.start);
        let first = if definition.is_final { first.saturating_sub(1) } else { first };
        marker.line_at(first, 0);
        marker.class(&definition.class, 0);
    }
    marker.marks
}

struct Marker<'t> {
    tokens: &'t [Token],
    marks: Vec<Mark>,
}

impl Marker<'_> {
    /// The first token at or behind an offset.
    fn index(&self, offset: u32) -> usize {
        self.tokens.partition_point(|t| t.start < offset).min(self.tokens.len() - 1)
    }

    fn kind(&self, index: usize) -> Kind {
        self.tokens.get(index).map_or(Kind::Eof, |t| t.kind)
    }

    fn line_at(&mut self, index: usize, indent: u16) {
        if let Some(mark) = self.marks.get_mut(index) {
            mark.line = Some(indent);
        }
    }

    fn line(&mut self, span: Span, indent: u16) {
        self.line_at(self.index(span.start), indent);
    }

    fn dedent_at(&mut self, index: usize, indent: u16) {
        self.line_at(index, indent);
        if let Some(mark) = self.marks.get_mut(index) {
            mark.is_dedent = true;
        }
    }

    fn spaced_equals(&mut self, index: usize) {
        if self.kind(index) == Kind::Equals {
            self.marks[index].is_spaced = true;
        }
    }

    fn class(&mut self, class: &ClassDef, indent: u16) {
        self.spaced_equals(self.index(class.name.span.end));
        match &class.body {
            ClassBody::Long(long) => self.long_class(class, long, indent),
            ClassBody::Short(short) => {
                self.modification_list(short.modification.as_ref());
                self.comment(&short.comment);
            }
            ClassBody::Enumeration(body) => {
                let open = self.index(class.name.span.end) + 2;
                if self.kind(open) == Kind::LeftParen {
                    self.marks[open].is_list = true;
                }
                for literal in body.literals.iter().flatten() {
                    self.inner_comment(&literal.comment);
                }
                self.comment(&body.comment);
            }
            ClassBody::Derivative { comment, .. } => self.comment(comment),
        }
    }

    fn long_class(&mut self, class: &ClassDef, long: &LongClass, indent: u16) {
        if let Some(modification) = &long.extends {
            self.modification_list(modification.as_ref());
        }
        for section in &long.sections {
            self.section(section, indent);
        }
        if let Some(external) = &long.external {
            self.line(external.span, indent + STEP);
            if let Some(result) = external.call.as_ref().and_then(|c| c.result.as_ref()) {
                self.spaced_equals(self.index(result.span.end));
            }
            self.annotation(external.annotation.as_ref());
        }
        if let Some(annotation) = &long.annotation {
            self.line(annotation.span, indent + STEP);
            self.modification_list(Some(&annotation.modification));
        }
        let end = self.index(class.span.end).saturating_sub(2);
        if long.end_name.is_some() && self.kind(end) == Kind::End {
            self.dedent_at(end, indent);
        }
    }

    fn section(&mut self, section: &Section, indent: u16) {
        match section {
            Section::Elements { keyword, elements, .. } => {
                if let Some(keyword) = keyword {
                    self.dedent_at(self.index(keyword.start), indent);
                }
                for element in elements {
                    self.element(element, indent + STEP);
                }
            }
            Section::Equations { keyword, equations, .. } => {
                self.dedent_at(self.index(keyword.start), indent);
                self.equations(equations, indent + STEP);
            }
            Section::Algorithm { keyword, statements, .. } => {
                self.dedent_at(self.index(keyword.start), indent);
                self.statements(statements, indent + STEP);
            }
        }
    }

    fn element(&mut self, element: &Element, indent: u16) {
        self.line(element.span, indent);
        match &element.kind {
            ElementKind::Import(import) => {
                if let ImportKind::Renamed(alias) = &import.kind {
                    self.spaced_equals(self.index(alias.span.end));
                }
                self.comment(&import.comment);
            }
            ElementKind::Extends(extends) => {
                self.modification_list(extends.modification.as_ref());
                self.annotation(extends.annotation.as_ref());
            }
            ElementKind::Class(class) => {
                self.class(&class.class, indent);
                self.constraint(class.constrained_by.as_ref());
            }
            ElementKind::Components(clause) => {
                for component in &clause.components {
                    self.modification(component.modification.as_ref(), true);
                    self.comment(&component.comment);
                }
                self.constraint(clause.constrained_by.as_ref());
            }
            ElementKind::Error => {}
        }
    }

    fn constraint(&mut self, constraint: Option<&ConstrainedBy>) {
        if let Some(constraint) = constraint {
            self.modification_list(constraint.modification.as_ref());
            self.comment(&constraint.comment);
        }
    }

    /// The comment of an element or an equation: its annotation begins a line.
    fn comment(&mut self, comment: &Annotated) {
        self.annotation(comment.annotation.as_ref());
    }

    fn annotation(&mut self, annotation: Option<&Annotation>) {
        if let Some(annotation) = annotation {
            let at = self.index(annotation.span.start);
            self.marks[at].is_annotation = true;
            self.modification_list(Some(&annotation.modification));
        }
    }

    /// The comment of something inside an argument list: its annotation stays where it is.
    fn inner_comment(&mut self, comment: &Annotated) {
        if let Some(annotation) = &comment.annotation {
            self.modification_list(Some(&annotation.modification));
        }
    }

    fn modification(&mut self, modification: Option<&Modification>, is_declaration: bool) {
        let Some(modification) = modification else { return };
        self.modification_list(modification.class.as_ref());
        if modification.value.is_some() && is_declaration {
            let equals = match &modification.class {
                Some(class) => self.index(class.span.end),
                None => self.index(modification.span.start),
            };
            if self.kind(equals) == Kind::Equals {
                self.marks[equals].is_free = true;
            }
        }
    }

    fn modification_list(&mut self, modification: Option<&ClassModification>) {
        let Some(modification) = modification else { return };
        let open = self.index(modification.span.start);
        if self.kind(open) == Kind::LeftParen {
            self.marks[open].is_list = true;
        }
        for argument in &modification.arguments {
            match argument {
                Argument::Modification(element) => self.modification(element.modification.as_ref(), false),
                Argument::Redeclaration(redeclaration) => {
                    self.redeclaration(&redeclaration.kind);
                    if let Some(constraint) = &redeclaration.constrained_by {
                        self.modification_list(constraint.modification.as_ref());
                        self.inner_comment(&constraint.comment);
                    }
                }
                Argument::BreakElement(_) | Argument::BreakConnect { .. } | Argument::Error(_) => {}
            }
        }
    }

    fn redeclaration(&mut self, kind: &RedeclarationKind) {
        match kind {
            RedeclarationKind::Class(class) => {
                self.spaced_equals(self.index(class.name.span.end));
                if let ClassBody::Short(short) = &class.body {
                    self.modification_list(short.modification.as_ref());
                    self.inner_comment(&short.comment);
                }
            }
            RedeclarationKind::Component(clause) => {
                for component in &clause.components {
                    self.modification(component.modification.as_ref(), false);
                    self.inner_comment(&component.comment);
                }
            }
        }
    }

    fn equations(&mut self, equations: &[Equation], indent: u16) {
        for equation in equations {
            self.line(equation.span, indent);
            match &equation.kind {
                EquationKind::Equality { left, .. } => self.spaced_equals(self.index(left.span.end)),
                EquationKind::If { branches, otherwise } => {
                    let at = self.branches(branches, indent, Self::equations, |e| e.span);
                    if let Some(body) = otherwise {
                        self.equations(body, indent + STEP);
                        self.end_of_body(at + 1, body.last().map(|e| e.span), indent);
                    }
                }
                EquationKind::When { branches } => {
                    self.branches(branches, indent, Self::equations, |e| e.span);
                }
                EquationKind::For { body, .. } => {
                    self.equations(body, indent + STEP);
                    self.end_of_loop(equation.span, body.last().map(|e| e.span), indent);
                }
                EquationKind::Connect { .. } | EquationKind::Call(_) | EquationKind::Error => {}
            }
            self.comment(&equation.comment);
        }
    }

    fn statements(&mut self, statements: &[Statement], indent: u16) {
        for statement in statements {
            self.line(statement.span, indent);
            match &statement.kind {
                StatementKind::If { branches, otherwise } => {
                    let at = self.branches(branches, indent, Self::statements, |s| s.span);
                    if let Some(body) = otherwise {
                        self.statements(body, indent + STEP);
                        self.end_of_body(at + 1, body.last().map(|s| s.span), indent);
                    }
                }
                StatementKind::When { branches } => {
                    self.branches(branches, indent, Self::statements, |s| s.span);
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                    self.statements(body, indent + STEP);
                    self.end_of_loop(statement.span, body.last().map(|s| s.span), indent);
                }
                _ => {}
            }
            self.comment(&statement.comment);
        }
    }

    /// Returns the index of the token behind the last branch.
    fn branches<T>(
        &mut self,
        branches: &[(Expr, Vec<T>)],
        indent: u16,
        body: fn(&mut Self, &[T], u16),
        span: fn(&T) -> Span,
    ) -> usize {
        let mut at = 0;
        for (condition, items) in branches {
            body(self, items, indent + STEP);
            let then = self.index(condition.span.end);
            at = self.end_of_body(then + 1, items.last().map(span), indent);
        }
        at
    }

    /// Marks the token behind a body: `elseif`, `else`, `elsewhen` or `end`. An empty body would begin at `start`.
    fn end_of_body(&mut self, start: usize, last: Option<Span>, indent: u16) -> usize {
        let at = match last.map(|span| self.index(span.end)) {
            Some(at) if self.kind(at) == Kind::Semicolon => at + 1,
            Some(at) => at,
            None => start,
        };
        if matches!(self.kind(at), Kind::End | Kind::Else | Kind::Elseif | Kind::Elsewhen) {
            self.dedent_at(at, indent);
        }
        at
    }

    fn end_of_loop(&mut self, whole: Span, last: Option<Span>, indent: u16) {
        let mut at = match last {
            Some(last) => self.index(last.end),
            None => self.index(whole.start),
        };
        let end = self.index(whole.end);
        let ends = |m: &Self, at| m.kind(at) == Kind::End && matches!(m.kind(at + 1), Kind::For | Kind::While);
        while at < end && !ends(self, at) {
            at += 1;
        }
        if ends(self, at) {
            self.dedent_at(at, indent);
        }
    }
}
