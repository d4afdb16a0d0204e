//! What the time of a run went to, if that was measured: what it was doing, events by cause, states that kept steps short, and
//! the blocks of its programs.
//!
//! In: the clock that the caller hands in ([`Simulation::measure`](crate::Simulation::measure)). Out: [`RunCosts`].

use std::sync::Arc;
use std::time::Duration;

use saltus_base::Span;
use saltus_numerics::Judged;
use saltus_program::{Block, Cost, InstanceCosts, SimProgram, SlotId, Stopwatch};

use crate::record::EventCause;

/// What a run is doing; at each moment one of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// The initial system and the first event.
    Start,
    /// Steps of the integrator.
    Steps,
    /// The search for relations that change in a step.
    Search,
    /// Events, and the restarts of the integrator that follow.
    Events,
    /// Rows of results.
    Rows,
    Rest,
}

impl Activity {
    pub const ALL: [Activity; 6] =
        [Activity::Start, Activity::Steps, Activity::Search, Activity::Events, Activity::Rows, Activity::Rest];
}

/// How often something was done, how long that took, and how much of it the model was evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ActivityCost {
    pub cost: Cost,
    pub in_model: Duration,
}

/// Attempts at steps in which a state had the largest part of the error.
#[derive(Clone, PartialEq, Debug)]
pub struct StateCosts {
    pub name: String,
    pub accepted: u64,
    pub rejected: u64,
    pub time: Duration,
}

/// What made events happen.
#[derive(Clone, PartialEq, Debug)]
pub struct CauseCosts {
    pub text: Arc<str>,
    pub span: Span,
    /// The search for the event, its rounds, and the restart of the integrator.
    pub cost: Cost,
    pub first: f64,
    pub last: f64,
}

/// A condition of a `when`.
#[derive(Clone, PartialEq, Debug)]
pub struct ConditionCosts {
    pub text: String,
    pub span: Span,
    /// How often it became true.
    pub fired: u64,
}

#[derive(Clone, Default, Debug)]
pub struct RunCosts {
    pub activities: Vec<(Activity, ActivityCost)>,
    pub states: Vec<StateCosts>,
    /// Attempts at steps that were shorter than the error asked for: cut off by an event, the end or the longest step.
    pub cut_short: Cost,
    /// Attempts at steps at whose end the model could not be evaluated, or a loop had no solution.
    pub failed: Cost,
    pub causes: Vec<CauseCosts>,
    pub conditions: Vec<ConditionCosts>,
    /// One for each configuration.
    pub programs: Vec<(Arc<SimProgram>, InstanceCosts)>,
}

impl RunCosts {
    pub fn total(&self) -> Duration {
        self.activities.iter().map(|(_, activity)| activity.cost.time).sum()
    }
}

/// What is being measured.
pub(crate) struct Meter {
    pub stopwatch: Stopwatch,
    activity: Activity,
    /// When it began, and what had been spent in the model then.
    since: Duration,
    in_model: Duration,
    costs: RunCosts,
    pub steps: StepMeter,
    /// What the last search took, if it found something.
    searched: Duration,
    /// Causes of the present event.
    present: Vec<(Arc<str>, Span)>,
}

impl Meter {
    pub fn new(stopwatch: Stopwatch, program: &SimProgram) -> Meter {
        let activities = Activity::ALL.map(|activity| (activity, ActivityCost::default())).to_vec();
        Meter {
            since: stopwatch.now(),
            activity: Activity::Rest,
            in_model: Duration::ZERO,
            costs: RunCosts { activities, ..RunCosts::default() },
            steps: StepMeter::new(stopwatch.clone(), program),
            searched: Duration::ZERO,
            present: Vec::new(),
            stopwatch,
        }
    }

    /// Something else begins; what went on until now. `in_model` is what the model has taken so far.
    pub fn switch(&mut self, next: Activity, in_model: Duration, begins: bool) -> Activity {
        let now = self.stopwatch.now();
        let took = now.saturating_sub(self.since);
        if self.activity == Activity::Search {
            self.searched = took;
        }
        if let Some((_, spent)) = self.costs.activities.iter_mut().find(|(a, _)| *a == self.activity) {
            spent.cost.time += took;
            spent.in_model += in_model.saturating_sub(self.in_model).min(took);
        }
        if let Some((_, spent)) = self.costs.activities.iter_mut().find(|(a, _)| *a == next && begins) {
            spent.cost.count += 1;
        }
        (self.since, self.in_model) = (now, in_model);
        std::mem::replace(&mut self.activity, next)
    }

    /// An event has been recorded.
    pub fn note_causes(&mut self, causes: &[EventCause]) {
        for cause in causes {
            let (text, span): (Arc<str>, Span) = match cause {
                EventCause::Relation { text, span, .. }
                | EventCause::Timer { text, span, .. }
                | EventCause::Clock { text, span } => (text.clone(), *span),
                EventCause::Sample { start, interval, span } => (format!("sample({start}, {interval})").into(), *span),
                EventCause::State { variable, span, .. } => (format!("choice of states: {variable}").into(), *span),
                EventCause::Start | EventCause::Time => continue,
            };
            self.present.push((text, span));
        }
    }

