//! Copies between vectors of the integrator and slots: neighbouring slots at once.
//!
//! ```text
//! states  x, v, w  in slots 7, 8, 12   ⇒   runs (7, 2), (12, 1)
//! ```

use saltus_base::Index;
use saltus_program::SlotId;

pub(crate) struct Copies {
    /// First slot and number of slots of each run, in the order of the vector.
    runs: Vec<(usize, usize)>,
}

impl Copies {
    pub fn new(slots: &mut dyn Iterator<Item = SlotId>) -> Self {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for slot in slots.map(Index::index) {
            match runs.last_mut() {
                Some((first, n)) if *first + *n == slot => *n += 1,
                _ => runs.push((slot, 1)),
            }
        }
        Copies { runs }
    }

    /// From the slots to a vector, as far as it goes.
    pub fn read(&self, memory: &[f64], mut vector: &mut [f64]) {
        for &(first, n) in &self.runs {
            let n = n.min(vector.len());
            let (now, rest) = vector.split_at_mut(n);
            if let Some(slots) = memory.get(first..first + n) {
                now.copy_from_slice(slots);
            }
            vector = rest;
        }
    }

    /// From a vector to the slots.
    pub fn write(&self, memory: &mut [f64], mut vector: &[f64]) {
        for &(first, n) in &self.runs {
            let n = n.min(vector.len());
            let (now, rest) = vector.split_at(n);
            if let Some(slots) = memory.get_mut(first..first + n) {
                slots.copy_from_slice(now);
            }
            vector = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_slots_are_copied_in_the_order_of_the_vector() {
        let slots = [3, 4, 1, 0].map(SlotId::from_usize);
        let copies = Copies::new(&mut slots.into_iter());
        let mut memory = [0.0; 5];
        copies.write(&mut memory, &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(memory, [4.0, 3.0, 0.0, 1.0, 2.0]);
        let mut short = [0.0; 3];
        copies.read(&memory, &mut short);
        assert_eq!(short, [1.0, 2.0, 3.0]);
    }
}
