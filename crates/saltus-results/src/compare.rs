//! Two results beside each other: is each signal of the one within a tube around the other?
//!
//! The tube around a signal is as wide as a part of its size, and as long as a part of the time span: what lies between the
//! smallest and the largest value in the neighbourhood of a time is inside. So an edge may come a little early or late, and a
//! value may be a little off. At most one sample in a thousand may lie outside, by less than a width.

use std::collections::VecDeque;

use crate::table::Results;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tube {
    /// Half width as a part of the largest absolute value or the range of the reference, whichever is larger.
    pub relative: f64,
    /// Half width where the reference is zero throughout.
    pub absolute: f64,
    /// Samples outside that are accepted, as a part of all.
    pub share: f64,
}

impl Default for Tube {
    fn default() -> Self {
        Tube { relative: 2e-3, absolute: 1e-9, share: 1e-3 }
    }
}

/// How one signal fits.
#[derive(Clone, PartialEq, Debug)]
pub enum Difference {
    /// Inside the tube.
    None,
    /// The other table does not have it.
    Missing,
    Outside {
        /// Part of the samples that lie outside.
        share: f64,
        /// The largest distance from the tube, in half widths.
        worst: f64,
        /// When that is.
        at: f64,
        /// The first time outside.
        since: f64,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// Name and verdict of every signal that varies in the reference.
    pub signals: Vec<(String, Difference)>,
}

impl Comparison {
    pub fn different(&self) -> impl Iterator<Item = &(String, Difference)> {
        self.signals.iter().filter(|(_, d)| *d != Difference::None)
    }

    pub fn is_same(&self) -> bool {
        self.different().next().is_none()
    }
}

/// All signals of `reference` that vary and that `wants` accepts, against those of the same name in `results`.
pub fn compare(reference: &Results, results: &Results, tube: Tube, wants: &dyn Fn(&str) -> bool) -> Comparison {
    let judge = |name: &str| {
        let (Some(expected), Some(found)) = (reference.values(name), results.values(name)) else {
            return Difference::Missing;
        };
        judge((&reference.times, &expected), (&results.times, &found), tube)
    };
    let wanted = reference.series().filter(|s| wants(&s.name));
    Comparison { signals: wanted.map(|s| (s.name.clone(), judge(&s.name))).collect() }
}

/// How a signal fits into the tube around another, each as times and values.
pub fn judge(reference: (&[f64], &[f64]), result: (&[f64], &[f64]), tube: Tube) -> Difference {
    let (tr, yr) = finite(reference);
    let (t, y) = finite(result);
    if tr.len() < 2 {
        return Difference::None;
    }
    let since = tr.first().copied().unwrap_or(0.0);
    if t.is_empty() {
        return Difference::Outside { share: 1.0, worst: f64::INFINITY, at: since, since };
    }
    let width = half_width(&yr, tube);
    let reach = tube.relative * (tr[tr.len() - 1] - tr[0]);
    let bounds = envelope(&tr, &t, &y, reach);
    let (mut n_outside, mut worst, mut at, mut first) = (0usize, 0.0, 0.0, None);
    for ((&time, &value), (low, high)) in tr.iter().zip(&yr).zip(bounds) {
        let excess = (value - high - width).max(low - width - value) / width;
        if excess > 0.0 {
            n_outside += 1;
            first.get_or_insert(time);
            if excess > worst {
                (worst, at) = (excess, time);
            }
        }
    }
    let share = n_outside as f64 / tr.len() as f64;
    match first {
        Some(since) if share > tube.share || worst > 1.0 => Difference::Outside { share, worst, at, since },
        _ => Difference::None,
    }
}

/// Half the width of the tube around these values.
pub fn half_width(values: &[f64], tube: Tube) -> f64 {
    let finite = || values.iter().filter(|v| v.is_finite());
    let largest = finite().fold(0.0f64, |m, v| m.max(v.abs()));
    let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    tube.relative * largest.max(if high > low { high - low } else { 0.0 }) + tube.absolute
}

fn finite((times, values): (&[f64], &[f64])) -> (Vec<f64>, Vec<f64>) {
    times.iter().zip(values).filter(|(_, v)| v.is_finite()).map(|(t, v)| (*t, *v)).unzip()
}

/// The smallest and the largest value of a signal within `reach` of each of `at`, ends interpolated.
fn envelope(at: &[f64], t: &[f64], y: &[f64], reach: f64) -> Vec<(f64, f64)> {
    let mut low: VecDeque<usize> = VecDeque::new();
    let mut high: VecDeque<usize> = VecDeque::new();
    let mut next = 0;
    let mut bounds = Vec::with_capacity(at.len());
    for &time in at {
        while next < t.len() && t[next] <= time + reach {
            while low.back().is_some_and(|&i| y[i] >= y[next]) {
                low.pop_back();
            }
            low.push_back(next);
            while high.back().is_some_and(|&i| y[i] <= y[next]) {
                high.pop_back();
            }
            high.push_back(next);
            next += 1;
        }
        for queue in [&mut low, &mut high] {
            while queue.front().is_some_and(|&i| t[i] < time - reach) {
                queue.pop_front();
            }
        }
        let ends = [time - reach, time, time + reach].map(|s| interpolate(t, y, s));
        let inside = [low.front(), high.front()].into_iter().flatten().map(|&i| y[i]);
        let all = ends.into_iter().chain(inside);
        bounds.push(all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v))));
    }
    bounds
}

