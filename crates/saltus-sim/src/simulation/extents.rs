//! How large states have been: one that stays below its absolute tolerance is not known to a single digit, and one below a hundred times that not to two.
//!
//! ```modelica
//! Real x(start = 1e-12, fixed = true);      // without `nominal = 1e-12` an error of 1e-6 is good enough
//! Real y(start = 1e-5, fixed = true);       // one digit
//! ```
//!
//! In: the states where steps end and after events. Out: the names of those that a run must not be silent about.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use saltus_program::SlotId;
use serde::{Deserialize, Serialize};

use super::Simulation;

/// What is this many times its absolute tolerance is known to two digits: an error of one part in a hundred is about what is seen in a plot. Test:
/// `what_is_small_beside_its_nominal_value_is_told`.
const TWO_DIGITS: f64 = 100.0;

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
        let named = self.own_extents().map(|(slot, size)| (self.program.memory.slot_name(slot).into_owned(), size));
        all.add(named.collect());
        all.left
    }

    /// Of the states of the present program, by slot.
    fn own_extents(&self) -> impl Iterator<Item = (SlotId, f64)> {
        let states = self.program.states.iter().zip(&self.driver.extents.largest);
        states.map(|(state, largest)| (state.value, largest / state.nominal.abs()))
    }

    /// States that were not zero all the time, and always smaller than their absolute tolerance.
    pub(crate) fn below_tolerance(&self) -> Vec<String> {
        self.states_with(|size| size > 0.0 && size < 1.0)
    }

    /// States that were larger than that, but always so small that an error as large as the tolerance can be seen in a plot.
    pub(crate) fn of_one_digit(&self) -> Vec<String> {
        self.states_with(|size| (1.0..TWO_DIGITS).contains(&size))
    }

    /// States whose largest magnitude is that in units of their absolute tolerance.
    fn states_with(&self, is_meant: impl Fn(f64) -> bool) -> Vec<String> {
        if !self.options.solver.controls_error() {
            return Vec::new();
        }
        let size = |size: f64| size / self.options.tolerance;
        if self.driver.extents.left.is_empty() {
            let small = self.own_extents().filter(|(_, part)| is_meant(size(*part)));
            let names: BTreeSet<_> = small.map(|(slot, _)| self.program.memory.slot_name(slot)).collect();
            return names.into_iter().map(Cow::into_owned).collect();
        }
        self.extents().into_iter().filter(|(_, part)| is_meant(size(*part))).map(|(name, _)| name).collect()
    }
}
