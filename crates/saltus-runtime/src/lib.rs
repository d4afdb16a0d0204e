//! Evaluates a simulation program operation by operation on `f64` slots: no compilation, and the oracle for compiled
//! code. In: a [`SimProgram`]. Out: an implementation of [`ModelFunctions`].
//!
//! [`machine`] evaluates straight-line code, [`calls`] the functions it calls (as a [`procedure`] or [`direct`]ly where
//! possible), [`loops`] the equations that must be solved together. [`linear`] and [`mixed`] know nothing of code. [`native`] lets machine code take over parts of the program.

mod calls;
mod direct;
mod disagreement;
mod effects;
pub mod linear;
mod loops;
mod machine;
mod memo;
pub mod mixed;
pub mod native;
mod procedure;
mod repeats;
mod rounding;
mod state;
mod switches;
pub mod tangent;
#[cfg(test)]
mod tests;
mod timing;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use saltus_base::{Diagnostic, Index, Span};
use saltus_program::{
    Activation, Block, DerivativeStatistics, EvalFailure, Held, InstanceCosts, LoopStatistics, Message, MixedMethod,
    MixedSolution, ModelFunctions, Section, SimProgram, SlotId, Status, Stop, Stopwatch,
};

pub use calls::n_scalars;
pub use saltus_eval::Outside;

use loops::{LoopRecord, LoopWork, Patience};
use machine::Machine;
use mixed::Concession;
use native::procedure::NativeProcedures;
use native::{NativeCode, NativeLoop, NativeLoops, NativeSection, Step, UnitId};
use state::InstanceState;
use tangent::{Evaluator, Kept, Tangents};
use timing::{Began, Clock, Timer};

pub struct Interpreter {
    machine: Machine,
    loops: Vec<LoopWork>,
    /// Number of the first loop of each section, in the order of [`sections`].
    first_loop: Vec<usize>,
    /// By section and block the number of its loop, if blocks have been evaluated one by one.
    loop_numbers: Vec<Option<Box<[u32]>>>,
    /// Have loops been solved as they were before tearing?
    has_original: bool,
    /// Sections with compiled parts.
    native: Vec<Option<Arc<NativeSection>>>,
    /// The program once more, for whoever reads it while the machine changes.
    lent: Option<Arc<SimProgram>>,
    failure: Failure,
    record: LoopRecord,
    /// Warnings of accepted points.
    warnings: Vec<Diagnostic>,
    /// Where [`ModelFunctions::rollback`] returns to.
    checkpoint: Option<Box<InstanceState>>,
    /// Made when derivatives are asked for first.
    tangents: Kept<Interpreter>,
    /// Relations that are not literal at events, as long as they are at their thresholds.
    held: Vec<Held>,
    /// Measures what blocks cost, if somebody wants to know.
    timer: Option<Box<Timer>>,
}

/// Where the last failure is described.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Failure {
    None,
    Call,
    Loop(usize),
}

const MOST_WARNINGS: usize = 1_000;

/// Sections other than those of clocks, which follow them.
const N_UNCLOCKED: usize = 11;

fn sections(program: &SimProgram) -> impl Iterator<Item = &Section> {
    let unclocked = [
        &program.sections.parameters,
        &program.sections.initial,
        &program.sections.events,
        &program.sections.derivatives,
        &program.sections.crossings,
        &program.sections.outputs,
        &program.sections.homotopy,
        &program.sections.selection,
        &program.sections.guesses,
        &program.sections.entry,
        &program.sections.arrival,
    ];
    unclocked.into_iter().chain(&program.clocks.sections)
}

fn section(program: &SimProgram, number: usize) -> Option<&Section> {
    match number.checked_sub(N_UNCLOCKED) {
        Some(k) => program.clocks.sections.get(k),
        None => sections(program).nth(number),
    }
}

