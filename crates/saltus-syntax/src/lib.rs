//! Modelica text in, syntax tree out, and back.
//!
//! [`parse`] never fails: what it could not understand is in the diagnostics and stands as an error node in the
//! tree. [`format`] prints the tree of a file with the tokens and comments of its text.
//!
//! ```
//! use saltus_base::{FileId, Index, Interner};
//!
//! let text = "model A Real x(start=1); equation der(x)=-x; end A;";
//! let mut names = Interner::new();
//! let parsed = saltus_syntax::parse(FileId::from_usize(0), text, &mut names);
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(names.text(parsed.tree.classes[0].class.name.name), "A");
//! ```
//!
//! The crate knows nothing about the meaning of names and does no IO.

pub mod ast;
mod diagnostics;
mod format;
mod lexer;
mod parser;
mod token;

use saltus_base::{Diagnostic, Diagnostics, FileId, Interner, Span};

pub use format::{comment_texts, format, same_tokens};
use lexer::Lexed;
use parser::Parser;
pub use token::{Kind as TokenKind, Token};

/// The tree of a file and what was wrong with it, in the order of the text.
#[derive(Debug)]
pub struct Parsed {
    pub tree: ast::StoredDefinition,
    pub diagnostics: Diagnostics,
}

/// Parses a whole file.
pub fn parse(file: FileId, text: &str, names: &mut Interner) -> Parsed {
    let Some(text) = acceptable(text) else {
        let span = Span::new(file, 0, 0);
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostics::file_too_large(span));
        let tree = ast::StoredDefinition { within: None, classes: Vec::new(), comments: Vec::new(), span };
        return Parsed { tree, diagnostics };
    };
    let lexed = lexer::lex(file, text);
    let has_glued_string = lexed.has_glued_string;
    let parsed = parse_tokens(file, text, lexed, names);
    if !has_glued_string || !parsed.diagnostics.has_errors() {
        return parsed;
    }
    // A quote may be missing. That reading is the right one if it leaves less to complain about.
    let repaired = parse_tokens(file, text, lexer::lex_open_strings(file, text), names);
    if repaired.diagnostics.len() <= parsed.diagnostics.len() { repaired } else { parsed }
}

fn parse_tokens(file: FileId, text: &str, lexed: Lexed, names: &mut Interner) -> Parsed {
    let (mut parser, comments) = Parser::of_tokens(file, text, lexed, names);
    let mut tree = parser.stored_definition();
    tree.comments = comments;
    Parsed { tree, diagnostics: in_order(without_consequences(parser.diagnostics, text)) }
}

/// A comment that does not end hides the rest of the file: what is missing behind it may be inside.
fn without_consequences(found: Diagnostics, text: &str) -> Diagnostics {
    let comment = found.iter().find(|d| d.code == diagnostics::UNTERMINATED_COMMENT).and_then(|d| d.span);
    let Some(comment) = comment else { return found };
    let end = text.get(..comment.start as usize).map_or(0, |before| before.trim_end().len());
    let is_before = |d: &Diagnostic| d.span.is_some_and(|s| (s.start as usize) < end);
    let mut kept = Diagnostics::new();
    kept.extend(found.into_iter().filter(|d| d.code == diagnostics::UNTERMINATED_COMMENT || is_before(d)));
    kept
}

/// The tokens of a text and its comments, each in order; the last token is the end of the file.
pub fn tokens(file: FileId, text: &str) -> (Vec<Token>, Vec<ast::Comment>) {
    let lexed = lexer::lex(file, acceptable(text).unwrap_or(""));
    (lexed.tokens, lexed.comments)
}

/// Parses a text that is one expression, such as `2*x + 1`.
pub fn parse_expression(file: FileId, text: &str, names: &mut Interner) -> (ast::Expr, Diagnostics) {
    let (mut parser, _) = Parser::new(file, acceptable(text).unwrap_or(""), names);
    let expr = parser.expression();
    parser.expect_end();
    (expr, in_order(parser.diagnostics))
}

/// Parses a text that is one component reference, such as `a.b[2].c`.
pub fn parse_component_ref(file: FileId, text: &str, names: &mut Interner) -> (ast::ComponentRef, Diagnostics) {
    let (mut parser, _) = Parser::new(file, acceptable(text).unwrap_or(""), names);
    let reference = parser.component_ref("a component reference");
    parser.expect_end();
    (reference, in_order(parser.diagnostics))
}

/// Positions are 32 bits wide.
fn acceptable(text: &str) -> Option<&str> {
    (text.len() < u32::MAX as usize).then_some(text)
}

/// The lexer runs before the parser; the reader wants the messages from top to bottom.
fn in_order(found: Diagnostics) -> Diagnostics {
    if found.len() < 2 {
        return found;
    }
    let mut items: Vec<_> = found.into_iter().collect();
    items.sort_by_key(|d| d.span.map_or(0, |s| s.start));
    let mut sorted = Diagnostics::new();
    sorted.extend(items);
    sorted
}
