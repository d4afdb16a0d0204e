//! Expressions: operators, branches, constructors. The arithmetic is that of the evaluator, scalar by scalar.

use saltus_flat::{BaseType, BinaryOp, Type, UnaryOp};
use saltus_procedure as form;
use saltus_program::{BinaryFn, UnaryFn};

use super::body::{Body, Cell};
use super::code::{At, Binary, Op, Unary};
use super::layout::{Compiled, Operand, Place, Unsupported, n_elements};

impl Body<'_, '_> {
    /// What an instruction computes: a value or a function.
    pub fn compute(&mut self, op: &form::Op) -> Compiled<Operand> {
        let place = match op {
            form::Op::Copy(operand) => return self.operand(operand),
            form::Op::Binary(op, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.binary_operator(*op, &left, &right)?
            }
            form::Op::Select { base, path } => self.select(base, path)?,
            form::Op::Builtin { function, arguments, ty } => self.builtin(*function, arguments, ty)?,
            form::Op::Unary(op, operand) => {
                let operand = self.value(operand)?;
                self.unary_operator(*op, &operand)?
            }
            form::Op::Decide { is_or, left, right } => self.decide(*is_or, left, right)?,
            form::Op::Choose { branches, otherwise } => self.conditional(branches, otherwise)?,
            form::Op::Cast(base, operand) => {
                let operand = self.value(operand)?;
                self.converted(operand, *base)?
            }
            form::Op::Literal(literal) => self.literal(literal)?,
            form::Op::Record(id, fields) => {
                let fields = self.parts(fields.iter())?;
                self.record(BaseType::Record(*id), &fields)?
            }
            form::Op::Array { elements, ty } => {
                let parts = self.parts(elements.iter().map(|e| &e.value))?;
                self.array_of(&parts, ty)?
            }
            form::Op::Range { start, step, stop } => {
                let step = step.as_ref().map(|s| self.scalar(s)).transpose()?;
                let (start, stop) = (self.scalar(start)?, self.scalar(stop)?);
                self.range(&start, step.as_ref(), &stop)?
            }
            form::Op::Size { array, dimension, ty } => self.size(array.as_ref(), dimension.as_ref(), ty)?,
            form::Op::Reduce { op, iterations, body, ty } => self.reduction(*op, iterations, body, ty)?,
            form::Op::Function { function, bound } => {
                let bound = bound.iter().map(|(i, o)| Ok((*i, self.operand(o)?))).collect::<Compiled<Vec<_>>>()?;
                return Ok(Operand::Function(*function, bound));
            }
            form::Op::InstanceName => self.text(),
            form::Op::Variable(_) | form::Op::Unavailable(_) | form::Op::TooDeep => {
                return Err(Unsupported("something that belongs into a model"));
            }
        };
        Ok(Operand::Value(place))
    }

    pub fn operand(&mut self, operand: &form::Operand) -> Compiled<Operand> {
        Ok(Operand::Value(match operand {
            form::Operand::Local(register) => return self.local(*register),
            form::Operand::Temporary(register) => return self.result(*register),
            form::Operand::Real(x) => Place::scalar(self.constant(*x), BaseType::Real),
            form::Operand::Integer(i) => {
                if i.unsigned_abs() > 1 << 53 {
                    return Err(Unsupported("a large Integer"));
                }
                Place::scalar(self.constant(*i as f64), BaseType::Integer)
            }
            form::Operand::Boolean(b) => Place::scalar(self.constant(f64::from(u8::from(*b))), BaseType::Boolean),
            form::Operand::String(_) => self.text(),
            form::Operand::Enumeration(id, ordinal) => {
                Place::scalar(self.constant(f64::from(*ordinal)), BaseType::Enumeration(*id))
            }
        }))
    }

    /// The value that code leads to.
    pub fn code(&mut self, code: &form::Code) -> Compiled<Operand> {
        self.block(&code.block)?;
        self.operand(&code.value)
    }

    pub fn code_value(&mut self, code: &form::Code) -> Compiled<Place> {
        match self.code(code)? {
            Operand::Value(place) => Ok(place),
            Operand::Function(..) => Err(Unsupported("a function as value")),
        }
    }

