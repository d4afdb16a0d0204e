//! Rules of the language, continued from `language.rs`: records made from models, Integers and Real equations, Strings in algorithms,
//! prefixes of classes, what is told of clocked variables and of states, annotations, overloaded operators and streams.

use saltus::Session;
use saltus::pipeline::{self, Options, Outcome, Stage};
use saltus_library::MemoryFiles;

fn run(text: &str, stage: Stage) -> Outcome {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(Some("M")).unwrap();
    pipeline::run(&session, class, &Options::until(stage))
}

fn said_until(text: &str, stage: Stage) -> Vec<(&'static str, &str)> {
    let outcome = run(text, stage);
    let marked = |span: saltus_base::Span| text.get(span.start as usize..span.end as usize).unwrap_or("");
    outcome.diagnostics.iter().map(|d| (d.code.0, d.span.map_or("", marked))).collect()
}

/// Codes and marked texts of all messages of a model that is compiled.
fn said(text: &str) -> Vec<(&'static str, &str)> {
    said_until(text, Stage::Compile)
}

#[track_caller]
fn last_values(text: &str, names: &[&str]) -> Vec<f64> {
    let outcome = run(text, Stage::Simulate);
    let trajectory = outcome.trajectory.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics));
    names.iter().map(|name| trajectory.last(name).unwrap_or_else(|| panic!("no {name}"))).collect()
}

/// Specification 12.6.1.
#[test]
fn a_model_becomes_a_record() {
    let classes = "connector F Real phi; flow Real tau; end F;
        model A parameter Real p = 3; Real m = 2*time; F f; protected Real hidden = 7; equation f.phi = 5*time; end A;
        record RF Real phi; end RF;
        record R Real m; RF f; Real hidden = 4; end R;";
    let text = format!(
        "model M {classes} A a; A b[2](p = {{1, 2}}); R r = R(a); R s[2] = R(b); R t = R(b[2]);
         Real x = r.m + r.f.phi + r.hidden; Real y = s[2].m + t.m; end M;"
    );
    // At the end: r.m = 2, r.f.phi = 5; what is protected is not taken, so that `hidden` keeps its default.
    assert_eq!(last_values(&text, &["x", "y"]), [11.0, 4.0]);
    let missing = format!("model M {classes} record Q Real q; end Q; A a; Q r = Q(a); end M;");
    assert!(said(&missing).contains(&("E0365", "a")), "{:?}", said(&missing));
    let conditional = "model M model A parameter Boolean c = true; Real x = time if c; end A;
        record R Real x; end R; A a; R r = R(a); end M;";
    assert_eq!(said(conditional)[0], ("E0376", "a"));
    let none = format!("model M {classes} A a[0]; R r[0] = R(a); Real n = size(r, 1); end M;");
    assert_eq!(last_values(&none, &["n"]), [0.0]);
}

/// Specification 8.4, perfect matching rule: the solution of a Real equation need not be a whole number.
#[test]
fn an_integer_is_not_solved_from_a_real_equation() {
    let text = "model M parameter Real p = 1.5; Integer i; equation i = p + sin(p); end M;";
    assert!(said(text).contains(&("E0867", "i = p + sin(p)")), "{:?}", said(text));
    let text = "model M Integer j(start = 0); equation 2.0*j = 3.0; end M;";
    assert!(said(text).contains(&("E0867", "2.0*j = 3.0")), "{:?}", said(text));
    let initially = "model M parameter Integer n(fixed = false); Real x = n; initial equation n = 2.5; end M;";
    assert!(said(initially).contains(&("E0867", "n = 2.5")), "{:?}", said(initially));
    let rounded = "model M Integer i; Real x; equation i = integer(2.7); x = i + 0.5; end M;";
    assert_eq!(last_values(rounded, &["i", "x"]), [2.0, 2.5]);
    let found = "model M parameter Integer n(fixed = false); Real x = n*time; initial equation n = 2 + 1; end M;";
    assert_eq!(last_values(found, &["x"]), [3.0]);
}

