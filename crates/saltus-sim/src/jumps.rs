//! Functions that jump without an event, such as `sign`, in the derivatives.
//!
//! ```modelica
//! a = if locked then 0 else if pre(mode) == Forward then sa - tau else sa - sign(w)*tau    // jumps only where neither condition holds
//! ```
//!
//! In: a program, and which of its variables depend on states or time. Out: whether a derivative may jump in the present mode. Slopes
//! say nothing about a jump, so that Jacobians are made of differences then.

use saltus_program::{Block, Op, SimProgram, SlotId, UnaryFn, ValueId};

use crate::masking::{Frozen, Place, Walk, for_each_place, memories};

/// The jumps of all blocks that compute derivatives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jumps {
    blocks: Vec<Spread>,
}

/// What the jumps of one block reach: a step for each operation that uses one, in the order of evaluation.
#[derive(Clone, Debug, Default)]
struct Spread {
    steps: Vec<Step>,
    /// Steps whose value leaves the block.
    outputs: Vec<usize>,
}

/// An operation; operands are earlier steps, and what no jump reaches is not among them.
#[derive(Clone, Debug)]
enum Step {
    Jump,
    Uses(Vec<usize>),
    /// Between events only one of the branches counts.
    Chooses {
        condition: Frozen,
        then: Option<usize>,
        otherwise: Option<usize>,
    },
}

impl Jumps {
    /// `varies` tells which variables depend on states or time: `sign` of a parameter does not jump.
    pub fn of(program: &SimProgram, varies: &dyn Fn(SlotId) -> bool) -> Self {
        let relations = memories(program);
        let spread = |place: &Place| {
            let walk = Walk { program, place, users: &[], own: None, relations: &relations };
            Spread::of(place, varies, &|value| walk.frozen(value, 0))
        };
        let has_jumps = |block: &&Block| block.codes().iter().any(|code| code.ops.iter().any(is_jump));
        let mut blocks: Vec<Spread> = Vec::new();
        for block in program.sections.derivatives.blocks.iter().filter(has_jumps) {
            // One element that jumps in any mode is as good as all.
            let is_array = matches!(block, Block::Repeat(_));
            let mut is_certain = false;
            for_each_place(block, &mut |place| {
                let found = if is_certain { None } else { spread(place) };
                is_certain |= is_array && found.as_ref().is_some_and(Spread::is_unconditional);
                blocks.extend(found);
            });
        }
        Jumps { blocks }
    }

    /// May a derivative jump while discrete variables have the values in `memory`?
    pub fn are_active(&self, memory: &[f64]) -> bool {
        self.blocks.iter().any(|block| block.is_active(memory))
    }
}

impl Spread {
    /// `None` if nothing of what jumps leaves the block.
    fn of(
        place: &Place,
        varies: &dyn Fn(SlotId) -> bool,
        frozen: &dyn Fn(ValueId) -> Option<Frozen>,
    ) -> Option<Spread> {
        if !place.code.ops.iter().any(is_jump) {
            return None;
        }
        let is_varying = varying(place, varies);
        let mut spread = Spread::default();
        // By value, its step.
        let mut step_of: Vec<Option<usize>> = vec![None; place.code.ops.len()];
        for (i, op) in place.code.ops.iter().enumerate() {
            let of = |v: ValueId| step_of.get(v.0 as usize).copied().flatten();
            let uses = |operands: &mut dyn Iterator<Item = ValueId>| {
                let used: Vec<usize> = operands.filter_map(of).collect();
                (!used.is_empty()).then_some(Step::Uses(used))
            };
            let step = match *op {
                Op::Const(_) | Op::Load(_) => None,
                _ if is_jump(op) && is_varying[i] => Some(Step::Jump),
                Op::Unary(_, a) => uses(&mut [a].into_iter()),
                Op::Binary(_, a, b) => uses(&mut [a, b].into_iter()),
                Op::Select(c, a, b) => match (of(c), of(a), of(b)) {
                    (None, None, None) => None,
                    (None, then, otherwise) => Some(match frozen(c) {
                        Some(condition) => Step::Chooses { condition, then, otherwise },
                        None => Step::Uses(then.into_iter().chain(otherwise).collect()),
                    }),
                    _ => uses(&mut [c, a, b].into_iter()),
                },
                Op::Call(k) | Op::Result(k, _) => {
                    place.code.calls.get(k as usize).and_then(|call| uses(&mut call.operands()))
                }
            };
            if let Some(step) = step {
                step_of[i] = Some(spread.steps.len());
                spread.steps.push(step);
            }
        }
        let leaves = |(value, _): &(ValueId, Option<SlotId>)| step_of.get(value.0 as usize).copied().flatten();
        spread.outputs = place.outputs.iter().filter_map(leaves).collect();
        (!spread.outputs.is_empty()).then_some(spread)
    }

    /// Does it not depend on the mode?
    fn is_unconditional(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step, Step::Chooses { .. }))
    }

    fn is_active(&self, memory: &[f64]) -> bool {
        let mut is_reached: Vec<bool> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let is = |i: &usize| is_reached[*i];
            is_reached.push(match step {
                Step::Jump => true,
                Step::Uses(operands) => operands.iter().any(is),
                Step::Chooses { condition, then, otherwise } => {
                    let chosen = if condition.holds(memory) { then } else { otherwise };
                    chosen.as_ref().is_some_and(is)
                }
            });
        }
        self.outputs.iter().any(|&output| is_reached[output])
    }
}

fn is_jump(op: &Op) -> bool {
    matches!(op, Op::Unary(UnaryFn::Sign | UnaryFn::Floor | UnaryFn::Ceil, _))
}

/// By value, whether it depends on states or time.
fn varying(place: &Place, varies: &dyn Fn(SlotId) -> bool) -> Vec<bool> {
    let mut is_varying: Vec<bool> = Vec::with_capacity(place.code.ops.len());
    for op in &place.code.ops {
        let of = |v: ValueId| is_varying.get(v.0 as usize).copied().unwrap_or(true);
        let call = |k: u32| place.code.calls.get(k as usize).is_none_or(|call| call.operands().any(of));
        is_varying.push(match *op {
            Op::Const(_) => false,
            Op::Load(slot) => varies(slot),
            Op::Unary(_, a) => of(a),
            Op::Binary(_, a, b) => of(a) || of(b),
            Op::Select(condition, a, b) => of(condition) || of(a) || of(b),
            Op::Call(k) | Op::Result(k, _) => call(k),
        });
    }
    is_varying
}
