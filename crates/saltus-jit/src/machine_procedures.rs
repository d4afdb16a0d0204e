//! Machine code of procedures: compiled when asked for, with all that they call. Besides [`crate::machine_code`] the only
//! module with `unsafe` operations.
//!
//! Why this is sound:
//! - A function has the signature [`NativeProcedure`]: it was built with it ([`crate::procedure`]).
//! - It reads and writes its frame and those of what it calls, at offsets that [`procedure::is_sound`] compared with their
//!   lengths or that are compared when it runs. The frames follow each other; since no procedure calls itself, not even
//!   through others, they need a known number of places, which [`NativeProcedures::run`] provides.
//! - It reads the table of constants in the same way; the table only grows.
//! - It calls other functions of its module, wrappers of elementary functions and [`copy`], none of which unwinds.
//! - The pages live as long as the [`Pages`] that own the function pointers; nothing hands these out.

#![allow(unsafe_code)]

use std::collections::HashMap;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, types};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module};
use saltus_runtime::native::procedure::{MOST_WORK, NativeProcedures, Op, Procedure, Trouble};

use crate::arithmetic::{Elementary, declare_import, signature};
use crate::model::CompileTime;
use crate::procedure::{self, FAILURE, Imports, Writer, copy_signature};
use crate::procedure_helpers::{COPY, HELPERS};
use crate::{Jit, JitError};

/// frame, constants, work left ⇒ status
type NativeProcedure = unsafe extern "C" fn(*mut f64, *const f64, *mut u64) -> u32;

/// Calls inside of calls.
const MOST_CALLS: usize = 100;
/// Compile time grows faster than the length of a function.
const MOST_INSTRUCTIONS: usize = 20_000;
/// Places of all frames.
const MOST_PLACES: usize = 1 << 24;

/// Machine code is made room for when the first procedure is compiled.
pub(crate) struct MachineProcedures {
    jit: Jit,
    pages: Option<Pages>,
    /// Shared with the model.
    compile_time: CompileTime,
}

struct Pages {
    /// Owns the pages; `None` only while it is dropped.
    module: Option<JITModule>,
    imports: Imports,
    context: Context,
    builder: FunctionBuilderContext,
    /// By procedure, those that were declared; all are defined.
    functions: HashMap<usize, FuncId>,
    /// By procedure, those that were asked for, with the places they need and the constants they may read.
    entries: HashMap<usize, Entry>,
}

struct Entry {
    function: NativeProcedure,
    n_places: usize,
    n_constants: usize,
}

impl MachineProcedures {
    pub fn new(jit: &Jit, compile_time: CompileTime) -> Self {
        MachineProcedures { jit: jit.clone(), pages: None, compile_time }
    }
}

impl Pages {
    fn new(jit: &Jit) -> Result<Self, JitError> {
        let mut builder = JITBuilder::with_isa(jit.isa.clone(), cranelift_module::default_libcall_names());
        Elementary::add_symbols(&mut builder);
        builder.symbols(HELPERS.iter().map(|h| (h.0, h.1)));
        builder.symbol(COPY, copy as *const u8);
        let mut module = JITModule::new(builder);
        let elementary = Elementary::declare(&mut module)?;
        let float = AbiParam::new(types::F64);
        let helpers = HELPERS.iter().map(|h| declare_import(&mut module, h.0, vec![float; h.2], types::F64));
        let helpers = helpers.collect::<Result<_, _>>()?;
        let (name, parameters, result) = copy_signature();
        let copy = declare_import(&mut module, name, parameters, result)?;
        Ok(Pages {
            imports: Imports { elementary, helpers, copy },
            context: module.make_context(),
            module: Some(module),
            builder: FunctionBuilderContext::new(),
            functions: HashMap::new(),
            entries: HashMap::new(),
        })
    }

