//! Sort matched equations into steps: assignments, and loops with as few iteration variables as tearing finds.
//!
//! ```text
//! u = R * i;  u = E - v;  v = K * i^2      ⇒   loop over i:  v := K*i^2; u := E - v;  residual: u - R*i
//! ```
//!
//! In: a system of equations with a matching. Out: [`Step`]s in order of computation. Discrete equations in a loop (the
//! memory of relations first of all) make it a mixed loop: they are evaluated after the reals, until nothing changes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use saltus_base::{Diagnostics, Index, Span};
use saltus_graph::{IncidenceBuilder, Matching, TearingProblem, strongly_connected_components};
use saltus_program::{BinaryFn, SlotId, SlotKind, SlotType};

use crate::chains::cut_chains;
use crate::dag::{Dag, NodeId};
use crate::deadlock::{EquationLoop, deadlock};
use crate::diagnostics;
use crate::families::FamilyStep;
use crate::jacobian::LoopJacobian;
use crate::multiply_out::multiply_out;
use crate::solve::{Solution, solve_for};
use crate::state_sets::is_candidate;
use crate::structure::{Solvability, Structure};
use crate::system::{Assignment, ScalarEquation, System};
use crate::tuning::form::{LARGEST_TORN, LARGEST_TORN_WITH_CALLS};

/// One step of a computation.
#[derive(Clone, Debug)]
pub enum Step {
    Assign(Assignment),
    Loop(LoopStep),
    Family(Arc<FamilyStep>),
}

/// Equations solved together; the nodes are free of the inner variables.
#[derive(Clone, Default, Debug)]
pub struct LoopStep {
    pub unknowns: Vec<SlotId>,
    /// Variables that follow from the unknowns, in order.
    pub inner: Vec<Assignment>,
    pub residuals: Vec<(NodeId, Span)>,
    /// Discrete variables, in terms of unknowns and inner variables.
    pub discrete: Vec<Assignment>,
    /// The real equations as they were: first those that give the inner variables, then the residuals.
    pub equations: Vec<LoopEquation>,
    /// Made when everything is sorted; none where a function without a derivative is called.
    pub jacobian: Option<LoopJacobian>,
    /// The unknowns in terms of what is known, if that was found; then nothing is iterated.
    pub solution: Option<LoopSolution>,
    /// Rounding errors may grow along the inner variables.
    pub may_grow: bool,
}

/// Assignments that solve a loop.
#[derive(Clone, Debug)]
pub struct LoopSolution {
    pub values: Vec<Assignment>,
    /// The same and a step from there, so that what must vanish does so beyond rounding; empty where no switch waits for that.
    pub refined: Vec<Assignment>,
}

/// A real equation of a loop.
#[derive(Clone, Debug)]
pub struct LoopEquation {
    pub left: NodeId,
    pub right: NodeId,
    /// Left minus right side.
    pub difference: NodeId,
    pub span: Span,
    /// What it is solved for; none of a residual.
    pub solved: Option<SlotId>,
}

impl LoopEquation {
    fn new(system: &mut System, equation: &ScalarEquation, solved: Option<SlotId>) -> Self {
        let &ScalarEquation { left, right, span, .. } = equation;
        LoopEquation { left, right, difference: system.dag.binary(BinaryFn::Sub, left, right), span, solved }
    }
}

impl Step {
    /// The slots the step computes.
    pub fn slots(&self) -> Vec<SlotId> {
        match self {
            Step::Assign(a) => vec![a.slot],
            Step::Family(family) => family.slots().collect(),
            Step::Loop(l) => {
                let computed = l.inner.iter().chain(&l.discrete).map(|a| a.slot);
                l.unknowns.iter().copied().chain(computed).collect()
            }
        }
    }

    pub fn assignment(&self) -> Option<&Assignment> {
        if let Step::Assign(a) = self { Some(a) } else { None }
    }

    /// The slots the step reads, also those that it computes itself; with repetitions.
    pub fn loads(&self, dag: &Dag) -> Vec<SlotId> {
        match self {
            Step::Family(family) => {
                let mut loads = Vec::new();
                family.each_load(dag, &mut |slot| loads.push(slot));
                loads
            }
            _ => dag.loads(&self.nodes()),
        }
    }

