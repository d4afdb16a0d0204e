//! Match equations with unknowns and sort them: the event order and the continuous order of one matching.
//!
//! In: the index-reduced system. Out: [`Orders`]. At events continuous and discrete equations are sorted together, with all
//! relations literal; between events discrete variables are known, which breaks many loops.

use saltus_base::{Diagnostics, Index, Span};
use saltus_graph::{IncidenceBuilder, Matching};
use saltus_program::{SlotId, SlotKind, SlotType};

use crate::blocks::{Step, sort_into_blocks};
use crate::diagnostics;
use crate::structure::{Solvability, Structure};
use crate::system::{ScalarEquation, System, event_unknowns};

#[derive(Default)]
pub struct Orders {
    pub events: Vec<Step>,
    pub continuous: Vec<Step>,
    /// What jumps where the configuration is entered; of models whose structure changes.
    pub entry: Vec<Step>,
    /// Values with which states of machines are entered.
    pub arrival: Vec<Step>,
}

pub fn sort_equations(system: &mut System, diagnostics: &mut Diagnostics) -> Orders {
    release_assignments(system);
    let Some(Matched { equations, unknowns, structure, matching }) = match_equations(system, diagnostics) else {
        return Orders::default();
    };
    let events = sort_into_blocks(system, &equations, &unknowns, &structure, &matching, diagnostics);
    let continuous = continuous_order(system, &equations, &unknowns, &matching, diagnostics);
    Orders { events, continuous, entry: Vec::new(), arrival: Vec::new() }
}

/// The event order alone.
pub fn sort_events(system: &mut System, diagnostics: &mut Diagnostics) -> Vec<Step> {
    release_assignments(system);
    match match_equations(system, diagnostics) {
        Some(m) => sort_into_blocks(system, &m.equations, &m.unknowns, &m.structure, &m.matching, diagnostics),
        None => Vec::new(),
    }
}

/// All equations with their unknowns.
struct Matched {
    equations: Vec<ScalarEquation>,
    unknowns: Vec<SlotId>,
    structure: Structure,
    matching: Matching,
}

fn match_equations(system: &System, diagnostics: &mut Diagnostics) -> Option<Matched> {
    let unknowns = event_unknowns(system);
    let equations = system.equations.clone();
    let structure = Structure::new(system, &equations, &unknowns);
    let mut matching = Matching::new(equations.len(), unknowns.len());
    extend_by_quality(&mut matching, &structure, &equations, &|_| true);
    if matching.size() < equations.len().max(unknowns.len()) {
        report_unmatched(system, &structure, &equations, &unknowns, &matching, diagnostics);
        return None;
    }
    Some(Matched { equations, unknowns, structure, matching })
}

/// Makes equations of those assignments of algorithms that must be solved for something else than their targets.
///
/// ```text
/// algorithm y := x^3;              y = x^3        which determines x, because
/// equation  y = 1 + time;          y = 1 + time   determines y
/// ```
///
/// As few as can be are changed, those that are not linear in the unknown first: elsewhere an algorithm computes what it assigns, and
/// what it reads is what to iterate over. (Specification: sections 8.4 and 11.1, an algorithm is a vector equation of what it
/// assigns.)
fn release_assignments(system: &mut System) {
    if system.equations.iter().all(|equation| equation.target.is_none()) {
        return;
    }
    let unknowns = event_unknowns(system);
    let structure = Structure::new(system, &system.equations, &unknowns);
    let mut matching = Matching::new(system.equations.len(), unknowns.len());
    extend_by_quality(&mut matching, &structure, &system.equations, &|_| true);
    if matching.size() == system.equations.len() || matching.free_columns().is_empty() {
        return;
    }
    let mut relaxed = system.equations.clone();
    let edges = structure.edges(Solvability::No);
    for row in matching.reached_from(&edges, matching.free_rows()).rows {
        relaxed[row]
            .target
            .take_if(|target| is_rearrangeable(system.slots[*target].kind) && system.equations[row].is_real);
    }
    let structure = Structure::new(system, &relaxed, &unknowns);
    let is_owned = owned_columns(&structure, &relaxed);
    for is_linear_too in [false, true] {
        let mut edges = IncidenceBuilder::new(structure.n_columns);
        for (row, equation) in relaxed.iter().enumerate() {
            let target = system.equations[row].target.filter(|_| equation.target.is_none());
            let may = |k: &usize| match target {
                Some(target) => is_linear_too || unknowns[*k] == target || structure.how(row, *k) == Solvability::No,
                None => true,
            };
            edges.push_row(structure.determining(row, equation, &is_owned, Solvability::No).filter(may));
        }
        matching.extend(&edges.finish());
    }
    for (row, equation) in system.equations.iter_mut().enumerate() {
        let determined = matching.column_of_row[row].map(|k| unknowns[k]);
        if relaxed[row].target.is_none() && determined.is_some() && determined != equation.target {
            equation.target = None;
        }
    }
}

