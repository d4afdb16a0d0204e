//! Derivatives of expressions, forward over the graph.
//!
//! ```text
//! x^2 * y     with dx, dy     ⇒     2 * x * dx * y + x^2 * dy
//! ```
//!
//! What a slot's derivative is, [`Rules`] say: 1 for the chosen variable gives a partial derivative, the slot of `der(x)` a
//! total one. `None` is structurally zero. A derivative has the branches of the expression: `abs`, `min`, `max` and `if`
//! take that of the branch the value comes from, so that nothing is computed where the expression itself is not; relations and
//! functions that are constant between jumps have none, and conditions are not looked into.

use saltus_program::{BinaryFn, CallableId, SlotId, UnaryFn};

use crate::dag::{CallId, Dag, Node, NodeId};
use crate::walk::Walk;

/// The derivative of a node: `None` is zero, an error says whose derivative it would need.
pub type Derivative = Result<Option<NodeId>, NotDifferentiable>;

/// The derivatives that an expression's own structure does not give.
pub trait Rules {
    /// The derivative of a slot; `None` is zero.
    fn slot(&mut self, dag: &mut Dag, slot: SlotId) -> Option<NodeId>;

    /// The derivative of a result of a call, at least one of whose arguments has a derivative that is not zero. A rule may do
    /// without the derivatives of some arguments: then it does not matter whether they have one.
    fn call(&mut self, dag: &mut Dag, call: CallId, result: u32, d_arguments: &[Derivative]) -> Derivative;
}

/// A function without a derivative is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotDifferentiable {
    pub call: CallId,
    pub function: CallableId,
    pub result: u32,
}

impl NotDifferentiable {
    pub fn new(dag: &Dag, call: CallId, result: u32) -> Self {
        Self { call, function: dag.called(call).function, result }
    }
}

/// No slot and no call has a derivative.
pub struct NoCalls;

impl Rules for NoCalls {
    fn slot(&mut self, _: &mut Dag, _: SlotId) -> Option<NodeId> {
        None
    }

    fn call(&mut self, dag: &mut Dag, call: CallId, result: u32, _: &[Derivative]) -> Derivative {
        Err(NotDifferentiable::new(dag, call, result))
    }
}

impl Dag {
    /// The derivative of `root`.
    pub fn differentiate(&mut self, root: NodeId, rules: &mut dyn Rules) -> Derivative {
        Ok(self.differentiate_all(&[root], rules)?.pop().flatten())
    }

    /// The derivatives of several roots; what they share is differentiated once.
    pub fn differentiate_all(
        &mut self,
        roots: &[NodeId],
        rules: &mut dyn Rules,
    ) -> Result<Vec<Option<NodeId>>, NotDifferentiable> {
        let walk = self.walk(roots, passes_derivative);
        let derivatives = self.differentiate_walk(&walk, rules);
        let of = |root: &NodeId| walk.place(*root).and_then(|p| derivatives.get(p).copied()).unwrap_or(Ok(None));
        let found = roots.iter().map(of).collect();
        self.finish(walk);
        found
    }

    fn differentiate_walk(&mut self, walk: &Walk, rules: &mut dyn Rules) -> Vec<Derivative> {
        let mut derivatives: Vec<Derivative> = Vec::with_capacity(walk.order.len());
        for &id in &walk.order {
            let derivative = match self.node(id) {
                Node::Load(slot) => Ok(rules.slot(self, slot)),
                _ => {
                    let at = |child| walk.place(child).and_then(|p| derivatives.get(p).copied()).unwrap_or(Ok(None));
                    self.chain_rule(id, &at, rules)
                }
            };
            derivatives.push(derivative.map(|d| d.filter(|&d| !self.is_zero(d))));
        }
        derivatives
    }

