//! Diagnostics as text for people and as JSON lines for programs.
//!
//! In: a [`Diagnostic`] and the [`SourceMap`] its spans point into. Out:
//!
//! ```text
//! error[E0109]: expected `;`, found `end`
//!  --> Ball.mo:3:9
//!   |
//! 3 |   Real h
//!   |         ^
//!   = hint: end this line with `;`
//! ```
//!
//! Columns are counted in terminal cells: tabs become four cells, wide characters two. Lines longer than
//! [`WINDOW`] are shown around the marked place only.

use std::fmt::Write;

use saltus_base::{Diagnostic, FileId, Severity, SourceFile, SourceMap, Span, printable, sign};
use serde_json::{Value, json};

/// Cells of a source line that are shown at most.
const WINDOW: usize = 150;
const TAB: usize = 4;

/// How to draw.
#[derive(Clone, Copy, Default, Debug)]
pub struct Style {
    pub colours: bool,
}

impl Style {
    fn paint(self, ansi: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{ansi}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// One marked place: the main one has carets, labels have dashes and a remark.
struct Mark<'a> {
    span: Span,
    line: u32,
    text: &'a str,
    is_main: bool,
}

pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "hint",
    }
}

fn severity_colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Hint => "1;36",
    }
}

/// The complete text of one diagnostic, with a line end.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let colour = severity_colour(diagnostic.severity);
    let head = format!("{}[{}]", severity_word(diagnostic.severity), diagnostic.code.0);
    let mut out = format!(
        "{}{}\n",
        style.paint(colour, &head),
        style.paint("1", &format!(": {}", printable(&diagnostic.message)))
    );
    let marks = marks(diagnostic, sources);
    let gutter = marks.iter().map(|m| m.line).max().unwrap_or(1).to_string().len();
    let mut files: Vec<FileId> = Vec::new();
    for mark in &marks {
        if !files.contains(&mark.span.file) {
            files.push(mark.span.file);
        }
    }
    for (nth, &file) in files.iter().enumerate() {
        let Some(source) = sources.get(file) else { continue };
        let in_file: Vec<&Mark> = marks.iter().filter(|m| m.span.file == file).collect();
        let shown = in_file.iter().find(|m| m.is_main).or(in_file.first());
        let location = shown.and_then(|m| sources.location(m.span)).unwrap_or_default();
        let arrow = if nth == 0 { "-->" } else { ":::" };
        let _ = writeln!(out, "{:gutter$}{} {}", "", style.paint("34", arrow), printable(&location));
        snippet(&mut out, source, in_file, gutter, colour, style);
    }
    for note in diagnostic.notes() {
        let _ = writeln!(
            out,
            "{:gutter$} {} {}: {note}",
            "",
            style.paint("34", "="),
            style.paint("1", "note"),
            note = printable(note)
        );
    }
    for hint in &diagnostic.hints {
        let _ = writeln!(
            out,
            "{:gutter$} {} {}: {hint}",
            "",
            style.paint("34", "="),
            style.paint("1", "hint"),
            hint = printable(hint)
        );
    }
    out
}

fn marks<'a>(diagnostic: &'a Diagnostic, sources: &SourceMap) -> Vec<Mark<'a>> {
    let main = diagnostic.span.map(|span| (span, "", true));
    let labels = diagnostic.labels.iter().map(|l| (l.span, l.text.as_str(), false));
    main.into_iter()
        .chain(labels)
        .filter_map(|(span, text, is_main)| {
            let source = sources.get(span.file)?;
            let line = source.lines.line_column(&source.text, clamp(&source.text, span.start)).line;
            Some(Mark { span, line, text, is_main })
        })
        .collect()
}

/// The largest character border not behind `offset`.
fn clamp(text: &str, offset: u32) -> u32 {
    let mut at = (offset as usize).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at as u32
}

