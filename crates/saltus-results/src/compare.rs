//! Two results beside each other: is each signal of the one within a tube around the other?
//!
//! The tube around a result is as wide as a part of the signal's size, and as long as a part of the time span: a sample of the
//! reference is inside if it lies between the smallest and the largest value of the result in the neighbourhood of its time, or at
//! most a half width off. So an edge may come a little early or late, and a value may be a little off. At most one sample in a
//! thousand may lie outside, by less than a half width. The tube ends where the result ends, or is not a number.
//!
//! Of the rows that a reference has at one and the same time only the first and the last are samples: they are the limits from the
//! left and from the right. What lies between them is a step of the iteration at an event and belongs to no time.
//!
//! Samples are the rows of the reference. Of a reference that was reduced to the corners of a polyline they are also the rows
//! that were left out: otherwise one corner would weigh as much as all the rows on the line beside it.

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

    /// What differs, in one line.
    pub fn summary(&self) -> Option<String> {
        let (name, difference) = self.different().next()?;
        let how = match difference {
            Difference::Missing => format!("{name} is missing"),
            Difference::Outside { since, .. } => format!("the first is {name} at time {since}"),
            Difference::None => String::new(),
        };
        Some(format!("{} of {} signals differ, {how}", self.different().count(), self.signals.len()))
    }
}

/// All signals of `reference` that vary and that `wants` accepts, against those of the same name in `results`. Rows of the
/// reference lay at most `interval` apart before it was reduced, if it was.
pub fn compare(
    reference: &Results,
    results: &Results,
    tube: Tube,
    interval: Option<f64>,
    wants: &dyn Fn(&str) -> bool,
) -> Comparison {
    let grid = interval.map_or(Vec::new(), |interval| left_out(&reference.times, interval));
    let judge = |name: &str| {
        let (Some(expected), Some(found)) = (reference.values(name), results.values(name)) else {
            return Difference::Missing;
        };
        let (times, expected) = with_rows((&reference.times, &expected), &grid);
        judge((&times, &expected), (&results.times, &found), tube)
    };
    let wanted = reference.series().filter(|s| wants(&s.name));
    Comparison { signals: wanted.map(|s| (s.name.clone(), judge(&s.name))).collect() }
}

/// Most rows that are put back between two: a reference is not that fine.
const MOST_LEFT_OUT: f64 = 1e6;

/// Times between rows that are further than `interval` apart, each as an index of the row before and its time.
fn left_out(times: &[f64], interval: f64) -> Vec<(usize, f64)> {
    let mut found = Vec::new();
    for (i, pair) in times.windows(2).enumerate() {
        // A quotient just above an integer is a rounding error, not another row.
        let n = ((pair[1] - pair[0]) / interval - 1e-6).ceil();
        if (2.0..MOST_LEFT_OUT).contains(&n) {
            found.extend((1..n as u32).map(|k| (i, pair[0] + (pair[1] - pair[0]) * f64::from(k) / n)));
        }
    }
    found
}

/// A signal with the rows that were left out of it.
fn with_rows((times, values): (&[f64], &[f64]), grid: &[(usize, f64)]) -> (Vec<f64>, Vec<f64>) {
    let (mut all_times, mut all_values) = (Vec::new(), Vec::new());
    let mut grid = grid.iter().peekable();
    for (i, (&t, &y)) in times.iter().zip(values).enumerate() {
        all_times.push(t);
        all_values.push(y);
        let Some((&next_t, &next_y)) = times.get(i + 1).zip(values.get(i + 1)) else { break };
        while let Some(&(_, between)) = grid.next_if(|(before, _)| *before == i) {
            all_times.push(between);
            all_values.push(y + (next_y - y) * (between - t) / (next_t - t));
        }
    }
    (all_times, all_values)
}

