//! `saltus doc PACKAGE -o DIR`: the documentation of packages as a static site.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use saltus::diagnostics;
use saltus_doc::{SiteError, write_site};

use crate::list::Libraries;
use crate::{Exit, Screen};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  saltus doc Saltus -o site                       then open site/index.html\n  saltus doc Motors Pumps -o site --library libraries"
)]
pub struct Arguments {
    /// The packages, with those around them.
    #[arg(required = true)]
    packages: Vec<String>,
    /// The directory that the site is written to; files of the same names are replaced.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    libraries: Libraries,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let session = arguments.libraries.open();
    for package in &arguments.packages {
        session.class(Some(package)).map_err(|error| screen.fail(&error))?;
    }
    let mut made = BTreeSet::new();
    let summary = write_site(&session, &arguments.packages, &mut |name, content| {
        let path = arguments.output.join(name);
        if let Some(parent) = path.parent()
            && made.insert(parent.to_owned())
        {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, content)
    });
    let summary = summary.map_err(|error| match error {
        SiteError::UnknownPackage(_) => screen.fail(&diagnostics::no_class()),
        SiteError::Io(file, error) => {
            let path = arguments.output.join(file).display().to_string();
            screen.fail(&diagnostics::unwritable(&path, &error.to_string()))
        }
    })?;
    for (class, message) in &summary.notes {
        screen.note(&format!("note: {class}: {message}"));
    }
    for (class, address) in &summary.missing {
        screen.note(&format!("note: {class}: nothing is found at `{address}`; it is shown as text"));
    }
    screen.say(&format!(
        "{}: {} pages, {} icons, {} diagrams, {} files of the packages",
        arguments.output.join("index.html").display(),
        summary.n_pages,
        summary.n_icons,
        summary.n_diagrams,
        summary.n_resources
    ));
    Ok(Exit::Success)
}
