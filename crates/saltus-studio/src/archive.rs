//! Runs on the disk, for the next server: each as a table (Parquet), its details and events (a JSON value a line) and what pages list.
//!
//! ```text
//! runs/17.parquet    the signals, with units, descriptions and parameters
//! runs/17.details    hidden variables, texts, profile, configurations; then the record of events
//! runs/17.json       class, values, phase, messages: written last
//! ```
//!
//! A thread of its own writes, so that no run waits for the disk while it goes on. The end of a run is written before anybody hears of it: what a page
//! has shown as done is done for the next server. All targets of the user together have a bound; the oldest runs go first.
//! A server that finds another one with the same target alive neither restores nor keeps runs.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use saltus_base::Span;
use saltus_results::{Format, Header, Kept, Results, Signal, Source, WriteError, Writer};
use serde_json::{Value, json};

use crate::documents::write_in_one_step;
use crate::event_file::{self, EventWriter};
use crate::memory::make_private;
use crate::recording::Recording;
use crate::runs::{Run, Status};

/// Bytes that all runs of all targets may take on the disk.
const MOST_BYTES: u64 = 512 << 20;
/// Rows that are copied while the run may not add others.
const ROWS_AT_A_TIME: usize = 256;
const EVENTS_AT_A_TIME: usize = 1024;
/// Name of the directory in that of a target.
const NAME: &str = "runs";

enum Job {
    Keep(Arc<Run>),
    /// With the status that it is about to have; whoever waits is told.
    End(Arc<Run>, Status, Sender<()>),
    Forget(u64),
}

pub struct Archive {
    jobs: Mutex<Sender<Job>>,
}

/// The files of one run.
#[derive(Clone)]
pub struct Files(PathBuf);

impl Files {
    fn of(directory: &Path, id: u64) -> Files {
        Files(directory.join(id.to_string()))
    }

    fn about(&self) -> PathBuf {
        self.0.with_extension("json")
    }

    fn table(&self) -> PathBuf {
        self.0.with_extension("parquet")
    }

    fn details(&self) -> PathBuf {
        self.0.with_extension("details")
    }

    fn all(&self) -> [PathBuf; 3] {
        [self.about(), self.table(), self.details()]
    }

    fn remove(&self) {
        self.all().iter().for_each(|path| drop(fs::remove_file(path)));
    }
}

/// What is known about a run without its model, besides the table.
#[derive(Default)]
pub struct Details {
    pub hidden: HashSet<String>,
    /// Texts of the model, by name.
    pub texts: Value,
    pub profile: Value,
    pub configurations: Value,
    places: Vec<Value>,
}

impl Details {
    pub fn place(&self, span: Span) -> Option<Value> {
        event_file::place_of(span, &self.places)
    }
}

impl Archive {
    /// Opens the runs of a target, with those that earlier servers have kept. `target` is the directory of the target, beside those of others.
    pub fn open(target: &Path) -> io::Result<(Arc<Archive>, Vec<Run>)> {
        let directory = target.join(NAME);
        make_private(&directory)?;
        let lock = File::create(directory.join("lock"))?;
        lock.try_lock()?;
        let kept = restore(&directory)?;
        let (jobs, received) = channel();
        let all = target.parent().unwrap_or(target).to_path_buf();
        let work = move || {
            // Held for as long as the server lives.
            let _lock = lock;
            let copy = |run: &Run, status: &Status| {
                if !run.begin_copy() {
                    return;
                }
                let files = Files::of(&directory, run.id);
                // A full disk or a defect takes away nothing but the copy.
                let written = saltus::guard::catch(|| write(run, status, &files));
                if !written.is_ok_and(|written| written.is_ok()) {
                    files.remove();
                }
                // What is listed alone takes no room.
                if files.table().exists() {
                    trim(&all, MOST_BYTES);
                }
            };
            for job in received {
                match job {
                    Job::Forget(id) => Files::of(&directory, id).remove(),
                    Job::Keep(run) => {
                        let now = run.status().clone();
                        copy(&run, &now);
                    }
                    Job::End(run, ended, done) => {
                        copy(&run, &ended);
                        let _ = done.send(());
                    }
                }
            }
        };
        std::thread::Builder::new().name("archive".into()).spawn(work)?;
        Ok((Arc::new(Archive { jobs: Mutex::new(jobs) }), kept))
    }

