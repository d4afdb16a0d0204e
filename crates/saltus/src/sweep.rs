//! Parameter studies: one program, many runs, on all cores.
//!
//! In: a compiled program and for some of its parameters a list of values. Out: for every combination the last values of
//! all variables (or whole trajectories), in the order of the combinations, whatever thread computed them.
//!
//! Ordinary parameters live in memory: a run begins by writing them there. Parameters that the program was made for
//! (`n` in `Real x[n]`) need a program for each value; so does a run that fails, because a value such as zero may want another
//! structure.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use saltus_base::Severity;
use saltus_library::ClassId;
use saltus_program::{ModelFunctions, SimProgram, Stopwatch};
use saltus_sim::{Recorder, SimError, SimErrorKind, Simulation, Trajectory};

use crate::pipeline::{self, Engine, Experiment, Options, Stage, Stoppable};
use crate::{Model, Permissions, Session, Start, guard};

/// A parameter and the values it takes.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    pub name: String,
    pub values: Vec<f64>,
}

/// Opens the session of a thread and finds the class in it.
pub type Open<'a> = &'a (dyn Fn() -> Option<(Session, ClassId)> + Sync);

pub struct Study<'a> {
    pub model: &'a Arc<Model>,
    pub permissions: Permissions,
    pub axes: &'a [Axis],
    pub experiment: &'a Experiment,
    pub engine: Engine,
    /// Values that are set in the compiled model.
    pub start: &'a Start,
    /// Other parameters, as Modelica expressions.
    pub overrides: &'a [(String, String)],
    pub open: Open<'a>,
    pub jobs: usize,
    /// Set from outside to end early.
    pub stop: &'a Arc<AtomicBool>,
}

/// What came of one combination.
#[derive(Clone, PartialEq, Debug)]
pub struct Run<T> {
    pub parameters: Vec<f64>,
    /// `None` if it failed, or was not run.
    pub found: Option<T>,
    pub failure: Option<String>,
}

/// How the runs were made.
#[derive(Clone, PartialEq, Debug)]
pub enum Method {
    /// One program for all.
    CompiledOnce,
    /// A program for each run, because of this.
    CompiledEach { why: String },
}

pub struct Outcome<T> {
    pub runs: Vec<Run<T>>,
    pub method: Method,
    /// Runs that were compiled for themselves, because of the method or because they had failed.
    pub n_recompiled: usize,
}

impl Axis {
    /// `p=a:b:n`: n values from a to b; or `p=a,b,c`.
    pub fn parse(text: &str) -> Result<Axis, String> {
        let (name, values) = text.split_once('=').ok_or("expected name=first:last:number or name=value,value,…")?;
        let number = |t: &str| {
            let value = t.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| format!("expected a finite number, found `{}`", t.trim()))
        };
        let values = match values.split(':').collect::<Vec<_>>().as_slice() {
            [first, last, n] => {
                let (first, last) = (number(first)?, number(last)?);
                let n: usize = n.trim().parse().map_err(|_| "expected the number of values behind the last colon")?;
                if n > MOST_POINTS {
                    return Err(format!("expected at most {MOST_POINTS} values, found {n}"));
                }
                spread(first, last, n)
            }
            [list] => list.split(',').map(number).collect::<Result<_, _>>()?,
            _ => return Err("expected first:last:number".to_owned()),
        };
        if values.is_empty() {
            return Err("expected at least one value".to_owned());
        }
        Ok(Axis { name: name.trim().to_owned(), values })
    }
}

/// More combinations are refused: they would not fit into memory.
pub const MOST_POINTS: usize = 10_000_000;

/// `n` equidistant values; the last is exact.
fn spread(first: f64, last: f64, n: usize) -> Vec<f64> {
    let step = |i: usize| if i + 1 == n { last } else { first + (last - first) * i as f64 / (n - 1) as f64 };
    if n == 1 { vec![first] } else { (0..n).map(step).collect() }
}

/// Number of all combinations; `None` if there are too many to count.
pub fn n_points(axes: &[Axis]) -> Option<usize> {
    axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.values.len()))
}

