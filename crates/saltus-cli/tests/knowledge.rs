//! `list`, `info`, `new` and `watch`: what an editor knows, on the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn saltus(words: &[&str], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_saltus")).args(words).current_dir(dir).env_remove("MODELICAPATH").output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("knowledge").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn classes_are_listed_with_their_descriptions() {
    let listed = saltus(&["list", "Saltus.Electrical"], &directory("list"));
    assert!(listed.status.success());
    let listed = text(&listed);
    let resistor = listed.lines().find(|line| line.starts_with("Resistor ")).unwrap();
    assert_eq!(resistor.split_whitespace().collect::<Vec<_>>(), ["Resistor", "model", "Linear", "resistor"]);
    let wrong = saltus(&["list", "Saltus.Elektrical"], &directory("list"));
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean `Saltus.Electrical`?"));
}

#[test]
fn a_class_shows_what_it_offers() {
    let shown = text(&saltus(&["info", "Saltus.Electrical.Resistor"], &directory("info")));
    assert!(
        shown.starts_with("model Saltus.Electrical.Resistor\n  Linear resistor\n  extends Saltus.Electrical.TwoPin"),
        "{shown}"
    );
    assert!(shown.contains("\nParameters\n  R  parameter Saltus.Units.Resistance  [Ohm]  Resistance\n"), "{shown}");
    assert!(shown.contains("\nConnectors\n"), "{shown}");
}

#[test]
fn classes_of_a_file_are_listed_down_to_a_depth() {
    let dir = directory("depth");
    fs::write(dir.join("A.mo"), "package A model B \"A beam\" end B; package C model D end D; end C; end A;").unwrap();
    let names = |words: &[&str]| -> Vec<String> {
        let listed = text(&saltus(words, &dir));
        listed.lines().filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
    };
    assert_eq!(names(&["list", "A", "--file", "A.mo"]), ["B", "C"]);
    assert_eq!(names(&["list", "A", "--file", "A.mo", "--depth", "2"]), ["B", "C", "C.D"]);
    assert!(text(&saltus(&["info", "A.B", "--file", "A.mo"], &dir)).contains("A beam"));
}

#[test]
fn a_new_package_simulates_and_passes_its_test() {
    let dir = directory("new");
    assert!(saltus(&["new", "Tank"], &dir).status.success());
    let run = saltus(&["simulate", "Tank.Examples.Decay", "--library", ".", "--quiet"], &dir);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let formatted = saltus(&["fmt", "--check", "Tank"], &dir);
    assert!(formatted.status.success(), "{}", text(&formatted));
    assert_eq!(saltus(&["new", "Tank"], &dir).status.code(), Some(1), "it exists");
    assert!(saltus(&["new", "Pump", "--in", "."], &dir).status.success() && dir.join("Pump/package.mo").exists());
    assert_eq!(saltus(&["new", "2 Tanks"], &dir).status.code(), Some(1), "not an identifier");
}

#[test]
fn a_watched_model_is_checked_again_when_its_file_changes() {
    let dir = directory("watch");
    fs::write(dir.join("M.mo"), "model M Real x = 1; end M;").unwrap();
    let watch = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["watch", "M.mo", "--rounds", "2"])
        .current_dir(&dir)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Written again and again until it is seen: time stamps may be coarse.
    let mut watch = Some(watch);
    for n in 0..200 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        if watch.as_mut().is_some_and(|watch| watch.try_wait().unwrap().is_some()) {
            break;
        }
        fs::write(dir.join("M.mo"), format!("model M Real x = {n}; Real y; end M;")).unwrap();
    }
    let output = watch.take().unwrap().wait_with_output().unwrap();
    let lines = text(&output);
    assert!(lines.contains("Class M: 1 equations, 1 unknowns"), "{lines}");
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert_eq!(output.status.code(), Some(1), "the second one has an unknown too many");
}

/// der(x) = -x from 1: exp(-1) at 1 s.
#[test]
fn a_watched_model_can_be_simulated() {
    let dir = directory("watch_simulate");
    fs::write(dir.join("M.mo"), "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;").unwrap();
    let output = saltus(&["watch", "M.mo", "--simulate", "--rounds", "1"], &dir);
    let lines = text(&output);
    assert!(lines.contains("x = 0.36788") || lines.contains("x = 0.36787"), "{lines}");
    assert!(output.status.success());
}

#[test]
fn an_editor_starts_the_server_and_ends_it() {
    use std::io::Write;
    use std::process::Stdio;
    let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
    let server = command.args(["lsp", "--stdio"]).current_dir(directory("lsp")).env_remove("MODELICAPATH");
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = server.stdin.take().unwrap();
    for message in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ] {
        write!(to, "Content-Length: {}\r\n\r\n{message}", message.len()).unwrap();
    }
    drop(to);
    let said = server.wait_with_output().unwrap();
    assert!(said.status.success() && text(&said).contains("\"capabilities\""), "{}", text(&said));
}
