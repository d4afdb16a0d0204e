//! The C interfaces, called as an importer calls them. Numbers are closed forms.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::{BALL, Resources, log, resources};
use saltus_fmu::{fmi2::*, fmi3::*};

const G: f64 = 9.81;

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

fn me2(of: &Resources) -> *mut c_void {
    // SAFETY: the texts live as long as `of`.
    unsafe { fmi2Instantiate(c"one".as_ptr(), 0, of.token.as_ptr(), of.uri.as_ptr(), null(), 0, 0) }
}

fn get3(c: *mut c_void, reference: u32) -> f64 {
    let mut value = f64::NAN;
    // SAFETY: one reference, one value.
    assert_eq!(unsafe { fmi3GetFloat64(c, &reference, 1, &mut value, 1) }, 0);
    value
}

fn start3(c: *mut c_void, stop: f64) {
    // SAFETY: `c` is an instance.
    unsafe {
        assert_eq!(fmi3EnterInitializationMode(c, false, 0.0, 0.0, true, stop), 0);
        assert_eq!(fmi3ExitInitializationMode(c), 0);
    }
}

fn update(c: *mut c_void) -> EventInfo {
    let mut info = EventInfo {
        newDiscreteStatesNeeded: 1,
        terminateSimulation: 1,
        nominalsOfContinuousStatesChanged: 1,
        valuesOfContinuousStatesChanged: 1,
        nextEventTimeDefined: 1,
        nextEventTime: 0.0,
    };
    // SAFETY: `c` is an instance.
    assert_eq!(unsafe { fmi2NewDiscreteStates(c, &mut info) }, 0);
    info
}

fn start_me(c: *mut c_void) {
    // SAFETY: `c` is an instance.
    unsafe {
        assert_eq!(fmi2SetupExperiment(c, 0, 0.0, 0.0, 1, 3.0), 0);
        assert_eq!(fmi2EnterInitializationMode(c), 0);
        assert_eq!(fmi2ExitInitializationMode(c), 0);
    }
    let info = update(c);
    assert_eq!((info.newDiscreteStatesNeeded, info.terminateSimulation, info.nextEventTimeDefined), (0, 0, 0));
    // SAFETY: `c` is an instance.
    assert_eq!(unsafe { fmi2EnterContinuousTimeMode(c) }, 0);
}

/// Height and speed before the first bounce.
fn fall(t: f64) -> [f64; 2] {
    [1.0 - 0.5 * G * t * t, -G * t]
}

#[test]
fn a_ball_bounces_where_its_indicator_changes_sign() {
    let ball = resources(BALL);
    let c = me2(&ball);
    start_me(c);
    let bounce = (2.0 / G).sqrt();
    let indicator = |t: f64| {
        let (mut z, mut dx) = ([0.0], [0.0; 2]);
        // SAFETY: two states, one indicator.
        unsafe {
            assert_eq!(fmi2SetTime(c, t), 0);
            assert_eq!(fmi2SetContinuousStates(c, fall(t).as_ptr(), 2), 0);
            assert_eq!(fmi2GetDerivatives(c, dx.as_mut_ptr(), 2), 0);
            assert_eq!(fmi2GetEventIndicators(c, z.as_mut_ptr(), 1), 0);
        }
        assert_eq!(dx, [fall(t)[1], -G]);
        z[0]
    };
    let (before, after) = (indicator(bounce - 1e-6), indicator(bounce + 1e-9));
    assert!(before > 0.0 && after < 0.0, "{before} {after}");
    // The indicator is the crossing function itself: h.
    assert!((indicator(0.2) - fall(0.2)[0]).abs() < 1e-12);
    let t = bounce + 1e-9;
    indicator(t);
    let (mut needs_event, mut ends) = (1, 1);
    // SAFETY: all pointers are to locals of the right lengths.
    unsafe {
        assert_eq!(fmi2CompletedIntegratorStep(c, 1, &mut needs_event, &mut ends), 0);
        assert_eq!((needs_event, ends), (0, 0));
        assert_eq!(fmi2EnterEventMode(c), 0);
        assert_eq!(update(c).valuesOfContinuousStatesChanged, 1);
        let mut x = [0.0; 2];
        assert_eq!(fmi2GetContinuousStates(c, x.as_mut_ptr(), 2), 0);
        assert_eq!(x, [fall(t)[0], -0.7 * fall(t)[1]]);
        let (n, mut count) = (ball.reference("n"), 0);
        assert_eq!(fmi2GetInteger(c, &n, 1, &mut count), 0);
        assert_eq!(count, 1);
        assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
        assert_eq!(fmi2Terminate(c), 0);
        fmi2FreeInstance(c);
    }
}