    /// The slots the step computes, one by one.
    pub fn each_slot(&self, visit: &mut dyn FnMut(SlotId)) {
        match self {
            Step::Family(family) => family.slots().for_each(visit),
            _ => self.slots().into_iter().for_each(visit),
        }
    }

    /// The slots the step reads, one by one, with repetitions.
    pub fn each_load(&self, dag: &Dag, visit: &mut dyn FnMut(SlotId)) {
        match self {
            Step::Family(family) => family.each_load(dag, visit),
            _ => self.loads(dag).into_iter().for_each(visit),
        }
    }

    /// Does it compute one of these, by slot?
    pub fn computes_any(&self, is_meant: &[bool]) -> bool {
        match self {
            Step::Family(family) => family.slots().any(|slot| is_meant[slot.index()]),
            _ => self.slots().iter().any(|slot| is_meant[slot.index()]),
        }
    }

    /// The nodes the step evaluates.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            Step::Assign(a) => vec![a.node],
            Step::Family(family) => vec![family.node],
            Step::Loop(l) => {
                let residuals = l.residuals.iter().map(|r| r.0);
                l.inner.iter().chain(&l.discrete).map(|a| a.node).chain(residuals).collect()
            }
        }
    }
}

/// Orders the matched rows; rows without a column are left out.
pub fn sort_into_blocks(
    system: &mut System,
    equations: &[ScalarEquation],
    unknowns: &[SlotId],
    structure: &Structure,
    matching: &Matching,
    diagnostics: &mut Diagnostics,
) -> Vec<Step> {
    let needs: Vec<Vec<usize>> = structure
        .rows
        .iter()
        .enumerate()
        .map(|(row, columns)| match matching.column_of_row[row] {
            Some(own) => {
                columns.iter().filter(|(c, _)| *c != own).filter_map(|(c, _)| matching.row_of_column[*c]).collect()
            }
            None => Vec::new(),
        })
        .collect();
    let mut steps = Vec::new();
    for component in strongly_connected_components(&needs) {
        if let [row] = component[..] {
            let Some(column) = matching.column_of_row[row] else { continue };
            if structure.how(row, column) != Solvability::No
                && let Solution::Safe(node) | Solution::Risky(node) =
                    solve_for(system, &equations[row], unknowns[column])
            {
                steps.push(Step::Assign(Assignment { slot: unknowns[column], node, span: equations[row].span }));
                continue;
            }
        }
        let columns: Vec<usize> = component.iter().filter_map(|&r| matching.column_of_row[r]).collect();
        let determines = |row: usize| matching.column_of_row[row].map(|column| unknowns[column]);
        let in_loop = EquationLoop { equations, rows: &component, needs: &needs, determines: &determines };
        if let Some(deadlock) = deadlock(system, &in_loop) {
            diagnostics.push(deadlock);
            continue;
        }
        match solve_loop(system, equations, unknowns, structure, &component, &columns) {
            Some((step, checks)) => {
                steps.push(Step::Loop(step));
                steps.extend(checks.into_iter().map(Step::Assign));
            }
            None => {
                let names: Vec<String> = columns.iter().map(|&c| system.name(unknowns[c]).into_owned()).collect();
                let spans: Vec<Span> = component.iter().map(|&r| equations[r].span).collect();
                diagnostics.push(diagnostics::algebraic_loop(&names, &spans));
            }
        }
    }
    steps
}

