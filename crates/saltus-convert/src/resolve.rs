//! Which class of the old or the present library a name in the sources stands for, and what the rules say about it.

use std::collections::HashMap;

use saltus_base::{Interner, Name};

use crate::facts::{Facts, Written, inside};
use crate::present::Present;
use crate::script::{ModifierRule, Script};

/// Chains of base classes are short; sources may have a cycle.
const DEEPEST: usize = 30;

/// What the first part of a name stands for.
pub enum Meaning {
    /// A class, by its full name in the version that the sources are written for.
    Class(String),
    /// A component with its type, as far as that is known: the old name where the sources say it, the present one where the library does.
    Component(Option<String>),
}

pub struct Resolver<'a> {
    pub script: &'a Script,
    pub facts: &'a Facts,
    pub present: &'a Present<'a>,
    pub names: &'a Interner,
    /// By old names of the class and of the element.
    elements: HashMap<(&'a str, &'a str), &'a str>,
}

impl<'a> Resolver<'a> {
    pub fn new(script: &'a Script, facts: &'a Facts, present: &'a Present<'a>, names: &'a Interner) -> Self {
        let mut elements = HashMap::new();
        for rule in &script.elements {
            for class in &rule.classes {
                elements.insert((class.as_str(), rule.old.as_str()), rule.new.as_str());
            }
        }
        Resolver { script, facts, present, names, elements }
    }

    /// Looks for the first part of a name from the class `scope` outwards.
    pub fn first(&self, scope: &str, is_global: bool, first: Name) -> Meaning {
        let text = self.names.text(first);
        let mut at = if is_global { "" } else { scope };
        while !at.is_empty() {
            if let Some(found) = self.member(at, first, 0) {
                return found;
            }
            if let Some(facts) = self.facts.classes.get(at) {
                if let Some(target) = facts.imports.get(&first) {
                    return Meaning::Class(self.join(target));
                }
                let candidates = facts.wildcards.iter().map(|package| inside(&self.join(package), text));
                if let Some(found) = candidates.into_iter().find(|name| self.is_class(name)) {
                    return Meaning::Class(found);
                }
            }
            at = at.rfind('.').map_or("", |dot| &at[..dot]);
        }
        Meaning::Class(text.to_owned())
    }

    /// A class or component of a class of the sources or of its bases.
    fn member(&self, class: &str, name: Name, depth: usize) -> Option<Meaning> {
        let facts = self.facts.classes.get(class)?;
        let nested = inside(class, self.names.text(name));
        if self.facts.classes.contains_key(&nested) {
            return Some(Meaning::Class(nested));
        }
        if let Some(ty) = facts.components.get(&name) {
            return Some(Meaning::Component(self.class(class, ty)));
        }
        facts.bases.iter().filter(|_| depth < DEEPEST).find_map(|base| {
            let base = self.outside(class, base)?;
            match self.facts.classes.contains_key(&base) {
                true => self.member(&base, name, depth + 1),
                false => {
                    let ty = self.present.type_of(&self.script.class(&base), self.names.text(name))?;
                    Some(Meaning::Component(Some(ty)))
                }
            }
        })
    }

    /// A base class, which is not looked for in what is inherited.
    fn outside(&self, class: &str, base: &Written) -> Option<String> {
        let enclosing = class.rfind('.').map_or("", |dot| &class[..dot]);
        let first = *base.parts.first()?;
        let own = inside(class, self.names.text(first));
        let imported = self.facts.classes.get(class).and_then(|facts| facts.imports.get(&first));
        let start = match imported {
            _ if self.facts.classes.contains_key(&own) => own,
            Some(target) => self.join(target),
            None => match self.first(enclosing, base.is_global, first) {
                Meaning::Class(name) => name,
                Meaning::Component(_) => return None,
            },
        };
        Some(base.parts[1..].iter().fold(start, |name, part| inside(&name, self.names.text(*part))))
    }

    /// The full old name of a class.
    pub fn class(&self, scope: &str, name: &Written) -> Option<String> {
        let (first, rest) = name.parts.split_first()?;
        match self.first(scope, name.is_global, *first) {
            Meaning::Class(start) => Some(rest.iter().fold(start, |name, part| inside(&name, self.names.text(*part)))),
            Meaning::Component(_) => None,
        }
    }

    fn is_class(&self, old: &str) -> bool {
        self.facts.classes.contains_key(old) || self.present.has(&self.script.class(old))
    }

    fn join(&self, parts: &[Name]) -> String {
        parts.iter().map(|part| self.names.text(*part)).collect::<Vec<_>>().join(".")
    }

    /// A class with all its bases, by old and by present names.
    fn with_bases(&self, class: &str) -> Vec<String> {
        let mut all = vec![class.to_owned()];
        let mut at = 0;
        while at < all.len() && all.len() < DEEPEST * DEEPEST {
            let more: Vec<String> = match self.facts.classes.get(&all[at]) {
                Some(facts) => facts.bases.iter().filter_map(|base| self.outside(&all[at], base)).collect(),
                None => self.present.with_bases(&self.script.class(&all[at])),
            };
            for base in more {
                if !all.contains(&base) {
                    all.push(base);
                }
            }
            at += 1;
        }
        all
    }

    /// What an element of a class is called now, if that changed.
    pub fn element(&self, class: &str, name: &str) -> Option<&'a str> {
        self.with_bases(class).iter().find_map(|base| self.elements.get(&(base.as_str(), name)).copied())
    }

    /// The type of a component of a class.
    pub fn type_of(&self, class: &str, name: Name) -> Option<String> {
        match self.member(class, name, 0) {
            Some(Meaning::Component(ty)) => ty,
            Some(Meaning::Class(_)) => None,
            None => {
                let old = self.names.text(name);
                self.present.type_of(&self.script.class(class), self.element(class, old).unwrap_or(old))
            }
        }
    }

    /// The rules about modifiers of a class.
    pub fn modifiers(&self, class: &str) -> Vec<&'a ModifierRule> {
        let all = self.with_bases(class);
        let is_meant = |rule: &&ModifierRule| rule.classes.iter().any(|c| all.contains(c));
        self.script.modifiers.iter().filter(is_meant).collect()
    }

    /// Messages about a class, by its old name.
    pub fn messages(&self, old: &str) -> impl Iterator<Item = &'a str> {
        let rules = self.script.messages.iter();
        rules.filter(move |rule| rule.classes.iter().any(|c| c == old)).map(|rule| rule.text.as_str())
    }
}
