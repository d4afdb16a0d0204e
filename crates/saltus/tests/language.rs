//! Rules of the language that several stages watch over, by section of the specification: what is said about a model that breaks
//! one, and what a model that relies on one computes.

use saltus::Session;
use saltus::pipeline::{self, Options, Outcome, Stage};
use saltus_library::MemoryFiles;

fn run(text: &str, stage: Stage) -> Outcome {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(Some("M")).unwrap();
    pipeline::run(&session, class, &Options::until(stage))
}

/// Codes and marked texts of all messages of a model that is compiled.
fn said(text: &str) -> Vec<(&'static str, &str)> {
    let outcome = run(text, Stage::Compile);
    let marked = |span: saltus_base::Span| text.get(span.start as usize..span.end as usize).unwrap_or("");
    outcome.diagnostics.iter().map(|d| (d.code.0, d.span.map_or("", marked))).collect()
}

/// The last values of variables, and the number of events between the start and the end.
#[track_caller]
fn simulated(text: &str, names: &[&str]) -> (Vec<f64>, usize) {
    let outcome = run(text, Stage::Simulate);
    let trajectory = outcome.trajectory.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics));
    let last = |name: &&str| trajectory.last(name).unwrap_or_else(|| panic!("no {name}"));
    let n_events = trajectory.events.iter().filter(|e| e.time > 0.0 && e.time < 1.0).count();
    (names.iter().map(last).collect(), n_events)
}

#[test]
fn attributes_are_not_read_with_a_dot() {
    assert_eq!(said("model M Real x(start = 2) = time; Real y = x.start; end M;"), [("E0203", "start")]);
}

#[test]
fn a_component_is_not_called_like_its_type() {
    let text = "model M model A Real x = time; end A; A A; end M;";
    assert_eq!(said(text), [("E0216", "A"), ("E0205", "A")]);
}

#[test]
fn a_when_clause_does_not_balance_a_component() {
    let text = "model M model A Real x; end A; A a; equation when time > 0.5 then a.x = 1; end when; end M;";
    assert_eq!(said(text), [("W0454", "a")]);
}

#[test]
fn what_a_replacement_adds_has_a_value() {
    let text = |added: &str| {
        format!(
            "model M model A Real x = time; end A; model B Real x = time; {added} end B; \
             model C replaceable A a; end C; C c(redeclare B a); end M;"
        )
    };
    assert_eq!(said(&text("input Real u;")), [("E0450", "u")]);
    assert_eq!(said(&text("input Real u = 1;")), []);
    assert_eq!(said(&text("parameter Real p; Real z = p;")), [("W0820", "p")]);
    assert_eq!(said(&text("parameter Real p = 1; Real z = p;")), []);
}

#[test]
fn break_does_not_take_a_final_value_away() {
    let text = "model M model A final parameter Real p = 1; Real x = p*time; end A; A a(p = break); end M;";
    assert_eq!(said(text), [("E0213", "p = break")]);
}

#[test]
fn branches_have_the_same_discrete_variables_on_the_left() {
    let text = |last: &str| {
        format!(
            "model M Boolean a, b; equation if time > 0.5 then a = true; b = false; else b = true; {last}; end if; end M;"
        )
    };
    assert_eq!(said(&text("a = false")), []);
    assert_eq!(said(&text("false = a")), [("E0803", "a = true")]);
}

#[test]
fn flows_of_operator_records_are_added_with_their_operators() {
    let text = "model M
  operator record V
    Real a; Real b;
    encapsulated operator function '+'
      import M.V; input V x; input V y; output V z;
    algorithm z := V(x.a + y.a, x.b + y.b); end '+';
    encapsulated operator function '-'
      import M.V; input V x; output V z;
    algorithm z := V(-x.a, -x.b); end '-';
    encapsulated operator function '0'
      import M.V; output V z;
    algorithm z := V(0, 0); end '0';
  end V;
  connector C V e; flow V f; end C;
  model Source parameter Real b; C c; equation c.f = V(-time, b); end Source;
  model Sink C c; equation c.e = V(0, 0); end Sink;
  Source s(b = 1), t(b = 2);
  Sink k;
equation
  connect(s.c, k.c);
  connect(t.c, k.c);
end M;";
    // The flows add up to zero: 2*t and -3 go into the sink.
    let (values, _) = simulated(text, &["k.c.f.a", "k.c.f.b"]);
    assert!((values[0] - 2.0).abs() < 1e-12 && (values[1] + 3.0).abs() < 1e-12, "{values:?}");
}

