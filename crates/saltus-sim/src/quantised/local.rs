//! Events where they happen: only what depends on something that changed is evaluated again.
//!
//! ```text
//! converter 17 switches:   its relation, what reads it, what reads that …    and none of the other 999 converters
//! ```
//!
//! In: relations, timers and samples that are due, and memory in which discrete variables are up to date and continuous ones are not. Out: the right
//! limits of what changed, with what it was before. The rounds are those of [`crate::event`]: blocks of the event section in their order, then
//! `reinit`s, then `pre := value`. A block is evaluated in a round if something that it reads has jumped. Continuous variables that it reads are
//! brought to the time of the event first, with the values of relations at hand.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use saltus_base::Index;
use saltus_numerics::Liqss2;
use saltus_program::{
    Activation, Block, Code, ModelFunctions, Op, RelationId, SimProgram, SlotId, SlotKind, Status, ValueId,
};

use super::slices::NONE;
use crate::event::Flips;
use crate::masking::memories;
use crate::model::Model;

/// How the blocks of the event section depend on each other.
pub(super) struct Local {
    loads: Vec<Box<[SlotId]>>,
    stores: Vec<Box<[SlotId]>>,
    /// By slot the block that computes it, or [`NONE`].
    writer: Vec<u32>,
    /// By slot the blocks that read it.
    readers: Vec<Vec<u32>>,
    /// By slot those of its `pre` values.
    pre: HashMap<SlotId, Vec<SlotId>>,
    /// By slot of a `pre` value of a state: the state.
    pre_state: HashMap<SlotId, u32>,
    /// By slot that says whether a `reinit` is active: its positions.
    reinits: HashMap<SlotId, Vec<u32>>,
    /// By block what has to be computed before, made when first asked for.
    before: Vec<Option<Box<[u32]>>>,
    /// By slot: is it computed from states and time? Relations that are not watched for a while count as well.
    is_derived: Vec<bool>,
    /// By block: does it compute such a relation?
    is_unwatched: Vec<bool>,
    /// The number of the event, and by block, state and `pre` of a state that of the last one at which it was brought up to date.
    event: u64,
    fresh_blocks: Vec<u64>,
    fresh_states: Vec<u64>,
    fresh_pre: Vec<u64>,
    /// Blocks of this round and of the next one.
    now: Round,
    next: Round,
    /// What was written during the event, with the values before.
    log: Vec<(SlotId, f64)>,
    is_logged: Vec<u64>,
    asked: Vec<u32>,
    /// By memory the relation.
    relation_of: HashMap<SlotId, RelationId>,
    /// Relations that changed, in which round.
    flips: Flips,
    round: usize,
}

#[derive(Default)]
struct Round {
    queue: BinaryHeap<Reverse<u32>>,
    is_queued: Vec<bool>,
}

impl Round {
    fn push(&mut self, block: u32) {
        if !std::mem::replace(&mut self.is_queued[block as usize], true) {
            self.queue.push(Reverse(block));
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let Reverse(block) = self.queue.pop()?;
        self.is_queued[block as usize] = false;
        Some(block)
    }
}

/// Where an event happens.
pub(super) struct Point<'a> {
    pub program: &'a SimProgram,
    pub model: &'a mut Model,
    pub states: &'a Liqss2,
    /// By slot the state that it holds, or [`NONE`].
    pub state_of: &'a [u32],
    pub t: f64,
}

/// What is due at an event.
#[derive(Default)]
pub(super) struct Seeds {
    /// Memories of relations and timers.
    pub memories: Vec<SlotId>,
    /// Of samples: set in the first round, and only in it.
    pub active: Vec<SlotId>,
}

/// How an event was settled.
pub(crate) enum Outcome {
    Settled {
        rounds: usize,
        /// The position of an active `terminate`.
        termination: Option<usize>,
    },
    /// A block cannot be evaluated: nothing has happened yet.
    Failed,
    /// It does not come to rest.
    Unsettled { changing: Vec<SlotId> },
}

