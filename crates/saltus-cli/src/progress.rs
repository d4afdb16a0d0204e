//! How far a run is, on one line of a terminal that is written over and over; and Ctrl-C, which ends a run in good order.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use saltus_sim::Progress;

/// Nothing is shown before this time: most runs are over by then.
const PATIENCE: Duration = Duration::from_millis(300);
const REFRESH: Duration = Duration::from_millis(100);
const WIDTH: usize = 24;
/// Looks at the clock are expensive compared with the steps of a small model.
const STEPS_PER_LOOK: u32 = 64;

/// Set by Ctrl-C, and by the signals of a system that shuts down or a terminal that closes; the second one ends the process.
/// Signals that whoever started the process wants ignored, as `nohup` does, stay ignored.
pub fn interrupt_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let ignored = ignored_signals();
    let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];
    for signal in signals.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
        // Without a handler the signal ends the process at once, as usual.
        let _ = signal_hook::flag::register_conditional_default(signal, flag.clone());
        let _ = signal_hook::flag::register(signal, flag.clone());
    }
    flag
}

/// One bit a signal, the first one for signal 1. Only where the system tells.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_in(&status)
}

/// The mask behind `SigIgn:`, in hexadecimal.
fn ignored_in(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// The bar on standard error.
pub struct Bar {
    started: Instant,
    shown: Option<Instant>,
    is_visible: bool,
    countdown: u32,
}

impl Bar {
    pub fn new(is_wanted: bool) -> Self {
        let is_visible = is_wanted && std::io::stderr().is_terminal();
        Bar { started: Instant::now(), shown: None, is_visible, countdown: STEPS_PER_LOOK }
    }

    /// Is there a terminal that shows it?
    pub fn is_visible(&self) -> bool {
        self.is_visible
    }

    /// Shows a simulation.
    pub fn show_run(&mut self, progress: Progress) {
        if !self.is_due() {
            return;
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let since_start = progress.time - progress.start_time;
        let done = since_start / (progress.stop_time - progress.start_time).max(f64::MIN_POSITIVE);
        let speed = since_start / seconds;
        let events = progress.events as f64 / seconds;
        let text = format!("t = {:.4}  {speed:.3} s/s  {events:.0} events/s", progress.time);
        self.draw(done, &text);
    }

    /// Shows how many of some jobs are done.
    pub fn show_count(&mut self, done: usize, all: usize, what: &str) {
        self.countdown = 0;
        if self.is_due() {
            let rate = done as f64 / self.started.elapsed().as_secs_f64();
            self.draw(done as f64 / all.max(1) as f64, &format!("{done}/{all} {what}  {rate:.0}/s"));
        }
    }

    fn is_due(&mut self) -> bool {
        if !self.is_visible {
            return false;
        }
        self.countdown = self.countdown.saturating_sub(1);
        if self.countdown > 0 {
            return false;
        }
        self.countdown = STEPS_PER_LOOK;
        let now = Instant::now();
        let is_due = match self.shown {
            None => now - self.started > PATIENCE,
            Some(last) => now - last > REFRESH,
        };
        if is_due {
            self.shown = Some(now);
        }
        is_due
    }

    fn draw(&self, done: f64, text: &str) {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K{} {:3.0} %  {text}", bar(done), 100.0 * done);
        let _ = std::io::stderr().lock().flush();
    }

    /// Takes the bar away.
    pub fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

/// `━━━━╸       ` in eighths of the way.
fn bar(done: f64) -> String {
    let halves = (2.0 * WIDTH as f64 * done.clamp(0.0, 1.0)).round() as usize;
    let mut text = "━".repeat(halves / 2);
    if halves % 2 == 1 {
        text.push('╸');
    }
    let missing = WIDTH - text.chars().count();
    text + &" ".repeat(missing)
}

/// Takes a shared bar away.
pub fn clear(bar: &Mutex<Bar>) {
    bar.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

pub fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_found() {
        // As under `nohup`: bit 0 is signal 1, SIGHUP; bit 12 is signal 13, SIGPIPE.
        assert_eq!(ignored_in("Name:\tsaltus\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"), 0x1001);
        assert_eq!(ignored_in(""), 0);
    }

    #[test]
    fn the_bar_has_one_width() {
        for done in [-1.0, 0.0, 0.02, 0.5, 1.0, 7.0] {
            assert_eq!(bar(done).chars().count(), WIDTH, "{done}");
        }
        assert!(bar(1.0).chars().all(|c| c == '━') && bar(0.0).trim().is_empty());
    }
}
