//! What a command works on: files, a class, and where libraries are.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use saltus::fmu::wrapper::Settings;
use saltus::pipeline::{self, Client, Options, Outcome, Stage};
use saltus::study::ModelChoice;
use saltus::{Model, Permissions, Session, Start, diagnostics, stats};
use saltus_base::{Diagnostic, Diagnostics, SourceMap};
use saltus_fmi::Kind;
use saltus_library::ClassId;
use saltus_results::parse_set_file;

use crate::write::{self, write};
use crate::{Exit, Screen, fmu, import, system_clock};

#[derive(clap::Args)]
pub struct Target {
    /// Files to load and the class to work on; a name that ends in .mo or exists as a path is a file, one that ends in .saltus a
    /// compiled model, one that ends in .fmu a component.
    #[arg(value_name = "FILE… CLASS")]
    names: Vec<String>,
    /// A directory that contains packages, or a package; searched before MODELICAPATH.
    #[arg(long, value_name = "DIR")]
    library: Vec<PathBuf>,
    /// Another value for a parameter or an input: name=value.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Values for parameters in a file: a line `name = value` for each, comments after `//`; `--set` comes after it.
    #[arg(long, value_name = "FILE")]
    set_file: Vec<PathBuf>,
    /// Let models read and write files outside of the working directory, and run commands.
    #[arg(long)]
    allow_io: bool,
    /// Let models call functions of their own shared libraries, of C source that comes with them, and of FMUs.
    #[arg(long)]
    allow_external: bool,
    /// Interface that FMUs among the files are used by: me (model exchange) or cs (co-simulation); otherwise the first that they have.
    #[arg(long, value_name = "KIND", value_parser = import::kind)]
    fmu_kind: Option<Kind>,
    /// Print the seconds of each stage.
    #[arg(long)]
    timing: bool,
    /// Write counts, seconds and peak memory as JSON.
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected name=value")?;
    Ok((name.trim().to_string(), value.trim().to_string()))
}

fn is_file(name: &str) -> bool {
    name.ends_with(".mo") || is_unit(name) || Path::new(name).exists()
}

/// The extension of compiled models.
pub const MODEL_EXTENSION: &str = "saltus";

fn is_model(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == MODEL_EXTENSION)
}

fn is_unit(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == saltus::fmu::EXTENSION)
}

/// The text that makes a component of an FMU, and what it leaves out.
fn wrapper(name: &str, kind: Option<Kind>) -> Result<(String, Vec<String>), ()> {
    let bytes = std::fs::read(name).map_err(|_| ())?;
    let opened = saltus_fmi::open(name, &bytes).map_err(|_| ())?;
    let model = &opened.document.model;
    let kind = kind.or_else(|| saltus::fmu::wrapper::usual_kind(model)).ok_or(())?;
    model.interface(kind).ok_or(())?;
    let class = saltus::fmu::wrapper::usual_class(model);
    let file = std::path::absolute(name).map_err(|_| ())?.to_string_lossy().replace('\\', "/");
    Ok(saltus::fmu::wrapper::write(model, &Settings { class: &class, file: &file, kind, locals: false }))
}

/// A run of the pipeline on a target.
pub struct Run {
    pub class_name: String,
    /// The process ends soon; freeing thousands of equations and syntax trees one by one would only take time.
    pub outcome: ManuallyDrop<Outcome>,
    /// Values that are to be set in a model that was compiled before.
    pub start: Start,
    pub session: ManuallyDrop<Session>,
    load: Duration,
}

impl Target {
    /// The model of a study, whose paths begin in a directory.
    pub fn of_study(model: &ModelChoice, directory: &Path) -> Target {
        let path = |path: &PathBuf| directory.join(path).display().to_string();
        Target {
            names: model.files.iter().map(path).chain(model.class.clone()).collect(),
            library: model.libraries.iter().map(|library| directory.join(library)).collect(),
            set: Vec::new(),
            set_file: Vec::new(),
            allow_io: model.allow_io,
            allow_external: model.allow_external,
            fmu_kind: None,
            timing: false,
            stats: None,
        }
    }

    /// Loads, finds the class, runs the pipeline and shows what was said; `Err` where there is nothing to run.
    pub fn run(&self, options: Options, screen: &Screen) -> Result<Run, Exit> {
        self.run_for(options, &mut (), screen)
    }

    /// Like [`run`](Self::run), with a client that takes part in the simulation.
    pub fn run_for(&self, mut options: Options, client: &mut dyn Client, screen: &Screen) -> Result<Run, Exit> {
        options.overrides = self.set(screen)?;
        self.run_any(options, client, screen)
    }

