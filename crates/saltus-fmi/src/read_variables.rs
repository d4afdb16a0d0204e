//! Variables from XML.

use roxmltree::Node;

use crate::attributes::{Context, boolean, float, hex_bytes};
use crate::read::{Resolve, text, type_of_2};
use crate::words::Word;
use crate::{
    Alias, Attributes, Causality, ClockAttributes, Dimension, Number, Type, Values, Variability, Variable, Version,
    diagnostics,
};

const HEADING: &[&str] =
    &["name", "valueReference", "description", "causality", "variability", "canHandleMultipleSetPerTimeInstant"];
const FLOAT: &[&str] = &["quantity", "unit", "displayUnit", "relativeQuantity", "unbounded", "min", "max", "nominal"];
const INTEGER: &[&str] = &["quantity", "min", "max"];
const BINARY: &[&str] = &["mimeType", "maxSize"];
const CLOCK: &[&str] = &[
    "canBeDeactivated",
    "priority",
    "intervalVariability",
    "intervalDecimal",
    "shiftDecimal",
    "supportsFraction",
    "resolution",
    "intervalCounter",
    "shiftCounter",
];

fn attributes_of(kind: Type) -> &'static [&'static str] {
    match kind {
        _ if kind.is_float() => FLOAT,
        _ if kind.is_integer() => INTEGER,
        Type::Enumeration => INTEGER,
        Type::Binary => BINARY,
        Type::Clock => CLOCK,
        _ => &[],
    }
}

pub(crate) fn read_variable(context: &mut Context, node: Node, version: Version, resolve: &Resolve) -> Variable {
    match version {
        Version::V2 => read_variable_of_2(context, node, resolve),
        Version::V3 => read_variable_of_3(context, node, resolve),
    }
}

fn read_heading(context: &mut Context, node: Node, kind: Type, is_3: bool) -> Variable {
    let causality: Causality = context.word(node, "causality").unwrap_or_default();
    let is_parameter =
        matches!(causality, Causality::Parameter | Causality::CalculatedParameter | Causality::StructuralParameter);
    let default = match is_3 {
        true if is_parameter => Variability::Fixed,
        true if !kind.is_float() => Variability::Discrete,
        _ => Variability::Continuous,
    };
    if node.attribute("valueReference").is_none() {
        context.required(node, "valueReference");
    }
    Variable {
        name: context.required(node, "name"),
        reference: context.integer(node, "valueReference").unwrap_or_default(),
        description: text(node, "description"),
        kind,
        causality,
        variability: context.word(node, "variability").unwrap_or(default),
        initial: context.word(node, "initial"),
        multiple_sets: context.boolean(node, "canHandleMultipleSetPerTimeInstant"),
        ..Default::default()
    }
}

fn read_variable_of_2(context: &mut Context, node: Node, resolve: &Resolve) -> Variable {
    context.expect_attributes(node, &[HEADING, &["initial"]].concat());
    let body = node.children().find(|n| n.is_element() && type_of_2(n.tag_name().name()).is_some());
    let kind = body.and_then(|b| type_of_2(b.tag_name().name())).unwrap_or_default();
    let mut variable = read_heading(context, node, kind, false);
    let Some(body) = body else {
        context.report(diagnostics::missing_element("Real, Integer, …", context.span(node)));
        return variable;
    };
    let own: &[&str] = if kind.is_float() { &["derivative", "reinit"] } else { &[] };
    context.expect_attributes(body, &[attributes_of(kind), &["declaredType", "start"], own].concat());
    variable.declared_type = text(body, "declaredType");
    variable.attributes = read_attributes(context, body, kind);
    variable.start = match kind {
        Type::String => text(body, "start").map(|t| Values::String(vec![t])),
        _ => read_start(context, body, kind),
    };
    read_derivative(context, body, &mut variable, resolve);
    variable
}

fn read_derivative(context: &mut Context, node: Node, variable: &mut Variable, resolve: &Resolve) {
    if !variable.kind.is_float() {
        return;
    }
    let derivative = context.integer(node, "derivative");
    variable.derivative = derivative.and_then(|r| resolve.index(context, node, "derivative", r));
    variable.reinit = context.flag(node, "reinit");
}

