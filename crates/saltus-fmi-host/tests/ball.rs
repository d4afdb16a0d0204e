//! FMUs that are compiled here from `testdata/fmu/ball.c`. Skipped, and said so, where there is no C compiler.

mod common;

use std::path::PathBuf;
use std::sync::Arc;

use common::{ball, description};
use saltus_fmi::archive::ArchiveWriter;
use saltus_fmi::{
    Causality, Dependency, DependencyKind, Dimension, Kind, ModelDescription, Type, Unknown, Values, Variability,
    Variable, Version,
};
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

/// What the probe says of the ball with this description.
fn probed(model: &ModelDescription) -> Option<Vec<String>> {
    let fmu = opened(ball(model)?);
    let found = probe(fmu.clone(), &fmu.document.places).unwrap();
    Some(found.iter().map(|d| d.message.clone()).collect())
}

fn on(list: &[usize]) -> Option<Vec<Dependency>> {
    Some(list.iter().map(|&variable| Dependency { variable, kind: DependencyKind::Dependent }).collect())
}

/// Adds a number that the unit gives, as an output with these dependencies.
fn add_output(model: &mut ModelDescription, name: &str, reference: u32, dependencies: &[usize]) -> usize {
    let (name, causality) = (name.to_owned(), Causality::Output);
    model.variables.push(Variable { name, reference, causality, ..Variable::new(Type::Float64) });
    let variable = model.variables.len() - 1;
    model.structure.outputs.push(Unknown { variable, dependencies: on(dependencies) });
    model.structure.initial_unknowns.push(Unknown { variable, dependencies: None });
    variable
}

const NOTHING: [&str; 0] = [];

#[test]
fn true_model_structures_are_believed() {
    for version in [Version::V2, Version::V3] {
        let mut model = description(version);
        // der(h) = v, der(v) = g + f, y = v + 2 f while initialising.
        for (unknown, known) in [(0, vec![3]), (1, vec![5, 7]), (2, vec![3, 7])] {
            model.structure.initial_unknowns[unknown].dependencies = on(&known);
        }
        if let Some(indicator) = model.structure.event_indicators.first_mut() {
            indicator.dependencies = on(&[1]);
        }
        // An output that is a state need not name itself.
        model.structure.outputs[0].dependencies = on(&[]);
        add_output(&mut model, "late", 13, &[0]);
        let Some(found) = probed(&model) else { return };
        assert_eq!(found, NOTHING, "{version:?}");
    }
}

#[test]
fn lies_about_outputs_are_found() {
    for version in [Version::V2, Version::V3] {
        let mut model = description(version);
        // y = v + 2 f
        model.structure.outputs[1].dependencies = on(&[3]);
        add_output(&mut model, "late", 13, &[]);
        let Some(found) = probed(&model) else { return };
        let wanted = [
            "`y` changes with `f`, which its dependencies in ModelStructure do not name",
            "`late` changes with `time`, which its dependencies in ModelStructure do not name",
        ];
        assert_eq!(found, wanted, "{version:?}");
    }
}

#[test]
fn lies_about_derivatives_are_found() {
    for version in [Version::V2, Version::V3] {
        let mut model = description(version);
        model.structure.derivatives[0].dependencies = on(&[]);
        model.structure.derivatives[1].dependencies = on(&[3, 5]);
        let Some(found) = probed(&model) else { return };
        let wanted = [
            "`der(h)` changes with `v`, which its dependencies in ModelStructure do not name",
            "`der(v)` changes with `f`, which its dependencies in ModelStructure do not name",
        ];
        assert_eq!(found, wanted, "{version:?}");
    }
}

#[test]
fn a_derivative_that_is_a_state_names_itself() {
    for (named, wanted) in [
        (vec![3], vec![]),
        (
            vec![],
            vec!["`v` is the derivative of `h` and a state, which its dependencies in ModelStructure do not name"],
        ),
    ] {
        let mut model = description(Version::V3);
        // v is the derivative of h, without a second name for it.
        (model.variables[2].derivative, model.variables[3].derivative) = (None, Some(1));
        model.structure.derivatives[0] = Unknown { variable: 3, dependencies: on(&named) };
        model.structure.initial_unknowns.remove(0);
        let Some(found) = probed(&model) else { return };
        assert_eq!(found, wanted);
    }
}

#[test]
fn lies_about_event_indicators_are_found() {
    let mut model = description(Version::V3);
    // z = h
    model.structure.event_indicators[0].dependencies = on(&[3]);
    let Some(found) = probed(&model) else { return };
    assert_eq!(found, ["`z` changes with `h`, which its dependencies in ModelStructure do not name"]);
}

#[test]
fn lies_about_initial_unknowns_are_found() {
    for version in [Version::V2, Version::V3] {
        let mut model = description(version);
        // der(v) = g + f, y = v + 2 f
        model.structure.initial_unknowns[1].dependencies = on(&[]);
        model.structure.initial_unknowns[2].dependencies = on(&[7]);
        let late = add_output(&mut model, "late", 13, &[0]);
        model.structure.initial_unknowns[4] = Unknown { variable: late, dependencies: on(&[]) };
        let Some(found) = probed(&model) else { return };
        let wanted = [("der(v)", "g"), ("der(v)", "f"), ("y", "v"), ("late", "time")].map(|(unknown, known)| {
            format!("`{unknown}` changes with `{known}`, which its dependencies in ModelStructure do not name")
        });
        assert_eq!(found, wanted, "{version:?}");
    }
}

#[test]
fn lies_about_inputs_that_change_at_events_are_found() {
    for version in [Version::V2, Version::V3] {
        let mut model = description(version);
        let mut k = Variable { name: "k".into(), reference: 14, ..Variable::new(Type::Float64) };
        (k.causality, k.variability) = (Causality::Input, Variability::Discrete);
        k.start = Some(Values::Float(vec![0.0]));
        model.variables.push(k);
        let k = model.variables.len() - 1;
        let five = add_output(&mut model, "five", 15, &[k]);
        let Some(found) = probed(&model) else { return };
        assert_eq!(found, NOTHING, "{version:?}");
        let place = model.structure.outputs.iter().position(|u| u.variable == five).unwrap();
        model.structure.outputs[place].dependencies = on(&[]);
        let found = probed(&model).unwrap();
        assert_eq!(found, ["`five` changes with `k`, which its dependencies in ModelStructure do not name"]);
    }
}

#[test]
fn lies_about_arrays_are_found() {
    let mut model = description(Version::V3);
    let both = add_output(&mut model, "both", 16, &[1]);
    model.variables[both].dimensions = vec![Dimension::Fixed(2)];
    let Some(found) = probed(&model) else { return };
    assert_eq!(found, ["`both` changes with `v`, which its dependencies in ModelStructure do not name"]);
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
