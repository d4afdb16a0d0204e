//! `if`, `for`, `when` and `while`: the same blocks around equations and around statements.

use saltus_base::Span;

use super::Parser;
use crate::ast::{Expr, ForIndex};
use crate::diagnostics;
use crate::token::Kind;

/// Parses one equation or one statement with its `;`.
pub(super) type Item<'t, T> = fn(&mut Parser<'t>) -> T;

type Branches<T> = Vec<(Expr, Vec<T>)>;

impl<'t> Parser<'t> {
    pub(super) fn if_block<T>(&mut self, item: Item<'t, T>) -> (Branches<T>, Option<Vec<T>>) {
        let start = self.span();
        let mut branches = Vec::with_capacity(1);
        let mut otherwise = None;
        let mut else_if = None;
        self.in_block(Kind::If, |p| {
            loop {
                branches.push(p.branch(start, Kind::If, item));
                if !p.at_elseif() {
                    break;
                }
            }
            if p.is(Kind::Else) {
                let place = p.span();
                p.at += 1;
                if p.is(Kind::If) && !p.on_new_line() {
                    else_if = Some(place.to(p.span()));
                }
                otherwise = Some(p.body(item));
            }
            p.end_block(start, Kind::If, else_if);
        });
        (branches, otherwise)
    }

    pub(super) fn when_block<T>(&mut self, item: Item<'t, T>) -> Branches<T> {
        let start = self.span();
        let mut branches = Vec::with_capacity(1);
        self.in_block(Kind::When, |p| {
            loop {
                branches.push(p.branch(start, Kind::When, item));
                if !p.is(Kind::Elsewhen) {
                    break;
                }
            }
            if p.is(Kind::Else) {
                p.remark(diagnostics::else_in_when(p.span()));
                p.at += 1;
                p.body(item);
            }
            p.end_block(start, Kind::When, None);
        });
        branches
    }

    pub(super) fn for_block<T>(&mut self, item: Item<'t, T>) -> (Vec<ForIndex>, Vec<T>) {
        let start = self.span();
        let (mut indices, mut body) = (Vec::new(), Vec::new());
        self.in_block(Kind::For, |p| {
            indices = p.for_clause();
            p.expect_loop(start, Kind::For);
            body = p.body(item);
            p.end_block(start, Kind::For, None);
        });
        (indices, body)
    }

    pub(super) fn while_block<T>(&mut self, item: Item<'t, T>) -> (Expr, Vec<T>) {
        let start = self.span();
        self.at += 1;
        let condition = self.expression();
        let mut body = Vec::new();
        self.in_block(Kind::While, |p| {
            p.expect_loop(start, Kind::While);
            body = p.body(item);
            p.end_block(start, Kind::While, None);
        });
        (condition, body)
    }

    fn in_block(&mut self, block: Kind, rule: impl FnOnce(&mut Self)) {
        self.open_blocks.push(block);
        self.nested(rule);
        self.open_blocks.pop();
    }

    /// `if c then …`, from the keyword up to the next branch.
    fn branch<T>(&mut self, start: Span, block: Kind, item: Item<'t, T>) -> (Expr, Vec<T>) {
        self.at += 1;
        let condition = self.expression();
        self.expect_then(start, block);
        (condition, self.body(item))
    }

    fn expect_loop(&mut self, start: Span, block: Kind) {
        if !self.eat(Kind::Loop) && !self.recovering {
            let (place, found) = (self.place_of_missing_word(), self.found());
            self.error(diagnostics::missing_loop(place, start, block, &found));
            self.recovering = !self.on_new_line();
        }
    }

    fn at_elseif(&mut self) -> bool {
        if self.is(Kind::Ident) && matches!(self.slice(self.token()), "elif" | "elsif" | "elseIf") {
            let found = self.slice(self.token());
            self.remark(diagnostics::foreign_elseif(self.span(), found));
            return true;
        }
        self.is(Kind::Elseif)
    }

    /// `endif` and the like.
    fn foreign_end(&self) -> Option<Kind> {
        if !self.is(Kind::Ident) || self.kind_at(1) != Kind::Semicolon {
            return None;
        }
        Some(match self.slice(self.token()) {
            "endif" => Kind::If,
            "endfor" => Kind::For,
            "endwhen" => Kind::When,
            "endwhile" => Kind::While,
            _ => return None,
        })
    }

    fn body<T>(&mut self, item: Item<'t, T>) -> Vec<T> {
        if self.recovering {
            self.skip_broken_head();
        }
        let mut items = Vec::new();
        while !self.ends_body() {
            items.push(self.item(item));
        }
        items
    }

    /// After an error in `if c then`: on to the body if it begins further right or on the next line.
    fn skip_broken_head(&mut self) {
        while !self.at_boundary() && !self.on_new_line() {
            let kind = self.bump().kind;
            if matches!(kind, Kind::Then | Kind::Loop | Kind::Semicolon) {
                break;
            }
        }
        self.recovering = self.at_end();
    }

    fn ends_body(&self) -> bool {
        match self.kind() {
            Kind::Else | Kind::Elseif | Kind::Elsewhen | Kind::Annotation => true,
            Kind::Connect | Kind::When | Kind::While => false,
            Kind::Ident => {
                matches!(self.slice(self.token()), "elif" | "elsif" | "elseIf") || self.foreign_end().is_some()
            }
            kind if kind.begins_element() => self.long_class_ahead(),
            _ => self.at_boundary(),
        }
    }

    /// `end if` and so on. A missing one is not taken from a block further out.
    fn end_block(&mut self, start: Span, block: Kind, else_if: Option<Span>) {
        if self.is(Kind::End) && self.kind_at(1) == block {
            self.at += 2;
            return;
        }
        let span = self.span();
        if let Some(closed) = self.foreign_end() {
            let found = self.slice(self.token());
            self.remark(diagnostics::foreign_block_end(span, found, closed));
            self.at += 1;
            return;
        }
        let other = self.kind_at(1);
        let is_block_end = self.is(Kind::End) && matches!(other, Kind::If | Kind::For | Kind::When | Kind::While);
        let outer = self.open_blocks.len().saturating_sub(1);
        if is_block_end && !self.open_blocks[..outer].contains(&other) {
            self.error(diagnostics::wrong_block_end(span, start, block, other.text()));
            self.at += 2;
            self.recovering = false;
            return;
        }
        let found = match (self.kind(), other) {
            (Kind::End, Kind::Ident) => format!("`end {}`", self.slice(self.tokens[self.at + 1])),
            (Kind::End, Kind::If | Kind::For | Kind::When | Kind::While) => format!("`end {}`", other.text()),
            _ => self.found(),
        };
        self.error(diagnostics::missing_block_end(self.here(), start, block, &found, else_if));
    }
}
