//! Where annotations stand: a standard one has a meaning at some places only (specification 18).
//!
//! ```text
//! Real x annotation(experiment(StopTime = 1));     the annotation of a class, at a component
//! ```
//!
//! In: the annotations of a class, of its components, base classes and equations. Out: a warning for each standard annotation that has
//! no meaning there; simulations do not depend on it. Names that the specification does not define are left alone, those of vendors
//! among them.

use saltus_syntax::ast;

use crate::Front;
use crate::annotation::class_annotation;
use crate::diagnostics as d;

/// What an annotation belongs to. Each is one bit, for sets of places.
#[derive(Clone, Copy)]
struct Places(u8);

const CLASS: Places = Places(1);
const COMPONENT: Places = Places(2);
const EXTENDS: Places = Places(4);
const EQUATION: Places = Places(8);
const EXTERNAL: Places = Places(16);
/// A parameter or a constant: only these have a value that can be evaluated.
const FIXED: Places = Places(32);

impl Places {
    const fn or(self, other: Places) -> Places {
        Places(self.0 | other.0)
    }

    fn has(self, place: Places) -> bool {
        self.0 & place.0 != 0
    }

    fn text(self) -> String {
        let names = [
            (CLASS, "a class"),
            (COMPONENT, "a component"),
            (FIXED, "a parameter or constant"),
            (EXTENDS, "an `extends`"),
            (EQUATION, "a connection"),
            (EXTERNAL, "an external function"),
        ];
        let known: Vec<&str> = names.into_iter().filter(|(place, _)| self.has(*place)).map(|(_, name)| name).collect();
        known.join(" or ")
    }
}

/// Standard annotations with their places. Sections 12.7 to 12.9 and 18; `choices` and what belongs to them is in 7.3.4.
const STANDARD: &[(&str, Places)] = &[
    ("Documentation", CLASS),
    ("Icon", CLASS),
    ("Diagram", CLASS),
    ("experiment", CLASS),
    ("TestCase", CLASS),
    ("singleInstance", CLASS),
    ("preferredView", CLASS),
    ("DocumentationClass", CLASS),
    ("defaultComponentName", CLASS),
    ("defaultComponentPrefixes", CLASS),
    ("missingInnerMessage", CLASS),
    ("defaultConnectionStructurallyInconsistent", CLASS),
    ("version", CLASS),
    ("conversion", CLASS),
    ("uses", CLASS),
    ("versionDate", CLASS),
    ("versionBuild", CLASS),
    ("dateModified", CLASS),
    ("revisionId", CLASS),
    ("Inline", CLASS),
    ("LateInline", CLASS),
    ("InlineAfterIndexReduction", CLASS),
    ("GenerateEvents", CLASS),
    ("inverse", CLASS),
    ("derivative", CLASS),
    ("Placement", COMPONENT),
    ("mustBeConnected", COMPONENT),
    ("mayOnlyConnectOnce", COMPONENT),
    ("unassignedMessage", COMPONENT),
    ("Evaluate", CLASS.or(FIXED)),
    ("IconMap", CLASS.or(EXTENDS)),
    ("DiagramMap", CLASS.or(EXTENDS)),
    ("Line", EQUATION),
    ("Library", CLASS.or(EXTERNAL)),
    ("LibraryDirectory", CLASS.or(EXTERNAL)),
    ("Include", CLASS.or(EXTERNAL)),
    ("IncludeDirectory", CLASS.or(EXTERNAL)),
    ("SourceDirectory", CLASS.or(EXTERNAL)),
];

impl<'a> Front<'a> {
    /// The annotations of a class and of what stands in it, classes inside apart.
    pub fn check_annotation_places(&mut self, definition: &'a ast::ClassDef) {
        let own = match &definition.body {
            // A short class definition may have what stands at classes and at `extends`.
            ast::ClassBody::Short(_) => CLASS.or(EXTENDS),
            _ => CLASS,
        };
        self.check_places(class_annotation(definition), own, "a class");
        let ast::ClassBody::Long(body) = &definition.body else { return };
        if let Some(external) = &body.external {
            self.check_places(external.annotation.as_ref(), EXTERNAL.or(CLASS), "an external function");
        }
        for section in &body.sections {
            match section {
                ast::Section::Elements { elements, .. } => {
                    elements.iter().for_each(|element| self.check_element_annotation(element));
                }
                ast::Section::Equations { equations, .. } => self.check_equation_annotations(equations),
                ast::Section::Algorithm { .. } => {}
            }
        }
    }

    fn check_element_annotation(&mut self, element: &'a ast::Element) {
        match &element.kind {
            ast::ElementKind::Extends(extends) => {
                self.check_places(extends.annotation.as_ref(), EXTENDS, "an `extends`");
            }
            ast::ElementKind::Components(clause) => {
                let is_fixed =
                    matches!(clause.variability, Some(ast::Variability::Parameter | ast::Variability::Constant));
                // The prefix may come from the class that is redeclared, or from the type.
                let is_builtin = matches!(clause.type_name.parts.as_slice(), [part] if ["Real", "Integer", "Boolean", "String"].contains(&self.text(part.name)));
                let is_open = is_fixed || clause.prefixes.is_redeclare || !is_builtin;
                let place = if is_open { COMPONENT.or(FIXED) } else { COMPONENT };
                for component in &clause.components {
                    self.check_places(component.comment.annotation.as_ref(), place, "a component");
                }
            }
            _ => {}
        }
    }

    fn check_equation_annotations(&mut self, equations: &'a [ast::Equation]) {
        for equation in equations {
            self.check_places(equation.comment.annotation.as_ref(), EQUATION, "an equation");
            match &equation.kind {
                ast::EquationKind::For { body, .. } => self.check_equation_annotations(body),
                ast::EquationKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.check_equation_annotations(body));
                    otherwise.iter().for_each(|body| self.check_equation_annotations(body));
                }
                _ => {}
            }
        }
    }

    fn check_places(&mut self, annotation: Option<&'a ast::Annotation>, place: Places, here: &str) {
        for argument in annotation.iter().flat_map(|a| &a.modification.arguments) {
            let ast::Argument::Modification(m) = argument else { continue };
            let [part] = m.name.parts.as_slice() else { continue };
            let name = self.text(part.name);
            if let Some((_, places)) = STANDARD.iter().find(|(known, _)| *known == name)
                && !places.has(place)
            {
                self.report_always(d::annotation_place(name, here, &places.text(), part.span));
            }
        }
    }
}
