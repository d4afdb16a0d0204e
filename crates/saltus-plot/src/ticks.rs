//! Round numbers on an axis.

/// About `wanted` round numbers from `low` to `high`.
pub fn ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return vec![low].into_iter().filter(|v| v.is_finite()).collect();
    }
    let rough = span / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * power).find(|s| *s >= rough * 0.75);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !(step > 0.0 && last - first < 1000.0) {
        return vec![low, high];
    }
    (0..=(last - first).max(0.0) as u32).map(|i| (first + f64::from(i)) * step).collect()
}

/// The ticks as texts, all with as many decimals as they need.
pub fn labels(ticks: &[f64]) -> Vec<String> {
    let largest = ticks.iter().fold(0.0f64, |m, t| m.max(t.abs()));
    let step = ticks.windows(2).map(|w| w[1] - w[0]).next().unwrap_or(largest);
    if largest == 0.0 {
        return ticks.iter().map(|_| "0".to_owned()).collect();
    }
    if !(1e-3..1e5).contains(&largest) {
        return ticks.iter().map(|t| scientific(*t, step)).collect();
    }
    let decimals = (-step.abs().max(1e-12).log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    ticks.iter().map(|t| format!("{:.decimals$}", if t.abs() < 1e-9 * step { 0.0 } else { *t })).collect()
}

fn scientific(value: f64, step: f64) -> String {
    if value.abs() < 1e-9 * step {
        return "0".to_owned();
    }
    let digits = ((value.abs() / step).log10().ceil().clamp(0.0, 6.0)) as usize;
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => {
            format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(low: f64, high: f64) -> Vec<String> {
        labels(&ticks(low, high, 5))
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(shown(0.0, 1.5), ["0.0", "0.5", "1.0", "1.5"]);
        assert_eq!(shown(-3.2, 4.1), ["-2", "0", "2", "4"]);
        assert_eq!(shown(0.0, 2.5e6), ["0", "5e5", "1e6", "1.5e6", "2e6", "2.5e6"]);
        assert_eq!(shown(0.0, 3e-7), ["0", "5e-8", "1e-7", "1.5e-7", "2e-7", "2.5e-7", "3e-7"]);
        assert_eq!(shown(5.0, 5.0), ["5"]);
        assert!(shown(f64::NAN, 1.0).is_empty());
    }
}
