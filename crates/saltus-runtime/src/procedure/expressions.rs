//! Expressions: operators, branches, constructors. The arithmetic is that of the evaluator, scalar by scalar.

use saltus_flat::{BaseType, BinaryOp, Expr, ExprKind, UnaryOp};
use saltus_program::{BinaryFn, UnaryFn};

use super::body::{Body, Cell};
use super::code::{At, Binary, Op, Unary};
use super::layout::{Compiled, Operand, Place, Unsupported, n_elements};

impl Body<'_, '_> {
    /// A value or a function.
    pub fn expr(&mut self, expr: &Expr) -> Compiled<Operand> {
        self.compiler.enter()?;
        let result = self.expr_inside(expr);
        self.compiler.leave();
        result
    }

    fn expr_inside(&mut self, expr: &Expr) -> Compiled<Operand> {
        let base = expr.ty.base;
        let place = match &expr.kind {
            ExprKind::Local(id) => return self.local(*id),
            ExprKind::Real(x) => Place::scalar(self.constant(*x), BaseType::Real),
            ExprKind::Integer(i) => {
                let base = if base == BaseType::Real { base } else { BaseType::Integer };
                if i.unsigned_abs() > 1 << 53 {
                    return Err(Unsupported("a large Integer"));
                }
                Place::scalar(self.constant(*i as f64), base)
            }
            ExprKind::Boolean(b) => Place::scalar(self.constant(f64::from(u8::from(*b))), BaseType::Boolean),
            ExprKind::String(_) => self.text(),
            ExprKind::EnumLiteral(id, ordinal) => {
                Place::scalar(self.constant(f64::from(*ordinal)), BaseType::Enumeration(*id))
            }
            ExprKind::Index { .. } | ExprKind::Field { .. } => {
                let view = self.view(expr)?;
                self.read(&view)?
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.value(operand)?;
                self.unary_operator(*op, &operand)?
            }
            ExprKind::Binary(..) => self.chain(expr)?,
            ExprKind::If { .. } => self.conditional(expr)?,
            ExprKind::Cast(operand) => {
                let operand = self.value(operand)?;
                self.converted(operand, base)?
            }
            ExprKind::Record(fields) => {
                let fields = self.parts(fields)?;
                self.record(base, &fields)?
            }
            ExprKind::Array(items) => self.array(items, expr)?,
            ExprKind::Range { start, step, stop } => self.range(start, step.as_deref(), stop)?,
            ExprKind::Call { function, arguments } => {
                let arguments = self.operands(arguments)?;
                let results = self.call(*function, &arguments)?;
                results.into_iter().next().ok_or(Unsupported("a call without result"))?
            }
            ExprKind::CallLocal { function, arguments } => {
                let arguments = self.operands(arguments)?;
                let results = self.call_local(*function, arguments)?;
                results.into_iter().next().ok_or(Unsupported("a call without result"))?
            }
            ExprKind::Builtin { function, arguments } => self.builtin(*function, arguments, expr)?,
            ExprKind::Reduction { op, body, iterators } => self.reduction(*op, body, iterators, expr)?,
            ExprKind::FunctionRef { function, bound } => {
                let bound = bound.iter().map(|(i, e)| Ok((*i, self.expr(e)?))).collect::<Compiled<Vec<_>>>()?;
                return Ok(Operand::Function(*function, bound));
            }
            ExprKind::Var(_) | ExprKind::Time | ExprKind::Tuple(_) | ExprKind::Error => {
                return Err(Unsupported("something that belongs into a model"));
            }
        };
        Ok(Operand::Value(place))
    }

    /// A String takes no scalars; what needs its text is not compiled.
    pub fn text(&mut self) -> Place {
        Place::scalar(self.constant(0.0), BaseType::String)
    }

    pub fn value(&mut self, expr: &Expr) -> Compiled<Place> {
        match self.expr(expr)? {
            Operand::Value(place) => Ok(place),
            Operand::Function(..) => Err(Unsupported("a function as value")),
        }
    }

    pub fn operands(&mut self, exprs: &[Expr]) -> Compiled<Vec<Operand>> {
        exprs.iter().map(|e| self.expr(e)).collect()
    }

    /// A scalar number, Boolean or enumeration value.
    pub fn scalar(&mut self, expr: &Expr) -> Compiled<Place> {
        let place = self.value(expr)?;
        if place.is_scalar() && is_simple(place.base) { Ok(place) } else { Err(Unsupported("a scalar is expected")) }
    }

    pub fn boolean(&mut self, expr: &Expr) -> Compiled<At> {
        match self.scalar(expr)? {
            Place { at, base: BaseType::Boolean, .. } => Ok(at),
            _ => Err(Unsupported("a Boolean is expected")),
        }
    }