/// Why events concern the whole model.
pub(super) fn obstacle(program: &SimProgram) -> Option<&'static str> {
    let has_effect = |c: &saltus_program::Callable| {
        c.effect.is_some() || c.arguments.iter().any(|argument| !argument.objects().is_empty())
    };
    let kind = |slot: SlotId| program.memory.slots.get(slot).map(|s| s.kind);
    let is_plain =
        |slot: SlotId| kind(slot) == Some(SlotKind::State) || !kind(slot).is_some_and(SlotKind::is_continuous);
    let obstacles = [
        (!program.clocks.base_partitions.is_empty(), "it has clocks"),
        (program.routines.callables.values().any(has_effect), "it calls functions with effects or external objects"),
        (!program.memory.pre.iter().all(|(of, _)| is_plain(*of)), "it uses `pre` of a continuous variable"),
        (is_exposed(program), "a discrete variable follows continuous ones without an event"),
    ];
    obstacles.into_iter().find(|(holds, _)| *holds).map(|(_, what)| what)
}

/// Does a discrete variable other than a relation depend on continuous ones at all events, not only when something else changes?
fn is_exposed(program: &SimProgram) -> bool {
    let events = &program.events;
    let mut is_relation = vec![false; program.memory.slots.len()];
    let memories = events.relations.values().map(|r| r.memory).chain(events.time_events.iter().map(|e| e.memory));
    let drivers = events.reinits.iter().map(|r| r.value);
    memories.chain(drivers).for_each(|slot| is_relation[slot.index()] = true);
    let is_discrete = |slot: SlotId| {
        program.memory.slots.get(slot).is_some_and(|s| !s.kind.is_continuous() && !is_relation[slot.index()])
    };
    program.sections.events.blocks.iter().any(|block| {
        let Block::Assign(assign) = block else { return false };
        if !assign.stores.iter().any(|&(_, slot)| is_discrete(slot)) {
            return false;
        }
        let exposed = exposed_values(program, &assign.code);
        let is_value_exposed = |value: ValueId| exposed.get(value.0 as usize).copied().unwrap_or(true);
        assign.stores.iter().any(|&(value, slot)| is_discrete(slot) && is_value_exposed(value))
    })
}

fn exposed_values(program: &SimProgram, code: &Code) -> Vec<bool> {
    let mut exposed: Vec<bool> = Vec::with_capacity(code.ops.len());
    for op in &code.ops {
        let of = |v: ValueId| exposed.get(v.0 as usize).copied().unwrap_or(true);
        let value = match *op {
            Op::Const(_) => false,
            Op::Load(slot) => {
                let kind = program.memory.slots.get(slot).map(|s| s.kind);
                kind.is_some_and(|kind| kind.is_continuous() && kind != SlotKind::Input)
            }
            Op::Unary(_, a) => of(a),
            Op::Binary(_, a, b) => of(a) || of(b),
            // `if edge(c) then x else pre(y)`: what is taken over at an instant is not followed.
            Op::Select(c, a, b) => of(c) || of(a) && of(b),
            Op::Call(k) | Op::Result(k, _) => code.calls.get(k as usize).is_none_or(|call| call.operands().any(of)),
        };
        exposed.push(value);
    }
    exposed
}

impl Local {
    /// `unwatched`: memories of relations that are not watched at all times.
    pub fn new(program: &SimProgram, state_of: &[u32], unwatched: &[SlotId]) -> Self {
        let n_slots = program.memory.slots.len();
        let blocks = &program.sections.events.blocks;
        let (mut writer, mut readers) = (vec![NONE; n_slots], vec![Vec::new(); n_slots]);
        let (mut loads, mut stores) = (Vec::with_capacity(blocks.len()), Vec::with_capacity(blocks.len()));
        for (k, block) in blocks.iter().enumerate() {
            let mut read: Vec<SlotId> = block.loads().collect();
            read.sort_unstable();
            read.dedup();
            let stored = block.stored();
            stored.iter().for_each(|slot| writer[slot.index()] = k as u32);
            read.retain(|slot| !stored.contains(slot));
            read.iter().for_each(|slot| readers[slot.index()].push(k as u32));
            loads.push(read.into_boxed_slice());
            stores.push(stored.into_boxed_slice());
        }
        let mut pre: HashMap<SlotId, Vec<SlotId>> = HashMap::new();
        let mut pre_state = HashMap::new();
        for &(variable, before) in &program.memory.pre {
            pre.entry(variable).or_default().push(before);
            if state_of[variable.index()] != NONE {
                pre_state.insert(before, state_of[variable.index()]);
            }
        }
        let mut reinits: HashMap<SlotId, Vec<u32>> = HashMap::new();
        for (k, reinit) in program.events.reinits.iter().enumerate() {
            reinits.entry(reinit.active).or_default().push(k as u32);
        }
        let is_derived =
            program.memory.slots.iter().map(|(id, slot)| {
                slot.kind.is_continuous() && state_of[id.index()] == NONE && writer[id.index()] != NONE
            });
        let mut is_derived: Vec<bool> = is_derived.collect();
        let mut is_unwatched = vec![false; blocks.len()];
        for memory in unwatched {
            if let Some(is_unwatched) = is_unwatched.get_mut(writer[memory.index()] as usize) {
                *is_unwatched = true;
                is_derived[memory.index()] = true;
            }
        }
        let round = || Round { queue: BinaryHeap::new(), is_queued: vec![false; blocks.len()] };
        Local {
            is_derived,
            is_unwatched,
            before: vec![None; blocks.len()],
            event: 0,
            fresh_blocks: vec![0; blocks.len()],
            fresh_states: vec![0; program.states.len()],
            fresh_pre: vec![0; program.states.len()],
            now: round(),
            next: round(),
            log: Vec::new(),
            is_logged: vec![0; n_slots],
            asked: Vec::new(),
            relation_of: memories(program),
            flips: Flips::new(),
            round: 0,
            loads,
            stores,
            writer,
            readers,
            pre,
            pre_state,
            reinits,
        }
    }

