//! Every panel of the page: nothing is cut off, and what users set, rename and follow does what it says.

use serde_json::{Value, json};

use super::READY;
use super::browser::{Browser, Studio};
use super::common::Scratch;
use super::views::THROW;

/// Controls that are not wholly inside of what is around them, or of the window.
const CUT: &str = "const out = [];
const room = document.documentElement.getBoundingClientRect();
for (const e of document.querySelectorAll('.head > *, .bar > *, .tabs > *, .status > *, .event.head > *, .field > *, .tag')) {
  const b = e.getBoundingClientRect();
  if (!b.width || getComputedStyle(e).visibility === 'hidden') continue;
  const a = e.parentElement.getBoundingClientRect();
  if (b.right > a.right + 0.6 || b.left < a.left - 0.6 || b.right > room.right + 0.6 || b.bottom > room.bottom + 0.6 && !e.closest('.scroll') || e.matches('.readout') && e.scrollWidth > e.clientWidth + 1)
    out.push(`${e.parentElement.className}: ${e.id || e.textContent.slice(0, 20)} ${Math.round(b.left)}…${Math.round(b.right)} of ${Math.round(a.left)}…${Math.round(a.right)}`);
}
return out;";

const CIRCUIT: &str = "model Circuit \"A rectifier\"
  Saltus.Electrical.SineVoltage source(V = 10, f = 1) annotation (Placement(transformation(extent = {{-60, -10}, {-40, 10}})));
  Saltus.Electrical.Resistor load(R = 2) \"Heats\" annotation (Placement(transformation(extent = {{20, -10}, {40, 10}})));
  Saltus.Electrical.Ground ground annotation (Placement(transformation(extent = {{-60, -60}, {-40, -40}})));
equation
  connect(source.p, load.p) annotation (Line(points = {{-60, 0}, {-60, 30}, {20, 30}, {20, 0}}));
  connect(source.n, ground.p) annotation (Line(points = {{-40, 0}, {-40, -40}, {-50, -40}}));
  connect(load.n, ground.p) annotation (Line(points = {{40, 0}, {40, -40}, {-50, -40}}));
  annotation (experiment(StopTime = 2));
end Circuit;
";

/// The window of so many pixels inside.
fn window(browser: &Browser, width: u32, height: u32) {
    browser.resize(width, height);
    let inner = browser.script("return [innerWidth, innerHeight]");
    let more = |at: usize, wanted: u32| wanted + wanted - inner[at].as_u64().unwrap() as u32;
    browser.resize(more(0, width), more(1, height));
    browser.wait(&format!("innerWidth === {width} && innerHeight === {height}"));
}

