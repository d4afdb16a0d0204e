//! Which equations must be differentiated, and how often, until the highest derivatives can be computed.
//!
//! In: the variables that occur in each equation, which variable is the derivative of which, which are known, and a
//! [`Differentiate`] that makes derivatives. Out: the number of differentiations of each equation and a matching of the
//! most differentiated equations with the highest derivatives.
//!
//! ```
//! use saltus_graph::pantelides::{Differentiate, Structure, reduce_index};
//! // der(x) + y = 0; x = sin(time): the second equation must be differentiated once.
//! struct Example;
//! impl Differentiate for Example {
//!     type Error = ();
//!     fn differentiate(&mut self, equation: usize) -> Result<(usize, Vec<usize>), ()> {
//!         assert_eq!(equation, 1);
//!         Ok((2, vec![1])) // der(x) = cos(time) is equation 2
//!     }
//!     fn derivative_of(&mut self, _: usize) -> usize {
//!         unreachable!("der(x) is there already")
//!     }
//! }
//! // Variables: 0 is x, 1 is der(x), 2 is y.
//! let structure = Structure {
//!     incidence: vec![vec![1, 2], vec![0]],
//!     derivative_of: vec![Some(1), None, None],
//!     known: vec![false; 3],
//! };
//! let reduction = reduce_index(structure, 10, &mut Example).unwrap();
//! assert_eq!(reduction.differentiations, [0, 1]);
//! assert_eq!(reduction.variable_of_equation, [Some(2), None, Some(1)]);
//! ```
//!
//! C. C. Pantelides, "The consistent initialization of differential-algebraic systems", SIAM J. Sci. Stat. Comput. 9
//! (1988). It ends exactly if the system in which every variable is identified with its derivatives is structurally
//! regular; that is checked first. The caller tells the true incidence of a derivative, which may be smaller than the
//! structure promises, so the number of differentiations is limited besides.

use crate::decomposition::Part;
use crate::incidence::Incidence;
use crate::matching::{Matching, Reached};

/// Makes derivatives of equations and variables.
pub trait Differentiate {
    type Error;

    /// Differentiates an equation with respect to time. Returns the number of the new equation, not used before, and
    /// the variables of all orders that occur in it. A variable not seen before is taken as known (the derivative of an
    /// input, say).
    fn differentiate(&mut self, equation: usize) -> Result<(usize, Vec<usize>), Self::Error>;

    /// The derivative of an unknown that has none yet: the number of a new unknown.
    fn derivative_of(&mut self, variable: usize) -> usize;
}

/// The system before index reduction.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// For each equation all variables that occur in it: unknowns, derivatives, and variables whose derivative occurs
    /// elsewhere. Known ones may be listed.
    pub incidence: Vec<Vec<usize>>,
    /// For each variable its derivative.
    pub derivative_of: Vec<Option<usize>>,
    /// Inputs, parameters, discrete variables: never matched.
    pub known: Vec<bool>,
}

/// The system after index reduction. Vectors over equations and variables include the new ones; unused numbers have no
/// incidence and are known.
#[derive(Clone, Debug)]
pub struct IndexReduction {
    /// For each original equation.
    pub differentiations: Vec<usize>,
    pub incidence: Vec<Vec<usize>>,
    pub derivative_of_equation: Vec<Option<usize>>,
    pub derivative_of_variable: Vec<Option<usize>>,
    pub known: Vec<bool>,
    /// New variables in the order in which they were made.
    pub new_variables: Vec<usize>,
    /// New equations in the order in which they were made.
    pub new_equations: Vec<usize>,
    /// The highest derivative matched with each most differentiated equation; others have none.
    pub variable_of_equation: Vec<Option<usize>>,
    /// Highest derivatives without an equation: the system has too few equations.
    pub unmatched_variables: Vec<usize>,
}

/// Why index reduction stopped.
#[derive(Clone, PartialEq, Debug)]
pub enum Failure<E> {
    /// For each equation that is too many: the equations (rows) that compete, and the unknowns (columns) in them.
    Singular(Vec<Part>),
    /// These equations would have to be differentiated more often than allowed.
    TooOften(Part),
    /// The caller could not differentiate this equation.
    NotDifferentiable { equation: usize, error: E },
}

impl IndexReduction {
    /// The most differentiated version of each original equation.
    pub fn highest_equations(&self) -> Vec<usize> {
        let n = self.differentiations.len();
        (0..n).map(|equation| highest(&self.derivative_of_equation, equation)).collect()
    }

    /// For each variable the one it is the derivative of.
    pub fn antiderivative_of_variable(&self) -> Vec<Option<usize>> {
        inverse(&self.derivative_of_variable)
    }

