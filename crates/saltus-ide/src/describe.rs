//! Classes as the command line lists them: what is in a package, what a class offers to its users.

use saltus::Session;
use saltus_frontend::{Declaration, Scopes};
use saltus_library::ClassId;

use crate::hierarchy::all_bases;
use crate::hover::{class_words, documentation, expr_text, path_text, prefix_words};
use crate::target::{SymbolKind, text_of};

/// A class of a package, as a line of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassLine {
    pub name: String,
    /// Such as `partial model`.
    pub words: String,
    pub description: String,
}

/// What a class offers.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassInfo {
    pub name: String,
    pub words: String,
    pub description: String,
    /// Markdown.
    pub documentation: String,
    /// Names of the classes it extends, nearest first.
    pub bases: Vec<String>,
    pub members: Vec<MemberInfo>,
    /// Classes that are declared in it.
    pub classes: Vec<ClassLine>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MemberInfo {
    pub name: String,
    pub kind: SymbolKind,
    pub is_connector: bool,
    /// Prefixes and type, such as `flow Units.Current`.
    pub type_text: String,
    pub unit: String,
    /// The value that holds, as written.
    pub value: String,
    pub description: String,
    /// The class that declares it.
    pub owner: String,
}

/// The classes of a package in their order; those at the top level without a name.
pub(crate) fn list(session: &Session, package: Option<&str>) -> Option<Vec<ClassLine>> {
    let library = session.library();
    let classes: Vec<ClassId> = match package {
        Some(package) => library.children(library.find(package)?),
        None => library.top_level_names().into_iter().filter_map(|name| library.child(library.root(), name)).collect(),
    };
    Some(classes.into_iter().filter_map(|class| class_line(session, class)).collect())
}

pub(crate) fn line(session: &Session, class: &str) -> Option<ClassLine> {
    class_line(session, session.library().find(class)?)
}

pub(crate) fn class_line(session: &Session, class: ClassId) -> Option<ClassLine> {
    let library = session.library();
    let definition = library.definition(class)?;
    let declaration = Declaration::Class { id: class, definition, is_protected: false };
    Some(ClassLine {
        name: library.text(definition.name.name).to_owned(),
        words: class_words(definition),
        description: text_of(declaration.description()),
    })
}

pub(crate) fn info(session: &Session, class: &str) -> Option<ClassInfo> {
    let library = session.library();
    let id = library.find(class)?;
    let definition = library.definition(id)?;
    let mut scopes = Scopes::new(library);
    let scope = scopes.class_scope(id)?;
    let line = class_line(session, id)?;
    let around = scopes.class_scope(library.parent(id)?)?;
    let symbol = scopes.member(around, definition.name.name);
    let mut members = Vec::new();
    for member in scopes.members(scope) {
        let Some(declaration @ Declaration::Component { owner, clause, component, is_protected: false }) =
            scopes.declaration(member)
        else {
            continue;
        };
        let class = scopes.class_of(member);
        let is_connector = class
            .and_then(|class| scopes.declaration(class))
            .is_some_and(|d| matches!(d, Declaration::Class { .. } if SymbolKind::of(d) == SymbolKind::Connector));
        let type_name = class.and_then(|class| scopes.class_id(class)).map(|class| library.qualified_name(class));
        let mut words: Vec<String> = prefix_words(clause).into_iter().map(str::to_owned).collect();
        words.push(type_name.unwrap_or_else(|| path_text(library, &clause.type_name)));
        let unit = scopes.value(member, Some("unit")).map_or("", |unit| expr_text(library, unit));
        let value = scopes.value(member, None).map_or("", |value| expr_text(library, value));
        members.push(MemberInfo {
            name: library.text(component.name.name).to_owned(),
            kind: SymbolKind::of(declaration),
            is_connector,
            type_text: words.join(" "),
            unit: unit.trim_matches('"').to_owned(),
            value: value.split_whitespace().collect::<Vec<_>>().join(" "),
            description: text_of(declaration.description()),
            owner: library.qualified_name(owner),
        });
    }
    Some(ClassInfo {
        name: library.qualified_name(id),
        words: line.words,
        description: line.description,
        documentation: documentation(library, definition),
        bases: symbol.map(|symbol| all_bases(&mut scopes, symbol)).unwrap_or_default(),
        members,
        classes: library.children(id).into_iter().filter_map(|class| class_line(session, class)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    #[test]
    fn a_class_lists_inherited_members_with_their_values() {
        let text = "package P \"Parts\" partial model A parameter Real k(unit = \"m\") = 1; end A;
            model B \"Second\" extends A(k = 2); protected Real hidden; end B; end P;";
        let fixture = Fixture::new(text);
        let list = fixture.analysis().list(Some("P")).unwrap();
        let lines: Vec<_> = list.iter().map(|l| (l.name.as_str(), l.words.as_str(), l.description.as_str())).collect();
        assert_eq!(lines, [("A", "partial model", ""), ("B", "model", "Second")]);
        let info = fixture.analysis().info("P.B").unwrap();
        assert_eq!((info.name.as_str(), info.bases.clone()), ("P.B", vec!["P.A".to_string()]));
        let k = &info.members[0];
        assert_eq!((k.name.as_str(), k.unit.as_str(), k.value.as_str(), k.owner.as_str()), ("k", "m", "2", "P.A"));
        assert_eq!(info.members.len(), 1, "protected ones are not offered");
    }
}
