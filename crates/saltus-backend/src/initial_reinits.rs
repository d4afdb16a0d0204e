//! `reinit` in clauses that are active during initialisation: an initial equation `x = expr`.
//!
//! ```modelica
//! when {initial(), reset} then
//!   if not (initial() and steadyState) then
//!     reinit(y, y0);                          // not steadyState: the initial equation y = y0; otherwise nothing
//!   end if;
//! end when;
//! ```
//!
//! In: all such `reinit`s with the conditions under which they are active. Out: initial equations. Whether there is one at all must be
//! known before the simulation: either some branch is always active, or the condition is one of parameters, which become
//! structural. (Specification: sections 8.3.6 and 8.6.)

use std::collections::BTreeMap;

use saltus_base::Span;
use saltus_program::{BinaryFn, SlotId, UnaryFn};

use crate::dag::{Dag, Node, NodeId};
use crate::diagnostics;
use crate::lower::Lowering;
use crate::system::ScalarEquation;

/// Conditions with more parts than this are not looked through.
const MOST_PARTS: usize = 10;

#[derive(Clone, Copy, Debug)]
pub struct InitialReinit {
    pub state: SlotId,
    /// The condition under which it is active initially.
    pub guard: NodeId,
    pub value: NodeId,
    pub span: Span,
}

impl Lowering<'_, '_> {
    /// Makes initial equations of all `reinit`s that are active initially.
    pub fn add_initial_reinits(&mut self) {
        let mut by_state: BTreeMap<SlotId, Vec<InitialReinit>> = BTreeMap::new();
        for mut reinit in std::mem::take(&mut self.system.introduced.initial_reinits) {
            reinit.guard = self.initially(reinit.guard);
            if self.system.dag.value(reinit.guard) != Some(0.0) {
                by_state.entry(reinit.state).or_default().push(reinit);
            }
        }
        for (state, mut reinits) in by_state {
            if !self.is_one_active(&reinits) {
                for reinit in &mut reinits {
                    if let Some(value) = self.value_by_parameters(reinit.guard) {
                        reinit.guard = self.system.dag.boolean(value != 0.0);
                    }
                }
                reinits.retain(|reinit| self.system.dag.value(reinit.guard) != Some(0.0));
                if let Some(first) = reinits.first().filter(|_| !self.is_one_active(&reinits)) {
                    self.diagnostics
                        .push(diagnostics::conditional_initial_reinit(&self.system.name(state), first.span));
                    continue;
                }
            }
            let Some(last) = reinits.pop() else { continue };
            let dag = &mut self.system.dag;
            let right = reinits.iter().rev().fold(last.value, |rest, r| dag.select(r.guard, r.value, rest));
            let span = reinits.first().map_or(last.span, |first| first.span);
            let left = self.system.load(state);
            let equation =
                ScalarEquation { left, right, target: None, initially: None, is_real: true, span, linearized: None };
            self.system.initial_equations.push(equation);
        }
    }

    /// A condition while `initial()` is true.
    fn initially(&mut self, node: NodeId) -> NodeId {
        let (initial, yes) = (self.system.initial, self.system.dag.boolean(true));
        self.system.dag.substitute(node, &|slot| (slot == initial).then_some(yes))
    }

    /// Is one of them active, whatever the values of variables?
    fn is_one_active(&mut self, reinits: &[InitialReinit]) -> bool {
        let dag = &mut self.system.dag;
        let no = dag.boolean(false);
        let any = reinits.iter().fold(no, |any, r| dag.binary(BinaryFn::Or, any, r.guard));
        let mut parts = Vec::new();
        collect_parts(dag, any, &mut parts);
        if parts.len() > MOST_PARTS {
            return false;
        }
        (0..1u32 << parts.len()).all(|values| {
            holds(dag, any, &|part| parts.iter().position(|&p| p == part).is_some_and(|k| values >> k & 1 == 1))
        })
    }
}

/// What a condition is put together from by `and`, `or` and `not`.
fn collect_parts(dag: &Dag, node: NodeId, parts: &mut Vec<NodeId>) {
    match dag.node(node) {
        Node::Const(_) => {}
        Node::Unary(UnaryFn::Not, a) => collect_parts(dag, a, parts),
        Node::Binary(BinaryFn::And | BinaryFn::Or, a, b) if parts.len() <= MOST_PARTS => {
            collect_parts(dag, a, parts);
            collect_parts(dag, b, parts);
        }
        _ if parts.contains(&node) => {}
        _ => parts.push(node),
    }
}

fn holds(dag: &Dag, node: NodeId, part: &dyn Fn(NodeId) -> bool) -> bool {
    match dag.node(node) {
        Node::Const(bits) => f64::from_bits(bits) != 0.0,
        Node::Unary(UnaryFn::Not, a) => !holds(dag, a, part),
        Node::Binary(BinaryFn::And, a, b) => holds(dag, a, part) && holds(dag, b, part),
        Node::Binary(BinaryFn::Or, a, b) => holds(dag, a, part) || holds(dag, b, part),
        _ => part(node),
    }
}
