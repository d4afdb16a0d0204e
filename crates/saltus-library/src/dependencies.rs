//! What a result was made of, so that it can be kept until one of these things changes.
//!
//! A class that was not found depends on where it was looked for: on listings of directories, on files that were not
//! there, on the names that the files of the user declare. Of a file of the user that was not entered only the names that
//! were asked for count, so that editing one file leaves the results of the others alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saltus_base::FileId;

use crate::library::Library;
use crate::outline::Outline;
use crate::store::{Listing, Store};

#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    texts: Vec<(PathBuf, Result<FileId, String>)>,
    /// Top-level names that were asked for; `None` for all.
    asked: Option<BTreeSet<String>>,
    /// What the files of the user have to say about these.
    outlines: Vec<(PathBuf, Outline)>,
    listings: Vec<(PathBuf, Listing)>,
    is_file: Vec<(PathBuf, bool)>,
    resources: Vec<(PathBuf, Option<u64>)>,
}

impl Library {
    /// All that was read and asked so far.
    pub fn dependencies(&self) -> Dependencies {
        let sources = &self.sources;
        let read = sources.read.borrow();
        let is_outline = |seen: &Result<FileId, String>| seen.as_ref().is_ok_and(|&id| sources.is_outline_enough(id));
        let asked = self.asked.borrow().iter().map(|&name| self.text(name).to_owned()).collect();
        let asked = (!self.has_asked_all.get()).then_some(asked);
        let mut listings = sources.listed();
        listings.sort_by(|a, b| a.0.cmp(&b.0));
        Dependencies {
            texts: read.iter().filter(|(_, seen)| !is_outline(seen)).cloned().collect(),
            outlines: outlines(&sources.store, &self.users_files.borrow(), asked.as_ref()),
            asked,
            listings,
            is_file: sources.probed.borrow().iter().map(|(path, &is_file)| (path.clone(), is_file)).collect(),
            resources: sources.resources.borrow().iter().map(|(path, &hash)| (path.clone(), hash)).collect(),
        }
    }
}

impl Dependencies {
    /// The files whose texts count.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.texts.iter().map(|(path, _)| path.as_path())
    }

    /// Is everything as it was, with these files of the user?
    pub fn are_current(&self, store: &Store, users_files: &[PathBuf]) -> bool {
        let is_same_text = |(path, seen): &(PathBuf, Result<FileId, String>)| match (store.text(path), seen) {
            (Ok(text), Ok(seen)) => text.id == *seen,
            (Err(problem), Err(seen)) => problem.message == *seen,
            _ => false,
        };
        self.texts.iter().all(is_same_text)
            && self.is_file.iter().all(|(path, seen)| store.is_file(path) == *seen)
            && self.listings.iter().all(|(path, seen)| is_same_listing(&store.listing(path), seen))
            && self.resources.iter().all(|(path, seen)| store.resource_hash(path) == *seen)
            && outlines(store, users_files, self.asked.as_ref()) == self.outlines
    }
}

/// What the files of the user say about the names that were asked for; files that say nothing about them are left out.
fn outlines(store: &Store, files: &[PathBuf], asked: Option<&BTreeSet<String>>) -> Vec<(PathBuf, Outline)> {
    let outline = |path: &PathBuf| {
        let package_file = path.join("package.mo");
        let path = if store.is_file(&package_file) { &package_file } else { path };
        let outline = store.parsed(path).map_or_else(|_| Outline::unreadable(), |parsed| parsed.outline.clone());
        Some((path.clone(), outline.as_seen_by(asked)?))
    };
    files.iter().filter_map(outline).collect()
}

fn is_same_listing(a: &Listing, b: &Listing) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a == b,
        (Err(a), Err(b)) => a.to_string() == b.to_string(),
        _ => false,
    }
}
