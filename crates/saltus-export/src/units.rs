//! Units of variables as definitions with their factors to base units.
//!
//! ```text
//! "rad/s", displayed in "rev/min"     ⇒     rad/s = 1 s-1, display unit rev/min without a factor is left out
//! "K", displayed in "degC"            ⇒     K, display unit degC = K - 273.15
//! ```

use std::collections::{BTreeMap, BTreeSet};

use saltus_check::units::{Conversion, Parsed, TEMPERATURES, USUAL, parse};
use saltus_fmi::{BaseUnit, DisplayUnit, Unit};

/// Exponents of kg, m, s, A, K, mol, cd, rad; factor and offset to them.
fn base_of(text: &str) -> Option<BaseUnit> {
    let mut base = BaseUnit::default();
    if let Some(&(_, factor, offset)) = TEMPERATURES.iter().find(|t| t.0 == text) {
        base.exponents[4] = 1;
        return Some(BaseUnit { factor, offset, ..base });
    }
    let (text, times) = USUAL.iter().find(|u| u.0 == text).map_or((text, 1.0), |u| (u.2, u.1));
    let Parsed::Known(unit) = parse(text) else { return None };
    base.exponents[..7].copy_from_slice(&unit.exponents()?);
    Some(BaseUnit { factor: times * unit.factor?, ..base })
}

fn display_unit(unit: &str, display: &str) -> Option<DisplayUnit> {
    let Conversion { factor, offset } = Conversion::for_display(unit, display, false)?;
    Some(DisplayUnit { name: display.to_owned(), factor, offset, inverse: false })
}

/// Units that variables use, with those in which they are displayed.
#[derive(Default)]
pub struct Units {
    used: BTreeMap<String, BTreeSet<String>>,
}

impl Units {
    /// Notes a unit and the one in which it is displayed; the latter if the conversion is known.
    pub fn note<'a>(&mut self, unit: &str, display: &'a str) -> Option<&'a str> {
        let displays = self.used.entry(unit.to_owned()).or_default();
        let is_known = display_unit(unit, display).is_some();
        if is_known {
            displays.insert(display.to_owned());
        }
        is_known.then_some(display)
    }

    pub fn definitions(&self) -> Vec<Unit> {
        let definition = |(name, displays): (&String, &BTreeSet<String>)| Unit {
            name: name.clone(),
            base: base_of(name),
            display_units: displays.iter().filter_map(|display| display_unit(name, display)).collect(),
        };
        self.used.iter().map(definition).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_the_si() {
        let degrees = display_unit("rad", "deg").unwrap();
        assert!((degrees.factor * std::f64::consts::PI - 180.0).abs() < 1e-12);
        let celsius = display_unit("K", "degC").unwrap();
        assert_eq!((celsius.factor, celsius.offset), (1.0, -273.15));
        // 50 °F = 283.15 K
        let fahrenheit = display_unit("K", "degF").unwrap();
        assert!((283.15 * fahrenheit.factor + fahrenheit.offset - 50.0).abs() < 1e-10);
        let speed = display_unit("rad/s", "rev/min").unwrap();
        assert!((speed.factor * std::f64::consts::PI - 30.0).abs() < 1e-12);
        assert_eq!(display_unit("m", "s"), None);
    }

    #[test]
    fn derived_units_have_exponents() {
        let volt = base_of("kV").unwrap();
        assert_eq!((volt.exponents, volt.factor), ([1, 2, -3, -1, 0, 0, 0, 0], 1000.0));
        assert_eq!(base_of("no unit"), None);
    }
}
