//! What others see of a file without entering one of its classes: `within`, the names of its classes and what they use.
//!
//! A result that only knows of a file of the user that it declares `M` stays right as long as this stays the same.

use std::collections::BTreeSet;

use saltus_base::Interner;
use saltus_syntax::ast::{Ident, StoredDefinition};

use crate::annotations::{annotation_of, modifications};

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Outline {
    within: Option<String>,
    classes: Vec<String>,
    /// The `uses` annotations as they are written; they decide which versions are loaded.
    uses: Vec<String>,
    /// The text has syntax errors or cannot be read, so that there may be more in it.
    is_broken: bool,
}

impl Outline {
    pub(crate) fn of(tree: &StoredDefinition, text: &str, is_broken: bool, names: &Interner) -> Outline {
        let path = |parts: &[Ident]| parts.iter().map(|part| names.text(part.name)).collect::<Vec<_>>().join(".");
        let tops = tree.classes.iter().map(|top| &top.class);
        let annotations = tops.clone().filter_map(annotation_of).flat_map(modifications);
        let uses = annotations.filter(|argument| path(&argument.name.parts) == "uses");
        let written = uses.filter_map(|argument| text.get(argument.span.start as usize..argument.span.end as usize));
        Outline {
            within: tree.within.as_ref().map(|within| path(&within.path)).filter(|path| !path.is_empty()),
            uses: written.map(str::to_owned).collect(),
            classes: tops.map(|class| names.text(class.name.name).to_owned()).collect(),
            is_broken,
        }
    }

    pub(crate) fn unreadable() -> Outline {
        Outline { is_broken: true, ..Outline::default() }
    }

    /// What matters if only these top-level names were asked for; `None` if nothing does.
    pub(crate) fn as_seen_by(&self, asked: Option<&BTreeSet<String>>) -> Option<Outline> {
        let Some(asked) = asked else { return Some(self.clone()) };
        let whole = Outline { is_broken: false, ..self.clone() };
        if whole.within.is_some() || !whole.uses.is_empty() {
            return Some(whole);
        }
        let classes: Vec<String> = whole.classes.into_iter().filter(|name| asked.contains(name)).collect();
        (!classes.is_empty()).then(|| Outline { classes, ..Outline::default() })
    }
}