#[test]
fn nothing_is_cut_off_in_small_and_large_windows() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-sizes");
    let file = dir.file("Circuit.mo", CIRCUIT);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.script("for (const v of ['source.p.v', 'load.p.i']) saltus.plots.toggle(v); saltus.plots.cursor = 0.25; saltus.plots.second = 1.125; saltus.plots.draw()");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('load.p.i')?.length > 20");
    for (width, height) in [(1280, 720), (3840, 2160)] {
        window(&browser, width, height);
        for theme in ["light", "dark"] {
            browser.script(&format!(
                "if (document.documentElement.dataset.theme !== {theme:?}) document.getElementById('theme').click()"
            ));
            let tabs = browser.script(
                "return [...document.querySelectorAll('[role=tab]')].filter((t) => !t.hidden).map((t) => t.id)",
            );
            for tab in tabs.as_array().unwrap().iter().filter_map(Value::as_str) {
                browser.click(&format!("#{tab}"));
                assert_eq!(browser.script(CUT), json!([]), "{width} × {height}, {theme}, {tab}");
            }
        }
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn components_are_renamed_and_values_set_for_the_next_run() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-names");
    let file = dir.file("Circuit.mo", CIRCUIT);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.wait("document.querySelectorAll('.stage .component').length === 3");
    // The ground has two lines: they part, with a dot.
    browser.wait("document.querySelectorAll('.stage .connection').length === 3");

    // A value for the next run: the text stays.
    browser.wait("saltus.parameters.parameters.some((p) => p.name === 'load.R')");
    browser.script("saltus.diagram.selected = new Set(['load']); saltus.diagram.parameters()");
    browser.keys("#dialog-R", "\u{e009}a\u{e000}5");
    browser.click("#dialog-next-run");
    browser.wait("!document.querySelector('dialog') && saltus.currentValues().get('load.R') === '5'");
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.script("saltus.plots.toggle('load.p.i')");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('load.p.i')?.length > 20");
    // Closed form: 10 V sin(2 π t) at a quarter of the period, through 5 Ω.
    let current = browser.script("return saltus.plots.value(saltus.store.run, 'load.p.i', 0.25)").as_f64().unwrap();
    assert!((current - 2.0).abs() < 1e-3, "{current}");
    assert_eq!(browser.script("return saltus.editor.known"), CIRCUIT);
    // An expression is something for the text.
    browser.script("saltus.diagram.parameters()");
    browser.keys("#dialog-R", "\u{e009}a\u{e000}2*3");
    browser.click("#dialog-next-run");
    browser.wait("document.getElementById('notice')?.textContent.includes('load.R')");
    browser.script("document.querySelector('dialog').close()");
    browser.wait("!document.querySelector('dialog')");

    // Another name, with the keyboard: in the declaration and its two connections.
    browser.keys(".stage", "\u{e032}");
    browser.keys("#name-input", "heater\u{e007}");
    browser.wait("saltus.editor.known.includes('heater(R = 2)')");
    let renamed = CIRCUIT.replace("load(", "heater(").replace("load.", "heater.");
    assert_eq!(browser.script("return saltus.editor.known"), renamed);
    browser.wait("!document.querySelector('dialog')");
    // One that is taken is refused.
    browser.keys(".stage", "\u{e032}");
    browser.keys("#name-input", "ground\u{e007}");
    browser.wait("document.getElementById('notice')?.classList.contains('error')");
    assert_eq!(browser.script("return saltus.editor.known"), renamed);
    assert_eq!(browser.complaints().iter().filter(|c| !c.contains("422")).count(), 0, "{:?}", browser.complaints());
}

#[test]
fn live_runs_have_a_speed_and_sliders() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-live");
    let text = "model Tank parameter Real inflow(min = 0, max = 4) = 1; Real level(start = 0, fixed = true);
