//! Machine code of procedures: compiled when asked for, with all that they call. Besides [`crate::machine_code`] the only
//! module with `unsafe` operations.
//!
//! Why this is sound:
//! - A function has the signature [`NativeProcedure`]: it was built with it ([`crate::procedure`]).
//! - It reads and writes its frame and those of what it calls, at offsets that [`procedure::is_sound`] compared with their
//!   lengths or that are compared when it runs. The frames follow each other; since no procedure calls itself, not even
//!   through others, they need a known number of places, which [`NativeProcedures::run`] provides.
//! - It reads the table of constants in the same way; the table only grows.
//! - It calls other functions of its module or of earlier ones, wrappers of elementary functions and [`copy`], none of which unwinds.
//! - All pages live as long as the [`MachineProcedures`] that has the function pointers; nothing hands these out, but to the thread
//!   that compiles the next pages, which does not call them.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};
use saltus_runtime::native::procedure::{MOST_WORK, NativeProcedures, Op, Procedure, Progress, Trouble};

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
    /// What the run itself has compiled.
    own: Option<Pages>,
    /// What was compiled beside it. Functions of later pages call those of earlier ones.
    beside: Vec<Pages>,
    /// By procedure, functions that later pages may call.
    functions: HashMap<usize, NativeProcedure>,
    /// By procedure, those that were asked for; `None` for those that cannot be compiled.
    entries: HashMap<usize, Option<Entry>>,
    /// What is being compiled beside the run.
    batch: Option<Batch>,
    /// Procedures for the next batch.
    waiting: Vec<usize>,
    /// Shared with the model.
    compile_time: CompileTime,
}

struct Pages {
    /// Owns the pages; `None` only while it is dropped.
    module: Option<JITModule>,
    imports: Imports,
    context: Context,
    builder: FunctionBuilderContext,
    /// By procedure, those that were declared; all are defined, here or in earlier pages.
    functions: HashMap<usize, FuncId>,
}

struct Entry {
    function: NativeProcedure,
    n_places: usize,
    n_constants: usize,
}

/// Procedures that are compiled together, beside the run. Dropped, they are not wanted any more.
struct Batch {
    procedures: Vec<usize>,
    result: Receiver<Result<Made, JitError>>,
    _wanted: Arc<()>,
}

struct Made {
    pages: Pages,
    entries: Vec<(usize, Option<Entry>)>,
    /// By procedure, in these pages and earlier ones.
    functions: HashMap<usize, NativeProcedure>,
}

impl MachineProcedures {
    pub fn new(jit: &Jit, compile_time: CompileTime) -> Self {
        MachineProcedures {
            jit: jit.clone(),
            own: None,
            beside: Vec::new(),
            functions: HashMap::new(),
            entries: HashMap::new(),
            batch: None,
            waiting: Vec::new(),
            compile_time,
        }
    }

    /// Has the procedures that wait compiled while the run goes on, with copies of all that they call; false if no core is free.
    fn start_beside(&mut self, all: &[Procedure], constants: &[f64]) -> bool {
        let Some(background) = &self.jit.background else { return false };
        let procedures = self.waiting.clone();
        let mut copies = vec![Procedure::default(); all.len()];
        let mut known = HashMap::new();
        let mut calls = Calls::default();
        for &first in &procedures {
            calls.add(all, first, MOST_CALLS);
        }
        for k in calls.order {
            copies[k].clone_from(&all[k]);
            known.extend(self.functions.get(&k).map(|&function| (k, function)));
        }
        let (sender, result) = channel();
        let wanted = Arc::new(());
        let (isa, constants, firsts, is_wanted) =
            (self.jit.isa.clone(), constants.to_vec(), procedures.clone(), Arc::downgrade(&wanted));
        let work = move || {
            let make = || {
                let mut pages = Pages::new(&isa, &known)?;
                let mut functions = known;
                let mut entries = Vec::new();
                for first in firsts {
                    if is_wanted.strong_count() == 0 {
                        return Err(JitError::NotWanted);
                    }
                    entries.push((first, pages.compile_all(&copies, &constants, first, &mut functions)));
                }
                Ok(Made { pages, entries, functions })
            };
            // Nobody may be waiting any more.
            let _ = sender.send(make());
        };
        let is_started = background.run(Box::new(work)).is_ok();
        if is_started {
            self.waiting.clear();
            self.batch = Some(Batch { procedures, result, _wanted: wanted });
        }
        is_started
    }

    /// Takes over what has been compiled beside the run; false while that is going on.
    fn fetch(&mut self) -> bool {
        let Some(batch) = &self.batch else { return true };
        match batch.result.try_recv() {
            Ok(Ok(Made { pages, entries, functions })) => {
                self.beside.push(pages);
                self.entries.extend(entries);
                self.functions.extend(functions);
            }
            Ok(Err(_)) | Err(TryRecvError::Disconnected) => {
                self.entries.extend(batch.procedures.iter().map(|&first| (first, None)));
            }
            Err(TryRecvError::Empty) => return false,
        }
        self.batch = None;
        true
    }

