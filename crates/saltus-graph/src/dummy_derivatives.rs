//! Which derivatives become plain unknowns (dummy derivatives), and so which variables remain states.
//!
//! In: the result of [`pantelides`](crate::pantelides) and the caller's [`Preferences`]. Out: the dummy derivatives, the
//! states, and for each set of constraints and level what was decided and whether the decision can become singular.
//!
//! ```text
//! x = 2·y;  der(x) = …;  der(y) = …      one constraint, differentiated once: der(x) = 2·der(y)
//! dummies: der(x)                        der(x) is computed from der(y); y is the only state
//! ```
//!
//! S. E. Mattsson and G. Söderlind, "Index reduction in differential-algebraic equations using dummy derivatives", SIAM
//! J. Sci. Comput. 14 (1993). Per connected set of differentiated equations and per level, from the highest order down:
//! among the candidate derivatives as many are chosen as there are differentiated equations, such that the equations can
//! be solved for them. (The paper chooses within each block of the sorted system; that is only one of the regular choices
//! and serves to break ties here, so that `StateSelect` can be respected across blocks.) Column sets that can be solved for form a matroid, so a greedy choice in the order
//! of preference is the best one. Coefficients that are not constant count as independent of each other. A choice is
//! certain if it is block triangular with diagonal blocks that are constant or single non-zero coefficients; otherwise
//! it may become singular, and the part of it that is not certain is given for dynamic selection.

mod choice;

use std::cmp::Reverse;

use self::choice::{Connected, Matrix, Tie};
use crate::components::blocks;
use crate::incidence::Incidence;
use crate::matching::Matching;
use crate::pantelides::IndexReduction;

/// Modelica's `StateSelect`: how much a variable should be a state, least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum StateSelect {
    Never,
    Avoid,
    #[default]
    Default,
    Prefer,
    Always,
}

/// What is known of the partial derivative of an equation with respect to a variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pivot {
    /// The same number at all times.
    Constant(f64),
    /// Not constant, but never zero.
    NonZero,
    /// May become zero.
    Uncertain,
}

/// What the caller knows and wants.
pub trait Preferences {
    /// Of a variable whose derivative is a candidate.
    fn state_select(&self, variable: usize) -> StateSelect;

    /// Breaks ties between variables of equal `StateSelect` whose choices are equally certain: lower ranks lose their
    /// state first. Among equal ranks, variables whose derivative is computed independently of the constraints stay
    /// states, then those with lower numbers.
    fn rank(&self, _variable: usize) -> i64 {
        0
    }

