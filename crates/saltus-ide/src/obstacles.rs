//! Names that are tied to other declarations or to the language: to rename one of them alone would change a model.
//!
//! A connector fits another one whose elements have the same names, a class takes the place of another one with the same
//! interface, `inner` and `outer` find each other by name. None of these is a use of the name that a lookup would find.

use std::path::{Path, PathBuf};

use saltus::Session;
use saltus_base::{Name, Span};
use saltus_frontend::{Declaration, Scope, Scopes, Symbol};
use saltus_syntax::ast::{ClassBody, ClassKind};

use crate::file::File;
use crate::references::{Wanted, origin_of};
use crate::resolve::{Meaning, Resolver};
use crate::walk::{self, Connected, Names, Replaced, Replacement, Role};

/// Connectors in connectors that are compared.
const DEEPEST: usize = 4;

/// Functions that the language calls by their name.
const CALLED_BY_NAME: [&str; 3] = ["constructor", "destructor", "equalityConstraint"];

/// Why the declaration as such has to keep its name.
pub(crate) fn of_declaration(scopes: &mut Scopes<'_>, symbol: Symbol) -> Option<String> {
    let Declaration::Class { id, definition, .. } = scopes.declaration(symbol)? else { return None };
    let library = scopes.library();
    let name = library.text(definition.name.name);
    let parent = library.parent(id).and_then(|parent| library.definition(parent));
    let is_operator = parent.is_some_and(|p| matches!(p.kind, ClassKind::Operator | ClassKind::OperatorRecord));
    let is_function =
        matches!(definition.kind, ClassKind::Function | ClassKind::Operator | ClassKind::OperatorFunction);
    if is_function && (CALLED_BY_NAME.contains(&name) || is_operator && name.starts_with('\'')) {
        return Some(format!("the language calls `{name}` by this name"));
    }
    match &definition.body {
        ClassBody::Long(body) if body.external.as_ref().is_some_and(|external| external.call.is_none()) => {
            Some(format!("the external function has this name; write `external \"C\" {name}(…)` first"))
        }
        _ => None,
    }
}

/// Why the name has to stay in spite of all uses being known.
pub(crate) fn of_uses(session: &Session, files: &[PathBuf], wanted: Wanted) -> Option<String> {
    let nature = Nature::of(session, wanted);
    files.iter().find_map(|path| of_file(session, path, wanted, nature))
}

/// What the declaration says about the ways in which its name counts.
#[derive(Clone, Copy, Default)]
struct Nature {
    is_inner_or_outer: bool,
    /// It may be an element of a connector.
    is_connected: bool,
}

impl Nature {
    fn of(session: &Session, wanted: Wanted) -> Self {
        let library = session.library();
        let source = library.source(wanted.origin.file);
        let Some(file) = source.and_then(|source| File::open(session, Path::new(&source.path))) else {
            return Self::default();
        };
        let names = walk::names(file.tree, Some(wanted.origin.start));
        let mut resolver = Resolver::new(&file, &names);
        let declared = names.occurrences.iter().find(|o| o.ident.span == wanted.origin);
        let Some(Meaning::Symbol(symbol)) = declared.and_then(|declared| resolver.meaning(declared)) else {
            return Self::default();
        };
        let Some(Declaration::Component { owner, .. }) = resolver.scopes.declaration(symbol) else {
            return Self::default();
        };
        let kind = library.definition(owner).map(|owner| owner.kind);
        let is_connected =
            !matches!(kind, Some(ClassKind::Model | ClassKind::Block | ClassKind::Function | ClassKind::Package));
        Self { is_inner_or_outer: is_inner_or_outer(&resolver.scopes, Meaning::Symbol(symbol)), is_connected }
    }
}

