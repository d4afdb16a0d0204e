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
}

impl Kept {
    /// Signals that fit one of the patterns or have one of the names.
    pub fn only(patterns: &[String], names: impl IntoIterator<Item = String>) -> Self {
        let patterns = patterns.iter().map(|text| (text.clone(), Pattern::new(text))).collect();
        Kept { choice: Some(Choice { patterns, names: names.into_iter().collect() }) }
    }

    /// Were signals chosen, rather than all of them kept?
    pub fn is_choice(&self) -> bool {
        self.choice.is_some()
    }

    pub fn keeps(&self, name: &str) -> bool {
        match &self.choice {
            None => true,
            Some(c) => c.names.contains(name) || c.patterns.iter().any(|(_, p)| p.matches(name)),
        }
    }

    /// Patterns that fit none of these names.
    pub fn idle_patterns<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let patterns = self.choice.iter().flat_map(|c| &c.patterns);
        patterns.filter(|(_, p)| !names.iter().any(|n| p.matches(n))).map(|(text, _)| text.as_str())
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
}