fn read_variable_of_3(context: &mut Context, node: Node, resolve: &Resolve) -> Variable {
    let kind = Type::from_word(node.tag_name().name()).unwrap_or_default();
    let mut known = [HEADING, attributes_of(kind), &["clocks", "declaredType"]].concat();
    if kind != Type::Clock {
        known.extend(["intermediateUpdate", "previous", "initial"]);
    }
    if kind.is_float() {
        known.extend(["derivative", "reinit"]);
    }
    if !matches!(kind, Type::String | Type::Binary | Type::Clock) {
        known.push("start");
    }
    context.expect_attributes(node, &known);
    let mut variable = read_heading(context, node, kind, true);
    variable.declared_type = text(node, "declaredType");
    variable.attributes = read_attributes(context, node, kind);
    let clocks: Option<Vec<u32>> = context.list(node, "clocks", "a list of value references", |w| w.parse().ok());
    variable.clocks =
        clocks.unwrap_or_default().into_iter().filter_map(|r| resolve.index(context, node, "clocks", r)).collect();
    variable.intermediate_update = context.flag(node, "intermediateUpdate");
    let previous = context.integer(node, "previous");
    variable.previous = previous.and_then(|r| resolve.index(context, node, "previous", r));
    read_derivative(context, node, &mut variable, resolve);
    if kind == Type::Clock {
        variable.clock = Some(read_clock(context, node));
    }
    variable.start = read_start(context, node, kind);
    for child in node.children().filter(Node::is_element) {
        match child.tag_name().name() {
            "Dimension" if kind != Type::Clock => {
                variable.dimensions.extend(read_dimension(context, child, resolve));
            }
            "Start" if matches!(kind, Type::String | Type::Binary) => {
                read_start_element(context, child, &mut variable);
            }
            "Alias" => variable.aliases.push(Alias {
                name: context.required(child, "name"),
                description: text(child, "description"),
                display_unit: text(child, "displayUnit"),
            }),
            _ => context.unknown_element(child, kind.word()),
        }
    }
    variable
}

fn read_dimension(context: &mut Context, node: Node, resolve: &Resolve) -> Option<Dimension> {
    context.expect_attributes(node, &["start", "valueReference"]);
    let start = context.integer(node, "start").map(Dimension::Fixed);
    let reference = context.integer(node, "valueReference");
    let of = reference.and_then(|r| resolve.index(context, node, "valueReference", r)).map(Dimension::Variable);
    if start.is_some() == reference.is_some() {
        context.report(diagnostics::ambiguous_dimension(context.span(node)));
    }
    start.or(of)
}

fn read_start_element(context: &mut Context, node: Node, variable: &mut Variable) {
    let value = context.required(node, "value");
    if variable.kind == Type::Binary {
        let Some(bytes) = hex_bytes(&value) else {
            let span = context.attribute_span(node, "value");
            return context.report(diagnostics::bad_value("value", &value, "bytes in hexadecimal", span));
        };
        match &mut variable.start {
            Some(Values::Binary(values)) => values.push(bytes),
            start => *start = Some(Values::Binary(vec![bytes])),
        }
    } else {
        match &mut variable.start {
            Some(Values::String(values)) => values.push(value),
            start => *start = Some(Values::String(vec![value])),
        }
    }
}

fn read_start(context: &mut Context, node: Node, kind: Type) -> Option<Values> {
    match kind {
        _ if kind.is_float() => context.list(node, "start", "numbers", float).map(Values::Float),
        Type::Boolean => context.list(node, "start", "true or false", boolean).map(Values::Boolean),
        _ => {
            let (low, high) = kind.range()?;
            let expected = format!("whole numbers from {low} to {high}");
            let parse = |word: &str| word.parse().ok().filter(|value| (low..=high).contains(value));
            context.list(node, "start", &expected, parse).map(Values::Integer)
        }
    }
}

pub(crate) fn read_attributes(context: &mut Context, node: Node, kind: Type) -> Attributes {
    let number = |context: &mut Context, name: &str| match kind {
        _ if kind.is_float() => context.float(node, name).map(Number::Float),
        _ => context.integer(node, name).map(Number::Integer),
    };
    let is_number = kind.is_float() || kind.range().is_some();
    let mut attributes = Attributes::default();
    if is_number {
        attributes.quantity = text(node, "quantity");
        attributes.min = number(context, "min");
        attributes.max = number(context, "max");
    }
    if kind.is_float() {
        attributes.unit = text(node, "unit");
        attributes.display_unit = text(node, "displayUnit");
        attributes.relative_quantity = context.boolean(node, "relativeQuantity");
        attributes.unbounded = context.boolean(node, "unbounded");
        attributes.nominal = context.float(node, "nominal");
    }
    if kind == Type::Binary {
        attributes.mime_type = text(node, "mimeType");
        attributes.max_size = context.integer(node, "maxSize");
    }
    attributes
}

pub(crate) fn read_clock(context: &mut Context, node: Node) -> ClockAttributes {
    if node.attribute("intervalVariability").is_none() {
        context.required(node, "intervalVariability");
    }
    ClockAttributes {
        interval: context.word(node, "intervalVariability").unwrap_or_default(),
        can_be_deactivated: context.flag(node, "canBeDeactivated"),
        priority: context.integer(node, "priority"),
        interval_decimal: context.float(node, "intervalDecimal"),
        shift_decimal: context.float(node, "shiftDecimal").unwrap_or(0.0),
        supports_fraction: context.flag(node, "supportsFraction"),
        resolution: context.integer(node, "resolution"),
        interval_counter: context.integer(node, "intervalCounter"),
        shift_counter: context.integer(node, "shiftCounter").unwrap_or(0),
    }
}