fn of_file(session: &Session, path: &Path, wanted: Wanted, nature: Nature) -> Option<String> {
    let file = File::open(session, path)?;
    let is_concerned = file.text.contains(file.library.text(wanted.name));
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    let line = |at: u32| file.lines.line_column(file.text, at).line;
    if is_concerned {
        for occurrence in names.occurrences.iter().filter(|o| o.ident.name == wanted.name) {
            let at = line(occurrence.ident.span.start);
            let meaning = resolver.meaning(occurrence);
            if matches!(occurrence.role, Role::Field { .. }) && meaning.is_none() {
                return Some(format!(
                    "in line {at} of `{}` it stands behind an expression of unknown type",
                    path.display()
                ));
            }
            if let (Role::Component, Some(meaning), true) = (occurrence.role, meaning, nature.is_inner_or_outer)
                && origin_of(&resolver, meaning) != Some(wanted.origin)
                && is_inner_or_outer(&resolver.scopes, meaning)
            {
                let why = "`inner` and `outer` elements find each other by name";
                return Some(format!("{why}, and there is another one in line {at} of `{}`", path.display()));
            }
        }
    }
    for connected in names.connections.iter().filter(|_| nature.is_connected) {
        if let Some(end) = unlike_ends(&mut resolver, connected, wanted) {
            return Some(format!(
                "in line {} of `{}` it is connected to a connector with a `{}` of its own",
                line(end.start),
                path.display(),
                file.library.text(wanted.name)
            ));
        }
    }
    for replaced in &names.redeclarations {
        if is_replaced_by_another(&mut resolver, &names, replaced, wanted) {
            return Some(format!(
                "in line {} of `{}` a class with a `{}` of its own takes the place of this one",
                line(replaced.name.span.start),
                path.display(),
                file.library.text(wanted.name)
            ));
        }
    }
    None
}

fn is_inner_or_outer(scopes: &Scopes<'_>, meaning: Meaning) -> bool {
    let Meaning::Symbol(symbol) = meaning else { return false };
    matches!(scopes.declaration(symbol), Some(Declaration::Component { clause, .. }) if clause.prefixes.is_inner || clause.prefixes.is_outer)
}

/// The second end of a connection, if one has the element and the other one another element of this name.
fn unlike_ends(resolver: &mut Resolver<'_, '_>, connected: &Connected<'_>, wanted: Wanted) -> Option<Span> {
    let Connected { class, from, to } = *connected;
    let mut end = |reference: &saltus_syntax::ast::ComponentRef| {
        let symbol = resolver.reference(class, reference, reference.parts.len().checked_sub(1)?)?;
        resolver.scopes.inside(symbol)
    };
    let (from_end, to_end) = (end(from)?, end(to)?);
    differ(&mut resolver.scopes, from_end, to_end, wanted, DEEPEST).then_some(to.span)
}

/// One class has the element, and the other one another element of the same name, also further inside.
fn differ(scopes: &mut Scopes<'_>, one: Scope, other: Scope, wanted: Wanted, depth: usize) -> bool {
    if depth == 0 || scopes.class_of_scope(one) == scopes.class_of_scope(other) {
        return false;
    }
    let origins = [one, other].map(|scope| origin(scopes, scope, wanted.name));
    if let [Some(one), Some(other)] = origins
        && one != other
        && (one == wanted.origin || other == wanted.origin)
    {
        return true;
    }
    let inner: Vec<(Symbol, Name)> = scopes
        .members(one)
        .into_iter()
        .filter_map(|member| match scopes.declaration(member)? {
            Declaration::Component { component, .. } => Some((member, component.name.name)),
            _ => None,
        })
        .collect();
    inner.into_iter().any(|(member, name)| {
        let Some(counterpart) = scopes.member(other, name) else { return false };
        let (Some(one), Some(other)) = (scopes.inside(member), scopes.inside(counterpart)) else { return false };
        differ(scopes, one, other, wanted, depth - 1)
    })
}

fn origin(scopes: &mut Scopes<'_>, scope: Scope, name: Name) -> Option<Span> {
    scopes.member(scope, name).map(|member| scopes.origin(member))
}

