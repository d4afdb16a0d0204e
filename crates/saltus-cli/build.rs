//! Exports what foreign code may call.
//!
//! Out: a list of symbols for the linker.

use std::path::PathBuf;
use std::{env, fs, io};

/// Shared libraries find these functions of the specification (section 12.9.6) among the symbols of the program.
fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
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