/// All sections of a program with their numbers.
fn activations(program: &SimProgram) -> impl Iterator<Item = (usize, Activation)> {
    let unclocked = [
        Activation::Parameters,
        Activation::Initial,
        Activation::Events,
        Activation::Derivatives,
        Activation::Crossings,
        Activation::Outputs,
        Activation::Homotopy,
        Activation::Selection,
        Activation::Guesses,
        Activation::Entry,
        Activation::Arrival,
    ];
    let clocked = (0..program.clocks.sections.len()).map(|k| Activation::Clocked(k as u32));
    unclocked.into_iter().chain(clocked).map(|activation| (section_number(activation), activation))
}

fn section_number(activation: Activation) -> usize {
    match activation {
        Activation::Parameters => 0,
        Activation::Initial => 1,
        Activation::Events => 2,
        Activation::Derivatives => 3,
        Activation::Crossings => 4,
        Activation::Outputs => 5,
        Activation::Homotopy => 6,
        Activation::Selection => 7,
        Activation::Guesses => 8,
        Activation::Entry => 9,
        Activation::Arrival => 10,
        Activation::Clocked(k) => N_UNCLOCKED + k as usize,
    }
}

impl Interpreter {
    pub fn new(program: Arc<SimProgram>) -> Self {
        let mut loops = Vec::new();
        let mut first_loop = Vec::new();
        let mut longest = 0;
        for section in sections(&program) {
            first_loop.push(loops.len());
            for block in &section.blocks {
                longest = block.codes().iter().map(|c| c.ops.len()).fold(longest, usize::max);
                if let Block::Loop(l) = block {
                    loops.push(LoopWork::new(l.clone(), &program));
                }
            }
        }
        Interpreter {
            machine: Machine::new(program, longest),
            loops,
            native: vec![None; first_loop.len()],
            loop_numbers: vec![None; first_loop.len()],
            lent: None,
            first_loop,
            has_original: false,
            failure: Failure::None,
            record: LoopRecord::default(),
            warnings: Vec::new(),
            checkpoint: None,
            tangents: Kept::default(),
            held: Vec::new(),
            timer: None,
        }
    }

    /// Lets functions read files and have effects.
    pub fn with_outside(mut self, outside: Box<dyn Outside>) -> Self {
        self.machine.host.set_outside(outside);
        self
    }

    /// Lets machine code evaluate a section from now on.
    pub fn set_native(&mut self, activation: Activation, section: NativeSection) {
        let number = section_number(activation);
        let mut next_loop = self.first_loop[number];
        for step in &section.steps {
            match step {
                Step::Chunk { n_loops, .. } => next_loop += n_loops,
                Step::Loop { units, .. } => {
                    if let Some(work) = self.loops.get_mut(next_loop) {
                        work.set_native(NativeLoop { code: section.code.clone(), units: *units });
                    }
                    next_loop += 1;
                }
                Step::Interpreted { .. } => {}
            }
        }
        self.native[number] = Some(Arc::new(section));
    }

    /// Functions that are called often become machine code.
    pub fn set_native_procedures(&mut self, native: Box<dyn NativeProcedures + Send>) {
        self.machine.host.set_native_procedures(native);
    }

    /// Loops that take many evaluations become machine code, also where their section does not.
    pub fn set_native_loops(&mut self, native: Box<dyn NativeLoops + Send>) {
        self.machine.native_loops = Some(native);
    }

    /// Adds the derivatives that were taken by differences.
    pub fn with_differences(&self, statistics: DerivativeStatistics) -> DerivativeStatistics {
        let differences = &self.machine.host.differences;
        DerivativeStatistics {
            difference_calls: differences.n_calls,
            difference_functions: differences.functions(&self.machine.program),
            ..statistics
        }
    }

    /// Does machine code evaluate this section?
    pub fn is_native(&self, activation: Activation) -> bool {
        self.native[section_number(activation)].is_some()
    }

    fn section(&mut self, number: usize, patience: Patience) -> Status {
        if let Some(native) = self.native[number].take() {
            let status = self.native_section(&native, number, patience);
            self.native[number] = Some(native);
            return status;
        }
        // Runs on several threads share the program: to count its users at every evaluation would make them wait for each other.
        let program = self.lent.take().unwrap_or_else(|| self.machine.program.clone());
        let mut next_loop = self.first_loop[number];
        let status = section(&program, number).map_or(Status::Ok, |section| {
            self.blocks(section, number, 0..section.blocks.len(), &mut next_loop, patience)
        });
        self.lent = Some(program);
        status
    }

