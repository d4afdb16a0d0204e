//! `connect`: which connectors, and which of their variables (specification chapter 9).
//!
//! ```text
//! connect(r.p, g.p);     ⇒   pairs (r.p.v, g.p.v), (r.p.i, g.p.i) for `saltus-connect`
//! ```
//!
//! This runs before the other equations are looked at, because `cardinality`, `inStream` and `Connections.isRoot` ask for
//! its outcome. Connectors that do not exist (conditional components) take their connections with them.

use std::sync::Arc;

use saltus_base::Span;
use saltus_connect::{End, Face};
use saltus_flat::{self as flat, Builtin, Expr, ExprKind};
use saltus_syntax::ast;

use crate::Front;
use crate::alike_connections::Row;
use crate::component::MOST_INSTANCES;
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member};
use crate::reference::Pick;

/// One connector, no array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Connector {
    Inst(InstId),
    /// A variable that is a connector by itself; the element (row-major from 0) of an array of them.
    Leaf(CompId, Option<u64>),
}

/// An argument of `connect`: one connector or an array of them, row-major.
pub struct Resolved {
    pub dims: Vec<u64>,
    pub items: Vec<Connector>,
    /// Which of the alike components around it each item belongs to (see [`alike_connections`](crate::alike_connections)).
    pub places: Vec<u64>,
    /// A name leads into an array of alike components.
    pub is_in_alike: bool,
    pub face: Face,
    /// The variable, if all of one is named, be it an array without elements.
    pub whole: Option<CompId>,
}

/// One connection between two connectors, or a row of them in an array of alike components.
#[derive(Clone)]
pub struct Connection {
    pub ends: [(Connector, Face); 2],
    pub row: Row,
    /// The class instance that the `connect` stands in.
    pub scope: InstId,
    pub span: Span,
    pub component: Arc<str>,
}

pub enum Argument<'a> {
    Connectors(Resolved),
    /// A member that an expandable connector does not have yet.
    Missing(Missing<'a>),
    /// A conditional component that is not there.
    Absent,
    /// Reported.
    Error,
}

/// A member that an expandable connector does not have.
pub struct Missing<'a> {
    pub bus: InstId,
    pub part: &'a ast::RefPart,
    /// Nothing inside of it is asked for.
    pub is_last: bool,
    /// How many dimensions the arrays around the expandable connector have.
    pub n_outer: usize,
}