/// Where an importer has found a crossing a function may be evaluated once more with another rounding error. It is believed within that, and
/// not where no relation is near its threshold.
#[test]
fn an_importer_that_has_seen_a_crossing_is_believed() {
    // Operands of some size, and operands that are as small as their difference.
    let of = ["x + 100 > 100", "x > 0"].map(|relation| {
        resources(&format!(
            "model M Real x(start = -1, fixed = true); Boolean b; equation der(x) = 1; b = {relation}; end M;"
        ))
    });
    for (of, x, expected) in [(&of[0], -1e-9, 1), (&of[0], -1e-3, 0), (&of[1], -1e-13, 1), (&of[1], -1e-6, 0)] {
        let c = me2(of);
        start_me(c);
        let (reference, mut value, mut z) = (of.reference("b"), -1, 0.0);
        // SAFETY: one state, one Boolean, one indicator.
        unsafe {
            assert_eq!(fmi2GetEventIndicators(c, &mut z, 1), 0);
            assert_eq!(fmi2SetTime(c, 1.0 + x), 0);
            assert_eq!(fmi2SetContinuousStates(c, &x, 1), 0);
            assert_eq!(fmi2EnterEventMode(c), 0);
            update(c);
            assert_eq!(fmi2GetBoolean(c, &reference, 1, &mut value), 0);
            assert_eq!(value, expected, "{x}");
            assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
            assert_eq!(fmi2GetEventIndicators(c, &mut z, 1), 0);
            // The sign of an indicator belongs to the value of its relation.
            assert_eq!(z > 0.0, expected == 1);
            fmi2FreeInstance(c);
        }
    }
}

/// Where x > 0 ends x < 0 does not hold yet: it changes at the end of the band around the threshold. An importer that stops a little before that end,
/// by rounding, means that relation; x > 0 does not become true again.
#[test]
fn the_relation_that_the_importer_saw_is_believed() {
    let of = resources(
        "model M
  Real x(start = 1, fixed = true);
  Boolean p = x + 1 > 1, n = x + 1 < 1;
  Integer k(start = 0, fixed = true);
equation
  der(x) = -1;
  when p then
    k = pre(k) + 1;
  end when;
end M;",
    );
    let c = me2(&of);
    start_me(c);
    let at = |x: f64| {
        let (mut z, mut k, mut below) = ([0.0; 2], -1, -1);
        // SAFETY: one state, two indicators.
        unsafe {
            assert_eq!(fmi2SetTime(c, 1.0 - x), 0);
            assert_eq!(fmi2SetContinuousStates(c, &x, 1), 0);
            assert_eq!(fmi2EnterEventMode(c), 0);
            update(c);
            assert_eq!(fmi2GetInteger(c, &of.reference("k"), 1, &mut k), 0);
            assert_eq!(fmi2GetBoolean(c, &of.reference("n"), 1, &mut below), 0);
            assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
            assert_eq!(fmi2GetEventIndicators(c, z.as_mut_ptr(), 2), 0);
        }
        (k, below, z[1])
    };
    let (k, below, left) = at(-2.0_f64.powi(-52));
    assert!((k, below) == (0, 0) && left > 0.0, "{k} {below} {left}");
    // 80 % of the way to the end of the band.
    let (k, below, _) = at(-2.0_f64.powi(-52) - 0.8 * left);
    assert_eq!((k, below), (0, 1));
    // SAFETY: it has not been freed.
    unsafe { fmi2FreeInstance(c) };
}

/// A ball that may come to rest: where `h <= 0` becomes true, `v <= 0` begins to matter, and its indicator gets another sign. An importer that
/// asks for an event because of that, in the same instant, finds it settled: the ball has bounced, and goes on.
#[test]
fn an_event_that_is_settled_stays_settled() {
    let of = resources(
        "model M
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Boolean flying(start = true, fixed = true), impact;
equation
  impact = h <= 0;
  der(h) = v;
  der(v) = if flying then -9.81 else 0;
  when {impact, h <= 0 and v <= 0} then
    flying = edge(impact);
    reinit(v, if edge(impact) then -0.7*pre(v) else 0);
  end when;
end M;",
    );
    let c = me2(&of);
    start_me(c);
    let t = (2.0 / G).sqrt() + 1e-12;
    let (mut x, mut flying) = (fall(t), -1);
    // SAFETY: two states, a Boolean.
    unsafe {
        assert_eq!(fmi2SetTime(c, t), 0);
        assert_eq!(fmi2SetContinuousStates(c, x.as_ptr(), 2), 0);
        assert_eq!(fmi2EnterEventMode(c), 0);
        assert_eq!(update(c).valuesOfContinuousStatesChanged, 1);
        for _ in 0..4 {
            assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
            assert_eq!(fmi2EnterEventMode(c), 0);
            assert_eq!(update(c).valuesOfContinuousStatesChanged, 0);
        }
        assert_eq!(fmi2GetContinuousStates(c, x.as_mut_ptr(), 2), 0);
        assert_eq!(fmi2GetBoolean(c, &of.reference("flying"), 1, &mut flying), 0);
        assert_eq!((x[1], flying), (-0.7 * fall(t)[1], 1));
        fmi2FreeInstance(c);
    }
}

