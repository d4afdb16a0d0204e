//! Who extends whom, and who calls whom.

use std::path::Path;

use saltus::Session;
use saltus_base::Span;
use saltus_frontend::{Scopes, Symbol};
use saltus_syntax::ast::{ClassBody, Section};

use crate::file::File;
use crate::references::searched_files;
use crate::resolve::{Meaning, Resolver};
use crate::target::{FileRange, NavigationTarget};
use crate::walk::{self, Lookup, Names, Role};

/// The class that a name means, or is of.
pub(crate) fn class_at(session: &Session, path: &Path, offset: u32) -> Option<NavigationTarget> {
    let file = File::open(session, path)?;
    file.with_name_at(offset, |resolver, _, meaning| {
        let Meaning::Symbol(symbol) = meaning? else { return None };
        let class = resolver.scopes.class_of(symbol).unwrap_or(symbol);
        NavigationTarget::of_symbol(&resolver.scopes, class)
    })
}

/// Classes that the class whose name stands at a byte extends.
pub(crate) fn supertypes(session: &Session, path: &Path, offset: u32) -> Vec<NavigationTarget> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    let Some(class) = names.classes.iter().position(|node| node.definition.name.span.start == offset) else {
        return Vec::new();
    };
    bases(&mut resolver, &names, class)
        .into_iter()
        .filter_map(|base| NavigationTarget::of_symbol(&resolver.scopes, base))
        .collect()
}

/// What a class of a file extends, or is a short name of.
fn bases<'a>(resolver: &mut Resolver<'a, '_>, names: &Names<'a>, class: usize) -> Vec<Symbol> {
    let node = &names.classes[class];
    let how = |path: &saltus_syntax::ast::Path, how| if path.is_global { Lookup::Global } else { how };
    match &node.definition.body {
        ClassBody::Short(short) => {
            resolver.path(node.parent, &short.base.parts, how(&short.base, Lookup::Type)).into_iter().collect()
        }
        ClassBody::Long(body) => {
            let elements = body.sections.iter().flat_map(|section| match section {
                Section::Elements { elements, .. } => elements.as_slice(),
                _ => &[],
            });
            let extends = elements.filter_map(|element| match &element.kind {
                saltus_syntax::ast::ElementKind::Extends(extends) => Some(&extends.base),
                _ => None,
            });
            extends.filter_map(|base| resolver.path(Some(class), &base.parts, how(base, Lookup::Base))).collect()
        }
        _ => Vec::new(),
    }
}

/// Classes that extend the one whose name stands at a byte, directly.
pub(crate) fn subtypes(session: &Session, path: &Path, offset: u32) -> Vec<NavigationTarget> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let wanted = crate::references::wanted(&file, offset);
    let Some(wanted) = wanted else { return Vec::new() };
    let mut found = Vec::new();
    for path in searched_files(session, &file) {
        let Some(file) = File::open(session, &path).filter(|f| f.text.contains(f.library.text(wanted.name))) else {
            continue;
        };
        let names = walk::names(file.tree, None);
        let mut resolver = Resolver::new(&file, &names);
        for class in 0..names.classes.len() {
            let bases = bases(&mut resolver, &names, class);
            if bases.into_iter().any(|base| resolver.scopes.origin(base) == wanted.origin) {
                found.extend(file_target(&file, &names, class));
            }
        }
    }
    found
}

fn file_target(file: &File<'_>, names: &Names<'_>, class: usize) -> Option<NavigationTarget> {
    let definition = names.classes[class].definition;
    let full = crate::diagnostics::qualified(file, names, class);
    let container = full.rsplit_once('.').map_or("", |(container, _)| container);
    Some(NavigationTarget {
        name: file.library.text(definition.name.name).to_owned(),
        kind: crate::target::SymbolKind::of_class(definition),
        container: container.to_owned(),
        description: String::new(),
        full: FileRange::of(file.library, definition.span)?,
        focus: FileRange::of(file.library, definition.name.span)?,
    })
}

/// A caller or a callee, with the places of the calls.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSite {
    pub class: NavigationTarget,
    pub calls: Vec<FileRange>,
}

/// Functions that the class whose name stands at a byte calls.
pub(crate) fn outgoing(session: &Session, path: &Path, offset: u32) -> Vec<CallSite> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    let class = names.classes.iter().position(|node| node.definition.name.span.start == offset);
    let mut found: Vec<(Span, CallSite)> = Vec::new();
    for (callee, place) in calls(&mut resolver, &names, |caller| caller == class) {
        let origin = resolver.scopes.origin(callee);
        add(
            &mut found,
            origin,
            || NavigationTarget::of_symbol(&resolver.scopes, callee),
            FileRange::of(file.library, place),
        );
    }
    found.into_iter().map(|(_, site)| site).collect()
}

