//! `reinit` in clocked partitions that are discretized: the next step begins with the new value.
//!
//! ```text
//! when c then reinit(x, a); end when;     ⇒     x⁺ = if edge(c) then a else x;
//! der(x) = -x;                                  x = previous(x⁺) + interval() * der(x);  der(x) = -x
//! ```
//!
//! In: the equations of a base-partition with its `reinit`s. Out: an equation for the value with which each such state goes on.
//! (Specification: sections 8.3.6 and 16.8; how events are handled while a partition is integrated is left to the tool.)

use std::collections::BTreeMap;

use saltus_program::{SlotId, SlotKind, SlotType};

use crate::system::{ScalarEquation, System};

/// Takes the `reinit`s of this partition out of the events. Returns the states with the variables that their next step begins with.
pub fn take_reinits(system: &mut System, sub_of: &mut BTreeMap<SlotId, usize>) -> BTreeMap<SlotId, SlotId> {
    let all = std::mem::take(&mut system.events.reinits);
    let is_own = |state: &SlotId| sub_of.contains_key(state) && system.derivative_of.contains_key(state);
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|reinit| is_own(&reinit.state));
    system.events.reinits = others;
    let mut continued = BTreeMap::new();
    let mut values = BTreeMap::new();
    for reinit in own {
        let before = *values.entry(reinit.state).or_insert_with(|| (system.load(reinit.state), reinit.span));
        let (active, value) = (system.load(reinit.active), system.load(reinit.value));
        let chosen = system.dag.select(active, value, before.0);
        values.insert(reinit.state, (chosen, before.1));
    }
    for (state, (right, span)) in values {
        let slot = system.add_slot(format!("{} after reinit", system.name(state)), SlotKind::Algebraic, SlotType::Real);
        let left = system.load(slot);
        let target = Some(slot);
        system.equations.push(ScalarEquation {
            left,
            right,
            target,
            initially: None,
            is_real: true,
            span,
            linearized: None,
        });
        if let Some(&sub) = sub_of.get(&state) {
            sub_of.insert(slot, sub);
        }
        continued.insert(state, slot);
    }
    continued
}