/// The value between two rows; before the first and after the last row theirs.
pub fn interpolate(t: &[f64], y: &[f64], at: f64) -> f64 {
    let after = t.partition_point(|s| *s <= at);
    match (after.checked_sub(1).and_then(|i| Some((t.get(i)?, y.get(i)?))), t.get(after).zip(y.get(after))) {
        (Some((ta, ya)), Some((tb, yb))) => ya + (yb - ya) * (at - ta) / (tb - ta),
        (Some((_, value)), None) | (None, Some((_, value))) => *value,
        (None, None) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use std::f64::consts::PI;

    fn sine(n: usize, shift: f64, scale: f64) -> (Vec<f64>, Vec<f64>) {
        let t: Vec<f64> = (0..=n).map(|i| i as f64 / n as f64).collect();
        let y = t.iter().map(|t| scale * (6.0 * (t - shift)).sin()).collect();
        (t, y)
    }

    fn judged(a: &(Vec<f64>, Vec<f64>), b: &(Vec<f64>, Vec<f64>)) -> Difference {
        judge((&a.0, &a.1), (&b.0, &b.1), Tube::default())
    }

    #[test]
    fn small_errors_and_shifts_are_inside() {
        let reference = sine(500, 0.0, 1.0);
        assert_eq!(judged(&reference, &sine(777, 0.0, 1.001)), Difference::None);
        assert_eq!(judged(&reference, &sine(500, 0.0005, 1.0)), Difference::None);
    }

    #[test]
    fn larger_errors_are_outside_and_say_where() {
        let Difference::Outside { share, at, .. } = judged(&sine(500, 0.0, 1.0), &sine(500, 0.0, 1.05)) else {
            panic!("inside")
        };
        // The error is largest where the sine is: at 6·t = π/2, and again at 3π/2.
        assert!(share > 0.3 && [PI / 12.0, PI / 4.0].iter().any(|peak| (at - peak).abs() < 0.01), "{share} {at}");
        assert!(matches!(judged(&sine(500, 0.0, 1.0), &sine(500, 0.01, 1.0)), Difference::Outside { .. }));
    }

    #[test]
    fn an_edge_may_come_a_little_late() {
        let step = |at: f64| (vec![0.0, at, at, 1.0], vec![0.0, 0.0, 1.0, 1.0]);
        assert_eq!(judged(&step(0.5), &step(0.5019)), Difference::None);
        assert!(matches!(judged(&step(0.5), &step(0.503)), Difference::Outside { .. }));
    }

    #[test]
    fn missing_signals_are_differences() {
        let mut reference = Results::new("A", vec![0.0, 1.0]);
        reference.add_series("x", "", "", Kind::Real, vec![0.0, 1.0]);
        let comparison = compare(&reference, &Results::new("B", vec![0.0, 1.0]), Tube::default(), &|_| true);
        assert_eq!(comparison.signals, [("x".to_owned(), Difference::Missing)]);
        assert!(!comparison.is_same());
    }

    #[test]
    fn at_an_event_the_value_after_counts_and_outside_the_ends() {
        let (t, y) = ([0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 5.0, 6.0]);
        let at = |time| interpolate(&t, &y, time);
        assert_eq!((at(-1.0), at(0.5), at(1.0), at(1.5), at(3.0)), (0.0, 0.5, 5.0, 5.5, 6.0));
    }
}
