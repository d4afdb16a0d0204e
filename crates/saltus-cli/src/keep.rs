//! Which signals are kept: patterns on the command line, exact names in a file.

use std::path::PathBuf;

use saltus_results::Kept;

use crate::{Exit, Screen, files};

#[derive(clap::Args)]
pub struct Keep {
    /// Keep signals with this name; `*` and `?` stand for others, brackets for themselves. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Keep only the signals named in this file, exactly, one a line.
    #[arg(long, value_name = "FILE")]
    keep_file: Option<PathBuf>,
}

impl Keep {
    /// The files that are read.
    pub fn files(&self) -> Vec<PathBuf> {
        self.keep_file.iter().cloned().collect()
    }

    pub fn read(&self, screen: &Screen) -> Result<Kept, Exit> {
        let mut names = Vec::new();
        if let Some(path) = &self.keep_file {
            let text = files::read(path).map_err(|error| screen.fail(&error))?;
            names.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from));
        }
        let is_choice = !self.keep.is_empty() || self.keep_file.is_some();
        Ok(if is_choice { Kept::only(&self.keep, []).and_exactly(names) } else { Kept::default() })
    }
}
