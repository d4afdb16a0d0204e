//! The record of events: what happened when, why, and what it changed. Data; [`write_events`] writes it as JSON lines.
//!
//! ```text
//! {"time":0.4515,"kind":"state","cause":"h < 0.0","line":9,"iterations":2,"restart":true,
//!  "causes":[{"relation":"h < 0.0","value":true,"at":"Ball.mo:9:8"}],"changes":[…]}
//! ```

use std::io::{self, Write};
use std::sync::Arc;

use saltus_base::Span;
use saltus_program::MixedSolution;

#[derive(Clone, PartialEq, Debug)]
pub struct EventRecord {
    pub time: f64,
    pub kind: EventKind,
    pub causes: Vec<EventCause>,
    pub rounds: usize,
    /// Did it change a state or something that the derivatives depend on?
    pub is_restart: bool,
    /// Discrete variables and reinitialised states with other values than before.
    pub changes: Vec<Change>,
    /// Relations that changed behind the first round.
    pub consequences: Vec<Consequence>,
    /// Mixed loops that took more than one look.
    pub mixed: Vec<MixedSolution>,
    /// What a reader should know about it.
    pub note: Option<Arc<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum EventKind {
    /// The first event, after initialisation.
    Start,
    /// A relation of continuous variables changed.
    State,
    /// A relation of time changed, or a sample or clock ticked.
    Time,
    /// The last event, for `terminal()`.
    Terminal,
    /// Relations that were held are evaluated again.
    Release,
    /// Sliding along a threshold ends.
    Leave,
    /// Other variables of a state set became the states.
    Selection,
    /// The solution of the equations ended; there is another one.
    Jump,
    /// A value was set from outside.
    Outside,
    /// The structure of the model changed.
    Configuration,
}

#[derive(Clone, PartialEq, Debug)]
pub enum EventCause {
    /// A relation changed its value, to this.
    Relation { text: Arc<str>, value: bool, span: Span },
    /// Something of time is due; what, follows.
    Time,
    /// A relation of time reached its threshold.
    Timer { text: Arc<str>, value: bool, span: Span },
    /// `sample(start, interval)` ticked.
    Sample { start: f64, interval: f64, span: Span },
    /// A clock ticked.
    Clock { text: Arc<str>, span: Span },
    /// The first event, at the start.
    Start,
    /// One variable of a state set became a state instead of another one.
    State { variable: Arc<str>, instead_of: Arc<str>, span: Span },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    pub variable: Arc<str>,
    pub before: f64,
    pub after: f64,
}

/// A relation changed in a later round of an event, because of what happened before in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Consequence {
    /// From 2.
    pub round: usize,
    pub relation: Arc<str>,
    pub value: bool,
}

impl EventKind {
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Start => "start",
            EventKind::State => "state",
            EventKind::Time => "time",
            EventKind::Terminal => "terminal",
            EventKind::Release => "release",
            EventKind::Leave => "leave",
            EventKind::Selection => "selection",
            EventKind::Jump => "jump",
            EventKind::Outside => "outside",
            EventKind::Configuration => "configuration",
        }
    }
}

