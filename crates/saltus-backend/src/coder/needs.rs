//! Under which conditions calls are needed.
//!
//! ```text
//! if c and not d then (if e then f(x) else g(x)) else 0        f(x) is needed if c, not d and e
//! b or f(x) > 0                                                 f(x) is needed if not b
//! ```
//!
//! In: the roots of code. Out: for each call literals that hold whenever one of its results is used. What is used in several
//! places has what their conditions have in common.

use std::collections::HashMap;

use saltus_program::{BinaryFn, UnaryFn};

use crate::dag::{CallId, Dag, FastMap, Node, NodeId};
use crate::tuning::form::MOST_LITERALS;

/// A condition with the value that it must have.
pub type Literal = (NodeId, bool);

/// Sets of literals, each once. Set 0 is empty: needed always.
struct Sets {
    sets: Vec<Vec<Literal>>,
    numbers: HashMap<Vec<Literal>, usize>,
    /// What two sets have in common.
    common: HashMap<(usize, usize), usize>,
}

impl Sets {
    fn new() -> Self {
        Sets { sets: vec![Vec::new()], numbers: HashMap::from([(Vec::new(), 0)]), common: HashMap::new() }
    }

    fn number(&mut self, set: Vec<Literal>) -> usize {
        if let Some(&known) = self.numbers.get(&set) {
            return known;
        }
        self.sets.push(set.clone());
        self.numbers.insert(set, self.sets.len() - 1);
        self.sets.len() - 1
    }

    fn common(&mut self, a: usize, b: usize) -> usize {
        if a == b || a == 0 || b == 0 {
            return if a == b { a } else { 0 };
        }
        if let Some(&known) = self.common.get(&(a, b)) {
            return known;
        }
        let both: Vec<Literal> = self.sets[a].iter().filter(|l| self.sets[b].contains(l)).copied().collect();
        let number = self.number(both);
        self.common.insert((a, b), number);
        number
    }

    /// The set with what `condition` being `is` means in addition.
    fn and(&mut self, set: usize, dag: &Dag, condition: NodeId, is: bool) -> usize {
        let mut literals = self.sets[set].clone();
        add_literals(dag, condition, is, &mut literals);
        self.number(literals)
    }
}

fn add_literals(dag: &Dag, condition: NodeId, is: bool, literals: &mut Vec<Literal>) {
    let mut rest = vec![(condition, is)];
    while let Some((node, is)) = rest.pop() {
        match dag.node(node) {
            Node::Unary(UnaryFn::Not, x) => rest.push((x, !is)),
            Node::Binary(BinaryFn::And, a, b) if is => rest.extend([(b, is), (a, is)]),
            Node::Binary(BinaryFn::Or, a, b) if !is => rest.extend([(b, is), (a, is)]),
            _ if literals.len() >= MOST_LITERALS => return,
            _ if literals.contains(&(node, is)) => {}
            _ => literals.push((node, is)),
        }
    }
}

