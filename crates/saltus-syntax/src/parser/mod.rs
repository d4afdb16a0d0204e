//! Recursive descent over the tokens: one function per production of the grammar, iterative where a rule
//! repeats.
//!
//! Errors never end the parse. The first error of an item (an element, an equation, an argument) is reported
//! and sets `recovering`, which keeps its consequences silent until the item ends; see [`recovery`].
//! Nesting is limited ([`MAX_DEPTH`], [`MAX_HEIGHT`]) so that neither the parser nor a walk over the tree can
//! exhaust the stack. Specification: appendix A.2.

mod block;
mod class;
mod element;
mod equation;
mod expr;
mod modification;
mod names;
mod recovery;
mod statement;

use saltus_base::{Diagnostic, Diagnostics, FileId, Interner, Name, Span};

use crate::ast;
use crate::diagnostics;
use crate::lexer::{self, Lexed};
use crate::token::{Kind, Token};

/// Levels of brackets, classes and blocks.
pub(crate) const MAX_DEPTH: u32 = 200;
/// Levels of an expression tree; a chain `a + b + c + …` has one level per operator.
pub(crate) const MAX_HEIGHT: u32 = 4_000;

pub(crate) struct Parser<'t> {
    file: FileId,
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    names: &'t mut Interner,
    pub(crate) diagnostics: Diagnostics,
    /// An error of the current item has been reported; what follows from it is not.
    recovering: bool,
    depth: u32,
    /// The greatest height of the expressions finished since this was last set to zero.
    height: u32,
    /// `end` is a value only inside subscripts.
    in_subscripts: bool,
    /// Names and beginnings of the classes around the current place, outermost first.
    open_classes: Vec<(Name, Span)>,
    /// `if`, `for`, `when`, `while` around the current place within its section.
    open_blocks: Vec<Kind>,
    /// Where the lexer has skipped characters.
    bad_text: Vec<u32>,
    /// A bracket was not closed before this token, which begins the next item.
    resume_at: usize,
    /// The keyword of the current equation or algorithm section.
    section: Span,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(file: FileId, text: &'t str, names: &'t mut Interner) -> (Self, Vec<ast::Comment>) {
        Self::of_tokens(file, text, lexer::lex(file, text), names)
    }

    pub(crate) fn of_tokens(
        file: FileId,
        text: &'t str,
        lexed: Lexed,
        names: &'t mut Interner,
    ) -> (Self, Vec<ast::Comment>) {
        let Lexed { tokens, comments, diagnostics, .. } = lexed;
        let skipped = diagnostics.iter().filter(|d| diagnostics::is_skipped_text(d.code));
        let bad_text = skipped.filter_map(|d| d.span.map(|s| s.start)).collect();
        let parser = Parser {
            file,
            text,
            tokens,
            at: 0,
            names,
            diagnostics,
            recovering: false,
            depth: 0,
            height: 0,
            in_subscripts: false,
            open_classes: Vec::new(),
            open_blocks: Vec::new(),
            bad_text,
            resume_at: usize::MAX,
            section: Span::nowhere(),
        };
        (parser, comments)
    }

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    fn kind_at(&self, ahead: usize) -> Kind {
        self.tokens.get(self.at + ahead).map_or(Kind::Eof, |t| t.kind)
    }

    fn is(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// The last token is `Eof` and is never passed.
    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::Eof {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.is(kind);
        if found {
            self.at += 1;
        }
        found
    }

    fn span_of(&self, token: Token) -> Span {
        Span::new(self.file, token.start, token.end)
    }

    /// The place of the current token.
    fn span(&self) -> Span {
        self.span_of(self.token())
    }

    fn previous(&self) -> Option<Token> {
        self.at.checked_sub(1).map(|i| self.tokens[i])
    }

    /// From the start of `first` to the end of the last token eaten.
    fn since(&self, first: Span) -> Span {
        let end = self.previous().map_or(first.end, |t| t.end);
        Span::new(self.file, first.start, end.max(first.start))
    }

    /// The empty place just behind the previous token.
    fn behind_previous(&self) -> Span {
        let end = self.previous().map_or(0, |t| t.end);
        Span::new(self.file, end, end)
    }

    /// The current token, or at the end of the file the place behind the last one.
    fn here(&self) -> Span {
        if self.is(Kind::Eof) { self.behind_previous() } else { self.span() }
    }

    fn slice(&self, token: Token) -> &'t str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The current token as messages name it.
    fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            Kind::Eof => "the end of the file".into(),
            Kind::String => "a string".into(),
            _ => format!("`{}`", self.slice(token)),
        }
    }

    /// A line break stands between the previous token and this one.
    fn on_new_line(&self) -> bool {
        self.breaks_before(self.at)
    }

    fn breaks_before(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else { return true };
        let gap = self.tokens[before].end as usize..self.tokens[index].start as usize;
        self.text[gap].contains('\n')
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        if !self.recovering {
            if !self.follows_from_bad_text() {
                self.diagnostics.push(diagnostic);
            }
            self.recovering = true;
        }
    }

    /// The lexer has skipped something in this item, so that nothing about the rest of it is certain.
    fn follows_from_bad_text(&self) -> bool {
        let here = self.token().start;
        let before = self.bad_text.partition_point(|&at| at <= here);
        before.checked_sub(1).is_some_and(|i| {
            let between = self.bad_text[i] as usize..here as usize;
            between.len() < 1_000 && !self.text[between].contains(';')
        })
    }

    /// Reports something that does not disturb the parse: what follows is still reported.
    fn remark(&mut self, diagnostic: Diagnostic) {
        if !self.recovering {
            self.diagnostics.push(diagnostic);
        }
    }

    fn expected(&mut self, what: &str) {
        if !self.recovering {
            let (span, found) = (self.here(), self.found());
            self.error(diagnostics::expected(span, what, &found));
        }
    }

    fn expect(&mut self, kind: Kind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(&format!("`{}`", kind.text()));
        }
        found
    }

    /// Runs `rule` one level deeper; past the limit the rest of the file is skipped.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.span();
            self.error(diagnostics::too_deep(span, MAX_DEPTH));
            self.at = self.tokens.len() - 1;
            return None;
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        Some(result)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.is(Kind::Eof)
    }

    /// For texts that consist of one expression or reference only.
    pub(crate) fn expect_end(&mut self) {
        if !self.at_end() {
            self.expected("the end of the expression");
        }
    }
}
