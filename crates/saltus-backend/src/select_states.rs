//! Choose the states after index reduction: for each differentiated constraint one derivative becomes an ordinary
//! unknown (a dummy derivative), for good where that is safe, otherwise while the simulation runs.
//!
//! ```text
//! x = 2 * y;         v = 2 * w            x and v never become states: their coefficient is constant
//! x^2 + y^2 = 1;     x * v + y * w = 0    x or y, whichever has the larger coefficient: a state set
//! ```
//!
//! In: the differentiated equations. Out: `derivative_of` with the states, and [`StateSet`](crate::state_sets::StateSet)s.
//!
//! Level by level, the highest derivatives first: the constraints of the level (rows) are torn in such a way that rows
//! with a coefficient that never vanishes determine a derivative each, and the most wanted states (`stateSelect`) are
//! torn. For what remains the coefficients are carried through the rows solved so far; further certain ones are
//! eliminated. Rows that then have no certain coefficient form the state sets. S. E. Mattsson, H. Olsson and H. Elmqvist,
//! "Dynamic selection of states in Dymola", Modelica Workshop 2000.

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Index, Span};
use saltus_flat::FlatModel;
use saltus_graph::{Incidence, IncidenceBuilder, Matching, Rows, TearingProblem, tear};
use saltus_program::{BinaryFn, SlotId, SlotKind};

use crate::dag::NodeId;
use crate::diagnostics;
use crate::differentiate::CallRules;
use crate::reduce_index::Reduced;
use crate::state_sets::{self, SetPlan};
use crate::states::Preferences;
use crate::structure::{Known, extend_known};
use crate::system::System;
use crate::tuning::tolerance::NEGLIGIBLE_COEFFICIENT;

pub fn select_states(
    model: &FlatModel,
    system: &mut System,
    reduced: &Reduced,
    preferences: &Preferences,
    diagnostics: &mut Diagnostics,
) {
    let reduction = &reduced.reduction;
    let before = reduction.antiderivative_of_equation();
    let integral_of: BTreeMap<SlotId, SlotId> = system.derivative_of.iter().map(|(&x, &d)| (d, x)).collect();
    let mut rows = reduction.highest_equations();
    let mut is_column: Vec<bool> = (0..system.slots.len())
        .map(SlotId::from_usize)
        .map(|slot| integral_of.contains_key(&slot) && !system.derivative_of.contains_key(&slot))
        .collect();
    let mut dummies: Vec<SlotId> = Vec::new();
    let mut plans: Vec<SetPlan> = Vec::new();
    let mut known = Vec::new();
    loop {
        rows.retain(|&row| before[row].is_some());
        if rows.is_empty() {
            break;
        }
        let equations: Vec<usize> = rows.iter().map(|&row| reduced.rows[row]).collect();
        let mut level = Level { model, system, preferences, integral_of: &integral_of, known: &mut known };
        match level.choose(&equations, &is_column) {
            Ok(choice) => {
                dummies.extend(choice.dummies);
                state_sets::add_level(system, &mut plans, choice.sets);
            }
            Err(spans) => {
                diagnostics.push(diagnostics::dependent_constraints(&spans));
                return;
            }
        }
        rows = rows.iter().filter_map(|&row| before[row]).collect();
        let mut below = vec![false; is_column.len()];
        for (&derivative, &x) in &integral_of {
            below[x.index()] = is_column[derivative.index()] && integral_of.contains_key(&x);
        }
        is_column = below;
    }
    dummies.extend(plans.iter().flat_map(|plan| plan.derivatives()));
    give_up(system, &integral_of, &dummies);
    state_sets::add_state_sets(system, plans);
}

