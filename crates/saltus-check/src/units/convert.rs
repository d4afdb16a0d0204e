//! Values from one unit to another: `Conversion::between("K", "degC")` makes 20 of 293.15.

use std::f64::consts::PI;

use super::parse::{Parsed, parse};

/// Temperatures with an offset: kelvins per degree, and kelvins at zero.
pub const TEMPERATURES: [(&str, f64, f64); 2] = [("degC", 1.0, 273.15), ("degF", 5.0 / 9.0, 273.15 - 32.0 * 5.0 / 9.0)];

/// Symbols that are not units of the language and yet usual for display, with their factors to the base unit of the second.
pub const USUAL: [(&str, f64, &str); 2] = [("rev/min", PI / 30.0, "1/s"), ("rpm", PI / 30.0, "1/s")];

/// A value in one unit times the factor, plus the offset, is that in another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Conversion {
    pub factor: f64,
    pub offset: f64,
}

impl Conversion {
    /// `None` if one of the units is not known or they are of different dimensions.
    pub fn between(from: &str, to: &str) -> Option<Conversion> {
        let ((from, from_zero), (to, to_zero)) = (scale(from)?, scale(to)?);
        let (from_factor, to_factor) = (from.factor?, to.factor?);
        let conversion = || Conversion { factor: from_factor / to_factor, offset: (from_zero - to_zero) / to_factor };
        from.same_dimension(to).then(conversion)
    }

    /// From the unit of a variable to the one in which it is shown; `None` if there is no other or it is not known. A difference of
    /// two values has no offset: 10 K between two temperatures are 10 degC.
    pub fn for_display(unit: &str, display: &str, is_difference: bool) -> Option<Conversion> {
        let is_other = !display.is_empty() && display != unit;
        let conversion = is_other.then(|| Conversion::between(unit, display)).flatten()?;
        Some(if is_difference { conversion.of_differences() } else { conversion })
    }

    /// The same for differences of values, in which the offset cancels.
    pub fn of_differences(self) -> Conversion {
        Conversion { offset: 0.0, ..self }
    }

    pub fn apply(self, value: f64) -> f64 {
        value * self.factor + self.offset
    }
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
    use super::Conversion;

    #[test]
    fn factors_and_offsets() {
        let convert = |value, from, to| Some(Conversion::between(from, to)?.apply(value));
        let close = |found: Option<f64>, expected: f64| assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?}");
        close(convert(293.15, "K", "degC"), 20.0);
        close(convert(0.1, "s", "ms"), 100.0);
        close(convert(1.0, "rad/s", "rev/min"), 30.0 / std::f64::consts::PI);
        assert_eq!(convert(1.0, "m", "s"), None);
        assert_eq!(convert(1.0, "m", "unheard"), None);
    }

    #[test]
    fn differences_have_no_offset() {
        let shown = |unit, display, is_difference| Conversion::for_display(unit, display, is_difference);
        assert_eq!(shown("K", "degC", false), Some(Conversion { factor: 1.0, offset: -273.15 }));
        assert_eq!(shown("K", "degC", true), Some(Conversion { factor: 1.0, offset: 0.0 }));
        // 5 K are 9 degrees of Fahrenheit.
        assert!((shown("K", "degF", true).unwrap().apply(5.0) - 9.0).abs() < 1e-12);
        assert_eq!(shown("K", "K", false).or(shown("K", "", false)), None);
    }
}
