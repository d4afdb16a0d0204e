//! Measures what a run costs while it goes on.
//!
//! In: a clock. Out: [`RunCosts`]. Without a clock each of these functions is one comparison.

use saltus_program::{ModelFunctions, Stopwatch};

use super::Simulation;
use crate::costs::{Activity, Meter, RunCosts};
use crate::error::Failure;

impl Simulation {
    /// Measures from now on what the run costs.
    pub fn measure(&mut self, stopwatch: &Stopwatch) {
        self.model.measure(stopwatch);
        self.model.count_conditions();
        self.meter = Some(Box::new(Meter::new(stopwatch.clone(), &self.program)));
    }

    /// What the run has cost since [`Simulation::measure`]; it is not measured any further.
    pub fn take_costs(&mut self) -> Option<RunCosts> {
        self.switch(Activity::Rest, false);
        self.leave_measured();
        Some(self.meter.take()?.into_costs())
    }

    /// Lets time count for an activity while it goes on.
    #[inline]
    pub(super) fn during<R>(&mut self, activity: Activity, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.switch(activity, true);
        let result = work(self);
        if let Some(before) = before {
            self.switch(before, false);
        }
        result
    }

    /// The same for an event, with what made it happen.
    pub(super) fn during_event(
        &mut self,
        t: f64,
        settle: impl FnOnce(&mut Self) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        let began = self.meter.as_ref().map(|meter| meter.stopwatch.now());
        let settled = self.during(Activity::Events, settle);
        if let (Some(meter), Some(began)) = (&mut self.meter, began) {
            meter.end_event(t, began);
        }
        settled
    }

    #[inline]
    fn switch(&mut self, next: Activity, begins: bool) -> Option<Activity> {
        let meter = self.meter.as_mut()?;
        Some(meter.switch(next, self.model.measured(), begins))
    }

    /// The present program ends, or another one takes its place: what it has cost is kept.
    pub(super) fn leave_measured(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.leave(&self.program, self.model.costs(), &self.model.take_fired());
        }
    }

    /// Another program has taken the place of the one before.
    pub(super) fn enter_measured(&mut self) {
        if let Some(meter) = &mut self.meter {
            let stopwatch = meter.stopwatch.clone();
            self.model.measure(&stopwatch);
            meter.enter(&self.program, self.model.measured());
        }
    }
}