#[test]
fn the_graph_of_connections_is_not_built_in_when_clauses() {
    let text = "model M
  record R Real x;
    function equalityConstraint input R a; input R b; output Real r[0]; end equalityConstraint;
  end R;
  connector C R r; end C;
  C c;
equation
  c.r.x = 1;
  when time > 0.5 then Connections.root(c.r); end when;
end M;";
    assert_eq!(said(text), [("E0534", "Connections.root(c.r)")]);
}

#[test]
fn a_slice_of_components_needs_members_of_equal_sizes() {
    let text = |sizes: &str| {
        format!(
            "model M model A parameter Integer n = 1; Real x[n] = fill(time, n); end A; A a[2](n = {sizes}); Real s = sum(a.x); end M;"
        )
    };
    assert_eq!(said(&text("{1, 2}")), [("E0373", "a.x")]);
    assert_eq!(said(&text("{2, 2}")), []);
}

#[test]
fn when_statements_stand_alone() {
    let text = |around: &str| format!("model M Real y(start = 0); {around} end M;");
    let when = "when time > 0.5 then y := 1; end when;";
    let marked = "when time > 0.5 then y := 1; end when";
    let alone = text(&format!("algorithm {when}"));
    assert_eq!(said(&alone), []);
    let cases = [
        ("algorithm for i in 1:2 loop", "end for;", "E0433"),
        ("algorithm while false loop", "end while;", "E0433"),
        ("algorithm when time > 0.6 then", "end when;", "E0431"),
        ("initial algorithm", "equation der(y) = 1;", "E0432"),
    ];
    for (before, after, code) in cases {
        let text = text(&format!("{before} {when} {after}"));
        let found: Vec<(&str, &str)> = said(&text).into_iter().filter(|(code, _)| code.starts_with('E')).collect();
        assert_eq!(found, [(code, marked)], "{text}");
    }
}

#[test]
fn terminate_is_a_statement() {
    let text = "model M Real y = time; algorithm when y > 0.25 then terminate(\"enough\"); end when; end M;";
    let (values, _) = simulated(text, &["y"]);
    assert!((values[0] - 0.25).abs() < 1e-6, "{values:?}");
}

/// Section 8.6: a `when` with `initial()` is active in the initial system; 8.3.8: `terminate` ends the simulation.
#[test]
fn terminate_ends_a_run_at_its_start() {
    let wheres = [
        "equation der(x) = 1; when {initial(), x > 0.5} then terminate(\"x is \" + String(x)); end when;",
        "equation der(x) = 1; algorithm when initial() then terminate(\"start\"); end when;",
        "initial algorithm if x < 1 then terminate(\"too low\"); end if; equation der(x) = 1;",
    ];
    for at_start in wheres {
        let (values, _) = simulated(&format!("model M Real x(start = 0.25, fixed = true); {at_start} end M;"), &["x"]);
        assert_eq!(values, [0.25], "{at_start}");
    }
}

#[test]
fn an_impure_call_is_not_solved_for() {
    let text = |b: &str| {
        format!(
            "model M impure function f input Real x; output Real y; algorithm y := x + 1; end f;
             discrete Real a(start = 0), b(start = 0);
             equation when time > 0.5 then a = f(b); b = {b}; end when; end M;"
        )
    };
    assert_eq!(said(&text("3 - 2*a")), [("E0817", "a = f(b)")]);
    assert_eq!(said(&text("3 - 2*pre(a)")), []);
}

#[test]
fn a_record_constructor_is_not_a_function_argument() {
    let text = "model M record R Real x; end R; partial function F input Real x; output Real y; end F;
        function g input F f; output Real y; algorithm y := f(1); end g; Real y = g(R); end M;";
    assert_eq!(said(text), [("E0219", "R")]);
}

