//! `saltus completion SHELL` and `saltus man`: what a shell and a reader need to know about the commands.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;
use saltus::diagnostics;

use crate::{Cli, Exit, Screen};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  saltus completion bash > ~/.local/share/bash-completion/completions/saltus\n  \
    saltus completion zsh > ~/.zfunc/_saltus\n  saltus completion fish > ~/.config/fish/completions/saltus.fish")]
pub struct CompletionArguments {
    /// The shell.
    shell: Shell,
}

pub fn completion(arguments: &CompletionArguments, screen: &Screen) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "saltus", &mut text);
    screen.print(&String::from_utf8_lossy(&text));
    Exit::Success
}

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  saltus man | man -l -\n  saltus man --dir ~/.local/share/man/man1")]
pub struct ManArguments {
    /// Write a page for each command into this directory instead of printing the first.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn man(arguments: &ManArguments, screen: &Screen) -> Result<Exit, Exit> {
    let main = Cli::command();
    let unwritable = |path: &PathBuf, error: std::io::Error| {
        screen.fail(&diagnostics::unwritable(&path.display().to_string(), &error.to_string()))
    };
    let Some(dir) = &arguments.dir else {
        let mut text = Vec::new();
        let _ = clap_mangen::Man::new(main).render(&mut text);
        screen.print(&String::from_utf8_lossy(&text));
        return Ok(Exit::Success);
    };
    std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, error))?;
    clap_mangen::generate_to(main, dir).map_err(|error| unwritable(dir, error))?;
    Ok(Exit::Success)
}