    pub fn code_boolean(&mut self, code: &form::Code) -> Compiled<At> {
        match self.code_value(code)? {
            Place { at, base: BaseType::Boolean, dims } if dims.is_empty() => Ok(at),
            _ => Err(Unsupported("a Boolean is expected")),
        }
    }

    /// An Integer that is known now.
    pub fn constant_code(&mut self, code: &form::Code) -> Compiled<i64> {
        let place = self.code_value(code)?;
        self.known_integer(&place)
    }

    fn literal(&mut self, literal: &form::Literal) -> Compiled<Place> {
        n_elements(literal.dims())?;
        let at = match literal {
            form::Literal::Reals { items, .. } => self.compiler.store.constants.add(items),
            form::Literal::Integers { items, .. } => {
                if items.iter().any(|i| i.unsigned_abs() > 1 << 53) {
                    return Err(Unsupported("a large Integer"));
                }
                let scalars: Vec<f64> = items.iter().map(|&i| i as f64).collect();
                self.compiler.store.constants.add(&scalars)
            }
        };
        Ok(Place { at, base: literal.base(), dims: literal.dims().to_vec() })
    }

    /// A String takes no scalars; what needs its text is not compiled.
    pub fn text(&mut self) -> Place {
        Place::scalar(self.constant(0.0), BaseType::String)
    }

    pub fn value(&mut self, operand: &form::Operand) -> Compiled<Place> {
        match self.operand(operand)? {
            Operand::Value(place) => Ok(place),
            Operand::Function(..) => Err(Unsupported("a function as value")),
        }
    }

    pub fn operands(&mut self, operands: &[form::Operand]) -> Compiled<Vec<Operand>> {
        operands.iter().map(|o| self.operand(o)).collect()
    }

    /// A scalar number, Boolean or enumeration value.
    pub fn scalar(&mut self, operand: &form::Operand) -> Compiled<Place> {
        let place = self.value(operand)?;
        if place.is_scalar() && is_simple(place.base) { Ok(place) } else { Err(Unsupported("a scalar is expected")) }
    }

    /// An Integer that is known now.
    pub fn constant_integer(&mut self, operand: &form::Operand) -> Compiled<i64> {
        let place = self.scalar(operand)?;
        self.known_integer(&place)
    }

    fn known_integer(&self, place: &Place) -> Compiled<i64> {
        match (self.value_of(place.at).filter(|_| place.is_scalar()), place.base) {
            (Some(x), BaseType::Integer | BaseType::Enumeration(_)) => Ok(x as i64),
            _ => Err(Unsupported("a size that depends on values")),
        }
    }

    /// The value with elements of another type; only types change, not numbers.
    pub fn converted(&mut self, place: Place, base: BaseType) -> Compiled<Place> {
        Ok(match (place.base, base) {
            (from, to) if from == to => place,
            (BaseType::Integer, BaseType::Real) | (BaseType::Enumeration(_), BaseType::Integer) => {
                place.with_base(base)
            }
            (BaseType::Record(_), BaseType::Record(_)) if self.compiler.layout.alike(place.base, base) => {
                place.with_base(base)
            }
            _ if place.dims.contains(&0) && is_simple(place.base) && is_simple(base) => place.with_base(base),
            _ => return Err(Unsupported("a conversion")),
        })
    }

    /// Positions of the elements.
    pub fn elements(&self, place: &Place) -> Compiled<Vec<At>> {
        let width = self.compiler.layout.width(place.base)? as u32;
        Ok((0..n_elements(&place.dims)? as u32).map(|i| place.at.plus(i * width)).collect())
    }

