//! How a program is evaluated: the interface between the driver and the interpreter or compiled code.
//!
//! An implementation evaluates sections on its memory; what follows from the tables (crossings, event rounds, time
//! events) is the same for all of them and is provided here.

use std::sync::Arc;
use std::time::Duration;

use saltus_base::{Diagnostic, Index as _, Span};

use crate::{Block, InstanceCosts, Message, SimProgram, SlotId, Stop, Stopwatch};

/// Which part of the program to evaluate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    /// Dependent parameters, once.
    Parameters,
    /// First guesses of the initial system.
    Guesses,
    /// The initial system.
    Initial,
    /// The initial system with the parameter of `homotopy`.
    Homotopy,
    /// Everything in event order, relations literal.
    Events,
    /// What the derivatives need, relations frozen.
    Derivatives,
    /// After `Derivatives`: the crossing functions.
    Crossings,
    /// After `Crossings`: all remaining continuous variables.
    Outputs,
    /// A section of a clocked partition, by position in `SimProgram::clocked_sections`.
    Clocked(u32),
    /// After `Derivatives`: what the choice of states depends on.
    Selection,
    /// What jumps where the configuration is entered.
    Entry,
    /// Values with which states of machines are entered.
    Arrival,
}

/// A relation that keeps its value at an event as long as its operands differ by no more than `band`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Held {
    pub memory: SlotId,
    pub value: bool,
    pub band: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Status {
    Ok,
    /// This slot got a value that is not a number. At a trial point a smaller step may help; at an accepted point it is
    /// the end.
    NotANumber(SlotId),
    /// A loop without solution, a failed assertion or a domain error in a function: [`ModelFunctions::last_failure`]
    /// says which. At a trial point a smaller step may help, too.
    Failed,
}

/// Why an evaluation failed, in words.
#[derive(Clone, PartialEq, Debug)]
pub struct EvalFailure {
    pub message: String,
    pub span: Span,
    pub details: Details,
    /// A loop has no solution, or none was found.
    pub is_unsolved: bool,
}

/// What else is known about a failure.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Details {
    /// Other places in the source, with a remark each.
    pub labels: Vec<(Span, String)>,
    /// Values that took part, one line each.
    pub notes: Vec<String>,
}

impl EvalFailure {
    pub fn new(message: impl Into<String>, span: Span) -> Self {
        EvalFailure { message: message.into(), span, details: Details::default(), is_unsolved: false }
    }
}

/// What the solution of loops and calls has cost so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct LoopStatistics {
    /// Loops solved, mixed ones once for each combination of discrete values.
    pub solved: u64,
    pub newton_iterations: u64,
    /// Solved only after a retry from other values.
    pub retries: u64,
    pub failures: u64,
    pub factorisations: u64,
    /// Calls of functions that are not written out.
    pub calls: u64,
}

impl std::ops::Add for LoopStatistics {
    type Output = LoopStatistics;

    fn add(self, other: LoopStatistics) -> LoopStatistics {
        LoopStatistics {
            solved: self.solved + other.solved,
            newton_iterations: self.newton_iterations + other.newton_iterations,
            retries: self.retries + other.retries,
            failures: self.failures + other.failures,
            factorisations: self.factorisations + other.factorisations,
            calls: self.calls + other.calls,
        }
    }
}

/// What directional derivatives have cost so far.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct DerivativeStatistics {
    /// Points at which derivatives were prepared.
    pub points: u64,
    pub directions: u64,
    /// Points and directions at which there was none.
    pub failures: u64,
    /// Calls of functions whose derivative was taken by differences.
    pub difference_calls: u64,
    /// These functions, in alphabetical order.
    pub difference_functions: Vec<String>,
}

/// How a mixed loop found values of its relations that agree with its reals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum MixedStrategy {
    /// Evaluate, compare, again.
    FixedPoint,
    /// Move only to the neighbouring region.
    Restricted,
    /// Principal pivots: change all relations that disagree as long as they become fewer, else the first alone.
    Pivot,
    /// Try all combinations.
    Exhaustive,
}

