//! The crossing functions of a program as one straight list of operations that can be evaluated on numbers and on intervals.
//!
//! In: the blocks that the crossing functions need, of the sections for derivatives and crossings. Out: a [`Tape`], and for each
//! relation which operations it needs. Each operation knows what moves it between events: time, states, or neither.
//!
//! ```text
//! u = sin(w*time);  b = u > c;        time · w → sin → - c           w, c fixed between events: moved by time alone
//! ```
//!
//! Loops are solved in place ([`TapeLoop`]). Calls of functions, outputs of `delay` and inputs over time are
//! not on the tape: what depends on them is unknown.

use std::borrow::Cow;
use std::collections::HashSet;

use saltus_base::{IdVec, Index};
use saltus_numerics::liqss::parabola::Parabola;
use saltus_numerics::{Integrator, Interpolant, Interval};
use saltus_program::{BinaryFn, Block, Relation, RelationId, Section, SimProgram, SlotId, UnaryFn};

use super::budget::{DUAL, NUMBER, REFINED, VALUE};
use super::builder::Builder;
use super::dual::Dual;
use super::expand::Expansions;
use super::linear::IntervalSystem;
use super::sums::{Sum, Weights};

/// Part of an unknown of a loop by which it is moved to see how large it is in a relation: more than rounding, and so little that a loop is as good as linear.
const LOOSE: f64 = 1e-9;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Instruction {
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
/// residuals are those of A·u + b by time, from which the slopes of the unknowns follow. Where the residuals are not linear, A is their Jacobian, and
/// the unknowns are enclosed by the operator of Krawczyk ([`super::krawczyk`]).
#[derive(Clone, Debug)]
pub(super) struct TapeLoop {
    pub(super) guesses: Vec<u32>,
    /// Where the program keeps the unknowns, and their nominal values.
    pub(super) unknowns: Vec<(SlotId, f64)>,
    pub(super) is_linear: bool,
    /// The solution that was found last, from which the next one is looked for.
    pub(super) start: Vec<f64>,
    /// Operations that depend on the unknowns, in order.
    pub(super) inner: Vec<u32>,
    pub(super) residuals: Vec<u32>,
    /// Row, column and place of the coefficients.
    pub(super) entries: Vec<(u32, u32, u32)>,
    /// Places outside of it that it needs.
    pub(super) outer: Vec<u32>,
    /// The coefficients are fixed between events.
    pub(super) is_constant: bool,
    pub(super) system: IntervalSystem,
}

impl TapeLoop {
    /// What solving it costs, in operations like any other on the tape.
    pub(super) fn price(&self) -> u64 {
        let (n, inner) = (self.guesses.len() as u64, self.inner.len() as u64);
        match (self.is_constant, self.is_linear) {
            (true, _) => 2 * inner + n * n,
            (false, true) => 2 * inner + n * n + self.price_of_factor(),
            // A point, and a few boxes.
            (false, false) => 6 * (inner + n * n + self.price_of_factor()),
        }
    }

    fn price_of_factor(&self) -> u64 {
        (self.guesses.len() as u64).pow(3) * 2
    }
}

impl Instruction {
    /// What an operation is applied to.
    pub(super) fn operands(self) -> [Option<u32>; 3] {
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
    pub(super) solved: bool,
    /// Unknowns of a loop that is not complete.
    pub(super) guess: bool,
}

impl Movers {
    pub(super) fn and(self, other: Movers) -> Movers {
        Movers {
            time: self.time || other.time,
            states: self.states || other.states,
            unknown: self.unknown || other.unknown,
            solved: self.solved || other.solved,
            guess: self.guess || other.guess,
        }
    }

    pub(super) fn is_any(self) -> bool {
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
    pub(super) crossing: u32,
    pub(super) scale: u32,
    /// Operations that move, in order.
    pub(super) moving: Vec<u32>,
    /// How many these are, with those that loops take.
    pub(super) price: u64,
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
    pub(super) instructions: Vec<Instruction>,
    /// By relation; `None` if it would be too long.
    pub slices: Vec<Option<Slice>>,
    /// Operations that are evaluated once after each event, in order.
    pub(super) fixed: Vec<u32>,
    /// Operations that move a relation other than those of time alone, in order.
    pub(super) swept: Vec<u32>,
    pub(super) price_of_swept: u64,
    /// What has been spent, in operations of the program; who wants to know sets it to zero.
    pub work: u64,
    /// States that are needed.
    pub states: Vec<u32>,
    pub(super) loops: Vec<TapeLoop>,
    pub(super) interpolants: Vec<Interpolant>,
    /// By state, what it may be off after the step.
    pub(super) errors: Vec<f64>,
    /// Are states as uncertain as these errors say?
    pub(super) is_blurred: bool,
    /// Are the unknowns of loops as uncertain as if each were off by [`LOOSE`]?
    pub(super) is_loose: bool,
    pub(super) duals: Vec<Dual>,
    /// Values in the middle of a stretch.
    pub(super) centres: Vec<Interval>,
    pub(super) numbers: Vec<f64>,
    pub(super) expansions: Expansions,
    /// By relation, if it is a sum of states.
    pub(super) sums: Vec<Option<Sum>>,
    pub(super) weights: Weights,
}

/// The blocks that relations depend on, of arrays the elements, in order.
fn needed<'p>(sections: &[&'p Section], relations: &IdVec<RelationId, Relation>) -> Vec<Cow<'p, Block>> {
    let mut wanted: HashSet<SlotId> = relations.values().flat_map(|r| [r.crossing, r.scale]).collect();
    let mut blocks = Vec::new();
    if wanted.is_empty() {
        return blocks;
    }
    for block in sections.iter().rev().flat_map(|section| section.blocks.iter().rev()) {
        if let Block::Repeat(repeat) = block {
            for element in (0..repeat.n_elements()).rev() {
                if repeat.stored_by(element).any(|slot| wanted.contains(&slot)) {
                    let block = Block::Assign(repeat.element(element));
                    wanted.extend(block.loads());
                    blocks.push(Cow::Owned(block));
                }
            }
        } else if block.stored().iter().any(|slot| wanted.contains(slot)) {
            wanted.extend(block.loads());
            blocks.push(Cow::Borrowed(block));
        }
    }
    blocks.reverse();
    blocks
}

