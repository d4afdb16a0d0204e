//! Looking around in classes without flattening one: what a name means at a place, and which members a class has.
//!
//! ```text
//! model M                     class_scope(M) ─ lookup(r)  ⇒ component r ─ inside ⇒ Resistor seen from there
//!   Resistor r(R = 2);                                                   └ member(R) ⇒ component R, bound to 2
//! end M;
//! ```
//!
//! The rules are those of flattening, because the same instances are opened: inheritance, imports, redeclarations and
//! modifications count. Sizes and conditions are not evaluated, and what is wrong with the classes is not reported, so
//! that a text that is being typed still has answers for its intact part.

use std::collections::{HashMap, HashSet};

use saltus_base::{Name, Span};
use saltus_flat::BaseType;
use saltus_library::{ClassId, Library};
use saltus_syntax::ast;

use crate::assemble::attribute_names;
use crate::instance::{CompId, InstId, Member, SlotId};
use crate::lookup::imports;
use crate::modifier::{ModExpr, ModRef, merge};
use crate::{Front, Options};

/// Bases of bases that are looked at; more mean that a class extends itself.
const MOST_BASES: usize = 200;

/// The classes of a library as they are seen from each other.
pub struct Scopes<'a> {
    front: Front<'a>,
    /// The class of a component, opened with the modifications of the component.
    insides: HashMap<CompId, Option<InstId>>,
}

/// A class seen from somewhere, with the modifications that hold there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scope(InstId);

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol(Meaning);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Member(Member),
    Literal(ClassId, usize),
}

/// Where a symbol is declared.
#[derive(Clone, Copy, Debug)]
pub enum Declaration<'a> {
    Class {
        id: ClassId,
        definition: &'a ast::ClassDef,
        is_protected: bool,
    },
    Component {
        /// The class in whose text it stands.
        owner: ClassId,
        clause: &'a ast::ComponentClause,
        component: &'a ast::Component,
        is_protected: bool,
    },
    Literal {
        enumeration: ClassId,
        literal: &'a ast::EnumerationLiteral,
    },
}

impl<'a> Declaration<'a> {
    /// The name in the declaration.
    pub fn ident(self) -> ast::Ident {
        match self {
            Declaration::Class { definition, .. } => definition.name,
            Declaration::Component { component, .. } => component.name,
            Declaration::Literal { literal, .. } => literal.name,
        }
    }

    pub fn is_protected(self) -> bool {
        match self {
            Declaration::Class { is_protected, .. } | Declaration::Component { is_protected, .. } => is_protected,
            Declaration::Literal { .. } => false,
        }
    }

    /// The string behind the declaration.
    pub fn description(self) -> &'a ast::Description {
        match self {
            Declaration::Class { definition, .. } => match &definition.body {
                ast::ClassBody::Long(body) => &body.description,
                ast::ClassBody::Short(body) => &body.comment.description,
                ast::ClassBody::Enumeration(body) => &body.comment.description,
                ast::ClassBody::Derivative { comment, .. } => &comment.description,
            },
            Declaration::Component { component, .. } => &component.comment.description,
            Declaration::Literal { literal, .. } => &literal.comment.description,
        }
    }
}

impl<'a> Scopes<'a> {
    pub fn new(library: &'a Library) -> Self {
        let mut front = Front::new(library, &Options::default());
        // Nobody reads suggestions here.
        front.budget.n_compared_names = usize::MAX / 2;
        Self { front, insides: HashMap::new() }
    }

