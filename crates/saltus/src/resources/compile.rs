//! C text that comes with external functions, compiled once into a shared library in the user's cache directory.
//!
//! ```text
//! external "C" y = area(x) annotation(Include = "#include \"area.c\"", IncludeDirectory = "modelica://Shapes/Resources/Include")
//!          ⇒ unit0.c:  #include "area.c"
//!                      static double saltus_call_0_0(double a0) { return area(a0); }
//!                      void (*const saltus_entry_0_0)(void) = (void (*)(void))saltus_call_0_0;
//!          ⇒ ~/.cache/saltus/external/0123456789abcdef….so
//! ```
//!
//! Each text is a translation unit of its own, and all units of a model are one library, because they may need one another. Functions
//! are called from within their unit, so that they may be `static` or macros, and C converts arguments to what they want: an
//! Integer for a `double`, say. What does not fit does not compile. The name of the file is a hash of everything that
//! the library is made of: compiler and options, the texts, and every file that they include from their directories. It is
//! made beside its place and renamed, so that several processes may do so at once. (Specification: section 12.9.4.)

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use saltus_eval::{IncludedFunction, Inclusion, Reached};
use saltus_flat::Passing;
use saltus_program::fnv1a;

/// The header that every text may include.
const UTILITIES: &str = include_str!("ModelicaUtilities.h");
/// A function that is not declared, and a number where a pointer is wanted, are errors also for old compilers.
const OPTIONS: [&str; 6] =
    ["-shared", "-fPIC", "-O2", "-w", "-Werror=implicit-function-declaration", "-Werror=int-conversion"];
/// A function of the model means itself, also where the process has another one of its name, such as `gamma` of the C library.
const LINK_OPTIONS: &[&str] = if cfg!(target_os = "linux") { &["-Wl,-Bsymbolic"] } else { &[] };
/// Names of compilers that are tried.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];
/// Lines of what the compiler says that are shown.
const MOST_LINES: usize = 8;
/// Files that one text may include; a header that includes itself is read once.
const MOST_FILES: usize = 10_000;

/// A text with the directories of the files that it includes.
pub struct Unit<'a> {
    pub inclusion: &'a Inclusion,
    pub directories: Vec<PathBuf>,
}

/// The name of the variable that leads to the call of a function of a unit.
pub fn entry(unit: usize, function: usize) -> String {
    format!("saltus_entry_{unit}_{function}")
}

/// The file of the library with all units.
pub fn shared_library(units: &[Unit]) -> Reached<PathBuf> {
    let compiler = compiler().ok_or_else(|| {
        "it comes as C source, which needs a C compiler, and there is none: no `cc`, `gcc` or `clang` on the PATH"
            .to_owned()
    })?;
    let cache = cache_directory().ok_or("there is no directory for a cache: neither XDG_CACHE_HOME nor HOME is set")?;
    let texts: Vec<String> = units.iter().enumerate().map(|(k, unit)| text(k, unit)).collect();
    let library = cache.join(format!("{}{}", key(&compiler, units, &texts), std::env::consts::DLL_SUFFIX));
    if library.is_file() {
        return Ok(library);
    }
    let made = Workplace::new(&cache)
        .map_err(|error| format!("cannot write into the cache directory `{}`: {error}", cache.display()))?;
    let output = made.0.join("library");
    compile(&compiler, units, &texts, &made.0, &output)?;
    let placed = fs::rename(&output, &library);
    placed.map_err(|error| format!("cannot write `{}`: {error}", library.display()))?;
    Ok(library)
}

fn compile(compiler: &Path, units: &[Unit], texts: &[String], place: &Path, output: &Path) -> Reached {
    let unwritten = |error: std::io::Error| format!("cannot write into the cache directory: {error}");
    fs::write(place.join("ModelicaUtilities.h"), UTILITIES).map_err(unwritten)?;
    let mut objects = Vec::new();
    for (k, (unit, text)) in units.iter().zip(texts).enumerate() {
        let (source, object) = (place.join(format!("unit{k}.c")), place.join(format!("unit{k}.o")));
        fs::write(&source, text).map_err(unwritten)?;
        let mut command = Command::new(compiler);
        command.args(&OPTIONS[1..]).arg("-c").arg(&source).arg("-o").arg(&object);
        // A compiler that knows what `floor` is must not put in its own for the model's.
        command.args(unit.inclusion.functions.iter().map(|f| format!("-fno-builtin-{}", f.name)));
        for directory in unit.directories.iter().map(PathBuf::as_path).chain([place]) {
            command.arg("-I").arg(directory);
        }
        run(command, compiler)?;
        objects.push(object);
    }
    let mut command = Command::new(compiler);
    command.args(OPTIONS).args(objects).args(LINK_OPTIONS).arg("-lm").arg("-o").arg(output);
    run(command, compiler)
}

fn run(mut command: Command, compiler: &Path) -> Reached {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run `{}`: {error}", compiler.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().take(MOST_LINES).collect();
    Err(format!("`{}` cannot compile its C source:\n{}", compiler.display(), lines.join("\n")))
}

