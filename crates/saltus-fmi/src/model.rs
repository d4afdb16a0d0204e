//! The model description but for its variables.

use crate::{Attributes, ClockAttributes, EnumerationItem, Type, Values, Variable};

/// Which version of the standard an FMU follows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Version {
    V2,
    #[default]
    V3,
}

impl Version {
    /// As in the attribute `fmiVersion`.
    pub fn text(self) -> &'static str {
        match self {
            Version::V2 => "2.0",
            Version::V3 => "3.0",
        }
    }
}

/// An interface of an FMU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    ModelExchange,
    CoSimulation,
    ScheduledExecution,
}

/// How names of variables are built.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Naming {
    #[default]
    Flat,
    Structured,
}

/// `modelDescription.xml`. What is absent in the file is `None`, empty, or has the standard's default.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ModelDescription {
    pub version: Version,
    pub model_name: String,
    /// `guid` in 2.0, `instantiationToken` in 3.0.
    pub token: String,
    pub description: Option<String>,
    pub author: Option<String>,
    /// The model's own version.
    pub model_version: Option<String>,
    pub copyright: Option<String>,
    pub license: Option<String>,
    pub generation_tool: Option<String>,
    pub generation_date: Option<String>,
    pub naming: Naming,
    pub model_exchange: Option<ModelExchange>,
    pub co_simulation: Option<CoSimulation>,
    pub scheduled_execution: Option<Interface>,
    pub units: Vec<Unit>,
    pub types: Vec<TypeDefinition>,
    pub log_categories: Vec<LogCategory>,
    pub default_experiment: Option<DefaultExperiment>,
    pub variables: Vec<Variable>,
    pub structure: ModelStructure,
    /// `numberOfEventIndicators` of 2.0. In 3.0 the event indicators are variables of the structure.
    pub n_event_indicators: usize,
}

impl ModelDescription {
    pub fn interface(&self, kind: Kind) -> Option<&Interface> {
        match kind {
            Kind::ModelExchange => self.model_exchange.as_ref().map(|me| &me.interface),
            Kind::CoSimulation => self.co_simulation.as_ref().map(|cs| &cs.interface),
            Kind::ScheduledExecution => self.scheduled_execution.as_ref(),
        }
    }

    /// The interfaces that it has.
    pub fn kinds(&self) -> Vec<Kind> {
        let all = [Kind::ModelExchange, Kind::CoSimulation, Kind::ScheduledExecution];
        all.into_iter().filter(|&kind| self.interface(kind).is_some()).collect()
    }

    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|v| v.name == name)
    }

    /// Index of the definition of a type.
    pub fn type_definition(&self, name: &str) -> Option<&TypeDefinition> {
        self.types.iter().find(|t| t.name == name)
    }

    /// Attributes of a variable, with those of its declared type where it has none of its own.
    pub fn effective_attributes(&self, variable: &Variable) -> Attributes {
        let declared = variable.declared_type.as_deref().and_then(|name| self.type_definition(name));
        match declared {
            Some(declared) => variable.attributes.or(&declared.attributes),
            None => variable.attributes.clone(),
        }
    }

    /// With other values of structural parameters, by index of variable: arrays have other sizes then.
    pub fn with_structure(&self, values: &[(usize, Vec<f64>)]) -> ModelDescription {
        let mut model = self.clone();
        for (variable, values) in values {
            let Some(variable) = model.variables.get_mut(*variable) else { continue };
            variable.start = Some(match variable.kind {
                Type::Boolean => Values::Boolean(values.iter().map(|v| *v != 0.0).collect()),
                kind if kind.is_float() => Values::Float(values.clone()),
                _ => Values::Integer(values.iter().map(|v| v.round() as i128).collect()),
            });
        }
        model
    }

    /// Number of scalars of a variable whose dimensions have the values of their start attributes.
    pub fn n_elements(&self, variable: &Variable) -> u64 {
        let size = |d: &crate::Dimension| match *d {
            crate::Dimension::Fixed(n) => n,
            crate::Dimension::Variable(at) => self.variables[at].start_integer().map_or(1, |n| n.max(0) as u64),
        };
        variable.dimensions.iter().map(size).fold(1, u64::saturating_mul)
    }
}

