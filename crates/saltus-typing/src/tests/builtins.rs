use saltus_flat::Builtin;

use crate::testing::{Test, check_function, check_model};

#[test]
fn elementary_functions_are_elementwise() {
    check_model(&[
        ("sin(1)", "sin(1.0) : Real"),
        ("sin(v)", "sin(v) : Real[3]"),
        ("sqrt(k)", "sqrt(k) : Real[3]"),
        ("atan2(x = 1, y = x)", "atan2(x, 1.0) : Real"),
        ("atan2(v, 1)", "atan2(v, 1.0) : Real[3]"),
        ("abs(i)", "abs(i) : Integer"),
        ("abs(v)", "abs(v) : Real[3]"),
        ("sign(x)", "sign(x) : Integer"),
        ("mod(i, 2)", "mod(i, 2) : Integer"),
        ("mod(x, 2)", "mod(x, 2.0) : Real"),
        ("div(k, 2)", "div(k, 2) : Integer[3]"),
        ("ceil(i)", "ceil(i) : Real"),
        ("integer(x)", "integer(x) : Integer"),
        ("integer(v)", "integer(v) : Integer[3]"),
        ("min(1, 2.5)", "min(1.0, 2.5) : Real"),
        ("min(v)", "min(v) : Real"),
        ("max(bb)", "max(bb) : Boolean"),
        ("max(E.a, e)", "max(E.a, e) : E"),
        ("max(v, 0)", "max(v, 0.0) : Real[3]"),
    ]);
}

#[test]
fn conversions() {
    check_model(&[
        ("Integer(e)", "Integer(e) : Integer"),
        ("Integer(E.c)", "3 : Integer"),
        ("E(2)", "E.b : E"),
        ("E(i)", "E(i) : E"),
        ("E(k)", "E(k) : E[3]"),
        ("String(x)", "String(x, 6, 0, true) : String"),
        ("String(x, leftJustified = false)", "String(x, 6, 0, false) : String"),
        ("String(i, minimumLength = 5)", "String(i, 5, true) : String"),
        ("String(b)", "String(b, 0, true) : String"),
        ("String(e)", "String(e, 0, true) : String"),
        ("String(x, format = \".3f\")", "String(x, \".3f\") : String"),
    ]);
}

#[test]
fn special_operators() {
    check_model(&[
        ("der(x)", "der(x) : Real"),
        ("der(v)", "der(v) : Real[3]"),
        ("der(x * y)", "der(x * y) : Real"),
        ("delay(x, 0.1)", "delay(x, 0.1) : Real"),
        ("delay(b, x, 1)", "delay(b, x, 1.0) : Boolean"),
        ("homotopy(simplified = 0, actual = x)", "homotopy(x, 0.0) : Real"),
        ("homotopy(v, v)", "homotopy(v, v) : Real[3]"),
        ("semiLinear(x, 1, 2)", "semiLinear(x, 1.0, 2.0) : Real"),
        ("inStream(x)", "inStream(x) : Real"),
        ("actualStream(v)", "actualStream(v) : Real[3]"),
        ("spatialDistribution(v, v, x, b)", "spatialDistribution(v, v, x, b, {0.0, 1.0}, {0.0, 0.0}) : Real[3]"),
        ("getInstanceName()", "getInstanceName() : String"),
        ("cardinality(x)", "cardinality(x) : Integer"),
        ("Connections.potentialRoot(v)", "Connections.potentialRoot(v, 0) : no value"),
        ("Connections.potentialRoot(v, priority = 2)", "Connections.potentialRoot(v, 2) : no value"),
        ("Connections.branch(v, w)", "Connections.branch(v, w) : no value"),
        ("Connections.isRoot(v)", "Connections.isRoot(v) : Boolean"),
        ("rooted(v)", "rooted(v) : Boolean"),
    ]);
}

#[test]
fn event_operators() {
    check_model(&[
        ("initial()", "initial() : Boolean"),
        ("noEvent(x > 0)", "noEvent(x > 0.0) : Boolean"),
        ("smooth(1, v)", "smooth(1, v) : Real[3]"),
        ("sample(0, 1)", "sample(0.0, 1.0) : Boolean"),
        ("sample(interval = 1, start = p)", "sample(p, 1.0) : Boolean"),
        ("pre(i)", "pre(i) : Integer"),
        ("pre(v[2])", "pre(v[2]) : Real"),
        ("edge(b)", "edge(b) : Boolean"),
        ("change(k)", "change(k) : Boolean[3]"),
        ("reinit(x, 0)", "reinit(x, 0.0) : no value"),
        ("assert(b, \"m\")", "assert(b, \"m\") : no value"),
        ("assert(message = \"m\", condition = b, level = level)", "assert(b, \"m\", level) : no value"),
        ("terminate(\"m\")", "terminate(\"m\") : no value"),
    ]);
}

#[test]
fn sizes_are_folded() {
    check_model(&[
        ("ndims(T)", "3 : Integer"),
        ("size(B)", "{2, 3} : Integer[2]"),
        ("size(B, 2)", "3 : Integer"),
        ("size(x)", "fill(0, 0) : Integer[0]"),
        ("size(A, i)", "size(A, i) : Integer"),
        ("zeros(2, n)", "zeros(2, n) : Integer[2, 3]"),
        ("ones(0)", "ones(0) : Integer[0]"),
        ("fill(v, 2)", "fill(v, 2) : Real[2, 3]"),
        ("fill(\"a\", 2)", "fill(\"a\", 2) : String[2]"),
        ("identity(n)", "identity(n) : Integer[3, 3]"),
        ("linspace(0, 1, 5)", "linspace(0.0, 1.0, 5) : Real[5]"),
        ("{sum(zeros(j)) for j in 1:3}", "{sum(zeros(j)) for j in 1:3} : Integer[3]"),
    ]);
    check_function(&[
        ("size(u, 1)", "size(u, 1) : Integer"),
        ("size(M)", "size(M) : Integer[2]"),
        ("size(M * {1, 2}, 1)", "size(M * {1.0, 2.0}, 1) : Integer"),
        ("zeros(size(u, 1))", "zeros(size(u, 1)) : Integer[:]"),
        ("cat(1, u, {1})", "cat(1, u, {1.0}) : Real[:]"),
    ]);
}

