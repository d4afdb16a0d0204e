//! Does every expression's type agree with its parts? The rules of invariant 4 of [`crate::verify`], node by node.
//!
//! In: an expression with its scope (the model and, inside a function, that function). Out: findings with the node.
//!
//! Sizes agree if they are equal or one of them is unknown before run time (functions). Operands of arithmetic and
//! relations have the same base type, because conversions are `Cast` nodes; a scalar spreads over an array.

use crate::{
    BaseType, BinaryOp, Builtin, Dim, Expr, ExprKind, FlatModel, Function, FunctionId, Iterator, Local, LocalId,
    ReductionOp, Subscript, Type, UnaryOp,
};

/// Equal, up to sizes that are not known yet and errors that have been reported.
pub(crate) fn types_fit(a: &Type, b: &Type) -> bool {
    a.is_error()
        || b.is_error()
        || a.base == b.base && a.dims.len() == b.dims.len() && a.dims.iter().zip(&b.dims).all(|(a, b)| a.fits(*b))
}

pub(crate) struct ExprChecker<'a, 'b> {
    model: &'a FlatModel,
    function: Option<&'a Function>,
    bound: &'b mut Vec<LocalId>,
    pub found: Vec<(String, &'a Expr)>,
}

impl<'a, 'b> ExprChecker<'a, 'b> {
    pub fn new(model: &'a FlatModel, function: Option<&'a Function>, bound: &'b mut Vec<LocalId>) -> Self {
        ExprChecker { model, function, bound, found: Vec::new() }
    }

    pub fn check(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Reduction { op, body, iterators } => self.reduction(expr, *op, body, iterators),
            _ => expr.for_each_child(&mut |child| self.check(child)),
        }
        self.node(expr);
    }

    fn report(&mut self, at: &'a Expr, text: impl Into<String>) {
        self.found.push((text.into(), at));
    }

    fn require(&mut self, at: &'a Expr, holds: bool, text: &str) {
        if !holds {
            self.report(at, text);
        }
    }

    fn has_type(&mut self, at: &'a Expr, expected: &Type) {
        if !types_fit(&at.ty, expected) {
            self.report(at, format!("type {:?} where {expected:?} was expected", at.ty));
        }
    }

