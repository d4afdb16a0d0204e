//! What the language means, case by case.
//!
//! In: the pages `tests/*.md`. A heading `##` names a case, text explains it, and a fence ```` ```modelica ```` holds a
//! model together with what must come out, in lines that begin with `//`:
//!
//! ```text
//! model M
//!   Rel x;
//! //^^^ error[E0201]: class `Rel` not found          below the line it belongs to
//! //    hint: did you mean `Real`?                   every hint
//!   final parameter Real p = 1;
//! //                       - declared final here     a label of a message elsewhere
//! end M;
//! // error[E0401]: …                                 a message without a place
//! // balance: 1 equations, 1 unknowns                not compared if left out
//! // flat:                                           not compared if left out
//! // class M
//! ```
//!
//! Marks in the first two columns are written as `// 1-3 error…`. Every message of a run must be there. The last class is
//! the one that is flattened, `// class: P.M` in the first line names another; `// set: p = 2` modifies it from outside,
//! `// purpose: simulate` or `check` says what it is for, `// kept: 2` keeps component arrays of two elements and more.
//! A line `// file: lib/P.mo` begins a file on the search path `lib`; what stands before the first is the user's own text.
//!
//! `UPDATE_EXPECT=1 cargo test -p saltus-frontend` writes what comes out into the pages. Read the difference: it is a claim
//! about the language.

mod limits;
mod page;
mod rendering;

use std::path::{Path, PathBuf};

/// Cases of one page run one after the other; pages run in parallel.
#[test]
fn every_case_means_what_its_page_says() {
    let failures: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = pages().into_iter().map(|page| scope.spawn(move || page::judge(&page))).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} cases differ\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn kept_component_arrays_say_and_count_the_same() {
    let failures: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = pages().into_iter().map(|page| scope.spawn(move || page::judge_kept(&page))).collect();
        workers.into_iter().flat_map(|w| w.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} cases differ\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_message_of_the_front_end_has_a_case() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let tests = pages().into_iter().chain([source.join("tests/limits.rs")]);
    let texts: String = tests.map(|p| std::fs::read_to_string(p).unwrap()).collect();
    let mut missing = Vec::new();
    let files = ["", "/calls", "/connections", "/functions", "/rules", "/usage"];
    for file in files.map(|file| format!("diagnostics{file}.rs")) {
        let wording = std::fs::read_to_string(source.join(&file)).unwrap();
        for quoted in wording.split('"').skip(1).step_by(2) {
            let is_code = quoted.len() == 5
                && quoted.starts_with(['E', 'W', 'H'])
                && quoted[1..].bytes().all(|b| b.is_ascii_digit());
            if is_code && !texts.contains(&format!("[{quoted}]: ")) && !texts.contains(&format!("\"{quoted}\"")) {
                missing.push(quoted.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "no case pins {}", missing.join(", "));
}

fn pages() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    pages.retain(|p| p.extension().is_some_and(|e| e == "md"));
    pages.sort();
    pages
}