/// The step that solves the equations of one loop, of which each is matched with the column at the same place, and values that are not
/// numbers where its solution does not fulfil the equations as they were written.
fn solve_loop(
    system: &mut System,
    equations: &[ScalarEquation],
    unknowns: &[SlotId],
    structure: &Structure,
    rows: &[usize],
    columns: &[usize],
) -> Option<(LoopStep, Vec<Assignment>)> {
    // A Real parameter that the initial system finds is solved for like any other Real, and so is a Real that a `when` gives its
    // value: `when c then y = f(x); end when; g(x, y) = 0` has two unknowns at the instant at which `c` becomes true.
    // In the initial system that may be its value before, which initial conditions such as `pre(y) = y` determine.
    let is_initial = columns.iter().any(|&column| system.slots[unknowns[column]].kind == SlotKind::Pre);
    let is_real = |row: usize, column: usize| {
        let (slot, equation) = (&system.slots[unknowns[column]], &equations[row]);
        let is_condition = is_initial && equation.target.is_none();
        let is_of_when = slot.kind == SlotKind::Discrete && (equation.initially.is_some() || is_condition);
        let is_free = matches!(slot.kind, SlotKind::Parameter | SlotKind::Pre);
        slot.ty == SlotType::Real && (slot.kind.is_continuous() || is_free || is_of_when)
    };
    let pairs = rows.iter().copied().zip(columns.iter().copied());
    let (real, discrete): (Vec<_>, Vec<_>) = pairs.partition(|&(row, column)| is_real(row, column));
    let discrete = discrete_assignments(system, equations, unknowns, &discrete)?;
    let roots: Vec<NodeId> = real.iter().flat_map(|&(row, _)| [equations[row].left, equations[row].right]).collect();
    let mut calls = Vec::new();
    system.dag.calls_of(&roots, &mut calls);
    let (rows, columns): (Vec<usize>, Vec<usize>) = real.into_iter().unzip();
    let own: Vec<&ScalarEquation> = rows.iter().map(|&row| &equations[row]).collect();
    let solved_for: HashSet<SlotId> = columns.iter().map(|&column| unknowns[column]).collect();
    // With calls there may be no Jacobian, and then no sparse one: each unknown costs an evaluation, and each needs a start value.
    let largest = if calls.is_empty() { LARGEST_TORN } else { LARGEST_TORN_WITH_CALLS };
    if rows.len() > largest && !(calls.is_empty() && is_linear(system, &own, &solved_for)) {
        let residuals = own.iter().map(|equation| residual(system, equation, &|_| None)).collect();
        let unknowns = columns.iter().map(|&column| unknowns[column]).collect();
        let equations = own.iter().map(|equation| LoopEquation::new(system, equation, None)).collect();
        let inner = Vec::new();
        let step = LoopStep { unknowns, inner, residuals, discrete, equations, ..LoopStep::default() };
        return Some((step, Vec::new()));
    }
    let linear = if discrete.is_empty() { multiply_out(system, &own, &solved_for) } else { None };
    let (linear, poles) = linear.map_or_else(Default::default, |multiplied| (multiplied.equations, multiplied.poles));
    let linear: HashMap<usize, ScalarEquation> = rows.iter().copied().zip(linear).collect();
    let equation = |row: usize| linear.get(&row).unwrap_or(&equations[row]);
    let step = tear(system, &equation, unknowns, structure, &rows, &columns, discrete)?;
    Some((step, poles.into_iter().map(|(node, span)| pole_check(system, node, span)).collect()))
}

/// Are the equations linear in their unknowns?
fn is_linear(system: &System, equations: &[&ScalarEquation], unknowns: &HashSet<SlotId>) -> bool {
    let is_unknown = |slot| unknowns.contains(&slot);
    let mut sides = equations.iter().flat_map(|equation| [equation.left, equation.right]);
    sides.all(|side| system.dag.is_linear_in(side, &is_unknown))
}

/// Where a denominator that was multiplied out is zero, so is the numerator, and their quotient is not a number.
fn pole_check(system: &mut System, node: NodeId, span: Span) -> Assignment {
    let name = format!("quotient {}", system.slots.len());
    Assignment { slot: system.add_slot(name, SlotKind::Auxiliary, SlotType::Real), node, span }
}

