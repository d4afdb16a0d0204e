//! A storm of edits, questions and cancellations in any order: every question has one answer, and after it the server knows what
//! a new one knows.
//!
//! `SALTUS_STORM=10000` makes more edits than the usual run.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, PipeWriter, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use saltus_lsp::{Settings, serve};
use serde_json::{Value, json};

const URI: &str = "untitled:Storm.mo";

const TEXT: &str = "package P
  constant Real c = 1 \"Constant\";
  model A \"First\"
    parameter Real k = 2*c;
    Real 'µ x' \"Height\";
    Real y;
  equation
    'µ x' = k*time;
    y = 'µ x' + c;
  end A;
  model B
    extends A(k = 3);
    A a[2](each k = 4);
    Real z = a[1].y;
  end B;
end P;
";

const PIECES: [&str; 14] =
    ["Real z;", "a.", "(", ")", "end", "equation ", "\"", "= 1;", "extends A;", ";", " import ", "k(", "µ", "\r\n"];

const QUESTIONS: [&str; 5] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/completion",
    "textDocument/documentSymbol",
    "textDocument/semanticTokens/full",
];

/// The error of the protocol for a question that was cancelled.
const CANCELLED: i64 = -32800;

/// Numbers that look random and are the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// A server with a thread that reads what it says.
struct Talk {
    input: PipeWriter,
    said: Receiver<Value>,
    answers: BTreeMap<i64, Value>,
    n_asked: i64,
    server: JoinHandle<bool>,
}

fn read(output: impl Read) -> impl Iterator<Item = Value> {
    let mut output = BufReader::new(output);
    std::iter::from_fn(move || {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if output.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some((_, n)) => length = n.parse().ok()?,
                None => break,
            }
        }
        let mut body = vec![0; length];
        output.read_exact(&mut body).ok()?;
        serde_json::from_slice(&body).ok()
    })
}

impl Talk {
    fn begin(text: &str) -> Self {
        let (server_input, input) = std::io::pipe().unwrap();
        let (output, server_output) = std::io::pipe().unwrap();
        let server = std::thread::spawn(move || serve(&Settings::default(), server_input, server_output).unwrap());
        let (sender, said) = channel();
        std::thread::spawn(move || read(output).try_for_each(|message| sender.send(message)));
        let mut talk = Self { input, said, answers: BTreeMap::new(), n_asked: 0, server };
        talk.ask("initialize", json!({"capabilities": {}}));
        let document = json!({"uri": URI, "version": 0, "text": text, "languageId": "modelica"});
        talk.tell("textDocument/didOpen", json!({"textDocument": document}));
        talk
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.n_asked += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.n_asked, "method": method, "params": params}));
        self.n_asked
    }

    /// Waits until every question is answered.
    fn settle(&mut self) {
        while (self.answers.len() as i64) < self.n_asked {
            let message = self.said.recv_timeout(Duration::from_secs(120)).expect("an answer");
            if let (Some(id), None) = (message["id"].as_i64(), message.get("method")) {
                let before = self.answers.insert(id, message);
                assert!(before.is_none(), "{id} is answered twice");
            }
        }
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.server.join().unwrap());
    }
}

/// Line and column in units of UTF-16, as editors count.
fn place(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |n| n + 1);
    json!({"line": before.matches('\n').count(), "character": before[line..].encode_utf16().count()})
}

fn boundary(text: &str, random: &mut Random) -> usize {
    let mut at = random.below(text.len() + 1);
    // A place between `\r` and `\n` is none that an editor knows.
    while !text.is_char_boundary(at) || at > 0 && text.as_bytes()[at - 1] == b'\r' {
        at -= 1;
    }
    at
}

/// The memory of this process in bytes, where that can be known.
fn memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

fn question(text: &str, method: &str, random: &mut Random) -> (String, Value) {
    let position = place(text, boundary(text, random));
    (method.to_owned(), json!({"textDocument": {"uri": URI}, "position": position}))
}

#[test]
fn a_storm_of_edits_leaves_a_server_like_a_new_one() {
    let n_edits: usize = std::env::var("SALTUS_STORM").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut random = Random(0x5708_0a11);
    let (mut text, mut talk) = (TEXT.to_owned(), Talk::begin(TEXT));
    let (mut n_cancelled, mut memories) = (0, Vec::new());
    for edit in 1..=n_edits {
        let start = boundary(&text, &mut random);
        let end = (0..random.below(8)).fold(start, |at, _| {
            let next = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            if text.as_bytes().get(next.wrapping_sub(1)) == Some(&b'\r') { at } else { next }
        });
        // Ruins say little about the language: now and then the text is as it was.
        let (change, new) = match edit % 40 {
            0 => (json!({"text": TEXT}), TEXT.to_owned()),
            _ => {
                let piece = if random.below(3) == 0 { "" } else { PIECES[random.below(PIECES.len())] };
                let range = json!({"start": place(&text, start), "end": place(&text, end)});
                (json!({"range": range, "text": piece}), format!("{}{piece}{}", &text[..start], &text[end..]))
            }
        };
        text = new;
        let document = json!({"uri": URI, "version": edit});
        talk.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
        for _ in 0..random.below(3) {
            let (method, params) = question(&text, QUESTIONS[random.below(QUESTIONS.len())], &mut random);
            talk.ask(&method, params);
        }
        // Of a question that waits, that has its answer already, or that nobody has asked.
        for _ in 0..random.below(3) {
            let id = talk.n_asked + 2 - random.below(20) as i64;
            talk.tell("$/cancelRequest", json!({"id": id}));
            n_cancelled += 1;
        }
        if edit % (n_edits / 10).max(1) == 0 {
            talk.settle();
            memories.extend(memory());
            let mut fresh = Talk::begin(&text);
            for method in QUESTIONS {
                let (method, params) = question(&text, method, &mut random);
                let asked = [&mut talk, &mut fresh].map(|talk| talk.ask(&method, params.clone()));
                talk.settle();
                fresh.settle();
                let [known, new] =
                    [&talk.answers[&asked[0]], &fresh.answers[&asked[1]]].map(|answer| &answer["result"]);
                assert_eq!(known, new, "{method} {params} after {edit} edits of\n{text}");
            }
            fresh.end();
            // What is kept here is not to be taken for a leak of the server.
            talk.answers.values_mut().for_each(|answer| answer["result"] = Value::Null);
        }
    }
    let wrong = talk.answers.values().find(|a| a.get("error").is_some_and(|error| error["code"] != CANCELLED));
    assert_eq!(wrong, None);
    let n_dropped = talk.answers.values().filter(|answer| answer.get("error").is_some()).count();
    println!("{n_edits} edits, {} questions, {n_cancelled} cancellations, {n_dropped} questions dropped", talk.n_asked);
    println!("memory in MB: {:?}", memories.iter().map(|bytes| bytes >> 20).collect::<Vec<_>>());
    // Texts of the past are not kept: the second half of the storm needs no more than the first.
    if let (Some(half), Some(last)) = (memories.get(memories.len() / 2), memories.last()) {
        assert!(*last < half + half / 4 + (8 << 20), "{memories:?}");
    }
    talk.end();
}