/// Specification 10.1: a size depends on what its expression depends on, not on the other fields of a record.
#[test]
fn a_size_needs_one_field_of_a_record() {
    let text = "model M record B parameter Integer n; parameter Real x[:]; end B; record A parameter B b; end A;
        parameter A a(b = B(n = 3, x = x)); parameter Integer n = a.b.n;
        final parameter Real x[n] = {i for i in 1:n}; Real y = a.b.x[3] + n; end M;";
    assert_eq!(last_values(text, &["y"]), [6.0]);
    let nested = "model M record B parameter Integer n; parameter Real x[:]; end B; record A parameter B b; end A;
        final parameter Real x[a.b.n] = {2*i for i in 1:a.b.n};
        parameter A a = A(B(3, x)); Real y = sum(a.b.x); end M;";
    assert_eq!(last_values(nested, &["y"]), [12.0]);
    let circle = "model M record B parameter Integer n; parameter Real x[:]; end B;
        parameter B b = B(n = size(x, 1), x = x); parameter Real x[b.n] = ones(b.n); end M;";
    assert!(!said(circle).is_empty());
    let wrong = "model M record B parameter Integer n; parameter Integer k; end B;
        parameter B b = B(n = 3, k = 1.5); Real x[b.n] = ones(b.n); end M;";
    assert!(
        said(wrong).iter().any(|(code, marked)| (*code, *marked) == ("E0327", "1.5") || *code == "E0340"),
        "{:?}",
        said(wrong)
    );
}

/// Up to version 3.3 of the specification the grammar had all prefixes here (`base-prefix`).
#[test]
fn short_classes_may_have_other_prefixes_with_a_warning() {
    let constant = "model M type C = constant Real; C c = 2; Real x[integer(c)] = {1, 2}; Real y = x[2]; end M;";
    assert_eq!(said(constant), [("W0155", "constant")]);
    assert_eq!(last_values(constant, &["y"]), [2.0]);
    let flow = "model M connector F = flow Real; connector P Real e; F f; end P;
        model A P p; equation p.f = 2*time; end A; model B P p; equation p.e = 3; end B;
        A a; B b; equation connect(a.p, b.p); end M;";
    // The sum of the flows is zero.
    assert_eq!(last_values(flow, &["b.p.f"]), [-2.0]);
}

/// Specification 4.4.2.2; other tools take these prefixes for everything inside.
#[test]
fn parameter_in_front_of_a_model_makes_parameters() {
    let text = "model M model A Real x = 1; end A; parameter A a(x = 3); Real y = a.x*time; end M;";
    assert_eq!(said(text), [("E0292", "a")]);
    assert_eq!(last_values(text, &["y"]), [3.0]);
    let flow = "model M model A Real x = 1; end A; connector C flow A a; Real e; end C; C c; end M;";
    assert!(run(flow, Stage::Compile).has_errors());
}

/// Specification 14.5: arrays of operator records, also without elements.
#[test]
fn empty_arrays_of_operator_records_are_added() {
    let record = "operator record C Real re;
        encapsulated operator function '+' import M.C; input C a; input C b; output C c;
        algorithm c := C(a.re + b.re); end '+'; end C;";
    let text = format!(
        "model M {record} parameter Integer n = 0; C a[n] = fill(C(1), n); C b[n]; Real k = size(b, 1);
        equation b = a + a; end M;"
    );
    assert_eq!(last_values(&text, &["k"]), [0.0]);
}

/// Flattening shows what a simulation refuses: variables that are determined twice, as equations that are too many.
#[test]
fn flattening_shows_what_is_determined_twice() {
    let text = "model M Real x = 1; algorithm x := time; end M;";
    assert!(!run(text, Stage::Flatten).has_errors());
    assert!(run(text, Stage::Check).has_errors());
}

/// Specification 16.9.
#[test]
fn clocked_variables_have_no_initial_conditions() {
    let text = |declaration: &str, initial: &str| {
        format!("model M {declaration}; Real u; {initial} equation u = sample(time, Clock(0.1)); x = u + 1; end M;")
    };
    assert_eq!(said(&text("Real x(start = 1, fixed = true)", ""))[0].0, "W0841");
    assert_eq!(said(&text("Real x", "initial equation x = 3;"))[0], ("W0841", "x = 3"));
    assert_eq!(said(&text("Real x", "")), []);
    let state =
        "model M Real x(start = 1, fixed = true); equation when Clock(0.1) then x = previous(x) + 1; end when; end M;";
    assert_eq!(said(state), []);
}

