//! `saltus export`: what is in the archive. What runtimes do with it is tested in `saltus-fmu`.

mod common;

use common::{Scratch, run};

const BALL: &str = "model Ball output Real h(start = 1, fixed = true); equation der(h) = -1; end Ball;";

#[test]
fn an_fmu_has_a_description_a_model_and_its_runtimes() {
    let dir = Scratch::new("export");
    let (model, library, fmu) = (dir.file("Ball.mo", BALL), dir.file("runtime.so", "runtime"), dir.path("Ball.fmu"));
    let (linux, windows) = (format!("linux64={library}"), format!("x86_64-windows={library}"));
    let named = ["--runtime", &linux, "--runtime", &windows];
    for (version, directories) in
        [("2.0", ["linux64/Ball.so", "win64/Ball.dll"]), ("3.0", ["x86_64-linux/Ball.so", "x86_64-windows/Ball.dll"])]
    {
        let arguments = ["export", &model, "--fmi", version, "--kind", "me,cs", "--output", &fmu];
        run(&[&arguments[..], &named[..]].concat(), 0);
        let archive = std::fs::File::open(&fmu).unwrap();
        let archive = saltus_fmi::archive::Archive::new(archive, saltus_fmi::archive::Limits::default()).unwrap();
        for name in ["modelDescription.xml", "resources/model.saltus"] {
            assert!(archive.has(name), "{name}");
        }
        for name in directories {
            assert!(archive.has(&format!("binaries/{name}")), "{name}");
        }
    }
    let wrong = format!("amiga={library}");
    let (_, said) = run(&["export", &model, "--runtime", &wrong, "--output", &fmu], 1);
    assert!(said.contains("E1084") && said.contains("x86_64-linux"), "{said}");
}
