//! The functions of FMI 2.0.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};
use std::path::Path;

use libloading::Library;
use saltus_fmi::{Kind, Type};

use crate::ffi::{Callbacks2, Component, EventInfo2, Functions2, State, calloc, free};
use crate::instance::{Called, Calls, Discrete, Problem, Progress, Settings, called, text};
use crate::log::{LogBook, Status, log_2};

pub(crate) struct Calls2 {
    functions: Functions2,
    component: Component,
    /// The component keeps their address.
    _callbacks: Box<Callbacks2>,
}

// SAFETY: the standard lets an instance be used by any thread, by one at a time.
unsafe impl Send for Calls2 {}

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

const LAST_SUCCESSFUL_TIME: i32 = 2;
const TERMINATED: i32 = 3;

impl Calls2 {
    /// None if the FMU refuses; an error names the function that is missing.
    pub fn new(
        library: &Library,
        kind: Kind,
        [name, token]: &[CString; 2],
        resources: &Path,
        log: &LogBook,
        settings: Settings,
    ) -> Result<Option<Calls2>, &'static str> {
        let functions = Functions2::load(library);
        let instantiate = functions.instantiate.ok_or("fmi2Instantiate")?;
        let callbacks = Box::new(Callbacks2 {
            logger: log_2,
            allocate: calloc,
            free,
            step_finished: None,
            environment: std::ptr::from_ref(log).cast_mut().cast(),
        });
        let location = text(&uri(resources));
        let what = i32::from(kind == Kind::CoSimulation);
        // SAFETY: texts end with zero bytes, callbacks and log outlive the component.
        let component = unsafe {
            instantiate(
                name.as_ptr(),
                what,
                token.as_ptr(),
                location.as_ptr(),
                &*callbacks,
                0,
                i32::from(settings.verbose),
            )
        };
        Ok((!component.is_null()).then_some(Calls2 { functions, component, _callbacks: callbacks }))
    }
}

/// `file:///…`, with what is not allowed there escaped.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    let path = path.to_string_lossy().replace('\\', "/");
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

