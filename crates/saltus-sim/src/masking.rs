//! Relations that cannot change anything in the present mode: they are not watched.
//!
//! ```modelica
//! when b or x > 3 then    // while b is true it does not matter whether x > 3
//! ```
//!
//! In: a program, and after each event the values of its discrete variables, which are frozen until the next one. Out: which
//! relations are masked: each path from their value to something that is stored passes an `and`, an `or` or an `if` that is
//! decided by frozen values. A relation is frozen only while it is watched: of `h < 0 and v < 0`, both false, one masks the
//! other, not each the other. At the next event all relations take their literal values, as always.

use std::collections::HashMap;

use saltus_base::Index;
use saltus_program::{Assign, BinaryFn, Block, Code, Op, RelationId, Section, SimProgram, SlotId, UnaryFn, ValueId};

/// A relation with more or longer paths than these is always watched.
const MOST_PATHS: usize = 64;
const LONGEST_PATH: usize = 30;

/// A condition of discrete variables.
#[derive(Clone, Debug)]
pub(crate) enum Frozen {
    Constant(f64),
    Slot(SlotId),
    Unary(UnaryFn, Box<Frozen>),
    Binary(BinaryFn, Box<Frozen>, Box<Frozen>),
}

/// Whatever the relation says, it does not matter if `condition` has this value.
#[derive(Clone, Debug)]
struct Decider {
    condition: Frozen,
    decides_if: bool,
    /// Relations in the condition.
    relations: Vec<RelationId>,
}

/// The deciders on one way from a relation to something that is stored.
type Path = Vec<Decider>;

/// Relations that may be masked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Masking {
    candidates: Vec<Candidate>,
    n_relations: usize,
}

#[derive(Clone, Debug)]
struct Candidate {
    relation: RelationId,
    /// All its ways to something that is stored.
    paths: Vec<Path>,
}

/// A part of a block, and its values that count.
pub(crate) struct Place<'a> {
    pub code: &'a Code,
    /// Values that are stored, and values that are used in another way.
    pub outputs: Vec<(ValueId, Option<SlotId>)>,
}

impl Masking {
    pub fn new(program: &SimProgram) -> Self {
        let relations = memories(program);
        // `None`: always to be watched.
        let mut paths: Vec<Option<Vec<Path>>> = vec![Some(Vec::new()); program.events.relations.len()];
        for (variable, _) in &program.memory.pre {
            if let Some(id) = relations.get(variable) {
                paths[id.index()] = None;
            }
        }
        let mut follow = |place: &Place| {
            let found = place.relations(&relations);
            let users = if found.is_empty() { Vec::new() } else { place.users() };
            for (value, id) in found {
                let walk = Walk { program, place, users: &users, own: Some(id), relations: &relations };
                let known = paths[id.index()].take();
                paths[id.index()] = known.and_then(|known| walk.add_paths(value, known));
            }
        };
        for block in sections(program).flat_map(|s| &s.blocks) {
            // Arrays seldom have relations, and always many elements.
            let is_concerned = |memory: &SlotId| block.reads(*memory) || block.stores(*memory);
            if !matches!(block, Block::Repeat(_)) || relations.keys().any(is_concerned) {
                for_each_place(block, &mut follow);
            }
        }
        let candidates = paths.into_iter().enumerate().filter_map(|(i, paths)| {
            let mut paths = paths.filter(|p| !p.is_empty())?;
            // What does not depend on other relations decides without a condition on them.
            paths.iter_mut().for_each(|path| path.sort_by_key(|decider| decider.relations.len()));
            Some(Candidate { relation: RelationId::from_usize(i), paths })
        });
        Masking { candidates: candidates.collect(), n_relations: program.events.relations.len() }
    }

    /// The relations that are masked while discrete variables have the values in `memory`.
    pub fn masked(&self, memory: &[f64]) -> Vec<RelationId> {
        let mut masked = Vec::new();
        if self.candidates.is_empty() {
            return masked;
        }
        let mut is_masked = vec![false; self.n_relations];
        // What has decided for an earlier one must stay watched.
        let mut has_decided = vec![false; self.n_relations];
        for (candidate, Candidate { relation, .. }) in self.candidates.iter().enumerate() {
            if has_decided[relation.index()] {
                continue;
            }
            let deciders = self.deciders(candidate, memory, &|relation| !is_masked[relation.index()]);
            if let Some(deciders) = deciders {
                is_masked[relation.index()] = true;
                deciders.into_iter().for_each(|decider| has_decided[decider.index()] = true);
                masked.push(*relation);
            }
        }
        masked
    }

