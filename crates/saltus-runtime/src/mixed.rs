//! Mixed loops: reals and relations of these reals that must agree. Independent of how either is evaluated.
//!
//! ```text
//! off = s < 0;                                 relations: s < 0
//! u = if off then s else 0;            ⇒       for each value of it the equations are solved for s, u, i;
//! i = if off then 0 else s;                    found is a value that the solution confirms
//! ```
//!
//! In: a [`MixedSystem`]. Out: consistent values, how they were found, how often the reals were solved. Strategies, in
//! turn (Otter, Elmqvist, Mattsson 1999, section 6):
//! 1. *fixed point*: solve, evaluate all relations, again; literal;
//! 2. *restricted*: on the way from one solution to the next only the relation that changes first is changed;
//! 3. *pivot*: block principal pivots for many switches. As long as they become fewer, all relations that disagree are
//!    changed together; where they do not within some tries, only the first of them, until they are fewer again. (Júdice and
//!    Pires 1994; the single changes are Murty's of 1974, which end for all P-matrices, so the whole does);
//! 4. *exhaustive*: all combinations in Gray-code order, possible ones only; of many relations those that differ least from
//!    the present combination.
//!
//! The last three accept either value of a relation whose operands are equal up to rounding, the first does so once it
//! runs in a circle. Where no values agree, a [`Concession`] may still be made.

use saltus_program::{MixedMethod, MixedStrategy};

mod combinations;

use combinations::Combinations;

const MOST_FIXED_POINT_STEPS: usize = 40;

/// Contradictions up to this part of the largest z are taken for rounding errors where no combination is free of them: the
/// equations of a diode that blocks amplify those of a current by the resistance that it has then.
const AMPLIFIED_ROUNDING: f64 = 1e-7;

/// Tries with all disagreeing relations changed together that may bring no improvement.
const MOST_BLOCK_PIVOTS: u32 = 10;

/// The cheapest first.
const STRATEGIES: [MixedStrategy; 4] =
    [MixedStrategy::FixedPoint, MixedStrategy::Restricted, MixedStrategy::Pivot, MixedStrategy::Exhaustive];

pub trait MixedSystem {
    fn n_relations(&self) -> usize;

    /// Solves for the reals with the present discrete values; false if that fails.
    fn solve(&mut self) -> bool;

    /// Evaluates the relations at the present reals: literal value, z, and the |z| up to which either value will do.
    fn relations(&mut self, seen: &mut Relations);

    /// Evaluates the discrete part as if the relations had these values, and stores it. True if something changed.
    fn impose(&mut self, values: &[bool]) -> bool;

    /// Can the relations have these values at the same time?
    fn is_possible(&self, _values: &[bool]) -> bool {
        true
    }
}

/// Relations as evaluated; all vectors have [`MixedSystem::n_relations`] entries.
#[derive(Clone, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Relations {
    pub values: Vec<bool>,
    pub z: Vec<f64>,
    pub epsilon: Vec<f64>,
}

impl Relations {
    fn new(n: usize) -> Self {
        Relations { values: vec![false; n], z: vec![0.0; n], epsilon: vec![0.0; n] }
    }

    /// Does the literal value of relation `i` contradict `value`, beyond rounding?
    fn contradicts(&self, i: usize, value: bool) -> bool {
        // A z that is not a number agrees with nothing.
        let is_rounding = self.z[i].abs() <= self.epsilon[i];
        self.values[i] != value && !is_rounding
    }
}

/// What is accepted where no values agree with the equations that they switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Concession {
    #[default]
    Nothing,
    /// The combination with the smallest contradiction, if that is tiny.
    Rounding,
    /// What the values on entry say, for one round of an event: a law with hysteresis (`sa > max or pre(slips) and sa > min`)
    /// may have no solution until `pre` follows. The event ends with a round in which all values agree.
    AnotherRound,
}

/// Storage that is kept from one solution to the next.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct MixedSolver {
    seen: Relations,
    before: Relations,
    start: Relations,
    candidate: Vec<bool>,
    /// Had the reals a solution with the candidate?
    is_solved: bool,
    history: Vec<Vec<bool>>,
    /// The combination with the smallest contradiction, and that.
    nearest: Option<(f64, Vec<bool>)>,
    pub method: MixedMethod,
}

