//! The time limit of a run: a flag that a second thread sets when it is over. To look at a flag costs less than to look at the
//! clock, so that also the innermost iterations can do it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Watches as long as it is there.
pub(crate) struct Watchdog {
    pub is_late: Arc<AtomicBool>,
    /// Nothing is sent: the thread ends with the channel.
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    pub fn new(limit: Duration) -> Watchdog {
        let is_late = Arc::new(AtomicBool::new(false));
        let (done, end) = channel::<()>();
        let flag = is_late.clone();
        let watch = move || {
            if end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Relaxed);
            }
        };
        // Without a thread there is no limit, but there are results.
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(watch).ok();
        Watchdog { is_late, done: Some(done), thread }
    }

    pub fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.done = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes() {
        let watchdog = Watchdog::new(Duration::from_millis(1));
        while !watchdog.is_late.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        // Ends at once, although the hour is not over.
        drop(Watchdog::new(Duration::from_secs(3600)));
    }
}