/// What an importer was shown tells what it has seen. Evaluated again with an error of 2e-11, `x + 100 > 100` is the relation that was shown to
/// have changed at that time, though the other one is closer to its threshold. If it was shown to have changed at an earlier point only, the
/// importer has seen that error end: nothing changes, and the same error is not shown as a crossing again.
#[test]
fn errors_of_what_was_shown_make_no_other_event() {
    let of = resources(
        "model M
  Real x(start = -1, fixed = true), y(start = -1, fixed = true);
  Boolean b = x + 100 > 100, c = y + 100 > 100;
equation
  der(x) = 1;
  der(y) = 1;
end M;",
    );
    for (is_shown_there, expected) in [(true, (1, 0)), (false, (0, 0))] {
        let c = me2(&of);
        start_me(c);
        let (mut z, mut values) = ([0.0; 2], (-1, -1));
        let mut look = |t: f64, x: [f64; 2]| {
            // SAFETY: two states, two indicators.
            unsafe {
                assert_eq!(fmi2SetTime(c, t), 0);
                assert_eq!(fmi2SetContinuousStates(c, x.as_ptr(), 2), 0);
                assert_eq!(fmi2GetEventIndicators(c, z.as_mut_ptr(), 2), 0);
            }
            z
        };
        let shown_at = if is_shown_there { 1.0 } else { 1.0 - 1e-9 };
        assert!(look(shown_at, [1e-11, -1e-12])[0] > 0.0);
        assert!(look(1.0, [-1e-11, -1e-12])[0] < 0.0);
        // SAFETY: two Booleans.
        unsafe {
            assert_eq!(fmi2EnterEventMode(c), 0);
            update(c);
            assert_eq!(fmi2GetBoolean(c, &of.reference("b"), 1, &mut values.0), 0);
            assert_eq!(fmi2GetBoolean(c, &of.reference("c"), 1, &mut values.1), 0);
            assert_eq!(values, expected);
            assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
        }
        for x in [1e-11, -1e-11] {
            assert_eq!(look(1.0, [x, -1e-12])[0] > 0.0, expected.0 == 1, "{x}");
        }
        assert!(look(1.1, [0.1, 0.1])[0] > 0.0);
        // SAFETY: it has not been freed.
        unsafe { fmi2FreeInstance(c) };
    }
}

/// A state of a machine is left at t = 1: before event mode a derivative in it is what it was, afterwards it has no value.
#[test]
fn what_is_left_is_shown_before_event_mode() {
    let of = resources(
        "model M
  model A
    Real x(start = 0, fixed = true);
  equation
    der(x) = 2;
  end A;
  model B
    Real y(start = 0, fixed = true);
  equation
    der(y) = 1;
  end B;
  A a;
  B b;
equation
  initialState(a);
  transition(a, b, time > 1);
end M;",
    );
    let c = cs3(&of, true, null_mut());
    start3(c, 3.0);
    let (mut a, mut b, mut d, mut e, mut has_next, mut next) = (true, true, true, true, true, 0.0);
    let (mut needs, mut ends, mut early, mut last) = (false, true, false, 0.0);
    // SAFETY: all pointers are to locals.
    unsafe {
        assert_eq!(fmi3UpdateDiscreteStates(c, &mut a, &mut b, &mut d, &mut e, &mut has_next, &mut next), 0);
        assert_eq!(fmi3EnterStepMode(c), 0);
        assert_eq!(fmi3DoStep(c, 0.0, 2.0, true, &mut needs, &mut ends, &mut early, &mut last), 0);
        assert!(needs && (last - 1.0).abs() < 1e-9);
        assert_eq!(get3(c, of.reference("der(a.x)")), 2.0);
        assert_eq!(fmi3EnterEventMode(c), 0);
        assert!(get3(c, of.reference("der(a.x)")).is_nan());
        fmi3FreeInstance(c);
    }
}

