//! The model description of a compiled model.
//!
//! In: a model, the version of the standard, the kinds of use. Out: the data of `modelDescription.xml`.
//!
//! | in the model | in the description |
//! |---|---|
//! | parameter that can be set without compiling | parameter, tunable, with its value as start |
//! | parameter that the structure of the model depends on | constant |
//! | other parameters | calculated parameter |
//! | top-level input, output | the same |
//! | everything else | local; aliases share their value reference |
//! | relation with a continuous operand | event indicator |
//! | clock that others see | clock of 3.0, by priority: the shortest interval first |

mod structure;

use std::collections::{BTreeMap, BTreeSet};

use saltus::Model;
use saltus_base::Index;
use saltus_fmi::{
    Alias, Attributes, Causality, ClockAttributes, CoSimulation, DefaultExperiment, Dimension, EnumerationItem,
    Initial, Interface, IntervalVariability, LogCategory, ModelDescription, ModelExchange, Naming, Number, Type,
    TypeDefinition, Values, Variability, Variable, Version,
};
use saltus_program::{SlotId, SlotType};

use crate::instance::{CATEGORIES, default_values};
use crate::references::{ClockKind, Rank, References, is_shown};
use crate::units::Units;

/// How the FMU can be used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Kinds {
    pub model_exchange: bool,
    pub co_simulation: bool,
    pub scheduled_execution: bool,
}

/// What a variable is by itself, before aliases are gathered.
struct Described {
    variable: Variable,
    slot: SlotId,
    rank: Rank,
}

pub fn describe(model: &Model, version: Version, kinds: Kinds, identifier: &str, token: &str) -> ModelDescription {
    let mut maker = Maker {
        model,
        version,
        references: References::new(model),
        values: default_values(model),
        units: Units::default(),
        types: BTreeMap::new(),
    };
    maker.units.note("s", "");
    let time =
        Variable { description: Some("Simulation time".into()), ..Variable::independent("time", References::TIME) };
    let mut variables = vec![Variable { attributes: unit("s"), ..time }];
    variables.extend(maker.variables());
    let n_indicators = if kinds.model_exchange { maker.references.n_indicators() } else { 0 };
    if version == Version::V3 {
        variables.extend((0..n_indicators).map(|k| maker.indicator(k)));
        variables.extend(maker.clocks());
    }
    let structure = structure::of(model, &maker.references, version, &mut variables, n_indicators);
    let is_structured = variables.iter().all(|v| saltus_fmi::is_structured(&v.name));
    let interface = Interface {
        model_identifier: identifier.to_owned(),
        gets_and_sets_state: true,
        serializes_state: true,
        directional_derivatives: true,
        adjoint_derivatives: version == Version::V3,
        ..Interface::default()
    };
    ModelDescription {
        version,
        model_name: model.name().to_owned(),
        token: token.to_owned(),
        generation_tool: Some(format!("Saltus {}", env!("CARGO_PKG_VERSION"))),
        naming: if is_structured { Naming::Structured } else { Naming::Flat },
        model_exchange: kinds.model_exchange.then(|| ModelExchange {
            interface: interface.clone(),
            needs_completed_step: true,
            evaluates_discrete_states: false,
        }),
        scheduled_execution: kinds.scheduled_execution.then(|| interface.clone()),
        co_simulation: kinds.co_simulation.then(|| co_simulation(interface, version)),
        units: maker.units.definitions(),
        types: maker.types.into_values().collect(),
        log_categories: CATEGORIES
            .iter()
            .map(|(name, text)| LogCategory { name: (*name).into(), description: Some((*text).into()) })
            .collect(),
        default_experiment: Some(experiment(model)),
        variables,
        structure,
        n_event_indicators: n_indicators,
        ..ModelDescription::default()
    }
}

fn co_simulation(interface: Interface, version: Version) -> CoSimulation {
    let is_new = version == Version::V3;
    CoSimulation {
        interface,
        variable_step: true,
        max_output_derivative_order: 1,
        interpolates_inputs: !is_new,
        runs_asynchronously: false,
        fixed_internal_step: None,
        recommended_input_smoothness: 0,
        intermediate_update: is_new,
        might_return_early: is_new,
        returns_early_after_intermediate_update: is_new,
        event_mode: is_new,
        evaluates_discrete_states: false,
    }
}