    /// The relations that decide for a candidate, if it is masked while those are watched of which that is said.
    pub fn deciders(
        &self,
        candidate: usize,
        memory: &[f64],
        is_watched: &dyn Fn(&RelationId) -> bool,
    ) -> Option<Vec<RelationId>> {
        let decides = |d: &&Decider| d.condition.holds(memory) == d.decides_if && d.relations.iter().all(is_watched);
        let mut deciders = Vec::new();
        for path in &self.candidates.get(candidate)?.paths {
            deciders.extend_from_slice(&path.iter().find(decides)?.relations);
        }
        Some(deciders)
    }

    pub fn n_candidates(&self) -> usize {
        self.candidates.len()
    }

    /// The relation that may be masked.
    pub fn candidate(&self, candidate: usize) -> RelationId {
        self.candidates[candidate].relation
    }

    /// Variables in the conditions that may mask a candidate.
    pub fn for_each_slot(&self, candidate: usize, visit: &mut dyn FnMut(SlotId)) {
        let paths = self.candidates[candidate].paths.iter();
        paths.flatten().for_each(|decider| decider.condition.for_each_slot(visit));
    }
}

impl Frozen {
    fn value(&self, memory: &[f64]) -> f64 {
        match self {
            Frozen::Constant(value) => *value,
            Frozen::Slot(slot) => memory.get(slot.index()).copied().unwrap_or(f64::NAN),
            Frozen::Unary(function, a) => function.apply(a.value(memory)),
            Frozen::Binary(function, a, b) => function.apply(a.value(memory), b.value(memory)),
        }
    }

    /// Calls `visit` with each variable.
    fn for_each_slot(&self, visit: &mut dyn FnMut(SlotId)) {
        match self {
            Frozen::Constant(_) => {}
            Frozen::Slot(slot) => visit(*slot),
            Frozen::Unary(_, a) => a.for_each_slot(visit),
            Frozen::Binary(_, a, b) => {
                a.for_each_slot(visit);
                b.for_each_slot(visit);
            }
        }
    }

    pub fn holds(&self, memory: &[f64]) -> bool {
        self.value(memory) != 0.0
    }
}

/// The slots that remember relations.
pub(crate) fn memories(program: &SimProgram) -> HashMap<SlotId, RelationId> {
    program.events.relations.iter().map(|(id, r)| (r.memory, id)).collect()
}

/// Everything that is evaluated between and at events.
fn sections(program: &SimProgram) -> impl Iterator<Item = &Section> {
    let unclocked = [
        &program.sections.events,
        &program.sections.derivatives,
        &program.sections.crossings,
        &program.sections.outputs,
        &program.sections.selection,
    ];
    unclocked.into_iter().chain(&program.clocks.sections)
}

/// Shows the places of a block, and of arrays those of all elements.
pub(crate) fn for_each_place(block: &Block, visit: &mut dyn FnMut(&Place)) {
    let stored = |stores: &[(ValueId, SlotId)]| stores.iter().map(|&(v, s)| (v, Some(s))).collect::<Vec<_>>();
    let mut assigned = |assign: &Assign| visit(&Place { code: &assign.code, outputs: stored(&assign.stores) });
    match block {
        Block::Assign(assign) => assigned(assign),
        Block::Repeat(repeat) => repeat.for_each_element(&mut assigned),
        Block::Loop(l) => {
            let mut outputs = stored(&l.body.stores);
            outputs.extend(l.residuals.iter().map(|&r| (r, None)));
            visit(&Place { code: &l.body.code, outputs });
            if let Some(j) = &l.jacobian {
                visit(&Place { code: &j.code, outputs: j.entries.iter().map(|e| (e.2, None)).collect() });
            }
            if let Some(d) = &l.discrete {
                visit(&Place { code: &d.code, outputs: stored(&d.stores) });
            }
        }
    }
}

impl Place<'_> {
    /// By value, the operations that use it.
    fn users(&self) -> Vec<Vec<ValueId>> {
        let mut users = vec![Vec::new(); self.code.ops.len()];
        for (i, op) in self.code.ops.iter().enumerate() {
            let operands = match *op {
                Op::Unary(_, a) => vec![a],
                Op::Binary(_, a, b) => vec![a, b],
                Op::Select(condition, a, b) => vec![condition, a, b],
                Op::Const(_) | Op::Load(_) | Op::Call(_) | Op::Result(..) => Vec::new(),
            };
            for operand in operands {
                if let Some(users) = users.get_mut(operand.0 as usize) {
                    users.push(ValueId(i as u32));
                }
            }
        }
        users
    }

    /// Where values of relations come into being.
    fn relations(&self, memories: &HashMap<SlotId, RelationId>) -> Vec<(ValueId, RelationId)> {
        let loaded = self.code.ops.iter().enumerate().filter_map(|(i, op)| match op {
            Op::Load(slot) => Some((ValueId(i as u32), *memories.get(slot)?)),
            _ => None,
        });
        let stored = self.outputs.iter().filter_map(|(value, slot)| Some((*value, *memories.get(&(*slot)?)?)));
        loaded.chain(stored).collect()
    }
}

