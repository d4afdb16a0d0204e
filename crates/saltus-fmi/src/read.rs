//! From the XML of a model description to its data, with the place of everything.
//!
//! Schema violations are findings; what they concern is left out. Only a text that is not a model description at all fails.

use std::collections::HashMap;

use roxmltree::{Document as Tree, Node, ParsingOptions};
use saltus_base::{Diagnostic, Diagnostics, FileId, Span};

use crate::attributes::Context;
use crate::read_variables::{read_attributes, read_clock, read_variable};
use crate::words::{TYPES_OF_2, Word};
use crate::write::BASE_UNITS;
use crate::{
    BaseUnit, CoSimulation, DefaultExperiment, Dependency, DependencyKind, DisplayUnit, EnumerationItem, Interface,
    LogCategory, ModelDescription, ModelExchange, ModelStructure, Type, TypeDefinition, Unit, Unknown, Version,
    diagnostics,
};

/// A model description as read from a text.
#[derive(Debug)]
pub struct Document {
    pub model: ModelDescription,
    pub places: Places,
    /// What in the text is not as the schema says.
    pub findings: Diagnostics,
}

/// Where things stand in the text, in the order of the model's lists.
#[derive(Debug)]
pub struct Places {
    pub root: Span,
    pub variables: Vec<Span>,
    pub units: Vec<Span>,
    pub types: Vec<Span>,
    pub structure: Span,
    pub outputs: Vec<Span>,
    pub derivatives: Vec<Span>,
    pub clocked_states: Vec<Span>,
    pub initial_unknowns: Vec<Span>,
    pub event_indicators: Vec<Span>,
}

/// Reads a text. The spans of findings are in `file`.
pub fn read(text: &str, file: FileId) -> Result<Document, Diagnostic> {
    let options = ParsingOptions { allow_dtd: false, ..Default::default() };
    let tree = Tree::parse_with_options(text, options).map_err(|error| {
        let at = offset(text, error.pos());
        diagnostics::not_xml(&error.to_string(), Span::new(file, at, at))
    })?;
    let root = tree.root_element();
    let context = Context { file, findings: Diagnostics::new() };
    let span = context.span(root);
    if root.tag_name().name() != "fmiModelDescription" {
        return Err(diagnostics::not_a_model_description(root.tag_name().name(), span));
    }
    let version = match root.attribute("fmiVersion") {
        Some("2.0") => Version::V2,
        Some(text) if text == "3.0" || text.starts_with("3.0.") || text.starts_with("3.0-") => Version::V3,
        other => return Err(diagnostics::unsupported_version(other.unwrap_or(""), span)),
    };
    let mut reader = Reader {
        context,
        model: ModelDescription { version, ..Default::default() },
        places: Places {
            root: span,
            variables: Vec::new(),
            units: Vec::new(),
            types: Vec::new(),
            structure: span,
            outputs: Vec::new(),
            derivatives: Vec::new(),
            clocked_states: Vec::new(),
            initial_unknowns: Vec::new(),
            event_indicators: Vec::new(),
        },
        indices: HashMap::new(),
    };
    reader.read_root(root);
    Ok(Document { model: reader.model, places: reader.places, findings: reader.context.findings })
}

/// The offset of a position that counts lines and characters from 1.
fn offset(text: &str, at: roxmltree::TextPos) -> u32 {
    let line_start = text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize).map(str::len).sum::<usize>();
    let line = text.get(line_start..).unwrap_or("");
    let column = line.char_indices().nth(at.col.saturating_sub(1) as usize).map_or(line.len(), |(i, _)| i);
    (line_start + column) as u32
}

struct Reader {
    context: Context,
    model: ModelDescription,
    places: Places,
    /// From value reference to index of variable (3.0).
    indices: HashMap<u32, usize>,
}

