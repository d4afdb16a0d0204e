//! Answers for editors, as plain data.
//!
//! The principal type is [`Analysis`]: a session at one moment. In: a file and a byte in it. Out: what the name there means,
//! what can be typed, what is wrong, what an edit has to change. Nothing here knows a protocol, reads files by itself or
//! keeps anything between two questions; [`saltus::Session`] does that.
//!
//! ```
//! use saltus::Session;
//! use saltus_ide::Analysis;
//! use saltus_library::MemoryFiles;
//!
//! let mut session = Session::new(Box::new(MemoryFiles::new()));
//! session.set_text("M.mo", "model M Real x \"Height\"; equation x = 1; end M;");
//! let hover = Analysis::new(&session).hover("M.mo".as_ref(), 34).unwrap();
//! assert!(hover.text.contains("Height"));
//! ```
//!
//! One feature is one file, with its tests. Meanings of names come from the front end (`saltus_frontend::Scopes`), so that an
//! editor and a simulation agree about them; see docs/design/editor.md.

pub mod builtin;
mod completion;
mod compose;
mod definition;
mod describe;
mod diagnostics;
mod file;
mod fixes;
#[cfg(test)]
mod fixture;
mod formatting;
mod graphics;
mod hierarchy;
mod highlighting;
mod hover;
pub mod html;
mod inlay;
mod lens;
mod links;
mod obstacles;
mod outline;
mod position;
mod references;
mod rename;
mod resolve;
mod run;
mod signature;
mod structure;
mod symbols;
mod target;
mod unresolved;
mod walk;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use saltus::Session;
use saltus_base::LineIndex;
use saltus_diagram::{Layer, Painter, Placement, Scene, Value};
use saltus_program::Stopwatch;

pub use completion::{Completion, Completions};
pub use compose::Composition;
pub use describe::{ClassInfo, ClassLine, MemberInfo};
pub use diagnostics::Problem;
pub use fixes::{QuickFix, Suggestion};
pub use formatting::{TextEdit, apply, inverse};
pub use graphics::{Choice, Elements, Misfit, Parameter};
pub use hierarchy::CallSite;
pub use highlighting::{Highlight, HighlightKind};
pub use hover::Hover;
pub use inlay::InlayHint;
pub use lens::ModelPlace;
pub use links::{Link, LinkTarget};
pub use outline::OutlineItem;
pub use position::{Encoding, Position, offset, position};
pub use references::Reference;
pub use rename::SourceChange;
pub use run::{RunFile, RunNote, RunReport};
pub use signature::SignatureHelp;
pub use structure::Fold;
pub use target::{FileRange, NavigationTarget, SymbolKind};
pub use unresolved::Unresolved;

/// A session at one moment, to ask questions about. Offsets are bytes of the present text.
#[derive(Clone, Copy)]
pub struct Analysis<'s> {
    session: &'s Session,
}

impl<'s> Analysis<'s> {
    pub fn new(session: &'s Session) -> Self {
        Self { session }
    }

