//! A run that is stopped, saved, written, read and continued gives the same rows and events as one that is not, bit by bit:
//! for every model of `testdata/simulate` and every example of the library `Saltus`, through the binary form of the model.

use std::path::Path;
use std::sync::Arc;

use saltus::container::{self, Content};
use saltus::pipeline::{self, Engine, Experiment, Options};
use saltus::{Model, Permissions, Session, guard, suite};
use saltus_program::Stopwatch;
use saltus_sim::{EventRecord, Recorder, Simulation, State, Trajectory};

/// What a run recorded: times and values bit by bit, and the events.
#[derive(PartialEq, Debug, Default)]
struct Recording {
    times: Vec<u64>,
    values: Vec<Vec<u64>>,
    events: Vec<EventRecord>,
    failure: Option<String>,
}

impl Recording {
    fn add(&mut self, trajectory: Trajectory) {
        for segment in &trajectory.segments {
            self.times.extend(segment.times.iter().map(|t| t.to_bits()));
            self.values.resize(segment.rows.n_places(), Vec::new());
            for (place, values) in self.values.iter_mut().enumerate() {
                values.extend(segment.at(place).iter().map(|v| v.to_bits()));
            }
        }
        self.events.extend(trajectory.events);
    }
}

fn start(model: &Arc<Model>) -> (Simulation, Recorder) {
    let settings = Experiment::default().settings(model.program());
    let recorder = Recorder::new(settings.max_result_bytes);
    let mut simulation = Simulation::new(model.instance(Engine::Auto, Permissions::default()), settings);
    if let Some(maker) = model.configurations(Engine::Auto, Permissions::default(), &Stopwatch::default()) {
        simulation.set_configurations(maker);
    }
    simulation.set_sink(Box::new(recorder.clone()));
    (simulation, recorder)
}

fn uninterrupted(model: &Arc<Model>) -> Recording {
    let (mut simulation, recorder) = start(model);
    let done = saltus_sim::run(&mut simulation, &mut |_| true);
    let mut recording = Recording { failure: done.err().map(|e| e.to_string()), ..Recording::default() };
    recording.add(recorder.take());
    recording
}

/// Stops at each of the times, and goes on with another instance of a copy of the model.
fn interrupted(model: &Arc<Model>, stops: &[f64]) -> Recording {
    let bytes = model.to_bytes().expect("a model can be written");
    let mut recording = Recording::default();
    let (mut simulation, mut recorder) = start(model);
    for &stop in stops {
        if let Err(error) = simulation.advance_to(stop) {
            recording.failure = Some(error.to_string());
            recording.add(recorder.take());
            return recording;
        }
        // A look at the values leaves no trace.
        let _ = simulation.values();
        recording.add(recorder.take());
        let state = simulation.state().expect("a state can be saved");
        let written = container::encode(Content::State, &state).expect("a state can be written");
        let state: State = container::decode(Content::State, &written).expect("a state can be read");
        let copy = Arc::new(Model::from_bytes(&bytes).expect("a model can be read"));
        (simulation, recorder) = start(&copy);
        simulation.restore(&state).expect("the state fits");
    }
    let done = saltus_sim::run(&mut simulation, &mut |_| true);
    recording.failure = done.err().map(|e| e.to_string());
    recording.add(recorder.take());
    recording
}

/// Five times of the run: one of an event, the others anywhere.
fn stops(model: &Model, events: &[EventRecord]) -> Vec<f64> {
    let settings = Experiment::default().settings(model.program());
    let span = settings.stop_time - settings.start_time;
    let mut seed = model.name().bytes().fold(17u64, |s, b| s.wrapping_mul(31).wrapping_add(u64::from(b)));
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut times: Vec<f64> = (0..4).map(|_| settings.start_time + span * random()).collect();
    times.push(events.get(events.len() / 2).map_or(settings.start_time, |e| e.time));
    times.sort_by(f64::total_cmp);
    times
}

