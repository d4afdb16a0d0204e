//! The messages of this crate (family 05, connections), one function each.

use saltus_base::{Code, Diagnostic, Span};

/// A name with the place of the `connect` that brought it in.
pub(crate) struct Place<'a> {
    pub name: &'a str,
    pub span: Span,
}

/// Both arguments of a `connect` are the same connector. This adds nothing to its connection set.
pub(crate) fn self_connection(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("W0501"), span, format!("`{name}` is connected to itself, which has no effect"))
        .hint("connect it to another connector, or remove this `connect`")
}

/// A connection set holds either only flow variables, which add up to zero, or only variables that are equal.
pub(crate) fn flow_to_other(flow: &Place, other: &Place, span: Span) -> Diagnostic {
    let message = format!(
        "`{}` is a flow variable but `{}` is not: flow variables connect only to flow variables",
        flow.name, other.name
    );
    Diagnostic::new(Code("E0502"), span, message)
        .label(flow.span, "declared with `flow`")
        .label(other.span, "declared without `flow`")
        .hint(format!("declare `{}` with the prefix `flow` too, or check which connectors were meant", other.name))
}

/// Stream variables are neither equal nor do they add up to zero; they need a stream variable on the other side.
pub(crate) fn stream_to_other(stream: &Place, other: &Place, span: Span) -> Diagnostic {
    let message = format!(
        "`{}` is a stream variable but `{}` is not: stream variables connect only to stream variables",
        stream.name, other.name
    );
    Diagnostic::new(Code("E0503"), span, message)
        .label(stream.span, "declared with `stream`")
        .label(other.span, "declared without `stream`")
        .hint(format!("declare `{}` with the prefix `stream` too, or check which connectors were meant", other.name))
}

/// A connection converts nothing: also Integer and Real cannot be connected.
pub(crate) fn type_mismatch(a: &Place, a_type: &str, b: &Place, b_type: &str, span: Span) -> Diagnostic {
    let message = format!(
        "`{}` is {a_type} but `{}` is {b_type}: connected variables must have the same built-in type",
        a.name, b.name
    );
    Diagnostic::new(Code("E0504"), span, message)
        .label(a.span, format!("this is {a_type}"))
        .label(b.span, format!("this is {b_type}"))
        .hint("put a converting block between them, for instance `IntegerToReal`, or use the same connector class")
}

/// Arrays are connected element by element, so that the sizes must agree in every dimension.
pub(crate) fn size_mismatch(a: &Place, a_size: &str, b: &Place, b_size: &str, span: Span) -> Diagnostic {
    let message = format!(
        "`{}` has the size {a_size} but `{}` has the size {b_size}: connected arrays must have the same sizes",
        a.name, b.name
    );
    Diagnostic::new(Code("E0505"), span, message)
        .label(a.span, format!("size {a_size}"))
        .label(b.span, format!("size {b_size}"))
        .hint("give both connectors the same size, or connect elements: `connect(a[i], b)`")
}

/// A variable without direction cannot tell whether it gives or takes the value of a signal.
pub(crate) fn causal_to_acausal(causal: &Place, acausal: &Place, span: Span) -> Diagnostic {
    let message = format!(
        "`{}` is an input or output but `{}` is neither: causal variables connect only to causal variables",
        causal.name, acausal.name
    );
    Diagnostic::new(Code("E0506"), span, message)
        .label(causal.span, "has a direction")
        .label(acausal.span, "has no direction")
        .hint(format!(
            "declare `{}` with `input` or `output`, or write an equation instead of a `connect`",
            acausal.name
        ))
}

/// Parameters and constants in connectors are checked for equality, not connected.
pub(crate) fn variability_mismatch(
    a: &Place,
    a_variability: &str,
    b: &Place,
    b_variability: &str,
    span: Span,
) -> Diagnostic {
    let message = format!(
        "`{}` is a {a_variability} but `{}` is a {b_variability}: parameters connect only to parameters, constants only \
         to constants",
        a.name, b.name
    );
    Diagnostic::new(Code("E0507"), span, message)
        .label(a.span, format!("this is a {a_variability}"))
        .label(b.span, format!("this is a {b_variability}"))
        .hint("give both connectors the same variability for this part")
}

/// A signal has one source: an output of a component, or an input of the class. Two would contradict each other.
pub(crate) fn several_sources(first: &Place, first_role: &str, second: &Place, second_role: &str) -> Diagnostic {
    let message = format!(
        "`{}` ({first_role}) and `{}` ({second_role}) both give the value of the same signal; exactly one source is \
         expected",
        first.name, second.name
    );
    Diagnostic::new(Code("E0508"), second.span, message)
        .label(first.span, format!("`{}` is connected here", first.name))
        .hint("remove one of the connections, or combine the signals in a block (`Add`, `Switch`)")
}

/// A signal needs a source: an output of a component, or an input of the class.
pub(crate) fn no_source(members: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0509"), span, format!("no source gives a value to the connected signals {members}"))
        .hint("connect one output of a component, or one public input of this class")
}

/// A protected connector is not visible from outside, and a member of a bus that only a connection mentions has no direction of its
/// own: the one does not say where the value of the other comes from.
pub(crate) fn protected_alone(protected: &Place, members: &str, span: Span) -> Diagnostic {
    let message = format!(
        "the protected connector `{}` is connected neither to a component nor to a declared public connector: {members}",
        protected.name
    );
    Diagnostic::new(Code("W0512"), span, message)
        .label(protected.span, "protected")
        .hint("declare the member in the expandable connector, or make the connector public")
}

