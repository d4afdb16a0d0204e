//! What connectors are made of, and where they may stand (specification 4.7, 4.8, 9.3.1).
//!
//! ```text
//! connector C                      warning[W0548]: the connector `C` has 1 flow variables and 2 potentials
//!   Real v, w; flow Real i;
//! end C;
//! ```
//!
//! Tools accept such classes as long as the model as a whole is balanced, so these are warnings.

use saltus_flat::Variability;
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId};

/// The variables of a connector, as numbers of scalars.
#[derive(Clone, Copy, Default)]
struct Contents {
    flows: u64,
    /// Neither flow nor stream, input nor output.
    potentials: u64,
    inputs: u64,
    /// Inputs, outputs and streams.
    others: u64,
    /// Of overdetermined potentials as many count as their constraint leaves; that is checked where they are connected.
    is_overdetermined: bool,
}

impl<'a> Front<'a> {
    /// The class of a connector has as many flows as potentials.
    pub fn check_connector_balance(&mut self, inst: InstId) {
        let is_whole = self.is_connector_inst(inst) && !self.is_expandable(inst) && self.partial_class(inst).is_none();
        if !is_whole || !self.checks.connector_classes.insert(self.tree[inst].class) {
            return;
        }
        let Some(definition) = self.tree[inst].definition else { return };
        let contents = self.contents(inst);
        let is_simple = contents.flows == 0 && contents.others == 0 || contents.is_overdetermined;
        if contents.flows != contents.potentials && !is_simple && self.tree[inst].prefixes.direction.is_none() {
            let class = self.library.qualified_name(self.tree[inst].class);
            let (flows, potentials) = (contents.flows, contents.potentials);
            self.report_once(d::unbalanced_connector(&class, flows, potentials, definition.name.span));
        }
    }

    /// A connector as a component of a model or block.
    pub fn check_connector_component(&mut self, comp: CompId) {
        let owner = self.tree[comp].owner;
        if !self.is_connector(comp) || !self.is_model_inst(owner) || self.is_bus(comp) {
            return;
        }
        if !self.checks.connector_components.insert((self.tree[owner].class, self.tree[comp].name)) {
            return;
        }
        let is_public = !self.tree[comp].declared.is_hidden && !self.tree[comp].prefixes.is_protected;
        let (name, span) = (self.text(self.tree[comp].name), self.tree[comp].declared.span);
        let contents = self.contents_of(comp);
        let is_simple = contents.flows == 0 && contents.others == 0 && !contents.is_overdetermined;
        if is_public && contents.potentials > 0 && is_simple {
            let class = self.path_text(&self.tree[comp].declared.clause.type_name.parts);
            self.report_once(d::undirected_connector(name, &class, span));
        } else if is_public
            && self.defining_class(owner).1 == ast::ClassKind::Block
            && let Some(variable) = self.acausal_part(comp)
        {
            let block = self.library.qualified_name(self.tree[owner].class);
            let variable = self.comp_name(variable);
            self.report_once(d::acausal_block_connector(&block, name, &variable, span));
        }
    }

    /// What is `inner` or `outer` is not connected from outside, so nothing would give values to its inputs.
    pub fn check_inner_inputs(&mut self, comp: CompId) {
        let declared = &self.tree[comp].declared;
        let prefix = match (declared.is_inner, declared.is_outer) {
            (true, _) => "inner",
            (_, true) => "outer",
            _ => return,
        };
        let span = declared.span;
        let Some(&element) = self.comp_elements(comp).first() else { return };
        if !self.is_model_inst(element) {
            return;
        }
        for inner in self.tree[element].members.components.clone() {
            let is_public = !self.tree[inner].declared.is_hidden;
            if is_public
                && self.is_instantiated(inner)
                && self.is_connector(inner)
                && self.contents_of(inner).inputs > 0
            {
                let (name, connector) = (self.text(self.tree[comp].name), self.text(self.tree[inner].name));
                self.report_once(d::inner_with_inputs(prefix, name, connector, span));
                return;
            }
        }
    }

    fn contents(&mut self, inst: InstId) -> Contents {
        let mut all = Contents::default();
        for comp in self.tree[inst].members.components.clone() {
            if self.is_instantiated(comp) {
                all.add(self.contents_of(comp));
            }
        }
        all
    }

    fn contents_of(&mut self, comp: CompId) -> Contents {
        let mut all = Contents::default();
        match self.comp_kind(comp) {
            CompKind::Leaf(_) => {
                if self.variability_of(comp) > Variability::Parameter {
                    let n = self.n_elements(comp);
                    all.is_overdetermined = self.is_overdetermined_variable(comp);
                    let prefixes = self.tree[comp].prefixes;
                    match (prefixes.connection, prefixes.direction) {
                        (Some(ast::Connection::Flow), _) => all.flows = n,
                        (Some(ast::Connection::Stream), _) => all.others = n,
                        (None, Some(ast::Direction::Input)) => (all.inputs, all.others) = (n, n),
                        (None, Some(ast::Direction::Output)) => all.others = n,
                        (None, None) => all.potentials = n,
                    }
                }
            }
            CompKind::Class(class) => {
                for &element in &class.elements {
                    all.add(self.contents(element));
                    all.is_overdetermined |= self.is_overdetermined(element);
                }
            }
            CompKind::Error => {}
        }
        all
    }

    /// A variable in a connector that is neither input nor output.
    fn acausal_part(&mut self, comp: CompId) -> Option<CompId> {
        if !self.is_instantiated(comp) {
            return None;
        }
        match self.comp_kind(comp) {
            CompKind::Leaf(_) => {
                let varies = self.variability_of(comp) > Variability::Parameter;
                (varies && self.tree[comp].prefixes.direction.is_none()).then_some(comp)
            }
            CompKind::Class(class) => {
                let parts = class.elements.first().map(|&e| self.tree[e].members.components.clone());
                parts.into_iter().flatten().find_map(|part| self.acausal_part(part))
            }
            CompKind::Error => None,
        }
    }
}

impl Contents {
    fn add(&mut self, other: Contents) {
        self.flows += other.flows;
        self.potentials += other.potentials;
        self.inputs += other.inputs;
        self.others += other.others;
        self.is_overdetermined |= other.is_overdetermined;
    }
}