/// Makes derivatives ordinary unknowns, and what they are the derivatives of.
fn give_up(system: &mut System, integral_of: &BTreeMap<SlotId, SlotId>, dummies: &[SlotId]) {
    let mut touched: Vec<SlotId> = dummies.to_vec();
    for dummy in dummies {
        if let Some(x) = integral_of.get(dummy) {
            system.derivative_of.remove(x);
            system.introduced.given_up.insert(*x, *dummy);
            touched.push(*x);
        }
    }
    for slot in touched {
        let is_derivative = integral_of.get(&slot).is_some_and(|x| system.derivative_of.contains_key(x));
        system.slots[slot].kind = match system.derivative_of.contains_key(&slot) {
            true => SlotKind::State,
            false if is_derivative => SlotKind::Derivative,
            false => SlotKind::Algebraic,
        };
    }
}

/// What was decided about one level.
#[derive(Default)]
struct Choice {
    /// Derivatives that never become states.
    dummies: Vec<SlotId>,
    sets: Vec<RawSet>,
}

/// Constraints without a coefficient that is certain, and the derivatives in them.
pub struct RawSet {
    pub equations: Vec<usize>,
    pub columns: Vec<SlotId>,
    /// How much each column's integral wants to be a state.
    pub wishes: Vec<u8>,
    /// Row, column and value of the coefficients.
    pub entries: Vec<(u32, u32, NodeId)>,
}

struct Level<'a> {
    model: &'a FlatModel,
    system: &'a mut System,
    preferences: &'a Preferences,
    integral_of: &'a BTreeMap<SlotId, SlotId>,
    /// Of the nodes of the graph, as far as they have been looked at.
    known: &'a mut Vec<Known>,
}

/// The coefficients of the columns in the rows; `None` where they cannot be told.
struct Coefficients {
    columns: Vec<SlotId>,
    incidence: Incidence,
    /// For each entry of the incidence.
    values: Vec<Option<NodeId>>,
}

/// A row that is left: the coefficients of the torn columns, all others substituted.
type Row = BTreeMap<usize, NodeId>;

