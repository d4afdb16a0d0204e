//! The library that tests of editors take as material: `SALTUS_EDITOR_LIBRARY`, or the one of the program.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::{Path, PathBuf};

use saltus::Session;

pub fn library() -> PathBuf {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library").canonicalize().unwrap();
    std::env::var_os("SALTUS_EDITOR_LIBRARY").map_or(shipped, PathBuf::from)
}

pub fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

pub fn session() -> Session {
    let mut session = Session::on_disk();
    session.add_library(&library());
    session
}

/// Files below a directory, the same for each run.
fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        match path.is_dir() {
            true if !is_hidden && path.join("package.mo").exists() => files(&path, found),
            false if path.extension().is_some_and(|e| e == "mo") => found.push(path),
            _ => {}
        }
    }
}

/// So many files, spread over the library.
pub fn sample(n: usize) -> Vec<PathBuf> {
    let mut all = Vec::new();
    files(&library(), &mut all);
    let step = (all.len() / n.max(1)).max(1);
    all.into_iter().step_by(step).take(n).collect()
}

/// Numbers that look random and are the same in each run (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}