impl MixedStrategy {
    pub fn name(self) -> &'static str {
        match self {
            MixedStrategy::FixedPoint => "fixed-point",
            MixedStrategy::Restricted => "restricted",
            MixedStrategy::Pivot => "pivot",
            MixedStrategy::Exhaustive => "exhaustive",
        }
    }
}

/// Which strategies mixed loops may use.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub enum MixedMethod {
    /// One after the other, the cheapest first.
    #[default]
    Auto,
    Only(MixedStrategy),
}

impl MixedMethod {
    /// As on a command line.
    pub const NAMES: [(&'static str, MixedMethod); 5] = [
        ("auto", MixedMethod::Auto),
        ("fixed-point", MixedMethod::Only(MixedStrategy::FixedPoint)),
        ("restricted", MixedMethod::Only(MixedStrategy::Restricted)),
        ("pivot", MixedMethod::Only(MixedStrategy::Pivot)),
        ("exhaustive", MixedMethod::Only(MixedStrategy::Exhaustive)),
    ];

    pub fn from_name(name: &str) -> Option<MixedMethod> {
        MixedMethod::NAMES.iter().find(|(n, _)| *n == name).map(|(_, method)| *method)
    }

    pub fn allows(self, strategy: MixedStrategy) -> bool {
        self == MixedMethod::Auto || self == MixedMethod::Only(strategy)
    }
}

/// The solution of a mixed loop that took more than one look.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct MixedSolution {
    /// The first equation of the loop.
    pub span: Span,
    pub strategy: MixedStrategy,
    /// Combinations of discrete values that were tried.
    pub iterations: u32,
}

impl Status {
    pub fn is_ok(self) -> bool {
        self == Status::Ok
    }
}

/// What an event round has changed.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Round {
    /// Variables under `pre` (and `when` conditions) that differ from their `pre` value: another round is needed.
    pub changed: Vec<SlotId>,
    /// States that a `reinit` has set to another value: another round is needed.
    pub reinitialised: Vec<SlotId>,
    /// Positions of active `terminate`s.
    pub terminations: Vec<usize>,
}

impl Round {
    pub fn is_settled(&self) -> bool {
        self.changed.is_empty() && self.reinitialised.is_empty()
    }
}

/// A slot of a memory. Whoever reads many asks for the memory once: [`ModelFunctions::get`] asks again for each.
#[inline]
pub fn read(memory: &[f64], slot: SlotId) -> f64 {
    memory.get(slot.index()).copied().unwrap_or(f64::NAN)
}

#[inline]
fn write(memory: &mut [f64], slot: SlotId, value: f64) {
    if let Some(place) = memory.get_mut(slot.index()) {
        *place = value;
    }
}

pub trait ModelFunctions: Send {
    fn program(&self) -> &Arc<SimProgram>;

    /// The whole memory of the instance, by slot.
    fn memory(&self) -> &[f64];
    fn memory_mut(&mut self) -> &mut [f64];

    /// Both at once. Instances on several threads share the program: those that count its users at every event wait for each other.
    fn program_and_memory(&mut self) -> (&SimProgram, &mut [f64]);

    fn eval(&mut self, activation: Activation) -> Status;

    /// Evaluates some blocks of a section by their positions, in order. What they read must have been computed. Nothing is committed: calls for effect
    /// are not made here.
    fn eval_blocks(&mut self, activation: Activation, blocks: &[u32]) -> Status;

    /// Why the last evaluation was [`Status::Failed`].
    fn last_failure(&self) -> Option<EvalFailure> {
        None
    }

    /// Are there discrete values at this event that do not agree with the equations they switch unless another round follows?
    fn is_provisional(&self) -> bool {
        false
    }

    /// Do equations that switches are in, with their present positions, leave something undetermined at the present point? True also of
    /// equations that contradict each other only by rounding: these are fulfilled, by values that are any.
    fn is_singular(&mut self) -> bool {
        false
    }

