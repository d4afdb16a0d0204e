//! Names of many scalars: those of the elements of an array are kept as one, and made where somebody asks for them.
//!
//! ```text
//! Real T[1000]         T[1], T[2], … T[1000]                  ⇒   T, sizes 1000
//! der(T[i]), i in 2:n  der(T[2]), der(T[3]), … der(T[n])      ⇒   T, sizes 1000, from position 1 with stride 1
//! ```

use std::borrow::Cow;

use saltus_flat::element::{element_name, n_outer_dimensions, position_of, subscripted_name};
use serde::{Deserialize, Serialize};

/// Names of elements of an array, or of their derivatives.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ElementNames {
    /// As in the flat model: `x`, `c[:].x`.
    pub array: String,
    pub dims: Vec<u64>,
    /// The elements at these row-major positions: `first + Σ stride · k` for a box of these sizes, the last dimension first.
    pub first: u64,
    pub strides: Vec<i64>,
    pub sizes: Vec<u32>,
    /// `der(x[1])` rather than `x[1]`.
    pub is_derivative: bool,
}

impl ElementNames {
    /// All elements of an array in their order; `None` if they are too many for numbers of slots.
    pub fn of_array(array: &str, dims: Vec<u64>) -> Option<ElementNames> {
        let n = dims.iter().try_fold(1u64, |n, &size| n.checked_mul(size))?;
        let (strides, sizes) = (vec![1], vec![u32::try_from(n).ok()?]);
        Some(ElementNames { array: array.to_owned(), dims, first: 0, strides, sizes, is_derivative: false })
    }

    pub fn len(&self) -> usize {
        self.sizes.iter().map(|&n| n as usize).product()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `k`-th of them, counting from 0.
    pub fn name(&self, k: usize) -> String {
        let name = element_name(&self.array, &self.dims, self.position(k));
        if self.is_derivative { derivative_name(&name) } else { name }
    }

    /// Which of them has this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        let name = match self.is_derivative {
            true => name.strip_prefix("der(")?.strip_suffix(')')?,
            false => name,
        };
        let wanted = position_of(&self.array, &self.dims, name)?;
        match self.strides[..] {
            [1] => usize::try_from(wanted.checked_sub(self.first)?).ok().filter(|&k| k < self.len()),
            _ => (0..self.len()).find(|&k| self.position(k) == wanted),
        }
    }

    /// The sizes of the array with this name, if these are elements of it: of `c[3].x` if they are `c[1].x[1]`, `c[1].x[2]`, …
    pub fn sizes_of(&self, name: &str) -> Option<Vec<u32>> {
        let own = self.dims.get(n_outer_dimensions(&self.array)..).filter(|own| !own.is_empty())?;
        let first = subscripted_name(name, &vec![1; own.len()]);
        position_of(&self.array, &self.dims, &first)?;
        own.iter().map(|&n| u32::try_from(n).ok()).collect()
    }

    /// Are all of them elements of the array, and no more than `most`? What is read from a file may be anything.
    pub(crate) fn are_sound(&self, most: usize) -> bool {
        let n = self.sizes.iter().try_fold(1usize, |n, &size| n.checked_mul(size as usize));
        let size = self.dims.iter().try_fold(1u64, |n, &size| n.checked_mul(size));
        let (Some(n), Some(size)) = (n, size) else { return false };
        let mut bounds = [i128::from(self.first); 2];
        for (&stride, &n) in self.strides.iter().zip(&self.sizes) {
            let farthest = i128::from(stride) * (i128::from(n) - 1);
            bounds = [bounds[0] + farthest.min(0), bounds[1] + farthest.max(0)];
        }
        let is_inside = bounds[0] >= 0 && bounds[1] < i128::from(size);
        self.strides.len() == self.sizes.len() && n <= most && (n == 0 || is_inside)
    }

    fn position(&self, k: usize) -> u64 {
        let mut rest = k as u64;
        let mut position = self.first;
        for (&stride, &n) in self.strides.iter().zip(&self.sizes).rev() {
            let n = u64::from(n.max(1));
            position = position.wrapping_add_signed(stride.wrapping_mul((rest % n) as i64));
            rest /= n;
        }
        position
    }
}

pub fn derivative_name(name: &str) -> String {
    ["der(", name, ")"].concat()
}

/// Names of things that are numbered; those without one have the empty name.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Names {
    /// First numbers, ascending, with the names from there on.
    runs: Vec<(u32, Run)>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
