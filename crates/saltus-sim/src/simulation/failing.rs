//! What is wrong at an accepted point, with the equation and the values that took part.
//!
//! In: the model at that point. Out: a [`Failure`], or a warning.
//!
//! ```text
//! assert(level > 0.5, "empty")     ⇒   assertion failed: empty        level > 0.5 is false with level = 0.498
//! y = 1/(x - 0.5) at x = 0.5       ⇒   y is not a finite number: division by zero in `1/(x - 0.5)`
//! ```

use saltus_base::{Index, Span};
use saltus_numerics::IntegratorError;
use saltus_program::blame::{self, Tracer, number};
use saltus_program::{Activation, Assertion, Block, Details, LARGEST_INTEGER, ModelFunctions, Op, SlotId, Status};

use super::Simulation;
use crate::error::{Failure, SimErrorKind};
use crate::event;
use crate::trajectory::{Warning, WarningKind};

/// Sections that store what is seen at an accepted point, the last word first.
const SECTIONS: [Activation; 5] =
    [Activation::Outputs, Activation::Derivatives, Activation::Events, Activation::Initial, Activation::Parameters];

/// Violations of one assertion in the source of which a run warns.
const MOST_VIOLATIONS: usize = 20;

impl Simulation {
    pub(super) fn integrator_failure(&self, error: IntegratorError, status: Status) -> Failure {
        let (t, during) = match error {
            IntegratorError::StepTooSmall { t } => (t, "however small the step"),
            IntegratorError::StartFails { t } => (t, "at a restart"),
        };
        match status {
            Status::Ok => self.step_too_small(t),
            failed => event::failure_of(&self.model, t, failed, Activation::Derivatives, during),
        }
    }

    /// Names the state that changes fastest, measured by its size.
    pub(super) fn step_too_small(&self, t: f64) -> Failure {
        let (x, dx) = (self.driver.integrator.states(), self.driver.integrator.derivatives());
        let pace = |i: usize| {
            let nominal = self.program.states.get(i).map_or(1.0, |s| s.nominal.abs());
            let pace = dx[i].abs() / x[i].abs().max(nominal);
            if pace.is_nan() { f64::INFINITY } else { pace }
        };
        let fastest = (0..x.len().min(dx.len())).max_by(|&i, &j| pace(i).total_cmp(&pace(j)));
        let Some((i, state)) = fastest.and_then(|i| Some((i, self.program.states.get(i)?))) else {
            return Failure::new(t, SimErrorKind::StepTooSmall { state: String::new() });
        };
        let name = self.program.memory.slot_name(state.value).into_owned();
        let blocks = self.model.blocks(Activation::Derivatives);
        let stored = blocks.iter().find_map(|block| blame::stored(block, state.derivative));
        let place = || blocks.iter().find(|b| b.stores(state.derivative)).map(Block::span);
        let span = stored.map(|s| s.2).or_else(place).unwrap_or(Span::nowhere());
        let note = format!("{name} = {}, its derivative is {}", number(x[i]), number(dx[i]));
        let details = Details { labels: Vec::new(), notes: vec![note] };
        Failure::new(t, SimErrorKind::StepTooSmall { state: name }).at(span).with(details)
    }

    /// An infinite value is legal, a division by zero is not.
    pub(super) fn check_infinite(&mut self, t: f64) -> Result<(), Failure> {
        self.driver.infinite.resize(self.catalogue.shown().len(), false);
        // Made for the first infinite value: most runs have none.
        let mut tracer: Option<Tracer> = None;
        let blocks = || SECTIONS.iter().flat_map(|&activation| self.model.blocks(activation));
        for (column, &slot) in self.catalogue.shown().iter().enumerate() {
            let slot = SlotId::from_usize(slot);
            if !self.model.get(slot).is_infinite() || std::mem::replace(&mut self.driver.infinite[column], true) {
                continue;
            }
            let tracer = tracer.get_or_insert_with(|| Tracer::new(self.model.memory(), blocks()));
            if tracer.is_mistake(slot) {
                let blocks: Vec<Block> = blocks().cloned().collect();
                let memory = self.model.memory();
                return Err(event::not_a_number(&self.program, memory, &blocks, slot, t, "at this point"));
            }
        }
        Ok(())
    }

    /// Integers change at events only, so it is enough to look at them there.
    pub(super) fn check_integers(&self, t: f64) -> Result<(), Failure> {
        // The minimum and maximum of nothing are the ends of the 64-bit range.
        let is_too_large = |slot: SlotId| {
            let size = self.model.get(slot).abs();
            size > LARGEST_INTEGER && size != i64::MAX as f64
        };
        let Some((slot, name)) = self.catalogue.integers.iter().find(|(slot, _)| is_too_large(*slot)) else {
            return Ok(());
        };
        let mut blocks = SECTIONS.iter().flat_map(|&activation| self.model.blocks(activation));
        let span = blocks.find(|b| b.stores(*slot)).map_or(Span::nowhere(), Block::span);
        let kind = SimErrorKind::IntegerOverflow { variable: name.to_string(), value: self.model.get(*slot) };
        Err(Failure::new(t, kind).at(span))
    }