    /// For each equation the one it is the derivative of.
    pub fn antiderivative_of_equation(&self) -> Vec<Option<usize>> {
        inverse(&self.derivative_of_equation)
    }
}

/// Runs the algorithm. No equation is differentiated more than `max_differentiations` times.
pub fn reduce_index<D: Differentiate>(
    structure: Structure,
    max_differentiations: usize,
    system: &mut D,
) -> Result<IndexReduction, Failure<D::Error>> {
    let mut reduction = Reduction::new(structure, max_differentiations);
    reduction.check_regular().map_err(Failure::Singular)?;
    let mut pending: Vec<usize> = (0..reduction.n_original).collect();
    while !pending.is_empty() {
        // Most equations can be matched at once; equations that were differentiated have no open column left.
        reduction.matching.extend_any(&reduction.incidence);
        for equation in std::mem::take(&mut pending) {
            if reduction.derivative_of_equation[equation].is_some() {
                continue;
            }
            if let Err(reached) = reduction.matching.augment(&reduction.incidence, equation) {
                reduction.differentiate(&reached, system, &mut pending)?;
            }
        }
    }
    Ok(reduction.finish())
}

struct Reduction {
    n_original: usize,
    max_differentiations: usize,
    incidence: Vec<Vec<usize>>,
    derivative_of_equation: Vec<Option<usize>>,
    derivative_of_variable: Vec<Option<usize>>,
    /// How often each equation has been differentiated to become what it is.
    order: Vec<usize>,
    known: Vec<bool>,
    new_variables: Vec<usize>,
    new_equations: Vec<usize>,
    /// Columns of known variables and of variables that have a derivative are closed.
    matching: Matching,
}

impl Reduction {
    fn new(structure: Structure, max_differentiations: usize) -> Self {
        let mut reduction = Reduction {
            n_original: structure.incidence.len(),
            max_differentiations,
            derivative_of_equation: vec![None; structure.incidence.len()],
            order: vec![0; structure.incidence.len()],
            matching: Matching::new(structure.incidence.len(), 0),
            incidence: structure.incidence,
            derivative_of_variable: Vec::new(),
            known: Vec::new(),
            new_variables: Vec::new(),
            new_equations: Vec::new(),
        };
        let named = reduction.incidence.iter().flatten().chain(structure.derivative_of.iter().flatten());
        let largest = named.map(|&variable| variable + 1).max().unwrap_or(0);
        let n_variables = largest.max(structure.known.len()).max(structure.derivative_of.len());
        (reduction.known, reduction.derivative_of_variable) = (structure.known, structure.derivative_of);
        reduction.known.resize(n_variables, true);
        reduction.derivative_of_variable.resize(n_variables, None);
        reduction.matching.grow(0, n_variables);
        (0..n_variables).for_each(|variable| reduction.matching.close(variable));
        for variable in 0..n_variables {
            if !reduction.known[variable] && reduction.derivative_of_variable[variable].is_none() {
                reduction.matching.open(variable);
            }
        }
        reduction
    }

    fn grow_variables(&mut self, n: usize) {
        let before = self.known.len();
        if n > before {
            self.known.resize(n, true);
            self.derivative_of_variable.resize(n, None);
            self.matching.grow(0, n);
            (before..n).for_each(|variable| self.matching.close(variable));
        }
    }

    /// Matches each equation with a variable of any order; each chain of derivatives can be taken once.
    fn check_regular(&self) -> Result<(), Vec<Part>> {
        // Of a large system that has no states each variable is its own base.
        let has_derivatives = self.derivative_of_variable.iter().any(Option::is_some);
        let base = if has_derivatives { bases(&self.derivative_of_variable) } else { Vec::new() };
        let base = |v: usize| base.get(v).copied().unwrap_or(v);
        let unknown_bases = |row: &Vec<usize>| row.iter().filter(|&&v| !self.known[v]).map(|&v| base(v)).collect();
        let collapsed: Vec<Vec<usize>> = self.incidence.iter().map(unknown_bases).collect();
        let collapsed = Incidence::from_rows(&collapsed, self.known.len());
        let matching = Matching::maximum(&collapsed, self.known.len());
        let free = matching.free_rows();
        if free.is_empty() {
            return Ok(());
        }
        let part = |row: usize| self.part(matching.reached_from(&collapsed, [row]).rows);
        Err(free.into_iter().map(part).collect())
    }

