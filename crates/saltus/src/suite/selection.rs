//! Which models of a library are tests, and what their annotations say about that.
//!
//! ```modelica
//! model Ball … annotation(experiment(StopTime = 3)); end Ball;                               // a test
//! model Loop … annotation(experiment(StopTime = 1), TestCase(shouldPass = false)); end Loop; // one that must fail
//! ```

use saltus_library::annotations::{annotation_of, class_modification, named};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast::{ClassDef, ClassKind, ClassModification, ElementModification, ExprKind};

use super::references::References;

/// Names of all models in these classes and below that have an `experiment` annotation with a stop time, or a reference.
pub fn tests(library: &Library, roots: &[ClassId], references: Option<&References>) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<(ClassId, u32)> = roots.iter().map(|&id| (id, 0)).collect();
    while let Some((id, depth)) = open.pop() {
        let Some(definition) = library.definition(id) else { continue };
        let is_model = matches!(definition.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class);
        if is_model && !definition.is_partial {
            let name = library.qualified_name(id);
            if has_experiment(library, definition) || references.is_some_and(|r| r.file(&name).is_some()) {
                found.push(name);
            }
        }
        if depth < 64 && !matches!(definition.kind, ClassKind::Function | ClassKind::Record | ClassKind::Type) {
            open.extend(library.children(id).into_iter().map(|child| (child, depth + 1)));
        }
    }
    // What the settings promise is run, or else reported as missing.
    let roots: Vec<String> = roots.iter().map(|id| library.qualified_name(*id)).collect();
    let listed = references.into_iter().flat_map(References::listed);
    found.extend(listed.filter(|name| roots.iter().any(|root| is_below(name, root))).map(str::to_owned));
    found.sort();
    found.dedup();
    found
}

/// Is this the class `root`, or one inside of it?
pub fn is_below(class: &str, root: &str) -> bool {
    class.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn has_experiment(library: &Library, definition: &ClassDef) -> bool {
    let experiment = annotation_of(definition).and_then(|a| class_modification(first(library, a, "experiment")?));
    experiment.is_some_and(|e| first(library, e, "StopTime").is_some())
}

/// `TestCase(shouldPass = false)` (specification, chapter 18): translation or simulation must fail. Older libraries write it
/// inside of `__ModelicaAssociation`.
pub fn must_fail(library: &Library, id: ClassId) -> bool {
    let Some(outer) = library.definition(id).and_then(annotation_of) else { return false };
    let inner = first(library, outer, "__ModelicaAssociation").and_then(class_modification);
    let test_case = [Some(outer), inner].into_iter().flatten().find_map(|a| first(library, a, "TestCase"));
    let should_pass = test_case.and_then(class_modification).and_then(|t| first(library, t, "shouldPass"));
    let value = should_pass.and_then(|m| m.modification.as_ref()?.value.as_ref()?.expr.as_ref());
    value.is_some_and(|v| matches!(v.kind, ExprKind::Boolean(false)))
}

fn first<'a>(library: &Library, within: &'a ClassModification, name: &str) -> Option<&'a ElementModification> {
    named(within, library.intern(name)).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use saltus_library::MemoryFiles;

    fn session(text: &str) -> Session {
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        session.set_text("P.mo", text);
        session
    }

    #[test]
    fn models_with_a_stop_time_are_found() {
        let session = session(
            "package P
            package Q model B annotation(experiment(StopTime = 1)); end B; end Q;
            model A annotation(Icon(), experiment(Interval = 1, StopTime = 2)); end A;
            partial model C annotation(experiment(StopTime = 2)); end C;
            model D annotation(experiment(Interval = 1)); end D;
            function F annotation(experiment(StopTime = 2)); end F;
            end P;",
        );
        assert_eq!(super::tests(session.library(), session.own_classes(), None), ["P.A", "P.Q.B"]);
    }

    #[test]
    fn test_cases_say_whether_they_must_fail() {
        let session = session(
            "package P
            model A annotation(TestCase(shouldPass = false)); end A;
            model B annotation(__ModelicaAssociation(TestCase(shouldPass = false))); end B;
            model C annotation(TestCase(shouldPass = true)); end C;
            model D annotation(TestCase); end D;
            model E end E;
            end P;",
        );
        let library = session.library();
        let found = ["P.A", "P.B", "P.C", "P.D", "P.E"].map(|name| must_fail(library, library.find(name).expect(name)));
        assert_eq!(found, [true, true, false, false, false]);
    }

    #[test]
    fn a_class_is_below_itself_and_its_packages() {
        let found = [("P.A", "P"), ("P", "P"), ("PA", "P"), ("P", "P.A")].map(|(class, root)| is_below(class, root));
        assert_eq!(found, [true, true, false, false]);
    }
}
