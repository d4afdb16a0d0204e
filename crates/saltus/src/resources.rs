//! The machine as a simulation reaches it: the terminal, files, environment variables, the clock, commands.
//!
//! In: the path or the URI that the model gives (`modelica://Package/Resources/data.txt`, `log.txt`). Out: what is there, or
//! why it is refused. Without further permission only files below the working directory are written, and only those and
//! files of libraries are read, wherever links lead; what else exists, and the environment, is not told. Pipes and devices are
//! never opened. Work directory and environment variables that a model sets are its own: the process does
//! not change. Specification: section 13.5, external resources.

mod compile;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use saltus_base::printable;
use saltus_eval::{Clock, FileKind, ForeignCall, IncludedFunction, Inclusion, Outside, Reached, UserTable, Value};
use saltus_flat::{Passing, Type};
#[cfg(feature = "jit")]
use saltus_jit::{ForeignFunctions, Said};
use saltus_library::{FileSource, Packages};

use crate::Permissions;
use crate::fmu::calls::Units;
#[cfg(not(feature = "jit"))]
use crate::no_foreign::ForeignFunctions;

/// Names of temporary files that are tried.
const MOST_NAMES: u32 = 100_000;
/// How the names of functions begin that call FMUs.
const FMU_FUNCTIONS: &str = "saltus_fmu_";
/// Bytes that a run may write.
const MOST_WRITTEN: u64 = 1 << 30;

pub struct Resources {
    packages: Arc<Packages>,
    files: Arc<dyn FileSource>,
    permissions: Permissions,
    /// Where the program was started; absolute.
    root: PathBuf,
    /// Where relative paths start; absolute.
    work_directory: PathBuf,
    /// Environment variables that the model has set.
    variables: BTreeMap<String, String>,
    n_written: u64,
    foreign: ForeignFunctions,
    units: Units,
    /// Files of libraries, by name and directories.
    found: BTreeMap<(String, Vec<String>), PathBuf>,
    /// C text that the functions of the model bring along.
    included: Vec<Inclusion>,
    /// The library that was compiled of it, once it is needed.
    compiled: Option<Reached<PathBuf>>,
}

impl Resources {
    pub fn new(packages: Arc<Packages>, files: Arc<dyn FileSource>, permissions: Permissions) -> Self {
        let root = std::env::current_dir().unwrap_or_default();
        Resources {
            packages,
            files,
            permissions,
            work_directory: root.clone(),
            root,
            variables: BTreeMap::new(),
            n_written: 0,
            foreign: ForeignFunctions::default(),
            units: Units::default(),
            found: BTreeMap::new(),
            included: Vec::new(),
            compiled: None,
        }
    }

    /// With another directory as the one below which files may be written.
    #[cfg(test)]
    fn within(mut self, root: &Path) -> Self {
        self.root = root.to_owned();
        self.work_directory = root.to_owned();
        self
    }

    fn resolved(&self, name: &str) -> Reached<PathBuf> {
        let path = self.packages.resolve(name, &*self.files);
        path.ok_or_else(|| format!("nothing is known under `{name}`"))
    }

    /// Is it permitted to read the file, or to know that it exists?
    fn may_read(&self, path: &Path) -> bool {
        if self.permissions.io {
            return true;
        }
        let real = self.files.real(path);
        let roots = [self.files.real(Path::new(".")), self.files.real(&self.root)];
        roots.iter().any(|root| real.starts_with(root)) || self.packages.contains(&real, &*self.files)
    }

    fn path(&self, name: &str) -> Reached<PathBuf> {
        let path = self.resolved(name)?;
        Ok(normalised(&self.work_directory.join(path)))
    }

    /// The path of something that is changed.
    fn own(&self, name: &str) -> Reached<PathBuf> {
        let path = self.path(name)?;
        if self.permissions.io || self.files.real(&path).starts_with(self.files.real(&self.root)) {
            return Ok(path);
        }
        Err(format!("`{name}` is outside the working directory; changing it needs `--allow-io`"))
    }

