//! Every rule about a program that its users rely on, checked one by one.
//!
//! In: a [`SimProgram`]. Out: nothing, or what is broken, in words. Rules:
//!
//! - slots, calls and values are in range; a value is used only after it is defined;
//! - a slot that a section computes is not read there before it is computed, but for the unknowns of a loop in that loop;
//! - but for first guesses of the initial section and the stages of methods in clocked ones no slot is computed twice in a
//!   section;
//! - a loop has as many residuals as unknowns, and its Jacobian has no entry outside;
//! - names belong to slots and variables to elements of arrays that are there;
//! - callables and messages refer to procedures that are there, and procedures keep their own rules;
//! - derivatives of states, crossing functions, memories, thresholds and `reinit`s are computed where the driver expects them.

use std::collections::{HashMap, HashSet};

use saltus_base::Index;

use crate::{
    Argument, Assign, Block, Code, Loop, MOST_DIMENSIONS, Message, Op, Repeat, Section, SimProgram, SlotId, ValueId,
};

pub fn verify(program: &SimProgram) -> Result<(), Vec<String>> {
    let mut verifier = Verifier { program, problems: Vec::new() };
    for (name, section) in program.sections.named() {
        verifier.section(name, section);
    }
    for section in &program.clocks.sections {
        verifier.section("clocked", section);
    }
    verifier.tables();
    verifier.procedures();
    if verifier.problems.is_empty() { Ok(()) } else { Err(verifier.problems) }
}

struct Verifier<'a> {
    program: &'a SimProgram,
    problems: Vec<String>,
}

