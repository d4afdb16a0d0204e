//! Writes elementary operations as Cranelift instructions.
//!
//! ```text
//! min(x, y)    ⇒    v3 = fcmp le v1, v2;  v4 = fcmp uno v1, v1;  v5 = bor v3, v4;  v6 = select v5, v1, v2
//! exp(x)       ⇒    v2 = call saltus_exp(v1)
//! ```
//!
//! Every operation means what `UnaryFn::apply` and `BinaryFn::apply` say, to the last bit (of a NaN: that it is one).

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, InstBuilder, MemFlags, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};
use saltus_program::{BinaryFn, UnaryFn};

use crate::{JitError, elementary};

/// Elementary functions, declared in a module.
pub(crate) struct Elementary {
    unary: Vec<FuncId>,
    binary: Vec<FuncId>,
}

impl Elementary {
    /// Tells a module to come where the functions are.
    pub fn add_symbols(builder: &mut JITBuilder) {
        builder.symbols(elementary::UNARY.iter().map(|e| (e.1, e.2 as *const u8)));
        builder.symbols(elementary::BINARY.iter().map(|e| (e.1, e.2 as *const u8)));
    }

    pub fn declare(module: &mut JITModule) -> Result<Self, JitError> {
        let float = AbiParam::new(types::F64);
        let unary = elementary::UNARY.iter().map(|e| declare_import(module, e.1, vec![float], types::F64));
        let unary = unary.collect::<Result<_, _>>()?;
        let binary = elementary::BINARY.iter().map(|e| declare_import(module, e.1, vec![float; 2], types::F64));
        let binary = binary.collect::<Result<_, _>>()?;
        Ok(Elementary { unary, binary })
    }
}

/// The signature of all machine code: three pointers ⇒ status.
pub(crate) fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params = vec![AbiParam::new(types::I64); 3];
    signature.returns = vec![AbiParam::new(types::I32)];
    signature
}

/// Declares a function outside of the module.
pub(crate) fn declare_import(
    module: &mut JITModule,
    name: &str,
    parameters: Vec<AbiParam>,
    result: types::Type,
) -> Result<FuncId, JitError> {
    let mut signature = Signature::new(module.isa().default_call_conv());
    signature.params = parameters;
    signature.returns = vec![AbiParam::new(result)];
    module.declare_function(name, Linkage::Import, &signature).map_err(JitError::from_module)
}

/// Another function of the module, called by its full address: a module that grows while it is in use gets its memory in
/// pieces, which may lie farther apart than a relative call reaches (2 GiB on x86-64).
pub(crate) fn far_reference(module: &mut JITModule, id: FuncId, function: &mut Function) -> FuncRef {
    let reference = module.declare_func_in_func(id, function);
    function.dfg.ext_funcs[reference].colocated = false;
    reference
}

/// A function being written, as far as arithmetic needs it.
pub(crate) struct Arithmetic<'w, 'f> {
    pub builder: &'w mut FunctionBuilder<'f>,
    pub module: &'w mut JITModule,
    pub elementary: &'w Elementary,
    pub used: &'w mut Used,
}

/// Elementary functions that the function being written calls.
#[derive(Default)]
pub(crate) struct Used {
    unary: [Option<FuncRef>; elementary::UNARY.len()],
    binary: [Option<FuncRef>; elementary::BINARY.len()],
}

impl Arithmetic<'_, '_> {
    pub fn number(&mut self, value: f64) -> Value {
        self.builder.ins().f64const(value)
    }

    /// 1.0 for a truth, else 0.0.
    pub fn number_of(&mut self, truth: Value) -> Value {
        let one = self.builder.ins().iconst(types::I64, 1f64.to_bits() as i64);
        let zero = self.builder.ins().iconst(types::I64, 0);
        let bits = self.builder.ins().select(truth, one, zero);
        self.builder.ins().bitcast(types::F64, MemFlags::new(), bits)
    }

    /// Is it something else than 0?
    pub fn is_true(&mut self, x: Value) -> Value {
        let zero = self.number(0.0);
        self.builder.ins().fcmp(FloatCC::NotEqual, x, zero)
    }

    /// A function of numbers; `not` is none.
    pub fn unary(&mut self, function: UnaryFn, x: Value) -> Value {
        if let Some(position) = elementary::find_unary(function) {
            let declared = self.elementary.unary[position];
            let (module, place) = (&mut *self.module, &mut self.used.unary[position]);
            let callee = *place.get_or_insert_with(|| module.declare_func_in_func(declared, self.builder.func));
            return self.call(callee, &[x]);
        }
        match function {
            UnaryFn::Negate => self.builder.ins().fneg(x),
            UnaryFn::Sqrt => self.builder.ins().sqrt(x),
            UnaryFn::Abs => self.builder.ins().fabs(x),
            UnaryFn::Floor => self.builder.ins().floor(x),
            UnaryFn::Ceil => self.builder.ins().ceil(x),
            _ => self.sign(x),
        }
    }

