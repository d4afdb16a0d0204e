//! What the C interface costs, and whether memory stays flat: `cargo run --profile quick -p saltus-fmu --example cost -- RESOURCES…`
//!
//! In: directories `resources` of FMUs; `--memory` measures memory, too. Out: for each of them what a derivative call costs through the interface and
//! inside, what a step costs in co-simulation and inside, and the memory of the process over 1 000 instances that are made, run a step and freed.
//! Times are processor times (of Linux), which other work on the machine changes little.

use std::ffi::{CString, c_void};
use std::path::Path;
use std::ptr::null;
use std::sync::Arc;

use saltus::pipeline::Experiment;
use saltus::{Model, Simulation};
use saltus_export::package::{MODEL_FILE, token_of};
use saltus_fmu::fmi2::*;

const CALLS: u32 = 200_000;
const STEPS: u32 = 1_000;
const INSTANCES: u32 = 1_000;

struct Unit {
    token: CString,
    uri: CString,
    model: Arc<Model>,
}

impl Unit {
    fn instance(&self, kind: i32, stop: f64) -> *mut c_void {
        // SAFETY: the texts live as long as the unit.
        unsafe {
            let c = fmi2Instantiate(c"one".as_ptr(), kind, self.token.as_ptr(), self.uri.as_ptr(), null(), 0, 0);
            assert!(!c.is_null());
            assert_eq!(fmi2SetupExperiment(c, 0, 0.0, 0.0, 1, stop), 0);
            assert_eq!(fmi2EnterInitializationMode(c), 0);
            assert!(fmi2ExitInitializationMode(c) <= 1);
            c
        }
    }
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, to: *mut [i64; 2]) -> i32;
}

/// Processor time of this thread so far, in nanoseconds.
fn now() -> f64 {
    const PROCESSOR_TIME_OF_THREAD: i32 = 3;
    let mut time = [0_i64; 2];
    // SAFETY: there is room for seconds and nanoseconds.
    unsafe { clock_gettime(PROCESSOR_TIME_OF_THREAD, &raw mut time) };
    time[0] as f64 * 1e9 + time[1] as f64
}

/// Nanoseconds for each of `n` pieces of work.
fn each(n: u32, work: impl FnOnce()) -> f64 {
    let begun = now();
    work();
    (now() - begun) / f64::from(n)
}

/// The same for many calls, after some that do not count.
fn call(mut work: impl FnMut(u32)) -> f64 {
    (0..CALLS / 10).for_each(&mut work);
    each(CALLS, || (0..CALLS).for_each(&mut work))
}

fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(f64::NAN) * 4096.0 / 1e6
}

fn derivative_calls(unit: &Unit, stop: f64) {
    let n = unit.model.program().states.len();
    let c = unit.instance(0, stop);
    let mut x = vec![0.0; n];
    let mut dx = vec![0.0; n];
    let mut info = EventInfo {
        newDiscreteStatesNeeded: 0,
        terminateSimulation: 0,
        nominalsOfContinuousStatesChanged: 0,
        valuesOfContinuousStatesChanged: 0,
        nextEventTimeDefined: 0,
        nextEventTime: 0.0,
    };
    // SAFETY: the arrays have as many elements as there are states.
    let outside = unsafe {
        fmi2NewDiscreteStates(c, &mut info);
        fmi2EnterContinuousTimeMode(c);
        fmi2GetContinuousStates(c, x.as_mut_ptr(), n);
        let taken = call(|i| {
            // Another point each time, or nothing would be evaluated.
            fmi2SetTime(c, 1e-9 * f64::from(i));
            fmi2SetContinuousStates(c, x.as_ptr(), n);
            fmi2GetDerivatives(c, dx.as_mut_ptr(), n);
        });
        fmi2FreeInstance(c);
        taken
    };
    let mut simulation =
        Simulation::new(unit.model.clone(), &Experiment { stop_time: Some(stop), ..Experiment::default() });
    simulation.initialise().unwrap();
    let inside = simulation
        .examine(|inner| {
            call(|i| {
                inner.set_continuous(1e-9 * f64::from(i), &x);
                assert!(inner.eval(saltus_program::Activation::Derivatives).is_ok());
                inner.get_derivatives(&mut dx);
            })
        })
        .unwrap();
    println!("  derivatives ({n} states): {outside:.0} ns through C, {inside:.0} ns inside");
}

fn steps(unit: &Unit, stop: f64) {
    let h = stop / f64::from(STEPS);
    let c = unit.instance(1, stop);
    let outside = each(STEPS, || {
        for i in 0..STEPS {
            // SAFETY: `c` is an instance.
            let status = unsafe { fmi2DoStep(c, h * f64::from(i), h, 1) };
            // The model has ended the run itself.
            if status == 2 {
                break;
            }
            assert!(status <= 1);
        }
    });
    // SAFETY: it is not used any more.
    unsafe { fmi2FreeInstance(c) };
    let run = || {
        let mut simulation =
            Simulation::new(unit.model.clone(), &Experiment { stop_time: Some(stop), ..Experiment::default() });
        simulation.initialise().unwrap();
        simulation
    };
    let mut simulation = run();
    let inside = each(STEPS, || (1..=STEPS).for_each(|i| _ = simulation.advance_to(h * f64::from(i)).unwrap()));
    let mut simulation = run();
    let at_once = each(STEPS, || _ = simulation.advance_to(stop).unwrap());
    println!(
        "  each of {STEPS} steps: {outside:.0} ns through C, {inside:.0} ns inside, {at_once:.0} ns for the same part of one run"
    );
}

fn memory(unit: &Unit, stop: f64) {
    let mut sizes = Vec::new();
    for i in 0..INSTANCES {
        let c = unit.instance(1, stop);
        // SAFETY: `c` is an instance, and not used afterwards.
        unsafe {
            assert!(fmi2DoStep(c, 0.0, stop / 1000.0, 1) <= 1);
            fmi2FreeInstance(c);
        }
        if (i + 1) % (INSTANCES / 5) == 0 {
            sizes.push(format!("{:.1}", resident()));
        }
    }
    println!("  {INSTANCES} instances: {} MB", sizes.join(", "));
}

fn main() {
    let (options, directories): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    for directory in directories {
        let directory = Path::new(&directory).canonicalize().unwrap();
        let bytes = std::fs::read(directory.join(MODEL_FILE)).unwrap();
        let model = Arc::new(Model::from_bytes(&bytes).unwrap());
        println!("{}", model.name());
        let stop = saltus_sim::Options::new(model.program()).stop_time;
        let unit = Unit {
            token: CString::new(token_of(&bytes)).unwrap(),
            uri: CString::new(format!("file://{}", directory.display())).unwrap(),
            model,
        };
        derivative_calls(&unit, stop);
        steps(&unit, stop);
        if options.iter().any(|option| option == "--memory") {
            memory(&unit, stop);
        }
    }
}