#[test]
fn functions_generate_events_if_they_say_so() {
    let text = |annotation: &str| {
        format!(
            "model M function step input Real x; output Real y; algorithm y := if x > 0.25 then 1 else 0; {annotation} end step;
             Real y = step(time); end M;"
        )
    };
    assert_eq!(simulated(&text("annotation(GenerateEvents = true);"), &["y"]), (vec![1.0], 1));
    assert_eq!(simulated(&text(""), &["y"]), (vec![1.0], 0));
}

#[test]
fn loops_run_over_types_and_deduced_ranges() {
    let text = "model M
  type E = enumeration(one, two, three);
  Real x[E]; Real b[Boolean]; Real a[2, 3]; Real s[3](each start = 0);
  Integer n;
algorithm
  for e in E loop x[e] := Integer(e)*time; end for;
  for q in Boolean loop b[q] := if q then 2 else 1; end for;
  for i, j loop a[i, j] := 10*i + j; end for;
  for i in 1:3, j in 1:i loop s[i] := s[i] + j; end for;
  n := 0;
  for e in E.two:E.three loop n := n + Integer(e); end for;
end M;";
    let (values, _) = simulated(text, &["x[3]", "b[1]", "b[2]", "a[2,3]", "s[3]", "n"]);
    assert_eq!(values, [3.0, 1.0, 2.0, 23.0, 6.0, 5.0]);
}

#[test]
fn results_leave_out_what_is_hidden() {
    let text = "model M Real x = time annotation(HideResult = true); Real y = 2*x; end M;";
    let trajectory = run(text, Stage::Simulate).trajectory.unwrap();
    assert!(trajectory.last("x").is_none() && trajectory.last("y").is_some());
}

#[test]
fn clocks_keep_to_their_rules() {
    let no_clock = "model M Clock c = Clock(0.1); Clock d = noClock(c); end M;";
    assert_eq!(said(no_clock), [("E0340", "c")]);
    let nested = "model M Real x, y; equation when Clock(0.1) then x = 1; when Clock(0.2) then y = 2; end when; end when; end M;";
    assert_eq!(said(nested), [("E0431", "when Clock(0.2) then y = 2; end when")]);
    let outside = "model M Real x = interval(time); end M;";
    assert_eq!(said(outside), [("W0830", "x")]);
}

#[test]
fn active_state_asks_for_a_state() {
    let text = "model M block S output Integer n; equation n = 1; end S; S a, b, c; Boolean x = activeState(c);
        equation initialState(a); transition(a, b, true); end M;";
    assert_eq!(said(text), [("E0853", "activeState(c)")]);
}

#[test]
fn defaults_depend_on_other_inputs_without_a_cycle() {
    let text = |defaults: &str| {
        format!(
            "model M function f input Real a; {defaults} output Real y; algorithm y := a + b + c; end f; Real y = f(time); end M;"
        )
    };
    let (values, _) = simulated(&text("input Real b = 2*c; input Real c = a + 1;"), &["y"]);
    assert_eq!(values, [7.0]);
    assert_eq!(said(&text("input Real b = c; input Real c = b;")), [("E0365", "f(time)")]);
}

#[test]
fn arrays_of_open_size_take_the_size_of_what_is_assigned() {
    let text = "model M function f input Integer n; input Real u; output Real y; protected Real a[:];
        algorithm a := fill(u, n); a := cat(1, a, {1.0, 2.0}); y := size(a, 1) + sum(a); end f;
        Integer n = if time < 0.5 then 2 else 3; Real y = f(n, time); end M;";
    let (values, _) = simulated(text, &["y"]);
    // 5 elements: 3*t + 3
    assert!((values[0] - 11.0).abs() < 1e-12, "{values:?}");
}

#[test]
fn a_function_is_called_through_a_component() {
    let text = "model M model A parameter Real k = 2; function f input Real x; output Real y; algorithm y := 2*x; end f; end A;
        A a; Real y = a.f(time); end M;";
    assert_eq!(simulated(text, &["y"]).0, [2.0]);
}

#[test]
fn a_discrete_field_has_the_values_of_its_branches() {
    let text = |n: &str| {
        format!(
            "model M record R Real x; Integer n; end R;
             function f input Real u; output Integer y; algorithm y := integer(u); end f;
             Real x = time; R r = if x > 0.5 then R(x, 2) else R(time, {n}); end M;"
        )
    };
    assert_eq!(said(&text("3")), []);
    assert_eq!(said(&text("f(x)")), [("E0412", "x")]);
}