    /// Equations with the unknowns that occur in them.
    fn part(&self, equations: Vec<usize>) -> Part {
        let occurring = equations.iter().flat_map(|&equation| &self.incidence[equation]);
        let mut columns: Vec<usize> = occurring.copied().filter(|&variable| !self.known[variable]).collect();
        columns.sort_unstable();
        columns.dedup();
        Part { rows: equations, columns }
    }

    /// Differentiates equations that compete for too few highest derivatives. Each derivative takes over the match of
    /// what it is the derivative of; equations without a match become pending.
    fn differentiate<D: Differentiate>(
        &mut self,
        reached: &Reached,
        system: &mut D,
        pending: &mut Vec<usize>,
    ) -> Result<(), Failure<D::Error>> {
        if reached.rows.iter().any(|&equation| self.order[equation] >= self.max_differentiations) {
            return Err(Failure::TooOften(self.part(reached.rows.clone())));
        }
        for &variable in &reached.columns {
            let derivative = system.derivative_of(variable);
            self.add_derivative(variable, derivative);
        }
        for &equation in &reached.rows {
            let (derivative, variables) =
                system.differentiate(equation).map_err(|error| Failure::NotDifferentiable { equation, error })?;
            self.add_equation(equation, derivative, variables);
            let partner = self.matching.column_of_row[equation].and_then(|v| self.derivative_of_variable[v]);
            self.matching.release(equation);
            match partner {
                Some(partner) if self.incidence[derivative].contains(&partner) => {
                    self.matching.assign(derivative, partner);
                }
                _ => pending.push(derivative),
            }
        }
        Ok(())
    }

    fn add_derivative(&mut self, variable: usize, derivative: usize) {
        self.grow_variables(derivative + 1);
        self.derivative_of_variable[variable] = Some(derivative);
        self.known[derivative] = false;
        self.new_variables.push(derivative);
        self.matching.close(variable);
        if self.derivative_of_variable[derivative].is_none() {
            self.matching.open(derivative);
        }
    }

    fn add_equation(&mut self, equation: usize, derivative: usize, variables: Vec<usize>) {
        if derivative >= self.incidence.len() {
            self.incidence.resize(derivative + 1, Vec::new());
            self.derivative_of_equation.resize(derivative + 1, None);
            self.order.resize(derivative + 1, 0);
        }
        self.grow_variables(variables.iter().map(|&variable| variable + 1).max().unwrap_or(0));
        self.matching.grow(derivative + 1, 0);
        self.derivative_of_equation[equation] = Some(derivative);
        self.order[derivative] = self.order[equation] + 1;
        self.incidence[derivative] = variables;
        self.new_equations.push(derivative);
    }

    fn finish(self) -> IndexReduction {
        let differentiations =
            (0..self.n_original).map(|equation| self.order[highest(&self.derivative_of_equation, equation)]).collect();
        let is_free = |&v: &usize| {
            !self.known[v] && self.derivative_of_variable[v].is_none() && self.matching.row_of_column[v].is_none()
        };
        IndexReduction {
            differentiations,
            unmatched_variables: (0..self.known.len()).filter(is_free).collect(),
            variable_of_equation: self.matching.column_of_row,
            incidence: self.incidence,
            derivative_of_equation: self.derivative_of_equation,
            derivative_of_variable: self.derivative_of_variable,
            known: self.known,
            new_variables: self.new_variables,
            new_equations: self.new_equations,
        }
    }
}

/// The end of a chain of derivatives. No chain is longer than the list, whatever the links.
fn highest(derivative_of: &[Option<usize>], start: usize) -> usize {
    let mut last = start;
    for _ in 0..derivative_of.len() {
        match derivative_of[last] {
            Some(next) => last = next,
            None => break,
        }
    }
    last
}

fn inverse(derivative_of: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut antiderivative = vec![None; derivative_of.len()];
    for (i, derivative) in derivative_of.iter().enumerate() {
        if let Some(derivative) = *derivative {
            antiderivative[derivative] = Some(i);
        }
    }
    antiderivative
}

/// The first variable of the chain of derivatives that each variable belongs to.
fn bases(derivative_of: &[Option<usize>]) -> Vec<usize> {
    let antiderivative = inverse(derivative_of);
    let mut base: Vec<usize> = (0..derivative_of.len()).collect();
    for start in 0..derivative_of.len() {
        if antiderivative[start].is_some() {
            continue;
        }
        let mut next = derivative_of[start];
        // Links that come round are a mistake of the caller; they must not keep us here.
        while let Some(variable) = next.filter(|&variable| base[variable] != start) {
            base[variable] = start;
            next = derivative_of[variable];
        }
    }
    base
}

#[cfg(test)]
pub(crate) mod tests;