fn experiment(model: &Model) -> DefaultExperiment {
    let options = saltus_sim::Options::new(model.program());
    let asked = &model.program().experiment;
    DefaultExperiment {
        start_time: Some(options.start_time),
        stop_time: Some(options.stop_time),
        tolerance: Some(options.tolerance),
        step_size: asked.interval.or(Some(options.interval)).filter(|i| *i > 0.0),
    }
}

fn unit(name: &str) -> Attributes {
    Attributes { unit: Some(name.to_owned()), ..Attributes::default() }
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

struct Maker<'a> {
    model: &'a Model,
    version: Version,
    references: References,
    /// Of parameters and inputs, by slot.
    values: Vec<f64>,
    units: Units,
    /// Enumerations that are used, by their position in the program.
    types: BTreeMap<usize, TypeDefinition>,
}

impl Maker<'_> {
    /// All variables but time and event indicators.
    fn variables(&mut self) -> Vec<Variable> {
        let is_new = self.version == Version::V3;
        let in_groups: BTreeSet<usize> = match is_new {
            true => self.references.groups.iter().flat_map(|g| g.variables.iter().copied()).collect(),
            false => BTreeSet::new(),
        };
        let mut all = Vec::new();
        for (i, v) in self.model.variables().iter().enumerate() {
            if is_shown(&v) && !self.references.is_start(&v) && !in_groups.contains(&i) {
                all.push(self.described(&v));
            }
        }
        self.add_states(&mut all);
        let mut variables = if is_new { gathered(all) } else { all.into_iter().map(|d| d.variable).collect() };
        if is_new {
            for k in 0..self.references.groups.len() {
                variables.push(self.group(k));
            }
        }
        for (k, (name, text)) in self.references.texts.iter().enumerate() {
            let reference = self.references.of_text(k);
            variables.push(Variable {
                name: name.clone(),
                reference,
                variability: Variability::Constant,
                initial: Some(Initial::Exact),
                start: Some(Values::String(vec![text.clone()])),
                ..Variable::new(Type::String)
            });
        }
        variables
    }

    /// Variables for states and derivatives that have no name in the model.
    fn add_states(&self, all: &mut Vec<Described>) {
        let program = self.model.program();
        let mut known: BTreeSet<SlotId> = all.iter().map(|d| d.slot).collect();
        for state in &program.states {
            for slot in [state.value, state.derivative] {
                if known.insert(slot) {
                    let name = program.memory.slot_name(slot).replace('$', "_");
                    let name =
                        if name.starts_with("der(") || slot == state.value { name } else { format!("der({name})") };
                    let variable =
                        Variable { name, reference: References::of_slot(slot), ..Variable::new(Type::Float64) };
                    all.push(Described { variable: calculated(variable), slot, rank: Rank::Derivative });
                }
            }
        }
    }

    fn described(&mut self, v: &saltus_program::Variable) -> Described {
        use saltus_program::Variability as V;
        let kind = type_of(v.ty, self.version);
        let is_real = v.ty == SlotType::Real;
        let changes = match v.variability {
            V::Continuous if is_real => Variability::Continuous,
            V::Continuous | V::Discrete => Variability::Discrete,
            V::Parameter => Variability::Tunable,
            V::Constant => Variability::Constant,
        };
        let rank = Rank::of(self.model, v);
        let (causality, variability, has_start) = match rank {
            Rank::Input => (Causality::Input, changes.max(Variability::Discrete), true),
            Rank::Output if v.variability == V::Constant => (Causality::Output, Variability::Constant, true),
            // The standard has no outputs that are parameters.
            Rank::Output => (Causality::Output, changes.max(Variability::Discrete), false),
            Rank::Parameter => (Causality::Parameter, Variability::Tunable, true),
            Rank::Constant => (Causality::Local, Variability::Constant, true),
            Rank::CalculatedParameter => (Causality::CalculatedParameter, Variability::Tunable, false),
            Rank::Local | Rank::Derivative => (Causality::Local, changes, false),
        };
        // A state with a fixed start value can be given another one.
        let state_start = self.references.start_of(v.slot).filter(|_| matches!(rank, Rank::Output | Rank::Local));
        let has_start = has_start || state_start.is_some();
        let start = has_start.then(|| self.start(&[state_start.unwrap_or(v.slot)], v.ty));
        let variable = Variable {
            name: v.name().into_owned(),
            reference: References::of_slot(v.slot),
            description: filled(&v.description),
            kind,
            causality,
            variability,
            initial: initial_of(causality, has_start),
            declared_type: self.declared_type(v),
            attributes: self.attributes(v),
            start,
            reinit: false,
            ..Variable::default()
        };
        Described { variable, slot: v.slot, rank }
    }

    fn group(&mut self, k: usize) -> Variable {
        let group = self.references.groups[k].clone();
        let first = self.model.variables().get(group.variables[0]);
        let variable = first.map(|first| self.described(&first).variable).unwrap_or_default();
        let start = variable.start.is_some().then(|| self.start(&group.slots, group.ty));
        Variable {
            name: group.name.clone(),
            reference: self.references.of_group(k),
            dimensions: group.sizes.iter().map(|&n| Dimension::Fixed(n)).collect(),
            start,
            ..variable
        }
    }

    fn start(&self, slots: &[SlotId], ty: SlotType) -> Values {
        let numbers = slots.iter().map(|slot| self.values.get(slot.index()).copied().unwrap_or(0.0));
        let number = |x: f64| if x.is_nan() { 0.0 } else { x };
        match ty {
            SlotType::Real => Values::Float(numbers.map(number).collect()),
            SlotType::Integer => Values::Integer(numbers.map(|x| number(x) as i128).collect()),
            SlotType::Enumeration => Values::Integer(numbers.map(|x| number(x).max(1.0) as i128).collect()),
            SlotType::Boolean => Values::Boolean(numbers.map(|x| x != 0.0).collect()),
        }
    }

    fn declared_type(&mut self, v: &saltus_program::Variable) -> Option<String> {
        let id = v.enumeration?;
        let enumeration = self.model.program().routines.enumerations.get(id)?;
        let items = enumeration.literals.iter().zip(1..);
        let definition = || TypeDefinition {
            name: enumeration.name.clone(),
            kind: Type::Enumeration,
            items: items
                .map(|(name, value)| EnumerationItem { name: name.clone(), value, description: None })
                .collect(),
            ..TypeDefinition::default()
        };
        Some(self.types.entry(id.index()).or_insert_with(definition).name.clone())
    }

    fn attributes(&mut self, v: &saltus_program::Variable) -> Attributes {
        let number = |x: f64| match v.ty {
            SlotType::Real => Number::Float(x),
            _ => Number::Integer(x as i128),
        };
        let is_number = matches!(v.ty, SlotType::Real | SlotType::Integer);
        let has_range = is_number && !matches!((v.min, v.max), (Some(min), Some(max)) if min > max);
        let limit = |x: Option<f64>| x.filter(|x| x.is_finite() && has_range).map(number);
        let (min, max) = (limit(v.min), limit(v.max));
        let quantity = filled(&v.quantity);
        if v.ty != SlotType::Real {
            return Attributes { quantity, min, max, ..Attributes::default() };
        }
        let display = if v.unit.is_empty() { None } else { self.units.note(&v.unit, &v.display_unit) };
        Attributes {
            quantity,
            unit: filled(&v.unit),
            display_unit: display.map(str::to_owned),
            relative_quantity: v.is_difference.then_some(true),
            min,
            max,
            nominal: v.nominal.map(f64::abs).filter(|n| n.is_finite() && *n > 0.0),
            ..Attributes::default()
        }
    }

    fn indicator(&self, k: usize) -> Variable {
        let relation = self.model.program().events.relations.values().nth(k);
        calculated(Variable {
            name: format!("_eventIndicators[{}]", k + 1),
            reference: self.references.of_indicator(k),
            description: relation.map(|r| r.text.clone()),
            ..Variable::new(Type::Float64)
        })
    }

    /// Clocks of 3.0. An interval that depends on parameters has to be asked for.
    fn clocks(&self) -> Vec<Variable> {
        let interval_of = |kind: ClockKind| match kind {
            ClockKind::Input { interval, .. } => interval.map(|slot| self.values[slot.index()]),
            ClockKind::Output { .. } => None,
        };
        let clocks = &self.references.clocks;
        let mut order: Vec<usize> = (0..clocks.len()).collect();
        let length = |k: usize| interval_of(clocks[k].kind).unwrap_or(f64::INFINITY);
        order.sort_by(|&a, &b| length(a).total_cmp(&length(b)));
        let priority = |k: usize| order.iter().position(|&other| other == k).map(|p| p as u32);
        let clock = |(k, clock): (usize, &crate::references::ClockVariable)| {
            let (causality, interval, interval_decimal) = match clock.kind {
                ClockKind::Output { .. } => (Causality::Output, IntervalVariability::Triggered, None),
                ClockKind::Input { interval: None, .. } => (Causality::Input, IntervalVariability::Triggered, None),
                ClockKind::Input { .. } if self.is_constant_interval(&clock.name) => {
                    (Causality::Input, IntervalVariability::Constant, interval_of(clock.kind))
                }
                ClockKind::Input { .. } => (Causality::Input, IntervalVariability::Tunable, None),
            };
            let attributes =
                ClockAttributes { interval, interval_decimal, priority: priority(k), ..ClockAttributes::default() };
            Variable {
                name: clock.name.clone(),
                reference: self.references.of_clock(k),
                causality,
                clock: Some(attributes),
                ..Variable::new(Type::Clock)
            }
        };
        clocks.iter().enumerate().map(clock).collect()
    }

    /// It depends on no parameter if it is one that could be set itself.
    fn is_constant_interval(&self, clock: &str) -> bool {
        self.model.changeable(&saltus::clock_variables::interval_of(clock)).is_ok()
    }
}

