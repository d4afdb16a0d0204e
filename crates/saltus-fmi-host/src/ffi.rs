//! The C interfaces of FMI 2.0 and 3.0: types and tables of functions.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};

use libloading::Library;

pub type Component = *mut c_void;
pub type State = *mut c_void;
/// `fmi2Boolean`
pub type Boolean2 = i32;

#[repr(C)]
pub struct Callbacks2 {
    pub logger: unsafe extern "C" fn(*mut c_void, *const c_char, i32, *const c_char, *const c_char),
    pub allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
    pub step_finished: Option<unsafe extern "C" fn(*mut c_void, i32)>,
    pub environment: *mut c_void,
}

#[repr(C)]
#[derive(Default)]
pub struct EventInfo2 {
    pub needs_update: Boolean2,
    pub terminate: Boolean2,
    pub nominals_changed: Boolean2,
    pub states_changed: Boolean2,
    pub next_defined: Boolean2,
    pub next: f64,
}

unsafe extern "C" {
    pub fn calloc(n: usize, size: usize) -> *mut c_void;
    pub fn free(pointer: *mut c_void);
}

/// Declares a table of functions that a library may have, each under its symbol.
macro_rules! table {
    ($table:ident { $($field:ident = $symbol:literal ($($argument:ty),*) $(-> $result:ty)?;)* }) => {
        pub struct $table {
            $(pub $field: Option<unsafe extern "C" fn($($argument),*) $(-> $result)?>,)*
        }

        impl $table {
            pub fn load(library: &Library) -> Self {
                // SAFETY: the standard gives these symbols these types; the pointers are used while the library is open.
                unsafe { $table { $($field: library.get($symbol.as_bytes()).ok().map(|f| *f),)* } }
            }
        }
    };
}

table!(Functions2 {
    instantiate = "fmi2Instantiate" (*const c_char, i32, *const c_char, *const c_char, *const Callbacks2, Boolean2, Boolean2) -> Component;
    free_instance = "fmi2FreeInstance" (Component);
    setup = "fmi2SetupExperiment" (Component, Boolean2, f64, f64, Boolean2, f64) -> i32;
    enter_initialization = "fmi2EnterInitializationMode" (Component) -> i32;
    exit_initialization = "fmi2ExitInitializationMode" (Component) -> i32;
    terminate = "fmi2Terminate" (Component) -> i32;
    get_real = "fmi2GetReal" (Component, *const u32, usize, *mut f64) -> i32;
    get_integer = "fmi2GetInteger" (Component, *const u32, usize, *mut i32) -> i32;
    get_boolean = "fmi2GetBoolean" (Component, *const u32, usize, *mut Boolean2) -> i32;
    get_string = "fmi2GetString" (Component, *const u32, usize, *mut *const c_char) -> i32;
    set_real = "fmi2SetReal" (Component, *const u32, usize, *const f64) -> i32;
    set_integer = "fmi2SetInteger" (Component, *const u32, usize, *const i32) -> i32;
    set_boolean = "fmi2SetBoolean" (Component, *const u32, usize, *const Boolean2) -> i32;
    set_string = "fmi2SetString" (Component, *const u32, usize, *const *const c_char) -> i32;
    get_state = "fmi2GetFMUstate" (Component, *mut State) -> i32;
    set_state = "fmi2SetFMUstate" (Component, State) -> i32;
    free_state = "fmi2FreeFMUstate" (Component, *mut State) -> i32;
    state_size = "fmi2SerializedFMUstateSize" (Component, State, *mut usize) -> i32;
    serialize = "fmi2SerializeFMUstate" (Component, State, *mut u8, usize) -> i32;
    deserialize = "fmi2DeSerializeFMUstate" (Component, *const u8, usize, *mut State) -> i32;
    directional = "fmi2GetDirectionalDerivative" (Component, *const u32, usize, *const u32, usize, *const f64, *mut f64) -> i32;
    enter_event_mode = "fmi2EnterEventMode" (Component) -> i32;
    new_discrete_states = "fmi2NewDiscreteStates" (Component, *mut EventInfo2) -> i32;
    enter_continuous_time_mode = "fmi2EnterContinuousTimeMode" (Component) -> i32;
    completed_step = "fmi2CompletedIntegratorStep" (Component, Boolean2, *mut Boolean2, *mut Boolean2) -> i32;
    set_time = "fmi2SetTime" (Component, f64) -> i32;
    set_states = "fmi2SetContinuousStates" (Component, *const f64, usize) -> i32;
    get_derivatives = "fmi2GetDerivatives" (Component, *mut f64, usize) -> i32;
    get_indicators = "fmi2GetEventIndicators" (Component, *mut f64, usize) -> i32;
    get_states = "fmi2GetContinuousStates" (Component, *mut f64, usize) -> i32;
    do_step = "fmi2DoStep" (Component, f64, f64, Boolean2) -> i32;
    get_real_status = "fmi2GetRealStatus" (Component, i32, *mut f64) -> i32;
    get_boolean_status = "fmi2GetBooleanStatus" (Component, i32, *mut Boolean2) -> i32;
});

