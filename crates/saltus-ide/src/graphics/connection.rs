//! Connects and disconnects.

use saltus::Session;
use saltus_base::{Index, Interner, Name};
use saltus_diagram::{Layer, Painter, route};
use saltus_flat::BaseType;
use saltus_frontend::{Declaration, Scopes, Symbol};
use saltus_syntax::ast::{self, ClassBody, ClassKind, Equation, EquationKind, Section};

use super::declaration::{connections, removed_equation};
use super::elements::{self, Misfit, Shape};
use super::{Edited, insertion, point};
use crate::rename::SourceChange;

/// Connectors in connectors that are compared.
const DEEPEST: usize = 8;

/// Adds `connect(from, to)` with a line of right angles behind the other equations.
pub(crate) fn connect(session: &Session, class: &str, from: &str, to: &str) -> Result<SourceChange, String> {
    can_connect(session, class, from, to).map_err(|misfit| misfit.why)?;
    let edited = Edited::open(session, class)?;
    let is_there = connections(&edited).into_iter().any(|equation| is_between(&edited, equation, from, to));
    if is_there {
        return Err(format!("`{from}` and `{to}` are connected already"));
    }
    let scene = Painter::new(edited.library).scene(edited.id, Layer::Diagram);
    let line = scene.as_ref().and_then(|scene| {
        let (a, b) = (scene.end(from)?, scene.end(to)?);
        let points: Vec<String> = route::route(&a, &b).into_iter().map(point).collect();
        let [r, g, blue] = a.color();
        Some(format!(" annotation(Line(points={{{}}}, color={{{r},{g},{blue}}}))", points.join(",")))
    });
    let equation = format!("connect({from}, {to}){};", line.unwrap_or_default());
    edited.change(vec![new_equation(&edited, &equation)])
}

/// Behind the last equation; a section is begun if there is none.
fn new_equation(edited: &Edited<'_>, equation: &str) -> crate::formatting::TextEdit {
    let end = edited.line_end();
    let own = edited.indentation(edited.definition.span.start);
    let section = edited.body.sections.iter().rev().find_map(|section| match section {
        Section::Equations { is_initial: false, keyword, equations } => Some((keyword, equations)),
        _ => None,
    });
    if let Some((keyword, equations)) = section {
        let (at, indentation) = match equations.last() {
            Some(last) => (edited.behind_semicolon(last.span.end), edited.indentation(last.span.start).to_owned()),
            None => (keyword.end, format!("{own}  ")),
        };
        return insertion(edited.behind_comment(at), format!("{end}{indentation}{equation}"));
    }
    let sections_end = edited.body.sections.iter().rev().find_map(section_end);
    let header = edited.body.description.parts.last().map_or(edited.definition.name.span.end, |part| part.span.end);
    let at = sections_end.map_or(header, |at| edited.behind_semicolon(at));
    let at = edited.behind_comment(at);
    let tail = if edited.text[at as usize..].starts_with(['\n', '\r']) { "" } else { end };
    insertion(at, format!("{end}{own}equation{end}{own}  {equation}{tail}"))
}

/// Where the last element, equation or statement of a section ends, before its semicolon.
fn section_end(section: &Section) -> Option<u32> {
    match section {
        Section::Elements { elements, .. } => elements.last().map(|element| element.span.end),
        Section::Equations { equations, .. } => equations.last().map(|equation| equation.span.end),
        Section::Algorithm { statements, .. } => statements.last().map(|statement| statement.span.end),
    }
}

/// Removes the connection between two connectors.
pub(crate) fn disconnect(session: &Session, class: &str, from: &str, to: &str) -> Result<SourceChange, String> {
    let edited = Edited::open(session, class)?;
    let found = connections(&edited).into_iter().find(|equation| is_between(&edited, equation, from, to));
    let found = found.ok_or_else(|| format!("the text of `{class}` does not connect `{from}` and `{to}`"))?;
    edited.change(vec![removed_equation(&edited, found)?])
}

