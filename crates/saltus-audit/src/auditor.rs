//! The audit of a run: points come in the order of time, a [`Report`] comes out.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_base::{Index as _, Span};
use saltus_eval::Outside;
use saltus_flat::FlatModel;
use saltus_program::{Moment, SimProgram};

use crate::balance::Jump;
use crate::places::{Layout, Places};
use crate::plan::{self, LeafId, Node, Plan};
use crate::report::{Finding, Group, Report, Side};
use crate::residuals::{self, Outcome, Reinit, Residual, Trouble};
use crate::world::{Kept, Rules, World};

/// How strict and how thorough the audit is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// A residual above this part of the terms of its equation is a finding.
    pub bound: f64,
    /// Every so many output points one is audited.
    pub stride: u64,
    /// So many events are audited one after the other, then as many after twice that number, and so on; all if there is no limit.
    pub burst: Option<u64>,
}

impl Default for Options {
    /// Loops are solved to 1e-10 of their variables or better, and rounding adds little to that; a contradiction has the size of the
    /// terms. Between the two lies the square root of both.
    fn default() -> Options {
        Options { bound: 1e-6, stride: 1, burst: None }
    }
}

pub struct Auditor {
    plan: Plan,
    world: World,
    options: Options,
    states: Vec<LeafState>,
    /// By equation: are some of its relations taken literally?
    literal: Vec<bool>,
    /// Values at the left limit of the present event.
    before: Vec<f64>,
    round: u32,
    reinits: Vec<Reinit>,
    /// Of the present event round.
    round_outcomes: Vec<Outcome>,
    /// What was known before the present event, in case it is abandoned.
    saved: Option<Kept>,
    counts: Counts,
    /// Relations that changed without an event: by which part of their operands, when.
    missed: BTreeMap<usize, (f64, f64)>,
    /// The present event is not audited.
    is_skipping: bool,
    /// Slots that hold minus another one; in rounds they are not written yet.
    negatives: Vec<(usize, usize)>,
}

#[derive(Default)]
struct Counts {
    /// All of them, and those that were audited.
    points: (u64, u64),
    events: (u64, u64),
    sliding: u64,
    entries: u64,
}

/// What is known of an equation so far.
#[derive(Clone, Default)]
struct LeafState {
    is_audited: bool,
    worst: Option<(Residual, f64, Side)>,
    missing: Option<String>,
    failed: Option<(String, f64, Side)>,
}

impl Auditor {
    pub fn new(model: Arc<FlatModel>, program: &SimProgram, layout: &Layout, options: Options) -> Auditor {
        let places = Places::of(&model, program, &layout.derivatives);
        let negatives = layout.negatives.iter().map(|(slot, of)| (slot.index(), of.index())).collect();
        let mut plan = plan::plan(&model, &places);
        let mut world = World::new(model, places, plan.specials.clone(), options.bound);
        for (id, procedure) in std::mem::take(&mut plan.procedures) {
            world.add_procedure(id, procedure);
        }
        Auditor {
            states: vec![LeafState::default(); plan.leaves.len()],
            literal: plan.leaves.iter().map(|leaf| leaf.is_literal).collect(),
            plan,
            world,
            options,
            before: Vec::new(),
            round: 0,
            reinits: Vec::new(),
            round_outcomes: Vec::new(),
            saved: None,
            counts: Counts::default(),
            missed: BTreeMap::new(),
            is_skipping: false,
            negatives,
        }
    }

    /// Lets external objects of the model read their files.
    pub fn set_outside(&mut self, outside: Box<dyn Outside>) {
        self.world.set_outside(outside);
    }

    /// The next point of the run.
    pub fn see(&mut self, moment: Moment, memory: &[f64]) {
        if !self.takes(moment) {
            return;
        }
        self.world.memory.clear();
        self.world.memory.extend_from_slice(memory);
        let is_first = moment == Moment::Before && self.counts.events.0 == 1;
        if is_first || matches!(moment, Moment::Initial | Moment::RoundBegins | Moment::Round) {
            write_negatives(&self.negatives, &mut self.world.memory);
        }
        let memory = &self.world.memory.clone();
        match moment {
            Moment::Initial => {
                self.set_pre(memory);
                self.set_initial_pre();
                self.run(Rules { is_initial: true, ..Rules::default() }, Side::Start);
            }
            Moment::Between => {
                self.set_pre(memory);
                self.run(Rules { is_frozen: true, sees_missed: true, ..Rules::default() }, Side::Between);
            }
            Moment::Before => self.begin_event(memory),
            Moment::RoundBegins => {
                self.round += 1;
                self.round_outcomes.clear();
                if self.round == 1 {
                    self.world.pre.clone_from(&self.before);
                } else {
                    self.set_pre(memory);
                }
                self.check_reinits();
            }
            Moment::Round => {
                let rules = Rules { is_round: true, is_first_round: self.round == 1, ..Rules::default() };
                self.run(rules, Side::During);
            }
            Moment::After => {
                self.check_reinits();
                for outcome in std::mem::take(&mut self.round_outcomes) {
                    self.record(outcome.leaf, outcome.found, Side::During);
                }
                self.saved = None;
                self.set_pre(memory);
                self.run(Rules { is_frozen: true, ..Rules::default() }, Side::After);
            }
            Moment::Sliding => {
                self.counts.sliding += 1;
                self.forget();
            }
        }
    }

