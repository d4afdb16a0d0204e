//! What the language itself brings: functions and operators without a declaration (specification 3.7, 8, 9, 16, 17).

/// A predefined function, operator or variable.
#[derive(PartialEq, Debug)]
pub struct Builtin {
    pub name: &'static str,
    /// Such as `max(x, y)`; the name alone for a variable.
    pub signature: &'static str,
    pub description: &'static str,
    pub is_function: bool,
}

const fn f(signature: &'static str, name: &'static str, description: &'static str) -> Builtin {
    Builtin { name, signature, description, is_function: true }
}

pub fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

pub fn all() -> &'static [Builtin] {
    BUILTINS
}

/// Names that only stand before operators, as in `Connections.root(a.R)`.
pub(crate) fn is_operator_package(name: &str) -> bool {
    matches!(name, "Connections" | "Subtask")
}

const BUILTINS: &[Builtin] = &[
    Builtin { name: "time", signature: "time", description: "Independent variable, in seconds", is_function: false },
    Builtin {
        name: "Connections",
        signature: "Connections",
        description: "Operators of overconstrained connections",
        is_function: false,
    },
    f("der(x)", "der", "Time derivative"),
    f("initial()", "initial", "Is true while the start values are found"),
    f("terminal()", "terminal", "Is true at the end of a successful run"),
    f("pre(x)", "pre", "Left limit at an event"),
    f("edge(b)", "edge", "Has become true at this event"),
    f("change(x)", "change", "Has changed at this event"),
    f("reinit(x, value)", "reinit", "Sets a state to a new value at an event"),
    f("sample(start, interval)", "sample", "Is true at start + k*interval; with a clock: the value at its ticks"),
    f("noEvent(x)", "noEvent", "Evaluates relations without events"),
    f("smooth(p, x)", "smooth", "Promises that x is p times continuously differentiable"),
    f("delay(x, delayTime, delayMax)", "delay", "Value of x delayTime ago"),
    f(
        "homotopy(actual, simplified)",
        "homotopy",
        "Replaces a hard expression by a simple one while the start is searched",
    ),
    f("semiLinear(x, positiveSlope, negativeSlope)", "semiLinear", "x times a slope that depends on the sign of x"),
    f("inStream(x)", "inStream", "Mixed value that would flow in through a stream variable"),
    f("actualStream(x)", "actualStream", "Value that flows through a connector at present"),
    f(
        "spatialDistribution(in0, in1, x, positiveVelocity, initialPoints, initialValues)",
        "spatialDistribution",
        "Transport along a pipe",
    ),
    f("getInstanceName()", "getInstanceName", "Name of the instance as a String"),
    f("assert(condition, message, level)", "assert", "Ends the run with a message if the condition is false"),
    f("terminate(message)", "terminate", "Ends the run successfully"),
    f("cardinality(c)", "cardinality", "Number of connections of a connector (deprecated)"),
    f("connect(a, b)", "connect", "Connects two connectors"),
    f("branch(a, b)", "branch", "An edge of the graph of overconstrained connections that stays"),
    f("root(a)", "root", "The root of such a graph"),
    f("potentialRoot(a, priority)", "potentialRoot", "A node that may become the root"),
    f("isRoot(a)", "isRoot", "Is this node a root?"),
    f("rooted(a)", "rooted", "Is this end of a branch closer to the root?"),
    f("uniqueRoot(a)", "uniqueRoot", "A root that has to be the only one"),
    f(
        "transition(from, to, condition, immediate, reset, synchronize, priority)",
        "transition",
        "A transition of a state machine",
    ),
    f("initialState(state)", "initialState", "The state a machine begins in"),
    f("activeState(state)", "activeState", "Is the state active?"),
    f("ticksInState()", "ticksInState", "Ticks since the state became active"),
    f("timeInState()", "timeInState", "Time since the state became active"),
    f("Clock(interval)", "Clock", "A clock"),
    f("previous(u)", "previous", "Value at the previous tick"),
    f("hold(u)", "hold", "Value of the last tick, in continuous time"),
    f("subSample(u, factor)", "subSample", "Every factor-th tick"),
    f("superSample(u, factor)", "superSample", "factor ticks for one"),
    f("shiftSample(u, shiftCounter, resolution)", "shiftSample", "Later ticks"),
    f("backSample(u, backCounter, resolution)", "backSample", "Earlier ticks"),
    f("noClock(u)", "noClock", "The value without its clock"),
    f("firstTick(u)", "firstTick", "Is this the first tick?"),
    f("interval(u)", "interval", "Time since the previous tick"),
    f("abs(x)", "abs", "Absolute value"),
    f("sign(x)", "sign", "-1, 0 or 1"),
    f("sqrt(x)", "sqrt", "Square root"),
    f("div(x, y)", "div", "Quotient without its fraction"),
    f("mod(x, y)", "mod", "x - floor(x/y)*y"),
    f("rem(x, y)", "rem", "x - div(x, y)*y"),
    f("ceil(x)", "ceil", "Smallest integer that is not less"),
    f("floor(x)", "floor", "Largest integer that is not greater"),
    f("integer(x)", "integer", "Largest Integer that is not greater"),
    f("Integer(e)", "Integer", "Number of an enumeration value"),
    f("String(x, significantDigits, minimumLength, leftJustified)", "String", "Text of a value"),
    f("sin(u)", "sin", "Sine"),
    f("cos(u)", "cos", "Cosine"),
    f("tan(u)", "tan", "Tangent"),
    f("asin(u)", "asin", "Inverse sine"),
    f("acos(u)", "acos", "Inverse cosine"),
    f("atan(u)", "atan", "Inverse tangent"),
    f("atan2(u1, u2)", "atan2", "Angle of the point (u2, u1)"),
    f("sinh(u)", "sinh", "Hyperbolic sine"),
    f("cosh(u)", "cosh", "Hyperbolic cosine"),
    f("tanh(u)", "tanh", "Hyperbolic tangent"),
    f("exp(u)", "exp", "Exponential, base e"),
    f("log(u)", "log", "Natural logarithm"),
    f("log10(u)", "log10", "Logarithm, base 10"),
    f("min(x, y)", "min", "The smaller one; of an array: the smallest"),
    f("max(x, y)", "max", "The greater one; of an array: the greatest"),
    f("sum(A)", "sum", "Sum of all elements"),
    f("product(A)", "product", "Product of all elements"),
    f("size(A, i)", "size", "Length of a dimension; of all without i"),
    f("ndims(A)", "ndims", "Number of dimensions"),
    f("zeros(n1, n2)", "zeros", "Array of zeros"),
    f("ones(n1, n2)", "ones", "Array of ones"),
    f("fill(s, n1, n2)", "fill", "Array with the same value everywhere"),
    f("identity(n)", "identity", "Identity matrix"),
    f("diagonal(v)", "diagonal", "Diagonal matrix"),
    f("linspace(x1, x2, n)", "linspace", "n values from x1 to x2"),
    f("transpose(A)", "transpose", "Transposed matrix"),
    f("symmetric(A)", "symmetric", "Symmetric matrix of the upper triangle"),
    f("cross(x, y)", "cross", "Cross product"),
    f("skew(x)", "skew", "Matrix of a cross product"),
    f("outerProduct(x, y)", "outerProduct", "Outer product"),
    f("scalar(A)", "scalar", "The only element"),
    f("vector(A)", "vector", "The elements as a vector"),
    f("matrix(A)", "matrix", "The elements as a matrix"),
    f("promote(A, n)", "promote", "With dimensions of size 1 added"),
    f("cat(k, A, B)", "cat", "Arrays joined along dimension k"),
    f("array(a, b)", "array", "An array of these elements"),
    f("pure(f)", "pure", "A call of an impure function that is allowed here"),
    f("loadResource(uri)", "loadResource", "File name of a resource"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_begin_with_the_name() {
        for builtin in all() {
            assert!(builtin.signature.starts_with(builtin.name), "{}", builtin.name);
        }
        assert_eq!(find("der").map(|b| b.signature), Some("der(x)"));
    }
}
