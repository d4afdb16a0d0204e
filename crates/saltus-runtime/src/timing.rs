//! Measures what blocks and calls cost, for those who want to know; nothing here runs otherwise.
//!
//! In: the pieces in which sections are evaluated, with the time each took. Out: [`InstanceCosts`], block by block. A clock takes
//! as long to read as some blocks to evaluate: what it takes is found out at the start and not counted.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use saltus_base::{Index, Span};
use saltus_program::{
    Assign, BinaryFn, Block, BlockCosts, CallCosts, CallableId, Code, Cost, InstanceCosts, Op, Section, SectionCosts,
    SimProgram, Stopwatch, UnaryFn,
};

/// Times that the clock is read to find out how long that takes.
const READINGS: u32 = 200;

/// A clock with what it takes to read it.
#[derive(Clone)]
pub(crate) struct Clock {
    stopwatch: Stopwatch,
    overhead: Duration,
}

impl Clock {
    pub fn new(stopwatch: Stopwatch) -> Clock {
        let mut overhead = Duration::MAX;
        for _ in 0..READINGS {
            let started = stopwatch.now();
            overhead = overhead.min(stopwatch.since(started));
        }
        Clock { stopwatch, overhead }
    }

    pub fn now(&self) -> Duration {
        self.stopwatch.now()
    }

    pub fn since(&self, started: Duration) -> Duration {
        self.stopwatch.since(started).saturating_sub(self.overhead)
    }
}

/// What the blocks of an instance have cost so far.
pub(crate) struct Timer {
    pub clock: Clock,
    /// By section: pieces by their first block and the one behind the last.
    pieces: Vec<BTreeMap<(usize, usize), Piece>>,
    pub total: Duration,
    is_open: bool,
}

#[derive(Clone, Copy, Default)]
struct Piece {
    cost: Cost,
    in_calls: Duration,
    iterations: u64,
}

/// A piece that is being evaluated.
pub(crate) struct Began {
    at: Duration,
    in_calls: Duration,
    iterations: u64,
}

impl Timer {
    pub fn new(clock: Clock, n_sections: usize) -> Timer {
        Timer { clock, pieces: vec![BTreeMap::new(); n_sections], total: Duration::ZERO, is_open: false }
    }

    /// `None` inside of a piece that is being measured.
    pub fn begin(&mut self, in_calls: Duration, iterations: u64) -> Option<Began> {
        if std::mem::replace(&mut self.is_open, true) {
            return None;
        }
        Some(Began { at: self.clock.now(), in_calls, iterations })
    }

    pub fn end(&mut self, began: &Began, section: usize, blocks: (usize, usize), in_calls: Duration, iterations: u64) {
        let time = self.clock.since(began.at);
        self.is_open = false;
        self.total += time;
        let Some(pieces) = self.pieces.get_mut(section) else { return };
        let piece = pieces.entry(blocks).or_default();
        piece.cost += Cost::once(time);
        piece.in_calls += in_calls.saturating_sub(began.in_calls);
        piece.iterations += iterations - began.iterations;
    }

    /// Shares out what was measured among the blocks of a section; nothing if it was never evaluated.
    pub fn blocks(&self, number: usize, section: &Section, calls: Option<&CallTimes>) -> Vec<BlockCosts> {
        let Some(pieces) = self.pieces.get(number).filter(|pieces| !pieces.is_empty()) else { return Vec::new() };
        let mut costs = vec![BlockCosts::default(); section.blocks.len()];
        for (&(first, end), piece) in pieces {
            let Some(blocks) = section.blocks.get(first..end) else { continue };
            let own = piece.cost.time.saturating_sub(piece.in_calls);
            let weights: Vec<f64> = blocks.iter().map(weight).collect();
            let called: Vec<f64> =
                blocks.iter().map(|block| calls.map_or(0.0, |calls| calls.expected(block))).collect();
            // Loops of a stretch of machine code are linear and take one iteration each.
            let n_loops = blocks.iter().filter(|block| matches!(block, Block::Loop(_))).count() as u64;
            for (i, (block, cost)) in blocks.iter().zip(&mut costs[first..end]).enumerate() {
                let time = part(own, &weights, i) + part(piece.in_calls, &called, i);
                cost.cost += Cost { count: piece.cost.count, time };
                cost.estimated += if blocks.len() > 1 { time } else { Duration::ZERO };
                if matches!(block, Block::Loop(_)) {
                    cost.iterations += piece.iterations / n_loops;
                }
            }
        }
        costs
    }
}

