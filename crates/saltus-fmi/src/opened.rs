//! An archive with its description.

use std::io::Cursor;

use saltus_base::{Diagnostic, Diagnostics, SourceMap};

use crate::archive::{Archive, ArchiveError, Limits};
use crate::{Document, diagnostics, read};

/// The description of an FMU and what files the archive has. Nothing is written and no foreign code runs.
pub struct Opened {
    /// As the user named it.
    pub name: String,
    pub document: Document,
    /// The text of the description, for messages.
    pub sources: SourceMap,
    pub files: Vec<String>,
}

/// A finding without a document, and the text that it is about.
pub struct Unreadable {
    pub diagnostic: Diagnostic,
    pub sources: SourceMap,
}

/// Opens the archive in `bytes`, which the user calls `name`.
pub fn open(name: &str, bytes: &[u8]) -> Result<Opened, Box<Unreadable>> {
    let mut sources = SourceMap::new();
    let told = |error: ArchiveError| error.diagnostic(name);
    let mut read_all = || -> Result<(Document, Vec<String>), Diagnostic> {
        let mut archive = Archive::new(Cursor::new(bytes), Limits::default()).map_err(told)?;
        let text = archive.read("modelDescription.xml").map_err(told)?;
        let text = String::from_utf8(text)
            .map_err(|_| diagnostics::not_an_archive(name, "modelDescription.xml is not UTF-8 text"))?;
        let file = sources.add(format!("{name}/modelDescription.xml"), text.as_str());
        Ok((read(&text, file)?, archive.names().to_vec()))
    };
    match read_all() {
        Ok((document, files)) => Ok(Opened { name: name.to_owned(), document, sources, files }),
        Err(diagnostic) => Err(Box::new(Unreadable { diagnostic, sources })),
    }
}

impl Opened {
    /// Platforms that it has binaries for, as their directories are called.
    pub fn platforms(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .files
            .iter()
            .filter_map(|f| Some(f.strip_prefix("binaries/")?.split_once('/')?.0.to_owned()))
            .collect();
        all.sort();
        all.dedup();
        all
    }

    /// Every rule of the standard that the description or the archive breaks.
    pub fn check(&self) -> Diagnostics {
        let mut findings = crate::check(&self.document);
        if self.platforms().is_empty() && !self.files.iter().any(|f| f.starts_with("sources/")) {
            findings.push(diagnostics::no_binaries(&self.name));
        }
        findings
    }
}
