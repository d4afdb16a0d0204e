//! Walks over tokens and comments and writes them with line breaks, indentation and spaces.

use super::marks::Mark;
use super::spacing::{Neighbours, ends_operand, has_space};
use crate::ast::Comment;
use crate::token::{Kind, Token};

/// Modifications that would end behind this column are broken into one argument a line.
const WIDTH: usize = 120;
const STEP: usize = 2;
/// Lines begin at this column at the latest, however deep the brackets.
const MAX_INDENT: usize = 160;

pub(super) fn print(text: &str, tokens: &[Token], comments: &[Comment], marks: &[Mark]) -> String {
    let mut printer = Printer {
        text,
        tokens,
        comments,
        marks,
        out: String::with_capacity(text.len() + text.len() / 16),
        newline: newline_of(text, tokens),
        column: 0,
        line_indent: 0,
        item_indent: 0,
        brackets: Vec::new(),
        in_annotation: None,
        in_import: false,
        is_range: false,
        n_lines: 0,
        closing: closing_brackets(tokens),
        behind_line_comment: false,
        end_of_last: 0,
        n_comments: 0,
    };
    for index in 0..tokens.len() {
        printer.token(index);
    }
    printer.out
}

/// The line end that the source uses between its tokens.
fn newline_of(text: &str, tokens: &[Token]) -> &'static str {
    let mut end = 0;
    for token in tokens {
        let gap = &text[end..token.start as usize];
        if let Some(at) = gap.find('\n') {
            return if gap[..at].ends_with('\r') { "\r\n" } else { "\n" };
        }
        end = token.end as usize;
    }
    "\n"
}

fn closing_brackets(tokens: &[Token]) -> Vec<u32> {
    let mut closing: Vec<u32> = (0..tokens.len() as u32).collect();
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.kind.is_opening() {
            open.push(index);
        } else if token.kind.is_closing()
            && let Some(opening) = open.pop()
        {
            closing[opening] = index as u32;
        }
    }
    closing
}

struct Bracket {
    /// Indentation of the closing bracket if that begins a line; the contents stand one step further right.
    outside: usize,
    kind: Kind,
    /// Line of the output that it stands on.
    line: usize,
    /// Behind `in`: the range of a loop, where sums are written without spaces.
    is_range: bool,
    is_subscript: bool,
    /// One argument a line.
    is_broken: bool,
}

struct Printer<'t> {
    text: &'t str,
    tokens: &'t [Token],
    comments: &'t [Comment],
    marks: &'t [Mark],
    out: String,
    newline: &'static str,
    column: usize,
    line_indent: usize,
    item_indent: usize,
    brackets: Vec<Bracket>,
    /// Number of open brackets at the `annotation` that the current token belongs to.
    in_annotation: Option<usize>,
    in_import: bool,
    /// Behind the `in` of a loop outside of brackets.
    is_range: bool,
    n_lines: usize,
    /// For every opening bracket its closing one.
    closing: Vec<u32>,
    behind_line_comment: bool,
    /// Source offset behind the last token or comment written.
    end_of_last: usize,
    n_comments: usize,
}