#[test]
fn co_simulation_returns_at_the_event_and_shows_both_limits() {
    let ball = resources(BALL);
    let c = cs3(&ball, true, null_mut());
    start3(c, 3.0);
    let (v, bounce) = (ball.reference("v"), (2.0 / G).sqrt());
    let (mut needs, mut ends, mut early, mut last) = (false, true, false, 0.0);
    // SAFETY: all pointers are to locals.
    unsafe {
        let (mut a, mut b, mut d, mut e, mut next) = (true, true, true, true, 0.0);
        let mut has_next = true;
        assert_eq!(fmi3UpdateDiscreteStates(c, &mut a, &mut b, &mut d, &mut e, &mut has_next, &mut next), 0);
        assert_eq!(fmi3EnterStepMode(c), 0);
        assert_eq!(fmi3DoStep(c, 0.0, 1.0, true, &mut needs, &mut ends, &mut early, &mut last), 0);
        assert!(needs && early && !ends);
        assert!((last - bounce).abs() < 1e-9, "{last}");
        assert!((get3(c, v) + G * bounce).abs() < 1e-6);
        assert_eq!(fmi3EnterEventMode(c), 0);
        assert!((get3(c, v) - 0.7 * G * bounce).abs() < 1e-6);
        assert_eq!(fmi3UpdateDiscreteStates(c, &mut a, &mut b, &mut d, &mut e, &mut has_next, &mut next), 0);
        assert!(!a && !b);
        assert_eq!(fmi3EnterStepMode(c), 0);
        // `h < 0` ends again in the next instant; nothing else happens up to 1 s.
        let mut n_events = 0;
        while last < 1.0 - 1e-12 {
            assert_eq!(fmi3DoStep(c, last, 1.0 - last, true, &mut needs, &mut ends, &mut early, &mut last), 0);
            if needs {
                n_events += 1;
                assert!(last - bounce < 1e-9);
                assert_eq!(fmi3EnterEventMode(c), 0);
                assert_eq!(fmi3UpdateDiscreteStates(c, &mut a, &mut b, &mut d, &mut e, &mut has_next, &mut next), 0);
                assert_eq!(fmi3EnterStepMode(c), 0);
            }
        }
        assert!(n_events <= 1 && !early && (get3(c, ball.reference("h")) - after_bounce(1.0)).abs() < 1e-6);
        fmi3FreeInstance(c);
    }
}

/// The height after a bounce, as long as there is no second one.
fn after_bounce(t: f64) -> f64 {
    let bounce = (2.0 / G).sqrt();
    let s = t - bounce;
    0.7 * G * bounce * s - 0.5 * G * s * s
}

fn step3(c: *mut c_void, from: f64, to: f64) {
    let (mut needs, mut ends, mut early, mut last) = (false, false, false, 0.0);
    // SAFETY: all pointers are to locals.
    let status = unsafe { fmi3DoStep(c, from, to - from, true, &mut needs, &mut ends, &mut early, &mut last) };
    assert_eq!((status, ends, early), (0, false, false));
}

/// h = 3 - g/2 t² before the first bounce. After the initialisation a state is computed.
#[test]
fn a_start_value_of_a_state_is_set() {
    let ball = resources(BALL);
    let (c, h) = (cs3(&ball, false, null_mut()), ball.reference("h"));
    assert_eq!(get3(c, h), 1.0);
    // SAFETY: one reference, one value.
    unsafe { assert_eq!(fmi3SetFloat64(c, &h, 1, &3.0, 1), 0) };
    assert_eq!(get3(c, h), 3.0);
    start3(c, 3.0);
    assert_eq!(get3(c, h), 3.0);
    step3(c, 0.0, 0.5);
    assert!((get3(c, h) - (3.0 - 0.125 * G)).abs() < 1e-6);
    // SAFETY: one reference, one value.
    unsafe {
        assert_eq!(fmi3SetFloat64(c, &h, 1, &3.0, 1), 3);
        fmi3FreeInstance(c);
    }
}

#[test]
fn a_state_travels_as_bytes() {
    let ball = resources(BALL);
    let (first, second) = (cs3(&ball, false, null_mut()), cs3(&ball, false, null_mut()));
    start3(first, 3.0);
    step3(first, 0.0, 0.5);
    let bytes = {
        let (mut state, mut size) = (null_mut(), 0);
        // SAFETY: the buffer has the size that was asked for.
        unsafe {
            assert_eq!(fmi3GetFMUState(first, &mut state), 0);
            assert_eq!(fmi3SerializedFMUStateSize(first, state, &mut size), 0);
            let mut bytes = vec![0; size];
            assert_eq!(fmi3SerializeFMUState(first, state, bytes.as_mut_ptr(), size), 0);
            assert_eq!(fmi3FreeFMUState(first, &mut state), 0);
            assert!(state.is_null());
            bytes
        }
    };
    step3(first, 0.5, 1.6);
    let mut state = null_mut();
    // SAFETY: as above.
    unsafe {
        assert_eq!(fmi3DeserializeFMUState(second, bytes.as_ptr(), bytes.len(), &mut state), 0);
        assert_eq!(fmi3SetFMUState(second, state), 0);
        assert_eq!(fmi3FreeFMUState(second, &mut state), 0);
    }
    let h = ball.reference("h");
    assert!((get3(second, h) - after_bounce(0.5)).abs() < 1e-6);
    step3(second, 0.5, 1.6);
    assert_eq!(get3(first, h).to_bits(), get3(second, h).to_bits());
    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    // SAFETY: as above.
    unsafe {
        assert_eq!(fmi3DeserializeFMUState(second, damaged.as_ptr(), damaged.len(), &mut state), 3);
        fmi3FreeInstance(first);
        fmi3FreeInstance(second);
    }
}