/// Specification 17 and 17.3.5.
#[test]
fn states_determine_their_variables() {
    let text = |inside: &str, outside: &str| {
        format!(
            "model M block S output Integer n(start = 0); Integer k; equation {inside} when Clock(1, 10) then n = previous(n) + 1; end when;
             end S; S a, b; equation initialState(a); transition(a, b, a.n > 3); transition(b, a, b.n > 5); {outside} end M;"
        )
    };
    assert_eq!(said(&text("k = n;", "")), []);
    assert_eq!(said(&text("", "a.k = a.n; b.k = b.n;"))[0].0, "W0454");
    let merged = |start: &str| {
        format!(
            "model M inner Integer v{start}; block A output Integer n(start = 0); equation n = previous(n) + 1; end A;
             block B outer output Integer v; equation v = previous(v) + 2; end B; A a; B b;
             equation initialState(a); transition(a, b, a.n > 3); transition(b, a, v > 20); end M;"
        )
    };
    assert!(said(&merged("")).iter().any(|(code, _)| *code == "W0868"), "{:?}", said(&merged("")));
    assert!(!said(&merged("(start = 0)")).iter().any(|(code, _)| *code == "W0868"));
}

/// Specification 18.10.
#[test]
fn a_library_says_what_is_missing() {
    let text =
        "model M model S Real x annotation(unassignedMessage = \"connect a drive to the shaft\"); end S; S s; end M;";
    let outcome = run(text, Stage::Check);
    let hints: Vec<&String> = outcome.diagnostics.iter().flat_map(|d| &d.hints).collect();
    assert!(hints.iter().any(|hint| hint.as_str() == "connect a drive to the shaft"), "{hints:?}");
}

/// Specification 4.9.4 and 11.1: Strings are composed in an algorithm; the assertion fails with the text that was composed last.
#[test]
fn an_algorithm_composes_strings() {
    let text = "model M Integer n(start = 0, fixed = true); String s; algorithm
        when sample(0.25, 0.25) then n := pre(n) + 1; s := \"t = \" + String(time); s := s + \";\";
        if n == 2 then s := s + \"two\"; end if; assert(n < 3, s); end when; end M;";
    let outcome = run(text, Stage::Simulate);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(messages.iter().any(|m| m.contains("t = 0.75;")), "{messages:?}");
}

/// Specification 9.1.3: buses that are connected have each other's elements; those between them have default values.
#[test]
fn arrays_of_buses_grow_by_use() {
    let text = "model M connector RI = input Real; connector RO = output Real; expandable connector B end B;
        block Source parameter Real k; RO y = k*time; end Source; block Sink RI u; end Sink;
        B b, c, d; Source s(k = 1), t(k = 2); Sink x, y;
        equation connect(s.y, b.speed[2]); connect(t.y, c.speed[4]); connect(b, c); connect(c, d);
        connect(d.speed[2], x.u); connect(d.speed[4], y.u); end M;";
    assert_eq!(last_values(text, &["x.u", "y.u", "d.speed[3]"]), [1.0, 2.0, 0.0]);
}

/// Specification 5.4: the inner component is a subtype of the outer one.
#[test]
fn an_inner_variable_has_the_type_of_the_outer_one() {
    let text =
        |inner: &str| format!("model M model S outer Real u; Real y = u; end S; inner {inner} u = 1; S s; end M;");
    assert_eq!(said(&text("Integer")), [("E0271", "u")]);
    assert_eq!(said(&text("Real")), []);
}

/// Specification 6.6: a call may leave out what a replaced function adds.
#[test]
fn what_a_replaced_function_adds_has_defaults() {
    let text = |added: &str| {
        format!(
            "model M model A replaceable function f input Real x; output Real y; algorithm y := x; end f; Real y = f(time); end A;
             function g input Real x; {added} output Real y; algorithm y := x + z; end g; A a(redeclare function f = g); end M;"
        )
    };
    assert_eq!(said(&text("input Real z;"))[0].0, "E0365");
    assert_eq!(last_values(&text("input Real z = 2;"), &["a.y"]), [3.0]);
}

/// Specification 16.7.
#[test]
fn clocked_variables_have_any_type() {
    let text = "model M type E = enumeration(a, b); record R Real x; Integer n; end R; Boolean b(start = false); E e; Integer i(start = 0);
        R r; String s; Real y; equation when Clock(0.1) then b = not previous(b); e = if b then E.b else E.a; i = previous(i) + 1;
        r.x = i/2; r.n = 2*i; s = if i > 3 then \"many\" else \"few\"; y = if s == \"many\" then 1 else 0; end when; end M;";
    // Eleven ticks from 0 to 1.
    assert_eq!(last_values(text, &["b", "e", "i", "r.x", "r.n", "y"]), [1.0, 2.0, 11.0, 5.5, 22.0, 1.0]);
}

