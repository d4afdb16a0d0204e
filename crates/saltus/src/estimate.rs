//! The error of a run, estimated by another one at a tenth of the tolerance.
//!
//! In: both tables of results. Out: for each signal how far apart they are at the output points they have in common. The second run
//! errs about ten times less, so that this is the error of the first to within a tenth. It is the error of the integration alone:
//! an equation that does not hold is found by [`crate::audit`].

use saltus_results::Results;

use crate::pipeline::Experiment;

#[derive(Clone, PartialEq, Debug)]
pub struct SignalError {
    pub name: String,
    /// The largest difference.
    pub absolute: f64,
    /// The same as a part of the range of the signal.
    pub relative: f64,
    /// Where it is.
    pub time: f64,
}

/// Part of the tolerance, or of the step of a method without error control, of the second run.
const FINER: f64 = 0.1;

/// The settings of the second run after one with these settings.
pub fn finer(experiment: &Experiment, settings: &saltus_sim::Options) -> Experiment {
    let step = settings.fixed_step.unwrap_or(settings.interval);
    Experiment { tolerance: Some(settings.tolerance * FINER), fixed_step: Some(step * FINER), ..experiment.clone() }
}

/// The errors of all signals over time, the largest relative one first.
pub fn errors(first: &Results, second: &Results) -> Vec<SignalError> {
    let pairs = common(&first.times, &second.times);
    let mut found: Vec<SignalError> = first
        .series()
        .filter_map(|signal| {
            let (a, b) = (first.values_of(signal), second.values(&signal.name)?);
            let apart = pairs.iter().map(|&(i, j)| (difference(a[i], b[j]), first.times[i]));
            let (absolute, time) = apart.fold((0.0, f64::NAN), |most, next| if next.0 > most.0 { next } else { most });
            Some(SignalError { name: signal.name.clone(), absolute, relative: absolute / range(&a, absolute), time })
        })
        .collect();
    found.sort_by(|a, b| b.relative.total_cmp(&a.relative).then_with(|| a.name.cmp(&b.name)));
    found
}

fn difference(a: f64, b: f64) -> f64 {
    if a == b || a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() }
}

/// From the smallest to the largest value; of a constant its size. Never zero, nor smaller than the error.
fn range(values: &[f64], absolute: f64) -> f64 {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let spread = if high > low { high - low } else { high.abs() };
    spread.max(absolute).max(f64::MIN_POSITIVE)
}

/// The last rows of both tables at each time that both have.
fn common(first: &[f64], second: &[f64]) -> Vec<(usize, usize)> {
    let (mut pairs, mut j) = (Vec::new(), 0);
    for (i, t) in first.iter().enumerate() {
        if first.get(i + 1) == Some(t) {
            continue;
        }
        while second.get(j).is_some_and(|other| other < t) {
            j += 1;
        }
        while second.get(j + 1) == Some(t) {
            j += 1;
        }
        if second.get(j) == Some(t) {
            pairs.push((i, j));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_results::Kind;

    #[test]
    fn only_points_of_both_runs_count_and_jumps_by_their_right_limits() {
        assert_eq!(common(&[0.0, 1.0, 1.0, 1.5, 2.0], &[0.0, 1.0, 1.2, 1.2, 2.0, 2.0]), [(0, 0), (2, 1), (4, 5)]);
        assert_eq!(common(&[0.0, 1.0], &[]), []);
    }

    #[test]
    fn the_worst_signal_comes_first() {
        let table = |x: [f64; 3], y: [f64; 3]| {
            let mut table = Results::new("M", vec![0.0, 1.0, 2.0]);
            table.add_series("x", "", "", Kind::Real, x.to_vec());
            table.add_series("y", "", "", Kind::Real, y.to_vec());
            table
        };
        let found = errors(&table([0.0, 5.0, 10.0], [1.0, 1.0, 1.5]), &table([0.0, 5.1, 10.0], [1.0, 1.0, 1.4]));
        let shown: Vec<(&str, f64)> = found.iter().map(|e| (e.name.as_str(), e.time)).collect();
        assert_eq!(shown, [("y", 2.0), ("x", 1.0)]);
        assert!((found[0].relative - 0.2).abs() < 1e-12 && (found[1].absolute - 0.1).abs() < 1e-12);
    }
}