    /// Values one after the other as one; `widths` are their scalars.
    pub fn assemble(&mut self, base: BaseType, dims: Vec<usize>, cells: &[(Cell, usize)]) -> Compiled<Place> {
        let total = self.compiler.layout.size(base, &dims)?;
        if cells.iter().map(|c| c.1).sum::<usize>() != total {
            return Err(Unsupported("sizes that disagree"));
        }
        let first = cells.first().map_or(At::frame(0), |c| c.0.at);
        let mut offset = 0u32;
        let mut in_place = true;
        for (cell, width) in cells {
            in_place &= *width == 0 || cell.at == first.plus(offset);
            offset += *width as u32;
        }
        if in_place && !cells.is_empty() {
            return Ok(Place { at: first, base, dims });
        }
        if cells.iter().all(|(c, width)| c.at.is_constant() || *width == 0) {
            let mut scalars = Vec::with_capacity(total);
            for (cell, width) in cells {
                for i in 0..*width as u32 {
                    scalars.push(self.value_of(cell.at.plus(i)).ok_or(Unsupported("an unknown constant"))?);
                }
            }
            return Ok(Place { at: self.compiler.store.constants.add(&scalars), base, dims });
        }
        let at = self.temporary(total)?;
        let mut offset = 0u32;
        for (cell, width) in cells {
            self.copy(at.plus(offset), *cell, *width)?;
            offset += *width as u32;
        }
        Ok(Place { at, base, dims })
    }

    /// Scalars or elements of an array.
    pub fn array_from(&mut self, base: BaseType, dims: Vec<usize>, elements: &[At]) -> Compiled<Place> {
        let width = self.compiler.layout.width(base)?;
        let cells: Vec<(Cell, usize)> = elements.iter().map(|&at| (Cell::fixed(at), width)).collect();
        self.assemble(base, dims, &cells)
    }