    /// The derivative of a node other than a load from those of its children.
    pub(crate) fn chain_rule(
        &mut self,
        id: NodeId,
        at: &dyn Fn(NodeId) -> Derivative,
        rules: &mut dyn Rules,
    ) -> Derivative {
        Ok(match self.node(id) {
            Node::Const(_) | Node::Load(_) => None,
            Node::Unary(f, x) => at(x)?.map(|dx| self.unary_derivative(f, id, x, dx)),
            Node::Binary(f, a, b) => match (at(a)?, at(b)?) {
                (None, None) => None,
                (da, db) => self.binary_derivative(f, id, (a, da), (b, db)),
            },
            Node::Select(c, a, b) => match (at(a)?, at(b)?) {
                (None, None) => None,
                (da, db) => Some(self.select_or_zero(c, da, db)),
            },
            Node::Result(call, k) => {
                let d_arguments: Vec<Derivative> = self.called(call).arguments.iter().map(|&a| at(a)).collect();
                if d_arguments.iter().all(|d| *d == Ok(None)) {
                    return Ok(None);
                }
                rules.call(self, call, k, &d_arguments)?
            }
        })
    }

    fn select_or_zero(&mut self, condition: NodeId, a: Option<NodeId>, b: Option<NodeId>) -> NodeId {
        let zero = self.constant(0.0);
        self.select(condition, a.unwrap_or(zero), b.unwrap_or(zero))
    }

    fn unary_derivative(&mut self, function: UnaryFn, value: NodeId, x: NodeId, dx: NodeId) -> NodeId {
        let one = self.constant(1.0);
        match function {
            UnaryFn::Negate => self.negate(dx),
            UnaryFn::Not | UnaryFn::Sign | UnaryFn::Floor | UnaryFn::Ceil => self.constant(0.0),
            UnaryFn::Sin => self.times_function(UnaryFn::Cos, x, dx),
            UnaryFn::Cos => {
                let product = self.times_function(UnaryFn::Sin, x, dx);
                self.negate(product)
            }
            UnaryFn::Tan => {
                let square = self.mul(value, value);
                let slope = self.add(one, square);
                self.mul(slope, dx)
            }
            UnaryFn::Asin => self.over_root(BinaryFn::Sub, x, dx),
            UnaryFn::Acos => {
                let quotient = self.over_root(BinaryFn::Sub, x, dx);
                self.negate(quotient)
            }
            UnaryFn::Atan => {
                let square = self.mul(x, x);
                let divisor = self.add(one, square);
                self.div(dx, divisor)
            }
            UnaryFn::Sinh => self.times_function(UnaryFn::Cosh, x, dx),
            UnaryFn::Cosh => self.times_function(UnaryFn::Sinh, x, dx),
            UnaryFn::Tanh => {
                let square = self.mul(value, value);
                let slope = self.sub(one, square);
                self.mul(slope, dx)
            }
            UnaryFn::Asinh => self.over_root(BinaryFn::Add, x, dx),
            UnaryFn::Atanh => {
                let square = self.mul(x, x);
                let divisor = self.sub(one, square);
                self.div(dx, divisor)
            }
            UnaryFn::Exp => self.mul(value, dx),
            UnaryFn::Log => self.div(dx, x),
            UnaryFn::Log10 => {
                let factor = self.constant(std::f64::consts::LN_10);
                let divisor = self.mul(factor, x);
                self.div(dx, divisor)
            }
            UnaryFn::Sqrt => {
                let two = self.constant(2.0);
                let divisor = self.mul(two, value);
                self.div(dx, divisor)
            }
            UnaryFn::Abs => self.times_function(UnaryFn::Sign, x, dx),
        }
    }

    fn times_function(&mut self, function: UnaryFn, x: NodeId, dx: NodeId) -> NodeId {
        let slope = self.unary(function, x);
        self.mul(slope, dx)
    }

    /// `dx / sqrt(1 ± x²)`
    fn over_root(&mut self, sign: BinaryFn, x: NodeId, dx: NodeId) -> NodeId {
        let (one, square) = (self.constant(1.0), self.mul(x, x));
        let radicand = self.binary(sign, one, square);
        let root = self.unary(UnaryFn::Sqrt, radicand);
        self.div(dx, root)
    }

