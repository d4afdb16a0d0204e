//! What an FMU logs.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

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

/// The last lines; FMUs may log from threads of their own.
#[derive(Default)]
pub(crate) struct LogBook(Mutex<VecDeque<LogLine>>);

impl LogBook {
    fn add(&self, status: i32, category: *const c_char, message: *const c_char) {
        let line = LogLine { status: Status::new(status), category: text(category), message: text(message) };
        let Ok(mut lines) = self.0.lock() else { return };
        if lines.len() >= MOST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The lines so far, which are forgotten.
    pub fn take(&self) -> Vec<LogLine> {
        self.0.lock().map(|mut lines| lines.drain(..).collect()).unwrap_or_default()
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
