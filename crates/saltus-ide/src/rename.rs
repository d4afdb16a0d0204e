//! Another name for what a name means, everywhere, if nothing else changes its meaning.
//!
//! The edits are made in a copy of the session, and every name of the files that the new name touches is looked up again. A
//! name that means something else then, or nothing, is a reason to refuse: `y` for `x` where a `y` exists, a local that hides
//! what an inner class uses, a name that an heir has taken.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use saltus::Session;
use saltus_base::{Interner, Span};
use saltus_frontend::Declaration;
use saltus_syntax::TokenKind;

use crate::file::{File, name_at};
use crate::formatting::{TextEdit, apply};
use crate::obstacles;
use crate::references::{Wanted, files_with, origin_of, references, wanted};
use crate::resolve::{Meaning, Resolver};
use crate::target::FileRange;
use crate::{links, walk};

/// The list of what a package directory contains.
const ORDER: &str = "package.order";

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
    let declared = file.library.source(wanted.origin.file).filter(|source| !source.path.starts_with('<'));
    let declared = declared.ok_or("this name belongs to the language")?;
    session
        .is_own(Path::new(&declared.path))
        .map_err(|why| format!("it is declared in `{}`, which {why}", declared.path))?;
    let is_alias = ident.name != wanted.name;
    if is_alias {
        return Err("this is a name that an import gives; rename what it means where it is declared".into());
    }
    stored_in_own_file(&file, wanted.origin)?;
    file.with_name_at(offset, |resolver, _, meaning| match meaning? {
        Meaning::Symbol(symbol) => obstacles::of_declaration(&mut resolver.scopes, symbol),
        _ => None,
    })
    .map_or(Ok(()), Err)?;
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
    if old == new {
        return Ok(change);
    }
    session
        .workspace_files()
        .map_err(|folder| format!("`{}` has too many files to look for all uses", folder.display()))?;
    let files = files_with(session, &file, path, wanted);
    for path in &files {
        nothing_unread(session, path, wanted)?;
    }
    if let Some(obstacle) = obstacles::of_uses(session, &files, wanted) {
        return Err(obstacle);
    }
    verify(session, &files, &change, old, new)?;
    if !wanted.is_iterator {
        outside_of_code(session, &file, offset, &files, new, &mut change);
    }
    for path in change.edits.keys() {
        session.is_own(path).map_err(|why| format!("it is used in `{}`, which {why}", path.display()))?;
    }
    top_level_file(session, &file, wanted, &change)?;
    Ok(change)
}

/// A class at the top level is found by the name of its file by those who use it in other files.
fn top_level_file(session: &Session, file: &File<'_>, wanted: Wanted, change: &SourceChange) -> Result<(), String> {
    let Some(place) = FileRange::of(file.library, wanted.origin) else { return Ok(()) };
    let Some(declared) = File::open(session, &place.path) else { return Ok(()) };
    let is_top = declared.tree.classes.iter().any(|top| top.class.name.span == wanted.origin);
    let is_named_like_file = place.path.file_stem().is_some_and(|stem| stem == file.library.text(wanted.name));
    match is_top && is_named_like_file && change.edits.len() > 1 {
        true => Err(format!(
            "other files find the class by the name of its file, `{}`; rename the file first",
            place.path.display()
        )),
        false => Ok(()),
    }
}

/// A text with mistakes may hide uses from the parser.
fn nothing_unread(session: &Session, path: &Path, wanted: Wanted) -> Result<(), String> {
    let Some(file) = File::open(session, path) else { return Ok(()) };
    let has_errors = file.library.syntax_diagnostics(path).is_some_and(|found| found.has_errors());
    let old = file.library.text(wanted.name);
    if !has_errors || !file.text.contains(old) {
        return Ok(());
    }
    let read: BTreeSet<u32> =
        walk::names(file.tree, None).occurrences.iter().map(|occurrence| occurrence.ident.span.start).collect();
    let (tokens, _) = saltus_syntax::tokens(file.id, file.text);
    let is_unread = |start: u32, end: u32| file.slice(start, end) == old && !read.contains(&start);
    match tokens.iter().find(|t| t.kind == TokenKind::Ident && is_unread(t.start, t.end)) {
        Some(token) => Err(format!(
            "`{old}` in line {} of `{}` cannot be understood because of a syntax error",
            file.lines.line_column(file.text, token.start).line,
            path.display()
        )),
        None => Ok(()),
    }
}

