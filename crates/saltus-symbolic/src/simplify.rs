//! What becomes simpler when a node is made.
//!
//! ```text
//! 0 * x ⇒ 0      x - x ⇒ 0      -(a - b) ⇒ b - a      (6 * x) / 3 ⇒ 2 * x      if c then a else a ⇒ a
//! ```
//!
//! The rules hold for all finite numbers. They move signs and merge constants, where that is exact, and never change the
//! order in which a sum of varying terms is rounded. What could hide a division by zero (`x / x`, `0 / x`) stays.

use saltus_program::{BinaryFn, UnaryFn};

use crate::dag::{Dag, Node, NodeId};

impl Dag {
    /// A simpler node for `function(x)` with `x` not constant.
    pub(crate) fn simplify_unary(&mut self, function: UnaryFn, x: NodeId) -> Option<NodeId> {
        match (function, self.node(x)) {
            (UnaryFn::Negate, Node::Unary(UnaryFn::Negate, y)) => Some(y),
            (UnaryFn::Not, Node::Unary(UnaryFn::Not, y)) => Some(y),
            (UnaryFn::Abs, Node::Unary(UnaryFn::Negate, y)) => Some(self.unary(UnaryFn::Abs, y)),
            (UnaryFn::Abs, Node::Unary(UnaryFn::Abs | UnaryFn::Sqrt | UnaryFn::Exp | UnaryFn::Cosh, _)) => Some(x),
            (UnaryFn::Floor | UnaryFn::Ceil, Node::Unary(UnaryFn::Floor | UnaryFn::Ceil | UnaryFn::Sign, _)) => Some(x),
            (UnaryFn::Negate, Node::Binary(BinaryFn::Sub, a, b)) => Some(self.sub(b, a)),
            (UnaryFn::Negate, Node::Binary(f @ (BinaryFn::Mul | BinaryFn::Div), a, b)) => {
                let factor = self.value(a)?;
                let minus = self.constant(-factor);
                Some(self.binary(f, minus, b))
            }
            _ => None,
        }
    }

    /// A simpler node for `a function b` with at least one of them not constant.
    pub(crate) fn simplify_binary(&mut self, function: BinaryFn, a: NodeId, b: NodeId) -> Option<NodeId> {
        match function {
            BinaryFn::Add => self.simplify_sum(a, b),
            BinaryFn::Sub => self.simplify_difference(a, b),
            BinaryFn::Mul => self.simplify_product(a, b),
            BinaryFn::Div => self.simplify_quotient(a, b),
            BinaryFn::Pow => match (self.value(a), self.value(b)) {
                (_, Some(1.0)) => Some(a),
                (Some(1.0), _) | (_, Some(0.0)) => Some(self.constant(1.0)),
                _ => None,
            },
            BinaryFn::Min | BinaryFn::Max => (a == b).then_some(a),
            BinaryFn::LessEqual | BinaryFn::GreaterEqual | BinaryFn::Equal => (a == b).then(|| self.boolean(true)),
            BinaryFn::Less | BinaryFn::Greater | BinaryFn::NotEqual => (a == b).then(|| self.boolean(false)),
            BinaryFn::And | BinaryFn::Or => self.simplify_logical(function, a, b),
            BinaryFn::Atan2 | BinaryFn::IntDiv | BinaryFn::Mod | BinaryFn::Rem => None,
        }
    }

    fn simplify_sum(&mut self, a: NodeId, b: NodeId) -> Option<NodeId> {
        if self.is_zero(a) {
            return Some(b);
        }
        if self.is_zero(b) {
            return Some(a);
        }
        match (self.node(a), self.node(b)) {
            (_, Node::Unary(UnaryFn::Negate, y)) => Some(self.sub(a, y)),
            (Node::Unary(UnaryFn::Negate, x), _) => Some(self.sub(b, x)),
            (_, Node::Const(bits)) => self.simplify_shift(a, f64::from_bits(bits)),
            (Node::Const(bits), _) => self.simplify_shift(b, f64::from_bits(bits)),
            _ => None,
        }
    }

