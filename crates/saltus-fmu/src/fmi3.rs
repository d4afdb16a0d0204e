//! The functions of FMI 3.0 for model exchange and co-simulation; those for clocks are in [`clocks3`](crate::clocks3). Binary variables, configuration mode and clocks whose
//! intervals are fractions or set by the importer are not part of what is exported; their functions are there and answer with `Error`.
//!
//! # Safety
//! As in [`fmi2`](crate::fmi2).
#![allow(non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

use saltus_export::instance::Intermediate as Point;
use saltus_export::{Instance, Kind, Severity};

use crate::border::{self, Component, Logger, Status, exported, input, output, put, text, with};
use crate::fmi2;

pub(crate) type Handle = *mut c_void;
pub(crate) type Reference = u32;
pub(crate) type Environment = *mut c_void;
pub(crate) type LogMessage = Option<unsafe extern "C" fn(Environment, Status, *const c_char, *const c_char)>;
type IntermediateUpdate = Option<unsafe extern "C" fn(Environment, f64, bool, bool, bool, bool, *mut bool, *mut f64)>;

/// Whom to show the ends of internal steps.
pub struct Intermediate {
    function: unsafe extern "C" fn(Environment, f64, bool, bool, bool, bool, *mut bool, *mut f64),
    environment: Environment,
}

pub(crate) struct CallbackLogger {
    pub function: LogMessage,
    pub environment: Environment,
}

