//! Scalarise expressions: a flat expression becomes the row-major list of its scalars on the graph.
//!
//! In: a typed flat expression. Out: its scalars, or [`Reported`] after a diagnostic. `{x, 2} .* y` with `Real y[2]`
//! becomes `x*y[1], 2*y[2]`. A record is the sequence of its fields.
//!
//! Relations with a continuous operand become loads of their memory (see [`System::relation`]) unless they are literal:
//! inside `noEvent`, `smooth`, and where an expression is evaluated only at events. (Specification: section 8.5.)

pub mod survey;

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Span};
use saltus_flat::{
    BaseType, BinaryOp, Expr, ExprKind, FlatModel, Iterator, LocalId, ModelNames, ReductionOp, Subscript, Type,
    UnaryOp, count, print_expr,
};
use saltus_program::{BinaryFn, RelationOp, UnaryFn};

use crate::dag::{Node, NodeId};
use crate::diagnostics;
use crate::system::{MOST_ELEMENTS, System};

/// A diagnostic has been issued.
#[derive(Clone, Copy, Debug)]
pub struct Reported;

pub type Scalars = Result<Vec<NodeId>, Reported>;

pub struct Lowering<'a> {
    pub model: &'a FlatModel,
    pub system: &'a mut System,
    pub diagnostics: &'a mut Diagnostics,
    /// Values of iteration variables.
    pub locals: BTreeMap<LocalId, NodeId>,
    /// Relations are taken literally and generate no events.
    pub is_literal: bool,
}

impl<'a> Lowering<'a> {
    pub fn new(model: &'a FlatModel, system: &'a mut System, diagnostics: &'a mut Diagnostics) -> Self {
        Lowering { model, system, diagnostics, locals: BTreeMap::new(), is_literal: false }
    }

    pub fn report<T>(&mut self, diagnostic: saltus_base::Diagnostic) -> Result<T, Reported> {
        self.diagnostics.push(diagnostic);
        Err(Reported)
    }

    pub fn unsupported<T>(&mut self, what: &str, span: Span) -> Result<T, Reported> {
        self.report(diagnostics::not_supported(what, span))
    }

    pub fn scalar(&mut self, expr: &Expr) -> Result<NodeId, Reported> {
        let scalars = self.scalars(expr)?;
        match scalars.as_slice() {
            [one] => Ok(*one),
            _ => self.report(diagnostics::broken_expression("a scalar was expected", expr.span)),
        }
    }

    /// The scalar value of an expression that does not depend on anything.
    pub fn constant(&mut self, expr: &Expr) -> Result<Option<f64>, Reported> {
        let node = self.scalar(expr)?;
        Ok(self.system.dag.value(node))
    }

