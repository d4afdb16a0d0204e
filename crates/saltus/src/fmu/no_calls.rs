//! Functional mock-up units in a build without foreign functions: to call one is an error that says so.

use saltus_eval::{ForeignCall, Reached, Value};

#[derive(Default)]
pub struct Units {}

const WHY: &str = "this build of saltus calls no foreign functions (feature `jit`)";

impl Units {
    pub fn open(&mut self, _: &ForeignCall, _: &[Value], _: Vec<u8>) -> Reached<Option<Value>> {
        Err(WHY.to_owned())
    }

    pub fn call(&mut self, _: &ForeignCall, _: &mut [Value]) -> Reached<Option<Value>> {
        Err(WHY.to_owned())
    }
}
