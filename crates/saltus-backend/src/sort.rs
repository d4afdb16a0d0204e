//! Match equations with unknowns, order them, solve each for its unknown.
//!
//! In: scalar equations and unknown slots. Out: assignments in order of computation. Edges that can be solved safely are
//! matched first, then those with a varying coefficient; the strongly connected components of the whole incidence do not
//! depend on that choice. A component with more than one equation is an algebraic loop.

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Span};
use saltus_graph::{Matching, strongly_connected_components};
use saltus_program::SlotId;

use crate::diagnostics;
use crate::solve::{Solution, solve_for};
use crate::system::{Assignment, ScalarEquation, System, event_unknowns};

/// The event order: continuous and discrete equations together, all relations literal.
pub fn sort_events(system: &mut System, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let unknowns = event_unknowns(system);
    let equations = system.equations.clone();
    let structure = Structure::new(system, &equations, &unknowns);
    let mut matching = Matching::new(equations.len(), unknowns.len());
    structure.match_rows(&mut matching);
    if matching.size() < equations.len().max(unknowns.len()) {
        report_unmatched(system, &structure, &equations, &unknowns, &matching, diagnostics);
        return Vec::new();
    }
    structure.order(system, &equations, &unknowns, &matching, diagnostics)
}

/// Which unknowns occur in which equations, and which can be solved for.
pub struct Structure {
    /// Columns of each row.
    incidence: Vec<Vec<usize>>,
    solutions: BTreeMap<(usize, usize), Solution>,
}

impl Structure {
    pub fn new(system: &mut System, equations: &[ScalarEquation], unknowns: &[SlotId]) -> Self {
        let column: BTreeMap<SlotId, usize> = unknowns.iter().enumerate().map(|(i, &slot)| (slot, i)).collect();
        let owned: std::collections::BTreeSet<SlotId> = equations.iter().filter_map(|e| e.target).collect();
        let mut incidence = Vec::new();
        let mut solutions = BTreeMap::new();
        for (row, equation) in equations.iter().enumerate() {
            let loads = system.dag.loads(&[equation.left, equation.right]);
            let columns: Vec<usize> = loads.iter().filter_map(|slot| column.get(slot).copied()).collect();
            for &c in &columns {
                let unknown = unknowns[c];
                // What an assignment defines is nobody else's unknown.
                let may = equation.target == Some(unknown) || equation.target.is_none() && !owned.contains(&unknown);
                if may {
                    solutions.insert((row, c), solve_for(system, equation, unknown));
                }
            }
            incidence.push(columns);
        }
        Structure { incidence, solutions }
    }

    fn edges(&self, n_rows: usize, wanted: fn(&Solution) -> bool) -> Vec<Vec<usize>> {
        let mut edges = vec![Vec::new(); n_rows];
        for (&(row, column), solution) in &self.solutions {
            if wanted(solution) {
                edges[row].push(column);
            }
        }
        edges
    }

    /// Safe edges first, then risky ones, then those that cannot be solved (to tell singular from nonlinear).
    pub fn match_rows(&self, matching: &mut Matching) {
        let n = self.incidence.len();
        matching.extend(&self.edges(n, |s| matches!(s, Solution::Safe(_))));
        matching.extend(&self.edges(n, |s| matches!(s, Solution::Safe(_) | Solution::Risky(_))));
        matching.extend(&self.edges(n, |_| true));
    }

    /// Orders the matched rows. Rows without a column are left out.
    pub fn order(
        &self,
        system: &System,
        equations: &[ScalarEquation],
        unknowns: &[SlotId],
        matching: &Matching,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Assignment> {
        let needs: Vec<Vec<usize>> = self
            .incidence
            .iter()
            .enumerate()
            .map(|(row, columns)| match matching.column_of_row[row] {
                Some(own) => columns.iter().filter(|&&c| c != own).filter_map(|&c| matching.row_of_column[c]).collect(),
                None => Vec::new(),
            })
            .collect();
        let mut sorted = Vec::new();
        for component in strongly_connected_components(&needs) {
            if component.len() > 1 {
                let columns = component.iter().filter_map(|&row| matching.column_of_row[row]);
                let names: Vec<String> = columns.map(|c| system.name(unknowns[c]).to_owned()).collect();
                let spans: Vec<Span> = component.iter().map(|&row| equations[row].span).collect();
                diagnostics.push(diagnostics::algebraic_loop(&names, &spans));
                continue;
            }
            let row = component[0];
            let Some(column) = matching.column_of_row[row] else { continue };
            let (slot, span) = (unknowns[column], equations[row].span);
            match self.solutions.get(&(row, column)) {
                Some(Solution::Safe(node) | Solution::Risky(node)) => {
                    sorted.push(Assignment { slot, node: *node, span })
                }
                _ => diagnostics.push(diagnostics::nonlinear(system.name(slot), span)),
            }
        }
        sorted
    }

    pub fn competitors(&self, matching: &Matching, row: usize) -> Vec<usize> {
        let edges = self.edges(self.incidence.len(), |_| true);
        matching.rows_competing_with(&edges, row)
    }
}

fn report_unmatched(
    system: &System,
    structure: &Structure,
    equations: &[ScalarEquation],
    unknowns: &[SlotId],
    matching: &Matching,
    diagnostics: &mut Diagnostics,
) {
    let spans = |rows: Vec<usize>| -> Vec<Span> { rows.into_iter().map(|r| equations[r].span).collect() };
    for row in matching.free_rows() {
        let competing = spans(structure.competitors(matching, row));
        diagnostics.push(diagnostics::too_many_equations(equations[row].span, &competing));
    }
    let free = matching.free_columns();
    if !free.is_empty() {
        let names: Vec<String> = free.iter().map(|&c| system.name(unknowns[c]).to_owned()).collect();
        diagnostics.push(diagnostics::structurally_singular(&[], &names, equations.len(), unknowns.len()));
    }
}
