//! The crossing functions of a program as one straight list of operations that can be evaluated on numbers and on intervals.
//!
//! In: the blocks that the crossing functions need, of the sections for derivatives and crossings. Out: a [`Tape`], and for each
//! relation which operations it needs. Each operation knows what moves it between events: time, states, or neither.
//!
//! ```text
//! u = sin(w*time);  b = u > c;        time · w → sin → - c           w, c fixed between events: moved by time alone
//! ```
//!
//! Linear loops are solved in place ([`LinearLoop`]). Calls of functions, nonlinear loops, outputs of `delay` and inputs over time are
//! not on the tape: what depends on them is unknown.

use std::collections::HashMap;

use saltus_base::Index;
use saltus_numerics::{Interpolant, Interval};
use saltus_program::{BinaryFn, Block, Code, Loop, Op, SimProgram, SlotId, SlotKind, UnaryFn, ValueId};

use super::dual::Dual;
use super::linear::IntervalSystem;

/// Operations of all relations together, more than which are not worth their memory.
const MOST_PLACES: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Instruction {
    Constant(f64),
    /// A variable that keeps its value between events.
    Fixed(SlotId),
    Time,
    State(u32),
    Unary(UnaryFn, u32),
    Binary(BinaryFn, u32, u32),
    Select(u32, u32, u32),
    /// An unknown of a loop, set while that is solved.
    Guess,
    /// Solves a loop; the value itself means nothing.
    Loop(u32),
    /// What a loop, solved at the first place, has left at the second.
    Solved(u32, u32),
    Unknown,
}

/// `0 = A·u + b`, torn: the residuals are computed from the unknowns by operations on the tape.
///
/// With the unknowns at zero the residuals are b, and u follows. With the unknowns where they are and fixed, the slopes of the
/// residuals are those of A·u + b by time, from which the slopes of the unknowns follow.
#[derive(Clone, Debug)]
struct LinearLoop {
    guesses: Vec<u32>,
    /// Operations that depend on the unknowns, in order.
    inner: Vec<u32>,
    residuals: Vec<u32>,
    /// Row, column and place of the coefficients; none depends on the unknowns.
    entries: Vec<(u32, u32, u32)>,
    /// Places outside of it that it needs.
    outer: Vec<u32>,
    /// The coefficients are fixed between events.
    is_constant: bool,
    system: IntervalSystem,
}

/// Loops with more unknowns are not worth their matrices: with constant coefficients, and with others.
const LARGEST_CONSTANT: usize = 60;
const LARGEST_VARIABLE: usize = 12;

impl Instruction {
    /// What an operation is applied to.
    fn operands(self) -> [Option<u32>; 3] {
        match self {
            Instruction::Unary(_, a) => [Some(a), None, None],
            Instruction::Binary(_, a, b) => [Some(a), Some(b), None],
            Instruction::Select(c, a, b) => [Some(c), Some(a), Some(b)],
            _ => [None; 3],
        }
    }
}

/// What moves a value between events.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Movers {
    pub time: bool,
    pub states: bool,
    /// Something that cannot be enclosed.
    pub unknown: bool,
    /// A loop is solved on the way: to rounding only what the program computes.
    solved: bool,
    /// Unknowns of a loop that is not complete.
    guess: bool,
}

impl Movers {
    fn and(self, other: Movers) -> Movers {
        Movers {
            time: self.time || other.time,
            states: self.states || other.states,
            unknown: self.unknown || other.unknown,
            solved: self.solved || other.solved,
            guess: self.guess || other.guess,
        }
    }

    fn is_any(self) -> bool {
        self.time || self.states || self.unknown
    }

    /// Time and nothing else. When a loop changes the program itself must say.
    pub fn is_time_alone(self) -> bool {
        self.time && !self.states && !self.unknown && !self.solved
    }
}

/// What one relation needs of a tape.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub movers: Movers,
    crossing: u32,
    scale: u32,
    /// Operations that move, in order.
    moving: Vec<u32>,
    /// Variables that are fixed between events.
    pub leaves: Vec<SlotId>,
}

/// A crossing function over a stretch of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub z: Interval,
    pub slope: Interval,
    /// The largest magnitude of the operands.
    pub scale: f64,
}

