//! What annotations demand of those who use a class: connectors that must be connected, classes that are obsolete
//! (specification 18.8 and 18.10).

use std::collections::HashSet;

use saltus_connect::Face;

use crate::Front;
use crate::annotation::class_annotation;
use crate::connection::Connector;
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, SlotId};

impl<'a> Front<'a> {
    /// Remembers a connector that must be connected; those of the model itself are connected where it is used.
    pub fn note_must_connect(&mut self, comp: CompId) {
        let declaration = self.tree[comp].declared.declaration;
        if self.tree[comp].owner != self.tree.model && self.reason_to_connect(declaration).is_some() {
            self.checks.must_connect.push(comp);
        }
    }

    fn reason_to_connect(&self, declaration: &saltus_syntax::ast::Component) -> Option<String> {
        let annotation = declaration.comment.annotation.as_ref()?;
        self.annotation_strings(annotation, self.words.must_be_connected).into_iter().next()
    }

    /// Every element appears in a connection of the class that has its component.
    pub fn check_must_connect(&mut self) {
        if self.checks.must_connect.is_empty() {
            return;
        }
        let ends = self.network.connections.iter().flat_map(|c| c.ends);
        let connected: HashSet<Connector> =
            ends.filter(|(_, face)| *face == Face::Inside).map(|(end, _)| end).collect();
        for comp in std::mem::take(&mut self.checks.must_connect) {
            let CompKind::Class(class) = self.comp_kind(comp) else { continue };
            let Some(&missing) = class.elements.iter().find(|&&e| !connected.contains(&Connector::Inst(e))) else {
                continue;
            };
            let name = self.connector_name(Connector::Inst(missing));
            let why = self.reason_to_connect(self.tree[comp].declared.declaration).unwrap_or_default();
            self.report(d::must_be_connected(&name, &why, self.tree[comp].declared.span));
        }
    }

    /// Reports the use of an obsolete class as the type of a component, unless the user is obsolete as well.
    pub fn check_obsolete(&mut self, comp: CompId, slot: SlotId) {
        let Some(annotation) = class_annotation(self.tree[slot].definition) else { return };
        let Some(why) = self.annotation_strings(annotation, self.words.obsolete).into_iter().next() else { return };
        let scope = self.tree[comp].declared.scope;
        let user = self.tree[scope].definition.and_then(class_annotation);
        if user.is_some_and(|a| !self.annotation_strings(a, self.words.obsolete).is_empty()) {
            return;
        }
        let class = self.library.qualified_name(self.tree[slot].class);
        self.report_once(d::obsolete_class(&class, &why, self.tree[comp].declared.clause.type_name.span));
    }
}
