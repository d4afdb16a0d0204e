//! `saltus fmt PATH… [--check]`: writes files in the layout of the formatter.
//!
//! A file is written only if its print has the same tokens and comments as the file.

use std::path::{Path, PathBuf};

use saltus::diagnostics;
use saltus_base::{FileId, Index, Interner, SourceMap};

use crate::write::write;
use crate::{Exit, Screen, files};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  saltus fmt MyLibrary\n  saltus fmt --check MyLibrary Circuit.mo")]
pub struct Arguments {
    /// Files, or directories that are searched for .mo files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Write nothing; name the files that would change and exit with 1 if there are any.
    #[arg(long)]
    check: bool,
}

enum Outcome {
    Same,
    Changed,
    Failed,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Exit {
    let paths = match files::modelica_files(&arguments.paths) {
        Ok(paths) => paths,
        Err(error) => return screen.fail(&error),
    };
    let (mut n_changed, mut n_failed) = (0, 0);
    for path in &paths {
        match format_file(path, arguments.check, screen) {
            Outcome::Same => {}
            Outcome::Changed => n_changed += 1,
            Outcome::Failed => n_failed += 1,
        }
    }
    let verb = if arguments.check { "would change" } else { "changed" };
    screen.say(&format!("{} files, {n_changed} {verb}, {n_failed} not formatted", paths.len()));
    if n_failed > 0 || (arguments.check && n_changed > 0) { Exit::ModelError } else { Exit::Success }
}

fn format_file(path: &Path, only_check: bool, screen: &Screen) -> Outcome {
    let shown = path.display().to_string();
    let text = match files::read(path) {
        Ok(text) => text,
        Err(error) => {
            screen.fail(&error);
            return Outcome::Failed;
        }
    };
    let mut names = Interner::new();
    let parsed = saltus_syntax::parse(FileId::from_usize(0), &text, &mut names);
    if parsed.diagnostics.has_errors() {
        let mut sources = SourceMap::new();
        sources.add(shown, text);
        screen.show_all(&parsed.diagnostics, &sources);
        return Outcome::Failed;
    }
    let printed = saltus_syntax::format(&parsed.tree, &text, &names);
    if printed == text {
        return Outcome::Same;
    }
    let same_comments = saltus_syntax::comment_texts(&text) == saltus_syntax::comment_texts(&printed);
    if !same_comments || !saltus_syntax::same_tokens(&text, &printed) {
        screen.fail(&diagnostics::internal_error(&format!("the print of `{shown}` means something else")));
        return Outcome::Failed;
    }
    if only_check {
        screen.say(&shown);
        return Outcome::Changed;
    }
    match write(path, &printed, screen) {
        Ok(()) => Outcome::Changed,
        Err(_) => Outcome::Failed,
    }
}
