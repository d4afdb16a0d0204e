//! Rules that can only be checked once everything is instantiated, and those that are checked once.

use std::collections::{HashMap, HashSet};

use saltus_base::{Name, Span};
use saltus_library::ClassId;

use crate::instance::{CompId, InstId, SlotId};
use crate::modifier::Deselected;
use crate::redeclaration::{NewConstraint, RedeclaredClass, RedeclaredType};

#[derive(Default)]
pub struct Checks<'a> {
    /// Classes whose text has been checked.
    pub checked_classes: HashSet<ClassId>,
    /// Classes found to contain themselves without end.
    pub endless: HashSet<ClassId>,
    /// Components of one name in an instance that must be identical.
    pub duplicates: Vec<(InstId, CompId, CompId)>,
    /// Redeclarations to be compared with what they replace.
    pub redeclared_types: Vec<RedeclaredType<'a>>,
    pub redeclared_classes: Vec<RedeclaredClass<'a>>,
    pub new_constraints: Vec<NewConstraint<'a>>,
    /// Connector classes, and connectors of models and blocks, that have been looked at.
    pub connector_classes: HashSet<ClassId>,
    pub connector_components: HashSet<(ClassId, Name)>,
    /// Connectors that must be connected, and those that must not be connected twice.
    pub must_connect: Vec<CompId>,
    pub connect_once: Vec<CompId>,
    /// The first component of each class that may have one only.
    pub single_instances: HashMap<SlotId, CompId>,
    /// `break connect(…)` of all modifications, and those that found their connection.
    pub deselected_connections: Vec<Deselected<'a>>,
    pub found_deselected: HashSet<Span>,
    /// Something in the model is left to be redeclared before it can be simulated.
    pub has_partial_parts: bool,
}
