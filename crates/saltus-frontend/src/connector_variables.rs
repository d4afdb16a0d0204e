//! What `saltus-connect` wants to know about the variables of connectors.

use std::collections::HashMap;

use saltus_base::Span;
use saltus_connect::{Direction, Kind, Variables};
use saltus_eval::Value;
use saltus_flat::{Type, VarId, Variability};
use saltus_syntax::ast;

use crate::Front;
use crate::instance::CompId;

#[derive(Default)]
pub struct ConnectorVariables {
    known: HashMap<VarId, Entry>,
}

struct Entry {
    kind: Kind,
    ty: Type,
    name: String,
    variability: Variability,
    direction: Direction,
    is_protected: bool,
    is_expandable: bool,
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
        let ty = self.comp_type(comp);
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
        let entry = Entry {
            kind,
            ty,
            name: self.comp_name(comp),
            variability: self.variability_of(comp),
            direction,
            is_protected: prefixes.is_protected,
            is_expandable: self.is_expandable(owner),
            min: is_flow.then(|| self.literal_attribute(comp, words.min)).flatten(),
            max: is_flow.then(|| self.literal_attribute(comp, words.max)).flatten(),
            nominal: is_flow.then(|| self.literal_attribute(comp, words.nominal)).flatten(),
            span: self.tree[comp].declared.span,
        };
        self.network.connector_variables.known.insert(var, entry);
    }

    fn flow_of_stream(&mut self, comp: CompId) -> Option<VarId> {
        let owner = self.tree[comp].owner;
        let flow = self.tree[owner]
            .members
            .components
            .iter()
            .copied()
            .find(|&c| self.tree[c].prefixes.connection == Some(ast::Connection::Flow))?;
        self.comp_kind(flow);
        self.describe_connector(flow);
        self.tree[flow].var
    }

    fn literal_attribute(&mut self, comp: CompId, name: saltus_base::Name) -> Option<f64> {
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

    fn flow_min(&self, var: VarId) -> Option<f64> {
        self.entry(var).and_then(|e| e.min)
    }

    fn flow_max(&self, var: VarId) -> Option<f64> {
        self.entry(var).and_then(|e| e.max)
    }

    fn flow_nominal(&self, var: VarId) -> Option<f64> {
        self.entry(var).and_then(|e| e.nominal)
    }

    fn span(&self, var: VarId) -> Span {
        self.entry(var).map_or(Span::nowhere(), |e| e.span)
    }
}
