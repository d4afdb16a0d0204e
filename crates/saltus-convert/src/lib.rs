//! Sources written for an older version of a library, rewritten for the one that is loaded.
//!
//! ```text
//! L.SIunits.Voltage v;                      L.Units.SI.Voltage v;
//! L.Sources.Sine s(freqHz = 50);         ⇒  L.Sources.Sine s(f = 50);
//! annotation(uses(L(version = "1.0")));     annotation(uses(L(version = "2.0")));
//! ```
//!
//! In: the library with the annotation `conversion` of its package and the scripts that it names ([`script`], specification
//! 18.8.2), and all sources at once, because a class of one file may be the type of a component in another. Out: the changed
//! texts, and what has to be done by hand. The old version is not needed: its names are found by lexical lookup, and types
//! of components by that and by the present library. Only the pieces that change are touched; layout and comments stay.

mod edits;
mod facts;
mod present;
mod resolve;
mod rewrite;
pub mod script;

use saltus_base::{Diagnostics, FileId, Index, Interner};
use saltus_library::{ClassId, Library};
use saltus_syntax::Parsed;

use edits::Edits;
use facts::Facts;
use present::Present;
use resolve::Resolver;
use rewrite::{Rewriter, Target};
use script::Script;

pub use rewrite::Remark;

/// A file after the conversion.
pub struct Converted {
    pub text: String,
    pub n_changes: usize,
    /// In the order of the text; the file of a span is the position of the source.
    pub remarks: Vec<Remark>,
    /// What is wrong with the file; then it is left as it is.
    pub diagnostics: Diagnostics,
}

/// Converts from one version of a library.
pub struct Converter<'a> {
    present: Present<'a>,
    script: Script,
    library: String,
    version: Option<String>,
}

impl<'a> Converter<'a> {
    /// The rules for sources that use `from` of `package`, or any older version; an error says why there are none.
    pub fn new(library: &'a Library, package: ClassId, from: Option<&str>) -> Result<Self, String> {
        let present = Present::new(library);
        let script = present.script(package, from)?;
        let version = library.version_of(package).map(|version| version.text().to_owned());
        Ok(Converter { present, script, library: library.qualified_name(package), version })
    }

    /// What a class is called now, if that changed and the new one exists.
    pub fn class(&self, old: &str) -> Option<String> {
        let new = self.script.class(old);
        (new != old && self.present.has(&new)).then_some(new)
    }

    /// What an element of a class, by its present name, is called now.
    pub fn element(&self, class: &str, old: &str) -> Option<String> {
        let (facts, names) = (Facts::default(), Interner::new());
        let resolver = Resolver::new(&self.script, &facts, &self.present, &names);
        resolver.element(class, old).map(str::to_owned)
    }

    pub fn convert(&self, sources: &[String]) -> Vec<Converted> {
        let mut names = Interner::new();
        let parsed: Vec<Parsed> = sources
            .iter()
            .enumerate()
            .map(|(i, text)| saltus_syntax::parse(FileId::from_usize(i), text, &mut names))
            .collect();
        let mut facts = Facts::default();
        for file in &parsed {
            facts.add(&file.tree, &names);
        }
        let resolver = Resolver::new(&self.script, &facts, &self.present, &names);
        parsed.into_iter().zip(sources).map(|(file, text)| self.rewrite(file, text, &resolver)).collect()
    }

    fn rewrite(&self, file: Parsed, text: &str, resolver: &Resolver) -> Converted {
        if file.diagnostics.has_errors() {
            let text = text.to_owned();
            return Converted { text, n_changes: 0, remarks: Vec::new(), diagnostics: file.diagnostics };
        }
        let target = Target { library: &self.library, version: self.version.as_deref() };
        let mut rewriter = Rewriter { resolver, target: &target, text, edits: Edits::default(), remarks: Vec::new() };
        let within = file.tree.within.as_ref().map_or(String::new(), |w| {
            w.path.iter().map(|ident| resolver.names.text(ident.name)).collect::<Vec<_>>().join(".")
        });
        for definition in &file.tree.classes {
            rewriter.class(&definition.class, &within);
        }
        Converted {
            text: rewriter.edits.apply(text, 0, text.len()),
            n_changes: rewriter.edits.len(),
            remarks: rewriter.remarks,
            diagnostics: file.diagnostics,
        }
    }
}

#[cfg(test)]
mod tests;
