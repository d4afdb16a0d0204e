//! What the names of a file mean.

use saltus_base::Span;
use saltus_frontend::{Declaration, Scope, Scopes, Symbol};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast::{ClassKind, ComponentRef, Direction, Expr, ExprKind, Ident};

use crate::builtin::{self, Builtin};
use crate::file::File;
use crate::walk::{ClassIndex, Lookup, Names, Occurrence, Role, Target};

/// What a name means.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Meaning {
    Symbol(Symbol),
    /// The index of a `for`, declared here.
    Iterator(Span),
    /// Such as `start` in `Real x(start = 1)`.
    Attribute(&'static str),
    Builtin(&'static Builtin),
}

/// Words of graphical annotations (specification chapter 18, "Graphical Objects").
const GRAPHICAL: [&str; 15] = [
    "Line",
    "Polygon",
    "Rectangle",
    "Ellipse",
    "Text",
    "Bitmap",
    "DynamicSelect",
    "LinePattern",
    "FillPattern",
    "BorderPattern",
    "Smooth",
    "EllipseClosure",
    "Arrow",
    "TextStyle",
    "TextAlignment",
];

/// What takes the arguments of a call: the function, or the constructor of an external object.
pub(crate) fn called(scopes: &mut Scopes<'_>, function: Symbol) -> Option<Scope> {
    let inside = scopes.inside(function)?;
    let kind_of = |scopes: &Scopes<'_>, symbol: Symbol| match scopes.declaration(symbol) {
        Some(Declaration::Class { definition, .. }) => Some(definition.kind),
        _ => None,
    };
    if kind_of(scopes, function) != Some(ClassKind::Class) {
        return Some(inside);
    }
    let constructor = scopes.library().intern("constructor");
    let constructor = scopes.member(inside, constructor);
    match constructor.filter(|&constructor| kind_of(scopes, constructor) == Some(ClassKind::Function)) {
        Some(constructor) => scopes.inside(constructor),
        None => Some(inside),
    }
}

/// Finds the meaning of names of one file; what it has found out about classes it keeps.
pub(crate) struct Resolver<'a, 'n> {
    pub(crate) scopes: Scopes<'a>,
    library: &'a Library,
    within: &'a [Ident],
    names: &'n Names<'a>,
    classes: Vec<Option<(ClassId, Scope)>>,
    targets: Vec<Option<Option<Symbol>>>,
}

impl<'a, 'n> Resolver<'a, 'n> {
    pub(crate) fn new(file: &File<'a>, names: &'n Names<'a>) -> Self {
        Self {
            scopes: Scopes::new(file.library),
            library: file.library,
            within: file.tree.within.as_ref().map_or(&[], |within| within.path.as_slice()),
            names,
            classes: vec![None; names.classes.len()],
            targets: vec![None; names.targets.len()],
        }
    }

    /// A class of the file, and its inside.
    pub(crate) fn class(&mut self, index: ClassIndex) -> Option<(ClassId, Scope)> {
        if let Some(known) = self.classes[index] {
            return Some(known);
        }
        let node = &self.names.classes[index];
        let (parent, around) = match node.parent {
            Some(parent) => self.class(parent)?,
            None => self.outside()?,
        };
        let declared = self.library.child(parent, node.definition.name.name);
        let is_this = |id: &ClassId| self.library.definition(*id).is_some_and(|d| std::ptr::eq(d, node.definition));
        let id = declared.filter(is_this).unwrap_or_else(|| self.library.add_class(parent, node.definition, None));
        let scope = self.scopes.nested(around, id);
        self.classes[index] = Some((id, scope));
        self.classes[index]
    }

    /// The package that the file says it is in; the top level if there is none.
    fn outside(&mut self) -> Option<(ClassId, Scope)> {
        let package = self.within.iter().try_fold(self.library.root(), |at, part| self.library.child(at, part.name));
        let package = package.unwrap_or(self.library.root());
        Some((package, self.scopes.class_scope(package)?))
    }

    /// The inside of a class, or the top level.
    pub(crate) fn scope(&mut self, class: Option<ClassIndex>) -> Option<Scope> {
        match class {
            Some(index) => self.class(index).map(|(_, scope)| scope),
            None => self.outside().map(|(_, scope)| scope),
        }
    }

