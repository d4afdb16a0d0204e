//! The point of the simulation that is audited, as the evaluator sees it.
//!
//! In: the memory of the program, and which of its slots belong to which variable of the flat model: nothing else of the program is
//! used. Out: values of variables, derivatives, `pre` values, and of relations as the last event left them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use saltus_base::{Index as _, Span};
use saltus_eval::{Environment, EvalError, EvalResult, Evaluator, FileKind, Items, Limits, Outside, Value};
use saltus_flat::{
    BaseType, BinaryOp, EnumId, EnumType, FlatModel, FunctionId, RecordId, RecordType, VarId, Variability,
};
use saltus_procedure::{Expression, Procedure, lower_expression};

use crate::balance::Jump;
use crate::diagnostics;
use crate::places::{Place, Places};
use crate::rewrite::{Held, HeldKind, Special, Specials};
use crate::term::Term;

/// Part of its nominal value below which a variable counts as zero, in the size of a term. Times the usual bound that is the 1e-10
/// to which loops are solved: pressures, currents and forces that vanish are left with 1e-12 to 1e-11 of their nominal values.
pub(crate) const SMALL: f64 = 1e-4;

/// Part of its nominal value to which a variable is known where it jumps: times the usual bound, rounding.
const LEAST_JUMP: f64 = 1e-8;

/// A relation may pass its threshold by this part of its operands before there is an event: where equations leave open how stuck
/// elements share a load, the simulation lets it be exceeded by half of that.
const MISSED: f64 = 2e-3;

/// What is missing where a value was there before the audit began; not for users.
pub(crate) const UNKNOWN: &str = "a value before the audit began";

/// A tick is at an event that comes later by less than this part: events that practically coincide are one.
const SAME_TIME: f64 = 1e-10;

/// What holds at a point.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Rules {
    /// Relations keep the values of the last event.
    pub is_frozen: bool,
    /// A relation that has another value now is an event that was missed.
    pub sees_missed: bool,
    /// The left limit at an event: relations may already be beyond their thresholds.
    pub is_left: bool,
    /// In an event round conditions become true.
    pub is_round: bool,
    /// Samples tick.
    pub is_first_round: bool,
    pub is_initial: bool,
}

/// What events leave behind, as far as that is known.
#[derive(Clone)]
pub(crate) struct Kept {
    /// Values of relations.
    pub held: Vec<Option<Value>>,
    /// Conditions of `when`.
    pub was_true: Vec<Option<bool>>,
}

impl Kept {
    pub fn forget(&mut self) {
        self.held.fill(None);
        self.was_true.fill(None);
    }
}

/// The relations of the equation that is audited, by number.
#[derive(Default)]
pub(crate) struct Relations {
    /// Those that are to have their other value, where both will do.
    pub flips: Vec<usize>,
    /// Those where both values will do.
    pub undecided: Vec<usize>,
    /// Those that were evaluated, with what they came to.
    pub taken: Vec<(usize, Value)>,
    /// Those that have the value of this moment, although it is not an event.
    pub followed: Vec<usize>,
    /// Those that have changed without an event, and by which part of their operands.
    pub missed: Vec<(usize, f64)>,
    /// Those that keep values which the numbers contradict by rounding only, if they are looked for.
    pub beyond: Option<Vec<usize>>,
}

pub(crate) struct World {
    pub model: Arc<FlatModel>,
    places: Places,
    specials: Arc<Specials>,
    pub memory: Vec<f64>,
    pub pre: Vec<f64>,
    pub rules: Rules,
    /// Operands of a relation that differ by less than this part of their sizes may be in either order.
    pub bound: f64,
    pub kept: Kept,
    pub relations: Relations,
    /// Discrete variables whose `pre` values the declaration gives.
    pub given: BTreeSet<VarId>,
    /// Values of what is not in memory: texts and external objects.
    constants: HashMap<VarId, Value>,
    /// Events so far, and of each sample its last tick with the event of that.
    pub event: u64,
    ticks: Vec<(f64, u64)>,
    procedures: HashMap<FunctionId, Arc<Procedure>>,
    records: Vec<Arc<RecordType>>,
    enumerations: Vec<Arc<EnumType>>,
    outside: Option<Box<dyn Outside>>,
    /// The jump over which equations are integrated.
    pub jump: Option<Jump>,
}

