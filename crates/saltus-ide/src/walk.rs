//! Every name in the text of a file, with what has to be known to find its meaning.
//!
//! ```text
//! model M                      M: declares a class
//!   extends Base(k = 2);       Base: a base class in M            k: modifies a member of Base
//!   Resistor r(R = k);         Resistor: a type in M  r: declares a component   R: modifies a member of r
//! equation                     k: a reference in M
//!   r.i = f(x = 1);            r, i: a reference in M            x: an argument of f
//! end M;                       M: ends the class
//! ```
//!
//! The walk is syntactic; [`Resolver`](crate::resolve::Resolver) finds the meanings. Of annotations the values are listed
//! (`derivative = f_der`, `Dialog(enable = use_heat)`), and what `choice` redeclares; their own words belong to no class.

use saltus_base::Span;
use saltus_syntax::ast::{self, *};

/// Index of a class in [`Names::classes`].
pub(crate) type ClassIndex = usize;

/// The names of a file, or of the part of it around a byte.
#[derive(Default)]
pub(crate) struct Names<'a> {
    pub(crate) occurrences: Vec<Occurrence<'a>>,
    /// Outer classes before inner ones.
    pub(crate) classes: Vec<ClassNode<'a>>,
    /// What modifications are about.
    pub(crate) targets: Vec<Target<'a>>,
    pub(crate) connections: Vec<Connected<'a>>,
    pub(crate) redeclarations: Vec<Replaced<'a>>,
}

/// The ends of a `connect`.
pub(crate) struct Connected<'a> {
    pub(crate) class: Option<ClassIndex>,
    pub(crate) from: &'a ComponentRef,
    pub(crate) to: &'a ComponentRef,
}

/// An element that another one takes the place of.
pub(crate) struct Replaced<'a> {
    /// Where the type of the new one is looked up.
    pub(crate) class: Option<ClassIndex>,
    pub(crate) name: Ident,
    pub(crate) by: Replacement<'a>,
    /// What a modification is about that redeclares it; else it was inherited by `class`.
    pub(crate) target: Option<usize>,
}

#[derive(Clone, Copy)]
pub(crate) enum Replacement<'a> {
    Class(ClassIndex),
    Type(&'a Path),
}

pub(crate) struct ClassNode<'a> {
    pub(crate) definition: &'a ClassDef,
    pub(crate) parent: Option<ClassIndex>,
    /// An element of a class or of the file; else it stands in a modification.
    pub(crate) is_element: bool,
}

