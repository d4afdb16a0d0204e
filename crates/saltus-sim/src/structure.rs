//! What depends on what: which states each derivative depends on, and what depends on time itself.
//!
//! In: the sections of a program. Out: the pattern of ∂f/∂x for the integrators (few difference quotients, sparse factors),
//! and whether time enters other than through the states (then error control sees nothing of it).

use std::sync::OnceLock;

use crate::proof::{Prices, Tape};
use saltus_base::Index;
use saltus_numerics::Sparsity;
use saltus_program::{Block, Code, Op, Section, SimProgram, SlotId, SlotKind, UnaryFn};

/// Words of dependence sets that are worth their memory.
const MOST_WORDS: usize = 20_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Structure {
    /// `None` if it would be too large, or as good as full.
    pub sparsity: Option<Sparsity>,
    /// No derivative depends on time directly.
    pub is_autonomous: bool,
    /// Some crossing function that is searched for in steps depends on time directly.
    pub crossings_see_time: bool,
    /// Of nonlinear loops on whose solution derivatives depend.
    pub unknowns: Vec<SlotId>,
    /// Of the states, in their order.
    pub derivatives: Vec<SlotId>,
    /// Derivatives jump without an event, as `sign` does: their slopes say nothing about the jump, differences do.
    pub jumps: bool,
    /// All entries of the Jacobian that can be other than zero, however many; `None` if that is not known.
    pattern: Option<Sparsity>,
    groups: OnceLock<Vec<Vec<usize>>>,
    prices: OnceLock<Prices>,
}

/// Small systems and patterns fuller than this gain nothing from sparsity.
const FEWEST_STATES: usize = 8;
const FULLEST: f64 = 0.4;

impl Structure {
    /// `inputs_vary`: inputs are functions of time.
    pub fn of(program: &SimProgram, inputs_vary: bool, tape: &Tape) -> Self {
        let n = program.states.len();
        let n_words = (n + 1).div_ceil(64);
        let unknowns: Vec<SlotId> = program.sections.derivatives.blocks.iter().flat_map(nonlinear_unknowns).collect();
        let derivatives = program.states.iter().map(|s| s.derivative).collect();
        let jumps = program.sections.derivatives.blocks.iter().any(jumps);
        if n_words.saturating_mul(program.memory.slots.len()) > MOST_WORDS {
            return Structure {
                sparsity: None,
                is_autonomous: false,
                crossings_see_time: true,
                unknowns,
                derivatives,
                jumps,
                pattern: None,
                groups: OnceLock::new(),
                prices: OnceLock::new(),
            };
        }
        let mut sets = Sets { n_words, words: vec![0; n_words * program.memory.slots.len()], union: vec![0; n_words] };
        for (i, state) in program.states.iter().enumerate() {
            sets.add(state.value, i);
        }
        sets.add(program.memory.time, n);
        // What the driver sets depends on time, and on more where delays and positions are variables.
        let set_by_driver = program
            .history
            .delays
            .iter()
            .map(|d| d.output)
            .chain(program.history.transports.iter().flat_map(|t| t.outputs));
        set_by_driver.for_each(|slot| sets.add(slot, n));
        let inputs = program.memory.slots.iter().filter(|(_, s)| inputs_vary && s.kind == SlotKind::Input);
        inputs.for_each(|(slot, _)| sets.add(slot, n));
        sets.propagate(&program.sections.derivatives);
        let mut entries = Vec::new();
        for (row, state) in program.states.iter().enumerate() {
            entries.extend((0..n).filter(|&column| sets.has(state.derivative, column)).map(|column| (row, column)));
        }
        let is_autonomous = !program.states.iter().any(|s| sets.has(s.derivative, n));
        sets.propagate(&program.sections.crossings);
        let mut searched = program.events.relations.values().enumerate().filter(|(i, _)| !tape.is_time_alone(*i));
        let crossings_see_time = searched.any(|(_, r)| sets.has(r.crossing, n));
        let is_known = program.history.delays.iter().all(|d| d.is_fixed) && program.history.transports.is_empty();
        let is_sparse = is_known && n >= FEWEST_STATES && (entries.len() as f64) < FULLEST * (n * n) as f64;
        let pattern = is_known.then(|| Sparsity::from_entries(n, entries));
        let sparsity = pattern.clone().filter(|_| is_sparse);
        Structure {
            sparsity,
            is_autonomous,
            crossings_see_time,
            unknowns,
            derivatives,
            jumps,
            pattern,
            groups: OnceLock::new(),
            prices: OnceLock::new(),
        }
    }

    /// What the integrator does costs so much.
    pub fn prices(&self, program: &SimProgram) -> &Prices {
        self.prices.get_or_init(|| Prices::of(program, self))
    }

    /// Groups of columns of the Jacobian that share no row: one direction reveals all of them.
    pub fn groups(&self) -> &[Vec<usize>] {
        let each = || (0..self.derivatives.len()).map(|column| vec![column]).collect();
        self.groups.get_or_init(|| self.pattern.as_ref().map_or_else(each, Sparsity::column_groups))
    }

