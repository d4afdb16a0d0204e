//! A new name changes nothing but the name: models that use a renamed element have the same flat model up to that name.
//!
//! The names come from flat models: what flattening has looked up, with its own index of uses, is renamed by the editor, which
//! finds uses in another way. `SALTUS_EDITOR_LIBRARY=DIR` names a directory with packages; without it the library of the program is
//! taken. `SALTUS_EDITOR_RENAMES=100` takes more names than the usual run.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{number, sample, session};
use saltus::{Flattening, Session};
use saltus_base::Span;
use saltus_frontend::{Definition, DefinitionKind, References};
use saltus_ide::{Analysis, SourceChange, apply};

const NEW: &str = "renamed_0";

/// What is renamed in turn, so that a small run has something of each.
fn kind_of(definition: &Definition, analysis: &Analysis<'_>) -> &'static str {
    match &definition.kind {
        DefinitionKind::EnumerationLiteral { .. } => "literal",
        DefinitionKind::Component { prefixes, .. } if prefixes.contains(&"constant") => "constant",
        DefinitionKind::Component { prefixes, .. } if prefixes.contains(&"parameter") => "parameter",
        DefinitionKind::Component { .. } => "component",
        DefinitionKind::Class { qualified_name } => match analysis.info(qualified_name) {
            Some(info) if info.words.contains("function") => "function",
            _ => "class",
        },
    }
}

fn flat(session: &Session, class: &str) -> Option<String> {
    session.references(class).model.as_ref().map(|model| saltus_flat::print(model))
}

/// Words and what is between them.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| !(is_word(first) && is_word(c))).unwrap_or(rest.len());
        let end = end.max(first.len_utf8());
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

/// The first place where two flat models differ by more than the name.
fn difference(before: &str, after: &str, old: &str) -> Option<String> {
    let (before, after) = (tokens(before), tokens(after));
    let same = |(b, a): (&&str, &&str)| b == a || (*b == old && *a == NEW);
    let n_same = before.iter().zip(&after).take_while(|&(b, a)| same((b, a))).count();
    let show = |tokens: &[&str]| tokens.iter().skip(n_same.saturating_sub(20)).take(40).copied().collect::<String>();
    (n_same < before.len().max(after.len())).then(|| format!("{}\n-- became --\n{}", show(&before), show(&after)))
}

/// The name of a model after the definition, which may be the model or a package around it, has been renamed.
fn renamed(model: &str, definition: &Definition) -> String {
    let DefinitionKind::Class { qualified_name } = &definition.kind else { return model.to_owned() };
    let around = qualified_name.strip_suffix(&definition.name).unwrap_or(qualified_name);
    match model.strip_prefix(qualified_name.as_str()) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{around}{NEW}{rest}"),
        _ => model.to_owned(),
    }
}

fn changed(session: &Session, change: &SourceChange) -> Session {
    let mut changed = session.fork();
    for (path, edits) in &change.edits {
        changed.set_text(path, &apply(Analysis::new(session).text(path).unwrap(), edits));
    }
    changed
}

/// Where a byte of a file is after the change.
fn moved(change: &SourceChange, path: &Path, at: u32) -> u32 {
    let before = change.edits.get(path).into_iter().flatten().filter(|edit| edit.end <= at);
    before.fold(at, |at, edit| at + edit.text.len() as u32 - (edit.end - edit.start))
}

/// Every use that flattening has recorded is part of the change.
fn missed_uses(known: &Flattening, uses: &References, definition: &Definition, change: &SourceChange) -> Vec<Span> {
    let is_edited = |span: &Span| {
        let path = known.sources().get(span.file).map(|source| PathBuf::from(&source.path)).unwrap_or_default();
        change.edits.get(&path).into_iter().flatten().any(|edit| (edit.start, edit.end) == (span.start, span.end))
    };
    // An import may give it another name, which stays.
    let has_the_name = |span: &Span| {
        let source = known.sources().get(span.file);
        source.is_some_and(|source| source.text.get(span.start as usize..span.end as usize) == Some(&definition.name))
    };
    uses.uses_of(definition).filter(|span| has_the_name(span) && !is_edited(span)).collect()
}

