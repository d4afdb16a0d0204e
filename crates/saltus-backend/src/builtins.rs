//! Lower the built-in functions and operators of expressions.
//!
//! Event-generating functions become memories with crossings: `floor(x)` is the memory m of the last event and the
//! relations `x < m` and `x >= m + 1`; `div`, `mod`, `rem`, `ceil`, `integer` are made of it.
//! (Specification: sections 3.7.2 numeric functions, 3.7.5 event-related operators, 10.3 array functions.)

use saltus_base::Span;
use saltus_flat::{BaseType, Builtin, Expr, ModelNames, print_expr};
use saltus_program::{BinaryFn, RelationOp, Sample, SlotId, SlotKind, SlotType, UnaryFn};

use crate::dag::NodeId;
use crate::diagnostics;
use crate::lower::{Lowering, Reported, Scalars};
use crate::system::Assignment;

impl Lowering<'_> {
    pub fn builtin(&mut self, e: &Expr, function: Builtin, arguments: &[Expr]) -> Scalars {
        if let (Some(function), [x]) = (elementary(function), arguments) {
            let x = self.scalars(x)?;
            return Ok(x.into_iter().map(|x| self.system.dag.unary(function, x)).collect());
        }
        match (function, arguments) {
            (Builtin::Atan2, [a, b]) => self.pairwise(BinaryFn::Atan2, a, b),
            (Builtin::Min, [a, b]) => self.pairwise(BinaryFn::Min, a, b),
            (Builtin::Max, [a, b]) => self.pairwise(BinaryFn::Max, a, b),
            (Builtin::Min, [a]) => self.fold(BinaryFn::Min, f64::MAX, a),
            (Builtin::Max, [a]) => self.fold(BinaryFn::Max, f64::MIN, a),
            (Builtin::Sum, [a]) => self.fold(BinaryFn::Add, 0.0, a),
            (Builtin::Product, [a]) => self.fold(BinaryFn::Mul, 1.0, a),
            (Builtin::Floor | Builtin::Integer, [x]) => self.each(x, e, |s, x, text, span| s.floor(x, text, span)),
            (Builtin::Ceil, [x]) => self.each(x, e, |s, x, text, span| s.ceil(x, text, span)),
            (Builtin::Div, [a, b]) => self.each_pair(a, b, e, |s, a, b, text, span| s.div(a, b, text, span)),
            (Builtin::Mod, [a, b]) => self.each_pair(a, b, e, |s, a, b, text, span| {
                let q = s.system.dag.binary(BinaryFn::Div, a, b);
                let whole = s.floor(q, text, span);
                s.remainder(a, b, whole)
            }),
            (Builtin::Rem, [a, b]) => self.each_pair(a, b, e, |s, a, b, text, span| {
                let whole = s.div(a, b, text, span);
                s.remainder(a, b, whole)
            }),
            (Builtin::ToInteger | Builtin::EnumFromInteger | Builtin::Pure, [x]) => self.scalars(x),
            (Builtin::NoEvent, [x]) | (Builtin::Smooth, [_, x]) => self.literally(|s| s.scalars(x)),
            (Builtin::Homotopy, [actual, ..]) => self.scalars(actual),
            (Builtin::SemiLinear, [x, up, down]) => self.semi_linear(x, up, down, e),
            (Builtin::Der, [x]) => self.derivatives(x),
            (Builtin::Pre, [x]) => self.pre_values(x),
            (Builtin::Edge, [x]) => self.edge(x),
            (Builtin::Change, [x]) => self.change(x),
            (Builtin::Initial, []) => Ok(vec![self.system.load(self.system.initial)]),
            (Builtin::Terminal, []) => Ok(vec![self.system.load(self.system.terminal)]),
            (Builtin::Sample, [start, interval]) => self.sample(start, interval, e.span),
            _ => self.array_builtin(e, function, arguments),
        }
    }

    fn pairwise(&mut self, function: BinaryFn, a: &Expr, b: &Expr) -> Scalars {
        let (a, b) = (self.scalars(a)?, self.scalars(b)?);
        Ok(a.into_iter().zip(b).map(|(a, b)| self.system.dag.binary(function, a, b)).collect())
    }

    fn fold(&mut self, function: BinaryFn, neutral: f64, a: &Expr) -> Scalars {
        let values = self.scalars(a)?;
        let all = values.into_iter().reduce(|a, b| self.system.dag.binary(function, a, b));
        Ok(vec![all.unwrap_or_else(|| self.system.dag.constant(neutral))])
    }

    fn each(&mut self, x: &Expr, e: &Expr, act: fn(&mut Self, NodeId, &str, Span) -> NodeId) -> Scalars {
        let text = print_expr(&ModelNames::new(self.model), e);
        let values = self.scalars(x)?;
        Ok(values.into_iter().map(|x| act(self, x, &text, e.span)).collect())
    }

    fn each_pair(
        &mut self,
        a: &Expr,
        b: &Expr,
        e: &Expr,
        act: fn(&mut Self, NodeId, NodeId, &str, Span) -> NodeId,
    ) -> Scalars {
        let text = print_expr(&ModelNames::new(self.model), e);
        let (a, b) = (self.scalars(a)?, self.scalars(b)?);
        Ok(a.into_iter().zip(b).map(|(a, b)| act(self, a, b, &text, e.span)).collect())
    }

    fn floor(&mut self, x: NodeId, text: &str, span: Span) -> NodeId {
        let literal = self.system.dag.unary(UnaryFn::Floor, x);
        if self.is_literal || !self.system.dag.is_continuous(x) {
            return literal;
        }
        if let Some(&memory) = self.system.floor_memory.get(&x) {
            return self.system.load(memory);
        }
        let memory = self.system.add_discrete(format!("floor in {text}"), SlotType::Real, literal, None, span);
        self.system.floor_memory.insert(x, memory);
        let low = self.system.load(memory);
        let one = self.system.dag.constant(1.0);
        let high = self.system.dag.binary(BinaryFn::Add, low, one);
        self.relation_of(RelationOp::Less, x, low, format!("{text} decreases"), span);
        self.relation_of(RelationOp::GreaterEqual, x, high, format!("{text} increases"), span);
        low
    }

    fn ceil(&mut self, x: NodeId, text: &str, span: Span) -> NodeId {
        let negative = self.system.dag.negate(x);
        let floor = self.floor(negative, text, span);
        self.system.dag.negate(floor)
    }

    /// The quotient rounded towards zero.
    fn div(&mut self, a: NodeId, b: NodeId, text: &str, span: Span) -> NodeId {
        let q = self.system.dag.binary(BinaryFn::Div, a, b);
        let zero = self.system.dag.constant(0.0);
        let is_positive = self.relation_of(RelationOp::GreaterEqual, q, zero, format!("sign in {text}"), span);
        let (down, up) = (self.floor(q, text, span), self.ceil(q, text, span));
        self.system.dag.select(is_positive, down, up)
    }

    /// `a - whole * b`
    fn remainder(&mut self, a: NodeId, b: NodeId, whole: NodeId) -> NodeId {
        let product = self.system.dag.binary(BinaryFn::Mul, whole, b);
        self.system.dag.binary(BinaryFn::Sub, a, product)
    }

    fn semi_linear(&mut self, x: &Expr, up: &Expr, down: &Expr, e: &Expr) -> Scalars {
        let (x, up, down) = (self.scalar(x)?, self.scalar(up)?, self.scalar(down)?);
        let zero = self.system.dag.constant(0.0);
        let text = print_expr(&ModelNames::new(self.model), e);
        let is_positive = self.relation_of(RelationOp::GreaterEqual, x, zero, text, e.span);
        let slope = self.system.dag.select(is_positive, up, down);
        Ok(vec![self.system.dag.binary(BinaryFn::Mul, x, slope)])
    }

    /// The slots of a whole variable or elements of one.
    pub fn slots(&mut self, x: &Expr, what: &str) -> Result<Vec<SlotId>, Reported> {
        let nodes = self.scalars(x)?;
        let slots: Option<Vec<SlotId>> = nodes.iter().map(|&n| self.slot_of(n)).collect();
        match slots {
            Some(slots) => Ok(slots),
            None => self.unsupported(what, x.span),
        }
    }

    fn derivatives(&mut self, x: &Expr) -> Scalars {
        let nodes = self.scalars(x)?;
        let mut result = Vec::new();
        for node in nodes {
            let slot = self.slot_of(node);
            let kind = slot.map(|s| self.system.slots[s].kind);
            result.push(match (slot, kind) {
                (Some(slot), Some(SlotKind::State | SlotKind::Algebraic)) => {
                    let derivative = self.system.derivative(slot);
                    self.system.load(derivative)
                }
                // Constants, parameters and time have known derivatives.
                _ if !self.system.dag.is_continuous(node) => self.system.dag.constant(0.0),
                (_, Some(SlotKind::Time)) => self.system.dag.constant(1.0),
                _ => return self.unsupported("der() of an expression", x.span),
            });
        }
        Ok(result)
    }

    fn pre_values(&mut self, x: &Expr) -> Scalars {
        let slots = self.slots(x, "pre() of an expression")?;
        Ok(slots.into_iter().map(|slot| self.pre_node(slot)).collect())
    }

    /// `pre(slot)`; parameters are their own.
    pub fn pre_node(&mut self, slot: SlotId) -> NodeId {
        if self.system.slots[slot].kind == SlotKind::Parameter {
            return self.system.load(slot);
        }
        let pre = self.system.pre(slot);
        self.system.load(pre)
    }

    fn edge(&mut self, x: &Expr) -> Scalars {
        let slots = self.slots(x, "edge() of an expression")?;
        Ok(slots.into_iter().map(|slot| self.edge_node(slot)).collect())
    }

    /// `slot and not pre(slot)`
    pub fn edge_node(&mut self, slot: SlotId) -> NodeId {
        let (now, before) = (self.system.load(slot), self.pre_node(slot));
        let was_false = self.system.dag.not(before);
        self.system.dag.and(now, was_false)
    }

    fn change(&mut self, x: &Expr) -> Scalars {
        let slots = self.slots(x, "change() of an expression")?;
        let differs = |s: &mut Self, slot| {
            let (now, before) = (s.system.load(slot), s.pre_node(slot));
            s.system.dag.binary(BinaryFn::NotEqual, now, before)
        };
        Ok(slots.into_iter().map(|slot| differs(self, slot)).collect())
    }

    fn sample(&mut self, start: &Expr, interval: &Expr, span: Span) -> Scalars {
        let (start, interval) = (self.scalar(start)?, self.scalar(interval)?);
        let loads = self.system.dag.loads(&[start, interval]);
        if loads.iter().any(|&slot| self.system.slots[slot].kind != SlotKind::Parameter) {
            return self.unsupported("sample() with arguments that are no parameters", span);
        }
        let number = self.system.samples.len() + 1;
        let mut argument = |name: &str, node: NodeId| {
            let slot = self.system.add_slot(format!("{name} {number}"), SlotKind::Parameter, SlotType::Real);
            self.system.parameters.push(Assignment { slot, node, span });
            slot
        };
        let (start, interval) = (argument("sample start", start), argument("sample interval", interval));
        let active = self.system.add_slot(format!("sample {number}"), SlotKind::Flag, SlotType::Boolean);
        let tick = self.system.add_slot(format!("tick {number}"), SlotKind::Flag, SlotType::Integer);
        self.system.samples.push(Sample { start, interval, active, tick, span });
        Ok(vec![self.system.load(active)])
    }

    fn array_builtin(&mut self, e: &Expr, function: Builtin, arguments: &[Expr]) -> Scalars {
        let dims: Option<Vec<usize>> = e.ty.dims.iter().map(|d| d.known().map(|n| n as usize)).collect();
        let n = e.ty.n_elements().filter(|&n| n <= crate::system::MOST_ELEMENTS);
        let (Some(dims), Some(n)) = (dims, n) else {
            return self.report(diagnostics::too_large(e.span));
        };
        let n = n as usize;
        match (function, arguments) {
            (Builtin::Zeros, _) => Ok(vec![self.system.dag.constant(0.0); n]),
            (Builtin::Ones, _) => Ok(vec![self.system.dag.constant(1.0); n]),
            (Builtin::Fill, [value, ..]) => {
                let value = self.scalars(value)?;
                Ok(value.iter().copied().cycle().take(n).collect())
            }
            (Builtin::Identity, _) => {
                let columns = dims.last().copied().unwrap_or(1).max(1);
                Ok((0..n).map(|i| self.system.dag.boolean(i / columns == i % columns)).collect())
            }
            (Builtin::Diagonal, [v]) => {
                let (v, zero) = (self.scalars(v)?, self.system.dag.constant(0.0));
                let size = v.len();
                Ok((0..size * size).map(|i| if i / size == i % size { v[i % size] } else { zero }).collect())
            }
            (Builtin::Scalar | Builtin::Vector | Builtin::Matrix, [x]) | (Builtin::Promote, [x, _]) => self.scalars(x),
            (Builtin::Transpose, [m]) => {
                let values = self.scalars(m)?;
                let (rows, columns) = (dims.first().copied().unwrap_or(0), dims.get(1).copied().unwrap_or(0));
                Ok((0..n)
                    .filter_map(|i| values.get((i % columns.max(1)) * rows + i / columns.max(1)).copied())
                    .collect())
            }
            (Builtin::Size, [x, dimension]) => {
                let size = self.constant(dimension)?.and_then(|d| x.ty.dims.get((d as usize).wrapping_sub(1))?.known());
                match size {
                    Some(size) => Ok(vec![self.system.dag.constant(size as f64)]),
                    None => self.unsupported("size() of this", e.span),
                }
            }
            (Builtin::Size, [x]) => {
                let sizes: Vec<u64> = x.ty.dims.iter().filter_map(|d| d.known()).collect();
                Ok(sizes.into_iter().map(|n| self.system.dag.constant(n as f64)).collect())
            }
            (Builtin::Ndims, [x]) => Ok(vec![self.system.dag.constant(x.ty.rank() as f64)]),
            (Builtin::Cross, [a, b]) => self.cross(a, b, e),
            (Builtin::Linspace, [a, b, _]) => {
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                let step = self.system.dag.binary(BinaryFn::Sub, b, a);
                Ok((0..n)
                    .map(|i| {
                        let fraction = self.system.dag.constant(i as f64 / (n.max(2) - 1) as f64);
                        let part = self.system.dag.binary(BinaryFn::Mul, step, fraction);
                        self.system.dag.binary(BinaryFn::Add, a, part)
                    })
                    .collect())
            }
            _ => self.unsupported(&format!("the operator {}", function.name()), e.span),
        }
    }

    fn cross(&mut self, a: &Expr, b: &Expr, e: &Expr) -> Scalars {
        let (a, b) = (self.scalars(a)?, self.scalars(b)?);
        let ([a1, a2, a3], [b1, b2, b3]) = (a.as_slice(), b.as_slice()) else {
            return self.report(diagnostics::broken_expression("cross product of other than three elements", e.span));
        };
        let mut minor = |p: NodeId, q: NodeId, r: NodeId, s: NodeId| {
            let (x, y) = (self.system.dag.binary(BinaryFn::Mul, p, q), self.system.dag.binary(BinaryFn::Mul, r, s));
            self.system.dag.binary(BinaryFn::Sub, x, y)
        };
        Ok(vec![minor(*a2, *b3, *a3, *b2), minor(*a3, *b1, *a1, *b3), minor(*a1, *b2, *a2, *b1)])
    }

    /// A scalar Boolean condition.
    pub fn condition(&mut self, e: &Expr) -> Result<NodeId, Reported> {
        if e.ty.base != BaseType::Boolean {
            return self.unsupported("conditions that are no Booleans", e.span);
        }
        self.scalar(e)
    }
}

fn elementary(function: Builtin) -> Option<UnaryFn> {
    Some(match function {
        Builtin::Sin => UnaryFn::Sin,
        Builtin::Cos => UnaryFn::Cos,
        Builtin::Tan => UnaryFn::Tan,
        Builtin::Asin => UnaryFn::Asin,
        Builtin::Acos => UnaryFn::Acos,
        Builtin::Atan => UnaryFn::Atan,
        Builtin::Sinh => UnaryFn::Sinh,
        Builtin::Cosh => UnaryFn::Cosh,
        Builtin::Tanh => UnaryFn::Tanh,
        Builtin::Exp => UnaryFn::Exp,
        Builtin::Log => UnaryFn::Log,
        Builtin::Log10 => UnaryFn::Log10,
        Builtin::Sqrt => UnaryFn::Sqrt,
        Builtin::Abs => UnaryFn::Abs,
        Builtin::Sign => UnaryFn::Sign,
        _ => return None,
    })
}
