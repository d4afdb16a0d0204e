//! Reduce the index: differentiate constraints between states until derivatives can be computed (Pantelides 1988), then
//! choose which states become ordinary variables (Mattsson & Söderlind 1993, see [`select_states`](crate::select_states)).
//!
//! ```text
//! x = sin(phi);                     x = sin(phi);
//! der(x) = v;  der(phi) = w;   ⇒    v = cos(phi) * w;      x and v are ordinary variables now
//! ```
//!
//! In: the alias-free system. Out: the system with the differentiated equations, in which `derivative_of` has exactly the
//! chosen states.

use saltus_base::{Diagnostic, Diagnostics, Index, Span};
use saltus_flat::FlatModel;
use saltus_graph::pantelides::{self, Differentiate, Failure};
use saltus_graph::{IndexReduction, Part};
use saltus_program::{SlotId, SlotKind};

use crate::diagnostics;
use crate::differentiate::time_derivative;
use crate::hidden_constraints::{Combination, find_hidden_constraints};
use crate::select_states;
use crate::states::Preferences;
use crate::system::{ScalarEquation, System};
use crate::tuning::work::MOST_DIFFERENTIATIONS;

/// Constraints that no single equation states are put into `hidden`, where that is asked for; there is no result then.
pub fn reduce_index(
    model: &FlatModel,
    system: &mut System,
    preferences: &Preferences,
    hidden: Option<&mut Vec<Combination>>,
    diagnostics: &mut Diagnostics,
) -> Option<Reduced> {
    let rows: Vec<usize> =
        (0..system.equations.len()).filter(|&e| is_continuous(system, &system.equations[e])).collect();
    let structure = structure(system, &rows);
    let mut derivatives = Derivatives { model, system, rows };
    match pantelides::reduce_index(structure, MOST_DIFFERENTIATIONS, &mut derivatives) {
        Ok(reduction) => {
            let rows = derivatives.rows;
            let reduced = Reduced { reduction, rows };
            if let Some(hidden) = hidden {
                *hidden = find_hidden_constraints(system, &reduced);
                if !hidden.is_empty() {
                    return None;
                }
            }
            select_states::select_states(model, system, &reduced, preferences, diagnostics);
            Some(reduced)
        }
        Err(failure) => {
            for diagnostic in derivatives.explain(failure) {
                diagnostics.push(diagnostic);
            }
            None
        }
    }
}

/// The result of the differentiation: rows are numbers of the graph, columns are slots.
pub struct Reduced {
    pub reduction: IndexReduction,
    /// The equation of each row.
    pub rows: Vec<usize>,
}

/// Equations of discrete variables hold at events only and are never differentiated.
fn is_continuous(system: &System, equation: &ScalarEquation) -> bool {
    equation.is_real
        && equation.target.is_none_or(|t| system.slots[t].kind.is_continuous())
        && !occurring(system, equation).is_empty()
}

fn structure(system: &System, rows: &[usize]) -> pantelides::Structure {
    let n = system.slots.len();
    let mut derivative_of = vec![None; n];
    for (state, derivative) in &system.derivative_of {
        derivative_of[state.index()] = Some(derivative.index());
    }
    pantelides::Structure {
        incidence: rows.iter().map(|&e| occurring(system, &system.equations[e])).collect(),
        derivative_of,
        known: system.slots.values().map(|slot| !is_unknown(slot.kind)).collect(),
    }
}

pub fn is_unknown(kind: SlotKind) -> bool {
    matches!(kind, SlotKind::Derivative | SlotKind::Algebraic | SlotKind::State)
}

/// The continuous variables of an equation, states included; the target of an assignment first. Between events the
/// discrete ones are known, and only then are equations differentiated.
pub fn occurring(system: &System, equation: &ScalarEquation) -> Vec<usize> {
    let mut slots = Vec::new();
    system.dag.slots_of_all(&[equation.left, equation.right], &mut slots);
    slots.retain(|&slot| is_unknown(system.slots[slot].kind));
    slots.sort_unstable();
    if let Some(at) = equation.target.and_then(|target| slots.iter().position(|&slot| slot == target)) {
        slots[..=at].rotate_right(1);
    }
    slots.into_iter().map(|slot| slot.index()).collect()
}

struct Derivatives<'a> {
    model: &'a FlatModel,
    system: &'a mut System,
    rows: Vec<usize>,
}

impl Differentiate for Derivatives<'_> {
    type Error = Box<Diagnostic>;

    fn differentiate(&mut self, row: usize) -> Result<(usize, Vec<usize>), Box<Diagnostic>> {
        let equation = self.system.equations[self.rows[row]].clone();
        let derivative = time_derivative(self.model, self.system, &equation)?;
        let incidence = occurring(self.system, &derivative);
        self.rows.push(self.system.equations.len());
        self.system.equations.push(derivative);
        Ok((self.rows.len() - 1, incidence))
    }

    fn derivative_of(&mut self, variable: usize) -> usize {
        self.system.derivative(SlotId::from_usize(variable)).index()
    }
}

impl Derivatives<'_> {
    fn explain(&self, failure: Failure<Box<Diagnostic>>) -> Vec<Diagnostic> {
        match failure {
            Failure::Singular(parts) => parts.iter().map(|part| self.singular(part)).collect(),
            Failure::TooOften(part) => vec![self.singular(&part)],
            Failure::NotDifferentiable { error, .. } => vec![*error],
        }
    }

    fn singular(&self, part: &Part) -> Diagnostic {
        let spans: Vec<Span> = part.rows.iter().map(|&row| self.system.equations[self.rows[row]].span).collect();
        let name = |&column: &usize| self.system.name(SlotId::from_usize(column)).into_owned();
        diagnostics::singular_subset(&spans, &part.columns.iter().map(name).collect::<Vec<_>>())
    }
}
