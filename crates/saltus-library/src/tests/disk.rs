//! The same rules on a real file system.

use std::fs;
use std::path::{Path, PathBuf};

use super::{children, messages, qualified_names};
use crate::{DiskFiles, FileSource, Library};

/// A directory that is removed when the test ends.
struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn new(name: &str) -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("saltus-library-{name}-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn write(&self, path: &str, text: &str) -> std::io::Result<()> {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        fs::write(path, text)
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn libraries_on_the_disk() -> std::io::Result<()> {
    let dir = TemporaryDirectory::new("disk")?;
    dir.write("lib/P 1.0/package.mo", "package P end P;")?;
    dir.write("lib/P 1.0/package.order", "B\nA\n")?;
    dir.write("lib/P 1.0/A.mo", "within P; model A end A;")?;
    dir.write("lib/P 1.0/B.mo", "within P; model B end B;")?;
    dir.write("work/W/package.mo", "package W annotation(uses(P(version=\"1.0\"))); end W;")?;
    dir.write("work/W/T.mo", "within W; model T extends P.A; end T;")?;
    let library = Library::new(Box::new(DiskFiles));
    library.add_modelica_path(&dir.0.join("lib").display().to_string());

    let loaded = library.load_file(&dir.0.join("work/W/../W/T.mo"));
    assert_eq!(qualified_names(&library, &loaded), ["W.T"]);
    assert_eq!(children(&library, "P"), ["B", "A"]);
    let a = library.find("P.A").and_then(|a| library.directory_of(a));
    assert_eq!(a, Some(dir.0.join("lib/P 1.0")));
    assert_eq!(library.files_read().len(), 6);
    assert_eq!(messages(&library), "");

    library.load_file(&dir.0.join("missing.mo"));
    library.load_file(&dir.0.join("work"));
    let codes: Vec<_> = library.diagnostics().iter().map(|d| d.code.0).collect();
    assert_eq!(codes, ["E0001", "E0006"]);
    Ok(())
}

#[test]
fn the_empty_path_is_the_current_directory() {
    assert!(DiskFiles.is_dir("".as_ref()));
    let entries = DiskFiles.list("".as_ref()).unwrap_or_default();
    assert!(entries.iter().any(|entry| entry.name == "Cargo.toml" && !entry.is_dir), "{entries:?}");
    assert!(DiskFiles.absolute("src".as_ref()).has_root());
}
