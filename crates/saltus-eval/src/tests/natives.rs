//! Native functions through the external interface.

use super::{World, external, native, native_in, native_with};
use crate::{EvalError, ImpureRandom, Items, Value, is_native, native_names};

fn text(s: &str) -> Value {
    Value::string(s)
}

fn int(i: i64) -> Value {
    Value::Integer(i)
}

fn world(files: &[(&str, &[u8])]) -> World {
    World { files: files.iter().map(|(n, b)| (n.to_string(), b.to_vec())).collect(), ..World::default() }
}

#[test]
fn names_are_unique_and_known() {
    let names = native_names();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), names.len());
    assert!(names.iter().all(|n| is_native(n)) && !is_native("mydummyfunc"));
}

#[test]
fn strings() {
    assert_eq!(native("ModelicaStrings_length", &[text("abc")]), Ok(int(3)));
    let substring = |from, to| native("ModelicaStrings_substring", &[text("This is line 111"), int(from), int(to)]);
    // The examples in the documentation of Strings.substring.
    assert_eq!(substring(9, 12), Ok(text("line")));
    assert_eq!(substring(9, 0), Ok(text("")));
    assert_eq!(substring(14, 99), Ok(text("111")));
    assert_eq!(substring(50, 60), Ok(text("")));
    let compare = |a, b, case| native("ModelicaStrings_compare", &[text(a), text(b), Value::Boolean(case)]);
    assert_eq!(compare("a", "b", true), Ok(int(1)));
    assert_eq!(compare("A", "a", false), Ok(int(2)));
    assert_eq!(compare("b", "a", true), Ok(int(3)));
    // The values in the documentation of Strings.hashString.
    assert_eq!(native("ModelicaStrings_hashString", &[text("this is a test")]), Ok(int(1_827_717_433)));
    assert_eq!(native("ModelicaStrings_hashString", &[text("Controller.noise1")]), Ok(int(-1_025_762_750)));
    assert_eq!(native("ModelicaStrings_skipWhiteSpace", &[text("  x"), int(1)]), Ok(int(3)));
}

fn scan(kind: &str, string: &str, unsigned: Option<bool>, found: Value) -> (i64, Value) {
    let mut arguments = vec![text(string), int(1)];
    arguments.extend(unsigned.map(Value::Boolean));
    let next = arguments.len();
    arguments.extend([int(0), found]);
    let results =
        native_with(&mut World::default(), &format!("ModelicaStrings_scan{kind}"), &arguments, &[next, next + 1]);
    let results = results.expect("scans");
    (results[0].as_integer().expect("index"), results[1].clone())
}

#[test]
fn scanners() {
    let number = |s, unsigned| scan("Integer", s, Some(unsigned), int(0));
    assert_eq!(number(" -12 x", false), (5, int(-12)));
    assert_eq!(number("-12", true), (1, int(0)));
    assert_eq!(number("123.4", false), (1, int(0)));
    assert_eq!(number("99999999999999999999", false), (1, int(0)));
    let real = |s| scan("Real", s, Some(false), Value::Real(0.0));
    assert_eq!(real("  1.5e-3;"), (9, Value::Real(0.0015)));
    assert_eq!(real("2.e"), (3, Value::Real(2.0)));
    assert_eq!(real(".5"), (1, Value::Real(0.0)));
    assert_eq!(scan("String", " \"a b\" c", None, text("")), (7, text("a b")));
    assert_eq!(scan("String", "\"open", None, text("")), (1, text("")));
    assert_eq!(scan("Identifier", " ab_1 = 2", None, text("")), (6, text("ab_1")));
    assert_eq!(scan("Identifier", "1a", None, text("")), (1, text("")));
}

/// Expected numbers: the published recurrences in exact integer arithmetic (Python).
#[test]
fn random_generators() {
    let generate = |name: &str, state: Vec<i64>| {
        let out = Value::integers(vec![0; state.len()]);
        let arguments = [Value::integers(state), out, Value::Real(0.0)];
        let results =
            native_with(&mut World::default(), &format!("ModelicaRandom_{name}"), &arguments, &[1, 2]).expect("random");
        (results[0].to_integers().expect("state"), results[1].as_real().expect("number"))
    };
    assert_eq!(
        generate("xorshift64star", vec![614_657, 30_020]),
        (vec![260_159_032, 2_086_918_624], 0.9858986064932712)
    );
    assert_eq!(
        generate("xorshift128plus", vec![1, -2, 3, -4]),
        (vec![3, -4, 8_453_957, -16_777_154], 0.4960937644359582)
    );
    let state: Vec<i64> = (-16..16).chain([15]).collect();
    let (next, number) = generate("xorshift1024star", state);
    assert_eq!((&next[..2], &next[30..], number), (&[-20_971_459, 6][..], &[14, 15, 0][..], 0.4342809650169935));
    let clock = native("ModelicaRandom_automaticGlobalSeed", &[Value::Real(0.0)]);
    assert!(matches!(clock, Err(EvalError::NotConstant { .. })));
}

