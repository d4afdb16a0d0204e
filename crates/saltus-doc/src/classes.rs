//! Which classes have a page, and what the files of the pages are called.

use std::collections::{BTreeMap, BTreeSet};

use saltus_library::annotations::{annotation_of, class_modification, named};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast::{Expr, ExprKind};

/// The classes of a site in the order of their packages, each with the file of its page.
pub(crate) struct Classes {
    pub ids: Vec<ClassId>,
    files: BTreeMap<String, String>,
}

impl Classes {
    /// The packages and all public classes in them.
    pub fn of(library: &Library, packages: &[ClassId]) -> Self {
        let mut ids = Vec::new();
        let mut todo: Vec<ClassId> = packages.iter().rev().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            ids.push(id);
            let inner = library.children(id).into_iter().filter(|inner| !library.is_visibility_protected(*inner));
            todo.extend(inner.collect::<Vec<_>>().into_iter().rev());
        }
        // Names that differ in case only are the same file on some systems.
        let mut taken: BTreeSet<String> = ["index.html".to_owned()].into();
        let mut files = BTreeMap::new();
        for &id in &ids {
            let name = library.qualified_name(id);
            let stem = file_stem(&name);
            let mut file = format!("{stem}.html");
            let mut n = 2;
            while !taken.insert(file.to_ascii_lowercase()) {
                file = format!("{stem}_{n}.html");
                n += 1;
            }
            files.insert(name, file);
        }
        Self { ids, files }
    }

    /// The file of the page of a class.
    pub fn file(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }
}

/// A name that is the same on all file systems and in addresses.
fn file_stem(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let stem: String =
        name.chars().map(|c| if plain(c) { c.to_string() } else { format!("_{:x}", c as u32) }).collect();
    // Longer names are not stored everywhere.
    if stem.len() <= 180 { stem } else { format!("{}_{:016x}", &stem[..150], fingerprint(stem.as_bytes())) }
}

/// A number that stands for a content (FNV-1a).
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A text of the `Documentation` annotation: `info` or `revisions`.
pub(crate) fn documentation(library: &Library, id: ClassId, name: &str) -> Option<String> {
    let annotation = annotation_of(library.definition(id)?)?;
    let given = named(annotation, library.intern("Documentation")).next().and_then(class_modification)?;
    let value = named(given, library.intern(name)).next()?.modification.as_ref()?.value.as_ref()?.expr.as_ref()?;
    string(value).filter(|text| !text.trim().is_empty())
}

/// A string, or several joined with `+`.
fn string(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::String(text) => Some(text.to_string()),
        ExprKind::Binary(saltus_syntax::ast::BinaryOp::Add, left, right) => Some(string(left)? + &string(right)?),
        _ => None,
    }
}
