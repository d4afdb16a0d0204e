//! What answers point at: a declaration with its name, kind and place.

use std::ops::Range;
use std::path::PathBuf;

use saltus::ShippedFiles;
use saltus_base::Span;
use saltus_frontend::{Declaration, Scopes, Symbol};
use saltus_library::Library;
use saltus_syntax::ast::{ClassBody, ClassDef, ClassKind, ComponentClause, Description, Direction, Variability};

/// A part of a file, in bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileRange {
    pub path: PathBuf,
    pub start: u32,
    pub end: u32,
}

impl FileRange {
    pub fn range(&self) -> Range<u32> {
        self.start..self.end
    }

    /// `None` for what is not a file: predefined types, the library inside of the program.
    pub(crate) fn of(library: &Library, span: Span) -> Option<Self> {
        let path = &library.source(span.file)?.path;
        let can_be_opened = !path.starts_with('<') && !path.starts_with(ShippedFiles::ROOT);
        can_be_opened.then(|| Self { path: path.into(), start: span.start, end: span.end })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolKind {
    Class,
    Model,
    Block,
    Connector,
    Record,
    Type,
    Enumeration,
    Package,
    Function,
    Operator,
    Literal,
    Variable,
    Parameter,
    Constant,
    Input,
    Output,
    Iterator,
    Attribute,
    Builtin,
    Keyword,
    Snippet,
}

impl SymbolKind {
    pub(crate) fn of_class(class: &ClassDef) -> Self {
        if matches!(class.body, ClassBody::Enumeration(_)) {
            return SymbolKind::Enumeration;
        }
        match class.kind {
            ClassKind::Class => SymbolKind::Class,
            ClassKind::Model => SymbolKind::Model,
            ClassKind::Block => SymbolKind::Block,
            ClassKind::Connector | ClassKind::ExpandableConnector => SymbolKind::Connector,
            ClassKind::Record | ClassKind::OperatorRecord => SymbolKind::Record,
            ClassKind::Type => SymbolKind::Type,
            ClassKind::Package => SymbolKind::Package,
            ClassKind::Function | ClassKind::OperatorFunction => SymbolKind::Function,
            ClassKind::Operator => SymbolKind::Operator,
        }
    }

    pub(crate) fn of_component(clause: &ComponentClause) -> Self {
        match (clause.variability, clause.direction) {
            (Some(Variability::Constant), _) => SymbolKind::Constant,
            (Some(Variability::Parameter), _) => SymbolKind::Parameter,
            (_, Some(Direction::Input)) => SymbolKind::Input,
            (_, Some(Direction::Output)) => SymbolKind::Output,
            _ => SymbolKind::Variable,
        }
    }

    pub(crate) fn of(declaration: Declaration<'_>) -> Self {
        match declaration {
            Declaration::Class { definition, .. } => Self::of_class(definition),
            Declaration::Component { clause, .. } => Self::of_component(clause),
            Declaration::Literal { .. } => SymbolKind::Literal,
        }
    }
}

/// A declaration that an editor can go to.
#[derive(Clone, PartialEq, Debug)]
pub struct NavigationTarget {
    pub name: String,
    pub kind: SymbolKind,
    /// The class that declares it; empty at the top level.
    pub container: String,
    pub description: String,
    /// The whole declaration.
    pub full: FileRange,
    /// The name in it.
    pub focus: FileRange,
}

impl NavigationTarget {
    pub(crate) fn of_symbol(scopes: &Scopes<'_>, symbol: Symbol) -> Option<Self> {
        let library = scopes.library();
        let declaration = scopes.declaration(symbol)?;
        let (container, full) = match declaration {
            Declaration::Class { id, definition, .. } => {
                (library.parent(id).map(|parent| library.qualified_name(parent)).unwrap_or_default(), definition.span)
            }
            Declaration::Component { owner, component, .. } => (library.qualified_name(owner), component.span),
            Declaration::Literal { enumeration, literal } => (library.qualified_name(enumeration), literal.name.span),
        };
        let ident = declaration.ident();
        Some(Self {
            name: library.text(ident.name).to_owned(),
            kind: SymbolKind::of(declaration),
            container,
            description: text_of(declaration.description()),
            full: FileRange::of(library, full)?,
            focus: FileRange::of(library, ident.span)?,
        })
    }
}

pub(crate) fn text_of(description: &Description) -> String {
    description.parts.iter().map(|part| &*part.value).collect()
}
