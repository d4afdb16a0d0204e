//! Where machine code takes the place of interpretation.
//!
//! ```text
//! section:   a := …   b := …   loop {x, y}   c := …
//! steps:     Chunk(unit 0: a, b)   Loop(body: unit 1, Jacobian: unit 2)   Chunk(unit 3: c)
//! ```
//!
//! In: a [`NativeCode`], made by a compiler, and a [`NativeSection`] that says which of its units evaluate which blocks.
//! The interpreter keeps what is the same for both: memory, the solution of loops, calls, failures. Whatever goes wrong in
//! a chunk is found out by interpretation: a chunk stops and says from which block on the interpreter has to take over. It
//! may have stored what that block and others behind it compute, but nothing that they load first.

use std::ops::Range;
use std::sync::Arc;

use saltus_base::Span;
use saltus_program::{CallableId, Loop};

use crate::calls::CallHost;

/// Procedures as a compiler sees them.
pub mod procedure {
    pub use crate::procedure::code::{
        At, Binary, CallSite, Instruction, LARGEST_INTEGER, Op, Procedure, Transfer, Unary,
    };
    pub use crate::procedure::run::{MOST_WORK, Stack, Trouble};

    /// How far the machine code for a procedure is.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Progress {
        Ready,
        /// It is being made beside the run.
        NotYet,
        Impossible,
    }

    /// Machine code for procedures.
    pub trait NativeProcedures {
        /// Compiles a procedure and all that it calls, or has that done beside the run.
        fn compile(&mut self, procedures: &[Procedure], constants: &[f64], first: usize) -> Progress;

        /// What has become of a procedure that was not ready yet.
        fn progress(&mut self, procedures: &[Procedure], constants: &[f64], first: usize) -> Progress;

        /// Runs a compiled procedure. Its frame begins with the stack, which grows as necessary; the constants are those
        /// that it was compiled with, and perhaps more.
        fn run(&self, first: usize, constants: &[f64], stack: &mut Vec<f64>) -> Result<(), Trouble>;
    }
}

/// A piece of machine code that is called as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitId(pub u32);

/// Machine code for parts of one program.
pub trait NativeCode {
    /// Evaluates a unit on memory. `scratch` is for the unit alone; it grows as necessary.
    ///
    /// | unit | leaves in `scratch`, from 0 | result |
    /// |---|---|---|
    /// | chunk | nothing | 0, or 1 + the number of the block from which on it does not count |
    /// | body of a loop | residuals | 0 if all residuals are finite and all stored values numbers, 1 otherwise or if that is not certain |
    /// | Jacobian | values of its entries | 0 |
    ///
    /// The body of a loop stores in any case.
    fn run(&self, unit: UnitId, memory: &mut [f64], scratch: &mut Vec<f64>, calls: &mut Calls) -> u32;
}

/// How the blocks of a section are evaluated, in order.
pub struct NativeSection {
    pub code: Arc<dyn NativeCode + Send + Sync>,
    /// Together these cover all blocks.
    pub steps: Vec<Step>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Consecutive `Assign` blocks, with loops among them that need no solver.
    Chunk { unit: UnitId, blocks: Range<usize>, n_loops: usize },
    /// A `Loop` block; what is not compiled is interpreted.
    Loop { block: usize, units: LoopUnits },
    /// A block for which there is no machine code; not a loop.
    Interpreted { block: usize },
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LoopUnits {
    pub body: Option<UnitId>,
    pub jacobian: Option<UnitId>,
}

/// The units of a loop with their code.
pub struct NativeLoop {
    pub code: Arc<dyn NativeCode + Send + Sync>,
    pub units: LoopUnits,
}

/// Machine code for single loops. A section is evaluated once, yet its loops may take very many evaluations: an initial
/// system for which one start after the other, and one combination of discrete values after the other, is tried.
pub trait NativeLoops {
    /// `None` if that is impossible or not worth it.
    fn compile(&mut self, l: &Loop) -> Option<NativeLoop>;
}

/// A call in machine code.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSite {
    pub callable: CallableId,
    /// Position in the calls of its code.
    pub number: u32,
    /// Calls that the code has.
    pub n_calls: usize,
    /// The equation.
    pub span: Span,
}

/// Makes the calls of machine code.
pub struct Calls<'m> {
    pub(crate) host: &'m mut CallHost,
}

impl Calls<'_> {
    /// Has a call of the present code failed?
    pub fn has_failed(&self) -> bool {
        self.host.has_failed()
    }

    /// Writes the scalar results; those of a failed call, and of one whose conditions do not hold, are not numbers. False
    /// if this call or one before it in the same code has failed.
    pub fn make(
        &mut self,
        site: &CallSite,
        holds: bool,
        arguments: &[f64],
        memory: &[f64],
        results: &mut [f64],
    ) -> bool {
        if site.number == 0 {
            self.host.begin(site.n_calls);
        }
        if holds {
            self.host.call(site.number, site.callable, &mut arguments.iter().copied(), memory, site.span);
        } else {
            self.host.skip(site.number);
        }
        for (i, result) in results.iter_mut().enumerate() {
            *result = self.host.result(site.number, i as u32);
        }
        !self.host.has_failed()
    }
}
