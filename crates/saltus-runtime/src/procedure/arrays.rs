//! Array functions, matrix products and reductions (specification §10.3, §10.6), written out scalar by scalar.

use saltus_flat::{BaseType, BinaryOp, Builtin, ReductionOp, Type};
use saltus_procedure::{self as form, Argument, Code, Iteration, Over};
use saltus_program::{BinaryFn, UnaryFn};

use super::body::{Body, Cell};
use super::code::{At, Binary, Op, Unary};
use super::expressions::operation;
use super::layout::{Compiled, Place, Unsupported, n_elements};

const WRONG_SHAPE: Unsupported = Unsupported("an array of another shape");

impl Body<'_, '_> {
    pub fn array_builtin(&mut self, function: Builtin, arguments: &[Argument], ty: &Type) -> Compiled<Place> {
        let arg = |i: usize| arguments.get(i).map(|a| &a.value).ok_or(Unsupported("too few arguments"));
        match function {
            Builtin::Zeros | Builtin::Ones => {
                let x = self.constant(f64::from(u8::from(function == Builtin::Ones)));
                self.filled(Place::scalar(x, number_base(ty)), arguments)
            }
            Builtin::Fill => {
                let value = self.value(arg(0)?)?;
                self.filled(value, arguments.get(1..).unwrap_or_default())
            }
            Builtin::Identity => {
                let n = self.constant_size(arg(0)?)?;
                n_elements(&[n, n])?;
                let scalars: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i / n == i % n))).collect();
                Ok(Place { at: self.compiler.store.constants.add(&scalars), base: number_base(ty), dims: vec![n, n] })
            }
            Builtin::Linspace => self.linspace(arguments),
            Builtin::Cat => self.cat(arguments, ty),
            Builtin::Promote => {
                let value = self.value(arg(0)?)?;
                let rank = self.constant_size(arg(1)?)?;
                if rank < value.dims.len() || rank > 32 {
                    return Err(WRONG_SHAPE);
                }
                let mut dims = value.dims.clone();
                dims.resize(rank, 1);
                Ok(Place { dims, ..value })
            }
            Builtin::Sum | Builtin::Product => {
                let value = self.value(arg(0)?)?;
                self.total(function, value, ty)
            }
            Builtin::OuterProduct => {
                let (x, y) = (self.value(arg(0)?)?, self.value(arg(1)?)?);
                let (&[n], &[m]) = (x.dims.as_slice(), y.dims.as_slice()) else { return Err(WRONG_SHAPE) };
                self.matrix_product(&Place { dims: vec![n, 1], ..x }, &Place { dims: vec![1, m], ..y })
            }
            Builtin::Cross => {
                let (x, y) = (self.value(arg(0)?)?, self.value(arg(1)?)?);
                self.cross(&x, &y)
            }
            Builtin::Scalar
            | Builtin::Vector
            | Builtin::Matrix
            | Builtin::Diagonal
            | Builtin::Transpose
            | Builtin::Symmetric
            | Builtin::Skew => {
                let value = self.value(arg(0)?)?;
                self.reshape(function, value)
            }
            _ => Err(Unsupported("an operator that needs a simulation")),
        }
    }

    fn constant_size(&mut self, operand: &form::Operand) -> Compiled<usize> {
        usize::try_from(self.constant_integer(operand)?).map_err(|_| Unsupported("a negative size"))
    }

    fn filled(&mut self, value: Place, sizes: &[Argument]) -> Compiled<Place> {
        let mut dims = sizes.iter().map(|s| self.constant_size(&s.value)).collect::<Compiled<Vec<_>>>()?;
        let n = n_elements(&dims)?;
        let size = self.compiler.layout.size(value.base, &value.dims)?;
        dims.extend_from_slice(&value.dims);
        self.compiler.layout.size(value.base, &dims)?;
        if n == 0 {
            return Ok(Place { dims, ..value });
        }
        self.assemble(value.base, dims, &vec![(Cell::fixed(value.at), size); n])
    }

    fn linspace(&mut self, arguments: &[Argument]) -> Compiled<Place> {
        let [a, b, n] = arguments else { return Err(Unsupported("too few arguments")) };
        let (a, b) = (self.scalar(&a.value)?, self.scalar(&b.value)?);
        let n = self.constant_size(&n.value)?;
        if n < 2 || !is_number(a.base) || !is_number(b.base) {
            return Err(WRONG_SHAPE);
        }
        n_elements(&[n])?;
        let length = self.binary(Binary::Function(BinaryFn::Sub), b.at, a.at)?;
        let intervals = self.constant((n - 1) as f64);
        let step = self.binary(Binary::Function(BinaryFn::Div), length, intervals)?;
        let mut points = Vec::with_capacity(n);
        for i in 0..n - 1 {
            let i = self.constant(i as f64);
            let distance = self.binary(Binary::Function(BinaryFn::Mul), step, i)?;
            points.push(self.binary(Binary::Function(BinaryFn::Add), a.at, distance)?);
        }
        points.push(b.at);
        self.array_from(BaseType::Real, vec![n], &points)
    }

    /// `cat(k, A, B, …)`: all sizes agree except those of dimension `k`.
    fn cat(&mut self, arguments: &[Argument], ty: &Type) -> Compiled<Place> {
        let (first, rest) = arguments.split_first().ok_or(Unsupported("too few arguments"))?;
        let k = self.constant_size(&first.value)?.checked_sub(1).ok_or(WRONG_SHAPE)?;
        let parts = rest.iter().map(|e| self.value(&e.value)).collect::<Compiled<Vec<Place>>>()?;
        let mut dims = parts.first().ok_or(WRONG_SHAPE)?.dims.clone();
        if k >= dims.len() {
            return Err(WRONG_SHAPE);
        }
        let base = if ty.base == BaseType::Real { BaseType::Real } else { parts.first().ok_or(WRONG_SHAPE)?.base };
        let mut total = 0;
        for part in &parts {
            let fits = part.dims.len() == dims.len()
                && part.dims.iter().zip(&dims).enumerate().all(|(d, (a, b))| d == k || a == b);
            let alike = part.base == base || (base == BaseType::Real && part.base == BaseType::Integer);
            if !fits || !(alike || part.dims.contains(&0)) {
                return Err(WRONG_SHAPE);
            }
            total += part.dims.get(k).copied().unwrap_or(0);
        }
        let outer = n_elements(dims.get(..k).unwrap_or_default())?;
        let inner = n_elements(dims.get(k + 1..).unwrap_or_default())?;
        if let Some(size) = dims.get_mut(k) {
            *size = total;
        }
        let width = self.compiler.layout.width(base)?;
        let mut cells = Vec::new();
        for o in 0..outer {
            for part in &parts {
                let block = part.dims.get(k).copied().unwrap_or(0) * inner * width;
                if block > 0 {
                    cells.push((Cell::fixed(part.at.plus((o * block) as u32)), block));
                }
            }
        }
        if cells.is_empty() {
            return Ok(Place { at: self.constant(0.0), base, dims });
        }
        self.assemble(base, dims, &cells)
    }

    fn total(&mut self, function: Builtin, value: Place, ty: &Type) -> Compiled<Place> {
        if value.is_scalar() {
            return Ok(value);
        }
        let op = if function == Builtin::Sum { BinaryOp::Add } else { BinaryOp::Mul };
        let elements = self.elements(&value)?;
        let Some((&first, rest)) = elements.split_first() else {
            let neutral = self.constant(f64::from(u8::from(function == Builtin::Product)));
            return Ok(Place::scalar(neutral, number_base(ty)));
        };
        let (f, base) = operation(op, value.base, value.base)?;
        let at = rest.iter().try_fold(first, |sum, &e| self.binary(f, sum, e))?;
        Ok(Place::scalar(at, base))
    }

    fn cross(&mut self, x: &Place, y: &Place) -> Compiled<Place> {
        if x.dims != [3] || y.dims != [3] || x.base != BaseType::Real || y.base != BaseType::Real {
            return Err(WRONG_SHAPE);
        }
        let (a, b) = (self.elements(x)?, self.elements(y)?);
        let (&[a1, a2, a3], &[b1, b2, b3]) = (a.as_slice(), b.as_slice()) else { return Err(WRONG_SHAPE) };
        let mut results = Vec::with_capacity(3);
        for (p, q, r, s) in [(a2, b3, a3, b2), (a3, b1, a1, b3), (a1, b2, a2, b1)] {
            let left = self.binary(Binary::Function(BinaryFn::Mul), p, q)?;
            let right = self.binary(Binary::Function(BinaryFn::Mul), r, s)?;
            results.push(self.binary(Binary::Function(BinaryFn::Sub), left, right)?);
        }
        self.array_from(BaseType::Real, vec![3], &results)
    }

    /// The four products of vectors and matrices; a vector on the left is a row, on the right a column.
    pub fn matrix_product(&mut self, left: &Place, right: &Place) -> Compiled<Place> {
        let (rows, inner, columns, dims) = match (left.dims.as_slice(), right.dims.as_slice()) {
            (&[k], &[l]) if k == l => (1, k, 1, vec![]),
            (&[m, k], &[l]) if k == l => (m, k, 1, vec![m]),
            (&[k], &[l, n]) if k == l => (1, k, n, vec![n]),
            (&[m, k], &[l, n]) if k == l => (m, k, n, vec![m, n]),
            _ => return Err(WRONG_SHAPE),
        };
        let (multiply, base) = operation(BinaryOp::Mul, left.base, right.base)?;
        let (add, _) = operation(BinaryOp::Add, base, base)?;
        let zero = self.constant(0.0);
        let mut results = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let mut sum = None;
                for k in 0..inner {
                    let (x, y) = (left.at.plus((row * inner + k) as u32), right.at.plus((k * columns + column) as u32));
                    let product = self.binary(multiply, x, y)?;
                    sum = Some(match sum {
                        Some(sum) => self.binary(add, sum, product)?,
                        None => product,
                    });
                }
                results.push(sum.unwrap_or(zero));
            }
        }
        self.array_from(base, dims, &results)
    }

    /// Functions of one array that only move elements around.
    fn reshape(&mut self, function: Builtin, value: Place) -> Compiled<Place> {
        let n_all = n_elements(&value.dims)?;
        match (function, value.dims.as_slice()) {
            (Builtin::Scalar, _) if n_all == 1 => Ok(Place { dims: Vec::new(), ..value }),
            (Builtin::Vector, dims) if dims.iter().filter(|&&n| n > 1).count() <= 1 => {
                Ok(Place { dims: vec![n_all], ..value })
            }
            (Builtin::Matrix, dims) if dims.iter().skip(2).all(|&n| n == 1) => {
                let size = |d: usize| dims.get(d).copied().unwrap_or(1);
                Ok(Place { dims: vec![size(0), size(1)], ..value.clone() })
            }
            (Builtin::Diagonal, &[n]) => {
                let elements = self.elements(&value)?;
                n_elements(&[n, n])?;
                let zero = self.constant(0.0);
                if !is_number(value.base) {
                    return Err(WRONG_SHAPE);
                }
                let entry = |i: usize| if i / n == i % n { elements.get(i / n).copied() } else { Some(zero) };
                let entries = (0..n * n).map(entry).collect::<Option<Vec<At>>>().ok_or(WRONG_SHAPE)?;
                self.array_from(value.base, vec![n, n], &entries)
            }
            (Builtin::Transpose, &[n, m]) => self.permuted(&value, vec![m, n], |i| (i % n) * m + i / n),
            (Builtin::Symmetric, &[n, m]) if n == m => {
                self.permuted(&value, vec![n, n], |i| (i / n).min(i % n) * n + (i / n).max(i % n))
            }
            (Builtin::Skew, &[3]) if value.base == BaseType::Real => {
                let v = self.elements(&value)?;
                let &[x, y, z] = v.as_slice() else { return Err(WRONG_SHAPE) };
                let negate = Unary::Function(UnaryFn::Negate);
                let (nx, ny, nz) = (self.unary(negate, x)?, self.unary(negate, y)?, self.unary(negate, z)?);
                let o = self.constant(0.0);
                self.array_from(BaseType::Real, vec![3, 3], &[o, nz, y, z, o, nx, ny, x, o])
            }
            _ => Err(WRONG_SHAPE),
        }
    }

    fn permuted(&mut self, value: &Place, dims: Vec<usize>, source: impl Fn(usize) -> usize) -> Compiled<Place> {
        let elements = self.elements(value)?;
        let moved = (0..elements.len()).map(|i| elements.get(source(i)).copied()).collect::<Option<Vec<At>>>();
        self.array_from(value.base, dims, &moved.ok_or(WRONG_SHAPE)?)
    }

    /// `sum(body for i in …)`, `{body for i in …}`
    pub fn reduction(&mut self, op: ReductionOp, iterations: &[Iteration], body: &Code, ty: &Type) -> Compiled<Place> {
        match op {
            ReductionOp::Array => self.comprehension(iterations, body, ty),
            _ => self.accumulation(op, iterations, body, ty),
        }
    }

    fn accumulation(&mut self, op: ReductionOp, iterations: &[Iteration], body: &Code, ty: &Type) -> Compiled<Place> {
        if !ty.is_scalar() || !is_number(ty.base) {
            return Err(Unsupported("a reduction of arrays"));
        }
        let is_integer = ty.base == BaseType::Integer;
        let (f, neutral) = match op {
            ReductionOp::Sum if is_integer => (Binary::AddInteger, 0.0),
            ReductionOp::Product if is_integer => (Binary::MulInteger, 1.0),
            ReductionOp::Sum => (Binary::Function(BinaryFn::Add), 0.0),
            ReductionOp::Product => (Binary::Function(BinaryFn::Mul), 1.0),
            ReductionOp::Min if !is_integer => (Binary::Function(BinaryFn::Min), f64::MAX),
            ReductionOp::Max if !is_integer => (Binary::Function(BinaryFn::Max), -f64::MAX),
            _ => return Err(Unsupported("a reduction of Integers")),
        };
        let total = self.storage(ty.base, &[])?;
        let is_exact = matches!(op, ReductionOp::Sum | ReductionOp::Product);
        let is_begun = if is_exact && self.is_never_empty(iterations)? {
            // -0 + x is x for all x, whereas 0 + x is 0 for x = -0.
            let start = if neutral == 0.0 && !is_integer { -0.0 } else { neutral };
            let start = self.constant(start);
            self.copy(total.at, Cell::fixed(start), 1)?;
            None
        } else {
            let is_begun = self.storage(BaseType::Boolean, &[])?.at;
            let (neutral, zero) = (self.constant(neutral), self.constant(0.0));
            self.copy(total.at, Cell::fixed(neutral), 1)?;
            self.copy(is_begun, Cell::fixed(zero), 1)?;
            Some(is_begun)
        };
        let one = self.constant(1.0);
        self.accumulate(iterations, &mut |this| {
            let value = this.code_value(body)?;
            if !value.is_scalar() {
                return Err(Unsupported("a scalar is expected"));
            }
            if value.base != ty.base && (value.base != BaseType::Integer || is_integer) {
                return Err(Unsupported("an element of another type"));
            }
            let mut end = None;
            if let Some(is_begun) = is_begun {
                // The first element stands for itself.
                let skip = this.jump(Op::JumpIf, is_begun)?;
                this.copy(total.at, Cell::fixed(value.at), 1)?;
                this.copy(is_begun, Cell::fixed(one), 1)?;
                end = Some(this.jump(Op::Jump, At::NOWHERE)?);
                this.patch_here(&[skip]);
            }
            let sum = this.binary(f, total.at, value.at)?;
            let cell = this.cell(sum);
            this.copy(total.at, cell, 1)?;
            this.patch_here(end.as_slice());
            Ok(())
        })?;
        Ok(total)
    }

    /// One iteration over a vector with elements?
    fn is_never_empty(&mut self, iterations: &[Iteration]) -> Compiled<bool> {
        let [iteration] = iterations else { return Ok(false) };
        let mark = self.mark();
        let range = self.vector(iteration);
        self.undo(&mark);
        Ok(range.is_ok_and(|r| r.dims.first().is_some_and(|&n| n > 0)))
    }

    /// The vector that an iteration runs over.
    fn vector(&mut self, iteration: &Iteration) -> Compiled<Place> {
        self.block(&iteration.block)?;
        match &iteration.over {
            Over::Vector(vector) => self.value(vector),
            Over::Range { start, step, stop } => {
                let first = self.scalar(start)?;
                let step = step.as_ref().map(|s| self.scalar(s)).transpose()?;
                let last = self.scalar(stop)?;
                self.range(&first, step.as_ref(), &last)
            }
        }
    }

    fn accumulate(
        &mut self,
        iterations: &[Iteration],
        body: &mut dyn FnMut(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        match iterations.split_first() {
            None => body(self),
            Some((iteration, inner)) => self.repeat_over(iteration, &mut |this| this.accumulate(inner, body)),
        }
    }

    fn comprehension(&mut self, iterations: &[Iteration], body: &Code, ty: &Type) -> Compiled<Place> {
        let Some((iteration, inner)) = iterations.split_first() else { return self.code_value(body) };
        let range = self.vector(iteration)?;
        let n = range.dims.first().copied().ok_or(Unsupported("a vector is expected"))?;
        let rest: Vec<usize> = range.dims.iter().skip(1).copied().collect();
        let size = self.compiler.layout.size(range.base, &rest)? as u32;
        if n == 0 && !inner.is_empty() {
            return Err(Unsupported("an empty array of several dimensions"));
        }
        let mut parts = Vec::with_capacity(n);
        for i in 0..n as u32 {
            let place = Place { at: range.at.plus(i * size), base: range.base, dims: rest.clone() };
            self.bind(iteration.variable, place);
            let part = self.comprehension(inner, body, ty)?;
            let cell = self.cell(part.at);
            parts.push((part, cell));
        }
        self.array_of(&parts, ty)
    }
}

fn is_number(base: BaseType) -> bool {
    matches!(base, BaseType::Real | BaseType::Integer)
}

fn number_base(ty: &Type) -> BaseType {
    if ty.base == BaseType::Integer { BaseType::Integer } else { BaseType::Real }
}
