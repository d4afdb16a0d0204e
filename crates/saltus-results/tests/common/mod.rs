//! Tables with known rows, folders for files, and readers by others.

#![allow(dead_code, reason = "every test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use saltus_results::{Header, Kind, Results, Signal, Source};

/// A folder that goes when the test does.
pub struct Folder(PathBuf, bool);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Folder(path, true)
    }

    /// One that belongs to somebody else.
    pub fn at(path: PathBuf) -> Folder {
        Folder(path, false)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a folder").filter_map(Result::ok);
        let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.1 {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Columns of all types, an alias with the opposite sign, a parameter.
pub fn header() -> Header {
    let column = |index, negated| Source::Column { index, negated };
    let state = Signal {
        literals: vec!["off".into(), "on".into()],
        ..Signal::new("state", Kind::Enumeration, column(3, false))
    };
    let phi = Signal::new("body.phi[1]", Kind::Real, column(0, false)).described("Angle", "rad");
    Header::new(
        "Endless",
        vec![
            Signal { display_unit: "deg".into(), ..phi },
            Signal::new("minus", Kind::Real, column(0, true)).described("The opposite", "rad"),
            Signal::new("n", Kind::Integer, column(1, false)).described("Number of the row", ""),
            Signal::new("isOdd", Kind::Boolean, column(2, false)),
            state,
            Signal::new("k", Kind::Real, Source::Constant(0.5)).described("Gain", "1/s"),
        ],
    )
}

/// Row `i` of the table that all processes write.
pub fn row(i: usize) -> (f64, [f64; 4]) {
    let (t, odd) = (i as f64 * 0.001, (i % 2) as f64);
    (t, [(i as f64 * 0.7).sin(), i as f64, odd, 1.0 + odd])
}

pub fn endless_rows() -> impl Iterator<Item = (f64, [f64; 4])> {
    (0..).map(row)
}

/// Does the table consist of the first rows, at least one?
pub fn is_beginning(table: &Results) -> bool {
    let values = |name: &str| table.values(name).unwrap_or_else(|| panic!("no `{name}`"));
    let (phi, minus, n) = (values("body.phi[1]"), values("minus"), values("n"));
    let (odd, state) = (values("isOdd"), values("state"));
    let fits = |i: usize| {
        let (t, expected) = row(i);
        (table.times[i], [phi[i], n[i], odd[i], state[i]]) == (t, expected) && minus[i] == -phi[i]
    };
    !table.times.is_empty() && (0..table.times.len()).all(fits)
}

/// Runs the checks of `outside.py` with programs by others (NumPy, SciPy, DyMat, PyArrow), where `.ci/python-venv` has installed them:
/// `check FILE` must print what is expected.
pub fn python(arguments: &[&str], expected: &str) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = tests.join("../../target/venv/bin/python");
    if !program.exists() {
        eprintln!("skipped: no readers by others; `.ci/python-venv` installs them");
        return;
    }
    let output = Command::new(program).arg(tests.join("tests/outside.py")).args(arguments).output().expect("Python");
    let found = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(found, expected, "{arguments:?}");
}