impl<'a> Front<'a> {
    /// Collects the connections of an instance and everything in it.
    pub fn collect_connections(&mut self, inst: InstId) {
        self.connections_of(inst);
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) {
                continue;
            }
            for element in self.comp_elements(comp) {
                self.collect_connections(element);
            }
        }
    }

    fn connections_of(&mut self, inst: InstId) {
        for base in self.tree[inst].members.bases.clone() {
            self.connections_of(base);
        }
        let Some(ast::ClassBody::Long(body)) = self.tree[inst].definition.map(|c| &c.body) else { return };
        for section in &body.sections {
            match section {
                ast::Section::Equations { is_initial: false, equations, .. } => self.connections_in(inst, equations),
                ast::Section::Equations { is_initial: true, equations, .. } => {
                    let connect = equations.iter().find(|e| matches!(e.kind, ast::EquationKind::Connect { .. }));
                    if let Some(connect) = connect {
                        self.report(d::connect_in_initial(connect.span));
                    }
                }
                _ => {}
            }
        }
    }

    pub fn connections_in(&mut self, scope: InstId, equations: &'a [ast::Equation]) {
        for equation in equations {
            match &equation.kind {
                ast::EquationKind::Connect { from, to } => self.connect(scope, from, to, equation.span),
                ast::EquationKind::Call(call) if self.is_graph_operator(call) => {
                    self.graph_equation(scope, call, equation.span);
                }
                ast::EquationKind::Call(call) if self.names_states(call) => self.note_transition(scope, call),
                ast::EquationKind::For { indices, body } if self.has_connections(body) => {
                    if self.connect_in_loop(scope, indices, body) {
                        continue;
                    }
                    self.for_equation(scope, indices, body, &mut |front, body| front.connections_in(scope, body));
                }
                ast::EquationKind::If { branches, otherwise } => {
                    let has = branches.iter().any(|(_, b)| self.has_connections(b))
                        || otherwise.as_ref().is_some_and(|o| self.has_connections(o));
                    if has {
                        self.conditional_connections(scope, branches, otherwise.as_deref());
                    }
                }
                ast::EquationKind::When { branches } => {
                    if let Some((_, body)) = branches.iter().find(|(_, b)| self.has_connections(b)) {
                        let span = body.first().map_or(equation.span, |e| e.span);
                        self.report(d::connect_in_when(&self.connection_operator(body), span));
                    }
                }
                _ => {}
            }
        }
    }

    fn has_connections(&self, equations: &[ast::Equation]) -> bool {
        self.first_connection(equations).is_some()
    }

    /// What stands for connections and transitions, which are fixed: the first such equation.
    fn first_connection<'e>(&self, equations: &'e [ast::Equation]) -> Option<&'e ast::Equation> {
        equations.iter().find_map(|e| match &e.kind {
            ast::EquationKind::Connect { .. } => Some(e),
            ast::EquationKind::Call(call) => (self.is_graph_operator(call) || self.is_transition(call)).then_some(e),
            ast::EquationKind::For { body, .. } => self.first_connection(body),
            ast::EquationKind::If { branches, otherwise } => {
                let bodies = branches.iter().map(|(_, body)| body).chain(otherwise);
                bodies.into_iter().find_map(|body| self.first_connection(body))
            }
            _ => None,
        })
    }

    /// `connect`, `Connections.branch` or `transition`, as messages call the first of them in some equations.
    fn connection_operator(&self, equations: &[ast::Equation]) -> String {
        match self.first_connection(equations).map(|e| &e.kind) {
            Some(ast::EquationKind::Call(call)) => {
                let names: Vec<&str> = call.name.parts.iter().map(|part| self.text(part.name.name)).collect();
                names.join(".")
            }
            _ => "connect".to_owned(),
        }
    }

    fn conditional_connections(
        &mut self,
        scope: InstId,
        branches: &'a [(ast::Expr, Vec<ast::Equation>)],
        otherwise: Option<&'a [ast::Equation]>,
    ) {
        for (condition, body) in branches {
            let typed = self.condition(scope, condition, "if");
            match self.evaluate_structural(&typed) {
                Ok(saltus_eval::Value::Boolean(true)) => return self.connections_in(scope, body),
                Ok(_) => {}
                Err(why) => {
                    if !typed.is_error() {
                        // It may also be in a branch further down.
                        let mut bodies = branches.iter().map(|(_, body)| body.as_slice()).chain(otherwise);
                        let body = bodies.find(|body| self.has_connections(body)).unwrap_or_default();
                        let operator = self.connection_operator(body);
                        self.report_eval(&typed, why, |w| d::connect_condition(&operator, w, condition.span));
                    }
                    return;
                }
            }
        }
        self.connections_in(scope, otherwise.unwrap_or(&[]));
    }

    pub fn connect(&mut self, scope: InstId, from: &'a ast::ComponentRef, to: &'a ast::ComponentRef, span: Span) {
        if self.is_deselected_connection(scope, from, to) {
            return;
        }
        let component = self.component_path(scope);
        let mut a = self.connect_argument(scope, from);
        let mut b = self.connect_argument(scope, to);
        self.check_connect_form(scope, from);
        self.check_connect_form(scope, to);
        let are_connectors = self.are_connectors(&a, from) & self.are_connectors(&b, to);
        if !are_connectors {
            return;
        }
        let is_alike = |argument: &Argument| matches!(argument, Argument::Connectors(c) if c.is_in_alike);
        let is_missing = |argument: &Argument| matches!(argument, Argument::Missing(_));
        if is_missing(&a) && is_alike(&b) || is_alike(&a) && is_missing(&b) {
            return self.refuse_templates();
        }
        // Each round adds one member.
        loop {
            match (&a, &b) {
                (Argument::Missing(missing), Argument::Connectors(other)) if missing.is_last => {
                    if !self.augment(scope, missing, other) {
                        return;
                    }
                    a = self.connect_argument(scope, from);
                }
                (Argument::Connectors(other), Argument::Missing(missing)) if missing.is_last => {
                    if !self.augment(scope, missing, other) {
                        return;
                    }
                    b = self.connect_argument(scope, to);
                }
                (Argument::Missing(missing), Argument::Missing(_) | Argument::Connectors(_))
                | (Argument::Connectors(_), Argument::Missing(missing)) => {
                    return self.defer(scope, [from, to], missing, span);
                }
                _ => break,
            }
        }
        if let (Argument::Connectors(a), Argument::Connectors(b)) = (a, b) {
            if [from, to].into_iter().all(|end| self.is_of_outer(scope, end)) {
                self.report(d::connects_outers(&self.ref_text(from), &self.ref_text(to), span));
            }
            self.connect_all(scope, a, b, span, &component);
        }
    }

    /// Whether the first part of a name is an element that is declared elsewhere.
    fn is_of_outer(&mut self, scope: InstId, written: &ast::ComponentRef) -> bool {
        let first = written.parts.first().and_then(|part| self.lookup_name(scope, part.name.name));
        matches!(first, Some(Member::Component(comp)) if {
            let declared = &self.tree[comp].declared;
            declared.is_outer && !declared.is_inner
        })
    }

    /// Reports an argument that names something else. All members of an expandable connector are connectors.
    fn are_connectors(&mut self, argument: &Argument<'a>, written: &ast::ComponentRef) -> bool {
        let Argument::Connectors(Resolved { items, .. }) = argument else { return true };
        let is_connector = match items.first() {
            Some(&Connector::Inst(inst)) => {
                let owner = self.tree[inst].owner.map(|c| self.tree[c].owner);
                self.is_connector_inst(inst) || owner.is_some_and(|o| self.is_expandable(o))
            }
            Some(&Connector::Leaf(comp, _)) => {
                let owner = self.tree[comp].owner;
                self.is_connector(comp) || self.is_expandable(owner)
            }
            None => true,
        };
        if !is_connector {
            self.report(d::not_a_connector(&self.ref_text(written), written.span));
        }
        is_connector
    }

    /// `connect` reaches the connectors of the class and those of its components, not further in (specification 9.1).
    fn check_connect_form(&mut self, scope: InstId, written: &'a ast::ComponentRef) {
        let [first, second, _, ..] = written.parts.as_slice() else { return };
        let Some(Member::Component(comp)) = self.lookup_name(scope, first.name.name) else { return };
        let comp = self.actual(comp);
        if !self.is_present(comp) || self.is_connector(comp) {
            return;
        }
        let Some(&inside) = self.comp_elements(comp).first() else { return };
        if let Some(Member::Component(inner)) = self.member(inside, second.name.name)
            && !self.tree[inner].declared.is_outer
            && self.is_present(inner)
            && !self.is_connector(inner)
            && matches!(self.comp_kind(inner), CompKind::Class(_))
        {
            self.report(d::connect_too_deep(&self.ref_text(written), written.span));
        }
    }

    fn connect_all(&mut self, scope: InstId, a: Resolved, b: Resolved, span: Span, component: &Arc<str>) {
        if a.dims != b.dims {
            self.report(d::connect_sizes(&a.dims, &b.dims, span));
            return;
        }
        let is_alike = a.is_in_alike || b.is_in_alike;
        let pairs = a.items.iter().zip(&b.items).zip(a.places.iter().zip(&b.places));
        for ((&x, &y), (&i, &j)) in pairs {
            if !self.are_both_expandable_or_none(x, y, span) {
                return;
            }
            for end in [x, y] {
                *self.network.cardinalities.entry(end).or_insert(0) += 1;
            }
            let (ends, row) = ([(x, a.face), (y, b.face)], Row::one([i, j]));
            let connection = Connection { ends, row, scope, span, component: component.clone() };
            match is_alike {
                true => self.network.connect_alike(connection),
                false => self.network.connections.push(connection),
            }
        }
    }

    /// Expandable connectors are connected with expandable connectors only (specification 9.1.3).
    fn are_both_expandable_or_none(&mut self, x: Connector, y: Connector, span: Span) -> bool {
        let mut is_bus = |end: Connector| matches!(end, Connector::Inst(inst) if self.is_expandable(inst));
        let (bus, other) = match (is_bus(x), is_bus(y)) {
            (true, false) => (x, y),
            (false, true) => (y, x),
            _ => return true,
        };
        let (bus, other) = (self.connector_name(bus), self.connector_name(other));
        self.report(d::expandable_with_other(&bus, &other, span));
        false
    }

    /// What an argument of `connect` (or `cardinality`, or `Connections.root`) means.
    pub fn connect_argument(&mut self, scope: InstId, reference: &'a ast::ComponentRef) -> Argument<'a> {
        let Some(first) = reference.parts.first() else { return Argument::Error };
        let Some(Member::Component(comp)) = self.lookup_name(scope, first.name.name) else {
            if self.is_explained(scope, first.name.name) {
                return Argument::Error;
            }
            let name = self.text(first.name.name);
            let nearest = self.nearest_name(scope, name, true);
            let scope_name = self.scope_name(scope);
            self.report(d::name_not_found(name, &scope_name, nearest.as_deref(), first.name.span));
            return Argument::Error;
        };
        let face = self.face(comp);
        let mut found =
            Resolved { dims: Vec::new(), items: Vec::new(), places: Vec::new(), is_in_alike: false, face, whole: None };
        match self.walk_connectors(scope, comp, &reference.parts, &mut found, 0, 0) {
            Walk::Done => {
                if found.items.is_empty() && found.dims.iter().all(|&n| n > 0) {
                    return Argument::Absent;
                }
                Argument::Connectors(found)
            }
            Walk::Absent => Argument::Absent,
            Walk::Missing(bus, at, n_outer) => {
                let (part, is_last) = (&reference.parts[at], at + 1 == reference.parts.len());
                Argument::Missing(Missing { bus, part, is_last, n_outer })
            }
            Walk::Error => Argument::Error,
        }
    }

    /// How the class that a name stands in sees the connectors that it leads to.
    pub fn face(&mut self, first: CompId) -> Face {
        let is_outer = self.tree[first].declared.is_outer;
        if self.is_connector(first) && !is_outer { Face::Outside } else { Face::Inside }
    }

    fn walk_connectors(
        &mut self,
        scope: InstId,
        comp: CompId,
        parts: &'a [ast::RefPart],
        found: &mut Resolved,
        at: usize,
        place: u64,
    ) -> Walk {
        self.record(parts[at].name.span, Member::Component(comp));
        let comp = self.actual(comp);
        if !self.is_present(comp) {
            return Walk::Absent;
        }
        self.comp_kind(comp);
        let part = &parts[at];
        if !self.grow_to_subscripts(scope, comp, &part.subscripts, part.name.span) {
            return Walk::Error;
        }
        let kind = self.comp_kind(comp);
        let sizes = self.comp_dims(comp);
        let counters = if let CompKind::Class(class) = &kind { &class.counters[..] } else { &[] };
        let is_alike = !counters.is_empty();
        if self.tree[scope].outer.iter().any(|own| counters.contains(own)) {
            self.refuse_templates();
            return Walk::Error;
        }
        found.is_in_alike |= is_alike;
        let Some(picks) = self.picks(scope, comp, &sizes, &part.subscripts, part.name.span) else {
            return Walk::Error;
        };
        let mut positions = vec![0u64];
        let mut own_dims = Vec::new();
        for (pick, &size) in picks.iter().zip(sizes.iter()) {
            let chosen: Vec<u64> = match pick {
                Pick::At(i) => vec![*i],
                Pick::List(list) => {
                    own_dims.push(list.len() as u64);
                    list.clone()
                }
                Pick::Dynamic(e) => {
                    let name = self.comp_name(comp);
                    self.report(d::connect_subscript(&name, e.span));
                    return Walk::Error;
                }
            };
            let n_positions = positions.len() as u64 * chosen.len() as u64;
            if n_positions > MOST_INSTANCES {
                let name = self.comp_name(comp);
                self.report(d::too_many_instances(&name, n_positions, part.name.span));
                return Walk::Error;
            }
            positions = positions.iter().flat_map(|p| chosen.iter().map(move |i| p * size + i - 1)).collect();
        }
        found.dims.extend(own_dims);
        match kind {
            CompKind::Error => Walk::Error,
            CompKind::Leaf(_) => {
                if let Some(next) = parts.get(at + 1) {
                    let name = self.comp_name(comp);
                    self.report(d::no_member(self.text(next.name.name), &name, None, next.name.span));
                    return Walk::Error;
                }
                let is_whole = sizes.is_empty();
                found.items.extend(positions.iter().map(|&p| Connector::Leaf(comp, (!is_whole).then_some(p))));
                found.places.resize(found.items.len(), place);
                found.whole = Some(comp).filter(|_| part.subscripts.is_empty());
                Walk::Done
            }
            CompKind::Class(class) => {
                let n_alike = sizes.iter().product::<u64>();
                let element = |p: u64| match is_alike {
                    true => (class.elements[0], place.saturating_mul(n_alike).saturating_add(p)),
                    false => (class.elements[p as usize], place),
                };
                let Some(next) = parts.get(at + 1) else {
                    for (inst, place) in positions.iter().map(|&p| element(p)) {
                        found.items.push(Connector::Inst(inst));
                        found.places.push(place);
                    }
                    return Walk::Done;
                };
                let outer_dims = found.dims.len();
                for (inst, place) in positions.iter().map(|&p| element(p)) {
                    found.dims.truncate(outer_dims);
                    let member = self.member(inst, next.name.name);
                    if let Some(member) = member {
                        self.check_visible_in(comp, member, &next.name);
                    }
                    match member {
                        Some(Member::Component(inner)) if !self.is_unborn(inst, inner) => {
                            match self.walk_connectors(scope, inner, parts, found, at + 1, place) {
                                Walk::Done => {}
                                other => return other,
                            }
                        }
                        _ if self.is_expandable(inst) => return Walk::Missing(inst, at + 1, outer_dims),
                        None if self.tree[inst].members.is_incomplete => return Walk::Error,
                        _ => {
                            let (name, inner) = (self.comp_name(comp), self.text(next.name.name));
                            let nearest = self.nearest_name(inst, inner, false);
                            self.report(d::no_member(inner, &name, nearest.as_deref(), next.name.span));
                            return Walk::Error;
                        }
                    }
                }
                Walk::Done
            }
        }
    }

    /// Whether a component is a connector.
    pub fn is_connector(&mut self, comp: CompId) -> bool {
        match self.comp_kind(comp) {
            CompKind::Leaf(leaf) => leaf.is_connector,
            CompKind::Class(class) => match class.elements.first() {
                Some(&inst) => self.is_connector_inst(inst),
                None => false,
            },
            CompKind::Error => false,
        }
    }

    pub fn is_connector_inst(&mut self, inst: InstId) -> bool {
        let kind = self.tree[inst].definition.map(|c| c.kind);
        let is = |k| matches!(k, ast::ClassKind::Connector | ast::ClassKind::ExpandableConnector);
        kind.is_some_and(is) || is(self.defining_class(inst).1)
    }

    /// Hands the variables of all connections over, part by part.
    pub fn pair_up(&mut self) {
        for k in 0..self.network.connections.len() {
            let connection = self.network.connections[k].clone();
            let [a, b] = connection.ends;
            self.pair_connectors(a, b, &connection);
        }
    }

    pub fn pair_connectors(&mut self, a: (Connector, Face), b: (Connector, Face), connection: &Connection) {
        match (a.0, b.0) {
            (Connector::Leaf(x, None), Connector::Leaf(_, None)) if self.is_overdetermined_variable(x) => {
                self.graph_connection(a, b, connection);
            }
            (Connector::Inst(x), Connector::Inst(_)) if self.is_overdetermined(x) => {
                self.graph_connection(a, b, connection);
            }
            _ => self.pair_parts(a, b, connection),
        }
    }

    /// The same for two that are not, or no longer, overdetermined.
    pub fn pair_parts(&mut self, a: (Connector, Face), b: (Connector, Face), connection: &Connection) {
        match (a.0, b.0) {
            (Connector::Leaf(x, i), Connector::Leaf(y, j)) if self.are_alike([x, y]) => {
                self.pair_alike((x, i, a.1), (y, j, b.1), connection);
            }
            (Connector::Leaf(x, i), Connector::Leaf(y, j)) => {
                if let (Some(x), Some(y)) = (self.end(x, i, a.1), self.end(y, j, b.1)) {
                    self.network.sets.connect(x, y, connection.span, connection.component.clone());
                }
            }
            (Connector::Inst(x), Connector::Inst(y)) => self.pair_members((x, a.1), (y, b.1), connection),
            _ => {
                let (a, b) = (self.connector_name(a.0), self.connector_name(b.0));
                self.report(d::connect_kinds(&a, &b, connection.span));
            }
        }
    }

    /// Connects the parts of two connectors that have the same name.
    pub fn pair_members(&mut self, a: (InstId, Face), b: (InstId, Face), connection: &Connection) {
        let members = self.tree[a.0].members.components.clone();
        for comp in members {
            if !self.is_present(comp) {
                continue;
            }
            let name = self.tree[comp].name;
            let Some(Member::Component(other)) = self.member(b.0, name) else {
                if !self.is_expandable(b.0) {
                    self.unmatched_member(a.0, b.0, comp, connection.span);
                }
                continue;
            };
            if !self.is_present(other) {
                continue;
            }
            match (self.comp_kind(comp), self.comp_kind(other)) {
                (CompKind::Leaf(_), CompKind::Leaf(_))
                    if self.pair_bus_arrays((comp, a.1), (other, b.1), connection) => {}
                (CompKind::Leaf(_), CompKind::Leaf(_)) => {
                    self.pair_connectors(
                        (Connector::Leaf(comp, None), a.1),
                        (Connector::Leaf(other, None), b.1),
                        connection,
                    );
                }
                (CompKind::Class(x), CompKind::Class(y)) => {
                    if x.elements.len() != y.elements.len() {
                        let (x, y) = (self.comp_dims(comp), self.comp_dims(other));
                        self.report(d::connect_sizes(&x, &y, connection.span));
                        continue;
                    }
                    for (&x, &y) in x.elements.iter().zip(&y.elements) {
                        self.pair_connectors((Connector::Inst(x), a.1), (Connector::Inst(y), b.1), connection);
                    }
                }
                (CompKind::Error, _) | (_, CompKind::Error) => {}
                _ => {
                    let (x, y) = (self.comp_name(comp), self.comp_name(other));
                    self.report(d::connect_kinds(&x, &y, connection.span));
                }
            }
        }
        for comp in self.tree[b.0].members.components.clone() {
            let name = self.tree[comp].name;
            if self.is_present(comp) && self.member(a.0, name).is_none() && !self.is_expandable(a.0) {
                self.unmatched_member(b.0, a.0, comp, connection.span);
            }
        }
    }

    fn unmatched_member(&mut self, inst: InstId, other: InstId, comp: CompId, span: Span) {
        let (a, b) = (self.connector_name(Connector::Inst(inst)), self.connector_name(Connector::Inst(other)));
        let name = self.text(self.tree[comp].name);
        self.report(d::connector_members(name, &a, &b, span));
    }

    fn end(&mut self, comp: CompId, element: Option<u64>, face: Face) -> Option<End> {
        let comp = self.actual(comp);
        self.describe_connector(comp);
        let var = self.tree[comp].var?;
        Some(End { var, element, face })
    }

    pub fn connector_name(&self, connector: Connector) -> String {
        match connector {
            Connector::Inst(inst) => self.component_path(inst).to_string(),
            Connector::Leaf(comp, None) => self.comp_name(comp),
            Connector::Leaf(comp, Some(i)) => {
                let name = self.comp_name(comp);
                match &self.tree[comp].memo.dims {
                    crate::instance::Memo::Known(dims) => flat::element_name(&name, dims, i),
                    _ => name,
                }
            }
        }
    }

    /// `cardinality(c)`: the number of `connect`s that name the connector.
    pub fn cardinality(&mut self, scope: InstId, call: &'a ast::Call) -> Option<i64> {
        let ast::ExprKind::Ref(reference) = &call.arguments.first()?.kind else { return None };
        match self.connect_argument(scope, reference) {
            Argument::Connectors(c) => {
                self.refuse_alike(&c);
                if !c.dims.is_empty() {
                    let name = self.ref_text(reference);
                    self.report(d::cardinality_argument(&name, reference.span));
                }
                Some(c.items.iter().map(|i| self.network.cardinalities.get(i).copied().unwrap_or(0)).sum())
            }
            _ => Some(0),
        }
    }

    /// `inStream` and `actualStream` of a variable, an element, or an array of them.
    pub fn stream_value(&mut self, function: Builtin, argument: Expr, span: Span) -> Expr {
        let Some(streams) = self.network.streams.take() else {
            let ty = argument.ty.clone();
            return Expr::builtin(function, vec![argument], ty, span);
        };
        let value = self.stream_of(&streams, function, &argument, span);
        self.network.streams = Some(streams);
        value
    }

    fn stream_of(&mut self, streams: &saltus_connect::StreamTable, function: Builtin, e: &Expr, span: Span) -> Expr {
        let (var, element) = match &e.kind {
            ExprKind::Array(items) => {
                let items = items.iter().map(|e| self.stream_of(streams, function, e, span)).collect();
                return Expr::new(ExprKind::Array(items), e.ty.clone(), span);
            }
            ExprKind::Var(var) => (*var, None),
            ExprKind::Index { base, subscripts } => match (&base.kind, position(&base.ty, subscripts)) {
                (ExprKind::Var(var), Some(p)) => (*var, Some(p)),
                _ => return self.not_a_stream(function, e, span),
            },
            ExprKind::Error => return Expr::error(span),
            _ => return self.not_a_stream(function, e, span),
        };
        let comp = self.tree.vars[var];
        if self.tree[comp].prefixes.connection != Some(ast::Connection::Stream) {
            return self.not_a_stream(function, e, span);
        }
        self.describe_connector(comp);
        match function {
            Builtin::InStream => streams.in_stream(&self.network.connector_variables, var, element, span),
            _ => streams.actual_stream(&self.network.connector_variables, var, element, span),
        }
    }

    fn not_a_stream(&mut self, function: Builtin, e: &Expr, span: Span) -> Expr {
        if !e.is_error() {
            let text = self.expr_text(e);
            self.report(d::not_a_stream(function.name(), &text, span));
        }
        Expr::error(span)
    }
}

/// Row-major position of constant subscripts.
fn position(ty: &flat::Type, subscripts: &[flat::Subscript]) -> Option<u64> {
    if subscripts.len() != ty.rank() {
        return None;
    }
    let mut at = 0;
    for (subscript, dim) in subscripts.iter().zip(&ty.dims) {
        let flat::Subscript::Index(Expr { kind: ExprKind::Integer(i), .. }) = subscript else { return None };
        at = at * dim.known()? + u64::try_from(*i).ok()?.checked_sub(1)?;
    }
    Some(at)
}

enum Walk {
    Done,
    Absent,
    /// The expandable connector, which part it does not have, and how many dimensions are around it.
    Missing(InstId, usize, usize),
    Error,
}
