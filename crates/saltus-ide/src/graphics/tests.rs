//! Each edit changes its place and nothing else, and its inverse gives the text back byte for byte.

use saltus_diagram::{Layer, Placement};

use crate::fixture::Fixture;
use crate::{Analysis, SourceChange, apply, inverse};

const LIBRARY: &str = r#"//- lib.mo
package Lib
  connector Pin Real v; flow Real i; annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,255})})); end Pin;
  connector Flange Real phi; flow Real tau; end Flange;
  connector RealInput = input Real;
  connector RealOutput = output Real;
  model Resistor
    Pin p annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Pin n annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    parameter Real R(unit="Ohm") = 1 "Resistance" annotation(Dialog(tab="Main", group="Values"));
    parameter Boolean useT = false annotation(choices(checkBox=true));
    parameter Real T = 300 annotation(Dialog(enable=useT));
    parameter Kind kind = Kind.fine;
    type Kind = enumeration(fine "Good", coarse);
  end Resistor;
  model Gain RealInput u; RealOutput y; Flange f; end Gain;
  partial model Part end Part;
end Lib;
//- test.mo
"#;

const CIRCUIT: &str = "model Circuit \"Two resistors\"
  // the first one
  Lib.Resistor r1(R=5) \"Left\" annotation(Placement(transformation(extent = {{-60,-10},{-40,10}}), visible = true)); // keep
  Lib.Resistor r2   annotation (Placement(transformation(
        extent={{10,-10},{-10,10}},
        rotation=90,
        origin={50,0})));
  Lib.Resistor a, b(T = 290), c;
  Lib.Gain g1, g2;
  /* between */ Real x; Real y;
protected
  Real z;
equation
  x = 1; // first
  connect(r1.n, r2.p) annotation(Line(points={{-40,0},{50,0}}));
  for i in 1:2 loop
    connect(r1.p, r2.n);
  end for;
  annotation(experiment(StopTime=1));
end Circuit;
";

