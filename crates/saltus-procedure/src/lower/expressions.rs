//! Expressions: every part an instruction, in the order of evaluation.

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, Builtin, Expr, ExprKind, Iterator, LocalId, ReductionOp};

use super::{Lowering, MOST_LEVELS};
use crate::form::{Argument, Block, Literal, Op, Operand, Step};

impl Lowering {
    pub(super) fn operands(&mut self, exprs: &[Expr], block: &mut Block) -> Vec<Operand> {
        exprs.iter().map(|e| self.operand(e, block)).collect()
    }

    pub(super) fn argument(&mut self, expr: &Expr, block: &mut Block) -> Argument {
        Argument { value: self.operand(expr, block), span: expr.span }
    }

    fn arguments(&mut self, exprs: &[Expr], block: &mut Block) -> Vec<Argument> {
        exprs.iter().map(|e| self.argument(e, block)).collect()
    }

    pub(super) fn too_deep(&mut self, span: Span, block: &mut Block) -> Operand {
        self.emit(Op::TooDeep, span, block)
    }

    /// The value of an expression, after the instructions that compute it.
    pub(super) fn operand(&mut self, expr: &Expr, block: &mut Block) -> Operand {
        if let Some(literal) = literal(expr) {
            return literal;
        }
        if let ExprKind::Local(id) = expr.kind {
            self.expect(id, expr.span, block);
            return Operand::Local(self.local(id));
        }
        if self.levels >= MOST_LEVELS {
            return self.too_deep(expr.span, block);
        }
        self.levels += 1;
        let operand = self.nested(expr, block);
        self.levels -= 1;
        operand
    }

    /// A local is read: it has a value.
    fn expect(&mut self, id: LocalId, span: Span, block: &mut Block) {
        if self.values.is_open(id)
            && let Some(&flag) = self.values.flags.get(&id)
        {
            block.push(Step::Expect { local: self.local(id), flag: self.local(flag), span });
        }
    }

    fn nested(&mut self, expr: &Expr, block: &mut Block) -> Operand {
        let span = expr.span;
        let op = match &expr.kind {
            ExprKind::Binary(..) => return self.chain(expr, block),
            ExprKind::If { .. } => self.choice(expr),
            ExprKind::Unary(op, operand) => Op::Unary(*op, self.operand(operand, block)),
            ExprKind::Cast(operand) => Op::Cast(expr.ty.base, self.operand(operand, block)),
            ExprKind::Call { .. } | ExprKind::CallLocal { .. } => return self.first_result(expr, block),
            ExprKind::Builtin { function, arguments } => return self.builtin(*function, arguments, expr, block),
            ExprKind::Index { .. } | ExprKind::Field { .. } => {
                let (root, path) = self.path(expr, block);
                Op::Select { base: self.operand(root, block), path }
            }
            ExprKind::Record(fields) => match expr.ty.base {
                BaseType::Record(id) => Op::Record(id, self.operands(fields, block)),
                _ => Op::Unavailable("a record of another type".into()),
            },
            ExprKind::Array(items) => match literal_array(expr) {
                Some(literal) => Op::Literal(literal),
                None => Op::Array { elements: self.arguments(items, block), ty: expr.ty.clone() },
            },
            ExprKind::Range { start, step, stop } => Op::Range {
                start: self.operand(start, block),
                step: step.as_ref().map(|s| self.operand(s, block)),
                stop: self.operand(stop, block),
            },
            ExprKind::Reduction { op, body, iterators } => self.reduction(*op, body, iterators, expr),
            ExprKind::FunctionRef { function, bound } => {
                let bound = bound.iter().map(|(i, e)| (*i, self.operand(e, block))).collect();
                Op::Function { function: *function, bound }
            }
            ExprKind::Var(id) => Op::Variable(*id),
            ExprKind::Time => Op::Unavailable("`time`".into()),
            ExprKind::Tuple(_) => Op::Unavailable("a list of results".into()),
            _ => Op::Unavailable("an erroneous expression".into()),
        };
        self.emit(op, span, block)
    }

    /// Left-associative chains such as `a + b + c + …` take no nesting.
    fn chain(&mut self, expr: &Expr, block: &mut Block) -> Operand {
        let mut chain: Vec<(Span, BinaryOp, &Expr)> = Vec::new();
        let mut current = expr;
        while let ExprKind::Binary(op, left, right) = &current.kind {
            chain.push((current.span, *op, right));
            current = left;
        }
        let mut value = self.operand(current, block);
        while let Some((span, op, right)) = chain.pop() {
            let op = match op {
                BinaryOp::And | BinaryOp::Or => {
                    Op::Decide { is_or: op == BinaryOp::Or, left: value, right: self.boxed_code(right) }
                }
                _ => Op::Binary(op, value, self.operand(right, block)),
            };
            value = self.emit(op, span, block);
        }
        value
    }

    /// `if … elseif … else`, as one choice.
    fn choice(&mut self, expr: &Expr) -> Op {
        let mut branches = Vec::new();
        let mut current = expr;
        while let ExprKind::If { condition, then, otherwise } = &current.kind {
            branches.push((self.code(condition), self.code(then)));
            current = otherwise;
        }
        Op::Choose { branches, otherwise: self.boxed_code(current) }
    }

    fn first_result(&mut self, expr: &Expr, block: &mut Block) -> Operand {
        let Some((callee, arguments)) = self.callee(expr, block) else {
            return self.emit(Op::Unavailable("a call".into()), expr.span, block);
        };
        let to = self.temporary();
        block.push(Step::Call { to: vec![Some(to)], callee, arguments, span: expr.span });
        Operand::Temporary(to)
    }

