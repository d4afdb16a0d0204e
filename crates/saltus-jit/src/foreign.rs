//! Calls functions of shared libraries: the user's own `external "C"` and `external "FORTRAN 77"`.
//!
//! ```text
//! external "C" y = smooth(x, size(x, 1), weight)      double smooth(const double *, size_t, double)
//!          ⇒ load libfilter.so, find `smooth`, put x into memory as C has it, enter machine code that passes
//!            pointer, integer and double where the calling convention wants them, take the result
//! ```
//!
//! [`memory`] lays values out as C and FORTRAN have them, [`trampoline`] makes the machine code, [`utilities`] are the functions
//! that foreign code may call. (Specification: section 12.9.)
//!
//! Foreign code can do anything, so nothing here can promise that the process survives it. What is promised: it gets the
//! types that the specification maps the declared ones to, memory as large as the declared sizes that outlives the call, and
//! strings that end with a zero byte.

#![allow(unsafe_code)]

mod memory;
mod trampoline;
mod user_table;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod utilities;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[path = "foreign/no_utilities.rs"]
mod utilities;

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

use libloading::Library;
use saltus_eval::{ForeignCall, Object, Reached, Value};
use saltus_flat::{BaseType, Passing};

use crate::JitError;
use memory::{Kind, Language, Passed};
use trampoline::{Returned, Trampolines};

/// Something that foreign code says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    Message(String),
    Warning(String),
}

/// The libraries that were loaded, and the machine code to enter them.
#[derive(Default)]
pub struct ForeignFunctions {
    trampolines: Option<Trampolines>,
    /// By path; dropped after everything that points into them.
    libraries: BTreeMap<PathBuf, Library>,
}

impl ForeignFunctions {
    /// Makes sure that a library is loaded.
    pub fn load(&mut self, path: &Path) -> Reached {
        if self.libraries.contains_key(path) {
            return Ok(());
        }
        // The functions that a library may call must be part of the program.
        std::hint::black_box(utilities::addresses());
        // SAFETY: the initialisers of the library run now. The user has permitted foreign code.
        let library = unsafe { open(path) }.map_err(|error| {
            // What the operating system says is behind it.
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            format!("cannot load `{}`: {why}", path.display())
        })?;
        self.libraries.insert(path.to_owned(), library);
        Ok(())
    }

    /// Calls a function of the libraries at `paths`, or of this process if there are none. `entry` is the name of a variable in
    /// the first library that points to the function; without one the function is found by its own name. It writes into
    /// the arguments that are outputs.
    pub fn call(
        &mut self,
        call: &ForeignCall,
        paths: &[PathBuf],
        entry: Option<&str>,
        arguments: &mut [Value],
    ) -> Reached<Option<Value>> {
        let language = if call.language.starts_with("FORTRAN") { Language::Fortran } else { Language::C };
        let symbol = match language {
            Language::C => call.name.to_owned(),
            // What FORTRAN compilers call it.
            Language::Fortran => format!("{}_", call.name.to_lowercase()),
        };
        let pointed = entry.and_then(|entry| self.pointed(entry, paths.first()?));
        let function = pointed.or_else(|| self.find(&symbol, paths)).ok_or_else(|| {
            let places: Vec<String> = paths.iter().map(|p| format!("`{}`", p.display())).collect();
            let places = if places.is_empty() { "this program".to_owned() } else { places.join(", ") };
            format!("there is no function `{symbol}` in {places}")
        })?;
        let returned = call.result.map(Returned::of).transpose()?;
        let passed = Passed::new(arguments, call.is_output, language)?;
        let is_as_declared = |(&kind, &passing): (&Kind, &Passing)| (kind == Kind::Real) == (passing == Passing::Real);
        if pointed.is_some() && !passed.kinds.iter().zip(call.passing).all(is_as_declared) {
            return Err("an argument is not of its declared type".to_owned());
        }
        let trampoline = self.trampolines()?.get(&passed.kinds, returned).map_err(|e| e.to_string())?;
        let mut result = 0u64;
        // SAFETY: the trampoline reads as many words as there are kinds, writes one word, and passes the words as the types
        // that the specification gives to the declared arguments. What the pointers among them point to lives in `passed`.
        unsafe { utilities::call(trampoline, passed.words.as_ptr(), &raw mut result, function) }?;
        passed.write_back(arguments, call.is_output)?;
        call.result.map(|base| returned_value(base, result)).transpose()
    }

    /// What foreign code has said since the last time.
    pub fn take_said(&mut self) -> Vec<Said> {
        utilities::take_said()
    }

    /// What a variable of a library that was compiled for this program points to.
    fn pointed(&self, entry: &str, path: &Path) -> Option<*const u8> {
        let library = self.libraries.get(path)?;
        // SAFETY: the library was made with a variable of this name that is the address of a function, and is never changed.
        let function = unsafe { library.get::<*const *const u8>(entry.as_bytes()).ok().map(|at| **at) }?;
        Some(function).filter(|f| !f.is_null())
    }

    fn find(&self, symbol: &str, paths: &[PathBuf]) -> Option<*const u8> {
        let in_library = |library: &Library| {
            // SAFETY: only the address is taken here.
            unsafe { library.get::<*const u8>(symbol.as_bytes()) }.ok().map(|address| *address)
        };
        let found = paths.iter().filter_map(|path| self.libraries.get(path)).find_map(in_library);
        found.or_else(|| in_process(symbol).filter(|_| paths.is_empty()))
    }

