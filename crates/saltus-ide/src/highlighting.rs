//! What each word of a file is, for colours that know the language: keywords, classes, parameters, inherited members.

use std::path::Path;

use saltus::Session;
use saltus_base::Span;
use saltus_frontend::Declaration;
use saltus_syntax::TokenKind;

use crate::file::File;
use crate::resolve::{Meaning, Resolver};
use crate::target::SymbolKind;
use crate::walk;

/// A word, a number, a string or a comment with its kind; in the order of the text, without overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Highlight {
    pub start: u32,
    pub end: u32,
    pub kind: HighlightKind,
    /// The name is declared here.
    pub is_declaration: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HighlightKind {
    Keyword,
    Number,
    String,
    Comment,
    Symbol(SymbolKind),
}

/// Highlights of a file, or of a range of its bytes.
pub(crate) fn highlight(session: &Session, path: &Path, range: Option<(u32, u32)>) -> Vec<Highlight> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let is_wanted = |start: u32, end: u32| range.is_none_or(|(from, to)| start < to && from < end);
    let mut found = lexical(&file);
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    for occurrence in &names.occurrences {
        let span = occurrence.ident.span;
        if !is_wanted(span.start, span.end) {
            continue;
        }
        if let Some(meaning) = resolver.meaning(occurrence) {
            let (kind, declared) = kind_of(&resolver, meaning);
            found.push(Highlight {
                start: span.start,
                end: span.end,
                kind: HighlightKind::Symbol(kind),
                is_declaration: declared == Some(span),
            });
        }
    }
    found.retain(|h| is_wanted(h.start, h.end));
    // A word is a keyword to the lexer and a name to the walk, as `der`: the first one is enough.
    found.sort_by_key(|h| h.start);
    found.dedup_by(|next, previous| next.start < previous.end);
    found
}

fn lexical(file: &File<'_>) -> Vec<Highlight> {
    let (tokens, comments) = saltus_syntax::tokens(file.id, file.text);
    let plain = |start, end, kind| Highlight { start, end, kind, is_declaration: false };
    let mut found: Vec<Highlight> =
        comments.iter().map(|comment| plain(comment.span.start, comment.span.end, HighlightKind::Comment)).collect();
    found.extend(tokens.iter().filter_map(|token| {
        let kind = match token.kind {
            TokenKind::String => HighlightKind::String,
            TokenKind::Integer | TokenKind::Real => HighlightKind::Number,
            TokenKind::Der | TokenKind::Connect | TokenKind::Initial => return None,
            kind if kind.is_keyword() => HighlightKind::Keyword,
            _ => return None,
        };
        Some(plain(token.start, token.end, kind))
    }));
    found
}

fn kind_of(resolver: &Resolver<'_, '_>, meaning: Meaning) -> (SymbolKind, Option<Span>) {
    match meaning {
        Meaning::Symbol(symbol) => match resolver.scopes.declaration(symbol) {
            Some(declaration @ Declaration::Component { .. }) => {
                (SymbolKind::of(declaration), Some(resolver.scopes.origin(symbol)))
            }
            Some(declaration) => (SymbolKind::of(declaration), Some(declaration.ident().span)),
            None => (SymbolKind::Variable, None),
        },
        Meaning::Iterator(declared) => (SymbolKind::Iterator, Some(declared)),
        Meaning::Attribute(_) => (SymbolKind::Attribute, None),
        Meaning::Builtin(_) => (SymbolKind::Builtin, None),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    fn words(text: &str) -> Vec<String> {
        let fixture = Fixture::new(text);
        let found = fixture.analysis().highlight(&fixture.path, None);
        let text = fixture.text();
        let word = |h: &super::Highlight| {
            let mark = if h.is_declaration { "!" } else { "" };
            format!("{}:{:?}{mark}", &text[h.start as usize..h.end as usize], h.kind)
        };
        found.iter().map(word).collect()
    }

    #[test]
    fn names_have_the_kind_of_what_they_mean() {
        let found = words("model M parameter Real k = 1; equation der(x) = k*sin(time); end M; // done");
        let expected = [
            "model:Keyword",
            "M:Symbol(Model)!",
            "parameter:Keyword",
            "Real:Symbol(Type)",
            "k:Symbol(Parameter)!",
            "1:Number",
            "equation:Keyword",
            "der:Symbol(Builtin)",
            "k:Symbol(Parameter)",
            "sin:Symbol(Builtin)",
            "time:Symbol(Builtin)",
            "end:Keyword",
            "M:Symbol(Model)",
            "// done:Comment",
        ];
        assert_eq!(found, expected);
    }
}