    pub(crate) fn meaning(&mut self, occurrence: &Occurrence<'a>) -> Option<Meaning> {
        let name = occurrence.ident.name;
        if occurrence.in_annotation && self.is_graphical(occurrence) {
            return None;
        }
        let symbol = match occurrence.role {
            Role::Iterator(declared) => return Some(Meaning::Iterator(declared)),
            Role::Field { of, parts, at } => {
                let base = self.class_of_expr(occurrence.class, of?)?;
                self.members(base, parts.get(..=at)?.iter().map(|part| part.name))
            }
            Role::Within { target, reference, at } => {
                let target = self.target(target)?;
                self.members(target, reference.parts.get(..=at)?.iter().map(|part| part.name))
            }
            Role::Annotated { outer } => {
                let scope = self.scope(occurrence.class).filter(|_| self.text(outer) == "inverse")?;
                self.scopes.member(scope, name)
            }
            Role::Class(index) => self.class_symbol(index),
            Role::Component => {
                let scope = self.scope(occurrence.class)?;
                self.scopes.member(scope, name)
            }
            Role::Literal(index) => {
                let (_, scope) = self.class(index)?;
                self.scopes.member(scope, name)
            }
            Role::Path { parts, at, how } => self.path(occurrence.class, parts.get(..=at)?, how),
            Role::Reference { reference, at, call } => {
                let found = self.reference(occurrence.class, reference, at);
                if found.is_none() {
                    let is_predefined = at == 0 || builtin::is_operator_package(self.text(reference.parts[0].name));
                    let known = builtin::find(self.text(occurrence.ident)).filter(|b| b.is_function == call.is_some());
                    return known.filter(|_| is_predefined).map(Meaning::Builtin);
                }
                found
            }
            Role::Modified { target, parts, at } => return self.modified(target, parts.get(..=at)?),
            Role::Redeclared { target } => {
                let target = self.target(target)?;
                let inside = self.scopes.inside(target)?;
                self.scopes.member(inside, name)
            }
            Role::Argument { function } => {
                let function = self.reference(occurrence.class, function, function.parts.len().checked_sub(1)?)?;
                let inside = called(&mut self.scopes, function)?;
                self.scopes.member(inside, name)
            }
        };
        symbol.map(Meaning::Symbol)
    }

    /// Items and enumerations of graphics, which annotations have without a declaration.
    fn is_graphical(&self, occurrence: &Occurrence<'a>) -> bool {
        let reference = match occurrence.role {
            Role::Reference { reference, .. } => reference,
            Role::Argument { function } => function,
            _ => return false,
        };
        let first = reference.parts.first().filter(|_| !reference.is_global);
        first.is_some_and(|first| GRAPHICAL.contains(&self.text(first.name)))
    }

    /// What has the members that an expression has: a component or a class.
    fn class_of_expr(&mut self, class: Option<ClassIndex>, expr: &Expr) -> Option<Symbol> {
        match &expr.kind {
            ExprKind::Ref(reference) => self.reference(class, reference, reference.parts.len().checked_sub(1)?),
            ExprKind::Call(call) => {
                let function = self.reference(class, &call.name, call.name.parts.len().checked_sub(1)?)?;
                self.result_of(function)
            }
            ExprKind::Parenthesised(entries) => match entries.as_slice() {
                [Some(inner)] => self.class_of_expr(class, inner),
                _ => None,
            },
            ExprKind::Unary(_, operand) => self.class_of_expr(class, operand),
            ExprKind::Binary(_, left, right) => {
                self.class_of_expr(class, left).or_else(|| self.class_of_expr(class, right))
            }
            ExprKind::If(branches, otherwise) => {
                let mut values = branches.iter().map(|(_, value)| value).chain([&**otherwise]);
                values.find_map(|value| self.class_of_expr(class, value))
            }
            ExprKind::Array(entries) => entries.iter().find_map(|entry| self.class_of_expr(class, entry)),
            ExprKind::Comprehension(body, _) => self.class_of_expr(class, body),
            ExprKind::Access { base, parts, .. } => {
                let base = self.class_of_expr(class, base)?;
                self.members(base, parts.iter().map(|part| part.name))
            }
            _ => None,
        }
    }

