//! Functional mock-up units: the wrapper that makes a component of one, and the functions that the wrapper calls.
//!
//! ```text
//! Drive.fmu  ⇒  model Drive                                  ⇒  simulation: saltus_fmu_derivatives(unit, …)
//!                 Saltus.FMI.Unit fmu = …                          resources ⇒ calls ⇒ saltus-fmi-host
//!                 {der(x1), …} = Saltus.FMI.derivatives(fmu, …)
//! ```
//!
//! [docs/design/fmi.md](../../../docs/design/fmi.md) says why the wrapper is ordinary Modelica.

#[cfg(feature = "jit")]
pub(crate) mod calls;
#[cfg(not(feature = "jit"))]
#[path = "fmu/no_calls.rs"]
pub(crate) mod calls;
mod names;
pub mod wrapper;

/// The extension of functional mock-up units.
pub const EXTENSION: &str = "fmu";

/// What is found wrong with an FMU while it runs: whether its dependencies are true. Foreign code runs.
#[cfg(feature = "jit")]
pub fn probe(opened: saltus_fmi::Opened, bytes: Vec<u8>) -> saltus_base::Diagnostics {
    let fmu = std::sync::Arc::new(saltus_fmi_host::Fmu::new(opened, bytes));
    let mut findings = saltus_base::Diagnostics::new();
    let model = &fmu.document.model;
    if model.model_exchange.is_none() && model.co_simulation.is_none() {
        return findings;
    }
    match saltus_fmi_host::probe(fmu.clone(), &fmu.document.places) {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(saltus_fmi_host::diagnostics::failed(&error)),
    }
    findings
}

#[cfg(not(feature = "jit"))]
pub fn probe(_: saltus_fmi::Opened, _: Vec<u8>) -> saltus_base::Diagnostics {
    saltus_base::Diagnostics::new()
}
