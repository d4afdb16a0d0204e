//! Expressions: syntax tree in, typed flat expression out (specification chapters 3, 10).

use saltus_base::Span;
use saltus_eval::Value;
use saltus_flat::{self as flat, BaseType, Builtin, Dim, Expr, ExprKind, ReductionOp, Type, Variability};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::InstId;
use crate::reference::Iterated;

/// Reductions in equations are written out up to this many terms.
const MOST_UNROLLED: usize = 100_000;
/// And no more than this in the whole model; the others stay loops.
const MOST_UNROLLED_IN_ALL: usize = 1_000_000;
/// Terms of a sum of arrays that are added one after the other.
const MOST_NESTED_TERMS: usize = 64;

impl<'a> Front<'a> {
    pub fn expression(&mut self, scope: InstId, expr: &'a ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Integer(value) => Expr::integer(*value, span),
            ast::ExprKind::Real(value) => Expr::real(*value, span),
            ast::ExprKind::String(value) => Expr::string(value, span),
            ast::ExprKind::Boolean(value) => Expr::boolean(*value, span),
            ast::ExprKind::Ref(reference) => self.reference(scope, reference),
            ast::ExprKind::Call(call) => self.call(scope, call, span),
            ast::ExprKind::Unary(op, operand) => {
                let operand = self.expression(scope, operand);
                self.unary(*op, operand, span)
            }
            ast::ExprKind::Binary(op, left, right) => {
                let is_flux =
                    *op == ast::BinaryOp::Multiply && [left, right].map(|e| self.is_actual_stream(e)) != [false; 2];
                let left = self.expression(scope, left);
                let right = self.expression(scope, right);
                let is_continuous = is_flux && (turns_with(&left, &right) || turns_with(&right, &left));
                let value = self.binary(*op, left, right, span);
                if is_continuous { smooth(value) } else { value }
            }
            ast::ExprKind::If(branches, otherwise) => self.if_expression(scope, branches, otherwise, span),
            ast::ExprKind::Range { start, step, stop } => {
                let start = self.expression(scope, start);
                let step = step.as_ref().map(|s| self.expression(scope, s));
                let stop = self.expression(scope, stop);
                typing::range(self, start, step, stop, span)
            }
            ast::ExprKind::Array(items) => {
                let items = items.iter().map(|e| self.expression(scope, e)).collect();
                typing::array(self, items, span)
            }
            ast::ExprKind::Comprehension(body, indices) => {
                self.reduction(scope, ReductionOp::Array, body, indices, span)
            }
            ast::ExprKind::Matrix(rows) => {
                let rows = rows.iter().map(|r| r.iter().map(|e| self.expression(scope, e)).collect()).collect();
                typing::matrix(self, rows, span)
            }
            ast::ExprKind::Parenthesised(items) => match items.as_slice() {
                [Some(inner)] => self.expression(scope, inner),
                _ => {
                    let items: Vec<Option<Expr>> =
                        items.iter().map(|e| e.as_ref().map(|e| self.expression(scope, e))).collect();
                    Expr::new(ExprKind::Tuple(items), Type::UNIT, span)
                }
            },
            ast::ExprKind::Access { base, subscripts, parts } => {
                let base = self.expression(scope, base);
                let base = self.subscripted(scope, base, subscripts, span);
                self.access_fields(scope, base, parts, span)
            }
            ast::ExprKind::End => match self.context.ends.last() {
                Some(end) => end.clone(),
                None => {
                    self.report(d::end_outside_subscript(span));
                    Expr::error(span)
                }
            },
            ast::ExprKind::PartialFunction(call) => self.partial_function(scope, call, span),
            ast::ExprKind::Error => Expr::error(span),
        }
    }

    fn is_actual_stream(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ast::ExprKind::Call(call) => self.ref_text(&call.name) == Builtin::ActualStream.name(),
            _ => false,
        }
    }

    fn unary(&mut self, op: ast::UnaryOp, operand: Expr, span: Span) -> Expr {
        if matches!(operand.ty.base, BaseType::Record(_)) {
            return self.overloaded_unary(op, operand, span);
        }
        typing::unary(self, op, operand, span)
    }

    pub fn binary(&mut self, op: ast::BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        if matches!(left.ty.base, BaseType::Record(_)) || matches!(right.ty.base, BaseType::Record(_)) {
            return self.overloaded_binary(op, left, right, span);
        }
        typing::binary(self, op, left, right, span)
    }

    /// A branch that can never be taken is not looked at: it may not even make sense for the sizes at hand.
    fn if_expression(
        &mut self,
        scope: InstId,
        branches: &'a [(ast::Expr, ast::Expr)],
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let Some(((condition, then), rest)) = branches.split_first() else {
            return self.expression(scope, otherwise);
        };
        let condition = self.expression(scope, condition);
        match self.settled(&condition) {
            Some(true) => return self.expression(scope, then),
            Some(false) => return self.if_expression(scope, rest, otherwise, span),
            None => {}
        }
        let mark = self.messages.mark();
        let (then_branch, else_branch) = (then, otherwise);
        let then = self.expression(scope, then_branch);
        let otherwise = self.if_expression(scope, rest, else_branch, span);
        if (then.is_error() || otherwise.is_error())
            && let Some(Value::Boolean(value)) = self.structural_quietly(&condition)
        {
            // A branch that makes no sense for the sizes at hand makes the condition structural.
            self.messages.take_back(mark);
            return if value {
                self.expression(scope, then_branch)
            } else {
                self.if_expression(scope, rest, else_branch, span)
            };
        }
        if then.ty.dims != otherwise.ty.dims
            && !then.is_error()
            && !otherwise.is_error()
            && let Some(Value::Boolean(value)) = self.structural_quietly(&condition)
        {
            return if value { then } else { otherwise };
        }
        typing::if_expression(self, condition, then, otherwise, span)
    }

    /// The value of a condition that no parameter change can alter: literals, constants, structural parameters.
    pub fn settled(&mut self, condition: &Expr) -> Option<bool> {
        if let ExprKind::Boolean(value) = condition.kind {
            return Some(value);
        }
        if condition.is_error() || typing::variability(self, condition) > Variability::Parameter {
            return None;
        }
        let mut variables = Vec::new();
        let mut has_local = false;
        condition.walk(&mut |e| match e.kind {
            ExprKind::Var(var) => variables.push(var),
            ExprKind::Local(_) => has_local = true,
            _ => {}
        });
        let is_in_function = self.functions.current.is_some();
        if has_local || (!is_in_function && !variables.into_iter().all(|var| self.is_settled_variable(var))) {
            return None;
        }
        match self.structural_quietly(condition) {
            Some(Value::Boolean(value)) => Some(value),
            _ => None,
        }
    }

    fn is_settled_variable(&mut self, var: flat::VarId) -> bool {
        let id = self.tree.vars[var];
        let comp = &self.tree[id];
        comp.prefixes.variability == Some(ast::Variability::Constant)
            || comp.is_structural
            || self.evaluate_annotation(id) == Some(true)
    }

    /// `sum(e for i in 1:3)`, `{e for i in 1:3}`.
    pub fn reduction(
        &mut self,
        scope: InstId,
        op: ReductionOp,
        body: &'a ast::Expr,
        indices: &'a [ast::ForIndex],
        span: Span,
    ) -> Expr {
        // `{e for i in a, j in b}` is `{{e for i in a} for j in b}`, and `sum(…)` adds the elements of that: the last index is the
        // outermost loop, so the range of `i` may depend on `j` (specification 10.4.1.2).
        let order: Vec<&'a ast::ForIndex> = indices.iter().rev().collect();
        if self.functions.current.is_none()
            && let Some(expr) = self.unrolled_reduction(scope, op, body, &order, span)
        {
            return expr;
        }
        let mark = self.context.iterators.len();
        let mut iterators = Vec::new();
        for index in order {
            let Some(range) = self.index_range(scope, index, body) else {
                self.context.iterators.truncate(mark);
                return Expr::error(span);
            };
            let element = range.ty.element(1);
            let local = self.new_iterator(index, element.clone());
            self.context.iterators.push((index.name.name, Iterated::Local(local, element)));
            iterators.push(flat::Iterator { local, range });
        }
        let body = self.expression(scope, body);
        self.context.iterators.truncate(mark);
        if matches!(body.ty.base, BaseType::Record(_)) && op == ReductionOp::Sum {
            return self.overloaded_sum(body, iterators, span);
        }
        typing::reduction(self, op, body, iterators, span)
    }

    /// The range of an iteration variable; one without a range runs over the dimension it is used in.
    fn index_range(&mut self, scope: InstId, index: &'a ast::ForIndex, body: &'a ast::Expr) -> Option<Expr> {
        let range = match &index.range {
            Some(range) => self.range_expression(scope, range),
            None => self.deduced_range(scope, index, &mut |visit| crate::deduce::walk_expr(body, visit)),
        };
        if range.is_error() {
            return None;
        }
        if range.ty.rank() != 1 {
            self.report(d::range_not_vector(self.text(index.name.name), range.span));
            return None;
        }
        Some(range)
    }

    /// An iteration range; `for e in E` and `for b in Boolean` run over a type.
    pub fn range_expression(&mut self, scope: InstId, range: &'a ast::Expr) -> Expr {
        if let ast::ExprKind::Ref(reference) = &range.kind
            && reference.parts.iter().all(|p| p.subscripts.is_empty())
            && let Some(crate::instance::Member::Class(slot)) = self.lookup_reference_class(scope, reference)
            && let Some(simple) = self.simple_type(slot)
            && let Some(values) = self.range_over_type(simple.base, range.span)
        {
            return values;
        }
        self.expression(scope, range)
    }

    /// All values of an enumeration or of Boolean.
    pub fn range_over_type(&self, base: BaseType, span: Span) -> Option<Expr> {
        match base {
            BaseType::Boolean => {
                let items = vec![Expr::boolean(false, span), Expr::boolean(true, span)];
                Some(Expr::new(ExprKind::Array(items), Type::array(BaseType::Boolean, [Dim::Known(2)]), span))
            }
            BaseType::Enumeration(id) => {
                let n = self.types.enums[id].literals.len() as u32;
                let ty = Type::scalar(base);
                let items = (1..=n).map(|k| Expr::new(ExprKind::EnumLiteral(id, k), ty.clone(), span)).collect();
                Some(Expr::new(ExprKind::Array(items), Type::array(base, [Dim::Known(u64::from(n))]), span))
            }
            _ => None,
        }
    }

    fn unrolled_reduction(
        &mut self,
        scope: InstId,
        op: ReductionOp,
        body: &'a ast::Expr,
        order: &[&'a ast::ForIndex],
        span: Span,
    ) -> Option<Expr> {
        let mut terms = Vec::new();
        let array = self.unroll(scope, body, order, op == ReductionOp::Array, &mut terms, span)?;
        if op == ReductionOp::Array {
            return Some(array);
        }
        let Some(first) = terms.first() else {
            let empty = self.unroll(scope, body, order, true, &mut terms, span)?;
            return Some(self.reduce_nothing(op, empty, order.len(), span));
        };
        if terms.iter().any(Expr::is_error) || !typing::is_reducible(self, op, first) {
            return Some(Expr::error(span));
        }
        if first.ty.rank() > 0 {
            return Some(self.sum_of_arrays(terms, span));
        }
        let list = typing::array(self, terms, span);
        Some(self.reduce_array(op, list, span))
    }

    /// Array-valued terms, added element by element: `{a, b} + {c, d}`. Long sums are halved to keep the expression shallow.
    fn sum_of_arrays(&mut self, mut terms: Vec<Expr>, span: Span) -> Expr {
        if terms.len() > MOST_NESTED_TERMS {
            let rest = terms.split_off(terms.len() / 2);
            let left = self.sum_of_arrays(terms, span);
            let right = self.sum_of_arrays(rest, span);
            return self.binary(ast::BinaryOp::Add, left, right, span);
        }
        let mut terms = terms.into_iter();
        let Some(first) = terms.next() else { return Expr::error(span) };
        terms.fold(first, |sum, term| self.binary(ast::BinaryOp::Add, sum, term, span))
    }

    /// The reduction of no elements; `empty` is an array with one dimension for each of the `rank` iterators, then those of the body.
    fn reduce_nothing(&mut self, op: ReductionOp, empty: Expr, rank: usize, span: Span) -> Expr {
        let body = empty.ty.element(rank);
        let sizes: Option<Vec<u64>> = body.dims.iter().map(|d| d.known()).collect();
        match sizes {
            Some(sizes) if op == ReductionOp::Sum && !sizes.is_empty() && body.is_numeric() => {
                let zero = if body.base == BaseType::Integer { Expr::integer(0, span) } else { Expr::real(0.0, span) };
                crate::component::fill(zero, &sizes)
            }
            _ => self.reduce_array(op, empty, span),
        }
    }

    pub fn reduce_array(&mut self, op: ReductionOp, list: Expr, span: Span) -> Expr {
        if list.is_error() {
            return list;
        }
        if matches!(list.ty.base, BaseType::Record(_)) {
            return self.overloaded_sum_of_array(list, span);
        }
        let function = match op {
            ReductionOp::Sum => flat::Builtin::Sum,
            ReductionOp::Product => flat::Builtin::Product,
            ReductionOp::Min => flat::Builtin::Min,
            ReductionOp::Max | ReductionOp::Array => flat::Builtin::Max,
        };
        typing::builtin(self, function, vec![list], Vec::new(), span)
    }

    /// Writes the body once for each round; `None` when a range is not known now or too long.
    fn unroll(
        &mut self,
        scope: InstId,
        body: &'a ast::Expr,
        order: &[&'a ast::ForIndex],
        nested: bool,
        terms: &mut Vec<Expr>,
        span: Span,
    ) -> Option<Expr> {
        let Some((index, rest)) = order.split_first() else {
            let term = self.expression(scope, body);
            if !nested {
                terms.push(term);
                return Some(Expr::error(span));
            }
            return Some(term);
        };
        if self.budget.n_unrolled > MOST_UNROLLED_IN_ALL {
            return None;
        }
        let range = self.index_range(scope, index, body)?;
        if range.ty.dims.first().and_then(|d| d.known()).is_some_and(|n| n > MOST_UNROLLED as u64) {
            return None;
        }
        let ty = range.ty.element(1);
        let value = self.structural_quietly(&range)?;
        let values = value.elements();
        if values.len() + terms.len() > MOST_UNROLLED {
            return None;
        }
        self.budget.n_unrolled += values.len();
        if values.is_empty() && nested {
            // The body is typed once for its element type: with a value that is never used, or where that is not possible (`a[i]`
            // with i = 0) with an index whose value is not known.
            let probe = Iterated::Value(Value::default_scalar(ty.base)?, ty.clone());
            let mark = self.messages.mark();
            let mut inner = None;
            for is_known in [true, false] {
                let probe = if is_known {
                    probe.clone()
                } else {
                    Iterated::Local(self.new_iterator(index, ty.clone()), ty.clone())
                };
                self.context.iterators.push((index.name.name, probe));
                inner = self.unroll(scope, body, rest, nested, terms, span).filter(|e| !e.is_error());
                self.context.iterators.pop();
                self.messages.take_back(mark);
                if inner.is_some() {
                    break;
                }
            }
            let inner_ty = inner.map_or(Type::REAL, |e| e.ty);
            return Some(Expr::new(ExprKind::Array(Vec::new()), inner_ty.with_outer(&[Dim::Known(0)]), span));
        }
        let mut items = Vec::with_capacity(values.len());
        for value in values {
            self.context.iterators.push((index.name.name, Iterated::Value(value, ty.clone())));
            let item = self.unroll(scope, body, rest, nested, terms, span);
            self.context.iterators.pop();
            items.push(item?);
        }
        if !nested {
            return Some(Expr::error(span));
        }
        Some(typing::array(self, items, span))
    }

    pub fn new_iterator(&mut self, index: &ast::ForIndex, ty: Type) -> flat::LocalId {
        let local = flat::Local {
            name: self.text(index.name.name).to_owned(),
            sizes: vec![None; ty.rank()],
            ty,
            default: None,
            span: index.name.span,
        };
        self.functions.locals_mut().push(local)
    }
}

/// Is `value` what `actualStream` stands for, `if flow > 0 then … else …` or an array of such? Then the product of both is
/// continuous although `value` is not (specification 15.3).
fn turns_with(flow: &Expr, value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Array(items) => !items.is_empty() && items.iter().all(|item| turns_with(flow, item)),
        ExprKind::If { condition, .. } => match (&condition.kind, &flow.kind) {
            (ExprKind::Binary(flat::BinaryOp::Greater, left, _), ExprKind::Var(flow)) => {
                matches!(left.kind, ExprKind::Var(var) if var == *flow)
            }
            _ => false,
        },
        _ => false,
    }
}

/// `smooth(0, value)`: no event is needed.
fn smooth(value: Expr) -> Expr {
    let (ty, span) = (value.ty.clone(), value.span);
    Expr::builtin(Builtin::Smooth, vec![Expr::integer(0, span), value], ty, span)
}
