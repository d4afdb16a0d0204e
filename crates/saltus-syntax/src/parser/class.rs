//! Files, classes and their sections.

use saltus_base::Span;

use super::Parser;
use crate::ast::{
    ClassBody, ClassDef, ClassKind, Definition, EnumerationBody, EnumerationLiteral, External, ExternalCall, Ident,
    LongClass, Purity, Section, ShortClass, StoredDefinition, Visibility, Within,
};
use crate::diagnostics;
use crate::token::Kind;

impl Parser<'_> {
    pub(crate) fn stored_definition(&mut self) -> StoredDefinition {
        let mut tree = StoredDefinition {
            within: None,
            classes: Vec::new(),
            comments: Vec::new(),
            span: Span::new(self.file, 0, self.text.len() as u32),
        };
        if self.is(Kind::Within) {
            tree.within = Some(self.within());
        }
        while !self.at_end() {
            self.item(|p| p.definition(&mut tree));
        }
        tree
    }

    fn within(&mut self) -> Within {
        let start = self.span();
        self.at += 1;
        let path = if self.is(Kind::Semicolon) { Vec::new() } else { self.name("the name of a package") };
        let span = self.since(start);
        self.end_item();
        Within { path, span }
    }

    fn definition(&mut self, tree: &mut StoredDefinition) {
        if self.is(Kind::Within) {
            self.remark(diagnostics::within_not_first(self.span()));
            let within = self.within();
            tree.within.get_or_insert(within);
            return;
        }
        let is_final = self.eat(Kind::Final);
        if self.begins_class() {
            let class = self.class_definition();
            tree.classes.push(Definition { is_final, class });
            self.end_item();
            return;
        }
        let (span, found) = (self.span(), self.found());
        match self.kind() {
            Kind::End => {
                let name = self.tokens.get(self.at + 1).map_or("", |&t| self.slice(t));
                self.error(diagnostics::stray_end(span, name));
            }
            Kind::Ident if self.similar_class_word().is_some() => {
                let meant = self.similar_class_word().unwrap_or("model");
                self.error(diagnostics::unknown_class_word(span, self.slice(self.token()), meant));
            }
            _ => self.error(diagnostics::expected_class(span, &found)),
        }
        self.skip_to_next_class();
    }

    fn similar_class_word(&self) -> Option<&'static str> {
        let word = self.slice(self.token()).to_ascii_lowercase();
        ["model", "package", "function", "record", "block", "connector", "class", "type"]
            .into_iter()
            .find(|w| *w == word)
    }

    /// Outside of classes nothing else can be understood: on to the next class at the beginning of a line.
    fn skip_to_next_class(&mut self) {
        self.bump();
        while !(self.at_end() || self.begins_class() && self.on_new_line()) {
            self.at += 1;
        }
        self.recovering = false;
    }

    pub(super) fn class_definition(&mut self) -> ClassDef {
        let start = self.span();
        let mut class = ClassDef {
            is_encapsulated: false,
            is_partial: false,
            purity: None,
            kind: ClassKind::Class,
            name: Ident { name: self.names.intern(""), span: start },
            body: ClassBody::Long(LongClass::empty()),
            span: start,
        };
        self.nested(|p| {
            p.class_prefixes(&mut class);
            p.class_specifier(&mut class, start);
        });
        class.span = self.since(start);
        class
    }

    fn class_prefixes(&mut self, class: &mut ClassDef) {
        if self.eat(Kind::Encapsulated) {
            class.is_encapsulated = true;
        }
        class.is_partial = self.eat(Kind::Partial);
        if class.is_partial && self.is(Kind::Encapsulated) {
            self.remark(diagnostics::prefix_order(self.span(), "encapsulated", "partial"));
            self.at += 1;
            class.is_encapsulated = true;
        }
        class.purity = match self.kind() {
            Kind::Pure => Some(Purity::Pure),
            Kind::Impure => Some(Purity::Impure),
            _ => None,
        };
        if class.purity.is_some() {
            self.at += 1;
        }
        class.kind = match (self.kind(), self.kind_at(1)) {
            (Kind::Operator, Kind::Record) => self.two_words(ClassKind::OperatorRecord),
            (Kind::Operator, Kind::Function) => self.two_words(ClassKind::OperatorFunction),
            (Kind::Expandable, Kind::Connector) => self.two_words(ClassKind::ExpandableConnector),
            (Kind::Function, _) => ClassKind::Function,
            _ if class.purity.is_some() => return self.expected("`function`"),
            (Kind::Operator, _) => ClassKind::Operator,
            (Kind::Class, _) => ClassKind::Class,
            (Kind::Model, _) => ClassKind::Model,
            (Kind::Block, _) => ClassKind::Block,
            (Kind::Connector, _) => ClassKind::Connector,
            (Kind::Record, _) => ClassKind::Record,
            (Kind::Type, _) => ClassKind::Type,
            (Kind::Package, _) => ClassKind::Package,
            (Kind::Expandable, _) => {
                self.at += 1;
                return self.expected("`connector`");
            }
            _ => return self.expected("`model`, `package`, `function` or another kind of class"),
        };
        self.at += 1;
    }

    /// Eats the first of two words; the caller eats the second.
    fn two_words(&mut self, kind: ClassKind) -> ClassKind {
        self.at += 1;
        kind
    }

    fn class_specifier(&mut self, class: &mut ClassDef, start: Span) {
        if self.eat(Kind::Extends) {
            class.name = self.ident("the name of a class");
            let modification = self.class_modification();
            let mut long = self.long_class(class.name, start);
            long.extends = Some(modification);
            class.body = ClassBody::Long(long);
            return;
        }
        if self.on_new_line() && self.name_is_missing() {
            let (place, found) = (self.behind_previous(), self.found());
            self.remark(diagnostics::expected(place, "the name of a class", &found));
            class.name.span = place;
        } else {
            class.name = self.ident("the name of a class");
        }
        class.body = match (self.kind(), self.kind_at(1), self.kind_at(2)) {
            (Kind::Equals, Kind::Enumeration, _) => self.enumeration(),
            (Kind::Equals, Kind::Der, Kind::LeftParen) => self.derivative(),
            (Kind::Equals, _, _) => self.short_class(),
            _ => ClassBody::Long(self.long_class(class.name, start)),
        };
    }

    /// What stands where the name of the class belongs is a declaration: `Real x;`, `A.B x;`.
    fn name_is_missing(&self) -> bool {
        match (self.kind(), self.kind_at(1)) {
            (Kind::Ident, Kind::Dot) => true,
            (Kind::Ident, Kind::Ident) => {
                matches!(self.kind_at(2), Kind::Semicolon | Kind::Equals | Kind::LeftParen | Kind::Comma)
            }
            _ => false,
        }
    }

    fn short_class(&mut self) -> ClassBody {
        self.at += 1;
        let start = self.span();
        let prefixes = self.class_type_prefixes();
        if prefixes.variability.is_some() || prefixes.connection.is_some() {
            self.remark(diagnostics::prefix_of_class(start));
        }
        ClassBody::Short(ShortClass {
            direction: prefixes.direction,
            variability: prefixes.variability,
            connection: prefixes.connection,
            base: self.path("the name of a class"),
            subscripts: self.subscripts(),
            modification: self.class_modification(),
            comment: self.annotated(),
        })
    }

    fn enumeration(&mut self) -> ClassBody {
        self.at += 2;
        let open = self.token();
        if !self.expect(Kind::LeftParen) {
            return ClassBody::Enumeration(EnumerationBody { literals: None, comment: self.annotated() });
        }
        let mut literals = None;
        if !self.eat(Kind::Colon) {
            let mut list = Vec::new();
            while !self.is(Kind::RightParen) {
                let name = self.ident("the name of an enumeration literal");
                list.push(EnumerationLiteral { name, comment: self.annotated() });
                if !self.next_in_list(open) {
                    break;
                }
            }
            literals = Some(list);
        }
        self.close(open);
        ClassBody::Enumeration(EnumerationBody { literals, comment: self.annotated() })
    }

    fn derivative(&mut self) -> ClassBody {
        self.at += 2;
        let open = self.bump();
        let function = self.path("the name of a function");
        let mut variables = Vec::new();
        if !self.is(Kind::Comma) {
            self.expected("`,` and the name of a variable");
        }
        while self.next_in_list(open) {
            variables.push(self.ident("the name of a variable"));
        }
        self.close(open);
        ClassBody::Derivative { function, variables, comment: self.annotated() }
    }

    fn long_class(&mut self, name: Ident, start: Span) -> LongClass {
        let mut long = LongClass::empty();
        long.description = self.description();
        if self.recovering && !self.on_new_line() {
            self.skip_to_line_end();
        } else if self.is(Kind::Semicolon) {
            self.remark(diagnostics::semicolon_behind_class_head(self.span()));
            self.at += 1;
        }
        self.open_classes.push((name.name, start));
        let blocks = std::mem::take(&mut self.open_blocks);
        self.composition(&mut long);
        self.open_blocks = blocks;
        self.open_classes.pop();
        long.end_name = self.class_end(name, start);
        long
    }

    /// The head of a class is broken: its body begins on the next line.
    fn skip_to_line_end(&mut self) {
        while !self.at_boundary() && !self.on_new_line() {
            self.at += 1;
        }
        self.recovering = self.at_end();
    }

    fn composition(&mut self, long: &mut LongClass) {
        while !self.at_class_end(long) {
            self.section(long);
        }
    }

    fn at_class_end(&mut self, long: &mut LongClass) -> bool {
        self.class_annotations(long);
        match self.kind() {
            Kind::Eof => true,
            Kind::End | Kind::Within => self.ends_section(),
            _ => false,
        }
    }

    /// Annotations of the class. One in the middle does not end the section around it, and several count as one.
    fn class_annotations(&mut self, long: &mut LongClass) {
        while let Some(annotation) = self.annotation() {
            let span = annotation.span;
            match &mut long.annotation {
                Some(earlier) => earlier.modification.arguments.extend(annotation.modification.arguments),
                none => *none = Some(annotation),
            }
            self.end_item();
            if !matches!(self.kind(), Kind::End | Kind::Eof) {
                self.remark(diagnostics::annotation_not_last(span));
            }
        }
    }

    fn at_section_end(&mut self, long: &mut LongClass) -> bool {
        self.class_annotations(long);
        self.ends_section()
    }

    /// `end if` and the like where no such block is open, or a word that is no class around and does not end its line.
    fn at_stray_end(&self) -> bool {
        self.is(Kind::End)
            && match self.kind_at(1) {
                Kind::If | Kind::For | Kind::When | Kind::While => true,
                Kind::Ident => {
                    let name = self.names.find(self.slice(self.tokens[self.at + 1]));
                    let ends_line =
                        matches!(self.kind_at(2), Kind::Semicolon | Kind::Eof) || self.breaks_before(self.at + 2);
                    !ends_line && !self.open_classes.iter().any(|(open, _)| Some(*open) == name)
                }
                _ => false,
            }
    }

    fn skip_stray_end(&mut self) {
        let word = self.slice(self.tokens[self.at + 1]);
        self.error(diagnostics::stray_end(self.span(), word));
        self.at += 2;
        self.skip_item();
    }

    fn section(&mut self, long: &mut LongClass) {
        let keyword = self.span();
        match self.kind() {
            Kind::Public => self.elements(Visibility::Public, true, long),
            Kind::Protected => self.elements(Visibility::Protected, true, long),
            Kind::External => {
                long.external = Some(self.external());
            }
            Kind::Equation | Kind::Algorithm => self.behaviour(false, keyword, long),
            Kind::Initial if matches!(self.kind_at(1), Kind::Equation | Kind::Algorithm) => {
                self.at += 1;
                let keyword = keyword.to(self.span());
                self.behaviour(true, keyword, long);
            }
            _ => self.elements(Visibility::Public, false, long),
        }
    }

    fn elements(&mut self, visibility: Visibility, has_keyword: bool, long: &mut LongClass) {
        let keyword = has_keyword.then(|| self.span());
        self.at += usize::from(has_keyword);
        let mut elements = Vec::new();
        while !self.at_section_end(long) {
            if self.at_stray_end() {
                self.skip_stray_end();
                continue;
            }
            if self.equation_ahead() {
                let found = self.found();
                self.section = self.span();
                self.remark(diagnostics::equation_in_declarations(self.span(), &found));
                let mut equations = Vec::new();
                while !self.at_section_end(long) && !self.declaration_ahead() {
                    equations.push(self.item(Self::lenient_equation));
                }
                let earlier = std::mem::take(&mut elements);
                long.sections.push(Section::Elements { visibility, keyword, elements: earlier });
                long.sections.push(Section::Equations { is_initial: false, keyword: self.section, equations });
                continue;
            }
            elements.push(self.item(Self::element));
        }
        if has_keyword || !elements.is_empty() {
            long.sections.push(Section::Elements { visibility, keyword, elements });
        }
    }

    /// An equation in the wrong section: that has been said, so `:=` is not worth a second message.
    fn lenient_equation(&mut self) -> crate::ast::Equation {
        self.recovering = true;
        self.equation()
    }

    /// Something that can only be an equation or a statement.
    fn equation_ahead(&self) -> bool {
        match self.kind() {
            Kind::Connect | Kind::If | Kind::For | Kind::When | Kind::While | Kind::Der | Kind::LeftParen => true,
            Kind::Ident => {
                let mut ahead = 1;
                while self.kind_at(ahead) == Kind::Dot && self.kind_at(ahead + 1) == Kind::Ident {
                    ahead += 2;
                }
                matches!(self.kind_at(ahead), Kind::Equals | Kind::Assign | Kind::LeftParen)
            }
            _ => false,
        }
    }

    /// Equations or statements; declarations among them are reported and kept as sections of their own.
    fn behaviour(&mut self, is_initial: bool, keyword: Span, long: &mut LongClass) {
        self.section = keyword;
        let is_equation = self.bump().kind == Kind::Equation;
        loop {
            let (mut equations, mut statements) = (Vec::new(), Vec::new());
            while !self.at_section_end(long) && !self.declaration_ahead() {
                match is_equation {
                    _ if self.at_stray_end() => self.skip_stray_end(),
                    true => equations.push(self.item(Self::equation)),
                    false => statements.push(self.item(Self::statement)),
                }
            }
            long.sections.push(match is_equation {
                true => Section::Equations { is_initial, keyword, equations },
                false => Section::Algorithm { is_initial, keyword, statements },
            });
            if self.at_section_end(long) {
                return;
            }
            self.report_misplaced_declaration();
            let mut elements = Vec::new();
            while !self.at_section_end(long) && self.declaration_ahead() {
                elements.push(self.item(Self::element));
            }
            long.sections.push(Section::Elements { visibility: Visibility::Public, keyword: None, elements });
            if self.at_section_end(long) {
                return;
            }
        }
    }

    fn ends_section(&self) -> bool {
        match self.kind() {
            Kind::Annotation | Kind::External => true,
            Kind::Connect | Kind::When | Kind::While => false,
            kind if kind.begins_element() => false,
            Kind::End => !self.at_stray_end(),
            _ => self.at_boundary(),
        }
    }

    fn external(&mut self) -> External {
        let start = self.span();
        self.at += 1;
        let language = if self.is(Kind::String) { Some(self.string_literal()) } else { None };
        let call = if matches!(self.kind(), Kind::Ident | Kind::Dot) { Some(self.external_call()) } else { None };
        let annotation = self.annotation();
        let span = self.since(start);
        self.end_item();
        External { language, call, annotation, span }
    }

    fn external_call(&mut self) -> ExternalCall {
        let first = self.component_ref("the name of a function");
        let (result, name) = match self.eat(Kind::Equals) {
            true => (Some(first), self.ident("the name of a function")),
            false => match first.parts.first() {
                Some(part) => (None, part.name),
                None => (None, Ident { name: self.names.intern(""), span: first.span }),
            },
        };
        let open = self.token();
        let mut arguments = Vec::new();
        if self.expect(Kind::LeftParen) {
            while !self.is(Kind::RightParen) {
                arguments.push(self.expression());
                if !self.next_in_list(open) {
                    break;
                }
            }
            self.close(open);
        }
        ExternalCall { result, name, arguments }
    }

    /// `end Name`. The end of a class further out is left to that class.
    fn class_end(&mut self, name: Ident, start: Span) -> Option<Ident> {
        let expected = self.names.text(name.name).to_owned();
        let head = start.to(name.span);
        if !self.is(Kind::End) {
            let found = self.found();
            self.error(diagnostics::missing_class_end(self.here(), head, &expected, &found));
            return None;
        }
        let end = self.span();
        let next = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        if next.kind != Kind::Ident {
            self.remark(diagnostics::end_name(end, head, &expected, self.end_word(next.kind)));
            self.at += 1;
            return None;
        }
        let found = self.slice(next);
        if found == expected || expected.is_empty() {
            self.at += 1;
            return Some(self.ident("the name of the class"));
        }
        if self.names.find(found).is_some_and(|n| self.closes_outer_class(n, start, end)) {
            let found = format!("`end {found}`");
            self.error(diagnostics::missing_class_end(end, head, &expected, &found));
            return None;
        }
        if crate::lexer::ident_text(found) != expected {
            self.remark(diagnostics::end_name(self.span_of(next), head, &expected, found));
        }
        self.at += 1;
        Some(self.ident("the name of the class"))
    }

    fn end_word(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Semicolon | Kind::Eof => "",
            _ if kind.is_keyword() => kind.text(),
            _ => "…",
        }
    }

    /// `end` names a class further out, and is not indented like the class that began at `start`.
    fn closes_outer_class(&self, name: saltus_base::Name, start: Span, end: Span) -> bool {
        let Some(&(_, outer)) = self.open_classes.iter().rev().find(|(n, _)| *n == name) else { return false };
        let (inner, outer, end) = (self.column(start), self.column(outer), self.column(end));
        end != inner || inner == outer
    }

    fn column(&self, place: Span) -> usize {
        let before = &self.text[..place.start as usize];
        before.len() - before.rfind('\n').map_or(0, |at| at + 1)
    }
}

impl LongClass {
    fn empty() -> Self {
        LongClass {
            extends: None,
            description: Default::default(),
            sections: Vec::new(),
            external: None,
            annotation: None,
            end_name: None,
        }
    }
}