/// May an assignment to such a variable be read as an equation? A constant is one that an equation made so.
fn is_rearrangeable(kind: SlotKind) -> bool {
    use SlotKind::{Algebraic, Clocked, Derivative, Parameter, State};
    matches!(kind, Algebraic | Clocked | Derivative | Parameter | State)
}

/// Extends a matching, edges that can be solved safely first. Only rows for which `is_due` holds are added.
pub fn extend_by_quality(
    matching: &mut Matching,
    structure: &Structure,
    equations: &[ScalarEquation],
    is_due: &dyn Fn(usize) -> bool,
) {
    let is_owned = owned_columns(structure, equations);
    let matched = |matching: &Matching, row: usize| matching.column_of_row[row].is_some();
    for worst in [Solvability::Constant, Solvability::Parameter, Solvability::Varying, Solvability::No] {
        if (0..equations.len()).all(|row| !is_due(row) || matched(matching, row)) {
            return;
        }
        let mut edges = IncidenceBuilder::new(structure.n_columns);
        for (row, equation) in equations.iter().enumerate() {
            let is_used = is_due(row) || matched(matching, row);
            edges.push_row(structure.determining(row, equation, &is_owned, worst).filter(|_| is_used));
        }
        let edges = edges.finish();
        // Which rows stay out is decided when all edges are there.
        if worst == Solvability::No {
            matching.extend(&edges);
        } else {
            matching.extend_any(&edges);
        }
    }
}

/// The unknowns that assignments determine.
fn owned_columns(structure: &Structure, equations: &[ScalarEquation]) -> Vec<bool> {
    let mut is_owned = vec![false; structure.n_columns];
    for (row, equation) in structure.rows.iter().zip(equations) {
        if equation.target.is_some() {
            row.iter().filter(|(_, how)| *how == Solvability::Constant).for_each(|(k, _)| is_owned[*k] = true);
        }
    }
    is_owned
}

/// The equations of continuous variables, discrete ones being known.
fn continuous_order(
    system: &mut System,
    equations: &[ScalarEquation],
    unknowns: &[SlotId],
    matching: &Matching,
    diagnostics: &mut Diagnostics,
) -> Vec<Step> {
    let rows: Vec<usize> = (0..equations.len())
        .filter(|&row| matching.column_of_row[row].is_some_and(|c| system.slots[unknowns[c]].kind.is_continuous()))
        .collect();
    let part: Vec<ScalarEquation> = rows.iter().map(|&r| equations[r].clone()).collect();
    let slots: Vec<SlotId> = unknowns.iter().copied().filter(|&s| system.slots[s].kind.is_continuous()).collect();
    let mut column = vec![usize::MAX; system.slots.len()];
    slots.iter().enumerate().for_each(|(k, s)| column[s.index()] = k);
    let structure = Structure::new(system, &part, &slots);
    let mut own = Matching::new(part.len(), slots.len());
    for (k, &row) in rows.iter().enumerate() {
        if let Some(c) = matching.column_of_row[row] {
            own.assign(k, column[unknowns[c].index()]);
        }
    }
    sort_into_blocks(system, &part, &slots, &structure, &own, diagnostics)
}

fn report_unmatched(
    system: &System,
    structure: &Structure,
    equations: &[ScalarEquation],
    unknowns: &[SlotId],
    matching: &Matching,
    diagnostics: &mut Diagnostics,
) {
    let edges = structure.edges(Solvability::No);
    for row in matching.free_rows() {
        if report_real_equation(system, structure, equations, unknowns, row, diagnostics) {
            continue;
        }
        let rows = matching.rows_competing_with(&edges, row);
        let competing: Vec<Span> = rows.into_iter().map(|r| equations[r].span).collect();
        diagnostics.push(diagnostics::too_many_equations(equations[row].span, &competing));
    }
    let free = matching.free_columns();
    if !free.is_empty() {
        let names: Vec<String> = free.iter().map(|&c| system.name(unknowns[c]).into_owned()).collect();
        diagnostics.push(diagnostics::structurally_singular(&[], &names, equations.len(), unknowns.len()));
    }
}

/// Tells of an equation that is left over because it is a Real one and has an Integer, Boolean or enumeration to determine.
pub fn report_real_equation(
    system: &System,
    structure: &Structure,
    equations: &[ScalarEquation],
    unknowns: &[SlotId],
    row: usize,
    diagnostics: &mut Diagnostics,
) -> bool {
    let equation = &equations[row];
    let is_discrete = |k: usize| system.slots[unknowns[k]].ty != SlotType::Real;
    let found = structure.rows[row].iter().map(|&(k, _)| k).find(|&k| is_discrete(k));
    let Some(k) = found.filter(|_| equation.is_real && equation.target.is_none()) else { return false };
    diagnostics.push(diagnostics::real_equation_of_integer(&system.name(unknowns[k]), equation.span));
    true
}
