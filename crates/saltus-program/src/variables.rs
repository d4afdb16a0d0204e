//! The variables of the model as the user knows them.
//!
//! Elements of an array that are alike are kept as one: the table of a model of a million states has a few rows, of which each stands for as many
//! variables as it has elements.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use saltus_base::Index;
use saltus_flat::EnumId;
use serde::{Deserialize, Serialize};

use crate::names::{ElementNames, derivative_name};
use crate::{SlotId, SlotType};

/// More are not accepted from files.
const MOST_VARIABLES: usize = 1 << 29;

/// Everything a user may look at, in order of declaration.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Variables {
    runs: Vec<Run>,
    /// How many variables stand before each run.
    starts: Vec<u32>,
    n: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
enum Run {
    One { name: String, slot: SlotId, declared: Arc<Declared> },
    Elements(Box<Elements>),
}

/// Neighbouring elements of an array, all with derivatives behind them, or none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Elements {
    names: ElementNames,
    of_values: OfElements,
    of_derivatives: Option<OfElements>,
}

/// What elements have in common, with evenly spaced slots.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct OfElements {
    first: SlotId,
    stride: i64,
    declared: Arc<Declared>,
}

/// A scalar variable of the model as the user knows it. Its slot is also the reference under which other programs know it;
/// variables with the same slot are aliases of each other.
#[derive(Clone, Copy, Debug)]
pub struct Variable<'p> {
    pub slot: SlotId,
    /// What the declaration says; the elements of an array share it.
    pub declared: &'p Arc<Declared>,
    name: Name<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Name<'p> {
    Text(&'p str),
    Element { of: &'p ElementNames, k: u32, is_derivative: bool },
}

/// An element of an array, as [`Variables::push_element`] takes it.
pub struct Element<'e> {
    /// As in the flat model: `x`, `c[:].x`.
    pub array: &'e str,
    pub dims: &'e [u64],
    /// Row-major, from 0.
    pub position: usize,
    pub slot: SlotId,
    pub declared: Arc<Declared>,
    pub derivative: Option<(SlotId, Arc<Declared>)>,
}

/// What is known of a variable from its declaration.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Declared {
    pub ty: SlotType,
    pub causality: Causality,
    pub variability: Variability,
    /// `annotation(HideResult = true)`
    pub is_hidden: bool,
    pub is_protected: bool,
    pub is_final: bool,
    pub description: String,
    /// Empty if there is none, as the next two.
    pub unit: String,
    pub display_unit: String,
    pub quantity: String,
    /// A difference of two values, which has no offset in any unit.
    pub is_difference: bool,
    /// Attributes that the declaration gives as literals.
    pub start: Option<f64>,
    pub fixed: Option<bool>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub nominal: Option<f64>,
    /// Names the literals.
    pub enumeration: Option<EnumId>,
}

impl Deref for Variable<'_> {
    type Target = Declared;

    fn deref(&self) -> &Declared {
        self.declared
    }
}

/// How a variable takes part in the exchange with the surroundings of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Causality {
    Parameter,
    /// At the top level.
    Input,
    Output,
    Local,
}

/// When the value of a variable may change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub enum Variability {
    Constant,
    Parameter,
    /// At events.
    Discrete,
    Continuous,
}

impl Declared {
    /// A continuous local variable of which nothing else is known.
    pub fn new(ty: SlotType) -> Self {
        Declared {
            ty,
            causality: Causality::Local,
            variability: Variability::Continuous,
            is_hidden: false,
            is_protected: false,
            is_final: false,
            description: String::new(),
            unit: String::new(),
            display_unit: String::new(),
            quantity: String::new(),
            is_difference: false,
            start: None,
            fixed: None,
            min: None,
            max: None,
            nominal: None,
            enumeration: None,
        }
    }

    /// Constants and parameters do not change during a simulation.
    pub fn is_parameter(&self) -> bool {
        self.variability <= Variability::Parameter
    }
}

impl<'p> Variable<'p> {
    /// Of an element of an array it is made by this call.
    pub fn name(&self) -> Cow<'p, str> {
        match self.name {
            Name::Text(text) => Cow::Borrowed(text),
            Name::Element { of, k, is_derivative: false } => Cow::Owned(of.name(k as usize)),
            Name::Element { of, k, is_derivative: true } => Cow::Owned(derivative_name(&of.name(k as usize))),
        }
    }

    /// How many dots its name has.
    pub fn n_dots(&self) -> usize {
        match self.name {
            Name::Text(text) => text.matches('.').count(),
            // Subscripts have none.
            Name::Element { of, .. } => of.array.matches('.').count(),
        }
    }

    /// Does it show the derivative of the variable in front of it?
    pub fn is_derivative(&self) -> bool {
        match self.name {
            Name::Text(text) => text.starts_with("der("),
            Name::Element { is_derivative, .. } => is_derivative,
        }
    }
}