    /// What was written with the values that it had before.
    pub fn log(&self) -> &[(SlotId, f64)] {
        &self.log
    }

    /// Relations that changed, also those that changed back.
    pub fn flips(&self) -> &Flips {
        &self.flips
    }

    pub fn settle(&mut self, point: Point, seeds: &Seeds, most_rounds: usize) -> Outcome {
        let mut point = point;
        self.event += 1;
        self.log.clear();
        self.flips.clear();
        let program = point.program;
        point.model.set(program.memory.time, point.t);
        for &memory in &seeds.memories {
            let writer = self.writer[memory.index()];
            if writer != NONE {
                self.now.push(writer);
            }
        }
        seeds.active.iter().for_each(|&active| self.touch(active));
        let mut termination = None;
        for round in 1..=most_rounds {
            self.asked.clear();
            self.round = round;
            while let Some(block) = self.now.pop() {
                if !self.bring_up_to_date(&mut point, block) || !self.evaluate(&mut point, block, true) {
                    self.give_up(point.model);
                    return Outcome::Failed;
                }
            }
            if termination.is_none() {
                let active = |t: &saltus_program::Termination| point.model.get(t.active) != 0.0;
                termination = program.events.terminations.iter().position(active);
            }
            if !self.reinitialise(&mut point) {
                self.give_up(point.model);
                return Outcome::Failed;
            }
            self.update_pre(&mut point);
            if round == 1 {
                for &active in &seeds.active {
                    self.write(point.model, active, 0.0);
                    self.touch_next(active);
                }
            }
            std::mem::swap(&mut self.now, &mut self.next);
            if self.now.queue.is_empty() {
                return Outcome::Settled { rounds: round, termination };
            }
        }
        let changing = self.now.queue.iter().flat_map(|Reverse(k)| self.stores[*k as usize].iter().copied()).collect();
        Outcome::Unsettled { changing }
    }

    /// Writes and remembers what was there.
    fn write(&mut self, model: &mut Model, slot: SlotId, value: f64) {
        self.remember(model, slot);
        model.set(slot, value);
    }

    fn remember(&mut self, model: &Model, slot: SlotId) {
        if std::mem::replace(&mut self.is_logged[slot.index()], self.event) != self.event {
            self.log.push((slot, model.get(slot)));
        }
    }

    /// Whoever reads this is evaluated in this round.
    fn touch(&mut self, slot: SlotId) {
        for &reader in &self.readers[slot.index()] {
            self.now.push(reader);
        }
    }

    fn touch_next(&mut self, slot: SlotId) {
        for &reader in &self.readers[slot.index()] {
            self.next.push(reader);
        }
    }

    /// As if nothing had happened.
    fn give_up(&mut self, model: &mut Model) {
        self.log.drain(..).rev().for_each(|(slot, value)| model.set(slot, value));
        while self.now.pop().is_some() {}
        while self.next.pop().is_some() {}
    }

    /// Computes the continuous variables that a block reads, as far as that has not been done at this event.
    fn bring_up_to_date(&mut self, point: &mut Point, block: u32) -> bool {
        let Some(before) = self.before[block as usize].take() else {
            let before = self.find_before(block);
            self.before[block as usize] = Some(before);
            return self.bring_up_to_date(point, block);
        };
        let is_done = before.iter().all(|&k| {
            self.fresh_blocks[k as usize] == self.event || self.evaluate(point, k, self.is_unwatched[k as usize])
        });
        self.before[block as usize] = Some(before);
        is_done
    }

