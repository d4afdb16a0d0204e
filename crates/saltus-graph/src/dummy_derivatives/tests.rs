use std::collections::BTreeMap;

use super::*;
use crate::pantelides::Structure;
use crate::pantelides::tests::{pendulum, reduce};
use crate::random::Random;

/// Wishes by variable and pivots by (original equation, variable of order zero): differentiation keeps the coefficient
/// of the highest derivative.
#[derive(Default)]
struct Wishes {
    select: BTreeMap<usize, StateSelect>,
    pivots: BTreeMap<(usize, usize), Pivot>,
}

impl Preferences for Wishes {
    fn state_select(&self, variable: usize) -> StateSelect {
        self.select.get(&variable).copied().unwrap_or_default()
    }

    fn pivot(&self, equation: usize, variable: usize) -> Pivot {
        self.pivots.get(&(equation, variable)).copied().unwrap_or(Pivot::Uncertain)
    }
}

/// `n_states` variables x_i with x_i' = y_i (equation i), then constraints between the x_i. Variables: x_i is 3·i, x_i'
/// is 3·i + 1, y_i is 3·i + 2.
fn constrained(n_states: usize, constraints: &[Vec<usize>]) -> Structure {
    let mut structure = Structure::default();
    for i in 0..n_states {
        structure.derivative_of.extend([Some(3 * i + 1), None, None]);
        structure.known.extend([false; 3]);
        structure.incidence.push(vec![3 * i + 1, 3 * i + 2]);
    }
    for constraint in constraints {
        structure.incidence.push(constraint.iter().map(|&i| 3 * i).collect());
    }
    // The other x_i have equations of their own: y_i = f(x_i).
    for i in constraints.len()..n_states {
        structure.incidence.push(vec![3 * i + 2, 3 * i]);
    }
    structure
}

fn select(
    structure: Structure,
    n_states: usize,
    wishes: &mut Wishes,
    pivots: &[(usize, usize, Pivot)],
) -> DummyDerivatives {
    let reduction = reduce(structure).unwrap();
    for &(constraint, state, pivot) in pivots {
        // The constraint follows the n_states equations x_i' = y_i; its derivative contains x_i'.
        let derivative = reduction.derivative_of_equation[n_states + constraint].unwrap();
        wishes.pivots.insert((derivative, 3 * state + 1), pivot);
    }
    select_dummies(&reduction, wishes)
}

const ONE: Pivot = Pivot::Constant(1.0);

#[test]
fn one_constraint_takes_one_state() {
    // x0 + x1 = f(t)
    let pivots = [(0, 0, ONE), (0, 1, ONE)];
    let chosen = select(constrained(2, &[vec![0, 1]]), 2, &mut Wishes::default(), &pivots);
    // x1' = y1 = f(x1) is computed first, x0' follows from the constraint.
    assert_eq!((chosen.dummies, chosen.states), (vec![1], vec![3]));
    assert!(chosen.levels.iter().all(|level| level.dynamic.is_empty() && !level.singular));
}

#[test]
fn state_select_decides_before_the_order() {
    let pivots = [(0, 0, ONE), (0, 1, ONE)];
    for (first, second) in [
        (StateSelect::Never, StateSelect::Avoid),
        (StateSelect::Avoid, StateSelect::Default),
        (StateSelect::Default, StateSelect::Prefer),
        (StateSelect::Prefer, StateSelect::Always),
    ] {
        let mut wishes = Wishes { select: BTreeMap::from([(0, first), (3, second)]), ..Wishes::default() };
        let chosen = select(constrained(2, &[vec![0, 1]]), 2, &mut wishes, &pivots);
        assert_eq!((chosen.dummies, chosen.states, chosen.violations), (vec![1], vec![3], vec![]));
    }
}

