//! The clock of the system, for a library that has none of its own.

use std::time::{Duration, Instant};

use saltus_program::{Stopwatch, WallClock};

struct SystemClock {
    started: Instant,
}

impl WallClock for SystemClock {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }
}

pub fn stopwatch() -> Stopwatch {
    Stopwatch::new(SystemClock { started: Instant::now() })
}
