//! Names of signals as users write them: patterns with `*` and `?`.

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
}
