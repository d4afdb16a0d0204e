//! `saltus list [PACKAGE]`: the classes of a package with kind and description.

use std::path::PathBuf;

use saltus::{Session, diagnostics};
use saltus_ide::{Analysis, ClassLine};

use crate::{Exit, Screen};

/// Where classes are looked for.
#[derive(clap::Args)]
pub struct Libraries {
    /// A directory that contains packages, or a package; searched before MODELICAPATH.
    #[arg(long, value_name = "DIR")]
    library: Vec<PathBuf>,
    /// A file whose classes can be named.
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
}

impl Libraries {
    pub fn open(&self) -> Session {
        let mut session = Session::on_disk();
        self.library.iter().for_each(|dir| session.add_library(dir));
        if let Some(path) = std::env::var_os("MODELICAPATH") {
            session.add_modelica_path(&path.to_string_lossy());
        }
        self.file.iter().for_each(|file| session.load_file(file));
        session
    }
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus list                                  packages that can be found\n  saltus list Saltus.Examples\n  saltus list Motors --library libraries --depth 3"
)]
pub struct Arguments {
    /// The package; without it, what is at the top level.
    package: Option<String>,
    #[command(flatten)]
    libraries: Libraries,
    /// Packages in packages are listed down to this depth.
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: usize,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let session = arguments.libraries.open();
    let package = arguments.package.as_deref();
    if let Some(package) = package {
        session.class(Some(package)).map_err(|error| screen.fail(&error))?;
    }
    let mut lines = Vec::new();
    collect(&session, package, "", arguments.depth, &mut lines);
    if lines.is_empty() && package.is_none() {
        return Err(screen.fail(&diagnostics::no_class()));
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, line) in &lines {
        screen.say(format!("{name:width$}  {:16}  {}", line.words, line.description).trim_end());
    }
    Ok(Exit::Success)
}

fn collect(
    session: &Session,
    package: Option<&str>,
    outside: &str,
    depth: usize,
    lines: &mut Vec<(String, ClassLine)>,
) {
    for line in Analysis::new(session).list(package).unwrap_or_default() {
        let shown = format!("{outside}{}", line.name);
        let name = package.map_or(line.name.clone(), |package| format!("{package}.{}", line.name));
        let is_package = line.words.ends_with("package");
        lines.push((shown.clone(), line));
        if is_package && depth > 1 {
            collect(session, Some(&name), &format!("{shown}."), depth - 1, lines);
        }
    }
}
