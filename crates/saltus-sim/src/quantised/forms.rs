//! How variables depend on states and time between two events: not at all, affinely, or otherwise.
//!
//! ```text
//! der(i) = (u - R*i)/L;              affine: R, L and u (a parameter or a discrete variable) are constant between events
//! der(v) = (1 - v^2)*v - x;          curved
//! i1*R1 + i2*R2 = v; i1 = i2 + g*x   a linear loop with constant coefficients: affine as well
//! ```
//!
//! In: the sections that are evaluated between events, in order. Out: by slot its [`Form`].

use saltus_base::Index;
use saltus_program::{BinaryFn, Block, Code, Loop, Op, Section, SimProgram, SlotId, SlotKind, UnaryFn, ValueId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Form {
    /// Changes at events only.
    Constant,
    Affine,
    Curved,
}

pub(super) struct Forms {
    by_slot: Vec<Form>,
}

impl Forms {
    pub fn of(program: &SimProgram) -> Self {
        let moves = |kind: SlotKind| if kind.is_continuous() { Form::Curved } else { Form::Constant };
        let mut forms = Forms { by_slot: program.memory.slots.values().map(|slot| moves(slot.kind)).collect() };
        // What is given from outside is held; what nothing computes is not touched either.
        let given = program.memory.slots.iter().filter(|(_, slot)| slot.kind == SlotKind::Input);
        given.for_each(|(id, _)| forms.set(id, Form::Constant));
        forms.set(program.memory.time, Form::Affine);
        program.states.iter().for_each(|state| forms.set(state.value, Form::Affine));
        let sections = &program.sections;
        for section in [&sections.derivatives, &sections.crossings, &sections.outputs] {
            forms.follow(section);
        }
        forms
    }

    pub fn get(&self, slot: SlotId) -> Form {
        self.by_slot.get(slot.index()).copied().unwrap_or(Form::Curved)
    }

    fn set(&mut self, slot: SlotId, form: Form) {
        if let Some(place) = self.by_slot.get_mut(slot.index()) {
            *place = form;
        }
    }

    fn follow(&mut self, section: &Section) {
        for block in &section.blocks {
            match block {
                Block::Assign(assign) => {
                    let values = self.values(&assign.code);
                    assign.stores.iter().for_each(|&(value, slot)| self.set(slot, form(&values, value)));
                }
                Block::Loop(l) => self.solve(l),
                Block::Repeat(_) => block.stored().into_iter().for_each(|slot| self.set(slot, Form::Curved)),
            }
        }
    }

    /// The solution of affine equations with constant coefficients is affine.
    fn solve(&mut self, l: &Loop) {
        l.unknowns.iter().for_each(|unknown| self.set(unknown.slot, Form::Affine));
        let values = self.values(&l.body.code);
        let is_affine = l.discrete.is_none() && l.residuals.iter().all(|&r| form(&values, r) != Form::Curved);
        let own: Vec<SlotId> = l.unknowns.iter().map(|u| u.slot).collect();
        for &(value, slot) in &l.body.stores {
            self.set(slot, if is_affine { form(&values, value) } else { Form::Curved });
        }
        own.into_iter().for_each(|slot| self.set(slot, if is_affine { Form::Affine } else { Form::Curved }));
    }

    fn values(&self, code: &Code) -> Vec<Form> {
        let mut values: Vec<Form> = Vec::with_capacity(code.ops.len());
        for op in &code.ops {
            let of = |v: ValueId| form(&values, v);
            let curved = |form: Form| if form == Form::Constant { Form::Constant } else { Form::Curved };
            let value = match *op {
                Op::Const(_) => Form::Constant,
                Op::Load(slot) => self.get(slot),
                Op::Unary(UnaryFn::Negate, a) => of(a),
                Op::Unary(_, a) => curved(of(a)),
                Op::Binary(BinaryFn::Add | BinaryFn::Sub, a, b) => of(a).max(of(b)),
                Op::Binary(BinaryFn::Mul, a, b) if of(a) == Form::Constant || of(b) == Form::Constant => {
                    of(a).max(of(b))
                }
                Op::Binary(BinaryFn::Div, a, b) if of(b) == Form::Constant => of(a),
                Op::Binary(_, a, b) => curved(of(a).max(of(b))),
                Op::Select(c, a, b) if of(c) == Form::Constant => of(a).max(of(b)),
                Op::Select(..) => Form::Curved,
                Op::Call(k) | Op::Result(k, _) => {
                    let operands = code.calls.get(k as usize).into_iter().flat_map(|call| call.operands());
                    curved(operands.map(of).max().unwrap_or(Form::Constant))
                }
            };
            values.push(value);
        }
        values
    }
}

fn form(values: &[Form], id: ValueId) -> Form {
    values.get(id.0 as usize).copied().unwrap_or(Form::Curved)
}
