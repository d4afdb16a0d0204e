//! Signals as pictures need them: of all points in one column of pixels the first, the lowest, the highest and the last.
//!
//! In: times and values of a run, a part of the time span, the number of columns. Out: pairs of time and value, at most four a column,
//! whatever the length of the run. One point before and one behind the part belong to it, so that lines reach its borders.

/// Pairs of time and value, one after the other. Gaps are not-a-number.
pub fn decimate(times: &[f64], values: &[f64], from: f64, to: f64, columns: usize) -> Vec<f64> {
    let n = times.len().min(values.len());
    let (times, values) = (&times[..n], &values[..n]);
    let first = times.partition_point(|t| *t < from).saturating_sub(1);
    let last = (times.partition_point(|t| *t <= to) + 1).min(n);
    if first >= last {
        return Vec::new();
    }
    let columns = columns.clamp(1, 20_000);
    let mut out = Vec::new();
    if last - first <= 4 * columns {
        (first..last).for_each(|i| out.extend([times[i], values[i]]));
        return out;
    }
    let width = (to - from).max(f64::MIN_POSITIVE) / columns as f64;
    let column = |i: usize| ((times[i] - from) / width).floor();
    let mut at = first;
    while at < last {
        let here = column(at);
        // The border of the column: searched, not counted, because there may be a million points in it.
        let end = at + times[at..last].partition_point(|t| ((t - from) / width).floor() <= here);
        push_extremes(times, values, at, end.max(at + 1), &mut out);
        at = end.max(at + 1);
    }
    out
}

fn push_extremes(times: &[f64], values: &[f64], from: usize, to: usize, out: &mut Vec<f64>) {
    if to - from <= 4 {
        (from..to).for_each(|i| out.extend([times[i], values[i]]));
        return;
    }
    let (mut low, mut high) = (from, from);
    let mut gap = None;
    for (i, value) in values[from..to].iter().enumerate().map(|(i, v)| (i + from, v)) {
        if value.is_nan() {
            gap = Some(i);
        } else if values[low].is_nan() {
            (low, high) = (i, i);
        } else if *value < values[low] {
            low = i;
        } else if *value > values[high] {
            high = i;
        }
    }
    let mut kept = [from, low, high, gap.unwrap_or(from), to - 1];
    kept.sort_unstable();
    let mut previous = None;
    for i in kept {
        if previous != Some(i) {
            out.extend([times[i], values[i]]);
        }
        previous = Some(i);
    }
}

/// Values at given times, which do not decrease: on a line between two rows, or held. At an event the value behind it.
pub fn sample(times: &[f64], values: &[f64], at: &[f64], is_held: bool) -> Vec<f64> {
    let n = times.len().min(values.len());
    let value = |t: f64| {
        let after = times[..n].partition_point(|time| *time <= t);
        let Some(before) = after.checked_sub(1) else { return values.first().copied().unwrap_or(f64::NAN) };
        if is_held || after >= n || times[before] == t {
            return values[before];
        }
        let part = (t - times[before]) / (times[after] - times[before]);
        values[before] + part * (values[after] - values[before])
    };
    at.iter().map(|t| value(*t)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_among_a_million_points_stays() {
        let times: Vec<f64> = (0..1_000_000).map(f64::from).collect();
        let mut values = vec![0.0; 1_000_000];
        (values[555_555], values[555_556]) = (9.0, -7.0);
        let points = decimate(&times, &values, 0.0, 999_999.0, 1000);
        assert!(points.len() <= 2 * 5 * 1001, "{}", points.len());
        let has = |v: f64| points.chunks(2).any(|p| p[1] == v);
        assert!(has(9.0) && has(-7.0));
        assert!(points.chunks(2).is_sorted_by_key(|p| p[0]));
        let part = decimate(&times, &values, 555_550.5, 555_560.5, 1000);
        assert_eq!(part.len(), 2 * 12, "the points inside, and one on either side");
    }

    #[test]
    fn gaps_stay_gaps() {
        let times: Vec<f64> = (0..100).map(f64::from).collect();
        let mut values = vec![1.0; 100];
        values[50] = f64::NAN;
        assert!(decimate(&times, &values, 0.0, 99.0, 2).chunks(2).any(|p| p[1].is_nan()));
        let nothing = vec![f64::NAN; 100];
        assert!(decimate(&times, &nothing, 0.0, 99.0, 2).chunks(2).all(|p| p[1].is_nan()));
        assert!(decimate(&[], &[], 0.0, 1.0, 10).is_empty());
    }

    #[test]
    fn values_lie_between_rows_and_behind_events() {
        let (times, values) = ([0.0, 1.0, 1.0, 2.0], [0.0, 2.0, 10.0, 20.0]);
        assert_eq!(sample(&times, &values, &[-1.0, 0.5, 1.0, 1.5, 3.0], false), [0.0, 1.0, 10.0, 15.0, 20.0]);
        assert_eq!(sample(&times, &values, &[0.5, 1.5], true), [0.0, 10.0]);
    }
}