impl Printer<'_> {
    fn token(&mut self, index: usize) {
        let token = self.tokens[index];
        let mark = self.marks[index];
        if let Some(indent) = mark.line {
            self.item_indent = indent as usize;
            self.brackets.clear();
            self.in_annotation = (token.kind == Kind::Annotation).then_some(0);
            self.is_range = false;
            self.in_import = token.kind == Kind::Import;
        }
        if token.kind == Kind::Eof {
            self.item_indent = 0;
            self.brackets.clear();
        }
        if mark.is_annotation {
            self.in_annotation = Some(self.brackets.len());
        }
        self.comments_before(index);
        if token.kind == Kind::Eof {
            if !self.out.is_empty() {
                self.out.push_str(self.newline);
            }
            return;
        }
        if self.breaks(index, self.end_of_last) || self.forced_break(index) {
            let indent = self.indent_of(index);
            self.break_line(indent, token.start as usize);
        } else if !self.out.is_empty() && self.has_space(index) {
            self.write(" ");
        }
        self.write(&self.text[token.start as usize..token.end as usize]);
        self.end_of_last = token.end as usize;
        self.behind_line_comment = false;
        self.track_brackets(index);
    }

    fn track_brackets(&mut self, index: usize) {
        let kind = self.tokens[index].kind;
        match kind {
            Kind::In => self.set_range(true),
            Kind::Comma | Kind::Loop => self.set_range(false),
            _ => {}
        }
        if kind.is_opening() {
            let before = index.checked_sub(1).map_or(Kind::Eof, |i| self.tokens[i].kind);
            let bracket = Bracket {
                outside: self.indent_around(index),
                kind,
                line: self.n_lines,
                is_range: false,
                is_subscript: kind == Kind::LeftBracket && ends_operand(before),
                is_broken: self.marks[index].is_list && self.is_too_long(index),
            };
            self.brackets.push(bracket);
        } else if kind.is_closing() {
            self.brackets.pop();
            if self.in_annotation.is_some_and(|depth| self.brackets.len() <= depth) {
                self.in_annotation = None;
            }
        }
    }

    fn set_range(&mut self, is_range: bool) {
        match self.brackets.last_mut() {
            Some(bracket) => bracket.is_range = is_range,
            None => self.is_range = is_range,
        }
    }

    /// Brackets opened on one line share their indentation if they are closed together; where the outer one goes
    /// on behind the inner one, the contents of the inner one stand further right.
    fn indent_around(&self, open: usize) -> usize {
        let behind = self.tokens.get(self.closing[open] as usize + 1).map_or(Kind::Eof, |t| t.kind);
        match self.brackets.last() {
            Some(outer) if outer.line == self.n_lines && !behind.is_closing() => outer.outside + STEP,
            _ => self.line_indent,
        }
    }

    /// A line break that does not depend on the width of the output: the tree asks for it, the author made it,
    /// or a `//` comment stands before it. `end_of_last` is where the token or comment before ends in the source.
    fn breaks(&self, index: usize, end_of_last: usize) -> bool {
        if index == 0 && self.n_comments == 0 {
            return false;
        }
        let mark = self.marks[index];
        if mark.line.is_some() {
            let leads_comment = self.n_comments > 0 && self.comment_end(self.n_comments - 1) == end_of_last;
            let comment_leads = leads_comment && self.comments[self.n_comments - 1].own_line;
            return !comment_leads || self.source_breaks(index, end_of_last) || self.behind_line_comment;
        }
        if self.behind_line_comment {
            return true;
        }
        match self.tokens[index].kind {
            Kind::Semicolon | Kind::Comma => false,
            _ => {
                mark.is_annotation && !self.follows_own_line_comment(end_of_last)
                    || self.source_breaks(index, end_of_last)
            }
        }
    }

    fn follows_own_line_comment(&self, end_of_last: usize) -> bool {
        self.n_comments > 0
            && self.comment_end(self.n_comments - 1) == end_of_last
            && self.comments[self.n_comments - 1].own_line
    }

    fn source_breaks(&self, index: usize, end_of_last: usize) -> bool {
        self.text[end_of_last..self.tokens[index].start as usize].contains('\n')
    }

    /// The break in a modification that is printed one argument a line.
    fn forced_break(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|i| self.tokens[i].kind) else { return false };
        let is_broken = self.brackets.last().is_some_and(|b| b.is_broken);
        is_broken && matches!(before, Kind::LeftParen | Kind::Comma) && !self.tokens[index].kind.is_closing()
    }

    /// The modification that `open` begins does not fit on the line up to its end or its first line break.
    fn is_too_long(&self, open: usize) -> bool {
        let mut column = self.column;
        let mut depth = 0u32;
        let mut comment = self.n_comments;
        for index in open + 1..self.tokens.len() {
            let token = self.tokens[index];
            if self.comments.get(comment).is_some_and(|c| c.span.start < token.start) {
                let text = self.comment_text(comment);
                if text.starts_with("//") || self.comments[comment].own_line || text.contains('\n') {
                    return column > WIDTH;
                }
                column += text.chars().count() + 1;
                comment += 1;
            }
            if index > open && self.static_break(index) {
                return column > WIDTH;
            }
            column += usize::from(index > open + 1 && self.has_space(index));
            let source = &self.text[token.start as usize..token.end as usize];
            match source.find('\n') {
                Some(at) => return column + source[..at].trim_end().chars().count() > WIDTH,
                None => column += source.chars().count(),
            }
            if column > WIDTH {
                return true;
            }
            if token.kind.is_opening() {
                depth += 1;
            } else if token.kind.is_closing() {
                if depth == 0 {
                    return false;
                }
                depth -= 1;
            }
        }
        false
    }

    /// [`Self::breaks`] for a token further on, with no comment before it.
    fn static_break(&self, index: usize) -> bool {
        let mark = self.marks[index];
        if mark.line.is_some() || mark.is_annotation {
            return true;
        }
        !matches!(self.tokens[index].kind, Kind::Semicolon | Kind::Comma)
            && self.source_breaks(index, self.tokens[index - 1].end as usize)
    }

    /// Where a token stands that begins a line.
    fn indent_of(&self, index: usize) -> usize {
        if self.marks[index].line.is_some() {
            return self.item_indent;
        }
        let Some(bracket) = self.brackets.last() else { return self.item_indent + STEP };
        let before = index.checked_sub(1).map_or(Kind::Eof, |i| self.tokens[i].kind);
        if self.tokens[index].kind.is_closing() {
            bracket.outside
        } else if before == Kind::Comma || before == Kind::Semicolon || before.is_opening() {
            bracket.outside + STEP
        } else {
            bracket.outside + 2 * STEP
        }
    }

    fn break_line(&mut self, indent: usize, source_start: usize) {
        if self.out.is_empty() {
            return;
        }
        let indent = indent.min(MAX_INDENT);
        self.out.push_str(self.newline);
        let gap = &self.text[self.end_of_last..source_start];
        if gap.bytes().filter(|&b| b == b'\n').count() > 1 {
            self.out.push_str(self.newline);
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
        self.line_indent = indent;
        self.n_lines += 1;
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.column = match text.rfind('\n') {
            Some(at) => text[at + 1..].chars().count(),
            None => self.column + text.chars().count(),
        };
    }

    fn comment_end(&self, at: usize) -> usize {
        self.comments[at].span.end as usize
    }

    fn comment_text(&self, at: usize) -> &str {
        let span = self.comments[at].span;
        self.text[span.start as usize..span.end as usize].trim_end()
    }

    fn comments_before(&mut self, index: usize) {
        let start = self.tokens[index].start;
        while let Some(&comment) = self.comments.get(self.n_comments) {
            if comment.span.start >= start {
                return;
            }
            if comment.own_line || self.behind_line_comment {
                let indent = self.comment_indent(index, comment);
                self.break_line(indent, comment.span.start as usize);
            } else if !self.out.is_empty() {
                self.write(" ");
            }
            let text = self.comment_text(self.n_comments).to_owned();
            self.write(&text);
            self.behind_line_comment = text.starts_with("//");
            self.end_of_last = comment.span.end as usize;
            self.n_comments += 1;
        }
    }

    /// A comment stands like the token behind it; before `end` and the like it may belong to the block above.
    fn comment_indent(&self, index: usize, comment: Comment) -> usize {
        let indent = if self.tokens[index].kind == Kind::Eof { 0 } else { self.indent_of(index) };
        let token = self.tokens[index].start as usize;
        let is_inside = self.marks[index].is_dedent
            && self.source_line(token).trim().is_empty()
            && self.source_line(comment.span.start as usize).len() > self.source_line(token).len();
        if is_inside { indent + STEP } else { indent }
    }

    /// The part of the source line before `offset`.
    fn source_line(&self, offset: usize) -> &str {
        let before = &self.text[..offset];
        &before[before.rfind('\n').map_or(0, |at| at + 1)..]
    }

    fn has_space(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else { return true };
        if self.end_of_last > self.tokens[before].end as usize {
            return true;
        }
        let (left, right) = (self.tokens[before].kind, self.tokens[index].kind);
        let equals = if left == Kind::Equals { before } else { index };
        has_space(&Neighbours {
            left,
            left_mark: self.marks[before],
            right,
            right_mark: self.marks[index],
            left_is_sign: before == 0 || !ends_operand(self.tokens[before - 1].kind),
            equals_is_spaced: equals > 0 && self.tokens[equals - 1].end < self.tokens[equals].start,
            is_dense: self.in_annotation.is_some() && self.brackets.last().is_some_and(|b| b.kind == Kind::LeftBrace),
            is_tight: self.brackets.last().map_or(self.is_range, |b| b.is_range || b.is_subscript),
            is_import_all: self.in_import,
        })
    }
}