/// Uses that are not names of the language: `modelica://` addresses of a class, and lines of `package.order`.
fn outside_of_code(
    session: &Session,
    file: &File<'_>,
    offset: u32,
    files: &[PathBuf],
    new: &str,
    change: &mut SourceChange,
) {
    let declared = file.with_name_at(offset, |resolver, _, meaning| match meaning? {
        Meaning::Symbol(symbol) => resolver.scopes.declaration(symbol),
        _ => None,
    });
    let (package, old) = match declared {
        Some(Declaration::Class { id, definition, .. }) => (file.library.parent(id), definition.name),
        Some(Declaration::Component { owner, component, .. }) => (Some(owner), component.name),
        _ => return,
    };
    if matches!(declared, Some(Declaration::Class { .. })) {
        for path in files {
            let Some(file) = File::open(session, path) else { continue };
            let named = links::class_names(&file).into_iter().filter(|(_, _, span)| *span == old.span);
            let edits: Vec<TextEdit> =
                named.map(|(start, end, _)| TextEdit { start, end, text: new.to_owned() }).collect();
            if !edits.is_empty() {
                let known = change.edits.entry(path.clone()).or_default();
                known.extend(edits);
                known.sort_by_key(|edit| edit.start);
            }
        }
    }
    let stored = package.and_then(|package| file.library.file_of(package));
    let Some(directory) = stored.filter(|path| path.ends_with("package.mo")).and_then(Path::parent) else { return };
    let order = directory.join(ORDER);
    let Some(listed) = file.library.file_source().is_file(&order).then(|| File::open(session, &order)).flatten() else {
        return;
    };
    let mut at = 0;
    for line in listed.text.split_inclusive('\n') {
        if line.trim() == file.library.text(old.name) {
            let start = (at + line.len() - line.trim_start().len()) as u32;
            let end = start + line.trim().len() as u32;
            change.edits.entry(order.clone()).or_default().push(TextEdit { start, end, text: new.to_owned() });
        }
        at += line.len();
    }
}

/// The word is one identifier and not a keyword.
pub(crate) fn is_identifier(word: &str) -> bool {
    let mut names = Interner::new();
    let (reference, found) = saltus_syntax::parse_component_ref(saltus_base::Index::from_usize(0), word, &mut names);
    let is_name = matches!(reference.parts.as_slice(), [part] if names.text(part.name.name) == word);
    is_name && !found.has_errors() && !reference.is_global
}

