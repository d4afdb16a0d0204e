//! The classes and components of a file as a tree, in the order of the text.

use std::path::Path;

use saltus::Session;
use saltus_base::Span;
use saltus_library::Library;
use saltus_syntax::ast::{ClassBody, ClassDef, ElementKind, LongClass, Section};

use crate::file::File;
use crate::hover::path_text;
use crate::target::SymbolKind;

#[derive(Clone, PartialEq, Debug)]
pub struct OutlineItem {
    pub name: String,
    pub kind: SymbolKind,
    /// The class of a component; empty for classes.
    pub detail: String,
    /// The declaration and the name in it, in bytes.
    pub full: (u32, u32),
    pub focus: (u32, u32),
    pub children: Vec<OutlineItem>,
}

pub(crate) fn outline(session: &Session, path: &Path) -> Vec<OutlineItem> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    file.tree.classes.iter().map(|top| class_item(file.library, &top.class)).collect()
}

fn class_item(library: &Library, class: &ClassDef) -> OutlineItem {
    let children = match &class.body {
        ClassBody::Long(body) => body_items(library, body),
        ClassBody::Enumeration(body) => {
            let literals = body.literals.iter().flatten();
            literals.map(|l| item(library.text(l.name.name), SymbolKind::Literal, l.name.span, l.name.span)).collect()
        }
        ClassBody::Short(_) | ClassBody::Derivative { .. } => Vec::new(),
    };
    let name = library.text(class.name.name);
    OutlineItem { children, ..item(name, SymbolKind::of_class(class), class.span, class.name.span) }
}

fn body_items(library: &Library, body: &LongClass) -> Vec<OutlineItem> {
    let mut items = Vec::new();
    for section in &body.sections {
        let Section::Elements { elements, .. } = section else { continue };
        for element in elements {
            match &element.kind {
                ElementKind::Class(nested) => items.push(class_item(library, &nested.class)),
                ElementKind::Components(clause) => items.extend(clause.components.iter().map(|component| {
                    let kind = SymbolKind::of_component(clause);
                    OutlineItem {
                        detail: path_text(library, &clause.type_name),
                        ..item(library.text(component.name.name), kind, component.span, component.name.span)
                    }
                })),
                ElementKind::Import(_) | ElementKind::Extends(_) | ElementKind::Error => {}
            }
        }
    }
    items
}

fn item(name: &str, kind: SymbolKind, full: Span, focus: Span) -> OutlineItem {
    // An editor rejects a name outside of its declaration.
    let full = full.to(focus);
    OutlineItem {
        name: name.to_owned(),
        kind,
        detail: String::new(),
        full: (full.start, full.end),
        focus: (focus.start, focus.end),
        children: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn lines(items: &[OutlineItem], depth: usize) -> Vec<String> {
        let line = |i: &OutlineItem| format!("{}{:?} {} {}", " ".repeat(depth), i.kind, i.name, i.detail);
        items.iter().flat_map(|i| std::iter::once(line(i)).chain(lines(&i.children, depth + 1))).collect()
    }

    #[test]
    fn classes_contain_their_components() {
        let text = "package P model M parameter Real k; input Real u; end M; type E = enumeration(a); end P;";
        let outline = Fixture::new(text).analysis().outline("test.mo".as_ref());
        let expected =
            ["Package P ", " Model M ", "  Parameter k Real", "  Input u Real", " Enumeration E ", "  Literal a "];
        assert_eq!(lines(&outline, 0), expected);
    }

    #[test]
    fn a_half_typed_class_keeps_its_outline() {
        let outline =
            Fixture::new("model M Real x; Real y = ; Real z; equation").analysis().outline("test.mo".as_ref());
        assert_eq!(lines(&outline, 0), ["Model M ", " Variable x Real", " Variable y Real", " Variable z Real"]);
    }
}
