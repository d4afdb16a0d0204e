//! Which signals are kept: all, or those that fit a pattern or have one of some names.

use std::collections::BTreeSet;

use crate::Pattern;

/// A choice of signals; by default all.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Kept {
    choice: Option<Choice>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Choice {
    patterns: Vec<(String, Pattern)>,
    names: BTreeSet<String>,
    /// Names that must be those of signals.
    required: BTreeSet<String>,
}

impl Kept {
    /// Signals that fit one of the patterns or have one of the names.
    pub fn only(patterns: &[String], names: impl IntoIterator<Item = String>) -> Self {
        let patterns = patterns.iter().map(|text| (text.clone(), Pattern::new(text))).collect();
        Kept { choice: Some(Choice { patterns, names: names.into_iter().collect(), required: BTreeSet::new() }) }
    }

    /// These signals, too, which there must be: those that are missing count as idle patterns.
    pub fn and_exactly(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.choice.get_or_insert_default().required.extend(names);
        self
    }

    /// Were signals chosen, rather than all of them kept?
    pub fn is_choice(&self) -> bool {
        self.choice.is_some()
    }

    pub fn keeps(&self, name: &str) -> bool {
        match &self.choice {
            None => true,
            Some(c) => {
                c.names.contains(name) || c.required.contains(name) || c.patterns.iter().any(|(_, p)| p.matches(name))
            }
        }
    }

    /// Patterns that fit none of these names, and required names that are not among them.
    pub fn idle_patterns<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let patterns = self.choice.iter().flat_map(|c| &c.patterns);
        let idle = patterns.filter(|(_, p)| !names.iter().any(|n| p.matches(n))).map(|(text, _)| text.as_str());
        let mut missing: BTreeSet<&str> = self.choice.iter().flat_map(|c| &c.required).map(String::as_str).collect();
        if !missing.is_empty() {
            names.iter().for_each(|name| {
                missing.remove(name);
            });
        }
        idle.chain(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns_add_up() {
        let all = Kept::default();
        assert!(all.keeps("x") && !all.is_choice());
        let kept = Kept::only(&["body.*".to_owned(), "none*".to_owned()], ["x".to_owned()]);
        let found = ["x", "body.v", "y", "body"].map(|name| kept.keeps(name));
        assert_eq!(found, [true, true, false, false]);
        assert_eq!(kept.idle_patterns(&["x", "body.v"]).collect::<Vec<_>>(), ["none*"]);
        assert!(!Kept::only(&[], []).keeps("x"));
    }

    #[test]
    fn required_names_that_are_missing_are_told() {
        let kept = Kept::only(&[], []).and_exactly(["x", "body.*", "y"].map(str::to_owned));
        assert_eq!(["x", "y", "body.v"].map(|name| kept.keeps(name)), [true, true, false]);
        assert_eq!(kept.idle_patterns(&["x", "body.v"]).collect::<Vec<_>>(), ["body.*", "y"]);
    }
}