/// How often the reals were solved, and by which strategy with success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MixedOutcome {
    pub strategy: MixedStrategy,
    pub iterations: u32,
    /// Another round of the event must confirm the values.
    pub is_provisional: bool,
}

impl MixedSolver {
    pub fn new(n: usize) -> Self {
        MixedSolver {
            seen: Relations::new(n),
            before: Relations::new(n),
            start: Relations::new(n),
            candidate: vec![false; n],
            is_solved: false,
            history: Vec::new(),
            nearest: None,
            method: MixedMethod::Auto,
        }
    }

    /// Finds reals and relations that agree; on failure the number of solutions tried.
    pub fn solve(&mut self, system: &mut dyn MixedSystem, concession: Concession) -> Result<MixedOutcome, u32> {
        let mut iterations = 0;
        self.nearest = None;
        system.relations(&mut self.start);
        let method = self.method;
        for strategy in STRATEGIES.into_iter().filter(|s| method.allows(*s)) {
            let found = match strategy {
                MixedStrategy::FixedPoint => self.fixed_point(system, &mut iterations),
                MixedStrategy::Restricted => self.restricted(system, &mut iterations),
                MixedStrategy::Pivot => self.pivot(system, &mut iterations),
                MixedStrategy::Exhaustive => self.exhaustive(system, &mut iterations, concession),
            };
            if found {
                return Ok(MixedOutcome { strategy, iterations, is_provisional: false });
            }
        }
        let strategy = MixedStrategy::Exhaustive;
        if concession >= Concession::Rounding && self.take_nearest(system) {
            return Ok(MixedOutcome { strategy, iterations, is_provisional: false });
        }
        if concession == Concession::AnotherRound && self.take_entry(system) {
            return Ok(MixedOutcome { strategy, iterations, is_provisional: true });
        }
        Err(iterations)
    }

    /// The combination with the smallest contradiction.
    fn take_nearest(&mut self, system: &mut dyn MixedSystem) -> bool {
        let Some((_, nearest)) = self.nearest.take() else { return false };
        self.candidate.copy_from_slice(&nearest);
        system.impose(&self.candidate);
        system.solve() && !system.impose(&self.candidate)
    }

    /// The relations as they were on entry.
    fn take_entry(&mut self, system: &mut dyn MixedSystem) -> bool {
        self.candidate.copy_from_slice(&self.start.values);
        system.impose(&self.candidate);
        !self.candidate.is_empty() && system.solve()
    }

    fn fixed_point(&mut self, system: &mut dyn MixedSystem, iterations: &mut u32) -> bool {
        self.history.clear();
        for _ in 0..MOST_FIXED_POINT_STEPS {
            *iterations += 1;
            if !system.solve() {
                return false;
            }
            system.relations(&mut self.seen);
            self.candidate.copy_from_slice(&self.seen.values);
            if !system.impose(&self.candidate) {
                return true;
            }
            if self.candidate.is_empty() {
                continue;
            }
            if let Some(first) = self.history.iter().position(|h| *h == self.candidate) {
                return self.one_of_circle(system, first, iterations);
            }
            self.history.push(self.candidate.clone());
        }
        false
    }

    /// The fixed point iteration runs in a circle: is one of its members right up to rounding?
    fn one_of_circle(&mut self, system: &mut dyn MixedSystem, first: usize, iterations: &mut u32) -> bool {
        for k in first..self.history.len() {
            self.candidate.copy_from_slice(&self.history[k]);
            *iterations += 1;
            if self.agrees(system) {
                return true;
            }
        }
        false
    }

    /// Solves with the candidate; true if the solution confirms it up to rounding.
    fn agrees(&mut self, system: &mut dyn MixedSystem) -> bool {
        system.impose(&self.candidate);
        self.is_solved = system.solve();
        if !self.is_solved {
            return false;
        }
        system.relations(&mut self.seen);
        (0..self.candidate.len()).all(|i| !self.seen.contradicts(i, self.candidate[i]))
            && !system.impose(&self.candidate)
    }

