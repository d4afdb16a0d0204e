//! The functions of FMI 2.0.
//!
//! # Safety
//! All functions expect what the standard says about their arguments: handles of this library that are used by one thread at a time,
//! arrays of the lengths that are given with them, texts that end with a zero byte.
#![allow(non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use saltus_export::{Instance, Kind, Severity};

use crate::border::{
    self, Component, DISCARD, ERROR, Logger, Status, c_text, directory, exported, input, output, put, text, with,
};

type Handle = *mut c_void;
type Boolean = c_int;
type Reference = u32;

type LogFunction = unsafe extern "C" fn(*mut c_void, *const c_char, Status, *const c_char, *const c_char, ...);

/// `fmi2CallbackFunctions`
#[repr(C)]
pub struct CallbackFunctions {
    pub logger: Option<LogFunction>,
    pub allocateMemory: Option<unsafe extern "C" fn(usize, usize) -> *mut c_void>,
    pub freeMemory: Option<unsafe extern "C" fn(*mut c_void)>,
    pub stepFinished: Option<unsafe extern "C" fn(*mut c_void, Status)>,
    pub componentEnvironment: *mut c_void,
}

/// `fmi2EventInfo`
#[repr(C)]
pub struct EventInfo {
    pub newDiscreteStatesNeeded: Boolean,
    pub terminateSimulation: Boolean,
    pub nominalsOfContinuousStatesChanged: Boolean,
    pub valuesOfContinuousStatesChanged: Boolean,
    pub nextEventTimeDefined: Boolean,
    pub nextEventTime: f64,
}

struct CallbackLogger {
    function: Option<LogFunction>,
    environment: *mut c_void,
    name: CString,
}

impl Logger for CallbackLogger {
    fn log(&self, status: Status, category: &CStr, message: &CStr) {
        if let Some(function) = self.function {
            // SAFETY: the function and its environment are those of the importer; the texts live through the call. The message
            // is an argument, because the logger takes its text as a format.
            unsafe {
                function(
                    self.environment,
                    self.name.as_ptr(),
                    status,
                    category.as_ptr(),
                    c"%s".as_ptr(),
                    message.as_ptr(),
                );
            }
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    c: Handle,
    on: Boolean,
    n: usize,
    categories: *const *const c_char,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            component.is_logging = on != 0;
            component.categories = input(categories, n).iter().map(|&category| text(category)).collect();
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    name: *const c_char,
    kind: c_int,
    guid: *const c_char,
    location: *const c_char,
    functions: *const CallbackFunctions,
    _visible: Boolean,
    is_logging: Boolean,
) -> Handle {
    // SAFETY: see the module.
    let (name, guid, location, callbacks) = unsafe { (text(name), text(guid), text(location), functions.as_ref()) };
    let (function, environment) =
        callbacks.map_or((None, std::ptr::null_mut()), |f| (f.logger, f.componentEnvironment));
    let logger = Box::new(CallbackLogger { function, environment, name: c_text(&name) });
    border::instantiate(logger, is_logging != 0, || {
        let kind = match kind {
            0 => Kind::ModelExchange,
            1 => Kind::CoSimulation,
            other => return Err(format!("{other} is not a type of FMU")),
        };
        Instance::new(&directory(&location), &guid, kind)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(c: Handle) {
    // SAFETY: see the module.
    unsafe { border::free(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetupExperiment(
    c: Handle,
    has_tolerance: Boolean,
    tolerance: f64,
    start: f64,
    has_stop: Boolean,
    stop: f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let stop = (has_stop != 0).then_some(stop);
            component.instance.set_times(start, stop, (has_tolerance != 0).then_some(tolerance))
        })
    }
}

/// Functions of a handle alone.
macro_rules! simple {
    ($($name:ident => $method:ident),* $(,)?) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: Handle) -> Status {
            // SAFETY: see the module.
            unsafe { with(c, |component| component.instance.$method()) }
        }
    )*};
}

simple! {
    fmi2EnterInitializationMode => enter_initialisation,
    fmi2ExitInitializationMode => exit_initialisation,
    fmi2Terminate => terminate,
    fmi2EnterEventMode => enter_event_mode,
    fmi2EnterContinuousTimeMode => enter_continuous_time,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(c: Handle) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            component.instance.reset();
            Ok(())
        })
    }
}

