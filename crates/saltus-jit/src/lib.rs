//! Compiles simulation programs to machine code with Cranelift.
//!
//! In: a [`SimProgram`]. Out: a [`CompiledModel`], which implements [`ModelFunctions`] with the same results as the
//! [`Interpreter`], bit for bit (of a NaN: that it is one).
//!
//! ```text
//! der(x) := v; der(v) := -k * x / m         one function: memory, scratch, context ⇒ status
//! loop {i, u}                         ⇒     a function that writes the residuals, one for the Jacobian; solved by the
//!                                           solver of the interpreter, unless it is linear and small
//! f[i] := c * (x[i] - x[i + 1]), …          a loop over all `i`, in vectors
//! parameters, initial system                interpreted: they run once
//! y := f(x)                                 a function for `f`, if it is called often: frame, constants ⇒ status
//! ```
//!
//! [`layout`] decides what goes where, [`lower`] writes operations as instructions, [`section`] puts blocks together,
//! those that [`runs`] finds alike as loops by [`run_loops`], and [`machine_code`] holds the result. [`procedure`] writes the functions of the model and [`machine_procedures`] holds
//! them; both use [`arithmetic`]. [`foreign`] calls shared libraries of the user through machine code made for their
//! signatures. It and the two holders are the only modules with `unsafe` operations.

mod arithmetic;
mod background;
mod copies;
mod elementary;
mod foreign;
mod layout;
mod lower;
mod machine_code;
mod machine_procedures;
mod model;
mod procedure;
mod procedure_helpers;
#[cfg(test)]
mod procedure_tests;
mod run_loops;
mod runs;
mod section;
mod small_loops;

use std::fmt;
use std::sync::Arc;

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable, Flags};
use cranelift_module::ModuleError;
use saltus_program::{SimProgram, Stopwatch};

pub use background::{Background, Work};
pub use foreign::{ForeignFunctions, Said};
pub use model::CompiledModel;

#[cfg(doc)]
use saltus_program::ModelFunctions;
#[cfg(doc)]
use saltus_runtime::Interpreter;

/// Sizes of what is compiled. The defaults were measured with `examples/chain.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JitOptions {
    /// Most operations of consecutive blocks in one function.
    pub chunk_operations: usize,
    /// Most operations of a function into which the code of a single block is cut.
    pub piece_operations: usize,
    /// Most results and stores of a loop that one function writes.
    pub ending_values: usize,
    /// Most values that are computed before they are checked and stored.
    pub group_stores: usize,
    /// Let Cranelift optimise, too: common subexpressions and constants. Programs share these already; it takes twice as
    /// long to compile and, measured, gains nothing.
    pub is_optimising: bool,
}

impl Default for JitOptions {
    fn default() -> Self {
        JitOptions {
            chunk_operations: 1_000,
            piece_operations: 1_500,
            ending_values: 128,
            group_stores: 8,
            is_optimising: false,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JitError {
    /// There is no code generator for this processor.
    NoTarget(String),
    /// More slots than machine code can address.
    TooLarge,
    /// An operation uses one that does not come before it.
    NotInOrder,
    /// The code generator refused.
    Refused(String),
    /// Nobody waits for the code any more.
    NotWanted,
}

impl JitError {
    pub(crate) fn from_module(error: ModuleError) -> Self {
        JitError::Refused(error.to_string())
    }
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            JitError::NoTarget(why) => write!(f, "no machine code for this processor: {why}"),
            JitError::TooLarge => write!(f, "more variables than machine code can address"),
            JitError::NotInOrder => write!(f, "an operation uses one that does not come before it"),
            JitError::NotWanted => write!(f, "the machine code is not wanted any more"),
            JitError::Refused(why) => write!(f, "the code generator refused: {why}"),
        }
    }
}

impl std::error::Error for JitError {}

/// A code generator for this machine.
#[derive(Clone)]
pub struct Jit {
    isa: OwnedTargetIsa,
    options: JitOptions,
    stopwatch: Stopwatch,
    background: Option<Arc<dyn Background>>,
}

impl Jit {
    pub fn new(options: JitOptions) -> Result<Self, JitError> {
        let no_target = |why: &dyn fmt::Display| JitError::NoTarget(why.to_string());
        let mut flags = settings::builder();
        let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
        let opt_level = if options.is_optimising { "speed" } else { "none" };
        let chosen = [
            ("opt_level", opt_level),
            ("enable_verifier", verifier),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("unwind_info", "false"),
            ("enable_probestack", "false"),
        ];
        for (name, value) in chosen {
            flags.set(name, value).map_err(|e| no_target(&e))?;
        }
        let builder = cranelift_native::builder().map_err(|e| no_target(&e))?;
        let isa = builder.finish(Flags::new(flags)).map_err(|e| no_target(&e))?;
        Ok(Jit { isa, options, stopwatch: Stopwatch::default(), background: None })
    }

    /// Measures the time that compiling takes.
    pub fn with_stopwatch(self, stopwatch: Stopwatch) -> Self {
        Jit { stopwatch, ..self }
    }

    /// Sections that are found to be worth machine code are compiled beside the run, where there is room for that.
    pub fn with_background(self, background: Arc<dyn Background>) -> Self {
        Jit { background: Some(background), ..self }
    }

    /// Compiles what runs often: derivatives, crossing functions, outputs and events.
    pub fn compile(program: Arc<SimProgram>) -> Result<CompiledModel, JitError> {
        Jit::new(JitOptions::default())?.compile_program(program)
    }

    /// Compiles each section when it has been interpreted so often that compiling it pays.
    pub fn compile_when_hot(program: Arc<SimProgram>) -> Result<CompiledModel, JitError> {
        Ok(Jit::new(JitOptions::default())?.watch_program(program))
    }

    /// [`Jit::compile_when_hot`] with other options.
    pub fn watch_program(&self, program: Arc<SimProgram>) -> CompiledModel {
        let mut model = CompiledModel::new(program, self.clone());
        model.watch();
        model
    }

    /// [`Jit::compile`] with other options.
    pub fn compile_program(&self, program: Arc<SimProgram>) -> Result<CompiledModel, JitError> {
        let mut model = CompiledModel::new(program, self.clone());
        for activation in model::COMPILED {
            model.compile(activation)?;
        }
        Ok(model)
    }
}