    /// Compiles what the functions of the model bring along, unless that has been done before.
    fn compiled(&mut self) -> Reached<PathBuf> {
        if self.compiled.is_none() {
            let resolved = |name: &String| self.resolved(name).map(|path| self.root.join(path));
            let units: Vec<compile::Unit> = self
                .included
                .iter()
                .map(|unit| compile::Unit {
                    inclusion: unit,
                    // A directory that is not there holds nothing that the text needs.
                    directories: unit.directories.iter().filter_map(|d| resolved(d).ok()).collect(),
                })
                .collect();
            self.compiled = Some(compile::shared_library(&units));
        }
        self.compiled.clone().unwrap_or_else(|| Err(String::new()))
    }

    /// The variable of the compiled library that points to the function of a call.
    fn entry(&self, call: &ForeignCall) -> Option<String> {
        let is_its = |u: &Inclusion| u.texts == call.includes && u.directories == call.include_directories;
        let unit = self.included.iter().position(is_its)?;
        let result = call.result.map(|base| Passing::of(&Type::scalar(base)));
        let is_called = |f: &IncludedFunction| f.name == call.name && f.passing == call.passing && f.result == result;
        let function = self.included.get(unit)?.functions.iter().position(is_called)?;
        Some(compile::entry(unit, function))
    }

    /// `loadResource` leaves the URI of a file as it is until somebody opens the file. Foreign code does so by itself.
    fn resolve_names(&self, call: &ForeignCall, arguments: &mut [Value]) {
        for (argument, is_output) in arguments.iter_mut().zip(call.is_output) {
            let Value::String(name) = &*argument else { continue };
            if !is_output
                && name.starts_with("modelica://")
                && let Ok(path) = self.path(name)
            {
                *argument = Value::string(&text(&path));
            }
        }
    }

    /// Loads the libraries of a function; gives their files in order.
    fn load(&mut self, call: &ForeignCall, is_included: bool) -> Reached<Vec<PathBuf>> {
        let mut paths = if is_included { vec![self.compiled()?] } else { Vec::new() };
        for library in call.libraries {
            let key = (library.clone(), call.directories.to_vec());
            let path = match self.found.get(&key) {
                Some(path) => path.clone(),
                None => self.library_file(library, call.directories),
            };
            paths.push(path.clone());
            self.found.insert(key, path);
        }
        // The first one may need what comes after it.
        paths.iter().rev().try_for_each(|path| self.foreign.load(path))?;
        Ok(paths)
    }

    /// The file of a shared library; where there is none its bare name, which the operating system looks for.
    fn library_file(&self, library: &str, directories: &[String]) -> PathBuf {
        use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
        let names =
            [format!("{DLL_PREFIX}{library}{DLL_SUFFIX}"), format!("{library}{DLL_SUFFIX}"), library.to_owned()];
        for directory in directories.iter().filter_map(|d| self.resolved(d).ok()) {
            let directory = self.root.join(directory);
            let places = platform().map(|p| directory.join(p)).into_iter().chain([directory.clone()]);
            let files = places.flat_map(|place| names.iter().map(move |name| place.join(name)));
            if let Some(file) = files.into_iter().find(|file| file.is_file()) {
                return file;
            }
        }
        let [name, ..] = names;
        PathBuf::from(name)
    }

    /// A function of `Saltus.FMI`.
    fn call_unit(&mut self, call: &ForeignCall, arguments: &mut [Value]) -> Reached<Option<Value>> {
        if !self.permissions.external {
            return Err("an FMU is foreign code, which runs only with `--allow-external`".to_owned());
        }
        match arguments.first() {
            Some(Value::String(file)) => {
                let file = file.to_string();
                // Code that may run may be read.
                let path = self.resolved(&file)?;
                let bytes = self.files.read(&path).map_err(|why| format!("cannot read the FMU `{file}`: {why}"))?;
                self.units.open(call, arguments, bytes)
            }
            _ => self.units.call(call, arguments),
        }
    }

    /// Shows what foreign code has said.
    fn print_said(&mut self) {
        #[cfg(feature = "jit")]
        for said in self.foreign.take_said() {
            match said {
                Said::Message(text) => self.print(text.trim_end()),
                Said::Warning(text) => self.print(&format!("warning: {}", text.trim_end())),
            }
        }
    }

