//! The residuals of equations at a point.
//!
//! In: a [`Node`] and the [`World`] at a point. Out: an [`Outcome`] for each equation that says something there. A relation whose
//! operands agree to within the bound may have either value: the equation holds if it holds for one of them.

use std::collections::BTreeSet;

use saltus_eval::{EvalError, EvalResult, Value};
use saltus_flat::VarId;

use crate::balance;
use crate::plan::{Algorithm, Condition, LeafId, Node};
use crate::term::Amount;
use crate::world::{SMALL, UNKNOWN, World};

/// What an equation came to at a point.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Outcome {
    pub leaf: LeafId,
    pub found: Result<Residual, Trouble>,
}

/// The largest residual of an equation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Residual {
    /// As a part of `size`.
    pub relative: f64,
    pub left: f64,
    pub right: f64,
    /// Sum of the absolute values of the terms.
    pub size: f64,
    /// Position in an array, from 1 in row-major order.
    pub element: Option<usize>,
    /// What differs where it is not a number.
    pub note: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Trouble {
    /// It needs something that the audit does not have.
    Missing(String),
    /// Its value at this point is not known.
    Unknown,
    /// It has no value at this point.
    Failed(String),
}

/// What became of a `reinit` or a condition, to be remembered if this is how the equation is meant.
#[derive(Default)]
pub(crate) struct Found {
    pub outcomes: Vec<Outcome>,
    pub conditions: Vec<(usize, bool)>,
    pub reinits: Vec<Reinit>,
}

pub(crate) struct Reinit {
    pub leaf: LeafId,
    pub of: VarId,
    pub state: std::sync::Arc<saltus_procedure::Expression>,
    pub value: Value,
}

/// Combinations of relations that are tried.
const MOST_COMBINATIONS: usize = 32;

/// The outcomes of an equation for the values of its relations that suit it best. What was found is remembered in the world.
pub(crate) fn audit(node: &Node, world: &mut World) -> Found {
    world.relations.flips.clear();
    let (mut best, mut worst, undecided) = attempt(node, world);
    let mut taken = std::mem::take(&mut world.relations.taken);
    if worst > world.bound && !undecided.is_empty() {
        let n = undecided.len().min(MOST_COMBINATIONS.ilog2() as usize);
        for mask in 1..1usize << n {
            world.relations.flips = (0..n).filter(|i| mask >> i & 1 == 1).map(|i| undecided[i]).collect();
            let (found, at_worst, _) = attempt(node, world);
            if at_worst <= world.bound && at_worst < worst {
                (best, worst) = (found, at_worst);
                taken = std::mem::take(&mut world.relations.taken);
            }
        }
        world.relations.flips.clear();
    }
    if worst == f64::INFINITY
        && world.rules.is_frozen
        && let Some(found) = on_thresholds(node, world)
    {
        best = found;
    }
    if !world.relations.missed.is_empty() {
        look_at_missed(node, &best, world);
    }
    if !world.rules.is_frozen {
        for (k, value) in taken {
            world.kept.held[k] = Some(value);
        }
        for (k, value) in &best.conditions {
            world.kept.was_true[*k] = Some(*value);
        }
    }
    best
}

/// An equation without a value, `if h > 0 then sqrt(h) else …` at h = -1e-20 before the event of `h > 0`: what it comes to where relations
/// that are beyond their thresholds by rounding are on them, if it holds there.
fn on_thresholds(node: &Node, world: &mut World) -> Option<Found> {
    world.relations.beyond = Some(Vec::new());
    attempt(node, world);
    let beyond = world.relations.beyond.take().filter(|beyond| !beyond.is_empty())?;
    let memory = world.memory.clone();
    world.move_onto_thresholds(&beyond);
    let (found, worst, _) = attempt(node, world);
    world.memory = memory;
    (worst <= world.bound).then_some(found)
}

/// Relations that changed without an event matter if the equation does not hold for their present values, or a condition changes.
/// Others are masked: of `b or x > 3` with a true `b`, the event of `x` is not looked for.
fn look_at_missed(node: &Node, held: &Found, world: &mut World) {
    let missed = std::mem::take(&mut world.relations.missed);
    world.relations.followed = missed.iter().map(|(k, _)| *k).collect();
    let (found, worst, _) = attempt(node, world);
    world.relations.followed.clear();
    world.relations.missed.clear();
    if worst > world.bound || found.conditions != held.conditions {
        world.relations.missed = missed;
    }
}

fn attempt(node: &Node, world: &mut World) -> (Found, f64, Vec<usize>) {
    world.relations.undecided.clear();
    world.relations.taken.clear();
    let mut found = Found::default();
    visit(node, world, &mut found);
    let of = |outcome: &Outcome| match &outcome.found {
        Ok(residual) => residual.relative,
        Err(Trouble::Missing(_) | Trouble::Unknown) => 0.0,
        Err(Trouble::Failed(_)) => f64::INFINITY,
    };
    let worst = found.outcomes.iter().map(of).fold(0.0, f64::max);
    (found, worst, std::mem::take(&mut world.relations.undecided))
}

