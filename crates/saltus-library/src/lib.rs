//! Finds Modelica libraries, reads them file by file as lookup reaches them, and offers the tree of the classes that
//! are declared in them.
//!
//! The principal type is [`Library`]. In: directories, files and texts of the user. Out: for every class a
//! [`ClassId`] with its syntax tree, its parent and its declared children, and [`Diagnostics`] about what was wrong
//! with the files. Nothing here knows inheritance, imports or modifications: "declared in" is the only relation.
//!
//! ```
//! use saltus_library::{Library, MemoryFiles};
//!
//! let mut files = MemoryFiles::new();
//! files.insert("lib/P/package.mo", "package P end P;");
//! files.insert("lib/P/A.mo", "within P; model A Real x; end A;");
//! files.insert("lib/P/B.mo", "within P; model B Real y; end B;");
//! let library = Library::new(Box::new(files));
//! library.add_search_path("lib".as_ref());
//! let a = library.find("P.A").unwrap();
//! assert_eq!(library.qualified_name(a), "P.A");
//! assert_eq!(library.files_read(), ["lib/P/package.mo", "lib/P/A.mo"]);
//! ```
//!
//! Specification: chapter 13 (packages, file system mapping, `MODELICAPATH`, external resources) and the section on
//! versions in chapter 18 (annotations).
//!
//! A [`Library`] is made for one question and sees one state of the files. The [`Store`] below it outlives it: it keeps
//! texts, trees and listings from one library to the next, and learns of edits in between.
//!
//! Invariants: a file is read and parsed once for each of its texts; a directory is listed at most once until it is said
//! to have changed; references that a [`Library`] hands out live as long as it does, also while it loads more.
//!
//! [`Diagnostics`]: saltus_base::Diagnostics

pub mod annotations;
mod arena;
mod choice;
mod classes;
mod dependencies;
mod diagnostics;
mod files;
mod library;
mod load;
mod names;
mod outline;
mod package;
mod packages;
mod place;
mod search;
mod sources;
mod store;
mod uri;
mod version;

#[cfg(test)]
mod tests;

pub use dependencies::Dependencies;
pub use files::{DirEntry, DiskFiles, FileSource, MAX_FILE_SIZE, MemoryFiles};
pub use library::{ClassId, Library};
pub use packages::Packages;
pub use search::split_modelica_path;
pub use store::Store;
pub use version::Version;
