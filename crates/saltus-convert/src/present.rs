//! The library as it is now: where its scripts are, the bases of its classes and the types of their components.
//!
//! Names are resolved by lexical lookup in enclosing packages and their imports; what needs more (inherited or redeclared
//! types) is not found, and then nothing is converted there.

use std::collections::BTreeSet;

use saltus_library::annotations::{annotation_of, class_modification, named};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast::{
    ClassBody, ClassDef, ElementKind, ElementModification, ExprKind, ImportKind, LongClass, Path, Section,
};

use crate::script::Script;

/// Chains of base classes are short; a broken library may have a cycle.
const MOST_BASES: usize = 200;

pub struct Present<'a> {
    library: &'a Library,
}

/// A step of the annotation `conversion`.
pub struct Step {
    pub versions: Vec<String>,
    pub script: Option<String>,
}

impl<'a> Present<'a> {
    pub fn new(library: &'a Library) -> Self {
        Present { library }
    }

    /// What the annotation of a package says about older versions.
    pub fn steps(&self, package: ClassId) -> Vec<Step> {
        let Some(annotation) = self.library.definition(package).and_then(annotation_of) else { return Vec::new() };
        let name = |text| self.library.intern(text);
        let conversions = named(annotation, name("conversion")).filter_map(class_modification);
        let from = conversions.flat_map(|c| named(c, name("from"))).filter_map(class_modification);
        from.map(|step| Step {
            versions: named(step, name("version")).next().map_or_else(Vec::new, texts),
            script: named(step, name("script")).next().and_then(|m| texts(m).into_iter().next()),
        })
        .collect()
    }

    /// The script that converts sources for `version` of a package; an error says why there is none.
    pub fn script(&self, package: ClassId, version: Option<&str>) -> Result<Script, String> {
        let library = self.library.qualified_name(package);
        let steps = self.steps(package);
        let is_meant = |step: &&Step| version.is_none_or(|v| step.versions.iter().any(|known| known == v));
        let chosen: Vec<&Step> = steps.iter().filter(is_meant).collect();
        if chosen.is_empty() {
            let known: BTreeSet<&str> = steps.iter().flat_map(|s| &s.versions).map(String::as_str).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(match known.is_empty() {
                true => format!("`{library}` has no conversion script"),
                false => format!("`{library}` converts from the versions {known}"),
            });
        }
        let mut script = Script::default();
        for uri in chosen.iter().filter_map(|step| step.script.as_deref()) {
            let path = self.library.resolve_uri(uri).ok_or_else(|| format!("`{uri}` is not found"))?;
            let bytes = self.library.read_resource(&path).map_err(|why| format!("{}: {why}", path.display()))?;
            let mut own = Script::default();
            own.add(&String::from_utf8_lossy(&bytes)).map_err(|why| format!("{}: {why}", path.display()))?;
            script.extend(own);
        }
        Ok(script)
    }

    /// A class and all its bases, by their full names.
    pub fn with_bases(&self, class: &str) -> Vec<String> {
        let mut all = vec![class.to_owned()];
        let mut at = 0;
        while at < all.len() && all.len() < MOST_BASES {
            if let Some(id) = self.library.find(&all[at]) {
                for base in self.bases(id) {
                    if !all.contains(&base) {
                        all.push(base);
                    }
                }
            }
            at += 1;
        }
        all
    }

    fn bases(&self, id: ClassId) -> Vec<String> {
        let Some(definition) = self.library.definition(id) else { return Vec::new() };
        let paths: Vec<&Path> = match &definition.body {
            ClassBody::Long(body) => elements(body)
                .filter_map(|kind| match kind {
                    ElementKind::Extends(extends) => Some(&extends.base),
                    _ => None,
                })
                .collect(),
            ClassBody::Short(short) => vec![&short.base],
            _ => Vec::new(),
        };
        paths.into_iter().filter_map(|path| self.resolve(id, path)).collect()
    }

    /// The type of a component of a class or of one of its bases.
    pub fn type_of(&self, class: &str, component: &str) -> Option<String> {
        let name = self.library.intern(component);
        self.with_bases(class).iter().find_map(|class| {
            let id = self.library.find(class)?;
            let ClassBody::Long(body) = &self.library.definition(id)?.body else { return None };
            elements(body).find_map(|kind| match kind {
                ElementKind::Components(clause) if clause.components.iter().any(|c| c.name.name == name) => {
                    self.resolve(id, &clause.type_name)
                }
                _ => None,
            })
        })
    }

    pub fn has(&self, class: &str) -> bool {
        self.library.find(class).is_some()
    }

    fn resolve(&self, from: ClassId, path: &Path) -> Option<String> {
        let (first, rest) = path.parts.split_first()?;
        let below = |start: ClassId| rest.iter().try_fold(start, |at, part| self.library.child(at, part.name));
        let mut at = Some(from);
        while let Some(scope) = at.filter(|_| !path.is_global) {
            let imported = || self.imported(self.library.definition(scope)?, first.name);
            let found = self.library.child(scope, first.name).or_else(imported);
            if let Some(found) = found {
                return below(found).map(|id| self.library.qualified_name(id));
            }
            at = self.library.parent(scope);
        }
        let start = self.library.child(self.library.root(), first.name)?;
        below(start).map(|id| self.library.qualified_name(id))
    }

    fn imported(&self, definition: &ClassDef, name: saltus_base::Name) -> Option<ClassId> {
        let ClassBody::Long(body) = &definition.body else { return None };
        elements(body).find_map(|kind| {
            let ElementKind::Import(import) = kind else { return None };
            let is_it = match &import.kind {
                ImportKind::Renamed(alias) => alias.name == name,
                ImportKind::Qualified => import.path.parts.last().is_some_and(|p| p.name == name),
                ImportKind::All | ImportKind::Some(_) => false,
            };
            let root = self.library.root();
            is_it.then(|| import.path.parts.iter().try_fold(root, |at, part| self.library.child(at, part.name)))?
        })
    }
}

pub(crate) fn elements(body: &LongClass) -> impl Iterator<Item = &ElementKind> {
    body.sections
        .iter()
        .filter_map(|section| match section {
            Section::Elements { elements, .. } => Some(elements),
            _ => None,
        })
        .flatten()
        .map(|element| &element.kind)
}

/// The strings of `version = "1"` or `version = {"1", "2"}`.
fn texts(argument: &ElementModification) -> Vec<String> {
    let value = argument.modification.as_ref().and_then(|m| m.value.as_ref()).and_then(|v| v.expr.as_ref());
    match value.map(|e| &e.kind) {
        Some(ExprKind::String(text)) => vec![text.to_string()],
        Some(ExprKind::Array(items)) => items
            .iter()
            .filter_map(|item| match &item.kind {
                ExprKind::String(text) => Some(text.to_string()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
