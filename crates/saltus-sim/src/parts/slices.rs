//! Programs of parts: the blocks, tables and slots of each, numbered anew.
//!
//! ```text
//! block:  a := f(x);  b := g(y)  (one assignment of both)     part of x: a := f(x)     part of y: b := g(y)
//! ```
//!
//! In: a program and its [`Components`]. Out: a [`Part`] for each, with the parameters that it reads. Values that depend on parameters and time alone are computed in
//! each part that uses them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use saltus_base::Index;
use saltus_program::{
    Assign, Block, Code, Condition, Events, Loop, Memory, Message, Op, Relation, RelationId, Section, Sections,
    SimProgram, SlotId, Slots, ValueId, Variables,
};

use super::components::{Components, holes, operands, sections};

/// A part of a program as a program of its own.
pub(crate) struct Part {
    pub program: Arc<SimProgram>,
    /// By slot of the part the slot of the whole.
    pub slots: Vec<SlotId>,
}

pub(super) fn slice(program: &SimProgram, components: &Components) -> Vec<Part> {
    let mut blocks: Vec<[Vec<Block>; 6]> = (0..components.n_parts).map(|_| Default::default()).collect();
    for (number, section) in sections(program).into_iter().enumerate() {
        // Elements of an array may belong to different parts.
        for block in section.blocks.iter().flat_map(Block::unrolled) {
            for (part, piece) in pieces(&block, components) {
                blocks[part][number].push(piece);
            }
        }
    }
    let mut tables = Tables::of(program, components);
    let parameters = Parameters::of(program);
    let mut seeds: Vec<Vec<SlotId>> = vec![Vec::new(); components.n_parts];
    for (index, part) in components.part_of.iter().enumerate() {
        if let Some(part) = part {
            seeds[*part].push(SlotId::from_usize(index));
        }
    }
    // Every part has these.
    let memory = &program.memory;
    let common: Vec<SlotId> =
        [memory.time, memory.initial, memory.terminal].into_iter().chain(memory.homotopy()).collect();
    seeds.iter_mut().for_each(|own| own.extend(&common));
    let all = blocks.into_iter().zip(seeds).enumerate();
    all.map(|(number, (blocks, own))| make(program, number, blocks, own, &mut tables, &parameters)).collect()
}

/// The part that something belongs to, by one of its slots.
fn part_of(components: &Components, slot: SlotId) -> Option<usize> {
    components.part_of.get(slot.index()).copied().flatten()
}

/// What each part computes of a block, which is unrolled.
fn pieces(block: &Block, components: &Components) -> BTreeMap<usize, Block> {
    match block {
        Block::Loop(_) => {
            let part = block.stored().into_iter().find_map(|slot| part_of(components, slot));
            part.into_iter().map(|part| (part, block.clone())).collect()
        }
        Block::Assign(assign) => {
            let mut wanted: BTreeMap<usize, Vec<(ValueId, SlotId)>> = BTreeMap::new();
            for &(value, slot) in &assign.stores {
                if let Some(part) = part_of(components, slot) {
                    wanted.entry(part).or_default().push((value, slot));
                }
            }
            if wanted.len() == 1 {
                return wanted.into_keys().map(|part| (part, block.clone())).collect();
            }
            wanted.into_iter().map(|(part, stores)| (part, Block::Assign(cut(assign, &stores)))).collect()
        }
        Block::Repeat(_) => BTreeMap::new(),
    }
}

