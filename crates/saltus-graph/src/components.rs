//! Strongly connected components by Tarjan's algorithm (1972), iterative.
//!
//! In: for each node the nodes it depends on. Out: the components, dependencies first, so that their order is an order
//! of computation. Within a component nodes are sorted.

/// Components of the graph `successors`; a component comes after all components it points to.
pub fn strongly_connected_components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut tarjan = Tarjan {
        successors,
        index: vec![UNSEEN; successors.len()],
        low: vec![0; successors.len()],
        on_stack: vec![false; successors.len()],
        stack: Vec::new(),
        next_index: 0,
        components: Vec::new(),
    };
    for node in 0..successors.len() {
        if tarjan.index[node] == UNSEEN {
            tarjan.visit(node);
        }
    }
    tarjan.components
}

const UNSEEN: usize = usize::MAX;

struct Tarjan<'a> {
    successors: &'a [Vec<usize>],
    index: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next_index: usize,
    components: Vec<Vec<usize>>,
}

impl Tarjan<'_> {
    fn enter(&mut self, node: usize) {
        self.index[node] = self.next_index;
        self.low[node] = self.next_index;
        self.next_index += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    fn visit(&mut self, root: usize) {
        self.enter(root);
        let mut calls = vec![(root, 0usize)];
        while let Some((node, edge)) = calls.last_mut() {
            let node = *node;
            match self.successors[node].get(*edge) {
                Some(&next) => {
                    *edge += 1;
                    if self.index[next] == UNSEEN {
                        self.enter(next);
                        calls.push((next, 0));
                    } else if self.on_stack[next] {
                        self.low[node] = self.low[node].min(self.index[next]);
                    }
                }
                None => {
                    calls.pop();
                    if let Some(&(parent, _)) = calls.last() {
                        self.low[parent] = self.low[parent].min(self.low[node]);
                    }
                    self.leave(node);
                }
            }
        }
    }

    fn leave(&mut self, node: usize) {
        if self.low[node] != self.index[node] {
            return;
        }
        let mut component = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            component.push(member);
            if member == node {
                break;
            }
        }
        component.sort_unstable();
        self.components.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_come_first() {
        // 0 needs 1, 1 needs 2 and 3, 2 and 3 need each other
        let components = strongly_connected_components(&[vec![1], vec![2, 3], vec![3], vec![2]]);
        assert_eq!(components, [vec![2, 3], vec![1], vec![0]]);
    }

    #[test]
    fn a_node_that_needs_itself_is_one_component() {
        assert_eq!(strongly_connected_components(&[vec![0], vec![]]), [vec![0], vec![1]]);
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let n = 200_000;
        let chain: Vec<Vec<usize>> = (0..n).map(|i| if i + 1 < n { vec![i + 1] } else { vec![] }).collect();
        let components = strongly_connected_components(&chain);
        assert_eq!(components.len(), n);
        assert_eq!(components[0], [n - 1]);
    }
}
