use super::*;
use crate::random::Random;

/// Differentiates by structure alone: the derivative of f(x, y) contains x, y, der(x) and der(y).
pub(crate) struct Structural {
    pub incidence: Vec<Vec<usize>>,
    pub derivative_of: Vec<Option<usize>>,
}

impl Structural {
    pub fn new(structure: &Structure) -> Self {
        Structural { incidence: structure.incidence.clone(), derivative_of: structure.derivative_of.clone() }
    }
}

impl Differentiate for Structural {
    type Error = usize;

    fn differentiate(&mut self, equation: usize) -> Result<(usize, Vec<usize>), usize> {
        let mut variables = self.incidence[equation].clone();
        variables.extend(self.incidence[equation].iter().filter_map(|&variable| self.derivative_of[variable]));
        variables.sort_unstable();
        variables.dedup();
        self.incidence.push(variables.clone());
        Ok((self.incidence.len() - 1, variables))
    }

    fn derivative_of(&mut self, variable: usize) -> usize {
        assert_eq!(self.derivative_of[variable], None);
        self.derivative_of.push(None);
        self.derivative_of[variable] = Some(self.derivative_of.len() - 1);
        self.derivative_of.len() - 1
    }
}

pub(crate) fn reduce(structure: Structure) -> Result<IndexReduction, Failure<usize>> {
    let mut system = Structural::new(&structure);
    reduce_index(structure, 20, &mut system)
}

/// x' = u, y' = v, u' = T·x, v' = T·y − g, x² + y² = 1.
/// Variables: x 0, y 1, u 2, v 3, T 4, x' 5, y' 6, u' 7, v' 8.
pub(crate) fn pendulum() -> Structure {
    Structure {
        incidence: vec![vec![5, 2], vec![6, 3], vec![7, 4, 0], vec![8, 4, 1], vec![0, 1]],
        derivative_of: vec![Some(5), Some(6), Some(7), Some(8), None, None, None, None, None],
        known: vec![false; 9],
    }
}

#[test]
fn the_pendulum_of_the_paper_has_index_three() {
    let reduction = reduce(pendulum()).unwrap();
    // The pendulum is an example of Pantelides 1988: the constraint is differentiated twice, the kinematic equations once.
    assert_eq!(reduction.differentiations, [1, 1, 0, 0, 2]);
    assert_eq!(reduction.new_equations.len(), 4);
    assert_eq!(reduction.new_variables.len(), 2); // x'' and y''
    assert!(reduction.unmatched_variables.is_empty());
    for equation in reduction.highest_equations() {
        let variable = reduction.variable_of_equation[equation].unwrap();
        assert!(reduction.incidence[equation].contains(&variable));
        assert_eq!(reduction.derivative_of_variable[variable], None);
    }
}

#[test]
fn an_equation_too_many_is_named_with_its_competitors() {
    // x' = -x; x = 1; x = 2 where y is nowhere
    let structure = Structure {
        incidence: vec![vec![0, 1], vec![0], vec![2]],
        derivative_of: vec![Some(1), None, None],
        known: vec![false, false, true],
    };
    let Err(Failure::Singular(parts)) = reduce(structure) else { panic!("singular") };
    let parts: Vec<(Vec<usize>, Vec<usize>)> = parts.into_iter().map(|p| (p.rows, p.columns)).collect();
    assert_eq!(parts, [(vec![0, 1], vec![0, 1]), (vec![2], vec![])]);
}

#[test]
fn too_few_equations_leave_variables_unmatched() {
    let structure = Structure { incidence: vec![vec![0, 1]], derivative_of: vec![None; 2], known: vec![false; 2] };
    assert_eq!(reduce(structure).unwrap().unmatched_variables, [1]);
}

/// An equation whose derivative is empty although its structure promises more, such as x - x = 0.
struct Vanishing(usize);

impl Differentiate for Vanishing {
    type Error = ();

    fn differentiate(&mut self, _: usize) -> Result<(usize, Vec<usize>), ()> {
        self.0 += 1;
        Ok((self.0, Vec::new()))
    }

    fn derivative_of(&mut self, _: usize) -> usize {
        unreachable!("no unknown is in reach")
    }
}

#[test]
fn differentiation_without_end_is_stopped() {
    let structure = Structure {
        incidence: vec![vec![1, 2], vec![0]],
        derivative_of: vec![Some(1), None, None],
        known: vec![false; 3],
    };
    let result = reduce_index(structure, 3, &mut Vanishing(1));
    assert_eq!(result.err(), Some(Failure::TooOften(Part { rows: vec![4], columns: vec![] })));
}

struct Refusing;

impl Differentiate for Refusing {
    type Error = &'static str;

