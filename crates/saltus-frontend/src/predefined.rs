//! The unnamed enclosing class of all top-level classes: predefined types, and where a model's instance begins
//! (specification 4.8, 4.9).

use std::collections::{HashMap, HashSet};

use saltus_base::{Diagnostic, Diagnostics, FileId, IdVec, Index, Interner, Severity};
use saltus_connect::ConnectionSets;
use saltus_connect::graph::ConnectionGraph;
use saltus_flat::BaseType;
use saltus_library::{ClassId, Library};
use saltus_syntax::{ast, parse_component_ref, parse_expression};

use crate::connector_variables::ConnectorVariables;
use crate::diagnostics as d;
use crate::instance::{Inst, InstId, Member, Memo, Prefixes, SlotId};
use crate::modifier::ModRef;
use crate::record::Recorder;
use crate::words::Words;
use crate::{Front, Options, Purpose};

/// The predefined types, as far as they can be said in the language itself.
const PREDEFINED: &str = "\
type Real end Real;
type Integer end Integer;
type Boolean end Boolean;
type String end String;
type Clock end Clock;
type StateSelect = enumeration(never, avoid, default, prefer, always);
type AssertionLevel = enumeration(warning, error);
partial class ExternalObject end ExternalObject;
";

impl<'a> Front<'a> {
    pub fn new(library: &'a Library, options: &Options) -> Front<'a> {
        let root = InstId::from_usize(0);
        let mut front = Front {
            library,
            words: Words::new(library),
            limits: options.limits,
            diagnostics: Diagnostics::new(),
            certain: Diagnostics::new(),
            n_library_messages: 0,
            reported: HashSet::new(),
            empty_class: predefined_class(library, "Real"),
            recorder: options.references.then(Recorder::default),
            insts: IdVec::new(),
            comps: IdVec::new(),
            slots: IdVec::new(),
            vars: IdVec::new(),
            leaf_types: HashMap::new(),
            array_classes: HashMap::new(),
            sizes_so_far: HashMap::new(),
            wrong_sizes: HashSet::new(),
            without_value: HashSet::new(),
            n_compared_names: 0,
            withheld: Vec::new(),
            is_too_large: false,
            n_unrolled: 0,
            open_records: HashSet::new(),
            root,
            model: root,
            implicit_inners: Vec::new(),
            imports: HashMap::new(),
            failed_imports: HashSet::new(),
            allow_partial: false,
            purpose: options.purpose,
            checked: None,
            open_values: Vec::new(),
            has_partial_parts: false,
            checked_classes: HashSet::new(),
            duplicates: Vec::new(),
            redeclared_types: Vec::new(),
            redeclared_classes: Vec::new(),
            deselected_connections: Vec::new(),
            found_deselected: HashSet::new(),
            index_types: HashMap::new(),
            n_loops: 0,
            endless: HashSet::new(),
            builtin_classes: HashMap::new(),
            external_object: library.find("ExternalObject"),
            enums: IdVec::new(),
            enum_ids: HashMap::new(),
            unspecified_enums: HashSet::new(),
            records: IdVec::new(),
            record_slots: IdVec::new(),
            record_ids: HashMap::new(),
            record_of_inst: HashMap::new(),
            functions: IdVec::new(),
            function_names: HashMap::new(),
            current_function: None,
            iterators: Vec::new(),
            ends: Vec::new(),
            model_locals: IdVec::new(),
            in_initial_section: false,
            connections: Vec::new(),
            pending_buses: Vec::new(),
            cardinalities: HashMap::new(),
            sets: ConnectionSets::new(),
            connector_variables: ConnectorVariables::default(),
            streams: None,
            local_connections: Default::default(),
            from_roots: 0,
            graph: ConnectionGraph::new(),
            graph_nodes: HashMap::new(),
            graph_edges: Vec::new(),
            spanning: None,
            constraint_equations: Vec::new(),
        };
        front.insts.push(root_instance(library.root(), root));
        for (name, base) in [
            ("Real", BaseType::Real),
            ("Integer", BaseType::Integer),
            ("Boolean", BaseType::Boolean),
            ("String", BaseType::String),
            ("Clock", BaseType::Clock),
        ] {
            if let Some(class) = library.find(name) {
                front.builtin_classes.insert(class, base);
            }
        }
        front
    }

    /// The class as a member of the instance of its package.
    pub fn slot_of_class(&mut self, class: ClassId) -> Option<SlotId> {
        let mut path = Vec::new();
        let mut at = class;
        while let (Some(name), Some(parent)) = (self.library.name_of(at), self.library.parent(at)) {
            path.push(name);
            at = parent;
        }
        let mut inst = self.root;
        let mut slot = None;
        while let Some(name) = path.pop() {
            let Some(Member::Class(found)) = self.member(inst, name) else {
                let text = self.library.qualified_name(class);
                let span = self.library.definition(class).map_or(saltus_base::Span::nowhere(), |c| c.name.span);
                self.report(d::not_a_class(&text, span));
                return None;
            };
            slot = Some(found);
            if !path.is_empty() {
                inst = self.slot_instance(found);
            }
        }
        slot
    }

    /// Only models, blocks and plain classes can be simulated; the others can be checked.
    pub fn check_model(&mut self, slot: SlotId) {
        let definition = self.slots[slot].definition;
        let kind = match definition.kind {
            ast::ClassKind::Package => "package",
            ast::ClassKind::Function | ast::ClassKind::OperatorFunction => "function",
            ast::ClassKind::Operator => "operator",
            _ => {
                if definition.kind == ast::ClassKind::Type && self.simple_type(slot).is_none() {
                    let class = self.library.qualified_name(self.slots[slot].class);
                    self.report(d::not_a_simple_type(&class, definition.name.span));
                }
                self.allow_partial = definition.is_partial;
                return;
            }
        };
        let class = self.library.qualified_name(self.slots[slot].class);
        self.report(d::not_a_model(&class, kind, definition.name.span));
    }

    /// A partial model is checked but not simulated. A short class made from a partial one is partial (specification 4.6.2).
    pub fn check_partial_model(&mut self, slot: SlotId) {
        self.expand(self.model);
        if self.partial_class(self.model).is_none() {
            return;
        }
        self.allow_partial = true;
        if self.purpose == Purpose::Simulate {
            let class = self.library.qualified_name(self.slots[slot].class);
            self.report(d::partial_model(&class, self.slots[slot].definition.name.span));
        }
    }

    /// Checks a function or a package, which have no equations; `false` for every other class.
    pub fn check_without_equations(&mut self, slot: SlotId) -> bool {
        let inst = match self.slots[slot].definition.kind {
            ast::ClassKind::Function | ast::ClassKind::OperatorFunction => {
                self.allow_partial = self.slots[slot].definition.is_partial;
                let function = self.function_of(slot);
                self.function_body(function);
                self.finish_checks();
                self.forget_open_values();
                return true;
            }
            ast::ClassKind::Package | ast::ClassKind::Operator => self.slot_instance(slot),
            _ => return false,
        };
        self.allow_partial = self.slots[slot].definition.is_partial;
        self.expand(inst);
        for comp in self.insts[inst].components.clone() {
            self.check_constant(comp);
        }
        self.finish_checks();
        self.forget_open_values();
        true
    }

    /// The rules that are looked at once everything else is there.
    pub fn finish_checks(&mut self) {
        self.check_duplicates();
        self.check_redeclarations();
    }

    /// Modifications from outside, as if the model were declared with them.
    pub fn overrides(&mut self, class: ClassId, overrides: &[(String, String)]) -> ModRef<'a> {
        let mut arguments = Vec::with_capacity(overrides.len());
        for (name, value) in overrides {
            match wrong_override(name, value) {
                Some(wrong) => self.report(wrong),
                None => arguments.push(format!("  {name} = {value}")),
            }
        }
        if arguments.is_empty() {
            return None;
        }
        let base = self.library.qualified_name(class);
        // A line each, because messages show the line.
        let text = format!("model '$set' = {base}(\n{}\n);\n", arguments.join(",\n"));
        let id = *self.library.load_text("--set", &text).first()?;
        match &self.library.definition(id)?.body {
            ast::ClassBody::Short(short) => short.modification.as_ref().map(|m| self.class_modifier(m, self.root)),
            _ => None,
        }
    }
}

