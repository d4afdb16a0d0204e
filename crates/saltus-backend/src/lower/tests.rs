//! Lowering of Modelica text: functions, algorithms, Strings, external objects, parameters.

use saltus_base::Diagnostics;
use saltus_flat::FlatModel;
use saltus_library::{Library, MemoryFiles};
use saltus_program::{Argument, SlotKind};

use crate::dag::{Node, NodeId};
use crate::system::{System, declare_variables};
use crate::{equations, parameters};

pub fn flat(text: &str) -> FlatModel {
    let library = Library::new(Box::new(MemoryFiles::new()));
    let classes = library.load_text("test.mo", text);
    let class = *classes.last().expect("a class");
    let flattened = saltus_frontend::flatten(&library, class, &saltus_frontend::Options::default());
    let messages: Vec<String> = flattened.diagnostics.iter().map(|d| d.message.clone()).collect();
    assert!(!flattened.diagnostics.has_errors(), "{messages:?}");
    flattened.model.expect("a flat model")
}

fn lower(text: &str) -> (System, Diagnostics) {
    let model = flat(text);
    let mut diagnostics = Diagnostics::new();
    let mut system = declare_variables(&model);
    parameters::lower_parameters(&model, &mut system, &mut diagnostics);
    parameters::lower_start_values(&model, &mut system, &mut diagnostics);
    equations::lower_equations(&model, None, &mut system, &mut diagnostics);
    (system, diagnostics)
}

pub fn lowered(text: &str) -> System {
    let (system, diagnostics) = lower(text);
    let messages: Vec<String> = diagnostics.iter().map(|d| d.message.clone()).collect();
    assert_eq!(messages, Vec::<String>::new());
    system
}

fn show(system: &System, node: NodeId) -> String {
    let dag = &system.dag;
    match dag.node(node) {
        Node::Const(bits) => format!("{}", f64::from_bits(bits)),
        Node::Load(slot) => system.name(slot).into_owned(),
        Node::Unary(f, x) => format!("{}({})", f.name().trim(), show(system, x)),
        Node::Binary(f, a, b) => format!("({} {} {})", show(system, a), f.name(), show(system, b)),
        Node::Select(c, a, b) => {
            format!("(if {} then {} else {})", show(system, c), show(system, a), show(system, b))
        }
        Node::Result(call, k) => {
            let called = dag.called(call);
            let arguments: Vec<String> = called.arguments.iter().map(|&a| show(system, a)).collect();
            format!("{}({})[{k}]", system.callable_name(called.function), arguments.join(", "))
        }
    }
}

fn equations(system: &System) -> Vec<String> {
    system.equations.iter().map(|e| format!("{} = {}", show(system, e.left), show(system, e.right))).collect()
}

/// The value that the equation `name = …` gives, which must be a constant.
fn value(system: &System, name: &str) -> f64 {
    let is_wanted = |n: NodeId| matches!(system.dag.node(n), Node::Load(slot) if system.name(slot) == name);
    let equation = system.equations.iter().find(|e| is_wanted(e.left)).expect("an equation for the name");
    system.dag.value(equation.right).expect("a constant")
}

#[test]
fn a_function_is_written_out() {
    let system = lowered(
        "function f input Real x; input Real y = 2; output Real z; protected Real t = x + 1;
         algorithm z := t * y; end f;
         model M Real a = f(time); end M;",
    );
    assert_eq!(equations(&system), ["a = (2 * (time + 1))"]);
    assert!(system.calls.callables.is_empty());
}

#[test]
fn both_branches_are_executed_and_merged() {
    let system = lowered(
        "function f input Real x; output Real y; algorithm
           if x < 0 then y := -x; elseif x > 10 then y := 10; else y := x; end if; end f;
         model M Real a = f(time); end M;",
    );
    assert_eq!(equations(&system), ["a = (if (time < 0) then -(time) else (if (time > 10) then 10 else time))"]);
    // Functions generate no events.
    assert!(system.events.relations.is_empty() && system.events.time_events.is_empty());
}

#[test]
fn what_follows_a_conditional_return_is_conditional() {
    let system = lowered(
        "function f input Real x; output Real y; algorithm
           y := 1; if x > 0 then return; end if; y := 2; end f;
         model M Real a = f(time); end M;",
    );
    assert_eq!(equations(&system), ["a = (if (time > 0) then 1 else 2)"]);
}

