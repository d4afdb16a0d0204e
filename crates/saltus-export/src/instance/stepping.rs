//! Co-simulation: our own integrators go from one communication point to the next.

use saltus_sim::Advance;

use super::{Instance, Kind, Phase, Run, Severity, Update};

/// How far a communication point may be from where the run is, as a part of the step.
const SAME_POINT: f64 = 1e-6;
/// How far from its stop time a run may be asked to end, as a part of the step: rounding.
const BEYOND_STOP: f64 = 1e-6;
/// A run without a stop time goes on in stretches of this many times its default length.
const STRETCH: f64 = 10.0;

/// How a step ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Stepped {
    /// How far it came.
    pub time: f64,
    /// Event mode must follow.
    pub needs_event: bool,
    pub is_early: bool,
    /// The message of `terminate`.
    pub terminated: Option<String>,
}

/// A point within a step that the caller may look at; what it wants then.
pub struct Intermediate {
    pub time: f64,
    /// An internal step is over here, so that the caller may stop.
    pub can_return: bool,
}

impl Instance {
    /// Goes from `from` over a step of this size. `look` sees the ends of internal steps and says whether to stop there.
    pub fn do_step(
        &mut self,
        from: f64,
        size: f64,
        may_return_early: bool,
        look: &mut dyn FnMut(&mut Instance, Intermediate) -> bool,
    ) -> Result<Stepped, Severity> {
        if (self.kind, self.book.phase) != (Kind::CoSimulation, Phase::Step) {
            return Err(self.refuse("a step"));
        }
        self.book.shows_left = false;
        let now = self.time();
        let is_here = (from - now).abs() <= SAME_POINT * size.max(now.abs() * 1e-6);
        if !(is_here && size >= 0.0 && (from + size).is_finite()) {
            let text = format!("a step of {size} s from {from} s is not possible at {now} s");
            return Err(self.say(Severity::Error, text));
        }
        let until = self.end_of_step(from + size, size)?;
        self.apply_pending()?;
        let returns = may_return_early && self.uses_event_mode;
        loop {
            let Run::Simulation(simulation) = &mut self.run else { return Err(self.refuse("a step")) };
            let advanced = simulation.advance(until);
            let time = simulation.time();
            let is_there = time >= until;
            let done = Stepped { time, needs_event: false, is_early: !is_there, terminated: None };
            match advanced {
                Err(error) => return Err(self.fail(&error)),
                Ok(Advance::Terminated(message)) => {
                    self.tell_warnings();
                    return Ok(Stepped { terminated: Some(message), ..done });
                }
                Ok(Advance::Event(_)) if self.uses_event_mode && (returns || is_there) => {
                    self.book.shows_left = true;
                    self.tell_warnings();
                    return Ok(Stepped { needs_event: true, ..done });
                }
                Ok(Advance::Event(_) | Advance::Step) => {}
            }
            let stops = look(self, Intermediate { time, can_return: may_return_early });
            if is_there || stops && may_return_early {
                self.tell_warnings();
                return Ok(Stepped { needs_event: stops && self.uses_event_mode, ..done });
            }
        }
    }

    /// The end of a step; a run that has no stop time goes on beyond the one that it was begun with.
    fn end_of_step(&mut self, until: f64, size: f64) -> Result<f64, Severity> {
        let (stop, length) = {
            let Run::Simulation(simulation) = &self.run else { return Err(self.refuse("a step")) };
            let options = simulation.options();
            (options.stop_time, options.stop_time - options.start_time)
        };
        // The last of many equal steps may miss the stop time by rounding, on either side.
        if self.book.times.stop.is_some() && (until - stop).abs() <= BEYOND_STOP * size {
            return Ok(stop);
        }
        if until <= stop {
            return Ok(until);
        }
        if self.book.times.stop.is_some() {
            return Err(self.say(Severity::Error, format!("{until} s is after the stop time of {stop} s")));
        }
        if let Run::Simulation(simulation) = &mut self.run {
            simulation.extend(until + STRETCH * length.max(size));
        }
        Ok(until)
    }

    fn apply_pending(&mut self) -> Result<(), Severity> {
        let pending = std::mem::take(&mut self.book.pending);
        for (slot, (value, slope)) in pending {
            let Run::Simulation(simulation) = &mut self.run else { break };
            let set = match slope.filter(|slope| *slope != 0.0) {
                None => saltus_sim::Simulation::set(simulation, slot, value),
                Some(slope) => simulation.set_moving(slot, value, slope),
            };
            if let Err(why) = set {
                let name = self.model.program().memory.slot_name(slot).into_owned();
                return Err(self.say(Severity::Error, format!("`{name}` cannot be set: {why}")));
            }
        }
        Ok(())
    }

    /// The input changes at this rate during the next step.
    pub fn set_input_slope(&mut self, reference: u32, slope: f64) -> Result<(), Severity> {
        use crate::references::Target;
        let slot = match self.references.target(reference) {
            Some(Target::Slot(slot)) if self.kind == Kind::CoSimulation => slot,
            _ => {
                return Err(
                    self.say(Severity::Error, format!("the value reference {reference} is not that of an input"))
                );
            }
        };
        let value = self.value(slot)?;
        self.book.pending.insert(slot, (value, Some(slope)));
        // The next value is another one, however close.
        self.book.inputs.remove(&slot);
        Ok(())
    }

    /// An event at the present time with what was set, if anything was.
    pub(super) fn settle_pending(&mut self) -> Result<(), Severity> {
        self.book.shows_left = false;
        if self.book.pending.is_empty() {
            return Ok(());
        }
        self.apply_pending()?;
        let Run::Simulation(simulation) = &mut self.run else { return Ok(()) };
        let now = simulation.time();
        match simulation.advance(now) {
            Ok(Advance::Terminated(message)) => {
                self.book.happened = Some(Update::new(Some(message), false, f64::INFINITY));
                Ok(())
            }
            Ok(Advance::Event(_) | Advance::Step) => Ok(()),
            Err(error) => Err(self.fail(&error)),
        }
    }

    /// In the event mode of co-simulation: what was set is applied; the event itself has been settled.
    pub(super) fn update_simulation(&mut self) -> Result<Update, Severity> {
        self.settle_pending()?;
        let terminated = self.book.happened.take().and_then(|update| update.terminated);
        self.tell_warnings();
        Ok(Update::new(terminated, false, f64::INFINITY))
    }

    pub fn enter_step_mode(&mut self) -> Result<(), Severity> {
        if (self.kind, self.book.phase) != (Kind::CoSimulation, Phase::Events) {
            return Err(self.refuse("step mode"));
        }
        self.book.phase = Phase::Step;
        Ok(())
    }

    /// How fast a variable changes where the run is; by a difference over the last step if it is not differentiable.
    pub fn output_slope(&mut self, reference: u32) -> Result<f64, Severity> {
        let slots: Vec<_> = self.model.program().states.iter().map(|s| (s.value, s.derivative)).collect();
        let time = self.model.program().memory.time;
        let wanted = self.slots_of(&[reference])?;
        let Run::Simulation(simulation) = &mut self.run else { return Err(self.refuse("reading a derivative")) };
        let found = simulation.examine(|functions| {
            let mut seeds: Vec<_> = slots.iter().map(|&(x, dx)| (x, functions.get(dx))).collect();
            seeds.push((time, 1.0));
            saltus::linearize::directional(functions, &wanted, &seeds)
        });
        match found {
            Ok(values) => Ok(values.first().copied().unwrap_or(f64::NAN)),
            Err(error) => Err(self.discard(&error)),
        }
    }
}
