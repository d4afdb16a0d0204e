//! Crossing functions that are sums of states, with factors that are fixed between events: over a step they are polynomials of time.
//!
//! ```text
//! b = 2*x - y + u > 0;        x, y states, u fixed until the next event: 2·x(t) − y(t) + u, with the dense output of x and y
//! ```
//!
//! In: the tape of such a function, and the dense output of a step. Out: whether it is known that the relation keeps its value. The polynomial lies
//! between its Bernstein coefficients, and has no more roots than they have changes of sign (Farin, *Curves and Surfaces for CAGD*, section 5): the
//! cheapest proof there is, a hundred multiplications without a division of the step. What it leaves open is for intervals.

use saltus_numerics::Interpolant;
use saltus_numerics::interpolant::DEGREE;
use saltus_program::{BinaryFn, UnaryFn};

use super::budget::NUMBER;
use super::march::Watched;
use super::tape::{Instruction, Movers, Tape};

/// What each operation of the tape, and of the conversion to Bernstein coefficients, may be off by, in units in the last place of the terms.
const ROUNDING_OF_OPERATION: f64 = 4.0;
const ROUNDING_OF_CONVERSION: f64 = 64.0;

/// Longer sums are for intervals: each event evaluates their factors anew.
const MOST_OPERATIONS: usize = 200;

/// C(i, k) / C(n, k) for n = [`DEGREE`].
const WEIGHTS: [[f64; DEGREE + 1]; DEGREE + 1] = {
    let mut binomial = [[0.0; DEGREE + 1]; DEGREE + 1];
    let mut i = 0;
    while i <= DEGREE {
        binomial[i][0] = 1.0;
        let mut k = 1;
        while k <= i {
            binomial[i][k] = binomial[i - 1][k - 1] + if k < i { binomial[i - 1][k] } else { 0.0 };
            k += 1;
        }
        i += 1;
    }
    let last = binomial[DEGREE];
    let mut i = 0;
    while i <= DEGREE {
        let mut k = 0;
        while k <= i {
            binomial[i][k] /= last[k];
            k += 1;
        }
        i += 1;
    }
    binomial
};

/// A factor, and the sum of the magnitudes of what it was computed from.
#[derive(Clone, Copy, Default, Debug)]
struct Factor {
    value: f64,
    size: f64,
}

impl Factor {
    fn add(&mut self, value: f64, size: f64) {
        self.value += value;
        self.size += size;
    }
}

/// One crossing function.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    /// Operations that move, in order; the last one is the function.
    operations: Vec<u32>,
    /// The states in it with their factors, that of time and what does not move, as they are until the next event.
    states: Vec<(u32, Factor)>,
    time: Factor,
    constant: Factor,
}

impl Sum {
    /// The sum that is computed at `crossing`, if it is one.
    pub fn of(instructions: &[Instruction], movers: &[Movers], crossing: u32) -> Option<Sum> {
        let moves = |i: u32| movers[i as usize].is_any();
        let mover = movers[crossing as usize];
        if !mover.states || mover.unknown || mover.solved {
            return None;
        }
        let (mut operations, mut open, mut states) = (Vec::new(), vec![crossing], Vec::new());
        while let Some(i) = open.pop() {
            if operations.contains(&i) {
                continue;
            }
            if operations.len() >= MOST_OPERATIONS {
                return None;
            }
            operations.push(i);
            match instructions[i as usize] {
                Instruction::State(state) => states.push((state, Factor::default())),
                Instruction::Time => {}
                Instruction::Unary(UnaryFn::Negate, a) => open.push(a),
                Instruction::Binary(BinaryFn::Add | BinaryFn::Sub, a, b) => {
                    open.extend([a, b].into_iter().filter(|&i| moves(i)));
                }
                Instruction::Binary(BinaryFn::Mul, a, b) if moves(a) != moves(b) => {
                    open.push(if moves(a) { a } else { b })
                }
                Instruction::Binary(BinaryFn::Div, a, b) if !moves(b) => open.push(a),
                _ => return None,
            }
        }
        operations.sort_unstable();
        states.sort_unstable_by_key(|(state, _)| *state);
        Some(Sum { operations, states, time: Factor::default(), constant: Factor::default() })
    }