    fn node(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Real(_) => self.has_type(e, &Type::REAL),
            ExprKind::Integer(_) => self.has_type(e, &Type::INTEGER),
            ExprKind::Boolean(_) => self.has_type(e, &Type::BOOLEAN),
            ExprKind::String(_) => self.has_type(e, &Type::STRING),
            ExprKind::Time => self.has_type(e, &Type::REAL),
            ExprKind::EnumLiteral(id, ordinal) => {
                let n = self.model.enumerations.get(*id).map_or(0, |t| t.literals.len());
                self.require(e, (1..=n).contains(&(*ordinal as usize)), "no such enumeration literal");
                self.has_type(e, &Type::scalar(BaseType::Enumeration(*id)));
            }
            ExprKind::Var(id) => match self.model.variables.get(*id) {
                Some(variable) => self.has_type(e, &variable.ty),
                None => self.report(e, "no such variable"),
            },
            ExprKind::Local(id) => self.local(e, *id),
            ExprKind::Index { base, subscripts } => self.index(e, base, subscripts),
            ExprKind::Field { base, field } => self.field(e, base, *field),
            ExprKind::Record(items) => self.record(e, items),
            ExprKind::Array(items) => self.array(e, items),
            ExprKind::Range { start, step, stop } => self.range(e, start, step.as_deref(), stop),
            ExprKind::Unary(UnaryOp::Negate, operand) => {
                self.require(
                    e,
                    operand.ty.is_numeric() || operand.is_error(),
                    "sign of something that is not a number",
                );
                self.has_type(e, &operand.ty);
            }
            ExprKind::Unary(UnaryOp::Not, operand) => {
                let expected = Type { base: BaseType::Boolean, dims: operand.ty.dims.clone() };
                self.has_type(operand, &expected);
                self.has_type(e, &expected);
            }
            ExprKind::Binary(op, left, right) => self.binary(e, *op, left, right),
            ExprKind::If { condition, then, otherwise } => {
                self.has_type(condition, &Type::BOOLEAN);
                // In functions the branches may have different sizes; the type then does not know them.
                self.require(e, then.ty.rank() == otherwise.ty.rank() || e.is_error(), "branches of different rank");
                self.has_type(then, &e.ty);
                self.has_type(otherwise, &e.ty);
            }
            ExprKind::Call { function, arguments } => self.call(e, *function, arguments),
            ExprKind::CallLocal { function, .. } => match self.find_local(*function) {
                Some(local) => self.require(e, local.ty.base == BaseType::Function, "call of what is not a function"),
                None => self.report(e, "no such local"),
            },
            ExprKind::Builtin { function, arguments } => self.builtin(e, *function, arguments),
            ExprKind::Tuple(_) => self.report(e, "a tuple inside an expression"),
            ExprKind::Cast(operand) => {
                let allowed = matches!(
                    (operand.ty.base, e.ty.base),
                    (BaseType::Integer, BaseType::Real)
                        | (BaseType::Enumeration(_), BaseType::Integer)
                        | (BaseType::Error, _)
                        | (_, BaseType::Error)
                );
                self.require(e, allowed, "a conversion that does not exist");
                self.has_type(e, &Type { base: e.ty.base, dims: operand.ty.dims.clone() });
            }
            ExprKind::FunctionRef { function, bound } => self.function_ref(e, *function, bound),
            ExprKind::Reduction { .. } | ExprKind::Error => {}
        }
    }

    fn find_local(&self, id: LocalId) -> Option<&'a Local> {
        match self.function {
            Some(function) => function.locals.get(id),
            None => self.model.iterators.get(id),
        }
    }

    fn local(&mut self, e: &'a Expr, id: LocalId) {
        let Some(local) = self.find_local(id) else {
            return self.report(e, "no such local");
        };
        self.has_type(e, &local.ty);
        // In a function every local is in scope; outside only what a loop or reduction binds.
        let in_scope = self.function.is_some() || self.bound.contains(&id);
        self.require(e, in_scope, "an iteration variable outside its loop");
    }

    fn index(&mut self, e: &'a Expr, base: &'a Expr, subscripts: &'a [Subscript]) {
        if base.is_error() {
            return;
        }
        if subscripts.len() > base.ty.rank() {
            return self.report(e, "more subscripts than dimensions");
        }
        let mut dims = Vec::new();
        for (subscript, dim) in subscripts.iter().zip(&base.ty.dims) {
            match subscript {
                Subscript::All => dims.push(*dim),
                Subscript::Index(i) => {
                    let ok = matches!(
                        i.ty.base,
                        BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_) | BaseType::Error
                    );
                    self.require(e, ok && i.ty.is_scalar(), "a subscript that is not a scalar index");
                }
                Subscript::Slice(v) => {
                    self.require(e, v.ty.rank() == 1 || v.is_error(), "a slice that is not a vector");
                    dims.push(v.ty.dims.first().copied().unwrap_or(Dim::Unknown));
                }
            }
        }
        dims.extend_from_slice(&base.ty.dims[subscripts.len()..]);
        self.has_type(e, &Type { base: base.ty.base, dims });
    }

    fn field(&mut self, e: &'a Expr, base: &'a Expr, field: u32) {
        let record = match base.ty.base {
            BaseType::Record(id) => self.model.records.get(id),
            BaseType::Error => return,
            _ => None,
        };
        match record.and_then(|r| r.fields.get(field as usize)) {
            Some(field) => self.has_type(e, &field.ty.with_outer(&base.ty.dims)),
            None => self.report(e, "no such field"),
        }
    }

    fn record(&mut self, e: &'a Expr, items: &'a [Expr]) {
        let record = match e.ty.base {
            BaseType::Record(id) if e.ty.is_scalar() => self.model.records.get(id),
            BaseType::Error => return,
            _ => None,
        };
        let Some(record) = record else {
            return self.report(e, "a record value without a record type");
        };
        self.require(e, record.fields.len() == items.len(), "wrong number of fields");
        for (item, field) in items.iter().zip(&record.fields) {
            self.has_type(item, &field.ty);
        }
    }

    fn array(&mut self, e: &'a Expr, items: &'a [Expr]) {
        if e.is_error() {
            return;
        }
        let n = Dim::Known(items.len() as u64);
        match e.ty.dims.first() {
            Some(first) => self.require(e, first.fits(n), "wrong number of elements"),
            None => self.report(e, "an array with a scalar type"),
        }
        let element = e.ty.element(1);
        for item in items {
            self.has_type(item, &element);
        }
    }

    fn range(&mut self, e: &'a Expr, start: &'a Expr, step: Option<&'a Expr>, stop: &'a Expr) {
        self.require(e, e.ty.rank() == 1 || e.is_error(), "a range that is not a vector");
        let scalar = Type::scalar(e.ty.base);
        for part in [Some(start), step, Some(stop)].into_iter().flatten() {
            self.has_type(part, &scalar);
        }
    }

    fn binary(&mut self, e: &'a Expr, op: BinaryOp, left: &'a Expr, right: &'a Expr) {
        if left.is_error() || right.is_error() || e.is_error() {
            return;
        }
        // A power of a matrix has an Integer exponent, whatever the matrix is of.
        let is_matrix_power = op == BinaryOp::MatPow && right.ty.base == BaseType::Integer;
        let fits = is_matrix_power || left.ty.base == right.ty.base;
        self.require(e, fits, "operands of different types without a conversion");
        match op {
            BinaryOp::MatMul => return self.matrix_product(e, &left.ty, &right.ty),
            BinaryOp::MatPow => {
                self.require(e, left.ty.rank() == 2, "power of something that is not a matrix");
                return self.has_type(e, &left.ty);
            }
            _ => {}
        }
        let dims = if left.ty.is_scalar() { &right.ty.dims } else { &left.ty.dims };
        let spread = left.ty.is_scalar() || right.ty.is_scalar() || types_fit(&left.ty, &right.ty);
        self.require(e, spread, "operands of different sizes");
        let operands = left.ty.base;
        let result = match op {
            BinaryOp::And | BinaryOp::Or => {
                self.require(e, operands == BaseType::Boolean, "operands that are no Booleans");
                BaseType::Boolean
            }
            BinaryOp::Add => {
                let ok = matches!(operands, BaseType::Real | BaseType::Integer | BaseType::String);
                self.require(e, ok, "operands that cannot be added");
                operands
            }
            BinaryOp::Sub | BinaryOp::Mul => {
                self.require(e, left.ty.is_numeric(), "operands that are not numbers");
                operands
            }
            BinaryOp::Div | BinaryOp::Pow => {
                self.require(e, operands == BaseType::Real, "operands that are not Real");
                BaseType::Real
            }
            _ => {
                let ok = !matches!(operands, BaseType::Record(_) | BaseType::Function | BaseType::Unit);
                self.require(e, ok, "operands that cannot be compared");
                BaseType::Boolean
            }
        };
        self.has_type(e, &Type { base: result, dims: dims.clone() });
    }

    fn matrix_product(&mut self, e: &'a Expr, left: &Type, right: &Type) {
        let (inner, dims) = match (left.dims.as_slice(), right.dims.as_slice()) {
            ([n], [m]) => (n.fits(*m), vec![]),
            ([r, n], [m]) => (n.fits(*m), vec![*r]),
            ([n], [m, c]) => (n.fits(*m), vec![*c]),
            ([r, n], [m, c]) => (n.fits(*m), vec![*r, *c]),
            _ => return self.report(e, "matrix product of these ranks"),
        };
        self.require(e, inner, "inner sizes of a matrix product differ");
        self.has_type(e, &Type { base: left.base, dims });
    }

    fn call(&mut self, e: &'a Expr, function: FunctionId, arguments: &'a [Expr]) {
        let Some(function) = self.model.functions.get(function) else {
            return self.report(e, "no such function");
        };
        self.require(e, function.inputs.len() == arguments.len(), "wrong number of arguments");
        for (argument, input) in arguments.iter().zip(&function.inputs) {
            if let Some(local) = function.locals.get(*input) {
                self.has_type(argument, &local.ty);
            }
        }
        if function.is_record_constructor {
            return;
        }
        match function.outputs.first().and_then(|id| function.locals.get(*id)) {
            Some(output) => self.has_type(e, &output.ty),
            None => self.has_type(e, &Type::UNIT),
        }
    }

    fn function_ref(&mut self, e: &'a Expr, function: FunctionId, bound: &'a [(u32, Expr)]) {
        self.has_type(e, &Type::scalar(BaseType::Function));
        let Some(function) = self.model.functions.get(function) else {
            return self.report(e, "no such function");
        };
        for (position, value) in bound {
            match function.inputs.get(*position as usize).and_then(|id| function.locals.get(*id)) {
                Some(local) => self.has_type(value, &local.ty),
                None => self.report(e, "no such input"),
            }
        }
    }

    /// Operators whose result has the type of an argument, or whose arguments are fixed; the others have types that
    /// depend on values (sizes) or on several arguments.
    fn builtin(&mut self, e: &'a Expr, function: Builtin, arguments: &'a [Expr]) {
        use Builtin::*;
        let n = match function {
            Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Exp | Log | Log10 | Sqrt | Abs | Sign
            | Ceil | Floor | Integer | ToInteger | EnumFromInteger | Der | Pre | Edge | Change | NoEvent | Pure
            | InStream | ActualStream => Some(1),
            Atan2 | Div | Mod | Rem | Smooth | Reinit => Some(2),
            Initial | Terminal => Some(0),
            _ => None,
        };
        if n.is_some_and(|n| n != arguments.len()) {
            return self.report(e, "wrong number of arguments");
        }
        match (function, arguments) {
            (Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Exp | Log | Log10 | Sqrt, [x]) => {
                self.has_type(e, &Type { base: BaseType::Real, dims: x.ty.dims.clone() });
                self.has_type(x, &Type { base: BaseType::Real, dims: x.ty.dims.clone() });
            }
            (Der | Pre | NoEvent | Pure | Abs | InStream | ActualStream, [x]) | (Smooth, [_, x]) => {
                self.has_type(e, &x.ty)
            }
            (Edge | Change, [x]) => self.has_type(e, &Type { base: BaseType::Boolean, dims: x.ty.dims.clone() }),
            // With a clock `sample` gives the value of its first argument.
            (Sample, [u, clock]) if clock.ty.base == BaseType::Clock => self.has_type(e, &u.ty),
            (Initial | Terminal, []) | (Sample, [_, _]) => self.has_type(e, &Type::BOOLEAN),
            (Integer | ToInteger, [x]) => self.has_type(e, &Type { base: BaseType::Integer, dims: x.ty.dims.clone() }),
            _ => {}
        }
    }

    fn reduction(&mut self, e: &'a Expr, op: ReductionOp, body: &'a Expr, iterators: &'a [Iterator]) {
        let mut dims = Vec::new();
        for iterator in iterators {
            self.check(&iterator.range);
            let range = &iterator.range.ty;
            self.require(e, range.rank() == 1 || range.is_error(), "an iteration range that is not a vector");
            dims.push(range.dims.first().copied().unwrap_or(Dim::Unknown));
            match self.find_local(iterator.local) {
                Some(local) if types_fit(&local.ty, &range.element(1)) => {}
                Some(_) => self.report(e, "an iteration variable of another type than its range"),
                None => self.report(e, "no such iteration variable"),
            }
            self.bound.push(iterator.local);
        }
        self.check(body);
        self.bound.truncate(self.bound.len() - iterators.len());
        match op {
            ReductionOp::Array => self.has_type(e, &body.ty.with_outer(&dims)),
            _ => self.has_type(e, &body.ty),
        }
    }
}
