//! Where packages are, for a program that has left its library.
//!
//! In: a [`Library`] after a model has been compiled. Out: [`Packages`], plain data that finds
//! `modelica://Package/Resources/data.txt` and knows which files belong to a library. (Specification: section 13.5.)

use std::path::{Path, PathBuf};

use crate::files::FileSource;
use crate::library::{Library, split_path};
use crate::uri::{PackageUri, Target, parse};

/// Directories of top-level packages, and where others are searched.
#[derive(Clone, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Packages {
    /// Name and directory of those that were loaded.
    loaded: Vec<(String, PathBuf)>,
    /// Directories that contain packages.
    search: Vec<PathBuf>,
    /// Directories of the files that were read; absolute.
    readable: Vec<PathBuf>,
}

impl Library {
    /// Where the packages are that a compiled model may refer to.
    pub fn packages(&self) -> Packages {
        let name = |id| self.name_of(id).map(|name| self.text(name).to_owned());
        let tops = self.declared_classes(self.root()).into_iter();
        let files = &self.sources.store;
        let mut readable: Vec<PathBuf> = self
            .files_read()
            .iter()
            .filter_map(|file| Path::new(file).parent())
            .map(|directory| files.absolute(if directory.as_os_str().is_empty() { Path::new(".") } else { directory }))
            .collect();
        readable.sort();
        readable.dedup();
        // A directory below another one says nothing new.
        readable.dedup_by(|inner, outer| inner.starts_with(outer));
        Packages {
            loaded: tops.filter_map(|id| Some((name(id)?, self.directory_of(id)?))).collect(),
            search: self.search_paths(),
            readable,
        }
    }
}

impl Packages {
    /// The path that a URI or plain path stands for; `None` if its package is not known.
    pub fn resolve(&self, uri: &str, files: &dyn FileSource) -> Option<PathBuf> {
        match parse(uri)? {
            Target::Path(path) => Some(path),
            Target::Package(uri) => {
                let directory = self.resource_directory(&uri, files)?;
                Some(uri.below(directory))
            }
        }
    }

    /// Does the file belong to a library that was read? `path` has no links in it.
    pub fn contains(&self, path: &Path, files: &dyn FileSource) -> bool {
        self.readable.iter().any(|directory| path.starts_with(files.real(directory)))
    }

    fn resource_directory(&self, uri: &PackageUri, files: &dyn FileSource) -> Option<PathBuf> {
        let parts = split_path(&uri.package)?;
        let (&first, inner) = parts.split_first()?;
        let mut directory = self.top_level(first, uri.is_host, files)?;
        directory.extend(inner);
        Some(directory)
    }

    fn top_level(&self, name: &str, is_host: bool, files: &dyn FileSource) -> Option<PathBuf> {
        let exact = self.loaded.iter().find(|(loaded, _)| loaded == name);
        let alike = || self.loaded.iter().find(|(loaded, _)| is_host && loaded.eq_ignore_ascii_case(name));
        if let Some((_, directory)) = exact.or_else(alike) {
            return Some(directory.clone());
        }
        let itself = |search: &&PathBuf| search.file_name().is_some_and(|last| last == name);
        let places =
            self.search.iter().filter(itself).cloned().chain(self.search.iter().map(|search| search.join(name)));
        places.into_iter().find(|directory| files.is_file(&directory.join("package.mo")))
    }
}
