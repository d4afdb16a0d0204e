//! `cardinality(c)`: in how many `connect` equations the connector `c` occurs, from inside and from outside
//! (specification 3.7.4.3, deprecated).

use std::collections::BTreeMap;

/// Counts occurrences; `K` is whatever the front end identifies connectors with.
#[derive(Clone, Debug)]
pub struct Cardinality<K> {
    counts: BTreeMap<K, u32>,
}

impl<K: Ord> Cardinality<K> {
    pub fn new() -> Self {
        Self { counts: BTreeMap::new() }
    }

    /// Counts `connect(a, b)`.
    pub fn connect(&mut self, a: K, b: K) {
        for connector in [a, b] {
            let count = self.counts.entry(connector).or_insert(0);
            *count = count.saturating_add(1);
        }
    }

    /// Zero for a connector that was never connected.
    pub fn of(&self, connector: &K) -> u32 {
        self.counts.get(connector).copied().unwrap_or(0)
    }
}

impl<K: Ord> Default for Cardinality<K> {
    fn default() -> Self {
        Self::new()
    }
}
