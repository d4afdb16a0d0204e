//! What is reported to the user, and what is held back until it is clear whether it is a mistake or follows from one.

use std::collections::{HashMap, HashSet};

use saltus_base::{Code, Diagnostic, Diagnostics, Span};

use crate::instance::CompId;

#[derive(Default)]
pub struct Messages {
    pub diagnostics: Diagnostics,
    /// Mistakes in the text of classes; unlike the others they stay when an expression was only tried.
    certain: Diagnostics,
    /// Left out because they follow from others; they come back should there be no other error.
    withheld: Vec<Diagnostic>,
    /// What cannot be found because the class that is checked leaves a value to its users.
    pub open_values: Vec<Diagnostic>,
    reported: HashSet<(Code, Span)>,
    /// Components reported to have no usable value.
    pub without_value: HashSet<CompId>,
    /// What was said about values of components when they were found, which happens once, maybe while something was only tried.
    about_values: HashMap<CompId, Vec<Diagnostic>>,
}

/// How many messages there were before something was tried.
#[derive(Clone, Copy)]
pub struct Mark(usize);

impl Messages {
    /// The same mistake at the same place, seen through several instances of a class, is one mistake.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let is_repeated = diagnostic.span.is_some() && is_in(&self.diagnostics, &diagnostic);
        if !is_repeated {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports what holds for the text of a class, also while an expression is only tried.
    pub fn report_always(&mut self, diagnostic: Diagnostic) {
        if !is_in(&self.certain, &diagnostic) {
            self.certain.push(diagnostic);
        }
    }

    /// Reports at most once per place, whatever the wording.
    pub fn report_once(&mut self, diagnostic: Diagnostic) {
        let key = (diagnostic.code, diagnostic.span.unwrap_or(Span::nowhere()));
        if self.reported.insert(key) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Keeps a message that follows from another one.
    pub fn withhold(&mut self, diagnostic: Diagnostic) {
        self.withheld.push(diagnostic);
    }

    /// Before something is tried that [`Messages::take_back`] may undo.
    pub fn mark(&self) -> Mark {
        Mark(self.diagnostics.len())
    }

    /// Forgets what was reported since the mark.
    pub fn take_back(&mut self, mark: Mark) {
        self.diagnostics.truncate(mark.0);
    }

    /// Remembers what was reported since the mark, when the value of a component was found.
    pub fn remember_about(&mut self, comp: CompId, mark: Mark) {
        if !self.is_quiet_since(mark) {
            let said = self.diagnostics.iter().skip(mark.0).cloned();
            self.about_values.entry(comp).or_default().extend(said);
        }
    }

    /// Reports what was remembered and may have been taken back since: the value is not used.
    pub fn report_about(&mut self, comp: CompId) {
        self.about_values.remove(&comp).into_iter().flatten().for_each(|said| self.report(said));
    }

    /// Nothing was reported, nor found to be certain or held back.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
            && self.certain.is_empty()
            && self.withheld.is_empty()
            && self.open_values.is_empty()
    }

    /// Nothing was reported since the mark.
    pub fn is_quiet_since(&self, mark: Mark) -> bool {
        self.diagnostics.len() == mark.0
    }

    /// Forgets messages that `follows` from a value that is left open, and what was withheld.
    pub fn forget(&mut self, follows: impl Fn(&Diagnostic) -> bool) {
        self.withheld.clear();
        let kept = std::mem::take(&mut self.diagnostics);
        self.diagnostics.extend(kept.into_iter().filter(|found| !follows(found)));
    }

    /// All of them after those of the library.
    pub fn finish(self, mut all: Diagnostics) -> Diagnostics {
        all.extend(self.certain);
        all.extend(self.diagnostics);
        if !all.has_errors() {
            all.extend(self.withheld);
        }
        all
    }
}

fn is_in(diagnostics: &Diagnostics, wanted: &Diagnostic) -> bool {
    diagnostics.iter().any(|d| d.code == wanted.code && d.span == wanted.span)
}