fn visit(node: &Node, world: &mut World, found: &mut Found) {
    match node {
        Node::Equal { leaf, left, right } if world.jump.is_some() => {
            found.add(*leaf, balance::balance(left, right, world));
        }
        Node::Same { .. } | Node::Results { .. } | Node::When { .. } | Node::Reinit { .. } | Node::Algorithm(_)
            if world.jump.is_some() => {}
        Node::Equal { leaf, left, right } => {
            let residual = left.evaluate(world).and_then(|left| compare_amounts(&left, &right.evaluate(world)?));
            found.add(*leaf, residual);
        }
        Node::Same { leaf, left, right } => {
            let residual = world.evaluate(left).and_then(|left| Ok(compare(&left, &world.evaluate(right)?)));
            found.add(*leaf, residual);
        }
        Node::Results { leaf, targets, function, arguments, span } => {
            let arguments = arguments.iter().map(|a| world.evaluate(a)).collect::<EvalResult<Vec<_>>>();
            let results = arguments.and_then(|arguments| world.call(*function, arguments, *span));
            let residual = results.and_then(|results| {
                let mut worst = Residual::default();
                for (target, result) in targets.iter().zip(&results) {
                    if let Some(target) = target {
                        worst = worst.or(compare(&world.evaluate(target)?, result));
                    }
                }
                Ok(worst)
            });
            found.add(*leaf, residual);
        }
        Node::If { branches, otherwise } => {
            for (condition, body) in branches {
                match world.is_true(condition) {
                    Ok(true) => return body.iter().for_each(|node| visit(node, world, found)),
                    Ok(false) => {}
                    Err(error) => return body.iter().for_each(|node| found.fail(node, &error)),
                }
            }
            otherwise.iter().for_each(|node| visit(node, world, found));
        }
        Node::When { leaf, branches, kept } => visit_when(*leaf, branches, kept, world, found),
        Node::Reinit { leaf, state, of, value } => match world.evaluate(value) {
            Ok(value) => found.reinits.push(Reinit { leaf: *leaf, of: *of, state: state.clone(), value }),
            Err(error) => found.add(*leaf, Err(error)),
        },
        Node::Algorithm(algorithm) => visit_algorithm(algorithm, world, found),
    }
}

fn visit_when(
    leaf: LeafId,
    branches: &[(Vec<Condition>, Vec<Node>)],
    kept: &[(std::sync::Arc<saltus_procedure::Expression>, std::sync::Arc<saltus_procedure::Expression>)],
    world: &mut World,
    found: &mut Found,
) {
    if world.rules.is_frozen {
        if world.rules.sees_missed {
            let conditions = branches.iter().flat_map(|(conditions, _)| conditions);
            let known = conditions.filter_map(|c| Some((c.memory, world.is_true(&c.code).ok()?)));
            found.conditions.extend(known);
        }
        return;
    }
    let (mut active, mut is_known) = (None, true);
    for (i, (conditions, _)) in branches.iter().enumerate() {
        for condition in conditions {
            let now = match world.is_true(&condition.code) {
                Ok(now) => now,
                Err(error) => return found.add(leaf, Err(error)),
            };
            found.conditions.push((condition.memory, now));
            let was = world.kept.was_true.get(condition.memory).copied().flatten();
            is_known &= was.is_some() || world.rules.is_initial;
            let has_risen = if world.rules.is_initial { condition.is_initial } else { now && was == Some(false) };
            if has_risen && active.is_none() {
                active = Some(i);
            }
        }
    }
    match active {
        _ if !is_known => {}
        Some(i) => branches[i].1.iter().for_each(|node| visit(node, world, found)),
        None => {
            let mut worst = Ok(Residual::default());
            for (now, before) in kept {
                worst = worst.and_then(|worst: Residual| {
                    let mut residual = compare(&world.evaluate(now)?, &world.evaluate(before)?);
                    if residual.relative > 0.0 {
                        residual.note = Some("changes while no branch is active".to_owned());
                    }
                    Ok(worst.or(residual))
                });
            }
            found.add(leaf, worst);
        }
    }
}

fn visit_algorithm(algorithm: &Algorithm, world: &mut World, found: &mut Found) {
    let residual = run(algorithm, world, found);
    let unknown = |k: &usize| world.kept.was_true.get(*k).is_none_or(Option::is_none);
    let is_known = !world.rules.is_round || !algorithm.conditions.iter().any(unknown);
    if is_known || residual.is_err() {
        found.add(algorithm.leaf, residual);
    }
}

