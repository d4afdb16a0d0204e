//! Which rows of a long signal a picture needs.
//!
//! Over time these are, of all rows in one column of the picture, the first, the lowest, the highest and the last ([`rows`]). A curve of one
//! signal over another may turn back: it needs a row wherever it has left the surroundings of the row before ([`along`]).

/// Most columns that anybody draws.
const MOST_COLUMNS: usize = 20_000;

/// Rows from `from` to `to`, at most five in each of `columns` equal parts of that span; one row before it and one behind it, so that
/// lines reach its borders. Times do not decrease. Gaps (not-a-number) stay gaps.
pub fn rows(times: &[f64], values: &[f64], from: f64, to: f64, columns: usize) -> Vec<usize> {
    let n = times.len().min(values.len());
    let (times, values) = (&times[..n], &values[..n]);
    let first = times.partition_point(|t| *t < from).saturating_sub(1);
    let last = (times.partition_point(|t| *t <= to) + 1).min(n);
    if first >= last {
        return Vec::new();
    }
    let columns = columns.clamp(1, MOST_COLUMNS);
    if last - first <= 4 * columns {
        return (first..last).collect();
    }
    let width = (to - from).max(f64::MIN_POSITIVE) / columns as f64;
    let column = |t: f64| ((t - from) / width).floor();
    let mut kept = Vec::new();
    let mut at = first;
    while at < last {
        let here = column(times[at]);
        // The border of the column: searched, not counted, because there may be a million rows in it.
        let end = at + times[at..last].partition_point(|t| column(*t) <= here);
        push_extremes(values, at, end.max(at + 1), &mut kept);
        at = end.max(at + 1);
    }
    kept
}

fn push_extremes(values: &[f64], from: usize, to: usize, kept: &mut Vec<usize>) {
    if to - from <= 4 {
        kept.extend(from..to);
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
    let mut extremes = vec![from, low, high, gap.unwrap_or(from), to - 1];
    extremes.sort_unstable();
    extremes.dedup();
    kept.append(&mut extremes);
}

/// At most `most` points of a curve that may turn back. Between two kept points it stays close to the first one: as close as `most` allows,
/// measured by its extent in either direction.
pub fn along(x: &[f64], y: &[f64], most: usize) -> Vec<usize> {
    let n = x.len().min(y.len());
    if n <= most.max(2) {
        return (0..n).collect();
    }
    let extent = |values: &[f64]| {
        let (low, high) = crate::range(values.iter().copied());
        (high - low).max(f64::MIN_POSITIVE)
    };
    let (wide, tall) = (extent(&x[..n]), extent(&y[..n]));
    let mut distance = 1.0 / most as f64;
    loop {
        let mut kept = vec![0];
        let mut last = 0;
        for i in 1..n {
            let is_far = ((x[i] - x[last]) / wide).abs().max(((y[i] - y[last]) / tall).abs()) > distance;
            let is_border = (x[i] + y[i]).is_nan() != (x[last] + y[last]).is_nan();
            if is_far || is_border || i + 1 == n {
                kept.push(i);
                last = i;
            }
        }
        // Beyond one there is nothing left to be far from.
        if kept.len() <= most.max(2) || distance > 1.0 {
            return kept;
        }
        distance *= 1.5;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_among_a_million_rows_stays() {
        let times: Vec<f64> = (0..1_000_000).map(f64::from).collect();
        let mut values = vec![0.0; 1_000_000];
        (values[555_555], values[555_556]) = (9.0, -7.0);
        let kept = rows(&times, &values, 0.0, 999_999.0, 1000);
        assert!(kept.len() <= 5 * 1001, "{}", kept.len());
        assert!(kept.contains(&555_555) && kept.contains(&555_556));
        assert!(kept.is_sorted());
        let part = rows(&times, &values, 555_550.5, 555_560.5, 1000);
        assert_eq!(part.len(), 12, "the rows inside, and one on either side");
    }

    #[test]
    fn gaps_stay_gaps() {
        let times: Vec<f64> = (0..100).map(f64::from).collect();
        let mut values = vec![1.0; 100];
        values[50] = f64::NAN;
        assert!(rows(&times, &values, 0.0, 99.0, 2).contains(&50));
        let nothing = vec![f64::NAN; 100];
        assert!(!rows(&times, &nothing, 0.0, 99.0, 2).is_empty());
        assert!(rows(&[], &[], 0.0, 1.0, 10).is_empty());
        assert!(along(&times, &values, 10).contains(&50));
    }

    #[test]
    fn a_circle_stays_round() {
        let angle = |i: i32| f64::from(i) / 100_000.0 * std::f64::consts::TAU;
        let x: Vec<f64> = (0..=100_000).map(|i| angle(i).cos()).collect();
        let y: Vec<f64> = (0..=100_000).map(|i| angle(i).sin()).collect();
        let kept = along(&x, &y, 1000);
        assert!(kept.len() <= 1000 && kept.last() == Some(&100_000));
        // 1000 points on a circle of extent 2 are less than 1 % of it apart.
        assert!(kept.windows(2).all(|w| (x[w[1]] - x[w[0]]).hypot(y[w[1]] - y[w[0]]) < 0.02));
    }
}
