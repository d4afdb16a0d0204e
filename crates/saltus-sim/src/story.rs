//! The record of events in words, one paragraph an event: which expression became what, what changed, how often the
//! equations were iterated.
//!
//! ```text
//! at 0.00870813 s: Diode.i > 0.0 became false
//!   Diode.open changed from 0 to 1
//!   2 rounds; in round 2 Diode.u <= 0.0 became true
//! ```

use std::io::{self, Write};

use saltus_base::digits;

use crate::record::{EventCause, EventKind, EventRecord};

/// Writes the events in their order.
pub fn write_story(out: &mut dyn Write, events: &[EventRecord]) -> io::Result<()> {
    for (i, event) in events.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        paragraph(out, event)?;
    }
    Ok(())
}

fn paragraph(out: &mut dyn Write, event: &EventRecord) -> io::Result<()> {
    // What a later round changed belongs to that round.
    let follows = |c: &&EventCause| match c {
        EventCause::Relation { text, value, .. } => {
            event.consequences.iter().any(|later| later.relation == *text && later.value == *value)
        }
        _ => false,
    };
    let causes: Vec<String> = event.causes.iter().filter(|c| !follows(c)).filter_map(cause).collect();
    let what = match (causes.is_empty(), event.kind) {
        (_, EventKind::Start) => "the start".to_owned(),
        (false, _) => causes.join(", "),
        (true, EventKind::Terminal) => "the end".to_owned(),
        (true, EventKind::Leave) => "sliding ends".to_owned(),
        (true, EventKind::Release) => "held relations are free again".to_owned(),
        (true, EventKind::Time) => "something of time is due".to_owned(),
        (true, EventKind::Selection) => "other variables are states".to_owned(),
        (true, EventKind::Configuration) => "the structure changes".to_owned(),
        (true, EventKind::Outside) => "values were set from outside".to_owned(),
        (true, EventKind::Jump) => "the equations jump to another solution".to_owned(),
        (true, EventKind::State) => "a relation was about to change and did not".to_owned(),
    };
    writeln!(out, "at {} s: {what}", digits(event.time))?;
    for change in &event.changes {
        writeln!(out, "  {} changed from {} to {}", change.variable, digits(change.before), digits(change.after))?;
    }
    let mut rounds = format!("  {} round{}", event.rounds, if event.rounds == 1 { "" } else { "s" });
    let mut round = 0;
    for consequence in &event.consequences {
        rounds.push_str(if round == consequence.round { ", " } else { "; " });
        if round != consequence.round {
            rounds.push_str(&format!("in round {} ", consequence.round));
        }
        rounds.push_str(&format!("{} became {}", consequence.relation, consequence.value));
        round = consequence.round;
    }
    writeln!(out, "{rounds}")?;
    for mixed in &event.mixed {
        writeln!(out, "  a mixed loop took {} looks", mixed.iterations)?;
    }
    match &event.note {
        Some(note) => writeln!(out, "  {note}"),
        None => Ok(()),
    }
}

fn cause(cause: &EventCause) -> Option<String> {
    match cause {
        EventCause::Start | EventCause::Time => None,
        EventCause::Relation { text, value, .. } | EventCause::Timer { text, value, .. } => {
            Some(format!("{text} became {value}"))
        }
        EventCause::Sample { start, interval, .. } => Some(format!("sample({start}, {interval}) ticked")),
        EventCause::Clock { text, .. } => Some(format!("{text} ticked")),
        EventCause::State { variable, instead_of, .. } => {
            Some(format!("{variable} is a state instead of {instead_of}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Change, Consequence};
    use saltus_base::Span;

    #[test]
    fn an_event_is_a_paragraph() {
        let span = Span::nowhere();
        let event = EventRecord {
            time: 0.5,
            kind: EventKind::State,
            causes: vec![
                EventCause::Relation { text: "i > 0.0".into(), value: false, span },
                EventCause::Relation { text: "u <= 0.0".into(), value: true, span },
            ],
            rounds: 2,
            is_restart: true,
            changes: vec![Change { variable: "open".into(), before: 0.0, after: 1.0 }],
            consequences: vec![
                Consequence { round: 2, relation: "u <= 0.0".into(), value: true },
                Consequence { round: 2, relation: "c".into(), value: false },
            ],
            mixed: Vec::new(),
            note: None,
        };
        let start = EventRecord {
            time: 0.0,
            kind: EventKind::Start,
            causes: vec![EventCause::Start],
            rounds: 1,
            ..event.clone()
        };
        let start = EventRecord { changes: Vec::new(), consequences: Vec::new(), ..start };
        let mut text = Vec::new();
        write_story(&mut text, &[start, event]).expect("writing to memory");
        let expected = "at 0 s: the start\n  1 round\n\nat 0.5 s: i > 0.0 became false\n  open changed from 0 to 1\n  \
                        2 rounds; in round 2 u <= 0.0 became true, c became false\n";
        assert_eq!(String::from_utf8_lossy(&text), expected);
    }
}
