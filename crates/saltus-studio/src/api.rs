//! What pages ask for and do, by path. Everything here has passed the gate.
//!
//! Asking is `GET`, doing is `POST` with a JSON body; only results of others come as the bytes of their file. A request that makes no sense is answered with a status and words.

mod classes;
mod diagrams;
mod insight;
mod results;
mod searches;
mod texts;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::http::{Request, Response};
use crate::studio::Studio;

/// An answer, or a status and why there is none.
pub type Answer = Result<Response, (u16, String)>;

pub fn answer(studio: &Arc<Studio>, request: &Request) -> Response {
    let done = match (request.method.as_str(), request.path.as_str()) {
        ("GET", path) => get(studio, path, request),
        ("POST", "/api/reference") => results::reference(studio, request),
        ("POST", path) => match serde_json::from_slice::<Value>(&request.body) {
            Ok(body) => post(studio, path, &body),
            Err(_) => Err((400, "expected JSON".into())),
        },
        _ => Err((405, "expected GET or POST".into())),
    };
    done.unwrap_or_else(|(status, why)| Response::json(status, &json!({"error": why})))
}

fn get(studio: &Arc<Studio>, path: &str, request: &Request) -> Answer {
    match path {
        "/api/state" => classes::state(studio, request),
        "/api/tree" => classes::tree(studio, request),
        "/api/search" => classes::search(studio, request),
        "/api/class" => classes::open(studio, request),
        "/api/documentation" => classes::documentation(studio, request),
        "/api/icon" => diagrams::icon(studio, request),
        "/api/scene" => diagrams::scene(studio, request),
        "/api/fits" => diagrams::fits(studio, request),
        "/api/dialog" => diagrams::dialog(studio, request),
        "/api/parameters" => results::parameters(studio, request),
        "/api/document" => texts::document(studio, request),
        "/api/highlight" => texts::highlight(studio, request),
        "/api/complete" => texts::complete(studio, request),
        "/api/hover" => texts::hover(studio, request),
        "/api/definition" => texts::definition(studio, request),
        "/api/variables" => results::variables(studio, request),
        "/api/events" => results::events(studio, request),
        "/api/structure" => insight::structure(studio, request),
        "/api/configurations" => insight::configurations(studio, request),
        "/api/profile" => insight::profile(studio, request),
        "/api/trials" => searches::trials(studio, request),
        _ => Err((404, "there is no such question".into())),
    }
}

fn post(studio: &Arc<Studio>, path: &str, body: &Value) -> Answer {
    match path {
        "/api/edit" => texts::edit(studio, body),
        "/api/undo" => texts::undo(studio, body),
        "/api/redo" => texts::redo(studio, body),
        "/api/save" => texts::save(studio, body),
        "/api/reload" => texts::reload(studio, body),
        "/api/format" => texts::format(studio, body),
        "/api/diagram" => diagrams::change(studio, body),
        "/api/check" => texts::check(studio, body),
        "/api/run" => results::run(studio, body),
        "/api/cancel" => results::cancel(studio, body),
        "/api/remove" => results::remove(studio, body),
        "/api/set" => results::set(studio, body),
        "/api/series" => results::series(studio, body),
        "/api/values" => results::values(studio, body),
        "/api/table" => results::table(studio, body),
        "/api/numbers" => results::numbers(studio, body),
        "/api/study" => searches::study(body),
        "/api/search" => searches::start(studio, body),
        "/api/search/cancel" => searches::cancel(studio, body),
        "/api/search/remove" => searches::remove(studio, body),
        _ => Err((404, "there is no such request".into())),
    }
}

fn ok(value: &Value) -> Answer {
    Ok(Response::json(200, value))
}

fn text_of<'a>(body: &'a Value, name: &str) -> Result<&'a str, (u16, String)> {
    body[name].as_str().ok_or_else(|| (400, format!("expected a text `{name}`")))
}

fn parameter<'a>(request: &'a Request, name: &str) -> Result<&'a str, (u16, String)> {
    request.parameter(name).ok_or_else(|| (400, format!("expected `{name}`")))
}

fn internal() -> (u16, String) {
    (500, "a defect of the compiler prevented the answer".into())
}
