//! `cargo xtask map`: where the code is larger than it should be.
//!
//! In: the tracked sources outside tests. Out: three tables – files over 500 lines, structs over 20 fields, functions over
//! 100 lines –, the largest first. The sources are formatted, so an item ends at the first `}` in the column it began in.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::tidy::{is_test, tracked_files};

const LONG_FILE: usize = 500;
const WIDE_STRUCT: usize = 20;
const LONG_FUNCTION: usize = 100;

/// One row of a table: how large, what, where.
#[derive(PartialEq, Debug)]
struct Large {
    size: usize,
    name: String,
    file: String,
}

pub fn run(root: &Path) -> Result<()> {
    let (mut files, mut structs, mut functions) = (Vec::new(), Vec::new(), Vec::new());
    for path in tracked_files(root)? {
        let is_source = path.extension().is_some_and(|e| e == "rs") && path.starts_with("crates");
        if !is_source || is_test(&path) {
            continue;
        }
        let text = fs::read_to_string(root.join(&path))?;
        let (file, source) = (path.display().to_string(), outside_tests(&text));
        files.push(Large { size: text.lines().count(), name: String::new(), file: file.clone() });
        structs.extend(sizes_of_structs(source).into_iter().map(|(name, size)| Large {
            size,
            name,
            file: file.clone(),
        }));
        functions.extend(sizes_of_functions(source).into_iter().map(|(name, size)| Large {
            size,
            name,
            file: file.clone(),
        }));
    }
    print!("{}", table("Files", "lines", LONG_FILE, files));
    print!("{}", table("Structs", "fields", WIDE_STRUCT, structs));
    print!("{}", table("Functions", "lines", LONG_FUNCTION, functions));
    Ok(())
}

/// Unit tests that stand in a file stand at its end.
fn outside_tests(text: &str) -> &str {
    const MODULE: &str = "#[cfg(test)]\nmod ";
    let is_inline = |at: &usize| text[at + MODULE.len()..].lines().next().is_some_and(|line| line.ends_with('{'));
    let end = text.match_indices(MODULE).map(|found| found.0).find(is_inline);
    &text[..end.unwrap_or(text.len())]
}

fn table(title: &str, unit: &str, limit: usize, mut rows: Vec<Large>) -> String {
    rows.retain(|row| row.size > limit);
    rows.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| (&a.file, &a.name).cmp(&(&b.file, &b.name))));
    let mut text = format!("## {title} over {limit} {unit}: {}\n\n", rows.len());
    if !rows.is_empty() {
        let _ = writeln!(text, "| {unit} | where |\n|---|---|");
    }
    for Large { size, name, file } in rows {
        let name = if name.is_empty() { name } else { format!(" `{name}`") };
        let _ = writeln!(text, "| {size} | {file}{name} |");
    }
    text.push('\n');
    text
}

/// Lines of the item that begins with `lines[0]`, its closing line included; one line for an item without a body.
fn item<'a>(lines: &'a [&'a str]) -> &'a [&'a str] {
    let Some(first) = lines.first() else { return lines };
    let close = format!("{}}}", &first[..first.len() - first.trim_start().len()]);
    let has_body = |line: &str| line.ends_with('{');
    let has_end = |line: &str| line.ends_with(';') || line.ends_with('}');
    // A signature may take several lines.
    match lines.iter().position(|line| has_body(line) || has_end(line)) {
        Some(at) if has_body(lines[at]) => {
            let end = lines.iter().position(|line| *line == close).unwrap_or(lines.len() - 1);
            &lines[..=end]
        }
        Some(at) => &lines[..=at],
        None => lines,
    }
}

/// The line without visibility and qualifiers, if it begins with `keyword`: the name and what follows it.
fn declared<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let mut rest = line.trim_start();
    loop {
        let (word, tail) = rest.split_once(' ')?;
        if word == keyword {
            let end = tail.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail.len());
            return (end > 0).then(|| &tail[..end]);
        }
        let is_qualifier = word.starts_with("pub") || matches!(word, "const" | "async" | "unsafe" | "extern" | "\"C\"");
        rest = is_qualifier.then_some(tail)?;
    }
}

fn sizes_of_functions(source: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let of = |(at, line): (usize, &&str)| Some((declared(line, "fn")?.to_owned(), item(&lines[at..]).len()));
    lines.iter().enumerate().filter_map(of).collect()
}

fn sizes_of_structs(source: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let is_field = |line: &&&str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let line = if line.starts_with("pub(") { line.split_once(' ').map_or("", |parts| parts.1) } else { line };
        let name = line.split(':').next().unwrap_or("");
        line.contains(": ") && !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let of = |(at, line): (usize, &&str)| {
        let name = declared(line, "struct")?;
        let body = item(&lines[at..]).get(1..).unwrap_or_default();
        Some((name.to_owned(), body.iter().filter(is_field).count()))
    };
    lines.iter().enumerate().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
/// A note: not a field.
pub struct Pair {
    pub first: u32,
    /// Doc: neither.
    pub(crate) second: Vec<(u32, u32)>,
}

struct Unit;

impl Pair {
    pub const fn one(
        &self,
    ) -> u32 {
        if self.first > 1 {
            return 1;
        }
        2
    }

    fn short(&self) -> u32 { 3 }
}
";

    #[test]
    fn sizes_are_counted() {
        let named = |all: &[(&str, usize)]| all.iter().map(|(n, s)| ((*n).to_owned(), *s)).collect::<Vec<_>>();
        assert_eq!(sizes_of_structs(SOURCE), named(&[("Pair", 2), ("Unit", 0)]));
        assert_eq!(sizes_of_functions(SOURCE), named(&[("one", 8), ("short", 1)]));
    }

    #[test]
    fn only_tests_that_stand_in_the_file_end_it() {
        let text = "#[cfg(test)]\nmod tests;\nfn kept() {}\n#[cfg(test)]\nmod more {\n    fn cut() {}\n}\n";
        assert_eq!(sizes_of_functions(outside_tests(text)), [("kept".to_owned(), 1)]);
    }

    #[test]
    fn tables_list_the_largest_first() {
        let row = |size, name: &str| Large { size, name: name.into(), file: "a.rs".into() };
        let text = table("Things", "lines", 10, vec![row(11, "small"), row(10, "fine"), row(30, "large")]);
        assert_eq!(
            text,
            "## Things over 10 lines: 2\n\n| lines | where |\n|---|---|\n| 30 | a.rs `large` |\n| 11 | a.rs `small` |\n\n"
        );
    }
}