/// The part of one of several weights; equal ones if all are 0.
fn part(time: Duration, weights: &[f64], i: usize) -> Duration {
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 { time.mul_f64(weights[i] / sum) } else { time.div_f64(weights.len() as f64) }
}

/// What calls have cost so far.
pub(crate) struct CallTimes {
    pub clock: Clock,
    pub total: Duration,
    of: HashMap<(CallableId, Span), Cost>,
}

impl CallTimes {
    pub fn new(clock: Clock) -> CallTimes {
        CallTimes { clock, total: Duration::ZERO, of: HashMap::new() }
    }

    /// A call that began then is over.
    pub fn add(&mut self, callable: CallableId, span: Span, started: Duration) {
        let time = self.clock.since(started);
        self.total += time;
        *self.of.entry((callable, span)).or_default() += Cost::once(time);
    }

    /// Seconds that the calls of a block take on the average.
    fn expected(&self, block: &Block) -> f64 {
        let mean = |cost: &Cost| cost.time.as_secs_f64() / cost.count.max(1) as f64;
        let calls = block.codes().into_iter().flat_map(|code| &code.calls);
        calls.filter_map(|call| self.of.get(&(call.callable, block.span()))).map(mean).sum()
    }

    /// By function and place; functions behind those of the program are their derivatives.
    pub fn list(&self, program: &SimProgram) -> Vec<CallCosts> {
        let n = program.routines.callables.len();
        let mut list: Vec<CallCosts> = (self.of.iter())
            .map(|(&(callable, span), &cost)| {
                let of = callable.index().checked_sub(n).map(CallableId::from_usize);
                CallCosts { callable: of.unwrap_or(callable), span, is_derivative: of.is_some(), cost }
            })
            .collect();
        list.sort_by_key(|call| (call.callable, call.is_derivative, call.span.file, call.span.start, call.span.end));
        list
    }
}

/// Time of a block in machine code, in simple operations.
fn weight(block: &Block) -> f64 {
    match block {
        Block::Assign(assign) => of_assign(assign),
        Block::Repeat(repeat) => of_assign(&repeat.first) * repeat.n_elements() as f64,
        // Small linear ones, solved on the spot.
        Block::Loop(l) => {
            let n = l.unknowns.len() as f64;
            of_assign(&l.body) + l.jacobian.as_ref().map_or(0.0, |j| of_code(&j.code)) + n * n * n
        }
    }
}

fn of_assign(assign: &Assign) -> f64 {
    of_code(&assign.code) + 2.0 * assign.stores.len() as f64
}

fn of_code(code: &Code) -> f64 {
    code.ops.iter().map(of_operation).sum()
}

/// Measured on machine code: an elementary function takes as long as some twenty additions.
fn of_operation(op: &Op) -> f64 {
    match op {
        Op::Const(_) | Op::Call(_) => 0.2,
        Op::Load(_) | Op::Result(..) | Op::Select(..) => 1.0,
        Op::Unary(function, _) => match function {
            UnaryFn::Negate | UnaryFn::Not | UnaryFn::Abs | UnaryFn::Sign => 1.0,
            UnaryFn::Sqrt | UnaryFn::Floor | UnaryFn::Ceil => 5.0,
            _ => 20.0,
        },
        Op::Binary(function, ..) => match function {
            BinaryFn::Div => 4.0,
            BinaryFn::IntDiv | BinaryFn::Mod | BinaryFn::Rem => 8.0,
            BinaryFn::Pow | BinaryFn::Atan2 => 40.0,
            _ => 1.0,
        },
    }
}

/// What was measured of all sections.
pub(crate) fn collect(timer: &Timer, calls: Option<&CallTimes>, program: &SimProgram) -> InstanceCosts {
    let sections = crate::activations(program).filter_map(|(number, activation)| {
        let blocks = timer.blocks(number, program.section(activation)?, calls);
        (!blocks.is_empty()).then_some(SectionCosts { activation, blocks })
    });
    InstanceCosts {
        sections: sections.collect(),
        tangents: Vec::new(),
        calls: calls.map(|calls| calls.list(program)).unwrap_or_default(),
    }
}