    /// The first output of a function, or the record that a constructor makes.
    fn result_of(&mut self, function: Symbol) -> Option<Symbol> {
        let is_function = matches!(self.scopes.declaration(function), Some(Declaration::Class { definition, .. })
            if !matches!(definition.kind, ClassKind::Record | ClassKind::OperatorRecord));
        if !is_function {
            return Some(function);
        }
        let inside = self.scopes.inside(function)?;
        let is_output = |scopes: &Scopes<'_>, symbol: Symbol| matches!(scopes.declaration(symbol), Some(Declaration::Component { clause, .. }) if clause.direction == Some(Direction::Output));
        let members = self.scopes.members(inside);
        members.into_iter().find(|&member| is_output(&self.scopes, member))
    }

    /// A class of the file as a member of what is around it.
    fn class_symbol(&mut self, index: ClassIndex) -> Option<Symbol> {
        let around = self.scope(self.names.classes[index].parent)?;
        let definition = self.names.classes[index].definition;
        let found = self.scopes.member(around, definition.name.name)?;
        let is_this = matches!(self.scopes.declaration(found), Some(Declaration::Class { definition: d, .. }) if std::ptr::eq(d, definition));
        is_this.then_some(found)
    }

    pub(crate) fn path(&mut self, class: Option<ClassIndex>, parts: &[Ident], how: Lookup) -> Option<Symbol> {
        let (first, rest) = parts.split_first()?;
        if how == Lookup::Global {
            return self.scopes.global(parts);
        }
        let scope = self.scope(class)?;
        let found = match how {
            Lookup::Base => self.scopes.lookup_base(scope, first.name),
            _ => self.scopes.lookup(scope, first.name),
        };
        self.members(found?, rest.iter().copied())
    }

    /// What the parts of a reference up to this one mean.
    pub(crate) fn reference(
        &mut self,
        class: Option<ClassIndex>,
        reference: &ComponentRef,
        at: usize,
    ) -> Option<Symbol> {
        let (first, rest) = reference.parts.get(..=at)?.split_first()?;
        let scope = self.scope(class)?;
        let found = match reference.is_global {
            true => self.scopes.member(self.scopes.root(), first.name.name),
            false => self.scopes.lookup(scope, first.name.name),
        };
        self.members(found?, rest.iter().map(|part| part.name))
    }

    /// A member of a member of a symbol.
    fn members(&mut self, symbol: Symbol, names: impl Iterator<Item = Ident>) -> Option<Symbol> {
        let mut found = symbol;
        for name in names {
            let inside = self.scopes.inside(found)?;
            found = self.scopes.member(inside, name.name)?;
        }
        Some(found)
    }

    fn modified(&mut self, target: usize, parts: &[Ident]) -> Option<Meaning> {
        let (last, before) = parts.split_last()?;
        let target = self.target(target)?;
        let target = self.members(target, before.iter().copied())?;
        let inside = self.scopes.inside(target);
        if let Some(found) = inside.and_then(|inside| self.scopes.member(inside, last.name)) {
            return Some(Meaning::Symbol(found));
        }
        let text = self.text(*last);
        let attributes = self.scopes.attributes(target);
        attributes.iter().find(|name| **name == text).map(|name| Meaning::Attribute(name))
    }

    /// What a modification is about.
    pub(crate) fn target(&mut self, target: usize) -> Option<Symbol> {
        if let Some(known) = self.targets[target] {
            return known;
        }
        let found = match self.names.targets[target] {
            Target::Type { class, path, how } => {
                self.path(class, &path.parts, if path.is_global { Lookup::Global } else { how })
            }
            Target::Class(class) => self.class_symbol(class),
            Target::Component { class, name } => {
                let scope = self.scope(Some(class));
                scope.and_then(|scope| self.scopes.member(scope, name.name))
            }
            Target::Part { of, parts } => {
                let outer = self.target(of);
                outer.and_then(|outer| self.members(outer, parts.iter().copied()))
            }
        };
        self.targets[target] = Some(found);
        found
    }

    fn text(&self, ident: Ident) -> &'a str {
        self.library.text(ident.name)
    }
}
