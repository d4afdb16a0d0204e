//! Machine code made beside a run, on a core that would be idle.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, available_parallelism};

use saltus_jit::{Background, Work};

use crate::guard;

/// Code generation does not recurse deeply; pages that are not touched cost nothing.
const STACK: usize = 64 << 20;

static N_CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, |n| n.get()));
/// Runs of this process and threads beside them: how many cores have something to do, if all runs go on.
static N_AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// A run, or a thread beside one, as long as it is held.
struct AtWork;

impl AtWork {
    fn new() -> AtWork {
        N_AT_WORK.fetch_add(1, Ordering::Relaxed);
        AtWork
    }

    /// Only while there are fewer than cores.
    fn on_free_core() -> Option<AtWork> {
        let one_more = |n: usize| (n < *N_CORES).then_some(n + 1);
        N_AT_WORK.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok().map(|_| AtWork)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        N_AT_WORK.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Pieces of work that wait for a thread, at most. What comes then is done by who asks, before it waits longer than it would take.
const MOST_WAITING: usize = 8;

/// Threads that make machine code for the runs of a model. Dropped, it waits for them: the library that their code is part of may be
/// unloaded next.
#[derive(Default)]
pub(crate) struct Threads {
    queue: Arc<Mutex<Queue>>,
    started: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    /// Threads that will look for more.
    n_threads: usize,
}

impl Threads {
    fn run(&self, work: Work) -> Result<(), Work> {
        let mut queue = lock(&self.queue);
        if queue.waiting.len() >= MOST_WAITING {
            return Err(work);
        }
        // A thread that has just been started waits for the lock.
        if let Some(at_work) = AtWork::on_free_core()
            && let Ok(thread) = self.start(at_work)
        {
            queue.n_threads += 1;
            let mut started = lock(&self.started);
            started.retain(|thread| !thread.is_finished());
            started.push(thread);
        }
        if queue.n_threads == 0 {
            return Err(work);
        }
        queue.waiting.push_back(work);
        Ok(())
    }

    fn start(&self, at_work: AtWork) -> std::io::Result<JoinHandle<()>> {
        let queue = self.queue.clone();
        let run = move || {
            let _at_work = at_work;
            while let Some(work) = next(&queue) {
                // Whoever waits learns of a panic by the end of the channel; what cannot be compiled is interpreted.
                let _ = guard::catch(work);
            }
        };
        Builder::new().name("machine code".into()).stack_size(STACK).spawn(run)
    }
}

/// The next piece of work; without one the thread is no longer counted.
fn next(queue: &Mutex<Queue>) -> Option<Work> {
    let mut queue = lock(queue);
    let work = queue.waiting.pop_front();
    if work.is_none() {
        queue.n_threads -= 1;
    }
    work
}

/// No code that may panic runs while one of these locks is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in lock(&self.started).drain(..) {
            let _ = thread.join();
        }
    }
}

/// What a run knows of cores that are free. Many runs at a time leave none, as in a study on all cores.
pub(crate) struct FreeCores {
    threads: Arc<Threads>,
    _run: AtWork,
}

impl FreeCores {
    pub fn of_run(threads: &Arc<Threads>) -> FreeCores {
        FreeCores { threads: threads.clone(), _run: AtWork::new() }
    }
}

impl Background for FreeCores {
    fn run(&self, work: Work) -> Result<(), Work> {
        self.threads.run(work)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// As many runs as cores, so that none is free whatever other tests of this process do.
    fn busy(threads: &Arc<Threads>) -> Vec<FreeCores> {
        (0..*N_CORES).map(|_| FreeCores::of_run(threads)).collect()
    }

    #[test]
    fn no_core_is_free_beside_as_many_runs_as_cores() {
        let threads = Arc::new(Threads::default());
        let runs = busy(&threads);
        assert!(runs[0].run(Box::new(|| unreachable!("no core is free"))).is_err());
        assert!(lock(&threads.started).is_empty());
    }

    #[test]
    fn work_waits_for_a_thread_that_is_at_work_until_too_much_waits() {
        let threads = Arc::new(Threads::default());
        let run = FreeCores::of_run(&threads);
        let (go, gone) = channel::<()>();
        let first = run.run(Box::new(move || gone.recv().unwrap_or_default()));
        if first.is_err() {
            return eprintln!("skipped: no core is free");
        }
        while !lock(&threads.queue).waiting.is_empty() {
            std::thread::yield_now();
        }
        let others = busy(&threads);
        let done = Arc::new(AtomicUsize::new(0));
        let count = || {
            let done = done.clone();
            Box::new(move || {
                done.fetch_add(1, Ordering::SeqCst);
            })
        };
        for _ in 0..MOST_WAITING {
            assert!(run.run(count()).is_ok());
        }
        assert!(run.run(count()).is_err());
        go.send(()).unwrap();
        drop((run, others));
        drop(threads);
        assert_eq!(done.load(Ordering::SeqCst), MOST_WAITING);
    }

    #[test]
    fn work_that_panics_does_not_take_the_next_with_it() {
        let threads = Arc::new(Threads::default());
        let run = FreeCores::of_run(&threads);
        let done = Arc::new(AtomicUsize::new(0));
        let mut n_taken = 0;
        for panics in [true, false, true, false] {
            let done = done.clone();
            let work = move || {
                assert!(!panics, "on purpose");
                done.fetch_add(1, Ordering::SeqCst);
            };
            n_taken += usize::from(run.run(Box::new(work)).is_ok() && !panics);
        }
        drop(run);
        drop(threads);
        assert_eq!(done.load(Ordering::SeqCst), n_taken);
    }
}
