//! The XML of a model description, in the version that it says.

use std::fmt;

use crate::attributes::float_text;
use crate::words::{Word, element_of_2};
use crate::write_variables::{write_variables, write_variables_of_2};
use crate::{Dependency, Interface, Kind, ModelDescription, Naming, Number, Type, Unknown, Version};

/// What a version of the standard cannot say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WriteError {
    /// A variable or type whose type 2.0 does not have.
    Type { name: String, kind: Type },
    /// 2.0 has no arrays.
    Array { name: String },
    /// 2.0 has no structural parameters and no clocks.
    Feature { name: String, feature: &'static str },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Type { name, kind } => write!(f, "FMI 2.0 has no type {}, which `{name}` has", kind.word()),
            WriteError::Array { name } => write!(f, "FMI 2.0 has no arrays, and `{name}` is one"),
            WriteError::Feature { name, feature } => write!(f, "FMI 2.0 has no {feature}, which `{name}` needs"),
        }
    }
}

impl std::error::Error for WriteError {}

/// The text of `modelDescription.xml`.
pub fn write(model: &ModelDescription) -> Result<String, WriteError> {
    let mut xml = Xml::new();
    xml.open("fmiModelDescription");
    write_heading(&mut xml, model);
    match model.version {
        Version::V2 => write_interfaces_of_2(&mut xml, model),
        Version::V3 => write_interfaces(&mut xml, model),
    }
    write_units(&mut xml, model);
    write_types(&mut xml, model)?;
    write_log_categories(&mut xml, model);
    if let Some(experiment) = &model.default_experiment {
        xml.open("DefaultExperiment");
        xml.float("startTime", experiment.start_time);
        xml.float("stopTime", experiment.stop_time);
        xml.float("tolerance", experiment.tolerance);
        xml.float("stepSize", experiment.step_size);
        xml.close();
    }
    xml.open("ModelVariables");
    match model.version {
        Version::V2 => write_variables_of_2(&mut xml, model)?,
        Version::V3 => write_variables(&mut xml, model),
    }
    xml.close();
    write_structure(&mut xml, model);
    xml.close();
    Ok(xml.text)
}

fn write_heading(xml: &mut Xml, model: &ModelDescription) {
    let is_2 = model.version == Version::V2;
    xml.attribute("fmiVersion", model.version.text());
    xml.attribute("modelName", &model.model_name);
    xml.attribute(if is_2 { "guid" } else { "instantiationToken" }, &model.token);
    xml.optional("description", &model.description);
    xml.optional("author", &model.author);
    xml.optional("version", &model.model_version);
    xml.optional("copyright", &model.copyright);
    xml.optional("license", &model.license);
    xml.optional("generationTool", &model.generation_tool);
    xml.optional("generationDateAndTime", &model.generation_date);
    if model.naming != Naming::Flat {
        xml.attribute("variableNamingConvention", model.naming.word());
    }
    if is_2 && model.model_exchange.is_some() {
        xml.attribute("numberOfEventIndicators", &model.n_event_indicators.to_string());
    }
}

fn write_interfaces_of_2(xml: &mut Xml, model: &ModelDescription) {
    if let Some(me) = &model.model_exchange {
        xml.open("ModelExchange");
        write_interface_of_2(xml, &me.interface);
        xml.flag("completedIntegratorStepNotNeeded", !me.needs_completed_step);
        write_source_files(xml, &me.interface);
        xml.close();
    }
    if let Some(cs) = &model.co_simulation {
        xml.open("CoSimulation");
        write_interface_of_2(xml, &cs.interface);
        xml.flag("canHandleVariableCommunicationStepSize", cs.variable_step);
        xml.flag("canInterpolateInputs", cs.interpolates_inputs);
        xml.unless_zero("maxOutputDerivativeOrder", cs.max_output_derivative_order.into());
        xml.flag("canRunAsynchronuously", cs.runs_asynchronously);
        write_source_files(xml, &cs.interface);
        xml.close();
    }
}

fn write_interface_of_2(xml: &mut Xml, interface: &Interface) {
    xml.attribute("modelIdentifier", &interface.model_identifier);
    xml.flag("needsExecutionTool", interface.needs_execution_tool);
    xml.flag("canBeInstantiatedOnlyOncePerProcess", interface.only_once_per_process);
    xml.flag("canNotUseMemoryManagementFunctions", interface.no_memory_functions);
    xml.flag("canGetAndSetFMUstate", interface.gets_and_sets_state);
    xml.flag("canSerializeFMUstate", interface.serializes_state);
    xml.flag("providesDirectionalDerivative", interface.directional_derivatives);
}

fn write_source_files(xml: &mut Xml, interface: &Interface) {
    if interface.source_files.is_empty() {
        return;
    }
    xml.open("SourceFiles");
    for file in &interface.source_files {
        xml.open("File");
        xml.attribute("name", file);
        xml.close();
    }
    xml.close();
}

