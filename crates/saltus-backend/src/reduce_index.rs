//! Reduce the index: differentiate constraints between states until derivatives can be computed (Pantelides 1988), then
//! choose which states become ordinary variables (Mattsson & Söderlind 1993).
//!
//! ```text
//! x = sin(phi);                     x = sin(phi);
//! der(x) = v;  der(phi) = w;   ⇒    der(x) = cos(phi) * der(phi);      x and der(x) are ordinary variables now
//! ```
//!
//! In: the alias-free system. Out: the system with the differentiated equations, in which `derivative_of` has exactly the
//! chosen states.

use std::collections::BTreeMap;

use saltus_base::{Diagnostic, Diagnostics, Span};
use saltus_flat::FlatModel;
use saltus_graph::Matching;
use saltus_program::{SlotId, SlotKind};

use crate::diagnostics;
use crate::differentiate::time_derivative;
use crate::states::Preferences;
use crate::structure::{Solvability, Structure};
use crate::system::{ScalarEquation, System};

/// An equation differentiated more often than this belongs to a singular system.
const MOST_DIFFERENTIATIONS: u32 = 6;

pub fn reduce_index(model: &FlatModel, system: &mut System, preferences: &Preferences, diagnostics: &mut Diagnostics) {
    let mut pantelides = Pantelides::new(system);
    match pantelides.run(model, system) {
        Ok(()) => select_dummies(system, &pantelides, preferences, diagnostics),
        Err(diagnostic) => diagnostics.push(*diagnostic),
    }
}

struct Pantelides {
    /// Unknowns of each equation, at any order of derivative.
    incidence: Vec<Vec<SlotId>>,
    /// How often an equation has been differentiated to get this one.
    order: Vec<u32>,
    derivative_equation: BTreeMap<usize, usize>,
    equation_of: BTreeMap<SlotId, usize>,
    slot_of: BTreeMap<usize, SlotId>,
}

impl Pantelides {
    /// Starts from the largest matching of the highest derivatives that needs no differentiation.
    fn new(system: &System) -> Pantelides {
        let unknowns = crate::system::event_unknowns(system);
        let structure = Structure::new(system, &system.equations, &unknowns);
        let mut owned = vec![false; unknowns.len()];
        for (row, equation) in structure.rows.iter().zip(&system.equations) {
            if equation.target.is_some()
                && let Some((k, _)) = row.iter().find(|(_, how)| *how == Solvability::Constant)
            {
                owned[*k] = true;
            }
        }
        let edges = structure.determining(&system.equations, &owned);
        let mut matching = Matching::new(system.equations.len(), unknowns.len());
        let preferred: Vec<Vec<usize>> = edges
            .iter()
            .enumerate()
            .map(|(row, columns)| {
                columns.iter().copied().filter(|&c| structure.how(row, c) <= Solvability::Parameter).collect()
            })
            .collect();
        matching.extend(&preferred);
        matching.extend(&edges);
        let mut equation_of = BTreeMap::new();
        let mut slot_of = BTreeMap::new();
        for (row, column) in matching.column_of_row.iter().enumerate() {
            if let Some(column) = column {
                equation_of.insert(unknowns[*column], row);
                slot_of.insert(row, unknowns[*column]);
            }
        }
        let incidence = system.equations.iter().map(|e| occurring(system, e)).collect();
        let order = vec![0; system.equations.len()];
        Pantelides { incidence, order, derivative_equation: BTreeMap::new(), equation_of, slot_of }
    }

    fn run(&mut self, model: &FlatModel, system: &mut System) -> Result<(), Box<Diagnostic>> {
        let matched: Vec<bool> = {
            let mut matched = vec![false; system.equations.len()];
            self.equation_of.values().for_each(|&row| matched[row] = true);
            matched
        };
        let is_due = |row: &usize| !matched[*row] && !self.is_fixed(system, *row);
        for start in (0..matched.len()).filter(is_due).collect::<Vec<_>>() {
            let mut row = start;
            loop {
                let mut search = Search::default();
                if self.augment(system, row, &mut search) {
                    break;
                }
                row = self.differentiate(model, system, row, &search)?;
            }
        }
        Ok(())
    }