fn is_between(edited: &Edited<'_>, equation: &Equation, from: &str, to: &str) -> bool {
    let EquationKind::Connect { from: a, to: b } = &equation.kind else { return false };
    let text = |end: &ast::ComponentRef| edited.text[end.span.start as usize..end.span.end as usize].replace(' ', "");
    let (a, b, from, to) = (text(a), text(b), from.replace(' ', ""), to.replace(' ', ""));
    (a == from && b == to) || (a == to && b == from)
}

/// Whether two connectors fit; `Err` says why not.
pub(crate) fn can_connect(session: &Session, class: &str, from: &str, to: &str) -> Result<(), Misfit> {
    let edited = Edited::open(session, class)?;
    if from.replace(' ', "") == to.replace(' ', "") {
        return Err(Misfit::from("a connector cannot be connected to itself".to_owned()));
    }
    let mut scopes = Scopes::new(edited.library);
    let a = end(&mut scopes, &edited, from)?;
    let b = end(&mut scopes, &edited, to)?;
    if a.is_expandable || b.is_expandable {
        return Ok(());
    }
    if a.is_source() && b.is_source() {
        return Err(format!("`{from}` and `{to}` both give a value").into());
    }
    if let Some(why) = differs(&mut scopes, a.symbol, b.symbol, 0) {
        return Err(format!("`{from}` and `{to}` do not fit: {why}").into());
    }
    elements::compare((from, &a.shape), (to, &b.shape))
}

struct End {
    symbol: Symbol,
    direction: Option<ast::Direction>,
    /// A connector of the class itself, seen from inside.
    is_outside: bool,
    is_expandable: bool,
    shape: Shape,
}

impl End {
    /// It gives the value to the others: the output of a component, or the input of the class.
    fn is_source(&self) -> bool {
        match self.direction {
            Some(ast::Direction::Output) => !self.is_outside,
            Some(ast::Direction::Input) => self.is_outside,
            None => false,
        }
    }
}

fn end(scopes: &mut Scopes<'_>, edited: &Edited<'_>, name: &str) -> Result<End, String> {
    let mut names = Interner::new();
    let (reference, found) = saltus_syntax::parse_component_ref(Index::from_usize(0), name, &mut names);
    if found.has_errors() || reference.parts.is_empty() || reference.is_global {
        return Err(format!("`{name}` is not the name of a connector"));
    }
    let missing = || format!("`{name}` is not found in `{}`", edited.library.qualified_name(edited.id));
    let mut inside = scopes.class_scope(edited.id).ok_or_else(missing)?;
    let mut found = None;
    let mut is_in_bus = false;
    let mut shape = Shape::default();
    for (i, part) in reference.parts.iter().enumerate() {
        let Some(next) = scopes.member(inside, edited.library.intern(names.text(part.name.name))) else {
            // A member that the connection adds to a bus.
            match found.filter(|_| is_in_bus) {
                Some(symbol) => {
                    let is_outside = reference.parts.len() == 1;
                    return Ok(End { symbol, direction: None, is_outside, is_expandable: true, shape });
                }
                None => return Err(missing()),
            }
        };
        found = Some(next);
        let end = reference.parts.get(i + 1).map_or(name.len(), |next| next.name.span.start as usize);
        let text = name[part.name.span.start as usize..end].trim_end_matches(['.', ' ']);
        shape.push(scopes, next, part, text)?;
        is_in_bus = connector(scopes, next) == Some(ClassKind::ExpandableConnector);
        if let Some(next) = scopes.inside(next) {
            inside = next;
        }
    }
    let symbol = found.ok_or_else(missing)?;
    let kind = connector(scopes, symbol).ok_or_else(|| format!("`{name}` is not a connector"))?;
    // A connector of the class, or one inside of such a connector.
    let first = scopes
        .class_scope(edited.id)
        .and_then(|scope| scopes.member(scope, edited.library.intern(names.text(reference.parts[0].name.name))));
    let is_outside = first.is_some_and(|first| connector(scopes, first).is_some());
    Ok(End {
        symbol,
        direction: direction(scopes, symbol),
        is_outside,
        is_expandable: kind == ClassKind::ExpandableConnector,
        shape,
    })
}