/// What is redeclared has the element; its replacement has another one of the same name.
fn is_replaced_by_another(
    resolver: &mut Resolver<'_, '_>,
    names: &Names<'_>,
    replaced: &Replaced<'_>,
    wanted: Wanted,
) -> bool {
    let before: Vec<Symbol> = match replaced.target {
        Some(target) => {
            let target = resolver.target(target).and_then(|target| resolver.scopes.inside(target));
            target.and_then(|target| resolver.scopes.member(target, replaced.name.name)).into_iter().collect()
        }
        None => {
            // The bases as such: seen from the heir they have the replacement already.
            let bases = resolver.scope(replaced.class).map(|scope| resolver.scopes.bases(scope)).unwrap_or_default();
            let mut inherited = |base| {
                let class = resolver.scopes.class_of_scope(base);
                let base = resolver.scopes.class_scope(class)?;
                resolver.scopes.member(base, replaced.name.name)
            };
            bases.into_iter().filter_map(&mut inherited).collect()
        }
    };
    let has_it = before.into_iter().any(|symbol| {
        let inside = resolver.scopes.inside(symbol);
        inside.and_then(|inside| origin(&mut resolver.scopes, inside, wanted.name)) == Some(wanted.origin)
    });
    if !has_it {
        return false;
    }
    let after = match replaced.by {
        Replacement::Class(index) if index < names.classes.len() => resolver.scope(Some(index)),
        Replacement::Class(_) => None,
        Replacement::Type(path) => {
            let how = if path.is_global { walk::Lookup::Global } else { walk::Lookup::Type };
            let class = resolver.path(replaced.class, &path.parts, how);
            class.and_then(|class| resolver.scopes.inside(class))
        }
    };
    let after = after.and_then(|after| origin(&mut resolver.scopes, after, wanted.name));
    after.is_some_and(|after| after != wanted.origin)
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    /// Why the name at the cursor cannot be `z`; empty if it can.
    fn refusal(text: &str) -> String {
        let fixture = Fixture::new(text);
        fixture.analysis().rename(&fixture.path, fixture.offset, "z").err().unwrap_or_default()
    }

    #[test]
    fn connectors_fit_by_the_names_of_their_elements() {
        let pins = "connector A Real v$0; flow Real i; end A; connector B Real v; flow Real i; end B;";
        let text = format!("{pins} model M A a; B b; equation connect(a, b); end M;");
        assert!(refusal(&text).contains("connected to a connector with a `v` of its own"), "{}", refusal(&text));
        assert_eq!(refusal(&format!("{pins} model M A a; A b; equation connect(a, b); end M;")), "");
        let nested = format!(
            "{pins} connector C A p; end C; connector D B p; end D; model M C c; D d; equation connect(c, d); end M;"
        );
        assert!(refusal(&nested).contains("connected"), "{}", refusal(&nested));
    }

    #[test]
    fn replacements_have_the_names_of_what_they_replace() {
        let classes = "model A Real x$0; end A; model B Real x; end B; model C extends A; end C;";
        let text =
            format!("{classes} model M replaceable A a; Real y = a.x; end M; model N extends M(redeclare B a); end N;");
        assert!(refusal(&text).contains("takes the place of this one"), "{}", refusal(&text));
        let heir = text.replace("redeclare B a", "redeclare C a");
        assert_eq!(refusal(&heir), "");
        let class = format!("{classes} model M replaceable model T = A; end M; model N = M(redeclare model T = B);");
        assert!(refusal(&class).contains("takes the place of this one"), "{}", refusal(&class));
        let element = format!(
            "{classes} model M replaceable model T = A; end M; model N extends M; redeclare model T = B; end N;"
        );
        assert!(refusal(&element).contains("takes the place of this one"), "{}", refusal(&element));
    }

    #[test]
    fn inner_and_outer_have_one_name() {
        let text = "model A outer Real w$0; end A; model M inner Real w = 1; A a; end M;";
        assert!(refusal(text).contains("find each other by name"), "{}", refusal(text));
        assert_eq!(refusal("model A Real w$0; end A; model M inner Real w = 1; A a; end M;"), "");
    }

    #[test]
    fn functions_that_are_called_by_name_keep_it() {
        let object = "class T extends ExternalObject; function constr$0uctor output T t; external \"C\" t = f(); end constructor; function destructor input T t; external \"C\" g(t); end destructor; end T;";
        assert_eq!(refusal(object), "the language calls `constructor` by this name");
        let default = "function f$0 input Real x; output Real y; external \"C\"; end f;";
        assert!(refusal(default).contains("the external function has this name"), "{}", refusal(default));
        assert_eq!(refusal("function f$0 input Real x; output Real y; external \"C\" y = f(x); end f;"), "");
        let operator = "operator record R Real x; encapsulated operator function \'+$0\' import R; input R a; input R b; output R c; algorithm c := R(a.x + b.x); end \'+\'; end R;";
        assert!(refusal(operator).contains("by this name"), "{}", refusal(operator));
    }

    #[test]
    fn fields_of_unknown_expressions_are_a_reason() {
        let text = "record R Real x$0; end R; function f output R r; algorithm r.x := 1; end f; model M Real y = (f()).x; end M;";
        assert_eq!(refusal(text), "");
        let unknown = "record R Real x$0; end R; model M R r; Real y = (unknown(r)).x; end M;";
        assert!(refusal(unknown).contains("behind an expression of unknown type"), "{}", refusal(unknown));
    }
}
