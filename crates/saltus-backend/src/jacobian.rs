//! Jacobians of loops: the derivatives of the residuals by the iteration variables, through the torn variables.

use saltus_base::Index;
use saltus_flat::FlatModel;
use saltus_program::{SlotId, SlotKind};

use crate::blocks::{LoopStep, Step};
use crate::dag::NodeId;
use crate::differentiate::CallRules;
use crate::system::System;

/// The derivatives of a loop's residuals.
#[derive(Clone, Debug)]
pub struct LoopJacobian {
    /// Row, column and value of the entries that are not zero.
    pub entries: Vec<(u32, u32, NodeId)>,
    /// No entry depends on an unknown of the loop.
    pub is_linear: bool,
    /// All entries are made of parameters.
    pub is_constant: bool,
}

/// Gives every loop its Jacobian.
pub fn build_jacobians<'a>(model: &FlatModel, system: &mut System, steps: impl IntoIterator<Item = &'a mut Step>) {
    for step in steps {
        if let Step::Loop(l) = step {
            l.jacobian = loop_jacobian(model, system, l);
        }
    }
}

/// `None` where a function without a derivative is called: then differences must do.
fn loop_jacobian(model: &FlatModel, system: &mut System, l: &LoopStep) -> Option<LoopJacobian> {
    let mut dag = std::mem::take(&mut system.dag);
    let roots: Vec<NodeId> = l.residuals.iter().map(|(residual, _)| *residual).collect();
    let rows = dag.jacobian(&roots, &l.unknowns, &mut CallRules { model, system });
    system.dag = dag;
    let mut is_unknown = vec![false; system.slots.len()];
    l.unknowns.iter().for_each(|slot| is_unknown[slot.index()] = true);
    let mut entries = Vec::new();
    let (mut is_linear, mut is_constant) = (true, true);
    // A parameter with `fixed = false` changes while the initial system is solved.
    let changes = |system: &System, slot: SlotId| {
        system.slots[slot].kind != SlotKind::Parameter || system.parameters.free.contains(&slot)
    };
    for (row, partials) in rows.ok()?.into_iter().enumerate() {
        for (column, node) in partials {
            is_linear = is_linear && !system.dag.depends_on(node, &|slot| is_unknown[slot.index()]);
            is_constant = is_constant && !system.dag.depends_on(node, &|slot| changes(system, slot));
            entries.push((row as u32, column as u32, node));
        }
    }
    Some(LoopJacobian { entries, is_linear, is_constant })
}
