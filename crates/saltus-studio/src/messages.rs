//! Diagnostics as pages show them: text, severity, file, line, and units of UTF-16 in the file.

use saltus_base::{Diagnostic, Severity, SourceMap, Span};
use saltus_ide::Problem;
use serde_json::{Value, json};

use crate::offsets::Offsets;

/// Where a span is, and what stands in its line: a page whose text has changed since finds the line by that.
pub fn place(sources: &SourceMap, span: Span) -> Option<Value> {
    let file = sources.get(span.file).filter(|_| !span.is_nowhere())?;
    let at = file.lines.line_column(&file.text, span.start);
    let offsets = Offsets::new(&file.text);
    let (start, line) = line_around(&file.text, span.start as usize);
    let alike = alike(&file.text, line);
    Some(json!({
        "path": file.path, "line": at.line, "column": at.column,
        "start": offsets.utf16(span.start), "end": offsets.utf16(span.end),
        "text": line, "lineStart": offsets.utf16(start as u32),
        "nth": alike.iter().position(|at| *at == start), "alike": alike.len(),
    }))
}

/// The line of a byte, and where it begins; pages know no carriage returns.
fn line_around(text: &str, at: usize) -> (usize, &str) {
    let (before, behind) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |feed| feed + 1);
    let end = at.min(text.len()) + behind.find('\n').unwrap_or(behind.len());
    let line = &text[start..end];
    (start, line.strip_suffix('\r').unwrap_or(line))
}

/// Where the lines begin that read like this one.
fn alike(text: &str, line: &str) -> Vec<usize> {
    let is_whole = |at: usize| {
        let behind = &text[at + line.len()..];
        (at == 0 || text.as_bytes()[at - 1] == b'\n')
            && (behind.is_empty() || behind.starts_with('\n') || behind.starts_with("\r\n"))
    };
    text.match_indices(line).map(|(at, _)| at).filter(|at| is_whole(*at)).collect()
}

pub fn message(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let notes: Vec<&str> = diagnostic.notes().collect();
    json!({
        "code": diagnostic.code.0,
        "severity": severity(diagnostic.severity),
        "message": diagnostic.message,
        "notes": notes,
        "hints": diagnostic.hints,
        "place": diagnostic.span.and_then(|span| place(sources, span)),
    })
}

/// A problem of a document with this text.
pub fn problem(problem: &Problem, text: &str) -> Value {
    let offsets = Offsets::new(text);
    let line = text.as_bytes().iter().take(problem.start as usize).filter(|byte| **byte == b'\n').count() + 1;
    json!({
        "code": problem.code,
        "severity": severity(problem.severity),
        "message": problem.message,
        "line": line,
        "start": offsets.utf16(problem.start),
        "end": offsets.utf16(problem.end),
    })
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "hint",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_its_line_and_the_number_of_it_among_those_alike() {
        let mut sources = SourceMap::new();
        let text = "model M\r\n  x = 1;\r\n  x = 1; // ä\r\n  x = 1;\r\nend M;";
        let id = sources.add("M.mo", text);
        let start = text.rfind("x = 1").unwrap() as u32;
        let place = place(&sources, Span::new(id, start, start + 5)).unwrap();
        assert_eq!((place["line"].clone(), place["text"].clone()), (json!(4), json!("  x = 1;")));
        assert_eq!(
            (place["nth"].clone(), place["alike"].clone()),
            (json!(1), json!(2)),
            "the one with a comment differs"
        );
        assert_eq!(place["start"].as_u64().unwrap() - place["lineStart"].as_u64().unwrap(), 2);
        assert_eq!((line_around("", 0), line_around("a\nb", 3), line_around("a\n", 1)), ((0, ""), (2, "b"), (0, "a")));
    }
}
