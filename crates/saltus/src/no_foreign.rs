//! Foreign functions in a build without machine code: to call one is an error that says so.

use std::path::{Path, PathBuf};

use saltus_eval::{ForeignCall, Reached, UserTable, Value};

const WHY: &str = "this build of saltus has no machine code (feature `jit`)";

#[derive(Default)]
pub struct ForeignFunctions {}

impl ForeignFunctions {
    pub fn load(&mut self, _path: &Path) -> Reached {
        Err(WHY.to_owned())
    }

    pub fn call(&mut self, _: &ForeignCall, _: &[PathBuf], _: Option<&str>, _: &mut [Value]) -> Reached<Option<Value>> {
        Err(WHY.to_owned())
    }

    pub fn user_table(&mut self, _: &Path, _: &str, _: u32) -> Reached<UserTable> {
        Err(WHY.to_owned())
    }
}
