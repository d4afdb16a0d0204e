//! What the caller asked for.

use saltus_library::ClassId;

use crate::Purpose;

pub struct Request {
    pub purpose: Purpose,
    /// The class that is flattened.
    pub class: Option<ClassId>,
    /// The class whose modification has the values from outside, once it is loaded.
    pub settings: Option<ClassId>,
    /// The class may have components of partial classes.
    pub allow_partial: bool,
}
