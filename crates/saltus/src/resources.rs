//! Files that functions read during a simulation, such as the data of a table.
//!
//! In: the path or the URI that the model gives (`modelica://Package/Resources/data.txt`). Out: what the libraries of the
//! session hold under it. Specification: section 13.5, external resources.

use saltus_interp::Files;
use saltus_library::Library;

pub struct Resources<'a> {
    library: &'a Library,
}

impl<'a> Resources<'a> {
    pub fn new(library: &'a Library) -> Self {
        Self { library }
    }
}

impl Files for Resources<'_> {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.library.resolve_uri(name).ok_or_else(|| format!("nothing is known under `{name}`"))?;
        self.library.read_resource(&path).map_err(|error| error.to_string())
    }

    fn resolve(&mut self, uri: &str) -> Option<String> {
        self.library.resolve_uri(uri).map(|path| path.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_library::MemoryFiles;
    use std::path::Path;

    #[test]
    fn resources_are_found_beside_their_package() {
        let mut memory = MemoryFiles::new();
        memory.insert("lib/P/package.mo", "package P end P;");
        memory.insert("lib/P/Resources/data.txt", "#1");
        let library = Library::new(Box::new(memory));
        library.add_search_path(Path::new("lib"));
        let mut files = Resources::new(&library);
        assert_eq!(files.read("modelica://P/Resources/data.txt"), Ok(b"#1".to_vec()));
        assert_eq!(files.resolve("modelica://P/Resources/data.txt").as_deref(), Some("lib/P/Resources/data.txt"));
        assert!(files.read("modelica://P/Resources/other.txt").is_err());
        assert!(files.read("modelica://Q/data.txt").is_err());
    }
}
