//! The functions of the model, and the locals of whatever body is being made.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};

use saltus_base::IdVec;
use saltus_flat::{self as flat, FunctionId, LocalId};

use crate::function::FunctionEntry;

#[derive(Default)]
pub struct Functions {
    pub entries: IdVec<FunctionId, FunctionEntry>,
    /// How many functions have a name; instances of one function in two packages share theirs.
    names: HashMap<String, u32>,
    /// The function whose body is being made.
    pub current: Option<FunctionId>,
    /// Inputs whose defaults are being made, the innermost last: one that needs itself has none.
    pub defaults: Vec<(FunctionId, LocalId)>,
    /// Derivatives of first order that were made for functions without such an annotation.
    pub derivatives: HashMap<FunctionId, FunctionId>,
    /// Locals of the algorithms and reductions outside of functions.
    pub model_locals: IdVec<LocalId, flat::Local>,
}

impl Functions {
    /// The name itself the first time, `name$2` the second time.
    pub fn unique_name(&mut self, name: String) -> String {
        let n = self.names.entry(name.clone()).or_insert(0);
        *n += 1;
        if *n == 1 { name } else { format!("{name}${n}") }
    }

    /// Locals of the present body.
    pub fn locals(&self) -> &IdVec<LocalId, flat::Local> {
        match self.current {
            Some(id) => &self.entries[id].locals,
            None => &self.model_locals,
        }
    }

    pub fn locals_mut(&mut self) -> &mut IdVec<LocalId, flat::Local> {
        match self.current {
            Some(id) => &mut self.entries[id].locals,
            None => &mut self.model_locals,
        }
    }
}

impl Index<FunctionId> for Functions {
    type Output = FunctionEntry;

    fn index(&self, id: FunctionId) -> &FunctionEntry {
        &self.entries[id]
    }
}

impl IndexMut<FunctionId> for Functions {
    fn index_mut(&mut self, id: FunctionId) -> &mut FunctionEntry {
        &mut self.entries[id]
    }
}
