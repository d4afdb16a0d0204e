//! How long things take. The library never reads the clock of the system: who calls it may hand one in.

use std::sync::Arc;
use std::time::Duration;

/// A clock that never goes back.
pub trait WallClock: Send + Sync {
    /// Time since a moment that stays the same.
    fn now(&self) -> Duration;
}

/// Measures with the clock that was handed in. Without one, everything takes no time.
#[derive(Clone, Default)]
pub struct Stopwatch(Option<Arc<dyn WallClock>>);

impl Stopwatch {
    pub fn new(clock: impl WallClock + 'static) -> Stopwatch {
        Stopwatch(Some(Arc::new(clock)))
    }

    pub fn now(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |clock| clock.now())
    }

    /// Time since `started`, which [`Stopwatch::now`] gave.
    pub fn since(&self, started: Duration) -> Duration {
        self.now().saturating_sub(started)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// One second later each time it is read.
    #[derive(Default)]
    struct Ticking(AtomicU64);

    impl WallClock for Ticking {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.fetch_add(1, Ordering::Relaxed))
        }
    }

    #[test]
    fn time_comes_from_the_clock_that_was_handed_in() {
        let stopwatch = Stopwatch::new(Ticking::default());
        let started = stopwatch.now();
        assert_eq!(stopwatch.since(started), Duration::from_secs(1));
        assert_eq!(stopwatch.clone().since(started), Duration::from_secs(2));
        assert_eq!(Stopwatch::default().since(started), Duration::ZERO);
    }
}
