//! Classes of the workspace by a part of their name.

use saltus::Session;
use saltus_library::{ClassId, Library};

use crate::target::{FileRange, NavigationTarget, SymbolKind};

/// More are not looked at by anybody.
const MOST: usize = 200;

/// Classes of the user's files and of everything that is loaded, whose name contains the letters in this order; better ones
/// first.
pub(crate) fn workspace_symbols(session: &Session, query: &str) -> Vec<NavigationTarget> {
    let library = session.library();
    let mut found = Vec::new();
    let mut todo: Vec<ClassId> = library.children(library.root());
    todo.reverse();
    while let Some(class) = todo.pop() {
        if let Some(name) = library.name_of(class)
            && let Some(rank) = rank(library.text(name), query)
        {
            found.push((rank, class));
        }
        todo.extend(library.children(class).into_iter().rev());
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().take(MOST).filter_map(|(_, class)| target(library, class)).collect()
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
    }
}
