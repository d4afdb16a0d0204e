//! The functions of FMI 3.0.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

use libloading::Library;
use saltus_fmi::{Kind, Type};

use crate::ffi::{Component, Functions3, State};
use crate::instance::{Called, Calls, Discrete, Interval, Problem, Progress, Settings, called, text};
use crate::log::{ClockWatch, LogBook, clock_updated, log_3};

pub(crate) struct Calls3 {
    functions: Functions3,
    component: Component,
}

// SAFETY: the standard lets an instance be used by any thread, by one at a time.
unsafe impl Send for Calls3 {}

/// Calls a function of the table and turns its status into a result.
macro_rules! call {
    ($self:ident . $function:ident, $symbol:literal $(, $argument:expr)*) => {
        match $self.functions.$function {
            // SAFETY: the component is alive, pointers lead to slices with the sizes that are passed along.
            Some(function) => called($symbol, unsafe { function($self.component $(, $argument)*) }),
            None => Err(Problem::Missing($symbol)),
        }
    };
}

/// Reads numbers of another type.
macro_rules! get {
    ($self:ident . $function:ident, $symbol:literal, $zero:expr, $reference:expr, $values:expr, $convert:expr) => {{
        let mut own = vec![$zero; $values.len()];
        call!($self.$function, $symbol, &$reference, 1, own.as_mut_ptr(), own.len())?;
        $values.iter_mut().zip(own).for_each(|(value, x)| *value = $convert(x));
        Ok(())
    }};
}

/// Writes numbers of another type.
macro_rules! set {
    ($self:ident . $function:ident, $symbol:literal, $reference:expr, $values:expr, $convert:expr) => {{
        let own: Vec<_> = $values.iter().map(|&x: &f64| $convert(x)).collect();
        call!($self.$function, $symbol, &$reference, 1, own.as_ptr(), own.len())
    }};
}

impl Calls3 {
    /// None if the FMU refuses; an error names the function that is missing.
    pub fn new(
        library: &Library,
        kind: Kind,
        [name, token]: &[CString; 2],
        resources: &Path,
        log: &LogBook,
        settings: Settings,
    ) -> Result<Option<Calls3>, &'static str> {
        let functions = Functions3::load(library);
        let path = text(&format!("{}{}", resources.to_string_lossy(), std::path::MAIN_SEPARATOR));
        let environment: *mut c_void = std::ptr::from_ref(log).cast_mut().cast();
        let (name, token, path) = (name.as_ptr(), token.as_ptr(), path.as_ptr());
        let verbose = settings.verbose;
        // SAFETY: texts end with zero bytes and are alive; the log outlives the component.
        let component = unsafe {
            match kind {
                Kind::ModelExchange => {
                    let instantiate = functions.instantiate_me.ok_or("fmi3InstantiateModelExchange")?;
                    instantiate(name, token, path, false, verbose, environment, log_3)
                }
                Kind::CoSimulation => {
                    let instantiate = functions.instantiate_cs.ok_or("fmi3InstantiateCoSimulation")?;
                    let Settings { event_mode, early_return, .. } = settings;
                    let none = std::ptr::null();
                    instantiate(
                        name,
                        token,
                        path,
                        false,
                        verbose,
                        event_mode,
                        early_return,
                        none,
                        0,
                        environment,
                        log_3,
                        None,
                    )
                }
                Kind::ScheduledExecution => {
                    let instantiate = functions.instantiate_se.ok_or("fmi3InstantiateScheduledExecution")?;
                    instantiate(
                        name,
                        token,
                        path,
                        false,
                        verbose,
                        environment,
                        log_3,
                        clock_updated,
                        preemption,
                        preemption,
                    )
                }
            }
        };
        Ok((!component.is_null()).then_some(Calls3 { functions, component }))
    }
}

/// Partitions are activated one after the other, so that nothing is preempted.
unsafe extern "C" fn preemption() {}

fn flag(x: u8) -> f64 {
    f64::from(u8::from(x != 0))
}

