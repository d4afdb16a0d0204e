//! What `saltus-connect` wants to know about the variables of connectors.

use std::collections::{BTreeSet, HashMap};

use saltus_base::Span;
use saltus_connect::{Direction, Kind, Variables};
use saltus_eval::Value;
use saltus_flat::count::component_of;
use saltus_flat::{Type, VarId, Variability};
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, InstId};

#[derive(Default)]
pub struct ConnectorVariables {
    known: HashMap<VarId, Entry>,
    /// The states of each state machine.
    machines: Vec<BTreeSet<String>>,
}

impl ConnectorVariables {
    /// A transition between two states: they belong to one machine.
    pub fn add_states(&mut self, names: Vec<String>) {
        let touches = |states: &BTreeSet<String>| names.iter().any(|name| states.contains(name));
        let (touched, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.machines).into_iter().partition(touches);
        self.machines = rest;
        self.machines.push(touched.into_iter().flatten().chain(names).collect());
    }

    /// The innermost state around what has this name: a number of its machine, and the state.
    fn state_around<'n>(&self, name: &'n str) -> Option<(usize, &'n str)> {
        let mut at = component_of(name);
        while !at.is_empty() {
            if let Some(machine) = self.machines.iter().position(|states| states.contains(at)) {
                return Some((machine, at));
            }
            at = component_of(at);
        }
        None
    }

    pub fn is_in_state(&self, name: &str) -> bool {
        self.state_around(name).is_some()
    }
}

struct Entry {
    kind: Kind,
    ty: Type,
    name: String,
    variability: Variability,
    direction: Direction,
    is_protected: bool,
    is_expandable: bool,
    is_implied: bool,
    min: Option<f64>,
    max: Option<f64>,
    nominal: Option<f64>,
    span: Span,
}

impl<'a> Front<'a> {
    /// Takes note of a connector variable, and of the flow variable that a stream variable goes with.
    pub fn describe_connector(&mut self, comp: CompId) {
        self.comp_kind(comp);
        let Some(var) = self.tree[comp].var else { return };
        if self.network.connector_variables.known.contains_key(&var) {
            return;
        }
        let ty = self.whole_type(comp);
        let prefixes = self.tree[comp].prefixes;
        let kind = match prefixes.connection {
            Some(ast::Connection::Flow) => Kind::Flow,
            Some(ast::Connection::Stream) => match self.flow_of_stream(comp) {
                Some(flow) => Kind::Stream { flow },
                None => Kind::Potential,
            },
            None => Kind::Potential,
        };
        let direction = match prefixes.direction {
            Some(ast::Direction::Input) => Direction::Input,
            Some(ast::Direction::Output) => Direction::Output,
            None => Direction::None,
        };
        let is_flow = kind == Kind::Flow;
        let words = self.words;
        let owner = self.tree[comp].owner;
        let is_implied = self.within_connector(comp).any(|part| self.network.added.contains(&part));
        let entry = Entry {
            kind,
            ty,
            name: self.comp_name(comp),
            variability: self.variability_of(comp),
            direction,
            is_protected: self.is_of_protected_connector(comp),
            is_expandable: self.is_expandable(owner),
            is_implied,
            min: is_flow.then(|| self.literal_attribute(comp, words.min)).flatten(),
            max: is_flow.then(|| self.literal_attribute(comp, words.max)).flatten(),
            nominal: is_flow.then(|| self.literal_attribute(comp, words.nominal)).flatten(),
            span: self.tree[comp].declared.span,
        };
        self.network.connector_variables.known.insert(var, entry);
    }

    /// The parts of a connector from a variable out to the connector itself.
    fn within_connector(&self, comp: CompId) -> impl Iterator<Item = CompId> {
        std::iter::successors(Some(comp), |&part| {
            let inst = self.tree[part].owner;
            let kind = self.tree[inst].definition.map(|class| class.kind);
            let is_around = matches!(kind, Some(ast::ClassKind::Model | ast::ClassKind::Block | ast::ClassKind::Class));
            self.tree[inst].owner.filter(|_| !is_around)
        })
    }

