//! What the repository promises about itself and a compiler cannot check.
//!
//! The crate table of `ARCHITECTURE.md` is the rule, not a description of it: tidy reads the layers from there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{error_index, language};

const MOST_LINES: usize = 1500;
const MANY_LINES: usize = 800;

/// What was found; problems fail the run.
#[derive(Default)]
struct Findings {
    problems: Vec<String>,
    warnings: Vec<String>,
}

pub fn run(root: &Path) -> Result<()> {
    let files = tracked_files(root)?;
    let mut findings = Findings::default();
    check_crates(root, &mut findings)?;
    check_sizes(root, &files, &mut findings)?;
    check_texts(root, &files, &mut findings)?;
    check_codes(root, &files, &mut findings)?;
    check_names(root, &files, &mut findings)?;
    check_clocks(root, &files, &mut findings)?;
    findings.problems.extend(language::problems(root)?);
    for warning in &findings.warnings {
        eprintln!("warning: {warning}");
    }
    for problem in &findings.problems {
        eprintln!("error: {problem}");
    }
    if !findings.problems.is_empty() {
        bail!("{} problems", findings.problems.len());
    }
    Ok(())
}

pub fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let names = String::from_utf8(output.stdout)?;
    Ok(names.split('\0').filter(|n| !n.is_empty()).map(PathBuf::from).filter(|f| root.join(f).is_file()).collect())
}

/// Crates that only development needs; any crate may use them in its tests.
const DEVELOPMENT: &str = "dev";

fn check_crates(root: &Path, findings: &mut Findings) -> Result<()> {
    let table = layers(&fs::read_to_string(root.join("ARCHITECTURE.md"))?);
    let mut present = BTreeSet::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            present.extend(path.file_name().map(|n| n.to_string_lossy().into_owned()));
        }
    }
    for name in present.iter().filter(|n| !table.contains_key(*n)) {
        findings.problems.push(format!("ARCHITECTURE.md: the crate table lacks `{name}`"));
    }
    for name in table.keys().filter(|n| !present.contains(*n)) {
        findings.problems.push(format!("ARCHITECTURE.md: the crate table lists `{name}`, which does not exist"));
    }
    for name in present {
        let manifest = fs::read_to_string(root.join("crates").join(&name).join("Cargo.toml"))?;
        for edge in edges(&manifest) {
            findings.problems.extend(judge_edge(&name, &edge, &table));
        }
    }
    Ok(())
}

/// Rows `| layer | `crate` | … |` of the crate table.
fn layers(architecture: &str) -> BTreeMap<String, String> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let layer = cells.next()?;
        let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        let is_layer = layer == DEVELOPMENT || layer.parse::<u32>().is_ok();
        is_layer.then(|| (name.to_string(), layer.to_string()))
    };
    architecture.lines().filter_map(row).collect()
}

struct Edge {
    to: String,
    for_tests: bool,
}

/// The crates of this workspace that a manifest depends on.
fn edges(manifest: &str) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        } else if section.ends_with("dependencies") {
            let to = line.split(['.', '=', ' ']).next().unwrap_or("");
            if to.starts_with("saltus") || to == "xtask" {
                edges.push(Edge { to: to.to_string(), for_tests: section == "dev-dependencies" });
            }
        }
    }
    edges
}

fn judge_edge(from: &str, edge: &Edge, table: &BTreeMap<String, String>) -> Option<String> {
    let (above, below) = (table.get(from)?, table.get(&edge.to)?);
    let allowed = match (above.parse::<u32>(), below.parse::<u32>()) {
        // Tests of a crate may bring its neighbours together.
        (Ok(above), Ok(below)) => below < above || (edge.for_tests && below == above),
        (Err(_), _) => true,
        (Ok(_), Err(_)) => edge.for_tests,
    };
    (!allowed).then(|| format!("{from} (layer {above}) depends on {} (layer {below}): edges point downward", edge.to))
}

pub fn is_test(file: &Path) -> bool {
    file.components().any(|c| matches!(c.as_os_str().to_str(), Some("tests" | "test" | "tests.rs")))
}

