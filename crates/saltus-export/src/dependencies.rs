//! Which states and inputs a variable depends on between events, and how.
//!
//! ```text
//! der(x) = v;  der(v) = -k*x + u*x;       der(x): v constant;  der(v): x dependent, u dependent
//! ```
//!
//! In: the sections that are evaluated between events. Out: for each slot its knowns with the kind of the dependency: the factor is a
//! constant, a parameter, changes at events, or with the point. Blocks are read in order; in a loop everything depends on everything
//! that it reads.

use std::collections::BTreeMap;

use saltus_base::Index;
use saltus_fmi::DependencyKind;
use saltus_program::{Assign, BinaryFn, Block, Code, Op, SimProgram, SlotId, SlotKind, UnaryFn};

/// What a value is made of, from the most to the least constant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Factor {
    Constant,
    Fixed,
    Discrete,
    Dependent,
}

/// Knowns with the factors they have; and what the rest of the sum is made of.
#[derive(Clone, Debug)]
struct Sum {
    terms: BTreeMap<SlotId, Factor>,
    rest: Factor,
}

impl Sum {
    fn of(rest: Factor) -> Sum {
        Sum { terms: BTreeMap::new(), rest }
    }

    fn known(slot: SlotId) -> Sum {
        Sum { terms: BTreeMap::from([(slot, Factor::Constant)]), rest: Factor::Constant }
    }

    fn add(mut self, other: &Sum) -> Sum {
        for (&slot, &factor) in &other.terms {
            let known = self.terms.entry(slot).or_insert(factor);
            *known = (*known).max(factor);
        }
        self.rest = self.rest.max(other.rest);
        self
    }

    fn times(mut self, factor: Factor) -> Sum {
        self.terms.values_mut().for_each(|known| *known = (*known).max(factor));
        self.rest = self.rest.max(factor);
        self
    }

    /// Not linear in its knowns.
    fn bent(self) -> Sum {
        self.times(Factor::Dependent)
    }
}

pub struct Dependencies {
    sums: Vec<Option<Sum>>,
    factors: Vec<Factor>,
}

impl Dependencies {
    pub fn new(program: &SimProgram) -> Dependencies {
        let factor = |kind| match kind {
            SlotKind::Parameter | SlotKind::Homotopy => Factor::Fixed,
            SlotKind::Discrete | SlotKind::Clocked | SlotKind::Pre | SlotKind::Flag => Factor::Discrete,
            _ => Factor::Dependent,
        };
        let slots = &program.memory.slots;
        let mut found = Dependencies {
            sums: vec![None; slots.len()],
            factors: slots.values().map(|slot| factor(slot.kind)).collect(),
        };
        for (id, slot) in slots.iter() {
            if matches!(slot.kind, SlotKind::State | SlotKind::Input | SlotKind::Time) {
                found.sums[id.index()] = Some(Sum::known(id));
            }
        }
        found.past(program);
        let sections = [&program.sections.derivatives, &program.sections.crossings, &program.sections.outputs];
        for block in sections.into_iter().flat_map(|section| &section.blocks) {
            found.block(block);
        }
        found
    }

    /// What comes from the past depends on time, and where a delay or a position varies on what these depend on.
    fn past(&mut self, program: &SimProgram) {
        let time = Sum::known(program.memory.time).bent();
        for delay in &program.history.delays {
            self.sums[delay.output.index()] = Some(time.clone());
        }
        let all = program.memory.slots.iter().filter(|(_, s)| matches!(s.kind, SlotKind::State | SlotKind::Input));
        let everything = all.fold(time, |sum, (id, _)| sum.add(&Sum::known(id))).bent();
        let is_variable = |d: &&saltus_program::Delay| !d.is_fixed;
        let varying = program.history.delays.iter().filter(is_variable).map(|d| d.output);
        let transported = program.history.transports.iter().flat_map(|t| t.outputs);
        for slot in varying.chain(transported) {
            self.sums[slot.index()] = Some(everything.clone());
        }
    }