fn snippet(out: &mut String, source: &SourceFile, mut marks: Vec<&Mark>, gutter: usize, colour: &str, style: Style) {
    let bar = style.paint("34", "|");
    let _ = writeln!(out, "{:gutter$} {bar}", "");
    marks.sort_by_key(|m| (m.line, m.span.start, !m.is_main));
    let mut last: Option<(u32, Window)> = None;
    for mark in marks {
        let cells = Cells::of(source, mark);
        let shown = last.take();
        let above = shown.as_ref().map(|(line, _)| *line);
        // Another place in a long line may lie outside of the part that is shown.
        let window = match shown {
            Some((line, window)) if line == mark.line && window.has(cells.start) => window,
            _ => {
                if above.is_some_and(|l| l + 1 < mark.line) {
                    let _ = writeln!(out, "{:gutter$}{}", "", style.paint("34", "..."));
                }
                let window = cells.window();
                let number = style.paint("34", &format!("{:gutter$}", mark.line));
                let _ = writeln!(out, "{number} {bar} {}", window.text);
                window
            }
        };
        let (sign, colour) = if mark.is_main { ("^", colour) } else { ("-", "1;34") };
        let under = sign.repeat(cells.width.min(window.end - cells.start).max(1));
        let remark = if mark.text.is_empty() { under } else { format!("{under} {}", printable(mark.text)) };
        let indent = cells.start - window.from + window.indent;
        let _ = writeln!(out, "{:gutter$} {bar} {:indent$}{}", "", "", style.paint(colour, &remark));
        last = Some((mark.line, window));
    }
}

/// A source line and the marked cells in it.
struct Cells<'a> {
    line: &'a str,
    start: usize,
    width: usize,
}

/// The part of a source line that is shown, as terminal cells.
struct Window {
    text: String,
    /// The first cell that is shown, and the one behind the last.
    from: usize,
    end: usize,
    /// Cells in front of the first.
    indent: usize,
}

impl Window {
    fn has(&self, cell: usize) -> bool {
        (self.from..=self.end).contains(&cell)
    }
}

