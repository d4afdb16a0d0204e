//! What is not written but holds: units of variables, names of arguments, values of parameters that others give.

use std::path::Path;

use saltus::Session;
use saltus_base::Span;
use saltus_frontend::{Declaration, Scopes, Symbol};
use saltus_syntax::ast::{Call, Direction, Expr, ExprKind, Subscript};

use crate::file::File;
use crate::hover::expr_text;
use crate::resolve::{Meaning, Resolver, called};
use crate::target::SymbolKind;
use crate::walk::{self, Occurrence, Role};

/// A remark behind a byte of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InlayHint {
    pub at: u32,
    pub text: String,
}

pub(crate) fn inlay_hints(session: &Session, path: &Path, start: u32, end: u32) -> Vec<InlayHint> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    let mut found = Vec::new();
    for occurrence in &names.occurrences {
        let span = occurrence.ident.span;
        if span.end < start || end < span.start {
            continue;
        }
        if matches!(occurrence.role, Role::Component)
            && let Some(Meaning::Symbol(symbol)) = resolver.meaning(occurrence)
        {
            let text = declared_hint(&mut resolver.scopes, symbol);
            found.extend(text.map(|text| InlayHint { at: span.end, text }));
            found.extend(value_hint(&mut resolver, occurrence, symbol));
        }
        if let Role::Reference { reference, at, call: Some(call) } = occurrence.role
            && at + 1 == reference.parts.len()
            && let Some(Meaning::Symbol(function)) = resolver.meaning(occurrence)
        {
            found.extend(argument_hints(&mut resolver.scopes, function, call));
        }
    }
    found.sort_by_key(|hint| hint.at);
    found
}

/// The unit that the type brings, and the size that follows from a literal.
fn declared_hint(scopes: &mut Scopes<'_>, symbol: Symbol) -> Option<String> {
    let Some(Declaration::Component { clause, component, .. }) = scopes.declaration(symbol) else { return None };
    let mut text = String::new();
    let is_open = |s: &Subscript| matches!(s, Subscript::Colon(_));
    if let [size] = clause.subscripts.iter().chain(&component.subscripts).collect::<Vec<_>>().as_slice()
        && is_open(size)
        && let Some(value) = scopes.value(symbol, None)
        && let ExprKind::Array(entries) = &value.kind
    {
        text += &format!("[{}]", entries.len());
    }
    if let Some(unit) = scopes.value(symbol, Some("unit"))
        && !contains(component.span, unit.span)
        && let ExprKind::String(unit) = &unit.kind
        && !matches!(&**unit, "" | "1")
    {
        text += &format!(" [{unit}]");
    }
    (!text.is_empty()).then_some(text)
}

/// The value of a parameter that is written as the name of another one.
fn value_hint<'a>(resolver: &mut Resolver<'a, '_>, occurrence: &Occurrence<'a>, symbol: Symbol) -> Option<InlayHint> {
    let Some(Declaration::Component { clause, component, .. }) = resolver.scopes.declaration(symbol) else {
        return None;
    };
    if !matches!(SymbolKind::of_component(clause), SymbolKind::Parameter | SymbolKind::Constant) {
        return None;
    }
    let written = resolver.scopes.value(symbol, None).filter(|value| contains(component.span, value.span))?;
    let ExprKind::Ref(reference) = &written.kind else { return None };
    let of = resolver.reference(occurrence.class, reference, reference.parts.len().checked_sub(1)?)?;
    let is_element = reference.parts.iter().any(|part| !part.subscripts.is_empty());
    let value = resolver.scopes.value(of, None).filter(|value| !is_element && is_literal(value))?;
    let text = format!(" = {}", expr_text(resolver.scopes.library(), value));
    Some(InlayHint { at: written.span.end, text })
}

fn is_literal(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Integer(_) | ExprKind::Real(_) | ExprKind::Boolean(_) | ExprKind::String(_) => true,
        ExprKind::Unary(_, inner) => is_literal(inner),
        _ => false,
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// Names of the inputs before positional arguments of a call, if there are several.
fn argument_hints(scopes: &mut Scopes<'_>, function: Symbol, call: &Call) -> Vec<InlayHint> {
    let library = scopes.library();
    if call.arguments.len() < 2 || !call.iterators.is_empty() {
        return Vec::new();
    }
    let Some(inside) = called(scopes, function) else { return Vec::new() };
    let mut inputs = Vec::new();
    for member in scopes.members(inside) {
        if let Some(Declaration::Component { clause, component, .. }) = scopes.declaration(member)
            && clause.direction == Some(Direction::Input)
        {
            inputs.push(library.text(component.name.name));
        }
    }
    let pairs = call.arguments.iter().zip(inputs);
    let hints = pairs.filter(|(argument, input)| expr_text(library, argument) != *input);
    hints.map(|(argument, input)| InlayHint { at: argument.span.start, text: format!("{input}: ") }).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    fn hints(text: &str) -> Vec<String> {
        let fixture = Fixture::new(text);
        let end = fixture.text().len() as u32;
        let found = fixture.analysis().inlay_hints(&fixture.path, 0, end);
        found.into_iter().map(|hint| hint.text).collect()
    }

    #[test]
    fn units_and_sizes_that_are_not_written() {
        assert_eq!(hints("type Length = Real(unit = \"m\"); model M Length l; Real x(unit = \"s\"); end M;"), [" [m]"]);
        let sized = "type Length = Real(unit = \"m\"); model M parameter Length l[:] = {1, 2, 3}; end M;";
        assert_eq!(hints(sized), ["[3] [m]"]);
    }

    #[test]
    fn values_of_parameters_behind_names() {
        let text = "record Data parameter Real R = 10; end Data;
            model M parameter Data data(R = 20); parameter Real a = data.R; parameter Real b = -a; Real c = a; end M;";
        assert_eq!(hints(text), [" = 20"]);
    }

    #[test]
    fn names_of_arguments() {
        let text = "function f input Real u; input Real k; output Real y; algorithm y := u; end f;
            model M Real x; Real k; equation x = f(1, k) + f(u = 2, k = 3); end M;";
        assert_eq!(hints(text), ["u: "], "`k` says it itself");
    }
}
