//! Rows and records, on their way to the sink.

use saltus_program::{ModelFunctions, Moment};

use super::Simulation;
use crate::costs::Activity;
use crate::error::{Failure, SimErrorKind};
use crate::sink::{Header, SinkError};

/// Values that are copied and looked at in one go.
const AT_ONCE: usize = 1024;

impl Simulation {
    /// Tells the sink what the rows mean.
    pub(super) fn begin_recording(&mut self, t: f64) -> Result<(), Failure> {
        self.work.row = vec![0.0; self.catalogue.places().len()];
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let (program, recorded) = (&self.program, &self.options.recorded);
        let header = Header::of(t, program, recorded, &self.catalogue, self.model.memory());
        sink.begin(&header).map_err(|error| refused(t, error))?;
        self.tell_structure(t);
        Ok(())
    }

    /// Tells the sink which structure holds from now on.
    pub(super) fn tell_structure(&mut self, t: f64) {
        if let Some(sink) = self.sink.as_mut().filter(|_| self.program.configuration.is_some()) {
            sink.structure(t, &self.program);
        }
    }

    /// A row if each step has one. Assertions hold at all accepted points, not only at those that are written.
    pub(super) fn check_step_end(&mut self, t: f64, is_checked: bool) -> Result<(), Failure> {
        let is_written = self.driver.last_row == Some(t);
        let is_row = self.options.step_rows && !self.sink.as_ref().is_some_and(|sink| sink.is_short_of_room());
        if is_written || !is_row && (is_checked || self.program.events.assertions.is_empty()) {
            return Ok(());
        }
        self.go_to(t)?;
        if is_row || !self.assertions_hold() {
            self.show_point();
            return self.write_row(t);
        }
        self.check_assertions(t)
    }

    /// Equidistant rows before `t`.
    pub(super) fn write_points_before(&mut self, t: f64) -> Result<(), Failure> {
        self.during(Activity::Rows, |run| {
            while let Some(point) = run.next_point_before(t) {
                run.go_to(point)?;
                run.write_point(point)?;
            }
            Ok(())
        })
    }

    /// Equidistant rows before `t`, up to the first one at which an assertion does not hold, and not for long: its time.
    pub(super) fn write_points_that_hold(&mut self, t: f64) -> Result<Option<f64>, Failure> {
        self.during(Activity::Rows, |run| {
            while let Some(point) = run.next_point_before(t) {
                run.go_to(point)?;
                if !run.is_as_known() {
                    return Ok(Some(point));
                }
                run.write_point(point)?;
            }
            Ok(None)
        })
    }

    /// A point at which an assertion fails is not part of the solution: nobody looks at its equations.
    pub(super) fn show_point(&mut self) {
        if self.assertions_hold() {
            self.model.show(Moment::Between);
        }
    }

    pub(super) fn next_output_point(&self) -> Option<f64> {
        let is_left = self.driver.next_output <= self.options.n_intervals();
        is_left.then(|| self.options.output_point(self.driver.next_output))
    }

    fn next_point_before(&self, t: f64) -> Option<f64> {
        self.next_output_point().filter(|&point| point < t)
    }

    fn write_point(&mut self, point: f64) -> Result<(), Failure> {
        self.show_point();
        self.driver.next_output += 1;
        self.write_row(point)
    }

    pub(super) fn write_event_row(&mut self, t: f64) -> Result<(), Failure> {
        if self.writes_event_rows() { self.write_row(t) } else { self.check_assertions(t) }
    }

    fn writes_event_rows(&self) -> bool {
        self.options.event_rows
            && !self.is_quantised()
            && !self.sink.as_ref().is_some_and(|sink| sink.is_short_of_room())
    }

    /// The left limits at an event. What is violated in this instant alone is judged after it.
    pub(super) fn write_left_row(&mut self, t: f64) -> Result<(), Failure> {
        if self.writes_event_rows() {
            self.write_unchecked(t)?;
        }
        self.check_assertions_at(t, true)
    }

    pub(super) fn write_row(&mut self, t: f64) -> Result<(), Failure> {
        self.write_unchecked(t)?;
        self.check_assertions(t)
    }

    pub(super) fn write_unchecked(&mut self, t: f64) -> Result<(), Failure> {
        self.driver.last_row = Some(t);
        let memory = self.model.memory();
        let (mut rest, mut has_infinite) = (&mut self.work.row[..], false);
        for &(slot, n) in self.catalogue.stretches() {
            let (own, behind) = rest.split_at_mut(n);
            rest = behind;
            let Some(values) = slot.checked_add(n).and_then(|end| memory.get(slot..end)) else {
                own.fill(f64::NAN);
                continue;
            };
            // While they are at hand.
            for (own, values) in own.chunks_mut(AT_ONCE).zip(values.chunks(AT_ONCE)) {
                own.copy_from_slice(values);
                has_infinite |= values.iter().fold(false, |any, value| any | value.is_infinite());
            }
        }
        let is_all = self.catalogue.places().len() == self.catalogue.shown().len();
        let has_hidden = || self.catalogue.shown().iter().any(|&slot| memory[slot].is_infinite());
        let is_suspicious = has_infinite || !is_all && has_hidden();
        // The row that shows what went wrong is part of the results.
        if let Some(sink) = &mut self.sink {
            sink.row(t, &self.work.row).map_err(|error| refused(t, error))?;
        }
        if is_suspicious {
            self.check_infinite(t)?;
        }
        Ok(())
    }

    pub(super) fn remember_memory(&mut self) {
        self.driver.left = None;
        self.driver.before.clear();
        self.driver.before.extend_from_slice(self.model.memory());
    }

    /// The rows of an event stand for an output point at the same time.
    pub(super) fn skip_output_point(&mut self, t: f64) {
        if self.driver.next_output <= self.options.n_intervals()
            && self.options.output_point(self.driver.next_output) == t
            && self.driver.last_row == Some(t)
        {
            self.driver.next_output += 1;
        }
    }

    /// Sends the event that has been settled on its way.
    pub(super) fn close_event(&mut self) -> Result<(), Failure> {
        let Some(event) = self.work.event.take() else { return Ok(()) };
        let sent = self.sink.as_mut().map_or(Ok(()), |sink| sink.event(&event));
        let time = event.time;
        self.work.settled = Some(event);
        sent.map_err(|error| refused(time, error))
    }

    /// Adds a remark to the event that is being settled.
    pub(super) fn note_event(&mut self, note: &str) {
        if let Some(event) = &mut self.work.event {
            event.note = Some(note.into());
        }
    }
}

pub(super) fn refused(t: f64, error: SinkError) -> Failure {
    let kind = match error {
        SinkError::TooLarge { bytes } => SimErrorKind::ResultsTooLarge { bytes },
        SinkError::Failed(why) => SimErrorKind::CannotRecord { why },
    };
    Failure::new(t, kind)
}
