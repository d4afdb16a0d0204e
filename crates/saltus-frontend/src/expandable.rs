//! Expandable connectors: they have the members that are connected to them (specification 9.1.3).
//!
//! ```text
//! expandable connector Bus end Bus;
//! connect(bus.speed, sensor.w);      ⇒   bus gets a Real `speed`
//! ```
//!
//! A member may be asked for before anything describes it, by another connection or by a bus that this one is connected to; such a
//! connection waits. Which elements of arrays there are is found in `bus_arrays`, which members exist in `bus_presence`.

use std::rc::Rc;

use saltus_base::{Diagnostic, Name, Span};
use saltus_syntax::ast;

use crate::Front;
use crate::connection::{Connector, Missing, Resolved};
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member, Memo};
use crate::modifier::Mod;
use crate::reference::Iterated;

/// A connection that names a member of an expandable connector that nothing describes yet.
pub struct Deferred<'a> {
    scope: InstId,
    from: &'a ast::ComponentRef,
    to: &'a ast::ComponentRef,
    span: Span,
    /// The loops around it.
    iterators: Vec<(Name, Iterated)>,
    /// What is wrong if the member never comes.
    diagnostic: Diagnostic,
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

    /// Adds the member that a connection asks for, made like the connector on the other side; `n_outer` dimensions of that belong
    /// to the array that the expandable connector is an element of.
    pub fn augment(&mut self, scope: InstId, missing: &Missing<'a>, other: &Resolved) -> bool {
        let Some(&like) = other.items.first() else { return false };
        let name = missing.part.name.name;
        let own = other.dims.get(missing.n_outer..).unwrap_or(&[]);
        let n_subscripts = missing.part.subscripts.len();
        if n_subscripts == 0 {
            return self.add_member(missing.bus, name, like, own.to_vec()).is_some();
        }
        // `connect(bus.x[2], y)`: an array that has the elements that are used.
        let mut n_sliced = 0;
        for subscript in &missing.part.subscripts {
            let ast::Subscript::Expr(e) = subscript else {
                self.report(d::connect_subscript(self.text(name), missing.part.name.span));
                return false;
            };
            let typed = self.expression(scope, e);
            n_sliced += usize::from(typed.ty.rank() > 0);
        }
        let mut sizes = vec![0; n_subscripts];
        let mut is_open = vec![true; n_subscripts];
        for &size in own.get(n_sliced..).unwrap_or(&[]) {
            sizes.push(size);
            is_open.push(false);
        }
        let added = self.add_member(missing.bus, name, like, sizes);
        if let Some(comp) = added {
            self.network.growing.insert(comp, is_open.into());
        }
        added.is_some()
    }

    /// Keeps a connection for later, when the member it asks for may be known.
    pub fn defer(&mut self, scope: InstId, [from, to]: [&'a ast::ComponentRef; 2], missing: &Missing<'a>, span: Span) {
        let name = self.text(missing.part.name.name);
        let diagnostic = if missing.is_last {
            d::bus_member_unknown(name, span)
        } else {
            let bus = self.connector_name(Connector::Inst(missing.bus));
            let nearest = self.nearest_name(missing.bus, name, false);
            d::no_member(name, &bus, nearest.as_deref(), missing.part.name.span)
        };
        let iterators = self.context.iterators.clone();
        self.network.deferred.push(Deferred { scope, from, to, span, iterators, diagnostic });
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
        self.network.added.insert(comp);
        Some(comp)
    }

    /// Gives connected expandable connectors the same members, until nothing changes any more.
    pub fn complete_buses(&mut self) {
        loop {
            let mut changed = false;
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
            if !changed && !self.retry_deferred() {
                break;
            }
        }
        for deferred in std::mem::take(&mut self.network.deferred) {
            self.report(deferred.diagnostic);
        }
        self.drop_unconnected_members();
    }

    /// Whether a connection that was kept can be made now.
    fn retry_deferred(&mut self) -> bool {
        let deferred = std::mem::take(&mut self.network.deferred);
        let n_before = deferred.len();
        for Deferred { scope, from, to, span, iterators, .. } in deferred {
            let outside = std::mem::replace(&mut self.context.iterators, iterators);
            self.connect(scope, from, to, span);
            self.context.iterators = outside;
        }
        self.network.deferred.len() < n_before
    }

    /// Adds the members of `from` to `to`.
    fn share_members(&mut self, from: InstId, to: InstId) -> bool {
        let mut changed = false;
        for comp in self.tree[from].members.components.clone() {
            let name = self.tree[comp].name;
            match self.member(to, name) {
                Some(Member::Component(other)) => {
                    let sizes = self.comp_dims(comp);
                    changed |= self.grow(other, &sizes);
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
                    let like = match self.comp_kind(comp) {
                        CompKind::Leaf(_) => Some(Connector::Leaf(comp, None)),
                        CompKind::Class(class) => class.elements.first().map(|&inst| Connector::Inst(inst)),
                        CompKind::Error => None,
                    };
                    if let Some(like) = like
                        && let Some(new) = self.add_member(to, name, like, sizes)
                    {
                        if let Some(is_open) = self.network.growing.get(&comp).cloned() {
                            self.network.growing.insert(new, is_open);
                        }
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    /// All expandable connectors of the model.
    pub fn all_buses(&mut self) -> Vec<InstId> {
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