    fn native_section(&mut self, native: &NativeSection, number: usize, patience: Patience) -> Status {
        let mut next_loop = self.first_loop[number];
        for step in &native.steps {
            let began = self.begin_piece();
            let status = match step {
                Step::Chunk { unit, blocks, n_loops } => {
                    let loops = next_loop..next_loop + n_loops;
                    next_loop = loops.end;
                    self.chunk(&*native.code, *unit, number, blocks.clone(), loops, patience)
                }
                Step::Loop { .. } => self.solve_loop(&mut next_loop, patience),
                Step::Interpreted { block } => {
                    let program = self.machine.program.clone();
                    let own = *block..*block + 1;
                    section(&program, number)
                        .map_or(Status::Ok, |section| self.blocks(section, number, own, &mut next_loop, patience))
                }
            };
            if let Some(began) = began {
                let blocks = match step {
                    Step::Chunk { blocks, .. } => (blocks.start, blocks.end),
                    Step::Loop { block, .. } | Step::Interpreted { block } => (*block, *block + 1),
                };
                self.end_piece(&began, number, blocks);
            }
            if !status.is_ok() {
                return status;
            }
        }
        Status::Ok
    }

    /// Evaluates blocks by interpretation.
    fn blocks(
        &mut self,
        section: &Section,
        number: usize,
        range: Range<usize>,
        next_loop: &mut usize,
        patience: Patience,
    ) -> Status {
        let first = range.start;
        for (i, block) in section.blocks.get(range).unwrap_or_default().iter().enumerate() {
            let began = self.begin_piece();
            let status = self.block(block, next_loop, patience);
            if let Some(began) = began {
                self.end_piece(&began, number, (first + i, first + i + 1));
            }
            if !status.is_ok() {
                return status;
            }
        }
        Status::Ok
    }

    /// Evaluates some blocks of a section by interpretation.
    fn some_blocks(&mut self, section: &Section, number: usize, blocks: &[u32], patience: Patience) -> Status {
        for &k in blocks {
            let Some(block) = section.blocks.get(k as usize) else { continue };
            let mut own = match block {
                Block::Loop(_) => self.loop_number(section, number, k as usize),
                _ => usize::MAX,
            };
            let status = self.block(block, &mut own, patience);
            if !status.is_ok() {
                return status;
            }
        }
        Status::Ok
    }

    fn block(&mut self, block: &Block, next_loop: &mut usize, patience: Patience) -> Status {
        let status = match block {
            Block::Assign(assign) => self.machine.assign(assign),
            Block::Repeat(repeat) => self.machine.repeat(repeat),
            Block::Loop(_) => return self.solve_loop(next_loop, patience),
        };
        self.note_failure(status, Failure::Call)
    }

    fn loop_number(&mut self, section: &Section, number: usize, block: usize) -> usize {
        let mut next = self.first_loop[number] as u32;
        let numbers = self.loop_numbers[number].get_or_insert_with(|| {
            let of = |block: &Block| {
                let own = next;
                next += u32::from(matches!(block, Block::Loop(_)));
                own
            };
            section.blocks.iter().map(of).collect()
        });
        numbers.get(block).map_or(usize::MAX, |&own| own as usize)
    }

    fn solve_loop(&mut self, next_loop: &mut usize, patience: Patience) -> Status {
        let number = *next_loop;
        *next_loop = number.saturating_add(1);
        let Some(work) = self.loops.get_mut(number) else { return Status::Ok };
        let status = work.solve(&mut self.machine, patience, &mut self.record);
        self.note_failure(status, Failure::Loop(number))
    }

