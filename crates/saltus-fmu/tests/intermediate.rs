//! Intermediate update of FMI 3.0: the importer looks at the ends of internal steps, and may end a step there.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::{Resources, resources};
use saltus_fmu::fmi3::*;

const DECAY: &str = "model Decay Real x(start = 1, fixed = true); equation der(x) = -x; end Decay;";

/// What the callback is given and keeps.
struct Seen {
    instance: *mut c_void,
    x: u32,
    /// Ask for an early return from this time on.
    return_after: f64,
    /// Time, value, whether an internal step is over, whether the step may end here.
    points: Vec<(f64, f64, bool, bool)>,
}

unsafe extern "C" fn look(
    environment: *mut c_void,
    time: f64,
    wants_inputs: bool,
    may_get: bool,
    is_finished: bool,
    may_return: bool,
    returns: *mut bool,
    return_time: *mut f64,
) {
    // SAFETY: the environment is a `Seen` that lives as long as the instance; the other pointers are those of the runtime.
    unsafe {
        let seen = &mut *environment.cast::<Seen>();
        let mut value = f64::NAN;
        assert!(may_get && !wants_inputs);
        assert_eq!(fmi3GetFloat64(seen.instance, &seen.x, 1, &mut value, 1), 0);
        seen.points.push((time, value, is_finished, may_return));
        if may_return && time >= seen.return_after {
            *returns = true;
            *return_time = time;
        }
    }
}

fn instance(of: &Resources, seen: &mut Seen, may_return: bool) -> *mut c_void {
    let environment = (&raw mut *seen).cast();
    // SAFETY: the texts live as long as `of`, `seen` as long as the instance.
    let c = unsafe {
        fmi3InstantiateCoSimulation(
            c"one".as_ptr(),
            of.token.as_ptr(),
            of.path.as_ptr(),
            false,
            false,
            false,
            may_return,
            null(),
            0,
            environment,
            None,
            Some(look),
        )
    };
    // SAFETY: it is an instance.
    unsafe {
        assert_eq!(fmi3EnterInitializationMode(c, true, 1e-8, 0.0, true, 1.0), 0);
        assert_eq!(fmi3ExitInitializationMode(c), 0);
    }
    c
}

fn step(c: *mut c_void, from: f64) -> (bool, f64) {
    let (mut needs, mut ends, mut early, mut last) = (true, true, true, f64::NAN);
    // SAFETY: all pointers are to locals.
    assert_eq!(unsafe { fmi3DoStep(c, from, 1.0 - from, true, &mut needs, &mut ends, &mut early, &mut last) }, 0);
    assert!(!ends);
    (early, last)
}

/// At each point the values are those of that time: x = exp(-t).
#[test]
fn the_ends_of_internal_steps_are_shown() {
    let of = resources(DECAY);
    let mut seen = Seen { instance: null_mut(), x: of.reference("x"), return_after: 2.0, points: Vec::new() };
    let c = instance(&of, &mut seen, false);
    seen.instance = c;
    assert_eq!(step(c, 0.0), (false, 1.0));
    assert!(seen.points.len() >= 3, "{:?}", seen.points);
    assert!(seen.points.windows(2).all(|w| w[0].0 < w[1].0), "{:?}", seen.points);
    for &(t, x, is_finished, may_return) in &seen.points {
        assert!(t > 0.0 && t <= 1.0 && is_finished && !may_return);
        assert!((x - (-t).exp()).abs() < 1e-6, "{t} {x}");
    }
    // SAFETY: it has not been freed.
    unsafe { fmi3FreeInstance(c) };
}

/// The importer ends the step where it wants, and goes on from there to the same end.
#[test]
fn the_importer_ends_a_step_early() {
    let of = resources(DECAY);
    let mut seen = Seen { instance: null_mut(), x: of.reference("x"), return_after: 0.3, points: Vec::new() };
    let c = instance(&of, &mut seen, true);
    seen.instance = c;
    let (early, last) = step(c, 0.0);
    assert!(early && (0.3..1.0).contains(&last), "{early} {last}");
    assert_eq!(seen.points.last().map(|p| (p.0, p.3)), Some((last, true)));
    seen.return_after = 2.0;
    assert_eq!(step(c, last), (false, 1.0));
    let end = seen.points.last().map_or(f64::NAN, |p| p.1);
    assert!((end - (-1.0_f64).exp()).abs() < 1e-6, "{end}");
    // SAFETY: it has not been freed.
    unsafe { fmi3FreeInstance(c) };
}
