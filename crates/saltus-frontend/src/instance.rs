//! The instance tree: classes seen from a place, with the modifications that hold there.
//!
//! A [`Slot`] is a class as a member of an instance: which definition, which scope, which modifications. An [`Inst`] is a
//! slot opened up: its bases and components. A [`Comp`] is a component; a component of a class type has one `Inst` per
//! array element, a component of a built-in type is a leaf and stands for one variable of the flat model.
//!
//! ```text
//! model M                      Inst M ─ Comp r (dims [2]) ─ Inst r[1] ─ Comp R (leaf)
//!   Resistor r[2];                                        └ Inst r[2] ─ Comp R (leaf)
//! end M;
//! ```
//!
//! Everything is opened on demand: asking for `n` in `Real x[n]` types and evaluates the binding of `n` at that moment.
//! Definitions are shared and never copied. A base class is an `Inst` of its own, whose `derived` is the instance that
//! extends it; both list the same `Comp`s.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::{Name, Span};
use saltus_eval::Value;
use saltus_flat::family::Counter;
use saltus_flat::{self as flat, BaseType, LocalId, VarId};
use saltus_library::ClassId;
use saltus_syntax::ast;

use crate::modifier::{Mod, ModRef, Position};

saltus_base::define_id! {
    /// A class instance.
    pub struct InstId;
    /// A component instance.
    pub struct CompId;
    /// A class as a member of an instance.
    pub struct SlotId;
}

/// A member of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Member {
    Class(SlotId),
    Component(CompId),
}

pub struct Slot<'a> {
    pub class: ClassId,
    pub definition: &'a ast::ClassDef,
    /// The instance in whose scope the definition's names are looked up.
    pub scope: InstId,
    /// Modifications of the class as a whole (`redeclare package Medium = Water(p = 1)` has them in the definition).
    pub modifier: ModRef<'a>,
    /// Modifications of the constraining type; those of the definition win over them.
    pub constraint: ModRef<'a>,
    /// What `class extends` extends.
    pub original: Option<SlotId>,
    pub is_protected: bool,
    pub is_replaceable: bool,
    /// The instance without a component, for lookup in packages; made on demand.
    pub instance: Option<InstId>,
    /// Set while the instance is being made.
    pub in_progress: bool,
    pub simple: Memo<Option<Rc<SimpleType<'a>>>>,
    pub function: Option<flat::FunctionId>,
}

/// A value computed on demand.
#[derive(Clone, Debug)]
pub enum Memo<T> {
    Unknown,
    InProgress,
    Known(T),
}

/// A class that is, through any number of short definitions and `extends`, a built-in type.
#[derive(Debug)]
pub struct SimpleType<'a> {
    pub base: BaseType,
    /// Array dimensions of the type, outermost first, each with its scope.
    pub subscripts: Vec<(&'a ast::Subscript, InstId)>,
    /// Attributes.
    pub modifier: ModRef<'a>,
    pub direction: Option<ast::Direction>,
    pub variability: Option<ast::Variability>,
    pub connection: Option<ast::Connection>,
    pub is_connector: bool,
    /// Its function `equalityConstraint`: variables of the type are overdetermined.
    pub equality_constraint: Option<SlotId>,
    /// What the annotation `absoluteValue` says, if it is there.
    pub is_difference: Option<bool>,
}

/// Prefixes that a component passes on to everything in it.
#[derive(Clone, Copy, Debug)]
pub struct Prefixes {
    pub variability: Option<ast::Variability>,
    pub direction: Option<ast::Direction>,
    pub connection: Option<ast::Connection>,
    pub is_protected: bool,
    pub is_final: bool,
    pub hide_result: bool,
}

impl Prefixes {
    pub const NONE: Prefixes = Prefixes {
        variability: None,
        direction: None,
        connection: None,
        is_protected: false,
        is_final: false,
        hide_result: false,
    };
}

pub struct Inst<'a> {
    pub class: ClassId,
    /// `None` only for the root.
    pub definition: Option<&'a ast::ClassDef>,
    pub slot: Option<SlotId>,
    /// Lexically enclosing instance; the root encloses itself.
    pub scope: InstId,
    pub modifier: ModRef<'a>,
    pub original: Option<SlotId>,
    /// The component of which this is (an element of) the type; `None` for packages, functions, the model itself.
    pub owner: Option<CompId>,
    /// The instance that extends this one.
    pub derived: Option<InstId>,
    /// Flat name of the component, empty for the model itself, `None` outside the model.
    pub path: Option<Arc<str>>,
    pub prefixes: Prefixes,
    pub members: Members,
    /// Inherited with a protected `extends`; whatever it declares is protected.
    pub is_protected_base: bool,
    /// The function whose body this is.
    pub function: Option<flat::FunctionId>,
    /// How deeply nested in components.
    pub depth: u32,
    /// Which element of an array class this is: `{2}` for the second `X` of `record T = X[3]`.
    pub class_index: Vec<Position>,
    /// Iterators of the arrays of alike components that it is in, outermost first: it stands for the elements of all of them.
    pub outer: Vec<Counter>,
}