    fn binary_derivative(
        &mut self,
        function: BinaryFn,
        value: NodeId,
        (a, da): (NodeId, Option<NodeId>),
        (b, db): (NodeId, Option<NodeId>),
    ) -> Option<NodeId> {
        match function {
            BinaryFn::Add | BinaryFn::Sub => self.signed_sum(function, da, db),
            BinaryFn::Mul if a == b => {
                let two = self.constant(2.0);
                let slope = self.mul(two, a);
                da.map(|da| self.mul(slope, da))
            }
            BinaryFn::Mul => {
                let first = da.map(|da| self.mul(da, b));
                let second = db.map(|db| self.mul(a, db));
                self.signed_sum(BinaryFn::Add, first, second)
            }
            BinaryFn::Div => {
                let change = db.map(|db| self.mul(value, db));
                let numerator = self.signed_sum(BinaryFn::Sub, da, change)?;
                Some(self.div(numerator, b))
            }
            BinaryFn::Pow => {
                let first = da.map(|da| self.power_of_base(a, b, da));
                let second = db.map(|db| self.power_of_exponent(value, a, db));
                self.signed_sum(BinaryFn::Add, first, second)
            }
            BinaryFn::Atan2 => {
                let first = da.map(|da| self.mul(b, da));
                let second = db.map(|db| self.mul(a, db));
                let numerator = self.signed_sum(BinaryFn::Sub, first, second)?;
                let (aa, bb) = (self.mul(a, a), self.mul(b, b));
                let divisor = self.add(bb, aa);
                Some(self.div(numerator, divisor))
            }
            BinaryFn::Min => {
                let is_first = self.binary(BinaryFn::LessEqual, a, b);
                Some(self.select_or_zero(is_first, da, db))
            }
            BinaryFn::Max => {
                let is_first = self.binary(BinaryFn::GreaterEqual, a, b);
                Some(self.select_or_zero(is_first, da, db))
            }
            BinaryFn::Mod => {
                let quotient = self.div(a, b);
                let whole = self.unary(UnaryFn::Floor, quotient);
                let change = db.map(|db| self.mul(whole, db));
                self.signed_sum(BinaryFn::Sub, da, change)
            }
            BinaryFn::Rem => {
                let whole = self.binary(BinaryFn::IntDiv, a, b);
                let change = db.map(|db| self.mul(whole, db));
                self.signed_sum(BinaryFn::Sub, da, change)
            }
            BinaryFn::IntDiv
            | BinaryFn::Less
            | BinaryFn::LessEqual
            | BinaryFn::Greater
            | BinaryFn::GreaterEqual
            | BinaryFn::Equal
            | BinaryFn::NotEqual
            | BinaryFn::And
            | BinaryFn::Or => None,
        }
    }

    /// `a + b` or `a - b` of derivatives.
    fn signed_sum(&mut self, sign: BinaryFn, a: Option<NodeId>, b: Option<NodeId>) -> Option<NodeId> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.binary(sign, a, b)),
            (None, Some(b)) if sign == BinaryFn::Sub => Some(self.negate(b)),
            (a, b) => a.or(b),
        }
    }

    /// `b * a^(b - 1) * da`
    fn power_of_base(&mut self, a: NodeId, b: NodeId, da: NodeId) -> NodeId {
        let (zero, one) = (self.constant(0.0), self.constant(1.0));
        let exponent = self.sub(b, one);
        let power = self.binary(BinaryFn::Pow, a, exponent);
        let slope = self.mul(b, power);
        // a^0 is constant, also at a = 0, where 0 * a^(-1) is not a number.
        let is_constant = self.binary(BinaryFn::Equal, b, zero);
        let slope = self.select(is_constant, zero, slope);
        self.mul(slope, da)
    }

    /// `a^b * log(a) * db`
    fn power_of_exponent(&mut self, value: NodeId, a: NodeId, db: NodeId) -> NodeId {
        let zero = self.constant(0.0);
        let logarithm = self.unary(UnaryFn::Log, a);
        let slope = self.mul(value, logarithm);
        // 0^b is constant; a negative base has real powers for whole exponents only, which do not vary.
        let is_positive = self.binary(BinaryFn::Greater, a, zero);
        let slope = self.select(is_positive, slope, zero);
        self.mul(slope, db)
    }
}

/// Does the derivative of `node` need that of its `k`-th child?
pub(crate) fn passes_derivative(node: Node, k: usize) -> bool {
    use BinaryFn::*;
    match node {
        Node::Const(_) | Node::Load(_) => false,
        Node::Unary(f, _) => !matches!(f, UnaryFn::Not | UnaryFn::Sign | UnaryFn::Floor | UnaryFn::Ceil),
        Node::Binary(f, ..) => {
            !matches!(f, IntDiv | Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
        }
        Node::Select(..) => k > 0,
        Node::Result(..) => true,
    }
}
