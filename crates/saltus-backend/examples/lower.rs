//! Flattens and lowers classes of a library; prints counts or the first message of each.
//!
//! `lower DIRECTORY CLASS…` or `lower DIRECTORY @FILE`, the file with one class name on each line. The exit code says whether
//! all could be lowered.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use saltus_backend::{Survey, survey};
use saltus_base::{Diagnostic, Diagnostics};
use saltus_library::{DiskFiles, Library};

fn main() -> ExitCode {
    // Deeply nested models need more than the stack of a main thread.
    let worker = std::thread::Builder::new().stack_size(256 << 20).spawn(run);
    match worker.map(|w| w.join()) {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn run() -> bool {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next() else {
        eprintln!("usage: lower DIRECTORY CLASS… | @FILE");
        return false;
    };
    let library = Library::new(Box::new(DiskFiles));
    library.add_search_path(Path::new(&directory));
    let mut all = true;
    for name in arguments.flat_map(names) {
        let line = one(&library, &name);
        all &= line.starts_with("ok");
        println!("{name}\t{line}");
    }
    all
}

fn names(argument: String) -> Vec<String> {
    match argument.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect(),
        None => vec![argument],
    }
}

fn one(library: &Library, name: &str) -> String {
    let Some(class) = library.find(name) else { return "no such class".into() };
    let started = Instant::now();
    let flattened = saltus_frontend::flatten(library, class, &saltus_frontend::Options::default());
    let flat_seconds = started.elapsed().as_secs_f64();
    let Some(model) = flattened.model.filter(|_| !flattened.diagnostics.has_errors()) else {
        return format!("not flat\t{}", first_error(library, &flattened.diagnostics));
    };
    let started = Instant::now();
    let found = survey(&model);
    let seconds = started.elapsed().as_secs_f64();
    if found.diagnostics.has_errors() {
        return format!("not lowered\t{}", first_error(library, &found.diagnostics));
    }
    format!("{}\t{}", verdict(&found), counts(&found, flat_seconds, seconds))
}

fn verdict(found: &Survey) -> &'static str {
    if found.n_equations == found.n_unknowns { "ok" } else { "unbalanced" }
}

fn counts(found: &Survey, flat_seconds: f64, seconds: f64) -> String {
    format!(
        "slots {} unknowns {} equations {} initial {} relations {} nodes {} flatten {flat_seconds:.3} lower {seconds:.3} calls {}",
        found.n_slots,
        found.n_unknowns,
        found.n_equations,
        found.n_initial_equations,
        found.n_relations,
        found.n_nodes,
        found.callables.join(" ")
    )
}

fn first_error(library: &Library, diagnostics: &Diagnostics) -> String {
    let is_error = |d: &&Diagnostic| d.severity == saltus_base::Severity::Error;
    let Some(d) = diagnostics.iter().find(is_error) else { return String::new() };
    let place = d.span.and_then(|span| library.with_sources(|sources| sources.location(span))).unwrap_or_default();
    format!("{}\t{}\t{place}", d.code.0, d.message)
}