/// `fmi3LogMessageCallback`
pub type Log3 = unsafe extern "C" fn(*mut c_void, i32, *const c_char, *const c_char);
pub type ClockUpdate3 = unsafe extern "C" fn(*mut c_void);
pub type Preemption3 = unsafe extern "C" fn();

table!(Functions3 {
    instantiate_me = "fmi3InstantiateModelExchange" (*const c_char, *const c_char, *const c_char, bool, bool, *mut c_void, Log3) -> Component;
    instantiate_cs = "fmi3InstantiateCoSimulation" (*const c_char, *const c_char, *const c_char, bool, bool, bool, bool, *const u32, usize, *mut c_void, Log3, Option<unsafe extern "C" fn()>) -> Component;
    instantiate_se = "fmi3InstantiateScheduledExecution" (*const c_char, *const c_char, *const c_char, bool, bool, *mut c_void, Log3, ClockUpdate3, Preemption3, Preemption3) -> Component;
    free_instance = "fmi3FreeInstance" (Component);
    enter_initialization = "fmi3EnterInitializationMode" (Component, bool, f64, f64, bool, f64) -> i32;
    exit_initialization = "fmi3ExitInitializationMode" (Component) -> i32;
    terminate = "fmi3Terminate" (Component) -> i32;
    get_float32 = "fmi3GetFloat32" (Component, *const u32, usize, *mut f32, usize) -> i32;
    get_float64 = "fmi3GetFloat64" (Component, *const u32, usize, *mut f64, usize) -> i32;
    get_int8 = "fmi3GetInt8" (Component, *const u32, usize, *mut i8, usize) -> i32;
    get_uint8 = "fmi3GetUInt8" (Component, *const u32, usize, *mut u8, usize) -> i32;
    get_int16 = "fmi3GetInt16" (Component, *const u32, usize, *mut i16, usize) -> i32;
    get_uint16 = "fmi3GetUInt16" (Component, *const u32, usize, *mut u16, usize) -> i32;
    get_int32 = "fmi3GetInt32" (Component, *const u32, usize, *mut i32, usize) -> i32;
    get_uint32 = "fmi3GetUInt32" (Component, *const u32, usize, *mut u32, usize) -> i32;
    get_int64 = "fmi3GetInt64" (Component, *const u32, usize, *mut i64, usize) -> i32;
    get_uint64 = "fmi3GetUInt64" (Component, *const u32, usize, *mut u64, usize) -> i32;
    get_boolean = "fmi3GetBoolean" (Component, *const u32, usize, *mut u8, usize) -> i32;
    get_string = "fmi3GetString" (Component, *const u32, usize, *mut *const c_char, usize) -> i32;
    get_clock = "fmi3GetClock" (Component, *const u32, usize, *mut u8) -> i32;
    set_float32 = "fmi3SetFloat32" (Component, *const u32, usize, *const f32, usize) -> i32;
    set_float64 = "fmi3SetFloat64" (Component, *const u32, usize, *const f64, usize) -> i32;
    set_int8 = "fmi3SetInt8" (Component, *const u32, usize, *const i8, usize) -> i32;
    set_uint8 = "fmi3SetUInt8" (Component, *const u32, usize, *const u8, usize) -> i32;
    set_int16 = "fmi3SetInt16" (Component, *const u32, usize, *const i16, usize) -> i32;
    set_uint16 = "fmi3SetUInt16" (Component, *const u32, usize, *const u16, usize) -> i32;
    set_int32 = "fmi3SetInt32" (Component, *const u32, usize, *const i32, usize) -> i32;
    set_uint32 = "fmi3SetUInt32" (Component, *const u32, usize, *const u32, usize) -> i32;
    set_int64 = "fmi3SetInt64" (Component, *const u32, usize, *const i64, usize) -> i32;
    set_uint64 = "fmi3SetUInt64" (Component, *const u32, usize, *const u64, usize) -> i32;
    set_boolean = "fmi3SetBoolean" (Component, *const u32, usize, *const bool, usize) -> i32;
    set_string = "fmi3SetString" (Component, *const u32, usize, *const *const c_char, usize) -> i32;
    set_clock = "fmi3SetClock" (Component, *const u32, usize, *const bool) -> i32;
    get_state = "fmi3GetFMUState" (Component, *mut State) -> i32;
    set_state = "fmi3SetFMUState" (Component, State) -> i32;
    free_state = "fmi3FreeFMUState" (Component, *mut State) -> i32;
    state_size = "fmi3SerializedFMUStateSize" (Component, State, *mut usize) -> i32;
    serialize = "fmi3SerializeFMUState" (Component, State, *mut u8, usize) -> i32;
    deserialize = "fmi3DeserializeFMUState" (Component, *const u8, usize, *mut State) -> i32;
    directional = "fmi3GetDirectionalDerivative" (Component, *const u32, usize, *const u32, usize, *const f64, usize, *mut f64, usize) -> i32;
    enter_event_mode = "fmi3EnterEventMode" (Component) -> i32;
    update_discrete_states = "fmi3UpdateDiscreteStates" (Component, *mut u8, *mut u8, *mut u8, *mut u8, *mut u8, *mut f64) -> i32;
    enter_continuous_time_mode = "fmi3EnterContinuousTimeMode" (Component) -> i32;
    enter_step_mode = "fmi3EnterStepMode" (Component) -> i32;
    completed_step = "fmi3CompletedIntegratorStep" (Component, bool, *mut u8, *mut u8) -> i32;
    set_time = "fmi3SetTime" (Component, f64) -> i32;
    set_states = "fmi3SetContinuousStates" (Component, *const f64, usize) -> i32;
    get_derivatives = "fmi3GetContinuousStateDerivatives" (Component, *mut f64, usize) -> i32;
    get_indicators = "fmi3GetEventIndicators" (Component, *mut f64, usize) -> i32;
    get_states = "fmi3GetContinuousStates" (Component, *mut f64, usize) -> i32;
    enter_configuration = "fmi3EnterConfigurationMode" (Component) -> i32;
    exit_configuration = "fmi3ExitConfigurationMode" (Component) -> i32;
    get_interval = "fmi3GetIntervalDecimal" (Component, *const u32, usize, *mut f64, *mut i32) -> i32;
    get_shift = "fmi3GetShiftDecimal" (Component, *const u32, usize, *mut f64) -> i32;
    activate = "fmi3ActivateModelPartition" (Component, u32, f64) -> i32;
    do_step = "fmi3DoStep" (Component, f64, f64, bool, *mut u8, *mut u8, *mut u8, *mut f64) -> i32;
});
