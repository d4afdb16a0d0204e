//! Connections: from `connect` equations to sets, streams and cardinalities.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::Span;
use saltus_connect::{ConnectionSets, LocalConnections, StreamTable};
use saltus_flat as flat;

use crate::connection::{Connection, Connector};
use crate::connector_variables::ConnectorVariables;
use crate::expandable::Deferred;
use crate::instance::CompId;
use crate::state::Messages;

#[derive(Default)]
pub struct Network<'a> {
    pub connections: Vec<Connection>,
    /// The latest connection from each place in the text that leads into an array of alike components.
    pub latest: HashMap<Span, usize>,
    /// Connections to members of buses that are not known yet.
    pub deferred: Vec<Deferred<'a>>,
    /// Members that connections have added to buses.
    pub added: HashSet<CompId>,
    /// Arrays in buses that have the elements that are connected; true for the dimensions for which that holds.
    pub growing: HashMap<CompId, Rc<[bool]>>,
    /// Elements of arrays in buses that no connection reaches, and the same in order.
    pub unused: HashSet<Connector>,
    pub unused_arrays: Vec<Connector>,
    pub cardinalities: HashMap<Connector, i64>,
    pub sets: ConnectionSets,
    pub connector_variables: ConnectorVariables,
    /// Known once all connections are.
    pub streams: Option<StreamTable>,
    /// What the connections of each component come to, by its name.
    pub local_connections: BTreeMap<Arc<str>, LocalConnections>,
}

impl Network<'_> {
    /// Equations of all connection sets; afterwards streams and balances can be asked for.
    pub fn close(&mut self, messages: &mut Messages) -> Vec<flat::Equation> {
        let sets = std::mem::take(&mut self.sets);
        let connected = sets.finish(&self.connector_variables);
        messages.diagnostics.extend(connected.diagnostics);
        self.streams = Some(connected.streams);
        self.local_connections = connected.local;
        connected.equations
    }
}
