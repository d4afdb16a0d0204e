//! `docs/language.md` is a table of rules and of the tests that hold them: what it names exists, and its counts are right.
//!
//! A test is named `` `page: name` ``; the last table of the page says which file a page is. A name is a heading of a
//! Markdown file or a function of a Rust file:
//!
//! ```text
//! | 5.3.3 | A dot in front starts at the top | `frontend/lookup: A global name` | – | tested |
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::error_index;

const PAGE: &str = "docs/language.md";
const STATES: [&str; 3] = ["tested", "partly", "open"];

pub fn problems(root: &Path) -> Result<Vec<String>> {
    let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    let index = fs::read_to_string(root.join("docs/errors.md")).unwrap_or_default();
    let found = check(&page, &index, &|path| fs::read_to_string(root.join(path)).ok());
    Ok(found.into_iter().map(|problem| format!("{PAGE}: {problem}")).collect())
}

/// `read` gives the text of a file of the repository, `index` is the list of all messages.
fn check(page: &str, index: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut problems = Vec::new();
    let is_path = |span: &&str| span.starts_with("crates/") || span.starts_with("testdata/");
    for path in spans(page).filter(is_path).filter(|path| read(path).is_none()) {
        problems.push(format!("there is no file `{path}`"));
    }
    let files = files(page);
    let mut counts = [0; STATES.len()];
    for line in page.lines() {
        let Some((state, tests)) = rule(line) else { continue };
        counts[state] += 1;
        for test in spans(tests) {
            problems.extend(missing_test(test, &files, read));
        }
        for code in tests.split([' ', ',', ';']).filter(|word| error_index::is_code(word)) {
            if !index.contains(&format!("### {code}\n")) {
                problems.push(format!("there is no message {code}"));
            }
        }
        let is_open = STATES[state] == "open";
        if is_open == spans(tests).next().is_some() {
            problems.push(format!("a rule is open if no test is named: {line}"));
        }
    }
    let [tested, partly, open] = counts;
    let counted = format!("{} rules: {tested} tested, {partly} partly, {open} open.", tested + partly + open);
    if !page.lines().any(|line| line == counted) {
        problems.push(format!("expected the line `{counted}`"));
    }
    problems
}

/// What stands between backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Rows `| section | rule | tests | tests | state |`: the state, by its place in `STATES`, and both cells of tests.
fn rule(line: &str) -> Option<(usize, &str)> {
    let (before, state) = line.strip_prefix("| ")?.strip_suffix(" |")?.rsplit_once(" | ")?;
    let state = STATES.iter().position(|known| *known == state)?;
    let tests = before.splitn(3, " | ").nth(2)?;
    Some((state, tests))
}

/// Rows `| `name` | `path` |` of the last table.
fn files(page: &str) -> BTreeMap<&str, &str> {
    let is_row = |line: &&str| line.starts_with("| `") && line.matches('|').count() == 3;
    page.lines().filter(is_row).filter_map(|line| Some((spans(line).next()?, spans(line).nth(1)?))).collect()
}

fn missing_test(test: &str, files: &BTreeMap<&str, &str>, read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let Some((page, name)) = test.split_once(": ") else {
        // A file, which has been looked for already.
        return (!test.contains('/')).then(|| format!("`{test}` does not name a test"));
    };
    let Some(path) = files.get(page) else { return Some(format!("no file is given for `{page}`")) };
    let text = read(path)?;
    let is_heading = |line: &str| line.strip_prefix("## ").is_some_and(|heading| heading.replace('`', "") == name);
    let is_there = text.contains(&format!("fn {name}()")) || text.lines().any(is_heading);
    (!is_there).then(|| format!("`{path}` has no test `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
3 rules: 1 tested, 1 partly, 1 open.

| section | rule | accepted by | rejected by | state |
|---|---|---|---|---|
| 1.1 | One rule of `x` | `names: Short end` | E0001 `rules: a_rule` | tested |
| 1.2 | Another | `testdata/flat/A.mo` | – | partly |
| 1.3 | A third | – | E0001, no test | open |

| name | file |
|---|---|
| `names` | `crates/a/names.md` |
| `rules` | `crates/a/rules.rs` |
";

    fn found(page: &str) -> Vec<String> {
        let read = |path: &str| match path {
            "crates/a/names.md" => Some("# Names\n\n## Short `end`\n".to_owned()),
            "crates/a/rules.rs" => Some("#[test]\nfn a_rule() {}\n".to_owned()),
            "testdata/flat/A.mo" => Some(String::new()),
            _ => None,
        };
        check(page, "### E0001\n", &read)
    }

    #[test]
    fn a_true_page_has_no_problems() {
        assert_eq!(found(GOOD), Vec::<String>::new());
    }

    #[test]
    fn what_does_not_exist_is_found() {
        for (right, wrong, expected) in [
            ("flat/A.mo", "flat/B.mo", "there is no file `testdata/flat/B.mo`"),
            ("Short end", "Long end", "`crates/a/names.md` has no test `Long end`"),
            ("rules: a_rule", "rules: a_ru", "`crates/a/rules.rs` has no test `a_ru`"),
            ("names: Short", "name: Short", "no file is given for `name`"),
            ("E0001 `rules", "E0002 `rules", "there is no message E0002"),
            ("1 partly", "2 partly", "expected the line `3 rules: 1 tested, 1 partly, 1 open.`"),
            ("– | partly", "– | open", "a rule is open if no test is named"),
        ] {
            let problems = found(&GOOD.replace(right, wrong));
            assert!(problems.iter().any(|problem| problem.starts_with(expected)), "{wrong}: {problems:?}");
        }
    }
}
