//! Sets, changes and takes back modifications: `r.R` to `5` makes `Resistor r(R=5)` of `Resistor r`.

use saltus::Session;
use saltus_base::{Index, Interner, Name, Severity};
use saltus_frontend::Scopes;
use saltus_syntax::ast::{Argument, ClassModification, ElementKind, ElementModification, Modification, Subscript};

use super::placement::{append, argument_end};
use super::{Edited, insertion};
use crate::formatting::TextEdit;
use crate::rename::SourceChange;

/// Sets the value of `path`, a parameter of the class or of a component; `None` takes the modification back.
pub(crate) fn modify(session: &Session, class: &str, path: &str, value: Option<&str>) -> Result<SourceChange, String> {
    let edited = Edited::open(session, class)?;
    if let Some(value) = value {
        check_expression(value)?;
    }
    let parts: Vec<Name> = super::parts(path).map(|part| edited.library.intern(part)).collect();
    check_path(&edited, &parts, path)?;
    let edit = match edited.component(edited.library.text(parts[0])) {
        Some(declared) => {
            let component = declared.component;
            let end = component.subscripts.last().map_or(component.name.span.end, |last| match last {
                Subscript::Colon(span) => bracket_end(&edited, span.end),
                Subscript::Expr(expr) => bracket_end(&edited, expr.span.end),
            });
            let place = Place { end, given: component.modification.as_ref() };
            match value {
                Some(value) => set(&edited, place, &parts[1..], value)?,
                None => take_back(&edited, place, &parts[1..])?,
            }
        }
        None => {
            let (given, end) = inherited(&edited, parts[0])?;
            match (given, value) {
                (Some(given), Some(value)) => set_argument(&edited, given, &parts, value)?,
                (None, Some(value)) => insertion(end, format!("({})", nested_text(&edited, &parts, value))),
                (Some(given), None) => take_back_argument(&edited, given, &parts)?.0,
                (None, None) => return Err(format!("`{path}` is not modified here")),
            }
        }
    };
    edited.change(vec![edit])
}

/// A name that can be modified: where it ends, and what is said about it.
#[derive(Clone, Copy)]
struct Place<'a> {
    end: u32,
    given: Option<&'a Modification>,
}

fn bracket_end(edited: &Edited<'_>, from: u32) -> u32 {
    edited.text[from as usize..].find(']').map_or(from, |at| from + at as u32 + 1)
}

fn check_expression(value: &str) -> Result<(), String> {
    let mut names = Interner::new();
    let (_, found) = saltus_syntax::parse_expression(Index::from_usize(0), value, &mut names);
    match found.into_iter().find(|d| d.severity == Severity::Error) {
        Some(error) => Err(format!("`{value}` is not an expression: {}", error.message)),
        None => Ok(()),
    }
}

/// The path leads to an element, or to an attribute such as `start` of one.
fn check_path(edited: &Edited<'_>, parts: &[Name], path: &str) -> Result<(), String> {
    let missing = || format!("`{path}` is not found");
    let mut scopes = Scopes::new(edited.library);
    let mut scope = scopes.class_scope(edited.id).ok_or_else(missing)?;
    for (i, part) in parts.iter().enumerate() {
        let symbol = scopes.member(scope, *part).ok_or_else(missing)?;
        let Some(next) = parts.get(i + 1) else { break };
        let is_attribute = i + 2 == parts.len() && scopes.attributes(symbol).contains(&edited.library.text(*next));
        if is_attribute {
            break;
        }
        scope = scopes.inside(symbol).ok_or_else(missing)?;
    }
    Ok(())
}

/// What the `extends` clause says through which an element is inherited, and where its name ends.
fn inherited<'a>(edited: &Edited<'a>, name: Name) -> Result<(Option<&'a ClassModification>, u32), String> {
    let mut scopes = Scopes::new(edited.library);
    let scope = scopes.class_scope(edited.id).ok_or("the class has no text")?;
    let bases = scopes.bases(scope);
    let clauses: Vec<_> = edited
        .elements()
        .filter_map(|element| match &element.kind {
            ElementKind::Extends(extends) => Some(extends),
            _ => None,
        })
        .collect();
    if clauses.len() != bases.len() {
        return Err("a base class is not found".into());
    }
    let found = clauses.into_iter().zip(bases).find(|(_, base)| scopes.member(*base, name).is_some());
    let (clause, _) = found.ok_or("the element is neither declared here nor inherited")?;
    Ok((clause.modification.as_ref(), clause.base.span.end))
}

