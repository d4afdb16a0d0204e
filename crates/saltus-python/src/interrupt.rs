//! Work without the interpreter lock, which Ctrl-C ends.
//!
//! In: work that looks at a flag. Out: what it made, or the exception that a signal handler of Python has raised: while the work goes on
//! in a thread with a large stack, the calling thread lets Python handle signals.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use saltus::guard;

use crate::errors;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(20);

/// How often a lock that is taken is tried again.
const POLL: Duration = Duration::from_millis(1);

/// How long the interpreter waits for work that goes on when it leaves.
const PATIENCE: Duration = Duration::from_secs(30);

/// The interpreter is about to leave: whoever came back to it afterwards would find nothing there. There is one interpreter in a process.
static LEAVING: AtomicBool = AtomicBool::new(false);
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Work that the interpreter waits for when it leaves.
pub struct Active;

impl Active {
    pub fn begin(py: Python) -> PyResult<Active> {
        ACTIVE.fetch_add(1, Ordering::SeqCst);
        let active = Active;
        if is_leaving() { Err(left(py)) } else { Ok(active) }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

pub fn is_leaving() -> bool {
    LEAVING.load(Ordering::SeqCst)
}

/// What work gets that goes on in a thread when the interpreter leaves.
pub fn left(py: Python) -> PyErr {
    errors::failed(py, "the interpreter is leaving")
}

/// Ends what goes on in other threads, and waits for them.
pub fn leave(py: Python) {
    LEAVING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let began = Instant::now();
        while ACTIVE.load(Ordering::SeqCst) > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2));
        }
    });
}

/// In the child of a fork nobody else is at work.
pub fn after_fork() {
    ACTIVE.store(0, Ordering::SeqCst);
}

/// Stack in bytes, for classes and functions that nest deeply; only touched pages cost memory.
const STACK: usize = 256 << 20;

/// Runs `work` on a thread of its own.
pub fn interruptible<T: Send>(py: Python, stop: &Arc<AtomicBool>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let _active = Active::begin(py)?;
    let (done, wait) = channel();
    std::thread::scope(|scope| {
        let run = move || {
            let made = guard::catch(work);
            // Who waits for it is there until it comes.
            let _ = done.send(());
            made
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        let Ok(thread) = thread else { return Err(errors::failed(py, "no thread can be started")) };
        let mut raised = None;
        // The channel is not shared with other threads, so it cannot go into the closure by reference.
        let mut wait = Some(wait);
        loop {
            let Some(channel) = wait.take() else { break };
            let (channel, ended) = py.detach(move || {
                let ended = channel.recv_timeout(LOOK);
                (channel, ended)
            });
            if ended != Err(RecvTimeoutError::Timeout) {
                break;
            }
            wait = Some(channel);
            if is_leaving() {
                stop.store(true, Ordering::Relaxed);
            }
            if raised.is_none()
                && let Err(error) = py.check_signals()
            {
                stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let made = py.detach(|| thread.join());
        match (raised, made) {
            (Some(error), _) => Err(error),
            (None, Ok(Ok(made))) => Ok(made),
            (None, Ok(Err(internal))) => Err(errors::internal(&internal)),
            (None, Err(_)) => Err(errors::failed(py, "the working thread ended without a result")),
        }
    })
}

/// The same for work that looks at no flag, such as compiling: when a signal handler raises, or the interpreter leaves, the work is left
/// alone. It ends in its own time, and what it makes is dropped.
pub fn abandonable<T: Send + 'static>(py: Python, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let _active = Active::begin(py)?;
    let (done, wait) = channel();
    let run = move || {
        // Nobody waits for it if it was abandoned.
        let _ = done.send(guard::catch(work));
    };
    let started = std::thread::Builder::new().stack_size(STACK).spawn(run);
    if started.is_err() {
        return Err(errors::failed(py, "no thread can be started"));
    }
    let mut wait = wait;
    loop {
        let (channel, made) = py.detach(move || {
            let made = wait.recv_timeout(LOOK);
            (wait, made)
        });
        wait = channel;
        match made {
            Ok(made) => return made.map_err(|internal| errors::internal(&internal)),
            Err(RecvTimeoutError::Timeout) if is_leaving() => return Err(left(py)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::failed(py, "the working thread ended without a result"));
            }
        }
    }
}

/// Waits for a lock that another thread may hold for long, unless a signal handler raises.
pub fn locked<'a, T>(py: Python, mutex: &'a Mutex<T>) -> PyResult<MutexGuard<'a, T>> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if is_leaving() => return Err(left(py)),
            Err(TryLockError::WouldBlock) => {}
        }
        py.detach(|| std::thread::sleep(POLL));
        py.check_signals()?;
    }
}
