//! Parts of arrays and records: `r.x[i].y` is the root `r` and the steps from it.

use saltus_flat::{self as flat, Expr, ExprKind};

use super::Lowering;
use crate::form::{Block, PathStep, Subscript};

impl Lowering {
    /// The expression that a path of subscripts and fields starts at, and the path.
    pub(super) fn path<'e>(&mut self, expr: &'e Expr, block: &mut Block) -> (&'e Expr, Vec<PathStep>) {
        let mut nodes = Vec::new();
        let mut current = expr;
        while let ExprKind::Index { base, .. } | ExprKind::Field { base, .. } = &current.kind {
            nodes.push(current);
            current = base;
        }
        let mut path = Vec::with_capacity(nodes.len());
        for node in nodes.into_iter().rev() {
            match &node.kind {
                ExprKind::Field { field, .. } => {
                    path.push(PathStep::Field { field: *field, ty: node.ty.clone(), span: node.span });
                }
                ExprKind::Index { subscripts, .. } => {
                    let subscripts = subscripts.iter().map(|s| self.subscript(s, block)).collect();
                    path.push(PathStep::Subscripts { subscripts, span: node.span });
                }
                _ => {}
            }
        }
        (current, path)
    }

    fn subscript(&mut self, subscript: &flat::Subscript, block: &mut Block) -> Subscript {
        match subscript {
            flat::Subscript::Index(e) => Subscript::Index(self.argument(e, block)),
            flat::Subscript::Slice(e) => Subscript::Slice(self.argument(e, block)),
            flat::Subscript::All => Subscript::All,
        }
    }
}
