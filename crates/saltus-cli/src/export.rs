//! `saltus export [FILE…] CLASS --fmi 3.0 --kind me,cs -o MODEL.fmu`: a model for other simulators.

use std::path::{Path, PathBuf};

use saltus::pipeline::{Options, Stage};
use saltus_export::description::Kinds;
use saltus_export::package::{CannotExport, Platform};
use saltus_export::{Export, Runtime, diagnostics, export};
use saltus_fmi::Version;

use crate::target::Target;
use crate::write::write_bytes;
use crate::{Exit, Screen};

/// Where the runtime is if it is named nowhere else.
const RUNTIME: &str = "SALTUS_FMU_RUNTIME";

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus export Motors.Drive --library libraries --fmi 3.0 --output Drive.fmu\n  saltus export Ball.mo --fmi 2.0 --kind cs\n  saltus export Drive.mo --runtime linux64=libsaltus_fmu.so --runtime win64=saltus_fmu.dll"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// The version of the standard: 2.0 or 3.0.
    #[arg(long, value_name = "VERSION", default_value = "3.0", value_parser = version)]
    fmi: Version,
    /// How others may use it: me (model exchange), cs (co-simulation) or both.
    #[arg(long, value_name = "KINDS", default_value = "me,cs", value_parser = kinds)]
    kind: Kinds,
    /// The file to write; otherwise the last name of the class with the extension .fmu.
    #[arg(long, short, value_name = "FILE", value_parser = fmu_file)]
    output: Option<PathBuf>,
    /// The library saltus-fmu for a platform, as linux64=libsaltus_fmu.so; may be given for several platforms.
    #[arg(long, value_name = "[PLATFORM=]FILE")]
    runtime: Vec<String>,
    /// Print nothing but messages.
    #[arg(long)]
    quiet: bool,
}

fn version(text: &str) -> Result<Version, String> {
    match text {
        "2" | "2.0" => Ok(Version::V2),
        "3" | "3.0" => Ok(Version::V3),
        _ => Err("expected 2.0 or 3.0".to_owned()),
    }
}

fn kinds(text: &str) -> Result<Kinds, String> {
    let mut kinds = Kinds { model_exchange: false, co_simulation: false };
    for kind in text.split(',').map(str::trim) {
        match kind {
            "me" => kinds.model_exchange = true,
            "cs" => kinds.co_simulation = true,
            _ => return Err("expected me, cs or me,cs".to_owned()),
        }
    }
    Ok(kinds)
}

fn fmu_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_fmu = path.extension().is_some_and(|e| e == "fmu");
    if is_fmu { Ok(path) } else { Err("expected a file name that ends in .fmu".to_owned()) }
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    if let Some(name) = arguments.target.compiled() {
        return Err(screen.fail(&saltus::diagnostics::compiled_stands_alone(name)));
    }
    arguments.target.protect(&[arguments.output.as_ref()], &[], screen)?;
    let runtimes = runtimes(&arguments.runtime).map_err(|wrong| screen.fail(&wrong))?;
    let run = arguments.target.run(Options::until(Stage::Compile), screen)?;
    let Some(model) = run.outcome.model.as_ref().filter(|_| !run.outcome.has_errors()) else {
        return Ok(Exit::ModelError);
    };
    let wanted = Export { version: arguments.fmi, kinds: arguments.kind, runtimes };
    let made = export(model, &wanted).map_err(|why| {
        screen.fail(&match why {
            CannotExport::StructureChanges => diagnostics::needs_co_simulation(model.name()),
            CannotExport::DifferentiatedInput(input) => diagnostics::differentiated_input(model.name(), &input),
            why => diagnostics::cannot_export(model.name(), &why.to_string()),
        })
    })?;
    if let Some(why) = &made.cannot_start {
        screen.show(&diagnostics::cannot_start(model.name(), &why.to_string()), &model.sources());
    }
    let last = model.name().rsplit('.').next().unwrap_or_default();
    let path = arguments.output.clone().unwrap_or_else(|| format!("{last}.fmu").into());
    write_bytes(&path, &made.bytes, screen)?;
    if !arguments.quiet {
        let (variables, states, bytes) = (made.n_variables, made.n_states, made.bytes.len());
        screen.say(&format!("{}: {variables} variables, {states} states, {bytes} bytes", path.display()));
    }
    arguments.target.report_cost(&run, &[], screen)?;
    Ok(Exit::Success)
}

/// The runtimes that were named, or the one of this machine: named by the environment, beside the program, or inside of it.
fn runtimes(named: &[String]) -> Result<Vec<Runtime>, saltus_base::Diagnostic> {
    if !named.is_empty() {
        return named.iter().map(|text| named_runtime(text)).collect();
    }
    if let Some(named) = std::env::var_os(RUNTIME).filter(|text| !text.is_empty()) {
        let named = named.to_string_lossy().into_owned();
        return named.split(';').map(named_runtime).collect();
    }
    let beside = beside_the_program();
    if let (Some(platform), Some(path)) = (Platform::here(), beside.iter().find(|path| path.is_file())) {
        return Ok(vec![read(platform, path)?]);
    }
    let embedded = embedded();
    if embedded.is_empty() {
        let places = beside.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<String>>();
        return Err(diagnostics::no_runtime(&places));
    }
    Ok(embedded)
}

fn named_runtime(text: &str) -> Result<Runtime, saltus_base::Diagnostic> {
    match text.split_once('=') {
        Some((name, path)) => {
            let platform = Platform::from_name(name).ok_or_else(|| {
                let known: Vec<&str> = Platform::ALL.iter().map(|p| p.name).collect();
                diagnostics::bad_runtime(text, &format!("`{name}` is not one of {}", known.join(", ")))
            })?;
            read(platform, Path::new(path))
        }
        None => {
            let unknown = || diagnostics::bad_runtime(text, "this platform has no name in FMI: write PLATFORM=FILE");
            read(Platform::here().ok_or_else(unknown)?, Path::new(text))
        }
    }
}

fn read(platform: Platform, path: &Path) -> Result<Runtime, saltus_base::Diagnostic> {
    let unreadable = |error: std::io::Error| diagnostics::bad_runtime(&path.display().to_string(), &error.to_string());
    Ok(Runtime { platform, bytes: std::fs::read(path).map_err(unreadable)? })
}

fn beside_the_program() -> Vec<PathBuf> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let name = format!("{DLL_PREFIX}saltus_fmu{DLL_SUFFIX}");
    let program = std::env::current_exe().unwrap_or_default();
    let directory = program.parent().unwrap_or(Path::new("."));
    vec![directory.join(&name), directory.join("../lib").join(&name)]
}

/// The runtimes that this program was built with.
fn embedded() -> Vec<Runtime> {
    #[cfg(feature = "embed-runtime")]
    {
        let embedded: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/runtimes.rs"));
        let runtime = |(name, bytes): &(&str, &[u8])| {
            Some(Runtime { platform: Platform::from_name(name)?, bytes: bytes.to_vec() })
        };
        return embedded.iter().filter_map(runtime).collect();
    }
    #[cfg(not(feature = "embed-runtime"))]
    Vec::new()
}
