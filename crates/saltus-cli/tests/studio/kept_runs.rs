//! Runs that survive the server.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::browser::{Browser, Studio, wait_until};
use crate::common::Scratch;
use crate::{BALL, READY};

/// Files of the state directory with this ending.
fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|e| e == ending) && path.parent().unwrap().ends_with("runs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn about(state: &str) -> Vec<Value> {
    let read = |path: PathBuf| serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok();
    files(Path::new(state), "json").into_iter().filter_map(read).collect()
}

/// The server is killed in the moment in which a run is said to be over, some times, with more and more rows.
#[test]
fn what_was_said_to_be_done_is_done_for_the_next_server() {
    let dir = Scratch::new("studio-ended");
    let (file, state) = (dir.file("Ball.mo", BALL), dir.path("state"));
    let mut studio = Studio::start(&[&file], &state);
    for id in 1..=5u64 {
        let settings = json!({"interval": 0.01 / 10f64.powi(id as i32 - 1)});
        let (status, said) = studio.post("/api/run", &json!({"class": "Ball", "values": [], "settings": settings}));
        assert_eq!(status, 200, "{said}");
        let mut rows = Value::Null;
        wait_until("the run does not end", || {
            let known: Value = serde_json::from_str(&studio.get("/api/state").1).unwrap();
            let run = known["runs"].as_array().unwrap().iter().find(|r| r["id"] == id).cloned().unwrap_or_default();
            rows = run["rows"].clone();
            run["phase"] == "done"
        });
        drop(studio);
        let kept = about(&state);
        let run = kept.iter().find(|run| run["id"] == id).unwrap_or_else(|| panic!("{id}: {kept:?}"));
        assert_eq!((&run["phase"], &run["rows"]), (&json!("done"), &rows), "{run}");
        studio = Studio::start(&[&file], &state);
        let (_, table) = studio.post("/api/table", &json!({"run": id, "names": ["h"]}));
        assert_eq!(Some(table.lines().count() as u64 - 1), rows.as_u64());
    }
}

#[test]
fn runs_are_there_after_the_server_was_killed() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-kept");
    let (file, state) = (dir.file("Ball.mo", BALL), dir.path("state"));
    let studio = Studio::start(&[&file], &state);
    browser.go(&studio.address);
    browser.wait(READY);
    browser.script("saltus.currentValues().set('e', '0.8')");
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.click("[data-variable=h]");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('h')?.length > 20");
    // With the clock, and without a loss at the impact: it does not end by itself.
    browser.script("saltus.currentValues().set('e', '1')");
    browser.click("#live");
    browser.wait("saltus.store.runs.get(2)?.rows > 10");
    browser.keys("#reference", &dir.file("measured.csv", "\"time\",\"h\"\n0,1\n0.4,0.25\n1,0.5\n"));
    browser.wait("saltus.store.runs.get(3)?.rows === 3");
    let is_kept = |id: u64, phase: &str, rows: u64| {
        about(&state).iter().any(|run| run["id"] == id && run["phase"] == phase && run["rows"].as_u64() >= Some(rows))
    };
    wait_until("the run is not on the disk", || {
        is_kept(1, "done", 20) && is_kept(2, "running", 1) && is_kept(3, "done", 3)
    });
    drop(studio);
    browser.wait("!saltus.store.isConnected");

    // The open page finds the runs again; the one that was under way will not end.
    let studio = Studio::start(&[&file], &state);
    browser.wait("saltus.store.isConnected && saltus.store.runs.get(2)?.phase === 'interrupted'");
    browser.click("#tab-runs");
    browser.wait("document.querySelector('[data-run=\"2\"] .phase').textContent.includes('interrupted')");
    assert_eq!(browser.script("return saltus.store.runs.size"), 3);
    assert_eq!(browser.script("return saltus.store.runs.get(1).values"), json!([["e", "0.8"]]));

    // So does a new one, with values, units, events and their lines, without a model.
    browser.script("sessionStorage.clear()");
    // Requests that nobody answered meanwhile.
    browser.complaints();
    browser.go("about:blank");
    browser.go(&studio.address);
    browser.wait(READY);
    browser.script("saltus.choose(saltus.store.runs.get(1)); saltus.store.runs.get(1).visible = true;");
    browser.click("[data-variable=h]");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('h')?.length > 20");
    // Closed form: the ball falls for sqrt(2/g), and rises to e² of its height within e times that.
    let top = (2.0f64 / 9.81).sqrt() * 1.8;
    let height = browser.script(&format!("return saltus.plots.value(saltus.store.runs.get(1), 'h', {top})"));
    assert!((height.as_f64().unwrap() - 0.64).abs() < 1e-3, "{height}");
    let known = browser.script("const v = saltus.store.variables.get('h'); return [v.unit, v.description, saltus.store.variables.get('e').value]");
    assert_eq!(known, json!(["m", "Height", 0.8]));
    browser.click("#tab-events");
    browser.click("[data-event='1']");
    browser.wait("document.querySelector('.line.marked')?.textContent.includes('when h < 0')");
    assert_eq!(browser.complaints(), Vec::<String>::new());

    // What is thrown away is gone for good; numbers are not used again.
    for id in 1..=2 {
        assert_eq!(studio.post("/api/remove", &json!({"run": id})).0, 200);
    }
    wait_until("the files stay", || files(Path::new(&state), "parquet").len() == 1);
    drop(studio);
    let studio = Studio::start(&[&file], &state);
    let runs: Value = serde_json::from_str(&studio.get("/api/state").1).unwrap();
    assert_eq!(
        runs["runs"].as_array().unwrap().iter().map(|r| r["class"].clone()).collect::<Vec<_>>(),
        ["measured.csv"]
    );
    let (_, table) = studio.post("/api/table", &json!({"run": 3, "names": ["h"]}));
    assert_eq!(table, "time,\"h\"\n0,1\n0.4,0.25\n1,0.5\n");

    // Damaged files are no reason not to start.
    drop(studio);
    for path in files(Path::new(&state), "parquet") {
        std::fs::write(path, "PAR1").unwrap();
    }
    let studio = Studio::start(&[&file], &state);
    assert_eq!(studio.get("/api/variables?run=3"), (200, r#"{"variables":[],"texts":{}}"#.to_owned()));
}
