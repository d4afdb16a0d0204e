//! A compiled model: the interpreter with machine code for the sections that run often.
//!
//! In: a program. Out: [`ModelFunctions`]. Which sections are compiled, and when, does not change the results.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use saltus_base::{Diagnostic, Span};
use saltus_program::{
    Activation, Block, DerivativeStatistics, EvalFailure, Held, InstanceCosts, Loop, LoopStatistics, Message,
    MixedMethod, MixedSolution, ModelFunctions, Section, SimProgram, SlotId, Status, Stop, Stopwatch,
};
use saltus_runtime::native::{NativeLoop, NativeLoops, Step};
use saltus_runtime::tangent::{Evaluator, Kept, Tangents};
use saltus_runtime::{Interpreter, Outside};

use crate::background::{Pending, Progress};
use crate::copies::Copies;
use crate::machine_procedures::MachineProcedures;
use crate::runs::{self, Stretch};
use crate::{Jit, JitError, section};

/// Sections that run often.
pub(crate) const COMPILED: [Activation; 5] =
    [Activation::Derivatives, Activation::Crossings, Activation::Outputs, Activation::Events, Activation::Selection];

/// Evaluations of a section by interpretation that cost as much as compiling it (measured: about 1.5 µs and 6 ns an
/// operation). Compiling then, a simulation takes at most twice as long as if it had been known how long it is.
const HOT: u64 = 250;
/// The same where another core compiles that has nothing else to do: the run need not win back what compiling costs, but a section that is
/// evaluated a few times only shall not keep a core busy.
const HOT_BESIDE: u64 = 25;
/// Evaluations by interpretation that cost as much as finding the loops of a section (measured: about 11 ns an operation). Blocks of a loop need code but
/// once: a rod of ten thousand cells is compiled after a few evaluations, not after [`HOT`] of them.
const SEARCH: u64 = 2;
/// What a section costs to compile however small it is, in operations.
const FIXED_OPERATIONS: u64 = 100;
/// A loop evaluates its equations several times.
const LOOP_EVALUATIONS: u64 = 4;

pub struct CompiledModel {
    /// Sections for which machine code is being made beside the run. Dropped first: whoever waits for the threads waits for what is wanted.
    pending: Vec<Pending>,
    interpreter: Interpreter,
    program: Arc<SimProgram>,
    jit: Jit,
    states: Copies,
    derivatives: Copies,
    /// Sections that are compiled once they have been evaluated often enough.
    watched: Vec<Watched>,
    /// Time for machine code that the run waited for, also for functions.
    compile_time: CompileTime,
    /// Made when derivatives are asked for first.
    tangents: Kept<CompiledModel>,
}

/// A section that is interpreted so far.
struct Watched {
    activation: Activation,
    /// Evaluations until it is looked at again.
    left: u64,
    next: Next,
}

/// What is done with a section that has been evaluated often enough for it.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// Have another core compile it, if one is free.
    Beside,
    /// Find how much of it is loops.
    Search,
    Compile,
}

/// The sum of several times, shared by those who add to it.
#[derive(Clone, Default)]
pub(crate) struct CompileTime(Arc<AtomicU64>);

impl CompileTime {
    /// What `work` returns; the time it takes counts.
    pub fn measure<T>(&self, stopwatch: &Stopwatch, work: impl FnOnce() -> T) -> T {
        let started = stopwatch.now();
        let result = work();
        self.add(stopwatch.since(started));
        result
    }