    fn restricted(&mut self, system: &mut dyn MixedSystem, iterations: &mut u32) -> bool {
        let n = self.candidate.len();
        self.candidate.copy_from_slice(&self.start.values);
        self.before.clone_from(&self.start);
        for _ in 0..4 * n + 20 {
            *iterations += 1;
            if self.agrees(system) {
                return true;
            }
            let Some(nearest) = self.nearest_change() else { return false };
            for i in 0..n {
                if self.seen.contradicts(i, self.candidate[i]) && self.fraction(i) <= nearest {
                    self.candidate[i] = !self.candidate[i];
                }
            }
            for i in 0..n {
                self.before.z[i] += nearest * (self.seen.z[i] - self.before.z[i]);
            }
        }
        false
    }

    /// Where on the way from the last solution (0) to this one (1) relation `i` changes, if z changes evenly.
    fn fraction(&self, i: usize) -> f64 {
        let (old, new) = (self.before.z[i], self.seen.z[i]);
        let fraction = old / (old - new);
        if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn nearest_change(&self) -> Option<f64> {
        let changing = (0..self.candidate.len()).filter(|&i| self.seen.contradicts(i, self.candidate[i]));
        changing.map(|i| self.fraction(i)).reduce(f64::min)
    }

    fn pivot(&mut self, system: &mut dyn MixedSystem, iterations: &mut u32) -> bool {
        let n = self.candidate.len();
        self.candidate.copy_from_slice(&self.start.values);
        let most = if n < 10 { 1 << (n + 1) } else { 200 + 40 * n };
        let (mut fewest, mut tries) = (usize::MAX, MOST_BLOCK_PIVOTS);
        self.history.clear();
        for _ in 0..most {
            *iterations += 1;
            if self.agrees(system) {
                return true;
            }
            let disagreeing = (0..n).filter(|&i| self.seen.contradicts(i, self.candidate[i])).count();
            if disagreeing == 0 {
                return false;
            }
            if disagreeing < fewest {
                (fewest, tries) = (disagreeing, MOST_BLOCK_PIVOTS);
                self.history.clear();
            }
            let together = tries > 0;
            // Single changes depend on the combination alone: once back at one, they run in a circle.
            if !together && self.history.contains(&self.candidate) {
                return false;
            }
            if !together {
                self.history.push(self.candidate.clone());
            }
            tries = tries.saturating_sub(1);
            for i in 0..n {
                if self.seen.contradicts(i, self.candidate[i]) {
                    self.candidate[i] = !self.candidate[i];
                    if !together {
                        break;
                    }
                }
            }
        }
        false
    }

    fn exhaustive(&mut self, system: &mut dyn MixedSystem, iterations: &mut u32, concession: Concession) -> bool {
        let combinations = Combinations::new(self.candidate.len());
        let is_complete = combinations.is_complete();
        // A part of very many is worth the effort only if nothing else is left to be tried.
        if !is_complete && concession == Concession::Nothing && self.method == MixedMethod::Auto {
            return false;
        }
        for flipped in combinations {
            for (i, value) in self.candidate.iter_mut().enumerate() {
                *value = self.start.values[i] ^ flipped.contains(i);
            }
            if !system.is_possible(&self.candidate) {
                continue;
            }
            *iterations += 1;
            if self.agrees(system) {
                return true;
            }
            let excess = self.excess();
            if is_complete
                && excess <= AMPLIFIED_ROUNDING
                && self.nearest.as_ref().is_none_or(|(least, _)| excess < *least)
            {
                self.nearest = Some((excess, self.candidate.clone()));
            }
        }
        false
    }

    /// By how much the relations contradict the candidate, as a part of the largest z; infinite if there is no solution.
    fn excess(&self) -> f64 {
        let largest = self.seen.z.iter().fold(0.0_f64, |most, z| most.max(z.abs()));
        let contradicting = (0..self.candidate.len()).filter(|&i| self.seen.contradicts(i, self.candidate[i]));
        let excess = contradicting.map(|i| self.seen.z[i].abs()).fold(0.0_f64, f64::max) / largest;
        if self.is_solved && excess > 0.0 { excess } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x solves `x = table[mode]`, where the mode is made of the relations `x < threshold[i]`.
    struct Table {
        thresholds: Vec<f64>,
        table: Vec<Option<f64>>,
        mode: usize,
        x: f64,
    }

    impl MixedSystem for Table {
        fn n_relations(&self) -> usize {
            self.thresholds.len()
        }

        fn solve(&mut self) -> bool {
            let found = self.table.get(self.mode).copied().flatten();
            self.x = found.unwrap_or(self.x);
            found.is_some()
        }

        fn relations(&mut self, seen: &mut Relations) {
            for (i, threshold) in self.thresholds.iter().enumerate() {
                seen.z[i] = self.x - threshold;
                seen.values[i] = self.x < *threshold;
                seen.epsilon[i] = 1e-12;
            }
        }

        fn impose(&mut self, values: &[bool]) -> bool {
            let mode = values.iter().enumerate().map(|(i, &v)| usize::from(v) << i).sum();
            std::mem::replace(&mut self.mode, mode) != mode
        }
    }

    fn solve(thresholds: &[f64], table: &[Option<f64>], x: f64) -> (Result<MixedOutcome, u32>, f64, usize) {
        let mut system = Table { thresholds: thresholds.to_vec(), table: table.to_vec(), mode: 0, x };
        let outcome = MixedSolver::new(thresholds.len()).solve(&mut system, Concession::Rounding);
        (outcome, system.x, system.mode)
    }

    #[test]
    fn a_fixed_point_is_found_directly() {
        // with x ≥ 0: x := 3, confirmed at once
        let (outcome, x, _) = solve(&[0.0], &[Some(3.0), Some(-1.0)], 1.0);
        assert_eq!(
            outcome,
            Ok(MixedOutcome { strategy: MixedStrategy::FixedPoint, iterations: 1, is_provisional: false })
        );
        assert_eq!(x, 3.0);
    }

    #[test]
    fn a_circle_of_rounding_errors_ends() {
        // each value of the relation gives an x that contradicts it, by rounding only
        let (outcome, x, _) = solve(&[0.0], &[Some(-1e-16), Some(1e-16)], 1.0);
        assert_eq!(outcome.map(|o| o.strategy), Ok(MixedStrategy::FixedPoint));
        assert!(x.abs() <= 1e-16);
    }

    #[test]
    fn a_circle_of_the_fixed_point_is_left_by_the_neighbouring_region() {
        // x < 0 and x < 1: in the upper region x := −1, in the lower x := 2, in the middle x := 0.5
        let (outcome, x, mode) = solve(&[0.0, 1.0], &[Some(-1.0), None, Some(0.5), Some(2.0)], 3.0);
        assert_eq!(outcome.map(|o| o.strategy), Ok(MixedStrategy::Restricted));
        assert_eq!((x, mode), (0.5, 2));
    }

    #[test]
    fn all_combinations_are_tried_in_the_end() {
        // only mode 2 (x ≥ 5 and x < 7) confirms itself; all others lead away from it or have no solution
        let (outcome, x, _) = solve(&[5.0, 7.0], &[None, Some(1.0), Some(6.0), None], 1.0);
        assert!(outcome.is_ok(), "{outcome:?}");
        assert_eq!(x, 6.0);
    }

    /// The linear complementarity problem `w = q + M z`, `w ≥ 0`, `z ≥ 0`, `w z = 0`: relation i says that zᵢ is free
    /// (then wᵢ = 0 is solved for it), and is confirmed by zᵢ > 0 or contradicted by wᵢ < 0.
    struct Complementarity {
        n: usize,
        m: Vec<f64>,
        q: Vec<f64>,
        free: Vec<bool>,
        z: Vec<f64>,
        w: Vec<f64>,
    }

    impl MixedSystem for Complementarity {
        fn n_relations(&self) -> usize {
            self.n
        }

        fn solve(&mut self) -> bool {
            let free: Vec<usize> = (0..self.n).filter(|&i| self.free[i]).collect();
            let k = free.len();
            let mut matrix: Vec<f64> = Vec::new();
            for &row in &free {
                matrix.extend(free.iter().map(|&column| self.m[row * self.n + column]));
            }
            let mut x: Vec<f64> = free.iter().map(|&i| -self.q[i]).collect();
            let mut lu = saltus_numerics::DenseLu::new(k);
            if lu.factor(&matrix).is_err() {
                return false;
            }
            lu.solve(&mut x);
            self.z.fill(0.0);
            free.iter().zip(&x).for_each(|(&i, &x)| self.z[i] = x);
            for i in 0..self.n {
                let row = &self.m[i * self.n..(i + 1) * self.n];
                self.w[i] = self.q[i] + row.iter().zip(&self.z).map(|(m, z)| m * z).sum::<f64>();
            }
            true
        }

        fn relations(&mut self, seen: &mut Relations) {
            for i in 0..self.n {
                seen.z[i] = if self.free[i] { self.z[i] } else { -self.w[i] };
                seen.values[i] = seen.z[i] > 0.0;
                seen.epsilon[i] = 1e-12;
            }
        }

        fn impose(&mut self, values: &[bool]) -> bool {
            let changed = self.free != values;
            self.free.copy_from_slice(values);
            changed
        }
    }

    #[test]
    fn pivots_solve_many_switches() {
        // P-matrices: a positive diagonal part and a strong antisymmetric one, on which fixed points run in circles.
        // The numbers come from a linear congruential generator; right is what fulfils the three conditions.
        let mut seed = 1u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let n = 40;
        for _ in 0..20 {
            let mut m = vec![0.0; n * n];
            for i in 0..n {
                m[i * n + i] = 1.0;
                for j in 0..i {
                    m[i * n + j] = 2.0 * random();
                    m[j * n + i] = -m[i * n + j];
                }
            }
            let q = (0..n).map(|_| random()).collect();
            let (free, z, w) = (vec![false; n], vec![0.0; n], vec![0.0; n]);
            let mut system = Complementarity { n, m, q, free, z, w };
            let mut solver = MixedSolver::new(n);
            solver.method = MixedMethod::Only(MixedStrategy::Pivot);
            let outcome = solver.solve(&mut system, Concession::Nothing);
            assert_eq!(outcome.map(|o| o.strategy), Ok(MixedStrategy::Pivot));
            assert!(outcome.is_ok_and(|o| o.iterations < 2000), "{outcome:?}");
            assert!(
                (0..n).all(|i| system.z[i] > -1e-9 && system.w[i] > -1e-9 && (system.z[i] * system.w[i]).abs() < 1e-9)
            );
        }
    }

    #[test]
    fn rounding_errors_that_the_equations_amplify_are_no_contradiction() {
        // Beside a relation of ordinary size (x < 100) one that contradicts itself by 1e-10 in either value.
        let table = [Some(-1e-10), Some(1e-10), Some(-1e-10), Some(1e-10)];
        let (outcome, x, _) = solve(&[0.0, 100.0], &table, 1.0);
        assert_eq!(outcome.map(|o| o.strategy), Ok(MixedStrategy::Exhaustive));
        assert_eq!(x.abs(), 1e-10);
    }

    #[test]
    fn of_many_relations_the_nearest_combinations_are_tried() {
        // Fourteen switches in a row, all of which but the last agree with the present values: one change is enough.
        let n = 14;
        let mut m = vec![0.0; n * n];
        (0..n).for_each(|i| m[i * n + i] = 1.0);
        let mut q = vec![1.0; n];
        q[n - 1] = -1.0;
        let (free, z, w) = (vec![false; n], vec![0.0; n], vec![0.0; n]);
        let mut system = Complementarity { n, m, q, free, z, w };
        let mut solver = MixedSolver::new(n);
        solver.method = MixedMethod::Only(MixedStrategy::Exhaustive);
        let outcome = solver.solve(&mut system, Concession::Nothing);
        assert!(outcome.is_ok_and(|o| (2..=16).contains(&o.iterations)), "{outcome:?}");
        assert_eq!(system.z[n - 1], 1.0);
    }

    #[test]
    fn another_round_is_asked_for_only_where_that_is_allowed() {
        // Neither value of `x < 0` agrees with what it switches.
        let table = vec![Some(-1.0), Some(1.0)];
        for (concession, provisional) in [(Concession::Rounding, None), (Concession::AnotherRound, Some(true))] {
            let mut system = Table { thresholds: vec![0.0], table: table.clone(), mode: 0, x: -2.0 };
            let outcome = MixedSolver::new(1).solve(&mut system, concession);
            assert_eq!(outcome.ok().map(|o| o.is_provisional), provisional);
            // What the value on entry says: −2 is less than 0.
            assert!(provisional.is_none() || system.mode == 1);
        }
    }

    #[test]
    fn no_solution_is_reported() {
        let (outcome, ..) = solve(&[0.0], &[Some(-1.0), Some(1.0)], 1.0);
        assert!(outcome.is_err());
    }
}
