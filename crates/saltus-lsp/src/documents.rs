//! The documents that are open in the editor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use saltus_base::LineIndex;
use saltus_ide::{Encoding, Position, Problem, RunFile, RunNote};
use serde_json::Value;

pub(crate) struct Document {
    pub(crate) uri: String,
    pub(crate) text: String,
    /// As the editor counts.
    pub(crate) version: i64,
    /// Of the last check, moved along with edits.
    pub(crate) problems: Vec<Problem>,
    /// Lines about its models, of the last time that they were sorted.
    pub(crate) structures: Vec<(String, String)>,
    /// What the last run had to say about it, moved along with edits.
    pub(crate) notes: Vec<RunNote>,
    /// Number of the last edit of any document when this one was edited.
    pub(crate) edited: u64,
}

#[derive(Default)]
pub(crate) struct Documents {
    open: BTreeMap<PathBuf, Document>,
    n_edits: u64,
}

impl Documents {
    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    pub(crate) fn get_mut(&mut self, path: &Path) -> Option<&mut Document> {
        self.open.get_mut(path)
    }

    /// Paths, the one that was edited last first.
    pub(crate) fn by_edit(&self) -> Vec<PathBuf> {
        let mut paths: Vec<(&PathBuf, &Document)> = self.open.iter().collect();
        paths.sort_by_key(|(_, document)| std::cmp::Reverse(document.edited));
        paths.into_iter().map(|(path, _)| path.clone()).collect()
    }

    pub(crate) fn open(&mut self, path: PathBuf, uri: &str, text: &str, version: i64) {
        self.n_edits += 1;
        let document = Document {
            uri: uri.to_owned(),
            text: text.to_owned(),
            version,
            problems: Vec::new(),
            structures: Vec::new(),
            notes: Vec::new(),
            edited: self.n_edits,
        };
        self.open.insert(path, document);
    }

    /// A run has had something to say about files: documents whose text was run show it.
    pub(crate) fn set_notes(&mut self, files: &[RunFile]) {
        for (path, document) in &mut self.open {
            document.set_notes(path, files);
        }
    }

    pub(crate) fn set_notes_of(&mut self, path: &Path, files: &[RunFile]) {
        self.open.get_mut(path).into_iter().for_each(|document| document.set_notes(path, files));
    }

    pub(crate) fn close(&mut self, path: &Path) -> Option<Document> {
        self.open.remove(path)
    }

    /// Carries out the changes of a notification; `None` if the document is not open.
    pub(crate) fn change(&mut self, path: &Path, version: i64, changes: &[Value], encoding: Encoding) -> Option<&str> {
        self.n_edits += 1;
        let document = self.open.get_mut(path)?;
        document.version = version;
        document.edited = self.n_edits;
        for change in changes {
            document.apply(change, encoding);
        }
        Some(&document.text)
    }
}

impl Document {
    fn set_notes(&mut self, path: &Path, files: &[RunFile]) {
        let file = files.iter().find(|file| file.path == path && *file.text == *self.text);
        self.notes = file.map(|file| file.notes.clone()).unwrap_or_default();
    }

    fn apply(&mut self, change: &Value, encoding: Encoding) {
        let new = change["text"].as_str().unwrap_or("");
        let Some(range) = change.get("range") else {
            self.text = new.to_owned();
            self.problems.clear();
            self.notes.clear();
            return;
        };
        let lines = LineIndex::new(&self.text);
        let at = |place: &Value| saltus_ide::offset(&self.text, &lines, position(place), encoding);
        let (start, end) = (at(&range["start"]), at(&range["end"]));
        let (start, end) = (start.min(end), start.max(end));
        self.text.replace_range(start as usize..end as usize, new);
        self.move_problems(start, end, new.len() as u32);
    }

    /// What was said about the replaced bytes is gone, what was said behind them moves.
    fn move_problems(&mut self, start: u32, end: u32, length: u32) {
        self.problems.retain(|problem| problem.end < start || end < problem.start);
        let moved = |at: u32| if at >= end { at - end + start + length } else { at };
        self.notes.retain(|note| note.end < start || end < note.start);
        for note in &mut self.notes {
            (note.start, note.end) = (moved(note.start), moved(note.end));
        }
        for problem in &mut self.problems {
            // A suggestion that reaches into the replaced bytes is not one any more.
            problem.suggestions.retain(|s| s.end < start || end < s.start);
            for suggestion in &mut problem.suggestions {
                (suggestion.start, suggestion.end) = (moved(suggestion.start), moved(suggestion.end));
            }
            (problem.start, problem.end) = (moved(problem.start), moved(problem.end));
        }
    }
}

/// A place as the protocol writes it.
pub(crate) fn position(place: &Value) -> Position {
    let number = |name: &str| place[name].as_u64().map_or(0, |n| n.min(u64::from(u32::MAX)) as u32);
    Position { line: number("line"), column: number("character") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edit(line: u32, from: u32, to: u32, text: &str) -> Value {
        let place = |character: u32| json!({"line": line, "character": character});
        json!({"range": {"start": place(from), "end": place(to)}, "text": text})
    }

    #[test]
    fn edits_are_made_one_after_the_other() {
        let mut documents = Documents::default();
        let path = Path::new("/a.mo");
        documents.open(path.into(), "file:///a.mo", "model µ\nend µ;", 1);
        let changes = [edit(0, 6, 7, "Mass"), edit(1, 4, 5, "Mass")];
        assert_eq!(documents.change(path, 2, &changes, Encoding::Utf16), Some("model Mass\nend Mass;"));
        let changes = [edit(7, 0, 0, "\n")];
        assert_eq!(documents.change(path, 3, &changes, Encoding::Utf16), Some("model Mass\nend Mass;\n"));
        assert_eq!(documents.change(Path::new("/b.mo"), 1, &[], Encoding::Utf16), None);
    }
}