#[test]
fn array_functions() {
    check_model(&[
        ("scalar(one)", "scalar(one) : Real"),
        ("vector(row)", "vector(row) : Real[3]"),
        ("vector(x)", "{x} : Real[1]"),
        ("matrix(v)", "promote(v, 2) : Real[3, 1]"),
        ("matrix(deep)", "matrix(deep) : Real[2, 3]"),
        ("promote(x, 2)", "{{x}} : Real[1, 1]"),
        ("promote(v, 3)", "promote(v, 3) : Real[3, 1, 1]"),
        ("diagonal(k)", "diagonal(k) : Integer[3, 3]"),
        ("sum(A)", "sum(A) : Real"),
        ("product(k)", "product(k) : Integer"),
        ("transpose(B)", "transpose(B) : Real[3, 2]"),
        ("transpose(T)", "transpose(T) : Real[2, 2, 2]"),
        ("outerProduct(v, w)", "outerProduct(v, w) : Real[3, 2]"),
        ("symmetric(A)", "symmetric(A) : Real[3, 3]"),
        ("cross(v, {1, 0, 0})", "cross(v, {1.0, 0.0, 0.0}) : Real[3]"),
        ("skew(v)", "skew(v) : Real[3, 3]"),
        ("cat(1, v, w)", "cat(1, v, w) : Real[5]"),
        ("cat(2, B, {{1}, {2}})", "cat(2, B, {{1.0}, {2.0}}) : Real[2, 4]"),
    ]);
}

#[test]
fn clocks_and_state_machines() {
    check_model(&[
        ("Clock()", "Clock() : Clock"),
        ("Clock(3)", "Clock(3, 1) : Clock"),
        ("Clock(2, 1000)", "Clock(2, 1000) : Clock"),
        ("Clock(0.1)", "Clock(0.1) : Clock"),
        ("Clock(interval = 1)", "Clock(1.0) : Clock"),
        ("Clock(x > 0)", "Clock(x > 0.0, 0.0) : Clock"),
        ("Clock(condition = b, startInterval = 1)", "Clock(b, 1.0) : Clock"),
        ("Clock(c, \"ImplicitEuler\")", "Clock(c, \"ImplicitEuler\") : Clock"),
        ("Clock(c, solverMethod = \"\")", "Clock(c, \"\") : Clock"),
        ("sample(x)", "sample(x) : Real"),
        ("sample(v, c)", "sample(v, c) : Real[3]"),
        ("sample(b, clock = Clock(1, 10))", "sample(b, Clock(1, 10)) : Boolean"),
        ("previous(v)", "previous(v) : Real[3]"),
        ("hold(x)", "hold(x) : Real"),
        ("hold(2 * p)", "hold(2.0 * p) : Real"),
        ("subSample(c, 4)", "subSample(c, 4) : Clock"),
        ("superSample(x)", "superSample(x, 0) : Real"),
        ("shiftSample(x, 2)", "shiftSample(x, 2, 1) : Real"),
        ("backSample(x, backCounter = 1, resolution = 3)", "backSample(x, 1, 3) : Real"),
        ("noClock(x)", "noClock(x) : Real"),
        ("firstTick()", "firstTick() : Boolean"),
        ("interval(x)", "interval(x) : Real"),
        ("transition(x, y, b, priority = 2)", "transition(x, y, b, true, true, false, 2) : no value"),
        ("transition(x, y, b, immediate = false)", "transition(x, y, b, false, true, false, 1) : no value"),
        ("initialState(x)", "initialState(x) : no value"),
        ("activeState(x)", "activeState(x) : Boolean"),
        ("ticksInState()", "ticksInState() : Integer"),
        ("timeInState()", "timeInState() : Real"),
    ]);
}

/// Every built-in function says something sensible about a call without arguments and about one with too many.
#[test]
fn every_function_checks_its_arguments() {
    use saltus_base::Span;
    let without = [
        Builtin::GetInstanceName,
        Builtin::Initial,
        Builtin::Terminal,
        Builtin::Clock,
        Builtin::FirstTick,
        Builtin::Interval,
        Builtin::TicksInState,
        Builtin::TimeInState,
    ];
    let any_number = [Builtin::Zeros, Builtin::Ones, Builtin::Fill, Builtin::Cat];
    for &function in Builtin::ALL {
        let mut test = Test::model();
        let result = crate::builtin(&mut test, function, vec![], vec![], Span::nowhere());
        assert_eq!(result.is_error(), !without.contains(&function), "{}()", function.name());
        assert_eq!(result.is_error(), test.messages().contains("is missing"), "{}()", function.name());

        let arguments = vec![test.expr("1"); 10];
        let result = crate::builtin(&mut test, function, arguments, vec![], Span::nowhere());
        let accepts = any_number.contains(&function) && function != Builtin::Cat;
        assert_eq!(result.is_error(), !accepts, "{}(1, …)", function.name());
        assert_eq!(test.messages().is_empty(), accepts, "{}(1, …)", function.name());
    }
}