fn check_sizes(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "rs") && !is_test(f)) {
        let n_lines = fs::read_to_string(root.join(file))?.lines().count();
        let report = format!("{}: {n_lines} lines", file.display());
        if n_lines > MOST_LINES {
            findings.problems.push(format!("{report}, more than {MOST_LINES}"));
        } else if n_lines > MANY_LINES {
            findings.warnings.push(report);
        }
    }
    Ok(())
}

/// Directories that exist on one developer's machine only, and marks of unfinished work.
fn check_texts(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let unfinished = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore")];
    for file in files.iter().filter(|f| f.extension().is_none_or(|e| e != "lock")) {
        let Ok(text) = fs::read_to_string(root.join(file)) else { continue };
        for (i, line) in text.lines().enumerate() {
            let place = format!("{}:{}", file.display(), i + 1);
            if has_machine_path(line) {
                findings.problems.push(format!("{place}: a path of one machine"));
            }
            let is_source = file.extension().is_some_and(|e| e == "rs");
            if is_source && unfinished.iter().any(|mark| line.contains(mark)) {
                findings.problems.push(format!("{place}: unfinished work"));
            }
        }
    }
    Ok(())
}

fn has_machine_path(line: &str) -> bool {
    ["work", "tmp", "root", "farm"].iter().any(|name| {
        let pattern = format!("/{name}/");
        line.match_indices(&pattern).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        })
    })
}

/// Every code is defined in one `diagnostics.rs`, used nowhere else outside tests, and listed in `docs/errors.md`.
fn check_codes(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let entries = error_index::entries(root)?;
    let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in &entries {
        owners.entry(&entry.code).or_default().insert(&entry.krate);
    }
    for (code, crates) in owners.iter().filter(|(_, crates)| crates.len() > 1) {
        let crates: Vec<&str> = crates.iter().copied().collect();
        findings.problems.push(format!("{code} is defined in several crates: {}", crates.join(", ")));
    }
    for file in files.iter().filter(|f| f.starts_with("crates") && f.extension().is_some_and(|e| e == "rs")) {
        if is_test(file) || error_index::is_diagnostics_file(file) || file.starts_with("crates/xtask") {
            continue;
        }
        let text = fs::read_to_string(root.join(file))?;
        for code in stray_codes(&text) {
            findings.problems.push(format!("{}: {code} stands outside diagnostics.rs", file.display()));
        }
    }
    let index = fs::read_to_string(root.join("docs/errors.md")).unwrap_or_default();
    if index != error_index::page(&entries) {
        findings.problems.push("docs/errors.md is not up to date: run `cargo xtask errors`".into());
    }
    Ok(())
}

fn stray_codes(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or("");
    source.lines().flat_map(error_index::string_literals).filter(|l| error_index::is_code(l)).collect()
}

/// The one place that may know the standard library: the registry of its external functions.
const REGISTRY: &str = "crates/saltus-eval/src/native";

/// The sources know the language, but no library: what works for one must work for all.
fn check_names(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let is_product = |f: &Path| {
        let is_source = f.extension().is_some_and(|e| e == "rs") && f.components().any(|c| c.as_os_str() == "src");
        is_source && !is_test(f) && !f.starts_with(REGISTRY) && !f.starts_with("crates/xtask")
    };
    for file in files.iter().filter(|f| is_product(f)) {
        let text = fs::read_to_string(root.join(file))?;
        let source = text.split("#[cfg(test)]").next().unwrap_or("");
        for (i, name) in source.lines().enumerate().filter_map(|(i, line)| Some((i, standard_name(line)?))) {
            findings.problems.push(format!("{}:{}: names `{name}` of the standard library", file.display(), i + 1));
        }
    }
    Ok(())
}

/// Functions that the specification of the language defines for foreign code.
const OF_THE_LANGUAGE: [&str; 8] =
    ["Utilities", "Message", "Warning", "Error", "Format", "VFormat", "Allocate", "Duplicate"];