equation der(level) = inflow; annotation(experiment(StopTime = 1, Interval = 0.01)); end Tank;";
    let file = dir.file("Tank.mo", text);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#tab-parameters");
    browser.wait("document.querySelector('#parameter-inflow') && !document.querySelector('.slide')");
    browser.click("#live");
    browser.wait("saltus.store.run?.phase === 'running' && document.querySelector('.slide')");
    let bounds = browser.script("const s = document.querySelector('.slide'); return [s.min, s.max, s.value]");
    assert_eq!(bounds, json!(["0", "4", "1"]), "between the bounds of the parameter");
    // A thousand times as much as a clock shows, at least.
    browser.script("const s = document.getElementById('speed'); s.value = '100'; s.dispatchEvent(new Event('change'))");
    browser.wait("saltus.store.run.time > 20");
    browser.script("const s = document.querySelector('.slide'); s.value = '3'; s.dispatchEvent(new Event('input'))");
    assert_eq!(browser.script("return document.getElementById('parameter-inflow').value"), "3");
    let from = browser.script("return saltus.store.run.time").as_f64().unwrap();
    browser.wait(&format!("saltus.store.run.time > {from} + 60"));
    browser.script("saltus.plots.toggle('level'); saltus.plots.view = null");
    browser.click("#stop");
    browser.wait("saltus.store.run.phase === 'done'");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('level')?.length > 20");
    // Closed form: the level rises by 3 a second from some time on; before that by 1.
    let slope = browser.script("const p = saltus.plots.loaded.get(1).points.get('level'); const n = p.length; return (p[n - 1] - p[n - 5]) / (p[n - 2] - p[n - 6])");
    assert!((slope.as_f64().unwrap() - 3.0).abs() < 1e-6, "{slope}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// A ball on a circle of radius 2 with an arrow of its speed, 2 long, and an arrow that is twice as long.
const ORBIT: &str = "model Orbit
  record Orientation Real T[3, 3]; end Orientation;
  model Arrow
    Orientation R;
    input Real r[3], coordinates[3], color[3];
  equation
    R.T = identity(3);
  end Arrow;
  model Body
    parameter String shapeType = \"sphere\";
    Orientation R;
    input Real r[3];
    Real r_shape[3] = zeros(3), lengthDirection[3] = {1, 0, 0}, widthDirection[3] = {0, 1, 0}, color[3] = {200, 0, 0};
    Real length = 0.5, width = 0.5, height = 0.5, extra = 0;
  equation
    R.T = identity(3);
  end Body;
  Body ball(r = {2*cos(time), 2*sin(time), 0});
  Arrow speed(r = ball.r, coordinates = {-2*sin(time), 2*cos(time), 0}, color = {0, 0, 200});
  Arrow twice(r = zeros(3), coordinates = 2*speed.coordinates, color = {0, 99, 0});
  annotation(experiment(StopTime = 6.2831853));
end Orbit;
";

#[test]
fn vectors_are_drawn_and_a_body_is_followed() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-space");
    let file = dir.file("Orbit.mo", ORBIT);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.wait("!document.getElementById('tab-animation').hidden");
    browser.click("#tab-animation");
    browser.wait("saltus.animation.bodies.length === 3 && saltus.animation.count > 2");
    browser.script("saltus.animation.setTime(Math.PI / 2, true)");
    // Closed form: the ball is at {0, 2, 0}, and its speed is {-2, 0, 0}; of the two arrows one is twice as long as the other.
    let arrows = browser.script(
        "return saltus.animation.bodies.filter((b) => b.type === 'arrow').map((b) => { const { at, end } = saltus.animation.matrix(b); return [at, end.map((x, i) => x - at[i])]; })",
    );
    let number = |arrow: usize, what: usize, axis: usize| arrows[arrow][what][axis].as_f64().unwrap();
    for (axis, expected) in [0.0, 2.0, 0.0].into_iter().enumerate() {
        assert!((number(0, 0, axis) - expected).abs() < 1e-2, "{arrows}");
    }
    assert!(number(0, 1, 0) < -0.1 && number(0, 1, 1).abs() < 1e-2, "{arrows}");
    assert!((number(1, 1, 0) - 2.0 * number(0, 1, 0)).abs() < 1e-6, "{arrows}");
    // The camera looks at the body that is followed, from then on at rest again.
    browser
        .script("const f = document.getElementById('follow'); f.value = 'ball'; f.dispatchEvent(new Event('change'))");
    browser.wait("Math.hypot(...saltus.animation.camera.target.map((x, i) => x - [0.25, 2, 0][i])) < 0.02");
    browser.script("saltus.animation.setTime(Math.PI, true)");
    browser.wait("Math.hypot(...saltus.animation.camera.target.map((x, i) => x - [-1.75, 0, 0][i])) < 0.02");
    // Something is drawn in the colours of the arrows.
    let green = browser.script(
        "const a = saltus.animation; a.render(); const gl = a.gl; if (!gl) return null; const [w, h] = [a.canvas.width, a.canvas.height]; const p = new Uint8Array(4*w*h); gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, p); let n = 0; for (let i = 0; i < p.length; i += 4) if (p[i + 1] > 30 && p[i] < 20 && p[i + 2] < 20 && p[i + 3]) n++; return n",
    );
    assert!(green.is_null() || green.as_u64().unwrap() > 20, "{green}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn one_signal_over_another_shows_where_the_cursor_is() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-pairs");
    let file = dir.file("Throw.mo", THROW);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.script("const p = saltus.plots; const pair = p.add('xy'); p.toggle('x', pair); p.toggle('y', pair)");
    browser.wait("saltus.plots.pairs.get('1 x y')?.x.length === 4000");
    browser.script("saltus.plots.jump(0.5)");
    // Closed form at half a second: 2·0.5 - 9.81/8 = -0.22625 m, which is shown in centimetres, over 0.5 m.
    browser.wait("document.querySelector('[data-panel=\"2\"] .value')?.textContent === '-22.625 at 0.5'");
    // The axes have their units, in the picture that is saved as well.
    let svg = browser.script("return saltus.plots.picture().text");
    let svg = svg.as_str().unwrap();
    assert!(svg.contains(">cm</text>") && svg.contains(">x in m</text>"), "{svg}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
