//! Which slots of a program belong together: the components of the graph whose edges are equations, relations, `pre` and `reinit`.
//!
//! In: a program. Out: by slot the number of its part, none for what all may read: time, flags and parameters. Components without states are one
//! part. An assignment of many variables at once ties together only what is used for each of them.

use saltus_base::Index;
use saltus_graph::DisjointSets;
use saltus_program::{Assign, Block, Code, Message, Op, Section, SimProgram, SlotId, ValueId};

/// The parts of a program, if there are several with states.
pub(super) struct Components {
    /// By slot.
    pub part_of: Vec<Option<usize>>,
    pub n_parts: usize,
}

/// Sections that are taken apart: what is left out has no blocks in a program that can be taken apart.
pub(super) fn sections(program: &SimProgram) -> [&Section; 6] {
    let s = &program.sections;
    [&s.guesses, &s.initial, &s.events, &s.derivatives, &s.crossings, &s.outputs]
}

/// Is there something that concerns all parts at once? In words, what.
pub(super) fn obstacle(program: &SimProgram) -> Option<&'static str> {
    let s = &program.sections;
    let is_used = |section: &Section| !section.blocks.is_empty();
    let has_effect = |c: &saltus_program::Callable| {
        c.effect.is_some() || c.arguments.iter().any(|argument| !argument.objects().is_empty())
    };
    let obstacles = [
        (program.configuration.is_some(), "its structure changes"),
        (!program.state_sets.is_empty(), "its states are chosen while it runs"),
        (!program.clocks.base_partitions.is_empty(), "it has clocks"),
        (!program.history.delays.is_empty() || !program.history.transports.is_empty(), "it has delays"),
        (!program.events.terminations.is_empty(), "it may terminate"),
        ([&s.homotopy, &s.selection, &s.entry, &s.arrival].into_iter().any(is_used), "it is initialised by homotopy"),
        (s.parameters.blocks.iter().any(|b| matches!(b, Block::Loop(_))), "its parameters depend on each other"),
        (program.memory.slots.values().any(|slot| slot.kind == saltus_program::SlotKind::Input), "it has inputs"),
        (program.routines.callables.values().any(has_effect), "it calls functions with effects or external objects"),
    ];
    obstacles.into_iter().find(|(holds, _)| *holds).map(|(_, what)| what)
}

impl Components {
    pub fn of(program: &SimProgram) -> Option<Components> {
        let mut graph = Graph::new(program);
        for section in sections(program) {
            section.blocks.iter().for_each(|block| graph.block(block));
        }
        graph.tables();
        graph.finish()
    }
}

struct Graph<'p> {
    program: &'p SimProgram,
    sets: DisjointSets,
    /// Slots that belong to a part: others are read only.
    is_own: Vec<bool>,
}

impl<'p> Graph<'p> {
    fn new(program: &'p SimProgram) -> Self {
        let n = program.memory.slots.len();
        let mut is_own = vec![false; n];
        let mut own = |slot: SlotId| {
            if let Some(is_own) = is_own.get_mut(slot.index()) {
                *is_own = true;
            }
        };
        sections(program).into_iter().flat_map(|s| &s.blocks).flat_map(Block::stored).for_each(&mut own);
        program.states.iter().flat_map(|s| [s.value, s.derivative]).for_each(&mut own);
        program.memory.pre.iter().flat_map(|&(variable, pre)| [variable, pre]).for_each(&mut own);
        program.events.samples.iter().flat_map(|s| [s.active, s.tick]).for_each(&mut own);
        program.events.relations.values().chain(program.events.bounds.values()).map(|r| r.memory).for_each(&mut own);
        Graph { program, sets: DisjointSets::with_len(n), is_own }
    }

    fn own(&self, slot: SlotId) -> Option<u32> {
        self.is_own.get(slot.index()).copied().unwrap_or(false).then_some(slot.index() as u32)
    }

    /// Joins all of these that belong to a part.
    fn join(&mut self, slots: impl IntoIterator<Item = SlotId>) {
        let mut first = None;
        for slot in slots {
            let Some(slot) = self.own(slot) else { continue };
            match first {
                None => first = Some(slot),
                Some(first) => _ = self.sets.union(first, slot),
            }
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Loop(_) => self.join(block.stored().into_iter().chain(block.loads())),
            Block::Assign(assign) => self.assign(assign),
            Block::Repeat(repeat) => repeat.for_each_element(&mut |assign| self.assign(assign)),
        }
    }

