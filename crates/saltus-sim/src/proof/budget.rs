//! What proof may cost: a part of what the steps have cost that it is about.
//!
//! In: what the integrator has done for a step, counted in evaluations, Jacobians and factorisations. Out: a credit, in operations of the
//! program, from which enclosures are paid. Both are counts, not times: a run spends the same on every machine.
//!
//! ```text
//! step of 6 evaluations of 1 000 operations      6 000 operations and what a step takes in any case      a part of it is credit
//! enclosure of a relation of 50 operations       50 · WORK_VALUE, more with slopes and series            paid
//! ```
//!
//! What quiet steps leave is kept for those in which something is about to happen, up to [`MOST_CREDIT`]; a run begins with that much.

use saltus_numerics::Statistics;
use saltus_program::{Block, Code, Op, SimProgram};
use serde::{Deserialize, Serialize};

use crate::structure::Structure;

/// The part of what steps cost that proof may cost.
const PART: f64 = 0.25;

/// Credit at the start, and what is kept at most: a few milliseconds.
const MOST_CREDIT: f64 = 2e7;

/// What a step takes beside evaluations: looks at the crossing functions, dense output, rows.
const STEP: f64 = 1000.0;

/// A call of a function, whatever it does.
const CALL: f64 = 200.0;

/// Steps of Newton's method in a nonlinear loop.
const ITERATIONS: f64 = 2.0;

/// What an operation on the tape costs: as a number, as an interval, with its slope, with both about the middle, as a series.
pub(super) const NUMBER: u64 = 2;
pub(super) const VALUE: u64 = 5;
pub(super) const DUAL: u64 = 12;
pub(super) const REFINED: u64 = 30;
pub(super) const SERIES: u64 = 300;

/// What the integrator does costs so many operations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Prices {
    evaluation: f64,
    jacobian: f64,
    factorisation: f64,
}

impl Prices {
    pub fn of(program: &SimProgram, structure: &Structure) -> Self {
        let evaluation: f64 = program.sections.derivatives.blocks.iter().map(price_of_block).sum();
        let n = program.states.len() as f64;
        let factorisation = match &structure.sparsity {
            Some(pattern) => 10.0 * pattern.rows().len() as f64,
            None => n * n * n / 3.0 + n * n,
        };
        // A direction costs about twice what an evaluation costs.
        let jacobian = 2.0 * evaluation * structure.groups().len() as f64;
        Prices { evaluation, jacobian, factorisation }
    }

    /// What was done between two counts.
    fn of_step(&self, before: &Statistics, after: &Statistics) -> f64 {
        let n = |of: fn(&Statistics) -> u64| of(after).saturating_sub(of(before)) as f64;
        // Differences are counted as evaluations.
        let jacobians = (n(|s| s.jacobians) - n(|s| s.difference_jacobians)).max(0.0);
        self.evaluation * n(|s| s.evaluations)
            + self.jacobian * jacobians
            + self.factorisation * n(|s| s.factorisations)
            + STEP * n(|s| s.steps)
    }
}

fn price_of_block(block: &Block) -> f64 {
    match block {
        Block::Assign(assign) => price_of_code(&assign.code),
        Block::Repeat(repeat) => price_of_code(&repeat.first.code) * repeat.n_elements() as f64,
        Block::Loop(l) => {
            let n = l.unknowns.len() as f64;
            let is_constant = l.jacobian.as_ref().is_some_and(|j| j.is_constant);
            let factor = if is_constant { 0.0 } else { n * n * n / 3.0 };
            let once = block.codes().into_iter().map(price_of_code).sum::<f64>() + factor + 2.0 * n * n;
            if l.is_linear { once } else { ITERATIONS * once }
        }
    }
}

fn price_of_code(code: &Code) -> f64 {
    code.ops.iter().map(|op| if matches!(op, Op::Call(_)) { CALL } else { 1.0 }).sum()
}

/// What may still be spent; part of the state of a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Budget {
    credit: f64,
    counted: Statistics,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { credit: MOST_CREDIT, counted: Statistics::default() }
    }
}

impl Budget {
    /// Adds what the steps since the last call are worth.
    pub fn earn(&mut self, prices: &Prices, so_far: Statistics) {
        let earned = PART * prices.of_step(&self.counted, &so_far);
        self.credit = (self.credit + earned).min(MOST_CREDIT);
        self.counted = so_far;
    }

    /// Operations that may be spent.
    pub fn credit(&self) -> u64 {
        // The cast takes what is negative for nothing.
        self.credit as u64
    }

    pub fn spend(&mut self, work: u64) {
        self.credit -= work as f64;
    }
}
