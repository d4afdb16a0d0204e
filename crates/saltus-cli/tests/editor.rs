//! A real editor drives `saltus lsp`: Neovim, without its window, on a package of the user and on a class of a library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CIRCUIT: &str = "within Own;
model Circuit \"A resistor at a source\"
  Saltus.Electrical.Resistor resistor(R=10);
  Saltus.Electrical.ConstantVoltage source(V=5);
  Saltus.Electrical.Ground ground;
  Real u \"Voltage\";
equation
  connect(source.p, resistor.p);
  connect(source.n, resistor.n);
  connect(source.n, ground.p);
// here
  u =  resitor.R  *  resistor.i;
end Circuit;
";

/// On the ground 3 times until 1.6 s (closed form: at 0.4515, 1.0836 and 1.5261 s).
const BALL: &str = "within Own;
model Ball
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -0.7*pre(v));
  end when;
  annotation(experiment(StopTime = 1.6));
end Ball;
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What the editor wrote; `None` where there is no Neovim.
fn transcript() -> Option<String> {
    if Command::new("nvim").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: nvim is not installed");
        return None;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(directory.join("Own")).unwrap();
    fs::write(directory.join("Own/package.mo"), "package Own\nend Own;\n").unwrap();
    fs::write(directory.join("Own/Circuit.mo"), CIRCUIT).unwrap();
    fs::write(directory.join("Own/Ball.mo"), BALL).unwrap();
    let transcript = directory.join("transcript.txt");
    let script = root().join("crates/saltus-cli/tests/editor/client.lua");
    let mut editor = Command::new("nvim")
        .args(["--headless", "--clean", "-n", "-c", &format!("luafile {}", script.display()), "-c", "qa!"])
        .env("SALTUS", env!("CARGO_BIN_EXE_saltus"))
        .env("LIBRARY", root().join("library"))
        .env("ROOT", &directory)
        .env("TRANSCRIPT", &transcript)
        .env("HOME", &directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    // A step that waits in vain ends the test, not the machine.
    while editor.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(300) {
            editor.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(fs::read_to_string(transcript).unwrap_or_default())
}

#[test]
fn neovim_opens_edits_asks_and_applies() {
    let Some(transcript) = transcript() else { return };
    let expected = [
        "own diagnostics: E0202 line 12",
        "own quick fix: Write `resistor`",
        "own diagnostics after it: ",
        "own hover: ```modelica parameter Saltus.Units.Resistance R = 10 ``` Resistance unit = `\"Ohm\"`, start = `1` Declared in `Saltus.Electrical.Resistor`",
        "own definition: Resistor.mo line 3",
        "own completion: R i n p",
        "own rename refused: yes",
        "own renamed: voltage = resistor.R * resistor.i;",
        "own formatted: voltage = resistor.R*resistor.i;",
        "own lenses: 2 equations · 2 states · index 1 · no loops · 1 state event | simulate | plot | check",
        "own run: with curves",
        "own lenses after it: fired 3 × · 6 events",
        "library outline: Resistor with 1",
        "library definition: TwoPin.mo line 2",
        "library hover: model Saltus.Electrical.Resistor ",
        "library tokens: yes",
    ];
    let said: Vec<String> = transcript.lines().map(|line| line.replace(":  ", ": ")).collect();
    assert_eq!(said, expected);
}
