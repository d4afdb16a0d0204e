//! Directional derivatives of calls.
//!
//! In: a callable, the scalars of its arguments and behind them their tangents. Out: the tangents of its scalar results: by the
//! derivative of the procedure; where there is none by the function that the `derivative` annotation names; else by a
//! difference of this call alone, which is counted.

use saltus_base::Index as _;

use super::*;

/// Third root of the rounding error, which is best for central differences.
const RELATIVE_STEP: f64 = 6e-6;
/// An argument that is smaller is moved as if it had this magnitude.
const SMALLEST_MAGNITUDE: f64 = 1e-3;

/// What calls could not be differentiated.
#[derive(Default)]
pub(crate) struct Differences {
    pub n_calls: u64,
    /// By callable.
    is_used: Vec<bool>,
}

impl Differences {
    fn count(&mut self, callable: CallableId) {
        self.n_calls += 1;
        if self.is_used.len() <= callable.index() {
            self.is_used.resize(callable.index() + 1, false);
        }
        self.is_used[callable.index()] = true;
    }

    /// Names of the functions, in alphabetical order.
    pub fn functions(&self, program: &SimProgram) -> Vec<String> {
        let used = program.routines.callables.iter().filter(|(id, _)| self.is_used.get(id.index()) == Some(&true));
        let mut names: Vec<String> =
            used.filter_map(|(_, c)| Some(program.routines.procedures.get(c.function)?.name.clone())).collect();
        names.sort();
        names.dedup();
        names
    }
}

impl CallHost {
    /// The callable whose directional derivative this one is; these are numbered behind those of the program.
    pub(super) fn differentiated(&self, callable: CallableId) -> Option<CallableId> {
        callable.index().checked_sub(self.world.program.routines.callables.len()).map(CallableId::from_usize)
    }

    /// Appends the tangents of the results; false if there are none.
    pub(super) fn make_tangent(
        &mut self,
        callable: CallableId,
        given: &[f64],
        memory: &[f64],
        span: Span,
        tangents: &mut Vec<f64>,
    ) -> bool {
        if self.procedures.call_tangent(callable, given, tangents).is_ok() {
            return true;
        }
        tangents.clear();
        let (values, direction) = given.split_at(given.len() / 2);
        self.make_annotated(callable, values, direction, memory, span, tangents)
            || self.make_difference(callable, values, direction, memory, span, tangents)
    }

    /// By the function of the annotation.
    fn make_annotated(
        &mut self,
        callable: CallableId,
        values: &[f64],
        direction: &[f64],
        memory: &[f64],
        span: Span,
        tangents: &mut Vec<f64>,
    ) -> bool {
        let program = self.world.program.clone();
        let Some(rule) = program.routines.callables.get(callable).and_then(|c| c.derivative.as_ref()) else {
            return false;
        };
        let tangent = |position: &u32| direction.get(*position as usize).copied().unwrap_or(f64::NAN);
        if rule.constant.iter().any(|position| tangent(position) != 0.0) {
            return false;
        }
        let given: Vec<f64> = values.iter().copied().chain(rule.tangents.iter().map(tangent)).collect();
        let mut results = Vec::new();
        if !self.make(rule.callable, &given, memory, span, &mut results) {
            return false;
        }
        let result = |position: u32| results.get(position as usize).copied().unwrap_or(f64::NAN);
        tangents.extend(rule.results.iter().map(|r| r.map_or(0.0, result)));
        true
    }

    /// By values on both sides, or on the one that there is.
    fn make_difference(
        &mut self,
        callable: CallableId,
        values: &[f64],
        direction: &[f64],
        memory: &[f64],
        span: Span,
        tangents: &mut Vec<f64>,
    ) -> bool {
        let moving = values.iter().zip(direction).filter(|(_, d)| **d != 0.0);
        let step = moving.map(|(x, d)| x.abs().max(SMALLEST_MAGNITUDE) / d.abs()).fold(f64::INFINITY, f64::min);
        if !step.is_finite() {
            tangents.resize(self.n_results(callable), 0.0);
            return true;
        }
        self.differences.count(callable);
        let step = RELATIVE_STEP * step;
        let mut at = |h: f64| {
            let moved: Vec<f64> = values.iter().zip(direction).map(|(x, d)| x + h * d).collect();
            let mut results = Vec::new();
            self.make(callable, &moved, memory, span, &mut results).then_some(results)
        };
        let (after, before, width) = match (at(step), at(-step)) {
            (Some(after), Some(before)) => (after, before, 2.0 * step),
            (Some(after), None) => match at(0.0) {
                Some(here) => (after, here, step),
                None => return false,
            },
            (None, Some(before)) => match at(0.0) {
                Some(here) => (here, before, step),
                None => return false,
            },
            (None, None) => return false,
        };
        tangents.extend(after.iter().zip(&before).map(|(a, b)| (a - b) / width));
        true
    }
}
