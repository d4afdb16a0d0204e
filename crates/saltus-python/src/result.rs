//! A table as Python sees it.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use saltus::chart;
use saltus::model::UnknownVariable;
use saltus_base::nearest;
use saltus_plot as plot;
use saltus_results::{Format, Kept, Kind, Pattern, Signal, Source};

use crate::array::Array;
use crate::table::Table;
use crate::{arrow, errors};

#[pyclass(frozen, module = "saltus._saltus")]
pub struct RawTable {
    pub table: Arc<Table>,
}

impl RawTable {
    pub fn new(table: Table) -> Self {
        RawTable { table: Arc::new(table) }
    }

    fn signal(&self, py: Python, name: &str) -> PyResult<&Signal> {
        self.table.signal(name).ok_or_else(|| {
            let similar = nearest(name, self.table.signals.iter().map(|s| s.name.as_str())).map(str::to_owned);
            let hint = similar.as_ref().map_or(String::new(), |s| format!("; did you mean `{s}`?"));
            let message = format!("the result has no variable `{name}`{hint}");
            errors::unknown_signal(py, message, name.to_owned(), similar)
        })
    }
}

#[pymethods]
impl RawTable {
    /// A table of columns that are not over time. `columns` are names, kinds and the bytes of numbers.
    #[staticmethod]
    fn from_columns(title: String, columns: Vec<(String, String, Vec<u8>)>) -> PyResult<RawTable> {
        let mut signals = Vec::new();
        let mut values = Vec::new();
        for (name, kind, bytes) in columns {
            let kind = Kind::from_name(&kind).ok_or_else(|| errors::wrong_value(format!("no kind `{kind}`")))?;
            let number = |eight: &[u8]| f64::from_ne_bytes(eight.try_into().unwrap_or_default());
            signals.push(Signal::new(name, kind, Source::Column { index: values.len(), negated: false }));
            values.push(bytes.chunks_exact(8).map(number).collect::<Vec<f64>>());
        }
        if values.windows(2).any(|two| two[0].len() != two[1].len()) {
            return Err(errors::wrong_value("columns differ in length".to_owned()));
        }
        let mut table = Table::new(title, Vec::new(), values, signals, true);
        table.has_time = false;
        Ok(RawTable::new(table))
    }

    #[getter]
    fn title(&self) -> &str {
        &self.table.title
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.table.n_rows()
    }

    #[getter]
    fn n_bytes(&self) -> usize {
        self.table.n_bytes()
    }

    /// Names of signals that vary.
    fn names(&self) -> Vec<&str> {
        self.table.series().map(|(signal, _)| signal.name.as_str()).collect()
    }

    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for signal in &self.table.signals {
            if let Source::Constant(value) = signal.source {
                all.set_item(&signal.name, value)?;
            }
        }
        Ok(all)
    }

    fn time(&self) -> Array {
        Array::time(&self.table)
    }

    /// An array, or the value of a parameter.
    fn column(&self, py: Python, name: &str) -> PyResult<Py<PyAny>> {
        match self.signal(py, name)?.source {
            Source::Column { index, .. } => {
                Ok(Array::column(&self.table, index).into_pyobject(py)?.into_any().unbind())
            }
            Source::Constant(value) => Ok(value.into_pyobject(py)?.into_any().unbind()),
        }
    }

    fn contains(&self, name: &str) -> bool {
        self.table.signal(name).is_some()
    }

    /// Kind, unit, display unit, description and literals.
    fn describe(&self, py: Python, name: &str) -> PyResult<(&'static str, String, String, String, Vec<String>)> {
        let s = self.signal(py, name)?;
        Ok((s.kind.name(), s.unit.clone(), s.display_unit.clone(), s.description.clone(), s.literals.clone()))
    }

    fn events(&self, py: Python) -> String {
        py.detach(|| self.table.events_json().to_owned())
    }

    #[getter]
    fn facts(&self) -> &str {
        &self.table.facts
    }

    fn arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::stream(py, &self.table)
    }

    #[pyo3(signature = (path, keep=None))]
    fn save(&self, py: Python, path: PathBuf, keep: Option<Vec<String>>) -> PyResult<()> {
        let format = Format::of(&path).ok_or_else(|| {
            let known: Vec<String> = Format::EXTENSIONS.iter().map(|(e, _)| format!(".{e}")).collect();
            errors::wrong_value(format!("expected a file name that ends in {}, found {path:?}", known.join(", ")))
        })?;
        let kept = keep.map_or_else(Kept::default, |patterns| Kept::only(&patterns, []));
        let names: Vec<&str> = self.table.signals.iter().map(|s| s.name.as_str()).chain(["time"]).collect();
        if let Some(pattern) = kept.idle_patterns(&names).next() {
            let similar = nearest(pattern, names.iter().copied()).map(str::to_owned);
            return Err(errors::nothing_kept(py, &UnknownVariable { name: pattern.to_owned(), similar }));
        }
        let saved = py.detach(|| self.table.save(&path, format, &kept));
        saved.map_err(|error| error.error.into())
    }

    /// A picture: `svg`, `html` as text, `png` as bytes, `terminal` as text.
    #[pyo3(signature = (names, form, title=None, width=96))]
    fn chart<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        form: &str,
        title: Option<String>,
        width: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let patterns: Vec<Pattern> = names.iter().map(|name| Pattern::new(name)).collect();
        let first: Vec<&str> = self.table.series().take(chart::SHOWN).map(|(s, _)| s.name.as_str()).collect();
        let wanted = |s: &Signal| {
            let is_named = names.contains(&s.name) || patterns.iter().any(|p| p.matches(&s.name));
            is_named || chart::is_mode(s) || names.is_empty() && first.contains(&s.name.as_str())
        };
        for name in names.iter().zip(&patterns).filter(|(_, p)| p.is_literal()).map(|(name, _)| name) {
            self.signal(py, name)?;
        }
        let drawn = py.detach(|| {
            let part = self.table.part(&wanted);
            let names = if names.is_empty() { first.iter().map(|s| (*s).to_owned()).collect() } else { names.clone() };
            let mut picture = chart::chart(&part, &names, true)?;
            picture.title = title.unwrap_or(picture.title);
            Ok::<_, saltus_base::Diagnostic>(match form {
                "svg" => plot::svg(&picture).into_bytes(),
                "png" => plot::png(&picture),
                "html" => plot::html(&picture).into_bytes(),
                _ => plot::terminal(&picture, width.clamp(40, 240), false).into_bytes(),
            })
        });
        let drawn = drawn.map_err(|unknown| errors::wrong_values(py, [&unknown], &saltus_base::SourceMap::new()))?;
        Ok(PyBytes::new(py, &drawn))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.table.to_bytes());
        Ok(PyBytes::new(py, &bytes.map_err(errors::wrong_value)?))
    }

    #[staticmethod]
    fn from_bytes(py: Python, bytes: &[u8]) -> PyResult<RawTable> {
        let table = Table::from_bytes(bytes).map_err(|why| errors::damaged(py, "the result", &why))?;
        Ok(RawTable::new(table))
    }
}
