//! Writes the list of runtimes to embed as an expression.
//!
//! In: `SALTUS_EMBED_RUNTIME` (`PLATFORM=FILE`, several with `;` between them) or, without it, the library that
//! `cargo build -p saltus-fmu` has left in the directory of this profile. Out: `runtimes.rs`. A build script cannot build the library
//! itself: a second cargo would wait for the first one.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const NAMES: &str = "SALTUS_EMBED_RUNTIME";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed={NAMES}");
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let runtimes = match env::var(NAMES).ok().filter(|names| !names.is_empty()) {
        Some(names) => named(&names)?,
        None => built(&out),
    };
    let mut list = String::from("&[");
    for (platform, path) in runtimes {
        println!("cargo:rerun-if-changed={}", path.display());
        list += &format!("({platform:?}, include_bytes!({:?}) as &[u8]), ", path.display().to_string());
    }
    fs::write(out.join("runtimes.rs"), list + "]")
}

fn named(names: &str) -> io::Result<Vec<(String, PathBuf)>> {
    let one = |text: &str| {
        let wrong = || io::Error::other(format!("{NAMES}: expected PLATFORM=FILE, found `{text}`"));
        let (platform, path) = text.split_once('=').ok_or_else(wrong)?;
        let path = fs::canonicalize(path).map_err(|why| io::Error::other(format!("{NAMES}: {path}: {why}")))?;
        Ok((platform.to_owned(), path))
    };
    names.split(';').filter(|text| !text.is_empty()).map(one).collect()
}

/// The library in `target/PROFILE`, three directories above the one of a build script.
fn built(out: &Path) -> Vec<(String, PathBuf)> {
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let (system, file) = match target("OS").as_str() {
        "windows" => ("windows".to_owned(), "saltus_fmu.dll"),
        "macos" => ("darwin".to_owned(), "libsaltus_fmu.dylib"),
        other => (other.to_owned(), "libsaltus_fmu.so"),
    };
    let Some(path) = out.ancestors().nth(3).map(|directory| directory.join(file)) else { return Vec::new() };
    // Looked for again when it comes into being.
    println!("cargo:rerun-if-changed={}", path.display());
    if path.is_file() { vec![(format!("{}-{system}", target("ARCH")), path)] } else { Vec::new() }
}