impl Tape {
    /// `inputs_vary`: inputs are functions of time, which nobody knows.
    pub fn new(program: &SimProgram, inputs_vary: bool) -> Self {
        let sections = [&program.sections.derivatives, &program.sections.crossings];
        let relations = &program.events.relations;
        if !sections.iter().any(|section| section.has_repeats()) {
            return Self::of(program, inputs_vary, relations, sections.into_iter().flat_map(|section| &section.blocks));
        }
        // Of a large array few elements are part of a relation.
        let blocks = needed(&sections, relations);
        Self::of(program, inputs_vary, relations, blocks.iter().map(|block| &**block))
    }

    /// The same for the relations of assertions.
    pub fn of_bounds(program: &SimProgram, inputs_vary: bool) -> Self {
        let bounds = &program.events.bounds;
        let sections = [&program.sections.derivatives, &program.sections.crossings, &program.sections.outputs];
        // Few of the outputs are part of an assertion.
        let blocks = needed(&sections, bounds);
        Self::of(program, inputs_vary, bounds, blocks.iter().map(|block| &**block))
    }

    fn of<'p>(
        program: &SimProgram,
        inputs_vary: bool,
        relations: &IdVec<RelationId, Relation>,
        blocks: impl Iterator<Item = &'p Block>,
    ) -> Self {
        let mut builder = Builder::new(program, inputs_vary);
        if !relations.is_empty() {
            builder.note_states();
            blocks.for_each(|block| builder.block(block));
        }
        builder.finish(relations)
    }

    /// Does time alone move the relation?
    pub fn is_time_alone(&self, relation: usize) -> bool {
        self.slices.get(relation).and_then(Option::as_ref).is_some_and(|slice| slice.movers.is_time_alone())
    }

    /// Evaluates what is fixed until the next event.
    pub fn load(&mut self, memory: &[f64]) {
        self.expansions.forget();
        self.work += self.price_of_load();
        self.load_explicit(memory);
        for k in 0..self.loops.len() {
            if self.loops[k].is_constant {
                self.factor(k);
            }
        }
        self.load_sums();
    }

    /// The same for relations that are computed without loops, at single points of time.
    pub fn load_explicit(&mut self, memory: &[f64]) {
        for i in 0..self.fixed.len() {
            let at = self.fixed[i] as usize;
            let value = match self.instructions[at] {
                Instruction::Fixed(slot) => memory.get(slot.index()).copied().unwrap_or(f64::NAN),
                other => self.number(other, 0.0),
            };
            self.numbers[at] = value;
            self.duals[at] = Dual::constant(value);
        }
    }

    /// What [`Tape::load`] costs.
    pub fn price_of_load(&self) -> u64 {
        let factors = self.loops.iter().filter(|l| l.is_constant).map(TapeLoop::price_of_factor).sum::<u64>();
        NUMBER * self.fixed.len() as u64 + VALUE * factors
    }

    /// Solutions of loops are looked for near those that the program has.
    pub fn start_loops(&mut self, memory: &[f64]) {
        for l in self.loops.iter_mut().filter(|l| !l.is_linear) {
            for (start, (slot, _)) in l.start.iter_mut().zip(&l.unknowns) {
                *start = memory.get(slot.index()).copied().unwrap_or(0.0);
            }
        }
    }

    /// Is the relation computed without loops and what cannot be enclosed?
    pub fn is_explicit(&self, relation: usize) -> bool {
        let slice = self.slices.get(relation).and_then(Option::as_ref);
        slice.is_some_and(|slice| slice.movers.is_any() && !slice.movers.unknown && !slice.movers.solved)
    }

    /// Is it computed without what cannot be enclosed?
    pub fn is_enclosed(&self, relation: usize) -> bool {
        let slice = self.slices.get(relation).and_then(Option::as_ref);
        slice.is_some_and(|slice| slice.movers.is_any() && !slice.movers.unknown)
    }

    /// What the enclosure of a relation at one time costs, with what is fixed until the next event.
    pub fn price_of_look(&self, relation: usize) -> u64 {
        let slice = self.slices.get(relation).and_then(Option::as_ref);
        slice.map_or(u64::MAX, |slice| self.price_of_load() + DUAL * slice.price)
    }

    /// How large the unknowns of loops are in the crossing function of a relation at one time, if they do not cancel: the part of them that their solver is off is one of this.
    pub fn size_of_loops(&mut self, relation: usize, t: f64) -> f64 {
        self.is_loose = true;
        let z = self.over(relation, Interval::point(t)).z;
        self.is_loose = false;
        if z.is_known() { (z.hi - z.lo) / (2.0 * LOOSE) } else { f64::INFINITY }
    }

    /// The states follow their tangents at `t`; `unit` is the magnitude of times.
    pub fn place(&mut self, t: f64, unit: f64, x: &[f64], rates: &[f64]) {
        for &state in &self.states {
            let mut tangent = Interpolant::constant(x[state as usize]);
            (tangent.origin, tangent.unit, tangent.coefficients[1]) = (t, unit, rates[state as usize] * unit);
            self.interpolants[state as usize] = tangent;
        }
    }

    /// A state follows a parabola about `t`.
    pub fn bend(&mut self, state: u32, t: f64, parabola: Parabola) {
        let [value, slope, half] = parabola.0;
        let mut bent = Interpolant::constant(value);
        bent.origin = t;
        (bent.coefficients[1], bent.coefficients[2]) = (slope, half);
        self.interpolants[state as usize] = bent;
    }

    /// Takes over the dense output of a step.
    pub fn follow(&mut self, integrator: &dyn Integrator) {
        for &state in &self.states {
            self.interpolants[state as usize] = integrator.interpolant(state as usize);
            self.errors[state as usize] = integrator.error(state as usize);
        }
    }

    /// The crossing function of a relation at one time, as uncertain as the states are.
    pub fn blurred_at(&mut self, relation: usize, t: f64) -> Interval {
        self.is_blurred = true;
        let z = self.over(relation, Interval::point(t)).z;
        self.is_blurred = false;
        z
    }

    /// The crossing function of a relation at one time, as the program computes it.
    pub fn at(&mut self, relation: usize, t: f64) -> f64 {
        let Some(slice) = self.slices[relation].take() else { return f64::NAN };
        self.work += NUMBER * slice.price;
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
        self.work += DUAL * slice.price;
        slice.moving.iter().for_each(|&i| self.enclose(i as usize, t));
        let crossing = self.crossing(&slice);
        self.slices[relation] = Some(slice);
        crossing
    }

    /// The same, with every operation on the way also enclosed by its value in the middle and its slope: more than twice the work, and
    /// narrower by far where terms cancel.
    pub fn refined_over(&mut self, relation: usize, t: Interval) -> Crossing {
        let Some(slice) = self.slices[relation].take() else { return Crossing::UNKNOWN };
        self.work += REFINED * slice.price;
        let middle = Interval::point(t.middle());
        for &i in &slice.moving {
            self.enclose(i as usize, middle);
            self.centres[i as usize] = self.duals[i as usize].value;
        }
        let away = t - middle;
        for &i in &slice.moving {
            self.enclose(i as usize, t);
            let Dual { value, slope } = self.duals[i as usize];
            if slope.is_known() {
                self.duals[i as usize].value = value.intersect(self.centres[i as usize] + slope * away);
            }
        }
        let crossing = self.crossing(&slice);
        self.slices[relation] = Some(slice);
        crossing
    }

    /// Encloses the values of the crossing functions that states move, all together.
    pub fn sweep(&mut self, t: Interval) {
        self.work += VALUE * self.price_of_swept;
        for k in 0..self.swept.len() {
            self.enclose_value(self.swept[k] as usize, t);
        }
    }

    /// Encloses the value of one of them.
    pub fn sweep_one(&mut self, relation: usize, t: Interval) {
        let Some(slice) = self.slices[relation].take() else { return };
        self.work += VALUE * slice.price;
        slice.moving.iter().for_each(|&i| self.enclose_value(i as usize, t));
        self.slices[relation] = Some(slice);
    }

    /// The values of a crossing function over the stretch of the last sweep.
    pub fn swept(&self, relation: usize) -> Interval {
        self.slices[relation].as_ref().map_or(Interval::UNKNOWN, |slice| self.duals[slice.crossing as usize].value)
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

    fn enclose_value(&mut self, i: usize, t: Interval) {
        match self.instructions[i] {
            Instruction::Loop(k) => self.solve_values(k as usize, t),
            other => self.duals[i].value = self.value(other, t),
        }
    }

    /// The same as [`Tape::dual`] without slopes, for less than half of the work.
    fn value(&self, instruction: Instruction, t: Interval) -> Interval {
        let value = |i: u32| self.duals[i as usize].value;
        let still = |i: u32| Dual { value: self.duals[i as usize].value, slope: Interval::ZERO };
        match instruction {
            Instruction::Time => t,
            Instruction::State(i) => self.interpolants[i as usize].enclose_value(t),
            Instruction::Solved(_, place) => value(place),
            Instruction::Unary(function, a) => still(a).unary(function).value,
            Instruction::Binary(BinaryFn::Add, a, b) => value(a) + value(b),
            Instruction::Binary(BinaryFn::Sub, a, b) => value(a) - value(b),
            Instruction::Binary(BinaryFn::Mul, a, b) if a == b => value(a).square(),
            Instruction::Binary(BinaryFn::Mul, a, b) => value(a) * value(b),
            Instruction::Binary(BinaryFn::Div, a, b) => value(a) / value(b),
            Instruction::Binary(function, a, b) => still(a).binary(function, still(b)).value,
            Instruction::Select(c, a, b) => still(c).select(still(a), still(b)).value,
            other => self.dual(other, t).value,
        }
    }

    /// The values of the unknowns of a loop and what follows from them.
    fn solve_values(&mut self, k: usize, t: Interval) {
        if !self.loops[k].is_linear {
            self.enclose_unknowns(k, t);
            return;
        }
        if !self.loops[k].is_constant {
            self.factor(k);
        }
        self.loops[k].system.solution.fill(Interval::ZERO);
        self.set_guess_values(k, t);
        self.solve_for(k, |dual| dual.value);
        self.set_guess_values(k, t);
    }

    fn set_guess_values(&mut self, k: usize, t: Interval) {
        for j in 0..self.loops[k].guesses.len() {
            let place = self.loops[k].guesses[j] as usize;
            self.duals[place].value = self.loops[k].system.solution[j];
        }
        for j in 0..self.loops[k].inner.len() {
            let i = self.loops[k].inner[j] as usize;
            self.duals[i].value = self.value(self.instructions[i], t);
        }
    }

    /// Takes over the coefficients of a loop.
    pub(super) fn factor(&mut self, k: usize) {
        let l = &mut self.loops[k];
        let n = l.guesses.len();
        for &(row, column, place) in &l.entries {
            l.system.matrix[row as usize * n + column as usize] = self.duals[place as usize].value;
        }
        l.system.factor();
    }

    /// Encloses the unknowns of a loop and what follows from them.
    fn solve(&mut self, k: usize, t: Interval) {
        if self.loops[k].is_linear {
            if !self.loops[k].is_constant {
                self.factor(k);
            }
            let none = Dual::constant(0.0);
            self.set_guesses(k, t, |_, _| none);
            self.solve_for(k, |dual| dual.value);
            self.loosen(k);
            self.set_guesses(k, t, |x, _| Dual { value: x, slope: Interval::ZERO });
        } else {
            self.enclose_unknowns(k, t);
            self.factor(k);
        }
        self.solve_for(k, |dual| dual.slope);
        self.set_guesses(k, t, |x, known| Dual { value: known.value, slope: x });
    }

    /// Widens the solution of a loop, if it is to be uncertain.
    pub(super) fn loosen(&mut self, k: usize) {
        for x in self.loops[k].system.solution.iter_mut().filter(|_| self.is_loose) {
            *x = *x + Interval::around(0.0, LOOSE * x.magnitude());
        }
    }

    /// Sets the unknowns by the last solution and what they are so far, and evaluates what follows.
    pub(super) fn set_guesses(&mut self, k: usize, t: Interval, set: impl Fn(Interval, Dual) -> Dual) {
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
        if !self.loops[k].is_linear {
            if !self.find_unknowns(k, t) {
                self.lose_unknowns(k, t);
            }
            return;
        }
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

    pub(super) fn number(&self, instruction: Instruction, t: f64) -> f64 {
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
                match self.is_blurred {
                    true => Dual { value: value + Interval::around(0.0, self.errors[i as usize]), slope },
                    false => Dual { value, slope },
                }
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
