//! Machine code that passes words as the arguments of a foreign function.
//!
//! ```text
//! double f(double, int)   ⇒   trampoline(words, result, f):  *result := f(words[0] as a double, words[1] as an integer)
//! ```
//!
//! One for each sequence of kinds of arguments and kind of result.

use std::collections::BTreeMap;

use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlags, Signature, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module};
use saltus_eval::Reached;
use saltus_flat::BaseType;

use super::memory::Kind;
use crate::{Jit, JitError, JitOptions};

/// words, result, function
pub type Trampoline = unsafe extern "C" fn(*const u64, *mut u64, *const u8);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Returned {
    Real,
    Int,
    Address,
}

impl Returned {
    pub fn of(base: BaseType) -> Reached<Returned> {
        match base {
            BaseType::Real => Ok(Returned::Real),
            BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_) => Ok(Returned::Int),
            BaseType::String | BaseType::ExternalObject(_) => Ok(Returned::Address),
            _ => Err("a value of this type cannot be returned".to_owned()),
        }
    }
}

type Key = (Vec<Kind>, Option<Returned>);

pub struct Trampolines {
    /// Owns the pages; `None` only while it is dropped.
    module: Option<JITModule>,
    made: BTreeMap<Key, Trampoline>,
}

impl Trampolines {
    pub fn new() -> Result<Trampolines, JitError> {
        let isa = Jit::new(JitOptions::default())?.isa;
        let builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        Ok(Trampolines { module: Some(JITModule::new(builder)), made: BTreeMap::new() })
    }

    pub fn get(&mut self, kinds: &[Kind], returned: Option<Returned>) -> Result<Trampoline, JitError> {
        let key = (kinds.to_vec(), returned);
        if let Some(&made) = self.made.get(&key) {
            return Ok(made);
        }
        let number = self.made.len();
        let Some(module) = &mut self.module else { return Err(JitError::Refused("no module".to_owned())) };
        let address = make(module, number, kinds, returned)?;
        // SAFETY: the function was built with this signature, and its pages live as long as the module.
        let trampoline = unsafe { std::mem::transmute::<*const u8, Trampoline>(address) };
        self.made.insert(key, trampoline);
        Ok(trampoline)
    }
}

impl Drop for Trampolines {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the function pointers into the pages are dropped with `self`, and none of them is running.
            unsafe { module.free_memory() };
        }
    }
}

fn make(
    module: &mut JITModule,
    number: usize,
    kinds: &[Kind],
    returned: Option<Returned>,
) -> Result<*const u8, JitError> {
    let pointer = module.target_config().pointer_type();
    let mut foreign = module.make_signature();
    foreign.params.extend(kinds.iter().map(|kind| AbiParam::new(argument_type(*kind))));
    foreign.returns.extend(returned.map(|returned| AbiParam::new(result_type(returned))));
    let mut own = Signature::new(foreign.call_conv);
    own.params.extend([AbiParam::new(pointer); 3]);

    let mut context = module.make_context();
    context.func.signature = own.clone();
    let mut builders = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut builders);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let (words, result, function) = match builder.block_params(block) {
        &[words, result, function] => (words, result, function),
        _ => return Err(JitError::NotInOrder),
    };
    let mut arguments = Vec::with_capacity(kinds.len());
    for (i, kind) in kinds.iter().enumerate() {
        let offset = i32::try_from(8 * i).map_err(|_| JitError::TooLarge)?;
        arguments.push(builder.ins().load(argument_type(*kind), MemFlags::trusted(), words, offset));
    }
    let signature = builder.import_signature(foreign);
    let call = builder.ins().call_indirect(signature, function, &arguments);
    if let (Some(returned), Some(&value)) = (returned, builder.inst_results(call).first()) {
        let value = if returned == Returned::Int { builder.ins().sextend(types::I64, value) } else { value };
        builder.ins().store(MemFlags::trusted(), value, result, 0);
    }
    builder.ins().return_(&[]);
    builder.finalize();

    let name = format!("trampoline_{number}");
    let id = module.declare_function(&name, Linkage::Export, &own).map_err(JitError::from_module)?;
    module.define_function(id, &mut context).map_err(JitError::from_module)?;
    module.finalize_definitions().map_err(JitError::from_module)?;
    Ok(module.get_finalized_function(id))
}

fn argument_type(kind: Kind) -> types::Type {
    match kind {
        Kind::Real => types::F64,
        Kind::Word => types::I64,
    }
}

fn result_type(returned: Returned) -> types::Type {
    match returned {
        Returned::Real => types::F64,
        Returned::Int => types::I32,
        Returned::Address => types::I64,
    }
}
