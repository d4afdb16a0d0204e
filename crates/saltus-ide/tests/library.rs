//! A large library as material: every name leads somewhere, and a new name changes nothing but the name.
//!
//! `SALTUS_EDITOR_LIBRARY=DIR` names a directory with packages; without it the library of the program is taken.
//! `SALTUS_EDITOR_FILES=200` and `SALTUS_EDITOR_RENAMES=100` take more of it than the usual run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use saltus::Session;
use saltus_frontend::Options;
use saltus_ide::{Analysis, apply};

fn library() -> PathBuf {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library").canonicalize().unwrap();
    std::env::var_os("SALTUS_EDITOR_LIBRARY").map_or(shipped, PathBuf::from)
}

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn session() -> Session {
    let mut session = Session::on_disk();
    session.add_library(&library());
    session
}

/// Files below a directory, the same for each run.
fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        match path.is_dir() {
            true if !is_hidden && path.join("package.mo").exists() => files(&path, found),
            false if path.extension().is_some_and(|e| e == "mo") => found.push(path),
            _ => {}
        }
    }
}

/// So many files, spread over the library.
fn sample(n: usize) -> Vec<PathBuf> {
    let mut all = Vec::new();
    files(&library(), &mut all);
    let step = (all.len() / n.max(1)).max(1);
    all.into_iter().step_by(step).take(n).collect()
}

#[test]
fn every_name_leads_somewhere() {
    let session = session();
    let analysis = Analysis::new(&session);
    let (mut n_names, mut n_declared, mut n_predefined) = (0, 0, 0);
    let mut lost: BTreeMap<&str, usize> = BTreeMap::new();
    let mut examples = Vec::new();
    for path in sample(number("SALTUS_EDITOR_FILES", 40)) {
        let found = analysis.unresolved(&path);
        (n_names, n_declared) = (n_names + found.n_names, n_declared + found.n_declared);
        n_predefined += found.n_predefined;
        let text = analysis.text(&path).unwrap();
        for (start, end, role) in found.lost {
            *lost.entry(role).or_default() += 1;
            let line = text[..start as usize].matches('\n').count() + 1;
            examples.push(format!("{}:{line} {role} {}", path.display(), &text[start as usize..end as usize]));
        }
    }
    println!("{n_names} names, {n_declared} declared, {n_predefined} of the language, lost: {lost:?}");
    examples.iter().take(number("SALTUS_EDITOR_SHOW", 40)).for_each(|example| println!("{example}"));
    let n_lost: usize = lost.values().sum();
    assert!(n_lost * 100 <= n_names, "more than one name in a hundred leads nowhere");
}

#[test]
fn a_new_name_changes_only_the_name() {
    let wanted = number("SALTUS_EDITOR_RENAMES", 8);
    let mut session = session();
    let (mut n_done, mut n_refused, mut n_not_flat) = (0, 0, 0);
    for path in sample(wanted * 6) {
        if n_done >= wanted {
            break;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        session.set_text(&path, &text);
        let analysis = Analysis::new(&session);
        // A component of the first class of the file, not always the first one.
        let outline = analysis.outline(&path);
        let components: Vec<_> =
            outline.first().iter().flat_map(|class| &class.children).filter(|c| !c.detail.is_empty()).collect();
        let Some(item) = components.get(n_done % components.len().max(1)) else {
            session.remove_text(&path);
            continue;
        };
        let classes = analysis.checkable_classes(&path);
        let (old, at) = (item.name.clone(), item.focus.0);
        match analysis.rename(&path, at, "renamed_0") {
            Err(reason) => {
                n_refused += 1;
                println!("refused {old} of {}: {reason}", path.display());
            }
            Ok(change) => {
                let mut changed = session.fork();
                for (path, edits) in &change.edits {
                    changed.set_text(path, &apply(analysis.text(path).unwrap(), edits));
                }
                let flat = |session: &Session| {
                    let flattening = session.flatten(&classes[0], &Options::default());
                    flattening.model.as_ref().map(|model| saltus_flat::print(model)).unwrap_or_default()
                };
                let (before, after) = (flat(&session), flat(&changed));
                assert_eq!(with_name(&before, &old), with_name(&after, &old), "{old} of {}", path.display());
                let has_flat_model = !before.is_empty();
                // And back again, where uses before the declaration have moved it.
                let before = change.edits[&path].iter().filter(|edit| edit.end <= at);
                let grown: i64 = before.map(|edit| edit.text.len() as i64 - i64::from(edit.end - edit.start)).sum();
                let moved = (i64::from(at) + grown) as u32;
                let back = Analysis::new(&changed).rename(&path, moved, &old).unwrap();
                assert!(change.edits.keys().eq(back.edits.keys()), "{old} of {}", path.display());
                for (file, edits) in &back.edits {
                    let there = Analysis::new(&changed).text(file).unwrap();
                    assert_eq!(apply(there, edits), analysis.text(file).unwrap(), "{old} of {}", path.display());
                }
                // Partial classes and functions have no flat model to compare.
                (n_done, n_not_flat) =
                    (n_done + usize::from(has_flat_model), n_not_flat + usize::from(!has_flat_model));
            }
        }
        session.remove_text(&path);
    }
    println!("{n_done} names changed and changed back, {n_not_flat} more without a flat model, {n_refused} refused");
    assert!(n_done >= wanted.min(4), "only {n_done}");
}

/// A flat model with the new name in the place of the old one, wherever it is a whole word.
fn with_name(flat: &str, old: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut word = String::new();
    for c in flat.chars().chain(['\n']) {
        if is_word(c) {
            word.push(c);
            continue;
        }
        out.push_str(if word == old { "renamed_0" } else { &word });
        word.clear();
        out.push(c);
    }
    out
}
