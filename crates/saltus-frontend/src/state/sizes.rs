//! Dimensions of components: where they come from, and how far they are known.

use std::collections::{HashMap, HashSet};

use saltus_flat::BaseType;
use saltus_syntax::ast;

use crate::instance::{CompId, InstId};

#[derive(Default)]
pub struct Sizes<'a> {
    /// Dimensions of the class of a component, where it has any.
    pub array_classes: HashMap<CompId, Vec<(&'a ast::Subscript, InstId)>>,
    /// The leading sizes of arrays whose sizes are being found.
    pub so_far: HashMap<CompId, Vec<Option<u64>>>,
    /// Arrays with a size that could not be found; what is said about them would only repeat it.
    pub wrong: HashSet<CompId>,
    /// Records of which single fields were looked at while a size was being found.
    pub taken_apart: Vec<CompId>,
    /// The types that index the dimensions of an array, where these are not Integers.
    index_types: HashMap<CompId, Vec<Option<BaseType>>>,
}

impl Sizes<'_> {
    /// Takes note that dimension `k` is indexed by values of a type.
    pub fn set_index_type(&mut self, comp: CompId, k: usize, base: BaseType) {
        let types = self.index_types.entry(comp).or_default();
        types.resize(types.len().max(k + 1), None);
        types[k] = Some(base);
    }

    pub fn index_type(&self, comp: CompId, k: usize) -> Option<BaseType> {
        self.index_types.get(&comp)?.get(k).copied().flatten()
    }

    pub fn index_types(&self, comp: CompId) -> Option<&[Option<BaseType>]> {
        self.index_types.get(&comp).map(Vec::as_slice)
    }
}