    /// Unknowns of the initial system and of the equations at events that may have any value near their present ones, each with an
    /// equation of its loop.
    fn undetermined(&mut self) -> Vec<(String, Span)> {
        Vec::new()
    }

    /// Equations of loops that do not hold at accepted points though no number is nearer to their solutions, each with its residual as a part of its terms; each
    /// loop is told of once.
    fn take_unfulfilled(&mut self) -> Vec<(Span, f64)> {
        Vec::new()
    }

    /// The present point is part of the solution: what a retry may return to, and whose warnings count.
    fn accept(&mut self) {}

    /// Do objects of foreign code want to know where steps of the integrator end?
    fn watches_steps(&self) -> bool {
        false
    }

    /// A step has ended at the present point, which is part of the solution; true if an event is wanted here.
    fn end_step(&mut self) -> bool {
        false
    }

    /// Points that have been tried are not part of the solution: loops forget what they have learnt there.
    fn reject(&mut self) {}

    /// The initial system has been solved: makes the calls for effect that wait for its solution.
    fn commit(&mut self) -> Status {
        Status::Ok
    }

    /// The text of a message at the present point.
    fn message(&mut self, message: &Message) -> String {
        message.as_written().to_owned()
    }

    /// Warnings of functions at accepted points since the last call.
    fn take_warnings(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Evaluations that take long fail as soon as this is wanted.
    fn set_stop(&mut self, _stop: Stop) {}

    /// From now on these relations are not literal at events.
    fn hold(&mut self, _held: &[Held]) {}

    /// How mixed loops are solved from now on.
    fn set_mixed_method(&mut self, _method: MixedMethod) {}

    /// Mixed loops solved since the last call.
    fn take_mixed_solutions(&mut self) -> Vec<MixedSolution> {
        Vec::new()
    }

    fn loop_statistics(&self) -> LoopStatistics {
        LoopStatistics::default()
    }

    /// Prepares directional derivatives of `wanted` at the present point, where all sections that define these have been
    /// evaluated. Relations and discrete variables are frozen. Unless it is `Ok` there are none: differences must do.
    fn linearise(&mut self, wanted: &[SlotId]) -> Status {
        self.linearise_by(wanted, &[])
    }

    /// The same for directions in which these parameters and values that are held between events move as well, and with parameters all
    /// that is computed of them.
    fn linearise_by(&mut self, _wanted: &[SlotId], _held: &[SlotId]) -> Status {
        Status::Failed
    }

    /// Writes the derivatives of what was given to [`ModelFunctions::linearise`] along a direction: `seeds` are states, inputs
    /// and time with their parts in it, and what was given to [`ModelFunctions::linearise_by`].
    fn directional(&mut self, _seeds: &[(SlotId, f64)], _derivatives: &mut [f64]) -> Status {
        Status::Failed
    }

    fn derivative_statistics(&self) -> DerivativeStatistics {
        DerivativeStatistics::default()
    }

    /// Time that went into making machine code so far.
    fn compile_time(&self) -> Duration {
        Duration::ZERO
    }

    /// From now on measures what blocks and calls cost.
    fn measure(&mut self, _stopwatch: &Stopwatch) {}

    /// What evaluations have taken since then.
    fn measured(&self) -> Duration {
        Duration::ZERO
    }

    /// The same by block and call.
    fn costs(&self) -> InstanceCosts {
        InstanceCosts::default()
    }

    /// The complete state of the instance between two evaluations, in an encoding of its own; else the names of external
    /// objects that cannot be saved.
    fn save(&self) -> Result<Vec<u8>, Vec<String>>;

    /// Goes on from a saved state of an instance of the same program.
    fn resume(&mut self, state: &[u8]) -> Result<(), String>;

    /// Remembers the present state for one [`ModelFunctions::rollback`].
    fn checkpoint(&mut self);

    /// Back to the last checkpoint: what was evaluated since then leaves no trace.
    fn rollback(&mut self);

    /// As if just made, for another run; what was compiled stays.
    fn renew(&mut self) {
        let memory = self.program().memory.initial_memory();
        self.restore(&memory);
    }

    fn get(&self, slot: SlotId) -> f64 {
        read(self.memory(), slot)
    }

    fn set(&mut self, slot: SlotId, value: f64) {
        write(self.memory_mut(), slot, value);
    }

    fn snapshot(&self) -> Vec<f64> {
        self.memory().to_vec()
    }

    /// Back to a snapshot of the same instance.
    fn restore(&mut self, snapshot: &[f64]) {
        let memory = self.memory_mut();
        let n = memory.len().min(snapshot.len());
        memory[..n].copy_from_slice(&snapshot[..n]);
    }

    /// Sets time and states.
    fn set_continuous(&mut self, t: f64, x: &[f64]) {
        let (program, memory) = self.program_and_memory();
        write(memory, program.memory.time, t);
        for (&value, state) in x.iter().zip(&program.states) {
            write(memory, state.value, value);
        }
    }

    fn get_states(&self, x: &mut [f64]) {
        let memory = self.memory();
        for (value, state) in x.iter_mut().zip(&self.program().states) {
            *value = read(memory, state.value);
        }
    }

    fn get_derivatives(&self, dx: &mut [f64]) {
        let memory = self.memory();
        for (value, state) in dx.iter_mut().zip(&self.program().states) {
            *value = read(memory, state.derivative);
        }
    }

    /// `pre(v) := v` for all variables whose `pre` value is used.
    fn update_pre(&mut self) {
        let (program, memory) = self.program_and_memory();
        for &(variable, pre) in &program.memory.pre {
            let value = read(memory, variable);
            write(memory, pre, value);
        }
    }

    /// One round of an event: relations literal and all equations in event order, then pending `reinit`s, then
    /// `pre := value` (in that order, so that no equation sees half of a round).
    fn event_round(&mut self) -> Result<Round, Status> {
        let status = self.eval(Activation::Events);
        if !status.is_ok() {
            return Err(status);
        }
        self.end_round()
    }

    /// What follows the evaluation in a round.
    fn end_round(&mut self) -> Result<Round, Status> {
        let mut round = Round::default();
        let (program, memory) = self.program_and_memory();
        for reinit in &program.events.reinits {
            let new = read(memory, reinit.value);
            if read(memory, reinit.active) != 0.0 && read(memory, reinit.state) != new {
                write(memory, reinit.state, new);
                round.reinitialised.push(reinit.state);
            }
        }
        let terminations = program.events.terminations.iter().enumerate();
        round.terminations = terminations.filter(|(_, t)| read(memory, t.active) != 0.0).map(|(i, _)| i).collect();
        let is_discrete = |slot| program.memory.slots.get(slot).is_some_and(|s| !s.kind.is_continuous());
        for &(variable, pre) in &program.memory.pre {
            if read(memory, variable) != read(memory, pre) && is_discrete(variable) {
                round.changed.push(variable);
            }
        }
        self.update_pre();
        // Another round would find the same.
        if self.is_provisional() && round.is_settled() { Err(Status::Failed) } else { Ok(round) }
    }

    /// The earliest time after `t` at which a time relation changes or a sample or clock ticks; infinite if there is none.
    fn next_time_event(&self, t: f64) -> f64 {
        let (program, memory) = (self.program(), self.memory());
        let get = |slot| read(memory, slot);
        let thresholds = program.events.time_events.iter().map(|e| e.key(get(e.threshold)));
        let ticks = program.events.samples.iter().map(|s| get(s.start) + get(s.tick) * get(s.interval));
        let clocks = program.clocks.base_partitions.iter().flat_map(|p| &p.sub_clocks).map(|c| get(c.next));
        thresholds.chain(ticks).chain(clocks).filter(|&key| key > t).fold(f64::INFINITY, f64::min)
    }

    /// The blocks of a section; for messages.
    fn blocks(&self, activation: Activation) -> &[Block] {
        self.program().section(activation).map_or(&[], |section| &section.blocks)
    }
}