    /// A configuration was entered: values before and after what jumped, and the impulses of what was infinite in between. Equations are
    /// integrated over the jump.
    pub fn jumped(&mut self, before: &[f64], after: &[f64], impulses: &[(usize, f64)]) {
        if self.is_skipping {
            return;
        }
        self.counts.entries += 1;
        let mut after = after.to_vec();
        write_negatives(&self.negatives, &mut after);
        self.world.jump = Some(Jump::new(before.to_vec(), after, impulses.to_vec()));
        self.world.set_scale(0.0);
        self.run(Rules { is_frozen: true, ..Rules::default() }, Side::Jump);
        self.world.jump = None;
    }

    /// Is this point one of those that are audited? Of an event all or nothing is.
    fn takes(&mut self, moment: Moment) -> bool {
        match moment {
            Moment::Between => {
                let is_taken = self.counts.points.0.is_multiple_of(self.options.stride.max(1));
                self.counts.points.0 += 1;
                self.counts.points.1 += u64::from(is_taken);
                is_taken
            }
            Moment::Before => {
                let block = self.options.burst.map_or(0, |burst| self.counts.events.0 / burst.max(1));
                let is_taken = block == 0 || block.is_power_of_two();
                self.counts.events.0 += 1;
                self.counts.events.1 += u64::from(is_taken);
                if !is_taken && !std::mem::replace(&mut self.is_skipping, true) {
                    self.forget();
                }
                self.is_skipping = !is_taken;
                is_taken
            }
            Moment::RoundBegins | Moment::Round | Moment::After => !self.is_skipping,
            Moment::Initial | Moment::Sliding => true,
        }
    }

    fn set_pre(&mut self, memory: &[f64]) {
        self.world.pre.clear();
        self.world.pre.extend_from_slice(memory);
    }

    /// Initially there are only the `pre` values that declarations give.
    fn set_initial_pre(&mut self) {
        self.world.rules = Rules { is_initial: true, ..Rules::default() };
        for (id, code) in &self.plan.given {
            if let Ok(value) = self.world.evaluate(code) {
                self.world.set_pre(*id, &value);
                self.world.given.insert(*id);
            }
        }
    }

    fn begin_event(&mut self, memory: &[f64]) {
        // An event that was abandoned has not happened.
        if let Some(kept) = self.saved.take() {
            self.world.kept = kept;
        }
        self.reinits.clear();
        self.round_outcomes.clear();
        self.round = 0;
        self.world.event += 1;
        self.before.clear();
        self.before.extend_from_slice(memory);
        self.set_pre(memory);
        // After the initial system `pre` values are new: what follows from them comes in the first event.
        if self.counts.events.0 > 1 {
            self.run(Rules { is_frozen: true, is_left: true, ..Rules::default() }, Side::Before);
        }
        self.saved = Some(self.world.kept.clone());
    }

    /// What relations and conditions were before is not known any more.
    fn forget(&mut self) {
        self.world.kept.forget();
        self.saved = None;
    }

    fn run(&mut self, rules: Rules, side: Side) {
        self.world.rules = rules;
        if !rules.is_frozen {
            // A relation that is not evaluated now, behind a true `or`, is not known until the next event.
            self.world.kept.held.fill(None);
        }
        let plan = std::mem::replace(&mut self.plan, Plan::empty());
        if rules.is_initial {
            plan.initially.iter().for_each(|node| self.audit(node, side));
        }
        plan.always.iter().for_each(|node| self.audit(node, side));
        self.plan = plan;
    }

