//! Evaluates a simulation program operation by operation on `f64` slots: no compilation, and the oracle for compiled
//! code. In: a [`SimProgram`]. Out: an implementation of [`ModelFunctions`].

use saltus_base::Index;
use saltus_program::{
    Activation, Assign, Block, Loop, ModelFunctions, Op, Section, SimProgram, SlotKind, Status, ValueId,
};

pub struct Interpreter<'a> {
    program: &'a SimProgram,
    memory: Vec<f64>,
    /// Values of the block that is being evaluated.
    values: Vec<f64>,
}

impl<'a> Interpreter<'a> {
    pub fn new(program: &'a SimProgram) -> Self {
        Interpreter { program, memory: program.initial_memory(), values: Vec::new() }
    }

    fn section(&mut self, section: &Section) -> Status {
        for block in &section.blocks {
            let status = match block {
                Block::Assign(assign) => self.assign(assign),
                Block::Loop(l) => self.solve(l),
            };
            if !status.is_ok() {
                return status;
            }
        }
        Status::Ok
    }

    /// Loops of equations need a solver; until it is there they have no solution.
    fn solve(&mut self, l: &Loop) -> Status {
        match l.unknowns.first() {
            Some(unknown) => Status::NotANumber(unknown.slot),
            None => Status::Ok,
        }
    }

    fn assign(&mut self, block: &Assign) -> Status {
        self.values.clear();
        for op in &block.code.ops {
            let value = self.op(op);
            self.values.push(value);
        }
        for &(value, slot) in &block.stores {
            let value = self.value(value);
            if let Some(place) = self.memory.get_mut(slot.index()) {
                *place = value;
            }
            // An infinite parameter is legal (`Modelica.Constants.inf`); an infinite derivative leads nowhere.
            let is_derivative = || self.program.slots.get(slot).is_some_and(|s| s.kind == SlotKind::Derivative);
            if value.is_nan() || value.is_infinite() && is_derivative() {
                return Status::NotANumber(slot);
            }
        }
        Status::Ok
    }

    fn value(&self, id: ValueId) -> f64 {
        self.values.get(id.0 as usize).copied().unwrap_or(f64::NAN)
    }

    fn op(&self, op: &Op) -> f64 {
        match *op {
            Op::Const(value) => value,
            Op::Load(slot) => self.get(slot),
            Op::Unary(function, v) => function.apply(self.value(v)),
            Op::Binary(function, a, b) => function.apply(self.value(a), self.value(b)),
            Op::Select(condition, a, b) => {
                if self.value(condition) != 0.0 {
                    self.value(a)
                } else {
                    self.value(b)
                }
            }
            Op::Call(_) | Op::Result(..) => f64::NAN,
        }
    }
}

impl ModelFunctions for Interpreter<'_> {
    fn program(&self) -> &SimProgram {
        self.program
    }

    fn memory(&self) -> &[f64] {
        &self.memory
    }

    fn memory_mut(&mut self) -> &mut [f64] {
        &mut self.memory
    }

    fn eval(&mut self, activation: Activation) -> Status {
        let program = self.program;
        match activation {
            Activation::Parameters => self.section(&program.parameter_section),
            Activation::Initial => self.section(&program.initial_section),
            Activation::Events => self.section(&program.event_section),
            Activation::Derivatives => self.section(&program.derivative_section),
            Activation::Crossings => self.section(&program.crossing_section),
            Activation::Outputs => self.section(&program.output_section),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_base::{IdVec, Span};
    use saltus_program::{BinaryFn, Code, Experiment, Slot, SlotId, SlotType, UnaryFn};

    /// y := if x > 0 then sqrt(x) else 0, with x at `x`
    fn program(x: f64, guard: bool) -> (SimProgram, SlotId) {
        let mut slots = IdVec::new();
        let mut slot =
            |name: &str, kind, initial| slots.push(Slot { name: name.into(), kind, ty: SlotType::Real, initial });
        let time = slot("time", SlotKind::Time, 0.0);
        let (x, y) = (slot("x", SlotKind::Parameter, x), slot("y", SlotKind::Algebraic, 0.0));
        let v = ValueId;
        let ops = vec![
            Op::Load(x),
            Op::Const(0.0),
            Op::Binary(BinaryFn::Greater, v(0), v(1)),
            Op::Unary(UnaryFn::Sqrt, v(0)),
            Op::Select(v(2), v(3), v(1)),
        ];
        let stored = if guard { v(4) } else { v(3) };
        let code = Code { ops, calls: vec![] };
        let block = Block::Assign(Assign { code, stores: vec![(stored, y)], span: Span::nowhere() });
        let program = SimProgram {
            name: "M".into(),
            slots,
            time,
            initial: time,
            terminal: time,
            states: vec![],
            pre: vec![],
            relations: IdVec::new(),
            time_events: vec![],
            samples: vec![],
            reinits: vec![],
            assertions: vec![],
            terminations: vec![],
            variables: vec![],
            parameter_section: Section::default(),
            initial_section: Section::default(),
            event_section: Section::default(),
            derivative_section: Section::default(),
            crossing_section: Section::default(),
            output_section: Section { blocks: vec![block] },
            derivative_modes: vec![],
            experiment: Experiment::default(),
            callables: IdVec::new(),
            functions: IdVec::new(),
            records: IdVec::new(),
            enumerations: IdVec::new(),
        };
        (program, y)
    }

    #[test]
    fn a_branch_that_is_not_taken_does_no_harm() {
        for (x, y) in [(4.0, 2.0), (-4.0, 0.0)] {
            let (program, slot) = program(x, true);
            let mut interpreter = Interpreter::new(&program);
            assert_eq!(interpreter.eval(Activation::Outputs), Status::Ok);
            assert_eq!(interpreter.get(slot), y);
        }
    }

    #[test]
    fn a_stored_nan_names_its_slot() {
        let (program, slot) = program(-4.0, false);
        assert_eq!(Interpreter::new(&program).eval(Activation::Outputs), Status::NotANumber(slot));
    }
}