/// As much of an assignment as these stores need.
fn cut(assign: &Assign, stores: &[(ValueId, SlotId)]) -> Assign {
    let code = &assign.code;
    // Where calls are made.
    let made: HashMap<u32, u32> = code
        .ops
        .iter()
        .enumerate()
        .filter_map(|(i, op)| if let Op::Call(k) = op { Some((*k, i as u32)) } else { None })
        .collect();
    let mut needed: BTreeSet<u32> = BTreeSet::new();
    let mut open: Vec<u32> = stores.iter().map(|store| store.0.0).collect();
    while let Some(value) = open.pop() {
        let Some(op) = code.ops.get(value as usize) else { continue };
        if !needed.insert(value) {
            continue;
        }
        operands(code, op, &mut |v| open.push(v.0));
        if let Op::Result(k, _) = op {
            open.extend(made.get(k));
        }
    }
    let mut place: HashMap<u32, u32> = HashMap::with_capacity(needed.len());
    let mut call_place: HashMap<u32, u32> = HashMap::new();
    let mut cut = Code::default();
    for &value in &needed {
        let at = |v: ValueId| ValueId(place.get(&v.0).copied().unwrap_or(0));
        let op = match code.ops[value as usize] {
            Op::Call(k) => {
                let mut call = code.calls[k as usize].clone();
                call.arguments.iter_mut().for_each(|v| *v = at(*v));
                call.conditions.iter_mut().for_each(|c| *c = Condition { value: at(c.value), ..*c });
                call_place.insert(k, cut.calls.len() as u32);
                cut.calls.push(call);
                Op::Call(cut.calls.len() as u32 - 1)
            }
            Op::Result(k, i) => Op::Result(call_place.get(&k).copied().unwrap_or(0), i),
            Op::Unary(f, a) => Op::Unary(f, at(a)),
            Op::Binary(f, a, b) => Op::Binary(f, at(a), at(b)),
            Op::Select(c, a, b) => Op::Select(at(c), at(a), at(b)),
            op @ (Op::Const(_) | Op::Load(_)) => op,
        };
        place.insert(value, cut.ops.len() as u32);
        cut.ops.push(op);
    }
    let stores = stores.iter().map(|&(value, slot)| (ValueId(place[&value.0]), slot)).collect();
    Assign { code: cut, stores, span: assign.span }
}

/// Where the section of parameters computes what.
struct Parameters {
    blocks: Vec<Assign>,
    /// The block and the value.
    computed: HashMap<SlotId, (usize, ValueId)>,
}

impl Parameters {
    fn of(program: &SimProgram) -> Self {
        let blocks = program.sections.parameters.unrolled().into_owned().blocks.into_iter();
        let blocks: Vec<Assign> =
            blocks.filter_map(|b| if let Block::Assign(assign) = b { Some(assign) } else { None }).collect();
        let stores = blocks.iter().enumerate().flat_map(|(at, b)| b.stores.iter().map(move |s| (s.1, (at, s.0))));
        Parameters { computed: stores.collect(), blocks }
    }

    /// As much of the section as these slots need; the slots that it reads and writes are added to them.
    fn section(&self, slots: &mut BTreeSet<SlotId>) -> Section {
        let mut stores: BTreeMap<usize, Vec<(ValueId, SlotId)>> = BTreeMap::new();
        let mut open: Vec<SlotId> = slots.iter().copied().collect();
        let mut seen: HashSet<(usize, u32)> = HashSet::new();
        let mut is_done: HashSet<SlotId> = HashSet::new();
        while let Some(slot) = open.pop() {
            slots.insert(slot);
            let Some(&(at, value)) = self.computed.get(&slot).filter(|_| is_done.insert(slot)) else { continue };
            stores.entry(at).or_default().push((value, slot));
            let code = &self.blocks[at].code;
            let mut values = vec![value.0];
            while let Some(value) = values.pop() {
                let Some(op) = code.ops.get(value as usize).filter(|_| seen.insert((at, value))) else { continue };
                match *op {
                    Op::Load(slot) => open.push(slot),
                    Op::Result(k, _) => {
                        values.extend(code.ops.iter().position(|op| *op == Op::Call(k)).map(|i| i as u32));
                    }
                    _ => operands(code, op, &mut |v| values.push(v.0)),
                }
            }
        }
        Section { blocks: stores.into_iter().map(|(at, s)| Block::Assign(cut(&self.blocks[at], &s))).collect() }
    }
}

