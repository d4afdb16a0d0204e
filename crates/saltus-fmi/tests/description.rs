//! Model descriptions that are written, read back and checked. The expected findings follow from the rules of FMI 2.0.5 and 3.0.2.

use saltus_base::SourceMap;
use saltus_fmi::*;

/// A bouncing mass with one of every kind of variable that both versions have.
fn ball(version: Version) -> ModelDescription {
    let float = |name: &str, reference: u32| Variable { name: name.into(), reference, ..Variable::new(Type::Float64) };
    let parameter = |name: &str, reference, kind, start| Variable {
        name: name.into(),
        reference,
        causality: Causality::Parameter,
        variability: Variability::Tunable,
        start: Some(start),
        ..Variable::new(kind)
    };
    let mut g = parameter("g", 5, Type::Float64, Values::Float(vec![-9.81]));
    g.attributes.unit = Some("m/s2".into());
    let mut mode = parameter("mode", 6, Type::Enumeration, Values::Integer(vec![2]));
    mode.declared_type = Some("Mode".into());
    let variables = vec![
        Variable::independent("time", 0),
        Variable {
            initial: Some(Initial::Exact),
            causality: Causality::Output,
            start: Some(Values::Float(vec![1.0])),
            aliases: vec![Alias { name: "height".into(), ..Default::default() }],
            ..float("h", 1)
        },
        Variable { derivative: Some(1), ..float("der(h)", 2) },
        Variable {
            initial: Some(Initial::Exact),
            start: Some(Values::Float(vec![f64::MIN_POSITIVE])),
            reinit: true,
            ..float("v", 3)
        },
        Variable { derivative: Some(3), ..float("der(v)", 4) },
        g,
        mode,
        parameter("n", 7, Type::Int32, Values::Integer(vec![-3])),
        parameter("b", 8, Type::Boolean, Values::Boolean(vec![true])),
        parameter("s", 9, Type::String, Values::String(vec!["a <\"b\"> & 'c'\tµ".into()])),
    ];
    let on = |at: usize, kind| Dependency { variable: at, kind };
    ModelDescription {
        version,
        model_name: "Ball".into(),
        token: "{1}".into(),
        description: Some("jumps".into()),
        naming: Naming::Structured,
        model_exchange: Some(ModelExchange { needs_completed_step: true, ..ModelExchange::new("Ball") }),
        co_simulation: Some(CoSimulation { variable_step: true, ..CoSimulation::new("Ball") }),
        units: vec![Unit {
            name: "m/s2".into(),
            base: Some(BaseUnit { exponents: [0, 1, -2, 0, 0, 0, 0, 0], ..Default::default() }),
            display_units: vec![DisplayUnit { name: "gal".into(), factor: 100.0, ..Default::default() }],
        }],
        types: vec![TypeDefinition {
            name: "Mode".into(),
            kind: Type::Enumeration,
            items: (1..=2).map(|i| EnumerationItem { name: format!("m{i}"), value: i, description: None }).collect(),
            ..Default::default()
        }],
        log_categories: vec![LogCategory { name: "events".into(), description: None }],
        default_experiment: Some(DefaultExperiment { stop_time: Some(3.0), ..Default::default() }),
        variables,
        structure: ModelStructure {
            outputs: vec![Unknown { variable: 1, dependencies: None }],
            derivatives: vec![
                Unknown { variable: 2, dependencies: Some(vec![on(3, DependencyKind::Constant)]) },
                Unknown { variable: 4, dependencies: Some(vec![on(5, DependencyKind::Dependent)]) },
            ],
            initial_unknowns: vec![
                Unknown { variable: 2, dependencies: None },
                Unknown { variable: 4, dependencies: Some(Vec::new()) },
            ],
            ..Default::default()
        },
        n_event_indicators: if version == Version::V2 { 1 } else { 0 },
        ..Default::default()
    }
}

fn read_text(text: &str) -> Document {
    read(text, SourceMap::new().add("modelDescription.xml", text)).unwrap()
}