/// The text after a change; the inverse is checked on the way, and that everything still parses.
fn after(text: &str, change: impl FnOnce(Analysis<'_>) -> Result<SourceChange, String>) -> Result<String, String> {
    let fixture = Fixture::new(&format!("{LIBRARY}{text}"));
    let change = change(fixture.analysis())?;
    let [(path, edits)] = change.edits.into_iter().collect::<Vec<_>>().try_into().expect("one file");
    assert_eq!(path, std::path::Path::new("test.mo"));
    let changed = apply(text, &edits);
    assert_eq!(apply(&changed, &inverse(text, &edits)), text, "undo");
    let again = Fixture::new(&format!("{LIBRARY}{changed}"));
    assert!(again.analysis().syntax_problems("test.mo".as_ref()).is_empty(), "{changed}");
    Ok(changed)
}

fn at(x: f64, y: f64) -> Placement {
    Placement { visible: true, origin: [0.0; 2], extent: [[x - 10.0, y - 10.0], [x + 10.0, y + 10.0]], rotation: 0.0 }
}

#[test]
fn a_move_changes_the_extent_alone() {
    let moved = after(CIRCUIT, |a| a.place("Circuit", "r1", Layer::Diagram, &at(-30.0, 20.0))).unwrap();
    assert_eq!(moved, CIRCUIT.replacen("{{-60,-10},{-40,10}}", "{{-40,10},{-20,30}}", 1));
    let unmoved = after(CIRCUIT, |a| a.place("Circuit", "r1", Layer::Diagram, &at(-50.0, 0.0))).unwrap();
    assert_eq!(unmoved, CIRCUIT);
}

#[test]
fn a_turn_adds_or_changes_the_rotation() {
    let turned = Placement { rotation: -90.0, ..at(-50.0, 0.0) };
    let text = after(CIRCUIT, |a| a.place("Circuit", "r1", Layer::Diagram, &turned)).unwrap();
    assert_eq!(text, CIRCUIT.replacen("{{-60,-10},{-40,10}}", "{{-60,-10},{-40,10}}, rotation=-90", 1));
    let r2 = Placement { visible: true, origin: [50.0, 4.0], extent: [[10.0, -10.0], [-10.0, 10.0]], rotation: 180.0 };
    let text = after(CIRCUIT, |a| a.place("Circuit", "r2", Layer::Diagram, &r2)).unwrap();
    assert_eq!(text, CIRCUIT.replacen("rotation=90", "rotation=180", 1).replacen("origin={50,0}", "origin={50,4}", 1));
}

#[test]
fn a_component_without_a_place_gets_one() {
    let text = after(CIRCUIT, |a| a.place("Circuit", "b", Layer::Diagram, &at(0.0, 0.0))).unwrap();
    let expected = "b(T = 290) annotation(Placement(transformation(extent={{-10,-10},{10,10}}))), c;";
    assert_eq!(text, CIRCUIT.replacen("b(T = 290), c;", expected, 1));
    let text = after("model M Real x annotation(HideResult=true); end M;\n", |a| {
        a.place("M", "x", Layer::Diagram, &at(0.0, 0.0))
    });
    let expected =
        "model M Real x annotation(Placement(transformation(extent={{-10,-10},{10,10}})), HideResult=true); end M;\n";
    assert_eq!(text.as_deref(), Ok(expected));
}

#[test]
fn a_new_component_stands_behind_the_others() {
    let text = after(CIRCUIT, |a| a.add_component("Circuit", "Lib.Resistor", "r3", &at(0.0, 40.0))).unwrap();
    let new = "  Lib.Resistor r3 annotation(Placement(transformation(extent={{-10,30},{10,50}})));\n";
    assert_eq!(text, CIRCUIT.replacen("protected\n", &format!("{new}protected\n"), 1));
    let text = after("model M end M;\n", |a| a.add_component("M", "Lib.Gain", "g", &at(0.0, 0.0))).unwrap();
    assert!(text.starts_with("model M\n  Lib.Gain g annotation("), "{text}");
    let add = |name: &str, of: &str| after(CIRCUIT, |a| a.add_component("Circuit", of, name, &at(0.0, 0.0)));
    assert!(add("r1", "Lib.Resistor").unwrap_err().contains("already"));
    assert!(add("r9", "Lib.Missing").unwrap_err().contains("not found"));
    assert!(add("r9", "Lib.Part").unwrap_err().contains("partial"));
    assert!(add("r 9", "Lib.Resistor").unwrap_err().contains("identifier"));
}

#[test]
fn a_deleted_component_takes_its_connections_along() {
    let text = after(CIRCUIT, |a| a.delete_component("Circuit", "r2")).unwrap();
    assert!(!text.contains("r2") && text.contains("// keep\n  Lib.Resistor a, b(T = 290), c;"), "{text}");
    assert!(text.contains("x = 1; // first\n  for i in 1:2 loop\n  end for;"), "{text}");
    for (name, expected) in
        [("a", "Lib.Resistor b(T = 290), c;"), ("b", "Lib.Resistor a, c;"), ("c", "Lib.Resistor a, b(T = 290);")]
    {
        let text = after(CIRCUIT, |a| a.delete_component("Circuit", name)).unwrap();
        assert_eq!(text, CIRCUIT.replacen("Lib.Resistor a, b(T = 290), c;", expected, 1));
    }
    let text = after(CIRCUIT, |a| a.delete_component("Circuit", "y")).unwrap();
    assert_eq!(text, CIRCUIT.replacen(" Real y;", " ", 1));
}

#[test]
fn a_connection_has_a_line_and_fits() {
    let text = after(CIRCUIT, |a| a.connect("Circuit", "r1.p", "r2.p")).unwrap();
    // From the left pin out, then above r2, whose first pin is mirrored and turned to its upper end.
    let line =
        "connect(r1.p, r2.p) annotation(Line(points={{-60,0},{-70,0},{-70,20},{50,20},{50,10}}, color={0,0,255}));";
    assert_eq!(text, CIRCUIT.replacen("  end for;\n", &format!("  end for;\n  {line}\n"), 1));
    let text = after("model M\n  Lib.Gain a, b;\nend M;\n", |a| a.connect("M", "a.y", "b.u"));
    assert_eq!(text.as_deref(), Ok("model M\n  Lib.Gain a, b;\nequation\n  connect(a.y, b.u);\nend M;\n"));
    let refused = |from: &str, to: &str| after(CIRCUIT, |a| a.connect("Circuit", from, to)).unwrap_err();
    assert!(refused("r1.n", "r2.p").contains("already"));
    assert!(refused("r1.n", "g1.f").contains("only one of them has"));
    assert!(refused("g1.y", "g2.y").contains("both give a value"));
    assert!(refused("g1.y", "r1.n").contains("different types"));
    assert!(refused("r1.n", "r1.n").contains("itself"));
    assert!(refused("r1.n", "nowhere").contains("not found"));
    assert!(refused("r1.n", "x").contains("not a connector"));
}

#[test]
fn sizes_of_arrays_of_connectors_are_compared() {
    let text = "model Arrays
  parameter Integer m = 3;
  connector Three = Lib.Pin[m];
  Lib.Pin top[2], open[:];
  Lib.Resistor r, s[2], t[m, 4];
  Three three;
end Arrays;
";
    let fixture = Fixture::new(&format!("{LIBRARY}{text}"));
    let fits = |from: &str, to: &str| fixture.analysis().can_connect("Arrays", from, to);
    let elements = |from: &str, to: &str| -> Vec<(bool, String, Vec<Option<u32>>)> {
        let found = fits(from, to).unwrap_err().elements;
        found.into_iter().map(|e| (e.is_from, e.texts.join("_"), e.sizes)).collect()
    };
    for (from, to) in [
        ("top", "s.p"),
        ("top[1]", "r.p"),
        ("s[2].n", "r.p"),
        ("open", "top"),
        ("t[2,1].p", "r.p"),
        ("t[1,:].p", "t[2,:].n"),
    ] {
        assert_eq!(fits(from, to), Ok(()), "{from} {to}");
    }
    let why = fits("top", "r.p").unwrap_err().why;
    assert_eq!(why, "`top` and `r.p` do not fit: `top` is an array of 2 elements, `r.p` is a scalar");
    assert_eq!(elements("top", "r.p"), [(true, "top[_]".into(), vec![Some(2)])]);
    assert_eq!(elements("r.p", "three"), [(false, "three[_]".into(), vec![Some(3)])]);
    assert_eq!(elements("t[2].p", "r.p"), [(true, "t[2,_].p".into(), vec![Some(4)])]);
    assert_eq!(elements("open", "r.p"), [(true, "open[_]".into(), vec![None])]);
    let both = [(true, "s[_].p".into(), vec![Some(2)]), (false, "t[_,_].n".into(), vec![Some(3), Some(4)])];
    assert_eq!(elements("s.p", "t.n"), both);
    assert!(fits("top[3]", "r.p").unwrap_err().why.contains("`top[3]` is not there: the size is 2"));
    assert!(
        fits("r.p[1]", "r.n")
            .unwrap_err()
            .why
            .contains("`p[1]` has more subscripts than dimensions: it is not an array")
    );
    // Nothing is written that does not fit.
    assert!(after(text, |a| a.connect("Arrays", "top", "r.p")).unwrap_err().contains("an array of 2 elements"));
    assert!(after(text, |a| a.connect("Arrays", "top[2]", "r.p")).unwrap().contains("connect(top[2], r.p)"));
}

#[test]
fn a_class_is_not_a_component_of_itself() {
    let place = Placement { visible: true, origin: [0.0; 2], extent: [[-10.0; 2], [10.0; 2]], rotation: 0.0 };
    let refused = after("model M\nend M;\n", |a| a.add_component("M", "M", "m", &place)).unwrap_err();
    assert_eq!(refused, "`M` cannot be a component of itself");
}

#[test]
fn a_connection_is_removed_with_its_line() {
    let text = after(CIRCUIT, |a| a.disconnect("Circuit", "r2.p", "r1.n")).unwrap();
    let line = "  connect(r1.n, r2.p) annotation(Line(points={{-40,0},{50,0}}));\n";
    assert_eq!(text, CIRCUIT.replacen(line, "", 1));
    assert!(after(CIRCUIT, |a| a.disconnect("Circuit", "r1.p", "r2.p")).is_err());
}

#[test]
fn values_are_set_changed_and_taken_back() {
    let set = |path: &str, value: Option<&str>| after(CIRCUIT, |a| a.modify("Circuit", path, value));
    assert_eq!(set("r1.R", Some("2*7")).unwrap(), CIRCUIT.replacen("r1(R=5)", "r1(R=2*7)", 1));
    assert_eq!(set("r1.T", Some("1")).unwrap(), CIRCUIT.replacen("r1(R=5)", "r1(R=5, T=1)", 1));
    assert_eq!(set("r2.R", Some("1")).unwrap(), CIRCUIT.replacen("r2 ", "r2(R=1) ", 1));
    assert_eq!(set("r1.p.v.start", Some("3")).unwrap(), CIRCUIT.replacen("r1(R=5)", "r1(R=5, p(v(start=3)))", 1));
    assert_eq!(set("x", Some("3")).unwrap(), CIRCUIT.replacen("Real x;", "Real x=3;", 1));
    assert_eq!(set("r1.R", None).unwrap(), CIRCUIT.replacen("r1(R=5)", "r1", 1));
    assert_eq!(set("b.T", None).unwrap(), CIRCUIT.replacen("b(T = 290)", "b", 1));
    assert!(set("r1.T", None).is_err() && set("r1.Q", Some("1")).is_err() && set("r1.R", Some("2 +")).is_err());
    let base = "model B Lib.Resistor r(R=1, T(min=0)=2); end B;\nmodel M extends B; end M;\n";
    let inherited = after(base, |a| a.modify("M", "r.R", Some("4"))).unwrap();
    assert_eq!(inherited, base.replacen("extends B;", "extends B(r(R=4));", 1));
    let back = after(&inherited, |a| a.modify("M", "r.R", None)).unwrap();
    assert_eq!(back, base);
    let kept = after(base, |a| a.modify("B", "r.T", None)).unwrap();
    assert_eq!(kept, base.replacen("T(min=0)=2", "T(min=0)", 1));
}

#[test]
fn a_component_is_renamed_with_its_uses() {
    let text = after(CIRCUIT, |a| a.rename_component("Circuit", "r2", "load")).unwrap();
    assert_eq!(text, CIRCUIT.replace("r2", "load"));
    assert!(after(CIRCUIT, |a| a.rename_component("Circuit", "r2", "r1")).is_err());
}

#[test]
fn lines_with_carriage_returns_stay() {
    let text = CIRCUIT.replace('\n', "\r\n");
    let added = after(&text, |a| a.add_component("Circuit", "Lib.Resistor", "r3", &at(0.0, 0.0))).unwrap();
    assert_eq!(added.matches('\n').count(), added.matches("\r\n").count());
    let deleted = after(&text, |a| a.delete_component("Circuit", "r1")).unwrap();
    assert!(deleted.contains("// keep\r\n"), "the comment behind it stays");
}

#[test]
fn a_dialog_has_tabs_units_choices_and_what_is_modified() {
    let fixture = Fixture::new(&format!("{LIBRARY}{CIRCUIT}"));
    let found = fixture.analysis().parameters("Circuit", Some("r1")).unwrap();
    let names: Vec<&str> = found.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["R", "useT", "T", "kind"]);
    let r = &found[0];
    assert_eq!((r.tab.as_str(), r.group.as_str(), r.unit.as_str()), ("Main", "Values", "Ohm"));
    assert_eq!((r.value.as_str(), r.default.as_str(), r.is_modified), ("5", "1", true));
    assert_eq!((r.base, r.description.as_str(), r.owner.as_str()), ("Real", "Resistance", "Lib.Resistor"));
    assert_eq!((found[2].is_enabled, found[2].is_modified, found[2].tab.as_str()), (Some(false), false, "General"));
    let kinds: Vec<(&str, &str)> = found[3].choices.iter().map(|c| (c.value.as_str(), c.label.as_str())).collect();
    assert_eq!(kinds, [("Lib.Resistor.Kind.fine", "Good"), ("Lib.Resistor.Kind.coarse", "coarse")]);
    assert_eq!(fixture.analysis().parameters("Circuit", Some("nobody")), None);
    assert_eq!(fixture.analysis().parameters("Lib.Resistor", None).unwrap().len(), 4);
}

#[test]
fn an_edit_never_breaks_the_text() {
    let hidden = after(CIRCUIT, |analysis| analysis.modify("Circuit", "r1.R", Some("7 // hidden")));
    assert!(hidden.as_ref().is_err_and(|why| why.starts_with("the text would be wrong")), "{hidden:?}");
    // A piece of an equation that is broken is not an equation.
    let broken = CIRCUIT.replace("x = 1; // first", "connect(r1.p, fill(g1.u, 3).p);");
    let fixture = Fixture::new(&format!("{LIBRARY}{broken}"));
    let change = fixture.analysis().delete_component("Circuit", "r1");
    assert!(change.as_ref().is_err_and(|why| why.contains("not complete")), "{change:?}");
}

#[test]
fn dots_in_quotes_do_not_end_a_name() {
    let text = "model M\n  Lib.Resistor 'r.1'(R=5);\nend M;\n";
    let changed = after(text, |analysis| analysis.modify("M", "'r.1'.R", Some("7"))).unwrap();
    assert_eq!(changed, text.replace("R=5", "R=7"));
}
