//! The rules of the standard about a model description, beyond its schema.

use std::collections::HashMap;

use saltus_base::{Diagnostics, Span};

use crate::check_structure::check_structure;
use crate::names::{is_c_identifier, is_flat, is_structured};
use crate::{
    Attributes, Causality, Dimension, Document, Initial, IntervalVariability, Kind, ModelDescription, Naming, Type,
    TypeDefinition, Unit, Variability, Variable, Version, diagnostics,
};

/// All findings: what the reader found, and every rule that the data breaks.
pub fn check(document: &Document) -> Diagnostics {
    let mut findings = document.findings.clone();
    let model = &document.model;
    let mut check = Check {
        model,
        places: &document.places,
        findings: &mut findings,
        units: model.units.iter().map(|u| (u.name.as_str(), u)).collect(),
        types: model.types.iter().map(|t| (t.name.as_str(), t)).collect(),
    };
    check.check_interfaces();
    check.check_units();
    check.check_types();
    check.check_names();
    check.check_references();
    for (at, variable) in document.model.variables.iter().enumerate() {
        check.check_variable(variable, check.places.variables[at]);
    }
    check.check_independent();
    check_structure(&mut check);
    findings
}

pub(crate) struct Check<'a> {
    pub model: &'a ModelDescription,
    pub places: &'a crate::Places,
    pub findings: &'a mut Diagnostics,
    units: HashMap<&'a str, &'a Unit>,
    types: HashMap<&'a str, &'a TypeDefinition>,
}

/// Which values `initial` may have.
pub(crate) struct InitialRule {
    pub default: Option<Initial>,
    pub allowed: &'static [Initial],
}

/// The table of the standard: causality and variability to values of `initial`. None: the two do not go together.
pub(crate) fn initial_rule(causality: Causality, variability: Variability) -> Option<InitialRule> {
    use Variability as V;
    const CALCULATED: &[Initial] = &[Initial::Calculated, Initial::Approx];
    const ANY: &[Initial] = &[Initial::Calculated, Initial::Exact, Initial::Approx];
    const EXACT: &[Initial] = &[Initial::Exact];
    let allowed = match (causality, variability) {
        (Causality::Parameter | Causality::StructuralParameter, V::Fixed | V::Tunable) => EXACT,
        (Causality::CalculatedParameter | Causality::Local, V::Fixed | V::Tunable) => CALCULATED,
        (Causality::Input, V::Discrete | V::Continuous) => EXACT,
        (Causality::Output | Causality::Local, V::Constant) => EXACT,
        (Causality::Output | Causality::Local, V::Discrete | V::Continuous) => ANY,
        (Causality::Independent, V::Continuous) => &[],
        _ => return None,
    };
    Some(InitialRule { default: allowed.first().copied(), allowed })
}

