//! The extension module `saltus._saltus`: sessions, models, results and runs for the Python package in `python/saltus`.
//!
//! Here is what needs the library or must not hold the interpreter lock; names, documentation and what is made of other packages are in
//! Python. Everything that computes does so without the lock, and Ctrl-C ends it ([`interrupt`]).

mod array;
mod arrow;
mod errors;
mod inputs;
mod interrupt;
mod model;
mod result;
mod sensitivity;
mod session;
mod settings;
mod simulation;
mod sweep;
mod table;
mod values;

/// Saltus without its Python clothes: see the package `saltus`.
#[pyo3::pymodule]
mod _saltus {
    use std::ffi::OsString;

    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    #[pymodule_export]
    use crate::array::Array;
    #[pymodule_export]
    use crate::model::RawModel;
    #[pymodule_export]
    use crate::result::RawTable;
    #[pymodule_export]
    use crate::sensitivity::RawFollower;
    #[pymodule_export]
    use crate::session::RawSession;
    #[pymodule_export]
    use crate::simulation::{RawSimulation, RawState};

    #[pymodule_init]
    fn init(module: &Bound<PyModule>) -> PyResult<()> {
        // A defect becomes an exception; what it said is part of that.
        saltus::guard::remember_panics();
        let py = module.py();
        py.import("atexit")?.call_method1("register", (wrap_pyfunction!(leave, module)?,))?;
        if let Ok(register) = py.import("os")?.getattr("register_at_fork") {
            let named = PyDict::new(py);
            named.set_item("after_in_child", wrap_pyfunction!(after_fork, module)?)?;
            register.call((), Some(&named))?;
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    #[pyfunction]
    fn leave(py: Python) {
        crate::interrupt::leave(py);
    }

    #[pyfunction]
    fn after_fork() {
        crate::interrupt::after_fork();
    }

    /// Does what a command line says; gives the exit code.
    #[pyfunction]
    fn run_program(py: Python, words: Vec<OsString>) -> u8 {
        py.detach(|| saltus_cli::run_program(words))
    }
}