    /// Evaluates the factors, from the function down to the states. `weights` has a place for each operation of the tape.
    fn load(&mut self, instructions: &[Instruction], numbers: &[f64], weights: &mut [Factor]) {
        self.states.iter_mut().for_each(|(_, factor)| *factor = Factor::default());
        (self.time, self.constant) = (Factor::default(), Factor::default());
        self.operations.iter().for_each(|&i| weights[i as usize] = Factor::default());
        if let Some(&crossing) = self.operations.last() {
            weights[crossing as usize] = Factor { value: 1.0, size: 1.0 };
        }
        for k in (0..self.operations.len()).rev() {
            let at = self.operations[k] as usize;
            let Factor { value: w, size } = weights[at];
            let operations = &self.operations;
            let constant = &mut self.constant;
            let mut pass = |i: u32, by: f64| match operations.binary_search(&i) {
                Ok(_) => weights[i as usize].add(w * by, size * by.abs()),
                Err(_) => {
                    let x = by * numbers[i as usize];
                    constant.add(w * x, size * x.abs());
                }
            };
            match instructions[at] {
                Instruction::State(state) => {
                    if let Some((_, factor)) = self.states.iter_mut().find(|(s, _)| *s == state) {
                        factor.add(w, size);
                    }
                }
                Instruction::Time => self.time.add(w, size),
                Instruction::Unary(_, a) => pass(a, -1.0),
                Instruction::Binary(BinaryFn::Add, a, b) => {
                    pass(a, 1.0);
                    pass(b, 1.0);
                }
                Instruction::Binary(BinaryFn::Sub, a, b) => {
                    pass(a, 1.0);
                    pass(b, -1.0);
                }
                Instruction::Binary(BinaryFn::Mul, a, b) => match operations.binary_search(&a) {
                    Ok(_) => pass(a, numbers[b as usize]),
                    Err(_) => pass(b, numbers[a as usize]),
                },
                Instruction::Binary(BinaryFn::Div, a, b) => pass(a, 1.0 / numbers[b as usize]),
                _ => {}
            }
        }
    }

    /// Bernstein coefficients over a stretch, and by how much they may be off.
    fn coefficients(&self, interpolants: &[Interpolant], from: f64, to: f64) -> Option<([f64; DEGREE + 1], f64)> {
        let &(first, _) = self.states.first()?;
        let Interpolant { origin, unit, .. } = interpolants[first as usize];
        let (mut c, mut sizes) = ([0.0; DEGREE + 1], [0.0; DEGREE + 1]);
        (c[0], sizes[0]) =
            (self.constant.value + self.time.value * origin, self.constant.size + self.time.size * origin.abs());
        (c[1], sizes[1]) = (self.time.value * unit, self.time.size * unit.abs());
        for (state, factor) in &self.states {
            let x = &interpolants[*state as usize];
            if x.origin != origin || x.unit != unit {
                return None;
            }
            for (k, x) in x.coefficients.iter().enumerate() {
                c[k] += factor.value * x;
                sizes[k] += factor.size * x.abs();
            }
        }
        let start = (from - origin) / unit;
        let length = (to - origin) / unit - start;
        let reach = (start.abs() + length.abs()).max(1.0);
        let size = sizes.iter().rev().fold(0.0, |sum, c| c + reach * sum);
        // About the start, in units of the stretch.
        for k in 0..DEGREE {
            for j in (k..DEGREE).rev() {
                c[j] += start * c[j + 1];
            }
        }
        let mut power = 1.0;
        for c in &mut c {
            *c *= power;
            power *= length;
        }
        let bernstein = |i: usize| WEIGHTS[i][..=i].iter().zip(&c).map(|(w, c)| w * c).sum::<f64>();
        let ulps = ROUNDING_OF_OPERATION * self.operations.len() as f64 + ROUNDING_OF_CONVERSION;
        Some((std::array::from_fn(bernstein), ulps * f64::EPSILON * size))
    }
}

/// The most changes of sign that coefficients may have which are off by up to `error`.
fn most_changes(g: &[f64], error: f64) -> usize {
    // By the sign of the last coefficient; `None` if it cannot have that.
    let (mut above, mut below) = (Some(0), Some(0));
    for (i, &g) in g.iter().enumerate() {
        let (last_above, last_below) = (above, below);
        let most = |same: Option<usize>, other: Option<usize>| same.max(other.map(|n| n + usize::from(i > 0)));
        above = if g >= -error { most(last_above, last_below) } else { None };
        below = if g <= error { most(last_below, last_above) } else { None };
    }
    above.max(below).unwrap_or(usize::MAX)
}