impl Calls for Calls2 {
    fn enter_initialization(&self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Called {
        let (has_tolerance, has_stop) = (i32::from(tolerance.is_some()), i32::from(stop.is_some()));
        let (tolerance, stop) = (tolerance.unwrap_or(0.0), stop.unwrap_or(0.0));
        call!(self.setup, "fmi2SetupExperiment", has_tolerance, tolerance, start, has_stop, stop)?;
        call!(self.enter_initialization, "fmi2EnterInitializationMode")
    }

    fn exit_initialization(&self) -> Called {
        call!(self.exit_initialization, "fmi2ExitInitializationMode")
    }

    fn terminate(&self) -> Called {
        call!(self.terminate, "fmi2Terminate")
    }

    fn get(&self, kind: Type, reference: u32, values: &mut [f64]) -> Called {
        let [value] = values else { return Ok(()) };
        match kind {
            Type::Float64 => call!(self.get_real, "fmi2GetReal", &reference, 1, value),
            Type::Boolean => {
                let mut flag = 0;
                call!(self.get_boolean, "fmi2GetBoolean", &reference, 1, &mut flag)?;
                *value = f64::from(u8::from(flag != 0));
                Ok(())
            }
            Type::Int32 | Type::Enumeration => {
                let mut number = 0;
                call!(self.get_integer, "fmi2GetInteger", &reference, 1, &mut number)?;
                *value = number.into();
                Ok(())
            }
            _ => Err(Problem::Missing("fmi2Get for this type")),
        }
    }

    fn set(&self, kind: Type, reference: u32, values: &[f64]) -> Called {
        let [value] = values else { return Ok(()) };
        match kind {
            Type::Float64 => call!(self.set_real, "fmi2SetReal", &reference, 1, value),
            Type::Boolean => {
                call!(self.set_boolean, "fmi2SetBoolean", &reference, 1, &i32::from(*value != 0.0))
            }
            Type::Int32 | Type::Enumeration => {
                call!(self.set_integer, "fmi2SetInteger", &reference, 1, &(value.round() as i32))
            }
            _ => Err(Problem::Missing("fmi2Set for this type")),
        }
    }

    fn get_string(&self, reference: u32) -> Called<String> {
        let mut pointer: *const c_char = std::ptr::null();
        call!(self.get_string, "fmi2GetString", &reference, 1, &mut pointer)?;
        if pointer.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the text ends with a zero byte and stays until the next call.
        Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
    }

    fn set_strings(&self, reference: u32, texts: &[*const c_char]) -> Called {
        call!(self.set_string, "fmi2SetString", &reference, 1, texts.as_ptr())
    }

    fn enter_event_mode(&self) -> Called {
        call!(self.enter_event_mode, "fmi2EnterEventMode")
    }

    fn update_discrete_states(&self) -> Called<Discrete> {
        let mut info = EventInfo2::default();
        call!(self.new_discrete_states, "fmi2NewDiscreteStates", &mut info)?;
        Ok(Discrete {
            needs_update: info.needs_update != 0,
            terminate: info.terminate != 0,
            states_changed: info.states_changed != 0,
            next: (info.next_defined != 0).then_some(info.next),
        })
    }

    fn enter_continuous_time_mode(&self) -> Called {
        call!(self.enter_continuous_time_mode, "fmi2EnterContinuousTimeMode")
    }

    fn enter_step_mode(&self) -> Called {
        Ok(())
    }

    fn completed_step(&self) -> Called<(bool, bool)> {
        let (mut event, mut end) = (0, 0);
        call!(self.completed_step, "fmi2CompletedIntegratorStep", 1, &mut event, &mut end)?;
        Ok((event != 0, end != 0))
    }

    fn set_time(&self, time: f64) -> Called {
        call!(self.set_time, "fmi2SetTime", time)
    }

    fn set_states(&self, states: &[f64]) -> Called {
        call!(self.set_states, "fmi2SetContinuousStates", states.as_ptr(), states.len())
    }

    fn states(&self, states: &mut [f64]) -> Called {
        call!(self.get_states, "fmi2GetContinuousStates", states.as_mut_ptr(), states.len())
    }

    fn derivatives(&self, derivatives: &mut [f64]) -> Called {
        call!(self.get_derivatives, "fmi2GetDerivatives", derivatives.as_mut_ptr(), derivatives.len())
    }

    fn indicators(&self, indicators: &mut [f64]) -> Called {
        call!(self.get_indicators, "fmi2GetEventIndicators", indicators.as_mut_ptr(), indicators.len())
    }

    fn do_step(&self, time: f64, step: f64) -> Called<Progress> {
        match call!(self.do_step, "fmi2DoStep", time, step, 1) {
            Ok(()) => Ok(Progress { reached: time + step, event: false, terminate: false }),
            // A step that was cut short says how far it came.
            Err(Problem::Status(Status::Discard, function)) => {
                let mut reached = time;
                let mut terminated = 0;
                call!(self.get_real_status, "fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, &mut reached)
                    .map_err(|_| Problem::Status(Status::Discard, function))?;
                let _ = call!(self.get_boolean_status, "fmi2GetBooleanStatus", TERMINATED, &mut terminated);
                Ok(Progress { reached, event: false, terminate: terminated != 0 })
            }
            Err(problem) => Err(problem),
        }
    }

    fn directional(&self, unknowns: &[u32], knowns: &[u32], seed: &[f64], result: &mut [f64]) -> Called {
        call!(
            self.directional,
            "fmi2GetDirectionalDerivative",
            unknowns.as_ptr(),
            unknowns.len(),
            knowns.as_ptr(),
            knowns.len(),
            seed.as_ptr(),
            result.as_mut_ptr()
        )
    }

    fn state(&self) -> Called<Vec<u8>> {
        let mut state: State = std::ptr::null_mut();
        call!(self.get_state, "fmi2GetFMUstate", &mut state)?;
        let mut size = 0;
        let mut bytes = Vec::new();
        let saved = call!(self.state_size, "fmi2SerializedFMUstateSize", state, &mut size).and_then(|()| {
            bytes.resize(size, 0);
            call!(self.serialize, "fmi2SerializeFMUstate", state, bytes.as_mut_ptr(), size)
        });
        let _ = call!(self.free_state, "fmi2FreeFMUstate", &mut state);
        saved.map(|()| bytes)
    }

    fn set_state(&self, bytes: &[u8]) -> Called {
        let mut state: State = std::ptr::null_mut();
        call!(self.deserialize, "fmi2DeSerializeFMUstate", bytes.as_ptr(), bytes.len(), &mut state)?;
        let set = call!(self.set_state, "fmi2SetFMUstate", state);
        let _ = call!(self.free_state, "fmi2FreeFMUstate", &mut state);
        set
    }

    fn free(&self) {
        if let Some(function) = self.functions.free_instance {
            // SAFETY: the component is alive, and this is the last call.
            unsafe { function(self.component) };
        }
    }
}
