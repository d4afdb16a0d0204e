//! Motion along the intersection of several surfaces of discontinuity (Filippov 1988; Dieci and Lopez 2011).
//!
//! k functions z are zero. Around that point lie 2ᵏ regions, one for each combination of their signs, in each of which the
//! functions change at other rates. In: these rates. Out: for each function the share w of time that is spent on its positive side:
//!
//! ```text
//! w = 0     it leaves to the negative side          0 < w < 1    it stays zero
//! w = 1     it leaves to the positive side
//! ```
//!
//! Rates between the regions are interpolated in each share (multilinear): this is what happens when every jump is replaced by a
//! steep ramp, and the ramps become steeper. On one surface, and wherever the jumps add up, it is Filippov's solution, which is
//! unique then. Otherwise his inclusion has many solutions, and this one is the limit of the ramps, all of which are
//! crossed in the same time at their fastest: the shares follow `dw/dτ = ż(w)` inside of the unit cube until they rest.

mod dependence;

pub use dependence::{Dependence, independent};

use crate::lu::DenseLu;
use crate::schur::eigenvalues;
use crate::tuning::sliding::{END, FIRST_STEP, GROWTH, LONGEST_STEP, MOST_NEWTON_STEPS, MOST_STEPS, REST, STABLE};

/// Rates of k functions in 2ᵏ regions. Bit i of the number of a region is set where function i is positive.
#[derive(Clone, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Regions {
    k: usize,
    /// By region, then by function.
    rates: Vec<f64>,
    /// If some depend on the others.
    dependence: Option<Dependence>,
}

/// What has no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoLimit {
    /// The shares go round in circles, or rest where any disturbance drives them away.
    Unstable,
    /// A rate is not a number.
    NotFinite,
}

impl Regions {
    pub fn new(k: usize) -> Self {
        Regions { k, rates: vec![0.0; k << k], dependence: None }
    }

    /// Number of functions.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Rates of all functions in a region.
    pub fn rates(&self, region: usize) -> &[f64] {
        &self.rates[region * self.k..(region + 1) * self.k]
    }

    pub fn set_rate(&mut self, region: usize, function: usize, rate: f64) {
        self.rates[region * self.k + function] = rate;
    }

    /// The largest rate of a function in any region.
    pub fn fastest(&self, function: usize) -> f64 {
        (0..1 << self.k).map(|region| self.rates(region)[function].abs()).fold(0.0, f64::max)
    }

    /// The rate of a function for these shares.
    fn rate_at(&self, function: usize, shares: &[f64]) -> f64 {
        (0..1 << self.k).map(|region| part(region, shares) * self.rates(region)[function]).sum()
    }

    /// How that rate changes with the share of another function.
    fn slope_at(&self, function: usize, by: usize, shares: &[f64]) -> f64 {
        let at = |share: f64| {
            let moved: Vec<f64> = (0..self.k).map(|i| if i == by { share } else { shares[i] }).collect();
            self.rate_at(function, &moved)
        };
        at(1.0) - at(0.0)
    }

    /// Where the shares come to rest that begin as given.
    pub fn limit(&self, start: &[f64]) -> Result<Vec<f64>, NoLimit> {
        let scaled = self.scaled();
        if scaled.rates.iter().any(|r| !r.is_finite()) || start.len() != self.k {
            return Err(NoLimit::NotFinite);
        }
        if scaled.dependence.is_some() {
            return scaled.limit_of_dependent(start);
        }
        let mut shares: Vec<f64> = start.iter().map(|w| w.clamp(0.0, 1.0)).collect();
        let mut step = FIRST_STEP;
        for _ in 0..MOST_STEPS {
            let free = scaled.free(&shares);
            let residual = free.iter().map(|&i| scaled.rate_at(i, &shares).abs()).fold(0.0, f64::max);
            if residual <= REST {
                let is_stable = scaled.is_stable(&free, &shares);
                shares.iter_mut().for_each(|share| *share = at_end(*share));
                return if is_stable { Ok(shares) } else { Err(NoLimit::Unstable) };
            }
            scaled.relax(&free, step, &mut shares);
            step = (step * GROWTH).min(LONGEST_STEP);
        }
        Err(NoLimit::Unstable)
    }

    /// Changes the shares until no function moves, without limits on them; false if Newton's method fails.
    pub fn balance(&self, shares: &mut [f64]) -> bool {
        let scaled = self.scaled();
        if scaled.dependence.is_some() {
            return scaled.balance_dependent(shares);
        }
        let all: Vec<usize> = (0..self.k).collect();
        for _ in 0..MOST_NEWTON_STEPS {
            let residual = all.iter().map(|&i| scaled.rate_at(i, shares).abs()).fold(0.0, f64::max);
            if residual <= REST {
                return true;
            }
            if residual.is_nan() || !scaled.newton(&all, 0.0, shares) {
                return false;
            }
        }
        false
    }

