//! Machine code that another thread makes while the run goes on.
//!
//! ```text
//! run:      interpret … a section is worth machine code ┬ interpret … interpret ┬ machine code …
//! beside:                                               └ find loops, compile ──┘
//! ```
//!
//! Both ways of evaluation have the same results, so it does not matter to a run when the code arrives. This crate starts no thread: who makes a [`Jit`](crate::Jit) says
//! how work is run ([`Background`]).

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Weak};

use cranelift_codegen::isa::OwnedTargetIsa;
use saltus_program::{Activation, SimProgram};
use saltus_runtime::native::NativeSection;

use crate::{JitError, JitOptions, runs, section};

pub type Work = Box<dyn FnOnce() + Send>;

/// Runs work beside the thread that asks for it.
pub trait Background: Send + Sync {
    /// Gives the work back if there is no room for it.
    fn run(&self, work: Work) -> Result<(), Work>;
}

/// Machine code on its way. Dropped, it is not wanted any more, and making it ends soon.
pub(crate) struct Pending {
    pub activation: Activation,
    result: Receiver<Result<NativeSection, JitError>>,
    _wanted: Arc<()>,
}

/// What has become of it.
pub(crate) enum Progress {
    NotYet,
    Done(NativeSection),
    /// The section stays interpreted.
    Impossible,
}

impl Pending {
    /// Has a section compiled; `None` if there is no room for that.
    pub fn start(
        background: &dyn Background,
        program: &Arc<SimProgram>,
        activation: Activation,
        isa: &OwnedTargetIsa,
        options: JitOptions,
    ) -> Option<Pending> {
        let (sender, result) = channel();
        let wanted = Arc::new(());
        let (is_wanted, program, isa) = (Arc::downgrade(&wanted), program.clone(), isa.clone());
        let work = move || {
            // Nobody may be waiting any more.
            let _ = sender.send(compile(&program, activation, &isa, options, is_wanted));
        };
        background.run(Box::new(work)).ok()?;
        Some(Pending { activation, result, _wanted: wanted })
    }

    pub fn progress(&self) -> Progress {
        match self.result.try_recv() {
            Ok(Ok(section)) => Progress::Done(section),
            Ok(Err(_)) | Err(TryRecvError::Disconnected) => Progress::Impossible,
            Err(TryRecvError::Empty) => Progress::NotYet,
        }
    }
}

fn compile(
    program: &SimProgram,
    activation: Activation,
    isa: &OwnedTargetIsa,
    options: JitOptions,
    wanted: Weak<()>,
) -> Result<NativeSection, JitError> {
    let section = program.section(activation).ok_or(JitError::NotWanted)?;
    let stretches = runs::find(section, program.memory.slots.len());
    section::compile(program, section, stretches, isa, options, Some(wanted))
}

#[cfg(test)]
mod tests {
    use saltus_base::Span;
    use saltus_program::{Assign, Block, Code, Op, Slot, SlotKind, SlotType, ValueId};

    use super::*;

    /// y = 1
    fn constant() -> SimProgram {
        let mut program = SimProgram::empty("M");
        let slot = Slot::new(SlotKind::Algebraic, SlotType::Real);
        let y = program.memory.slots.push("y", slot);
        let code = Code { ops: vec![Op::Const(1.0)], ..Code::default() };
        let assign = Assign { code, stores: vec![(ValueId(0), y)], span: Span::nowhere() };
        program.sections.derivatives.blocks.push(Block::Assign(assign));
        program
    }

    #[test]
    fn code_that_nobody_waits_for_is_not_made() {
        let isa = crate::Jit::new(JitOptions::default()).unwrap().isa;
        let wanted = Arc::new(());
        let make = |wanted| compile(&constant(), Activation::Derivatives, &isa, JitOptions::default(), wanted).err();
        assert_eq!(make(Arc::downgrade(&wanted)), None);
        assert_eq!(make(Weak::new()), Some(JitError::NotWanted));
    }
}
