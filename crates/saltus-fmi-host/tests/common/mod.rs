//! The units of `testdata/fmu` as FMUs.
#![allow(dead_code)]

use std::path::Path;
use std::process::Command;

use saltus_fmi::archive::ArchiveWriter;
use saltus_fmi::*;

/// The description of the ball.
pub fn description(version: Version) -> ModelDescription {
    let float = |name: &str, reference: u32| Variable { name: name.into(), reference, ..Variable::new(Type::Float64) };
    let state = |name: &str, reference: u32, start: f64| Variable {
        initial: Some(Initial::Exact),
        start: Some(Values::Float(vec![start])),
        ..float(name, reference)
    };
    let parameter = |name: &str, reference: u32, start: f64| Variable {
        causality: Causality::Parameter,
        variability: Variability::Fixed,
        start: Some(Values::Float(vec![start])),
        ..float(name, reference)
    };
    let mut h = state("h", 1, 1.0);
    h.causality = Causality::Output;
    let mut f = float("f", 7);
    (f.causality, f.start) = (Causality::Input, Some(Values::Float(vec![0.0])));
    let mut y = float("y", 8);
    y.causality = Causality::Output;
    let mut n = Variable { name: "n".into(), reference: 9, ..Variable::new(Type::Int32) };
    n.causality = Causality::Output;
    let mut variables = vec![
        Variable::independent("time", 0),
        h,
        Variable { derivative: Some(1), ..float("der(h)", 2) },
        state("v", 3, 0.0),
        Variable { derivative: Some(3), ..float("der(v)", 4) },
        parameter("g", 5, -10.0),
        parameter("e", 6, 0.5),
        f,
        y,
        n,
        parameter("bad", 10, 0.0),
    ];
    let wish = parameter("wish", 12, 0.0);
    let on = |list: &[usize]| {
        Some(list.iter().map(|&variable| Dependency { variable, kind: DependencyKind::Dependent }).collect())
    };
    let unknown = |variable: usize, list: &[usize]| Unknown { variable, dependencies: on(list) };
    let mut structure = ModelStructure {
        outputs: vec![unknown(1, &[1]), unknown(8, &[3, 7]), unknown(9, &[])],
        derivatives: vec![unknown(2, &[3]), unknown(4, &[5, 7])],
        initial_unknowns: [2, 4, 8, 9].map(|v| Unknown { variable: v, dependencies: None }).to_vec(),
        ..Default::default()
    };
    if version == Version::V3 {
        variables.push(float("z", 11));
        structure.event_indicators = vec![Unknown { variable: 11, dependencies: None }];
    }
    variables.push(wish);
    let mut exchange = ModelExchange::new("ball");
    exchange.interface.directional_derivatives = version == Version::V3;
    (exchange.interface.gets_and_sets_state, exchange.interface.serializes_state) = (true, true);
    ModelDescription {
        version,
        model_name: "Ball".into(),
        token: "{ball}".into(),
        naming: Naming::Structured,
        model_exchange: Some(exchange),
        co_simulation: (version == Version::V2).then(|| CoSimulation::new("ball")),
        default_experiment: Some(DefaultExperiment { stop_time: Some(1.2), ..Default::default() }),
        variables,
        structure,
        n_event_indicators: usize::from(version == Version::V2),
        ..Default::default()
    }
}

/// The ball that wants to know of accepted steps.
pub fn wishing(version: Version) -> ModelDescription {
    let mut model = description(version);
    model.model_exchange.as_mut().unwrap().needs_completed_step = true;
    model
}

/// The description of the clocks.
pub fn clocks_description() -> ModelDescription {
    use IntervalVariability as I;
    let clock = |name: &str, reference: u32, causality: Causality, interval: I, priority: Option<u32>| Variable {
        name: name.into(),
        reference,
        causality,
        clock: Some(ClockAttributes {
            interval,
            priority,
            interval_decimal: (interval == I::Constant).then_some(0.5),
            ..Default::default()
        }),
        ..Variable::new(Type::Clock)
    };
    let number = |name: &str, reference: u32, causality: Causality, kind: Type| Variable {
        name: name.into(),
        reference,
        causality,
        variability: Variability::Discrete,
        ..Variable::new(kind)
    };
    let start = |variable: Variable, values: Values| Variable { start: Some(values), ..variable };
    let (input, output) = (Causality::Input, Causality::Output);
    let mut n = start(number("n", 21, Causality::StructuralParameter, Type::UInt64), Values::Integer(vec![2]));
    n.variability = Variability::Fixed;
    let mut w = start(number("w", 22, Causality::Parameter, Type::Float64), Values::Float(vec![1.0, 2.0]));
    (w.variability, w.dimensions) = (Variability::Fixed, vec![Dimension::Variable(5)]);
    let variables = vec![
        Variable::independent("time", 0),
        clock("periodic", 1, input, I::Constant, Some(1)),
        clock("asked", 2, input, I::Triggered, Some(0)),
        clock("counted", 3, input, I::Countdown, Some(2)),
        clock("third", 4, output, I::Triggered, None),
        n,
        w,
        number("sum", 23, output, Type::Float64),
        number("a", 11, output, Type::Int32),
        number("b", 12, output, Type::Int32),
        number("c", 13, output, Type::Int32),
        start(number("u", 14, input, Type::Int32), Values::Integer(vec![0])),
        number("total", 15, output, Type::Int32),
    ];
    let unknown = |variable: usize| Unknown { variable, dependencies: None };
    ModelDescription {
        version: Version::V3,
        model_name: "Clocks".into(),
        token: "{clocks}".into(),
        scheduled_execution: Some(Interface::new("clocks")),
        default_experiment: Some(DefaultExperiment { stop_time: Some(2.0), ..Default::default() }),
        structure: ModelStructure {
            outputs: [4, 7, 8, 9, 10, 12].map(unknown).to_vec(),
            initial_unknowns: [7, 8, 9, 10, 12].map(unknown).to_vec(),
            ..Default::default()
        },
        variables,
        ..Default::default()
    }
}

/// The FMU with this description; none where there is no C compiler.
pub fn ball(model: &ModelDescription) -> Option<Vec<u8>> {
    compiled(model, "ball")
}

pub fn clocks() -> Option<Vec<u8>> {
    compiled(&clocks_description(), "clocks")
}

fn compiled(model: &ModelDescription, name: &str) -> Option<Vec<u8>> {
    let (version, platform) = match model.version {
        Version::V2 => (2, "linux64".to_owned()),
        Version::V3 => (3, format!("{}-linux", std::env::consts::ARCH)),
    };
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: the binaries of this test are for Linux");
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/fmu/{name}.c"));
    let place = std::env::temp_dir().join(format!(
        "saltus-{name}-{}-{version}-{:?}.so",
        std::process::id(),
        std::thread::current().id()
    ));
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-w", "-std=gnu11"])
        .arg(format!("-DVERSION={version}"))
        .arg(&source)
        .arg("-o")
        .arg(&place)
        .arg("-lm")
        .status();
    match made {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("the C compiler fails: {status}"),
        Err(_) => {
            eprintln!("skipped: there is no C compiler");
            return None;
        }
    }
    let binary = std::fs::read(&place).unwrap();
    std::fs::remove_file(&place).unwrap();
    let mut writer = ArchiveWriter::new();
    writer.add("modelDescription.xml", write(model).unwrap().as_bytes()).unwrap();
    writer.add(&format!("binaries/{platform}/{name}.so"), &binary).unwrap();
    Some(writer.finish().unwrap())
}