fn calculated(variable: Variable) -> Variable {
    Variable { initial: Some(Initial::Calculated), ..variable }
}

fn initial_of(causality: Causality, has_start: bool) -> Option<Initial> {
    match causality {
        // The standard says which.
        Causality::Input => None,
        _ => Some(if has_start { Initial::Exact } else { Initial::Calculated }),
    }
}

fn type_of(ty: SlotType, version: Version) -> Type {
    match (ty, version) {
        (SlotType::Real, _) => Type::Float64,
        (SlotType::Integer, Version::V2) => Type::Int32,
        (SlotType::Integer, Version::V3) => Type::Int64,
        (SlotType::Boolean, _) => Type::Boolean,
        (SlotType::Enumeration, _) => Type::Enumeration,
    }
}

/// One variable for each slot, the others as its aliases.
fn gathered(all: Vec<Described>) -> Vec<Variable> {
    let mut best: BTreeMap<SlotId, (Rank, usize)> = BTreeMap::new();
    for (i, described) in all.iter().enumerate() {
        let known = best.entry(described.slot).or_insert((described.rank, i));
        *known = (*known).min((described.rank, i));
    }
    let mut variables: Vec<Variable> = Vec::new();
    let mut places: BTreeMap<SlotId, usize> = BTreeMap::new();
    let mut aliases: Vec<(SlotId, Alias)> = Vec::new();
    for (i, Described { variable, slot, .. }) in all.into_iter().enumerate() {
        if best.get(&slot).is_some_and(|(_, chosen)| *chosen == i) {
            places.insert(slot, variables.len());
            variables.push(variable);
        } else {
            aliases.push((slot, Alias { name: variable.name, description: variable.description, display_unit: None }));
        }
    }
    for (slot, alias) in aliases {
        if let Some(variable) = places.get(&slot).and_then(|&at| variables.get_mut(at)) {
            variable.aliases.push(alias);
        }
    }
    variables
}
