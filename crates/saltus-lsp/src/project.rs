//! The project file `saltus.toml`: where the libraries of a directory are.
//!
//! ```toml
//! libraries = ["../libraries", "/opt/modelica/Modelica 4.1.0"]
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

pub const FILE_NAME: &str = "saltus.toml";

/// What a project file says; relative directories begin where it lies.
#[derive(Clone, PartialEq, Debug)]
pub struct Project {
    pub file: PathBuf,
    pub libraries: Vec<PathBuf>,
}

/// The nearest project file in a directory or above it. `Err` says what is wrong with it.
pub fn find(directory: &Path) -> Option<Result<Project, String>> {
    let file = directory.ancestors().map(|dir| dir.join(FILE_NAME)).find(|file| file.is_file())?;
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()));
    Some(text.and_then(|text| parse(&file, &text)))
}

fn parse(file: &Path, text: &str) -> Result<Project, String> {
    let table = DeTable::parse(text).map_err(|error| format!("{}: {error}", file.display()))?;
    let directory = file.parent().unwrap_or(Path::new(""));
    let mut libraries = Vec::new();
    for (key, value) in table.get_ref() {
        let key = key.get_ref();
        let wrong = || format!("{}: expected `libraries = [\"directory\", …]`, found `{key}`", file.display());
        let entries = value.get_ref().as_array().filter(|_| key == "libraries").ok_or_else(wrong)?;
        for entry in entries.iter() {
            libraries.push(directory.join(entry.get_ref().as_str().ok_or_else(wrong)?));
        }
    }
    Ok(Project { file: file.to_path_buf(), libraries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_begin_at_the_file() {
        let project = parse(Path::new("/p/saltus.toml"), "libraries = [\"lib\", \"/abs\"]").unwrap();
        assert_eq!(project.libraries, [Path::new("/p/lib"), Path::new("/abs")]);
    }

    #[test]
    fn mistakes_are_named() {
        let message = parse(Path::new("/p/saltus.toml"), "library = 1").unwrap_err();
        assert_eq!(message, "/p/saltus.toml: expected `libraries = [\"directory\", …]`, found `library`");
    }
}
