//! The record of events as a text that another server can read: one JSON value a line.
//!
//! A line with `{"place": …}` says where something is written; events name places by their number, from 0:
//!
//! ```text
//! {"place":{"path":"Ball.mo","line":8,…}}
//! ["0.45152",1,1,true,[["relation","h < 0",true,0]],[["v","-4.4","2.2"]],[],[],null]
//! ```
//!
//! Numbers are texts, which come back bit by bit. In a record that was read a span is the number of its place: [`place_of`] leads back.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use saltus_base::{FileId, Index, Span};
use saltus_program::{MixedSolution, MixedStrategy};
use saltus_sim::{Change, Consequence, EventCause, EventKind, EventRecord};
use serde_json::{Value, json};

use crate::events::Places;

/// Writes records, and the places before the first record that names them.
pub struct EventWriter<W: Write> {
    out: W,
    known: HashMap<Span, Option<usize>>,
    n_places: usize,
}

impl<W: Write> EventWriter<W> {
    pub fn new(out: W) -> Self {
        EventWriter { out, known: HashMap::new(), n_places: 0 }
    }

    pub fn write(&mut self, event: &EventRecord, places: Places) -> io::Result<()> {
        let mut causes = Vec::with_capacity(event.causes.len());
        for cause in &event.causes {
            let value = match cause {
                EventCause::Start => json!(["start"]),
                EventCause::Time => json!(["time"]),
                EventCause::Relation { text, value, span } => {
                    json!(["relation", &**text, value, self.at(*span, places)?])
                }
                EventCause::Timer { text, value, span } => json!(["timer", &**text, value, self.at(*span, places)?]),
                EventCause::Clock { text, span } => json!(["clock", &**text, self.at(*span, places)?]),
                EventCause::Sample { start, interval, span } => {
                    json!(["sample", exact(*start), exact(*interval), self.at(*span, places)?])
                }
                EventCause::State { variable, instead_of, span } => {
                    json!(["state", &**variable, &**instead_of, self.at(*span, places)?])
                }
            };
            causes.push(value);
        }
        let changes = event.changes.iter().map(|c| json!([&*c.variable, exact(c.before), exact(c.after)]));
        let consequences = event.consequences.iter().map(|c| json!([c.round, &*c.relation, c.value]));
        let line = json!([
            exact(event.time),
            event.kind,
            event.rounds,
            event.is_restart,
            causes,
            changes.collect::<Vec<_>>(),
            consequences.collect::<Vec<_>>(),
            event.mixed.iter().map(|m| json!([m.strategy, m.iterations])).collect::<Vec<_>>(),
            event.note.as_deref(),
        ]);
        writeln!(self.out, "{line}")
    }

