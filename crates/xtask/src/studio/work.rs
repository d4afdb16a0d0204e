//! Work in two windows while a run goes on.
//!
//! A live run counts seconds. Meanwhile notes are typed, components are moved, steps are undone and made again, the file is saved, other runs are made.
//! At the end the run must have every second, both windows and the file the same text, and undoing everything gives the first text byte by byte.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};

use super::{Bench, READY, load};

const MODEL: &str = "model Work \"Counts seconds\"
  discrete Integer n(start = 0, fixed = true);
  Real x = sin(time);
  Saltus.Electrical.SineVoltage source(V = 10, f = 1) annotation (Placement(transformation(extent = {{-60, -10}, {-40, 10}})));
  Saltus.Electrical.Resistor load(R = 2) annotation (Placement(transformation(extent = {{20, -10}, {40, 10}})));
  Saltus.Electrical.Ground ground annotation (Placement(transformation(extent = {{-60, -60}, {-40, -40}})));
equation
  connect(source.p, load.p) annotation (Line(points = {{-60, 0}, {-60, 30}, {20, 30}, {20, 0}}));
  connect(source.n, ground.p) annotation (Line(points = {{-40, 0}, {-40, -40}, {-50, -40}}));
  connect(load.n, ground.p) annotation (Line(points = {{40, 0}, {40, -40}, {-50, -40}}));
  when sample(1, 1) then
    n = pre(n) + 1;
  end when;
  annotation (experiment(StopTime = 5, Interval = 0.05));
end Work;
";

/// Between two rounds of edits: as fast as a person works, and fewer steps than undo keeps.
const PAUSE: Duration = Duration::from_secs(3);
/// Behind this the notes are typed.
const HEAD: &str = "\"Counts seconds\"\n";

#[derive(Default, Debug)]
struct Counts {
    notes: usize,
    moves: usize,
    undone: usize,
    saves: usize,
    runs: usize,
    looks: usize,
}

