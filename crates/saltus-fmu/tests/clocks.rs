//! Clocks of FMI 3.0, called as an importer calls them. Numbers are closed forms.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::{Resources, log, resources, resources_with};
use saltus::clock_variables::ClockDriver;
use saltus_fmu::clocks3::*;
use saltus_fmu::fmi3::*;

/// Sums up its input at the ticks of a clock from outside, and lets another clock tick at every second of them.
const SUM: &str = "model Sum
  input Clock c;
  input Real u(start = 1);
  output Real y;
  output Clock d;
protected
  Real x(start = 0);
equation
  when c then
    x = previous(x) + sample(u);
  end when;
  y = hold(x);
  d = subSample(c, 2);
end Sum;";

/// A controller with a clock of its own, whose interval is a parameter, and one with a fixed interval.
const CONTROLLER: &str = "model Controller
  parameter Real T = 0.5;
  Clock slow = Clock(T);
  input Real u(start = 2);
  output Real x, y;
protected
  Real a(start = 0), b(start = 0);
equation
  a = previous(a) + interval(a)*sample(u, slow);
  b = previous(b) + sample(u, Clock(1, 10));
  x = hold(a);
  y = hold(b);
end Controller;";

fn me3(of: &Resources, kept: *mut c_void) -> *mut c_void {
    // SAFETY: the texts live as long as `of`.
    unsafe {
        fmi3InstantiateModelExchange(c"one".as_ptr(), of.token.as_ptr(), of.path.as_ptr(), false, true, kept, Some(log))
    }
}

fn cs3(of: &Resources, events: bool, kept: *mut c_void) -> *mut c_void {
    // SAFETY: the texts live as long as `of`.
    unsafe {
        fmi3InstantiateCoSimulation(
            c"one".as_ptr(),
            of.token.as_ptr(),
            of.path.as_ptr(),
            false,
            true,
            events,
            events,
            null(),
            0,
            kept,
            Some(log),
            None,
        )
    }
}

fn se3(of: &Resources, kept: *mut c_void, update: Option<unsafe extern "C" fn(*mut c_void)>) -> *mut c_void {
    // SAFETY: the texts live as long as `of`.
    unsafe {
        fmi3InstantiateScheduledExecution(
            c"one".as_ptr(),
            of.token.as_ptr(),
            of.path.as_ptr(),
            false,
            true,
            kept,
            Some(log),
            update,
            None,
            None,
        )
    }
}

fn initialise(c: *mut c_void) {
    // SAFETY: `c` is an instance.
    unsafe {
        assert_eq!(fmi3EnterInitializationMode(c, false, 0.0, 0.0, false, 0.0), 0);
        assert_eq!(fmi3ExitInitializationMode(c), 0);
    }
}

fn get(c: *mut c_void, reference: u32) -> f64 {
    let mut value = f64::NAN;
    // SAFETY: one reference, one value.
    assert_eq!(unsafe { fmi3GetFloat64(c, &reference, 1, &mut value, 1) }, 0);
    value
}

fn set(c: *mut c_void, reference: u32, value: f64) {
    // SAFETY: one reference, one value.
    assert_eq!(unsafe { fmi3SetFloat64(c, &reference, 1, &value, 1) }, 0);
}

fn ticks(c: *mut c_void, clock: u32) -> bool {
    let mut value = false;
    // SAFETY: one reference, one value.
    assert_eq!(unsafe { fmi3GetClock(c, &clock, 1, &mut value) }, 0);
    value
}

/// Updates the discrete states; when the next event is due.
fn update(c: *mut c_void) -> Option<f64> {
    let (mut flags, mut has_next, mut next) = ([true; 4], false, 0.0);
    let [needs, terminate, nominals, states] = &mut flags;
    // SAFETY: `c` is an instance.
    unsafe {
        assert_eq!(fmi3UpdateDiscreteStates(c, needs, terminate, nominals, states, &mut has_next, &mut next), 0);
    }
    assert!(!flags[0] && !flags[1]);
    has_next.then_some(next)
}

/// The clock ticks with this input; the sum, and whether the output clock has ticked.
fn tick(c: *mut c_void, of: &Resources, u: f64) -> (f64, bool) {
    // SAFETY: one clock.
    assert_eq!(unsafe { fmi3SetClock(c, &of.clock("c"), 1, &true) }, 0);
    set(c, of.reference("u"), u);
    assert!(ticks(c, of.clock("c")));
    (get(c, of.reference("y")), ticks(c, of.clock("d")))
}