    fn audit(&mut self, node: &Node, side: Side) {
        if let Some(leaf) = node.single_leaf()
            && self.states[leaf].missing.is_some()
        {
            return;
        }
        let found = residuals::audit(node, &mut self.world);
        let t = self.world.time();
        for (k, part) in std::mem::take(&mut self.world.relations.missed) {
            let known = self.missed.entry(k).or_insert((part, t));
            if part > known.0 {
                *known = (part, t);
            }
        }
        self.reinits.extend(found.reinits);
        // A law with hysteresis may wait for another round: only the last one must agree with everything but `when`.
        let is_last_word = !self.world.rules.is_round || matches!(node, Node::When { .. } | Node::Algorithm(_));
        if is_last_word {
            found.outcomes.into_iter().for_each(|outcome| self.record(outcome.leaf, outcome.found, side));
        } else {
            self.round_outcomes.extend(found.outcomes);
        }
    }

    fn record(&mut self, leaf: LeafId, found: Result<Residual, Trouble>, side: Side) {
        if side == Side::Before && self.literal[leaf] {
            return;
        }
        let t = self.world.time();
        let state = &mut self.states[leaf];
        match found {
            Ok(residual) => {
                state.is_audited = true;
                if state.worst.as_ref().is_none_or(|(worst, ..)| residual.relative > worst.relative) {
                    state.worst = Some((residual, t, side));
                }
            }
            Err(Trouble::Unknown) => {}
            Err(Trouble::Missing(what)) => state.missing = Some(what),
            Err(Trouble::Failed(why)) => {
                state.failed.get_or_insert((why, t, side));
            }
        }
    }

    /// A `reinit` has set its state; the last one of a variable counts.
    fn check_reinits(&mut self) {
        let reinits = std::mem::take(&mut self.reinits);
        for (i, reinit) in reinits.iter().enumerate() {
            if reinits[i + 1..].iter().any(|later| later.of == reinit.of) {
                continue;
            }
            let now = self.world.evaluate(&reinit.state);
            let found = now.map(|now| residuals::compare(&now, &reinit.value)).map_err(residuals::trouble);
            self.record(reinit.leaf, found, Side::During);
        }
    }

    /// What was found so far.
    pub fn report(&self) -> Report {
        let mut report = Report {
            bound: self.options.bound,
            n_equations: self.states.len(),
            points: self.counts.points.1,
            events: self.counts.events.1,
            skipped: (self.counts.points.0 - self.counts.points.1, self.counts.events.0 - self.counts.events.1),
            sliding: self.counts.sliding,
            entries: self.counts.entries,
            ..Report::default()
        };
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for (leaf, state) in self.plan.leaves.iter().zip(&self.states) {
            let finding = |residual: Residual, time: f64, side: Side| Finding {
                span: leaf.span,
                component: leaf.component.clone(),
                is_parameter: leaf.is_parameter,
                time,
                side,
                residual,
            };
            if let Some((why, time, side)) = &state.failed {
                let residual = Residual { relative: f64::INFINITY, note: Some(why.clone()), ..Residual::default() };
                report.findings.push(finding(residual, *time, *side));
            }
            match (&leaf.reason, &state.missing, state.is_audited) {
                (Some(reason), ..) | (None, Some(reason), _) => {
                    let group = groups.entry(reason.clone()).or_default();
                    group.reason.clone_from(reason);
                    group.n += 1;
                    group.first.get_or_insert((leaf.span, leaf.component.clone()));
                }
                (None, None, true) => report.n_audited += 1,
                (None, None, false) => report.n_idle += 1,
            }
            report.findings.extend(state.worst.clone().map(|(residual, t, side)| finding(residual, t, side)));
        }
        report.findings.extend(self.missed.iter().map(|(k, (part, time))| self.missed_event(*k, *part, *time)));
        report.not_audited = groups.into_values().collect();
        report.sort();
        report
    }

    fn missed_event(&self, k: usize, part: f64, time: f64) -> Finding {
        let span = self.plan.specials.held.get(k).map_or(Span::nowhere(), |held| held.span);
        let note = Some("changes its value without an event".to_owned());
        Finding {
            span,
            component: "".into(),
            is_parameter: false,
            time,
            side: Side::Between,
            residual: Residual { relative: part, note, ..Residual::default() },
        }
    }
}

/// Writes what holds minus another slot.
fn write_negatives(negatives: &[(usize, usize)], memory: &mut [f64]) {
    for &(slot, of) in negatives {
        let value = memory.get(of).copied().unwrap_or(f64::NAN);
        if let Some(place) = memory.get_mut(slot) {
            *place = -value;
        }
    }
}
