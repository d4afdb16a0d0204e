//! Names of a file that lead nowhere, with the reason: how complete the lookup is.

use std::path::Path;

use saltus::Session;

use crate::file::File;
use crate::resolve::{Meaning, Resolver};
use crate::walk::{self, Role};

/// How many names a file has, and which lead to no declaration.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Unresolved {
    pub n_names: usize,
    /// Names that lead to a declaration.
    pub n_declared: usize,
    /// Words of the language: operators, attributes, predefined types.
    pub n_predefined: usize,
    /// The others: place, and what they are part of.
    pub lost: Vec<(u32, u32, &'static str)>,
}

pub(crate) fn unresolved(session: &Session, path: &Path) -> Unresolved {
    let mut found = Unresolved::default();
    let Some(file) = File::open(session, path) else { return found };
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    for occurrence in &names.occurrences {
        let meaning = resolver.meaning(occurrence);
        if occurrence.in_annotation && meaning.is_none() {
            continue;
        }
        found.n_names += 1;
        match meaning {
            Some(Meaning::Symbol(_) | Meaning::Iterator(_)) => found.n_declared += 1,
            Some(Meaning::Attribute(_) | Meaning::Builtin(_)) => found.n_predefined += 1,
            None => {
                let span = occurrence.ident.span;
                found.lost.push((span.start, span.end, role_name(occurrence.role)));
            }
        }
    }
    found
}

fn role_name(role: Role<'_>) -> &'static str {
    match role {
        Role::Class(_) => "class",
        Role::Component => "component",
        Role::Literal(_) => "literal",
        Role::Iterator(_) => "iterator",
        Role::Path { .. } => "name of a class",
        Role::Reference { call: Some(_), .. } => "function",
        Role::Reference { .. } => "reference",
        Role::Modified { .. } => "modification",
        Role::Redeclared { .. } => "redeclaration",
        Role::Argument { .. } => "named argument",
        Role::Field { .. } => "field of an expression",
        Role::Within { .. } => "connection",
        Role::Annotated { .. } => "annotation",
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    #[test]
    fn names_are_counted() {
        let fixture = Fixture::new("model M Real x(start = 1); equation der(x) = y; end M;");
        let found = fixture.analysis().unresolved(&fixture.path);
        // M, Real, x, x, M lead somewhere; start and der belong to the language.
        assert_eq!((found.n_names, found.n_declared, found.n_predefined), (8, 5, 2));
        assert_eq!(found.lost.iter().map(|(_, _, role)| *role).collect::<Vec<_>>(), ["reference"]);
    }
}
