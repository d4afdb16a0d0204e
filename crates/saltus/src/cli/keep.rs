//! Which signals are kept: patterns on the command line, exact names in a file.

use std::collections::HashSet;
use std::path::PathBuf;

use saltus::diagnostics;
use saltus_base::Diagnostic;
use saltus_results::{Pattern, nearest};

use super::{Exit, Screen, files};

#[derive(clap::Args)]
pub struct Keep {
    /// Keep signals with this name; `*` and `?` stand for others, brackets for themselves. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Keep only the signals named in this file, exactly, one a line.
    #[arg(long, value_name = "FILE")]
    keep_file: Option<PathBuf>,
}

/// What [`Keep`] asks for.
pub struct Kept {
    patterns: Vec<(String, Pattern)>,
    names: HashSet<String>,
    keeps_all: bool,
}

impl Keep {
    pub fn read(&self, screen: &Screen) -> Result<Kept, Exit> {
        let mut names = HashSet::new();
        if let Some(path) = &self.keep_file {
            let text = files::read(path).map_err(|error| screen.fail(&error))?;
            names.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from));
        }
        let patterns = self.keep.iter().map(|text| (text.clone(), Pattern::new(text))).collect();
        Ok(Kept { patterns, names, keeps_all: self.keep.is_empty() && self.keep_file.is_none() })
    }
}

impl Kept {
    /// Were signals chosen, rather than all of them kept?
    pub fn is_choice(&self) -> bool {
        !self.keeps_all
    }

    pub fn keeps(&self, name: &str) -> bool {
        self.keeps_all || self.names.contains(name) || self.patterns.iter().any(|(_, p)| p.matches(name))
    }

    /// A message for each pattern that fits no name.
    pub fn check(&self, names: &[&str]) -> Vec<Diagnostic> {
        let fits = |p: &Pattern| names.iter().any(|n| p.matches(n));
        let idle = self.patterns.iter().filter(|(_, p)| !fits(p));
        idle.map(|(text, _)| diagnostics::nothing_kept(text, nearest(text, names.iter().copied()))).collect()
    }
}
