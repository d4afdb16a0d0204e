//! Lists, ends of items, and how the parser finds its feet again after an error.
//!
//! Items end at `;`. After an error the rest of the item is skipped up to its `;`, or up to a word that can
//! only belong to something else (`end`, `equation`, a class at the beginning of a line). Entries of bracketed
//! lists end at `,` or the closing bracket.

use super::Parser;
use crate::diagnostics::{self, closing_of};
use crate::token::{Kind, Token};

impl Parser<'_> {
    /// Behind an entry of a list that `open` began: true if another entry follows (its `,` is eaten).
    pub(super) fn next_in_list(&mut self, open: Token) -> bool {
        let closing = closing_of(open.kind);
        loop {
            match self.kind() {
                Kind::Comma => {
                    self.at += 1;
                    self.recovering = false;
                    if self.is(closing) {
                        self.remark(diagnostics::trailing_comma(self.span(), closing));
                        return false;
                    }
                    return true;
                }
                kind if kind == closing => return false,
                _ if self.ends_list() => return false,
                Kind::Ident | Kind::Integer | Kind::Real | Kind::String if !self.recovering => {
                    let found = self.found();
                    self.remark(diagnostics::missing_comma(self.behind_previous(), closing, &found));
                    return true;
                }
                _ => {
                    self.expected(&format!("`,` or `{}`", closing.text()));
                    if !self.skip_in_list() {
                        return false;
                    }
                }
            }
        }
    }

    /// The current token cannot stand inside brackets: the bracket was not closed, or closed wrongly.
    fn ends_list(&self) -> bool {
        let kind = self.kind();
        let ends = kind.is_closing() || kind == Kind::Semicolon || self.at_boundary();
        ends || (self.on_new_line() && !self.closes_before_semicolon())
    }

    /// A bracket that is open here is closed further on in the same item.
    fn closes_before_semicolon(&self) -> bool {
        let mut depth = 0u32;
        for token in self.tokens[self.at..].iter().take(1_000) {
            match token.kind {
                Kind::Semicolon | Kind::Equation | Kind::Algorithm | Kind::Eof => return false,
                kind if kind.is_opening() => depth += 1,
                kind if kind.is_closing() && depth == 0 => return true,
                kind if kind.is_closing() => depth -= 1,
                _ => {}
            }
        }
        false
    }

    /// Skips to the next `,` or closing bracket of the current list; false if there is none before the item ends.
    pub(super) fn skip_in_list(&mut self) -> bool {
        let mut depth = 0u32;
        loop {
            let kind = self.kind();
            if depth == 0 && (kind == Kind::Comma || kind.is_closing()) {
                return true;
            }
            if kind == Kind::Semicolon || self.at_boundary() {
                return false;
            }
            if kind.is_opening() {
                depth += 1;
            } else if kind.is_closing() {
                depth -= 1;
            }
            self.at += 1;
        }
    }

    /// Eats the bracket that closes `open`. Brackets closed by a wrong one count as closed.
    pub(super) fn close(&mut self, open: Token) {
        let (kind, closing) = (self.kind(), closing_of(open.kind));
        if kind == closing {
            self.at += 1;
            return;
        }
        let (span, opened) = (self.span(), self.span_of(open));
        if kind.is_closing() {
            self.error(diagnostics::wrong_closing_bracket(span, opened, open.kind, kind));
            self.recovering = false;
            self.at += 1;
        } else if !self.recovering {
            let found = self.found();
            let place = if self.on_new_line() || kind == Kind::Eof { self.behind_previous() } else { span };
            self.error(diagnostics::unclosed_bracket(place, opened, open.kind, &found));
            if self.on_new_line() {
                self.resume_at = self.at;
            }
        }
    }

    /// Words that begin something else wherever they stand, and the end of the file.
    pub(super) fn at_boundary(&self) -> bool {
        let is_boundary = match self.kind() {
            Kind::Eof | Kind::Equation | Kind::Algorithm | Kind::Public | Kind::Protected | Kind::Within => true,
            Kind::Initial => matches!(self.kind_at(1), Kind::Equation | Kind::Algorithm),
            Kind::End => matches!(
                self.kind_at(1),
                Kind::Ident | Kind::If | Kind::For | Kind::When | Kind::While | Kind::Semicolon | Kind::Eof
            ),
            Kind::External => self.on_new_line(),
            Kind::Else | Kind::Elseif | Kind::Elsewhen => !self.open_blocks.is_empty() && self.on_new_line(),
            // Inside brackets and on continuation lines these words begin redeclarations and arguments.
            Kind::Import | Kind::Extends | Kind::Parameter | Kind::Constant | Kind::Package | Kind::Model => {
                self.depth_of_brackets_is_over() && self.on_new_line()
            }
            Kind::Connect | Kind::When | Kind::While => self.on_new_line(),
            _ => false,
        };
        is_boundary || self.long_class_ahead()
    }

    /// The head of a class with a body at the beginning of a line, `model M "…"`: whatever is open here was not finished. In
    /// brackets only short classes can stand, `redeclare model M = A`, and calls of `function f(…)`.
    pub(super) fn long_class_ahead(&self) -> bool {
        if !self.kind().begins_class() || !self.on_new_line() {
            return false;
        }
        let behind_prefix = self.previous().is_some_and(|t| t.kind.begins_element());
        let mut ahead = 0;
        while self.kind_at(ahead).begins_class() {
            ahead += 1;
        }
        let is_short = matches!(self.kind_at(ahead + 1), Kind::Equals | Kind::LeftParen | Kind::Dot);
        !behind_prefix && self.kind_at(ahead) == Kind::Ident && !is_short
    }

    /// A class or declaration at the beginning of a line, not behind `redeclare`, `replaceable` or `,`.
    fn depth_of_brackets_is_over(&self) -> bool {
        self.previous().is_none_or(|t| {
            !matches!(
                t.kind,
                Kind::Redeclare | Kind::Replaceable | Kind::Final | Kind::Each | Kind::Comma | Kind::LeftParen
            ) && !t.kind.begins_element()
        })
    }

    /// Ends an item at its `;`. Reports what stands in its place, and skips it unless only the `;` is missing.
    pub(super) fn end_item(&mut self) {
        self.end_item_expecting("`;`");
    }

    pub(super) fn end_item_expecting(&mut self, what: &str) {
        if self.eat(Kind::Semicolon) {
            self.recovering = false;
            return;
        }
        if !self.recovering {
            let kind = self.kind();
            if kind.is_closing() {
                self.error(diagnostics::stray_closing_bracket(self.span(), kind));
                self.at += 1;
                if self.eat(Kind::Semicolon) {
                    self.recovering = false;
                    return;
                }
            } else if self.on_new_line() || self.at_boundary() || kind.begins_element() {
                let found = self.found();
                self.error(diagnostics::missing_semicolon(self.behind_previous(), &found));
                self.recovering = false;
                return;
            } else {
                self.expected(what);
            }
        }
        self.skip_item();
    }

    /// Skips to behind the `;` of a broken item, or to the first token that belongs to something else. At the end
    /// of the file the classes left open are a consequence, not another mistake.
    pub(super) fn skip_item(&mut self) {
        loop {
            if self.eat(Kind::Semicolon) || self.at_boundary() || self.at == self.resume_at {
                break;
            }
            if self.kind().begins_class() && self.on_new_line() && self.depth_of_brackets_is_over() {
                break;
            }
            self.at += 1;
        }
        self.recovering = self.is(Kind::Eof);
    }

    /// Runs one item; makes sure that the parser has moved on even if the item was not one.
    pub(super) fn item<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.at;
        let result = rule(self);
        if self.at == before && !self.is(Kind::Eof) {
            self.at += 1;
            self.skip_item();
        }
        result
    }
}
