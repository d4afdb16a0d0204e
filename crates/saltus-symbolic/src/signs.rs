//! Which signs an expression can have: enough to know that a coefficient never vanishes.
//!
//! ```text
//! x^2 + 1 ⇒ positive      exp(x) * p ⇒ the signs of p      if c then 1 else 0 ⇒ zero or positive
//! ```
//!
//! Values are taken to be finite. Underflow of `exp` does not count as zero.

use saltus_program::{BinaryFn, UnaryFn};

use crate::dag::{Dag, Node, NodeId};

/// A set of signs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signs(u8);

impl Signs {
    pub const NONE: Signs = Signs(0);
    pub const NEGATIVE: Signs = Signs(1);
    pub const ZERO: Signs = Signs(2);
    pub const POSITIVE: Signs = Signs(4);
    pub const ANY: Signs = Signs(7);

    const EACH: [Signs; 3] = [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE];

    pub fn has(self, other: Signs) -> bool {
        self.0 & other.0 != 0
    }

    pub fn or(self, other: Signs) -> Signs {
        Signs(self.0 | other.0)
    }

    pub fn without(self, other: Signs) -> Signs {
        Signs(self.0 & !other.0)
    }

    pub fn of(value: f64) -> Signs {
        if value > 0.0 {
            Signs::POSITIVE
        } else if value < 0.0 {
            Signs::NEGATIVE
        } else if value == 0.0 {
            Signs::ZERO
        } else {
            Signs::ANY
        }
    }

    fn negated(self) -> Signs {
        let mut result = self.without(Signs::NEGATIVE.or(Signs::POSITIVE));
        if self.has(Signs::NEGATIVE) {
            result = result.or(Signs::POSITIVE);
        }
        if self.has(Signs::POSITIVE) {
            result = result.or(Signs::NEGATIVE);
        }
        result
    }

    /// The signs of all combinations, given those of one pair of single signs.
    fn combine(self, other: Signs, single: impl Fn(Signs, Signs) -> Signs) -> Signs {
        let mut result = Signs::NONE;
        for a in Signs::EACH.into_iter().filter(|&a| self.has(a)) {
            for b in Signs::EACH.into_iter().filter(|&b| other.has(b)) {
                result = result.or(single(a, b));
            }
        }
        result
    }

    fn sum(self, other: Signs) -> Signs {
        self.combine(other, |a, b| match (a, b) {
            (Signs::ZERO, s) | (s, Signs::ZERO) => s,
            (a, b) if a == b => a,
            _ => Signs::ANY,
        })
    }

    fn product(self, other: Signs) -> Signs {
        self.combine(other, |a, b| match (a, b) {
            (Signs::ZERO, _) | (_, Signs::ZERO) => Signs::ZERO,
            (a, b) if a == b => Signs::POSITIVE,
            _ => Signs::NEGATIVE,
        })
    }

    /// `max(x, 0)`-like cut: the greater of two.
    fn greater(self, other: Signs) -> Signs {
        self.combine(other, |a, b| if a.0 >= b.0 { a } else { b })
    }

    fn magnitude(self) -> Signs {
        if self.has(Signs::NEGATIVE) { self.without(Signs::NEGATIVE).or(Signs::POSITIVE) } else { self }
    }
}

/// What is known of a node.
#[derive(Clone, Copy)]
struct Knowledge {
    signs: Signs,
    /// Zero, or a product or branch of it: a structural zero that no assumption about values removes.
    has_zero_branch: bool,
}

impl Dag {
    /// The signs that `root` can have. `nonzero` is asked about expressions that nothing is known of; an expression that is
    /// zero in one of its branches is never assumed to be non-zero.
    pub fn signs(&self, root: NodeId, nonzero: &dyn Fn(&Dag, NodeId) -> bool) -> Signs {
        let walk = self.walk(&[root], |node, k| match node {
            Node::Select(..) => k > 0,
            Node::Result(..) => false,
            _ => true,
        });
        let mut known: Vec<Knowledge> = Vec::with_capacity(walk.order.len());
        for &id in &walk.order {
            let at = |child| {
                let found = walk.place(child).and_then(|p| known.get(p).copied());
                found.unwrap_or(Knowledge { signs: Signs::ANY, has_zero_branch: false })
            };
            let mut knowledge = self.signs_of_node(id, &at);
            if knowledge.signs.has(Signs::ZERO) && !knowledge.has_zero_branch && nonzero(self, id) {
                knowledge.signs = knowledge.signs.without(Signs::ZERO);
            }
            known.push(knowledge);
        }
        self.finish(walk);
        known.last().map_or(Signs::ANY, |k| k.signs)
    }