/// The texts become part of a modification: a value that closes a bracket or begins another argument would change more than its
/// variable.
fn wrong_override(name: &str, value: &str) -> Option<Diagnostic> {
    let mut names = Interner::new();
    let nowhere = FileId::from_usize(0);
    let (reference, found) = parse_component_ref(nowhere, name, &mut names);
    if found.has_errors() || reference.parts.iter().any(|part| !part.subscripts.is_empty()) {
        return Some(d::override_name(name, value));
    }
    let (_, found) = parse_expression(nowhere, value, &mut names);
    let first = found.iter().find(|d| d.severity == Severity::Error)?;
    Some(d::override_value(name, value, &first.message))
}

fn root_instance<'a>(class: ClassId, root: InstId) -> Inst<'a> {
    Inst {
        class,
        definition: None,
        slot: None,
        scope: root,
        modifier: None,
        original: None,
        owner: None,
        derived: None,
        path: None,
        prefixes: Prefixes::NONE,
        expansion: Memo::Known(()),
        bases: Vec::new(),
        components: Vec::new(),
        names: HashMap::new(),
        absent: HashSet::new(),
        is_incomplete: false,
        is_protected_base: false,
        predefined_base: None,
        deselected: Vec::new(),
        function: None,
        depth: 0,
        class_index: Vec::new(),
    }
}

/// Loads the predefined classes once per library.
fn predefined_class<'a>(library: &'a Library, name: &str) -> &'a ast::ClassDef {
    if library.find("ExternalObject").is_none() {
        library.load_text("<predefined>", PREDEFINED);
    }
    library
        .find(name)
        .and_then(|class| library.definition(class))
        .unwrap_or_else(|| unreachable!("the predefined text declares `{name}`"))
}