/// Specification 4.9.6: what grows without bound is controlled by its absolute error. The local errors of a pure integral add up, so that
/// the error at the end shows which of the two was controlled.
#[test]
fn the_absolute_error_of_an_unbounded_state_is_controlled() {
    let error = |attribute: &str| {
        let text = format!(
            "model M Real x(start = 0, fixed = true, nominal = 1{attribute});
             equation der(x) = 1e6 + 1e3*cos(3*time)*exp(sin(time));
             annotation(experiment(StopTime = 20, Tolerance = 1e-4)); end M;"
        );
        // The integral of cos(3 t) exp(sin(t)) from 0 to 20, by the trapezoid rule in steps of 1e-4.
        let f = |t: f64| (3.0 * t).cos() * t.sin().exp();
        let n = 200_000;
        let inner: f64 = (1..n).map(|k| f(20.0 * f64::from(k) / f64::from(n))).sum();
        let exact = 1e6 * 20.0 + 1e3 * (inner + 0.5 * (f(0.0) + f(20.0))) * 20.0 / f64::from(n);
        (last_values(&text, &["x"])[0] - exact).abs()
    };
    // Relative to 2e7 the tolerance allows errors of 2e3; absolutely those of some hundred steps of 1e-4.
    assert!(error(", unbounded = true") < 0.1, "{}", error(", unbounded = true"));
    assert!(error("") > 0.1, "{}", error(""));
    let flag = "model M Real x(start = 0, fixed = true, unbounded = 1); equation der(x) = 1; end M;";
    assert!(run(flag, Stage::Compile).has_errors());
}

/// Specification 5.4; the examples of chapter 17 read an `outer input` in states.
#[test]
fn outer_components_have_a_direction_in_states_only() {
    let text = |direction: &str, equation: &str| {
        format!(
            "model M model B outer {direction} Real u; Real y; equation {equation} end B; inner Real u; B b; equation u = time; end M;"
        )
    };
    assert_eq!(said(&text("", "y = u;")), []);
    assert_eq!(said(&text("input", "y = u;")), [("E0398", "u")]);
    assert!(said(&text("output", "y = u;")).contains(&("E0398", "u")));
    let machine = |input: &str| {
        format!(
            "model M inner Integer n(start = 0); inner Integer k = 2;
             block S outer output Integer n; outer {input} Integer k; equation n = previous(n) + k; end S; S s;
             equation initialState(s); end M;"
        )
    };
    assert!(!run(&machine("input"), Stage::Compile).has_errors(), "{:?}", said(&machine("input")));
    // In the model that is checked alone nothing says what is around it.
    let alone = "block M outer output Integer n; equation n = 1; end M;";
    assert!(!said_until(alone, Stage::Check).iter().any(|(code, _)| *code == "E0398"));
}

/// Specification 9.3.
#[test]
fn a_protected_connector_needs_a_component_or_a_declared_connector() {
    let text = |members: &str| {
        format!(
            "model M connector RO = output Real; connector RI = input Real; expandable connector Bus {members} end Bus;
             model S RO y = time; end S;
             model K Bus bus; Real z = 2*a; protected RI a; equation connect(a, bus.a); end K;
             Bus bus; K k; S s; equation connect(s.y, bus.a); connect(bus, k.bus); end M;"
        )
    };
    assert_eq!(said(&text("")), [("W0512", "connect(a, bus.a)")]);
    assert_eq!(said(&text("Real a;")), []);
    assert_eq!(last_values(&text("Real a;"), &["k.z"]), [2.0]);
    // What is around a component does not make its connectors protected.
    let inside = "model M connector RO = output Real; connector RI = input Real; model S RO y = time; end S;
        model G RI u; end G; model K RI u; G g; S s; equation connect(u, g.u); connect(s.y, g.u); end K;
        S s; protected K k; equation connect(s.y, k.u); end M;";
    assert!(said(inside).contains(&("E0508", "connect(s.y, g.u)")), "{:?}", said(inside));
}

