//! What a run begins with: values of parameters and start values, a state to go on from.
//!
//! In: a simulation that has not begun and a [`Start`]. Out: the same simulation with all of it, or what is wrong with one of them.

use std::sync::Arc;

use saltus_base::Diagnostic;
use saltus_program::SlotId;
use saltus_sim::{Simulation, State};

use crate::model::Unchangeable;
use crate::{Model, diagnostics};

/// Elements of one array that messages name: who gives a million wrong ones needs to see a few.
const MOST_TOLD: usize = 5;

/// Everything is optional.
#[derive(Clone, Default)]
pub struct Start {
    /// Values in the compiled model, as a user writes them.
    pub values: Vec<(String, String)>,
    pub state: Option<Arc<State>>,
}

impl Start {
    /// Prepares a run; all that is wrong otherwise.
    pub fn apply(&self, simulation: &mut Simulation, model: &Model) -> Result<(), Vec<Diagnostic>> {
        let mut wrong = Vec::new();
        if let Some(state) = &self.state {
            wrong.extend(simulation.restore(state).map_err(|why| diagnostics::cannot_resume(&why.to_string())).err());
        }
        for (name, text) in &self.values {
            match elements(model, name, text) {
                Ok(all) => {
                    let refused = all.iter().filter_map(|(name, text)| set(simulation, model, name, text).err());
                    wrong.extend(refused.take(MOST_TOLD));
                }
                Err(why) => wrong.push(why),
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

impl Start {
    /// What cannot be set, before anything is run.
    pub fn check(&self, model: &Model) -> Vec<Diagnostic> {
        let of = |(name, text): &(String, String)| match elements(model, name, text) {
            Ok(all) => all.iter().filter_map(|(name, text)| slot(model, name, text).err()).take(MOST_TOLD).collect(),
            Err(why) => vec![why],
        };
        self.values.iter().flat_map(of).collect()
    }
}

/// The elements of an array with their values: `a = {1, 2}` is `a[1] = 1`, `a[2] = 2`. A scalar is itself.
fn elements(model: &Model, name: &str, text: &str) -> Result<Vec<(String, String)>, Diagnostic> {
    let Some(sizes) = model.sizes(name).filter(|_| model.variable(name).is_err()) else {
        return Ok(vec![(name.to_owned(), text.to_owned())]);
    };
    let mut all = vec![(String::new(), text)];
    for &size in &sizes {
        let mut next = Vec::new();
        for (index, text) in all {
            let parts = parts(text).filter(|parts| parts.len() == size as usize);
            let parts = parts.ok_or_else(|| {
                diagnostics::cannot_set(name, text, &Unchangeable::NotOfItsSizes { sizes: sizes.clone() })
            })?;
            let separator = if index.is_empty() { "" } else { "," };
            next.extend(parts.into_iter().zip(1..).map(|(part, i)| (format!("{index}{separator}{i}"), part)));
        }
        all = next;
    }
    Ok(all.into_iter().map(|(index, text)| (format!("{name}[{index}]"), text.to_owned())).collect())
}

/// What stands between the commas of `{…, …}`.
fn parts(text: &str) -> Option<Vec<&str>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut depth = 0_usize;
    let is_separator = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    Some(inner.split(is_separator).map(str::trim).collect())
}

fn slot(model: &Model, name: &str, text: &str) -> Result<(SlotId, f64), Diagnostic> {
    let cannot = |why| diagnostics::cannot_set(name, text, &why);
    let value = model.parse_value(name, text).map_err(cannot)?;
    Ok((model.changeable_to(name, value).map_err(cannot)?, value))
}

fn set(simulation: &mut Simulation, model: &Model, name: &str, text: &str) -> Result<(), Diagnostic> {
    let (slot, value) = slot(model, name, text)?;
    let set = simulation.set(slot, value);
    set.map_err(|why| diagnostics::cannot_be_set(name, &why.to_string()))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn arrays_are_taken_apart_at_their_commas() {
        assert_eq!(parts("{1, 2,3}"), Some(vec!["1", "2", "3"]));
        assert_eq!(parts(" {{1, 2}, {3, 4}} "), Some(vec!["{1, 2}", "{3, 4}"]));
        assert_eq!(parts("7"), None);
    }
}