impl Logger for CallbackLogger {
    fn log(&self, status: Status, category: &CStr, message: &CStr) {
        if let Some(function) = self.function {
            // SAFETY: the function and its environment are those of the importer; the texts live through the call.
            unsafe { function(self.environment, status, category.as_ptr(), message.as_ptr()) };
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(
    c: Handle,
    on: bool,
    n: usize,
    categories: *const *const c_char,
) -> Status {
    // SAFETY: see the module.
    unsafe { fmi2::fmi2SetDebugLogging(c, c_int::from(on), n, categories) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    _name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    is_logging: bool,
    environment: Environment,
    function: LogMessage,
) -> Handle {
    // SAFETY: see the module.
    let (token, resources) = unsafe { (text(token), text(resources)) };
    let logger = Box::new(CallbackLogger { function, environment });
    border::instantiate(logger, is_logging, || Instance::new(Path::new(&resources), &token, Kind::ModelExchange))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    _name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    is_logging: bool,
    uses_event_mode: bool,
    may_return_early: bool,
    _intermediate_variables: *const Reference,
    _n_intermediate_variables: usize,
    environment: Environment,
    function: LogMessage,
    intermediate: IntermediateUpdate,
) -> Handle {
    // SAFETY: see the module.
    let (token, resources) = unsafe { (text(token), text(resources)) };
    let logger = Box::new(CallbackLogger { function, environment });
    let handle = border::instantiate(logger, is_logging, || {
        let mut instance = Instance::new(Path::new(&resources), &token, Kind::CoSimulation)?;
        if uses_event_mode {
            instance.use_event_mode();
        } else if instance.has_input_clocks() {
            return Err("input clocks tick in event mode: the FMU cannot be used without it".to_owned());
        }
        Ok(instance)
    });
    // SAFETY: the handle is new, or null.
    if let Some(component) = unsafe { handle.cast::<Component>().as_mut() } {
        component.may_return_early = may_return_early;
        component.intermediate = intermediate.map(|function| Intermediate { function, environment });
    }
    handle
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(c: Handle) {
    // SAFETY: see the module.
    unsafe { border::free(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    c: Handle,
    has_tolerance: bool,
    tolerance: f64,
    start: f64,
    has_stop: bool,
    stop: f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let instance = &mut component.instance;
            instance.set_times(start, has_stop.then_some(stop), has_tolerance.then_some(tolerance))?;
            instance.enter_initialisation()
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
    fmi3ExitInitializationMode => exit_initialisation,
    fmi3EnterEventMode => enter_event_mode,
    fmi3Terminate => terminate,
    fmi3EnterContinuousTimeMode => enter_continuous_time,
    fmi3EnterStepMode => enter_step_mode,
}

/// Reads variables, arrays in row-major order, one after the other.
unsafe fn get<T>(
    c: Handle,
    references: *const Reference,
    n: usize,
    values: *mut T,
    n_values: usize,
    make: fn(f64) -> Option<T>,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let mut places = output(values, n_values).iter_mut();
            let Component { instance, numbers, .. } = component;
            for &reference in input(references, n) {
                numbers.clear();
                instance.get(reference, numbers)?;
                for &number in numbers.iter() {
                    let place = places.next().ok_or_else(|| instance.refuse_count(n_values))?;
                    *place = make(number).ok_or_else(|| instance.cannot_hold(reference, number))?;
                }
            }
            if places.next().is_some() { Err(instance.refuse_count(n_values)) } else { Ok(()) }
        })
    }
}

unsafe fn set<T: Copy>(
    c: Handle,
    references: *const Reference,
    n: usize,
    values: *const T,
    n_values: usize,
    make: fn(T) -> f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let Component { instance, numbers, .. } = component;
            numbers.clear();
            numbers.extend(input(values, n_values).iter().map(|&value| make(value)));
            let mut at = 0;
            for &reference in input(references, n) {
                at += instance.set(reference, numbers.get(at..).unwrap_or_default())?;
            }
            if at == n_values { Ok(()) } else { Err(instance.refuse_count(n_values)) }
        })
    }
}

/// Reading and writing variables of one type.
macro_rules! typed {
    ($($get:ident, $set:ident, $type:ty, $make:expr, $number:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(
            c: Handle,
            references: *const Reference,
            n: usize,
            values: *mut $type,
            n_values: usize,
        ) -> Status {
            // SAFETY: see the module.
            unsafe { get(c, references, n, values, n_values, $make) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(
            c: Handle,
            references: *const Reference,
            n: usize,
            values: *const $type,
            n_values: usize,
        ) -> Status {
            // SAFETY: see the module.
            unsafe { set(c, references, n, values, n_values, $number) }
        }
    )*};
}

/// A whole number in a smaller type, if it fits.
macro_rules! whole {
    ($type:ty) => {
        |x| (x >= <$type>::MIN as f64 && x <= <$type>::MAX as f64).then_some(x as $type)
    };
}

typed! {
    fmi3GetFloat32, fmi3SetFloat32, f32, |x| Some(x as f32), f64::from;
    fmi3GetFloat64, fmi3SetFloat64, f64, Some, |x| x;
    fmi3GetInt8, fmi3SetInt8, i8, whole!(i8), f64::from;
    fmi3GetUInt8, fmi3SetUInt8, u8, whole!(u8), f64::from;
    fmi3GetInt16, fmi3SetInt16, i16, whole!(i16), f64::from;
    fmi3GetUInt16, fmi3SetUInt16, u16, whole!(u16), f64::from;
    fmi3GetInt32, fmi3SetInt32, i32, whole!(i32), f64::from;
    fmi3GetUInt32, fmi3SetUInt32, u32, whole!(u32), f64::from;
    fmi3GetInt64, fmi3SetInt64, i64, whole!(i64), |x| x as f64;
    fmi3GetUInt64, fmi3SetUInt64, u64, whole!(u64), |x| x as f64;
    fmi3GetBoolean, fmi3SetBoolean, bool, |x| Some(x != 0.0), |x| f64::from(u8::from(x));
}

/// There are not as many values as variables.
unsafe fn refuse_count(c: Handle, n_values: usize) -> Status {
    // SAFETY: see the module.
    unsafe { with(c, |component| Err(component.instance.refuse_count(n_values))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetString(
    c: Handle,
    references: *const Reference,
    n: usize,
    values: *mut *const c_char,
    n_values: usize,
) -> Status {
    // SAFETY: see the module. All texts are scalars.
    unsafe { if n == n_values { fmi2::get_texts(c, references, values, n) } else { refuse_count(c, n_values) } }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetString(
    c: Handle,
    references: *const Reference,
    n: usize,
    values: *const *const c_char,
    _n_values: usize,
) -> Status {
    // SAFETY: see the module.
    unsafe { fmi2::fmi2SetString(c, references, n, values) }
}

exported! {
    fmi3SetTime(time: f64) = fmi2::fmi2SetTime;
    fmi3Reset() = fmi2::fmi2Reset;
    fmi3GetFMUState(state: *mut *mut c_void) = border::save;
    fmi3SetFMUState(state: *mut c_void) = border::restore;
    fmi3FreeFMUState(state: *mut *mut c_void) = border::free_state;
    fmi3SerializedFMUStateSize(state: *mut c_void, size: *mut usize) = border::serialised_size;
    fmi3SerializeFMUState(state: *mut c_void, bytes: *mut u8, size: usize) = border::serialise;
    fmi3DeserializeFMUState(bytes: *const u8, size: usize, state: *mut *mut c_void) = border::deserialise;
    fmi3SetContinuousStates(x: *const f64, n: usize) = fmi2::fmi2SetContinuousStates;
    fmi3GetContinuousStateDerivatives(values: *mut f64, n: usize) = fmi2::fmi2GetDerivatives;
    fmi3GetEventIndicators(values: *mut f64, n: usize) = fmi2::fmi2GetEventIndicators;
    fmi3GetContinuousStates(values: *mut f64, n: usize) = fmi2::fmi2GetContinuousStates;
    fmi3GetNominalsOfContinuousStates(values: *mut f64, n: usize) = fmi2::fmi2GetNominalsOfContinuousStates;
}

type Differentiate = fn(&mut Instance, &[u32], &[u32], &[f64]) -> Result<Vec<f64>, Severity>;

unsafe fn differentiate(
    c: Handle,
    unknowns: (*const Reference, usize),
    knowns: (*const Reference, usize),
    seed: (*const f64, usize),
    sensitivity: (*mut f64, usize),
    method: Differentiate,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let (unknowns, knowns) = (input(unknowns.0, unknowns.1), input(knowns.0, knowns.1));
            let found = method(&mut component.instance, unknowns, knowns, input(seed.0, seed.1))?;
            if found.len() != sensitivity.1 {
                return Err(component.instance.refuse_count(sensitivity.1));
            }
            output(sensitivity.0, sensitivity.1).copy_from_slice(&found);
            Ok(())
        })
    }
}

/// Directional and adjoint derivatives take the same arguments.
macro_rules! derivatives {
    ($($name:ident => $method:expr),* $(,)?) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            c: Handle,
            unknowns: *const Reference,
            n_unknowns: usize,
            knowns: *const Reference,
            n_knowns: usize,
            seed: *const f64,
            n_seed: usize,
            sensitivity: *mut f64,
            n_sensitivity: usize,
        ) -> Status {
            let (unknowns, knowns) = ((unknowns, n_unknowns), (knowns, n_knowns));
            // SAFETY: see the module.
            unsafe { differentiate(c, unknowns, knowns, (seed, n_seed), (sensitivity, n_sensitivity), $method) }
        }
    )*};
}

derivatives! {
    fmi3GetDirectionalDerivative => Instance::directional,
    fmi3GetAdjointDerivative => Instance::adjoint,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3UpdateDiscreteStates(
    c: Handle,
    needs_update: *mut bool,
    terminate: *mut bool,
    nominals_changed: *mut bool,
    states_changed: *mut bool,
    has_next_event: *mut bool,
    next_event: *mut f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let update = component.instance.update_discrete_states()?;
            put(needs_update, false);
            put(terminate, update.terminated.is_some());
            put(nominals_changed, false);
            put(states_changed, update.states_changed);
            put(has_next_event, update.next_event.is_some());
            put(next_event, update.next_event.unwrap_or(0.0));
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EvaluateDiscreteStates(c: Handle) -> Status {
    // SAFETY: see the module. The model says that it does not provide this.
    unsafe { with(c, |component| Err(component.instance.refuse_absent("fmi3EvaluateDiscreteStates"))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3CompletedIntegratorStep(
    c: Handle,
    _is_final: bool,
    enter_event_mode: *mut bool,
    terminate: *mut bool,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let needs_event = component.instance.completed_step()?;
            put(enter_event_mode, needs_event);
            put(terminate, false);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfEventIndicators(c: Handle, n: *mut usize) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            put(n, component.instance.references().n_indicators());
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfContinuousStates(c: Handle, n: *mut usize) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            put(n, component.instance.n_states());
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    c: Handle,
    vr: *const Reference,
    n: usize,
    order: *const i32,
    values: *mut f64,
    n_values: usize,
) -> Status {
    // SAFETY: see the module. All of them are scalars.
    unsafe { if n == n_values { fmi2::output_derivatives(c, vr, n, order, values) } else { refuse_count(c, n_values) } }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    c: Handle,
    from: f64,
    size: f64,
    _is_final: bool,
    needs_event: *mut bool,
    terminate: *mut bool,
    is_early: *mut bool,
    last_time: *mut f64,
) -> Status {
    // SAFETY: see the module.
    unsafe {
        with(c, |component| {
            let handle: *mut Component = component;
            let (may_return_early, watch) = ((*handle).may_return_early, (*handle).intermediate.as_ref());
            let mut look = |instance: &mut Instance, point: Point| watch.is_some_and(|w| w.show(instance, point));
            let stepped = (*handle).instance.do_step(from, size, may_return_early, &mut look)?;
            put(needs_event, stepped.needs_event);
            put(terminate, stepped.terminated.is_some());
            put(is_early, stepped.is_early);
            put(last_time, stepped.time);
            component.stepped = Some(stepped);
            Ok(())
        })
    }
}

impl Intermediate {
    /// Shows the end of an internal step; true if the importer wants to stop there. During the call the importer may read variables
    /// through the handle it has.
    fn show(&self, _instance: &mut Instance, point: Point) -> bool {
        let (mut wants_to_stop, mut time) = (false, point.time);
        // SAFETY: the function and its environment are those of the importer.
        unsafe {
            let (stop, at) = (&mut wants_to_stop, &mut time);
            (self.function)(self.environment, point.time, false, true, true, point.can_return, stop, at);
        }
        wants_to_stop && point.can_return
    }
}

/// What is not part of the exported interfaces.
macro_rules! absent {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: Handle, $($argument: $type),*) -> Status {
            $(let _ = $argument;)*
            // SAFETY: see the module.
            unsafe { with(c, |component| Err(component.instance.refuse_absent(stringify!($name)))) }
        }
    )*};
}

absent! {
    fmi3GetBinary(vr: *const Reference, n: usize, sizes: *mut usize, values: *mut *const u8, n_values: usize);
    fmi3SetBinary(vr: *const Reference, n: usize, sizes: *const usize, values: *const *const u8, n_values: usize);
    fmi3GetNumberOfVariableDependencies(vr: Reference, n: *mut usize);
    fmi3GetVariableDependencies(vr: Reference, a: *mut usize, b: *mut Reference, c2: *mut usize, d: *mut c_int, n: usize);
    fmi3EnterConfigurationMode();
    fmi3ExitConfigurationMode();
    fmi3GetIntervalFraction(vr: *const Reference, n: usize, a: *mut u64, b: *mut u64, qualifiers: *mut c_int);
    fmi3GetShiftFraction(vr: *const Reference, n: usize, a: *mut u64, b: *mut u64);
    fmi3SetIntervalDecimal(vr: *const Reference, n: usize, intervals: *const f64);
    fmi3SetIntervalFraction(vr: *const Reference, n: usize, a: *const u64, b: *const u64);
    fmi3SetShiftDecimal(vr: *const Reference, n: usize, shifts: *const f64);
    fmi3SetShiftFraction(vr: *const Reference, n: usize, a: *const u64, b: *const u64);
}
