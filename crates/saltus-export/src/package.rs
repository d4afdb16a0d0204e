//! The archive: description, model, files, runtimes.
//!
//! In: a compiled model and the runtimes of some platforms. Out: the bytes of an FMU.

use std::fmt;
use std::sync::Arc;

use saltus::Model;
use saltus::container::BadFile;
use saltus_fmi::archive::{ArchiveError, ArchiveWriter};
use saltus_fmi::{Version, WriteError};
use saltus_program::{BaseClock, BasePartition, fnv1a};

use crate::carried::{self, Files, INDEX};
use crate::description::{Kinds, describe};
use crate::references::{ClockKind, References};

/// The binary form of the model in `resources/`.
pub const MODEL_FILE: &str = "model.saltus";

/// The library `saltus-fmu` for one platform.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Runtime {
    pub platform: Platform,
    pub bytes: Vec<u8>,
}

/// A kind of machine, with the name of its directory in each version of the standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Platform {
    /// As in 3.0: architecture and system.
    pub name: &'static str,
    /// As in 2.0, where it has one.
    old_name: Option<&'static str>,
    extension: &'static str,
}

impl Platform {
    pub const ALL: [Platform; 6] = [
        Platform { name: "x86_64-linux", old_name: Some("linux64"), extension: "so" },
        Platform { name: "x86_64-windows", old_name: Some("win64"), extension: "dll" },
        Platform { name: "x86_64-darwin", old_name: Some("darwin64"), extension: "dylib" },
        Platform { name: "aarch64-linux", old_name: Some("aarch64-linux"), extension: "so" },
        Platform { name: "aarch64-darwin", old_name: Some("aarch64-darwin"), extension: "dylib" },
        Platform { name: "aarch64-windows", old_name: Some("aarch64-windows"), extension: "dll" },
    ];

    /// By either of its names.
    pub fn from_name(name: &str) -> Option<Platform> {
        Platform::ALL.into_iter().find(|p| p.name == name || p.old_name == Some(name))
    }

    /// The machine that this runs on.
    pub fn here() -> Option<Platform> {
        let system = match std::env::consts::OS {
            "macos" => "darwin",
            system => system,
        };
        Platform::from_name(&format!("{}-{system}", std::env::consts::ARCH))
    }

    fn directory(self, version: Version) -> &'static str {
        match version {
            Version::V2 => self.old_name.unwrap_or(self.name),
            Version::V3 => self.name,
        }
    }
}

/// What to make.
#[derive(Clone, Debug)]
pub struct Export {
    pub version: Version,
    pub kinds: Kinds,
    pub runtimes: Vec<Runtime>,
}

/// An FMU, and what its maker should know.
pub struct Exported {
    pub bytes: Vec<u8>,
    pub n_variables: usize,
    pub n_states: usize,
    pub n_files: usize,
    /// The model cannot be initialised as it is; its inputs or parameters may change that.
    pub cannot_start: Option<saltus_sim::SimError>,
}

#[derive(Debug)]
pub enum CannotExport {
    /// States would come and go.
    StructureChanges,
    /// Something in it happens without a tick of an input clock.
    NotScheduled(String),
    /// Clocks are variables since version 3.0.
    Clocks(String),
    /// Who integrates the model gives values of this input, not its slope.
    DifferentiatedInput(String),
    Model(BadFile),
    Description(WriteError),
    Archive(ArchiveError),
}