impl World {
    pub fn new(model: Arc<FlatModel>, places: Places, specials: Arc<Specials>, bound: f64) -> World {
        World {
            places,
            memory: Vec::new(),
            pre: Vec::new(),
            rules: Rules::default(),
            bound,
            kept: Kept { held: vec![None; specials.held.len()], was_true: vec![None; specials.n_conditions] },
            relations: Relations::default(),
            given: BTreeSet::new(),
            constants: HashMap::new(),
            event: 0,
            ticks: vec![(-1.0, 0); specials.samples.len()],
            procedures: HashMap::new(),
            records: model.records.values().cloned().map(Arc::new).collect(),
            enumerations: model.enumerations.values().cloned().map(Arc::new).collect(),
            outside: None,
            jump: None,
            specials,
            model,
        }
    }

    pub fn set_outside(&mut self, outside: Box<dyn Outside>) {
        self.outside = Some(outside);
    }

    /// Makes a procedure known that the model does not have.
    pub fn add_procedure(&mut self, id: FunctionId, procedure: Procedure) {
        self.procedures.insert(id, Arc::new(procedure));
    }

    pub fn time(&self) -> f64 {
        self.memory.get(self.places.time).copied().unwrap_or(f64::NAN)
    }

    pub fn evaluate(&mut self, code: &Expression) -> EvalResult {
        Evaluator::new(self, Limits::default()).evaluate_lowered(code)
    }

    pub fn call(&mut self, function: FunctionId, arguments: Vec<Value>, span: Span) -> EvalResult<Vec<Value>> {
        Evaluator::new(self, Limits::default()).call(function, arguments, span)
    }

    pub fn is_true(&mut self, code: &Expression) -> EvalResult<bool> {
        let value = self.evaluate(code)?;
        value.as_boolean().ok_or_else(|| EvalError::not_constant(Span::nowhere(), "a condition that is not a Boolean"))
    }

    /// How accurate the variable is when its value is zero.
    pub fn noise(&self, id: VarId) -> f64 {
        let n = self.model.variables.len();
        if let Some(jump) = &self.jump {
            return self.noise_of_jump(id, jump);
        }
        let place = match id.index().checked_sub(n).and_then(|i| self.specials.all.get(i)) {
            None => self.places.variables.get(id.index()),
            Some(Special::Derivative(of)) => self.places.derivatives.get(of.index()),
            Some(Special::Pre(of)) => self.places.variables.get(of.index()),
            Some(_) => None,
        };
        place.and_then(Option::as_ref).map_or(0.0, |place| SMALL * place.nominal)
    }

    pub fn value(&mut self, id: VarId, span: Span) -> EvalResult {
        let n = self.model.variables.len();
        let Some(special) = id.index().checked_sub(n) else { return self.model_variable(id, span) };
        match self.specials.all.get(special) {
            Some(Special::Time) => Ok(Value::Real(self.time())),
            Some(Special::Initial) => Ok(Value::Boolean(self.flag(self.places.initial))),
            Some(Special::Terminal) => Ok(Value::Boolean(self.flag(self.places.terminal))),
            Some(Special::Derivative(of)) if self.jump.is_some() => self.jump_of(*of, span),
            Some(Special::Derivative(of)) => {
                let place = self.places.derivatives.get(of.index()).and_then(Option::as_ref);
                let place = place
                    .ok_or_else(|| EvalError::not_constant(span, "a derivative that the program does not have"))?;
                // In rounds an event does not need the derivatives of states.
                let is_behind = place.slots.iter().any(|(slot, _)| *slot as usize >= self.places.n_slots);
                if is_behind && self.rules.is_round {
                    return Err(EvalError::not_constant(span, UNKNOWN));
                }
                read(place, &self.memory, span)
            }
            // Before the start there is a value only where the declaration gives one.
            Some(Special::Pre(of)) if self.rules.is_initial && !self.given.contains(of) => {
                Err(EvalError::not_constant(span, UNKNOWN))
            }
            Some(Special::Pre(of)) => match self.places.variables.get(of.index()).and_then(Option::as_ref) {
                Some(place) => read(place, &self.pre, span),
                None => Err(EvalError::not_constant(span, "the `pre` value of a text")),
            },
            Some(Special::Held(k)) => self.held_value(*k),
            Some(Special::Sample(k)) => self.sample(*k),
            // Nothing becomes true between events.
            Some(Special::WasTrue(k)) => {
                let was_true = self.kept.was_true.get(*k).copied().flatten().unwrap_or(true);
                Ok(Value::Boolean(was_true || !self.rules.is_round))
            }
            Some(Special::Active(state)) => {
                let slot = self.places.active.get(state).copied();
                Ok(Value::Boolean(slot.is_some_and(|slot| self.flag(slot))))
            }
            None => Err(EvalError::not_constant(span, "an unknown variable")),
        }
    }