    /// The coefficient of a variable that occurs in a differentiated equation.
    fn pivot(&self, equation: usize, variable: usize) -> Pivot;
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct DummyDerivatives {
    /// Derivatives that become algebraic unknowns, ascending.
    pub dummies: Vec<usize>,
    /// Unknowns whose derivative exists and is not a dummy, ascending.
    pub states: Vec<usize>,
    /// What was decided: sets of constraints by their first equation, in each the highest derivatives first.
    pub levels: Vec<Level>,
    /// Variables whose `StateSelect` could not be respected, with it: `Always` and no state, or `Never` and a state.
    pub violations: Vec<(usize, StateSelect)>,
}

/// One choice: as many dummies among the candidates as there are equations.
#[derive(Clone, PartialEq, Debug)]
pub struct Level {
    /// 0 for the highest derivatives, 1 for those one order below, and so on.
    pub depth: usize,
    pub equations: Vec<usize>,
    pub candidates: Vec<usize>,
    pub dummies: Vec<usize>,
    /// The constant coefficients alone show that no choice is regular: constraints repeat or contradict each other.
    pub singular: bool,
    /// The parts of the choice that may become singular.
    pub dynamic: Vec<DynamicSelection>,
}

/// Equations that are to be solved for as many of the candidates, which ones depending on the current coefficients.
/// What is not listed stays as chosen and does not influence whether a choice here is regular. The candidates of a
/// deeper level are the antiderivatives of the dummies of the level above: changing a choice changes them too.
#[derive(Clone, PartialEq, Debug)]
pub struct DynamicSelection {
    pub equations: Vec<usize>,
    /// As many as equations if there is no alternative.
    pub candidates: Vec<usize>,
    /// The static choice, to start with.
    pub dummies: Vec<usize>,
}

impl DummyDerivatives {
    /// True if some choice may become singular.
    pub fn is_uncertain(&self) -> bool {
        self.levels.iter().any(|level| !level.dynamic.is_empty())
    }
}

/// Chooses the dummy derivatives.
pub fn select_dummies<P: Preferences + ?Sized>(reduction: &IndexReduction, preferences: &P) -> DummyDerivatives {
    let selector = Selector {
        reduction,
        preferences,
        antiderivative: reduction.antiderivative_of_variable(),
        equation_before: reduction.antiderivative_of_equation(),
        follows: derivatives_that_follow(reduction),
    };
    let sets = selector.constraint_sets();
    let levels: Vec<Level> = sets.into_iter().flat_map(|(rows, columns)| selector.levels(rows, columns)).collect();
    let mut dummies: Vec<usize> = levels.iter().flat_map(|level| level.dummies.iter().copied()).collect();
    dummies.sort_unstable();
    let (states, violations) = selector.states(&dummies);
    DummyDerivatives { dummies, states, levels, violations }
}

/// Variables in the blocks of the sorted system of highest derivatives that contain a differentiated equation, and all
/// variables they are derivatives of.
fn derivatives_that_follow(reduction: &IndexReduction) -> Vec<bool> {
    let equations = reduction.highest_equations();
    let n_variables = reduction.known.len();
    let is_highest = |v: &usize| !reduction.known[*v] && reduction.derivative_of_variable[*v].is_none();
    let rows: Vec<Vec<usize>> = equations
        .iter()
        .map(|&equation| reduction.incidence[equation].iter().copied().filter(is_highest).collect())
        .collect();
    let mut matching = Matching::new(equations.len(), n_variables);
    for (row, &equation) in equations.iter().enumerate() {
        if let Some(variable) = reduction.variable_of_equation[equation] {
            matching.assign(row, variable);
        }
    }
    let antiderivative = reduction.antiderivative_of_variable();
    let mut follows = vec![false; n_variables];
    for block in blocks(&Incidence::from_rows(&rows, n_variables), &matching) {
        if block.rows.iter().any(|&row| reduction.differentiations[row] > 0) {
            for column in block.columns {
                let mut next = Some(column);
                while let Some(variable) = next.filter(|&variable| !follows[variable]) {
                    follows[variable] = true;
                    next = antiderivative[variable];
                }
            }
        }
    }
    follows
}

struct Selector<'a, P: ?Sized> {
    reduction: &'a IndexReduction,
    preferences: &'a P,
    antiderivative: Vec<Option<usize>>,
    equation_before: Vec<Option<usize>>,
    /// Derivatives that are computed together with differentiated equations anyway.
    follows: Vec<bool>,
}

