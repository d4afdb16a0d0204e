//! Makes the program of directional derivatives.
//!
//! ```text
//! der(x) := -k*x*v                   coefficients: c := k*x …          direction: ∂der(x) := …
//! loop {i}: u = R(i)*i          ⇒    coefficients: J := ∂r/∂i at i     direction: linear loop {∂i}: J*∂i + ∂r/∂u*∂u = 0
//! ```
//!
//! In: a [`SimProgram`] and the slots whose derivatives are wanted. Out: a program on a larger memory with two sections: the
//! coefficients at a point, and the tangents along a direction. A loop of whatever kind becomes a linear one of the tangents
//! of its unknowns (implicit function theorem); its matrix is the Jacobian at the solution, so that its factors serve all
//! directions. Relations and discrete variables are frozen. What does not depend on a seed, or what no wanted slot depends
//! on, is left out.

use std::collections::HashMap;
use std::sync::Arc;

use saltus_base::Index;
use saltus_program::{
    Assign, BinaryFn, Block, Code, Jacobian, Loop, Memory, Op, Repeat, Section, Sections, SimProgram, Slot, SlotId,
    SlotKind, SlotType, Unknown, ValueId,
};

use super::alike::Alike;
use super::code::{Differentiated, active_values, differentiate, live, push};
use super::layout::Layout;
use super::repeat::Template;

/// Sections of the program of tangents that [`TangentProgram::program`] holds under these names.
pub(crate) use saltus_program::Activation::{Crossings as DIRECTION, Derivatives as COEFFICIENTS};

pub(crate) struct TangentProgram {
    /// [`COEFFICIENTS`] and [`DIRECTION`]; its callables are those of the program and behind them their derivatives.
    pub program: SimProgram,
    /// By slot of the original program: the slot of its tangent.
    pub tangents: Vec<Option<SlotId>>,
    /// Tangents that loops determine.
    pub unknowns: Vec<SlotId>,
    /// The slots by which derivatives can be taken.
    pub seeds: Vec<SlotId>,
}

impl TangentProgram {
    /// Derivatives of `wanted` by states, inputs, time, what the driver sets (outputs of delays) and `held`: parameters, and values that are
    /// held between events.
    pub fn new(program: &SimProgram, wanted: &[SlotId], held: &[SlotId]) -> Self {
        let mut layout = Layout::new(&program.memory.slots, &program.routines.callables);
        let seeds = seeds(program, held);
        let Sections { parameters, derivatives, crossings, outputs, .. } = &program.sections;
        // What is computed of parameters moves with them; otherwise it is constant.
        let dependent = parameters.blocks.iter().filter(|_| !held.is_empty());
        let continuous = [derivatives, crossings, outputs].into_iter().flat_map(|section| &section.blocks);
        let blocks: Vec<&Block> = dependent.chain(continuous).collect();
        find_active(program, &blocks, &seeds, &mut layout);
        let needs = find_needed(&blocks, &layout, wanted);
        let mut made = Made {
            layout,
            alike: Alike::default(),
            coefficients: Vec::new(),
            direction: Vec::new(),
            unknowns: Vec::new(),
        };
        for (block, needed) in blocks.into_iter().zip(needs) {
            match block {
                Block::Assign(assign) => made.assign(assign, &needed),
                Block::Repeat(repeat) => made.repeat(repeat, &needed),
                Block::Loop(l) if l.unknowns.is_empty() => made.assign(&l.body, &needed),
                Block::Loop(l) => made.solve(l, &needed),
            }
        }
        made.finish(program, seeds)
    }
}

fn seeds(program: &SimProgram, held: &[SlotId]) -> Vec<SlotId> {
    let inputs = program.memory.slots.iter().filter(|(_, s)| s.kind == SlotKind::Input).map(|(id, _)| id);
    let set_by_driver = program
        .history
        .delays
        .iter()
        .map(|d| d.output)
        .chain(program.history.transports.iter().flat_map(|t| t.outputs));
    let states = program.states.iter().map(|s| s.value);
    let mut seeds: Vec<SlotId> =
        states.chain(inputs).chain([program.memory.time]).chain(set_by_driver).chain(held.iter().copied()).collect();
    seeds.sort_unstable();
    seeds.dedup();
    seeds
}

