//! The front end: a class of a library in, the flat hybrid DAE out.
//!
//! ```text
//! ClassTree (saltus-library)  →  instances  →  connections  →  equations  →  FlatModel (saltus-flat)
//!                                instance      connection      equation      assemble
//!                                expand        expandable      statement
//!                                lookup        graph           expression …
//! ```
//!
//! The principal function is [`flatten`]. Everything works on demand: typing an expression may open a component, evaluate
//! a parameter, or make a function. All mistakes are collected; nothing stops at the first.
//!
//! Nothing here knows how a model is solved, and nothing knows a library by name.

mod acyclic;
mod annotation;
mod assemble;
mod call;
mod class_rules;
mod component;
mod connection;
mod connector_variables;
mod deduce;
mod deselect;
mod diagnostics;
mod duplicates;
mod equation;
mod evaluate;
mod expand;
mod expandable;
mod expression;
mod function;
mod function_rules;
mod graph;
mod instance;
mod local_balance;
mod lookup;
mod modification_sizes;
mod modifier;
mod overload;
mod predefined;
mod record;
mod record_locals;
mod redeclaration;
mod reference;
mod references;
mod statement;
mod types;
mod visibility;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::{Code, Diagnostic, Diagnostics, IdVec, Name, Span};
use saltus_connect::graph::{ConnectionGraph, NodeId, Spanning};
use saltus_connect::{ConnectionSets, End, LocalConnections, StreamTable};
use saltus_eval::Limits;
use saltus_flat::{
    self as flat, BaseType, EnumId, EnumType, Expr, FlatModel, FunctionId, LocalId, RecordId, RecordType, VarId,
};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast;

use crate::connection::{Connection, Connector};
use crate::connector_variables::ConnectorVariables;
use crate::equation::Collected;
use crate::function::FunctionEntry;
use crate::instance::{Comp, CompId, Inst, InstId, Member, SimpleType, Slot, SlotId};
use crate::record::Recorder;
use crate::reference::Iterated;
use crate::words::Words;

pub use crate::references::{ComponentType, Definition, DefinitionKind, References};

/// What the caller may decide.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Options {
    /// Modifications of the model from outside: `("r.R", "2.5")`.
    pub overrides: Vec<(String, String)>,
    /// Work limits of one evaluation at compile time.
    pub limits: Limits,
    /// Keep what the names in the text mean.
    pub references: bool,
    pub purpose: Purpose,
}

/// What the flat model is for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Purpose {
    /// A model or block is shown as equations.
    #[default]
    Flatten,
    /// Any class is checked, as a part of something: partial ones, functions and packages, too.
    Check,
    /// A model is simulated as it is, so it must be complete.
    Simulate,
}

/// The outcome of [`flatten`]. The model is there as far as it could be made, also next to errors.
pub struct Flattened {
    pub model: Option<FlatModel>,
    pub diagnostics: Diagnostics,
    /// If that was asked for.
    pub references: Option<References>,
}

/// Flattens a class.
pub fn flatten(library: &Library, class: ClassId, options: &Options) -> Flattened {
    let mut front = Front::new(library, options);
    let model = front.run(class, options);
    let references = front.finish_recording();
    let mut diagnostics = library.concerning_diagnostics();
    diagnostics.extend(front.certain);
    diagnostics.extend(front.diagnostics);
    if !diagnostics.has_errors() {
        diagnostics.extend(front.withheld);
    }
    Flattened { model, diagnostics, references }
}