/// The impure numbers are those of the pure generator, one after the other.
#[test]
fn impure_random_numbers_belong_to_a_simulation() {
    let (set, next) =
        ("ModelicaRandom_setInternalState_xorshift1024star", "ModelicaRandom_impureRandom_xorshift1024star");
    let state = Value::integers((-16..16).chain([15]).collect());
    let mut w = World { random: Some(ImpureRandom::default()), ..World::default() };
    assert!(matches!(native_in(&mut w, next, &[int(1)]), Err(EvalError::Failed(_))));
    assert_eq!(native_with(&mut w, set, &[state.clone(), int(33), int(1)], &[]), Ok(vec![]));
    let numbers = [native_in(&mut w, next, &[int(1)]), native_in(&mut w, next, &[int(1)])];
    let pure = |state: Value| {
        let arguments = [state, Value::integers(vec![0; 33]), Value::Real(0.0)];
        native_with(&mut World::default(), "ModelicaRandom_xorshift1024star", &arguments, &[1, 2]).expect("random")
    };
    let first = pure(state.clone());
    let second = pure(first[0].clone());
    assert_eq!(numbers, [Ok(first[1].clone()), Ok(second[1].clone())]);
    let outside = native_in(&mut World::default(), next, &[int(1)]);
    assert!(matches!(outside, Err(EvalError::NotConstant { .. })));
}

/// One period of 2·cos: Σ u·exp(…) is 4 at frequency 1 of 3 frequencies, nothing elsewhere.
#[test]
fn fourier_transform() {
    let transform = |signal: Vec<f64>, n_work: usize| {
        let n = signal.len();
        let zeros = |n: usize| Value::reals(vec![0.0; n]);
        let arguments = [
            Value::reals(signal),
            int(n as i64),
            zeros(n_work),
            int(n_work as i64),
            zeros(n / 2 + 1),
            zeros(n / 2 + 1),
        ];
        external(&mut World::default(), "ModelicaFFT_kiss_fftr", &arguments, true, &[4, 5]).expect("transform")
    };
    let results = transform(vec![2.0, 0.0, -2.0, 0.0], 18);
    assert_eq!(results[0], int(0));
    assert_eq!(results[1].to_reals().expect("amplitudes"), [0.0, 4.0 / 3.0, 0.0]);
    assert_eq!(transform(vec![1.0, 2.0, 3.0], 13)[0], int(1));
    assert_eq!(transform(vec![2.0, 0.0, -2.0, 0.0], 17)[0], int(2));
}

#[test]
fn files() {
    let mut w = world(&[("a.txt", b"first\r\nsecond\n")]);
    assert_eq!(native_in(&mut w, "ModelicaInternal_countLines", &[text("a.txt")]), Ok(int(2)));
    let mut line =
        |n| external(&mut w, "ModelicaInternal_readLine", &[text("a.txt"), int(n), Value::Boolean(false)], true, &[2]);
    assert_eq!(line(2), Ok(vec![text("second"), Value::Boolean(false)]));
    assert_eq!(line(3), Ok(vec![text(""), Value::Boolean(true)]));
    assert_eq!(native_in(&mut w, "ModelicaInternal_stat", &[text("a.txt")]), Ok(int(2)));
    assert_eq!(native_in(&mut w, "ModelicaInternal_stat", &[text("b.txt")]), Ok(int(1)));
    assert_eq!(
        native_in(&mut w, "ModelicaInternal_fullPathName", &[text("modelica://A/x.txt")]),
        Ok(text("/lib/A/x.txt"))
    );
    let missing = native_in(&mut w, "ModelicaInternal_countLines", &[text("b.txt")]);
    assert!(matches!(missing, Err(EvalError::Failed(d)) if d.code.0 == "E0614"));
    let time = native_in(&mut w, "ModelicaInternal_getenv", &[text("HOME")]);
    assert!(matches!(time, Err(EvalError::NotConstant { .. })));
}

