//! What depends on what: which states each derivative depends on, and what depends on time itself.
//!
//! In: the sections of a program. Out: the pattern of ∂f/∂x for the integrators (few difference quotients, sparse factors),
//! and whether time enters other than through the states (then error control sees nothing of it).

use std::sync::OnceLock;

use crate::dependence::Dependence;
use crate::jumps::Jumps;
use crate::proof::{Prices, Tape};
use saltus_numerics::Sparsity;
use saltus_program::{Block, SimProgram, SlotId, SlotKind};

#[derive(Clone, Debug)]
pub(crate) struct Structure {
    /// `None` if it would be too large, or as good as full.
    pub sparsity: Option<Sparsity>,
    /// No derivative depends on time directly.
    pub is_autonomous: bool,
    /// Some crossing function that is searched for in steps depends on time directly.
    pub crossings_see_time: bool,
    /// Of nonlinear loops on whose solution derivatives depend.
    pub unknowns: Vec<SlotId>,
    /// Of the states, in their order.
    pub derivatives: Vec<SlotId>,
    /// Where derivatives jump without an event, as `sign` does: their slopes say nothing about the jump, differences do.
    pub jumps: Jumps,
    /// All entries of the Jacobian that can be other than zero, however many; `None` if that is not known.
    pattern: Option<Sparsity>,
    groups: OnceLock<Vec<Vec<usize>>>,
    prices: OnceLock<Prices>,
}

/// Small systems and patterns fuller than this gain nothing from sparsity.
const FEWEST_STATES: usize = 8;
const FULLEST: f64 = 0.4;

impl Structure {
    /// `inputs_vary`: inputs are functions of time.
    pub fn of(program: &SimProgram, inputs_vary: bool, tape: &Tape) -> Self {
        let n = program.states.len();
        let unknowns: Vec<SlotId> = program.sections.derivatives.blocks.iter().flat_map(nonlinear_unknowns).collect();
        let derivatives = program.states.iter().map(|s| s.derivative).collect();
        let mut sets = Dependence::new(n + 1, program.memory.slots.len());
        for (i, state) in program.states.iter().enumerate() {
            sets.add(state.value, i);
        }
        sets.add(program.memory.time, n);
        // What the driver sets depends on time, and on more where delays and positions are variables.
        let set_by_driver = program
            .history
            .delays
            .iter()
            .map(|d| d.output)
            .chain(program.history.transports.iter().flat_map(|t| t.outputs));
        set_by_driver.for_each(|slot| sets.add(slot, n));
        let inputs = program.memory.slots.iter().filter(|(_, s)| inputs_vary && s.kind == SlotKind::Input);
        inputs.for_each(|(slot, _)| sets.add(slot, n));
        if !sets.propagate(&program.sections.derivatives) {
            return Structure {
                sparsity: None,
                is_autonomous: false,
                crossings_see_time: true,
                unknowns,
                derivatives,
                jumps: Jumps::of(program, &|_| true),
                pattern: None,
                groups: OnceLock::new(),
                prices: OnceLock::new(),
            };
        }
        let mut entries = Vec::new();
        for (row, state) in program.states.iter().enumerate() {
            let columns = sets.numbers(state.derivative).take_while(|&column| column < n);
            entries.extend(columns.map(|column| (row, column)));
        }
        let jumps = Jumps::of(program, &|slot| !sets.is_empty(slot));
        let is_autonomous = !program.states.iter().any(|s| sets.has(s.derivative, n));
        let is_followed = sets.propagate(&program.sections.crossings);
        let mut searched = program.events.relations.values().enumerate().filter(|(i, _)| !tape.is_time_alone(*i));
        let crossings_see_time = !is_followed || searched.any(|(_, r)| sets.has(r.crossing, n));
        let is_known = program.history.delays.iter().all(|d| d.is_fixed) && program.history.transports.is_empty();
        let is_sparse = is_known && n >= FEWEST_STATES && (entries.len() as f64) < FULLEST * (n * n) as f64;
        let pattern = is_known.then(|| Sparsity::from_entries(n, entries));
        let sparsity = pattern.clone().filter(|_| is_sparse);
        Structure {
            sparsity,
            is_autonomous,
            crossings_see_time,
            unknowns,
            derivatives,
            jumps,
            pattern,
            groups: OnceLock::new(),
            prices: OnceLock::new(),
        }
    }

    /// What the integrator does costs so much.
    pub fn prices(&self, program: &SimProgram) -> &Prices {
        self.prices.get_or_init(|| Prices::of(program, self))
    }

    /// Groups of columns of the Jacobian that share no row: one direction reveals all of them.
    pub fn groups(&self) -> &[Vec<usize>] {
        let each = || (0..self.derivatives.len()).map(|column| vec![column]).collect();
        self.groups.get_or_init(|| self.pattern.as_ref().map_or_else(each, Sparsity::column_groups))
    }

    /// Rows of a column that can be other than zero.
    pub fn rows(&self, column: usize) -> impl Iterator<Item = usize> {
        let pattern = self.pattern.as_ref();
        let known = pattern.into_iter().flat_map(move |p| p.range(column).map(move |k| p.rows()[k]));
        let all = if pattern.is_some() { 0..0 } else { 0..self.derivatives.len() };
        known.chain(all)
    }
}

fn nonlinear_unknowns(block: &Block) -> impl Iterator<Item = SlotId> {
    let unknowns = match block {
        Block::Loop(l) if !l.is_linear => &l.unknowns[..],
        _ => &[],
    };
    unknowns.iter().map(|u| u.slot)
}
