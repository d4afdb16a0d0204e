//! What becomes simpler when a node is made.
//!
//! ```text
//! 0 * x ⇒ 0      x - x ⇒ 0      -(a - b) ⇒ b - a      (6 * x) / 3 ⇒ 2 * x      if c then a else a ⇒ a
//! ```
//!
//! The rules hold for all finite numbers. They move signs and merge constants, where that is exact, and never change the
//! order in which a sum of varying terms is rounded. What could hide a division by zero (`x / x`, `0 / x`) stays. A rule
//! looks one operation deep, and what it makes is looked at by rules that move signs only: chains of constants do not cascade.

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
        if let Some(y) = self.opposite(b) {
            return Some(self.sub(a, y));
        }
        match (self.node(a), self.node(b)) {
            (Node::Unary(UnaryFn::Negate, x), _) => Some(self.sub(b, x)),
            (_, Node::Const(bits)) => self.collect_constant(a, f64::from_bits(bits)),
            (Node::Const(bits), _) => self.simplify_shift(b, f64::from_bits(bits)),
            _ => None,
        }
    }

    /// `c + x`; a negative constant is subtracted.
    fn simplify_shift(&mut self, x: NodeId, c: f64) -> Option<NodeId> {
        if let Some(simpler) = self.collect_constant(x, c) {
            return Some(simpler);
        }
        let minus = (c < 0.0).then(|| self.constant(-c))?;
        Some(self.operation(BinaryFn::Sub, x, minus))
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
        if let Some(y) = self.opposite(b) {
            return Some(self.add(a, y));
        }
        let c = self.value(b)?;
        self.collect_constant(a, -c)
    }

    /// `-x` as a simpler expression, where there is one: of `-y`, of a negative number or factor.
    fn opposite(&mut self, x: NodeId) -> Option<NodeId> {
        match self.node(x) {
            Node::Unary(UnaryFn::Negate, y) => Some(y),
            Node::Const(bits) if f64::from_bits(bits) < 0.0 => Some(self.constant(-f64::from_bits(bits))),
            Node::Binary(BinaryFn::Mul | BinaryFn::Div, a, _) if self.value(a).is_some_and(|c| c < 0.0) => {
                Some(self.negate(x))
            }
            _ => None,
        }
    }

    /// `(x + 1) + 2 ⇒ x + 3`, where the constants add without rounding.
    fn collect_constant(&mut self, sum: NodeId, c: f64) -> Option<NodeId> {
        let Node::Binary(function @ (BinaryFn::Add | BinaryFn::Sub), x, y) = self.node(sum) else { return None };
        match (function, self.value(x), self.value(y)) {
            (BinaryFn::Add, None, Some(d)) => exact_sum(d, c).map(|total| self.shifted(x, total)),
            (BinaryFn::Add, Some(d), None) => exact_sum(d, c).map(|total| self.shifted(y, total)),
            (BinaryFn::Sub, None, Some(d)) => exact_sum(-d, c).map(|total| self.shifted(x, total)),
            (BinaryFn::Sub, Some(d), None) => {
                let total = exact_sum(d, c)?;
                if total == 0.0 {
                    return Some(self.negate(y));
                }
                let total = self.constant(total);
                Some(self.operation(BinaryFn::Sub, total, y))
            }
            _ => None,
        }
    }

    fn shifted(&mut self, x: NodeId, c: f64) -> NodeId {
        let magnitude = self.constant(c.abs());
        match c {
            0.0 => x,
            c if c < 0.0 => self.operation(BinaryFn::Sub, x, magnitude),
            _ => self.operation(BinaryFn::Add, x, magnitude),
        }
    }

    fn scaled(&mut self, function: BinaryFn, factor: f64, x: NodeId) -> NodeId {
        match (function, factor) {
            (BinaryFn::Mul, 1.0) => x,
            (BinaryFn::Mul, -1.0) => self.negate(x),
            _ => {
                let factor = self.constant(factor);
                self.operation(function, factor, x)
            }
        }
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
                exact_product(f64::from_bits(bits), factor).map(|product| self.scaled(f, product, y))
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
                exact_quotient(factor, f64::from_bits(bits)).map(|quotient| self.scaled(BinaryFn::Mul, quotient, x))
            }
            (Node::Binary(BinaryFn::Div, x, c), Node::Const(bits)) => {
                let divisor = self.value(c)?;
                let product = exact_product(divisor, f64::from_bits(bits))?;
                let product = self.constant(product);
                Some(self.operation(BinaryFn::Div, x, product))
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
        if let Node::Unary(UnaryFn::Not, positive) = self.node(condition) {
            return Some(self.select(positive, b, a));
        }
        // Those that follow lose a condition or a branch.
        if self.keeps_loads() {
            return None;
        }
        if a == b {
            return Some(a);
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
        // `if c then 1 else 0` is not `c`: as a coefficient it has a branch that is zero.
        None
    }
}

fn exact_sum(a: f64, b: f64) -> Option<f64> {
    let sum = a + b;
    // The rounding error of a sum is itself a number (two-sum).
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    (sum.is_finite() && error == 0.0).then_some(sum)
}

fn exact_product(a: f64, b: f64) -> Option<f64> {
    let product = a * b;
    (product.is_normal() && a.mul_add(b, -product) == 0.0).then_some(product)
}

fn exact_quotient(a: f64, b: f64) -> Option<f64> {
    let quotient = a / b;
    (quotient.is_normal() && quotient.mul_add(b, -a) == 0.0).then_some(quotient)
}