/// Specification 18.6.
#[test]
fn what_must_not_be_evaluated_does_not_decide_the_structure() {
    let sized = |declarations: &str| format!("model M {declarations} Real x[n] = {{1, 2, 3}}; end M;");
    let not = "annotation(Evaluate = false)";
    assert_eq!(said(&sized("parameter Integer n = 3;")), []);
    assert_eq!(said(&sized(&format!("parameter Integer n = 3 {not};")))[0], ("E0240", "n"));
    assert_eq!(
        said(&sized(&format!("parameter Integer k = 2 {not}; parameter Integer n = k + 1;")))[0],
        ("E0240", "n")
    );
    assert_eq!(said(&sized(&format!("type T = Integer {not}; type U = T; parameter U n = 3;")))[0], ("E0240", "n"));
    // The declaration wins over its type, and what is around it over both.
    assert_eq!(said(&sized(&format!("type T = Integer {not}; parameter T n = 3 annotation(Evaluate = true);"))), []);
    let record = "record R parameter Integer n = 3 annotation(Evaluate = true); end R;";
    let around = format!("model M {record} parameter R r {not}; Real x[r.n] = {{1, 2, 3}}; end M;");
    assert_eq!(said(&around)[0], ("E0240", "r.n"));
    assert_eq!(
        said(&format!("model M parameter Boolean b = true {not}; Real x = time if b; end M;"))[0],
        ("E0224", "b")
    );
    let counted = format!(
        "model M parameter Boolean b = false {not}; Real x, y; equation if b then x = 1; y = x; else x = 2; end if;
         if not b then y = 3; end if; end M;"
    );
    assert_eq!(said(&counted)[0].0, "E0399");
    // The example of the specification: `b` may be evaluated, but `bn` keeps it from that.
    let chosen = |value: bool| {
        let text = format!(
            "model M model A parameter Boolean b = false annotation(Evaluate = true); Real x(start = 1, fixed = true);
             equation if b then der(x) = x; else der(x) = -x; end if; end A;
             extends A(b = bn); parameter Boolean bn = {value} {not}; end M;"
        );
        let outcome = run(&text, Stage::Flatten);
        let flat = outcome.flat.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics));
        let structural = flat.variables.values().filter(|v| v.is_structural).map(|v| v.name.to_string());
        (structural.collect::<Vec<_>>(), last_values(&text, &["x"])[0])
    };
    let (structural, x) = chosen(true);
    assert_eq!(structural, Vec::<String>::new());
    assert!((x - 1f64.exp()).abs() < 1e-4);
    assert!((chosen(false).1 - (-1f64).exp()).abs() < 1e-4);
}