impl<P: Preferences + ?Sized> Selector<'_, P> {
    /// Connected sets of differentiated equations of highest order and the derivatives of highest order in them.
    fn constraint_sets(&self) -> Vec<(Vec<usize>, Vec<usize>)> {
        let reduction = self.reduction;
        let mut equations = reduction.highest_equations();
        equations.retain(|&equation| self.equation_before[equation].is_some());
        let is_candidate = |v: &usize| {
            !reduction.known[*v] && reduction.derivative_of_variable[*v].is_none() && self.antiderivative[*v].is_some()
        };
        let rows: Vec<Vec<usize>> = equations
            .iter()
            .map(|&equation| reduction.incidence[equation].iter().copied().filter(is_candidate).collect())
            .collect();
        let n_variables = reduction.known.len();
        let rows = Incidence::from_rows(&rows, n_variables);
        let mut search = Connected::new(rows, vec![true; equations.len()], vec![true; n_variables]);
        let mut sets = Vec::new();
        for start in 0..equations.len() {
            if search.row_left[start] {
                let (rows, columns) = search.take(start);
                sets.push((rows.into_iter().map(|row| equations[row]).collect(), columns));
            }
        }
        sets
    }

    fn levels(&self, mut equations: Vec<usize>, mut candidates: Vec<usize>) -> Vec<Level> {
        let mut levels = Vec::new();
        loop {
            equations.retain(|&equation| self.equation_before[equation].is_some());
            candidates.retain(|&variable| self.antiderivative[variable].is_some());
            if equations.is_empty() {
                return levels;
            }
            candidates.sort_unstable();
            let level = self.level(levels.len(), &equations, &candidates);
            equations = equations.iter().filter_map(|&equation| self.equation_before[equation]).collect();
            candidates = level.dummies.iter().filter_map(|&variable| self.antiderivative[variable]).collect();
            levels.push(level);
        }
    }

    fn level(&self, depth: usize, equations: &[usize], candidates: &[usize]) -> Level {
        let matrix = self.matrix(equations, candidates);
        let choice = matrix.choose();
        let dynamic = matrix.uncertain_parts(&choice.columns);
        let named = |columns: &[usize]| columns.iter().map(|&column| candidates[column]).collect::<Vec<usize>>();
        let dynamic = dynamic.into_iter().map(|(rows, columns, chosen)| DynamicSelection {
            equations: rows.into_iter().map(|row| equations[row]).collect(),
            candidates: named(&columns),
            dummies: named(&chosen),
        });
        Level {
            depth,
            equations: equations.to_vec(),
            candidates: candidates.to_vec(),
            dummies: named(&choice.columns),
            singular: choice.singular,
            dynamic: dynamic.collect(),
        }
    }

    fn matrix(&self, equations: &[usize], candidates: &[usize]) -> Matrix {
        let mut columns = vec![Vec::new(); candidates.len()];
        for (row, &equation) in equations.iter().enumerate() {
            let mut variables = self.reduction.incidence[equation].clone();
            variables.sort_unstable();
            variables.dedup();
            for variable in variables {
                let Ok(column) = candidates.binary_search(&variable) else { continue };
                match self.preferences.pivot(equation, variable) {
                    Pivot::Constant(0.0) => {}
                    Pivot::Constant(value) if !value.is_finite() => columns[column].push((row, Pivot::Uncertain)),
                    pivot => columns[column].push((row, pivot)),
                }
            }
        }
        let wish = candidates.iter().map(|&variable| self.wish(variable)).collect();
        Matrix { n_rows: equations.len(), columns, wish }
    }

    /// How much the variable of which `derivative` is the derivative should be a state.
    fn wish(&self, derivative: usize) -> (StateSelect, Tie) {
        let is_separate = !self.follows[derivative];
        match self.antiderivative[derivative] {
            Some(v) => (self.preferences.state_select(v), (self.preferences.rank(v), is_separate, Reverse(v))),
            None => (StateSelect::Never, (0, is_separate, Reverse(derivative))),
        }
    }

    fn states(&self, dummies: &[usize]) -> (Vec<usize>, Vec<(usize, StateSelect)>) {
        let is_dummy = |variable: usize| dummies.binary_search(&variable).is_ok();
        let (mut states, mut violations) = (Vec::new(), Vec::new());
        for (variable, derivative) in self.reduction.derivative_of_variable.iter().enumerate() {
            let Some(derivative) = *derivative else { continue };
            if self.reduction.known[variable] {
                continue;
            }
            let is_state = !is_dummy(derivative);
            let select = self.preferences.state_select(variable);
            if is_state {
                states.push(variable);
            }
            if select == (if is_state { StateSelect::Never } else { StateSelect::Always }) {
                violations.push((variable, select));
            }
        }
        (states, violations)
    }
}

#[cfg(test)]
mod tests;