    /// Adds so much of the jump to what becomes infinite; how much it was before.
    pub fn set_scale(&mut self, scale: f64) -> f64 {
        let Some(jump) = &mut self.jump else { return 0.0 };
        let before = std::mem::replace(&mut jump.scale, scale);
        self.memory = jump.memory();
        before
    }

    /// A derivative where its variable jumps: the multiple of the jump that is looked at. What is finite of it plays no role.
    fn jump_of(&self, of: VarId, span: Span) -> EvalResult {
        let place = self.places.variables.get(of.index()).and_then(Option::as_ref);
        let (Some(place), Some(jump)) = (place, &self.jump) else {
            return Err(EvalError::not_constant(span, "a variable that the program does not have"));
        };
        let memory: Vec<f64> =
            place.slots.iter().map(|(slot, _)| jump.scale * jump.distance(*slot as usize).0).collect();
        let slots = (0..memory.len()).map(|i| (i as u32, false)).collect();
        read(&Place { slots, ..place.clone() }, &memory, span)
    }

    fn noise_of_jump(&self, id: VarId, jump: &Jump) -> f64 {
        let special = id.index().checked_sub(self.model.variables.len()).and_then(|i| self.specials.all.get(i));
        let (of, is_derivative) = match special {
            None => (id, false),
            Some(Special::Derivative(of)) => (*of, true),
            Some(_) => return 0.0,
        };
        let Some(Some(place)) = self.places.variables.get(of.index()) else { return 0.0 };
        let of_slot = |(slot, _): &(u32, bool)| match is_derivative {
            true => jump.scale.abs() * (jump.distance(*slot as usize).1 + LEAST_JUMP * place.nominal),
            false => jump.noise(*slot as usize).abs(),
        };
        place.slots.iter().map(of_slot).fold(0.0, f64::max)
    }

    /// Gives a variable its `pre` value; a scalar holds for all elements.
    pub fn set_pre(&mut self, id: VarId, value: &Value) {
        let Some(Some(place)) = self.places.variables.get(id.index()) else { return };
        let numbers: Vec<f64> = value.elements().iter().map(number).collect();
        for (i, (slot, _)) in place.slots.iter().enumerate() {
            let number = numbers.get(i).or(numbers.first()).copied();
            if let (Some(to), Some(number)) = (self.pre.get_mut(*slot as usize), number) {
                *to = number;
            }
        }
    }

    fn flag(&self, slot: usize) -> bool {
        self.memory.get(slot).is_some_and(|value| *value != 0.0)
    }

    fn model_variable(&mut self, id: VarId, span: Span) -> EvalResult {
        if let Some(Some(place)) = self.places.variables.get(id.index()) {
            return read(place, &self.memory, span);
        }
        if let Some(value) = self.constants.get(&id) {
            return Ok(value.clone());
        }
        let model = self.model.clone();
        let Some(variable) = model.variables.get(id) else {
            return Err(EvalError::not_constant(span, "an unknown variable"));
        };
        let is_object = matches!(variable.ty.base, BaseType::ExternalObject(_));
        let binding = variable.binding.as_ref().filter(|_| is_object || variable.variability <= Variability::Parameter);
        let Some(binding) = binding else {
            return Err(EvalError::not_constant(span, format!("the text `{}`", variable.name)));
        };
        let value = self.evaluate(&lower_expression(binding))?;
        self.constants.insert(id, value.clone());
        Ok(value)
    }