/// What all interfaces have in common.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Interface {
    pub model_identifier: String,
    pub needs_execution_tool: bool,
    pub only_once_per_process: bool,
    pub gets_and_sets_state: bool,
    pub serializes_state: bool,
    pub directional_derivatives: bool,
    /// 3.0.
    pub adjoint_derivatives: bool,
    /// 3.0.
    pub per_element_dependencies: bool,
    /// `canNotUseMemoryManagementFunctions` of 2.0.
    pub no_memory_functions: bool,
    /// 2.0.
    pub source_files: Vec<String>,
}

impl Interface {
    pub fn new(model_identifier: impl Into<String>) -> Self {
        Interface { model_identifier: model_identifier.into(), ..Default::default() }
    }
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct ModelExchange {
    pub interface: Interface,
    /// `completedIntegratorStepNotNeeded` of 2.0, turned around.
    pub needs_completed_step: bool,
    /// 3.0.
    pub evaluates_discrete_states: bool,
}

impl ModelExchange {
    pub fn new(model_identifier: impl Into<String>) -> Self {
        ModelExchange { interface: Interface::new(model_identifier), ..Default::default() }
    }
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct CoSimulation {
    pub interface: Interface,
    pub variable_step: bool,
    pub max_output_derivative_order: u32,
    /// 2.0.
    pub interpolates_inputs: bool,
    /// 2.0.
    pub runs_asynchronously: bool,
    /// 3.0, as all that follow.
    pub fixed_internal_step: Option<f64>,
    pub recommended_input_smoothness: i32,
    pub intermediate_update: bool,
    pub might_return_early: bool,
    pub returns_early_after_intermediate_update: bool,
    pub event_mode: bool,
    pub evaluates_discrete_states: bool,
}

impl CoSimulation {
    pub fn new(model_identifier: impl Into<String>) -> Self {
        CoSimulation { interface: Interface::new(model_identifier), ..Default::default() }
    }
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Unit {
    pub name: String,
    pub base: Option<BaseUnit>,
    pub display_units: Vec<DisplayUnit>,
}

/// A value in the unit times `factor` plus `offset` is the value in the unit of these exponents.
#[derive(Clone, PartialEq, Debug)]
pub struct BaseUnit {
    /// Of kg, m, s, A, K, mol, cd, rad.
    pub exponents: [i32; 8],
    pub factor: f64,
    pub offset: f64,
}

impl Default for BaseUnit {
    fn default() -> Self {
        BaseUnit { exponents: [0; 8], factor: 1.0, offset: 0.0 }
    }
}

/// A value in the unit times `factor` plus `offset` is the value in the display unit; `inverse`: `factor` divided by the value.
#[derive(Clone, PartialEq, Debug)]
pub struct DisplayUnit {
    pub name: String,
    pub factor: f64,
    pub offset: f64,
    /// 3.0.
    pub inverse: bool,
}

impl Default for DisplayUnit {
    fn default() -> Self {
        DisplayUnit { name: String::new(), factor: 1.0, offset: 0.0, inverse: false }
    }
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct TypeDefinition {
    pub name: String,
    pub description: Option<String>,
    pub kind: Type,
    pub attributes: Attributes,
    /// Of enumerations.
    pub items: Vec<EnumerationItem>,
    /// Of clocks.
    pub clock: Option<ClockAttributes>,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct LogCategory {
    pub name: String,
    pub description: Option<String>,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct DefaultExperiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub tolerance: Option<f64>,
    pub step_size: Option<f64>,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct ModelStructure {
    pub outputs: Vec<Unknown>,
    /// The derivatives of the continuous states, in the order of the state vector.
    pub derivatives: Vec<Unknown>,
    /// 3.0.
    pub clocked_states: Vec<Unknown>,
    pub initial_unknowns: Vec<Unknown>,
    /// 3.0.
    pub event_indicators: Vec<Unknown>,
}

/// One unknown and what it depends on.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Unknown {
    /// Index of the variable.
    pub variable: usize,
    /// Without any it may depend on every known.
    pub dependencies: Option<Vec<Dependency>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// Index of the variable.
    pub variable: usize,
    pub kind: DependencyKind,
}

/// How an unknown depends on a known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum DependencyKind {
    #[default]
    Dependent,
    /// Linear with a factor that never changes.
    Constant,
    /// Linear with a factor that is fixed after initialisation.
    Fixed,
    /// Linear with a factor that changes with tunable parameters.
    Tunable,
    /// Linear with a factor that changes at events.
    Discrete,
}