enum Run {
    Texts(Vec<String>),
    Elements(Box<ElementNames>),
}

impl Run {
    fn len(&self) -> usize {
        match self {
            Run::Texts(texts) => texts.len(),
            Run::Elements(names) => names.len(),
        }
    }
}

impl Names {
    /// The name of number `at`, which is beyond all that have names.
    pub fn set(&mut self, at: usize, name: String) {
        match self.runs.last_mut() {
            Some((first, Run::Texts(texts))) if *first as usize + texts.len() == at => texts.push(name),
            _ => self.runs.push((at as u32, Run::Texts(vec![name]))),
        }
    }

    /// The names of numbers from `at` on, which are beyond all that have names.
    pub fn set_elements(&mut self, at: usize, names: ElementNames) {
        self.runs.push((at as u32, Run::Elements(Box::new(names))));
    }

    /// Are these names of numbers below `n`, each with one at most?
    pub fn are_sound(&self, n: usize) -> bool {
        let mut end = 0;
        self.runs.iter().all(|(first, run)| {
            let is_behind = *first as usize >= end;
            let are_sound = if let Run::Elements(names) = run { names.are_sound(n) } else { true };
            end = *first as usize + if are_sound { run.len() } else { 0 };
            is_behind && are_sound && end <= n
        })
    }

    pub fn get(&self, at: usize) -> Cow<'_, str> {
        let run = self.runs.partition_point(|(first, _)| *first as usize <= at).checked_sub(1);
        let found = run.and_then(|run| self.runs.get(run));
        let Some((k, run)) = found.map(|(first, run)| (at - *first as usize, run)).filter(|(k, run)| *k < run.len())
        else {
            return Cow::Borrowed("");
        };
        match run {
            Run::Texts(texts) => Cow::Borrowed(&texts[k]),
            Run::Elements(names) => Cow::Owned(names.name(k)),
        }
    }

    /// The first number with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.runs.iter().find_map(|(first, run)| {
            let k = match run {
                Run::Texts(texts) => texts.iter().position(|text| text == name),
                Run::Elements(names) => names.find(name),
            };
            k.map(|k| *first as usize + k)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_named_and_found_by_their_positions() {
        // The inside of an array of 4 by 5, without its border.
        let inside = ElementNames {
            array: "c[:].T".into(),
            dims: vec![4, 5],
            first: 6,
            strides: vec![5, 1],
            sizes: vec![2, 3],
            is_derivative: true,
        };
        let names: Vec<String> = (0..inside.len()).map(|k| inside.name(k)).collect();
        let expected = ["der(c[2].T[2])", "der(c[2].T[3])", "der(c[2].T[4])", "der(c[3].T[2])"];
        assert_eq!(names[..4], expected);
        assert!(names.iter().enumerate().all(|(k, name)| inside.find(name) == Some(k)));
        assert_eq!(inside.find("der(c[1].T[2])"), None, "on the border");
        assert_eq!(inside.find("c[2].T[2]"), None);
        assert_eq!(inside.sizes_of("c[3].T"), Some(vec![5]));
        assert!(inside.are_sound(6) && !inside.are_sound(5));
        assert!(!ElementNames { first: 13, ..inside.clone() }.are_sound(6), "beyond the last element");
        assert!(!ElementNames { strides: vec![-7, 1], ..inside.clone() }.are_sound(6), "before the first element");
        assert!(!ElementNames { sizes: vec![2], ..inside.clone() }.are_sound(6), "a stride too many");
        assert!(["c.T", "c[5].T", "c", "c[3].T[1]"].iter().all(|name| inside.sizes_of(name).is_none()));
    }

    #[test]
    fn texts_and_arrays_stand_beside_each_other() {
        let mut names = Names::default();
        names.set(0, "time".into());
        names.set(1, "a".into());
        names.set_elements(2, ElementNames::of_array("x", vec![2, 2]).expect("few"));
        names.set(7, "b".into());
        let all: Vec<String> = (0..9).map(|k| names.get(k).into_owned()).collect();
        assert_eq!(all, ["time", "a", "x[1,1]", "x[1,2]", "x[2,1]", "x[2,2]", "", "b", ""]);
        assert_eq!((names.find("x[2,1]"), names.find("b"), names.find("x[2,3]")), (Some(4), Some(7), None));
        assert!(names.are_sound(8) && !names.are_sound(7));
        names.runs.swap(0, 1);
        assert!(!names.are_sound(8), "not in order");
    }
}
