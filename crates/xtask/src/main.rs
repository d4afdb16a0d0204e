//! Chores of this repository: `cargo xtask tidy`, `cargo xtask map`, `cargo xtask errors`, `cargo xtask gallery`, `cargo xtask coverage …`,
//! `cargo xtask corpus`, `cargo xtask fuzz`, `cargo xtask bench-peers`, `cargo xtask studio …`.

mod bench_peers;
mod corpus;
mod coverage;
mod derivatives;
mod error_index;
mod fuzz;
mod gallery;
mod language;
mod map;
mod report;
mod scale;
mod studio;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of this repository")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check crate edges, file sizes, the crate list of ARCHITECTURE.md, machine paths, diagnostic codes and docs/language.md.
    Tidy,
    /// Print files over 500 lines, structs over 20 fields and functions over 100 lines.
    Map,
    /// Write docs/errors.md from the diagnostics.rs files.
    Errors,
    /// Simulate every example of the shipped library and write docs/gallery.
    Gallery(gallery::Options),
    /// Run `saltus check` on every model that has reference results and write docs/coverage.md.
    Coverage(coverage::Options),
    /// Run every model of the corpus and compare with the list of what agreed before.
    Corpus(corpus::Options),
    /// Simulate mutated models and look for anything but an orderly end.
    Fuzz(fuzz::Options),
    /// Compare directional derivatives of models with differences.
    Derivatives(derivatives::Options),
    /// Measure beside other simulators and write docs/benchmarks.md.
    BenchPeers(bench_peers::Options),
    /// Measure how the cost of compiling grows with the size of a model.
    Scale(scale::Options),
    /// Drive the studio in Chromium: measure it, work in it for minutes during a run, or take the pictures of the book.
    Studio(studio::Options),
}

fn main() -> ExitCode {
    let root = repository_root();
    let done = match Cli::parse().command {
        Command::Tidy => tidy::run(&root),
        Command::Map => map::run(&root),
        Command::Errors => error_index::write(&root),
        Command::Gallery(options) => gallery::run(&root, &options),
        Command::Derivatives(options) => derivatives::run(&root, &options),
        Command::Fuzz(options) => fuzz::run(&root, &options),
        Command::BenchPeers(options) => bench_peers::run(&root, &options),
        Command::Scale(options) => scale::run(&root, &options),
        Command::Studio(options) => studio::run(&root, &options),
        Command::Corpus(options) => corpus::run(&root, &options),
        Command::Coverage(options) => coverage::run(&root, &options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn repository_root() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.ancestors().nth(2).unwrap_or(crate_dir).to_path_buf()
}
