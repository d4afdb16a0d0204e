//! What is done at each point of a study: a run, or a search that makes many.
//!
//! In: a [`Study`] and its compiled model. Out: [`Prepared`], in which all names are known to exist; then for each point what was
//! [`Tried`].

use std::path::PathBuf;
use std::sync::Arc;

use saltus_base::{Diagnostic, Span, nearest};
use saltus_program::{SimProgram, SlotKind};
use saltus_results::Kept;

use super::expression::{Event, Expr, Pattern, Relation, What, parse};
use super::phases::{PreparedChange, PreparedPhase, PreparedUntil, Ran};
use super::runs::{Failure, Runner, Wanted, Worker};
use super::watch::{Formula, Watch};
use super::{Aim, Goal, LinearizePlace, Study, Until, Value};
use crate::search::{End, NoValue, Unknown, bracket, least_squares, simplex};
use crate::{Model, diagnostics};

/// A study that fits its model.
pub struct Prepared {
    pub watch: Arc<Watch>,
    pub phases: Vec<PreparedPhase>,
    /// What is recorded of each run.
    pub record: Vec<Formula>,
    pub linearizations: Vec<LinearizePrepared>,
    pub task: Task,
    /// Variables that are needed in the rows.
    pub needed: Vec<String>,
}

#[derive(Clone, Default, Debug)]
pub struct LinearizePrepared {
    pub times: Vec<f64>,
    /// A counter of events, and which of them.
    pub event: Option<(usize, Option<u64>)>,
    pub file: Option<PathBuf>,
}

/// What is done at a point.
pub enum Task {
    Run,
    Search { unknowns: Vec<Unknown>, targets: Vec<Aimed>, most_runs: usize },
    Optimize { unknowns: Vec<Unknown>, objective: Objective, tolerance: f64, most_runs: usize },
}

/// A target with its formula.
pub struct Aimed {
    pub text: String,
    pub formula: Formula,
    pub value: f64,
    pub within: f64,
}

pub struct Objective {
    pub text: String,
    pub formula: Formula,
    pub is_largest: bool,
}

/// What came of a point.
#[derive(Debug, Default)]
pub struct Tried {
    /// Values of the unknowns that were found.
    pub found: Vec<f64>,
    pub ran: Ran,
    pub n_runs: usize,
    /// Of least squares: the root of the sum of squares of the differences; of an optimisation: its value.
    pub value: Option<f64>,
    /// Why it may not be the best.
    pub remark: Option<String>,
}

/// A point that a search has tried.
pub struct Trial<'a> {
    pub unknowns: &'a [f64],
    /// Of the targets, or of the objective alone.
    pub values: Result<&'a [f64], &'a Failure>,
}

impl Task {
    pub fn unknowns(&self) -> &[Unknown] {
        match self {
            Task::Run => &[],
            Task::Search { unknowns, .. } | Task::Optimize { unknowns, .. } => unknowns,
        }
    }
}

impl Prepared {
    /// Finds everything that the study names in the model; all that is wrong otherwise.
    pub fn new(study: &Study, model: &Model) -> Result<Prepared, Vec<Diagnostic>> {
        let mut preparing = Preparing { model, watch: Watch::default(), found: Vec::new() };
        let record = study.record.iter().map(|r| preparing.formula(&r.expression, r.span)).collect();
        let phases = study.phases.iter().map(|phase| preparing.phase(phase)).collect();
        let linearizations = study.linearizations.iter().map(|l| preparing.linearize(l)).collect();
        let task = study.goal.as_ref().map_or(Task::Run, |goal| preparing.task(goal));
        let Preparing { watch, found, .. } = preparing;
        if !found.is_empty() {
            return Err(found);
        }
        let needed = watch.names.clone();
        Ok(Prepared { watch: Arc::new(watch), phases, record, linearizations, task, needed })
    }

    /// Signals that a run records: those that are needed, and those that are written.
    pub fn kept(&self, written: Option<&[String]>) -> Kept {
        match written {
            Some([]) => Kept::default(),
            Some(patterns) => Kept::only(patterns, self.needed.iter().cloned()),
            None => Kept::only(&[], self.needed.iter().cloned()),
        }
    }

    /// Does what is to be done at a point. `values` are those of the varied parameters, which come first in the names of the runner.
    pub fn perform(
        &self,
        runner: &Runner,
        worker: &mut Worker,
        values: &[f64],
        wanted: Wanted,
    ) -> Result<Tried, Failure> {
        self.perform_and_tell(runner, worker, values, wanted, &mut |_| ())
    }

