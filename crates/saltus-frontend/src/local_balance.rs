//! What a component's surroundings and its connections add to its own balance (specification 4.8).
//!
//! ```text
//! model Divider                    Divider: 3 connections give 6 equations, the 2 currents of its own pins come from outside,
//!   Pin p, n; Resistor a, b;                the 4 currents of `a` and `b` are unknowns of it
//! ```
//!
//! In: the instance tree, once everything is connected. Out: a [`flat::Component`] for each model and block. Variables and written
//! equations are counted on the flat model (`saltus_flat::count`); here stands what it does not show any more.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::{Name, Span};
use saltus_flat::family::Counter;
use saltus_flat::{self as flat, Variability};
use saltus_library::ClassId;
use saltus_syntax::ast;

use crate::Front;
use crate::instance::{CompId, CompKind, InstId};
use crate::modifier::{Mod, ModExpr, ModValue};

/// What the surroundings of a component determine in it, as numbers of scalars.
#[derive(Clone, Copy, Default)]
struct Interface {
    /// Flow variables of its public connectors, and of the protected ones.
    flows: u64,
    hidden_flows: u64,
    /// Inputs of its public connectors.
    inputs: u64,
    /// Public inputs that are not connectors and have no value.
    open_inputs: u64,
    /// Expandable and overdetermined connectors: other rules hold.
    is_special: bool,
}

/// Where a variable stands: in a connector, and is this or the variable itself public?
#[derive(Clone, Copy)]
struct Place {
    in_connector: bool,
    is_public: bool,
}

impl<'a> Front<'a> {
    /// Every model and block of the model, itself first.
    pub fn components(&mut self) -> Vec<flat::Component> {
        let mut out = Vec::new();
        let mut names = HashMap::new();
        self.add_component(self.tree.model, Span::nowhere(), &mut names, &mut out);
        out
    }

