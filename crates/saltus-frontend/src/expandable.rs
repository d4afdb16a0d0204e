//! Expandable connectors: they have the members that are connected to them (specification 9.1.3).
//!
//! ```text
//! expandable connector Bus end Bus;
//! connect(bus.speed, sensor.w);      ⇒   bus gets a Real `speed`
//! ```
//!
//! Members that are declared in an expandable connector but not connected do not exist.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::{Name, Span};
use saltus_connect::Face;
use saltus_syntax::ast;

use crate::Front;
use crate::connection::{Connection, Connector, Resolved};
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member, Memo};
use crate::modifier::Mod;

/// A connection between two members that neither bus has yet.
pub struct Pending {
    pub buses: [(InstId, Name, Face); 2],
    pub span: Span,
    pub component: Arc<str>,
}

impl<'a> Front<'a> {
    pub fn is_expandable(&mut self, inst: InstId) -> bool {
        let kind = self.tree[inst].definition.map(|c| c.kind);
        kind == Some(ast::ClassKind::ExpandableConnector)
            || self.defining_class(inst).1 == ast::ClassKind::ExpandableConnector
    }

    /// A declared member of an expandable connector that nothing has been connected to yet is as good as missing when
    /// its declaration does not fix its type.
    pub fn is_unborn(&mut self, _inst: InstId, comp: CompId) -> bool {
        matches!(self.tree[comp].memo.kind, Memo::Known(CompKind::Error))
    }

    /// Adds the member that a connection asks for, made like the connector on the other side.
    pub fn augment(
        &mut self,
        scope: InstId,
        bus: InstId,
        part: &'a ast::RefPart,
        face: Face,
        other: &Resolved,
    ) -> Option<Resolved> {
        let name = part.name.name;
        let &like = other.items.first()?;
        let mut dims = other.dims.clone();
        let mut subscripts = Vec::new();
        for subscript in &part.subscripts {
            let ast::Subscript::Expr(e) = subscript else { return None };
            let typed = self.expression(scope, e);
            match self.structural_quietly(&typed) {
                Some(saltus_eval::Value::Integer(i)) if i > 0 => subscripts.push(i as u64),
                _ => {
                    self.report(d::connect_subscript(self.text(name), e.span));
                    return None;
                }
            }
        }
        let sizes: Vec<u64> = if subscripts.is_empty() { std::mem::take(&mut dims) } else { subscripts.clone() };
        let comp = self.add_member(bus, name, like, sizes.clone())?;
        let items = match self.comp_kind(comp) {
            CompKind::Leaf(_) if sizes.is_empty() => vec![Connector::Leaf(comp, None)],
            CompKind::Leaf(_) if !subscripts.is_empty() => {
                vec![Connector::Leaf(comp, Some(subscripts.iter().product::<u64>().saturating_sub(1)))]
            }
            CompKind::Leaf(_) => (0..sizes.iter().product()).map(|k| Connector::Leaf(comp, Some(k))).collect(),
            CompKind::Class(class) if subscripts.is_empty() => {
                class.elements.iter().map(|&i| Connector::Inst(i)).collect()
            }
            CompKind::Class(class) => vec![Connector::Inst(*class.elements.last()?)],
            CompKind::Error => return None,
        };
        Some(Resolved { dims: if subscripts.is_empty() { sizes } else { dims }, items, face })
    }

    /// A new member of an expandable connector with the type of `like`.
    fn add_member(&mut self, bus: InstId, name: Name, like: Connector, sizes: Vec<u64>) -> Option<CompId> {
        let model = match like {
            Connector::Leaf(comp, _) => comp,
            Connector::Inst(inst) => self.tree[inst].owner?,
        };
        let (clause, declaration, scope) =
            (self.tree[model].declared.clause, self.tree[model].declared.declaration, self.tree[model].declared.scope);
        let modifier = self.tree[model].modifier.as_ref().and_then(|m| m.without_value());
        let comp = self.new_comp(bus, clause, declaration, None, false);
        let prefixes = self.tree[model].prefixes;
        let c = &mut self.tree[comp];
        c.name = name;
        c.declared.scope = scope;
        c.modifier = modifier.map(|m| Rc::new(Mod { value: None, ..(*m).clone() }));
        c.declared.condition = None;
        c.declared.is_inner = false;
        c.declared.is_outer = false;
        c.memo.dims = Memo::Known(sizes.into());
        c.prefixes.variability = prefixes.variability;
        c.prefixes.direction = None;
        c.prefixes.connection = prefixes.connection;
        c.prefixes.is_final = false;
        self.tree[bus].members.names.insert(name, Member::Component(comp));
        self.tree[bus].members.absent.remove(&name);
        self.tree[bus].members.components.push(comp);
        self.comp_kind(comp);
        // The type behind a redeclared or short class may bring a direction; a member of a bus is neither.
        self.tree[comp].prefixes.direction = None;
        Some(comp)
    }

    /// Gives connected expandable connectors the same members, until nothing changes any more.
    pub fn complete_buses(&mut self) {
        loop {
            let mut changed = self.retry_pending();
            for k in 0..self.network.connections.len() {
                let [(a, _), (b, _)] = self.network.connections[k].ends;
                if let (Connector::Inst(a), Connector::Inst(b)) = (a, b)
                    && self.is_expandable(a)
                    && self.is_expandable(b)
                {
                    changed |= self.share_members(a, b);
                    changed |= self.share_members(b, a);
                }
            }
            if !changed {
                break;
            }
        }
        for pending in std::mem::take(&mut self.network.pending_buses) {
            let name = self.text(pending.buses[0].1);
            self.report(d::bus_member_unknown(name, pending.span));
        }
        self.drop_unconnected_members();
    }

