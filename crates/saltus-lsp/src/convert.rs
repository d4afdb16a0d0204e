//! Answers of `saltus-ide` in the words of the protocol.

use std::path::Path;

use saltus_base::{LineIndex, Severity};
use saltus_ide::{
    Analysis, Completion, Encoding, FileRange, Highlight, HighlightKind, NavigationTarget, OutlineItem, Problem,
    SymbolKind, TextEdit,
};
use serde_json::{Value, json};

use crate::uri;

/// A text whose places are converted.
pub(crate) struct Page<'a> {
    pub(crate) text: &'a str,
    pub(crate) lines: &'a LineIndex,
    pub(crate) encoding: Encoding,
}

impl<'a> Page<'a> {
    pub(crate) fn open(analysis: &Analysis<'a>, path: &Path, encoding: Encoding) -> Option<Self> {
        Some(Self { text: analysis.text(path)?, lines: analysis.lines(path)?, encoding })
    }

    pub(crate) fn offset(&self, place: &Value) -> u32 {
        saltus_ide::offset(self.text, self.lines, crate::documents::position(place), self.encoding)
    }

    pub(crate) fn position(&self, offset: u32) -> Value {
        let at = saltus_ide::position(self.text, self.lines, offset, self.encoding);
        json!({"line": at.line, "character": at.column})
    }

    pub(crate) fn range(&self, start: u32, end: u32) -> Value {
        json!({"start": self.position(start), "end": self.position(end)})
    }

    pub(crate) fn edits(&self, edits: &[TextEdit]) -> Value {
        edits.iter().map(|edit| json!({"range": self.range(edit.start, edit.end), "newText": edit.text})).collect()
    }

    pub(crate) fn outline(&self, items: &[OutlineItem]) -> Value {
        let item = |item: &OutlineItem| {
            json!({
                "name": item.name,
                "detail": item.detail,
                "kind": symbol_kind(item.kind),
                "range": self.range(item.full.0, item.full.1),
                "selectionRange": self.range(item.focus.0, item.focus.1),
                "children": self.outline(&item.children),
            })
        };
        items.iter().map(item).collect()
    }

    /// Five numbers a word: lines and columns relative to the word before, length, kind, modifiers. Words over several lines
    /// are one for each line.
    pub(crate) fn tokens(&self, highlights: &[Highlight]) -> Value {
        let (mut data, mut line, mut column) = (Vec::new(), 0, 0);
        for highlight in highlights {
            for (start, end) in self.lines_of(highlight.start, highlight.end) {
                let from = saltus_ide::position(self.text, self.lines, start, self.encoding);
                let to = saltus_ide::position(self.text, self.lines, end, self.encoding);
                let after = if from.line == line { from.column - column } else { from.column };
                data.extend([from.line - line, after, to.column - from.column]);
                data.extend([token_type(highlight.kind), u32::from(highlight.is_declaration)]);
                (line, column) = (from.line, from.column);
            }
        }
        json!({"data": data})
    }

    fn lines_of(&self, start: u32, end: u32) -> Vec<(u32, u32)> {
        let text = self.text.get(start as usize..end as usize).unwrap_or("");
        let mut at = start;
        let parts = text.split('\n').map(|line| {
            let part = (at, at + line.trim_end_matches('\r').len() as u32);
            at += line.len() as u32 + 1;
            part
        });
        parts.filter(|(start, end)| start < end).collect()
    }
}

/// What is wrong with a text of this path.
pub(crate) fn diagnostics(analysis: &Analysis<'_>, page: &Page<'_>, problems: &[Problem]) -> Value {
    let related = |(place, text): &(FileRange, String)| {
        Some(json!({"location": location(analysis, place, page.encoding)?, "message": text}))
    };
    let diagnostic = |problem: &Problem| {
        json!({
            "range": page.range(problem.start, problem.end),
            "severity": severity(problem.severity),
            "code": problem.code,
            "source": "saltus",
            "message": problem.message,
            "relatedInformation": problem.related.iter().filter_map(related).collect::<Vec<_>>(),
        })
    };
    problems.iter().map(diagnostic).collect()
}

fn severity(severity: Severity) -> u32 {
    match severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Hint => 4,
    }
}

