//! How much a variable wants to be a state (`stateSelect`, specification 4.9.8).

use std::collections::BTreeMap;

use saltus_flat::{Expr, ExprKind, FlatModel};
use saltus_program::SlotId;

use crate::alias::Aliases;
use crate::system::System;

/// The wish of each slot, from `never` to `always`.
#[derive(Default, Debug)]
pub struct Preferences {
    of: BTreeMap<SlotId, u8>,
}

impl Preferences {
    pub const NEVER: u8 = 0;
    /// A variable that nobody differentiates: it becomes a candidate only through a differentiated equation.
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
    pub fn read(model: &FlatModel, system: &System, aliases: &Aliases) -> Preferences {
        let mut of = BTreeMap::new();
        for (&slot, &derivative) in &system.derivative_of {
            of.insert(slot, Preferences::DEFAULT);
            of.insert(derivative, Preferences::DEFAULT);
        }
        // The model does not know the variable behind `der(expression)`: what the expression consists of comes first.
        for (&slot, derivative) in
            system.memo.differentiated.values().filter_map(|s| system.derivative_of.get_key_value(s))
        {
            of.insert(slot, Preferences::ALGEBRAIC);
            of.insert(*derivative, Preferences::ALGEBRAIC);
        }
        for (id, variable) in model.variables.iter() {
            let Some(wish) = variable.attributes.state_select.as_ref() else { continue };
            for (k, &slot) in system.elements[id].iter().enumerate() {
                let Some(wish) = wish_of(wish, k) else { continue };
                let slot = aliases.resolve(slot).slot;
                let known = of.get(&slot).copied().unwrap_or(Preferences::ALGEBRAIC);
                let stronger =
                    if known <= Preferences::DEFAULT && wish <= Preferences::AVOID { wish } else { wish.max(known) };
                of.insert(slot, stronger);
                if let Some(&derivative) = system.derivative_of.get(&slot) {
                    let known = of.get(&derivative).copied().unwrap_or(stronger);
                    of.insert(derivative, if stronger <= Preferences::AVOID { stronger } else { stronger.max(known) });
                }
            }
        }
        Preferences { of }
    }
}

fn wish_of(attribute: &Expr, element: usize) -> Option<u8> {
    match &attribute.kind {
        ExprKind::EnumLiteral(_, ordinal) => Some(match ordinal {
            1 => Preferences::NEVER,
            2 => Preferences::AVOID,
            4 => Preferences::PREFER,
            5 => Preferences::ALWAYS,
            _ => Preferences::DEFAULT,
        }),
        ExprKind::Array(items) => wish_of(items.get(element)?, 0),
        ExprKind::If { then, .. } => wish_of(then, element),
        _ => None,
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
        let aliases = eliminate_aliases(&mut system);
        let preferences = Preferences::read(&flat(text), &system, &aliases);
        let wish = |name: &str| {
            let slot = system.derivative_of.keys().find(|&&slot| system.name(slot) == name);
            slot.map(|&slot| preferences.of(slot))
        };
        assert_eq!(wish("x"), Some(Preferences::DEFAULT));
        assert_eq!(wish("differentiated 1"), Some(Preferences::ALGEBRAIC));
    }
}
