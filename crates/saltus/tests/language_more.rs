//! Rules of the language, continued from `language.rs`: records made from models, Integers and Real equations, Strings in algorithms,
//! prefixes of classes, what is told of clocked variables and of states.

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
