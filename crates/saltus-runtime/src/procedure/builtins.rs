//! Built-in functions (specification §3.7, §10.3) that do not depend on a simulation.

use saltus_flat::{BaseType, BinaryOp, Builtin, Type};
use saltus_procedure::{self as form, Argument};
use saltus_program::{BinaryFn, UnaryFn};

use super::body::Body;
use super::code::{At, Binary, Op, Unary};
use super::expressions::{is_simple, operation};
use super::layout::{Compiled, Place, Unsupported};

impl Body<'_, '_> {
    pub fn builtin(&mut self, function: Builtin, arguments: &[Argument], ty: &Type) -> Compiled<Place> {
        let arg = |i: usize| arguments.get(i).map(|a| &a.value).ok_or(Unsupported("too few arguments"));
        if let Some(f) = elementary(function) {
            let operand = self.value(arg(0)?)?;
            return self.elementary_unary(function, f, &operand);
        }
        match function {
            Builtin::Atan2 | Builtin::Div | Builtin::Mod | Builtin::Rem => {
                let (x, y) = (self.value(arg(0)?)?, self.value(arg(1)?)?);
                let (f, base) = quotient(function, x.base, y.base)?;
                self.zip(f, &x, &y, base)
            }
            Builtin::Min | Builtin::Max => self.extremum(function == Builtin::Max, arguments, ty),
            Builtin::SemiLinear => self.semi_linear(arguments),
            Builtin::ToInteger => {
                let operand = self.value(arg(0)?)?;
                match operand.base {
                    BaseType::Enumeration(_) => Ok(operand.with_base(BaseType::Integer)),
                    BaseType::Integer => Ok(operand),
                    _ => Err(Unsupported("an enumeration value is expected")),
                }
            }
            Builtin::EnumFromInteger => {
                let operand = self.value(arg(0)?)?;
                self.enumeration_value(&operand, ty.base)
            }
            Builtin::ToString => Ok(self.text()),
            _ => self.array_builtin(function, arguments, ty),
        }
    }

    fn elementary_unary(&mut self, function: Builtin, f: Unary, operand: &Place) -> Compiled<Place> {
        let (f, base) = match (function, operand.base) {
            (Builtin::Integer, BaseType::Integer | BaseType::Enumeration(_)) => {
                return Ok(operand.clone().with_base(BaseType::Integer));
            }
            (Builtin::Integer | Builtin::Sign, BaseType::Real | BaseType::Integer) => (f, BaseType::Integer),
            (Builtin::Abs, BaseType::Integer) => (f, BaseType::Integer),
            (_, BaseType::Real | BaseType::Integer) => (f, BaseType::Real),
            _ => return Err(Unsupported("a number is expected")),
        };
        self.map(f, operand, base)
    }

    /// `min(a, b)` of two scalars, `min(A)` over all elements of an array.
    fn extremum(&mut self, is_max: bool, arguments: &[Argument], ty: &Type) -> Compiled<Place> {
        let f = Binary::Function(if is_max { BinaryFn::Max } else { BinaryFn::Min });
        let first = self.value(&arguments.first().ok_or(Unsupported("too few arguments"))?.value)?;
        if !is_simple(first.base) {
            return Err(Unsupported("a number is expected"));
        }
        if let Some(second) = arguments.get(1) {
            let second = self.value(&second.value)?;
            let (_, _) = operation(BinaryOp::Less, first.base, second.base)?;
            if !first.is_scalar() || !second.is_scalar() {
                return Err(Unsupported("a scalar is expected"));
            }
            let at = self.binary(f, first.at, second.at)?;
            let base = if first.base == second.base { first.base } else { BaseType::Real };
            return self.converted(Place::scalar(at, base), ty.base);
        }
        if first.is_scalar() {
            return Ok(first);
        }
        let elements = self.elements(&first)?;
        let (&start, rest) = elements.split_first().ok_or(Unsupported("an empty array"))?;
        let at = rest.iter().try_fold(start, |best, &e| self.binary(f, best, e))?;
        Ok(Place::scalar(at, first.base))
    }

