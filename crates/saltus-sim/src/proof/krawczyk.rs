//! Unknowns of nonlinear loops over a stretch of time.
//!
//! In: what the loop needs from outside, enclosed over the stretch; a solution of the program near by. Out: a box that contains, for every time of the
//! stretch, exactly one solution. With a point u near the solution, a box X around it, and R, an approximate inverse of the Jacobian J(X),
//! each solution in X is in K = u - R·f(u) + (I - R·J(X))·(X - u); if K is inside of X there is one, and only one (Krawczyk 1969; Neumaier: *Interval Methods
//! for Systems of Equations*, 1990, section 5.1). Where no such box is found nothing is known.
//!
//! The box says that the solution goes on without a jump. That it is the one of the program follows from where it was looked for.

use saltus_numerics::Interval;

use super::dual::Dual;
use super::tape::Tape;

/// Steps of Newton's method to a point of the solution.
const MOST_STEPS: usize = 12;

/// Steps that are as short as this part of the unknowns end it.
const CONVERGED: f64 = 1e-13;

/// A step that is more than this part of the last one is rounding.
const SLOWER: f64 = 0.5;

/// Boxes that are tried, each larger than the last.
const MOST_BOXES: usize = 4;

/// A box is this times as large as what it must contain.
const LARGER: f64 = 1.5;

/// The least size of a box, as a part of the unknowns: more than rounding.
const LEAST: f64 = 1e-13;

impl Tape {
    /// Encloses the unknowns of a loop and evaluates what follows from them; slopes are those of the residuals with the unknowns fixed.
    pub(super) fn enclose_unknowns(&mut self, k: usize, t: Interval) {
        let n = self.loops[k].guesses.len();
        for i in 0..self.loops[k].outer.len() {
            let place = self.loops[k].outer[i] as usize;
            self.numbers[place] = self.duals[place].value.middle();
        }
        let found = self.find_unknowns(k, t.middle()) && self.box_around(k, t);
        if !found {
            for j in 0..n {
                self.loops[k].system.solution[j] = Interval::UNKNOWN;
            }
        }
        self.loosen(k);
        self.set_guesses(k, t, |x, _| Dual { value: x, slope: Interval::ZERO });
    }

    /// Newton's method on numbers, from the last solution; true if it has converged: steps are short for each unknown itself, or they are for its nominal value and do not
    /// get shorter any more.
    pub(super) fn find_unknowns(&mut self, k: usize, t: f64) -> bool {
        let n = self.loops[k].guesses.len();
        let mut step = vec![0.0; n];
        let mut last = f64::INFINITY;
        for j in 0..n {
            self.numbers[self.loops[k].guesses[j] as usize] = self.loops[k].start[j];
        }
        for _ in 0..MOST_STEPS {
            self.follow_numbers(k, t);
            let l = &mut self.loops[k];
            for (step, &place) in step.iter_mut().zip(&l.residuals) {
                *step = -self.numbers[place as usize];
            }
            let (entries, numbers) = (&l.entries, &self.numbers);
            let mut matrix = vec![0.0; n * n];
            for &(row, column, place) in entries {
                matrix[row as usize * n + column as usize] = numbers[place as usize];
            }
            let is_solved = step.iter().chain(&matrix).all(|x| x.is_finite())
                && l.system.solve_middle(|row, column| matrix[row * n + column], &mut step);
            if !is_solved {
                return false;
            }
            let (mut own, mut nominal) = (0f64, 0f64);
            for (j, step) in step.iter().enumerate() {
                let place = l.guesses[j] as usize;
                self.numbers[place] += step;
                let size = self.numbers[place].abs();
                own = own.max(if *step == 0.0 { 0.0 } else { step.abs() / size });
                nominal = nominal.max(step.abs() / size.max(l.unknowns[j].1));
            }
            let is_short = own <= CONVERGED || nominal <= CONVERGED && own > SLOWER * last;
            last = own;
            if is_short {
                for j in 0..n {
                    self.loops[k].start[j] = self.numbers[self.loops[k].guesses[j] as usize];
                }
                self.follow_numbers(k, t);
                return true;
            }
        }
        false
    }

    /// No solution was found.
    pub(super) fn lose_unknowns(&mut self, k: usize, t: f64) {
        for j in 0..self.loops[k].guesses.len() {
            self.numbers[self.loops[k].guesses[j] as usize] = f64::NAN;
        }
        self.follow_numbers(k, t);
    }

    fn follow_numbers(&mut self, k: usize, t: f64) {
        for j in 0..self.loops[k].inner.len() {
            let i = self.loops[k].inner[j] as usize;
            self.numbers[i] = self.number(self.instructions[i], t);
        }
    }

    /// A box around the point that was found last, left as the solution of the system; true if there is one.
    fn box_around(&mut self, k: usize, t: Interval) -> bool {
        let n = self.loops[k].guesses.len();
        let point: Vec<f64> = self.loops[k].start.clone();
        let least: Vec<f64> = point.iter().map(|u| (LEAST * u.abs()).max(f64::MIN_POSITIVE)).collect();
        let (mut reach, mut image) = (vec![0.0; n], vec![Interval::UNKNOWN; n]);
        self.guess(k, t, |j| Interval::point(point[j]));
        self.factor(k);
        let residuals: Vec<Interval> =
            self.loops[k].residuals.iter().map(|&place| self.duals[place as usize].value).collect();
        self.loops[k].system.right.copy_from_slice(&residuals);
        self.loops[k].system.precondition(&reach, &mut image);
        for _ in 0..MOST_BOXES {
            if image.iter().any(|x| !x.is_known() || !x.magnitude().is_finite()) {
                return false;
            }
            for j in 0..n {
                reach[j] = (LARGER * image[j].magnitude()).max(reach[j]) + least[j];
            }
            self.guess(k, t, |j| Interval::around(point[j], reach[j]));
            self.factor(k);
            self.loops[k].system.right.copy_from_slice(&residuals);
            self.loops[k].system.precondition(&reach, &mut image);
            if image.iter().zip(&reach).all(|(x, reach)| x.magnitude() < *reach) {
                for (solution, (point, x)) in self.loops[k].system.solution.iter_mut().zip(point.iter().zip(&image)) {
                    *solution = Interval::point(*point) - *x;
                }
                return true;
            }
        }
        false
    }

    fn guess(&mut self, k: usize, t: Interval, value: impl Fn(usize) -> Interval) {
        for j in 0..self.loops[k].guesses.len() {
            self.loops[k].system.solution[j] = value(j);
        }
        self.set_guesses(k, t, |x, _| Dual { value: x, slope: Interval::ZERO });
    }
}
