//! The listing as plain text.

use std::fmt::Write;

use saltus_backend::describe::{BlockKind, BlockNote, Description, EquationNote, EventNote, Order, Role};
use saltus_base::{SourceMap, Span};

use super::{block_title, place, share, size_lines};
use crate::Profile;

/// Where source positions begin.
const PLACE_COLUMN: usize = 88;

/// With a profile each block says which part of the run went into it.
pub fn listing(name: &str, description: &Description, sources: &SourceMap, profile: Option<&Profile>) -> String {
    let mut out = format!("{name}\n");
    for line in size_lines(description) {
        let _ = writeln!(out, "  {line}");
    }
    states(&mut out, description);
    let _ = writeln!(out, "aliases ({})", description.aliases.len());
    for alias in &description.aliases {
        let _ = writeln!(out, "  {} = {}", alias.name, alias.value);
    }
    if let Some(profile) = profile {
        out.push_str("profile of a run: ");
        out.push_str(&profile.listing(sources));
    }
    let between = |block: &BlockNote| share(profile, block, false);
    let at_events = |block: &BlockNote| share(profile, block, true);
    order(&mut out, "equations between events, discrete variables known", &description.continuous, sources, &between);
    order(&mut out, "equations at events, all together", &description.events, sources, &at_events);
    initial(&mut out, description, sources);
    events(&mut out, "state events", &description.state_events, sources);
    events(&mut out, "time events", &description.time_events, sources);
    events(&mut out, "samples", &description.samples, sources);
    out
}

fn states(out: &mut String, description: &Description) {
    let _ = writeln!(out, "states ({})", description.states.len());
    for state in &description.states {
        let _ = writeln!(out, "  {}: {}", state.name, state.why);
    }
    if !description.dependent.is_empty() {
        let _ = writeln!(out, "differentiated, but no states: constraints between states determine them");
        for name in &description.dependent {
            let _ = writeln!(out, "  {name}");
        }
    }
}

fn order(out: &mut String, title: &str, order: &Order, sources: &SourceMap, share: &dyn Fn(&BlockNote) -> String) {
    let _ = writeln!(out, "{title} ({} blocks)", order.blocks.len());
    for (i, block) in order.blocks.iter().enumerate() {
        let share = match share(block) {
            text if text.is_empty() => text,
            text => format!("{text:>6}  "),
        };
        if block.kind == BlockKind::Assignment {
            for equation in &block.equations {
                line(out, &format!("{:>4}  {share}{}", i + 1, equation.text), equation.span, sources);
            }
            continue;
        }
        let _ = writeln!(out, "{:>4}  {share}{}", i + 1, block_title(block));
        for equation in &block.equations {
            line(out, &format!("      | {}{}", marker(equation), equation.text), equation.span, sources);
        }
        if let (Some(coefficient), [unknown]) = (&block.coefficient, block.torn.as_slice()) {
            let _ = writeln!(out, "      coefficient of {unknown}: {coefficient}");
        }
        for assignment in &block.solution {
            let _ = writeln!(out, "      solved: {assignment}");
        }
    }
}

fn marker(equation: &EquationNote) -> &'static str {
    match equation.role {
        Role::Solved => "",
        Role::Residual => "residual ",
        Role::Discrete => "discrete ",
        Role::Relation => "relation ",
    }
}

fn initial(out: &mut String, description: &Description, sources: &SourceMap) {
    order(out, "initial system", &description.initial, sources, &|_| String::new());
    let _ = writeln!(out, "initial conditions ({})", description.decisions.len());
    for decision in &description.decisions {
        line(out, &format!("  {}", decision.text), decision.span, sources);
    }
}

fn events(out: &mut String, title: &str, notes: &[EventNote], sources: &SourceMap) {
    let _ = writeln!(out, "{title} ({})", notes.len());
    for note in notes {
        line(out, &format!("  {}", note.text), note.span, sources);
    }
}

fn line(out: &mut String, text: &str, span: Span, sources: &SourceMap) {
    match place(sources, span) {
        Some(place) => {
            let missing = PLACE_COLUMN.saturating_sub(text.chars().count());
            let _ = writeln!(out, "{text}{:missing$}  {place}", "");
        }
        None => {
            let _ = writeln!(out, "{text}");
        }
    }
}