impl Crossing {
    const UNKNOWN: Crossing = Crossing { z: Interval::UNKNOWN, slope: Interval::UNKNOWN, scale: 0.0 };
}

#[derive(Clone, Debug)]
pub(crate) struct Tape {
    instructions: Vec<Instruction>,
    /// By relation; `None` if it would be too long.
    pub slices: Vec<Option<Slice>>,
    /// Operations that are evaluated once after each event, in order.
    fixed: Vec<u32>,
    /// Operations that move a relation other than those of time alone, in order.
    swept: Vec<u32>,
    /// States that are needed.
    pub states: Vec<u32>,
    loops: Vec<LinearLoop>,
    interpolants: Vec<Interpolant>,
    duals: Vec<Dual>,
    numbers: Vec<f64>,
}

impl Tape {
    /// `inputs_vary`: inputs are functions of time, which nobody knows.
    pub fn new(program: &SimProgram, inputs_vary: bool) -> Self {
        let mut builder = Builder::new(program, inputs_vary);
        if !program.events.relations.is_empty() {
            for section in [&program.sections.derivatives, &program.sections.crossings] {
                section.blocks.iter().for_each(|block| builder.block(block));
            }
        }
        builder.finish()
    }

    /// Does time alone move the relation?
    pub fn is_time_alone(&self, relation: usize) -> bool {
        self.slices.get(relation).and_then(Option::as_ref).is_some_and(|slice| slice.movers.is_time_alone())
    }

    /// Evaluates what is fixed until the next event.
    pub fn load(&mut self, memory: &[f64]) {
        for i in 0..self.fixed.len() {
            let at = self.fixed[i] as usize;
            let value = match self.instructions[at] {
                Instruction::Fixed(slot) => memory.get(slot.index()).copied().unwrap_or(f64::NAN),
                other => self.number(other, 0.0),
            };
            self.numbers[at] = value;
            self.duals[at] = Dual::constant(value);
        }
        for k in 0..self.loops.len() {
            if self.loops[k].is_constant {
                self.factor(k);
            }
        }
    }

    /// Takes over the dense output of a step.
    pub fn follow(&mut self, mut interpolant: impl FnMut(usize) -> Interpolant) {
        for &state in &self.states {
            self.interpolants[state as usize] = interpolant(state as usize);
        }
    }

    /// The crossing function of a relation at one time, as the program computes it.
    pub fn at(&mut self, relation: usize, t: f64) -> f64 {
        let Some(slice) = self.slices[relation].take() else { return f64::NAN };
        for &i in &slice.moving {
            match self.instructions[i as usize] {
                Instruction::Loop(k) => self.solve_number(k as usize, t),
                other => self.numbers[i as usize] = self.number(other, t),
            }
        }
        let z = self.numbers[slice.crossing as usize];
        self.slices[relation] = Some(slice);
        z
    }

    /// The crossing function of a relation over a stretch of time.
    pub fn over(&mut self, relation: usize, t: Interval) -> Crossing {
        let Some(slice) = self.slices[relation].take() else {
            return Crossing::UNKNOWN;
        };
        slice.moving.iter().for_each(|&i| self.enclose(i as usize, t));
        let crossing = self.crossing(&slice);
        self.slices[relation] = Some(slice);
        crossing
    }

    /// Encloses the crossing functions that states move, all together.
    pub fn sweep(&mut self, t: Interval) {
        for k in 0..self.swept.len() {
            self.enclose(self.swept[k] as usize, t);
        }
    }

    /// A crossing function over the stretch of the last sweep.
    pub fn swept(&self, relation: usize) -> Crossing {
        self.slices[relation].as_ref().map_or(Crossing::UNKNOWN, |slice| self.crossing(slice))
    }

    /// Is nothing known of a relation, because of what cannot be enclosed? After a sweep.
    pub fn is_hopeless(&self, relation: usize) -> bool {
        let slice = self.slices[relation].as_ref();
        slice.is_none_or(|s| s.movers.unknown && !self.duals[s.crossing as usize].value.is_known())
    }