/// The values of one combination; the last axis varies fastest.
fn point(axes: &[Axis], mut index: usize) -> Vec<f64> {
    let mut values = vec![0.0; axes.len()];
    for (value, axis) in values.iter_mut().zip(axes).rev() {
        *value = axis.values[index % axis.values.len()];
        index /= axis.values.len();
    }
    values
}

/// Stack of a thread, for functions that recurse.
const STACK: usize = 256 << 20;

impl Study<'_> {
    /// Runs all combinations. `collect` takes from a trajectory what is kept; `progress` learns how many are done.
    pub fn run<T: Send>(
        &self,
        collect: &(dyn Fn(&SimProgram, &Trajectory) -> T + Sync),
        progress: &(dyn Fn(usize) + Sync),
    ) -> Outcome<T> {
        let method = self.method();
        let n = n_points(self.axes).unwrap_or(0);
        let (next, done, n_recompiled) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let results: Mutex<Vec<Option<Run<T>>>> = Mutex::new((0..n).map(|_| None).collect());
        let work = || {
            let mut instance = self.instance();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= n || self.stop.load(Ordering::Relaxed) {
                    break;
                }
                let parameters = point(self.axes, index);
                let in_memory = match method {
                    Method::CompiledOnce => {
                        let (back, ran) = self.run_in_memory(instance, &parameters, self.experiment);
                        instance = back;
                        Some(ran)
                    }
                    Method::CompiledEach { .. } => None,
                };
                let found = match in_memory {
                    Some(Ok(trajectory)) => Ok(collect(self.model.program(), &trajectory)),
                    Some(Err(error)) if !may_be_structure(&error) => Err(error.to_string()),
                    _ => {
                        n_recompiled.fetch_add(1, Ordering::Relaxed);
                        self.run_compiled(&parameters, self.experiment)
                            .map(|(model, trajectory)| collect(model.program(), &trajectory))
                    }
                };
                let (found, failure) = match found {
                    Ok(found) => (Some(found), None),
                    Err(why) => (None, Some(why)),
                };
                if let Some(place) = results.lock().unwrap_or_else(|e| e.into_inner()).get_mut(index) {
                    *place = Some(Run { parameters, found, failure });
                }
                progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        on_threads(self.jobs, &work);
        let results = results.into_inner().unwrap_or_else(|e| e.into_inner());
        let missing = |i: usize| Run { parameters: point(self.axes, i), found: None, failure: Some("not run".into()) };
        let runs = results.into_iter().enumerate().map(|(i, run)| run.unwrap_or_else(|| missing(i))).collect();
        Outcome { runs, method, n_recompiled: n_recompiled.into_inner() }
    }

    /// Single runs, each chosen after the ones before: `work` gets a function that makes one.
    pub fn one_by_one<R>(
        &self,
        work: impl FnOnce(&mut dyn FnMut(&[f64]) -> Result<Trajectory, String>) -> R,
    ) -> (R, Method) {
        let method = self.method();
        let mut idle = Some(self.instance());
        let mut run = |values: &[f64]| match method {
            Method::CompiledOnce => {
                let instance = idle.take().unwrap_or_else(|| self.instance());
                let (back, ran) = self.run_in_memory(instance, values, self.experiment);
                idle = Some(back);
                ran.map_err(|e| e.kind.to_string())
            }
            Method::CompiledEach { .. } => self.run_compiled(values, self.experiment).map(|(_, trajectory)| trajectory),
        };
        (work(&mut run), method)
    }

    /// Can one program do all runs? What decides is proven when the model is compiled.
    fn method(&self) -> Method {
        let why = self.axes.iter().find_map(|axis| {
            let why = self.model.changeable(&axis.name).err()?;
            Some(format!("`{}` cannot be changed in the compiled model: {why}", axis.name))
        });
        why.map_or(Method::CompiledOnce, |why| Method::CompiledEach { why })
    }

    fn instance(&self) -> Box<dyn ModelFunctions> {
        self.model.instance(self.engine, self.permissions)
    }

    /// Runs with these values in memory; gives the instance back.
    fn run_in_memory(
        &self,
        mut instance: Box<dyn ModelFunctions>,
        values: &[f64],
        experiment: &Experiment,
    ) -> (Box<dyn ModelFunctions>, Result<Trajectory, SimError>) {
        instance.renew();
        let settings = experiment.settings(self.model.program());
        let recorder = Recorder::of_rows(settings.max_result_bytes);
        let mut simulation = Simulation::new(instance, settings);
        if let Some(maker) = self.model.configurations(self.engine, self.permissions, &Stopwatch::default()) {
            simulation.set_configurations(maker);
        }
        let mut set = self.start.apply(&mut simulation, self.model).map_err(|wrong| wrong[0].message.clone());
        for (axis, value) in self.axes.iter().zip(values) {
            let slot = self.model.changeable_to(&axis.name, *value).map_err(|why| format!("`{}`: {why}", axis.name));
            let now = slot.and_then(|slot| simulation.set(slot, *value).map_err(|why| why.to_string()));
            set = set.and(now);
        }
        if let Err(why) = set {
            let error = simulation.stop(SimErrorKind::CannotSet { why });
            return (simulation.into_instance(), Err(error));
        }
        simulation.set_sink(Box::new(recorder.clone()));
        simulation.stop_when(self.stop.clone());
        let goes_on = &mut |_| !self.stop.load(Ordering::Relaxed);
        let done = pipeline::run_within(&mut simulation, experiment.time_limit, goes_on);
        let done = done.and_then(|()| simulation.finish());
        let trajectory = simulation.trajectory(&recorder);
        (simulation.into_instance(), done.map(|()| trajectory))
    }

    /// The whole way from the source for these values.
    fn run_compiled(&self, values: &[f64], experiment: &Experiment) -> Result<(Arc<Model>, Trajectory), String> {
        let (session, class) = (self.open)().ok_or("the class is not found any more")?;
        let mut options = Options::until(Stage::Simulate);
        options.overrides = overrides(self.overrides, self.axes, values);
        options.experiment = experiment.clone();
        options.engine = self.engine;
        let outcome = pipeline::run_with(&session, class, &options, &mut Stoppable(self.stop.clone()));
        if outcome.has_errors() {
            let first = outcome.diagnostics.iter().find(|d| d.severity == Severity::Error);
            return Err(first.map_or_else(|| "failed".to_owned(), |d| d.message.clone()));
        }
        outcome.model.zip(outcome.trajectory).ok_or_else(|| "no result".to_owned())
    }
}