    /// The part of each region in the combination with these shares.
    pub fn parts(&self, shares: &[f64]) -> impl Iterator<Item = f64> {
        let shares = if self.dependence.is_some() { Self::ramps(shares) } else { shares.to_vec() };
        (0..1usize << self.k).map(move |region| part(region, &shares))
    }

    /// These functions alone, the others being on the side that `region` says.
    pub fn reduced(&self, kept: &[usize], region: usize) -> Regions {
        let mut reduced = Regions::new(kept.len());
        for inner in 0..1usize << kept.len() {
            for (j, &function) in kept.iter().enumerate() {
                reduced.set_rate(inner, j, self.rates(within(kept, inner, region))[function]);
            }
        }
        reduced
    }

    /// The same with rates up to 1, whatever their units.
    fn scaled(&self) -> Regions {
        let fastest: Vec<f64> = (0..self.k).map(|i| self.fastest(i)).collect();
        let scale = |(j, rate): (usize, &f64)| match fastest[j % self.k] {
            0.0 => 0.0,
            most => rate / most,
        };
        let dependence = self.scaled_dependence(&fastest);
        Regions { k: self.k, rates: self.rates.iter().enumerate().map(scale).collect(), dependence }
    }

    /// Functions whose share may change: those not held by a side of the cube.
    fn free(&self, shares: &[f64]) -> Vec<usize> {
        let is_held = |i: &usize| {
            let rate = self.rate_at(*i, shares);
            shares[*i] <= 0.0 && rate < 0.0 || shares[*i] >= 1.0 && rate > 0.0
        };
        (0..self.k).filter(|i| !is_held(i)).collect()
    }

    /// A linearly implicit step of Euler's method, cut off at the cube. Long ones are Newton's method.
    fn relax(&self, free: &[usize], step: f64, shares: &mut [f64]) {
        if !self.newton(free, 1.0 / step, shares) {
            for &i in free {
                shares[i] += FIRST_STEP * self.rate_at(i, shares);
            }
        }
        shares.iter_mut().for_each(|w| *w = w.clamp(0.0, 1.0));
    }

    /// Solves `(damping·1 − J)·d = ż` for the free shares and adds d.
    fn newton(&self, free: &[usize], damping: f64, shares: &mut [f64]) -> bool {
        let n = free.len();
        let mut matrix: Vec<f64> = self.slopes(free, shares).iter().map(|s| -s).collect();
        (0..n).for_each(|a| matrix[a * n + a] += damping);
        let mut lu = DenseLu::new(n);
        if lu.factor(&matrix).is_err() {
            return false;
        }
        let mut change: Vec<f64> = free.iter().map(|&i| self.rate_at(i, shares)).collect();
        lu.solve(&mut change);
        free.iter().zip(&change).for_each(|(&i, d)| shares[i] += d);
        true
    }

    fn slopes(&self, free: &[usize], shares: &[f64]) -> Vec<f64> {
        free.iter().flat_map(|&i| free.iter().map(move |&j| self.slope_at(i, j, shares))).collect()
    }

    fn is_stable(&self, free: &[usize], shares: &[f64]) -> bool {
        let values = eigenvalues(free.len(), &self.slopes(free, shares));
        values.is_some_and(|values| values.iter().all(|(real, _)| *real <= STABLE))
    }
}

/// A share that is at its end but for rounding.
pub fn at_end(share: f64) -> f64 {
    match share {
        w if w <= END => w.min(0.0),
        w if w >= 1.0 - END => w.max(1.0),
        w => w,
    }
}

/// The region whose functions `kept` have the signs of the bits of `inner` and all others those of `region`.
pub fn within(kept: &[usize], inner: usize, region: usize) -> usize {
    kept.iter()
        .enumerate()
        .fold(region, |mask, (j, &i)| if inner >> j & 1 == 1 { mask | 1 << i } else { mask & !(1 << i) })
}