    fn crossing(&self, slice: &Slice) -> Crossing {
        let Dual { value, slope } = self.duals[slice.crossing as usize];
        Crossing { z: value, slope, scale: self.duals[slice.scale as usize].value.magnitude() }
    }

    fn enclose(&mut self, i: usize, t: Interval) {
        match self.instructions[i] {
            Instruction::Loop(k) => self.solve(k as usize, t),
            other => self.duals[i] = self.dual(other, t),
        }
    }

    /// Takes over the coefficients of a loop.
    fn factor(&mut self, k: usize) {
        let l = &mut self.loops[k];
        let n = l.guesses.len();
        for &(row, column, place) in &l.entries {
            l.system.matrix[row as usize * n + column as usize] = self.duals[place as usize].value;
        }
        l.system.factor();
    }

    /// Encloses the unknowns of a loop and what follows from them.
    fn solve(&mut self, k: usize, t: Interval) {
        if !self.loops[k].is_constant {
            self.factor(k);
        }
        let none = Dual::constant(0.0);
        self.set_guesses(k, t, |_, _| none);
        self.solve_for(k, |dual| dual.value);
        self.set_guesses(k, t, |x, _| Dual { value: x, slope: Interval::ZERO });
        self.solve_for(k, |dual| dual.slope);
        self.set_guesses(k, t, |x, known| Dual { value: known.value, slope: x });
    }

    /// Sets the unknowns by the last solution and what they are so far, and evaluates what follows.
    fn set_guesses(&mut self, k: usize, t: Interval, set: impl Fn(Interval, Dual) -> Dual) {
        for j in 0..self.loops[k].guesses.len() {
            let place = self.loops[k].guesses[j] as usize;
            self.duals[place] = set(self.loops[k].system.solution[j], self.duals[place]);
        }
        for j in 0..self.loops[k].inner.len() {
            let i = self.loops[k].inner[j] as usize;
            self.duals[i] = self.dual(self.instructions[i], t);
        }
    }

    /// Solves A·x = -residual, of its values or its slopes.
    fn solve_for(&mut self, k: usize, of: impl Fn(Dual) -> Interval) {
        let l = &mut self.loops[k];
        for (right, &place) in l.system.right.iter_mut().zip(&l.residuals) {
            *right = -of(self.duals[place as usize]);
        }
        l.system.solve();
    }

    /// The unknowns of a loop at one time, by their enclosure.
    fn solve_number(&mut self, k: usize, t: f64) {
        let at = Interval::point(t);
        for i in 0..self.loops[k].outer.len() {
            let place = self.loops[k].outer[i] as usize;
            self.duals[place] = Dual::constant(self.numbers[place]);
        }
        self.solve(k, at);
        let l = &self.loops[k];
        for &i in l.guesses.iter().chain(&l.inner) {
            self.numbers[i as usize] = self.duals[i as usize].value.middle();
        }
    }

    fn number(&self, instruction: Instruction, t: f64) -> f64 {
        let value = |i: u32| self.numbers[i as usize];
        match instruction {
            Instruction::Constant(x) => x,
            Instruction::Fixed(_) | Instruction::Unknown | Instruction::Guess | Instruction::Loop(_) => f64::NAN,
            Instruction::Solved(_, place) => value(place),
            Instruction::Time => t,
            Instruction::State(i) => self.interpolants[i as usize].at(t),
            Instruction::Unary(function, a) => function.apply(value(a)),
            Instruction::Binary(function, a, b) => function.apply(value(a), value(b)),
            Instruction::Select(c, a, b) => {
                if value(c) != 0.0 {
                    value(a)
                } else {
                    value(b)
                }
            }
        }
    }

    fn dual(&self, instruction: Instruction, t: Interval) -> Dual {
        let value = |i: u32| self.duals[i as usize];
        match instruction {
            Instruction::Constant(x) => Dual::constant(x),
            Instruction::Fixed(_) | Instruction::Unknown | Instruction::Guess | Instruction::Loop(_) => Dual::UNKNOWN,
            Instruction::Solved(_, place) => value(place),
            Instruction::Time => Dual { value: t, slope: Interval::point(1.0) },
            Instruction::State(i) => {
                let (value, slope) = self.interpolants[i as usize].enclose(t);
                Dual { value, slope }
            }
            Instruction::Unary(function, a) => value(a).unary(function),
            Instruction::Binary(function, a, b) if a == b && function == BinaryFn::Mul => {
                let x = value(a);
                Dual { value: x.value.square(), slope: Interval::point(2.0) * x.value * x.slope }
            }
            Instruction::Binary(function, a, b) => value(a).binary(function, value(b)),
            Instruction::Select(c, a, b) => value(c).select(value(a), value(b)),
        }
    }
}

