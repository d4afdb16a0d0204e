//! Is the equation of one element linear in what it shall determine?
//!
//! ```text
//! C * der(T[i]) = Q[i]      linear in der(T[i]), and in Q[i]
//! p[i]^2 = q[i]             not linear in p[i]: that is iterated, for scalars
//! ```

use saltus_flat::{BinaryOp, Expr, ExprKind, LocalId, UnaryOp};

/// What a part of an equation is made of.
pub struct Parts<'p> {
    pub is_unknown: &'p dyn Fn(LocalId) -> bool,
    /// May it be a factor of an unknown?
    pub is_factor: &'p dyn Fn(&Expr) -> bool,
}

impl Parts<'_> {
    /// Does the expression contain unknowns? `None` if it is not linear in them.
    pub fn contains(&self, e: &Expr) -> Option<bool> {
        match &e.kind {
            ExprKind::Local(local) => Some((self.is_unknown)(*local)),
            ExprKind::Cast(a) | ExprKind::Unary(UnaryOp::Negate, a) => self.contains(a),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => Some(self.contains(a)? | self.contains(b)?),
            ExprKind::Binary(op @ (BinaryOp::Mul | BinaryOp::Div), a, b) => {
                match (self.contains(a)?, self.contains(b)?) {
                    (false, false) => Some(false),
                    (true, false) if (self.is_factor)(b) => Some(true),
                    (false, true) if *op == BinaryOp::Mul && (self.is_factor)(a) => Some(true),
                    _ => None,
                }
            }
            _ => {
                let mut is_free = true;
                e.for_each_child(&mut |child| is_free &= self.contains(child) == Some(false));
                is_free.then_some(false)
            }
        }
    }
}
