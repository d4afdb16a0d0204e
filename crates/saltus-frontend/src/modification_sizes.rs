//! The value of a modification without `each` is shared out among the elements of an array of components, so it needs
//! as many elements as there are components (specification 7.2.5).
//!
//! ```text
//! Resistor r[2](R = {1, 2, 3});      ⇒   error[E0245]: … 3 values for 2 components
//! ```

use saltus_flat::Dim;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::CompId;
use crate::modifier::{Mod, ModExpr};

impl<'a> Front<'a> {
    pub fn check_modification_sizes(&mut self, comp: CompId) {
        let dims = self.comp_dims(comp);
        let Some(modifier) = self.tree[comp].modifier.clone() else { return };
        if dims.is_empty() || dims.contains(&0) || self.sizes.wrong.contains(&comp) {
            return;
        }
        let name = self.comp_name(comp);
        self.check_shared_values(&name, &dims, &modifier);
    }

    fn check_shared_values(&mut self, name: &str, dims: &[u64], modifier: &Mod<'a>) {
        for (_, sub) in modifier.subs.iter().filter(|(_, m)| !m.is_each) {
            self.check_shared_values(name, dims, sub);
            let Some(value) = &sub.value else { continue };
            let ModExpr::Ast(expr, scope) = value.expr else { continue };
            // What is wrong with the value itself is said where it is used.
            let mark = self.messages.mark();
            let typed = self.isolated(|front| front.expression(scope, expr));
            self.messages.take_back(mark);
            let outer = value.indices.len();
            if typed.is_error() || typed.ty.rank() < outer + dims.len() {
                continue;
            }
            let given: Vec<Dim> = typed.ty.dims[outer..outer + dims.len()].to_vec();
            let differs = given.iter().zip(dims).any(|(g, &n)| g.known().is_some_and(|g| g != n));
            if differs {
                let given: Vec<u64> = given.iter().map(|g| g.known().unwrap_or(0)).collect();
                self.report_once(d::modification_size(name, &given, dims, value.span));
            }
        }
    }
}