#[test]
fn wishes_that_cannot_be_met_are_told() {
    let pivots = [(0, 0, ONE), (0, 1, ONE)];
    let mut wishes =
        Wishes { select: BTreeMap::from([(0, StateSelect::Always), (3, StateSelect::Always)]), ..Wishes::default() };
    let chosen = select(constrained(2, &[vec![0, 1]]), 2, &mut wishes, &pivots);
    assert_eq!(chosen.violations, [(0, StateSelect::Always)]);
    wishes.select = BTreeMap::from([(0, StateSelect::Never), (3, StateSelect::Never)]);
    let chosen = select(constrained(2, &[vec![0, 1]]), 2, &mut wishes, &pivots);
    assert_eq!(chosen.violations, [(3, StateSelect::Never)]);
}

#[test]
fn a_certain_pivot_is_preferred() {
    // x0 + x1² = f(t): x0' can always be solved for
    let pivots = [(0, 0, ONE), (0, 1, Pivot::Uncertain)];
    let chosen = select(constrained(2, &[vec![0, 1]]), 2, &mut Wishes::default(), &pivots);
    assert_eq!(chosen.dummies, [1]);
    assert!(!chosen.is_uncertain());
}

#[test]
fn an_uncertain_choice_lists_its_alternatives() {
    // x0² + x1² = 1 and x2 + x0 = 0
    let pivots = [(0, 0, Pivot::Uncertain), (0, 1, Pivot::Uncertain), (1, 2, ONE), (1, 0, ONE)];
    let structure = constrained(3, &[vec![0, 1], vec![2, 0]]);
    let chosen = select(structure, 3, &mut Wishes::default(), &pivots);
    assert_eq!(chosen.dummies, [1, 7]);
    let dynamic: Vec<&DynamicSelection> = chosen.levels.iter().flat_map(|level| &level.dynamic).collect();
    // Whatever is chosen for the circle, x2' follows from x0'.
    assert_eq!(dynamic.len(), 1);
    assert_eq!((&dynamic[0].candidates[..], &dynamic[0].dummies[..]), (&[1, 4][..], &[1][..]));
    assert_eq!(dynamic[0].equations.len(), 1);
}

#[test]
fn constant_coefficients_rule_out_singular_choices() {
    // x0 + x1 + x2 = f and x1 + x2 = g: x1', x2' as dummies are wanted and allowed by the structure, but singular.
    let pivots = [(0, 0, ONE), (0, 1, ONE), (0, 2, ONE), (1, 1, ONE), (1, 2, ONE)];
    let select_of = BTreeMap::from([(3, StateSelect::Avoid), (6, StateSelect::Avoid)]);
    let mut wishes = Wishes { select: select_of, ..Wishes::default() };
    let chosen = select(constrained(3, &[vec![0, 1, 2], vec![1, 2]]), 3, &mut wishes, &pivots);
    assert_eq!((&chosen.dummies[..], &chosen.states[..]), (&[1, 4][..], &[6][..]));
    assert!(!chosen.is_uncertain() && chosen.levels.iter().all(|level| !level.singular));
}

#[test]
fn constraints_that_repeat_each_other_are_singular() {
    let two = Pivot::Constant(2.0);
    let pivots = [(0, 0, ONE), (0, 1, ONE), (1, 0, two), (1, 1, two)];
    let chosen = select(constrained(2, &[vec![0, 1], vec![0, 1]]), 2, &mut Wishes::default(), &pivots);
    assert!(chosen.levels.iter().any(|level| level.singular));
    assert_eq!(chosen.dummies, [1, 4]);
}

