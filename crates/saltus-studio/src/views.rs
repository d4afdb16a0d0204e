//! `explain` and the profile of a run as tables for pages: each line with the place in the text and the variables that it is about.

use std::collections::HashMap;
use std::time::Duration;

use saltus::Profile;
use saltus::explain::configurations::{Visited, deciding};
use saltus::pipeline::Outcome;
use saltus_backend::describe::{BlockKind, BlockNote, EventNote, Order};
use saltus_base::Span;
use saltus_sim::Activity;
use serde_json::{Value, json};

use crate::events::Places;

/// Lines of one table.
const MOST_LINES: usize = 2000;
/// Equations that are written out of one loop.
const MOST_EQUATIONS: usize = 200;
/// Variables of a line: what the diagram marks.
const MOST_NAMES: usize = 20;

/// Sizes, index, states, loops and events of a model that was compiled with a description; null without one.
pub fn structure(outcome: &Outcome, places: Places) -> Value {
    let Some(description) = &outcome.description else { return Value::Null };
    let sizes = &description.sizes;
    let declared = declarations(outcome);
    let states = description.states.iter().take(MOST_LINES).map(|state| {
        json!({"text": state.name, "note": state.why, "place": declared(&state.name).and_then(places), "names": [state.name]})
    });
    let dependent = description.dependent.iter().take(MOST_LINES).map(|name| {
        let place = declared(name).and_then(places);
        json!({"text": name, "note": "equations between states determine it", "place": place, "names": [name]})
    });
    let orders = [
        ("between events", &description.continuous),
        ("at events", &description.events),
        ("at the start", &description.initial),
    ];
    let loops: Vec<Value> =
        orders.into_iter().flat_map(|(when, order)| loops(when, order, places)).take(MOST_LINES).collect();
    let notes =
        [("state", &description.state_events), ("time", &description.time_events), ("sample", &description.samples)];
    let events = notes.into_iter().flat_map(|(kind, notes)| notes.iter().map(move |note| (kind, note)));
    let event = |(kind, note): (&str, &EventNote)| json!({"kind": kind, "text": note.text, "place": places(note.span), "names": []});
    json!({
        "index": description.index,
        "sizes": [
            ["in scalar form", sizes.scalar.0], ["without aliases", sizes.without_aliases.0],
            ["with the index reduced", sizes.reduced.0],
        ],
        "blocks": description.continuous.blocks.len(),
        "states": states.collect::<Vec<_>>(), "nStates": description.states.len(),
        "dependent": dependent.collect::<Vec<_>>(),
        "loops": loops,
        "events": events.take(MOST_LINES).map(event).collect::<Vec<_>>(),
        "decisions": description.decisions.iter().take(MOST_LINES).map(|d| json!({"text": d.text, "place": places(d.span), "names": []})).collect::<Vec<_>>(),
    })
}

/// Where variables are declared; an element of an array where the array is.
fn declarations(outcome: &Outcome) -> impl Fn(&str) -> Option<Span> {
    let variables = outcome.flat.iter().flat_map(|flat| flat.variables.iter());
    let spans: HashMap<&str, Span> = variables.map(|(_, v)| (v.name.as_str(), v.span)).collect();
    move |name| {
        let array = name.rfind('[').map_or(name, |at| &name[..at]);
        spans.get(name).or_else(|| spans.get(array)).copied()
    }
}

fn loops<'a>(when: &'a str, order: &'a Order, places: Places<'a>) -> impl Iterator<Item = Value> + 'a {
    let line = move |block: &BlockNote| {
        let equations: Vec<Value> = block
            .equations
            .iter()
            .take(MOST_EQUATIONS)
            .map(|equation| json!({"text": equation.text, "place": places(equation.span), "names": []}))
            .collect();
        let place = equations.iter().find_map(|e| e["place"].is_object().then(|| e["place"].clone()));
        let names: Vec<&String> = block.torn.iter().chain(&block.determines).take(MOST_NAMES).collect();
        json!({
            "when": when, "kind": block.kind.name(), "size": block.equations.len(), "unknowns": block.torn.len(),
            "torn": block.torn.iter().take(MOST_NAMES).collect::<Vec<_>>(), "equations": equations, "place": place, "names": names,
        })
    };
    order.blocks.iter().filter(|block| block.kind != BlockKind::Assignment).map(line)
}