/// Solves the equations of one loop for all but a few variables, in terms of those.
fn tear<'e>(
    system: &mut System,
    equation: &dyn Fn(usize) -> &'e ScalarEquation,
    unknowns: &[SlotId],
    structure: &Structure,
    rows: &[usize],
    columns: &[usize],
    discrete: Vec<Assignment>,
) -> Option<LoopStep> {
    let mut plan = Plan::make(system, unknowns, structure, rows, columns);
    let may_grow = cut_chains(system, equation, unknowns, structure, &mut plan);
    let mut values: HashMap<SlotId, NodeId> = HashMap::new();
    let mut inner = Vec::new();
    for (row, column) in std::mem::take(&mut plan.assignments) {
        let slot = unknowns[column];
        let (Solution::Safe(node) | Solution::Risky(node)) = solve_for(system, equation(row), slot) else {
            plan.torn.push(column);
            plan.residuals.push(row);
            continue;
        };
        plan.assignments.push((row, column));
        let node = system.dag.substitute(node, &|s| values.get(&s).copied());
        values.insert(slot, node);
        inner.push(Assignment { slot, node, span: equation(row).span });
    }
    let value = |slot: SlotId| values.get(&slot).copied();
    let residuals = plan.residuals.iter().map(|&row| residual(system, equation(row), &value)).collect();
    let inner_rows = plan.assignments.iter().map(|&(row, column)| (row, Some(unknowns[column])));
    let all = inner_rows.chain(plan.residuals.iter().map(|&row| (row, None)));
    let equations = all.map(|(row, solved)| LoopEquation::new(system, equation(row), solved)).collect();
    let unknowns = plan.torn.iter().map(|&c| unknowns[c]).collect();
    Some(LoopStep { unknowns, inner, residuals, discrete, equations, may_grow, ..LoopStep::default() })
}

/// `left - right` with some variables replaced.
fn residual(
    system: &mut System,
    equation: &ScalarEquation,
    value: &dyn Fn(SlotId) -> Option<NodeId>,
) -> (NodeId, Span) {
    let difference = system.dag.binary(BinaryFn::Sub, equation.left, equation.right);
    (system.dag.substitute(difference, value), equation.span)
}

/// The discrete equations of a mixed loop, each solved for its variable.
fn discrete_assignments(
    system: &mut System,
    equations: &[ScalarEquation],
    unknowns: &[SlotId],
    pairs: &[(usize, usize)],
) -> Option<Vec<Assignment>> {
    let mut assignments = Vec::with_capacity(pairs.len());
    for &(row, column) in pairs {
        let (equation, slot) = (&equations[row], unknowns[column]);
        let (Solution::Safe(node) | Solution::Risky(node)) = solve_for(system, equation, slot) else { return None };
        assignments.push(Assignment { slot, node, span: equation.span });
    }
    Some(assignments)
}

/// Which variables are iterated over, which equations determine the others, which remain.
pub struct Plan {
    /// Columns.
    pub torn: Vec<usize>,
    /// Rows with the columns that they are solved for, in order of computation.
    pub assignments: Vec<(usize, usize)>,
    pub residuals: Vec<usize>,
}

impl Plan {
    /// Variables that may be states are iterated over in any case.
    fn make(system: &System, unknowns: &[SlotId], structure: &Structure, rows: &[usize], columns: &[usize]) -> Plan {
        let mut position: HashMap<usize, usize> = HashMap::with_capacity(columns.len());
        position.extend(columns.iter().enumerate().map(|(k, &c)| (c, k)));
        let mut builder = IncidenceBuilder::new(columns.len());
        let mut solvable = Vec::new();
        for &row in rows {
            let inside = || structure.rows[row].iter().filter_map(|(c, how)| Some((*position.get(c)?, *how)));
            builder.push_row(inside().map(|(k, _)| k));
            solvable.extend(inside().map(|(_, how)| how <= Solvability::Parameter));
        }
        let mut problem = TearingProblem::new(builder.finish());
        problem.solvable = solvable;
        problem.cost = columns.iter().map(|&c| u32::from(!is_candidate(system, unknowns[c]))).collect();
        let tearing = saltus_graph::tear(&problem);
        Plan {
            torn: tearing.torn.into_iter().map(|k| columns[k]).collect(),
            assignments: tearing.inner.into_iter().map(|(k, i)| (rows[i], columns[k])).collect(),
            residuals: tearing.residuals.into_iter().map(|i| rows[i]).collect(),
        }
    }
}
