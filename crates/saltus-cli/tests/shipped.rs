//! The library that comes with the program, as a caller of the program meets it.

mod common;

use common::{Scratch, saltus, stderr, stdout};

#[test]
fn a_shipped_example_runs_without_options() {
    let output = saltus(&["simulate", "Saltus.Examples.E1999.BouncingBall1"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    assert!(stdout(&output).starts_with("Saltus.Examples.E1999.BouncingBall1"), "{}", stdout(&output));
}

#[test]
fn a_library_of_the_user_with_the_same_name_comes_first() {
    let dir = Scratch::new("own_saltus");
    dir.file("Saltus/package.mo", "package Saltus model Own Real x = 1; end Own; end Saltus;");
    let output = saltus(&["check", "Saltus.Own", "--library", &dir.dir()]);
    assert_eq!(stdout(&output), "Class Saltus.Own: 1 equations, 1 unknowns\n", "{}", stderr(&output));
    let output = saltus(&["check", "Saltus.Examples.E1999.BouncingBall1", "--library", &dir.dir()]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_misspelt_example_is_suggested() {
    let output = saltus(&["simulate", "Saltus.Examples.E1993.TwoBlock"]);
    assert!(stderr(&output).contains("did you mean `Saltus.Examples.E1993.TwoBlocks`?"), "{}", stderr(&output));
}

/// What the paper of 1993 prints for its rectifier: which expression became what, when (8.708e-3 s), what changed, and that it
/// was iterated.
#[test]
fn the_log_of_the_rectifier_tells_its_story() {
    let dir = Scratch::new("story");
    let path = format!("{}/events.txt", dir.dir());
    saltus(&["simulate", "Saltus.Examples.E1993.Rectifier", "--quiet", "--event-log", &path]);
    let text = std::fs::read_to_string(&path).expect("the log");
    let events: Vec<&str> = text.split("\n\n").collect();
    let opens = events.iter().find(|e| e.starts_with("at 0.008708")).expect("the diode opens");
    let lines: Vec<&str> = opens.lines().collect();
    assert!(lines[0].contains("Diode.i > 0.0 became false"), "{opens}");
    assert_eq!(lines[1..], ["  Diode.open changed from 0 to 1", "  2 rounds"]);
    let closes = events.iter().find(|e| e.starts_with("at 0.02099")).expect("it closes");
    let lines: Vec<&str> = closes.lines().collect();
    assert!(lines[0].ends_with("s: Diode.u <= 0.0 became false"), "{closes}");
    assert_eq!(lines[1], "  Diode.open changed from 1 to 0");
    assert!(
        lines[2].starts_with("  2 rounds; in round 2 ") && lines[2].contains("Diode.i > 0.0 became true"),
        "{closes}"
    );
}

/// The boundary value task of comparison 7. The test of the example finds the same velocity by an integration of its own.
#[test]
fn a_search_solves_the_boundary_value_task() {
    let aim = ["--vary", "w0=-3:-1", "--target", "phi=-1.5707963267948966", "--tolerance", "1e-10"];
    let command = ["search", "Saltus.Examples.E1997.BoundaryValue"];
    let output = saltus(&[&command[..], &aim].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("compiled once"), "{}", stdout(&output));
    let output = saltus(&[&command[..], &aim, &["--quiet"]].concat());
    let velocity: f64 = stdout(&output).trim().parse().expect("a number");
    let set = format!("w0={velocity}");
    let run = saltus(&["simulate", "Saltus.Examples.E1997.BoundaryValue", "--set", &set, "--tolerance", "1e-10"]);
    assert!(stdout(&run).contains("-1.570"), "{}", stdout(&run));
}

#[test]
fn a_search_without_an_answer_says_why() {
    let class = "Saltus.Examples.E1997.BoundaryValue";
    let output = saltus(&["search", class, "--vary", "w0=-1.5:-1", "--target", "phi=-1.5707963267948966"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).starts_with("error[E0087]: expected values of `phi` on both sides"), "{}", stderr(&output));
    let output = saltus(&["search", class, "--vary", "w0=-3:-1", "--target", "ph=1"]);
    assert!(stderr(&output).contains("did you mean `phi`?"), "{}", stderr(&output));
    assert_eq!(saltus(&["search", class, "--vary", "w0=-3", "--target", "phi=1"]).status.code(), Some(2));
}