    /// A relation, or a number that was rounded at the last event.
    fn held_value(&mut self, k: usize) -> EvalResult {
        let specials = self.specials.clone();
        let Some(held) = specials.held.get(k) else {
            return Err(EvalError::not_constant(Span::nowhere(), "a relation"));
        };
        let is_kept = self.rules.is_frozen && held.keeps && !self.relations.followed.contains(&k);
        let kept = if is_kept { self.kept.held.get(k).cloned().flatten() } else { None };
        if let Some(kept) = kept {
            if self.rules.sees_missed || self.relations.beyond.is_some() {
                let (literal, other, part) = self.literal(held)?;
                if literal != kept && other.is_none() && part > MISSED && self.rules.sees_missed {
                    self.relations.missed.push((k, part));
                }
                if let Some(beyond) = self.relations.beyond.as_mut().filter(|_| literal != kept && other.is_some()) {
                    beyond.push(k);
                }
            }
            return Ok(kept);
        }
        if self.rules.is_left && held.keeps {
            return Err(EvalError::not_constant(held.span, UNKNOWN));
        }
        let (literal, mut other, part) = self.literal(held)?;
        // What an event that was left out has decided is not known: the relation may be past its threshold since then.
        if is_kept
            && part <= MISSED
            && let Value::Boolean(holds) = literal
        {
            other = Some(Value::Boolean(!holds));
        }
        let value = match other {
            None => literal,
            Some(other) => {
                if !self.relations.undecided.contains(&k) {
                    self.relations.undecided.push(k);
                }
                if self.relations.flips.contains(&k) { other } else { literal }
            }
        };
        if held.keeps {
            self.relations.taken.push((k, value.clone()));
        }
        Ok(value)
    }

    /// The value by the numbers alone, the other one if both will do, and how far apart the operands are.
    fn literal(&mut self, held: &Held) -> EvalResult<(Value, Option<Value>, f64)> {
        // What is infinite decides nothing after the jump.
        let scale = self.set_scale(0.0);
        let found = self.literal_now(held);
        self.set_scale(scale);
        found
    }

    fn literal_now(&mut self, held: &Held) -> EvalResult<(Value, Option<Value>, f64)> {
        let one = |amount: crate::term::Amount| amount.items.first().copied().unwrap_or((f64::NAN, 0.0));
        let left = one(held.left.evaluate(self)?);
        let right = match &held.right {
            Some(right) => one(right.evaluate(self)?),
            None => (0.0, 0.0),
        };
        if let HeldKind::Relation(op) = held.kind {
            let holds = match op {
                BinaryOp::Less => left.0 < right.0,
                BinaryOp::LessEqual => left.0 <= right.0,
                BinaryOp::Greater => left.0 > right.0,
                _ => left.0 >= right.0,
            };
            let (apart, size) = ((left.0 - right.0).abs(), left.1 + right.1);
            let other = (apart <= self.bound * size).then_some(Value::Boolean(!holds));
            return Ok((Value::Boolean(holds), other, apart / size));
        }
        let (x, size) = if held.kind == HeldKind::Div { (left.0 / right.0, left.1 / right.0.abs()) } else { left };
        let round = |x: f64| match held.kind {
            HeldKind::Floor | HeldKind::Integer => x.floor(),
            HeldKind::Ceil => x.ceil(),
            _ => x.trunc(),
        };
        let value = |x: f64| if held.kind == HeldKind::Integer { Value::Integer(x as i64) } else { Value::Real(x) };
        let reach = self.bound * size;
        let near = [round(x - reach), round(x + reach)].into_iter().find(|near| *near != round(x));
        Ok((value(round(x)), near.map(value), (x - x.round()).abs() / size))
    }

    /// Moves variables that relations compare onto the thresholds: one side is given the value of the other.
    pub fn move_onto_thresholds(&mut self, relations: &[usize]) {
        let specials = self.specials.clone();
        for held in relations.iter().filter_map(|k| specials.held.get(*k)) {
            let Some(right) = &held.right else { continue };
            for (side, other) in [(&held.left, right), (right, &held.left)] {
                let Term::Variable(id, _) = **side else { continue };
                let place = self.places.variables.get(id.index()).and_then(Option::as_ref);
                let slot = place.and_then(|place| place.slots.first().copied());
                let value = other.evaluate(self).ok().and_then(|amount| amount.items.first().copied());
                let (Some((slot, is_negated)), Some((value, _))) = (slot, value) else { continue };
                if let Some(to) = self.memory.get_mut(slot as usize) {
                    *to = if is_negated { -value } else { value };
                    break;
                }
            }
        }
    }

