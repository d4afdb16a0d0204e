//! Exports what foreign code may call, and takes runtimes of FMUs in.
//!
//! Out: a list of symbols for the linker; with the feature `embed-runtime` a list of runtimes.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Shared libraries find these functions of the specification (section 12.9.6) among the symbols of the program.
fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    if env::var_os("CARGO_FEATURE_EMBED_RUNTIME").is_some() {
        embed_runtimes(&out)?;
    }
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") != "linux" || target("ARCH") != "x86_64" {
        return Ok(());
    }
    let said = ["Message", "Warning", "Error"];
    let mut names: Vec<String> = Vec::new();
    for form in ["", "Format", "VFormat"] {
        names.extend(said.iter().map(|kind| format!("Modelica{form}{kind}")));
    }
    for act in ["Allocate", "Duplicate"] {
        names.extend(["", "WithErrorReturn"].iter().map(|end| format!("Modelica{act}String{end}")));
    }
    let list = out.join("exported.txt");
    fs::write(&list, format!("{{ {}; }};\n", names.join("; ")))?;
    println!("cargo:rustc-link-arg-bins=-Wl,--dynamic-list={}", list.display());
    Ok(())
}

/// Writes the list of runtimes that the environment names, as an expression.
fn embed_runtimes(out: &Path) -> io::Result<()> {
    const NAMES: &str = "SALTUS_EMBED_RUNTIME";
    println!("cargo:rerun-if-env-changed={NAMES}");
    let names =
        env::var(NAMES).map_err(|_| io::Error::other(format!("{NAMES} must name runtimes: PLATFORM=FILE;…")))?;
    let mut list = String::from("&[");
    for text in names.split(';').filter(|text| !text.is_empty()) {
        let wrong = || io::Error::other(format!("{NAMES}: expected PLATFORM=FILE, found `{text}`"));
        let (platform, path) = text.split_once('=').ok_or_else(wrong)?;
        let path = fs::canonicalize(path)?;
        println!("cargo:rerun-if-changed={}", path.display());
        list += &format!("({platform:?}, include_bytes!({:?}) as &[u8]), ", path.display().to_string());
    }
    fs::write(out.join("runtimes.rs"), list + "]")
}
