//! The formatter: the tokens and comments of a text in the layout that its tree asks for.
//!
//! ```text
//! model A Real x(start=1) "state" annotation(Evaluate=true); equation der(x)=-x; end A;
//! ```
//!
//! becomes
//!
//! ```text
//! model A
//!   Real x(start=1) "state"
//!     annotation (Evaluate=true);
//! equation
//!   der(x) = -x;
//! end A;
//! ```
//!
//! The printer walks over the tokens, not over the tree, so that no token and no comment can get lost; the tree
//! only says which tokens begin a line ([`marks`]). Line breaks inside an item are the author's and stay, except
//! that an overlong modification is broken into one argument a line. Every decision depends on the tokens, on
//! the breaks of the source and on columns of the output, and none of them is changed by printing: formatting
//! twice gives what formatting once gives.

mod marks;
mod printer;
mod spacing;

use saltus_base::{FileId, Index, Interner};

use crate::ast::StoredDefinition;
use crate::lexer;
use crate::token::Kind;

/// Prints a file anew. `tree` must be the tree of `text`. Meant for files without errors: a broken item is
/// printed on one line, and a text that cannot be printed without changing its tokens comes back unchanged.
pub fn format(tree: &StoredDefinition, text: &str, _names: &Interner) -> String {
    let lexed = lexer::lex(tree.span.file, text);
    if !lexed.diagnostics.is_empty() {
        return text.to_owned();
    }
    let marks = marks::mark(tree, &lexed.tokens);
    let printed = printer::print(text, &lexed.tokens, &lexed.comments, &marks);
    let is_safe = same_tokens(text, &printed);
    if is_safe { printed } else { text.to_owned() }
}

/// Both texts are the same but for white space and comments, and therefore have the same tree.
pub fn same_tokens(a: &str, b: &str) -> bool {
    let file = FileId::from_usize(0);
    let (left, right) = (lexer::lex(file, a), lexer::lex(file, b));
    left.tokens.len() == right.tokens.len()
        && left.tokens.iter().zip(&right.tokens).all(|(x, y)| {
            let texts = (a.get(x.start as usize..x.end as usize), b.get(y.start as usize..y.end as usize));
            x.kind == y.kind && (x.kind == Kind::Eof || texts.0 == texts.1)
        })
}

/// The comments of a text in their order, delimiters included, without white space around them.
pub fn comment_texts(text: &str) -> Vec<&str> {
    let lexed = lexer::lex(FileId::from_usize(0), text);
    lexed.comments.iter().map(|c| text[c.span.start as usize..c.span.end as usize].trim()).collect()
}
