//! Lists the files below `library/`, so that the program carries them with it.
//!
//! Out: `shipped.rs` in the build directory, a constant `FILES: &[(&str, &str)]` of paths and texts, sorted by path.

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
    fs::write(out.join("shipped.rs"), text)
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
