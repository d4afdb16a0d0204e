//! Source files and positions in them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::{Index, define_id};

define_id! {
    /// One text of one source file; another text of the same file has another id.
    pub struct FileId;
}

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The place of things the user did not write: built-in types, generated equations without an origin.
    pub fn nowhere() -> Self {
        Self { file: FileId::from_usize(u32::MAX as usize), start: 0, end: 0 }
    }

    pub fn is_nowhere(self) -> bool {
        self == Self::nowhere()
    }

    /// The smallest span that covers both; both must be in the same file (else `self` wins).
    pub fn to(self, end: Span) -> Span {
        if self.file != end.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(end.start), end: self.end.max(end.end) }
    }
}

/// A file's name as shown to the user, its text, and where its lines begin.
#[derive(Debug)]
pub struct SourceFile {
    pub path: String,
    pub text: Arc<str>,
    pub lines: LineIndex,
}

/// Texts by their ids. A copy shares the texts.
#[derive(Clone, Default, Debug)]
pub struct SourceMap {
    files: BTreeMap<FileId, Arc<SourceFile>>,
}

impl SourceMap {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, path: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let text = text.into();
        let lines = LineIndex::new(&text);
        let id = FileId::from_usize(self.files.last_key_value().map_or(0, |(last, _)| last.index() + 1));
        self.insert(id, Arc::new(SourceFile { path: path.into(), text, lines }));
        id
    }

    pub fn insert(&mut self, id: FileId, file: Arc<SourceFile>) {
        self.files.insert(id, file);
    }

    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(&id).map(|file| &**file)
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().map(|(&id, file)| (id, &**file))
    }

    /// Names and texts of all files, as plain data.
    pub fn texts(&self) -> SourceTexts {
        let text = |(&id, file): (&FileId, &Arc<SourceFile>)| (id, file.path.clone(), file.text.clone());
        SourceTexts { files: self.files.iter().map(text).collect() }
    }

    /// The source text of a span; empty for [`Span::nowhere`].
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// `path:line:column` of the start of a span.
    pub fn location(&self, span: Span) -> Option<String> {
        let file = self.get(span.file)?;
        let at = file.lines.line_column(&file.text, span.start);
        Some(format!("{}:{}:{}", file.path, at.line, at.column))
    }
}

/// Names and texts of files by id: what is needed to show where a message belongs.
#[derive(Clone, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct SourceTexts {
    /// In the order of their ids.
    files: Vec<(FileId, String, Arc<str>)>,
}

impl SourceTexts {
    /// These files alone, under the ids that they have.
    pub fn only(&self, wanted: &BTreeSet<FileId>) -> SourceTexts {
        SourceTexts { files: self.files.iter().filter(|(id, ..)| wanted.contains(id)).cloned().collect() }
    }

    /// The files under their ids.
    pub fn to_map(&self) -> SourceMap {
        let mut map = SourceMap::new();
        for (id, path, text) in &self.files {
            let lines = LineIndex::new(text);
            map.insert(*id, Arc::new(SourceFile { path: path.clone(), text: text.clone(), lines }));
        }
        map
    }
}

/// A position for people: both count from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineColumn {
    pub line: u32,
    pub column: u32,
}

/// Offsets of the line starts of a text.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        Self { starts }
    }

    pub fn line_column(&self, text: &str, offset: u32) -> LineColumn {
        let line = self.starts.partition_point(|&s| s <= offset).saturating_sub(1);
        let prefix = text.get(self.starts[line] as usize..offset as usize).unwrap_or("");
        LineColumn { line: line as u32 + 1, column: prefix.chars().count() as u32 + 1 }
    }

    /// The byte range of a line (counted from 1), without its line end.
    pub fn line_range(&self, text: &str, line: u32) -> std::ops::Range<usize> {
        let at = (line as usize).saturating_sub(1).min(self.starts.len() - 1);
        let start = self.starts[at] as usize;
        let end = self.starts.get(at + 1).map_or(text.len(), |&e| e as usize);
        let body = text[start..end].trim_end_matches(['\n', '\r']);
        start..start + body.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let mut map = SourceMap::new();
        let id = map.add("a.mo", "model A\n  µ x;\n");
        let span = Span::new(id, 13, 14);
        assert_eq!(map.location(span).as_deref(), Some("a.mo:2:5"));
        assert_eq!(map.slice(span), "x");
    }
}