    fn add(&self, time: Duration) {
        let spent = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(spent, Ordering::Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl CompiledModel {
    pub(crate) fn new(program: Arc<SimProgram>, jit: Jit) -> Self {
        let mut interpreter = Interpreter::new(program.clone());
        let compile_time = CompileTime::default();
        interpreter.set_native_procedures(Box::new(MachineProcedures::new(&jit, compile_time.clone())));
        let loops = MachineLoops { program: program.clone(), jit: jit.clone(), compile_time: compile_time.clone() };
        interpreter.set_native_loops(Box::new(loops));
        CompiledModel {
            pending: Vec::new(),
            interpreter,
            jit,
            states: Copies::new(&mut program.states.iter().map(|s| s.value)),
            derivatives: Copies::new(&mut program.states.iter().map(|s| s.derivative)),
            watched: Vec::new(),
            compile_time,
            program,
            tangents: Kept::default(),
        }
    }

    /// Lets functions read files and have effects.
    pub fn with_outside(mut self, outside: Box<dyn Outside>) -> Self {
        self.interpreter = self.interpreter.with_outside(outside);
        self
    }

    /// Compiles a section now.
    pub fn compile(&mut self, activation: Activation) -> Result<(), JitError> {
        let Some(section) = self.program.section(activation) else { return Ok(()) };
        let stretches = self.stretches(section);
        self.compile_found(activation, stretches)
    }

    /// The loops of a section; the time counts as that of compiling.
    fn stretches(&self, section: &Section) -> Vec<Stretch> {
        let find = || runs::find(section, self.program.memory.slots.len());
        self.compile_time.measure(&self.jit.stopwatch, find)
    }

    fn compile_found(&mut self, activation: Activation, stretches: Vec<Stretch>) -> Result<(), JitError> {
        let Some(section) = self.program.section(activation) else { return Ok(()) };
        let Jit { isa, options, stopwatch, .. } = &self.jit;
        let make = || section::compile(&self.program, section, stretches, isa, *options, None);
        let compiled = self.compile_time.measure(stopwatch, make)?;
        self.interpreter.set_native(activation, compiled);
        Ok(())
    }

    /// Does machine code evaluate this section?
    pub fn is_compiled(&self, activation: Activation) -> bool {
        self.interpreter.is_native(activation)
    }

    pub(crate) fn watch(&mut self) {
        for activation in COMPILED {
            let Some(section) = self.program.section(activation) else { continue };
            let beside = n_evaluations(section, 0, HOT_BESIDE).filter(|_| self.jit.background.is_some());
            let Some((left, next)) = beside.map(|left| (left, Next::Beside)).or_else(|| alone(section)) else {
                continue;
            };
            self.watched.push(Watched { activation, left, next });
        }
    }

    /// Compiles the section if it is time to.
    fn count(&mut self, activation: Activation) {
        let Some(position) = self.watched.iter().position(|w| w.activation == activation) else { return };
        let watched = &mut self.watched[position];
        watched.left = watched.left.saturating_sub(1);
        if watched.left > 0 {
            return;
        }
        let Watched { next, .. } = self.watched.swap_remove(position);
        let program = self.program.clone();
        let Some(section) = program.section(activation) else { return };
        if next == Next::Beside {
            if !self.start_beside(activation)
                && let Some((left, next)) = alone(section)
            {
                self.watched.push(Watched { activation, left, next });
            }
            return;
        }
        let stretches = self.stretches(section);
        if next == Next::Search {
            let n = n_evaluations(section, runs::n_saved(section, &stretches), HOT).unwrap_or(0);
            if let Some(left @ 1..) = n.checked_sub(SEARCH) {
                self.watched.push(Watched { activation, left, next: Next::Compile });
                return;
            }
        }
        // What cannot be compiled stays interpreted, with the same results.
        let _ = self.compile_found(activation, stretches);
    }

    /// Has the section compiled while the run goes on; false if no core is free.
    fn start_beside(&mut self, activation: Activation) -> bool {
        let Jit { isa, options, background: Some(background), .. } = &self.jit else { return false };
        let pending = Pending::start(&**background, &self.program, activation, isa, *options);
        let is_started = pending.is_some();
        self.pending.extend(pending);
        is_started
    }

    /// Machine code for the section is used from when it has been made.
    fn fetch(&mut self, activation: Activation) {
        let Some(position) = self.pending.iter().position(|p| p.activation == activation) else { return };
        match self.pending[position].progress() {
            Progress::NotYet => return,
            Progress::Done(section) => self.interpreter.set_native(activation, section),
            Progress::Impossible => {}
        }
        self.pending.swap_remove(position);
    }
}

/// Machine code of single loops, in sections that are not compiled as a whole.
struct MachineLoops {
    program: Arc<SimProgram>,
    jit: Jit,
    compile_time: CompileTime,
}

impl NativeLoops for MachineLoops {
    fn compile(&mut self, l: &Loop) -> Option<NativeLoop> {
        let alone = Section { blocks: vec![Block::Loop(Arc::new(l.clone()))] };
        let Jit { isa, options, stopwatch, .. } = &self.jit;
        let make = || section::compile(&self.program, &alone, Vec::new(), isa, *options, None);
        let compiled = self.compile_time.measure(stopwatch, make).ok()?;
        // A small linear loop is part of a chunk; it needs no solver and is never hot.
        let units = compiled.steps.iter().find_map(|step| match step {
            Step::Loop { units, .. } => Some(*units),
            Step::Chunk { .. } | Step::Interpreted { .. } => None,
        })?;
        Some(NativeLoop { code: compiled.code, units })
    }
}

/// Evaluations until something is done with a section where the run itself has to do it, and what; `None` if there is nothing to compile.
fn alone(section: &Section) -> Option<(u64, Next)> {
    let whole = n_evaluations(section, 0, HOT)?;
    Some(if section.blocks.len() < runs::SHORTEST { (whole, Next::Compile) } else { (SEARCH, Next::Search) })
}

/// Evaluations after which a section is compiled of which so many operations need no code of their own; `None` if there is nothing to compile.
fn n_evaluations(section: &Section, n_saved: u64, hot: u64) -> Option<u64> {
    let (written, executed) = n_operations(section);
    (hot * (written.saturating_sub(n_saved) + FIXED_OPERATIONS)).checked_div(executed)
}

/// Operations that are compiled and those of an evaluation, roughly.
fn n_operations(section: &Section) -> (u64, u64) {
    let of = |block: &Block| {
        let n: u64 = block.codes().iter().map(|c| c.ops.len() as u64).sum();
        match block {
            Block::Assign(_) => (n, n),
            Block::Loop(_) => (n * LOOP_EVALUATIONS, n * LOOP_EVALUATIONS),
            Block::Repeat(repeat) => (n, n * repeat.n_elements() as u64),
        }
    };
    section.blocks.iter().map(of).fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1))
}

impl Evaluator for CompiledModel {
    fn beside(&self, program: Arc<SimProgram>) -> Self {
        let mut model = CompiledModel::new(program, self.jit.clone());
        model.compile_time = self.compile_time.clone();
        model.interpreter.measure_like(&self.interpreter);
        model.watch();
        model
    }