    /// `x + c`; a negative constant is subtracted.
    fn simplify_shift(&mut self, x: NodeId, c: f64) -> Option<NodeId> {
        if let Some(simpler) = self.collect_constant(x, c) {
            return Some(simpler);
        }
        let minus = (c < 0.0).then(|| self.constant(-c))?;
        Some(self.sub(x, minus))
    }

    fn simplify_difference(&mut self, a: NodeId, b: NodeId) -> Option<NodeId> {
        if a == b {
            return Some(self.constant(0.0));
        }
        if self.is_zero(b) {
            return Some(a);
        }
        if self.is_zero(a) {
            return Some(self.negate(b));
        }
        if let Node::Unary(UnaryFn::Negate, y) = self.node(b) {
            return Some(self.add(a, y));
        }
        let c = self.value(b)?;
        if let Some(simpler) = self.collect_constant(a, -c) {
            return Some(simpler);
        }
        let plus = (c < 0.0).then(|| self.constant(-c))?;
        Some(self.add(a, plus))
    }

    /// `(x + 1) + 2 ⇒ x + 3`, where the constants add without rounding.
    fn collect_constant(&mut self, sum: NodeId, c: f64) -> Option<NodeId> {
        let Node::Binary(function @ (BinaryFn::Add | BinaryFn::Sub), x, y) = self.node(sum) else { return None };
        match (function, self.value(x), self.value(y)) {
            (BinaryFn::Add, None, Some(d)) => {
                let total = self.exact_sum(d, c)?;
                Some(self.add(x, total))
            }
            (BinaryFn::Add, Some(d), None) => {
                let total = self.exact_sum(d, c)?;
                Some(self.add(total, y))
            }
            (_, None, Some(d)) => {
                let total = self.exact_sum(d, -c)?;
                Some(self.sub(x, total))
            }
            (_, Some(d), None) => {
                let total = self.exact_sum(d, c)?;
                Some(self.sub(total, y))
            }
            _ => None,
        }
    }

    fn exact_sum(&mut self, a: f64, b: f64) -> Option<NodeId> {
        let sum = a + b;
        // The rounding error of a sum is itself a number (two-sum).
        let b_part = sum - a;
        let error = (a - (sum - b_part)) + (b - b_part);
        (sum.is_finite() && error == 0.0).then(|| self.constant(sum))
    }

    fn exact_product(&mut self, a: f64, b: f64) -> Option<NodeId> {
        let product = a * b;
        let is_exact = product.is_normal() && a.mul_add(b, -product) == 0.0;
        is_exact.then(|| self.constant(product))
    }

    fn exact_quotient(&mut self, a: f64, b: f64) -> Option<NodeId> {
        let quotient = a / b;
        let is_exact = quotient.is_normal() && quotient.mul_add(b, -a) == 0.0;
        is_exact.then(|| self.constant(quotient))
    }

    fn simplify_product(&mut self, a: NodeId, b: NodeId) -> Option<NodeId> {
        // A constant factor stands first.
        if self.value(b).is_some() {
            return Some(self.mul(b, a));
        }
        match self.value(a) {
            Some(0.0) => return Some(self.constant(0.0)),
            Some(1.0) => return Some(b),
            Some(-1.0) => return Some(self.negate(b)),
            _ => {}
        }
        match (self.node(a), self.node(b)) {
            (Node::Const(bits), Node::Unary(UnaryFn::Negate, y)) => {
                let minus = self.constant(-f64::from_bits(bits));
                Some(self.mul(minus, y))
            }
            (Node::Const(bits), Node::Binary(f @ (BinaryFn::Mul | BinaryFn::Div), c, y)) => {
                let factor = self.value(c)?;
                let product = self.exact_product(f64::from_bits(bits), factor)?;
                Some(self.binary(f, product, y))
            }
            (Node::Unary(UnaryFn::Negate, x), Node::Unary(UnaryFn::Negate, y)) => Some(self.mul(x, y)),
            (_, Node::Unary(UnaryFn::Negate, y)) => {
                let product = self.mul(a, y);
                Some(self.negate(product))
            }
            (Node::Unary(UnaryFn::Negate, x), _) => {
                let product = self.mul(x, b);
                Some(self.negate(product))
            }
            _ => None,
        }
    }

