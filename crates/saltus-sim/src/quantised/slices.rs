//! As much of a program as one derivative, one relation or one assertion needs.
//!
//! In: a program. Out: for each of them the blocks to evaluate, the states and discrete variables that these read, and whether it is affine
//! between events.

use saltus_base::Index;
use saltus_program::{Activation, Block, ModelFunctions, Section, SimProgram, SlotId, SlotKind, Status};

use super::forms::{Form, Forms};
use crate::model::Model;

/// Blocks of all slices together that are worth their memory: beyond that everything depends on everything.
const MOST_BLOCKS: usize = 20_000_000;

pub(super) const NONE: u32 = u32::MAX;

/// The sections that are evaluated between events.
const CONTINUOUS: [Activation; 3] = [Activation::Derivatives, Activation::Crossings, Activation::Outputs];

#[derive(Clone, Default, Debug)]
pub(super) struct Slice {
    /// By section of [`CONTINUOUS`], in order.
    blocks: [Box<[u32]>; 3],
    /// Ascending.
    pub states: Box<[u32]>,
    pub has_time: bool,
    pub is_affine: bool,
}

impl Slice {
    /// Evaluates it where states and time have been set.
    pub fn eval(&self, model: &mut Model) -> Status {
        for (activation, blocks) in CONTINUOUS.into_iter().zip(&self.blocks) {
            if blocks.is_empty() {
                continue;
            }
            let status = model.eval_blocks(activation, blocks);
            if !status.is_ok() {
                return status;
            }
        }
        Status::Ok
    }
}

/// Everything that is evaluated on its own.
pub(super) struct Slices {
    /// By state.
    pub rates: Vec<Slice>,
    /// By relation, then by relation of assertions.
    pub crossings: Vec<Slice>,
    /// By slot that changes at events only: who reads it, numbered through rates, crossings and conditions of assertions.
    pub readers: Vec<Vec<u32>>,
    /// By state the crossings that depend on it.
    pub crossings_of: Vec<Vec<u32>>,
    /// By slot the state that it holds, or [`NONE`].
    pub state_of: Vec<u32>,
}

impl Slices {
    /// `None` if they are too large together.
    pub fn of(program: &SimProgram) -> Option<Slices> {
        let n_slots = program.memory.slots.len();
        let mut state_of = vec![NONE; n_slots];
        program.states.iter().enumerate().for_each(|(i, state)| state_of[state.value.index()] = i as u32);
        let mut cutter = Cutter::new(program, &state_of);
        let rates = cutter.slices(program.states.iter().map(|s| s.derivative))?;
        let events = &program.events;
        let relations = events.relations.values().chain(events.bounds.values());
        let crossings = cutter.slices(relations.map(|r| r.crossing))?;
        cutter.slices(events.assertions.iter().map(|a| a.condition))?;
        let readers = cutter.readers;
        let mut crossings_of = vec![Vec::new(); program.states.len()];
        for (k, slice) in crossings.iter().enumerate() {
            slice.states.iter().for_each(|&j| crossings_of[j as usize].push(k as u32));
        }
        Some(Slices { rates, crossings, readers, crossings_of, state_of })
    }
}

struct Cutter<'p> {
    program: &'p SimProgram,
    state_of: &'p [u32],
    forms: Forms,
    /// By slot the section and the block that compute it.
    made: Vec<(u8, u32)>,
    readers: Vec<Vec<u32>>,
    n_slices: u32,
    n_blocks: usize,
    /// By section and block the last slice that it belongs to.
    seen: [Vec<u32>; 3],
}

impl<'p> Cutter<'p> {
    fn new(program: &'p SimProgram, state_of: &'p [u32]) -> Self {
        let mut made = vec![(u8::MAX, NONE); state_of.len()];
        let sections = sections(program);
        for (number, section) in sections.into_iter().enumerate() {
            for (k, block) in section.blocks.iter().enumerate() {
                for slot in block.stored() {
                    // What an earlier section has computed stays.
                    if let Some(place) = made.get_mut(slot.index()).filter(|place| place.1 == NONE) {
                        *place = (number as u8, k as u32);
                    }
                }
            }
        }
        Cutter {
            program,
            state_of,
            forms: Forms::of(program),
            readers: vec![Vec::new(); state_of.len()],
            n_slices: 0,
            n_blocks: 0,
            seen: sections.map(|section| vec![NONE; section.blocks.len()]),
            made,
        }
    }

    fn slices(&mut self, slots: impl Iterator<Item = SlotId>) -> Option<Vec<Slice>> {
        slots.map(|slot| self.slice(slot)).collect()
    }

    fn slice(&mut self, wanted: SlotId) -> Option<Slice> {
        let program = self.program;
        let number = self.n_slices;
        self.n_slices += 1;
        let sections = sections(program);
        let mut blocks: [Vec<u32>; 3] = Default::default();
        let (mut states, mut has_time) = (Vec::new(), false);
        let mut open = vec![wanted];
        while let Some(slot) = open.pop() {
            let at = slot.index();
            if self.state_of.get(at).is_some_and(|&i| i != NONE) {
                states.push(self.state_of[at]);
                continue;
            }
            let Some(kind) = program.memory.slots.get(slot).map(|s| s.kind) else { continue };
            if kind == SlotKind::Time {
                has_time = true;
            } else if !kind.is_continuous() && kind != SlotKind::Parameter {
                let readers = &mut self.readers[at];
                if readers.last() != Some(&number) {
                    readers.push(number);
                }
            }
            let (section, block) = self.made[at];
            if block == NONE {
                continue;
            }
            let seen = &mut self.seen[section as usize][block as usize];
            if std::mem::replace(seen, number) == number {
                continue;
            }
            blocks[section as usize].push(block);
            open.extend(sections[section as usize].blocks.get(block as usize).into_iter().flat_map(Block::loads));
        }
        self.n_blocks += blocks.iter().map(Vec::len).sum::<usize>();
        if self.n_blocks > MOST_BLOCKS {
            return None;
        }
        blocks.iter_mut().for_each(|blocks| blocks.sort_unstable());
        states.sort_unstable();
        states.dedup();
        Some(Slice {
            blocks: blocks.map(Vec::into_boxed_slice),
            states: states.into(),
            has_time,
            is_affine: self.forms.get(wanted) != Form::Curved,
        })
    }
}

fn sections(program: &SimProgram) -> [&Section; 3] {
    let sections = &program.sections;
    [&sections.derivatives, &sections.crossings, &sections.outputs]
}
