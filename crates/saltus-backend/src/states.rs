//! How much a variable wants to be a state (`stateSelect`, specification 4.9.8).

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::Diagnostics;
use saltus_flat::{Expr, ExprKind, FlatModel};
use saltus_program::SlotId;

use crate::alias::Aliases;
use crate::lower::Lowering;
use crate::system::System;

/// The wish of each slot, from `never` to `always`.
#[derive(Default, Debug)]
pub struct Preferences {
    of: BTreeMap<SlotId, u8>,
    /// Variables with a wish to be states that the model does not differentiate.
    pub wanted: BTreeSet<SlotId>,
}

impl Preferences {
    pub const NEVER: u8 = 0;
    /// A variable that is not differentiated: it becomes a candidate only through a differentiated equation.
    pub const ALGEBRAIC: u8 = 1;
    pub const AVOID: u8 = 2;
    pub const DEFAULT: u8 = 3;
    pub const PREFER: u8 = 4;
    pub const ALWAYS: u8 = 5;

    /// How much better conditioned a choice of states without this one must be.
    pub fn weight(wish: u8) -> f64 {
        match wish {
            Preferences::NEVER => 1e-3,
            Preferences::ALGEBRAIC | Preferences::AVOID => 0.25,
            Preferences::DEFAULT => 1.0,
            Preferences::PREFER => 4.0,
            _ => 1e3,
        }
    }

    pub fn of(&self, slot: SlotId) -> u8 {
        self.of.get(&slot).copied().unwrap_or(Preferences::ALGEBRAIC)
    }

    /// Reads the attribute of every variable; a variable that stands for several has the strongest wish of them.
    pub fn read(model: &FlatModel, system: &mut System, aliases: &Aliases) -> Preferences {
        let (mut of, mut wanted) = (BTreeMap::new(), BTreeSet::new());
        for (&slot, &derivative) in &system.derivative_of {
            of.insert(slot, Preferences::DEFAULT);
            of.insert(derivative, Preferences::DEFAULT);
        }
        // The model does not know the variable behind `der(expression)`: what the expression consists of comes first.
        for (&slot, derivative) in
            system.introduced.differentiated.values().filter_map(|s| system.derivative_of.get_key_value(s))
        {
            of.insert(slot, Preferences::ALGEBRAIC);
            of.insert(*derivative, Preferences::ALGEBRAIC);
        }
        // The front end has reported what is wrong with an attribute.
        let mut diagnostics = Diagnostics::new();
        let mut lowering = Lowering::new(model, system, &mut diagnostics);
        for (id, variable) in model.variables.iter() {
            let Some(attribute) = variable.attributes.state_select.as_ref() else { continue };
            let slots = lowering.system.elements[id].clone();
            let wishes = wishes_of(&mut lowering, attribute, slots.len());
            let system = &*lowering.system;
            for (&slot, wish) in slots.iter().zip(wishes) {
                let slot = aliases.resolve(slot).slot;
                let known = of.get(&slot).copied().unwrap_or(Preferences::ALGEBRAIC);
                let stronger =
                    if known <= Preferences::DEFAULT && wish <= Preferences::AVOID { wish } else { wish.max(known) };
                of.insert(slot, stronger);
                if stronger >= Preferences::PREFER && !system.derivative_of.contains_key(&slot) {
                    wanted.insert(slot);
                }
                if let Some(&derivative) = system.derivative_of.get(&slot) {
                    let known = of.get(&derivative).copied().unwrap_or(stronger);
                    of.insert(derivative, if stronger <= Preferences::AVOID { stronger } else { stronger.max(known) });
                }
            }
        }
        Preferences { of, wanted }
    }
}

/// The wishes of the elements of a variable, from an attribute that is one for all or has one for each. Parameters in it
/// count as constants.
fn wishes_of<'a>(lowering: &mut Lowering<'a, '_>, attribute: &'a Expr, n: usize) -> Vec<u8> {
    if let ExprKind::EnumLiteral(_, ordinal) = &attribute.kind {
        return vec![wish_of(f64::from(*ordinal)); n];
    }
    // The structure of the system depends on it.
    if let Ok(nodes) = lowering.literally(|l| l.spread(attribute, n)) {
        let slots = lowering.system.dag.loads(&nodes);
        lowering.system.memo.structural.extend(slots);
    }
    let nodes = lowering.folding(|l| l.literally(|l| l.spread(attribute, n))).unwrap_or_default();
    let wishes = nodes.into_iter().map(|node| lowering.system.dag.value(node).map(wish_of));
    wishes.collect::<Option<Vec<u8>>>().unwrap_or_default()
}

/// By the position in the enumeration `StateSelect`.
fn wish_of(ordinal: f64) -> u8 {
    match ordinal as u32 {
        1 => Preferences::NEVER,
        2 => Preferences::AVOID,
        4 => Preferences::PREFER,
        5 => Preferences::ALWAYS,
        _ => Preferences::DEFAULT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alias::eliminate_aliases;
    use crate::lower::tests::{flat, lowered};

    #[test]
    fn the_variable_behind_an_expression_gives_way_to_those_in_it() {
        let text = "model M Real x(start = 1), y; equation der(x) = -x; y = der(x^3 + x); end M;";
        let mut system = lowered(text);
        let aliases = eliminate_aliases(&mut system, &mut [], None);
        let preferences = Preferences::read(&flat(text), &mut system, &aliases);
        let wish = |name: &str| {
            let slot = system.derivative_of.keys().find(|&&slot| system.name(slot) == name);
            slot.map(|&slot| preferences.of(slot))
        };
        assert_eq!(wish("x"), Some(Preferences::DEFAULT));
        assert_eq!(wish("differentiated 1"), Some(Preferences::ALGEBRAIC));
    }
}
