//! Modelica files named on a command line, directories recursively, in a fixed order.

use std::fs;
use std::path::{Path, PathBuf};

use saltus::diagnostics;
use saltus_base::Diagnostic;

/// All `.mo` files of the given files and directories; a file is taken whatever its name.
pub fn modelica_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            collect(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Diagnostic> {
    let failed = |e: std::io::Error| diagnostics::unreadable(&dir.display().to_string(), &e.to_string());
    let mut entries: Vec<_> = fs::read_dir(dir).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    entries.sort_by_key(|e| e.file_name());
    for entry in entries {
        let kind = entry.file_type().map_err(failed)?;
        let path = entry.path();
        // A link to a directory is not followed: it may lead back here.
        if kind.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "mo") {
            files.push(path);
        }
    }
    Ok(())
}

pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    fs::read(path).map_err(|e| diagnostics::unreadable(&path.display().to_string(), &e.to_string()))
}

/// The text of a file, without a byte order mark.
pub fn read(path: &Path) -> Result<String, Diagnostic> {
    let shown = path.display().to_string();
    let bytes = read_bytes(path)?;
    let mut text = String::from_utf8(bytes).map_err(|e| {
        let valid = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        diagnostics::not_utf8(&shown, 1 + valid.iter().filter(|&&b| b == b'\n').count())
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}
