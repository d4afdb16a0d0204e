//! Small classes and what their pictures consist of.

use saltus_library::{Library, MemoryFiles};

use crate::{Layer, Painter, Scene, Shape, Value, svg};

fn library(text: &str) -> Library {
    let library = Library::new(Box::new(MemoryFiles::new()));
    library.load_text("test.mo", text);
    library
}

fn scene(text: &str, class: &str, layer: Layer) -> Scene {
    let library = library(text);
    Painter::new(&library).scene(library.find(class).unwrap(), layer).unwrap()
}

fn drawn(scene: &Scene) -> String {
    svg::render(scene, &svg::Style::default())
}

const CIRCUIT: &str = r#"
connector Pin Real v; flow Real i;
  annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,255}, fillColor={0,0,255}, fillPattern=FillPattern.Solid)}),
    Diagram(graphics={Rectangle(extent={{-40,-40},{40,40}}), Text(extent={{-100,60},{100,100}}, textString="%name")}));
end Pin;
partial model TwoPin
  Pin p annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
  Pin n annotation(Placement(transformation(extent={{90,-10},{110,10}})));
end TwoPin;
model Resistor
  extends TwoPin;
  parameter Real R(unit="Ohm") = 1;
  parameter Boolean useHeatPort = false;
  Pin heatPort if useHeatPort annotation(Placement(transformation(extent={{-10,-110},{10,-90}})));
  annotation(Icon(graphics={
    Rectangle(extent={{-70,30},{70,-30}}),
    Line(visible=useHeatPort, points={{0,-100},{0,-30}}, color={191,0,0}),
    Text(extent={{-150,90},{150,50}}, textString="%name"),
    Text(extent={{-150,-40},{150,-80}}, textString="R=%R of %class, 100%%")}));
end Resistor;
model Circuit
  Resistor r1(R=5) annotation(Placement(transformation(extent={{-60,-10},{-40,10}})));
  Resistor r2(useHeatPort=true, R=2*k) annotation(Placement(transformation(origin={50,0}, extent={{10,-10},{-10,10}}, rotation=90)));
  parameter Real k = 3;
equation
  connect(r1.n, r2.p) annotation(Line(points={{-40,0},{50,0},{50,-10}}, color={0,0,255}));
  connect(r1.p, r2.n);
end Circuit;
"#;

#[test]
fn a_component_is_placed_turned_and_mirrored() {
    let scene = scene(CIRCUIT, "Circuit", Layer::Diagram);
    assert_eq!(scene.notes, []);
    let names: Vec<&str> = scene.components.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["r1", "r2"]);
    let [r1, r2] = scene.components.as_slice() else { panic!() };
    assert_eq!((r1.bounds, r2.bounds), ([[-60.0, -10.0], [-40.0, 10.0]], [[40.0, -10.0], [60.0, 10.0]]));
    // The left pin of r2 is first mirrored to the right (10, 0), then turned up (0, 10), then moved by (50, 0).
    assert_eq!(scene.anchor("r2.p"), Some([50.0, 10.0]));
    assert_eq!(scene.anchor("r1.n"), Some([-40.0, 0.0]));
    assert_eq!(scene.anchor("r3.n"), None);
}

#[test]
fn texts_have_the_values_that_hold_for_the_component() {
    let scene = scene(CIRCUIT, "Circuit", Layer::Diagram);
    let texts = |i: usize| -> Vec<&str> {
        let primitives = scene.components[i].picture.primitives.iter();
        primitives
            .filter_map(|p| if let Shape::Text(text) = &p.shape { Some(text.text.as_str()) } else { None })
            .collect()
    };
    assert_eq!(texts(0), ["r1", "R=5 Ω of Resistor, 100%"]);
    assert_eq!(texts(1), ["r2", "R=6 Ω of Resistor, 100%"]);
}

/// A sign that only ends a name is not shown, any other one is.
#[test]
fn a_name_may_end_with_a_sign() {
    for (text, expected) in
        [("%R%", "R=5 Ω<"), ("%R%%", "R=5 Ω%<"), ("%R% of 20 %", "R=5 Ω of 20 %<"), ("%R%class", "R=5 ΩResistor<")]
    {
        let circuit = CIRCUIT.replace("%R of %class, 100%%", text);
        let picture = drawn(&scene(&circuit, "Circuit", Layer::Diagram));
        assert!(picture.contains(expected), "{text}: {picture}");
    }
}