/// Gives a tangent to the seeds and to every slot that depends on one that has, in the order of the slots: what is an array stays one.
fn find_active(program: &SimProgram, blocks: &[&Block], seeds: &[SlotId], layout: &mut Layout) {
    let mut active = vec![false; program.memory.slots.len()];
    let mut zeros = Vec::new();
    seeds.iter().for_each(|&slot| set(&mut active, slot));
    let moves = |slot: SlotId| {
        let is_parameter = |s: &Slot| s.kind == SlotKind::Parameter && s.ty == SlotType::Real;
        program.memory.slots.get(slot).is_some_and(|s| s.kind.is_continuous() || is_parameter(s))
    };
    let values = |active: &[bool], code: &Code| {
        active_values(code, &|slot| is(active, slot), &|callable| layout.has_tangent(callable))
    };
    let activate = |active: &mut Vec<bool>, assign: &Assign| {
        let is_active = values(active, &assign.code);
        for &(value, slot) in &assign.stores {
            if moves(slot) && is_active.get(value.0 as usize) == Some(&true) {
                set(active, slot);
            }
        }
    };
    for block in blocks {
        match block {
            Block::Assign(assign) => activate(&mut active, assign),
            Block::Repeat(repeat) => {
                let template = Template::of(repeat);
                template.activate(&mut active, &moves);
                zeros.extend(template.unmarked_loads(&active));
            }
            Block::Loop(l) => {
                let is_active = values(&active, &l.body.code);
                if l.residuals.iter().any(|r| is_active.get(r.0 as usize) == Some(&true)) {
                    l.unknowns.iter().for_each(|u| set(&mut active, u.slot));
                }
                activate(&mut active, &l.body);
            }
        }
    }
    let mut is_zero = vec![false; active.len()];
    zeros.into_iter().for_each(|slot| set(&mut is_zero, slot));
    for i in 0..active.len() {
        match (active[i], is_zero[i]) {
            (true, _) => layout.add_tangent(SlotId::from_usize(i)),
            (false, true) => layout.add_zero(SlotId::from_usize(i)),
            (false, false) => {}
        }
    }
}

pub(super) fn is(marked: &[bool], slot: SlotId) -> bool {
    marked.get(slot.index()).copied().unwrap_or(false)
}

pub(super) fn set(marked: &mut [bool], slot: SlotId) {
    if let Some(place) = marked.get_mut(slot.index()) {
        *place = true;
    }
}

/// What of a block is needed: positions of its stores, and of a loop whether it is needed at all.
#[derive(Default)]
struct Needed {
    stores: Vec<usize>,
    is_solved: bool,
}

fn find_needed(blocks: &[&Block], layout: &Layout, wanted: &[SlotId]) -> Vec<Needed> {
    let mut needed = vec![false; layout.slots.len()];
    let mark = |needed: &mut [bool], slot: SlotId| {
        if layout.tangent(slot).is_some() {
            set(needed, slot);
        }
    };
    wanted.iter().for_each(|&slot| mark(&mut needed, slot));
    let mut all: Vec<Needed> = Vec::with_capacity(blocks.len());
    for block in blocks.iter().rev() {
        let body = match block {
            Block::Assign(assign) => assign,
            Block::Repeat(repeat) => {
                let stores = Template::of(repeat).find_needed(&mut needed, layout);
                all.push(Needed { stores, is_solved: false });
                continue;
            }
            Block::Loop(l) => &l.body,
        };
        let is_needed = |slot: SlotId| is(&needed, slot);
        let stores: Vec<usize> = (0..body.stores.len()).filter(|&i| is_needed(body.stores[i].1)).collect();
        let mut roots: Vec<ValueId> = stores.iter().map(|&i| body.stores[i].0).collect();
        let mut is_solved = false;
        if let Block::Loop(l) = block {
            let is_active = l.unknowns.iter().any(|u| layout.tangent(u.slot).is_some());
            is_solved = is_active && (!stores.is_empty() || l.unknowns.iter().any(|u| is_needed(u.slot)));
            if is_solved {
                roots.extend_from_slice(&l.residuals);
            }
        }
        for (op, is_live) in body.code.ops.iter().zip(live(&body.code, &roots)) {
            match op {
                Op::Load(slot) if is_live => mark(&mut needed, *slot),
                _ => {}
            }
        }
        all.push(Needed { stores, is_solved });
    }
    all.reverse();
    all
}

struct Made {
    layout: Layout,
    alike: Alike,
    coefficients: Vec<Block>,
    direction: Vec<Block>,
    unknowns: Vec<SlotId>,
}

impl Made {
    fn assign(&mut self, assign: &Assign, needed: &Needed) {
        let (targets, roots) = self.targets(assign, needed);
        if targets.is_empty() {
            return;
        }
        let made = self.alike.differentiate(&assign.code, &assign.stores, &roots, &mut self.layout);
        self.keep(made.coefficients, made.kept, assign);
        let (code, stores) = with_stores(made.direction, made.tangents.into_iter().zip(targets));
        self.direction.push(Block::Assign(Assign { code, stores, span: assign.span }));
    }

    /// Slots of tangents of what is needed, with the values that they are tangents of.
    fn targets(&self, assign: &Assign, needed: &Needed) -> (Vec<SlotId>, Vec<ValueId>) {
        let stores = needed.stores.iter().filter_map(|&i| assign.stores.get(i));
        stores.filter_map(|&(value, slot)| Some((self.layout.tangent(slot)?, value))).unzip()
    }

    /// Adds code for coefficients.
    fn keep(&mut self, code: Code, stores: Vec<(ValueId, SlotId)>, of: &Assign) {
        if !stores.is_empty() {
            self.coefficients.push(Block::Assign(Assign { code, stores, span: of.span }));
        }
    }

