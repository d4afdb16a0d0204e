//! What can be done about a message: the fixes it brings, and those that need to look at the text or the libraries.

use std::path::Path;

use saltus::Session;
use saltus_base::{FileId, Fix, Place};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast::{
    Argument, ClassBody, ClassModification, Component, ComponentClause, Element, ElementKind, ElementModification,
    LongClass, Section,
};

use crate::diagnostics::Problem;
use crate::file::File;
use crate::formatting::TextEdit;
use crate::walk;

/// A change of one file with what it does.
#[derive(Clone, PartialEq, Debug)]
pub struct QuickFix {
    pub title: String,
    pub edits: Vec<TextEdit>,
}

impl QuickFix {
    fn insert(title: impl Into<String>, at: u32, text: impl Into<String>) -> Self {
        Self::replace(title, at, at, text)
    }

    fn replace(title: impl Into<String>, start: u32, end: u32, text: impl Into<String>) -> Self {
        Self { title: title.into(), edits: vec![TextEdit { start, end, text: text.into() }] }
    }
}

/// A fix as the message brings it: what it does is known, the exact place may need a look at the text.
#[derive(Clone, PartialEq, Debug)]
pub struct Suggestion {
    pub title: String,
    pub place: Place,
    pub start: u32,
    pub end: u32,
    pub text: String,
}

impl Suggestion {
    /// `None` if it is about another file.
    pub(crate) fn new(fix: &Fix, file: FileId) -> Option<Self> {
        let Fix { title, place, span, text } = fix.clone();
        (span.file == file).then_some(Self { title, place, start: span.start, end: span.end, text })
    }
}

/// Classes that are offered for an import.
const MOST_IMPORTS: usize = 5;

/// All fixes of a problem of the present text.
pub(crate) fn fixes(session: &Session, path: &Path, problem: &Problem) -> Vec<QuickFix> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    problem.suggestions.iter().flat_map(|suggestion| resolve(&file, suggestion)).collect()
}

/// The edits of a suggestion; several where it leaves a choice, none where the text has no such place.
fn resolve(file: &File<'_>, suggestion: &Suggestion) -> Vec<QuickFix> {
    let Suggestion { title, place, start, end, text } = suggestion;
    let span = match place {
        Place::Here => Some((*start, *end)),
        Place::BeforeArgument => argument_start(file, *start, *end).map(|at| (at, at)),
        Place::BeforeElement => element_start(file, *start).map(|at| (at, at)),
        Place::ArgumentName => argument_name(file, *start, *end),
        Place::CommaBefore => file.slice(0, *start).rfind(',').map(|at| (at as u32, at as u32 + 1)),
        Place::Import => return imports(file, *start, *end),
    };
    span.map(|(start, end)| QuickFix::replace(title, start, end, text)).into_iter().collect()
}

/// `import P.Q.Name;` for a class of that name somewhere.
fn imports(file: &File<'_>, start: u32, end: u32) -> Vec<QuickFix> {
    let name = file.slice(start, end);
    let names = walk::names(file.tree, None);
    let Some(class) = file.class_at(&names, start) else { return Vec::new() };
    let ClassBody::Long(body) = &names.classes[class].definition.body else { return Vec::new() };
    let Some(first) = first_element(body) else { return Vec::new() };
    let indent = indent_of(file, first.span.start);
    let statement = |full: &String| {
        QuickFix::insert(format!("Import `{full}`"), first.span.start, format!("import {full};\n{indent}"))
    };
    classes_named(file.library, name).iter().map(statement).collect()
}

fn first_element(body: &LongClass) -> Option<&Element> {
    body.sections.iter().find_map(|section| match section {
        Section::Elements { elements, .. } => elements.first(),
        _ => None,
    })
}

fn indent_of(file: &File<'_>, at: u32) -> String {
    let before = file.slice(0, at);
    before.rsplit('\n').next().unwrap_or("").chars().take_while(|c| c.is_whitespace()).collect()
}

/// Full names of the classes with this name in the packages that are loaded, those with short names first.
fn classes_named(library: &Library, name: &str) -> Vec<String> {
    let wanted = library.intern(name);
    let mut found = Vec::new();
    let mut todo: Vec<ClassId> =
        library.top_level_names().into_iter().filter_map(|name| library.child(library.root(), name)).collect();
    while let Some(class) = todo.pop() {
        let is_top = library.parent(class) == Some(library.root());
        if library.name_of(class) == Some(wanted) && !is_top && !library.is_visibility_protected(class) {
            found.push(library.qualified_name(class));
        }
        todo.extend(library.children(class));
    }
    found.sort_by_key(|full| (full.matches('.').count(), full.clone()));
    found.truncate(MOST_IMPORTS);
    found
}