impl Reader {
    fn read_root(&mut self, root: Node) {
        self.read_heading(root);
        let mut variables = None;
        let mut structure = None;
        for node in root.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "ModelExchange" => self.read_model_exchange(node),
                "CoSimulation" => self.read_co_simulation(node),
                "ScheduledExecution" if self.is_3() => {
                    self.context.expect_attributes(node, INTERFACE_OF_3);
                    self.model.scheduled_execution = Some(self.read_interface(node));
                }
                "UnitDefinitions" => self.read_units(node),
                "TypeDefinitions" => self.read_types(node),
                "LogCategories" => self.read_log_categories(node),
                "DefaultExperiment" => self.read_default_experiment(node),
                "ModelVariables" => variables = Some(node),
                "ModelStructure" => structure = Some(node),
                _ => self.context.unknown_element(node, "fmiModelDescription"),
            }
        }
        match variables {
            Some(node) => self.read_variables(node),
            None => self.context.report(diagnostics::missing_element("ModelVariables", self.places.root)),
        }
        match structure {
            Some(node) => self.read_structure(node),
            None => self.context.report(diagnostics::missing_element("ModelStructure", self.places.root)),
        }
    }

    fn is_3(&self) -> bool {
        self.model.version == Version::V3
    }

    fn read_heading(&mut self, root: Node) {
        let token = if self.is_3() { "instantiationToken" } else { "guid" };
        let mut known = vec!["fmiVersion", "modelName", token, "description", "author", "version", "copyright"];
        known.extend(["license", "generationTool", "generationDateAndTime", "variableNamingConvention"]);
        if !self.is_3() {
            known.push("numberOfEventIndicators");
        }
        self.context.expect_attributes(root, &known);
        let model = &mut self.model;
        model.model_name = self.context.required(root, "modelName");
        model.token = self.context.required(root, token);
        model.description = text(root, "description");
        model.author = text(root, "author");
        model.model_version = text(root, "version");
        model.copyright = text(root, "copyright");
        model.license = text(root, "license");
        model.generation_tool = text(root, "generationTool");
        model.generation_date = text(root, "generationDateAndTime");
        model.naming = self.context.word(root, "variableNamingConvention").unwrap_or_default();
        if model.version == Version::V2 {
            let n: Option<u32> = self.context.integer(root, "numberOfEventIndicators");
            model.n_event_indicators = n.unwrap_or(0) as usize;
        }
    }

    fn read_interface(&mut self, node: Node) -> Interface {
        let is_3 = self.is_3();
        let context = &mut self.context;
        let (state, serialize, directional) = match is_3 {
            true => ("canGetAndSetFMUState", "canSerializeFMUState", "providesDirectionalDerivatives"),
            false => ("canGetAndSetFMUstate", "canSerializeFMUstate", "providesDirectionalDerivative"),
        };
        let sources = node.children().filter(|n| n.has_tag_name("SourceFiles")).flat_map(|n| n.children());
        Interface {
            model_identifier: context.required(node, "modelIdentifier"),
            needs_execution_tool: context.flag(node, "needsExecutionTool"),
            only_once_per_process: context.flag(node, "canBeInstantiatedOnlyOncePerProcess"),
            gets_and_sets_state: context.flag(node, state),
            serializes_state: context.flag(node, serialize),
            directional_derivatives: context.flag(node, directional),
            adjoint_derivatives: is_3 && context.flag(node, "providesAdjointDerivatives"),
            per_element_dependencies: is_3 && context.flag(node, "providesPerElementDependencies"),
            no_memory_functions: !is_3 && context.flag(node, "canNotUseMemoryManagementFunctions"),
            source_files: sources.filter_map(|n| n.attribute("name")).map(str::to_string).collect(),
        }
    }

    fn read_model_exchange(&mut self, node: Node) {
        let interface = self.read_interface(node);
        let is_3 = self.is_3();
        let context = &mut self.context;
        let needs_completed_step = match is_3 {
            true => context.flag(node, "needsCompletedIntegratorStep"),
            false => !context.flag(node, "completedIntegratorStepNotNeeded"),
        };
        let evaluates_discrete_states = is_3 && context.flag(node, "providesEvaluateDiscreteStates");
        let (common, own): (&[&str], &[&str]) = match is_3 {
            true => (INTERFACE_OF_3, &["needsCompletedIntegratorStep", "providesEvaluateDiscreteStates"]),
            false => (INTERFACE_OF_2, &["completedIntegratorStepNotNeeded"]),
        };
        context.expect_attributes(node, &[common, own].concat());
        self.model.model_exchange = Some(ModelExchange { interface, needs_completed_step, evaluates_discrete_states });
    }

    fn read_co_simulation(&mut self, node: Node) {
        let interface = self.read_interface(node);
        let is_3 = self.is_3();
        let context = &mut self.context;
        let mut cs = CoSimulation {
            interface,
            variable_step: context.flag(node, "canHandleVariableCommunicationStepSize"),
            max_output_derivative_order: context.integer(node, "maxOutputDerivativeOrder").unwrap_or(0),
            ..Default::default()
        };
        if is_3 {
            context.expect_attributes(node, &[INTERFACE_OF_3, CO_SIMULATION_OF_3].concat());
            cs.fixed_internal_step = context.float(node, "fixedInternalStepSize");
            cs.recommended_input_smoothness =
                context.integer(node, "recommendedIntermediateInputSmoothness").unwrap_or(0);
            cs.intermediate_update = context.flag(node, "providesIntermediateUpdate");
            cs.might_return_early = context.flag(node, "mightReturnEarlyFromDoStep");
            cs.returns_early_after_intermediate_update = context.flag(node, "canReturnEarlyAfterIntermediateUpdate");
            cs.event_mode = context.flag(node, "hasEventMode");
            cs.evaluates_discrete_states = context.flag(node, "providesEvaluateDiscreteStates");
        } else {
            context.expect_attributes(node, &[INTERFACE_OF_2, CO_SIMULATION_OF_2].concat());
            cs.interpolates_inputs = context.flag(node, "canInterpolateInputs");
            cs.runs_asynchronously = context.flag(node, "canRunAsynchronuously");
        }
        self.model.co_simulation = Some(cs);
    }

    fn read_units(&mut self, parent: Node) {
        for node in parent.children().filter(Node::is_element) {
            if node.tag_name().name() != "Unit" {
                self.context.unknown_element(node, "UnitDefinitions");
                continue;
            }
            self.context.expect_attributes(node, &["name"]);
            let mut unit = Unit { name: self.context.required(node, "name"), ..Default::default() };
            for part in node.children().filter(Node::is_element) {
                match part.tag_name().name() {
                    "BaseUnit" => unit.base = Some(self.read_base_unit(part)),
                    "DisplayUnit" => unit.display_units.push(self.read_display_unit(part)),
                    _ => self.context.unknown_element(part, "Unit"),
                }
            }
            self.places.units.push(self.context.span(node));
            self.model.units.push(unit);
        }
    }

    fn read_base_unit(&mut self, node: Node) -> BaseUnit {
        self.context.expect_attributes(node, &[&BASE_UNITS[..], &["factor", "offset"]].concat());
        BaseUnit {
            exponents: BASE_UNITS.map(|name| self.context.integer(node, name).unwrap_or(0)),
            factor: self.context.float(node, "factor").unwrap_or(1.0),
            offset: self.context.float(node, "offset").unwrap_or(0.0),
        }
    }

    fn read_display_unit(&mut self, node: Node) -> DisplayUnit {
        let known: &[&str] =
            if self.is_3() { &["name", "factor", "offset", "inverse"] } else { &["name", "factor", "offset"] };
        self.context.expect_attributes(node, known);
        DisplayUnit {
            name: self.context.required(node, "name"),
            factor: self.context.float(node, "factor").unwrap_or(1.0),
            offset: self.context.float(node, "offset").unwrap_or(0.0),
            inverse: self.is_3() && self.context.flag(node, "inverse"),
        }
    }

    fn read_types(&mut self, parent: Node) {
        for node in parent.children().filter(Node::is_element) {
            let read = if self.is_3() { self.read_type(node) } else { self.read_type_of_2(node) };
            if let Some(definition) = read {
                self.places.types.push(self.context.span(node));
                self.model.types.push(definition);
            }
        }
    }

    fn read_type(&mut self, node: Node) -> Option<TypeDefinition> {
        let Some(kind) = node.tag_name().name().strip_suffix("Type").and_then(Type::from_word) else {
            self.context.unknown_element(node, "TypeDefinitions");
            return None;
        };
        let mut definition = self.read_type_body(node, kind);
        definition.name = self.context.required(node, "name");
        definition.description = text(node, "description");
        if kind == Type::Clock {
            definition.clock = Some(read_clock(&mut self.context, node));
        }
        Some(definition)
    }

    fn read_type_of_2(&mut self, node: Node) -> Option<TypeDefinition> {
        if node.tag_name().name() != "SimpleType" {
            self.context.unknown_element(node, "TypeDefinitions");
            return None;
        }
        self.context.expect_attributes(node, &["name", "description"]);
        let body = node.children().find(Node::is_element);
        let kind = body.and_then(|b| type_of_2(b.tag_name().name()));
        let (Some(body), Some(kind)) = (body, kind) else {
            self.context.report(diagnostics::missing_element("Real, Integer, …", self.context.span(node)));
            return None;
        };
        let mut definition = self.read_type_body(body, kind);
        definition.name = self.context.required(node, "name");
        definition.description = text(node, "description");
        Some(definition)
    }

    fn read_type_body(&mut self, node: Node, kind: Type) -> TypeDefinition {
        let attributes = read_attributes(&mut self.context, node, kind);
        let mut items = Vec::new();
        for item in node.children().filter(|n| n.has_tag_name("Item")) {
            items.push(EnumerationItem {
                name: self.context.required(item, "name"),
                value: self.context.integer(item, "value").unwrap_or_default(),
                description: text(item, "description"),
            });
        }
        TypeDefinition { kind, attributes, items, ..Default::default() }
    }

    fn read_log_categories(&mut self, parent: Node) {
        for node in parent.children().filter(|n| n.has_tag_name("Category")) {
            let name = self.context.required(node, "name");
            self.model.log_categories.push(LogCategory { name, description: text(node, "description") });
        }
    }

    fn read_default_experiment(&mut self, node: Node) {
        let context = &mut self.context;
        context.expect_attributes(node, &["startTime", "stopTime", "tolerance", "stepSize"]);
        self.model.default_experiment = Some(DefaultExperiment {
            start_time: context.float(node, "startTime"),
            stop_time: context.float(node, "stopTime"),
            tolerance: context.float(node, "tolerance"),
            step_size: context.float(node, "stepSize"),
        });
    }

    fn read_variables(&mut self, parent: Node) {
        let is_3 = self.is_3();
        let mut nodes = Vec::new();
        for node in parent.children().filter(Node::is_element) {
            let name = node.tag_name().name();
            let is_variable = if is_3 { Type::from_word(name).is_some() } else { name == "ScalarVariable" };
            match is_variable {
                true => nodes.push(node),
                false => self.context.unknown_element(node, "ModelVariables"),
            }
        }
        if is_3 {
            for (at, node) in nodes.iter().enumerate() {
                if let Some(reference) = node.attribute("valueReference").and_then(|r| r.trim().parse().ok()) {
                    self.indices.entry(reference).or_insert(at);
                }
            }
        }
        let resolve = Resolve { indices: is_3.then_some(&self.indices), n_variables: nodes.len() };
        for node in nodes {
            let variable = read_variable(&mut self.context, node, self.model.version, &resolve);
            self.places.variables.push(self.context.span(node));
            self.model.variables.push(variable);
        }
    }

    fn read_structure(&mut self, parent: Node) {
        self.places.structure = self.context.span(parent);
        for node in parent.children().filter(Node::is_element) {
            let name = node.tag_name().name();
            if self.is_3() {
                self.read_unknown(node, name);
                continue;
            }
            let element = match name {
                "Outputs" => "Output",
                "Derivatives" => "ContinuousStateDerivative",
                "InitialUnknowns" => "InitialUnknown",
                _ => {
                    self.context.unknown_element(node, "ModelStructure");
                    continue;
                }
            };
            for unknown in node.children().filter(Node::is_element) {
                match unknown.tag_name().name() {
                    "Unknown" => self.read_unknown(unknown, element),
                    _ => self.context.unknown_element(unknown, name),
                }
            }
        }
    }

    /// One unknown of the list that 3.0 calls `element`.
    fn read_unknown(&mut self, node: Node, element: &str) {
        let structure: &mut ModelStructure = &mut self.model.structure;
        let (list, places) = match element {
            "Output" => (&mut structure.outputs, &mut self.places.outputs),
            "ContinuousStateDerivative" => (&mut structure.derivatives, &mut self.places.derivatives),
            "ClockedState" => (&mut structure.clocked_states, &mut self.places.clocked_states),
            "InitialUnknown" => (&mut structure.initial_unknowns, &mut self.places.initial_unknowns),
            "EventIndicator" => (&mut structure.event_indicators, &mut self.places.event_indicators),
            _ => return self.context.unknown_element(node, "ModelStructure"),
        };
        let is_3 = self.model.version == Version::V3;
        let resolve = Resolve { indices: is_3.then_some(&self.indices), n_variables: self.model.variables.len() };
        let attribute = if is_3 { "valueReference" } else { "index" };
        self.context.expect_attributes(node, &[attribute, "dependencies", "dependenciesKind"]);
        if node.attribute(attribute).is_none() {
            self.context.required(node, attribute);
            return;
        }
        let reference = self.context.integer(node, attribute);
        let Some(variable) = reference.and_then(|r| resolve.index(&mut self.context, node, attribute, r)) else {
            return;
        };
        let dependencies = read_dependencies(&mut self.context, node, &resolve);
        list.push(Unknown { variable, dependencies });
        places.push(self.context.span(node));
    }
}