impl OfElements {
    fn slot(&self, k: usize) -> SlotId {
        SlotId::from_usize((self.first.index() as i64).wrapping_add(self.stride.wrapping_mul(k as i64)) as usize)
    }

    /// Is this what the element behind the last of `n` has?
    fn goes_on(&mut self, n: usize, slot: SlotId, declared: &Arc<Declared>) -> bool {
        let is_alike = Arc::ptr_eq(&self.declared, declared);
        match n {
            1 => self.stride = slot.index() as i64 - self.first.index() as i64,
            _ => return is_alike && self.slot(n) == slot,
        }
        is_alike
    }
}

impl Elements {
    fn len(&self) -> usize {
        self.names.len() * if self.of_derivatives.is_some() { 2 } else { 1 }
    }

    /// Takes one more element, if it goes on as those before.
    fn extend(&mut self, element: &Element) -> bool {
        let n = self.names.len();
        let is_next = self.names.array == element.array
            && self.names.first as usize + n == element.position
            && self.names.dims == element.dims;
        let are_alike = match (&mut self.of_derivatives, &element.derivative) {
            (None, None) => true,
            (Some(own), Some((slot, declared))) => own.goes_on(n, *slot, declared),
            _ => false,
        };
        let goes_on = is_next && are_alike && self.of_values.goes_on(n, element.slot, &element.declared);
        if goes_on {
            self.names.sizes[0] += 1;
        }
        goes_on
    }

    fn variable(&self, k: usize) -> Variable<'_> {
        let (k, of, is_derivative) = match &self.of_derivatives {
            Some(of) if k % 2 == 1 => (k / 2, of, true),
            Some(_) => (k / 2, &self.of_values, false),
            None => (k, &self.of_values, false),
        };
        let name = Name::Element { of: &self.names, k: k as u32, is_derivative };
        Variable { slot: of.slot(k), declared: &of.declared, name }
    }

    fn find(&self, name: &str) -> Option<usize> {
        match &self.of_derivatives {
            None => self.names.find(name),
            Some(_) => match name.strip_prefix("der(").and_then(|name| name.strip_suffix(')')) {
                Some(of) => self.names.find(of).map(|k| 2 * k + 1),
                None => self.names.find(name).map(|k| 2 * k),
            },
        }
    }
}

impl Run {
    fn variable(&self, k: usize) -> Variable<'_> {
        match self {
            Run::One { name, slot, declared } => Variable { slot: *slot, declared, name: Name::Text(name) },
            Run::Elements(elements) => elements.variable(k),
        }
    }

    fn len(&self) -> usize {
        if let Run::Elements(elements) = self { elements.len() } else { 1 }
    }
}

impl Variables {
    pub fn len(&self) -> usize {
        self.n
    }

    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    pub fn push(&mut self, name: impl Into<String>, slot: SlotId, declared: Arc<Declared>) {
        self.push_run(Run::One { name: name.into(), slot, declared });
    }

    /// The next element of an array, with its derivative behind it if that is shown.
    pub fn push_element(&mut self, element: Element) {
        let added = 1 + usize::from(element.derivative.is_some());
        if let Some(Run::Elements(elements)) = self.runs.last_mut()
            && elements.extend(&element)
        {
            self.n += added;
            return;
        }
        let of = |first: SlotId, declared: Arc<Declared>| OfElements { first, stride: 0, declared };
        let names = ElementNames {
            array: element.array.to_owned(),
            dims: element.dims.to_vec(),
            first: element.position as u64,
            strides: vec![1],
            sizes: vec![1],
            is_derivative: false,
        };
        let of_derivatives = element.derivative.map(|(slot, declared)| of(slot, declared));
        let of_values = of(element.slot, element.declared);
        self.push_run(Run::Elements(Box::new(Elements { names, of_values, of_derivatives })));
    }

    fn push_run(&mut self, run: Run) {
        self.starts.push(self.n as u32);
        self.n += run.len();
        self.runs.push(run);
    }

    /// Is the table what its parts say? What is read from a file may be anything.
    pub(crate) fn are_sound(&self) -> bool {
        let mut n = 0;
        let are_runs_sound = self.starts.len() == self.runs.len()
            && self.starts.iter().zip(&self.runs).all(|(&start, run)| {
                let is_next = start as usize == n;
                let is_sound = match run {
                    Run::One { .. } => true,
                    Run::Elements(e) => {
                        e.names.strides == [1] && e.names.sizes != [0] && e.names.are_sound(MOST_VARIABLES)
                    }
                };
                n += if is_sound { run.len() } else { 0 };
                is_next && is_sound && n <= MOST_VARIABLES
            });
        are_runs_sound && self.n == n
    }