    fn assign(&mut self, assign: &Assign) {
        let values = self.values(&assign.code);
        for &(value, slot) in &assign.stores {
            let known = values.get(value.0 as usize).copied().flatten();
            if let (Some(known), Some(slot)) = (known, self.own(slot)) {
                self.sets.union(known, slot);
            }
        }
    }

    /// By operation a slot that it depends on; all that it depends on are joined.
    fn values(&mut self, code: &Code) -> Vec<Option<u32>> {
        let mut values: Vec<Option<u32>> = Vec::with_capacity(code.ops.len());
        let mut calls: Vec<Option<u32>> = vec![None; code.calls.len()];
        for op in &code.ops {
            let slot = match *op {
                Op::Load(slot) => self.own(slot),
                Op::Result(k, _) => calls.get(k as usize).copied().flatten(),
                _ => {
                    let mut first = None;
                    operands(code, op, &mut |v| {
                        if let Some(slot) = values.get(v.0 as usize).copied().flatten() {
                            match first {
                                None => first = Some(slot),
                                Some(first) => _ = self.sets.union(first, slot),
                            }
                        }
                    });
                    first
                }
            };
            if let Op::Call(k) = *op
                && let Some(call) = calls.get_mut(k as usize)
            {
                *call = slot;
            }
            values.push(slot);
        }
        values
    }

    fn tables(&mut self) {
        let program = self.program;
        let events = &program.events;
        program.states.iter().for_each(|s| self.join([s.value, s.derivative]));
        program.memory.pre.iter().for_each(|&(variable, pre)| self.join([variable, pre]));
        for relation in events.relations.values().chain(events.bounds.values()) {
            self.join([relation.memory, relation.crossing, relation.scale].into_iter().chain(relation.usual));
        }
        events.time_events.iter().for_each(|e| self.join([e.threshold, e.memory]));
        events.samples.iter().for_each(|s| self.join([s.start, s.interval, s.active, s.tick]));
        events.reinits.iter().for_each(|r| self.join([r.state, r.active, r.value]));
        events.initial_checks.iter().for_each(|c| self.join([c.left, c.right]));
        for assertion in &events.assertions {
            let bounds = assertion.bounds.iter().filter_map(|&id| Some(events.bounds.get(id)?.memory));
            self.join([assertion.condition].into_iter().chain(bounds).chain(holes(&assertion.message)));
        }
    }

    /// Numbers the components in the order of their first states.
    fn finish(mut self) -> Option<Components> {
        let mut number = vec![None; self.is_own.len()];
        let mut n_parts = 0;
        for state in &self.program.states {
            let root = self.sets.find(state.value.index() as u32) as usize;
            if number[root].is_none() {
                number[root] = Some(n_parts);
                n_parts += 1;
            }
        }
        if n_parts < 2 {
            return None;
        }
        let mut has_rest = false;
        let mut part_of = vec![None; self.is_own.len()];
        for slot in (0..part_of.len()).filter(|&slot| self.is_own[slot]) {
            let part = number[self.sets.find(slot as u32) as usize];
            has_rest |= part.is_none();
            part_of[slot] = Some(part.unwrap_or(n_parts));
        }
        Some(Components { part_of, n_parts: n_parts + usize::from(has_rest) })
    }
}

/// Calls `visit` with what an operation uses, calls included.
pub(super) fn operands(code: &Code, op: &Op, visit: &mut dyn FnMut(ValueId)) {
    match *op {
        Op::Const(_) | Op::Load(_) | Op::Result(..) => {}
        Op::Unary(_, a) => visit(a),
        Op::Binary(_, a, b) => [a, b].into_iter().for_each(visit),
        Op::Select(c, a, b) => [c, a, b].into_iter().for_each(visit),
        Op::Call(k) => code.calls.get(k as usize).into_iter().flat_map(|c| c.operands()).for_each(visit),
    }
}

/// The variables that a message shows.
pub(super) fn holes(message: &Message) -> Vec<SlotId> {
    match message {
        Message::Text(_) => Vec::new(),
        Message::Template { holes, .. } => holes.iter().flat_map(|hole| hole.1.iter().copied()).collect(),
    }
}