impl Tape {
    /// Is it known by the signs of Bernstein coefficients that the relation, a sum of states, keeps its value?
    pub fn keeps_as_sum(&mut self, relation: usize, watched: Watched, (from, to): (f64, f64)) -> bool {
        let Some(sum) = self.sums.get(relation).and_then(Option::as_ref) else { return false };
        self.work += NUMBER * (2 * sum.states.len() as u64 + 10) * (DEGREE as u64 + 1);
        let Some((z, error)) = sum.coefficients(&self.interpolants, from, to) else { return false };
        let g = z.map(|z| watched.side() * z + watched.shift);
        let error = error + f64::EPSILON * watched.shift.abs();
        // What is not a number decides nothing.
        if g.iter().all(|g| *g > error) {
            return true;
        }
        let is_known = error.is_finite() && g.iter().all(|g| g.is_finite());
        is_known && most_changes(&g, error) <= 1 && !watched.has_changed(self.at(relation, to))
    }

    /// Evaluates the factors of all sums.
    pub(super) fn load_sums(&mut self) {
        let mut weights = std::mem::take(&mut self.weights);
        for sum in self.sums.iter_mut().flatten() {
            self.work += NUMBER * sum.operations.len() as u64;
            sum.load(&self.instructions, &self.numbers, &mut weights.0);
        }
        self.weights = weights;
    }
}

/// Storage for [`Sum::load`].
#[derive(Clone, Default, Debug)]
pub(super) struct Weights(Vec<Factor>);

impl Weights {
    pub fn new(n: usize) -> Self {
        Weights(vec![Factor::default(); n])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_within_their_error_may_have_either_sign() {
        assert_eq!(most_changes(&[1.0, 2.0, 3.0], 0.5), 0);
        assert_eq!(most_changes(&[1.0, 0.1, 3.0], 0.5), 2);
        assert_eq!(most_changes(&[1.0, 2.0, 0.1], 0.5), 1);
        assert_eq!(most_changes(&[0.1, 2.0, 3.0], 0.5), 1);
        assert_eq!(most_changes(&[1.0, -2.0, 3.0], 0.5), 2);
        assert_eq!(most_changes(&[1.0, 2.0, -3.0], 0.5), 1);
    }

    /// 2·x − 3·y + t/2 − 1 with the dense outputs x = 1 + s², y = s − s³, s = (t − 2) / 0.5, over t = 2.1 … 2.4, by hand at points of the stretch.
    #[test]
    fn the_polynomial_lies_between_its_coefficients_and_ends_on_the_outer_ones() {
        let x = Interpolant { origin: 2.0, unit: 0.5, coefficients: [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0] };
        let y = Interpolant { origin: 2.0, unit: 0.5, coefficients: [0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0] };
        use Instruction::{Binary, Constant, State, Time};
        let tape = [
            Constant(2.0),
            State(0),
            Binary(BinaryFn::Mul, 0, 1),
            Constant(3.0),
            State(1),
            Binary(BinaryFn::Mul, 4, 3),
            Binary(BinaryFn::Sub, 2, 5),
            Time,
            Binary(BinaryFn::Div, 7, 0),
            Binary(BinaryFn::Add, 6, 8),
            Constant(1.0),
            Binary(BinaryFn::Sub, 9, 10),
        ];
        let fixed = Movers::default();
        let state = Movers { states: true, ..fixed };
        let time = Movers { time: true, ..fixed };
        let both = state.and(time);
        let movers = [fixed, state, state, fixed, state, state, state, time, time, both, fixed, both];
        let numbers =
            [2.0, f64::NAN, f64::NAN, 3.0, f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN, 1.0, f64::NAN];
        let mut sum = Sum::of(&tape, &movers, 11).expect("a sum of states");
        sum.load(&tape, &numbers, &mut [Factor::default(); 12]);
        let (b, error) = sum.coefficients(&[x, y], 2.1, 2.4).expect("one step");
        let z = |t: f64| 2.0 * x.at(t) - 3.0 * y.at(t) + t / 2.0 - 1.0;
        assert!(error < 1e-12 && (b[0] - z(2.1)).abs() < error && (b[DEGREE] - z(2.4)).abs() < error, "{b:?} {error}");
        let (lo, hi) = b.iter().fold((f64::INFINITY, -f64::INFINITY), |(lo, hi), &b| (b.min(lo), b.max(hi)));
        for k in 0..=30 {
            let z = z(2.1 + 0.01 * f64::from(k));
            assert!(lo - error <= z && z <= hi + error, "{z} outside of {lo} to {hi}");
        }
        // x·y is not a sum.
        let product = [State(0), State(1), Binary(BinaryFn::Mul, 0, 1)];
        assert!(Sum::of(&product, &[state; 3], 2).is_none());
    }
}
