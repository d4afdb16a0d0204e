//! The answers of a session, kept until something they were made of changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_base::{Diagnostics, SourceMap};
use saltus_flat::{Balance, FlatModel};
use saltus_frontend::{Flattened, Options, Purpose, References};
use saltus_library::{ClassId, Dependencies, Library, Packages};

use super::{Session, Tree, unknown_class};
use crate::pipeline::{self, Stage};

/// Variables and equations of all answers that are kept; those that were not asked for longest go first. At about a kilobyte
/// each this is a hundred megabytes.
const MOST_KEPT: usize = 100_000;

/// What an answer without a model counts.
const LEAST_SIZE: usize = 100;

/// A class reduced to its flat model, as far as that could be made.
pub struct Flattening {
    pub model: Option<Arc<FlatModel>>,
    pub diagnostics: Diagnostics,
    /// What the names in the texts mean, if that was asked for.
    pub references: Option<References>,
    dependencies: Dependencies,
    packages: Packages,
    /// The texts that the spans of model and messages point into.
    sources: SourceMap,
}

/// What there is to say about a class.
pub struct Report {
    pub diagnostics: Diagnostics,
    pub balance: Option<Balance>,
    /// The flat model, as far as it could be made.
    pub model: Option<Arc<FlatModel>>,
    flattening: Option<Arc<Flattening>>,
}

impl Flattening {
    /// The texts that messages and model point into. They are those that were read, also after an edit.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    fn size(&self) -> usize {
        self.model.as_ref().map_or(0, |model| model.variables.len() + model.equations.len()) + LEAST_SIZE
    }

    /// Where the packages are that it was made of.
    pub fn packages(&self) -> &Packages {
        &self.packages
    }

    /// The files it was made of, in the order of reading.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.dependencies.files()
    }
}

impl Report {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }

    pub fn flattening(&self) -> Option<&Flattening> {
        self.flattening.as_deref()
    }

    /// `None` if a defect of the compiler kept everything from being read.
    pub fn sources(&self) -> Option<&SourceMap> {
        self.flattening().map(Flattening::sources)
    }
}

#[derive(Default)]
pub(super) struct Results {
    /// The one that was asked for last stands last.
    entries: Vec<Entry>,
    /// The change of the store up to which all entries are right.
    seen: u64,
    users_files: Vec<PathBuf>,
}

struct Entry {
    class: String,
    options: Options,
    flattening: Arc<Flattening>,
    report: Option<Arc<Report>>,
}

impl Results {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    fn find(&mut self, class: &str, options: &Options) -> Option<&mut Entry> {
        let at = self.entries.iter().position(|entry| entry.class == class && entry.options == *options)?;
        let entry = self.entries.remove(at);
        self.entries.push(entry);
        self.entries.last_mut()
    }

    /// Keeps an answer; the newest one is kept however large it is.
    fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
        let mut size: usize = self.entries.iter().map(|entry| entry.flattening.size()).sum();
        while size > MOST_KEPT && self.entries.len() > 1 {
            size -= self.entries.remove(0).flattening.size();
        }
    }
}

impl Session {
    /// Whether equations, units and balance of a class are in order; the same value until something it depends on changes.
    pub fn check(&self, class: &str) -> Arc<Report> {
        let options = Options { purpose: Purpose::Check, ..Options::default() };
        if let Some(known) = self.current_results().find(class, &options).and_then(|entry| entry.report.clone()) {
            return known;
        }
        let (outcome, flattening) =
            pipeline::flatten_and_check(self, class, &pipeline::Options::until(Stage::Check), None);
        let report = Arc::new(Report {
            diagnostics: outcome.diagnostics,
            balance: outcome.balance,
            model: outcome.flat,
            flattening,
        });
        if let Some(entry) = self.current_results().find(class, &options) {
            entry.report = Some(report.clone());
        }
        report
    }

    /// What the names mean in the texts that a class is made of; see [`Flattening::references`].
    pub fn references(&self, class: &str) -> Arc<Flattening> {
        self.flatten(class, &Options { references: true, ..Options::default() })
    }

    /// The flat model of a class; the same value until something it depends on changes.
    pub fn flatten(&self, class: &str, options: &Options) -> Arc<Flattening> {
        if let Some(known) = self.current_results().find(class, options) {
            return known.flattening.clone();
        }
        let flattening = Arc::new(self.flatten_anew(class, options));
        let entry =
            Entry { class: class.to_owned(), options: options.clone(), flattening: flattening.clone(), report: None };
        self.current_results().push(entry);
        flattening
    }

    /// The results without those that an edit has made wrong.
    fn current_results(&self) -> std::cell::RefMut<'_, Results> {
        let mut results = self.results.borrow_mut();
        let change = self.store.change();
        let users_files = self.users_paths();
        if results.seen != change || results.users_files != users_files {
            results.entries.retain(|entry| entry.flattening.dependencies.are_current(&self.store, &users_files));
            results.seen = change;
            results.users_files = users_files;
        }
        results
    }

    fn flatten_anew(&self, name: &str, options: &Options) -> Flattening {
        let Tree { library, .. } = self.new_tree();
        let flattened = match library.find(name) {
            Some(class) => flatten_readable(&library, class, options),
            None => without_model(missing(&library, name)),
        };
        Flattening {
            model: flattened.model.map(Arc::new),
            diagnostics: flattened.diagnostics,
            references: flattened.references,
            dependencies: library.dependencies(),
            packages: library.packages(),
            sources: library.source_map(),
        }
    }
}

/// What is written in a broken file of the user is guesswork, and so would be every message about it: then what is wrong with
/// the file is the whole answer. It may turn out before or while the class is flattened that it needs the file.
fn flatten_readable(library: &Library, class: ClassId, options: &Options) -> Flattened {
    // To look at the class makes its file one that is needed.
    library.definition(class);
    let n_loaded = library.n_messages();
    let broken = library.concerning_diagnostics();
    if broken.has_errors() {
        return without_model(broken);
    }
    let flattened = saltus_frontend::flatten(library, class, options);
    let broken = library.concerning_diagnostics_until(n_loaded);
    if broken.has_errors() { without_model(broken) } else { flattened }
}

/// Why there is no class of this name: a broken file that may have declared it, else the name is not known.
fn missing(library: &Library, name: &str) -> Diagnostics {
    let unknown = unknown_class(library, name);
    let is_explained = library.blame_broken_files();
    let mut diagnostics = library.concerning_diagnostics();
    if !is_explained {
        diagnostics.push(unknown);
    }
    diagnostics
}

fn without_model(diagnostics: Diagnostics) -> Flattened {
    Flattened { model: None, diagnostics, references: None }
}
