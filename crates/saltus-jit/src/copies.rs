//! Copies between vectors of the integrator and slots: neighbouring slots at once, others one by one.
//!
//! ```text
//! states  x, v, w, y, z  in slots 7, 8, 9, 10, 14   ⇒   segments (7, 4), (one by one, 1)
//! ```

use saltus_base::Index;
use saltus_program::SlotId;

/// So many neighbouring slots are copied at once.
const AT_ONCE: usize = 4;

pub(crate) struct Copies {
    /// In the order of the vector.
    slots: Vec<usize>,
    segments: Vec<Segment>,
}

/// Part of a vector.
struct Segment {
    n: usize,
    are_neighbours: bool,
}

impl Copies {
    pub fn new(slots: &mut dyn Iterator<Item = SlotId>) -> Self {
        let slots: Vec<usize> = slots.map(Index::index).collect();
        let mut segments: Vec<Segment> = Vec::new();
        for run in slots.chunk_by(|a, b| a + 1 == *b) {
            let are_neighbours = run.len() >= AT_ONCE;
            match segments.last_mut() {
                Some(last) if !last.are_neighbours && !are_neighbours => last.n += run.len(),
                _ => segments.push(Segment { n: run.len(), are_neighbours }),
            }
        }
        Copies { slots, segments }
    }

    /// From the slots to a vector, as far as it goes.
    pub fn read(&self, memory: &[f64], mut vector: &mut [f64]) {
        let mut slots = &self.slots[..];
        for segment in &self.segments {
            let (now, rest) = vector.split_at_mut(segment.n.min(vector.len()));
            let (from, later) = slots.split_at(segment.n);
            if segment.are_neighbours {
                if let Some(numbers) = memory.get(from[0]..from[0] + now.len()) {
                    now.copy_from_slice(numbers);
                }
            } else {
                for (place, slot) in now.iter_mut().zip(from) {
                    *place = memory.get(*slot).copied().unwrap_or(f64::NAN);
                }
            }
            (vector, slots) = (rest, later);
        }
    }

    /// From a vector to the slots.
    pub fn write(&self, memory: &mut [f64], mut vector: &[f64]) {
        let mut slots = &self.slots[..];
        for segment in &self.segments {
            let (now, rest) = vector.split_at(segment.n.min(vector.len()));
            let (to, later) = slots.split_at(segment.n);
            if segment.are_neighbours {
                if let Some(places) = memory.get_mut(to[0]..to[0] + now.len()) {
                    places.copy_from_slice(now);
                }
            } else {
                for (number, slot) in now.iter().zip(to) {
                    if let Some(place) = memory.get_mut(*slot) {
                        *place = *number;
                    }
                }
            }
            (vector, slots) = (rest, later);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_slots_are_copied_in_the_order_of_the_vector() {
        let slots = [6, 7, 1, 2, 3, 4, 5, 0].map(SlotId::from_usize);
        let copies = Copies::new(&mut slots.into_iter());
        assert_eq!(copies.segments.iter().map(|s| s.n).collect::<Vec<_>>(), [2, 5, 1]);
        let mut memory = [0.0; 8];
        copies.write(&mut memory, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(memory, [8.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0, 2.0]);
        let mut short = [0.0; 4];
        copies.read(&memory, &mut short);
        assert_eq!(short, [1.0, 2.0, 3.0, 4.0]);
    }
}
