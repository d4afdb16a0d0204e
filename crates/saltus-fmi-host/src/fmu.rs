//! An FMU that was opened: its description, and its files in a temporary directory once they are needed.
#![allow(unsafe_code)]

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use libloading::Library;
use saltus_fmi::archive::{Archive, Limits};
use saltus_fmi::{Document, Kind, Opened, Version};

use crate::error::{HostError, HostResult};
use crate::temporary::TemporaryDirectory;

pub struct Fmu {
    /// As the user named it.
    pub name: String,
    pub document: Document,
    files: Vec<String>,
    platforms: Vec<String>,
    bytes: Vec<u8>,
    extracted: Mutex<Option<Arc<TemporaryDirectory>>>,
}

/// The files of an FMU and its binary; the directory goes after the library is closed.
pub(crate) struct Loaded {
    pub library: Library,
    directory: Arc<TemporaryDirectory>,
}

impl Loaded {
    pub fn resources(&self) -> PathBuf {
        self.directory.path().join("resources")
    }
}

impl Fmu {
    /// An archive that was read from these bytes.
    pub fn new(opened: Opened, bytes: Vec<u8>) -> Fmu {
        let platforms = opened.platforms();
        let Opened { name, document, files, .. } = opened;
        Fmu { name, document, files, platforms, bytes, extracted: Mutex::new(None) }
    }

    /// Where its files are, once an instance was made.
    pub fn directory(&self) -> Option<PathBuf> {
        self.extracted.lock().ok()?.as_ref().map(|directory| directory.path().to_owned())
    }

    pub(crate) fn load(&self, kind: Kind) -> HostResult<Loaded> {
        let interface = self.document.model.interface(kind).ok_or_else(|| HostError::NoInterface {
            unit: self.name.clone(),
            wanted: match kind {
                Kind::ModelExchange => "model exchange",
                Kind::CoSimulation => "co-simulation",
                Kind::ScheduledExecution => "scheduled execution",
            },
        })?;
        let platform = platform(self.document.model.version);
        let binary = format!(
            "binaries/{platform}/{}{}",
            interface.model_identifier,
            if cfg!(target_os = "macos") { ".dylib" } else { std::env::consts::DLL_SUFFIX }
        );
        if !self.files.contains(&binary) {
            return Err(HostError::NoBinary { unit: self.name.clone(), platform, present: self.platforms.clone() });
        }
        let failed = |reason: String| HostError::Load { unit: self.name.clone(), reason };
        let directory = self.extracted().map_err(failed)?;
        // SAFETY: initialisers of the library run; whoever makes an instance has asked the user.
        let library = unsafe { Library::new(directory.path().join(&binary)) };
        let library = library.map_err(|error| failed(error.to_string()))?;
        Ok(Loaded { library, directory })
    }

    /// The directory with its binaries of this platform and its resources, made once.
    fn extracted(&self) -> Result<Arc<TemporaryDirectory>, String> {
        let mut held = self.extracted.lock().map_err(|_| "another thread failed".to_owned())?;
        if let Some(directory) = &*held {
            return Ok(directory.clone());
        }
        let directory = TemporaryDirectory::new().map_err(|error| format!("no temporary directory: {error}"))?;
        let mut archive =
            Archive::new(Cursor::new(&self.bytes), Limits::default()).map_err(|error| error.to_string())?;
        let binaries = format!("binaries/{}/", platform(self.document.model.version));
        let wanted = |name: &str| {
            name.starts_with(&binaries) || name.starts_with("resources/") || name == "modelDescription.xml"
        };
        archive.extract(directory.path(), wanted).map_err(|error| error.to_string())?;
        std::fs::create_dir_all(directory.path().join("resources")).map_err(|error| error.to_string())?;
        let directory = Arc::new(directory);
        *held = Some(directory.clone());
        Ok(directory)
    }
}

/// The directory of binaries for this machine.
fn platform(version: Version) -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    match version {
        Version::V2 => {
            let os = match os {
                "windows" => "win",
                "macos" => "darwin",
                other => other,
            };
            format!("{os}{}", if arch == "x86" { "32" } else { "64" })
        }
        Version::V3 => format!("{arch}-{}", if os == "macos" { "darwin" } else { os }),
    }
}
