//! Calls of impure functions: each made once, in order, however often the equations around it are evaluated.
//!
//! ```text
//! when x > 1 then                   event round 1: active, made     round 2: not active, nothing
//!   n = countLines("log.txt");      made while the round is evaluated, because `n` needs its result
//!   print("x = " + String(x));      made when the round has been evaluated
//! end when;
//! ```
//!
//! A section makes each of its active calls once and keeps the results for all equations that use them. A call that nothing
//! depends on waits until its section has been evaluated, and in the initial system until that has been solved; calls that
//! stand before another one in the source text are made before it. (Specification: section 12.3.)

use std::collections::BTreeMap;

use saltus_base::Span;
use saltus_program::{CallableId, Effect};

use crate::calls::CallHost;

#[derive(Default)]
pub(crate) struct Effects {
    /// Results of the calls that were made, by number.
    made: BTreeMap<u32, Vec<f64>>,
    /// Calls to be made, by number.
    waiting: BTreeMap<u32, Waiting>,
}

impl Effects {
    pub fn made(&self) -> &BTreeMap<u32, Vec<f64>> {
        &self.made
    }

    pub fn set_made(&mut self, made: BTreeMap<u32, Vec<f64>>) {
        self.made = made;
        self.waiting.clear();
    }
}

struct Waiting {
    callable: CallableId,
    arguments: Vec<f64>,
    span: Span,
}

impl CallHost {
    /// The section that begins makes its own calls.
    pub fn begin_effects(&mut self) {
        self.effects.made.clear();
        self.effects.waiting.clear();
    }

    /// A call as it stands in code; `scalars` gets whether it is active and the results. False if it fails.
    pub fn call_effect(
        &mut self,
        effect: Effect,
        callable: CallableId,
        given: &[f64],
        memory: &[f64],
        span: Span,
        scalars: &mut Vec<f64>,
    ) -> bool {
        let is_active = given.first().is_some_and(|&guard| guard != 0.0);
        // The second says what the call comes after, which has been computed by now.
        let given = given.get(2..).unwrap_or_default();
        if !is_active {
            self.effects.waiting.remove(&effect.number);
            scalars.resize(1 + self.n_results(callable), 0.0);
            return true;
        }
        if let Some(results) = self.effects.made.get(&effect.number) {
            scalars.extend_from_slice(results);
            return true;
        }
        if effect.is_deferred {
            let waiting = Waiting { callable, arguments: given.to_vec(), span };
            self.effects.waiting.insert(effect.number, waiting);
            scalars.resize(1 + self.n_results(callable), 0.0);
            scalars[0] = 1.0;
            return true;
        }
        let later = self.effects.waiting.split_off(&effect.number);
        let earlier = std::mem::replace(&mut self.effects.waiting, later);
        if !self.make_waiting(earlier, memory) || !self.make_acting(callable, given, memory, span, scalars) {
            return false;
        }
        scalars.insert(0, 1.0);
        self.effects.made.insert(effect.number, scalars.clone());
        true
    }

    /// Makes the calls that wait; false if one of them fails.
    pub fn act(&mut self, memory: &[f64]) -> bool {
        let waiting = std::mem::take(&mut self.effects.waiting);
        self.make_waiting(waiting, memory)
    }

    fn make_waiting(&mut self, waiting: BTreeMap<u32, Waiting>, memory: &[f64]) -> bool {
        let mut unused = Vec::new();
        for (number, Waiting { callable, arguments, span }) in waiting {
            unused.clear();
            if !self.make_acting(callable, &arguments, memory, span, &mut unused) {
                return false;
            }
            unused.insert(0, 1.0);
            self.effects.made.insert(number, unused.clone());
        }
        true
    }
}
