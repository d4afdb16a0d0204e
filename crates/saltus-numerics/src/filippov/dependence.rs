//! Functions that depend on each other: more surfaces meet than there are directions away from them.
//!
//! ```text
//! x > 0, y > 0, x + y > 0      three lines through one point of a plane. The third sign follows from the others in most regions
//!                              and is free in those where x and y have different signs
//! ```
//!
//! With ramps instead of jumps all functions of a point are given by its position along the independent ones. The position moves
//! with the combined rates until it rests, or runs away between two of the surfaces. It may rest where a ramp is at its end: the
//! point is on the threshold as long as the ramps that are not at their ends keep it there.

use super::{NoLimit, Regions};
use crate::lu::DenseLu;
use crate::tuning::sliding::{
    AWAY, FIRST_STEP, LEFT, MOST_NEWTON_STEPS, MOST_POSITIONS, OVER, POLISHED_EVERY, RANK, REST,
};

/// All functions in terms of some of them.
#[derive(Clone, Default, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Dependence {
    /// Which of the functions are independent.
    pub basis: Vec<usize>,
    /// By function, then by independent function, all divided by their lengths: units do not decide about rank.
    rows: Vec<Vec<f64>>,
    /// Of the gradients.
    lengths: Vec<f64>,
}

impl Dependence {
    /// The dependence of functions with these gradients; the first ones of those that depend on each other are independent.
    pub fn of(gradients: &[Vec<f64>]) -> Option<Self> {
        let lengths: Vec<f64> = gradients.iter().map(|g| dot(g, g).sqrt()).collect();
        let unit = |(g, length): (&Vec<f64>, &f64)| g.iter().map(|x| x / length).collect();
        let units: Vec<Vec<f64>> = gradients.iter().zip(&lengths).map(unit).collect();
        let gradients = units.as_slice();
        let basis = independent(gradients);
        let r = basis.len();
        let gram: Vec<f64> = (0..r * r).map(|e| dot(&gradients[basis[e / r]], &gradients[basis[e % r]])).collect();
        let mut lu = DenseLu::new(r);
        lu.factor(&gram).ok()?;
        let row = |gradient: &Vec<f64>| {
            let mut parts: Vec<f64> = basis.iter().map(|&b| dot(gradient, &gradients[b])).collect();
            lu.solve(&mut parts);
            // Difference quotients are no better.
            parts.iter().map(|p| if p.abs() < RANK { 0.0 } else { *p }).collect()
        };
        let rows = gradients.iter().map(row).collect();
        Some(Dependence { basis, rows, lengths })
    }

    /// Of some of the functions.
    fn reduced(&self, kept: &[usize]) -> Option<Self> {
        let rows: Vec<Vec<f64>> = kept.iter().map(|&i| self.rows[i].clone()).collect();
        let mut reduced = Dependence::of(&rows)?;
        reduced.lengths.iter_mut().zip(kept).for_each(|(length, &i)| *length *= self.lengths[i]);
        Some(reduced)
    }

    pub fn is_none(&self) -> bool {
        self.basis.len() == self.rows.len()
    }

    /// Where the functions are, with the independent ones at these positions.
    fn positions(&self, independent: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| dot(row, independent)).collect()
    }
}

