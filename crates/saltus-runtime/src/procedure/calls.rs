//! Calls of other functions: record constructors and elementary external functions on the spot, others as procedures.

use saltus_flat::{BaseType, FunctionId};
use saltus_procedure::{Body as FormBody, External, ExternalArgument, Operand as FormOperand, Procedure, Register};
use saltus_program::UnaryFn;

use super::body::{Body, Cell};
use super::code::{At, Binary, CallSite, Op, Transfer, Unary};
use super::layout::{Compiled, Operand, Place, Unsupported};

impl Body<'_, '_> {
    /// All results of a call. Those that go to a register have a value, or the call is in trouble.
    pub fn call(&mut self, id: FunctionId, arguments: &[Operand], to: &[Option<Register>]) -> Compiled<Vec<Place>> {
        let program = self.compiler.layout.program;
        let function = program.routines.procedures.get(id).ok_or(Unsupported("an unknown function"))?;
        match &function.body {
            FormBody::Record(_) => return Ok(vec![self.construct(function, arguments)?]),
            FormBody::External(external) => return Ok(vec![self.elementary(function, external, arguments)?]),
            FormBody::Statements(_) => {}
        }
        let signature = self.compiler.specialise(id, arguments)?;
        let mut site = CallSite { procedure: signature.procedure, arguments: Vec::new(), results: Vec::new() };
        for (argument, input) in arguments.iter().zip(&signature.inputs) {
            self.transfer(argument, input, &mut site.arguments)?;
        }
        let mut results = Vec::with_capacity(signature.outputs.len());
        for output in &signature.outputs {
            let n = self.compiler.layout.size(output.base, &output.dims)?;
            let at = self.temporary(n)?;
            if n > 0 {
                site.results.push(Transfer { here: at, there: output.at.position() as u32, n: n as u32 });
            }
            results.push(Place { at, ..output.clone() });
        }
        let mut flags = Vec::new();
        for ((flag, output), to) in signature.flags.iter().zip(&signature.outputs).zip(to) {
            if let (Some(flag), Some(_)) = (flag, to) {
                let here = self.temporary(1)?;
                site.results.push(Transfer { here, there: flag.position() as u32, n: 1 });
                flags.push((here, output.is_scalar()));
            }
        }
        let number = self.calls.len();
        self.calls.push(site);
        self.emit(Op::Call, At::NOWHERE, At::NOWHERE, At::NOWHERE, number as u32)?;
        flags.into_iter().try_for_each(|(flag, is_scalar)| self.expect(flag, is_scalar))?;
        Ok(results)
    }

    fn transfer(&self, argument: &Operand, input: &Operand, transfers: &mut Vec<Transfer>) -> Compiled<()> {
        match (argument, input) {
            (Operand::Value(from), Operand::Value(to)) => {
                let n = self.compiler.layout.size(from.base, &from.dims)?;
                if !to.at.is_constant() && n > 0 {
                    transfers.push(Transfer { here: from.at, there: to.at.position() as u32, n: n as u32 });
                }
            }
            (Operand::Function(_, from), Operand::Function(_, to)) => {
                for ((_, a), (_, b)) in from.iter().zip(to) {
                    self.transfer(a, b, transfers)?;
                }
            }
            _ => return Err(Unsupported("an argument of another kind")),
        }
        Ok(())
    }

    /// Calls the function that a local holds; bound inputs and given arguments are put together by position.
    pub fn call_local(
        &mut self,
        local: Register,
        arguments: Vec<Operand>,
        to: &[Option<Register>],
    ) -> Compiled<Vec<Place>> {
        let Operand::Function(id, bound) = self.local(local)? else {
            return Err(Unsupported("a function is expected"));
        };
        let program = self.compiler.layout.program;
        let n_inputs = program.routines.procedures.get(id).ok_or(Unsupported("an unknown function"))?.inputs.len();
        let mut given = arguments.into_iter();
        let mut all = Vec::with_capacity(n_inputs);
        for position in 0..n_inputs {
            let value = bound.iter().find(|(p, _)| *p as usize == position).map(|(_, v)| v.clone());
            match value.or_else(|| given.next()) {
                Some(value) => all.push(value),
                None => break,
            }
        }
        self.call(id, &all, to)
    }

