//! Files of libraries that sessions have read from the search path. These libraries are large and nobody lists them: only what was read
//! is looked at, and the directories that it is in, where other files may appear.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::desk::Desk;
use crate::documents::stamp;
use crate::target::Listing;

/// Paths and the texts that a session has of them.
type Texts = BTreeMap<PathBuf, Vec<Arc<str>>>;

#[derive(Default)]
pub struct Reading {
    known: Listing,
    seen: Arc<Mutex<Texts>>,
}

impl Reading {
    /// Asks a session, when it has the time, which files it has read.
    pub fn ask(&self, desk: &Desk) {
        let seen = self.seen.clone();
        desk.tell(move |session| {
            session.with_sources(|sources| {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                for (_, file) in sources.iter() {
                    seen.entry(PathBuf::from(&file.path)).or_default().push(file.text.clone());
                }
            });
        });
    }

    /// What has changed since the last look, of files that `is_ours` says are watched here.
    pub fn look(&mut self, is_ours: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let mut changed = Vec::new();
        for (path, texts) in seen.into_iter().filter(|(path, _)| is_ours(path)) {
            if self.known.contains_key(&path) || !path.is_file() {
                continue;
            }
            if let Some(directory) = path.parent().filter(|directory| !self.known.contains_key(*directory)) {
                self.known.insert(directory.to_path_buf(), stamp(directory));
            }
            self.known.insert(path.clone(), stamp(&path));
            // It may have changed between the session and this look.
            let is_as_read = |now: String| texts.iter().any(|text| **text == *now);
            if !std::fs::read_to_string(&path).map_or(true, is_as_read) {
                changed.push(path);
            }
        }
        for (path, known) in &mut self.known {
            let now = stamp(path);
            if *known != now {
                *known = now;
                changed.push(path.clone());
            }
        }
        changed
    }
}