    pub fn library(&self) -> &'a Library {
        self.front.library
    }

    pub fn root(&self) -> Scope {
        Scope(self.front.tree.root)
    }

    /// The class as such.
    pub fn class_scope(&mut self, class: ClassId) -> Option<Scope> {
        let Some(parent) = self.library().parent(class) else { return Some(self.root()) };
        let around = self.class_scope(parent)?;
        Some(self.nested(around, class))
    }

    /// The class with its own text, also where it only gives another class a name.
    pub fn own_scope(&mut self, class: ClassId) -> Option<Scope> {
        let Some(parent) = self.library().parent(class) else { return Some(self.root()) };
        let around = self.class_scope(parent)?;
        let slot = self.nested_slot(around, class);
        let front = &mut self.front;
        let inst = front.slot_instance(slot);
        if front.tree[inst].class == class {
            return Some(Scope(inst));
        }
        let modifier = front.tree[slot].modifier.clone();
        Some(Scope(front.tree.new_inst(slot, modifier, None)))
    }

    /// A class that is declared in the text of `around`, also inside of a modification.
    pub fn nested(&mut self, around: Scope, class: ClassId) -> Scope {
        let slot = self.nested_slot(around, class);
        // An alias has the members of what it stands for, but its own text.
        Scope(self.front.slot_instance(slot))
    }

    fn nested_slot(&mut self, around: Scope, class: ClassId) -> SlotId {
        let front = &mut self.front;
        let found = front.library.name_of(class).and_then(|name| front.member(around.0, name));
        match found {
            Some(Member::Class(slot)) if front.tree[slot].class == class => slot,
            replaced => {
                let slot = front.new_slot(class, around.0, None);
                if let Some(Member::Class(original)) = replaced {
                    front.tree[slot].original = Some(original);
                }
                slot
            }
        }
    }

    /// What a simple name means in the text of a class: members, imports, then the classes around it.
    pub fn lookup(&mut self, scope: Scope, name: Name) -> Option<Symbol> {
        let found = self.front.lookup_name(scope.0, name).map(member_symbol);
        found.or_else(|| self.literal(scope, name))
    }

    /// What the first name of a base class means in the text of a class.
    pub fn lookup_base(&mut self, scope: Scope, name: Name) -> Option<Symbol> {
        self.front.lookup_base_name(scope.0, name).map(member_symbol)
    }

    /// An own or inherited member, or a literal of an enumeration.
    pub fn member(&mut self, scope: Scope, name: Name) -> Option<Symbol> {
        let found = self.front.member(scope.0, name).map(member_symbol);
        found.or_else(|| self.literal(scope, name))
    }

    fn literal(&mut self, scope: Scope, name: Name) -> Option<Symbol> {
        let (class, body) = self.enumeration(scope)?;
        let at = body.literals.as_ref()?.iter().position(|literal| literal.name.name == name)?;
        Some(Symbol(Meaning::Literal(class, at)))
    }

    /// The enumeration that a class is, through any number of short definitions.
    fn enumeration(&mut self, scope: Scope) -> Option<(ClassId, &'a ast::EnumerationBody)> {
        let mut at = scope.0;
        for _ in 0..MOST_BASES {
            let class = self.front.tree[at].class;
            if let Some(ast::ClassBody::Enumeration(body)) = self.front.tree[at].definition.map(|c| &c.body) {
                return Some((class, body));
            }
            self.front.expand(at);
            at = *self.front.tree[at].members.bases.first()?;
        }
        None
    }

    /// The class that a symbol is, or is of.
    pub fn inside(&mut self, symbol: Symbol) -> Option<Scope> {
        match symbol.0 {
            Meaning::Member(Member::Class(slot)) => Some(Scope(self.front.slot_instance(slot))),
            Meaning::Member(Member::Component(comp)) => self.inside_component(comp).map(Scope),
            Meaning::Literal(..) => None,
        }
    }

    fn inside_component(&mut self, comp: CompId) -> Option<InstId> {
        if let Some(&known) = self.insides.get(&comp) {
            return known;
        }
        self.insides.insert(comp, None);
        let slot = self.type_slot(comp)?;
        let front = &mut self.front;
        let modifier = merge(&front.tree[comp].modifier, &front.tree[slot].modifier);
        let inst = front.tree.new_inst(slot, modifier, Some(comp));
        let depth = front.tree[front.tree[comp].owner].depth + 1;
        front.tree[inst].depth = depth;
        front.expand(inst);
        self.insides.insert(comp, Some(inst));
        Some(inst)
    }

    fn type_slot(&mut self, comp: CompId) -> Option<SlotId> {
        let declared = &self.front.tree[comp].declared;
        let (scope, clause) = (declared.scope, declared.clause);
        self.front.lookup_class(scope, &clause.type_name)
    }

    /// The class of a component; `None` for anything else.
    pub fn class_of(&mut self, symbol: Symbol) -> Option<Symbol> {
        let Meaning::Member(Member::Component(comp)) = symbol.0 else { return None };
        self.type_slot(comp).map(|slot| member_symbol(Member::Class(slot)))
    }

    /// The id of a class; `None` for anything else.
    pub fn class_id(&self, symbol: Symbol) -> Option<ClassId> {
        match symbol.0 {
            Meaning::Member(Member::Class(slot)) => Some(self.front.tree[slot].class),
            _ => None,
        }
    }

    /// The class that a scope is the inside of.
    pub fn class_of_scope(&self, scope: Scope) -> ClassId {
        self.front.tree[scope.0].class
    }

    /// The predefined type that a class or the class of a component amounts to.
    pub fn base_type(&mut self, symbol: Symbol) -> Option<BaseType> {
        let slot = match symbol.0 {
            Meaning::Member(Member::Class(slot)) => slot,
            Meaning::Member(Member::Component(comp)) => self.type_slot(comp)?,
            Meaning::Literal(..) => return None,
        };
        Some(self.front.simple_type(slot)?.base)
    }

    /// The subscripts that a component is declared with, outermost first, each with the class in whose text it stands.
    pub fn subscripts(&mut self, symbol: Symbol) -> Vec<(&'a ast::Subscript, Scope)> {
        let Meaning::Member(Member::Component(comp)) = symbol.0 else { return Vec::new() };
        let declared = &self.front.tree[comp].declared;
        let (own, of_type) = (&declared.declaration.subscripts, &declared.clause.subscripts);
        let (own, of_type, scope) = match declared.dims_from {
            Some(before) if own.is_empty() && of_type.is_empty() => before,
            _ => (&own[..], &of_type[..], declared.scope),
        };
        let mut all: Vec<_> = own.iter().chain(of_type).map(|s| (s, Scope(scope))).collect();
        if let Some(slot) = self.type_slot(comp) {
            all.extend(self.front.class_subscripts(slot).into_iter().map(|(s, scope)| (s, Scope(scope))));
        }
        all
    }

    /// Whether values of a component are differences, which have no offset in any unit.
    pub fn is_difference(&mut self, symbol: Symbol) -> bool {
        let Meaning::Member(Member::Component(comp)) = symbol.0 else { return false };
        let own = self.front.tree[comp].declared.declaration.comment.annotation.as_ref();
        if let Some(own) = self.front.difference_in(own) {
            return own;
        }
        let simple = self.type_slot(comp).and_then(|slot| self.front.simple_type(slot));
        simple.and_then(|simple| simple.is_difference).unwrap_or(false)
    }

    /// Names of the attributes that a class, or the class of a component, has as a predefined type.
    pub fn attributes(&mut self, symbol: Symbol) -> &'static [&'static str] {
        self.base_type(symbol).map_or(&[], attribute_names)
    }

    /// Where a symbol is declared, after redeclarations.
    pub fn declaration(&self, symbol: Symbol) -> Option<Declaration<'a>> {
        let tree = &self.front.tree;
        Some(match symbol.0 {
            Meaning::Member(member @ Member::Class(slot)) => Declaration::Class {
                id: tree[slot].class,
                definition: tree[slot].definition,
                is_protected: tree.is_hidden(member),
            },
            Meaning::Member(member @ Member::Component(comp)) => Declaration::Component {
                owner: tree[tree[comp].declared.scope].class,
                clause: tree[comp].declared.clause,
                component: tree[comp].declared.declaration,
                is_protected: tree.is_hidden(member),
            },
            Meaning::Literal(class, at) => {
                let ast::ClassBody::Enumeration(body) = &self.library().definition(class)?.body else { return None };
                let literal = body.literals.as_ref()?.get(at)?;
                Declaration::Literal { enumeration: class, literal }
            }
        })
    }

    /// The name where a symbol was declared first, before redeclarations: the same for everything that has to have the
    /// same name.
    pub fn origin(&self, symbol: Symbol) -> Span {
        match symbol.0 {
            Meaning::Member(Member::Component(comp)) => self.front.tree[comp].declared.span,
            Meaning::Member(Member::Class(mut slot)) => {
                while let Some(original) = self.front.tree[slot].original {
                    slot = original;
                }
                self.front.tree[slot].definition.name.span
            }
            Meaning::Literal(..) => self.declaration(symbol).map_or(Span::nowhere(), |d| d.ident().span),
        }
    }

    /// The expression that a component, or one of its attributes, is bound to, by whoever says so last.
    pub fn value(&mut self, symbol: Symbol, attribute: Option<&str>) -> Option<&'a ast::Expr> {
        self.binding(symbol, attribute).map(|(expr, _)| expr)
    }

    /// The same with the class in whose text the expression stands.
    pub fn binding(&mut self, symbol: Symbol, attribute: Option<&str>) -> Option<(&'a ast::Expr, Scope)> {
        let Meaning::Member(Member::Component(comp)) = symbol.0 else { return None };
        let slot = self.type_slot(comp)?;
        let of_type = self.front.simple_type(slot).and_then(|simple| simple.modifier.clone());
        let modifier: ModRef<'a> = merge(&self.front.tree[comp].modifier, &of_type);
        let modifier = match attribute {
            Some(name) => modifier?.sub(self.library().intern(name))?,
            None => modifier?,
        };
        match modifier.value.as_ref()?.expr {
            ModExpr::Ast(expr, scope) => Some((expr, Scope(scope))),
            ModExpr::Break => None,
        }
    }

    /// The condition of a component with the class in whose text it stands.
    pub fn condition(&self, symbol: Symbol) -> Option<(&'a ast::Expr, Scope)> {
        let Meaning::Member(Member::Component(comp)) = symbol.0 else { return None };
        let (condition, scope) = self.front.tree[comp].declared.condition?;
        Some((condition, Scope(scope)))
    }

    /// The direct bases of a class, in the order of its text.
    pub fn bases(&mut self, scope: Scope) -> Vec<Scope> {
        self.front.expand(scope.0);
        self.front.tree[scope.0].members.bases.iter().copied().map(Scope).collect()
    }

    /// All members, own before inherited: components in the order of declaration, then classes; literals of an enumeration.
    pub fn members(&mut self, scope: Scope) -> Vec<Symbol> {
        self.front.expand(scope.0);
        let components = self.front.tree[scope.0].members.components.clone();
        let mut found: Vec<Symbol> =
            components.into_iter().map(|comp| member_symbol(Member::Component(comp))).collect();
        for name in self.class_names(scope.0) {
            found.extend(self.front.member(scope.0, name).filter(|m| matches!(m, Member::Class(_))).map(member_symbol));
        }
        if let Some((class, body)) = self.enumeration(scope) {
            let n_literals = body.literals.as_ref().map_or(0, Vec::len);
            found.extend((0..n_literals).map(|at| Symbol(Meaning::Literal(class, at))));
        }
        found
    }

    /// Names of own and inherited classes.
    fn class_names(&mut self, inst: InstId) -> Vec<Name> {
        let (mut names, mut seen, mut todo, mut n_bases) = (Vec::new(), HashSet::new(), vec![inst], 0);
        while let Some(at) = todo.pop() {
            n_bases += 1;
            if n_bases > MOST_BASES {
                break;
            }
            self.front.expand(at);
            let class = self.front.tree[at].class;
            let declared = self.library().children(class).into_iter().filter_map(|id| self.library().name_of(id));
            names.extend(declared.filter(|&name| seen.insert(name)));
            todo.extend(self.front.tree[at].members.bases.iter().rev());
        }
        names
    }

    /// What the imports of a class bring, each under the name it has there.
    pub fn imported(&mut self, scope: Scope) -> Vec<(Name, Symbol)> {
        let Some(ast::ClassBody::Long(body)) = self.front.tree[scope.0].definition.map(|c| &c.body) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for import in imports(body) {
            let names: Vec<Name> = match &import.kind {
                ast::ImportKind::Qualified => import.path.parts.last().map(|p| p.name).into_iter().collect(),
                ast::ImportKind::Renamed(alias) => vec![alias.name],
                ast::ImportKind::Some(names) => names.iter().map(|n| n.name).collect(),
                ast::ImportKind::All => {
                    let package = self.global(&import.path.parts).and_then(|package| self.inside(package));
                    let members = package.map(|package| self.members(package)).unwrap_or_default();
                    let public = members.into_iter().filter_map(|m| Some((self.declaration(m)?.ident().name, m)));
                    found.extend(public);
                    continue;
                }
            };
            for name in names {
                found.extend(self.front.lookup_name(scope.0, name).map(|member| (name, member_symbol(member))));
            }
        }
        found
    }

    /// What a path means from the top level.
    pub fn global(&mut self, parts: &[ast::Ident]) -> Option<Symbol> {
        let (first, rest) = parts.split_first()?;
        let mut found = self.member(self.root(), first.name)?;
        for part in rest {
            let inside = self.inside(found)?;
            found = self.member(inside, part.name)?;
        }
        Some(found)
    }

    /// The class around a class; `None` behind an encapsulated one and at the top.
    pub fn enclosing(&self, scope: Scope) -> Option<Scope> {
        let inst = &self.front.tree[scope.0];
        let is_last = scope == self.root() || inst.definition.is_some_and(|c| c.is_encapsulated);
        (!is_last).then_some(Scope(inst.scope))
    }
}

