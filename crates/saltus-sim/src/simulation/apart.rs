//! Parts that share no variable, each with an integrator and events of its own.
//!
//! In: a simulation that has not begun, and who makes instances of parts. Out: its rows at output points, its events in order of time, its
//! statistics. Rows at events are left out: the record of an event holds what changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use saltus_base::Index;
use saltus_program::{Activation, ModelFunctions, SimProgram, SlotId};

use super::{Phase, Progress, Simulation};
use crate::Options;
use crate::error::{Failure, SimError, SimErrorKind};
use crate::event;
use crate::parts::{Part, take_apart};
use crate::record::{EventKind, EventRecord};
use crate::sink::{Header, Sink, SinkError};

/// Output points that each part goes on by in its turn.
const POINTS_IN_A_TURN: u64 = 50;

/// What a part has recorded and the whole has not written yet; clones share it.
#[derive(Clone, Default)]
struct Relay(Arc<Mutex<Relayed>>);

#[derive(Default)]
struct Relayed {
    times: Vec<f64>,
    /// Row by row.
    values: Vec<f64>,
    events: Vec<EventRecord>,
}

impl Relay {
    fn take(&self) -> Relayed {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink for Relay {
    fn begin(&mut self, _header: &Header) -> Result<(), SinkError> {
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        let mut relayed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        relayed.times.push(time);
        relayed.values.extend_from_slice(values);
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), SinkError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).events.push(event.clone());
        Ok(())
    }
}

/// A part in its run.
struct Member {
    simulation: Simulation,
    /// By slot of the part the slot of the whole, ascending.
    slots: Vec<SlotId>,
    relay: Relay,
    /// Where the values of its rows are in those of the whole.
    places: Vec<usize>,
}

impl Simulation {
    /// Runs up to the stop time, the terminal event included, with an integrator for each part that shares no variable with the others. If there
    /// are no such parts nothing happens but that the reason is returned. `make` makes an instance of the program of a part.
    pub fn run_apart(
        &mut self,
        make: &mut dyn FnMut(Arc<SimProgram>) -> Box<dyn ModelFunctions>,
        observer: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Result<(), &'static str>, SimError> {
        if self.model.inputs_vary() || self.model.has_witness() || self.driver.phase != Phase::New {
            return Ok(Err("it is watched, has inputs or has begun"));
        }
        let parts = match take_apart(&self.program) {
            Ok(parts) => parts,
            Err(why) => return Ok(Err(why)),
        };
        let mut members: Vec<Member> = parts.into_iter().map(|part| self.member(part, make)).collect();
        let done = self.run_members(&mut members, observer);
        self.add_statistics(&mut members);
        done.map(Ok)
    }

    fn member(&self, part: Part, make: &mut dyn FnMut(Arc<SimProgram>) -> Box<dyn ModelFunctions>) -> Member {
        let Part { program, slots } = part;
        let options = Options { event_rows: false, step_rows: false, ..self.options.clone() };
        let mut simulation = Simulation::new(make(program), options);
        let relay = Relay::default();
        simulation.set_sink(Box::new(relay.clone()));
        simulation.stop = self.stop.clone();
        simulation.model.set_stop(self.stop.clone());
        let own = |slot: &SlotId| slots.binary_search(slot).ok().map(SlotId::from_usize);
        let changes = self.changes.iter().filter_map(|(slot, value)| Some((own(slot)?, *value)));
        simulation.changes.extend(changes);
        let whole = self.catalogue.places();
        let place = |&slot: &usize| whole.binary_search(&slots.get(slot)?.index()).ok();
        let places = simulation.catalogue.places().iter().map(|slot| place(slot).unwrap_or(usize::MAX)).collect();
        Member { simulation, slots, relay, places }
    }

