//! Models from text, as the directory `resources` of an FMU.
#![allow(dead_code)]

use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use saltus::clock_variables::ClockDriver;
use saltus::pipeline::{self, Options};
use saltus::{Model, Session};
use saltus_export::package::{MODEL_FILE, token_of};
use saltus_library::MemoryFiles;

/// A ball that is dropped from 1 m and loses three tenths of its speed at each bounce.
pub const BALL: &str = "model Ball
  parameter Real e = 0.7;
  parameter Real g = 9.81;
  output Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  discrete Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -g;
  when h < 0 then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  end when;
end Ball;";

static COUNT: AtomicU32 = AtomicU32::new(0);

/// `resources` on disk.
pub struct Resources {
    pub directory: PathBuf,
    pub token: CString,
    pub path: CString,
    pub uri: CString,
    pub model: Arc<Model>,
}

impl Drop for Resources {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

pub fn compile(text: &str, clocks: ClockDriver) -> Arc<Model> {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("Model.mo", text);
    let class = session.class(None).expect("one class");
    let options = Options { settable_starts: true, clocks, ..Options::default() };
    pipeline::compile(&session, class, &options).expect("a model without errors")
}

pub fn resources(text: &str) -> Resources {
    resources_with(text, ClockDriver::Mixed)
}

pub fn resources_with(text: &str, clocks: ClockDriver) -> Resources {
    let model = compile(text, clocks);
    let bytes = model.to_bytes().unwrap();
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("saltus-fmu-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(MODEL_FILE), &bytes).unwrap();
    let text = directory.display().to_string();
    Resources {
        token: CString::new(token_of(&bytes)).unwrap(),
        path: CString::new(text.as_str()).unwrap(),
        uri: CString::new(format!("file://{text}")).unwrap(),
        directory,
        model,
    }
}

impl Resources {
    /// The value reference of a clock.
    pub fn clock(&self, name: &str) -> u32 {
        let references = saltus_export::references::References::new(&self.model);
        references.of_clock(references.clocks.iter().position(|c| c.name == name).unwrap())
    }

    /// The value reference of a scalar.
    pub fn reference(&self, name: &str) -> u32 {
        saltus_export::references::References::of_slot(self.model.variable(name).unwrap().slot)
    }
}

/// Keeps what is logged, in the environment.
pub unsafe extern "C" fn log(environment: *mut c_void, _status: i32, _category: *const c_char, message: *const c_char) {
    if !environment.is_null() {
        // SAFETY: the tests hand over a `Vec<String>` that lives as long as the instance.
        let kept = unsafe { &mut *environment.cast::<Vec<String>>() };
        // SAFETY: the runtime hands over texts that end with a zero byte.
        kept.push(unsafe { std::ffi::CStr::from_ptr(message) }.to_string_lossy().into_owned());
    }
}