#[test]
fn loops_are_unrolled_until_a_break() {
    let system = lowered(
        "function sumUpTo input Real x[:]; input Real limit; output Real s = 0; algorithm
           for i in 1:size(x, 1) loop if x[i] > limit then break; end if; s := s + x[i]; end for; end sumUpTo;
         model M Real a = sumUpTo({1, 2, 30, 4}, 10); Real b = sumUpTo({1, time}, 10); end M;",
    );
    // 1 + 2 by hand; the loop ends at 30.
    assert_eq!(value(&system, "a"), 3.0);
    assert_eq!(equations(&system)[1], "b = (if (time > 10) then 1 else (1 + time))");
}

#[test]
fn a_loop_that_depends_on_values_is_called() {
    let system = lowered(
        "function halve input Real x; output Real y; output Real n; algorithm
           y := x; n := 0; while y > 1 loop y := y / 2; n := n + 1; end while; end halve;
         model M Real a; Real b; Real c = halve(8); equation (a, b) = halve(time); end M;",
    );
    let found = equations(&system);
    // 8 → 4 → 2 → 1 by hand: constant arguments are evaluated.
    assert_eq!(value(&system, "c"), 1.0);
    assert_eq!(found[1..], ["a = halve(time)[0]", "b = halve(time)[1]"]);
    assert_eq!(system.calls.callables.len(), 1);
}

#[test]
fn equal_calls_are_executed_once() {
    let system = lowered(
        "function f input Real x; output Real y; algorithm y := x; while y > 1 loop y := y / 2; end while; end f;
         model M Real a = f(time); Real b = 2 * f(time); end M;",
    );
    assert_eq!(equations(&system), ["a = f(time)[0]", "b = (2 * f(time)[0])"]);
}

#[test]
fn functions_are_arguments_with_bound_inputs() {
    let system = lowered(
        "partial function Shape input Real x; output Real y; end Shape;
         function Line extends Shape; input Real k; algorithm y := k * x; end Line;
         function twice input Shape f; input Real x; output Real y; algorithm y := f(f(x)); end twice;
         model M Real a = twice(function Line(k = 3), time); end M;",
    );
    assert_eq!(equations(&system), ["a = (9 * time)"]);
}

#[test]
fn records_and_arrays_pass_through_functions() {
    let system = lowered(
        "record R Real p; Real v[2]; end R;
         function f input R r; output R s; algorithm s.p := r.p; s.v[1] := r.v[2]; s.v[2] := r.v[1]; end f;
         model M R r(p = time, v = {1, 2}); R s = f(r); end M;",
    );
    let found = equations(&system);
    assert!(found.contains(&"s.p = r.p".to_owned()), "{found:?}");
    assert!(found.contains(&"s.v[1] = r.v[2]".to_owned()), "{found:?}");
    assert!(found.contains(&"s.v[2] = r.v[1]".to_owned()), "{found:?}");
}

#[test]
fn a_subscript_that_varies_becomes_a_choice() {
    let system = lowered(
        "function set input Integer i; output Real x[2] = {0, 0}; algorithm x[i] := 5; end set;
         model M Integer i = if time > 1 then 2 else 1; Real a = {3, 4} * set(i); Real x[2] = {7, 8}; Real b = x[i]; end M;",
    );
    let found = equations(&system);
    let b = found.iter().find(|e| e.starts_with("b = ")).expect("an equation");
    assert_eq!(b, "b = (if (i == 1) then x[1] else (if (i == 2) then x[2] else NaN))");
}

#[test]
fn an_algorithm_gives_one_equation_for_each_variable() {
    let system = lowered(
        "model M Real x; Real y(start = 4); Real z; algorithm
           x := time; x := x + 1; if time > 5 then y := x; end if; z := 2 * x; end M;",
    );
    assert_eq!(
        equations(&system)[2..],
        ["x = (time + 1)", "y = (if time > 5.0 then (time + 1) else 4)", "z = (2 * (time + 1))"]
    );
    assert!(system.equations.iter().all(|e| e.target.is_some()));
}

#[test]
fn when_in_an_algorithm_acts_at_its_edge() {
    let system = lowered(
        "model M Integer n(start = 3); Real t; algorithm
           when time > 1 then n := pre(n) + 1; elsewhen initial() then n := 10; end when; t := n; end M;",
    );
    let n = system.equations.iter().find(|e| show(&system, e.left) == "n").expect("an equation");
    let edge = "(when time > 1.0 and not(pre(when time > 1.0)))";
    assert_eq!(show(&system, n.right), format!("(if {edge} then (pre(n) + 1) else pre(n))"));
    assert_eq!(n.initially.map(|i| show(&system, i)), Some("10".to_owned()));
}