impl Calls for Calls3 {
    fn enter_initialization(&self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Called {
        call!(
            self.enter_initialization,
            "fmi3EnterInitializationMode",
            tolerance.is_some(),
            tolerance.unwrap_or(0.0),
            start,
            stop.is_some(),
            stop.unwrap_or(0.0)
        )
    }

    fn exit_initialization(&self) -> Called {
        call!(self.exit_initialization, "fmi3ExitInitializationMode")
    }

    fn terminate(&self) -> Called {
        call!(self.terminate, "fmi3Terminate")
    }

    fn get(&self, kind: Type, reference: u32, values: &mut [f64]) -> Called {
        match kind {
            Type::Float64 => {
                call!(self.get_float64, "fmi3GetFloat64", &reference, 1, values.as_mut_ptr(), values.len())
            }
            Type::Float32 => get!(self.get_float32, "fmi3GetFloat32", 0f32, reference, values, f64::from),
            Type::Int8 => get!(self.get_int8, "fmi3GetInt8", 0i8, reference, values, f64::from),
            Type::UInt8 => get!(self.get_uint8, "fmi3GetUInt8", 0u8, reference, values, f64::from),
            Type::Int16 => get!(self.get_int16, "fmi3GetInt16", 0i16, reference, values, f64::from),
            Type::UInt16 => get!(self.get_uint16, "fmi3GetUInt16", 0u16, reference, values, f64::from),
            Type::Int32 => get!(self.get_int32, "fmi3GetInt32", 0i32, reference, values, f64::from),
            Type::UInt32 => get!(self.get_uint32, "fmi3GetUInt32", 0u32, reference, values, f64::from),
            Type::Int64 | Type::Enumeration => {
                get!(self.get_int64, "fmi3GetInt64", 0i64, reference, values, |x: i64| x as f64)
            }
            Type::UInt64 => get!(self.get_uint64, "fmi3GetUInt64", 0u64, reference, values, |x: u64| x as f64),
            Type::Boolean => get!(self.get_boolean, "fmi3GetBoolean", 0u8, reference, values, flag),
            Type::Clock => {
                let [value] = values else { return Ok(()) };
                let mut ticks = 0;
                call!(self.get_clock, "fmi3GetClock", &reference, 1, &mut ticks)?;
                *value = flag(ticks);
                Ok(())
            }
            Type::String | Type::Binary => Err(Problem::Missing("fmi3Get for this type")),
        }
    }

    fn set(&self, kind: Type, reference: u32, values: &[f64]) -> Called {
        match kind {
            Type::Float64 => call!(self.set_float64, "fmi3SetFloat64", &reference, 1, values.as_ptr(), values.len()),
            Type::Float32 => set!(self.set_float32, "fmi3SetFloat32", reference, values, |x| x as f32),
            Type::Int8 => set!(self.set_int8, "fmi3SetInt8", reference, values, |x: f64| x.round() as i8),
            Type::UInt8 => set!(self.set_uint8, "fmi3SetUInt8", reference, values, |x: f64| x.round() as u8),
            Type::Int16 => set!(self.set_int16, "fmi3SetInt16", reference, values, |x: f64| x.round() as i16),
            Type::UInt16 => set!(self.set_uint16, "fmi3SetUInt16", reference, values, |x: f64| x.round() as u16),
            Type::Int32 => set!(self.set_int32, "fmi3SetInt32", reference, values, |x: f64| x.round() as i32),
            Type::UInt32 => set!(self.set_uint32, "fmi3SetUInt32", reference, values, |x: f64| x.round() as u32),
            Type::Int64 | Type::Enumeration => {
                set!(self.set_int64, "fmi3SetInt64", reference, values, |x: f64| x.round() as i64)
            }
            Type::UInt64 => set!(self.set_uint64, "fmi3SetUInt64", reference, values, |x: f64| x.round() as u64),
            Type::Boolean => set!(self.set_boolean, "fmi3SetBoolean", reference, values, |x| x != 0.0),
            Type::Clock => {
                let [value] = values else { return Ok(()) };
                call!(self.set_clock, "fmi3SetClock", &reference, 1, &(*value != 0.0))
            }
            Type::String | Type::Binary => Err(Problem::Missing("fmi3Set for this type")),
        }
    }

    fn get_string(&self, reference: u32) -> Called<String> {
        let mut pointer: *const c_char = std::ptr::null();
        call!(self.get_string, "fmi3GetString", &reference, 1, &mut pointer, 1)?;
        if pointer.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the text ends with a zero byte and stays until the next call.
        Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
    }

    fn set_strings(&self, reference: u32, texts: &[*const c_char]) -> Called {
        call!(self.set_string, "fmi3SetString", &reference, 1, texts.as_ptr(), texts.len())
    }

    fn enter_event_mode(&self) -> Called {
        call!(self.enter_event_mode, "fmi3EnterEventMode")
    }

    fn update_discrete_states(&self) -> Called<Discrete> {
        let (mut again, mut end, mut nominals, mut states, mut has_next) = (0, 0, 0, 0, 0);
        let mut next = 0.0;
        call!(
            self.update_discrete_states,
            "fmi3UpdateDiscreteStates",
            &mut again,
            &mut end,
            &mut nominals,
            &mut states,
            &mut has_next,
            &mut next
        )?;
        let next = (has_next != 0).then_some(next);
        Ok(Discrete { needs_update: again != 0, terminate: end != 0, states_changed: states != 0, next })
    }

    fn enter_continuous_time_mode(&self) -> Called {
        call!(self.enter_continuous_time_mode, "fmi3EnterContinuousTimeMode")
    }

    fn enter_step_mode(&self) -> Called {
        call!(self.enter_step_mode, "fmi3EnterStepMode")
    }

    fn completed_step(&self) -> Called<(bool, bool)> {
        let (mut event, mut end) = (0, 0);
        call!(self.completed_step, "fmi3CompletedIntegratorStep", true, &mut event, &mut end)?;
        Ok((event != 0, end != 0))
    }

    fn set_time(&self, time: f64) -> Called {
        call!(self.set_time, "fmi3SetTime", time)
    }

    fn set_states(&self, states: &[f64]) -> Called {
        call!(self.set_states, "fmi3SetContinuousStates", states.as_ptr(), states.len())
    }

    fn states(&self, states: &mut [f64]) -> Called {
        call!(self.get_states, "fmi3GetContinuousStates", states.as_mut_ptr(), states.len())
    }

    fn derivatives(&self, derivatives: &mut [f64]) -> Called {
        call!(self.get_derivatives, "fmi3GetContinuousStateDerivatives", derivatives.as_mut_ptr(), derivatives.len())
    }

    fn indicators(&self, indicators: &mut [f64]) -> Called {
        call!(self.get_indicators, "fmi3GetEventIndicators", indicators.as_mut_ptr(), indicators.len())
    }

    fn do_step(&self, time: f64, step: f64) -> Called<Progress> {
        let (mut event, mut end, mut early, mut reached) = (0, 0, 0, time);
        call!(self.do_step, "fmi3DoStep", time, step, true, &mut event, &mut end, &mut early, &mut reached)?;
        let reached = if early != 0 { reached } else { time + step };
        Ok(Progress { reached, event: event != 0, terminate: end != 0 })
    }

    fn directional(&self, unknowns: &[u32], knowns: &[u32], seed: &[f64], result: &mut [f64]) -> Called {
        call!(
            self.directional,
            "fmi3GetDirectionalDerivative",
            unknowns.as_ptr(),
            unknowns.len(),
            knowns.as_ptr(),
            knowns.len(),
            seed.as_ptr(),
            seed.len(),
            result.as_mut_ptr(),
            result.len()
        )
    }

    fn state(&self) -> Called<Vec<u8>> {
        let mut state: State = std::ptr::null_mut();
        call!(self.get_state, "fmi3GetFMUState", &mut state)?;
        let mut size = 0;
        let mut bytes = Vec::new();
        let saved = call!(self.state_size, "fmi3SerializedFMUStateSize", state, &mut size).and_then(|()| {
            bytes.resize(size, 0);
            call!(self.serialize, "fmi3SerializeFMUState", state, bytes.as_mut_ptr(), size)
        });
        let _ = call!(self.free_state, "fmi3FreeFMUState", &mut state);
        saved.map(|()| bytes)
    }

    fn set_state(&self, bytes: &[u8]) -> Called {
        let mut state: State = std::ptr::null_mut();
        call!(self.deserialize, "fmi3DeserializeFMUState", bytes.as_ptr(), bytes.len(), &mut state)?;
        let set = call!(self.set_state, "fmi3SetFMUState", state);
        let _ = call!(self.free_state, "fmi3FreeFMUState", &mut state);
        set
    }

    fn enter_configuration(&self) -> Called {
        call!(self.enter_configuration, "fmi3EnterConfigurationMode")
    }

    fn exit_configuration(&self) -> Called {
        call!(self.exit_configuration, "fmi3ExitConfigurationMode")
    }

    fn interval(&self, reference: u32) -> Called<(f64, Interval)> {
        let (mut interval, mut qualifier) = (0.0, 0);
        call!(self.get_interval, "fmi3GetIntervalDecimal", &reference, 1, &mut interval, &mut qualifier)?;
        let what = match qualifier {
            2 => Interval::Changed,
            1 => Interval::Unchanged,
            _ => Interval::NotYetKnown,
        };
        Ok((interval, what))
    }

    fn shift(&self, reference: u32) -> Called<f64> {
        let mut shift = 0.0;
        call!(self.get_shift, "fmi3GetShiftDecimal", &reference, 1, &mut shift)?;
        Ok(shift)
    }

    fn watch_clocks(&self, log: &LogBook, references: Vec<u32>) {
        if let Some(get_clock) = self.functions.get_clock {
            log.watch(ClockWatch::new(self.component, get_clock, references));
        }
    }

    fn activate(&self, reference: u32, time: f64) -> Called {
        call!(self.activate, "fmi3ActivateModelPartition", reference, time)
    }

    fn free(&self) {
        if let Some(function) = self.functions.free_instance {
            // SAFETY: the component is alive, and this is the last call.
            unsafe { function(self.component) };
        }
    }
}
