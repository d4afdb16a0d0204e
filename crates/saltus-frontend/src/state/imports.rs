//! Names that came through imports, and those that should have.

use std::collections::{HashMap, HashSet};

use saltus_base::Name;
use saltus_library::ClassId;

use crate::instance::Member;

#[derive(Default)]
pub struct Imports {
    /// What a name means through the imports of a class.
    pub found: HashMap<(ClassId, Name), Option<Member>>,
    /// Names that an import or a library should have brought; their absence has been reported.
    pub failed: HashSet<Name>,
    /// Classes that were opened and have imports, in this order.
    pub classes: Vec<ClassId>,
    /// How many messages of the library have been looked at.
    pub n_library_messages: usize,
}
