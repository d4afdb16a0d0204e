//! Every function in every phase, in orders that make no sense and with arguments that make none: a status, and a message where it is an error.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::{BALL, Resources, log, resources};
use saltus_fmu::fmi3::*;

/// Numbers that are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A number, sometimes none.
    fn number(&mut self) -> f64 {
        [0.0, 0.5, 1.0, -1.0, 1e300, 1e-300, f64::NAN, f64::INFINITY][self.below(8) as usize]
    }
}

fn instance(of: &Resources, numbers: &mut Numbers, kept: *mut c_void) -> *mut c_void {
    let (name, token, path) = (c"one".as_ptr(), of.token.as_ptr(), of.path.as_ptr());
    let events = numbers.below(2) == 0;
    // SAFETY: the texts live as long as `of`.
    unsafe {
        match numbers.below(2) {
            0 => fmi3InstantiateModelExchange(name, token, path, false, true, kept, Some(log)),
            _ => fmi3InstantiateCoSimulation(
                name,
                token,
                path,
                false,
                true,
                events,
                events,
                null(),
                0,
                kept,
                Some(log),
                None,
            ),
        }
    }
}

/// Calls one of the functions; its status.
fn call(c: *mut c_void, numbers: &mut Numbers, state: &mut *mut c_void) -> i32 {
    let reference = numbers.below(40) as u32;
    let (x, y) = (numbers.number(), numbers.number());
    let n = numbers.below(4) as usize;
    let (mut out, mut whole, mut flags, mut text) = ([0.0; 4], [0_i64; 4], [false; 5], null());
    let [a, b, d, e, f] = &mut flags;
    // SAFETY: buffers are at least as long as what is said of them.
    unsafe {
        match numbers.below(30) {
            0 => fmi3EnterInitializationMode(c, numbers.below(2) == 0, x, 0.0, numbers.below(2) == 0, y),
            1 | 2 => fmi3EnterInitializationMode(c, false, 0.0, 0.0, true, 2.0),
            3 | 4 => fmi3ExitInitializationMode(c),
            5 => fmi3EnterEventMode(c),
            6 => fmi3EnterContinuousTimeMode(c),
            7 => fmi3EnterStepMode(c),
            8 => fmi3Terminate(c),
            9 => fmi3Reset(c),
            10 => fmi3GetFloat64(c, &reference, 1, out.as_mut_ptr(), n),
            11 => fmi3SetFloat64(c, &reference, 1, &x, 1),
            12 => fmi3GetInt64(c, &reference, 1, whole.as_mut_ptr(), n),
            13 => fmi3SetInt64(c, &reference, 1, &whole[0], 1),
            14 => fmi3GetBoolean(c, &reference, 1, a, 1),
            15 => fmi3GetString(c, &reference, 1, &mut text, n),
            16 => fmi3UpdateDiscreteStates(c, a, b, d, e, f, &mut out[0]),
            17 => fmi3SetTime(c, x),
            18 => fmi3SetContinuousStates(c, [x, y, 0.0, 0.0].as_ptr(), n),
            19 => fmi3GetContinuousStates(c, out.as_mut_ptr(), n),
            20 => fmi3GetContinuousStateDerivatives(c, out.as_mut_ptr(), n),
            21 => fmi3GetEventIndicators(c, out.as_mut_ptr(), n),
            22 => fmi3CompletedIntegratorStep(c, true, a, b),
            23 => fmi3DoStep(c, x, y, true, a, b, d, &mut out[0]),
            24 => fmi3DoStep(c, 0.0, 0.25, true, a, b, d, &mut out[0]),
            25 => fmi3GetDirectionalDerivative(c, &reference, 1, &(reference + 1), 1, &x, 1, out.as_mut_ptr(), 1),
            26 => fmi3EvaluateDiscreteStates(c),
            27 if state.is_null() => fmi3GetFMUState(c, state),
            27 => fmi3FreeFMUState(c, state),
            28 => fmi3SetFMUState(c, *state),
            _ => fmi3GetOutputDerivatives(c, &reference, 1, &1, out.as_mut_ptr(), n.min(1)),
        }
    }
}

#[test]
fn any_order_of_calls_ends_in_a_status() {
    let ball = resources(BALL);
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut seen = [0; 5];
    for _ in 0..150 {
        let mut kept: Vec<String> = Vec::new();
        let c = instance(&ball, &mut numbers, (&raw mut kept).cast());
        assert!(!c.is_null());
        let mut state = null_mut();
        for _ in 0..60 {
            let n = kept.len();
            let status = call(c, &mut numbers, &mut state);
            seen[status as usize] += 1;
            assert!(status < 3 || kept.len() > n, "an error without a message");
        }
        // SAFETY: `c` is an instance, and the state is one of its own.
        unsafe {
            fmi3FreeFMUState(c, &mut state);
            fmi3FreeInstance(c);
        }
    }
    // Fatal would be a panic.
    assert!(seen[0] > 1000 && seen[3] > 1000 && seen[4] == 0, "{seen:?}");
}

/// Functions on no instance, and on a state of another one.
#[test]
fn no_instance_and_foreign_states_are_errors() {
    let (ball, other) =
        (resources(BALL), resources("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;"));
    let mut numbers = Numbers(7);
    let (mut kept, mut state) = (Vec::<String>::new(), null_mut());
    for _ in 0..200 {
        assert_eq!(call(null_mut(), &mut numbers, &mut state), 3);
        assert!(state.is_null());
    }
    let environment = (&raw mut kept).cast();
    let of_ball = instance(&ball, &mut numbers, environment);
    let of_other = instance(&other, &mut numbers, environment);
    // SAFETY: both are instances.
    unsafe {
        assert_eq!(fmi3EnterInitializationMode(of_ball, false, 0.0, 0.0, true, 2.0), 0);
        assert_eq!(fmi3ExitInitializationMode(of_ball), 0);
        assert_eq!(fmi3GetFMUState(of_ball, &mut state), 0);
        assert_eq!(fmi3SetFMUState(of_other, state), 3);
        assert!(kept.last().is_some_and(|said| said.contains("Ball")), "{kept:?}");
        assert_eq!(fmi3FreeFMUState(of_ball, &mut state), 0);
        fmi3FreeInstance(of_ball);
        fmi3FreeInstance(of_other);
    }
}
