//! The inputs of the function that is being called, and which one is next.

use std::path::Path;

use saltus::Session;
use saltus_frontend::{Declaration, Scopes, Symbol};
use saltus_syntax::ast::Direction;

use crate::builtin;
use crate::completion::context::{self, FrameKind};
use crate::file::File;
use crate::hover::signature;
use crate::resolve::{Resolver, called};
use crate::target::text_of;
use crate::walk;

#[derive(Clone, PartialEq, Debug)]
pub struct SignatureHelp {
    /// Such as `f(Real u, Real k = 1)`.
    pub label: String,
    pub description: String,
    /// Label and description of each input, in their order.
    pub inputs: Vec<(String, String)>,
    /// The input that the cursor is at.
    pub active: Option<usize>,
}

pub(crate) fn signature_help(session: &Session, path: &Path, offset: u32) -> Option<SignatureHelp> {
    let file = File::open(session, path)?;
    let names = walk::names(file.tree, None);
    let class = file.class_at(&names, offset);
    let context = (!is_in_declarations(&names, class, offset)).then(|| context::context(file.text, offset, true));
    let context = context.unwrap_or_else(|| context::context(file.text, offset, false));
    let frame = context.frames.iter().rev().find(|frame| matches!(frame.kind, FrameKind::Call(_)))?;
    let FrameKind::Call(function) = &frame.kind else { return None };
    let mut resolver = Resolver::new(&file, &names);
    let scope = resolver.scope(class)?;
    let scopes = &mut resolver.scopes;
    let found = function.split_first().and_then(|(first, rest)| {
        let mut found = scopes.lookup(scope, file.library.intern(first))?;
        for word in rest {
            let inside = scopes.inside(found)?;
            found = scopes.member(inside, file.library.intern(word))?;
        }
        Some(found)
    });
    let mut help = match found {
        Some(function) => of_function(scopes, function)?,
        None => of_builtin(function.last()?)?,
    };
    let named = frame.named.last().filter(|_| frame.named.len() > frame.n_commas.saturating_sub(1));
    let by_name = named.and_then(|name| help.inputs.iter().position(|(label, _)| is_input(label, name)));
    help.active = by_name.or(Some(frame.n_commas)).filter(|&active| active < help.inputs.len());
    Some(help)
}

/// Is the byte before all equations of its class?
fn is_in_declarations(names: &walk::Names<'_>, class: Option<usize>, offset: u32) -> bool {
    use saltus_syntax::ast::{ClassBody, Section};
    let body = class.map(|class| &names.classes[class].definition.body);
    let Some(ClassBody::Long(body)) = body else { return true };
    !body.sections.iter().any(|section| match section {
        Section::Equations { keyword, .. } | Section::Algorithm { keyword, .. } => keyword.end < offset,
        Section::Elements { .. } => false,
    })
}

fn is_input(label: &str, name: &str) -> bool {
    label.split_whitespace().any(|word| word.split('[').next() == Some(name))
}

fn of_function(scopes: &mut Scopes<'_>, function: Symbol) -> Option<SignatureHelp> {
    let library = scopes.library();
    let declaration = scopes.declaration(function)?;
    let inside = called(scopes, function)?;
    let mut inputs = Vec::new();
    for member in scopes.members(inside) {
        if let Some(declared @ Declaration::Component { clause, .. }) = scopes.declaration(member)
            && clause.direction == Some(Direction::Input)
        {
            let label = signature(scopes, member).replacen("input ", "", 1);
            inputs.push((label, text_of(declared.description())));
        }
    }
    let labels: Vec<&str> = inputs.iter().map(|(label, _)| label.as_str()).collect();
    Some(SignatureHelp {
        label: format!("{}({})", library.text(declaration.ident().name), labels.join(", ")),
        description: text_of(declaration.description()),
        inputs,
        active: None,
    })
}

fn of_builtin(name: &str) -> Option<SignatureHelp> {
    let builtin = builtin::find(name).filter(|builtin| builtin.is_function)?;
    let inputs = builtin.signature.split_once('(')?.1.trim_end_matches(')');
    Some(SignatureHelp {
        label: builtin.signature.to_owned(),
        description: builtin.description.to_owned(),
        inputs: inputs.split(", ").filter(|i| !i.is_empty()).map(|i| (i.to_owned(), String::new())).collect(),
        active: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    fn help(text: &str) -> Option<(String, Option<usize>)> {
        let fixture = Fixture::new(text);
        let found = fixture.analysis().signature_help(&fixture.path, fixture.offset)?;
        Some((found.label, found.active))
    }

    const F: &str = "function f input Real u; input Real k[2] = {1, 2}; output Real y; algorithm y := u; end f;";

    #[test]
    fn inputs_of_a_function() {
        let label = "f(Real u, Real k[2] = {1, 2})".to_string();
        assert_eq!(help(&format!("{F} model M Real x = f($0); end M;")), Some((label.clone(), Some(0))));
        assert_eq!(help(&format!("{F} model M Real x; equation x = f(1, $0); end M;")), Some((label.clone(), Some(1))));
        assert_eq!(help(&format!("{F} model M Real x; equation x = f(k = $0); end M;")), Some((label, Some(1))));
    }

    #[test]
    fn operators_of_the_language() {
        assert_eq!(help("model M Real x = max(1, $0); end M;"), Some(("max(x, y)".into(), Some(1))));
        assert_eq!(help("model M Real x = $0; end M;"), None);
    }
}
