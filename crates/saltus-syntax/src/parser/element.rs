//! Elements of a class: imports, extends clauses, components and nested classes.

use super::Parser;
use crate::ast::{
    ClassBody, ClassElement, Component, ComponentClause, Connection, Direction, Element, ElementKind, ElementPrefixes,
    Extends, Ident, Import, ImportKind, LongClass, Path, Variability,
};
use crate::diagnostics;
use crate::token::Kind;

impl Parser<'_> {
    /// One element with its `;`.
    pub(super) fn element(&mut self) -> Element {
        self.height = 0;
        let start = self.span();
        let kind = match self.kind() {
            Kind::Import => ElementKind::Import(self.import()),
            Kind::Extends => ElementKind::Extends(self.extends()),
            Kind::Ident | Kind::Dot => ElementKind::Components(self.component_clause(ElementPrefixes::default())),
            _ => self.prefixed_element(),
        };
        let span = self.since(start);
        self.end_item();
        Element { kind, span }
    }

    fn prefixed_element(&mut self) -> ElementKind {
        let mut prefixes = self.element_prefixes();
        if self.begins_class() {
            let class = self.class_definition();
            if let ClassBody::Long(LongClass { extends: Some(_), .. }) = &class.body
                && !prefixes.is_redeclare
            {
                self.remark(diagnostics::class_extends_without_redeclare(class.name.span));
                prefixes.is_redeclare = true;
            }
            let constrained_by = self.constrained_by();
            return ElementKind::Class(ClassElement { prefixes, class, constrained_by });
        }
        let is_type = self.kind().begins_element() || matches!(self.kind(), Kind::Ident | Kind::Dot);
        if !is_type {
            match self.kind().is_keyword() && self.previous_is_prefix() {
                true => self.error(diagnostics::keyword_as_identifier(self.span(), self.kind())),
                false => self.expected("a declaration"),
            }
            return ElementKind::Error;
        }
        ElementKind::Components(self.component_clause(prefixes))
    }

    fn previous_is_prefix(&self) -> bool {
        self.previous().is_some_and(|t| t.kind.begins_element())
    }

    /// `redeclare final inner outer replaceable`, in this order.
    fn element_prefixes(&mut self) -> ElementPrefixes {
        let mut prefixes = ElementPrefixes::default();
        let mut last = (0, Kind::Eof);
        loop {
            let kind = self.kind();
            let (rank, flag) = match kind {
                Kind::Redeclare => (1, &mut prefixes.is_redeclare),
                Kind::Final => (2, &mut prefixes.is_final),
                Kind::Inner => (3, &mut prefixes.is_inner),
                Kind::Outer => (4, &mut prefixes.is_outer),
                Kind::Replaceable => (5, &mut prefixes.is_replaceable),
                _ => return prefixes,
            };
            let is_repeated = std::mem::replace(flag, true);
            self.check_prefix(kind, rank, last, is_repeated);
            last = later(last, (rank, kind));
            self.at += 1;
        }
    }

    fn check_prefix(&mut self, kind: Kind, rank: u8, last: (u8, Kind), is_repeated: bool) {
        if is_repeated {
            self.remark(diagnostics::repeated_prefix(self.span(), kind.text(), kind.text()));
        } else if rank == last.0 {
            self.remark(diagnostics::repeated_prefix(self.span(), kind.text(), last.1.text()));
        } else if rank < last.0 {
            self.remark(diagnostics::prefix_order(self.span(), kind.text(), last.1.text()));
        }
    }

    fn import(&mut self) -> Import {
        self.at += 1;
        if self.is(Kind::Ident) && self.kind_at(1) == Kind::Equals {
            let alias = self.ident("a name");
            self.at += 1;
            let path = self.path("the name of a class");
            return Import { path, kind: ImportKind::Renamed(alias), comment: self.annotated() };
        }
        let (path, kind) = self.import_path();
        Import { path, kind, comment: self.annotated() }
    }

    fn import_path(&mut self) -> (Path, ImportKind) {
        let start = self.span();
        let is_global = self.eat(Kind::Dot);
        let mut parts = vec![self.ident("the name of a class")];
        let kind = loop {
            match (self.kind(), self.kind_at(1)) {
                (Kind::DotStar, _) => break ImportKind::All,
                (Kind::Dot, Kind::Star) => break ImportKind::All,
                (Kind::Dot, Kind::LeftBrace) => break ImportKind::Some(Vec::new()),
                (Kind::Dot, _) => {
                    self.at += 1;
                    parts.push(self.ident("an identifier behind `.`"));
                }
                _ => break ImportKind::Qualified,
            }
        };
        let path = Path { is_global, parts, span: self.since(start) };
        let kind = match kind {
            ImportKind::All => {
                self.at += if self.is(Kind::DotStar) { 1 } else { 2 };
                ImportKind::All
            }
            ImportKind::Some(_) => ImportKind::Some(self.import_list()),
            other => other,
        };
        (path, kind)
    }

    fn import_list(&mut self) -> Vec<Ident> {
        self.at += 1;
        let open = self.bump();
        let mut names = Vec::new();
        loop {
            names.push(self.ident("the name of a class"));
            if !self.next_in_list(open) {
                break;
            }
        }
        self.close(open);
        names
    }

    fn extends(&mut self) -> Extends {
        self.at += 1;
        Extends {
            base: self.path("the name of a class"),
            modification: self.class_modification(),
            annotation: self.annotation(),
        }
    }

    fn component_clause(&mut self, prefixes: ElementPrefixes) -> ComponentClause {
        let mut clause = self.component_type(prefixes);
        clause.components = Vec::with_capacity(1);
        loop {
            let component = self.component();
            clause.components.push(component);
            if !self.eat(Kind::Comma) {
                break;
            }
            self.recovering = false;
        }
        clause.constrained_by = self.constrained_by();
        clause
    }

    /// `flow parameter input Real[3]`: everything before the names.
    pub(super) fn component_type(&mut self, prefixes: ElementPrefixes) -> ComponentClause {
        let mut clause = ComponentClause {
            prefixes,
            connection: None,
            variability: None,
            direction: None,
            type_name: Path { is_global: false, parts: Vec::new(), span: self.span() },
            subscripts: Vec::new(),
            components: Vec::new(),
            constrained_by: None,
        };
        if !self.is(Kind::Ident) {
            self.type_prefixes(&mut clause);
        }
        clause.type_name = self.path("the name of a type");
        clause.subscripts = self.subscripts();
        clause
    }

    /// The type prefixes of a short class; nothing but these.
    pub(super) fn class_type_prefixes(&mut self) -> ComponentClause {
        let mut clause = ComponentClause {
            prefixes: ElementPrefixes::default(),
            connection: None,
            variability: None,
            direction: None,
            type_name: Path { is_global: false, parts: Vec::new(), span: self.span() },
            subscripts: Vec::new(),
            components: Vec::new(),
            constrained_by: None,
        };
        let is_type_prefix = matches!(
            self.kind(),
            Kind::Flow | Kind::Stream | Kind::Discrete | Kind::Parameter | Kind::Constant | Kind::Input | Kind::Output
        );
        if is_type_prefix {
            self.type_prefixes(&mut clause);
        }
        clause
    }

    fn type_prefixes(&mut self, clause: &mut ComponentClause) {
        let mut last = (0, Kind::Eof);
        loop {
            let kind = self.kind();
            let rank = match kind {
                Kind::Flow | Kind::Stream => 1,
                Kind::Discrete | Kind::Parameter | Kind::Constant => 2,
                Kind::Input | Kind::Output => 3,
                Kind::Final | Kind::Inner | Kind::Outer | Kind::Replaceable | Kind::Redeclare => 0,
                _ => return,
            };
            let prefixes = &mut clause.prefixes;
            match kind {
                Kind::Flow => clause.connection = Some(Connection::Flow),
                Kind::Stream => clause.connection = Some(Connection::Stream),
                Kind::Discrete => clause.variability = Some(Variability::Discrete),
                Kind::Parameter => clause.variability = Some(Variability::Parameter),
                Kind::Constant => clause.variability = Some(Variability::Constant),
                Kind::Input => clause.direction = Some(Direction::Input),
                Kind::Output => clause.direction = Some(Direction::Output),
                Kind::Final => prefixes.is_final = true,
                Kind::Inner => prefixes.is_inner = true,
                Kind::Outer => prefixes.is_outer = true,
                Kind::Replaceable => prefixes.is_replaceable = true,
                _ => prefixes.is_redeclare = true,
            }
            self.check_prefix(kind, rank, last, kind == last.1);
            last = later(last, (rank, kind));
            self.at += 1;
        }
    }

    pub(super) fn component(&mut self) -> Component {
        let start = self.span();
        let name = self.ident("the name of a component");
        let subscripts = self.subscripts();
        let modification = self.modification();
        let condition = if self.eat(Kind::If) { Some(self.expression()) } else { None };
        let comment = self.annotated();
        Component { name, subscripts, modification, condition, comment, span: self.since(start) }
    }

    pub(super) fn begins_class(&self) -> bool {
        self.kind().begins_class() || self.is(Kind::Pure)
    }

    /// The current tokens read `Type name` or begin with a word that only declarations have.
    pub(super) fn declaration_ahead(&self) -> bool {
        let kind = self.kind();
        if kind.begins_element() {
            return true;
        }
        let mut ahead = usize::from(kind == Kind::Dot);
        if kind == Kind::Pure {
            return matches!(self.kind_at(1), Kind::Function | Kind::Operator);
        }
        if self.kind_at(ahead) != Kind::Ident {
            return false;
        }
        while self.kind_at(ahead + 1) == Kind::Dot && self.kind_at(ahead + 2) == Kind::Ident {
            ahead += 2;
        }
        ahead += 1;
        if self.kind_at(ahead) == Kind::LeftBracket {
            let mut depth = 0u32;
            loop {
                match self.kind_at(ahead) {
                    Kind::Eof | Kind::Semicolon => return false,
                    kind if kind.is_opening() => depth += 1,
                    kind if kind.is_closing() => depth = depth.saturating_sub(1),
                    _ => {}
                }
                ahead += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        self.kind_at(ahead) == Kind::Ident && !self.breaks_before(self.at + ahead)
    }
}

fn later(a: (u8, Kind), b: (u8, Kind)) -> (u8, Kind) {
    if b.0 >= a.0 { b } else { a }
}