    fn sign(&mut self, x: Value) -> Value {
        let [zero, one, minus_one] = [0.0, 1.0, -1.0].map(|c| self.number(c));
        let neither = self.builder.ins().fmul(x, zero);
        let is_negative = self.builder.ins().fcmp(FloatCC::LessThan, x, zero);
        let not_positive = self.builder.ins().select(is_negative, minus_one, neither);
        let is_positive = self.builder.ins().fcmp(FloatCC::GreaterThan, x, zero);
        self.builder.ins().select(is_positive, one, not_positive)
    }

    /// A relation of numbers, as a truth.
    pub fn relation(&mut self, function: BinaryFn, x: Value, y: Value) -> Option<Value> {
        let condition = match function {
            BinaryFn::Less => FloatCC::LessThan,
            BinaryFn::LessEqual => FloatCC::LessThanOrEqual,
            BinaryFn::Greater => FloatCC::GreaterThan,
            BinaryFn::GreaterEqual => FloatCC::GreaterThanOrEqual,
            BinaryFn::Equal => FloatCC::Equal,
            BinaryFn::NotEqual => FloatCC::NotEqual,
            _ => return None,
        };
        Some(self.builder.ins().fcmp(condition, x, y))
    }

    /// A function of numbers that is neither a relation nor `and` nor `or`.
    pub fn binary(&mut self, function: BinaryFn, x: Value, y: Value) -> Value {
        if let Some(position) = elementary::find_binary(function) {
            let declared = self.elementary.binary[position];
            let (module, place) = (&mut *self.module, &mut self.used.binary[position]);
            let callee = *place.get_or_insert_with(|| module.declare_func_in_func(declared, self.builder.func));
            return self.call(callee, &[x, y]);
        }
        match function {
            BinaryFn::Add => self.builder.ins().fadd(x, y),
            BinaryFn::Sub => self.builder.ins().fsub(x, y),
            BinaryFn::Mul => self.builder.ins().fmul(x, y),
            BinaryFn::Div => self.builder.ins().fdiv(x, y),
            BinaryFn::Min => self.extreme(FloatCC::LessThanOrEqual, x, y),
            BinaryFn::Max => self.extreme(FloatCC::GreaterThanOrEqual, x, y),
            BinaryFn::Mod => {
                let quotient = self.builder.ins().fdiv(x, y);
                let whole = self.builder.ins().floor(quotient);
                self.remainder(x, whole, y)
            }
            BinaryFn::Rem => {
                let quotient = self.builder.ins().fdiv(x, y);
                let whole = self.builder.ins().trunc(quotient);
                self.remainder(x, whole, y)
            }
            _ => {
                let quotient = self.builder.ins().fdiv(x, y);
                self.builder.ins().trunc(quotient)
            }
        }
    }

    fn remainder(&mut self, x: Value, whole: Value, y: Value) -> Value {
        let product = self.builder.ins().fmul(whole, y);
        self.builder.ins().fsub(x, product)
    }

    /// `x` if the condition holds or `x` is not a number, `y` otherwise.
    fn extreme(&mut self, condition: FloatCC, x: Value, y: Value) -> Value {
        let holds = self.builder.ins().fcmp(condition, x, y);
        let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, x, x);
        let is_x = self.builder.ins().bor(holds, is_nan);
        self.builder.ins().select(is_x, x, y)
    }

    pub fn call(&mut self, callee: FuncRef, arguments: &[Value]) -> Value {
        let call = self.builder.ins().call(callee, arguments);
        self.builder.inst_results(call)[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of the corpus on two threads failed now and then: pages of procedures lay more than 2 GiB apart.
    #[test]
    fn functions_of_a_module_are_called_by_their_full_address() {
        let jit = crate::Jit::new(crate::JitOptions::default()).expect("a target");
        let builder = JITBuilder::with_isa(jit.isa.clone(), cranelift_module::default_libcall_names());
        let mut module = JITModule::new(builder);
        let signature = signature(module.isa().default_call_conv());
        let called = module.declare_anonymous_function(&signature).expect("a declaration");
        let mut caller = Function::new();
        let reference = far_reference(&mut module, called, &mut caller);
        assert!(!caller.dfg.ext_funcs[reference].colocated);
    }
}
