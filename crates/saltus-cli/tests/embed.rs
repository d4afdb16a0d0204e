//! A program that was built with the feature `embed-runtime` exports without anything beside it.

#[cfg(feature = "embed-runtime")]
#[test]
fn a_program_alone_exports() {
    use std::process::Command;
    let directory = std::env::temp_dir().join(format!("saltus-embed-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    // Far from the library that the build has left beside it.
    let program = directory.join("saltus");
    std::fs::copy(env!("CARGO_BIN_EXE_saltus"), &program).expect("a copy of the program");
    std::fs::write(
        directory.join("M.mo"),
        "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\nend M;\n",
    )
    .expect("a model");
    let done = Command::new(&program)
        .args(["export", "M.mo", "--output", "M.fmu"])
        .current_dir(&directory)
        .env_clear()
        .output()
        .expect("the program runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let opened =
        saltus_fmi::open("M.fmu", &std::fs::read(directory.join("M.fmu")).expect("an FMU")).map_err(|u| u.diagnostic);
    let opened = opened.expect("a readable FMU");
    assert_eq!(opened.platforms().len(), 1);
    std::fs::remove_dir_all(&directory).expect("it can be removed");
}

#[cfg(not(feature = "embed-runtime"))]
#[test]
fn a_program_alone_exports() {
    eprintln!(
        "skipped: this build does not contain the runtime (`cargo build -p saltus-fmu`, then `--features embed-runtime`)"
    );
}
