//! Conversations with the server: messages in, messages out, without a process.

use std::io::Cursor;

use saltus_lsp::{Settings, serve};
use serde_json::{Value, json};

/// What the server sends when it is told all this at once.
fn talk(messages: &[Value]) -> (bool, Vec<Value>) {
    let mut input = Vec::new();
    for message in messages {
        let text = message.to_string();
        input.extend(format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes());
    }
    let mut output = Vec::new();
    let was_shut_down = serve(&Settings::default(), Cursor::new(input), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    let bodies = text.split("Content-Length: ").skip(1).map(|part| part.split_once("\r\n\r\n").unwrap().1);
    (was_shut_down, bodies.map(|body| serde_json::from_str(body).unwrap()).collect())
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

const URI: &str = "untitled:Ball.mo";

fn open(text: &str) -> Value {
    notification(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": URI, "version": 1, "text": text, "languageId": "modelica"}}),
    )
}

fn at(line: u32, character: u32) -> Value {
    json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}})
}

fn begin(encodings: &[&str]) -> Value {
    request(0, "initialize", json!({"capabilities": {"general": {"positionEncodings": encodings}}}))
}

fn answer(messages: &[Value], id: i64) -> &Value {
    messages.iter().find(|m| m["id"] == id && m.get("method").is_none()).unwrap()
}

#[test]
fn a_session_from_beginning_to_end() {
    let (was_shut_down, said) = talk(&[
        begin(&[]),
        notification("initialized", json!({})),
        open("model Ball\n  Real h \"Height\";\nequation\n  h = 1;\nend Ball;\n"),
        request(1, "textDocument/hover", at(3, 2)),
        request(2, "textDocument/definition", at(3, 2)),
        request(3, "textDocument/unknown", at(0, 0)),
        request(4, "shutdown", Value::Null),
        request(5, "textDocument/hover", at(3, 2)),
        notification("exit", Value::Null),
    ]);
    assert!(was_shut_down);
    assert_eq!(answer(&said, 0)["result"]["capabilities"]["positionEncoding"], "utf-16");
    assert!(answer(&said, 1)["result"]["contents"]["value"].as_str().unwrap().contains("Height"));
    assert_eq!(answer(&said, 2)["result"]["range"]["start"], json!({"line": 1, "character": 7}));
    assert_eq!(answer(&said, 3)["error"]["code"], -32601);
    assert_eq!(answer(&said, 4)["result"], Value::Null);
    assert_eq!(answer(&said, 5)["error"]["code"], -32002);
    let published = said.iter().find(|m| m["method"] == "textDocument/publishDiagnostics").unwrap();
    assert_eq!(published["params"]["diagnostics"], json!([]));
}

#[test]
fn edits_move_the_text_and_columns_count_units() {
    let change = json!({"range": {"start": {"line": 0, "character": 20}, "end": {"line": 0, "character": 20}}, "text": " Real 'µ' = 1;"});
    let edit = json!({"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change]});
    let ask = |encodings: &[&str], character: u32| {
        let (_, said) = talk(&[
            begin(encodings),
            open("model M Real y = 1 ; equation y = y; end M;"),
            notification("textDocument/didChange", edit.clone()),
            request(1, "textDocument/definition", at(0, character)),
        ]);
        answer(&said, 1)["result"]["range"]["start"]["character"].clone()
    };
    // `model M Real y = 1 ; Real 'µ' = 1; equation y = y; end M;`: the name behind `µ` stands one byte further in UTF-8.
    assert_eq!(ask(&[], 44), 13);
    assert_eq!(ask(&["utf-16", "utf-8"], 45), 13);
}

#[test]
fn cancelled_requests_are_answered_as_such() {
    let (_, said) = talk(&[
        begin(&[]),
        open("model M Real x; end M;"),
        request(1, "textDocument/hover", at(0, 13)),
        request(2, "textDocument/hover", at(0, 13)),
        notification("$/cancelRequest", json!({"id": 2})),
        notification("$/cancelRequest", json!({"id": 77})),
        request(3, "textDocument/hover", at(0, 13)),
    ]);
    // Whether the cancellation comes in time is a matter of speed; an answer there is in any case.
    let second = answer(&said, 2);
    assert!(second["error"]["code"] == -32800 || second["result"]["contents"].is_object(), "{second}");
    assert!(answer(&said, 3)["result"]["contents"].is_object());
}

#[test]
fn quick_fixes_of_syntax_errors_need_no_check() {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 60}});
    let (_, said) = talk(&[
        begin(&[]),
        open("model M Real x; equation x := 1; end M;"),
        request(
            1,
            "textDocument/codeAction",
            json!({"textDocument": {"uri": URI}, "range": range, "context": {"diagnostics": []}}),
        ),
    ]);
    let first = &answer(&said, 1)["result"][0];
    assert_eq!(first["title"], "Write `=`");
    assert_eq!(first["edit"]["changes"][URI][0]["newText"], "=");
}

