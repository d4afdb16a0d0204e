//! Lists the files below `library/`, so that the program carries them with it, and exports what foreign code may call.
//!
//! Out: `shipped.rs` in the build directory, a constant `FILES: &[(&str, &str)]` of paths and texts, sorted by path; a list of
//! symbols for the linker.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = manifest.join("../../library");
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut text = String::from("const FILES: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file).components();
        let name: Vec<_> = name.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        text.push_str(&format!("    ({:?}, include_str!({:?})),\n", name.join("/"), file));
    }
    text.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("shipped.rs"), text)?;
    export_utilities(&out)
}

/// Shared libraries find these functions of the specification (section 12.9.6) among the symbols of the program.
fn export_utilities(out: &Path) -> io::Result<()> {
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

/// The Modelica files below `dir`. Every directory is watched, so that a new file is noticed.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", dir.display());
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "mo") || path.ends_with("package.order") {
            files.push(path);
        }
    }
    Ok(())
}
