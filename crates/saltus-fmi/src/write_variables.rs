//! Variables as XML: an element of their type in 3.0, a `ScalarVariable` around it in 2.0.

use crate::attributes::{float_text, hex_text};
use crate::words::{Word, element_of_2};
use crate::write::{WriteError, Xml};
use crate::{Causality, ClockAttributes, Dimension, ModelDescription, Values, Variable};

pub(crate) fn write_variables(xml: &mut Xml, model: &ModelDescription) {
    for variable in &model.variables {
        write_variable(xml, model, variable);
    }
}

fn write_variable(xml: &mut Xml, model: &ModelDescription, variable: &Variable) {
    let reference = |at: usize| u64::from(model.variables[at].reference);
    xml.open(variable.kind.word());
    write_heading(xml, variable);
    let clocks: Vec<String> = variable.clocks.iter().map(|&c| reference(c).to_string()).collect();
    if !clocks.is_empty() {
        xml.attribute("clocks", &clocks.join(" "));
    }
    xml.flag("intermediateUpdate", variable.intermediate_update);
    xml.integer("previous", variable.previous.map(reference));
    xml.optional("declaredType", &variable.declared_type);
    xml.optional("initial", &variable.initial.map(|i| i.word().to_string()));
    xml.attributes(&variable.attributes);
    if let Some(text) = variable.start.as_ref().and_then(start_text) {
        xml.attribute("start", &text);
    }
    xml.integer("derivative", variable.derivative.map(reference));
    xml.flag("reinit", variable.reinit);
    if let Some(clock) = &variable.clock {
        write_clock(xml, clock);
    }
    for dimension in &variable.dimensions {
        xml.open("Dimension");
        match *dimension {
            Dimension::Fixed(n) => xml.integer("start", Some(n)),
            Dimension::Variable(at) => xml.integer("valueReference", Some(reference(at))),
        }
        xml.close();
    }
    write_start_elements(xml, variable);
    for alias in &variable.aliases {
        xml.open("Alias");
        xml.attribute("name", &alias.name);
        xml.optional("description", &alias.description);
        xml.optional("displayUnit", &alias.display_unit);
        xml.close();
    }
    xml.close();
}

fn write_heading(xml: &mut Xml, variable: &Variable) {
    xml.attribute("name", &variable.name);
    xml.attribute("valueReference", &variable.reference.to_string());
    xml.optional("description", &variable.description);
    if variable.causality != Causality::Local {
        xml.attribute("causality", variable.causality.word());
    }
    xml.attribute("variability", variable.variability.word());
    xml.boolean("canHandleMultipleSetPerTimeInstant", variable.multiple_sets);
}

/// Values that are a list in an attribute; texts and bytes are elements.
fn start_text(start: &Values) -> Option<String> {
    let words: Vec<String> = match start {
        Values::Float(v) => v.iter().map(|&x| float_text(x)).collect(),
        Values::Integer(v) => v.iter().map(i128::to_string).collect(),
        Values::Boolean(v) => v.iter().map(|b| b.to_string()).collect(),
        Values::String(_) | Values::Binary(_) => return None,
    };
    Some(words.join(" "))
}

fn write_start_elements(xml: &mut Xml, variable: &Variable) {
    let texts: Vec<String> = match &variable.start {
        Some(Values::String(v)) => v.clone(),
        Some(Values::Binary(v)) => v.iter().map(|bytes| hex_text(bytes)).collect(),
        _ => return,
    };
    for text in texts {
        xml.open("Start");
        xml.attribute("value", &text);
        xml.close();
    }
}

pub(crate) fn write_clock(xml: &mut Xml, clock: &ClockAttributes) {
    xml.flag("canBeDeactivated", clock.can_be_deactivated);
    xml.integer("priority", clock.priority.map(u64::from));
    xml.attribute("intervalVariability", clock.interval.word());
    xml.float("intervalDecimal", clock.interval_decimal);
    xml.unless("shiftDecimal", clock.shift_decimal, 0.0);
    xml.flag("supportsFraction", clock.supports_fraction);
    xml.integer("resolution", clock.resolution);
    xml.integer("intervalCounter", clock.interval_counter);
    xml.integer("shiftCounter", (clock.shift_counter != 0).then_some(clock.shift_counter));
}

/// Aliases follow all variables, so that the indices of variables are the same in both versions.
pub(crate) fn write_variables_of_2(xml: &mut Xml, model: &ModelDescription) -> Result<(), WriteError> {
    for variable in &model.variables {
        write_variable_of_2(xml, variable)?;
    }
    for variable in &model.variables {
        for alias in &variable.aliases {
            write_variable_of_2(xml, &alias_variable(variable, alias))?;
        }
    }
    Ok(())
}

/// An alias as a variable of its own: only one of a set may be an input, a parameter or have a start value.
fn alias_variable(variable: &Variable, alias: &crate::Alias) -> Variable {
    let mut copy = Variable {
        name: alias.name.clone(),
        description: alias.description.clone(),
        causality: Causality::Local,
        initial: None,
        aliases: Vec::new(),
        derivative: None,
        reinit: false,
        multiple_sets: None,
        ..variable.clone()
    };
    if alias.display_unit.is_some() {
        copy.attributes.display_unit = alias.display_unit.clone();
    }
    if copy.initial() != Some(crate::Initial::Exact) {
        copy.start = None;
    }
    copy
}

fn write_variable_of_2(xml: &mut Xml, variable: &Variable) -> Result<(), WriteError> {
    let name = || variable.name.clone();
    let error = || WriteError::Type { name: name(), kind: variable.kind };
    let element = element_of_2(variable.kind).ok_or_else(error)?;
    if !variable.dimensions.is_empty() {
        return Err(WriteError::Array { name: name() });
    }
    if variable.causality == Causality::StructuralParameter {
        return Err(WriteError::Feature { name: name(), feature: "structural parameters" });
    }
    if !variable.clocks.is_empty() || variable.previous.is_some() {
        return Err(WriteError::Feature { name: name(), feature: "clocks" });
    }
    xml.open("ScalarVariable");
    write_heading(xml, variable);
    xml.optional("initial", &variable.initial.map(|i| i.word().to_string()));
    xml.open(element);
    xml.optional("declaredType", &variable.declared_type);
    xml.attributes(&variable.attributes);
    match &variable.start {
        Some(Values::String(texts)) => xml.optional("start", &texts.first().cloned()),
        Some(start) => xml.optional("start", &start_text(start)),
        None => {}
    }
    xml.integer("derivative", variable.derivative.map(|at| at as u64 + 1));
    xml.flag("reinit", variable.reinit);
    xml.close();
    xml.close();
    Ok(())
}
