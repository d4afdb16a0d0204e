//! Cut the chains of a torn linear loop where they get too long.
//!
//! ```text
//! q[i+1] := q[i] - s[i];  x[i+1] := (b - q[i+1]) / c;  s[i+1] := s[i] + x[i+1];  …      over q[1], s[1]
//!                   ⇒   the same, with q[12] and s[12] as iteration variables, too, and their equations as residuals
//! ```
//!
//! Two things can go wrong along a chain. *Rounding errors grow*: the recursion above is unstable although the system is not, and after
//! sixty steps nothing is left of the result. A bound for the growth follows from the coefficients: each variable is at most the
//! sum of what it is computed from. *The matrix fills up*: the acceleration of the last body of a mechanism is the sum of all joint
//! accelerations, and the force in the first joint the sum of all forces, so that every equation contains every joint, and the cost
//! grows with the cube of their number. Cut into pieces, the same chain has a band.
//!
//! Only linear loops are cut. An iteration variable of a nonlinear one needs a start value; of a chain along which errors may grow beyond all
//! measure the runtime confirms that what was found fulfils the equations.

use std::collections::{HashMap, HashSet};

use saltus_base::Index;
use saltus_graph::Matching;
use saltus_program::{BinaryFn, SlotId};

use crate::blocks::Plan;
use crate::dag::{Dag, NodeId};
use crate::magnitudes::magnitude;
use crate::structure::Structure;
use crate::system::{ScalarEquation, System};
use crate::tuning::form::{LARGEST_DENSE, LONGEST_CHAIN, SHORTEST_CUT};
use crate::tuning::tolerance::{LITTLE_GROWTH, LOST_GROWTH, MOST_GROWTH};

/// Sweeps over rows and columns that balance coefficients of different units.
const SWEEPS: usize = 4;

/// Coefficients of one equation: columns, and the logarithm (base 2) of the magnitude.
type Row = Vec<(usize, f64)>;

/// Cuts the chains of `plan` if all rows are linear. Otherwise: may errors grow so much that nothing is left of a solution?
pub fn cut_chains<'e>(
    system: &mut System,
    equation: &dyn Fn(usize) -> &'e ScalarEquation,
    unknowns: &[SlotId],
    structure: &Structure,
    plan: &mut Plan,
) -> bool {
    if plan.assignments.len() < SHORTEST_CUT {
        return false;
    }
    let (rows, is_linear) = coefficients(system, equation, unknowns, structure, plan);
    let scales = balance(&rows);
    let is_large = plan.torn.len() > LARGEST_DENSE;
    let mut chain =
        Chain { rows: &rows, scales, growth: HashMap::new(), needs: HashMap::new(), is_at_end: HashSet::new() };
    for (place, &column) in plan.torn.iter().enumerate() {
        chain.begin(column, place);
    }
    if !is_linear {
        return plan.assignments.iter().any(|&(row, column)| chain.goes_on(row, column) > LOST_GROWTH.log2());
    }
    let n_torn = plan.torn.len();
    for (row, column) in std::mem::take(&mut plan.assignments) {
        let (growth, needs) = (chain.growth_of(row, column), chain.needs_of(row, Some(column)));
        let is_grown = growth > MOST_GROWTH.log2();
        if is_grown {
            chain.end(row);
        }
        if is_grown || chain.goes_on_from_end(row) || (is_large && needs.len() > LONGEST_CHAIN) {
            chain.begin(column, plan.torn.len());
            plan.torn.push(column);
            plan.residuals.push(row);
        } else {
            chain.growth.insert(column, growth);
            chain.needs.insert(column, needs);
            plan.assignments.push((row, column));
        }
    }
    if plan.torn.len() > n_torn {
        pair_residuals(plan, &chain);
    }
    false
}

/// What is known of the variables along the chain.
struct Chain<'r> {
    rows: &'r HashMap<usize, Row>,
    /// By column.
    scales: HashMap<usize, f64>,
    /// Bound for the change of a variable if the iteration variables change by one, as a logarithm.
    growth: HashMap<usize, f64>,
    /// The iteration variables that a variable depends on, as places among them, ascending.
    needs: HashMap<usize, Vec<usize>>,
    /// Grown variables where chains have been cut; what they lead to begins anew as well, so that no growth is handed on.
    is_at_end: HashSet<usize>,
}

