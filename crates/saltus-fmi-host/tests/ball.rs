//! FMUs that are compiled here from `testdata/fmu/ball.c`. Skipped, and said so, where there is no C compiler.

mod common;

use std::path::PathBuf;
use std::sync::Arc;

use common::{ball, description};
use saltus_fmi::archive::ArchiveWriter;
use saltus_fmi::{Dependency, DependencyKind, Kind, Version};
use saltus_fmi_host::{Component, Fmu, HostError, Input, Point, probe};

fn opened(bytes: Vec<u8>) -> Arc<Fmu> {
    let opened = saltus_fmi::open("ball.fmu", &bytes).unwrap_or_else(|u| panic!("{}", u.diagnostic.message));
    assert_eq!(opened.check().iter().map(|d| d.message.clone()).collect::<Vec<_>>(), Vec::<String>::new());
    Arc::new(Fmu::new(opened, bytes))
}

fn component(version: Version, parameters: Vec<(usize, Vec<f64>)>) -> Option<Component> {
    let fmu = opened(ball(&description(version))?);
    Some(Component::new(fmu, Kind::ModelExchange, "rig.ball", parameters, Vec::new()).unwrap())
}

fn point<'a>(n_events: i64, time: f64, states: &'a [f64], inputs: &'a [Input<'a>]) -> Point<'a> {
    Point { n_events, time, states, inputs }
}

/// Directories of this process below the one for temporary files.
fn temporary() -> Vec<PathBuf> {
    let prefix = format!("saltus-fmu-{}-", std::process::id());
    let all = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    all.filter(|e| e.file_name().to_string_lossy().starts_with(&prefix)).map(|e| e.path()).collect()
}

#[test]
fn functions_of_a_point_and_events() {
    for version in [Version::V2, Version::V3] {
        let Some(mut ball) = component(version, vec![(5, vec![-8.0])]) else { return };
        let force = [Input { variable: 7, values: &[3.0] }];
        // While initialising: g + f = -8 + 3.
        let mut dx = [0.0; 2];
        ball.derivatives(&point(0, 0.0, &[2.0, 1.0], &force), &mut dx).unwrap();
        assert_eq!(dx, [1.0, -5.0]);
        let event = ball.event(&point(0, 0.0, &[2.0, 1.0], &force)).unwrap();
        assert_eq!((event.next, event.states, event.terminate), (None, vec![2.0, 1.0], false));
        let mut z = [0.0];
        ball.indicators(&point(1, 0.5, &[-0.1, -4.0], &force), &mut z).unwrap();
        assert_eq!(z, [-0.1]);
        // e = 0.5 turns -4 into 2.
        let event = ball.event(&point(1, 0.5, &[-0.1, -4.0], &force)).unwrap();
        assert_eq!(event.states, [0.0, 2.0]);
        let bounces = ball.present_number(9, 0).unwrap();
        assert_eq!(bounces, 1.0);
        // y = v + 2 f
        assert_eq!(ball.number(&point(2, 0.6, &[0.1, 1.5], &force), 8, 0).unwrap(), 7.5);
    }
}

#[test]
fn directional_derivatives_of_the_fmu() {
    let Some(mut ball) = component(Version::V3, Vec::new()) else { return };
    let force = [Input { variable: 7, values: &[0.0] }];
    let mut result = [0.0; 2];
    let seed = [Input { variable: 7, values: &[5.0] }];
    ball.directional(&point(0, 0.0, &[1.0, 0.0], &force), &[2.0, 3.0], &seed, &mut result).unwrap();
    assert_eq!(result, [3.0, 5.0]);
}