    /// An event at `t` that began then is over.
    pub fn end_event(&mut self, t: f64, began: Duration) {
        let took = self.stopwatch.since(began) + std::mem::take(&mut self.searched);
        if self.present.is_empty() {
            self.present.push(("no relation changed".into(), Span::nowhere()));
        }
        let share = took.div_f64(self.present.len() as f64);
        for (text, span) in std::mem::take(&mut self.present) {
            let causes = &mut self.costs.causes;
            let known = causes.iter().position(|cause| cause.span == span && cause.text == text);
            let at = known.unwrap_or_else(|| {
                causes.push(CauseCosts { text, span, cost: Cost::default(), first: t, last: t });
                causes.len() - 1
            });
            causes[at].cost += Cost::once(share);
            causes[at].last = t;
        }
    }

    /// The program is left for another one, or for good.
    pub fn leave(&mut self, program: &Arc<SimProgram>, instance: InstanceCosts, fired: &[(SlotId, u64)]) {
        let costs = &mut self.costs;
        self.steps.add_to(costs, program);
        for &(slot, n) in fired {
            let name = program.memory.slot_name(slot);
            let Some(text) = name.strip_prefix("when ") else { continue };
            let stores = |block: &&Block| block.stores(slot);
            let span = program.sections.events.blocks.iter().find(stores).map_or(Span::nowhere(), Block::span);
            match costs.conditions.iter_mut().find(|c| c.span == span && c.text == text) {
                Some(condition) => condition.fired += n,
                None => costs.conditions.push(ConditionCosts { text: text.to_owned(), span, fired: n }),
            }
        }
        // What an instance has measured is the sum since it was made.
        match costs.programs.iter_mut().rev().find(|(known, _)| Arc::ptr_eq(known, program)) {
            Some((_, known)) if known.time() <= instance.time() => *known = instance,
            _ => costs.programs.push((program.clone(), instance)),
        }
    }

    /// Another program has been taken up, whose instance had taken so long before.
    pub fn enter(&mut self, program: &SimProgram, in_model: Duration) {
        self.steps = StepMeter::new(self.stopwatch.clone(), program);
        self.in_model = in_model;
    }

    pub fn into_costs(mut self) -> RunCosts {
        let rank = |time: Duration| std::cmp::Reverse(time);
        self.costs.states.sort_by_key(|state| rank(state.time));
        self.costs.causes.sort_by_key(|cause| rank(cause.cost.time));
        self.costs
    }
}

/// Which state keeps steps short.
pub(crate) struct StepMeter {
    stopwatch: Stopwatch,
    since: Duration,
    /// By state: accepted, rejected, time.
    states: Vec<(u64, u64, Duration)>,
    cut_short: Cost,
    failed: Cost,
}

impl StepMeter {
    fn new(stopwatch: Stopwatch, program: &SimProgram) -> StepMeter {
        let states = vec![(0, 0, Duration::ZERO); program.states.len()];
        StepMeter { since: Duration::ZERO, states, cut_short: Cost::default(), failed: Cost::default(), stopwatch }
    }

    /// A step begins.
    pub fn begin(&mut self) -> &mut Self {
        self.since = self.stopwatch.now();
        self
    }

    /// An attempt has been judged.
    pub fn judge(&mut self, judged: &Judged) {
        let now = self.stopwatch.now();
        let took = now.saturating_sub(self.since);
        self.since = now;
        if !judged.error.is_finite() {
            self.failed += Cost::once(took);
        } else if judged.is_cut_short && judged.error <= 1.0 {
            self.cut_short += Cost::once(took);
        } else {
            let largest = (0..self.states.len()).max_by(|&a, &b| (judged.part)(a).total_cmp(&(judged.part)(b)));
            let Some(state) = largest.and_then(|i| self.states.get_mut(i)) else { return };
            if judged.error <= 1.0 {
                state.0 += 1
            } else {
                state.1 += 1
            }
            state.2 += took;
        }
    }

    fn add_to(&mut self, costs: &mut RunCosts, program: &SimProgram) {
        costs.cut_short += std::mem::take(&mut self.cut_short);
        costs.failed += std::mem::take(&mut self.failed);
        for (i, state) in self.states.iter_mut().enumerate() {
            let (accepted, rejected, time) = std::mem::take(state);
            let Some(slot) = program.states.get(i).map(|s| s.value).filter(|_| accepted + rejected > 0) else {
                continue;
            };
            let name = program.memory.slot_name(slot);
            match costs.states.iter_mut().find(|s| s.name == name) {
                Some(known) => {
                    known.accepted += accepted;
                    known.rejected += rejected;
                    known.time += time;
                }
                None => costs.states.push(StateCosts { name: name.into_owned(), accepted, rejected, time }),
            }
        }
    }
}
