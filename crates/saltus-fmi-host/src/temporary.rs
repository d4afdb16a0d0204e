//! A directory that goes when it is dropped.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io};

pub(crate) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    pub fn new() -> io::Result<Self> {
        // Names are unique in the process; directories of others are skipped.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("saltus-fmu-{}-{n}", std::process::id()));
            match make_private(&path) {
                Ok(()) => return Ok(TemporaryDirectory(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Nobody else may put a library there.
#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // What remains is only a few files too many.
        let _ = fs::remove_dir_all(&self.0);
    }
}
