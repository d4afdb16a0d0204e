//! Hashing of small keys made of integers. Nodes are looked up once for each node made, so this is the hot spot of
//! building a system; keys come from the compiler itself, so nothing needs protection against chosen collisions.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map for ids and what consists of them.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<IntegerHasher>>;

#[derive(Default)]
pub struct IntegerHasher {
    state: u64,
}

/// Odd, with bits spread evenly: 2⁶⁴ divided by the golden ratio.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

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
        let mixed = (self.state.rotate_left(23) ^ value).wrapping_mul(MULTIPLIER);
        self.state = mixed ^ (mixed >> 32);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.state.wrapping_mul(MULTIPLIER)
    }
}
