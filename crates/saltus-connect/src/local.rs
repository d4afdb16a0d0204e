//! The equations that the connections of one component make by themselves, as the specification counts them (4.8): without those of
//! the components in it and around it.
//!
//! ```text
//! model Pair                       connections of Pair: {p, a.p}, {a.n, b.p}, {b.n, n}
//!   Pin p, n; Resistor a, b;       3 sets of 2 pins: 3 for the potentials, 3 for the currents
//! ```
//!
//! In: the accepted pairs with the component each stands in. Out: a [`LocalConnections`] for each component that has any.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_base::Diagnostics;
use saltus_flat::Variability;

use crate::sets::{Connect, Set, SplitArrays, merge};
use crate::{End, Face, Kind, Variables};

/// Counts of scalars.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LocalConnections {
    pub equations: u64,
    /// Flow variables of components inside that are connected.
    pub inside_flows: u64,
    /// A connection leads to a connector of something outside, or to a member of an expandable connector: the numbers are not those of
    /// the component alone.
    pub reaches_out: bool,
}

pub(crate) fn count(connects: &[Connect], vars: &dyn Variables) -> BTreeMap<Arc<str>, LocalConnections> {
    let mut by_component: BTreeMap<Arc<str>, Vec<Connect>> = BTreeMap::new();
    for connect in connects {
        by_component.entry(connect.component.clone()).or_default().push(connect.clone());
    }
    by_component.into_iter().map(|(component, own)| (component.clone(), count_own(&component, &own, vars))).collect()
}

fn count_own(component: &str, connects: &[Connect], vars: &dyn Variables) -> LocalConnections {
    // What cannot be split has been reported for the model as a whole.
    let split = SplitArrays::new(connects, &[], vars, &mut Diagnostics::new());
    let mut counts = LocalConnections::default();
    for set in merge(connects, &[], &split, false).sets() {
        add(&set, component, vars, &mut counts);
    }
    counts
}

fn add(set: &Set, component: &str, vars: &dyn Variables, counts: &mut LocalConnections) {
    let Some(first) = set.members.first().map(|m| m.end) else { return };
    if vars.variability(first.var) <= Variability::Parameter {
        return;
    }
    let size = |end: End| if end.element.is_some() { 1 } else { vars.ty(end.var).n_elements().unwrap_or(0) };
    let n_inside = set.members.iter().filter(|m| m.end.face == Face::Inside).count() as u64;
    let n_members = set.members.len() as u64;
    let n_equations = match vars.kind(first.var) {
        Kind::Flow => 1,
        Kind::Stream { .. } => n_members - n_inside,
        Kind::Potential => n_members - 1,
    };
    counts.equations += n_equations * size(first);
    if vars.kind(first.var) == Kind::Flow {
        counts.inside_flows += n_inside * size(first);
    }
    let is_own = |end: End| is_within(vars.name(end.var), component) && !vars.is_expandable(end.var);
    counts.reaches_out |= !set.members.iter().all(|m| is_own(m.end));
}

fn is_within(name: &str, component: &str) -> bool {
    component.is_empty() || name.strip_prefix(component).is_some_and(|rest| rest.starts_with('.'))
}
