//! What the tests of the program share: a directory for each test, and calls of the program.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of its own for one test, removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(test: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    pub fn dir(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn saltus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_saltus")).args(arguments).env_remove("MODELICAPATH").output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub const DECAY: &str = "model Decay\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\nend Decay;\n";

/// The model of the testdata with this name.
pub fn model(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/simulate").join(name);
    path.with_extension("mo").display().to_string()
}

/// Runs the program, expects an exit code, gives what it said.
pub fn run(arguments: &[&str], code: i32) -> (String, String) {
    let output = saltus(arguments);
    let (said, complained) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{said}\n{complained}");
    (said, complained)
}

/// Does whoever started this process want the signal ignored, as `nohup` does? Then programs that are started here ignore it too.
#[cfg(unix)]
pub fn is_ignored(signal: &str) -> bool {
    let number = match signal {
        "-HUP" => 1,
        "-INT" => 2,
        _ => 15,
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_ignored = mask >> (number - 1) & 1 == 1;
    if is_ignored {
        eprintln!("{signal} is ignored here: skipped");
    }
    is_ignored
}