    fn reduction(&mut self, op: ReductionOp, body: &Expr, iterators: &[Iterator], expr: &Expr) -> Op {
        let iterations = iterators.iter().map(|i| self.iteration(i.local, &i.range)).collect();
        Op::Reduce { op, iterations, body: self.boxed_code(body), ty: expr.ty.clone() }
    }

    /// Operators that only say how to find events are their argument; those that need a simulation have no value.
    fn builtin(&mut self, function: Builtin, arguments: &[Expr], expr: &Expr, block: &mut Block) -> Operand {
        use Builtin::*;
        let span = expr.span;
        let op = match function {
            NoEvent | Homotopy | Pure | Pre | Previous if !arguments.is_empty() => {
                return self.operand(&arguments[0], block);
            }
            Smooth if arguments.len() > 1 => return self.operand(&arguments[1], block),
            Ndims if !arguments.is_empty() => return Operand::Integer(arguments[0].ty.rank() as i64),
            Size if !arguments.is_empty() => return self.size(arguments, expr, block),
            GetInstanceName => Op::InstanceName,
            Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Exp | Log | Log10 | Sqrt | Abs | Sign
            | Ceil | Floor | Integer | Atan2 | Div | Mod | Rem | Min | Max | NoEvent | Homotopy | Pure | Pre
            | Previous | Smooth | SemiLinear | Edge | Change | ToInteger | EnumFromInteger | ToString | Ndims
            | Size | Scalar | Vector | Matrix | Identity | Diagonal | Zeros | Ones | Fill | Linspace | Sum
            | Product | Transpose | OuterProduct | Symmetric | Cross | Skew | Cat | Promote => {
                Op::Builtin { function, arguments: self.arguments(arguments, block), ty: expr.ty.clone() }
            }
            _ => Op::Unavailable(format!("`{}`", function.name())),
        };
        self.emit(op, span, block)
    }

    /// Sizes come from the type where it knows them: `size(x, 1)` needs no value of `x`.
    fn size(&mut self, arguments: &[Expr], expr: &Expr, block: &mut Block) -> Operand {
        let array = &arguments[0];
        let known: Vec<Option<i64>> =
            array.ty.dims.iter().map(|d| d.known().and_then(|n| i64::try_from(n).ok())).collect();
        let all: Option<Vec<i64>> = known.iter().copied().collect();
        let dimension = arguments.get(1);
        if let (None, Some(sizes)) = (dimension, &all) {
            let literal = Literal::Integers { dims: vec![sizes.len()], items: sizes.clone() };
            return self.emit(Op::Literal(literal), expr.span, block);
        }
        if let Some(Expr { kind: ExprKind::Integer(d), .. }) = dimension
            && let Some(Some(size)) = usize::try_from(*d).ok().and_then(|d| known.get(d.checked_sub(1)?))
        {
            return Operand::Integer(*size);
        }
        let dimension = dimension.map(|d| self.argument(d, block));
        let array_value = if all.is_some() { None } else { Some(self.unread(|l| l.operand(array, block))) };
        self.emit(Op::Size { array: array_value, dimension, ty: array.ty.clone() }, expr.span, block)
    }
}

/// A scalar literal.
fn literal(expr: &Expr) -> Option<Operand> {
    Some(match &expr.kind {
        ExprKind::Real(x) => Operand::Real(*x),
        ExprKind::Integer(i) if expr.ty.base == BaseType::Real => Operand::Real(*i as f64),
        ExprKind::Integer(i) => Operand::Integer(*i),
        ExprKind::Boolean(b) => Operand::Boolean(*b),
        ExprKind::String(s) => Operand::String(s.to_string()),
        ExprKind::EnumLiteral(id, ordinal) => Operand::Enumeration(*id, *ordinal),
        ExprKind::Cast(inner) if expr.ty.base == BaseType::Real => match inner.kind {
            ExprKind::Integer(i) => Operand::Real(i as f64),
            _ => return None,
        },
        _ => return None,
    })
}

/// An array whose elements are literals of one type.
fn literal_array(expr: &Expr) -> Option<Literal> {
    let mut dims = Vec::new();
    let mut current = expr;
    while let ExprKind::Array(items) = &current.kind {
        dims.push(items.len());
        current = items.first()?;
    }
    let mut elements = Vec::new();
    collect(expr, &dims, &mut elements)?;
    let is_integer = elements.iter().all(|e| matches!(e, Operand::Integer(_))) && expr.ty.base != BaseType::Real;
    if is_integer {
        let items = elements.iter().map(|e| if let Operand::Integer(i) = e { Some(*i) } else { None });
        return Some(Literal::Integers { dims, items: items.collect::<Option<_>>()? });
    }
    let real = |e: &Operand| match e {
        Operand::Real(x) => Some(*x),
        Operand::Integer(i) if expr.ty.base == BaseType::Real => Some(*i as f64),
        _ => None,
    };
    Some(Literal::Reals { dims, items: elements.iter().map(real).collect::<Option<_>>()? })
}

fn collect(expr: &Expr, dims: &[usize], elements: &mut Vec<Operand>) -> Option<()> {
    match (&expr.kind, dims.split_first()) {
        (ExprKind::Array(items), Some((&n, rest))) if items.len() == n => {
            items.iter().try_for_each(|item| collect(item, rest, elements))
        }
        (_, None) => {
            elements.push(literal(expr)?);
            Some(())
        }
        _ => None,
    }
}