fn check(name: &str, model: &Arc<Model>) -> Option<String> {
    let whole = uninterrupted(model);
    let stops = stops(model, &whole.events);
    let parts = interrupted(model, &stops);
    if whole == parts {
        return None;
    }
    let differs = |a: &[u64], b: &[u64]| a.iter().zip(b).position(|(a, b)| a != b);
    let first = differs(&whole.times, &parts.times);
    let value = whole.values.iter().zip(&parts.values).enumerate().find_map(|(i, (a, b))| Some((i, differs(a, b)?)));
    let event = whole.events.iter().zip(&parts.events).find(|(a, b)| a != b);
    Some(format!(
        "{name}, stopped at {stops:?}: {} and {} rows, {} and {} events, first other time {first:?}, value {value:?} \
         (time {:?}), event {event:?}, failures {:?} and {:?}",
        whole.times.len(),
        parts.times.len(),
        whole.events.len(),
        parts.events.len(),
        value.and_then(|(_, row)| whole.times.get(row)).map(|t| f64::from_bits(*t)),
        whole.failure,
        parts.failure
    ))
}

fn compile(session: &Session, name: Option<&str>) -> Option<Arc<Model>> {
    let class = match name {
        Some(name) => session.class(Some(name)).ok()?,
        None => session.own_classes().last().copied()?,
    };
    let compiled = pipeline::compile(session, class, &Options::default());
    compiled.map_err(|why| why.iter().for_each(|d| println!("{name:?}: {}", d.message))).ok()
}

fn run_all(models: impl FnOnce() -> (usize, Vec<String>) + Send, at_least: usize) {
    let (n, failures) = guard::on_large_stack(models).unwrap_or_else(|internal| panic!("{}", internal.message));
    assert!(n >= at_least, "only {n} models");
    assert!(failures.is_empty(), "{} of {n} models\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn models_of_the_tests_go_on_as_if_nothing_had_happened() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/simulate");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    run_all(
        move || {
            let mut n = 0;
            let mut failures = Vec::new();
            for file in &files {
                let mut session = Session::on_disk();
                session.load_file(file);
                let Some(model) = compile(&session, None) else { continue };
                n += 1;
                failures.extend(check(&file.file_name().unwrap().to_string_lossy(), &model));
            }
            (n, failures)
        },
        35,
    );
}

#[test]
fn examples_go_on_as_if_nothing_had_happened() {
    run_all(
        || {
            let session = Session::on_disk();
            let examples = session.class(Some("Saltus.Examples")).expect("the shipped examples");
            let names = suite::tests(session.library(), &[examples], None);
            // Some examples show what is rejected.
            let models: Vec<_> = names.iter().filter_map(|name| Some((name, compile(&session, Some(name))?))).collect();
            let failures = models.iter().filter_map(|(name, model)| check(name, model)).collect();
            (models.len(), failures)
        },
        50,
    );
}

/// Models of the standard library that are taken from the list of those that agree with their references.
const N_LIBRARY_MODELS: usize = 60;

/// Only where `MSL` names a directory with the standard library.
#[test]
fn models_of_the_standard_library_go_on_as_if_nothing_had_happened() {
    let Some(library) = std::env::var_os("MSL") else {
        println!("skipped: MSL does not name a directory with the standard library");
        return;
    };
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/corpus/baseline.txt");
    let list = std::fs::read_to_string(list).unwrap();
    let verified: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("verified ")).collect();
    let names: Vec<&str> = verified.iter().copied().step_by(verified.len() / N_LIBRARY_MODELS).collect();
    run_all(
        || {
            let mut session = Session::on_disk();
            session.add_library(Path::new(&library));
            let models: Vec<_> = names.iter().filter_map(|name| Some((name, compile(&session, Some(name))?))).collect();
            let failures = models.iter().filter_map(|(name, model)| check(name, model)).collect();
            (models.len(), failures)
        },
        N_LIBRARY_MODELS,
    );
}