impl Level<'_> {
    fn choose(&mut self, equations: &[usize], is_column: &[bool]) -> Result<Choice, Vec<Span>> {
        let coefficients = self.coefficients(equations, is_column);
        let mut problem = TearingProblem::new(coefficients.incidence.clone());
        problem.is_forward = true;
        problem.cost = coefficients.columns.iter().map(|&column| self.cost(column)).collect();
        problem.solvable = coefficients.values.iter().map(|value| value.is_some_and(|v| self.is_certain(v))).collect();
        let tearing = tear(&problem);
        let dummies = tearing.inner.iter().map(|&(column, _)| coefficients.columns[column]).collect();
        let mut choice = Choice { dummies, sets: Vec::new() };
        if tearing.residuals.is_empty() {
            return Ok(choice);
        }
        let pivot_of = pivots(&coefficients, &tearing.inner);
        let mut rows: Vec<(usize, Row)> = Vec::new();
        for &row in &tearing.residuals {
            match self.total(&coefficients, &tearing.inner, &pivot_of, row) {
                Some(total) => rows.push((equations[row], total)),
                None => return self.by_structure(equations, &coefficients),
            }
        }
        let eliminated = self.eliminate(&mut rows, &coefficients);
        choice.dummies.extend(eliminated.into_iter().map(|column| coefficients.columns[column]));
        self.divide(rows, &coefficients, &mut choice)?;
        Ok(choice)
    }

    /// The partial derivatives of the equations; states that must stay are not columns, if the others suffice.
    fn coefficients(&mut self, equations: &[usize], is_column: &[bool]) -> Coefficients {
        let mut slots = Vec::new();
        let mut position = vec![usize::MAX; is_column.len()];
        let mut columns: Vec<SlotId> = Vec::new();
        let mut raw: Vec<Vec<(usize, Option<NodeId>)>> = Vec::new();
        for &e in equations {
            let (left, right) = (self.system.equations[e].left, self.system.equations[e].right);
            slots.clear();
            self.system.dag.slots_of_all(&[left, right], &mut slots);
            slots.retain(|slot| is_column.get(slot.index()).copied().unwrap_or(false));
            slots.sort_unstable();
            let residual = self.system.dag.binary(BinaryFn::Sub, left, right);
            let mut dag = std::mem::take(&mut self.system.dag);
            let mut rules = CallRules { model: self.model, system: &mut *self.system };
            let gradient = dag.gradient(residual, &slots, &mut rules);
            self.system.dag = dag;
            extend_known(self.system, self.known);
            let mut row = Vec::new();
            for (k, &slot) in slots.iter().enumerate() {
                let value = match &gradient {
                    Ok(partials) => match partials[k] {
                        Some(node) if self.known[node.index()].value() != Some(0.0) => Some(node),
                        _ => continue,
                    },
                    Err(_) => None,
                };
                if position[slot.index()] == usize::MAX {
                    position[slot.index()] = columns.len();
                    columns.push(slot);
                }
                row.push((position[slot.index()], value));
            }
            raw.push(row);
        }
        let forced = self.forced_states(&raw, &columns);
        let mut builder = IncidenceBuilder::new(columns.len());
        let mut values = Vec::new();
        for row in raw {
            let free: Vec<(usize, Option<NodeId>)> = row.into_iter().filter(|&(column, _)| !forced[column]).collect();
            builder.push_row(free.iter().map(|&(column, _)| column));
            values.extend(free.into_iter().map(|(_, value)| value));
        }
        Coefficients { columns, incidence: builder.finish(), values }
    }

    /// Columns of `stateSelect = always` that the rows can do without.
    fn forced_states(&self, rows: &[Vec<(usize, Option<NodeId>)>], columns: &[SlotId]) -> Vec<bool> {
        let mut forced: Vec<bool> = columns.iter().map(|&column| self.wish(column) == Preferences::ALWAYS).collect();
        if !forced.contains(&true) {
            return forced;
        }
        let edges = |may: &dyn Fn(usize) -> bool| -> Vec<Vec<usize>> {
            rows.iter().map(|row| row.iter().map(|&(column, _)| column).filter(|&c| may(c)).collect()).collect()
        };
        let mut matching = Matching::maximum(&edges(&|column| !forced[column]), columns.len());
        matching.extend(&edges(&|_| true));
        for (column, is_forced) in forced.iter_mut().enumerate() {
            *is_forced &= matching.row_of_column[column].is_none();
        }
        forced
    }

    fn wish(&self, column: SlotId) -> u8 {
        self.integral_of.get(&column).map_or(Preferences::NEVER, |&x| self.preferences.of(x))
    }

    /// The most wanted states are torn first; among them those with a given start.
    fn cost(&self, column: SlotId) -> u32 {
        let start = self.integral_of.get(&column).and_then(|x| self.system.starts.get(x));
        let by_start = match start {
            Some(start) if start.is_fixed => 0,
            Some(_) => 1,
            None => 2,
        };
        3 * u32::from(Preferences::ALWAYS - self.wish(column).min(Preferences::ALWAYS)) + by_start
    }

    /// Is the coefficient known and not zero, or never zero whatever it depends on?
    fn is_certain(&self, node: NodeId) -> bool {
        match self.known.get(node.index()).and_then(|known| known.value()) {
            Some(value) => value != 0.0 && value.is_finite(),
            None => false,
        }
    }

    /// The coefficients of the torn columns in a row when the others are substituted, by going backward through the rows
    /// that determine them.
    fn total(
        &mut self,
        coefficients: &Coefficients,
        inner: &[(usize, usize)],
        pivot_of: &[Option<usize>],
        row: usize,
    ) -> Option<Row> {
        let mut total = Row::new();
        // Inner columns by their place in the order of computation, the last first.
        let mut pending: BTreeMap<usize, NodeId> = BTreeMap::new();
        self.spread(coefficients, pivot_of, row, None, &mut total, &mut pending)?;
        while let Some((place, factor)) = pending.pop_last() {
            let (column, solved) = inner[place];
            let entries = coefficients.incidence.entries_of(solved);
            let own = entries.into_iter().find(|&e| coefficients.incidence.column_of_entry(e) == column)?;
            let pivot = coefficients.values[own]?;
            let quotient = self.system.dag.binary(BinaryFn::Div, factor, pivot);
            let scale = self.system.dag.negate(quotient);
            self.spread(coefficients, pivot_of, solved, Some((column, scale)), &mut total, &mut pending)?;
        }
        extend_known(self.system, self.known);
        total.retain(|_, node| self.known[node.index()].value() != Some(0.0));
        Some(total)
    }

    /// Adds the coefficients of a row, without the column it determines and times a factor.
    fn spread(
        &mut self,
        coefficients: &Coefficients,
        place_of: &[Option<usize>],
        row: usize,
        solved: Option<(usize, NodeId)>,
        total: &mut Row,
        pending: &mut BTreeMap<usize, NodeId>,
    ) -> Option<()> {
        for entry in coefficients.incidence.entries_of(row) {
            let column = coefficients.incidence.column_of_entry(entry);
            if solved.is_some_and(|(own, _)| own == column) {
                continue;
            }
            let mut value = coefficients.values[entry]?;
            if let Some((_, factor)) = solved {
                value = self.system.dag.binary(BinaryFn::Mul, factor, value);
            }
            let (list, key) = match place_of[column] {
                Some(place) => (&mut *pending, place),
                None => (&mut *total, column),
            };
            let sum = match list.get(&key) {
                Some(&other) => self.system.dag.binary(BinaryFn::Add, other, value),
                None => value,
            };
            list.insert(key, sum);
        }
        Some(())
    }

    /// Gaussian elimination with coefficients that are certain, least wanted states first. Returns the columns that are
    /// determined; their rows are taken out.
    fn eliminate(&mut self, rows: &mut Vec<(usize, Row)>, coefficients: &Coefficients) -> Vec<usize> {
        let mut determined = Vec::new();
        while let Some((at, column)) = self.next_pivot(rows, coefficients) {
            let (_, pivot_row) = rows.remove(at);
            determined.push(column);
            let pivot = pivot_row[&column];
            for (_, row) in rows.iter_mut() {
                let Some(factor) = row.remove(&column) else { continue };
                let quotient = self.system.dag.binary(BinaryFn::Div, factor, pivot);
                for (&other, &value) in pivot_row.iter().filter(|(other, _)| **other != column) {
                    let product = self.system.dag.binary(BinaryFn::Mul, quotient, value);
                    let difference = match row.get(&other) {
                        Some(&present) => self.system.dag.binary(BinaryFn::Sub, present, product),
                        None => self.system.dag.negate(product),
                    };
                    row.insert(other, difference);
                }
                extend_known(self.system, self.known);
                let largest =
                    row.values().filter_map(|n| self.known[n.index()].value()).fold(1e-3, |a, b| b.abs().max(a));
                row.retain(|_, node| {
                    self.known[node.index()].value().is_none_or(|value| value.abs() > NEGLIGIBLE_COEFFICIENT * largest)
                });
            }
        }
        determined
    }

    fn next_pivot(&self, rows: &[(usize, Row)], coefficients: &Coefficients) -> Option<(usize, usize)> {
        let mut best: Option<(u32, usize, usize, usize)> = None;
        for (at, (_, row)) in rows.iter().enumerate() {
            for (&column, &value) in row {
                if !self.is_certain(value) {
                    continue;
                }
                let cost = self.cost(coefficients.columns[column]);
                let candidate = (u32::MAX - cost, row.len(), at, column);
                if best.is_none_or(|b| candidate < b) {
                    best = Some(candidate);
                }
            }
        }
        best.map(|(_, _, at, column)| (at, column))
    }

    /// Divides what is left into independent sets.
    fn divide(
        &mut self,
        rows: Vec<(usize, Row)>,
        coefficients: &Coefficients,
        choice: &mut Choice,
    ) -> Result<(), Vec<Span>> {
        for part in connected(rows) {
            let mut columns: Vec<usize> = part.iter().flat_map(|(_, row)| row.keys().copied()).collect();
            columns.sort_unstable();
            columns.dedup();
            if columns.len() < part.len() {
                return Err(part.iter().map(|(e, _)| self.system.equations[*e].span).collect());
            }
            let slots: Vec<SlotId> = columns.iter().map(|&column| coefficients.columns[column]).collect();
            if columns.len() == part.len() {
                choice.dummies.extend(slots);
                continue;
            }
            let mut entries = Vec::new();
            for (r, (_, row)) in part.iter().enumerate() {
                for (column, &node) in row {
                    let c = columns.binary_search(column).expect("the columns of a part are those of its rows");
                    entries.push((r as u32, c as u32, node));
                }
            }
            choice.sets.push(RawSet {
                equations: part.iter().map(|&(e, _)| e).collect(),
                wishes: slots.iter().map(|&slot| self.wish(slot)).collect(),
                columns: slots,
                entries,
            });
        }
        Ok(())
    }

    /// Where coefficients cannot be told: any choice that the structure allows, least wanted states first.
    fn by_structure(&mut self, equations: &[usize], coefficients: &Coefficients) -> Result<Choice, Vec<Span>> {
        let incidence = &coefficients.incidence;
        let mut matching = Matching::new(incidence.n_rows(), coefficients.columns.len());
        for most in (0..=3 * u32::from(Preferences::ALWAYS) + 2).rev() {
            for only_certain in [true, false] {
                let edges: Vec<Vec<usize>> = (0..incidence.n_rows())
                    .map(|row| {
                        let may = |&entry: &usize| {
                            let column = coefficients.columns[incidence.column_of_entry(entry)];
                            let is_certain = coefficients.values[entry].is_some_and(|v| self.is_certain(v));
                            self.cost(column) >= most && (is_certain || !only_certain)
                        };
                        incidence.entries_of(row).filter(may).map(|entry| incidence.column_of_entry(entry)).collect()
                    })
                    .collect();
                matching.extend(&edges);
            }
        }
        let free = matching.free_rows();
        if !free.is_empty() {
            return Err(free.into_iter().map(|row| self.system.equations[equations[row]].span).collect());
        }
        let dummies = matching.column_of_row.iter().flatten().map(|&column| coefficients.columns[column]).collect();
        Ok(Choice { dummies, sets: Vec::new() })
    }
}