    /// Like [`run`](Self::run) with these values of parameters instead of those of `--set`.
    pub fn run_with(
        &self,
        mut options: Options,
        overrides: Vec<(String, String)>,
        screen: &Screen,
    ) -> Result<Run, Exit> {
        options.overrides = overrides;
        self.run_any(options, &mut (), screen)
    }

    /// Values of parameters that the user gave: those of files, then those of the command line.
    pub fn set(&self, screen: &Screen) -> Result<Vec<(String, String)>, Exit> {
        let mut all = Vec::new();
        for path in &self.set_file {
            let shown = path.display().to_string();
            let text = std::fs::read_to_string(path)
                .map_err(|error| screen.fail(&diagnostics::bad_set_file(&shown, &error.to_string())))?;
            let pairs = parse_set_file(&text).map_err(|errors| {
                let show = |why: String| screen.show(&diagnostics::bad_set_file(&shown, &why), &SourceMap::new());
                errors.iter().for_each(|error| show(error.to_string()));
                Exit::Usage
            })?;
            all.extend(pairs);
        }
        // The last value of a name counts.
        all.extend(self.set.iter().cloned());
        let is_last = |i: usize| !all[i + 1..].iter().any(|(name, _)| *name == all[i].0);
        Ok((0..all.len()).filter(|&i| is_last(i)).map(|i| all[i].clone()).collect())
    }

    /// Refuses to write to what is read here, or to one of `more`; before anything is done.
    pub fn protect(&self, outputs: &[Option<&PathBuf>], more: &[PathBuf], screen: &Screen) -> Result<(), Exit> {
        let files = self.names.iter().filter(|name| is_file(name) || is_model(name)).map(Path::new);
        let others = self.set_file.iter().chain(&self.library).chain(more).map(PathBuf::as_path);
        let inputs: Vec<&Path> = files.chain(others).collect();
        let outputs = outputs.iter().copied().chain([self.stats.as_ref()]);
        write::refuse_inputs(outputs.map(|path| path.map(PathBuf::as_path)), &inputs, screen)
    }

    /// What the user permits.
    pub fn permissions(&self) -> Permissions {
        Permissions { io: self.allow_io, external: self.allow_external, ..Default::default() }
    }

    /// A new session with all that is named, and the class to work on.
    pub fn open_class(&self) -> Option<(Session, ClassId)> {
        let session = self.open();
        let class = self.class(&session).ok()?;
        Some((session, class))
    }

    /// A session with the files, and all classes in them, where no class is named and none is the obvious one.
    pub fn open_several(&self) -> Option<(Session, Vec<ClassId>)> {
        if !self.classes().is_empty() || self.compiled().is_some() {
            return None;
        }
        let session = self.open();
        let is_ambiguous = session.class(None).is_err() && session.own_classes().len() > 1;
        let classes = session.own_classes().to_vec();
        (is_ambiguous && !session.library().diagnostics().has_errors()).then_some((session, classes))
    }

    fn open(&self) -> Session {
        let mut session = Session::on_disk();
        session.permit(self.permissions());
        for dir in &self.library {
            session.add_library(dir);
        }
        if let Some(path) = std::env::var_os("MODELICAPATH") {
            session.add_modelica_path(&path.to_string_lossy());
        }
        for file in self.names.iter().filter(|name| is_file(name) && !is_unit(name)) {
            session.load_file(Path::new(file));
        }
        for (file, (text, _)) in self.units().filter_map(|name| Some((name, wrapper(name, self.fmu_kind).ok()?))) {
            session.set_text(format!("{file}.mo"), &text);
        }
        session
    }