/// The tables of all parts, by part, still with the slots of the whole.
struct Tables {
    events: Vec<Events>,
    pre: Vec<Vec<(SlotId, SlotId)>>,
    states: Vec<Vec<saltus_program::State>>,
    variables: Vec<Variables>,
}

impl Tables {
    fn of(program: &SimProgram, components: &Components) -> Self {
        let n = components.n_parts;
        let mut tables = Tables {
            events: vec![Events::default(); n],
            pre: vec![Vec::new(); n],
            states: vec![Vec::new(); n],
            variables: vec![Variables::default(); n],
        };
        let part = |slot: SlotId| part_of(components, slot);
        let events = &program.events;
        for relation in events.relations.values() {
            part(relation.memory).into_iter().for_each(|p| _ = tables.events[p].relations.push(relation.clone()));
        }
        let mut bounds: Vec<Option<RelationId>> = vec![None; events.bounds.len()];
        for (id, relation) in events.bounds.iter() {
            bounds[id.index()] = part(relation.memory).map(|p| tables.events[p].bounds.push(relation.clone()));
        }
        for event in &events.time_events {
            part(event.memory).into_iter().for_each(|p| tables.events[p].time_events.push(event.clone()));
        }
        for sample in &events.samples {
            part(sample.active).into_iter().for_each(|p| tables.events[p].samples.push(sample.clone()));
        }
        for reinit in &events.reinits {
            part(reinit.state).into_iter().for_each(|p| tables.events[p].reinits.push(reinit.clone()));
        }
        for assertion in &events.assertions {
            let mut own = assertion.clone();
            own.bounds = assertion.bounds.iter().filter_map(|id| bounds[id.index()]).collect();
            // What depends on parameters alone holds, or not, in the first part.
            let shown = holes(&assertion.message);
            let slots = [assertion.condition].into_iter().chain(shown);
            let p = slots.into_iter().find_map(part).unwrap_or(0);
            tables.events[p].assertions.push(own);
        }
        for check in &events.initial_checks {
            let p = part(check.left).or_else(|| part(check.right)).unwrap_or(0);
            tables.events[p].initial_checks.push(check.clone());
        }
        for &slot in &events.derivative_modes {
            part(slot).into_iter().for_each(|p| tables.events[p].derivative_modes.push(slot));
        }
        for &(variable, pre) in &program.memory.pre {
            part(variable).into_iter().for_each(|p| tables.pre[p].push((variable, pre)));
        }
        for state in &program.states {
            part(state.value).into_iter().for_each(|p| tables.states[p].push(state.clone()));
        }
        for variable in &program.variables {
            let (name, declared) = (|| variable.name(), variable.declared);
            part(variable.slot)
                .into_iter()
                .for_each(|p| tables.variables[p].push(name(), variable.slot, declared.clone()));
        }
        tables
    }
}

