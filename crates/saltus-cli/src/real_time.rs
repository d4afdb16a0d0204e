//! `--real-time [FACTOR]`: simulated time passes with the clock, or FACTOR times as fast.
//!
//! In: how far the run is, before each step. Out: the wait until the clock is there, and a report: how many steps ended too late
//! (overruns), how long the longest one took, how exactly the others began on time (jitter), and how often each of these took how long. A run that is
//! late does not wait until it has caught up. The clock starts at the first step, when the model has been initialised and compiled.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use saltus_sim::{Progress, Solver};

/// The system wakes a sleeper a little late: the rest of the wait is spent looking at the clock.
const AWAKE: Duration = Duration::from_micros(150);
/// Somebody who interrupts the run waits no longer than this.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

pub struct Pace {
    factor: f64,
    /// When the clock started, and the simulated time then.
    origin: Option<(Instant, f64)>,
    /// Where the last step began.
    time: f64,
    released: Instant,
    report: Report,
}

#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Report {
    steps: u64,
    overruns: u64,
    /// Work of the longest step, and when it ended.
    longest: Duration,
    longest_at: f64,
    /// By how much the latest step ended too late.
    latest: Duration,
    /// Of steps that were in time: by how much the next one began too late.
    jitter: Duration,
    largest_jitter: Duration,
    works: Histogram,
    jitters: Histogram,
}

/// How often something took up to 1, 2, 4, 8, … µs; the last class has no bound.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Histogram([u64; N_CLASSES]);

/// Up to 2^20 µs, a second; what takes longer is in one more class.
const N_CLASSES: usize = 22;

/// Methods with a fixed step do the same work in each.
pub fn fits(solver: Solver) -> bool {
    matches!(solver, Solver::Euler | Solver::RungeKutta4 | Solver::ImplicitEuler)
}

impl Pace {
    pub fn new(factor: f64) -> Self {
        Pace { factor, origin: None, time: 0.0, released: Instant::now(), report: Report::default() }
    }

    /// Waits until the clock is where the run is; no longer if it is interrupted.
    pub fn wait(&mut self, progress: Progress, interrupted: &AtomicBool) {
        let now = Instant::now();
        let Some((origin, start)) = self.origin else {
            (self.origin, self.time, self.released) = (Some((now, progress.time)), progress.time, now);
            return;
        };
        // Events take no time.
        if progress.time <= self.time {
            return;
        }
        self.time = progress.time;
        // A time that the clock cannot tell is never reached.
        let since = Duration::try_from_secs_f64((progress.time - start) / self.factor).unwrap_or(Duration::MAX);
        let due = origin.checked_add(since);
        let late = due.and_then(|due| now.checked_duration_since(due)).filter(|late| *late > Duration::ZERO);
        self.report.add_step(progress.time, now - self.released, late);
        if late.is_none() {
            sleep_until(due, interrupted);
            self.report.add_jitter(due.map_or(Duration::ZERO, |due| due.elapsed()));
        }
        self.released = Instant::now();
    }

    pub fn report(&self) -> Report {
        self.report
    }
}

fn sleep_until(due: Option<Instant>, interrupted: &AtomicBool) {
    loop {
        let left = due.map_or(LONGEST_SLEEP, |due| due.saturating_duration_since(Instant::now()));
        if left.is_zero() || interrupted.load(Ordering::Relaxed) {
            return;
        }
        match left.checked_sub(AWAKE) {
            Some(sleep) => thread::sleep(sleep.min(LONGEST_SLEEP)),
            None => std::hint::spin_loop(),
        }
    }
}

impl Report {
    fn add_step(&mut self, time: f64, work: Duration, late: Option<Duration>) {
        self.steps += 1;
        if work > self.longest {
            (self.longest, self.longest_at) = (work, time);
        }
        self.works.add(work);
        if let Some(late) = late {
            self.overruns += 1;
            self.latest = self.latest.max(late);
        }
    }

    fn add_jitter(&mut self, jitter: Duration) {
        self.jitter += jitter;
        self.jitters.add(jitter);
        self.largest_jitter = self.largest_jitter.max(jitter);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micro = |duration: Duration| 1e6 * duration.as_secs_f64();
        let in_time = (self.steps - self.overruns).max(1);
        write!(f, "real time: {} steps, {} overruns", self.steps, self.overruns)?;
        if self.overruns > 0 {
            write!(f, " (at most {:.0} µs late)", micro(self.latest))?;
        }
        write!(f, ", longest step {:.0} µs at t = {:.6}", micro(self.longest), self.longest_at)?;
        let mean = micro(self.jitter) / in_time as f64;
        writeln!(f, ", jitter {mean:.1} µs on average, {:.0} µs at most", micro(self.largest_jitter))?;
        writeln!(f, "  work of steps: {}", self.works)?;
        write!(f, "  jitter: {}", self.jitters)
    }
}

impl Histogram {
    fn add(&mut self, duration: Duration) {
        let micros = duration.as_nanos().div_ceil(1000);
        let class = micros.max(1).next_power_of_two().trailing_zeros() as usize;
        self.0[class.min(N_CLASSES - 1)] += 1;
    }
}

impl fmt::Display for Histogram {
    /// Classes in which something is, with their counts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for (class, count) in self.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            let separator = if std::mem::take(&mut is_first) { "" } else { ", " };
            match class {
                last if last + 1 == N_CLASSES => write!(f, "{separator}{count} above {} µs", 1u64 << (last - 1))?,
                _ => write!(f, "{separator}{count} up to {} µs", 1u64 << class)?,
            }
        }
        if is_first { write!(f, "none") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: f64) -> Progress {
        Progress { time, start_time: 0.0, stop_time: 1.0, steps: 0, events: 0 }
    }

    #[test]
    fn the_clock_is_waited_for_and_late_steps_are_counted() {
        let (mut pace, interrupted) = (Pace::new(2.0), AtomicBool::new(false));
        let started = Instant::now();
        pace.wait(at(0.0), &interrupted);
        pace.wait(at(0.02), &interrupted);
        assert!(started.elapsed() >= Duration::from_millis(10), "0.02 s at twice the speed are 10 ms");
        // An event at the same time, then a step of 2 ms that takes 5 ms.
        pace.wait(at(0.02), &interrupted);
        thread::sleep(Duration::from_millis(5));
        pace.wait(at(0.024), &interrupted);
        let report = pace.report();
        assert_eq!((report.steps, report.overruns, report.longest_at), (2, 1, 0.024));
        assert!(report.longest >= Duration::from_millis(5) && report.latest >= Duration::from_millis(3));
    }

    #[test]
    fn durations_are_counted_in_powers_of_two() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.to_string(), "none");
        for nanos in [0, 1000, 1001, 2000, 900_000, 3_000_000_000] {
            histogram.add(Duration::from_nanos(nanos));
        }
        assert_eq!(histogram.to_string(), "2 up to 1 µs, 2 up to 2 µs, 1 up to 1024 µs, 1 above 1048576 µs");
        let mut report = Report::default();
        report.add_step(0.1, Duration::from_micros(3), None);
        report.add_jitter(Duration::from_micros(70));
        assert!(report.to_string().ends_with("work of steps: 1 up to 4 µs\n  jitter: 1 up to 128 µs"), "{report}");
    }

    #[test]
    fn who_interrupts_the_run_does_not_wait() {
        let mut pace = Pace::new(1e-9);
        let interrupted = AtomicBool::new(true);
        pace.wait(at(0.0), &interrupted);
        pace.wait(at(1.0), &interrupted);
        assert_eq!(pace.report().steps, 1);
    }
}
