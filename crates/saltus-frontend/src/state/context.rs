//! Where the expression stands that is being typed.

use saltus_base::Name;
use saltus_flat::Expr;

use crate::instance::SlotId;
use crate::reference::Iterated;

#[derive(Default)]
pub struct Context {
    /// Iterators of the loops around it, innermost last.
    pub iterators: Vec<(Name, Iterated)>,
    /// What `end` means in the subscripts around it, innermost last.
    pub ends: Vec<Expr>,
    pub in_initial_section: bool,
    /// In an algorithm section, where sizes of ranges and sections may be known at run time only.
    pub in_algorithm: bool,
    /// How many `if` and `when` are around the present equation.
    pub n_clauses: u32,
    /// How many loops are around the present statement.
    pub n_loops: u32,
    /// The record that components without a value become, in the argument of a cast.
    pub cast: Option<SlotId>,
}

impl Context {
    /// Steps out of all loops and subscripts; returns what leads back to them.
    pub fn step_out(&mut self) -> Context {
        let outside =
            Context { in_initial_section: self.in_initial_section, n_loops: self.n_loops, ..Context::default() };
        std::mem::replace(self, outside)
    }

    pub fn iterator(&self, name: Name) -> Option<Iterated> {
        self.iterators.iter().rev().find(|(n, _)| *n == name).map(|(_, i)| i.clone())
    }
}
