//! Where a class stands in the syntax tree of its file, as a list of steps from the file's classes inwards.
//!
//! A table cannot keep references into trees that the same object owns; it keeps the way there instead. Most classes
//! are one or two steps deep, so following them costs a few loads.
//!
//! ```modelica
//! package P                                  // top 0
//!   model A                                  // top 0, Nested(0, 0)
//!     B b(redeclare model M = C);            // M: …, Component(0, 0, 0), Argument(0)
//!   end A;
//! end P;
//! ```

use saltus_base::{Span, define_id};
use saltus_syntax::ast::{
    self, Argument, ClassBody, ClassDef, ClassModification, ElementKind, RedeclarationKind, Section,
};

use crate::sources::Sources;

define_id! {
    /// A file that was read and parsed.
    pub(crate) struct TreeId;
}

#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) tree: TreeId,
    /// Which of the classes of the file.
    pub(crate) top: u32,
    pub(crate) steps: Box<[Step]>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// From a class to the class that is element number `1` of section number `0`.
    Nested(u32, u32),
    /// From a class to the modification behind an `extends` element.
    Extends(u32, u32),
    /// From a class to the modification of the constraining clause of an element.
    Constraint(u32, u32),
    /// From a class to the modification of component number `2` of an element.
    Component(u32, u32, u32),
    /// From a short class or a `class extends` to its modification.
    Own,
    /// From a modification to the class that an argument redeclares, or to the argument's own modification.
    Argument(u32),
    /// From a modification to the modification of the component that an argument redeclares.
    ArgumentComponent(u32, u32),
    /// From a modification to the modification of the constraining clause of a redeclaration.
    ArgumentConstraint(u32),
}

#[derive(Clone, Copy)]
enum Node<'t> {
    Class(&'t ClassDef),
    Modification(&'t ClassModification),
}

impl Place {
    pub(crate) fn top(tree: TreeId, top: usize) -> Self {
        Self { tree, top: top as u32, steps: Box::default() }
    }

    pub(crate) fn nested(&self, section: usize, element: usize) -> Self {
        let own = Step::Nested(section as u32, element as u32);
        Self { tree: self.tree, top: self.top, steps: self.steps.iter().copied().chain([own]).collect() }
    }

    pub(crate) fn class<'t>(&self, files: &'t Sources) -> Option<&'t ClassDef> {
        match self.node(files, &self.steps)? {
            Node::Class(class) => Some(class),
            Node::Modification(_) => None,
        }
    }

    /// The element around the class, if it is an element of another class.
    pub(crate) fn element<'t>(&self, files: &'t Sources) -> Option<&'t ast::ClassElement> {
        let (&last, before) = self.steps.split_last()?;
        match (self.node(files, before)?, last) {
            (Node::Class(class), Step::Nested(section, element)) => match &element_of(class, section, element)?.kind {
                ElementKind::Class(element) => Some(element),
                _ => None,
            },
            _ => None,
        }
    }

    fn node<'t>(&self, files: &'t Sources, steps: &[Step]) -> Option<Node<'t>> {
        let top = files.used_file(self.tree)?.tree().classes.get(self.top as usize)?;
        steps.iter().try_fold(Node::Class(&top.class), |node, &step| follow(node, step))
    }

    /// The way to `class`, which must be a node of `tree`.
    pub(crate) fn locate(tree_id: TreeId, tree: &ast::StoredDefinition, class: &ClassDef) -> Option<Self> {
        let top = tree.classes.iter().position(|top| contains(top.class.span, class.span))?;
        let mut node = Node::Class(&tree.classes[top].class);
        let mut steps = Vec::new();
        // Every step leads to a smaller span, so this ends.
        while !matches!(node, Node::Class(found) if std::ptr::eq(found, class)) {
            let step = steps_from(node).into_iter().find_map(|step| {
                let next = follow(node, step)?;
                (contains(next.span(), class.span) && next.size() < node.size()).then_some((step, next))
            })?;
            steps.push(step.0);
            node = step.1;
        }
        Some(Self { tree: tree_id, top: top as u32, steps: steps.into() })
    }
}

