//! The whole journey of a model as a list of named steps; nothing else in the project runs them in sequence.
//!
//! In: a class of a [`Session`] and the [`Stage`] to stop after. Out: an [`Outcome`] with what the stages produced
//! and everything they said. A defect of the compiler in one stage becomes a diagnostic and ends the journey there; what
//! was said before is kept.

use std::time::{Duration, Instant};

use saltus_base::{Diagnostic, Diagnostics, Severity};
use saltus_flat::{Balance, FlatModel};
use saltus_library::ClassId;

use crate::{Session, diagnostics, guard};

/// How far to go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// The flat model; equations that are missing or too many are a warning.
    Flatten,
    /// The flat model and every rule about complete models; a model that does not balance is an error.
    Check,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub stop_after: Stage,
    /// Values for parameters, by name, as Modelica expressions.
    pub overrides: Vec<(String, String)>,
}

impl Options {
    pub fn until(stop_after: Stage) -> Self {
        Self { stop_after, overrides: Vec::new() }
    }
}

/// What came out. A stage that was not reached, or failed, leaves `None`.
#[derive(Default)]
pub struct Outcome {
    pub flat: Option<FlatModel>,
    pub balance: Option<Balance>,
    pub diagnostics: Diagnostics,
    /// Seconds of each stage that ran, in order.
    pub timings: Vec<(&'static str, Duration)>,
}

impl Outcome {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }

    /// Runs one stage: measures it and turns a panic into a message.
    fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> Option<T> {
        let started = Instant::now();
        let result = guard::catch(work);
        self.timings.push((name, started.elapsed()));
        result.map_err(|internal: Diagnostic| self.diagnostics.push(internal)).ok()
    }
}

pub fn run(session: &Session, class: ClassId, options: &Options) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.diagnostics.extend(session.take_diagnostics());
    if outcome.has_errors() {
        // What a broken text means is guesswork, and so would be every message about it.
        return outcome;
    }
    let frontend = saltus_frontend::Options { overrides: options.overrides.clone(), ..Default::default() };
    let flattened = outcome.stage("flatten", || saltus_frontend::flatten(session.library(), class, &frontend));
    // Files are read while names are looked up, so their messages come out of the same stage.
    outcome.diagnostics.extend(session.take_diagnostics());
    let Some(flattened) = flattened else { return outcome };
    outcome.diagnostics.extend(flattened.diagnostics);
    let Some(model) = flattened.model else { return outcome };
    check(&model, options.stop_after, &mut outcome);
    outcome.flat = Some(model);
    outcome
}

fn check(model: &FlatModel, stop_after: Stage, outcome: &mut Outcome) {
    if cfg!(debug_assertions) {
        let verified = outcome.stage("verify", || saltus_flat::verify(model));
        let problems = verified.and_then(Result::err).unwrap_or_default();
        outcome.diagnostics.extend(problems.iter().map(|p| diagnostics::internal_error(p)));
    }
    let severity = if stop_after == Stage::Flatten { Severity::Warning } else { Severity::Error };
    let found = outcome.stage("check", || {
        let mut found = saltus_check::check_equations(model);
        found.extend(saltus_check::check_balance(model, severity));
        found.extend(saltus_check::check_style(model));
        (found, saltus_flat::balance(model))
    });
    if let Some((found, balance)) = found {
        outcome.diagnostics.extend(found);
        outcome.balance = Some(balance);
    }
}
