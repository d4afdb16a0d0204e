//! What is not written but holds: units of variables, names of arguments, values of parameters that others give.

use std::path::Path;

use saltus::Session;
use saltus_base::Span;
use saltus_frontend::{Declaration, Scopes, Symbol};
use saltus_syntax::ast::{Call, Direction, ExprKind, Subscript};

use crate::file::File;
use crate::hover::expr_text;
use crate::resolve::{Meaning, Resolver, called};
use crate::walk::{self, Role};

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
    fn names_of_arguments() {
        let text = "function f input Real u; input Real k; output Real y; algorithm y := u; end f;
            model M Real x; Real k; equation x = f(1, k) + f(u = 2, k = 3); end M;";
        assert_eq!(hints(text), ["u: "], "`k` says it itself");
    }
}