#[test]
fn branches_of_an_if_go_together_by_their_left_hand_sides() {
    let system = lowered(
        "model M parameter Boolean c = true; Real x; Real y; equation
           if c then x = 1; y = 2; else y = 3; x = time; end if; end M;",
    );
    assert_eq!(equations(&system), ["x = (if c then 1 else time)", "y = (if c then 2 else 3)"]);
}

#[test]
fn external_objects_are_made_by_parameters_and_passed_by_slot() {
    let system = lowered(
        "class Table extends ExternalObject;
           function constructor input String name; input Real x[:]; output Table t; external \"C\" t = make(name, x);
           end constructor;
           function destructor input Table t; external \"C\" free(t); end destructor;
         end Table;
         function look input Table t; input Real u; output Real y; external \"C\" y = look(t, u); end look;
         model M parameter String name = \"a\" + String(2); parameter Table t = Table(name, {1, 2});
           Real y = look(t, time); end M;",
    );
    assert_eq!(equations(&system), ["y = look(time)[0]"]);
    let slot = system.slots.find("t").expect("a slot for the object");
    assert_eq!(system.slots[slot].kind, SlotKind::Parameter);
    let arguments: Vec<&Argument> = system.calls.callables.values().flat_map(|c| &c.arguments).collect();
    assert!(arguments.contains(&&Argument::Object(slot)), "{arguments:?}");
    assert!(arguments.contains(&&Argument::Text("a2".into())), "{arguments:?}");
    assert_eq!(system.parameters.assignments.iter().filter(|a| a.slot == slot).count(), 1);
}

#[test]
fn free_parameters_take_their_dependents_along() {
    let system = lowered(
        "model M parameter Real p(fixed = false, start = 2); parameter Real q = 2 * p; parameter Real r = 3;
           Real x(start = 1, fixed = true); initial equation x = q; equation der(x) = -r * x; end M;",
    );
    let names: Vec<_> = system.parameters.free.iter().map(|&s| system.name(s)).collect();
    assert_eq!(names, ["p", "q"]);
    let initial: Vec<String> = system
        .initial_equations
        .iter()
        .map(|e| format!("{} = {}", show(&system, e.left), show(&system, e.right)))
        .collect();
    assert_eq!(initial, ["x = q", "q = (2 * p)"]);
}

#[test]
fn structural_parameters_are_constants_and_others_are_not() {
    let system = lowered("model M parameter Integer n = 2; parameter Real p = 3; Real x[n] = fill(n * p, n); end M;");
    assert_eq!(equations(&system), ["x[1] = (2 * p)", "x[2] = (2 * p)"]);
}

#[test]
fn the_derivative_of_an_expression_is_that_of_a_variable() {
    let system = lowered("model M Real x = sin(time); Real y = der(2 * x); end M;");
    assert_eq!(equations(&system), ["x = sin(time)", "differentiated 1 = (2 * x)", "y = der(differentiated 1)"]);
}

#[test]
fn array_functions_have_their_values() {
    // Values computed by hand from the definitions in section 10.3 of the specification.
    let system = lowered(
        "model M Real a = cross({1, 0, 0}, {0, 1, 0}) * {5, 6, 7}; Real b = sum(skew({1, 2, 3}) * {1, 1, 1});
           Real c = sum(cat(1, {1, 2}, {3})); Real d[2, 2] = transpose([1, 2; 3, 4]); Real e[3] = linspace(1, 3, 3);
           Real f[2, 2] = symmetric([1, 2; 9, 4]); Real g[2, 2] = [1, 1; 0, 1]^3; end M;",
    );
    let names = ["a", "b", "c", "d[1,2]", "e[2]", "f[2,1]", "g[1,2]"];
    assert_eq!(names.map(|n| value(&system, n)), [7.0, 0.0, 6.0, 3.0, 2.0, 2.0, 3.0]);
}

#[test]
fn endless_recursion_ends_in_a_call() {
    let system = lowered(
        "function f input Real x; output Real y; algorithm if x > 0 then y := f(x - 1); else y := 0; end if; end f;
         model M Real a = f(time); end M;",
    );
    assert_eq!(system.equations.len(), 1);
    assert!(!system.calls.callables.is_empty());
}

