//! Which members of expandable connectors exist: those that a connection reaches (specification 9.1.3).
//!
//! ```text
//! expandable connector Bus      connect(bus.x, a.y);     bus.x exists, and so it does in every bus that is connected to this one;
//!   Real x, z, v[3];            connect(bus.v[2], b.y);  bus.z does not; bus.v[1] and bus.v[3] are 0, nobody may use them
//! end Bus;
//! ```

use std::collections::HashSet;
use std::sync::Arc;

use saltus_base::Span;
use saltus_connect::Face;
use saltus_flat::{self as flat, BaseType, EquationKind, Expr, ExprKind, Origin};
use saltus_syntax::ast;

use crate::Front;
use crate::component::unravel;
use crate::connection::{Connection, Connector};
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member, Memo};

impl<'a> Front<'a> {
    /// Removes what no connection reaches.
    pub fn drop_unconnected_members(&mut self) {
        let mut reached: HashSet<Connector> = HashSet::new();
        let mut between: Vec<(InstId, InstId)> = Vec::new();
        for k in 0..self.network.connections.len() {
            let [(a, _), (b, _)] = self.network.connections[k].ends;
            if let (Connector::Inst(x), Connector::Inst(y)) = (a, b)
                && self.is_expandable(x)
                && self.is_expandable(y)
            {
                between.push((x, y));
            }
            for end in [a, b] {
                self.reach(end, &mut reached);
            }
        }
        // A connection between two buses reaches a member only if something else reaches it on either side.
        loop {
            let n_before = reached.len();
            for &(x, y) in &between {
                self.spread(x, y, &mut reached);
            }
            if reached.len() == n_before {
                break;
            }
        }
        for bus in self.all_buses() {
            for comp in self.tree[bus].members.components.clone() {
                let is_fixed = matches!(
                    self.tree[comp].prefixes.variability,
                    Some(ast::Variability::Constant | ast::Variability::Parameter)
                );
                if !is_fixed && self.is_present(comp) {
                    self.drop_unreached(comp, &reached);
                }
            }
        }
    }

    /// A connector that is connected, and everything it is part of.
    fn reach(&self, end: Connector, reached: &mut HashSet<Connector>) {
        reached.insert(end);
        let mut owner = match end {
            Connector::Leaf(comp, _) => Some(comp),
            Connector::Inst(inst) => self.tree[inst].owner,
        };
        while let Some(comp) = owner {
            let around = self.tree[comp].owner;
            reached.insert(Connector::Inst(around));
            owner = self.tree[around].owner;
        }
    }

    /// What exists in one of two connected buses exists in the other.
    fn spread(&mut self, x: InstId, y: InstId, reached: &mut HashSet<Connector>) {
        for comp in self.tree[x].members.components.clone() {
            let Some(Member::Component(other)) = self.member(y, self.tree[comp].name) else { continue };
            let (ours, theirs) = (self.connectors_of(comp), self.connectors_of(other));
            for (a, b) in ours.into_iter().zip(theirs) {
                if is_reached(a, reached) || is_reached(b, reached) {
                    reached.extend([a, b]);
                }
                if let (Connector::Inst(a), Connector::Inst(b)) = (a, b)
                    && self.is_expandable(a)
                    && self.is_expandable(b)
                {
                    self.spread(a, b, reached);
                }
            }
        }
    }

    /// A component of a connector, element by element.
    fn connectors_of(&mut self, comp: CompId) -> Vec<Connector> {
        match self.comp_kind(comp) {
            CompKind::Leaf(_) => {
                let dims = self.comp_dims(comp);
                match dims.is_empty() {
                    true => vec![Connector::Leaf(comp, None)],
                    false => (0..dims.iter().product()).map(|p| Connector::Leaf(comp, Some(p))).collect(),
                }
            }
            CompKind::Class(class) => class.elements.iter().map(|&i| Connector::Inst(i)).collect(),
            CompKind::Error => Vec::new(),
        }
    }

