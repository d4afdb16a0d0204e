//! Studies as library calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use saltus::pipeline::{Options, Stage};
use saltus::study::{self, Method, Prepared, Runner, Study, Variation, Wanted, Worker, for_all, overrides};
use saltus::{Permissions, Session, Start, pipeline};
use saltus_library::MemoryFiles;

/// The recorded numbers of all points, how they were made, and how many programs that took.
fn perform(model: &str, text: &str) -> (Vec<Result<Vec<f64>, String>>, Method, usize) {
    let open = || {
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        session.set_text("M.mo", model);
        session.class(None).ok().map(|class| (session, class))
    };
    let study: Study = study::read("study.toml", text).unwrap_or_else(|(wrong, _)| panic!("{wrong:?}"));
    let Variation { names, points } = study.variation.clone().expect("a variation");
    let (session, class) = open().expect("a class");
    let mut options = Options::until(Stage::Compile);
    options.overrides = overrides(&study.values, &names, &points.typical());
    let model = pipeline::compile(&session, class, &options).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let prepared = Prepared::new(&study, &model).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let mut experiment = study.experiment.clone();
    experiment.kept = prepared.kept(None);
    let n_recompiled = AtomicUsize::new(0);
    let runner = Runner {
        model: &model,
        permissions: Permissions::default(),
        names: &names,
        experiment: &experiment,
        phases: &prepared.phases,
        watch: &prepared.watch,
        engine: study.engine,
        start: &Start::default(),
        overrides: &study.values,
        open: &open,
        stop: &Arc::new(AtomicBool::new(false)),
        n_recompiled: &n_recompiled,
        progress: &|| (),
    };
    let work = |i: usize, worker: &mut Worker| {
        let tried = prepared.perform(&runner, worker, &points.at(i), Wanted::default());
        tried.map(|tried| tried.ran.values).map_err(|failure| failure.to_string())
    };
    let mut all = Vec::new();
    for_all(points.n().unwrap_or(0), 2, runner.stop, &work, &mut |_, made| all.push(made));
    let method = runner.method();
    (all, method, n_recompiled.into_inner())
}

const HEAD: &str = "[model]\nclass = 'M'\n[vary.parameters]\n";

fn single(all: &[Result<Vec<f64>, String>]) -> Vec<f64> {
    all.iter().map(|made| made.as_ref().map_or(f64::NAN, |values| values[0])).collect()
}

#[test]
fn dependent_parameters_follow() {
    let model = "model M parameter Real a = 1; parameter Real b = 2*a; Real x = b + time; end M;";
    let (found, method, _) = perform(model, &format!("{HEAD}a = [1, 2, 3]\n[record]\nx = 'x'\nb = 'b'\n"));
    assert_eq!(method, Method::CompiledOnce);
    assert_eq!(found, [Ok(vec![3.0, 2.0]), Ok(vec![5.0, 4.0]), Ok(vec![7.0, 6.0])]);
}

#[test]
fn sizes_need_a_program_each() {
    let model = "model M parameter Integer n = 2; Real x[n] = {i*1.0 for i in 1:n}; Real s = sum(x); end M;";
    let (found, method, n) = perform(model, &format!("{HEAD}n = [1, 2, 3, 4]\n[record]\ns = 's'\n"));
    assert!(matches!(&method, Method::CompiledEach { why } if why.contains("`n`")), "{method:?}");
    assert_eq!((single(&found), n), (vec![1.0, 3.0, 6.0, 10.0], 4));
}

#[test]
fn ordinary_parameters_are_written_to_memory() {
    let model = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;";
    let text = "k = { from = 0, to = 2, number = 5 }\n[record]\nx = 'x'\nhalf = 'at(x, 0.5)'\n";
    let (found, method, n) = perform(model, &format!("{HEAD}{text}"));
    assert_eq!((method, n), (Method::CompiledOnce, 0));
    for (k, values) in [0.0f64, 0.5, 1.0, 1.5, 2.0].into_iter().zip(found) {
        let values = values.expect("a run");
        // Closed form: exp(-k t).
        assert!(
            (values[0] - (-k).exp()).abs() < 1e-5 && (values[1] - (-k / 2.0).exp()).abs() < 1e-5,
            "{k}: {values:?}"
        );
    }
}

/// A ball from height 1 with restitution 0.5: impacts at t₁ = sqrt(2/g), t₁ (1 + 2·0.5), …; speeds ±sqrt(2g), halved each time.
#[test]
fn events_have_times_and_values_on_both_sides() {
    let model = "model M parameter Real e = 0.5; Real h(start = 1, fixed = true), v(start = 0, fixed = true); Integer n(start = 0, fixed = true); \
                 equation der(h) = v; der(v) = -9.81; when h < 0 then reinit(v, -e*pre(v)); n = pre(n) + 1; end when; end M;";
    let record = "[record]\na = 'event(h < 0).time'\nb = 'event(h < 0).pre(v)'\nc = 'event(h < 0).v'\nd = 'event(0 > h, 2).time'\n\
                  e = 'event(h < 0, -1).time'\nf = 'count(h < 0)'\ng = 'event(change(n)).n'\nh = 'event(h < 0, 9).time'\ni = 'argmax(h)'\n";
    let (found, ..) =
        perform(model, &format!("{HEAD}e = [0.5]\n[experiment]\nstop-time = 1\ntolerance = 1e-10\n{record}"));
    let found = found[0].as_ref().expect("a run");
    let (t, v) = ((2.0f64 / 9.81).sqrt(), (2.0f64 * 9.81).sqrt());
    for (value, expected) in found.iter().zip([t, -v, 0.5 * v, 2.0 * t, 2.0 * t, 2.0, 1.0]) {
        assert!((value - expected).abs() < 1e-8, "{found:?}");
    }
    assert!(found[7].is_nan() && found[8] == 0.0, "{found:?}");
}

/// Random input never ends in a panic.
#[test]
fn nonsense_is_refused_in_good_order() {
    let seed = "[model]\nclass = 'M'\nvalues = { a.b = [1, 2] }\n[[phase]]\nuntil = 'event(h < 0, 2)'\n[record]\nx = 'max(abs(x)) + 1'\n";
    let bytes = seed.as_bytes();
    for i in 0..bytes.len() {
        for replacement in [b'[', b'\'', b'=', b'(', b'.', b'9', b'\n', b'-'] {
            let mut text = bytes.to_vec();
            text[i] = replacement;
            let _ = study::read("s.toml", &String::from_utf8_lossy(&text));
        }
        let _ = study::read("s.toml", &seed[..i]);
    }
}