fn member_symbol(member: Member) -> Symbol {
    Symbol(Meaning::Member(member))
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_library::MemoryFiles;

    fn library(text: &str) -> Library {
        let library = Library::new(Box::new(MemoryFiles::new()));
        library.load_text("test.mo", text);
        library
    }

    /// The class that declares what a path means in a class, and the value that holds there.
    fn meaning(library: &Library, class: &str, path: &str) -> Option<(String, String)> {
        let mut scopes = Scopes::new(library);
        let mut scope = scopes.class_scope(library.find(class)?)?;
        let mut found = None;
        for part in path.split('.') {
            let name = library.intern(part);
            let next = if found.is_none() { scopes.lookup(scope, name) } else { scopes.member(scope, name) }?;
            scope = scopes.inside(next).unwrap_or(scope);
            found = Some(next);
        }
        let found = found?;
        let owner = match scopes.declaration(found)? {
            Declaration::Class { id, .. } => library.qualified_name(library.parent(id)?),
            Declaration::Component { owner, .. } => library.qualified_name(owner),
            Declaration::Literal { enumeration, .. } => library.qualified_name(enumeration),
        };
        let value = scopes.value(found, None).map(|value| format!("{:?}", value.kind)).unwrap_or_default();
        Some((owner, value))
    }

    #[test]
    fn redeclarations_and_modifications_count() {
        let library = library(
            "package Medium constant Real c = 1; end Medium;
             package Water extends Medium(c = 4); constant Real d = 2; end Water;
             model Pipe replaceable package M = Medium; Real x = M.c; end Pipe;
             model System Pipe pipe(redeclare package M = Water); end System;",
        );
        let at = |class, path| meaning(&library, class, path);
        assert_eq!(at("Pipe", "M.c"), Some(("Medium".into(), "Integer(1)".into())));
        assert_eq!(at("Pipe", "M.d"), None);
        assert_eq!(at("System", "pipe.M.c"), Some(("Medium".into(), "Integer(4)".into())));
        assert_eq!(at("System", "pipe.M.d"), Some(("Water".into(), "Integer(2)".into())));
    }

    #[test]
    fn members_are_inherited_and_shadowed_by_nothing() {
        let library = library("model A Real x; type E = enumeration(a, b); end A; model B extends A; Real y; end B;");
        let mut scopes = Scopes::new(&library);
        let scope = scopes.class_scope(library.find("B").unwrap()).unwrap();
        let members = scopes.members(scope);
        let names: Vec<&str> =
            members.iter().map(|m| library.text(scopes.declaration(*m).unwrap().ident().name)).collect();
        assert_eq!(names, ["x", "y", "E"]);
        assert_eq!(meaning(&library, "B", "E.b"), Some(("A.E".into(), String::new())));
    }

    #[test]
    fn classes_that_cannot_be_flattened_have_answers() {
        let library = library("model A extends Missing; A a; Real x[n]; B b; end A; model C A a; end C;");
        assert_eq!(meaning(&library, "C", "a.x").map(|(owner, _)| owner), Some("A".into()));
        assert_eq!(meaning(&library, "C", "a.a.a.x").map(|(owner, _)| owner), Some("A".into()), "a class in itself");
        assert_eq!(meaning(&library, "A", "b.y"), None);
    }
}
