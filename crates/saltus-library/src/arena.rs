//! Append-only storage: pushing needs only a shared reference, and what was pushed never moves.
//!
//! Lookup loads files while its callers hold syntax trees; a plain `RefCell<Vec<T>>` could not hand those out. The
//! chunks double in size, so that an index finds its chunk with one logarithm and no chunk is ever reallocated.

use std::cell::{Cell, OnceCell};

/// Size of the first chunk, as a power of two.
const FIRST: u32 = 5;
const N_CHUNKS: usize = 27;

pub(crate) struct Arena<T> {
    len: Cell<usize>,
    chunks: [OnceCell<Box<[OnceCell<T>]>>; N_CHUNKS],
}

impl<T> Arena<T> {
    pub(crate) fn new() -> Self {
        Self { len: Cell::new(0), chunks: [const { OnceCell::new() }; N_CHUNKS] }
    }

    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    /// Appends and returns the index of the new item.
    pub(crate) fn push(&self, item: T) -> usize {
        let index = self.len.get();
        self.len.set(index + 1);
        let (chunk, offset) = position(index);
        let items =
            self.chunks[chunk].get_or_init(|| (0..1usize << (chunk as u32 + FIRST)).map(|_| OnceCell::new()).collect());
        // The slot of a fresh index is empty, so setting it cannot fail.
        let _ = items[offset].set(item);
        index
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        let (chunk, offset) = position(index);
        self.chunks.get(chunk)?.get()?.get(offset)?.get()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

fn position(index: usize) -> (usize, usize) {
    let shifted = index + (1 << FIRST);
    let chunk = shifted.ilog2() - FIRST;
    (chunk as usize, shifted - (1 << (chunk + FIRST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_survive_growth() {
        let arena = Arena::new();
        arena.push(String::from("first"));
        let first = arena.get(0);
        for i in 1..1000 {
            assert_eq!(arena.push(i.to_string()), i);
        }
        assert_eq!(first.map(String::as_str), Some("first"));
        assert!((1..1000).all(|i| arena.get(i) == Some(&i.to_string())));
        assert_eq!(arena.get(1000), None);
        assert_eq!((arena.len(), arena.iter().count()), (1000, 1000));
    }
}
