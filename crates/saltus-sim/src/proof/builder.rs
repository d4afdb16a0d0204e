//! Puts the blocks that crossing functions need on a tape, and finds out what moves each operation.

use std::collections::HashMap;

use saltus_base::IdVec;
use saltus_numerics::{Interpolant, Interval};
use saltus_program::{Assign, Block, Code, Loop, Op, Relation, RelationId, SimProgram, SlotId, SlotKind, ValueId};

use super::dual::Dual;
use super::expand::Expansions;
use super::linear::IntervalSystem;
use super::sums::{Sum, Weights};
use super::tape::{Instruction, Movers, Slice, Tape, TapeLoop};

/// Operations of all relations together, more than which are not worth their memory.
const MOST_PLACES: usize = 4_000_000;

/// Loops with more unknowns are not worth their matrices: with constant coefficients, and with others.
const LARGEST_CONSTANT: usize = 60;
const LARGEST_VARIABLE: usize = 12;

/// The same for nonlinear ones, whose boxes take several evaluations, and the operations of one.
const LARGEST_NONLINEAR: usize = 3;
const MOST_NONLINEAR: usize = 300;

/// Puts blocks on a tape one after the other.
pub(super) struct Builder<'a> {
    program: &'a SimProgram,
    inputs_vary: bool,
    instructions: Vec<Instruction>,
    movers: Vec<Movers>,
    /// Where the value of a slot is computed.
    places: HashMap<SlotId, u32>,
    states: HashMap<SlotId, u32>,
    loops: Vec<TapeLoop>,
    unknown: u32,
}

impl<'a> Builder<'a> {
    pub fn new(program: &'a SimProgram, inputs_vary: bool) -> Self {
        let mut builder = Builder {
            program,
            inputs_vary,
            instructions: Vec::new(),
            movers: Vec::new(),
            places: HashMap::new(),
            states: HashMap::new(),
            loops: Vec::new(),
            unknown: 0,
        };
        builder.unknown = builder.push(Instruction::Unknown);
        let histories = &program.history;
        let set_by_driver = histories.delays.iter().map(|d| d.output);
        for slot in set_by_driver.chain(histories.transports.iter().flat_map(|t| t.outputs)) {
            builder.places.insert(slot, builder.unknown);
        }
        builder
    }

    /// Before the first block.
    pub fn note_states(&mut self) {
        self.states = self.program.states.iter().enumerate().map(|(i, s)| (s.value, i as u32)).collect();
    }

    fn push(&mut self, instruction: Instruction) -> u32 {
        let of = |i: u32| self.movers[i as usize];
        let movers = match instruction {
            Instruction::Constant(_) | Instruction::Fixed(_) => Movers::default(),
            Instruction::Time => Movers { time: true, ..Movers::default() },
            Instruction::State(_) => Movers { states: true, ..Movers::default() },
            Instruction::Unknown => Movers { unknown: true, ..Movers::default() },
            Instruction::Guess => Movers { guess: true, ..Movers::default() },
            Instruction::Loop(k) => {
                let outer = self.loops[k as usize].outer.iter().fold(Movers::default(), |all, &i| all.and(of(i)));
                // Also where nothing moves it: what is fixed is evaluated without loops.
                Movers { solved: true, time: outer.time || !outer.is_any(), ..outer }
            }
            Instruction::Solved(solver, _) => of(solver),
            Instruction::Unary(_, a) => of(a),
            Instruction::Binary(_, a, b) => of(a).and(of(b)),
            Instruction::Select(c, a, b) => of(c).and(of(a)).and(of(b)),
        };
        self.instructions.push(instruction);
        self.movers.push(movers);
        (self.instructions.len() - 1) as u32
    }

    pub fn block(&mut self, block: &Block) {
        match block {
            Block::Assign(assign) => self.assign(assign),
            Block::Repeat(repeat) => repeat.for_each_element(&mut |assign| self.assign(assign)),
            Block::Loop(l) => {
                if !self.equation_loop(l) {
                    for slot in block.stored() {
                        self.places.insert(slot, self.unknown);
                    }
                }
            }
        }
    }

    fn assign(&mut self, assign: &Assign) {
        let values = self.code(&assign.code);
        for &(value, slot) in &assign.stores {
            let place = values.get(value.0 as usize).copied().unwrap_or(self.unknown);
            self.places.insert(slot, place);
        }
    }