fn write_interfaces(xml: &mut Xml, model: &ModelDescription) {
    for kind in model.kinds() {
        let Some(interface) = model.interface(kind) else { continue };
        xml.open(match kind {
            Kind::ModelExchange => "ModelExchange",
            Kind::CoSimulation => "CoSimulation",
            Kind::ScheduledExecution => "ScheduledExecution",
        });
        xml.attribute("modelIdentifier", &interface.model_identifier);
        xml.flag("needsExecutionTool", interface.needs_execution_tool);
        xml.flag("canBeInstantiatedOnlyOncePerProcess", interface.only_once_per_process);
        xml.flag("canGetAndSetFMUState", interface.gets_and_sets_state);
        xml.flag("canSerializeFMUState", interface.serializes_state);
        xml.flag("providesDirectionalDerivatives", interface.directional_derivatives);
        xml.flag("providesAdjointDerivatives", interface.adjoint_derivatives);
        xml.flag("providesPerElementDependencies", interface.per_element_dependencies);
        match kind {
            Kind::ModelExchange => write_model_exchange(xml, model),
            Kind::CoSimulation => write_co_simulation(xml, model),
            Kind::ScheduledExecution => {}
        }
        xml.close();
    }
}

fn write_model_exchange(xml: &mut Xml, model: &ModelDescription) {
    if let Some(me) = &model.model_exchange {
        xml.flag("needsCompletedIntegratorStep", me.needs_completed_step);
        xml.flag("providesEvaluateDiscreteStates", me.evaluates_discrete_states);
    }
}

fn write_co_simulation(xml: &mut Xml, model: &ModelDescription) {
    let Some(cs) = &model.co_simulation else { return };
    xml.flag("canHandleVariableCommunicationStepSize", cs.variable_step);
    xml.float("fixedInternalStepSize", cs.fixed_internal_step);
    xml.unless_zero("maxOutputDerivativeOrder", cs.max_output_derivative_order.into());
    xml.unless_zero("recommendedIntermediateInputSmoothness", cs.recommended_input_smoothness.into());
    xml.flag("providesIntermediateUpdate", cs.intermediate_update);
    xml.flag("mightReturnEarlyFromDoStep", cs.might_return_early);
    xml.flag("canReturnEarlyAfterIntermediateUpdate", cs.returns_early_after_intermediate_update);
    xml.flag("hasEventMode", cs.event_mode);
    xml.flag("providesEvaluateDiscreteStates", cs.evaluates_discrete_states);
}

/// The attributes of `BaseUnit` in the order of its exponents.
pub(crate) const BASE_UNITS: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

fn write_units(xml: &mut Xml, model: &ModelDescription) {
    if model.units.is_empty() {
        return;
    }
    xml.open("UnitDefinitions");
    for unit in &model.units {
        xml.open("Unit");
        xml.attribute("name", &unit.name);
        if let Some(base) = &unit.base {
            xml.open("BaseUnit");
            for (name, exponent) in BASE_UNITS.iter().zip(base.exponents) {
                xml.unless_zero(name, exponent.into());
            }
            xml.unless("factor", base.factor, 1.0);
            xml.unless("offset", base.offset, 0.0);
            xml.close();
        }
        for display in &unit.display_units {
            xml.open("DisplayUnit");
            xml.attribute("name", &display.name);
            xml.unless("factor", display.factor, 1.0);
            xml.unless("offset", display.offset, 0.0);
            xml.flag("inverse", display.inverse && model.version == Version::V3);
            xml.close();
        }
        xml.close();
    }
    xml.close();
}

fn write_types(xml: &mut Xml, model: &ModelDescription) -> Result<(), WriteError> {
    if model.types.is_empty() {
        return Ok(());
    }
    let is_2 = model.version == Version::V2;
    xml.open("TypeDefinitions");
    for definition in &model.types {
        if is_2 {
            let error = || WriteError::Type { name: definition.name.clone(), kind: definition.kind };
            let element = element_of_2(definition.kind).ok_or_else(error)?;
            xml.open("SimpleType");
            xml.attribute("name", &definition.name);
            xml.optional("description", &definition.description);
            xml.open(element);
        } else {
            xml.open(&format!("{}Type", definition.kind.word()));
            xml.attribute("name", &definition.name);
            xml.optional("description", &definition.description);
        }
        xml.attributes(&definition.attributes);
        if let Some(clock) = &definition.clock {
            crate::write_variables::write_clock(xml, clock);
        }
        for item in &definition.items {
            xml.open("Item");
            xml.attribute("name", &item.name);
            xml.attribute("value", &item.value.to_string());
            xml.optional("description", &item.description);
            xml.close();
        }
        xml.close();
        if is_2 {
            xml.close();
        }
    }
    xml.close();
    Ok(())
}

fn write_log_categories(xml: &mut Xml, model: &ModelDescription) {
    if model.log_categories.is_empty() {
        return;
    }
    xml.open("LogCategories");
    for category in &model.log_categories {
        xml.open("Category");
        xml.attribute("name", &category.name);
        xml.optional("description", &category.description);
        xml.close();
    }
    xml.close();
}