#[test]
fn instances_in_threads_do_not_disturb_each_other() {
    let ball = resources(BALL);
    let decay = resources(
        "model Decay parameter Real k = 1; output Real x(start = 1, fixed = true); equation der(x) = -k*x; end Decay;",
    );
    std::thread::scope(|scope| {
        for i in 0..100 {
            let (ball, decay) = (&ball, &decay);
            scope.spawn(move || {
                let is_ball = i % 2 == 0;
                let of = if is_ball { ball } else { decay };
                let c = cs3(of, false, null_mut());
                let k = 1.0 + f64::from(i) / 100.0;
                if !is_ball {
                    // SAFETY: one reference, one value.
                    assert_eq!(unsafe { fmi3SetFloat64(c, &of.reference("k"), 1, &k, 1) }, 0);
                }
                start3(c, 1.0);
                for n in 0..10 {
                    step3(c, f64::from(n) / 10.0, f64::from(n + 1) / 10.0);
                }
                let (name, expected) = if is_ball { ("h", after_bounce(1.0)) } else { ("x", (-k).exp()) };
                let found = get3(c, of.reference(name));
                assert!((found - expected).abs() < 1e-5, "{name}: {found} {expected}");
                // SAFETY: it is not used any more.
                unsafe { fmi3FreeInstance(c) };
            });
        }
    });
}

#[test]
fn an_input_moves_at_the_rate_that_is_given() {
    // x = t²/2 for u = t, which steps of 0.5 s with held inputs would miss by far.
    let ramp =
        resources("model Ramp input Real u; output Real x(start = 0, fixed = true); equation der(x) = u; end Ramp;");
    // SAFETY: the texts live as long as `ramp`; one reference, one value.
    unsafe {
        let c = fmi2Instantiate(c"one".as_ptr(), 1, ramp.token.as_ptr(), ramp.uri.as_ptr(), null(), 0, 0);
        assert_eq!(fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0), 0);
        assert_eq!(fmi2EnterInitializationMode(c), 0);
        assert_eq!(fmi2ExitInitializationMode(c), 0);
        let (u, x) = (ramp.reference("u"), ramp.reference("x"));
        // Beyond the default stop time of 1 s: none was given.
        for n in 0..8 {
            let t = f64::from(n) * 0.5;
            assert_eq!(fmi2SetReal(c, &u, 1, &t), 0);
            assert_eq!(fmi2SetRealInputDerivatives(c, &u, 1, &1, &1.0), 0);
            assert_eq!(fmi2DoStep(c, t, 0.5, 1), 0);
        }
        let (mut value, mut slope) = (0.0, 0.0);
        assert_eq!(fmi2GetReal(c, &x, 1, &mut value), 0);
        assert!((value - 8.0).abs() < 1e-6, "{value}");
        assert_eq!(fmi2GetRealOutputDerivatives(c, &x, 1, &1, &mut slope), 0);
        assert!((slope - 4.0).abs() < 1e-6, "{slope}");
        fmi2FreeInstance(c);
    }
}

#[test]
fn derivatives_along_and_against_the_direction() {
    let spring = resources(
        "model Spring parameter Real k = 3; input Real u; output Real y; Real x(start = 1, fixed = true); Real v(start = 0, fixed = true);
         equation der(x) = v; der(v) = -k*x*x + 2*u; y = 5*x; end Spring;",
    );
    let c = me2(&spring);
    start_me(c);
    let refer = |name: &str| spring.reference(name);
    let program = spring.model.program();
    let of = saltus_export::references::References::of_slot;
    let acceleration =
        of(program.states.iter().find(|s| s.value == spring.model.variable("v").unwrap().slot).unwrap().derivative);
    let unknowns = [acceleration, refer("y")];
    let knowns = [refer("x"), refer("u")];
    let mut out = [0.0; 2];
    // SAFETY: the lengths are those of the arrays.
    unsafe {
        // At x = 1: ∂a/∂x = -2kx = -6, ∂a/∂u = 2; ∂y/∂x = 5.
        assert_eq!(
            fmi2GetDirectionalDerivative(
                c,
                unknowns.as_ptr(),
                2,
                knowns.as_ptr(),
                2,
                [1.0, 10.0].as_ptr(),
                out.as_mut_ptr()
            ),
            0
        );
        assert!((out[0] - 14.0).abs() < 1e-12 && (out[1] - 5.0).abs() < 1e-12, "{out:?}");
        let seed = [1.0, 100.0];
        assert_eq!(
            fmi3GetAdjointDerivative(
                c,
                unknowns.as_ptr(),
                2,
                knowns.as_ptr(),
                2,
                seed.as_ptr(),
                2,
                out.as_mut_ptr(),
                2
            ),
            0
        );
        assert!((out[0] - 494.0).abs() < 1e-12 && (out[1] - 2.0).abs() < 1e-12, "{out:?}");
        // A parameter is not something to differentiate by here.
        assert_eq!(
            fmi2GetDirectionalDerivative(c, unknowns.as_ptr(), 2, &refer("k"), 1, [1.0].as_ptr(), out.as_mut_ptr()),
            3
        );
        fmi2FreeInstance(c);
    }
}