    fn interpreter(&mut self) -> &mut Interpreter {
        &mut self.interpreter
    }

    fn as_interpreter(&self) -> &Interpreter {
        &self.interpreter
    }
}

impl ModelFunctions for CompiledModel {
    fn program(&self) -> &Arc<SimProgram> {
        &self.program
    }

    fn memory(&self) -> &[f64] {
        self.interpreter.memory()
    }

    fn memory_mut(&mut self) -> &mut [f64] {
        self.interpreter.memory_mut()
    }

    fn program_and_memory(&mut self) -> (&SimProgram, &mut [f64]) {
        (&self.program, self.interpreter.memory_mut())
    }

    fn eval(&mut self, activation: Activation) -> Status {
        if !self.watched.is_empty() {
            self.count(activation);
        }
        if !self.pending.is_empty() {
            self.fetch(activation);
        }
        self.interpreter.eval(activation)
    }

    fn eval_blocks(&mut self, activation: Activation, blocks: &[u32]) -> Status {
        self.interpreter.eval_blocks(activation, blocks)
    }

    fn set_continuous(&mut self, t: f64, x: &[f64]) {
        self.set(self.program.memory.time, t);
        self.states.write(self.interpreter.memory_mut(), x);
    }

    fn get_states(&self, x: &mut [f64]) {
        self.states.read(self.memory(), x);
    }