#[test]
fn what_cannot_be_lowered_is_said_once() {
    let (_, diagnostics) = lower(
        "model M Real a[5000] = fill(1, 5000); Integer i = if time > 1 then 2 else 3; Real y[2] = a[{i, 1}]; end M;",
    );
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["not supported yet: a subscript of a large array that is not constant"]);
}

#[test]
fn calls_are_differentiated_by_annotation() {
    let text = "function f input Real x; input Real k; output Real y; external \"C\" y = f(x, k);
           annotation(derivative(zeroDerivative = k) = f1); end f;
         function f1 input Real x; input Real k; input Real dx; output Real dy; external \"C\" dy = f1(x, k, dx);
           annotation(derivative(order = 2, zeroDerivative = k) = f2); end f1;
         function f2 input Real x; input Real k; input Real dx; input Real ddx; output Real ddy;
           algorithm ddy := k * ddx + x; end f2;
         model M parameter Real k = 2; Real y = f(time, k); end M;";
    let model = flat(text);
    let mut system = lowered(text);
    let Node::Result(call, 0) = system.dag.node(system.equations[0].right) else { panic!("a call was expected") };
    let one = system.dag.constant(1.0);
    let first = super::derivatives::derivative_of_call(
        &model,
        &mut system,
        call,
        &[Ok(Some(one)), Ok(None)],
        super::derivatives::By::Time,
    );
    let first = first.expect("a derivative")[0];
    assert_eq!(show(&system, first), "f1(time, k, 1)[0]");
    let Node::Result(call, 0) = system.dag.node(first) else { panic!("a call was expected") };
    let d = system.load(system.time);
    let second = super::derivatives::derivative_of_call(
        &model,
        &mut system,
        call,
        &[Ok(Some(one)), Ok(None), Ok(Some(d))],
        super::derivatives::By::Time,
    );
    assert_eq!(second.map(|s| show(&system, s[0])), Some("((k * time) + time)".to_owned()));
    // The parameter would have to be constant.
    assert_eq!(
        super::derivatives::derivative_of_call(
            &model,
            &mut system,
            call,
            &[Ok(Some(one)), Ok(Some(d)), Ok(None)],
            super::derivatives::By::Time
        ),
        None
    );
}

#[test]
fn a_parameter_decides_between_calls_and_becomes_structural() {
    let system = lowered(
        "function f input Real x; output Real y; external \"C\" y = f(x); end f;
         function g input Real x; output Real y; external \"C\" y = g(x); end g;
         model M parameter Integer k = 2; parameter Real p = 1; Real a = if k == 1 then f(time) else g(time);
           Real b; Real c = if p > 0 then time else 2 * time; equation
           if k == 1 then b = f(time); else b = g(time); end if; end M;",
    );
    let found = equations(&system);
    assert!(found.contains(&"a = g(time)[0]".to_owned()), "{found:?}");
    assert!(found.contains(&"b = g(time)[0]".to_owned()), "{found:?}");
    // Where nothing is called a parameter stays in memory.
    assert!(found.contains(&"c = (if (p > 0) then time else (2 * time))".to_owned()), "{found:?}");
    let structural: Vec<_> = system.memo.structural.iter().map(|&s| system.name(s)).collect();
    assert_eq!(structural, ["k"]);
}

#[test]
fn a_function_with_a_derivative_is_called_if_what_it_calls_has_none() {
    let system = lowered(
        "function table input Real x; output Real y; external \"C\" y = table(x); end table;
         function f input Real x; output Real y; algorithm y := 2 * table(x); annotation(derivative = f_der); end f;
         function f_der input Real x; input Real dx; output Real dy; algorithm dy := dx; end f_der;
         function g input Real x; output Real y; algorithm y := 2 * table(x); end g;
         model M Real a = f(time); Real b = g(time); end M;",
    );
    assert_eq!(equations(&system), ["a = f(time)[0]", "b = (2 * table(time)[0])"]);
}

#[test]
fn more_assertions_than_can_be_checked_are_told_of() {
    let text = |n: u32| {
        format!(
            "model M function f input Real x; output Real y; algorithm assert(x > 0, \"low\"); y := x; end f;
               Real y[{n}]; equation for i in 1:{n} loop y[i] = f(time + i); end for; end M;"
        )
    };
    let codes = |n| lower(&text(n)).1.iter().map(|d| d.code.0).collect::<Vec<_>>();
    assert!(codes(2000).is_empty());
    assert_eq!(codes(2001), ["W0821"]);
}