#[test]
fn the_pendulum_has_two_states_chosen_dynamically() {
    let reduction = reduce(pendulum()).unwrap();
    let mut wishes = Wishes::default();
    // Equations x' = u (0) and y' = v (1) are linear; the circle is not.
    for (equation, variables) in [(0, [5, 2]), (1, [6, 3])] {
        let derivative = reduction.derivative_of_equation[equation].unwrap();
        for variable in variables {
            let highest = reduction.derivative_of_variable[variable].unwrap();
            wishes.pivots.insert((derivative, highest), ONE);
        }
    }
    let chosen = select_dummies(&reduction, &wishes);
    // An example of Mattsson & Söderlind 1993: four differentiated equations, so of x', y', x'', y'', u', v' four are
    // dummies and two states remain.
    assert_eq!(chosen.dummies.len(), 4);
    assert_eq!(chosen.states.len(), 2);
    assert!(chosen.is_uncertain());
    // Each level that is uncertain concerns the circle.
    let circle =
        [4, reduction.derivative_of_equation[4].unwrap()].map(|e| reduction.derivative_of_equation[e].unwrap());
    for part in chosen.levels.iter().flat_map(|level| &level.dynamic) {
        assert!(part.equations.iter().any(|equation| circle.contains(equation)));
    }
}

#[test]
fn the_choice_is_the_best_regular_one() {
    // Random constraints with coefficients −1, 0, 1 on six states; all subsets of the right size are tried.
    let mut random = Random::new(53);
    let mut n_tried = 0;
    for _ in 0..300 {
        let dense: Vec<[i64; 6]> = (0..3).map(|_| std::array::from_fn(|_| random.below(3) as i64 - 1)).collect();
        let constraints: Vec<Vec<usize>> = dense.iter().map(|row| (0..6).filter(|&i| row[i] != 0).collect()).collect();
        if reduce(constrained(6, &constraints)).is_err() {
            continue;
        }
        let selects = [StateSelect::Avoid, StateSelect::Default, StateSelect::Prefer];
        let wish: Vec<StateSelect> = (0..6).map(|_| selects[random.below(3)]).collect();
        let select_of = (0..6).map(|i| (3 * i, wish[i])).collect();
        let mut wishes = Wishes { select: select_of, ..Wishes::default() };
        let mut pivots = Vec::new();
        for (c, row) in dense.iter().enumerate() {
            pivots.extend((0..6).filter(|&i| row[i] != 0).map(|i| (c, i, Pivot::Constant(row[i] as f64))));
        }
        let chosen = select(constrained(6, &constraints), 6, &mut wishes, &pivots);
        if chosen.levels.iter().any(|level| level.singular) {
            continue;
        }
        n_tried += 1;
        let states: Vec<usize> = chosen.dummies.iter().map(|d| d / 3).collect();
        assert_ne!(determinant(&dense, &states), 0);
        let cost = |states: &[usize]| states.iter().map(|&i| wish[i] as usize).sum::<usize>();
        for a in 0..6 {
            for b in a + 1..6 {
                for c in b + 1..6 {
                    assert!(determinant(&dense, &[a, b, c]) == 0 || cost(&[a, b, c]) >= cost(&states));
                }
            }
        }
    }
    assert!(n_tried > 50, "{n_tried}");
}

fn determinant(rows: &[[i64; 6]], columns: &[usize]) -> i64 {
    let [a, b, c] = [columns[0], columns[1], columns[2]];
    let m = |i: usize, j: usize| rows[i][j];
    m(0, a) * (m(1, b) * m(2, c) - m(1, c) * m(2, b)) - m(0, b) * (m(1, a) * m(2, c) - m(1, c) * m(2, a))
        + m(0, c) * (m(1, a) * m(2, b) - m(1, b) * m(2, a))
}

#[test]
fn many_constraints_are_decided() {
    // x_i + x_(i+1) = f_i: of a chain of 20 000 states the one with its own equation remains.
    let n = 20_000;
    let constraints: Vec<Vec<usize>> = (0..n - 1).map(|i| vec![i, i + 1]).collect();
    let pivots: Vec<(usize, usize, Pivot)> = (0..n - 1).flat_map(|i| [(i, i, ONE), (i, i + 1, ONE)]).collect();
    let chosen = select(constrained(n, &constraints), n, &mut Wishes::default(), &pivots);
    assert_eq!((chosen.states, chosen.dummies.len()), (vec![3 * (n - 1)], n - 1));
}