/// The beginning of the argument whose value stands here.
fn argument_start(file: &File<'_>, start: u32, end: u32) -> Option<u32> {
    let mut place = None;
    for_each_argument(file, &mut |argument| {
        let value = argument.modification.as_ref().and_then(|m| m.value.as_ref()).and_then(|v| v.expr.as_ref());
        if value.is_some_and(|v| v.span.start == start && v.span.end == end) {
            place = Some(argument.span.start);
        }
    });
    place
}

/// The name in the argument of a modification that stands here.
fn argument_name(file: &File<'_>, start: u32, end: u32) -> Option<(u32, u32)> {
    let mut name = None;
    for_each_argument(file, &mut |argument| {
        if let ([part], true) =
            (argument.name.parts.as_slice(), (argument.span.start, argument.span.end) == (start, end))
        {
            name = Some((part.span.start, part.span.end));
        }
    });
    name
}

/// The beginning of the element that declares the name here.
fn element_start(file: &File<'_>, name: u32) -> Option<u32> {
    let mut place = None;
    for_each_component(file, &mut |element, _, component| {
        if component.name.span.start == name {
            place = Some(element.span.start);
        }
    });
    let names = walk::names(file.tree, None);
    let class = names.classes.iter().find(|node| node.definition.name.span.start == name);
    place.or(class.map(|node| node.definition.span.start))
}

/// What can be done with a declaration, whether something is wrong or not.
pub(crate) fn assists(session: &Session, path: &Path, offset: u32) -> Vec<QuickFix> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let mut found = Vec::new();
    for_each_component(&file, &mut |_, clause, component| {
        if component.span.start <= offset && offset <= component.span.end {
            found.extend(add_fixed(&file, component));
            found.extend(add_description(clause, component));
        }
    });
    found
}

/// `fixed = true` behind a `start` without it.
fn add_fixed(file: &File<'_>, component: &Component) -> Option<QuickFix> {
    let class = component.modification.as_ref()?.class.as_ref()?;
    let named =
        |name: &str| arguments(class).find(|a| a.name.parts.iter().map(|part| file.library.text(part.name)).eq([name]));
    let start = named("start").filter(|_| named("fixed").is_none())?;
    let each = if start.is_each { "each " } else { "" };
    Some(QuickFix::insert("Add `fixed = true`", start.span.end, format!(", {each}fixed = true")))
}

fn add_description(clause: &ComponentClause, component: &Component) -> Option<QuickFix> {
    let is_bare = component.comment.description.parts.is_empty() && component.comment.annotation.is_none();
    let is_last = clause.components.last().is_some_and(|last| last.name.span == component.name.span);
    (is_bare && is_last && component.condition.is_none())
        .then(|| QuickFix::insert("Add a description", component.span.end, " \"\""))
}

fn arguments(class: &ClassModification) -> impl Iterator<Item = &ElementModification> {
    class.arguments.iter().filter_map(|argument| match argument {
        Argument::Modification(m) => Some(m),
        _ => None,
    })
}

fn for_each_component<'a>(file: &File<'a>, visit: &mut dyn FnMut(&'a Element, &'a ComponentClause, &'a Component)) {
    for node in &walk::names(file.tree, None).classes {
        let ClassBody::Long(body) = &node.definition.body else { continue };
        for section in &body.sections {
            let Section::Elements { elements, .. } = section else { continue };
            for element in elements {
                if let ElementKind::Components(clause) = &element.kind {
                    clause.components.iter().for_each(|component| visit(element, clause, component));
                }
            }
        }
    }
}