pub(crate) fn location(analysis: &Analysis<'_>, place: &FileRange, encoding: Encoding) -> Option<Value> {
    let page = Page::open(analysis, &place.path, encoding)?;
    Some(json!({"uri": uri::of_path(&place.path), "range": page.range(place.start, place.end)}))
}

pub(crate) fn target(analysis: &Analysis<'_>, target: &NavigationTarget, encoding: Encoding) -> Option<Value> {
    location(analysis, &target.focus, encoding)
}

pub(crate) fn completion(page: &Page<'_>, start: u32, end: u32, item: &Completion, with_snippets: bool) -> Value {
    let snippet = item.snippet.as_deref().filter(|_| with_snippets);
    let mut value = json!({
        "label": item.label,
        "kind": completion_kind(item.kind),
        "sortText": format!("{}{}", item.rank, item.label),
        "textEdit": {"range": page.range(start, end), "newText": snippet.unwrap_or(&item.label)},
    });
    if !item.detail.is_empty() {
        value["detail"] = item.detail.as_str().into();
    }
    if !item.description.is_empty() {
        value["documentation"] = item.description.as_str().into();
    }
    if snippet.is_some() {
        value["insertTextFormat"] = 2.into();
    }
    value
}

fn completion_kind(kind: SymbolKind) -> u32 {
    match kind {
        SymbolKind::Class | SymbolKind::Model | SymbolKind::Block => 7,
        SymbolKind::Connector => 8,
        SymbolKind::Record => 22,
        SymbolKind::Type => 25,
        SymbolKind::Enumeration => 13,
        SymbolKind::Package => 9,
        SymbolKind::Function | SymbolKind::Builtin => 3,
        SymbolKind::Operator => 24,
        SymbolKind::Literal => 20,
        SymbolKind::Variable | SymbolKind::Iterator => 6,
        SymbolKind::Parameter | SymbolKind::Input | SymbolKind::Output => 5,
        SymbolKind::Constant => 21,
        SymbolKind::Attribute => 10,
        SymbolKind::Keyword => 14,
        SymbolKind::Snippet => 15,
    }
}

pub(crate) fn symbol_kind(kind: SymbolKind) -> u32 {
    match kind {
        SymbolKind::Class | SymbolKind::Model | SymbolKind::Block => 5,
        SymbolKind::Connector => 11,
        SymbolKind::Record => 23,
        SymbolKind::Type => 26,
        SymbolKind::Enumeration => 10,
        SymbolKind::Package => 4,
        SymbolKind::Function | SymbolKind::Builtin => 12,
        SymbolKind::Operator => 25,
        SymbolKind::Literal => 22,
        SymbolKind::Variable | SymbolKind::Iterator | SymbolKind::Input | SymbolKind::Output => 13,
        SymbolKind::Parameter => 7,
        SymbolKind::Constant => 14,
        SymbolKind::Attribute | SymbolKind::Keyword | SymbolKind::Snippet => 20,
    }
}

/// Kinds of words, in the order of their numbers.
pub(crate) const TOKEN_TYPES: [&str; 13] = [
    "keyword",
    "number",
    "string",
    "comment",
    "class",
    "type",
    "enum",
    "namespace",
    "function",
    "enumMember",
    "variable",
    "parameter",
    "property",
];

fn token_type(kind: HighlightKind) -> u32 {
    match kind {
        HighlightKind::Keyword => 0,
        HighlightKind::Number => 1,
        HighlightKind::String => 2,
        HighlightKind::Comment => 3,
        HighlightKind::Symbol(kind) => match kind {
            SymbolKind::Class | SymbolKind::Model | SymbolKind::Block | SymbolKind::Connector | SymbolKind::Record => 4,
            SymbolKind::Type => 5,
            SymbolKind::Enumeration => 6,
            SymbolKind::Package => 7,
            SymbolKind::Function | SymbolKind::Operator | SymbolKind::Builtin => 8,
            SymbolKind::Literal => 9,
            SymbolKind::Variable | SymbolKind::Iterator => 10,
            SymbolKind::Parameter | SymbolKind::Constant | SymbolKind::Input | SymbolKind::Output => 11,
            SymbolKind::Attribute | SymbolKind::Keyword | SymbolKind::Snippet => 12,
        },
    }
}
