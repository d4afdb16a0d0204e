//! What annotations demand of those who use a class: connectors that must be connected, classes that are obsolete
//! (specification 18.8 and 18.10).

use std::collections::HashSet;

use saltus_connect::Face;
use saltus_syntax::ast;

use crate::Front;
use crate::annotation::{argument, class_annotation};
use crate::connection::Connector;
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, SlotId};

impl<'a> Front<'a> {
    /// Remembers a connector that must be connected; those of the model itself are connected where it is used.
    pub fn note_must_connect(&mut self, comp: CompId) {
        let declaration = self.tree[comp].declared.declaration;
        if self.tree[comp].owner == self.tree.model {
            return;
        }
        if self.reason_to_connect(declaration).is_some() {
            self.checks.must_connect.push(comp);
        }
        if self.reason_not_to_connect(declaration).is_some() {
            self.checks.connect_once.push(comp);
        }
    }

    fn reason_not_to_connect(&self, declaration: &ast::Component) -> Option<String> {
        let annotation = declaration.comment.annotation.as_ref()?;
        self.annotation_strings(annotation, self.words.may_only_connect_once).into_iter().next()
    }

    fn reason_to_connect(&self, declaration: &ast::Component) -> Option<String> {
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

    /// A connection set with such a connector has two elements at most; of streams those count that may flow in (specification
    /// 18.8).
    pub fn check_connect_once(&mut self) {
        if self.checks.connect_once.is_empty() {
            return;
        }
        // In an array of alike components all connectors count as one.
        self.refuse_templates();
        let sets = self.connection_sets();
        for comp in std::mem::take(&mut self.checks.connect_once) {
            for element in self.comp_elements(comp) {
                let Some(set) = sets.iter().find(|set| set.contains(&(Connector::Inst(element), Face::Inside))) else {
                    continue;
                };
                let n = set.iter().filter(|(end, _)| self.may_flow_in(*end)).count();
                if n > 2 {
                    let name = self.connector_name(Connector::Inst(element));
                    let why = self.reason_not_to_connect(self.tree[comp].declared.declaration).unwrap_or_default();
                    self.report(d::connected_too_often(&name, n, &why, self.tree[comp].declared.span));
                }
            }
        }
    }

    /// Which connectors are connected with each other, directly or not.
    fn connection_sets(&self) -> Vec<Vec<(Connector, Face)>> {
        let mut sets: Vec<Vec<(Connector, Face)>> = Vec::new();
        for connection in &self.network.connections {
            let touches = |set: &Vec<(Connector, Face)>| connection.ends.iter().any(|end| set.contains(end));
            let (touched, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut sets).into_iter().partition(touches);
            let mut united: Vec<(Connector, Face)> = touched.into_iter().flatten().collect();
            for end in connection.ends {
                if !united.contains(&end) {
                    united.push(end);
                }
            }
            sets = rest;
            sets.push(united);
        }
        sets
    }

    /// Whether the flow variable of a stream connector may be negative; other connectors always count.
    fn may_flow_in(&mut self, end: Connector) -> bool {
        let Connector::Inst(inst) = end else { return true };
        let components = self.tree[inst].members.components.clone();
        let with = |front: &Self, prefix| {
            components.iter().copied().find(|&c| front.tree[c].prefixes.connection == Some(prefix))
        };
        if with(self, ast::Connection::Stream).is_none() {
            return true;
        }
        let Some(flow) = with(self, ast::Connection::Flow) else { return true };
        self.literal_attribute(flow, self.words.min).is_none_or(|min| min < 0.0)
    }

    /// A class that is there for one component has no other, and stands beside it (specification 18.8).
    pub fn check_single_instance(&mut self, comp: CompId, slot: SlotId) {
        let annotation = class_annotation(self.tree[slot].definition);
        if !self.annotation_flag(annotation, self.words.single_instance) {
            return;
        }
        let first = *self.checks.single_instances.entry(slot).or_insert(comp);
        if first != comp {
            let class = self.library.qualified_name(self.tree[slot].class);
            let (name, at) = (self.text(self.tree[comp].name), self.tree[first].declared.span);
            self.report_once(d::single_instance(&class, name, self.tree[comp].declared.span, at));
        }
    }

    /// A test case is used by test cases only (specification 18.7).
    pub fn check_test_case(&mut self, comp: CompId, slot: SlotId) {
        let is_test = |front: &Self, definition: &ast::ClassDef| {
            class_annotation(definition).is_some_and(|a| argument(&a.modification, front.words.test_case).is_some())
        };
        if !is_test(self, self.tree[slot].definition) {
            return;
        }
        let mut user = Some(self.tree[comp].declared.scope);
        while let Some(inst) = user {
            if self.tree[inst].definition.is_some_and(|definition| is_test(self, definition)) {
                return;
            }
            user = self.tree[inst].derived;
        }
        let class = self.library.qualified_name(self.tree[slot].class);
        self.report_once(d::uses_test_case(&class, self.tree[comp].declared.clause.type_name.span));
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