    /// The same for all elements if their tangents lie alike, else for one after the other.
    fn repeat(&mut self, repeat: &Repeat, needed: &Needed) {
        if needed.stores.is_empty() {
            return;
        }
        match Template::of(repeat).differentiate(&needed.stores, &mut self.layout) {
            Some(made) => {
                self.coefficients.extend(made.coefficients);
                self.direction.extend(made.direction);
            }
            None => repeat.for_each_element(&mut |assign| self.assign(assign, needed)),
        }
    }

    fn solve(&mut self, l: &Loop, needed: &Needed) {
        if !needed.is_solved {
            // No unknown changes; what the body computes from other things may.
            return self.assign(&l.body, needed);
        }
        let (targets, mut roots) = self.targets(&l.body, needed);
        let n_stores = roots.len();
        roots.extend_from_slice(&l.residuals);
        let made = differentiate(&l.body.code, &l.body.stores, &roots, &mut self.layout);
        let Differentiated { coefficients, kept, direction, mut tangents } = made;
        self.keep(coefficients, kept, &l.body);
        let residuals = tangents.split_off(n_stores);
        let (mut code, stores) = with_stores(direction, tangents.into_iter().zip(targets));
        let residuals = residuals.into_iter().map(|r| r.unwrap_or_else(|| zero(&mut code))).collect();
        let jacobian = l.jacobian.as_ref().map(|jacobian| self.jacobian(jacobian, &l.body));
        let unknowns: Vec<Unknown> = l.unknowns.iter().filter_map(|u| self.unknown(u)).collect();
        self.unknowns.extend(unknowns.iter().map(|u| u.slot));
        self.direction.push(Block::Loop(Arc::new(Loop {
            unknowns,
            body: Assign { code, stores, span: l.body.span },
            residuals,
            spans: l.spans.clone(),
            jacobian,
            is_linear: true,
            discrete: None,
            may_grow: false,
            original: None,
        })));
    }

    fn unknown(&self, unknown: &Unknown) -> Option<Unknown> {
        let (min, max) = (f64::NEG_INFINITY, f64::INFINITY);
        Some(Unknown { slot: self.layout.tangent(unknown.slot)?, nominal: unknown.nominal, min, max })
    }

    /// Evaluates the Jacobian among the coefficients; along a direction it is loaded. An entry without value is infinite there,
    /// for which the solver takes differences.
    fn jacobian(&mut self, jacobian: &Jacobian, body: &Assign) -> Jacobian {
        let mut code = Code::default();
        let mut values = jacobian.code.clone();
        let mut stores: Vec<(ValueId, SlotId)> = Vec::new();
        let mut slots: HashMap<ValueId, SlotId> = HashMap::new();
        let mut entries = Vec::with_capacity(jacobian.entries.len());
        for &(row, column, value) in &jacobian.entries {
            let op = match jacobian.code.ops.get(value.0 as usize) {
                Some(Op::Const(c)) => Op::Const(*c),
                _ => {
                    let slot = *slots.entry(value).or_insert_with(|| {
                        let slot = self.layout.new_coefficient();
                        stores.push((number_or_infinite(&mut values, value), slot));
                        slot
                    });
                    Op::Load(slot)
                }
            };
            code.ops.push(op);
            entries.push((row, column, ValueId(code.ops.len() as u32 - 1)));
        }
        self.keep(values, stores, body);
        Jacobian { code, entries, is_constant: jacobian.is_constant }
    }

    fn finish(self, program: &SimProgram, seeds: Vec<SlotId>) -> TangentProgram {
        let (slots, tangents) = self.layout.into_parts();
        let Memory { time, initial, terminal, .. } = program.memory;
        let program = SimProgram {
            memory: Memory { slots: slots.into(), time, initial, terminal, ..Memory::empty() },
            sections: Sections {
                derivatives: Section { blocks: self.coefficients },
                crossings: Section { blocks: self.direction },
                ..Default::default()
            },
            ..SimProgram::empty(&program.name)
        };
        TangentProgram { program, tangents, unknowns: self.unknowns, seeds }
    }
}

/// Stores tangents; one that is zero is a constant.
pub(super) fn with_stores(
    mut code: Code,
    tangents: impl Iterator<Item = (Option<ValueId>, SlotId)>,
) -> (Code, Vec<(ValueId, SlotId)>) {
    let mut stores = Vec::new();
    for (tangent, slot) in tangents {
        stores.push((tangent.unwrap_or_else(|| zero(&mut code)), slot));
    }
    (code, stores)
}

fn zero(code: &mut Code) -> ValueId {
    push(code, Op::Const(0.0))
}

/// The value, or infinity where it is not a number: what is stored must be one.
fn number_or_infinite(code: &mut Code, value: ValueId) -> ValueId {
    let is_number = push(code, Op::Binary(BinaryFn::Equal, value, value));
    let infinity = push(code, Op::Const(f64::INFINITY));
    push(code, Op::Select(is_number, value, infinity))
}
