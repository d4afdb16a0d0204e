//! The index of all diagnostics: from every crate's `diagnostics.rs` (or `diagnostics/`) to `docs/errors.md`.
//!
//! A constructor such as
//!
//! ```text
//! /// Explanation for the index.
//! pub fn missing_semicolon(span: Span) -> Diagnostic {
//!     error("E0109", span, "expected `;`, …").hint("end this line with `;`")
//! }
//! ```
//!
//! gives the entry `E0109 missing semicolon` with its explanation, message and hints. The texts of the source are shown
//! as they are written there, with `{…}` where a message has a variable part.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// One constructor of one diagnostic.
pub struct Entry {
    pub code: String,
    pub krate: String,
    pub name: String,
    pub explanation: String,
    /// Message first, then hints and labels, as written in the source.
    pub texts: Vec<String>,
}

const FAMILIES: [(&str, &str); 12] = [
    ("00", "Files and libraries"),
    ("01", "Syntax"),
    ("02", "Names and classes"),
    ("03", "Types"),
    ("04", "Equations and balance"),
    ("05", "Connections"),
    ("06", "Evaluation"),
    ("07", "Units, style, unused things"),
    ("08", "Sorting and solving"),
    ("09", "Simulation"),
    ("10", "Functional mock-up units"),
    ("99", "Defects of Saltus"),
];

pub fn write(root: &Path) -> Result<()> {
    let path = root.join("docs/errors.md");
    fs::write(&path, page(&entries(root)?))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// The entries of all crates, in the order of codes.
pub fn entries(root: &Path) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for path in diagnostics_files(root)? {
        let relative = path.strip_prefix(root.join("crates")).unwrap_or(&path);
        let krate = relative.components().next().map(|c| c.as_os_str().to_string_lossy().into_owned());
        entries.extend(parse(&krate.unwrap_or_default(), &fs::read_to_string(&path)?));
    }
    entries.sort_by(|a: &Entry, b: &Entry| a.code.cmp(&b.code));
    Ok(entries)
}

/// `src/diagnostics.rs` of every crate and the files of `src/diagnostics/`.
fn diagnostics_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let source = entry?.path().join("src");
        files.push(source.join("diagnostics.rs"));
        for part in fs::read_dir(source.join("diagnostics")).into_iter().flatten() {
            files.push(part?.path());
        }
    }
    files.retain(|path| path.is_file() && !path.ends_with("tests.rs"));
    files.sort();
    Ok(files)
}

/// Does the file hold the wording of diagnostics?
pub fn is_diagnostics_file(file: &Path) -> bool {
    file.ends_with("src/diagnostics.rs") || file.parent().is_some_and(|dir| dir.ends_with("src/diagnostics"))
}

/// All entries of one `diagnostics.rs`; its tests are left out.
fn parse(krate: &str, source: &str) -> Vec<Entry> {
    let source = source.split("#[cfg(test)]").next().unwrap_or("");
    let mut entries: Vec<Entry> = Vec::new();
    let mut docs = Vec::new();
    let mut name = String::new();
    let mut explanation = String::new();
    let mut before_code = Vec::new();
    for line in source.lines() {
        let trimmed = line.trim_start();
        if let Some(doc) = trimmed.strip_prefix("///") {
            docs.push(doc.trim().to_string());
            continue;
        }
        if let Some(found) = function_name(trimmed).or_else(|| constant_name(trimmed)) {
            name = found.to_lowercase().replace('_', " ");
            explanation = std::mem::take(&mut docs).join(" ");
            before_code.clear();
        }
        docs.clear();
        // What a fix writes into the text is not a part of the message.
        for literal in string_literals(line.split(".fix_").next().unwrap_or("")) {
            if is_code(&literal) {
                let (krate, name, explanation) = (krate.to_string(), name.clone(), explanation.clone());
                let texts = std::mem::take(&mut before_code);
                entries.push(Entry { code: literal, krate, name, explanation, texts });
            } else if literal.len() > 3 {
                match entries.last_mut().filter(|e| e.name == name) {
                    Some(entry) => entry.texts.push(literal),
                    None => before_code.push(literal),
                }
            }
        }
    }
    entries
}

fn function_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub(crate) fn "))?;
    rest.split(['(', '<']).next()
}