    fn trampolines(&mut self) -> Reached<&mut Trampolines> {
        if self.trampolines.is_none() {
            self.trampolines = Some(Trampolines::new().map_err(|e: JitError| e.to_string())?);
        }
        self.trampolines.as_mut().ok_or_else(|| "no machine code".to_owned())
    }
}

/// With its functions visible to libraries that are loaded later. What it needs must be there now: a function that is missed
/// only when it is called would end the process.
#[cfg(unix)]
unsafe fn open(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix;
    // SAFETY: see the caller.
    unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | unix::RTLD_GLOBAL) }.map(Library::from)
}

#[cfg(not(unix))]
unsafe fn open(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: see the caller.
    unsafe { Library::new(path) }
}

/// A function of the C library or of another one that is part of this process.
#[cfg(unix)]
fn in_process(symbol: &str) -> Option<*const u8> {
    let library = libloading::os::unix::Library::this();
    // SAFETY: only the address is taken here, and this process is never unloaded.
    unsafe { library.get::<*const u8>(symbol.as_bytes()) }.ok().map(|address| *address)
}

#[cfg(not(unix))]
fn in_process(_: &str) -> Option<*const u8> {
    None
}

/// A String at an address that foreign code gave.
fn text_at(address: u64) -> Reached<Value> {
    if address == 0 {
        return Err("the function gave a null pointer instead of a String".to_owned());
    }
    // SAFETY: the function promises a string that ends with a zero byte, which stays valid until the next call.
    let text = unsafe { CStr::from_ptr(address as usize as *const std::ffi::c_char) };
    match text.to_str() {
        Ok(text) => Ok(Value::string(text)),
        Err(_) => Err("the function gave a String that is not UTF-8".to_owned()),
    }
}

fn returned_value(base: BaseType, word: u64) -> Reached<Value> {
    Ok(match base {
        BaseType::Real => Value::Real(f64::from_bits(word)),
        BaseType::Integer => Value::Integer(word as i64),
        BaseType::Boolean => Value::Boolean(word != 0),
        BaseType::Enumeration(id) => Value::Enum(id, memory::ordinal(word as i64)?),
        BaseType::String => text_at(word)?,
        BaseType::ExternalObject(class) => Value::Object(Object::foreign(class, word as usize)),
        _ => return Err("a value of this type cannot be returned".to_owned()),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn call<'a>(name: &'a str, is_output: &'a [bool], result: Option<BaseType>) -> ForeignCall<'a> {
        ForeignCall {
            function: "f",
            name,
            language: "C",
            libraries: &[],
            directories: &[],
            includes: &[],
            include_directories: &[],
            passing: &[],
            is_output,
            result,
        }
    }

    #[test]
    fn functions_of_the_c_library() {
        let mut foreign = ForeignFunctions::default();
        let mut arguments = [Value::Real(3.0), Value::Real(4.0)];
        let result = foreign.call(&call("hypot", &[false, false], Some(BaseType::Real)), &[], None, &mut arguments);
        assert_eq!(result, Ok(Some(Value::Real(5.0))));
        let mut arguments = [Value::Integer(-7)];
        let result = foreign.call(&call("abs", &[false], Some(BaseType::Integer)), &[], None, &mut arguments);
        assert_eq!(result, Ok(Some(Value::Integer(7))));
        let mut arguments = [Value::string("12.5 apples")];
        let result = foreign.call(&call("atof", &[false], Some(BaseType::Real)), &[], None, &mut arguments);
        assert_eq!(result, Ok(Some(Value::Real(12.5))));
        let mut arguments = [Value::string("a,b"), Value::string(",")];
        let result = foreign.call(&call("strpbrk", &[false, false], Some(BaseType::String)), &[], None, &mut arguments);
        assert_eq!(result, Ok(Some(Value::string(",b"))));
        // frexp(12) = 0.75*2⁴ writes the exponent.
        let mut arguments = [Value::Real(12.0), Value::Integer(0)];
        let result = foreign.call(&call("frexp", &[false, true], Some(BaseType::Real)), &[], None, &mut arguments);
        assert_eq!((result, &arguments[1]), (Ok(Some(Value::Real(0.75))), &Value::Integer(4)));
    }

    #[test]
    fn what_is_missing_or_does_not_fit_is_told() {
        let mut foreign = ForeignFunctions::default();
        let refusal = foreign.call(&call("saltus_no_such_function", &[], None), &[], None, &mut []).unwrap_err();
        assert!(refusal.contains("saltus_no_such_function"), "{refusal}");
        let mut large = [Value::Integer(1 << 40)];
        let refusal = foreign.call(&call("abs", &[false], Some(BaseType::Integer)), &[], None, &mut large).unwrap_err();
        assert!(refusal.contains("1099511627776"), "{refusal}");
        let mut zero = [Value::string("a\0b")];
        assert!(foreign.call(&call("atof", &[false], Some(BaseType::Real)), &[], None, &mut zero).is_err());
        assert!(foreign.load(Path::new("/nowhere/libnothing.so")).is_err());
    }
}