/// What an instance has, found when it is opened.
pub struct Members {
    pub expansion: Memo<()>,
    pub bases: Vec<InstId>,
    /// Own and inherited components in order of declaration.
    pub components: Vec<CompId>,
    pub names: HashMap<Name, Member>,
    /// Names that were looked for and are not members.
    pub absent: HashSet<Name>,
    /// A base class is missing, and with it nobody knows which members.
    pub is_incomplete: bool,
    /// Extends a predefined type, here.
    pub predefined_base: Option<Span>,
    /// Components that an `extends` with `break` removed.
    pub deselected: Vec<Name>,
}

pub struct Comp<'a> {
    pub name: Name,
    /// The outermost instance that has it as a member.
    pub owner: InstId,
    pub declared: Declared<'a>,
    /// Everything said about it, the declaration included.
    pub modifier: ModRef<'a>,
    /// The same without what its type says.
    pub given: ModRef<'a>,
    pub prefixes: Prefixes,
    pub memo: CompMemo,
    pub var: Option<VarId>,
    pub local: Option<LocalId>,
    pub is_structural: bool,
}

/// The declaration of a component, after redeclarations.
pub struct Declared<'a> {
    /// Where it is declared: scope of its type name and sizes.
    pub scope: InstId,
    pub clause: &'a ast::ComponentClause,
    pub declaration: &'a ast::Component,
    pub is_inner: bool,
    pub is_outer: bool,
    pub is_replaceable: bool,
    /// Modifications of the constraining type: they hold for whatever the component is redeclared to.
    pub constraint: ModRef<'a>,
    /// Declared in a protected section of its class, or inherited by it with a protected `extends`.
    pub is_hidden: bool,
    /// The condition attribute with its scope.
    pub condition: Option<(&'a ast::Expr, InstId)>,
    /// The constraining type of a redeclared component with its scope, and where it was redeclared.
    pub constrained_to: Option<(&'a ast::Path, InstId, Span)>,
    /// Dimensions from a replaced declaration or a generated component.
    pub dims_from: Option<(&'a [ast::Subscript], &'a [ast::Subscript], InstId)>,
    pub span: Span,
}

/// What is found out about a component on demand.
pub struct CompMemo {
    pub is_present: Memo<bool>,
    pub kind: Memo<CompKind>,
    pub dims: Memo<Rc<[u64]>>,
    /// The value as it was written, and brought to the type of the component.
    pub written: Memo<Option<Rc<flat::Expr>>>,
    pub binding: Memo<Option<Rc<flat::Expr>>>,
    pub value: Memo<Result<Value, ()>>,
    /// For `outer`: the component it stands for.
    pub outer: Memo<Option<CompId>>,
}

#[derive(Clone, Debug)]
pub enum CompKind {
    Leaf(Rc<Leaf>),
    /// One instance per array element, row-major; a scalar has one, and so has an array whose elements are alike.
    Class(Rc<ClassComp>),
    /// Something was wrong and has been reported.
    Error,
}

#[derive(Debug)]
pub struct Leaf {
    pub base: BaseType,
    pub is_connector: bool,
}

#[derive(Debug)]
pub struct ClassComp {
    pub slot: SlotId,
    pub elements: Vec<InstId>,
    /// If its elements are alike, its only instance stands for each of them: iterators of its own dimensions.
    pub counters: Vec<Counter>,
}

impl Default for Members {
    fn default() -> Members {
        Members {
            expansion: Memo::Unknown,
            bases: Vec::new(),
            components: Vec::new(),
            names: HashMap::new(),
            absent: HashSet::new(),
            is_incomplete: false,
            predefined_base: None,
            deselected: Vec::new(),
        }
    }
}

impl CompMemo {
    pub const UNKNOWN: CompMemo = CompMemo {
        is_present: Memo::Unknown,
        kind: Memo::Unknown,
        dims: Memo::Unknown,
        written: Memo::Unknown,
        binding: Memo::Unknown,
        value: Memo::Unknown,
        outer: Memo::Unknown,
    };
}

impl<'a> Inst<'a> {
    /// The unnamed class around all others; it is opened, encloses itself, and gets its members on demand.
    pub fn root(class: ClassId, id: InstId) -> Inst<'a> {
        Inst {
            class,
            definition: None,
            slot: None,
            scope: id,
            modifier: None,
            original: None,
            owner: None,
            derived: None,
            path: None,
            prefixes: Prefixes::NONE,
            members: Members { expansion: Memo::Known(()), ..Members::default() },
            is_protected_base: false,
            function: None,
            depth: 0,
            class_index: Vec::new(),
            outer: Vec::new(),
        }
    }

    /// An unopened instance of a slot.
    pub fn of_slot(id: SlotId, slot: &Slot<'a>, modifier: ModRef<'a>, owner: Option<CompId>) -> Inst<'a> {
        Inst {
            definition: Some(slot.definition),
            slot: Some(id),
            modifier,
            original: slot.original,
            owner,
            members: Members::default(),
            ..Inst::root(slot.class, slot.scope)
        }
    }
}

impl<'a> Comp<'a> {
    pub fn sub_modifier(&self, name: Name) -> Option<Rc<Mod<'a>>> {
        self.modifier.as_ref().and_then(|m| m.sub(name))
    }
}
