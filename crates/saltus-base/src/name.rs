//! Interned identifiers: comparing two names is comparing two integers.

use std::collections::HashMap;
use std::sync::Arc;

/// An interned identifier; [`Interner::text`] gives it back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(u32);

/// The table of all identifiers of a session. Quoted identifiers keep their quotes: `'a'` is not `a`.
#[derive(Default, Clone)]
pub struct Interner {
    texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, Name, std::hash::BuildHasherDefault<Fx>>,
}

impl Interner {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(&name) = self.ids.get(text) {
            return name;
        }
        let name = Name(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.ids.insert(text, name);
        name
    }

    /// The name of `text` if it was ever interned.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.ids.get(text).copied()
    }

    /// How many different names there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The text of a name, to be kept longer than the table.
    pub fn shared_text(&self, name: Name) -> Arc<str> {
        self.texts[name.0 as usize].clone()
    }

    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

/// The multiply-rotate hash that compilers use for short keys; identifiers come from trusted memory limits
/// of the parser, so resistance against crafted collisions is not needed.
#[derive(Default, Clone, Copy)]
struct Fx(u64);

impl std::hash::Hasher for Fx {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x51_7c_c1_b7_27_22_0a_95);
    }
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_name() {
        let mut names = Interner::new();
        let (a, b) = (names.intern("x"), names.intern("'x'"));
        assert_eq!(a, names.intern("x"));
        assert_ne!(a, b);
        assert_eq!(names.text(b), "'x'");
        assert_eq!(names.find("y"), None);
    }
}