#[test]
fn nonsense_is_survived() {
    let (_, said) = talk(&[
        begin(&[]),
        json!([1, 2, 3]),
        json!({"id": 9}),
        notification("textDocument/didChange", json!({})),
        request(1, "textDocument/hover", json!({})),
        request(
            2,
            "textDocument/rename",
            json!({"textDocument": {"uri": "file:///missing.mo"}, "position": {}, "newName": 3}),
        ),
        request(3, "textDocument/selectionRange", json!({"positions": "no"})),
    ]);
    assert_eq!(answer(&said, 1)["result"], Value::Null);
    assert_eq!(answer(&said, 2)["error"]["code"], -32803);
    assert_eq!(answer(&said, 3)["result"], Value::Null);
}

/// A client that waits for the answer to a request before it goes on.
mod patient {
    use std::io::{BufRead, BufReader, Read, Write};

    use super::*;

    pub struct Talk<R: Read, W: Write> {
        pub output: BufReader<R>,
        pub input: W,
    }

    impl<R: Read, W: Write> Talk<R, W> {
        pub fn tell(&mut self, message: &Value) {
            let text = message.to_string();
            write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
            self.input.flush().unwrap();
        }

        pub fn ask(&mut self, message: &Value) -> Value {
            self.tell(message);
            self.answer(&message["id"])
        }

        /// The answer to a request; what comes before it is dropped.
        pub fn answer(&mut self, id: &Value) -> Value {
            loop {
                let (mut length, mut line) = (0, String::new());
                loop {
                    line.clear();
                    self.output.read_line(&mut line).unwrap();
                    match line.trim_end().split_once(": ") {
                        Some((_, n)) => length = n.parse().unwrap(),
                        None => break,
                    }
                }
                let mut body = vec![0; length];
                self.output.read_exact(&mut body).unwrap();
                let said: Value = serde_json::from_slice(&body).unwrap();
                if said["id"] == *id && said.get("method").is_none() {
                    return said;
                }
            }
        }
    }
}

