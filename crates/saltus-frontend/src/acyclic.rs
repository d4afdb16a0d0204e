//! Declaration equations of constants and parameters must not depend on themselves (specification 4.4.3).
//!
//! ```text
//! parameter Real p = 2 * q;
//! parameter Real q = sin(p);      ⇒   error[E0236]: the value of `p` depends on itself
//! ```
//!
//! A branch that a known condition rules out does not count, nor does the size of an array.

use std::collections::HashMap;
use std::rc::Rc;

use saltus_eval::Value;
use saltus_flat::{Builtin, Expr, ExprKind, Variability};

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, Memo};

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    Open,
    Done,
}

impl Front<'_> {
    /// Reports each cycle once, at the first of its members.
    pub fn check_acyclic(&mut self, components: impl IntoIterator<Item = CompId>) {
        let code = d::cyclic_value("", saltus_base::Span::nowhere()).code;
        if self.messages.diagnostics.iter().any(|d| d.code == code) {
            return;
        }
        let mut visits: HashMap<CompId, Visit> = HashMap::new();
        for start in components {
            self.follow_values(start, &mut visits);
        }
    }

    /// Depth first without recursion: a chain of parameters may be long.
    fn follow_values(&mut self, start: CompId, visits: &mut HashMap<CompId, Visit>) {
        if visits.contains_key(&start) || self.variability_of(start) > Variability::Parameter {
            return;
        }
        visits.insert(start, Visit::Open);
        let mut path = vec![(start, self.values_used_by(start))];
        while let Some((comp, rest)) = path.last_mut() {
            let comp = *comp;
            let Some(next) = rest.pop() else {
                visits.insert(comp, Visit::Done);
                path.pop();
                continue;
            };
            match visits.get(&next) {
                Some(Visit::Done) => {}
                Some(Visit::Open) => {
                    let (name, span) = (self.comp_name(next), self.tree[next].declared.span);
                    self.report_once(d::cyclic_value(&name, span));
                }
                None => {
                    visits.insert(next, Visit::Open);
                    let used = self.values_used_by(next);
                    path.push((next, used));
                }
            }
        }
    }

    fn values_used_by(&mut self, comp: CompId) -> Vec<CompId> {
        let binding: Option<Rc<Expr>> = match &self.tree[comp].memo.binding {
            Memo::Known(binding) => binding.clone(),
            _ => None,
        };
        let mut used = Vec::new();
        if let Some(binding) = binding {
            self.values_used_in(&binding, &mut used);
        }
        used
    }

    fn values_used_in(&mut self, expr: &Expr, used: &mut Vec<CompId>) {
        match &expr.kind {
            ExprKind::Var(var) => {
                let comp = self.tree.vars[*var];
                if self.variability_of(comp) <= Variability::Parameter {
                    used.push(comp);
                }
            }
            ExprKind::Builtin { function: Builtin::Size | Builtin::Ndims, .. } => {}
            ExprKind::If { condition, then, otherwise } => match self.evaluate_quietly(condition) {
                Some(Value::Boolean(true)) => self.values_used_in(then, used),
                Some(Value::Boolean(false)) => self.values_used_in(otherwise, used),
                _ => [condition, then, otherwise].into_iter().for_each(|e| self.values_used_in(e, used)),
            },
            _ => expr.for_each_child(&mut |child| self.values_used_in(child, used)),
        }
    }
}
