//! What an FMU logs.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

use crate::ffi::Component;

/// What a function of an FMU returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Ok,
    Warning,
    Discard,
    Error,
    Fatal,
}

impl Status {
    pub(crate) fn new(code: i32) -> Status {
        match code {
            0 => Status::Ok,
            1 => Status::Warning,
            2 => Status::Discard,
            4 => Status::Fatal,
            _ => Status::Error,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct LogLine {
    pub status: Status,
    pub category: String,
    pub message: String,
}

/// Lines that are kept for a message about a failure.
const MOST_LINES: usize = 20;
/// Characters of a line that are kept.
const LONGEST_LINE: usize = 500;

/// What an FMU tells by callbacks: the last lines of its log, perhaps from threads of its own, and output clocks that tick.
#[derive(Default)]
pub(crate) struct LogBook {
    lines: Mutex<VecDeque<LogLine>>,
    clocks: Mutex<Option<ClockWatch>>,
}

type GetClock = unsafe extern "C" fn(Component, *const u32, usize, *mut u8) -> i32;

/// Output clocks of scheduled execution, which may be looked at inside of a callback only.
pub(crate) struct ClockWatch {
    component: Component,
    get_clock: GetClock,
    /// References with whether they have ticked.
    outputs: Vec<(u32, bool)>,
}

// SAFETY: the component is used by one thread at a time, as the standard demands.
unsafe impl Send for ClockWatch {}

impl ClockWatch {
    pub fn new(component: Component, get_clock: GetClock, references: Vec<u32>) -> Self {
        ClockWatch { component, get_clock, outputs: references.into_iter().map(|r| (r, false)).collect() }
    }

    fn look(&mut self) {
        for (reference, has_ticked) in &mut self.outputs {
            let mut value = 0_u8;
            // SAFETY: the component is alive while it calls back; one reference, one value.
            let status = unsafe { (self.get_clock)(self.component, reference, 1, &mut value) };
            *has_ticked |= status == 0 && value != 0;
        }
    }
}

impl LogBook {
    fn add(&self, status: i32, category: *const c_char, message: *const c_char) {
        let line = LogLine { status: Status::new(status), category: text(category), message: text(message) };
        let Ok(mut lines) = self.lines.lock() else { return };
        if lines.len() >= MOST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub fn watch(&self, clocks: ClockWatch) {
        if let Ok(mut held) = self.clocks.lock() {
            *held = Some(clocks);
        }
    }

    /// Has this output clock ticked since it was asked for last?
    pub fn take_tick(&self, reference: u32) -> bool {
        let Ok(mut held) = self.clocks.lock() else { return false };
        let outputs = held.as_mut().map_or(&mut [][..], |watch| &mut watch.outputs);
        outputs.iter_mut().find(|(r, _)| *r == reference).is_some_and(|(_, ticked)| std::mem::take(ticked))
    }

    /// The lines so far, which are forgotten.
    pub fn take(&self) -> Vec<LogLine> {
        self.lines.lock().map(|mut lines| lines.drain(..).collect()).unwrap_or_default()
    }
}

/// A text of C; nothing where there is none.
fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the standard says that texts of callbacks end with a zero byte and stay during the call.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_string_lossy().trim_end().chars().take(LONGEST_LINE).collect()
}

/// The callback of 2.0. It may be called with further arguments for the format; the text is shown with its format as it is.
pub(crate) unsafe extern "C" fn log_2(
    environment: *mut c_void,
    _instance: *const c_char,
    status: i32,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the environment is the log book that was given to the FMU, which outlives the instance.
    if let Some(book) = unsafe { environment.cast::<LogBook>().as_ref() } {
        book.add(status, category, message);
    }
}

/// The callback of scheduled execution: an output clock has ticked.
pub(crate) unsafe extern "C" fn clock_updated(environment: *mut c_void) {
    // SAFETY: as above. While the lock is held the FMU is asked for clocks, during which it calls nothing back.
    if let Some(book) = unsafe { environment.cast::<LogBook>().as_ref() }
        && let Ok(mut held) = book.clocks.try_lock()
        && let Some(watch) = held.as_mut()
    {
        watch.look();
    }
}

/// The callback of 3.0.
pub(crate) unsafe extern "C" fn log_3(
    environment: *mut c_void,
    status: i32,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: as above.
    if let Some(book) = unsafe { environment.cast::<LogBook>().as_ref() } {
        book.add(status, category, message);
    }
}