impl fmt::Display for CannotExport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            CannotExport::StructureChanges => f.write_str("the structure of the model changes during the simulation"),
            CannotExport::DifferentiatedInput(input) => write!(f, "the model differentiates its input `{input}`"),
            CannotExport::NotScheduled(why) => f.write_str(why),
            CannotExport::Clocks(clock) => write!(f, "FMI 2.0 has no clocks such as `{clock}`"),
            CannotExport::Model(why) => why.fmt(f),
            CannotExport::Description(why) => why.fmt(f),
            CannotExport::Archive(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for CannotExport {}

/// The token by which description and model recognise each other.
pub fn token_of(model: &[u8]) -> String {
    // Two hashes of 64 bits, of the bytes and of the bytes with one before them.
    let (a, b) = (fnv1a(model), fnv1a(&[&[1], model].concat()));
    let part = |x: u64, from: u32, n: u32| (x >> from) & ((1 << n) - 1);
    let (first, second, third) = (part(a, 32, 32), part(a, 16, 16), part(a, 0, 16));
    let (fourth, last) = (part(b, 48, 16), part(b, 0, 48));
    format!("{{{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-{last:012x}}}")
}

/// A name for files and functions.
pub fn identifier(model: &Model) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = model.name().chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// Why the model cannot be run by activating its partitions alone.
pub fn unschedulable(model: &Model) -> Option<String> {
    let program = model.program();
    let timed = |p: &&BasePartition| !matches!(p.clock, BaseClock::Events { .. });
    if let Some(state) = program.states.first() {
        return Some(format!("`{}` is a continuous state", program.memory.slot_name(state.value)));
    }
    if let Some(relation) = program.events.relations.values().next() {
        return Some(format!("`{}` makes events", relation.text));
    }
    if !program.events.time_events.is_empty() || !program.events.samples.is_empty() {
        return Some("it has time events of its own".to_owned());
    }
    if let Some(clock) = program.clocks.base_partitions.iter().filter(timed).flat_map(|p| &p.sub_clocks).next() {
        return Some(format!("its clock `{}` ticks by itself", clock.text));
    }
    let has_input = References::new(model).clocks.iter().any(|c| matches!(c.kind, ClockKind::Input { .. }));
    (!has_input).then(|| "it has no clock that could be activated".to_owned())
}

/// Makes an FMU.
pub fn export(model: &Arc<Model>, wanted: &Export) -> Result<Exported, CannotExport> {
    if wanted.kinds.model_exchange && model.program().changes_structure() {
        return Err(CannotExport::StructureChanges);
    }
    if let (true, Some(&(input, _))) = (wanted.kinds.model_exchange, model.program().memory.input_derivatives.first()) {
        return Err(CannotExport::DifferentiatedInput(model.program().memory.slot_name(input).into_owned()));
    }
    if let (true, Some(why)) = (wanted.kinds.scheduled_execution, unschedulable(model)) {
        return Err(CannotExport::NotScheduled(why));
    }
    if let (Version::V2, Some(clock)) = (wanted.version, References::new(model).clocks.first()) {
        return Err(CannotExport::Clocks(clock.name.clone()));
    }
    let binary = model.to_bytes().map_err(CannotExport::Model)?;
    let (files, started) = carried::read_at_start(model);
    let identifier = identifier(model);
    let description = describe(model, wanted.version, wanted.kinds, &identifier, &token_of(&binary));
    let text = saltus_fmi::write(&description).map_err(CannotExport::Description)?;
    let mut archive = ArchiveWriter::new();
    let mut add = |name: &str, bytes: &[u8]| archive.add(name, bytes).map_err(CannotExport::Archive);
    add("modelDescription.xml", text.as_bytes())?;
    add(&format!("resources/{MODEL_FILE}"), &binary)?;
    add_files(&files, &mut add)?;
    for Runtime { platform, bytes } in &wanted.runtimes {
        let directory = platform.directory(wanted.version);
        add(&format!("binaries/{directory}/{identifier}.{}", platform.extension), bytes)?;
    }
    Ok(Exported {
        bytes: archive.finish().map_err(CannotExport::Archive)?,
        n_variables: description.variables.len(),
        n_states: model.program().states.len(),
        n_files: files.len(),
        cannot_start: started.err(),
    })
}

/// The files of the model and their list.
fn add_files(files: &Files, add: &mut impl FnMut(&str, &[u8]) -> Result<(), CannotExport>) -> Result<(), CannotExport> {
    if files.is_empty() {
        return Ok(());
    }
    let mut index = String::new();
    for (k, (path, bytes)) in files.iter().enumerate() {
        let extension =
            path.extension().and_then(|e| e.to_str()).filter(|e| e.bytes().all(|b| b.is_ascii_alphanumeric()));
        let name = format!("file{}.{}", k + 1, extension.unwrap_or("data"));
        add(&format!("resources/{name}"), bytes)?;
        index += &format!("{name}\t{}\n", path.display());
    }
    add(&format!("resources/{INDEX}"), index.as_bytes())
}