    /// Operands, each with the cell that may be written elsewhere.
    fn parts<'o>(&mut self, operands: impl Iterator<Item = &'o form::Operand>) -> Compiled<Vec<(Place, Cell)>> {
        let mut parts = Vec::new();
        for operand in operands {
            let place = self.value(operand)?;
            let cell = self.cell_of(operand, &place);
            parts.push((place, cell));
        }
        Ok(parts)
    }

    /// A record of its fields.
    pub fn record(&mut self, base: BaseType, fields: &[(Place, Cell)]) -> Compiled<Place> {
        let BaseType::Record(id) = base else { return Err(Unsupported("a record is expected")) };
        let layout = self.compiler.layout;
        let mut cells = Vec::with_capacity(fields.len());
        for (i, (place, cell)) in fields.iter().enumerate() {
            let (_, declared, dims) = layout.field(id, i as u32)?;
            // The evaluator keeps what it gets; a frame holds what is declared.
            if place.dims != dims || self.converted(place.clone(), declared).is_err() {
                return Err(Unsupported("a field of another size"));
            }
            cells.push((*cell, layout.size(declared, &dims)?));
        }
        self.assemble(base, Vec::new(), &cells)
    }

    /// `{a, b}`: all elements have the same sizes.
    pub fn array_of(&mut self, parts: &[(Place, Cell)], ty: &Type) -> Compiled<Place> {
        let Some((first, _)) = parts.first() else {
            let rest = ty.dims.iter().skip(1).map(|d| d.known().map_or(0, |n| n as usize));
            let dims = std::iter::once(0).chain(rest).collect();
            return Ok(Place { at: self.constant(0.0), base: ty.base, dims });
        };
        let base = match (ty.base, first.base) {
            (BaseType::Real, BaseType::Integer) => BaseType::Real,
            (_, found) => found,
        };
        let size = self.compiler.layout.size(base, &first.dims)?;
        let inner = first.dims.clone();
        let mut cells = Vec::with_capacity(parts.len());
        for (part, cell) in parts {
            let fits = part.base == base || (base == BaseType::Real && part.base == BaseType::Integer);
            if part.dims != inner || !fits {
                return Err(Unsupported("elements that disagree"));
            }
            cells.push((*cell, size));
        }
        let dims = std::iter::once(parts.len()).chain(inner).collect();
        self.assemble(base, dims, &cells)
    }

    fn unary_operator(&mut self, op: UnaryOp, operand: &Place) -> Compiled<Place> {
        let f = match (op, operand.base) {
            (UnaryOp::Negate, BaseType::Real) => Unary::Function(UnaryFn::Negate),
            (UnaryOp::Negate, BaseType::Integer) => Unary::NegateInteger,
            (UnaryOp::Not, BaseType::Boolean) => Unary::Function(UnaryFn::Not),
            _ => return Err(Unsupported("an operand of another type")),
        };
        self.map(f, operand, operand.base)
    }

    /// Element by element.
    pub fn map(&mut self, f: Unary, operand: &Place, base: BaseType) -> Compiled<Place> {
        let elements = self.elements(operand)?;
        let results = elements.into_iter().map(|e| self.unary(f, e)).collect::<Compiled<Vec<At>>>()?;
        self.array_from(base, operand.dims.clone(), &results)
    }

    /// `left and right`, `left or right`; the right one only where the left one does not decide.
    fn decide(&mut self, is_or: bool, left: &form::Operand, right: &form::Code) -> Compiled<Place> {
        let left = self.value(left)?;
        if !left.is_scalar() {
            let right = self.code_value(right)?;
            return self.binary_operator(if is_or { BinaryOp::Or } else { BinaryOp::And }, &left, &right);
        }
        if left.base != BaseType::Boolean {
            return Err(Unsupported("a Boolean is expected"));
        }
        if let Some(x) = self.value_of(left.at) {
            return if (x != 0.0) == is_or {
                Ok(left)
            } else {
                Ok(Place::scalar(self.code_boolean(right)?, BaseType::Boolean))
            };
        }
        let to = self.temporary(1)?;
        let cell = self.cell(left.at);
        self.copy(to, cell, 1)?;
        let jump = self.jump(if is_or { Op::JumpIf } else { Op::JumpUnless }, to)?;
        let right = self.code_boolean(right)?;
        let cell = self.cell(right);
        self.copy(to, cell, 1)?;
        self.patch_here(&[jump]);
        Ok(Place::scalar(to, BaseType::Boolean))
    }

    pub fn binary_operator(&mut self, op: BinaryOp, left: &Place, right: &Place) -> Compiled<Place> {
        match op {
            BinaryOp::MatMul if !left.is_scalar() && !right.is_scalar() => self.matrix_product(left, right),
            BinaryOp::MatMul => self.elementwise(BinaryOp::Mul, left, right),
            BinaryOp::MatPow => Err(Unsupported("a power of a matrix")),
            _ => self.elementwise(op, left, right),
        }
    }

    fn elementwise(&mut self, op: BinaryOp, left: &Place, right: &Place) -> Compiled<Place> {
        if left.base == BaseType::String && right.base == BaseType::String && op == BinaryOp::Add {
            return Ok(self.text());
        }
        let (f, base) = operation(op, left.base, right.base)?;
        self.zip(f, left, right, base)
    }

    /// Element by element; a scalar goes with all elements.
    pub fn zip(&mut self, f: Binary, left: &Place, right: &Place, base: BaseType) -> Compiled<Place> {
        let dims = match (left.is_scalar(), right.is_scalar()) {
            (true, _) => right.dims.clone(),
            (_, true) => left.dims.clone(),
            _ if left.dims == right.dims => left.dims.clone(),
            _ => return Err(Unsupported("sizes that disagree")),
        };
        let mut results = Vec::new();
        for i in 0..n_elements(&dims)? as u32 {
            let a = if left.is_scalar() { left.at } else { left.at.plus(i) };
            let b = if right.is_scalar() { right.at } else { right.at.plus(i) };
            results.push(self.binary(f, a, b)?);
        }
        self.array_from(base, dims, &results)
    }

    fn conditional(&mut self, branches: &[(form::Code, form::Code)], otherwise: &form::Code) -> Compiled<Place> {
        let mut last = otherwise;
        let mut ends = Vec::new();
        let mut result: Option<Place> = None;
        for (condition, then) in branches {
            let condition = self.code_boolean(condition)?;
            match self.value_of(condition) {
                Some(0.0) => {}
                Some(_) => {
                    last = then;
                    break;
                }
                None => {
                    let skip = self.jump(Op::JumpUnless, condition)?;
                    let value = self.code_value(then)?;
                    self.choose(&mut result, value)?;
                    ends.push(self.jump(Op::Jump, At::NOWHERE)?);
                    self.patch_here(&[skip]);
                }
            }
        }
        let value = self.code_value(last)?;
        if ends.is_empty() {
            return Ok(value);
        }
        self.choose(&mut result, value)?;
        self.patch_here(&ends);
        result.ok_or(Unsupported("a branch without value"))
    }

    /// Puts the value of one branch where that of all branches is.
    fn choose(&mut self, result: &mut Option<Place>, value: Place) -> Compiled<()> {
        let cell = self.cell(value.at);
        let size = self.compiler.layout.size(value.base, &value.dims)?;
        match result {
            None => {
                let at = self.temporary(size)?;
                self.copy(at, cell, size)?;
                *result = Some(Place { at, ..value });
            }
            Some(place) => {
                if place.dims != value.dims {
                    return Err(Unsupported("branches of different sizes"));
                }
                place.base = match (place.base, value.base) {
                    (a, b) if self.compiler.layout.alike(a, b) => a,
                    (BaseType::Real, BaseType::Integer) | (BaseType::Integer, BaseType::Real) => BaseType::Real,
                    _ => return Err(Unsupported("branches of different types")),
                };
                let at = place.at;
                self.copy(at, cell, size)?;
            }
        }
        Ok(())
    }

    /// The elements of a range of known numbers.
    pub fn range(&mut self, first: &Place, step: Option<&Place>, last: &Place) -> Compiled<Place> {
        let value = |place: &Place| self.value_of(place.at).ok_or(Unsupported("a size that depends on values"));
        let (a, b) = (value(first)?, value(last)?);
        let d = step.map_or(Ok(1.0), value)?;
        let bases = [Some(first.base), step.map(|s| s.base), Some(last.base)];
        let is_integer = bases.iter().flatten().all(|&b| b == BaseType::Integer);
        let base = match first.base {
            BaseType::Integer if is_integer => BaseType::Integer,
            BaseType::Integer | BaseType::Real => BaseType::Real,
            base => base,
        };
        // Whole numbers are exact in either case, so that the number of elements is, too.
        let n = form::scalar::range_length(a, d, b);
        if n.is_nan() {
            return Err(Unsupported("a range without step"));
        }
        let n = n_elements(&[n as usize])?;
        let scalars: Vec<f64> = (0..n).map(|i| a + i as f64 * d).collect();
        Ok(Place { at: self.compiler.store.constants.add(&scalars), base, dims: vec![n] })
    }
}

