//! `saltus parse PATH… [--timing]`: reads and parses, says what is wrong, counts.

use std::path::PathBuf;
use std::time::Instant;

use saltus_base::{FileId, Index, Interner, SourceMap};

use crate::{Exit, Screen, files};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  saltus parse MyLibrary --timing\n  saltus parse Circuit.mo")]
pub struct Arguments {
    /// Files, or directories that are searched for .mo files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Print files, megabytes, seconds and megabytes a second.
    #[arg(long)]
    timing: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Exit {
    let started = Instant::now();
    let paths = match files::modelica_files(&arguments.paths) {
        Ok(paths) => paths,
        Err(error) => return screen.fail(&error),
    };
    let mut names = Interner::new();
    let (mut n_bytes, mut n_diagnostics) = (0, 0);
    for path in &paths {
        let text = match files::read(path) {
            Ok(text) => text,
            Err(error) => {
                screen.show(&error, &SourceMap::new());
                n_diagnostics += 1;
                continue;
            }
        };
        n_bytes += text.len();
        let parsed = saltus_syntax::parse(FileId::from_usize(0), &text, &mut names);
        if !parsed.diagnostics.is_empty() {
            n_diagnostics += parsed.diagnostics.len();
            let mut sources = SourceMap::new();
            sources.add(path.display().to_string(), text);
            screen.show_all(&parsed.diagnostics, &sources);
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    screen.say(&format!("{} files, {n_diagnostics} diagnostics", paths.len()));
    if arguments.timing {
        let megabytes = n_bytes as f64 / 1e6;
        screen.say(&format!("{megabytes:.2} MB in {seconds:.3} s, {:.1} MB/s", megabytes / seconds.max(1e-9)));
    }
    if n_diagnostics == 0 { Exit::Success } else { Exit::ModelError }
}