    fn sample(&mut self, k: usize) -> EvalResult {
        if !self.rules.is_first_round {
            return Ok(Value::Boolean(false));
        }
        let specials = self.specials.clone();
        let Some(sample) = specials.samples.get(k) else { return Ok(Value::Boolean(false)) };
        let (start, interval) = (self.evaluate(&sample.start)?.as_real(), self.evaluate(&sample.interval)?.as_real());
        let (start, interval) = (start.unwrap_or(f64::NAN), interval.unwrap_or(f64::NAN));
        let t = self.time();
        let tick = ((t - start) / interval).round();
        let due = start + tick * interval;
        let (last, event) = self.ticks[k];
        let is_due = tick >= 0.0 && due <= t && t - due <= SAME_TIME * t.abs().max(interval.abs());
        let ticks = is_due && (tick > last || event == self.event);
        if ticks {
            self.ticks[k] = (tick, self.event);
        }
        Ok(Value::Boolean(ticks))
    }
}

/// As in memory.
fn number(value: &Value) -> f64 {
    match value {
        Value::Boolean(b) => f64::from(u8::from(*b)),
        Value::Enum(_, ordinal) => f64::from(*ordinal),
        other => other.as_real().unwrap_or(f64::NAN),
    }
}

/// The value of a variable from its slots.
fn read(place: &Place, memory: &[f64], span: Span) -> EvalResult {
    let at = |(slot, is_negated): &(u32, bool)| {
        let value = memory.get(*slot as usize).copied().unwrap_or(f64::NAN);
        if *is_negated { -value } else { value }
    };
    // What belongs to a part of the model that is not active has no value.
    if place.slots.iter().any(|slot| at(slot).is_nan()) {
        return Err(EvalError::not_constant(span, UNKNOWN));
    }
    let integer = |x: f64| {
        // Beyond that not every Integer is a number of the memory.
        let is_exact = x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0;
        if is_exact { Ok(x as i64) } else { Err(EvalError::from(diagnostics::no_integer(span, &place.name, x))) }
    };
    if let ([slot], true) = (place.slots.as_slice(), place.dims.is_empty()) {
        let x = at(slot);
        return Ok(match place.base {
            BaseType::Integer => Value::Integer(integer(x)?),
            BaseType::Boolean => Value::Boolean(x != 0.0),
            BaseType::Enumeration(id) => Value::Enum(id, x as u32),
            _ => Value::Real(x),
        });
    }
    let all = place.slots.iter().map(at);
    let items = match place.base {
        BaseType::Integer => Items::Integer(all.map(integer).collect::<EvalResult<Vec<_>>>()?),
        BaseType::Boolean => Items::Boolean(all.map(|x| x != 0.0).collect()),
        BaseType::Enumeration(id) => Items::Enum(id, all.map(|x| x as u32).collect()),
        _ => Items::Real(all.collect()),
    };
    let value = Value::from_parts(place.dims.clone(), items);
    value.ok_or_else(|| EvalError::not_constant(span, format!("`{}`", place.name)))
}

impl Environment for World {
    fn variable(&mut self, id: VarId, span: Span) -> EvalResult {
        self.value(id, span)
    }

    fn procedure(&mut self, id: FunctionId) -> EvalResult<Arc<Procedure>> {
        if let Some(procedure) = self.procedures.get(&id) {
            return Ok(procedure.clone());
        }
        let unknown = || EvalError::not_constant(Span::nowhere(), "an unknown function");
        let procedure = Arc::new(saltus_procedure::lower(self.model.functions.get(id).ok_or_else(unknown)?));
        self.procedures.insert(id, procedure.clone());
        Ok(procedure)
    }

    fn record_type(&self, id: RecordId) -> Arc<RecordType> {
        let none = || Arc::new(RecordType { name: String::new(), fields: Vec::new() });
        self.records.get(id.index()).cloned().unwrap_or_else(none)
    }

    fn enum_type(&self, id: EnumId) -> Arc<EnumType> {
        let none = || Arc::new(EnumType { name: String::new(), literals: Vec::new() });
        self.enumerations.get(id.index()).cloned().unwrap_or_else(none)
    }

    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        match &mut self.outside {
            Some(outside) => outside.read(name),
            None => Err("the audit has no access to files".to_owned()),
        }
    }

    fn resolve_uri(&mut self, uri: &str) -> Option<String> {
        self.outside.as_mut()?.resolve(uri)
    }

    fn file_kind(&mut self, name: &str) -> Result<FileKind, String> {
        match &mut self.outside {
            Some(outside) => outside.kind(name),
            None => Err("the audit has no access to files".to_owned()),
        }
    }

    fn instance_name(&self) -> String {
        self.model.name.clone()
    }
}