/// Connected variables with a `quantity` must agree about it; often the wrong connectors are connected.
pub(crate) fn quantity_mismatch(a: &Place, a_quantity: &str, b: &Place, b_quantity: &str, span: Span) -> Diagnostic {
    let message = format!(
        "`{}` has the quantity \"{a_quantity}\" but `{}` has the quantity \"{b_quantity}\": connected variables must have \
         the same quantity",
        a.name, b.name
    );
    Diagnostic::new(Code("W0510"), span, message)
        .label(a.span, format!("quantity = \"{a_quantity}\""))
        .label(b.span, format!("quantity = \"{b_quantity}\""))
        .hint("check that the right connectors are connected, or leave the attribute `quantity` empty on one side")
}

/// A subscript in a `connect` is beyond the size of the array.
pub(crate) fn element_out_of_range(name: &str, element: u64, size: &str, span: Span) -> Diagnostic {
    let message = format!("element {} of `{name}` is connected, but it has the size {size}", element.saturating_add(1));
    Diagnostic::new(Code("E0511"), span, message).hint("use subscripts within the size of the array")
}

/// All stream variables of a connector are carried by its only flow variable, a scalar Real.
pub(crate) fn stream_without_scalar_flow(stream: &Place, flow: &Place, flow_type: &str, span: Span) -> Diagnostic {
    let message = format!(
        "the stream variable `{}` is carried by `{}`, which is {flow_type}: a scalar Real flow variable is expected",
        stream.name, flow.name
    );
    Diagnostic::new(Code("E0512"), span, message)
        .label(flow.span, "carries the stream")
        .hint("give the connector exactly one variable with the prefix `flow`, a scalar Real")
}

/// Connecting one element of an array takes apart all arrays that are connected to it.
pub(crate) fn too_many_elements(name: &str, most: u64, span: Span) -> Diagnostic {
    let message = format!("`{name}` is connected element by element, but it has more than {most} elements");
    Diagnostic::new(Code("E0513"), span, message).hint("connect the array as a whole, or make it smaller")
}

/// The value that flows into a component is looked up one level higher as long as outside connectors are involved;
/// here this has no end.
pub(crate) fn endless_stream(name: &str, span: Span) -> Diagnostic {
    let message = format!(
        "the value of `inStream({name})` leads back to itself or grows without end through the levels of the model"
    );
    Diagnostic::new(Code("E0514"), span, message)
        .hint("remove a `connect` so that the stream connectors of different levels form no loop")
}

/// Every tree of a connection graph has one root, and branches cannot be broken.
pub(crate) fn two_roots(first: &Place, second: &Place) -> Diagnostic {
    let message = format!(
        "the roots `{}` and `{}` are joined by `Connections.branch` alone, so that no connection between them can be \
         broken",
        first.name, second.name
    );
    Diagnostic::new(Code("E0520"), second.span, message)
        .label(first.span, "the other root")
        .hint("make one of them a potential root with `Connections.potentialRoot`")
}

/// Branches are required edges of the spanning tree; a tree has no loops.
pub(crate) fn branch_cycle(a: &str, b: &str, span: Span) -> Diagnostic {
    let message = format!(
        "`Connections.branch({a}, {b})` closes a loop of branches, so that the connection graph has no spanning tree"
    );
    Diagnostic::new(Code("E0521"), span, message)
        .hint("remove one branch of the loop; only connections made with `connect` can be broken")
}

/// Some component must define the absolute value of an overdetermined type, such as the orientation of a frame.
pub(crate) fn no_root(node: &str, n_nodes: usize, span: Span) -> Diagnostic {
    let message = match n_nodes {
        1 => format!("the overdetermined connector part `{node}` has neither a root nor a potential root"),
        n => format!(
            "`{node}` and {} other overdetermined connector parts connected to it have neither a root nor a potential \
             root",
            n - 1
        ),
    };
    Diagnostic::new(Code("E0522"), span, message)
        .hint("connect it to a component that defines the root, for instance `world.frame_b` or a ground")
}

/// `Connections.uniqueRoot` demands that no other root is connected to it, not even over breakable connections.
pub(crate) fn root_not_unique(unique: &Place, message: &str, other: &Place) -> Diagnostic {
    let reason = if message.is_empty() { String::new() } else { format!(": {message}") };
    let message = format!("`{}` must be the only root, but `{}` is a root too{reason}", unique.name, other.name);
    Diagnostic::new(Code("E0523"), unique.span, message)
        .label(other.span, "the other root")
        .hint("keep the two parts of the model unconnected, or remove one root")
}

/// Priorities of potential roots are counted from zero.
pub(crate) fn negative_priority(node: &str, priority: i64, span: Span) -> Diagnostic {
    let message = format!("the potential root `{node}` has the priority {priority}; zero or more is expected");
    Diagnostic::new(Code("E0524"), span, message).hint("use 0 for the highest priority")
}

/// `Connections.rooted(a)` asks which end of the branch from `a` is closer to the root, so that there must be one branch.
pub(crate) fn rooted_needs_one_branch(node: &str, n_branches: usize, span: Span) -> Diagnostic {
    let message = format!(
        "`Connections.rooted({node})` needs exactly one `Connections.branch({node}, …)`, but there are {n_branches}"
    );
    Diagnostic::new(Code("E0525"), span, message)
        .hint("write the argument of `rooted` as first argument of one `Connections.branch`")
}
