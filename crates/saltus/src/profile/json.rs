//! The profile as JSON, for tools.

use std::time::Duration;

use saltus_base::{SourceMap, Span};
use saltus_sim::Activity;
use serde_json::{Map, Value, json};

use super::{BlockProfile, FunctionProfile, Profile};

impl Profile {
    /// Times in seconds, places as `file:line:column`.
    pub fn to_json(&self, sources: &SourceMap) -> Value {
        let place = |span: Span| sources.location(span);
        let activity = |activity: Activity| match activity {
            Activity::Start => "start",
            Activity::Steps => "steps",
            Activity::Search => "search",
            Activity::Events => "events",
            Activity::Rows => "rows",
            Activity::Rest => "rest",
        };
        let activities: Map<String, Value> = self
            .activities
            .iter()
            .map(|(of, spent)| {
                let value = json!({
                    "count": spent.cost.count,
                    "seconds": seconds(spent.cost.time),
                    "equations": seconds(spent.in_model),
                });
                (activity(*of).to_owned(), value)
            })
            .collect();
        let events = self.events.iter().map(|event| {
            json!({
                "cause": &*event.text, "place": place(event.span), "count": event.cost.count,
                "seconds": seconds(event.cost.time), "first": event.first, "last": event.last,
            })
        });
        let conditions = self.conditions.iter().map(|condition| {
            json!({ "condition": condition.text, "place": place(condition.span), "fired": condition.fired })
        });
        let states = self.states.iter().map(|state| {
            json!({
                "state": state.name, "accepted": state.accepted, "rejected": state.rejected,
                "seconds": seconds(state.time),
            })
        });
        json!({
            "model": self.model,
            "seconds": seconds(self.total),
            "machine_code": seconds(self.machine_code),
            "activities": activities,
            "equations": self.blocks.iter().map(|b| block(b, &place)).collect::<Vec<_>>(),
            "functions": self.functions.iter().map(|f| function(f, &place)).collect::<Vec<_>>(),
            "events": events.collect::<Vec<_>>(),
            "conditions": conditions.collect::<Vec<_>>(),
            "states": states.collect::<Vec<_>>(),
            "cut_short": json!({ "count": self.cut_short.count, "seconds": seconds(self.cut_short.time) }),
            "failed": json!({ "count": self.failed.count, "seconds": seconds(self.failed.time) }),
        })
    }
}

fn block(block: &BlockProfile, place: &dyn Fn(Span) -> Option<String>) -> Value {
    let parts: Map<String, Value> =
        block.parts.iter().map(|(part, time)| (part.name().to_owned(), seconds(*time))).collect();
    let mut value = json!({
        "place": place(block.span),
        "variables": block.variables,
        "equations": block.n_equations,
        "evaluations": block.cost.count,
        "seconds": seconds(block.cost.time),
        "estimated": seconds(block.estimated),
        "for": parts,
    });
    if let Some(size) = &block.solved {
        value["loop"] = json!({
            "unknowns": size.unknowns, "linear": size.is_linear, "mixed": size.is_mixed, "iterations": block.iterations,
        });
    }
    value
}

fn function(function: &FunctionProfile, place: &dyn Fn(Span) -> Option<String>) -> Value {
    let places = function
        .places
        .iter()
        .map(|(span, cost)| json!({ "place": place(*span), "calls": cost.count, "seconds": seconds(cost.time) }));
    json!({
        "function": function.name,
        "calls": function.cost.count,
        "seconds": seconds(function.cost.time),
        "derivative_calls": function.derivatives.count,
        "places": places.collect::<Vec<_>>(),
    })
}

fn seconds(time: Duration) -> Value {
    json!((time.as_secs_f64() * 1e9).round() / 1e9)
}