impl Verifier<'_> {
    fn expect(&mut self, holds: bool, problem: impl FnOnce(&SimProgram) -> String) {
        if !holds {
            let text = problem(self.program);
            self.problems.push(text);
        }
    }

    fn section(&mut self, name: &str, section: &Section) {
        if section.has_repeats() {
            let n_before = self.problems.len();
            section.blocks.iter().for_each(|block| self.repeat(name, block));
            // What is wrong in itself has no elements.
            return if self.problems.len() == n_before {
                self.section(name, &section.unrolled())
            };
        }
        let mut first_store: HashMap<SlotId, usize> = HashMap::new();
        for (i, block) in section.blocks.iter().enumerate() {
            for slot in block.stored() {
                self.slot(name, slot);
                let is_again = first_store.contains_key(&slot);
                first_store.entry(slot).or_insert(i);
                let is_guessed = name == "initial" && matches!(block, Block::Loop(_));
                self.expect(!is_again || is_guessed || name == "clocked", |p| {
                    format!("{name}: {} is computed twice", p.memory.slot_name(slot))
                });
            }
        }
        for (i, block) in section.blocks.iter().enumerate() {
            let own: HashSet<SlotId> =
                if let Block::Loop(_) = block { block.stored().into_iter().collect() } else { HashSet::new() };
            let original = if let Block::Loop(l) = block { l.original.as_ref().map(|o| &o.code) } else { None };
            for code in block.codes().into_iter().chain(original) {
                self.code(name, code);
                for op in &code.ops {
                    let Op::Load(slot) = *op else { continue };
                    self.slot(name, slot);
                    let is_in_time = match first_store.get(&slot) {
                        Some(&at) => at < i || own.contains(&slot),
                        None => true,
                    };
                    self.expect(is_in_time, |p| {
                        format!("{name}: {} is read before it is computed", p.memory.slot_name(slot))
                    });
                }
            }
            match block {
                Block::Assign(assign) => self.stores(name, assign),
                Block::Repeat(_) => {}
                Block::Loop(l) => self.solved_loop(name, l),
            }
        }
    }

    fn repeat(&mut self, name: &str, block: &Block) {
        let Block::Repeat(repeat) = block else { return };
        let Repeat { first, sizes, strides } = &**repeat;
        let has_box = (1..=MOST_DIMENSIONS).contains(&sizes.len()) && !sizes.contains(&0);
        let is_counted = repeat.slots().count() == strides.len() && strides.iter().all(|s| s.len() == sizes.len());
        let is_plain = first.code.calls.is_empty() && !first.stores.is_empty();
        self.expect(has_box && is_counted && is_plain, |_| format!("{name}: elements are not told in full"));
    }

    fn slot(&mut self, name: &str, slot: SlotId) {
        let is_there = self.program.memory.slots.get(slot).is_some();
        self.expect(is_there, |_| format!("{name}: there is no slot {}", slot.index()));
    }

    fn code(&mut self, name: &str, code: &Code) {
        let mut made = vec![false; code.calls.len()];
        for (i, op) in code.ops.iter().enumerate() {
            let is_before = |v: ValueId| (v.0 as usize) < i;
            let is_fine = match *op {
                Op::Const(_) | Op::Load(_) => true,
                Op::Unary(_, a) => is_before(a),
                Op::Binary(_, a, b) => is_before(a) && is_before(b),
                Op::Select(c, a, b) => is_before(c) && is_before(a) && is_before(b),
                Op::Call(k) => code.calls.get(k as usize).is_some_and(|c| c.operands().all(is_before)),
                Op::Result(k, _) => made.get(k as usize).copied().unwrap_or(false),
            };
            if let Op::Call(k) = *op
                && let Some(made) = made.get_mut(k as usize)
            {
                *made = true;
            }
            self.expect(is_fine, |_| format!("{name}: operation {i} uses what is not defined before it"));
        }
        for call in &code.calls {
            let is_there = self.program.routines.callables.get(call.callable).is_some();
            self.expect(is_there, |_| format!("{name}: there is no callable {}", call.callable.index()));
        }
    }

    fn procedures(&mut self) {
        for procedure in self.program.routines.procedures.values() {
            self.problems.extend(saltus_procedure::verify(procedure));
        }
        let arguments = self.program.routines.callables.values().flat_map(|c| &c.arguments);
        let mut texts = Vec::new();
        for argument in arguments {
            argument.visit(&mut |a| {
                if let Argument::Template { text, .. } = a {
                    texts.push(*text);
                }
            });
        }
        let messages = self.program.events.assertions.iter().map(|a| &a.message);
        let messages = messages.chain(self.program.events.terminations.iter().map(|t| &t.message));
        let shown = messages.filter_map(|m| if let Message::Template { text, .. } = m { Some(*text) } else { None });
        let called = self.program.routines.callables.values().map(|c| c.function);
        for id in called.chain(texts).chain(shown).collect::<Vec<_>>() {
            let is_there = self.program.routines.procedures.get(id).is_some();
            self.expect(is_there, |_| format!("there is no procedure {}", id.index()));
        }
    }

    fn stores(&mut self, name: &str, assign: &Assign) {
        for &(value, slot) in &assign.stores {
            let is_defined = (value.0 as usize) < assign.code.ops.len();
            self.expect(is_defined, |p| format!("{name}: the value of {} is not defined", p.memory.slot_name(slot)));
        }
    }

    fn solved_loop(&mut self, name: &str, l: &Loop) {
        let n = l.unknowns.len();
        self.stores(name, &l.body);
        l.discrete.iter().for_each(|d| self.stores(name, d));
        let is_square = l.residuals.len() == n && l.spans.len() >= n;
        self.expect(is_square, |_| format!("{name}: a loop of {n} unknowns has {} residuals", l.residuals.len()));
        let n_values = l.body.code.ops.len();
        let are_defined = l.residuals.iter().all(|r| (r.0 as usize) < n_values);
        self.expect(are_defined, |_| format!("{name}: a residual is not defined"));
        if let Some(jacobian) = &l.jacobian {
            let is_inside = |&(row, column, value): &(u32, u32, ValueId)| {
                (row as usize) < n && (column as usize) < n && (value.0 as usize) < jacobian.code.ops.len()
            };
            let all = jacobian.entries.iter().all(is_inside);
            self.expect(all, |_| format!("{name}: the Jacobian of a loop has an entry outside"));
        }
        if let Some(original) = &l.original {
            let (m, n_values) = (original.residuals.len(), original.code.ops.len());
            let stored: HashSet<SlotId> = l.body.stores.iter().map(|s| s.1).collect();
            let is_inner = |u: &crate::Unknown| stored.contains(&u.slot);
            let is_whole = m == n + original.inner.len() && original.inner.iter().all(is_inner);
            self.expect(is_whole, |_| format!("{name}: a loop of {n} unknowns was one of {m} equations"));
            let are_defined = original.residuals.iter().all(|r| (r.0 as usize) < n_values);
            self.expect(are_defined, |_| format!("{name}: an original residual is not defined"));
        }
        self.expect(n > 0 || l.discrete.is_some(), |_| format!("{name}: a loop of nothing"));
    }

    /// What the driver reads must be computed where it expects that.
    fn tables(&mut self) {
        let program = self.program;
        let stored = |section: &Section| -> Vec<bool> {
            let mut stored = vec![false; program.memory.slots.len()];
            for slot in section.blocks.iter().flat_map(Block::stored) {
                if let Some(place) = stored.get_mut(slot.index()) {
                    *place = true;
                }
            }
            stored
        };
        let (events, crossings) = (stored(&program.sections.events), stored(&program.sections.crossings));
        let derivatives = stored(&program.sections.derivatives);
        let is_in = |set: &[bool], slot: SlotId| set.get(slot.index()).copied().unwrap_or(false);
        let states: HashSet<SlotId> = program.states.iter().map(|s| s.value).collect();
        for state in &program.states {
            let is_computed = is_in(&derivatives, state.derivative) || states.contains(&state.derivative);
            self.expect(is_computed, |p| format!("{} is not computed", p.memory.slot_name(state.derivative)));
        }
        for relation in program.events.relations.values() {
            let is_computed = is_in(&crossings, relation.crossing) && is_in(&crossings, relation.scale);
            self.expect(is_computed, |_| format!("the crossing function of {} is not computed", relation.text));
            self.expect(is_in(&events, relation.memory), |_| format!("{} is not computed at events", relation.text));
        }
        let outputs = stored(&program.sections.outputs);
        for bound in program.events.bounds.values() {
            let is_computed = is_in(&outputs, bound.crossing) && is_in(&outputs, bound.scale);
            self.expect(is_computed, |_| format!("the distance of {} is not computed", bound.text));
        }
        for event in &program.events.time_events {
            self.expect(is_in(&events, event.threshold), |_| {
                format!("the threshold of {} is not computed", event.text)
            });
        }
        for reinit in &program.events.reinits {
            let is_computed = is_in(&events, reinit.active) && is_in(&events, reinit.value);
            self.expect(is_computed, |p| format!("the reinit of {} is not computed", p.memory.slot_name(reinit.state)));
        }
        for &(variable, pre) in &program.memory.pre {
            let are_there = program.memory.slots.get(variable).is_some() && program.memory.slots.get(pre).is_some();
            self.expect(are_there, |_| "a pre value without a slot".to_owned());
        }
        self.expect(program.memory.slots.are_sound(), |_| "names of slots that are not there".to_owned());
        let are_sound = program.variables.are_sound();
        self.expect(are_sound, |_| "a table of variables that is not what its parts say".to_owned());
        for variable in program.variables.iter().take_while(|_| are_sound) {
            let is_there = program.memory.slots.get(variable.slot).is_some();
            self.expect(is_there, |_| format!("{} has no slot", variable.name()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Memory, Sections, Slot, SlotKind, SlotType, Slots, State, Unknown};
    use saltus_base::Span;

    fn assign(ops: Vec<Op>, slot: usize) -> Block {
        let value = ValueId(ops.len() as u32 - 1);
        let code = Code { ops, calls: vec![] };
        Block::Assign(Assign { code, stores: vec![(value, SlotId::from_usize(slot))], span: Span::nowhere() })
    }

    /// Slots `s0` to `s3`; `s0` is a state, `s1` its derivative.
    fn program(blocks: Vec<Block>) -> SimProgram {
        let mut slots = Slots::default();
        for k in 0..4 {
            let (kind, ty) = (SlotKind::Algebraic, SlotType::Real);
            slots.push(format!("s{k}"), Slot::new(kind, ty));
        }
        let slot = SlotId::from_usize;
        let states = vec![State { value: slot(0), derivative: slot(1), nominal: 1.0, unbounded: false }];
        SimProgram {
            memory: Memory { slots, time: slot(3), initial: slot(3), terminal: slot(3), ..Memory::empty() },
            states,
            sections: Sections { derivatives: Section { blocks }, ..Sections::default() },
            ..SimProgram::empty("M")
        }
    }

    fn problems(blocks: Vec<Block>) -> Vec<String> {
        verify(&program(blocks)).err().unwrap_or_default()
    }

    #[test]
    fn order_and_completeness_are_checked() {
        let load = |k| Op::Load(SlotId::from_usize(k));
        assert!(problems(vec![assign(vec![load(0)], 2), assign(vec![load(2)], 1)]).is_empty());
        let swapped = vec![assign(vec![load(2)], 1), assign(vec![load(0)], 2)];
        assert_eq!(problems(swapped), ["derivatives: s2 is read before it is computed"]);
        assert_eq!(problems(vec![assign(vec![load(0)], 2)]), ["s1 is not computed"]);
        let twice = vec![assign(vec![load(0)], 1), assign(vec![load(0)], 1)];
        assert_eq!(problems(twice), ["derivatives: s1 is computed twice"]);
        let ahead = vec![assign(vec![Op::Unary(crate::UnaryFn::Sin, ValueId(0))], 1)];
        assert_eq!(problems(ahead), ["derivatives: operation 0 uses what is not defined before it"]);
    }

    #[test]
    fn loops_are_square() {
        let slot = SlotId::from_usize(1);
        let unknowns = vec![Unknown { slot, nominal: 1.0, min: f64::NEG_INFINITY, max: f64::INFINITY }];
        let code = Code { ops: vec![Op::Load(slot)], calls: vec![] };
        let body = Assign { code, stores: vec![], span: Span::nowhere() };
        let l = Loop {
            unknowns,
            body,
            residuals: vec![],
            spans: vec![],
            jacobian: None,
            is_linear: true,
            discrete: None,
            may_grow: false,
            original: None,
        };
        assert_eq!(problems(vec![Block::Loop(Arc::new(l))]), ["derivatives: a loop of 1 unknowns has 0 residuals"]);
    }
}