    /// An Integer that is known now.
    pub fn constant_integer(&mut self, expr: &Expr) -> Compiled<i64> {
        let place = self.scalar(expr)?;
        match (self.value_of(place.at), place.base) {
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

    /// Values of expressions, each with the cell that may be written elsewhere.
    fn parts(&mut self, exprs: &[Expr]) -> Compiled<Vec<(Place, Cell)>> {
        let mut parts = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let place = self.value(expr)?;
            let cell = self.cell(place.at);
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

    fn array(&mut self, items: &[Expr], expr: &Expr) -> Compiled<Place> {
        let parts = self.parts(items)?;
        self.array_of(&parts, expr)
    }

    /// `{a, b}`: all elements have the same sizes.
    pub fn array_of(&mut self, parts: &[(Place, Cell)], expr: &Expr) -> Compiled<Place> {
        let Some((first, _)) = parts.first() else {
            let rest = expr.ty.dims.iter().skip(1).map(|d| d.known().map_or(0, |n| n as usize));
            let dims = std::iter::once(0).chain(rest).collect();
            return Ok(Place { at: self.constant(0.0), base: expr.ty.base, dims });
        };
        let base = match (expr.ty.base, first.base) {
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

    /// Left-associative chains such as `a + b + c + …` are walked in a loop.
    fn chain(&mut self, expr: &Expr) -> Compiled<Place> {
        let mut chain = Vec::new();
        let mut current = expr;
        while let ExprKind::Binary(op, left, right) = &current.kind {
            chain.push((*op, right));
            current = left;
        }
        let mut value = self.value(current)?;
        while let Some((op, right)) = chain.pop() {
            value = match op {
                BinaryOp::And | BinaryOp::Or if value.is_scalar() && right.ty.is_scalar() => {
                    self.decide(op == BinaryOp::Or, value, right)?
                }
                _ => {
                    let right = self.value(right)?;
                    self.binary_operator(op, &value, &right)?
                }
            };
        }
        Ok(value)
    }

    /// `left and right`, `left or right`; the right one only where the left one does not decide (if it is `structural`).
    fn decide(&mut self, structural: bool, left: Place, right: &Expr) -> Compiled<Place> {
        if left.base != BaseType::Boolean {
            return Err(Unsupported("a Boolean is expected"));
        }
        if let Some(x) = self.value_of(left.at) {
            return if (x != 0.0) == structural {
                Ok(left)
            } else {
                Ok(Place::scalar(self.boolean(right)?, BaseType::Boolean))
            };
        }
        let to = self.temporary(1)?;
        let cell = self.cell(left.at);
        self.copy(to, cell, 1)?;
        let jump = self.jump(if structural { Op::JumpIf } else { Op::JumpUnless }, to)?;
        let right = self.boolean(right)?;
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

    fn conditional(&mut self, expr: &Expr) -> Compiled<Place> {
        let mut current = expr;
        let mut ends = Vec::new();
        let mut result: Option<Place> = None;
        while let ExprKind::If { condition, then, otherwise } = &current.kind {
            let condition = self.boolean(condition)?;
            match self.value_of(condition) {
                Some(0.0) => current = otherwise,
                Some(_) => {
                    current = then;
                    break;
                }
                None => {
                    let skip = self.jump(Op::JumpUnless, condition)?;
                    let value = self.value(then)?;
                    self.choose(&mut result, value)?;
                    ends.push(self.jump(Op::Jump, At::NOWHERE)?);
                    self.patch_here(&[skip]);
                    current = otherwise;
                }
            }
        }
        let value = self.value(current)?;
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

    fn range(&mut self, start: &Expr, step: Option<&Expr>, stop: &Expr) -> Compiled<Place> {
        let first = self.scalar(start)?;
        let step = step.map(|s| self.scalar(s)).transpose()?;
        let last = self.scalar(stop)?;
        let value = |place: &Place| self.value_of(place.at).ok_or(Unsupported("a size that depends on values"));
        let (a, b) = (value(&first)?, value(&last)?);
        let d = step.as_ref().map_or(Ok(1.0), value)?;
        let bases = [Some(first.base), step.as_ref().map(|s| s.base), Some(last.base)];
        let is_integer = bases.iter().flatten().all(|&b| b == BaseType::Integer);
        let base = match first.base {
            BaseType::Integer if is_integer => BaseType::Integer,
            BaseType::Integer | BaseType::Real => BaseType::Real,
            base => base,
        };
        // Whole numbers are exact in either case, so that the number of elements is, too.
        let n = ((b - a) / d).floor() + 1.0;
        if d == 0.0 || n.is_nan() {
            return Err(Unsupported("a range without step"));
        }
        let n = n_elements(&[n.max(0.0) as usize])?;
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
