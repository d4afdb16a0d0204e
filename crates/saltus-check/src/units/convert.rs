//! Values from one unit to another: `convert(293.15, "K", "degC")` is 20.

use std::f64::consts::PI;

use super::parse::{Parsed, parse};

/// Temperatures with an offset: kelvins per degree, and kelvins at zero.
pub const TEMPERATURES: [(&str, f64, f64); 2] = [("degC", 1.0, 273.15), ("degF", 5.0 / 9.0, 273.15 - 32.0 * 5.0 / 9.0)];

/// Symbols that are not units of the language and yet usual for display, with their factors to the base unit of the second.
pub const USUAL: [(&str, f64, &str); 2] = [("rev/min", PI / 30.0, "1/s"), ("rpm", PI / 30.0, "1/s")];

/// `None` if one of the units is not known or they are of different dimensions.
pub fn convert(value: f64, from: &str, to: &str) -> Option<f64> {
    let ((from, from_zero), (to, to_zero)) = (scale(from)?, scale(to)?);
    let (from_factor, to_factor) = (from.factor?, to.factor?);
    from.same_dimension(to).then(|| (value * from_factor + from_zero - to_zero) / to_factor)
}

/// The unit without its offset, and the offset in base units.
fn scale(text: &str) -> Option<(super::Unit, f64)> {
    if let Some((_, factor, zero)) = TEMPERATURES.iter().find(|t| t.0 == text) {
        let Parsed::Known(kelvin) = parse("K") else { return None };
        return Some((kelvin.scaled(*factor), *zero));
    }
    let (text, times) = USUAL.iter().find(|u| u.0 == text).map_or((text, 1.0), |u| (u.2, u.1));
    let Parsed::Known(unit) = parse(text) else { return None };
    Some((unit.scaled(times), 0.0))
}

#[cfg(test)]
mod tests {
    use super::convert;

    #[test]
    fn factors_and_offsets() {
        let close = |found: Option<f64>, expected: f64| assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?}");
        close(convert(293.15, "K", "degC"), 20.0);
        close(convert(0.1, "s", "ms"), 100.0);
        close(convert(1.0, "rad/s", "rev/min"), 30.0 / std::f64::consts::PI);
        assert_eq!(convert(1.0, "m", "s"), None);
        assert_eq!(convert(1.0, "m", "unheard"), None);
    }
}
