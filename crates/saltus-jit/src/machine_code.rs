//! Machine code in memory and the way into it and out of it, with `unsafe` operations.
//!
//! In: functions that Cranelift has compiled ([`Unit`]s of them) and the places where they call back ([`Site`]s). Out: a
//! [`NativeCode`] that is safe to use.
//!
//! Why this is sound:
//! - A function has the signature [`NativeFunction`]: it was built with it ([`crate::lower`]), for the host's instruction
//!   set and calling convention.
//! - A function reads and writes `memory[..n_slots]` and `scratch[..n_scratch]` only, at constant offsets, or in loops at
//!   the slots of blocks. The compiler compared these ([`crate::lower`], [`crate::runs`]) with both lengths, which
//!   [`MachineCode::run`] compares with those of the slices before it enters.
//! - It reads its constants from its own pages, and calls nothing but the wrappers of [`crate::elementary`] and
//!   [`make_call`], which do not unwind: a panic is caught and goes on after the machine code has returned.
//! - The pages live as long as the `MachineCode` that owns the function pointers; nothing hands these out.

#![allow(unsafe_code)]

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use saltus_runtime::native::{CallSite, Calls, NativeCode, UnitId};

/// memory, scratch, context ⇒ status
type NativeFunction = unsafe extern "C" fn(*mut f64, *mut f64, *mut Context<'_, '_>) -> u32;

/// Name under which machine code knows [`make_call`].
pub(crate) const MAKE_CALL: &str = "saltus_make_call";

/// Asks whether no call of the unit has failed, instead of making one.
pub(crate) const NO_SITE: u32 = u32::MAX;

/// Functions that are called one after the other until one returns something else than 0.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub functions: Range<usize>,
    pub n_scratch: usize,
}

/// A call with the places of its scalars in the scratch memory of its unit.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub call: CallSite,
    pub arguments: Range<usize>,
    pub results: Range<usize>,
}

pub(crate) struct MachineCode {
    /// Owns the pages; `None` only while it is dropped. The lock lets several threads enter the functions, which do not change.
    module: Mutex<Option<JITModule>>,
    functions: Vec<NativeFunction>,
    units: Vec<Unit>,
    sites: Vec<Site>,
    n_slots: usize,
}

/// What [`make_call`] needs, on the stack of [`MachineCode::run`].
struct Context<'r, 'm> {
    calls: &'r mut Calls<'m>,
    sites: &'r [Site],
    memory: *const f64,
    n_memory: usize,
    scratch: *mut f64,
    n_scratch: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl MachineCode {
    /// `ids` are functions of `module` of the signature [`NativeFunction`], all finalised; the offsets in them keep within
    /// `n_slots` and the `n_scratch` of their unit.
    pub fn new(module: JITModule, ids: &[FuncId], units: Vec<Unit>, sites: Vec<Site>, n_slots: usize) -> Self {
        let address = |id: &FuncId| {
            let address = module.get_finalized_function(*id);
            // SAFETY: the function was built with this signature (see `crate::arithmetic::signature`).
            unsafe { std::mem::transmute::<*const u8, NativeFunction>(address) }
        };
        let functions = ids.iter().map(address).collect();
        MachineCode { module: Mutex::new(Some(module)), functions, units, sites, n_slots }
    }

    /// Address under which machine code finds [`make_call`].
    pub fn make_call_address() -> *const u8 {
        make_call as *const u8
    }
}

impl NativeCode for MachineCode {
    fn run(&self, unit: UnitId, memory: &mut [f64], scratch: &mut Vec<f64>, calls: &mut Calls) -> u32 {
        let unit = &self.units[unit.0 as usize];
        if scratch.len() < unit.n_scratch {
            scratch.resize(unit.n_scratch, 0.0);
        }
        assert!(memory.len() >= self.n_slots, "the memory of an instance has a place for each slot");
        let (n_memory, n_scratch) = (memory.len(), scratch.len());
        let (memory, scratch) = (memory.as_mut_ptr(), scratch.as_mut_ptr());
        let mut context = Context { calls, sites: &self.sites, memory, n_memory, scratch, n_scratch, panic: None };
        let mut status = 0;
        for function in &self.functions[unit.functions.clone()] {
            // SAFETY: both pointers are valid for the lengths compared above, and nothing else uses the slices meanwhile.
            status = unsafe { function(memory, scratch, &raw mut context) };
            if status != 0 {
                break;
            }
        }
        if let Some(panic) = context.panic {
            resume_unwind(panic);
        }
        status
    }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        let module = self.module.get_mut().map(Option::take);
        if let Ok(Some(module)) = module {
            // SAFETY: the function pointers into the pages are dropped with `self`, and none of them is running.
            unsafe { module.free_memory() };
        }
    }
}

/// Makes the call at a site if its conditions hold (`holds` is not 0); 0 if it or one before it in the same code failed.
///
/// # Safety
/// `context` is the one that [`MachineCode::run`] passed to the machine code that calls this.
unsafe extern "C" fn make_call(context: *mut Context<'_, '_>, site: u32, holds: u32) -> u32 {
    // SAFETY: the context outlives the machine code, which uses it for nothing but this call.
    let context = unsafe { &mut *context };
    let made = catch_unwind(AssertUnwindSafe(|| {
        if site == NO_SITE {
            return !context.calls.has_failed();
        }
        let site = &context.sites[site as usize];
        // SAFETY: the pointers of `run` with their lengths; the machine code waits for this call to return.
        let (memory, scratch) = unsafe {
            (
                std::slice::from_raw_parts(context.memory, context.n_memory),
                std::slice::from_raw_parts_mut(context.scratch, context.n_scratch),
            )
        };
        let (arguments, results) = scratch.split_at_mut(site.results.start);
        let n_results = site.results.len();
        let arguments = &arguments[site.arguments.clone()];
        context.calls.make(&site.call, holds != 0, arguments, memory, &mut results[..n_results])
    }));
    match made {
        Ok(is_ok) => u32::from(is_ok),
        Err(panic) => {
            context.panic = Some(panic);
            0
        }
    }
}
