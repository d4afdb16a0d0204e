//! A wish that a run ends soon, from a signal or another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What takes long looks at it and fails, wherever it is; the run then says that it was interrupted.
#[derive(Clone, Default, Debug)]
pub struct Stop(Vec<Arc<AtomicBool>>);

impl Stop {
    /// Any of several may wish it.
    pub fn add(&mut self, flag: Arc<AtomicBool>) {
        self.0.push(flag);
    }

    pub fn is_wanted(&self) -> bool {
        self.0.iter().any(|flag| flag.load(Ordering::Relaxed))
    }
}