    fn drop_unreached(&mut self, comp: CompId, reached: &HashSet<Connector>) {
        let parts = self.connectors_of(comp);
        // An array without elements lacks nothing.
        if parts.is_empty() {
            return;
        }
        let mut is_used = false;
        let mut unused = Vec::new();
        for part in parts {
            let is_nested_bus = matches!(part, Connector::Inst(inst) if self.is_expandable(inst));
            match is_nested_bus || is_reached(part, reached) {
                true => is_used = true,
                false => unused.push(part),
            }
        }
        if !is_used {
            self.tree[comp].memo.is_present = Memo::Known(false);
            return;
        }
        for part in unused {
            match part {
                Connector::Inst(inst) => {
                    for inner in self.tree[inst].members.components.clone() {
                        self.tree[inner].memo.is_present = Memo::Known(false);
                    }
                }
                Connector::Leaf(..) => {
                    self.network.unused.insert(part);
                    self.network.unused_arrays.push(part);
                }
            }
        }
    }

    /// Connects two variables of buses; of arrays only the elements that exist.
    pub fn pair_bus_arrays(
        &mut self,
        (x, x_face): (CompId, Face),
        (y, y_face): (CompId, Face),
        connection: &Connection,
    ) -> bool {
        let parts = self.connectors_of(x);
        if !parts.iter().any(|part| self.network.unused.contains(part)) {
            return false;
        }
        let (x_dims, y_dims) = (self.comp_dims(x), self.comp_dims(y));
        if x_dims != y_dims {
            self.report(d::connect_sizes(&x_dims, &y_dims, connection.span));
            return true;
        }
        let theirs = self.connectors_of(y);
        for (a, b) in parts.into_iter().zip(theirs) {
            if !self.network.unused.contains(&a) {
                self.pair_connectors((a, x_face), (b, y_face), connection);
            }
        }
        true
    }

    /// Elements that nobody connects have the default value of their type.
    pub fn unused_elements(&mut self) -> Vec<flat::Equation> {
        let mut equations = Vec::new();
        for part in std::mem::take(&mut self.network.unused_arrays) {
            let Connector::Leaf(comp, Some(p)) = part else { continue };
            let span = self.tree[comp].declared.span;
            let ty = self.comp_type(comp);
            let Some(var) = self.tree[comp].var else { continue };
            let kind = match ty.base {
                BaseType::Real => ExprKind::Real(0.0),
                BaseType::Integer => ExprKind::Integer(0),
                BaseType::Boolean => ExprKind::Boolean(false),
                BaseType::String => ExprKind::String("".into()),
                BaseType::Enumeration(id) => ExprKind::EnumLiteral(id, 1),
                _ => continue,
            };
            let dims = self.comp_dims(comp);
            let default = Expr::new(kind, flat::Type::scalar(ty.base), span);
            let left = self.element_of(Expr::new(ExprKind::Var(var), ty, span), &dims, p);
            equations.push(flat::Equation {
                kind: EquationKind::Equality { left, right: default },
                origin: Origin::Connection,
                component: Arc::from(""),
                span,
            });
        }
        equations
    }

    /// Reports an element of an array of a bus that is not connected, or the whole array where one is not.
    pub fn check_bus_element(&mut self, comp: CompId, value: &Expr, span: Span) {
        if self.network.unused.is_empty() {
            return;
        }
        let dims = self.comp_dims(comp);
        let chosen: Vec<Option<u64>> = match &value.kind {
            ExprKind::Index { subscripts, .. } => subscripts
                .iter()
                .map(|s| match s {
                    flat::Subscript::Index(Expr { kind: ExprKind::Integer(i), .. }) => u64::try_from(*i).ok(),
                    _ => None,
                })
                .collect(),
            _ => vec![None; dims.len()],
        };
        let is_meant = |index: &[u64]| index.iter().zip(&chosen).all(|(&i, c)| c.is_none_or(|c| c == i));
        let missing = self.connectors_of(comp).into_iter().find(|part| match part {
            Connector::Leaf(_, Some(p)) => self.network.unused.contains(part) && is_meant(&unravel(*p, &dims)),
            _ => false,
        });
        if let Some(part) = missing {
            let name = self.connector_name(part);
            self.report(d::bus_member_absent(&name, span, self.tree[comp].declared.span));
        }
    }
}

fn is_reached(part: Connector, reached: &HashSet<Connector>) -> bool {
    let is_whole = matches!(part, Connector::Leaf(comp, Some(_)) if reached.contains(&Connector::Leaf(comp, None)));
    is_whole || reached.contains(&part)
}