    /// The same; `tell` learns what a search tries.
    pub fn perform_and_tell(
        &self,
        runner: &Runner,
        worker: &mut Worker,
        values: &[f64],
        wanted: Wanted,
        tell: &mut dyn FnMut(Trial),
    ) -> Result<Tried, Failure> {
        let mut n_runs = 0;
        let mut run = |worker: &mut Worker, unknowns: &[f64], wanted: Wanted| {
            n_runs += 1;
            let all: Vec<f64> = values.iter().chain(unknowns).copied().collect();
            runner.run(worker, &all, wanted)
        };
        let mut tried = match &self.task {
            Task::Run => Tried::default(),
            Task::Search { unknowns, targets, most_runs } => {
                let evaluate = &mut |x: &[f64]| {
                    let ran = run(worker, x, Wanted::default());
                    let reached = ran.and_then(|ran| {
                        let value = |target: &Aimed| value_of(&ran, &target.formula, &target.text);
                        targets.iter().map(value).collect::<Result<Vec<f64>, Failure>>()
                    });
                    tell(Trial { unknowns: x, values: reached.as_deref() });
                    reached
                };
                search(unknowns, targets, *most_runs, evaluate)?
            }
            Task::Optimize { unknowns, objective, tolerance, most_runs } => {
                let sign = if objective.is_largest { -1.0 } else { 1.0 };
                let evaluate = &mut |x: &[f64]| {
                    let ran = run(worker, x, Wanted::default());
                    let reached = ran.and_then(|ran| value_of(&ran, &objective.formula, &objective.text));
                    tell(Trial { unknowns: x, values: reached.as_ref().map(std::slice::from_ref) });
                    reached.map(|value| sign * value).map_err(no_value)
                };
                let found = simplex::minimise(unknowns, *tolerance, *most_runs, evaluate).map_err(failure)?;
                Tried {
                    value: Some(sign * found.value),
                    remark: remark(found.end, *most_runs)?,
                    found: found.parameters,
                    ..Tried::default()
                }
            }
        };
        let found = tried.found.clone();
        tried.ran = run(worker, &found, wanted)?;
        tried.n_runs = n_runs;
        tried.ran.values = tried.ran.observer.as_ref().map_or_else(Vec::new, |observer| observer.values(&self.record));
        Ok(tried)
    }
}

fn no_value(failure: Failure) -> NoValue {
    if failure.is_interrupted() { NoValue::Stopped } else { NoValue::Failed(failure.to_string()) }
}

fn failure(no_value: NoValue) -> Failure {
    match no_value {
        NoValue::Failed(why) => Failure::Other(why),
        NoValue::Stopped => Failure::Other("interrupted".to_owned()),
    }
}

fn remark(end: End, most_runs: usize) -> Result<Option<String>, Failure> {
    match end {
        End::Converged => Ok(None),
        End::MostRuns => Ok(Some(format!("stopped after {most_runs} runs"))),
        End::Stopped => Err(Failure::Other("interrupted".to_owned())),
    }
}

fn value_of(ran: &Ran, formula: &Formula, text: &str) -> Result<f64, Failure> {
    let value = ran.observer.as_ref().map(|o| o.values(std::slice::from_ref(formula)));
    match value.as_deref() {
        Some([value]) if value.is_finite() => Ok(*value),
        _ => Err(Failure::Other(format!("`{text}` has no value"))),
    }
}

type Evaluate<'a> = &'a mut dyn FnMut(&[f64]) -> Result<Vec<f64>, Failure>;

/// Between two bounds one parameter is found for certain; several are found from their start values.
fn search(unknowns: &[Unknown], targets: &[Aimed], most_runs: usize, evaluate: Evaluate) -> Result<Tried, Failure> {
    if let ([unknown], [target]) = (unknowns, targets)
        && (unknown.max - unknown.min).is_finite()
    {
        let mut interrupted = None;
        let found = bracket::find([unknown.min, unknown.max], target.value, target.within, &mut |x| {
            let values = evaluate(&[x]).map_err(|failure| {
                let why = failure.to_string();
                interrupted = failure.is_interrupted().then_some(failure);
                why
            })?;
            Ok(values.first().copied().unwrap_or(f64::NAN))
        });
        if let Some(failure) = interrupted {
            return Err(failure);
        }
        let found = found.map_err(|why| {
            Failure::Said(Box::new(diagnostics::search_failed(&unknown.name, &target.text, target.value, &why)))
        })?;
        return Ok(Tried { found: vec![found.parameter], ..Tried::default() });
    }
    let residuals = &mut |x: &[f64]| {
        let values = evaluate(x).map_err(no_value)?;
        Ok(values.iter().zip(targets).map(|(value, target)| (value - target.value) / target.within).collect())
    };
    let found = least_squares::solve(unknowns, most_runs, residuals).map_err(failure)?;
    let values = evaluate(&found.parameters)?;
    let is_met = values.iter().zip(targets).all(|(value, target)| (value - target.value).abs() <= target.within);
    let remark = remark(found.end, most_runs)?;
    if !is_met && unknowns.len() == targets.len() {
        let nearest: Vec<String> =
            values.iter().zip(targets).map(|(value, target)| format!("{} = {value}", target.text)).collect();
        let at: Vec<String> =
            unknowns.iter().zip(&found.parameters).map(|(unknown, x)| format!("{} = {x}", unknown.name)).collect();
        let stopped = remark.map_or_else(String::new, |why| format!(" ({why})"));
        let why = format!(
            "no values meet the targets; the nearest found{stopped}: {} with {}",
            nearest.join(", "),
            at.join(", ")
        );
        return Err(Failure::Other(why));
    }
    let squares: f64 = values.iter().zip(targets).map(|(value, target)| (value - target.value).powi(2)).sum();
    let value = (targets.len() > unknowns.len()).then(|| squares.sqrt());
    Ok(Tried { found: found.parameters, value, remark: remark.filter(|_| !is_met), ..Tried::default() })
}