#[test]
fn what_extends_an_impure_function_is_impure() {
    let text = |prefix: &str| {
        format!(
            "model M {prefix} function f input Real x; output Real y; algorithm y := x; end f; \
             function g extends f; end g; function h = g(x = 2); Real y = g(time) + h(); end M;"
        )
    };
    assert_eq!(said(&text("")), []);
    assert_eq!(said(&text("impure")).first().map(|message| message.0), Some("E0816"));
}

#[test]
fn the_size_of_a_result_is_that_of_what_is_assigned() {
    let text = "model M record R Real x; end R; record P R r[2, 3]; end P; \
                function f input P p[4]; output Real x[:, :, :]; algorithm x := p.r.x; end f; \
                P p[4]; Real x[:, :, :] = f(p); Real n = x[4, 2, 3]; equation p.r.x = fill(3*time, 4, 2, 3); end M;";
    assert_eq!(simulated(text, &["n"]).0, [3.0]);
}

#[test]
fn long_loops_of_algorithms_stay_loops() {
    // The harmonic series to 300 000: log(n) + γ + 1/(2 n) - 1/(12 n²).
    let text = "model M Real s; algorithm s := 0; for i in 1:300000 loop s := s + time/i; end for; \
                annotation (experiment(StopTime = 1, Interval = 1)); end M;";
    let n = 3e5_f64;
    let expected = n.ln() + 0.577_215_664_901_532_9 + 0.5 / n - 1.0 / (12.0 * n * n);
    let (values, _) = simulated(text, &["s"]);
    assert!((values[0] - expected).abs() < 1e-9, "{values:?}");
}

#[test]
fn a_signal_on_a_bus_has_one_source() {
    let text = "model M expandable connector Bus end Bus; connector Out = output Real; block S Out y = time; \
                end S; Bus b; S s, t; equation connect(s.y, b.v); connect(t.y, b.v); end M;";
    assert!(said(text).iter().any(|message| message.0 == "E0508"), "{:?}", said(text));
}

#[test]
fn no_inner_component_is_added_of_a_partial_class() {
    let text = "model M partial model P Real x; end P; model A outer P p; Real y = p.x; end A; A a; end M;";
    assert!(said(text).iter().any(|message| message.0 == "E0218"), "{:?}", said(text));
}

#[test]
fn a_partition_has_one_solver_method() {
    let text = "model M Real x(start = 0, fixed = true), u, y(start = 0, fixed = true); equation u = \
                sample(1.0, Clock(Clock(1, 10), \"ImplicitEuler\")); der(x) = u; y = sample(time, \
                Clock(Clock(1, 10), \"ExplicitEuler\")) + x; end M;";
    assert!(said(text).iter().any(|message| message.0 == "E0840"), "{:?}", said(text));
}

#[test]
fn a_transition_is_not_under_a_condition_that_changes() {
    let text = "model M block A end A; block B end B; A a; B b; Integer n(start = 0); equation n = previous(n) \
                + sample(1, Clock(1)); initialState(a); if time > 0.5 then transition(a, b, n > 2); end if; end \
                M;";
    assert_eq!(said(text), [("E0535", "time > 0.5")]);
}

#[test]
fn ticks_in_a_state_are_counted_in_machines_only() {
    let text = "model M Real x; equation x = ticksInState() + time; end M;";
    assert!(said(text).iter().any(|message| message.0 == "E0801"), "{:?}", said(text));
}

#[test]
fn the_states_of_a_machine_have_one_clock() {
    let text = "model M block A Real x; equation x = sample(time, Clock(1, 10)); end A; block B Real x; \
                equation x = sample(time, Clock(1, 7)); end B; A a; B b; equation initialState(a); \
                transition(a, b, a.x > 0.3, immediate = false); end M;";
    assert!(said(text).iter().any(|message| message.0 == "E0830"), "{:?}", said(text));
}

#[test]
fn the_clock_of_a_variable_is_known_at_compile_time() {
    let text = "model M Integer n(start = 0, fixed = true); Real y; equation when time > 0.5 then n = 1; end \
                when; y = sample(time, if n > 0 then Clock(1, 10) else Clock(1, 5)); end M;";
    assert!(said(text).iter().any(|message| message.0 == "E0836"), "{:?}", said(text));
}

