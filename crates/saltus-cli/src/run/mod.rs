//! `saltus run STUDY.toml`: what the file of a study asks for.

mod making;
mod telling;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use saltus::pipeline::{self, Options, Stage};
use saltus::study::{self, Prepared, Runner, Study, Variation, overrides, schema};
use saltus::{Model, diagnostics};
use saltus_base::{Diagnostic, Span, nearest};
use saltus_results::Kept;

use crate::numbers::jobs;
use crate::progress::{self, Bar, clear};
use crate::target::{Run, Target};
use crate::write::refuse_inputs;
use crate::{Exit, Screen, files};
use making::All;

const EXAMPLES: &str = "\
Examples:
  saltus run fleet.toml
  saltus run fleet.toml --jobs 4 --quiet
  saltus run --schema > study.schema.json

A study names a model, values, phases that go on from each other, variations, searches, what to record, and the files and pictures of
its results. Paths in it begin in its directory. The chapter \"Studies\" of the book shows how.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file of the study.
    #[arg(value_name = "STUDY.toml", required_unless_present = "schema")]
    study: Option<PathBuf>,
    /// Print a JSON schema of such files, for editors.
    #[arg(long)]
    schema: bool,
    /// Threads; otherwise what the study says, or as many as there are cores.
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,
    /// Print no summary and no progress.
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    if arguments.schema {
        screen.print(&format!("{:#}\n", schema::json_schema()));
        return Ok(Exit::Success);
    }
    let Some(path) = &arguments.study else { return Err(Exit::Usage) };
    let text = files::read(path).map_err(|error| screen.fail(&error))?;
    let study = study::read(&path.display().to_string(), &text).map_err(|(wrong, sources)| {
        wrong.iter().for_each(|d| screen.show(d, &sources));
        Exit::Usage
    })?;
    let directory = path.parent().map(Path::to_owned).unwrap_or_default();
    let paths = Paths::of(&study, &directory);
    paths.protect(path, &study, &directory, screen)?;
    let target = Target::of_study(&study.model, &directory);
    let variation =
        study.variation.clone().unwrap_or(Variation { names: Vec::new(), points: study::Points::List(Vec::new()) });
    let n = if study.variation.is_some() { variation.points.n().unwrap_or(0) } else { 1 };
    let names = all_names(&study, &variation);
    let compiled = compile(&study, &target, &variation, &names, screen)?;
    let Some(model) = compiled.outcome.model.as_ref() else { return Ok(Exit::ModelError) };
    let prepared = Prepared::new(&study, model).map_err(|wrong| refuse(&wrong, &study, screen))?;
    check(&study, model, n, &names, screen)?;
    target.refuse_to_vary(model, &names, screen)?;
    let mut experiment = study.experiment.clone();
    experiment.kept = recorded(&study, &prepared, n);
    let stop = progress::interrupt_flag();
    let jobs =
        arguments.jobs.or(study.jobs).unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    let bar = Mutex::new(Bar::new(!arguments.quiet && !screen.json));
    let (n_done, n_recompiled) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_search = study.goal.is_some();
    let count = || {
        let done = n_done.fetch_add(1, Ordering::Relaxed) + 1;
        if let (Ok(mut bar), true) = (bar.try_lock(), n > 1 || is_search) {
            let all = if is_search { 0 } else { n };
            bar.show_count(done, all.max(done), "runs");
        }
    };
    let open = || target.open_class();
    let runner = Runner {
        model,
        permissions: target.permissions(),
        names: &names,
        experiment: &experiment,
        phases: &prepared.phases,
        watch: &prepared.watch,
        engine: study.engine,
        start: &compiled.start,
        overrides: &study.values,
        open: &open,
        stop: &stop,
        n_recompiled: &n_recompiled,
        progress: &count,
    };
    let all = All {
        study: &study,
        prepared: &prepared,
        runner: &runner,
        variation: &variation,
        paths: &paths,
        n,
        jobs,
        bar: &bar,
    };
    let started = Instant::now();
    let mut made = if n == 1 { all.single(screen)? } else { all.fleet(&stop, screen)? };
    clear(&bar);
    made.took = started.elapsed();
    made.n_simulations = n_done.load(Ordering::Relaxed);
    made.n_programs = 1 + model.compiled_configurations().len() + n_recompiled.load(Ordering::Relaxed);
    all.finish(made, arguments.quiet, screen)
}

