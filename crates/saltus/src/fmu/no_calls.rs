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

    pub fn watch_steps(&self) -> bool {
        false
    }

    pub fn end_step(&mut self, _: f64) -> bool {
        false
    }

    pub fn save(&self, _: usize) -> Option<Reached<Vec<u8>>> {
        None
    }

    pub fn restore(&mut self, _: usize, _: &[u8]) -> Reached {
        Err(WHY.to_owned())
    }
}
