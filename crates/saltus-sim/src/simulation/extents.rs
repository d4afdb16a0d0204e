//! How large states have been: one that stays below its absolute tolerance is not known to a single digit.
//!
//! ```modelica
//! Real x(start = 1e-12, fixed = true);      // without `nominal = 1e-12` an error of 1e-6 is good enough
//! ```
//!
//! In: the states where steps end and after events. Out: the names of those that a run must not be silent about.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Simulation;

/// The largest magnitudes of states.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Extents {
    /// By state of the present program.
    largest: Vec<f64>,
    /// By name those of programs that were left, as parts of their nominal values.
    left: BTreeMap<String, f64>,
}

impl Extents {
    pub fn note(&mut self, x: &[f64]) {
        self.largest.resize(x.len(), 0.0);
        self.largest.iter_mut().zip(x).for_each(|(largest, x)| *largest = largest.max(x.abs()));
    }

    fn add(&mut self, others: BTreeMap<String, f64>) {
        for (name, size) in others {
            let known = self.left.entry(name).or_insert(0.0);
            *known = known.max(size);
        }
    }
}

impl Simulation {
    /// The states are about to be others.
    pub(super) fn leave_extents(&mut self) {
        let own = self.extents();
        self.driver.extents = Extents { largest: Vec::new(), left: own };
    }

    /// Takes over those of a part of the model.
    pub(super) fn add_extents(&mut self, part: &Simulation) {
        self.driver.extents.add(part.extents());
    }

    /// By name, the largest magnitude of each state as a part of its nominal value.
    fn extents(&self) -> BTreeMap<String, f64> {
        let mut all = Extents { largest: Vec::new(), left: self.driver.extents.left.clone() };
        let states = self.program.states.iter().zip(&self.driver.extents.largest);
        let size = |(state, largest): (&saltus_program::State, &f64)| {
            (self.program.memory.slot_name(state.value).to_owned(), largest / state.nominal.abs())
        };
        all.add(states.map(size).collect());
        all.left
    }

    /// States that were not zero all the time, and always smaller than their absolute tolerance.
    pub(crate) fn below_tolerance(&self) -> Vec<String> {
        if !self.options.solver.controls_error() {
            return Vec::new();
        }
        let is_small = |size: f64| size > 0.0 && size < self.options.tolerance;
        self.extents().into_iter().filter(|(_, size)| is_small(*size)).map(|(name, _)| name).collect()
    }
}