/// One scalar in the frame?
pub fn is_simple(base: BaseType) -> bool {
    matches!(base, BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_))
}

/// What an operator does with elements of these types, and the type of its result.
pub fn operation(op: BinaryOp, left: BaseType, right: BaseType) -> Compiled<(Binary, BaseType)> {
    let numbers =
        matches!(left, BaseType::Real | BaseType::Integer) && matches!(right, BaseType::Real | BaseType::Integer);
    let integers = left == BaseType::Integer && right == BaseType::Integer;
    let relation = |f| Ok((Binary::Function(f), BaseType::Boolean));
    let arithmetic = |f, of_integers| {
        Ok(if integers { (of_integers, BaseType::Integer) } else { (Binary::Function(f), BaseType::Real) })
    };
    let comparable = numbers || (left == right && is_simple(left));
    match op {
        BinaryOp::Add if numbers => arithmetic(BinaryFn::Add, Binary::AddInteger),
        BinaryOp::Sub if numbers => arithmetic(BinaryFn::Sub, Binary::SubInteger),
        BinaryOp::Mul | BinaryOp::MatMul if numbers => arithmetic(BinaryFn::Mul, Binary::MulInteger),
        BinaryOp::Div if numbers => Ok((Binary::Function(BinaryFn::Div), BaseType::Real)),
        BinaryOp::Pow if numbers => Ok((Binary::Function(BinaryFn::Pow), BaseType::Real)),
        BinaryOp::Less if comparable => relation(BinaryFn::Less),
        BinaryOp::LessEqual if comparable => relation(BinaryFn::LessEqual),
        BinaryOp::Greater if comparable => relation(BinaryFn::Greater),
        BinaryOp::GreaterEqual if comparable => relation(BinaryFn::GreaterEqual),
        BinaryOp::Equal if comparable => relation(BinaryFn::Equal),
        BinaryOp::NotEqual if comparable => relation(BinaryFn::NotEqual),
        BinaryOp::And if left == BaseType::Boolean && right == left => relation(BinaryFn::And),
        BinaryOp::Or if left == BaseType::Boolean && right == left => relation(BinaryFn::Or),
        _ => Err(Unsupported("operands of these types")),
    }
}