fn run(algorithm: &Algorithm, world: &mut World, found: &mut Found) -> EvalResult<Residual> {
    let before = algorithm.before.iter().map(|code| world.evaluate(code)).collect::<EvalResult<Vec<_>>>()?;
    let results = world.call(algorithm.function, before, algorithm.span)?;
    let mut worst = Residual::default();
    for ((id, elements), result) in algorithm.assigned.iter().zip(&algorithm.elements).zip(&results) {
        let value = world.value(*id, algorithm.span)?;
        let mut residual = match elements {
            None => compare(&value, result),
            Some(set) => compare_elements(&value, result, set),
        };
        if residual.relative > 0.0 {
            residual.note = world.model.variables.get(*id).map(|v| v.name.clone());
        }
        worst = worst.or(residual);
    }
    let conditions = results.iter().skip(algorithm.assigned.len()).filter_map(Value::as_boolean);
    found.conditions.extend(algorithm.conditions.iter().copied().zip(conditions));
    Ok(worst)
}

pub(crate) fn trouble(error: EvalError) -> Trouble {
    match error {
        EvalError::NotConstant { what, .. } if what == UNKNOWN => Trouble::Unknown,
        EvalError::NotConstant { what, .. } => Trouble::Missing(what),
        EvalError::Failed(diagnostic) => Trouble::Failed(diagnostic.message),
    }
}

impl Found {
    fn add(&mut self, leaf: LeafId, found: EvalResult<Residual>) {
        self.outcomes.push(Outcome { leaf, found: found.map_err(trouble) });
    }

    /// All equations of a node share the trouble of the condition they are under.
    fn fail(&mut self, node: &Node, error: &EvalError) {
        match node {
            Node::Equal { leaf, .. }
            | Node::Same { leaf, .. }
            | Node::Results { leaf, .. }
            | Node::Reinit { leaf, .. }
            | Node::When { leaf, .. }
            | Node::Algorithm(Algorithm { leaf, .. }) => self.add(*leaf, Err(error.clone())),
            Node::If { branches, otherwise } => {
                let inner = branches.iter().flat_map(|(_, body)| body).chain(otherwise);
                inner.for_each(|node| self.fail(node, error));
            }
        }
    }
}

impl Residual {
    /// The larger of two.
    pub(crate) fn or(self, other: Residual) -> Residual {
        if other.relative > self.relative { other } else { self }
    }

    pub(crate) fn of_numbers(left: f64, right: f64, size: f64) -> Residual {
        let apart = (left - right).abs();
        let relative = match apart {
            // Infinite on both sides is the same.
            _ if left == right => 0.0,
            _ if apart.is_nan() || size == 0.0 => f64::INFINITY,
            _ => apart / size,
        };
        Residual { relative, left, right, size, ..Residual::default() }
    }

    fn different(note: String) -> Residual {
        Residual { relative: 1.0, note: Some(note), ..Residual::default() }
    }
}

fn compare_amounts(left: &Amount, right: &Amount) -> EvalResult<Residual> {
    if left.dims != right.dims {
        return Ok(Residual::different(format!("the sizes {:?} and {:?} differ", left.dims, right.dims)));
    }
    let mut worst = Residual::default();
    for (i, (l, r)) in left.items.iter().zip(&right.items).enumerate() {
        let mut residual = Residual::of_numbers(l.0, r.0, l.1 + r.1 + SMALL);
        residual.element = (!left.dims.is_empty()).then_some(i + 1);
        worst = if i == 0 { residual } else { worst.or(residual) };
    }
    Ok(worst)
}

/// Numbers by the larger of the two, everything else must be the same.
pub(crate) fn compare(left: &Value, right: &Value) -> Residual {
    match (left, right) {
        (Value::Real(_), _) | (_, Value::Real(_)) => match (left.as_real(), right.as_real()) {
            (Some(l), Some(r)) => Residual::of_numbers(l, r, l.abs() + r.abs() + SMALL),
            _ => Residual::different("the types differ".to_owned()),
        },
        (Value::Record(_, left), Value::Record(_, right)) if left.len() == right.len() => {
            left.iter().zip(right.iter()).map(|(l, r)| compare(l, r)).fold(Residual::default(), Residual::or)
        }
        (Value::Array(l), Value::Array(r)) if l.dims() == r.dims() => {
            let parts = left.elements().into_iter().zip(right.elements()).enumerate();
            let one = |(i, (l, r)): (usize, (Value, Value))| Residual { element: Some(i + 1), ..compare(&l, &r) };
            parts.map(one).fold(Residual::default(), Residual::or)
        }
        _ if left == right => Residual::default(),
        _ => Residual::different(format!("{} and {}", shown(left), shown(right))),
    }
}

/// Only the elements at these positions.
fn compare_elements(left: &Value, right: &Value, set: &BTreeSet<u64>) -> Residual {
    let parts = left.elements().into_iter().zip(right.elements()).enumerate();
    let assigned = parts.filter(|(i, _)| set.contains(&(*i as u64)));
    let one = |(i, (l, r)): (usize, (Value, Value))| Residual { element: Some(i + 1), ..compare(&l, &r) };
    assigned.map(one).fold(Residual::default(), Residual::or)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Integer(i) => i.to_string(),
        Value::Boolean(b) => b.to_string(),
        Value::String(s) => format!("{s:?}"),
        Value::Enum(_, ordinal) => format!("literal {ordinal}"),
        Value::Array(a) => format!("an array of {:?}", a.dims()),
        _ => "something else".to_owned(),
    }
}