#[test]
fn a_new_name_changes_only_the_name() {
    let wanted = number("SALTUS_EDITOR_RENAMES", 12);
    let mut session = session();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let (mut refused, mut wrong) = (Vec::new(), Vec::new());
    for path in sample(wanted * 20) {
        if counts.values().sum::<usize>() >= wanted {
            break;
        }
        let models = Analysis::new(&session).models(&path);
        let Some(model) = models.get(seen.len() % models.len().max(1)).map(|model| model.class.clone()) else {
            continue;
        };
        let known: Arc<Flattening> = session.references(&model);
        let (Some(before), Some(index)) = (flat(&session, &model), &known.references) else { continue };
        // The kind with the fewest names so far, and of it a name that is not always the first.
        let analysis = Analysis::new(&session);
        let mut found: Vec<(usize, &str, &Definition)> = index
            .definitions()
            .filter(|definition| known.sources().get(definition.span.file).is_some())
            .filter(|definition| index.uses_of(definition).next().is_some())
            .map(|definition| (definition, kind_of(definition, &analysis)))
            .map(|(definition, kind)| (counts.get(kind).copied().unwrap_or(0), kind, definition))
            .collect();
        found.sort_by_key(|(n, kind, _)| (*n, *kind));
        let n_first = found.iter().take_while(|(_, kind, _)| *kind == found[0].1).count();
        let turn = seen.len() % n_first.max(1);
        let in_turn = found[turn..n_first].iter().chain(&found[..turn]).chain(&found[n_first..]);
        let place_of = |definition: &Definition| {
            let file = PathBuf::from(&known.sources().get(definition.span.file).unwrap().path);
            (file, definition.span.start)
        };
        let candidate = in_turn.into_iter().find(|(.., definition)| {
            let (file, at) = place_of(definition);
            analysis.prepare_rename(&file, at).is_ok() && seen.insert((file, at))
        });
        let Some(&(_, kind, definition)) = candidate else { continue };
        let ((file, at), old) = (place_of(definition), definition.name.as_str());
        session.set_text(&file, &std::fs::read_to_string(&file).unwrap());
        let analysis = Analysis::new(&session);
        let what = format!("{kind} {old} of {} in {model}", file.display());
        match analysis.rename(&file, at, NEW) {
            Err(reason) => refused.push(format!("{what}: {reason}")),
            Ok(change) => {
                let after = changed(&session, &change);
                match flat(&after, &renamed(&model, definition)).map(|new| difference(&before, &new, old)) {
                    Some(None) => {}
                    Some(Some(difference)) => wrong.push(format!("{what}\n{difference}")),
                    None => wrong.push(format!("{what}: no flat model afterwards")),
                }
                let missed = missed_uses(&known, index, definition, &change);
                if !missed.is_empty() {
                    wrong.push(format!("{what}: uses that keep the old name: {missed:?}"));
                }
                match Analysis::new(&after).rename(&file, moved(&change, &file, at), old) {
                    Err(reason) => wrong.push(format!("{what}: not changed back: {reason}")),
                    Ok(back) => {
                        let again = changed(&after, &back);
                        for path in change.edits.keys().chain(back.edits.keys()) {
                            if Analysis::new(&again).text(path) != analysis.text(path) {
                                wrong.push(format!("{what}: {} differs after changing back", path.display()));
                            }
                        }
                    }
                }
                *counts.entry(kind).or_default() += 1;
            }
        }
        session.remove_text(&file);
    }
    println!("changed and changed back: {counts:?}; refused: {}", refused.len());
    refused.iter().for_each(|reason| println!("refused {reason}"));
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts.values().sum::<usize>() >= wanted.min(8), "only {counts:?}");
}
