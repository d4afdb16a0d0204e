//! Pages of cases: splitting them, running each case, writing pages anew.

use std::path::Path;

use saltus_library::{Library, MemoryFiles};

use super::rendering;
use crate::{Options, Purpose, flatten};

/// The cases of a page that do not mean what it says, one text each.
pub fn judge(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let file = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut failures = Vec::new();
    let mut rewritten = String::new();
    let mut title = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        rewritten += &format!("{line}\n");
        if let Some(heading) = line.strip_prefix("## ") {
            title = heading.to_owned();
        }
        if line != "```modelica" {
            continue;
        }
        let expected: String = lines.by_ref().take_while(|l| *l != "```").map(|l| format!("{l}\n")).collect();
        let actual = run(&expected);
        rewritten += &format!("{actual}```\n");
        if actual != expected {
            failures.push(format!("{file}: {title}\n--- expected\n{expected}--- found\n{actual}"));
        }
    }
    if !failures.is_empty() && std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(page, rewritten).unwrap();
    }
    failures
}

/// The cases that say or count something else if component arrays of two elements are kept.
pub fn judge_kept(page: &Path) -> Vec<String> {
    let content = std::fs::read_to_string(page).unwrap();
    let mut differing = Vec::new();
    for (at, _) in content.match_indices("```modelica\n") {
        let text = &content[at + "```modelica\n".len()..];
        let text = &text[..text.find("```").unwrap_or(text.len())];
        // Flat texts differ as they should.
        let text = text.split("// flat:\n").next().unwrap_or_default();
        let counted = text.to_owned() + "// balance: \n";
        let [plain, kept] = [counted.clone(), format!("// kept: 2\n{counted}")].map(|text| run(&text));
        let kept = kept.replacen("// kept: 2\n", "", 1);
        // What is too large one by one is not, if kept.
        if plain != kept && !text.contains("// kept: ") && !text.contains("[E0234]") {
            differing.push(format!("--- one by one\n{plain}--- kept\n{kept}"));
        }
    }
    differing
}

/// What a case asks for, without what it expects.
struct Case {
    class: Option<String>,
    purpose: Purpose,
    overrides: Vec<(String, String)>,
    kept: Option<u64>,
    source: String,
    files: Vec<(String, String)>,
    wants_balance: bool,
    wants_flat: bool,
}

fn read(text: &str) -> Case {
    let mut case = Case {
        class: None,
        purpose: Purpose::Flatten,
        overrides: Vec::new(),
        kept: None,
        source: String::new(),
        files: Vec::new(),
        wants_balance: false,
        wants_flat: false,
    };
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("// class: ") {
            case.class = Some(name.to_owned());
        } else if let Some(purpose) = line.strip_prefix("// purpose: ") {
            case.purpose = match purpose {
                "check" => Purpose::Check,
                "simulate" => Purpose::Simulate,
                other => panic!("`// purpose: {other}`"),
            };
        } else if let Some(setting) = line.strip_prefix("// set: ") {
            let (name, value) = setting.split_once(" = ").expect("`// set: name = value`");
            case.overrides.push((name.to_owned(), value.to_owned()));
        } else if let Some(fewest) = line.strip_prefix("// kept: ") {
            case.kept = Some(fewest.parse().expect("`// kept: n`"));
        } else if let Some(path) = line.strip_prefix("// file: ") {
            case.files.push((path.to_owned(), String::new()));
        } else if line.starts_with("//") {
            case.wants_balance |= line.starts_with("// balance:");
            case.wants_flat |= line == "// flat:";
        } else {
            let target = case.files.last_mut().map_or(&mut case.source, |(_, text)| text);
            target.push_str(line);
            target.push('\n');
        }
    }
    case
}

/// The text of a case with what comes out of it.
fn run(text: &str) -> String {
    let case = read(text);
    let work = || {
        let mut files = MemoryFiles::new();
        for (path, text) in &case.files {
            files.insert(path, text.as_str());
        }
        let library = Library::new(Box::new(files));
        if !case.files.is_empty() {
            library.add_search_path("lib".as_ref());
        }
        let own = library.load_text("own.mo", &case.source);
        let class = match &case.class {
            Some(name) => library.find(name),
            None => own.last().copied(),
        };
        let options = Options {
            overrides: case.overrides.clone(),
            purpose: case.purpose,
            kept_components: case.kept,
            ..Options::default()
        };
        let (model, found) = match class {
            Some(class) => {
                let flattened = flatten(&library, class, &options);
                (flattened.model, flattened.diagnostics)
            }
            None => (None, library.diagnostics()),
        };
        let mut out = String::new();
        if let Some(class) = &case.class {
            out += &format!("// class: {class}\n");
        }
        match case.purpose {
            Purpose::Flatten => {}
            Purpose::Check => out += "// purpose: check\n",
            Purpose::Simulate => out += "// purpose: simulate\n",
        }
        if let Some(fewest) = case.kept {
            out += &format!("// kept: {fewest}\n");
        }
        for (name, value) in &case.overrides {
            out += &format!("// set: {name} = {value}\n");
        }
        out += &library.with_sources(|sources| rendering::annotated("own.mo", &case.source, &found, sources));
        for (path, text) in &case.files {
            out += &format!("// file: {path}\n");
            out += &library.with_sources(|sources| rendering::annotated(path, text, &found, sources));
        }
        out += &library.with_sources(|sources| rendering::elsewhere(&found, sources));
        if let Some(model) = &model {
            // A model next to errors may be incomplete; one without must satisfy every invariant.
            if !found.has_errors()
                && let Err(problems) = saltus_flat::verify(model)
            {
                problems.iter().for_each(|p| out += &format!("// invalid: {p}\n"));
            }
            if case.wants_balance {
                let balance = saltus_flat::balance(model);
                out += &format!("// balance: {} equations, {} unknowns\n", balance.equations, balance.unknowns);
            }
            if case.wants_flat {
                out += &rendering::flat(model);
            }
        }
        out
    };
    // Debug builds need more stack for the nesting that the limits allow.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(512 << 20).spawn_scoped(scope, work).unwrap();
        thread.join().unwrap_or_else(|_| format!("{text}// panicked\n"))
    })
}
