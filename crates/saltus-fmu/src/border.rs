//! The border between C and Rust: handles, slices, texts, panics, messages.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use saltus_export::instance::{Entry, Saved};
use saltus_export::{Instance, Severity};

/// The status codes that both versions have in common.
pub type Status = c_int;
pub const OK: Status = 0;
pub const WARNING: Status = 1;
pub const DISCARD: Status = 2;
pub const ERROR: Status = 3;
pub const FATAL: Status = 4;

pub fn status_of(severity: Severity) -> Status {
    match severity {
        Severity::Ok => OK,
        Severity::Warning => WARNING,
        Severity::Discard => DISCARD,
        Severity::Error => ERROR,
        Severity::Fatal => FATAL,
    }
}

/// Who gets the messages of an instance.
pub trait Logger {
    fn log(&self, status: Status, category: &CStr, message: &CStr);
}

/// The caller gave no pointer for a state.
const NO_PLACE: &str = "there is no place for it";

/// C functions, each with the function of this library that it is: both versions call the same ones.
macro_rules! exported {
    ($($name:ident($($argument:ident: $type:ty),*) = $function:path;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: *mut c_void, $($argument: $type),*) -> $crate::Status {
            // SAFETY: the contract is that of the module.
            unsafe { $function(c, $($argument),*) }
        }
    )*};
}
pub(crate) use exported;

/// What a handle points to.
pub struct Component {
    pub instance: Instance,
    logger: Box<dyn Logger>,
    /// Are messages below errors wanted?
    pub is_logging: bool,
    /// Categories that are wanted; empty: all.
    pub categories: Vec<String>,
    /// A panic has left the instance in an unknown state.
    is_broken: bool,
    /// Texts that the caller may read until the next call that gives texts.
    pub texts: Vec<CString>,
    /// Numbers on their way.
    pub numbers: Vec<f64>,
    /// The last step, for those who ask how it ended.
    pub stepped: Option<saltus_export::instance::Stepped>,
    pub may_return_early: bool,
    pub intermediate: Option<crate::fmi3::Intermediate>,
    /// Scheduled execution: output clocks have ticked.
    pub clock_update: Option<crate::clocks3::ClockCallback>,
    /// Scheduled execution: calls must not be interrupted by calls for other partitions.
    pub preemption: Option<(Preemption, Preemption)>,
}

/// Locks or unlocks preemption.
pub type Preemption = unsafe extern "C" fn();

impl Component {
    pub fn new(instance: Instance, logger: Box<dyn Logger>, is_logging: bool) -> Component {
        Component {
            instance,
            logger,
            is_logging,
            categories: Vec::new(),
            is_broken: false,
            texts: Vec::new(),
            numbers: Vec::new(),
            stepped: None,
            may_return_early: false,
            intermediate: None,
            clock_update: None,
            preemption: None,
        }
    }

    fn tell(&mut self) {
        for Entry { severity, category, message } in self.instance.take_log() {
            let is_asked_for = self.categories.is_empty() || self.categories.iter().any(|c| c == category);
            // Why a call failed is told in any case.
            if severity >= Severity::Error || self.is_logging && is_asked_for {
                self.logger.log(status_of(severity), &c_text(category), &c_text(&message));
            }
        }
    }
}

/// A text for C; what follows a zero byte is left out.
pub fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Calls `work` with the component; its messages go to the logger.
///
/// # Safety
/// `handle` is null or came from an instantiation of this library, has not been freed, and nobody else uses it now.
pub unsafe fn with(handle: *mut c_void, work: impl FnOnce(&mut Component) -> Result<(), Severity>) -> Status {
    // SAFETY: by the contract of this function. Locks are set once and for all before the handle is given away.
    let preemption = unsafe { handle.cast::<Component>().as_ref() }.and_then(|component| component.preemption);
    let Some((lock, unlock)) = preemption else {
        // SAFETY: by the contract of this function.
        return unsafe { with_locked(handle, work) };
    };
    // SAFETY: these are functions of the importer.
    unsafe { lock() };
    // SAFETY: by the contract of this function; nobody else gets in until the lock is gone.
    let status = unsafe { with_locked(handle, work) };
    // SAFETY: as above.
    unsafe { unlock() };
    status
}

