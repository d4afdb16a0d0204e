//! Bytes of a text as the browser counts: in units of UTF-16.

/// Converts places of one text.
pub struct Offsets<'a> {
    text: &'a str,
    is_ascii: bool,
}

/// Converts places in ascending order, in one pass.
pub struct Ascending<'a> {
    offsets: &'a Offsets<'a>,
    byte: usize,
    units: usize,
}

impl<'a> Offsets<'a> {
    pub fn new(text: &'a str) -> Self {
        Offsets { text, is_ascii: text.is_ascii() }
    }

    /// Units of UTF-16 before a byte; before the end of the text for bytes behind it.
    pub fn utf16(&self, byte: u32) -> usize {
        let byte = floor(self.text, byte as usize);
        if self.is_ascii { byte } else { units(&self.text[..byte]) }
    }

    /// The byte at a unit of UTF-16.
    pub fn byte(&self, unit: usize) -> usize {
        if self.is_ascii {
            return unit.min(self.text.len());
        }
        let mut n_units = 0;
        for (byte, c) in self.text.char_indices() {
            if n_units >= unit {
                return byte;
            }
            n_units += c.len_utf16();
        }
        self.text.len()
    }

    pub fn ascending(&'a self) -> Ascending<'a> {
        Ascending { offsets: self, byte: 0, units: 0 }
    }
}

impl Ascending<'_> {
    pub fn utf16(&mut self, byte: u32) -> usize {
        let text = self.offsets.text;
        let byte = floor(text, byte as usize);
        if self.offsets.is_ascii {
            return byte;
        }
        if byte < self.byte {
            return self.offsets.utf16(byte as u32);
        }
        self.units += units(&text[self.byte..byte]);
        self.byte = byte;
        self.units
    }
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_there_and_back() {
        let text = "aä𝄞z";
        let offsets = Offsets::new(text);
        let mut ascending = offsets.ascending();
        for (byte, unit) in [(0, 0), (1, 1), (3, 2), (7, 4), (8, 5)] {
            assert_eq!(offsets.utf16(byte), unit);
            assert_eq!(ascending.utf16(byte), unit);
            assert_eq!(offsets.byte(unit), byte as usize);
        }
        assert_eq!(offsets.utf16(2), 1, "inside of a character");
        assert_eq!((offsets.utf16(99), offsets.byte(99)), (5, 8));
    }
}
