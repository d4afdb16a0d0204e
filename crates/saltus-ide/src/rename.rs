//! Another name for what a name means, everywhere, if nothing else changes its meaning.
//!
//! The edits are made in a copy of the session, and every name of the files that the new name touches is looked up again. A
//! name that means something else then, or nothing, is a reason to refuse: `y` for `x` where a `y` exists, a local that hides
//! what an inner class uses, a name that an heir has taken.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use saltus::Session;
use saltus_base::{Interner, Span};

use crate::file::{File, name_at};
use crate::formatting::{TextEdit, apply};
use crate::references::{origin_of, references, searched_files, wanted};
use crate::resolve::Resolver;
use crate::target::FileRange;
use crate::walk;

/// Edits of several files, each in the order of its bytes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SourceChange {
    pub edits: BTreeMap<PathBuf, Vec<TextEdit>>,
}

/// The name at a byte that can be renamed, in bytes; `Err` says why it cannot.
pub(crate) fn prepare(session: &Session, path: &Path, offset: u32) -> Result<(u32, u32), String> {
    let file = File::open(session, path).ok_or("the file cannot be read")?;
    let names = walk::names(file.tree, Some(offset));
    let ident = name_at(&names, offset).ok_or("there is no name here")?.ident;
    let wanted = wanted(&file, offset).ok_or("this name belongs to the language, or is not declared")?;
    FileRange::of(file.library, wanted.origin).ok_or("this name belongs to the language")?;
    let is_alias = ident.name != wanted.name;
    if is_alias {
        return Err("this is a name that an import gives; rename what it means where it is declared".into());
    }
    stored_in_own_file(&file, wanted.origin)?;
    Ok((ident.span.start, ident.span.end))
}

/// A class in a file of its own is found by the name of the file.
fn stored_in_own_file(file: &File<'_>, origin: Span) -> Result<(), String> {
    let library = file.library;
    let path = library.source(origin.file).map(|source| PathBuf::from(&source.path)).unwrap_or_default();
    let Some(tree) = library.syntax(&path) else { return Ok(()) };
    let is_top = tree.classes.iter().any(|top| top.class.name.span == origin);
    let is_in_package = tree.within.as_ref().is_some_and(|within| !within.path.is_empty())
        || path.file_name().is_some_and(|name| name == "package.mo");
    match is_top && is_in_package {
        true => Err(format!("the class is stored in `{}`, which has its name; rename the file first", path.display())),
        false => Ok(()),
    }
}

pub(crate) fn rename(session: &Session, path: &Path, offset: u32, new: &str) -> Result<SourceChange, String> {
    if !is_identifier(new) {
        return Err(format!("`{new}` is not an identifier"));
    }
    prepare(session, path, offset)?;
    let file = File::open(session, path).ok_or("the file cannot be read")?;
    let wanted = wanted(&file, offset).ok_or("there is no name here")?;
    let old = file.library.text(wanted.name);
    let mut change = SourceChange::default();
    for reference in references(session, path, offset) {
        let FileRange { path, start, end } = reference.place;
        change.edits.entry(path).or_default().push(TextEdit { start, end, text: new.to_owned() });
    }
    if old != new {
        verify(session, &file, &change, old, new)?;
    }
    Ok(change)
}

/// The word is one identifier and not a keyword.
pub(crate) fn is_identifier(word: &str) -> bool {
    let mut names = Interner::new();
    let (reference, found) = saltus_syntax::parse_component_ref(saltus_base::Index::from_usize(0), word, &mut names);
    let is_name = matches!(reference.parts.as_slice(), [part] if names.text(part.name.name) == word);
    is_name && !found.has_errors() && !reference.is_global
}

/// Every name means the same after the change, in all files that contain the old or the new name.
fn verify(session: &Session, file: &File<'_>, change: &SourceChange, old: &str, new: &str) -> Result<(), String> {
    let mut changed = session.fork();
    for (path, edits) in &change.edits {
        let text = File::open(session, path).map_or("", |file| file.text);
        changed.set_text(path, &apply(text, edits));
    }
    for path in searched_files(session, file) {
        let is_concerned = File::open(session, &path).is_some_and(|f| f.text.contains(old) || f.text.contains(new));
        if !is_concerned {
            continue;
        }
        let before = moved(meanings(session, &path), &path, change);
        let after = meanings(&changed, &path);
        let differs = before.iter().zip(&after).find(|(before, after)| before != after);
        if let Some((before, _)) = differs {
            return Err(refusal(&changed, &path, before.at, new));
        }
        if before.len() != after.len() {
            return Err(format!("`{new}` changes how `{}` is read", path.display()));
        }
    }
    Ok(())
}