/// # Safety
/// As for [`with`].
unsafe fn with_locked(handle: *mut c_void, work: impl FnOnce(&mut Component) -> Result<(), Severity>) -> Status {
    // SAFETY: by the contract of this function.
    let Some(component) = (unsafe { handle.cast::<Component>().as_mut() }) else { return ERROR };
    if component.is_broken {
        return FATAL;
    }
    let done = catch_unwind(AssertUnwindSafe(|| work(component)));
    let status = match done {
        Ok(Ok(())) => OK,
        Ok(Err(severity)) => status_of(severity),
        Err(payload) => {
            component.is_broken = true;
            let text = c_text(&format!("internal error: {}", panic_text(payload.as_ref())));
            component.logger.log(FATAL, &c_text("logStatusError"), &text);
            return FATAL;
        }
    };
    component.tell();
    status
}

/// A new component as a handle, or null with the reason in the log.
pub fn instantiate(
    logger: Box<dyn Logger>,
    is_logging: bool,
    make: impl FnOnce() -> Result<Instance, String>,
) -> *mut c_void {
    let made = catch_unwind(AssertUnwindSafe(make));
    let made = made.unwrap_or_else(|payload| Err(format!("internal error: {}", panic_text(payload.as_ref()))));
    match made {
        Ok(instance) => Box::into_raw(Box::new(Component::new(instance, logger, is_logging))).cast(),
        Err(why) => {
            logger.log(ERROR, &c_text("logStatusError"), &c_text(&why));
            std::ptr::null_mut()
        }
    }
}

/// Ends an instance.
///
/// # Safety
/// As for [`with`]; the handle is not used afterwards.
pub unsafe fn free(handle: *mut c_void) {
    if handle.is_null() {
        return;
    }
    // SAFETY: the handle came from `instantiate` and is given back for good.
    let component = unsafe { Box::from_raw(handle.cast::<Component>()) };
    // What fails in the end of an instance concerns nobody any more.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(component)));
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// An array of the caller to read from.
///
/// # Safety
/// `start` is null, or points to `n` initialised values that stay unchanged while the slice is used.
pub unsafe fn input<'a, T>(start: *const T, n: usize) -> &'a [T] {
    // SAFETY: by the contract of this function.
    if start.is_null() || n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, n) } }
}

/// An array of the caller to write to.
///
/// # Safety
/// `start` is null, or points to `n` values that nobody else uses while the slice is used.
pub unsafe fn output<'a, T>(start: *mut T, n: usize) -> &'a mut [T] {
    // SAFETY: by the contract of this function.
    if start.is_null() || n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(start, n) } }
}

/// Writes a result for the caller, who may not want it.
///
/// # Safety
/// `place` is null or may be written to.
pub unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: by the contract of this function.
        unsafe { place.write(value) };
    }
}

/// A text of the caller; empty if there is none.
///
/// # Safety
/// `text` is null or points to a text that ends with a zero byte.
pub unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by the contract of this function.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The directory that a file URI, or a plain path, names.
pub fn directory(location: &str) -> PathBuf {
    let Some(rest) = location.strip_prefix("file:") else { return PathBuf::from(location) };
    let path = match rest.strip_prefix("//") {
        // Between the slashes stands a host, which is this one.
        Some(rest) => rest.find('/').map_or(rest, |slash| &rest[slash..]),
        None => rest,
    };
    let path = decoded(path);
    let is_drive = path.as_bytes().get(2) == Some(&b':') && path.starts_with('/');
    PathBuf::from(if is_drive { &path[1..] } else { &path })
}

