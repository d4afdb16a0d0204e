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

/// The residuals of Newton's method are small, but not zero; the Integer keeps its value, although the call gives another one.
#[test]
fn an_audit_has_a_bound_and_a_list_of_what_is_known() {
    let dir = Scratch::new("verdicts_audit");
    let cubic = dir.file("Cubic.mo", "model Cubic\n  Real y;\nequation\n  y^3 + y = time;\nend Cubic;\n");
    let (said, _) = run(&["simulate", &cubic, "--audit", "--quiet"], 0);
    assert!(said.starts_with("audit: 1 of 1 equations at 500 points"), "{said}");
    let (_, said) = run(&["simulate", &cubic, "--audit", "--audit-bound", "1e-30", "--quiet"], 3);
    assert!(said.contains("error[E0921]") && said.contains("Cubic.mo:4:3"), "{said}");
    run(&["simulate", &cubic, "--audit", "--audit-bound=nan"], 2);
    let held = "within;\npackage P\n  model Held\n    Integer n;\n    Real y;\n    function f input Real u; output Real y; output Integer i;\n    \
                algorithm i := integer(u); y := u - i; end f;\n  equation\n    (y, n) = f(3*time);\n    \
                annotation(experiment(StopTime = 1));\n  end Held;\nend P;\n";
    let package = dir.file("P.mo", held);
    let (said, _) = run(&["test", &package, "--audit"], 1);
    assert!(said.contains("AUDIT P.Held P.mo:9:") && said.contains("1 do not hold (0 known)"), "{said}");
    let known = dir.file("known.txt", "P.Held  P.mo:9  # computed at events only\n");
    let (said, _) = run(&["test", &package, "--audit", "--audit-known", &known], 0);
    assert!(said.contains("1 do not hold (1 known)"), "{said}");
}

/// der(x) = -x to 1: the error of x is a small part of its range, and not zero.
#[test]
fn an_error_is_estimated_for_each_signal() {
    let dir = Scratch::new("verdicts_error");
    let model = dir.file("Decay.mo", DECAY);
    let (said, _) = run(&["simulate", &model, "--estimate-error", "--quiet"], 0);
    let x = said.lines().find(|line| line.starts_with("  x ")).expect("a line for x");
    let part: f64 = x.split_whitespace().nth(2).expect("three columns").parse().expect("a number");
    assert!(part > 1e-12 && part < 1e-4, "{said}");
}

/// 1/0 by constants is a mistake as much as by variables.
#[test]
fn a_division_by_zero_is_told_also_if_it_is_constant() {
    let dir = Scratch::new("verdicts_zero");
    for value in ["1/0", "1/(time - time)", "log(0)", "sqrt(-1)"] {
        let text = format!(
            "model M\n  Real y(start = 1, fixed = true);\n  Real x = {value};\nequation\n  der(y) = -y;\nend M;\n"
        );
        let (_, said) = run(&["simulate", &dir.file("M.mo", text)], 3);
        assert!(said.contains("x is not a finite number") && said.contains("M.mo:3:"), "{value}: {said}");
    }
}