    fn send(&self, job: Job) {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = jobs.send(job);
    }

    /// Writes what the run has so far, unless that is about to happen.
    pub fn keep(&self, run: &Arc<Run>) {
        if run.wants_copy() {
            self.send(Job::Keep(run.clone()));
        }
    }

    /// Writes a run that ends with this status, and waits until that is done.
    pub fn keep_end(&self, run: &Arc<Run>, ended: Status) {
        let (done, written) = channel();
        self.send(Job::End(run.clone(), ended, done));
        let _ = written.recv();
    }

    pub fn forget(&self, id: u64) {
        self.send(Job::Forget(id));
    }
}

/// Runs of earlier servers; what they left half written is removed.
fn restore(directory: &Path) -> io::Result<Vec<Run>> {
    let mut runs = Vec::new();
    for path in fs::read_dir(directory)?.flatten().map(|entry| entry.path()) {
        let id = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match (id, extension) {
            (Some(id), "json") => {
                let about = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
                let files = Files::of(directory, id);
                match about.filter(|about| about["id"] == id).and_then(|about| Run::restored(&about, files.clone())) {
                    Some(run) => runs.push(run),
                    None => files.remove(),
                }
            }
            (Some(id), "parquet" | "details") if Files::of(directory, id).about().exists() => {}
            (None, "") => {}
            _ => drop(fs::remove_file(&path)),
        }
    }
    Ok(runs)
}

fn write(run: &Run, status: &Status, files: &Files) -> io::Result<()> {
    let about = run.describe_as(status);
    if run.recording().look().n_rows() > 0 {
        write_table(run, &files.table()).map_err(|failed| failed.error)?;
        write_details(run, &files.details())?;
    }
    write_in_one_step(&files.about(), about.to_string().as_bytes())
}

fn write_table(run: &Run, path: &Path) -> Result<(), WriteError> {
    let (columns, n_places, parameters, signals, n_rows) = {
        let kept = run.recording().look();
        let (columns, n_places) = kept.table();
        (columns, n_places, kept.parameters.clone(), kept.signals.clone(), kept.n_rows())
    };
    let header = match run.model.get() {
        Some(model) => {
            let known = saltus_sim::Header::new(0.0, &columns, n_places, &parameters);
            saltus::results::header(model.program(), &known, &Kept::default())
        }
        None => {
            let places: BTreeMap<&str, usize> = columns.iter().map(|c| (c.name.as_str(), c.place)).collect();
            let placed = |signal: Signal| match places.get(signal.name.as_str()) {
                Some(&index) => Signal { source: Source::Column { index, negated: false }, ..signal },
                None => signal,
            };
            Header { has_gaps: true, ..Header::new(&run.class, signals.into_iter().map(placed).collect()) }
        }
    };
    let mut writer = Writer::create(path, Format::Parquet, &header)?;
    let mut n_written = 0;
    while n_written < n_rows {
        let rows = run.recording().look().rows(&columns, n_written, ROWS_AT_A_TIME.min(n_rows - n_written));
        if rows.is_empty() {
            break;
        }
        n_written += rows.len();
        for (time, row) in rows {
            writer.row(time, &row)?;
        }
    }
    writer.finish()
}