/// `%par` shows what a function gives, as far as it is made of assignments; otherwise what is written.
#[test]
fn texts_show_values_of_functions() {
    let text = CIRCUIT.replace("R=2*k", "R=twice(k) + looped(k)");
    let text = format!("function twice input Real u; output Real y; algorithm y := 2*u; end twice;
        function looped input Real u; output Real y; algorithm y := 0; while y < u loop y := y + 1; end while; end looped;{text}");
    let shown = |text: &str| drawn(&scene(text, "Circuit", Layer::Diagram));
    assert!(shown(&text).contains("R=twice(k) + looped(k) of"), "{}", shown(&text));
    assert!(shown(&text.replace(" + looped(k)", "")).contains("R=6 Ω of"));
}

#[test]
fn parameters_decide_what_is_visible() {
    let scene = scene(CIRCUIT, "Circuit", Layer::Diagram);
    let seen = |i: usize| {
        let picture = &scene.components[i].picture;
        (picture.primitives[1].visible, picture.ports.iter().map(|p| p.name.as_str()).collect::<Vec<_>>())
    };
    assert_eq!(seen(0), (false, vec!["p", "n"]));
    assert_eq!(seen(1), (true, vec!["p", "n", "heatPort"]));
}

#[test]
fn a_connector_is_its_diagram_inside_and_its_icon_outside() {
    let inside = scene(CIRCUIT, "Resistor", Layer::Diagram);
    let outside = scene(CIRCUIT, "Resistor", Layer::Icon);
    let n_shapes = |scene: &Scene| scene.components[0].picture.primitives.len();
    assert_eq!((n_shapes(&inside), n_shapes(&outside)), (2, 1));
    assert_eq!(inside.components[0].inherited_from.as_deref(), Some("TwoPin"));
    let heat = outside.components.iter().find(|c| c.name == "heatPort").unwrap();
    assert_eq!((heat.condition.as_deref(), heat.is_present), (Some("useHeatPort"), Some(false)));
    assert!(drawn(&outside).contains("data-name=\"heatPort\" opacity=\"0.35\""), "shown as absent in the class itself");
}

#[test]
fn connections_have_their_points_and_their_ends() {
    let scene = scene(CIRCUIT, "Circuit", Layer::Diagram);
    let [first, second] = scene.connections.as_slice() else { panic!() };
    assert_eq!((first.from.as_str(), first.to.as_str()), ("r1.n", "r2.p"));
    assert_eq!(first.points(), [[-40.0, 0.0], [50.0, 0.0], [50.0, -10.0]]);
    assert!(second.line.is_none());
    let source = first.source.as_ref().unwrap();
    assert!(CIRCUIT[source.start as usize..source.end as usize].starts_with("connect(r1.n, r2.p)"));
    let source = scene.components[1].source.as_ref().unwrap();
    assert!(CIRCUIT[source.start as usize..source.end as usize].starts_with("r2(useHeatPort"));
}

/// As in the pictures that the standard library publishes.
#[test]
fn lines_are_behind_components_and_hatches_lean_as_elsewhere() {
    let picture = drawn(&scene(CIRCUIT, "Circuit", Layer::Diagram));
    let (line, component) =
        (picture.find("class=\"connection\"").unwrap(), picture.find("class=\"component\"").unwrap());
    assert!(line < component);
    let hatched = |pattern: &str| {
        let text = format!(
            "model M annotation(Icon(graphics={{Rectangle(extent={{{{0,0}},{{40,40}}}}, fillPattern=FillPattern.{pattern})}})); end M;"
        );
        let picture = drawn(&scene(&text, "M", Layer::Icon));
        let path = picture.split_once("<pattern").unwrap().1.split_once(" d=\"").unwrap().1;
        path.split_once('"').unwrap().0.to_owned()
    };
    let (forward, backward) = (hatched("Forward"), hatched("Backward"));
    // With y down: from the upper left to the lower right, and from the lower left to the upper right.
    assert!(forward.starts_with("M0 0L"), "{forward}");
    assert!(!backward.starts_with("M0 0") && backward.ends_with(" 0"), "{backward}");
}

/// Three resistors at one node: the lines of two connections part at {0, 0}; the line of another node only crosses.
#[test]
fn a_dot_is_where_connections_branch() {
    let dots = |equations: &str| {
        let models = CIRCUIT.split_once("model Circuit").unwrap().0;
        let places = [("a", -60, 0), ("b", 40, 0), ("c", 40, -60), ("d", -60, 60)];
        let parts: String = places
            .iter()
            .map(|(name, x, y)| {
                let (right, top) = (x + 20, y + 20);
                format!(
                    "Resistor {name} annotation(Placement(transformation(extent={{{{{x},{y}}},{{{right},{top}}}}})));\n"
                )
            })
            .collect();
        let picture =
            drawn(&scene(&format!("{models}model M\n{parts}equation\n{equations}end M;"), "M", Layer::Diagram));
        picture.matches("class=\"junction\"").count()
    };
    let first = "connect(a.n, b.p) annotation(Line(points={{-40,10},{40,10}}));";
    let branch = "connect(a.n, c.p) annotation(Line(points={{-40,10},{0,10},{0,-50},{40,-50}}));";
    assert_eq!(dots(first), 0);
    assert_eq!(dots(&format!("{first}{branch}")), 1);
    // The same through a third connection; four directions are one dot, too.
    let upwards = "connect(d.n, c.p) annotation(Line(points={{-40,70},{0,70},{0,-50},{40,-50}}));";
    assert_eq!(dots(&format!("{first}{branch}{upwards}")), 1);
    // Of another set: the lines cross, or one ends on the other.
    assert_eq!(dots(&format!("{first}{upwards}")), 0);
    let touching = "connect(d.n, c.p) annotation(Line(points={{-40,70},{0,70},{0,10},{40,-50}}));";
    assert_eq!(dots(&format!("{first}{touching}")), 0);
    // At a connector there is no dot.
    let at_end = "connect(a.n, c.p) annotation(Line(points={{-40,10},{-40,-50},{40,-50}}));";
    assert_eq!(
        dots(&format!("connect(a.n, d.n) annotation(Line(points={{{{-40,10}},{{-40,70}}}}));{first}{at_end}")),
        0
    );
}

#[test]
fn what_is_wrong_is_left_out_with_a_note() {
    let text = "model M Missing m annotation(Placement(transformation(extent={{0,0},{20,20}}))); Real x;
        annotation(Icon(graphics={Line(points={{0,0},{1}}), Blob(a=1), 7, Rectangle(extent={{0,0},{10,10}}, lineColor={1,2}),
          Ellipse(extent={{-1e99,0},{1,1}}), Bitmap(extent={{0,0},{1,1}}, fileName=\"none.png\"), Text(extent={{0,0},{x,1}}, textString=\"a\")})); end M;";
    let icon = scene(text, "M", Layer::Icon);
    assert_eq!(icon.primitives.len(), 1, "only the rectangle, with its default colour");
    assert_eq!(icon.notes.len(), 7, "{:#?}", icon.notes);
    let diagram = scene(text, "M", Layer::Diagram);
    assert_eq!(diagram.notes.len(), 1);
    assert!(diagram.notes[0].message.contains("`Missing`"));
    assert!(drawn(&diagram).contains(">m<"));
}

#[test]
fn classes_that_contain_or_extend_themselves_end() {
    let text = "model A extends A; A a annotation(Placement(transformation(extent={{0,0},{20,20}})));
        annotation(Icon(graphics={Line(points={{0,0},{1,1}})})); end A;
        connector C C c annotation(Placement(transformation(extent={{0,0},{20,20}})));
        annotation(Icon(graphics={Line(points={{0,0},{1,1}})})); end C;
        model M C c annotation(Placement(transformation(extent={{0,0},{20,20}}))); end M;";
    for class in ["A", "C", "M"] {
        for layer in [Layer::Icon, Layer::Diagram] {
            assert!(drawn(&scene(text, class, layer)).len() < 100_000);
        }
    }
}

#[test]
fn bases_are_mapped_hidden_and_give_the_coordinate_system() {
    let text = "model B annotation(Icon(coordinateSystem(extent={{0,0},{10,10}}), graphics={Line(points={{0,0},{10,10}})})); end B;
        model Same extends B; end Same;
        model Mapped extends B annotation(IconMap(extent={{-100,-100},{0,0}})); end Mapped;
        model Hidden extends B annotation(IconMap(primitivesVisible=false)); end Hidden;
        model Short = B annotation(Icon(graphics={Line(points={{1,1},{2,2}})}));";
    let same = scene(text, "Same", Layer::Icon);
    assert_eq!((same.system.extent, same.primitives.len()), ([[0.0, 0.0], [10.0, 10.0]], 1));
    let mapped = scene(text, "Mapped", Layer::Icon);
    assert_eq!(mapped.system.extent, [[-100.0, -100.0], [100.0, 100.0]], "a mapped base gives no system");
    assert_eq!(mapped.primitives[0].matrix.apply([10.0, 10.0]), [0.0, 0.0]);
    assert_eq!(mapped.primitives[0].matrix.apply([0.0, 0.0]), [-100.0, -100.0]);
    assert_eq!(scene(text, "Hidden", Layer::Icon).primitives.len(), 0);
    assert_eq!(scene(text, "Short", Layer::Icon).primitives.len(), 2);
}

#[test]
fn a_redeclared_component_stays_where_it_was() {
    let text = "model A end A; model B extends A; annotation(Icon(graphics={Ellipse(extent={{0,0},{1,1}})})); end B;
        model M replaceable A a constrainedby A annotation(Placement(transformation(extent={{0,0},{20,20}}))); end M;
        model N extends M(redeclare B a); end N;";
    let scene = scene(text, "N", Layer::Diagram);
    let [a] = scene.components.as_slice() else { panic!("{:?}", scene.components) };
    assert_eq!((a.class.as_str(), a.bounds), ("B", [[0.0, 0.0], [20.0, 20.0]]));
    assert!(matches!(a.picture.primitives[0].shape, Shape::Ellipse { .. }));
}

#[test]
fn dynamic_values_are_kept_beside_the_static_ones() {
    let text = "model Tank Real level; annotation(Icon(graphics={Rectangle(extent=DynamicSelect({{0,0},{20,20}}, {{0,0},{20,level}}))})); end Tank;";
    let scene = scene(text, "Tank", Layer::Icon);
    let rectangle = &scene.primitives[0];
    assert!(matches!(rectangle.shape, Shape::Rectangle { extent: [[0.0, 0.0], [20.0, 20.0]], .. }));
    assert_eq!(rectangle.dynamic[0].attribute, "extent");
    assert_eq!(rectangle.dynamic[0].expression, "{{0,0},{20,level}}");
}

/// Names are those of the text that the expression stands in, behind the component that is drawn.
#[test]
fn a_moment_of_a_simulation_decides_dynamic_values() {
    let text = "
        model Lamp parameter Boolean on0 = false; Boolean on; Real p[2]; parameter Real k = 3;
          annotation(Icon(graphics={
            Rectangle(extent=DynamicSelect({{0,0},{20,20}}, {{0,0},{k*p[2],20}}), fillColor=DynamicSelect({0,0,0}, if on then {255,200,0} else {90,90,90})),
            Rectangle(visible=DynamicSelect(on0, missing), extent={{0,0},{1,1}})}));
        end Lamp;
        model Room Real k = 100; Lamp lamp annotation(Placement(transformation(extent={{-10,-10},{10,10}}))); end Room;";
    let library = library(text);
    let values = |name: &str| match name {
        "lamp.on" => Some(Value::Boolean(true)),
        "lamp.p[2]" => Some(Value::Number(4.0)),
        _ => None,
    };
    let mut painter = Painter::new(&library).at(values);
    let scene = painter.scene(library.find("Room").unwrap(), Layer::Diagram).unwrap();
    assert!(scene.is_dynamic());
    let [lamp, other] = scene.components[0].picture.primitives.as_slice() else { panic!("{scene:?}") };
    let Shape::Rectangle { extent, fill, .. } = &lamp.shape else { panic!("{lamp:?}") };
    assert_eq!((*extent, fill.fill_color), ([[0.0, 0.0], [12.0, 20.0]], [255, 200, 0]));
    assert!(!other.visible, "what has no value is as it is written");
}

#[test]
fn nothing_of_a_model_becomes_markup() {
    let text = r#"model M annotation(Icon(graphics={Text(extent={{0,0},{100,10}}, textString="<script>alert(1)</script>&\"'"),
        Text(extent={{0,0},{1,1}}, textString="a", fontName="x\" onload=\"alert(1)")})); end M;"#;
    let svg = drawn(&scene(text, "M", Layer::Icon));
    assert!(!svg.contains("<script") && !svg.contains("onload"), "{svg}");
    assert!(svg.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;"));
}

/// Ten letters of 944 thousandths are too wide for a line as high as the extent and are made to fit: 300 units. Around the picture
/// are 3 units of margin, 1.5 % of its size.
#[test]
fn no_text_is_cut() {
    let icon = |extent: &str| {
        let text = format!(
            "model M annotation(Icon(graphics={{Text(extent={extent}, textString=\"WWWWWWWWWW\")}})); end M;
            model D M m annotation(Placement(transformation(extent={{{{-100,-10}},{{-80,10}}}}))); end D;"
        );
        let icon = scene(&text, "M", Layer::Icon);
        (svg::view(&icon), drawn(&icon).contains("WWW"), svg::view(&scene(&text, "D", Layer::Diagram)))
    };
    let (inside, outside) = (icon("{{-150,90},{150,50}}"), icon("{{-150,150},{150,110}}"));
    assert_eq!((inside.0, inside.1), ([[-153.0, -103.0], [153.0, 103.0]], true));
    // A name above the icon is left out on its own, and shown above the component, whose icon is a tenth as large.
    assert_eq!((outside.0, outside.1), ([[-103.0, -103.0], [103.0, 103.0]], false));
    assert_eq!((inside.2, outside.2), ([[-108.0, -103.0], [103.0, 103.0]], [[-108.0, -103.0], [103.0, 103.0]]));
}

#[test]
fn texts_stay_upright_and_fit() {
    let text = "model A annotation(Icon(graphics={Text(extent={{-100,-50},{100,50}}, textString=\"%name\")})); end A;
        model M A abc annotation(Placement(transformation(origin={0,0}, extent={{10,-10},{-10,10}}, rotation=180))); end M;";
    let svg = drawn(&scene(text, "M", Layer::Diagram));
    // 20 by 10 units: the height 10 / 1.15 is less than the width 20 over 1.612 of `abc` in Helvetica.
    assert!(svg.contains("font-size=\"8.7\""), "{svg}");
    assert!(!svg.contains("rotate"), "turned by 180 degrees it is upright: {svg}");
}

#[test]
fn gradients_hatchings_arrows_and_arcs() {
    let text = "model M annotation(Icon(graphics={
        Rectangle(extent={{-10,-10},{10,10}}, fillPattern=FillPattern.HorizontalCylinder, lineColor={0,0,0}, fillColor={255,255,255}),
        Rectangle(extent={{-10,-10},{10,10}}, fillPattern=FillPattern.CrossDiag, borderPattern=BorderPattern.Raised, radius=3),
        Ellipse(extent={{-10,-10},{10,10}}, fillPattern=FillPattern.Sphere),
        Ellipse(extent={{-10,-10},{10,10}}, startAngle=0, endAngle=90, closure=EllipseClosure.None),
        Polygon(points={{0,0},{10,0},{10,10}}, smooth=Smooth.Bezier),
        Line(points={{0,0},{10,0}}, arrow={Arrow.None,Arrow.Filled}, pattern=LinePattern.Dash)})); end M;";
    let scene = scene(text, "M", Layer::Icon);
    assert_eq!(scene.notes, []);
    let svg = drawn(&scene);
    for part in ["<linearGradient id=\"s1\"", "<pattern id=\"s2\"", "<radialGradient id=\"s3\"", "stroke-dasharray"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    // A quarter from 3 o'clock counter-clockwise to 12 o'clock, with y down.
    assert!(svg.contains("M10 0C10 -5.52 5.52 -10 0 -10\""), "{svg}");
    // Between the middles of the sides: quadratic curves with the corners as control points.
    assert!(svg.contains("M5 -5Q0 0 5 0Q10 0 10 -5Q10 -10 5 -5Z"), "{svg}");
    // The tip at (10, 0), 3 wide and 4.5 long.
    assert!(svg.contains("M5.5 1.5L10 0L5.5 -1.5Z"), "{svg}");
}

#[test]
fn json_has_the_documented_names() {
    let json = serde_json::to_value(scene(CIRCUIT, "Circuit", Layer::Diagram)).unwrap();
    assert_eq!(json["layer"], "diagram");
    assert_eq!(json["system"]["extent"][1][0], 100.0);
    let r2 = &json["components"][1];
    assert_eq!((&r2["placement"]["rotation"], &r2["class"]), (&90.0.into(), &"Resistor".into()));
    assert_eq!(r2["picture"]["primitives"][0]["shape"]["kind"], "rectangle");
    assert_eq!(r2["picture"]["primitives"][0]["shape"]["fillPattern"], "none");
    assert_eq!(r2["picture"]["ports"][0]["isConnector"], true);
    assert_eq!(json["connections"][0]["line"]["shape"]["color"], serde_json::json!([0, 0, 255]));
}

#[test]
fn routes_leave_straight_and_turn_at_right_angles() {
    let scene = scene(CIRCUIT, "Circuit", Layer::Diagram);
    let route = |from: &str, to: &str| crate::route::route(&scene.end(from).unwrap(), &scene.end(to).unwrap());
    // Right out of r1, then up to the upper end of r2, which is entered from above.
    assert_eq!(route("r1.n", "r2.p"), [[-40.0, 0.0], [-30.0, 0.0], [-30.0, 20.0], [50.0, 20.0], [50.0, 10.0]]);
    for (from, to) in [("r1.n", "r2.n"), ("r1.p", "r2.p"), ("r1.p", "r1.n"), ("r2.heatPort", "r1.p")] {
        let points = route(from, to);
        assert!(points.windows(2).all(|w| (w[0][0] == w[1][0]) != (w[0][1] == w[1][1])), "{from} {to}: {points:?}");
    }
}