    fn get_derivatives(&self, dx: &mut [f64]) {
        self.derivatives.read(self.memory(), dx);
    }

    fn save(&self) -> Result<Vec<u8>, Vec<String>> {
        self.interpreter.save()
    }

    fn resume(&mut self, state: &[u8]) -> Result<(), String> {
        self.interpreter.resume(state)
    }

    fn checkpoint(&mut self) {
        self.interpreter.checkpoint();
    }

    fn rollback(&mut self) {
        self.interpreter.rollback();
    }

    fn renew(&mut self) {
        self.interpreter.renew();
        self.tangents.renew();
    }

    fn linearise_by(&mut self, wanted: &[SlotId], held: &[SlotId]) -> Status {
        let known = self.tangents.take(wanted, held);
        let make = || Box::new(Tangents::new(&self.program, wanted, held, |p| self.beside(p)));
        let mut tangents = known.unwrap_or_else(make);
        let status = tangents.linearise(&mut self.interpreter);
        self.tangents.put(tangents);
        status
    }

    fn directional(&mut self, seeds: &[(SlotId, f64)], derivatives: &mut [f64]) -> Status {
        let Some(tangents) = self.tangents.last() else { return Status::Failed };
        tangents.directional(&mut self.interpreter, seeds, derivatives)
    }

    fn derivative_statistics(&self) -> DerivativeStatistics {
        self.interpreter.with_differences(self.tangents.statistics())
    }

    fn is_provisional(&self) -> bool {
        self.interpreter.is_provisional()
    }

    fn is_singular(&mut self) -> bool {
        self.interpreter.is_singular()
    }

    fn take_unfulfilled(&mut self) -> Vec<(Span, f64)> {
        self.interpreter.take_unfulfilled()
    }

    fn undetermined(&mut self) -> Vec<(String, Span)> {
        self.interpreter.undetermined()
    }

    fn last_failure(&self) -> Option<EvalFailure> {
        self.interpreter.last_failure()
    }

    fn accept(&mut self) {
        self.interpreter.accept();
    }

    fn watches_steps(&self) -> bool {
        self.interpreter.watches_steps()
    }

    fn end_step(&mut self) -> bool {
        self.interpreter.end_step()
    }

    fn reject(&mut self) {
        self.interpreter.reject();
    }

    fn commit(&mut self) -> Status {
        self.interpreter.commit()
    }

    fn message(&mut self, message: &Message) -> String {
        self.interpreter.message(message)
    }

    fn take_warnings(&mut self) -> Vec<Diagnostic> {
        self.interpreter.take_warnings()
    }

    fn set_stop(&mut self, stop: Stop) {
        self.interpreter.set_stop(stop);
    }

    fn hold(&mut self, held: &[Held]) {
        self.interpreter.hold(held);
    }

    fn set_mixed_method(&mut self, method: MixedMethod) {
        self.interpreter.set_mixed_method(method);
    }

    fn take_mixed_solutions(&mut self) -> Vec<MixedSolution> {
        self.interpreter.take_mixed_solutions()
    }

    fn loop_statistics(&self) -> LoopStatistics {
        self.interpreter.loop_statistics()
    }

    fn compile_time(&self) -> Duration {
        self.compile_time.get()
    }

    fn measure(&mut self, stopwatch: &Stopwatch) {
        self.interpreter.measure(stopwatch);
    }

    fn measured(&self) -> Duration {
        self.interpreter.measured() + self.tangents.measured()
    }

    fn costs(&self) -> InstanceCosts {
        let mut costs = self.interpreter.costs();
        costs.tangents.extend(self.tangents.costs(&self.interpreter));
        costs
    }
}