    /// `semiLinear(x, k1, k2)` is `k1*x` for positive and `k2*x` for negative `x`.
    fn semi_linear(&mut self, arguments: &[Argument]) -> Compiled<Place> {
        let [x, positive, negative] = arguments else { return Err(Unsupported("too few arguments")) };
        let (x, positive, negative) =
            (self.scalar(&x.value)?, self.scalar(&positive.value)?, self.scalar(&negative.value)?);
        let zero = self.constant(0.0);
        let is_positive = self.binary(Binary::Function(BinaryFn::GreaterEqual), x.at, zero)?;
        if let Some(known) = self.value_of(is_positive) {
            return self.binary_operator(BinaryOp::Mul, if known != 0.0 { &positive } else { &negative }, &x);
        }
        let result = self.temporary(1)?;
        let mut base = BaseType::Real;
        let mut jump = self.jump(Op::JumpUnless, is_positive)?;
        for (i, slope) in [positive, negative].into_iter().enumerate() {
            let product = self.binary_operator(BinaryOp::Mul, &slope, &x)?;
            base = product.base;
            let cell = self.cell(product.at);
            self.copy(result, cell, 1)?;
            if i == 0 {
                let end = self.jump(Op::Jump, At::NOWHERE)?;
                self.patch_here(&[jump]);
                jump = end;
            }
        }
        self.patch_here(&[jump]);
        Ok(Place::scalar(result, base))
    }

    /// `E(i)`: the literal with number `i`.
    fn enumeration_value(&mut self, operand: &Place, base: BaseType) -> Compiled<Place> {
        let BaseType::Enumeration(id) = base else { return Err(Unsupported("an enumeration is expected")) };
        if matches!(operand.base, BaseType::Enumeration(_)) {
            return Ok(operand.clone());
        }
        if operand.base != BaseType::Integer || !operand.is_scalar() {
            return Err(Unsupported("an Integer is expected"));
        }
        let n = self.compiler.layout.program.routines.enumerations.get(id).map_or(0, |e| e.literals.len());
        if let Some(x) = self.value_of(operand.at) {
            let is_literal = x >= 1.0 && x <= n as f64;
            return if is_literal { Ok(operand.clone().with_base(base)) } else { Err(Unsupported("no such literal")) };
        }
        // Only for its check.
        let to = self.temporary(1)?;
        self.emit(Op::Subscript, to, operand.at, At::frame(1), n as u32)?;
        Ok(operand.clone().with_base(base))
    }

    /// Sizes that the type of the array knows need no array.
    pub fn size(&mut self, array: Option<&form::Operand>, dimension: Option<&Argument>, ty: &Type) -> Compiled<Place> {
        let found = match array {
            Some(array) => self.value(array)?.dims,
            None => Vec::new(),
        };
        let Some(dimension) = dimension else {
            let scalars: Vec<f64> = found.iter().map(|&n| n as f64).collect();
            let at = self.compiler.store.constants.add(&scalars);
            return Ok(Place { at, base: BaseType::Integer, dims: vec![found.len()] });
        };
        let number = self.constant_integer(&dimension.value)?;
        let no_such = Unsupported("no such size");
        let position = usize::try_from(number).ok().and_then(|n| n.checked_sub(1)).ok_or(no_such)?;
        let known = ty.dims.get(position).ok_or(no_such)?.known().and_then(|n| usize::try_from(n).ok());
        let size = known.or_else(|| found.get(position).copied()).ok_or(no_such)?;
        Ok(Place::scalar(self.constant(size as f64), BaseType::Integer))
    }
}

fn elementary(function: Builtin) -> Option<Unary> {
    match function {
        Builtin::Ceil => Some(Unary::Function(UnaryFn::Ceil)),
        Builtin::Floor => Some(Unary::Function(UnaryFn::Floor)),
        Builtin::Sign => Some(Unary::Sign),
        Builtin::Integer => Some(Unary::Floor),
        _ => UnaryFn::elementary(function).map(Unary::Function),
    }
}

fn quotient(function: Builtin, x: BaseType, y: BaseType) -> Compiled<(Binary, BaseType)> {
    let is_number = |b| matches!(b, BaseType::Real | BaseType::Integer);
    if !is_number(x) || !is_number(y) {
        return Err(Unsupported("a number is expected"));
    }
    let integers = x == BaseType::Integer && y == BaseType::Integer;
    let (of_integers, of_reals) = match function {
        Builtin::Div => (Binary::DivInteger, BinaryFn::IntDiv),
        Builtin::Mod => (Binary::ModInteger, BinaryFn::Mod),
        Builtin::Rem => (Binary::RemInteger, BinaryFn::Rem),
        _ => return Ok((Binary::Function(BinaryFn::Atan2), BaseType::Real)),
    };
    Ok(if integers { (of_integers, BaseType::Integer) } else { (Binary::Function(of_reals), BaseType::Real) })
}
