//! Inputs of a run: numbers, tables, or functions of Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use saltus::{Model, diagnostics};
use saltus_base::Diagnostic;
use saltus_program::{Causality, SlotId, SlotType};
use saltus_sim::{BadTable, Signal, Table};

use crate::errors;

pub struct Inputs {
    signals: Vec<(SlotId, String, Option<Signal>)>,
    stop: Arc<AtomicBool>,
    raised: Raised,
}

/// The first exception of a function that was called for a value.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

impl Inputs {
    /// `values` are those that are set besides.
    pub fn read(py: Python, model: &Model, given: &Bound<PyDict>, values: &[(String, String)]) -> PyResult<Inputs> {
        let (stop, raised) = (Arc::new(AtomicBool::new(false)), Raised::default());
        let mut signals = Vec::new();
        for (name, value) in given {
            let name: String = name.extract()?;
            let variable = model.variable(&name).map_err(|why| errors::unknown(py, &why))?;
            if variable.causality != Causality::Input {
                return Err(errors::refused(py, &format!("`{name}` is not an input of the model")));
            }
            if values.iter().any(|(other, _)| *other == name) {
                return Err(errors::refused(py, &format!("`{name}` has a value and is one of `inputs`, too")));
            }
            let is_held = variable.ty != SlotType::Real;
            let signal = signal(&name, &value, is_held, &stop, &raised)?;
            signals.push((variable.slot, name, Some(signal)));
        }
        Ok(Inputs { signals, stop, raised })
    }

    /// Ends the run when a function of the user has failed.
    pub fn stop(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    pub fn raised(&self) -> Raised {
        self.raised.clone()
    }

    pub fn connect(&mut self, _model: &Arc<Model>, run: &mut saltus_sim::Simulation) -> Result<(), Diagnostic> {
        for (slot, name, signal) in &mut self.signals {
            if let Some(signal) = signal.take() {
                let set = run.set_input(*slot, signal);
                set.map_err(|why| diagnostics::cannot_be_set(name, &why.to_string()))?;
            }
        }
        Ok(())
    }
}

fn signal(
    name: &str,
    value: &Bound<PyAny>,
    is_held: bool,
    stop: &Arc<AtomicBool>,
    raised: &Raised,
) -> PyResult<Signal> {
    if value.is_callable() {
        let (function, stop, raised, name) = (value.clone().unbind(), stop.clone(), raised.clone(), name.to_owned());
        let call = move |t: f64| {
            if stop.load(Ordering::Relaxed) {
                return f64::NAN;
            }
            Python::attach(|py| {
                let value = function.call1(py, (t,)).and_then(|value| value.extract::<f64>(py));
                let value = value.and_then(|value| match value.is_finite() {
                    true => Ok(value),
                    false => Err(errors::wrong_value(format!("the input `{name}` is {value} at {t}"))),
                });
                value.unwrap_or_else(|error| {
                    raised.put(error);
                    stop.store(true, Ordering::Relaxed);
                    f64::NAN
                })
            })
        };
        return Ok(Signal::Function(Box::new(call)));
    }
    if let Ok(number) = value.extract::<f64>() {
        return match number.is_finite() {
            true => Ok(Signal::Held(number)),
            false => Err(errors::wrong_value(format!("{name}: expected a finite number, found {number}"))),
        };
    }
    let expected = || {
        let message =
            format!("{name}: expected a number, a function of time, or (times, values) with or without \"hold\"");
        errors::wrong_type(message)
    };
    let parts = value.cast::<PyTuple>().map_err(|_| expected())?;
    let is_held = match parts.len() {
        2 => is_held,
        3 => match parts.get_item(2)?.extract::<String>().map_err(|_| expected())?.as_str() {
            "hold" => true,
            "linear" => false,
            _ => return Err(expected()),
        },
        _ => return Err(expected()),
    };
    let numbers = |i: usize| parts.get_item(i)?.extract::<Vec<f64>>().map_err(|_| expected());
    let table = Table::new(numbers(0)?, numbers(1)?, is_held).map_err(|why| {
        errors::wrong_value(format!(
            "{name}: {}",
            match why {
                BadTable::Empty => "the table has no points".to_owned(),
                BadTable::DifferentLengths => "there are more times than values, or less".to_owned(),
                BadTable::NotMonotonic(i) => format!("the time number {i} is before the one before it"),
                BadTable::NotFinite(i) => format!("the value number {i} is not a finite number"),
            }
        ))
    })?;
    Ok(Signal::Table(table))
}
