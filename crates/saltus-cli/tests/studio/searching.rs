//! Searches in the studio, and their study files.

use serde_json::{Value, json};

use crate::READY;
use crate::browser::{Browser, Studio, wait_until};
use crate::common::{Scratch, run};
use crate::views::THROW;

/// Fills a field of the dialog, as typing does.
fn fill(browser: &Browser, label: &str, text: &str) {
    let field = format!("document.querySelector('dialog [aria-label=\"{label}\"]')");
    browser.wait(&field);
    browser.script(&format!("const e = {field}; e.value = {text:?}; e.dispatchEvent(new Event('input'));"));
}

fn choose(browser: &Browser, selector: &str, value: &str) {
    browser.wait(&format!(
        "[...(document.querySelector({selector:?})?.options ?? [])].some((o) => o.value === {value:?})"
    ));
    let set = "e.dispatchEvent(new Event('change'))";
    browser.script(&format!("const e = document.querySelector({selector:?}); e.value = {value:?}; {set}"));
}

/// What the search that is shown has found.
fn found(browser: &Browser, id: u64) -> Vec<f64> {
    browser.wait(&format!("saltus.searches.searches.get({id})?.phase === 'done'"));
    serde_json::from_value(browser.script(&format!("return saltus.searches.searches.get({id}).found"))).unwrap()
}

fn is_near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() < within, "{found} for {expected}");
}