/// Without `%20` and the like.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let digits = bytes.get(i + 1..i + 3).and_then(|d| std::str::from_utf8(d).ok());
        match digits.and_then(|d| u8::from_str_radix(d, 16).ok()).filter(|_| bytes[i] == b'%') {
            Some(byte) => {
                plain.push(byte);
                i += 3;
            }
            None => {
                plain.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

// States of instances.

/// Gives the caller the present state; a state that is there already is replaced.
///
/// # Safety
/// As for [`with`]; `place` points to null or to a state of this library.
pub unsafe fn save(handle: *mut c_void, place: *mut *mut c_void) -> Status {
    let work = |component: &mut Component| {
        let saved = Box::new(component.instance.save()?);
        // SAFETY: by the contract of this function.
        unsafe {
            if place.is_null() {
                return Err(component.instance.refuse_state(NO_PLACE));
            }
            if !(*place).is_null() {
                drop(Box::from_raw((*place).cast::<Saved>()));
            }
            *place = Box::into_raw(saved).cast();
        }
        Ok(())
    };
    // SAFETY: by the contract of this function.
    unsafe { with(handle, work) }
}

/// # Safety
/// As for [`with`]; `state` is null or a state of this library.
pub unsafe fn restore(handle: *mut c_void, state: *mut c_void) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        with(handle, |component| match state.cast::<Saved>().as_ref() {
            Some(saved) => component.instance.restore(saved),
            None => Err(component.instance.refuse_state("there is none")),
        })
    }
}

/// # Safety
/// As for [`save`].
pub unsafe fn free_state(handle: *mut c_void, place: *mut *mut c_void) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        with(handle, |_| {
            if !place.is_null() && !(*place).is_null() {
                drop(Box::from_raw((*place).cast::<Saved>()));
                *place = std::ptr::null_mut();
            }
            Ok(())
        })
    }
}

fn bytes_of(component: &mut Component, state: Option<&Saved>) -> Result<Vec<u8>, Severity> {
    let bytes = state.map_or_else(|| Err("there is none".to_owned()), Saved::to_bytes);
    bytes.map_err(|why| component.instance.refuse_state(&why))
}

/// # Safety
/// As for [`restore`]; `size` may be written to.
pub unsafe fn serialised_size(handle: *mut c_void, state: *mut c_void, size: *mut usize) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        with(handle, |component| {
            let bytes = bytes_of(component, state.cast::<Saved>().as_ref())?;
            put(size, bytes.len());
            Ok(())
        })
    }
}

/// # Safety
/// As for [`restore`]; `bytes` points to `size` bytes.
pub unsafe fn serialise(handle: *mut c_void, state: *mut c_void, bytes: *mut u8, size: usize) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        with(handle, |component| {
            let written = bytes_of(component, state.cast::<Saved>().as_ref())?;
            match output(bytes, size).get_mut(..written.len()) {
                Some(place) => place.copy_from_slice(&written),
                None => return Err(component.instance.refuse_state("the buffer is too short")),
            }
            Ok(())
        })
    }
}

/// # Safety
/// As for [`save`]; `bytes` points to `size` bytes.
pub unsafe fn deserialise(handle: *mut c_void, bytes: *const u8, size: usize, place: *mut *mut c_void) -> Status {
    // SAFETY: by the contract of this function.
    unsafe {
        with(handle, |component| {
            let saved = Saved::from_bytes(input(bytes, size)).map_err(|why| component.instance.refuse_state(&why))?;
            if place.is_null() {
                return Err(component.instance.refuse_state(NO_PLACE));
            }
            *place = Box::into_raw(Box::new(saved)).cast();
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_paths() {
        let path = |text: &str| directory(text).to_string_lossy().into_owned();
        assert_eq!(path("file:///data/a%20b/resources"), "/data/a b/resources");
        assert_eq!(path("file:/data/x"), "/data/x");
        assert_eq!(path("file://localhost/data/x"), "/data/x");
        assert_eq!(path("file:///C:/x"), "C:/x");
        assert_eq!(path("/data/100%/x"), "/data/100%/x");
    }
}
