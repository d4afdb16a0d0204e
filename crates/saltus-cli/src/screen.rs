//! Where output goes: results to standard output, diagnostics to standard error, as text or as JSON lines.
//!
//! Whoever reads the output may stop reading it; that is not a failure, and the exit code still counts. Output that is lost for
//! another reason, as on a full disk, is one.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use saltus::render::{self, Style};
use saltus_base::{Diagnostic, Diagnostics, Severity, SourceMap, printable, printable_json};

use crate::Exit;

pub struct Screen {
    pub json: bool,
    pub hints: bool,
    style: Style,
    /// Why the first part of the result that was lost could not be written.
    lost: OnceLock<String>,
}

impl Screen {
    pub fn new(json: bool, hints: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let style = Style { colours: wanted && std::io::stderr().is_terminal() };
        Self { json, hints, style, lost: OnceLock::new() }
    }

    /// A line of the result.
    pub fn say(&self, line: &str) {
        self.written(writeln!(std::io::stdout().lock(), "{}", printable(line)));
    }

    /// Text of the result: as it is for other programs, harmless on a terminal.
    pub fn print(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let text = if out.is_terminal() { printable(text) } else { text.into() };
        self.written(out.write_all(text.as_bytes()));
    }

    /// A drawing, which may steer the terminal.
    pub fn draw(&self, text: &str) {
        self.written(writeln!(std::io::stdout().lock(), "{text}"));
    }

    fn written(&self, result: std::io::Result<()>) {
        if let Err(error) = result
            && error.kind() != ErrorKind::BrokenPipe
        {
            let _ = self.lost.set(error.to_string());
        }
    }

    /// The exit code after all output: that of the command, unless some of its result was lost.
    pub fn finish(&self, exit: Exit) -> Exit {
        self.written(std::io::stdout().lock().flush());
        let Some(why) = self.lost.get() else { return exit };
        self.fail(&saltus::diagnostics::unwritable_output(why));
        if exit == Exit::Success { Exit::RunTimeFailure } else { exit }
    }

    /// A remark that is not part of the result.
    pub fn note(&self, line: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{}", printable(line));
    }

    pub fn show(&self, diagnostic: &Diagnostic, sources: &SourceMap) {
        if diagnostic.severity == Severity::Hint && !self.hints {
            return;
        }
        let mut out = std::io::stderr().lock();
        let _ = match self.json {
            true => writeln!(out, "{}", printable_json(&render::to_json(diagnostic, sources).to_string())),
            false => write!(out, "{}", render::render(diagnostic, sources, self.style)),
        };
    }

    pub fn show_all(&self, diagnostics: &Diagnostics, sources: &SourceMap) {
        for diagnostic in diagnostics {
            self.show(diagnostic, sources);
        }
        if diagnostics.n_suppressed() > 0 && !self.json {
            self.note(&format!("… and {} more messages", diagnostics.n_suppressed()));
        }
    }

    /// Shows an error without a place in a source and gives the exit code for it.
    pub fn fail(&self, diagnostic: &Diagnostic) -> Exit {
        self.show(diagnostic, &SourceMap::new());
        Exit::ModelError
    }
}