pub(crate) struct Occurrence<'a> {
    pub(crate) ident: Ident,
    /// The class in whose scope the name is looked up; `None` at the top level.
    pub(crate) class: Option<ClassIndex>,
    pub(crate) role: Role<'a>,
    /// In an annotation there are names that no class declares.
    pub(crate) in_annotation: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Role<'a> {
    /// Declares a class, or names it behind `end`.
    Class(ClassIndex),
    /// Declares a component of the class.
    Component,
    /// Declares a literal of the enumeration.
    Literal(ClassIndex),
    /// Declares an index of a `for`, or uses the one that is declared there.
    Iterator(Span),
    /// One part of the name of a class.
    Path { parts: &'a [Ident], at: usize, how: Lookup },
    /// One part of a component reference, or of the name of a function.
    Reference { reference: &'a ComponentRef, at: usize, call: Option<&'a Call> },
    /// One part of the name in a modification.
    Modified { target: usize, parts: &'a [Ident], at: usize },
    /// The name of an element that a modification redeclares.
    Redeclared { target: usize },
    /// `name = value` in a call.
    Argument { function: &'a ComponentRef },
    /// A field behind an expression, as in `(f(x)).re`, or of an index of a `for`, whose range then is the expression.
    Field { of: Option<&'a Expr>, parts: &'a [RefPart], at: usize },
    /// One part of a reference that is looked up in what a modification is about, as in `break connect(a, b)`.
    Within { target: usize, reference: &'a ComponentRef, at: usize },
    /// A name in the annotation `outer(name = …)` of the class: an input of a function in `inverse`.
    Annotated { outer: Ident },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    Type,
    /// Inherited members do not count.
    Base,
    /// From the top level, as in `import` and `within`.
    Global,
}

/// What a modification is about.
pub(crate) enum Target<'a> {
    /// The class with this name.
    Type { class: Option<ClassIndex>, path: &'a Path, how: Lookup },
    /// The class itself, as in `model extends M(…)`.
    Class(ClassIndex),
    /// The component of this class.
    Component { class: ClassIndex, name: Ident },
    /// A part of what an outer modification is about.
    Part { of: usize, parts: &'a [Ident] },
}

/// All names of a file; with `focus`, those of classes and elements that this byte belongs to.
pub(crate) fn names(tree: &StoredDefinition, focus: Option<u32>) -> Names<'_> {
    let mut walker =
        Walker { names: Names::default(), focus, iterators: Vec::new(), class: None, in_annotation: false };
    if let Some(within) = &tree.within {
        walker.parts(&within.path, Lookup::Global);
    }
    for top in &tree.classes {
        walker.class(&top.class);
    }
    walker.names
}

struct Walker<'a> {
    names: Names<'a>,
    focus: Option<u32>,
    iterators: Vec<&'a ForIndex>,
    class: Option<ClassIndex>,
    in_annotation: bool,
}

impl<'a> Walker<'a> {
    fn is_wanted(&self, span: Span) -> bool {
        self.focus.is_none_or(|at| span.start <= at && at <= span.end)
    }

    fn add(&mut self, ident: Ident, role: Role<'a>) {
        let in_annotation = self.in_annotation;
        self.names.occurrences.push(Occurrence { ident, class: self.class, role, in_annotation });
    }

    fn class(&mut self, definition: &'a ClassDef) {
        if !self.is_wanted(definition.span) {
            return;
        }
        let index = self.names.classes.len();
        self.names.classes.push(ClassNode { definition, parent: self.class, is_element: true });
        self.add(definition.name, Role::Class(index));
        match &definition.body {
            ClassBody::Long(body) => {
                let (outer, iterators) = (self.class.replace(index), std::mem::take(&mut self.iterators));
                self.long_class(index, body);
                (self.class, self.iterators) = (outer, iterators);
            }
            ClassBody::Short(short) => {
                self.path(&short.base, Lookup::Type);
                self.subscripts(&short.subscripts);
                let target = Target::Type { class: self.class, path: &short.base, how: Lookup::Type };
                self.modified_class(short.modification.as_ref(), target);
                self.annotation(short.comment.annotation.as_ref());
            }
            ClassBody::Enumeration(body) => {
                for literal in body.literals.iter().flatten() {
                    self.add(literal.name, Role::Literal(index));
                }
                self.annotation(body.comment.annotation.as_ref());
            }
            ClassBody::Derivative { function, variables, comment } => {
                self.path(function, Lookup::Type);
                let target = self.target(Target::Type { class: self.class, path: function, how: Lookup::Type });
                for variable in variables {
                    self.add(*variable, Role::Modified { target, parts: std::slice::from_ref(variable), at: 0 });
                }
                self.annotation(comment.annotation.as_ref());
            }
        }
    }

    fn long_class(&mut self, index: ClassIndex, body: &'a LongClass) {
        if let Some(Some(modification)) = &body.extends {
            let target = self.target(Target::Class(index));
            self.arguments(target, modification);
        }
        for section in &body.sections {
            match section {
                Section::Elements { elements, .. } => elements.iter().for_each(|element| self.element(index, element)),
                Section::Equations { equations, .. } => self.equations(equations),
                Section::Algorithm { statements, .. } => self.statements(statements),
            }
        }
        if let Some(call) = body.external.as_ref().and_then(|external| external.call.as_ref()) {
            call.result.iter().for_each(|result| self.reference(result, None));
            call.arguments.iter().for_each(|argument| self.expr(argument));
        }
        self.annotation(body.external.as_ref().and_then(|external| external.annotation.as_ref()));
        self.annotation(body.annotation.as_ref());
        if let Some(end) = body.end_name {
            self.add(end, Role::Class(index));
        }
    }

    fn element(&mut self, class: ClassIndex, element: &'a Element) {
        if !self.is_wanted(element.span) {
            return;
        }
        match &element.kind {
            ElementKind::Import(import) => self.import(import),
            ElementKind::Extends(extends) => {
                self.path(&extends.base, Lookup::Base);
                let target = Target::Type { class: self.class, path: &extends.base, how: Lookup::Base };
                self.modified_class(extends.modification.as_ref(), target);
                self.annotation(extends.annotation.as_ref());
            }
            ElementKind::Class(nested) => {
                if nested.prefixes.is_redeclare {
                    let (name, by) = (nested.class.name, Replacement::Class(self.names.classes.len()));
                    self.names.redeclarations.push(Replaced { class: self.class, name, by, target: None });
                }
                self.class(&nested.class);
                self.constraint(nested.constrained_by.as_ref());
            }
            ElementKind::Components(clause) => self.components(class, clause),
            ElementKind::Error => {}
        }
    }

    fn import(&mut self, import: &'a Import) {
        self.parts(&import.path.parts, Lookup::Global);
        match &import.kind {
            ImportKind::Renamed(alias) => {
                let at = import.path.parts.len().saturating_sub(1);
                self.add(*alias, Role::Path { parts: &import.path.parts, at, how: Lookup::Global });
            }
            ImportKind::Some(names) => {
                let target = Target::Type { class: None, path: &import.path, how: Lookup::Global };
                let target = self.target(target);
                for name in names {
                    self.add(*name, Role::Modified { target, parts: std::slice::from_ref(name), at: 0 });
                }
            }
            ImportKind::Qualified | ImportKind::All => {}
        }
    }

    fn components(&mut self, class: ClassIndex, clause: &'a ComponentClause) {
        self.path(&clause.type_name, Lookup::Type);
        self.subscripts(&clause.subscripts);
        for component in &clause.components {
            if clause.prefixes.is_redeclare {
                let (name, by) = (component.name, Replacement::Type(&clause.type_name));
                self.names.redeclarations.push(Replaced { class: self.class, name, by, target: None });
            }
            self.add(component.name, Role::Component);
            self.subscripts(&component.subscripts);
            self.modification(component.modification.as_ref(), Target::Component { class, name: component.name });
            component.condition.iter().for_each(|condition| self.expr(condition));
            self.annotation(component.comment.annotation.as_ref());
        }
        self.constraint(clause.constrained_by.as_ref());
    }

    fn constraint(&mut self, constraint: Option<&'a ConstrainedBy>) {
        let Some(constraint) = constraint else { return };
        self.path(&constraint.base, Lookup::Type);
        let target = Target::Type { class: self.class, path: &constraint.base, how: Lookup::Type };
        self.modified_class(constraint.modification.as_ref(), target);
        self.annotation(constraint.comment.annotation.as_ref());
    }

    fn annotation(&mut self, annotation: Option<&'a Annotation>) {
        let Some(annotation) = annotation.filter(|annotation| self.is_wanted(annotation.span)) else { return };
        let outside = std::mem::replace(&mut self.in_annotation, true);
        self.annotated(&annotation.modification, None);
        self.in_annotation = outside;
    }

    fn annotated(&mut self, modification: &'a ClassModification, outer: Option<Ident>) {
        for argument in &modification.arguments {
            match argument {
                Argument::Modification(m) => {
                    let name = m.name.parts.first().copied();
                    if let (Some(outer), Some(name)) = (outer, name) {
                        self.add(name, Role::Annotated { outer });
                    }
                    let inside = m.modification.as_ref();
                    inside.and_then(|m| m.class.as_ref()).into_iter().for_each(|class| self.annotated(class, name));
                    let value = inside.and_then(|m| m.value.as_ref()).and_then(|value| value.expr.as_ref());
                    value.into_iter().for_each(|value| self.expr(value));
                }
                Argument::Redeclaration(redeclaration) => {
                    if let Some(class) = self.class {
                        let target = self.target(Target::Class(class));
                        self.redeclaration(target, redeclaration);
                    }
                }
                Argument::BreakElement(_) | Argument::BreakConnect { .. } | Argument::Error(_) => {}
            }
        }
    }

    fn path(&mut self, path: &'a Path, how: Lookup) {
        self.parts(&path.parts, if path.is_global { Lookup::Global } else { how });
    }

    fn parts(&mut self, parts: &'a [Ident], how: Lookup) {
        for (at, part) in parts.iter().enumerate() {
            self.add(*part, Role::Path { parts, at, how });
        }
    }

    fn target(&mut self, target: Target<'a>) -> usize {
        self.names.targets.push(target);
        self.names.targets.len() - 1
    }

    fn modification(&mut self, modification: Option<&'a Modification>, target: Target<'a>) {
        let Some(modification) = modification else { return };
        self.modified_class(modification.class.as_ref(), target);
        let value = modification.value.as_ref().and_then(|value| value.expr.as_ref());
        value.into_iter().for_each(|value| self.expr(value));
    }

    fn modified_class(&mut self, modification: Option<&'a ClassModification>, target: Target<'a>) {
        let Some(modification) = modification.filter(|m| self.is_wanted(m.span)) else { return };
        let target = self.target(target);
        self.arguments(target, modification);
    }

    fn arguments(&mut self, target: usize, modification: &'a ClassModification) {
        for argument in &modification.arguments {
            match argument {
                Argument::Modification(m) => {
                    let parts = m.name.parts.as_slice();
                    for (at, part) in parts.iter().enumerate() {
                        self.add(*part, Role::Modified { target, parts, at });
                    }
                    self.modification(m.modification.as_ref(), Target::Part { of: target, parts });
                }
                Argument::Redeclaration(redeclaration) => self.redeclaration(target, redeclaration),
                Argument::BreakElement(name) => self.add(*name, Role::Redeclared { target }),
                Argument::BreakConnect { from, to, .. } => {
                    for reference in [from, to] {
                        for (at, part) in reference.parts.iter().enumerate() {
                            self.add(part.name, Role::Within { target, reference, at });
                            self.subscripts(&part.subscripts);
                        }
                    }
                }
                Argument::Error(_) => {}
            }
        }
    }

    fn redeclaration(&mut self, target: usize, redeclaration: &'a ElementRedeclaration) {
        match &redeclaration.kind {
            RedeclarationKind::Class(class) => {
                let (first, index) = (self.names.occurrences.len(), self.names.classes.len());
                let (name, by) = (class.name, Replacement::Class(index));
                self.names.redeclarations.push(Replaced { class: self.class, name, by, target: Some(target) });
                self.class(class);
                if let Some(node) = self.names.classes.get_mut(index) {
                    node.is_element = false;
                }
                // What it declares is the element that it replaces.
                if let Some(name) = self.names.occurrences.get_mut(first) {
                    name.role = Role::Redeclared { target };
                }
            }
            RedeclarationKind::Component(clause) => {
                self.path(&clause.type_name, Lookup::Type);
                self.subscripts(&clause.subscripts);
                for component in &clause.components {
                    let (name, by) = (component.name, Replacement::Type(&clause.type_name));
                    let replaced = Replaced { class: self.class, name, by, target: Some(target) };
                    self.names.redeclarations.push(replaced);
                    self.add(component.name, Role::Redeclared { target });
                    self.subscripts(&component.subscripts);
                    let of = Target::Type { class: self.class, path: &clause.type_name, how: Lookup::Type };
                    self.modification(component.modification.as_ref(), of);
                    self.annotation(component.comment.annotation.as_ref());
                }
            }
        }
        self.constraint(redeclaration.constrained_by.as_ref());
    }

    fn subscripts(&mut self, subscripts: &'a [Subscript]) {
        for subscript in subscripts {
            if let Subscript::Expr(expr) = subscript {
                self.expr(expr);
            }
        }
    }

    fn reference(&mut self, reference: &'a ComponentRef, call: Option<&'a Call>) {
        let iterator = match reference.parts.as_slice() {
            [first, ..] if !reference.is_global => {
                self.iterators.iter().rev().find(|known| known.name.name == first.name.name).copied()
            }
            _ => None,
        };
        for (at, part) in reference.parts.iter().enumerate() {
            match iterator {
                Some(index) if at == 0 => self.add(part.name, Role::Iterator(index.name.span)),
                Some(index) => {
                    let parts = &reference.parts[1..];
                    self.add(part.name, Role::Field { of: index.range.as_ref(), parts, at: at - 1 });
                }
                None => self.add(part.name, Role::Reference { reference, at, call }),
            }
            self.subscripts(&part.subscripts);
        }
    }

    fn call(&mut self, call: &'a Call) {
        self.reference(&call.name, Some(call));
        let n_outside = self.iterators.len();
        self.indices(&call.iterators);
        call.arguments.iter().for_each(|argument| self.expr(argument));
        for named in &call.named {
            self.add(named.name, Role::Argument { function: &call.name });
            self.expr(&named.value);
        }
        self.iterators.truncate(n_outside);
    }

    /// Declares iterators, which hold until the caller takes them away.
    fn indices(&mut self, indices: &'a [ForIndex]) {
        for index in indices {
            index.range.iter().for_each(|range| self.expr(range));
            self.iterators.push(index);
            self.add(index.name, Role::Iterator(index.name.span));
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        if !self.is_wanted(expr.span) {
            return;
        }
        match &expr.kind {
            ExprKind::Integer(_)
            | ExprKind::Real(_)
            | ExprKind::String(_)
            | ExprKind::Boolean(_)
            | ExprKind::End
            | ExprKind::Error => {}
            ExprKind::Ref(reference) => self.reference(reference, None),
            ExprKind::Call(call) | ExprKind::PartialFunction(call) => self.call(call),
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::If(branches, otherwise) => {
                for (condition, value) in branches {
                    self.expr(condition);
                    self.expr(value);
                }
                self.expr(otherwise);
            }
            ExprKind::Range { start, step, stop } => {
                self.expr(start);
                step.iter().for_each(|step| self.expr(step));
                self.expr(stop);
            }
            ExprKind::Array(entries) => entries.iter().for_each(|entry| self.expr(entry)),
            ExprKind::Comprehension(body, indices) => {
                let n_outside = self.iterators.len();
                self.indices(indices);
                self.expr(body);
                self.iterators.truncate(n_outside);
            }
            ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|entry| self.expr(entry)),
            ExprKind::Parenthesised(entries) => entries.iter().flatten().for_each(|entry| self.expr(entry)),
            ExprKind::Access { base, subscripts, parts } => {
                self.expr(base);
                self.subscripts(subscripts);
                for (at, part) in parts.iter().enumerate() {
                    self.add(part.name, Role::Field { of: Some(base), parts, at });
                    self.subscripts(&part.subscripts);
                }
            }
        }
    }

    fn equations(&mut self, equations: &'a [Equation]) {
        for equation in equations {
            if self.is_wanted(equation.span) {
                self.equation(equation);
            }
        }
    }

    fn equation(&mut self, equation: &'a ast::Equation) {
        match &equation.kind {
            EquationKind::Equality { left, right } => {
                self.expr(left);
                self.expr(right);
            }
            EquationKind::Connect { from, to } => {
                self.names.connections.push(Connected { class: self.class, from, to });
                self.reference(from, None);
                self.reference(to, None);
            }
            EquationKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.expr(condition);
                    self.equations(body);
                }
                self.equations(otherwise.as_deref().unwrap_or_default());
            }
            EquationKind::For { indices, body } => {
                let n_outside = self.iterators.len();
                self.indices(indices);
                self.equations(body);
                self.iterators.truncate(n_outside);
            }
            EquationKind::When { branches } => {
                for (condition, body) in branches {
                    self.expr(condition);
                    self.equations(body);
                }
            }
            EquationKind::Call(call) => self.call(call),
            EquationKind::Error => {}
        }
    }

    fn statements(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            if self.is_wanted(statement.span) {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                self.reference(target, None);
                self.expr(value);
            }
            StatementKind::AssignTuple { targets, call } => {
                targets.iter().flatten().for_each(|target| self.reference(target, None));
                self.call(call);
            }
            StatementKind::Call(call) => self.call(call),
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.expr(condition);
                    self.statements(body);
                }
                self.statements(otherwise.as_deref().unwrap_or_default());
            }
            StatementKind::For { indices, body } => {
                let n_outside = self.iterators.len();
                self.indices(indices);
                self.statements(body);
                self.iterators.truncate(n_outside);
            }
            StatementKind::While { condition, body } => {
                self.expr(condition);
                self.statements(body);
            }
            StatementKind::When { branches } => {
                for (condition, body) in branches {
                    self.expr(condition);
                    self.statements(body);
                }
            }
            StatementKind::Break | StatementKind::Return | StatementKind::Error => {}
        }
    }
}
