//! Where a name is declared, and where the class of what it means is.

use std::path::Path;

use saltus::Session;

use crate::file::File;
use crate::resolve::Meaning;
use crate::target::{FileRange, NavigationTarget, SymbolKind};

/// The declaration of the name at a byte, after redeclarations.
pub(crate) fn definition(session: &Session, path: &Path, offset: u32) -> Option<NavigationTarget> {
    let file = File::open(session, path)?;
    file.with_name_at(offset, |resolver, occurrence, meaning| match meaning? {
        Meaning::Symbol(symbol) => NavigationTarget::of_symbol(&resolver.scopes, symbol),
        Meaning::Iterator(declared) => {
            let place = FileRange::of(file.library, declared)?;
            Some(NavigationTarget {
                name: file.library.text(occurrence.ident.name).to_owned(),
                kind: SymbolKind::Iterator,
                container: String::new(),
                description: String::new(),
                full: place.clone(),
                focus: place,
            })
        }
        Meaning::Attribute(_) | Meaning::Builtin(_) => None,
    })
}

/// The first declaration of the name at a byte, which others may redeclare.
pub(crate) fn declaration(session: &Session, path: &Path, offset: u32) -> Option<FileRange> {
    let file = File::open(session, path)?;
    file.with_name_at(offset, |resolver, _, meaning| match meaning? {
        Meaning::Symbol(symbol) => FileRange::of(file.library, resolver.scopes.origin(symbol)),
        Meaning::Iterator(declared) => FileRange::of(file.library, declared),
        Meaning::Attribute(_) | Meaning::Builtin(_) => None,
    })
}

/// The class of the component at a byte.
pub(crate) fn type_definition(session: &Session, path: &Path, offset: u32) -> Option<NavigationTarget> {
    let file = File::open(session, path)?;
    file.with_name_at(offset, |resolver, _, meaning| {
        let Meaning::Symbol(symbol) = meaning? else { return None };
        let class = resolver.scopes.class_of(symbol).unwrap_or(symbol);
        NavigationTarget::of_symbol(&resolver.scopes, class)
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    /// `container.name` of the definition at the mark.
    fn definition(text: &str) -> String {
        let fixture = Fixture::new(text);
        let found = fixture.analysis().definition(&fixture.path, fixture.offset);
        found.map_or("nothing".into(), |t| format!("{}.{}", t.container, t.name))
    }

    #[test]
    fn names_lead_to_their_declarations() {
        assert_eq!(definition("model M Real x; equation $0x = 1; end M;"), "M.x");
        assert_eq!(definition("model M Real x; equation x$0 = 1; end M;"), "M.x", "at the end of the name");
        assert_eq!(definition("model A Real x; end A; model M A a; equation a.$0x = 1; end M;"), "A.x");
        assert_eq!(definition("model A Real x; end A; model M A a[2]; equation a[1].$0x = 1; end M;"), "A.x");
        assert_eq!(definition("model M Real x; end $0M;"), ".M");
        assert_eq!(definition("package P type E = enumeration(a, b); E e = E.$0b; end P;"), "P.E.b");
    }

    #[test]
    fn through_extends_imports_and_modifications() {
        let base = "package P model B Real x; end B; end P;";
        assert_eq!(definition(&format!("{base} model M extends P.B; equation $0x = 1; end M;")), "P.B.x");
        assert_eq!(definition(&format!("{base} model M extends P.B($0x = 1); end M;")), "P.B.x");
        assert_eq!(definition(&format!("{base} model M import Q = P.B; $0Q q; end M;")), "P.B");
        assert_eq!(definition(&format!("{base} model M import P.*; B b($0x = 1); end M;")), "P.B.x");
        assert_eq!(definition(&format!("{base} model M import P.{{$0B}}; end M;")), "P.B");
        assert_eq!(definition(&format!("{base} model M = P.B($0x = 1);")), "P.B.x");
    }

    #[test]
    fn through_redeclarations() {
        let text = "package P replaceable model B Real x; end B; end P;
            model C Real x; Real y; end C;
            package Q = P(redeclare model B = C);
            model M Q.B b; equation b.$0y = 1; end M;";
        assert_eq!(definition(text), "C.y");
        let text = "package P replaceable model B Real x; end B; end P;
            model C Real x; end C; package Q = P(redeclare model $0B = C);";
        assert_eq!(definition(text), "P.B");
    }

    #[test]
    fn iterators_and_arguments() {
        assert_eq!(definition("model M Real x[3]; equation for i in 1:3 loop x[$0i] = i; end for; end M;"), ".i");
        let function = "function f input Real a; output Real b; algorithm b := a; end f;";
        assert_eq!(definition(&format!("{function} model M Real x = f($0a = 1); end M;")), "f.a");
        assert_eq!(definition(&format!("{function} model M Real x = $0f(1); end M;")), ".f");
    }

    #[test]
    fn the_intact_part_of_a_broken_text_has_answers() {
        assert_eq!(definition("model A Real x; end A; model M A a; equation a.$0x = ; y = = 2; end M;"), "A.x");
        assert_eq!(definition("model A Real x; end A; model M A a; Real y = a.$0x + ; equation"), "A.x");
    }

    #[test]
    fn what_the_language_brings_has_no_place() {
        assert_eq!(definition("model M Real x; equation $0der(x) = 1; end M;"), "nothing");
        assert_eq!(definition("model M $0Real x; end M;"), "nothing");
        assert_eq!(definition("model M Real x($0start = 1); end M;"), "nothing");
    }

    #[test]
    fn the_class_of_a_component() {
        let fixture = Fixture::new("model A end A; model M A $0a; end M;");
        let found = fixture.analysis().type_definition(&fixture.path, fixture.offset);
        assert_eq!(found.map(|t| t.name), Some("A".to_string()));
    }

    #[test]
    fn arguments_of_a_constructor_of_an_external_object() {
        let text = "class Table extends ExternalObject;
            function constructor input String file; output Table t; external \"C\"; end constructor;
            function destructor input Table t; external \"C\"; end destructor; end Table;
            model M Table t = Table(fi$0le = \"a\"); end M;";
        let fixture = Fixture::new(text);
        let found = fixture.analysis().definition(&fixture.path, fixture.offset).unwrap();
        assert_eq!(found.focus.start as usize, fixture.text().find("file;").unwrap());
    }
}
