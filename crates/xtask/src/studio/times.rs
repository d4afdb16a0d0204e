//! What a user of the studio waits for, in milliseconds and frames.
//!
//! Every number is taken in the page, by its own clock, or from the start of the program on. Frames are those that the browser offers while a pointer is dragged by real input
//! events; no graphics card takes part.

use std::fmt::Write;

use anyhow::Result;
use serde_json::{Value, json};

use super::browser::{Browser, Studio};
use super::{Bench, READY, load, milliseconds};

const BALL: &str = "model Ball
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -0.8*pre(v));
  end when;
  annotation (experiment(StopTime = 1));
end Ball;
";

/// 10⁶ rows and one more.
const WAVE: &str = "model Wave
  Real x = sin(time) + 0.3*sin(31*time);
  annotation (experiment(StopTime = 1000, Interval = 0.001));
end Wave;
";

const ROBOT: &str = "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot";
/// Moves of the pointer in a drag, and their distance in time.
const MOVES: usize = 120;
const PACE: u32 = 16;

/// Records the times of frames from now on.
const RECORD: &str = "const mine = []; window.recorded = mine; const tick = (t) => { if (window.recorded === mine) { mine.push(t); requestAnimationFrame(tick); } }; requestAnimationFrame(tick);";
const RECORDED: &str = "const all = window.recorded; window.recorded = null; return all;";

pub fn run(bench: &Bench, repeat: usize) -> Result<()> {
    let browser = &bench.browser;
    println!("load {}; middle of {repeat}", load());
    let ball = bench.file("Ball.mo", BALL)?;

    let mut starts = Vec::new();
    for _ in 0..repeat {
        browser.go("about:blank");
        let mut studio = None;
        starts.push(milliseconds(|| studio = Some(bench.open(&[&ball]))));
    }
    say("command to usable page", "ms", starts);

    let studio = bench.open(&[&ball]);
    browser.wait("saltus.parameters.parameters.length >= 0 && saltus.store.current");
    browser.script("return saltus.start()");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.click("[data-variable=h]");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('h')?.length > 20");
    let mut plots = Vec::new();
    for id in 2..2 + repeat {
        plots.push(until(
            browser,
            "saltus.start()",
            &format!("saltus.plots.loaded.get({id})?.points.get('h')?.length > 20"),
        ));
    }
    say("run to first curve (bouncing ball, compiled)", "ms", plots);
    let mistakes = (0..repeat).map(|_| mistake(browser, "der(h)", "x")).collect();
    say("mistake to message (bouncing ball)", "ms", mistakes);
    drop(studio);

    let wave = bench.file("Wave.mo", WAVE)?;
    let studio = bench.open(&[&wave]);
    browser.script("return saltus.start()");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.click("[data-variable=x]");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('x')?.length > 100");
    println!("rows of the long run: {}", browser.script("return saltus.store.runs.get(1).rows"));
    browser.script("saltus.plots.range = null; const c = document.querySelector('.results canvas'); const b = c.getBoundingClientRect(); for (let i = 0; i < 12; i++) c.dispatchEvent(new WheelEvent('wheel', { deltaY: -120, clientX: b.x + b.width / 2, clientY: b.y + b.height / 2, bubbles: true, cancelable: true }));");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let at = browser.script("const b = document.querySelector('.results canvas').getBoundingClientRect(); return [b.x + b.width * 0.8, b.y + b.height / 2, b.width * 0.6]");
    let place = |i: usize| at[i].as_f64().unwrap_or(0.0);
    frames(browser, "pan over 10⁶ points", (place(0), place(1)), (place(0) - place(2), place(1)), repeat);
    drop(studio);

    let grid = bench.file("Grid.mo", &resistors(10))?;
    let studio = bench.open(&[&grid]);
    browser.wait("document.querySelectorAll('.stage .component').length === 100");
    frames(
        browser,
        "drag one of 100 components, 180 connections",
        bench.place(-82.0, -78.0),
        bench.place(-42.0, -40.0),
        repeat,
    );
    drop(studio);

    if !bench.library.is_dir() {
        println!("no standard library: FullRobot is left out");
        return Ok(());
    }
    let mut robots = Vec::new();
    for _ in 0..repeat {
        let studio = robot(bench, &ball)?;
        robots.push(until(browser, &format!("saltus.open({ROBOT:?})"), "saltus.store.current.name.endsWith('FullRobot') && document.querySelectorAll('.stage .component').length > 8"));
        drop(studio);
    }
    say("open the diagram of FullRobot, library not read yet", "ms", robots);
    let studio = robot(bench, &ball)?;
    browser.script(&format!("return saltus.open({ROBOT:?})"));
    browser.wait("document.querySelectorAll('.stage .component').length > 8");
    // The model is compiled behind it; here the page alone is measured.
    browser.wait("saltus.parameters.parameters.length > 0");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let (x, y) = sheet(browser);
    frames(browser, "pan the diagram of FullRobot", (x, y), (x + 300.0, y + 120.0), repeat);
    drop(studio);

    let own = bench.file("Own.mo", &format!("model Own\n  extends {ROBOT};\n  Real x = 1;\nend Own;\n"))?;
    let library = bench.library.display().to_string();
    let studio = bench.open(&[&own, "--library", &library]);
    browser.wait("saltus.parameters.parameters.length > 0 || saltus.parameters.messages");
    let mistakes = (0..repeat).map(|_| mistake(browser, "1;", "q")).collect();
    say("mistake to message (FullRobot extended)", "ms", mistakes);
    drop(studio);
    println!("load {}", load());
    Ok(())
}