/// Files that are written, from the directory of the study.
pub struct Paths {
    pub table: Option<PathBuf>,
    pub trajectories: Option<PathBuf>,
    pub events: Option<PathBuf>,
    pub report: Option<PathBuf>,
    pub plots: Vec<PathBuf>,
    pub linearizations: Vec<Option<PathBuf>>,
}

impl Paths {
    fn of(study: &Study, directory: &Path) -> Paths {
        let of = |path: &Option<PathBuf>| path.as_ref().map(|path| directory.join(path));
        Paths {
            table: of(&study.output.table),
            trajectories: of(&study.output.trajectories),
            events: of(&study.output.events),
            report: of(&study.output.report),
            plots: study.plots.iter().map(|plot| directory.join(&plot.file)).collect(),
            linearizations: study.linearizations.iter().map(|l| of(&l.file)).collect(),
        }
    }

    /// Refuses to write over what is read, or to write two things to one file.
    fn protect(&self, path: &Path, study: &Study, directory: &Path, screen: &Screen) -> Result<(), Exit> {
        let single = [&self.table, &self.trajectories, &self.events, &self.report].into_iter().flatten();
        let all: Vec<&PathBuf> = single.chain(&self.plots).chain(self.linearizations.iter().flatten()).collect();
        for (i, output) in all.iter().enumerate() {
            if all[..i].contains(output) {
                let why = format!("`{}` is written twice", output.display());
                return Err(refuse(
                    &[diagnostics::bad_study(Span::nowhere(), &why, "choose another name")],
                    study,
                    screen,
                ));
            }
        }
        let read: Vec<PathBuf> =
            study.model.files.iter().chain(&study.model.libraries).map(|file| directory.join(file)).collect();
        let inputs: Vec<&Path> = read.iter().map(PathBuf::as_path).chain([path]).collect();
        refuse_inputs(all.iter().map(|path| Some(path.as_path())), &inputs, screen)
    }
}

fn refuse(wrong: &[Diagnostic], study: &Study, screen: &Screen) -> Exit {
    wrong.iter().for_each(|d| screen.show(d, &study.sources));
    Exit::Usage
}

/// Parameters that differ from run to run: what is varied, then what is searched for.
fn all_names(study: &Study, variation: &Variation) -> Vec<String> {
    let unknowns = study.goal.iter().flat_map(|goal| &goal.unknowns).map(|u| u.name.clone());
    variation.names.iter().cloned().chain(unknowns).collect()
}

fn compile(
    study: &Study,
    target: &Target,
    variation: &Variation,
    names: &[String],
    screen: &Screen,
) -> Result<Run, Exit> {
    let mut options = Options::until(Stage::Compile);
    options.engine = study.engine;
    let mut typical = variation.points.typical();
    typical
        .extend(study.goal.iter().flat_map(|goal| &goal.unknowns).map(|u| if u.start == 0.0 { 1.0 } else { u.start }));
    // A name that the model does not have is reported where the study has it.
    if target.compiled().is_none()
        && let Some(unknown) = unknown_parameters(study, target)
    {
        return Err(refuse(&unknown, study, screen));
    }
    let run = target.run_with(options, overrides(&study.values, names, &typical), screen)?;
    if run.outcome.has_errors() { Err(Exit::ModelError) } else { Ok(run) }
}

