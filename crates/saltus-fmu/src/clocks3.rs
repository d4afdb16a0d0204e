//! Clocks of FMI 3.0, and scheduled execution.
//!
//! # Safety
//! As in [`fmi2`](crate::fmi2). In scheduled execution calls for other partitions may interrupt a call, except between the lock and the
//! unlock of the importer, which [`with`] uses.
#![allow(non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int};
use std::path::Path;

use saltus_export::{Instance, Kind};

use crate::border::{self, Component, Preemption, Status, input, output, text, with};
use crate::fmi3::{CallbackLogger, Environment, Handle, LogMessage, Reference};

type ClockUpdate = Option<unsafe extern "C" fn(Environment)>;

/// Whom to tell that output clocks have ticked.
pub struct ClockCallback {
    function: unsafe extern "C" fn(Environment),
    environment: Environment,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    _name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    is_logging: bool,
    environment: Environment,
    function: LogMessage,
    clock_update: ClockUpdate,
    lock: Option<Preemption>,
    unlock: Option<Preemption>,
) -> Handle {
    // SAFETY: see the module.
    let (token, resources) = unsafe { (text(token), text(resources)) };
    let logger = Box::new(CallbackLogger { function, environment });
    let make = || Instance::new(Path::new(&resources), &token, Kind::ScheduledExecution);
    let handle = border::instantiate(logger, is_logging, make);
    // SAFETY: the handle is new, or null.
    if let Some(component) = unsafe { handle.cast::<Component>().as_mut() } {
        component.clock_update = clock_update.map(|function| ClockCallback { function, environment });
        component.preemption = lock.zip(unlock);
    }
    handle
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetClock(c: Handle, references: *const Reference, n: usize, values: *mut bool) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            for (&reference, value) in input(references, n).iter().zip(output(values, n)) {
                *value = component.instance.is_ticking(reference)?;
            }
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetClock(
    c: Handle,
    references: *const Reference,
    n: usize,
    values: *const bool,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            for (&reference, &value) in input(references, n).iter().zip(input(values, n)) {
                component.instance.set_clock(reference, value)?;
            }
            Ok(())
        })
    }
}

/// fmi3IntervalUnchanged: what was known is known still. Who asks for the first time gets the value all the same.
const INTERVAL_UNCHANGED: c_int = 1;
/// fmi3IntervalChanged
const INTERVAL_CHANGED: c_int = 2;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetIntervalDecimal(
    c: Handle,
    references: *const Reference,
    n: usize,
    intervals: *mut f64,
    qualifiers: *mut c_int,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let places = output(intervals, n).iter_mut().zip(output(qualifiers, n));
            for (&reference, (interval, qualifier)) in input(references, n).iter().zip(places) {
                let (seconds, is_new) = component.instance.interval(reference)?;
                *interval = seconds;
                *qualifier = if is_new { INTERVAL_CHANGED } else { INTERVAL_UNCHANGED };
            }
            Ok(())
        })
    }
}

/// Periodic clocks tick at the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetShiftDecimal(
    c: Handle,
    references: *const Reference,
    n: usize,
    shifts: *mut f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            for (&reference, shift) in input(references, n).iter().zip(output(shifts, n)) {
                component.instance.check_periodic(reference)?;
                *shift = 0.0;
            }
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ActivateModelPartition(c: Handle, clock: Reference, time: f64) -> Status {
    let mut callback = None;
    // SAFETY: see the module.
    let status = unsafe {
        with(c, |component| {
            if component.instance.activate(clock, time)? {
                callback = component.clock_update.as_ref().map(|update| (update.function, update.environment));
            }
            Ok(())
        })
    };
    if let Some((function, environment)) = callback {
        // SAFETY: the function and its environment are those of the importer, who may read output clocks through its handle.
        unsafe { function(environment) };
    }
    if status <= border::WARNING {
        // SAFETY: see the module.
        unsafe {
            with(c, |component| {
                component.instance.end_activation();
                Ok(())
            })
        };
    }
    status
}
