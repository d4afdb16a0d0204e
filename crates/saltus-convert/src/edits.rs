//! Changes of a text, collected in any order and applied at once.

use saltus_base::Span;

#[derive(Default, Debug)]
pub struct Edits {
    /// From, to, new text. They do not overlap.
    list: Vec<(usize, usize, String)>,
}

impl Edits {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn replace(&mut self, span: Span, new: impl Into<String>) {
        self.list.push((span.start as usize, span.end as usize, new.into()));
    }

    pub fn insert(&mut self, at: u32, new: impl Into<String>) {
        self.list.push((at as usize, at as usize, new.into()));
    }

    /// Replaces a piece, and forgets the changes inside of it.
    pub fn replace_all(&mut self, span: Span, new: String) {
        self.list.retain(|(from, to, _)| *from < span.start as usize || *to > span.end as usize);
        self.replace(span, new);
    }

    /// A piece of the text with the changes so far.
    pub fn apply(&self, text: &str, from: usize, to: usize) -> String {
        let mut inside: Vec<_> = self.list.iter().filter(|(a, b, _)| from <= *a && *b <= to).collect();
        inside.sort_by_key(|(a, b, _)| (*a, *b));
        let (mut out, mut at) = (String::with_capacity(to - from), from);
        for (a, b, new) in inside {
            if *a >= at {
                out.push_str(text.get(at..*a).unwrap_or(""));
                out.push_str(new);
                at = *b;
            }
        }
        out.push_str(text.get(at..to).unwrap_or(""));
        out
    }
}

#[cfg(test)]
mod tests {
    use saltus_base::{FileId, Index};

    use super::*;

    #[test]
    fn pieces_are_replaced_and_inserted() {
        let span = |a, b| Span::new(FileId::from_usize(0), a, b);
        let mut edits = Edits::default();
        edits.replace(span(4, 5), "bb");
        edits.replace(span(0, 1), "AA");
        edits.insert(1, "(x)");
        assert_eq!(edits.apply("a + b", 0, 5), "AA(x) + bb");
        edits.replace_all(span(0, 5), "all".to_owned());
        assert_eq!((edits.apply("a + b", 0, 5).as_str(), edits.len()), ("all", 1));
    }
}