    fn at(&mut self, span: Span, places: Places) -> io::Result<Option<usize>> {
        if let Some(known) = self.known.get(&span) {
            return Ok(*known);
        }
        let mut number = None;
        if let Some(place) = places(span) {
            writeln!(self.out, "{}", json!({"place": place}))?;
            number = Some(self.n_places);
            self.n_places += 1;
        }
        self.known.insert(span, number);
        Ok(number)
    }

    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn exact(value: f64) -> String {
    format!("{value:?}")
}

/// What was written, and the places; a line that cannot be understood ends it.
pub fn read(lines: impl BufRead) -> (Vec<EventRecord>, Vec<Value>) {
    let (mut events, mut places) = (Vec::new(), Vec::new());
    let mut texts = Texts::default();
    for line in lines.lines() {
        let Some(mut value) = line.ok().and_then(|line| serde_json::from_str::<Value>(&line).ok()) else { break };
        if value["place"].is_object() {
            places.push(value["place"].take());
        } else if let Some(event) = event(&value, &mut texts) {
            events.push(event);
        } else {
            break;
        }
    }
    (events, places)
}

/// Where a span of a record that was read is.
pub fn place_of(span: Span, places: &[Value]) -> Option<Value> {
    places.get(span.start as usize).filter(|_| !span.is_nowhere()).cloned()
}

/// Names of variables and relations come again with every event.
#[derive(Default)]
struct Texts(HashMap<String, Arc<str>>);

impl Texts {
    fn of(&mut self, value: &Value) -> Option<Arc<str>> {
        let text = value.as_str()?;
        if let Some(known) = self.0.get(text) {
            return Some(known.clone());
        }
        let new: Arc<str> = text.into();
        self.0.insert(text.to_owned(), new.clone());
        Some(new)
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok()
}

fn span(value: &Value) -> Span {
    let place = value.as_u64().and_then(|n| u32::try_from(n).ok());
    place.map_or_else(Span::nowhere, |n| Span::new(FileId::from_usize(0), n, n))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn event(line: &Value, texts: &mut Texts) -> Option<EventRecord> {
    let mut causes = Vec::new();
    for value in list(&line[4]) {
        causes.push(cause(value, texts)?);
    }
    let mut changes = Vec::new();
    for value in list(&line[5]) {
        changes.push(Change { variable: texts.of(&value[0])?, before: number(&value[1])?, after: number(&value[2])? });
    }
    let mut consequences = Vec::new();
    for value in list(&line[6]) {
        let round = usize::try_from(value[0].as_u64()?).ok()?;
        consequences.push(Consequence { round, relation: texts.of(&value[1])?, value: value[2].as_bool()? });
    }
    let mixed = list(&line[7]).iter().map(|value| {
        let strategy: MixedStrategy = serde_json::from_value(value[0].clone()).ok()?;
        let iterations = u32::try_from(value[1].as_u64()?).ok()?;
        Some(MixedSolution { span: Span::nowhere(), strategy, iterations })
    });
    Some(EventRecord {
        time: number(&line[0])?,
        kind: serde_json::from_value::<EventKind>(line[1].clone()).ok()?,
        causes,
        rounds: usize::try_from(line[2].as_u64()?).ok()?,
        is_restart: line[3].as_bool()?,
        changes,
        consequences,
        mixed: mixed.collect::<Option<Vec<_>>>()?,
        note: texts.of(&line[8]),
    })
}

fn cause(value: &Value, texts: &mut Texts) -> Option<EventCause> {
    Some(match value[0].as_str()? {
        "start" => EventCause::Start,
        "time" => EventCause::Time,
        "relation" => {
            EventCause::Relation { text: texts.of(&value[1])?, value: value[2].as_bool()?, span: span(&value[3]) }
        }
        "timer" => EventCause::Timer { text: texts.of(&value[1])?, value: value[2].as_bool()?, span: span(&value[3]) },
        "clock" => EventCause::Clock { text: texts.of(&value[1])?, span: span(&value[2]) },
        "sample" => {
            EventCause::Sample { start: number(&value[1])?, interval: number(&value[2])?, span: span(&value[3]) }
        }
        "state" => EventCause::State {
            variable: texts.of(&value[1])?,
            instead_of: texts.of(&value[2])?,
            span: span(&value[3]),
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_with_their_places() {
        let at = Span::new(FileId::from_usize(7), 30, 40);
        let causes = vec![
            EventCause::Relation { text: "h < 0.0".into(), value: true, span: at },
            EventCause::Timer { text: "time > 1.0".into(), value: false, span: Span::nowhere() },
            EventCause::Clock { text: "Clock(0.1)".into(), span: at },
            EventCause::Sample { start: 0.1, interval: 1.0 / 3.0, span: at },
            EventCause::State { variable: "x".into(), instead_of: "y".into(), span: at },
            EventCause::Start,
            EventCause::Time,
        ];
        let mixed = vec![MixedSolution { span: at, strategy: MixedStrategy::Pivot, iterations: 3 }];
        let full = EventRecord {
            time: 0.1 + 0.2,
            kind: EventKind::State,
            causes,
            rounds: 2,
            is_restart: true,
            changes: vec![Change { variable: "v\n\"".into(), before: f64::NAN, after: f64::NEG_INFINITY }],
            consequences: vec![Consequence { round: 2, relation: "v > 0.0".into(), value: true }],
            mixed,
            note: Some("a note".into()),
        };
        let mut writer = EventWriter::new(Vec::new());
        let place = |span: Span| (!span.is_nowhere()).then(|| json!({"path": "Ball.mo", "line": span.start}));
        writer.write(&full, &place).unwrap();
        writer.write(&full, &place).unwrap();
        let text = writer.finish().unwrap();
        let (events, places) = read(text.as_slice());
        assert_eq!(places, [json!({"path": "Ball.mo", "line": 30})], "once, however often it is named");
        assert_eq!(events.len(), 2);
        let read = &events[1];
        assert_eq!((read.time, read.rounds, read.is_restart), (full.time, 2, true));
        assert!(read.changes[0].before.is_nan() && read.changes[0].after == f64::NEG_INFINITY);
        assert_eq!((&read.consequences, &read.note, read.mixed[0].iterations), (&full.consequences, &full.note, 3));
        assert_eq!(read.causes.len(), 7);
        let EventCause::Relation { span, .. } = read.causes[0] else { panic!("{:?}", read.causes) };
        assert_eq!(place_of(span, &places).unwrap()["line"], 30);
        let EventCause::Timer { span, .. } = read.causes[1] else { panic!("{:?}", read.causes) };
        assert_eq!(place_of(span, &places), None);
        assert!(self::read(&text[..text.len() - 3]).0.len() == 1, "a torn line ends it");
    }
}