    pub(super) fn check_assertions(&mut self, t: f64) -> Result<(), Failure> {
        self.check_assertions_at(t, false)
    }

    /// At a left limit those are checked whose changes are not searched for.
    pub(super) fn check_assertions_at(&mut self, t: f64, is_left: bool) -> Result<(), Failure> {
        for (i, assertion) in self.program.events.assertions.iter().enumerate() {
            if is_left && !assertion.bounds.is_empty() {
                continue;
            }
            let is_violated = self.is_violated(assertion);
            let is_known = std::mem::replace(&mut self.driver.bounds.violated[i], is_violated);
            if !is_violated || assertion.is_warning && is_known {
                continue;
            }
            let message = self.model.message(&assertion.message);
            if !assertion.is_warning {
                let details = values_of(&self.model, assertion);
                let kind = SimErrorKind::AssertionFailed { message };
                return Err(Failure::new(t, kind).at(assertion.span).with(details));
            }
            let others = self.driver.warnings.iter().filter(|w| w.span == assertion.span);
            let (mut n_told, mut is_told) = (0, false);
            others.for_each(|w| (n_told, is_told) = (n_told + 1, is_told || w.time == t && w.message == message));
            if is_told || n_told >= MOST_VIOLATIONS {
                continue;
            }
            let is_last = n_told + 1 == MOST_VIOLATIONS;
            let kind = if is_last { WarningKind::LastViolation } else { WarningKind::Assertion };
            self.driver.warnings.push(Warning { kind, time: t, message, span: assertion.span });
        }
        self.tell_unfulfilled(t);
        for warning in self.model.take_warnings() {
            let span = warning.span.unwrap_or(Span::nowhere());
            let is_known = |w: &Warning| w.span == span && (w.message == warning.message || !span.is_nowhere());
            if !self.driver.warnings.iter().any(is_known) {
                let kind = WarningKind::Assertion;
                self.driver.warnings.push(Warning { kind, time: t, message: warning.message, span });
            }
        }
        Ok(())
    }

    /// Equations of loops that do not hold, each once.
    fn tell_unfulfilled(&mut self, t: f64) {
        for (span, part) in self.model.take_unfulfilled() {
            let kind = WarningKind::Unfulfilled;
            let is_known = |w: &Warning| w.kind == kind && w.span == span;
            if !self.driver.warnings.iter().any(is_known) {
                self.driver.warnings.push(Warning { kind, time: t, message: format!("{part:.1e}"), span });
            }
        }
    }

    /// The assertion about a subscript knows where it stands, whereas the value that it spoilt may have been computed elsewhere.
    pub(super) fn located(&self, failure: Failure) -> Failure {
        if !failure.is_subscript {
            return failure;
        }
        let outputs = self.model.blocks(Activation::Outputs);
        let is_violated = |assertion: &&Assertion| {
            let stored = outputs.iter().find_map(|block| blame::stored(block, assertion.condition));
            stored.is_some_and(|(code, value, _)| blame::value(&code, value, self.model.memory()) == Some(0.0))
        };
        let Some(assertion) = self.program.events.assertions.iter().find(is_violated) else { return failure };
        let mut details = *failure.details.clone();
        details.labels.extend(assertion.calls.iter().cloned());
        failure.at(assertion.span).with(details)
    }

    /// The message of an active `terminate`.
    pub(super) fn termination(&mut self, i: usize) -> String {
        let program = self.program.clone();
        program.events.terminations.get(i).map_or(String::new(), |t| self.model.message(&t.message))
    }
}

/// The condition of an assertion with the values of its variables.
pub(crate) fn values_of(functions: &dyn ModelFunctions, assertion: &Assertion) -> Details {
    let mut details = Details { labels: assertion.calls.clone(), notes: Vec::new() };
    let blocks = functions.blocks(Activation::Outputs).iter();
    let Some((code, value, _)) = blocks.filter_map(|b| blame::stored(b, assertion.condition)).next() else {
        return details;
    };
    // That a variable is false is known.
    if matches!(code.ops.get(value.0 as usize), Some(Op::Load(_))) {
        return details;
    }
    let (program, memory) = (functions.program(), functions.memory());
    let operands = blame::operands(&code, value).into_iter();
    let values: Vec<String> = operands.map(|slot| blame::named(program, memory, slot)).collect();
    if !values.is_empty() {
        let condition = blame::text(program, &code, value);
        details.notes.push(format!("`{condition}` is false with {}", values.join(", ")));
    }
    details
}