    fn construct(&mut self, function: &Procedure, arguments: &[Operand]) -> Compiled<Place> {
        let base = function.outputs.first().and_then(|&o| function.local(o)).map(|l| l.ty.base);
        let (Some(base), true) = (base, arguments.len() == function.inputs.len()) else {
            return Err(Unsupported("a record constructor without all fields"));
        };
        let mut fields = Vec::with_capacity(arguments.len());
        for (argument, &input) in arguments.iter().zip(&function.inputs) {
            let Operand::Value(place) = argument else { return Err(Unsupported("a function in a record")) };
            let local = function.local(input).ok_or(Unsupported("an unknown local"))?;
            let place = self.converted(place.clone(), local.ty.base)?;
            let cell = Cell::fixed(place.at);
            fields.push((place, cell));
        }
        self.record(base, &fields)
    }

    /// External functions of the C library with scalar arguments.
    fn elementary(&mut self, function: &Procedure, external: &External, arguments: &[Operand]) -> Compiled<Place> {
        let other = Unsupported("an external function");
        let is_given = |(argument, &input): (&ExternalArgument, &Register)| match argument {
            ExternalArgument::Input(code) => code.block.is_empty() && code.value == FormOperand::Local(input),
            ExternalArgument::Output(_) => false,
        };
        let is_simple = external.arguments.len() == function.inputs.len()
            && external.arguments.iter().zip(&function.inputs).all(is_given)
            && external.result.is_some()
            && external.result.as_ref() == function.outputs.first()
            && function.outputs.len() == 1
            && function.is_pure();
        let output = external.result.and_then(|r| function.local(r)).filter(|l| l.ty.is_scalar());
        if !is_simple || output.is_none_or(|l| l.ty.base != BaseType::Real) {
            return Err(other);
        }
        let mut scalars = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                Operand::Value(Place { at, base: BaseType::Real | BaseType::Integer, dims }) if dims.is_empty() => {
                    scalars.push(*at);
                }
                _ => return Err(other),
            }
        }
        let at = match *scalars.as_slice() {
            [x] => self.unary(foreign_unary(&external.name).ok_or(other)?, x)?,
            [x, y] => self.binary(foreign_binary(&external.name).ok_or(other)?, x, y)?,
            _ => return Err(other),
        };
        Ok(Place::scalar(at, BaseType::Real))
    }
}

fn foreign_unary(name: &str) -> Option<Unary> {
    Some(Unary::Foreign(match name {
        "sin" => UnaryFn::Sin,
        "cos" => UnaryFn::Cos,
        "tan" => UnaryFn::Tan,
        "asin" => UnaryFn::Asin,
        "acos" => UnaryFn::Acos,
        "atan" => UnaryFn::Atan,
        "sinh" => UnaryFn::Sinh,
        "cosh" => UnaryFn::Cosh,
        "tanh" => UnaryFn::Tanh,
        "asinh" => UnaryFn::Asinh,
        "atanh" => UnaryFn::Atanh,
        "exp" => UnaryFn::Exp,
        "log" => UnaryFn::Log,
        "log10" => UnaryFn::Log10,
        "sqrt" => UnaryFn::Sqrt,
        "fabs" => UnaryFn::Abs,
        "floor" => UnaryFn::Floor,
        "ceil" => UnaryFn::Ceil,
        "acosh" => return Some(Unary::ForeignAcosh),
        "cbrt" => return Some(Unary::ForeignCbrt),
        _ => return None,
    }))
}

fn foreign_binary(name: &str) -> Option<Binary> {
    Some(match name {
        "atan2" => Binary::Function(saltus_program::BinaryFn::Atan2),
        "pow" => Binary::ForeignPow,
        "fmod" => Binary::ForeignMod,
        "hypot" => Binary::ForeignHypot,
        _ => return None,
    })
}
