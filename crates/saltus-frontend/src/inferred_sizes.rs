//! Sizes `:` of a declaration, taken from its value (specification 10.1).
//!
//! ```text
//! parameter Real x[:] = {1, 2, 3};        ⇒  3, from the type of the value
//! parameter R r = f(p);                   ⇒  the sizes of `r.y` as the result of `f` declares them: R y(x = {0, 1})
//! parameter R r = if c then f(p) else g;  ⇒  of the branch that is taken, or where both agree
//! ```
//!
//! Where the text tells nothing the value does, if it can be known while compiling.

use saltus_flat::{Dim, Expr, ExprKind, FunctionId};

use crate::Front;

/// Calls and branches that are looked through.
const MOST_LEVELS: u32 = 20;

impl Front<'_> {
    /// The sizes of a value; those that cannot be found stay unknown.
    pub fn sizes_of_value(&mut self, value: &Expr) -> Vec<Dim> {
        let sizes = self.written_sizes(value, 0);
        if is_known(&sizes) {
            return sizes;
        }
        match self.structural_quietly(value) {
            Some(found) => found.dims().iter().map(|&n| Dim::Known(n as u64)).collect(),
            None => sizes,
        }
    }

    /// What the text of a value tells about its sizes.
    fn written_sizes(&mut self, value: &Expr, level: u32) -> Vec<Dim> {
        if is_known(&value.ty.dims) || level > MOST_LEVELS {
            return value.ty.dims.clone();
        }
        let found = match &value.kind {
            ExprKind::If { condition, then, otherwise } => {
                let then = self.written_sizes(then, level + 1);
                let otherwise = self.written_sizes(otherwise, level + 1);
                match self.structural_quietly(condition).and_then(|c| c.as_boolean()) {
                    Some(true) => Some(then),
                    Some(false) => Some(otherwise),
                    None => Some(then).filter(|then| *then == otherwise),
                }
            }
            ExprKind::Cast(inner) => Some(self.written_sizes(inner, level + 1)),
            ExprKind::Field { base, field } => self.field_sizes(base, *field, level + 1),
            _ => None,
        };
        found.filter(|dims| is_known(dims)).unwrap_or_else(|| value.ty.dims.clone())
    }

    /// The sizes of a field of a record value.
    fn field_sizes(&mut self, record: &Expr, field: u32, level: u32) -> Option<Vec<Dim>> {
        if level > MOST_LEVELS || record.ty.rank() > 0 {
            return None;
        }
        match &record.kind {
            ExprKind::Record(fields) => Some(self.written_sizes(fields.get(field as usize)?, level)),
            ExprKind::If { condition, then, otherwise } => {
                let then = self.field_sizes(then, field, level + 1);
                let otherwise = self.field_sizes(otherwise, field, level + 1);
                match self.structural_quietly(condition).and_then(|c| c.as_boolean()) {
                    Some(true) => then,
                    Some(false) => otherwise,
                    None => then.filter(|then| otherwise.as_ref() == Some(then)),
                }
            }
            ExprKind::Call { function, arguments } if self.functions[*function].is_record_constructor => {
                Some(self.written_sizes(arguments.get(field as usize)?, level))
            }
            ExprKind::Call { function, arguments } => {
                let default = self.result_default(*function)?;
                let arguments: Vec<Option<Expr>> = arguments.iter().cloned().map(Some).collect();
                let default = self.substitute(*function, &default, &arguments).unwrap_or(default);
                self.field_sizes(&default, field, level + 1)
            }
            _ => None,
        }
    }

    /// The value that the first result of a function has by its declaration.
    fn result_default(&mut self, function: FunctionId) -> Option<Expr> {
        let output = *self.functions[function].outputs.first()?;
        self.local_default(function, output)
    }
}

fn is_known(dims: &[Dim]) -> bool {
    dims.iter().all(|d| d.known().is_some())
}