/// How a signal fits into the tube around another, each as times and values.
fn judge(reference: (&[f64], &[f64]), result: (&[f64], &[f64]), tube: Tube) -> Difference {
    let (tr, yr) = limits(finite(reference));
    let [Some(start), Some(end)] = [tr.first(), tr.last()] else { return Difference::None };
    let width = half_width(&yr, tube);
    let reach = tube.relative * (end - start);
    let bounds = envelope(&tr, result, reach);
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

/// Times that are closer than this part of the time span are one: ends of steps and times of events are rounded.
const SAME_TIME: f64 = 1e-9;

fn same_time(times: &[f64]) -> f64 {
    SAME_TIME * times.last().zip(times.first()).map_or(0.0, |(last, first)| (last - first).abs())
}

/// The signal without the rows between the first and the last of one time.
fn limits((times, values): (Vec<f64>, Vec<f64>)) -> (Vec<f64>, Vec<f64>) {
    let same = same_time(&times);
    let is_between = |i: usize| i > 0 && times.get(i + 1).is_some_and(|next| next - times[i - 1] <= same);
    let kept = (0..times.len()).filter(|&i| !is_between(i));
    kept.map(|i| (times[i], values[i])).unzip()
}

/// The smallest and the largest value of a signal within `reach` of each of `at`, ends interpolated; an empty range where there is
/// no value in reach.
fn envelope(at: &[f64], result: (&[f64], &[f64]), reach: f64) -> Vec<(f64, f64)> {
    let (t, y) = finite(result);
    // The last row of a run need not be its stop time to the last bit.
    let slack = same_time(at);
    let [Some(&start), Some(&end)] = [t.first(), t.last()] else {
        return vec![(f64::INFINITY, f64::NEG_INFINITY); at.len()];
    };
    let gaps: Vec<f64> = result.0.iter().zip(result.1).filter(|(_, v)| !v.is_finite()).map(|(t, _)| *t).collect();
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
        let first_gap = gaps.partition_point(|g| *g < time - reach);
        let is_gap = low.is_empty() && gaps.get(first_gap).is_some_and(|g| *g <= time + reach);
        let is_beyond = time < start - reach - slack || time > end + reach + slack;
        let ends = if is_gap || is_beyond { &[][..] } else { &[time - reach, time, time + reach] };
        let inside = [low.front(), high.front()].into_iter().flatten().map(|&i| y[i]);
        let all = ends.iter().map(|s| interpolate(&t, &y, *s)).chain(inside);
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
        let comparison = compare(&reference, &Results::new("B", vec![0.0, 1.0]), Tube::default(), None, &|_| true);
        assert_eq!(comparison.summary().as_deref(), Some("1 of 1 signals differ, x is missing"));
        assert_eq!(comparison.signals, [("x".to_owned(), Difference::Missing)]);
        assert!(!comparison.is_same());
    }

    #[test]
    fn the_tube_ends_with_the_result() {
        let constant = |n: usize| ((0..=n).map(|i| i as f64 / 100.0).collect(), vec![1.0; n + 1]);
        assert_eq!(judged(&constant(100), &constant(100)), Difference::None);
        // The rows from 0.9 + 0.002 on are too far from the last value: 10 of 101.
        let Difference::Outside { share, since, .. } = judged(&constant(100), &constant(90)) else { panic!("inside") };
        assert_eq!((share, since), (10.0 / 101.0, 0.91));
        assert_eq!(judged(&constant(90), &constant(100)), Difference::None);
        assert!(matches!(judged(&constant(100), &(vec![], vec![])), Difference::Outside { share: 1.0, .. }));
    }

    #[test]
    fn a_result_that_is_not_a_number_is_outside_where_the_reference_is_one() {
        let reference = sine(500, 0.0, 1.0);
        let mut result = sine(500, 0.0, 1.0);
        result.1[200..300].fill(f64::NAN);
        let Difference::Outside { share, since, .. } = judged(&reference, &result) else { panic!("inside") };
        // A value next to the gap is still in reach of its first and last row.
        assert_eq!((share, since), (98.0 / 501.0, 201.0 / 500.0));
        assert_eq!(judged(&result, &reference), Difference::None);
    }

    #[test]
    fn one_row_is_compared_as_well() {
        let row = |value: f64| (vec![0.0], vec![value]);
        assert_eq!(judged(&row(1.0), &row(1.001)), Difference::None);
        assert!(matches!(judged(&row(1.0), &row(1.01)), Difference::Outside { .. }));
    }

    #[test]
    fn rows_that_were_left_out_count() {
        // The reference has a peak of 1 where the result has 0.9965: 0.75 half widths outside.
        let mut result = Results::new("B", vec![0.0, 0.4999, 0.5, 0.5001, 1.0]);
        result.add_series("x", "", "", Kind::Real, vec![0.0, 0.9965, 0.9965, 0.9965, 1.0]);
        let mut reference = Results::new("A", vec![0.0, 0.4999, 0.5, 0.5001, 1.0]);
        reference.add_series("x", "", "", Kind::Real, vec![0.0, 0.9965, 1.0, 0.9965, 1.0]);
        let same = |interval| compare(&reference, &result, Tube::default(), interval, &|_| true).is_same();
        // One of 5 rows is outside; one of about 5000 is, if the others are put back.
        assert!(!same(None) && same(Some(2e-4)));
        assert_eq!(left_out(&[0.0, 0.3, 0.3, 0.4], 0.1).len(), 2);
        assert!(left_out(&[0.0, 1.0], 0.0).is_empty() && left_out(&[0.0, 1.0], f64::NAN).is_empty());
    }

    #[test]
    fn values_within_an_event_are_not_samples() {
        let pulse = (vec![0.0, 0.5, 0.5, 0.5 + 1e-14, 0.5 + 1e-14, 1.0], vec![-50.0, -50.0, 50.0, 50.0, -50.0, -50.0]);
        let constant = (vec![0.0, 1.0], vec![-50.0, -50.0]);
        assert_eq!(judged(&pulse, &constant), Difference::None);
        // A pulse that lasts is one.
        let pulse = (vec![0.0, 0.5, 0.5, 0.6, 0.6, 1.0], vec![-50.0, -50.0, 50.0, 50.0, -50.0, -50.0]);
        assert!(matches!(judged(&pulse, &constant), Difference::Outside { .. }));
        // So is an edge.
        let edge = (vec![0.0, 0.5, 0.5, 1.0], vec![-50.0, -50.0, 50.0, 50.0]);
        assert!(matches!(judged(&edge, &constant), Difference::Outside { .. }));
    }

    #[test]
    fn at_an_event_the_value_after_counts_and_outside_the_ends() {
        let (t, y) = ([0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 5.0, 6.0]);
        let at = |time| interpolate(&t, &y, time);
        assert_eq!((at(-1.0), at(0.5), at(1.0), at(1.5), at(3.0)), (0.0, 0.5, 5.0, 5.5, 6.0));
    }
}
