//! Classes of the workspace by a part of their name.

use saltus::Session;
use saltus_library::{ClassId, Library};

use crate::describe::{ClassLine, class_line};
use crate::target::{FileRange, NavigationTarget, SymbolKind};

/// More are not looked at by anybody.
const MOST: usize = 200;

/// Classes of the user's files and of everything that is loaded, as far as they are files that an editor can open.
pub(crate) fn workspace_symbols(session: &Session, query: &str) -> Vec<NavigationTarget> {
    let library = session.library();
    classes(library, query).into_iter().filter_map(|class| target(library, class)).take(MOST).collect()
}

/// Those of the user, of the program, and of all libraries that can be found: each with the path of the class that it is in.
pub(crate) fn search(session: &Session, query: &str) -> Vec<(String, ClassLine)> {
    let library = session.library();
    // What the search path promises is read by looking at it.
    for name in library.top_level_names() {
        let _ = library.child(library.root(), name);
    }
    let line = |class: ClassId| {
        let container = library.parent(class).map(|parent| library.qualified_name(parent));
        Some((container.unwrap_or_default(), class_line(session, class)?))
    };
    classes(library, query).into_iter().filter_map(line).take(MOST).collect()
}

/// Classes whose name contains the letters in this order; better ones first.
fn classes(library: &Library, query: &str) -> Vec<ClassId> {
    let mut found = Vec::new();
    let mut todo: Vec<ClassId> = library.children(library.root());
    todo.reverse();
    while let Some(class) = todo.pop() {
        let rank = match query.contains('.') {
            // A part of the path.
            true => rank_of_path(&library.qualified_name(class), query),
            false => library.name_of(class).and_then(|name| rank(library.text(name), query)),
        };
        found.extend(rank.map(|rank| (rank, class)));
        todo.extend(library.children(class).into_iter().rev());
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, class)| class).collect()
}

fn target(library: &Library, class: ClassId) -> Option<NavigationTarget> {
    let definition = library.definition(class)?;
    Some(NavigationTarget {
        name: library.text(definition.name.name).to_owned(),
        kind: SymbolKind::of_class(definition),
        container: library.parent(class).map(|parent| library.qualified_name(parent)).unwrap_or_default(),
        description: String::new(),
        full: FileRange::of(library, definition.span)?,
        focus: FileRange::of(library, definition.name.span)?,
    })
}

/// How well a name fits: the same, begins so, contains it, contains the letters in this order.
fn rank(name: &str, query: &str) -> Option<u8> {
    let (name, query) = (name.to_lowercase(), query.to_lowercase());
    if name == query {
        return Some(0);
    }
    if name.starts_with(&query) {
        return Some(1);
    }
    if name.contains(&query) {
        return Some(2);
    }
    let mut letters = name.chars();
    query.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(3)
}

/// The same for a query with dots: the path is it, ends so, contains it.
fn rank_of_path(path: &str, query: &str) -> Option<u8> {
    let (path, query) = (path.to_lowercase(), query.to_lowercase());
    match path.find(&query)? {
        0 if path.len() == query.len() => Some(0),
        _ if path.ends_with(&query) => Some(1),
        _ => Some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn better_names_come_first() {
        let fixture = Fixture::new("package P model Spring end Spring; model SpringDamper end SpringDamper; end P;");
        let found = fixture.analysis().workspace_symbols("spring");
        assert_eq!(found.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["Spring", "SpringDamper"]);
        assert_eq!(found[0].container, "P");
        assert_eq!(rank("SpringDamper", "sdam"), Some(3));
        assert_eq!(rank("SpringDamper", "xyz"), None);
        let found = fixture.analysis().workspace_symbols("p.spring");
        assert_eq!(found.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["Spring", "SpringDamper"]);
    }
}
