//! Where the runtimes of an export come from.
//!
//! In: what the user named, the directory of the program, and what the program contains. Out: the libraries, or why there is none. The
//! first of these places that has one counts: named, in the environment, beside the program, inside of it.

use std::path::{Path, PathBuf};

use saltus_base::Diagnostic;

use crate::diagnostics;
use crate::package::{Platform, Runtime};

/// The environment variable that names runtimes.
pub const VARIABLE: &str = "SALTUS_FMU_RUNTIME";

/// Places to look at.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// `[PLATFORM=]FILE`, as the user wrote them.
    pub named: &'a [String],
    /// Of the program, or of the extension module, that exports.
    pub directory: &'a Path,
    /// Names of platforms with the bytes of their runtimes.
    pub embedded: &'a [(&'a str, &'a [u8])],
}

pub fn find(places: &Places) -> Result<Vec<Runtime>, Diagnostic> {
    if !places.named.is_empty() {
        return places.named.iter().map(|text| named(text)).collect();
    }
    if let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
        return text.to_string_lossy().split(';').map(named).collect();
    }
    let beside = beside(places.directory);
    if let (Some(platform), Some(path)) = (Platform::here(), beside.iter().find(|path| path.is_file())) {
        return Ok(vec![read(platform, path)?]);
    }
    if places.embedded.is_empty() {
        let looked_at: Vec<String> = beside.iter().map(|path| format!("`{}`", path.display())).collect();
        return Err(diagnostics::no_runtime(&looked_at));
    }
    let known = |&(name, bytes): &(&str, &[u8])| {
        Ok(Runtime { platform: platform(name, "the program")?, bytes: bytes.to_vec() })
    };
    places.embedded.iter().map(known).collect()
}

fn named(text: &str) -> Result<Runtime, Diagnostic> {
    match text.split_once('=') {
        Some((name, path)) => read(platform(name, text)?, Path::new(path)),
        None => {
            let unknown = || diagnostics::bad_runtime(text, "this platform has no name in FMI: write PLATFORM=FILE");
            read(Platform::here().ok_or_else(unknown)?, Path::new(text))
        }
    }
}

fn platform(name: &str, of: &str) -> Result<Platform, Diagnostic> {
    Platform::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Platform::ALL.iter().map(|p| p.name).collect();
        diagnostics::bad_runtime(of, &format!("`{name}` is not one of {}", known.join(", ")))
    })
}

fn read(platform: Platform, path: &Path) -> Result<Runtime, Diagnostic> {
    let unreadable = |error: std::io::Error| diagnostics::bad_runtime(&path.display().to_string(), &error.to_string());
    Ok(Runtime { platform, bytes: std::fs::read(path).map_err(unreadable)? })
}

fn beside(directory: &Path) -> Vec<PathBuf> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let name = format!("{DLL_PREFIX}saltus_fmu{DLL_SUFFIX}");
    vec![directory.join(&name), directory.join("../lib").join(&name)]
}
