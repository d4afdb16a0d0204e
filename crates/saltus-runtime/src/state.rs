//! The complete state of an instance as a value: what the next evaluation depends on beyond the program.
//!
//! In: an instance between two evaluations. Out: an [`InstanceState`] that can be kept in memory or written, from which an
//! instance of the same program goes on bit by bit as if nothing had happened. Machine code and remembered calls are not part
//! of it: they change how fast results come, not which.
//!
//! External objects are made again by their constructors, which find the same arguments in memory. An object behind an address of
//! foreign code is saved if it gives its state as bytes, as an FMU may.

use std::collections::BTreeMap;

use saltus_base::Index;
use saltus_eval::{ImpureRandom, Value};
use saltus_flat::BaseType;
use saltus_numerics::NewtonSolver;
use saltus_program::{Argument, Block, CallableId, Code, LoopStatistics, MixedSolution, SimProgram, SlotId};
use serde::{Deserialize, Serialize};

use crate::Interpreter;
use crate::calls::CallHost;
use crate::linear::LinearSolver;
use crate::mixed::MixedSolver;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct InstanceState {
    memory: Vec<f64>,
    loops: Vec<LoopState>,
    calls: CallState,
    statistics: LoopStatistics,
    mixed: Vec<MixedSolution>,
}

/// What is written: the state, and those of objects in foreign code, by the slots that hold them.
#[derive(Serialize, Deserialize)]
struct Encoded {
    state: InstanceState,
    objects: Vec<(SlotId, Vec<u8>)>,
}

/// What a loop has learnt.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LoopState {
    pub newton: NewtonSolver,
    pub linear: Option<LinearSolver>,
    pub accepted: Vec<f64>,
    pub start: Vec<f64>,
    pub mixed: Option<MixedSolver>,
    pub singular_at: Vec<(SlotId, f64)>,
    pub original: Option<OriginalState>,
}

/// What a loop knows of its variables other than the unknowns, and the factors with which it was solved for all of them.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct OriginalState {
    pub accepted: Vec<f64>,
    pub start: Vec<f64>,
    pub is_needed: bool,
    pub newton: Option<NewtonSolver>,
}

/// What calls have left behind.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CallState {
    pub random: ImpureRandom,
    /// Results of calls for effect, by number.
    pub made: BTreeMap<u32, Vec<f64>>,
    pub n_calls: u64,
}

impl Interpreter {
    /// The state, or the names of external objects that cannot be part of one.
    pub(crate) fn encoded_state(&self) -> Result<Vec<u8>, Vec<String>> {
        let host = &self.machine.host;
        let (mut objects, mut lost) = (Vec::new(), Vec::new());
        for (slot, address) in host.foreign_objects(&self.machine.memory) {
            match host.save_object(address) {
                Ok(state) => objects.push((slot, state)),
                Err(_) => lost.push(self.machine.program.memory.slot_name(slot).into_owned()),
            }
        }
        if !lost.is_empty() {
            lost.sort();
            return Err(lost);
        }
        let encoded = Encoded { state: self.state(), objects };
        postcard::to_allocvec(&encoded).map_err(|error| vec![error.to_string()])
    }

    pub(crate) fn state(&self) -> InstanceState {
        InstanceState {
            memory: self.machine.memory.clone(),
            loops: self.loops.iter().map(|work| work.state()).collect(),
            calls: self.machine.host.state(),
            statistics: self.record.statistics,
            mixed: self.record.mixed.clone(),
        }
    }

    /// Goes on from a state of an instance of the same program, which may have been another one.
    pub(crate) fn resume_encoded(&mut self, bytes: &[u8]) -> Result<(), String> {
        let encoded: Result<Encoded, _> = postcard::from_bytes(bytes);
        let Encoded { state, objects } = encoded.map_err(|_| "the state is damaged".to_owned())?;
        let fits = state.memory.len() == self.machine.program.memory.slots.len()
            && state.loops.len() == self.loops.len()
            && self.loops.iter().zip(&state.loops).all(|(work, state)| work.fits(state));
        if !fits {
            return Err("the state belongs to another model".to_owned());
        }
        self.renew_all();
        self.machine.memory.clone_from(&state.memory);
        self.make_objects()?;
        self.go_back(&state);
        let made = self.machine.host.foreign_objects(&self.machine.memory);
        for (slot, address) in made {
            let saved = objects.iter().find(|(of, _)| *of == slot).map(|(_, state)| &state[..]);
            let saved = saved.ok_or("the state of an external object is missing")?;
            let name = self.machine.program.memory.slot_name(slot).into_owned();
            let restored = self.machine.host.restore_object(address, saved);
            restored.map_err(|why| format!("the state of `{name}` cannot be restored: {why}"))?;
        }
        Ok(())
    }

    /// Back to a state of this very instance.
    pub(crate) fn go_back(&mut self, state: &InstanceState) {
        self.machine.memory.copy_from_slice(&state.memory);
        for (work, state) in self.loops.iter_mut().zip(&state.loops) {
            work.go_back(state);
        }
        self.machine.host.go_back(&state.calls);
        self.record.statistics = state.statistics;
        self.record.mixed.clone_from(&state.mixed);
    }

    /// Calls the constructors of external objects again, in their order.
    fn make_objects(&mut self) -> Result<(), String> {
        let program = self.machine.program.clone();
        for block in &program.sections.parameters.blocks {
            let Block::Assign(assign) = block else { continue };
            if !makes_object(&program, &assign.code) {
                continue;
            }
            if !self.machine.assign(assign).is_ok() {
                let why =
                    self.machine.host.failure().map_or_else(String::new, |failure| format!(": {}", failure.message));
                return Err(format!("an external object cannot be made again{why}"));
            }
        }
        Ok(())
    }
}

fn makes_object(program: &SimProgram, code: &Code) -> bool {
    let is_constructor = |id: CallableId| {
        let results = program.routines.callables.get(id).map_or(&[][..], |c| &c.results);
        results.iter().any(|ty| matches!(ty.base, BaseType::ExternalObject(_)))
    };
    code.calls.iter().any(|call| is_constructor(call.callable))
}

impl CallHost {
    fn state(&self) -> CallState {
        CallState { random: self.random().clone(), made: self.effects.made().clone(), n_calls: self.n_calls }
    }

    fn go_back(&mut self, state: &CallState) {
        *self.random_mut() = state.random.clone();
        self.effects.set_made(state.made.clone());
        self.n_calls = state.n_calls;
    }

    /// The objects that live in foreign code: where they are held, and their addresses.
    fn foreign_objects(&self, memory: &[f64]) -> Vec<(SlotId, usize)> {
        let program = self.program();
        let arguments = program.routines.callables.values().flat_map(|c| &c.arguments);
        let address = |slot: SlotId| {
            let handle = memory.get(slot.index()).copied().filter(|h| *h >= 0.0)?;
            match self.objects().get(handle as usize) {
                Some(Value::Object(object)) => object.address(),
                _ => None,
            }
        };
        let mut slots: Vec<SlotId> = arguments.flat_map(Argument::objects).collect();
        slots.sort();
        slots.dedup();
        slots.into_iter().filter_map(|slot| Some((slot, address(slot)?))).collect()
    }
}