#[test]
fn failures_name_the_instance_and_show_the_log() {
    for version in [Version::V2, Version::V3] {
        let Some(mut ball) = component(version, vec![(10, vec![1.0])]) else { return };
        ball.event(&point(0, 0.0, &[1.0, 0.0], &[])).unwrap();
        let mut dx = [0.0; 2];
        ball.derivatives(&point(1, 0.9, &[1.0, 0.0], &[]), &mut dx).unwrap();
        let error = ball.derivatives(&point(1, 1.1, &[1.0, 0.0], &[]), &mut dx).unwrap_err().to_string();
        assert!(error.contains("`rig.ball`") && error.contains("the ball is broken"), "{error}");
        let Some(mut ball) = component(version, vec![(10, vec![-1.0])]) else { return };
        ball.event(&point(0, 0.0, &[1.0, 0.0], &[])).unwrap();
        let error = ball.derivatives(&point(1, 1.1, &[1.0, 0.0], &[]), &mut dx).unwrap_err();
        assert!(matches!(&error, HostError::NotANumber { what, .. } if what == "`der(v)`"), "{error}");
    }
}

#[test]
fn another_token_and_a_missing_binary_are_said() {
    let mut model = description(Version::V2);
    model.token = "{other}".into();
    let Some(bytes) = ball(&model) else { return };
    let fmu = opened(bytes);
    let error = Component::new(fmu, Kind::ModelExchange, "b", Vec::new(), Vec::new()).err().unwrap();
    assert!(matches!(&error, HostError::NotInstantiated { instance, .. } if instance == "b"), "{error}");
    assert!(error.to_string().contains("the token is another one"), "{error}");

    let mut writer = ArchiveWriter::new();
    writer.add("modelDescription.xml", saltus_fmi::write(&description(Version::V3)).unwrap().as_bytes()).unwrap();
    writer.add("binaries/riscv64-plan9/ball.so", b"").unwrap();
    let fmu = opened(writer.finish().unwrap());
    let error = Component::new(fmu, Kind::ModelExchange, "b", Vec::new(), Vec::new()).err().unwrap();
    assert!(error.to_string().contains("it has one for riscv64-plan9"), "{error}");
}

#[test]
fn instances_in_threads_leave_nothing_behind() {
    let Some(bytes) = ball(&description(Version::V3)) else { return };
    let fmu = opened(bytes);
    std::thread::scope(|scope| {
        for k in 0..4 {
            let fmu = fmu.clone();
            scope.spawn(move || {
                for i in 0..25 {
                    let mut ball =
                        Component::new(fmu.clone(), Kind::ModelExchange, "b", Vec::new(), Vec::new()).unwrap();
                    let height = f64::from(k * 100 + i);
                    let event = ball.event(&point(0, 0.0, &[height, 0.0], &[])).unwrap();
                    assert_eq!(event.states, [height, 0.0]);
                }
            });
        }
    });
    assert!(!temporary().is_empty(), "the archive is still open");
    let directory = fmu_directory(&fmu);
    drop(fmu);
    assert!(!directory.exists());
}

/// The directory that the archive was extracted to.
fn fmu_directory(fmu: &Arc<Fmu>) -> PathBuf {
    fmu.directory().expect("it was extracted")
}

#[test]
fn a_lying_model_structure_is_found() {
    let mut model = description(Version::V2);
    let Some(bytes) = ball(&model) else { return };
    let truth = opened(bytes);
    assert!(probe(truth.clone(), &truth.document.places).unwrap().is_empty());
    // y = v + 2 f says that it depends on v alone.
    model.structure.outputs[1].dependencies = Some(vec![Dependency { variable: 3, kind: DependencyKind::Dependent }]);
    let liar = opened(ball(&model).unwrap());
    let found = probe(liar.clone(), &liar.document.places).unwrap();
    let messages: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["`y` changes with `f`, which its dependencies in ModelStructure do not name"]);
}

#[test]
fn a_step_of_co_simulation() {
    let fmu = opened(match ball(&description(Version::V2)) {
        Some(bytes) => bytes,
        None => return,
    });
    let mut unit = Component::new(fmu, Kind::CoSimulation, "b", vec![(1, vec![5.0])], Vec::new()).unwrap();
    let step = unit.step(&point(0, 0.0, &[], &[]), 0.5).unwrap();
    assert_eq!(step.next, 0.5);
    // 5 - 10/2 0.5^2
    assert_eq!(unit.present_number(1, 0).unwrap(), 3.75);
}