    fn add_component(
        &mut self,
        inst: InstId,
        span: Span,
        names: &mut HashMap<ClassId, Arc<str>>,
        out: &mut Vec<flat::Component>,
    ) {
        let class = self.tree[inst].class;
        let library = self.library;
        let class = names.entry(class).or_insert_with(|| library.qualified_name(class).into()).clone();
        let at = out.len();
        let own = self.interface(inst);
        let n = number_of_elements(&self.tree[inst].outer);
        let name = self.component_path(inst);
        let connected = self.network.local_connections.get(&name).copied().unwrap_or_default();
        out.push(flat::Component {
            name,
            class,
            span,
            from_outside: n * (own.flows + own.hidden_flows + own.inputs + own.open_inputs),
            given: n * self.given_from_outside(inst),
            connections: connected.equations,
            is_countable: !own.is_special && !connected.reaches_out,
            inside: 0,
            is_outside: false,
            treatment: flat::Treatment::default(),
        });
        let mut unconnected = 0;
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) {
                continue;
            }
            let CompKind::Class(class) = self.comp_kind(comp) else { continue };
            for &element in class.elements.iter().filter(|&&e| self.is_model_inst(e)).collect::<Vec<_>>() {
                let inside = self.interface(element);
                out[at].is_countable &= !inside.is_special;
                let n = number_of_elements(&self.tree[element].outer);
                out[at].inside += n * (inside.flows + inside.inputs);
                unconnected += n * inside.flows;
                let is_implicit = self.tree.is_implicit_inner(comp);
                let first = out.len();
                self.add_component(element, self.tree[comp].declared.span, names, out);
                out[first].is_outside = is_implicit;
                out[first].treatment = self.treatment_of(comp);
            }
        }
        out[at].connections += unconnected.saturating_sub(connected.inside_flows);
    }

    /// Whether a component has flow variables or inputs to connect.
    pub fn has_connectors(&mut self, comp: CompId) -> bool {
        self.comp_elements(comp).into_iter().any(|element| {
            let interface = self.interface(element);
            interface.flows + interface.inputs > 0 || interface.is_special || self.is_connector(comp)
        })
    }

    /// Whether a component is an expandable connector.
    pub fn is_bus(&mut self, comp: CompId) -> bool {
        self.comp_elements(comp).into_iter().any(|element| self.is_expandable(element))
    }

    pub fn is_model_inst(&mut self, inst: InstId) -> bool {
        use ast::ClassKind as K;
        matches!(self.defining_class(inst).1, K::Model | K::Block | K::Class)
    }

    fn interface(&mut self, inst: InstId) -> Interface {
        let mut interface = Interface::default();
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) {
                continue;
            }
            let place = Place { in_connector: self.is_connector(comp), is_public: !self.tree[comp].declared.is_hidden };
            self.add_interface(comp, place, &mut interface);
        }
        interface
    }

    fn add_interface(&mut self, comp: CompId, place: Place, interface: &mut Interface) {
        let mut own = Interface::default();
        let out = &mut own;
        let mut n = 1;
        match self.comp_kind(comp) {
            CompKind::Leaf(_) => {
                out.is_special |= self.is_overdetermined_variable(comp);
                self.add_leaf(comp, place, out);
            }
            CompKind::Class(class) => {
                n = number_of_elements(&class.counters);
                for &element in &class.elements {
                    if self.is_model_inst(element) {
                        continue;
                    }
                    out.is_special |= self.is_expandable(element) || self.is_overdetermined(element);
                    for inner in self.tree[element].members.components.clone() {
                        if self.is_instantiated(inner) {
                            self.add_interface(inner, place, out);
                        }
                    }
                }
            }
            CompKind::Error => {}
        }
        interface.add(own, n);
    }

    fn add_leaf(&mut self, comp: CompId, place: Place, out: &mut Interface) {
        if self.variability_of(comp) <= Variability::Parameter {
            return;
        }
        let size = self.n_elements(comp);
        let prefixes = self.tree[comp].prefixes;
        let is_open = prefixes.direction == Some(ast::Direction::Input) && place.is_public;
        if prefixes.connection == Some(ast::Connection::Flow) {
            *(if place.is_public { &mut out.flows } else { &mut out.hidden_flows }) += size;
        } else if is_open && self.comp_binding(comp).is_none() {
            *(if place.in_connector { &mut out.inputs } else { &mut out.open_inputs }) += size;
        }
    }

    pub fn n_elements(&mut self, comp: CompId) -> u64 {
        self.comp_dims(comp).iter().fold(1, |n, &d| n.saturating_mul(d))
    }

    /// How many scalars have a value from the declaration of the component, or from further outside, and none from its class.
    fn given_from_outside(&mut self, inst: InstId) -> u64 {
        let given = self.tree[inst].owner.and_then(|owner| self.tree[owner].given.clone());
        let Some(given) = given else { return 0 };
        self.given_in(inst, &given)
    }

    fn given_in(&mut self, inst: InstId, given: &Rc<Mod<'a>>) -> u64 {
        let mut n = 0;
        for (name, sub) in &given.subs {
            n += self.given_to(inst, *name, sub);
        }
        n
    }

    fn given_to(&mut self, inst: InstId, name: Name, given: &Rc<Mod<'a>>) -> u64 {
        let components = &self.tree[inst].members.components;
        let Some(comp) = components.iter().copied().find(|&c| self.tree[c].name == name) else { return 0 };
        if !self.is_instantiated(comp) {
            return 0;
        }
        let is_new = given.value.is_some() && self.tree[comp].modifier.as_ref().is_some_and(|m| is_first_value(m));
        if self.tree[comp].prefixes.direction == Some(ast::Direction::Input) {
            // Its class owes an input nothing.
            return 0;
        }
        match self.comp_kind(comp) {
            CompKind::Leaf(_) => {
                let is_known = self.variability_of(comp) <= Variability::Parameter;
                if is_new && !is_known { self.n_elements(comp) } else { 0 }
            }
            CompKind::Class(class) => {
                let factor = number_of_elements(&class.counters);
                let mut n = 0;
                for &element in class.elements.iter().filter(|&&e| !self.is_model_inst(e)).collect::<Vec<_>>() {
                    n += if is_new { self.without_default(element) } else { self.given_in(element, given) };
                }
                factor * n
            }
            CompKind::Error => 0,
        }
    }

    /// Scalars of a record whose class gives them no value.
    fn without_default(&mut self, inst: InstId) -> u64 {
        let mut n = 0;
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) || self.tree[comp].modifier.as_ref().is_some_and(|m| m.value.is_some()) {
                continue;
            }
            match self.comp_kind(comp) {
                CompKind::Leaf(_) if self.variability_of(comp) > Variability::Parameter => n += self.n_elements(comp),
                CompKind::Class(class) => {
                    let of_one = class.elements.iter().map(|&e| self.without_default(e)).sum::<u64>();
                    n += number_of_elements(&class.counters) * of_one;
                }
                _ => {}
            }
        }
        n
    }
}

/// How many components an instance stands for.
fn number_of_elements(counters: &[Counter]) -> u64 {
    counters.iter().map(|c| c.n).product()
}

impl Interface {
    fn add(&mut self, other: Interface, n: u64) {
        self.flows += n * other.flows;
        self.hidden_flows += n * other.hidden_flows;
        self.inputs += n * other.inputs;
        self.open_inputs += n * other.open_inputs;
        self.is_special |= other.is_special;
    }
}

fn is_first_value(modifier: &Mod<'_>) -> bool {
    matches!(modifier.value, Some(ModValue { expr: ModExpr::Ast(..), replaces_value: false, .. }))
}