fn write_details(run: &Run, path: &Path) -> io::Result<()> {
    let beside = path.with_extension("details-new");
    let mut out = BufWriter::new(File::create(&beside)?);
    let mut head = json!({"hidden": [], "texts": {}, "profile": run.profile(), "configurations": run.configurations()});
    if let Some(model) = run.model.get() {
        let hidden = model.variables().iter().filter(|v| v.is_hidden || v.is_protected).map(|v| json!(v.name()));
        head["hidden"] = hidden.collect();
        head["texts"] = model.texts().map(|(name, text)| (name.to_owned(), json!(text))).collect();
    }
    writeln!(out, "{head}")?;
    let mut writer = EventWriter::new(out);
    let mut n_written = 0;
    loop {
        // A copy, so that the run does not wait for the disk.
        let events: Vec<_> = {
            let kept = run.recording().look();
            kept.events.iter().skip(n_written).take(EVENTS_AT_A_TIME).cloned().collect()
        };
        if events.is_empty() {
            break;
        }
        n_written += events.len();
        for event in &events {
            writer.write(event, &|span| run.place(span))?;
        }
    }
    writer.finish()?;
    fs::rename(&beside, path)
}

/// The table, details and events of a run that was kept; nothing where the files cannot be read.
pub fn read(files: &Files, class: &str) -> (Recording, Details) {
    let table = fs::read(files.table()).ok();
    let table =
        table.and_then(|bytes| saltus::guard::catch(|| Results::read(&bytes, Format::Parquet, class)).ok()?.ok());
    let recording = table.and_then(|table| Recording::of(&table).ok()).unwrap_or_default();
    let mut details = Details::default();
    if let Ok(file) = File::open(files.details()) {
        let mut lines = BufReader::new(file);
        let mut head = String::new();
        let is_read = lines.read_line(&mut head).is_ok();
        if let Ok(mut head) = serde_json::from_str::<Value>(&head)
            && is_read
        {
            let hidden = head["hidden"].as_array().into_iter().flatten();
            details.hidden = hidden.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
            details.texts = head["texts"].take();
            details.profile = head["profile"].take();
            details.configurations = head["configurations"].take();
            let (events, places) = event_file::read(lines);
            recording.look().events = events;
            details.places = places;
        }
    }
    (recording, details)
}

/// Removes the oldest runs of all targets until the others take no more than `most` bytes.
fn trim(all: &Path, most: u64) {
    let list = |directory: &Path| fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut runs: Vec<(SystemTime, Files, u64)> = Vec::new();
    for path in
        list(all).flat_map(|target| list(&target.join(NAME))).filter(|p| p.extension().is_some_and(|e| e == "json"))
    {
        let files = Files(path.with_extension(""));
        let written = fs::metadata(&path).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let n_bytes = files.all().iter().filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum();
        runs.push((written, files, n_bytes));
    }
    runs.sort_by(|a, b| (a.0, &a.1.0).cmp(&(b.0, &b.1.0)));
    let mut total: u64 = runs.iter().map(|(_, _, n_bytes)| n_bytes).sum();
    for (_, files, n_bytes) in runs {
        if total <= most {
            break;
        }
        files.remove();
        total -= n_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_runs_go_first_whatever_their_target() {
        let root = std::env::temp_dir().join(format!("saltus-archive-{}", std::process::id()));
        let make = |target: &str, id: u64, age: u64| {
            let directory = root.join(target).join(NAME);
            fs::create_dir_all(&directory).unwrap();
            let files = Files::of(&directory, id);
            for path in files.all() {
                fs::write(path, [0; 100]).unwrap();
            }
            let written = SystemTime::now() - std::time::Duration::from_secs(age);
            File::options().write(true).open(files.about()).unwrap().set_modified(written).unwrap();
            files
        };
        let all = [make("a", 1, 30), make("a", 2, 10), make("b", 1, 20)];
        trim(&root, 900);
        assert!(all.iter().all(|files| files.about().exists()));
        trim(&root, 650);
        assert_eq!(all.each_ref().map(|files| files.table().exists()), [false, true, true]);
        trim(&root, 300);
        assert_eq!(all.each_ref().map(|files| files.details().exists()), [false, true, false]);
        fs::remove_dir_all(&root).unwrap();
    }
}
