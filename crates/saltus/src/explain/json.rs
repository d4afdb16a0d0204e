//! The description as JSON, for tools.

use saltus_backend::describe::{BlockKind, BlockNote, Description, EquationNote, EventNote, Order, Role};
use saltus_base::SourceMap;
use serde_json::{Value, json};

use super::place;
use crate::Profile;

pub fn to_json(name: &str, description: &Description, sources: &SourceMap, profile: Option<&Profile>) -> Value {
    let size = |(equations, unknowns): (usize, usize)| json!({ "equations": equations, "unknowns": unknowns });
    let events = |notes: &[EventNote]| -> Vec<Value> {
        notes.iter().map(|note| json!({ "text": note.text, "place": place(sources, note.span) })).collect()
    };
    let decision =
        |d: &saltus_backend::describe::DecisionNote| json!({ "text": d.text, "place": place(sources, d.span) });
    let mut all = json!({
        "class": name,
        "sizes": {
            "scalar": size(description.sizes.scalar),
            "without_aliases": size(description.sizes.without_aliases),
            "reduced": size(description.sizes.reduced),
        },
        "states": description.states.iter().map(|s| json!({ "name": s.name, "why": s.why })).collect::<Vec<_>>(),
        "dependent": description.dependent,
        "aliases": description.aliases.iter().map(|a| json!({ "name": a.name, "value": a.value })).collect::<Vec<_>>(),
        "continuous": order(&description.continuous, sources),
        "events": order(&description.events, sources),
        "initial": order(&description.initial, sources),
        "initial_conditions": description.decisions.iter().map(decision).collect::<Vec<_>>(),
        "state_events": events(&description.state_events),
        "time_events": events(&description.time_events),
        "samples": events(&description.samples),
    });
    if let Some(profile) = profile {
        all["profile"] = profile.to_json(sources);
    }
    all
}

fn order(order: &Order, sources: &SourceMap) -> Value {
    let blocks: Vec<Value> = order.blocks.iter().map(|b| block(b, sources)).collect();
    json!({ "unknowns": order.unknowns, "blocks": blocks })
}

fn block(block: &BlockNote, sources: &SourceMap) -> Value {
    let equations: Vec<Value> = block.equations.iter().map(|e| equation(e, sources)).collect();
    let mut value = json!({ "kind": block.kind.name(), "equations": equations });
    if block.kind != BlockKind::Assignment {
        value["torn"] = json!(block.torn);
        value["coefficient"] = json!(block.coefficient);
        value["solution"] = json!(block.solution);
    }
    value
}

fn equation(equation: &EquationNote, sources: &SourceMap) -> Value {
    let role = match equation.role {
        Role::Solved => "solved",
        Role::Residual => "residual",
        Role::Discrete => "discrete",
        Role::Relation => "relation",
    };
    json!({ "text": equation.text, "role": role, "place": place(sources, equation.span), "columns": equation.columns })
}