    /// The text of a file as the answers see it.
    pub fn text(&self, path: &Path) -> Option<&'s str> {
        file::File::open(self.session, path).map(|file| file.text)
    }

    /// Where the lines of a file begin.
    pub fn lines(&self, path: &Path) -> Option<&'s LineIndex> {
        file::File::open(self.session, path).map(|file| file.lines)
    }

    /// The declaration of the name, after redeclarations.
    pub fn definition(&self, path: &Path, offset: u32) -> Option<NavigationTarget> {
        definition::definition(self.session, path, offset)
    }

    /// The first declaration of the name.
    pub fn declaration(&self, path: &Path, offset: u32) -> Option<FileRange> {
        definition::declaration(self.session, path, offset)
    }

    /// The class of the component.
    pub fn type_definition(&self, path: &Path, offset: u32) -> Option<NavigationTarget> {
        definition::type_definition(self.session, path, offset)
    }

    pub fn hover(&self, path: &Path, offset: u32) -> Option<Hover> {
        hover::hover(self.session, path, offset)
    }

    pub fn complete(&self, path: &Path, offset: u32) -> Completions {
        completion::complete(self.session, path, offset)
    }

    pub fn outline(&self, path: &Path) -> Vec<OutlineItem> {
        outline::outline(self.session, path)
    }

    /// The words of a file, or of a range of bytes, with their kinds.
    pub fn highlight(&self, path: &Path, range: Option<(u32, u32)>) -> Vec<Highlight> {
        highlighting::highlight(self.session, path, range)
    }

    /// Edits that bring the file into the standard layout.
    pub fn format(&self, path: &Path) -> Vec<TextEdit> {
        formatting::format(self.session, path)
    }

    pub fn format_range(&self, path: &Path, start: u32, end: u32) -> Vec<TextEdit> {
        formatting::format_range(self.session, path, start, end)
    }

    /// Syntax errors, without looking at any class.
    pub fn syntax_problems(&self, path: &Path) -> Vec<Problem> {
        diagnostics::syntax(self.session, path)
    }

    /// Names of the classes in a file, for [`problems`](Self::problems).
    pub fn checkable_classes(&self, path: &Path) -> Vec<String> {
        diagnostics::checkable(self.session, path)
    }

    /// What the check of a class has to say about a file. It may take long.
    pub fn problems(&self, path: &Path, class: &str) -> Vec<Problem> {
        diagnostics::of_report(self.session, &self.session.check(class), path, class)
    }

    /// What can be done about a problem of the present text, the best first.
    pub fn fixes(&self, path: &Path, problem: &Problem) -> Vec<QuickFix> {
        fixes::fixes(self.session, path, problem)
    }

    /// What can be done with the declaration at a byte.
    pub fn assists(&self, path: &Path, offset: u32) -> Vec<QuickFix> {
        fixes::assists(self.session, path, offset)
    }

    /// The uses of the name, its declaration included, in all files that may know it.
    pub fn references(&self, path: &Path, offset: u32) -> Vec<Reference> {
        references::references(self.session, path, offset)
    }

    /// The uses of the name in the same file.
    pub fn related_in_file(&self, path: &Path, offset: u32) -> Vec<Reference> {
        references::highlight_related(self.session, path, offset)
    }

    /// The bytes of the name if it can be renamed; `Err` says why not.
    pub fn prepare_rename(&self, path: &Path, offset: u32) -> Result<(u32, u32), String> {
        rename::prepare(self.session, path, offset)
    }

    /// Edits that give another name; `Err` says why that would change more than the name.
    pub fn rename(&self, path: &Path, offset: u32, new: &str) -> Result<SourceChange, String> {
        rename::rename(self.session, path, offset, new)
    }

    /// Classes by a part of their name.
    pub fn workspace_symbols(&self, query: &str) -> Vec<NavigationTarget> {
        symbols::workspace_symbols(self.session, query)
    }

    /// Classes of everything that can be found, by a part of their name or path: each with the path of the class that it is in.
    pub fn search(&self, query: &str) -> Vec<(String, ClassLine)> {
        symbols::search(self.session, query)
    }

    pub fn folds(&self, path: &Path) -> Vec<Fold> {
        structure::folds(self.session, path)
    }

    /// The parts of the text around a byte, from the word outwards.
    pub fn selections(&self, path: &Path, offset: u32) -> Vec<(u32, u32)> {
        structure::selections(self.session, path, offset)
    }

    pub fn signature_help(&self, path: &Path, offset: u32) -> Option<SignatureHelp> {
        signature::signature_help(self.session, path, offset)
    }

    pub fn links(&self, path: &Path) -> Vec<Link> {
        links::links(self.session, path)
    }

    pub fn inlay_hints(&self, path: &Path, start: u32, end: u32) -> Vec<InlayHint> {
        inlay::inlay_hints(self.session, path, start, end)
    }

    /// The class that the name means or is of; the questions about hierarchies take the place of its name.
    pub fn class_at(&self, path: &Path, offset: u32) -> Option<NavigationTarget> {
        hierarchy::class_at(self.session, path, offset)
    }

    pub fn supertypes(&self, path: &Path, offset: u32) -> Vec<NavigationTarget> {
        hierarchy::supertypes(self.session, path, offset)
    }

    pub fn subtypes(&self, path: &Path, offset: u32) -> Vec<NavigationTarget> {
        hierarchy::subtypes(self.session, path, offset)
    }

    pub fn outgoing_calls(&self, path: &Path, offset: u32) -> Vec<CallSite> {
        hierarchy::outgoing(self.session, path, offset)
    }

    pub fn incoming_calls(&self, path: &Path, offset: u32) -> Vec<CallSite> {
        hierarchy::incoming(self.session, path, offset)
    }

    /// The classes of a package, or those at the top level; `None` if there is no such package.
    pub fn list(&self, package: Option<&str>) -> Option<Vec<ClassLine>> {
        describe::list(self.session, package)
    }

    /// A class as a list of its package shows it.
    pub fn line(&self, class: &str) -> Option<ClassLine> {
        describe::line(self.session, class)
    }

    /// What a class offers to its users.
    pub fn info(&self, class: &str) -> Option<ClassInfo> {
        describe::info(self.session, class)
    }

    /// How many names of a file lead to a declaration, and which do not.
    pub fn unresolved(&self, path: &Path) -> Unresolved {
        unresolved::unresolved(self.session, path)
    }

    /// Models of a file that can be simulated as they are.
    pub fn models(&self, path: &Path) -> Vec<ModelPlace> {
        lens::models(self.session, path)
    }

    /// Simulates a model with its own experiment, until the flag is set; `None` if there is no such class. It may take long.
    pub fn run(&self, class: &str, stopwatch: &Stopwatch, stop: Arc<AtomicBool>) -> Option<RunReport> {
        run::run(self.session, class, stopwatch, stop)
    }

    /// States, loops and events of a model in one line; `None` if it has mistakes. It may take long.
    pub fn structure(&self, class: &str) -> Option<String> {
        lens::structure(self.session, class)
    }

    /// A picture of a class; `None` if there is no such class.
    pub fn scene(&self, class: &str, layer: Layer) -> Option<Scene> {
        let library = self.session.library();
        Painter::new(library).scene(library.find(class)?, layer)
    }

    /// The same at a moment of a simulation, as `DynamicSelect` says; `values` knows variables by their full names.
    pub fn scene_at(&self, class: &str, layer: Layer, values: &dyn Fn(&str) -> Option<Value>) -> Option<Scene> {
        let library = self.session.library();
        Painter::new(library).at(values).scene(library.find(class)?, layer)
    }

    /// Moves, turns or resizes a component in the diagram, or a connector in the icon. `visible` stays as it is.
    pub fn place(&self, class: &str, component: &str, layer: Layer, place: &Placement) -> Result<SourceChange, String> {
        graphics::place(self.session, class, component, layer, place)
    }

    /// Declares a component of the class `type_name`.
    pub fn add_component(
        &self,
        class: &str,
        type_name: &str,
        name: &str,
        place: &Placement,
    ) -> Result<SourceChange, String> {
        graphics::add(self.session, class, type_name, name, place)
    }

    /// Removes a component and the connections to it.
    pub fn delete_component(&self, class: &str, component: &str) -> Result<SourceChange, String> {
        graphics::delete(self.session, class, component)
    }

    /// Renames a component that the text of the class declares, everywhere; see [`rename`](Self::rename).
    pub fn rename_component(&self, class: &str, component: &str, new: &str) -> Result<SourceChange, String> {
        let edited = graphics::Edited::open(self.session, class)?;
        let name = edited.own_component(component)?.component.name.span;
        self.rename(&edited.path, name.start, new)
    }

    /// Whether two connectors fit, with their sizes; `Err` says why not, and which elements may be meant.
    pub fn can_connect(&self, class: &str, from: &str, to: &str) -> Result<(), Misfit> {
        graphics::can_connect(self.session, class, from, to)
    }

    /// Connects two connectors that fit, with a line of right angles.
    pub fn connect(&self, class: &str, from: &str, to: &str) -> Result<SourceChange, String> {
        graphics::connect(self.session, class, from, to)
    }

    pub fn disconnect(&self, class: &str, from: &str, to: &str) -> Result<SourceChange, String> {
        graphics::disconnect(self.session, class, from, to)
    }

    /// Sets a parameter of the class or of a component (`r.R`), or an attribute (`x.start`); `None` takes it back.
    pub fn modify(&self, class: &str, path: &str, value: Option<&str>) -> Result<SourceChange, String> {
        graphics::modify(self.session, class, path, value)
    }

    /// The parameters of a class, or of one of its components, for a dialog.
    pub fn parameters(&self, class: &str, component: Option<&str>) -> Option<Vec<Parameter>> {
        graphics::parameters(self.session, class, component)
    }
}
