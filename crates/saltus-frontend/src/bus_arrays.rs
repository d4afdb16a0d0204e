//! Arrays in expandable connectors that have the elements that are connected (specification 9.1.3).
//!
//! ```text
//! connect(bus.x[2], a);
//! connect(bus.x[5], b);      ⇒   bus gets a `Real x[5]`
//! ```
//!
//! The same holds for a declared `Real x[:]`.

use std::collections::HashMap;
use std::rc::Rc;

use saltus_base::Span;
use saltus_syntax::ast;

use crate::Front;
use crate::component::{MOST_INSTANCES, advance, positions, unravel};
use crate::connection::Connector;
use crate::diagnostics as d;
use crate::instance::{ClassComp, CompId, CompKind, InstId, Memo};
use crate::modifier::merge;
use crate::reference::{index_list, index_of};

impl<'a> Front<'a> {
    /// A dimension `:` in an expandable connector is as long as the elements that are connected need.
    pub fn is_open_dimension(&mut self, comp: CompId, k: usize, rank: usize) -> bool {
        let owner = self.tree[comp].owner;
        let is_fixed = self.tree[comp].prefixes.variability.is_some();
        if is_fixed || !self.is_expandable(owner) {
            return false;
        }
        let mut is_open = self.network.growing.get(&comp).map_or_else(|| vec![false; rank], |open| open.to_vec());
        is_open[k] = true;
        self.network.growing.insert(comp, is_open.into());
        true
    }

    /// Whether subscripts say which elements of an array are meant; of one without a size of its own they must.
    pub fn names_elements(&mut self, comp: CompId, subscripts: &[ast::Subscript], span: Span) -> bool {
        let Some(is_open) = self.network.growing.get(&comp) else { return true };
        let is_named = |k: usize| matches!(subscripts.get(k), Some(ast::Subscript::Expr(_)));
        let are_named = is_open.iter().enumerate().all(|(k, &is_open)| !is_open || is_named(k));
        if !are_named {
            let name = self.comp_name(comp);
            self.report(d::sizeless_array(&name, span));
        }
        are_named
    }

    /// Makes an array large enough for the subscripts of a connection; false, and a message, where they leave its size open.
    pub fn grow_to_subscripts(
        &mut self,
        scope: InstId,
        comp: CompId,
        subscripts: &'a [ast::Subscript],
        span: Span,
    ) -> bool {
        if !self.names_elements(comp, subscripts, span) {
            return false;
        }
        let Some(is_open) = self.network.growing.get(&comp).cloned() else { return true };
        let mut sizes = self.comp_dims(comp).to_vec();
        for k in (0..sizes.len()).filter(|&k| is_open[k]) {
            let Some(ast::Subscript::Expr(e)) = subscripts.get(k) else { continue };
            let mark = self.messages.mark();
            let typed = self.expression(scope, e);
            let largest = match self.evaluate_index(&typed) {
                Some(list @ saltus_eval::Value::Array(_)) => index_list(&list).and_then(|l| l.into_iter().max()),
                Some(value) => index_of(&value),
                None => None,
            };
            self.messages.take_back(mark);
            sizes[k] = sizes[k].max(largest.unwrap_or(0));
        }
        self.grow(comp, &sizes);
        true
    }

    /// Makes the open dimensions of an array at least as long as wanted; true if it has become larger.
    pub fn grow(&mut self, comp: CompId, wanted: &[u64]) -> bool {
        let Some(is_open) = self.network.growing.get(&comp).cloned() else { return false };
        let old = self.comp_dims(comp);
        let new: Rc<[u64]> = old
            .iter()
            .enumerate()
            .map(|(k, &size)| if is_open[k] { size.max(wanted.get(k).copied().unwrap_or(0)) } else { size })
            .collect();
        if new == old {
            return false;
        }
        let count = new.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).unwrap_or(u64::MAX);
        if self.tree.n_instances().saturating_add(count) > MOST_INSTANCES {
            let (name, span) = (self.comp_name(comp), self.tree[comp].declared.span);
            self.give_up(d::too_many_instances(&name, count, span));
            return false;
        }
        if let CompKind::Class(class) = self.comp_kind(comp) {
            let elements = self.grown_elements(comp, &class, &old, &new, count);
            let kind = CompKind::Class(Rc::new(ClassComp { slot: class.slot, elements, counters: Vec::new() }));
            self.tree[comp].memo.kind = Memo::Known(kind);
        }
        self.tree[comp].memo.dims = Memo::Known(new.clone());
        self.move_elements(comp, &old, &new);
        true
    }

    /// The elements there were, at their places, and new ones between and behind them.
    fn grown_elements(&mut self, comp: CompId, class: &ClassComp, old: &[u64], new: &[u64], count: u64) -> Vec<InstId> {
        let modifier = merge(&self.tree[comp].modifier, &self.tree[class.slot].modifier);
        let class_rank = self.sizes.array_classes.get(&comp).map_or(0, Vec::len);
        let mut elements = Vec::with_capacity(count as usize);
        let mut index = vec![1u32; new.len()];
        for _ in 0..count {
            let at: Vec<u64> = index.iter().map(|&i| u64::from(i)).collect();
            let inst = match position(&at, old).and_then(|p| class.elements.get(p as usize)) {
                Some(&inst) => inst,
                None => {
                    let inst = self.new_element(comp, class.slot, &modifier, &positions(&index), class_rank);
                    self.expand(inst);
                    inst
                }
            };
            elements.push(inst);
            advance(&mut index, new);
        }
        elements
    }

    /// Connections name elements by their place, which is another one in a longer row.
    fn move_elements(&mut self, comp: CompId, old: &[u64], new: &[u64]) {
        if old.len() < 2 {
            return;
        }
        let moved = |end: Connector| match end {
            Connector::Leaf(c, Some(p)) if c == comp => Connector::Leaf(c, position(&unravel(p, old), new)),
            other => other,
        };
        for connection in &mut self.network.connections {
            for (end, _) in &mut connection.ends {
                *end = moved(*end);
            }
        }
        let cardinalities: HashMap<Connector, i64> =
            self.network.cardinalities.iter().map(|(&end, &n)| (moved(end), n)).collect();
        self.network.cardinalities = cardinalities;
    }
}

/// The row-major place (from 0) of an index (from 1), if the array has it.
fn position(index: &[u64], dims: &[u64]) -> Option<u64> {
    let mut at = 0;
    for (&i, &size) in index.iter().zip(dims) {
        if i > size {
            return None;
        }
        at = at * size + i - 1;
    }
    Some(at)
}