#[test]
fn a_search_is_a_study_file() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-search");
    let file = dir.file("Throw.mo", THROW);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.wait("saltus.parameters.parameters.length === 2");

    // One parameter, one target. Closed form: after a second the height is u - g/2.
    browser.click("#search");
    fill(&browser, "min of parameter 1", "0");
    fill(&browser, "max of parameter 1", "10");
    fill(&browser, "Expression 1", "maxi(y)");
    browser.click("#search-dialog .primary");
    browser.wait("/line \\d+:.*maxi/.test(document.getElementById('search-problems').textContent)");
    fill(&browser, "Expression 1", "y");
    browser.click("#search-dialog .primary");
    browser.wait("!document.querySelector('dialog')");
    is_near(found(&browser, 1)[0], 9.81 / 2.0, 1e-8);
    browser.wait("document.getElementById('search-answer')?.textContent.startsWith('u = 4.905')");
    browser.wait("document.getElementById('search-state').textContent.includes('false position')");
    // The answer is a run, and every point can be one.
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    let end = |id: u64, name: &str| {
        let (_, said) = studio.post("/api/numbers", &json!({"name": name, "runs": [id]}));
        serde_json::from_str::<Value>(&said).unwrap()["numbers"][0]["final"].as_f64().unwrap()
    };
    is_near(end(1, "y"), 0.0, 1e-8);
    let n = browser.script("return document.querySelectorAll('.study-picture [data-trial]').length").as_u64().unwrap();
    assert!(n >= 3, "both ends and the answer: {n}");
    browser.script("document.querySelector('[data-trial=\"0\"]').dispatchEvent(new MouseEvent('click'))");
    browser.wait("saltus.store.runs.get(2)?.phase === 'done'");
    is_near(end(2, "y"), -9.81 / 2.0, 1e-6);

    // Two of each: the top is u²/(2 g), the way v.
    browser.click("#search");
    browser.click("#more-unknowns");
    browser.click("#more-targets");
    for (label, text) in [
        ("min of parameter 1", "1"),
        ("max of parameter 1", "6"),
        ("min of parameter 2", "0"),
        ("max of parameter 2", "10"),
        ("Expression 1", "max(y)"),
        ("Value 1", "0.8"),
        ("Expression 2", "x"),
        ("Value 2", "3"),
    ] {
        fill(&browser, label, text);
    }
    let text = browser.script("return document.getElementById('study-file').value").as_str().unwrap().to_owned();
    browser.click("#search-dialog .primary");
    let answer = found(&browser, 2);
    let expected = [(2.0f64 * 9.81 * 0.8).sqrt(), 3.0];
    is_near(answer[0], expected[0], 1e-5);
    is_near(answer[1], expected[1], 1e-6);
    browser.wait("document.getElementById('search-up').value === 'v'");

    // The file does the same on the command line.
    let study = dir.file("throw.toml", &text);
    let (said, _) = run(&["run", &study], 0);
    assert!(said.contains("u  3.9618") && said.contains("v  3"), "{said}");

    // A file is opened; what the dialog does not show is said.
    let softest = "[model]\nclass = \"Throw\"\n[optimize]\nminimize = \"(x - 2)^2 + (y + 1)^2\"\nparameters.u = { min = 0, max = 9 }\n\
                   parameters.v = { start = 1, min = 0, max = 9 }\n[record]\nend = \"time\"\n";
    browser.click("#search");
    browser.keys("#study-open", &dir.file("softest.toml", softest));
    browser.wait("document.getElementById('search-kind').value === 'smallest'");
    browser.wait("document.getElementById('search-problems').textContent.includes('record')");
    assert_eq!(browser.script("return document.getElementById('study-file').value"), json!(softest));
    browser.click("#search-dialog .primary");
    let answer = found(&browser, 3);
    is_near(answer[0], 9.81 / 2.0 - 1.0, 1e-3);
    is_near(answer[1], 2.0, 1e-3);
    browser.wait("document.querySelector('.spot.best')");

    // Another window knows the searches; what is thrown away is gone in all.
    let second = browser.new_window();
    browser.switch(&second);
    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#tab-search");
    browser.wait("document.querySelectorAll('#search-list option').length === 3");
    choose(&browser, "#search-list", "1");
    browser.wait(&format!("document.querySelectorAll('[data-trial]').length === {n}"));
    assert_eq!(studio.post("/api/search/remove", &json!({"search": 3})).0, 200);
    browser.wait("document.querySelectorAll('#search-list option').length === 2");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn searches_end_and_refuse_in_order() {
    let dir = Scratch::new("studio-search-api");
    let file = dir.file("Throw.mo", THROW);
    let studio = Studio::start(&[&file], &dir.path("state"));
    let search = |text: &str| {
        let text = if text.contains("[model]") { text.to_owned() } else { format!("model.class = \"Throw\"\n{text}") };
        let (status, said) = studio.post("/api/search", &json!({"text": text}));
        (status, serde_json::from_str::<Value>(&said).unwrap_or_default())
    };
    let goal = "[search]\nparameters.u = { min = 0, max = 10 }\ntargets.y = 0\n";
    // A run that takes for ever is stopped.
    let (status, begun) =
        search(&format!("[experiment]\nstop-time = 1e7\nsolver = \"euler\"\nfixed-step = 1e-3\n{goal}"));
    assert_eq!((status, &begun["search"]["id"]), (200, &json!(1)));
    let now = |id: u64| {
        let state: Value = serde_json::from_str(&studio.get("/api/state").1).unwrap();
        state["searches"].as_array().unwrap().iter().find(|s| s["id"] == id).cloned().unwrap_or_default()
    };
    wait_until("the search does not begin", || {
        assert_ne!(now(1)["phase"], "failed", "{}", now(1));
        now(1)["phase"] == "running"
    });
    assert_eq!(studio.post("/api/search/cancel", &json!({"search": 1})).0, 200);
    wait_until("the search does not stop", || now(1)["phase"] == "cancelled");
    // Nothing between the bounds: the reason is said.
    search("[search]\nparameters.u = { min = 0, max = 1 }\ntargets.y = 5\n");
    wait_until("the search does not end", || now(2)["phase"] == "failed");
    assert!(now(2)["messages"][0]["message"].as_str().unwrap().contains("on both sides of 5"), "{}", now(2));
    // What is not a search, names that do not exist, and nonsense.
    assert_eq!(search("[model]\nclass = \"Throw\"\n").0, 422);
    assert_eq!(search(&format!("{goal}most-runs = 1000000\n")).0, 422);
    assert_eq!(search(&format!("{goal}[vary.parameters]\nv = [1, 2]\n")).0, 422);
    assert_eq!(search("[search\n").1["messages"][0]["severity"], "error");
    search(&goal.replace("targets.y", "targets.missing"));
    wait_until("the search does not end", || now(3)["phase"] == "failed");
    assert!(now(3)["messages"][0]["message"].as_str().unwrap().contains("missing"), "{}", now(3));
    for (path, body) in [("search", json!({})), ("study", json!({"text": 5})), ("search/cancel", json!({"search": 99}))]
    {
        assert!((400..500).contains(&studio.post(&format!("/api/{path}"), &body).0), "{path}");
    }
    assert_eq!(studio.get("/api/trials?search=99").0, 404);
}
