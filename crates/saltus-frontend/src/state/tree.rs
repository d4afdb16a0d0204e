//! The instance tree: all instances, components and slots, by their ids.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use saltus_base::{IdVec, Index as _, Name, Span};
use saltus_flat::{Expr, VarId};
use saltus_library::ClassId;
use saltus_syntax::ast;

use crate::instance::{Comp, CompId, Inst, InstId, Member, Slot, SlotId};
use crate::modifier::ModRef;

pub struct Tree<'a> {
    pub insts: IdVec<InstId, Inst<'a>>,
    pub comps: IdVec<CompId, Comp<'a>>,
    pub slots: IdVec<SlotId, Slot<'a>>,
    /// The component of a variable of the flat model.
    pub vars: IdVec<VarId, CompId>,
    /// The unnamed class around all others.
    pub root: InstId,
    /// The class that is flattened.
    pub model: InstId,
    /// Components that stand for an `inner` that nobody declared.
    pub implicit_inners: Vec<(Name, CompId)>,
    /// Stands for a definition that is missing.
    pub empty_class: &'a ast::ClassDef,
    /// Array values of modifications that the elements of component arrays share, by their text and where it is looked up.
    pub shared_values: HashMap<(*const ast::Expr, InstId), Rc<Expr>>,
}

impl<'a> Tree<'a> {
    /// The root alone.
    pub fn new(root_class: ClassId, empty_class: &'a ast::ClassDef) -> Tree<'a> {
        let root = InstId::from_usize(0);
        let mut insts = IdVec::new();
        insts.push(Inst::root(root_class, root));
        Tree {
            insts,
            comps: IdVec::new(),
            slots: IdVec::new(),
            vars: IdVec::new(),
            root,
            model: root,
            implicit_inners: Vec::new(),
            empty_class,
            shared_values: HashMap::new(),
        }
    }

    /// A new, unopened instance of a class; `owner` is the component it is the type of.
    pub fn new_inst(&mut self, slot: SlotId, modifier: ModRef<'a>, owner: Option<CompId>) -> InstId {
        let inst = Inst::of_slot(slot, &self.slots[slot], modifier, owner);
        self.insts.push(inst)
    }

    pub fn n_instances(&self) -> u64 {
        self.insts.len() as u64 + self.comps.len() as u64
    }

    /// The component stands for an `inner` that nobody declared.
    pub fn is_implicit_inner(&self, comp: CompId) -> bool {
        self.implicit_inners.iter().any(|&(_, inner)| inner == comp)
    }

    /// Declared in a protected section, or inherited with a protected `extends`.
    pub fn is_hidden(&self, member: Member) -> bool {
        match member {
            Member::Component(comp) => self[comp].declared.is_hidden,
            Member::Class(slot) => self[slot].is_protected || self[self[slot].scope].is_protected_base,
        }
    }

    pub fn declared_at(&self, member: Member) -> Span {
        match member {
            Member::Component(comp) => self[comp].declared.span,
            Member::Class(slot) => self[slot].definition.name.span,
        }
    }

    /// How many of the instances around `inst`, itself included, are of this class.
    pub fn count_outside(&self, inst: InstId, class: ClassId) -> usize {
        let mut at = Some(inst);
        let mut n = 0;
        while let Some(i) = at {
            n += usize::from(self[i].class == class);
            at = self[i].owner.map(|comp| self[comp].owner);
        }
        n
    }
}

macro_rules! index {
    ($id:ident, $field:ident, $output:ident) => {
        impl<'a> Index<$id> for Tree<'a> {
            type Output = $output<'a>;

            fn index(&self, id: $id) -> &$output<'a> {
                &self.$field[id]
            }
        }

        impl<'a> IndexMut<$id> for Tree<'a> {
            fn index_mut(&mut self, id: $id) -> &mut $output<'a> {
                &mut self.$field[id]
            }
        }
    };
}

index!(InstId, insts, Inst);
index!(CompId, comps, Comp);
index!(SlotId, slots, Slot);
