//! The studio in a real browser: `cargo xtask studio times`, `work` and `pictures`.
//!
//! In: a release build of the program, and Chromium with its driver. Out: figures on the screen, or the pictures of the book.

#[path = "../../../saltus-cli/tests/browser/mod.rs"]
mod browser;
mod pictures;
mod times;
mod work;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use browser::{Browser, Studio};

#[derive(clap::Args)]
pub struct Options {
    /// The program to drive, a release build.
    #[arg(long)]
    pub saltus: PathBuf,
    /// Directory with the standard library.
    #[arg(long, default_value = "target/corpus/library")]
    pub library: PathBuf,
    #[command(subcommand)]
    task: Task,
}

#[derive(clap::Subcommand)]
enum Task {
    /// Measure what a user waits for.
    Times {
        /// Of so many measurements the middle one counts.
        #[arg(long, default_value_t = 5)]
        repeat: usize,
    },
    /// Edit, move, undo, save and look in two windows while a run with the clock goes on; nothing may be lost.
    Work {
        #[arg(long, default_value_t = 10.0)]
        minutes: f64,
    },
    /// Take the pictures of the book anew.
    Pictures,
}

pub fn run(root: &Path, options: &Options) -> Result<()> {
    let bench = Bench::new(options)?;
    match options.task {
        Task::Times { repeat } => times::run(&bench, repeat.max(1)),
        Task::Work { minutes } => work::run(&bench, Duration::from_secs_f64(60.0 * minutes.max(0.05))),
        Task::Pictures => pictures::run(&bench, &root.join("docs")),
    }
}

/// A program, a browser and a directory to work in.
struct Bench {
    program: String,
    library: PathBuf,
    browser: Browser,
    directory: PathBuf,
}

const READY: &str = "document.documentElement.dataset.ready === 'true'";

impl Bench {
    fn new(options: &Options) -> Result<Bench> {
        let program = options.saltus.canonicalize().with_context(|| format!("no {}", options.saltus.display()))?;
        let directory = std::env::temp_dir().join(format!("saltus-studio-{}", std::process::id()));
        fs::create_dir_all(&directory)?;
        // A graphics card that is computed is slower than none.
        let browser = match options.task {
            Task::Times { .. } => Browser::with(&["--disable-gpu"]),
            _ => Browser::start(),
        };
        let Some(browser) = browser else { bail!("chromedriver is not installed") };
        let library = options.library.canonicalize().unwrap_or_else(|_| options.library.clone());
        Ok(Bench { program: program.display().to_string(), library, browser, directory })
    }

    fn file(&self, name: &str, text: &str) -> Result<String> {
        let path = self.directory.join(name);
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    }

    /// A server whose page is open and ready.
    fn open(&self, arguments: &[&str]) -> Studio {
        let studio = self.start(arguments);
        self.browser.go(&studio.address);
        self.browser.wait(READY);
        studio
    }

    fn start(&self, arguments: &[&str]) -> Studio {
        // Nothing of the last page but its address would be left behind `#`.
        self.browser.go("about:blank");
        let state = self.directory.join("state");
        let _ = fs::remove_dir_all(&state);
        Studio::of_program(&self.program, arguments, &state.display().to_string())
    }

    /// Where a place of the diagram is on the page.
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let down = -y;
        let script = format!(
            "const p = new DOMPoint({x}, {down}).matrixTransform(saltus.diagram.root.getScreenCTM()); return [p.x, p.y]"
        );
        let at = self.browser.script(&script);
        (at[0].as_f64().unwrap_or(0.0), at[1].as_f64().unwrap_or(0.0))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// How busy the machine is.
fn load() -> String {
    fs::read_to_string("/proc/loadavg")
        .map_or_else(|_| "unknown".into(), |text| text.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

/// Milliseconds that something takes.
fn milliseconds(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    1e3 * started.elapsed().as_secs_f64()
}