/// The first rows that do not depend on those before them (Gram and Schmidt).
pub fn independent(rows: &[Vec<f64>]) -> Vec<usize> {
    let (mut found, mut units): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for (i, row) in rows.iter().enumerate() {
        let length = dot(row, row).sqrt();
        if length.is_nan() || length <= 0.0 {
            continue;
        }
        let mut rest: Vec<f64> = row.iter().map(|x| x / length).collect();
        // Twice, because of rounding.
        for _ in 0..2 {
            for unit in &units {
                let part = dot(unit, &rest);
                rest.iter_mut().zip(unit).for_each(|(x, u)| *x -= part * u);
            }
        }
        let left = dot(&rest, &rest).sqrt();
        if left > RANK {
            found.push(i);
            units.push(rest.iter().map(|x| x / left).collect());
        }
    }
    found
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

impl Regions {
    /// Of functions that depend on each other.
    pub fn of_dependent(dependence: Dependence) -> Self {
        let k = dependence.rows.len();
        let dependence = (!dependence.is_none()).then_some(dependence);
        Regions { dependence, ..Regions::new(k) }
    }

    pub fn are_dependent(&self) -> bool {
        self.dependence.is_some()
    }

    /// Shares as they are where ramps end, from positions that are 0.5 in their middle.
    pub(super) fn ramps(shares: &[f64]) -> Vec<f64> {
        shares.iter().map(|w| w.clamp(0.0, 1.0)).collect()
    }

    /// How far the functions are from the end of a slide along all of them, as a share: the least share, or 1 minus it, of those
    /// independent functions that are furthest from the ends of their ramps.
    pub fn margin(&self, shares: &[f64]) -> f64 {
        let distance = |i: usize| shares[i].min(1.0 - shares[i]);
        let Some(dependence) = &self.dependence else {
            return (0..self.k).map(distance).fold(f64::INFINITY, f64::min);
        };
        let mut order: Vec<usize> = (0..self.k).collect();
        order.sort_by(|&a, &b| distance(b).total_cmp(&distance(a)));
        let rows: Vec<Vec<f64>> = order.iter().map(|&i| dependence.rows[i].clone()).collect();
        independent(&rows).iter().map(|&i| distance(order[i])).fold(f64::INFINITY, f64::min)
    }

    /// Positions of all functions from those of the independent ones, as shares.
    fn shares_at(dependence: &Dependence, at: &[f64]) -> Vec<f64> {
        dependence.positions(at).iter().map(|p| 0.5 + p).collect()
    }

    /// With the positions in units in which rates are up to 1.
    pub(super) fn scaled_dependence(&self, fastest: &[f64]) -> Option<Dependence> {
        let dependence = self.dependence.as_ref()?;
        let pace: Vec<f64> = fastest.iter().zip(&dependence.lengths).map(|(most, length)| most / length).collect();
        let scaled = |(row, pace_here): (&Vec<f64>, &f64)| {
            let entry = |(c, &b): (&f64, &usize)| if *c == 0.0 { 0.0 } else { c * pace[b] / pace_here };
            row.iter().zip(&dependence.basis).map(entry).collect()
        };
        let rows = dependence.rows.iter().zip(&pace).map(scaled).collect();
        Some(Dependence { basis: dependence.basis.clone(), rows, lengths: vec![1.0; self.k] })
    }

    /// Where the positions of dependent functions come to rest; functions that are left have the share 0 or 1, and no margin is left then.
    pub(super) fn limit_of_dependent(&self, start: &[f64]) -> Result<Vec<f64>, NoLimit> {
        let Some(dependence) = &self.dependence else { return Err(NoLimit::NotFinite) };
        if dependence.rows.iter().flatten().any(|c| !c.is_finite()) {
            return Err(NoLimit::NotFinite);
        }
        let mut at: Vec<f64> = dependence.basis.iter().map(|&b| start[b].clamp(0.0, 1.0) - 0.5).collect();
        for n in 0..MOST_POSITIONS {
            let shares = Self::shares_at(dependence, &at);
            let ramps = Self::ramps(&shares);
            let rates: Vec<f64> = dependence.basis.iter().map(|&b| self.rate_at(b, &ramps)).collect();
            if n % POLISHED_EVERY == 0 {
                let mut found = shares.clone();
                let is_near = |found: &[f64]| found.iter().zip(&shares).all(|(a, b)| (a - b).abs() < 0.25);
                if self.balance_dependent(&mut found) && is_near(&found) {
                    return match self.is_at_end(&found) {
                        true => self.leave_some(dependence, &found, 0.5 - OVER),
                        false => Ok(found),
                    };
                }
            }
            if shares.iter().any(|w| (w - 0.5).abs() > AWAY) {
                return self.leave_some(dependence, &shares, LEFT);
            }
            at.iter_mut().zip(&rates).for_each(|(p, rate)| *p += FIRST_STEP * rate);
        }
        Err(NoLimit::Unstable)
    }

    /// Are these the shares with which a slide along dependent functions ends?
    pub fn is_at_end(&self, shares: &[f64]) -> bool {
        self.margin(shares) <= if self.are_dependent() { OVER } else { 0.0 }
    }

    /// Some functions are further from the middle of their ramps than `far`: where the others go without them.
    fn leave_some(&self, dependence: &Dependence, shares: &[f64], far: f64) -> Result<Vec<f64>, NoLimit> {
        let is_left = |i: &usize| (shares[*i] - 0.5).abs() >= far;
        let kept: Vec<usize> = (0..self.k).filter(|i| !is_left(i)).collect();
        let region = (0..self.k).filter(|i| shares[*i] > 0.5).fold(0, |region, i| region | 1 << i);
        let mut reduced = self.reduced(&kept, region);
        let inner = dependence.reduced(&kept).ok_or(NoLimit::NotFinite)?;
        reduced.dependence = (!inner.is_none()).then_some(inner);
        let start: Vec<f64> = kept.iter().map(|&i| shares[i].clamp(0.0, 1.0)).collect();
        let limit = if kept.is_empty() { Vec::new() } else { reduced.limit(&start)? };
        let mut all = Self::ramps(&shares.iter().map(|w| if *w > 0.5 { 1.0 } else { 0.0 }).collect::<Vec<f64>>());
        kept.iter().zip(&limit).for_each(|(&i, share)| all[i] = share.clamp(0.0, 1.0));
        Ok(all)
    }

    /// Newton's method for the positions at which no independent function moves; scaled.
    pub(super) fn balance_dependent(&self, shares: &mut [f64]) -> bool {
        let Some(dependence) = &self.dependence else { return false };
        let r = dependence.basis.len();
        let mut at: Vec<f64> = dependence.basis.iter().map(|&b| shares[b] - 0.5).collect();
        for _ in 0..MOST_NEWTON_STEPS {
            let all = Self::shares_at(dependence, &at);
            let ramps = Self::ramps(&all);
            let mut change: Vec<f64> = dependence.basis.iter().map(|&b| self.rate_at(b, &ramps)).collect();
            let residual = change.iter().map(|x| x.abs()).fold(0.0, f64::max);
            if residual <= REST {
                shares.copy_from_slice(&all);
                return true;
            }
            // Ramps at their ends do not give way.
            let gives = |j: usize| (0.0..=1.0).contains(&all[j]);
            let slope = |i: usize, l: usize| -> f64 {
                let by = (0..self.k).filter(|&j| gives(j) && dependence.rows[j][l] != 0.0);
                by.map(|j| self.slope_at(dependence.basis[i], j, &ramps) * dependence.rows[j][l]).sum()
            };
            let matrix: Vec<f64> = (0..r * r).map(|e| -slope(e / r, e % r)).collect();
            let mut lu = DenseLu::new(r);
            if residual.is_nan() || lu.factor(&matrix).is_err() {
                return false;
            }
            lu.solve(&mut change);
            if change.iter().any(|d| d.is_nan() || d.abs() >= AWAY) {
                return false;
            }
            at.iter_mut().zip(&change).for_each(|(p, d)| *p += d);
        }
        false
    }

    /// These functions alone, with how they depend on each other; the others on the side that `region` says.
    pub fn reduced_with_dependence(&self, kept: &[usize], region: usize) -> Regions {
        let mut reduced = self.reduced(kept, region);
        if let Some(dependence) = &self.dependence {
            reduced.dependence = dependence.reduced(kept).filter(|inner| !inner.is_none());
        }
        reduced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x, y and x + y with ẋ = c − a − 0.5 d, ẏ = e − b − 0.5 d for signs a, b, d.
    fn three_lines(c: f64, e: f64, units: [f64; 3]) -> Regions {
        let lines = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
        let gradients: Vec<Vec<f64>> =
            lines.iter().zip(units).map(|(g, u)| g.iter().map(|x| u * x).collect()).collect();
        let mut regions = Regions::of_dependent(Dependence::of(&gradients).expect("two are independent"));
        for region in 0..8usize {
            let sign = |i: usize| if region >> i & 1 == 1 { 1.0 } else { -1.0 };
            let (dx, dy) = (c - sign(0) - 0.5 * sign(2), e - sign(1) - 0.5 * sign(2));
            let rates = [dx, dy, dx + dy].into_iter().enumerate();
            rates.for_each(|(i, rate)| regions.set_rate(region, i, units[i] * rate));
        }
        regions
    }

    #[test]
    fn three_lines_through_a_point_are_slid_along_until_one_side_lets_go() {
        // On x > 0, y = 0 the sum is positive: ẋ = c − 1.5 there. Up to c = 1.5 the point rests, in all units.
        for units in [[1.0, 1.0, 1.0], [1e-9, 1e6, 1.0], [1e12, 1.0, 1e-12]] {
            for c in [0.0, 0.9, 1.4, 1.49] {
                let regions = three_lines(c, 0.2, units);
                for start in [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]] {
                    let shares = regions.limit(&start).expect("it rests");
                    assert!(regions.margin(&shares) > 0.0, "{c}: {shares:?}");
                    let parts: Vec<f64> = regions.parts(&shares).collect();
                    let rate = |i: usize| (0..8).map(|region| parts[region] * regions.rates(region)[i]).sum::<f64>();
                    assert!(rate(0).abs() < 1e-9 * units[0] && rate(1).abs() < 1e-9 * units[1], "{c}: {shares:?}");
                }
            }
            let regions = three_lines(1.6, 0.2, units);
            let shares = regions.limit(&[0.5, 0.5, 0.5]).expect("it leaves");
            // x and the sum are left; y rests with e − b − 0.5 = 0, b = −0.3.
            assert!(regions.margin(&shares) <= 0.0 && shares[0] == 1.0 && shares[2] == 1.0, "{shares:?}");
            assert!((shares[1] - 0.35).abs() < 1e-9, "{shares:?}");
        }
    }
}