    /// Puts a loop on the tape, if its Jacobian is known and it is not too large.
    fn equation_loop(&mut self, l: &Loop) -> bool {
        let n = l.unknowns.len();
        let Some(jacobian) = l.jacobian.as_ref().filter(|_| l.discrete.is_none()) else { return false };
        if n > LARGEST_CONSTANT || l.residuals.len() != n {
            return false;
        }
        let start = self.instructions.len() as u32;
        let guesses: Vec<u32> = l.unknowns.iter().map(|_| self.push(Instruction::Guess)).collect();
        l.unknowns.iter().zip(&guesses).for_each(|(unknown, &place)| {
            self.places.insert(unknown.slot, place);
        });
        let body = self.code(&l.body.code);
        // The code of the body stores what later operations of it do not load again; the Jacobian may.
        for &(value, slot) in &l.body.stores {
            self.places.insert(slot, body.get(value.0 as usize).copied().unwrap_or(self.unknown));
        }
        let coefficients = self.code(&jacobian.code);
        let place = |values: &[u32], v: ValueId| values.get(v.0 as usize).copied();
        let residuals: Option<Vec<u32>> = l.residuals.iter().map(|&v| place(&body, v)).collect();
        let entries: Option<Vec<_>> =
            jacobian.entries.iter().map(|&(row, column, v)| Some((row, column, place(&coefficients, v)?))).collect();
        let (Some(residuals), Some(entries)) = (residuals, entries) else { return false };
        let depends = |i: u32| self.movers[i as usize].guess;
        let end = self.instructions.len() as u32;
        let inner: Vec<u32> = (start + n as u32..end).filter(|&i| depends(i)).collect();
        let is_linear = !entries.iter().any(|e| depends(e.2));
        if entries.iter().any(|e| e.0 as usize >= n || e.1 as usize >= n) {
            return false;
        }
        let operands = inner.iter().flat_map(|&i| self.instructions[i as usize].operands()).flatten();
        let mut outer: Vec<u32> = operands.chain(residuals.iter().copied()).filter(|&i| !depends(i)).collect();
        outer.extend(entries.iter().map(|e| e.2).filter(|&i| !depends(i)));
        outer.sort_unstable();
        outer.dedup();
        let is_constant = is_linear && entries.iter().all(|e| !self.movers[e.2 as usize].is_any());
        let is_too_large = !is_linear && (n > LARGEST_NONLINEAR || inner.len() > MOST_NONLINEAR);
        if !is_constant && n > LARGEST_VARIABLE || is_too_large {
            return false;
        }
        let stored: Vec<(SlotId, u32)> = (l.unknowns.iter().map(|u| u.slot).zip(guesses.iter().copied()))
            .chain(l.body.stores.iter().filter_map(|&(v, slot)| Some((slot, place(&body, v)?))))
            .collect();
        let system = IntervalSystem::new(n);
        let unknowns = l.unknowns.iter().map(|u| (u.slot, u.nominal.abs())).collect();
        let start = vec![0.0; n];
        self.loops.push(TapeLoop {
            guesses,
            unknowns,
            is_linear,
            start,
            inner,
            residuals,
            entries,
            outer,
            is_constant,
            system,
        });
        let solver = self.push(Instruction::Loop((self.loops.len() - 1) as u32));
        for (slot, inside) in stored {
            let is_inside = self.movers[inside as usize].guess;
            let place = if is_inside { self.push(Instruction::Solved(solver, inside)) } else { inside };
            self.places.insert(slot, place);
        }
        true
    }

    /// Where the values of code are.
    fn code(&mut self, code: &Code) -> Vec<u32> {
        let mut values: Vec<u32> = Vec::with_capacity(code.ops.len());
        for op in &code.ops {
            let unknown = self.unknown;
            let of = |v: ValueId| values.get(v.0 as usize).copied().unwrap_or(unknown);
            let place = match *op {
                Op::Const(x) => self.push(Instruction::Constant(x)),
                Op::Load(slot) => self.slot(slot),
                Op::Unary(function, a) => self.push(Instruction::Unary(function, of(a))),
                Op::Binary(function, a, b) => self.push(Instruction::Binary(function, of(a), of(b))),
                Op::Select(c, a, b) => self.push(Instruction::Select(of(c), of(a), of(b))),
                Op::Call(_) | Op::Result(..) => unknown,
            };
            values.push(place);
        }
        values
    }