impl<'a> Cells<'a> {
    fn of(source: &'a SourceFile, mark: &Mark) -> Cells<'a> {
        let range = source.lines.line_range(&source.text, mark.line);
        let line = source.text.get(range.clone()).unwrap_or("");
        let first = (clamp(&source.text, mark.span.start) as usize).saturating_sub(range.start).min(line.len());
        let end = (clamp(&source.text, mark.span.end) as usize).saturating_sub(range.start).clamp(first, line.len());
        let start: usize = line[..first].chars().map(cell_width).sum();
        let width: usize = line[first..end].chars().map(cell_width).sum::<usize>().max(1);
        Cells { line, start, width }
    }

    fn window(&self) -> Window {
        let total: usize = self.line.chars().map(cell_width).sum();
        if total <= WINDOW {
            return Window { text: self.line.chars().map(drawn).collect(), from: 0, end: total, indent: 0 };
        }
        // Whole characters from there on.
        let wanted = self.start.saturating_sub(WINDOW / 3);
        let (mut text, mut at, mut from) = (String::new(), 0, None);
        for c in self.line.chars() {
            let end = at + cell_width(c);
            if end > wanted + WINDOW {
                break;
            }
            if at >= wanted {
                from.get_or_insert(at);
                text.push_str(&drawn(c));
            }
            at = end;
        }
        let from = from.unwrap_or(at);
        let (front, back) = (if from > 0 { "…" } else { "" }, if at < total { "…" } else { "" });
        Window { text: format!("{front}{text}{back}"), from, end: at, indent: front.chars().count() }
    }
}

fn drawn(c: char) -> String {
    match c {
        '\t' => " ".repeat(TAB),
        c => sign(c).to_string(),
    }
}

/// Terminal cells of a character: the East Asian wide and emoji blocks take two, combining marks none.
fn cell_width(c: char) -> usize {
    if c == '\t' {
        return TAB;
    }
    match sign(c) as u32 {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F | 0x20D0..=0x20FF => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// One diagnostic as a JSON object; lines and columns count from 1, columns in characters.
pub fn to_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .filter(|label| !label.span.is_nowhere())
        .map(|label| {
            let mut place = place(label.span, sources);
            place["text"] = json!(label.text);
            place
        })
        .collect();
    json!({
        "code": diagnostic.code.0,
        "severity": severity_word(diagnostic.severity),
        "message": diagnostic.message,
        "place": diagnostic.span.map(|span| place(span, sources)),
        "labels": labels,
        "notes": diagnostic.notes().collect::<Vec<_>>(),
        "hints": diagnostic.hints,
    })
}

fn place(span: Span, sources: &SourceMap) -> Value {
    let Some(file) = sources.get(span.file) else { return json!({}) };
    let start = file.lines.line_column(&file.text, clamp(&file.text, span.start));
    let end = file.lines.line_column(&file.text, clamp(&file.text, span.end));
    json!({
        "file": file.path,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_base::Code;

    fn one_file(text: &str) -> (SourceMap, FileId) {
        let mut sources = SourceMap::new();
        let id = sources.add("a.mo", text);
        (sources, id)
    }

    #[test]
    fn a_message_shows_its_line_labels_and_hints() {
        let (sources, id) = one_file("model A\n  Real x\nend B;\n");
        let d = Diagnostic::new(Code("E0113"), Span::new(id, 21, 22), "expected `end A`, found `end B`")
            .label(Span::new(id, 6, 7), "`A` begins here")
            .hint("write `end A;`");
        let expected = "\
error[E0113]: expected `end A`, found `end B`
 --> a.mo:3:5
  |
1 | model A
  |       - `A` begins here
 ...
3 | end B;
  |     ^
  = hint: write `end A;`
";
        assert_eq!(render(&d, &sources, Style::default()), expected);
    }

    #[test]
    fn carets_stand_below_tabs_and_wide_characters() {
        let (sources, id) = one_file("\t\"図\" x;");
        let d = Diagnostic::new(Code("E0108"), Span::new(id, 7, 8), "m");
        let text = render(&d, &sources, Style::default());
        // Four cells of the tab, one quote, two cells of the character, one quote, one blank.
        assert!(text.ends_with("1 |     \"図\" x;\n  |          ^\n"), "{text}");
    }

    #[test]
    fn very_long_lines_are_shown_around_the_place() {
        let line = format!("{}x{}", "a".repeat(10_000), "b".repeat(10_000));
        let (sources, id) = one_file(&line);
        let text =
            render(&Diagnostic::new(Code("E0108"), Span::new(id, 10_000, 10_001), "m"), &sources, Style::default());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[3].chars().count() < 200);
        let caret = lines[4].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[3].chars().nth(caret), Some('x'));
    }

    /// What stands above each mark.
    fn marked(text: &str) -> Vec<String> {
        let lines: Vec<&str> = text.lines().collect();
        let mut line = "";
        let mut found = Vec::new();
        for &below in &lines[3..] {
            let marks: Vec<usize> =
                below.chars().enumerate().filter(|(_, c)| matches!(c, '^' | '-')).map(|(i, _)| i).collect();
            if below.starts_with("1 |") {
                line = below;
            } else if !marks.is_empty() {
                found.push(marks.iter().filter_map(|&i| line.chars().nth(i)).collect());
            }
        }
        found
    }

    #[test]
    fn all_marks_of_a_long_line_stand_below_their_places() {
        let line = format!("{}one{}two{}three{}", "a".repeat(200), "b".repeat(20), "c".repeat(500), "d".repeat(70));
        let (sources, id) = one_file(&line);
        let span = |word: &str| {
            let at = line.find(word).unwrap() as u32;
            Span::new(id, at, at + word.len() as u32)
        };
        let d = Diagnostic::new(Code("E0108"), span("two"), "m").label(span("one"), "x").label(span("three"), "y");
        assert_eq!(marked(&render(&d, &sources, Style::default())), ["one", "two", "three"]);
    }

    #[test]
    fn tabs_and_beginnings_of_long_lines_are_not_cut() {
        for n in 0..8 {
            let line = format!("{}{}x{}", "\t".repeat(30), " ".repeat(n), "b".repeat(300));
            let (sources, id) = one_file(&line);
            let at = 30 + n as u32;
            let text =
                render(&Diagnostic::new(Code("E0108"), Span::new(id, at, at + 1), "m"), &sources, Style::default());
            assert_eq!(marked(&text), ["x"], "{text}");
        }
        let (sources, id) = one_file(&"a".repeat(400));
        let text = render(&Diagnostic::new(Code("E0108"), Span::new(id, 0, 1), "m"), &sources, Style::default());
        assert!(text.lines().nth(3).is_some_and(|l| l.starts_with("1 | aaa") && l.ends_with("a…")), "{text}");
    }

    #[test]
    fn a_span_outside_its_file_does_no_harm() {
        let (sources, id) = one_file("é");
        for (start, end) in [(1, 1), (1, 9), (7, 3)] {
            let d = Diagnostic::new(Code("E0108"), Span::new(id, start, end), "m");
            assert!(render(&d, &sources, Style::default()).contains("a.mo:1:"));
            assert_eq!(to_json(&d, &sources)["place"]["line"], 1);
        }
    }

    #[test]
    fn json_names_the_range() {
        let (sources, id) = one_file("a\nbc");
        let value = to_json(&Diagnostic::new(Code("W0701"), Span::new(id, 2, 4), "m").hint("h"), &sources);
        let expected = json!({
            "code": "W0701", "severity": "warning", "message": "m",
            "place": { "file": "a.mo", "line": 2, "column": 1, "end_line": 2, "end_column": 3 },
            "labels": [], "notes": [], "hints": ["h"],
        });
        assert_eq!(value, expected);
    }
}