fn read_dependencies(context: &mut Context, node: Node, resolve: &Resolve) -> Option<Vec<Dependency>> {
    let expected = "a list of whole numbers";
    let references: Option<Vec<u32>> = context.list(node, "dependencies", expected, |word| word.parse().ok());
    let kinds = context.list(node, "dependenciesKind", "a list of kinds", DependencyKind::from_word);
    let Some(references) = references else {
        if kinds.is_some() {
            context.report(diagnostics::kinds_without_dependencies(context.attribute_span(node, "dependenciesKind")));
        }
        return None;
    };
    let kinds = match kinds {
        Some(kinds) if kinds.len() == references.len() => kinds,
        Some(kinds) => {
            let span = context.attribute_span(node, "dependenciesKind");
            context.report(diagnostics::other_number_of_kinds(references.len(), kinds.len(), span));
            vec![DependencyKind::Dependent; references.len()]
        }
        None => vec![DependencyKind::Dependent; references.len()],
    };
    let mut dependencies = Vec::new();
    for (reference, kind) in references.into_iter().zip(kinds) {
        if let Some(variable) = resolve.index(context, node, "dependencies", reference) {
            dependencies.push(Dependency { variable, kind });
        }
    }
    Some(dependencies)
}

/// How references to variables are found: by value reference in 3.0, by index from 1 in 2.0.
pub(crate) struct Resolve<'a> {
    indices: Option<&'a HashMap<u32, usize>>,
    n_variables: usize,
}

