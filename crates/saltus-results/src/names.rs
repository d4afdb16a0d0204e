//! Names of signals as users write them: patterns with `*` and `?`, and misspelt ones.

/// `*` stands for any characters, `?` for one; everything else, brackets too, for itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    text: Vec<char>,
}

impl Pattern {
    pub fn new(text: &str) -> Self {
        Pattern { text: text.chars().collect() }
    }

    /// Names one signal at most?
    pub fn is_literal(&self) -> bool {
        !self.text.iter().any(|c| matches!(c, '*' | '?'))
    }

    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut p, mut n) = (0, 0);
        // Where the last star was, and up to where it reaches.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match self.text.get(p) {
                Some('*') => {
                    star = Some((p, n));
                    p += 1;
                }
                Some(&c) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
                _ => match star {
                    Some((at, reach)) => {
                        star = Some((at, reach + 1));
                        (p, n) = (at + 1, reach + 1);
                    }
                    None => return false,
                },
            }
        }
        self.text[p..].iter().all(|c| *c == '*')
    }
}

/// The candidate that differs from `wanted` by the fewest edits, if these are few.
pub fn nearest<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + wanted.chars().count() / 4;
    candidates.map(|name| (edits(wanted, name), name)).filter(|(n, _)| *n <= limit).min().map(|(_, name)| name)
}

/// Insertions, deletions and replacements between two words; case does not count.
fn edits(a: &str, b: &str) -> usize {
    let lower = |s: &str| s.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (a, b) = (lower(a), lower(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_star_and_question_mark_are_special() {
        let cases = [
            ("a.*", "a.b[2].c", true),
            ("a.b[?].c", "a.b[2].c", true),
            ("a.b[12].c", "a.b[1].c", false),
            ("*[2]*", "a.b[2].c", true),
            ("*", "", true),
            ("?", "", false),
            ("der(*)", "der(x)", true),
            ("*a*b*c", "xaybzbc", true),
            ("*a*b*d", "xaybzbc", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} on {name}");
        }
        assert!(Pattern::new("a[1]").is_literal() && !Pattern::new("a*").is_literal());
    }

    #[test]
    fn the_nearest_name_is_close() {
        let names = ["height", "weight", "velocity"];
        assert_eq!(nearest("hight", names.into_iter()), Some("height"));
        assert_eq!(nearest("temperature", names.into_iter()), None);
    }
}
