//! Overconstrained connections: `Connections.root`, `branch`, `isRoot` and broken connections (specification 9.4).
//!
//! ```text
//! connect(a.frame, b.frame)  closing a loop  ⇒  zeros(n) = equalityConstraint(a.frame.R, b.frame.R)
//! ```

use std::collections::HashMap;

use saltus_base::Span;
use saltus_connect::Face;
use saltus_connect::graph::{NodeId, Rootless};
use saltus_flat::{self as flat, Builtin, EquationKind, Expr, Origin};
use saltus_syntax::ast;

use crate::component::fill;
use crate::connection::{Argument, Connection, Connector};
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member, SlotId};
use crate::{Front, Purpose};

/// A connection between two overdetermined parts: records, or variables as a whole.
pub type Edge = ((Connector, Face), (Connector, Face), Connection);

impl<'a> Front<'a> {
    /// `Connections.root(…)` and the like, which are not equations.
    pub fn is_graph_operator(&self, call: &ast::Call) -> bool {
        let [first, second] = call.name.parts.as_slice() else { return false };
        first.name.name == self.words.connections
            && matches!(self.text(second.name.name), "root" | "potentialRoot" | "branch" | "uniqueRoot")
    }

    /// A type with a function `equalityConstraint`.
    pub fn is_overdetermined(&mut self, inst: InstId) -> bool {
        self.member(inst, self.words.equality_constraint).is_some()
    }

    /// A variable whose type has such a function.
    pub fn is_overdetermined_variable(&mut self, comp: CompId) -> bool {
        let comp = self.actual(comp);
        self.types.leaf_types.get(&comp).is_some_and(|ty| ty.equality_constraint.is_some())
    }

    pub fn graph_equation(&mut self, scope: InstId, call: &'a ast::Call, span: Span) {
        self.refuse_in_template(scope);
        let operator = self.text(call.name.parts[1].name.name).to_owned();
        let Some(node) = self.graph_argument(scope, call, 0, span) else { return };
        match operator.as_str() {
            "root" => self.overconstrained.graph.root(node, span),
            "uniqueRoot" => {
                let message = match call.arguments.get(1).map(|e| &e.kind) {
                    Some(ast::ExprKind::String(text)) => text.to_string(),
                    _ => String::new(),
                };
                self.overconstrained.graph.unique_root(node, message, span);
            }
            "potentialRoot" => {
                let written = call.arguments.get(1).or_else(|| call.named.first().map(|n| &n.value));
                let priority = match written {
                    Some(e) => {
                        let typed = self.expression(scope, e);
                        self.structural_quietly(&typed).and_then(|v| v.as_integer()).unwrap_or(0)
                    }
                    None => 0,
                };
                self.overconstrained.graph.potential_root(node, priority, span);
            }
            _ => {
                if let Some(other) = self.graph_argument(scope, call, 1, span) {
                    self.overconstrained.graph.branch(node, other, span);
                }
            }
        }
    }

    fn graph_argument(&mut self, scope: InstId, call: &'a ast::Call, k: usize, span: Span) -> Option<NodeId> {
        let Some(ast::ExprKind::Ref(reference)) = call.arguments.get(k).map(|e| &e.kind) else {
            self.report(d::graph_argument(span));
            return None;
        };
        let argument = self.connect_argument(scope, reference);
        if !matches!(argument, Argument::Connectors(_)) {
            return None;
        }
        let part = self.overdetermined_part(&argument);
        if part.is_none() {
            self.report(d::graph_argument(span));
        }
        part.map(|part| self.graph_node(part))
    }

    /// What an operator on the graph was given: one record, or all of a variable.
    fn overdetermined_part(&mut self, argument: &Argument) -> Option<Connector> {
        let Argument::Connectors(c) = argument else { return None };
        self.refuse_alike(c);
        match (c.items.as_slice(), c.whole) {
            ([Connector::Inst(inst)], _) => Some(Connector::Inst(*inst)),
            (_, Some(comp)) if self.is_overdetermined_variable(comp) => Some(Connector::Leaf(comp, None)),
            _ => None,
        }
    }