/// Names of parameters that are not in the model as it is without them.
fn unknown_parameters(study: &Study, target: &Target) -> Option<Vec<Diagnostic>> {
    let suspicious: Vec<&(String, Span)> = study.places.iter().collect();
    if suspicious.is_empty() {
        return None;
    }
    let (session, class) = target.open_class()?;
    let outcome = pipeline::run(&session, class, &Options::until(Stage::Flatten));
    let flat = outcome.flat.filter(|_| !outcome.diagnostics.has_errors())?;
    let known: Vec<&str> = flat.variables.values().map(|v| v.name.as_str()).collect();
    let base = |name: &str| name.split('[').next().unwrap_or(name).to_owned();
    // `h.start`, and elements of arrays, are part of what is declared.
    let is_known = |name: &str| {
        let mut at = base(name);
        loop {
            if known.iter().any(|k| *k == at || k.strip_prefix(&at).is_some_and(|rest| rest.starts_with(['.', '[']))) {
                return at == base(name) || !known.iter().all(|k| *k != at);
            }
            match at.rfind('.') {
                Some(dot) => at.truncate(dot),
                None => return false,
            }
        }
    };
    let unknown = suspicious.into_iter().filter(|(name, _)| !is_known(name));
    let said: Vec<Diagnostic> = unknown
        .map(|(name, span)| {
            let similar = nearest(name, known.iter().copied());
            diagnostics::unknown_in_study(*span, "parameter", name, similar)
        })
        .collect();
    (!said.is_empty()).then_some(said)
}

/// What can only be told with the model: options that do not fit, outputs of many runs, columns of pictures.
fn check(study: &Study, model: &Model, n: usize, names: &[String], screen: &Screen) -> Result<(), Exit> {
    let mut wrong = Vec::new();
    wrong.extend(study.experiment.mistake(&study.experiment.settings(model.program())));
    let many = "the study makes many runs";
    if n != 1 {
        let is_mat = study.output.trajectories.as_ref().is_some_and(|p| p.extension().is_some_and(|e| e == "mat"));
        if is_mat {
            wrong.push(diagnostics::bad_study(
                Span::nowhere(),
                &format!("{many}: a .mat file holds one"),
                "write .parquet or .csv",
            ));
        }
        if study.output.events.is_some() {
            wrong.push(diagnostics::bad_study(Span::nowhere(), &format!("{many}: `events` of which one?"), ""));
        }
        if !study.linearizations.is_empty() {
            wrong.push(diagnostics::bad_study(
                study.linearizations[0].span,
                &format!("{many}: `linearize` needs a single one"),
                "",
            ));
        }
    }
    let columns: Vec<&str> =
        names.iter().map(String::as_str).chain(study.record.iter().map(|r| r.name.as_str())).collect();
    for plot in study.plots.iter().filter(|plot| plot.x.is_some()) {
        for name in plot.x.iter().chain(&plot.y).filter(|name| !columns.contains(&name.as_str())) {
            let similar = nearest(name, columns.iter().copied());
            wrong.push(diagnostics::unknown_in_study(plot.span, "column of the table", name, similar));
        }
    }
    let all: Vec<_> = model.variables().iter().map(|v| v.name()).collect();
    let all: Vec<&str> = all.iter().map(|name| &**name).collect();
    let over_time =
        study.plots.iter().filter(|plot| plot.x.is_none()).flat_map(|plot| plot.y.iter().map(move |y| (y, plot.span)));
    let written = study.output.variables.iter().map(|name| (name, Span::nowhere()));
    for (name, span) in over_time.chain(written) {
        if Kept::only(std::slice::from_ref(name), []).idle_patterns(&all).next().is_some() {
            wrong.push(diagnostics::unknown_in_study(span, "variable", name, nearest(name, all.iter().copied())));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(refuse(&wrong, study, screen)) }
}

/// Signals that runs record: what expressions need, and what files and pictures show.
fn recorded(study: &Study, prepared: &Prepared, n: usize) -> Kept {
    let has_rows = study.output.trajectories.is_some() || n == 1 && study.output.events.is_some();
    let over_time: Vec<&study::Plot> = study.plots.iter().filter(|plot| plot.x.is_none()).collect();
    if has_rows && study.output.variables.is_empty() || over_time.iter().any(|plot| plot.y.is_empty()) {
        return Kept::default();
    }
    if !has_rows && over_time.is_empty() {
        return prepared.kept(None);
    }
    let mut patterns = if has_rows { study.output.variables.clone() } else { Vec::new() };
    patterns.extend(over_time.iter().flat_map(|plot| plot.y.iter().cloned()));
    // Pictures mark modes.
    patterns.extend(["mode", "mode[*", "*.mode", "*.mode[*", "mode(*"].map(str::to_owned));
    prepared.kept(Some(&patterns))
}
