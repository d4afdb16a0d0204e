//! `saltus studio [DIR|FILE|CLASS]`: the local web application.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use saltus::Permissions;
use saltus_studio::{Server, Settings};

use crate::{Exit, Screen, system_clock};

const EXAMPLES: &str = "\
Examples:
  saltus studio                                        the directory, with the examples of the program
  saltus studio Ball.mo
  saltus studio Motors.Examples.Start --library libraries
  saltus studio --no-open --port 8123                  print the address only

The server listens on the loopback address; its address holds a random token, without which nothing is answered. Ctrl-C ends it.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A directory, a file or a class to begin with.
    #[arg(value_name = "DIR|FILE|CLASS", default_value = ".")]
    target: String,
    /// A directory that contains packages, or a package; searched before MODELICAPATH. Its files can be edited.
    #[arg(long, value_name = "DIR")]
    library: Vec<PathBuf>,
    /// Listen on this port instead of a free one.
    #[arg(long)]
    port: Option<u16>,
    /// Do not open a browser.
    #[arg(long)]
    no_open: bool,
    /// Let models read and write files outside of the working directory, and run commands.
    #[arg(long)]
    allow_io: bool,
    /// Let models call functions of their own shared libraries, of C source that comes with them, and of FMUs.
    #[arg(long)]
    allow_external: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let permissions =
        Permissions { io: arguments.allow_io, external: arguments.allow_external, prints_to_stderr: true };
    let settings = Settings {
        target: arguments.target.clone(),
        libraries: arguments.library.clone(),
        modelica_path: std::env::var("MODELICAPATH").ok(),
        port: arguments.port,
        permissions,
        stopwatch: system_clock::stopwatch(),
        memory: memory(),
    };
    let cannot = |why: &str| screen.fail(&saltus_studio::diagnostics::no_studio(why));
    let server = Server::open(&settings).map_err(|why| cannot(&why))?;
    let address = server.address();
    screen.say(&address);
    if !arguments.no_open {
        open(&address, screen);
    }
    server.run().map(|()| Exit::Success).map_err(|error| cannot(&error.to_string()))
}

/// Where addresses and unsaved texts are kept; a directory of the user.
fn memory() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = named("XDG_STATE_HOME").or_else(|| named("LOCALAPPDATA"));
    state.or_else(|| Some(named("HOME")?.join(".local/state"))).map(|state| state.join("saltus/studio"))
}

/// Hands the address to the browser of the user.
fn open(address: &str, screen: &Screen) {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let browser = Command::new(program).args(before).arg(address).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if browser.is_err() {
        screen.note("no browser was found: open the address by hand");
    }
}