    fn retry_pending(&mut self) -> bool {
        let mut changed = false;
        for pending in std::mem::take(&mut self.network.pending_buses) {
            let [(a, name_a, _), (b, name_b, _)] = pending.buses;
            let (x, y) = (self.member(a, name_a), self.member(b, name_b));
            let (x, y) = match (x, y) {
                (Some(Member::Component(x)), Some(Member::Component(y))) => (Some(x), Some(y)),
                (Some(Member::Component(x)), None) => {
                    let sizes = self.comp_dims(x).to_vec();
                    let like = self.first_connector(x);
                    (Some(x), like.and_then(|l| self.add_member(b, name_b, l, sizes)))
                }
                (None, Some(Member::Component(y))) => {
                    let sizes = self.comp_dims(y).to_vec();
                    let like = self.first_connector(y);
                    (like.and_then(|l| self.add_member(a, name_a, l, sizes)), Some(y))
                }
                _ => (None, None),
            };
            let (Some(x), Some(y)) = (x, y) else {
                self.network.pending_buses.push(pending);
                continue;
            };
            changed = true;
            let (xs, ys) = (self.all_connectors(x), self.all_connectors(y));
            for (x, y) in xs.into_iter().zip(ys) {
                let ends = [(x, pending.buses[0].2), (y, pending.buses[1].2)];
                self.network.connections.push(Connection {
                    ends,
                    span: pending.span,
                    component: pending.component.clone(),
                });
            }
        }
        changed
    }

    fn first_connector(&mut self, comp: CompId) -> Option<Connector> {
        self.all_connectors(comp).first().copied()
    }

    fn all_connectors(&mut self, comp: CompId) -> Vec<Connector> {
        match self.comp_kind(comp) {
            CompKind::Leaf(_) => vec![Connector::Leaf(comp, None)],
            CompKind::Class(class) => class.elements.iter().map(|&i| Connector::Inst(i)).collect(),
            CompKind::Error => Vec::new(),
        }
    }

    /// Adds the members of `from` to `to`.
    fn share_members(&mut self, from: InstId, to: InstId) -> bool {
        let mut changed = false;
        for comp in self.tree[from].members.components.clone() {
            let name = self.tree[comp].name;
            match self.member(to, name) {
                Some(Member::Component(other)) => {
                    // Nested buses share their members too.
                    let (xs, ys) = (self.comp_elements(comp), self.comp_elements(other));
                    for (x, y) in xs.into_iter().zip(ys) {
                        if self.is_expandable(x) && self.is_expandable(y) {
                            changed |= self.share_members(x, y);
                        }
                    }
                }
                Some(Member::Class(_)) => {}
                None => {
                    let sizes = self.comp_dims(comp).to_vec();
                    if let Some(like) = self.first_connector(comp)
                        && self.add_member(to, name, like, sizes).is_some()
                    {
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    /// Declared members of expandable connectors that no connection reaches.
    fn drop_unconnected_members(&mut self) {
        let mut reached: HashSet<CompId> = HashSet::new();
        let mut todo: Vec<(Connector, Connector)> = Vec::new();
        let mut buses: Vec<InstId> = Vec::new();
        for connection in &self.network.connections {
            let [(a, _), (b, _)] = connection.ends;
            todo.push((a, b));
        }
        // A connection between two buses reaches a member only if something else reaches it on either side, so direct
        // connections come first and bus-to-bus ones spread what they found.
        let mut between: Vec<(InstId, InstId)> = Vec::new();
        for (a, b) in todo {
            match (a, b) {
                (Connector::Inst(x), Connector::Inst(y)) if self.is_expandable(x) || self.is_expandable(y) => {
                    between.push((x, y));
                    buses.extend([x, y]);
                }
                _ => {}
            }
            for end in [a, b] {
                match end {
                    Connector::Leaf(comp, _) => {
                        reached.insert(comp);
                    }
                    Connector::Inst(inst) => {
                        if let Some(owner) = self.tree[inst].owner {
                            reached.insert(owner);
                        }
                    }
                }
            }
        }
        loop {
            let before = reached.len();
            for &(x, y) in &between {
                for (from, to) in [(x, y), (y, x)] {
                    for comp in self.tree[from].members.components.clone() {
                        let name = self.tree[comp].name;
                        let from_is_bus = self.is_expandable(from);
                        if (reached.contains(&comp) || !from_is_bus)
                            && let Some(Member::Component(other)) = self.member(to, name)
                        {
                            reached.insert(comp);
                            reached.insert(other);
                        }
                    }
                }
            }
            if reached.len() == before {
                break;
            }
        }
        for bus in self.all_buses() {
            for comp in self.tree[bus].members.components.clone() {
                let is_nested_bus = self.comp_elements(comp).first().is_some_and(|&inst| self.is_expandable(inst));
                let is_fixed = matches!(
                    self.tree[comp].prefixes.variability,
                    Some(ast::Variability::Constant | ast::Variability::Parameter)
                );
                if !reached.contains(&comp) && !is_nested_bus && !is_fixed {
                    self.tree[comp].memo.is_present = Memo::Known(false);
                }
            }
        }
    }

    /// All expandable connectors of the model.
    fn all_buses(&mut self) -> Vec<InstId> {
        let mut buses = Vec::new();
        let mut todo = vec![self.tree.model];
        while let Some(inst) = todo.pop() {
            if self.is_expandable(inst) {
                buses.push(inst);
            }
            for comp in self.tree[inst].members.components.clone() {
                if self.is_instantiated(comp) {
                    todo.extend(self.comp_elements(comp));
                }
            }
        }
        buses
    }
}
