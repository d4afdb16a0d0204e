//! Messages and flat models in the notation of the pages.

use saltus_base::{Diagnostic, Diagnostics, Severity, SourceMap, Span};
use saltus_flat::FlatModel;

/// A file with the messages about it below their lines.
pub fn annotated(path: &str, text: &str, found: &Diagnostics, sources: &SourceMap) -> String {
    let mut remarks: Vec<(usize, String)> = Vec::new();
    for diagnostic in found {
        if let Some(mark) = diagnostic.span.and_then(|span| mark(path, span, '^', sources)) {
            let mut lines = format!("{} {}", mark.text, headline(diagnostic));
            for hint in &diagnostic.hints {
                lines += &format!("\n//{}hint: {hint}", " ".repeat(mark.text.chars().count() - 1));
            }
            remarks.push((mark.line, lines));
        }
    }
    for diagnostic in found {
        for label in &diagnostic.labels {
            if let Some(mark) = mark(path, label.span, '-', sources) {
                let line = format!("{} {}", mark.text, label.text);
                if !remarks.contains(&(mark.line, line.clone())) {
                    remarks.push((mark.line, line));
                }
            }
        }
    }
    let mut out = String::new();
    for (k, line) in text.lines().enumerate() {
        out += &format!("{line}\n");
        for (_, remark) in remarks.iter().filter(|(at, _)| *at == k + 1) {
            out += &format!("{remark}\n");
        }
    }
    out
}

struct Mark {
    line: usize,
    text: String,
}

/// The marks below a line; of several lines the first is marked to its end.
fn mark(path: &str, span: Span, with: char, sources: &SourceMap) -> Option<Mark> {
    let file = sources.get(span.file).filter(|f| f.path == path)?;
    let start = file.lines.line_column(&file.text, span.start);
    let line = file.lines.line_range(&file.text, start.line);
    let marked = file.text.get(span.start as usize..(span.end as usize).min(line.end)).unwrap_or("");
    let (column, n) = (start.column as usize, marked.chars().count().max(1));
    let text = if column > 2 {
        format!("//{}{}", " ".repeat(column - 3), with.to_string().repeat(n))
    } else {
        format!("// {column}-{}", column + n - 1)
    };
    Some(Mark { line: start.line as usize, text })
}

fn headline(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "hint",
    };
    format!("{severity}[{}]: {}", diagnostic.code.0, diagnostic.message)
}

/// Messages that belong to no line of the case: without a place, or in a text that the compiler made.
pub fn elsewhere(found: &Diagnostics, sources: &SourceMap) -> String {
    let mut out = String::new();
    for diagnostic in found {
        let is_made = |l: &String| l.starts_with('<') || l.starts_with("--set:");
        let made = diagnostic.span.and_then(|span| sources.location(span)).filter(is_made);
        if diagnostic.span.is_some() && made.is_none() {
            continue;
        }
        let place = made.map_or(String::new(), |l| format!("{l} "));
        out += &format!("// {place}{}\n", headline(diagnostic));
        for hint in &diagnostic.hints {
            out += &format!("// hint: {hint}\n");
        }
    }
    out
}

pub fn flat(model: &FlatModel) -> String {
    let mut out = String::from("// flat:\n");
    for line in saltus_flat::print(model).lines() {
        out += format!("// {line}").trim_end();
        out.push('\n');
    }
    out
}
