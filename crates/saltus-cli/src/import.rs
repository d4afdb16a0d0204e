//! `saltus import FILE.fmu`: shows what is in an FMU and writes a Modelica model that makes a component of it.

use std::path::{Path, PathBuf};

use saltus::fmu::wrapper::{self, Settings};
use saltus_fmi::{Causality, Kind, ModelDescription, Opened};

use crate::fmu::open;
use crate::summary::plural;
use crate::write::write;
use crate::{Exit, Screen};

const EXAMPLES: &str = "\
Examples:
  saltus import Drive.fmu                          writes Drive.mo
  saltus import Drive.fmu --kind cs -o Slave.mo    another interface, another name
  saltus simulate Rig.mo Drive.fmu Rig --allow-external    the same without a file

The wrapper finds the FMU beside itself.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The FMU.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which interface the component uses: model exchange, or co-simulation. Model exchange where the FMU has it.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<Kind>,
    /// The file that is written; its name is that of the class.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Variables that are neither inputs nor outputs, states or parameters become part of the component too.
    #[arg(long)]
    locals: bool,
    /// Only show what is in the FMU.
    #[arg(long)]
    show: bool,
}

pub fn kind(text: &str) -> Result<Kind, String> {
    match text {
        "me" => Ok(Kind::ModelExchange),
        "cs" => Ok(Kind::CoSimulation),
        "se" => Ok(Kind::ScheduledExecution),
        _ => Err("expected me, cs or se".to_owned()),
    }
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let (opened, _) = open(&arguments.file, screen)?;
    screen.say(&contents(&opened));
    if opened.document.findings.has_errors() {
        screen.show_all(&opened.document.findings, &opened.sources);
        return Err(Exit::ModelError);
    }
    if arguments.show {
        return Ok(Exit::Success);
    }
    let model = &opened.document.model;
    let Some(kind) = arguments.kind.or_else(|| wrapper::usual_kind(model)) else {
        return Err(screen.fail(&saltus::diagnostics::no_usable_interface(&opened.name)));
    };
    if model.interface(kind).is_none() {
        return Err(screen.fail(&saltus::diagnostics::no_usable_interface(&opened.name)));
    }
    let stem = |path: &Path| path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let class = arguments.output.as_deref().and_then(stem).unwrap_or_else(|| wrapper::usual_class(model));
    let directory = arguments.file.parent().unwrap_or(Path::new(""));
    let output = arguments.output.clone().unwrap_or_else(|| directory.join(format!("{class}.mo")));
    // The model that an FMU was made of often lies beside it, with the same name.
    let is_foreign = |bytes: Vec<u8>| !bytes.is_empty() && !wrapper::is_wrapper(&String::from_utf8_lossy(&bytes));
    if output.is_file() && std::fs::read(&output).is_ok_and(is_foreign) {
        let path = output.display().to_string();
        return Err(screen.fail(&saltus::diagnostics::not_ours(&path, "the wrapper of an FMU")));
    }
    let file = reference(&arguments.file, &output, &class);
    let settings = Settings { class: &class, file: &file, kind, locals: arguments.locals };
    let (text, left_out) = wrapper::write(model, &settings);
    write(&output, &text, screen)?;
    if !left_out.is_empty() {
        screen.say(&format!("not part of the wrapper (texts, bytes and clocks): {}", left_out.join(", ")));
    }
    screen.say(&format!("wrote {}", output.display()));
    Ok(Exit::Success)
}

/// How the wrapper names the FMU: beside itself by a URI, elsewhere by the absolute path.
fn reference(fmu: &Path, wrapper: &Path, class: &str) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (fmu, wrapper) = (absolute(fmu), absolute(wrapper));
    match (fmu.parent() == wrapper.parent(), fmu.file_name()) {
        (true, Some(name)) => format!("modelica://{class}/{}", name.to_string_lossy()),
        _ => fmu.to_string_lossy().replace('\\', "/"),
    }
}

/// A few lines about an FMU.
fn contents(opened: &Opened) -> String {
    let model: &ModelDescription = &opened.document.model;
    let count = |causality: Causality| model.variables.iter().filter(|v| v.causality == causality).count();
    let word = |kind: Kind| match kind {
        Kind::ModelExchange => "model exchange",
        Kind::CoSimulation => "co-simulation",
        Kind::ScheduledExecution => "scheduled execution",
    };
    let kinds: Vec<&str> = model.kinds().into_iter().map(word).collect();
    let mut lines = vec![format!("{}  FMI {}: {}", model.model_name, model.version.text(), kinds.join(", "))];
    if let Some(description) = &model.description {
        lines.push(format!("  {description}"));
    }
    if let Some(tool) = &model.generation_tool {
        lines.push(format!("  made by {tool}"));
    }
    lines.push(format!("  platforms  {}", opened.platforms().join(", ")));
    let counted = [
        (model.variables.len(), "variable"),
        (count(Causality::Parameter), "parameter"),
        (count(Causality::Input), "input"),
        (count(Causality::Output), "output"),
        (model.structure.derivatives.len(), "state"),
    ];
    let [variables, rest @ ..] = counted.map(|(n, what)| plural(n as u64, what));
    lines.push(format!("  {variables}: {}", rest.join(", ")));
    for kind in model.kinds() {
        let Some(interface) = model.interface(kind) else { continue };
        let can: Vec<&str> = [
            (interface.directional_derivatives, "directional derivatives"),
            (interface.gets_and_sets_state, "saves its state"),
            (interface.only_once_per_process, "one instance a process"),
            (interface.needs_execution_tool, "needs another tool"),
        ]
        .iter()
        .filter_map(|(can, what)| can.then_some(*what))
        .collect();
        if !can.is_empty() {
            lines.push(format!("  {}: {}", word(kind), can.join(", ")));
        }
    }
    lines.join("\n")
}
