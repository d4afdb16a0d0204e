//! The identifiers of a library, readable through a shared reference that lives as long as the library.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use saltus_base::{Interner, Name};

use crate::arena::Arena;

/// A hash table keyed by names or other small integers.
pub(crate) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<IntegerHasher>>;

/// One multiplication: the keys are small integers handed out by us, so crafted collisions are no concern.
#[derive(Default, Clone, Copy)]
pub(crate) struct IntegerHasher(u64);

impl Hasher for IntegerHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        // The table takes its bucket from the low bits, the product has its entropy in the high ones.
        self.0.rotate_left(26)
    }
}

/// The interner, and the texts that were asked for in storage that never moves.
pub(crate) struct Names {
    interner: RefCell<Interner>,
    texts: Arena<Box<str>>,
    positions: RefCell<FastMap<Name, usize>>,
}

impl Names {
    pub(crate) fn new() -> Self {
        Self { interner: RefCell::new(Interner::new()), texts: Arena::new(), positions: RefCell::default() }
    }

    pub(crate) fn intern(&self, text: &str) -> Name {
        self.interner.borrow_mut().intern(text)
    }

    pub(crate) fn with_interner<R>(&self, use_it: impl FnOnce(&mut Interner) -> R) -> R {
        use_it(&mut self.interner.borrow_mut())
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        let position = *self
            .positions
            .borrow_mut()
            .entry(name)
            .or_insert_with(|| self.texts.push(self.interner.borrow().text(name).into()));
        self.texts.get(position).map_or("", |text| text)
    }
}
