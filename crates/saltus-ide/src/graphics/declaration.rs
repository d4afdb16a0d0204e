//! Adds and removes components.

use saltus::Session;
use saltus_diagram::Placement;
use saltus_frontend::Scopes;
use saltus_syntax::ast::{ClassKind, Equation, EquationKind, Section, Visibility};

use super::placement::placement_text;
use super::{Edited, insertion};
use crate::formatting::TextEdit;
use crate::rename::{SourceChange, is_identifier};

/// Declares a component of a class, behind the other public elements.
pub(crate) fn add(
    session: &Session,
    class: &str,
    type_name: &str,
    name: &str,
    place: &Placement,
) -> Result<SourceChange, String> {
    let edited = Edited::open(session, class)?;
    if !is_identifier(name) {
        return Err(format!("`{name}` is not an identifier"));
    }
    let library = edited.library;
    if library.find(type_name) == Some(edited.id) {
        return Err(format!("`{type_name}` cannot be a component of itself"));
    }
    let kind =
        library.find(type_name).and_then(|id| library.definition(id)).map(|class| (class.kind, class.is_partial));
    match kind {
        None => return Err(format!("the class `{type_name}` is not found")),
        Some((ClassKind::Package | ClassKind::Function | ClassKind::OperatorFunction | ClassKind::Operator, _)) => {
            return Err(format!("`{type_name}` is not a class that components can have"));
        }
        Some((_, true)) => return Err(format!("`{type_name}` is partial: components need a complete class")),
        Some(_) => {}
    }
    let mut scopes = Scopes::new(library);
    let scope = scopes.class_scope(edited.id).ok_or("the class has no text")?;
    if scopes.member(scope, library.intern(name)).is_some() {
        return Err(format!("`{class}` has an element `{name}` already"));
    }
    let written = name_from(&mut scopes, scope, type_name);
    let declaration = format!("{written} {name} annotation({});", placement_text(place));
    let last = edited.body.sections.iter().rev().find_map(|section| match section {
        Section::Elements { visibility: Visibility::Public, elements, .. } => elements.last(),
        _ => None,
    });
    let edit = match last {
        Some(element) => {
            let at = edited.behind_comment(edited.behind_semicolon(element.span.end));
            let indentation = edited.indentation(element.span.start);
            insertion(at, format!("{}{indentation}{declaration}", edited.line_end()))
        }
        None => {
            let header = edited.body.description.parts.last().map_or(edited.definition.name.span.end, |p| p.span.end);
            let indentation = edited.indentation(edited.definition.span.start);
            let at = edited.behind_comment(header);
            let follows = &edited.text[at as usize..];
            // A section behind it keeps its line.
            let end = if follows.starts_with(['\n', '\r']) { "" } else { edited.line_end() };
            insertion(at, format!("{}{indentation}  {declaration}{end}", edited.line_end()))
        }
    };
    edited.change(vec![edit])
}

/// The name as it is written in a class: without the packages that are around both, if it still means the same.
fn name_from(scopes: &mut Scopes<'_>, scope: saltus_frontend::Scope, full: &str) -> String {
    let library = scopes.library();
    let wanted = library.find(full);
    let around = library.qualified_name(scopes.class_of_scope(scope));
    let mut short = full;
    for part in super::parts(&around) {
        match short.strip_prefix(part).and_then(|rest| rest.strip_prefix('.')) {
            Some(rest) => short = rest,
            None => break,
        }
    }
    let mut means = |path: &str| {
        let mut parts = super::parts(path).map(|part| library.intern(part));
        let mut found = scopes.lookup(scope, parts.next()?)?;
        for part in parts {
            let inside = scopes.inside(found)?;
            found = scopes.member(inside, part)?;
        }
        scopes.class_id(found)
    };
    if means(short) == wanted {
        short.to_owned()
    } else if means(full) == wanted {
        full.to_owned()
    } else {
        format!(".{full}")
    }
}

/// Removes a component and the connections to it.
pub(crate) fn delete(session: &Session, class: &str, name: &str) -> Result<SourceChange, String> {
    let edited = Edited::open(session, class)?;
    let declared = edited.own_component(name)?;
    let mut edits = vec![removed_declaration(&edited, declared)];
    for equation in connections(&edited) {
        let EquationKind::Connect { from, to } = &equation.kind else { continue };
        let is_end = [from, to]
            .iter()
            .any(|end| end.parts.first().is_some_and(|part| part.name.name == declared.component.name.name));
        if is_end {
            edits.push(removed_equation(&edited, equation)?);
        }
    }
    edited.change(edits)
}

fn removed_declaration(edited: &Edited<'_>, declared: super::Declared<'_>) -> TextEdit {
    let components = &declared.clause.components;
    let at = components.iter().position(|c| std::ptr::eq(c, declared.component)).unwrap_or(0);
    let (start, end) = match (components.get(at + 1), at) {
        (None, 0) => {
            let span = declared.element.span;
            edited.whole_lines(span.start, edited.behind_semicolon(span.end))
        }
        (Some(next), _) => (declared.component.span.start, next.span.start),
        (None, at) => (components[at - 1].span.end, declared.component.span.end),
    };
    TextEdit { start, end, text: String::new() }
}

/// An equation that no semicolon ends is a piece of one that is wrong.
pub(super) fn removed_equation(edited: &Edited<'_>, equation: &Equation) -> Result<TextEdit, String> {
    let end = edited.behind_semicolon(equation.span.end);
    if end == equation.span.end {
        let written = &edited.text[equation.span.start as usize..equation.span.end as usize];
        return Err(format!("`{written}` is part of an equation that is not complete"));
    }
    let (start, end) = edited.whole_lines(equation.span.start, end);
    Ok(TextEdit { start, end, text: String::new() })
}

/// The `connect` equations of the text, also those in loops and branches.
pub(super) fn connections<'a>(edited: &Edited<'a>) -> Vec<&'a Equation> {
    fn collect<'a>(equations: &'a [Equation], found: &mut Vec<&'a Equation>) {
        for equation in equations {
            match &equation.kind {
                EquationKind::Connect { .. } => found.push(equation),
                EquationKind::For { body, .. } => collect(body, found),
                EquationKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| collect(body, found));
                    collect(otherwise.as_deref().unwrap_or_default(), found);
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    for section in &edited.body.sections {
        if let Section::Equations { equations, .. } = section {
            collect(equations, &mut found);
        }
    }
    found
}