    /// Rows of a column that can be other than zero.
    pub fn rows(&self, column: usize) -> impl Iterator<Item = usize> {
        let pattern = self.pattern.as_ref();
        let known = pattern.into_iter().flat_map(move |p| p.range(column).map(move |k| p.rows()[k]));
        let all = if pattern.is_some() { 0..0 } else { 0..self.derivatives.len() };
        known.chain(all)
    }
}

/// Does a block use a function that jumps?
fn jumps(block: &Block) -> bool {
    let is_jump = |op: &Op| matches!(op, Op::Unary(UnaryFn::Sign | UnaryFn::Floor | UnaryFn::Ceil, _));
    block.codes().iter().any(|code| code.ops.iter().any(is_jump))
}

fn nonlinear_unknowns(block: &Block) -> impl Iterator<Item = SlotId> {
    let unknowns = match block {
        Block::Loop(l) if !l.is_linear => &l.unknowns[..],
        _ => &[],
    };
    unknowns.iter().map(|u| u.slot)
}

/// For each slot the states (and time, the last bit) on which it depends.
struct Sets {
    n_words: usize,
    words: Vec<u64>,
    union: Vec<u64>,
}

impl Sets {
    fn add(&mut self, slot: SlotId, bit: usize) {
        if let Some(word) = self.words.get_mut(slot.index() * self.n_words + bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    fn has(&self, slot: SlotId, bit: usize) -> bool {
        let word = self.words.get(slot.index() * self.n_words + bit / 64);
        word.is_some_and(|w| w >> (bit % 64) & 1 == 1)
    }

    fn of(&self, slot: SlotId) -> &[u64] {
        let start = slot.index() * self.n_words;
        self.words.get(start..start + self.n_words).unwrap_or(&[])
    }

    fn set(&mut self, slot: SlotId, from: &[u64]) {
        let start = slot.index() * self.n_words;
        if let Some(words) = self.words.get_mut(start..start + self.n_words) {
            words.copy_from_slice(from);
        }
    }

    fn propagate(&mut self, section: &Section) {
        for block in &section.blocks {
            match block {
                Block::Assign(assign) if assign.stores.len() == 1 => {
                    self.unite(&assign.code);
                    self.store_union(assign.stores.iter().map(|s| s.1));
                }
                Block::Assign(assign) => {
                    let values = self.values(&assign.code);
                    for &(value, slot) in &assign.stores {
                        let start = value.0 as usize * self.n_words;
                        if let Some(set) = values.get(start..start + self.n_words) {
                            self.set(slot, set);
                        }
                    }
                }
                Block::Loop(l) => {
                    // What is inside of the loop depends on all that comes in; sets of the last pass are subsets of it.
                    let mut union = vec![0; self.n_words];
                    for code in block.codes() {
                        self.unite(code);
                        union.iter_mut().zip(&self.union).for_each(|(a, b)| *a |= b);
                    }
                    self.union = union;
                    let discrete = l.discrete.iter().flat_map(|d| &d.stores);
                    let stored = l.body.stores.iter().chain(discrete).map(|s| s.1);
                    self.store_union(l.unknowns.iter().map(|u| u.slot).chain(stored));
                }
            }
        }
    }

    /// Everything that code depends on, into `union`.
    fn unite(&mut self, code: &Code) {
        self.union.fill(0);
        for op in &code.ops {
            if let Op::Load(slot) = op {
                let start = slot.index() * self.n_words;
                if let Some(set) = self.words.get(start..start + self.n_words) {
                    self.union.iter_mut().zip(set).for_each(|(a, b)| *a |= b);
                }
            }
        }
    }

    fn store_union(&mut self, slots: impl Iterator<Item = SlotId>) {
        let union = std::mem::take(&mut self.union);
        slots.for_each(|slot| self.set(slot, &union));
        self.union = union;
    }

    /// The sets of all values of code.
    fn values(&self, code: &Code) -> Vec<u64> {
        let n = self.n_words;
        let mut values = vec![0u64; n * code.ops.len()];
        for (i, op) in code.ops.iter().enumerate() {
            let (done, rest) = values.split_at_mut(i * n);
            let Some(own) = rest.get_mut(..n) else { break };
            let mut add = |set: &[u64]| own.iter_mut().zip(set).for_each(|(a, b)| *a |= b);
            let value = |v: saltus_program::ValueId| done.get(v.0 as usize * n..(v.0 as usize + 1) * n).unwrap_or(&[]);
            match *op {
                Op::Const(_) => {}
                Op::Load(slot) => add(self.of(slot)),
                Op::Unary(_, a) => add(value(a)),
                Op::Binary(_, a, b) => [a, b].into_iter().for_each(|v| add(value(v))),
                Op::Select(c, a, b) => [c, a, b].into_iter().for_each(|v| add(value(v))),
                Op::Call(k) | Op::Result(k, _) => {
                    let arguments = code.calls.get(k as usize).map_or(&[][..], |c| &c.arguments);
                    arguments.iter().for_each(|&v| add(value(v)));
                }
            }
        }
        values
    }
}
