//! The order in which locals get their initial values. Declarations may refer to each other in any order:
//!
//! ```text
//! protected  Real z[n];  Integer n = size(x, 1);      ⇒      x, n, z
//! ```
//!
//! A declaration that depends on itself keeps its place; whoever executes it finds a local without value.

use saltus_base::Index as _;
use saltus_flat::{Expr, ExprKind, Function, LocalId};

use crate::form::Register;

/// All locals, and how many of them the inputs need.
pub fn order(function: &Function) -> (Vec<Register>, u32) {
    let mut walk = Walk { function, is_seen: vec![false; function.locals.len()], order: Vec::new() };
    function.inputs.iter().for_each(|&input| walk.visit(input));
    // Sizes of inputs are checked before other declarations are looked at, and may need some of them.
    for &input in &function.inputs {
        let sizes = function.locals.get(input).map(|l| l.sizes.as_slice()).unwrap_or_default();
        sizes.iter().flatten().for_each(|e| walk.visit_mentioned(e));
    }
    let n = walk.order.len() as u32;
    function.locals.ids().for_each(|id| walk.visit(id));
    (walk.order, n)
}

struct Walk<'a> {
    function: &'a Function,
    is_seen: Vec<bool>,
    order: Vec<Register>,
}

impl Walk<'_> {
    /// Depth first, without recursion: chains of declarations can be long.
    fn visit(&mut self, id: LocalId) {
        let mut path = vec![(id, self.enter(id))];
        while let Some((id, waiting)) = path.last_mut() {
            match waiting.pop() {
                Some(next) if !self.is_seen.get(next.index()).copied().unwrap_or(true) => {
                    let mentioned = self.enter(next);
                    path.push((next, mentioned));
                }
                Some(_) => {}
                None => {
                    if id.index() < self.is_seen.len() && !self.order.contains(&Register::from_usize(id.index())) {
                        self.order.push(Register::from_usize(id.index()));
                    }
                    path.pop();
                }
            }
        }
    }

    fn visit_mentioned(&mut self, expr: &Expr) {
        mentioned(expr).into_iter().for_each(|id| self.visit(id));
    }

    /// What the declaration refers to, last first; nothing if it has been entered before.
    fn enter(&mut self, id: LocalId) -> Vec<LocalId> {
        match self.is_seen.get_mut(id.index()) {
            Some(seen) if !*seen => *seen = true,
            _ => return Vec::new(),
        }
        let Some(local) = self.function.locals.get(id) else { return Vec::new() };
        let mut all = Vec::new();
        match &local.default {
            Some(default) => all.extend(mentioned(default)),
            None => local.sizes.iter().flatten().for_each(|e| all.extend(mentioned(e))),
        }
        all.reverse();
        all
    }
}

fn mentioned(expr: &Expr) -> Vec<LocalId> {
    let mut locals = Vec::new();
    expr.walk(&mut |e| match &e.kind {
        ExprKind::Local(id) | ExprKind::CallLocal { function: id, .. } => locals.push(*id),
        _ => {}
    });
    locals
}
