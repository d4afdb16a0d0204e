//! Every model below `testdata/` means what the comments beside it say.
//!
//! `UPDATE_EXPECT=1` rewrites the `// flat:` blocks and nothing else.

#[path = "testdata/expectation.rs"]
mod expectation;
#[path = "testdata/judge.rs"]
mod judge;

use std::path::{Path, PathBuf};

#[test]
fn every_model_means_what_its_comments_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(!files.is_empty(), "no models below testdata/");
    let failures: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let shown = file.strip_prefix(&root).unwrap_or(file).display().to_string();
            judge::judge(&root, file, update).into_iter().map(move |problem| format!("{shown}: {problem}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} problems in {} models\n\n{}", failures.len(), files.len(), failures.join("\n"));
}

/// Models to test: `.mo` files in a fixed order, without the directories that other tests and measurements use.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_some_and(|n| !["libraries", "scale", "explain"].iter().any(|other| n == *other)) {
                collect(&path, files);
            }
        } else if path.extension().is_some_and(|e| e == "mo") {
            files.push(path);
        }
    }
}
