//! The standard layout of a file, or of the lines of a range, as edits.

use std::path::Path;

use saltus::Session;

use crate::file::File;

/// Replaces bytes of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    pub start: u32,
    pub end: u32,
    pub text: String,
}

/// Edits that bring a file into the standard layout; none if it has it, or has syntax errors.
pub(crate) fn format(session: &Session, path: &Path) -> Vec<TextEdit> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    if file.library.syntax_diagnostics(path).is_none_or(|found| found.has_errors()) {
        return Vec::new();
    }
    let printed = saltus_syntax::format(file.tree, file.text, &Default::default());
    line_edits(file.text, &printed)
}

/// Those edits of [`format`] that touch a range.
pub(crate) fn format_range(session: &Session, path: &Path, start: u32, end: u32) -> Vec<TextEdit> {
    let touches = |edit: &TextEdit| edit.start <= end && start <= edit.end;
    format(session, path).into_iter().filter(touches).collect()
}

/// The edits by lines that make `new` of `old`.
///
/// The formatter keeps the tokens and their order, so that a greedy search for the next line that agrees finds small edits.
fn line_edits(old: &str, new: &str) -> Vec<TextEdit> {
    let olds: Vec<&str> = old.split_inclusive('\n').collect();
    let news: Vec<&str> = new.split_inclusive('\n').collect();
    let (mut i, mut j, mut at) = (0, 0, 0);
    let mut edits = Vec::new();
    while i < olds.len() || j < news.len() {
        if i < olds.len() && j < news.len() && olds[i] == news[j] {
            at += olds[i].len();
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (skip_old, skip_new) = next_agreement(&olds[i..], &news[j..]);
        let length: usize = olds[i..i + skip_old].iter().map(|line| line.len()).sum();
        let text = news[j..j + skip_new].concat();
        edits.push(TextEdit { start: at as u32, end: (at + length) as u32, text });
        at += length;
        (i, j) = (i + skip_old, j + skip_new);
    }
    edits
}

/// How many lines to leave out on both sides until two lines agree that are not short.
fn next_agreement(olds: &[&str], news: &[&str]) -> (usize, usize) {
    const FARTHEST: usize = 60;
    for distance in 1..FARTHEST {
        for skip_old in 0..=distance {
            let skip_new = distance - skip_old;
            if let (Some(a), Some(b)) = (olds.get(skip_old), news.get(skip_new))
                && a == b
                && a.trim().len() > 3
            {
                return (skip_old, skip_new);
            }
        }
    }
    (olds.len(), news.len())
}

/// The text after edits that do not overlap.
pub fn apply(text: &str, edits: &[TextEdit]) -> String {
    let mut sorted: Vec<&TextEdit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.start, edit.end));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for edit in sorted {
        out.push_str(text.get(at..edit.start as usize).unwrap_or(""));
        out.push_str(&edit.text);
        at = at.max(edit.end as usize);
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// The edits that undo others: applied to the text after them they give the text before them.
pub fn inverse(text: &str, edits: &[TextEdit]) -> Vec<TextEdit> {
    let mut sorted: Vec<&TextEdit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.start, edit.end));
    let mut shift = 0i64;
    sorted
        .into_iter()
        .map(|edit| {
            let start = (i64::from(edit.start) + shift) as u32;
            shift += edit.text.len() as i64 - i64::from(edit.end - edit.start);
            let replaced = text.get(edit.start as usize..edit.end as usize).unwrap_or("");
            TextEdit { start, end: start + edit.text.len() as u32, text: replaced.to_owned() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const UGLY: &str = "model M\nReal x=1;\n  Real y = 2;\nequation\nx=y ;\nend M;\n";
    const NICE: &str = "model M\n  Real x=1;\n  Real y = 2;\nequation\n  x = y;\nend M;\n";

    #[test]
    fn edits_lead_to_the_standard_layout() {
        let fixture = Fixture::new(UGLY);
        let edits = fixture.analysis().format(&fixture.path);
        assert_eq!(apply(UGLY, &edits), NICE);
        assert!(edits.len() > 1, "one edit for each place: {edits:?}");
    }

    #[test]
    fn a_range_leaves_the_rest_alone() {
        let fixture = Fixture::new(UGLY);
        let edits = fixture.analysis().format_range(&fixture.path, 8, 12);
        assert!(apply(UGLY, &edits).contains("x=y ;"));
        assert!(apply(UGLY, &edits).contains("\n  Real x"));
    }

    #[test]
    fn broken_texts_stay() {
        let fixture = Fixture::new("model M Real = ; end M;");
        assert_eq!(fixture.analysis().format(&fixture.path), []);
    }

    #[test]
    fn edits_by_lines_make_the_new_text() {
        for (old, new) in [("", "a\n"), ("a\nb\nc", "a\nx\nc"), ("aaaa\nbbbb\n", "bbbb\n"), ("a", "")] {
            assert_eq!(apply(old, &line_edits(old, new)), new);
        }
    }
}
