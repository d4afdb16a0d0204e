//! Value references: the numbers under which other programs know the variables of a model.
//!
//! ```text
//! 0                                    time
//! 1 + slot                             a scalar: variables with the same slot are aliases of each other
//! 1 + n_slots + k                      an array of 3.0, or another scalar with its slot: the k-th group
//! … + k                                a text
//! … + k                                an event indicator
//! … + k                                a clock that others see
//! ```
//!
//! In: a model. Out: the same numbers in every process, because they follow from the model alone. The exporter writes them, the runtime
//! looks them up by arithmetic.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use saltus::Model;
use saltus::clock_variables::{ClockPart, interval_of, part_of};
use saltus_base::Index;
use saltus_program::{Causality, SlotId, SlotType, Variability, Variable};
use saltus_sim::Exchange;

/// What a reference stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Target<'a> {
    Time,
    Slot(SlotId),
    Group(&'a [SlotId]),
    Text(&'a str),
    Indicator(usize),
    Clock(usize),
}

/// A clock that others make tick, or whose ticks they see.
#[derive(Clone, PartialEq, Debug)]
pub struct ClockVariable {
    pub name: String,
    pub kind: ClockKind,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ClockKind {
    /// Ticks where the Boolean changes; with the parameter that is its interval if it is periodic.
    Input { tick: SlotId, interval: Option<SlotId> },
    /// Has ticked as often as this says.
    Output { count: SlotId },
}

/// Variables that have a reference together: the elements of an array in row-major order, or a scalar of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    pub name: String,
    /// Positions in the variables of the model.
    pub variables: Vec<usize>,
    pub slots: Vec<SlotId>,
    pub sizes: Vec<u64>,
    pub ty: SlotType,
}

pub struct References {
    n_slots: usize,
    types: Vec<SlotType>,
    /// By slot: what an input, or a parameter that can be set without compiling, may be.
    settable: Vec<Option<Range>>,
    /// The parameters that are the start values of states.
    starts: BTreeMap<SlotId, SlotId>,
    /// These parameters.
    start_parameters: BTreeSet<SlotId>,
    pub groups: Vec<Group>,
    pub texts: Vec<(String, String)>,
    n_indicators: usize,
    pub clocks: Vec<ClockVariable>,
}

impl References {
    pub fn new(model: &Model) -> References {
        let program = model.program();
        let mut settable = vec![None; program.memory.slots.len()];
        for variable in model.variables().iter().filter(|v| v.causality == Causality::Input || is_settable(model, v)) {
            settable[variable.slot.index()] = Some(Range::of(model, &variable));
        }
        let starts = starts(model);
        let start_parameters = starts.values().copied().collect();
        References {
            settable,
            n_slots: program.memory.slots.len(),
            types: program.memory.slots.values().map(|s| s.ty).collect(),
            groups: groups(model, &start_parameters),
            starts,
            start_parameters,
            texts: model.texts().map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
            n_indicators: Exchange::n_indicators(program),
            clocks: clocks(model),
        }
    }

    pub const TIME: u32 = 0;

    pub fn of_slot(slot: SlotId) -> u32 {
        (1 + slot.index()) as u32
    }

    pub fn of_group(&self, k: usize) -> u32 {
        (1 + self.n_slots + k) as u32
    }

    pub fn of_text(&self, k: usize) -> u32 {
        self.of_group(self.groups.len()) + k as u32
    }

    pub fn of_indicator(&self, k: usize) -> u32 {
        self.of_text(self.texts.len()) + k as u32
    }

    pub fn of_clock(&self, k: usize) -> u32 {
        self.of_indicator(self.n_indicators) + k as u32
    }

    pub fn n_indicators(&self) -> usize {
        self.n_indicators
    }

    pub fn target(&self, reference: u32) -> Option<Target<'_>> {
        let Some(mut rest) = (reference as usize).checked_sub(1) else { return Some(Target::Time) };
        if rest < self.n_slots {
            return Some(Target::Slot(SlotId::from_usize(rest)));
        }
        rest -= self.n_slots;
        if let Some(group) = self.groups.get(rest) {
            return Some(Target::Group(&group.slots));
        }
        rest -= self.groups.len();
        if let Some((_, text)) = self.texts.get(rest) {
            return Some(Target::Text(text));
        }
        rest -= self.texts.len();
        if rest < self.n_indicators {
            return Some(Target::Indicator(rest));
        }
        rest -= self.n_indicators;
        (rest < self.clocks.len()).then_some(Target::Clock(rest))
    }

    /// What it can be set to from outside; `None` if it cannot be set.
    pub fn range(&self, slot: SlotId) -> Option<Range> {
        self.settable.get(slot.index()).copied().flatten()
    }

    /// Is it a start value that is set under the name of its state?
    pub fn is_start(&self, variable: &Variable) -> bool {
        is_start(&self.start_parameters, variable)
    }

    /// The parameter that is the start value of a state, if that can be set.
    pub fn start_of(&self, state: SlotId) -> Option<SlotId> {
        self.starts.get(&state).copied()
    }

    pub fn type_of(&self, slot: SlotId) -> SlotType {
        self.types.get(slot.index()).copied().unwrap_or(SlotType::Real)
    }
}

