//! What happens around the studio while it is open: other programs write files, texts change after a run, strangers connect.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::{BALL, READY};
use crate::browser::{Browser, Studio, raw, wait_until};
use crate::common::Scratch;

fn json_of((status, said): (u16, String)) -> Value {
    assert_eq!(status, 200, "{said}");
    serde_json::from_str(&said).unwrap()
}

/// Runs a class to its end; the state of the run.
fn run(studio: &Studio, class: &str) -> Value {
    let begun = json_of(studio.post("/api/run", &json!({"class": class, "values": [], "settings": {}})));
    let id = begun["runs"][0]["id"].clone();
    let mut found = Value::Null;
    wait_until("the run does not end", || {
        let state = json_of(studio.get("/api/state"));
        let run = state["runs"].as_array().unwrap().iter().find(|run| run["id"] == id).cloned();
        found = run.unwrap_or_default();
        ["done", "failed"].contains(&found["phase"].as_str().unwrap_or_default())
    });
    found
}

#[test]
fn a_file_that_others_change_counts_although_it_is_not_open() {
    let dir = Scratch::new("studio-others");
    let base = |value: f64| format!("model Base\n  Real x = {value:?};\nend Base;\n");
    dir.file("models/Base.mo", base(1.0));
    dir.file("models/User.mo", "model User\n  extends Base;\n  extends Shared;\nend User;\n");
    dir.file("library/Shared.mo", "model Shared\n  Real y = 1.5;\nend Shared;\n");
    let studio = Studio::start(&[&dir.path("models"), "--library", &dir.path("library")], &dir.path("state"));
    let opened = json_of(studio.get("/api/class?name=User"));
    let last = |name: &str| {
        let (_, table) = studio.post("/api/table", &json!({"run": run(&studio, "User")["id"], "names": [name]}));
        table.lines().last().and_then(|line| line.split(',').nth(1)?.parse::<f64>().ok())
    };
    assert_eq!((last("x"), last("y")), (Some(1.0), Some(1.5)));
    dir.file("models/Base.mo", base(22.0));
    dir.file("library/Shared.mo", "model Shared\n  Real y = 17.5;\nend Shared;\n");
    wait_until("the change is not noticed", || last("x") == Some(22.0) && last("y") == Some(17.5));
    // What is open here and not saved is not taken away by that.
    let (path, version) = (opened["document"]["path"].clone(), opened["document"]["version"].clone());
    let edit = json!({"path": path, "version": version, "start": 0, "end": 0, "text": "// kept\n"});
    json_of(studio.post("/api/edit", &edit));
    dir.file("models/Base.mo", base(333.0));
    wait_until("the change is not noticed", || last("x") == Some(333.0));
    let text = json_of(studio.get("/api/class?name=User"))["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("// kept\n"), "{text}");
}

#[test]
fn strangers_get_no_memory_and_no_place_for_long() {
    let dir = Scratch::new("studio-strangers");
    let studio = Studio::start(&[&dir.file("Ball.mo", BALL)], &dir.path("state"));
    let host = format!("Host: 127.0.0.1:{}\r\n", studio.port);
    // Thirty megabytes are promised and never sent: the answer does not wait for them.
    let (status, head, _) =
        raw(studio.port, &format!("POST /api/edit HTTP/1.1\r\n{host}Content-Length: 31000000\r\n\r\n"));
    assert!(status == 401 && head.contains("Connection: close"), "{head}");
    // Requests that never come to an end are ended, however often another letter arrives.
    let mut slow = TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
    slow.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    wait_until("the connection is not closed", || {
        let is_refused = slow.write_all(b"x").is_err();
        let ended = slow.read(&mut [0; 16]).map_or_else(
            |error| !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
            |n| n == 0,
        );
        is_refused || ended
    });
    assert_eq!(studio.get("/api/state").0, 200);
}

#[test]
fn a_crowd_of_strangers_keeps_nobody_out() {
    let dir = Scratch::new("studio-crowd");
    let studio = Studio::start(&[&dir.file("Ball.mo", BALL)], &dir.path("state"));
    let connect = || TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
    // One that is admitted, and goes on while more strangers come than there are places.
    let mut known = BufReader::new(connect());
    let ask = format!(
        "GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Saltus-Token: {}\r\n\r\n",
        studio.port, studio.token
    );
    let mut answers = || {
        known.get_mut().write_all(ask.as_bytes()).unwrap();
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let begin = head.len();
            assert!(known.read_line(&mut head).unwrap() > 0, "the connection is closed");
            if let Some(n) = head[begin..].to_lowercase().strip_prefix("content-length:") {
                length = n.trim().parse().unwrap();
            }
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        known.read_exact(&mut vec![0; length]).unwrap();
    };
    answers();
    let mut crowd: Vec<TcpStream> = (0..400).map(|_| connect()).collect();
    answers();
    for _ in 0..4 {
        assert_eq!(studio.get("/api/state").0, 200, "a new one with the token");
        let (status, ..) = raw(studio.port, &format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", studio.port));
        assert_eq!(status, 200, "the page itself");
        // The crowd renews itself.
        crowd.splice(..100, (0..100).map(|_| connect()));
    }
    answers();
}

#[test]
fn libraries_of_the_search_path_are_watched() {
    let dir = Scratch::new("studio-path");
    let library = dir.path("path/Lib");
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(&library).unwrap();
        std::fs::write(format!("{library}/{name}"), text).unwrap();
    };
    write("package.mo", "package Lib end Lib;");
    write("Part.mo", "within Lib; model Part parameter Real k = 1; end Part;");
    let studio = Studio::with_path(
        &dir.path("path"),
        &[&dir.file("User.mo", "model User extends Lib.Part; Real x = k; end User;")],
        &dir.path("state"),
    );
    let value = || json_of(studio.get("/api/parameters?class=User"))["parameters"][0]["value"].clone();
    assert_eq!(value(), 1.0);
    write("Part.mo", "within Lib; model Part parameter Real k = 25; end Part;");
    write("New.mo", "within Lib; model New end New;");
    wait_until("the change is not noticed", || value() == 25.0);
    wait_until("the new file is not noticed", || studio.get("/api/class?name=Lib.New").0 == 200);
}

const QUOTED: &str = "package 'a.b'
  model 'm.n'
    parameter Boolean up = true;
    parameter Real k = 1;
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = if up then k else -k;
    when x > 0.5 then
      n = 1;
    end when;
    when x > 0.75 then
      reinit(x, 0);
    end when;
    annotation(experiment(StopTime = 1, Interval = 1));
  end 'm.n';
end 'a.b';
";

#[test]
fn places_move_with_the_text_and_live_values_are_told() {
    let Some(browser) = Browser::start() else { return };
    let dir = Scratch::new("studio-later");
    let studio = Studio::start(&[&dir.file("Quoted.mo", QUOTED)], &dir.path("state"));
    browser.go(&studio.address);
    browser.wait(READY);
    browser.script("saltus.open(\"'a.b'.'m.n'\")");
    browser.wait("saltus.store.current?.name === \"'a.b'.'m.n'\"");
    assert_eq!(
        browser.script("return [...document.querySelectorAll('nav.path button')].map((b) => b.textContent)"),
        json!(["'a.b'", "'m.n'"])
    );
    browser.click("#run");
    browser.wait("saltus.store.runs.get(1)?.phase === 'done'");
    browser.wait("document.querySelector('[data-event=\"1\"]')");
    let marked = "document.querySelector('.line.marked')?.textContent.trim()";
    // The text has grown above the place since the run.
    let grow = "const e = saltus.editor; const at = e.area.value.indexOf('    when'); e.area.setRangeText('    // one\\n    // two\\n', at, at, 'end'); e.typed();";
    browser.script(grow);
    browser.wait("saltus.editor.known === saltus.editor.area.value");
    browser.click("[data-event='1']");
    browser.wait(&format!("{marked} === 'when x > 0.5 then'"));
    // The line itself has changed: it is not guessed.
    browser.script("const e = saltus.editor; const at = e.area.value.indexOf('0.5'); e.area.setRangeText('0.6', at, at + 3, 'end'); e.typed();");
    browser.wait("saltus.editor.known === saltus.editor.area.value");
    browser.click("[data-event='1']");
    browser.wait("document.getElementById('notice')?.textContent.includes('was changed since the run')");
    browser.wait("!document.querySelector('.line.marked')");

    // A live run has more points than the interval of one second says, and tells what it was given.
    browser.click("#tab-parameters");
    browser.wait("document.getElementById('parameter-up')");
    browser.click("#live");
    browser.wait("saltus.store.runs.get(2)?.rows > 5");
    browser.script(
        "const e = document.getElementById('parameter-up'); e.value = 'false'; e.dispatchEvent(new Event('change'))",
    );
    browser.wait("saltus.store.runs.get(2)?.changes?.some(([name, value]) => name === 'up' && value === 0)");
    browser.click("#tab-runs");
    browser.wait("document.querySelector('[data-run=\"2\"]').textContent.includes('up = 0 from')");
    browser.click("#stop");
    browser.wait("saltus.store.runs.get(2)?.phase === 'done'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