/// The kind of connector that a component is of.
fn connector(scopes: &mut Scopes<'_>, symbol: Symbol) -> Option<ClassKind> {
    let class = scopes.class_of(symbol)?;
    match scopes.declaration(class)? {
        Declaration::Class { definition, .. } => {
            matches!(definition.kind, ClassKind::Connector | ClassKind::ExpandableConnector).then_some(definition.kind)
        }
        _ => None,
    }
}

fn direction(scopes: &mut Scopes<'_>, symbol: Symbol) -> Option<ast::Direction> {
    let Declaration::Component { clause, .. } = scopes.declaration(symbol)? else { return None };
    if clause.direction.is_some() {
        return clause.direction;
    }
    let mut class = scopes.class_of(symbol)?;
    for _ in 0..DEEPEST {
        let Declaration::Class { definition, .. } = scopes.declaration(class)? else { return None };
        let ClassBody::Short(short) = &definition.body else { return None };
        if short.direction.is_some() {
            return short.direction;
        }
        let inside = scopes.inside(class)?;
        let [base] = short.base.parts.as_slice() else { return None };
        class = scopes.lookup(inside, base.name)?;
    }
    None
}

/// Why two connectors are of different types.
fn differs(scopes: &mut Scopes<'_>, a: Symbol, b: Symbol, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let (base_a, base_b): (Option<BaseType>, Option<BaseType>) = (scopes.base_type(a), scopes.base_type(b));
    if base_a.is_some() || base_b.is_some() {
        return (base_a != base_b).then(|| "they are of different types".to_owned());
    }
    let (inside_a, inside_b) = (scopes.inside(a)?, scopes.inside(b)?);
    if inside_a == inside_b {
        return None;
    }
    let (of_a, of_b) = (variables(scopes, inside_a), variables(scopes, inside_b));
    for (from, to) in [(&of_a, &of_b), (&of_b, &of_a)] {
        for (name, ..) in from.iter() {
            if !to.iter().any(|(other, ..)| other == name) {
                return Some(format!("only one of them has `{}`", scopes.library().text(*name)));
            }
        }
    }
    for (name, prefix, symbol) in of_a {
        let Some((_, other_prefix, other)) = of_b.iter().find(|(other, ..)| *other == name).copied() else { continue };
        if prefix != other_prefix {
            return Some(format!("`{}` is a flow variable in one of them only", scopes.library().text(name)));
        }
        // A class by itself may have other sizes in one place than in another: `Plug p(m = 3)`.
        let (sizes, others) = (elements::sizes(scopes, symbol), elements::sizes(scopes, other));
        if !elements::agree(&sizes, &others) {
            let name = scopes.library().text(name);
            let (one, another) = (elements::described(&sizes), elements::described(&others));
            return Some(format!("`{name}` is {one} in one of them and {another} in the other"));
        }
        if let Some(why) = differs(scopes, symbol, other, depth + 1) {
            return Some(format!("`{}`: {why}", scopes.library().text(name)));
        }
    }
    None
}

/// The variables of a connector, without parameters and constants.
fn variables(scopes: &mut Scopes<'_>, inside: saltus_frontend::Scope) -> Vec<(Name, Option<ast::Connection>, Symbol)> {
    let members = scopes.members(inside);
    let variables = members.into_iter().filter_map(|member| match scopes.declaration(member)? {
        Declaration::Component { clause, component, .. } if clause.variability.is_none() => {
            Some((component.name.name, clause.connection, member))
        }
        _ => None,
    });
    variables.collect()
}
