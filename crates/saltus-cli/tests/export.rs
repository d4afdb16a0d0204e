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

/// Switches that may change the structure together and never do leave the model one that others can integrate; a model that
/// needs the slope of an input, or whose structure changes, is for co-simulation.
#[test]
fn model_exchange_is_for_models_with_one_structure_and_no_slopes_of_inputs() {
    let dir = Scratch::new("export-exchange");
    let library = dir.file("runtime.so", "runtime");
    let runtime = format!("linux64={library}");
    let models = [
        (
            // Two switches of which one is always closed.
            "model May Real i1, i2, u, i(start = 1, fixed = true); Boolean a = time < 2, b = time < 0.5; \
             equation der(i) = -u; i1 + i2 = i; 0 = if a then u - i1 else i1; 0 = if b then u - i2 else i2; end May;",
            None,
        ),
        ("model Lag input Real u; output Real y; equation y = der(u); end Lag;", Some("E1086")),
        (
            "model Lock Real w1(start = 1, fixed = true), w2(start = 2, fixed = true), t; equation der(w1) = -t; \
             der(w2) = t; if time > 0.5 then w1 = w2; else t = 0; end if; end Lock;",
            Some("E1081"),
        ),
    ];
    for (text, refused) in models {
        let (model, fmu) = (dir.file("M.mo", text), dir.path("M.fmu"));
        let arguments = ["export", &model, "--runtime", &runtime, "--output", &fmu];
        let (_, said) = run(&[&arguments[..], &["--kind", "me"]].concat(), i32::from(refused.is_some()));
        assert!(refused.is_none_or(|code| said.contains(code) && said.contains("--kind cs")), "{said}");
        run(&[&arguments[..], &["--kind", "cs"]].concat(), 0);
    }
}

/// A periodic clock is an input of the importer only where that is asked for.
#[test]
fn the_importer_drives_periodic_clocks_if_asked() {
    let dir = Scratch::new("export-clocks");
    let text = "model Count output Integer n(start = 0); Clock c = Clock(1, 10); \
                equation when c then n = previous(n) + 1; end when; end Count;";
    let (model, library) = (dir.file("Count.mo", text), dir.file("runtime.so", "runtime"));
    let (runtime, fmu) = (format!("linux64={library}"), dir.path("Count.fmu"));
    for (who, has_input_clock) in [("model", false), ("importer", true)] {
        run(
            &[
                "export",
                &model,
                "--fmi",
                "3.0",
                "--kind",
                "cs",
                "--clocks",
                who,
                "--runtime",
                &runtime,
                "--output",
                &fmu,
            ],
            0,
        );
        let archive = std::fs::File::open(&fmu).unwrap();
        let mut archive = saltus_fmi::archive::Archive::new(archive, saltus_fmi::archive::Limits::default()).unwrap();
        let description = archive.read("modelDescription.xml").unwrap();
        let description = String::from_utf8(description).unwrap();
        let clocks =
            description.lines().filter(|line| line.contains("<Clock ") && line.contains("causality=\"input\""));
        assert_eq!(clocks.count() > 0, has_input_clock, "{who}: {description}");
    }
}
