//! What README and book show is true: models compile, commands run, output looks like that.
//!
//! A `modelica` block is the file named like its class, a `json` block the file `settings.json`, a `toml` block the file that its first line names; the files of a document lie in one directory, where the lines of
//! its `sh` blocks that begin with `saltus` run one after the other. `# exit code N` behind a command says how it ends, otherwise with
//! 0. Every line of a `text` block must be in the output of the commands above it; `…` stands for anything. `cargo run --release --`
//! is the program, in the directory of the project. FMUs get the runtime that was built with these tests. Lines with `ModelicaStandardLibrary` run where the environment variable `MSL` names it.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Scratch;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Commands that install or test the project itself.
const NOT_RUN: [&str; 8] =
    ["cargo test", "cargo install", "cargo bench", "git clone", "pip install", "cd editors/", "npm ", "code "];

struct Block {
    kind: String,
    text: String,
    line: usize,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(kind)) => open = Some(Block { kind: kind.trim().to_owned(), text: String::new(), line: i + 1 }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a code block does not end");
    blocks
}

/// The name behind the first `model`, `package` or `block`.
fn class_name(text: &str) -> String {
    let mut words = text.split_whitespace();
    words.find(|w| ["model", "package", "block"].contains(w));
    words.next().unwrap_or("M").to_owned()
}

/// Words of a command; single and double quotes hold them together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote: Option<char> = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.into_iter().filter(|w| !w.is_empty()).collect()
}

/// The runtime of FMUs. Cargo builds it together with these tests.
fn runtime() -> PathBuf {
    let name = format!("{}saltus_fmu{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    std::env::current_exe().unwrap().with_file_name(name)
}

fn execute(line: &str, dir: &Path) -> Option<String> {
    let (command, comment) = line.split_once('#').unwrap_or((line, ""));
    let command = command.trim();
    if command.is_empty() || NOT_RUN.iter().any(|c| command.starts_with(c)) {
        return None;
    }
    if let Some(file) = command.strip_prefix("cat ") {
        return Some(std::fs::read_to_string(dir.join(file)).unwrap_or_else(|e| panic!("`{line}`: {e}")));
    }
    let expected: i32 = comment.trim().strip_prefix("exit code ").map_or(0, |n| n.trim().parse().unwrap());
    let mut command = command.to_owned();
    if command.contains("ModelicaStandardLibrary") {
        command = command.replace("ModelicaStandardLibrary", &std::env::var("MSL").ok()?);
    }
    let (arguments, dir) = match command.strip_prefix("cargo run --release -- ") {
        Some(rest) => (rest, Path::new(ROOT)),
        None => {
            let rest = command.strip_prefix("saltus ");
            (rest.unwrap_or_else(|| panic!("`{line}` is not a command of Saltus")), dir)
        }
    };
    let mut program = Command::new(env!("CARGO_BIN_EXE_saltus"));
    program.args(words(arguments)).current_dir(dir).env_remove("MODELICAPATH").env("SALTUS_FMU_RUNTIME", runtime());
    let output = program.output().unwrap();
    let said = common::stdout(&output) + &common::stderr(&output);
    assert_eq!(output.status.code(), Some(expected), "`{line}`\n{said}");
    Some(said)
}

/// Does the line look like the pattern?
fn fits(pattern: &str, line: &str) -> bool {
    let mut rest = line;
    for (i, part) in pattern.split('…').enumerate() {
        match rest.find(part) {
            Some(at) if i > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || pattern.ends_with('…')
}

fn check(path: &Path) {
    let shown = path.file_name().unwrap().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).unwrap();
    // Several documents are called README.md, and tests run side by side.
    let folder = path.parent().and_then(Path::file_name).map_or("root".into(), |f| f.to_string_lossy().into_owned());
    let dir = Scratch::new(&format!("document_{}_{shown}", folder.replace("..", "root")));
    let mut said: Option<String> = Some(String::new());
    for block in blocks(&text) {
        let at = format!("{shown}:{}", block.line);
        match block.kind.as_str() {
            "modelica" => {
                let name = class_name(&block.text);
                let file = dir.file(&format!("{name}.mo"), &block.text);
                let (_, complained) = common::run(&["parse", &file], 0);
                assert_eq!(complained, "", "{at}");
            }
            "json" => {
                dir.file("settings.json", &block.text);
            }
            "toml" => {
                let name = block.text.lines().next().and_then(|line| line.strip_prefix("# "));
                dir.file(
                    name.unwrap_or_else(|| panic!("{at}: expected the name of the file in the first line")),
                    &block.text,
                );
            }
            "sh" => {
                let outputs: Vec<Option<String>> = block.text.lines().map(|line| execute(line, &dir.0)).collect();
                let has_run = outputs.iter().any(Option::is_some);
                said = has_run.then(|| outputs.into_iter().flatten().collect());
            }
            "text" => {
                let Some(said) = &said else { continue };
                for line in block.text.lines().filter(|l| !l.trim().is_empty()) {
                    let found = said.lines().any(|l| fits(line.trim_end(), l.trim_end()));
                    assert!(found, "{at}: no line like\n{line}\nin\n{said}");
                }
            }
            // `python/tests/test_documents.py` runs these.
            "python" | "output" => {}
            // Settings of editors.
            "lua" | "elisp" => {}
            other => panic!("{at}: a code block of kind `{other}` is not run"),
        }
    }
}

#[test]
fn the_readme_is_true() {
    check(&Path::new(ROOT).join("README.md"));
}

#[test]
fn the_book_is_true() {
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(Path::new(ROOT).join("docs/book")).unwrap().map(|e| e.unwrap().path()).collect();
    pages.retain(|p| p.extension().is_some_and(|e| e == "md"));
    pages.sort();
    assert!(pages.len() >= 7, "{pages:?}");
    pages.iter().for_each(|page| check(page));
}

#[test]
fn links_of_the_book_lead_somewhere() {
    let book = Path::new(ROOT).join("docs/book");
    for entry in std::fs::read_dir(&book).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or("");
            assert!(link.starts_with("http") || file.is_empty() || book.join(file).exists(), "{link}");
        }
    }
}
