//! Diagnostics as pages show them: text, severity, file, line, and units of UTF-16 in the file.

use saltus_base::{Diagnostic, Severity, SourceMap, Span};
use saltus_ide::Problem;
use serde_json::{Value, json};

use crate::offsets::Offsets;

/// Where a span is.
pub fn place(sources: &SourceMap, span: Span) -> Option<Value> {
    let file = sources.get(span.file).filter(|_| !span.is_nowhere())?;
    let at = file.lines.line_column(&file.text, span.start);
    let offsets = Offsets::new(&file.text);
    Some(json!({
        "path": file.path, "line": at.line, "column": at.column,
        "start": offsets.utf16(span.start), "end": offsets.utf16(span.end),
    }))
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