    /// Evaluates the blocks of a chunk by machine code, and from where that stopped on by interpretation.
    fn chunk(
        &mut self,
        code: &dyn NativeCode,
        unit: UnitId,
        number: usize,
        range: Range<usize>,
        loops: Range<usize>,
        patience: Patience,
    ) -> Status {
        let Some(first) = self.machine.run_native(code, unit, 0).checked_sub(1) else {
            self.record.count_in_line(loops.len());
            return Status::Ok;
        };
        let first = first as usize;
        let program = self.machine.program.clone();
        let Some(section) = section(&program, number) else { return Status::Ok };
        let done = section.blocks.get(range.start..first).unwrap_or_default();
        let n_solved = done.iter().filter(|b| matches!(b, Block::Loop(_))).count();
        self.record.count_in_line(n_solved);
        let mut next_loop = loops.start + n_solved;
        // The calls of the block at which it stopped have been made.
        let Some(Block::Assign(assign)) = section.blocks.get(first) else {
            return self.blocks(section, number, first..range.end, &mut next_loop, patience);
        };
        self.machine.replay(&assign.code, assign.span);
        let status = self.machine.store(assign);
        let status = self.note_failure(status, Failure::Call);
        if !status.is_ok() {
            return status;
        }
        self.blocks(section, number, first + 1..range.end, &mut next_loop, patience)
    }

    /// `None` if nothing is measured, or if what follows is part of what is being measured.
    #[inline]
    fn begin_piece(&mut self) -> Option<Began> {
        let timer = self.timer.as_deref_mut()?;
        timer.begin(self.machine.host.time_in_calls(), self.record.statistics.newton_iterations)
    }

    #[cold]
    fn end_piece(&mut self, began: &Began, section: usize, blocks: (usize, usize)) {
        let (in_calls, iterations) = (self.machine.host.time_in_calls(), self.record.statistics.newton_iterations);
        if let Some(timer) = &mut self.timer {
            timer.end(began, section, blocks, in_calls, iterations);
        }
    }

    /// Measures costs if the other one does.
    pub fn measure_like(&mut self, other: &Interpreter) {
        if let Some(timer) = &other.timer {
            self.timer = Some(Box::new(Timer::new(timer.clock.clone(), self.first_loop.len())));
        }
    }

    /// What blocks have cost, with calls that the host of another instance has made.
    fn costs_with(&self, host: &Interpreter) -> InstanceCosts {
        let Some(timer) = &self.timer else { return InstanceCosts::default() };
        timing::collect(timer, host.machine.host.times(), &self.machine.program)
    }

    /// As if just made; machine code stays.
    fn renew_all(&mut self) {
        let program = self.machine.program.clone();
        self.machine.memory = program.memory.initial_memory();
        self.machine.host.renew();
        self.loops.iter_mut().for_each(|work| work.renew(&program));
        self.failure = Failure::None;
        self.record = LoopRecord::default();
        self.warnings.clear();
        self.tangents.renew();
    }

    fn note_failure(&mut self, status: Status, failure: Failure) -> Status {
        if !status.is_ok() {
            self.failure = failure;
        }
        status
    }
}

impl Evaluator for Interpreter {
    fn beside(&self, program: Arc<SimProgram>) -> Self {
        let mut beside = Interpreter::new(program);
        beside.measure_like(self);
        beside
    }

    fn interpreter(&mut self) -> &mut Interpreter {
        self
    }

    fn as_interpreter(&self) -> &Interpreter {
        self
    }
}

impl Interpreter {
    /// The same equations stand in several sections: where those of this one need to be solved as they were before tearing, so do the others.
    fn share_original(&mut self, number: usize) {
        let end = self.first_loop.get(number + 1).copied().unwrap_or(self.loops.len());
        let own = self.first_loop.get(number).copied().unwrap_or(end)..end;
        let found: BTreeMap<SlotId, bool> = self.loops[own].iter().flat_map(LoopWork::needs_original).collect();
        if self.has_original || found.values().any(|needs| *needs) {
            self.loops.iter_mut().for_each(|work| work.take_need(&found));
            self.has_original = found.values().any(|needs| *needs);
        }
    }
}

impl ModelFunctions for Interpreter {
    fn program(&self) -> &Arc<SimProgram> {
        &self.machine.program
    }

    fn memory(&self) -> &[f64] {
        &self.machine.memory
    }

    fn memory_mut(&mut self) -> &mut [f64] {
        &mut self.machine.memory
    }

    fn program_and_memory(&mut self) -> (&SimProgram, &mut [f64]) {
        (&self.machine.program, &mut self.machine.memory)
    }