/// `a(b=value)` for the path `a.b`.
fn nested_text(edited: &Edited<'_>, path: &[Name], value: &str) -> String {
    match path {
        [] => value.to_owned(),
        [last] => format!("{}={value}", edited.library.text(*last)),
        [first, rest @ ..] => format!("{}({})", edited.library.text(*first), nested_text(edited, rest, value)),
    }
}

fn set(edited: &Edited<'_>, place: Place<'_>, path: &[Name], value: &str) -> Result<TextEdit, String> {
    let class = place.given.and_then(|given| given.class.as_ref());
    if !path.is_empty() {
        return match class {
            Some(class) => set_argument(edited, class, path, value),
            None => Ok(insertion(place.end, format!("({})", nested_text(edited, path, value)))),
        };
    }
    let written = place.given.and_then(|given| given.value.as_ref());
    match written.map(|written| written.expr.as_ref()) {
        Some(Some(expr)) => Ok(TextEdit { start: expr.span.start, end: expr.span.end, text: value.to_owned() }),
        Some(None) => Err("the element has the value `break`".into()),
        None => Ok(insertion(class.map_or(place.end, |class| class.span.end), format!("={value}"))),
    }
}

fn set_argument(
    edited: &Edited<'_>,
    class: &ClassModification,
    path: &[Name],
    value: &str,
) -> Result<TextEdit, String> {
    let Some((_, argument, rest)) = find(class, path) else {
        return Ok(append(class, nested_text(edited, path, value)));
    };
    if argument.is_final {
        return Err("the modification is final".into());
    }
    set(edited, place_of(argument), rest, value)
}

fn place_of(argument: &ElementModification) -> Place<'_> {
    Place { end: argument.name.span.end, given: argument.modification.as_ref() }
}

/// The argument that a path begins with, and what of the path is left.
fn find<'m, 'p>(
    class: &'m ClassModification,
    path: &'p [Name],
) -> Option<(usize, &'m ElementModification, &'p [Name])> {
    class.arguments.iter().enumerate().find_map(|(at, argument)| {
        let Argument::Modification(m) = argument else { return None };
        let n = m.name.parts.len();
        let is_begin = n > 0 && path.len() >= n && m.name.parts.iter().zip(path).all(|(part, name)| part.name == *name);
        is_begin.then(|| (at, m, &path[n..]))
    })
}

fn take_back(edited: &Edited<'_>, place: Place<'_>, path: &[Name]) -> Result<TextEdit, String> {
    let class = place.given.and_then(|given| given.class.as_ref());
    if path.is_empty() {
        let expr = place.given.and_then(|given| given.value.as_ref()?.expr.as_ref()).ok_or("there is no value")?;
        let start = class.map_or(place.end, |class| class.span.end);
        return Ok(TextEdit { start, end: expr.span.end, text: String::new() });
    }
    let class = class.ok_or("it is not modified here")?;
    Ok(take_back_argument(edited, class, path)?.0)
}

/// Removes an argument with its comma, or all parentheses if it is the last one; says whether nothing is left in them.
fn take_back_argument(
    edited: &Edited<'_>,
    class: &ClassModification,
    path: &[Name],
) -> Result<(TextEdit, bool), String> {
    let (at, argument, rest) = find(class, path).ok_or("it is not modified here")?;
    if argument.is_final {
        return Err("the modification is final".into());
    }
    let given = argument.modification.as_ref();
    let (inner, has_value) = (given.and_then(|g| g.class.as_ref()), given.is_some_and(|g| g.value.is_some()));
    match (rest, inner) {
        ([], Some(_)) => return Ok((take_back(edited, place_of(argument), rest)?, false)),
        ([], None) => {}
        (_, None) => return Err("it is not modified here".into()),
        (_, Some(inner)) => {
            let (edit, is_empty) = take_back_argument(edited, inner, rest)?;
            if !is_empty || has_value {
                return Ok((edit, false));
            }
        }
    }
    if class.arguments.len() == 1 {
        let span = class.span;
        return Ok((TextEdit { start: span.start, end: span.end, text: String::new() }, true));
    }
    let start_of = |argument: &Argument| match argument {
        Argument::Modification(m) => m.span.start,
        Argument::Redeclaration(r) => r.span.start,
        Argument::BreakElement(name) => name.span.start,
        Argument::BreakConnect { span, .. } | Argument::Error(span) => span.start,
    };
    let (start, end) = match class.arguments.get(at + 1) {
        Some(next) => (argument.span.start, start_of(next)),
        None => (argument_end(&class.arguments[at - 1]), argument.span.end),
    };
    Ok((TextEdit { start, end, text: String::new() }, false))
}