    fn compile_all(&mut self, all: &[Procedure], constants: &[f64], first: usize) -> Option<Entry> {
        let mut calls = Calls::default();
        let n_places = calls.add(all, first, MOST_CALLS).filter(|&n| n < MOST_PLACES)?;
        let is_fit = |p: &Procedure| p.code.len() <= MOST_INSTRUCTIONS && procedure::is_sound(p, all, constants.len());
        if !calls.order.iter().all(|&k| is_fit(&all[k])) {
            return None;
        }
        let module = self.module.as_mut()?;
        let signature = signature(module.isa().default_call_conv());
        // What is called comes before what calls it.
        for k in calls.order {
            if self.functions.contains_key(&k) {
                continue;
            }
            let id = module.declare_anonymous_function(&signature).ok()?;
            let function = &mut self.context.func;
            let (of, functions) = ((&all[k], all), &self.functions);
            Writer::new(function, &mut self.builder, module, &self.imports, of, constants, functions).write();
            let defined = module.define_function(id, &mut self.context);
            module.clear_context(&mut self.context);
            defined.ok()?;
            self.functions.insert(k, id);
        }
        module.finalize_definitions().ok()?;
        let address = module.get_finalized_function(*self.functions.get(&first)?);
        // SAFETY: the function was built with this signature.
        let function = unsafe { std::mem::transmute::<*const u8, NativeProcedure>(address) };
        Some(Entry { function, n_places, n_constants: constants.len() })
    }
}

/// What a procedure calls, directly and indirectly.
#[derive(Default)]
struct Calls {
    /// Each behind those that it calls.
    order: Vec<usize>,
    /// Places that the frames of a procedure and all it calls need; `None` while that is being found out.
    places: HashMap<usize, Option<usize>>,
}

impl Calls {
    /// The places for procedure `k`, or `None` if one calls itself or there are too many calls inside of calls.
    fn add(&mut self, all: &[Procedure], k: usize, most_calls: usize) -> Option<usize> {
        if let Some(places) = self.places.get(&k) {
            return *places;
        }
        let (procedure, left) = (all.get(k)?, most_calls.checked_sub(1)?);
        self.places.insert(k, None);
        let mut deepest = 0;
        for i in procedure.code.iter().filter(|i| i.op == Op::Call) {
            let called = procedure.calls.get(i.n as usize)?.procedure;
            deepest = deepest.max(self.add(all, called, left)?);
        }
        let places = procedure.frame as usize + deepest;
        self.places.insert(k, Some(places));
        self.order.push(k);
        Some(places)
    }
}

impl NativeProcedures for MachineProcedures {
    fn compile(&mut self, procedures: &[Procedure], constants: &[f64], first: usize) -> bool {
        if self.pages.is_none() {
            self.pages = Pages::new(&self.jit).ok();
        }
        let Some(pages) = &mut self.pages else { return false };
        let make = || pages.compile_all(procedures, constants, first);
        let entry = self.compile_time.measure(&self.jit.stopwatch, make);
        entry.map(|entry| pages.entries.insert(first, entry)).is_some()
    }

    fn run(&self, first: usize, constants: &[f64], stack: &mut Vec<f64>) -> Result<(), Trouble> {
        let entry = self.pages.as_ref().and_then(|pages| pages.entries.get(&first));
        let entry = entry.filter(|e| e.n_constants <= constants.len()).ok_or(Trouble::Unclear)?;
        if stack.len() < entry.n_places {
            stack.resize(entry.n_places, 0.0);
        }
        let mut left = MOST_WORK;
        // SAFETY: both tables are as long as the function needs, and nothing else uses them meanwhile.
        match unsafe { (entry.function)(stack.as_mut_ptr(), constants.as_ptr(), &raw mut left) } {
            0 => Ok(()),
            FAILURE => Err(Trouble::Failure),
            _ => Err(Trouble::Unclear),
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the function pointers into the pages are dropped with `self`, and none of them is running.
            unsafe { module.free_memory() };
        }
    }
}

/// Copies `n` scalars between places that may overlap.
///
/// # Safety
/// Both places are valid for `n` scalars.
unsafe extern "C" fn copy(to: *mut f64, from: *const f64, n: u64) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { std::ptr::copy(from, to, n as usize) };
    0
}
