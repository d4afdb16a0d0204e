//! Functions that are called rather than written out.

use std::sync::Arc;

use saltus_base::IdVec;
use saltus_flat::{EnumId, EnumType, FunctionId, RecordId, RecordType, Type};
use saltus_procedure::Procedure;

use crate::{CallableId, SlotId};

#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Routines {
    /// Functions for arguments of certain sizes.
    pub callables: IdVec<CallableId, Callable>,
    /// What the callables refer to: the functions of the model, and behind them texts with holes.
    pub procedures: IdVec<FunctionId, Arc<Procedure>>,
    pub records: IdVec<RecordId, RecordType>,
    pub enumerations: IdVec<EnumId, EnumType>,
}

/// A function with the shapes of its arguments and results.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Callable {
    pub function: FunctionId,
    pub arguments: Vec<Argument>,
    /// Types of all results, sizes known; their scalars follow each other row-major, records field by field.
    pub results: Vec<Type>,
    /// Results that nobody uses, so that they need not have a value. Empty unless the function may leave one without.
    pub unused: Vec<u32>,
    /// A call that is made for what it does, or that gives another result every time.
    pub effect: Option<Effect>,
    /// What its `derivative` annotation names.
    pub derivative: Option<CallDerivative>,
}

impl Callable {
    /// Must this result have a value?
    pub fn uses(&self, result: usize) -> bool {
        result < self.results.len() && !self.unused.contains(&(result as u32))
    }
}

/// How a call is differentiated along a direction by a call of another function.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct CallDerivative {
    /// Takes the scalars of the call, then tangents.
    pub callable: CallableId,
    /// Scalars of the call whose tangents it takes, in order.
    pub tangents: Vec<u32>,
    /// Scalars of the call whose tangents must be zero (`zeroDerivative`).
    pub constant: Vec<u32>,
    /// For each scalar result of the call that of the derivative; `None` if it does not change.
    pub results: Vec<Option<u32>>,
}

/// A call of an impure function (specification section 12.3), made once and in order however often its equations are
/// evaluated. Two scalars come before its arguments: whether it is active, and one that only says what must be computed
/// before. One scalar comes before its results: whether the call was active.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Effect {
    /// Position among all effects, in the order of the source text.
    pub number: u32,
    /// Nothing depends on its results: it is made when the point has been found, not while it is sought.
    pub is_deferred: bool,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Argument {
    /// Takes as many scalars of the call as the type has.
    Scalars(Type),
    /// A String known at compile time.
    Text(String),
    /// A String that is evaluated for each call, by a procedure whose inputs are the holes. They take scalars of the call.
    Template { text: FunctionId, holes: Vec<Type> },
    /// An external object; its slot holds the handle.
    Object(SlotId),
    /// A function with some inputs bound: takes the scalars of the bound inputs.
    Function { function: FunctionId, bound: Vec<(u32, Type)> },
    /// An array or a record with Strings or objects in it, or with arrays whose sizes its type leaves open: elements in
    /// row-major order, or fields. Sizes of the array itself are known.
    Parts { ty: Type, items: Vec<Argument> },
}

impl Argument {
    /// The argument, then those it is made of.
    pub fn visit<'a>(&'a self, act: &mut dyn FnMut(&'a Argument)) {
        act(self);
        if let Argument::Parts { items, .. } = self {
            items.iter().for_each(|item| item.visit(act));
        }
    }

    /// Whether it holds for the argument or something in it.
    pub fn any(&self, holds: impl Fn(&Argument) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |a| found |= holds(a));
        found
    }

    /// The handles of the external objects in it.
    pub fn objects(&self) -> Vec<SlotId> {
        let mut slots = Vec::new();
        self.visit(&mut |a| {
            if let Argument::Object(slot) = a {
                slots.push(*slot);
            }
        });
        slots
    }
}