    fn graph_node(&mut self, part: Connector) -> NodeId {
        if let Some(&node) = self.overconstrained.nodes.get(&part) {
            return node;
        }
        let name = self.connector_name(part);
        let span = self.component_of(part).map_or(Span::nowhere(), |c| self.tree[c].declared.span);
        let node = self.overconstrained.graph.add_node(name, span);
        self.overconstrained.nodes.insert(part, node);
        node
    }

    fn component_of(&self, part: Connector) -> Option<CompId> {
        match part {
            Connector::Inst(inst) => self.tree[inst].owner,
            Connector::Leaf(comp, _) => Some(comp),
        }
    }

    /// A connection between two overdetermined parts waits for the spanning tree.
    pub fn graph_connection(&mut self, a: (Connector, Face), b: (Connector, Face), connection: &Connection) {
        let (x, y) = (self.graph_node(a.0), self.graph_node(b.0));
        let key = self.overconstrained.edges.len();
        self.overconstrained.edges.push((a, b, connection.clone()));
        self.overconstrained.graph.connection((x, a.1), (y, b.1), key);
    }

    /// Finds the spanning trees; kept connections become equalities, broken ones constraints.
    pub fn span_graph(&mut self) {
        let graph = std::mem::take(&mut self.overconstrained.graph);
        let spanning = graph.finish();
        self.messages.diagnostics.extend(spanning.diagnostics.iter().cloned());
        self.check_roots(&spanning.rootless);
        let edges = std::mem::take(&mut self.overconstrained.edges);
        for &key in &spanning.kept {
            let (a, b, connection) = &edges[key];
            self.pair_parts(*a, *b, connection);
        }
        for &key in &spanning.broken {
            let (a, b, connection) = &edges[key];
            self.equality_constraint(a.0, b.0, connection);
        }
        self.overconstrained.spanning = Some(spanning);
    }

    /// A class that is checked as a part of something may leave the root to its surroundings: these determine then as many scalars as
    /// the overdetermined type has too many (specification 4.8).
    fn check_roots(&mut self, rootless: &[Rootless]) {
        let parts: HashMap<NodeId, Connector> =
            self.overconstrained.nodes.iter().map(|(&part, &node)| (node, part)).collect();
        for tree in rootless {
            let own = tree.nodes.iter().filter_map(|node| parts.get(node).copied()).find(|&i| self.is_own_connector(i));
            match own.filter(|_| self.request.purpose == Purpose::Check) {
                Some(part) => self.overconstrained.from_roots += self.n_redundant(part),
                None if self.request.purpose == Purpose::Check && self.request.allow_partial => {}
                None => self.report(tree.diagnostic.clone()),
            }
        }
    }

    /// Overdetermined parts of the model's own connectors, connected or not.
    pub fn add_own_nodes(&mut self) {
        if self.request.purpose == Purpose::Check {
            self.add_nodes_in(self.tree.model);
        }
    }