#[test]
fn an_input_clock_ticks_in_event_mode() {
    let sum = resources(SUM);
    for kind in ["model exchange", "co-simulation"] {
        let is_me = kind == "model exchange";
        let c = if is_me { me3(&sum, null_mut()) } else { cs3(&sum, true, null_mut()) };
        initialise(c);
        update(c);
        let step_on = |from: f64| {
            // SAFETY: `c` is an instance.
            unsafe {
                if is_me {
                    assert_eq!(fmi3EnterContinuousTimeMode(c), 0);
                    assert_eq!(fmi3SetTime(c, from + 1.0), 0);
                    let (mut a, mut b) = (false, false);
                    assert_eq!(fmi3CompletedIntegratorStep(c, true, &mut a, &mut b), 0);
                } else {
                    let (mut flags, mut last) = ([false; 3], 0.0);
                    let [event, terminate, early] = &mut flags;
                    assert_eq!(fmi3EnterStepMode(c), 0);
                    assert_eq!(fmi3DoStep(c, from, 1.0, true, event, terminate, early, &mut last), 0);
                    assert_eq!(last, from + 1.0);
                }
                assert_eq!(fmi3EnterEventMode(c), 0);
            }
        };
        // Sums of 1, 2, 3, 4; the slower clock ticks with the first and the third.
        let expected = [(1.0, true), (3.0, false), (6.0, true), (10.0, false)];
        for (k, expected) in expected.into_iter().enumerate() {
            step_on(k as f64);
            assert_eq!(tick(c, &sum, (k + 1) as f64), expected, "{kind}");
            assert_eq!(update(c), None);
            assert!(!ticks(c, sum.clock("c")) && !ticks(c, sum.clock("d")));
        }
        // An event without a tick.
        step_on(4.0);
        set(c, sum.reference("u"), 100.0);
        update(c);
        assert_eq!(get(c, sum.reference("y")), 10.0, "{kind}");
        // SAFETY: `c` is not used afterwards.
        unsafe { fmi3FreeInstance(c) };
    }
}

#[test]
fn the_importer_drives_periodic_clocks() {
    let controller = resources_with(CONTROLLER, ClockDriver::Outside);
    let c = me3(&controller, null_mut());
    let (slow, fast) = (controller.clock("slow"), controller.clock("_clock1"));
    let interval = |clock: u32| {
        let (mut seconds, mut qualifier, mut shift) = (0.0, 0, f64::NAN);
        // SAFETY: one clock.
        unsafe {
            assert_eq!(fmi3GetIntervalDecimal(c, &clock, 1, &mut seconds, &mut qualifier), 0);
            assert_eq!(fmi3GetShiftDecimal(c, &clock, 1, &mut shift), 0);
        }
        assert_eq!(shift, 0.0);
        (seconds, qualifier)
    };
    // SAFETY: `c` is an instance.
    unsafe { assert_eq!(fmi3EnterInitializationMode(c, false, 0.0, 0.0, false, 0.0), 0) };
    set(c, controller.reference("T"), 0.25);
    assert_eq!((interval(slow), interval(fast)), ((0.25, 2), (0.1, 2)));
    assert_eq!(interval(slow), (0.25, 1), "unchanged");
    // SAFETY: `c` is an instance.
    unsafe { assert_eq!(fmi3ExitInitializationMode(c), 0) };
    // Nothing ticks by itself.
    assert_eq!(update(c), None);
    assert_eq!((get(c, controller.reference("x")), get(c, controller.reference("y"))), (0.0, 0.0));
    // SAFETY: `c` is an instance; two clocks.
    unsafe {
        assert_eq!(fmi3EnterContinuousTimeMode(c), 0);
        assert_eq!(fmi3SetTime(c, 0.25), 0);
        assert_eq!(fmi3EnterEventMode(c), 0);
        assert_eq!(fmi3SetClock(c, [slow, fast].as_ptr(), 2, [true, true].as_ptr()), 0);
    }
    // At the first tick `interval` is that of the clock: 0.25 * 2, and the input itself.
    assert_eq!((get(c, controller.reference("x")), get(c, controller.reference("y"))), (0.5, 2.0));
    // SAFETY: `c` is not used afterwards.
    unsafe { fmi3FreeInstance(c) };
}

/// Counts callbacks, and those in which the output clock ticks.
struct Heard {
    c: *mut c_void,
    clock: u32,
    ticks: Vec<bool>,
}

unsafe extern "C" fn hear(environment: *mut c_void) {
    // SAFETY: the test hands over a `Heard` that lives as long as the instance.
    let heard = unsafe { &mut *environment.cast::<Heard>() };
    heard.ticks.push(ticks(heard.c, heard.clock));
}