    fn eval(&mut self, activation: Activation) -> Status {
        let number = section_number(activation);
        match activation {
            Activation::Parameters => self.machine.host.forget_objects(),
            // Crossings and outputs belong to the point at which the derivatives were evaluated.
            Activation::Derivatives => self.machine.host.begin_point(),
            _ => {}
        }
        let patience = match activation {
            Activation::Parameters
            | Activation::Guesses
            | Activation::Initial
            | Activation::Homotopy
            | Activation::Entry
            | Activation::Arrival
            | Activation::Clocked(_) => Patience::Event(Concession::Rounding),
            Activation::Events => Patience::Event(Concession::Nothing),
            _ => Patience::Trial,
        };
        // The initial system is evaluated several times until it is solved; its effects happen once nevertheless.
        let acts_at_once = matches!(activation, Activation::Parameters | Activation::Events | Activation::Clocked(_));
        if acts_at_once {
            self.machine.host.begin_effects();
        }
        self.failure = Failure::None;
        let mut status = self.section(number, patience);
        // Mostly what is held is what they are literally.
        if activation == Activation::Events && !self.held.is_empty() && !(status.is_ok() && self.agrees_with_held()) {
            status = self.eval_events_with(&[], Concession::Nothing);
        }
        if activation == Activation::Events && !status.is_ok() {
            status = self.resolve_disagreement(status);
        }
        if patience != Patience::Trial && status.is_ok() {
            self.share_original(number);
        }
        if activation == Activation::Guesses && status.is_ok() && !self.loops.is_empty() {
            let blocks = &self.machine.program.sections.guesses.blocks;
            let guessed = blocks.iter().flat_map(Block::stored).collect();
            self.loops.iter_mut().for_each(|work| work.take_starts(&self.machine.memory, &guessed));
        }
        if status.is_ok() && acts_at_once { self.commit() } else { status }
    }

    fn eval_blocks(&mut self, activation: Activation, blocks: &[u32]) -> Status {
        let patience = match activation {
            Activation::Derivatives | Activation::Crossings | Activation::Outputs => Patience::Trial,
            _ => Patience::Event(Concession::Nothing),
        };
        if activation == Activation::Derivatives {
            self.machine.host.begin_point();
        }
        self.failure = Failure::None;
        let program = self.lent.take().unwrap_or_else(|| self.machine.program.clone());
        let status = program
            .section(activation)
            .map_or(Status::Ok, |section| self.some_blocks(section, section_number(activation), blocks, patience));
        self.lent = Some(program);
        status
    }

    fn is_provisional(&self) -> bool {
        self.has_provisional_loop()
    }

    fn is_singular(&mut self) -> bool {
        let number = section_number(Activation::Events);
        let end = self.first_loop.get(number + 1).copied().unwrap_or(self.loops.len());
        self.loops[self.first_loop[number]..end].iter_mut().any(|work| work.is_singular(&mut self.machine))
    }

    fn take_unfulfilled(&mut self) -> Vec<(Span, f64)> {
        self.loops.iter_mut().filter_map(LoopWork::take_unfulfilled).collect()
    }

    fn undetermined(&mut self) -> Vec<(String, Span)> {
        let memory = self.machine.memory.clone();
        let program = self.machine.program.clone();
        let mut found = Vec::new();
        for activation in [Activation::Initial, Activation::Events] {
            let number = section_number(activation);
            let end = self.first_loop.get(number + 1).copied().unwrap_or(self.loops.len());
            for work in &mut self.loops[self.first_loop[number]..end] {
                let open = work.undetermined(&mut self.machine, &program);
                self.machine.memory.clone_from(&memory);
                found.extend(open.filter(|(name, _)| found.iter().all(|(known, _)| known != name)));
            }
        }
        found
    }

    fn commit(&mut self) -> Status {
        let status = if self.machine.host.act(&self.machine.memory) { Status::Ok } else { Status::Failed };
        self.note_failure(status, Failure::Call)
    }

    fn renew(&mut self) {
        self.renew_all();
    }