    /// Tries to find an unknown for `row` along an alternating path, iteratively.
    fn augment(&mut self, system: &System, row: usize, search: &mut Search) -> bool {
        let mut came_from: BTreeMap<SlotId, usize> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([row]);
        search.rows.push(row);
        search.seen_rows.insert(row);
        while let Some(at) = queue.pop_front() {
            for &slot in &self.incidence[at] {
                if system.derivative_of.contains_key(&slot) || !search.seen_slots.insert(slot) {
                    continue;
                }
                if !may_determine(system, &system.equations[at], slot) {
                    search.seen_slots.remove(&slot);
                    continue;
                }
                search.slots.push(slot);
                came_from.insert(slot, at);
                match self.equation_of.get(&slot) {
                    None => {
                        self.flip(slot, &came_from, row);
                        return true;
                    }
                    Some(&next) => {
                        if search.seen_rows.insert(next) {
                            search.rows.push(next);
                            queue.push_back(next);
                        }
                    }
                }
            }
        }
        false
    }

    fn flip(&mut self, last: SlotId, came_from: &BTreeMap<SlotId, usize>, start: usize) {
        let mut slot = last;
        loop {
            let row = came_from[&slot];
            let previous = self.slot_of.insert(row, slot);
            self.equation_of.insert(slot, row);
            match previous {
                Some(previous) if row != start => slot = previous,
                _ => return,
            }
        }
    }

    /// Differentiates the equations of a failed search and returns the derivative of `row`.
    fn differentiate(
        &mut self,
        model: &FlatModel,
        system: &mut System,
        row: usize,
        search: &Search,
    ) -> Result<usize, Box<Diagnostic>> {
        let is_hopeless =
            search.rows.iter().any(|&r| self.order[r] >= MOST_DIFFERENTIATIONS || self.is_fixed(system, r));
        if is_hopeless || !search.rows.iter().any(|&r| self.has_state(system, r)) {
            let spans: Vec<Span> = search.rows.iter().map(|&r| system.equations[r].span).collect();
            let names: Vec<String> = search.slots.iter().map(|&s| system.name(s).to_owned()).collect();
            return Err(Box::new(diagnostics::singular_subset(&spans, &names)));
        }
        for &slot in &search.slots {
            system.derivative(slot);
        }
        for &r in &search.rows {
            if self.derivative_equation.contains_key(&r) {
                continue;
            }
            let equation = time_derivative(model, system, &system.equations[r].clone())?;
            let incidence = occurring(system, &equation);
            let new = system.equations.len();
            system.equations.push(equation);
            self.incidence.push(incidence);
            self.order.push(self.order[r] + 1);
            self.derivative_equation.insert(r, new);
        }
        for &slot in &search.slots {
            if let Some(&of) = self.equation_of.get(&slot)
                && let Some(&derived) = self.derivative_equation.get(&of)
            {
                let derivative = system.derivative(slot);
                self.equation_of.insert(derivative, derived);
                self.slot_of.insert(derived, derivative);
            }
        }
        Ok(self.derivative_equation[&row])
    }

    fn is_fixed(&self, system: &System, row: usize) -> bool {
        system.equations[row].target.is_some_and(|t| !system.slots[t].kind.is_continuous())
            || !system.equations[row].is_real
    }

    fn has_state(&self, system: &System, row: usize) -> bool {
        self.incidence[row].iter().any(|slot| system.derivative_of.contains_key(slot))
    }
}

#[derive(Default)]
struct Search {
    rows: Vec<usize>,
    slots: Vec<SlotId>,
    seen_rows: std::collections::BTreeSet<usize>,
    seen_slots: std::collections::BTreeSet<SlotId>,
}

