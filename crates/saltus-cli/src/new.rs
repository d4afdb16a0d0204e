//! `saltus new NAME`: a package with a model, a test and a README, to begin with.

use std::fs;
use std::path::PathBuf;

use saltus::diagnostics;

use crate::write::write;
use crate::{Exit, Screen};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus new Tank                a package in the directory Tank\n  saltus new Tank --in models"
)]
pub struct Arguments {
    /// The name of the package: an identifier.
    name: String,
    /// The directory that the package is made in.
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    directory: PathBuf,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let name = &arguments.name;
    let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let directory = arguments.directory.join(name);
    if !is_identifier || directory.exists() {
        let why = if is_identifier { "it exists already" } else { "its name is not an identifier" };
        return Err(screen.fail(&diagnostics::unwritable(&directory.display().to_string(), why)));
    }
    for (file, text) in files(name) {
        let path = directory.join(file);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.map_err(|error| {
            screen.fail(&diagnostics::unwritable(&directory.display().to_string(), &error.to_string()))
        })?;
        write(&path, &text, screen)?;
    }
    screen.say(&format!(
        "{}: try `saltus simulate {name}.Examples.Decay --library {}`",
        directory.display(),
        arguments.directory.display()
    ));
    Ok(Exit::Success)
}

/// Paths in the package and texts.
fn files(name: &str) -> Vec<(&'static str, String)> {
    vec![
        ("package.mo", format!("package {name} \"What this package is about\"\nend {name};\n")),
        ("package.order", "Decay\nExamples\n".into()),
        (
            "Decay.mo",
            format!(
                "within {name};\nmodel Decay \"Decays exponentially\"\n  parameter Real T(unit=\"s\", min=0) = 1 \"Time constant\";\n  Real x(start=1, fixed=true) \"What is left\";\nequation\n  T*der(x) = -x;\nend Decay;\n"
            ),
        ),
        (
            "Examples/package.mo",
            format!("within {name};\npackage Examples \"Models that can be simulated\"\nend Examples;\n"),
        ),
        ("Examples/package.order", "Decay\n".into()),
        (
            "Examples/Decay.mo",
            format!(
                "within {name}.Examples;\nmodel Decay \"After one time constant exp(-1) is left\"\n  extends {name}.Decay(T=0.5);\nequation\n  when terminal() then\n    assert(abs(x - exp(-1)) < 1e-3, \"x is not exp(-1)\");\n  end when;\n  annotation (experiment(StopTime=0.5));\nend Decay;\n"
            ),
        ),
        (
            "README.md",
            format!(
                "# {name}\n\n```sh\nsaltus simulate {name}.Examples.Decay --library .. --plot=x\nsaltus test . \n```\n"
            ),
        ),
    ]
}