/// A machine of two plants of different order, a rigid clutch, and a coil behind a diode: up to eight configurations.
const CHANGING: &str = "model Changing
  model Swing Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = v; der(v) = -4*x; end Swing;
  model Fall Real h(start = 1, fixed = true); equation der(h) = -h; end Fall;
  Swing c; Fall f;
  Real w1(start = 11, fixed = true), w2(start = 2, fixed = true), tau;
  Real i(start = 0, fixed = true), u, s;
  Boolean off;
  Boolean locked = mod(time, 0.7) > 0.35;
equation
  initialState(c);
  transition(c, f, c.x < -0.3);
  transition(f, c, f.h < 0.6);
  when activeState(f) then
    reinit(f.h, 1 + 0.1*pre(c.v));
  end when;
  der(w1) = -tau - 0.5*w1 + 2;
  3*der(w2) = tau - 0.2*w2;
  if locked then w1 = w2; else tau = 0; end if;
  sin(9*time) = u + 0.5*i + 0.2*der(i);
  off = s < 0;
  u = if off then s else 0;
  i = if off then 0 else s;
  annotation(experiment(StopTime = 4));
end Changing;
";

/// Where the other process finds the model and the state, and leaves its recording.
const ELSEWHERE: &str = "SALTUS_TEST_GOES_ON_IN";

/// What the other process does.
fn go_on(dir: &Path) {
    let read = |name: &str| std::fs::read(dir.join(name)).expect(name);
    let model = Arc::new(Model::from_bytes(&read("model")).expect("a model"));
    let state: State = container::decode(Content::State, &read("state")).expect("a state");
    let (mut simulation, recorder) = start(&model);
    simulation.restore(&state).expect("the state fits");
    let done = saltus_sim::run(&mut simulation, &mut |_| true);
    let mut recording = Recording { failure: done.err().map(|e| e.to_string()), ..Recording::default() };
    recording.add(recorder.take());
    std::fs::write(dir.join("recording"), format!("{recording:?}")).expect("a file");
}

/// Stopped at twelve times in one process, continued in others: the same rows and events, bit by bit.
#[test]
fn a_run_with_several_configurations_goes_on_in_another_process() {
    if let Some(dir) = std::env::var_os(ELSEWHERE) {
        return go_on(Path::new(&dir));
    }
    let dir = std::env::temp_dir().join(format!("saltus-interrupted-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let mut session = Session::on_disk();
    session.set_text("Changing.mo", CHANGING);
    let model = compile(&session, None).expect("a model");
    let whole = uninterrupted(&model);
    assert_eq!(whole.failure, None);
    assert!(model.n_programs() > 4 && whole.events.len() > 20, "{} programs", model.n_programs());
    std::fs::write(dir.join("model"), model.to_bytes().expect("bytes")).expect("a file");
    let mut stops: Vec<f64> = whole.events.iter().step_by(5).map(|e| e.time).collect();
    stops.extend([0.1, 0.36, 1.3, 2.2, 3.1, 3.9]);
    for stop in stops {
        let (mut simulation, recorder) = start(&model);
        simulation.advance_to(stop).expect("it gets there");
        let mut first = Recording::default();
        first.add(recorder.take());
        let state = container::encode(Content::State, &simulation.state().expect("a state")).expect("bytes");
        std::fs::write(dir.join("state"), state).expect("a file");
        let program = std::env::current_exe().expect("this program");
        let name = "a_run_with_several_configurations_goes_on_in_another_process";
        let child = std::process::Command::new(program).args([name, "--exact"]).env(ELSEWHERE, &dir).output();
        assert!(child.expect("it runs").status.success());
        let (n_rows, n_events) = (first.times.len(), first.events.len());
        let rest = Recording {
            times: whole.times[n_rows..].to_vec(),
            values: whole.values.iter().map(|v| v[n_rows..].to_vec()).collect(),
            events: whole.events[n_events..].to_vec(),
            failure: None,
        };
        let found = std::fs::read_to_string(dir.join("recording")).expect("a recording");
        assert!(found == format!("{rest:?}"), "stopped at {stop}");
    }
    std::fs::remove_dir_all(&dir).expect("a directory");
}
