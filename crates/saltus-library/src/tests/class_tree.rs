//! The class tree: nested classes, visibility, classes inside modifications.

use saltus_syntax::ast::{Argument, ClassDef, ElementKind, RedeclarationKind, Section};

use super::{children, library, messages};
use crate::{ClassId, Library, MemoryFiles, Store};

#[test]
fn nested_classes_have_definitions_elements_parents_and_visibility() {
    let library = library(&[]);
    let text = "package P
  replaceable model A = B constrainedby C;
  model D
    type T = Real;
  protected
    function f end f;
  end D;
end P;";
    let loaded = library.load_text("p.mo", text);
    assert_eq!(loaded.len(), 1);
    let p = loaded[0];
    assert_eq!(children(&library, "P"), ["A", "D"]);
    assert_eq!(library.definition(library.root()).map(|d| d.span), None);
    assert_eq!((library.parent(p), library.parent(library.root())), (Some(library.root()), None));
    assert_eq!(library.name_of(library.root()), None);
    assert_eq!(library.qualified_name(library.root()), "");

    let Some(a) = library.find("P.A") else { panic!("P.A is declared") };
    let element = library.element(a).map(|e| (e.prefixes.is_replaceable, e.constrained_by.is_some()));
    assert_eq!(element, Some((true, true)));
    assert!(library.element(p).is_none());

    let found =
        |path: &str| library.find(path).map(|id| (library.qualified_name(id), library.is_visibility_protected(id)));
    assert_eq!(found("P.D.T"), Some(("P.D.T".into(), false)));
    assert_eq!(found(".P.D.f"), Some(("P.D.f".into(), true)));
    assert_eq!(found("P.f"), None);
    assert_eq!(library.find("P.D").and_then(|d| library.parent(d)), Some(p));
    assert_eq!(messages(&library), "");
}

#[test]
fn the_ids_of_one_library_mean_nothing_to_another() {
    let store = Store::new(Box::new(MemoryFiles::new()));
    let [old, new] = [Library::over(&store), Library::over(&store)];
    let stale = old.load_text("p.mo", "package P model A end A; end P;")[0];
    let current = new.load_text("p.mo", "package Q model A end A; end Q;")[0];
    assert_ne!(stale, current);
    assert!(new.definition(stale).is_none() && new.name_of(stale).is_none() && new.children(stale).is_empty());
    assert!(new.child(stale, new.intern("A")).is_none() && new.child(current, new.intern("A")).is_some());
    assert_eq!((new.qualified_name(stale).as_str(), new.qualified_name(current).as_str()), ("", "Q"));
}

#[test]
fn references_stay_valid_while_more_is_loaded() {
    let library = library(&[("lib/P.mo", "package P model A end A; end P;")]);
    let first = library.load_text("m.mo", "model M end M;");
    let definition = library.definition(first[0]);
    let name = definition.map(|d| library.text(d.name.name));
    for i in 0..200 {
        library.load_text(&format!("m{i}.mo"), &format!("model M{i} model N end N; end M{i};"));
        assert!(library.find(&format!("M{i}.N")).is_some());
    }
    assert!(library.find("P.A").is_some());
    assert_eq!((name, definition.map(|d| d.span.start)), (Some("M"), Some(0)));
}

#[test]
fn a_second_class_of_the_same_name_is_reported_once() {
    let library = library(&[]);
    library.load_text("p.mo", "package P\n  model A end A;\n  type A = Real;\nend P;");
    let names = children(&library, "P");
    assert_eq!(names, ["A"]);
    library.find("P.A.x");
    assert_eq!(
        messages(&library),
        "\
E0010 p.mo:3:8: a second class `A` in `P`; the first one is used
  p.mo:2:9: the first is here
  hint: rename or remove one of the two"
    );
}

/// The modification arguments of the first component, `extends` or short class in `class`.
fn redeclared_class(class: &ClassDef) -> Option<&ClassDef> {
    let saltus_syntax::ast::ClassBody::Long(body) = &class.body else { return None };
    let Some(Section::Elements { elements, .. }) = body.sections.first() else { return None };
    let arguments = elements.iter().find_map(|element| match &element.kind {
        ElementKind::Components(clause) => {
            Some(&clause.components.last()?.modification.as_ref()?.class.as_ref()?.arguments)
        }
        ElementKind::Extends(extends) => Some(&extends.modification.as_ref()?.arguments),
        _ => None,
    })?;
    class_in(arguments)
}

fn class_in(arguments: &[Argument]) -> Option<&ClassDef> {
    arguments.iter().find_map(|argument| match argument {
        Argument::Modification(m) => class_in(&m.modification.as_ref()?.class.as_ref()?.arguments),
        Argument::Redeclaration(redeclaration) => match &redeclaration.kind {
            RedeclarationKind::Class(class) => Some(class),
            RedeclarationKind::Component(clause) => {
                class_in(&clause.components.first()?.modification.as_ref()?.class.as_ref()?.arguments)
            }
        },
        _ => None,
    })
}

/// Registers the class inside a modification of `M` and returns its id.
fn add_redeclared(library: &Library, text: &str) -> (ClassId, ClassId) {
    let m = library.load_text("m.mo", text)[0];
    let redeclared = library.definition(m).and_then(redeclared_class);
    let Some(redeclared) = redeclared else { panic!("no redeclared class in {text}") };
    let id = library.add_class(m, redeclared, None);
    let same = library.definition(id).is_some_and(|definition| std::ptr::eq(definition, redeclared));
    assert!(same, "{text}");
    assert_eq!(library.add_class(m, redeclared, None), id, "the same class has the same id");
    (m, id)
}

#[test]
fn classes_inside_modifications_are_anonymous() {
    for text in [
        "model M C a, c(p=1, redeclare model R = S); end M;",
        "model M C c(d(e(redeclare model R = S))); end M;",
        "model M C c(redeclare D d(p=1, redeclare model R = S)); end M;",
        "model M extends C(p=1, redeclare replaceable model R = S constrainedby T); end M;",
    ] {
        let library = library(&[]);
        let (m, r) = add_redeclared(&library, text);
        assert_eq!((library.parent(r), library.qualified_name(r)), (Some(m), "M.R".to_string()));
        assert_eq!(library.child(m, library.intern("R")), None);
        assert!(library.children(m).is_empty() && library.element(r).is_none());
    }
}

#[test]
fn a_class_inside_a_modification_has_children_of_its_own() {
    let library = library(&[]);
    let (_, r) = add_redeclared(&library, "model M extends C(redeclare model R model N end N; end R); end M;");
    let n = library.child(r, library.intern("N"));
    assert_eq!(n.map(|n| library.qualified_name(n)).as_deref(), Some("M.R.N"));
    assert_eq!(n.and_then(|n| library.parent(n)), Some(r));
}

#[test]
fn the_tree_of_a_broken_file_is_used() {
    let library = library(&[("lib/P.mo", "package P\n  model A\n    Real x = ;\n  end A;\n  model B end B;\nend P;")]);
    assert!(library.find("P.B").is_some());
    let found = library.diagnostics();
    assert!(found.iter().all(|d| d.code.0.starts_with("E01")), "{found:?}");
    assert_eq!(found.n_errors(), 1);
    library.find("P.A");
    assert_eq!(library.diagnostics().len(), 1, "said once");
}