/// All state of one flattening.
struct Front<'a> {
    library: &'a Library,
    words: Words,
    limits: Limits,
    diagnostics: Diagnostics,
    /// Mistakes in the text of classes; unlike the others they stay when an attempt to type something is given up.
    certain: Diagnostics,
    /// How many messages of the library have been looked at.
    n_library_messages: usize,
    reported: HashSet<(Code, Span)>,
    empty_class: &'a ast::ClassDef,
    /// What names mean, if that was asked for.
    recorder: Option<Recorder<'a>>,

    // instances
    insts: IdVec<InstId, Inst<'a>>,
    comps: IdVec<CompId, Comp<'a>>,
    slots: IdVec<SlotId, Slot<'a>>,
    vars: IdVec<VarId, CompId>,
    leaf_types: HashMap<CompId, Rc<SimpleType<'a>>>,
    /// Dimensions of the class of a component, where it has any.
    array_classes: HashMap<CompId, Vec<(&'a ast::Subscript, InstId)>>,
    /// The leading sizes of arrays whose sizes are being found.
    sizes_so_far: HashMap<CompId, Vec<u64>>,
    /// Arrays with a size that could not be found; what is said about them would only repeat it.
    wrong_sizes: HashSet<CompId>,
    /// Components of which has been reported that they have no usable value.
    without_value: HashSet<CompId>,
    /// Names that were compared to find out which ones were meant.
    n_compared_names: usize,
    /// Messages left out as consequences of others; they come back should there be no other error.
    withheld: Vec<Diagnostic>,
    /// Set when the model turned out to be too large; nothing is instantiated any more.
    is_too_large: bool,
    /// How many terms of reductions have been written out.
    n_unrolled: usize,
    /// Record classes whose fields are being found.
    open_records: HashSet<ClassId>,
    root: InstId,
    model: InstId,
    implicit_inners: Vec<(Name, CompId)>,
    imports: HashMap<(ClassId, Name), Option<Member>>,
    /// Names that an import or a library should have brought; their absence has been reported.
    failed_imports: HashSet<Name>,
    allow_partial: bool,
    purpose: Purpose,
    /// The class that is flattened.
    checked: Option<ClassId>,
    /// What cannot be found because the class that is checked leaves a value to its users.
    open_values: Vec<Diagnostic>,
    /// Something in the model is left to be redeclared before it can be simulated.
    has_partial_parts: bool,
    /// Classes whose text has been checked.
    checked_classes: HashSet<ClassId>,
    /// Components of one name in an instance that must be identical.
    duplicates: Vec<(InstId, CompId, CompId)>,
    /// Redeclarations to be compared with what they replace, once everything is instantiated.
    redeclared_types: Vec<redeclaration::RedeclaredType<'a>>,
    redeclared_classes: Vec<redeclaration::RedeclaredClass<'a>>,
    /// `break connect(…)` of all modifications, and those that found their connection.
    deselected_connections: Vec<modifier::Deselected<'a>>,
    found_deselected: HashSet<Span>,
    /// The types that index the dimensions of an array, where these are no Integers.
    index_types: HashMap<CompId, Vec<Option<BaseType>>>,
    /// How many loops are around the present statement.
    n_loops: u32,
    /// Classes found to contain themselves without end.
    endless: HashSet<ClassId>,

    // types
    builtin_classes: HashMap<ClassId, BaseType>,
    external_object: Option<ClassId>,
    enums: IdVec<EnumId, Arc<EnumType>>,
    enum_ids: HashMap<ClassId, EnumId>,
    /// Enumerations declared as `enumeration(:)`.
    unspecified_enums: HashSet<EnumId>,
    records: IdVec<RecordId, Arc<RecordType>>,
    record_slots: IdVec<RecordId, SlotId>,
    record_ids: HashMap<String, RecordId>,
    record_of_inst: HashMap<InstId, RecordId>,

    // functions
    functions: IdVec<FunctionId, FunctionEntry>,
    function_names: HashMap<String, u32>,
    current_function: Option<FunctionId>,

    // expressions
    iterators: Vec<(Name, Iterated)>,
    ends: Vec<Expr>,
    model_locals: IdVec<LocalId, flat::Local>,
    in_initial_section: bool,

    // connections
    connections: Vec<Connection>,
    pending_buses: Vec<expandable::Pending>,
    cardinalities: HashMap<Connector, i64>,
    sets: ConnectionSets,
    connector_variables: ConnectorVariables,
    streams: Option<StreamTable>,
    /// What the connections of each component come to, by its name.
    local_connections: BTreeMap<Arc<str>, LocalConnections>,
    graph: ConnectionGraph<usize>,
    graph_nodes: HashMap<InstId, NodeId>,
    graph_edges: Vec<graph::Edge>,
    spanning: Option<Spanning<usize>>,
    constraint_equations: Vec<flat::Equation>,
    /// Scalars that the roots of overdetermined connectors determine, where these are outside of the class.
    from_roots: u64,
}

impl<'a> Front<'a> {
    fn run(&mut self, class: ClassId, options: &Options) -> Option<FlatModel> {
        let slot = self.slot_of_class(class)?;
        self.purpose = options.purpose;
        self.checked = Some(class);
        if self.purpose == Purpose::Check && self.check_without_equations(slot) {
            return None;
        }
        self.check_model(slot);
        let modifier = self.overrides(class, &options.overrides);
        self.model = self.new_inst(slot, modifier.clone(), None);
        self.insts[self.model].path = Some("".into());
        self.check_partial_model(slot);
        self.instantiate(self.model);
        if let Some(modifier) = modifier {
            self.check_modified_names(self.model, &modifier);
        }
        let mut collected = Collected { equations: self.connect_everything(), ..Collected::default() };
        self.check_deselected_connections();
        self.collect_equations(self.model, &mut collected);
        self.finish_checks();
        Some(self.assemble(collected))
    }

    /// Equations of all connections; afterwards streams, roots and cardinalities can be asked for.
    fn connect_everything(&mut self) -> Vec<flat::Equation> {
        self.collect_connections(self.model);
        self.complete_buses();
        self.instantiate(self.model);
        self.pair_up();
        self.add_own_nodes();
        self.span_graph();
        self.announce_connectors(self.model);
        let sets = std::mem::take(&mut self.sets);
        let connected = sets.finish(&self.connector_variables);
        self.diagnostics.extend(connected.diagnostics);
        self.streams = Some(connected.streams);
        self.local_connections = connected.local;
        let mut equations = connected.equations;
        equations.append(&mut self.constraint_equations);
        equations
    }

    /// Tells the connection sets about every flow variable, connected or not.
    fn announce_connectors(&mut self, inst: InstId) {
        let in_bus = self.is_expandable(inst);
        for comp in self.insts[inst].components.clone() {
            if !self.is_instantiated(comp) {
                continue;
            }
            match self.comp_kind(comp) {
                instance::CompKind::Leaf(_) => {
                    let Some(var) = self.comps[comp].var else { continue };
                    let connection = self.comps[comp].prefixes.connection;
                    if connection.is_some() || self.is_connector(comp) || self.is_connector_inst(inst) {
                        self.describe_connector(comp);
                    }
                    if connection == Some(ast::Connection::Flow) {
                        self.sets.add_flow(End::inside(var));
                        if in_bus {
                            self.sets.add_flow(End::outside(var));
                        }
                    }
                }
                instance::CompKind::Class(class) => {
                    for &element in &class.elements {
                        self.announce_connectors(element);
                    }
                }
                instance::CompKind::Error => {}
            }
        }
    }
}