impl Check<'_> {
    fn check_interfaces(&mut self) {
        if self.model.kinds().is_empty() {
            self.findings.push(diagnostics::no_interface(self.places.root));
        }
        for kind in [Kind::ModelExchange, Kind::CoSimulation, Kind::ScheduledExecution] {
            let Some(interface) = self.model.interface(kind) else { continue };
            if !is_c_identifier(&interface.model_identifier) {
                self.findings.push(diagnostics::bad_model_identifier(&interface.model_identifier, self.places.root));
            }
            if interface.serializes_state && !interface.gets_and_sets_state {
                self.findings.push(diagnostics::serializes_without_state(self.places.root));
            }
        }
    }

    fn check_units(&mut self) {
        let places = self.places;
        let names = self.model.units.iter().map(|u| u.name.as_str()).zip(places.units.iter().copied());
        self.check_unique("unit", names);
        for (unit, &span) in self.model.units.iter().zip(&places.units) {
            self.check_unique("display unit", unit.display_units.iter().map(|d| (d.name.as_str(), span)));
        }
    }

    fn check_unique<'n>(&mut self, what: &str, names: impl Iterator<Item = (&'n str, Span)>) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for (name, span) in names {
            if let Some(&first) = seen.get(name) {
                self.findings.push(diagnostics::duplicate_name(what, name, span, first));
            } else {
                seen.insert(name, span);
            }
        }
    }

    fn check_types(&mut self) {
        let places = self.places;
        let names = self.model.types.iter().map(|t| t.name.as_str()).zip(places.types.iter().copied());
        self.check_unique("type", names);
        for (definition, &span) in self.model.types.iter().zip(&places.types) {
            self.check_attributes(&definition.name, &definition.attributes, span);
            if definition.kind != Type::Enumeration {
                continue;
            }
            if definition.items.is_empty() {
                self.findings.push(diagnostics::empty_enumeration(&definition.name, span));
            }
            self.check_unique("item", definition.items.iter().map(|i| (i.name.as_str(), span)));
            let mut values: Vec<i64> = definition.items.iter().map(|i| i.value).collect();
            values.sort_unstable();
            if values.windows(2).any(|pair| pair[0] == pair[1]) {
                self.findings.push(diagnostics::duplicate_item_value(&definition.name, span));
            }
        }
    }

    fn check_names(&mut self) {
        let places = self.places;
        let model = self.model;
        let all = model.variables.iter().zip(&places.variables).flat_map(|(variable, &span)| {
            std::iter::once(variable.name.as_str())
                .chain(variable.aliases.iter().map(|a| a.name.as_str()))
                .map(move |name| (name, span))
        });
        self.check_unique("variable", all.clone());
        let convention: fn(&str) -> bool = match model.naming {
            Naming::Flat => is_flat,
            Naming::Structured => is_structured,
        };
        for (name, span) in all {
            if !convention(name) {
                let is_structured = model.naming == Naming::Structured;
                self.findings.push(diagnostics::bad_variable_name(name, is_structured, span));
            }
        }
    }

    /// Value references are unique in 3.0; in 2.0 variables that share one are aliases.
    fn check_references(&mut self) {
        let is_3 = self.model.version == Version::V3;
        let mut first: HashMap<(u32, Option<Type>), usize> = HashMap::new();
        for (at, variable) in self.model.variables.iter().enumerate() {
            let base = match variable.kind {
                _ if is_3 => None,
                // Enumerations of 2.0 are read and written as integers.
                Type::Enumeration => Some(Type::Int32),
                kind => Some(kind),
            };
            let Some(&other) = first.get(&(variable.reference, base)) else {
                first.insert((variable.reference, base), at);
                continue;
            };
            let (span, earlier) = (self.places.variables[at], self.places.variables[other]);
            let other = &self.model.variables[other];
            let is_settable = |v: &Variable| matches!(v.causality, Causality::Input | Causality::Parameter);
            let is_constant = |v: &Variable| v.variability == Variability::Constant;
            let clash =
                is_3 || (is_settable(variable) && is_settable(other)) || is_constant(variable) != is_constant(other);
            if clash {
                let finding =
                    diagnostics::shared_reference(&variable.name, &other.name, variable.reference, is_3, span, earlier);
                self.findings.push(finding);
            }
        }
    }

    fn check_variable(&mut self, variable: &Variable, span: Span) {
        self.check_combination(variable, span);
        self.check_start(variable, span);
        self.check_declared_type(variable, span);
        let attributes = self.attributes(variable);
        self.check_attributes(&variable.name, &attributes, span);
        for display in variable.aliases.iter().filter_map(|a| a.display_unit.as_deref()) {
            self.check_display_unit(&variable.name, &attributes, display, span);
        }
        for &dimension in &variable.dimensions {
            self.check_dimension(variable, dimension, span);
        }
        for &clock in &variable.clocks {
            if self.model.variables[clock].kind != Type::Clock {
                self.findings.push(diagnostics::not_a_clock(&variable.name, &self.model.variables[clock].name, span));
            }
        }
        if let Some(state) = variable.derivative.map(|at| &self.model.variables[at])
            && (!state.kind.is_float() || state.variability != Variability::Continuous)
        {
            self.findings.push(diagnostics::derivative_of_discrete(&variable.name, &state.name, span));
        }
        if let Some(clock) = &variable.clock {
            self.check_clock(variable, clock, span);
        }
    }

    /// With those of its declared type.
    fn attributes(&self, variable: &Variable) -> Attributes {
        match variable.declared_type.as_deref().and_then(|name| self.types.get(name)) {
            Some(declared) => variable.attributes.or(&declared.attributes),
            None => variable.attributes.clone(),
        }
    }

    fn check_combination(&mut self, variable: &Variable, span: Span) {
        if !variable.kind.is_float() && variable.variability == Variability::Continuous {
            self.findings.push(diagnostics::continuous_of_discrete_type(&variable.name, span));
            return;
        }
        let Some(rule) = initial_rule(variable.causality, variable.variability) else {
            let finding =
                diagnostics::illegal_combination(&variable.name, variable.causality, variable.variability, span);
            self.findings.push(finding);
            return;
        };
        let is_input_of_2 = self.model.version == Version::V2 && variable.causality == Causality::Input;
        if let Some(initial) = variable.initial
            && (!rule.allowed.contains(&initial) || is_input_of_2)
        {
            let allowed = if is_input_of_2 { &[] } else { rule.allowed };
            self.findings.push(diagnostics::illegal_initial(&variable.name, initial, allowed, span));
        }
    }

    fn check_start(&mut self, variable: &Variable, span: Span) {
        if variable.kind == Type::Clock {
            return;
        }
        let needs_start = matches!(variable.initial(), Some(Initial::Exact | Initial::Approx));
        let forbids_start =
            variable.initial() == Some(Initial::Calculated) || variable.causality == Causality::Independent;
        match &variable.start {
            None if needs_start => self.findings.push(diagnostics::missing_start(&variable.name, span)),
            Some(_) if forbids_start => self.findings.push(diagnostics::forbidden_start(&variable.name, span)),
            Some(values) => {
                let n_elements = self.model.n_elements(variable);
                if values.len() as u64 != n_elements && values.len() != 1 {
                    let finding = diagnostics::other_number_of_starts(&variable.name, n_elements, values.len(), span);
                    self.findings.push(finding);
                }
                self.check_bounds(variable, span);
            }
            None => {}
        }
    }

    fn check_bounds(&mut self, variable: &Variable, span: Span) {
        let attributes = self.attributes(variable);
        let numbers: Vec<f64> = match &variable.start {
            Some(crate::Values::Float(v)) => v.clone(),
            Some(crate::Values::Integer(v)) => v.iter().map(|&i| i as f64).collect(),
            _ => return,
        };
        let min = attributes.min.map_or(f64::NEG_INFINITY, |n| n.as_f64());
        let max = attributes.max.map_or(f64::INFINITY, |n| n.as_f64());
        if let Some(outside) = numbers.into_iter().find(|&x| x < min || x > max) {
            self.findings.push(diagnostics::start_outside_of_bounds(&variable.name, outside, min, max, span));
        }
    }

    fn check_declared_type(&mut self, variable: &Variable, span: Span) {
        match variable.declared_type.as_deref() {
            Some(name) => match self.types.get(name) {
                Some(definition) if definition.kind == variable.kind => {}
                Some(_) => self.findings.push(diagnostics::other_type(&variable.name, name, span)),
                None => self.findings.push(diagnostics::undefined_type(&variable.name, name, span)),
            },
            None if variable.kind == Type::Enumeration => {
                self.findings.push(diagnostics::missing_attribute("Enumeration", "declaredType", span));
            }
            None => {}
        }
    }

    fn check_attributes(&mut self, name: &str, attributes: &Attributes, span: Span) {
        if let (Some(min), Some(max)) = (attributes.min, attributes.max)
            && min > max
        {
            self.findings.push(diagnostics::empty_range(name, min, max, span));
        }
        if let Some(nominal) = attributes.nominal
            && (!nominal.is_finite() || nominal == 0.0)
        {
            self.findings.push(diagnostics::bad_nominal(name, nominal, span));
        }
        if let Some(unit) = &attributes.unit
            && !self.units.contains_key(unit.as_str())
        {
            self.findings.push(diagnostics::undefined_unit(name, unit, span));
        } else if let Some(display) = &attributes.display_unit {
            self.check_display_unit(name, attributes, display, span);
        }
    }

    fn check_display_unit(&mut self, name: &str, attributes: &Attributes, display: &str, span: Span) {
        let unit = attributes.unit.as_deref().and_then(|unit| self.units.get(unit));
        if !unit.is_some_and(|unit| unit.display_units.iter().any(|d| d.name == display)) {
            let unit = attributes.unit.as_deref().unwrap_or("");
            self.findings.push(diagnostics::undefined_display_unit(name, unit, display, span));
        }
    }

    fn check_dimension(&mut self, variable: &Variable, dimension: Dimension, span: Span) {
        let Dimension::Variable(at) = dimension else { return };
        let size = &self.model.variables[at];
        let is_allowed = size.causality == Causality::StructuralParameter || size.variability == Variability::Constant;
        if !is_allowed || size.kind != Type::UInt64 {
            self.findings.push(diagnostics::bad_dimension(&variable.name, &size.name, span));
        }
    }

    fn check_clock(&mut self, variable: &Variable, clock: &crate::ClockAttributes, span: Span) {
        use IntervalVariability as I;
        // A fixed or tunable interval may depend on parameters; then the importer asks for it.
        if clock.interval == I::Constant && clock.interval_decimal.is_none() && clock.interval_counter.is_none() {
            self.findings.push(diagnostics::clock_without_interval(&variable.name, span));
        }
        if clock.supports_fraction && clock.resolution.is_none() {
            self.findings.push(diagnostics::missing_attribute("Clock", "resolution", span));
        }
        if !matches!(variable.causality, Causality::Input | Causality::Output | Causality::Local) {
            let finding =
                diagnostics::illegal_combination(&variable.name, variable.causality, variable.variability, span);
            self.findings.push(finding);
        }
    }

    fn check_independent(&mut self) {
        let model = self.model;
        let all: Vec<usize> =
            (0..model.variables.len()).filter(|&v| model.variables[v].causality == Causality::Independent).collect();
        let is_3 = model.version == Version::V3;
        if all.len() > 1 || (is_3 && all.is_empty()) {
            let span = all.get(1).map_or(self.places.root, |&at| self.places.variables[at]);
            self.findings.push(diagnostics::independent_variables(all.len(), span));
        }
        for at in all {
            if !model.variables[at].kind.is_float() {
                self.findings
                    .push(diagnostics::independent_not_real(&model.variables[at].name, self.places.variables[at]));
            }
        }
    }
}