    /// Whether its class declares the connector as protected; what is around an instance of the class does not matter.
    fn is_of_protected_connector(&self, comp: CompId) -> bool {
        self.within_connector(comp).any(|part| self.tree[part].declared.is_hidden)
    }

    /// A stream connector has exactly one flow variable, a scalar (specification 15.1).
    pub fn check_stream_connector(&mut self, inst: InstId) {
        if !self.is_connector_inst(inst) {
            return;
        }
        let Some(stream) = self.with_prefix(inst, ast::Connection::Stream).next() else { return };
        let flows: Vec<CompId> = self.with_prefix(inst, ast::Connection::Flow).collect();
        let is_scalar = flows.first().is_none_or(|&flow| self.comp_dims(flow).is_empty());
        if flows.len() != 1 || !is_scalar {
            let class = self.library.qualified_name(self.tree[inst].class);
            let name = self.text(self.tree[stream].name);
            let diagnostic = d::stream_without_flow(&class, name, flows.len(), self.tree[stream].declared.span);
            self.report_once(diagnostic);
        }
    }

    fn with_prefix(&self, inst: InstId, prefix: ast::Connection) -> impl Iterator<Item = CompId> {
        let has_it = move |&c: &CompId| self.tree[c].prefixes.connection == Some(prefix);
        self.tree[inst].members.components.iter().copied().filter(has_it)
    }

    fn flow_of_stream(&mut self, comp: CompId) -> Option<VarId> {
        let flow = self.with_prefix(self.tree[comp].owner, ast::Connection::Flow).next()?;
        self.comp_kind(flow);
        self.describe_connector(flow);
        self.tree[flow].var
    }

    pub fn literal_attribute(&mut self, comp: CompId, name: saltus_base::Name) -> Option<f64> {
        let value = self.tree[comp].sub_modifier(name)?.value.clone()?;
        let mark = self.messages.mark();
        let expr = self.mod_value(&value, 0)?;
        let number = match self.evaluate_quietly(&expr) {
            Some(Value::Real(x)) => Some(x),
            Some(Value::Integer(n)) => Some(n as f64),
            _ => None,
        };
        self.messages.take_back(mark);
        number
    }
}

impl ConnectorVariables {
    fn entry(&self, var: VarId) -> Option<&Entry> {
        self.known.get(&var)
    }
}

impl Variables for ConnectorVariables {
    fn kind(&self, var: VarId) -> Kind {
        self.entry(var).map_or(Kind::Potential, |e| e.kind)
    }

    fn ty(&self, var: VarId) -> &Type {
        const REAL: &Type = &Type::REAL;
        self.entry(var).map_or(REAL, |e| &e.ty)
    }

    fn name(&self, var: VarId) -> &str {
        self.entry(var).map_or("", |e| &e.name)
    }

    fn variability(&self, var: VarId) -> Variability {
        self.entry(var).map_or(Variability::Continuous, |e| e.variability)
    }

    fn direction(&self, var: VarId) -> Direction {
        self.entry(var).map_or(Direction::None, |e| e.direction)
    }

    fn is_protected(&self, var: VarId) -> bool {
        self.entry(var).is_some_and(|e| e.is_protected)
    }

    fn is_expandable(&self, var: VarId) -> bool {
        self.entry(var).is_some_and(|e| e.is_expandable)
    }

    fn is_implied(&self, var: VarId) -> bool {
        self.entry(var).is_some_and(|e| e.is_implied)
    }

    fn flow_min(&self, var: VarId) -> Option<f64> {
        self.entry(var).and_then(|e| e.min)
    }

    fn flow_max(&self, var: VarId) -> Option<f64> {
        self.entry(var).and_then(|e| e.max)
    }

    fn flow_nominal(&self, var: VarId) -> Option<f64> {
        self.entry(var).and_then(|e| e.nominal)
    }

    fn state(&self, var: VarId) -> Option<(usize, &str)> {
        self.state_around(self.name(var))
    }

    fn span(&self, var: VarId) -> Span {
        self.entry(var).map_or(Span::nowhere(), |e| e.span)
    }
}