fn may_determine(system: &System, equation: &ScalarEquation, slot: SlotId) -> bool {
    match equation.target {
        Some(target) => target == slot,
        None => matches!(system.slots[slot].kind, SlotKind::Derivative | SlotKind::Algebraic),
    }
}

/// The continuous variables of an equation, states included. Between events the discrete ones are known, and only then are
/// equations differentiated.
fn occurring(system: &System, equation: &ScalarEquation) -> Vec<SlotId> {
    let wanted = |slot: &SlotId| {
        matches!(system.slots[*slot].kind, SlotKind::Derivative | SlotKind::Algebraic | SlotKind::State)
    };
    system.dag.loads(&[equation.left, equation.right]).into_iter().filter(wanted).collect()
}

/// Chooses, level by level from the highest derivatives down, as many variables as there are constraints.
fn select_dummies(
    system: &mut System,
    pantelides: &Pantelides,
    preferences: &Preferences,
    diagnostics: &mut Diagnostics,
) {
    let mut dummies: Vec<SlotId> = Vec::new();
    let mut rows: Vec<usize> = pantelides
        .derivative_equation
        .iter()
        .filter(|(_, d)| !pantelides.derivative_equation.contains_key(d))
        .map(|(&r, _)| r)
        .collect();
    let mut candidates: Option<Vec<SlotId>> = None;
    let parents: BTreeMap<usize, usize> = pantelides.derivative_equation.iter().map(|(&r, &d)| (d, r)).collect();
    while !rows.is_empty() {
        let chosen = choose(system, &rows, candidates.as_deref(), preferences);
        if chosen.len() < rows.len() {
            let spans: Vec<Span> = rows.iter().map(|&r| system.equations[r].span).collect();
            let names: Vec<String> = chosen.iter().map(|&s| system.name(s).to_owned()).collect();
            diagnostics.push(diagnostics::singular_subset(&spans, &names));
            return;
        }
        let below: Vec<SlotId> = system
            .derivative_of
            .iter()
            .filter(|(_, derivative)| chosen.contains(derivative))
            .map(|(&slot, _)| slot)
            .collect();
        dummies.extend(&chosen);
        rows = rows.iter().filter_map(|r| parents.get(r).copied()).collect();
        candidates = Some(below);
    }
    for &slot in &dummies {
        if let Some(derivative) = system.derivative_of.remove(&slot) {
            let has_own = system.derivative_of.contains_key(&derivative);
            system.slots[derivative].kind = if has_own { SlotKind::State } else { SlotKind::Algebraic };
        }
        system.slots[slot].kind = SlotKind::Algebraic;
    }
}

/// Matches each constraint with a state that can be given up, least wanted as states first.
fn choose(system: &System, rows: &[usize], candidates: Option<&[SlotId]>, preferences: &Preferences) -> Vec<SlotId> {
    let columns: Vec<SlotId> = match candidates {
        Some(list) => list.to_vec(),
        None => system
            .derivative_of
            .iter()
            .filter(|(_, derivative)| !system.derivative_of.contains_key(derivative))
            .map(|(&slot, _)| slot)
            .collect(),
    };
    let equations: Vec<ScalarEquation> =
        rows.iter().map(|&r| ScalarEquation { target: None, ..system.equations[r].clone() }).collect();
    let structure = Structure::new(system, &equations, &columns);
    let mut matching = Matching::new(rows.len(), columns.len());
    let preference: Vec<u8> = columns.iter().map(|&slot| preferences.of(slot)).collect();
    for worst in 0..=Preferences::ALWAYS {
        for how in [Solvability::Constant, Solvability::Parameter, Solvability::No] {
            let edges: Vec<Vec<usize>> = structure
                .rows
                .iter()
                .map(|row| row.iter().filter(|(k, h)| preference[*k] <= worst && *h <= how).map(|(k, _)| *k).collect())
                .collect();
            matching.extend(&edges);
        }
    }
    matching.column_of_row.iter().flatten().map(|&k| columns[k]).collect()
}
