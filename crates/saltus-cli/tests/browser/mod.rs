//! Drives Chromium by the WebDriver protocol, and talks HTTP with servers on the loopback address.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A request as it is written, and the status, the head and the body of the answer.
pub fn raw(port: u16, request: &str) -> (u16, String, String) {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    connection.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(connection);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        head += &line;
    }
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let lower = head.to_lowercase();
    let length = lower.lines().find_map(|l| l.strip_prefix("content-length:")?.trim().parse::<u64>().ok());
    let mut body = Vec::new();
    let _ = match length {
        Some(length) => reader.take(length).read_to_end(&mut body),
        None => reader.read_to_end(&mut body),
    };
    (status, head, String::from_utf8_lossy(&body).into_owned())
}

/// Waits until something holds, for a minute at most.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The program as a server; ended with the value.
pub struct Studio {
    process: Child,
    pub port: u16,
    pub token: String,
    pub address: String,
}

impl Studio {
    pub fn start(arguments: &[&str], memory: &str) -> Studio {
        Studio::of_program(option_env!("CARGO_BIN_EXE_saltus").unwrap_or("saltus"), arguments, memory)
    }

    pub fn of_program(program: &str, arguments: &[&str], memory: &str) -> Studio {
        Studio::launch(program, arguments, memory, "")
    }

    /// With libraries along `MODELICAPATH`.
    pub fn with_path(modelica_path: &str, arguments: &[&str], memory: &str) -> Studio {
        Studio::launch(option_env!("CARGO_BIN_EXE_saltus").unwrap_or("saltus"), arguments, memory, modelica_path)
    }

    fn launch(program: &str, arguments: &[&str], memory: &str, modelica_path: &str) -> Studio {
        let mut process = Command::new(program)
            .arg("studio")
            .args(arguments)
            .arg("--no-open")
            .env("XDG_STATE_HOME", memory)
            .env("MODELICAPATH", modelica_path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let (place, token) = address.split_once("/#").unwrap_or_else(|| panic!("no address: {address}"));
        let port = place.rsplit(':').next().unwrap().parse().unwrap();
        Studio { process, port, token: token.to_owned(), address: address.clone() }
    }

    /// Asks with the token.
    pub fn get(&self, path: &str) -> (u16, String) {
        let (port, token) = (self.port, &self.token);
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Saltus-Token: {token}\r\n\r\n");
        let (status, _, body) = raw(port, &request);
        (status, body)
    }

    pub fn post(&self, path: &str, body: &Value) -> (u16, String) {
        let (port, token, body) = (self.port, &self.token, body.to_string());
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Saltus-Token: {token}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let (status, _, body) = raw(port, &request);
        (status, body)
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A session of a browser without a window.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// `None`, with a message, where there is no driver. What needs a graphics card is computed.
    pub fn start() -> Option<Browser> {
        Browser::with(&["--use-angle=swiftshader", "--enable-unsafe-swiftshader"])
    }

    /// With other options of its own.
    pub fn with(options: &[&str]) -> Option<Browser> {
        let driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut driver) = driver else {
            eprintln!("skipped: chromedriver is not installed");
            return None;
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        // Who does not read it blocks the driver.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Browser { driver, port: port.unwrap(), session: String::new() };
        let mut arguments = vec!["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,860"];
        arguments.extend(options);
        let wanted = json!({"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}});
        let opened = browser.send("POST", "/session", &json!({"capabilities": {"alwaysMatch": wanted}}));
        browser.session = opened["sessionId"].as_str().unwrap_or_else(|| panic!("no browser: {opened}")).to_owned();
        Some(browser)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        let (_, _, answer) = raw(self.port, &request);
        serde_json::from_str::<Value>(&answer).map(|mut v| v["value"].take()).unwrap_or_default()
    }

    pub fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.send(method, &format!("/session/{}{path}", self.session), body)
    }

    pub fn go(&self, address: &str) {
        self.command("POST", "/url", &json!({"url": address}));
    }

    /// What a piece of script returns.
    pub fn script(&self, script: &str) -> Value {
        let value = self.command("POST", "/execute/sync", &json!({"script": script, "args": []}));
        assert!(value["error"].is_null(), "{script}: {value}");
        value
    }

    pub fn wait(&self, condition: &str) {
        let started = Instant::now();
        while self.script(&format!("return !!({condition})")) != true {
            if started.elapsed() > Duration::from_secs(60) {
                let page = self.script("return document.body.innerText");
                panic!("{condition} does not become true:\n{page}\n{:?}", self.complaints());
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn element(&self, selector: &str) -> String {
        self.wait(&format!("document.querySelector({selector:?})"));
        let found = self.command("POST", "/element", &json!({"using": "css selector", "value": selector}));
        let id = found.as_object().and_then(|all| all.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("no {selector}: {found}")).to_owned()
    }

    /// With the pointer, as a user does.
    pub fn click(&self, selector: &str) {
        // A list that is drawn anew in between has another element of this name.
        wait_until(selector, || {
            let done = self.command("POST", &format!("/element/{}/click", self.element(selector)), &json!({}));
            assert!(done.is_null() || done["error"] == "stale element reference", "{selector}: {done}");
            done.is_null()
        });
    }

    /// With the keyboard; in an input for files the text is a path.
    pub fn keys(&self, selector: &str, text: &str) {
        // A list that is drawn anew in between has another element of this name; nothing was typed into the old one.
        wait_until(selector, || {
            let path = format!("/element/{}/value", self.element(selector));
            let done = self.command("POST", &path, &json!({"text": text}));
            assert!(done.is_null() || done["error"] == "stale element reference", "{selector}: {done}");
            done.is_null()
        });
    }

    /// Presses, moves and releases the pointer, at places of the page.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let at = |(x, y): (f64, f64)| json!({"type": "pointerMove", "duration": 60, "x": x.round(), "y": y.round()});
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        let actions = json!([at(from), {"type": "pointerDown", "button": 0}, at(middle), at(to), {"type": "pointerUp", "button": 0}]);
        let pointer =
            json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
        self.command("POST", "/actions", &json!({"actions": [pointer]}));
    }

    /// The window as it is seen, a PNG in base 64.
    pub fn picture(&self) -> String {
        self.command("GET", "/screenshot", &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    pub fn resize(&self, width: u32, height: u32) {
        self.command("POST", "/window/rect", &json!({"width": width, "height": height}));
    }

    /// Errors on the console, of scripts and of the content policy.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", &json!({"type": "browser"}));
        let severe = log.as_array().into_iter().flatten().filter(|line| line["level"] == "SEVERE");
        severe.map(|line| line["message"].to_string()).collect()
    }

    /// Another window; its handle.
    pub fn new_window(&self) -> String {
        self.command("POST", "/window/new", &json!({"type": "window"}))["handle"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    pub fn window(&self) -> String {
        self.command("GET", "/window", &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    pub fn switch(&self, handle: &str) {
        self.command("POST", "/window", &json!({"handle": handle}));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // Also where the test has failed: without its driver the browser would go on for ever.
            let end = || self.command("DELETE", "", &Value::Null);
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(end));
            if !std::thread::panicking() {
                assert!(ended.as_ref().is_ok_and(Value::is_null), "the browser goes on: {ended:?}");
            }
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
