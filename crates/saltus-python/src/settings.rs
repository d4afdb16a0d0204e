//! Keyword arguments about a run.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use saltus::pipeline::{Engine, Experiment, Output};
use saltus_base::nearest;
use saltus_results::Kept;
use saltus_sim::{EventSearch, MixedMethod, Solver, ZenoPolicy};

use crate::errors;

/// How a model is run.
#[derive(Clone, Default)]
pub struct Settings {
    pub experiment: Experiment,
    pub engine: Engine,
}

const ENGINES: [(&str, Engine); 3] =
    [("auto", Engine::Auto), ("jit", Engine::Jit), ("interpreter", Engine::Interpreter)];
/// Longest time limit in seconds that counts as one.
const LONGEST: f64 = 1e9;

impl Settings {
    pub fn read(py: Python, given: &Bound<PyDict>) -> PyResult<Settings> {
        let mut all = Settings::default();
        let experiment = &mut all.experiment;
        for (key, value) in given {
            if value.is_none() {
                continue;
            }
            let key: String = key.extract()?;
            match key.as_str() {
                "start_time" => experiment.start_time = Some(number(&key, &value)?),
                "stop_time" => experiment.stop_time = Some(number(&key, &value)?),
                "interval" => experiment.output = Some(Output::Interval(positive(&key, &value)?)),
                "intervals" => {
                    let n: u32 = value.extract().map_err(|_| wrong(&key, "a positive int", &value))?;
                    if n == 0 {
                        return Err(wrong(&key, "a positive int", &value));
                    }
                    experiment.output = Some(Output::Intervals(n));
                }
                "tolerance" => experiment.tolerance = Some(positive(&key, &value)?),
                "max_step" => experiment.max_step = Some(positive(&key, &value)?),
                "fixed_step" => experiment.fixed_step = Some(positive(&key, &value)?),
                "step_rows" => experiment.step_rows = value.is_truthy()?,
                "solver" => experiment.solver = choice(&key, &value, &Solver::NAMES)?,
                "on_zeno" => experiment.on_zeno = choice(&key, &value, &ZenoPolicy::NAMES)?,
                "events" => experiment.events = choice(&key, &value, &EventSearch::NAMES)?,
                "mixed" => experiment.mixed = choice(&key, &value, &MixedMethod::NAMES)?,
                "engine" => all.engine = choice(&key, &value, &ENGINES)?,
                "time_limit" => {
                    let seconds = positive(&key, &value)?.min(LONGEST);
                    experiment.time_limit = Some(Duration::from_secs_f64(seconds));
                }
                "keep" => {
                    let patterns: Vec<String> = match value.cast::<PyString>() {
                        Ok(one) => vec![one.extract()?],
                        Err(_) => value.extract().map_err(|_| wrong(&key, "a list of names", &value))?,
                    };
                    experiment.kept = Kept::only(&patterns, []);
                }
                _ => return Err(errors::wrong_type(format!("`{key}` is not a setting of a run"))),
            }
        }
        let _ = py;
        Ok(all)
    }
}

fn wrong(key: &str, expected: &str, value: &Bound<PyAny>) -> PyErr {
    let found = value.repr().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
    errors::wrong_value(format!("{key}: expected {expected}, found {found}"))
}

pub fn number(key: &str, value: &Bound<PyAny>) -> PyResult<f64> {
    let number: f64 = value.extract().map_err(|_| wrong_type(key, "a number", value))?;
    if number.is_finite() { Ok(number) } else { Err(wrong(key, "a finite number", value)) }
}

fn wrong_type(key: &str, expected: &str, value: &Bound<PyAny>) -> PyErr {
    let found = value.get_type().name().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
    errors::wrong_type(format!("{key}: expected {expected}, found {found}"))
}

fn positive(key: &str, value: &Bound<PyAny>) -> PyResult<f64> {
    let number = number(key, value)?;
    if number > 0.0 { Ok(number) } else { Err(wrong(key, "a positive number", value)) }
}

fn choice<T: Copy>(key: &str, value: &Bound<PyAny>, all: &[(&'static str, T)]) -> PyResult<T> {
    let text: String = value.extract().map_err(|_| wrong_type(key, "a str", value))?;
    let found = all.iter().find(|(name, _)| *name == text);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let hint = nearest(&text, names.iter().copied()).map_or(String::new(), |s| format!("; did you mean {s:?}?"));
        errors::wrong_value(format!("{key}: expected one of {}, found {text:?}{hint}", names.join(", ")))
    })
}