/// A value such as zero may make the equations of another structure unsolvable.
fn may_be_structure(error: &SimError) -> bool {
    matches!(error.kind, SimErrorKind::CannotEvaluate { .. } | SimErrorKind::NotANumber { .. })
}

/// A typical combination: from the middle of each axis, and not zero, because what vanishes changes the structure.
pub fn typical(axes: &[Axis]) -> Vec<f64> {
    let of = |axis: &Axis| {
        let middle = axis.values.len() / 2;
        let candidates = axis.values[middle..].iter().chain(&axis.values[..middle]);
        candidates.copied().find(|v| *v != 0.0).unwrap_or(0.0)
    };
    axes.iter().map(of).collect()
}

/// What is set for all runs, and the values of one of them.
pub fn overrides(common: &[(String, String)], axes: &[Axis], values: &[f64]) -> Vec<(String, String)> {
    let own = axes.iter().zip(values).map(|(axis, value)| (axis.name.clone(), literal(*value)));
    common.iter().cloned().chain(own).collect()
}

/// An Integer where it is one, so that Integer parameters can be varied, too.
fn literal(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { format!("{value:?}") }
}

/// Runs `work` on several threads and waits for all of them.
fn on_threads(n: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 0..n.max(1) {
            let builder = std::thread::Builder::new().stack_size(STACK);
            if builder.spawn_scoped(scope, || drop(guard::catch(work))).is_err() {
                // No more threads to be had: this one works, too.
                drop(guard::catch(work));
                break;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_library::MemoryFiles;

    #[test]
    fn axes_are_ranges_or_lists() {
        let values = |text: &str| Axis::parse(text).map(|a| a.values);
        assert_eq!(values("p=0:1:3"), Ok(vec![0.0, 0.5, 1.0]));
        assert_eq!(values("p = 2 : 9 : 1"), Ok(vec![2.0]));
        assert_eq!(values("p=1, 2,-3e1"), Ok(vec![1.0, 2.0, -30.0]));
        for wrong in ["p", "p=1:2", "p=0:1:0", "p=a", "p=1:2:3:4", "p=", "p=0:1:4294967295"] {
            assert!(Axis::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn combinations_vary_the_last_axis_fastest() {
        let axes = [Axis::parse("a=1,2").unwrap(), Axis::parse("b=5,6,7").unwrap()];
        assert_eq!(n_points(&axes), Some(6));
        let all: Vec<Vec<f64>> = (0..6).map(|i| point(&axes, i)).collect();
        assert_eq!(all[0], [1.0, 5.0]);
        assert_eq!(all[1], [1.0, 6.0]);
        assert_eq!(all[3], [2.0, 5.0]);
    }

    fn study(text: &str, vary: &str, variable: &str) -> (Vec<Option<f64>>, Method, usize) {
        let open = || {
            let mut session = Session::new(Box::new(MemoryFiles::new()));
            session.set_text("M.mo", text);
            session.class(None).ok().map(|class| (session, class))
        };
        let axes = [Axis::parse(vary).unwrap()];
        let (session, class) = open().unwrap();
        let mut options = Options::until(Stage::Compile);
        options.overrides = overrides(&[], &axes, &typical(&axes));
        let outcome = pipeline::run(&session, class, &options);
        let model = outcome.model.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics));
        let study = Study {
            model: &model,
            permissions: Permissions::default(),
            axes: &axes,
            experiment: &Experiment::default(),
            engine: Engine::Auto,
            start: &Start::default(),
            overrides: &[],
            open: &open,
            jobs: 2,
            stop: &Arc::new(AtomicBool::new(false)),
        };
        let outcome = study.run(&|_, trajectory| trajectory.last(variable).unwrap(), &|_| ());
        (outcome.runs.into_iter().map(|r| r.found).collect(), outcome.method, outcome.n_recompiled)
    }

    #[test]
    fn ordinary_parameters_are_written_to_memory() {
        let text = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;";
        let (found, method, n_recompiled) = study(text, "k=0:2:5", "x");
        assert_eq!((method, n_recompiled), (Method::CompiledOnce, 0));
        for (k, x) in [0.0f64, 0.5, 1.0, 1.5, 2.0].into_iter().zip(found) {
            // Closed form: exp(-k).
            assert!(x.is_some_and(|x| (x - (-k).exp()).abs() < 1e-5), "{k}: {x:?}");
        }
    }

    #[test]
    fn dependent_parameters_follow() {
        let text = "model M parameter Real a = 1; parameter Real b = 2*a; Real x = b + time; end M;";
        let (found, method, _) = study(text, "a=1,2,3", "x");
        assert_eq!(method, Method::CompiledOnce);
        assert_eq!(found, [Some(3.0), Some(5.0), Some(7.0)]);
    }

    #[test]
    fn sizes_need_a_program_each() {
        let text = "model M parameter Integer n = 2; Real x[n] = {i*1.0 for i in 1:n}; Real s = sum(x); end M;";
        let (found, method, n_recompiled) = study(text, "n=1:4:4", "s");
        assert!(matches!(&method, Method::CompiledEach { why } if why.contains("`n`")), "{method:?}");
        assert_eq!(n_recompiled, 4);
        assert_eq!(found, [1.0, 3.0, 6.0, 10.0].map(Some));
    }

    #[test]
    fn a_run_that_fails_does_not_disturb_the_others() {
        let text = "model M parameter Real k = 1; Real x = time*k; equation assert(x < 2.5, \"too much\"); end M;";
        let (found, _, n_recompiled) = study(text, "k=1,2,3", "x");
        assert_eq!(found, [Some(1.0), Some(2.0), None]);
        assert_eq!(n_recompiled, 0);
    }
}
