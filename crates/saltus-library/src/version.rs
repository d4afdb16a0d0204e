//! Version numbers of libraries and their order (specification chapter 18, "Version Numbering").
//!
//! `"4.1.0"` is a main release; `"4.1.0 Beta 1"` a pre-release that comes before it; `"Test 1"` has no place in the
//! order and comes before everything. Package managers also write `4.1.0-dev` and `4.1.0+build`; the first is taken
//! for a pre-release, the second for the release itself.

use std::cmp::Ordering;
use std::fmt;

#[derive(Clone, Debug)]
pub struct Version {
    text: String,
    /// Empty for unordered versions.
    numbers: Vec<u64>,
    pre_release: Option<String>,
}

impl Version {
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        let release = text.split('+').next().unwrap_or(text).trim();
        let (main, pre_release) = match release.find([' ', '-']) {
            Some(at) => (&release[..at], Some(release[at + 1..].trim().to_string())),
            None => (release, None),
        };
        let numbers: Option<Vec<u64>> = main.split('.').map(|part| part.parse().ok()).collect();
        match numbers {
            Some(numbers) => Self { text: text.to_string(), numbers, pre_release },
            None => Self { text: text.to_string(), numbers: Vec::new(), pre_release: Some(release.to_string()) },
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_ordered(&self) -> bool {
        !self.numbers.is_empty()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (&self.pre_release, &other.pre_release) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => a.cmp(b),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Equal in the order: `4.1.0` and `4.1.0+build` are the same version.
impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_are_ordered_as_the_specification_says() {
        let ascending =
            ["Test 1", "1.6", "2.1 Beta 1", "2.1 Beta 2", "2.1", "2.1.1", "2.2", "2.10", "3.0-dev", "3.0", "10"];
        for pair in ascending.windows(2) {
            assert!(Version::new(pair[0]) < Version::new(pair[1]), "{} < {}", pair[0], pair[1]);
        }
        assert_eq!(Version::new("4.0.0+maint.om"), Version::new("4.0.0"));
        assert_ne!(Version::new("master"), Version::new("trunk"));
        assert!(!Version::new("99999999999999999999999").is_ordered());
    }
}