/// All `name = value` and `name(…)` in modifications of components and base classes.
fn for_each_argument<'a>(file: &File<'a>, visit: &mut dyn FnMut(&'a ElementModification)) {
    fn inside<'a>(class: &'a ClassModification, visit: &mut dyn FnMut(&'a ElementModification)) {
        for argument in arguments(class) {
            visit(argument);
            if let Some(nested) = argument.modification.as_ref().and_then(|m| m.class.as_ref()) {
                inside(nested, visit);
            }
        }
    }
    for_each_component(file, &mut |_, _, component| {
        if let Some(class) = component.modification.as_ref().and_then(|m| m.class.as_ref()) {
            inside(class, visit);
        }
    });
    for node in &walk::names(file.tree, None).classes {
        match &node.definition.body {
            ClassBody::Short(short) => short.modification.iter().for_each(|class| inside(class, visit)),
            ClassBody::Long(body) => {
                for section in &body.sections {
                    let Section::Elements { elements, .. } = section else { continue };
                    for element in elements {
                        if let ElementKind::Extends(extends) = &element.kind {
                            extends.modification.iter().for_each(|class| inside(class, visit));
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::apply;
    use crate::fixture::Fixture;

    /// The text after the first fix of the first problem of a class, or of the syntax; then it has fewer problems.
    fn fixed(text: &str) -> String {
        let fixture = Fixture::new(text);
        let analysis = fixture.analysis();
        let mut problems = analysis.syntax_problems(&fixture.path);
        if problems.is_empty() {
            let classes = analysis.checkable_classes(&fixture.path);
            problems = classes.iter().flat_map(|class| analysis.problems(&fixture.path, class)).collect();
        }
        let fixes = problems.iter().flat_map(|problem| analysis.fixes(&fixture.path, problem));
        let Some(fix) = fixes.into_iter().next() else { return format!("no fix for {problems:?}") };
        apply(&fixture.text(), &fix.edits)
    }

    #[test]
    fn syntax() {
        let cases = [
            ("E0101", "model M Real x = “a”; end M;", "model M Real x = \"a”; end M;"),
            ("E0101", "model M Real x = 1 − 2; end M;", "model M Real x = 1 - 2; end M;"),
            ("E0105", "model M Boolean b = 1 != 2; end M;", "model M Boolean b = 1 <> 2; end M;"),
            ("E0106", "model M \"a\\q\" end M;", "model M \"a\\\\q\" end M;"),
            ("E0109", "model M Real x\n Real y; end M;", "model M Real x;\n Real y; end M;"),
            ("E0112", "model M Real x = sin(1]; end M;", "model M Real x = sin(1); end M;"),
            ("E0113", "model M end N;", "model M end M;"),
            ("E0119", "model M Real x; equation x := 1; end M;", "model M Real x; equation x = 1; end M;"),
            ("E0120", "function f algorithm x = 1; end f;", "function f algorithm x := 1; end f;"),
            ("E0121", "model M Real x; equation x == 1; end M;", "model M Real x; equation x = 1; end M;"),
            ("E0121", "model M Real x(start == 1); end M;", "model M Real x(start = 1); end M;"),
            (
                "E0124",
                "model M equation if true then elsif false then end if; end M;",
                "model M equation if true then elseif false then end if; end M;",
            ),
            ("E0141", "model M \"a\" \"b\" end M;", "model M \"a\" + \"b\" end M;"),
            ("E0144", "model M parameter parameter Real x; end M;", "model M parameter  Real x; end M;"),
            ("E0147", "model M Real x[] = {1}; end M;", "model M Real x[:] = {1}; end M;"),
            ("E0149", "model M Real x = max(1, 2,); end M;", "model M Real x = max(1, 2); end M;"),
            ("E0150", "model M; Real x; end M;", "model M Real x; end M;"),
        ];
        for (code, text, expected) in cases {
            assert_eq!(fixed(text), expected, "{code}");
        }
    }

    #[test]
    fn names() {
        let cases = [
            (
                "E0202",
                "model M Real height; equation hight = 1; end M;",
                "model M Real height; equation height = 1; end M;",
            ),
            (
                "E0201",
                "model Spring end Spring; model M Sprng s; end M;",
                "model Spring end Spring; model M Spring s; end M;",
            ),
            (
                "E0203",
                "model A Real x; end A; model M A a; equation a.X = 1; end M;",
                "model A Real x; end A; model M A a; equation a.x = 1; end M;",
            ),
            ("E0227", "model M Real x(strat = 1) = 1; end M;", "model M Real x(start = 1) = 1; end M;"),
            (
                "E0214",
                "model A Real x; end A; model M A a(X = 1); end M;",
                "model A Real x; end A; model M A a(x = 1); end M;",
            ),
        ];
        for (code, text, expected) in cases {
            assert_eq!(fixed(text), expected, "{code}");
        }
    }

    #[test]
    fn rules() {
        let cases = [
            (
                "E0241",
                "model A Real x; end A; model M A a[2](x = 1); end M;",
                "model A Real x; end A; model M A a[2](each x = 1); end M;",
            ),
            ("H0723", "model M Real x(unit = \"Nm\") = 1; end M;", "model M Real x(unit = \"N.m\") = 1; end M;"),
            ("E0248", "package P Real c = 1; end P;", "package P constant Real c = 1; end P;"),
            (
                "E0209",
                "package P model A end A; end P; model B end B; package Q = P(redeclare model A = B);",
                "package P replaceable model A end A; end P; model B end B; package Q = P(redeclare model A = B);",
            ),
            (
                "E0201",
                "package P model Motor end Motor; end P; model M Motor m; end M;",
                "package P model Motor end Motor; end P; model M import P.Motor;\nMotor m; end M;",
            ),
        ];
        for (code, text, expected) in cases {
            assert_eq!(fixed(text), expected, "{code}");
        }
    }

    #[test]
    fn assists() {
        let fixture = Fixture::new("model M Real x$0(start = 1); end M;");
        let found = fixture.analysis().assists(&fixture.path, fixture.offset);
        let texts: Vec<String> = found.iter().map(|fix| apply(&fixture.text(), &fix.edits)).collect();
        let expected = ["model M Real x(start = 1, fixed = true); end M;", "model M Real x(start = 1) \"\"; end M;"];
        assert_eq!(texts, expected);
    }
}