fn make(
    program: &SimProgram,
    number: usize,
    blocks: [Vec<Block>; 6],
    own: Vec<SlotId>,
    tables: &mut Tables,
    parameters: &Parameters,
) -> Part {
    let memory = &program.memory;
    let mut slots: BTreeSet<SlotId> = own.into_iter().collect();
    slots.extend(blocks.iter().flatten().flat_map(|b| b.loads().collect::<Vec<_>>()));
    let mut events = std::mem::take(&mut tables.events[number]);
    each_slot(&mut events, &mut |slot| _ = slots.insert(*slot));
    let parameters = parameters.section(&mut slots);
    let slots: Vec<SlotId> = slots.into_iter().collect();
    let new: HashMap<SlotId, SlotId> =
        slots.iter().enumerate().map(|(i, &slot)| (slot, SlotId::from_usize(i))).collect();
    let mut rename = |slot: &mut SlotId| *slot = new[slot];
    each_slot(&mut events, &mut rename);
    let section = |blocks: Vec<Block>| Section { blocks: blocks.into_iter().map(|b| renamed(b, &new)).collect() };
    let [guesses, initial, at_events, derivatives, crossings, outputs] = blocks;
    let sections = Sections {
        parameters: section(parameters.blocks),
        guesses: section(guesses),
        initial: section(initial),
        events: section(at_events),
        derivatives: section(derivatives),
        crossings: section(crossings),
        outputs: section(outputs),
        ..Sections::default()
    };
    let pre = std::mem::take(&mut tables.pre[number]);
    let mut states = std::mem::take(&mut tables.states[number]);
    for state in &mut states {
        (state.value, state.derivative) = (new[&state.value], new[&state.derivative]);
    }
    let mut variables = Variables::default();
    for variable in &std::mem::take(&mut tables.variables[number]) {
        variables.push(variable.name(), new[&variable.slot], variable.declared.clone());
    }
    let mut own_slots = Slots::default();
    for &slot in &slots {
        own_slots.push(memory.slots.name(slot), memory.slots[slot]);
    }
    let memory = Memory {
        slots: own_slots,
        time: new[&memory.time],
        initial: new[&memory.initial],
        terminal: new[&memory.terminal],
        pre: pre.into_iter().map(|(variable, pre)| (new[&variable], new[&pre])).collect(),
        input_derivatives: Vec::new(),
        structural: memory.structural.iter().filter_map(|slot| new.get(slot).copied()).collect(),
    };
    let part = SimProgram {
        memory,
        variables,
        states,
        sections,
        events,
        routines: program.routines.clone(),
        experiment: program.experiment.clone(),
        ..SimProgram::empty(&program.name)
    };
    Part { program: Arc::new(part), slots }
}

/// Every slot that the tables of events name.
fn each_slot(events: &mut Events, visit: &mut dyn FnMut(&mut SlotId)) {
    let mut relation = |r: &mut Relation| {
        [&mut r.memory, &mut r.crossing, &mut r.scale].into_iter().chain(&mut r.usual).for_each(&mut *visit);
    };
    events.relations.iter_mut().for_each(|(_, r)| relation(r));
    events.bounds.iter_mut().for_each(|(_, r)| relation(r));
    for event in &mut events.time_events {
        [&mut event.threshold, &mut event.memory].into_iter().for_each(&mut *visit);
    }
    for s in &mut events.samples {
        [&mut s.start, &mut s.interval, &mut s.active, &mut s.tick].into_iter().for_each(&mut *visit);
    }
    for r in &mut events.reinits {
        [&mut r.state, &mut r.active, &mut r.value].into_iter().for_each(&mut *visit);
    }
    for assertion in &mut events.assertions {
        visit(&mut assertion.condition);
        if let Message::Template { holes, .. } = &mut assertion.message {
            holes.iter_mut().flat_map(|hole| &mut hole.1).for_each(&mut *visit);
        }
    }
    for check in &mut events.initial_checks {
        [&mut check.left, &mut check.right].into_iter().for_each(&mut *visit);
    }
    events.derivative_modes.iter_mut().for_each(visit);
}

fn renamed(block: Block, new: &HashMap<SlotId, SlotId>) -> Block {
    let code = |code: &mut Code| {
        for op in &mut code.ops {
            if let Op::Load(slot) = op {
                *slot = new[slot];
            }
        }
    };
    let assign = |assign: &mut Assign| {
        code(&mut assign.code);
        assign.stores.iter_mut().for_each(|store| store.1 = new[&store.1]);
    };
    match block {
        Block::Assign(mut own) => {
            assign(&mut own);
            Block::Assign(own)
        }
        Block::Loop(l) => {
            let mut own: Loop = (*l).clone();
            assign(&mut own.body);
            own.discrete.iter_mut().for_each(assign);
            own.jacobian.iter_mut().for_each(|j| code(&mut j.code));
            own.unknowns.iter_mut().for_each(|u| u.slot = new[&u.slot]);
            Block::Loop(Arc::new(own))
        }
        // They were unrolled.
        Block::Repeat(repeat) => Block::Repeat(repeat),
    }
}
