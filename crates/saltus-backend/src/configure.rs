//! Fix the positions of switches that change the structure.
//!
//! ```text
//! 0 = if closed then u else i        closed = true:    0 = u
//!                                    and a discrete variable with the value of `closed` at events
//! ```
//!
//! In: the system without aliases, which is the same for all configurations, and a [`Key`]. Out: the system of that configuration,
//! with the slots of its conditions.

use std::collections::BTreeMap;

use saltus_base::Span;
use saltus_program::{Key, SlotKind, SlotType, Switch};

use crate::dag::{Node, NodeId, Replacement};
use crate::describe::full_text_of;
use crate::system::System;

/// The switches of a configuration, and the number of slots that all configurations have.
pub struct Fixed {
    pub switches: Vec<Switch>,
    pub n_common: usize,
}

pub fn fix_switches(system: &mut System, key: &Key) -> Fixed {
    let n_common = system.slots.len();
    let mut positions: BTreeMap<NodeId, bool> = BTreeMap::new();
    let mut switches = Vec::new();
    for (condition, span) in conditions(system) {
        let text = full_text_of(system, condition);
        if let Some(&is_on) = key.0.get(&text)
            && positions.insert(condition, is_on).is_none()
        {
            switches.push((text, condition, is_on, span));
        }
    }
    system.replace_expressions(std::iter::empty(), |dag, roots| {
        dag.replace_all(roots, |dag, id| match dag.node(id) {
            Node::Select(condition, a, b) => {
                positions.get(&condition).map(|is_on| Replacement::ByChild(if *is_on { a } else { b }))
            }
            _ => None,
        })
    });
    let switches = switches.into_iter().map(|(text, condition, is_on, span)| {
        let name = format!("position of {text}");
        let condition = system.add_discrete(name, SlotType::Boolean, condition, None, span);
        Switch { text, condition, is_on, span }
    });
    Fixed { switches: switches.collect(), n_common }
}

/// Conditions in equations that change during a simulation, each with the place of an equation.
fn conditions(system: &System) -> Vec<(NodeId, Span)> {
    let mut found: BTreeMap<NodeId, Span> = BTreeMap::new();
    for equation in system.equations.iter().filter(|e| e.is_real) {
        for id in system.dag.reachable(&[equation.left, equation.right]) {
            if let Node::Select(condition, ..) = system.dag.node(id)
                && !found.contains_key(&condition)
                && system.dag.depends_on(condition, &|slot| system.slots[slot].kind != SlotKind::Parameter)
            {
                found.insert(condition, equation.span);
            }
        }
    }
    found.into_iter().collect()
}