fn findings(text: &str) -> Vec<String> {
    let mut map = SourceMap::new();
    let file = map.add("m.xml", text);
    let lines = |d: &saltus_base::Diagnostic| {
        let place = d.span.and_then(|s| map.location(s)).unwrap_or_default();
        format!("{place} {} {}", d.code.0, d.message)
    };
    check(&read(text, file).unwrap()).iter().map(lines).collect()
}

#[test]
fn what_is_written_is_read_back() {
    let model = ball(Version::V3);
    assert_eq!(read_text(&write(&model).unwrap()).model, model);
}

#[test]
fn in_2_0_an_alias_is_a_variable_after_all_others() {
    let model = ball(Version::V2);
    let read = read_text(&write(&model).unwrap()).model;
    let alias = read.variables.last().unwrap();
    assert_eq!((alias.name.as_str(), alias.reference, alias.start.clone()), ("height", 1, None));
    let mut expected = model.clone();
    expected.variables[1].aliases.clear();
    expected.variables.push(alias.clone());
    assert_eq!(read, expected);
}

#[test]
fn a_correct_description_has_no_findings() {
    for version in [Version::V2, Version::V3] {
        assert_eq!(findings(&write(&ball(version)).unwrap()), Vec::<String>::new());
    }
}

#[test]
fn what_2_0_lacks_is_refused() {
    let mut model = ball(Version::V2);
    model.variables[1].dimensions = vec![Dimension::Fixed(2)];
    assert_eq!(write(&model), Err(WriteError::Array { name: "h".into() }));
    let mut model = ball(Version::V2);
    model.variables[7].kind = Type::Int64;
    assert_eq!(write(&model), Err(WriteError::Type { name: "n".into(), kind: Type::Int64 }));
}

/// The finding of one change to a correct description.
fn broken(change: impl FnOnce(&mut ModelDescription)) -> Vec<String> {
    let mut model = ball(Version::V3);
    change(&mut model);
    let codes = findings(&write(&model).unwrap());
    codes.iter().map(|line| line.split_once(' ').unwrap().1.split(':').next().unwrap().to_string()).collect()
}

#[test]
fn each_rule_has_its_finding() {
    assert_eq!(broken(|m| m.variables[3].name = "h".into()), ["E1010 there are two of the variable `h`"]);
    assert_eq!(
        broken(|m| m.variables[5].name = "g g".into()),
        ["E1011 `g g` is not a name of the naming convention that the FMU declares"]
    );
    assert_eq!(broken(|m| m.variables[8].reference = 7), ["E1012 `b` and `n` have the same value reference 7"]);
    assert_eq!(
        broken(|m| m.variables[5].variability = Variability::Continuous)[0],
        "E1013 causality `parameter` and variability `continuous` of `g` do not go together"
    );
    assert_eq!(broken(|m| m.variables[5].initial = Some(Initial::Approx)), ["E1014 `g` may not have initial `approx`"]);
    assert_eq!(broken(|m| m.variables[5].start = None), ["E1015 `g` needs a start value"]);
    assert_eq!(
        broken(|m| m.variables[2].start = Some(Values::Float(vec![0.0]))),
        ["E1016 `der(h)` may not have a start value"]
    );
    assert_eq!(
        broken(|m| m.variables[1].start = Some(Values::Float(vec![0.0; 3]))),
        ["E1017 `h` has 1 elements and 3 start values"]
    );
    assert_eq!(
        broken(|m| m.variables[5].attributes.unit = Some("ft".into())),
        ["E1018 the unit `ft` of `g` is not defined"]
    );
    assert_eq!(
        broken(|m| m.variables[5].attributes.display_unit = Some("g".into())),
        ["E1019 the display unit `g` of `g` is not defined for the unit `m/s2`"]
    );
    assert_eq!(
        broken(|m| m.variables[6].declared_type = Some("Other".into())),
        ["E1020 the declared type `Other` of `mode` is not defined"]
    );
    assert_eq!(
        broken(|m| m.variables[0].causality = Causality::Local),
        ["E1022 there are 0 independent variables, expected one"]
    );
    assert_eq!(broken(|m| m.structure.outputs.clear()), ["E1025 ModelStructure lacks `h` among the outputs"]);
    assert_eq!(
        broken(|m| m.structure.initial_unknowns[0].variable = 5)[0],
        "E1026 `g` does not belong to the initial unknowns of ModelStructure"
    );
    assert_eq!(
        broken(|m| m.variables[2].derivative = None)[0],
        "E1028 `der(h)` is listed as a derivative, but it does not say of what"
    );
    let on = |variable| Some(vec![Dependency { variable, kind: DependencyKind::Dependent }]);
    assert_eq!(
        broken(|m| m.structure.derivatives[0].dependencies = on(4)),
        ["E1033 `der(h)` is said to depend on `der(v)`, which is an unknown itself"]
    );
}

