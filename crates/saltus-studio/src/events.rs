//! The record of events as a table: filtered, page by page, each line with the place in the text that it comes from.

use saltus_base::Span;
use saltus_sim::{EventCause, EventRecord};
use serde_json::{Value, json};

/// Where a span is, for pages.
pub type Places<'a> = &'a dyn Fn(Span) -> Option<Value>;

/// What of the record is wanted.
pub struct Page<'a> {
    /// Words that the line must contain, as `state` or the name of a variable.
    pub filter: &'a str,
    pub offset: usize,
    pub limit: usize,
}

/// Lines of the page, and how many there are in all.
pub fn page(events: &[EventRecord], page: &Page, place: Places) -> Value {
    let words: Vec<String> = page.filter.split_whitespace().map(str::to_lowercase).collect();
    let mut n_matching = 0;
    let mut lines = Vec::new();
    for (index, event) in events.iter().enumerate() {
        if !words.is_empty() && !is_about(event, &words) {
            continue;
        }
        n_matching += 1;
        if n_matching > page.offset && lines.len() < page.limit {
            lines.push(line(event, index, place));
        }
    }
    json!({"total": events.len(), "matching": n_matching, "offset": page.offset, "events": lines})
}

fn is_about(event: &EventRecord, words: &[String]) -> bool {
    let mut text = event.kind.name().to_owned();
    for cause in &event.causes {
        text.push(' ');
        text.push_str(&cause_text(cause).0);
    }
    for change in &event.changes {
        text.push(' ');
        text.push_str(&change.variable);
    }
    text.extend(event.note.iter().flat_map(|note| [" ", &**note]));
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word))
}

fn line(event: &EventRecord, index: usize, place: Places) -> Value {
    let causes = event.causes.iter().map(|cause| {
        let (text, span) = cause_text(cause);
        json!({"text": text, "place": place(span)})
    });
    let changes = event.changes.iter().map(|c| json!([&*c.variable, number(c.before), number(c.after)]));
    let consequences = event.consequences.iter().map(|c| json!([c.round, &*c.relation, c.value]));
    json!({
        "index": index,
        "time": number(event.time),
        "kind": event.kind.name(),
        "causes": causes.collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
        "consequences": consequences.collect::<Vec<_>>(),
        "mixed": event.mixed.iter().map(|m| m.iterations).sum::<u32>(),
        "rounds": event.rounds,
        "restart": event.is_restart,
        "note": event.note.as_deref(),
    })
}

/// JSON has neither infinities nor not-a-numbers.
pub fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn cause_text(cause: &EventCause) -> (String, Span) {
    match cause {
        EventCause::Start => ("start".into(), Span::nowhere()),
        EventCause::Time => ("time".into(), Span::nowhere()),
        EventCause::Relation { text, value, span } | EventCause::Timer { text, value, span } => {
            (format!("{text} becomes {value}"), *span)
        }
        EventCause::Clock { text, span } => (text.to_string(), *span),
        EventCause::Sample { start, interval, span } => (format!("sample({start}, {interval})"), *span),
        EventCause::State { variable, instead_of, span } => {
            (format!("{variable} is a state instead of {instead_of}"), *span)
        }
    }
}

/// Times of events for the marks of a picture: at most one a column, with the number of events in it.
pub fn marks(events: &[EventRecord], from: f64, to: f64, columns: usize) -> Vec<f64> {
    let width = (to - from).max(f64::MIN_POSITIVE) / columns.clamp(1, 20_000) as f64;
    let first = events.partition_point(|e| e.time < from);
    let mut out: Vec<f64> = Vec::new();
    let mut last = None;
    for event in events[first..].iter().take_while(|e| e.time <= to) {
        let column = ((event.time - from) / width).floor();
        if last == Some(column) {
            if let Some(n) = out.last_mut() {
                *n += 1.0;
            }
        } else {
            out.extend([event.time, 1.0]);
        }
        last = Some(column);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_sim::{Change, EventKind};

    fn event(time: f64, relation: &str, variable: &str) -> EventRecord {
        EventRecord {
            time,
            kind: EventKind::State,
            causes: vec![EventCause::Relation { text: relation.into(), value: true, span: Span::nowhere() }],
            rounds: 2,
            is_restart: true,
            changes: vec![Change { variable: variable.into(), before: 0.0, after: f64::INFINITY }],
            consequences: Vec::new(),
            mixed: Vec::new(),
            note: None,
        }
    }

    #[test]
    fn a_filter_finds_relations_and_variables() {
        let events = [event(0.5, "h < 0.0", "v"), event(1.0, "u > 1.0", "Diode.on"), event(1.5, "h < 0.0", "w")];
        let find = |filter: &str, offset| {
            let found = page(&events, &Page { filter, offset, limit: 1 }, &|_| None);
            let times: Vec<Value> = found["events"].as_array().unwrap().iter().map(|e| e["time"].clone()).collect();
            (found["matching"].as_u64().unwrap(), times)
        };
        assert_eq!(find("", 1), (3, vec![json!(1.0)]));
        assert_eq!(find("H STATE", 1), (2, vec![json!(1.5)]));
        assert_eq!(find("diode", 0), (1, vec![json!(1.0)]));
        assert_eq!(find("h diode", 0), (0, vec![]));
        let first = page(&events, &Page { filter: "", offset: 0, limit: 1 }, &|_| None);
        assert_eq!(first["events"][0]["changes"], json!([["v", 0.0, null]]));
    }

    #[test]
    fn marks_are_counted_by_column() {
        let events: Vec<EventRecord> = (0..1000).map(|i| event(f64::from(i) / 1000.0, "x", "y")).collect();
        let marks = marks(&events, 0.0, 0.5, 10);
        assert!(marks.len() <= 22, "{}", marks.len());
        assert_eq!(marks.chunks(2).map(|m| m[1]).sum::<f64>(), 501.0);
    }
}