#[test]
fn a_parameter_is_tuned_at_an_event() {
    let decay = resources(
        "model Decay parameter Real k = 1; parameter Real twice = 2*k; output Real x(start = 1, fixed = true); equation der(x) = -twice*x; end Decay;",
    );
    let c = me2(&decay);
    start_me(c);
    let (k, mut dx) = (decay.reference("k"), [0.0]);
    // SAFETY: the lengths are those of the arrays.
    unsafe {
        assert_eq!(fmi2GetDerivatives(c, dx.as_mut_ptr(), 1), 0);
        assert_eq!(dx, [-2.0]);
        assert_eq!(fmi2EnterEventMode(c), 0);
        assert_eq!(fmi2SetReal(c, &k, 1, &4.0), 0);
        update(c);
        assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
        assert_eq!(fmi2GetDerivatives(c, dx.as_mut_ptr(), 1), 0);
        assert_eq!(dx, [-8.0]);
        // What the model computes cannot be set.
        assert_eq!(fmi2SetReal(c, &decay.reference("twice"), 1, &1.0), 3);
        fmi2FreeInstance(c);
    }
}

#[test]
fn assertions_are_told_with_their_line() {
    let limited = resources(
        "model Limited\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = 1;\n  assert(x < 0.5, \"too far\");\nend Limited;",
    );
    let mut kept: Vec<String> = Vec::new();
    let c = cs3(&limited, false, (&raw mut kept).cast());
    start3(c, 1.0);
    let (mut needs, mut ends, mut early, mut last) = (false, false, false, 0.0);
    // SAFETY: all pointers are to locals.
    unsafe {
        assert_eq!(fmi3DoStep(c, 0.0, 1.0, true, &mut needs, &mut ends, &mut early, &mut last), 3);
        // After an error only the end is left.
        assert_eq!(fmi3DoStep(c, 0.0, 1.0, true, &mut needs, &mut ends, &mut early, &mut last), 3);
        fmi3FreeInstance(c);
    }
    assert!(kept[0].contains("Model.mo:5:") && kept[0].contains("too far"), "{kept:?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let ball = resources(BALL);
    let mut kept: Vec<String> = Vec::new();
    let environment: *mut c_void = (&raw mut kept).cast();
    // SAFETY: the texts live long enough; null is not an instance and says so.
    unsafe {
        let wrong = fmi3InstantiateModelExchange(
            c"x".as_ptr(),
            c"{0}".as_ptr(),
            ball.path.as_ptr(),
            false,
            true,
            environment,
            Some(log),
        );
        assert!(wrong.is_null());
        let nowhere = fmi3InstantiateModelExchange(
            c"x".as_ptr(),
            ball.token.as_ptr(),
            c"/nowhere".as_ptr(),
            false,
            true,
            environment,
            Some(log),
        );
        assert!(nowhere.is_null());
        assert!(kept[0].contains("token") && kept[1].contains("/nowhere"), "{kept:?}");
        assert_eq!(fmi3Terminate(null_mut()), 3);
        fmi3FreeInstance(null_mut());
        let c = cs3(&ball, false, null_mut());
        let mut value = 0.0;
        assert_eq!(fmi3GetFloat64(c, &999_999, 1, &mut value, 1), 3);
        assert_eq!(fmi3ExitInitializationMode(c), 3);
        assert_eq!(fmi3SetTime(c, 1.0), 3);
        assert_eq!(fmi3EnterInitializationMode(c, false, 0.0, 0.0, false, 0.0), 0);
        assert_eq!(fmi3SetFloat64(c, &ball.reference("h"), 1, &f64::NAN, 1), 3);
        assert_eq!(fmi3EnterConfigurationMode(c), 3);
        fmi3FreeInstance(c);
    }
}

/// Where `x < 0` ends, `x > 0` does not hold yet; an importer that stops a little later must find both settled, because it
/// would see no sign change afterwards.
#[test]
fn two_relations_at_one_threshold_are_settled_together() {
    let two = resources(
        "model Two output Real x(start = -1, fixed = true); output Boolean above = x > 0; output Boolean below = x < 0; equation der(x) = 1; end Two;",
    );
    let c = me2(&two);
    start_me(c);
    let values = || {
        let (references, mut values) = ([two.reference("above"), two.reference("below")], [7; 2]);
        // SAFETY: two references, two values.
        assert_eq!(unsafe { fmi2GetBoolean(c, references.as_ptr(), 2, values.as_mut_ptr()) }, 0);
        values
    };
    assert_eq!(values(), [0, 1]);
    let (mut z, x) = ([0.0; 2], [1e-9]);
    // SAFETY: one state, two indicators.
    unsafe {
        assert_eq!(fmi2GetEventIndicators(c, z.as_mut_ptr(), 2), 0);
        assert_eq!(z, [-1.0, -1.0]);
        assert_eq!(fmi2SetTime(c, 1.0 + 1e-9), 0);
        assert_eq!(fmi2SetContinuousStates(c, x.as_ptr(), 1), 0);
        assert_eq!(fmi2EnterEventMode(c), 0);
        update(c);
        assert_eq!(values(), [1, 0]);
        assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
        assert_eq!(fmi2GetEventIndicators(c, z.as_mut_ptr(), 2), 0);
        assert!(z[0] > 0.0 && z[1] > 0.0, "{z:?}");
        fmi2FreeInstance(c);
    }
}

#[test]
fn arrays_are_read_and_set_at_once() {
    // y = a·u with u = {1, 2}: 1·1 + 2·2 and 3·1 + 4·2
    let product = resources(
        "model Product parameter Real a[2, 2] = {{1, 2}, {3, 4}}; input Real u[2]; output Real y[2]; equation y = a*u; end Product;",
    );
    let c = cs3(&product, false, null_mut());
    let references = saltus_export::references::References::new(&product.model);
    let reference = |name: &str| {
        references.of_group(references.groups.iter().position(|g| g.name == name).unwrap_or_else(|| panic!("{name}")))
    };
    let (a, u, y) = (reference("a"), reference("u"), reference("y"));
    let mut values = [0.0; 4];
    // SAFETY: the lengths are those of the arrays.
    unsafe {
        assert_eq!(fmi3GetFloat64(c, &a, 1, values.as_mut_ptr(), 4), 0);
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(fmi3SetFloat64(c, &u, 1, [1.0, 2.0].as_ptr(), 2), 0);
        start3(c, 1.0);
        let mut out = [0.0; 2];
        assert_eq!(fmi3GetFloat64(c, &y, 1, out.as_mut_ptr(), 2), 0);
        assert_eq!(out, [5.0, 11.0]);
        // As many values as elements, neither fewer nor more.
        assert_eq!(fmi3GetFloat64(c, &y, 1, values.as_mut_ptr(), 4), 3);
        assert_eq!(fmi3GetFloat64(c, &y, 1, out.as_mut_ptr(), 1), 3);
        fmi3FreeInstance(c);
    }
}

/// A relation crosses its threshold in the instant in which a state jumps. The step after it ends beyond the threshold: that is an event
/// to come, not a threshold that was passed without one.
#[test]
fn a_step_may_end_beyond_a_threshold() {
    let saw = resources(
        "model Saw Real x(start = 0, fixed = true); output Boolean b = sin(2*3.141592653589793*time) > 0;
         equation der(x) = 1; when sample(0.5, 0.5) then reinit(x, 0); end when; end Saw;",
    );
    let c = me2(&saw);
    // SAFETY: one state; all pointers are to locals.
    unsafe {
        assert_eq!(fmi2SetupExperiment(c, 0, 0.0, 0.0, 1, 3.0), 0);
        assert_eq!(fmi2EnterInitializationMode(c), 0);
        assert_eq!(fmi2ExitInitializationMode(c), 0);
        let info = update(c);
        assert_eq!((info.nextEventTimeDefined, info.nextEventTime), (1, 0.5));
        assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
        let (mut needs_event, mut ends) = (1, 1);
        for (t, x) in [(1e-3, 1e-3), (0.5, 0.5)] {
            assert_eq!(fmi2SetTime(c, t), 0);
            assert_eq!(fmi2SetContinuousStates(c, &x, 1), 0);
            assert_eq!(fmi2CompletedIntegratorStep(c, 1, &mut needs_event, &mut ends), 0);
            assert_eq!(fmi2EnterEventMode(c), 0);
            update(c);
            assert_eq!(fmi2EnterContinuousTimeMode(c), 0);
        }
        let mut x = 7.0;
        assert_eq!(fmi2GetContinuousStates(c, &mut x, 1), 0);
        assert_eq!(x, 0.0);
        assert_eq!(fmi2SetTime(c, 0.501), 0);
        assert_eq!(fmi2SetContinuousStates(c, &1e-3, 1), 0);
        assert_eq!(fmi2CompletedIntegratorStep(c, 1, &mut needs_event, &mut ends), 0);
        assert_eq!(fmi2EnterEventMode(c), 0);
        update(c);
        let (b, mut value) = (saw.reference("b"), 1);
        assert_eq!(fmi2GetBoolean(c, &b, 1, &mut value), 0);
        assert_eq!(value, 0);
        fmi2FreeInstance(c);
    }
}

/// Inputs that jump at an event have other values on its left.
#[test]
fn an_input_changes_at_an_event_of_the_importer() {
    let counter = resources(
        "model Counter
  input Boolean b(start = false);
  input Integer k(start = 0);
  input Real r(start = 0);
  output Real changes(start = 0, fixed = true), edges(start = 0, fixed = true);
  output Real dk(start = 0, fixed = true), dr(start = 0, fixed = true);
equation
  when change(b) then
    changes = pre(changes) + 1;
    dr = r - pre(r);
  end when;
  when edge(b) then
    edges = pre(edges) + 1;
  end when;
  when change(k) then
    dk = k - pre(k);
  end when;
end Counter;",
    );
    let c = me2(&counter);
    start_me(c);
    let set_real = |value: f64| {
        // SAFETY: one reference, one value.
        assert_eq!(unsafe { fmi2SetReal(c, &counter.reference("r"), 1, &value) }, 0);
    };
    // At each event: b, k and the jump of r; then changes, edges, the jump of k and that of r.
    let events = [
        (true, 3, 4.0, [1.0, 1.0, 3.0, 4.0]),
        (false, 3, 0.0, [2.0, 1.0, 3.0, 0.0]),
        (true, 7, -1.0, [3.0, 2.0, 4.0, -1.0]),
    ];
    for (n, (b, k, jump, expected)) in events.into_iter().enumerate() {
        let t = (n + 1) as f64;
        // SAFETY: `c` is an instance.
        unsafe {
            // A continuous input moves on the way.
            for part in [0.5, 1.0] {
                assert_eq!(fmi2SetTime(c, t - 1.0 + part), 0);
                set_real(t - 1.0 + part);
            }
            assert_eq!(fmi2EnterEventMode(c), 0);
            assert_eq!(fmi2SetBoolean(c, &counter.reference("b"), 1, &i32::from(b)), 0);
            assert_eq!(fmi2SetInteger(c, &counter.reference("k"), 1, &k), 0);
        }
        set_real(t + jump);
        update(c);
        let found = ["changes", "edges", "dk", "dr"].map(|name| {
            let mut value = f64::NAN;
            // SAFETY: one reference, one value.
            assert_eq!(unsafe { fmi2GetReal(c, &counter.reference(name), 1, &mut value) }, 0);
            value
        });
        assert_eq!(found, expected, "event {n}");
        // SAFETY: `c` is an instance.
        assert_eq!(unsafe { fmi2EnterContinuousTimeMode(c) }, 0);
    }
    // SAFETY: `c` is not used afterwards.
    unsafe { fmi2FreeInstance(c) };
}

/// Values that a variable cannot have, and times that are no times.
#[test]
fn values_of_another_kind_are_refused() {
    let kinds = resources(
        "model Kinds
  type Mode = enumeration(off, slow, fast);
  parameter Mode mode = Mode.slow;
  parameter Integer n = 3;
  parameter Boolean on = true;
  parameter Real p(min = 0, max = 1) = 0.5;
  input Real u;
  output Real y = (if on then 1 else 2)*n*p*Integer(mode) + u;
end Kinds;",
    );
    let c = cs3(&kinds, false, null_mut());
    // SAFETY: `c` is an instance; one reference, one value.
    unsafe {
        let set = |name: &str, value: f64| fmi3SetFloat64(c, &kinds.reference(name), 1, &value, 1);
        assert_eq!([set("mode", 4.0), set("mode", 0.0), set("mode", 1.5), set("mode", 3.0)], [3, 3, 3, 0]);
        assert_eq!([set("n", 1.5), set("n", f64::INFINITY), set("n", -7.0)], [3, 3, 0]);
        assert_eq!([set("p", -0.1), set("p", 1.1), set("p", f64::NAN), set("p", 1.0)], [3, 3, 3, 0]);
        start3(c, 1.0);
        // -7 * 1 * 3
        assert_eq!(get3(c, kinds.reference("y")), -21.0);
        let (mut flags, mut last) = ([false; 3], 0.0);
        let mut step = |from: f64, size: f64| {
            let [event, terminate, early] = &mut flags;
            fmi3DoStep(c, from, size, true, event, terminate, early, &mut last)
        };
        for (from, size) in
            [(f64::NAN, 0.1), (0.0, f64::NAN), (0.0, f64::INFINITY), (0.0, -0.1), (-1.0, 0.5), (0.5, 0.1)]
        {
            assert_eq!(step(from, size), 3, "{from} {size}");
        }
        assert_eq!([step(0.0, 0.0), step(0.0, 0.5), step(0.5, 0.5)], [0, 0, 0]);
        assert_eq!(last, 1.0);
        fmi3FreeInstance(c);
    }
}
