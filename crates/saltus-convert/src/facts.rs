//! What the sources to be converted declare: enough to know the type of a component and the class that a name stands for.

use std::collections::{BTreeMap, HashMap};

use saltus_base::{Interner, Name};
use saltus_syntax::ast::{ClassBody, ClassDef, ElementKind, ImportKind, Path, StoredDefinition};

use crate::present::elements;

/// A name as it is written.
#[derive(Clone, Debug)]
pub struct Written {
    pub is_global: bool,
    pub parts: Vec<Name>,
}

impl Written {
    pub fn of(path: &Path) -> Self {
        Written { is_global: path.is_global, parts: path.parts.iter().map(|p| p.name).collect() }
    }
}

#[derive(Default, Debug)]
pub struct ClassFacts {
    pub components: HashMap<Name, Written>,
    pub bases: Vec<Written>,
    /// By the name that they are known by here.
    pub imports: HashMap<Name, Vec<Name>>,
    pub wildcards: Vec<Vec<Name>>,
}

/// All classes of the sources, by their full names.
#[derive(Default, Debug)]
pub struct Facts {
    pub classes: BTreeMap<String, ClassFacts>,
}

impl Facts {
    pub fn add(&mut self, tree: &StoredDefinition, names: &Interner) {
        let within = tree
            .within
            .as_ref()
            .map_or(String::new(), |w| w.path.iter().map(|ident| names.text(ident.name)).collect::<Vec<_>>().join("."));
        for definition in &tree.classes {
            self.add_class(&definition.class, &within, names);
        }
    }

    fn add_class(&mut self, class: &ClassDef, scope: &str, names: &Interner) {
        let full = inside(scope, names.text(class.name.name));
        let mut facts = ClassFacts::default();
        match &class.body {
            ClassBody::Long(body) => {
                for element in elements(body) {
                    match element {
                        ElementKind::Import(import) => {
                            let parts: Vec<Name> = import.path.parts.iter().map(|p| p.name).collect();
                            match &import.kind {
                                ImportKind::Qualified => {
                                    facts.imports.extend(parts.last().copied().map(|last| (last, parts)))
                                }
                                ImportKind::Renamed(alias) => facts.imports.extend([(alias.name, parts)]),
                                ImportKind::All => facts.wildcards.push(parts),
                                ImportKind::Some(list) => facts.imports.extend(
                                    list.iter()
                                        .map(|one| (one.name, parts.iter().copied().chain([one.name]).collect())),
                                ),
                            }
                        }
                        ElementKind::Extends(extends) => facts.bases.push(Written::of(&extends.base)),
                        ElementKind::Class(nested) => self.add_class(&nested.class, &full, names),
                        ElementKind::Components(clause) => {
                            let of = |c: &saltus_syntax::ast::Component| (c.name.name, Written::of(&clause.type_name));
                            facts.components.extend(clause.components.iter().map(of));
                        }
                        ElementKind::Error => {}
                    }
                }
            }
            ClassBody::Short(short) => facts.bases.push(Written::of(&short.base)),
            ClassBody::Enumeration(_) | ClassBody::Derivative { .. } => {}
        }
        self.classes.insert(full, facts);
    }
}

/// `a.b` of `a` and `b`.
pub fn inside(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}