    pub fn get(&self, at: usize) -> Option<Variable<'_>> {
        let run = self.starts.partition_point(|&start| start as usize <= at).checked_sub(1)?;
        (at < self.n).then(|| self.runs[run].variable(at - self.starts[run] as usize))
    }

    pub fn iter(&self) -> Iter<'_> {
        Iter { runs: self.runs.iter(), now: None, n_left: self.n }
    }

    /// Those that are no elements of arrays, with their positions.
    pub fn alone(&self) -> impl Iterator<Item = (usize, &str)> {
        self.starts.iter().zip(&self.runs).filter_map(|(&start, run)| match run {
            Run::One { name, .. } => Some((start as usize, name.as_str())),
            Run::Elements(_) => None,
        })
    }

    /// The position of the element of an array with this name.
    pub fn find_element(&self, name: &str) -> Option<usize> {
        // Elements have subscripts.
        if !name.contains('[') {
            return None;
        }
        self.starts.iter().zip(&self.runs).find_map(|(&start, run)| match run {
            Run::Elements(elements) => elements.find(name).map(|k| start as usize + k),
            Run::One { .. } => None,
        })
    }

    /// The sizes of the array whose elements are `name[1]`, `name[2]`, …
    pub fn sizes(&self, name: &str) -> Option<Vec<u32>> {
        self.runs.iter().find_map(|run| match run {
            Run::Elements(elements) => elements.names.sizes_of(name),
            Run::One { .. } => None,
        })
    }

    /// The variable with this name; looks at all that are no elements of arrays.
    pub fn find(&self, name: &str) -> Option<Variable<'_>> {
        let alone = || self.alone().find(|(_, other)| *other == name).map(|(at, _)| at);
        self.get(self.find_element(name).or_else(alone)?)
    }
}

/// The variables in their order.
pub struct Iter<'p> {
    runs: std::slice::Iter<'p, Run>,
    /// A run, how many of its variables have been given, and how many it has.
    now: Option<(&'p Run, usize, usize)>,
    n_left: usize,
}

impl<'p> Iterator for Iter<'p> {
    type Item = Variable<'p>;

    fn next(&mut self) -> Option<Variable<'p>> {
        loop {
            if let Some((run, k, n)) = &mut self.now
                && *k < *n
            {
                *k += 1;
                self.n_left -= 1;
                return Some(run.variable(*k - 1));
            }
            let run = self.runs.next()?;
            self.now = Some((run, 0, run.len()));
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.n_left, Some(self.n_left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'p> IntoIterator for &'p Variables {
    type Item = Variable<'p>;
    type IntoIter = Iter<'p>;

    fn into_iter(self) -> Iter<'p> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_are_alike_are_one_run() {
        let of = Arc::new(Declared::new(SlotType::Real));
        let other = Arc::new(Declared { is_hidden: true, ..Declared::new(SlotType::Real) });
        let slot = SlotId::from_usize;
        let mut variables = Variables::default();
        variables.push("a", slot(3), of.clone());
        for position in 0..6 {
            // The last one is another variable's alias, and the third one has no derivative.
            let derivative = (position != 2).then(|| (slot(20 - position), other.clone()));
            let slot = if position == 5 { slot(3) } else { slot(4 + position) };
            let declared = of.clone();
            variables.push_element(Element { array: "x", dims: &[2, 3], position, slot, declared, derivative });
        }
        assert_eq!((variables.len(), variables.runs.len()), (12, 5));
        let all: Vec<(String, usize)> = variables.iter().map(|v| (v.name().into_owned(), v.slot.index())).collect();
        let named = |name: &str| all.iter().find(|(own, _)| own == name).map(|(_, slot)| *slot);
        assert_eq!(
            all[1..5].iter().map(|(name, _)| &name[..]).collect::<Vec<_>>(),
            ["x[1,1]", "der(x[1,1])", "x[1,2]", "der(x[1,2])"]
        );
        assert_eq!(["x[1,2]", "der(x[2,1])", "x[1,3]", "x[2,3]"].map(named), [5, 17, 6, 3].map(Some));
        for (k, (name, at)) in all.iter().enumerate() {
            assert_eq!(variables.find(name).map(|v| v.slot.index()), Some(*at), "{name}");
            assert_eq!(variables.get(k).map(|v| v.name().into_owned()).as_ref(), Some(name));
            assert_eq!(variables.get(k).map(|v| v.is_derivative()), Some(name.starts_with("der")));
        }
        assert!(variables.find("der(x[1,3])").is_none() && variables.get(12).is_none());
        assert!(variables.are_sound());
        variables.starts[3] += 1;
        assert!(!variables.are_sound());
    }
}