/// One JSON object a line; `place` says where a span is, as in `Ball.mo:9:8`.
pub fn write_events(
    out: &mut dyn Write,
    events: &[EventRecord],
    place: &dyn Fn(Span) -> Option<String>,
) -> io::Result<()> {
    let mut line = String::new();
    for event in events {
        line.clear();
        event_line(&mut line, event, place);
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn event_line(line: &mut String, event: &EventRecord, place: &dyn Fn(Span) -> Option<String>) {
    line.push_str("{\"time\":");
    number(line, event.time);
    line.push_str(&format!(",\"kind\":\"{}\"", event.kind.name()));
    if let Some((text, span)) = event.causes.iter().find_map(first_cause) {
        line.push_str(",\"cause\":");
        string(line, &text);
        if let Some(number) = place(span).and_then(|p| line_of(&p)) {
            line.push_str(&format!(",\"line\":{number}"));
        }
    }
    line.push_str(&format!(",\"iterations\":{},\"restart\":{},\"causes\":[", event.rounds, event.is_restart));
    let causes: Vec<String> = event.causes.iter().filter_map(|c| cause_text(c, place)).collect();
    line.push_str(&causes.join(","));
    line.push_str("],\"changes\":[");
    for (i, change) in event.changes.iter().enumerate() {
        line.push_str(if i > 0 { ",{\"variable\":" } else { "{\"variable\":" });
        string(line, &change.variable);
        line.push_str(",\"before\":");
        number(line, change.before);
        line.push_str(",\"after\":");
        number(line, change.after);
        line.push('}');
    }
    line.push(']');
    if !event.consequences.is_empty() {
        let each = event.consequences.iter().map(|c| {
            let mut text = format!("{{\"round\":{},\"relation\":", c.round);
            string(&mut text, &c.relation);
            text + &format!(",\"value\":{}}}", c.value)
        });
        line.push_str(&format!(",\"consequences\":[{}]", each.collect::<Vec<_>>().join(",")));
    }
    if !event.mixed.is_empty() {
        let loops: Vec<String> = event.mixed.iter().map(|m| mixed_text(m, place)).collect();
        line.push_str(&format!(",\"mixed\":[{}]", loops.join(",")));
    }
    if let Some(note) = &event.note {
        line.push_str(",\"note\":");
        string(line, note);
    }
    line.push('}');
}

/// What the event is mostly about, and where that is written.
fn first_cause(cause: &EventCause) -> Option<(String, Span)> {
    match cause {
        EventCause::Relation { text, span, .. }
        | EventCause::Timer { text, span, .. }
        | EventCause::Clock { text, span } => Some((text.to_string(), *span)),
        EventCause::Sample { start, interval, span } => Some((format!("sample({start}, {interval})"), *span)),
        EventCause::State { variable, instead_of, span } => {
            Some((format!("{variable} is a state instead of {instead_of}"), *span))
        }
        EventCause::Start | EventCause::Time => None,
    }
}

/// The line of `Ball.mo:9:8`.
fn line_of(place: &str) -> Option<u32> {
    place.rsplit(':').nth(1)?.parse().ok()
}

fn cause_text(cause: &EventCause, place: &dyn Fn(Span) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    let span = match cause {
        EventCause::Start | EventCause::Time => return None,
        EventCause::Relation { text: relation, value, span } | EventCause::Timer { text: relation, value, span } => {
            let is_timer = matches!(cause, EventCause::Timer { .. });
            text.push_str(if is_timer { "{\"timer\":" } else { "{\"relation\":" });
            string(&mut text, relation);
            text.push_str(&format!(",\"value\":{value}"));
            span
        }
        EventCause::Clock { text: clock, span } => {
            text.push_str("{\"clock\":");
            string(&mut text, clock);
            span
        }
        EventCause::State { variable, instead_of, span } => {
            text.push_str("{\"state\":");
            string(&mut text, variable);
            text.push_str(",\"insteadOf\":");
            string(&mut text, instead_of);
            span
        }
        EventCause::Sample { start, interval, span } => {
            text.push_str("{\"sample\":[");
            number(&mut text, *start);
            text.push(',');
            number(&mut text, *interval);
            text.push(']');
            span
        }
    };
    push_place(&mut text, place(*span));
    text.push('}');
    Some(text)
}

fn mixed_text(mixed: &MixedSolution, place: &dyn Fn(Span) -> Option<String>) -> String {
    let strategy = mixed.strategy.name();
    let mut text = format!("{{\"strategy\":\"{strategy}\",\"iterations\":{}", mixed.iterations);
    push_place(&mut text, place(mixed.span));
    text.push('}');
    text
}

fn push_place(text: &mut String, place: Option<String>) {
    if let Some(place) = place {
        text.push_str(",\"at\":");
        string(text, &place);
    }
}

fn number(text: &mut String, value: f64) {
    // JSON has no infinities.
    text.push_str(&if value.is_finite() { format!("{value:?}") } else { "null".to_owned() });
}

fn string(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            c if (c as u32) < 0x20 => text.push_str(&format!("\\u{:04x}", c as u32)),
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_program::MixedStrategy;

    #[test]
    fn an_event_is_one_line_of_json() {
        let span = Span::nowhere();
        let event = EventRecord {
            time: 0.5,
            kind: EventKind::State,
            causes: vec![
                EventCause::Relation { text: "'a\"b' < 0".into(), value: true, span },
                EventCause::Sample { start: 0.0, interval: 0.5, span },
            ],
            rounds: 2,
            is_restart: true,
            changes: vec![Change { variable: "v".into(), before: -1.0, after: f64::INFINITY }],
            consequences: vec![Consequence { round: 2, relation: "c".into(), value: false }],
            mixed: vec![MixedSolution { span, strategy: MixedStrategy::Restricted, iterations: 4 }],
            note: Some("so it is".into()),
        };
        let mut text = Vec::new();
        write_events(&mut text, &[event], &|_| Some("M.mo:3:1".into())).expect("writing to memory");
        assert_eq!(
            String::from_utf8_lossy(&text),
            "{\"time\":0.5,\"kind\":\"state\",\"cause\":\"'a\\\"b' < 0\",\"line\":3,\"iterations\":2,\"restart\":true,\"causes\":[\
             {\"relation\":\"'a\\\"b' < 0\",\"value\":true,\"at\":\"M.mo:3:1\"},\
             {\"sample\":[0.0,0.5],\"at\":\"M.mo:3:1\"}],\
             \"changes\":[{\"variable\":\"v\",\"before\":-1.0,\"after\":null}],\
             \"consequences\":[{\"round\":2,\"relation\":\"c\",\"value\":false}],\
             \"mixed\":[{\"strategy\":\"restricted\",\"iterations\":4,\"at\":\"M.mo:3:1\"}],\"note\":\"so it is\"}\n"
        );
    }
}
