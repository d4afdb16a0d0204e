//! How a model is sorted, what its time goes to, what a study gives, and diagrams that move.

use serde_json::{Value, json};

use crate::browser::{Browser, Studio};
use crate::common::{Scratch, run};
use crate::{CIRCUIT, READY};

#[test]
fn structure_and_profile_lead_to_text_and_diagram() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-views");
    // Closed, with a state: the capacitor is parallel to the load.
    let text = CIRCUIT.replace(
        "equation\n",
        "  Saltus.Electrical.Capacitor store(C = 0.1) annotation (Placement(transformation(extent = {{60, -10}, {80, 10}})));\n\
         equation\n  connect(load.n, ground.p);\n  connect(store.p, load.p);\n  connect(store.n, load.n);\n",
    );
    let file = dir.file("Circuit.mo", &text);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.wait("document.querySelectorAll('.stage .component').length === 5");

    browser.click("#tab-structure");
    browser.wait("document.querySelector('#panel-structure .line-table[aria-label=\"States\"]')");
    // The voltage of the capacitor is the only thing with a derivative, and no equation is differentiated.
    let summary = browser.script("return document.querySelector('#panel-structure .summary').textContent");
    assert!(summary.as_str().unwrap().starts_with("index 1 · 1 state ·"), "{summary}");
    browser.click("#panel-structure .line-table[aria-label=\"States\"] .line-row");
    browser.wait("document.querySelectorAll('.marked-frame').length === 1");
    assert_eq!(browser.script("return saltus.diagram.marked"), json!(["store"]));
    // With the keyboard: the relation of the diode is an event between its two states.
    browser.keys("#panel-structure .line-table[aria-label=\"Events\"] .line-row", "\u{e007}");
    browser.wait("saltus.diagram.marked.includes('diode')");

    // The profile of a run: shares of the whole, the most expensive first.
    browser.click("#tab-profile");
    browser.click("#run-profile");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.wait("document.querySelectorAll('#panel-profile .line-table').length >= 3");
    let answer: Value = serde_json::from_str(&studio.get("/api/profile?run=1").1).unwrap();
    let tables = answer["profile"]["tables"].as_array().unwrap();
    let shares = |table: &Value| -> Vec<f64> {
        table["lines"].as_array().unwrap().iter().map(|line| line["share"].as_f64().unwrap()).collect()
    };
    let whole: f64 = shares(&tables[0]).iter().sum();
    assert!((whole - 1.0).abs() < 1e-6, "the activities are all of the run: {whole}");
    assert!(shares(&tables[1]).windows(2).all(|w| w[0] >= w[1]), "{}", tables[1]);
    browser.click("#panel-profile .line-table[aria-label=\"Equations and loops\"] .line-row");
    browser.wait("saltus.diagram.marked.length > 0");

    // A run without one says so; another model with mistakes as well.
    browser.click("#run");
    browser.wait("saltus.store.runs.get(2)?.phase === 'done' && saltus.store.run.id === 2");
    browser.wait("document.getElementById('panel-profile').textContent.includes('not measured')");
    let (status, said) = studio.get("/api/structure?class=Missing");
    assert!(status == 200 && said.contains("Missing"), "{said}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// The distance that something thrown with speed `v` at the rate of climb `u` has flown after a second: `v`; its height `u - g/2`.
pub const THROW: &str = "model Throw
  parameter Real u = 2 \"Speed upwards\";
  parameter Real v = 1 \"Speed forwards\";
  Real x(start = 0, fixed = true, unit = \"m\");
  Real y(start = 0, fixed = true, unit = \"m\", displayUnit = \"cm\");
equation
  der(x) = v;
  der(y) = u - 9.81*time;
  annotation(experiment(StopTime = 1));
end Throw;
";

#[test]
fn a_study_is_a_map_or_points() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-study");
    let file = dir.file("Throw.mo", THROW);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.wait("saltus.parameters.parameters.length === 2");
    let fill = |label: &str, text: &str| {
        let set = format!("document.querySelector('dialog [aria-label=\"{label}\"]').value = {text:?}");
        browser.wait(&format!("document.querySelector('dialog [aria-label=\"{label}\"]')"));
        browser.script(&set);
    };
    let choose = |id: &str, value: &str| {
        browser
            .wait(&format!("[...(document.getElementById({id:?})?.options ?? [])].some((o) => o.value === {value:?})"));
        browser.script(&format!(
            "const e = document.getElementById({id:?}); e.value = {value:?}; e.dispatchEvent(new Event('change'))"
        ));
    };

    // A grid of two: 4 × 3 runs.
    browser.click("#sweep");
    choose("sweep-kind", "grid");
    for (label, text) in [
        ("from of parameter 1", "1"),
        ("to of parameter 1", "4"),
        ("count of parameter 1", "4"),
        ("from of parameter 2", "10"),
        ("to of parameter 2", "30"),
        ("count of parameter 2", "3"),
    ] {
        fill(label, text);
    }
    browser.click("dialog .primary");
    browser.wait("[...saltus.store.runs.values()].filter((r) => r.phase === 'done').length === 12");
    browser.click("#tab-study");
    choose("study-variable", "y");
    browser.wait("document.querySelectorAll('.study-picture .cell').length === 12");
    // Closed form: the height after a second is u - g/2, in centimetres; it does not depend on v.
    let of =
        |id: u64| browser.script(&format!("return saltus.study.result(saltus.store.runs.get({id}))")).as_f64().unwrap();
    browser.wait("saltus.study.numbers.size === 12");
    for (id, u) in [(1, 1.0), (3, 1.0), (12, 4.0)] {
        let expected = 100.0 * (u - 9.81 / 2.0);
        assert!((of(id) - expected).abs() < 1e-3, "{} for {expected}", of(id));
    }
    // The top of the flight: u²/(2 g), for the fastest one 0.8155 m.
    choose("study-number", "maximum");
    assert!((of(12) - 100.0 * 16.0 / 19.62).abs() < 0.02, "{}", of(12));
    let fills = browser.script("return [...document.querySelectorAll('.cell')].map((c) => getComputedStyle(c).fill)");
    let fills: Vec<String> = serde_json::from_value(fills).unwrap();
    assert_eq!(fills.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "one colour for each u: {fills:?}");

    // A cell is a run; the keyboard moves between cells.
    browser.click("[data-spot='5']");
    browser.wait("saltus.store.run.id === 5");
    browser.keys(".study-picture", "\u{e014}\u{e007}");
    browser.wait("saltus.store.run.id === 8");

    // Samples: points, with values of the final position, which are those of v.
    browser.click("#sweep");
    choose("sweep-kind", "samples");
    fill("Number of samples", "9");
    fill("from of parameter 1", "0");
    fill("to of parameter 1", "8");
    browser.click("dialog .primary");
    browser.wait("[...saltus.store.runs.values()].filter((r) => r.phase === 'done').length === 21");
    choose("study-variable", "y");
    choose("study-number", "final");
    browser.wait("document.querySelectorAll('.study-picture .dot').length === 9");
    // The first point of Halton's sequence is the middle.
    browser.wait("saltus.study.numbers.has(13)");
    assert!((of(13) - 100.0 * (4.0 - 9.81 / 2.0)).abs() < 1e-3, "{}", of(13));
    let (status, _) = studio.post("/api/run", &json!({"class": "Throw", "vary": {"names": ["u", "v"], "rows": [[1]]}}));
    assert_eq!(status, 400);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn columns_of_files_come_in_the_units_of_the_model() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-units");
    let file = dir.file("Throw.mo", THROW);
    // The same names: a length in centimetres, and one that is a mass.
    let other = THROW.replace("start = 0, fixed = true, unit = \"m\")", "start = 0, fixed = true, unit = \"kg\")");
    let other = other.replace("unit = \"m\", displayUnit = \"cm\"", "unit = \"cm\"").replace("Throw", "Other");
    let measured = dir.path("measured.mat");
    run(&["simulate", &dir.file("Other.mo", &other), "--output", &measured], 0);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    for name in ["x", "y"] {
        browser.click(&format!("[data-variable={name}]"));
    }
    browser.keys("#reference", &measured);
    browser.wait("saltus.plots.loaded.get(2)?.points.get('y')?.length > 20");
    // Closed form: after a second 2 - 9.81/2, of centimetres in the file and of metres in the model, which shows centimetres.
    let at_end = |id: u64, name: &str| {
        browser.script(&format!("return saltus.plots.value(saltus.store.runs.get({id}), {name:?}, 1)")).as_f64()
    };
    let expected = 2.0 - 9.81 / 2.0;
    assert!((at_end(2, "y").unwrap() - expected).abs() < 1e-6, "{:?}", at_end(2, "y"));
    browser.wait("saltus.plots.value(saltus.store.runs.get(1), 'y', 1) !== null");
    assert!((at_end(1, "y").unwrap() - 100.0 * expected).abs() < 1e-3, "{:?}", at_end(1, "y"));
    // What cannot be converted is not drawn, and says why.
    assert_eq!(at_end(2, "x"), None);
    browser.wait("document.querySelector('.legend').textContent.includes('is in kg, which is not a kind of m')");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn configurations_are_a_graph() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-configurations");
    let file = dir.file("LoopingPendulum.mo", include_str!("../study/LoopingPendulum.mo"));
    // What the command line finds in a run of its own.
    let (said, _) = run(&["explain", &file, "--configurations", "--json"], 0);
    let explained: Value = serde_json::from_str(&said).unwrap();
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    assert_eq!(browser.script("return document.getElementById('tab-configurations').hidden"), true);
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.click("#tab-configurations");
    browser.wait("document.querySelectorAll('.node').length === 2");
    let found: Value = serde_json::from_str(&studio.get("/api/configurations?run=1").1).unwrap();
    let found = &found["configurations"];
    assert_eq!(found["transitions"], explained["transitions"]);
    assert_eq!(found["configurations"], explained["configurations"]);
    let names: Vec<&str> =
        found["configurations"].as_array().unwrap().iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["circle", "flight"]);
    // All of the two seconds are spent in one of them.
    let spent: f64 = found["spent"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
    assert!((spent - 2.0).abs() < 1e-9, "{spent}");
    let count = &found["transitions"][0]["count"];
    browser.wait(&format!("document.querySelector('[data-edge=\"1-2\"]').textContent.includes('{count} ×')"));
    // A transition leads to the events that it is made of.
    browser.script("document.querySelector('[data-edge=\"1-2\"]').dispatchEvent(new MouseEvent('click'))");
    let n = found["n_segments"].as_u64().unwrap() - 1;
    browser.wait(&format!("document.querySelectorAll('[data-event]').length === {n}"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// A tank that fills up within two seconds, drawn with its level; the lamp is lit in the second half.
const TANK: &str = "package Plant
  connector Outlet
    Real level(unit = \"m\");
    annotation (Icon(graphics = {Ellipse(extent = {{-100, -100}, {100, 100}})}));
  end Outlet;
  model Tank
    Real level(start = 0, fixed = true, unit = \"m\");
    Boolean isHigh = level > 0.5;
    Outlet outlet annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
  equation
    der(level) = 0.5;
    outlet.level = level;
    annotation (Icon(graphics = {
      Rectangle(extent = DynamicSelect({{-100, -100}, {100, 0}}, {{-100, -100}, {100, -100 + 200*level}}), fillPattern = FillPattern.Solid,
        fillColor = DynamicSelect({200, 200, 200}, if isHigh then {255, 0, 0} else {0, 0, 255})),
      Text(extent = {{-100, 100}, {100, 140}}, textString = DynamicSelect(\"\", String(level, significantDigits = 2) + \" \" + String(level, format = \".3f\")))}));
  end Tank;
  model Site
    Tank tank annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}})));
    annotation (experiment(StopTime = 2));
  end Site;
end Plant;
";

#[test]
fn a_diagram_moves_with_time() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-moving");
    let file = dir.file("Plant.mo", TANK);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.script("return saltus.open('Plant.Site')");
    browser.wait("document.querySelectorAll('.stage .component').length === 1");
    let fills = "[...document.querySelectorAll('.stage .component [fill]')].map((e) => e.getAttribute('fill'))";
    browser.wait(&format!("{fills}.some((f) => f.includes('200') || f.includes('c8c8c8'))"));
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.wait("document.getElementById('moment').checkVisibility()");
    // The level is half of the time: at 0.5 s it is 0.25 and low, at 1.5 s 0.75 and high.
    for (part, level) in [(0.25, "0.25 0.250"), (0.75, "0.75 0.750")] {
        browser.script(&format!(
            "const e = document.getElementById('moment'); e.value = {part}; e.dispatchEvent(new Event('input'))"
        ));
        browser.wait(&format!("document.querySelector('.stage .component').textContent.includes('{level}')"));
        assert_eq!(browser.script("return saltus.plots.cursor"), json!(2.0 * part), "the plots follow");
    }
    browser.wait(&format!(
        "{fills}.some((f) => f.includes('255,0,0') || f.toLowerCase().includes('ff0000') || f.includes('255 0 0'))"
    ));

    // Values at ports, of the moment.
    browser.click("#port-values");
    browser.wait("document.querySelector('[data-port=\"tank.outlet\"]')?.textContent === 'level 0.75 m'");
    browser.click("#port-values");
    browser.wait("!document.querySelector('[data-port]')");
    assert_eq!(dir.read("Plant.mo"), TANK);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
