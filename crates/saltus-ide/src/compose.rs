//! Several edits, each made on the text behind the one before, as edits of the first text.

use crate::formatting::TextEdit;

/// A part of the text behind the edits so far.
enum Piece {
    /// Bytes of the first text.
    Kept(u32, u32),
    New(String),
}

impl Piece {
    fn len(&self) -> u32 {
        match self {
            Piece::Kept(start, end) => end - start,
            Piece::New(text) => text.len() as u32,
        }
    }

    /// The parts before and behind a byte that is inside.
    fn split(self, at: u32) -> (Piece, Piece) {
        match self {
            Piece::Kept(start, end) => (Piece::Kept(start, start + at), Piece::Kept(start + at, end)),
            Piece::New(text) => {
                let (a, b) = text.split_at(at as usize);
                (Piece::New(a.to_owned()), Piece::New(b.to_owned()))
            }
        }
    }
}

/// Edits of a text that grow step by step.
pub struct Composition {
    length: u32,
    pieces: Vec<Piece>,
}

impl Composition {
    /// Of a text with so many bytes.
    pub fn of(length: usize) -> Self {
        let length = length as u32;
        Composition { length, pieces: vec![Piece::Kept(0, length)] }
    }

    /// Makes edits, which do not overlap, on the text as it is now.
    pub fn push(&mut self, edits: &[TextEdit]) {
        let mut sorted: Vec<&TextEdit> = edits.iter().collect();
        sorted.sort_by_key(|edit| (edit.start, edit.end));
        // From the end: places before it stay.
        for edit in sorted.into_iter().rev() {
            let from = self.cut(edit.start);
            let to = self.cut(edit.end);
            self.pieces.splice(from..to, [Piece::New(edit.text.clone())]);
        }
    }

    /// The piece that begins at a byte of the text as it is now.
    fn cut(&mut self, at: u32) -> usize {
        let mut before = 0;
        for i in 0..self.pieces.len() {
            if before == at {
                return i;
            }
            let len = self.pieces[i].len();
            if at < before + len {
                let (a, b) = self.pieces.remove(i).split(at - before);
                self.pieces.splice(i..i, [a, b]);
                return i + 1;
            }
            before += len;
        }
        self.pieces.len()
    }

    /// Edits of the first text that lead to the text as it is now.
    pub fn edits(self) -> Vec<TextEdit> {
        let (mut edits, mut at, mut text) = (Vec::new(), 0, String::new());
        for piece in self.pieces.into_iter().chain([Piece::Kept(self.length, self.length)]) {
            match piece {
                Piece::New(new) => text += &new,
                Piece::Kept(start, end) => {
                    if at < start || !text.is_empty() {
                        edits.push(TextEdit { start: at, end: start, text: std::mem::take(&mut text) });
                    }
                    at = end;
                }
            }
        }
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formatting::apply;

    fn edit(start: u32, end: u32, text: &str) -> TextEdit {
        TextEdit { start, end, text: text.into() }
    }

    #[test]
    fn steps_are_edits_of_the_first_text() {
        let text = "one two three";
        let steps =
            [vec![edit(4, 7, "2"), edit(0, 3, "1")], vec![edit(1, 3, "; "), edit(4, 4, "and ")], vec![edit(0, 1, "")]];
        let mut composition = Composition::of(text.len());
        let mut now = text.to_owned();
        for step in &steps {
            composition.push(step);
            now = apply(&now, step);
        }
        assert_eq!(now, ";  and three");
        let edits = composition.edits();
        assert_eq!(apply(text, &edits), now);
        assert!(edits.iter().all(|edit| edit.end <= 8), "what was not touched is kept: {edits:?}");
    }

    #[test]
    fn nothing_is_no_edit() {
        assert_eq!(Composition::of(3).edits(), []);
        let mut there_and_back = Composition::of(3);
        there_and_back.push(&[edit(1, 1, "x")]);
        there_and_back.push(&[edit(1, 2, "")]);
        assert_eq!(apply("abc", &there_and_back.edits()), "abc");
    }
}
