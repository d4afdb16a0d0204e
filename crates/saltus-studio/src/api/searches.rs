//! Searches, and the study files that they are written as.

use std::sync::Arc;

use saltus::study::{self, Aim, Goal, Study};
use serde_json::{Value, json};

use super::results::begin;
use super::{Answer, ok, parameter, text_of};
use crate::events::number;
use crate::http::Request;
use crate::messages;
use crate::runs::Wanted;
use crate::searches::{self, MOST_TRIALS, Search};
use crate::studio::Studio;

/// The study of a body, or messages with their lines.
fn read(body: &Value) -> Result<Result<Study, Vec<Value>>, (u16, String)> {
    let text = text_of(body, "text")?;
    let read = saltus::guard::catch(|| study::read("study.toml", text)).map_err(|_| super::internal())?;
    Ok(read.map_err(|(wrong, sources)| wrong.iter().map(|d| messages::message(d, &sources)).collect()))
}

/// What the file of a study says, for the dialog: `more` are the parts that it does not show.
pub fn study(body: &Value) -> Answer {
    let study = match read(body)? {
        Ok(study) => study,
        Err(messages) => return ok(&json!({"messages": messages})),
    };
    let settings = &study.experiment;
    let parts = [
        ("phase", !study.phases.is_empty()),
        ("vary", study.variation.is_some()),
        ("linearize", !study.linearizations.is_empty()),
        ("record", !study.record.is_empty()),
        ("output", study.output != Default::default()),
        ("plot", !study.plots.is_empty()),
    ];
    let more: Vec<&str> = parts.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect();
    ok(&json!({
        "class": study.model.class, "values": study.values, "goal": study.goal.as_ref().map(form), "more": more,
        "settings": {"start": settings.start_time, "stop": settings.stop_time, "tolerance": settings.tolerance},
    }))
}

fn form(goal: &Goal) -> Value {
    let unknown = |u: &saltus::search::Unknown| json!({"name": u.name, "start": number(u.start), "min": number(u.min), "max": number(u.max)});
    let targets = match &goal.aim {
        Aim::Targets(all) => all.iter().map(|t| json!({"text": t.text, "value": t.value})).collect(),
        Aim::Smallest { text, .. } => vec![json!({"text": text})],
    };
    json!({
        "kind": searches::kind(goal), "unknowns": goal.unknowns.iter().map(unknown).collect::<Vec<_>>(), "targets": targets,
        "tolerance": goal.tolerance, "most": goal.most_runs,
    })
}

/// Begins the search that a study asks for, of the class that it names or else of the open one.
pub fn start(studio: &Arc<Studio>, body: &Value) -> Answer {
    let study = match read(body)? {
        Ok(study) => study,
        Err(messages) => return ok(&json!({"messages": messages})),
    };
    let class = study.model.class.clone().map_or_else(|| text_of(body, "class").map(str::to_owned), Ok)?;
    let refuse = |why: &str| Err((422, why.to_owned()));
    if study.variation.is_some() {
        return refuse("a search at each of several points is made by `saltus run`");
    }
    let Some(goal) = study.goal.clone() else { return refuse("expected `search` or `optimize` in the study") };
    if goal.most_runs > MOST_TRIALS {
        return refuse(&format!("expected at most {MOST_TRIALS} for `most-runs`"));
    }
    let search = studio.searches.add(class.clone(), study, goal);
    let (compiling, answering, wanted) = (studio.clone(), studio.clone(), search.clone());
    let values = search.study.values.clone();
    let compile = move || compiling.compile(&class, &values);
    let answer = move |found: &[f64]| answer(&answering, &wanted, found);
    let described = search.describe();
    searches::start(search, studio.around.clone(), compile, answer)
        .map_err(|error| (500, format!("no thread for the search: {error}")))?;
    ok(&json!({"search": described}))
}

/// A run with what was found; one in phases is not one that the studio makes.
fn answer(studio: &Arc<Studio>, search: &Search, found: &[f64]) -> Option<u64> {
    if !search.study.phases.is_empty() {
        return None;
    }
    let names = search.names();
    let mut values = search.study.values.clone();
    values.retain(|(name, _)| !names.contains(name));
    values.extend(names.into_iter().zip(found.iter().map(f64::to_string)));
    let (class, experiment) = (search.class.clone(), search.study.experiment.clone());
    let wanted = Wanted { class, experiment, values, group: None, live: None, profile: false };
    let runs = begin(studio, vec![wanted]).ok()?;
    runs.first().map(|run| run.id)
}

fn wanted(studio: &Studio, id: Option<u64>) -> Result<Arc<Search>, (u16, String)> {
    id.and_then(|id| studio.searches.get(id)).ok_or_else(|| (404, "there is no such search".into()))
}

pub fn trials(studio: &Arc<Studio>, request: &Request) -> Answer {
    let search = wanted(studio, parameter(request, "search")?.parse().ok())?;
    let from = request.parameter("from").and_then(|n| n.parse().ok()).unwrap_or(0);
    ok(&json!({"trials": search.trials(from)}))
}

pub fn cancel(studio: &Arc<Studio>, body: &Value) -> Answer {
    wanted(studio, body["search"].as_u64())?.cancel();
    ok(&json!({}))
}

pub fn remove(studio: &Arc<Studio>, body: &Value) -> Answer {
    let id = wanted(studio, body["search"].as_u64())?.id;
    studio.searches.remove(id);
    studio.hub().publish(&json!({"type": "search-removed", "search": id}));
    ok(&json!({}))
}
