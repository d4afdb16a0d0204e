//! `saltus convert PATH… --from VERSION`: sources for an older version of a library, rewritten by the scripts of the library.

use std::path::PathBuf;

use saltus::{Session, diagnostics};
use saltus_base::SourceMap;
use saltus_convert::{Converted, Converter};

use crate::write::write;
use crate::{Exit, Screen, files};

const EXAMPLES: &str = "\
Examples:
  saltus convert MyLibrary --from 3.2.3 --library libraries
  saltus convert --check Circuit.mo --from 3.2.3
  saltus convert Plant.mo --of Buildings --from 9.0.0

The package of the library says with its annotation `conversion` from which versions it converts. Only the names that changed are
rewritten; layout and comments stay. What has to be done by hand is reported.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files, or directories that are searched for .mo files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The version that the sources are written for.
    #[arg(long, value_name = "VERSION")]
    from: String,
    /// The library whose names changed.
    #[arg(long, value_name = "LIBRARY", default_value = "Modelica")]
    of: String,
    /// A directory that contains packages, or a package; searched before MODELICAPATH.
    #[arg(long, value_name = "DIR")]
    library: Vec<PathBuf>,
    /// Write nothing; name the files that would change and exit with 1 if there are any.
    #[arg(long)]
    check: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let mut session = Session::on_disk();
    arguments.library.iter().for_each(|dir| session.add_library(dir));
    if let Some(path) = std::env::var_os("MODELICAPATH") {
        session.add_modelica_path(&path.to_string_lossy());
    }
    let package = session.class(Some(&arguments.of)).map_err(|error| screen.fail(&error))?;
    let converter = Converter::new(session.library(), package, Some(&arguments.from))
        .map_err(|why| screen.fail(&diagnostics::no_conversion(&arguments.of, &arguments.from, &why)))?;
    let paths = files::modelica_files(&arguments.paths).map_err(|error| screen.fail(&error))?;
    let texts: Result<Vec<String>, _> = paths.iter().map(|path| files::read(path)).collect();
    let texts = texts.map_err(|error| screen.fail(&error))?;
    let converted = converter.convert(&texts);
    let sources = source_map(&paths, &texts);
    let (mut n_changed, mut n_failed, mut n_remarks) = (0, 0, 0);
    for ((path, before), after) in paths.iter().zip(&texts).zip(&converted) {
        n_remarks += show(after, &sources, screen);
        n_failed += usize::from(after.diagnostics.has_errors());
        if after.text == *before {
            continue;
        }
        n_changed += 1;
        match arguments.check {
            true => screen.say(&path.display().to_string()),
            false => write(path, &after.text, screen)?,
        }
    }
    let verb = if arguments.check { "would change" } else { "changed" };
    let n_places: usize = converted.iter().map(|c| c.n_changes).sum();
    let counts = format!("{} files, {n_changed} {verb} in {n_places} places", paths.len());
    screen.say(&format!("{counts}, {n_remarks} left to do by hand, {n_failed} not converted"));
    Ok(if n_failed > 0 || (arguments.check && n_changed > 0) { Exit::ModelError } else { Exit::Success })
}

/// Shows what is wrong with a file and what is left to do in it; how much that is.
fn show(converted: &Converted, sources: &SourceMap, screen: &Screen) -> usize {
    screen.show_all(&converted.diagnostics, sources);
    for remark in &converted.remarks {
        screen.show(&diagnostics::convert_by_hand(&remark.text, remark.span), sources);
    }
    converted.remarks.len()
}

fn source_map(paths: &[PathBuf], texts: &[String]) -> SourceMap {
    let mut sources = SourceMap::new();
    for (path, text) in paths.iter().zip(texts) {
        sources.add(path.display().to_string(), text.clone());
    }
    sources
}