/// What the time of a run went to: tables of lines with seconds and shares, the most expensive first.
pub fn profile(profile: &Profile, places: Places) -> Value {
    let line = |text: &str, time: Duration, count: u64, span: Option<Span>, names: &[String]| {
        let names: Vec<&String> = names.iter().take(MOST_NAMES).collect();
        json!({
            "text": text, "seconds": time.as_secs_f64(), "share": profile.share(time), "count": count,
            "place": span.and_then(places), "names": names,
        })
    };
    let activities = profile.activities.iter().map(|(activity, spent)| {
        let mut value = line(activity_text(*activity), spent.cost.time, spent.cost.count, None, &[]);
        value["equations"] = json!(profile.share(spent.in_model));
        value
    });
    let blocks = profile.blocks.iter().take(MOST_LINES).map(|block| {
        let mut value = line(&block.text(), block.cost.time, block.cost.count, Some(block.span), &block.variables);
        value["estimated"] = json!(block.is_estimated());
        value["for"] = block.parts.iter().map(|(part, time)| json!([part.name(), profile.share(*time)])).collect();
        value
    });
    let functions = profile.functions.iter().take(MOST_LINES).map(|function| {
        let span = function.places.first().map(|(span, _)| *span);
        line(&function.name, function.cost.time, function.cost.count, span, &[])
    });
    let events = profile
        .events
        .iter()
        .take(MOST_LINES)
        .map(|event| line(&event.text, event.cost.time, event.cost.count, Some(event.span), &[]));
    let mut states: Vec<Value> = profile
        .states
        .iter()
        .take(MOST_LINES)
        .map(|state| {
            let mut value =
                line(&state.name, state.time, state.accepted + state.rejected, None, std::slice::from_ref(&state.name));
            value["rejected"] = json!(state.rejected);
            value
        })
        .collect();
    let others = [
        (profile.cut_short, "an event, the end, or the longest step"),
        (profile.failed, "the equations could not be evaluated further on"),
    ];
    states.extend(
        others
            .iter()
            .filter(|(cost, _)| cost.count > 0)
            .map(|(cost, text)| line(text, cost.time, cost.count, None, &[])),
    );
    json!({
        "seconds": profile.total.as_secs_f64(), "machineCode": profile.machine_code.as_secs_f64(),
        "tables": [
            {"title": "Activities", "lines": activities.collect::<Vec<_>>()},
            {"title": "Equations and loops", "lines": blocks.collect::<Vec<_>>()},
            {"title": "Functions, with the equation that calls them most", "lines": functions.collect::<Vec<_>>()},
            {"title": "Events: search, rounds, restart", "lines": events.collect::<Vec<_>>()},
            {"title": "What kept steps short", "lines": states},
        ],
    })
}

/// The configurations that a run has gone through as a graph, and what decides about them; null for a model with one structure.
pub fn configurations(visited: &Visited, places: Places) -> Value {
    let Some(configuration) = visited.configurations.first().and_then(|(_, first)| first.configuration.as_ref()) else {
        return Value::Null;
    };
    let deciding = deciding(configuration)
        .into_iter()
        .map(|(text, why, span)| json!({"text": text, "note": why, "place": places(span), "names": []}));
    let mut graph = visited.to_json();
    if let Some(graph) = graph.as_object_mut() {
        graph.remove("segments");
    }
    graph["deciding"] = deciding.collect();
    graph
}

fn activity_text(activity: Activity) -> &'static str {
    match activity {
        Activity::Start => "start: the initial system",
        Activity::Steps => "steps of the integrator",
        Activity::Search => "search for events",
        Activity::Events => "events",
        Activity::Rows => "rows of results",
        Activity::Rest => "all the rest",
    }
}