    fn units(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str).filter(|name| is_unit(name))
    }

    /// Says what is wrong with FMUs that are named, and what of them is left out.
    fn check_units(&self, screen: &Screen) -> Result<(), Exit> {
        for name in self.units() {
            let (opened, _) = fmu::open(Path::new(name), screen)?;
            if opened.document.findings.has_errors() {
                screen.show_all(&opened.document.findings, &opened.sources);
                return Err(Exit::ModelError);
            }
            if wrapper(name, self.fmu_kind).is_err() {
                return Err(screen.fail(&diagnostics::no_usable_interface(name)));
            }
        }
        Ok(())
    }

    fn class(&self, session: &Session) -> Result<ClassId, Diagnostic> {
        match self.classes().as_slice() {
            [] => session.class(None),
            [name] => session.class(Some(name)),
            several => {
                let names: Vec<String> = several.iter().map(|name| name.to_string()).collect();
                Err(diagnostics::several_classes(&names))
            }
        }
    }

    fn classes(&self) -> Vec<&String> {
        self.names.iter().filter(|name| !is_file(name)).collect()
    }

    fn run_any(&self, mut options: Options, client: &mut dyn Client, screen: &Screen) -> Result<Run, Exit> {
        let started = Instant::now();
        options.stopwatch = system_clock::stopwatch();
        if let Some(name) = self.compiled() {
            if self.names.len() > 1 {
                return Err(screen.fail(&diagnostics::compiled_stands_alone(name)));
            }
            return self.run_compiled(Path::new(name), options, client, screen);
        }
        self.check_units(screen)?;
        let options = &options;
        let mut session = self.open();
        session.permit(Permissions { prints_to_stderr: screen.json, ..session.permissions() });
        let session = session;
        let class = self.class(&session).map_err(|error| {
            let mut all = session.library().diagnostics();
            // What the files said explains why no class was found.
            if !all.has_errors() || !self.classes().is_empty() {
                all.push(error);
            }
            show(&session, &all, screen);
            Exit::ModelError
        })?;
        let load = started.elapsed();
        let outcome = run_if_readable(&session, class, options, client);
        show(&session, &outcome.diagnostics, screen);
        let class_name = session.library().qualified_name(class);
        let outcome = ManuallyDrop::new(outcome);
        Ok(Run { class_name, outcome, start: Start::default(), session: ManuallyDrop::new(session), load })
    }

    /// The file of a compiled model, if the target is one.
    pub fn compiled(&self) -> Option<&str> {
        self.names.iter().map(String::as_str).find(|name| is_model(name))
    }

    /// Says which of these a compiled model has no way to vary.
    pub fn refuse_to_vary(&self, model: &Model, names: &[String], screen: &Screen) -> Result<(), Exit> {
        let Some(file) = self.compiled() else { return Ok(()) };
        for name in names {
            if let Err(why) = model.changeable(name) {
                return Err(screen.fail(&diagnostics::cannot_vary(name, file, &why)));
            }
        }
        Ok(())
    }

    /// Runs a model that was compiled before: values are set in it.
    fn run_compiled(
        &self,
        path: &Path,
        mut options: Options,
        client: &mut dyn Client,
        screen: &Screen,
    ) -> Result<Run, Exit> {
        let started = Instant::now();
        let shown = path.display().to_string();
        let bytes = std::fs::read(path);
        let bytes = bytes.map_err(|error| screen.fail(&diagnostics::unreadable(&shown, &error.to_string())))?;
        let model = Model::from_bytes(&bytes).map_err(|why| screen.fail(&diagnostics::bad_file(&shown, &why)))?;
        let sources = model.sources();
        options.start.values = std::mem::take(&mut options.overrides);
        let wrong = options.start.check(&model);
        if !wrong.is_empty() {
            wrong.iter().for_each(|d| screen.show(d, &sources));
            return Err(Exit::ModelError);
        }
        let load = started.elapsed();
        let permissions = Permissions { prints_to_stderr: screen.json, ..self.permissions() };
        let class_name = model.name().to_owned();
        let outcome = match options.stop_after {
            Stage::Simulate => pipeline::simulate_model(Arc::new(model), permissions, &options, client),
            _ => Outcome { model: Some(Arc::new(model)), ..Outcome::default() },
        };
        screen.show_all(&outcome.diagnostics, &sources);
        let (outcome, session) = (ManuallyDrop::new(outcome), ManuallyDrop::new(Session::on_disk()));
        Ok(Run { class_name, outcome, start: options.start, session, load })
    }

    /// Writes what `--stats` and `--timing` ask for.
    pub fn report_cost(&self, run: &Run, more: &[(&'static str, Duration)], screen: &Screen) -> Result<(), Exit> {
        if self.timing {
            let stages = [("load", run.load)].into_iter().chain(run.outcome.timings.iter().copied());
            for (name, time) in stages.chain(more.iter().copied()) {
                screen.note(&format!("{name:10} {:9.3} ms", time.as_secs_f64() * 1e3));
            }
        }
        match &self.stats {
            Some(path) => write(path, &format!("{}\n", stats::of(&run.outcome, run.load)), screen),
            None => Ok(()),
        }
    }
}

/// What is wrong with the files that the user named is said first. It is an error also where the class does not need them,
/// because the user named them.
fn run_if_readable(session: &Session, class: ClassId, options: &Options, client: &mut dyn Client) -> Outcome {
    let mut diagnostics = session.diagnostics();
    if diagnostics.has_errors() {
        return Outcome { diagnostics, ..Outcome::default() };
    }
    let mut outcome = pipeline::run_with(session, class, options, client);
    diagnostics.extend(std::mem::take(&mut outcome.diagnostics));
    outcome.diagnostics = diagnostics;
    outcome
}

fn show(session: &Session, found: &Diagnostics, screen: &Screen) {
    session.with_sources(|sources| screen.show_all(found, sources));
}
