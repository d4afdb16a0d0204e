//! Which parameters differ from run to run, and how.
//!
//! In: axes, or rows of values. Out: the values of the i-th point, computed when they are needed: a million points take no memory.

/// A parameter and the values it takes.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    pub name: String,
    pub values: Vec<f64>,
}

/// More points are refused: nobody would wait for them.
pub const MOST_POINTS: usize = 10_000_000;

impl Axis {
    /// `p=a:b:n`: n values from a to b; or `p=a,b,c`.
    pub fn parse(text: &str) -> Result<Axis, String> {
        let (name, values) = text.split_once('=').ok_or("expected name=first:last:number or name=value,value,…")?;
        let number = |t: &str| {
            let value = t.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| format!("expected a finite number, found `{}`", t.trim()))
        };
        let values = match values.split(':').collect::<Vec<_>>().as_slice() {
            [first, last, n] => {
                let (first, last) = (number(first)?, number(last)?);
                let n: usize = n.trim().parse().map_err(|_| "expected the number of values behind the last colon")?;
                if n > MOST_POINTS {
                    return Err(format!("expected at most {MOST_POINTS} values, found {n}"));
                }
                spread(first, last, n)
            }
            [list] => list.split(',').map(number).collect::<Result<_, _>>()?,
            _ => return Err("expected first:last:number".to_owned()),
        };
        if values.is_empty() {
            return Err("expected at least one value".to_owned());
        }
        Ok(Axis { name: name.trim().to_owned(), values })
    }
}

/// `n` equidistant values; the last is exact.
pub fn spread(first: f64, last: f64, n: usize) -> Vec<f64> {
    let step = |i: usize| if i + 1 == n { last } else { first + (last - first) * i as f64 / (n - 1) as f64 };
    if n == 1 { vec![first] } else { (0..n).map(step).collect() }
}

/// `n` values with equal ratios.
pub fn spread_ratios(first: f64, last: f64, n: usize) -> Vec<f64> {
    let sign = first.signum();
    let logarithms = spread(first.abs().ln(), last.abs().ln(), n);
    let inner = logarithms.iter().enumerate().map(|(i, l)| match i {
        0 => first,
        i if i + 1 == n => last,
        _ => sign * l.exp(),
    });
    inner.collect()
}

/// The names of what differs, and the points.
#[derive(Clone, PartialEq, Debug)]
pub struct Variation {
    pub names: Vec<String>,
    pub points: Points,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Points {
    /// All combinations; the last axis varies fastest.
    Grid(Vec<Vec<f64>>),
    /// The first values of all, then the second ones, …
    List(Vec<Vec<f64>>),
    /// Random values.
    Samples { distributions: Vec<Distribution>, n: usize, seed: u64, is_latin: bool },
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distribution {
    Uniform {
        from: f64,
        to: f64,
    },
    /// The logarithm is uniform.
    LogUniform {
        from: f64,
        to: f64,
    },
    Normal {
        mean: f64,
        deviation: f64,
    },
}

impl Variation {
    pub fn grid(axes: &[Axis]) -> Variation {
        let names = axes.iter().map(|a| a.name.clone()).collect();
        Variation { names, points: Points::Grid(axes.iter().map(|a| a.values.clone()).collect()) }
    }
}

impl Points {
    /// Number of points; `None` if there are too many to count.
    pub fn n(&self) -> Option<usize> {
        match self {
            Points::Grid(axes) => axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.len())),
            Points::List(columns) => Some(columns.iter().map(Vec::len).min().unwrap_or(0)),
            Points::Samples { n, .. } => Some(*n),
        }
    }

    /// The values of one point.
    pub fn at(&self, index: usize) -> Vec<f64> {
        match self {
            Points::Grid(axes) => {
                let mut index = index;
                let mut values = vec![0.0; axes.len()];
                for (value, axis) in values.iter_mut().zip(axes).rev() {
                    *value = axis[index % axis.len()];
                    index /= axis.len();
                }
                values
            }
            Points::List(columns) => columns.iter().map(|c| c[index]).collect(),
            Points::Samples { distributions, n, seed, is_latin } => {
                let each = distributions.iter().enumerate();
                let of = |(axis, distribution): (usize, &Distribution)| {
                    let u = random(*seed, index as u64, 2 * axis as u64);
                    let u = match is_latin {
                        // One sample in each of n equal parts of every axis.
                        true => (shuffled(index, *n, *seed, axis as u64) as f64 + u) / *n as f64,
                        false => u,
                    };
                    distribution.value(u)
                };
                each.map(of).collect()
            }
        }
    }

