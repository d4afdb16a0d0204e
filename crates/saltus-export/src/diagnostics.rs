//! What is wrong with an export.

use saltus_base::{Code, Diagnostic, Span};

fn said(code: &'static str, message: String) -> Diagnostic {
    Diagnostic::new(Code(code), Span::nowhere(), message)
}

/// Model exchange needs a state vector that stays the same.
pub fn needs_co_simulation(model: &str) -> Diagnostic {
    said("E1081", format!("`{model}` changes its structure during the simulation: it cannot be used in model exchange"))
        .hint("export it for co-simulation alone: `--kind cs`")
}

/// In model exchange an input has a value and no slope.
pub fn differentiated_input(model: &str, input: &str) -> Diagnostic {
    said("E1086", format!("`{model}` differentiates its input `{input}`: it cannot be used in model exchange"))
        .hint("export it for co-simulation alone, where inputs may have derivatives: `--kind cs`")
}

/// In scheduled execution nothing happens but ticks of input clocks.
pub fn not_scheduled(model: &str, why: &str) -> Diagnostic {
    said("E1087", format!("`{model}` cannot be used in scheduled execution: {why}"))
        .hint("only what is computed at the ticks of clocks can: export it for model exchange or co-simulation, `--kind me,cs`")
}

/// Clocks as variables came with version 3.0.
pub fn no_clocks(model: &str, clock: &str) -> Diagnostic {
    said("E1088", format!("`{model}` has the clock `{clock}` as an input or output: FMI 2.0 has no clocks"))
        .hint("export it with `--fmi 3.0`")
}

/// The archive could not be made.
pub fn cannot_export(model: &str, why: &str) -> Diagnostic {
    said("E1082", format!("`{model}` cannot be exported: {why}"))
}

/// An FMU needs the library `saltus-fmu` for each platform.
pub fn no_runtime(places: &[String]) -> Diagnostic {
    said("E1083", format!("no runtime for FMUs was found: neither {}", places.join(" nor ")))
        .hint("build it with `cargo build --release -p saltus-fmu`, or name it with `--runtime` or SALTUS_FMU_RUNTIME")
}

/// A runtime that was named cannot be used.
pub fn bad_runtime(what: &str, why: &str) -> Diagnostic {
    said("E1084", format!("the runtime `{what}` cannot be used: {why}"))
}

/// What cannot be initialised with the default values of its inputs may need others.
pub fn cannot_start(model: &str, why: &str) -> Diagnostic {
    said("W1085", format!("`{model}` cannot be initialised with its default values: {why}"))
        .hint("the FMU contains the files that were read until then")
}