fn robot(bench: &Bench, ball: &str) -> Result<Studio> {
    let library = bench.library.display().to_string();
    let studio = bench.start(&[ball, "--library", &library]);
    bench.browser.go(&studio.address);
    bench.browser.wait(READY);
    Ok(studio)
}

/// An empty place of the sheet.
fn sheet(browser: &Browser) -> (f64, f64) {
    let at = browser.script(
        "const b = document.querySelector('.stage').getBoundingClientRect(); return [b.x + 12, b.y + b.height - 12]",
    );
    (at[0].as_f64().unwrap_or(0.0), at[1].as_f64().unwrap_or(0.0))
}

/// Milliseconds from an action until something holds, by the clock of the page.
fn until(browser: &Browser, action: &str, holds: &str) -> f64 {
    let script = format!(
        "return (async () => {{ const from = performance.now(); {action}; const limit = from + 60000; \
         while (!({holds})) {{ if (performance.now() > limit) return NaN; await new Promise((go) => setTimeout(go, 1)); }} \
         await new Promise(requestAnimationFrame); return performance.now() - from; }})()"
    );
    browser.script(&script).as_f64().unwrap_or(f64::NAN)
}

/// Milliseconds from a mistake that is typed until it is underlined; then it is taken back.
fn mistake(browser: &Browser, before: &str, text: &str) -> f64 {
    let insert = format!(
        "const e = saltus.editor; const at = e.area.value.indexOf({}); e.area.setRangeText({}, at, at, 'end'); e.typed()",
        json!(before),
        json!(text)
    );
    browser.click("#tab-text");
    browser.wait("!document.querySelector('.squiggle.error') && !saltus.editor.isSending");
    let took = until(browser, &insert, "document.querySelector('.squiggle.error')");
    browser.wait("!saltus.editor.isSending");
    browser.script("return saltus.editor.command('undo')");
    browser.wait("!document.querySelector('.squiggle.error')");
    took
}

/// Drags by real input, forth and back, and says how many frames there were and how long the longest was.
fn frames(browser: &Browser, what: &str, from: (f64, f64), to: (f64, f64), repeat: usize) {
    let (mut rates, mut longest) = (Vec::new(), Vec::new());
    for _ in 0..repeat {
        browser.script(RECORD);
        let at = |part: f64, duration: u32| json!({"type": "pointerMove", "duration": duration, "x": (from.0 + part * (to.0 - from.0)).round(), "y": (from.1 + part * (to.1 - from.1)).round()});
        let mut actions = vec![at(0.0, 0), json!({"type": "pointerDown", "button": 0})];
        actions.extend((1..=MOVES).map(|i| at(1.0 - (2.0 * i as f64 / MOVES as f64 - 1.0).abs(), PACE)));
        actions.push(json!({"type": "pointerUp", "button": 0}));
        let pointer =
            json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
        browser.command("POST", "/actions", &json!({"actions": [pointer]}));
        let times: Vec<f64> = match browser.script(RECORDED) {
            Value::Array(all) => all.iter().filter_map(Value::as_f64).collect(),
            _ => Vec::new(),
        };
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        rates.push(1e3 * gaps.len() as f64 / gaps.iter().sum::<f64>());
        longest.push(gaps.iter().copied().fold(0.0, f64::max));
    }
    say(what, "frames/s", rates);
    say("  its longest frame", "ms", longest);
}

fn say(what: &str, unit: &str, mut all: Vec<f64>) {
    all.sort_by(f64::total_cmp);
    let (low, high) = (all.first().copied().unwrap_or(f64::NAN), all.last().copied().unwrap_or(f64::NAN));
    println!("{what:52} {:8.1} {unit:9} ({low:.1} … {high:.1})", all[all.len() / 2]);
}

/// A square net of resistors.
fn resistors(n: i32) -> String {
    let (mut parts, mut lines) = (String::new(), String::new());
    for i in 0..n {
        for j in 0..n {
            let (x, y) = (20 * i - 90, 20 * j - 90);
            let _ = writeln!(
                parts,
                "  Saltus.Electrical.Resistor r{i}_{j}(R = 1) annotation (Placement(transformation(extent = {{{{{x}, {y}}}, {{{}, {}}}}})));",
                x + 12,
                y + 12
            );
            let mut connect = |to: (i32, i32), end: (i32, i32)| {
                let _ = writeln!(
                    lines,
                    "  connect(r{i}_{j}.n, r{}_{}.p) annotation (Line(points = {{{{{}, {}}}, {{{}, {}}}}}));",
                    to.0,
                    to.1,
                    x + 12,
                    y + 6,
                    end.0,
                    end.1
                );
            };
            if i + 1 < n {
                connect((i + 1, j), (x + 20, y + 6));
            }
            if j + 1 < n {
                connect((i, j + 1), (x, y + 26));
            }
        }
    }
    format!("model Grid\n{parts}equation\n{lines}end Grid;\n")
}