    /// A typical point: from the middle of each axis, and not zero, because what vanishes changes the structure.
    pub fn typical(&self) -> Vec<f64> {
        let of = |values: &Vec<f64>| {
            let middle = values.len() / 2;
            let candidates = values[middle..].iter().chain(&values[..middle]);
            candidates.copied().find(|v| *v != 0.0).unwrap_or(0.0)
        };
        match self {
            Points::Grid(axes) | Points::List(axes) => axes.iter().map(of).collect(),
            Points::Samples { distributions, .. } => distributions.iter().map(|d| d.value(0.625)).collect(),
        }
    }
}

impl Distribution {
    /// The quantile.
    fn value(self, u: f64) -> f64 {
        match self {
            Distribution::Uniform { from, to } => from + (to - from) * u,
            Distribution::LogUniform { from, to } => {
                from.signum() * (from.abs().ln() * (1.0 - u) + to.abs().ln() * u).exp()
            }
            Distribution::Normal { mean, deviation } => mean + deviation * normal_quantile(u),
        }
    }
}

/// A number in 0 … 1 for a place, the same in every run: splitmix64 of the place.
fn random(seed: u64, index: u64, axis: u64) -> f64 {
    let mixed = mix(mix(mix(seed.wrapping_add(1)) ^ index) ^ axis.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // Neither 0 nor 1.
    ((mixed >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Where an index goes in a permutation of 0 … n - 1 that needs no memory: a Feistel network on the next power of four, walked until it
/// lands inside.
fn shuffled(index: usize, n: usize, seed: u64, axis: u64) -> usize {
    let half = (64 - (n.max(2) as u64 - 1).leading_zeros()).div_ceil(2);
    let mask = (1u64 << half) - 1;
    let mut value = index as u64;
    loop {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..4 {
            let key = mix(seed ^ mix(axis.wrapping_mul(31).wrapping_add(round)));
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        value = left << half | right;
        if (value as usize) < n {
            return value as usize;
        }
    }
}

/// The inverse of the normal distribution, by the rational approximation of Acklam: to 1e-9.
fn normal_quantile(u: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.383577518672690e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 5] =
        [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 4] = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416];
    let polynomial = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / (polynomial(&D, q) * q + 1.0)
    };
    if u < 0.02425 {
        tail(u)
    } else if u > 1.0 - 0.02425 {
        -tail(1.0 - u)
    } else {
        let (q, r) = (u - 0.5, (u - 0.5) * (u - 0.5));
        polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_ranges_or_lists() {
        let values = |text: &str| Axis::parse(text).map(|a| a.values);
        assert_eq!(values("p=0:1:3"), Ok(vec![0.0, 0.5, 1.0]));
        assert_eq!(values("p = 2 : 9 : 1"), Ok(vec![2.0]));
        assert_eq!(values("p=1, 2,-3e1"), Ok(vec![1.0, 2.0, -30.0]));
        for wrong in ["p", "p=1:2", "p=0:1:0", "p=a", "p=1:2:3:4", "p=", "p=0:1:4294967295"] {
            assert!(Axis::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn combinations_vary_the_last_axis_fastest() {
        let points = Points::Grid(vec![vec![1.0, 2.0], vec![5.0, 6.0, 7.0]]);
        assert_eq!(points.n(), Some(6));
        let all: Vec<Vec<f64>> = (0..6).map(|i| points.at(i)).collect();
        assert_eq!(all[0], [1.0, 5.0]);
        assert_eq!(all[1], [1.0, 6.0]);
        assert_eq!(all[3], [2.0, 5.0]);
    }

    #[test]
    fn a_latin_hypercube_has_one_sample_in_each_part() {
        for n in [1, 2, 7, 100] {
            let distributions = vec![Distribution::Uniform { from: 0.0, to: n as f64 }; 3];
            let points = Points::Samples { distributions, n, seed: 5, is_latin: true };
            for axis in 0..3 {
                let mut parts: Vec<usize> = (0..n).map(|i| points.at(i)[axis] as usize).collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..n).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn normal_samples_have_their_moments() {
        let distributions = vec![Distribution::Normal { mean: 3.0, deviation: 2.0 }];
        let points = Points::Samples { distributions, n: 20_000, seed: 1, is_latin: false };
        let all: Vec<f64> = (0..20_000).map(|i| points.at(i)[0]).collect();
        let mean = all.iter().sum::<f64>() / 2e4;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2e4;
        // Four standard errors.
        assert!((mean - 3.0).abs() < 4.0 * 2.0 / 2e4_f64.sqrt(), "{mean}");
        assert!((variance - 4.0).abs() < 4.0 * 4.0 * (2.0 / 2e4_f64).sqrt(), "{variance}");
        // The 97.5 % quantile of the normal distribution.
        assert!((normal_quantile(0.975) - 1.959963984540054).abs() < 1e-8);
    }

    #[test]
    fn ratios_are_equal() {
        let all = spread_ratios(1.0, 1000.0, 4);
        assert!(all.iter().zip([1.0, 10.0, 100.0, 1000.0]).all(|(a, b)| (a - b).abs() < 1e-12 * b), "{all:?}");
    }
}