/// The part of a region for these shares: a product of one factor for each function.
fn part(region: usize, shares: &[f64]) -> f64 {
    shares.iter().enumerate().map(|(i, w)| if region >> i & 1 == 1 { *w } else { 1.0 - w }).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates by signs of the functions.
    fn regions(k: usize, rate: impl Fn(usize, &[f64]) -> f64) -> Regions {
        let mut regions = Regions::new(k);
        for region in 0..1usize << k {
            let signs: Vec<f64> = (0..k).map(|i| if region >> i & 1 == 1 { 1.0 } else { -1.0 }).collect();
            (0..k).for_each(|i| regions.set_rate(region, i, rate(i, &signs)));
        }
        regions
    }

    fn assert_close(found: &[f64], wanted: &[f64]) {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} instead of {wanted:?}");
    }

    #[test]
    fn one_surface_is_crossed_slid_along_or_left() {
        // ż = a − b s: both sides point at zero for |a| < b; the mean of s is a / b then.
        for (a, b, wanted) in [(0.5, 1.0, 0.75), (-0.2, 1.0, 0.4), (2.0, 1.0, 1.0), (-2.0, 1.0, 0.0)] {
            let slide = regions(1, |_, s| a - b * s[0]);
            for start in [0.0, 1.0] {
                assert_close(&slide.limit(&[start]).expect("it has a limit"), &[wanted]);
            }
        }
        // Both sides point away from zero: it goes where it comes from.
        let repelling = regions(1, |_, s| s[0]);
        assert_close(&repelling.limit(&[0.0]).expect("a side"), &[0.0]);
        assert_close(&repelling.limit(&[1.0]).expect("a side"), &[1.0]);
    }

    #[test]
    fn jumps_that_add_up_have_one_solution_from_everywhere() {
        // ż = c − A·s vanishes for s = A⁻¹c = (0.26, 0.32, −0.14) with A = [1 0.2 −0.1; 0.3 1 0.2; −0.2 0.1 1].
        let a = [[1.0, 0.2, -0.1], [0.3, 1.0, 0.2], [-0.2, 0.1, 1.0]];
        let s = [0.26, 0.32, -0.14];
        let c: Vec<f64> = a.iter().map(|row| row.iter().zip(&s).map(|(x, y)| x * y).sum()).collect();
        // In units that are far apart.
        let units = [1e-12, 1.0, 1e9];
        let three = regions(3, |i, sign| units[i] * (c[i] - a[i].iter().zip(sign).map(|(x, y)| x * y).sum::<f64>()));
        let wanted: Vec<f64> = s.iter().map(|s| (1.0 + s) / 2.0).collect();
        for start in 0..8usize {
            let start: Vec<f64> = (0..3).map(|i| (start >> i & 1) as f64).collect();
            assert_close(&three.limit(&start).expect("unique"), &wanted);
        }
    }

    #[test]
    fn products_of_signs_are_interpolated_in_each_share() {
        // ẋ = −s + 0.5 r s + 0.1, ẏ = −r + 0.3 r s + 0.2: from the first s = 0.1 / (1 − 0.5 r), then
        // r (1 − 0.3 s) = 0.2. By hand: 0.5 r² − 1.07 r + 0.2 = 0, r = 1.07 − √(1.07² − 0.4).
        let r = 1.07 - (1.07f64 * 1.07 - 0.4).sqrt();
        let s = 0.1 / (1.0 - 0.5 * r);
        let two = regions(2, |i, sign| {
            let (s, r) = (sign[0], sign[1]);
            if i == 0 { -s + 0.5 * r * s + 0.1 } else { -r + 0.3 * r * s + 0.2 }
        });
        assert_close(&two.limit(&[0.0, 1.0]).expect("a limit"), &[(1.0 + s) / 2.0, (1.0 + r) / 2.0]);
        let mut shares = vec![0.5, 0.5];
        assert!(two.balance(&mut shares));
        assert_close(&shares, &[(1.0 + s) / 2.0, (1.0 + r) / 2.0]);
    }

    #[test]
    fn a_surface_may_be_left_while_another_is_slid_along() {
        // ẋ = 0.5 − s is zero for s = 0.5; ẏ = 2 s + 1 − r is positive then.
        let two = regions(2, |i, sign| if i == 0 { 0.5 - sign[0] } else { 2.0 * sign[0] + 1.0 - sign[1] });
        assert_close(&two.limit(&[0.0, 0.0]).expect("a limit"), &[0.75, 1.0]);
        let reduced = two.reduced(&[0], 0b10);
        assert_eq!((reduced.rates(0), reduced.rates(1)), (&[1.5][..], &[-0.5][..]));
    }

    #[test]
    fn shares_that_go_round_have_no_limit() {
        // s turns r and r turns s: at the centre any disturbance grows.
        let round = regions(2, |i, sign| if i == 0 { 0.1 * sign[0] - sign[1] } else { sign[0] + 0.1 * sign[1] });
        assert_eq!(round.limit(&[0.4, 0.5]), Err(NoLimit::Unstable));
        // With damping they come to rest in the middle.
        let damped = regions(2, |i, sign| if i == 0 { -0.1 * sign[0] - sign[1] } else { sign[0] - 0.1 * sign[1] });
        assert_close(&damped.limit(&[0.0, 1.0]).expect("a limit"), &[0.5, 0.5]);
    }
}