/// The ball of the text is on the ground 3 times until 1.6 s (closed form: at 0.4515, 1.0836 and 1.5261 s).
#[test]
fn a_run_is_answered_and_leaves_lenses_that_move_along() {
    let (server_input, client_output) = std::io::pipe().unwrap();
    let (client_input, server_output) = std::io::pipe().unwrap();
    let server = std::thread::spawn(move || serve(&Settings::default(), server_input, server_output).unwrap());
    let mut talk = patient::Talk { output: std::io::BufReader::new(client_input), input: client_output };
    talk.ask(&begin(&[]));
    talk.tell(&open(
        "model Ball\n  Real h(start = 1, fixed = true);\n  Real v(start = 0, fixed = true);\nequation\n  der(h) = v;\n  der(v) = -9.81;\n  when h < 0 then\n    reinit(v, -0.7*pre(v));\n  end when;\n  annotation(experiment(StopTime = 1.6));\nend Ball;\n",
    ));
    let run = |id: i64, class: &str| {
        request(id, "workspace/executeCommand", json!({"command": "saltus.run", "arguments": [class]}))
    };
    let answer = talk.ask(&run(1, "Ball"));
    assert_eq!(answer["result"]["complete"], true, "{answer}");
    assert!(answer["result"]["page"].as_str().unwrap().contains("Ball"));
    let of_run = |talk: &mut patient::Talk<_, _>, id: i64| {
        let lenses = talk.ask(&request(id, "textDocument/codeLens", json!({"textDocument": {"uri": URI}})));
        let is_of_run = |lens: &&Value| lens["command"]["command"] == "saltus.showTime";
        let lens = lenses["result"].as_array().unwrap().iter().find(is_of_run).cloned();
        lens.map(|lens| (lens["range"]["start"]["line"].as_i64().unwrap(), lens["command"].clone()))
    };
    let (line, command) = of_run(&mut talk, 2).unwrap();
    assert_eq!(line, 6);
    assert!(command["title"].as_str().unwrap().starts_with("fired 3 ×  ·  6 events"), "{command}");
    assert!((command["arguments"][0].as_f64().unwrap() - (2.0_f64 / 9.81).sqrt()).abs() < 1e-6);
    // A line above moves it, an edit of the condition takes it away.
    let edit = |version: i64, line: i64, from: i64, to: i64, text: &str| {
        let place = |character: i64| json!({"line": line, "character": character});
        let change = json!({"range": {"start": place(from), "end": place(to)}, "text": text});
        let document = json!({"uri": URI, "version": version});
        notification("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}))
    };
    talk.tell(&edit(2, 1, 0, 0, "  // Height\n"));
    assert_eq!(of_run(&mut talk, 3).map(|lens| lens.0), Some(7));
    talk.tell(&edit(3, 7, 7, 8, "v"));
    assert_eq!(of_run(&mut talk, 4), None);
    let refused = talk.ask(&run(5, "Missing"));
    assert_eq!(refused["error"]["message"], "there is no class Missing");
    // A run that would take hours ends when it is cancelled, and others are answered meanwhile.
    let text = "model Long Real x(start = 1, fixed = true); equation der(x) = cos(time); annotation(experiment(StopTime = 1e9)); end Long;";
    talk.tell(&notification(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": "untitled:Long.mo", "version": 1, "text": text, "languageId": "modelica"}}),
    ));
    talk.tell(&run(6, "Long"));
    assert!(talk.ask(&request(7, "textDocument/hover", at(2, 7)))["result"].is_object());
    talk.tell(&notification("$/cancelRequest", json!({"id": 6})));
    assert_eq!(talk.answer(&json!(6))["error"]["code"], -32800);
    talk.ask(&request(8, "shutdown", Value::Null));
    talk.tell(&notification("exit", Value::Null));
    assert!(server.join().unwrap());
}

/// A directory of this test with files.
fn directory(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&root);
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

fn uri(path: &std::path::Path) -> String {
    format!("file://{}", path.display())
}

#[test]
fn a_rename_reaches_files_that_are_not_open() {
    let files = [
        ("P/package.mo", "package P\n  constant Real c = 1;\nend P;\n"),
        ("P/package.order", "c\nA\n"),
        ("P/A.mo", "within P;\r\nmodel A \"𝑥 = µ\" Real y = c;\r\nend A;\r\n"),
        ("tests/T.mo", "model T\n  Real y = P.c;\nend T;\n"),
    ];
    let root = directory("rename", &files);
    let document = uri(&root.join("P/package.mo"));
    let at = |line: u32, character: u32| json!({"textDocument": {"uri": document}, "position": {"line": line, "character": character}});
    let rename = |id: i64| {
        let mut params = at(1, 16);
        params["newName"] = json!("speed");
        request(id, "textDocument/rename", params)
    };
    let folder = json!({"uri": uri(&root), "name": "own"});
    let (_, said) = talk(&[
        request(0, "initialize", json!({"capabilities": {}, "workspaceFolders": [folder]})),
        notification(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": document, "version": 1, "text": files[0].1, "languageId": "modelica"}}),
        ),
        request(1, "textDocument/references", at(1, 16)),
        rename(2),
        notification("workspace/didChangeWorkspaceFolders", json!({"event": {"added": [], "removed": [folder]}})),
        rename(3),
    ]);
    assert_eq!(answer(&said, 1)["result"].as_array().map(Vec::len), Some(3), "{}", answer(&said, 1));
    let changes = &answer(&said, 2)["result"]["changes"];
    let range = |path: &str| changes[uri(&root.join(path))][0]["range"].clone();
    let on = |line: u32, from: u32, to: u32| json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}});
    assert_eq!(range("P/package.mo"), on(1, 16, 17), "{changes}");
    assert_eq!(range("P/package.order"), on(0, 0, 1));
    // Columns count units of UTF-16: `𝑥` has two.
    assert_eq!(range("P/A.mo"), on(1, 26, 27));
    assert_eq!(range("tests/T.mo"), on(1, 13, 14));
    // Without the folder the package of the open file is what is left.
    assert_eq!(answer(&said, 3)["result"]["changes"].as_object().map(|c| c.len()), Some(3), "{}", answer(&said, 3));
}