/// Puts blocks on a tape one after the other.
struct Builder<'a> {
    program: &'a SimProgram,
    inputs_vary: bool,
    instructions: Vec<Instruction>,
    movers: Vec<Movers>,
    /// Where the value of a slot is computed.
    places: HashMap<SlotId, u32>,
    states: HashMap<SlotId, u32>,
    loops: Vec<LinearLoop>,
    unknown: u32,
}

impl<'a> Builder<'a> {
    fn new(program: &'a SimProgram, inputs_vary: bool) -> Self {
        let states = program.states.iter().enumerate().map(|(i, s)| (s.value, i as u32)).collect();
        let mut builder = Builder {
            program,
            inputs_vary,
            instructions: Vec::new(),
            movers: Vec::new(),
            places: HashMap::new(),
            states,
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

    fn block(&mut self, block: &Block) {
        match block {
            Block::Assign(assign) => {
                let values = self.code(&assign.code);
                for &(value, slot) in &assign.stores {
                    let place = values.get(value.0 as usize).copied().unwrap_or(self.unknown);
                    self.places.insert(slot, place);
                }
            }
            Block::Loop(l) => {
                if !self.linear_loop(l) {
                    for slot in block.stored() {
                        self.places.insert(slot, self.unknown);
                    }
                }
            }
        }
    }

    /// Puts a loop on the tape, if it is linear and not too large.
    fn linear_loop(&mut self, l: &Loop) -> bool {
        let n = l.unknowns.len();
        let Some(jacobian) = l.jacobian.as_ref().filter(|_| l.is_linear && l.discrete.is_none()) else { return false };
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
        if entries.iter().any(|e| depends(e.2) || e.0 as usize >= n || e.1 as usize >= n) {
            return false;
        }
        let operands = inner.iter().flat_map(|&i| self.instructions[i as usize].operands()).flatten();
        let mut outer: Vec<u32> = operands.chain(residuals.iter().copied()).filter(|&i| !depends(i)).collect();
        outer.extend(entries.iter().map(|e| e.2));
        outer.sort_unstable();
        outer.dedup();
        let is_constant = entries.iter().all(|e| !self.movers[e.2 as usize].is_any());
        if !is_constant && n > LARGEST_VARIABLE {
            return false;
        }
        let stored: Vec<(SlotId, u32)> = (l.unknowns.iter().map(|u| u.slot).zip(guesses.iter().copied()))
            .chain(l.body.stores.iter().filter_map(|&(v, slot)| Some((slot, place(&body, v)?))))
            .collect();
        let system = IntervalSystem::new(n);
        self.loops.push(LinearLoop { guesses, inner, residuals, entries, outer, is_constant, system });
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

    fn finish(mut self) -> Tape {
        let outputs: Vec<(u32, u32)> = {
            let relations: Vec<_> = self.program.events.relations.values().map(|r| (r.crossing, r.scale)).collect();
            relations.into_iter().map(|(crossing, scale)| (self.slot(crossing), self.slot(scale))).collect()
        };
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
            slices.push(Some(Slice { movers: self.movers[crossing as usize], crossing, scale, moving, leaves }));
        }
        let positions =
            |is: &[bool]| -> Vec<u32> { is.iter().enumerate().filter(|(_, is)| **is).map(|(i, _)| i as u32).collect() };
        Tape {
            duals: vec![Dual::UNKNOWN; self.instructions.len()],
            numbers: vec![f64::NAN; self.instructions.len()],
            fixed: positions(&is_fixed),
            states: positions(&has_state),
            loops: self.loops,
            interpolants: vec![Interpolant::default(); self.program.states.len()],
            instructions: self.instructions,
            swept: positions(&is_swept),
            slices,
        }
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