impl Resolve<'_> {
    pub fn index(&self, context: &mut Context, node: Node, attribute: &str, reference: u32) -> Option<usize> {
        let found = match self.indices {
            Some(indices) => indices.get(&reference).copied(),
            None => (reference as usize).checked_sub(1).filter(|&at| at < self.n_variables),
        };
        if found.is_none() {
            let span = context.attribute_span(node, attribute);
            context.report(diagnostics::dangling_reference(attribute, reference, self.indices.is_some(), span));
        }
        found
    }
}

pub(crate) fn type_of_2(element: &str) -> Option<Type> {
    TYPES_OF_2.iter().find(|(word, _)| *word == element).map(|(_, kind)| *kind)
}

pub(crate) fn text(node: Node, name: &str) -> Option<String> {
    node.attribute(name).map(str::to_string)
}

const INTERFACE_OF_2: &[&str] = &[
    "modelIdentifier",
    "needsExecutionTool",
    "canBeInstantiatedOnlyOncePerProcess",
    "canNotUseMemoryManagementFunctions",
    "canGetAndSetFMUstate",
    "canSerializeFMUstate",
    "providesDirectionalDerivative",
];

const INTERFACE_OF_3: &[&str] = &[
    "modelIdentifier",
    "needsExecutionTool",
    "canBeInstantiatedOnlyOncePerProcess",
    "canGetAndSetFMUState",
    "canSerializeFMUState",
    "providesDirectionalDerivatives",
    "providesAdjointDerivatives",
    "providesPerElementDependencies",
];

const CO_SIMULATION_OF_2: &[&str] = &[
    "canHandleVariableCommunicationStepSize",
    "canInterpolateInputs",
    "maxOutputDerivativeOrder",
    "canRunAsynchronuously",
];

const CO_SIMULATION_OF_3: &[&str] = &[
    "canHandleVariableCommunicationStepSize",
    "fixedInternalStepSize",
    "maxOutputDerivativeOrder",
    "recommendedIntermediateInputSmoothness",
    "providesIntermediateUpdate",
    "mightReturnEarlyFromDoStep",
    "canReturnEarlyAfterIntermediateUpdate",
    "hasEventMode",
    "providesEvaluateDiscreteStates",
];
