//! How a model is built and what the time of a run went to.

use std::sync::Arc;

use serde_json::json;

use super::results::run_of_request;
use super::{Answer, ok, parameter};
use crate::http::Request;
use crate::studio::Studio;

pub fn structure(studio: &Arc<Studio>, request: &Request) -> Answer {
    match studio.structure(parameter(request, "class")?) {
        Ok(structure) => ok(&json!({"structure": structure})),
        Err(messages) => ok(&json!({"messages": messages})),
    }
}

pub fn profile(studio: &Arc<Studio>, request: &Request) -> Answer {
    ok(&json!({"profile": run_of_request(studio, request)?.profile()}))
}

pub fn configurations(studio: &Arc<Studio>, request: &Request) -> Answer {
    ok(&json!({"configurations": run_of_request(studio, request)?.configurations()}))
}