#[test]
fn findings_say_where() {
    let text = "<?xml version=\"1.0\"?>\n<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">\n\
                <ModelExchange modelIdentifier=\"M\"/>\n<ModelVariables>\n\
                <ScalarVariable name=\"x\" valueReference=\"0\"><Real start=\"one\" derivative=\"7\"/></ScalarVariable>\n\
                </ModelVariables>\n<ModelStructure/>\n</fmiModelDescription>\n";
    assert_eq!(
        findings(text),
        [
            "m.xml:5:51 E1005 `start` is `one`, expected numbers",
            "m.xml:5:63 E1009 `derivative` names 7, but there is no variable with the index 7",
        ]
    );
}

#[test]
fn other_texts_are_refused() {
    let error = |text: &str| read(text, SourceMap::new().add("m.xml", text)).unwrap_err().code.0;
    assert_eq!(error("<fmiModelDescription"), "E1001");
    assert_eq!(error("<a/>"), "E1002");
    assert_eq!(error("<fmiModelDescription fmiVersion=\"1.0\"/>"), "E1003");
    // Entities that expand a thousandfold are not even parsed.
    assert_eq!(error("<!DOCTYPE a [<!ENTITY b \"bbbb\">]><a>&b;</a>"), "E1001");
}

#[test]
fn arrays_clocks_and_bytes_of_3_0_survive() {
    let mut model = ball(Version::V3);
    let n = model.variables.len();
    model.variables.push(Variable {
        name: "size".into(),
        reference: 20,
        causality: Causality::StructuralParameter,
        variability: Variability::Fixed,
        start: Some(Values::Integer(vec![2])),
        ..Variable::new(Type::UInt64)
    });
    model.variables.push(Variable {
        name: "table".into(),
        reference: 21,
        causality: Causality::Parameter,
        variability: Variability::Fixed,
        dimensions: vec![Dimension::Fixed(3), Dimension::Variable(n)],
        start: Some(Values::Float(vec![1.0, 2.0, 3.0, 4.0, 5.0, f64::INFINITY])),
        ..Variable::new(Type::Float32)
    });
    model.variables.push(Variable {
        name: "bytes".into(),
        reference: 22,
        causality: Causality::Input,
        start: Some(Values::Binary(vec![vec![0, 255]])),
        ..Variable::new(Type::Binary)
    });
    let interval = IntervalVariability::Constant;
    model.variables.push(Variable {
        name: "tick".into(),
        reference: 23,
        causality: Causality::Input,
        clock: Some(ClockAttributes { interval, interval_decimal: Some(0.1), ..Default::default() }),
        ..Variable::new(Type::Clock)
    });
    model.variables.push(Variable {
        name: "count".into(),
        reference: 24,
        clocks: vec![n + 3],
        start: Some(Values::Integer(vec![u64::MAX.into()])),
        initial: Some(Initial::Exact),
        ..Variable::new(Type::UInt64)
    });
    let text = write(&model).unwrap();
    assert_eq!(read_text(&text).model, model);
    assert_eq!(findings(&text), Vec::<String>::new());
    assert_eq!(model.n_elements(&model.variables[n + 1]), 6);
}