impl Chain<'_> {
    fn end(&mut self, row: usize) {
        let columns = self.rows.get(&row).into_iter().flatten().map(|term| term.0);
        let is_grown = |column: &usize| self.growth.get(column).is_some_and(|growth| *growth > LITTLE_GROWTH.log2());
        self.is_at_end.extend(columns.filter(is_grown));
    }

    fn goes_on_from_end(&self, row: usize) -> bool {
        self.rows.get(&row).into_iter().flatten().any(|(column, _)| self.is_at_end.contains(column))
    }

    fn begin(&mut self, column: usize, place: usize) {
        self.growth.insert(column, 0.0);
        self.needs.insert(column, vec![place]);
    }

    /// The growth of a variable, which is remembered for those that follow.
    fn goes_on(&mut self, row: usize, own: usize) -> f64 {
        let growth = self.growth_of(row, own);
        self.growth.insert(own, growth);
        growth
    }

    fn growth_of(&self, row: usize, own: usize) -> f64 {
        let scaled = |column: usize, coefficient: f64| coefficient + self.scales.get(&column).copied().unwrap_or(0.0);
        let (mut sum, mut pivot) = (0.0, 0.0);
        for &(column, coefficient) in self.rows.get(&row).into_iter().flatten() {
            match self.growth.get(&column) {
                _ if column == own => pivot = scaled(column, coefficient),
                Some(growth) => sum += (scaled(column, coefficient) + growth).exp2(),
                None => {}
            }
        }
        (sum.log2() - pivot).max(0.0)
    }

    fn needs_of(&self, row: usize, own: Option<usize>) -> Vec<usize> {
        let others = self.rows.get(&row).into_iter().flatten().filter(|(column, _)| Some(*column) != own);
        let mut all: Vec<usize> = others.filter_map(|(column, _)| self.needs.get(column)).flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The coefficients of all rows, and whether all are linear. What nothing is known about counts as one.
fn coefficients<'e>(
    system: &mut System,
    equation: &dyn Fn(usize) -> &'e ScalarEquation,
    unknowns: &[SlotId],
    structure: &Structure,
    plan: &Plan,
) -> (HashMap<usize, Row>, bool) {
    let inner = plan.assignments.iter().map(|a| a.1);
    let column_of: HashMap<SlotId, usize> = plan.torn.iter().copied().chain(inner).map(|c| (unknowns[c], c)).collect();
    let rows: Vec<usize> = plan.assignments.iter().map(|a| a.0).chain(plan.residuals.iter().copied()).collect();
    let mut forms = Vec::with_capacity(rows.len());
    let mut is_linear = true;
    for &row in &rows {
        let slots: Vec<SlotId> = structure.rows[row].iter().map(|(c, _)| unknowns[*c]).collect();
        let own: Vec<SlotId> = slots.into_iter().filter(|slot| column_of.contains_key(slot)).collect();
        let difference = system.dag.binary(BinaryFn::Sub, equation(row).left, equation(row).right);
        let form = system.dag.linear_in_all(difference, &own).map(|form| form.terms);
        is_linear &= form.is_some();
        let unit = |dag: &mut Dag| own.iter().map(|&slot| (slot, dag.constant(1.0))).collect();
        forms.push((row, form.unwrap_or_else(|| unit(&mut system.dag))));
    }
    let parameter = |slot: SlotId| system.parameters.values.get(slot.index()).copied().flatten().map(f64::abs);
    let size = |node: NodeId| {
        let known = system.dag.value(node).map(f64::abs).or_else(|| magnitude(&system.dag, &parameter, node));
        known.map(f64::log2).filter(|size| size.is_finite()).unwrap_or(0.0)
    };
    let terms = |form: Vec<(SlotId, NodeId)>| -> Row {
        form.into_iter().map(|(slot, node)| (column_of[&slot], size(node))).collect()
    };
    (forms.into_iter().map(|(row, form)| (row, terms(form))).collect(), is_linear)
}

/// Scales of columns that bring the coefficients of the rows close to each other, whatever units they are in; logarithms.
fn balance(rows: &HashMap<usize, Row>) -> HashMap<usize, f64> {
    let mut order: Vec<&usize> = rows.keys().collect();
    order.sort_unstable();
    let mut scales: HashMap<usize, f64> = HashMap::new();
    for _ in 0..SWEEPS {
        let mut sums: HashMap<usize, (f64, u32)> = HashMap::new();
        for row in order.iter().map(|row| &rows[row]) {
            let scaled = |&(column, c): &(usize, f64)| c + scales.get(&column).copied().unwrap_or(0.0);
            let mean = row.iter().map(scaled).sum::<f64>() / row.len().max(1) as f64;
            for &(column, c) in row {
                let (sum, n) = sums.entry(column).or_insert((0.0, 0));
                (*sum, *n) = (*sum + c - mean, *n + 1);
            }
        }
        scales = sums.into_iter().map(|(column, (sum, n))| (column, -sum / f64::from(n))).collect();
    }
    scales
}

/// Elimination goes along the diagonal: each residual gets the place of a variable that it contains.
fn pair_residuals(plan: &mut Plan, chain: &Chain) {
    let rows: Vec<Vec<usize>> = plan.residuals.iter().map(|&row| chain.needs_of(row, None)).collect();
    let matching = Matching::maximum(&rows, plan.torn.len());
    let mut left = matching.free_rows().into_iter();
    let order = matching.row_of_column.iter().map(|row| row.or_else(|| left.next()));
    plan.residuals = order.flatten().map(|place| plan.residuals[place]).collect();
}
