//! The front end: a class of a library in, the flat hybrid DAE out.
//!
//! ```text
//! ClassTree (saltus-library)  →  instances  →  connections  →  equations  →  FlatModel (saltus-flat)
//!                                instance      connection      equation      assemble
//!                                expand        expandable      statement
//!                                lookup        graph           expression …
//! ```
//!
//! The principal function is [`flatten`]. Everything works on demand: typing an expression may open a component, evaluate
//! a parameter, or make a function. All mistakes are collected; nothing stops at the first.
//!
//! Nothing here knows how a model is solved, and nothing knows a library by name.

mod acyclic;
mod alike_connections;
mod annotation;
mod annotation_places;
mod assemble;
mod attributes;
mod bus_arrays;
mod bus_presence;
mod call;
mod class_rules;
mod compatibility;
mod component;
mod connection;
mod connector_rules;
mod connector_variables;
mod constructor_fields;
mod deduce;
mod demands;
mod deselect;
mod diagnostics;
mod duplicates;
mod equation;
mod evaluate;
mod expand;
mod expandable;
mod expression;
mod family;
mod function;
mod function_rules;
mod graph;
mod inferred_sizes;
mod instance;
mod local_balance;
mod lookup;
mod modification_sizes;
mod modifier;
mod overload;
mod partial_derivative;
mod predefined;
mod purity;
mod record;
mod record_cast;
mod record_locals;
mod redeclaration;
mod reference;
mod references;
mod scope;
mod state;
mod state_machines;
mod statement;
mod template;
mod types;
mod visibility;
mod words;

#[cfg(test)]
mod tests;

use saltus_base::Diagnostics;
use saltus_connect::End;
use saltus_eval::Limits;
use saltus_flat::{self as flat, FlatModel};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast;

use crate::equation::Collected;
use crate::instance::InstId;
use crate::record::Recorder;
use crate::state::{
    Budget, Checks, Context, Functions, Imports, Messages, Network, Overconstrained, Request, Sizes, Templates, Tree,
    Types,
};
use crate::words::Words;

pub use crate::references::{ComponentType, Definition, DefinitionKind, References};
pub use crate::scope::{Declaration, Scope, Scopes, Symbol};

/// What the caller may decide.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Options {
    /// Modifications of the model from outside: `("r.R", "2.5")`.
    pub overrides: Vec<(String, String)>,
    /// Work limits of one evaluation at compile time.
    pub limits: Limits,
    /// Keep what the names in the text mean.
    pub references: bool,
    pub purpose: Purpose,
    /// Arrays of alike components with at least so many elements stay arrays where that is possible.
    pub kept_components: Option<u64>,
}

/// Shorter arrays of components cost nothing one by one.
pub const SHORTEST_KEPT: u64 = family::SHORTEST_KEPT;

/// What the flat model is for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Purpose {
    /// A model or block is shown as equations.
    #[default]
    Flatten,
    /// Any class is checked, as a part of something: partial ones, functions and packages, too.
    Check,
    /// A model is simulated as it is, so it must be complete.
    Simulate,
}

/// The outcome of [`flatten`]. The model is there as far as it could be made, also next to errors.
pub struct Flattened {
    pub model: Option<FlatModel>,
    pub diagnostics: Diagnostics,
    /// If that was asked for.
    pub references: Option<References>,
}

/// Flattens a class.
pub fn flatten(library: &Library, class: ClassId, options: &Options) -> Flattened {
    let mut front = Front::new(library, options);
    let mut model = front.run(class, options);
    // A message is about one element, so whatever there is to say is found with all elements one by one.
    if front.templates.are_refused || front.templates.n_kept > 0 && !front.messages.is_empty() {
        let settings = front.request.settings;
        front = Front::new(library, &Options { kept_components: None, ..options.clone() });
        front.request.settings = settings;
        model = front.run(class, options);
    }
    let references = front.finish_recording();
    let diagnostics = front.messages.finish(library.concerning_diagnostics());
    Flattened { model, diagnostics, references }
}

/// All state of one flattening; see [`state`].
struct Front<'a> {
    library: &'a Library,
    words: Words,
    request: Request,
    budget: Budget,
    messages: Messages,
    /// What names mean, if that was asked for.
    recorder: Option<Recorder<'a>>,
    tree: Tree<'a>,
    imports: Imports,
    sizes: Sizes<'a>,
    types: Types<'a>,
    functions: Functions,
    context: Context,
    network: Network<'a>,
    overconstrained: Overconstrained,
    checks: Checks<'a>,
    templates: Templates,
}

impl<'a> Front<'a> {
    fn run(&mut self, class: ClassId, options: &Options) -> Option<FlatModel> {
        let slot = self.slot_of_class(class)?;
        self.request.class = Some(class);
        if self.request.purpose == Purpose::Check && self.check_without_equations(slot) {
            return None;
        }
        self.check_model(slot);
        let modifier = self.overrides(class, &options.overrides);
        let model = self.tree.new_inst(slot, modifier.clone(), None);
        self.tree.model = model;
        self.tree[model].path = Some("".into());
        self.check_partial_model(slot);
        self.instantiate(model);
        if let Some(modifier) = modifier {
            self.check_modified_names(model, &modifier);
        }
        let mut collected = Collected { equations: self.connect_everything(), ..Collected::default() };
        self.check_deselected_connections();
        self.collect_equations(model, &mut collected);
        self.finish_checks();
        let model = self.assemble(collected);
        self.check_templates(&model);
        Some(model)
    }

    /// Equations of all connections; afterwards streams, roots and cardinalities can be asked for.
    fn connect_everything(&mut self) -> Vec<flat::Equation> {
        self.collect_connections(self.tree.model);
        self.complete_buses();
        self.instantiate(self.tree.model);
        self.pair_up();
        self.add_own_nodes();
        self.span_graph();
        self.announce_connectors(self.tree.model, false);
        self.fold_connections();
        let mut equations = self.network.close(&mut self.messages);
        equations.append(&mut self.unused_elements());
        equations.append(&mut self.overconstrained.constraint_equations);
        equations
    }

    /// Tells the connection sets about every flow variable, connected or not; those that a connection `added` to a bus are there on
    /// both sides (specification 9.2).
    fn announce_connectors(&mut self, inst: InstId, is_added: bool) {
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) {
                continue;
            }
            match self.comp_kind(comp) {
                instance::CompKind::Leaf(_) => {
                    let Some(var) = self.tree[comp].var else { continue };
                    let connection = self.tree[comp].prefixes.connection;
                    if connection.is_some() || self.is_connector(comp) || self.is_connector_inst(inst) {
                        self.describe_connector(comp);
                    }
                    if connection == Some(ast::Connection::Flow) {
                        self.network.sets.add_flow(End::inside(var));
                        if is_added {
                            self.network.sets.add_flow(End::outside(var));
                        }
                    }
                }
                instance::CompKind::Class(class) => {
                    let is_added = is_added || self.network.added.contains(&comp);
                    for &element in &class.elements {
                        self.announce_connectors(element, is_added);
                    }
                }
                instance::CompKind::Error => {}
            }
        }
    }
}