    fn save(&self) -> Result<Vec<u8>, Vec<String>> {
        self.encoded_state()
    }

    fn resume(&mut self, state: &[u8]) -> Result<(), String> {
        self.resume_encoded(state)
    }

    fn checkpoint(&mut self) {
        self.checkpoint = Some(Box::new(self.state()));
    }

    fn rollback(&mut self) {
        if let Some(state) = self.checkpoint.take() {
            self.go_back(&state);
        }
    }

    fn hold(&mut self, held: &[Held]) {
        self.held.clear();
        self.held.extend_from_slice(held);
        self.held.sort_by_key(|held| held.memory);
    }

    fn linearise_by(&mut self, wanted: &[SlotId], held: &[SlotId]) -> Status {
        let known = self.tangents.take(wanted, held);
        let make = || Box::new(Tangents::new(&self.machine.program, wanted, held, |p| self.beside(p)));
        let mut tangents = known.unwrap_or_else(make);
        let status = tangents.linearise(self);
        self.tangents.put(tangents);
        status
    }

    fn directional(&mut self, seeds: &[(SlotId, f64)], derivatives: &mut [f64]) -> Status {
        let Some(mut tangents) = self.tangents.take_last() else { return Status::Failed };
        let status = tangents.directional(self, seeds, derivatives);
        self.tangents.put(tangents);
        status
    }

    fn derivative_statistics(&self) -> DerivativeStatistics {
        self.with_differences(self.tangents.statistics())
    }

    fn last_failure(&self) -> Option<EvalFailure> {
        match self.failure {
            Failure::None => self.loops.iter().find(|w| w.is_provisional()).map(|w| w.describe(&self.machine.program)),
            Failure::Call => self.machine.host.failure(),
            Failure::Loop(number) => {
                let mut failure = self.loops.get(number)?.describe(&self.machine.program);
                // Where a call in the loop fails this is the real reason.
                if self.machine.host.has_failed()
                    && let Some(call) = self.machine.host.failure()
                {
                    failure.message = format!("{}; {}", call.message, failure.message);
                    failure.span = call.span;
                    failure.details.labels.extend(call.details.labels);
                }
                Some(failure)
            }
        }
    }

    fn reject(&mut self) {
        self.loops.iter_mut().for_each(LoopWork::reject);
    }

    fn watches_steps(&self) -> bool {
        self.machine.host.watches_steps()
    }

    fn end_step(&mut self) -> bool {
        let time = self.machine.memory[self.machine.program.memory.time.index()];
        self.machine.host.end_step(time)
    }

    fn accept(&mut self) {
        for work in &mut self.loops {
            work.accept(&self.machine.memory);
        }
        self.machine.host.print_lines();
        for warning in self.machine.host.warnings.drain(..) {
            if self.warnings.len() < MOST_WARNINGS && !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    fn message(&mut self, message: &Message) -> String {
        self.machine.message(message)
    }

    fn take_warnings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.warnings)
    }

    fn set_stop(&mut self, stop: Stop) {
        self.machine.host.set_stop(stop.clone());
        self.machine.stop = stop;
    }

    fn set_mixed_method(&mut self, method: MixedMethod) {
        self.loops.iter_mut().for_each(|work| work.set_mixed_method(method));
    }

    fn take_mixed_solutions(&mut self) -> Vec<MixedSolution> {
        std::mem::take(&mut self.record.mixed)
    }

    fn loop_statistics(&self) -> LoopStatistics {
        LoopStatistics { calls: self.machine.host.n_calls, ..self.record.statistics }
    }

    fn measure(&mut self, stopwatch: &Stopwatch) {
        if self.timer.is_none() {
            let clock = Clock::new(stopwatch.clone());
            self.machine.host.measure(clock.clone());
            self.timer = Some(Box::new(Timer::new(clock, self.first_loop.len())));
        }
    }

    fn measured(&self) -> Duration {
        self.timer.as_ref().map_or(Duration::ZERO, |timer| timer.total) + self.tangents.measured()
    }

    fn costs(&self) -> InstanceCosts {
        let mut costs = self.costs_with(self);
        costs.tangents.extend(self.tangents.costs(self));
        costs
    }
}
