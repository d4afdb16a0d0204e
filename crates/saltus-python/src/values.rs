//! Values that users give to variables: from Python to Modelica text, and what is done with them.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PySet, PyString};
use saltus::model::Unchangeable;
use saltus::{Model, Start};

use crate::errors;

/// Nested lists may be this deep.
const DEEPEST: usize = 8;

/// Names and values as Modelica writes them. A str is the value of a String, and of anything else what Modelica writes for it.
pub fn read(model: &Model, given: &Bound<PyDict>) -> PyResult<Vec<(String, String)>> {
    let pair = |(name, value): (Bound<PyAny>, Bound<PyAny>)| {
        let name: String = name.extract().map_err(|_| errors::wrong_type("names of variables are str".to_owned()))?;
        let text = if model.is_text(&name) { literal(&name, &value, 0)? } else { text(&name, &value, 0)? };
        Ok((name, text))
    };
    given.iter().map(pair).collect()
}

/// A text, or lists of texts, as Modelica writes them.
fn literal(name: &str, value: &Bound<PyAny>, depth: usize) -> PyResult<String> {
    if value.is_instance_of::<PyString>() {
        let text: String = value.extract()?;
        return Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")));
    }
    list(name, value, depth, "a str or a list of them", literal)
}

/// The elements of an array.
fn list(
    name: &str,
    value: &Bound<PyAny>,
    depth: usize,
    expected: &str,
    element: fn(&str, &Bound<PyAny>, usize) -> PyResult<String>,
) -> PyResult<String> {
    let wrong = || {
        let found = value.get_type().name().map_or_else(|_| "something else".to_owned(), |t| t.to_string());
        errors::wrong_type(format!("{name}: expected {expected}, found {found}"))
    };
    // Elements without an order, or that are not meant as numbers.
    let is_list = !(value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
        || value.is_instance_of::<PyDict>());
    let items = if is_list { value.try_iter().map_err(|_| wrong())? } else { return Err(wrong()) };
    if depth >= DEEPEST {
        return Err(errors::wrong_value(format!("{name}: lists are nested too deeply")));
    }
    let items: Vec<String> = items.map(|item| element(name, &item?, depth + 1)).collect::<PyResult<_>>()?;
    Ok(format!("{{{}}}", items.join(", ")))
}

/// A value as Modelica writes it.
fn text(name: &str, value: &Bound<PyAny>, depth: usize) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyString>() {
        return value.extract();
    }
    if value.is_instance_of::<PyInt>() {
        let number: i64 = value.extract().map_err(|_| errors::wrong_value(format!("{name}: too large an int")))?;
        return Ok(number.to_string());
    }
    if value.is_instance_of::<PyFloat>() {
        return number(name, value.extract()?);
    }
    // Before lists: scalars of NumPy have a length of their own kind, or none.
    if let Ok(flag) = value.call_method0("item").and_then(|item| item.extract::<bool>()) {
        return Ok(flag.to_string());
    }
    if let Ok(found) = value.extract::<f64>() {
        return number(name, found);
    }
    list(name, value, depth, "a number, bool, str or a list of them", text)
}

fn number(name: &str, value: f64) -> PyResult<String> {
    if value.is_finite() {
        Ok(format!("{value:?}"))
    } else {
        Err(errors::wrong_value(format!("{name}: expected a finite number, found {value}")))
    }
}

/// The name of a literal as the whole program knows it.
pub fn qualified(model: &Model, name: &str, text: &str) -> Option<String> {
    let enumeration = model.variable(name).ok()?.enumeration?;
    let all = model.program().routines.enumerations.get(enumeration)?;
    all.literals.iter().any(|literal| literal == text).then(|| format!("{}.{text}", all.name))
}

/// The first element of an array; a scalar is itself.
pub fn first(model: &Model, name: &str) -> String {
    match model.sizes(name).filter(|_| model.variable(name).is_err()) {
        Some(sizes) => format!("{name}[{}]", vec!["1"; sizes.len()].join(",")),
        None => name.to_owned(),
    }
}

const ATTRIBUTES: [&str; 5] = [".start", ".fixed", ".min", ".max", ".nominal"];

/// Can it be set in the compiled model? False if it has to be compiled for the value; an error if it cannot be at all.
pub fn is_settable(py: Python, model: &Model, name: &str, text: &str) -> PyResult<bool> {
    let is_attribute = ATTRIBUTES
        .iter()
        .any(|end| name.strip_suffix(end).is_some_and(|of| model.variable(of).is_ok() || model.sizes(of).is_some()));
    if is_attribute && model.variable(name).is_err() {
        return Ok(false);
    }
    match model.changeable(&first(model, name)) {
        Ok(_) => {}
        Err(Unchangeable::Structural | Unchangeable::Text | Unchangeable::Computed) => return Ok(false),
        Err(why) => return Err(errors::unchangeable(py, name, &why)),
    }
    let start = Start { values: vec![(name.to_owned(), text.to_owned())], state: None };
    let wrong = start.check(model);
    if wrong.is_empty() { Ok(true) } else { Err(errors::wrong_values(py, &wrong, &model.sources())) }
}
