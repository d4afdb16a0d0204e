//! `saltus export [FILE…] CLASS --fmi 3.0 --kind me,cs -o MODEL.fmu`: a model for other simulators.

use std::path::{Path, PathBuf};

use saltus::clock_variables::ClockDriver;
use saltus::pipeline::{Options, Stage};
use saltus_export::description::Kinds;
use saltus_export::package::CannotExport;
use saltus_export::runtimes::Places;
use saltus_export::{Export, Runtime, diagnostics, export};
use saltus_fmi::Version;

use crate::target::Target;
use crate::write::write_bytes;
use crate::{Exit, Screen};

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
    /// How others may use it: me (model exchange), cs (co-simulation), se (scheduled execution), or several of them.
    #[arg(long, value_name = "KINDS", default_value = "me,cs", value_parser = kinds)]
    kind: Kinds,
    /// Who makes periodic clocks tick: the model, or the importer, for which they are clocks of FMI 3.0 then. Scheduled execution needs the importer.
    #[arg(long, value_name = "WHO", default_value = "model", value_parser = ["model", "importer"])]
    clocks: String,
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
    let mut kinds = Kinds::default();
    for kind in text.split(',').map(str::trim) {
        match kind {
            "me" => kinds.model_exchange = true,
            "cs" => kinds.co_simulation = true,
            "se" => kinds.scheduled_execution = true,
            _ => return Err("expected me, cs, se or several of them, as in me,cs".to_owned()),
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
    let options = Options { settable_starts: true, clocks: clock_driver(arguments), ..Options::until(Stage::Compile) };
    let run = arguments.target.run(options, screen)?;
    let Some(model) = run.outcome.model.as_ref().filter(|_| !run.outcome.has_errors()) else {
        return Ok(Exit::ModelError);
    };
    let wanted = Export { version: arguments.fmi, kinds: arguments.kind, runtimes };
    let made = export(model, &wanted).map_err(|why| {
        screen.fail(&match why {
            CannotExport::StructureChanges => diagnostics::needs_co_simulation(model.name()),
            CannotExport::DifferentiatedInput(input) => diagnostics::differentiated_input(model.name(), &input),
            CannotExport::NotScheduled(why) => diagnostics::not_scheduled(model.name(), &why),
            CannotExport::Clocks(clock) => diagnostics::no_clocks(model.name(), &clock),
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

/// Scheduled execution knows no other clocks than those that the importer drives.
fn clock_driver(arguments: &Arguments) -> ClockDriver {
    match arguments.clocks == "importer" || arguments.kind.scheduled_execution {
        true => ClockDriver::Outside,
        false => ClockDriver::Mixed,
    }
}

/// What the program contains.
#[cfg(feature = "embed-runtime")]
const EMBEDDED: &[(&str, &[u8])] = {
    assert!(
        !saltus_fmu_embed::RUNTIMES.is_empty(),
        "the feature embed-runtime needs `cargo build -p saltus-fmu` with the same profile before, or SALTUS_EMBED_RUNTIME=PLATFORM=FILE"
    );
    saltus_fmu_embed::RUNTIMES
};
#[cfg(not(feature = "embed-runtime"))]
const EMBEDDED: &[(&str, &[u8])] = &[];

fn runtimes(named: &[String]) -> Result<Vec<Runtime>, saltus_base::Diagnostic> {
    let program = std::env::current_exe().unwrap_or_default();
    let directory = program.parent().unwrap_or(Path::new("."));
    saltus_export::runtimes::find(&Places { named, directory, embedded: EMBEDDED })
}