    fn slot(&mut self, slot: SlotId) -> u32 {
        if let Some(&place) = self.places.get(&slot) {
            return place;
        }
        let kind = self.program.memory.slots.get(slot).map(|s| s.kind);
        let place = match (kind, self.states.get(&slot)) {
            (_, Some(&state)) => self.push(Instruction::State(state)),
            (Some(SlotKind::Time), _) => self.push(Instruction::Time),
            (Some(SlotKind::Input), _) if !self.inputs_vary => self.push(Instruction::Fixed(slot)),
            (Some(kind), _) if !kind.is_continuous() => self.push(Instruction::Fixed(slot)),
            _ => self.unknown,
        };
        self.places.insert(slot, place);
        place
    }

    pub fn finish(mut self, relations: &IdVec<RelationId, Relation>) -> Tape {
        let outputs: Vec<(u32, u32)> =
            relations.values().map(|r| (self.slot(r.crossing), self.slot(r.scale))).collect();
        let mut is_fixed = vec![false; self.instructions.len()];
        let mut is_swept = vec![false; self.instructions.len()];
        let mut stamp = vec![u32::MAX; self.instructions.len()];
        let (mut slices, mut n_places) = (Vec::with_capacity(outputs.len()), 0);
        let mut has_state = vec![false; self.program.states.len()];
        for (number, &(crossing, scale)) in outputs.iter().enumerate() {
            if n_places > MOST_PLACES {
                slices.push(None);
                continue;
            }
            let needed = self.needed(&[crossing, scale], number as u32, &mut stamp);
            let (mut moving, mut leaves) = (Vec::new(), Vec::new());
            let is_timed = self.movers[crossing as usize].is_time_alone();
            for &i in &needed {
                if self.movers[i as usize].is_any() {
                    moving.push(i);
                    is_swept[i as usize] |= !is_timed;
                } else {
                    is_fixed[i as usize] = true;
                }
                match self.instructions[i as usize] {
                    Instruction::Fixed(slot) => leaves.push(slot),
                    Instruction::State(state) => has_state[state as usize] = true,
                    _ => {}
                }
            }
            n_places += needed.len();
            let price = self.price(&moving);
            slices.push(Some(Slice { movers: self.movers[crossing as usize], crossing, scale, moving, price, leaves }));
        }
        let positions =
            |is: &[bool]| -> Vec<u32> { is.iter().enumerate().filter(|(_, is)| **is).map(|(i, _)| i as u32).collect() };
        let swept = positions(&is_swept);
        let sum = |(slice, &(crossing, _)): (&Option<Slice>, &(u32, u32))| {
            slice.as_ref().and_then(|_| Sum::of(&self.instructions, &self.movers, crossing))
        };
        let sums: Vec<Option<Sum>> = slices.iter().zip(&outputs).map(sum).collect();
        let has_sums = sums.iter().any(Option::is_some);
        // Without relations nobody looks at states.
        let n_states = if outputs.is_empty() { 0 } else { self.program.states.len() };
        Tape {
            sums,
            weights: Weights::new(if has_sums { self.instructions.len() } else { 0 }),
            price_of_swept: self.price(&swept),
            work: 0,
            duals: vec![Dual::UNKNOWN; self.instructions.len()],
            centres: vec![Interval::UNKNOWN; self.instructions.len()],
            numbers: vec![f64::NAN; self.instructions.len()],
            expansions: Expansions::default(),
            fixed: positions(&is_fixed),
            states: positions(&has_state),
            loops: self.loops,
            interpolants: vec![Interpolant::default(); n_states],
            errors: vec![0.0; n_states],
            is_blurred: false,
            is_loose: false,
            instructions: self.instructions,
            swept,
            slices,
        }
    }

    fn price(&self, moving: &[u32]) -> u64 {
        let price = |&i: &u32| match self.instructions[i as usize] {
            Instruction::Loop(k) => self.loops[k as usize].price(),
            _ => 1,
        };
        moving.iter().map(price).sum()
    }

    /// The operations that `wanted` need, in order; `stamp` marks those that have been seen.
    fn needed(&self, wanted: &[u32], number: u32, stamp: &mut [u32]) -> Vec<u32> {
        let (mut needed, mut open) = (Vec::new(), wanted.to_vec());
        while let Some(i) = open.pop() {
            if std::mem::replace(&mut stamp[i as usize], number) == number {
                continue;
            }
            needed.push(i);
            match self.instructions[i as usize] {
                Instruction::Loop(k) => open.extend(&self.loops[k as usize].outer),
                Instruction::Solved(solver, _) => open.push(solver),
                other => open.extend(other.operands().into_iter().flatten()),
            }
        }
        needed.sort_unstable();
        needed
    }
}
