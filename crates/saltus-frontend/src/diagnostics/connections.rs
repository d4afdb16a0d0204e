//! Messages about `connect` and connection graphs: E0530–E0549.

use saltus_base::{Diagnostic, Span};

use super::message;

pub fn sizes(dims: &[u64]) -> String {
    if dims.is_empty() {
        return "a scalar".to_string();
    }
    format!("[{}]", dims.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

/// Arrays of connectors of different sizes.
pub fn connect_sizes(a: &[u64], b: &[u64], span: Span) -> Diagnostic {
    message("E0530", span, format!("connected arrays have different sizes: {} and {}", sizes(a), sizes(b)))
        .hint("both sides of `connect` need the same sizes; pick elements with subscripts")
}

/// `connect` of something that is not a connector.
pub fn not_a_connector(name: &str, span: Span) -> Diagnostic {
    message("E0539", span, format!("`connect` expects connectors, but `{name}` is not one"))
        .hint("its class must be declared with `connector`; write an equation to make two variables equal")
}

/// A connector connected to a variable.
pub fn connect_kinds(a: &str, b: &str, span: Span) -> Diagnostic {
    message(
        "E0531",
        span,
        format!("`{a}` and `{b}` cannot be connected: one is a connector with parts, one a variable"),
    )
    .hint("connect connectors of the same structure")
}

/// A part that only one of two connectors has.
pub fn connector_members(name: &str, has: &str, lacks: &str, span: Span) -> Diagnostic {
    message("E0532", span, format!("`{has}` has a part `{name}`, but `{lacks}` has none"))
        .hint("connected connectors must have the same parts")
}

/// A subscript of a connector that is not known at compile time.
pub fn connect_subscript(name: &str, span: Span) -> Diagnostic {
    message("E0533", span, format!("this subscript of `{name}` needs a value at compile time"))
        .hint("use parameters, constants and loop indices as subscripts in `connect`")
}

/// `connect`, `transition` or an operator of the connection graph inside `when`.
pub fn connect_in_when(operator: &str, span: Span) -> Diagnostic {
    message("E0534", span, format!("`{operator}` is not allowed inside `when`"))
        .hint("connections are fixed; use a switch component to change them during the simulation")
}

/// `connect`, `transition` or an operator of the connection graph under a condition that is not known at compile time.
pub fn connect_condition(operator: &str, what: &str, span: Span) -> Diagnostic {
    message(
        "E0535",
        span,
        format!("`{operator}` under a condition that needs a value at compile time, but {what} has none"),
    )
    .hint("use a parameter in the condition")
}

/// Two undeclared members of expandable connectors connected to each other only.
pub fn bus_member_unknown(name: &str, span: Span) -> Diagnostic {
    message("E0536", span, format!("nothing says of what type `{name}` of the expandable connector is"))
        .hint("connect it to a declared connector somewhere, or declare it in the expandable connector")
}

/// A member of an expandable connector in an expression that no connection makes exist (specification 9.1.3).
pub fn bus_member_absent(name: &str, span: Span, declared: Span) -> Diagnostic {
    message(
        "E0544",
        span,
        format!("`{name}` does not exist: nothing is connected to this part of the expandable connector"),
    )
    .label(declared, "declared here")
    .hint("connect something to it, here or in an expandable connector that this one is connected to")
}

/// An array of an expandable connector that has the elements that are connected, used without saying which (specification 9.1.3).
pub fn sizeless_array(name: &str, span: Span) -> Diagnostic {
    message("E0545", span, format!("the array `{name}` of the expandable connector has no size of its own"))
        .hint("name the elements that are connected by subscripts, or declare the array with a size")
}

/// An expandable connector connected with one that is not expandable (specification 9.1.3).
pub fn expandable_with_other(bus: &str, other: &str, span: Span) -> Diagnostic {
    message(
        "E0546",
        span,
        format!("the expandable connector `{bus}` is connected with `{other}`, which is not expandable"),
    )
    .hint("connect it with a member of the expandable connector")
}

/// `inStream` of something that is not a stream variable.
pub fn not_a_stream(operator: &str, text: &str, span: Span) -> Diagnostic {
    message("E0537", span, format!("`{operator}` expects a stream variable, but `{text}` is not one"))
        .hint("declare it with the prefix `stream` in its connector")
}

/// An argument of a `Connections` operator that is not an overdetermined record.
pub fn graph_argument(span: Span) -> Diagnostic {
    message("E0538", span, "expected an overdetermined record of a connector, such as `frame_a.R`".to_string())
        .hint("its type needs a function `equalityConstraint`")
}

/// `connect` in an initial equation section.
pub fn connect_in_initial(span: Span) -> Diagnostic {
    message("E0540", span, "`connect` is not allowed in an initial equation section".to_string())
        .hint("move it to an equation section; connections always hold")
}

/// `connect` to a connector inside of a component inside of a component.
pub fn connect_too_deep(name: &str, span: Span) -> Diagnostic {
    message("E0541", span, format!("`{name}` is not a connector of this model or of one of its components"))
        .hint("add a connector to the component around it and connect that one")
}

/// `cardinality` of an array.
pub fn cardinality_argument(name: &str, span: Span) -> Diagnostic {
    message("E0542", span, format!("`cardinality` expects one connector, but `{name}` is an array"))
        .hint("name an element of it")
}

/// A stream variable says what its connector's flow carries: there is one flow variable, and it is a scalar.
pub fn stream_without_flow(class: &str, stream: &str, n_flows: usize, span: Span) -> Diagnostic {
    let found = match n_flows {
        0 => "none".to_owned(),
        1 => "an array".to_owned(),
        n => n.to_string(),
    };
    let text = format!(
        "the connector `{class}` has the stream variable `{stream}`: expected exactly one scalar flow variable beside it, found {found}"
    );
    message("E0543", span, text)
        .hint("a stream is what the flow variable of the same connector carries; declare one with `flow`")
}

/// A connector that its class wants to be connected.
pub fn must_be_connected(name: &str, why: &str, span: Span) -> Diagnostic {
    message("E0547", span, format!("`{name}` is not connected: {why}"))
        .hint("connect it, or switch it off if it is conditional")
}

/// `stream` says how a variable of a connector is connected; elsewhere nothing carries it.
pub fn stream_outside_connector(name: &str, span: Span) -> Diagnostic {
    message("E0555", span, format!("the stream variable `{name}` is not declared in a connector"))
        .hint("declare it in a connector together with the flow variable that carries it, or remove `stream`")
}