    fn simplify_quotient(&mut self, a: NodeId, b: NodeId) -> Option<NodeId> {
        match self.value(b) {
            Some(1.0) => return Some(a),
            Some(-1.0) => return Some(self.negate(a)),
            _ => {}
        }
        match (self.node(a), self.node(b)) {
            (Node::Unary(UnaryFn::Negate, x), Node::Unary(UnaryFn::Negate, y)) => Some(self.div(x, y)),
            (Node::Unary(UnaryFn::Negate, x), Node::Const(bits)) => {
                let minus = self.constant(-f64::from_bits(bits));
                Some(self.div(x, minus))
            }
            (Node::Const(bits), Node::Unary(UnaryFn::Negate, y)) => {
                let minus = self.constant(-f64::from_bits(bits));
                Some(self.div(minus, y))
            }
            (Node::Unary(UnaryFn::Negate, x), _) => {
                let quotient = self.div(x, b);
                Some(self.negate(quotient))
            }
            (_, Node::Unary(UnaryFn::Negate, y)) => {
                let quotient = self.div(a, y);
                Some(self.negate(quotient))
            }
            (Node::Binary(BinaryFn::Mul, c, x), Node::Const(bits)) => {
                let factor = self.value(c)?;
                let quotient = self.exact_quotient(factor, f64::from_bits(bits))?;
                Some(self.mul(quotient, x))
            }
            (Node::Binary(BinaryFn::Div, x, c), Node::Const(bits)) => {
                let divisor = self.value(c)?;
                let product = self.exact_product(divisor, f64::from_bits(bits))?;
                Some(self.div(x, product))
            }
            _ => None,
        }
    }

    fn simplify_logical(&mut self, function: BinaryFn, a: NodeId, b: NodeId) -> Option<NodeId> {
        if a == b {
            return Some(a);
        }
        // `and` is decided by false, `or` by true.
        let decides = function == BinaryFn::Or;
        for (constant, other) in [(a, b), (b, a)] {
            if let Some(value) = self.value(constant) {
                return Some(if (value != 0.0) == decides { self.boolean(decides) } else { other });
            }
        }
        let opposite = |dag: &Dag, x, y| dag.node(x) == Node::Unary(UnaryFn::Not, y);
        (opposite(self, a, b) || opposite(self, b, a)).then(|| self.boolean(decides))
    }

    /// A simpler node for `if condition then a else b`.
    pub(crate) fn simplify_select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> Option<NodeId> {
        if let Some(value) = self.value(condition) {
            return Some(if value != 0.0 { a } else { b });
        }
        if a == b {
            return Some(a);
        }
        if let Node::Unary(UnaryFn::Not, positive) = self.node(condition) {
            return Some(self.select(positive, b, a));
        }
        // Inside a branch the condition is known.
        if let Node::Select(same, inner, _) = self.node(a)
            && same == condition
        {
            return Some(self.select(condition, inner, b));
        }
        if let Node::Select(same, _, inner) = self.node(b)
            && same == condition
        {
            return Some(self.select(condition, a, inner));
        }
        if !self.is_truth(condition) {
            return None;
        }
        match (self.value(a), self.value(b)) {
            (Some(1.0), Some(0.0)) => Some(condition),
            (Some(0.0), Some(1.0)) => Some(self.not(condition)),
            _ => None,
        }
    }

    /// Is the value 0 or 1 whatever the operands are?
    fn is_truth(&self, id: NodeId) -> bool {
        use BinaryFn::*;
        match self.node(id) {
            Node::Unary(UnaryFn::Not, _) => true,
            Node::Binary(f, ..) => {
                matches!(f, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
            }
            _ => false,
        }
    }
}