#[test]
fn partitions_are_activated() {
    let sum = resources(SUM);
    let mut heard = Heard { c: null_mut(), clock: sum.clock("d"), ticks: Vec::new() };
    // SAFETY: the texts live long enough.
    let c = unsafe {
        fmi3InstantiateScheduledExecution(
            c"one".as_ptr(),
            sum.token.as_ptr(),
            sum.path.as_ptr(),
            false,
            false,
            (&raw mut heard).cast(),
            None,
            Some(hear),
            None,
            None,
        )
    };
    heard.c = c;
    initialise(c);
    for k in 1..=4 {
        set(c, sum.reference("u"), f64::from(k));
        // SAFETY: `c` is an instance.
        assert_eq!(unsafe { fmi3ActivateModelPartition(c, sum.clock("c"), f64::from(k)) }, 0);
        // 1 + 2 + … + k
        assert_eq!(get(c, sum.reference("y")), f64::from(k * (k + 1) / 2));
    }
    assert_eq!(heard.ticks, [true, true], "with the first and the third tick");
    // SAFETY: `c` is not used afterwards.
    unsafe {
        assert_eq!(fmi3ActivateModelPartition(c, sum.clock("c"), 3.0), 3, "time goes on");
        assert_eq!(fmi3ActivateModelPartition(c, sum.clock("c"), f64::NAN), 3);
        assert_eq!(fmi3ActivateModelPartition(c, sum.clock("d"), 9.0), 3, "the model makes it tick");
        assert_eq!(fmi3ActivateModelPartition(c, sum.reference("u"), 9.0), 3, "not a clock");
        fmi3FreeInstance(c);
    }
}

#[test]
fn what_is_not_a_tick_is_refused() {
    let mut kept: Vec<String> = Vec::new();
    let environment: *mut c_void = (&raw mut kept).cast();
    let ball = resources(common::BALL);
    assert!(se3(&ball, environment, None).is_null());
    assert!(kept[0].contains("scheduled execution") && kept[0].contains("continuous state"), "{kept:?}");
    // Without event mode nobody could make its clock tick.
    let sum = resources(SUM);
    assert!(cs3(&sum, false, environment).is_null());
    assert!(kept[1].contains("event mode"), "{kept:?}");
    let c = me3(&sum, environment);
    let (clock, mut value) = (sum.clock("c"), 0.0);
    // SAFETY: `c` is an instance.
    unsafe {
        assert_eq!(fmi3SetClock(c, &clock, 1, &true), 3, "before the initialisation");
        assert_eq!(fmi3GetFloat64(c, &clock, 1, &mut value, 1), 3, "a clock is not a number");
        initialise(c);
        assert_eq!(fmi3SetClock(c, &sum.clock("d"), 1, &true), 3, "an output clock");
        let mut qualifier = 0;
        assert_eq!(fmi3GetIntervalDecimal(c, &clock, 1, &mut value, &mut qualifier), 3, "triggered");
        // A tick that is taken back has not happened.
        assert_eq!(fmi3SetClock(c, &clock, 1, &true), 0);
        assert_eq!(fmi3SetClock(c, &clock, 1, &false), 0);
        update(c);
        assert_eq!(get(c, sum.reference("y")), 0.0);
        fmi3FreeInstance(c);
    }
}

/// A tick in one instance, its state as bytes, and the next tick in another one.
#[test]
fn a_state_knows_its_ticks() {
    let sum = resources(SUM);
    let (c, other) = (me3(&sum, null_mut()), me3(&sum, null_mut()));
    initialise(c);
    update(c);
    // SAFETY: `c` and `other` are instances of one model; the state is freed once.
    unsafe {
        assert_eq!(fmi3EnterContinuousTimeMode(c), 0);
        assert_eq!(fmi3SetTime(c, 1.0), 0);
        assert_eq!(fmi3EnterEventMode(c), 0);
        assert_eq!(fmi3SetClock(c, &sum.clock("c"), 1, &true), 0);
        set(c, sum.reference("u"), 5.0);
        let mut state = null_mut();
        assert_eq!(fmi3GetFMUState(c, &mut state), 0);
        let mut size = 0;
        assert_eq!(fmi3SerializedFMUStateSize(c, state, &mut size), 0);
        let mut bytes = vec![0_u8; size];
        assert_eq!(fmi3SerializeFMUState(c, state, bytes.as_mut_ptr(), size), 0);
        assert_eq!(fmi3FreeFMUState(c, &mut state), 0);
        assert_eq!(fmi3FreeFMUState(c, &mut state), 0, "freed already");
        assert_eq!(fmi3DeserializeFMUState(other, bytes.as_ptr(), size, &mut state), 0);
        assert_eq!(fmi3SetFMUState(other, state), 0);
        assert_eq!(fmi3FreeFMUState(other, &mut state), 0);
        assert_eq!((get(c, sum.reference("y")), ticks(c, sum.clock("d"))), (5.0, true));
        assert_eq!((get(other, sum.reference("y")), ticks(other, sum.clock("d"))), (5.0, true));
        fmi3FreeInstance(c);
        fmi3FreeInstance(other);
    }
}
