//! Evaluates the program of tangents beside the one that it belongs to.
//!
//! ```text
//! linearise    values of the instance ⇒ own memory; coefficients there, Jacobians of loops among them
//! directional  seeds ⇒ own memory; tangents there
//! ```
//!
//! Calls are made by the host of the instance: external objects and compiled procedures exist once.

use std::sync::Arc;
use std::time::Duration;

use saltus_base::Index;
use saltus_program::{
    Activation, Block, DerivativeStatistics, ModelFunctions, SimProgram, SlotId, Status, TangentCosts,
};

use super::code::HOLE;
use super::program::{COEFFICIENTS, DIRECTION, TangentProgram};
use crate::Interpreter;
use crate::loops::LoopWork;

/// A derivative beyond this has met a slope that is not finite.
const LARGEST: f64 = HOLE * 1e-100;

/// What can evaluate a program of tangents.
pub trait Evaluator: ModelFunctions + Sized {
    /// Another one of the same kind for another program.
    fn beside(&self, program: Arc<SimProgram>) -> Self;

    fn interpreter(&mut self) -> &mut Interpreter;

    fn as_interpreter(&self) -> &Interpreter;
}

/// Programs of tangents that an instance keeps: one for the integrator, and those of whoever looks at the run besides.
const MOST_KEPT: usize = 4;

/// The programs of tangents of an instance; the one that was used last comes first.
pub struct Kept<E>(Vec<Box<Tangents<E>>>);

impl<E> Default for Kept<E> {
    fn default() -> Self {
        Kept(Vec::new())
    }
}

impl<E: Evaluator> Kept<E> {
    /// Takes the one for these slots out, if there is one.
    pub fn take(&mut self, wanted: &[SlotId], held: &[SlotId]) -> Option<Box<Tangents<E>>> {
        let at = self.0.iter().position(|tangents| tangents.is_of(wanted, held))?;
        Some(self.0.remove(at))
    }

    /// The one that was used last.
    pub fn last(&mut self) -> Option<&mut Tangents<E>> {
        self.0.first_mut().map(|tangents| &mut **tangents)
    }

    pub fn take_last(&mut self) -> Option<Box<Tangents<E>>> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    pub fn put(&mut self, tangents: Box<Tangents<E>>) {
        self.0.truncate(MOST_KEPT - 1);
        self.0.insert(0, tangents);
    }

    /// Another run begins.
    pub fn renew(&mut self) {
        self.0.iter_mut().for_each(|tangents| tangents.renew());
    }

    /// What evaluations have taken, if that is measured.
    pub fn measured(&self) -> Duration {
        self.0.iter().map(|tangents| tangents.evaluator.measured()).sum()
    }

    /// The same by the equations that were differentiated.
    pub fn costs(&self, of: &Interpreter) -> Vec<TangentCosts> {
        let mut all = Vec::new();
        for tangents in &self.0 {
            // Its calls were made by the host of the instance.
            for section in tangents.evaluator.as_interpreter().costs_with(of).sections {
                let blocks = tangents.evaluator.blocks(section.activation).iter().zip(&section.blocks);
                all.extend(blocks.filter(|(_, spent)| spent.cost.count > 0).map(|(block, spent)| TangentCosts {
                    span: block.span(),
                    is_loop: matches!(block, Block::Loop(_)),
                    cost: spent.cost,
                    estimated: spent.estimated,
                }));
            }
        }
        all
    }

    /// The sum over all of them.
    pub fn statistics(&self) -> DerivativeStatistics {
        let mut all = DerivativeStatistics::default();
        for tangents in &self.0 {
            all.points += tangents.points;
            all.directions += tangents.directions;
            all.failures += tangents.failures;
        }
        all
    }
}

/// Directional derivatives of certain slots.
pub struct Tangents<E> {
    made: TangentProgram,
    evaluator: E,
    wanted: Vec<SlotId>,
    held: Vec<SlotId>,
    points: u64,
    directions: u64,
    failures: u64,
}

impl<E: Evaluator> Tangents<E> {
    pub fn new(
        program: &SimProgram,
        wanted: &[SlotId],
        held: &[SlotId],
        make: impl FnOnce(Arc<SimProgram>) -> E,
    ) -> Self {
        let mut made = TangentProgram::new(program, wanted, held);
        let program = std::mem::replace(&mut made.program, SimProgram::empty(""));
        Tangents {
            made,
            evaluator: make(Arc::new(program)),
            wanted: wanted.to_vec(),
            held: held.to_vec(),
            points: 0,
            directions: 0,
            failures: 0,
        }
    }

    fn is_of(&self, wanted: &[SlotId], held: &[SlotId]) -> bool {
        self.wanted == wanted && self.held == held
    }

    /// Another run begins: what is constant in one run need not be the same in the next.
    fn renew(&mut self) {
        self.evaluator.renew();
        (self.points, self.directions, self.failures) = (0, 0, 0);
    }

    /// Evaluates the coefficients at the present point of `model`.
    pub fn linearise(&mut self, model: &mut Interpreter) -> Status {
        self.points += 1;
        let values = model.memory();
        if let Some(own) = self.evaluator.memory_mut().get_mut(..values.len()) {
            own.copy_from_slice(values);
        }
        // A saved and restored run must find the same derivatives.
        self.evaluator.interpreter().loops.iter_mut().for_each(LoopWork::forget_pivots);
        self.eval(model, COEFFICIENTS)
    }

    /// Evaluates the tangents along a direction at the point of the last [`Tangents::linearise`].
    pub fn directional(&mut self, model: &mut Interpreter, seeds: &[(SlotId, f64)], derivatives: &mut [f64]) -> Status {
        self.directions += 1;
        let tangents = &self.made.tangents;
        let place = |slot: &SlotId| tangents.get(slot.index()).copied().flatten();
        let memory = self.evaluator.memory_mut();
        let mut set = |slot: SlotId, value: f64| {
            if let Some(place) = memory.get_mut(slot.index()) {
                *place = value;
            }
        };
        self.made.seeds.iter().filter_map(place).for_each(|slot| set(slot, 0.0));
        // Each direction begins alike, so that it does not depend on the one before.
        self.made.unknowns.iter().for_each(|&slot| set(slot, 0.0));
        for (slot, value) in seeds {
            if let Some(part) = place(slot).and_then(|tangent| memory.get_mut(tangent.index())) {
                *part += value;
            }
        }
        let status = self.eval(model, DIRECTION);
        if !status.is_ok() {
            return status;
        }
        for (derivative, slot) in derivatives.iter_mut().zip(&self.wanted) {
            let tangent = self.made.tangents.get(slot.index()).copied().flatten();
            *derivative = tangent.map_or(0.0, |t| self.evaluator.get(t));
            if derivative.is_nan() || derivative.abs() >= LARGEST {
                self.failures += 1;
                return Status::NotANumber(*slot);
            }
        }
        Status::Ok
    }

    /// With the host of the instance.
    fn eval(&mut self, model: &mut Interpreter, activation: Activation) -> Status {
        let (failure, n_calls) = (model.machine.host.take_failure(), model.machine.host.n_calls);
        std::mem::swap(&mut model.machine.host, &mut self.evaluator.interpreter().machine.host);
        let status = self.evaluator.eval(activation);
        std::mem::swap(&mut model.machine.host, &mut self.evaluator.interpreter().machine.host);
        model.machine.host.put_failure(failure);
        model.machine.host.n_calls = n_calls;
        if !status.is_ok() {
            self.failures += 1;
        }
        status
    }
}