    /// Refuses to fill the disk.
    fn count(&mut self, name: &str, bytes: &[u8]) -> Reached {
        self.n_written = self.n_written.saturating_add(bytes.len() as u64);
        if self.permissions.io || self.n_written <= MOST_WRITTEN {
            return Ok(());
        }
        Err(format!("cannot write `{name}`: more than {MOST_WRITTEN} bytes in one run need `--allow-io`"))
    }

    fn change(&self, name: &str, what: &str, act: impl FnOnce(&Path) -> io::Result<()>) -> Reached {
        let path = self.own(name)?;
        act(&path).map_err(|error| format!("cannot {what} `{name}`: {error}"))
    }
}

/// Refuses pipes and devices.
fn regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(known) if !known.is_file() => Err(io::Error::other("it is not a regular file")),
        _ => Ok(()),
    }
}

/// Directories for the libraries of this kind of machine, by the names that the specification gives (section 12.9.4).
fn platform() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("linux64"),
        ("linux", "x86") => Some("linux32"),
        ("windows", "x86_64") => Some("win64"),
        ("windows", "x86") => Some("win32"),
        _ => None,
    }
}

/// Without `.` and `..`; a path cannot leave the root of the file system.
fn normalised(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                result.pop();
            }
            part => result.push(part),
        }
    }
    result
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Outside for Resources {
    fn include(&mut self, units: Vec<Inclusion>) {
        self.included = units;
        self.compiled = None;
    }

    fn read(&mut self, name: &str) -> Reached<Vec<u8>> {
        // A path that the library knows as it is need not be on the disk.
        let given = self.resolved(name)?;
        let path = if self.work_directory == self.root { given } else { self.path(name)? };
        if !self.may_read(&path) {
            return Err(
                "it is neither below the working directory nor part of a library; `--allow-io` permits it".into()
            );
        }
        self.files.read(&path).map_err(|error| error.to_string())
    }

    fn resolve(&mut self, uri: &str) -> Option<String> {
        self.resolved(uri).ok().map(|path| text(&path))
    }

    fn kind(&mut self, name: &str) -> Reached<FileKind> {
        let Ok(path) = self.path(name) else { return Ok(FileKind::NoFile) };
        if !self.may_read(&path) {
            return Err(format!("`{name}` is outside the working directory; asking for it needs `--allow-io`"));
        }
        Ok(match fs::metadata(path) {
            Ok(found) if found.is_file() => FileKind::RegularFile,
            Ok(found) if found.is_dir() => FileKind::Directory,
            Ok(_) => FileKind::SpecialFile,
            Err(_) => FileKind::NoFile,
        })
    }

    fn full_path_name(&mut self, name: &str) -> String {
        self.path(name).map_or_else(|_| name.to_owned(), |path| text(&path).replace('\\', "/"))
    }

    fn print(&mut self, line: &str) {
        let line = printable(line);
        // A terminal that is gone is no reason to stop.
        let _ = if self.permissions.prints_to_stderr {
            writeln!(io::stderr(), "{line}")
        } else {
            writeln!(io::stdout(), "{line}")
        };
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Reached {
        self.count(name, bytes)?;
        self.change(name, "write", |path| regular(path).and_then(|()| fs::write(path, bytes)))
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Reached {
        self.count(name, bytes)?;
        self.change(name, "write", |path| {
            regular(path)?;
            OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
        })
    }

    fn make_directory(&mut self, name: &str) -> Reached {
        self.change(name, "make the directory", |path| fs::create_dir(path))
    }

    fn remove_directory(&mut self, name: &str) -> Reached {
        self.change(name, "remove the directory", |path| fs::remove_dir(path))
    }

    fn remove_file(&mut self, name: &str) -> Reached {
        self.change(name, "remove", |path| fs::remove_file(path))
    }

    fn rename(&mut self, from: &str, to: &str) -> Reached {
        let target = self.own(to)?;
        self.change(from, "rename", |path| fs::rename(path, target))
    }

    fn list(&mut self, directory: &str) -> Reached<Vec<String>> {
        let path = self.path(directory)?;
        if !self.may_read(&path) {
            return Err(format!("`{directory}` is outside the working directory; reading it needs `--allow-io`"));
        }
        let entries =
            fs::read_dir(path).map_err(|error| format!("cannot read the directory `{directory}`: {error}"))?;
        let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn temporary_file_name(&mut self) -> Reached<String> {
        let process = std::process::id();
        let names = (1..=MOST_NAMES).map(|n| self.work_directory.join(format!("saltus-{process}-{n}.tmp")));
        let free = names.into_iter().find(|path| !path.exists());
        free.map(|path| text(&path)).ok_or_else(|| "there are too many temporary files".to_owned())
    }

    fn work_directory(&mut self) -> Reached<String> {
        Ok(text(&self.work_directory).replace('\\', "/"))
    }

    fn set_work_directory(&mut self, name: &str) -> Reached {
        let path = self.own(name)?;
        if !path.is_dir() {
            return Err(format!("`{name}` is not a directory"));
        }
        self.work_directory = path;
        Ok(())
    }

    fn environment_variable(&mut self, name: &str) -> Reached<Option<String>> {
        // The standard library panics about such names.
        if name.is_empty() || name.contains(['=', '\0']) {
            return Ok(None);
        }
        if let Some(own) = self.variables.get(name) {
            return Ok(Some(own.clone()));
        }
        if !self.permissions.io {
            return Err(format!("the environment variable `{name}` is read only with `--allow-io`"));
        }
        Ok(std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn set_environment_variable(&mut self, name: &str, content: &str) -> Reached {
        if name.is_empty() || name.contains(['=', '\0']) || content.contains('\0') {
            return Err(format!("`{name}` cannot be an environment variable with this content"));
        }
        self.variables.insert(name.to_owned(), content.to_owned());
        Ok(())
    }

    fn command(&mut self, command: &str) -> Reached<i64> {
        if !self.permissions.io {
            return Err(format!("the command `{command}` runs only with `--allow-io`"));
        }
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut process = Command::new(shell);
        process.arg(option).arg(command).current_dir(&self.work_directory).envs(&self.variables);
        let status = process.status().map_err(|error| format!("cannot run `{command}`: {error}"))?;
        Ok(status.code().map_or(-1, i64::from))
    }

    /// In coordinated universal time: the standard library of Rust does not know the zone.
    fn clock(&mut self) -> Clock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock::of_seconds(since.as_secs() as i64, i64::from(since.subsec_millis()))
    }

    fn process_id(&mut self) -> i64 {
        i64::from(std::process::id())
    }

    fn user_table(&mut self, name: &str, n_variables: u32) -> Reached<UserTable> {
        if self.included.is_empty() {
            return Err(format!(
                "the table `{name}` comes from a C function `usertab`, but no function of the model includes C source"
            ));
        }
        if !self.permissions.external {
            return Err(format!(
                "the table `{name}` comes from the C function `usertab`, which runs only with `--allow-external`"
            ));
        }
        let library = self.compiled()?;
        self.foreign.load(&library)?;
        let table = self.foreign.user_table(&library, name, n_variables);
        self.print_said();
        table
    }

    fn watches_steps(&self) -> bool {
        self.units.watch_steps()
    }

    fn end_step(&mut self, time: f64) -> bool {
        self.units.end_step(time)
    }

    fn save_object(&self, address: usize) -> Reached<Vec<u8>> {
        self.units.save(address).unwrap_or_else(|| Err("it lives in foreign code".to_owned()))
    }

    fn restore_object(&mut self, address: usize, state: &[u8]) -> Reached {
        self.units.restore(address, state)
    }

    fn call(&mut self, call: &ForeignCall, arguments: &mut [Value]) -> Reached<Option<Value>> {
        if call.name.starts_with(FMU_FUNCTIONS) {
            return self.call_unit(call, arguments);
        }
        let entry = self.entry(call);
        let libraries = match call.libraries {
            [] if entry.is_some() => "with its C source".to_owned(),
            [] => "without a `Library` annotation".to_owned(),
            names => format!("of the library `{}`", names.join("`, `")),
        };
        if !self.permissions.external {
            return Err(format!(
                "`{}` {libraries} is foreign code, which runs only with `--allow-external`",
                call.function
            ));
        }
        let told = |why: String| format!("`{}` {libraries} cannot be called: {why}", call.function);
        let paths = self.load(call, entry.is_some()).map_err(told)?;
        self.resolve_names(call, arguments);
        let called = self.foreign.call(call, &paths, entry.as_deref(), arguments).map_err(told);
        self.print_said();
        called
    }
}

#[cfg(test)]
mod tests;