    /// Is `root` never zero, in none of its branches?
    pub fn is_nonzero(&self, root: NodeId, nonzero: &dyn Fn(&Dag, NodeId) -> bool) -> bool {
        !self.signs(root, nonzero).has(Signs::ZERO)
    }

    fn signs_of_node(&self, id: NodeId, at: &dyn Fn(NodeId) -> Knowledge) -> Knowledge {
        let node = self.node(id);
        let signs = match node {
            Node::Const(bits) => Signs::of(f64::from_bits(bits)),
            Node::Load(_) | Node::Result(..) => Signs::ANY,
            Node::Unary(f, x) => signs_of_unary(f, at(x).signs),
            Node::Binary(f, a, b) => self.signs_of_binary(f, (a, at(a).signs), (b, at(b).signs)),
            Node::Select(_, a, b) => at(a).signs.or(at(b).signs),
        };
        let has_zero_branch = match node {
            Node::Const(_) => signs == Signs::ZERO,
            Node::Unary(UnaryFn::Negate, x) | Node::Binary(BinaryFn::Div, x, _) => at(x).has_zero_branch,
            Node::Binary(BinaryFn::Mul, a, b) | Node::Select(_, a, b) => at(a).has_zero_branch || at(b).has_zero_branch,
            // A truth value is 0 in one of its cases.
            Node::Unary(UnaryFn::Not, _) => true,
            Node::Binary(f, ..) => is_truth(f),
            _ => false,
        };
        Knowledge { signs, has_zero_branch }
    }

    fn signs_of_binary(&self, function: BinaryFn, (a, sa): (NodeId, Signs), (b, sb): (NodeId, Signs)) -> Signs {
        use BinaryFn::*;
        match function {
            Add => sa.sum(sb),
            Sub => sa.sum(sb.negated()),
            Mul if a == b => sa.product(sa).without(Signs::NEGATIVE),
            // A divisor is not zero where the quotient is a number.
            Mul | Div => sa.product(if function == Div { sb.without(Signs::ZERO) } else { sb }),
            Pow if sa == Signs::POSITIVE => Signs::POSITIVE,
            Pow if self.value(b).is_some_and(|e| e % 2.0 == 0.0) => sa.magnitude(),
            Pow if self.value(b).is_some_and(|e| e % 2.0 != 0.0 && e.fract() == 0.0) => sa,
            // A negative base has powers of both signs when the exponent may be any whole number; 0^0 is 1.
            Pow if sa.has(Signs::NEGATIVE) => {
                Signs::ANY.without(if sa.has(Signs::ZERO) { Signs::NONE } else { Signs::ZERO })
            }
            Pow => sa.or(Signs::POSITIVE),
            Max => sa.greater(sb),
            Min => sa.negated().greater(sb.negated()).negated(),
            f if is_truth(f) => Signs::ZERO.or(Signs::POSITIVE),
            _ => Signs::ANY,
        }
    }
}

fn is_truth(function: BinaryFn) -> bool {
    use BinaryFn::*;
    matches!(function, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
}

fn signs_of_unary(function: UnaryFn, x: Signs) -> Signs {
    match function {
        UnaryFn::Negate => x.negated(),
        UnaryFn::Exp | UnaryFn::Cosh => Signs::POSITIVE,
        UnaryFn::Abs => x.magnitude(),
        // Increasing through the origin, or only defined for one side of it.
        UnaryFn::Sqrt => x.without(Signs::NEGATIVE),
        UnaryFn::Sign | UnaryFn::Asin | UnaryFn::Atan | UnaryFn::Sinh | UnaryFn::Tanh => x,
        UnaryFn::Asinh | UnaryFn::Atanh => x,
        UnaryFn::Not => Signs::ZERO.or(Signs::POSITIVE),
        UnaryFn::Acos => Signs::ZERO.or(Signs::POSITIVE),
        UnaryFn::Sin | UnaryFn::Cos | UnaryFn::Tan | UnaryFn::Log | UnaryFn::Log10 | UnaryFn::Floor | UnaryFn::Ceil => {
            Signs::ANY
        }
    }
}