    fn differentiate(&mut self, _: usize) -> Result<(usize, Vec<usize>), &'static str> {
        Err("an external function without derivative")
    }

    fn derivative_of(&mut self, _: usize) -> usize {
        9
    }
}

#[test]
fn the_reason_why_an_equation_has_no_derivative_is_kept() {
    let error = Failure::NotDifferentiable { equation: 4, error: "an external function without derivative" };
    assert_eq!(reduce_index(pendulum(), 10, &mut Refusing).err(), Some(error));
}

#[test]
fn differentiations_agree_with_the_offsets_of_the_signature_matrix() {
    let mut random = Random::new(31);
    let (mut n_regular, mut n_differentiated) = (0, 0);
    for _ in 0..2000 {
        let (structure, signature) = random_system(&mut random);
        match (offsets(&signature), reduce(structure)) {
            (Some(expected), Ok(reduction)) => {
                assert_eq!(reduction.differentiations, expected, "{signature:?}");
                n_regular += 1;
                n_differentiated += usize::from(expected.iter().any(|&c| c > 0));
            }
            (None, Err(Failure::Singular(parts))) => assert!(!parts.is_empty()),
            (expected, found) => panic!("{signature:?}: {expected:?}, {:?}", found.map(|r| r.differentiations)),
        }
    }
    assert!(n_regular > 300 && n_differentiated > 100, "{n_regular} {n_differentiated}");
}

/// Four equations in four unknowns of order up to two; entry (i, j) is the order of unknown j in equation i.
fn random_system(random: &mut Random) -> (Structure, Vec<Vec<Option<usize>>>) {
    let n = 4;
    let signature: Vec<Vec<Option<usize>>> =
        (0..n).map(|_| (0..n).map(|_| random.one_in(2).then(|| random.below(3))).collect()).collect();
    let highest = |j: usize| signature.iter().filter_map(|row| row[j]).max().unwrap_or(0);
    let mut structure = Structure { incidence: vec![Vec::new(); n], ..Structure::default() };
    for j in 0..n {
        let first = structure.known.len();
        for order in 0..=highest(j) {
            structure.known.push(false);
            structure.derivative_of.push((order < highest(j)).then_some(first + order + 1));
        }
        for (row, orders) in structure.incidence.iter_mut().zip(&signature) {
            row.extend(orders[j].map(|order| first + order));
        }
    }
    (structure, signature)
}

/// The smallest offsets of the equations by Pryce's Σ-method (BIT 41, 2001), from a transversal of largest value found
/// by trying all permutations. None if there is no transversal.
fn offsets(signature: &[Vec<Option<usize>>]) -> Option<Vec<usize>> {
    let n = signature.len();
    let best = best_transversal(signature, &mut Vec::new())?.1;
    let mut c = vec![0; n];
    loop {
        let d: Vec<usize> =
            (0..n).map(|j| (0..n).filter_map(|i| signature[i][j].map(|s| s + c[i])).max().unwrap_or(0)).collect();
        let next: Vec<usize> = (0..n).map(|i| d[best[i]] - signature[i][best[i]].unwrap_or(0)).collect();
        if next == c {
            return Some(c);
        }
        c = next;
    }
}

fn best_transversal(signature: &[Vec<Option<usize>>], chosen: &mut Vec<usize>) -> Option<(usize, Vec<usize>)> {
    if chosen.len() == signature.len() {
        let value = chosen.iter().enumerate().filter_map(|(i, &j)| signature[i][j]).sum();
        return Some((value, chosen.clone()));
    }
    let mut best: Option<(usize, Vec<usize>)> = None;
    for j in 0..signature.len() {
        if signature[chosen.len()][j].is_none() || chosen.contains(&j) {
            continue;
        }
        chosen.push(j);
        if let Some(found) = best_transversal(signature, chosen)
            && best.as_ref().is_none_or(|b| found.0 > b.0)
        {
            best = Some(found);
        }
        chosen.pop();
    }
    best
}

#[test]
fn many_constraints_are_differentiated() {
    // Pairs x_i' = y_i and x_i = f(x_(i-1)): every constraint is differentiated once.
    let n = 50_000;
    let mut structure = Structure::default();
    for i in 0..n {
        structure.derivative_of.extend([Some(3 * i + 1), None, None]);
        structure.known.extend([false; 3]);
        structure.incidence.push(vec![3 * i + 1, 3 * i + 2]);
        structure.incidence.push(if i == 0 { vec![0] } else { vec![3 * i, 3 * (i - 1)] });
    }
    let reduction = reduce(structure).unwrap();
    assert!(reduction.differentiations.iter().enumerate().all(|(i, &d)| d == i % 2));
}
