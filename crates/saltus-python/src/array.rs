//! Values that NumPy looks at where they are: the array keeps the object alive, the object keeps the values.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::table::Table;

/// A series of numbers with the interface of NumPy arrays.
#[pyclass(frozen, module = "saltus._saltus")]
pub struct Array {
    values: Values,
}

enum Values {
    Own(Vec<f64>),
    Time(Arc<Table>),
    Column(Arc<Table>, usize),
}

impl Array {
    pub fn own(values: Vec<f64>) -> Self {
        Array { values: Values::Own(values) }
    }

    pub fn time(table: &Arc<Table>) -> Self {
        Array { values: Values::Time(table.clone()) }
    }

    pub fn column(table: &Arc<Table>, place: usize) -> Self {
        Array { values: Values::Column(table.clone(), place) }
    }

    fn slice(&self) -> &[f64] {
        match &self.values {
            Values::Own(values) => values,
            Values::Time(table) => &table.times,
            Values::Column(table, place) => table.columns.get(*place).map_or(&[], Vec::as_slice),
        }
    }
}

#[pymethods]
impl Array {
    /// Version 3 of the protocol: the address, read-only. NumPy refuses a null pointer, which an empty vector does not have.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = self.slice();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (values.len(),))?;
        interface.set_item("typestr", if cfg!(target_endian = "little") { "<f8" } else { ">f8" })?;
        interface.set_item("data", (values.as_ptr() as usize, true))?;
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        self.slice().len()
    }
}
