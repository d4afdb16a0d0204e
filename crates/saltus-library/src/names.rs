//! The identifiers of a library, readable through a shared reference that lives as long as the library.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use saltus_base::Name;

use crate::arena::Arena;
use crate::store::Store;

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

/// The identifiers of the store, and the texts that were asked for in storage that never moves.
pub(crate) struct Names {
    store: Arc<Store>,
    texts: Arena<Arc<str>>,
    positions: RefCell<FastMap<Name, usize>>,
}

impl Names {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store, texts: Arena::new(), positions: RefCell::default() }
    }

    pub(crate) fn intern(&self, text: &str) -> Name {
        self.store.intern(text)
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        let position =
            *self.positions.borrow_mut().entry(name).or_insert_with(|| self.texts.push(self.store.name_text(name)));
        self.texts.get(position).map_or("", |text| text)
    }
}
