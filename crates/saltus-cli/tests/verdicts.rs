//! Verdicts that can be trusted: options that would make any answer right are refused, lost output is a failure, and what is
//! shown of the start is the start.

mod common;

use std::process::{Command, Stdio};

use common::{DECAY, Scratch, run, stderr};

#[test]
fn a_tube_that_contains_everything_is_refused() {
    let dir = Scratch::new("verdicts_tube");
    let (one, other) = (dir.file("one.csv", "time,x\n0,1\n1,1\n"), dir.file("other.csv", "time,x\n0,2\n1,2\n"));
    run(&["compare", &one, &other], 1);
    for tube in ["nan", "inf", "0", "-1", "wide"] {
        let (_, said) = run(&["compare", &one, &other, &format!("--tube={tube}")], 2);
        assert!(said.contains("--tube"), "{said}");
    }
    let model = dir.file("Decay.mo", DECAY);
    for (command, option) in [("linearize", "--at=nan"), ("linearize", "--at=inf"), ("test", "--tube=nan")] {
        run(&[command, &model, option], 2);
    }
    run(&["search", &model, "--vary=x=0:1", "--target=x=1", "--within=nan"], 2);
}

/// Writing to this device fails as on a full disk.
#[cfg(target_os = "linux")]
#[test]
fn output_that_is_lost_is_a_failure() {
    let dir = Scratch::new("verdicts_lost");
    let model = dir.file("Decay.mo", DECAY);
    for arguments in [["flatten", &model], ["check", &model], ["explain", &model], ["simulate", &model]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
        command.args(arguments).current_dir(&dir.0).env_remove("MODELICAPATH").stdout(Stdio::from(full));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(stderr(&output).contains("standard output cannot be written"), "{}", stderr(&output));
    }
}

#[test]
fn a_reader_who_stops_reading_is_no_failure() {
    let dir = Scratch::new("verdicts_pipe");
    let model = dir.file("Decay.mo", DECAY);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
    let output = command.args(["flatten", &model]).env_remove("MODELICAPATH").stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

/// x = 1 at the start; a trial step would have moved it.
#[test]
fn the_start_is_not_moved_by_a_trial_step() {
    let dir = Scratch::new("verdicts_start");
    let model = dir.file("Decay.mo", DECAY);
    run(&["simulate", &model, "--stop-time", "0", "--quiet", "--output", &dir.path("r.csv")], 0);
    let rows = dir.read("r.csv");
    assert_eq!(rows.lines().last(), Some("0.0,1.0,-1.0"), "{rows}");
    let (said, _) = run(&["linearize", &model], 0);
    assert!(said.contains("at time 0:") && said.contains("x = 1\n"), "{said}");
}

/// exp(-t) reaches 0.7363 at t = -ln(0.7363) = 0.306118.
#[test]
fn a_point_after_the_end_of_a_model_is_not_made_up() {
    let dir = Scratch::new("verdicts_end");
    let text = DECAY.replace("end Decay", "  when x < 0.7363 then terminate(\"low\"); end when;\nend Decay");
    let (said, complained) = run(&["linearize", &dir.file("Decay.mo", text), "--at", "5"], 0);
    assert!(said.contains("at time 0.30611") && said.contains("x = 0.7363"), "{said}");
    assert!(complained.contains("the model ended at time 0.30611"), "{complained}");
}