fn write_structure(xml: &mut Xml, model: &ModelDescription) {
    let structure = &model.structure;
    xml.open("ModelStructure");
    if model.version == Version::V2 {
        for (list, unknowns) in [
            ("Outputs", &structure.outputs),
            ("Derivatives", &structure.derivatives),
            ("InitialUnknowns", &structure.initial_unknowns),
        ] {
            if !unknowns.is_empty() {
                xml.open(list);
                unknowns.iter().for_each(|u| write_unknown(xml, model, "Unknown", u));
                xml.close();
            }
        }
    } else {
        for (element, unknowns) in [
            ("Output", &structure.outputs),
            ("ContinuousStateDerivative", &structure.derivatives),
            ("ClockedState", &structure.clocked_states),
            ("InitialUnknown", &structure.initial_unknowns),
            ("EventIndicator", &structure.event_indicators),
        ] {
            unknowns.iter().for_each(|u| write_unknown(xml, model, element, u));
        }
    }
    xml.close();
}

fn write_unknown(xml: &mut Xml, model: &ModelDescription, element: &str, unknown: &Unknown) {
    let reference = |at: usize| match model.version {
        Version::V2 => at as u64 + 1,
        Version::V3 => model.variables[at].reference.into(),
    };
    xml.open(element);
    let attribute = if model.version == Version::V2 { "index" } else { "valueReference" };
    xml.attribute(attribute, &reference(unknown.variable).to_string());
    if let Some(dependencies) = &unknown.dependencies {
        xml.attribute("dependencies", &joined(dependencies, |d| reference(d.variable).to_string()));
        if dependencies.iter().any(|d| d.kind != Default::default()) {
            xml.attribute("dependenciesKind", &joined(dependencies, |d| d.kind.word().to_string()));
        }
    }
    xml.close();
}

fn joined(dependencies: &[Dependency], text: impl Fn(&Dependency) -> String) -> String {
    let words: Vec<String> = dependencies.iter().map(text).collect();
    words.join(" ")
}

/// XML text that grows, with elements closed in the order that they were opened.
pub(crate) struct Xml {
    text: String,
    open: Vec<String>,
    /// The last opening has no `>` yet.
    in_opening: bool,
}

impl Xml {
    fn new() -> Self {
        Xml { text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".into(), open: Vec::new(), in_opening: false }
    }

    pub fn open(&mut self, element: &str) {
        if self.in_opening {
            self.text.push_str(">\n");
        }
        self.indent();
        self.text.push('<');
        self.text.push_str(element);
        self.open.push(element.to_string());
        self.in_opening = true;
    }

    pub fn close(&mut self) {
        let Some(element) = self.open.pop() else { return };
        if self.in_opening {
            self.text.push_str("/>\n");
        } else {
            self.indent();
            self.text.push_str("</");
            self.text.push_str(&element);
            self.text.push_str(">\n");
        }
        self.in_opening = false;
    }

    fn indent(&mut self) {
        self.text.extend(std::iter::repeat_n(' ', 2 * self.open.len()));
    }

    pub fn attribute(&mut self, name: &str, value: &str) {
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
        for c in value.chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\n' => self.text.push_str("&#10;"),
                '\r' => self.text.push_str("&#13;"),
                '\t' => self.text.push_str("&#9;"),
                // XML cannot say the others, not even as a reference.
                c if (c as u32) < 0x20 || c == '\u{fffe}' || c == '\u{ffff}' => self.text.push('\u{fffd}'),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }

    pub fn optional(&mut self, name: &str, value: &Option<String>) {
        if let Some(value) = value {
            self.attribute(name, value);
        }
    }

    pub fn flag(&mut self, name: &str, value: bool) {
        if value {
            self.attribute(name, "true");
        }
    }

    pub fn boolean(&mut self, name: &str, value: Option<bool>) {
        if let Some(value) = value {
            self.attribute(name, if value { "true" } else { "false" });
        }
    }

    pub fn float(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.attribute(name, &float_text(value));
        }
    }

    pub fn integer(&mut self, name: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.attribute(name, &value.to_string());
        }
    }

    pub fn unless(&mut self, name: &str, value: f64, default: f64) {
        if value != default {
            self.float(name, Some(value));
        }
    }

    pub fn unless_zero(&mut self, name: &str, value: i64) {
        if value != 0 {
            self.attribute(name, &value.to_string());
        }
    }

    /// Those that are given.
    pub fn attributes(&mut self, attributes: &crate::Attributes) {
        let number = |n: &Option<Number>| n.map(|n| n.to_string());
        self.optional("quantity", &attributes.quantity);
        self.optional("unit", &attributes.unit);
        self.optional("displayUnit", &attributes.display_unit);
        self.boolean("relativeQuantity", attributes.relative_quantity);
        self.boolean("unbounded", attributes.unbounded);
        self.optional("min", &number(&attributes.min));
        self.optional("max", &number(&attributes.max));
        self.float("nominal", attributes.nominal);
        self.optional("mimeType", &attributes.mime_type);
        self.integer("maxSize", attributes.max_size);
    }
}