    fn load(&self, slot: SlotId) -> Sum {
        let known = self.sums.get(slot.index()).and_then(Clone::clone);
        known.unwrap_or_else(|| Sum::of(self.factors.get(slot.index()).copied().unwrap_or(Factor::Dependent)))
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Assign(assign) => self.assign(assign),
            Block::Repeat(repeat) => repeat.for_each_element(&mut |assign| self.assign(assign)),
            Block::Loop(_) => {
                let stored = block.stored();
                let loaded = block.loads().filter(|slot| !stored.contains(slot));
                let sum = loaded.fold(Sum::of(Factor::Constant), |sum, slot| sum.add(&self.load(slot))).bent();
                for slot in stored {
                    // Relations and other discrete variables are frozen between events.
                    if self.factors[slot.index()] != Factor::Discrete {
                        self.sums[slot.index()] = Some(sum.clone());
                    }
                }
            }
        }
    }

    fn assign(&mut self, assign: &Assign) {
        let values = self.values(&assign.code);
        for &(value, slot) in &assign.stores {
            self.sums[slot.index()] = values.get(value.0 as usize).cloned();
        }
    }

    /// The sums of all values of a code.
    fn values(&self, code: &Code) -> Vec<Sum> {
        let mut values: Vec<Sum> = Vec::with_capacity(code.ops.len());
        for op in &code.ops {
            let at =
                |id: saltus_program::ValueId| values.get(id.0 as usize).cloned().unwrap_or(Sum::of(Factor::Dependent));
            let value = match *op {
                Op::Const(_) => Sum::of(Factor::Constant),
                Op::Load(slot) => self.load(slot),
                Op::Unary(UnaryFn::Negate, a) => at(a),
                Op::Unary(_, a) => at(a).bent(),
                Op::Binary(BinaryFn::Add | BinaryFn::Sub, a, b) => at(a).add(&at(b)),
                Op::Binary(BinaryFn::Mul, a, b) => product(at(a), at(b)),
                Op::Binary(BinaryFn::Div, a, b) => {
                    let (a, b) = (at(a), at(b));
                    if b.terms.is_empty() { a.times(b.rest) } else { a.add(&b).bent() }
                }
                Op::Binary(_, a, b) => at(a).add(&at(b)).bent(),
                Op::Select(condition, a, b) => {
                    let condition = at(condition);
                    let both = at(a).add(&at(b));
                    if condition.terms.is_empty() { both.times(condition.rest) } else { both.add(&condition).bent() }
                }
                Op::Call(i) => {
                    let operands = code.calls.get(i as usize).into_iter().flat_map(|call| call.operands());
                    operands.fold(Sum::of(Factor::Constant), |sum, id| sum.add(&at(id))).bent()
                }
                Op::Result(call, _) => {
                    let is_call = |op: &Op| matches!(op, Op::Call(i) if *i == call);
                    let made = code.ops.iter().position(is_call);
                    made.and_then(|i| values.get(i).cloned()).unwrap_or(Sum::of(Factor::Dependent))
                }
            };
            values.push(value);
        }
        values
    }

    /// The states, inputs and time that a slot depends on, in the order of their slots.
    pub fn of(&self, slot: SlotId) -> Vec<(SlotId, DependencyKind)> {
        let kind = |factor| match factor {
            Factor::Constant => DependencyKind::Constant,
            Factor::Fixed => DependencyKind::Tunable,
            Factor::Discrete => DependencyKind::Discrete,
            Factor::Dependent => DependencyKind::Dependent,
        };
        let sum = self.load(slot);
        sum.terms.iter().map(|(&slot, &factor)| (slot, kind(factor))).collect()
    }
}

fn product(a: Sum, b: Sum) -> Sum {
    match (a.terms.is_empty(), b.terms.is_empty()) {
        (_, true) => a.times(b.rest),
        (true, false) => b.times(a.rest),
        (false, false) => a.add(&b).bent(),
    }
}
