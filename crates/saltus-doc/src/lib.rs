//! Documentation of packages as a static site.
//!
//! The principal function is [`write_site`]. In: a session and names of packages. Out: files, one page a class with its icon,
//! diagram, documentation and members, handed to whoever stores them; a page of contents, a style sheet and a search that
//! works from the file system. Nothing is fetched from elsewhere, and nothing of a model becomes a script: documentation
//! goes through [`sanitize`].
//!
//! ```
//! use saltus::Session;
//! use saltus_library::MemoryFiles;
//!
//! let mut session = Session::new(Box::new(MemoryFiles::new()));
//! session.set_text("P.mo", "package P model M \"Ball\" end M; end P;");
//! let mut files = Vec::new();
//! let summary = saltus_doc::write_site(&session, &["P".to_owned()], &mut |name, _| {
//!     files.push(name.to_owned());
//!     Ok(())
//! });
//! assert_eq!(summary.unwrap().n_pages, 2);
//! assert!(files.contains(&"P.M.html".to_owned()));
//! ```

mod classes;
mod page;
mod sanitize;
mod site;

pub use sanitize::{Links, sanitize};
pub use site::{SiteError, Store, Summary, write_site};