fn refusal(session: &Session, path: &Path, at: u32, new: &str) -> String {
    let line = File::open(session, path).map_or(0, |file| file.lines.line_column(file.text, at).line);
    format!("with the name `{new}` the name in line {line} of `{}` would mean something else", path.display())
}

/// A name and what it means: where that is declared first.
#[derive(PartialEq, Debug)]
struct Seen {
    at: u32,
    origin: Option<(PathBuf, u32)>,
}

fn meanings(session: &Session, path: &Path) -> Vec<Seen> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    let mut seen = Vec::with_capacity(names.occurrences.len());
    for occurrence in &names.occurrences {
        let meaning = resolver.meaning(occurrence);
        let origin = meaning.and_then(|meaning| origin_of(&resolver, meaning));
        let origin = origin.and_then(|span| FileRange::of(file.library, span)).map(|place| (place.path, place.start));
        seen.push(Seen { at: occurrence.ident.span.start, origin });
    }
    seen
}

/// The same places in the texts after the change.
fn moved(seen: Vec<Seen>, path: &Path, change: &SourceChange) -> Vec<Seen> {
    let shift = |path: &Path, at: u32| {
        let edits = change.edits.get(path).into_iter().flatten().filter(|edit| edit.end <= at);
        edits.fold(at, |at, edit| at + edit.text.len() as u32 - (edit.end - edit.start))
    };
    let place = |(target, at): (PathBuf, u32)| {
        let at = shift(&target, at);
        (target, at)
    };
    seen.into_iter().map(|s| Seen { at: shift(path, s.at), origin: s.origin.map(place) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn rename(text: &str, new: &str) -> Result<String, String> {
        let fixture = Fixture::new(text);
        let change = fixture.analysis().rename(&fixture.path, fixture.offset, new)?;
        let edits = change.edits.get(&fixture.path).cloned().unwrap_or_default();
        Ok(apply(&fixture.text(), &edits))
    }

    #[test]
    fn all_uses_get_the_new_name() {
        let text = "model A Real x$0; end A; model M extends A(x = 1); Real y = x; A a; equation a.x = 2; end M;";
        let expected = "model A Real z; end A; model M extends A(z = 1); Real y = z; A a; equation a.z = 2; end M;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
        let text = "model M Real x[3]; equation for i$0 in 1:3 loop x[i] = i; end for; end M;";
        let expected = "model M Real x[3]; equation for k in 1:3 loop x[k] = k; end for; end M;";
        assert_eq!(rename(text, "k").as_deref(), Ok(expected));
    }

    #[test]
    fn classes_are_renamed_with_their_end() {
        let text = "package P model A end A; A$0 a; end P;";
        assert_eq!(rename(text, "B").as_deref(), Ok("package P model B end B; B a; end P;"));
    }

    #[test]
    fn what_changes_a_meaning_is_refused() {
        let taken = "model M Real x$0; Real y; equation x = 1; y = x; end M;";
        assert!(rename(taken, "y").unwrap_err().contains("would mean something else"));
        let inherited = "model A Real x$0; end A; model B extends A; Real y; equation x = y; end B;";
        assert!(rename(inherited, "y").is_err());
        let hidden = "package P constant Real c = 1; model M Real x$0; Real y = c; end M; end P;";
        assert!(rename(hidden, "c").is_err());
    }

    #[test]
    fn wrong_names_and_words_of_the_language_are_refused() {
        let text = "model M Real x$0; end M;";
        assert_eq!(rename(text, "if"), Err("`if` is not an identifier".into()));
        assert_eq!(rename(text, "a b"), Err("`a b` is not an identifier".into()));
        assert_eq!(rename(text, "'a b'").as_deref(), Ok("model M Real 'a b'; end M;"));
        assert!(rename("model M Re$0al x; end M;", "y").is_err());
    }
}
