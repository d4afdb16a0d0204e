//! In which position of its switches a linear loop is singular, for the message about it.
//!
//! `0 = if open then i else u` with a `u` that is a state has no solution for `i` while `open` is false: "the index changes when
//! open is false". In: the Jacobian of a loop, the memory when its equations contradicted each other and which of them
//! were left over then. Out: the discrete variables that matter, with their values, in words.

use saltus_program::{Jacobian, Loop, Op, SimProgram, SlotId, SlotKind, SlotType, ValueId};

use crate::machine::Machine;

/// Switches of a loop that a message may be about; whoever has more has no use for all of them.
const MOST_SWITCHES: usize = 20;
const MOST_NAMED: usize = 8;

#[derive(Default)]
pub(crate) struct Switches {
    /// Discrete variables that the Jacobian depends on, with the rows where they occur.
    all: Vec<(SlotId, Vec<u32>)>,
    /// Values at the first contradiction.
    pub singular_at: Vec<(SlotId, f64)>,
}

impl Switches {
    pub fn of(l: &Loop, program: &SimProgram) -> Self {
        let Some(jacobian) = l.jacobian.as_ref().filter(|_| l.is_linear) else { return Switches::default() };
        let is_switch = |slot: SlotId| {
            let kind = program.memory.slots.get(slot).map(|s| s.kind);
            matches!(kind, Some(SlotKind::Discrete | SlotKind::Clocked | SlotKind::Pre))
        };
        let mut all = Vec::new();
        for (place, op) in jacobian.code.ops.iter().enumerate() {
            match op {
                Op::Load(slot) if is_switch(*slot) && all.len() < MOST_SWITCHES => {
                    all.push((*slot, rows_with(jacobian, place)));
                }
                _ => {}
            }
        }
        Switches { all, singular_at: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Nothing has contradicted so far.
    pub fn begin(&mut self) {
        self.singular_at.clear();
    }

    /// The switches in the equations that a singular system leaves over, or else all.
    pub fn remember_position(&mut self, machine: &Machine, redundant: &[usize]) {
        if !self.singular_at.is_empty() {
            return;
        }
        let is_left_over = |rows: &[u32]| rows.iter().any(|&row| redundant.contains(&(row as usize)));
        let some_are = self.all.iter().any(|(_, rows)| is_left_over(rows));
        let shown = self.all.iter().filter(|(_, rows)| !some_are || is_left_over(rows));
        self.singular_at.extend(shown.take(MOST_NAMED).map(|&(slot, _)| (slot, machine.get(slot))));
    }

    /// The beginning of a message; empty if no switch is involved.
    pub fn position(&self, program: &SimProgram) -> String {
        let text = |&(slot, value): &(SlotId, f64)| match program.memory.slots.get(slot).map(|s| s.ty) {
            Some(SlotType::Boolean) => format!("{} is {}", program.memory.slot_name(slot), value != 0.0),
            _ => format!("{} = {value}", program.memory.slot_name(slot)),
        };
        let positions: Vec<String> = self.singular_at.iter().map(text).collect();
        if positions.is_empty() {
            String::new()
        } else {
            format!("the index changes when {}: ", positions.join(" and "))
        }
    }
}

/// The rows whose entries depend on the operation at a place.
fn rows_with(jacobian: &Jacobian, place: usize) -> Vec<u32> {
    let mut depends = vec![false; jacobian.code.ops.len()];
    for (i, op) in jacobian.code.ops.iter().enumerate() {
        let is = |v: &ValueId| depends.get(v.0 as usize).copied().unwrap_or(false);
        depends[i] = i == place
            || match op {
                Op::Unary(_, a) => is(a),
                Op::Binary(_, a, b) => is(a) || is(b),
                Op::Select(c, a, b) => is(c) || is(a) || is(b),
                _ => false,
            };
    }
    let entries = jacobian.entries.iter().filter(|(_, _, value)| depends.get(value.0 as usize) == Some(&true));
    entries.map(|&(row, _, _)| row).collect()
}