pub(crate) struct Walk<'a> {
    pub program: &'a SimProgram,
    pub place: &'a Place<'a>,
    pub users: &'a [Vec<ValueId>],
    /// The relation whose paths are walked, if it is one.
    pub own: Option<RelationId>,
    pub relations: &'a HashMap<SlotId, RelationId>,
}

impl Walk<'_> {
    /// Adds all paths from `value`; `None` if one of them has no decider.
    fn add_paths(&self, value: ValueId, mut paths: Vec<Path>) -> Option<Vec<Path>> {
        self.follow(value, &mut Vec::new(), 0, &mut paths).then_some(paths)
    }

    fn follow(&self, value: ValueId, path: &mut Path, length: usize, paths: &mut Vec<Path>) -> bool {
        if length > LONGEST_PATH {
            return false;
        }
        let is_own = |slot: &Option<SlotId>| slot.is_some_and(|slot| self.is_own(slot));
        if self.place.outputs.iter().any(|(v, slot)| *v == value && !is_own(slot)) {
            if path.is_empty() || paths.len() >= MOST_PATHS {
                return false;
            }
            paths.push(path.clone());
        }
        let is_argument = self.place.code.calls.iter().any(|call| call.operands().any(|v| v == value));
        !is_argument
            && self.uses(value).all(|(user, decider)| {
                let n = path.len();
                path.extend(decider);
                let followed = self.follow(user, path, length + 1, paths);
                path.truncate(n);
                followed
            })
    }

    /// Does it remember the relation whose paths are walked?
    fn is_own(&self, slot: SlotId) -> bool {
        self.own.is_some() && self.relations.get(&slot) == self.own.as_ref()
    }

    /// Operations that use `value`, and what may make them indifferent to it.
    fn uses(&self, value: ValueId) -> impl Iterator<Item = (ValueId, Option<Decider>)> {
        let users = self.users.get(value.0 as usize).map_or(&[][..], Vec::as_slice);
        users.iter().map(move |&user| (user, self.indifference(user, value)))
    }

    /// What makes the operation `user` indifferent to its operand `value`.
    fn indifference(&self, user: ValueId, value: ValueId) -> Option<Decider> {
        match *self.place.code.ops.get(user.0 as usize)? {
            Op::Binary(BinaryFn::And, a, b) => self.decider(if a == value { b } else { a }, false),
            Op::Binary(BinaryFn::Or, a, b) => self.decider(if a == value { b } else { a }, true),
            Op::Select(condition, a, b) if condition != value && a != b => self.decider(condition, a != value),
            _ => None,
        }
    }

    fn decider(&self, condition: ValueId, decides_if: bool) -> Option<Decider> {
        let condition = self.frozen(condition, 0)?;
        let mut relations = Vec::new();
        condition.for_each_slot(&mut |slot| relations.extend(self.relations.get(&slot)));
        Some(Decider { condition, decides_if, relations })
    }

    /// `value` as an expression of variables that change at events only, and not with the relation itself.
    pub fn frozen(&self, value: ValueId, depth: usize) -> Option<Frozen> {
        if depth > LONGEST_PATH {
            return None;
        }
        let is_frozen = |slot: SlotId| {
            let kind = self.program.memory.slots.get(slot).map(|s| s.kind);
            kind.is_some_and(|k| !k.is_continuous()) && !self.is_own(slot)
        };
        let inner = |v: ValueId| self.frozen(v, depth + 1).map(Box::new);
        let by_operation = match *self.place.code.ops.get(value.0 as usize)? {
            Op::Const(constant) => Some(Frozen::Constant(constant)),
            Op::Load(slot) => is_frozen(slot).then_some(Frozen::Slot(slot)),
            Op::Unary(f, a) => inner(a).map(|a| Frozen::Unary(f, a)),
            Op::Binary(f, a, b) => inner(a).zip(inner(b)).map(|(a, b)| Frozen::Binary(f, a, b)),
            Op::Select(..) | Op::Call(_) | Op::Result(..) => None,
        };
        by_operation.or_else(|| {
            // Between events a discrete variable keeps its value, whatever it was computed from.
            let mut stored = self.place.outputs.iter().filter(|(v, _)| *v == value).filter_map(|(_, slot)| *slot);
            stored.find(|slot| is_frozen(*slot)).map(Frozen::Slot)
        })
    }
}