/// For each column that a row determines its place in the order of computation.
fn pivots(coefficients: &Coefficients, inner: &[(usize, usize)]) -> Vec<Option<usize>> {
    let mut place_of = vec![None; coefficients.columns.len()];
    for (place, &(column, _)) in inner.iter().enumerate() {
        place_of[column] = Some(place);
    }
    place_of
}

/// Parts of rows that share no column with other parts.
fn connected(rows: Vec<(usize, Row)>) -> Vec<Vec<(usize, Row)>> {
    let mut part_of_column: BTreeMap<usize, usize> = BTreeMap::new();
    let mut parts: Vec<Vec<(usize, Row)>> = Vec::new();
    for row in rows {
        let mut touched: Vec<usize> = row.1.keys().filter_map(|column| part_of_column.get(column).copied()).collect();
        touched.sort_unstable();
        touched.dedup();
        let mut members = vec![row];
        for &part in &touched {
            members.append(&mut parts[part]);
        }
        let home = touched.first().copied().unwrap_or(parts.len());
        members.iter().flat_map(|(_, row)| row.keys()).for_each(|&column| {
            part_of_column.insert(column, home);
        });
        members.sort_by_key(|&(equation, _)| equation);
        if home == parts.len() {
            parts.push(members);
        } else {
            parts[home] = members;
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
