//! What goes wrong, as Python exceptions. Their classes are in `saltus/_errors.py`; here they are made.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use saltus::model::{Unchangeable, UnknownVariable};
use saltus::render::{self, Style};
use saltus::{AccessError, Model, diagnostics};
use saltus_base::{Diagnostic, SourceMap};
use saltus_sim::SimError;
use serde_json::Value;

/// An instance of a class of `saltus._errors`.
fn made<'py>(py: Python<'py>, class: &str, arguments: PyResult<Bound<'py, PyTuple>>) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("saltus._errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call1(arguments?)?))
    };
    make().unwrap_or_else(|error| error)
}

/// All messages as the text that the command line shows, and as data.
pub fn told<'a>(all: impl IntoIterator<Item = &'a Diagnostic>, sources: &SourceMap) -> (String, String) {
    let (mut text, mut data) = (String::new(), Vec::new());
    for diagnostic in all {
        text += &render::render(diagnostic, sources, Style::default());
        let mut value = render::to_json(diagnostic, sources);
        value["text"] = Value::from(render::render(diagnostic, sources, Style::default()).trim_end());
        data.push(value);
    }
    (text.trim_end().to_owned(), Value::from(data).to_string())
}

pub fn compile_error<'a>(py: Python, all: impl IntoIterator<Item = &'a Diagnostic>, sources: &SourceMap) -> PyErr {
    let (text, data) = told(all, sources);
    made(py, "CompileError", (text, data).into_pyobject(py))
}

/// A run has failed; what it computed until then is part of the exception.
pub fn simulation_error(py: Python, error: &SimError, model: &Model, result: Option<Py<PyAny>>) -> PyErr {
    if error.kind == saltus_sim::SimErrorKind::Interrupted {
        return PyKeyboardInterrupt::new_err(());
    }
    let (text, data) = told([&diagnostics::simulation_failed(error)], &model.sources());
    made(py, "SimulationError", (text, data, error.time, result).into_pyobject(py))
}

pub fn wrong_values<'a>(py: Python, all: impl IntoIterator<Item = &'a Diagnostic>, sources: &SourceMap) -> PyErr {
    let (text, data) = told(all, sources);
    made(py, "ValueRefused", (text, data).into_pyobject(py))
}

pub fn unknown(py: Python, unknown: &UnknownVariable) -> PyErr {
    made(py, "UnknownName", (unknown.to_string(), unknown.name.clone(), unknown.similar.clone()).into_pyobject(py))
}

pub fn unknown_signal(py: Python, message: String, name: String, similar: Option<String>) -> PyErr {
    made(py, "UnknownName", (message, name, similar).into_pyobject(py))
}

/// A pattern that fits no variable.
pub fn nothing_kept(py: Python, pattern: &UnknownVariable) -> PyErr {
    let said = diagnostics::nothing_kept(pattern);
    let message = std::iter::once(&said.message).chain(&said.hints).cloned().collect::<Vec<_>>().join("; ");
    made(py, "UnknownName", (message, pattern.name.clone(), pattern.similar.clone()).into_pyobject(py))
}

pub fn unchangeable(py: Python, name: &str, why: &Unchangeable) -> PyErr {
    match why {
        Unchangeable::Unknown(why) => unknown(py, why),
        why => refused(py, &format!("`{name}` cannot be set: {why}")),
    }
}

pub fn refused(py: Python, message: &str) -> PyErr {
    made(py, "ValueRefused", (message, "[]").into_pyobject(py))
}

pub fn access(py: Python, model: &Model, name: &str, error: &AccessError) -> PyErr {
    match error {
        AccessError::Unknown(why) => unknown(py, why),
        AccessError::Unchangeable(why) => unchangeable(py, name, why),
        AccessError::CannotSet(why) => refused(py, &format!("`{name}` cannot be set: {why}")),
        AccessError::Failed(error) => simulation_error(py, error, model, None),
    }
}

pub fn state_error(py: Python, message: &str) -> PyErr {
    made(py, "StateError", (message,).into_pyobject(py))
}

pub fn damaged(py: Python, what: &str, why: &str) -> PyErr {
    made(py, "DamagedData", (format!("{what} cannot be read: {why}"),).into_pyobject(py))
}

pub fn busy(py: Python, what: &str) -> PyErr {
    made(py, "Busy", (format!("the {what} is being used by another thread"),).into_pyobject(py))
}

pub fn closed(py: Python, what: &str) -> PyErr {
    made(py, "Closed", (format!("the {what} is closed"),).into_pyobject(py))
}

pub fn failed(py: Python, message: &str) -> PyErr {
    made(py, "Error", (message,).into_pyobject(py))
}

pub fn wrong_type(message: String) -> PyErr {
    PyTypeError::new_err(message)
}

pub fn wrong_value(message: String) -> PyErr {
    PyValueError::new_err(message)
}

/// A defect of Saltus.
pub fn internal(diagnostic: &Diagnostic) -> PyErr {
    PyRuntimeError::new_err(format!("{}: {}", diagnostic.code.0, diagnostic.message))
}
