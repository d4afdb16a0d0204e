//! Signals as pictures need them: of all points in one column of pixels the first, the lowest, the highest and the last.
//!
//! In: times and values of a run, a part of the time span, the number of columns. Out: pairs of time and value, at most four a column,
//! whatever the length of the run. One point before and one behind the part belong to it, so that lines reach its borders.

/// Pairs of time and value, one after the other. Gaps are not-a-number.
pub fn decimate(times: &[f64], values: &[f64], from: f64, to: f64, columns: usize) -> Vec<f64> {
    let rows = saltus_plot::decimate::rows(times, values, from, to, columns);
    rows.into_iter().flat_map(|i| [times[i], values[i]]).collect()
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
    fn rows_become_pairs() {
        assert_eq!(decimate(&[0.0, 1.0], &[5.0, 6.0], 0.0, 1.0, 10), [0.0, 5.0, 1.0, 6.0]);
    }

    #[test]
    fn values_lie_between_rows_and_behind_events() {
        let (times, values) = ([0.0, 1.0, 1.0, 2.0], [0.0, 2.0, 10.0, 20.0]);
        assert_eq!(sample(&times, &values, &[-1.0, 0.5, 1.0, 1.5, 3.0], false), [0.0, 1.0, 10.0, 15.0, 20.0]);
        assert_eq!(sample(&times, &values, &[0.5, 1.5], true), [0.0, 10.0]);
    }
}