    /// Begins with what waits, unless something is being compiled.
    fn go_on(&mut self, all: &[Procedure], constants: &[f64]) {
        if !self.fetch() || self.waiting.is_empty() || self.start_beside(all, constants) {
            return;
        }
        for first in std::mem::take(&mut self.waiting) {
            let entry = self.compile_here(all, constants, first);
            self.entries.insert(first, entry);
        }
    }

    fn compile_here(&mut self, all: &[Procedure], constants: &[f64], first: usize) -> Option<Entry> {
        let make = || {
            if self.own.is_none() {
                self.own = Pages::new(&self.jit.isa, &HashMap::new()).ok();
            }
            self.own.as_mut()?.compile_all(all, constants, first, &mut self.functions)
        };
        self.compile_time.measure(&self.jit.stopwatch, make)
    }

    fn progress_of(&self, first: usize) -> Progress {
        match self.entries.get(&first) {
            Some(Some(_)) => Progress::Ready,
            Some(None) => Progress::Impossible,
            None => Progress::NotYet,
        }
    }
}

impl Pages {
    /// Pages for functions that may call those of earlier pages.
    fn new(isa: &OwnedTargetIsa, earlier: &HashMap<usize, NativeProcedure>) -> Result<Self, JitError> {
        let name = |k: &usize| format!("procedure {k}");
        let mut builder = JITBuilder::with_isa(isa.clone(), cranelift_module::default_libcall_names());
        Elementary::add_symbols(&mut builder);
        builder.symbols(HELPERS.iter().map(|h| (h.0, h.1)));
        builder.symbol(COPY, copy as *const u8);
        builder.symbols(earlier.iter().map(|(k, &function)| (name(k), function as *const u8)));
        let mut module = JITModule::new(builder);
        let elementary = Elementary::declare(&mut module)?;
        let float = AbiParam::new(types::F64);
        let helpers = HELPERS.iter().map(|h| declare_import(&mut module, h.0, vec![float; h.2], types::F64));
        let helpers = helpers.collect::<Result<_, _>>()?;
        let (copy, parameters, result) = copy_signature();
        let copy = declare_import(&mut module, copy, parameters, result)?;
        let signature = signature(module.isa().default_call_conv());
        let declare = |k: &usize| {
            let id = module.declare_function(&name(k), Linkage::Import, &signature);
            Ok((*k, id.map_err(JitError::from_module)?))
        };
        let functions = earlier.keys().map(declare).collect::<Result<_, JitError>>()?;
        Ok(Pages {
            imports: Imports { elementary, helpers, copy },
            context: module.make_context(),
            module: Some(module),
            builder: FunctionBuilderContext::new(),
            functions,
        })
    }

    /// Adds what it defines to the functions that later pages may call.
    fn compile_all(
        &mut self,
        all: &[Procedure],
        constants: &[f64],
        first: usize,
        known: &mut HashMap<usize, NativeProcedure>,
    ) -> Option<Entry> {
        let mut calls = Calls::default();
        let n_places = calls.add(all, first, MOST_CALLS).filter(|&n| n < MOST_PLACES)?;
        let is_fit = |p: &Procedure| p.code.len() <= MOST_INSTRUCTIONS && procedure::is_sound(p, all, constants.len());
        if !calls.order.iter().all(|&k| is_fit(&all[k])) {
            return None;
        }
        let module = self.module.as_mut()?;
        let signature = signature(module.isa().default_call_conv());
        let mut defined = Vec::new();
        // What is called comes before what calls it.
        for k in calls.order {
            if self.functions.contains_key(&k) {
                continue;
            }
            let id = module.declare_anonymous_function(&signature).ok()?;
            let function = &mut self.context.func;
            let (of, functions) = ((&all[k], all), &self.functions);
            Writer::new(function, &mut self.builder, module, &self.imports, of, constants, functions).write();
            let outcome = module.define_function(id, &mut self.context);
            module.clear_context(&mut self.context);
            outcome.ok()?;
            self.functions.insert(k, id);
            defined.push((k, id));
        }
        module.finalize_definitions().ok()?;
        let address = |id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function was built with this signature.
            unsafe { std::mem::transmute::<*const u8, NativeProcedure>(address) }
        };
        known.extend(defined.into_iter().map(|(k, id)| (k, address(id))));
        // It may be one of earlier pages.
        let function = *known.get(&first)?;
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
    fn compile(&mut self, procedures: &[Procedure], constants: &[f64], first: usize) -> Progress {
        self.waiting.push(first);
        self.go_on(procedures, constants);
        self.progress_of(first)
    }

    fn progress(&mut self, procedures: &[Procedure], constants: &[f64], first: usize) -> Progress {
        self.go_on(procedures, constants);
        self.progress_of(first)
    }

    fn run(&self, first: usize, constants: &[f64], stack: &mut Vec<f64>) -> Result<(), Trouble> {
        let entry = self.entries.get(&first).and_then(Option::as_ref);
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
