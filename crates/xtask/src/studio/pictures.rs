//! The pictures of the studio in the README and the book, taken anew: `docs/studio-*.png`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine;

use super::{Bench, READY};

const BALL: &str = "model BouncingBall \"A ball that loses energy at every impact\"
  constant Real g(unit = \"m/s2\") = 9.81 \"Acceleration of gravity\";
  parameter Real e = 0.7 \"Part of the speed that is left\";
  Real h(unit = \"m\", start = 1, fixed = true) \"Height\";
  Real v(unit = \"m/s\", start = 0, fixed = true) \"Speed\";
  discrete Integer n(start = 0, fixed = true) \"Impacts so far\";
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 and v < 0 then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  end when;
  annotation (experiment(StopTime = 1.5));
end BouncingBall;
";

const CIRCUIT: &str = "model Circuit \"A rectifier\"
  Saltus.Electrical.SineVoltage source(V = 10, f = 1) annotation (Placement(transformation(extent = {{-60, -10}, {-40, 10}})));
  Saltus.Electrical.Diode diode annotation (Placement(transformation(extent = {{-20, 20}, {0, 40}})));
  Saltus.Electrical.Resistor load(R = 2) annotation (Placement(transformation(extent = {{20, -10}, {40, 10}})));
  Saltus.Electrical.Capacitor store(C = 0.1) annotation (Placement(transformation(extent = {{60, -10}, {80, 10}})));
  Saltus.Electrical.Ground ground annotation (Placement(transformation(extent = {{-60, -60}, {-40, -40}})));
equation
  connect(source.p, diode.p) annotation (Line(points = {{-60, 0}, {-60, 30}, {-20, 30}}));
  connect(diode.n, load.p) annotation (Line(points = {{0, 30}, {20, 30}, {20, 0}}));
  connect(store.p, diode.n) annotation (Line(points = {{60, 0}, {60, 30}, {0, 30}}));
  connect(source.n, ground.p) annotation (Line(points = {{-40, 0}, {-40, -40}, {-50, -40}}));
  connect(load.n, ground.p) annotation (Line(points = {{40, 0}, {40, -40}, {-50, -40}}));
  connect(store.n, ground.p) annotation (Line(points = {{80, 0}, {80, -40}, {-50, -40}}));
  annotation (experiment(StopTime = 2));
end Circuit;
";

const ROBOT: &str = "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot";

pub fn run(bench: &Bench, to: &Path) -> Result<()> {
    let browser = &bench.browser;
    browser.resize(1280, 720 + 139);
    let ball = bench.file("BouncingBall.mo", BALL)?;
    let studio = bench.open(&[&ball]);
    theme(bench, "light");
    let inner = browser.script("return [innerWidth, innerHeight]");
    browser.resize(1280, 720 + 720 + 139 - inner[1].as_u64().unwrap_or(720) as u32);
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    for name in ["h", "v", "n"] {
        browser.click(&format!("[data-variable={name}]"));
    }
    browser.wait("saltus.plots.loaded.get(1)?.points.get('n')?.length > 2");
    browser.click("[data-event='2']");
    browser.wait("document.querySelector('.line.marked')");
    take(bench, to, "studio-light.png")?;
    theme(bench, "dark");
    browser.click("[data-event='4']");
    take(bench, to, "studio-dark.png")?;
    theme(bench, "light");
    drop(studio);

    let circuit = bench.file("Circuit.mo", CIRCUIT)?;
    let studio = bench.open(&[&circuit]);
    browser.wait("document.querySelectorAll('.stage .component').length === 5");
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.script("for (const v of ['source.p.v', 'load.p.v', 'diode.i']) saltus.plots.toggle(v)");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('load.p.v')?.length > 20");
    browser.click("[data-event='1']");
    browser.wait("document.querySelector('.marked-frame')");
    take(bench, to, "studio-diagram.png")?;

    // A grid of two parameters.
    browser.script("for (const v of ['source.p.v', 'load.p.v']) saltus.plots.toggle(v)");
    browser.script("const n = 6; const rows = []; for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) rows.push([1 + 2*i/(n - 1), 0.05 + 0.1*j/(n - 1)]); return saltus.start({ vary: { names: ['load.R', 'store.C'], rows } })");
    browser.wait("[...saltus.store.runs.values()].filter((r) => r.group && r.phase === 'done').length === 36");
    browser.click("#tab-study");
    browser.wait("[...(document.getElementById('study-variable')?.options ?? [])].some((o) => o.value === 'diode.i')");
    for (id, value) in [("study-variable", "diode.i"), ("study-number", "maximum")] {
        browser.script(&format!(
            "const e = document.getElementById({id:?}); e.value = {value:?}; e.dispatchEvent(new Event('change'))"
        ));
    }
    browser.wait("document.querySelectorAll('.study-picture .cell').length === 36 && saltus.study.numbers.size === 36");
    browser.click("#port-values");
    take(bench, to, "studio-study.png")?;
    drop(studio);

    // A search for one parameter.
    let studio = bench.open(&[&ball]);
    browser.wait("saltus.parameters.parameters.length > 0");
    browser.click("#search");
    for (label, text) in [
        // Below 0.54 the ball would come to rest before the end of the run, by infinitely many impacts.
        ("min of parameter 1", "0.6"),
        ("max of parameter 1", "0.95"),
        ("Expression 1", "at(h, 0.8)"),
        ("Value 1", "0.4"),
    ] {
        browser.script(&format!("const e = document.querySelector('dialog [aria-label=\"{label}\"]'); e.value = {text:?}; e.dispatchEvent(new Event('input'))"));
    }
    browser.click("#search-dialog .primary");
    finish(bench)?;
    browser.wait("[...saltus.store.runs.values()].some((r) => r.phase === 'done')");
    browser.click("[data-variable=h]");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('h')?.length > 20");
    take(bench, to, "studio-search.png")?;
    drop(studio);

    let library = bench.library.display().to_string();
    let studio = bench.start(&["--library", &library, ROBOT]);
    browser.go(&studio.address);
    browser.wait(READY);
    browser.script("return saltus.start()");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.wait("!document.getElementById('tab-animation').hidden");
    browser.click("#tab-animation");
    browser.script("for (const i of [1, 2, 3]) saltus.plots.toggle(`axis${i}.flange.phi`)");
    browser.wait("saltus.plots.loaded.get(1)?.points.size >= 3");
    browser.script("saltus.plots.jump(1.2)");
    browser.script("const e = document.querySelector('#panel-animation input[type=range]'); e.value = String(Number(e.max) * 0.66); e.dispatchEvent(new Event('input'))");
    take(bench, to, "studio-robot.png")?;
    drop(studio);
    Ok(())
}

/// Waits for a search; one without an answer has no run, and says why.
fn finish(bench: &Bench) -> Result<()> {
    let all = "[...saltus.searches.searches.values()]";
    bench.browser.wait(&format!("{all}.some((s) => s.phase !== 'running' && s.phase !== 'compiling')"));
    let search = bench.browser.script(&format!("return {all}[0]"));
    anyhow::ensure!(search["phase"] == "done", "the search for the picture ended without an answer: {search}");
    Ok(())
}

fn theme(bench: &Bench, name: &str) {
    bench.browser.script(&format!(
        "if (document.documentElement.dataset.theme !== {name:?}) document.getElementById('theme').click()"
    ));
}

/// Takes the window when everything has been drawn.
fn take(bench: &Bench, to: &Path, name: &str) -> Result<()> {
    // Pointers and notices are not part of the picture.
    bench.browser.script("document.activeElement?.blur(); document.getElementById('notice')?.remove()");
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let bytes = base64::engine::general_purpose::STANDARD.decode(bench.browser.picture())?;
    let path = to.join(name);
    fs::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{name}: {} kB", bytes.len() / 1000);
    Ok(())
}
