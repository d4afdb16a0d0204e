//! Files that a command writes: replaced in one step, and never those that it reads.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use saltus::diagnostics;

use crate::{Exit, Screen};

pub fn write(path: &Path, text: &str, screen: &Screen) -> Result<(), Exit> {
    write_bytes(path, text.as_bytes(), screen)
}

/// Replaces the file in one step, so that an earlier one is never lost for a piece.
pub fn write_bytes(path: &Path, bytes: &[u8], screen: &Screen) -> Result<(), Exit> {
    replace(path, bytes)
        .map_err(|error| screen.fail(&diagnostics::unwritable(&path.display().to_string(), &error.to_string())))
}

/// Writes beside the file and renames; a link stays a link, and the rights stay what they were.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // A device or a pipe has nothing to lose.
    if path.exists() && !path.is_file() {
        return fs::write(path, bytes);
    }
    let rights = fs::metadata(&path).ok().map(|known| known.permissions());
    if rights.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let beside = beside(&path);
    let written = fill(&beside, bytes, rights).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // What is left of it is of no use.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A name of this process alone.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn fill(path: &Path, bytes: &[u8], rights: Option<fs::Permissions>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    if let Some(rights) = rights {
        file.set_permissions(rights)?;
    }
    // Before the old one goes, the new one is on the disk.
    file.sync_all()
}

/// Refuses outputs that are, under whatever name, a file that the command reads, or a Modelica file of a directory that it reads.
pub fn refuse_inputs<'a>(
    outputs: impl IntoIterator<Item = Option<&'a Path>>,
    inputs: &[&Path],
    screen: &Screen,
) -> Result<(), Exit> {
    for output in outputs.into_iter().flatten() {
        if let Some(input) = inputs.iter().find(|input| is_same(output, input) || is_source_in(output, input)) {
            let (output, input) = (output.display().to_string(), input.display().to_string());
            screen.fail(&diagnostics::overwrites_input(&output, &input));
            return Err(Exit::Usage);
        }
    }
    Ok(())
}

/// Do both names lead to one file?
fn is_same(a: &Path, b: &Path) -> bool {
    let same_name = || fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b));
    a.is_file() && b.is_file() && (same_name() || is_hard_link(a, b))
}

#[cfg(unix)]
fn is_hard_link(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| fs::metadata(path).ok().map(|known| (known.dev(), known.ino()));
    identity(a).is_some_and(|a| identity(b) == Some(a))
}

#[cfg(not(unix))]
fn is_hard_link(_: &Path, _: &Path) -> bool {
    false
}

fn is_source_in(output: &Path, directory: &Path) -> bool {
    let is_source = output.extension().is_some_and(|e| e == "mo" || e == "order");
    let is_below =
        || fs::canonicalize(output).is_ok_and(|o| fs::canonicalize(directory).is_ok_and(|d| o.starts_with(d)));
    is_source && directory.is_dir() && output.is_file() && is_below()
}