/// `M = {{1, 2, 3}, {4, 5, 6}}` in the version 4 layout: type 0 (little-endian, Real, full), column-major data.
fn mat_version4() -> Vec<u8> {
    let mut bytes: Vec<u8> = [0u32, 2, 3, 0, 2].iter().flat_map(|i| i.to_le_bytes()).collect();
    bytes.extend(b"M\0");
    bytes.extend([1.0f64, 4.0, 2.0, 5.0, 3.0, 6.0].iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

fn tagged(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// The same matrix in the version 5 layout, optionally compressed; its numbers stored as bytes.
fn mat_version5(compressed: bool) -> Vec<u8> {
    let flags = tagged(6, &[6, 0, 0, 0, 0, 0, 0, 0]);
    let dims = tagged(5, &[2, 0, 0, 0, 3, 0, 0, 0]);
    // A name of up to four bytes stands in the tag itself.
    let name = [&[1u8, 0, 1, 0][..], b"M\0\0\0"].concat();
    let data = tagged(2, &[1, 4, 2, 5, 3, 6]);
    let matrix = tagged(14, &[flags, dims, name, data].concat());
    let mut file = b"MATLAB 5.0 MAT-file".to_vec();
    file.resize(124, b' ');
    file.extend([0, 1, b'I', b'M']);
    if compressed {
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&matrix, 6);
        file.extend([15u32.to_le_bytes(), (packed.len() as u32).to_le_bytes()].concat());
        file.extend(packed);
    } else {
        file.extend(matrix);
    }
    file
}

#[test]
fn matlab_matrices_of_all_versions() {
    for bytes in [mat_version4(), mat_version5(false), mat_version5(true)] {
        let mut w = world(&[("m.mat", &bytes)]);
        let sizes = native_with(
            &mut w,
            "ModelicaIO_readMatrixSizes",
            &[text("m.mat"), text("M"), Value::integers(vec![0, 0])],
            &[2],
        );
        assert_eq!(sizes, Ok(vec![Value::integers(vec![2, 3])]));
        let zeros = Value::from_parts(vec![2, 3], Items::Real(vec![0.0; 6])).expect("matrix");
        let arguments = [text("m.mat"), text("M"), zeros, int(2), int(3), Value::Boolean(false)];
        let matrix = native_with(&mut w, "ModelicaIO_readRealMatrix", &arguments, &[2]).expect("matrix");
        assert_eq!(matrix[0].dims(), [2, 3]);
        assert_eq!(matrix[0].to_reals(), Some(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let missing = native_with(
            &mut w,
            "ModelicaIO_readMatrixSizes",
            &[text("m.mat"), text("X"), Value::integers(vec![0, 0])],
            &[2],
        );
        assert!(matches!(missing, Err(EvalError::Failed(_))));
        // Cut anywhere, the file is refused and nothing worse happens.
        for n in 0..bytes.len() {
            let mut w = world(&[("m.mat", &bytes[..n])]);
            let _ = native_with(
                &mut w,
                "ModelicaIO_readMatrixSizes",
                &[text("m.mat"), text("M"), Value::integers(vec![0, 0])],
                &[2],
            );
        }
    }
}

fn matrix(rows: usize, columns: usize, items: &[f64]) -> Value {
    Value::from_parts(vec![rows, columns], Items::Real(items.to_vec())).expect("matrix")
}

/// A CombiTable1D object with this table; smoothness and extrapolation by ordinal.
fn table_1d(w: &mut World, table: Value, smoothness: i64, extrapolation: i64) -> Result<Value, EvalError> {
    let (rows, columns) = (table.dims()[0] as i64, table.dims()[1] as i64);
    let arguments = [
        text("NoName"),
        text("NoName"),
        table,
        int(rows),
        int(columns),
        Value::integers(vec![2]),
        int(1),
        int(smoothness),
        int(extrapolation),
        Value::Boolean(false),
        text(","),
        int(0),
    ];
    native_in(w, "ModelicaStandardTables_CombiTable1D_init3", &arguments)
}

#[test]
fn tables_1d() {
    let mut w = World::default();
    let points = || matrix(3, 2, &[0.0, 0.0, 1.0, 10.0, 3.0, 30.0]);
    let linear = table_1d(&mut w, points(), 1, 2).expect("table");
    assert_eq!(
        native_in(&mut w, "ModelicaStandardTables_CombiTable1D_minimumAbscissa", std::slice::from_ref(&linear)),
        Ok(Value::Real(0.0))
    );
    assert_eq!(
        native_in(&mut w, "ModelicaStandardTables_CombiTable1D_maximumAbscissa", std::slice::from_ref(&linear)),
        Ok(Value::Real(3.0))
    );
    let mut at = |table: &Value, u: f64| {
        native_in(&mut w, "ModelicaStandardTables_CombiTable1D_getValue", &[table.clone(), int(1), Value::Real(u)])
    };
    // The points lie on y = 10*u, and extrapolation continues the line.
    for u in [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0] {
        assert_eq!(at(&linear, u), Ok(Value::Real(10.0 * u)));
    }
    let mut other = World::default();
    let hold = table_1d(&mut other, points(), 3, 1).expect("table");
    let periodic = table_1d(&mut other, points(), 1, 3).expect("table");
    let strict = table_1d(&mut other, points(), 1, 4).expect("table");
    assert_eq!((at(&hold, 2.9), at(&hold, 9.0)), (Ok(Value::Real(10.0)), Ok(Value::Real(30.0))));
    assert_eq!(at(&periodic, 3.5), Ok(Value::Real(5.0)));
    assert!(matches!(at(&strict, 3.5), Err(EvalError::Failed(_))));
    let falling = table_1d(&mut other, matrix(2, 2, &[1.0, 0.0, 1.0, 1.0]), 1, 1);
    assert!(matches!(falling, Err(EvalError::Failed(_))));
}

/// Akima's spline through points of u² on equal steps is u² itself.
#[test]
fn derivatives_of_tables_follow_the_chain_rule() {
    let mut w = World::default();
    let points = matrix(4, 2, &[0.0, 0.0, 1.0, 1.0, 2.0, 4.0, 3.0, 9.0]);
    let table = table_1d(&mut w, points, 2, 1).expect("table");
    let mut at = vec![table, int(1), Value::Real(1.5)];
    let mut call = |name: &str, at: &[Value]| {
        let found = native_in(&mut w, &format!("ModelicaStandardTables_CombiTable1D_{name}"), at);
        found.expect("a value").as_real().expect("a Real")
    };
    // With der(u) = 2, der(der(u)) = 5: y = 2.25, y' = 2u·2 = 6, y'' = 2·2² + 2u·5 = 23.
    assert!((call("getValue", &at) - 2.25).abs() < 1e-14);
    at.push(Value::Real(2.0));
    assert!((call("getDerValue", &at) - 6.0).abs() < 1e-14);
    at.push(Value::Real(5.0));
    assert!((call("getDer2Value", &at) - 23.0).abs() < 1e-13);
}

#[test]
fn tables_2d_and_time_tables_from_files() {
    let mut w = world(&[("t.txt", b"#1\ndouble t(3,2)\n0 1\n0 2\n5 3\n")]);
    // z = u1 + 10*u2 is reproduced by bilinear interpolation.
    let table = matrix(3, 3, &[0.0, 1.0, 2.0, 0.0, 10.0, 20.0, 4.0, 14.0, 24.0]);
    let arguments = [
        text("NoName"),
        text("NoName"),
        table,
        int(3),
        int(3),
        int(1),
        int(2),
        Value::Boolean(false),
        text(","),
        int(0),
    ];
    let object = native_in(&mut w, "ModelicaStandardTables_CombiTable2D_init3", &arguments).expect("table");
    let point = [object.clone(), Value::Real(1.0), Value::Real(1.5)];
    assert_eq!(native_in(&mut w, "ModelicaStandardTables_CombiTable2D_getValue", &point), Ok(Value::Real(16.0)));
    let bounds = native_with(
        &mut w,
        "ModelicaStandardTables_CombiTable2D_maximumAbscissa",
        &[object, Value::reals(vec![0.0; 2])],
        &[1],
    );
    assert_eq!(bounds, Ok(vec![Value::reals(vec![4.0, 2.0])]));
    let arguments = [
        text("t.txt"),
        text("t"),
        matrix(0, 2, &[]),
        int(0),
        int(2),
        Value::Real(0.0),
        Value::integers(vec![2]),
        int(1),
        int(1),
        int(1),
        Value::Real(0.0),
        int(1),
        Value::Boolean(false),
        text(","),
        int(0),
    ];
    let times = native_in(&mut w, "ModelicaStandardTables_CombiTimeTable_init3", &arguments).expect("table");
    let end = native_in(&mut w, "ModelicaStandardTables_CombiTimeTable_maximumTime", std::slice::from_ref(&times));
    assert_eq!(end, Ok(Value::Real(5.0)));
    let event = [times.clone(), Value::Real(0.0)];
    assert_eq!(native_in(&mut w, "ModelicaStandardTables_CombiTimeTable_nextTimeEvent", &event), Ok(Value::Real(5.0)));
    // From 2 (behind the jump at 0) to 3 in 5 seconds; der(time) = 1.
    let mut at = vec![times, int(1), Value::Real(2.5), Value::Real(5.0), Value::Real(5.0)];
    assert_eq!(native_in(&mut w, "ModelicaStandardTables_CombiTimeTable_getValue", &at), Ok(Value::Real(2.5)));
    at.push(Value::Real(1.0));
    assert_eq!(native_in(&mut w, "ModelicaStandardTables_CombiTimeTable_getDerValue", &at), Ok(Value::Real(0.2)));
}