/// Specification 18: a standard annotation is used where it is defined.
#[test]
fn standard_annotations_stand_where_they_mean_something() {
    let legal = "model M extends A annotation(IconMap(primitivesVisible = false)); model A end A;
        parameter Real p = 1 annotation(Evaluate = true, Dialog(group = \"g\")); Real x = p annotation(HideResult = true, __Other(thing = 1));
        type T = Real annotation(Evaluate = true); connector C Real v; flow Real i; end C;
        model K C c annotation(Placement(visible = true)); parameter Real k = 1; equation c.v = k*time + c.i; end K; K a; K b(k = 2);
        equation connect(a.c, b.c) annotation(Line(points = {{0, 0}, {1, 1}}));
        annotation(experiment(StopTime = 1), Icon(coordinateSystem(grid = {2, 2})), Documentation(info = \"\")); end M;";
    assert_eq!(said(legal), []);
    let at_component = "model M Real x = time annotation(experiment(StopTime = 1)); end M;";
    assert_eq!(said(at_component), [("W0298", "experiment")]);
    assert_eq!(said("model M Real x = time annotation(Evaluate = true); end M;"), [("W0298", "Evaluate")]);
    assert_eq!(said("model M Real x = time; annotation(Placement(visible = true)); end M;"), [("W0298", "Placement")]);
    let at_equation = "model M Real x; equation x = time annotation(Icon(coordinateSystem(grid = {2, 2}))); end M;";
    assert_eq!(said(at_equation), [("W0298", "Icon")]);
    let at_extends = "model M model A Real x = time; end A; extends A annotation(version = \"1\"); end M;";
    assert_eq!(said(at_extends), [("W0298", "version")]);
}

/// Specification 16.3 and 16.8.3: a solver method is associated with a clock, not with an interval.
#[test]
fn a_solver_method_needs_a_clock() {
    let text = |clock: &str| {
        format!(
            "model M Real x(start = 1); equation when Clock({clock}, solverMethod = \"ExplicitEuler\") then der(x) = -x; end when; end M;"
        )
    };
    assert_eq!(said(&text("0.1")), [("E0337", "\"ExplicitEuler\"")]);
    // (1 - 0.1)^10
    assert!((last_values(&text("Clock(0.1)"), &["x"])[0] - 0.9f64.powi(10)).abs() < 1e-12);
}

/// Specification 16.7.5: up to 2^63, exactly. The last signal is as fast as the first and may be added to it.
#[test]
fn clocks_may_be_very_slow() {
    let text = |factor: &str| {
        format!(
            "model M Real a(start = 0), b, c, d, e; equation when Clock(1) then a = previous(a) + 1; end when;
             b = subSample(a, 2147483648); c = subSample(b, {factor}); d = superSample(c, 2147483648);
             e = superSample(d, {factor}) + a; annotation(experiment(StopTime = 3.5)); end M;"
        )
    };
    assert_eq!(last_values(&text("4294967296"), &["a", "c", "e"]), [4.0, 1.0, 5.0]);
    assert!(said(&text("4294967297")).iter().any(|(code, _)| *code == "E0834"));
}

/// A number with a negation, a difference and a product of vectors that is not the one of real numbers: the last component counts alone.
const NUMBER: &str = "operator record C Real re;
    encapsulated operator 'constructor' function fromReal import M.C; input Real re; output C c(re = re); algorithm end fromReal;
      end 'constructor';
    encapsulated operator function '+' import M.C; input C a; input C b; output C c; algorithm c := C(a.re + b.re); end '+';
    encapsulated operator '*'
      function scalar import M.C; input C a; input C b; output C c; algorithm c := C(a.re*b.re); end scalar;
      function vectors import M.C; input C a[:]; input C b[size(a, 1)]; output C c;
        algorithm c := C(a[end].re*b[end].re); end vectors;
    end '*';
    encapsulated operator '-'
      function one import M.C; input C a; output C c; algorithm c := C(-a.re); end one;
      function all import M.C; input C a[:]; output C c[size(a, 1)]; algorithm c := {C(100*a[i].re) for i in 1:size(a, 1)}; end all;
    end '-';
  end C;";

/// Specification 14.5 and 14.6: a function of arrays comes before the rules for arrays; element by element it is not asked.
#[test]
fn operators_may_take_arrays() {
    let text = format!(
        "model M {NUMBER} C v[2] = {{C(2), C(3)}}, w[2] = {{C(5), C(7)}}, m[2, 2] = {{{{C(1), C(2)}}, {{C(3), C(4)}}}};
         C p = v*w, e[2] = v .* w, n[2] = -v, t[2] = m*v, s[2] = 2*v, k = -C(4); end M;"
    );
    // The last elements; element by element; a hundred times; 1*2 + 2*3; 2*3; and the negation of a scalar.
    let found = last_values(&text, &["p.re", "e[1].re", "n[2].re", "t[1].re", "s[2].re", "k.re"]);
    assert_eq!(found, [21.0, 10.0, 300.0, 8.0, 6.0, -4.0]);
}

/// Specification 14.5: without a function for it a vector is not multiplied with a vector or a matrix.
#[test]
fn products_of_vectors_are_not_made_from_those_of_scalars() {
    let record = "operator record C Real re;
        encapsulated operator function '+' import M.C; input C a; input C b; output C c; algorithm c := C(a.re + b.re); end '+';
        encapsulated operator function '*' import M.C; input C a; input C b; output C c; algorithm c := C(a.re*b.re); end '*'; end C;";
    let text = |declaration: &str| {
        format!("model M {record} C v[2] = {{C(2), C(3)}}, m[2, 2] = {{v, v}}; {declaration} end M;")
    };
    assert_eq!(said(&text("C p = v*v;"))[0], ("E0369", "v*v"));
    assert_eq!(said(&text("C p[2] = v*m;"))[0], ("E0369", "v*m"));
    assert_eq!(last_values(&text("C p[2] = m*v, q[2, 2] = m*m;"), &["p[1].re", "q[1,2].re"]), [13.0, 15.0]);
    // The sum of nothing needs a zero.
    let empty = text("C z[2, 0] = fill(C(1), 2, 0), y[0] = fill(C(1), 0), p[2] = z*y;");
    assert_eq!(said(&empty)[0], ("E0369", "z*y"));
    let zero = "encapsulated operator function '0' import M.C; output C c; algorithm c := C(0); end '0'; end C;";
    assert_eq!(last_values(&empty.replacen("end C;", zero, 1), &["p[2].re"]), [0.0]);
}

/// Specification 14.5: an operand is turned into what a function of the other one takes in its place, which may be a third record.
#[test]
fn an_operand_is_converted_to_what_the_operator_takes() {
    let text = |declaration: &str| {
        format!(
            "model M operator record K Real k; encapsulated operator 'constructor' function f import M.K; input Real x; output K y(k = 10*x);
               algorithm end f; end 'constructor'; end K;
             operator record A Real x; encapsulated operator function '+' import M.A; import M.K; input A a; input K k; output A c;
               algorithm c := A(a.x + k.k); end '+'; end A; {declaration} end M;"
        )
    };
    assert_eq!(last_values(&text("A a = A(1) + 2;"), &["a.x"]), [21.0]);
    assert_eq!(said(&text("A a = 2 + A(1);"))[0], ("E0369", "2 + A(1)"));
}

/// Specification 14.3: one constructor fits, or the call is an error.
#[test]
fn one_constructor_fits() {
    let text = |call: &str| {
        format!(
            "model M operator record A Real x; encapsulated operator 'constructor'
               function a import M.A; input Real x; output A r(x = x); algorithm end a;
               function b import M.A; input Real x; input Real y = 1; output A r(x = x*y); algorithm end b;
               function c import M.A; input Boolean t; output A r(x = if t then 3 else 4); algorithm end c; end 'constructor'; end A;
             A a = {call}; end M;"
        )
    };
    assert_eq!(said(&text("A(1.5)"))[0], ("E0494", "A(1.5)"));
    assert_eq!(last_values(&text("A(1.5, 2)"), &["a.x"]), [3.0]);
    assert_eq!(last_values(&text("A(false)"), &["a.x"]), [4.0]);
    assert!(said(&text("A(\"text\")")).iter().any(|(code, _)| code.starts_with('E')));
}

/// Specification 15.1.
#[test]
fn stream_variables_belong_to_connectors() {
    assert_eq!(said("model M stream Real h = 1; end M;")[0], ("E0555", "h"));
    let port = "connector P Real p; flow Real m; stream Real h; end P;";
    let legal = format!("model M {port} P p; Real x = inStream(p.h); equation p.p = 1; p.h = 2*time; end M;");
    assert_eq!(last_values(&legal, &["x", "p.m"]), [2.0, 0.0]);
}

/// Specification 15.2 and 15.3: what arrives is mixed by the flows, and passes through connectors of a component.
#[test]
fn streams_are_mixed_by_their_flows() {
    let classes = "connector P Real p; flow Real m; stream Real h; end P;
        model Source P port; parameter Real h0; parameter Real m0; Real arrives = inStream(port.h); Real passes = actualStream(port.h);
          equation port.m = -m0; port.h = h0; end Source;
        model Sink P port; Real arrives = inStream(port.h); equation port.p = 1; port.h = 7; end Sink;
        model Box P port; Sink inside; equation connect(port, inside.port); end Box;";
    let mixed = format!(
        "model M {classes} Source a(h0 = 10, m0 = 1), b(h0 = 20, m0 = 3); Sink s; equation connect(a.port, s.port);
         connect(b.port, s.port); end M;"
    );
    // (1*10 + 3*20)/4, and backwards into `a`: all that flows to it comes from `b`.
    let found = last_values(&mixed, &["s.arrives", "a.arrives", "a.passes"]);
    assert!((found[0] - 17.5).abs() < 1e-9 && (found[1] - 20.0).abs() < 1e-6 && found[2] == 10.0, "{found:?}");
    let boxed =
        format!("model M {classes} Source a(h0 = 33, m0 = -2); Box b; equation connect(a.port, b.port); end M;");
    // The flow leaves the box with what its sink has, and would enter it with what the source has.
    assert_eq!(last_values(&boxed, &["b.inside.arrives", "b.port.h", "a.passes"]), [33.0, 7.0, 7.0]);
}
