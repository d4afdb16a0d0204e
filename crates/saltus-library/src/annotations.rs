//! What the annotations of a top-level class say about versions (specification chapter 18, "Version Handling").
//!
//! ```modelica
//! package MyLib
//!   annotation(version="2.0", uses(Modelica(version="4.1.0")), conversion(noneFromVersion="1.9"));
//! end MyLib;
//! ```

use saltus_base::{Name, Span};
use saltus_syntax::ast::{self, Argument, ClassBody, ClassDef, ClassModification, ElementModification, ExprKind};

use crate::names::Names;
use crate::version::Version;

/// The names of the annotations, interned once.
pub(crate) struct AnnotationNames {
    uses: Name,
    version: Name,
    conversion: Name,
    none_from_version: Name,
    version_build: Name,
    date_modified: Name,
}

/// `uses(Modelica(version="4.1.0", versionBuild=4))`
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) library: Name,
    pub(crate) version: Option<Version>,
    version_build: Option<String>,
    date_modified: Option<String>,
    /// Of `Modelica(version="4.1.0")`.
    pub(crate) span: Span,
}

/// A build of a library that differs from the one asked for.
pub(crate) struct Build {
    /// `versionBuild` or `dateModified`
    pub(crate) what: &'static str,
    pub(crate) wanted: String,
    pub(crate) loaded: Option<String>,
}

impl AnnotationNames {
    pub(crate) fn new(names: &Names) -> Self {
        Self {
            uses: names.intern("uses"),
            version: names.intern("version"),
            conversion: names.intern("conversion"),
            none_from_version: names.intern("noneFromVersion"),
            version_build: names.intern("versionBuild"),
            date_modified: names.intern("dateModified"),
        }
    }

    /// The version of a class and where it is written.
    pub(crate) fn version(&self, class: &ClassDef) -> Option<(Version, Span)> {
        let annotation = annotation_of(class)?;
        let argument = named(annotation, self.version).next()?;
        Some((Version::new(string_value(argument)?), argument.span))
    }

    pub(crate) fn uses(&self, class: &ClassDef) -> Vec<Use> {
        let arguments =
            annotation_of(class).into_iter().flat_map(|a| named(a, self.uses)).filter_map(class_modification);
        arguments.flat_map(modifications).filter_map(|argument| self.used_library(argument)).collect()
    }

    fn used_library(&self, argument: &ElementModification) -> Option<Use> {
        let [library] = argument.name.parts.as_slice() else { return None };
        let inside = class_modification(argument);
        let value = |name: Name| inside.and_then(|inside| literal(inside, name));
        Some(Use {
            library: library.name,
            version: value(self.version).map(|version| Version::new(&version)),
            version_build: value(self.version_build),
            date_modified: value(self.date_modified),
            span: argument.span,
        })
    }

    /// Where a use asks for a build of a version and the library says another.
    pub(crate) fn different_builds(&self, used: &Use, class: &ClassDef) -> Vec<Build> {
        let pairs = [
            (self.version_build, &used.version_build, "versionBuild"),
            (self.date_modified, &used.date_modified, "dateModified"),
        ];
        let different = pairs.into_iter().filter_map(|(name, wanted, what)| {
            let wanted = wanted.clone()?;
            let loaded = annotation_of(class).and_then(|annotation| literal(annotation, name));
            (loaded.as_ref() != Some(&wanted)).then_some(Build { what, wanted, loaded })
        });
        different.collect()
    }

    /// May a class that uses version `wanted` of `class` be taken with this version as it is?
    pub(crate) fn converts_without_change(&self, class: &ClassDef, wanted: &Version) -> bool {
        annotation_of(class)
            .into_iter()
            .flat_map(|a| named(a, self.conversion))
            .filter_map(class_modification)
            .flat_map(|conversion| named(conversion, self.none_from_version))
            .filter_map(string_value)
            .any(|version| Version::new(version) == *wanted)
    }
}

/// What the annotation of a class modifies.
pub fn annotation_of(class: &ClassDef) -> Option<&ClassModification> {
    let annotation = match &class.body {
        ClassBody::Long(body) => &body.annotation,
        ClassBody::Short(body) => &body.comment.annotation,
        ClassBody::Enumeration(body) => &body.comment.annotation,
        ClassBody::Derivative { comment, .. } => &comment.annotation,
    };
    annotation.as_ref().map(|annotation| &annotation.modification)
}

pub(crate) fn modifications(modification: &ClassModification) -> impl Iterator<Item = &ElementModification> {
    modification.arguments.iter().filter_map(|argument| match argument {
        Argument::Modification(modification) => Some(modification),
        _ => None,
    })
}

/// Modifications of this name.
pub fn named(modification: &ClassModification, name: Name) -> impl Iterator<Item = &ElementModification> {
    modifications(modification).filter(move |m| matches!(m.name.parts.as_slice(), [part] if part.name == name))
}

/// What stands in the parentheses behind a name.
pub fn class_modification(argument: &ElementModification) -> Option<&ClassModification> {
    argument.modification.as_ref()?.class.as_ref()
}

/// The literal that is given to `name`, as text.
fn literal(modification: &ClassModification, name: Name) -> Option<String> {
    let value = named(modification, name).next()?.modification.as_ref()?.value.as_ref()?;
    match &value.expr.as_ref()?.kind {
        ExprKind::String(text) => Some(text.to_string()),
        ExprKind::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

fn string_value(argument: &ElementModification) -> Option<&str> {
    let value: &ast::ModificationValue = argument.modification.as_ref()?.value.as_ref()?;
    match &value.expr.as_ref()?.kind {
        ExprKind::String(text) => Some(text),
        _ => None,
    }
}