/// Which values a variable may have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    ty: SlotType,
    min: f64,
    max: f64,
}

impl Range {
    /// Literals of enumerations, and limits of parameters: an input may be anything of its type on the way to a solution.
    fn of(model: &Model, variable: &Variable) -> Range {
        let enumeration = variable.enumeration.and_then(|id| model.program().routines.enumerations.get(id));
        let (min, max) = match (enumeration, variable.causality) {
            (Some(enumeration), _) => (Some(1.0), Some(enumeration.literals.len() as f64)),
            (None, Causality::Input) => (None, None),
            (None, _) => (variable.min, variable.max),
        };
        Range { ty: variable.ty, min: min.unwrap_or(f64::NEG_INFINITY), max: max.unwrap_or(f64::INFINITY) }
    }

    /// Why the value cannot be one of the variable.
    pub fn refusal(&self, value: f64) -> Option<String> {
        match self.ty {
            _ if value.is_nan() => Some("is not a number".to_owned()),
            SlotType::Integer | SlotType::Enumeration if value.fract() != 0.0 => Some("is not an Integer".to_owned()),
            SlotType::Boolean if value != 0.0 && value != 1.0 => Some("is neither true nor false".to_owned()),
            _ if value < self.min || value > self.max => Some(format!("is not between {} and {}", self.min, self.max)),
            _ => None,
        }
    }
}

/// The hidden parameter that is the start value of a state.
fn is_start(starts: &BTreeSet<SlotId>, variable: &Variable) -> bool {
    variable.is_hidden && starts.contains(&variable.slot)
}

/// Start values of states that can be set. A state with several names has one only if that is clear.
fn starts(model: &Model) -> BTreeMap<SlotId, SlotId> {
    let states: BTreeSet<SlotId> = model.program().states.iter().map(|s| s.value).collect();
    let mut found: BTreeMap<SlotId, Vec<SlotId>> = BTreeMap::new();
    for variable in model.variables().iter().filter(|v| states.contains(&v.slot)) {
        if let Ok(parameter) = model.changeable(&saltus::settable_starts::name_of_start(&variable.name())) {
            found.entry(variable.slot).or_default().push(parameter);
        }
    }
    found.into_iter().filter(|(_, all)| all.len() == 1).map(|(state, all)| (state, all[0])).collect()
}

/// Clocks by the variables that stand for them, in the order of these.
fn clocks(model: &Model) -> Vec<ClockVariable> {
    let mut clocks = Vec::new();
    for variable in model.variables() {
        let of = variable.name();
        let (name, kind) = match part_of(&of) {
            Some(ClockPart::Tick(name)) => {
                let interval = model.variable(&interval_of(name)).ok().map(|v| v.slot);
                (name, ClockKind::Input { tick: variable.slot, interval })
            }
            Some(ClockPart::Count(name)) => (name, ClockKind::Output { count: variable.slot }),
            Some(ClockPart::Interval(_)) | None => continue,
        };
        clocks.push(ClockVariable { name: name.to_owned(), kind });
    }
    clocks
}