    /// Blocks with the continuous variables that a block depends on, in order.
    fn find_before(&self, block: u32) -> Box<[u32]> {
        let mut found: Vec<u32> = Vec::new();
        let mut open = vec![block];
        let mut seen = std::collections::HashSet::new();
        while let Some(k) = open.pop() {
            for slot in self.loads[k as usize].iter().filter(|slot| self.is_derived[slot.index()]) {
                let writer = self.writer[slot.index()];
                if writer < block && seen.insert(writer) {
                    found.push(writer);
                    open.push(writer);
                }
            }
        }
        found.sort_unstable();
        found.into_boxed_slice()
    }

    /// Evaluates a block whose inputs are up to date but for states; `spreads`: whoever reads what has changed is evaluated, too.
    fn evaluate(&mut self, point: &mut Point, block: u32, spreads: bool) -> bool {
        let k = block as usize;
        let loads = std::mem::take(&mut self.loads[k]);
        for &slot in &loads {
            self.take_state(point, slot);
        }
        self.loads[k] = loads;
        let stores = std::mem::take(&mut self.stores[k]);
        let before: Vec<f64> = stores.iter().map(|&slot| point.model.get(slot)).collect();
        for &slot in &stores {
            self.remember(point.model, slot);
        }
        let status = point.model.eval_blocks(Activation::Events, &[block]);
        self.fresh_blocks[k] = self.event;
        for (&slot, before) in stores.iter().zip(before) {
            if let Some(own) = self.reinits.get(&slot) {
                self.asked.extend(own);
            }
            if spreads && point.model.get(slot).to_bits() != before.to_bits() {
                if let Some(&relation) = self.relation_of.get(&slot) {
                    self.flips.push((self.round, relation, point.model.get(slot) != 0.0));
                }
                for &reader in &self.readers[slot.index()] {
                    if reader > block { self.now.push(reader) } else { self.next.push(reader) }
                }
            }
        }
        self.stores[k] = stores;
        status == Status::Ok
    }

    /// A state, or its `pre` value, at the time of the event.
    fn take_state(&mut self, point: &mut Point, slot: SlotId) {
        if let Some(&j) = self.pre_state.get(&slot) {
            if std::mem::replace(&mut self.fresh_pre[j as usize], self.event) != self.event {
                point.model.set(slot, point.states.value(j as usize, point.t));
            }
            return;
        }
        let j = point.state_of[slot.index()];
        if j == NONE {
            return;
        }
        if std::mem::replace(&mut self.fresh_states[j as usize], self.event) != self.event {
            point.model.set(slot, point.states.value(j as usize, point.t));
        }
    }

    /// Sets states whose `reinit`s have become active; false if a value cannot be computed.
    fn reinitialise(&mut self, point: &mut Point) -> bool {
        let mut asked = std::mem::take(&mut self.asked);
        asked.sort_unstable();
        asked.dedup();
        for &k in &asked {
            let reinit = &point.program.events.reinits[k as usize];
            if point.model.get(reinit.active) == 0.0 {
                continue;
            }
            let writer = self.writer[reinit.value.index()];
            let is_stale = writer != NONE && self.fresh_blocks[writer as usize] != self.event;
            if is_stale && !(self.bring_up_to_date(point, writer) && self.evaluate(point, writer, false)) {
                return false;
            }
            self.take_state(point, reinit.state);
            let new = point.model.get(reinit.value);
            if point.model.get(reinit.state) != new {
                self.write(point.model, reinit.state, new);
                self.touch_next(reinit.state);
            }
        }
        asked.clear();
        self.asked = asked;
        true
    }

    /// `pre(v) := v` of what has changed.
    fn update_pre(&mut self, point: &mut Point) {
        for k in 0..self.log.len() {
            let (slot, _) = self.log[k];
            let Some(all) = self.pre.get(&slot).cloned() else { continue };
            let value = point.model.get(slot);
            for before in all {
                if let Some(&j) = self.pre_state.get(&before) {
                    self.fresh_pre[j as usize] = self.event;
                }
                if point.model.get(before).to_bits() != value.to_bits() {
                    self.write(point.model, before, value);
                    self.touch_next(before);
                }
            }
        }
    }
}
