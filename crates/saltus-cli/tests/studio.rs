//! The studio, as a browser and as an attacker see it. Without chromedriver the tests of the first kind say that they were skipped.

mod browser;
mod common;
#[path = "studio/diagrams.rs"]
mod diagrams;
#[path = "studio/kept_runs.rs"]
mod kept_runs;
#[path = "studio/panels.rs"]
mod panels;
#[path = "studio/searching.rs"]
mod searching;
#[path = "studio/shown_units.rs"]
mod shown_units;
#[path = "studio/structural.rs"]
mod structural;
#[path = "studio/surprises.rs"]
mod surprises;
#[path = "studio/views.rs"]
mod views;

use browser::{Browser, Studio, raw, wait_until};
use common::{Scratch, run};
use serde_json::{Value, json};

const BALL: &str = "model Ball \"Bounces\"
  parameter Real e = 0.5 \"Part of the speed that is left\"; // kept
  Real h(start = 1, fixed = true, unit = \"m\") \"Height\";
  Real v(start = 0, fixed = true, unit = \"m/s\");
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 1));
end Ball;
";

const READY: &str = "document.documentElement.dataset.ready === 'true'";

#[test]
fn a_model_is_opened_changed_run_plotted_and_edited() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-work");
    let file = dir.file("Ball.mo", BALL);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.wait(
        "document.querySelector('.lines').textContent.includes('Real h') && document.querySelector('.w-keyword')",
    );

    // Another value for this run alone.
    browser.click("#tab-parameters");
    browser.keys("#parameter-e", "0.8\u{e007}");
    browser.wait("document.querySelector('.field.changed')");
    browser.click("#run");
    browser.wait("[...saltus.store.runs.values()].some((r) => r.phase === 'done')");
    browser.click("[data-variable=h]");
    browser.click("[data-variable=v]");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('v')?.length > 20");
    // Closed form: the ball falls for sqrt(2/g), and rises to e² of its height within e times that.
    let fall = (2.0f64 / 9.81).sqrt();
    let top = fall * 1.8;
    let height = browser.script(&format!("return saltus.plots.value(saltus.store.run, 'h', {top})"));
    assert!((height.as_f64().unwrap() - 0.64).abs() < 1e-3, "{height}");
    assert_eq!(dir.read("Ball.mo"), BALL, "a run changes no text");

    // The same model again, without compiling, beside the first one.
    browser.click("#overlay");
    browser.click("#run");
    browser.wait("saltus.store.runs.get(2)?.phase === 'done'");
    browser.wait("document.querySelectorAll('.legend .key').length === 4");

    // An event: the plot and the text go there.
    browser.click("[data-event='1']");
    browser.wait("document.querySelector('.line.marked')?.textContent.includes('when h < 0')");
    let cursor = browser.script("return saltus.plots.cursor").as_f64().unwrap();
    assert!((cursor - fall).abs() < 1e-6, "{cursor}");

    // Typing: a mistake is shown, mended by undo, and the file is what it was.
    browser.script(
        "saltus.editor.goTo(saltus.editor.area.value.indexOf('der(h)'), saltus.editor.area.value.indexOf('der(h)'))",
    );
    browser.keys("textarea", "x");
    browser.wait("document.querySelector('.squiggle.error')");
    browser.wait("saltus.store.current.document.dirty");
    browser.keys("textarea", "\u{e009}z\u{e000}");
    browser.wait("!saltus.store.current.document.dirty && !document.querySelector('.squiggle.error')");
    browser.script(
        "saltus.editor.goTo(saltus.editor.area.value.indexOf('0.5'), saltus.editor.area.value.indexOf('0.5') + 3)",
    );
    browser.keys("textarea", "0.6");
    browser.wait("saltus.store.current.document.dirty");
    browser.wait("saltus.editor.known === saltus.editor.area.value");
    browser.keys("textarea", "\u{e009}s\u{e000}");
    browser.wait("!saltus.store.current.document.dirty");
    assert_eq!(dir.read("Ball.mo"), BALL.replace("0.5", "0.6"));
    wait_until("undoing does not end", || {
        let goes_on = browser.script("return !!saltus.store.current.document.undo") == true;
        if goes_on {
            browser.keys("textarea", "\u{e009}z\u{e000}");
            browser.wait("!saltus.editor.isSending");
        }
        !goes_on
    });
    browser.wait(&format!("saltus.editor.area.value === {}", json!(BALL)));
    browser.keys("textarea", "\u{e009}s\u{e000}");
    browser.wait("!saltus.store.current.document.dirty");
    assert_eq!(dir.read("Ball.mo"), BALL, "byte for byte what it was");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn two_windows_and_two_servers_lose_nothing() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-windows");
    let file = dir.file("Ball.mo", BALL);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    let first = browser.window();
    let second = browser.new_window();
    browser.switch(&second);
    browser.go(&studio.address);
    browser.wait(READY);

    // Both type at once, in different places. The answer to the first edit comes after the news of the other one.
    browser.script(
        "const real = window.fetch; window.fetch = async (path, options) => { const answer = await real(path, options); \
         if (String(path).endsWith('/edit')) await new Promise((go) => setTimeout(go, 400)); return answer; };",
    );
    let insert = |at: &str, text: &str| {
        format!(
            "const e = saltus.editor; const at = e.area.value.indexOf({at:?}); e.area.setRangeText({text:?}, at, at, 'end'); e.typed();"
        )
    };
    browser.script(&insert("Real v", "Real second = 2; "));
    browser.switch(&first);
    browser.script(&insert("Real h", "Real first = 1; "));
    let both = BALL.replace("Real v", "Real second = 2; Real v").replace("Real h", "Real first = 1; Real h");
    for window in [&first, &second] {
        browser.switch(window);
        browser.wait(&format!("saltus.editor.area.value === {}", json!(both)));
    }

    // The server ends with text that is not saved; more is typed; another server is there.
    browser.switch(&first);
    browser.wait("saltus.editor.known === saltus.editor.area.value");
    drop(studio);
    browser.wait("!saltus.store.isConnected");
    browser.script(&insert("Real first", "Real third = 3; "));
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.wait("saltus.store.isConnected && saltus.editor.known === saltus.editor.area.value");
    let all = both.replace("Real first", "Real third = 3; Real first");
    for window in [&first, &second] {
        browser.switch(window);
        browser.wait(&format!("saltus.editor.area.value === {}", json!(all)));
    }
    assert_eq!(dir.read("Ball.mo"), BALL, "nobody has saved");

    // Somebody else writes the file: nothing is overwritten without a word.
    std::thread::sleep(std::time::Duration::from_millis(20));
    dir.file("Ball.mo", BALL.replace("9.81", "1.62"));
    browser.wait("saltus.store.current.document.changedOnDisk");
    let (status, _) = studio.post("/api/save", &json!({"path": browser.script("return saltus.editor.path")}));
    assert_eq!(status, 409);
    assert_eq!(dir.read("Ball.mo"), BALL.replace("9.81", "1.62"));
}