impl Node<'_> {
    fn span(self) -> Span {
        match self {
            Node::Class(class) => class.span,
            Node::Modification(modification) => modification.span,
        }
    }

    fn size(self) -> u32 {
        self.span().end.saturating_sub(self.span().start)
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

fn element_of(class: &ClassDef, section: u32, element: u32) -> Option<&ast::Element> {
    let ClassBody::Long(body) = &class.body else { return None };
    match body.sections.get(section as usize)? {
        Section::Elements { elements, .. } => elements.get(element as usize),
        _ => None,
    }
}

fn follow<'t>(node: Node<'t>, step: Step) -> Option<Node<'t>> {
    match node {
        Node::Class(class) => follow_in_class(class, step),
        Node::Modification(modification) => follow_in_modification(modification, step),
    }
}

fn follow_in_class(class: &ClassDef, step: Step) -> Option<Node<'_>> {
    let (section, element) = match step {
        Step::Nested(section, element)
        | Step::Extends(section, element)
        | Step::Constraint(section, element)
        | Step::Component(section, element, _) => (section, element),
        Step::Own => {
            let modification = match &class.body {
                ClassBody::Long(body) => body.extends.as_ref()?.as_ref(),
                ClassBody::Short(body) => body.modification.as_ref(),
                _ => None,
            };
            return modification.map(Node::Modification);
        }
        _ => return None,
    };
    let modification = match (&element_of(class, section, element)?.kind, step) {
        (ElementKind::Class(element), Step::Nested(..)) => return Some(Node::Class(&element.class)),
        (ElementKind::Class(element), Step::Constraint(..)) => element.constrained_by.as_ref()?.modification.as_ref(),
        (ElementKind::Extends(element), Step::Extends(..)) => element.modification.as_ref(),
        (ElementKind::Components(clause), Step::Constraint(..)) => {
            clause.constrained_by.as_ref()?.modification.as_ref()
        }
        (ElementKind::Components(clause), Step::Component(_, _, component)) => {
            component_modification(clause, component)
        }
        _ => None,
    };
    modification.map(Node::Modification)
}

fn component_modification(clause: &ast::ComponentClause, component: u32) -> Option<&ClassModification> {
    clause.components.get(component as usize)?.modification.as_ref()?.class.as_ref()
}

fn follow_in_modification(modification: &ClassModification, step: Step) -> Option<Node<'_>> {
    let (Step::Argument(argument) | Step::ArgumentComponent(argument, _) | Step::ArgumentConstraint(argument)) = step
    else {
        return None;
    };
    let inner = match (modification.arguments.get(argument as usize)?, step) {
        (Argument::Modification(element), Step::Argument(_)) => element.modification.as_ref()?.class.as_ref(),
        (Argument::Redeclaration(redeclaration), _) => match (&redeclaration.kind, step) {
            (RedeclarationKind::Class(class), Step::Argument(_)) => return Some(Node::Class(class)),
            (RedeclarationKind::Component(clause), Step::ArgumentComponent(_, component)) => {
                component_modification(clause, component)
            }
            (_, Step::ArgumentConstraint(_)) => redeclaration.constrained_by.as_ref()?.modification.as_ref(),
            _ => None,
        },
        _ => None,
    };
    inner.map(Node::Modification)
}

/// All steps that can lead from a node to a class further inside.
fn steps_from(node: Node<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    match node {
        Node::Class(class) => {
            steps.push(Step::Own);
            let ClassBody::Long(body) = &class.body else { return steps };
            for (s, section) in body.sections.iter().enumerate() {
                let Section::Elements { elements, .. } = section else { continue };
                for (e, element) in elements.iter().enumerate() {
                    push_element_steps(&mut steps, &element.kind, s as u32, e as u32);
                }
            }
        }
        Node::Modification(modification) => {
            for (a, argument) in modification.arguments.iter().enumerate() {
                let a = a as u32;
                steps.extend([Step::Argument(a), Step::ArgumentConstraint(a)]);
                if let Argument::Redeclaration(redeclaration) = argument
                    && let RedeclarationKind::Component(clause) = &redeclaration.kind
                {
                    steps.extend((0..clause.components.len() as u32).map(|c| Step::ArgumentComponent(a, c)));
                }
            }
        }
    }
    steps
}

fn push_element_steps(steps: &mut Vec<Step>, kind: &ElementKind, section: u32, element: u32) {
    match kind {
        ElementKind::Class(_) => steps.extend([Step::Nested(section, element), Step::Constraint(section, element)]),
        ElementKind::Extends(_) => steps.push(Step::Extends(section, element)),
        ElementKind::Components(clause) => {
            steps.extend((0..clause.components.len() as u32).map(|c| Step::Component(section, element, c)));
            steps.push(Step::Constraint(section, element));
        }
        ElementKind::Import(_) | ElementKind::Error => {}
    }
}
