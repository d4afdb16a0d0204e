//! Which locals instructions assign.

use std::collections::BTreeSet;

use crate::form::{Register, Step};

/// Adds the locals that these instructions may assign.
pub fn assigned(block: &[Step], locals: &mut BTreeSet<Register>) {
    for step in block {
        match step {
            Step::Assign { target, .. } => {
                locals.insert(*target);
            }
            Step::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| assigned(body, locals));
                assigned(otherwise, locals);
            }
            Step::For { body, .. } | Step::While { body, .. } => assigned(body, locals),
            _ => {}
        }
    }
}