/// Texts of a model that try to become a part of the page.
const HOSTILE: &str = "model Evil \"<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\"
  parameter Real 'a<script>window.hacked=3</script>' = 1 \"<svg onload=window.hacked=4>\";
  Real x(start = 1, fixed = true, unit = \"<script>window.hacked=5</script>\") \"\\\"><img src=x onerror=window.hacked=6>\";
  type E = enumeration('<img src=x onerror=window.hacked=7>', b);
  E mode = if x > 0.5 then E.'<img src=x onerror=window.hacked=7>' else E.b;
equation
  der(x) = -x;
  assert(x > 0.7, \"<img src=x onerror=window.hacked=8>\", AssertionLevel.warning);
  annotation(Documentation(info = \"<html><script>parent.hacked = 9</script><img src=x onerror='parent.hacked = 10'><p onclick='parent.hacked = 11'>text</p>
    <a href='javascript:parent.hacked=12'>link</a><iframe src='javascript:parent.parent.hacked=13'></iframe></html>\"));
end Evil;
";

#[test]
fn texts_of_a_model_never_run() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-evil");
    let file = dir.file("Evil.mo", HOSTILE);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#tab-documentation");
    browser.wait("document.querySelector('iframe')?.contentDocument?.body?.innerText.includes('text')");
    browser.script("const d = document.querySelector('iframe').contentDocument; d.querySelectorAll('a,p').forEach((e) => e.click());");
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    // The run may be over before its variables have arrived.
    browser.wait("saltus.store.variables.has('x')");
    browser.script("for (const v of saltus.store.variables.keys()) saltus.plots.toggle(v)");
    browser.wait("saltus.plots.loaded.get(1)?.points.get('x')?.length > 20");
    for tab in ["parameters", "variables", "library", "text", "problems", "runs", "events"] {
        browser.click(&format!("#tab-{tab}"));
    }
    browser.click("[data-event='0']");
    browser.script("saltus.plots.picture()");
    let found = browser.script("return [window.hacked ?? null, document.scripts.length, document.querySelector('[onerror],[onclick],[onload]') === null]");
    assert_eq!(found, json!([null, 1, true]));
    // Text that tries to be a script in the frame does not run there either; the policy would say so here.
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn nobody_else_is_answered() {
    let dir = Scratch::new("studio-gate");
    let file = dir.file("Ball.mo", BALL);
    dir.file("secret.txt", "secret");
    let studio = Studio::start(
        &[&file, "--port", "0", "--library", &dir.dir(), "--allow-io", "--allow-external"],
        &dir.path("state"),
    );
    let (port, token) = (studio.port, studio.token.clone());
    let status = |request: &str| raw(port, request).0;
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let key = format!("X-Saltus-Token: {token}\r\n");
    assert_eq!(studio.get("/api/state").0, 200);

    // Without the token, or with another one.
    assert_eq!(status(&format!("GET /api/state HTTP/1.1\r\n{host}\r\n")), 401);
    assert_eq!(status(&format!("GET /api/state?token={token} HTTP/1.1\r\n{host}\r\n")), 401);
    assert_eq!(status(&format!("GET /api/state HTTP/1.1\r\n{host}X-Saltus-Token: {}\r\n\r\n", "0".repeat(32))), 401);
    assert_eq!(status(&format!("GET /api/stream HTTP/1.1\r\n{host}\r\n")), 401);
    // DNS rebinding: the name of somebody else leads here.
    for other in [
        "evil.example",
        "evil.example:80",
        &format!("evil.example:{port}"),
        &format!("127.0.0.1.evil.example:{port}"),
        "",
    ] {
        assert_eq!(status(&format!("GET / HTTP/1.1\r\nHost: {other}\r\n\r\n")), 421, "{other}");
        assert_eq!(status(&format!("GET /api/state HTTP/1.1\r\nHost: {other}\r\n{key}\r\n")), 421, "{other}");
    }
    assert_eq!(status(&format!("GET / HTTP/1.1\r\n{key}\r\n")), 421);
    // Pages of other origins, with and without the token; a question before the question is not answered with a permission.
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", &format!("https://127.0.0.1:{port}")] {
        assert_eq!(status(&format!("GET /api/state HTTP/1.1\r\n{host}{key}Origin: {origin}\r\n\r\n")), 403, "{origin}");
        let (status, head, _) = raw(port, &format!("OPTIONS /api/edit HTTP/1.1\r\n{host}Origin: {origin}\r\n\r\n"));
        assert!(status == 403 && !head.to_lowercase().contains("access-control"), "{head}");
    }
    assert_eq!(status(&format!("GET /api/state HTTP/1.1\r\n{host}{key}Sec-Fetch-Site: cross-site\r\n\r\n")), 403);
    // A form or a link of another page changes nothing.
    let body = r#"{"path":"x"}"#;
    let length = body.len();
    let form =
        format!("POST /api/save HTTP/1.1\r\n{host}Content-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}");
    assert_eq!(status(&form), 401);
    assert_eq!(studio.get("/api/save").0, 404, "asking changes nothing");

    // Paths lead to nothing but the files of the program and open documents.
    let secret = dir.path("secret.txt");
    for path in [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/main.js/../../secret.txt",
        "/studio.css%00.txt",
    ] {
        assert_eq!(studio.get(path).0, 404, "{path}");
    }
    for path in [secret.as_str(), "/etc/passwd", "../secret.txt", ""] {
        for question in ["document", "highlight", "complete", "hover", "definition"] {
            let (status, said) = studio.get(&format!("/api/{question}?path={path}&offset=0"));
            assert!(status == 404 && !said.contains("secret"), "{question} {path}: {said}");
        }
        for request in ["edit", "save", "undo", "reload", "format"] {
            let body = json!({"path": path, "version": 1, "start": 0, "end": 0, "text": "x"});
            assert!(studio.post(&format!("/api/{request}"), &body).0 >= 400, "{request} {path}");
        }
        assert_eq!(studio.get(&format!("/api/class?name={path}")).0, 404);
    }
    assert_eq!(dir.read("secret.txt"), "secret");
    // Nonsense has an answer, and the server is still there.
    for nonsense in ["{", "[]", "null", r#"{"run":-1}"#, r#"{"run":1e99}"#, r#"{"class":5}"#] {
        for request in ["run", "series", "values", "table", "set", "cancel", "remove", "edit", "check"] {
            let length = nonsense.len();
            let (status, ..) = raw(
                port,
                &format!("POST /api/{request} HTTP/1.1\r\n{host}{key}Content-Length: {length}\r\n\r\n{nonsense}"),
            );
            assert!((400..500).contains(&status), "{request} {nonsense}: {status}");
        }
    }
    let (_, head, _) = raw(port, &format!("GET / HTTP/1.1\r\n{host}\r\n"));
    for policy in
        ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "nosniff", "no-referrer", "no-store"]
    {
        assert!(head.contains(policy), "{head}");
    }
    assert!(!head.contains("unsafe"), "{head}");
    assert_eq!(studio.get("/api/state").0, 200);
}

#[test]
fn documents_runs_and_results_are_served() {
    let dir = Scratch::new("studio-api");
    let file = dir.file("Ball.mo", BALL);
    let studio = Studio::start(&[&file], &dir.path("state"));
    let get = |path: &str| serde_json::from_str::<Value>(&studio.get(path).1).unwrap();
    let post = |path: &str, body: Value| {
        let (status, said) = studio.post(path, &body);
        (status, serde_json::from_str::<Value>(&said).unwrap_or_default())
    };
    assert_eq!(get("/api/state")["class"], "Ball");
    let tree = get("/api/tree");
    assert_eq!(tree["classes"][0]["full"], "Ball", "the user's own first");
    assert!(tree["classes"].as_array().unwrap().iter().any(|c| c["full"] == "Saltus" && c["children"] == true));
    let opened = get("/api/class?name=Ball");
    assert_eq!((opened["simulates"].clone(), opened["text"].clone()), (json!(true), json!(BALL)));
    let path = opened["document"]["path"].as_str().unwrap().to_owned();
    let parameters = get("/api/parameters?class=Ball");
    assert_eq!(
        (parameters["parameters"][0]["name"].clone(), parameters["parameters"][0]["value"].clone()),
        (json!("e"), json!(0.5))
    );

    // An edit of an old version brings the present text back.
    let edit = |version: u64, text: &str| json!({"path": path, "version": version, "start": 0, "end": 0, "text": text});
    let version = opened["document"]["version"].as_u64().unwrap();
    assert_eq!(post("/api/edit", edit(version, "// a\n")).0, 200);
    let (status, stale) = post("/api/edit", edit(version, "// b\n"));
    assert_eq!(
        (status, stale["text"].clone(), stale["version"].clone()),
        (409, json!(format!("// a\n{BALL}")), json!(version + 1))
    );
    assert_eq!(post("/api/undo", json!({"path": path})).1["text"], json!(BALL));

    // A file that appears in a directory is a class of the tree.
    let folder = Scratch::new("studio-folder");
    let other = Studio::start(&[&folder.dir()], &dir.path("state"));
    folder.file("New.mo", "model New end New;");
    wait_until("the file is not noticed", || other.get("/api/class?name=New").0 == 200);

    // A library's text is looked at, not changed.
    let shipped = get("/api/class?name=Saltus.Electrical.Resistor");
    let shipped = shipped["document"]["path"].as_str().unwrap().to_owned();
    assert_eq!(post("/api/edit", json!({"path": shipped, "version": 1, "start": 0, "end": 0, "text": "x"})).0, 403);

    let run = |body: Value| {
        post("/api/run", body).1["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["id"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    let state = |id: u64| get("/api/state")["runs"].as_array().unwrap().iter().find(|r| r["id"] == id).unwrap().clone();
    let done = |id: u64| {
        let is_over = || ["done", "failed", "cancelled"].contains(&state(id)["phase"].as_str().unwrap());
        wait_until("the run does not end", is_over);
        state(id)
    };
    let varied =
        run(json!({"class": "Ball", "vary": {"name": "e", "values": [0.2, 0.4, 0.6]}, "settings": {"stop": 0.6}}));
    assert_eq!(varied.len(), 3);
    for (id, e) in varied.iter().zip([0.2, 0.4, 0.6]) {
        assert_eq!(done(*id)["phase"], "done");
        let (_, table) = studio.post("/api/table", &json!({"run": id, "names": ["v"]}));
        // Closed form: speeds before and after the impact at sqrt(2/g) are sqrt(2 g) and e times that.
        let expected = e * (2.0f64 * 9.81).sqrt();
        let highest = table.lines().skip(1).filter_map(|l| l.split(',').nth(1)?.parse().ok()).fold(0.0f64, f64::max);
        assert!((highest - expected).abs() < 1e-5, "{highest} for {expected}");
    }
    let events = get(&format!("/api/events?run={}&filter=state", varied[0]));
    assert_eq!(events["events"][0]["causes"][0]["place"]["line"], 8);
    let broken = run(json!({"class": "Ball", "values": [["e", "blue"]]}));
    let broken = done(broken[0]);
    assert!(
        broken["phase"] == "failed" && broken["messages"][0]["message"].as_str().unwrap().contains("blue"),
        "{broken}"
    );
    // With the clock, until it is stopped: a value is set in the middle of it.
    let endless = run(json!({"class": "Ball", "live": 1}));
    wait_until("the live run does not move", || state(endless[0])["time"].as_f64().is_some_and(|t| t >= 0.1));
    assert_eq!(post("/api/set", json!({"run": endless[0], "name": "e", "value": 0.1})).0, 200);
    assert_eq!(post("/api/cancel", json!({"run": endless[0]})).0, 200);
    let ended = done(endless[0]);
    assert!(ended["rows"].as_u64().unwrap() > 2 && ended["time"].as_f64().unwrap() > 0.1, "{ended}");
    assert_eq!(post("/api/set", json!({"run": endless[0], "name": "e", "value": 0.1})).0, 409);
}

#[test]
fn results_of_a_file_lie_over_those_of_the_model() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-reference");
    let file = dir.file("Ball.mo", BALL);
    let reference = dir.file("measured.csv", "\"time\",\"h\"\n0,1\n0.4,0.25\n1,0.5\n");
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.click("[data-variable=h]");
    browser.keys("#reference", &reference);
    browser.wait("saltus.plots.loaded.get(2)?.points.get('h')?.length === 6");
    // Half way between the second and the third row, and still the variables of the model.
    let value = browser.script("return saltus.plots.value(saltus.store.runs.get(2), 'h', 0.7)");
    assert!((value.as_f64().unwrap() - 0.375).abs() < 1e-12, "{value}");
    assert_eq!(browser.script("return saltus.store.run.id"), 1);
    assert_eq!(browser.script("return saltus.store.variables.get('h').unit"), "m");
    browser.wait("document.querySelector('.legend').textContent.includes('measured.csv')");
    browser.keys("#reference", &dir.file("broken.mat", "no matrix"));
    browser.wait("document.getElementById('notice')?.textContent.includes('broken.mat')");
    let (status, _) = studio.post("/api/reference?name=../secret.txt", &json!({}));
    assert_eq!(status, 400);
}

#[test]
fn what_cannot_be_opened_is_said() {
    let dir = Scratch::new("studio-wrong");
    let (_, said) = run(&["studio", &dir.path("missing.mo"), "--no-open"], 1);
    assert!(said.contains("E0079") && said.contains("missing.mo"), "{said}");
}

const CIRCUIT: &str = "model Circuit \"A rectifier\" // with a comment
  Saltus.Electrical.SineVoltage source(V = 10, f = 1)
    annotation (Placement(transformation(extent = {{-60, -10}, {-40, 10}}))); // here
  Saltus.Electrical.Diode diode annotation (Placement(transformation(extent = {{-20, 20}, {0, 40}})));
  Saltus.Electrical.Resistor load(R = 2) annotation (Placement(transformation(extent = {{20, -10}, {40, 10}})));
  Saltus.Electrical.Ground ground annotation (Placement(transformation(extent = {{-60, -60}, {-40, -40}})));
equation
  connect(source.p, diode.p) annotation (Line(points = {{-60, 0}, {-60, 30}, {-20, 30}}));
  connect(diode.n, load.p) annotation (Line(points = {{0, 30}, {20, 30}, {20, 0}}));
  connect(source.n, ground.p) annotation (Line(points = {{-40, 0}, {-40, -40}, {-50, -40}}));
  annotation (experiment(StopTime = 2));
end Circuit;
";

#[test]
fn a_diagram_is_edited_as_text() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-diagram");
    let file = dir.file("Circuit.mo", CIRCUIT);
    let studio = Studio::start(&[&file], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.wait("document.querySelectorAll('.stage .component').length === 4");
    browser.wait("document.querySelectorAll('.stage .connection').length === 3");

    // Where something of the picture is on the page.
    let place = |x: f64, y: f64| {
        let script = format!(
            "const p = new DOMPoint({x}, {}).matrixTransform(saltus.diagram.root.getScreenCTM()); return [p.x, p.y]",
            -y
        );
        let at = browser.script(&script);
        (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
    };
    // Moved to the right by ten: one placement changes, and nothing else but the ends of its line.
    browser.drag(place(30.0, 3.0), place(40.0, 3.0));
    browser.wait("saltus.store.current.document.dirty");
    let text = |browser: &Browser| browser.script("return saltus.editor.known").as_str().unwrap().to_owned();
    browser.wait("saltus.editor.known.includes('{{30,-10},{50,10}}')");
    let moved = text(&browser);
    let changed: Vec<&str> = moved.lines().filter(|line| !CIRCUIT.contains(line)).collect();
    assert_eq!(changed.iter().filter(|line| line.contains("Placement")).count(), 1, "{changed:?}");
    assert_eq!(moved.lines().count(), CIRCUIT.lines().count());

    // A line from pin to pin.
    browser.wait("document.querySelectorAll('.stage .connection').length === 3");
    browser.drag(place(50.0, 0.0), place(-50.0, -40.0));
    browser.wait("document.querySelectorAll('.stage .connection').length === 4");
    assert!(text(&browser).contains("connect(load.n, ground.p)"), "{}", text(&browser));

    // It runs; the diode's events mark it.
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.wait("document.querySelector('[data-event=\"1\"]')");
    browser.click("[data-event='1']");
    browser.wait("document.querySelector('.marked-frame')");

    // A value from the dialog is a modification in the text.
    browser.script("saltus.diagram.selected = new Set(['load']); saltus.diagram.parameters()");
    browser.wait("document.getElementById('dialog-R')");
    browser.script("const e = document.getElementById('dialog-R'); e.value = '5'; e.dispatchEvent(new Event('input'))");
    browser.click("#parameter-dialog .primary");
    browser.wait("/load\\(R ?= ?5\\)/.test(saltus.editor.known)");

    for _ in 0..10 {
        if browser.script("return !!saltus.store.current.document.undo") != true {
            break;
        }
        browser.script("return saltus.editor.command('undo')");
    }
    browser.wait(&format!("saltus.editor.known === {}", json!(CIRCUIT)));
    browser.script("return saltus.editor.command('save')");
    assert_eq!(dir.read("Circuit.mo"), CIRCUIT, "byte for byte what it was");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
