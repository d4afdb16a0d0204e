//! Identifiers, paths, component references and strings.

use super::Parser;
use crate::ast::{ComponentRef, Description, Ident, Path, RefPart, StringLiteral, Subscript};
use crate::diagnostics;
use crate::lexer::{ident_text, string_value};
use crate::token::{Kind, Token};

impl Parser<'_> {
    fn ident_of(&mut self, token: Token) -> Ident {
        let source = self.slice(token);
        let name = match source.as_bytes().first() {
            Some(b'\'') => self.names.intern(&ident_text(source)),
            _ => self.names.intern(source),
        };
        Ident { name, span: self.span_of(token) }
    }

    /// An identifier; where there is none, an error and an empty name at the place where it should stand.
    pub(super) fn ident(&mut self, what: &str) -> Ident {
        let token = self.token();
        if token.kind == Kind::Ident {
            self.at += 1;
            return self.ident_of(token);
        }
        if token.kind.is_keyword() && !self.on_new_line() && !self.recovering {
            self.remark(diagnostics::keyword_as_identifier(self.span_of(token), token.kind));
            self.at += 1;
            return self.ident_of(token);
        }
        self.expected(what);
        let span = self.behind_previous();
        Ident { name: self.names.intern(""), span }
    }

    /// `A.B.C`
    pub(super) fn name(&mut self, what: &str) -> Vec<Ident> {
        let mut parts = vec![self.ident(what)];
        while self.is(Kind::Dot) {
            self.at += 1;
            parts.push(self.ident("an identifier behind `.`"));
        }
        parts
    }

    /// `A.B.C` or `.A.B.C`
    pub(super) fn path(&mut self, what: &str) -> Path {
        let start = self.span();
        let is_global = self.eat(Kind::Dot);
        let parts = self.name(what);
        Path { is_global, parts, span: self.since(start) }
    }

    pub(crate) fn component_ref(&mut self, what: &str) -> ComponentRef {
        let start = self.span();
        let is_global = self.eat(Kind::Dot);
        let mut parts = vec![self.ref_part(what)];
        while self.is(Kind::Dot) {
            self.at += 1;
            parts.push(self.ref_part("an identifier behind `.`"));
        }
        ComponentRef { is_global, parts, span: self.since(start) }
    }

    pub(super) fn ref_part(&mut self, what: &str) -> RefPart {
        RefPart { name: self.ident(what), subscripts: self.subscripts() }
    }

    /// `der`, `initial` or `pure` as the name of a call.
    pub(super) fn keyword_ref(&mut self) -> ComponentRef {
        let token = self.bump();
        let name = self.ident_of(token);
        ComponentRef { is_global: false, parts: vec![RefPart { name, subscripts: Vec::new() }], span: name.span }
    }

    /// `[i, :, 2:end]`, or nothing.
    pub(super) fn subscripts(&mut self) -> Vec<Subscript> {
        if !self.is(Kind::LeftBracket) {
            return Vec::new();
        }
        self.nested(Self::subscript_list).unwrap_or_default()
    }

    fn subscript_list(&mut self) -> Vec<Subscript> {
        let open = self.bump();
        let outside = std::mem::replace(&mut self.in_subscripts, true);
        let mut subscripts = Vec::new();
        if self.is(Kind::RightBracket) {
            self.remark(diagnostics::empty_subscripts(self.span()));
        } else {
            loop {
                subscripts.push(self.subscript());
                if !self.next_in_list(open) {
                    break;
                }
            }
        }
        self.close(open);
        self.in_subscripts = outside;
        subscripts
    }

    fn subscript(&mut self) -> Subscript {
        if self.is(Kind::Colon) && matches!(self.kind_at(1), Kind::Comma | Kind::RightBracket) {
            let token = self.bump();
            return Subscript::Colon(self.span_of(token));
        }
        Subscript::Expr(self.expression())
    }

    /// `"a" + "b"`, or nothing.
    pub(super) fn description(&mut self) -> Description {
        let mut parts = Vec::new();
        while self.is(Kind::String) {
            parts.push(self.string_literal());
            if self.is(Kind::String) {
                self.remark(diagnostics::adjacent_strings(self.span()));
                continue;
            }
            if !(self.is(Kind::Plus) && self.kind_at(1) == Kind::String) {
                break;
            }
            self.at += 1;
        }
        Description { parts }
    }

    pub(super) fn string_literal(&mut self) -> StringLiteral {
        let token = self.bump();
        StringLiteral { value: string_value(self.slice(token)), span: self.span_of(token) }
    }
}