    /// With relations literal.
    pub fn literally<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_literal, true);
        let result = act(self);
        self.is_literal = before;
        result
    }

    pub fn scalars(&mut self, e: &Expr) -> Scalars {
        match &e.kind {
            ExprKind::Real(value) => Ok(vec![self.system.dag.constant(*value)]),
            ExprKind::Integer(value) => Ok(vec![self.system.dag.constant(*value as f64)]),
            ExprKind::Boolean(value) => Ok(vec![self.system.dag.boolean(*value)]),
            ExprKind::EnumLiteral(_, ordinal) => Ok(vec![self.system.dag.constant(f64::from(*ordinal))]),
            ExprKind::String(_) => self.unsupported("String expressions in equations", e.span),
            ExprKind::Var(id) => self.variable(*id, e.span),
            ExprKind::Local(id) => match self.locals.get(id) {
                Some(value) => Ok(vec![*value]),
                None => self.report(diagnostics::broken_expression("an iteration variable without a value", e.span)),
            },
            ExprKind::Time => Ok(vec![self.system.load(self.system.time)]),
            ExprKind::Index { base, subscripts } => self.index(e, base, subscripts),
            ExprKind::Field { base, field } => self.field(e, base, *field),
            ExprKind::Record(items) | ExprKind::Array(items) => {
                let mut all = Vec::new();
                for item in items {
                    all.extend(self.scalars(item)?);
                    self.check_size(all.len(), e.span)?;
                }
                Ok(all)
            }
            ExprKind::Range { start, step, stop } => self.range(e, start, step.as_deref(), stop),
            ExprKind::Unary(op, operand) => {
                let function = match op {
                    UnaryOp::Negate => UnaryFn::Negate,
                    UnaryOp::Not => UnaryFn::Not,
                };
                let operand = self.scalars(operand)?;
                Ok(operand.into_iter().map(|x| self.system.dag.unary(function, x)).collect())
            }
            ExprKind::Binary(..) => self.binary_chain(e),
            ExprKind::If { condition, then, otherwise } => {
                let condition = self.scalar(condition)?;
                // A branch that cannot be reached may contain anything.
                match self.system.dag.value(condition) {
                    Some(value) if value != 0.0 => return self.scalars(then),
                    Some(_) => return self.scalars(otherwise),
                    None => {}
                }
                let (a, b) = (self.scalars(then)?, self.scalars(otherwise)?);
                Ok(a.into_iter().zip(b).map(|(a, b)| self.system.dag.select(condition, a, b)).collect())
            }
            ExprKind::Builtin { function, arguments } => self.builtin(e, *function, arguments),
            ExprKind::Reduction { op, body, iterators } => self.reduction(e, *op, body, iterators),
            ExprKind::Cast(operand) => self.scalars(operand),
            ExprKind::Call { function, .. } => {
                let name = self.model.functions.get(*function).map_or("?", |f| &f.name).to_owned();
                self.unsupported(&format!("calls of user functions ({name})"), e.span)
            }
            ExprKind::CallLocal { .. } | ExprKind::FunctionRef { .. } => {
                self.unsupported("functions as values", e.span)
            }
            ExprKind::Tuple(_) => self.unsupported("several results of a call", e.span),
            ExprKind::Error => Err(Reported),
        }
    }

    fn check_size(&mut self, n: usize, span: Span) -> Result<(), Reported> {
        if n as u64 > MOST_ELEMENTS { self.report(diagnostics::too_large(span)) } else { Ok(()) }
    }

    fn variable(&mut self, id: saltus_flat::VarId, span: Span) -> Scalars {
        let slots = self.system.elements.get(id).cloned().unwrap_or_default();
        let variable = &self.model.variables[id];
        if slots.is_empty() && variable.ty.n_elements() != Some(0) {
            if variable.ty.n_elements().is_some_and(|n| n > MOST_ELEMENTS) {
                return self.report(diagnostics::too_large(span));
            }
            return self.unsupported(&format!("the variable {} of its type in equations", variable.name), span);
        }
        Ok(slots.into_iter().map(|slot| self.system.load(slot)).collect())
    }

    /// Number of scalars in one element of this type.
    fn width(&self, ty: &Type) -> usize {
        self.n_scalars(&Type::scalar(ty.base))
    }

    fn field(&mut self, e: &Expr, base: &Expr, field: u32) -> Scalars {
        let scalars = self.scalars(base)?;
        let model = self.model;
        let BaseType::Record(record) = base.ty.base else {
            return self.report(diagnostics::broken_expression("a field of something that is no record", e.span));
        };
        let sizes: Vec<usize> = model.records.get(record).map_or(Vec::new(), |r| {
            r.fields.iter().map(|f| count::n_scalars(model, &f.ty).unwrap_or(0) as usize).collect()
        });
        let start: usize = sizes.iter().take(field as usize).sum();
        let n = sizes.get(field as usize).copied().unwrap_or(0);
        let width: usize = sizes.iter().sum::<usize>().max(1);
        Ok(scalars.chunks(width).flat_map(|c| c.iter().skip(start).take(n).copied()).collect())
    }

    fn range(&mut self, e: &Expr, start: &Expr, step: Option<&Expr>, stop: &Expr) -> Scalars {
        let start = self.constant(start)?;
        let step = step.map_or(Ok(Some(1.0)), |s| self.constant(s))?;
        let stop = self.constant(stop)?;
        let (Some(start), Some(step), Some(stop)) = (start, step, stop) else {
            return self.unsupported("ranges whose bounds are not constant", e.span);
        };
        // The quotient of decimal fractions may fall short of an integer by a rounding error.
        let n = ((stop - start) / step * (1.0 + 4.0 * f64::EPSILON)).floor() + 1.0;
        if !n.is_finite() || n > MOST_ELEMENTS as f64 {
            return self.report(diagnostics::too_large(e.span));
        }
        Ok((0..n.max(0.0) as u64).map(|i| self.system.dag.constant(start + step * i as f64)).collect())
    }

    fn index(&mut self, e: &Expr, base: &Expr, subscripts: &[Subscript]) -> Scalars {
        let scalars = self.scalars(base)?;
        let width = self.width(&base.ty);
        let dims: Vec<usize> = base.ty.dims.iter().map(|d| d.known().unwrap_or(0) as usize).collect();
        let mut selections: Vec<Vec<NodeId>> = Vec::new();
        for (i, &size) in dims.iter().enumerate() {
            selections.push(match subscripts.get(i) {
                None | Some(Subscript::All) => (1..=size).map(|k| self.system.dag.constant(k as f64)).collect(),
                Some(Subscript::Slice(v)) => self.scalars(v)?,
                Some(Subscript::Index(v)) => {
                    let node = self.scalar(v)?;
                    // Boolean subscripts count from false = 1.
                    let one = self.system.dag.constant(1.0);
                    let is_boolean = v.ty.base == BaseType::Boolean;
                    vec![if is_boolean { self.system.dag.binary(BinaryFn::Add, node, one) } else { node }]
                }
            });
        }
        self.select_elements(&scalars, &dims, width, &selections, e.span)
    }

    /// Takes the chosen positions of the outermost dimension, then of the next, and so on.
    fn select_elements(
        &mut self,
        scalars: &[NodeId],
        dims: &[usize],
        width: usize,
        selections: &[Vec<NodeId>],
        span: Span,
    ) -> Scalars {
        let (Some((&size, inner_dims)), Some((positions, inner_selections))) =
            (dims.split_first(), selections.split_first())
        else {
            return Ok(scalars.to_vec());
        };
        let stride: usize = inner_dims.iter().product::<usize>() * width;
        let mut result = Vec::new();
        for &position in positions {
            let slab = match self.system.dag.value(position) {
                Some(k) if k >= 1.0 && k <= size as f64 => {
                    let from = (k as usize - 1) * stride;
                    scalars.get(from..from + stride).unwrap_or(&[]).to_vec()
                }
                Some(k) => return self.report(diagnostics::index_out_of_range(k, size as u64, span)),
                None => self.choose_at_run_time(scalars, size, stride, position),
            };
            result.extend(self.select_elements(&slab, inner_dims, width, inner_selections, span)?);
            self.check_size(result.len(), span)?;
        }
        Ok(result)
    }

    /// `if i == 1 then x[1] elseif …`; an index outside yields not-a-number, which is found when it is stored.
    fn choose_at_run_time(&mut self, scalars: &[NodeId], size: usize, stride: usize, position: NodeId) -> Vec<NodeId> {
        let nothing = self.system.dag.constant(f64::NAN);
        let mut result = vec![nothing; stride];
        for k in (0..size).rev() {
            let number = self.system.dag.constant(k as f64 + 1.0);
            let is_it = self.system.dag.binary(BinaryFn::Equal, position, number);
            for (j, place) in result.iter_mut().enumerate() {
                let element = scalars.get(k * stride + j).copied().unwrap_or(nothing);
                *place = self.system.dag.select(is_it, element, *place);
            }
        }
        result
    }

    /// Long sums are nested to the left; their spine is followed in a loop.
    fn binary_chain(&mut self, e: &Expr) -> Scalars {
        let mut spine = Vec::new();
        let mut first = e;
        while let ExprKind::Binary(op, left, right) = &first.kind {
            spine.push((*op, first, left.as_ref(), right.as_ref()));
            first = left.as_ref();
        }
        let mut value = self.scalars(first)?;
        for (op, whole, left, right) in spine.into_iter().rev() {
            let other = self.scalars(right)?;
            value = match op {
                BinaryOp::MatMul => self.matrix_product(&value, &other, &left.ty, &right.ty),
                BinaryOp::MatPow => return self.unsupported("powers of matrices", whole.span),
                _ => self.elementwise(op, value, other, whole),
            };
        }
        Ok(value)
    }

    fn elementwise(&mut self, op: BinaryOp, left: Vec<NodeId>, right: Vec<NodeId>, e: &Expr) -> Vec<NodeId> {
        let ExprKind::Binary(_, l, r) = &e.kind else { return Vec::new() };
        let n = if l.ty.is_scalar() { right.len() } else { left.len() };
        let at = |values: &[NodeId], is_scalar: bool, i: usize| values.get(if is_scalar { 0 } else { i }).copied();
        (0..n)
            .filter_map(|i| {
                let a = at(&left, l.ty.is_scalar(), i)?;
                let b = at(&right, r.ty.is_scalar(), i)?;
                Some(self.operation(op, a, b, e))
            })
            .collect()
    }

    fn operation(&mut self, op: BinaryOp, a: NodeId, b: NodeId, e: &Expr) -> NodeId {
        let function = match op {
            BinaryOp::Add => BinaryFn::Add,
            BinaryOp::Sub => BinaryFn::Sub,
            BinaryOp::Mul | BinaryOp::MatMul => BinaryFn::Mul,
            BinaryOp::Div => BinaryFn::Div,
            BinaryOp::Pow | BinaryOp::MatPow => BinaryFn::Pow,
            BinaryOp::And => BinaryFn::And,
            BinaryOp::Or => BinaryFn::Or,
            BinaryOp::Equal => BinaryFn::Equal,
            BinaryOp::NotEqual => BinaryFn::NotEqual,
            BinaryOp::Less => return self.relation(RelationOp::Less, a, b, e),
            BinaryOp::LessEqual => return self.relation(RelationOp::LessEqual, a, b, e),
            BinaryOp::Greater => return self.relation(RelationOp::Greater, a, b, e),
            BinaryOp::GreaterEqual => return self.relation(RelationOp::GreaterEqual, a, b, e),
        };
        self.system.dag.binary(function, a, b)
    }

    fn relation(&mut self, op: RelationOp, a: NodeId, b: NodeId, e: &Expr) -> NodeId {
        let text = print_expr(&ModelNames::new(self.model), e);
        self.relation_of(op, a, b, text, e.span)
    }

    /// A relation with the text it is known by.
    pub fn relation_of(&mut self, op: RelationOp, a: NodeId, b: NodeId, text: String, span: Span) -> NodeId {
        let dag = &mut self.system.dag;
        if self.is_literal || !(dag.is_continuous(a) || dag.is_continuous(b)) {
            return dag.binary(crate::system::relation_function(op), a, b);
        }
        let memory = self.system.relation(op, a, b, text, span);
        self.system.load(memory)
    }

    fn matrix_product(&mut self, a: &[NodeId], b: &[NodeId], left: &Type, right: &Type) -> Vec<NodeId> {
        let size = |ty: &Type, i: usize| ty.dims.get(i).and_then(|d| d.known()).unwrap_or(1) as usize;
        let (rows, inner) = if left.rank() == 2 { (size(left, 0), size(left, 1)) } else { (1, size(left, 0)) };
        let columns = if right.rank() == 2 { size(right, 1) } else { 1 };
        let mut result = Vec::new();
        for i in 0..rows {
            for j in 0..columns {
                let mut sum = self.system.dag.constant(0.0);
                for k in 0..inner {
                    if let (Some(&x), Some(&y)) = (a.get(i * inner + k), b.get(k * columns + j)) {
                        let product = self.system.dag.binary(BinaryFn::Mul, x, y);
                        sum = self.system.dag.binary(BinaryFn::Add, sum, product);
                    }
                }
                result.push(sum);
            }
        }
        result
    }

    fn reduction(&mut self, e: &Expr, op: ReductionOp, body: &Expr, iterators: &[Iterator]) -> Scalars {
        let mut values = Vec::new();
        self.iterate(e, body, iterators, &mut values)?;
        if op == ReductionOp::Array {
            return Ok(values);
        }
        let (function, neutral) = match op {
            ReductionOp::Sum => (BinaryFn::Add, 0.0),
            ReductionOp::Product => (BinaryFn::Mul, 1.0),
            ReductionOp::Min => (BinaryFn::Min, f64::MAX),
            ReductionOp::Max => (BinaryFn::Max, f64::MIN),
            ReductionOp::Array => return Ok(values),
        };
        let width = self.n_scalars(&body.ty);
        let mut result: Vec<Option<NodeId>> = vec![None; width];
        for chunk in values.chunks(width.max(1)) {
            for (place, &value) in result.iter_mut().zip(chunk) {
                *place = Some(match *place {
                    Some(sum) => self.system.dag.binary(function, sum, value),
                    None => value,
                });
            }
        }
        Ok(result.into_iter().map(|r| r.unwrap_or_else(|| self.system.dag.constant(neutral))).collect())
    }

    fn n_scalars(&self, ty: &Type) -> usize {
        count::n_scalars(self.model, ty).unwrap_or(1) as usize
    }

    fn iterate(
        &mut self,
        e: &Expr,
        body: &Expr,
        iterators: &[Iterator],
        values: &mut Vec<NodeId>,
    ) -> Result<(), Reported> {
        let Some((first, rest)) = iterators.split_first() else {
            values.extend(self.scalars(body)?);
            return self.check_size(values.len(), e.span);
        };
        for value in self.scalars(&first.range)? {
            self.locals.insert(first.local, value);
            self.iterate(e, body, rest, values)?;
        }
        self.locals.remove(&first.local);
        Ok(())
    }

    /// The slot that a node loads.
    pub fn slot_of(&self, node: NodeId) -> Option<saltus_program::SlotId> {
        match self.system.dag.node(node) {
            Node::Load(slot) => Some(slot),
            _ => None,
        }
    }
}