/// Classes that call the function whose name stands at a byte.
pub(crate) fn incoming(session: &Session, path: &Path, offset: u32) -> Vec<CallSite> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let Some(wanted) = crate::references::wanted(&file, offset) else { return Vec::new() };
    let mut found: Vec<(Span, CallSite)> = Vec::new();
    for path in searched_files(session, &file) {
        let Some(file) = File::open(session, &path).filter(|f| f.text.contains(f.library.text(wanted.name))) else {
            continue;
        };
        let names = walk::names(file.tree, None);
        let mut resolver = Resolver::new(&file, &names);
        for class in 0..names.classes.len() {
            for (callee, place) in calls(&mut resolver, &names, |caller| caller == Some(class)) {
                if resolver.scopes.origin(callee) == wanted.origin {
                    let caller = names.classes[class].definition.name.span;
                    add(&mut found, caller, || file_target(&file, &names, class), FileRange::of(file.library, place));
                }
            }
        }
    }
    found.into_iter().map(|(_, site)| site).collect()
}

fn add(
    found: &mut Vec<(Span, CallSite)>,
    key: Span,
    class: impl FnOnce() -> Option<NavigationTarget>,
    call: Option<FileRange>,
) {
    let Some(call) = call else { return };
    match found.iter_mut().find(|(known, _)| *known == key) {
        Some((_, site)) => site.calls.push(call),
        None => found.extend(class().map(|class| (key, CallSite { class, calls: vec![call] }))),
    }
}

/// Calls in the classes of a file that are wanted: what is called, and the name there.
fn calls<'a>(
    resolver: &mut Resolver<'a, '_>,
    names: &Names<'a>,
    is_wanted: impl Fn(Option<usize>) -> bool,
) -> Vec<(Symbol, Span)> {
    let mut found = Vec::new();
    for occurrence in names.occurrences.iter().filter(|o| !o.in_annotation && is_wanted(o.class)) {
        if let Role::Reference { reference, at, call: Some(_) } = occurrence.role
            && at + 1 == reference.parts.len()
            && let Some(Meaning::Symbol(callee)) = resolver.meaning(occurrence)
        {
            found.push((callee, occurrence.ident.span));
        }
    }
    found
}

/// Names of all bases of a class, nearest first.
pub(crate) fn all_bases(scopes: &mut Scopes<'_>, class: Symbol) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo: Vec<_> = scopes.inside(class).into_iter().collect();
    while let Some(scope) = todo.pop() {
        for base in scopes.bases(scope) {
            let name = scopes.library().qualified_name(scopes.class_of_scope(base));
            if !found.contains(&name) {
                found.push(name);
                todo.push(base);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    const TEXT: &str = "package P model A end A; model B extends A; end B; model C = B; end P;
        function f input Real u; output Real y; algorithm y := g(u) + g(2*u); end f;
        function g input Real u; output Real y; algorithm y := u; end g;";

    fn at(name: &str) -> (Fixture, u32) {
        (Fixture::new(TEXT), TEXT.find(name).unwrap() as u32 + name.find(' ').unwrap() as u32 + 1)
    }

    #[test]
    fn types() {
        let (fixture, offset) = at("model B");
        let names = |targets: Vec<crate::NavigationTarget>| targets.into_iter().map(|t| t.name).collect::<Vec<_>>();
        assert_eq!(names(fixture.analysis().supertypes(&fixture.path, offset)), ["A"]);
        assert_eq!(names(fixture.analysis().subtypes(&fixture.path, offset)), ["C"]);
    }

    #[test]
    fn calls() {
        let (fixture, offset) = at("function f");
        let callees = fixture.analysis().outgoing_calls(&fixture.path, offset);
        assert_eq!(callees.iter().map(|c| (c.class.name.as_str(), c.calls.len())).collect::<Vec<_>>(), [("g", 2)]);
        let (fixture, offset) = at("function g");
        let callers = fixture.analysis().incoming_calls(&fixture.path, offset);
        assert_eq!(callers.iter().map(|c| (c.class.name.as_str(), c.calls.len())).collect::<Vec<_>>(), [("f", 2)]);
    }
}
