//! What is wrong with a file: its syntax at once, its classes when there is time.

use std::path::{Path, PathBuf};

use saltus::{Report, Session};
use saltus_base::{Diagnostic, Severity, SourceMap, Span};

use crate::file::File;
use crate::fixes::Suggestion;
use crate::target::FileRange;
use crate::walk::{self, Names};

/// A message as an editor shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    pub code: &'static str,
    pub severity: Severity,
    /// The message with its notes and hints, a line each.
    pub message: String,
    /// In the file that was asked for, in bytes.
    pub start: u32,
    pub end: u32,
    /// Other places with remarks.
    pub related: Vec<(FileRange, String)>,
    /// What can be done about it; [`fixes`](crate::Analysis::fixes) makes edits of them.
    pub suggestions: Vec<Suggestion>,
}

/// Syntax errors of a file.
pub(crate) fn syntax(session: &Session, path: &Path) -> Vec<Problem> {
    let library = session.library();
    let Some(found) = library.syntax_diagnostics(path) else { return Vec::new() };
    let sources = library.source_map();
    let Some(file) = File::open(session, path) else { return Vec::new() };
    found.iter().filter_map(|d| problem(d, &sources, |span| span.file == file.id)).collect()
}

/// The classes of a file, by name.
pub(crate) fn checkable(session: &Session, path: &Path) -> Vec<String> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let names = walk::names(file.tree, None);
    // Classes in modifications are part of what they are modifications of.
    let is_element = |at: &usize| names.classes[*at].is_element;
    (0..names.classes.len()).filter(is_element).map(|at| qualified(&file, &names, at)).collect()
}

/// The full name of a class of a file.
pub(crate) fn qualified(file: &File<'_>, names: &Names<'_>, class: usize) -> String {
    let mut parts = Vec::new();
    let mut at = Some(class);
    while let Some(index) = at {
        parts.push(file.library.text(names.classes[index].definition.name.name));
        at = names.classes[index].parent;
    }
    let within = file.tree.within.iter().flat_map(|within| within.path.iter().rev());
    parts.extend(within.map(|part| file.library.text(part.name)));
    parts.reverse();
    parts.join(".")
}

/// What the check of a class has to say about a file. If it ended with mistakes of other files alone, the first of them is told at the name
/// of the class: without it the class would seem to be in order.
pub(crate) fn of_report(session: &Session, report: &Report, path: &Path, class: &str) -> Vec<Problem> {
    let Some(sources) = report.sources() else { return Vec::new() };
    let is_here = |span: Span| sources.get(span.file).is_some_and(|file| Path::new(&file.path) == path);
    let mut found: Vec<Problem> = report.diagnostics.iter().filter_map(|d| problem(d, sources, is_here)).collect();
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    if !found.iter().any(|problem| problem.severity == Severity::Error)
        && let Some(error) = report.diagnostics.iter().find(is_error)
    {
        found.extend(elsewhere(session, error, sources, path, class));
    }
    found
}

/// A mistake in another file, at the name of the class that cannot be checked because of it.
fn elsewhere(session: &Session, error: &Diagnostic, sources: &SourceMap, path: &Path, class: &str) -> Option<Problem> {
    let library = session.library();
    let name = library.definition(library.find(class)?)?.name.span;
    let is_here = library.source(name.file).is_some_and(|source| Path::new(&source.path) == path);
    let at = error.span.and_then(|span| Some((sources.get(span.file)?, span)));
    let place = at.map(|(file, span)| (file, file.lines.line_column(&file.text, span.start).line));
    let place = place.map_or_else(String::new, |(file, line)| format!("{}, line {line}: ", file.path));
    is_here.then(|| Problem {
        code: error.code.0,
        severity: Severity::Error,
        message: format!("`{class}` is not checked because of another file\n{place}{}", error.message),
        start: name.start,
        end: name.end,
        related: Vec::new(),
        suggestions: Vec::new(),
    })
}

fn problem(diagnostic: &Diagnostic, sources: &SourceMap, is_here: impl Fn(Span) -> bool) -> Option<Problem> {
    let span = diagnostic.span.filter(|&span| is_here(span))?;
    let mut message = diagnostic.message.clone();
    let notes = diagnostic.notes().map(str::to_owned);
    for line in notes.chain(diagnostic.hints.iter().map(|hint| format!("hint: {hint}"))) {
        message.push('\n');
        message.push_str(&line);
    }
    let related = diagnostic.labels.iter().filter(|label| !label.span.is_nowhere()).filter_map(|label| {
        let path: PathBuf = sources.get(label.span.file)?.path.clone().into();
        Some((FileRange { path, start: label.span.start, end: label.span.end }, label.text.clone()))
    });
    Some(Problem {
        code: diagnostic.code.0,
        severity: diagnostic.severity,
        message,
        start: span.start,
        end: span.end,
        related: related.collect(),
        suggestions: diagnostic.fixes.iter().filter_map(|fix| Suggestion::new(fix, span.file)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    #[test]
    fn syntax_errors_come_without_a_check() {
        let fixture = Fixture::new("model M Real x = ; end M;");
        let found = fixture.analysis().syntax_problems(&fixture.path);
        assert_eq!(found.len(), 1);
        assert!(found[0].start >= 15, "{found:?}");
    }

    #[test]
    fn the_check_of_a_class_speaks_about_the_file() {
        let fixture = Fixture::new("package P model A Real x = true; end A; model B end B; end P;");
        let classes = fixture.analysis().checkable_classes(&fixture.path);
        assert_eq!(classes, ["P", "P.A", "P.B"]);
        let found = fixture.analysis().problems(&fixture.path, "P.A");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(&fixture.text()[found[0].start as usize..found[0].end as usize], "true");
        assert!(fixture.analysis().problems(&fixture.path, "P.B").is_empty());
    }

    #[test]
    fn a_check_that_ends_in_another_file_is_told_at_the_class() {
        let text = "//- m.mo\npackage P model A extends Q.B; end A; model C end C; end P;\n//- q.mo\npackage Q\n  model B Real x = true; end B;\nend Q;\n";
        let fixture = Fixture::new(text);
        let path = std::path::Path::new("m.mo");
        let found = fixture.analysis().problems(path, "P.A");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].message.starts_with("`P.A` is not checked because of another file\nq.mo, line 2: "),
            "{found:?}"
        );
        assert_eq!(found[0].start as usize, "package P model ".len());
        assert!(fixture.analysis().problems(path, "P.C").is_empty());
    }
}