#[test]
fn a_record_has_neither_equations_nor_protected_elements() {
    for text in [
        "model M record R Real x; equation x = 1; end R; R r; end M;",
        "model M record R protected Real x; end R; R r(x = 1); end M;",
    ] {
        assert_eq!(said(text).first().map(|message| message.0), Some("E0287"));
    }
}

#[test]
fn prefixes_are_for_variables_records_and_connectors() {
    let text = |prefix: &str| format!("model M model A Real x = time; end A; {prefix} A a; end M;");
    assert_eq!(said(&text("parameter"))[0], ("E0292", "a"));
    assert_eq!(said(&text("discrete"))[0], ("E0292", "a"));
    assert_eq!(said("model M block B input parameter Real u = 1; end B; B b; end M;")[0].0, "E0143");
}

#[test]
fn fields_have_no_direction() {
    assert_eq!(said("model M record R input Real u; end R; R r(u = time); end M;")[0], ("E0295", "u"));
    assert_eq!(said("model M record R Real u; end R; R r(u = time); end M;"), []);
}

#[test]
fn operators_are_in_operator_records() {
    let function = "function f input Real x; output Real y; algorithm y := x; end f;";
    let text = format!("model M encapsulated operator {function} Real y = time; end M;");
    assert_eq!(said(&text), [("E0296", "f")]);
}

#[test]
fn a_base_class_is_of_a_kind_that_fits() {
    let text = |classes: &str| format!("model M {classes} Real x = time; end M;");
    assert_eq!(said(&text("model A Real y = time; end A; record R extends A; end R; R r;")), [("E0297", "A")]);
    assert_eq!(
        said(&text("operator record A Real y; end A; record R extends A; end R; R r(y = time);")),
        [("E0297", "A")]
    );
    assert_eq!(said(&text("partial model I end I; record R extends I; Real y = 1; end R; R r;")), [("W0297", "I")]);
    assert_eq!(said(&text("record R Real y = time; end R; model A extends R; end A; A a;")), []);
}

#[test]
fn a_replacement_has_as_many_dimensions() {
    let text =
        |x: &str| format!("model M model A replaceable Real x[2] = {{1, 2}}; end A; A a(redeclare Real {x}); end M;");
    assert_eq!(said(&text("x[2, 2] = {{1, 2}, {3, 4}}"))[0], ("E0233", "x"));
    assert_eq!(said(&text("x[2] = {3, 4}")), []);
}

#[test]
fn what_is_declared_fits_its_constraining_type() {
    let text = |class: &str| {
        format!(
            "model M model A Real x = time; end A; model B Real y = time; end B; model C Real x = 1; Real y = 2; end C; \
             replaceable model T = {class} constrainedby A; T t; end M;"
        )
    };
    assert_eq!(said(&text("B")), [("E0232", "T")]);
    assert_eq!(said(&text("C")), []);
}

/// The value is found when the branch of `if` is chosen, where it is only tried.
#[test]
fn a_wrong_value_of_a_parameter_that_decides_is_told() {
    let text = |value: &str| {
        format!(
            "model M parameter Boolean b = {value} annotation(Evaluate = true); Real y; \
             equation if b then y = 2; else y = 1; end if; end M;"
        )
    };
    assert_eq!(said(&text("1")), [("E0327", "1")]);
    assert_eq!(said(&text("nonesuch")).first().map(|(code, marked)| (&code[..1], *marked)), Some(("E", "nonesuch")));
    assert_eq!(said("model M constant Boolean b = 1; Real y = if b then 2 else 1; end M;"), [("E0327", "1")]);
    assert_eq!(said(&text("true")), []);
}

#[test]
fn functions_have_no_clocks() {
    let text = "model M function f input Real x; output Real y; protected Clock c; algorithm y := x; end f; Real y = f(time); end M;";
    assert_eq!(said(text)[0], ("E0375", "c"));
}

#[test]
fn an_argument_has_the_fields_of_its_record() {
    let text = "model M record A Real x; end A; record B Real x; Real z; end B; \
                function f input A a; output Real y; algorithm y := 2*a.x; end f; B b(x = time, z = 3); Real y = f(b); end M;";
    assert_eq!(said(text), [("E0327", "b")]);
}