    fn run_members(
        &mut self,
        members: &mut [Member],
        observer: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(), SimError> {
        for member in members.iter_mut() {
            member.simulation.initialise()?;
        }
        self.begin_together(members).map_err(|failure| self.fail(failure))?;
        let n = self.options.n_intervals();
        let mut point = 0;
        while self.driver.now < self.options.stop_time {
            point = (point + POINTS_IN_A_TURN).min(n);
            let until = if point == n { self.options.stop_time } else { self.options.output_point(point) };
            for member in members.iter_mut() {
                if !observer(self.progress()) {
                    return Err(self.stop(SimErrorKind::Interrupted));
                }
                let went = member.simulation.advance_to(until);
                if let Err(error) = went {
                    // What all of them have reached is part of the results.
                    let _ = self.write_together(members);
                    return Err(error);
                }
            }
            self.driver.now = until;
            self.write_together(members).map_err(|failure| self.fail(failure))?;
        }
        for member in members.iter_mut() {
            member.simulation.finish()?;
        }
        self.write_together(members).map_err(|failure| self.fail(failure))?;
        self.driver.phase = Phase::Over;
        Ok(())
    }

    /// The values of parameters, and what rows mean.
    fn begin_together(&mut self, members: &[Member]) -> Result<(), Failure> {
        let start = self.options.start_time;
        for &(slot, value) in &std::mem::take(&mut self.changes) {
            self.model.set_from_outside(slot, value);
        }
        event::eval(&mut self.model, start, Activation::Parameters)?;
        for member in members {
            for (&value, &slot) in member.simulation.model.memory().iter().zip(&member.slots) {
                self.model.set(slot, value);
            }
        }
        self.driver.now = start;
        self.begin_recording(start)
    }

    /// Writes the rows that all parts have made, and their events.
    fn write_together(&mut self, members: &[Member]) -> Result<(), Failure> {
        let mut relayed: Vec<Relayed> = members.iter().map(|member| member.relay.take()).collect();
        let parts = relayed.iter_mut().enumerate();
        let events = parts.flat_map(|(number, part)| part.events.drain(..).map(move |event| (number, event)));
        let mut events = unite(events.collect()).into_iter().peekable();
        let n_rows = relayed.iter().map(|part| part.times.len()).min().unwrap_or(0);
        for k in 0..n_rows {
            let time = relayed.first().map_or(f64::NAN, |part| part.times[k]);
            if relayed.iter().any(|part| part.times[k].to_bits() != time.to_bits()) {
                let why = "parts of the model have rows at different times".to_owned();
                return Err(Failure::new(time, SimErrorKind::CannotRecord { why }));
            }
            for (member, part) in members.iter().zip(&relayed) {
                let width = member.places.len();
                for (&place, &value) in member.places.iter().zip(&part.values[k * width..(k + 1) * width]) {
                    if let Some(cell) = self.work.row.get_mut(place) {
                        *cell = value;
                    }
                }
            }
            while let Some(event) = events.next_if(|event| event.time <= time) {
                self.send_event(&event)?;
            }
            self.driver.last_row = Some(time);
            if let Some(sink) = &mut self.sink {
                sink.row(time, &self.work.row).map_err(|error| super::recording::refused(time, error))?;
            }
        }
        // What not all of them have reached waits for the others.
        for (member, mut part) in members.iter().zip(relayed) {
            part.times.drain(..n_rows);
            part.values.drain(..n_rows * member.places.len());
            *member.relay.0.lock().unwrap_or_else(PoisonError::into_inner) = part;
        }
        events.try_for_each(|event| self.send_event(&event))
    }

    fn send_event(&mut self, event: &EventRecord) -> Result<(), Failure> {
        let statistics = &mut self.driver.statistics;
        statistics.events += 1;
        statistics.state_events += u64::from(event.kind == EventKind::State);
        statistics.time_events += u64::from(event.kind == EventKind::Time);
        let sent = self.sink.as_mut().map_or(Ok(()), |sink| sink.event(event));
        sent.map_err(|error| super::recording::refused(event.time, error))
    }

    /// What the parts have cost is what the whole has cost.
    fn add_statistics(&mut self, members: &mut [Member]) {
        let mut detection = HashMap::new();
        for member in members.iter_mut() {
            let simulation = &mut member.simulation;
            self.add_extents(simulation);
            self.driver.earlier = self.driver.earlier + simulation.cost();
            self.driver.search.evaluations += simulation.driver.search.evaluations;
            let (sum, own) = (&mut self.driver.statistics, simulation.statistics());
            sum.event_iterations += own.event_iterations;
            sum.loops = sum.loops + own.loops;
            self.driver.warnings.append(&mut simulation.driver.warnings);
            self.driver.notes.append(&mut simulation.driver.notes);
            let relations = simulation.program.events.relations.values();
            for (relation, found) in relations.zip(&simulation.driver.detection) {
                detection.insert(member.slots[relation.memory.index()], *found);
            }
        }
        for (relation, found) in self.program.events.relations.values().zip(&mut self.driver.detection) {
            if let Some(own) = detection.get(&relation.memory) {
                *found = *own;
            }
        }
        self.driver.warnings.sort_by(|a, b| a.time.total_cmp(&b.time));
        self.driver.notes.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.driver.notes.dedup_by(|a, b| a.1 == b.1);
    }
}

/// The events of all parts, by their numbers, in order of time: what happens in several of them at one time is one event.
fn unite(mut events: Vec<(usize, EventRecord)>) -> Vec<EventRecord> {
    let is_later = |event: &EventRecord| event.kind != EventKind::Start;
    events.sort_by(|(_, a), (_, b)| a.time.total_cmp(&b.time).then(is_later(a).cmp(&is_later(b))));
    let mut united: Vec<EventRecord> = Vec::with_capacity(events.len());
    // Of events at one time those of a part follow each other, and parts are in order.
    let mut before = usize::MAX;
    for (part, mut event) in events {
        let is_same = |last: &&mut EventRecord| last.time == event.time && last.kind == event.kind;
        let Some(last) = united.last_mut().filter(is_same).filter(|_| before < part) else {
            before = part;
            united.push(event);
            continue;
        };
        before = part;
        event.causes.retain(|cause| !last.causes.contains(cause));
        last.causes.append(&mut event.causes);
        last.rounds = last.rounds.max(event.rounds);
        last.is_restart |= event.is_restart;
        last.changes.append(&mut event.changes);
        last.consequences.append(&mut event.consequences);
        last.mixed.append(&mut event.mixed);
    }
    united
}