/// Finds names.
struct Preparing<'a> {
    model: &'a Model,
    watch: Watch,
    found: Vec<Diagnostic>,
}

impl Preparing<'_> {
    fn formula(&mut self, e: &Expr, span: Span) -> Formula {
        self.check(e, span);
        self.watch.add(e)
    }

    fn check(&mut self, e: &Expr, span: Span) {
        match e {
            Expr::Number(_) => {}
            Expr::Name(name) => self.name(name, span),
            Expr::Unary(_, e) | Expr::Over(_, e) => self.check(e, span),
            Expr::At(e, t) => {
                self.check(e, span);
                if !t.is_finite() {
                    self.found.push(diagnostics::bad_study(span, "expected a finite time", ""));
                }
            }
            Expr::Binary(_, a, b) => [a, b].into_iter().for_each(|e| self.check(e, span)),
            Expr::Call(_, arguments) => arguments.iter().for_each(|e| self.check(e, span)),
            Expr::Count(pattern) => self.pattern(pattern, span),
            Expr::Event { event, what } => {
                self.pattern(&event.pattern, span);
                if let What::After(e) | What::Before(e) = what {
                    self.check(e, span);
                }
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) {
        if name == "time" {
            return;
        }
        if let Err(unknown) = self.model.variable(name) {
            let d = diagnostics::unknown_in_study(span, "variable", name, unknown.similar.as_deref());
            self.found.push(d);
        }
    }

    /// An event that the model can have.
    fn pattern(&mut self, pattern: &Pattern, span: Span) {
        match pattern {
            Pattern::Variable { name, .. } | Pattern::Change(name) => self.name(name, span),
            Pattern::Transition { from, to } => {
                let states = states(self.model.program());
                for name in [from, to] {
                    if !states.contains(name) {
                        let similar = nearest(name, states.iter().map(String::as_str));
                        self.found.push(diagnostics::unknown_in_study(span, "state of a machine", name, similar));
                    }
                }
            }
            Pattern::Relation(wanted) => {
                let n_before = self.found.len();
                [&wanted.left, &wanted.right].into_iter().for_each(|e| self.check(e, span));
                let is_known = self.relations().iter().any(|(_, known)| known.iter().any(|k| k == wanted));
                // Other configurations may have other relations.
                let is_all_known = self.model.program().configuration.is_none();
                if !is_known && is_all_known && n_before == self.found.len() {
                    let texts: Vec<String> = self.relations().into_iter().map(|(text, _)| text).collect();
                    let hint = match texts.is_empty() {
                        true => "it has no relations that cause events".to_owned(),
                        false => format!("its relations are `{}`", texts.join("`, `")),
                    };
                    let message = format!("the model has no relation `{pattern}` that causes an event");
                    self.found.push(diagnostics::bad_study(span, &message, &hint));
                }
            }
        }
    }

    /// Relations of the model with both ways in which they can change.
    fn relations(&self) -> Vec<(String, Vec<Relation>)> {
        let events = &self.model.program().events;
        let texts = events.relations.values().map(|r| &r.text).chain(events.time_events.iter().map(|t| &t.text));
        let of = |text: &String| {
            let e = parse(text).ok()?;
            Some((text.clone(), [true, false].into_iter().filter_map(|value| Relation::of(&e, value)).collect()))
        };
        texts.filter_map(of).collect()
    }

    fn counter(&mut self, event: &Event, span: Span) -> usize {
        self.pattern(&event.pattern, span);
        self.watch.count(&event.pattern)
    }

    fn phase(&mut self, phase: &super::Phase) -> PreparedPhase {
        let until = match &phase.until {
            Until::Stop => PreparedUntil::Stop,
            Until::Time(time) => PreparedUntil::Time(*time),
            Until::Duration(seconds) => PreparedUntil::Duration(*seconds),
            Until::Event(event) => {
                if event.number < 1 {
                    let d =
                        diagnostics::bad_study(phase.span, "a phase cannot wait for the last event", "count from 1");
                    self.found.push(d);
                }
                let number = u64::try_from(event.number).unwrap_or(1);
                let text = format!("event({})", event.pattern);
                PreparedUntil::Event { counter: self.counter(event, phase.span), number, text }
            }
            Until::Condition(e) => {
                if has_history(e) {
                    let why = "expected a condition of present values";
                    self.found.push(diagnostics::bad_study(
                        phase.span,
                        why,
                        "`until = \"event(…)\"` waits for an event",
                    ));
                }
                PreparedUntil::Condition { formula: self.formula(e, phase.span), text: e.to_string() }
            }
        };
        let values = phase.values.iter().map(|change| self.change(change)).collect();
        let (name, settings) = (phase.name.clone(), phase.settings.clone());
        PreparedPhase { name, until, stop_time: phase.stop_time, settings, values }
    }

    fn change(&mut self, change: &super::Change) -> PreparedChange {
        let n_before = self.found.len();
        self.name(&change.name, change.span);
        if n_before == self.found.len() && !self.is_changeable(&change.name) {
            let why = format!(
                "`{}` cannot be changed by a phase: it is neither a parameter that is not structural nor an input nor a state",
                change.name
            );
            self.found.push(diagnostics::bad_study(change.span, &why, ""));
        }
        let formula = match &change.value {
            Value::Text(text, e) if self.model.parse_value(&change.name, text).is_err() => match e {
                Some(e) if !has_history(e) => Some(self.formula(e, change.span)),
                _ => {
                    let why = format!(
                        "expected a value of `{}` or an expression of present values, found `{text}`",
                        change.name
                    );
                    self.found.push(diagnostics::bad_study(change.span, &why, ""));
                    None
                }
            },
            _ => None,
        };
        PreparedChange { name: change.name.clone(), value: change.value.clone(), formula }
    }

    fn is_changeable(&self, name: &str) -> bool {
        let slot = self.model.variable(name).ok().map(|v| v.slot);
        let kind = slot.and_then(|slot| self.model.program().memory.slots.get(slot)).map(|s| s.kind);
        self.model.changeable(name).is_ok() || kind == Some(SlotKind::State)
    }

    fn linearize(&mut self, wanted: &super::LinearizeAt) -> LinearizePrepared {
        let file = wanted.file.clone();
        match &wanted.place {
            LinearizePlace::Times(times) => LinearizePrepared { times: times.clone(), event: None, file },
            LinearizePlace::Event(event) => {
                if event.number < 0 {
                    let why = "a linear model cannot be made at the last event: it is known afterwards only";
                    self.found.push(diagnostics::bad_study(wanted.span, why, "count from 1"));
                }
                let number = u64::try_from(event.number).ok().filter(|n| *n > 1);
                LinearizePrepared { times: Vec::new(), event: Some((self.counter(event, wanted.span), number)), file }
            }
        }
    }

    fn task(&mut self, goal: &Goal) -> Task {
        let (unknowns, tolerance, most_runs) = (goal.unknowns.clone(), goal.tolerance, goal.most_runs);
        match &goal.aim {
            Aim::Targets(targets) => {
                let aimed = targets.iter().map(|target| Aimed {
                    text: target.text.clone(),
                    formula: self.formula(&target.expression, target.span),
                    value: target.value,
                    within: target.within,
                });
                Task::Search { unknowns, targets: aimed.collect(), most_runs }
            }
            Aim::Smallest { objective, text, is_largest, span } => {
                let formula = self.formula(objective, *span);
                let objective = Objective { text: text.clone(), formula, is_largest: *is_largest };
                Task::Optimize { unknowns, objective, tolerance, most_runs }
            }
        }
    }
}

/// Does an expression need more than present values?
fn has_history(e: &Expr) -> bool {
    match e {
        Expr::Number(_) | Expr::Name(_) => false,
        Expr::Unary(_, e) => has_history(e),
        Expr::Binary(_, a, b) => has_history(a) || has_history(b),
        Expr::Call(_, arguments) => arguments.iter().any(has_history),
        Expr::Over(..) | Expr::At(..) | Expr::Event { .. } | Expr::Count(_) => true,
    }
}

/// Names of the states of all machines.
fn states(program: &SimProgram) -> Vec<String> {
    let Some(configuration) = &program.configuration else { return Vec::new() };
    let text = |r: &saltus_program::Region| configuration.switches[r.switch].text.clone();
    let name = |text: String| text.strip_prefix("activeState(").and_then(|t| t.strip_suffix(')')).map(str::to_owned);
    configuration.regions.iter().map(text).filter_map(name).collect()
}