#[test]
fn annotations_contain_values() {
    assert_eq!(
        said("model M parameter Real p = 1 annotation(final Evaluate = true); Real x = p; end M;"),
        [("E0298", "final Evaluate = true")]
    );
    let sized = |ty: &str| {
        format!("model M parameter {ty} n = 0 annotation(Dialog(connectorSizing = true)); Real x = n*time; end M;")
    };
    assert_eq!(said(&sized("Real")), [("E0299", "n")]);
    assert_eq!(said(&sized("Integer")), []);
}

#[test]
fn some_connectors_must_be_connected() {
    let text = |equation: &str| {
        format!(
            "model M connector P Real v; flow Real i; end P; \
             model A P p annotation(mustBeConnected = \"it carries the load\"); equation p.v = time; end A; \
             model B P p; equation p.i = 0; end B; A a; B b; equation {equation} end M;"
        )
    };
    assert_eq!(said(&text(""))[0], ("E0547", "p"));
    assert_eq!(said(&text("connect(a.p, b.p);")), []);
}

#[test]
fn the_use_of_an_obsolete_class_is_reported() {
    let text = "model M model A Real x = time; annotation(obsolete = \"use B\"); end A; A a; end M;";
    assert_eq!(said(text), [("W0299", "A")]);
}

#[test]
fn a_delay_stays_within_its_limits() {
    let text = |time: &str| format!("model M Real y = delay(time, {time}, 0.5); end M;");
    let failed = |time: &str| {
        run(&text(time), Stage::Simulate).diagnostics.iter().map(|d| d.message.clone()).collect::<String>()
    };
    assert!(failed("0.3 - time").contains("must not be negative"), "{}", failed("0.3 - time"));
    assert!(failed("0.1 + time").contains("its `delayMax`"), "{}", failed("0.1 + time"));
    assert_eq!(simulated(&text("0.5*time"), &["y"]).0, [0.5]);
}

#[test]
fn the_derivative_of_an_input_is_announced() {
    assert_eq!(said("model M input Real u; Real y = der(u); end M;"), [("W0824", "u")]);
}

#[test]
fn what_travels_has_no_derivative() {
    let text = "model M Real a, b, y; equation (a, b) = spatialDistribution(time, 0, time, true, {0, 1}, {0, 0}); y = der(b); end M;";
    assert_eq!(said(text)[0].0, "E0870");
}

#[test]
fn sizes_that_come_from_outside_may_be_used_by_others() {
    let text = "model M model A parameter Real A[:, size(A, 1)]; Real x[size(A, 1)] = A*ones(size(A, 1)); end A; A a(A = {{1, 2}, {3, 4}}); end M;";
    assert_eq!(simulated(text, &["a.x[1]", "a.x[2]"]).0, [3.0, 7.0]);
}

/// Along `y` the equations hold everywhere; `z^2 = 0` is singular at its solution as well, but has one only.
#[test]
fn a_loop_that_leaves_a_variable_open_is_told() {
    let told = |text: &str| {
        let outcome = run(text, Stage::Simulate);
        outcome.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>()
    };
    let open =
        told("model M Real x(start = 0.5), y(start = 3); equation (x - 1)*(y - 1) = 0; (x - 1)*(y - 2) = 0; end M;");
    assert_eq!(open, ["at time 0 the equations of a loop leave `y` undetermined"]);
    // The second constraint is the first one: any point of the circle, any sum of 1.
    let circle = told("model M Real x(start = 1), y(start = 0); equation x^2 + y^2 = 1; 2*x^2 + 2*y^2 = 2; end M;");
    assert_eq!(circle.len(), 1, "{circle:?}");
    let line =
        told("model M Real x, y; parameter Real k = 2; equation x + y = 1 + time; 2*x + k*y = 2 + 2*time; end M;");
    assert_eq!(line.len(), 1, "{line:?}");
    assert_eq!(told("model M Real z(start = 0.3); equation z^2 = 0; end M;"), [""; 0]);
    assert_eq!(told("model M Real w(start = 2); equation w^3 + w = 3 + time; end M;"), [""; 0]);
}
