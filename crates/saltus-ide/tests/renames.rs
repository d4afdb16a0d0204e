//! A new name changes nothing but the name: models that use a renamed element have the same flat model up to that name.
//!
//! The names come from flat models: what flattening has looked up, with its own index of uses, is renamed by the editor, which
//! finds uses in another way. They are drawn at random, of all kinds in turn, each from the package that had the fewest so far.
//! `SALTUS_EDITOR_LIBRARY=DIR` names a directory with packages; without it the library of the program is taken.
//! `SALTUS_EDITOR_RENAMES=100` takes more names than the usual run, `SALTUS_EDITOR_SEED=2` others.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{Random, number, sample, session};
use saltus::{Flattening, Session};
use saltus_base::Span;
use saltus_frontend::{Definition, DefinitionKind, References};
use saltus_ide::{Analysis, SourceChange, apply};

const NEW: &str = "renamed_0";

/// Models that are compared for each name.
const MOST_COMPARED: usize = 3;

/// What is renamed in turn, so that a small run has something of each.
fn kind_of(definition: &Definition, source: &str, analysis: &Analysis<'_>) -> &'static str {
    let is = |class: &str, word: &str| analysis.info(class).is_some_and(|info| info.words.contains(word));
    let line = source[..definition.span.start as usize].rfind('\n').map_or(0, |at| at + 1);
    if source[line..definition.span.start as usize].contains("replaceable ") {
        return "replaceable";
    }
    match &definition.kind {
        DefinitionKind::EnumerationLiteral { .. } => "literal",
        DefinitionKind::Component { owner, .. } if is(owner, "function") => "argument",
        DefinitionKind::Component { owner, .. } if is(owner, "connector") => "connector's element",
        DefinitionKind::Component { owner, .. } if is(owner, "record") => "field",
        DefinitionKind::Component { prefixes, .. } if prefixes.contains(&"constant") => "constant",
        DefinitionKind::Component { prefixes, .. } if prefixes.contains(&"parameter") => "parameter",
        DefinitionKind::Component { .. } => "component",
        DefinitionKind::Class { qualified_name } if is(qualified_name, "function") => "function",
        DefinitionKind::Class { qualified_name } if is(qualified_name, "package") => "package",
        DefinitionKind::Class { .. } => "class",
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
    // The order of a package is not a text of the language.
    for (path, edits) in change.edits.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "mo")) {
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

/// A model with what flattening has looked up for it.
struct Known {
    model: String,
    flat: String,
    flattening: Arc<Flattening>,
}

/// A name that can be drawn: where it is declared, and the models that use it.
struct Candidate {
    definition: Definition,
    file: PathBuf,
    models: Vec<usize>,
}

impl Candidate {
    /// Two levels of the library below the directory that contains it.
    fn package(&self, model: &str) -> String {
        let name = match &self.definition.kind {
            DefinitionKind::Class { qualified_name } => qualified_name,
            DefinitionKind::Component { owner, .. } | DefinitionKind::EnumerationLiteral { owner } => owner,
        };
        let name = if name.is_empty() { model } else { name };
        name.split('.').take(2).collect::<Vec<_>>().join(".")
    }
}

fn flatten_some(session: &Session, n: usize, random: &mut Random) -> Vec<Known> {
    let mut known = Vec::new();
    let mut files = sample(20 * n);
    // At random, so that all packages have their turn.
    for at in (1..files.len()).rev() {
        files.swap(at, random.below(at + 1));
    }
    for path in files {
        let models = Analysis::new(session).models(&path);
        if known.len() == n || models.is_empty() {
            continue;
        }
        let model = models[random.below(models.len())].class.clone();
        let flattening = session.references(&model);
        if let (Some(flat), true) = (flat(session, &model), flattening.references.is_some()) {
            known.push(Known { model, flat, flattening });
        }
    }
    known
}

/// Names by kind, those with a use.
fn candidates(session: &Session, known: &[Known]) -> BTreeMap<&'static str, Vec<Candidate>> {
    let mut places: BTreeMap<(PathBuf, u32), (&'static str, Candidate)> = BTreeMap::new();
    for (at, one) in known.iter().enumerate() {
        let Some(index) = &one.flattening.references else { continue };
        for definition in index.definitions().filter(|d| index.uses_of(d).next().is_some()) {
            let Some(source) = one.flattening.sources().get(definition.span.file) else { continue };
            let file = PathBuf::from(&source.path);
            let key = (file.clone(), definition.span.start);
            let (_, candidate) = places.entry(key).or_insert_with(|| {
                let kind = kind_of(definition, &source.text, &Analysis::new(session));
                (kind, Candidate { definition: definition.clone(), file, models: Vec::new() })
            });
            candidate.models.push(at);
        }
    }
    let mut by_kind: BTreeMap<&'static str, Vec<Candidate>> = BTreeMap::new();
    places.into_values().for_each(|(kind, candidate)| by_kind.entry(kind).or_default().push(candidate));
    by_kind
}

/// What is wrong with a change: other flat models, uses that were forgotten, another text after changing back.
fn mistakes(session: &Session, known: &[Known], candidate: &Candidate, change: &SourceChange) -> Vec<String> {
    let Candidate { definition, file, models } = candidate;
    let (old, at) = (definition.name.as_str(), definition.span.start);
    let after = changed(session, change);
    let mut wrong = Vec::new();
    for Known { model, flat: before, flattening } in models.iter().take(MOST_COMPARED).map(|&at| &known[at]) {
        match flat(&after, &renamed(model, definition)).map(|new| difference(before, &new, old)) {
            Some(None) => {}
            Some(Some(difference)) => wrong.push(format!("in {model}:\n{difference}")),
            None => wrong.push(format!("{model} has no flat model afterwards")),
        }
        let index = flattening.references.as_ref().unwrap();
        let same = index.definitions().find(|d| d.span.start == at && d.name == *old && d.kind == definition.kind);
        let missed = same.map(|same| missed_uses(flattening, index, same, change)).unwrap_or_default();
        if !missed.is_empty() {
            wrong.push(format!("uses in {model} keep the old name: {missed:?}"));
        }
    }
    match Analysis::new(&after).rename(file, moved(change, file, at), old) {
        Err(reason) => wrong.push(format!("not changed back: {reason}")),
        Ok(back) => {
            let again = changed(&after, &back);
            let files =
                change.edits.keys().chain(back.edits.keys()).filter(|p| p.extension().is_some_and(|e| e == "mo"));
            for path in files.collect::<BTreeSet<_>>() {
                if Analysis::new(&again).text(path) != Analysis::new(session).text(path) {
                    wrong.push(format!("{} differs after changing back", path.display()));
                }
            }
        }
    }
    wrong
}

#[test]
fn a_new_name_changes_only_the_name() {
    let wanted = number("SALTUS_EDITOR_RENAMES", 12);
    let mut random = Random(0x5eed + number("SALTUS_EDITOR_SEED", 0) as u64);
    let mut session = session();
    session.add_workspace(&common::library());
    let known = flatten_some(&session, wanted.div_ceil(2), &mut random);
    let mut by_kind = candidates(&session, &known);
    let (mut counts, mut packages, mut not_offered) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut refused, mut wrong, mut n_files, mut slowest) = (Vec::new(), Vec::new(), 0, 0.0_f64);
    while counts.values().sum::<usize>() < wanted && by_kind.values().any(|left| !left.is_empty()) {
        for (&kind, left) in &mut by_kind {
            if left.is_empty() || counts.values().sum::<usize>() == wanted {
                continue;
            }
            let n_of =
                |at: usize| packages.get(&left[at].package(&known[left[at].models[0]].model)).copied().unwrap_or(0);
            let drawn = (0..8).map(|_| random.below(left.len())).min_by_key(|&at| n_of(at)).unwrap();
            let candidate = left.swap_remove(drawn);
            let analysis = Analysis::new(&session);
            let (file, at) = (&candidate.file, candidate.definition.span.start);
            if let Err(reason) = analysis.prepare_rename(file, at) {
                *not_offered.entry(reason.replace(&*file.to_string_lossy(), "FILE")).or_insert(0) += 1;
                continue;
            }
            let package = candidate.package(&known[candidate.models[0]].model);
            let what = format!("{kind} {} of {package} in {}", candidate.definition.name, file.display());
            let begin = std::time::Instant::now();
            let change = analysis.rename(file, at, NEW);
            slowest = slowest.max(begin.elapsed().as_secs_f64());
            eprintln!("{:.1} s {what}", begin.elapsed().as_secs_f64());
            match change {
                Err(reason) => {
                    eprintln!("refused: {reason}");
                    refused.push(format!("{what}: {reason}"));
                }
                Ok(change) => {
                    n_files += change.edits.len();
                    let found = mistakes(&session, &known, &candidate, &change);
                    found.iter().for_each(|mistake| eprintln!("WRONG {what}: {mistake}"));
                    wrong.extend(found.into_iter().map(|mistake| format!("{what}: {mistake}")));
                    *counts.entry(kind).or_insert(0) += 1;
                    *packages.entry(package).or_insert(0) += 1;
                }
            }
        }
    }
    println!("changed and changed back in {n_files} files, the slowest in {slowest:.2} s: {counts:?}");
    println!("of {} packages: {packages:?}", packages.len());
    println!("not offered: {not_offered:#?}");
    refused.iter().for_each(|reason| println!("refused {reason}"));
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts.values().sum::<usize>() >= wanted.min(8), "only {counts:?}");
}
