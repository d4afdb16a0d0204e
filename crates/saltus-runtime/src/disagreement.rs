//! What is done at an event where no discrete values of a mixed loop agree with the equations that they switch.
//!
//! ```text
//! f = if locked then s else if v > 0 then fc else -fc;      a block that sticks with v = −2e-16, not exactly 0: as it starts
//! locked = pre(locked) and not (s > fc or s < -fc);         to move forward, `v > 0` being false contradicts that
//! ```
//!
//! In: a failed evaluation of the equations at an event. Out: one in which
//! 1. relations whose operands agree up to rounding have the other value; else
//! 2. a loop contradicts itself by no more than rounding, or waits for another round of the event ([`Concession`]).

use std::collections::BTreeSet;

use saltus_base::Index;
use saltus_program::{Activation, Assign, Block, Held, Op, RELATION_BAND, SlotId, Status, ValueId};

use crate::loops::Patience;
use crate::mixed::Concession;
use crate::{Failure, Interpreter, section_number};

/// Relations at their thresholds that are tried: there are rarely more than two.
const MOST_UNDECIDED: usize = 8;

/// The memory of a relation and the value that it is to have.
type Other = (SlotId, f64);

impl Interpreter {
    /// Evaluates the equations at an event once more, after that failed.
    pub(crate) fn resolve_disagreement(&mut self, failed: Status) -> Status {
        let Failure::Loop(number) = self.failure else { return failed };
        if !self.loops.get(number).is_some_and(|work| work.disagrees()) {
            return failed;
        }
        let undecided = self.undecided(number);
        let one_by_one = undecided.iter().map(std::slice::from_ref);
        let all = (undecided.len() > 1).then_some(undecided.as_slice());
        for others in one_by_one.chain(all) {
            if self.eval_events_with(others, Concession::Nothing).is_ok() {
                return Status::Ok;
            }
        }
        self.eval_events_with(&[], Concession::AnotherRound)
    }

    /// Does another round of the event have to confirm what was evaluated last?
    pub(crate) fn has_provisional_loop(&self) -> bool {
        let number = section_number(Activation::Events);
        let end = self.first_loop.get(number + 1).copied().unwrap_or(self.loops.len());
        self.loops[self.first_loop[number]..end].iter().any(|work| work.is_provisional())
    }

    /// By interpretation, with other values of some relations than they have literally.
    pub(crate) fn eval_events_with(&mut self, others: &[Other], concession: Concession) -> Status {
        self.machine.host.begin_effects();
        self.failure = Failure::None;
        let program = self.machine.program.clone();
        let blocks = &program.sections.events.blocks;
        let number = section_number(Activation::Events);
        let mut next_loop = self.first_loop[number];
        for (k, block) in blocks.iter().enumerate() {
            let section = &program.sections.events;
            let status = match block {
                Block::Repeat(repeat) if self.is_kept(block, others) => {
                    let mut elements = repeat.elements().map(|assign| {
                        let status = self.machine.assign(&assign);
                        if status.is_ok() {
                            self.keep(&assign, others);
                        }
                        self.note_failure(status, Failure::Call)
                    });
                    elements.find(|status| !status.is_ok()).unwrap_or(Status::Ok)
                }
                _ => self.blocks(section, number, k..k + 1, &mut next_loop, Patience::Event(concession)),
            };
            if !status.is_ok() {
                return status;
            }
            if let Block::Assign(assign) = block {
                self.keep(assign, others);
            }
        }
        Status::Ok
    }

    /// Does the block store a relation that may get another value than it has literally?
    fn is_kept(&self, block: &Block, others: &[Other]) -> bool {
        let mut memories = self.held.iter().map(|held| held.memory).chain(others.iter().map(|other| other.0));
        memories.any(|memory| block.stores(memory))
    }

    /// Gives relations that the block has stored the values that they are to have.
    fn keep(&mut self, assign: &Assign, others: &[Other]) {
        self.keep_held(assign);
        others.iter().filter(|(slot, _)| stores(assign, *slot)).for_each(|&(slot, value)| {
            self.machine.set(slot, value);
        });
    }

    /// Do all relations that are held have the values that they are to have?
    pub(crate) fn agrees_with_held(&self) -> bool {
        self.held.iter().all(|held| (self.machine.get(held.memory) != 0.0) == held.value)
    }

    /// Relations that keep their value at their thresholds do so after this block has been evaluated.
    fn keep_held(&mut self, assign: &Assign) {
        for (_, slot) in &assign.stores {
            let Ok(place) = self.held.binary_search_by_key(slot, |held| held.memory) else { continue };
            let Held { memory, value, band } = self.held[place];
            let Some((left, right)) = operands(assign, memory) else { continue };
            if (self.machine.value(left) - self.machine.value(right)).abs() <= band {
                self.machine.set(memory, f64::from(u8::from(value)));
            }
        }
    }

    /// Relations that the loop depends on and that are not its own, whose operands agree up to rounding, with the value
    /// that they do not have.
    fn undecided(&mut self, loop_number: usize) -> Vec<Other> {
        let program = self.machine.program.clone();
        let section = program.sections.events.unrolled();
        let blocks = &section.blocks;
        let before = loop_number - self.first_loop[section_number(Activation::Events)];
        let mut loops = blocks.iter().enumerate().filter(|(_, b)| matches!(b, Block::Loop(_)));
        let Some((position, _)) = loops.nth(before) else { return Vec::new() };
        let mut needed: BTreeSet<SlotId> = blocks[position].loads().collect();
        let mut found = Vec::new();
        for block in blocks[..position].iter().rev() {
            if !block.stored().iter().any(|slot| needed.contains(slot)) {
                continue;
            }
            needed.extend(block.loads());
            let Block::Assign(assign) = block else { continue };
            let memories = program.events.relations.values().map(|r| r.memory);
            for memory in memories.filter(|memory| stores(assign, *memory)) {
                if found.len() < MOST_UNDECIDED && self.is_undecided(assign, memory) {
                    let value = self.machine.memory.get(memory.index()).copied().unwrap_or(0.0);
                    found.push((memory, if value == 0.0 { 1.0 } else { 0.0 }));
                }
            }
        }
        found
    }

    fn is_undecided(&mut self, assign: &Assign, memory: SlotId) -> bool {
        let Some((left, right)) = operands(assign, memory) else { return false };
        if !assign.code.calls.is_empty() {
            return false;
        }
        self.machine.run(&assign.code, assign.span);
        let (left, right) = (self.machine.value(left), self.machine.value(right));
        (left - right).abs() <= RELATION_BAND * left.abs().max(right.abs()).max(1.0)
    }
}

/// The operands of the relation whose memory this block stores.
fn operands(assign: &Assign, memory: SlotId) -> Option<(ValueId, ValueId)> {
    let value = assign.stores.iter().find(|s| s.1 == memory)?.0;
    match assign.code.ops.get(value.0 as usize) {
        Some(&Op::Binary(_, left, right)) => Some((left, right)),
        _ => None,
    }
}

fn stores(assign: &Assign, slot: SlotId) -> bool {
    assign.stores.iter().any(|s| s.1 == slot)
}