/// The text of a translation unit. A declaration may take `size_t` for a size without including anything; lines are counted as they
/// are written.
fn text(k: usize, unit: &Unit) -> String {
    let mut text = "#include <stddef.h>\n#line 1\n".to_owned();
    text.push_str(&unit.inclusion.texts.join("\n"));
    text.push('\n');
    for (i, function) in unit.inclusion.functions.iter().enumerate() {
        let (call, entry) = (format!("saltus_call_{k}_{i}"), entry(k, i));
        text.push_str(&calling(&call, function));
        text.push_str(&format!("void (*const {entry})(void) = (void (*)(void)){call};\n"));
    }
    text
}

/// A C function that passes its arguments on.
fn calling(call: &str, function: &IncludedFunction) -> String {
    let parameter = |(i, &passing): (usize, &Passing)| format!("{}a{i}", c_type(passing));
    let parameters: Vec<String> = function.passing.iter().enumerate().map(parameter).collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let arguments: Vec<String> = (0..function.passing.len()).map(|i| format!("a{i}")).collect();
    let called = format!("{}({})", function.name, arguments.join(", "));
    match function.result {
        None => format!("static void {call}({parameters}) {{ {called}; }}\n"),
        // A `const char *` is given as well.
        Some(Passing::Address) => format!("static void *{call}({parameters}) {{ return (void *){called}; }}\n"),
        Some(result) => format!("static {}{call}({parameters}) {{ return {called}; }}\n", c_type(result)),
    }
}

/// As the caller passes it; integers are as wide as `size_t`.
fn c_type(passing: Passing) -> &'static str {
    match passing {
        Passing::Real => "double ",
        Passing::Integer => "long long ",
        Passing::Address => "void *",
    }
}

/// The first compiler on the PATH.
fn compiler() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    COMPILERS.iter().find_map(|name| {
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        directories.iter().map(|d| d.join(&name)).find(|file| file.is_file())
    })
}

fn cache_directory() -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache =
        given("XDG_CACHE_HOME").or_else(|| Some(given("HOME").or_else(|| given("USERPROFILE"))?.join(".cache")))?;
    Some(cache.join("saltus").join("external"))
}

/// 128 bits over everything that the library is made of.
fn key(compiler: &Path, units: &[Unit], texts: &[String]) -> String {
    let mut bytes = Vec::new();
    let mut add = |part: &[u8]| {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    };
    add(compiler.as_os_str().as_encoded_bytes());
    // Another version of the compiler is another file.
    let file = fs::metadata(compiler).ok();
    let changed = file.as_ref().and_then(|f| f.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok());
    add(&changed.unwrap_or_default().as_nanos().to_le_bytes());
    add(&file.map_or(0, |f| f.len()).to_le_bytes());
    OPTIONS.iter().chain(LINK_OPTIONS).for_each(|option| add(option.as_bytes()));
    add(UTILITIES.as_bytes());
    for (unit, text) in units.iter().zip(texts) {
        add(text.as_bytes());
        for directory in &unit.directories {
            add(directory.as_os_str().as_encoded_bytes());
        }
        for (file, contents) in included_files(unit, text) {
            add(file.as_os_str().as_encoded_bytes());
            add(&contents);
        }
    }
    let first = fnv1a(&bytes);
    // A second hash of the same kind, begun elsewhere.
    bytes.extend(first.to_le_bytes());
    bytes.reverse();
    format!("{first:016x}{:016x}", fnv1a(&bytes))
}

/// All files that a text includes from its directories, directly or not, in the order in which they are met. Conditions of the
/// preprocessor are not looked at: a file too many does no harm.
fn included_files(unit: &Unit, text: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut todo: Vec<(Option<PathBuf>, String)> = vec![(None, text.to_owned())];
    while let Some((directory, text)) = todo.pop() {
        for name in text.lines().filter_map(included_name) {
            let places = directory.iter().chain(&unit.directories).map(|d| d.join(name));
            let Some(file) = places.into_iter().find(|f| f.is_file()) else { continue };
            if found.len() >= MOST_FILES || !seen.insert(file.clone()) {
                continue;
            }
            let contents = fs::read(&file).unwrap_or_default();
            todo.push((file.parent().map(Path::to_owned), String::from_utf8_lossy(&contents).into_owned()));
            found.push((file, contents));
        }
    }
    found
}

/// `a.h` of `#include "a.h"` and of `# include <a.h>`
fn included_name(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let (open, rest) = (rest.chars().next()?, rest.get(1..)?);
    let close = match open {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    rest.split_once(close).map(|(name, _)| name)
}

/// A directory of its own for one compilation, which goes with it.
struct Workplace(PathBuf);

impl Workplace {
    fn new(cache: &Path) -> std::io::Result<Workplace> {
        fs::create_dir_all(cache)?;
        for n in 0..u32::MAX {
            let place = cache.join(format!("making-{}-{n}", std::process::id()));
            match fs::create_dir(&place) {
                Ok(()) => return Ok(Workplace(place)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::Error::other("too many directories"))
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // What remains is only a few files too many.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_included_files() {
        assert_eq!(included_name("#include \"a.h\""), Some("a.h"));
        assert_eq!(included_name("  # include <b/c.h> /* why */"), Some("b/c.h"));
        assert_eq!(included_name("int include;"), None);
        assert_eq!(included_name("#include NAME"), None);
        assert_eq!(included_name("#include"), None);
    }
}
