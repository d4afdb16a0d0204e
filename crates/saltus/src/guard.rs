//! The border between the compiler and its user: a defect of the compiler becomes a diagnostic, and deep recursion
//! has room.
//!
//! The front end recurses as deep as classes and expressions nest. Its limits are counted, not measured in bytes, so
//! the whole pipeline runs on a thread whose stack is reserved generously (only touched pages cost memory).

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo};

use saltus_base::Diagnostic;

use crate::diagnostics;

/// Sizes of stack to ask for, in bytes; the second is for machines with little address space.
const STACKS: [usize; 2] = [512 << 20, 64 << 20];

thread_local! {
    /// What the last panic of this thread said and where; written by the hook, read by [`catch`].
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on a panic is remembered for [`catch`] instead of being printed.
pub fn remember_panics() {
    std::panic::set_hook(Box::new(|info: &PanicHookInfo| {
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        let text = format!("{}{place}", payload_text(info.payload()));
        LAST_PANIC.with(|last| *last.borrow_mut() = Some(text));
    }));
}

/// Runs `work`; a panic inside it is given back as an internal error.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Diagnostic> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let remembered = LAST_PANIC.with(|last| last.borrow_mut().take());
        diagnostics::internal_error(&remembered.unwrap_or_else(|| payload_text(payload.as_ref()).to_string()))
    })
}

fn payload_text(payload: &(dyn std::any::Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}

/// Runs `work` on a thread with a large stack, or on this one where no such thread can be had.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Diagnostic> {
    let mut work = Some(work);
    std::thread::scope(|scope| {
        for size in STACKS {
            // The thread takes the work only if it starts, so that a refused thread does not lose it.
            let slot = std::sync::Mutex::new(work.take());
            let slot = std::sync::Arc::new(slot);
            let inner = slot.clone();
            let run = move || {
                let work = inner.lock().unwrap_or_else(|e| e.into_inner()).take();
                work.map(catch)
            };
            match std::thread::Builder::new().stack_size(size).spawn_scoped(scope, run) {
                Ok(thread) => {
                    let lost = || Err(diagnostics::internal_error("the working thread ended without a result"));
                    return thread.join().ok().flatten().unwrap_or_else(lost);
                }
                Err(_) => work = slot.lock().unwrap_or_else(|e| e.into_inner()).take(),
            }
        }
        match work {
            Some(work) => catch(work),
            None => Err(diagnostics::internal_error("no thread could be started")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_internal_error() {
        let Err(error) = catch(|| -> u32 { panic!("index {} of nothing", 7) }) else { panic!("caught nothing") };
        assert_eq!(error.code.0, "E9999");
        assert!(error.message.contains("index 7 of nothing"), "{}", error.message);
    }

    #[test]
    fn deep_recursion_has_room() {
        fn depth(n: u32, bytes: [u8; 1000]) -> u32 {
            if n == 0 {
                u32::from(std::hint::black_box(bytes)[0])
            } else {
                1 + depth(n - 1, std::hint::black_box(bytes))
            }
        }
        // 100 000 frames of at least 1000 bytes do not fit into the usual 2 MiB of a test thread.
        let deep = on_large_stack(|| depth(100_000, [0; 1000]));
        assert_eq!(deep.ok(), Some(100_000));
    }

    #[test]
    fn a_panic_on_the_large_stack_is_reported() {
        assert!(on_large_stack(|| panic!("gone")).is_err_and(|e: Diagnostic| e.message.contains("gone")));
    }
}