/// A package, class or C function of the standard library: `Modelica.Blocks`, a library beside it, `ModelicaInternal_stat`.
/// The language may be named, also at the end of a sentence and as the scheme of a URI.
fn standard_name(line: &str) -> Option<String> {
    for (at, word) in line.match_indices("Modelica") {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &line[at + word.len()..];
        let is_name = match rest.as_bytes() {
            [b'.', next, ..] => next.is_ascii_uppercase(),
            [next, ..] => next.is_ascii_uppercase() && !OF_THE_LANGUAGE.iter().any(|name| rest.starts_with(name)),
            [] => false,
        };
        if is_name {
            let end = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(rest.len(), |end| end + 1);
            return Some(format!("{word}{}", &rest[..end]));
        }
    }
    None
}

/// Only programs read the clock of the system; the library measures with the `Stopwatch` it is handed.
fn check_clocks(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    for file in files.iter().filter(|f| is_library(f)) {
        let source = fs::read_to_string(root.join(file))?;
        let reads = |line: &&str| line.contains("Instant::now");
        if let Some(number) = source.lines().position(|line| reads(&line)) {
            findings.problems.push(format!("{}:{}: reads the clock of the system", file.display(), number + 1));
        }
    }
    Ok(())
}

/// Is this a source of a library: not of the command line, a test, an example, a bench or the tools of development?
fn is_library(file: &Path) -> bool {
    let is_part = |name: &str| file.iter().any(|part| part == name);
    let is_program =
        ["saltus-cli", "saltus-python", "xtask", "examples", "benches", "testing"].into_iter().any(is_part);
    file.starts_with("crates") && file.extension().is_some_and(|e| e == "rs") && !is_program && !is_test(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_are_without_a_clock() {
        let is_library = |file: &str| is_library(Path::new(file));
        assert!(is_library("crates/saltus/src/stream.rs"));
        assert!(!is_library("crates/saltus-cli/src/system_clock.rs"));
        assert!(!is_library("crates/saltus-python/src/simulation.rs"));
        assert!(!is_library("crates/saltus/benches/table.rs"));
        assert!(!is_library("crates/saltus/tests/audit.rs"));
    }

    #[test]
    fn names_of_the_standard_library_are_found() {
        assert_eq!(standard_name("see `Modelica.Units.SI`").as_deref(), Some("Modelica.Units"));
        assert_eq!(standard_name("use ModelicaServices.Machine").as_deref(), Some("ModelicaServices"));
        assert_eq!(standard_name("\"ModelicaInternal_stat\"").as_deref(), Some("ModelicaInternal_stat"));
        for fine in [
            "Modelica text",
            "the grammar of Modelica.",
            "modelica://P/x",
            "MyModelica.Thing",
            "Modelica",
            "ModelicaError(x)",
        ] {
            assert_eq!(standard_name(fine), None, "{fine}");
        }
    }

    const TABLE: &str = "| layer | crate | what |\n|---|---|---|\n| 0 | `saltus-base` | x |\n| 1 | `saltus-flat` | y |\n\
                         | 1 | `saltus-syntax` | z |\n| dev | `saltus-testkit` | t |\n";

    #[test]
    fn edges_point_downward() {
        let table = layers(TABLE);
        assert_eq!(table.len(), 4);
        let manifest = "[dependencies]\nsaltus-base.workspace = true\nserde = \"1\"\n[dev-dependencies]\n\
                        saltus-testkit = { path = \"x\" }\n";
        let edges = edges(manifest);
        assert_eq!(edges.len(), 2);
        assert!(edges.iter().all(|e| judge_edge("saltus-flat", e, &table).is_none()));
        let sideways = Edge { to: "saltus-syntax".into(), for_tests: false };
        assert!(judge_edge("saltus-flat", &sideways, &table).is_some());
        let development = Edge { to: "saltus-testkit".into(), for_tests: false };
        assert!(judge_edge("saltus-flat", &development, &table).is_some());
    }

    #[test]
    fn machine_paths_are_found() {
        let path = |name: &str| format!("see /{name}/x");
        assert!(has_machine_path(&path("work")) && has_machine_path(&path("tmp")));
        assert!(!has_machine_path("docs/work/x") && !has_machine_path("/usr/lib"));
    }

    #[test]
    fn codes_outside_diagnostics_are_strays() {
        assert_eq!(stray_codes("let c = Code(\"E0203\");"), ["E0203"]);
        assert!(stray_codes("// \"E0203\"\n#[cfg(test)]\n\"E0203\"").is_empty());
    }
}