/// Reads scalars, each as `make` says.
unsafe fn get<T>(
    c: Handle,
    references: *const Reference,
    n: usize,
    values: *mut T,
    make: fn(f64) -> Option<T>,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let (references, values) = (input(references, n), output(values, n));
            let Component { instance, numbers, .. } = component;
            for (&reference, value) in references.iter().zip(values) {
                numbers.clear();
                instance.get(reference, numbers)?;
                let number = numbers.first().copied().unwrap_or(f64::NAN);
                *value = make(number).ok_or_else(|| instance.cannot_hold(reference, number))?;
            }
            Ok(())
        })
    }
}

unsafe fn set<T: Copy>(
    c: Handle,
    references: *const Reference,
    n: usize,
    values: *const T,
    make: fn(T) -> f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            for (&reference, &value) in input(references, n).iter().zip(input(values, n)) {
                component.instance.set(reference, &[make(value)])?;
            }
            Ok(())
        })
    }
}

/// A whole number, if it is one that has 32 bits.
fn integer(x: f64) -> Option<c_int> {
    (x >= f64::from(c_int::MIN) && x <= f64::from(c_int::MAX)).then_some(x as c_int)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetReal(c: Handle, vr: *const Reference, n: usize, value: *mut f64) -> Status {
    // SAFETY: see the module.
    unsafe { get(c, vr, n, value, Some) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetInteger(c: Handle, vr: *const Reference, n: usize, value: *mut c_int) -> Status {
    // SAFETY: see the module.
    unsafe { get(c, vr, n, value, integer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBoolean(c: Handle, vr: *const Reference, n: usize, value: *mut Boolean) -> Status {
    // SAFETY: see the module.
    unsafe { get(c, vr, n, value, |x| Some(Boolean::from(x != 0.0))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetString(c: Handle, vr: *const Reference, n: usize, value: *mut *const c_char) -> Status {
    // SAFETY: see the module.
    unsafe { get_texts(c, vr, value, n) }
}

/// Reads texts, which live until texts are read again.
pub(crate) unsafe fn get_texts(c: Handle, vr: *const Reference, value: *mut *const c_char, n: usize) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let Component { instance, texts, .. } = component;
            texts.clear();
            for &reference in input(vr, n) {
                texts.push(c_text(&instance.text(reference)?));
            }
            output(value, n).iter_mut().zip(texts.iter()).for_each(|(place, text)| *place = text.as_ptr());
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetReal(c: Handle, vr: *const Reference, n: usize, value: *const f64) -> Status {
    // SAFETY: see the module.
    unsafe { set(c, vr, n, value, |x| x) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetInteger(c: Handle, vr: *const Reference, n: usize, value: *const c_int) -> Status {
    // SAFETY: see the module.
    unsafe { set(c, vr, n, value, f64::from) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetBoolean(c: Handle, vr: *const Reference, n: usize, value: *const Boolean) -> Status {
    // SAFETY: see the module.
    unsafe { set(c, vr, n, value, |x| f64::from(u8::from(x != 0))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetString(
    c: Handle,
    _vr: *const Reference,
    n: usize,
    _value: *const *const c_char,
) -> Status {
    // SAFETY: see the module.
    unsafe { with(c, |component| if n == 0 { Ok(()) } else { Err(component.instance.refuse_text()) }) }
}

exported! {
    fmi2GetFMUstate(state: *mut *mut c_void) = border::save;
    fmi2SetFMUstate(state: *mut c_void) = border::restore;
    fmi2FreeFMUstate(state: *mut *mut c_void) = border::free_state;
    fmi2SerializedFMUstateSize(state: *mut c_void, size: *mut usize) = border::serialised_size;
    fmi2SerializeFMUstate(state: *mut c_void, bytes: *mut u8, size: usize) = border::serialise;
    fmi2DeSerializeFMUstate(bytes: *const u8, size: usize, state: *mut *mut c_void) = border::deserialise;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: Handle,
    unknowns: *const Reference,
    n_unknowns: usize,
    knowns: *const Reference,
    n_knowns: usize,
    seed: *const f64,
    sensitivity: *mut f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let (unknowns, knowns) = (input(unknowns, n_unknowns), input(knowns, n_knowns));
            let found = component.instance.directional(unknowns, knowns, input(seed, n_knowns))?;
            output(sensitivity, n_unknowns).iter_mut().zip(found).for_each(|(place, value)| *place = value);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2NewDiscreteStates(c: Handle, info: *mut EventInfo) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let update = component.instance.update_discrete_states()?;
            let event = EventInfo {
                newDiscreteStatesNeeded: 0,
                terminateSimulation: Boolean::from(update.terminated.is_some()),
                nominalsOfContinuousStatesChanged: 0,
                valuesOfContinuousStatesChanged: Boolean::from(update.states_changed),
                nextEventTimeDefined: Boolean::from(update.next_event.is_some()),
                nextEventTime: update.next_event.unwrap_or(0.0),
            };
            put(info, event);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CompletedIntegratorStep(
    c: Handle,
    _is_final: Boolean,
    enter_event_mode: *mut Boolean,
    terminate: *mut Boolean,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let needs_event = component.instance.completed_step()?;
            put(enter_event_mode, Boolean::from(needs_event));
            put(terminate, 0);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetTime(c: Handle, time: f64) -> Status {
    // SAFETY: see the module.
    unsafe { with(c, |component| component.instance.set_time(time)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetContinuousStates(c: Handle, x: *const f64, n: usize) -> Status {
    // SAFETY: see the module.
    unsafe { with(c, |component| component.instance.set_states(input(x, n))) }
}

/// Functions that fill an array.
macro_rules! vectors {
    ($($name:ident => $method:ident),* $(,)?) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: Handle, values: *mut f64, n: usize) -> Status {
            // SAFETY: see the module.
            unsafe { with(c, |component| component.instance.$method(output(values, n))) }
        }
    )*};
}

vectors! {
    fmi2GetDerivatives => derivatives,
    fmi2GetEventIndicators => indicators,
    fmi2GetContinuousStates => states,
    fmi2GetNominalsOfContinuousStates => nominals,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    c: Handle,
    vr: *const Reference,
    n: usize,
    order: *const c_int,
    value: *const f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let (references, orders, values) = (input(vr, n), input(order, n), input(value, n));
            for ((&reference, &order), &value) in references.iter().zip(orders).zip(values) {
                match order {
                    1 => component.instance.set_input_slope(reference, value)?,
                    _ => return Err(component.instance.refuse_order(order)),
                }
            }
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    c: Handle,
    vr: *const Reference,
    n: usize,
    order: *const c_int,
    value: *mut f64,
) -> Status {
    // SAFETY: see the module.
    unsafe { output_derivatives(c, vr, n, order, value) }
}

pub(crate) unsafe fn output_derivatives(
    c: Handle,
    vr: *const Reference,
    n: usize,
    order: *const c_int,
    value: *mut f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let (references, orders, values) = (input(vr, n), input(order, n), output(value, n));
            for ((&reference, &order), value) in references.iter().zip(orders).zip(values) {
                match order {
                    1 => *value = component.instance.output_slope(reference)?,
                    _ => return Err(component.instance.refuse_order(order)),
                }
            }
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(c: Handle, from: f64, size: f64, _is_final: Boolean) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let stepped = component.instance.do_step(from, size, false, &mut |_, _| false)?;
            let is_terminated = stepped.terminated.is_some();
            component.stepped = Some(stepped);
            // The model has ended the simulation: the step was not completed.
            if is_terminated { Err(Severity::Discard) } else { Ok(()) }
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CancelStep(_c: Handle) -> Status {
    // Steps are over when they return.
    ERROR
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStatus(_c: Handle, _kind: c_int, _value: *mut Status) -> Status {
    DISCARD
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(c: Handle, kind: c_int, value: *mut f64) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            // fmi2LastSuccessfulTime
            if kind != 2 {
                return Err(Severity::Discard);
            }
            put(value, component.instance.time());
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetIntegerStatus(_c: Handle, _kind: c_int, _value: *mut c_int) -> Status {
    DISCARD
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(c: Handle, kind: c_int, value: *mut Boolean) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            // fmi2Terminated
            if kind != 3 {
                return Err(Severity::Discard);
            }
            let is_terminated = component.stepped.as_ref().is_some_and(|s| s.terminated.is_some());
            put(value, Boolean::from(is_terminated));
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStringStatus(_c: Handle, _kind: c_int, _value: *mut *const c_char) -> Status {
    DISCARD
}
