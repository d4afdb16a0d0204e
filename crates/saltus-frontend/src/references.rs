//! What the names in the text mean: for every use of a name its definition, for every definition its uses and its type.
//!
//! ```text
//! model M                     use `Resistor` ⇒ class Electrical.Resistor
//!   Resistor r(R = 2);        use `R`        ⇒ component R of Electrical.Resistor, of type Real
//! equation
//!   connect(r.p, g.p);        use `r`        ⇒ component r of M, of type Electrical.Resistor
//! end M;
//! ```
//!
//! An index covers what one flattening looked at: the class, what it is made of and the functions it calls. Several of them
//! are united with [`References::extend`]. A name that means different things in two instances of a class, because a
//! type was redeclared in one of them, has all these definitions.

use std::collections::BTreeMap;

use saltus_base::{FileId, Span};

/// Names and their definitions.
#[derive(Clone, Default, Debug)]
pub struct References {
    /// By the place of the name that is defined.
    definitions: BTreeMap<Place, Definition>,
    /// The definitions of each use, in the order in which they were found.
    uses: BTreeMap<Place, Vec<Place>>,
}

/// A declaration.
#[derive(Clone, PartialEq, Debug)]
pub struct Definition {
    /// The name where it is declared.
    pub span: Span,
    /// As it is written.
    pub name: String,
    pub kind: DefinitionKind,
    /// The description string behind the declaration.
    pub description: String,
}

#[derive(Clone, PartialEq, Debug)]
pub enum DefinitionKind {
    /// With its name from the top level.
    Class { qualified_name: String },
    Component {
        /// The class that declares it.
        owner: String,
        /// `parameter`, `constant`, `discrete`, `flow`, `stream`, `input`, `output`, in the order of the language.
        prefixes: Vec<&'static str>,
        /// The name of its type where it is declared.
        type_name: Span,
        /// Sizes as far as they are known.
        sizes: Vec<u64>,
    },
    EnumerationLiteral {
        /// The enumeration.
        owner: String,
    },
}

/// The type of a component.
#[derive(Clone, PartialEq, Debug)]
pub struct ComponentType<'a> {
    pub class: &'a Definition,
    /// Such as `parameter Parts.Voltage[2]`.
    pub text: String,
}

type Place = (FileId, u32, u32);

fn place(span: Span) -> Place {
    (span.file, span.start, span.end)
}

fn span((file, start, end): Place) -> Span {
    Span::new(file, start, end)
}

impl References {
    /// The definitions of the name at a byte of a file; also of the name in the declaration itself.
    pub fn definitions_at(&self, file: FileId, offset: u32) -> Vec<&Definition> {
        let before = (file, offset, u32::MAX);
        let covers = |&&(f, _, end): &&Place| f == file && offset <= end;
        let used = self.uses.range(..=before).next_back().filter(|(place, _)| covers(place));
        if let Some((_, found)) = used {
            return found.iter().filter_map(|place| self.definitions.get(place)).collect();
        }
        let declared = self.definitions.range(..=before).next_back().filter(|(place, _)| covers(place));
        declared.map(|(_, definition)| definition).into_iter().collect()
    }

    /// The definition of the name at a byte of a file; the first one where there are several.
    pub fn definition_at(&self, file: FileId, offset: u32) -> Option<&Definition> {
        self.definitions_at(file, offset).into_iter().next()
    }

    /// Where a definition is used, in the order of the files; the declaration itself is not among them.
    pub fn uses_of<'a>(&'a self, definition: &Definition) -> impl Iterator<Item = Span> + 'a {
        let wanted = place(definition.span);
        self.uses.iter().filter(move |(_, found)| found.contains(&wanted)).map(|(&at, _)| span(at))
    }

    /// The type of a component; `None` for anything else, and where the type was not found.
    pub fn type_of(&self, definition: &Definition) -> Option<ComponentType<'_>> {
        let DefinitionKind::Component { prefixes, type_name, sizes, .. } = &definition.kind else { return None };
        let class = self.uses.get(&place(*type_name))?.iter().find_map(|place| self.definitions.get(place))?;
        let DefinitionKind::Class { qualified_name } = &class.kind else { return None };
        let mut text = prefixes.iter().map(|prefix| format!("{prefix} ")).collect::<String>() + qualified_name;
        if !sizes.is_empty() {
            text += &format!("[{}]", sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", "));
        }
        Some(ComponentType { class, text })
    }

    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.values()
    }

    /// Every use with its definitions.
    pub fn uses(&self) -> impl Iterator<Item = (Span, Vec<&Definition>)> {
        self.uses.iter().map(|(&at, found)| (span(at), found.iter().filter_map(|p| self.definitions.get(p)).collect()))
    }

    /// Takes over what another index knows.
    pub fn extend(&mut self, other: &References) {
        for definition in other.definitions.values() {
            self.definitions.entry(place(definition.span)).or_insert_with(|| definition.clone());
        }
        for (&at, found) in &other.uses {
            found.iter().for_each(|&definition| self.add_place(at, definition));
        }
    }

    pub(crate) fn add_use(&mut self, at: Span, definition: Span) {
        self.add_place(place(at), place(definition));
    }

    fn add_place(&mut self, at: Place, definition: Place) {
        let found = self.uses.entry(at).or_default();
        if !found.contains(&definition) {
            found.push(definition);
        }
    }

    pub(crate) fn has_definition(&self, at: Span) -> bool {
        self.definitions.contains_key(&place(at))
    }

    pub(crate) fn define(&mut self, definition: Definition) {
        self.definitions.insert(place(definition.span), definition);
    }
}
