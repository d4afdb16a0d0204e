//! Variables that shall be states although the model does not differentiate them (`stateSelect = prefer` or `always`).
//!
//! ```text
//! der(m) = f;  m = rho(p)*V;  Real p(stateSelect = prefer)      ⇒   m' = f;  m' = rho'(p)*p'*V;  p is the state, not m
//! ```
//!
//! In: a system that was sorted as it is. Out: the variables that take the place of states in it, to be sorted again with
//! them. Between events such a variable follows from states alone: one that depends on time, inputs or derivatives is no
//! function of them, so that to differentiate it would only add equations. (Specification: section 4.9.8.1.)

use std::collections::BTreeSet;

use saltus_program::{SlotId, SlotKind};

use crate::blocks::Step;
use crate::states::Preferences;
use crate::system::System;

/// Variables that the model prefers as states and that are functions of the present ones.
pub fn wanted_states(system: &System, preferences: &Preferences, steps: &[Step]) -> Vec<SlotId> {
    if preferences.wanted.is_empty() {
        return Vec::new();
    }
    let is_state = |slot: SlotId| system.slots[slot].kind == SlotKind::State;
    // Slots that depend on states and on nothing else that changes between events, and those that do not change there.
    let (mut follow, mut constant) = (BTreeSet::new(), BTreeSet::new());
    for step in steps {
        let own = step.slots();
        let (mut is_pure, mut has_state) = (true, false);
        for slot in system.dag.loads(&step.nodes()) {
            let is_constant = matches!(
                system.slots[slot].kind,
                SlotKind::Parameter | SlotKind::Homotopy | SlotKind::Discrete | SlotKind::Pre
            );
            match is_constant || constant.contains(&slot) || own.contains(&slot) {
                true => {}
                false if is_state(slot) || follow.contains(&slot) => has_state = true,
                false => is_pure = false,
            }
        }
        match (is_pure, has_state) {
            (true, true) => follow.extend(own),
            (true, false) => constant.extend(own),
            (false, _) => {}
        }
    }
    preferences.wanted.iter().filter(|slot| follow.contains(*slot)).copied().collect()
}

/// Makes the variables candidates for states.
pub fn introduce(system: &mut System, wanted: &[SlotId]) {
    for &slot in wanted {
        if matches!(system.slots[slot].kind, SlotKind::Algebraic | SlotKind::Derivative) {
            system.derivative(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lower::tests::flat;
    use crate::sorted::sort;

    fn states(text: &str) -> Vec<String> {
        let sorted = sort(&flat(text)).unwrap_or_else(|d| panic!("{d:?}"));
        let system = &sorted.system;
        system.derivative_of.keys().map(|&slot| system.name(slot).into_owned()).collect()
    }

    #[test]
    fn a_preferred_variable_takes_the_place_of_the_state_it_follows_from() {
        let text = "model M parameter StateSelect wish = StateSelect.prefer; \
                    Real m(start = 1), p(start = 1, stateSelect = wish), q(stateSelect = StateSelect.prefer); \
                    equation der(m) = -2*p; m = p^3 + p; q = p + sin(time); end M;";
        // q depends on time: nothing is won by its derivative.
        assert_eq!(states(text), ["p"]);
        assert_eq!(states(&text.replace("wish = StateSelect.prefer", "wish = StateSelect.default")), ["m"]);
    }

    #[test]
    fn relative_motion_is_preferred_with_its_velocity() {
        let text = "model M Real x1(start = 1), v1, x2, v2; Real s(stateSelect = StateSelect.prefer); \
                    Real v(stateSelect = StateSelect.prefer); equation der(x1) = v1; der(x2) = v2; der(s) = v; \
                    s = x2 - x1; der(v1) = 100*s + v; der(v2) = -100*s - v; end M;";
        let found = states(text);
        assert!(found.len() == 4 && ["s", "v"].iter().all(|name| found.iter().any(|f| f == name)), "{found:?}");
    }

    #[test]
    fn what_cannot_be_differentiated_stays_as_it_is() {
        let text = "model M function f input Real x; output Real y; external \"C\" y = unknown_function(x); end f; \
                    Real m(start = 1), p(start = 1, stateSelect = StateSelect.prefer); \
                    equation der(m) = -2*p; m = f(p); end M;";
        assert_eq!(states(text), ["m"]);
    }
}