/// Arrays: `a[1]`, `a[2]`, … of one kind, of which none is a state or the derivative of one, so that the state vector consists of scalars;
/// and variables that share their slot with another one without being its alias.
fn groups(model: &Model, starts: &BTreeSet<SlotId>) -> Vec<Group> {
    let program = model.program();
    let states: BTreeSet<SlotId> = program.states.iter().flat_map(|s| [s.value, s.derivative]).collect();
    let all: Vec<(Cow<str>, Variable)> = model.variables().iter().map(|v| (v.name(), v)).collect();
    let mut arrays: BTreeMap<&str, Vec<(Vec<u64>, usize)>> = BTreeMap::new();
    for (i, (name, variable)) in all.iter().enumerate() {
        if let Some((base, index)) = element(name).filter(|_| !is_start(starts, variable)) {
            arrays.entry(base).or_default().push((index, i));
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| &**name).collect();
    for (base, mut elements) in arrays {
        elements.sort();
        let Some(sizes) = sizes(&elements).filter(|_| !names.contains(base)) else { continue };
        let variable = |i: usize| &all[i].1;
        let first = variable(elements[0].1);
        let is_alike = |other: &Variable| {
            let of = |v: &Variable| (v.ty, v.causality, v.variability, v.enumeration, is_settable(model, v));
            of(other) == of(first) && other.unit == first.unit && other.display_unit == first.display_unit
        };
        let is_group = elements.iter().all(|&(_, i)| is_alike(variable(i)) && !states.contains(&variable(i).slot));
        if is_group && first.variability > Variability::Constant {
            let variables: Vec<usize> = elements.iter().map(|e| e.1).collect();
            let slots = variables.iter().map(|&i| variable(i).slot).collect();
            groups.push(Group { name: base.to_owned(), variables, slots, sizes, ty: first.ty });
        }
    }
    let in_groups: BTreeSet<usize> = groups.iter().flat_map(|g| g.variables.iter().copied()).collect();
    let mut first: BTreeMap<SlotId, (Rank, usize)> = BTreeMap::new();
    let alone = |i: usize| {
        let variable = &all[i].1;
        is_shown(variable) && !is_start(starts, variable) && !in_groups.contains(&i)
    };
    for (i, (_, v)) in all.iter().enumerate().filter(|(i, _)| alone(*i)) {
        let rank = (Rank::of(model, v), i);
        first.entry(v.slot).and_modify(|known| *known = (*known).min(rank)).or_insert(rank);
    }
    for (i, (name, v)) in all.iter().enumerate().filter(|(i, _)| alone(*i)) {
        let Some(&(rank, chosen)) = first.get(&v.slot) else { continue };
        let may_be_alias = Rank::of(model, v).may_be_alias() && rank.may_have_aliases();
        if chosen != i && !may_be_alias {
            let (name, variables, slots) = (name.to_string(), vec![i], vec![v.slot]);
            groups.push(Group { name, variables, slots, sizes: Vec::new(), ty: v.ty });
        }
    }
    groups
}

/// Which of several variables with one slot has the reference of the slot: the first in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rank {
    Input,
    Output,
    Parameter,
    CalculatedParameter,
    Local,
    Derivative,
    Constant,
}

impl Rank {
    pub fn of(model: &Model, variable: &Variable) -> Rank {
        match (variable.causality, variable.variability) {
            (Causality::Input, _) => Rank::Input,
            (Causality::Output, _) => Rank::Output,
            _ if is_settable(model, variable) => Rank::Parameter,
            (_, Variability::Constant) => Rank::Constant,
            (_, Variability::Parameter) if is_compiled_in(model, variable) => Rank::Constant,
            (_, Variability::Parameter) => Rank::CalculatedParameter,
            // The name of a state is better than that of the derivative that it is.
            _ if variable.is_derivative() => Rank::Derivative,
            _ => Rank::Local,
        }
    }

    /// What is listed among the unknowns of the model is there with one name only, and has no aliases: importers would miss these there.
    fn may_have_aliases(self) -> bool {
        !matches!(self, Rank::Output | Rank::CalculatedParameter)
    }

    fn may_be_alias(self) -> bool {
        matches!(self, Rank::Local | Rank::Derivative | Rank::Constant)
    }
}

/// Variables that the model hides are left out, unless others need them; those that stand for clocks are no variables of their own.
pub fn is_shown(variable: &Variable) -> bool {
    (!variable.is_hidden || variable.causality != Causality::Local) && part_of(&variable.name()).is_none()
}

/// May it be set from outside? Elements of an array are all settable or none is.
pub fn is_settable(model: &Model, variable: &Variable) -> bool {
    variable.variability <= Variability::Parameter && model.changeable(&variable.name()).is_ok()
}

/// Does the structure of the compiled model depend on its value, so that it is what it is?
fn is_compiled_in(model: &Model, variable: &Variable) -> bool {
    matches!(model.changeable(&variable.name()), Err(saltus::model::Unchangeable::Structural))
}

/// `a.b[2,3]` is the element 2, 3 of `a.b`.
fn element(name: &str) -> Option<(&str, Vec<u64>)> {
    let (base, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    let index = index.split(',').map(|i| i.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some((base, index))
}

/// The sizes of an array whose elements, sorted, are all there.
fn sizes(elements: &[(Vec<u64>, usize)]) -> Option<Vec<u64>> {
    let last = &elements.last()?.0;
    let is_complete = elements.iter().all(|(index, _)| index.len() == last.len() && index.iter().all(|&i| i >= 1));
    let n = last.iter().try_fold(1_u64, |n, &size| n.checked_mul(size))?;
    (is_complete && n == elements.len() as u64).then(|| last.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_elements_are_taken_apart() {
        assert_eq!(element("a.b[2,3]"), Some(("a.b", vec![2, 3])));
        assert_eq!((element("a[1].b"), element("x")), (None, None));
    }

    #[test]
    fn an_array_is_complete() {
        let at = |index: &[u64]| (index.to_vec(), 0);
        assert_eq!(sizes(&[at(&[1, 1]), at(&[1, 2]), at(&[2, 1]), at(&[2, 2])]), Some(vec![2, 2]));
        assert_eq!(sizes(&[at(&[1]), at(&[3])]), None);
        assert_eq!(sizes(&[at(&[1]), at(&[2, 1])]), None);
    }
}