    fn add_nodes_in(&mut self, inst: InstId) {
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) || !(self.is_connector(comp) || self.is_connector_inst(inst)) {
                continue;
            }
            if self.is_overdetermined_variable(comp) {
                self.graph_node(Connector::Leaf(comp, None));
            }
            for element in self.comp_elements(comp) {
                if self.is_overdetermined(element) {
                    self.graph_node(Connector::Inst(element));
                } else {
                    self.add_nodes_in(element);
                }
            }
        }
    }

    /// Whether it is part of a public connector of the model itself.
    fn is_own_connector(&mut self, part: Connector) -> bool {
        if self.is_connector_inst(self.tree.model) {
            return true;
        }
        let mut at = match part {
            Connector::Inst(inst) => inst,
            Connector::Leaf(comp, _) => self.tree[comp].owner,
        };
        while let Some(comp) = self.tree[at].owner {
            let is_public_connector = !self.tree[comp].declared.is_hidden && self.is_connector(comp);
            at = self.tree[comp].owner;
            if at == self.tree.model {
                return is_public_connector;
            }
        }
        false
    }

    /// How many more scalars an overdetermined type has than its `equalityConstraint`.
    fn n_redundant(&mut self, part: Connector) -> u64 {
        let Some(slot) = self.equality_constraint_of(part) else { return 0 };
        let function = self.function_of(slot);
        let value = self.value_of(part, Span::nowhere());
        let n_scalars = match part {
            Connector::Inst(inst) => self.n_unknowns(inst),
            Connector::Leaf(comp, _) => self.n_elements(comp),
        };
        let call = self.typed_call(function, vec![Some(value.clone()), Some(value)], Span::nowhere());
        n_scalars.saturating_sub(call.ty.n_elements().unwrap_or(0))
    }

    /// The function `equalityConstraint` of the type.
    fn equality_constraint_of(&mut self, part: Connector) -> Option<SlotId> {
        match part {
            Connector::Inst(inst) => match self.member(inst, self.words.equality_constraint) {
                Some(Member::Class(slot)) => Some(slot),
                _ => None,
            },
            Connector::Leaf(comp, _) => {
                let comp = self.actual(comp);
                self.types.leaf_types.get(&comp).and_then(|ty| ty.equality_constraint)
            }
        }
    }

    fn value_of(&mut self, part: Connector, span: Span) -> Expr {
        match (part, self.component_of(part)) {
            (Connector::Inst(inst), Some(comp)) => self.record_at(comp, inst, span),
            (_, Some(comp)) => self.whole_component(comp, span),
            (_, None) => Expr::error(span),
        }
    }

    fn n_unknowns(&mut self, inst: InstId) -> u64 {
        let mut n = 0;
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) || self.variability_of(comp) <= flat::Variability::Parameter {
                continue;
            }
            n += match self.comp_kind(comp) {
                CompKind::Leaf(_) => self.n_elements(comp),
                CompKind::Class(class) => class.elements.iter().map(|&e| self.n_unknowns(e)).sum(),
                CompKind::Error => 0,
            };
        }
        n
    }

    fn equality_constraint(&mut self, a: Connector, b: Connector, connection: &Connection) {
        let Some(slot) = self.equality_constraint_of(a) else { return };
        let function = self.function_of(slot);
        let span = connection.span;
        let left = self.value_of(a, span);
        let right = self.value_of(b, span);
        let call = self.typed_call(function, vec![Some(left), Some(right)], span);
        if call.is_error() {
            return;
        }
        let sizes: Vec<u64> = call.ty.dims.iter().filter_map(|d| d.known()).collect();
        let zero = if sizes.is_empty() { Expr::real(0.0, span) } else { fill(Expr::real(0.0, span), &sizes) };
        self.overconstrained.constraint_equations.push(flat::Equation {
            kind: EquationKind::Equality { left: zero, right: call },
            origin: Origin::Connection,
            component: connection.component.clone(),
            span,
        });
    }

    /// `Connections.isRoot(…)` and `Connections.rooted(…)`.
    pub fn graph_query(&mut self, scope: InstId, function: Builtin, call: &'a ast::Call, span: Span) -> bool {
        let Some(ast::ExprKind::Ref(reference)) = call.arguments.first().map(|e| &e.kind) else {
            self.report(d::graph_argument(span));
            return false;
        };
        let argument = self.connect_argument(scope, reference);
        let Some(part) = self.overdetermined_part(&argument) else { return false };
        let (Some(&node), Some(spanning)) = (self.overconstrained.nodes.get(&part), &self.overconstrained.spanning)
        else {
            return false;
        };
        if function == Builtin::ConnectionsIsRoot {
            return spanning.is_root(node);
        }
        match spanning.rooted(node, span) {
            Ok(value) => value,
            Err(diagnostic) => {
                self.report(diagnostic);
                false
            }
        }
    }
}