/// Every name means the same after the change, in all files that contain the old or the new name. It is enough to look at these
/// two names: what another name means depends on its own declarations, which stay, and on what names before it mean.
fn verify(session: &Session, files: &[PathBuf], change: &SourceChange, old: &str, new: &str) -> Result<(), String> {
    let mut changed = session.fork();
    for (path, edits) in &change.edits {
        let text = File::open(session, path).map_or("", |file| file.text);
        changed.set_text(path, &apply(text, edits));
    }
    for path in files {
        let is_concerned = File::open(session, path).is_some_and(|f| f.text.contains(old) || f.text.contains(new));
        if !is_concerned {
            continue;
        }
        let before = moved(meanings(session, path, [old, new]), path, change);
        let after = meanings(&changed, path, [old, new]);
        let differs = before.iter().zip(&after).find(|(before, after)| before != after);
        if let Some((before, _)) = differs {
            return Err(refusal(&changed, path, before.at, new));
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

fn meanings(session: &Session, path: &Path, concerned: [&str; 2]) -> Vec<Seen> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    let mut seen = Vec::new();
    let is_concerned = |o: &&walk::Occurrence<'_>| concerned.contains(&file.library.text(o.ident.name));
    for occurrence in names.occurrences.iter().filter(is_concerned) {
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

    #[test]
    fn names_in_annotations_are_renamed() {
        let text = "function f input Real x$0; output Real y; algorithm y := x; annotation(inverse(x = g(y)), derivative(noDerivative = x) = f_der); end f;";
        let expected = "function f input Real z; output Real y; algorithm y := z; annotation(inverse(z = g(y)), derivative(noDerivative = z) = f_der); end f;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
        let text = "package P function d$0 end d; function f annotation(derivative = d); end f; end P;";
        let expected = "package P function z end z; function f annotation(derivative = z); end f; end P;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
        let text = "model M parameter Boolean on$0 = true; parameter Real x annotation(Dialog(enable = on)); end M;";
        let expected = "model M parameter Boolean z = true; parameter Real x annotation(Dialog(enable = z)); end M;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
        let text = "package P model A end A; model B$0 end B; model M replaceable A a annotation(choices(choice(redeclare B a))); end M; end P;";
        let expected = "package P model A end A; model z end z; model M replaceable A a annotation(choices(choice(redeclare z a))); end M; end P;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
    }

    #[test]
    fn words_of_graphics_are_not_classes() {
        let text = "package P model Line$0 end Line; model M annotation(Icon(graphics = {Line(points = {{0, 0}})})); end M; end P;";
        let expected =
            "package P model z end z; model M annotation(Icon(graphics = {Line(points = {{0, 0}})})); end M; end P;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
    }

    #[test]
    fn fields_behind_expressions_and_indices_are_renamed() {
        let text = "record R Real x$0; end R; function f output R r; end f; model M R r[2]; Real y = (f()).x; Real s = sum(e.x for e in r); end M;";
        let expected = "record R Real z; end R; function f output R r; end f; model M R r[2]; Real y = (f()).z; Real s = sum(e.z for e in r); end M;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
        let text = "model A C a; C b; equation connect(a, b$0); end A; connector C Real v; flow Real i; end C; model B extends A(break connect(a, b)); end B;";
        let expected = "model A C a; C z; equation connect(a, z); end A; connector C Real v; flow Real i; end C; model B extends A(break connect(a, z)); end B;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
        let text = "function f input Real x$0; output Real y; algorithm y := x; end f; function g = der(f, x);";
        let expected = "function f input Real z; output Real y; algorithm y := z; end f; function g = der(f, z);";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
    }

    #[test]
    fn addresses_of_a_class_are_renamed() {
        let text = "package P model A$0 end A; model B String s = \"modelica://P.A/x.txt\"; annotation(Documentation(info = \"modelica://P.A modelica://P.AB\")); end B; end P;";
        let expected = "package P model z end z; model B String s = \"modelica://P.z/x.txt\"; annotation(Documentation(info = \"modelica://P.z modelica://P.AB\")); end B; end P;";
        assert_eq!(rename(text, "z").as_deref(), Ok(expected));
    }

    #[test]
    fn what_a_syntax_error_hides_is_a_reason() {
        let hidden = "model M Real x$0; equation x = 1; y = = x; end M;";
        let refusal = rename(hidden, "z").unwrap_err();
        assert_eq!(refusal, "`x` in line 1 of `test.mo` cannot be understood because of a syntax error");
        let beside = "model M Real x$0; equation x = 1; y = = w; end M;";
        assert_eq!(rename(beside, "z").as_deref(), Ok("model M Real z; equation z = 1; y = = w; end M;"));
    }

    /// A workspace on disk of which nothing but the file with the cursor is open.
    fn workspace(files: &[(&str, &str)], open: &str) -> (Session, u32) {
        let mut memory = saltus_library::MemoryFiles::new();
        for (path, text) in files {
            memory.insert(path, text.replace("$0", ""));
        }
        let mut session = Session::new(Box::new(memory));
        session.add_workspace(Path::new("work"));
        session.add_library(Path::new("lib"));
        let text = files.iter().find(|(path, _)| *path == open).map_or("", |(_, text)| text);
        session.set_text(open, &text.replace("$0", ""));
        (session, text.find("$0").unwrap_or(0) as u32)
    }

    /// The files after the change.
    fn renamed(files: &[(&str, &str)], open: &str) -> Result<Vec<String>, String> {
        let (session, offset) = workspace(files, open);
        let change = super::rename(&session, Path::new(open), offset, "z")?;
        let text = |path: &Path| File::open(&session, path).map_or("", |file| file.text);
        Ok(change
            .edits
            .iter()
            .map(|(path, edits)| format!("{}: {}", path.display(), apply(text(path), edits)))
            .collect())
    }

    #[test]
    fn files_that_nobody_has_opened_are_renamed() {
        let files = [
            ("work/P/package.mo", "package P end P;"),
            ("work/P/A.mo", "within P; model A Real x$0; end A;"),
            ("work/Q/package.mo", "package Q end Q;"),
            ("work/Q/B.mo", "within Q; model B extends P.A(x = 1); end B;"),
            ("work/tests/T.mo", "model T P.A a(x = 2); end T;"),
            ("work/Single.mo", "model Single P.A a; Real y = a.x; end Single;"),
        ];
        let expected = [
            "work/P/A.mo: within P; model A Real z; end A;",
            "work/Q/B.mo: within Q; model B extends P.A(z = 1); end B;",
            "work/Single.mo: model Single P.A a; Real y = a.z; end Single;",
            "work/tests/T.mo: model T P.A a(z = 2); end T;",
        ];
        assert_eq!(renamed(&files, "work/P/A.mo").as_deref(), Ok(&expected.map(String::from)[..]));
        let (session, offset) = workspace(&files, "work/P/A.mo");
        assert_eq!(references(&session, Path::new("work/P/A.mo"), offset).len(), 4, "found as references, too");
    }

    #[test]
    fn files_of_others_are_not_renamed() {
        let files = [
            ("lib/L.mo", "package L model A Real x; end A; end L;"),
            ("work/M.mo", "model M L.A a; Real y = a.x$0; end M;"),
        ];
        let expected = "it is declared in `lib/L.mo`, which belongs to a library outside of the workspace";
        assert_eq!(renamed(&files, "work/M.mo"), Err(expected.into()));
        // A library that uses a class of the workspace, and is read because the workspace uses it.
        let files = [
            ("lib/L.mo", "package L model B extends P.A(x = 1); end B; end L;"),
            ("work/P.mo", "package P model A Real x$0; end A; end P;"),
            ("work/M.mo", "model M L.B b; end M;"),
        ];
        let expected = "it is used in `lib/L.mo`, which belongs to a library outside of the workspace";
        assert_eq!(renamed(&files, "work/P.mo"), Err(expected.into()));
    }

    #[test]
    fn the_order_of_a_package_is_renamed() {
        let files = [
            ("work/P/package.mo", "package P constant Real c$0 = 1; model M end M; end P;"),
            ("work/P/package.order", "M\r\nc\r\nA\r\n"),
            ("work/P/A.mo", "within P; model A Real y = c; end A;"),
        ];
        let expected = [
            "work/P/A.mo: within P; model A Real y = z; end A;",
            "work/P/package.mo: package P constant Real z = 1; model M end M; end P;",
            "work/P/package.order: M\r\nz\r\nA\r\n",
        ];
        assert_eq!(renamed(&files, "work/P/package.mo").as_deref(), Ok(&expected.map(String::from)[..]));
    }

    #[test]
    fn another_copy_of_the_package_stays() {
        let files = [
            ("work/P/package.mo", "package P end P;"),
            ("work/P/A.mo", "within P; model A Real x$0; end A;"),
            ("work/copy/P/package.mo", "package P end P;"),
            ("work/copy/P/A.mo", "within P; model A Real x; end A;"),
            ("work/copy/P/B.mo", "within P; model B extends A(x = 1); end B;"),
        ];
        let expected = ["work/P/A.mo: within P; model A Real z; end A;".to_string()];
        assert_eq!(renamed(&files, "work/P/A.mo").as_deref(), Ok(&expected[..]));
    }

    #[test]
    fn a_class_that_others_find_by_its_file_keeps_its_name() {
        let files = [("work/A.mo", "model A$0 end A;"), ("work/B.mo", "model B extends A; end B;")];
        assert!(renamed(&files, "work/A.mo").unwrap_err().contains("by the name of its file"));
        assert_eq!(renamed(&files[..1], "work/A.mo").map(|files| files.len()), Ok(1));
    }
}