pub fn run(bench: &Bench, span: Duration) -> Result<()> {
    let browser = &bench.browser;
    let file = bench.file("Work.mo", MODEL)?;
    let studio = bench.open(&[&file]);
    let first = browser.window();
    let second = browser.new_window();
    browser.switch(&second);
    browser.go(&studio.address);
    browser.wait(READY);
    browser.switch(&first);
    println!("load {}", load());
    browser.click("#live");
    browser.wait("saltus.store.runs.get(1)?.rows > 10");
    // Beside a live run stands what can be changed in it.
    browser.click("#tab-variables");
    browser.click("[data-variable=x]");
    let started = Instant::now();
    let mut counts = Counts::default();
    let mut notes: Vec<String> = Vec::new();
    let mut x = 30.0;
    let mut last_time = 0.0;
    let text = || browser.script("return saltus.editor.known").as_str().unwrap_or_default().to_owned();
    let settled = || browser.wait("!saltus.editor.isSending && saltus.editor.known === saltus.editor.area.value");
    while started.elapsed() < span {
        let round = counts.looks;
        browser.switch(if round.is_multiple_of(2) { &first } else { &second });
        // A note, with the keyboard.
        let note = format!("  // note {round}\n");
        browser.click("#tab-text");
        let at = format!("saltus.editor.area.value.indexOf({}) + {}", json!(HEAD), HEAD.len());
        browser.script(&format!("const at = {at}; saltus.editor.goTo(at, at)"));
        browser.keys("textarea", note.trim_end());
        browser.keys("textarea", "\u{e007}");
        settled();
        ensure!(
            text().matches(&format!("// note {round}\n")).count() == 1,
            "note {round} is not there once:\n{}",
            text()
        );
        notes.push(format!("// note {round}\n"));
        counts.notes += 1;
        // A component, by the pointer, forth and back.
        browser.click("#tab-diagram");
        browser.wait("document.querySelectorAll('.stage .component').length === 3");
        browser.wait("!saltus.diagram.isStale");
        let to = if x > 35.0 { x - 10.0 } else { x + 10.0 };
        browser.drag(bench.place(x, 3.0), bench.place(to, 3.0));
        x = to;
        let placement = format!("{{{{{},-10}},{{{},10}}}}", x - 10.0, x + 10.0);
        browser.wait(&format!("saltus.editor.known.includes({placement:?})"));
        counts.moves += 1;
        // Undone and made again.
        let before = text();
        browser.script("return saltus.editor.command('undo')");
        browser.wait(&format!("saltus.editor.known !== {}", json!(before)));
        browser.script("return saltus.editor.command('redo')");
        browser.wait(&format!("saltus.editor.known === {}", json!(before)));
        counts.undone += 1;
        if round % 3 == 2 {
            browser.script("return saltus.editor.command('save')");
            browser.wait("!saltus.store.current.document.dirty");
            ensure!(std::fs::read_to_string(&file)? == before, "the file is not what was saved");
            counts.saves += 1;
        }
        if round % 8 == 7 {
            // Another run of the text as it is now. Its answer is in both windows.
            browser.script("saltus.start()");
            counts.runs += 1;
            browser.wait(&format!("saltus.store.runs.get({})?.phase === 'done'", counts.runs + 1));
        }
        // The run goes on in both windows.
        for window in [&first, &second] {
            browser.switch(window);
            browser.wait(&format!("saltus.editor.known === {}", json!(before)));
            let time = browser.script("return saltus.store.runs.get(1)?.time").as_f64().unwrap_or(-1.0);
            ensure!(time >= last_time, "the run went back from {last_time} to {time}");
            let behind = browser.script(
                "return saltus.store.runs.get(1).time - (saltus.plots.loaded.get(1)?.points.get('x')?.at?.(-2) ?? 0)",
            );
            if window == &first && counts.looks > 0 {
                ensure!(behind.as_f64().is_some_and(|s| s < 20.0), "the plot is {behind} s behind");
            }
            last_time = time;
        }
        counts.looks += 1;
        std::thread::sleep(PAUSE);
    }
    browser.switch(&first);
    let end = browser.script("return saltus.store.runs.get(1).time").as_f64().unwrap_or(0.0);
    ensure!(end > 0.97 * span.as_secs_f64(), "the run is at {end} s after {} s", span.as_secs_f64());
    browser.script("document.getElementById('stop').click()");
    browser.wait("saltus.store.runs.get(1).phase === 'done'");

    // The run: every second was counted, every point is there.
    let answer: Value = serde_json::from_str(&studio.get("/api/state").1)?;
    let Some(live) = answer["runs"].as_array().and_then(|runs| runs.iter().find(|r| r["id"] == 1).cloned()) else {
        bail!("the run is not listed")
    };
    let end = live["time"].as_f64().unwrap_or(0.0);
    let (_, table) = studio.post("/api/table", &json!({"run": 1, "names": ["n", "x"]}));
    let mut largest_gap = 0.0f64;
    let mut worst = 0.0f64;
    let mut before: Option<f64> = None;
    let mut n = 0.0;
    for line in table.lines().skip(1) {
        let row: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        let [time, count, x] = row[..] else { bail!("a broken row: {line}") };
        largest_gap = largest_gap.max(before.map_or(0.0, |b| time - b));
        worst = worst.max((x - time.sin()).abs());
        ensure!((count - time.floor()).abs() <= 1.0, "{count} seconds at {time}");
        (before, n) = (Some(time), count);
    }
    ensure!(largest_gap < 0.0501, "a gap of {largest_gap} s");
    ensure!(worst < 1e-12, "x is wrong by {worst}");
    ensure!(n == end.floor(), "{n} seconds until {end}");

    // The text: all notes in both windows and in the file, then back to the first text and forth again.
    browser.script("return saltus.editor.command('save')");
    browser.wait("!saltus.store.current.document.dirty");
    let last = text();
    for note in &notes {
        ensure!(last.matches(note.as_str()).count() == 1, "lost: {note}");
    }
    ensure!(std::fs::read_to_string(&file)? == last, "the file is not what is shown");
    let mut n_steps = 0;
    for command in ["undo", "redo"] {
        while browser.script(&format!("return !!saltus.store.current.document.{command}")) == true {
            browser.script(&format!("return saltus.editor.command('{command}')"));
            n_steps += 1;
        }
        let expected = if command == "undo" { MODEL } else { &last };
        for window in [&second, &first] {
            browser.switch(window);
            browser.wait(&format!("saltus.editor.known === {}", json!(expected)));
        }
    }
    let complaints = browser.complaints();
    ensure!(complaints.is_empty(), "{complaints:?}");
    println!("{:.1} minutes, {counts:?}", started.elapsed().as_secs_f64() / 60.0);
    println!(
        "live run: until {end:.2} s, {} rows, {} events, largest gap {largest_gap:.3} s",
        live["rows"], live["events"]
    );
    println!(
        "text: {} notes in the file and in both windows; {n_steps} steps back to the first text and forth again",
        notes.len()
    );
    println!("load {}", load());
    Ok(())
}
