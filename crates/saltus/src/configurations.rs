//! Programs of models whose structure changes, compiled when they are first entered.
//!
//! In: a flat model and positions of its switches. Out: a program for them; each is compiled once for a [`Model`], whoever asks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use saltus_backend::SortedSystem;
use saltus_base::{Diagnostic, Diagnostics, Severity, Span};
use saltus_flat::{FlatModel, Treatment};
use saltus_program::{Key, ModelFunctions, SimProgram, Stopwatch};
use saltus_sim::{Configurations, Unmade};

use crate::diagnostics;
use crate::pipeline::Engine;
use crate::{Model, Permissions};

/// Switches that change the structure are found one after the other: each may show another one.
const MOST_SEARCHES: usize = 20;

/// Sorts a model for these positions, and for those of further switches that turn out to change its structure: these are in the
/// position that leaves it as it is.
pub(crate) fn sort_configuration(flat: &FlatModel, key: &Key) -> Result<SortedSystem, Diagnostics> {
    let mut key = key.clone();
    let mut sorted = saltus_backend::sort_in(flat, &key)?;
    for _ in 0..MOST_SEARCHES {
        let n_before = key.0.len();
        for (text, regular) in &sorted.switches {
            key.0.entry(text.clone()).or_insert(*regular);
        }
        if key.0.len() == n_before {
            break;
        }
        sorted = saltus_backend::sort_in(flat, &key)?;
    }
    // What was found is taken care of.
    let warnings = std::mem::take(&mut sorted.warnings).into_iter();
    sorted.warnings.extend(warnings.filter(|d| !saltus_backend::is_index_change(d)));
    Ok(sorted)
}

/// What annotations ask of components is possible: they are states, and the methods exist.
pub(crate) fn check_treatments(flat: &FlatModel, sorted: &SortedSystem) -> Diagnostics {
    let mut found = Diagnostics::new();
    for component in flat.components.iter().filter(|c| c.treatment != Treatment::default()) {
        let text = format!("activeState({})", component.name);
        if !sorted.switches.iter().any(|(known, _)| *known == text) {
            found.push(diagnostics::not_treated(&component.name, component.span));
        }
        let name = component.treatment.solver.as_deref();
        if let Some(name) = name
            .filter(|name| !saltus_sim::Solver::from_name(name).is_some_and(saltus_sim::Solver::fits_configurations))
        {
            found.push(diagnostics::unknown_solver(name, component.span));
        }
    }
    found
}

/// Programs that a model keeps, and the slots of all of them: with names and code a slot takes a few hundred bytes.
const MOST_PROGRAMS: usize = 512;
const MOST_SLOTS: usize = 1_000_000;

/// The programs of one model: those that were asked for last.
#[derive(Default)]
pub(crate) struct Programs(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    programs: BTreeMap<Key, (Arc<SimProgram>, u64)>,
    n_slots: usize,
    n_asked: u64,
}

impl Programs {
    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).programs.len()
    }

    /// All that are kept, in the order of their keys.
    pub fn known(&self) -> Vec<(Key, Arc<SimProgram>)> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.programs.iter().map(|(key, (program, _))| (key.clone(), program.clone())).collect()
    }

    fn of(&self, flat: &FlatModel, key: &Key) -> Result<Arc<SimProgram>, Unmade> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.n_asked += 1;
        let now = kept.n_asked;
        if let Some((program, asked)) = kept.programs.get_mut(key) {
            *asked = now;
            return Ok(program.clone());
        }
        let sorted = sort_configuration(flat, key).map_err(|found| {
            let errors: Vec<&Diagnostic> = found.iter().filter(|d| d.severity == Severity::Error).collect();
            let why = errors.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("; ");
            let hints = errors.iter().flat_map(|d| d.hints.clone()).collect();
            Unmade { why, hints, span: errors.iter().find_map(|d| d.span).unwrap_or(Span::nowhere()) }
        })?;
        let program = Arc::new(sorted.emit(flat));
        kept.keep(key.clone(), program.clone());
        Ok(program)
    }
}

impl Kept {
    /// Keeps a program that was just asked for; those that nobody asked for since longest make room.
    fn keep(&mut self, key: Key, program: Arc<SimProgram>) {
        self.n_slots += program.memory.slots.len();
        self.programs.insert(key, (program, self.n_asked));
        while self.programs.len() > MOST_PROGRAMS || (self.n_slots > MOST_SLOTS && self.programs.len() > 1) {
            let oldest = self.programs.iter().min_by_key(|(_, (_, asked))| *asked).map(|(key, _)| key.clone());
            let Some((program, _)) = oldest.and_then(|key| self.programs.remove(&key)) else { break };
            self.n_slots -= program.memory.slots.len();
        }
    }
}

/// Instances that wait for the next run. Clones share them.
#[derive(Clone, Default)]
pub struct Pool(Arc<Mutex<BTreeMap<Key, Instances>>>);

type Instances = Vec<Box<dyn ModelFunctions>>;

impl Pool {
    fn take(&self, key: &Key) -> Option<Box<dyn ModelFunctions>> {
        let mut instance = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(key)?.pop()?;
        instance.renew();
        Some(instance)
    }

    fn put(&self, key: Key, instance: Box<dyn ModelFunctions>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().push(instance);
    }
}

/// Makes instances for the configurations of a model.
pub(crate) struct Maker {
    pub model: Arc<Model>,
    pub pool: Pool,
    pub engine: Engine,
    pub permissions: Permissions,
    pub stopwatch: Stopwatch,
}

impl Configurations for Maker {
    fn instance(&mut self, key: &Key) -> Result<Box<dyn ModelFunctions>, Unmade> {
        let model = &self.model;
        let Some(flat) = model.flat() else {
            let why = "the compiled model has one configuration only".to_owned();
            return Err(Unmade { why, hints: Vec::new(), span: Span::nowhere() });
        };
        if let Some(instance) = self.pool.take(key) {
            return Ok(instance);
        }
        // A state that leads to itself is entered in the configuration that the run began with.
        let is_first = model.program().configuration.as_ref().is_some_and(|c| c.key() == *key);
        let program = if is_first { model.program().clone() } else { model.programs().of(flat, key)? };
        Ok(model.instance_of(program, self.engine, self.permissions, &self.stopwatch))
    }

    fn take_back(&mut self, key: Key, instance: Box<dyn ModelFunctions>) {
        self.pool.put(key, instance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that were asked for last are kept.
    #[test]
    fn programs_are_bounded() {
        let mut kept = Kept::default();
        let key = |k: usize| Key(BTreeMap::from([(k.to_string(), true)]));
        for k in 0..2 * MOST_PROGRAMS {
            kept.n_asked += 1;
            kept.keep(key(k), Arc::new(SimProgram::empty("M")));
        }
        assert_eq!(kept.programs.len(), MOST_PROGRAMS);
        assert!(kept.programs.contains_key(&key(2 * MOST_PROGRAMS - 1)) && !kept.programs.contains_key(&key(0)));
    }
}
