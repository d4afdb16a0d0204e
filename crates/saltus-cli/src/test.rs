//! `saltus test [DIR|FILE|CLASS]…`: every model with an experiment, compared with references.

mod audit;
mod baseline;
mod summary;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use saltus::audit::Settings;
use saltus::suite::{self, References, Suite, Unreferenced, Verdict};
use saltus::{Permissions, Session, diagnostics};
use saltus_library::ClassId;
use saltus_results::Tube;

use crate::numbers::{jobs, positive};
use crate::progress::{self, Bar};
use crate::summary::duration;
use crate::write::{refuse_inputs, write};
use crate::{Exit, Screen, files, report, system_clock};

use audit::Known;
use baseline::Baseline;
pub use baseline::Change;

const EXAMPLES: &str = "\
Examples:
  saltus test MyLibrary                                   all models of a package with an experiment annotation
  saltus test MyLibrary --reference results --report report.html
  saltus test Motors.Examples --library libraries --reference results --unreferenced skip --save today.txt
  saltus test MyLibrary --reference results --baseline main.txt

The reference of P.Examples.Ball is P/Examples/Ball/*.csv, P/Examples/Ball.csv or P.Examples.Ball.csv below the directory (.mat and
.parquet as well). A file settings.json in the directory may say how references were made:
  { \"P.Examples.Ball\": { \"start\": 0, \"stop\": 3, \"interval\": 0.006, \"tolerance\": 1e-6 } }
A model with annotation(TestCase(shouldPass = false)) must fail. Exit code: 0 if every model does what it should, else 1; with
--baseline 1 only if something got worse.";

/// Output points of a model that are audited: an equation that does not hold does so at most of them.
const AUDITED_POINTS: u64 = 50;

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Directories, files or classes whose models are run.
    #[arg(required = true, value_name = "DIR|FILE|CLASS")]
    names: Vec<String>,
    /// A directory that contains packages, or a package; searched before MODELICAPATH.
    #[arg(long, value_name = "DIR")]
    library: Vec<PathBuf>,
    /// Let models read and write files outside of the working directory, and run commands.
    #[arg(long)]
    allow_io: bool,
    /// Let models call functions of their own shared libraries, and of C source that comes with them.
    #[arg(long)]
    allow_external: bool,
    /// Compare with the results in this directory.
    #[arg(long, value_name = "DIR")]
    reference: Option<PathBuf>,
    /// What to do with models that have no reference.
    #[arg(long, value_enum, default_value_t = UnreferencedChoice::Simulate)]
    unreferenced: UnreferencedChoice,
    /// Half the width of the tube, as a part of a signal's size and of the time span.
    #[arg(long, value_name = "PART", default_value_t = 2e-3, allow_negative_numbers = true, value_parser = positive)]
    tube: f64,
    /// Run only models whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write a page with all results and pictures of the differences.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the status of each model on a line, for a later --baseline.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Say what changed since an earlier --save.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Audit every simulation at about 50 output points and a few events, as `saltus simulate --audit` does at all of them.
    #[arg(long)]
    audit: bool,
    /// A list of findings of the audit that are explained: a model, a file and a line on each line.
    #[arg(long, value_name = "FILE", requires = "audit")]
    audit_known: Option<PathBuf>,
    /// Stop a simulation after this time.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, allow_negative_numbers = true, value_parser = positive)]
    time_limit: f64,
    /// Threads; otherwise as many as there are cores.
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,
    /// Print only the last line.
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum UnreferencedChoice {
    Simulate,
    /// Check them, and do not simulate.
    Check,
    Skip,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let known = arguments.audit_known.as_deref().map(|path| Known::read(path, screen)).transpose()?.unwrap_or_default();
    let baseline = arguments.baseline.as_deref().map(|path| Baseline::read(path, screen)).transpose()?;
    let references = arguments.reference.as_deref().map(|dir| open_references(dir, screen)).transpose()?;
    let paths: Vec<PathBuf> = arguments.names.iter().map(PathBuf::from).filter(|p| p.exists()).collect();
    let outputs = [arguments.save.as_deref(), arguments.report.as_deref()];
    let inputs: Vec<&Path> = paths.iter().chain(&arguments.library).map(PathBuf::as_path).collect();
    refuse_inputs(outputs, &inputs, screen)?;
    let sources = Sources::of(&paths, arguments, screen)?;
    let stop = progress::interrupt_flag();
    let suite = Suite {
        open: &|| sources.open(),
        references: references.as_ref(),
        unreferenced: match arguments.unreferenced {
            UnreferencedChoice::Simulate => Unreferenced::Simulate,
            UnreferencedChoice::Check => Unreferenced::Check,
            UnreferencedChoice::Skip => Unreferenced::Skip,
        },
        tube: Tube { relative: arguments.tube, ..Tube::default() },
        time_limit: Some(Duration::from_secs_f64(arguments.time_limit.clamp(1e-3, 1e9))),
        jobs: arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())),
        keeps_tables: arguments.report.is_some(),
        stop: &stop,
        audit: arguments.audit.then(|| Settings { points: Some(AUDITED_POINTS), ..Settings::default() }),
        stopwatch: system_clock::stopwatch(),
    };
    let chosen = Chosen::of(arguments, &sources, references.as_ref(), screen)?;
    let classes: Vec<String> = chosen.classes.iter().filter(|class| suite.takes(class)).cloned().collect();
    if classes.is_empty() {
        return Err(screen.fail(&diagnostics::no_experiments()));
    }
    let started = Instant::now();
    let verdicts = run_shown(&suite, &classes, &known, arguments.quiet, screen);
    let took = started.elapsed();
    let changes = baseline.map(|old| old.changes(&verdicts, &|class| chosen.includes(class)));
    if !arguments.quiet {
        summary::describe(&verdicts, changes.as_deref(), screen);
    }
    if let Some(path) = &arguments.save {
        write(path, &baseline::text(&verdicts), screen)?;
    }
    if let Some(path) = &arguments.report {
        let page = report::page(&verdicts, changes.as_deref(), suite.tube, took);
        write(path, &page, screen)?;
    }
    screen.say(&format!("{} in {}", summary::counts(&verdicts), duration(took)));
    let is_sound = !arguments.audit || audit::describe(&verdicts, &known, screen);
    let is_good = match &changes {
        Some(changes) => !changes.iter().any(|c| c.is_worse()),
        None => verdicts.iter().all(|v| v.status.is_good()),
    };
    Ok(if is_good && is_sound { Exit::Success } else { Exit::ModelError })
}

fn open_references(dir: &Path, screen: &Screen) -> Result<References, Exit> {
    let path = dir.join(References::SETTINGS);
    References::open(dir).map_err(|why| screen.fail(&diagnostics::bad_settings(&path.display().to_string(), &why)))
}

/// Runs all classes and shows each verdict as it comes: a line on standard error, in the order in which they are done.
fn run_shown(suite: &Suite, classes: &[String], known: &Known, is_quiet: bool, screen: &Screen) -> Vec<Verdict> {
    let is_shown = !is_quiet && !screen.json;
    let bar = Mutex::new(Bar::new(is_shown));
    let show = |verdict: &Verdict, n_done: usize| {
        let mut bar = bar.lock().unwrap_or_else(|e| e.into_inner());
        if is_shown {
            bar.clear();
            screen.note(&summary::line(verdict));
            known.new_findings(verdict).for_each(|finding| screen.note(&finding));
        }
        bar.show_count(n_done, classes.len(), "models");
    };
    suite.run(classes, &show)
}

/// The models that the command line names.
struct Chosen {
    classes: Vec<String>,
    roots: Vec<String>,
    filter: String,
}

impl Chosen {
    fn of(
        arguments: &Arguments,
        sources: &Sources,
        references: Option<&References>,
        screen: &Screen,
    ) -> Result<Chosen, Exit> {
        let session = sources.open();
        let mut roots = sources.roots(&session);
        for name in arguments.names.iter().filter(|n| !Path::new(n).exists()) {
            roots.push(session.class(Some(name)).map_err(|error| screen.fail(&error))?);
        }
        let filter = arguments.filter.clone().unwrap_or_default();
        let mut classes = suite::tests(session.library(), &roots, references);
        classes.retain(|c| c.contains(&filter));
        let roots = roots.iter().map(|id| session.library().qualified_name(*id)).collect();
        Ok(Chosen { classes, roots, filter })
    }

    /// Would a class of this name be run?
    fn includes(&self, class: &str) -> bool {
        class.contains(&self.filter) && self.roots.iter().any(|root| suite::is_below(class, root))
    }
}

/// What every thread loads.
struct Sources {
    libraries: Vec<PathBuf>,
    files: Vec<PathBuf>,
    /// Names of packages that are directories.
    packages: Vec<String>,
    permissions: Permissions,
}

impl Sources {
    fn of(paths: &[PathBuf], arguments: &Arguments, screen: &Screen) -> Result<Sources, Exit> {
        let (io, external) = (arguments.allow_io, arguments.allow_external);
        let mut sources = Sources {
            libraries: arguments.library.clone(),
            files: Vec::new(),
            packages: Vec::new(),
            permissions: Permissions { io, external, ..Default::default() },
        };
        for path in paths {
            let is_package = path.join("package.mo").is_file();
            match path.canonicalize().ok().filter(|_| is_package) {
                Some(full) => {
                    let name = full.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
                    // A directory may be named with its version, `Library 1.0`.
                    sources.packages.push(name.split(' ').next().unwrap_or("").to_owned());
                    sources.libraries.push(path.clone());
                }
                None => {
                    let found = files::modelica_files(std::slice::from_ref(path));
                    sources.files.extend(found.map_err(|error| screen.fail(&error))?);
                }
            }
        }
        Ok(sources)
    }

    fn open(&self) -> Session {
        let mut session = Session::on_disk();
        session.permit(self.permissions);
        self.libraries.iter().for_each(|dir| session.add_library(dir));
        if let Some(path) = std::env::var_os("MODELICAPATH") {
            session.add_modelica_path(&path.to_string_lossy());
        }
        self.files.iter().for_each(|file| session.load_file(file));
        session
    }

    fn roots(&self, session: &Session) -> Vec<ClassId> {
        let packages = self.packages.iter().filter_map(|name| session.library().find(name));
        session.own_classes().iter().copied().chain(packages).collect()
    }
}