/// The literals of each call that is not needed always. A call with an effect has its own condition as its first argument,
/// and needs the others only if that holds. `order` is what the roots consist of, children first.
pub fn conditions_of_calls(
    dag: &Dag,
    roots: &[NodeId],
    order: &[NodeId],
    has_effect: &dyn Fn(CallId) -> bool,
) -> FastMap<CallId, Vec<Literal>> {
    let mut results_left: FastMap<CallId, u32> = FastMap::default();
    for &id in order {
        if let Node::Result(call, _) = dag.node(id) {
            *results_left.entry(call).or_default() += 1;
        }
    }
    if results_left.is_empty() {
        return FastMap::default();
    }
    let mut sets = Sets::new();
    let mut needs: FastMap<NodeId, usize> = roots.iter().map(|&root| (root, 0)).collect();
    let mut of_calls: FastMap<CallId, usize> = FastMap::default();
    // Parents come first.
    for &id in order.iter().rev() {
        let need = needs.get(&id).copied().unwrap_or(0);
        let mut add = |sets: &mut Sets, child: NodeId, need: usize| {
            needs.entry(child).and_modify(|n| *n = sets.common(*n, need)).or_insert(need);
        };
        match dag.node(id) {
            Node::Const(_) | Node::Load(_) => {}
            Node::Unary(_, x) => add(&mut sets, x, need),
            Node::Binary(f @ (BinaryFn::And | BinaryFn::Or), a, b) => {
                add(&mut sets, a, need);
                let further = sets.and(need, dag, a, f == BinaryFn::And);
                add(&mut sets, b, further);
            }
            Node::Binary(_, a, b) => [a, b].into_iter().for_each(|x| add(&mut sets, x, need)),
            Node::Select(c, a, b) => {
                add(&mut sets, c, need);
                for (branch, is) in [(a, true), (b, false)] {
                    let further = sets.and(need, dag, c, is);
                    add(&mut sets, branch, further);
                }
            }
            Node::Result(call, _) => {
                let whole = match of_calls.get(&call) {
                    Some(&known) => sets.common(known, need),
                    None => need,
                };
                of_calls.insert(call, whole);
                let left = results_left.entry(call).or_default();
                *left = left.saturating_sub(1);
                // Arguments are needed where one of the results is, which is known at the last of them.
                if *left > 0 {
                    continue;
                }
                let arguments = &dag.called(call).arguments;
                match arguments.split_first() {
                    Some((&guard, others)) if has_effect(call) => {
                        add(&mut sets, guard, whole);
                        let active = sets.and(whole, dag, guard, true);
                        others.iter().for_each(|&a| add(&mut sets, a, active));
                    }
                    _ => arguments.iter().for_each(|&a| add(&mut sets, a, whole)),
                }
            }
        }
    }
    let literals = of_calls.into_iter().map(|(call, set)| (call, sets.sets[set].clone()));
    literals.filter(|(call, literals)| !literals.is_empty() && !has_effect(*call)).collect()
}

#[cfg(test)]
mod tests {
    use saltus_base::Index;
    use saltus_program::{CallableId, SlotId};

    use super::*;

    #[test]
    fn a_call_has_the_conditions_of_all_its_uses() {
        let mut dag = Dag::default();
        let [c, d, x] = [0, 1, 2].map(|i| dag.load(SlotId::from_usize(i), false));
        let call = dag.call(CallableId::from_usize(0), vec![x], 2);
        let [first, second] = [0, 1].map(|k| dag.result(call, k));
        let zero = dag.constant(0.0);
        let not_d = dag.not(d);
        let both = dag.and(c, not_d);
        // if c and not d then first else 0;   not c or second > 0
        let guarded = dag.select(both, first, zero);
        let not_c = dag.not(c);
        let positive = dag.binary(BinaryFn::Greater, second, zero);
        let decided = dag.binary(BinaryFn::Or, not_c, positive);
        let of = |roots: &[NodeId]| {
            conditions_of_calls(&dag, roots, &dag.reachable(roots), &|_| false).remove(&call).unwrap_or_default()
        };
        assert_eq!(of(&[guarded]), [(c, true), (d, false)]);
        assert_eq!(of(&[decided]), [(c, true)]);
        assert_eq!(of(&[guarded, decided]), [(c, true)]);
        assert_eq!(of(&[guarded, second]), []);
    }

    #[test]
    fn an_effect_needs_its_arguments_only_if_it_is_active() {
        let mut dag = Dag::default();
        let [c, x] = [0, 1].map(|i| dag.load(SlotId::from_usize(i), false));
        let call = dag.call(CallableId::from_usize(0), vec![x], 1);
        let result = dag.result(call, 0);
        let token = dag.constant(0.0);
        let effect = dag.call(CallableId::from_usize(1), vec![c, token, result], 1);
        let root = dag.result(effect, 0);
        let conditions = conditions_of_calls(&dag, &[root], &dag.reachable(&[root]), &|call| call == effect);
        assert_eq!((conditions.get(&call), conditions.get(&effect)), (Some(&vec![(c, true)]), None));
    }

    #[test]
    fn a_call_is_needed_for_the_condition_it_decides_about() {
        let mut dag = Dag::default();
        let x = dag.load(SlotId::from_usize(0), true);
        let call = dag.call(CallableId::from_usize(0), vec![x], 2);
        let [first, second] = [0, 1].map(|k| dag.result(call, k));
        let zero = dag.constant(0.0);
        let chosen = dag.select(first, second, zero);
        assert!(conditions_of_calls(&dag, &[chosen], &dag.reachable(&[chosen]), &|_| false).is_empty());
    }
}