/// `TWO_WHENS` of a table row `TWO_WHENS = "E0401", "…";` or of `pub const TWO_WHENS: Code = Code("E0401");`
fn constant_name(line: &str) -> Option<&str> {
    let (left, right) = line.split_once(" = ")?;
    let is_definition = string_literals(right).first().is_some_and(|literal| is_code(literal));
    let name = left.split(':').next()?.split_whitespace().last()?;
    let is_constant = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    (is_definition && is_constant).then_some(name)
}

/// `E0203`, `W0701`, `H0702`
pub fn is_code(text: &str) -> bool {
    let mut chars = text.chars();
    matches!(chars.next(), Some('E' | 'W' | 'H')) && text.len() == 5 && chars.all(|c| c.is_ascii_digit())
}

/// The contents of the string literals of a line, with simple escapes resolved.
pub fn string_literals(line: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => skip_char_literal(&mut chars),
            '/' if chars.peek() == Some(&'/') => break,
            '"' => literals.push(literal(&mut chars)),
            _ => {}
        }
    }
    literals
}

/// `'"'` and `'\''` are characters; `'a` of a lifetime is passed over.
fn skip_char_literal(chars: &mut std::iter::Peekable<std::str::Chars>) {
    let mut ahead = chars.clone();
    let escaped = ahead.next() == Some('\\');
    if escaped {
        ahead.next();
    }
    if ahead.next() == Some('\'') {
        *chars = ahead;
    }
}

fn literal(chars: &mut impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => text.push(' '),
                Some(c) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    text
}

/// The text of `docs/errors.md`.
pub fn page(entries: &[Entry]) -> String {
    let mut out = String::from(
        "# Diagnostics\n\n\
         Every message of Saltus has a code: `E` errors, `W` warnings, `H` hints; the first two digits are the family.\n\
         This page is written by `cargo xtask errors` from the `diagnostics.rs` of each crate; do not edit. `{…}` stands for\n\
         the part of a message that depends on the model.\n",
    );
    for (digits, title) in FAMILIES {
        let family: Vec<&Entry> = entries.iter().filter(|e| e.code.get(1..3) == Some(digits)).collect();
        if family.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n## {title}");
        let mut by_code: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in family {
            by_code.entry(&entry.code).or_default().push(entry);
        }
        for (code, entries) in by_code {
            let _ = writeln!(out, "\n### {code}");
            for entry in entries {
                section(&mut out, entry);
            }
        }
    }
    out
}

fn section(out: &mut String, entry: &Entry) {
    let _ = writeln!(out, "\n**{}** (`{}`)", entry.name, entry.krate);
    if !entry.explanation.is_empty() {
        let _ = writeln!(out, "\n{}", entry.explanation);
    }
    if entry.texts.is_empty() {
        return;
    }
    out.push_str("\n```text\n");
    for text in &entry.texts {
        let _ = writeln!(out, "{text}");
    }
    out.push_str("```\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constructor_becomes_an_entry() {
        let source = "\
/// The file is not there.
pub fn missing_file(span: Span, path: &str) -> Diagnostic {
    let message = format!(\"no file `{path}`\");
    error(\"E0001\", span, message)
        .hint(\"check the path\") // not \"this\"
        .fix_by(\"nor this\")
}
#[cfg(test)]
mod tests { const X: &str = \"E0009\"; }
";
        let entries = parse("saltus-library", source);
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].code, "E0001");
        assert_eq!(entries[0].name, "missing file");
        assert_eq!(entries[0].explanation, "The file is not there.");
        assert_eq!(entries[0].texts, ["no file `{path}`", "check the path"]);
        assert!(page(&entries).contains("## Files and libraries\n\n### E0001\n\n**missing file**"));
    }

    #[test]
    fn a_row_of_a_table_becomes_an_entry() {
        let entries = parse("saltus-check", "    TWO_WHENS = \"E0401\", \"assigned twice\";\n");
        assert_eq!(
            (entries[0].name.as_str(), entries[0].texts.as_slice()),
            ("two whens", &["assigned twice".to_string()][..])
        );
        assert_eq!(constant_name("pub const A_B: Code = Code(\"W0701\");"), Some("A_B"));
        assert_eq!(constant_name("let d = error(\"E0101\", span);"), None);
    }

    #[test]
    fn character_literals_are_not_strings() {
        assert_eq!(string_literals(r#"Some('"') => f::<'a>("x\"y")"#), [r#"x"y"#]);
    }
}
