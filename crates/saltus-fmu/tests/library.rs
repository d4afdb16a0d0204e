//! The shared library itself: loaded as an importer does, and by FMPy, where `.ci/python-venv` has installed it.

mod common;

use std::ffi::{c_char, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;

use common::{BALL, compile, resources};
use saltus::clock_variables::ClockDriver;
use saltus_export::description::Kinds;
use saltus_export::package::Platform;
use saltus_export::{Export, Runtime, export};

type Log = unsafe extern "C" fn(*mut c_void, i32, *const c_char, *const c_char);
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    *mut c_void,
    Option<Log>,
) -> *mut c_void;

/// Cargo builds it together with these tests.
fn library() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let name = format!("{}saltus_fmu{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    tests.parent().unwrap().join(name)
}

#[test]
fn the_library_has_both_interfaces() {
    let ball = resources(BALL);
    // SAFETY: the library is ours, and the types are those of its functions.
    unsafe {
        let library = libloading::Library::new(library()).unwrap();
        for name in
            ["fmi2GetVersion", "fmi2DoStep", "fmi2GetDerivatives", "fmi3GetVersion", "fmi3ActivateModelPartition"]
        {
            assert!(library.get::<unsafe extern "C" fn()>(name.as_bytes()).is_ok(), "{name}");
        }
        let instantiate = library.get::<Instantiate>(b"fmi3InstantiateModelExchange").unwrap();
        let free = library.get::<unsafe extern "C" fn(*mut c_void)>(b"fmi3FreeInstance").unwrap();
        let count = library
            .get::<unsafe extern "C" fn(*mut c_void, *mut usize) -> i32>(b"fmi3GetNumberOfContinuousStates")
            .unwrap();
        let c = instantiate(c"x".as_ptr(), ball.token.as_ptr(), ball.path.as_ptr(), false, false, null_mut(), None);
        let mut n = 0;
        assert_eq!((count(c, &mut n), n), (0, 2));
        free(c);
    }
}

/// Validates and simulates each FMU in both kinds; prints the last row of each run.
const SCRIPT: &str = "
import sys
from fmpy import simulate_fmu
from fmpy.validation import validate_fmu
for path in sys.argv[1:]:
    problems = validate_fmu(path)
    assert not problems, problems
    for kind in ('ModelExchange', 'CoSimulation'):
        result = simulate_fmu(path, validate=False, fmi_type=kind, stop_time=1.0, relative_tolerance=1e-8, output=['h', 'n'])
        print(*[float(x) for x in result[-1]])
";

#[test]
fn fmpy_accepts_and_simulates_the_ball() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv/bin/python");
    let has_fmpy = Command::new(&python).args(["-c", "import fmpy"]).output().is_ok_and(|done| done.status.success());
    let Some(platform) = Platform::here().filter(|_| has_fmpy) else {
        println!("skipped: .ci/python-venv installs FMPy");
        return;
    };
    let (model, bytes) = (compile(BALL, ClockDriver::Mixed), std::fs::read(library()).unwrap());
    let directory = std::env::temp_dir().join(format!("saltus-fmpy-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]);
    for (name, version) in [("Ball2.fmu", saltus_fmi::Version::V2), ("Ball3.fmu", saltus_fmi::Version::V3)] {
        let runtimes = vec![Runtime { platform, bytes: bytes.clone() }];
        let kinds = Kinds { model_exchange: true, co_simulation: true, ..Kinds::default() };
        let made = export(&model, &Export { version, kinds, runtimes }).unwrap();
        std::fs::write(directory.join(name), made.bytes).unwrap();
        command.arg(directory.join(name));
    }
    let done = command.output().unwrap();
    let _ = std::fs::remove_dir_all(&directory);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    // One bounce at sqrt(2/g): h = v·s - g/2·s² with v = e·g·t, s the time since then.
    let (g, bounce) = (9.81, (2.0f64 / 9.81).sqrt());
    let s = 1.0 - bounce;
    let expected = 0.7 * g * bounce * s - 0.5 * g * s * s;
    let rows: Vec<Vec<f64>> = said.lines().map(|l| l.split(' ').map(|x| x.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert!(row[0] == 1.0 && (row[1] - expected).abs() < 1e-6 && row[2] == 1.0, "{row:?} {expected}");
    }
}
